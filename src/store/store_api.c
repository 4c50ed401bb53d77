/* The store functions of pyrometer.h: which backend, and what is kept without secrets. */
#include <string.h>

#include "base/memory/allocator.h"
#include "base/options.h"
#include "source/http/http.h"
#include "store/clean.h"
#include "store/handle.h"

static const struct pyro_backend *const backends[] = {
#define PYRO_BACKEND(name) &pyro_backend_##name,
#include "store/backends.def"
#undef PYRO_BACKEND
};

static const struct pyro_backend *backend_of(const char *url)
{
    const char *colon = url ? strchr(url, ':') : NULL;
    for (size_t i = 0; colon && i < sizeof(backends) / sizeof(backends[0]); i++)
        if (pyro_slice_is((struct pyro_slice){url, (size_t)(colon - url)}, backends[i]->scheme))
            return backends[i];
    return NULL;
}

void pyro_store_add_label(const char *url, struct pyro_strbuf *to)
{
    if (strstr(url, "://"))
        pyro_http_label(url, to);
    else
        pyro_strbuf_add_text(to, url);
}

/* The same in the arena; NULL: no memory. */
static const char *label_of(const char *url, struct pyro_arena *arena)
{
    struct pyro_strbuf label;
    pyro_strbuf_init(&label, arena->allocator);
    pyro_store_add_label(url, &label);
    const char *copy = label.failed ? NULL : pyro_arena_copy(arena, pyro_strbuf_slice(&label)).ptr;
    pyro_strbuf_done(&label);
    return copy;
}

static enum pyro_status not_a_store(const char *url, struct pyro_error *error)
{
    struct pyro_arena arena;
    pyro_arena_init(&arena, NULL);
    const char *label = label_of(url ? url : "", &arena);
    pyro_error_describe(error, PYRO_ERROR_ARGUMENT,
                        "'%.200s' is not a store; give sqlite:FILE or opensearch:https://HOST:9200/PREFIX",
                        label ? label : "");
    pyro_arena_done(&arena);
    return PYRO_ERROR_ARGUMENT;
}

static enum pyro_status open_url(const char *url, bool writes, const struct pyro_allocator *allocator,
                                 enum pyro_redaction redaction, pyro_store **ret, struct pyro_error *error)
{
    const struct pyro_backend *backend = backend_of(url);
    if (!backend || !ret)
        return not_a_store(url, error);
    struct pyro_store *store = pyro_allocate(allocator, sizeof(*store));
    if (!store)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for a store");
    *store = (struct pyro_store){.allocator = allocator, .backend = backend, .secrets.how = redaction};
    enum pyro_status status = backend->open(pyro_store_place(url), writes, allocator, &store->state, error);
    if (status != PYRO_OK) {
        pyro_release(allocator, store);
        return status;
    }
    pyro_arena_init(&store->arena, allocator);
    store->label = label_of(url, &store->arena);
    if (!store->label) {
        pyro_store_close(store);
        return pyro_no_memory(error);
    }
    *ret = store;
    return PYRO_OK;
}

enum pyro_status pyro_store_open(const char *url, const struct pyro_store_options *wanted,
                                 const struct pyro_options *options, pyro_store **ret, struct pyro_error *error)
{
    pyro_error_clear(error);
    struct pyro_options own;
    struct pyro_store_options how = {.size = sizeof(how)};
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    PYRO_TRY(PYRO_TAKE(&how, wanted, error));
    return open_url(url, !how.read_only, own.allocator, how.redaction, ret, error);
}

void pyro_store_close(pyro_store *store)
{
    if (!store)
        return;
    store->backend->close(store->state);
    pyro_arena_done(&store->arena);
    pyro_secrets_done(&store->secrets);
    pyro_release(store->allocator, store);
}

