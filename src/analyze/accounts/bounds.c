/* Bounds that no number of executors or cores would beat: critical path, ideal time, time on one core. */
#include "analyze/accounts/split.h"
#include "analyze/analyze.h"
#include "analyze/job_interval.h"
#include "analyze/row_index.h"
#include "analyze/scratch.h"
#include "analyze/task_rows.h"
#include "analyze/task_slots.h"
#include "analyze/unfinished_tasks.h"
#include "base/numbers/saturate.h"

/* One stage id: its attempts together. */
struct node {
    int32_t job;     /* row, -1 for one that ran in no job */
    int64_t longest; /* path that ends with it */
};

/* Parents as the newest attempt that has any names them. */
static const struct pyro_stage *stage_with_parents(const struct pyro_app *app, const struct pyro_index *stages,
                                                   size_t entry, size_t count)
{
    for (size_t i = entry + count; i-- > entry + 1;)
        if (app->stages.items[stages->entries[i].row].parent_count > 0)
            return &app->stages.items[stages->entries[i].row];
    return &app->stages.items[stages->entries[entry].row];
}

/* By stage row, of the tasks that have no end: as long as they are known to have run. */
static int64_t *longest_unfinished(const struct pyro_app *app)
{
    int64_t *longest = pyro_scratch(app, app->stages.count, sizeof(*longest));
    for (size_t i = 0; longest && i < app->unfinished_tasks.count; i++) {
        const struct pyro_unfinished_task *task = &app->unfinished_tasks.items[i];
        if (task->stage_row >= 0 && pyro_unfinished_ms(task) > longest[task->stage_row])
            longest[task->stage_row] = pyro_unfinished_ms(task);
    }
    return longest;
}

static struct node make_node(const struct pyro_app *app, const struct pyro_index *stages, const struct pyro_index *jobs,
                             const int64_t *unfinished, size_t entry, size_t count)
{
    struct node node = {-1, 0};
    size_t job;
    bool ran = false;
    for (size_t i = entry; i < entry + count; i++) {
        const struct pyro_stage *stage = &app->stages.items[stages->entries[i].row];
        ran = ran || stage->submitted_ms != PYRO_NONE || stage->tasks > 0;
        int64_t longest = unfinished[stages->entries[i].row];
        longest = stage->duration_max > longest ? stage->duration_max : longest;
        node.longest = pyro_add_saturating(node.longest, longest);
    }
    int64_t id = app->stages.items[stages->entries[entry].row].job;
    if (ran && id != PYRO_NONE && pyro_index_find(jobs, id, &job) > 0)
        node.job = (int32_t)jobs->entries[job].row;
    return node;
}

/* Longest chain of longest tasks through the stages of each job. Spark numbers parents before their children, so one
 * walk by id meets every parent first; anything else is damage, and leaving it out is what keeps cycles away. False:
 * stages ran of which no start of a job says what they waited for. */
static bool find_critical_times(struct pyro_app *app, const struct pyro_index *stages, const struct pyro_index *jobs,
                                const int64_t *unfinished, struct node *nodes)
{
    bool known = true;
    for (size_t i = 0; i < app->jobs.count; i++)
        app->jobs.items[i].critical_ms = 0;
    for (size_t entry = 0, count; entry < stages->count; entry += count) {
        for (count = 1;
             entry + count < stages->count && stages->entries[entry + count].at == stages->entries[entry].at;)
            count++;
        struct node *node = &nodes[entry];
        *node = make_node(app, stages, jobs, unfinished, entry, count);
        if (node->job < 0) {
            known = known && node->longest <= 0;
            continue;
        }
        const struct pyro_stage *stage = stage_with_parents(app, stages, entry, count);
        int64_t before = 0;
        for (uint32_t i = 0; i < stage->parent_count; i++) {
            size_t parent;
            if (stage->parent_ids[i] < stage->id && pyro_index_find(stages, stage->parent_ids[i], &parent) > 0 &&
                nodes[parent].job == node->job && nodes[parent].longest > before)
                before = nodes[parent].longest;
        }
        node->longest = pyro_add_saturating(node->longest, before);
        struct pyro_job *job = &app->jobs.items[node->job];
        job->critical_ms = node->longest > job->critical_ms ? node->longest : job->critical_ms;
    }
    return known;
}

