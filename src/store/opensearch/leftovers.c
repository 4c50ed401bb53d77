/* Rows that no run has: of a writer that was too late, or killed, and died before it could remove them. */
#include <stdlib.h>

#include "base/numbers/saturate.h"
#include "store/opensearch/opensearch.h"

enum { DAY_MS = 86400000 };

/* Which writers have rows of which runs, in pages. */
#define WRITERS                                                                                                        \
    "{'size':0,'query':{'exists':{'field':'epoch'}},'aggs':{'writers':{'composite':{'size':?i,'sources':[{'run':{"     \
    "'terms':{'field':'run'}}},{'epoch':{'terms':{'field':'epoch'}}}]?x},"                                             \
    "'aggs':{'last':{'max':{'field':'recorded_ms'}}}}}}"

static enum pyro_status delete_rows(struct pyro_opensearch *store, struct pyro_slice run, const char *field,
                                    int64_t before, struct pyro_error *error)
{
    json_t *answer = NULL;
    PYRO_TRY(pyro_opensearch_ask(
        store, PYRO_OS_WRITES, store->index[PYRO_OS_ROWS], "_delete_by_query?conflicts=proceed&refresh=true", &answer,
        error, "{'query':{'bool':{'filter':[{'term':{'run':?t}},{'range':{?s:{'lt':?i}}}]}}}", run, field, before));
    json_decref(answer);
    return PYRO_OK;
}

/* A run was written completely before its document was: rows of older epochs belong to no writer, whatever is being
 * written now. Rows without a run are of a writer that has not come that far, until they are old. */
static enum pyro_status look_at_writer(struct pyro_opensearch *store, const json_t *bucket, const json_t *run,
                                       struct pyro_error *error)
{
    const json_t *key = json_object_get(bucket, "key"), *found = json_object_get(run, "found");
    struct pyro_slice id = pyro_opensearch_text(key, "run");
    int64_t epoch = pyro_opensearch_int(key, "epoch"),
            current = pyro_opensearch_int(json_object_get(run, "_source"), "epoch"),
            last_ms = pyro_opensearch_number(json_object_get(bucket, "last"), "value"),
            old_ms = pyro_sub_saturating(pyro_opensearch_now_ms(store), DAY_MS);
    if (json_is_true(found) && epoch != PYRO_NONE && current != PYRO_NONE && epoch < current)
        return delete_rows(store, id, "epoch", current, error);
    if (json_is_false(found) && last_ms != PYRO_NONE && last_ms < old_ms)
        return delete_rows(store, id, "recorded_ms", old_ms, error);
    return PYRO_OK;
}

static enum pyro_status look_at_writers(struct pyro_opensearch *store, const json_t *buckets, struct pyro_error *error)
{
    struct pyro_strbuf docs;
    json_t *answer = NULL;
    size_t count = json_array_size(buckets);
    if (count == 0)
        return PYRO_OK;
    pyro_strbuf_init(&docs, store->allocator);
    for (size_t i = 0; i < count; i++)
        pyro_opensearch_format(&docs, "?x{'_index':?s,'_id':?t,'_source':['epoch']}", i ? "," : "",
                               store->index[PYRO_OS_AGG],
                               pyro_opensearch_text(json_object_get(json_array_get(buckets, i), "key"), "run"));
    enum pyro_status status = docs.failed ? pyro_opensearch_no_memory(error)
                                          : pyro_opensearch_ask(store, PYRO_OS_WRITES, NULL, "_mget", &answer, error,
                                                                "{'docs':[?x]}", docs.data);
    pyro_strbuf_done(&docs);
    const json_t *runs = json_object_get(answer, "docs");
    for (size_t i = 0; i < count && status == PYRO_OK; i++)
        status = look_at_writer(store, json_array_get(buckets, i), json_array_get(runs, i), error);
    json_decref(answer);
    return status;
}

/* `after`: where the page before ended, then where this one did; empty: at the end. */
static enum pyro_status look_at_page(struct pyro_opensearch *store, struct pyro_strbuf *after, struct pyro_error *error)
{
    json_t *answer = NULL;
    PYRO_TRY(pyro_opensearch_search(store, PYRO_OS_ROWS, &answer, error, WRITERS, (int64_t)PYRO_OS_PAGE,
                                    pyro_strbuf_slice(after).ptr));
    const json_t *writers = json_object_get(json_object_get(answer, "aggregations"), "writers"),
                 *next = json_object_get(writers, "after_key");
    char *key = next ? json_dumps(next, JSON_COMPACT) : NULL;
    pyro_strbuf_clear(after);
    if (key)
        pyro_opensearch_format(after, ",'after':?x", key);
    enum pyro_status status = (next && !key) || after->failed
                                  ? pyro_opensearch_no_memory(error)
                                  : look_at_writers(store, json_object_get(writers, "buckets"), error);
    free(key);
    json_decref(answer);
    return status;
}

enum pyro_status pyro_opensearch_delete_leftovers(struct pyro_opensearch *store, struct pyro_error *error)
{
    struct pyro_strbuf after;
    enum pyro_status status = PYRO_OK;
    pyro_strbuf_init(&after, store->allocator);
    do
        status = look_at_page(store, &after, error);
    while (status == PYRO_OK && after.len);
    pyro_strbuf_done(&after);
    return status;
}
