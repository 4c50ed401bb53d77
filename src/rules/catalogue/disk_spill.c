/* disk-spill: sorting and aggregating did not fit into memory and went to disk. */
#include <math.h>

#include "analyze/app_facts.h"
#include "base/numbers/order.h"
#include "rules/cases/cases.h"
#include "rules/causes/suspects.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"
#include "rules/tasks/stage_tasks.h"

#define MIB (1024.0 * 1024)
/* Spilled bytes are written and read again; disks of executors give 200 MB/s to one task, 100 when they are shared and
 * 1,000 when the page cache takes them. What was in memory is serialized and read back at 400 MB/s. */
#define DISK_BYTES_PER_MS      200e3
#define DISK_SLOW_BYTES_PER_MS 100e3
#define DISK_FAST_BYTES_PER_MS 1000e3
#define SERIAL_BYTES_PER_MS    400e3

enum { SPILL_MIN_BYTES, SPILL_MIN_SHARE, RISK_SHARE, FILL, UNSEEN, SKEW_RATIO, FRACTION_LOW, FRACTION_USUAL };
static const struct pyro_threshold thresholds[] = {
    [SPILL_MIN_BYTES] = {"spill_bytes_min", 32.0 * 1024 * 1024, "bytes",
                         "Quiet if a stage spills less: this costs a fraction of a second"},
    [SPILL_MIN_SHARE] = {"spill_share_min", 0.05, "share",
                         "Quiet if a stage spills a smaller share of the data that it moves"},
    [RISK_SHARE] = {"risk_share_min", 0.2, "share",
                    "At this share, tasks do not fit in memory: with more data they run out of memory"},
    [FILL] = {"target_fill_share", 0.8, "share",
              "Recommendation: the target share of a slot's memory, because tasks differ"},
    [UNSEEN] = {"target_need_ratio", 2, "ratio",
                "Recommendation: partitions for this multiple of the need: sorted and hashed rows need pointers, whose "
                "array doubles, and a task that spilled shows only a part of it"},
    [SKEW_RATIO] = {"skew_ratio_min", 3, "ratio",
                    "If one task needs at least this many times the median, more partitions do not help"},
    [FRACTION_LOW] = {"fraction_low", 0.35, "share", "spark.memory.fraction below this causes spills"},
    [FRACTION_USUAL] = {"fraction_usual", 0.6, "share", "The recommended value in that case: Spark's default"},
};

enum { DISK, MEMORY, MOVED, NEED, NEED_MEDIAN, SPILLING };

static double spill_share(const struct pyro_stage *stage)
{
    double moved = fmax(pyro_stage_read_bytes(stage), pyro_real(stage->shuffle_write_bytes));
    /* A stage that makes its rows itself reads nothing: then what it spilled is the measure. */
    return moved > 0 ? fmin(1, pyro_real(stage->disk_spill_bytes) / moved) : 1;
}

/* In-memory size that a task would have needed, at least: what it spilled and what it still held. */
static bool measure_needs(struct pyro_rule_context *context, struct pyro_case *found)
{
    const struct pyro_app *app = context->app;
    struct pyro_stage_tasks tasks;
    if (!pyro_stage_tasks_load(context, found->stage, NULL, &tasks))
        return false;
    double *needs = pyro_arena_array(context->arena, tasks.count + 1, sizeof(*needs));
    if (!needs) {
        pyro_stage_tasks_done(context, &tasks);
        context->failed = true;
        return false;
    }
    for (size_t i = 0; i < tasks.count; i++) {
        double spilled = pyro_real(pyro_task_get(&app->tasks, PYRO_TASK_memory_spill_bytes, tasks.items[i].row));
        needs[i] =
            spilled + pyro_real(pyro_task_get(&app->tasks, PYRO_TASK_peak_execution_memory_bytes, tasks.items[i].row));
        found->value[NEED] = fmax(found->value[NEED], needs[i]);
        found->value[SPILLING] += spilled > 0;
    }
    found->value[NEED_MEDIAN] = pyro_median(needs, tasks.count);
    pyro_stage_tasks_done(context, &tasks);
    return true;
}

static void examine(struct pyro_rule_context *context, struct pyro_cases *cases, size_t row)
{
    const struct pyro_stage *stage = &context->app->stages.items[row];
    struct pyro_case *found = pyro_cases_add(context, cases, row);
    if (!found || !measure_needs(context, found))
        return;
    double disk = pyro_real(stage->disk_spill_bytes), memory = pyro_real(stage->memory_spill_bytes);
    double task_ms = fmax(pyro_real(stage->task_ms), 1), length = pyro_stage_length(stage);
    /* Core time of spilling, as a share of the stage's; at most half of it, whatever the disks. */
    double serial = memory / SERIAL_BYTES_PER_MS;
    double expected = fmin((2 * disk / DISK_BYTES_PER_MS + serial) / task_ms, 0.5);
    double high = fmin((2 * disk / DISK_SLOW_BYTES_PER_MS + serial) / task_ms, 0.5);
    double low = fmin(2 * disk / DISK_FAST_BYTES_PER_MS / task_ms, expected);
    double end = (double)stage->completed_ms;
    pyro_remedy_stage(context, pyro_case_remedy(context, found), row, 1 - high);
    pyro_case_saves(context, found, end - length, end, 1);
    found->low = found->expected * low;
    found->high = fmax(found->expected * high, found->high * expected);
    found->expected *= expected;
    found->value[DISK] = disk;
    found->value[MEMORY] = memory;
    found->value[MOVED] = spill_share(stage);
}

