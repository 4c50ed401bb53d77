#include "model/packed.h"

void pyro_packed_measure(const int64_t *values, size_t rows, struct pyro_packed *ret)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    size_t unknown = 0;
    for (size_t i = 0; i < rows; i++) {
        int64_t value = values[i];
        bool none = value == PYRO_NONE;
        unknown += none;
        int64_t low = none ? INT64_MAX : value;
        least = low < least ? low : least;
        most = value > most ? value : most;
    }
    ret->has_none = unknown > 0 && unknown < rows;
    if (unknown == rows)
        least = most = PYRO_NONE;
    if (ret->has_none)
        least--; /* cannot overflow: the smallest number is above PYRO_NONE */
    ret->base = least;
    uint64_t range = (uint64_t)most - (uint64_t)least;
    ret->width = range == 0 ? 0 : range <= UINT8_MAX ? 1 : range <= UINT16_MAX ? 2 : range <= UINT32_MAX ? 4 : 8;
}

void pyro_packed_write(const struct pyro_packed *packed, const int64_t *values, size_t rows, void *data)
{
    uint64_t base = (uint64_t)packed->base;
#define PACK(type)                                                                                                     \
    do {                                                                                                               \
        type *offsets = data;                                                                                          \
        for (size_t i = 0; i < rows; i++) {                                                                            \
            uint64_t offset = (uint64_t)values[i] - base;                                                              \
            offsets[i] = (type)(packed->has_none && values[i] == PYRO_NONE ? 0 : offset);                              \
        }                                                                                                              \
    } while (0)
    switch (packed->width) {
    case 1:
        PACK(uint8_t);
        break;
    case 2:
        PACK(uint16_t);
        break;
    case 4:
        PACK(uint32_t);
        break;
    case 8:
        PACK(uint64_t);
        break;
    default:
        break;
    }
#undef PACK
}
