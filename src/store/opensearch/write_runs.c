/* Writing runs. There are no transactions: ids are made of run and row, and every document has the epoch of its writer
 * as its version, so that a later writer under the same lease writes over it, and a late one is refused.
 *
 * In this order: the raw document; rows, once that is written; rows of older epochs go; the run itself; its item of the
 * work. A writer that dies anywhere leaves an item that is not done, and the next one does all of it. */
#include "base/memory/allocator.h"
#include "store/opensearch/work.h"
#include "text/escape.h"

enum document { RAW, ROW, RUN, BASELINE, WORK, GONE, EPOCH };

struct one_run {
    struct pyro_run run;           /* its parts are the caller's */
    struct pyro_slice id, work;    /* ids; work: null without a lease */
    int64_t version;               /* of what the store has; PYRO_NONE: nothing */
    int64_t epoch;                 /* of what is written */
    int64_t start_ms;              /* of the run that the store has */
    int64_t seq_no, primary_term;  /* of the item of the work */
    bool known;                    /* the store has the run */
    bool over;                     /* late, or a conflict: nothing more is written */
    bool without_raw, without_agg; /* the whole document was refused */
    bool has_rows;                 /* rows of it were sent */
    bool met_raw;                  /* its raw document was written over another one */
    enum pyro_record_result *result;
};

struct recording {
    struct pyro_opensearch *store;
    struct pyro_arena arena;
    struct pyro_opensearch_bulk bulk, refused; /* refused: rows of errors */
    struct one_run *runs;
    size_t count;
};

static void end_run(struct one_run *one, enum pyro_record_result result)
{
    *one->result = result;
    one->over = true;
}

/* ---- What the store has ------------------------------------------------------------------------------------------ */

static void name_documents(struct recording *recording, const struct pyro_run *const *runs, struct pyro_strbuf *docs)
{
    const struct pyro_opensearch *store = recording->store;
    for (size_t i = 0; i < recording->count; i++) {
        struct one_run *one = &recording->runs[i];
        one->run = *runs[i];
        one->id = pyro_opensearch_run_id(&recording->arena, runs[i]->app_id, runs[i]->attempt);
        pyro_opensearch_format(
            docs, "?x{'_index':?s,'_id':?t,'_source':['start_ms','source']},{'_index':?s,'_id':?t,'_source':false}",
            i ? "," : "", store->index[PYRO_OS_AGG], one->id, store->index[PYRO_OS_RAW], one->id);
        if (!runs[i]->lease)
            continue;
        one->work = pyro_opensearch_id(&recording->arena, pyro_slice_from(runs[i]->lease->key));
        pyro_opensearch_format(docs, ",{'_index':?s,'_id':?t}", store->index[PYRO_OS_WORK], one->work);
    }
    docs->failed |= recording->arena.failed;
}

static bool is_found(const json_t *doc)
{
    return json_is_true(json_object_get(doc, "found"));
}

static void take_known(struct recording *recording, struct one_run *one, const json_t *run, const json_t *raw)
{
    const json_t *source = json_object_get(run, "_source");
    one->version = PYRO_NONE;
    one->start_ms = PYRO_NONE;
    one->known = is_found(run);
    if (one->known) {
        one->version = pyro_opensearch_int(run, "_version");
        one->start_ms = pyro_opensearch_int(source, "start_ms");
        if (!one->run.source.ptr) /* a run that is diagnosed again stays where it was found */
            one->run.source = pyro_arena_copy(&recording->arena, pyro_opensearch_text(source, "source"));
    }
    if (is_found(raw) && pyro_opensearch_int(raw, "_version") > one->version) /* a writer died behind it */
        one->version = pyro_opensearch_int(raw, "_version");
    one->epoch = one->run.lease ? one->run.lease->epoch : one->version > 0 ? one->version : 1;
}

static void take_lease(struct one_run *one, const json_t *work)
{
    const json_t *source = json_object_get(work, "_source");
    one->seq_no = pyro_opensearch_int(work, "_seq_no");
    one->primary_term = pyro_opensearch_int(work, "_primary_term");
    if (!is_found(work) || pyro_opensearch_int(source, "epoch") != one->run.lease->epoch ||
        !pyro_slice_is(pyro_opensearch_text(source, "state"), pyro_opensearch_work_state(PYRO_WORK_LEASED)))
        end_run(one, PYRO_RECORD_LATE);
}

