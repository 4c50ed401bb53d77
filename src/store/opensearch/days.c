#include "store/opensearch/days.h"

#include <stdlib.h>
#include <xxhash.h>

#include "base/numbers/saturate.h"

enum { TRIES = 100, DAY_MS = 86400000 };

/* Runs of one application and day are added to a document, which names them until they are deleted: nothing counts
 * twice where this ends before. */
#define ADD_TO_DAY                                                                                                     \
    "def o=ctx._source;for(r in params.runs){if(!o.counted.contains(r.id)){o.counted.add(r.id);o.runs+=1;"             \
    "o.completed+=r.completed;o.duration_ms+=r.duration_ms;o.core_ms+=r.core_ms;o.input_bytes+=r.input_bytes;}}"
#define FORGET "if(!ctx._source.counted.removeAll(params.runs))ctx.op='noop'"

struct day {
    struct pyro_slice id;
    struct pyro_old_run *runs;
    size_t count;
    int64_t seq_no, primary_term; /* of its document when it was looked at; PYRO_NONE: there was none */
};

static int64_t day_of(int64_t time_ms)
{
    int64_t rest = time_ms % DAY_MS;
    return pyro_sub_saturating(time_ms, rest < 0 ? rest + DAY_MS : rest);
}

static struct pyro_slice application_of(const struct pyro_old_run *run)
{
    return run->application.ptr ? run->application : PYRO_SLICE_LITERAL("");
}

static struct pyro_slice day_id(struct pyro_arena *arena, const struct pyro_old_run *run)
{
    struct pyro_slice application = application_of(run);
    return pyro_arena_printf(arena, "day-%lld-%016llx", (long long)day_of(run->time_ms),
                             (unsigned long long)XXH3_64bits(application.ptr, application.len));
}

/* Documents by a list of what is asked for, which is thrown away. Each of them is found or not. */
static enum pyro_status get_documents(struct pyro_opensearch *store, struct pyro_strbuf *docs, size_t count,
                                      json_t **ret, struct pyro_error *error)
{
    enum pyro_status status = docs->failed ? pyro_opensearch_no_memory(error)
                                           : pyro_opensearch_ask(store, PYRO_OS_WRITES, NULL, "_mget", ret, error,
                                                                 "{'docs':[?x]}", docs->data);
    pyro_strbuf_done(docs);
    for (size_t i = 0; i < count && status == PYRO_OK; i++) {
        const json_t *doc = json_array_get(json_object_get(*ret, "docs"), i);
        if (!json_is_boolean(json_object_get(doc, "found")))
            status = pyro_opensearch_refused(store, PYRO_OS_WRITES, 200, doc, error);
    }
    return status;
}

static void add_document(struct pyro_strbuf *docs, const char *index, struct pyro_slice id)
{
    pyro_opensearch_format(docs, "?x{'_index':?s,'_id':?t,'_source':false}", docs->len > 0 ? "," : "", index, id);
}

static bool is_found(const json_t *answer, size_t index)
{
    return json_is_true(json_object_get(json_array_get(json_object_get(answer, "docs"), index), "found"));
}

static enum pyro_status look_at_days(struct pyro_opensearch *store, struct day *days, size_t count,
                                     struct pyro_error *error)
{
    struct pyro_strbuf docs;
    json_t *answer = NULL;
    pyro_strbuf_init(&docs, store->allocator);
    for (size_t i = 0; i < count; i++)
        add_document(&docs, store->index[PYRO_OS_ROWS], days[i].id);
    enum pyro_status status = get_documents(store, &docs, count, &answer, error);
    for (size_t i = 0; i < count && status == PYRO_OK; i++) {
        const json_t *doc = json_array_get(json_object_get(answer, "docs"), i);
        days[i].seq_no = is_found(answer, i) ? pyro_opensearch_int(doc, "_seq_no") : PYRO_NONE;
        days[i].primary_term = is_found(answer, i) ? pyro_opensearch_int(doc, "_primary_term") : PYRO_NONE;
    }
    json_decref(answer);
    return status;
}

