/* slow-host: one host (or executor) takes longer for the same work, stage after stage. */
#include <math.h>
#include <stdlib.h>

#include "analyze/accounts/marks.h"
#include "analyze/app_facts.h"
#include "base/memory/allocator.h"
#include "base/numbers/order.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/tasks/stage_tasks.h"

enum { RATIO, TASKS, TASKS_ALL, STAGES, SLOWER_SHARE, SLOWER_RATIO, LOST_MS, LOST_SHARE };
static const struct pyro_threshold thresholds[] = {
    [RATIO] = {"ratio_min", 1.4, "ratio",
               "Minimum slowdown: the median task of the host divided by the one of the median host, as the median "
               "over stages; equal hosts are within 1.2"},
    [TASKS] = {"tasks_min", 2, "count",
               "Minimum number of tasks in a stage for a host to be compared; a slow host gets few"},
    [TASKS_ALL] = {"tasks_in_all_min", 9, "count", "... and in all stages together"},
    [STAGES] = {"stages_min", 3, "count", "Minimum number of compared stages: one slow stage can be chance"},
    [SLOWER_SHARE] = {"slower_share_min", 0.8, "share", "Minimum share of these stages in which the host is slower"},
    [SLOWER_RATIO] = {"slower_ratio_min", 1.2, "ratio", "... by at least this factor"},
    [LOST_MS] = {"lost_ms_min", 3000, "ms", "Quiet if its tasks together lost less"},
    [LOST_SHARE] = {"lost_share_min", 0.01, "share", "... or a smaller share of the application's task time"},
};

/* Tasks of one stage, or a host's record over all stages. */
struct sample {
    int64_t place; /* interned host or executor */
    double value;  /* time of a task, and then the ratio of a stage */
    double cpu;    /* CPU time of a task, and then its ratio; 0: unknown */
    double tasks;
    size_t stage;
};

struct places {
    enum pyro_task_column column; /* host, or executor where there is one host only */
    PYRO_VEC(struct sample) ratios;
    struct sample *buffer; /* of one stage */
    double *values;
};

static int by_place(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->value < b->value || a->value > b->value)
        return a->value < b->value ? -1 : 1;
    return (a->stage > b->stage) - (a->stage < b->stage);
}

/* Executors other than a local driver on more than one host: else hosts cannot be compared, but executors can. */
static bool choose_column(const struct pyro_app *app, enum pyro_task_column *column)
{
    size_t known = 0;
    bool hosts = false;
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        if (pyro_slice_is(executor->id, "driver"))
            continue;
        known++;
        hosts |= !pyro_slice_eq(executor->host, app->executors.items[0].host);
    }
    *column = hosts ? PYRO_TASK_host : PYRO_TASK_executor;
    return known > 1;
}

/* The locality that most tasks of the stage had: tasks that had to read from elsewhere are slow for another reason. */
static int64_t usual_locality(const struct pyro_app *app, const struct pyro_stage_tasks *tasks)
{
    int64_t usual = PYRO_NONE;
    size_t votes = 0; /* of a majority, if there is one */
    for (size_t i = 0; i < tasks->count; i++) {
        int64_t locality = pyro_task_get(&app->tasks, PYRO_TASK_locality, tasks->items[i].row);
        if (votes == 0)
            usual = locality;
        votes = locality == usual ? votes + 1 : votes - 1;
    }
    return usual;
}

/* Time of a task for the data of its peers, without waiting for others and without garbage collection, which is a
 * matter of memory. */
static double own_ms(const struct pyro_app *app, const struct pyro_stage_tasks *tasks,
                     const struct pyro_stage_task *task)
{
    struct pyro_task_split split = pyro_task_split(app, task->row);
    double ms = task->duration - pyro_real(split.gc) - pyro_real(split.shuffle_fetch_wait);
    return fmax(ms, 0) / fmax(1, pyro_stage_task_data_ratio(tasks, task));
}

/* Median of one column of the samples of marks [first, last), which are of one place. */
static double median_of(struct places *places, const struct pyro_marks *marks, size_t first, size_t last, bool cpu)
{
    for (size_t i = first; i < last; i++) {
        const struct sample *sample = &places->buffer[marks->list.items[i].row];
        places->values[i - first] = cpu ? sample->cpu : sample->value;
    }
    return pyro_median(places->values, last - first);
}