static enum pyro_status id_conflict(const pyro_store *store, const struct pyro_run *run, struct pyro_error *error)
{
    pyro_error_describe(
        error, PYRO_ERROR_OUTPUT,
        "id-conflict: the store has another run of application '%.*s', which started at another time and was "
        "not overwritten; use another store for one of them",
        (int)(run->app_id.len < 200 ? run->app_id.len : 200), run->app_id.ptr);
    pyro_error_at(error, store->label, UINT64_MAX);
    return PYRO_ERROR_OUTPUT;
}

enum pyro_status pyro_store_record(pyro_store *store, const pyro_diagnosis *diagnosis, const char *baseline,
                                   struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!store || !diagnosis || (baseline && !*baseline))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "the store or the diagnosis is missing, or the name is empty");
    struct pyro_run run;
    enum pyro_status status =
        pyro_run_make(diagnosis, &(const struct pyro_run_origin){.baseline = baseline}, &run, error);
    const struct pyro_run *const runs[] = {&run};
    enum pyro_record_result result = PYRO_RECORD_KEPT;
    if (status == PYRO_OK)
        status = store->backend->record(store->state, runs, 1, &result, error);
    if (status == PYRO_OK && result == PYRO_RECORD_CONFLICT)
        status = id_conflict(store, &run, error);
    pyro_run_done(&run);
    return status;
}

/* What callers give may quote a log. */
static bool clean_text(pyro_store *store, const char **text)
{
    *text = pyro_store_clean_text(&store->secrets, pyro_slice_from(*text), &store->arena).ptr;
    return *text != NULL;
}

enum pyro_status pyro_store_record_error(pyro_store *store, const char *application, const char *step, const char *type,
                                         const char *message, const char *raw, struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!store || !application || !step || !type || !message)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "only the raw text may be missing");
    const char *texts[] = {application, message, raw};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (texts[i] && !clean_text(store, &texts[i]))
            return pyro_no_memory(error);
    const struct pyro_store_error_row row = {.time_ms = pyro_store_now_ms(),
                                             .application = texts[0],
                                             .step = step,
                                             .type = type,
                                             .message = texts[1],
                                             .raw = texts[2],
                                             .tries = 1};
    return store->backend->record_error(store->state, &row, error);
}

/* Kept before this version: secrets that it would have hidden may be in it. */
static enum pyro_status clean_baseline(pyro_store *store, struct pyro_baseline *baseline, struct pyro_error *error)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, store->allocator);
    struct pyro_slice before = pyro_slice_from(baseline->report),
                      shown = pyro_store_clean_json(&store->secrets, before, &text);
    if (shown.ptr != before.ptr)
        baseline->report = text.failed ? NULL : pyro_arena_copy(&store->arena, shown).ptr;
    pyro_strbuf_done(&text);
    return baseline->report ? PYRO_OK : pyro_no_memory(error);
}

enum pyro_status pyro_store_baseline(pyro_store *store, const char *name, struct pyro_baseline *ret,
                                     struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!store || !name || !ret)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the store or the name is missing");
    uint64_t key = 0;
    struct pyro_baseline found = {.size = sizeof(found)};
    PYRO_TRY(store->backend->baseline(store->state, name, &store->arena, &found, &key, error));
    if (found.report && !pyro_store_is_clean(key, store->secrets.how))
        PYRO_TRY(clean_baseline(store, &found, error));
    return PYRO_GIVE(ret, &found) == PYRO_OK ? PYRO_OK : pyro_struct_refused("pyro_baseline", error);
}

/* Names of runs, whenever they were kept, as this version shows them: they are compared with those of logs. */
struct shown_runs {
    pyro_store *store;
    int (*take_past)(void *context, const struct pyro_past_run *run);
    int (*take_stored)(void *context, const struct pyro_stored_run *run);
    void *context;
    struct pyro_arena arena; /* texts of one run */
    bool failed;
};

static void show_text(struct shown_runs *runs, struct pyro_slice *text)
{
    if (!text->ptr)
        return;
    *text = pyro_store_clean_text(&runs->store->secrets, *text, &runs->arena);
    runs->failed |= !text->ptr;
}

