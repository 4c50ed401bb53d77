#include "model/tracks/row_table.h"

#include <assert.h>

#include "base/memory/allocator.h"
#include "model/packed.h"

/* Distance of the columns of open rows: see PYRO_TASK_OPEN_STRIDE. */
enum { OPEN_STRIDE = PYRO_ROW_CHUNK_ROWS + 8 };

struct exception {
    int64_t value;
    uint32_t row;
};

struct chunk_column {
    struct pyro_packed packed;
    uint32_t exceptions_at, exceptions; /* sorted by row; from the start of the chunk */
};

struct pyro_row_chunk {
    uint32_t rows, bytes;
    struct chunk_column columns[]; /* as many as the table has */
};

void pyro_row_table_init(struct pyro_row_table *table, unsigned columns, const struct pyro_allocator *allocator)
{
    assert(columns > 0 && columns <= PYRO_ROW_COLUMNS_MAX);
    *table = (struct pyro_row_table){.allocator = allocator, .columns = columns};
}

void pyro_row_table_done(struct pyro_row_table *table)
{
    for (size_t i = 0; i < table->chunks.count; i++)
        pyro_release(table->allocator, table->chunks.items[i]);
    pyro_vec_done(&table->chunks, table->allocator);
    pyro_release(table->allocator, table->open);
    pyro_row_table_init(table, table->columns, table->allocator);
}

/* ---- Packing ----------------------------------------------------------------------------------------------------- */

/* Largest offset of each width. */
static uint64_t reach(unsigned width)
{
    return width == 0 ? 0 : width >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * width)) - 1;
}

static bool is_exception(const struct pyro_packed *packed, int64_t value)
{
    if (packed->has_none && value == PYRO_NONE)
        return false;
    return (uint64_t)value - (uint64_t)packed->base > reach(packed->width);
}

/* Takes the width with which offsets and exceptions together need the least room. Returns the number of exceptions. */
static uint32_t choose_width(const int64_t *values, size_t rows, struct pyro_packed *packed)
{
    const uint8_t whole = packed->width;
    size_t least = rows * whole;
    uint32_t chosen = 0;
    uint8_t best = whole;
    for (unsigned width = packed->has_none ? 1 : 0; width < whole; width = width == 0 ? 1 : 2 * width) {
        uint32_t beyond = 0;
        packed->width = (uint8_t)width;
        for (size_t i = 0; i < rows; i++)
            beyond += is_exception(packed, values[i]);
        size_t bytes = rows * width + beyond * sizeof(struct exception);
        if (bytes < least) {
            least = bytes;
            chosen = beyond;
            best = (uint8_t)width;
        }
    }
    packed->width = best;
    return chosen;
}

