/* What is too old, or too much, goes; and how large the indices are. */
#include <stdlib.h>
#include <string.h>

#include "base/numbers/saturate.h"
#include "store/opensearch/days.h"

enum { BATCH = 500 };

struct pruning {
    struct pyro_opensearch *store;
    struct pyro_arena arena;
    PYRO_VEC(struct pyro_old_run) runs; /* the oldest first */
    struct pyro_strbuf named;           /* ids of runs with a name, as JSON strings */
    struct pyro_prune limits;
    int64_t bytes[PYRO_OS_INDICES], documents[PYRO_OS_INDICES], used;
    bool failed;
};

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

static enum pyro_status ask_sizes(struct pyro_opensearch *store, int64_t *bytes, int64_t *documents,
                                  struct pyro_error *error)
{
    char path[1300];
    json_t *answer = NULL;
    unsigned status = 0;
    snprintf(path, sizeof(path), "/%s,%s,%s,%s,%s/_stats/store,docs", store->index[0], store->index[1], store->index[2],
             store->index[3], store->index[4]);
    const struct pyro_opensearch_request request = {.purpose = PYRO_OS_READS, .path = path};
    PYRO_TRY(pyro_opensearch_send(store, &request, &answer, &status, error));
    enum pyro_status result =
        status == 200 ? PYRO_OK : pyro_opensearch_refused(store, PYRO_OS_READS, status, answer, error);
    for (size_t i = 0; i < PYRO_OS_INDICES && result == PYRO_OK; i++) {
        const json_t *all =
                         json_object_get(json_object_get(json_object_get(answer, "indices"), store->index[i]), "total"),
                     *first = json_object_get(json_object_get(json_object_get(answer, "indices"), store->index[i]),
                                              "primaries");
        int64_t size = pyro_opensearch_int(json_object_get(all, "store"), "size_in_bytes"),
                count = pyro_opensearch_int(json_object_get(first, "docs"), "count");
        bytes[i] = size > 0 ? size : 0;
        documents[i] = count > 0 ? count : 0;
    }
    json_decref(answer);
    return result;
}

enum pyro_status pyro_opensearch_stat(void *state, struct pyro_arena *arena, struct pyro_store_stat *ret,
                                      struct pyro_error *error)
{
    static const char *const names[] = {"raw", "agg", "err", "rows", "work"};
    struct pyro_opensearch *store = state;
    struct pyro_store_table *tables = pyro_arena_array(arena, PYRO_OS_INDICES, sizeof(*tables));
    struct pyro_store_stat stat = {.tables = tables, .table_count = PYRO_OS_INDICES};
    int64_t bytes[PYRO_OS_INDICES], documents[PYRO_OS_INDICES];
    json_t *answer = NULL;
    if (!tables)
        return pyro_opensearch_no_memory(error);
    PYRO_TRY(ask_sizes(store, bytes, documents, error));
    PYRO_TRY(pyro_opensearch_search(store, PYRO_OS_AGG, &answer, error,
                                    "{'size':1,'track_total_hits':true,'_source':false,'sort':[{'start_ms':{'order':"
                                    "'asc','missing':'_last'}}],'aggs':{'last':{'max':{'field':'start_ms'}}}}"));
    const json_t *first = json_array_get(json_object_get(json_array_get(pyro_opensearch_hits(answer), 0), "sort"), 0),
                 *last = json_object_get(json_object_get(answer, "aggregations"), "last");
    stat.runs = pyro_opensearch_int(json_object_get(json_object_get(answer, "hits"), "total"), "value");
    stat.last_ms = pyro_opensearch_number(last, "value");
    stat.first_ms =
        stat.last_ms != PYRO_NONE && json_is_integer(first) ? (int64_t)json_integer_value(first) : PYRO_NONE;
    json_decref(answer);
    for (size_t i = 0; i < PYRO_OS_INDICES; i++) {
        tables[i] = (struct pyro_store_table){names[i], documents[i], bytes[i]};
        stat.bytes = pyro_add_saturating(stat.bytes, bytes[i]);
    }
    *ret = stat;
    return PYRO_OK;
}