static enum pyro_status look(struct recording *recording, const struct pyro_run *const *runs, struct pyro_error *error)
{
    struct pyro_strbuf docs;
    json_t *answer = NULL;
    pyro_strbuf_init(&docs, recording->store->allocator);
    name_documents(recording, runs, &docs);
    enum pyro_status status = docs.failed ? pyro_opensearch_no_memory(error)
                                          : pyro_opensearch_ask(recording->store, PYRO_OS_WRITES, NULL, "_mget",
                                                                &answer, error, "{'docs':[?x]}", docs.data);
    pyro_strbuf_done(&docs);
    PYRO_TRY(status);
    const json_t *found = json_object_get(answer, "docs");
    for (size_t i = 0, at = 0; i < recording->count; i++) {
        struct one_run *one = &recording->runs[i];
        take_known(recording, one, json_array_get(found, at), json_array_get(found, at + 1));
        at += 2;
        if (one->work.ptr)
            take_lease(one, json_array_get(found, at++));
        int64_t start_ms = one->run.diagnosis->app->application.start_ms;
        if (!one->over && one->start_ms != PYRO_NONE && start_ms != PYRO_NONE && one->start_ms != start_ms)
            end_run(one, PYRO_RECORD_CONFLICT);
    }
    json_decref(answer);
    return PYRO_OK;
}

/* ---- What is refused --------------------------------------------------------------------------------------------- */

enum { MOST_RAW = 1 << 20 };

static const char *kept(struct recording *recording, struct pyro_slice text)
{
    text.len = text.len < MOST_RAW ? text.len : MOST_RAW;
    return pyro_arena_copy(&recording->arena, text).ptr;
}

static enum pyro_status put_error(struct recording *recording, const struct one_run *one, const char *type,
                                  const char *message, const char *raw, struct pyro_error *error)
{
    const struct pyro_run *run = &one->run;
    const struct pyro_store_error_row row = {
        .time_ms = run->recorded_ms,
        .application = kept(recording, run->app_id),
        .attempt = kept(recording, run->attempt),
        .source = kept(recording, run->source.ptr ? run->source : run->path),
        .step = "store",
        .type = type,
        .message = message,
        .raw = raw,
        .tries = 1,
    };
    const struct pyro_opensearch_target target = {
        .index = PYRO_OS_ERR, .version = PYRO_NONE, .seq_no = PYRO_NONE, .primary_term = PYRO_NONE};
    if (!row.application || !row.attempt || !row.source || !message)
        return pyro_opensearch_no_memory(error);
    PYRO_TRY(pyro_opensearch_bulk_begin(&recording->refused, &target, 0, 0, error));
    pyro_opensearch_add_error(&row, &recording->refused.body);
    return pyro_opensearch_bulk_end(&recording->refused, error);
}

/* The document is kept as a text; what is left of the run is written without it. */
static enum pyro_status take_refusal(struct recording *recording, struct one_run *one,
                                     const struct pyro_opensearch_item *item, struct pyro_error *error)
{
    static const char *const names[] = {"the raw document",
                                        "a row",
                                        "the run",
                                        "the name",
                                        "the item of work",
                                        "the end of a row",
                                        "the epoch of the item of work"};
    bool again = (item->what == RAW && !one->without_raw) || (item->what == RUN && !one->without_agg);
    if (item->what != ROW && !again)
        return pyro_error_set(error, PYRO_ERROR_OUTPUT, "the store cannot be written: the server refuses %s: %u %.*s",
                              names[item->what], item->status, (int)(item->reason.len < 200 ? item->reason.len : 200),
                              item->reason.ptr ? item->reason.ptr : "");
    one->without_raw |= item->what == RAW;
    one->without_agg |= item->what == RUN;
    const char *message = pyro_arena_printf(&recording->arena, "the server refuses %s: %.*s: %.*s", names[item->what],
                                            (int)item->type.len, item->type.ptr ? item->type.ptr : "",
                                            (int)(item->reason.len < 1000 ? item->reason.len : 1000),
                                            item->reason.ptr ? item->reason.ptr : "")
                              .ptr;
    return put_error(recording, one, "refused", message, kept(recording, item->source), error);
}

