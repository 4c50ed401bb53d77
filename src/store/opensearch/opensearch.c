/* Opening and closing: the indices are made where there are none. */
#include "store/opensearch/opensearch.h"

#include <string.h>

#include "base/memory/allocator.h"

enum { READ_TIMEOUT_S = 20 };

/* Only what is read has a deadline: what is written must not be given up. */
static bool is_late(void *context, uint64_t received, uint64_t expected)
{
    const struct pyro_opensearch *store = context;
    (void)received, (void)expected;
    return store->deadline && pyro_opensearch_monotonic_ms() > store->deadline;
}

static void close_store(void *state)
{
    struct pyro_opensearch *store = state;
    struct pyro_error ignored = {.size = sizeof(ignored)};
    char indices[1024];
    if (!store)
        return;
    if (store->stale) {
        snprintf(indices, sizeof(indices), "%s,%s,%s,%s", store->index[PYRO_OS_RAW], store->index[PYRO_OS_AGG],
                 store->index[PYRO_OS_ERR], store->index[PYRO_OS_ROWS]);
        pyro_ignore_status(pyro_opensearch_refresh(store, indices, &ignored), "it happens within a second anyway");
    }
    pyro_http_close(store->http);
    pyro_strbuf_done(&store->body);
    pyro_arena_done(&store->arena);
    pyro_release(store->allocator, store);
}

/* ---- Indices ----------------------------------------------------------------------------------------------------- */

static enum pyro_status check_version(const struct pyro_opensearch *store, enum pyro_opensearch_index index,
                                      const json_t *mappings, struct pyro_error *error)
{
    const json_t *meta = json_object_get(json_object_get(json_object_get(mappings, "mappings"), "_meta"), "pyrometer");
    int64_t version = pyro_opensearch_int(meta, "store");
    if (version == PYRO_OS_VERSION)
        return PYRO_OK;
    if (version == PYRO_NONE)
        pyro_error_describe(error, PYRO_ERROR_INPUT,
                            "the index %s is not one of a Pyrometer store; give another prefix", store->index[index]);
    else
        pyro_error_describe(error, PYRO_ERROR_INPUT,
                            "it is a store of version %lld, but this build supports version %d; use a newer build",
                            (long long)version, (int)PYRO_OS_VERSION);
    return pyro_error_lasts(error, PYRO_ERROR_INPUT);
}

/* *ret_exists: there is one of this name, perhaps made by another process just now. */
static enum pyro_status make_index(struct pyro_opensearch *store, enum pyro_opensearch_index index, bool *ret_exists,
                                   struct pyro_error *error)
{
    struct pyro_strbuf body;
    json_t *answer = NULL;
    unsigned status = 0;
    char path[256];
    pyro_strbuf_init(&body, store->allocator);
    pyro_opensearch_add_index(index, &body);
    snprintf(path, sizeof(path), "/%s", store->index[index]);
    const struct pyro_opensearch_request request = {
        .purpose = PYRO_OS_WRITES, .method = PYRO_HTTP_PUT, .path = path, .body = pyro_strbuf_slice(&body)};
    enum pyro_status result =
        body.failed ? pyro_opensearch_no_memory(error) : pyro_opensearch_send(store, &request, &answer, &status, error);
    pyro_strbuf_done(&body);
    struct pyro_slice type = pyro_opensearch_text(json_object_get(answer, "error"), "type");
    *ret_exists = result == PYRO_OK && type.ptr && pyro_slice_is(type, "resource_already_exists_exception");
    if (result == PYRO_OK && status != 200 && !*ret_exists)
        result = pyro_opensearch_refused(store, PYRO_OS_WRITES, status, answer, error);
    json_decref(answer);
    return result;
}

/* What the indices say of themselves, by their names; a server that does not answer now is a matter of output for a
 * writer, whose report must not be lost. */
static enum pyro_status ask_indices(struct pyro_opensearch *store, bool writes, json_t **ret, struct pyro_error *error)
{
    unsigned status = 0;
    char path[1300];
    enum pyro_opensearch_purpose purpose = writes ? PYRO_OS_WRITES : PYRO_OS_READS;
    snprintf(path, sizeof(path), "/%s,%s,%s,%s,%s/_mapping?ignore_unavailable=true&filter_path=*.mappings._meta,error",
             store->index[0], store->index[1], store->index[2], store->index[3], store->index[4]);
    const struct pyro_opensearch_request request = {.purpose = purpose, .path = path};
    PYRO_TRY(pyro_opensearch_send(store, &request, ret, &status, error));
    return status == 200 || status == 404 ? PYRO_OK : pyro_opensearch_refused(store, purpose, status, *ret, error);
}

