#include "serve/access/attempts.h"

#include <netinet/in.h>
#include <string.h>

#include "base/threads/thread.h"

/* Ten wrong tokens at once from one place, then one in six seconds; a hundred and five a second from everywhere. */
enum { BURST = 10, EACH_MS = 6000, ALL_BURST = 100, ALL_EACH_MS = 200 };

void pyro_attempts_init(struct serve_attempts *attempts)
{
    *attempts = (struct serve_attempts){0};
    pthread_mutex_init(&attempts->mutex, NULL);
    crypto_shorthash_keygen(attempts->key);
}

void pyro_attempts_done(struct serve_attempts *attempts)
{
    pthread_mutex_destroy(&attempts->mutex);
}

/* A client with an IPv6 address has all of its /64. */
static size_t find_slot(const struct serve_attempts *attempts, const struct sockaddr *from)
{
    unsigned char hash[crypto_shorthash_BYTES], place[8] = {0};
    uint64_t number;
    if (from && from->sa_family == AF_INET6)
        memcpy(place, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr, 8);
    else if (from && from->sa_family == AF_INET)
        memcpy(place, &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
    crypto_shorthash(hash, place, sizeof(place), attempts->key);
    memcpy(&number, hash, sizeof(number));
    return number % ATTEMPT_SLOTS;
}

static int64_t ahead(const struct serve_attempts *attempts, size_t slot, int64_t now, int64_t burst, int64_t each)
{
    int64_t over = attempts->spent_ms[slot] - now - (burst - 1) * each;
    return over > 0 ? over : 0;
}

unsigned pyro_attempts_wait(struct serve_attempts *attempts, const struct sockaddr *from)
{
    int64_t now = pyro_clock_ms();
    pthread_mutex_lock(&attempts->mutex);
    int64_t own = ahead(attempts, find_slot(attempts, from), now, BURST, EACH_MS);
    int64_t all = ahead(attempts, ATTEMPT_SLOTS, now, ALL_BURST, ALL_EACH_MS);
    pthread_mutex_unlock(&attempts->mutex);
    return (unsigned)(((own > all ? own : all) + 999) / 1000);
}

static void spend(struct serve_attempts *attempts, size_t slot, int64_t now, int64_t each)
{
    int64_t *spent = &attempts->spent_ms[slot];
    *spent = (*spent > now ? *spent : now) + each;
}

void pyro_attempts_failed(struct serve_attempts *attempts, const struct sockaddr *from)
{
    int64_t now = pyro_clock_ms();
    pthread_mutex_lock(&attempts->mutex);
    spend(attempts, find_slot(attempts, from), now, EACH_MS);
    spend(attempts, ATTEMPT_SLOTS, now, ALL_EACH_MS);
    pthread_mutex_unlock(&attempts->mutex);
}
