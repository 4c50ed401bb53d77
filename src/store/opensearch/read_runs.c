/* Runs, baselines and feedback, as they were kept; errors and verdicts. */
#include <stdlib.h>
#include <string.h>

#include "base/collections/hash.h"
#include "base/collections/map.h"
#include "store/opensearch/opensearch.h"

static const struct pyro_opensearch_target anywhere = {
    .version = PYRO_NONE, .seq_no = PYRO_NONE, .primary_term = PYRO_NONE};

static const char *text_of(const json_t *source, const char *key)
{
    const char *text = json_string_value(json_object_get(source, key));
    return text ? text : "";
}

static const char *keep(struct pyro_arena *arena, const char *text)
{
    return pyro_arena_copy(arena, pyro_slice_from(text)).ptr;
}

static enum pyro_status at_store(const struct pyro_opensearch *store, enum pyro_status status, struct pyro_error *error)
{
    if (status != PYRO_OK)
        pyro_error_at(error, store->label, UINT64_MAX);
    return status;
}

/* ---- Errors, verdicts, suggestions, clusters --------------------------------------------------------------------- */

static void add_error(const void *row, struct pyro_strbuf *to)
{
    pyro_opensearch_add_error(row, to);
}

enum pyro_status pyro_opensearch_record_error_once(struct pyro_opensearch *store, struct pyro_slice id,
                                                   const struct pyro_store_error_row *row, struct pyro_error *error)
{
    struct pyro_opensearch_target target = anywhere;
    target.index = PYRO_OS_ERR;
    target.id = id;
    return at_store(store, pyro_opensearch_put(store, &target, add_error, row, error), error);
}

enum pyro_status pyro_opensearch_record_error(void *state, const struct pyro_store_error_row *row,
                                              struct pyro_error *error)
{
    return pyro_opensearch_record_error_once(state, PYRO_SLICE_NULL, row, error);
}

static void add_verdict(const void *row, struct pyro_strbuf *to)
{
    pyro_opensearch_add_verdict(row, to);
}

enum pyro_status pyro_opensearch_add_a_verdict(void *state, const struct pyro_verdict_row *row,
                                               struct pyro_error *error)
{
    struct pyro_opensearch_target target = anywhere;
    target.index = PYRO_OS_ROWS;
    return at_store(state, pyro_opensearch_put(state, &target, add_verdict, row, error), error);
}

static void add_suggestion(const void *row, struct pyro_strbuf *to)
{
    pyro_opensearch_add_suggestion(row, to);
}

static enum pyro_status name_document(struct pyro_arena *arena, const char *kind, struct pyro_slice name,
                                      struct pyro_slice *ret, struct pyro_error *error)
{
    struct pyro_slice whole = pyro_arena_printf(arena, "%s#%.*s", kind, (int)name.len, name.ptr);
    *ret = whole.ptr ? pyro_opensearch_id(arena, whole) : whole;
    return ret->ptr ? PYRO_OK : pyro_opensearch_no_memory(error);
}

enum pyro_status pyro_opensearch_put_suggestion(void *state, const struct pyro_suggestion_row *row,
                                                struct pyro_error *error)
{
    struct pyro_opensearch *store = state;
    struct pyro_opensearch_target target = anywhere;
    struct pyro_arena arena;
    target.index = PYRO_OS_ROWS;
    pyro_arena_init(&arena, store->allocator);
    enum pyro_status status = name_document(&arena, "suggestion", row->id, &target.id, error);
    if (status == PYRO_OK)
        status = pyro_opensearch_put(store, &target, add_suggestion, row, error);
    pyro_arena_done(&arena);
    return at_store(store, status, error);
}

