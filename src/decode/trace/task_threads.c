/* What the plugin writes about the threads of tasks: one JSON object a line, first who writes.
 *
 *     {"Pyrometer":"task-threads","version":1,"application":"app-...","executor":"0","host":"h","pid":17}
 *     {"clock":{"monotonic_ns":1,"utc_ns":2}}
 *     {"begins":5,"stage":1,"attempt":0,"tid":99,"start_ns":1}
 *     {"task":5,"stage":1,"attempt":0,"partition":0,"tid":99,"start_ns":1,"end_ns":2,"status":"SUCCESS"}
 *     {"children":[100,101]}
 *     {"dropped":0} */
#include <stdio.h>

#include "base/json/json_read.h"
#include "decode/artefact_kinds.h"
#include "decode/trace/trace_files.h"
#include "model/column.h"
#include "source/text_lines.h"

static const char first_bytes[] = "{\"Pyrometer\":\"task-threads\"";

bool pyro_task_threads_recognise(struct pyro_slice head, bool whole)
{
    (void)whole;
    return pyro_slice_starts_with(head, first_bytes);
}

PYRO_JSON_KEYS(record_keys, (KEY_KIND, "Pyrometer"), (KEY_APPLICATION, "application"), (KEY_EXECUTOR, "executor"),
               (KEY_HOST, "host"), (KEY_PID, "pid"), (KEY_CLOCK, "clock"), (KEY_MONOTONIC, "monotonic_ns"),
               (KEY_UTC, "utc_ns"), (KEY_BEGINS, "begins"), (KEY_TASK, "task"), (KEY_STAGE, "stage"),
               (KEY_ATTEMPT, "attempt"), (KEY_TID, "tid"), (KEY_START, "start_ns"), (KEY_END, "end_ns"),
               (KEY_DROPPED, "dropped"), (KEY_REFUSED, "refused"), (KEY_CHILDREN, "children"));

struct record {
    struct pyro_slice executor, host, refused;
    bool lists; /* children */
    int64_t pid, monotonic_ns, utc_ns, begins, task, stage, attempt, tid, start_ns, end_ns, dropped;
};

struct reading {
    struct pyro_tracks *tracks;
    struct pyro_task_windows *windows;
    struct pyro_slice host, executor, refused;
    int64_t pid, first_ns, last_ns;
    int32_t process;
    int64_t rows, rejected, dropped;
    bool no_memory;
};

/* Processes that this one has started. There are few. */
static void take_children(struct reading *reading, struct pyro_json_reader *json)
{
    enum { CHILDREN_MAX = 1 << 16 };
    bool first = true;
    int64_t pid = PYRO_NONE;
    if (!pyro_json_enter_array(json))
        return;
    reading->windows->knows_children = true;
    while (pyro_json_next_element(json, &first) && pyro_json_take_int(json, &pid)) {
        if (reading->windows->children.count >= CHILDREN_MAX)
            continue;
        struct pyro_task_child *child = pyro_vec_push(&reading->windows->children, reading->windows->allocator);
        reading->no_memory |= !child;
        if (child)
            *child = (struct pyro_task_child){reading->host, pid};
    }
}

