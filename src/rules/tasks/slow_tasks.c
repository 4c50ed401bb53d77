#include "rules/tasks/slow_tasks.h"

#include <math.h>

#include "analyze/app_facts.h"
#include "analyze/tracks/stage_waits.h"
#include "rules/finding.h"

bool pyro_task_is_slow(const struct pyro_slow_limits *limits, const struct pyro_stage_tasks *tasks,
                       const struct pyro_stage_task *task)
{
    double usual = fmax(pyro_stage_task_usual_ms(tasks, task), 1);
    double allowed = usual * limits->ratio * fmax(1, pyro_stage_task_data_ratio(tasks, task));
    double allowance = task->cold ? limits->cold_allowance_ms : task->opener ? limits->opener_allowance_ms : 0;
    double excess = task->duration - usual - allowance;
    return task->duration > allowed && excess >= limits->slow_ms;
}

/* A task that ran at the same time as the slow one in the middle of its stage, to compare parts with. */
static size_t usual_task(const struct pyro_stage_tasks *tasks)
{
    const struct pyro_stage_task *best = &tasks->items[0];
    for (size_t i = 1; i < tasks->count; i++)
        if (fabs(tasks->items[i].duration - tasks->median_ms) < fabs(best->duration - tasks->median_ms))
            best = &tasks->items[i];
    return best->row;
}

/* All slow tasks on one host while others ran elsewhere. */
static bool on_one_host(const struct pyro_app *app, const struct pyro_slow_limits *limits,
                        const struct pyro_stage_tasks *tasks, double slow)
{
    int64_t host = PYRO_NONE;
    bool elsewhere = false;
    for (size_t i = 0; i < tasks->count; i++) {
        if (!pyro_task_is_slow(limits, tasks, &tasks->items[i]))
            continue;
        int64_t at = pyro_task_get(&app->tasks, PYRO_TASK_host, tasks->items[i].row);
        if (host != PYRO_NONE && at != host)
            return false;
        host = at;
    }
    double there = 0;
    for (size_t i = 0; i < tasks->count; i++) {
        bool same = pyro_task_get(&app->tasks, PYRO_TASK_host, tasks->items[i].row) == host;
        elsewhere |= !same;
        there += same;
    }
    /* One slow task proves nothing about its host; half of what the host did, and at least two, does. */
    return elsewhere && slow >= 2 && slow * 2 >= there;
}

void pyro_slow_stage_init(const struct pyro_app *app, const struct pyro_slow_limits *limits,
                          const struct pyro_stage_tasks *tasks, double slow, struct pyro_slow_stage *ret)
{
    *ret = (struct pyro_slow_stage){*limits, tasks, usual_task(tasks), on_one_host(app, limits, tasks, slow)};
}

/* It ran away from its data while the task in the middle of the stage was near its own. */
static bool is_far(const struct pyro_app *app, const struct pyro_stage_task *task, size_t usual)
{
    struct pyro_slice its = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_locality, task->row));
    struct pyro_slice theirs = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_locality, usual));
    return (pyro_slice_is(its, "ANY") || pyro_slice_is(its, "RACK_LOCAL")) &&
           (pyro_slice_is(theirs, "PROCESS_LOCAL") || pyro_slice_is(theirs, "NODE_LOCAL"));
}

/* What traces of the kernel say of slow tasks. */
static const struct {
    enum pyro_slow_cause cause;
    enum pyro_kernel_state root;
} traced[] = {
    {PYRO_SLOW_PROCESSOR, PYRO_KERNEL_RUNNABLE}, {PYRO_SLOW_THROTTLED, PYRO_KERNEL_THROTTLED},
    {PYRO_SLOW_DISK, PYRO_KERNEL_DISK},          {PYRO_SLOW_NETWORK, PYRO_KERNEL_NETWORK},
    {PYRO_SLOW_LOCK, PYRO_KERNEL_FUTEX},         {PYRO_SLOW_PAGES, PYRO_KERNEL_PAGE_FAULT},
};

