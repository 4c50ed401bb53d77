/* Tasks, stages and jobs on the axis of a profile: those of the event log, or else those that records name. */
#include <stdlib.h>

#include "base/collections/hash.h"
#include "decode/logs/timeline/timeline.h"
#include "model/column.h"
#include "report/profiling/profiling.h"

enum { NS_PER_MS = 1000000 };

static int64_t ns_of(int64_t ms)
{
    return ms == PYRO_NONE || ms > INT64_MAX / NS_PER_MS || ms < 0 ? PYRO_NONE : ms * NS_PER_MS;
}

static int compare_work(const void *a, const void *b)
{
    const struct pyro_profiling_work *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    if (x->attempt != y->attempt)
        return x->attempt < y->attempt ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void sort(struct pyro_profiling_works *works)
{
    if (works->count > 0)
        qsort(works->items, works->count, sizeof(*works->items), compare_work);
}

static bool make_room(struct pyro_profiling_works *works, size_t count, struct pyro_arena *arena)
{
    works->items = pyro_arena_array(arena, count + 1, sizeof(*works->items));
    return works->items != NULL;
}

/* ---- Of the event log -------------------------------------------------------------------------------------------- */

static bool add_jobs(struct pyro_profiling *profile, const struct pyro_app *app, struct pyro_arena *arena)
{
    if (!make_room(&profile->jobs, app->jobs.count, arena))
        return false;
    for (size_t i = 0; i < app->jobs.count; i++) {
        const struct pyro_job *job = &app->jobs.items[i];
        if (ns_of(job->submitted_ms) != PYRO_NONE)
            profile->jobs.items[profile->jobs.count++] =
                (struct pyro_profiling_work){.id = job->id,
                                             .stage = PYRO_NONE,
                                             .attempt = PYRO_NONE,
                                             .process = -1,
                                             .start_ns = ns_of(job->submitted_ms),
                                             .end_ns = ns_of(job->completed_ms),
                                             .name = job->name};
    }
    sort(&profile->jobs);
    return true;
}

static bool add_stages(struct pyro_profiling *profile, const struct pyro_app *app, struct pyro_arena *arena)
{
    if (!make_room(&profile->stages, app->stages.count, arena))
        return false;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        if (ns_of(stage->submitted_ms) != PYRO_NONE)
            profile->stages.items[profile->stages.count++] =
                (struct pyro_profiling_work){.id = stage->id,
                                             .stage = stage->id,
                                             .attempt = stage->attempt,
                                             .process = -1,
                                             .start_ns = ns_of(stage->submitted_ms),
                                             .end_ns = ns_of(stage->completed_ms),
                                             .name = stage->name};
    }
    sort(&profile->stages);
    return true;
}

/* Processes of executors by the hash of their ids; workers of Python run no tasks of their own. */
static bool map_executors(const struct pyro_profiling *profile, struct pyro_map *places)
{
    for (size_t i = 0; i < profile->process_count; i++) {
        const struct pyro_profiling_process *process = &profile->processes[i];
        if (!process->executor.ptr || pyro_slice_is(process->role, "python-worker"))
            continue;
        uint64_t *place = pyro_map_put(places, pyro_hash_slice(process->executor), NULL);
        if (!place)
            return false;
        *place = *place ? *place : i + 1;
    }
    return true;
}

static struct pyro_profiling_work task_of(const struct pyro_app *app, const struct pyro_map *places, size_t row)
{
    struct pyro_slice executor = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_executor, row));
    const uint64_t *place = executor.ptr ? pyro_map_get(places, pyro_hash_slice(executor)) : NULL;
    return (struct pyro_profiling_work){
        .id = pyro_task_get(&app->tasks, PYRO_TASK_id, row),
        .stage = pyro_task_get(&app->tasks, PYRO_TASK_stage, row),
        .attempt = pyro_task_get(&app->tasks, PYRO_TASK_stage_attempt, row),
        .process = place ? (int32_t)(*place - 1) : -1,
        .start_ns = ns_of(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, row)),
        .end_ns = ns_of(pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, row)),
    };
}

static bool add_tasks(struct pyro_profiling *profile, const struct pyro_app *app, const struct pyro_map *places,
                      struct pyro_arena *arena)
{
    size_t most = app->tasks.count < PYRO_PROFILING_TASKS ? app->tasks.count : PYRO_PROFILING_TASKS;
    struct pyro_profiling_works *tasks = &profile->tasks;
    if (!make_room(tasks, most, arena))
        return false;
    for (size_t i = 0; i < app->tasks.count; i++) {
        const struct pyro_profiling_work task = task_of(app, places, i);
        if (task.start_ns == PYRO_NONE || pyro_task_get(&app->tasks, PYRO_TASK_status, i) == PYRO_TASK_RESUBMITTED ||
            (profile->choice.process.ptr && task.process < 0))
            continue;
        if (tasks->count < most)
            tasks->items[tasks->count++] = task;
        else
            tasks->left_out++;
    }
    sort(tasks);
    return true;
}

static bool find_in_log(struct pyro_profiling *profile, struct pyro_arena *arena)
{
    const struct pyro_app *app = profile->diagnosis->app;
    struct pyro_map places;
    pyro_map_init(&places, arena->allocator);
    bool done = map_executors(profile, &places) && add_jobs(profile, app, arena) && add_stages(profile, app, arena) &&
                add_tasks(profile, app, &places, arena);
    pyro_map_done(&places);
    return done;
}

/* ---- Of records -------------------------------------------------------------------------------------------------- */

