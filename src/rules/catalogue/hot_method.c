/* hot-method: profilers saw a stage spend its time in one method of the program. */
#include <math.h>

#include "analyze/app_facts.h"
#include "rules/cases/affected.h"
#include "rules/cases/sites.h"
#include "rules/finding.h"
#include "rules/tasks/sampled.h"

/* What is left when the program no longer waits, or prepares once: one request instead of many, and the first time. */
#define SAVED 0.9

enum { WAIT_SHARE, PREPARE_SHARE, RUN_SHARE, SAMPLES, PREPARE_TASKS, SAVING_SHARE };
static const struct pyro_threshold thresholds[] = {
    [WAIT_SHARE] = {"wait_share_min", 0.2, "share", "Minimum share of a stage's task time that one method waits"},
    [PREPARE_SHARE] = {"prepare_share_min", 0.2, "share",
                       "... that goes into preparing what could be used again, in a median task"},
    [RUN_SHARE] = {"run_share_min", 0.5, "share", "... that one method of the program runs, to be named at all"},
    [SAMPLES] = {"samples_min", 200, "count",
                 "Minimum number of samples or recorded waits of the stage whose owner is known"},
    [PREPARE_TASKS] = {"prepare_tasks_min", 3, "count",
                       "Minimum number of tasks that are not the first of their thread: a first one may prepare"},
    [SAVING_SHARE] = {"saving_share_min", 0.02, "share", "Quiet if the method costs less of the application's time"},
};

enum kind { KIND_WAIT, KIND_PREPARE, KIND_RUN, KINDS };
/* The method of one kind with the most weight in a clock of a stage. */
struct best {
    const struct pyro_stage_method *method;
    double weight;
};

static bool is_of_kind(const struct pyro_stage_method *method, enum kind kind)
{
    switch (kind) {
    case KIND_WAIT:
        return method->work == PYRO_WORK_WAITING && (method->program || method->expression);
    case KIND_PREPARE:
        return method->prepares >= 0 && method->clock != PYRO_CLOCK_WAIT;
    default:
        return method->work == PYRO_WORK_RUNNING && method->program;
    }
}

static bool same_method(const struct pyro_stage_method *a, const struct pyro_stage_method *b, enum kind kind)
{
    if (kind == KIND_PREPARE)
        return a->prepares == b->prepares;
    return a->method == b->method && (a->program || a->callee == b->callee);
}

/* Entries of one method differ by what it called. */
static struct best find_best(const struct pyro_stage_samples *samples, size_t stage, enum pyro_sample_clock clock,
                             enum kind kind)
{
    enum { LEADS = 64 }; /* entries come with the most weight first: later ones cannot lead */
    const struct pyro_stage_sampled *sampled = &samples->stages[stage];
    const struct pyro_stage_method *first = samples->methods + sampled->first_method;
    struct best best = {0};
    size_t leads = 0;
    for (size_t i = 0; i < sampled->method_count && leads < LEADS; i++) {
        double weight = 0;
        if (first[i].clock != clock || !is_of_kind(&first[i], kind))
            continue;
        leads++;
        for (size_t k = i; k < sampled->method_count; k++)
            if (first[k].clock == clock && is_of_kind(&first[k], kind) && same_method(&first[i], &first[k], kind))
                weight += (double)first[k].weight;
        if (weight > best.weight)
            best = (struct best){&first[i], weight};
    }
    return best;
}

/* Preparing is a fault only where tasks do it that another went before on the same thread. */
static bool is_repeated(struct pyro_rule_context *context, const struct pyro_stage_sampled *sampled)
{
    return (double)sampled->prepare_tasks >= pyro_limit(context, PREPARE_TASKS) &&
           sampled->prepare_share >= pyro_limit(context, PREPARE_SHARE);
}

static void examine(struct pyro_rule_context *context, struct pyro_spots *spots, size_t stage)
{
    const struct pyro_stage_samples *samples = context->samples;
    struct pyro_sampled_share most = {0};
    const struct pyro_stage_method *method = NULL;
    enum kind found = KINDS;
    for (int kind = 0; kind < KINDS && found == KINDS; kind++) {
        for (int clock = 0; clock < PYRO_SAMPLE_CLOCKS; clock++) {
            struct best best = find_best(samples, stage, (enum pyro_sample_clock)clock, (enum kind)kind);
            if (!best.method || (kind == KIND_PREPARE && !is_repeated(context, &samples->stages[stage])))
                continue;
            struct pyro_sampled_share share =
                pyro_sampled_share(context->app, samples, stage, (enum pyro_sample_clock)clock, best.weight);
            if (share.count < pyro_limit(context, SAMPLES) || share.share < pyro_limit(context, (size_t)kind) ||
                share.share <= most.share)
                continue;
            most = share;
            method = best.method;
            found = (enum kind)kind;
        }
    }
    struct pyro_spot *spot = method ? pyro_sampled_add(context, spots, stage, &most) : NULL;
    if (!spot)
        return;
    spot->kind = (int)found;
    spot->about = method;
}

