#include "fake_opensearch.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_kit.h"

/* Indices by name: what was said when they were made, and documents by id. */
static json_t *indices, *documents;
static json_int_t changes;

void fake_opensearch_start(void)
{
    json_decref(indices);
    json_decref(documents);
    indices = json_object();
    documents = json_object();
    changes = 0;
}

static json_t *documents_of(const char *index)
{
    json_t *found = json_object_get(documents, index);
    if (!found) {
        found = json_object();
        json_object_set_new(documents, index, found);
    }
    return found;
}

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

static const json_t *source_of(const json_t *document)
{
    return json_object_get(document, "_source");
}

static const json_t *field_of(const json_t *document, const char *field)
{
    return json_object_get(strcmp(field, "_seq_no") == 0 ? document : source_of(document), field);
}

/* The only member of an object. */
static const char *only(const json_t *object, const json_t **ret)
{
    void *member = json_object_iter((json_t *)(uintptr_t)object);
    *ret = json_object_iter_value(member);
    return member ? json_object_iter_key(member) : "";
}

static bool is_equal(const json_t *value, const json_t *wanted)
{
    if (json_is_number(value) && json_is_number(wanted))
        return json_number_value(value) == json_number_value(wanted);
    return json_equal(value, wanted);
}

static bool is_in(const json_t *value, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (is_equal(value, json_array_get(list, i)))
            return true;
    return false;
}

static bool is_within(const json_t *value, const json_t *range)
{
    const json_t *least = json_object_get(range, "gte"), *most = json_object_get(range, "lte"),
                 *below = json_object_get(range, "lt");
    double number = json_number_value(value);
    return json_is_number(value) && (!least || number >= json_number_value(least)) &&
           (!most || number <= json_number_value(most)) && (!below || number < json_number_value(below));
}

static bool matches(const json_t *document, const json_t *query);

static bool matches_bool(const json_t *document, const json_t *parts)
{
    const json_t *filter = json_object_get(parts, "filter"), *should = json_object_get(parts, "should"),
                 *not = json_object_get(parts, "must_not");
    bool any = json_array_size(should) == 0;
    for (size_t i = 0; i < json_array_size(filter); i++)
        if (!matches(document, json_array_get(filter, i)))
            return false;
    for (size_t i = 0; i < json_array_size(not ); i++)
        if (matches(document, json_array_get(not, i)))
            return false;
    for (size_t i = 0; i < json_array_size(should); i++)
        any = any || matches(document, json_array_get(should, i));
    return any;
}

static bool matches(const json_t *document, const json_t *query)
{
    const json_t *what, *wanted;
    const char *kind = only(query, &what);
    if (strcmp(kind, "bool") == 0)
        return matches_bool(document, what);
    if (strcmp(kind, "exists") == 0)
        return field_of(document, json_string_value(json_object_get(what, "field"))) != NULL;
    const json_t *value = field_of(document, only(what, &wanted));
    if (strcmp(kind, "term") == 0)
        return is_equal(value, wanted);
    if (strcmp(kind, "terms") == 0)
        return is_in(value, wanted);
    return strcmp(kind, "range") == 0 ? is_within(value, wanted) : true;
}

/* ---- Searches ---------------------------------------------------------------------------------------------------- */

enum { MOST_HITS = 2000, MOST_SORTS = 4 };

static const json_t *sorting;

static int compare_values(const json_t *a, const json_t *b)
{
    if (json_is_string(a) && json_is_string(b))
        return strcmp(json_string_value(a), json_string_value(b));
    double left = json_number_value(a), right = json_number_value(b);
    return (left > right) - (left < right);
}

static int compare_hits(const void *a, const void *b)
{
    for (size_t i = 0; i < json_array_size(sorting); i++) {
        const json_t *by = json_array_get(sorting, i), *how = NULL;
        const char *field = json_is_string(by) ? json_string_value(by) : only(by, &how);
        int order = compare_values(field_of(*(json_t *const *)a, field), field_of(*(json_t *const *)b, field));
        if (order != 0)
            return how && json_is_string(how) && strcmp(json_string_value(how), "desc") == 0 ? -order : order;
    }
    return 0;
}

static size_t find_hits(const char *index, const json_t *query, json_t **hits)
{
    const char *id;
    json_t *document;
    size_t count = 0;
    json_object_foreach(documents_of(index), id,
                        document) if (count < MOST_HITS && (!query || matches(document, query))) hits[count++] =
        document;
    return count;
}

static json_t *aggregate(json_t *const *hits, size_t count, const json_t *wanted);

/* min and max of a field; null: it has none. */
static json_t *extreme(json_t *const *hits, size_t count, const char *field, bool most)
{
    const json_t *best = NULL;
    for (size_t i = 0; i < count; i++) {
        const json_t *value = field_of(hits[i], field);
        if (json_is_number(value) && (!best || (compare_values(value, best) > 0) == most))
            best = value;
    }
    return json_pack("{s:o}", "value", best ? json_real(json_number_value(best)) : json_null());
}

