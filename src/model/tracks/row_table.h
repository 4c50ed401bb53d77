/* Rows of 64-bit integers, column by column, in packed chunks of 4,096 rows: what logs and profilers record comes in
 * millions of rows that differ little from the next.
 *
 * A column of a chunk is base + offsets (model/packed.h); a few values that would make all offsets wider, such as one
 * long span among short ones, are kept in a list of their own. */
#ifndef PYRO_MODEL_TRACKS_ROW_TABLE_H
#define PYRO_MODEL_TRACKS_ROW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collections/vec.h"

enum { PYRO_ROW_CHUNK_ROWS = 4096, PYRO_ROW_COLUMNS_MAX = 10 };

struct pyro_row_chunk;

struct pyro_row_table {
    const struct pyro_allocator *allocator;
    unsigned columns; /* 1..PYRO_ROW_COLUMNS_MAX */
    size_t count;
    PYRO_VEC(struct pyro_row_chunk *) chunks; /* sealed, each of 4,096 rows but the last */
    int64_t *open;                            /* rows being filled, column-major; NULL: none, or sealed */
    size_t open_count;
};

void pyro_row_table_init(struct pyro_row_table *table, unsigned columns, const struct pyro_allocator *allocator);
void pyro_row_table_done(struct pyro_row_table *table);
/* Appends one row of `columns` values to a table that is not sealed; false when there is no memory. */
bool pyro_row_table_append(struct pyro_row_table *table, const int64_t *row);
/* Packs what is open: reading needs it, and nothing can be appended afterwards. False when there is no memory. */
bool pyro_row_table_seal(struct pyro_row_table *table);
/* Sorts a sealed table by a column; equal values keep their order. *ret_rank (may be NULL) gets the new row of each old
 * one, to be released by the caller, or NULL where nothing moved. False when there is no memory: nothing moved. */
bool pyro_row_table_sort(struct pyro_row_table *table, unsigned column, uint32_t **ret_rank);
/* Replaces each value of a column of a sealed table that is a row number (>= 0) by its rank. False: no memory. */
bool pyro_row_table_renumber(struct pyro_row_table *table, unsigned column, const uint32_t *rank);

/* One value of a sealed table. `row` < count. */
int64_t pyro_row_table_get(const struct pyro_row_table *table, unsigned column, size_t row);
/* Rows [first, first + count) of a column. */
void pyro_row_table_read(const struct pyro_row_table *table, unsigned column, size_t first, size_t count,
                         int64_t *values);
/* First row whose value is not less than `value`, in a column by which the table is sorted. */
size_t pyro_row_table_find(const struct pyro_row_table *table, unsigned column, int64_t value);
/* Memory that it takes. */
size_t pyro_row_table_bytes(const struct pyro_row_table *table);

#endif
