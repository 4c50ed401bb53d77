#include "model/task_chunk.h"

#include "base/memory/allocator.h"
#include "model/packed.h"

struct pyro_task_chunk {
    int references; /* atomic */
    uint32_t rows;
    size_t bytes;
    size_t metric_ends_at, metrics_at; /* from the start of the chunk: an end for each row, and the bytes; 0: none */
    struct pyro_packed columns[PYRO_TASK_COLUMN_COUNT];
};

struct pyro_task_chunk *pyro_task_chunk_new(const int64_t *open, size_t rows, const struct pyro_chunk_metrics *metrics,
                                            const struct pyro_allocator *allocator)
{
    struct pyro_packed columns[PYRO_TASK_COLUMN_COUNT];
    size_t bytes = (sizeof(struct pyro_task_chunk) + 7) / 8 * 8;
    for (size_t i = 0; i < PYRO_TASK_COLUMN_COUNT; i++) {
        pyro_packed_measure(open + i * PYRO_TASK_OPEN_STRIDE, rows, &columns[i]);
        columns[i].at = (uint32_t)bytes;
        bytes += (rows * columns[i].width + 7) / 8 * 8; /* every column starts aligned for its width */
    }
    size_t ends_at = bytes, metrics_at = bytes + (metrics->ends ? rows * sizeof(size_t) : 0);
    size_t metric_bytes = metrics->ends && rows > 0 ? metrics->ends[rows - 1] : 0;
    if (metric_bytes > SIZE_MAX / 2)
        return NULL;
    bytes = metrics_at + metric_bytes;
    struct pyro_task_chunk *chunk = pyro_allocate(allocator, bytes);
    if (!chunk)
        return NULL;
    chunk->metric_ends_at = metric_bytes > 0 ? ends_at : 0;
    chunk->metrics_at = metric_bytes > 0 ? metrics_at : 0;
    if (metric_bytes > 0) {
        memcpy((char *)chunk + ends_at, metrics->ends, rows * sizeof(size_t));
        memcpy((char *)chunk + metrics_at, metrics->bytes, metric_bytes);
    }
    chunk->references = 1;
    chunk->rows = (uint32_t)rows;
    chunk->bytes = bytes;
    memcpy(chunk->columns, columns, sizeof(columns));
    for (size_t i = 0; i < PYRO_TASK_COLUMN_COUNT; i++)
        pyro_packed_write(&columns[i], open + i * PYRO_TASK_OPEN_STRIDE, rows, (char *)chunk + columns[i].at);
    return chunk;
}

struct pyro_task_chunk *pyro_task_chunk_retain(struct pyro_task_chunk *chunk)
{
    __atomic_fetch_add(&chunk->references, 1, __ATOMIC_RELAXED);
    return chunk;
}

void pyro_task_chunk_release(struct pyro_task_chunk *chunk, const struct pyro_allocator *allocator)
{
    if (chunk && __atomic_sub_fetch(&chunk->references, 1, __ATOMIC_ACQ_REL) == 0)
        pyro_release(allocator, chunk);
}

size_t pyro_task_chunk_rows(const struct pyro_task_chunk *chunk)
{
    return chunk->rows;
}

size_t pyro_task_chunk_bytes(const struct pyro_task_chunk *chunk)
{
    return chunk->bytes;
}

int64_t pyro_task_chunk_get(const struct pyro_task_chunk *chunk, enum pyro_task_column column, size_t row)
{
    int64_t value;
    pyro_task_chunk_read(chunk, column, row, 1, &value);
    return value;
}

void pyro_task_chunk_read(const struct pyro_task_chunk *chunk, enum pyro_task_column column, size_t first, size_t count,
                          int64_t *values)
{
    const struct pyro_packed *packed = &chunk->columns[column];
    pyro_packed_read(packed, (const char *)chunk + packed->at, first, count, values);
}

bool pyro_task_chunk_same(const struct pyro_task_chunk *chunk, enum pyro_task_column column, int64_t *ret)
{
    *ret = chunk->columns[column].base;
    return chunk->columns[column].width == 0;
}

bool pyro_task_chunk_has_metrics(const struct pyro_task_chunk *chunk)
{
    return chunk->metric_ends_at != 0;
}

struct pyro_slice pyro_task_chunk_metrics(const struct pyro_task_chunk *chunk, size_t row)
{
    if (!chunk->metric_ends_at)
        return (struct pyro_slice){"", 0};
    const size_t *ends = (const size_t *)(const void *)((const char *)chunk + chunk->metric_ends_at);
    size_t begin = row > 0 ? ends[row - 1] : 0;
    return (struct pyro_slice){(const char *)chunk + chunk->metrics_at + begin, ends[row] - begin};
}
