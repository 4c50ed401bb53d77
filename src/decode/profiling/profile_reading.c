/* What all decoders of profiles add rows with. */
#include "decode/profiling/profile_reading.h"

#include <string.h>

#include "base/collections/hash.h"
#include "base/json/scan.h"
#include "base/numbers/saturate.h"
#include "source/text_lines.h"

enum pyro_status pyro_profile_lines(struct pyro_profile_reading *reading,
                                    bool (*take)(void *context, struct pyro_slice line), void *context)
{
    struct pyro_text_lines lines;
    struct pyro_slice line;
    PYRO_TRY(pyro_text_lines_init(&lines, reading->reader, reading->allocator, reading->error));
    enum pyro_status status = pyro_text_lines_next(&lines, &line, reading->error);
    while (status == PYRO_OK && line.ptr) {
        if (take(context, line))
            status = pyro_text_lines_next(&lines, &line, reading->error);
        else
            status = pyro_no_memory(reading->error);
    }
    reading->bytes = lines.next_place;
    reading->facts->lines_cut = lines.cut;
    pyro_text_lines_done(&lines);
    return status;
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

/* A JVM of which the source says more. */
static const char *role_of(const struct pyro_profile_process *process, struct pyro_slice executor)
{
    if (!process->role || strcmp(process->role, "jvm") != 0 || !executor.ptr)
        return process->role;
    return pyro_slice_is(executor, "driver") ? "driver" : "executor";
}

int32_t pyro_profile_process_row(struct pyro_profile_reading *reading, const struct pyro_profile_process *process)
{
    struct pyro_slice executor = process->executor.ptr ? process->executor : reading->source->executor;
    const struct pyro_thread_row row = {
        .parent = -1,
        .clock = reading->clock,
        .pid = process->pid,
        .tid = PYRO_NONE,
        .host = process->host.ptr ? process->host : reading->source->host,
        .executor = executor,
        .role = pyro_slice_from(role_of(process, executor)),
    };
    return pyro_tracks_add_thread(reading->tracks, &row);
}

int32_t pyro_profile_thread_row(struct pyro_profile_reading *reading, const struct pyro_profile_process *process,
                                struct pyro_slice name, int64_t tid)
{
    int32_t parent = pyro_profile_process_row(reading, process);
    const struct pyro_thread_row row = {
        .parent = parent, .clock = reading->clock, .pid = process->pid, .tid = tid, .name = name};
    return parent < 0 ? -1 : pyro_tracks_add_thread(reading->tracks, &row);
}

/* ---- Times ------------------------------------------------------------------------------------------------------- */

int64_t pyro_profile_ns(double ms)
{
    /* Years 1970 to 2200: anything else is not a time. */
    if (!(ms >= 0 && ms < 7258118400000.0))
        return PYRO_NONE;
    int64_t whole = (int64_t)ms;
    return whole * 1000000 + (int64_t)((ms - (double)whole) * 1e6);
}

static void note_time(struct pyro_profile_reading *reading, int64_t time_ns)
{
    if (time_ns == PYRO_NONE)
        return;
    if (reading->first_ns == PYRO_NONE || time_ns < reading->first_ns)
        reading->first_ns = time_ns;
    if (reading->last_ns == PYRO_NONE || time_ns > reading->last_ns)
        reading->last_ns = time_ns;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static bool note_order(struct pyro_profile_order *order, int32_t stack, const struct pyro_allocator *allocator)
{
    bool new;
    if (!pyro_map_put(&order->seen, (uint64_t)((int64_t)stack + 1), &new))
        return false;
    if (!new)
        return true;
    if (!pyro_vec_reserve(&order->stacks, 1, allocator))
        return false;
    order->stacks.items[order->stacks.count++] = stack;
    return true;
}

bool pyro_profile_sample(struct pyro_profile_reading *reading, const struct pyro_sample_row *row)
{
    reading->facts->samples++;
    reading->facts->untimed += row->time_ns == PYRO_NONE;
    reading->rows++;
    note_time(reading, row->time_ns);
    return (!reading->order || note_order(reading->order, row->stack, reading->allocator)) &&
           pyro_tracks_add_sample(reading->tracks, row);
}

bool pyro_profile_span(struct pyro_profile_reading *reading, const struct pyro_span_row *row)
{
    reading->rows++;
    note_time(reading, row->start_ns);
    if (row->start_ns != PYRO_NONE)
        note_time(reading, pyro_add_saturating(row->start_ns, row->duration_ns));
    return pyro_tracks_add_span(reading->tracks, row);
}

static const struct {
    const char *name, *unit, *label;
    enum pyro_series_type type;
} series_kinds[PYRO_PROFILE_SERIES_COUNT] = {
#define PYRO_PROFILE_SERIES(constant, name, unit, label, type, doc) {name, unit, label, PYRO_SERIES_##type},
#include "decode/profiling/series.def"
#undef PYRO_PROFILE_SERIES
};

static int32_t add_series(struct pyro_profile_reading *reading, int32_t thread, enum pyro_profile_series series,
                          struct pyro_slice label)
{
    struct pyro_strbuf labels;
    pyro_strbuf_init(&labels, reading->allocator);
    if (label.ptr) {
        pyro_strbuf_add_text(&labels, series_kinds[series].label);
        pyro_strbuf_add_char(&labels, '=');
        pyro_strbuf_add_slice(&labels, label);
    }
    const struct pyro_series_row row = {
        .thread = thread,
        .name = pyro_slice_from(series_kinds[series].name),
        .unit = pyro_slice_from(series_kinds[series].unit),
        .labels = label.ptr ? pyro_strbuf_slice(&labels) : PYRO_SLICE_NULL,
        .type = series_kinds[series].type,
    };
    int32_t number = labels.failed ? -1 : pyro_tracks_add_series(reading->tracks, &row);
    pyro_strbuf_done(&labels);
    return number;
}

bool pyro_profile_point(struct pyro_profile_reading *reading, int32_t thread, enum pyro_profile_series series,
                        struct pyro_slice label, int64_t time_ns, double value)
{
    bool new;
    uint32_t text = label.ptr ? pyro_intern(reading->texts, label) : 0;
    if (time_ns == PYRO_NONE)
        return true;
    if (thread < 0 || text == UINT32_MAX)
        return false;
    if (text >> 24) /* more labels than any process has pools */
        return true;
    uint64_t *number =
        pyro_map_put(&reading->series, (uint64_t)(uint32_t)thread << 32 | (uint64_t)series << 24 | text, &new);
    if (!number)
        return false;
    if (new) {
        int32_t added = add_series(reading, thread, series, label);
        if (added < 0)
            return false;
        *number = (uint64_t)(uint32_t)added;
    }
    const struct pyro_point_row row = {.series = (int32_t)*number, .time_ns = time_ns, .value = value};
    reading->rows++;
    note_time(reading, time_ns);
    return pyro_tracks_add_point(reading->tracks, &row);
}

/* ---- Owners ------------------------------------------------------------------------------------------------------ */

/* The times of a thread for a task, none of them yet if it is new; NULL: no memory. */
static struct pyro_profile_owner *owner_of(struct pyro_profile_reading *reading, int32_t thread,
                                           const struct pyro_profile_task *task)
{
    uint64_t hash = pyro_hash_mix((uint64_t)(uint32_t)thread << 32 ^ (uint64_t)task->task);
    hash = pyro_hash_mix(hash ^ (uint64_t)task->stage * 31 ^ (uint64_t)task->stage_attempt);
    for (;; hash = pyro_hash_mix(hash + 1)) {
        uint64_t *place = pyro_map_put(&reading->owner_of, hash, NULL);
        if (!place)
            return NULL;
        if (*place == 0) {
            if (!pyro_vec_reserve(&reading->owners, 1, reading->allocator))
                return NULL;
            reading->owners.items[reading->owners.count++] =
                (struct pyro_profile_owner){thread, *task, INT64_MAX, INT64_MIN};
            *place = reading->owners.count;
            return &reading->owners.items[*place - 1];
        }
        struct pyro_profile_owner *owner = &reading->owners.items[*place - 1];
        if (owner->thread == thread && owner->of.task == task->task && owner->of.stage == task->stage &&
            owner->of.stage_attempt == task->stage_attempt)
            return owner;
    }
}

bool pyro_profile_owned(struct pyro_profile_reading *reading, int32_t thread, const struct pyro_profile_task *task,
                        int64_t start_ns, int64_t end_ns)
{
    if (start_ns == PYRO_NONE)
        return true;
    if (end_ns == PYRO_NONE || end_ns <= start_ns)
        end_ns = start_ns + 1; /* an owner's end is the first time that is not the task's */
    struct pyro_profile_owner *owner = owner_of(reading, thread, task);
    if (!owner)
        return false;
    owner->start_ns = start_ns < owner->start_ns ? start_ns : owner->start_ns;
    owner->end_ns = end_ns > owner->end_ns ? end_ns : owner->end_ns;
    return true;
}

/* A number at *at, which moves after it. At most 18 digits: more are not a number of a task. */
static bool take_number(const char **at, const char *end, int64_t *ret)
{
    const char *from = *at;
    int64_t value = 0;
    for (; *at < end && **at >= '0' && **at <= '9' && *at - from < 19; (*at)++)
        value = *at - from < 18 ? value * 10 + (**at - '0') : -1;
    *ret = value;
    return *at > from && value >= 0;
}

static bool take_text(const char **at, const char *end, const char *text)
{
    size_t len = strlen(text);
    if ((size_t)(end - *at) < len || memcmp(*at, text, len) != 0)
        return false;
    *at += len;
    return true;
}

bool pyro_profile_task_of_name(struct pyro_slice name, struct pyro_profile_task *ret)
{
    const char *at = name.ptr ? pyro_slice_find(name, "for task ") : NULL, *end = name.ptr ? name.ptr + name.len : NULL;
    struct pyro_profile_task task = {PYRO_NONE, PYRO_NONE, PYRO_NONE, "thread-name"};
    int64_t index, attempt;
    if (!at)
        return false;
    at += sizeof("for task ") - 1;
    if (!take_number(&at, end, &index))
        return false;
    if (at == end) { /* Spark 2 and 3.0: the name ends with the task's id */
        task.task = index;
    } else if (!take_text(&at, end, ".") || !take_number(&at, end, &attempt) || !take_text(&at, end, " in stage ") ||
               !take_number(&at, end, &task.stage) || !take_text(&at, end, ".") ||
               !take_number(&at, end, &task.stage_attempt) || !take_text(&at, end, " (TID ") ||
               !take_number(&at, end, &task.task) || !take_text(&at, end, ")")) {
        return false;
    }
    *ret = task;
    return true;
}

/* Which number a key of a tag is: SPARK-59487 and other profilers spell them in several ways. */
static int64_t *number_of_key(struct pyro_slice key, struct pyro_profile_task *task)
{
    static const char *const tasks[] = {"taskId", "taskAttemptId", "task_attempt_id", "task_id", "tid", "TID"};
    static const char *const stages[] = {"stageId", "stage_id", "stage"};
    static const char *const attempts[] = {"stageAttempt", "stageAttemptNumber", "stage_attempt",
                                           "stage_attempt_number"};
    for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++)
        if (pyro_slice_is(key, tasks[i]))
            return &task->task;
    for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
        if (pyro_slice_is(key, stages[i]))
            return &task->stage;
    for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++)
        if (pyro_slice_is(key, attempts[i]))
            return &task->stage_attempt;
    return NULL;
}