/* Folds the samples of a stage into one for each place with enough tasks, by place, and returns how many there are. */
static size_t fold(struct pyro_rule_context *context, struct places *places, const struct pyro_marks *marks,
                   struct sample *folded)
{
    const struct pyro_mark *items = marks->list.items;
    size_t kept = 0;
    for (size_t first = 0, last; first < marks->list.count; first = last) {
        for (last = first; last < marks->list.count && items[last].at == items[first].at; last++)
            ;
        double tasks = (double)(last - first);
        if (tasks < pyro_limit(context, TASKS))
            continue;
        double value = median_of(places, marks, first, last, false), cpu = median_of(places, marks, first, last, true);
        const struct sample *one = &places->buffer[items[first].row];
        folded[kept++] = (struct sample){one->place, value, cpu, tasks, one->stage};
    }
    return kept;
}

/* The samples become one for each place. */
static size_t fold_by_place(struct pyro_rule_context *context, struct places *places, size_t count)
{
    const struct pyro_allocator *allocator = context->arena->allocator;
    struct pyro_marks marks;
    struct sample *folded = pyro_allocate(allocator, (count + 1) * sizeof(*folded));
    size_t kept = 0;
    pyro_marks_init(&marks, allocator, count);
    for (size_t i = 0; i < count; i++)
        pyro_marks_add(&marks, (uint64_t)places->buffer[i].place ^ (UINT64_C(1) << 63), 0, i);
    if (pyro_marks_finish(&marks) && folded) {
        kept = fold(context, places, &marks, folded);
        if (kept > 0)
            memcpy(places->buffer, folded, kept * sizeof(*folded));
    } else {
        context->failed = true;
    }
    pyro_marks_done(&marks);
    pyro_release(allocator, folded);
    return kept;
}

/* The middle place's figure; of an even number the smaller middle, so that of two the faster one is the measure. */
static double middle(struct places *places, size_t count, bool cpu)
{
    for (size_t i = 0; i < count; i++)
        places->values[i] = cpu ? places->buffer[i].cpu : places->buffer[i].value;
    return pyro_select_real(places->values, count, (count - 1) / 2);
}

static void compare_stage(struct pyro_rule_context *context, struct places *places, const struct pyro_cold *cold,
                          size_t stage)
{
    const struct pyro_app *app = context->app;
    struct pyro_stage_tasks tasks;
    if (!pyro_stage_tasks_load(context, stage, cold, &tasks))
        return;
    int64_t locality = usual_locality(app, &tasks);
    size_t count = 0;
    places->buffer = pyro_allocate(context->arena->allocator, (tasks.count + 1) * sizeof(*places->buffer));
    places->values = pyro_allocate(context->arena->allocator, (tasks.count + 1) * sizeof(*places->values));
    context->failed |= !places->buffer || !places->values;
    for (size_t i = 0; i < tasks.count && !context->failed; i++) {
        const struct pyro_stage_task *task = &tasks.items[i];
        if (task->cold || pyro_task_get(&app->tasks, PYRO_TASK_locality, task->row) != locality)
            continue;
        double cpu = pyro_real(pyro_task_get(&app->tasks, PYRO_TASK_cpu_ns, task->row)) / 1e6;
        places->buffer[count++] = (struct sample){pyro_task_get(&app->tasks, places->column, task->row),
                                                  own_ms(app, &tasks, task), cpu, 1, stage};
    }
    pyro_stage_tasks_done(context, &tasks);
    if (count > 1 && !context->failed) {
        count = fold_by_place(context, places, count);
        double usual = count > 1 ? middle(places, count, false) : 0, cpu = count > 1 ? middle(places, count, true) : 0;
        for (size_t i = 0; i < count && usual > 0; i++) {
            struct sample *ratio = pyro_vec_push(&places->ratios, context->arena->allocator);
            context->failed |= !ratio;
            if (!ratio)
                break;
            *ratio = places->buffer[i];
            ratio->value /= usual;
            ratio->cpu = cpu > 0 ? ratio->cpu / cpu : 0;
        }
    }
    pyro_release(context->arena->allocator, places->buffer);
    pyro_release(context->arena->allocator, places->values);
    places->buffer = NULL;
    places->values = NULL;
}

