/* straggler: a few tasks of a stage are slow without more data; says what the evidence points to. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/cases.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/tasks/slow_tasks.h"

/* If the cause of a stage's slow tasks is known, nearly all of it can be fixed; else perhaps. */
#define SURE 0.85

enum {
    SLOW_RATIO,
    COLD_ALLOWANCE_MS,
    OPENER_ALLOWANCE_MS,
    SLOW_MIN_MS,
    SLOW_SHARE_MAX,
    TASKS_MIN,
    SAVING_MIN_MS,
    SAVING_MIN_SHARE,
    CAUSE_SHARE
};
static const struct pyro_threshold thresholds[] = {
    [SLOW_RATIO] = {"ratio_min", 3, "ratio",
                    "A task is slow if it takes at least this many times the time of its peers for the same data; "
                    "queueing and garbage collection cause factors above two in healthy runs"},
    [COLD_ALLOWANCE_MS] = {"cold_allowance_ms", 10000, "ms",
                           "The first task of each slot of an executor loads classes and starts Python workers: only "
                           "more than this counts"},
    [OPENER_ALLOWANCE_MS] = {"opener_allowance_ms", 3000, "ms",
                             "The first task of each slot in a stage compiles its code: only more than this counts"},
    [SLOW_MIN_MS] = {"slow_ms_min", 3000, "ms", "A slow task takes at least this much longer than its peers"},
    [SLOW_SHARE_MAX] = {"slow_share_max", 0.2, "share",
                        "If a larger share of the tasks is slow (and more than one task), the stage has two kinds of "
                        "partitions, not stragglers"},
    [TASKS_MIN] = {"tasks_min", 4, "count", "Minimum number of tasks: fewer have no typical time"},
    [SAVING_MIN_MS] = {"saving_ms_min", 1000, "ms", "Quiet below"},
    [SAVING_MIN_SHARE] = {"saving_share_min", 0.01, "share", "Quiet if the saving is a smaller share of the wall time"},
    [CAUSE_SHARE] = {"cause_share_min", 0.5, "share",
                     "The finding names a cause that explains at least this share of the excess time"},
};

enum { SLOWEST_MS, USUAL_MS, DATA_RATIO, SLOW, TASK_ROW, CAUSE, CAUSE_MS };

static struct pyro_slow_limits slow_limits(const struct pyro_rule_context *context)
{
    return (struct pyro_slow_limits){pyro_limit(context, SLOW_RATIO), pyro_limit(context, COLD_ALLOWANCE_MS),
                                     pyro_limit(context, OPENER_ALLOWANCE_MS), pyro_limit(context, SLOW_MIN_MS),
                                     pyro_limit(context, CAUSE_SHARE)};
}

/* The slow-host rule, which runs before, has this task's host or executor already. */
static bool is_known_slow(const struct pyro_rule_context *context, const struct pyro_stage_task *task)
{
    const struct pyro_app *app = context->app;
    struct pyro_slice host = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_host, task->row));
    struct pyro_slice executor = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_executor, task->row));
    for (size_t i = 0; i < context->earlier.count; i++) {
        const struct pyro_finding *finding = &context->earlier.items[i];
        if (strcmp(finding->rule->id, "slow-host") == 0 &&
            ((finding->host.len > 0 && pyro_slice_eq(finding->host, host)) ||
             (finding->executor.len > 0 && pyro_slice_eq(finding->executor, executor))))
            return true;
    }
    return false;
}