/* ---- Which runs -------------------------------------------------------------------------------------------------- */

static int take_named(void *context, const json_t *hit)
{
    struct pruning *pruning = context;
    pyro_opensearch_format(&pruning->named, pruning->named.len ? ",?t" : "?t",
                           pyro_opensearch_text(json_object_get(hit, "_source"), "run"));
    return 0;
}

static int64_t number(const json_t *source, const char *name)
{
    int64_t value = pyro_opensearch_int(source, name);
    return value == PYRO_NONE ? 0 : value;
}

static int take_run(void *context, const json_t *hit)
{
    struct pruning *pruning = context;
    const json_t *source = json_object_get(hit, "_source");
    int64_t start_ms = pyro_opensearch_int(source, "start_ms");
    if (!pyro_opensearch_text(source, "run").ptr) /* not of a crawler or a command */
        return 0;
    struct pyro_old_run *run = pyro_vec_push(&pruning->runs, pruning->store->allocator);
    if (!run) {
        pruning->failed = true;
        return 1;
    }
    *run = (struct pyro_old_run){
        .id = pyro_arena_copy(&pruning->arena, pyro_opensearch_text(source, "run")),
        .application = pyro_arena_copy(&pruning->arena, pyro_opensearch_text(source, "application")),
        .time_ms = start_ms != PYRO_NONE ? start_ms : number(source, "recorded_ms"),
        .completed = pyro_slice_is(pyro_opensearch_text(source, "status"), "completed"),
        .duration_ms = number(source, "duration_ms"),
        .core_ms = number(source, "core_ms"),
        .input_bytes = number(source, "input_bytes"),
    };
    pruning->failed |= !run->id.ptr || pruning->arena.failed;
    return pruning->failed;
}

static int by_age(const void *left, const void *right)
{
    const struct pyro_old_run *a = left, *b = right;
    return a->time_ms != b->time_ms ? (a->time_ms > b->time_ms) - (a->time_ms < b->time_ms)
                                    : pyro_slice_compare(a->id, b->id);
}

/* A run that is recorded while they are read comes again. */
static void drop_repeated(struct pruning *pruning)
{
    struct pyro_old_run *runs = pruning->runs.items;
    size_t kept = 0;
    for (size_t i = 0; i < pruning->runs.count; i++)
        if (kept == 0 || !pyro_slice_eq(runs[i].id, runs[kept - 1].id))
            runs[kept++] = runs[i];
    pruning->runs.count = kept;
}

static enum pyro_status read_runs(struct pruning *pruning, struct pyro_error *error)
{
    struct pyro_opensearch *store = pruning->store;
    char written[1100];
    snprintf(written, sizeof(written), "%s,%s,%s,%s", store->index[PYRO_OS_RAW], store->index[PYRO_OS_AGG],
             store->index[PYRO_OS_ERR], store->index[PYRO_OS_ROWS]);
    PYRO_TRY(pyro_opensearch_refresh(store, written, error));
    PYRO_TRY(pyro_opensearch_each(store, PYRO_OS_ROWS, take_named, pruning, error,
                                  "{'query':{'term':{'kind':'baseline'}},'_source':['run'],'sort':['_seq_no']}"));
    PYRO_TRY(pyro_opensearch_each(store, PYRO_OS_AGG, take_run, pruning, error,
                                  "{'query':{'bool':{'must_not':{'terms':{'run':[?x]}}}},'_source':['run','start_ms',"
                                  "'recorded_ms','application','status','duration_ms','core_ms','input_bytes'],"
                                  "'sort':['_seq_no']}",
                                  pruning->named.len ? pruning->named.data : ""));
    if (pruning->failed || pruning->named.failed)
        return pyro_opensearch_no_memory(error);
    if (pruning->runs.count)
        qsort(pruning->runs.items, pruning->runs.count, sizeof(*pruning->runs.items), by_age);
    drop_repeated(pruning);
    return PYRO_OK;
}