bool pyro_profile_task_of_tag(struct pyro_slice tag, struct pyro_profile_task *ret)
{
    struct pyro_profile_task task = {PYRO_NONE, PYRO_NONE, PYRO_NONE, "named"};
    const char *at = tag.ptr, *end = tag.ptr ? tag.ptr + tag.len : NULL;
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
        const char *equals = memchr(at, '=', (size_t)(stop - at));
        if (!equals)
            return false;
        while (at < equals && *at == ' ')
            at++;
        int64_t *number = number_of_key((struct pyro_slice){at, (size_t)(equals - at)}, &task);
        const char *value = equals + 1;
        if (number && (!take_number(&value, stop, number) || value != stop))
            return false;
        at = comma ? comma + 1 : end;
    }
    if (task.task == PYRO_NONE)
        return false;
    *ret = task;
    return true;
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

/* Splits ":LINE" off the end; false: there is none. A line that would not read back the same is part of the text. */
static bool split_line(struct pyro_slice *text, int64_t *ret_line)
{
    size_t digits = 0;
    while (digits < text->len && digits < 10 && text->ptr[text->len - 1 - digits] >= '0' &&
           text->ptr[text->len - 1 - digits] <= '9')
        digits++;
    if (digits == 0 || digits > 9 || digits + 1 >= text->len || text->ptr[text->len - 1 - digits] != ':')
        return false;
    const char *first = text->ptr + text->len - digits, *at = first;
    if (*first == '0' && digits > 1)
        return false;
    take_number(&at, first + digits, ret_line);
    text->len -= digits + 1;
    return true;
}

