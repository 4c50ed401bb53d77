/* The certificate that TLS is spoken with, read again when its files change: new connections get the new one. */
#ifndef PYRO_SERVE_HTTP_CERTIFICATE_H
#define PYRO_SERVE_HTTP_CERTIFICATE_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "base/error.h"
#include "libraries/libgnutls.h"
#include "source/file_stamp.h"

/* One reading of both files. */
struct certificate_pair {
    gnutls_pcert_st *chain;
    unsigned count;
    gnutls_privkey_t key;
    struct certificate_pair *previous; /* which handshakes that have begun may still use */
    time_t replaced_s;
};

struct certificate {
    char *paths[2];                     /* the chain, its key; NULL: no TLS */
    struct pyro_file_stamp looked[2];   /* at the last look */
    bool failing;                       /* the last look could not read them, for no fault of theirs */
    struct pyro_file_stamp accepted[2]; /* when they were read last, whatever came of it */
    struct pyro_file_stamp failed[2];   /* when the last look could not, so that each state is complained of once */
    pthread_mutex_t mutex;              /* guards what follows */
    struct certificate_pair *pair;
};

/* Reads both files, which must fit each other. */
enum pyro_status pyro_certificate_open(struct certificate *certificate, const char *chain, const char *key,
                                       struct pyro_error *error);
void pyro_certificate_close(struct certificate *certificate);
/* Reads the files again if they have changed and are no longer being changed, or in any case if `now`. After an error
 * the certificate is the one from before. Always from the same thread. */
enum pyro_status pyro_certificate_look(struct certificate *certificate, bool now, struct pyro_error *error);
/* What the next handshake uses. */
const struct certificate_pair *pyro_certificate_pair(struct certificate *certificate);

#endif