static void examine(struct pyro_rule_context *context, struct pyro_cases *cases, const struct pyro_cold *cold,
                    size_t row)
{
    const struct pyro_app *app = context->app;
    struct pyro_slow_limits limits = slow_limits(context);
    struct pyro_stage_tasks tasks;
    if (!pyro_stage_tasks_load(context, row, cold, &tasks))
        return;
    double slow = 0, excess = 0;
    const struct pyro_stage_task *slowest = NULL;
    for (size_t i = 0; i < tasks.count; i++) {
        struct pyro_stage_task *task = &tasks.items[i];
        if (!pyro_task_is_slow(&limits, &tasks, task) || is_known_slow(context, task))
            continue;
        slow++;
        task->cap = pyro_stage_task_usual_ms(&tasks, task) * fmax(1, pyro_stage_task_data_ratio(&tasks, task));
        excess += task->duration - task->cap;
        if (!slowest || task->duration > slowest->duration)
            slowest = task;
    }
    if (slowest && (slow <= 1 || slow <= pyro_limit(context, SLOW_SHARE_MAX) * (double)tasks.count)) {
        double slots = pyro_stage_slots(app, &app->stages.items[row]);
        double end = fmax(pyro_stage_tasks_capped_end(&tasks), tasks.begin + (tasks.work_ms - excess) / slots);
        struct pyro_case *found = end < tasks.end ? pyro_cases_add(context, cases, row) : NULL;
        if (found) {
            struct pyro_slow_stage stage;
            double cause_ms;
            pyro_slow_stage_init(app, &limits, &tasks, slow, &stage);
            enum pyro_slow_cause cause = pyro_slow_task_cause(app, &stage, slowest, &cause_ms);
            pyro_case_saves(context, found, end, tasks.end, SURE);
            for (size_t i = 0; i < tasks.count; i++)
                if (tasks.items[i].cap < tasks.items[i].duration)
                    pyro_remedy_task(context, pyro_case_remedy(context, found), tasks.items[i].row, tasks.items[i].cap);
            found->value[SLOWEST_MS] = slowest->duration;
            found->value[USUAL_MS] = pyro_stage_task_usual_ms(&tasks, slowest);
            found->value[DATA_RATIO] = pyro_stage_task_data_ratio(&tasks, slowest);
            found->value[SLOW] = slow;
            found->value[TASK_ROW] = (double)slowest->row;
            found->value[CAUSE] = cause;
            found->value[CAUSE_MS] = cause_ms;
        }
    }
    pyro_stage_tasks_done(context, &tasks);
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_case *found)
{
    const char *verify =
        "In the next run check the slowest task of this stage: below 3 x the median it is no longer a straggler.";
    struct pyro_advice *advice;
    switch ((enum pyro_slow_cause)found->value[CAUSE]) {
    case PYRO_SLOW_GC:
    case PYRO_SLOW_SPILL:
        pyro_finding_advise(context, finding,
                            PYRO_SLICE_LITERAL("Give the tasks of this stage more memory (see gc-pressure and "
                                               "disk-spill), or run fewer tasks at the same time on an executor."),
                            verify);
        return;
    case PYRO_SLOW_COMPUTING:
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL("Find the costly rows of this partition (long texts, large arrays, bad patterns) and "
                               "process them separately. A second copy of the task takes just as long."),
            verify);
        return;
    case PYRO_SLOW_FETCH:
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL("Check the host that served the blocks (disk, network, garbage collection of its "
                               "executor). An external shuffle service takes this load from executors."),
            verify);
        return;
    case PYRO_SLOW_LOCALITY:
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL("Spread the data that tasks read (cached blocks, files) over more executors or hosts, "
                               "so that a free slot is near the data. A longer spark.locality.wait keeps tasks near "
                               "their data, but leaves slots idle."),
            verify);
        return;
    case PYRO_SLOW_RETRY:
        pyro_finding_advise(context, finding,
                            PYRO_SLICE_LITERAL("Check why the earlier attempt ended (task-failures, executor-lost): "
                                               "the next attempt starts from the beginning."),
                            verify);
        return;
    case PYRO_SLOW_PROCESSOR:
    case PYRO_SLOW_THROTTLED:
    case PYRO_SLOW_DISK:
    case PYRO_SLOW_NETWORK:
    case PYRO_SLOW_LOCK:
    case PYRO_SLOW_PAGES:
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL("Take from the machine what the trace names: another process, a quota, a "
                               "busy disk, a slow peer, a lock (pyrometer trace analyze shows all waits)."),
            verify);
        break;
    case PYRO_SLOW_WAITING:
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL("Find out what this partition waits for: take a thread dump of its executor while the "
                               "task runs (Spark UI, Executors, Thread Dump), and set timeouts for external calls."),
            verify);
        break;
    default:
        break;
    }
    if (pyro_app_property_bool(context->app, "spark.speculation", false)) {
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL(
                "Speculation was on and did not help here: check the host and the work of this partition."),
            verify);
        return;
    }
    advice = pyro_finding_advise(context, finding,
                                 PYRO_SLICE_LITERAL("If a second copy of the task on another executor is faster, and "
                                                    "tasks can safely run twice, enable speculation."),
                                 verify);
    /* The same place slow again and again would be slow in a second copy as well; part of a log does not say whether.
     */
    bool repeats = context->app->integrity.course_unknown || found->value[CAUSE] == PYRO_SLOW_UNKNOWN ||
                   (found->value[CAUSE] == PYRO_SLOW_WAITING && found->merged > 1);
    if (!repeats && !pyro_app_is_local(context->app)) {
        pyro_advice_set(context, advice, "spark.speculation", PYRO_SLICE_LITERAL("true"));
        pyro_advice_set(context, advice, "spark.speculation.multiplier", PYRO_SLICE_LITERAL("3"));
    }
}

