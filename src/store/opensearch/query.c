/* Questions: their conditions, and who asks. */
#include <math.h>

#include "base/numbers/saturate.h"
#include "model/viewers.h"
#include "store/opensearch/question.h"
#include "text/escape.h"

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

bool pyro_opensearch_is_pair(const struct pyro_query_field *field)
{
    return field->kind == PYRO_QUERY_PROPERTY || field->kind == PYRO_QUERY_TAG;
}

void pyro_opensearch_add_field(enum pyro_query_from from, const struct pyro_query_field *field, struct pyro_strbuf *to)
{
    struct pyro_slice name = field->name;
    if (pyro_opensearch_is_pair(field))
        name = field->kind == PYRO_QUERY_TAG ? PYRO_SLICE_LITERAL("tags") : PYRO_SLICE_LITERAL("properties");
    else if (from == PYRO_FROM_CLUSTER && pyro_slice_is(name, "value"))
        name = PYRO_SLICE_LITERAL("number"); /* "value" is a text in documents of advice */
    pyro_add_json(to, name);
}

/* "KEY=TEXT" as a JSON string, or the text itself for other fields. */
static void add_text(const struct pyro_query_field *field, struct pyro_slice text, struct pyro_strbuf *to)
{
    struct pyro_strbuf pair;
    if (!pyro_opensearch_is_pair(field)) {
        pyro_add_json(to, text);
        return;
    }
    pyro_strbuf_init(&pair, to->allocator);
    pyro_strbuf_add_slice(&pair, field->key);
    pyro_strbuf_add_char(&pair, '=');
    pyro_strbuf_add_slice(&pair, text);
    pyro_add_json(to, pyro_strbuf_slice(&pair));
    to->failed |= pair.failed;
    pyro_strbuf_done(&pair);
}

static void begin(enum pyro_query_from from, const char *kind, const struct pyro_query_field *field,
                  struct pyro_strbuf *to)
{
    pyro_opensearch_format(to, "{?s:{", kind);
    pyro_opensearch_add_field(from, field, to);
    pyro_strbuf_add_char(to, ':');
}

void pyro_opensearch_add_known(enum pyro_query_from from, const struct pyro_query_field *field, struct pyro_strbuf *to)
{
    if (pyro_opensearch_is_pair(field)) {
        begin(from, "prefix", field, to);
        add_text(field, PYRO_SLICE_LITERAL(""), to);
        pyro_strbuf_add_text(to, "}}");
    } else if (field->kind == PYRO_QUERY_AGGREGATE) { /* "exists" takes patterns, and names of objects */
        begin(from, "range", field, to);
        pyro_opensearch_format(to, "{'gte':-1.7976931348623157e308}}}");
    } else if (field->column->type == PYRO_FIELD_TEXT) { /* what is too long is ignored, but not unknown */
        pyro_opensearch_format(to, "{'bool':{'should':[{'exists':{'field':?t}},{'term':{'long':?t}}]}}", field->name,
                               field->name);
    } else {
        pyro_opensearch_format(to, "{'exists':{'field':");
        pyro_opensearch_add_field(from, field, to);
        pyro_strbuf_add_text(to, "}}");
    }
}

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

struct conditions {
    enum pyro_query_from from;
    struct pyro_strbuf *to;
};

static void add_value(const struct pyro_query_field *field, const struct pyro_query_value *value,
                      struct pyro_strbuf *to)
{
    if (value->kind == PYRO_VALUE_TEXT)
        add_text(field, value->text, to);
    else if (value->kind == PYRO_VALUE_INT)
        pyro_strbuf_add_int(to, value->integer);
    else
        pyro_add_json_real(to, value->real);
}

/* Times and whole numbers have no fraction, and OpenSearch refuses one in some places. */
static bool has_fraction(const struct pyro_query_field *field, const struct pyro_query_value *value)
{
    enum pyro_field_type type = pyro_query_field_type(field);
    return type != PYRO_FIELD_REAL && type != PYRO_FIELD_TEXT && value->kind == PYRO_VALUE_REAL;
}

/* The value as a whole number; false: no whole number equals it. */
static bool whole(const struct pyro_query_value *value, struct pyro_query_value *ret)
{
    if (!(value->real >= -0x1p63 && value->real < 0x1p63) || value->real != floor(value->real))
        return false;
    *ret = (struct pyro_query_value){.kind = PYRO_VALUE_INT, .integer = (int64_t)value->real};
    return true;
}

static void add_terms(const struct conditions *conditions, const struct pyro_query_condition *condition)
{
    struct pyro_strbuf *to = conditions->to;
    bool first = true;
    begin(conditions->from, "terms", &condition->field, to);
    pyro_strbuf_add_char(to, '[');
    for (size_t i = 0; i < condition->value_count; i++) {
        struct pyro_query_value value = condition->values[i];
        if (has_fraction(&condition->field, &value) && !whole(&value, &value))
            continue;
        if (!first)
            pyro_strbuf_add_char(to, ',');
        first = false;
        add_value(&condition->field, &value, to);
    }
    pyro_strbuf_add_text(to, "]}}");
}

/* Bounds of a pair are within its key: '=' is followed by '>'. */
static void add_pair_range(const struct pyro_query_condition *condition, const char *bound, struct pyro_strbuf *to)
{
    bool less = condition->op == PYRO_OP_LESS || condition->op == PYRO_OP_AT_MOST;
    pyro_opensearch_format(to, "?s:", bound);
    add_text(&condition->field, condition->values[0].text, to);
    pyro_opensearch_format(to, ",?s:", less ? "gte" : "lt");
    struct pyro_strbuf end;
    pyro_strbuf_init(&end, to->allocator);
    pyro_strbuf_add_slice(&end, condition->field.key);
    pyro_strbuf_add_char(&end, less ? '=' : '=' + 1);
    pyro_add_json(to, pyro_strbuf_slice(&end));
    to->failed |= end.failed;
    pyro_strbuf_done(&end);
}

