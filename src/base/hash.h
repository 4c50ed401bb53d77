/* Hash functions for tables in memory. Their values never leave the process. */
#ifndef PYRO_BASE_HASH_H
#define PYRO_BASE_HASH_H

#include <stdint.h>
#include <string.h>

#include "base/slice.h"

/* Finaliser of MurmurHash3: every input bit reaches every output bit. */
static inline uint64_t pyro_hash_mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}

static inline uint64_t pyro_hash_slice(struct pyro_slice text)
{
    uint64_t hash = 0x9e3779b97f4a7c15ULL ^ text.len;
    const char *p = text.ptr;
    size_t rest = text.len;
    for (; rest >= 8; p += 8, rest -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
        hash ^= hash >> 29;
    }
    uint64_t tail = 0;
    if (rest)
        memcpy(&tail, p, rest);
    return pyro_hash_mix(hash ^ tail);
}

#endif
