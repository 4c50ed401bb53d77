/* A column of 64-bit integers in the least room: value = base + offset, in wrapping 64-bit arithmetic, so that any two
 * int64_t are in reach of each other. Offsets have 0, 1, 2, 4 or 8 bytes (0: all values equal).
 *
 * A column that mixes numbers and PYRO_NONE would need 8 bytes for every row; there offset 0 stands for PYRO_NONE and
 * base is one below the smallest number. */
#ifndef PYRO_MODEL_PACKED_H
#define PYRO_MODEL_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/column.h"

struct pyro_packed {
    int64_t base;
    uint32_t at; /* of the first offset, in bytes from where the caller wants; for the caller */
    uint8_t width;
    bool has_none;
};

/* Finds base and width for `rows` values; leaves `at`. */
void pyro_packed_measure(const int64_t *values, size_t rows, struct pyro_packed *ret);
/* Writes rows x width bytes to `data`, which is aligned for the width. */
void pyro_packed_write(const struct pyro_packed *packed, const int64_t *values, size_t rows, void *data);

/* Values of the rows [first, first + count) of the column whose offsets start at `data`. Inline: a loop a width, which
 * compilers vectorise, and most calls are for a known width. */
static inline void pyro_packed_read(const struct pyro_packed *packed, const void *data, size_t first, size_t count,
                                    int64_t *values)
{
    uint64_t base = (uint64_t)packed->base;
#define PYRO_UNPACK(type)                                                                                              \
    do {                                                                                                               \
        const type *offsets = (const type *)data + first;                                                              \
        for (size_t i = 0; i < count; i++)                                                                             \
            values[i] = (int64_t)(base + offsets[i]);                                                                  \
        for (size_t i = 0; packed->has_none && i < count; i++)                                                         \
            values[i] = offsets[i] ? values[i] : PYRO_NONE;                                                            \
    } while (0)
    switch (packed->width) {
    case 1:
        PYRO_UNPACK(uint8_t);
        break;
    case 2:
        PYRO_UNPACK(uint16_t);
        break;
    case 4:
        PYRO_UNPACK(uint32_t);
        break;
    case 8:
        PYRO_UNPACK(uint64_t);
        break;
    default:
        for (size_t i = 0; i < count; i++)
            values[i] = packed->base;
        break;
    }
#undef PYRO_UNPACK
}

#endif
