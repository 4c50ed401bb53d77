/* A question to the text of one statement. */
#include "model/viewers.h"
#include "store/sqlite/query.h"

/* What orders rows, behind what the question names. */
struct term {
    const char *text;
    enum pyro_field_type type;
};

#define RUN_ORDER                                                                                                      \
    {"r.start_ms", PYRO_FIELD_TIME}, {"r.app_id", PYRO_FIELD_TEXT},                                                    \
    {                                                                                                                  \
        "r.attempt", PYRO_FIELD_TEXT                                                                                   \
    }

enum { MOST_TERMS = PYRO_SQLITE_MOST_TERMS - 1 };

static const struct term terms[PYRO_QUERY_FROMS][MOST_TERMS] = {
    [PYRO_FROM_RUNS] = {RUN_ORDER},
    [PYRO_FROM_FINDINGS] = {RUN_ORDER, {"t.position", PYRO_FIELD_INT}},
    [PYRO_FROM_USAGE] = {RUN_ORDER, {"t.start_ms", PYRO_FIELD_TIME}},
    [PYRO_FROM_ALLOCATIONS] = {RUN_ORDER},
    [PYRO_FROM_ERRORS] = {{"t.time_ms", PYRO_FIELD_TIME}, {"t.app_id", PYRO_FIELD_TEXT}, {"t.key", PYRO_FIELD_INT}},
    [PYRO_FROM_ADVICE] = {RUN_ORDER, {"t.position", PYRO_FIELD_INT}},
    [PYRO_FROM_SUGGESTIONS] = {{"t.time_ms", PYRO_FIELD_TIME}, {"t.id", PYRO_FIELD_TEXT}},
    [PYRO_FROM_CLUSTER] = {{"t.time_ms", PYRO_FIELD_TIME}, {"t.source", PYRO_FIELD_TEXT}, {"t.name", PYRO_FIELD_TEXT}},
    [PYRO_FROM_DAYS] = {{"t.time_ms", PYRO_FIELD_TIME}, {"t.application", PYRO_FIELD_TEXT}},
};

static size_t term_count(enum pyro_query_from from)
{
    size_t count = 0;
    while (count < MOST_TERMS && terms[from][count].text)
        count++;
    return count;
}

size_t pyro_sqlite_order_count(const struct pyro_query *query)
{
    return term_count(query->from) + (query->order_by.ptr != NULL);
}

/* ---- Parts of the text ------------------------------------------------------------------------------------------- */

/* Writes the parameter that has the value. */
static void bind(struct pyro_sqlite_question *question, struct pyro_strbuf *to, const struct pyro_query_value *value)
{
    struct pyro_query_value *place = pyro_vec_push(&question->bound, to->allocator);
    if (place)
        *place = *value;
    question->failed |= !place;
    pyro_strbuf_printf(to, "?%zu", question->bound.count);
}

static void bind_text(struct pyro_sqlite_question *question, struct pyro_strbuf *to, struct pyro_slice text)
{
    bind(question, to, &(struct pyro_query_value){.kind = PYRO_VALUE_TEXT, .text = text});
}

static bool is_runs(const struct pyro_sqlite_question *question)
{
    return question->query->from == PYRO_FROM_RUNS;
}

/* Number of the join that gives what is behind agg., property. or tag. */
static size_t join_of(struct pyro_sqlite_question *question, const struct pyro_query_field *field)
{
    for (size_t i = 0; i < question->named.count; i++)
        if (pyro_slice_eq(question->named.items[i].name, field->name))
            return i;
    struct pyro_query_field *place = pyro_vec_push(&question->named, question->from.allocator);
    if (place)
        *place = *field;
    question->failed |= !place;
    return question->named.count - 1;
}

static void add_field(struct pyro_sqlite_question *question, struct pyro_strbuf *to,
                      const struct pyro_query_field *field)
{
    if (field->kind != PYRO_QUERY_COLUMN) {
        pyro_strbuf_printf(to, "n%zu.value", join_of(question, field));
        return;
    }
    bool of_run = field->column->from == PYRO_FROM_RUNS;
    question->needs_run |= of_run;
    pyro_strbuf_printf(to, "%s.%s", of_run ? "r" : "t", field->column->name);
}