/* Jobs that overlap run side by side: of each such group only the longest counts. */
static bool sum_groups(const struct pyro_app *app, const struct pyro_index *stages, int64_t *ret)
{
    struct pyro_index_key *keys = pyro_scratch(app, app->jobs.count, sizeof(*keys));
    struct pyro_index order = {.allocator = app->allocator};
    for (size_t i = 0; keys && i < app->jobs.count; i++)
        pyro_job_interval(app, stages, &app->jobs.items[i], &keys[i].id, &keys[i].second);
    bool done = keys && pyro_index_init(&order, app->allocator, keys, app->jobs.count);
    int64_t sum = 0, longest = 0, group_end = INT64_MIN;
    for (size_t i = 0; done && i < order.count; i++) {
        uint32_t row = order.entries[i].row;
        if (app->jobs.items[row].unstarted)
            continue;                    /* without a start it would seem to overlap all that came before */
        if (keys[row].id >= group_end) { /* touching is not overlapping */
            sum = pyro_add_saturating(sum, longest);
            longest = 0;
        }
        group_end = keys[row].second > group_end ? keys[row].second : group_end;
        longest = app->jobs.items[row].critical_ms > longest ? app->jobs.items[row].critical_ms : longest;
    }
    *ret = pyro_add_saturating(sum, longest);
    pyro_index_done(&order);
    pyro_release(app->allocator, keys);
    return done;
}

/* *ret: PYRO_NONE: not known. */
static bool find_critical_path(struct pyro_app *app, int64_t *ret)
{
    struct pyro_index stages = {.allocator = app->allocator}, jobs = {.allocator = app->allocator};
    struct node *nodes = pyro_scratch(app, app->stages.count, sizeof(*nodes));
    int64_t *unfinished = longest_unfinished(app);
    bool done = nodes && unfinished && pyro_index_stages(&stages, app) && pyro_index_jobs(&jobs, app);
    if (done) {
        bool known = find_critical_times(app, &stages, &jobs, unfinished, nodes);
        done = sum_groups(app, &stages, ret);
        *ret = known ? *ret : PYRO_NONE;
    }
    pyro_index_done(&stages);
    pyro_index_done(&jobs);
    pyro_release(app->allocator, nodes);
    pyro_release(app->allocator, unfinished);
    return done;
}

/* Sum of task durations times the CPUs that each took. */
static bool sum_cores(const struct pyro_app *app, unsigned __int128 *ret)
{
    int64_t(*buffer)[PYRO_READ_ROWS] = pyro_scratch(app, 3, sizeof(*buffer));
    uint32_t *cpus = pyro_stage_cpus(app);
    bool done = buffer && cpus;
    unsigned __int128 sum = 0;
    for (size_t first = 0; done && first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        pyro_run_times(app, first, count, buffer);
        for (size_t i = 0; i < count; i++) {
            int32_t row = app->tasks.stage_rows[first + i];
            uint32_t task_cpus = cpus[row < 0 ? app->stages.count : (size_t)row];
            sum += (unsigned __int128)(uint64_t)pyro_task_duration(buffer[0][i], buffer[1][i]) * task_cpus;
        }
    }
    for (size_t i = 0; done && i < app->unfinished_tasks.count; i++) {
        const struct pyro_unfinished_task *task = &app->unfinished_tasks.items[i];
        sum += (unsigned __int128)(uint64_t)pyro_unfinished_ms(task) *
               cpus[task->stage_row < 0 ? app->stages.count : (size_t)task->stage_row];
    }
    *ret = sum;
    pyro_release(app->allocator, buffer);
    pyro_release(app->allocator, cpus);
    return done;
}

static int64_t saturate_unsigned(unsigned __int128 value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

enum pyro_status pyro_analyze_bounds(struct pyro_app *app, struct pyro_error *error)
{
    struct pyro_numbers *numbers = &app->numbers;
    unsigned __int128 core_ms;
    int64_t critical;
    if (!find_critical_path(app, &critical) || !sum_cores(app, &core_ms))
        return pyro_no_memory(error);
    numbers->driver_ms =
        pyro_add_saturating(numbers->wall_ms[PYRO_WALL_DRIVER], numbers->wall_ms[PYRO_WALL_RESOURCE_WAIT]);
    numbers->critical_path_ms = critical == PYRO_NONE ? PYRO_NONE : pyro_add_saturating(numbers->driver_ms, critical);
    numbers->one_core_ms = pyro_add_saturating(numbers->driver_ms, saturate_unsigned(core_ms));
    numbers->ideal_ms =
        numbers->cores_peak > 0
            ? pyro_add_saturating(numbers->driver_ms, saturate_unsigned(core_ms / (uint64_t)numbers->cores_peak))
            : PYRO_NONE;
    /* The driver may launch a slot's next task before it knows of the end of the last one. */
    if (numbers->ideal_ms > numbers->wall_total_ms)
        numbers->ideal_ms = numbers->wall_total_ms;
    return PYRO_OK;
}
