/* Questions for groups: aggregations within aggregations, one level for each group, with the measures innermost.
 *
 * A level has "v", the groups by value, and "n", the documents in which the field is not known. */
#include <math.h>
#include <string.h>

#include "store/opensearch/question.h"
#include "store/query_groups.h"
#include "text/escape.h"

struct asking {
    struct pyro_opensearch *store;
    const struct pyro_query *query;
    struct pyro_arena *arena;
    struct pyro_strbuf body;
    size_t columns;
    PYRO_VEC(struct pyro_query_value) values;
    size_t rows;
};

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

/* What is a letter or digit in Lucene's expressions stands for itself; everything else is escaped. */
static void add_pattern(struct pyro_slice key, struct pyro_strbuf *to)
{
    struct pyro_strbuf pattern;
    pyro_strbuf_init(&pattern, to->allocator);
    for (size_t i = 0; i < key.len; i++) {
        unsigned char c = (unsigned char)key.ptr[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
        if (!plain)
            pyro_strbuf_add_char(&pattern, '\\');
        pyro_strbuf_add_char(&pattern, (char)c);
    }
    pyro_strbuf_add_text(&pattern, "=.*");
    pyro_add_json(to, pyro_strbuf_slice(&pattern));
    to->failed |= pattern.failed;
    pyro_strbuf_done(&pattern);
}

static void add_ranges(const struct pyro_query_group *group, struct pyro_strbuf *to)
{
    for (size_t i = 0; i + 1 < group->edge_count; i++) {
        pyro_opensearch_format(to, "?x{'key':'?x", i ? "," : "", "");
        pyro_strbuf_add_int(to, (int64_t)i);
        pyro_opensearch_format(to, "','from':");
        pyro_add_json_real(to, group->edges[i]);
        pyro_opensearch_format(to, ",'to':");
        pyro_add_json_real(to, group->edges[i + 1]);
        pyro_strbuf_add_char(to, '}');
    }
}

/* One more than may be says that there are too many. */
static void add_values(const struct asking *asking, const struct pyro_query_group *group, struct pyro_strbuf *to)
{
    const char *kind = group->edge_count ? "range" : group->every_ms ? "histogram" : "terms";
    pyro_opensearch_format(to, "?s:{'field':", kind);
    pyro_opensearch_add_field(asking->query->from, &group->field, to);
    if (group->edge_count) {
        pyro_opensearch_format(to, ",'ranges':[");
        add_ranges(group, to);
        pyro_strbuf_add_char(to, ']');
    } else if (group->every_ms) {
        pyro_opensearch_format(to, ",'interval':?i,'min_doc_count':1", group->every_ms);
    } else {
        pyro_opensearch_format(to, ",'size':?i", (int64_t)PYRO_QUERY_MOST_GROUPS + 1);
    }
    if (pyro_opensearch_is_pair(&group->field)) {
        pyro_opensearch_format(to, ",'include':");
        add_pattern(group->field.key, to);
    }
    pyro_strbuf_add_char(to, '}');
}

static void add_known(const struct asking *asking, const struct pyro_query_field *field, struct pyro_strbuf *to)
{
    pyro_opensearch_format(to, "'filter':");
    pyro_opensearch_add_known(asking->query->from, field, to);
}

static void add_field(const struct asking *asking, const char *name, const struct pyro_query_field *field,
                      struct pyro_strbuf *to)
{
    pyro_opensearch_format(to, "?s:{'field':", name);
    pyro_opensearch_add_field(asking->query->from, field, to);
}

/* Sums of products: the weighted mean times the sum of the weights, both of documents that have both. */
static void add_weighted(const struct asking *asking, const struct pyro_query_measure *measure, struct pyro_strbuf *to)
{
    pyro_opensearch_format(to, "'filter':{'bool':{'filter':[");
    pyro_opensearch_add_known(asking->query->from, &measure->field, to);
    pyro_strbuf_add_char(to, ',');
    pyro_opensearch_add_known(asking->query->from, &measure->weight, to);
    pyro_opensearch_format(to, "]}},'aggs':{'m':{'weighted_avg':{");
    add_field(asking, "value", &measure->field, to);
    pyro_strbuf_add_text(to, "},");
    add_field(asking, "weight", &measure->weight, to);
    pyro_opensearch_format(to, "}}},'w':{'sum':{'field':");
    pyro_opensearch_add_field(asking->query->from, &measure->weight, to);
    pyro_strbuf_add_text(to, "}}}");
}

static void add_measure(const struct asking *asking, const struct pyro_query_measure *measure, struct pyro_strbuf *to)
{
    if (measure->op == PYRO_MEASURE_COUNT) {
        add_known(asking, &measure->field, to);
    } else if (measure->weight.kind != PYRO_QUERY_NO_FIELD) {
        add_weighted(asking, measure, to);
    } else if (measure->op == PYRO_MEASURE_PERCENTILES) {
        add_field(asking, "percentiles", &measure->field, to);
        pyro_opensearch_format(to, ",'keyed':false,'tdigest':{'compression':1000},'percents':[");
        for (size_t i = 0; i < measure->at_count; i++) {
            pyro_strbuf_add_text(to, i ? "," : "");
            pyro_add_json_real(to, measure->at[i]);
        }
        pyro_strbuf_add_text(to, "]}");
    } else {
        add_field(asking, "stats", &measure->field, to);
        pyro_strbuf_add_char(to, '}');
    }
}

static void add_measures(const struct asking *asking, struct pyro_strbuf *to)
{
    bool first = true;
    for (size_t i = 0; i < asking->query->measure_count; i++) {
        const struct pyro_query_measure *measure = &asking->query->measures[i];
        if (measure->op == PYRO_MEASURE_COUNT && measure->field.kind == PYRO_QUERY_NO_FIELD)
            continue; /* every group says how many documents it has */
        pyro_opensearch_format(to, "?x'm", first ? "" : ",");
        pyro_strbuf_add_int(to, (int64_t)i);
        pyro_opensearch_format(to, "':{");
        add_measure(asking, measure, to);
        pyro_strbuf_add_char(to, '}');
        first = false;
    }
}

static void add_level(const struct asking *asking, size_t level, struct pyro_strbuf *to);

static void add_within(const struct asking *asking, size_t level, struct pyro_strbuf *to)
{
    pyro_opensearch_format(to, ",'aggs':{");
    add_level(asking, level + 1, to);
    pyro_strbuf_add_text(to, "}}");
}

static void add_level(const struct asking *asking, size_t level, struct pyro_strbuf *to)
{
    if (level == asking->query->group_count) {
        add_measures(asking, to);
        return;
    }
    const struct pyro_query_group *group = &asking->query->groups[level];
    pyro_opensearch_format(to, "'v':{");
    add_values(asking, group, to);
    add_within(asking, level, to);
    if (group->edge_count)
        return;
    pyro_opensearch_format(to, ",'n':{'filter':{'bool':{'must_not':[");
    pyro_opensearch_add_known(asking->query->from, &group->field, to);
    pyro_strbuf_add_text(to, "]}}");
    add_within(asking, level, to);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static const struct pyro_query_value unknown = {.kind = PYRO_VALUE_NULL};

static struct pyro_query_value real_value(double value)
{
    return (struct pyro_query_value){.kind = isfinite(value) ? PYRO_VALUE_REAL : PYRO_VALUE_NULL, .real = value + 0.0};
}

/* OpenSearch computes with doubles: whole where the field is, and a whole number can hold it. */
static struct pyro_query_value number_value(const struct pyro_query_field *field, double value)
{
    bool fits = value >= -0x1p63 && value < 0x1p63 && value == floor(value);
    if (pyro_query_field_type(field) == PYRO_FIELD_REAL || !fits)
        return real_value(value);
    return (struct pyro_query_value){.kind = PYRO_VALUE_INT, .integer = (int64_t)value};
}

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static struct pyro_query_value weighted(const struct pyro_query_measure *measure, const json_t *answer)
{
    double mean = number_of(json_object_get(answer, "m"), "value"),
           weights = number_of(json_object_get(answer, "w"), "value");
    if (pyro_opensearch_int(answer, "doc_count") <= 0)
        return unknown;
    if (measure->op == PYRO_MEASURE_MEAN)
        return real_value(mean);
    double sum = weights == 0 ? 0 : mean * weights;
    return pyro_query_field_type(&measure->weight) == PYRO_FIELD_REAL ? real_value(sum)
                                                                      : number_value(&measure->field, round(sum));
}

static void read_measure(const struct pyro_query_measure *measure, const json_t *answer, struct pyro_query_value *to)
{
    static const char *const names[] = {[PYRO_MEASURE_SUM] = "sum",
                                        [PYRO_MEASURE_MIN] = "min",
                                        [PYRO_MEASURE_MAX] = "max",
                                        [PYRO_MEASURE_MEAN] = "avg"};
    if (measure->op == PYRO_MEASURE_PERCENTILES) {
        const json_t *values = json_object_get(answer, "values");
        for (size_t i = 0; i < measure->at_count; i++)
            to[i] = real_value(number_of(json_array_get(values, i), "value"));
    } else if (measure->op == PYRO_MEASURE_COUNT) {
        *to = (struct pyro_query_value){.kind = PYRO_VALUE_INT, .integer = pyro_opensearch_int(answer, "doc_count")};
    } else if (measure->weight.kind != PYRO_QUERY_NO_FIELD) {
        *to = weighted(measure, answer);
    } else if (pyro_opensearch_int(answer, "count") <= 0) {
        *to = unknown;
    } else {
        double value = number_of(answer, names[measure->op]);
        *to = measure->op == PYRO_MEASURE_MEAN ? real_value(value) : number_value(&measure->field, value);
    }
}

static enum pyro_status read_row(struct asking *asking, const json_t *answer, int64_t documents,
                                 const struct pyro_query_value *groups, struct pyro_error *error)
{
    const struct pyro_query *query = asking->query;
    if (asking->rows == PYRO_QUERY_MOST_GROUPS)
        return pyro_query_too_many_groups(error);
    if (!pyro_vec_reserve(&asking->values, asking->columns, asking->store->allocator))
        return pyro_opensearch_no_memory(error);
    struct pyro_query_value *row = asking->values.items + asking->values.count;
    size_t column = query->group_count;
    for (size_t i = 0; i < column; i++)
        row[i] = groups[i];
    for (size_t i = 0; i < query->measure_count; i++) {
        const struct pyro_query_measure *measure = &query->measures[i];
        char name[24];
        snprintf(name, sizeof(name), "m%zu", i);
        if (measure->op == PYRO_MEASURE_COUNT && measure->field.kind == PYRO_QUERY_NO_FIELD)
            row[column] = (struct pyro_query_value){.kind = PYRO_VALUE_INT, .integer = documents};
        else
            read_measure(measure, json_object_get(answer, name), row + column);
        column += measure->op == PYRO_MEASURE_PERCENTILES ? measure->at_count : 1;
    }
    asking->values.count += asking->columns;
    asking->rows++;
    return PYRO_OK;
}

/* The name of a group. */
static struct pyro_query_value group_value(const struct pyro_query_group *group, const json_t *bucket)
{
    struct pyro_slice text = pyro_opensearch_text(bucket, "key");
    const json_t *key = json_object_get(bucket, "key");
    if (group->edge_count) {
        size_t edge = 0;
        for (size_t i = 0; i < text.len && i < 6; i++)
            edge = 10 * edge + (size_t)(text.ptr[i] - '0');
        return real_value(group->edges[edge < group->edge_count ? edge : 0]);
    }
    if (text.ptr && pyro_opensearch_is_pair(&group->field))
        text = pyro_opensearch_after_key(text, group->field.key);
    if (text.ptr)
        return (struct pyro_query_value){.kind = PYRO_VALUE_TEXT, .text = text};
    if (json_is_integer(key) && pyro_query_field_type(&group->field) != PYRO_FIELD_REAL)
        return (struct pyro_query_value){.kind = PYRO_VALUE_INT, .integer = json_integer_value(key)};
    return json_is_number(key) ? number_value(&group->field, json_number_value(key)) : unknown;
}

static enum pyro_status read_level(struct asking *asking, size_t level, const json_t *answer, int64_t documents,
                                   struct pyro_query_value *groups, struct pyro_error *error)
{
    if (level == asking->query->group_count)
        return read_row(asking, answer, documents, groups, error);
    const json_t *buckets = json_object_get(json_object_get(answer, "v"), "buckets"),
                 *rest = json_object_get(answer, "n");
    for (size_t i = 0; i < json_array_size(buckets); i++) {
        const json_t *bucket = json_array_get(buckets, i);
        int64_t count = pyro_opensearch_int(bucket, "doc_count");
        groups[level] = group_value(&asking->query->groups[level], bucket);
        if (count > 0)
            PYRO_TRY(read_level(asking, level + 1, bucket, count, groups, error));
    }
    int64_t count = pyro_opensearch_int(rest, "doc_count");
    groups[level] = unknown;
    return count > 0 ? read_level(asking, level + 1, rest, count, groups, error) : PYRO_OK;
}

/* ---- Few documents ----------------------------------------------------------------------------------------------- */

/* Percentiles that OpenSearch estimates lie between two values, which matters where there are few: of at most FEW
 * documents, the values themselves are fetched. */
enum { FEW = 1000, MOST_FETCHED = PYRO_QUERY_GROUPS + 2 * PYRO_QUERY_MOST_MEASURES };

static bool has_percentiles(const struct pyro_query *query)
{
    for (size_t i = 0; i < query->measure_count; i++)
        if (query->measures[i].op == PYRO_MEASURE_PERCENTILES)
            return true;
    return false;
}

/* Which column of the rows has a field: fields that are asked for twice come once. */
struct fetched {
    struct pyro_query_field fields[MOST_FETCHED];
    size_t count;
};

static size_t fetch(struct fetched *fetched, const struct pyro_query_field *field)
{
    size_t i = 0;
    while (i < fetched->count && !pyro_slice_eq(fetched->fields[i].name, field->name))
        i++;
    if (i == fetched->count)
        fetched->fields[fetched->count++] = *field;
    return i;
}

static struct pyro_query_value fetched_value(struct fetched *fetched, const struct pyro_query_field *field,
                                             const struct pyro_query_value *row)
{
    return field->kind == PYRO_QUERY_NO_FIELD ? unknown : row[fetch(fetched, field)];
}

static enum pyro_status add_rows(struct fetched *fetched, const struct pyro_query_answer *rows,
                                 struct pyro_query_groups *groups, struct pyro_error *error)
{
    const struct pyro_query *query = groups->query;
    struct pyro_query_value names[PYRO_QUERY_GROUPS], values[PYRO_QUERY_MOST_MEASURES],
        weights[PYRO_QUERY_MOST_MEASURES];
    for (size_t i = 0; i < rows->row_count; i++) {
        const struct pyro_query_value *row = rows->values + i * rows->column_count;
        for (size_t j = 0; j < query->group_count; j++)
            names[j] = row[fetch(fetched, &query->groups[j].field)];
        for (size_t j = 0; j < query->measure_count; j++) {
            values[j] = fetched_value(fetched, &query->measures[j].field, row);
            weights[j] = fetched_value(fetched, &query->measures[j].weight, row);
        }
        PYRO_TRY(pyro_query_groups_add(groups, names, values, weights, error));
    }
    return PYRO_OK;
}

/* *ret_few: there were so few, and *ret is the answer. */
static enum pyro_status ask_few(struct pyro_opensearch *store, const struct pyro_query *query,
                                const struct pyro_query_viewer *viewer, struct pyro_arena *arena, bool *ret_few,
                                struct pyro_query_answer *ret, struct pyro_error *error)
{
    struct fetched fetched = {.count = 0};
    struct pyro_query_answer rows = {0};
    struct pyro_query_groups groups;
    for (size_t i = 0; i < query->group_count; i++)
        fetch(&fetched, &query->groups[i].field);
    for (size_t i = 0; i < query->measure_count; i++) {
        const struct pyro_query_measure *measure = &query->measures[i];
        if (measure->field.kind != PYRO_QUERY_NO_FIELD)
            fetch(&fetched, &measure->field);
        if (measure->weight.kind != PYRO_QUERY_NO_FIELD)
            fetch(&fetched, &measure->weight);
    }
    const struct pyro_query asked = {.from = query->from,
                                     .conditions = query->conditions,
                                     .condition_count = query->condition_count,
                                     .fields = fetched.fields,
                                     .field_count = fetched.count,
                                     .limit = FEW,
                                     .most_ms = query->most_ms};
    PYRO_TRY(pyro_opensearch_ask_rows(store, &asked, viewer, arena, &rows, error));
    *ret_few = !rows.after.ptr;
    if (!*ret_few)
        return PYRO_OK;
    pyro_query_groups_init(&groups, query, store->allocator);
    enum pyro_status status = add_rows(&fetched, &rows, &groups, error);
    if (status == PYRO_OK)
        status = pyro_query_groups_answer(&groups, arena, ret, error);
    pyro_query_groups_done(&groups);
    return status;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static enum pyro_status ask(struct asking *asking, json_t **ret, struct pyro_error *error)
{
    if (asking->body.failed)
        return pyro_opensearch_no_memory(error);
    enum pyro_status status = pyro_opensearch_search(asking->store, pyro_opensearch_index_of(asking->query->from), ret,
                                                     error, "{?x}}", asking->body.data);
    /* search.max_buckets of the server, which is larger than what an answer may have. */
    if (status == PYRO_ERROR_INPUT && pyro_error_is_usable(error) && strstr(error->message, "too_many_buckets"))
        return pyro_query_too_many_groups(error);
    return status;
}

enum pyro_status pyro_opensearch_ask_groups(struct pyro_opensearch *store, const struct pyro_query *query,
                                            const struct pyro_query_viewer *viewer, struct pyro_arena *arena,
                                            struct pyro_query_answer *ret, struct pyro_error *error)
{
    struct asking asking = {.store = store, .query = query, .arena = arena, .columns = pyro_query_column_count(query)};
    struct pyro_query_value groups[PYRO_QUERY_GROUPS];
    json_t *answer = NULL;
    bool few = false;
    if (has_percentiles(query))
        PYRO_TRY(ask_few(store, query, viewer, arena, &few, ret, error));
    if (few)
        return PYRO_OK;
    pyro_strbuf_init(&asking.body, store->allocator);
    pyro_opensearch_add_query(query, viewer, &asking.body);
    pyro_opensearch_format(&asking.body, ",'size':0,'track_total_hits':true,'aggs':{");
    add_level(&asking, 0, &asking.body);
    enum pyro_status status = ask(&asking, &answer, error);
    int64_t documents = pyro_opensearch_int(json_object_get(json_object_get(answer, "hits"), "total"), "value");
    if (status == PYRO_OK)
        status = read_level(&asking, 0, json_object_get(answer, "aggregations"), documents, groups, error);
    if (status == PYRO_OK)
        status = pyro_query_arrange(query, asking.values.items, asking.rows, arena, ret, error);
    json_decref(answer);
    pyro_vec_done(&asking.values, store->allocator);
    pyro_strbuf_done(&asking.body);
    return status;
}