static size_t aligned(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static void write_column(struct pyro_row_chunk *chunk, const struct chunk_column *column, int64_t *values, size_t rows)
{
    struct exception *exceptions = (struct exception *)(void *)((char *)chunk + column->exceptions_at);
    size_t count = 0;
    for (size_t i = 0; i < rows && count < column->exceptions; i++) {
        if (!is_exception(&column->packed, values[i]))
            continue;
        exceptions[count++] = (struct exception){values[i], (uint32_t)i};
        values[i] = column->packed.base;
    }
    pyro_packed_write(&column->packed, values, rows, (char *)chunk + column->packed.at);
}

/* `open` is changed. */
static struct pyro_row_chunk *new_chunk(const struct pyro_row_table *table, int64_t *open, size_t rows)
{
    struct chunk_column columns[PYRO_ROW_COLUMNS_MAX];
    size_t bytes = aligned(sizeof(struct pyro_row_chunk) + table->columns * sizeof(struct chunk_column));
    for (unsigned c = 0; c < table->columns; c++) {
        struct chunk_column *column = &columns[c];
        const int64_t *values = open + (size_t)c * OPEN_STRIDE;
        *column = (struct chunk_column){.exceptions = 0};
        pyro_packed_measure(values, rows, &column->packed);
        column->exceptions = choose_width(values, rows, &column->packed);
        column->packed.at = (uint32_t)bytes;
        bytes += aligned(rows * column->packed.width);
        column->exceptions_at = (uint32_t)bytes;
        bytes += column->exceptions * sizeof(struct exception);
    }
    struct pyro_row_chunk *chunk = pyro_allocate(table->allocator, bytes);
    if (!chunk)
        return NULL;
    chunk->rows = (uint32_t)rows;
    chunk->bytes = (uint32_t)bytes;
    for (unsigned c = 0; c < table->columns; c++) {
        chunk->columns[c] = columns[c];
        write_column(chunk, &columns[c], open + (size_t)c * OPEN_STRIDE, rows);
    }
    return chunk;
}

static bool pack_open(struct pyro_row_table *table)
{
    if (!pyro_vec_reserve(&table->chunks, 1, table->allocator))
        return false;
    struct pyro_row_chunk *chunk = new_chunk(table, table->open, table->open_count);
    if (!chunk)
        return false;
    table->chunks.items[table->chunks.count++] = chunk;
    table->open_count = 0;
    return true;
}

bool pyro_row_table_append(struct pyro_row_table *table, const int64_t *row)
{
    if (!table->open) {
        assert(table->count == 0);
        table->open = pyro_allocate(table->allocator, sizeof(int64_t) * OPEN_STRIDE * table->columns);
        if (!table->open)
            return false;
    }
    if (table->open_count == PYRO_ROW_CHUNK_ROWS && !pack_open(table))
        return false;
    int64_t *cell = table->open + table->open_count++;
    for (unsigned c = 0; c < table->columns; c++, cell += OPEN_STRIDE)
        *cell = row[c];
    table->count++;
    return true;
}

bool pyro_row_table_seal(struct pyro_row_table *table)
{
    if (!table->open)
        return true;
    if (table->open_count > 0 && !pack_open(table))
        return false;
    pyro_release(table->allocator, table->open);
    table->open = NULL;
    return true;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static void read_chunk(const struct pyro_row_chunk *chunk, unsigned column, size_t first, size_t count, int64_t *values)
{
    const struct chunk_column *packed = &chunk->columns[column];
    pyro_packed_read(&packed->packed, (const char *)chunk + packed->packed.at, first, count, values);
    const struct exception *exceptions =
        (const struct exception *)(const void *)((const char *)chunk + packed->exceptions_at);
    size_t low = 0, high = packed->exceptions;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (exceptions[middle].row < first)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < packed->exceptions && exceptions[low].row < first + count; low++)
        values[exceptions[low].row - first] = exceptions[low].value;
}

int64_t pyro_row_table_get(const struct pyro_row_table *table, unsigned column, size_t row)
{
    int64_t value;
    assert(row < table->count && !table->open && column < table->columns);
    read_chunk(table->chunks.items[row / PYRO_ROW_CHUNK_ROWS], column, row % PYRO_ROW_CHUNK_ROWS, 1, &value);
    return value;
}

void pyro_row_table_read(const struct pyro_row_table *table, unsigned column, size_t first, size_t count,
                         int64_t *values)
{
    assert(first <= table->count && count <= table->count - first && !table->open && column < table->columns);
    while (count > 0) {
        size_t at = first % PYRO_ROW_CHUNK_ROWS;
        size_t here = PYRO_ROW_CHUNK_ROWS - at < count ? PYRO_ROW_CHUNK_ROWS - at : count;
        read_chunk(table->chunks.items[first / PYRO_ROW_CHUNK_ROWS], column, at, here, values);
        first += here;
        count -= here;
        values += here;
    }
}

size_t pyro_row_table_find(const struct pyro_row_table *table, unsigned column, int64_t value)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pyro_row_table_get(table, column, middle) < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t pyro_row_table_bytes(const struct pyro_row_table *table)
{
    size_t bytes = table->chunks.capacity * sizeof(*table->chunks.items);
    for (size_t i = 0; i < table->chunks.count; i++)
        bytes += table->chunks.items[i]->bytes;
    if (table->open)
        bytes += sizeof(int64_t) * OPEN_STRIDE * table->columns;
    return bytes;
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

struct place {
    int64_t key;
    uint32_t row;
};

/* End of the run that begins at `first`: rows that are in order already. */
static size_t run_end(const struct place *places, size_t first, size_t count)
{
    size_t end = first + 1;
    while (end < count && places[end - 1].key <= places[end].key)
        end++;
    return end;
}

static void merge(const struct place *from, size_t at, size_t middle, size_t end, struct place *to)
{
    size_t left = at, right = middle;
    for (; at < end; at++) {
        bool take_left = right == end || (left < middle && from[left].key <= from[right].key);
        to[at] = from[take_left ? left++ : right++];
    }
}

/* Merges neighbouring runs until one is left: files that are in order each need as many passes as the logarithm of
 * their number. Returns the one of both arrays that has the result. */
static struct place *sort_places(struct place *places, struct place *other, size_t count)
{
    size_t runs;
    do {
        runs = 0;
        for (size_t at = 0; at < count; runs++) {
            size_t middle = run_end(places, at, count), end = middle < count ? run_end(places, middle, count) : middle;
            merge(places, at, middle, end, other);
            at = end;
        }
        struct place *sorted = other;
        other = places;
        places = sorted;
    } while (runs > 1);
    return places;
}

/* Appends the rows in their new order to `sorted`. */
static bool copy_rows(const struct pyro_row_table *table, const struct place *places, struct pyro_row_table *sorted)
{
    int64_t row[PYRO_ROW_COLUMNS_MAX];
    for (size_t i = 0; i < table->count; i++) {
        for (unsigned c = 0; c < table->columns; c++)
            row[c] = pyro_row_table_get(table, c, places[i].row);
        if (!pyro_row_table_append(sorted, row))
            return false;
    }
    return pyro_row_table_seal(sorted);
}

static bool take_order(struct pyro_row_table *table, const struct place *places, uint32_t **ret_rank)
{
    struct pyro_row_table sorted;
    uint32_t *rank = NULL;
    if (ret_rank) {
        rank = pyro_allocate(table->allocator, table->count * sizeof(*rank));
        if (!rank)
            return false;
        for (size_t i = 0; i < table->count; i++)
            rank[places[i].row] = (uint32_t)i;
    }
    pyro_row_table_init(&sorted, table->columns, table->allocator);
    if (!copy_rows(table, places, &sorted)) {
        pyro_row_table_done(&sorted);
        pyro_release(table->allocator, rank);
        return false;
    }
    pyro_row_table_done(table);
    *table = sorted;
    if (ret_rank)
        *ret_rank = rank;
    return true;
}

static void read_places(const struct pyro_row_table *table, unsigned column, struct place *places)
{
    int64_t keys[PYRO_ROW_CHUNK_ROWS];
    for (size_t first = 0; first < table->count; first += PYRO_ROW_CHUNK_ROWS) {
        size_t rows = table->count - first < PYRO_ROW_CHUNK_ROWS ? table->count - first : PYRO_ROW_CHUNK_ROWS;
        pyro_row_table_read(table, column, first, rows, keys);
        for (size_t i = 0; i < rows; i++)
            places[first + i] = (struct place){keys[i], (uint32_t)(first + i)};
    }
}

bool pyro_row_table_sort(struct pyro_row_table *table, unsigned column, uint32_t **ret_rank)
{
    assert(!table->open && table->count <= UINT32_MAX);
    if (ret_rank)
        *ret_rank = NULL;
    if (table->count < 2)
        return true;
    struct place *places = pyro_allocate(table->allocator, table->count * sizeof(*places));
    if (!places)
        return false;
    read_places(table, column, places);
    if (run_end(places, 0, table->count) == table->count) {
        pyro_release(table->allocator, places);
        return true;
    }
    struct place *other = pyro_allocate(table->allocator, table->count * sizeof(*other));
    bool done = other && take_order(table, sort_places(places, other, table->count), ret_rank);
    pyro_release(table->allocator, places);
    pyro_release(table->allocator, other);
    return done;
}

bool pyro_row_table_renumber(struct pyro_row_table *table, unsigned column, const uint32_t *rank)
{
    struct pyro_row_table changed;
    int64_t row[PYRO_ROW_COLUMNS_MAX];
    bool done = true;
    pyro_row_table_init(&changed, table->columns, table->allocator);
    for (size_t i = 0; done && i < table->count; i++) {
        for (unsigned c = 0; c < table->columns; c++)
            row[c] = pyro_row_table_get(table, c, i);
        if (row[column] >= 0)
            row[column] = rank[row[column]];
        done = pyro_row_table_append(&changed, row);
    }
    if (!done || !pyro_row_table_seal(&changed)) {
        pyro_row_table_done(&changed);
        return false;
    }
    pyro_row_table_done(table);
    *table = changed;
    return true;
}
