/* Who has logged in by a browser: a cookie stands for the token. Nothing is kept beyond the process. */
#ifndef PYRO_SERVE_ACCESS_SESSIONS_H
#define PYRO_SERVE_ACCESS_SESSIONS_H

#include "serve/access/tokens.h"

enum { SESSIONS = 1024, SESSION_SECONDS = 12 * 3600, SESSION_BYTES = 44 };

struct session {
    unsigned char digest[crypto_generichash_BYTES]; /* of the cookie */
    char name[TOKEN_NAME_BYTES];
    unsigned char hash[crypto_generichash_BYTES]; /* of the token's hash: a token that changes ends its sessions */
    int64_t until_s;                              /* 0: free */
};

struct sessions {
    pthread_mutex_t mutex;
    struct session all[SESSIONS];
};

void pyro_sessions_init(struct sessions *sessions);
void pyro_sessions_done(struct sessions *sessions);
/* Begins one, in place of the oldest where there are too many; the cookie's value goes to `ret`. */
void pyro_session_begin(struct sessions *sessions, const struct serve_token *token, char ret[SESSION_BYTES]);
bool pyro_session_find(struct sessions *sessions, struct serve_tokens *tokens, struct pyro_slice cookie,
                       struct serve_token *ret);
void pyro_session_end(struct sessions *sessions, struct pyro_slice cookie);

#endif
