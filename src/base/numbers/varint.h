/* Numbers that lie close together as differences of 1 to 10 bytes: ids of accumulators take one byte each. */
#ifndef PYRO_BASE_NUMBERS_VARINT_H
#define PYRO_BASE_NUMBERS_VARINT_H

#include "base/strings/strbuf.h"

/* Appends `number` as its difference from *last, which it becomes. */
static inline void pyro_varint_put(struct pyro_strbuf *buffer, int64_t *last, int64_t number)
{
    uint64_t difference = (uint64_t)number - (uint64_t)*last;
    uint64_t zigzag = difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
    *last = number;
    for (; zigzag >= 0x80; zigzag >>= 7)
        pyro_strbuf_add_char(buffer, (char)(unsigned char)(zigzag | 0x80));
    pyro_strbuf_add_char(buffer, (char)zigzag);
}

/* Takes the next number off the front; false at the end. Start with *last 0. */
static inline bool pyro_varint_take(struct pyro_slice *from, int64_t *last)
{
    uint64_t zigzag = 0;
    for (unsigned shift = 0; from->len > 0 && shift < 64; shift += 7) {
        unsigned char byte = (unsigned char)*from->ptr++;
        from->len--;
        zigzag |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *last = (int64_t)((uint64_t)*last + (zigzag >> 1 ^ (zigzag & 1 ? UINT64_MAX : 0)));
            return true;
        }
    }
    return false;
}

#endif
