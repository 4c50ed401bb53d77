/* Tasks, column by column, in chunks of 4,096 rows.
 *
 * A sealed chunk keeps each column as base + unsigned offsets of 0, 1, 2, 4 or 8 bytes, whichever is the least that
 * fits the chunk (0: all rows equal). Most of Spark's counters are small or zero, which brings a task to some 80 bytes
 * where plain 64-bit columns need 320. Sealed chunks never change, so snapshots share them. */
#ifndef PYRO_MODEL_TASK_TABLE_H
#define PYRO_MODEL_TASK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collections/vec.h"
#include "base/numbers/varint.h"

/* What one row holds: the public columns of tables/tasks.def with texts as numbers, two row numbers, and what only the
 * history (history.h) keeps. */
enum pyro_task_column {
#define PYRO_COLUMN(name, type, unit, doc) PYRO_TASK_##name,
#include "model/tables/tasks.def"
#undef PYRO_COLUMN
    PYRO_TASK_stage_row,    /* row of its stage attempt in app->stages */
    PYRO_TASK_executor_row, /* row in app->executors that was alive at launch, or -1 */
    PYRO_TASK_error,        /* history: text of what went wrong, or PYRO_NONE */
    PYRO_TASK_COLUMN_COUNT
};
/* A task's start tells what comes before this column. */
enum { PYRO_TASK_START_COLUMNS = PYRO_TASK_has_metrics };
/* In the columns executor, host, locality and reason: number of a text, see pyro_app_text(). In status: */
enum pyro_task_status { PYRO_TASK_SUCCESS, PYRO_TASK_FAILED, PYRO_TASK_KILLED, PYRO_TASK_RESUBMITTED };

enum { PYRO_TASK_CHUNK_ROWS = 4096 };

struct pyro_task_chunk;

struct pyro_task_table {
    const struct pyro_allocator *allocator;
    size_t count;
    PYRO_VEC(struct pyro_task_chunk *) chunks; /* sealed, each of 4,096 rows but the last */
    int64_t *open;                             /* rows of the chunk being filled, column-major; NULL when sealed */
    size_t open_count;
    struct pyro_strbuf open_metrics; /* SQL metrics of the open rows, one row's after the other's */
    size_t *open_metric_ends;        /* for each open row; NULL: no row has any */
    /* Once analyzed: the columns stage_row and executor_row, which depend on tables that may still grow while chunks
     * are sealed and shared. NULL: as appended. */
    int32_t *stage_rows, *executor_rows;
};

void pyro_task_table_init(struct pyro_task_table *table, const struct pyro_allocator *allocator);
void pyro_task_table_done(struct pyro_task_table *table);
/* Appends one row of PYRO_TASK_COLUMN_COUNT values; false when there is no memory. */
bool pyro_task_table_append(struct pyro_task_table *table, const int64_t *row);
/* Gives the newest row its SQL metrics, encoded as pyro_task_metrics() returns them; nothing is kept for an empty
 * slice. False when there is no memory. */
bool pyro_task_table_add_metrics(struct pyro_task_table *table, struct pyro_slice metrics);
/* Seals the open rows. Reading needs a sealed table. */
bool pyro_task_table_seal(struct pyro_task_table *table);
/* `copy` gets all rows of `table` at this moment, sealed, sharing the chunks that are full. */
bool pyro_task_table_snapshot(const struct pyro_task_table *table, struct pyro_task_table *copy);

/* Lets `edit` change the rows of one chunk of a sealed table, one after the other, each with all its columns. Snapshots
 * that share the chunk keep its old rows. False when there is no memory. */
typedef void pyro_task_edit(void *context, int64_t *row);
bool pyro_task_table_edit(struct pyro_task_table *table, size_t chunk, pyro_task_edit *edit, void *context);

/* Bytes that its sealed chunks take. */
size_t pyro_task_table_bytes(const struct pyro_task_table *table);

/* Gives the column stage_row or executor_row new values, one for each row. `rows` must come from the table's allocator
 * and then belongs to the table. */
void pyro_task_table_take_rows(struct pyro_task_table *table, enum pyro_task_column column, int32_t *rows);

/* One value of a sealed table. `row` < count. */
int64_t pyro_task_get(const struct pyro_task_table *table, enum pyro_task_column column, size_t row);
/* Rows [first, first + count) of a column into `values`; several times faster than one by one. */
void pyro_task_read(const struct pyro_task_table *table, enum pyro_task_column column, size_t first, size_t count,
                    int64_t *values);
/* Whether rows [first, first + count) are known, without reading them, to have the same value in a column. */
bool pyro_task_same(const struct pyro_task_table *table, enum pyro_task_column column, size_t first, size_t count,
                    int64_t *ret);
/* SQL metrics that a task of a sealed table updated: pairs of accumulator id and value, for pyro_task_metric_next().
 * Empty unless PYRO_WANT_TASK_METRICS was asked for. Belongs to the table. */
struct pyro_slice pyro_task_metrics(const struct pyro_task_table *table, size_t row);

/* Whether any task of a sealed table has some. */
bool pyro_task_table_has_metrics(const struct pyro_task_table *table);

struct pyro_task_metric {
    int64_t accumulator, value;
};

/* Takes the next pair off the front; false at the end. Start with a zeroed *metric. */
static inline bool pyro_task_metric_next(struct pyro_slice *from, struct pyro_task_metric *metric)
{
    metric->value = 0; /* values are written as differences from 0 */
    return pyro_varint_take(from, &metric->accumulator) && pyro_varint_take(from, &metric->value);
}

/* Appends a pair. Start with *last 0. */
static inline void pyro_task_metric_put(struct pyro_strbuf *to, int64_t *last, int64_t accumulator, int64_t value)
{
    int64_t zero = 0;
    pyro_varint_put(to, last, accumulator);
    pyro_varint_put(to, &zero, value);
}

#endif
