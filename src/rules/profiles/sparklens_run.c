/* Reads a run as Sparklens' listener would: stages without attempts, jobs in groups. */
#include <stdlib.h>
#include <string.h>

#include "analyze/app_facts.h"
#include "base/numbers/saturate.h"
#include "rules/profiles/sparklens.h"

ptrdiff_t pyro_sparklens_find(const struct pyro_sparklens_run *run, int64_t id)
{
    size_t low = 0, high = run->stage_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run->stages[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < run->stage_count && run->stages[low].id == id ? (ptrdiff_t)low : -1;
}

static int by_stage_id(const void *left, const void *right)
{
    const struct pyro_sparklens_stage *a = left, *b = right;
    return a->id != b->id ? (a->id > b->id) - (a->id < b->id) : (a->row > b->row) - (a->row < b->row);
}

/* Times of a log may be anything: what is here can be subtracted. */
static int64_t tame(int64_t ms)
{
    const int64_t most = INT64_C(1) << 60;
    return ms == PYRO_NONE ? PYRO_NONE : ms < 0 ? 0 : ms > most ? most : ms;
}

/* The last completion closes the task times; those before the completion in front of it were closed then. */
static void add_attempt(struct pyro_sparklens_stage *stage, const struct pyro_stage *attempt)
{
    int64_t completed = tame(attempt->completed_ms);
    if (completed == PYRO_NONE)
        return;
    if (pyro_slice_is(attempt->status, "succeeded") && completed > stage->succeeded_ms)
        stage->succeeded_ms = completed;
    if (completed > stage->until_ms) {
        stage->after_ms = stage->until_ms;
        stage->until_ms = completed;
    } else if (completed > stage->after_ms) {
        stage->after_ms = completed;
    }
}

static bool read_stages(struct pyro_sparklens_run *run)
{
    const struct pyro_app *app = run->app;
    size_t count = 0;
    run->stages = pyro_arena_array(run->arena, app->stages.count + 1, sizeof(*run->stages));
    if (!run->stages)
        return false;
    for (size_t i = 0; i < app->stages.count; i++)
        if (!app->stages.items[i].unsubmitted)
            run->stages[count++] = (struct pyro_sparklens_stage){.id = app->stages.items[i].id, .row = i, .job = -1};
    if (count > 1)
        qsort(run->stages, count, sizeof(*run->stages), by_stage_id);
    for (size_t i = 0; i < count; i++) {
        struct pyro_sparklens_stage *last = run->stage_count > 0 ? &run->stages[run->stage_count - 1] : NULL;
        size_t row = run->stages[i].row;
        if (!last || last->id != run->stages[i].id) {
            last = &run->stages[run->stage_count++];
            *last = run->stages[i];
        }
        add_attempt(last, &app->stages.items[row]);
    }
    return true;
}

static ptrdiff_t stage_of_task(const struct pyro_sparklens_run *run, size_t task, ptrdiff_t guess)
{
    int64_t id = pyro_task_get(&run->app->tasks, PYRO_TASK_stage, task);
    return guess >= 0 && run->stages[guess].id == id ? guess : pyro_sparklens_find(run, id);
}

static double task_real(const struct pyro_app *app, enum pyro_task_column column, size_t task)
{
    return pyro_real(pyro_task_get(&app->tasks, column, task));
}

static void add_task(const struct pyro_app *app, struct pyro_sparklens_stage *stage, size_t task)
{
    double run_ms = task_real(app, PYRO_TASK_run_ms, task);
    stage->tasks++;
    stage->run_ms += run_ms;
    stage->max_run_ms = run_ms > stage->max_run_ms ? run_ms : stage->max_run_ms;
    stage->gc_ms += task_real(app, PYRO_TASK_gc_ms, task);
    stage->fetch_wait_ms += task_real(app, PYRO_TASK_fetch_wait_ms, task);
    stage->write_ns += task_real(app, PYRO_TASK_shuffle_write_ns, task);
    stage->input_bytes += task_real(app, PYRO_TASK_input_bytes, task);
    stage->output_bytes += task_real(app, PYRO_TASK_output_bytes, task);
    stage->shuffle_read_bytes +=
        task_real(app, PYRO_TASK_shuffle_remote_bytes, task) + task_real(app, PYRO_TASK_shuffle_local_bytes, task);
    stage->shuffle_write_bytes += task_real(app, PYRO_TASK_shuffle_write_bytes, task);
    int64_t launch = tame(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, task));
    int64_t finish = tame(pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, task));
    if (finish == PYRO_NONE || finish > stage->until_ms)
        return; /* later than its last completion: no one closes it */
    if (launch != PYRO_NONE && (stage->start_ms == 0 || launch < stage->start_ms))
        stage->start_ms = launch;
    if (finish > stage->end_ms)
        stage->end_ms = finish;
    stage->time_count += finish > stage->after_ms;
}

static int by_task_id(const void *left, const void *right)
{
    const struct pyro_sparklens_time *a = left, *b = right;
    return (a->task > b->task) - (a->task < b->task);
}

