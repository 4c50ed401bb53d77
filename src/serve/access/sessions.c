#include "serve/access/sessions.h"

#include <stdio.h>
#include <string.h>

#include "base/threads/thread.h"

void pyro_sessions_init(struct sessions *sessions)
{
    *sessions = (struct sessions){0};
    pthread_mutex_init(&sessions->mutex, NULL);
}

void pyro_sessions_done(struct sessions *sessions)
{
    pthread_mutex_destroy(&sessions->mutex);
}

static void digest(const char *text, size_t len, unsigned char *ret)
{
    crypto_generichash(ret, crypto_generichash_BYTES, (const unsigned char *)text, len, NULL, 0);
}

void pyro_session_begin(struct sessions *sessions, const struct serve_token *token, char ret[SESSION_BYTES])
{
    unsigned char secret[32];
    randombytes_buf(secret, sizeof(secret));
    sodium_bin2base64(ret, SESSION_BYTES, secret, sizeof(secret), sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    pthread_mutex_lock(&sessions->mutex);
    struct session *place = sessions->all;
    for (size_t i = 1; i < SESSIONS; i++)
        if (sessions->all[i].until_s < place->until_s)
            place = &sessions->all[i];
    *place = (struct session){.until_s = pyro_clock_ms() / 1000 + SESSION_SECONDS};
    snprintf(place->name, sizeof(place->name), "%s", token->name);
    digest(ret, strlen(ret), place->digest);
    digest(token->hash, strlen(token->hash), place->hash);
    pthread_mutex_unlock(&sessions->mutex);
}

/* Under the lock. */
static struct session *find(struct sessions *sessions, struct pyro_slice cookie)
{
    unsigned char given[crypto_generichash_BYTES];
    struct session *found = NULL;
    int64_t now = pyro_clock_ms() / 1000;
    digest(cookie.ptr, cookie.len, given);
    for (size_t i = 0; i < SESSIONS; i++) {
        struct session *one = &sessions->all[i];
        if (one->until_s > now && sodium_memcmp(one->digest, given, sizeof(given)) == 0)
            found = one;
    }
    return found;
}

bool pyro_session_find(struct sessions *sessions, struct serve_tokens *tokens, struct pyro_slice cookie,
                       struct serve_token *ret)
{
    struct session copy = {0};
    unsigned char hash[crypto_generichash_BYTES];
    pthread_mutex_lock(&sessions->mutex);
    const struct session *one = find(sessions, cookie);
    if (one)
        copy = *one;
    pthread_mutex_unlock(&sessions->mutex);
    if (!one || !pyro_tokens_find(tokens, pyro_slice_from(copy.name), ret))
        return false;
    digest(ret->hash, strlen(ret->hash), hash);
    return sodium_memcmp(hash, copy.hash, sizeof(hash)) == 0;
}

void pyro_session_end(struct sessions *sessions, struct pyro_slice cookie)
{
    pthread_mutex_lock(&sessions->mutex);
    struct session *one = find(sessions, cookie);
    if (one)
        *one = (struct session){0};
    pthread_mutex_unlock(&sessions->mutex);
}
