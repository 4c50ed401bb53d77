/* A sealed run of at most PYRO_TASK_CHUNK_ROWS tasks: see task_table.h. Reference-counted and immutable. */
#ifndef PYRO_MODEL_TASK_CHUNK_H
#define PYRO_MODEL_TASK_CHUNK_H

#include "model/task_table.h"

/* Distance of the columns of an open chunk, in rows. A power of two would put the same row of all columns into one set
 * of the cache, where appending them evicts each other. */
enum { PYRO_TASK_OPEN_STRIDE = PYRO_TASK_CHUNK_ROWS + 8 };

/* SQL metrics of open rows: bytes of all, and for each row where its own end; ends NULL: no row has any. */
struct pyro_chunk_metrics {
    const char *bytes;
    const size_t *ends;
};

/* Packs `rows` rows of an open chunk; NULL when there is no memory. One reference. */
struct pyro_task_chunk *pyro_task_chunk_new(const int64_t *open, size_t rows, const struct pyro_chunk_metrics *metrics,
                                            const struct pyro_allocator *allocator);
struct pyro_task_chunk *pyro_task_chunk_retain(struct pyro_task_chunk *chunk);
void pyro_task_chunk_release(struct pyro_task_chunk *chunk, const struct pyro_allocator *allocator);
size_t pyro_task_chunk_rows(const struct pyro_task_chunk *chunk);
/* Bytes that it takes, for budgets and tests. */
size_t pyro_task_chunk_bytes(const struct pyro_task_chunk *chunk);
int64_t pyro_task_chunk_get(const struct pyro_task_chunk *chunk, enum pyro_task_column column, size_t row);
void pyro_task_chunk_read(const struct pyro_task_chunk *chunk, enum pyro_task_column column, size_t first, size_t count,
                          int64_t *values);
/* Whether all rows have the same value in a column. */
bool pyro_task_chunk_same(const struct pyro_task_chunk *chunk, enum pyro_task_column column, int64_t *ret);
bool pyro_task_chunk_has_metrics(const struct pyro_task_chunk *chunk);
/* SQL metrics of one row, see pyro_task_metrics(). */
struct pyro_slice pyro_task_chunk_metrics(const struct pyro_task_chunk *chunk, size_t row);

#endif