static enum pyro_status put_cluster(struct pyro_opensearch_bulk *bulk, struct pyro_arena *arena,
                                    const struct pyro_cluster_row *row, struct pyro_error *error)
{
    struct pyro_opensearch_target target = anywhere;
    struct pyro_slice name = pyro_arena_printf(arena, "%lld#%.*s#%.*s", (long long)row->time_ms, (int)row->name.len,
                                               row->name.ptr, (int)row->source.len, row->source.ptr);
    target.index = PYRO_OS_ROWS;
    PYRO_TRY(name_document(arena, "cluster", name, &target.id, error));
    PYRO_TRY(pyro_opensearch_bulk_begin(bulk, &target, 0, 0, error));
    pyro_opensearch_add_cluster(row, &bulk->body);
    return pyro_opensearch_bulk_end(bulk, error);
}

enum pyro_status pyro_opensearch_put_cluster(void *state, const struct pyro_cluster_row *rows, size_t count,
                                             struct pyro_error *error)
{
    struct pyro_opensearch *store = state;
    struct pyro_opensearch_bulk bulk;
    struct pyro_arena arena;
    enum pyro_status status = PYRO_OK;
    pyro_arena_init(&arena, store->allocator);
    pyro_opensearch_bulk_init(&bulk, store);
    bulk.take = pyro_opensearch_must_be_written;
    for (size_t i = 0; i < count && status == PYRO_OK; i++)
        status = put_cluster(&bulk, &arena, &rows[i], error);
    if (status == PYRO_OK)
        status = pyro_opensearch_bulk_send(&bulk, error);
    pyro_opensearch_bulk_done(&bulk);
    pyro_arena_done(&arena);
    return at_store(store, status, error);
}

/* ---- Findings and verdicts --------------------------------------------------------------------------------------- */

/* The application whose run started last comes first. */
#define APPLICATIONS                                                                                                   \
    "{'size':0,'query':{'bool':{'filter':[{'term':{'kind':'finding'}},{'term':{'id':?s}}?x]}},'aggs':{'names':{"       \
    "'terms':{'field':'name','size':2,'order':[{'start':'desc'},{'_key':'asc'}]},'aggs':{"                             \
    "'start':{'max':{'field':'run_start_ms'}},'rules':{'terms':{'field':'rule','size':1,'order':{'_key':'desc'}}}}}}}"

static enum pyro_status search_finding(struct pyro_opensearch *store, const char *application, const char *finding,
                                       json_t **ret, struct pyro_error *error)
{
    struct pyro_strbuf named;
    pyro_strbuf_init(&named, store->allocator);
    if (application)
        pyro_opensearch_format(&named, ",{'bool':{'should':[{'term':{'name':?s}},{'term':{'app_id':?s}}]}}",
                               application, application);
    enum pyro_status status = named.failed ? pyro_opensearch_no_memory(error)
                                           : pyro_opensearch_search(store, PYRO_OS_ROWS, ret, error, APPLICATIONS,
                                                                    finding, named.data ? named.data : "");
    pyro_strbuf_done(&named);
    return at_store(store, status, error);
}

enum pyro_status pyro_opensearch_find_finding(void *state, const char *application, const char *finding,
                                              struct pyro_arena *arena, struct pyro_verdict_row *row,
                                              struct pyro_error *error)
{
    struct pyro_opensearch *store = state;
    json_t *answer = NULL;
    PYRO_TRY(search_finding(store, application, finding, &answer, error));
    const json_t *names = json_object_get(json_object_get(json_object_get(answer, "aggregations"), "names"), "buckets");
    const json_t *first = json_array_get(names, 0);
    const json_t *rule = json_array_get(json_object_get(json_object_get(first, "rules"), "buckets"), 0);
    enum pyro_status status = PYRO_OK;
    if (json_array_size(names) == 1) {
        row->application = keep(arena, text_of(first, "key"));
        row->rule = keep(arena, text_of(rule, "key"));
        if (!row->application || !row->rule)
            status = pyro_opensearch_no_memory(error);
    } else if (json_array_size(names) > 1) {
        status = pyro_error_set(
            error, PYRO_ERROR_ARGUMENT,
            "several applications have the finding '%.200s', such as '%.200s' and '%.200s'; name one with --app",
            finding, text_of(first, "key"), text_of(json_array_get(names, 1), "key"));
    } else {
        status =
            pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                           "no run%s%.200s%s in the store has the finding '%.200s'; record one with 'pyrometer "
                           "diagnose LOG --store ...', which prints its ids",
                           application ? " of '" : "", application ? application : "", application ? "'" : "", finding);
    }
    json_decref(answer);
    return status;
}

