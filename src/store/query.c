/* The JSON form of a question, read strictly: what is not understood is an error, never left out. */
#include "store/query.h"

#include <math.h>
#include <stdio.h>

#include "base/json/json_read.h"
#include "base/json/unescape.h"
#include "store/answer.h"

#define SCHEMA "pyrometer.store_query/1"

enum { MOST_AT = 64, MOST_NAME = 200, SHOWN = 60 };

struct reading {
    struct pyro_arena *arena;
    const struct pyro_scan *scan;
    struct pyro_query *query;
    struct pyro_error *error;
};

/* A value of the question, and where it is: "where[2].op". */
struct part {
    struct pyro_slice text;
    const char *place;
};

static enum pyro_status no_memory(const struct reading *reading)
{
    pyro_error_describe(reading->error, PYRO_ERROR_MEMORY, "no memory left for a question to a store");
    return PYRO_ERROR_MEMORY;
}

#define WRONG(reading, part, ...) wrong(reading, part, pyro_arena_printf((reading)->arena, __VA_ARGS__).ptr)

static enum pyro_status wrong(const struct reading *reading, const struct part *part, const char *why)
{
    if (!why || !part->place)
        return no_memory(reading);
    pyro_error_describe(reading->error, PYRO_ERROR_ARGUMENT, "the question: %s%s%s", part->place,
                        *part->place ? ": " : "", why);
    return PYRO_ERROR_ARGUMENT;
}

static int shown(struct pyro_slice text)
{
    return (int)(text.len < SHOWN ? text.len : SHOWN);
}