/* A record without metrics counts with zeros: Spark reads them so from a log. */
static bool read_tasks(struct pyro_sparklens_run *run)
{
    const struct pyro_app *app = run->app;
    ptrdiff_t stage = -1;
    size_t count = 0;
    for (size_t i = 0; i < app->tasks.count; i++)
        if ((stage = stage_of_task(run, i, stage)) >= 0)
            add_task(app, &run->stages[stage], i);
    for (size_t i = 0; i < run->stage_count; i++) {
        run->stages[i].first_time = count;
        count += run->stages[i].time_count;
        run->stages[i].time_count = 0;
    }
    run->times = pyro_arena_array(run->arena, count + 1, sizeof(*run->times));
    if (!run->times)
        return false;
    for (size_t i = 0; i < app->tasks.count; i++) {
        int64_t finish = tame(pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, i));
        stage = stage_of_task(run, i, stage);
        if (stage < 0 || finish == PYRO_NONE || finish <= run->stages[stage].after_ms ||
            finish > run->stages[stage].until_ms)
            continue;
        double run_ms = task_real(app, PYRO_TASK_run_ms, i);
        run->times[run->stages[stage].first_time + run->stages[stage].time_count++] = (struct pyro_sparklens_time){
            pyro_task_get(&app->tasks, PYRO_TASK_id, i), run_ms < INT32_MAX ? (int64_t)run_ms : INT32_MAX};
    }
    for (size_t i = 0; i < run->stage_count; i++)
        if (run->stages[i].time_count > 1)
            qsort(run->times + run->stages[i].first_time, run->stages[i].time_count, sizeof(*run->times), by_task_id);
    return true;
}

static int by_start(const void *left, const void *right)
{
    const struct pyro_sparklens_job *a = left, *b = right;
    return a->start_ms != b->start_ms ? (a->start_ms > b->start_ms) - (a->start_ms < b->start_ms)
                                      : (a->id > b->id) - (a->id < b->id);
}

/* Of the jobs that list a stage the one that started last before it completed takes it. */
static bool give_stages(struct pyro_sparklens_run *run)
{
    const struct pyro_app *app = run->app;
    for (size_t j = 0; j < run->job_count; j++) {
        const struct pyro_job *job = &app->jobs.items[run->jobs[j].row];
        for (uint32_t s = 0; s < job->stage_id_count; s++) {
            ptrdiff_t found = pyro_sparklens_find(run, job->stage_ids[s]);
            if (found < 0)
                continue;
            struct pyro_sparklens_stage *stage = &run->stages[found];
            if (stage->succeeded_ms > 0 && (!stage->listed || run->jobs[j].start_ms < stage->succeeded_ms))
                stage->job = (ptrdiff_t)j;
            stage->listed = true;
        }
    }
    size_t count = 0;
    run->job_stages = pyro_arena_array(run->arena, run->stage_count + 1, sizeof(*run->job_stages));
    if (!run->job_stages)
        return false;
    for (size_t i = 0; i < run->stage_count; i++)
        if (run->stages[i].job >= 0)
            run->jobs[run->stages[i].job].stage_count++;
    for (size_t j = 0; j < run->job_count; j++) {
        run->jobs[j].first_stage = count;
        count += run->jobs[j].stage_count;
        run->jobs[j].stage_count = 0;
    }
    for (size_t i = 0; i < run->stage_count; i++) {
        if (run->stages[i].job < 0)
            continue;
        struct pyro_sparklens_job *job = &run->jobs[run->stages[i].job];
        run->job_stages[job->first_stage + job->stage_count++] = i;
    }
    return true;
}

static bool read_jobs(struct pyro_sparklens_run *run)
{
    const struct pyro_app *app = run->app;
    run->jobs = pyro_arena_array(run->arena, app->jobs.count + 1, sizeof(*run->jobs));
    if (!run->jobs)
        return false;
    for (size_t i = 0; i < app->jobs.count; i++) {
        const struct pyro_job *job = &app->jobs.items[i];
        if (job->unstarted || job->submitted_ms == PYRO_NONE || job->submitted_ms < app->application.start_ms)
            continue;
        run->jobs[run->job_count++] = (struct pyro_sparklens_job){
            .row = i,
            .id = job->id,
            .sql = job->sql,
            .start_ms = tame(job->submitted_ms),
            .end_ms = tame(job->completed_ms),
        };
    }
    if (run->job_count > 1)
        qsort(run->jobs, run->job_count, sizeof(*run->jobs), by_start);
    return give_stages(run);
}

/* Jobs that never ended: with their last stage, or else with the application. */
static void end_jobs(struct pyro_sparklens_run *run)
{
    for (size_t j = 0; j < run->job_count; j++) {
        struct pyro_sparklens_job *job = &run->jobs[j];
        if (job->end_ms != PYRO_NONE)
            continue;
        job->end_ms = job->stage_count > 0 ? 0 : tame(run->app->application.end_ms);
        for (size_t s = job->first_stage; s < job->first_stage + job->stage_count; s++)
            if (run->stages[run->job_stages[s]].end_ms > job->end_ms)
                job->end_ms = run->stages[run->job_stages[s]].end_ms;
    }
}

