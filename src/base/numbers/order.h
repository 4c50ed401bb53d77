/* Plain numbers in order. */
#ifndef PYRO_BASE_NUMBERS_ORDER_H
#define PYRO_BASE_NUMBERS_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Least first. No NaN may be among them. */
void pyro_sort_reals(double *values, size_t count);
void pyro_sort_ints(int64_t *values, size_t count);

void pyro_sort_naturals(uint32_t *values, size_t count, uint32_t *room); /* room: for as many; in linear time */

/* Nearest rank: the index of the least of `count` sorted values that at least `percent` of 100 of them do not exceed.
 * `count` is not 0. */
size_t pyro_nearest_rank(double percent, size_t count);

/* The value that sorting would put at index `rank`, which is below `count`: in linear time for nearly all orders, and
 * never longer than a sort takes. Leaves the values in another order, not in a sorted one. No NaN may be among them. */
double pyro_select_real(double *values, size_t count, size_t rank);

/* The middle value, of two the upper one, by the same selection. 0 for none. */
double pyro_median(double *values, size_t count);

#endif