/* Verdicts in the order of their time; the last one of an application and finding counts. */
struct verdicts {
    PYRO_VEC(json_t *) all;
    struct pyro_map last; /* hash of application and finding -> index of the last */
    bool failed;
};

static uint64_t hash_of(const json_t *source)
{
    return pyro_hash_mix(pyro_hash_slice(pyro_opensearch_text(source, "application")) * 31 +
                         pyro_hash_slice(pyro_opensearch_text(source, "finding")));
}

static bool is_missed(const json_t *source)
{
    return strcmp(text_of(source, "verdict"), pyro_feedback_name(PYRO_FEEDBACK_MISSED)) == 0;
}

static int take_verdict(void *context, const json_t *hit)
{
    struct verdicts *verdicts = context;
    json_t *source = json_object_get(hit, "_source");
    uint64_t *last = is_missed(source) ? NULL : pyro_map_put(&verdicts->last, hash_of(source), NULL);
    json_t **place = pyro_vec_push(&verdicts->all, NULL);
    verdicts->failed |= !place || (!last && !is_missed(source));
    if (verdicts->failed)
        return 1;
    *place = json_incref(source);
    if (last)
        *last = verdicts->all.count;
    return 0;
}

static int give_verdict(const json_t *source, int (*take)(void *context, const struct pyro_verdict_row *row),
                        void *context)
{
    struct pyro_verdict_row row = {.time_ms = pyro_opensearch_int(source, "time_ms"),
                                   .application = text_of(source, "application"),
                                   .finding = text_of(source, "finding"),
                                   .rule = text_of(source, "rule"),
                                   .note = text_of(source, "note")};
    unsigned verdict = 0;
    while (pyro_feedback_name(verdict) && strcmp(pyro_feedback_name(verdict), text_of(source, "verdict")) != 0)
        verdict++;
    if (!pyro_feedback_name(verdict))
        return 0; /* written by a later build */
    row.verdict = (enum pyro_feedback_verdict)verdict;
    return take(context, &row);
}

