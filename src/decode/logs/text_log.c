#include "decode/logs/text_log.h"

#include <stdio.h>

#include "base/collections/hash.h"
#include "decode/logs/layout.h"
#include "decode/logs/named_task.h"
#include "decode/logs/records/record_reader.h"
#include "decode/logs/records/zone.h"
#include "decode/logs/wait.h"
#include "model/column.h"

enum { NS_PER_MS = 1000000 };

/* Beyond this number of messages only those of WARN and worse are kept, and the first of each template: their counts
 * stay exact. */
enum { MESSAGES_IN_FULL = 4 << 20, MESSAGES_OF_TEMPLATE = 100 };

/* Spark names threads after tasks, and a long run has millions of these: records of further threads keep only their
 * process. */
enum { THREADS_MOST = 1 << 18 };

/* What a thread of a log works for, while its records say the same. */
struct working {
    int32_t thread;
    struct pyro_log_task task;
    const char *method;
    int64_t first_ns, last_ns;
};

struct text_log {
    struct pyro_artefact_reading *reading;
    const struct pyro_artefact_source *source;
    int32_t artefact, clock, process;
    int64_t first_ns, last_ns;
    uint64_t records, nameless; /* nameless: of threads beyond THREADS_MOST */
    struct pyro_map names;      /* hash of a process and the name of a thread -> row of the thread + 1 */
    struct pyro_map threads;    /* row of a thread -> number in `working` + 1 */
    PYRO_VEC(struct working) working;
};

