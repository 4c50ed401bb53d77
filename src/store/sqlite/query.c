/* Questions: one statement each, read row by row, within a limit of time. */
#include "store/sqlite/query.h"

#include <time.h>

#include "base/numbers/saturate.h"
#include "store/query_groups.h"

enum { STEPS = 20000 }; /* of SQLite's machine, between looks at the clock */

/* ---- Time -------------------------------------------------------------------------------------------------------- */

struct deadline {
    int64_t until_ms;
    bool passed;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int look_at_clock(void *context)
{
    struct deadline *deadline = context;
    deadline->passed = now_ms() >= deadline->until_ms;
    return deadline->passed;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

struct answering {
    struct pyro_sqlite *store;
    struct pyro_sqlite_question question;
    sqlite3_stmt *statement;
    struct deadline deadline;
    struct pyro_arena *arena;
};

static struct pyro_query_value column(const struct answering *answering, size_t at)
{
    sqlite3_stmt *s = answering->statement;
    int i = (int)at;
    if (sqlite3_column_type(s, i) == SQLITE_NULL)
        return (struct pyro_query_value){.kind = PYRO_VALUE_NULL};
    switch (answering->question.columns.items[at]) {
    case PYRO_FIELD_TEXT:
        return (struct pyro_query_value){.kind = PYRO_VALUE_TEXT, .text = pyro_sqlite_slice(s, i)};
    case PYRO_FIELD_REAL:
        return (struct pyro_query_value){.kind = PYRO_VALUE_REAL, .real = sqlite3_column_double(s, i)};
    default:
        return (struct pyro_query_value){.kind = PYRO_VALUE_INT, .integer = sqlite3_column_int64(s, i)};
    }
}

static void bind_values(const struct answering *answering)
{
    const struct pyro_sqlite_question *question = &answering->question;
    sqlite3_stmt *s = answering->statement;
    for (size_t i = 0; i < question->bound.count; i++) {
        const struct pyro_query_value *value = &question->bound.items[i];
        int at = (int)i + 1;
        if (value->kind == PYRO_VALUE_INT)
            sqlite3_bind_int64(s, at, value->integer);
        else if (value->kind == PYRO_VALUE_REAL)
            sqlite3_bind_double(s, at, value->real);
        else if (value->kind == PYRO_VALUE_TEXT)
            pyro_sqlite_bind_slice(s, at, value->text);
    }
    if (question->viewer_at)
        sqlite3_bind_pointer(s, question->viewer_at, (void *)(uintptr_t)question->viewer, PYRO_SQLITE_VIEWER, NULL);
}

static enum pyro_status failed(const struct answering *answering, struct pyro_error *error)
{
    if (answering->deadline.passed)
        return pyro_error_set(
            error, PYRO_ERROR_ARGUMENT,
            "the question took longer than %lld s and was stopped; narrow it with 'where', for example "
            "by a later start_ms",
            (long long)answering->question.query->most_ms / 1000);
    return pyro_sqlite_fail(answering->store, PYRO_ERROR_INPUT, "cannot be read", error);
}

static int step(const struct answering *answering)
{
    return pyro_sqlite_row_step(answering->store, sqlite3_step(answering->statement));
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

static enum pyro_status read_groups(struct answering *answering, struct pyro_query_groups *groups,
                                    struct pyro_query_answer *ret, struct pyro_error *error)
{
    const struct pyro_query *query = answering->question.query;
    struct pyro_query_value fields[PYRO_QUERY_GROUPS], values[PYRO_QUERY_MOST_MEASURES],
        weights[PYRO_QUERY_MOST_MEASURES];
    int stepped;
    while ((stepped = step(answering)) == SQLITE_ROW) {
        size_t at = 0;
        for (size_t i = 0; i < query->group_count; i++)
            fields[i] = column(answering, at++);
        for (size_t i = 0; i < query->measure_count; i++) {
            values[i] = column(answering, at++);
            weights[i] = column(answering, at++);
        }
        PYRO_TRY(pyro_query_groups_add(groups, fields, values, weights, error));
    }
    if (stepped != SQLITE_DONE)
        return failed(answering, error);
    return pyro_query_groups_answer(groups, answering->arena, ret, error);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* Copies columns of the row at hand. */
static bool read_row(const struct answering *answering, size_t first, size_t count, struct pyro_query_value *to)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = column(answering, first + i);
        if (to[i].kind == PYRO_VALUE_TEXT && !(to[i].text = pyro_arena_copy(answering->arena, to[i].text)).ptr)
            return false;
    }
    return true;
}

static enum pyro_status read_rows(struct answering *answering, struct pyro_query_answer *ret, struct pyro_error *error)
{
    const struct pyro_query *query = answering->question.query;
    const struct pyro_allocator *allocator = answering->store->allocator;
    PYRO_VEC(struct pyro_query_value) values = {0};
    struct pyro_query_value last[PYRO_SQLITE_MOST_TERMS];
    size_t columns = query->field_count, rows = 0, terms = pyro_sqlite_order_count(query),
           before = answering->arena->reserved;
    int stepped = SQLITE_DONE;
    bool full = false, ok = true;
    while (ok && (stepped = step(answering)) == SQLITE_ROW && !full) {
        ok = pyro_vec_reserve(&values, columns, allocator) &&
             read_row(answering, 0, columns, values.items + values.count);
        values.count += ok ? columns : 0;
        rows++;
        full = rows == query->limit || answering->arena->reserved - before > PYRO_QUERY_MOST_BYTES;
        ok = ok && (!full || read_row(answering, columns, terms, last)); /* the answer goes on here, if there is more */
    }
    struct pyro_query_answer answer = {.column_count = columns, .row_count = rows};
    answer.columns = ok ? pyro_query_columns(query, answering->arena, &answer.column_count) : NULL;
    struct pyro_query_value *copy = pyro_arena_array(answering->arena, values.count + 1, sizeof(*copy));
    if (ok && stepped == SQLITE_ROW)
        answer.after = pyro_query_cursor_make(query, last, terms, answering->arena);
    ok = ok && answer.columns && copy && (stepped != SQLITE_ROW || answer.after.ptr);
    if (ok && values.count)
        memcpy(copy, values.items, values.count * sizeof(*copy));
    answer.values = copy;
    pyro_vec_done(&values, allocator);
    if (!ok)
        return pyro_no_memory(error);
    if (stepped != SQLITE_ROW && stepped != SQLITE_DONE)
        return failed(answering, error);
    *ret = answer;
    return PYRO_OK;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static enum pyro_status prepare(struct answering *answering, struct pyro_error *error)
{
    struct pyro_sqlite_question *question = &answering->question;
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, answering->store->allocator);
    const struct pyro_strbuf *const parts[] = {&question->select, &question->from, &question->where, &question->order};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        pyro_strbuf_add_slice(&text, pyro_strbuf_slice(parts[i]));
    bool ok = !text.failed;
    if (ok)
        answering->statement = pyro_sqlite_prepare(answering->store, text.data);
    pyro_strbuf_done(&text);
    if (!ok)
        return pyro_no_memory(error);
    if (!answering->statement)
        return failed(answering, error);
    bind_values(answering);
    return PYRO_OK;
}

enum pyro_status pyro_sqlite_query(void *state, const struct pyro_query *query, const struct pyro_query_viewer *viewer,
                                   struct pyro_arena *arena, struct pyro_query_answer *ret, struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    struct answering answering = {
        .store = store, .deadline = {pyro_add_saturating(now_ms(), query->most_ms), false}, .arena = arena};
    struct pyro_query_groups groups;
    pyro_query_groups_init(&groups, query, store->allocator);
    sqlite3_progress_handler(store->db, STEPS, look_at_clock, &answering.deadline);
    enum pyro_status status = pyro_sqlite_question_make(query, viewer, arena, &answering.question, error);
    if (status == PYRO_OK)
        status = prepare(&answering, error);
    if (status == PYRO_OK)
        status = query->field_count ? read_rows(&answering, ret, error) : read_groups(&answering, &groups, ret, error);
    sqlite3_finalize(answering.statement);
    sqlite3_progress_handler(store->db, 0, NULL, NULL);
    pyro_sqlite_question_done(&answering.question);
    pyro_query_groups_done(&groups);
    return status;
}