static void report(struct pyro_rule_context *context, const struct pyro_case *found)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[found->stage];
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_straggler);
    if (!finding)
        return;
    const double *value = found->value;
    size_t row = (size_t)value[TASK_ROW];
    pyro_finding_at_stage(context, finding, found->stage);
    finding->executor = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_executor, row));
    finding->host = pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_host, row));
    const char *more =
        found->merged > 1 ? pyro_say(context, " This applies to %zu stages at this call site.", found->merged).ptr : "";
    finding->cause = pyro_say(
        context,
        "%s: task %lld took %s, its peers take %s; it has %.1f x their data; %s. %.0f of %lld tasks %s slow.%s",
        pyro_say_stage(context, found->stage), (long long)pyro_task_get(&app->tasks, PYRO_TASK_index, row),
        pyro_say_ms(context, value[SLOWEST_MS]), pyro_say_ms(context, value[USUAL_MS]), value[DATA_RATIO],
        pyro_slow_explain(context, (enum pyro_slow_cause)value[CAUSE], value[CAUSE_MS], row), value[SLOW],
        (long long)stage->tasks, value[SLOW] < 1.5 ? "is" : "are", more);
    pyro_finding_evidence(context, finding, "slowest_task_ms", value[SLOWEST_MS], value[USUAL_MS], "ms");
    pyro_finding_evidence(context, finding, "slowest_to_usual_time", value[SLOWEST_MS] / fmax(value[USUAL_MS], 1), 1,
                          "ratio");
    pyro_finding_evidence(context, finding, "slowest_to_median_data", value[DATA_RATIO], 1, "ratio");
    pyro_finding_evidence(context, finding, "slow_tasks", value[SLOW], 0, "count");
    if (value[CAUSE_MS] > 0)
        pyro_finding_evidence(context, finding, "explained_ms", value[CAUSE_MS], (double)NAN, "ms");
    pyro_case_take_stages(context, finding, found);
    advise(context, finding, found);
    /* Without data metrics (a stage that reads nothing Spark counts) more data may hide behind the time. */
    bool blind = pyro_stage_read_bytes(stage) <= 0 && stage->shuffle_write_records <= 0 && stage->input_records <= 0;
    finding->confidence *= value[CAUSE] == PYRO_SLOW_UNKNOWN     ? 0.6
                           : blind                               ? 0.7
                           : value[CAUSE] == PYRO_SLOW_COMPUTING ? 0.75
                                                                 : 0.9;
    pyro_case_take_remedies(context, finding, found);
    pyro_remedy_partly(finding, SURE);
}

static bool is_candidate(struct pyro_rule_context *context, const struct pyro_stage *stage)
{
    double longest = pyro_real(stage->duration_max), median = pyro_real(stage->duration_median);
    return pyro_stage_is_compared(stage) &&
           (double)(stage->tasks - stage->failed_tasks) >= pyro_limit(context, TASKS_MIN) &&
           longest >= pyro_limit(context, SLOW_RATIO) * median && longest - median >= pyro_limit(context, SLOW_MIN_MS);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (app->tasks.count == 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct pyro_cases cases = {0};
    struct pyro_cold cold = {0};
    double least =
        fmax(pyro_limit(context, SAVING_MIN_MS), pyro_limit(context, SAVING_MIN_SHARE) * pyro_app_judged_wall(app));
    for (size_t i = 0; i < app->stages.count && !context->failed; i++) {
        if (!is_candidate(context, &app->stages.items[i]) || (!cold.until && !pyro_cold_load(context, &cold)))
            continue;
        examine(context, &cases, &cold, i);
    }
    pyro_cold_done(context, &cold);
    pyro_cases_report(context, &cases, least, report);
    return PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_straggler = {
    .id = "straggler",
    .category = "skew",
    .title = "Straggler tasks",
    .summary = "A few tasks are much slower than their peers although they have no more data.",
    PYRO_THRESHOLDS(thresholds),
    .after = {"slow-host"},
    .follows = {"slow-host", "unsplittable-input"},
    .evaluate = evaluate,
};