static json_t *count_terms(json_t *const *hits, size_t count, const char *field)
{
    json_t *counted = json_object(), *buckets = json_array(), *number;
    const char *key;
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(field_of(hits[i], field));
        if (text)
            json_object_set_new(counted, text, json_integer(json_integer_value(json_object_get(counted, text)) + 1));
    }
    json_object_foreach(counted, key, number)
        json_array_append_new(buckets, json_pack("{s:s,s:O}", "key", key, "doc_count", number));
    json_decref(counted);
    return json_pack("{s:o}", "buckets", buckets);
}

static json_t *filter_hits(json_t *const *hits, size_t count, const json_t *query, const json_t *inner)
{
    json_t **kept = malloc((count + 1) * sizeof(json_t *));
    size_t some = 0;
    FUZZ_CHECK(kept);
    for (size_t i = 0; i < count; i++)
        if (matches(hits[i], query))
            kept[some++] = hits[i];
    json_t *found = aggregate(kept, some, inner);
    free(kept);
    return found;
}

static json_t *aggregate(json_t *const *hits, size_t count, const json_t *wanted)
{
    json_t *all = json_object(), *one;
    const char *name;
    json_object_foreach((json_t *)(uintptr_t)wanted, name, one)
    {
        const json_t *terms = json_object_get(one, "terms"), *filter = json_object_get(one, "filter"),
                     *least = json_object_get(one, "min"), *most = json_object_get(one, "max");
        const char *field = json_string_value(json_object_get(terms ? terms : least ? least : most, "field"));
        json_t *found = terms    ? count_terms(hits, count, field)
                        : filter ? filter_hits(hits, count, filter, json_object_get(one, "aggs"))
                        : field  ? extreme(hits, count, field, most != NULL)
                                 : json_pack("{s:[]}", "buckets");
        json_object_set_new(all, name, found);
    }
    return all;
}

/* What a hit is sorted by. */
static json_t *sort_values(const json_t *hit)
{
    json_t *values = json_array();
    for (size_t i = 0; i < json_array_size(sorting); i++) {
        const json_t *by = json_array_get(sorting, i), *how;
        json_t *value = (json_t *)(uintptr_t)field_of(hit, json_is_string(by) ? json_string_value(by) : only(by, &how));
        json_array_append_new(values, value ? json_incref(value) : json_null());
    }
    return values;
}

static json_t *search(const char *index, const json_t *request)
{
    static json_t *hits[MOST_HITS];
    size_t count = find_hits(index, json_object_get(request, "query"), hits);
    json_t *found = json_array(), *aggregations = aggregate(hits, count, json_object_get(request, "aggs"));
    const json_t *size = json_object_get(request, "size");
    size_t most = size ? (size_t)json_integer_value(size) : 10;
    sorting = json_object_get(request, "sort");
    qsort(hits, count, sizeof(*hits), compare_hits);
    for (size_t i = 0; i < count && i < most; i++) {
        json_t *hit = json_copy(hits[i]);
        if (sorting)
            json_object_set_new(hit, "sort", sort_values(hit));
        json_array_append_new(found, hit);
    }
    return json_pack("{s:b,s:{s:i,s:[]},s:{s:o},s:o}", "timed_out", 0, "_shards", "failed", 0, "failures", "hits",
                     "hits", found, "aggregations", aggregations);
}

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

/* Whether the change comes too late for what it was made from. */
static bool is_late(const json_t *target, const json_t *now, bool creates)
{
    const json_t *from = json_object_get(target, "if_seq_no"), *version = json_object_get(target, "version");
    if (creates)
        return now != NULL;
    if (from && (!now || json_integer_value(from) != json_integer_value(json_object_get(now, "_seq_no"))))
        return true;
    return version && now && json_integer_value(version) < json_integer_value(json_object_get(now, "_version"));
}

static unsigned change(const char *operation, const json_t *target, json_t *document)
{
    const char *index = json_string_value(json_object_get(target, "_index")),
               *id = json_string_value(json_object_get(target, "_id"));
    char made[32];
    snprintf(made, sizeof(made), "made-%lld", (long long)changes);
    id = id ? id : made;
    FUZZ_CHECK(index);
    json_t *all = documents_of(index), *now = json_object_get(all, id);
    bool updates = strcmp(operation, "update") == 0, deletes = strcmp(operation, "delete") == 0;
    if (!now && (updates || deletes))
        return 404;
    if (is_late(target, now, strcmp(operation, "create") == 0))
        return 409;
    if (deletes) {
        json_object_del(all, id);
        return 200;
    }
    json_t *source = updates ? json_copy((json_t *)(uintptr_t)source_of(now)) : json_incref(document);
    if (updates)
        json_object_update(source, json_object_get(document, "doc"));
    const json_t *given = json_object_get(target, "version");
    json_int_t version = given ? json_integer_value(given) : json_integer_value(json_object_get(now, "_version")) + 1;
    json_object_set_new(all, id,
                        json_pack("{s:s,s:s,s:b,s:I,s:I,s:i,s:o}", "_index", index, "_id", id, "found", 1, "_version",
                                  version, "_seq_no", ++changes, "_primary_term", 1, "_source", source));
    return now ? 200 : 201;
}