static const char *const verify_text =
    "In the next run \"Spill (Disk)\" of this stage (Spark UI, stage page) is zero or far smaller.";

static void advise_partitions(struct pyro_rule_context *context, struct pyro_finding *finding,
                              const struct pyro_case *found, double slot_memory)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[found->stage];
    double partitions = fmax(pyro_real(stage->partitions), 1), slots = pyro_stage_slots(app, stage);
    double wanted =
        ceil(partitions * pyro_limit(context, UNSEEN) * found->value[NEED] / (slot_memory * pyro_limit(context, FILL)));
    wanted = fmin(ceil(wanted / ceil(slots)) * ceil(slots), 100000); /* whole waves */
    if (wanted <= partitions ||
        found->value[NEED] > pyro_limit(context, SKEW_RATIO) * fmax(found->value[NEED_MEDIAN], 1))
        return;
    const char *need = pyro_say_bytes(context, found->value[NEED]), *has = pyro_say_bytes(context, slot_memory);
    if (stage->shuffle_read_bytes <= 0) {
        pyro_finding_advise(context, finding,
                            pyro_say(context,
                                     "Split the input of this stage into %.0f partitions instead of %.0f: a task needs "
                                     "at least %s of execution memory and has %s.",
                                     wanted, partitions, need, has),
                            verify_text);
        return;
    }
    bool sql = pyro_stage_is_sql(stage);
    double configured = pyro_sql_shuffle_partitions(app, stage->sql);
    bool fewer = sql && partitions < configured;
    /* Adaptive execution joined them: their number is not what decides, its advisory size is. */
    if (fewer && pyro_sql_adaptive(app, stage->sql) && pyro_stage_was_coalesced(app, stage)) {
        struct pyro_advice *joined = pyro_finding_advise(
            context, finding,
            pyro_say(
                context,
                "Let adaptive execution keep %.0f partitions instead of %.0f (of %.0f): a task needs at least %s of "
                "execution memory and has %s. Rows with the same key stay together. With fewer keys than that, "
                "add a column to PARTITION BY or GROUP BY, or give tasks more memory.",
                wanted, partitions, configured, need, has),
            verify_text);
        pyro_advice_set(
            context, joined, "spark.sql.adaptive.advisoryPartitionSizeInBytes",
            pyro_say(context, "%.0fm", fmax(1, floor(pyro_real(stage->shuffle_read_bytes) / wanted / MIB))));
        return;
    }
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        pyro_say(context, "Use %.0f %s instead of %.0f%s: a task needs at least %s of execution memory and has %s.",
                 wanted, sql && !fewer ? "shuffle partitions" : "partitions", partitions,
                 fewer ? " (in the repartition() or coalesce() that sets their number)" : "", need, has),
        verify_text);
    if (!fewer)
        pyro_advice_set(context, advice, sql ? "spark.sql.shuffle.partitions" : "spark.default.parallelism",
                        pyro_say(context, "%.0f", wanted));
}

/* If the fraction is the cause, it is fixed first; returns the fraction that then holds. */
static double advise_fraction(struct pyro_rule_context *context, struct pyro_finding *finding)
{
    const struct pyro_app *app = context->app;
    double fraction = pyro_app_memory_fraction(app);
    if (fraction > pyro_limit(context, FRACTION_LOW))
        return fraction;
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        pyro_say(context, "Set spark.memory.fraction back to Spark's %.1f: at %.2f a task has only %s of the heap.",
                 pyro_limit(context, FRACTION_USUAL), fraction, pyro_say_bytes(context, pyro_app_slot_memory(app))),
        verify_text);
    pyro_advice_set(context, advice, "spark.memory.fraction", PYRO_SLICE_LITERAL("0.6"));
    return pyro_limit(context, FRACTION_USUAL);
}

