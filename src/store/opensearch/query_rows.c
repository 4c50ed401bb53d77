/* Questions for rows: a search in pages, each behind the values that the last row is ordered by. */
#include <stdlib.h>
#include <string.h>

#include "store/opensearch/question.h"
#include "text/escape.h"

/* What orders rows, behind what the question names. */
struct term {
    const char *field, *type; /* type: for indices that have no such field yet */
};

enum { MOST_TERMS = 5 };
#define RUN_ORDER                                                                                                      \
    {"run_start_ms", "date"}, {"app_id", "keyword"},                                                                   \
    {                                                                                                                  \
        "attempt", "keyword"                                                                                           \
    }

static const struct term terms[PYRO_QUERY_FROMS][MOST_TERMS] = {
    [PYRO_FROM_RUNS] = {RUN_ORDER},
    [PYRO_FROM_FINDINGS] = {RUN_ORDER, {"position", "long"}},
    [PYRO_FROM_USAGE] = {RUN_ORDER, {"start_ms", "date"}},
    [PYRO_FROM_ALLOCATIONS] = {RUN_ORDER},
    [PYRO_FROM_ERRORS] = {{"time_ms", "date"}, {"app_id", "keyword"}, {"_seq_no", NULL}},
    [PYRO_FROM_ADVICE] = {RUN_ORDER, {"position", "long"}},
    [PYRO_FROM_SUGGESTIONS] = {{"time_ms", "date"}, {"id", "keyword"}},
    [PYRO_FROM_CLUSTER] = {{"time_ms", "date"}, {"source", "keyword"}, {"name", "keyword"}},
    [PYRO_FROM_DAYS] = {{"time_ms", "date"}, {"application", "keyword"}},
};

struct asking {
    struct pyro_opensearch *store;
    const struct pyro_query *query;
    struct pyro_arena *arena;
    struct pyro_strbuf body;
    PYRO_VEC(struct pyro_query_value) values;
    size_t rows, before; /* before: bytes of the arena */
    bool full, columns;
    struct pyro_query_value last[MOST_TERMS]; /* what the last row of the answer is ordered by */
    size_t terms;
};

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static const struct pyro_query_field *own_order(const struct pyro_query *query)
{
    for (size_t i = 0; query->order_by.ptr && i < query->field_count; i++)
        if (pyro_slice_eq(query->fields[i].name, query->order_by))
            return &query->fields[i];
    return NULL;
}

/* A value within an array has no order of its own: a script gives "1VALUE", or "0" where it is not known. */
#define SCRIPT                                                                                                         \
    "for (def v : doc[params.field]) { if (v.startsWith(params.key)) return '1' + v.substring(params.key.length()); }" \
    " return '0';"

static void add_pair_order(const struct pyro_query_field *field, bool descending, struct pyro_strbuf *to)
{
    struct pyro_strbuf key;
    pyro_strbuf_init(&key, to->allocator);
    pyro_strbuf_add_slice(&key, field->key);
    pyro_strbuf_add_char(&key, '=');
    pyro_opensearch_format(to,
                           "{'_script':{'type':'string','order':?s,'script':{'lang':'painless','source':?s,'params':{",
                           descending ? "desc" : "asc", SCRIPT);
    pyro_opensearch_format(to, "'field':?s,'key':?t}}}}", field->kind == PYRO_QUERY_TAG ? "tags" : "properties",
                           pyro_strbuf_slice(&key));
    to->failed |= key.failed;
    pyro_strbuf_done(&key);
}

static void add_field_order(struct pyro_slice quoted, bool descending, const char *type, struct pyro_strbuf *to)
{
    pyro_strbuf_add_char(to, '{');
    pyro_strbuf_add_slice(to, quoted);
    pyro_opensearch_format(to, ":{'order':?s", descending ? "desc" : "asc");
    if (type)
        pyro_opensearch_format(to, ",'missing':?s,'unmapped_type':?s", descending ? "_last" : "_first", type);
    pyro_strbuf_add_text(to, "}}");
}

static const char *type_of(const struct pyro_query_field *field)
{
    switch (pyro_query_field_type(field)) {
    case PYRO_FIELD_INT:
        return "long";
    case PYRO_FIELD_REAL:
        return "double";
    case PYRO_FIELD_TIME:
        return "date";
    case PYRO_FIELD_FLAG:
        return "byte";
    default:
        return "keyword";
    }
}

