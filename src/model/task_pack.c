/* Tasks as bytes: chunk by chunk each column as the differences of its values, or one value where all are equal. */
#include "base/memory/allocator.h"
#include "model/column.h"
#include "model/history/pack.h"
#include "model/task_chunk.h"

static void put(struct pyro_strbuf *to, int64_t value)
{
    int64_t zero = 0;
    pyro_varint_put(to, &zero, value);
}

static bool take(struct pyro_slice *from, int64_t *ret)
{
    *ret = 0;
    return pyro_varint_take(from, ret);
}

static void pack_column(struct pyro_strbuf *to, const int64_t *values, size_t rows)
{
    bool equal = true;
    int64_t last = 0;
    for (size_t i = 1; i < rows; i++)
        equal &= values[i] == values[0];
    pyro_strbuf_add_char(to, equal ? 'c' : 'd');
    for (size_t i = 0; i < (equal ? 1 : rows); i++)
        pyro_varint_put(to, &last, values[i]);
}

static bool unpack_column(struct pyro_slice *from, int64_t *values, size_t rows)
{
    if (!from->len || (*from->ptr != 'c' && *from->ptr != 'd'))
        return false;
    bool equal = *from->ptr == 'c';
    int64_t last = 0;
    from->ptr++;
    from->len--;
    for (size_t i = 0; i < rows; i++) {
        if ((i == 0 || !equal) && !pyro_varint_take(from, &last))
            return false;
        values[i] = last;
    }
    return true;
}

static void pack_chunk(const struct pyro_task_chunk *chunk, int64_t *values, struct pyro_strbuf *to)
{
    size_t rows = pyro_task_chunk_rows(chunk);
    for (int c = 0; c < PYRO_TASK_COLUMN_COUNT; c++) {
        pyro_task_chunk_read(chunk, (enum pyro_task_column)c, 0, rows, values);
        pack_column(to, values, rows);
    }
    for (size_t i = 0; i < rows; i++)
        values[i] = (int64_t)pyro_task_chunk_metrics(chunk, i).len;
    pack_column(to, values, rows);
    for (size_t i = 0; i < rows; i++)
        pyro_strbuf_add_slice(to, pyro_task_chunk_metrics(chunk, i));
}

bool pyro_task_table_pack(const struct pyro_task_table *table, struct pyro_strbuf *to)
{
    int64_t *values = pyro_allocate(NULL, PYRO_TASK_CHUNK_ROWS * sizeof(*values));
    put(to, (int64_t)table->count);
    for (size_t i = 0; values && i < table->chunks.count; i++)
        pack_chunk(table->chunks.items[i], values, to);
    pyro_release(NULL, values);
    return values && !to->failed;
}

static bool are_texts(const int64_t *values, size_t rows, uint32_t texts)
{
    bool ok = true;
    for (size_t i = 0; i < rows; i++)
        ok &= values[i] == PYRO_NONE || (values[i] >= 0 && values[i] < (int64_t)texts);
    return ok;
}

/* Ends of the rows' metrics, from their lengths; *ret_bytes is where they lie. */
static bool take_metrics(struct pyro_slice *from, const int64_t *lengths, size_t rows, size_t *ends,
                         struct pyro_slice *ret_bytes)
{
    size_t end = 0;
    for (size_t i = 0; i < rows; i++) {
        if (lengths[i] < 0 || (uint64_t)lengths[i] > from->len - end)
            return false;
        end += (size_t)lengths[i];
        ends[i] = end;
    }
    *ret_bytes = (struct pyro_slice){from->ptr, end};
    pyro_slice_drop(from, end);
    return true;
}

struct room {
    int64_t columns[PYRO_TASK_COLUMN_COUNT * PYRO_TASK_OPEN_STRIDE];
    int64_t lengths[PYRO_TASK_CHUNK_ROWS];
    size_t ends[PYRO_TASK_CHUNK_ROWS];
};

static bool unpack_chunk(struct pyro_task_table *table, struct pyro_slice *from, size_t rows, uint32_t texts,
                         struct room *room)
{
    static const enum pyro_task_column text_columns[] = {PYRO_TASK_executor, PYRO_TASK_host, PYRO_TASK_locality,
                                                         PYRO_TASK_reason, PYRO_TASK_error};
    struct pyro_slice bytes;
    for (int c = 0; c < PYRO_TASK_COLUMN_COUNT; c++)
        if (!unpack_column(from, room->columns + (size_t)c * PYRO_TASK_OPEN_STRIDE, rows))
            return false;
    for (size_t i = 0; i < sizeof(text_columns) / sizeof(*text_columns); i++)
        if (!are_texts(room->columns + (size_t)text_columns[i] * PYRO_TASK_OPEN_STRIDE, rows, texts))
            return false;
    if (!unpack_column(from, room->lengths, rows) || !take_metrics(from, room->lengths, rows, room->ends, &bytes))
        return false;
    const struct pyro_chunk_metrics metrics = {bytes.ptr, bytes.len ? room->ends : NULL};
    if (!pyro_vec_reserve(&table->chunks, 1, table->allocator))
        return false;
    struct pyro_task_chunk *chunk = pyro_task_chunk_new(room->columns, rows, &metrics, table->allocator);
    if (!chunk)
        return false;
    table->chunks.items[table->chunks.count++] = chunk;
    table->count += rows;
    return true;
}

bool pyro_task_table_unpack(struct pyro_task_table *table, struct pyro_slice *from, uint32_t texts)
{
    int64_t count;
    if (!take(from, &count) || count < 0 || count >= (int64_t)PYRO_HISTORY_RUNNING)
        return false;
    struct room *room = pyro_allocate(NULL, sizeof(*room));
    bool ok = room != NULL;
    for (size_t left = (size_t)count; ok && left > 0;) {
        size_t rows = left < PYRO_TASK_CHUNK_ROWS ? left : PYRO_TASK_CHUNK_ROWS;
        ok = unpack_chunk(table, from, rows, texts, room);
        left -= rows;
    }
    pyro_release(NULL, room);
    return ok;
}