/* The next line as JSON. */
static json_t *take_line(struct pyro_slice *body)
{
    const char *end = body->len ? memchr(body->ptr, '\n', body->len) : NULL;
    FUZZ_CHECK(end);
    json_t *line = json_loadb(body->ptr, (size_t)(end - body->ptr), JSON_ALLOW_NUL, NULL);
    FUZZ_CHECK(json_is_object(line));
    body->len -= (size_t)(end + 1 - body->ptr);
    body->ptr = end + 1;
    return line;
}

static json_t *change_all(struct pyro_slice body)
{
    json_t *items = json_array();
    while (body.len > 0) {
        const json_t *target;
        json_t *action = take_line(&body), *document = NULL;
        const char *operation = only(action, &target);
        if (strcmp(operation, "delete") != 0)
            document = take_line(&body);
        unsigned status = change(operation, target, document);
        json_array_append_new(items, json_pack("{s:{s:i}}", operation, "status", (int)status));
        json_decref(action);
        json_decref(document);
    }
    return json_pack("{s:o}", "items", items);
}

static json_t *get_all(const json_t *request)
{
    const json_t *wanted = json_object_get(request, "docs");
    json_t *found = json_array();
    for (size_t i = 0; i < json_array_size(wanted); i++) {
        const json_t *one = json_array_get(wanted, i);
        const char *id = json_string_value(json_object_get(one, "_id"));
        json_t *document = json_object_get(documents_of(json_string_value(json_object_get(one, "_index"))), id);
        if (document)
            json_array_append(found, document);
        else
            json_array_append_new(found, json_pack("{s:s,s:b}", "_id", id, "found", 0));
    }
    return json_pack("{s:o}", "docs", found);
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

static json_t *make_index(const char *name, const json_t *request)
{
    json_object_set(indices, name, (json_t *)(uintptr_t)request);
    return json_pack("{s:b}", "acknowledged", 1);
}

unsigned fake_opensearch_answer(const char *method, const char *path, struct pyro_slice body, struct pyro_strbuf *out)
{
    char index[256] = "";
    const char *verb = strrchr(path, '/') + 1;
    json_t *request =
        body.len && strncmp(verb, "_bulk", 5) != 0 ? json_loadb(body.ptr, body.len, JSON_ALLOW_NUL, NULL) : NULL;
    json_t *answer = NULL;
    snprintf(index, sizeof(index), "%.*s", verb - path > 2 ? (int)(verb - path) - 2 : 0, path + 1);
    FUZZ_CHECK(request || !body.len || strncmp(verb, "_bulk", 5) == 0);
    if (strcmp(method, "PUT") == 0)
        answer = make_index(verb, request);
    else if (strncmp(verb, "_mapping", 8) == 0)
        answer = json_deep_copy(indices);
    else if (strncmp(verb, "_bulk", 5) == 0)
        answer = change_all(body);
    else if (strncmp(verb, "_mget", 5) == 0)
        answer = get_all(request);
    else if (strncmp(verb, "_search", 7) == 0)
        answer = search(index, request);
    else if (strncmp(verb, "health", 6) == 0)
        answer = json_pack("[{s:s}]", "epoch", "1700000000");
    else
        answer = json_object(); /* _refresh, _delete_by_query */
    char *text = json_dumps(answer, JSON_COMPACT);
    FUZZ_CHECK(text);
    pyro_strbuf_add_text(out, text);
    free(text);
    json_decref(answer);
    json_decref(request);
    return 200;
}

/* ---- For checks -------------------------------------------------------------------------------------------------- */

size_t fake_opensearch_count(const char *index, const char *field, const char *text)
{
    const char *id;
    json_t *document;
    size_t count = 0;
    json_object_foreach(documents_of(index), id, document)
    {
        const char *value = field ? json_string_value(field_of(document, field)) : NULL;
        count += !field || (value && strcmp(value, text) == 0);
    }
    return count;
}

void fake_opensearch_dump(struct pyro_strbuf *out)
{
    char *text = json_dumps(documents, JSON_SORT_KEYS | JSON_COMPACT);
    FUZZ_CHECK(text);
    pyro_strbuf_add_text(out, text);
    free(text);
}
