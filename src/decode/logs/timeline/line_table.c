/* From the rows of a timeline to its result: stages, the number of running tasks, everything in order. */
#include "decode/logs/timeline/line_table.h"

#include <stdlib.h>

#include "model/column.h"

enum pyro_status pyro_line_timeline_new(const struct pyro_allocator *allocator, enum pyro_redaction redaction,
                                        struct pyro_line_timeline **ret, struct pyro_error *error)
{
    struct pyro_line_timeline *timeline = pyro_allocate(allocator, sizeof(*timeline));
    if (!timeline)
        return pyro_no_memory(error);
    *timeline = (struct pyro_line_timeline){.allocator = allocator, .current = -1};
    pyro_arena_init(&timeline->arena, allocator);
    pyro_map_init(&timeline->application_places, allocator);
    pyro_map_init(&timeline->job_places, allocator);
    pyro_map_init(&timeline->task_places, allocator);
    pyro_map_init(&timeline->map_stages, allocator);
    timeline->pool = pyro_string_pool_new(allocator);
    if (!timeline->pool) {
        pyro_line_timeline_free(timeline);
        return pyro_no_memory(error);
    }
    pyro_intake_init(&timeline->intake, timeline->pool, redaction, allocator);
    *ret = timeline;
    return PYRO_OK;
}

void pyro_line_timeline_free(struct pyro_line_timeline *timeline)
{
    if (!timeline)
        return;
    pyro_vec_done(&timeline->applications, timeline->allocator);
    pyro_vec_done(&timeline->jobs, timeline->allocator);
    pyro_vec_done(&timeline->tasks, timeline->allocator);
    pyro_map_done(&timeline->application_places);
    pyro_map_done(&timeline->job_places);
    pyro_map_done(&timeline->task_places);
    pyro_map_done(&timeline->map_stages);
    if (timeline->pool) {
        pyro_intake_done(&timeline->intake);
        pyro_string_pool_release(timeline->pool);
    }
    pyro_arena_done(&timeline->arena);
    pyro_release(timeline->allocator, timeline);
}

