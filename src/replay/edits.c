/* Edits of a run put in place, and taken out again. */
#include <math.h>

#include "replay/edits.h"
#include "replay/times.h"

/* Windows beyond these are left out: a rule names one or two. */
enum { WINDOWS_MAX = 256 };

static int64_t fixed(double factor)
{
    const double one = (double)((int64_t)1 << REPLAY_FACTOR_BITS);
    return factor > 0 ? (int64_t)floor(fmin(factor, 1e6) * one + 0.5) : 0;
}

static struct replay_stage_edit *stage_edit(struct pyro_replay *replay, size_t row)
{
    if (row >= replay->app->stages.count || replay->stage_of_row[row] == REPLAY_NOBODY)
        return NULL;
    if (!replay->stage_edits) {
        replay->stage_edits = pyro_scratch(replay->app, replay->stage_count, sizeof(*replay->stage_edits));
        replay->no_memory |= !replay->stage_edits;
        for (uint32_t i = 0; replay->stage_edits && i < replay->stage_count; i++)
            replay->stage_edits[i].factor = (int64_t)1 << REPLAY_FACTOR_BITS;
    }
    return replay->stage_edits ? &replay->stage_edits[replay->stage_of_row[row]] : NULL;
}

/* The stage's own copy of its runs' times. NULL: the replay has no such stage, or there is no memory. */
static struct replay_stage_edit *own_times(struct pyro_replay *replay, size_t row)
{
    struct replay_stage_edit *edit = stage_edit(replay, row);
    if (!edit || edit->own)
        return edit;
    const struct replay_list *runs = &replay->stages[replay->stage_of_row[row]].runs;
    edit->own = pyro_scratch(replay->app, runs->count, sizeof(*edit->own));
    replay->no_memory |= !edit->own;
    for (uint32_t i = 0; edit->own && i < runs->count; i++)
        edit->own[i] = replay->runs[runs->first + i].us;
    return edit->own ? edit : NULL;
}

static void set_time(struct pyro_replay *replay, size_t row, const struct replay_stage_edit *edit, size_t task,
                     double ms)
{
    const struct replay_list *runs = &replay->stages[replay->stage_of_row[row]].runs;
    uint32_t run = task < replay->app->tasks.count ? replay->run_of_task[task] : REPLAY_NOBODY;
    if (run >= runs->first && run - runs->first < runs->count)
        edit->own[run - runs->first] = replay_edit_us(ms);
}

static void edit_task(struct pyro_replay *replay, const struct pyro_edit *edit)
{
    if (edit->row >= replay->app->tasks.count || replay->run_of_task[edit->row] == REPLAY_NOBODY)
        return;
    uint32_t row = replay_row_of(replay, replay->run_of_task[edit->row]);
    const struct replay_stage_edit *stage = own_times(replay, row);
    if (stage)
        set_time(replay, row, stage, edit->row, edit->ms);
}

static void edit_times(struct pyro_replay *replay, const struct pyro_edit *edit)
{
    const struct replay_stage_edit *stage = edit->times && edit->tasks ? own_times(replay, edit->row) : NULL;
    for (int64_t i = 0; stage && i < edit->count; i++)
        set_time(replay, edit->row, stage, edit->tasks[i], edit->times[i]);
}

/* What the tasks of a stage do is not known before they have ended: such a stage is not cut in another way. */
static struct replay_stage_edit *stage_to_cut(struct pyro_replay *replay, size_t row)
{
    struct replay_stage_edit *edit = stage_edit(replay, row);
    const struct replay_stage *stage = edit ? &replay->stages[replay->stage_of_row[row]] : NULL;
    return stage && !stage->unfinished && !stage->barrier ? edit
                                                          : NULL; /* a barrier has as many tasks as it asks for */
}