static void select_one(struct pyro_sqlite_question *question, enum pyro_field_type type)
{
    enum pyro_field_type *place = pyro_vec_push(&question->columns, question->from.allocator);
    if (place)
        *place = type;
    question->failed |= !place;
    pyro_strbuf_add_text(&question->select, question->columns.count > 1 ? ", " : "SELECT ");
}

static void select_field(struct pyro_sqlite_question *question, const struct pyro_query_field *field)
{
    bool none = field->kind == PYRO_QUERY_NO_FIELD;
    select_one(question, none ? PYRO_FIELD_INT : pyro_query_field_type(field));
    if (none)
        pyro_strbuf_add_text(&question->select, "NULL");
    else
        add_field(question, &question->select, field);
}

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

static void begin_condition(struct pyro_sqlite_question *question)
{
    pyro_strbuf_add_text(&question->where, question->where.len ? " AND " : " WHERE ");
}

static void compare(struct pyro_sqlite_question *question, const struct pyro_query_condition *condition,
                    const char *operator, const struct pyro_query_value * value)
{
    begin_condition(question);
    add_field(question, &question->where, &condition->field);
    pyro_strbuf_add_text(&question->where, operator);
    bind(question, &question->where, value);
}

/* Texts compare byte by byte: those with a prefix are an interval. No byte of UTF-8 is the last one. */
static void add_prefix(struct pyro_sqlite_question *question, const struct pyro_query_condition *condition,
                       struct pyro_arena *arena)
{
    struct pyro_query_value from = condition->values[0], to = from;
    compare(question, condition, " >= ", &from);
    if (from.text.len == 0)
        return;
    char *end = (char *)pyro_arena_alloc(arena, from.text.len);
    question->failed |= !end;
    if (!end)
        return;
    memcpy(end, from.text.ptr, from.text.len);
    end[from.text.len - 1]++;
    to.text = (struct pyro_slice){end, from.text.len};
    compare(question, condition, " < ", &to);
}

static void add_condition(struct pyro_sqlite_question *question, const struct pyro_query_condition *condition,
                          struct pyro_arena *arena)
{
    static const char *const operators[] = {
        [PYRO_OP_EQUAL] = " = ",    [PYRO_OP_NOT_EQUAL] = " IS NOT ", [PYRO_OP_LESS] = " < ",
        [PYRO_OP_AT_MOST] = " <= ", [PYRO_OP_MORE] = " > ",           [PYRO_OP_AT_LEAST] = " >= "};
    struct pyro_strbuf *to = &question->where;
    switch (condition->op) {
    case PYRO_OP_IN:
        begin_condition(question);
        add_field(question, to, &condition->field);
        for (size_t i = 0; i < condition->value_count; i++) {
            pyro_strbuf_add_text(to, i ? ", " : " IN (");
            bind(question, to, &condition->values[i]);
        }
        pyro_strbuf_add_text(to, ")");
        break;
    case PYRO_OP_PREFIX:
        add_prefix(question, condition, arena);
        break;
    case PYRO_OP_EXISTS:
        begin_condition(question);
        add_field(question, to, &condition->field);
        pyro_strbuf_add_text(to, condition->values[0].integer ? " IS NOT NULL" : " IS NULL");
        break;
    default:
        compare(question, condition, operators[condition->op], &condition->values[0]);
    }
}

/* Only what the edges span is read. */
static void add_span(struct pyro_sqlite_question *question, const struct pyro_query_group *group)
{
    struct pyro_query_condition condition = {.field = group->field};
    if (group->edge_count == 0)
        return;
    compare(question, &condition, " >= ", &(struct pyro_query_value){.kind = PYRO_VALUE_REAL, .real = group->edges[0]});
    compare(question, &condition, " < ",
            &(struct pyro_query_value){.kind = PYRO_VALUE_REAL, .real = group->edges[group->edge_count - 1]});
}

/* ---- Who asks ---------------------------------------------------------------------------------------------------- */

/* pyro_lets(viewer, enabled, users, groups, admins, admin groups) */
static void lets(sqlite3_context *context, int count, sqlite3_value **values)
{
    const struct pyro_query_viewer *viewer = sqlite3_value_pointer(values[0], PYRO_SQLITE_VIEWER);
    struct pyro_slice texts[4];
    for (int i = 0; i < 4 && count == 6; i++) {
        const char *text = (const char *)sqlite3_value_text(values[2 + i]);
        texts[i] = (struct pyro_slice){text, text ? (size_t)sqlite3_value_bytes(values[2 + i]) : 0};
    }
    const struct pyro_access_lists lists = {
        sqlite3_value_int(values[1]) != 0, texts[0], texts[1], texts[2], texts[3], true};
    sqlite3_result_int(context, viewer && pyro_access_lets(&lists, viewer->always, viewer->user, viewer->groups));
}