static enum pyro_status unknown_name(const struct reading *reading, const struct part *part, const char *what,
                                     struct pyro_slice name, const char *const *names, size_t count)
{
    struct pyro_slice word = pyro_arena_copy(reading->arena, name);
    const char *nearest = word.ptr ? pyro_nearest(word.ptr, names, count) : NULL;
    return WRONG(reading, part, "there is no %s '%.*s'%s%s%s", what, shown(name), name.ptr,
                 nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static struct pyro_json_reader start(const struct reading *reading, struct pyro_slice text)
{
    struct pyro_json_reader json;
    pyro_json_reader_start(&json, text.ptr, text.ptr + text.len, reading->scan);
    return json;
}

/* ---- Single values ----------------------------------------------------------------------------------------------- */

static enum pyro_status decode(const struct reading *reading, struct pyro_slice raw, struct pyro_slice *ret)
{
    struct pyro_strbuf buffer;
    pyro_strbuf_init(&buffer, reading->arena->allocator);
    pyro_text_decode(&buffer, raw, NULL);
    *ret = buffer.failed ? PYRO_SLICE_NULL : pyro_arena_copy(reading->arena, pyro_strbuf_slice(&buffer));
    pyro_strbuf_done(&buffer);
    return ret->ptr ? PYRO_OK : no_memory(reading);
}

static enum pyro_status take_text(const struct reading *reading, const struct part *part, struct pyro_slice *ret)
{
    struct pyro_json_reader json = start(reading, part->text);
    struct pyro_slice raw = PYRO_SLICE_NULL;
    if (pyro_json_peek(&json) != '"' || !pyro_json_take_string(&json, &raw, NULL))
        return WRONG(reading, part, "a text was expected");
    return decode(reading, raw, ret);
}

static enum pyro_status take_number(const struct reading *reading, const struct part *part,
                                    struct pyro_query_value *ret)
{
    struct pyro_json_reader json = start(reading, part->text);
    char first = pyro_json_peek(&json);
    if (first != '-' && (first < '0' || first > '9'))
        return WRONG(reading, part, "a number was expected");
    bool whole = true;
    for (size_t i = 0; i < part->text.len; i++)
        whole &= !strchr(".eE", part->text.ptr[i]);
    *ret = (struct pyro_query_value){.kind = whole ? PYRO_VALUE_INT : PYRO_VALUE_REAL};
    if (whole ? !pyro_json_take_long_int(&json, &ret->integer)
              : !pyro_json_take_double(&json, &ret->real) || !isfinite(ret->real))
        return WRONG(reading, part, "the number is too large");
    return PYRO_OK;
}

static enum pyro_status take_int(const struct reading *reading, const struct part *part, int64_t least, int64_t most,
                                 int64_t *ret)
{
    struct pyro_query_value value;
    PYRO_TRY(take_number(reading, part, &value));
    if (value.kind != PYRO_VALUE_INT || value.integer < least || value.integer > most)
        return WRONG(reading, part, "a whole number of %lld to %lld was expected", (long long)least, (long long)most);
    *ret = value.integer;
    return PYRO_OK;
}

static enum pyro_status take_bool(const struct reading *reading, const struct part *part, bool *ret)
{
    struct pyro_json_reader json = start(reading, part->text);
    char first = pyro_json_peek(&json);
    if ((first != 't' && first != 'f') || !pyro_json_take_bool(&json, ret))
        return WRONG(reading, part, "true or false was expected");
    return PYRO_OK;
}

/* ---- Objects and arrays ------------------------------------------------------------------------------------------ */

/* Members of an object by the names of a table: `ret[i]` is that of names[i], with a null text where it is missing. */
static enum pyro_status take_members(const struct reading *reading, const struct part *part, const char *const *names,
                                     size_t count, struct part *ret)
{
    struct pyro_json_reader json = start(reading, part->text);
    struct pyro_json_object object;
    for (size_t i = 0; i < count; i++)
        ret[i] = (struct part){
            PYRO_SLICE_NULL,
            pyro_arena_printf(reading->arena, "%s%s%s", part->place, *part->place ? "." : "", names[i]).ptr};
    if (pyro_json_peek(&json) != '{' || !pyro_json_enter_object(&json, &object))
        return WRONG(reading, part, "an object was expected");
    while (pyro_json_next(&json, &object, NULL, 0) == PYRO_JSON_OTHER) {
        struct pyro_slice name, value;
        size_t i = 0;
        PYRO_TRY(decode(reading, object.name, &name));
        while (i < count && !pyro_slice_is(name, names[i]))
            i++;
        if (i == count)
            return unknown_name(reading, part, "member", name, names, count);
        if (ret[i].text.ptr)
            return WRONG(reading, &ret[i], "it is given twice");
        if (!pyro_json_take_raw(&json, &value))
            break;
        ret[i].text = value;
    }
    if (json.error || !pyro_json_record_end(&json))
        return WRONG(reading, part, "not valid JSON at byte %zu: %s", (size_t)(json.at - part->text.ptr),
                     *json.error ? json.error : "it ends too early");
    return PYRO_OK;
}

/* The elements of an array, least to most of them; all in the arena. */
static enum pyro_status take_elements(const struct reading *reading, const struct part *part, size_t least, size_t most,
                                      struct part **ret, size_t *ret_count)
{
    size_t count = 0;
    bool first = true;
    struct pyro_json_reader json = start(reading, part->text);
    if (pyro_json_peek(&json) != '[')
        return WRONG(reading, part, "an array was expected");
    for (pyro_json_enter_array(&json); pyro_json_next_element(&json, &first); count++)
        pyro_json_skip(&json);
    if (count < least || count > most)
        return WRONG(reading, part, "%zu elements where %zu to %zu may be", count, least, most);
    struct part *parts = pyro_arena_array(reading->arena, count + 1, sizeof(*parts));
    if (!parts)
        return no_memory(reading);
    first = true;
    json = start(reading, part->text);
    pyro_json_enter_array(&json);
    for (size_t i = 0; i < count && pyro_json_next_element(&json, &first); i++) {
        pyro_json_take_raw(&json, &parts[i].text);
        parts[i].place = pyro_arena_printf(reading->arena, "%s[%zu]", part->place, i).ptr;
        if (!parts[i].place)
            return no_memory(reading);
    }
    *ret = parts;
    *ret_count = count;
    return PYRO_OK;
}

/* The row of a table that a text names. */
static enum pyro_status take_choice(const struct reading *reading, const struct part *part, const char *what,
                                    const char *const *names, size_t count, size_t *ret)
{
    struct pyro_slice name;
    if (!part->text.ptr)
        return WRONG(reading, part, "it is missing");
    PYRO_TRY(take_text(reading, part, &name));
    for (size_t i = 0; i < count; i++)
        if (pyro_slice_is(name, names[i])) {
            *ret = i;
            return PYRO_OK;
        }
    return unknown_name(reading, part, what, name, names, count);
}

/* ---- Fields and values ------------------------------------------------------------------------------------------- */

static enum pyro_status take_field(const struct reading *reading, const struct part *part, struct pyro_query_field *ret)
{
    struct pyro_slice name;
    enum pyro_query_from from = reading->query->from;
    if (!part->text.ptr)
        return WRONG(reading, part, "it is missing");
    PYRO_TRY(take_text(reading, part, &name));
    if (name.len > MOST_NAME)
        return WRONG(reading, part, "the name is longer than %d bytes", MOST_NAME);
    if (pyro_query_field_make(from, name, ret))
        return PYRO_OK;
    const char *hint = pyro_query_field_hint(from, name, reading->arena);
    return hint ? WRONG(reading, part, "'%s' has no field '%.*s'%s", pyro_query_lists[from].name, shown(name), name.ptr,
                        hint)
                : no_memory(reading);
}

static enum pyro_status take_field_item(const struct reading *reading, const struct part *part, void *item)
{
    return take_field(reading, part, item);
}

static bool is_text(const struct pyro_query_field *field)
{
    return pyro_query_field_type(field) == PYRO_FIELD_TEXT;
}

static enum pyro_status take_number_field(const struct reading *reading, const struct part *part,
                                          struct pyro_query_field *ret)
{
    PYRO_TRY(take_field(reading, part, ret));
    return is_text(ret) ? WRONG(reading, part, "'%.*s' is a text; a field of numbers was expected", shown(ret->name),
                                ret->name.ptr)
                        : PYRO_OK;
}

static enum pyro_status take_value(const struct reading *reading, const struct part *part,
                                   const struct pyro_query_field *field, struct pyro_query_value *ret)
{
    bool flag = false;
    if (is_text(field)) {
        ret->kind = PYRO_VALUE_TEXT;
        return take_text(reading, part, &ret->text);
    }
    if (pyro_query_field_type(field) != PYRO_FIELD_FLAG || part->text.ptr[0] == '0' || part->text.ptr[0] == '1')
        return take_number(reading, part, ret);
    PYRO_TRY(take_bool(reading, part, &flag));
    *ret = (struct pyro_query_value){.kind = PYRO_VALUE_INT, .integer = flag};
    return PYRO_OK;
}

/* ---- The question's parts ---------------------------------------------------------------------------------------- */

static enum pyro_status take_condition(const struct reading *reading, const struct part *part, void *item)
{
    struct pyro_query_condition *ret = item;
    static const char *const names[] = {"field", "op", "value"};
    static const char *const ops[] = {"=", "!=", "<", "<=", ">", ">=", "in", "prefix", "exists"};
    enum { FIELD, OP, VALUE, MEMBERS };
    struct part members[MEMBERS], *parts = &members[VALUE];
    size_t op = 0, count = 1;
    PYRO_TRY(take_members(reading, part, names, MEMBERS, members));
    PYRO_TRY(take_field(reading, &members[FIELD], &ret->field));
    PYRO_TRY(take_choice(reading, &members[OP], "operation", ops, sizeof(ops) / sizeof(*ops), &op));
    ret->op = (enum pyro_query_op)op;
    if (!members[VALUE].text.ptr)
        return WRONG(reading, &members[VALUE], "it is missing");
    if (ret->op == PYRO_OP_IN)
        PYRO_TRY(take_elements(reading, &members[VALUE], 1, PYRO_QUERY_MOST_VALUES, &parts, &count));
    if (ret->op == PYRO_OP_PREFIX && !is_text(&ret->field))
        return WRONG(reading, &members[OP], "'%.*s' is a number; 'prefix' needs a text", shown(ret->field.name),
                     ret->field.name.ptr);
    struct pyro_query_value *values = pyro_arena_array(reading->arena, count, sizeof(*values));
    if (!values)
        return no_memory(reading);
    ret->values = values;
    ret->value_count = count;
    if (ret->op == PYRO_OP_EXISTS) {
        bool known = false;
        PYRO_TRY(take_bool(reading, &members[VALUE], &known));
        values[0] = (struct pyro_query_value){.kind = PYRO_VALUE_INT, .integer = known};
        return PYRO_OK;
    }
    for (size_t i = 0; i < count; i++)
        PYRO_TRY(take_value(reading, &parts[i], &ret->field, &values[i]));
    return PYRO_OK;
}

/* Numbers as doubles, ascending where asked. */
static enum pyro_status take_reals(const struct reading *reading, const struct part *part, size_t least, size_t most,
                                   const double **ret, size_t *ret_count)
{
    struct part *parts;
    size_t count;
    PYRO_TRY(take_elements(reading, part, least, most, &parts, &count));
    double *reals = pyro_arena_array(reading->arena, count, sizeof(*reals));
    if (!reals)
        return no_memory(reading);
    for (size_t i = 0; i < count; i++) {
        struct pyro_query_value value;
        PYRO_TRY(take_number(reading, &parts[i], &value));
        reals[i] = pyro_value_number(&value);
        if (i > 0 && !(reals[i] > reals[i - 1]))
            return WRONG(reading, &parts[i], "the numbers must ascend");
    }
    *ret = reals;
    *ret_count = count;
    return PYRO_OK;
}

static enum pyro_status take_group(const struct reading *reading, const struct part *part, void *item)
{
    struct pyro_query_group *ret = item;
    static const char *const names[] = {"field", "every_ms", "edges"};
    enum { FIELD, EVERY, EDGES, MEMBERS };
    struct part members[MEMBERS];
    PYRO_TRY(take_members(reading, part, names, MEMBERS, members));
    bool ranges = members[EVERY].text.ptr || members[EDGES].text.ptr;
    if (members[EVERY].text.ptr && members[EDGES].text.ptr)
        return WRONG(reading, part, "'every_ms' and 'edges' exclude each other");
    PYRO_TRY((ranges ? take_number_field : take_field)(reading, &members[FIELD], &ret->field));
    if (members[EVERY].text.ptr)
        PYRO_TRY(take_int(reading, &members[EVERY], 1, (int64_t)1 << 53, &ret->every_ms));
    if (members[EDGES].text.ptr)
        PYRO_TRY(take_reals(reading, &members[EDGES], 2, PYRO_QUERY_MOST_EDGES, &ret->edges, &ret->edge_count));
    return PYRO_OK;
}

static enum pyro_status take_percents(const struct reading *reading, const struct part *part,
                                      struct pyro_query_measure *ret)
{
    if (!part->text.ptr)
        return WRONG(reading, part, "it is missing; percentiles need numbers of 0 to 100");
    PYRO_TRY(take_reals(reading, part, 1, MOST_AT, &ret->at, &ret->at_count));
    if (ret->at[0] < 0 || ret->at[ret->at_count - 1] > 100)
        return WRONG(reading, part, "percentiles are numbers of 0 to 100");
    return PYRO_OK;
}

static enum pyro_status take_measure(const struct reading *reading, const struct part *part, void *item)
{
    struct pyro_query_measure *ret = item;
    static const char *const names[] = {"as", "op", "field", "weight", "at"};
    static const char *const ops[] = {"count", "sum", "min", "max", "mean", "percentiles"};
    enum { AS, OP, FIELD, WEIGHT, AT, MEMBERS };
    struct part members[MEMBERS];
    size_t op = 0;
    PYRO_TRY(take_members(reading, part, names, MEMBERS, members));
    if (!members[AS].text.ptr)
        return WRONG(reading, &members[AS], "it is missing");
    PYRO_TRY(take_text(reading, &members[AS], &ret->as));
    if (ret->as.len == 0 || ret->as.len > MOST_NAME)
        return WRONG(reading, &members[AS], "a name of 1 to %d bytes was expected", MOST_NAME);
    PYRO_TRY(take_choice(reading, &members[OP], "operation", ops, sizeof(ops) / sizeof(*ops), &op));
    ret->op = (enum pyro_query_measure_op)op;
    bool weighs = ret->op == PYRO_MEASURE_SUM || ret->op == PYRO_MEASURE_MEAN;
    if (members[WEIGHT].text.ptr && !weighs)
        return WRONG(reading, &members[WEIGHT], "only sum and mean have a weight");
    if (members[AT].text.ptr && ret->op != PYRO_MEASURE_PERCENTILES)
        return WRONG(reading, &members[AT], "only percentiles have it");
    if (members[WEIGHT].text.ptr)
        PYRO_TRY(take_number_field(reading, &members[WEIGHT], &ret->weight));
    if (ret->op == PYRO_MEASURE_COUNT)
        return members[FIELD].text.ptr ? take_field(reading, &members[FIELD], &ret->field) : PYRO_OK;
    PYRO_TRY(take_number_field(reading, &members[FIELD], &ret->field));
    return ret->op == PYRO_MEASURE_PERCENTILES ? take_percents(reading, &members[AT], ret) : PYRO_OK;
}

typedef enum pyro_status take_item(const struct reading *reading, const struct part *part, void *ret);

/* Every element of an array, by `take`, into items of the arena; none where it is missing. */
static enum pyro_status take_all(const struct reading *reading, const struct part *part, size_t least, size_t most,
                                 take_item *take, size_t item_bytes, void **ret_items, size_t *ret_count)
{
    struct part *parts = NULL;
    *ret_count = 0;
    if (!part->text.ptr)
        return PYRO_OK;
    PYRO_TRY(take_elements(reading, part, least, most, &parts, ret_count));
    char *items = pyro_arena_array(reading->arena, *ret_count + 1, item_bytes);
    if (!items || !parts)
        return no_memory(reading);
    for (size_t i = 0; i < *ret_count; i++)
        PYRO_TRY(take(reading, &parts[i], items + i * item_bytes));
    *ret_items = items;
    return PYRO_OK;
}

static enum pyro_status take_order(const struct reading *reading, const struct part *part)
{
    static const char *const names[] = {"by", "descending"};
    struct part members[2];
    PYRO_TRY(take_members(reading, part, names, 2, members));
    if (members[0].text.ptr)
        PYRO_TRY(take_text(reading, &members[0], &reading->query->order_by));
    return members[1].text.ptr ? take_bool(reading, &members[1], &reading->query->descending) : PYRO_OK;
}

enum member { SCHEMA_NAME, FROM, WHERE, GROUP, MEASURES, FIELDS, ORDER, LIMIT, AFTER, MEMBERS };

static enum pyro_status take_head(const struct reading *reading, const struct part *members)
{
    const char *names[PYRO_QUERY_FROMS];
    struct pyro_slice schema;
    size_t from = 0;
    if (members[SCHEMA_NAME].text.ptr) {
        PYRO_TRY(take_text(reading, &members[SCHEMA_NAME], &schema));
        if (!pyro_slice_is(schema, SCHEMA))
            return WRONG(reading, &members[SCHEMA_NAME], "it is not " SCHEMA);
    }
    for (size_t i = 0; i < PYRO_QUERY_FROMS; i++)
        names[i] = pyro_query_lists[i].name;
    PYRO_TRY(take_choice(reading, &members[FROM], "list", names, PYRO_QUERY_FROMS, &from));
    reading->query->from = (enum pyro_query_from)from;
    return PYRO_OK;
}

static enum pyro_status take_lists(const struct reading *reading, const struct part *members)
{
    struct pyro_query *query = reading->query;
    void *conditions = NULL, *groups = NULL, *measures = NULL, *fields = NULL;
    PYRO_TRY(take_all(reading, &members[WHERE], 0, PYRO_QUERY_MOST_CONDITIONS, take_condition,
                      sizeof(*query->conditions), &conditions, &query->condition_count));
    PYRO_TRY(take_all(reading, &members[GROUP], 0, PYRO_QUERY_GROUPS, take_group, sizeof(*query->groups), &groups,
                      &query->group_count));
    PYRO_TRY(take_all(reading, &members[MEASURES], 1, PYRO_QUERY_MOST_MEASURES, take_measure, sizeof(*query->measures),
                      &measures, &query->measure_count));
    PYRO_TRY(take_all(reading, &members[FIELDS], 1, PYRO_QUERY_MOST_FIELDS, take_field_item, sizeof(*query->fields),
                      &fields, &query->field_count));
    query->conditions = conditions;
    query->measures = measures;
    query->fields = fields;
    if (groups)
        memcpy(query->groups, groups, query->group_count * sizeof(*query->groups));
    return PYRO_OK;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static bool is_named(const struct pyro_query_field *field)
{
    return field && field->kind > PYRO_QUERY_COLUMN;
}

static enum pyro_status check_names(const struct reading *reading, const struct part *part)
{
    const struct pyro_query *query = reading->query;
    size_t names = 0;
    for (size_t i = 0; i < query->condition_count; i++)
        names += is_named(&query->conditions[i].field);
    for (size_t i = 0; i < query->group_count; i++)
        names += is_named(&query->groups[i].field);
    for (size_t i = 0; i < query->measure_count; i++)
        names += (size_t)is_named(&query->measures[i].field) + is_named(&query->measures[i].weight);
    for (size_t i = 0; i < query->field_count; i++)
        names += is_named(&query->fields[i]);
    return names > PYRO_QUERY_MOST_NAMES
               ? WRONG(reading, part, "more than %d names of agg., property. and tag.", PYRO_QUERY_MOST_NAMES)
               : PYRO_OK;
}

static enum pyro_status check_columns(const struct reading *reading, const struct part *part, const struct part *order)
{
    size_t count;
    const struct pyro_query *query = reading->query;
    const struct pyro_slice *columns = pyro_query_columns(query, reading->arena, &count);
    const char **names = pyro_arena_array(reading->arena, count + 1, sizeof(*names));
    bool ordered = !query->order_by.ptr;
    if (!columns || !names)
        return no_memory(reading);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++)
            if (pyro_slice_eq(columns[i], columns[j]))
                return WRONG(reading, part, "two columns of the answer are called '%.*s'", shown(columns[i]),
                             columns[i].ptr);
        names[i] = columns[i].ptr;
        ordered = ordered || pyro_slice_eq(columns[i], query->order_by);
    }
    return ordered ? PYRO_OK
                   : unknown_name(reading, order, "column of the answer called", query->order_by, names, count);
}

static enum pyro_status take_query(const struct reading *reading, struct pyro_slice text)
{
    static const char *const names[] = {"schema", "from",  "where", "group", "measures",
                                        "fields", "order", "limit", "after"};
    struct pyro_query *query = reading->query;
    const struct part whole = {text, ""};
    struct part members[MEMBERS];
    int64_t limit = PYRO_QUERY_MOST_ROWS;
    PYRO_TRY(take_members(reading, &whole, names, MEMBERS, members));
    PYRO_TRY(take_head(reading, members));
    PYRO_TRY(take_lists(reading, members));
    if ((query->measure_count == 0) == (query->field_count == 0))
        return WRONG(reading, &whole, "it needs either 'measures' or 'fields'");
    if (query->field_count && query->group_count)
        return WRONG(reading, &members[GROUP], "groups need 'measures', not 'fields'");
    if (members[ORDER].text.ptr)
        PYRO_TRY(take_order(reading, &members[ORDER]));
    if (members[LIMIT].text.ptr)
        PYRO_TRY(take_int(reading, &members[LIMIT], 1, PYRO_QUERY_MOST_ROWS, &limit));
    if (members[AFTER].text.ptr)
        PYRO_TRY(take_text(reading, &members[AFTER], &query->after));
    query->limit = (size_t)limit;
    PYRO_TRY(check_names(reading, &whole));
    return check_columns(reading, &whole, &members[ORDER]);
}

/* A copy that may be scanned, in one line as the reader wants it; breaks within strings stay, which it refuses. */
static char *copy_line(struct pyro_slice json, struct pyro_arena *arena)
{
    char *text = pyro_arena_alloc(arena, json.len + PYRO_SCAN_PADDING);
    bool quoted = false;
    for (size_t i = 0; text && i < json.len; i++) {
        text[i] = json.ptr[i] == '\n' && !quoted ? ' ' : json.ptr[i];
        if (text[i] == '\\' && quoted && i + 1 < json.len) {
            text[i + 1] = json.ptr[i + 1];
            i++;
        } else if (text[i] == '"') {
            quoted = !quoted;
        }
    }
    return text;
}

enum pyro_status pyro_query_parse(struct pyro_slice json, struct pyro_arena *arena, struct pyro_query *ret,
                                  struct pyro_error *error)
{
    struct pyro_query query = {.most_ms = PYRO_QUERY_SECONDS * 1000};
    const struct reading reading = {arena, pyro_scan_best(), &query, error};
    if (json.len > PYRO_QUERY_MOST_JSON)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the question is longer than %d bytes", PYRO_QUERY_MOST_JSON);
    const char *text = copy_line(json, arena);
    if (!text)
        return no_memory(&reading);
    PYRO_TRY(take_query(&reading, (struct pyro_slice){text, json.len}));
    *ret = query;
    return PYRO_OK;
}
