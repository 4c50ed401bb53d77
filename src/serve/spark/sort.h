/* Sorting numbers in a time that grows with their count only, whatever they are. */
#ifndef PYRO_SERVE_SPARK_SORT_H
#define PYRO_SERVE_SPARK_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sorts `values` ascending, and `beside` (may be NULL) with them; equal ones stay in their order. False: no memory. */
bool pyro_spark_sort(int64_t *values, uint32_t *beside, size_t count);

/* The key that a row is sorted by; false: the row is left out. */
typedef bool spark_row_key(const void *context, size_t row, int64_t *ret);
/* Those of the rows 0 to `count` - 1 that have a key, in its order; the caller releases them. NULL: no memory. */
uint32_t *pyro_spark_sort_rows(size_t count, spark_row_key *key_of, const void *context, size_t *ret_count);

#endif