bool pyro_sqlite_add_functions(sqlite3 *db)
{
    return sqlite3_create_function(db, "pyro_lets", 6, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL, lets, NULL, NULL) ==
           SQLITE_OK;
}

static void add_viewer(struct pyro_sqlite_question *question)
{
    struct pyro_strbuf *to = &question->where;
    if (!question->viewer)
        return;
    begin_condition(question);
    if (!pyro_query_lists[question->query->from].of_runs) {
        pyro_strbuf_add_text(to, "0");
        return;
    }
    question->needs_run = true;
    pyro_strbuf_add_text(to, "(");
    if (question->viewer->user.len) {
        pyro_strbuf_add_text(to, "r.user = ");
        bind_text(question, to, question->viewer->user);
        pyro_strbuf_add_text(to, " OR ");
    }
    pyro_strbuf_add_text(to, "EXISTS (SELECT 1 FROM run_access x WHERE x.run = r.key AND pyro_lets(");
    bind(question, to, &(struct pyro_query_value){.kind = PYRO_VALUE_NULL});
    question->viewer_at = (int)question->bound.count;
    pyro_strbuf_add_text(to, ", x.enabled, x.view_users, x.view_groups, x.admin_users, x.admin_groups)))");
}

/* ---- Order of rows ----------------------------------------------------------------------------------------------- */

/* What rows are ordered by: the question's own field, then the terms of its list. */
static const struct pyro_query_field *own_order(const struct pyro_query *query)
{
    for (size_t i = 0; query->order_by.ptr && i < query->field_count; i++)
        if (pyro_slice_eq(query->fields[i].name, query->order_by))
            return &query->fields[i];
    return NULL;
}

static void add_term(struct pyro_sqlite_question *question, struct pyro_strbuf *to, size_t term)
{
    const struct pyro_query_field *own = own_order(question->query);
    if (own && term == 0)
        add_field(question, to, own);
    else
        pyro_strbuf_add_text(to, terms[question->query->from][term - (own != NULL)].text);
}

/* Behind the cursor's value: NULL is the least. */
static void add_behind(struct pyro_sqlite_question *question, size_t term, const struct pyro_query_value *value)
{
    struct pyro_strbuf *to = &question->where;
    bool descending = question->query->descending;
    if (descending && value->kind == PYRO_VALUE_NULL) {
        pyro_strbuf_add_text(to, "0");
        return;
    }
    pyro_strbuf_add_text(to, "(");
    add_term(question, to, term);
    if (value->kind == PYRO_VALUE_NULL) {
        pyro_strbuf_add_text(to, " IS NOT NULL)");
        return;
    }
    pyro_strbuf_add_text(to, descending ? " < " : " > ");
    bind(question, to, value);
    if (descending) {
        pyro_strbuf_add_text(to, " OR ");
        add_term(question, to, term);
        pyro_strbuf_add_text(to, " IS NULL");
    }
    pyro_strbuf_add_text(to, ")");
}

static enum pyro_status add_after(struct pyro_sqlite_question *question, struct pyro_arena *arena,
                                  struct pyro_error *error)
{
    struct pyro_strbuf *to = &question->where;
    struct pyro_query_value last[PYRO_SQLITE_MOST_TERMS];
    size_t count = pyro_sqlite_order_count(question->query);
    if (!question->query->after.ptr)
        return PYRO_OK;
    PYRO_TRY(pyro_query_cursor_read(question->query, arena, last, count, error));
    begin_condition(question);
    if (!question->query->descending && last[0].kind != PYRO_VALUE_NULL) { /* this is what an index can use */
        add_term(question, to, 0);
        pyro_strbuf_add_text(to, " >= ");
        bind(question, to, &last[0]);
        begin_condition(question);
    }
    pyro_strbuf_add_text(to, "(");
    for (size_t i = 0; i < count; i++) {
        pyro_strbuf_add_text(to, i ? " OR (" : "(");
        for (size_t j = 0; j < i; j++) {
            add_term(question, to, j);
            pyro_strbuf_add_text(to, " IS ");
            bind(question, to, &last[j]);
            pyro_strbuf_add_text(to, " AND ");
        }
        add_behind(question, i, &last[i]);
        pyro_strbuf_add_text(to, ")");
    }
    pyro_strbuf_add_text(to, ")");
    return PYRO_OK;
}

