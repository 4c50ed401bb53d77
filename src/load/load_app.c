/* A log's batches into the columns of an application. */
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "base/memory/allocator.h"
#include "decode/artefact_guess.h"
#include "decode/artefact_kinds.h"
#include "decode/builder.h"
#include "decode/sparkview/listener.h"
#include "load/load.h"
#include "load/logged/logged.h"
#include "source/discovery/walk.h"

struct target {
    struct pyro_builder builder;
    struct pyro_listener listener; /* where `with_history` */
    bool with_history, damaged;
    bool piped;              /* standard input, which cannot be read again to see what it is: */
    struct pyro_strbuf head; /* the first lines that are not events */
};

/* What a History Server forgets by default; tasks nevertheless count in their stage. */
static const struct pyro_retained_limits spark_defaults = {
    .size = sizeof(spark_defaults), .jobs = 1000, .stages = 1000, .executions = 1000, .dead_executors = 100};

static bool begin_part(void *context, struct pyro_slice path)
{
    struct target *target = context;
    return pyro_builder_begin_part(&target->builder, path);
}

/* Keeps lines that are not events, until there are enough to say what they look like. */
static bool keep_head(struct target *target, const struct pyro_batch *batch)
{
    for (size_t i = 0; i < batch->records.count && target->head.len < PYRO_ARTEFACT_HEAD; i++) {
        const struct pyro_record *record = &batch->records.items[i];
        if (record->kind != PYRO_RECORD_REJECT)
            continue;
        pyro_strbuf_add_slice(&target->head, record->text);
        pyro_strbuf_add_char(&target->head, '\n');
    }
    return !target->head.failed;
}

static bool apply(void *context, const struct pyro_batch *batch)
{
    struct target *target = context;
    return (!target->piped || keep_head(target, batch)) && pyro_builder_apply(&target->builder, batch) &&
           (!target->with_history || pyro_listener_apply(&target->listener, batch));
}

static bool reject_long(void *context, uint64_t len)
{
    struct target *target = context;
    return pyro_builder_reject_long(&target->builder, len);
}

static bool note_damage(void *context, const char *damage)
{
    struct target *target = context;
    char note[512];
    target->damaged = true;
    snprintf(note, sizeof(note), "%s: %s after %llu bytes of text", target->builder.part_path.ptr, damage,
             (unsigned long long)target->builder.part_offset);
    return pyro_app_note(target->builder.app, pyro_slice_from(note));
}

bool pyro_log_guess(const struct pyro_log *log, struct pyro_guess *ret)
{
    struct pyro_error refused = {.size = sizeof(refused)};
    size_t len = 0;
    if (log->part_count != 1 || pyro_slice_is(log->path, "-"))
        return false;
    char *head = pyro_allocate(NULL, PYRO_ARTEFACT_HEAD);
    bool guessed = head && pyro_part_head(&log->parts[0], NULL, head, PYRO_ARTEFACT_HEAD, &len, &refused) == PYRO_OK &&
                   pyro_artefact_guess((struct pyro_slice){head, len}, len < PYRO_ARTEFACT_HEAD, ret);
    pyro_release(NULL, head);
    return guessed;
}

/* Without any event: what the file is instead. */
static enum pyro_status refuse(const struct target *target, const struct pyro_log *log, struct pyro_error *error)
{
    const struct pyro_integrity *integrity = &target->builder.app->integrity;
    struct pyro_guess guess;
    bool guessed = target->piped ? pyro_artefact_guess(pyro_strbuf_slice(&target->head),
                                                       target->head.len < PYRO_ARTEFACT_HEAD, &guess)
                                 : pyro_log_guess(log, &guess);
    if (integrity->bytes == 0)
        pyro_error_describe(error, PYRO_ERROR_INPUT,
                            "the file is empty: Spark has not written an event yet, or this is not an event log");
    else if (guessed && guess.of_run)
        pyro_error_describe(
            error, PYRO_ERROR_INPUT, "this is %s%s", guess.text,
            target->piped && !guess.from_pipe ? ". Save it first: of standard input only event logs are read" : "");
    else
        pyro_error_describe(error, PYRO_ERROR_INPUT,
                            "this is not a Spark event log: none of its %llu lines has a Spark event%s%s",
                            (unsigned long long)integrity->lines, guessed ? "; it is " : "", guessed ? guess.text : "");
    pyro_error_at(error, log->path.ptr, UINT64_MAX);
    return pyro_error_lasts(error, PYRO_ERROR_INPUT);
}

/* When its last part was changed, in ms since 1970; PYRO_NONE: it is not a file. */
static int64_t modified_ms(const struct pyro_log *log)
{
    const struct pyro_log_part *last = log->part_count ? &log->parts[log->part_count - 1] : NULL;
    struct stat status;
    if (!last || !last->path.ptr || stat(last->path.ptr, &status) != 0 || !S_ISREG(status.st_mode))
        return PYRO_NONE;
    return (int64_t)status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1000000;
}

