#include "serve/spark/sort.h"

#include <string.h>

#include "base/memory/allocator.h"

enum { FEW = 24, BUCKETS = 256 };

static void insert_each(int64_t *values, uint32_t *beside, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        int64_t value = values[i];
        uint32_t item = beside ? beside[i] : 0;
        size_t at = i;
        for (; at > 0 && values[at - 1] > value; at--) {
            values[at] = values[at - 1];
            if (beside)
                beside[at] = beside[at - 1];
        }
        values[at] = value;
        if (beside)
            beside[at] = item;
    }
}

struct numbers {
    int64_t *values;
    uint32_t *beside;
};

/* One round of a radix sort: by 8 bits of what a value is above the least. */
static void distribute(const struct numbers *from, const struct numbers *to, size_t count, uint64_t least,
                       unsigned shift)
{
    size_t places[BUCKETS] = {0}, place = 0;
    for (size_t i = 0; i < count; i++)
        places[((uint64_t)from->values[i] - least) >> shift & (BUCKETS - 1)]++;
    for (size_t b = 0; b < BUCKETS; b++) {
        size_t here = places[b];
        places[b] = place;
        place += here;
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = places[((uint64_t)from->values[i] - least) >> shift & (BUCKETS - 1)]++;
        to->values[at] = from->values[i];
        if (to->beside)
            to->beside[at] = from->beside[i];
    }
}

bool pyro_spark_sort(int64_t *values, uint32_t *beside, size_t count)
{
    int64_t least = count ? values[0] : 0, most = least;
    bool sorted = true;
    for (size_t i = 1; i < count; i++) {
        sorted &= values[i - 1] <= values[i];
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    if (sorted)
        return true;
    if (count <= FEW) {
        insert_each(values, beside, count);
        return true;
    }
    if (count > SIZE_MAX / (sizeof(int64_t) + sizeof(uint32_t)))
        return false;
    int64_t *room = pyro_allocate(NULL, count * (sizeof(int64_t) + sizeof(uint32_t)));
    if (!room)
        return false;
    struct numbers from = {values, beside}, to = {room, beside ? (uint32_t *)(void *)(room + count) : NULL};
    uint64_t range = (uint64_t)most - (uint64_t)least;
    for (unsigned shift = 0; shift < 64 && range >> shift; shift += 8) {
        distribute(&from, &to, count, (uint64_t)least, shift);
        struct numbers swapped = from;
        from = to;
        to = swapped;
    }
    if (from.values != values) {
        memcpy(values, from.values, count * sizeof(*values));
        if (beside)
            memcpy(beside, from.beside, count * sizeof(*beside));
    }
    pyro_release(NULL, room);
    return true;
}

uint32_t *pyro_spark_sort_rows(size_t count, spark_row_key *key_of, const void *context, size_t *ret_count)
{
    int64_t *keys = pyro_allocate(NULL, (count + 1) * sizeof(*keys));
    uint32_t *rows = pyro_allocate(NULL, (count + 1) * sizeof(*rows));
    *ret_count = 0;
    for (size_t i = 0; keys && rows && i < count; i++)
        if (key_of(context, i, &keys[*ret_count]))
            rows[(*ret_count)++] = (uint32_t)i;
    bool ok = keys && rows && pyro_spark_sort(keys, rows, *ret_count);
    pyro_release(NULL, keys);
    if (ok)
        return rows;
    pyro_release(NULL, rows);
    *ret_count = 0;
    return NULL;
}