/* Moves the limits where the store is too large; all documents of -raw count as equally large. Gives what goes. */
static enum pyro_status plan(struct pruning *pruning, int64_t *ret_gone, struct pyro_error *error)
{
    struct pyro_ages ages = {0};
    const struct pyro_allocator *allocator = pruning->store->allocator;
    int64_t each = pruning->bytes[PYRO_OS_RAW] / pyro_add_saturating(pruning->documents[PYRO_OS_RAW], 1);
    bool ok = true;
    for (size_t i = 0; i < pruning->runs.count && ok; i++) {
        struct pyro_age *age = pyro_vec_push(&ages.runs, allocator);
        ok = age != NULL;
        if (ok)
            *age = (struct pyro_age){pruning->runs.items[i].time_ms, each};
        ages.text_bytes = pyro_add_saturating(ages.text_bytes, each);
    }
    *ret_gone = pyro_prune_plan(&ages, pruning->used, &pruning->limits);
    pyro_vec_done(&ages.runs, allocator);
    return ok ? PYRO_OK : pyro_opensearch_no_memory(error);
}

/* ---- What goes --------------------------------------------------------------------------------------------------- */

/* A query for what belongs to runs that are older, and have no name. */
static void add_older(const struct pruning *pruning, int64_t before_ms, struct pyro_strbuf *to)
{
    pyro_opensearch_format(to,
                           "{'bool':{'should':[{'range':{'run_start_ms':{'lt':?i}}},{'bool':{'must_not':{'exists':{"
                           "'field':'run_start_ms'}},'filter':{'range':{'recorded_ms':{'lt':?i}}}}}],"
                           "'minimum_should_match':1,'must_not':{'terms':{'run':[?x]}}}}",
                           before_ms, before_ms, pruning->named.len ? pruning->named.data : "");
}

/* Deletes what a query finds in an index, piece by piece; where `dry`, counts it. */
static enum pyro_status delete_found(struct pruning *pruning, enum pyro_opensearch_index index, const char *query,
                                     int64_t *ret_count, struct pyro_error *error)
{
    struct pyro_opensearch *store = pruning->store;
    const char *name = store->index[index];
    json_t *answer = NULL;
    if (pruning->limits.dry_run) {
        PYRO_TRY(pyro_opensearch_ask(store, PYRO_OS_READS, name, "_count", &answer, error, "{'query':?x}", query));
        *ret_count = pyro_add_saturating(*ret_count, number(answer, "count"));
        json_decref(answer);
        return PYRO_OK;
    }
    for (int64_t deleted = 1; deleted > 0;) {
        PYRO_TRY(pyro_opensearch_ask(store, PYRO_OS_WRITES, name,
                                     "_delete_by_query?max_docs=1000&conflicts=proceed&refresh=true", &answer, error,
                                     "{'query':?x}", query));
        deleted = number(answer, "deleted");
        *ret_count = pyro_add_saturating(*ret_count, deleted);
        json_decref(answer);
    }
    return PYRO_OK;
}

/* The runs themselves go last: until then the next call finds them again. */
static enum pyro_status delete_ids(struct pruning *pruning, const char *runs, struct pyro_pruned *ret,
                                   struct pyro_error *error)
{
    static const enum pyro_opensearch_index indices[] = {PYRO_OS_RAW, PYRO_OS_ROWS, PYRO_OS_AGG};
    struct pyro_strbuf query;
    int64_t ignored = 0;
    pyro_strbuf_init(&query, pruning->store->allocator);
    pyro_opensearch_format(&query, "{'terms':{'run':[?x]}}", runs);
    enum pyro_status status = query.failed ? pyro_opensearch_no_memory(error) : PYRO_OK;
    for (size_t i = 0; i < sizeof(indices) / sizeof(*indices) && status == PYRO_OK; i++)
        status =
            delete_found(pruning, indices[i], query.data, indices[i] == PYRO_OS_AGG ? &ret->details : &ignored, error);
    pyro_strbuf_done(&query);
    return status;
}