static void add_range(const struct conditions *conditions, const struct pyro_query_condition *condition)
{
    static const char *const bounds[] = {
        [PYRO_OP_LESS] = "lt", [PYRO_OP_AT_MOST] = "lte", [PYRO_OP_MORE] = "gt", [PYRO_OP_AT_LEAST] = "gte"};
    struct pyro_strbuf *to = conditions->to;
    struct pyro_query_value value = condition->values[0];
    const char *bound = bounds[condition->op];
    begin(conditions->from, "range", &condition->field, to);
    pyro_strbuf_add_char(to, '{');
    if (pyro_opensearch_is_pair(&condition->field)) {
        add_pair_range(condition, bound, to);
    } else {
        if (has_fraction(&condition->field, &value) && !whole(&value, &value)) {
            bool less = condition->op == PYRO_OP_LESS || condition->op == PYRO_OP_AT_MOST;
            double near = less ? floor(value.real) : ceil(value.real);
            bound = less ? "lte" : "gte";
            value.integer = near >= 0x1p63 ? INT64_MAX : near < -0x1p63 ? INT64_MIN : (int64_t)near;
            value.kind = PYRO_VALUE_INT;
        }
        pyro_opensearch_format(to, "?s:", bound);
        add_value(&condition->field, &value, to);
    }
    pyro_strbuf_add_text(to, "}}}");
}

static void add_not(struct pyro_strbuf *to, void (*add)(const struct conditions *, const struct pyro_query_condition *),
                    const struct conditions *conditions, const struct pyro_query_condition *condition)
{
    pyro_opensearch_format(to, "{'bool':{'must_not':[");
    add(conditions, condition);
    pyro_strbuf_add_text(to, "]}}");
}

static void add_known(const struct conditions *conditions, const struct pyro_query_condition *condition)
{
    pyro_opensearch_add_known(conditions->from, &condition->field, conditions->to);
}

static void add_condition(const struct conditions *conditions, const struct pyro_query_condition *condition)
{
    switch (condition->op) {
    case PYRO_OP_EQUAL:
    case PYRO_OP_IN:
        add_terms(conditions, condition);
        break;
    case PYRO_OP_NOT_EQUAL:
        add_not(conditions->to, add_terms, conditions, condition);
        break;
    case PYRO_OP_PREFIX:
        begin(conditions->from, "prefix", &condition->field, conditions->to);
        add_text(&condition->field, condition->values[0].text, conditions->to);
        pyro_strbuf_add_text(conditions->to, "}}");
        break;
    case PYRO_OP_EXISTS:
        if (condition->values[0].integer)
            add_known(conditions, condition);
        else
            add_not(conditions->to, add_known, conditions, condition);
        break;
    default:
        add_range(conditions, condition);
    }
}

/* ---- Who asks ---------------------------------------------------------------------------------------------------- */

static void add_name(const char *kind, struct pyro_slice name, struct pyro_strbuf *to)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, to->allocator);
    pyro_strbuf_printf(&text, "%s:", kind);
    pyro_strbuf_add_slice(&text, name);
    pyro_strbuf_add_char(to, ',');
    pyro_add_json(to, pyro_strbuf_slice(&text));
    to->failed |= text.failed;
    pyro_strbuf_done(&text);
}

static void add_viewer(const struct pyro_query *query, const struct pyro_query_viewer *viewer, struct pyro_strbuf *to)
{
    struct pyro_slice groups = viewer->groups, one;
    if (!pyro_query_lists[query->from].of_runs) {
        pyro_opensearch_format(to, ",{'bool':{'must_not':[{'match_all':{}}]}}");
        return;
    }
    pyro_opensearch_format(to, ",{'terms':{'seen_by':['*'");
    if (!viewer->always)
        pyro_opensearch_format(to, ",'open'");
    if (viewer->user.len)
        add_name("u", viewer->user, to);
    while (groups.len && pyro_access_next(&groups, &one))
        add_name("g", one, to);
    pyro_strbuf_add_text(to, "]}}");
}

void pyro_opensearch_add_query(const struct pyro_query *query, const struct pyro_query_viewer *viewer,
                               struct pyro_strbuf *to)
{
    const struct conditions conditions = {query->from, to};
    pyro_opensearch_format(to, "'timeout':'?ims','query':{'bool':{'filter':[{'term':{'kind':?s}}", query->most_ms,
                           pyro_opensearch_kind(query->from));
    for (size_t i = 0; i < query->condition_count; i++) {
        pyro_strbuf_add_char(to, ',');
        add_condition(&conditions, &query->conditions[i]);
    }
    if (viewer)
        add_viewer(query, viewer, to);
    pyro_strbuf_add_text(to, "]}}");
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

enum pyro_status pyro_opensearch_query(void *state, const struct pyro_query *query,
                                       const struct pyro_query_viewer *viewer, struct pyro_arena *arena,
                                       struct pyro_query_answer *ret, struct pyro_error *error)
{
    struct pyro_opensearch *store = state;
    store->most_ms = query->most_ms;
    store->deadline = pyro_add_saturating(pyro_opensearch_monotonic_ms(), query->most_ms);
    enum pyro_status status = query->field_count ? pyro_opensearch_ask_rows(store, query, viewer, arena, ret, error)
                                                 : pyro_opensearch_ask_groups(store, query, viewer, arena, ret, error);
    store->deadline = 0;
    if (status == PYRO_ERROR_INPUT)
        pyro_error_at(error, store->label, UINT64_MAX);
    return status;
}