static void repartition(struct pyro_replay *replay, const struct pyro_edit *edit)
{
    struct replay_stage_edit *stage = stage_to_cut(replay, edit->row);
    if (!stage || edit->count <= 0)
        return;
    int64_t count = edit->count, joined = 1;
    if (count > PYRO_REPLAY_PARTITIONS) {
        joined = count / PYRO_REPLAY_PARTITIONS + (count % PYRO_REPLAY_PARTITIONS > 0);
        count = count / joined + (count % joined > 0);
    }
    stage->times = NULL;
    stage->count = (uint32_t)count;
    stage->us = replay_edit_us(edit->ms * (double)edit->count / (double)count);
}

static void give_times(struct pyro_replay *replay, const struct pyro_edit *edit)
{
    struct pyro_edit mean = *edit;
    if (!edit->times || edit->count <= 0)
        return;
    if (edit->count > PYRO_REPLAY_PARTITIONS) {
        mean.ms = 0;
        for (int64_t i = 0; i < edit->count; i++)
            mean.ms += edit->times[i] / (double)edit->count;
        repartition(replay, &mean);
        return;
    }
    struct replay_stage_edit *stage = stage_to_cut(replay, edit->row);
    if (!stage)
        return;
    stage->times = edit->times;
    stage->count = (uint32_t)edit->count;
}

static void skip_task(struct pyro_replay *replay, const struct pyro_edit *edit)
{
    if (edit->row >= replay->app->tasks.count || replay->run_of_task[edit->row] == REPLAY_NOBODY)
        return;
    if (!replay->run_edits)
        replay->run_edits = pyro_scratch(replay->app, replay->run_count, 1);
    replay->no_memory |= !replay->run_edits;
    unsigned char *run = replay->run_edits ? &replay->run_edits[replay->run_of_task[edit->row]] : NULL;
    if (run && *run == 0) /* of two such edits the first one counts */
        *run = REPLAY_RUN_SKIPPED | (edit->count > 0 ? REPLAY_RUN_GONE : 0);
}

/* ---- the driver's time ------------------------------------------------------------------------------------------- */

/* Time that passes faster: spans one behind the other, and the length of those before each. */
struct span {
    int64_t from, to, before;
};
struct spans {
    struct span *items;
    size_t count;
    int64_t keeps; /* share of that time that passes nevertheless, in units of 2^-REPLAY_FACTOR_BITS */
};

