/* lock-contention: profilers saw tasks of a stage wait for locks that other threads of their executor held. */
#include "rules/cases/affected.h"
#include "rules/cases/sites.h"
#include "rules/finding.h"
#include "rules/tasks/sampled.h"

/* What is left when no task waits for another: locks that are held for a moment. */
#define SAVED 0.9

enum { LOCK_SHARE, SAMPLES, SAVING_SHARE };
static const struct pyro_threshold thresholds[] = {
    [LOCK_SHARE] = {"lock_share_min", 0.1, "share", "Minimum share of a stage's task time that tasks wait for locks"},
    [SAMPLES] = {"samples_min", 200, "count",
                 "Minimum number of samples or recorded waits of the stage whose owner is known"},
    [SAVING_SHARE] = {"saving_share_min", 0.02, "share", "Quiet if the waits cost less of the application's time"},
};

/* All waits for locks; the method that waits most. */
static double add_up(const struct pyro_stage_samples *samples, size_t stage, enum pyro_sample_clock clock,
                     const struct pyro_stage_method **most)
{
    const struct pyro_stage_sampled *sampled = &samples->stages[stage];
    const struct pyro_stage_method *first = samples->methods + sampled->first_method;
    double weight = 0;
    *most = NULL;
    for (size_t i = 0; i < sampled->method_count; i++) {
        if (first[i].clock != clock || first[i].work != PYRO_WORK_LOCKED)
            continue;
        weight += (double)first[i].weight;
        if (!*most)
            *most = &first[i]; /* methods come with the most weight first */
    }
    return weight;
}

static void examine(struct pyro_rule_context *context, struct pyro_spots *spots, size_t stage)
{
    static const enum pyro_sample_clock clocks[] = {PYRO_CLOCK_WALL, PYRO_CLOCK_WAIT};
    struct pyro_sampled_share most = {0};
    const struct pyro_stage_method *about = NULL;
    for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
        const struct pyro_stage_method *method;
        double weight = add_up(context->samples, stage, clocks[i], &method);
        struct pyro_sampled_share share = pyro_sampled_share(context->app, context->samples, stage, clocks[i], weight);
        if (method && share.count >= pyro_limit(context, SAMPLES) && share.share > most.share) {
            most = share;
            about = method;
        }
    }
    if (!about || most.share < pyro_limit(context, LOCK_SHARE))
        return;
    struct pyro_spot *spot = pyro_sampled_add(context, spots, stage, &most);
    if (!spot)
        return;
    spot->about = about;
}

static void report(struct pyro_rule_context *context, const struct pyro_spots *spots, size_t first, size_t end)
{
    const struct pyro_spot *spot = &spots->list.items[first];
    const struct pyro_stage_method *method = spot->about;
    const struct pyro_sampled_share share = pyro_sampled_share_of(spot);
    struct pyro_finding *finding = pyro_finding_add(context, context->rule);
    if (!finding)
        return;
    pyro_finding_at_stage(context, finding, spot->stage);
    finding->cause =
        pyro_say(context,
                 "Tasks of %s wait %.0f %% of their time (%s) for locks that other tasks of their executor "
                 "hold, most of it in %s. A task that waits keeps its slot and uses no processor.",
                 pyro_say_stage(context, spot->stage), 100 * share.share,
                 pyro_sampled_basis(context, &share, method->clock), pyro_say_method(context, method->method));
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL(
            "Give each task its own object (ThreadLocal, or one for each partition), or hold the lock for "
            "less work. Without a new program: executors with one core each, since a lock is shared "
            "inside of one executor only."),
        "In the next run the flame graph of the stage (pyrometer flame --event lock) no longer shows the method, and "
        "its "
        "tasks are shorter.");
    if (advice)
        advice->code = PYRO_SLICE_LITERAL("private static final ThreadLocal<Mac> MAC = "
                                          "ThreadLocal.withInitial(Keys::mac);  // not one static Mac");
    pyro_sampled_evidence(context, finding, "lock_share", &share);
    pyro_finding_merged(context, finding, "stages", end - first);
    finding->confidence *= 0.9;
    pyro_sampled_remedy(context, finding, spots, first, end, SAVED);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    return pyro_sampled_evaluate(context, pyro_limit(context, SAVING_SHARE), examine, report);
}

const struct pyro_rule pyro_rule_lock_contention = {
    .id = "lock-contention",
    .category = "code",
    .title = "Lock contention",
    .summary = "Profiles show that tasks of a stage wait for locks which other tasks of their executor hold.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"straggler", "gc-pressure"},
    .evaluate = evaluate,
};
