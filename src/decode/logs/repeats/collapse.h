/* Immediate repeats in a sequence, as phil_stopwatch's collapse() finds them, in linear time.
 *
 * From left to right: at each place, for each length L of 1 to 20 items, N is how often the next L items follow each
 * other there. Of all L with N of at least 2, the one with the largest L x N counts; of those the "squarest", with the
 * smallest (L - N)^2; of those the shortest. It is one piece, and the search goes on after all its repeats. Items at
 * whose places nothing repeats form pieces with a count of 1, as long as possible. */
#ifndef PYRO_DECODE_LOGS_REPEATS_COLLAPSE_H
#define PYRO_DECODE_LOGS_REPEATS_COLLAPSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PYRO_COLLAPSE_LENGTH = 20 }; /* of the longest piece that is found repeated */

/* items[first] to items[first + length - 1], `count` times one after another. */
struct pyro_collapsed {
    size_t first, length, count;
};

struct pyro_collapse {
    const uint32_t *items; /* equal numbers are equal items; borrowed */
    size_t item_count;
    size_t place;                                 /* of the next piece */
    size_t equal_until[PYRO_COLLAPSE_LENGTH + 1]; /* of each length L: items[i] == items[i + L] from `place` to here */
};

void pyro_collapse_start(struct pyro_collapse *collapse, const uint32_t *items, size_t item_count);
/* False: there are no more pieces. */
bool pyro_collapse_next(struct pyro_collapse *collapse, struct pyro_collapsed *ret);

#endif