enum pyro_status pyro_opensearch_each_verdict(void *state,
                                              int (*take)(void *context, const struct pyro_verdict_row *row),
                                              void *context, struct pyro_error *error)
{
    struct pyro_opensearch *store = state;
    struct verdicts verdicts = {0};
    pyro_map_init(&verdicts.last, store->allocator);
    enum pyro_status status =
        pyro_opensearch_each(store, PYRO_OS_ROWS, take_verdict, &verdicts, error,
                             "{'query':{'term':{'kind':'verdict'}},'sort':['time_ms','_seq_no']}");
    if (status == PYRO_OK && verdicts.failed)
        status = pyro_opensearch_no_memory(error);
    for (size_t i = 0; i < verdicts.all.count && status == PYRO_OK; i++) {
        const json_t *source = verdicts.all.items[i];
        if (!is_missed(source) && *pyro_map_get(&verdicts.last, hash_of(source)) != i + 1)
            continue;
        if (give_verdict(source, take, context) != 0)
            break;
    }
    for (size_t i = 0; i < verdicts.all.count; i++)
        json_decref(verdicts.all.items[i]);
    pyro_vec_done(&verdicts.all, NULL);
    pyro_map_done(&verdicts.last);
    return at_store(store, status, error);
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

struct past_runs {
    int (*take)(void *context, const struct pyro_past_run *run);
    void *context;
};

static int give_past(void *context, const json_t *hit)
{
    const struct past_runs *past = context;
    const json_t *source = json_object_get(hit, "_source");
    const struct pyro_past_run run = {sizeof(run), text_of(source, "name"), pyro_opensearch_int(source, "start_ms"),
                                      pyro_opensearch_int(source, "end_ms"), pyro_opensearch_int(source, "core_ms")};
    return past->take(past->context, &run);
}

enum pyro_status pyro_opensearch_each_run(void *state, int (*take)(void *context, const struct pyro_past_run *run),
                                          void *context, struct pyro_error *error)
{
    struct past_runs past = {take, context};
    return at_store(
        state,
        pyro_opensearch_each(state, PYRO_OS_AGG, give_past, &past, error,
                             "{'query':{'bool':{'filter':[{'exists':{'field':'start_ms'}},"
                             "{'exists':{'field':'end_ms'}},{'exists':{'field':'core_ms'}}]}},"
                             "'sort':['start_ms','_seq_no'],'_source':['name','start_ms','end_ms','core_ms']}"),
        error);
}

struct stored_runs {
    int (*take)(void *context, const struct pyro_stored_run *run);
    void *context;
};

static int give_stored(void *context, const json_t *hit)
{
    const struct stored_runs *stored = context;
    const json_t *source = json_object_get(hit, "_source"), *access = json_object_get(source, "access");
    const struct pyro_stored_run run = {
        .app_id = pyro_opensearch_text(source, "app_id"),
        .attempt = pyro_opensearch_text(source, "attempt"),
        .name = pyro_opensearch_text(source, "name"),
        .user = pyro_opensearch_text(source, "user"),
        .spark_version = pyro_opensearch_text(source, "spark_version"),
        .status = pyro_opensearch_text(source, "status"),
        .outcome = pyro_opensearch_text(source, "outcome"),
        .path = pyro_opensearch_text(source, "path"),
        .source = pyro_opensearch_text(source, "source"),
        .start_ms = pyro_opensearch_int(source, "start_ms"),
        .end_ms = pyro_opensearch_int(source, "end_ms"),
        .recorded_ms = pyro_opensearch_int(source, "recorded_ms"),
        .knows_access = json_is_object(access),
        .access = {.known = true,
                   .enabled = pyro_opensearch_int(access, "enabled") != 0,
                   .users = pyro_opensearch_text(access, "view_users"),
                   .groups = pyro_opensearch_text(access, "view_groups"),
                   .admins = pyro_opensearch_text(access, "admin_users"),
                   .admin_groups = pyro_opensearch_text(access, "admin_groups")},
    };
    return run.app_id.ptr ? stored->take(stored->context, &run) : 0;
}

enum pyro_status pyro_opensearch_each_stored(void *state, int (*take)(void *context, const struct pyro_stored_run *run),
                                             void *context, struct pyro_error *error)
{
    struct stored_runs stored = {take, context};
    return at_store(state,
                    pyro_opensearch_each(state, PYRO_OS_AGG, give_stored, &stored, error,
                                         "{'query':{'match_all':{}},'sort':['app_id','attempt','_seq_no'],"
                                         "'_source':{'excludes':['agg','properties','tags']}}"),
                    error);
}

/* One document of an index by its id; *ret is null where there is none. */
static enum pyro_status get(struct pyro_opensearch *store, enum pyro_opensearch_index index, struct pyro_slice id,
                            const char *fields, json_t **ret, struct pyro_error *error)
{
    json_t *answer = NULL;
    PYRO_TRY(pyro_opensearch_ask(store, PYRO_OS_READS, NULL, "_mget", &answer, error,
                                 "{'docs':[{'_index':?s,'_id':?t,'_source':?x}]}", store->index[index], id, fields));
    const json_t *doc = json_array_get(json_object_get(answer, "docs"), 0);
    enum pyro_status status = PYRO_OK;
    if (json_object_get(doc, "error"))
        status = pyro_opensearch_refused(store, PYRO_OS_READS, 200, doc, error);
    *ret = json_is_true(json_object_get(doc, "found")) ? json_incref(json_object_get(doc, "_source")) : NULL;
    json_decref(answer);
    return status;
}

static enum pyro_status get_report(struct pyro_opensearch *store, struct pyro_slice id, struct pyro_strbuf *out,
                                   uint64_t *ret_redaction, struct pyro_error *error)
{
    json_t *source = NULL;
    PYRO_TRY(get(store, PYRO_OS_RAW, id, "[\"report\",\"redaction\"]", &source, error));
    struct pyro_slice report = pyro_opensearch_text(source, "report");
    enum pyro_status status = PYRO_OK;
    if (report.ptr) {
        *ret_redaction = strtoull(text_of(source, "redaction"), NULL, 10);
        pyro_strbuf_add_slice(out, report);
        if (out->failed)
            status = pyro_opensearch_no_memory(error);
    } else {
        status = pyro_error_lasts(error, pyro_error_set(error, PYRO_ERROR_INPUT, "the store no longer has this run"));
    }
    json_decref(source);
    return status;
}

enum pyro_status pyro_opensearch_report(void *state, struct pyro_slice app_id, struct pyro_slice attempt,
                                        struct pyro_strbuf *out, uint64_t *ret_redaction, struct pyro_error *error)
{
    struct pyro_opensearch *store = state;
    struct pyro_arena arena;
    pyro_arena_init(&arena, store->allocator);
    struct pyro_slice id = pyro_opensearch_run_id(&arena, app_id, attempt);
    enum pyro_status status =
        id.ptr ? get_report(store, id, out, ret_redaction, error) : pyro_opensearch_no_memory(error);
    pyro_arena_done(&arena);
    return at_store(store, status, error);
}

static enum pyro_status fill_baseline(struct pyro_opensearch *store, const json_t *source, struct pyro_arena *arena,
                                      struct pyro_baseline *ret, uint64_t *ret_redaction, struct pyro_error *error)
{
    struct pyro_strbuf report;
    pyro_strbuf_init(&report, store->allocator);
    enum pyro_status status = get_report(store, pyro_opensearch_text(source, "run"), &report, ret_redaction, error);
    if (status == PYRO_OK) {
        *ret = (struct pyro_baseline){sizeof(*ret), keep(arena, text_of(source, "app_id")),
                                      keep(arena, text_of(source, "attempt")), keep(arena, text_of(source, "path")),
                                      pyro_arena_copy(arena, pyro_strbuf_slice(&report)).ptr};
        if (!ret->application || !ret->attempt || !ret->path || !ret->report)
            status = pyro_opensearch_no_memory(error);
    }
    pyro_strbuf_done(&report);
    return status;
}

enum pyro_status pyro_opensearch_baseline(void *state, const char *name, struct pyro_arena *arena,
                                          struct pyro_baseline *ret, uint64_t *ret_redaction, struct pyro_error *error)
{
    struct pyro_opensearch *store = state;
    struct pyro_slice id;
    json_t *source = NULL;
    *ret = (struct pyro_baseline){.size = sizeof(*ret)};
    PYRO_TRY(name_document(arena, "baseline", pyro_slice_from(name), &id, error));
    enum pyro_status status = get(store, PYRO_OS_ROWS, id, "true", &source, error);
    if (status == PYRO_OK && source)
        status = fill_baseline(store, source, arena, ret, ret_redaction, error);
    json_decref(source);
    return at_store(store, status, error);
}

/* The last sequence number that searches see, and how many runs: both change only with what a search finds. */
int64_t pyro_opensearch_state(void *state)
{
    struct pyro_opensearch *store = state;
    struct pyro_error ignored = {.size = sizeof(ignored)};
    json_t *answer = NULL;
    if (pyro_opensearch_search(store, PYRO_OS_AGG, &answer, &ignored,
                               "{'size':0,'track_total_hits':true,'aggs':{'last':{'max':{'field':'_seq_no'}}}}") !=
        PYRO_OK)
        return -1;
    int64_t last = pyro_opensearch_number(json_object_get(json_object_get(answer, "aggregations"), "last"), "value");
    int64_t runs = pyro_opensearch_int(json_object_get(json_object_get(answer, "hits"), "total"), "value");
    int64_t number = last == PYRO_NONE ? 0 : last;
    json_decref(answer);
    return (int64_t)(pyro_hash_mix((uint64_t)number * 1000003 + (uint64_t)runs) >> 1);
}
