/* What is too old, or too much, goes; and how large the indices are. */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/saturate.h"
#include "store/opensearch/opensearch.h"

enum { BATCH = 500, DAY_MS = 86400000 };

/* A run that may go, and what of it a day keeps. */
struct old_run {
    struct pyro_slice id, application;
    int64_t time_ms, completed, duration_ms, core_ms, input_bytes;
};

struct pruning {
    struct pyro_opensearch *store;
    struct pyro_arena arena;
    PYRO_VEC(struct old_run) runs; /* the oldest first */
    struct pyro_strbuf named;      /* ids of runs with a name, as JSON strings */
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
    struct old_run *run = pyro_vec_push(&pruning->runs, pruning->store->allocator);
    if (!run) {
        pruning->failed = true;
        return 1;
    }
    *run = (struct old_run){
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
    const struct old_run *a = left, *b = right;
    return a->time_ms != b->time_ms ? (a->time_ms > b->time_ms) - (a->time_ms < b->time_ms)
                                    : pyro_slice_compare(a->id, b->id);
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

/* Adds runs of one application and day to its document, which names them until they are deleted: nothing counts twice
 * where this ends before, or two do it at the same time. */
#define ADD_TO_DAY                                                                                                     \
    "def o=ctx._source;for(r in params.runs){if(!o.counted.contains(r.id)){o.counted.add(r.id);o.runs+=1;"             \
    "o.completed+=r.completed;o.duration_ms+=r.duration_ms;o.core_ms+=r.core_ms;o.input_bytes+=r.input_bytes;}}"
#define FORGET "if(!ctx._source.counted.removeAll(params.runs))ctx.op='noop'"

static int64_t day_of(int64_t time_ms)
{
    int64_t rest = time_ms % DAY_MS;
    return pyro_sub_saturating(time_ms, rest < 0 ? rest + DAY_MS : rest);
}

static struct pyro_slice day_id(struct pyro_arena *arena, const struct old_run *run)
{
    struct pyro_slice application = run->application.ptr ? run->application : PYRO_SLICE_LITERAL("");
    return pyro_arena_printf(arena, "day-%lld-%016llx", (long long)day_of(run->time_ms),
                             (unsigned long long)XXH3_64bits(application.ptr, application.len));
}

static enum pyro_status add_to_day(struct pruning *pruning, const struct old_run *runs, size_t count,
                                   struct pyro_error *error)
{
    struct pyro_opensearch *store = pruning->store;
    struct pyro_strbuf body;
    char path[1400];
    json_t *answer = NULL;
    unsigned status = 0;
    int64_t day_ms = day_of(runs->time_ms);
    struct pyro_slice application = runs->application.ptr ? runs->application : PYRO_SLICE_LITERAL("");
    struct pyro_slice id = day_id(&pruning->arena, runs);
    if (!id.ptr)
        return pyro_opensearch_no_memory(error);
    snprintf(path, sizeof(path), "/%s/_update/%s?retry_on_conflict=5", store->index[PYRO_OS_ROWS], id.ptr);
    pyro_strbuf_init(&body, store->allocator);
    pyro_opensearch_format(&body,
                           "{'scripted_upsert':true,'upsert':{'kind':?s,'application':?t,'time_ms':?i,'runs':0,"
                           "'completed':0,'duration_ms':0,'core_ms':0,'input_bytes':0,'counted':[]},'script':{"
                           "'source':?s,'params':{'runs':[",
                           pyro_opensearch_kind(PYRO_FROM_DAYS), application, day_ms, ADD_TO_DAY);
    for (size_t i = 0; i < count; i++)
        pyro_opensearch_format(&body, "?x{'id':?t,'completed':?i,'duration_ms':?i,'core_ms':?i,'input_bytes':?i}",
                               i ? "," : "", runs[i].id, runs[i].completed, runs[i].duration_ms, runs[i].core_ms,
                               runs[i].input_bytes);
    pyro_strbuf_add_text(&body, "]}}}");
    const struct pyro_opensearch_request request = {
        .purpose = PYRO_OS_WRITES, .method = PYRO_HTTP_POST, .path = path, .body = pyro_strbuf_slice(&body)};
    enum pyro_status result =
        body.failed ? pyro_opensearch_no_memory(error) : pyro_opensearch_send(store, &request, &answer, &status, error);
    if (result == PYRO_OK && status / 100 != 2)
        result = pyro_opensearch_refused(store, PYRO_OS_WRITES, status, answer, error);
    json_decref(answer);
    pyro_strbuf_done(&body);
    return result;
}

static int by_day(const void *left, const void *right)
{
    const struct old_run *a = left, *b = right;
    int64_t first = day_of(a->time_ms), second = day_of(b->time_ms);
    int order = pyro_slice_compare(a->application, b->application);
    return order ? order : (first > second) - (first < second);
}

/* Runs that another one deleted since they were read are already in their days: they leave the array. */
static enum pyro_status drop_deleted(struct pruning *pruning, struct old_run *runs, size_t *count,
                                     struct pyro_error *error)
{
    struct pyro_opensearch *store = pruning->store;
    struct pyro_strbuf docs;
    json_t *answer = NULL;
    size_t kept = 0;
    pyro_strbuf_init(&docs, store->allocator);
    for (size_t i = 0; i < *count; i++)
        pyro_opensearch_format(&docs, "?x{'_index':?s,'_id':?t,'_source':false}", i ? "," : "",
                               store->index[PYRO_OS_AGG], runs[i].id);
    enum pyro_status status = docs.failed ? pyro_opensearch_no_memory(error)
                                          : pyro_opensearch_ask(store, PYRO_OS_WRITES, NULL, "_mget", &answer, error,
                                                                "{'docs':[?x]}", docs.data);
    pyro_strbuf_done(&docs);
    PYRO_TRY(status);
    const json_t *found = json_object_get(answer, "docs");
    for (size_t i = 0; i < *count; i++)
        if (!json_is_false(json_object_get(json_array_get(found, i), "found")))
            runs[kept++] = runs[i];
    json_decref(answer);
    *count = kept;
    return PYRO_OK;
}

/* Days no longer name runs that are deleted. */
static enum pyro_status forget(struct pruning *pruning, const char *days, const char *runs, struct pyro_error *error)
{
    struct pyro_opensearch *store = pruning->store;
    const char *rows = store->index[PYRO_OS_ROWS];
    json_t *answer = NULL;
    PYRO_TRY(pyro_opensearch_refresh(store, rows, error));
    PYRO_TRY(pyro_opensearch_ask(
        store, PYRO_OS_WRITES, rows, "_update_by_query?conflicts=proceed&refresh=true", &answer, error,
        "{'query':{'ids':{'values':[?x]}},'script':{'source':?s,'params':{'runs':[?x]}}}", days, FORGET, runs));
    json_decref(answer);
    return PYRO_OK;
}

/* Ids of runs, and of their days, as JSON strings. */
struct batch {
    struct pyro_strbuf runs, days;
};

static enum pyro_status add_to_days(struct pruning *pruning, struct old_run *runs, size_t count, struct batch *batch,
                                    struct pyro_error *error)
{
    qsort(runs, count, sizeof(*runs), by_day);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && by_day(&runs[i], &runs[end]) == 0;)
            end++;
        PYRO_TRY(add_to_day(pruning, runs + i, end - i, error));
        pyro_opensearch_format(&batch->days, i ? ",?t" : "?t", day_id(&pruning->arena, &runs[i]));
    }
    for (size_t i = 0; i < count; i++)
        pyro_opensearch_format(&batch->runs, i ? ",?t" : "?t", runs[i].id);
    if (batch->runs.failed || batch->days.failed || pruning->arena.failed)
        return pyro_opensearch_no_memory(error);
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

static enum pyro_status delete_batch(struct pruning *pruning, struct old_run *runs, size_t count,
                                     struct pyro_pruned *ret, struct pyro_error *error)
{
    struct batch batch;
    PYRO_TRY(drop_deleted(pruning, runs, &count, error));
    if (count == 0)
        return PYRO_OK;
    pyro_strbuf_init(&batch.runs, pruning->store->allocator);
    pyro_strbuf_init(&batch.days, pruning->store->allocator);
    enum pyro_status status = add_to_days(pruning, runs, count, &batch, error);
    if (status == PYRO_OK)
        status = delete_ids(pruning, batch.runs.data, ret, error);
    if (status == PYRO_OK)
        status = forget(pruning, batch.days.data, batch.runs.data, error);
    pyro_strbuf_done(&batch.runs);
    pyro_strbuf_done(&batch.days);
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

/* Piece by piece, too. No query finds texts that are too long to be searched for: all errors are gone through. */
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
        PYRO_TRY(pyro_opensearch_ask(pruning->store, PYRO_OS_WRITES, pruning->store->index[PYRO_OS_ERR],
                                     "_update_by_query?conflicts=proceed&refresh=true", &answer, error,
                                     "{'query':{'range':{'time_ms':{?x'lte':?i}}},'script':{'source':?s}}", after,
                                     last_ms, "if(ctx._source.remove('raw')==null)ctx.op='noop'"));
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