struct verdict {
    int64_t place;
    double ratio, cpu, stages, slower, tasks, lost_ms;
};

/* What the tasks of the slow place would take elsewhere: one edit each, of the stages where it was slower. Gives the
 * milliseconds that they lost. */
static double take_back(struct pyro_rule_context *context, struct pyro_finding *finding, const struct places *places,
                        const struct sample *ratios, size_t count)
{
    const struct pyro_app *app = context->app;
    double lost = 0;
    for (size_t k = 0; k < count; k++) {
        const struct pyro_stage *stage = &app->stages.items[ratios[k].stage];
        size_t tasks =
            ratios[k].value >= pyro_limit(context, SLOWER_RATIO) ? (size_t)fmax(pyro_real(stage->tasks), 0) : 0;
        for (size_t i = 0; i < tasks && stage->first_task + i < app->tasks.count; i++) {
            size_t row = app->tasks_by_stage[stage->first_task + i];
            if (pyro_task_get(&app->tasks, places->column, row) != ratios[k].place ||
                pyro_task_get(&app->tasks, PYRO_TASK_status, row) != PYRO_TASK_SUCCESS)
                continue;
            double ms = pyro_span(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, row),
                                  pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, row));
            lost += ms - ms / ratios[k].value;
            pyro_remedy_task(context, finding, row, ms / ratios[k].value);
        }
    }
    return lost;
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct verdict *verdict,
                   bool host)
{
    const struct pyro_app *app = context->app;
    struct pyro_slice name = pyro_app_text(app, verdict->place);
    const char *text = pyro_say_text(context, name, 80);
    const char *verify = "In the next run all hosts have the same median task (Spark UI, stage page, Aggregated "
                         "Metrics by Executor), or the host is no longer used.";
    const char *what = host ? "host" : "executor";
    pyro_finding_advise(context, finding,
                        verdict->cpu >= (1 + verdict->ratio) / 2
                            ? pyro_say(context,
                                       "Check the CPU of %s %s: its tasks need more CPU time for the same work (slower "
                                       "model, reduced clock rate, memory bandwidth that others use).",
                                       what, text)
                            : pyro_say(context,
                                       "Check %s %s: its tasks do not need more CPU time, they wait for the CPU or for "
                                       "the disk. Check stolen and throttled CPU time (st in top, nr_throttled in "
                                       "cpu.stat), other processes, failing or full disks (dmesg, iostat).",
                                       what, text),
                        verify);
    if (host && pyro_slice_starts_with(app->application.master, "yarn")) {
        struct pyro_advice *advice = pyro_finding_advise(
            context, finding, PYRO_SLICE_LITERAL("Exclude this host from the application until it is fixed."), verify);
        pyro_advice_set(context, advice, "spark.yarn.exclude.nodes", pyro_say(context, "%s", text));
    } else if (host) {
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL(
                "Remove the host from the cluster until it is fixed (cordon the node, decommission the worker)."),
            verify);
    }
    if (pyro_app_property_bool(app, "spark.speculation", false))
        return;
    struct pyro_advice *advice =
        pyro_finding_advise(context, finding,
                            PYRO_SLICE_LITERAL("If slow hosts change and tasks can safely run twice, enable "
                                               "speculation: copies of their tasks run on other hosts."),
                            verify);
    pyro_advice_set(context, advice, "spark.speculation", PYRO_SLICE_LITERAL("true"));
}