static void add_order(struct pyro_sqlite_question *question)
{
    const struct pyro_query *query = question->query;
    const struct pyro_query_field *own = own_order(query);
    size_t count = pyro_sqlite_order_count(query);
    for (size_t i = 0; i < count; i++) {
        select_one(question, own && i == 0 ? pyro_query_field_type(own) : terms[query->from][i - (own != NULL)].type);
        add_term(question, &question->select, i);
        pyro_strbuf_add_text(&question->order, i ? ", " : " ORDER BY ");
        add_term(question, &question->order, i);
        pyro_strbuf_add_text(&question->order, query->descending ? " DESC" : "");
    }
    pyro_strbuf_add_text(&question->order, " LIMIT ");
    bind(question, &question->order,
         &(struct pyro_query_value){.kind = PYRO_VALUE_INT, .integer = (int64_t)query->limit + 1});
    question->needs_run |= pyro_query_lists[query->from].of_runs;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static void add_joins(struct pyro_sqlite_question *question)
{
    static const char *const tables[][2] = {[PYRO_QUERY_AGGREGATE] = {"aggregate", "aggregate_name"},
                                            [PYRO_QUERY_PROPERTY] = {"property", "property_name"},
                                            [PYRO_QUERY_TAG] = {"run_tag", "tag_name"}};
    struct pyro_strbuf *to = &question->from;
    pyro_strbuf_printf(to, " FROM %s %s", pyro_query_lists[question->query->from].table, is_runs(question) ? "r" : "t");
    if (question->needs_run && !is_runs(question))
        pyro_strbuf_add_text(to, " JOIN run r ON r.key = t.run");
    for (size_t i = 0; i < question->named.count; i++) {
        const struct pyro_query_field *field = &question->named.items[i];
        pyro_strbuf_printf(to,
                           " LEFT JOIN %s n%zu ON n%zu.name = (SELECT id FROM %s WHERE name = ", tables[field->kind][0],
                           i, i, tables[field->kind][1]);
        bind_text(question, to, field->key);
        pyro_strbuf_printf(to, ") AND n%zu.run = %s", i, is_runs(question) ? "r.key" : "t.run");
    }
}

enum pyro_status pyro_sqlite_question_make(const struct pyro_query *query, const struct pyro_query_viewer *viewer,
                                           struct pyro_arena *arena, struct pyro_sqlite_question *question,
                                           struct pyro_error *error)
{
    *question = (struct pyro_sqlite_question){.query = query, .viewer = viewer};
    struct pyro_strbuf *const texts[] = {&question->select, &question->from, &question->where, &question->order};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        pyro_strbuf_init(texts[i], arena->allocator);
    for (size_t i = 0; i < query->condition_count; i++)
        add_condition(question, &query->conditions[i], arena);
    for (size_t i = 0; i < query->group_count; i++) {
        add_span(question, &query->groups[i]);
        select_field(question, &query->groups[i].field);
    }
    for (size_t i = 0; i < query->measure_count; i++) {
        select_field(question, &query->measures[i].field);
        select_field(question, &query->measures[i].weight);
    }
    for (size_t i = 0; i < query->field_count; i++)
        select_field(question, &query->fields[i]);
    add_viewer(question);
    if (query->field_count) {
        PYRO_TRY(add_after(question, arena, error));
        add_order(question);
    }
    add_joins(question);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        question->failed |= texts[i]->failed;
    return question->failed ? pyro_no_memory(error) : PYRO_OK;
}

void pyro_sqlite_question_done(struct pyro_sqlite_question *question)
{
    const struct pyro_allocator *allocator = question->from.allocator;
    pyro_vec_done(&question->bound, allocator);
    pyro_vec_done(&question->named, allocator);
    pyro_vec_done(&question->columns, allocator);
    pyro_strbuf_done(&question->select);
    pyro_strbuf_done(&question->from);
    pyro_strbuf_done(&question->where);
    pyro_strbuf_done(&question->order);
}
