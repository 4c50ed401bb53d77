/* Processors that executors of one host share: more slots on it, and what tasks compute takes longer. */
#include <math.h>
#include <stdlib.h>

#include "analyze/scratch.h"
#include "analyze/task_rows.h"
#include "predict/cut_tasks.h"

/* Deserializing tasks only computes: the share of that time with a processor says how long processors make tasks wait.
 * This much of it is needed. */
enum { DESERIALIZE_MIN_MS = 500, TASKS_MIN = 20 };
/* Computing takes at most this multiple of the time that it takes alone. */
#define LONGER_MAX 10.0
/* Of what changes. */
#define DOUBT 0.4

/* How many times as long computing took as alone; 1 where the log does not tell. */
static double longer_of(const struct pyro_app *app)
{
    int64_t buffer[2][PYRO_READ_ROWS];
    double ms = 0, cpu = 0;
    for (size_t first = 0; first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        pyro_task_read(&app->tasks, PYRO_TASK_deserialize_ms, first, count, buffer[0]);
        pyro_task_read(&app->tasks, PYRO_TASK_deserialize_cpu_ns, first, count, buffer[1]);
        for (size_t i = 0; i < count; i++) {
            if (buffer[0][i] <= 0 || buffer[1][i] <= 0)
                continue;
            ms += (double)buffer[0][i];
            cpu += (double)buffer[1][i] / 1e6;
        }
    }
    return ms >= DESERIALIZE_MIN_MS && app->tasks.count >= TASKS_MIN && cpu > 0 ? fmin(fmax(ms / cpu, 1), LONGER_MAX)
                                                                                : 1;
}

static int by_name(const void *a, const void *b)
{
    return pyro_slice_compare(*(const struct pyro_slice *)a, *(const struct pyro_slice *)b);
}

/* Distinct hosts of executors, at least 1; an unknown host is a host, too. 0 without memory. */
static int64_t count_hosts(const struct pyro_app *app)
{
    size_t count = app->executors.count;
    struct pyro_slice *hosts = pyro_scratch(app, count + 1, sizeof(*hosts));
    if (!hosts)
        return 0;
    for (size_t i = 0; i < count; i++)
        hosts[i] = app->executors.items[i].host;
    qsort(hosts, count, sizeof(*hosts), by_name);
    int64_t distinct = 1;
    for (size_t i = 1; i < count; i++)
        distinct += !pyro_slice_eq(hosts[i], hosts[i - 1]);
    pyro_release(app->allocator, hosts);
    return distinct;
}

bool pyro_predict_take_host(struct pyro_predicted_run *run)
{
    double since = (double)run->base.wall_ms - (run->delay_count > 0 ? (double)run->delays[0] : 0);
    run->longer = longer_of(run->app);
    run->slots = since > 0 ? (double)run->base.core_ms / since : 0; /* alive on average */
    run->hosts = count_hosts(run->app);
    /* There were several executors, or the run is said to be on one machine. */
    run->one_host = run->hosts == 1 &&
                    (run->app->executors.count > 1 || pyro_slice_starts_with(run->app->application.master, "local"));
    return run->hosts > 0;
}

/* Asked of the scenario: a number, or 0 for the run's own and -1 for as many executors on each as in the run. More
 * executors bring hosts of their own, except if all share one. */
static double hosts_of(const struct pyro_predict_change *change)
{
    if (pyro_asks(change, PYRO_PREDICTED_HOSTS))
        return change->scenario->values[PYRO_PREDICTED_HOSTS];
    return change->run->one_host ? 0 : -1;
}

/* With how many times the slots on a host. */
static double more_slots(const struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    const struct pyro_scenario *scenario = change->scenario;
    double hosts = hosts_of(change);
    if (hosts < 0)
        return run->cores > 0 ? (double)scenario->cores_per_executor / (double)run->cores : 1;
    double slots = (double)scenario->executors * (double)scenario->cores_per_executor / run->slots;
    /* A host without an executor shares nothing. */
    hosts = fmin(hosts, (double)scenario->executors);
    return hosts > 0 ? slots * (double)run->hosts / hosts : slots;
}

/* Other slots on a host than in the run, in a run that says what sharing costs. */
static bool is_shared_otherwise(const struct pyro_predict_change *change)
{
    return !change->replay.allocation && (change->replay.executors || pyro_asks(change, PYRO_PREDICTED_HOSTS)) &&
           change->run->slots > 0 && change->run->longer > 1;
}

double pyro_scenario_longer(const struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    if (!is_shared_otherwise(change))
        return run->longer;
    /* Each slot adds as much to the waiting as every other. */
    return fmin(1 + (run->longer - 1) * more_slots(change), LONGER_MAX);
}

void pyro_model_host(struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    double task_ms = 0, changed_ms = 0, other_ms = 0;
    if (!is_shared_otherwise(change)) {
        if (pyro_asks(change, PYRO_PREDICTED_HOSTS))
            pyro_effect(change, PYRO_MODEL_host, 0, 0, "%s: other hosts change nothing here",
                        change->replay.allocation ? "with dynamic allocation, hosts have no model"
                                                  : "the log shows no tasks that waited for a CPU");
        return;
    }
    double more = more_slots(change), longer = pyro_scenario_longer(change);
    /* Where processors were full in the run, they are divided among the slots: fewer have as much of them together. */
    double divided = fmin(fmax(run->longer * more, 1), LONGER_MAX);
    for (size_t i = 0; i < run->app->stages.count; i++) {
        const struct pyro_stage *stage = &run->app->stages.items[i];
        double all = (double)stage->task_ms,
               cpu = fmax((double)stage->cpu_ms, 0) + fmax((double)stage->deserialize_ms, 0) / run->longer;
        if (!(all > 0) || !(cpu > 0))
            continue;
        /* What was neither computing nor waiting for a processor stays. */
        double computing = fmin(cpu * run->longer, all), factor = 1 + computing / all * (longer / run->longer - 1);
        struct pyro_edit *edit = pyro_vec_push(&change->edits, run->app->allocator);
        change->failed |= !edit;
        if (!edit)
            return;
        *edit = (struct pyro_edit){.kind = PYRO_EDIT_STAGE, .row = i, .factor = factor};
        task_ms += all;
        changed_ms += all * fabs(factor - 1);
        other_ms += computing * fabs(longer - divided) / run->longer;
    }
    double doubt = task_ms > 0 ? DOUBT * changed_ms / task_ms : 0, other = task_ms > 0 ? other_ms / task_ms : 0;
    pyro_effect(change, PYRO_MODEL_host, doubt + (divided < longer ? other : 0), doubt + (divided > longer ? other : 0),
                "computing took %.1f times as long as on an idle host, because tasks share the CPUs (measured on task "
                "deserialization); it takes %.1f times as long with %.1f times the slots per host",
                run->longer, longer, more);
}
