#include "model/task_chunk.h"

#include "base/memory.h"
#include "model/column.h"

/* value = base + offset, in wrapping 64-bit arithmetic, so that any two int64_t are in reach of each other.
 * A column that mixes numbers and PYRO_NONE would need 8 bytes for every row; there offset 0 stands for PYRO_NONE and
 * base is one below the smallest number. */
struct packed_column {
    int64_t base;
    uint32_t at; /* of the first offset, in bytes from the start of the chunk */
    uint8_t width;
    bool has_none;
};

struct pyro_task_chunk {
    int references; /* atomic */
    uint32_t rows;
    size_t bytes;
    size_t metric_ends_at, metrics_at; /* from the start of the chunk: an end for each row, and the bytes; 0: none */
    struct packed_column columns[PYRO_TASK_COLUMN_COUNT];
};

static void measure_column(const int64_t *values, size_t rows, struct packed_column *column)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    size_t unknown = 0;
    for (size_t i = 0; i < rows; i++) {
        int64_t value = values[i];
        bool none = value == PYRO_NONE;
        unknown += none;
        int64_t low = none ? INT64_MAX : value;
        least = low < least ? low : least;
        most = value > most ? value : most;
    }
    column->has_none = unknown > 0 && unknown < rows;
    if (unknown == rows)
        least = most = PYRO_NONE;
    if (column->has_none)
        least--; /* cannot overflow: the smallest number is above PYRO_NONE */
    column->base = least;
    uint64_t range = (uint64_t)most - (uint64_t)least;
    column->width = range == 0 ? 0 : range <= UINT8_MAX ? 1 : range <= UINT16_MAX ? 2 : range <= UINT32_MAX ? 4 : 8;
}

static void pack_column(const int64_t *values, size_t rows, const struct packed_column *column, void *data)
{
    uint64_t base = (uint64_t)column->base;
#define PACK(type)                                                                                                     \
    do {                                                                                                               \
        type *offsets = data;                                                                                          \
        for (size_t i = 0; i < rows; i++) {                                                                            \
            uint64_t offset = (uint64_t)values[i] - base;                                                              \
            offsets[i] = (type)(column->has_none && values[i] == PYRO_NONE ? 0 : offset);                              \
        }                                                                                                              \
    } while (0)
    switch (column->width) {
    case 1:
        PACK(uint8_t);
        break;
    case 2:
        PACK(uint16_t);
        break;
    case 4:
        PACK(uint32_t);
        break;
    case 8:
        PACK(uint64_t);
        break;
    default:
        break;
    }
#undef PACK
}

struct pyro_task_chunk *pyro_task_chunk_new(const int64_t *open, size_t rows, const struct pyro_chunk_metrics *metrics,
                                            const struct pyro_allocator *allocator)
{
    struct packed_column columns[PYRO_TASK_COLUMN_COUNT];
    size_t bytes = (sizeof(struct pyro_task_chunk) + 7) / 8 * 8;
    for (size_t i = 0; i < PYRO_TASK_COLUMN_COUNT; i++) {
        measure_column(open + i * PYRO_TASK_OPEN_STRIDE, rows, &columns[i]);
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
        pack_column(open + i * PYRO_TASK_OPEN_STRIDE, rows, &columns[i], (char *)chunk + columns[i].at);
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
    const struct packed_column *packed = &chunk->columns[column];
    const char *data = (const char *)chunk + packed->at;
    uint64_t base = (uint64_t)packed->base;
    /* One plain loop a width, so that compilers can vectorise each. */
#define UNPACK(type)                                                                                                   \
    do {                                                                                                               \
        const type *offsets = (const type *)(const void *)data + first;                                                \
        for (size_t i = 0; i < count; i++)                                                                             \
            values[i] = (int64_t)(base + offsets[i]);                                                                  \
        for (size_t i = 0; packed->has_none && i < count; i++)                                                         \
            values[i] = offsets[i] ? values[i] : PYRO_NONE;                                                            \
    } while (0)
    switch (packed->width) {
    case 1:
        UNPACK(uint8_t);
        break;
    case 2:
        UNPACK(uint16_t);
        break;
    case 4:
        UNPACK(uint32_t);
        break;
    case 8:
        UNPACK(uint64_t);
        break;
    default:
        for (size_t i = 0; i < count; i++)
            values[i] = packed->base;
        break;
    }
#undef UNPACK
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