static void advise_memory(struct pyro_rule_context *context, struct pyro_finding *finding,
                          const struct pyro_case *found, double fraction)
{
    const struct pyro_app *app = context->app;
    double slots = pyro_app_slots_per_executor(app), heap = pyro_app_heap_bytes(app);
    double wanted = found->value[NEED] * slots / (fraction * pyro_limit(context, FILL)) + 300 * MIB;
    if (wanted <= heap * 1.1 || wanted > heap * 4)
        return;
    struct pyro_slice size = pyro_say_memory(context, wanted);
    bool only = finding->advice_count == 0;
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        pyro_say(context,
                 "%s %s from %s to %s: enough for %s at a time with what a task needs at least. If tasks still "
                 "spill then, double it.",
                 only ? "Raise" : "Or raise", pyro_app_heap_key(app), pyro_say_bytes(context, heap), size.ptr,
                 pyro_say_count(context, slots, "task", "tasks")),
        verify_text);
    /* Only where partitions cannot do it: more memory costs money, more partitions do not. */
    if (only)
        pyro_advice_set(context, advice, pyro_app_heap_key(app), size);
}

/* Neither partitions nor memory help. A setting that makes tasks spill is named later (rules/causes). */
static void advise_cause(struct pyro_rule_context *context, struct pyro_finding *finding, const struct pyro_case *found)
{
    if (found->value[NEED] > pyro_limit(context, SKEW_RATIO) * fmax(found->value[NEED_MEDIAN], 1))
        pyro_finding_advise(context, finding,
                            PYRO_SLICE_LITERAL("One task needs far more than the others. Fix the skew of this stage "
                                               "first (see data-skew); more partitions do not split one key."),
                            verify_text);
    else if (!pyro_stage_has_suspect(context, PYRO_SYMPTOM_SPILL, found->stage))
        pyro_finding_advise(context, finding,
                            PYRO_SLICE_LITERAL("What a task needs fits into its share of the memory, but operators and "
                                               "cached blocks share that: use more partitions, or unpersist what is "
                                               "no longer read."),
                            verify_text);
}

static void report(struct pyro_rule_context *context, const struct pyro_case *found)
{
    const struct pyro_app *app = context->app;
    const struct pyro_stage *stage = &app->stages.items[found->stage];
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_disk_spill);
    if (!finding)
        return;
    const double *value = found->value;
    double slot_memory = pyro_app_slot_memory(app);
    pyro_finding_at_stage(context, finding, found->stage);
    const char *more =
        found->merged > 1 ? pyro_say(context, " This applies to %zu stages at this call site.", found->merged).ptr : "";
    finding->cause = pyro_say(context,
                              "%s: %.0f of %lld tasks spilled %s to disk (%s in memory): a task needs at least %s of "
                              "execution memory, a slot has about %s.%s",
                              pyro_say_stage(context, found->stage), value[SPILLING], (long long)stage->tasks,
                              pyro_say_bytes(context, value[DISK]), pyro_say_bytes(context, value[MEMORY]),
                              pyro_say_bytes(context, value[NEED]), pyro_say_bytes(context, slot_memory), more);
    pyro_finding_evidence(context, finding, "disk_spill_bytes", value[DISK], 0, "bytes");
    pyro_finding_evidence(context, finding, "memory_spill_bytes", value[MEMORY], 0, "bytes");
    pyro_finding_evidence(context, finding, "spill_to_moved", value[MOVED], 0, "share");
    pyro_finding_evidence(context, finding, "task_memory_needed_bytes", value[NEED], slot_memory, "bytes");
    pyro_finding_evidence(context, finding, "spilling_tasks", value[SPILLING], 0, "count");
    pyro_case_take_stages(context, finding, found);
    double fraction = advise_fraction(context, finding);
    slot_memory *= fraction / pyro_app_memory_fraction(app);
    if (value[NEED] > slot_memory * pyro_limit(context, FILL)) {
        advise_partitions(context, finding, found, slot_memory);
        advise_memory(context, finding, found, fraction);
    }
    if (finding->advice_count == 0)
        advise_cause(context, finding, found);
    finding->failure_risk = value[MOVED] >= pyro_limit(context, RISK_SHARE) ? 0.25 : 0.1;
    finding->confidence *= 0.95;
    pyro_case_take_remedies(context, finding, found);
    /* Priced with the slowest disks; of that what the others cost. */
    double high = fmax(found->sum_high, 1);
    pyro_remedy_partly(finding, found->sum_expected / high);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (app->tasks.count == 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct pyro_cases cases = {0};
    for (size_t i = 0; i < app->stages.count && !context->failed; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        if (pyro_real(stage->disk_spill_bytes) >= pyro_limit(context, SPILL_MIN_BYTES) &&
            spill_share(stage) >= pyro_limit(context, SPILL_MIN_SHARE) && stage->completed_ms != PYRO_NONE)
            examine(context, &cases, i);
    }
    pyro_cases_merge(context, &cases);
    for (size_t i = 0; i < cases.list.count && !context->failed; i++)
        report(context, &cases.list.items[i]);
    pyro_cases_done(context, &cases);
    return PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_disk_spill = {
    .id = "disk-spill",
    .category = "memory",
    .title = "Spill to disk",
    .summary = "Tasks sort or aggregate more data than fits in their share of memory, and write it to disk.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"data-skew", "oversized-partition", "global-window", "cartesian-product", "unsplittable-input"},
    .needs_settings = true,
    .evaluate = evaluate,
};