/* By SQL execution, then by start; jobs of none are each alone. */
static int by_execution(const void *left, const void *right)
{
    const struct pyro_sparklens_job *a = left, *b = right;
    return a->sql != b->sql ? (a->sql > b->sql) - (a->sql < b->sql) : by_start(left, right);
}

/* A job that starts after the one in front of it in its execution has ended opens a group, even while an earlier one
 * still runs. */
static bool make_groups(struct pyro_sparklens_run *run)
{
    run->groups = pyro_arena_array(run->arena, run->job_count + 1, sizeof(*run->groups));
    if (!run->groups)
        return false;
    if (run->job_count > 1)
        qsort(run->jobs, run->job_count, sizeof(*run->jobs), by_execution);
    for (size_t j = 0; j < run->job_count; j++) {
        const struct pyro_sparklens_job *job = &run->jobs[j];
        struct pyro_sparklens_group *group = run->group_count > 0 ? &run->groups[run->group_count - 1] : NULL;
        if (!group || job->sql == PYRO_NONE || job[-1].sql != job->sql || job[-1].end_ms < job->start_ms) {
            group = &run->groups[run->group_count++];
            *group = (struct pyro_sparklens_group){j, 0, job->start_ms, job->end_ms};
        }
        group->count++;
        if (job->end_ms > group->end_ms)
            group->end_ms = job->end_ms;
    }
    for (size_t i = 0; i < run->group_count; i++)
        run->job_ms += (double)(pyro_sub_saturating(run->groups[i].end_ms, run->groups[i].start_ms));
    return true;
}

struct moment {
    int64_t at;
    int change;
};

/* Who comes at the same moment as another goes counts before. */
static int by_moment(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;
    return a->at != b->at ? (a->at > b->at) - (a->at < b->at) : b->change - a->change;
}

static bool count_executors(struct pyro_sparklens_run *run)
{
    const struct pyro_app *app = run->app;
    struct moment *moments = pyro_arena_array(run->arena, 2 * app->executors.count + 1, sizeof(*moments));
    size_t count = 0;
    int64_t alive = 0;
    if (!moments)
        return false;
    run->cores = run->executors = 1;
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        if (executor->added_ms == PYRO_NONE)
            continue;
        run->cores = executor->cores > 0 ? executor->cores : 1;
        moments[count++] = (struct moment){executor->added_ms, 1};
        moments[count++] =
            (struct moment){executor->removed_ms == PYRO_NONE ? app->application.end_ms : executor->removed_ms, -1};
    }
    if (count > 1)
        qsort(moments, count, sizeof(*moments), by_moment);
    for (size_t i = 0; i < count; i++) {
        alive += moments[i].change;
        run->executors = alive > run->executors ? alive : run->executors;
    }
    return true;
}

bool pyro_sparklens_read(struct pyro_sparklens_run *run)
{
    run->app_ms = (double)(tame(run->app->application.end_ms) - tame(run->app->application.start_ms));
    if (!read_stages(run) || !read_tasks(run) || !read_jobs(run))
        return false;
    end_jobs(run);
    for (size_t i = 0; i < run->stage_count; i++)
        run->run_ms += run->stages[i].listed ? run->stages[i].run_ms : 0;
    return make_groups(run) && count_executors(run);
}

/* From its last stage on; parents have smaller ids, so that one walk is enough. */
static double job_critical_ms(const struct pyro_sparklens_run *run, const struct pyro_sparklens_job *job, double *path)
{
    double last = 0;
    for (size_t s = job->first_stage; s < job->first_stage + job->stage_count; s++) {
        size_t entry = run->job_stages[s];
        const struct pyro_stage *row = &run->app->stages.items[run->stages[entry].row];
        double before = 0;
        for (uint32_t p = 0; p < row->parent_count; p++) {
            ptrdiff_t parent = pyro_sparklens_find(run, row->parent_ids[p]);
            if (parent >= 0 && parent < (ptrdiff_t)entry && run->stages[parent].job == run->stages[entry].job &&
                path[parent] > before)
                before = path[parent];
        }
        last = path[entry] = before + run->stages[entry].max_run_ms;
    }
    return last;
}

double pyro_sparklens_critical_ms(const struct pyro_sparklens_run *run)
{
    double *path = pyro_arena_array(run->arena, run->stage_count + 1, sizeof(*path)), sum = 0;
    if (!path)
        return -1;
    for (size_t i = 0; i < run->group_count; i++) {
        double longest = 0;
        for (size_t j = run->groups[i].first; j < run->groups[i].first + run->groups[i].count; j++) {
            double critical = job_critical_ms(run, &run->jobs[j], path);
            longest = critical > longest ? critical : longest;
        }
        sum += longest;
    }
    return sum;
}