static enum pyro_status make_missing(struct pyro_opensearch *store, const json_t *found, bool *ret_again,
                                     struct pyro_error *error)
{
    for (unsigned i = 0; i < PYRO_OS_INDICES; i++) {
        bool exists = false;
        if (!json_object_get(found, store->index[i]))
            PYRO_TRY(make_index(store, i, &exists, error));
        *ret_again |= exists;
    }
    return PYRO_OK;
}

static enum pyro_status check_indices(const struct pyro_opensearch *store, bool all, const json_t *found,
                                      struct pyro_error *error)
{
    for (unsigned i = 0; i < PYRO_OS_INDICES; i++) {
        const json_t *one = json_object_get(found, store->index[i]);
        if (one || all)
            PYRO_TRY(check_version(store, i, one, error));
    }
    return PYRO_OK;
}

static enum pyro_status open_indices(struct pyro_opensearch *store, bool writes, struct pyro_error *error)
{
    json_t *found = NULL;
    bool again = false;
    enum pyro_status status = ask_indices(store, writes, &found, error);
    if (status == PYRO_OK)
        status = check_indices(store, false, found, error);
    if (status == PYRO_OK && writes)
        status = make_missing(store, found, &again, error);
    else if (status == PYRO_OK && !json_object_get(found, store->index[PYRO_OS_AGG]))
        status = pyro_error_set(error, PYRO_ERROR_INPUT, "there is no store: the server has no index %s of one",
                                store->index[PYRO_OS_AGG]);
    json_decref(found);
    found = NULL;
    if (status == PYRO_OK && again)
        status = ask_indices(store, writes, &found, error);
    if (status == PYRO_OK && again)
        status = check_indices(store, true, found, error);
    json_decref(found);
    return status;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static enum pyro_status open_parts(struct pyro_opensearch *store, const char *place, bool writes,
                                   struct pyro_error *error)
{
    PYRO_TRY(pyro_opensearch_parse(store, place, error));
    const struct pyro_http_options options = {.allocator = store->allocator,
                                              .ca_file = store->ca_file,
                                              .timeout_s = writes ? 0 : READ_TIMEOUT_S,
                                              .stopped = is_late,
                                              .context = store};
    PYRO_TRY(pyro_http_open(&options, &store->http, error));
    enum pyro_status status = open_indices(store, writes, error);
    if (status != PYRO_OK)
        pyro_error_at(error, store->label, UINT64_MAX);
    return status;
}

static enum pyro_status open_store(const char *place, bool writes, const struct pyro_allocator *allocator, void **ret,
                                   struct pyro_error *error)
{
    struct pyro_opensearch *store = pyro_allocate(allocator, sizeof(*store));
    if (!store)
        return pyro_opensearch_no_memory(error);
    *store = (struct pyro_opensearch){.allocator = allocator, .only_reads = !writes};
    pyro_arena_init(&store->arena, allocator);
    pyro_strbuf_init(&store->body, allocator);
    enum pyro_status status = open_parts(store, place, writes, error);
    if (status != PYRO_OK) {
        close_store(store);
        return status;
    }
    *ret = store;
    return PYRO_OK;
}

const struct pyro_backend pyro_backend_opensearch = {
    .scheme = "opensearch",
    .open = open_store,
    .close = close_store,
    .record = pyro_opensearch_record,
    .record_error = pyro_opensearch_record_error,
    .find_finding = pyro_opensearch_find_finding,
    .add_verdict = pyro_opensearch_add_a_verdict,
    .each_verdict = pyro_opensearch_each_verdict,
    .each_run = pyro_opensearch_each_run,
    .baseline = pyro_opensearch_baseline,
    .each_stored = pyro_opensearch_each_stored,
    .query = pyro_opensearch_query,
    .prune = pyro_opensearch_prune,
    .stat = pyro_opensearch_stat,
    .work = &pyro_opensearch_work,
    .add_cluster = pyro_opensearch_put_cluster,
    .put_suggestion = pyro_opensearch_put_suggestion,
    .report = pyro_opensearch_report,
    .state = pyro_opensearch_state,
};