/* PYRO_SLOW_UNKNOWN: there is no trace of the task, or it explains less than `need`. */
static enum pyro_slow_cause traced_cause(const struct pyro_app *app, const struct pyro_slow_stage *stage,
                                         const struct pyro_stage_task *task, double need, double *cause_ms)
{
    struct pyro_task_waited its, usual;
    enum pyro_slow_cause cause = PYRO_SLOW_UNKNOWN;
    if (!pyro_task_waited(app, pyro_task_get(&app->tasks, PYRO_TASK_id, task->row), &its))
        return cause;
    pyro_task_waited(app, pyro_task_get(&app->tasks, PYRO_TASK_id, stage->usual), &usual);
    for (size_t i = 0; i < sizeof(traced) / sizeof(*traced); i++) {
        double more = (double)(its.by_root_ns[traced[i].root] - usual.by_root_ns[traced[i].root]) / 1e6;
        if (more < need || more <= *cause_ms)
            continue;
        *cause_ms = more;
        cause = traced[i].cause;
    }
    return cause;
}

enum pyro_slow_cause pyro_slow_task_cause(const struct pyro_app *app, const struct pyro_slow_stage *stage,
                                          const struct pyro_stage_task *task, double *cause_ms)
{
    struct pyro_task_split a = pyro_task_split(app, task->row), b = pyro_task_split(app, stage->usual);
    double excess = fmax(task->duration - stage->tasks->median_ms, 1), need = stage->limits.cause_share * excess;
    const struct {
        enum pyro_slow_cause cause;
        double more;
    } parts[] = {
        {PYRO_SLOW_GC, pyro_real(a.gc) - pyro_real(b.gc)},
        {PYRO_SLOW_FETCH, pyro_real(a.shuffle_fetch_wait) - pyro_real(b.shuffle_fetch_wait)},
        {PYRO_SLOW_DELAY, pyro_real(a.scheduler_delay) + pyro_real(a.deserialize) - pyro_real(b.scheduler_delay) -
                              pyro_real(b.deserialize)},
        {PYRO_SLOW_WRITE, pyro_real(a.shuffle_write) - pyro_real(b.shuffle_write)},
        {PYRO_SLOW_RESULT, pyro_real(a.getting_result) + pyro_real(a.result_serialize) - pyro_real(b.getting_result) -
                               pyro_real(b.result_serialize)},
    };
    *cause_ms = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i].more >= need) {
            *cause_ms = parts[i].more;
            return parts[i].cause;
        }
    }
    enum pyro_slow_cause seen = traced_cause(app, stage, task, need, cause_ms);
    if (seen != PYRO_SLOW_UNKNOWN)
        return seen;
    if (stage->one_host)
        return PYRO_SLOW_HOST;
    if (is_far(app, task, stage->usual))
        return PYRO_SLOW_LOCALITY;
    if (pyro_task_get(&app->tasks, PYRO_TASK_attempt, task->row) > 0)
        return PYRO_SLOW_RETRY;
    if (pyro_task_get(&app->tasks, PYRO_TASK_disk_spill_bytes, task->row) > 0)
        return PYRO_SLOW_SPILL;
    double cpu = pyro_real(pyro_task_get(&app->tasks, PYRO_TASK_cpu_ns, task->row)) / 1e6;
    if (cpu <= 0)
        return PYRO_SLOW_UNKNOWN;
    double computing = pyro_real(a.compute);
    *cause_ms = cpu < computing / 2 ? computing - cpu : cpu;
    return cpu < computing / 2 ? PYRO_SLOW_WAITING : PYRO_SLOW_COMPUTING;
}

/* " (stress (123))", or nothing. */
static const char *say_culprit(struct pyro_rule_context *context, enum pyro_slow_cause cause, size_t row)
{
    struct pyro_slice by = PYRO_SLICE_NULL;
    int64_t task = pyro_task_get(&context->app->tasks, PYRO_TASK_id, row);
    for (size_t i = 0; i < sizeof(traced) / sizeof(*traced); i++)
        if (traced[i].cause == cause)
            by = pyro_task_waited_by(context->app, task, traced[i].root);
    struct pyro_slice text = by.ptr ? pyro_say(context, ": %s", pyro_say_text(context, by, 80)) : PYRO_SLICE_NULL;
    return text.ptr ? text.ptr : "";
}

