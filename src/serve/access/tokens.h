/* The tokens that may be used, as a file keeps them: one a line,
 *
 *     NAME ROLE HASH [GROUP,GROUP...]
 *
 * where HASH is Argon2id of the secret with its salt and cost, as libsodium writes it. A token is NAME.SECRET: the name
 * says which hash to compute, so that an attempt costs one of them however many tokens there are. */
#ifndef PYRO_SERVE_ACCESS_TOKENS_H
#define PYRO_SERVE_ACCESS_TOKENS_H

#include "libraries/libsodium.h"
#include <pthread.h>

#include "base/error.h"
#include "base/strings/slice.h"
#include "serve/request.h"
#include "source/file_stamp.h"

enum { TOKEN_NAME_BYTES = 65, TOKEN_GROUPS_BYTES = 512, TOKENS_LIMIT = 10000, TOKEN_BYTES = 160 };

struct serve_token {
    char name[TOKEN_NAME_BYTES], groups[TOKEN_GROUPS_BYTES], hash[crypto_pwhash_STRBYTES];
    enum serve_role role;
    bool seen;                                      /* the right secret came before: */
    unsigned char digest[crypto_generichash_BYTES]; /* what it is under this run's key */
};

struct serve_tokens {
    char *path;
    unsigned char key[crypto_generichash_KEYBYTES];
    char nobody[crypto_pwhash_STRBYTES]; /* the hash that names which do not exist are checked against */
    pthread_mutex_t hashing;             /* one hash at a time bounds what attempts cost in memory and cores */
    pthread_mutex_t mutex;               /* guards what follows */
    struct pyro_file_stamp looked;       /* the file at the last look */
    int64_t looked_s;                    /* of a request */
    enum pyro_status outcome;            /* of reading it, until pyro_tokens_look() tells */
    struct pyro_error failure;
    struct serve_token *all;
    size_t count;
};

/* Reads the file; its writer decides who may read everything, so it must belong to no other user. */
enum pyro_status pyro_tokens_open(struct serve_tokens *tokens, const char *path, struct pyro_error *error);
void pyro_tokens_close(struct serve_tokens *tokens);

/* Reads the file again if it has changed since the last look, or in any case if `now`. If it is wrong or missing, the
 * same users are let in as before, and it is reported once. */
enum pyro_status pyro_tokens_look(struct serve_tokens *tokens, bool now, struct pyro_error *error);

/* The user of a name now. false: there is none. */
bool pyro_tokens_find(struct serve_tokens *tokens, struct pyro_slice name, struct serve_token *ret);

enum token_answer { TOKEN_WRONG, TOKEN_RIGHT, TOKEN_UNKNOWN };
/* Whether the token is right, by what is remembered; TOKEN_UNKNOWN: only its hash can tell. */
enum token_answer pyro_tokens_recall(struct serve_tokens *tokens, struct pyro_slice token, struct serve_token *ret);
/* Computes the hash, which takes as long for names that do not exist. */
bool pyro_tokens_check(struct serve_tokens *tokens, struct pyro_slice token, struct serve_token *ret);

#endif