static void add_order(struct asking *asking)
{
    const struct pyro_query *query = asking->query;
    const struct pyro_query_field *own = own_order(query);
    struct pyro_strbuf *to = &asking->body, name;
    pyro_strbuf_init(&name, to->allocator);
    pyro_opensearch_format(to, ",'sort':[");
    if (own && pyro_opensearch_is_pair(own)) {
        add_pair_order(own, query->descending, to);
    } else if (own) {
        pyro_opensearch_add_field(query->from, own, &name);
        add_field_order(pyro_strbuf_slice(&name), query->descending, type_of(own), to);
    }
    asking->terms = own != NULL;
    for (size_t i = 0; i < MOST_TERMS - 1 && terms[query->from][i].field; i++) {
        const struct term *term = &terms[query->from][i];
        pyro_strbuf_clear(&name);
        pyro_opensearch_format(&name, "?s", term->field);
        if (asking->terms)
            pyro_strbuf_add_char(to, ',');
        add_field_order(pyro_strbuf_slice(&name), query->descending, term->type, to);
        asking->terms++;
    }
    pyro_strbuf_add_char(to, ']');
    to->failed |= name.failed;
    pyro_strbuf_done(&name);
}

/* ---- Where values come from -------------------------------------------------------------------------------------- */

/* Numbers and names are in columns, which are read many times faster than documents; long texts do not. */
static bool has_column(const struct pyro_query_field *field)
{
    static const char *const names[] = {"app_id", "attempt",     "name",     "user",     "spark_version",
                                        "status", "application", "type",     "version",  "tag",
                                        "queue",  "rule",        "category", "severity", "outcome"};
    if (pyro_opensearch_is_pair(field))
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (pyro_slice_is(field->name, names[i]))
            return true;
    return pyro_query_field_type(field) != PYRO_FIELD_TEXT;
}

static bool are_columns(const struct pyro_query *query)
{
    for (size_t i = 0; i < query->field_count; i++)
        if (!has_column(&query->fields[i]))
            return false;
    return true;
}

