/* Hash functions. Values of pyro_hash_mix() and pyro_hash_slice() never leave the process, those of pyro_fnv() may. */
#ifndef PYRO_BASE_COLLECTIONS_HASH_H
#define PYRO_BASE_COLLECTIONS_HASH_H

#include <stdint.h>
#include <string.h>

#include "base/strings/slice.h"

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

/* FNV-1a: begins with PYRO_FNV and takes in one byte, some bytes, or a text with an end that no text has in it. */
#define PYRO_FNV UINT64_C(14695981039346656037)

static inline uint64_t pyro_fnv_byte(uint64_t hash, unsigned char byte)
{
    return (hash ^ byte) * UINT64_C(1099511628211);
}

static inline uint64_t pyro_fnv(uint64_t hash, const void *bytes, size_t len)
{
    const unsigned char *at = (const unsigned char *)bytes;
    for (size_t i = 0; i < len; i++)
        hash = pyro_fnv_byte(hash, at[i]);
    return hash;
}

static inline uint64_t pyro_fnv_text(uint64_t hash, struct pyro_slice text)
{
    return pyro_fnv_byte(pyro_fnv(hash, text.ptr, text.len), 0xff);
}

#endif