static enum pyro_status delete_batch(struct pruning *pruning, struct pyro_old_run *runs, size_t count,
                                     struct pyro_pruned *ret, struct pyro_error *error)
{
    struct pyro_strbuf ids, days;
    pyro_strbuf_init(&ids, pruning->store->allocator);
    pyro_strbuf_init(&days, pruning->store->allocator);
    enum pyro_status status = pyro_opensearch_add_to_days(pruning->store, runs, count, &days, error);
    for (size_t i = 0; i < count; i++)
        if (!runs[i].gone)
            pyro_opensearch_format(&ids, ids.len ? ",?t" : "?t", runs[i].id);
    if (status == PYRO_OK && ids.failed)
        status = pyro_opensearch_no_memory(error);
    if (status == PYRO_OK && ids.len)
        status = delete_ids(pruning, ids.data, ret, error);
    if (status == PYRO_OK && ids.len)
        status = pyro_opensearch_forget_in_days(pruning->store, days.data, ids.data, error);
    pyro_strbuf_done(&ids);
    pyro_strbuf_done(&days);
    return status;
}

static enum pyro_status delete_runs(struct pruning *pruning, struct pyro_pruned *ret, struct pyro_error *error)
{
    size_t count = 0;
    while (count < pruning->runs.count && pruning->runs.items[count].time_ms < pruning->limits.details_before_ms)
        count++;
    if (pruning->limits.dry_run) {
        ret->details = (int64_t)count;
        return PYRO_OK;
    }
    for (size_t i = 0; i < count; i += BATCH)
        PYRO_TRY(delete_batch(pruning, pruning->runs.items + i, count - i < BATCH ? count - i : BATCH, ret, error));
    return PYRO_OK;
}

/* The time of the last one of a piece of errors behind a time, which is in `after`; the limit where there are fewer. */
static enum pyro_status find_piece(struct pruning *pruning, const char *after, int64_t limit_ms, int64_t *ret_last_ms,
                                   struct pyro_error *error)
{
    json_t *answer = NULL;
    PYRO_TRY(pyro_opensearch_search(pruning->store, PYRO_OS_ERR, &answer, error,
                                    "{'query':{'range':{'time_ms':{?x'lte':?i}}},'sort':['time_ms'],'from':?i,"
                                    "'size':1,'_source':['time_ms']}",
                                    after, limit_ms, (int64_t)PYRO_OS_PAGE - 1));
    const json_t *last = json_array_get(pyro_opensearch_hits(answer), 0);
    int64_t last_ms = pyro_opensearch_int(json_object_get(last, "_source"), "time_ms");
    *ret_last_ms = last_ms != PYRO_NONE && last_ms < limit_ms ? last_ms : limit_ms;
    json_decref(answer);
    return PYRO_OK;
}

/* Piece by piece, too. No query finds texts that are too long to be searched for: all errors are read. */
static enum pyro_status delete_raw_of_errors(struct pruning *pruning, struct pyro_error *error)
{
    int64_t limit_ms = pyro_sub_saturating(pruning->limits.texts_before_ms, 1), last_ms = PYRO_NONE;
    char after[40] = "";
    while (last_ms < limit_ms) {
        int64_t before_ms = last_ms;
        json_t *answer = NULL;
        PYRO_TRY(find_piece(pruning, after, limit_ms, &last_ms, error));
        if (last_ms <= before_ms) /* whatever the server answers */
            last_ms = limit_ms;
        PYRO_TRY(
            pyro_opensearch_ask(pruning->store, PYRO_OS_WRITES, pruning->store->index[PYRO_OS_ERR],
                                "_update_by_query?conflicts=proceed&refresh=true", &answer, error,
                                "{'query':{'range':{'time_ms':{?x'lte':?i}}},'script':{'source':?s}}", after, last_ms,
                                "if(ctx._source.remove('raw')==null)ctx.op='noop';else ctx._source.remove('long')"));
        json_decref(answer);
        snprintf(after, sizeof(after), "\"gt\":%lld,", (long long)last_ms);
    }
    return PYRO_OK;
}