const char *pyro_slow_explain(struct pyro_rule_context *context, enum pyro_slow_cause cause, double cause_ms,
                              size_t row)
{
    const struct pyro_app *app = context->app;
    const char *time = pyro_say_ms(context, cause_ms);
    switch (cause) {
    case PYRO_SLOW_GC:
        return pyro_say(context, "garbage collection took %s more than in its peers", time).ptr;
    case PYRO_SLOW_FETCH:
        return pyro_say(context, "it waited %s more for shuffle blocks", time).ptr;
    case PYRO_SLOW_DELAY:
        return pyro_say(context, "scheduling and deserializing it took %s more", time).ptr;
    case PYRO_SLOW_WRITE:
        return pyro_say(context, "writing its shuffle output took %s more", time).ptr;
    case PYRO_SLOW_RESULT:
        return pyro_say(context, "returning its result took %s more", time).ptr;
    case PYRO_SLOW_SPILL:
        return pyro_say(context, "it spilled %s to disk",
                        pyro_say_bytes(context, pyro_real(pyro_task_get(&app->tasks, PYRO_TASK_disk_spill_bytes, row))))
            .ptr;
    case PYRO_SLOW_HOST: {
        struct pyro_slice host = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_host, row));
        return pyro_say(context, "all slow tasks ran on host %s", pyro_say_text(context, host, 80)).ptr;
    }
    case PYRO_SLOW_LOCALITY:
        return pyro_say(
                   context, "it did not run near its data (%s), but its peers did",
                   pyro_say_text(context, pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_locality, row)), 20))
            .ptr;
    case PYRO_SLOW_RETRY:
        return pyro_say(context, "it was attempt %lld: an earlier attempt failed or lost its executor",
                        (long long)pyro_task_get(&app->tasks, PYRO_TASK_attempt, row))
            .ptr;
    case PYRO_SLOW_WAITING:
        return pyro_say(context,
                        "for %s of its run time it used no CPU: it waited for something outside Spark (disk, network, "
                        "a service, a lock) or for its own process (Python)",
                        time)
            .ptr;
    case PYRO_SLOW_COMPUTING:
        return pyro_say(context, "it computed for %s: its rows are more expensive than those of its peers", time).ptr;
    case PYRO_SLOW_PROCESSOR:
        return pyro_say(context, "for %s more than its peers it could run, but others had its processor%s", time,
                        say_culprit(context, cause, row))
            .ptr;
    case PYRO_SLOW_THROTTLED:
        return pyro_say(context, "for %s more than its peers the kernel held it back: its quota was used up", time).ptr;
    case PYRO_SLOW_DISK:
        return pyro_say(context, "it waited %s more for a disk%s", time, say_culprit(context, cause, row)).ptr;
    case PYRO_SLOW_NETWORK:
        return pyro_say(context, "it waited %s more for the network%s", time, say_culprit(context, cause, row)).ptr;
    case PYRO_SLOW_LOCK:
        return pyro_say(context, "it waited %s more for other threads%s", time, say_culprit(context, cause, row)).ptr;
    case PYRO_SLOW_PAGES:
        return pyro_say(context, "it waited %s more for pages of memory that were read from a disk", time).ptr;
    case PYRO_SLOW_UNKNOWN:
        break;
    }
    return "its metrics do not show why";
}

/* ---- Slow for its data ---- */

/* The fullest task of an RDD stage, slow by computing. */
static bool is_heavy_batch(const struct pyro_app *app, const struct pyro_heavy_limits *limits,
                           const struct pyro_stage_tasks *tasks, const struct pyro_stage_task *task, double data)
{
    if (data < limits->batch_ratio || task->duration < limits->batch_time_ratio * tasks->median_ms ||
        pyro_real(pyro_task_split(app, task->row).compute) * 2 < task->duration)
        return false;
    for (size_t i = 0; i < tasks->count; i++)
        if (tasks->items[i].read_bytes > task->read_bytes)
            return false;
    return task->read_bytes > 0;
}

bool pyro_task_is_heavy(const struct pyro_app *app, const struct pyro_heavy_limits *limits,
                        const struct pyro_stage *stage, const struct pyro_stage_tasks *tasks,
                        const struct pyro_stage_task *task, double data)
{
    double usual = fmax(tasks->median_ms, 1), time = task->duration / usual;
    if (time >= limits->ratio && data >= limits->ratio && task->duration - usual >= limits->slow_ms &&
        (data >= limits->plain_ratio || data - 1 >= limits->follows * (time - 1)))
        return true;
    return !pyro_stage_is_sql(stage) && is_heavy_batch(app, limits, tasks, task, data);
}