static void report(struct pyro_rule_context *context, const struct places *places, const struct sample *ratios,
                   size_t count, struct verdict *verdict)
{
    const struct pyro_app *app = context->app;
    double lost = take_back(context, NULL, places, ratios, count);
    double least =
        fmax(pyro_limit(context, LOST_MS), pyro_limit(context, LOST_SHARE) * pyro_real(app->numbers.task_ms));
    struct pyro_finding *finding = lost < least ? NULL : pyro_finding_add(context, context->rule);
    if (!finding)
        return;
    take_back(context, finding, places, ratios, count);
    bool host = places->column == PYRO_TASK_host;
    struct pyro_slice name = pyro_app_text(app, verdict->place);
    *(host ? &finding->host : &finding->executor) = name;
    /* Numbers of executors change from run to run, hosts stay. */
    finding->id =
        host ? pyro_say(context, "slow-host:%s", pyro_say_text(context, name, 80)) : pyro_slice_from(context->rule->id);
    finding->cause = pyro_say(context,
                              "Tasks on %s %s took %.1f x as long as on the others with the same amount of data, in "
                              "%.0f of %.0f comparable stages (%.0f tasks). This cost %s of task time. %s",
                              host ? "host" : "executor", pyro_say_text(context, name, 80), verdict->ratio,
                              verdict->slower, verdict->stages, verdict->tasks, pyro_say_ms(context, lost),
                              verdict->cpu <= 0 ? "The log has no CPU times."
                              : verdict->cpu >= (1 + verdict->ratio) / 2
                                  ? "They also used more CPU time."
                                  : "They used about the same CPU time, so they waited for something.");
    pyro_finding_evidence(context, finding, "slow_to_usual_time", verdict->ratio, 1, "ratio");
    pyro_finding_evidence(context, finding, "slow_to_usual_cpu", verdict->cpu > 0 ? verdict->cpu : (double)NAN, 1,
                          "ratio");
    pyro_finding_evidence(context, finding, "stages_compared", verdict->stages, (double)NAN, "count");
    pyro_finding_evidence(context, finding, "stages_slower", verdict->slower, verdict->stages / 2, "count");
    pyro_finding_evidence(context, finding, "tasks", verdict->tasks, (double)NAN, "count");
    pyro_finding_evidence(context, finding, "lost_ms", lost, 0, "ms");
    advise(context, finding, verdict, host);
    pyro_remedy_partly(finding, 0.7);
    /* Sign test: chance that an equal host is slower in that many of the stages, roughly. */
    finding->confidence *= verdict->stages >= 5 ? 0.9 : 0.8;
}

/* `ratios` are of one place, by value. */
static void judge(struct pyro_rule_context *context, const struct places *places, const struct sample *ratios,
                  size_t count)
{
    struct verdict verdict = {.place = ratios[0].place, .stages = (double)count};
    double cpu = 0, known = 0;
    for (size_t i = 0; i < count; i++) {
        verdict.slower += ratios[i].value >= pyro_limit(context, SLOWER_RATIO);
        verdict.tasks += ratios[i].tasks;
        cpu += ratios[i].cpu * ratios[i].tasks;
        known += ratios[i].cpu > 0 ? ratios[i].tasks : 0;
    }
    verdict.ratio = ratios[count / 2].value; /* sorted by value */
    verdict.cpu = known > 0 ? cpu / known : 0;
    if (verdict.stages >= pyro_limit(context, STAGES) && verdict.tasks >= pyro_limit(context, TASKS_ALL) &&
        verdict.ratio >= pyro_limit(context, RATIO) &&
        verdict.slower >= pyro_limit(context, SLOWER_SHARE) * verdict.stages)
        report(context, places, ratios, count, &verdict);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    struct places places = {0};
    if (app->tasks.count == 0 || !choose_column(app, &places.column))
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct pyro_cold cold = {0};
    if (!pyro_cold_load(context, &cold))
        return PYRO_VERDICT_QUIET;
    for (size_t i = 0; i < app->stages.count && !context->failed; i++)
        if (pyro_stage_is_compared(&app->stages.items[i]) &&
            pyro_real(app->stages.items[i].tasks) >= 2 * pyro_limit(context, TASKS))
            compare_stage(context, &places, &cold, i);
    pyro_cold_done(context, &cold);
    if (places.ratios.count > 1)
        qsort(places.ratios.items, places.ratios.count, sizeof(*places.ratios.items), by_place);
    for (size_t first = 0, last; first < places.ratios.count && !context->failed; first = last) {
        const struct sample *items = places.ratios.items;
        for (last = first; last < places.ratios.count && items[last].place == items[first].place; last++)
            ;
        judge(context, &places, items + first, last - first);
    }
    pyro_vec_done(&places.ratios, context->arena->allocator);
    return PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_slow_host = {
    .id = "slow-host",
    .category = "skew",
    .effort = PYRO_EFFORT_CLUSTER,
    .title = "Slow host",
    .summary = "One host takes longer than the others for the same work, in stage after stage.",
    PYRO_THRESHOLDS(thresholds),
    .evaluate = evaluate,
};
