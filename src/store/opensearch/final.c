/* Earlier attempts: when a later one is recorded, they are no longer final. */
#include <string.h>

#include "store/opensearch/work.h"

/* Documents of an earlier attempt, written again with the version that they have: a writer of a later epoch, which
 * knows better, is not undone. */
struct again {
    struct pyro_opensearch *store;
    struct pyro_opensearch_bulk bulk;
    enum pyro_opensearch_index index;
    struct pyro_error *error;
    enum pyro_status status;
};

static enum pyro_status write_document(struct again *again, const struct pyro_opensearch_target *target,
                                       const char *text)
{
    PYRO_TRY(pyro_opensearch_bulk_begin(&again->bulk, target, 0, 0, again->error));
    pyro_strbuf_add(&again->bulk.body, text + 1, strlen(text) - 2); /* without its braces */
    return pyro_opensearch_bulk_end(&again->bulk, again->error);
}

static int write_again(void *context, const json_t *hit)
{
    struct again *again = context;
    json_t *source = json_object_get(hit, "_source"), *raw = json_object_get(source, "raw");
    const struct pyro_opensearch_target target = {.index = again->index,
                                                  .id = pyro_opensearch_text(hit, "_id"),
                                                  .version = pyro_opensearch_int(hit, "_version"),
                                                  .seq_no = PYRO_NONE,
                                                  .primary_term = PYRO_NONE};
    bool cleared = json_object_set_new(source, "is_final_attempt", json_integer(0)) == 0 &&
                   (!raw || json_object_set_new(raw, "is_final_attempt", json_false()) == 0);
    char *text = cleared ? json_dumps(source, JSON_COMPACT) : NULL;
    if (text)
        again->status = write_document(again, &target, text);
    else
        again->status = pyro_opensearch_no_memory(again->error);
    free(text);
    return again->status != PYRO_OK;
}

static enum pyro_status clear_final(struct pyro_opensearch *store, struct pyro_slice run, struct pyro_error *error)
{
    static const enum pyro_opensearch_index indices[] = {PYRO_OS_RAW, PYRO_OS_ROWS, PYRO_OS_AGG};
    struct again again = {.store = store, .error = error};
    enum pyro_status status = PYRO_OK;
    char written[512];
    pyro_opensearch_bulk_init(&again.bulk, store);
    snprintf(written, sizeof(written), "%s,%s", store->index[PYRO_OS_RAW], store->index[PYRO_OS_ROWS]);
    status = pyro_opensearch_refresh(store, written, error);
    for (size_t i = 0; i < sizeof(indices) / sizeof(*indices) && status == PYRO_OK; i++) {
        again.index = indices[i];
        status = pyro_opensearch_each(store, again.index, write_again, &again, error,
                                      "{'query':{'bool':{'filter':[{'term':{'run':?t}},{'term':{'is_final_attempt':1}}]"
                                      "}},'version':true,'sort':['_seq_no']}",
                                      run);
        status = status == PYRO_OK ? again.status : status;
        if (status == PYRO_OK)
            status = pyro_opensearch_bulk_send(&again.bulk, error);
    }
    pyro_opensearch_bulk_done(&again.bulk);
    return status;
}

enum pyro_status pyro_opensearch_mark_final(struct pyro_opensearch *store, struct pyro_slice app_id,
                                            struct pyro_error *error)
{
    json_t *answer = NULL;
    PYRO_TRY(pyro_opensearch_search(store, PYRO_OS_AGG, &answer, error,
                                    "{'query':{'term':{'app_id':?t}},'sort':[{'start_ms':'desc'}],'size':?i,"
                                    "'_source':['run','start_ms','is_final_attempt']}",
                                    app_id, (int64_t)PYRO_OS_PAGE));
    const json_t *hits = pyro_opensearch_hits(answer);
    int64_t last_ms = PYRO_NONE;
    enum pyro_status status = PYRO_OK;
    for (size_t i = 0; i < json_array_size(hits) && status == PYRO_OK; i++) {
        const json_t *source = json_object_get(json_array_get(hits, i), "_source");
        int64_t start_ms = pyro_opensearch_int(source, "start_ms");
        last_ms = i ? last_ms : start_ms;
        if (start_ms != PYRO_NONE && start_ms < last_ms && pyro_opensearch_int(source, "is_final_attempt") == 1)
            status = clear_final(store, pyro_opensearch_text(source, "run"), error);
    }
    json_decref(answer);
    return status;
}
