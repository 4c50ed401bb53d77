/* Plain numbers in order. */
#ifndef PYRO_BASE_ORDER_H
#define PYRO_BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Least first. No NaN may be among them. */
void pyro_sort_reals(double *values, size_t count);
void pyro_sort_ints(int64_t *values, size_t count);

/* Nearest rank: the index of the least of `count` sorted values that at least `percent` of 100 of them do not exceed.
 * `count` is not 0. */
size_t pyro_nearest_rank(double percent, size_t count);

/* The middle value, of two the upper one; the values are sorted on the way. 0 for none. */
double pyro_median(double *values, size_t count);

#endif