static enum pyro_status take_answer(void *context, const struct pyro_opensearch_item *item, struct pyro_error *error)
{
    struct recording *recording = context;
    struct one_run *one = &recording->runs[item->owner];
    one->met_raw |= item->what == RAW && item->status == 200;
    if (item->status / 100 == 2 && item->what == EPOCH) {
        one->epoch = one->version;
        one->seq_no = item->seq_no;
        one->primary_term = item->primary_term;
    }
    if (item->status / 100 == 2 || (item->what == GONE && item->status == 404))
        return PYRO_OK;
    if (one->over && (item->what != GONE || item->status == 409)) /* it is of a later epoch by now */
        return PYRO_OK;
    if (item->status == 409 && one->run.lease) {
        end_run(one, PYRO_RECORD_LATE);
        return PYRO_OK;
    }
    if (item->status == 409)
        return pyro_error_set(error, PYRO_ERROR_OUTPUT,
                              "the store cannot be written: another process is recording this run; try again");
    if (item->status >= 500 || item->status == 429 || item->status == 403)
        return pyro_error_set(error, PYRO_ERROR_OUTPUT, "the store cannot be written: the server answers %u: %.*s",
                              item->status, (int)(item->reason.len < 200 ? item->reason.len : 200),
                              item->reason.ptr ? item->reason.ptr : "");
    return take_refusal(recording, one, item, error);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static enum pyro_status begin(struct recording *recording, const struct one_run *one, enum pyro_opensearch_index index,
                              struct pyro_slice id, enum document what, struct pyro_error *error)
{
    const struct pyro_opensearch_target target = {
        .index = index, .id = id, .version = one->epoch, .seq_no = PYRO_NONE, .primary_term = PYRO_NONE};
    if (!id.ptr)
        return pyro_opensearch_no_memory(error);
    return pyro_opensearch_bulk_begin(&recording->bulk, &target, (size_t)(one - recording->runs), (int)what, error);
}

/* Rows of one kind: what they say of their run is the same for all. */
struct rows {
    struct recording *recording;
    const struct one_run *one;
    enum pyro_query_from from;
    struct pyro_strbuf of_run;
};

static void begin_rows(struct rows *rows, enum pyro_query_from from)
{
    rows->from = from;
    pyro_strbuf_clear(&rows->of_run);
    pyro_compact_text(&rows->of_run, "kind", pyro_slice_from(pyro_opensearch_kind(from)));
    pyro_opensearch_add_run(&rows->one->run, rows->one->id, rows->one->epoch, from, PYRO_OS_ALL, &rows->of_run);
}

static enum pyro_status begin_row(struct rows *rows, size_t position, struct pyro_error *error)
{
    struct recording *recording = rows->recording;
    struct pyro_slice id = pyro_arena_printf(&recording->arena, "%.*s#%s.%zu", (int)rows->one->id.len,
                                             rows->one->id.ptr, pyro_opensearch_kind(rows->from), position);
    PYRO_TRY(begin(recording, rows->one, PYRO_OS_ROWS, id, ROW, error));
    pyro_strbuf_add_slice(&recording->bulk.body, pyro_strbuf_slice(&rows->of_run));
    pyro_compact_int(&recording->bulk.body, "position", (int64_t)position);
    return rows->of_run.failed ? pyro_opensearch_no_memory(error) : PYRO_OK;
}

static enum pyro_status put_kinds(struct rows *rows, struct pyro_error *error)
{
    struct recording *recording = rows->recording;
    const struct pyro_run *run = &rows->one->run;
    struct pyro_strbuf *body = &recording->bulk.body;
    begin_rows(rows, PYRO_FROM_FINDINGS);
    for (size_t i = 0; i < run->diagnosis->finding_count; i++) {
        PYRO_TRY(begin_row(rows, i, error));
        pyro_opensearch_add_finding(&run->diagnosis->findings[i], body);
        PYRO_TRY(pyro_opensearch_bulk_end(&recording->bulk, error));
    }
    begin_rows(rows, PYRO_FROM_USAGE);
    for (size_t i = 0; i < run->usage.count; i++) {
        PYRO_TRY(begin_row(rows, i, error));
        pyro_opensearch_add_usage(&run->usage.items[i], body);
        PYRO_TRY(pyro_opensearch_bulk_end(&recording->bulk, error));
    }
    begin_rows(rows, PYRO_FROM_ADVICE);
    for (size_t i = 0; i < run->advice.count; i++) {
        PYRO_TRY(begin_row(rows, i, error));
        pyro_opensearch_add_advice(&run->advice.items[i], body);
        PYRO_TRY(pyro_opensearch_bulk_end(&recording->bulk, error));
    }
    begin_rows(rows, PYRO_FROM_ALLOCATIONS);
    PYRO_TRY(begin_row(rows, 0, error));
    pyro_opensearch_add_allocation(&run->allocation, body);
    return pyro_opensearch_bulk_end(&recording->bulk, error);
}

static enum pyro_status put_rows(struct recording *recording, struct one_run *one, struct pyro_error *error)
{
    struct rows rows = {.recording = recording, .one = one};
    one->has_rows = true;
    pyro_strbuf_init(&rows.of_run, recording->store->allocator);
    enum pyro_status status = put_kinds(&rows, error);
    pyro_strbuf_done(&rows.of_run);
    return status;
}

static enum pyro_status put_raw(struct recording *recording, struct one_run *one, struct pyro_error *error)
{
    PYRO_TRY(begin(recording, one, PYRO_OS_RAW, one->id, RAW, error));
    pyro_opensearch_add_run(&one->run, one->id, one->epoch, PYRO_FROM_RUNS, PYRO_OS_COLUMNS, &recording->bulk.body);
    pyro_opensearch_add_raw(&one->run, !one->without_raw, &recording->bulk.body);
    return pyro_opensearch_bulk_end(&recording->bulk, error);
}

static enum pyro_status put_run(struct recording *recording, struct one_run *one, struct pyro_error *error)
{
    PYRO_TRY(begin(recording, one, PYRO_OS_AGG, one->id, RUN, error));
    pyro_compact_text(&recording->bulk.body, "kind", pyro_slice_from(pyro_opensearch_kind(PYRO_FROM_RUNS)));
    pyro_opensearch_add_run(&one->run, one->id, one->epoch, PYRO_FROM_RUNS,
                            one->without_agg ? PYRO_OS_COLUMNS : PYRO_OS_ALL, &recording->bulk.body);
    return pyro_opensearch_bulk_end(&recording->bulk, error);
}

static enum pyro_status put_baseline(struct recording *recording, struct one_run *one, struct pyro_error *error)
{
    const struct pyro_run *run = &one->run;
    struct pyro_slice id =
        pyro_opensearch_id(&recording->arena, pyro_arena_printf(&recording->arena, "baseline#%s", run->baseline));
    const struct pyro_opensearch_target target = {
        .index = PYRO_OS_ROWS, .id = id, .version = PYRO_NONE, .seq_no = PYRO_NONE, .primary_term = PYRO_NONE};
    if (!id.ptr)
        return pyro_opensearch_no_memory(error);
    PYRO_TRY(pyro_opensearch_bulk_begin(&recording->bulk, &target, (size_t)(one - recording->runs), BASELINE, error));
    pyro_compact_text(&recording->bulk.body, "kind", PYRO_SLICE_LITERAL("baseline"));
    pyro_compact_string(&recording->bulk.body, "id", run->baseline);
    pyro_compact_text(&recording->bulk.body, "app_id", run->app_id);
    pyro_compact_text(&recording->bulk.body, "attempt", run->attempt);
    pyro_compact_text(&recording->bulk.body, "path", run->path);
    pyro_compact_text(&recording->bulk.body, "run", one->id);
    return pyro_opensearch_bulk_end(&recording->bulk, error);
}

static enum pyro_status begin_work(struct recording *recording, const struct one_run *one, enum document what,
                                   struct pyro_error *error)
{
    const struct pyro_opensearch_target target = {.index = PYRO_OS_WORK,
                                                  .id = one->work,
                                                  .update = true,
                                                  .version = PYRO_NONE,
                                                  .seq_no = one->seq_no,
                                                  .primary_term = one->primary_term};
    return pyro_opensearch_bulk_begin(&recording->bulk, &target, (size_t)(one - recording->runs), (int)what, error);
}

static enum pyro_status put_epoch(struct recording *recording, struct one_run *one, struct pyro_error *error)
{
    PYRO_TRY(begin_work(recording, one, EPOCH, error));
    pyro_compact_int(&recording->bulk.body, "epoch", one->version);
    return pyro_opensearch_bulk_end(&recording->bulk, error);
}

static enum pyro_status put_work(struct recording *recording, struct one_run *one, struct pyro_error *error)
{
    bool conflict = *one->result == PYRO_RECORD_CONFLICT;
    PYRO_TRY(begin_work(recording, one, WORK, error));
    pyro_opensearch_work_ended(one->run.lease, conflict ? PYRO_WORK_DEAD : PYRO_WORK_DONE, &recording->bulk.body);
    return pyro_opensearch_bulk_end(&recording->bulk, error);
}

/* ---- Phases ------------------------------------------------------------------------------------------------------ */

typedef enum pyro_status put_part(struct recording *recording, struct one_run *one, struct pyro_error *error);

/* Epochs are those of items: one of another source, or of a list that was lost, may have come further with this run. */
static bool is_behind(const struct one_run *one)
{
    return !one->over && one->run.lease && one->version > one->epoch;
}

static bool goes_on(const struct one_run *one)
{
    return !one->over;
}

static bool has_baseline(const struct one_run *one)
{
    return !one->over && one->run.baseline;
}

static bool lost_raw(const struct one_run *one)
{
    return !one->over && one->without_raw;
}

static bool lost_agg(const struct one_run *one)
{
    return !one->over && one->without_agg;
}

static bool has_lease(const struct one_run *one)
{
    return one->run.lease && (!one->over || *one->result == PYRO_RECORD_CONFLICT);
}

static enum pyro_status put_all(struct recording *recording, bool (*wanted)(const struct one_run *one), put_part *put,
                                struct pyro_error *error)
{
    for (size_t i = 0; i < recording->count; i++)
        if (wanted(&recording->runs[i]))
            PYRO_TRY(put(recording, &recording->runs[i], error));
    return PYRO_OK;
}

static enum pyro_status send(struct recording *recording, struct pyro_error *error)
{
    return pyro_opensearch_bulk_send(&recording->bulk, error);
}

/* ---- What an earlier record of the run had more of --------------------------------------------------------------- */

struct deleting {
    struct recording *recording;
    const struct one_run *one;
    struct pyro_error *error;
    enum pyro_status status;
};

/* With this epoch as the version of what is no longer there, so that a later record may write it again. */
static int delete_row(void *context, const json_t *hit)
{
    struct deleting *deleting = context;
    const struct pyro_opensearch_target target = {.index = PYRO_OS_ROWS,
                                                  .id = pyro_opensearch_text(hit, "_id"),
                                                  .version = deleting->one->epoch,
                                                  .seq_no = PYRO_NONE,
                                                  .primary_term = PYRO_NONE};
    struct recording *recording = deleting->recording;
    deleting->status = pyro_opensearch_bulk_delete(&recording->bulk, &target, (size_t)(deleting->one - recording->runs),
                                                   GONE, deleting->error);
    return deleting->status != PYRO_OK;
}

/* Raw documents are written first: where there was none, no writer began to write rows. */
static bool may_have_rows(const struct one_run *one)
{
    return !one->over && (one->version != PYRO_NONE || one->met_raw);
}

/* A faster writer may have looked for older rows before these came. */
static bool left_rows(const struct one_run *one)
{
    return one->over && one->has_rows;
}

static enum pyro_status delete_older(struct recording *recording, struct one_run *one, struct pyro_error *error)
{
    struct deleting deleting = {.recording = recording, .one = one, .error = error};
    PYRO_TRY(pyro_opensearch_each(
        recording->store, PYRO_OS_ROWS, delete_row, &deleting, error,
        "{'query':{'bool':{'filter':[{'term':{'run':?t}},{'exists':{'field':'epoch'}}],'minimum_should_match':1,"
        "'should':[{'range':{'epoch':{'lt':?i}}},{'bool':{'filter':[{'term':{'epoch':?i}},"
        "{'range':{'recorded_ms':{'lt':?i}}}]}}]}},'_source':false,'sort':['_seq_no']}",
        one->id, one->epoch, one->epoch, one->run.recorded_ms));
    return deleting.status;
}

/* Of a run that came too late: only what is of its own epoch or an older one; versions keep what is of later ones. */
static enum pyro_status delete_own(struct recording *recording, struct one_run *one, struct pyro_error *error)
{
    struct deleting deleting = {.recording = recording, .one = one, .error = error};
    PYRO_TRY(pyro_opensearch_each(recording->store, PYRO_OS_ROWS, delete_row, &deleting, error,
                                  "{'query':{'bool':{'filter':[{'term':{'run':?t}},{'range':{'epoch':{'lte':?i}}}]}},"
                                  "'_source':false,'sort':['_seq_no']}",
                                  one->id, one->epoch));
    return deleting.status;
}

static enum pyro_status delete_rows(struct recording *recording, bool (*wanted)(const struct one_run *one),
                                    put_part *put, struct pyro_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < recording->count; i++)
        count += wanted(&recording->runs[i]);
    if (count == 0)
        return PYRO_OK;
    PYRO_TRY(pyro_opensearch_refresh(recording->store, recording->store->index[PYRO_OS_ROWS], error));
    PYRO_TRY(put_all(recording, wanted, put, error));
    return pyro_opensearch_bulk_send(&recording->bulk, error);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static enum pyro_status write_conflicts(struct recording *recording, struct pyro_error *error)
{
    for (size_t i = 0; i < recording->count; i++)
        if (*recording->runs[i].result == PYRO_RECORD_CONFLICT)
            PYRO_TRY(put_error(recording, &recording->runs[i], "id-conflict",
                               "the store has another run of this application and attempt, which started at another "
                               "time",
                               NULL, error));
    return PYRO_OK;
}

/* Two crawlers may write two attempts at the same time: the later one of them sees both. Where the cluster manager
 * gives no attempts, there is hardly ever a second one, and what searches show a second later is good enough. */
static enum pyro_status mark_final_attempts(struct recording *recording, struct pyro_error *error)
{
    struct pyro_opensearch *store = recording->store;
    bool attempts = false;
    for (size_t i = 0; i < recording->count; i++)
        attempts |= !recording->runs[i].over && recording->runs[i].run.attempt.len > 0;
    if (attempts)
        PYRO_TRY(pyro_opensearch_refresh(store, store->index[PYRO_OS_AGG], error));
    for (size_t i = 0; i < recording->count; i++)
        if (!recording->runs[i].over)
            PYRO_TRY(pyro_opensearch_mark_final(store, recording->runs[i].run.app_id, error));
    return PYRO_OK;
}

static enum pyro_status write_all(struct recording *recording, const struct pyro_run *const *runs,
                                  struct pyro_error *error)
{
    PYRO_TRY(look(recording, runs, error));
    PYRO_TRY(put_all(recording, is_behind, put_epoch, error));
    PYRO_TRY(send(recording, error));
    PYRO_TRY(put_all(recording, goes_on, put_raw, error));
    PYRO_TRY(send(recording, error));
    PYRO_TRY(put_all(recording, lost_raw, put_raw, error));
    PYRO_TRY(send(recording, error));
    PYRO_TRY(put_all(recording, goes_on, put_rows, error));
    PYRO_TRY(send(recording, error));
    PYRO_TRY(delete_rows(recording, may_have_rows, delete_older, error));
    PYRO_TRY(put_all(recording, goes_on, put_run, error));
    PYRO_TRY(send(recording, error));
    PYRO_TRY(put_all(recording, lost_agg, put_run, error));
    PYRO_TRY(put_all(recording, has_baseline, put_baseline, error));
    PYRO_TRY(send(recording, error));
    PYRO_TRY(delete_rows(recording, left_rows, delete_own, error));
    PYRO_TRY(mark_final_attempts(recording, error));
    PYRO_TRY(write_conflicts(recording, error));
    PYRO_TRY(pyro_opensearch_bulk_send(&recording->refused, error));
    PYRO_TRY(put_all(recording, has_lease, put_work, error));
    return send(recording, error);
}

enum pyro_status pyro_opensearch_record(void *state, const struct pyro_run *const *runs, size_t count,
                                        enum pyro_record_result *results, struct pyro_error *error)
{
    struct recording recording = {.store = state, .count = count};
    pyro_arena_init(&recording.arena, recording.store->allocator);
    pyro_opensearch_bulk_init(&recording.bulk, state);
    pyro_opensearch_bulk_init(&recording.refused, state);
    recording.bulk.take = take_answer;
    recording.bulk.context = &recording;
    recording.runs = pyro_arena_array(&recording.arena, count ? count : 1, sizeof(*recording.runs));
    enum pyro_status status = PYRO_OK;
    for (size_t i = 0; i < count && recording.runs; i++) {
        results[i] = PYRO_RECORD_KEPT;
        recording.runs[i].result = &results[i];
    }
    if (!recording.runs)
        status = pyro_opensearch_no_memory(error);
    else if (count)
        status = write_all(&recording, runs, error);
    if (status != PYRO_OK)
        pyro_error_at(error, recording.store->label, UINT64_MAX);
    pyro_opensearch_bulk_done(&recording.bulk);
    pyro_opensearch_bulk_done(&recording.refused);
    pyro_arena_done(&recording.arena);
    return status;
}
