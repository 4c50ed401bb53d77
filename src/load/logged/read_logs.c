/* The text logs of an application: intervals of its timeline, and what else its lines say of executors, stages and lost
 * tasks. */
#include <stdlib.h>

#include "base/collections/hash.h"
#include "base/threads/cpu_meter.h"
#include "decode/logs/named_task.h"
#include "decode/logs/records/record_reader.h"
#include "load/logged/logged.h"
#include "model/column.h"
#include "source/discovery/names.h"

enum { REASON_READ = 64 << 10 };

/* One file. */
struct reading {
    struct pyro_logged *logged;
    const struct pyro_artefact_source *source;
    struct pyro_log_file *known; /* stays where it is: the timeline distinguishes files by it */
};

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

struct pyro_logged_executor *pyro_logged_executor(struct pyro_logged *logged, struct pyro_slice id, bool add)
{
    uint64_t key = pyro_hash_slice(id), *row = pyro_map_get(&logged->executor_rows, key);
    if (row)
        return &logged->executors.items[*row - 1];
    if (!add)
        return NULL;
    struct pyro_logged_executor *added = pyro_vec_push(&logged->executors, logged->allocator);
    row = added ? pyro_map_put(&logged->executor_rows, key, NULL) : NULL;
    struct pyro_slice copy = row ? pyro_arena_copy(&logged->arena, id) : PYRO_SLICE_NULL;
    if (!copy.ptr) {
        logged->failed = true;
        return NULL;
    }
    *row = logged->executors.count;
    *added = (struct pyro_logged_executor){
        .id = copy, .first_ms = PYRO_NONE, .lost_ms = PYRO_NONE, .registered_ms = PYRO_NONE};
    return added;
}

uint64_t pyro_logged_attempt_key(int64_t id, int64_t attempt)
{
    return pyro_hash_mix(pyro_hash_mix((uint64_t)id) ^ (uint64_t)attempt);
}

const struct pyro_logged_stage *pyro_logged_stage(const struct pyro_logged *logged, int64_t id, int64_t attempt)
{
    const uint64_t *row = pyro_map_get(&logged->attempt_rows, pyro_logged_attempt_key(id, attempt));
    return row ? &logged->stages.items[*row - 1] : NULL;
}

