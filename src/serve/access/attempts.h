/* How often tokens that were wrong came from where. */
#ifndef PYRO_SERVE_ACCESS_ATTEMPTS_H
#define PYRO_SERVE_ACCESS_ATTEMPTS_H

#include "libraries/libsodium.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { ATTEMPT_SLOTS = 1024 };

struct serve_attempts {
    unsigned char key[crypto_shorthash_KEYBYTES];
    pthread_mutex_t mutex; /* guards what follows */
    /* Until when each place's budget is spent, in ms: an attempt costs some time, and is refused when that would be too
     * far ahead of now. The last one is everybody's. */
    int64_t spent_ms[ATTEMPT_SLOTS + 1];
};

void pyro_attempts_init(struct serve_attempts *attempts);
void pyro_attempts_done(struct serve_attempts *attempts);
/* Seconds after which a token from there may be tried; 0: now. */
unsigned pyro_attempts_wait(struct serve_attempts *attempts, const struct sockaddr *from);
void pyro_attempts_failed(struct serve_attempts *attempts, const struct sockaddr *from);

#endif
