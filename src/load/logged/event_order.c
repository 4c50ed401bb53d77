/* The events of an application in the order of their times, as Spark would have written them. */
#include <stdlib.h>

#include "base/collections/hash.h"
#include "load/logged/event_order.h"

struct linking {
    struct pyro_logged *logged;
    struct pyro_logged_order *order;
    struct pyro_strbuf text;
    PYRO_VEC(int64_t) waiting;    /* stages of the current job that no later one is taken to read yet */
    struct pyro_map stage_events; /* hash of id and attempt of a stage -> row + 1 */
};

struct pyro_logged_stage_times pyro_logged_stage_times(const struct pyro_logged *logged,
                                                       const struct pyro_line_stage *stage)
{
    const struct pyro_logged_stage *known = pyro_logged_stage(logged, stage->id, stage->attempt);
    struct pyro_logged_stage_times times = {
        stage->start_ms, stage->end_ms, stage->tasks < INT32_MAX ? (int64_t)stage->tasks : INT32_MAX, PYRO_SLICE_NULL};
    if (!known)
        return times;
    if (known->submitted_ms != PYRO_NONE &&
        (times.submitted_ms == PYRO_NONE || known->submitted_ms < times.submitted_ms))
        times.submitted_ms = known->submitted_ms;
    times.ended_ms = known->ended_ms != PYRO_NONE ? known->ended_ms : times.ended_ms;
    times.tasks = known->tasks < INT32_MAX ? known->tasks : times.tasks;
    times.reason = known->reason;
    return times;
}

/* ---- Stages and their jobs --------------------------------------------------------------------------------------- */

/* Spark numbers the stages of a job when the job begins, its final stage last: a stage is one of the first job whose
 * final stage has no smaller number. Both arrays are in the order of their numbers. */
static size_t job_of(const struct pyro_logged *logged, const struct pyro_line_stage *stage, size_t *at)
{
    const struct pyro_line_result *lines = &logged->lines;
    while (*at < lines->job_count &&
           (lines->jobs[*at].application != logged->application || lines->jobs[*at].final_stage == PYRO_NONE ||
            lines->jobs[*at].final_stage < stage->id))
        (*at)++;
    return *at < lines->job_count ? *at : SIZE_MAX;
}

/* A stage is submitted as soon as its parents have ended. It is taken to read what its job's earlier stages had written
 * by then, and no other stage was taken to read. */
static bool find_parents(struct linking *linking, const struct pyro_line_stage *stage, struct pyro_slice *ret)
{
    enum { LOOKED_AT = 64 };
    const struct pyro_logged *logged = linking->logged;
    const struct pyro_logged_stage_times times = pyro_logged_stage_times(logged, stage);
    size_t kept = 0, first = linking->waiting.count > LOOKED_AT ? linking->waiting.count - LOOKED_AT : 0;
    pyro_strbuf_clear(&linking->text);
    for (size_t i = first; i < linking->waiting.count; i++) {
        int64_t id = linking->waiting.items[i];
        const uint64_t *row = pyro_map_get(&logged->stage_rows, (uint64_t)id);
        const struct pyro_logged_stage *other = row ? &logged->stages.items[*row - 1] : NULL;
        bool reads = id != stage->id && other && other->ended_ms != PYRO_NONE && times.submitted_ms != PYRO_NONE &&
                     other->ended_ms <= times.submitted_ms;
        if (reads)
            pyro_strbuf_printf(&linking->text, "%s%lld", linking->text.len ? "," : "", (long long)id);
        else
            linking->waiting.items[first + kept++] = id;
    }
    linking->waiting.count = first + kept;
    if (linking->text.len)
        *ret = pyro_arena_copy(&linking->logged->arena, pyro_strbuf_slice(&linking->text));
    int64_t *added = stage->attempt == 0 ? pyro_vec_push(&linking->waiting, logged->allocator) : NULL;
    if (added)
        *added = stage->id;
    return (added || stage->attempt != 0) && !linking->text.failed && (ret->ptr || !linking->text.len);
}

static bool link_stages(struct linking *linking)
{
    const struct pyro_logged *logged = linking->logged;
    const struct pyro_line_result *lines = &logged->lines;
    size_t at = 0, job = SIZE_MAX;
    for (size_t i = 0; i < lines->stage_count; i++) {
        struct pyro_logged_place *place = &linking->order->stages[i];
        *place = (struct pyro_logged_place){.job = SIZE_MAX};
        if (lines->stages[i].application != logged->application)
            continue;
        place->job = job_of(logged, &lines->stages[i], &at);
        if (place->job != job)
            linking->waiting.count = 0;
        job = place->job;
        if (job != SIZE_MAX && !find_parents(linking, &lines->stages[i], &place->parents))
            return false;
    }
    return true;
}

