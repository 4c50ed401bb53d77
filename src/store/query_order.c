/* The rows of an answer with groups: in order, and as far as a page goes. */
#include <stdlib.h>

#include "base/memory/allocator.h"
#include "store/query.h"

/* By which column rows are ordered before their groups; SIZE_MAX: by none. */
struct order {
    size_t column, groups;
    bool descending;
};
struct line {
    const struct pyro_query_value *values;
    const struct order *order;
};

static int compare(const struct order *order, const struct pyro_query_value *left, const struct pyro_query_value *right)
{
    int result = order->column == SIZE_MAX ? 0 : pyro_query_value_compare(&left[order->column], &right[order->column]);
    for (size_t i = 0; i < order->groups && result == 0; i++)
        result = pyro_query_value_compare(&left[i], &right[i]);
    return order->descending ? -result : result;
}

static int by_order(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    return compare(a->order, a->values, b->values);
}

/* The values that a cursor holds: by which rows are ordered. */
static size_t cursor_values(const struct order *order, const struct pyro_query_value *row, struct pyro_query_value *ret)
{
    size_t count = 0;
    if (order->column != SIZE_MAX)
        ret[count++] = row[order->column];
    for (size_t i = 0; i < order->groups; i++)
        ret[count++] = row[i];
    return count;
}

/* How many lines are not behind query->after. */
static enum pyro_status skip(const struct pyro_query *query, const struct order *order, const struct line *lines,
                             size_t count, struct pyro_arena *arena, size_t columns, size_t *ret,
                             struct pyro_error *error)
{
    struct pyro_query_value last[PYRO_QUERY_GROUPS + 1];
    size_t ordered = order->column != SIZE_MAX, low = 0, high = count;
    struct pyro_query_value *row = pyro_arena_array(arena, columns + 1, sizeof(*row));
    if (!row)
        return pyro_no_memory(error);
    PYRO_TRY(pyro_query_cursor_read(query, arena, last, ordered + order->groups, error));
    for (size_t i = 0; i < order->groups; i++)
        row[i] = last[ordered + i];
    if (ordered)
        row[order->column] = last[0];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(order, lines[middle].values, row) > 0)
            high = middle;
        else
            low = middle + 1;
    }
    *ret = low;
    return PYRO_OK;
}

static bool copy_row(const struct pyro_query_value *from, size_t columns, struct pyro_arena *arena,
                     struct pyro_query_value *to)
{
    for (size_t i = 0; i < columns; i++) {
        to[i] = from[i];
        if (from[i].kind == PYRO_VALUE_TEXT && !(to[i].text = pyro_arena_copy(arena, from[i].text)).ptr)
            return false;
    }
    return true;
}

/* Orders the lines by their rows. */
static bool make_lines(const struct order *order, const struct pyro_query_value *values, size_t count, size_t columns,
                       const struct pyro_allocator *allocator, struct line **ret)
{
    struct line *lines = pyro_allocate(allocator, (count + 1) * sizeof(*lines));
    for (size_t i = 0; lines && i < count; i++)
        lines[i] = (struct line){values + i * columns, order};
    if (lines && count)
        qsort(lines, count, sizeof(*lines), by_order);
    *ret = lines;
    return lines != NULL;
}

static enum pyro_status cut(const struct pyro_query *query, const struct order *order, const struct line *lines,
                            size_t count, struct pyro_arena *arena, struct pyro_query_answer *answer,
                            struct pyro_error *error)
{
    size_t first = 0, columns = answer->column_count;
    if (query->after.ptr)
        PYRO_TRY(skip(query, order, lines, count, arena, columns, &first, error));
    size_t shown = count - first < query->limit ? count - first : query->limit;
    struct pyro_query_value *rows = pyro_arena_array(arena, shown * columns + 1, sizeof(*rows));
    if (!rows)
        return pyro_no_memory(error);
    for (size_t i = 0; i < shown; i++)
        if (!copy_row(lines[first + i].values, columns, arena, rows + i * columns))
            return pyro_no_memory(error);
    answer->values = rows;
    answer->row_count = shown;
    if (first + shown < count) {
        struct pyro_query_value last[PYRO_QUERY_GROUPS + 1];
        size_t kept = cursor_values(order, lines[first + shown - 1].values, last);
        answer->after = pyro_query_cursor_make(query, last, kept, arena);
        if (!answer->after.ptr)
            return pyro_no_memory(error);
    }
    return PYRO_OK;
}

enum pyro_status pyro_query_too_many_groups(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                          "the answer has more than %d groups; narrow the question with 'where', or make the groups "
                          "larger with 'every_ms' or 'edges'",
                          PYRO_QUERY_MOST_GROUPS);
}

enum pyro_status pyro_query_arrange(const struct pyro_query *query, const struct pyro_query_value *values, size_t count,
                                    struct pyro_arena *arena, struct pyro_query_answer *ret, struct pyro_error *error)
{
    struct pyro_query_answer answer = {0};
    struct order order = {SIZE_MAX, query->group_count, query->descending};
    struct line *lines;
    answer.columns = pyro_query_columns(query, arena, &answer.column_count);
    if (!answer.columns)
        return pyro_no_memory(error);
    for (size_t i = 0; query->order_by.ptr && i < answer.column_count; i++)
        if (pyro_slice_eq(answer.columns[i], query->order_by))
            order.column = i;
    if (!make_lines(&order, values, count, answer.column_count, arena->allocator, &lines))
        return pyro_no_memory(error);
    enum pyro_status status = cut(query, &order, lines, count, arena, &answer, error);
    pyro_release(arena->allocator, lines);
    if (status == PYRO_OK)
        *ret = answer;
    return status;
}