static void add_source(struct asking *asking)
{
    const struct pyro_query *query = asking->query;
    struct pyro_strbuf *to = &asking->body;
    asking->columns = are_columns(query);
    pyro_opensearch_format(to, asking->columns ? ",'_source':false,'docvalue_fields':[" : ",'_source':[");
    for (size_t i = 0; i < query->field_count; i++) {
        pyro_strbuf_add_text(to, i ? "," : "");
        pyro_opensearch_add_field(query->from, &query->fields[i], to);
    }
    pyro_strbuf_add_char(to, ']');
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static struct pyro_query_value value_of(const json_t *value)
{
    if (json_is_string(value))
        return (struct pyro_query_value){.kind = PYRO_VALUE_TEXT,
                                         .text = {json_string_value(value), json_string_length(value)}};
    if (json_is_integer(value))
        return (struct pyro_query_value){.kind = PYRO_VALUE_INT, .integer = json_integer_value(value)};
    if (json_is_real(value))
        return (struct pyro_query_value){.kind = PYRO_VALUE_REAL, .real = json_real_value(value)};
    return (struct pyro_query_value){.kind = PYRO_VALUE_NULL};
}

struct pyro_slice pyro_opensearch_after_key(struct pyro_slice pair, struct pyro_slice key)
{
    if (pair.len <= key.len || memcmp(pair.ptr, key.ptr, key.len) != 0 || pair.ptr[key.len] != '=')
        return PYRO_SLICE_NULL;
    return (struct pyro_slice){pair.ptr + key.len + 1, pair.len - key.len - 1};
}

static struct pyro_query_value pair_value(const struct pyro_query_field *field, const json_t *pairs)
{
    for (size_t i = 0; i < json_array_size(pairs); i++) {
        struct pyro_query_value value = value_of(json_array_get(pairs, i));
        value.text = pyro_opensearch_after_key(value.text, field->key);
        if (value.text.ptr)
            return value;
    }
    return (struct pyro_query_value){.kind = PYRO_VALUE_NULL};
}

/* The value of a document that has it in the source or, as the only one of an array, in a column. */
static const json_t *find_value(const struct asking *asking, const struct pyro_query_field *field, const json_t *hit)
{
    struct pyro_slice name = field->name;
    if (asking->query->from == PYRO_FROM_CLUSTER && pyro_slice_is(name, "value"))
        name = PYRO_SLICE_LITERAL("number");
    if (asking->columns)
        return json_array_get(json_object_getn(json_object_get(hit, "fields"), name.ptr, name.len), 0);
    const json_t *source = json_object_get(hit, "_source");
    return field->kind == PYRO_QUERY_AGGREGATE
               ? json_object_getn(json_object_get(source, "agg"), field->key.ptr, field->key.len)
               : json_object_getn(source, name.ptr, name.len);
}

/* Columns of times are written as texts. */
static int64_t whole_number(struct pyro_slice text)
{
    int64_t value = 0;
    bool negative = text.len && *text.ptr == '-';
    for (size_t i = negative; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_sub_overflow(value, text.ptr[i] - '0', &value))
            return negative ? INT64_MIN : INT64_MAX;
    return negative ? value : -value;
}

static struct pyro_query_value field_value(const struct asking *asking, const struct pyro_query_field *field,
                                           const json_t *hit)
{
    enum pyro_field_type type = pyro_query_field_type(field);
    if (pyro_opensearch_is_pair(field))
        return pair_value(field, json_object_get(json_object_get(hit, "_source"),
                                                 field->kind == PYRO_QUERY_TAG ? "tags" : "properties"));
    struct pyro_query_value value = value_of(find_value(asking, field, hit));
    if (type == PYRO_FIELD_REAL && value.kind == PYRO_VALUE_INT)
        return (struct pyro_query_value){.kind = PYRO_VALUE_REAL, .real = (double)value.integer};
    if (type != PYRO_FIELD_TEXT && value.kind == PYRO_VALUE_TEXT)
        return (struct pyro_query_value){.kind = PYRO_VALUE_INT, .integer = whole_number(value.text)};
    return value;
}

static bool keep(struct asking *asking, struct pyro_query_value *value)
{
    if (value->kind == PYRO_VALUE_TEXT)
        value->text = pyro_arena_copy(asking->arena, value->text);
    return value->kind != PYRO_VALUE_TEXT || value->text.ptr;
}

static bool take_row(struct asking *asking, const json_t *hit)
{
    const struct pyro_query *query = asking->query;
    const json_t *sort = json_object_get(hit, "sort");
    if (!pyro_vec_reserve(&asking->values, query->field_count, asking->store->allocator))
        return false;
    for (size_t i = 0; i < query->field_count; i++) {
        struct pyro_query_value *value = &asking->values.items[asking->values.count + i];
        *value = field_value(asking, &query->fields[i], hit);
        if (!keep(asking, value))
            return false;
    }
    asking->values.count += query->field_count;
    asking->rows++;
    asking->full = asking->rows == query->limit || asking->arena->reserved - asking->before > PYRO_QUERY_MOST_BYTES;
    for (size_t i = 0; asking->full && i < asking->terms; i++) {
        asking->last[i] = value_of(json_array_get(sort, i));
        if (!keep(asking, &asking->last[i]))
            return false;
    }
    return true;
}

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

/* Texts of any length are better had in small pages. */
static int64_t page_size(const struct pyro_query *query)
{
    static const char *const texts[] = {"raw", "document", "parts", "message", "note"};
    for (size_t i = 0; i < query->field_count; i++)
        for (size_t j = 0; j < sizeof(texts) / sizeof(*texts); j++)
            if (pyro_slice_is(query->fields[i].name, texts[j]))
                return 50;
    return 5000;
}

static void add_values(const struct pyro_query_value *values, size_t count, struct pyro_strbuf *to)
{
    for (size_t i = 0; i < count; i++) {
        pyro_strbuf_add_text(to, i ? "," : "");
        if (values[i].kind == PYRO_VALUE_TEXT)
            pyro_add_json(to, values[i].text);
        else if (values[i].kind == PYRO_VALUE_INT)
            pyro_strbuf_add_int(to, values[i].integer);
        else if (values[i].kind == PYRO_VALUE_REAL)
            pyro_add_json_real(to, values[i].real);
        else
            pyro_strbuf_add_text(to, "null");
    }
}

static enum pyro_status read_pages(struct asking *asking, struct pyro_strbuf *after, bool *ret_more,
                                   struct pyro_error *error)
{
    const struct pyro_query *query = asking->query;
    int64_t size = page_size(query);
    size_t count;
    *ret_more = false;
    do {
        json_t *answer = NULL;
        size_t rest = query->limit - asking->rows + 1; /* one more says whether there is more */
        int64_t wanted = (int64_t)rest < size ? (int64_t)rest : size;
        PYRO_TRY(pyro_opensearch_search(asking->store, pyro_opensearch_index_of(query->from), &answer, error,
                                        "{?x,'size':?i?x?x?x}", asking->body.data, wanted,
                                        after->len ? ",\"search_after\":[" : "", after->len ? after->data : "",
                                        after->len ? "]" : ""));
        const json_t *hits = pyro_opensearch_hits(answer);
        count = json_array_size(hits);
        bool ok = true;
        for (size_t i = 0; i < count && ok && !*ret_more; i++) {
            *ret_more = asking->full;
            if (!asking->full)
                ok = take_row(asking, json_array_get(hits, i));
        }
        char *last =
            ok && count ? json_dumps(json_object_get(json_array_get(hits, count - 1), "sort"), JSON_COMPACT) : NULL;
        pyro_strbuf_clear(after);
        if (last)
            pyro_strbuf_add(after, last + 1, strlen(last) - 2);
        ok = ok && (last || !count) && !after->failed;
        free(last);
        json_decref(answer);
        if (!ok)
            return pyro_opensearch_no_memory(error);
        count = count == (size_t)wanted ? count : 0;
    } while (count && !*ret_more);
    return PYRO_OK;
}

static enum pyro_status give_rows(struct asking *asking, bool more, struct pyro_query_answer *ret,
                                  struct pyro_error *error)
{
    struct pyro_query_answer answer = {.row_count = asking->rows};
    answer.columns = pyro_query_columns(asking->query, asking->arena, &answer.column_count);
    answer.values = pyro_arena_array(asking->arena, asking->values.count + 1, sizeof(*answer.values));
    if (more)
        answer.after = pyro_query_cursor_make(asking->query, asking->last, asking->terms, asking->arena);
    if (!answer.columns || !answer.values || (more && !answer.after.ptr))
        return pyro_opensearch_no_memory(error);
    if (asking->values.count)
        memcpy(answer.values, asking->values.items, asking->values.count * sizeof(*answer.values));
    *ret = answer;
    return PYRO_OK;
}

static enum pyro_status ask(struct asking *asking, struct pyro_strbuf *after, struct pyro_query_answer *ret,
                            struct pyro_error *error)
{
    struct pyro_query_value last[MOST_TERMS];
    bool more;
    if (asking->query->after.ptr) {
        PYRO_TRY(pyro_query_cursor_read(asking->query, asking->arena, last, asking->terms, error));
        add_values(last, asking->terms, after);
    }
    if (asking->body.failed || after->failed)
        return pyro_opensearch_no_memory(error);
    PYRO_TRY(read_pages(asking, after, &more, error));
    return give_rows(asking, more, ret, error);
}

enum pyro_status pyro_opensearch_ask_rows(struct pyro_opensearch *store, const struct pyro_query *query,
                                          const struct pyro_query_viewer *viewer, struct pyro_arena *arena,
                                          struct pyro_query_answer *ret, struct pyro_error *error)
{
    struct asking asking = {.store = store, .query = query, .arena = arena, .before = arena->reserved};
    struct pyro_strbuf after;
    pyro_strbuf_init(&asking.body, store->allocator);
    pyro_strbuf_init(&after, store->allocator);
    pyro_opensearch_add_query(query, viewer, &asking.body);
    pyro_opensearch_format(&asking.body, ",'track_total_hits':false");
    add_source(&asking);
    add_order(&asking);
    enum pyro_status status = ask(&asking, &after, ret, error);
    pyro_vec_done(&asking.values, store->allocator);
    pyro_strbuf_done(&asking.body);
    pyro_strbuf_done(&after);
    return status;
}