/* ---- What is said ------------------------------------------------------------------------------------------------ */

/* " by java.lang.Thread.sleep", where that says more than the method. */
static const char *through(struct pyro_rule_context *context, const struct pyro_stage_method *method)
{
    if (method->callee < 0)
        return "";
    struct pyro_slice text = pyro_say(context, ", in %s", pyro_say_method(context, method->callee));
    return text.ptr ? text.ptr : "";
}

static void say_wait(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_spot *spot,
                     const char *basis)
{
    const struct pyro_stage_method *method = spot->about;
    finding->cause =
        pyro_say(context,
                 "Tasks of %s wait %.0f %% of their time (%s) for what %s asks for%s. A task that waits keeps its slot "
                 "and uses no processor.",
                 pyro_say_stage(context, spot->stage), 100 * pyro_sampled_share_of(spot).share, basis,
                 pyro_say_method(context, method->method), through(context, method));
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("Wait for many rows at once: one request for each partition or batch (mapPartitions, "
                           "pandas_udf), or several requests at a time. Keep answers that come again."),
        "In the next run the flame graph of the stage (pyrometer flame --event wait) no longer shows the method, and "
        "its tasks are shorter.");
    if (advice)
        advice->code = PYRO_SLICE_LITERAL("rows.mapPartitions(lambda part: ask(list(part)))  # not rows.map(ask)");
}

static void say_prepare(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_spot *spot,
                        const char *basis)
{
    const struct pyro_stage_method *method = spot->about;
    const char *prepares = pyro_say_method(context, method->prepares);
    finding->cause = pyro_say(
        context,
        "Tasks of %s spend %.0f %% of their time (%s) in %s%s%s. It prepares something that could be used again, and "
        "every task does so, not only the first of its worker.",
        pyro_say_stage(context, spot->stage), 100 * pyro_sampled_share_of(spot).share, basis, prepares,
        method->prepares == method->method ? "" : ", called by ",
        method->prepares == method->method ? "" : pyro_say_method(context, method->method));
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("Prepare it once in each worker and keep it: functools.lru_cache in a module that "
                           "--py-files sends (functions of the main program are copied for each task), an iterator "
                           "pandas_udf, or a lazy val of a Scala object."),
        "In the next run the flame graph of the stage shows the method in the first task of each worker only.");
    if (advice)
        advice->code = PYRO_SLICE_LITERAL("@functools.lru_cache(maxsize=None)\n"
                                          "def model(): return load()  # in a module of --py-files");
}

static void say_run(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_spot *spot,
                    const char *basis)
{
    const struct pyro_stage_method *method = spot->about;
    finding->cause =
        pyro_say(context,
                 "Tasks of %s spend %.0f %% of their time (%s) in %s%s. That may be their work: it is where a "
                 "faster program would begin.",
                 pyro_say_stage(context, spot->stage), 100 * pyro_sampled_share_of(spot).share, basis,
                 pyro_say_method(context, method->method), through(context, method));
    pyro_finding_advise(context, finding,
                        pyro_say(context,
                                 "Look at the flame graph of the profiles (pyrometer flame FOLDER -o profile.svg): "
                                 "what does %s call, and is it needed for each row?",
                                 pyro_say_method(context, method->method)),
                        "In the next run the share of the method is smaller, and the stage is shorter.");
}

static void report(struct pyro_rule_context *context, const struct pyro_spots *spots, size_t first, size_t end)
{
    static void (*const say[KINDS])(struct pyro_rule_context *, struct pyro_finding *, const struct pyro_spot *,
                                    const char *) = {say_wait, say_prepare, say_run};
    const struct pyro_spot *spot = &spots->list.items[first];
    const struct pyro_stage_method *method = spot->about;
    const struct pyro_sampled_share share = pyro_sampled_share_of(spot);
    struct pyro_finding *finding = pyro_finding_add(context, context->rule);
    if (!finding)
        return;
    pyro_finding_at_stage(context, finding, spot->stage);
    say[spot->kind](context, finding, spot, pyro_sampled_basis(context, &share, method->clock));
    pyro_sampled_evidence(context, finding, "method_share", &share);
    pyro_finding_merged(context, finding, "stages", end - first);
    finding->confidence *= spot->kind == KIND_WAIT ? 0.9 : 0.8;
    if (spot->kind == KIND_RUN)
        return;
    pyro_sampled_remedy(context, finding, spots, first, end, SAVED);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    return pyro_sampled_evaluate(context, pyro_limit(context, SAVING_SHARE), examine, report);
}

const struct pyro_rule pyro_rule_hot_method = {
    .id = "hot-method",
    .category = "code",
    .title = "Hot method",
    .summary = "Profiles show that a stage spends its time in one method of the program: waiting, preparing the same "
               "thing again and again, or working.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"straggler", "data-skew", "gc-pressure", "python-udf"},
    .evaluate = evaluate,
};