/* Runs that another one deleted since they were read are already in their days. */
static enum pyro_status look_at_runs(struct pyro_opensearch *store, struct pyro_old_run *runs, size_t count,
                                     struct pyro_error *error)
{
    struct pyro_strbuf docs;
    json_t *answer = NULL;
    pyro_strbuf_init(&docs, store->allocator);
    for (size_t i = 0; i < count; i++)
        add_document(&docs, store->index[PYRO_OS_AGG], runs[i].id);
    enum pyro_status status = get_documents(store, &docs, count, &answer, error);
    for (size_t i = 0; i < count && status == PYRO_OK; i++)
        runs[i].gone = !is_found(answer, i);
    json_decref(answer);
    return status;
}

static void add_new_day(const struct day *day, struct pyro_strbuf *body)
{
    struct pyro_old_run sum = {0};
    int64_t count = 0;
    for (size_t i = 0; i < day->count; i++) {
        const struct pyro_old_run *run = &day->runs[i];
        if (run->gone)
            continue;
        count++;
        sum.completed += run->completed;
        sum.duration_ms = pyro_add_saturating(sum.duration_ms, run->duration_ms);
        sum.core_ms = pyro_add_saturating(sum.core_ms, run->core_ms);
        sum.input_bytes = pyro_add_saturating(sum.input_bytes, run->input_bytes);
    }
    pyro_opensearch_format(body,
                           "{'kind':?s,'application':?t,'time_ms':?i,'runs':?i,'completed':?i,'duration_ms':?i,"
                           "'core_ms':?i,'input_bytes':?i,'counted':[",
                           pyro_opensearch_kind(PYRO_FROM_DAYS), application_of(day->runs), day_of(day->runs->time_ms),
                           count, sum.completed, sum.duration_ms, sum.core_ms, sum.input_bytes);
    for (size_t i = 0, before = 0; i < day->count; i++)
        if (!day->runs[i].gone)
            pyro_opensearch_format(body, "?x?t", before++ ? "," : "", day->runs[i].id);
    pyro_strbuf_add_text(body, "]}");
}

static void add_to_old_day(const struct day *day, struct pyro_strbuf *body)
{
    pyro_opensearch_format(body, "{'script':{'source':?s,'params':{'runs':[", ADD_TO_DAY);
    for (size_t i = 0, before = 0; i < day->count; i++) {
        const struct pyro_old_run *run = &day->runs[i];
        if (!run->gone)
            pyro_opensearch_format(body, "?x{'id':?t,'completed':?i,'duration_ms':?i,'core_ms':?i,'input_bytes':?i}",
                                   before++ ? "," : "", run->id, run->completed, run->duration_ms, run->core_ms,
                                   run->input_bytes);
    }
    pyro_strbuf_add_text(body, "]}}}");
}

/* Writes the document if it still is what it was when it was looked at; else *ret_done is false. */
static enum pyro_status write_day(struct pyro_opensearch *store, const struct day *day, bool *ret_done,
                                  struct pyro_error *error)
{
    const char *rows = store->index[PYRO_OS_ROWS];
    struct pyro_strbuf body;
    char path[1400];
    json_t *answer = NULL;
    unsigned status = 0;
    size_t gone = 0;
    bool is_new = day->seq_no == PYRO_NONE;
    for (size_t i = 0; i < day->count; i++)
        gone += day->runs[i].gone;
    *ret_done = true;
    if (gone == day->count)
        return PYRO_OK;
    pyro_strbuf_init(&body, store->allocator);
    (is_new ? add_new_day : add_to_old_day)(day, &body);
    if (is_new)
        snprintf(path, sizeof(path), "/%s/_create/%s", rows, day->id.ptr);
    else
        snprintf(path, sizeof(path), "/%s/_update/%s?if_seq_no=%lld&if_primary_term=%lld", rows, day->id.ptr,
                 (long long)day->seq_no, (long long)day->primary_term);
    const struct pyro_opensearch_request request = {
        .purpose = PYRO_OS_WRITES, .method = PYRO_HTTP_POST, .path = path, .body = pyro_strbuf_slice(&body)};
    enum pyro_status result =
        body.failed ? pyro_opensearch_no_memory(error) : pyro_opensearch_send(store, &request, &answer, &status, error);
    *ret_done = status != 409;
    if (result == PYRO_OK && status / 100 != 2 && *ret_done)
        result = pyro_opensearch_refused(store, PYRO_OS_WRITES, status, answer, error);
    json_decref(answer);
    pyro_strbuf_done(&body);
    return result;
}