static void take_members(struct reading *reading, struct pyro_json_reader *json, struct record *record, int depth)
{
    struct pyro_json_object object;
    bool plain;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, record_keys)) != PYRO_JSON_END;) {
        int64_t *const numbers[record_keys_count] = {
            [KEY_PID] = &record->pid,         [KEY_MONOTONIC] = &record->monotonic_ns,
            [KEY_UTC] = &record->utc_ns,      [KEY_BEGINS] = &record->begins,
            [KEY_TASK] = &record->task,       [KEY_STAGE] = &record->stage,
            [KEY_ATTEMPT] = &record->attempt, [KEY_TID] = &record->tid,
            [KEY_START] = &record->start_ns,  [KEY_END] = &record->end_ns,
            [KEY_DROPPED] = &record->dropped};
        if (key == KEY_CLOCK && depth == 0)
            take_members(reading, json, record, 1);
        else if (key == KEY_CHILDREN && depth == 0)
            take_children(reading, json), record->lists = true;
        else if (key == KEY_EXECUTOR)
            pyro_json_take_string(json, &record->executor, &plain);
        else if (key == KEY_HOST)
            pyro_json_take_string(json, &record->host, &plain);
        else if (key == KEY_REFUSED)
            pyro_json_take_string(json, &record->refused, &plain);
        else if (key >= 0 && numbers[key])
            pyro_json_take_int(json, numbers[key]);
        else
            pyro_json_skip(json);
    }
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static struct pyro_slice keep(struct reading *reading, struct pyro_slice text)
{
    struct pyro_slice kept = text.ptr ? pyro_tracks_text(reading->tracks, text) : text;
    reading->no_memory |= text.ptr && !kept.ptr;
    return kept;
}

static void take_process(struct reading *reading, const struct record *record)
{
    char label[96];
    reading->host = keep(reading, record->host);
    reading->executor = keep(reading, record->executor);
    reading->refused = keep(reading, record->refused);
    reading->pid = record->pid;
    bool driver = pyro_slice_is(reading->executor, "driver");
    const struct pyro_thread_row row = {.parent = -1,
                                        .clock = -1,
                                        .pid = record->pid,
                                        .tid = PYRO_NONE,
                                        .host = reading->host,
                                        .executor = reading->executor,
                                        .role = driver ? PYRO_SLICE_LITERAL("driver") : PYRO_SLICE_LITERAL("executor")};
    reading->process = pyro_tracks_add_thread(reading->tracks, &row);
    struct pyro_task_process *process = pyro_vec_push(&reading->windows->processes, reading->windows->allocator);
    if (!process || reading->process < 0) {
        reading->no_memory = true;
        return;
    }
    int len = snprintf(label, sizeof(label), "%s%.*s", driver ? "" : "executor ",
                       (int)(reading->executor.len < 64 ? reading->executor.len : 64),
                       reading->executor.ptr ? reading->executor.ptr : "");
    *process = (struct pyro_task_process){.host = reading->host,
                                          .executor = reading->executor,
                                          .label = keep(reading, (struct pyro_slice){label, (size_t)len}),
                                          .pid = record->pid,
                                          .row = reading->process};
}

static void take_clock(struct reading *reading, const struct record *record)
{
    struct pyro_clock_pair *pair = pyro_vec_push(&reading->windows->pairs, reading->windows->allocator);
    if (pair)
        *pair = (struct pyro_clock_pair){reading->host, reading->pid, record->monotonic_ns, record->utc_ns};
    reading->no_memory |= !pair;
}

static void take_task(struct reading *reading, const struct record *record)
{
    const struct pyro_thread_row row = {.parent = reading->process,
                                        .clock = -1,
                                        .pid = reading->pid,
                                        .tid = record->tid,
                                        .host = reading->host,
                                        .executor = reading->executor,
                                        .role = PYRO_SLICE_LITERAL("task")};
    int64_t end_ns = record->end_ns != PYRO_NONE ? record->end_ns : INT64_MAX;
    if (record->start_ns < 0 || end_ns < record->start_ns || record->tid <= 0) {
        reading->rejected++;
        return;
    }
    int32_t thread = pyro_tracks_add_thread(reading->tracks, &row);
    struct pyro_task_window *window = pyro_vec_push(&reading->windows->items, reading->windows->allocator);
    if (thread < 0 || !window) {
        reading->no_memory = true;
        return;
    }
    *window = (struct pyro_task_window){.host = reading->host,
                                        .pid = reading->pid,
                                        .tid = record->tid,
                                        .thread = thread,
                                        .start_ns = record->start_ns,
                                        .end_ns = end_ns,
                                        .task = record->task != PYRO_NONE ? record->task : record->begins,
                                        .stage = record->stage,
                                        .stage_attempt = record->attempt};
    reading->rows += record->task != PYRO_NONE;
}

