#include "decode/logs/repeats/collapse.h"

#include "base/numbers/saturate.h"

void pyro_collapse_start(struct pyro_collapse *collapse, const uint32_t *items, size_t item_count)
{
    *collapse = (struct pyro_collapse){.items = items, .item_count = item_count};
}

/* How many of the next L items, one after another, are equal to the first L of them. What was compared once is not
 * compared again, whatever the place: this makes the search linear. */
static size_t count_repeats(struct pyro_collapse *collapse, size_t place, size_t length)
{
    size_t until = collapse->equal_until[length];
    if (until < place)
        until = place;
    while (until + length < collapse->item_count && collapse->items[until] == collapse->items[until + length])
        until++;
    collapse->equal_until[length] = until;
    return 1 + (until - place) / length;
}

/* The piece that starts at a place; its count is 1 where nothing repeats. */
static struct pyro_collapsed best_at(struct pyro_collapse *collapse, size_t place)
{
    struct pyro_collapsed best = {place, 1, 1};
    size_t best_size = 0;
    uint64_t best_distance = 0;
    for (size_t length = 1; length <= PYRO_COLLAPSE_LENGTH; length++) {
        size_t count = count_repeats(collapse, place, length);
        if (count < 2)
            continue;
        size_t size = length * count;
        uint64_t distance = pyro_distance((int64_t)length, (int64_t)count);
        if (size > best_size || (size == best_size && distance < best_distance)) {
            best = (struct pyro_collapsed){place, length, count};
            best_size = size;
            best_distance = distance;
        }
    }
    return best;
}

bool pyro_collapse_next(struct pyro_collapse *collapse, struct pyro_collapsed *ret)
{
    size_t first = collapse->place, place = first;
    struct pyro_collapsed repeated = {first, 1, 1};
    for (; place < collapse->item_count; place++) {
        repeated = best_at(collapse, place);
        if (repeated.count > 1)
            break;
    }
    if (place > first)
        *ret = (struct pyro_collapsed){first, place - first, 1};
    else
        *ret = repeated;
    collapse->place = first + ret->length * ret->count;
    return first < collapse->item_count;
}