static enum pyro_status delete_texts(struct pruning *pruning, struct pyro_pruned *ret, struct pyro_error *error)
{
    const struct pyro_prune *limits = &pruning->limits;
    struct pyro_strbuf query;
    if (limits->texts_before_ms == PYRO_NONE)
        return PYRO_OK;
    pyro_strbuf_init(&query, pruning->store->allocator);
    add_older(pruning, limits->texts_before_ms, &query);
    enum pyro_status status = query.failed ? pyro_opensearch_no_memory(error)
                                           : delete_found(pruning, PYRO_OS_RAW, query.data, &ret->texts, error);
    pyro_strbuf_done(&query);
    if (status == PYRO_OK && limits->dry_run) /* the others lose more than that */
        ret->texts = ret->texts > ret->details ? ret->texts - ret->details : 0;
    if (status != PYRO_OK || limits->dry_run)
        return status;
    return delete_raw_of_errors(pruning, error);
}

static enum pyro_status delete_rows(struct pruning *pruning, struct pyro_pruned *ret, struct pyro_error *error)
{
    struct pyro_strbuf query;
    int64_t before_ms = pruning->limits.details_before_ms;
    if (before_ms == PYRO_NONE)
        return PYRO_OK;
    pyro_strbuf_init(&query, pruning->store->allocator);
    pyro_opensearch_format(&query, "{'range':{'time_ms':{'lt':?i}}}", before_ms);
    enum pyro_status status = query.failed ? pyro_opensearch_no_memory(error)
                                           : delete_found(pruning, PYRO_OS_ERR, query.data, &ret->errors, error);
    pyro_strbuf_clear(&query);
    pyro_opensearch_format(&query, "{'bool':{'filter':[{'term':{'kind':?s}},{'range':{'time_ms':{'lt':?i}}}]}}",
                           pyro_opensearch_kind(PYRO_FROM_CLUSTER), before_ms);
    if (status == PYRO_OK)
        status = query.failed ? pyro_opensearch_no_memory(error)
                              : delete_found(pruning, PYRO_OS_ROWS, query.data, &ret->cluster, error);
    pyro_strbuf_done(&query);
    return status;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static enum pyro_status prune_all(struct pruning *pruning, struct pyro_pruned *ret, struct pyro_error *error)
{
    int64_t gone = 0;
    PYRO_TRY(ask_sizes(pruning->store, pruning->bytes, pruning->documents, error));
    for (size_t i = 0; i < PYRO_OS_INDICES; i++)
        pruning->used = pyro_add_saturating(pruning->used, pruning->bytes[i]);
    PYRO_TRY(read_runs(pruning, error));
    PYRO_TRY(plan(pruning, &gone, error));
    PYRO_TRY(delete_runs(pruning, ret, error));
    PYRO_TRY(delete_texts(pruning, ret, error));
    PYRO_TRY(delete_rows(pruning, ret, error));
    if (!pruning->limits.dry_run)
        PYRO_TRY(pyro_opensearch_delete_leftovers(pruning->store, error));
    ret->texts_before_ms = pruning->limits.texts_before_ms;
    ret->details_before_ms = pruning->limits.details_before_ms;
    ret->bytes_before = pruning->used;
    ret->bytes_after = pyro_sub_saturating(pruning->used, gone); /* when OpenSearch has merged its segments */
    return PYRO_OK;
}

enum pyro_status pyro_opensearch_prune(void *state, const struct pyro_prune *prune, struct pyro_pruned *ret,
                                       struct pyro_error *error)
{
    struct pyro_opensearch *store = state;
    struct pruning pruning = {.store = store, .limits = *prune};
    struct pyro_pruned pruned = {0};
    pyro_arena_init(&pruning.arena, store->allocator);
    pyro_strbuf_init(&pruning.named, store->allocator);
    enum pyro_status status = prune_all(&pruning, &pruned, error);
    pyro_vec_done(&pruning.runs, store->allocator);
    pyro_strbuf_done(&pruning.named);
    pyro_arena_done(&pruning.arena);
    if (status == PYRO_OK)
        *ret = pruned;
    return status;
}