static void take_line(struct reading *reading, struct pyro_slice line)
{
    struct record record = {.pid = PYRO_NONE,
                            .monotonic_ns = PYRO_NONE,
                            .utc_ns = PYRO_NONE,
                            .begins = PYRO_NONE,
                            .task = PYRO_NONE,
                            .stage = PYRO_NONE,
                            .attempt = PYRO_NONE,
                            .tid = PYRO_NONE,
                            .start_ns = PYRO_NONE,
                            .end_ns = PYRO_NONE,
                            .dropped = PYRO_NONE};
    struct pyro_json_reader json;
    pyro_json_reader_start(&json, line.ptr, line.ptr + line.len, pyro_scan_best());
    take_members(reading, &json, &record, 0);
    if (json.error || !pyro_json_record_end(&json))
        reading->rejected += line.len > 0;
    else if (record.pid != PYRO_NONE && reading->process < 0)
        take_process(reading, &record);
    else if (record.monotonic_ns != PYRO_NONE && record.utc_ns != PYRO_NONE)
        take_clock(reading, &record);
    else if ((record.task != PYRO_NONE || record.begins != PYRO_NONE) && record.stage != PYRO_NONE &&
             reading->process >= 0)
        take_task(reading, &record);
    else if (record.lists)
        return;
    else if (record.dropped != PYRO_NONE)
        reading->dropped = record.dropped;
    else
        reading->rejected++;
}

static struct pyro_slice problems_of(struct reading *reading, const char *damage)
{
    char text[256];
    int len = 0;
    if (reading->refused.ptr)
        len = snprintf(text, sizeof(text), "the plugin wrote no tasks: %.*s",
                       (int)(reading->refused.len < 128 ? reading->refused.len : 128), reading->refused.ptr);
    else if (damage)
        len = snprintf(text, sizeof(text), "%.200s", damage);
    else if (reading->rejected > 0)
        len = snprintf(text, sizeof(text), "%lld damaged records", (long long)reading->rejected);
    else if (reading->dropped > 0)
        len = snprintf(text, sizeof(text), "the plugin dropped %lld records, since writing them took too long",
                       (long long)reading->dropped);
    return len > 0 ? pyro_tracks_text(reading->tracks, (struct pyro_slice){text, (size_t)len}) : PYRO_SLICE_NULL;
}

enum pyro_status pyro_task_threads_artefact(struct pyro_artefact_reading *files,
                                            const struct pyro_artefact_source *source, struct pyro_reader *reader,
                                            struct pyro_error *error)
{
    struct reading reading = {.tracks = files->tracks,
                              .windows = &files->traces.windows,
                              .process = -1,
                              .first_ns = PYRO_NONE,
                              .last_ns = PYRO_NONE};
    const struct pyro_artefact_row row = {.kind = PYRO_SLICE_LITERAL("task-threads"),
                                          .path = source->path,
                                          .first_ns = PYRO_NONE,
                                          .last_ns = PYRO_NONE,
                                          .clock = -1};
    struct pyro_text_lines lines;
    struct pyro_slice line;
    int32_t artefact = pyro_tracks_add_artefact(files->tracks, &row);
    if (artefact < 0)
        return pyro_no_memory(error);
    PYRO_TRY(pyro_text_lines_init(&lines, reader, files->allocator, error));
    enum pyro_status status = pyro_text_lines_next(&lines, &line, error);
    while (status == PYRO_OK && line.ptr && !reading.no_memory) {
        take_line(&reading, line);
        status = pyro_text_lines_next(&lines, &line, error);
    }
    struct pyro_artefact_row *written = pyro_tracks_artefact_edit(files->tracks, artefact);
    written->host = reading.host;
    written->executor = reading.executor;
    written->bytes = (int64_t)lines.next_place;
    written->rows = reading.rows;
    written->problems = problems_of(&reading, pyro_reader_damage(reader));
    pyro_text_lines_done(&lines);
    return status == PYRO_OK && reading.no_memory ? pyro_no_memory(error) : status;
}