static int64_t length_until(const struct spans *spans, int64_t time)
{
    size_t low = 0, high = spans->count;
    while (low < high) { /* the first span that begins at `time` or later */
        size_t middle = low + (high - low) / 2;
        if (spans->items[middle].from < time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    const struct span *span = &spans->items[low - 1];
    return span->before + (time < span->to ? time : span->to) - span->from;
}

/* What is left out of [from, to), in microseconds. */
static int64_t cut(const struct spans *spans, int64_t from, int64_t to)
{
    if (to <= from)
        return 0;
    int64_t length = length_until(spans, to) - length_until(spans, from);
    return length - (int64_t)(((__int128)length * spans->keeps) >> REPLAY_FACTOR_BITS);
}

static void add_span(struct spans *spans, int64_t from, int64_t to, int64_t least)
{
    if (to <= from || to - from < least)
        return;
    int64_t before = 0;
    if (spans->count > 0) {
        const struct span *last = &spans->items[spans->count - 1];
        before = last->before + last->to - last->from;
    }
    spans->items[spans->count++] = (struct span){from, to, before};
}

/* The parts of [begin, end) in which no stage ran. */
static void add_idle(const struct pyro_replay *replay, struct spans *spans, int64_t begin, int64_t end, int64_t least)
{
    int64_t busy_until = begin;
    for (uint32_t i = 0; i < replay->stage_count; i++) { /* as they were submitted */
        const struct replay_stage *stage = &replay->stages[i];
        add_span(spans, busy_until, stage->from < end ? stage->from : end, least);
        busy_until = stage->to > busy_until ? stage->to : busy_until;
    }
    add_span(spans, busy_until, end, least);
}

static void less(int64_t *time, int64_t by)
{
    *time = *time > by ? *time - by : 0;
}

static void edit_driver(struct pyro_replay *replay, const struct pyro_edit *edit)
{
    int64_t begin = replay_at(replay, edit->from_ms), end = replay_at(replay, edit->to_ms);
    size_t room = edit->kind == PYRO_EDIT_ALONE ? (size_t)replay->stage_count + 1 : 1;
    struct spans spans = {.items = pyro_scratch(replay->app, room, sizeof(*spans.items)),
                          .keeps = fixed(fmin(edit->factor, 1))};
    if (!spans.items) {
        replay->no_memory = true;
        return;
    }
    if (edit->kind == PYRO_EDIT_ALONE)
        add_idle(replay, &spans, begin, end, replay_edit_us(edit->ms));
    else
        add_span(&spans, begin, end, 0);
    for (uint32_t j = 0; j < replay->job_count; j++) {
        const struct replay_job *job = &replay->jobs[j];
        less(&replay->job_gaps[j], cut(&spans, job->base, job->from));
        less(&replay->job_tails[j], cut(&spans, job->to - job->tail, job->to));
    }
    for (uint32_t i = 0; i < replay->stage_count; i++) {
        const struct replay_stage *stage = &replay->stages[i];
        int64_t by = cut(&spans, stage->from - stage->gap, stage->from);
        struct replay_stage_edit *mine = by > 0 ? stage_edit(replay, stage->row) : NULL;
        if (mine)
            mine->less += by;
    }
    int64_t last = replay_us((int64_t)replay->window.length);
    less(&replay->tail_now, cut(&spans, last - replay->tail, last));
    pyro_release(replay->allocator, spans.items);
}

/* ---- executors --------------------------------------------------------------------------------------------------- */

static struct replay_executor *executor_edit(struct pyro_replay *replay, struct replay_undo *undo, uint32_t row)
{
    struct replay_undo_executor *was = pyro_vec_push(&undo->executors, replay->allocator);
    if (!was) {
        replay->no_memory = true;
        return NULL;
    }
    *was = (struct replay_undo_executor){row, replay->executors[row]};
    return &replay->executors[row];
}

static void edit_executors(struct pyro_replay *replay, struct replay_undo *undo, const struct pyro_edit *edit)
{
    int64_t from = replay_at(replay, edit->from_ms), to = replay_at(replay, edit->to_ms);
    for (uint32_t i = 0; i < replay->executor_count; i++) {
        if (replay->executors[i].added <= from || replay->executors[i].added >= to)
            continue;
        struct replay_executor *executor = executor_edit(replay, undo, i);
        if (!executor)
            return;
        executor->added = from;
    }
}

static void edit_executor(struct pyro_replay *replay, struct replay_undo *undo, const struct pyro_edit *edit)
{
    if (edit->row >= replay->app->executors.count || replay->others)
        return;
    struct replay_executor *executor = executor_edit(replay, undo, (uint32_t)edit->row);
    if (!executor)
        return;
    if (edit->from_ms != PYRO_NONE)
        executor->added = replay_at(replay, edit->from_ms);
    if (edit->to_ms != PYRO_NONE) {
        executor->removed = edit->to_ms >= replay->window.end ? REPLAY_TIME_MAX : replay_at(replay, edit->to_ms);
        executor->stays = true;
    }
    if (executor->removed <= executor->added)
        executor->slots = executor->cores = 0;
}

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

/* The first job that was submitted at `time` or later. */
static uint32_t job_at(const struct pyro_replay *replay, int64_t time)
{
    uint32_t low = 0, high = replay->job_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (replay->jobs[middle].from < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void edit_concurrent(struct pyro_replay *replay, struct replay_undo *undo, const struct pyro_edit *edit)
{
    uint32_t first = job_at(replay, replay_at(replay, edit->from_ms)),
             end = job_at(replay, replay_at(replay, edit->to_ms));
    if (end < first + 2)
        return;
    if (!undo->windows)
        undo->windows = pyro_scratch(replay->app, WINDOWS_MAX, sizeof(*undo->windows));
    if (!replay->job_windows) {
        replay->job_windows = pyro_scratch(replay->app, replay->job_count, sizeof(uint32_t));
        if (replay->job_windows)
            memset(replay->job_windows, 0xff, replay->job_count * sizeof(uint32_t));
    }
    if (!undo->windows || !replay->job_windows) {
        replay->no_memory = true;
        return;
    }
    for (uint32_t j = first; j < end; j++) /* a job is in one window */
        if (replay->job_windows[j] != REPLAY_NOBODY || replay->window_count == WINDOWS_MAX)
            return;
    for (uint32_t j = first; j < end; j++)
        replay->job_windows[j] = replay->window_count;
    undo->windows[replay->window_count++] = (struct replay_window){first, end};
    replay->windows = undo->windows;
}

void pyro_replay_apply(struct pyro_replay *replay, struct replay_undo *undo, const struct pyro_edit *edits,
                       size_t count)
{
    for (uint32_t j = 0; j < replay->job_count; j++) {
        replay->job_gaps[j] = replay->jobs[j].from - replay->jobs[j].base;
        replay->job_tails[j] = replay->jobs[j].tail;
    }
    replay->tail_now = replay->tail;
    for (size_t i = 0; i < count && !replay->no_memory; i++) {
        const struct pyro_edit *edit = &edits[i];
        struct replay_stage_edit *stage;
        switch (edit->kind) {
        case PYRO_EDIT_TASK:
            edit_task(replay, edit);
            break;
        case PYRO_EDIT_TIMES:
            edit_times(replay, edit);
            break;
        case PYRO_EDIT_STAGE:
            if ((stage = stage_edit(replay, edit->row)))
                stage->factor = (int64_t)(((__int128)stage->factor * fixed(edit->factor)) >> REPLAY_FACTOR_BITS);
            break;
        case PYRO_EDIT_REPARTITION:
            repartition(replay, edit);
            break;
        case PYRO_EDIT_TASKS:
            give_times(replay, edit);
            break;
        case PYRO_EDIT_SKIP_STAGE:
            if ((stage = stage_edit(replay, edit->row)))
                stage->skip = true;
            break;
        case PYRO_EDIT_NO_TASK:
            skip_task(replay, edit);
            break;
        case PYRO_EDIT_DRIVER:
        case PYRO_EDIT_ALONE:
            edit_driver(replay, edit);
            break;
        case PYRO_EDIT_LATER:
            if ((stage = stage_edit(replay, edit->row)))
                stage->less -= replay_edit_us(edit->ms);
            break;
        case PYRO_EDIT_EXECUTORS:
            edit_executors(replay, undo, edit);
            break;
        case PYRO_EDIT_EXECUTOR:
            edit_executor(replay, undo, edit);
            break;
        case PYRO_EDIT_CONCURRENT:
            edit_concurrent(replay, undo, edit);
            break;
        }
    }
}

void pyro_replay_undo(struct pyro_replay *replay, struct replay_undo *undo)
{
    while (undo->executors.count > 0) {
        struct replay_undo_executor was = undo->executors.items[--undo->executors.count];
        replay->executors[was.row] = was.value;
    }
    pyro_vec_done(&undo->executors, replay->allocator);
    pyro_release(replay->allocator, undo->windows);
    for (uint32_t i = 0; replay->stage_edits && i < replay->stage_count; i++)
        pyro_release(replay->allocator, replay->stage_edits[i].own);
    pyro_release(replay->allocator, replay->stage_edits);
    pyro_release(replay->allocator, replay->run_edits);
    pyro_release(replay->allocator, replay->job_windows);
    replay->stage_edits = NULL;
    replay->run_edits = NULL;
    replay->job_windows = NULL;
    replay->windows = NULL;
    replay->window_count = 0;
}