struct pyro_slice pyro_line_executor(const struct pyro_line_timeline *timeline, const struct pyro_line_task *task)
{
    return task->executor < 0 ? PYRO_SLICE_NULL : pyro_string_pool_text(timeline->pool, (uint32_t)task->executor);
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_jobs(const void *a, const void *b)
{
    const struct pyro_line_job *x = a, *y = b;
    int first = order(x->application, y->application);
    return first ? first : order(x->id, y->id);
}

static int compare_tasks(const void *a, const void *b)
{
    const struct pyro_line_task *x = a, *y = b;
    int first = order(x->application, y->application);
    return first ? first : order(x->id, y->id);
}

static int compare_by_stage(const void *a, const void *b)
{
    const struct pyro_line_task *x = a, *y = b;
    int first = order(x->application, y->application);
    first = first ? first : order(x->stage, y->stage);
    first = first ? first : order(x->stage_attempt, y->stage_attempt);
    return first ? first : order(x->id, y->id);
}

static int compare_steps(const void *a, const void *b)
{
    const struct pyro_line_step *x = a, *y = b;
    int first = order(x->time_ms, y->time_ms);
    return first ? first : order(x->tasks, y->tasks);
}

/* ---- Result ------------------------------------------------------------------------------------------------------ */

/* The tasks that were asked for, at the front of the array. */
static void choose_tasks(struct pyro_line_timeline *timeline, const struct pyro_line_filter *filter)
{
    size_t kept = 0;
    for (size_t i = 0; i < timeline->tasks.count; i++) {
        const struct pyro_line_task *task = &timeline->tasks.items[i];
        bool wanted = filter->stage == PYRO_NONE || task->stage == filter->stage;
        wanted &= !filter->executor.ptr || pyro_slice_eq(pyro_line_executor(timeline, task), filter->executor);
        if (wanted)
            timeline->tasks.items[kept++] = *task;
    }
    timeline->tasks.count = kept;
}

static void widen(struct pyro_line_stage *stage, const struct pyro_line_task *task)
{
    if (task->start_ms != PYRO_NONE && (stage->start_ms == PYRO_NONE || task->start_ms < stage->start_ms))
        stage->start_ms = task->start_ms;
    if (task->end_ms != PYRO_NONE && task->end_ms > stage->end_ms) /* PYRO_NONE is less than any time */
        stage->end_ms = task->end_ms;
    stage->tasks++;
    stage->failed += task->status == PYRO_LINE_FAILED;
}

/* Tasks are in the order of their stages. False: no memory. */
static bool make_stages(struct pyro_line_timeline *timeline, struct pyro_line_result *ret)
{
    const struct pyro_line_task *tasks = timeline->tasks.items;
    size_t count = 0;
    for (size_t i = 0; i < timeline->tasks.count; i++)
        count += i == 0 || tasks[i].application != tasks[i - 1].application || tasks[i].stage != tasks[i - 1].stage ||
                 tasks[i].stage_attempt != tasks[i - 1].stage_attempt;
    struct pyro_line_stage *stages = pyro_arena_array(&timeline->arena, count, sizeof(*stages));
    size_t made = 0;
    for (size_t i = 0; stages && i < timeline->tasks.count; i++) {
        struct pyro_line_stage *stage = made ? &stages[made - 1] : NULL;
        if (!stage || stage->application != tasks[i].application || stage->id != tasks[i].stage ||
            stage->attempt != tasks[i].stage_attempt) {
            stage = &stages[made++];
            *stage = (struct pyro_line_stage){.application = tasks[i].application,
                                              .id = tasks[i].stage,
                                              .attempt = tasks[i].stage_attempt,
                                              .start_ms = PYRO_NONE,
                                              .end_ms = PYRO_NONE};
        }
        widen(stage, &tasks[i]);
    }
    ret->stages = stages;
    ret->stage_count = made;
    return stages != NULL;
}

/* A task whose end no line says ran until its application's last record. */
static bool make_active(struct pyro_line_timeline *timeline, struct pyro_line_result *ret)
{
    size_t count = timeline->tasks.count, made = 0, kept = 0;
    struct pyro_line_step *steps = pyro_arena_array(&timeline->arena, 2 * count, sizeof(*steps));
    for (size_t i = 0; steps && i < count; i++) {
        const struct pyro_line_task *task = &timeline->tasks.items[i];
        int64_t end_ms =
            task->end_ms != PYRO_NONE ? task->end_ms : timeline->applications.items[task->application].end_ms;
        if (task->start_ms == PYRO_NONE || end_ms <= task->start_ms)
            continue;
        steps[made++] = (struct pyro_line_step){task->start_ms, 1};
        steps[made++] = (struct pyro_line_step){end_ms, -1};
    }
    if (!steps)
        return false;
    if (made > 0)
        qsort(steps, made, sizeof(*steps), compare_steps);
    int64_t active = 0;
    for (size_t i = 0; i < made; i++) {
        active += steps[i].tasks;
        if (i + 1 < made && steps[i + 1].time_ms == steps[i].time_ms)
            continue;
        if (kept == 0 || steps[kept - 1].tasks != active)
            steps[kept++] = (struct pyro_line_step){steps[i].time_ms, active};
    }
    ret->active = steps;
    ret->active_count = kept;
    return true;
}

enum pyro_status pyro_line_timeline_finish(struct pyro_line_timeline *timeline, const struct pyro_line_filter *filter,
                                           struct pyro_line_result *ret, struct pyro_error *error)
{
    choose_tasks(timeline, filter);
    *ret = (struct pyro_line_result){.left_out = timeline->left_out};
    if (timeline->tasks.count > 0)
        qsort(timeline->tasks.items, timeline->tasks.count, sizeof(*timeline->tasks.items), compare_by_stage);
    if (!make_stages(timeline, ret) || !make_active(timeline, ret))
        return pyro_no_memory(error);
    if (timeline->tasks.count > 0)
        qsort(timeline->tasks.items, timeline->tasks.count, sizeof(*timeline->tasks.items), compare_tasks);
    if (timeline->jobs.count > 0)
        qsort(timeline->jobs.items, timeline->jobs.count, sizeof(*timeline->jobs.items), compare_jobs);
    for (size_t i = 0; i < timeline->tasks.count; i++)
        timeline->applications.items[timeline->tasks.items[i].application].tasks++;
    ret->applications = timeline->applications.items;
    ret->application_count = timeline->applications.count;
    ret->jobs = timeline->jobs.items;
    ret->job_count = timeline->jobs.count;
    ret->tasks = timeline->tasks.items;
    ret->task_count = timeline->tasks.count;
    return PYRO_OK;
}