bool pyro_text_log_recognise(struct pyro_slice head, bool whole)
{
    (void)whole;
    return pyro_log_content_of(head, NULL) == PYRO_CONTENT_LOG;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static int64_t ns_of(int64_t ms)
{
    return ms == PYRO_NONE || ms > INT64_MAX / NS_PER_MS || ms < INT64_MIN / NS_PER_MS ? PYRO_NONE : ms * NS_PER_MS;
}

static int32_t process_row(struct text_log *log, const struct pyro_log_file *file)
{
    struct pyro_slice executor = log->source->executor.ptr ? log->source->executor : file->executor;
    const struct pyro_thread_row row = {.parent = -1,
                                        .clock = log->clock,
                                        .pid = PYRO_NONE,
                                        .tid = PYRO_NONE,
                                        .host = log->source->host.ptr ? log->source->host : file->host,
                                        .executor = executor,
                                        .role = pyro_slice_is(executor, "driver") ? PYRO_SLICE_LITERAL("driver")
                                                                                  : PYRO_SLICE_LITERAL("executor"),
                                        .name = executor.ptr          ? PYRO_SLICE_NULL
                                                : file->container.ptr ? file->container
                                                                      : log->source->path};
    return pyro_tracks_add_thread(log->reading->tracks, &row);
}

static int32_t add_thread(struct text_log *log, int32_t process, struct pyro_slice name)
{
    const struct pyro_thread_row *parent = pyro_tracks_thread(log->reading->tracks, (size_t)process);
    const struct pyro_thread_row row = {.parent = process,
                                        .clock = log->clock,
                                        .pid = PYRO_NONE,
                                        .tid = PYRO_NONE,
                                        .host = parent->host,
                                        .executor = parent->executor,
                                        .role = PYRO_SLICE_LITERAL("thread"),
                                        .name = name};
    return pyro_tracks_add_thread(log->reading->tracks, &row);
}

/* The row of the thread that wrote a record: Spark renames it for each task, and its worker keeps running. */
static int32_t thread_row(struct text_log *log, const struct pyro_log_file *file, struct pyro_slice name)
{
    int32_t process = process_row(log, file);
    if (process < 0 || !name.ptr)
        return process;
    uint64_t key = pyro_hash_mix(pyro_hash_slice(name) ^ (uint64_t)process), *known = pyro_map_get(&log->names, key);
    if (known)
        return (int32_t)(*known - 1);
    if (pyro_tracks_count(log->reading->tracks, PYRO_TRACK_THREADS) >= THREADS_MOST) {
        log->nameless++;
        return process;
    }
    int32_t thread = add_thread(log, process, name);
    known = thread < 0 ? NULL : pyro_map_put(&log->names, key, NULL);
    if (!known)
        return -1;
    *known = (uint64_t)thread + 1;
    return thread;
}

/* ---- Owners ------------------------------------------------------------------------------------------------------ */

static bool add_owner(struct text_log *log, const struct working *working)
{
    const struct pyro_owner_row row = {.thread = working->thread,
                                       .start_ns = working->first_ns,
                                       .end_ns = working->last_ns + 1,
                                       .task = working->task.tid,
                                       .stage = working->task.stage,
                                       .stage_attempt = working->task.stage_attempt,
                                       .method = pyro_slice_from(working->method),
                                       .confidence = 1};
    return pyro_tracks_add_owner(log->reading->tracks, &row);
}

/* What the record says of its thread: the MDC names the task, else the thread's name does. A message that names a task
 * may be about any. */
static const char *task_of_thread(const struct pyro_log_record *record, struct pyro_log_task *ret)
{
    if (record->task_name.ptr && pyro_log_mdc_read(record->task_name, ret))
        return "named";
    if (record->thread.ptr && pyro_log_task_read(record->thread, ret))
        return "thread-name";
    return NULL;
}

static bool same_task(const struct pyro_log_task *a, const struct pyro_log_task *b)
{
    return a->tid == b->tid && a->stage == b->stage && a->stage_attempt == b->stage_attempt;
}

static bool follow_thread(struct text_log *log, int32_t thread, int64_t time_ns, const struct pyro_log_record *record)
{
    struct pyro_log_task task = {0};
    const char *method = task_of_thread(record, &task);
    if (!method || time_ns == PYRO_NONE)
        return true;
    uint64_t *place = pyro_map_put(&log->threads, (uint64_t)thread, NULL);
    if (!place)
        return false;
    if (*place == 0) {
        struct working *added = pyro_vec_push(&log->working, log->reading->allocator);
        if (!added)
            return false;
        *place = log->working.count;
        *added = (struct working){thread, task, method, time_ns, time_ns};
        return true;
    }
    struct working *working = &log->working.items[*place - 1];
    if (same_task(&working->task, &task) && time_ns >= working->last_ns) {
        working->last_ns = time_ns;
        return true;
    }
    if (!add_owner(log, working))
        return false;
    *working = (struct working){thread, task, method, time_ns, time_ns};
    return true;
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static bool is_kept(const struct text_log *log, const struct pyro_log_record *record, uint64_t of_template)
{
    return record->level >= PYRO_LEVEL_WARN || of_template < MESSAGES_OF_TEMPLATE ||
           pyro_tracks_count(log->reading->tracks, PYRO_TRACK_MESSAGES) < MESSAGES_IN_FULL;
}

/* What the message says that its writer waits before it tries again. */
static bool add_wait(struct text_log *log, const struct pyro_log_record *record, int32_t thread, int64_t time_ns)
{
    int64_t wait_ns = pyro_log_wait_ns(log->reading->logs.waits, record->message);
    const struct pyro_span_row row = {.thread = thread,
                                      .parent = -1,
                                      .kind = PYRO_SPAN_LOGGED_WAIT,
                                      .name = record->logger,
                                      .start_ns = time_ns,
                                      .duration_ns = wait_ns,
                                      .value = PYRO_NONE};
    return wait_ns == PYRO_NONE || time_ns == PYRO_NONE || pyro_tracks_add_span(log->reading->tracks, &row);
}

static bool add_message(struct text_log *log, const struct pyro_log_file *file, const struct pyro_log_record *record)
{
    struct pyro_templates *templates = log->reading->logs.templates;
    struct pyro_template known = {.count = 0};
    int32_t id = pyro_templates_id(templates, record), thread = thread_row(log, file, record->thread);
    int64_t time_ns = ns_of(record->time_ms);
    if (id < 0 || thread < 0)
        return false;
    bool own = pyro_tracks_thread(log->reading->tracks, (size_t)thread)->parent >= 0 || !record->thread.ptr;
    if ((own && !follow_thread(log, thread, time_ns, record)) || !add_wait(log, record, thread, time_ns))
        return false;
    bool full = pyro_tracks_count(log->reading->tracks, PYRO_TRACK_MESSAGES) >= MESSAGES_IN_FULL;
    if (full && !pyro_templates_get(templates, id, &known))
        return false;
    if (time_ns != PYRO_NONE) {
        log->first_ns = log->first_ns == PYRO_NONE || time_ns < log->first_ns ? time_ns : log->first_ns;
        log->last_ns = log->last_ns == PYRO_NONE || time_ns > log->last_ns ? time_ns : log->last_ns;
    }
    const struct pyro_message_row row = {.time_ns = time_ns,
                                         .thread = thread,
                                         .message_template = id,
                                         .artefact = log->artefact,
                                         .level = (int32_t)record->level,
                                         .place = record->place};
    return !is_kept(log, record, known.count) || pyro_tracks_add_message(log->reading->tracks, &row);
}

static enum pyro_status take(void *context, const struct pyro_log_file *file, const struct pyro_log_record *record,
                             struct pyro_error *error)
{
    struct text_log *log = context;
    const struct pyro_slice id = log->source->application;
    if (id.ptr && file->application.ptr && !pyro_slice_eq(id, file->application))
        return PYRO_OK; /* a part of the output of `yarn logs` about another application */
    struct pyro_log_file known = *file;
    if (log->source->executor.ptr)
        known.executor = log->source->executor;
    log->records++;
    if (!add_message(log, file, record))
        return pyro_no_memory(error);
    return pyro_log_errors_take(log->reading->logs.errors, &known, record, error);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static enum pyro_status add_source(struct text_log *log, struct pyro_error *error)
{
    const struct pyro_artefact_source *source = log->source;
    const struct pyro_clock_row clock = {.host = source->host,
                                         .source = PYRO_SLICE_LITERAL("text-log"),
                                         .base = PYRO_SLICE_LITERAL("utc"),
                                         .method = PYRO_SLICE_LITERAL("text")};
    log->clock = pyro_tracks_add_clock(log->reading->tracks, &clock);
    const struct pyro_artefact_row artefact = {.kind = PYRO_SLICE_LITERAL("text-log"),
                                               .path = source->path,
                                               .host = source->host,
                                               .executor = source->executor,
                                               .clock = log->clock,
                                               .first_ns = PYRO_NONE,
                                               .last_ns = PYRO_NONE};
    log->artefact = pyro_tracks_add_artefact(log->reading->tracks, &artefact);
    return log->clock >= 0 && log->artefact >= 0 ? PYRO_OK : pyro_no_memory(error);
}

/* How times without a zone became those of UTC. */
static enum pyro_status complete_clock(const struct text_log *log, const struct pyro_log_reading *how, int64_t matches,
                                       struct pyro_error *error)
{
    enum { MINUTE = 60, HOUR = 60 * MINUTE };
    struct pyro_tracks *tracks = log->reading->tracks;
    struct pyro_clock_row *clock = pyro_tracks_clock_edit(tracks, log->clock);
    int64_t east = how->offset_s < 0 ? -how->offset_s : how->offset_s;
    char name[16];
    clock->base = PYRO_SLICE_LITERAL("local");
    clock->method = !how->has_zone ? PYRO_SLICE_LITERAL("assumed")
                    : matches > 0  ? PYRO_SLICE_LITERAL("running-task")
                                   : PYRO_SLICE_LITERAL("other-log");
    clock->matches = matches;
    clock->offset_ns = -how->offset_s * 1000 * NS_PER_MS;
    if (how->offset_s == 0)
        return PYRO_OK;
    snprintf(name, sizeof(name), "%c%02d:%02d", how->offset_s < 0 ? '-' : '+', (int)(east / HOUR),
             (int)(east % HOUR / MINUTE));
    clock->zone = pyro_tracks_text(tracks, pyro_slice_from(name));
    return clock->zone.ptr ? PYRO_OK : pyro_no_memory(error);
}

/* The zone of the log's own lines, else that of another log of the application. */
static enum pyro_status find_zone(const struct text_log *log, struct pyro_log_reading *how, struct pyro_log_zone *ret,
                                  struct pyro_error *error)
{
    struct pyro_text_logs *logs = &log->reading->logs;
    if (log->reading->launches)
        PYRO_TRY(pyro_log_zone_find(how->parts, log->reading->launches, log->reading->allocator, ret, error));
    if (ret->matches > 0 && !logs->has_zone) {
        logs->has_zone = true;
        logs->offset_s = ret->offset_s;
    }
    how->has_zone = ret->matches > 0 || logs->has_zone;
    how->offset_s = ret->matches > 0 ? ret->offset_s : logs->offset_s;
    return PYRO_OK;
}

/* Texts that the tracks keep are copies. */
static enum pyro_status complete(struct text_log *log, const struct pyro_log_input *input, struct pyro_error *error)
{
    struct pyro_tracks *tracks = log->reading->tracks;
    struct pyro_artefact_row *row = pyro_tracks_artefact_edit(tracks, log->artefact);
    row->bytes = (int64_t)input->counts.bytes;
    row->rows = (int64_t)log->records;
    row->first_ns = log->first_ns;
    row->last_ns = log->last_ns;
    for (size_t i = 0; i < input->notes.count && !row->problems.ptr; i++) {
        if (!input->notes.items[i].path.ptr) /* about all files: the clock says it */
            continue;
        row->problems = pyro_tracks_text(tracks, input->notes.items[i].reason);
        if (!row->problems.ptr)
            return pyro_no_memory(error);
    }
    if (log->nameless > 0 && !row->problems.ptr) {
        char text[120];
        snprintf(text, sizeof(text), "%llu records keep only their process: there are more than %d threads",
                 (unsigned long long)log->nameless, (int)THREADS_MOST);
        row->problems = pyro_tracks_text(tracks, pyro_slice_from(text));
        if (!row->problems.ptr)
            return pyro_no_memory(error);
    }
    for (size_t i = 0; i < log->working.count; i++)
        if (!add_owner(log, &log->working.items[i]))
            return pyro_no_memory(error);
    return PYRO_OK;
}

enum pyro_status pyro_text_log_artefact(struct pyro_artefact_reading *reading,
                                        const struct pyro_artefact_source *source, struct pyro_reader *reader,
                                        struct pyro_error *error)
{
    struct text_log log = {.reading = reading, .source = source, .first_ns = PYRO_NONE, .last_ns = PYRO_NONE};
    const struct pyro_options options = {.size = sizeof(options), .allocator = reading->allocator};
    struct pyro_log_reading how = {
        .parts = reading->part, .part_count = 1, .options = &options, .take = take, .context = &log};
    struct pyro_log_input input;
    struct pyro_log_zone zone = {0};
    (void)reader; /* lines of clusters' own frames are read by the one reader of text logs, which opens parts itself */
    PYRO_TRY(pyro_text_logs_begin(&reading->logs, reading, error));
    PYRO_TRY(add_source(&log, error));
    PYRO_TRY(find_zone(&log, &how, &zone, error));
    pyro_map_init(&log.threads, reading->allocator);
    pyro_map_init(&log.names, reading->allocator);
    enum pyro_status status = pyro_logs_read(&how, &input, error);
    if (status == PYRO_OK)
        status = complete(&log, &input, error);
    if (status == PYRO_OK && (zone.matches > 0 || input.counts.zone_assumed || input.counts.zone_given))
        status = complete_clock(&log, &how, zone.matches, error);
    pyro_log_input_done(&input);
    pyro_map_done(&log.threads);
    pyro_map_done(&log.names);
    pyro_vec_done(&log.working, reading->allocator);
    return status;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

enum pyro_status pyro_text_logs_begin(struct pyro_text_logs *logs, const struct pyro_artefact_reading *reading,
                                      struct pyro_error *error)
{
    if (!logs->templates)
        logs->templates = pyro_templates_new(reading->allocator);
    if (!logs->waits)
        logs->waits = pyro_log_waits_new(reading->allocator);
    if (!logs->templates || !logs->waits)
        return pyro_no_memory(error);
    return logs->errors ? PYRO_OK : pyro_log_errors_new(reading->allocator, reading->redaction, &logs->errors, error);
}

enum pyro_status pyro_text_logs_end(struct pyro_text_logs *logs, struct pyro_tracks *tracks, struct pyro_error *error)
{
    for (size_t i = 0; logs->templates && i < pyro_templates_count(logs->templates); i++) {
        struct pyro_template known;
        if (!pyro_templates_get(logs->templates, (int32_t)i, &known))
            return pyro_no_memory(error);
        const struct pyro_template_row row = {.text = known.text,
                                              .level = pyro_slice_from(pyro_log_level_name(known.level)),
                                              .logger = known.logger,
                                              .count = (int64_t)known.count,
                                              .first_ns = ns_of(known.first_ms),
                                              .last_ns = ns_of(known.last_ms)};
        if (pyro_tracks_add_template(tracks, &row) < 0)
            return pyro_no_memory(error);
    }
    return PYRO_OK;
}

void pyro_text_logs_done(struct pyro_text_logs *logs)
{
    pyro_templates_free(logs->templates);
    pyro_log_waits_free(logs->waits);
    if (logs->errors)
        pyro_log_errors_free(logs->errors);
    *logs = (struct pyro_text_logs){0};
}
