/* Reading values of a JFR chunk: every read is checked against the end, and a failed one makes all later ones fail.
 *
 * A chunk says whether its integers are compressed: 7 bits a byte, least first, at most 9 bytes, of which the last one
 * has 8 bits. Otherwise they have their full size, greatest byte first. Bytes, booleans and reals are never compressed.
 */
#ifndef PYRO_DECODE_PROFILING_JFR_CURSOR_H
#define PYRO_DECODE_PROFILING_JFR_CURSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/strings/slice.h"

struct pyro_jfr_cursor {
    const unsigned char *at, *end;
    bool compressed, failed;
};

static inline bool pyro_jfr_has(struct pyro_jfr_cursor *cursor, uint64_t bytes)
{
    if (!cursor->failed && (uint64_t)(cursor->end - cursor->at) >= bytes)
        return true;
    cursor->failed = true;
    return false;
}

static inline uint64_t pyro_jfr_fixed(struct pyro_jfr_cursor *cursor, unsigned bytes)
{
    uint64_t value = 0;
    if (!pyro_jfr_has(cursor, bytes))
        return 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | *cursor->at++;
    return value;
}

static inline uint64_t pyro_jfr_packed(struct pyro_jfr_cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift <= 56; shift += 7) {
        if (!pyro_jfr_has(cursor, 1))
            return 0;
        uint64_t byte = *cursor->at++;
        if (shift == 56)
            return value | byte << 56;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    return value;
}

static inline int64_t pyro_jfr_long(struct pyro_jfr_cursor *cursor)
{
    return (int64_t)(cursor->compressed ? pyro_jfr_packed(cursor) : pyro_jfr_fixed(cursor, 8));
}

static inline int32_t pyro_jfr_int(struct pyro_jfr_cursor *cursor)
{
    return (int32_t)(uint32_t)(cursor->compressed ? pyro_jfr_packed(cursor) : pyro_jfr_fixed(cursor, 4));
}

static inline int16_t pyro_jfr_short(struct pyro_jfr_cursor *cursor)
{
    return (int16_t)(uint16_t)(cursor->compressed ? pyro_jfr_packed(cursor) : pyro_jfr_fixed(cursor, 2));
}

static inline uint8_t pyro_jfr_byte(struct pyro_jfr_cursor *cursor)
{
    return (uint8_t)pyro_jfr_fixed(cursor, 1);
}

static inline double pyro_jfr_float(struct pyro_jfr_cursor *cursor)
{
    uint32_t bits = (uint32_t)pyro_jfr_fixed(cursor, 4);
    float value;
    memcpy(&value, &bits, sizeof(value));
    return (double)value;
}

static inline double pyro_jfr_double(struct pyro_jfr_cursor *cursor)
{
    uint64_t bits = pyro_jfr_fixed(cursor, 8);
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

enum pyro_jfr_encoding {
    PYRO_JFR_TEXT_NULL = 0,
    PYRO_JFR_TEXT_EMPTY = 1,
    PYRO_JFR_TEXT_CONSTANT = 2, /* a key of the pool of java.lang.String */
    PYRO_JFR_TEXT_UTF8 = 3,
    PYRO_JFR_TEXT_CHARS = 4, /* UTF-16 units, each an integer */
    PYRO_JFR_TEXT_LATIN1 = 5
};

/* A string as the chunk has it. */
struct pyro_jfr_text {
    enum pyro_jfr_encoding encoding;
    uint64_t key;            /* CONSTANT */
    struct pyro_slice bytes; /* UTF8, LATIN1, CHARS */
};

struct pyro_jfr_text pyro_jfr_take_text(struct pyro_jfr_cursor *cursor);

#endif