/* Adds an interval to the row with this key: rows of one key are one. */
static bool add_owned(struct pyro_map *known, uint64_t key, const struct pyro_profiling_work *work, size_t most,
                      struct pyro_profiling_works *to)
{
    uint64_t *place = pyro_map_put(known, key, NULL);
    if (!place)
        return false;
    if (*place == 0 && to->count == most) {
        to->left_out++;
        *place = UINT64_MAX;
    } else if (*place == 0) {
        to->items[to->count++] = *work;
        *place = to->count;
    }
    if (*place == UINT64_MAX)
        return true;
    struct pyro_profiling_work *row = &to->items[*place - 1];
    row->process = row->process >= 0 ? row->process : work->process;
    row->start_ns = work->start_ns < row->start_ns ? work->start_ns : row->start_ns;
    row->end_ns = work->end_ns > row->end_ns ? work->end_ns : row->end_ns;
    return true;
}

static bool add_owner(struct pyro_profiling *profile, const struct pyro_owner_row *owner, struct pyro_map *tasks,
                      struct pyro_map *stages)
{
    struct pyro_profiling_work work = {.id = owner->task,
                                       .stage = owner->stage,
                                       .attempt = owner->stage_attempt,
                                       .process = pyro_profiling_process_of(profile, owner->thread),
                                       .start_ns = owner->start_ns,
                                       .end_ns = owner->end_ns};
    if (work.process < 0)
        return true;
    if (owner->task != PYRO_NONE &&
        !add_owned(tasks, (uint64_t)owner->task, &work, PYRO_PROFILING_TASKS, &profile->tasks))
        return false;
    work.id = owner->stage;
    work.process = -1;
    const struct pyro_slice key = {(const char *)&(int64_t[2]){owner->stage, owner->stage_attempt}, 16};
    return owner->stage == PYRO_NONE ||
           add_owned(stages, pyro_hash_slice(key), &work, PYRO_PROFILING_TASKS, &profile->stages);
}

static bool find_in_records(struct pyro_profiling *profile, struct pyro_arena *arena)
{
    size_t count = pyro_tracks_count(profile->tracks, PYRO_TRACK_OWNERS);
    size_t most = count < PYRO_PROFILING_TASKS ? count : PYRO_PROFILING_TASKS;
    struct pyro_map tasks, stages;
    if (!make_room(&profile->tasks, most, arena) || !make_room(&profile->stages, most, arena))
        return false;
    pyro_map_init(&tasks, arena->allocator);
    pyro_map_init(&stages, arena->allocator);
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        const struct pyro_owner_row owner = pyro_tracks_owner(profile->tracks, i);
        done = add_owner(profile, &owner, &tasks, &stages);
    }
    sort(&profile->tasks);
    sort(&profile->stages);
    pyro_map_done(&tasks);
    pyro_map_done(&stages);
    return done;
}

/* ---- Of text logs ------------------------------------------------------------------------------------------------ */

static bool add_lines(struct pyro_profiling *profile, const struct pyro_line_result *lines,
                      const struct pyro_map *places, struct pyro_arena *arena)
{
    size_t most = lines->task_count < PYRO_PROFILING_TASKS ? lines->task_count : PYRO_PROFILING_TASKS;
    if (!make_room(&profile->jobs, lines->job_count, arena) ||
        !make_room(&profile->stages, lines->stage_count, arena) || !make_room(&profile->tasks, most, arena))
        return false;
    for (size_t i = 0; i < lines->job_count; i++) {
        const struct pyro_line_job *job = &lines->jobs[i];
        if (ns_of(job->start_ms) != PYRO_NONE)
            profile->jobs.items[profile->jobs.count++] = (struct pyro_profiling_work){
                job->id, PYRO_NONE, PYRO_NONE, -1, ns_of(job->start_ms), ns_of(job->end_ms), job->name};
    }
    for (size_t i = 0; i < lines->stage_count; i++) {
        const struct pyro_line_stage *stage = &lines->stages[i];
        if (ns_of(stage->start_ms) != PYRO_NONE)
            profile->stages.items[profile->stages.count++] = (struct pyro_profiling_work){
                stage->id,      stage->id, stage->attempt, -1, ns_of(stage->start_ms), ns_of(stage->end_ms),
                PYRO_SLICE_NULL};
    }
    for (size_t i = 0; i < lines->task_count; i++) {
        const struct pyro_line_task *task = &lines->tasks[i];
        struct pyro_slice executor = pyro_line_executor(profile->choice.timeline, task);
        const uint64_t *place = executor.ptr ? pyro_map_get(places, pyro_hash_slice(executor)) : NULL;
        if (ns_of(task->start_ms) == PYRO_NONE || (profile->choice.process.ptr && !place))
            continue;
        if (profile->tasks.count < most)
            profile->tasks.items[profile->tasks.count++] =
                (struct pyro_profiling_work){task->id,
                                             task->stage,
                                             task->stage_attempt,
                                             place ? (int32_t)(*place - 1) : -1,
                                             ns_of(task->start_ms),
                                             ns_of(task->end_ms),
                                             PYRO_SLICE_NULL};
        else
            profile->tasks.left_out++;
    }
    sort(&profile->jobs);
    sort(&profile->stages);
    sort(&profile->tasks);
    return true;
}

static bool find_in_lines(struct pyro_profiling *profile, const struct pyro_line_result *lines,
                          struct pyro_arena *arena)
{
    struct pyro_map places;
    pyro_map_init(&places, arena->allocator);
    bool done = map_executors(profile, &places) && add_lines(profile, lines, &places, arena);
    pyro_map_done(&places);
    return done;
}

bool pyro_profiling_find_work(struct pyro_profiling *profile, struct pyro_arena *arena)
{
    if (profile->diagnosis)
        return find_in_log(profile, arena);
    if (profile->choice.lines && profile->choice.lines->task_count + profile->choice.lines->job_count > 0)
        return find_in_lines(profile, profile->choice.lines, arena);
    return find_in_records(profile, arena);
}