static bool is_python_file(struct pyro_slice file)
{
    return pyro_slice_ends_with(file, ".py") || pyro_slice_starts_with(file, "<");
}

/* FUNCTION (FILE.py:LINE), as py-spy writes it. */
static bool split_py_spy(struct pyro_slice text, struct pyro_frame_row *ret)
{
    const char *open = text.len > 0 && text.ptr[text.len - 1] == ')' ? pyro_slice_find(text, " (") : NULL;
    if (!open || open == text.ptr)
        return false;
    struct pyro_slice file = {open + 2, (size_t)(text.ptr + text.len - 1 - (open + 2))};
    int64_t line = PYRO_NONE;
    split_line(&file, &line);
    if (!is_python_file(file))
        return false;
    *ret = (struct pyro_frame_row){{text.ptr, (size_t)(open - text.ptr)}, file, line, PYRO_SLICE_LITERAL("python")};
    return true;
}

/* FILE.py:FUNCTION, once the line is split off. */
static bool split_python(struct pyro_slice text, int64_t line, struct pyro_frame_row *ret)
{
    const char *colon = text.len ? memrchr(text.ptr, ':', text.len) : NULL;
    if (!colon || colon == text.ptr || colon + 1 == text.ptr + text.len)
        return false;
    struct pyro_slice file = {text.ptr, (size_t)(colon - text.ptr)};
    if (!is_python_file(file))
        return false;
    *ret = (struct pyro_frame_row){
        {colon + 1, (size_t)(text.ptr + text.len - colon - 1)}, file, line, PYRO_SLICE_LITERAL("python")};
    return true;
}

int32_t pyro_profile_frame_row(struct pyro_profile_reading *reading, struct pyro_slice text, struct pyro_slice language)
{
    struct pyro_frame_row row;
    struct pyro_slice rest = text;
    int64_t line = PYRO_NONE;
    if (!split_py_spy(text, &row)) {
        split_line(&rest, &line);
        if (!split_python(rest, line, &row))
            row = (struct pyro_frame_row){rest, PYRO_SLICE_NULL, line, language};
    }
    return pyro_tracks_add_frame(reading->tracks, &row);
}