static enum pyro_status end_runs(struct shown_runs *runs, enum pyro_status status, struct pyro_error *error)
{
    pyro_arena_done(&runs->arena);
    return status == PYRO_OK && runs->failed ? pyro_no_memory(error) : status;
}

static int take_past_run(void *context, const struct pyro_past_run *run)
{
    struct shown_runs *runs = context;
    struct pyro_past_run shown = *run;
    struct pyro_slice application = pyro_slice_from(run->application);
    pyro_arena_reset(&runs->arena);
    show_text(runs, &application);
    shown.application = application.ptr;
    return runs->failed ? 1 : runs->take_past(runs->context, &shown);
}

enum pyro_status pyro_store_each_run(pyro_store *store, int (*take)(void *context, const struct pyro_past_run *run),
                                     void *context, struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!store || !take)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the store or the function is missing");
    struct shown_runs runs = {.store = store, .take_past = take, .context = context};
    pyro_arena_init(&runs.arena, store->allocator);
    return end_runs(&runs, store->backend->each_run(store->state, take_past_run, &runs, error), error);
}

/* ---- For the server -----------------------------------------------------------------------------------------------
 */

bool pyro_store_is_url(const char *text)
{
    return backend_of(text) != NULL;
}

bool pyro_store_has_file(const char *url)
{
    return backend_of(url) == &pyro_backend_sqlite;
}

const char *pyro_store_place(const char *url)
{
    return strchr(url, ':') + 1;
}

enum pyro_status pyro_store_open_to_read(const char *url, pyro_store **ret, struct pyro_error *error)
{
    return open_url(url, false, NULL, PYRO_REDACT_WIDE, ret, error);
}

static int take_stored_run(void *context, const struct pyro_stored_run *run)
{
    struct shown_runs *runs = context;
    struct pyro_stored_run shown = *run;
    /* Not the ids, by which it is asked for. */
    struct pyro_slice *const texts[] = {&shown.name, &shown.user, &shown.spark_version, &shown.status, &shown.outcome};
    pyro_arena_reset(&runs->arena);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        show_text(runs, texts[i]);
    return runs->failed ? 1 : runs->take_stored(runs->context, &shown);
}

enum pyro_status pyro_store_each_stored(pyro_store *store,
                                        int (*take)(void *context, const struct pyro_stored_run *run), void *context,
                                        struct pyro_error *error)
{
    struct shown_runs runs = {.store = store, .take_stored = take, .context = context};
    pyro_arena_init(&runs.arena, store->allocator);
    return end_runs(&runs, store->backend->each_stored(store->state, take_stored_run, &runs, error), error);
}

enum pyro_status pyro_store_report(pyro_store *store, struct pyro_slice app_id, struct pyro_slice attempt,
                                   struct pyro_strbuf *out, struct pyro_error *error)
{
    struct pyro_strbuf text;
    uint64_t key = 0;
    pyro_strbuf_init(&text, store->allocator);
    enum pyro_status status = store->backend->report(store->state, app_id, attempt, &text, &key, error);
    struct pyro_slice shown = pyro_strbuf_slice(&text);
    struct pyro_strbuf clean;
    pyro_strbuf_init(&clean, store->allocator);
    if (status == PYRO_OK && !pyro_store_is_clean(key, store->secrets.how))
        shown = pyro_store_clean_json(&store->secrets, shown, &clean);
    if (status == PYRO_OK)
        pyro_strbuf_add_slice(out, shown);
    if (status == PYRO_OK && (clean.failed || out->failed))
        status = pyro_no_memory(error);
    pyro_strbuf_done(&text);
    pyro_strbuf_done(&clean);
    return status;
}

enum pyro_status pyro_store_put_suggestion(pyro_store *store, const struct pyro_suggestion_row *row,
                                           struct pyro_error *error)
{
    return store->backend->put_suggestion(store->state, row, error);
}

