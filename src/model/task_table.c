#include "model/task_table.h"

#include <assert.h>

#include "base/memory/allocator.h"
#include "model/task_chunk.h"

void pyro_task_table_init(struct pyro_task_table *table, const struct pyro_allocator *allocator)
{
    *table = (struct pyro_task_table){.allocator = allocator};
    pyro_strbuf_init(&table->open_metrics, allocator);
}

static void release_open(struct pyro_task_table *table)
{
    pyro_release(table->allocator, table->open);
    pyro_release(table->allocator, table->open_metric_ends);
    pyro_strbuf_done(&table->open_metrics);
    pyro_strbuf_init(&table->open_metrics, table->allocator);
    table->open = NULL;
    table->open_metric_ends = NULL;
    table->open_count = 0;
}

void pyro_task_table_done(struct pyro_task_table *table)
{
    for (size_t i = 0; i < table->chunks.count; i++)
        pyro_task_chunk_release(table->chunks.items[i], table->allocator);
    pyro_vec_done(&table->chunks, table->allocator);
    release_open(table);
    pyro_release(table->allocator, table->stage_rows);
    pyro_release(table->allocator, table->executor_rows);
    pyro_task_table_init(table, table->allocator);
}

/* Packs the open rows into a chunk at the end of `target`. */
static bool pack_open(const struct pyro_task_table *table, struct pyro_task_table *target)
{
    if (!pyro_vec_reserve(&target->chunks, 1, target->allocator))
        return false;
    const struct pyro_chunk_metrics metrics = {table->open_metrics.data, table->open_metric_ends};
    struct pyro_task_chunk *chunk = pyro_task_chunk_new(table->open, table->open_count, &metrics, target->allocator);
    if (!chunk)
        return false;
    target->chunks.items[target->chunks.count++] = chunk;
    return true;
}

static bool keep_metrics(struct pyro_task_table *table, size_t row, struct pyro_slice metrics)
{
    if (metrics.len > 0 && !table->open_metric_ends) {
        table->open_metric_ends = pyro_allocate(table->allocator, PYRO_TASK_CHUNK_ROWS * sizeof(size_t));
        if (!table->open_metric_ends)
            return false;
        memset(table->open_metric_ends, 0, PYRO_TASK_CHUNK_ROWS * sizeof(size_t));
    }
    if (!table->open_metric_ends)
        return true;
    pyro_strbuf_add(&table->open_metrics, metrics.ptr, metrics.len);
    table->open_metric_ends[row] = table->open_metrics.len;
    return !table->open_metrics.failed;
}

/* Makes room for rows after the present ones; rows of a last chunk that is not full are opened again. */
static bool open_rows(struct pyro_task_table *table)
{
    table->open = pyro_allocate(table->allocator, sizeof(int64_t) * PYRO_TASK_OPEN_STRIDE * PYRO_TASK_COLUMN_COUNT);
    if (!table->open)
        return false;
    table->open_count = table->count % PYRO_TASK_CHUNK_ROWS;
    if (table->open_count == 0)
        return true;
    struct pyro_task_chunk *last = table->chunks.items[--table->chunks.count];
    for (unsigned i = 0; i < PYRO_TASK_COLUMN_COUNT; i++)
        pyro_task_chunk_read(last, (enum pyro_task_column)i, 0, table->open_count,
                             table->open + (size_t)i * PYRO_TASK_OPEN_STRIDE);
    for (size_t i = 0; i < table->open_count; i++)
        if (!keep_metrics(table, i, pyro_task_chunk_metrics(last, i)))
            return false;
    pyro_task_chunk_release(last, table->allocator);
    return true;
}

bool pyro_task_table_append(struct pyro_task_table *table, const int64_t *row)
{
    if (!table->open && !open_rows(table))
        return false;
    if (table->open_count == PYRO_TASK_CHUNK_ROWS) {
        if (!pack_open(table, table))
            return false;
        table->open_count = 0;
        pyro_strbuf_clear(&table->open_metrics);
    }
    if (table->open_metric_ends)
        table->open_metric_ends[table->open_count] = table->open_metrics.len;
    int64_t *cell = table->open + table->open_count++;
    for (size_t i = 0; i < PYRO_TASK_COLUMN_COUNT; i++, cell += PYRO_TASK_OPEN_STRIDE)
        *cell = row[i];
    table->count++;
    return true;
}

bool pyro_task_table_add_metrics(struct pyro_task_table *table, struct pyro_slice metrics)
{
    assert(table->open_count > 0);
    return keep_metrics(table, table->open_count - 1, metrics);
}

bool pyro_task_table_seal(struct pyro_task_table *table)
{
    if (!table->open)
        return true;
    if (table->open_count > 0 && !pack_open(table, table))
        return false;
    release_open(table);
    return true;
}

bool pyro_task_table_snapshot(const struct pyro_task_table *table, struct pyro_task_table *copy)
{
    pyro_task_table_init(copy, table->allocator);
    if (!pyro_vec_reserve(&copy->chunks, table->chunks.count + 1, copy->allocator))
        return false;
    for (size_t i = 0; i < table->chunks.count; i++)
        copy->chunks.items[copy->chunks.count++] = pyro_task_chunk_retain(table->chunks.items[i]);
    if (table->open && table->open_count > 0 && !pack_open(table, copy)) {
        pyro_task_table_done(copy);
        return false;
    }
    copy->count = table->count;
    return true;
}

/* Columns of a chunk, and its metrics, as they were while it was open. */
struct reopened {
    int64_t columns[PYRO_TASK_COLUMN_COUNT * PYRO_TASK_OPEN_STRIDE];
    size_t ends[PYRO_TASK_CHUNK_ROWS];
};

