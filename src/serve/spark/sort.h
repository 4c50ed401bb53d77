/* Sorting numbers in a time that grows with their count only, whatever they are. */
#ifndef PYRO_SERVE_SPARK_SORT_H
#define PYRO_SERVE_SPARK_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sorts `values` ascending, and `beside` (may be NULL) with them; equal ones stay in their order. False: no memory. */
bool pyro_spark_sort(int64_t *values, uint32_t *beside, size_t count);

#endif