int64_t pyro_store_state(pyro_store *store)
{
    return store->backend->state(store->state);
}

/* ---- For crawlers ------------------------------------------------------------------------------------------------ */

const struct pyro_work_backend *pyro_store_work(pyro_store *store, void **ret_state)
{
    *ret_state = store->state;
    return store->backend->work;
}

enum pyro_status pyro_store_record_runs(pyro_store *store, const struct pyro_run *const *runs, size_t count,
                                        enum pyro_record_result *results, struct pyro_error *error)
{
    return store->backend->record(store->state, runs, count, results, error);
}

bool pyro_store_clean_error(pyro_store *store, struct pyro_store_error_row *row, struct pyro_arena *arena)
{
    const char **const texts[] = {&row->application, &row->message, &row->raw};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (!*texts[i])
            continue;
        *texts[i] = pyro_store_clean_text(&store->secrets, pyro_slice_from(*texts[i]), arena).ptr;
        if (!*texts[i])
            return false;
    }
    return true;
}

enum pyro_status pyro_store_add_error(pyro_store *store, const struct pyro_store_error_row *row,
                                      struct pyro_error *error)
{
    return store->backend->record_error(store->state, row, error);
}

enum pyro_status pyro_store_add_cluster(pyro_store *store, const struct pyro_cluster_row *rows, size_t count,
                                        struct pyro_error *error)
{
    return store->backend->add_cluster(store->state, rows, count, error);
}

/* ---- Feedback ---------------------------------------------------------------------------------------------------- */

enum pyro_status pyro_store_add_feedback(pyro_store *store, const struct pyro_feedback *given, struct pyro_error *error)
{
    struct pyro_feedback own = {.size = sizeof(own)}, *feedback = &own;
    pyro_error_clear(error);
    PYRO_TRY(PYRO_TAKE(&own, given, error));
    if (!store || !given || !pyro_feedback_name(feedback->verdict))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the store is missing, or the feedback is incomplete");
    bool missed = feedback->verdict == PYRO_FEEDBACK_MISSED;
    if (missed ? !feedback->application || (!feedback->rule && !feedback->note) : !feedback->finding)
        return pyro_error_set(
            error, PYRO_ERROR_ARGUMENT,
            "a missed problem needs its application and a rule or a note; other verdicts need a finding");
    if (feedback->rule && !pyro_rule_find(feedback->rule))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "there is no rule '%.100s'", feedback->rule);
    struct pyro_verdict_row row = {
        .time_ms = pyro_store_now_ms(),
        .verdict = feedback->verdict,
        .application = feedback->application,
        .finding = missed ? "" : feedback->finding,
        .rule = feedback->rule ? feedback->rule : "",
        .note = feedback->note ? feedback->note : "",
    };
    if (!clean_text(store, &row.note) || (missed && !clean_text(store, &row.application)))
        return pyro_no_memory(error);
    if (!missed)
        PYRO_TRY(store->backend->find_finding(store->state, feedback->application, feedback->finding, &store->arena,
                                              &row, error));
    return store->backend->add_verdict(store->state, &row, error);
}

struct visit {
    int (*take)(void *context, const struct pyro_feedback *feedback);
    void *context;
};

static int visit(void *context, const struct pyro_verdict_row *row)
{
    const struct visit *to = context;
    struct pyro_feedback feedback = {
        .size = sizeof(feedback),
        .verdict = row->verdict,
        .application = row->application,
        .finding = *row->finding ? row->finding : NULL,
        .rule = *row->rule ? row->rule : NULL,
        .note = *row->note ? row->note : NULL,
    };
    return to->take(to->context, &feedback);
}

enum pyro_status pyro_store_each_feedback(pyro_store *store,
                                          int (*take)(void *context, const struct pyro_feedback *feedback),
                                          void *context, struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!store || !take)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the store or the function is missing");
    struct visit to = {take, context};
    return store->backend->each_verdict(store->state, visit, &to, error);
}