static void edit_rows(struct reopened *open, size_t rows, pyro_task_edit *edit, void *context)
{
    int64_t row[PYRO_TASK_COLUMN_COUNT];
    for (size_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < PYRO_TASK_COLUMN_COUNT; c++)
            row[c] = open->columns[c * PYRO_TASK_OPEN_STRIDE + i];
        edit(context, row);
        for (size_t c = 0; c < PYRO_TASK_COLUMN_COUNT; c++)
            open->columns[c * PYRO_TASK_OPEN_STRIDE + i] = row[c];
    }
}

bool pyro_task_table_edit(struct pyro_task_table *table, size_t chunk, pyro_task_edit *edit, void *context)
{
    assert(chunk < table->chunks.count && !table->open);
    struct pyro_task_chunk *old = table->chunks.items[chunk], *edited = NULL;
    size_t rows = pyro_task_chunk_rows(old);
    bool has_metrics = pyro_task_chunk_has_metrics(old);
    struct reopened *open = pyro_allocate(table->allocator, sizeof(*open));
    if (!open)
        return false;
    for (size_t c = 0; c < PYRO_TASK_COLUMN_COUNT; c++)
        pyro_task_chunk_read(old, (enum pyro_task_column)c, 0, rows, open->columns + c * PYRO_TASK_OPEN_STRIDE);
    size_t end = 0;
    for (size_t i = 0; i < rows; i++)
        open->ends[i] = end += pyro_task_chunk_metrics(old, i).len;
    edit_rows(open, rows, edit, context);
    const struct pyro_chunk_metrics metrics = {rows > 0 ? pyro_task_chunk_metrics(old, 0).ptr : "",
                                               has_metrics ? open->ends : NULL};
    edited = pyro_task_chunk_new(open->columns, rows, &metrics, table->allocator);
    pyro_release(table->allocator, open);
    if (!edited)
        return false;
    table->chunks.items[chunk] = edited;
    pyro_task_chunk_release(old, table->allocator);
    return true;
}

size_t pyro_task_table_bytes(const struct pyro_task_table *table)
{
    size_t bytes = table->chunks.capacity * sizeof(*table->chunks.items);
    for (size_t i = 0; i < table->chunks.count; i++)
        bytes += pyro_task_chunk_bytes(table->chunks.items[i]);
    return bytes;
}

void pyro_task_table_take_rows(struct pyro_task_table *table, enum pyro_task_column column, int32_t *rows)
{
    assert(column == PYRO_TASK_stage_row || column == PYRO_TASK_executor_row);
    int32_t **place = column == PYRO_TASK_stage_row ? &table->stage_rows : &table->executor_rows;
    pyro_release(table->allocator, *place);
    *place = rows;
}

static const int32_t *taken_rows(const struct pyro_task_table *table, enum pyro_task_column column)
{
    return column == PYRO_TASK_stage_row      ? table->stage_rows
           : column == PYRO_TASK_executor_row ? table->executor_rows
                                              : NULL;
}

int64_t pyro_task_get(const struct pyro_task_table *table, enum pyro_task_column column, size_t row)
{
    assert(row < table->count && !table->open);
    const int32_t *rows = taken_rows(table, column);
    if (rows)
        return rows[row];
    return pyro_task_chunk_get(table->chunks.items[row / PYRO_TASK_CHUNK_ROWS], column, row % PYRO_TASK_CHUNK_ROWS);
}

void pyro_task_read(const struct pyro_task_table *table, enum pyro_task_column column, size_t first, size_t count,
                    int64_t *values)
{
    assert(first <= table->count && count <= table->count - first && !table->open);
    const int32_t *rows = taken_rows(table, column);
    if (rows) {
        for (size_t i = 0; i < count; i++)
            values[i] = rows[first + i];
        return;
    }
    while (count > 0) {
        size_t at = first % PYRO_TASK_CHUNK_ROWS;
        size_t here = PYRO_TASK_CHUNK_ROWS - at < count ? PYRO_TASK_CHUNK_ROWS - at : count;
        pyro_task_chunk_read(table->chunks.items[first / PYRO_TASK_CHUNK_ROWS], column, at, here, values);
        first += here;
        count -= here;
        values += here;
    }
}

bool pyro_task_same(const struct pyro_task_table *table, enum pyro_task_column column, size_t first, size_t count,
                    int64_t *ret)
{
    assert(first <= table->count && count <= table->count - first && !table->open);
    if (count == 0 || taken_rows(table, column))
        return false;
    for (size_t i = first / PYRO_TASK_CHUNK_ROWS; i <= (first + count - 1) / PYRO_TASK_CHUNK_ROWS; i++) {
        int64_t value;
        if (!pyro_task_chunk_same(table->chunks.items[i], column, &value) ||
            (i > first / PYRO_TASK_CHUNK_ROWS && value != *ret))
            return false;
        *ret = value;
    }
    return true;
}

struct pyro_slice pyro_task_metrics(const struct pyro_task_table *table, size_t row)
{
    assert(row < table->count && !table->open);
    return pyro_task_chunk_metrics(table->chunks.items[row / PYRO_TASK_CHUNK_ROWS], row % PYRO_TASK_CHUNK_ROWS);
}

bool pyro_task_table_has_metrics(const struct pyro_task_table *table)
{
    assert(!table->open);
    for (size_t i = 0; i < table->chunks.count; i++)
        if (pyro_task_chunk_has_metrics(table->chunks.items[i]))
            return true;
    return false;
}