static enum pyro_status add_to_day(struct pyro_opensearch *store, struct day *day, struct pyro_error *error)
{
    bool done = false;
    for (unsigned tried = 0; tried < TRIES; tried++) {
        PYRO_TRY(write_day(store, day, &done, error));
        if (done)
            return PYRO_OK;
        PYRO_TRY(look_at_days(store, day, 1, error));
        PYRO_TRY(look_at_runs(store, day->runs, day->count, error));
    }
    return pyro_error_set(error, PYRO_ERROR_OUTPUT,
                          "the store cannot be written: other processes remove runs of the same days; try again");
}

static int by_day(const void *left, const void *right)
{
    const struct pyro_old_run *a = left, *b = right;
    int64_t first = day_of(a->time_ms), second = day_of(b->time_ms);
    int order = pyro_slice_compare(a->application, b->application);
    return order ? order : (first > second) - (first < second);
}

static enum pyro_status split_days(struct pyro_arena *arena, struct pyro_old_run *runs, size_t count, struct day **ret,
                                   size_t *ret_count, struct pyro_error *error)
{
    struct day *days = pyro_arena_array(arena, count + 1, sizeof(*days));
    size_t day_count = 0;
    if (!days)
        return pyro_opensearch_no_memory(error);
    qsort(runs, count, sizeof(*runs), by_day);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && by_day(&runs[i], &runs[end]) == 0;)
            end++;
        days[day_count++] =
            (struct day){.id = day_id(arena, &runs[i]), .runs = runs + i, .count = end - i, .seq_no = PYRO_NONE};
    }
    *ret = days;
    *ret_count = day_count;
    return arena->failed ? pyro_opensearch_no_memory(error) : PYRO_OK;
}

/* Another one may do this at the same time, be faster, delete runs that are still to be counted here, and forget their
 * names. So days are looked at first, then runs: a day that was written since is looked at again. */
static enum pyro_status add_to_all(struct pyro_opensearch *store, struct day *days, size_t count,
                                   struct pyro_old_run *runs, size_t run_count, struct pyro_error *error)
{
    PYRO_TRY(look_at_days(store, days, count, error));
    PYRO_TRY(look_at_runs(store, runs, run_count, error));
    for (size_t i = 0; i < count; i++)
        PYRO_TRY(add_to_day(store, &days[i], error));
    return PYRO_OK;
}

enum pyro_status pyro_opensearch_add_to_days(struct pyro_opensearch *store, struct pyro_old_run *runs, size_t count,
                                             struct pyro_strbuf *ret_days, struct pyro_error *error)
{
    struct pyro_arena arena;
    struct day *days = NULL;
    size_t day_count = 0;
    pyro_arena_init(&arena, store->allocator);
    enum pyro_status status = split_days(&arena, runs, count, &days, &day_count, error);
    if (status == PYRO_OK)
        status = add_to_all(store, days, day_count, runs, count, error);
    for (size_t i = 0; i < day_count && status == PYRO_OK; i++)
        pyro_opensearch_format(ret_days, i ? ",?t" : "?t", days[i].id);
    pyro_arena_done(&arena);
    return status == PYRO_OK && ret_days->failed ? pyro_opensearch_no_memory(error) : status;
}

enum pyro_status pyro_opensearch_forget_in_days(struct pyro_opensearch *store, const char *days, const char *runs,
                                                struct pyro_error *error)
{
    const char *rows = store->index[PYRO_OS_ROWS];
    json_t *answer = NULL;
    PYRO_TRY(pyro_opensearch_refresh(store, rows, error));
    PYRO_TRY(pyro_opensearch_ask(
        store, PYRO_OS_WRITES, rows, "_update_by_query?conflicts=proceed&refresh=true", &answer, error,
        "{'query':{'ids':{'values':[?x]}},'script':{'source':?s,'params':{'runs':[?x]}}}", days, FORGET, runs));
    json_decref(answer);
    return PYRO_OK;
}