/* Each job's first stage in the array. */
static void find_first_stages(struct linking *linking)
{
    const struct pyro_line_result *lines = &linking->logged->lines;
    for (size_t i = 0, at = 0; i < lines->job_count; i++) {
        const struct pyro_line_job *job = &lines->jobs[i];
        linking->order->first_stages[i] = at;
        if (job->application != linking->logged->application || job->start_ms == PYRO_NONE ||
            job->final_stage == PYRO_NONE)
            continue;
        while (at < lines->stage_count &&
               (lines->stages[at].application != job->application || lines->stages[at].id <= job->final_stage))
            at++;
    }
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void add(struct linking *linking, enum pyro_logged_kind kind, size_t row, int64_t time_ms)
{
    struct pyro_logged_order *order = linking->order;
    order->events[order->count++] = (struct pyro_logged_event){time_ms, (uint32_t)kind, (uint32_t)row};
}

static int64_t later(int64_t one, int64_t other)
{
    return one == PYRO_NONE || (other != PYRO_NONE && other > one) ? other : one;
}

static void add_executors(struct linking *linking)
{
    const struct pyro_logged *logged = linking->logged;
    for (size_t i = 0; i < logged->executors.count; i++) {
        const struct pyro_logged_executor *executor = &logged->executors.items[i];
        int64_t added_ms = pyro_logged_added_ms(logged, executor);
        add(linking, PYRO_LOGGED_EXECUTOR_ADDED, i, executor->first_ms < added_ms ? executor->first_ms : added_ms);
        if (executor->lost_ms != PYRO_NONE)
            add(linking, PYRO_LOGGED_EXECUTOR_REMOVED, i, later(executor->lost_ms, added_ms));
    }
}

static void add_jobs(struct linking *linking)
{
    const struct pyro_line_result *lines = &linking->logged->lines;
    for (size_t i = 0; i < lines->job_count; i++) {
        const struct pyro_line_job *job = &lines->jobs[i];
        if (job->application != linking->logged->application)
            continue;
        if (job->start_ms != PYRO_NONE)
            add(linking, PYRO_LOGGED_JOB_START, i, job->start_ms);
        if (job->end_ms != PYRO_NONE && job->status != PYRO_LINE_UNKNOWN)
            add(linking, PYRO_LOGGED_JOB_END, i, later(job->end_ms, job->start_ms));
    }
}

/* Lines of one second are in no order: nothing begins before what it is part of. */
static bool add_stages(struct linking *linking)
{
    const struct pyro_line_result *lines = &linking->logged->lines;
    for (size_t i = 0; i < lines->stage_count; i++) {
        const struct pyro_line_stage *stage = &lines->stages[i];
        struct pyro_logged_place *place = &linking->order->stages[i];
        if (stage->application != linking->logged->application)
            continue;
        const struct pyro_logged_stage_times times = pyro_logged_stage_times(linking->logged, stage);
        place->submitted_ms =
            later(times.submitted_ms, place->job == SIZE_MAX ? PYRO_NONE : lines->jobs[place->job].start_ms);
        add(linking, PYRO_LOGGED_STAGE_SUBMITTED, i, place->submitted_ms);
        if (times.ended_ms != PYRO_NONE)
            add(linking, PYRO_LOGGED_STAGE_COMPLETED, i, later(times.ended_ms, place->submitted_ms));
        uint64_t *row = pyro_map_put(&linking->stage_events, pyro_logged_attempt_key(stage->id, stage->attempt), NULL);
        if (!row)
            return false;
        *row = i + 1;
    }
    return true;
}

static void add_tasks(struct linking *linking)
{
    const struct pyro_line_result *lines = &linking->logged->lines;
    for (size_t i = 0; i < lines->task_count; i++) {
        const struct pyro_line_task *task = &lines->tasks[i];
        int64_t launch_ms = pyro_logged_launch_ms(task);
        if (task->application != linking->logged->application || launch_ms == PYRO_NONE)
            continue;
        const uint64_t *stage =
            pyro_map_get(&linking->stage_events, pyro_logged_attempt_key(task->stage, task->stage_attempt));
        launch_ms = later(launch_ms, stage ? linking->order->stages[*stage - 1].submitted_ms : PYRO_NONE);
        add(linking, PYRO_LOGGED_TASK_START, i, launch_ms);
        if (task->end_ms != PYRO_NONE && task->status != PYRO_LINE_UNKNOWN)
            add(linking, PYRO_LOGGED_TASK_END, i, later(task->end_ms, launch_ms));
    }
}

static int compare_events(const void *left, const void *right)
{
    const struct pyro_logged_event *a = left, *b = right;
    if (a->time_ms != b->time_ms)
        return a->time_ms < b->time_ms ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static bool make(struct linking *linking)
{
    const struct pyro_logged *logged = linking->logged;
    const struct pyro_line_result *lines = &logged->lines;
    struct pyro_logged_order *order = linking->order;
    size_t most = 2 * (logged->executors.count + lines->job_count + lines->stage_count + lines->task_count);
    if (most >= UINT32_MAX)
        return false;
    order->events = pyro_allocate(logged->allocator, (most + 1) * sizeof(*order->events));
    order->stages = pyro_allocate(logged->allocator, (lines->stage_count + 1) * sizeof(*order->stages));
    order->first_stages = pyro_allocate(logged->allocator, (lines->job_count + 1) * sizeof(*order->first_stages));
    if (!order->events || !order->stages || !order->first_stages || !link_stages(linking))
        return false;
    find_first_stages(linking);
    add_executors(linking);
    add_jobs(linking);
    if (!add_stages(linking))
        return false;
    add_tasks(linking);
    if (order->count)
        qsort(order->events, order->count, sizeof(*order->events), compare_events);
    return true;
}

bool pyro_logged_order(struct pyro_logged *logged, struct pyro_logged_order *ret)
{
    struct linking linking = {.logged = logged, .order = ret};
    *ret = (struct pyro_logged_order){.count = 0};
    pyro_strbuf_init(&linking.text, logged->allocator);
    pyro_map_init(&linking.stage_events, logged->allocator);
    bool ok = make(&linking);
    pyro_strbuf_done(&linking.text);
    pyro_map_done(&linking.stage_events);
    pyro_vec_done(&linking.waiting, logged->allocator);
    return ok;
}

void pyro_logged_order_done(const struct pyro_logged *logged, struct pyro_logged_order *order)
{
    pyro_release(logged->allocator, order->events);
    pyro_release(logged->allocator, order->stages);
    pyro_release(logged->allocator, order->first_stages);
}