static void keep(struct pyro_logged *logged, struct pyro_slice *to, struct pyro_slice text, size_t most)
{
    *to = pyro_arena_copy(&logged->arena, text.len > most ? (struct pyro_slice){text.ptr, most} : text);
    logged->failed |= !to->ptr;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static struct pyro_slice behind(struct pyro_slice text, size_t head)
{
    return head < text.len ? (struct pyro_slice){text.ptr + head, text.len - head} : PYRO_SLICE_LITERAL("");
}

static struct pyro_slice first_line(struct pyro_slice text)
{
    const char *newline = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
    return newline ? (struct pyro_slice){text.ptr, (size_t)(newline - text.ptr)} : text;
}

/* Behind the first `words` of a text; null without them. */
static struct pyro_slice after(struct pyro_slice text, const char *words)
{
    const char *at = pyro_slice_find(text, words);
    return at ? behind(text, (size_t)(at - text.ptr) + strlen(words)) : PYRO_SLICE_NULL;
}

/* "Lost executor 1 on host-2: Command exited with code 137" */
static void read_lost_executor(struct pyro_logged *logged, const struct pyro_log_record *record)
{
    static const char words[] = "Lost executor ";
    struct pyro_slice text = first_line(record->message);
    struct pyro_slice id = behind(text, sizeof(words) - 1);
    const char *on = pyro_slice_find(id, " on ");
    if (!pyro_slice_starts_with(text, words) || !on)
        return;
    struct pyro_slice host = after(id, " on ");
    id.len = (size_t)(on - id.ptr);
    struct pyro_slice reason = after(host, ": ");
    struct pyro_logged_executor *row = id.len > 0 && reason.ptr ? pyro_logged_executor(logged, id, true) : NULL;
    if (!row || row->lost_ms != PYRO_NONE)
        return;
    row->lost_ms = record->time_ms;
    keep(logged, &row->reason, reason, PYRO_LOGGED_REASON_BYTES);
    if (!row->host.ptr)
        keep(logged, &row->host, (struct pyro_slice){host.ptr, (size_t)(reason.ptr - host.ptr) - 2}, 255);
}

/* "Registered executor NettyRpcEndpointRef(spark-client://Executor) (host:35833) with ID 1,  ResourceProfileId 0" of
 * the driver, "Successfully registered with driver" of the executor. */
static void read_registered(struct pyro_logged *logged, const struct pyro_log_file *file,
                            const struct pyro_log_record *record)
{
    struct pyro_slice text = first_line(record->message), id = PYRO_SLICE_NULL;
    if (pyro_slice_starts_with(text, "Successfully registered with driver")) {
        id = file->executor;
    } else if (pyro_slice_starts_with(text, "Registered executor ")) {
        id = after(text, " with ID ");
        const char *end = id.ptr ? memchr(id.ptr, ',', id.len) : NULL;
        id.len = end ? (size_t)(end - id.ptr) : id.len;
    }
    struct pyro_logged_executor *row =
        id.len > 0 && !pyro_slice_is(id, "driver") ? pyro_logged_executor(logged, id, true) : NULL;
    if (row && row->registered_ms == PYRO_NONE)
        row->registered_ms = record->time_ms;
}

/* Where the driver counts equal failures: "CLASS (MESSAGE) [duplicate 1]" is "CLASS: MESSAGE". */
static struct pyro_slice plain_reason(struct pyro_logged *logged, struct pyro_slice text)
{
    const char *end = pyro_slice_find(text, ") [duplicate "), *open = pyro_slice_find(first_line(text), " (");
    if (!end || !open || open + 2 > end)
        return text;
    return pyro_arena_printf(&logged->arena, "%.*s: %.*s", (int)(open - text.ptr), text.ptr, (int)(end - open) - 2,
                             open + 2);
}

/* "Lost task 0.1 in stage 5.0 (TID 18) (host executor 0): java.lang.RuntimeException: ...", "... (TID 18) on host,
 * executor 0: java.lang.RuntimeException (...) [duplicate 1]": why. */
static void read_lost_task(struct pyro_logged *logged, struct pyro_slice message)
{
    struct pyro_log_task task;
    if (!pyro_slice_starts_with(message, "Lost task ") || !pyro_log_task_read(message, &task) ||
        logged->reasons.count >= PYRO_LOGGED_REASONS)
        return;
    struct pyro_slice reason = after(behind(message, task.end), ": ");
    uint64_t *row = reason.len > 0 ? pyro_map_put(&logged->reason_rows, (uint64_t)task.tid, NULL) : NULL;
    if (!reason.len)
        return;
    struct pyro_slice *added = row && !*row ? pyro_vec_push(&logged->reasons, logged->allocator) : NULL;
    logged->failed |= !row || (!*row && !added);
    if (!added)
        return;
    *row = logged->reasons.count;
    reason = plain_reason(logged, reason.len > REASON_READ ? (struct pyro_slice){reason.ptr, REASON_READ} : reason);
    logged->failed |= !reason.ptr;
    if (reason.ptr)
        keep(logged, added, reason, PYRO_LOGGED_REASON_BYTES);
}

/* "Starting task 0.0 in stage 0.0 (TID 0) (host, executor 1, partition 0, ...": where the executor is. */
static void read_host(struct pyro_logged *logged, struct pyro_slice message)
{
    struct pyro_log_task task;
    if (!pyro_slice_starts_with(message, "Starting task ") || !pyro_log_task_read(message, &task))
        return;
    struct pyro_slice rest = first_line(behind(message, task.end));
    struct pyro_slice host = after(rest, ") ("), id = after(host, ", executor ");
    const char *end = id.ptr ? memchr(id.ptr, ',', id.len) : NULL;
    if (!end || end == id.ptr)
        return;
    struct pyro_logged_executor *row =
        pyro_logged_executor(logged, (struct pyro_slice){id.ptr, (size_t)(end - id.ptr)}, true);
    if (row && !row->host.ptr)
        keep(logged, &row->host, (struct pyro_slice){host.ptr, (size_t)(id.ptr - host.ptr) - strlen(", executor ")},
             255);
}

/* The number behind "ShuffleMapStage " or "ResultStage "; the rest of the text, null without one. */
static struct pyro_slice stage_number(struct pyro_slice text, int64_t *ret)
{
    size_t head = pyro_slice_starts_with(text, "ShuffleMapStage ") ? 16
                  : pyro_slice_starts_with(text, "ResultStage ")   ? 12
                                                                   : 0;
    size_t len = head ? pyro_log_number_read(behind(text, head), ret) : 0;
    return len ? behind(text, head + len) : PYRO_SLICE_NULL;
}

/* "Submitting ShuffleMapStage 0 (MapPartitionsRDD[3] ...), which has no missing parents", and then "Submitting 4
 * missing tasks from ShuffleMapStage 0 (MapPartitionsRDD[3] ...". */
static void read_submitted(struct pyro_logged *logged, const struct pyro_log_record *record)
{
    static const char words[] = "Submitting ";
    int64_t tasks, id;
    struct pyro_slice rest = behind(record->message, sizeof(words) - 1);
    size_t len = pyro_slice_starts_with(record->message, words) ? pyro_log_number_read(rest, &tasks) : 0;
    if (len == 0 && pyro_slice_starts_with(record->message, words) && stage_number(first_line(rest), &id).ptr) {
        logged->submitting = id;
        logged->submitting_ms = record->time_ms;
        return;
    }
    rest = len ? after(first_line(rest), " missing tasks from ") : PYRO_SLICE_NULL;
    if (!rest.ptr || !stage_number(rest, &id).ptr)
        return;
    const uint64_t *before = pyro_map_get(&logged->stage_rows, (uint64_t)id);
    int64_t attempt = before ? logged->stages.items[*before - 1].attempt + 1 : 0;
    struct pyro_logged_stage *added = pyro_vec_push(&logged->stages, logged->allocator);
    uint64_t *newest = pyro_map_put(&logged->stage_rows, (uint64_t)id, NULL);
    uint64_t *row = pyro_map_put(&logged->attempt_rows, pyro_logged_attempt_key(id, attempt), NULL);
    if (!added || !newest || !row) {
        logged->failed = true;
        return;
    }
    *newest = *row = logged->stages.count;
    *added =
        (struct pyro_logged_stage){.id = id,
                                   .attempt = attempt,
                                   .tasks = tasks,
                                   .submitted_ms = logged->submitting == id ? logged->submitting_ms : record->time_ms,
                                   .ended_ms = PYRO_NONE};
    logged->submitting = PYRO_NONE;
}

/* "ResultStage 5 (collect at etl.py:3) finished in 4.5 s", "... failed in 4.5 s due to Job aborted ..." */
static void read_ended(struct pyro_logged *logged, const struct pyro_log_record *record)
{
    int64_t id;
    struct pyro_slice rest = stage_number(first_line(record->message), &id);
    bool failed = rest.ptr && pyro_slice_find(rest, ") failed in ");
    if (!rest.ptr || (!failed && !pyro_slice_find(rest, ") finished in ")))
        return;
    const uint64_t *row = pyro_map_get(&logged->stage_rows, (uint64_t)id);
    if (!row)
        return;
    struct pyro_logged_stage *stage = &logged->stages.items[*row - 1];
    struct pyro_slice reason = failed ? after(record->message, " due to ") : PYRO_SLICE_NULL;
    stage->ended_ms = record->time_ms;
    if (failed)
        keep(logged, &stage->reason, reason.ptr ? reason : PYRO_SLICE_LITERAL("the log does not say why"),
             PYRO_LOGGED_REASON_BYTES);
}

/* "Running Spark version 3.5.6", "Limiting resource is cpus at 2 tasks per executor" */
static void read_settings(struct pyro_logged *logged, struct pyro_slice message)
{
    static const char runs[] = "Running Spark version ", limit[] = "Limiting resource is cpus at ";
    if (!logged->version.ptr && pyro_slice_starts_with(message, runs))
        keep(logged, &logged->version, behind(first_line(message), sizeof(runs) - 1), 64);
    if (pyro_slice_starts_with(message, limit))
        pyro_log_number_read(behind(message, sizeof(limit) - 1), &logged->slots);
}

static void read_line(struct pyro_logged *logged, const struct pyro_log_file *file,
                      const struct pyro_log_record *record)
{
    switch (record->message.len > 0 ? *record->message.ptr : '\0') {
    case 'L':
        read_lost_executor(logged, record);
        read_lost_task(logged, record->message);
        read_settings(logged, record->message);
        break;
    case 'R':
        read_registered(logged, file, record);
        read_settings(logged, record->message);
        read_ended(logged, record);
        break;
    case 'S':
        read_registered(logged, file, record);
        read_host(logged, record->message);
        read_submitted(logged, record);
        read_ended(logged, record);
        break;
    default:
        break;
    }
}

static void note_executor(struct pyro_logged *logged, struct pyro_slice id, struct pyro_slice host, int64_t time_ms)
{
    if (id.len == 0 || pyro_slice_is(id, "driver"))
        return;
    struct pyro_logged_executor *row = pyro_logged_executor(logged, id, true);
    if (row && time_ms != PYRO_NONE && (row->first_ms == PYRO_NONE || time_ms < row->first_ms))
        row->first_ms = time_ms;
    if (row && host.len > 0 && !row->host.ptr)
        keep(logged, &row->host, host, 255);
}

static enum pyro_status take(void *context, const struct pyro_log_file *file, const struct pyro_log_record *record,
                             struct pyro_error *error)
{
    struct reading *reading = context;
    struct pyro_logged *logged = reading->logged;
    if (logged->named && file->application.ptr && !pyro_slice_eq(logged->id, file->application))
        return PYRO_OK; /* a part of the output of `yarn logs` about another application */
    *reading->known = *file;
    reading->known->application = logged->id;
    if (reading->source->executor.ptr)
        reading->known->executor = reading->source->executor;
    read_line(logged, reading->known, record);
    note_executor(logged, reading->known->executor, file->host, record->time_ms);
    if (logged->failed)
        return pyro_no_memory(error);
    return pyro_line_timeline_take(logged->timeline, reading->known, record, error);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* Who reads a log that anybody may have sent. */
struct metering {
    struct pyro_cpu_meter *meter;
    uint64_t stamp;
};

static enum pyro_status go_on(void *context, struct pyro_error *error)
{
    struct metering *metering = context;
    return pyro_cpu_charge(metering->meter, &metering->stamp) ? PYRO_OK : pyro_cpu_exceeded(metering->meter, error);
}

/* `meter`: as in struct pyro_log. */
static enum pyro_status read_file(struct pyro_logged *logged, const struct pyro_artefact_file *file,
                                  struct pyro_cpu_meter *meter, const struct pyro_options *options,
                                  struct pyro_error *error)
{
    struct reading reading = {.logged = logged, .source = &file->source};
    struct metering metering = {meter, pyro_cpu_now()};
    const struct pyro_reader_check check = {go_on, &metering};
    struct pyro_log_part part = file->part;
    if (meter)
        part.check = &check;
    struct pyro_log_reading how = {
        .parts = &part, .part_count = 1, .options = options, .take = take, .context = &reading};
    struct pyro_log_input input;
    struct pyro_error refused = {.size = sizeof(refused)};
    reading.known = pyro_arena_array(&logged->arena, 1, sizeof(*reading.known));
    if (!reading.known)
        return pyro_no_memory(error);
    enum pyro_status status = pyro_logs_read(&how, &input, &refused);
    logged->logs += input.counts.files;
    logged->bytes += input.counts.bytes;
    logged->text_lines += input.counts.lines;
    logged->zone_assumed |= input.counts.zone_assumed;
    pyro_log_input_done(&input);
    if (meter && pyro_cpu_is_spent(meter))
        return pyro_cpu_exceeded(meter, error);
    if (status == PYRO_OK || status == PYRO_ERROR_INPUT)
        return PYRO_OK; /* what is wrong with a file is said where it is listed */
    pyro_error_copy(error, &refused);
    return status;
}

/* Files without text: what they recorded says when the application ran. */
static enum pyro_status read_times(struct pyro_logged *logged, const struct pyro_artefact_list *files,
                                   struct pyro_cpu_meter *meter, enum pyro_redaction redaction,
                                   struct pyro_error *error)
{
    enum { NS_PER_MS = 1000000 };
    struct pyro_tracks *tracks = NULL;
    PYRO_TRY(pyro_artefacts_read(files, redaction, meter, logged->allocator, &tracks, error));
    for (size_t i = 0; i < pyro_tracks_count(tracks, PYRO_TRACK_ARTEFACTS); i++) {
        const struct pyro_artefact_row *row = pyro_tracks_artefact(tracks, i);
        if (row->first_ns != PYRO_NONE &&
            (logged->start_ms == PYRO_NONE || row->first_ns / NS_PER_MS < logged->start_ms))
            logged->start_ms = row->first_ns / NS_PER_MS;
        if (row->last_ns != PYRO_NONE && row->last_ns / NS_PER_MS >= logged->end_ms)
            logged->end_ms = row->last_ns / NS_PER_MS + 1;
    }
    pyro_tracks_free(tracks);
    return PYRO_OK;
}

/* By a file's name or first lines, else after the folder. */
static enum pyro_status name_application(struct pyro_logged *logged, const struct pyro_log *log,
                                         const struct pyro_artefact_list *files, struct pyro_error *error)
{
    struct pyro_slice id = pyro_base_name(log->path);
    if (id.len == 0 || pyro_slice_is(id, ".") || pyro_slice_is(id, ".."))
        id = PYRO_SLICE_LITERAL("logs");
    for (size_t i = 0; i < files->count && !logged->named; i++)
        if (files->items[i].source.application.ptr) {
            id = files->items[i].source.application;
            logged->named = true;
        }
    logged->id = pyro_arena_copy(&logged->arena, id);
    return logged->id.ptr ? PYRO_OK : pyro_no_memory(error);
}

/* Logs may have several runs, if an application was started again: the one with the most tasks, else the last one. */
static void choose_application(struct pyro_logged *logged)
{
    const struct pyro_line_result *lines = &logged->lines;
    logged->application = -1;
    for (size_t i = 0; i < lines->application_count; i++)
        if (logged->application < 0 || lines->applications[i].tasks >= lines->applications[logged->application].tasks)
            logged->application = (int32_t)i;
    if (logged->application < 0)
        return;
    logged->name = lines->applications[logged->application].name;
    logged->start_ms = lines->applications[logged->application].start_ms;
    logged->end_ms = lines->applications[logged->application].end_ms;
}

static enum pyro_status read_all(const struct pyro_log *log, const struct pyro_load_settings *options,
                                 struct pyro_logged *logged, struct pyro_error *error)
{
    const struct pyro_options work = {.size = sizeof(work),
                                      .allocator = options->allocator,
                                      .progress = options->progress,
                                      .progress_context = options->progress_context};
    const struct pyro_line_filter all = {.stage = PYRO_NONE};
    struct pyro_artefact_list files;
    enum pyro_artefact_place *places = pyro_arena_array(&logged->arena, log->part_count + 1, sizeof(*places));
    if (!places)
        return pyro_no_memory(error);
    PYRO_TRY(pyro_artefacts_of_parts(log->parts, log->part_count, 1, &logged->arena, &files, places, error));
    PYRO_TRY(name_application(logged, log, &files, error));
    for (size_t i = 0; i < files.count; i++)
        if (files.items[i].kind == PYRO_ARTEFACT_TEXT_LOG)
            PYRO_TRY(read_file(logged, &files.items[i], log->meter, &work, error));
    PYRO_TRY(pyro_line_timeline_finish(logged->timeline, &all, &logged->lines, error));
    choose_application(logged);
    if (logged->start_ms != PYRO_NONE)
        return PYRO_OK;
    PYRO_TRY(read_times(logged, &files, log->meter, options->redaction, error));
    return log->meter && pyro_cpu_is_spent(log->meter) ? pyro_cpu_exceeded(log->meter, error) : PYRO_OK;
}

enum pyro_status pyro_logged_read(const struct pyro_log *log, const struct pyro_load_settings *options,
                                  struct pyro_logged *ret, struct pyro_error *error)
{
    *ret = (struct pyro_logged){.allocator = options->allocator,
                                .application = -1,
                                .start_ms = PYRO_NONE,
                                .end_ms = PYRO_NONE,
                                .slots = PYRO_NONE,
                                .submitting = PYRO_NONE};
    pyro_arena_init(&ret->arena, options->allocator);
    pyro_map_init(&ret->executor_rows, options->allocator);
    pyro_map_init(&ret->stage_rows, options->allocator);
    pyro_map_init(&ret->attempt_rows, options->allocator);
    pyro_map_init(&ret->reason_rows, options->allocator);
    PYRO_TRY(pyro_line_timeline_new(options->allocator, options->redaction, &ret->timeline, error));
    return read_all(log, options, ret, error);
}

void pyro_logged_done(struct pyro_logged *logged)
{
    pyro_line_timeline_free(logged->timeline);
    pyro_vec_done(&logged->executors, logged->allocator);
    pyro_vec_done(&logged->stages, logged->allocator);
    pyro_vec_done(&logged->reasons, logged->allocator);
    pyro_map_done(&logged->executor_rows);
    pyro_map_done(&logged->stage_rows);
    pyro_map_done(&logged->attempt_rows);
    pyro_map_done(&logged->reason_rows);
    pyro_arena_done(&logged->arena);
}