void pyro_load_say_stale(struct pyro_app *app, int64_t changed_ms, int64_t stale_ms)
{
    enum pyro_run_outcome outcome = pyro_run_outcome_read(app->application.outcome);
    if (outcome == PYRO_RUN_RUNNING)
        app->application.outcome = pyro_slice_from(pyro_run_outcome_name(pyro_run_outcome_now(
            outcome, changed_ms, (int64_t)time(NULL) * 1000, stale_ms ? stale_ms : PYRO_STALE_MS)));
}

static enum pyro_status finish(struct target *target, const struct pyro_log *log, struct pyro_app **ret,
                               struct pyro_error *error)
{
    if (pyro_builder_known_events(&target->builder) == 0)
        return refuse(target, log, error);
    PYRO_TRY(pyro_builder_check_single(&target->builder, error));
    PYRO_TRY(pyro_builder_require_application(&target->builder, log->path.ptr, error));
    const struct pyro_log_facts facts = {
        .in_progress = log->in_progress,
        .compacted = log->compacted,
        .damaged = target->damaged,
        .missing_parts = log->missing_parts,
    };
    return pyro_builder_finish(&target->builder, &facts, false, ret, error);
}

static enum pyro_status begin_history(struct target *target, const struct pyro_load_settings *options,
                                      struct pyro_error *error)
{
    bool ok = pyro_listener_init(&target->listener, false, &spark_defaults, options->redaction);
    target->listener.brief = true;
    return ok ? PYRO_OK : pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left to build the application");
}

void pyro_load_show(struct pyro_app *app, struct pyro_history *history, const struct pyro_log *log)
{
    const struct pyro_application_row *row = &app->application;
    bool completed = history->end_ms >= 0 && !log->in_progress;
    int64_t changed_ms = modified_ms(log);
    app->history = history;
    app->listed = (struct pyro_attempt){
        .app_id = row->id,
        .attempt_id = row->attempt,
        .name = row->name,
        .user = row->user,
        .version = row->spark_version.ptr ? row->spark_version : PYRO_SLICE_LITERAL(""),
        .start_ms = history->start_ms,
        .end_ms = completed ? history->end_ms : -1,
        .completed = completed,
        .modified_ms = changed_ms != PYRO_NONE ? changed_ms : 0,
        .outcome = pyro_run_outcome_read(row->outcome),
        .last_event_ms = -1,
    };
}

/* The listener's history, as far as the log goes. */
static enum pyro_status give_history(struct target *target, const struct pyro_log *log, struct pyro_app *app,
                                     struct pyro_error *error)
{
    struct pyro_history *history = pyro_listener_take(&target->listener);
    if (!history)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left to build the application");
    pyro_load_show(app, history, log);
    return PYRO_OK;
}

enum pyro_status pyro_load_log(const struct pyro_log *log, const struct pyro_load_settings *options,
                               struct pyro_app **ret, struct pyro_error *error)
{
    if (log->layout == PYRO_LAYOUT_LOGS)
        return pyro_logged_load(log, options, ret, error);
    struct target target = {.with_history = options->history,
                            .piped = log->part_count == 1 && pyro_slice_is(log->path, "-")};
    const struct pyro_load_sink sink = {
        .context = &target,
        .wanted = (options->wanted & (PYRO_BATCH_HISTORY - 1)) | (options->history ? PYRO_BATCH_HISTORY : 0),
        .begin_part = begin_part,
        .apply = apply,
        .reject_long = reject_long,
        .note_damage = note_damage,
    };
    PYRO_TRY(pyro_builder_init(&target.builder, options->allocator, options->wanted, options->redaction, error));
    pyro_strbuf_init(&target.head, options->allocator);
    struct pyro_app *app = NULL;
    enum pyro_status status = target.with_history ? begin_history(&target, options, error) : PYRO_OK;
    if (status == PYRO_OK)
        status = pyro_load_batches(log, options, &sink, error);
    struct pyro_stopwatch begun = pyro_phase_begin(&options->phases);
    if (status == PYRO_OK)
        status = finish(&target, log, &app, error);
    if (app && status == PYRO_OK)
        pyro_load_say_stale(app, modified_ms(log), options->stale_ms);
    if (app && status == PYRO_OK && target.with_history)
        status = give_history(&target, log, app, error);
    pyro_builder_done(&target.builder);
    pyro_strbuf_done(&target.head);
    if (target.with_history)
        pyro_listener_done(&target.listener);
    pyro_phase_end(&options->phases, &begun, "finish", 1);
    if (status != PYRO_OK) {
        pyro_app_release(app);
        return status;
    }
    *ret = app;
    return PYRO_OK;
}
