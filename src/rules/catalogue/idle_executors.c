/* idle-executors: slots that are idle while stages run; fewer executors would do the same work in the same time. */
#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "base/memory/allocator.h"
#include "rules/finding.h"

enum { IDLE_SHARE, SAVED_SHARE, CORE_MIN_MS, LONGER_MAX, STRETCH_MIN_MS, RELEASE_MS };
static const struct pyro_threshold thresholds[] = {
    [IDLE_SHARE] =
        {"idle_share_min", 0.25, "share",
         "Quiet if a smaller share of the slots is idle during stages: every stage has a tail and a first wave"},
    [SAVED_SHARE] = {"saved_share_min", 0.10, "share", "Minimum saving, as a share of the allocated core time"},
    [CORE_MIN_MS] = {"core_ms_min", 60000, "ms", "Quiet if the application has less allocated core time"},
    [LONGER_MAX] = {"longer_share_max", 0.03, "share",
                    "Fewer executors may make the run longer by at most this share, which is within noise"},
    [STRETCH_MIN_MS] = {"stretch_ms_min", 20000, "ms",
                        "Executors can be removed while few tasks run, for at least this time"},
    [RELEASE_MS] = {"release_ms", 10000, "ms",
                    "... minus the time after which dynamic allocation removes an idle executor"},
};
/* The number of slices of the run in which usage is measured. */
enum { SLICES = 1024, READ_ROWS = 4096 };

struct usage {
    double busy[SLICES]; /* average tasks running */
    double width_ms;
};

/* Adds a task's time to the slices it covers. */
static void spread(struct usage *usage, double from, double to)
{
    double first = from / usage->width_ms, last = to / usage->width_ms;
    if (!(last > 0) || !(first < SLICES))
        return;
    first = fmax(first, 0);
    last = fmin(last, SLICES);
    for (size_t i = (size_t)first; i < SLICES && (double)i < last; i++)
        usage->busy[i] += fmin((double)i + 1, last) - fmax((double)i, first);
}

static bool measure(struct pyro_rule_context *context, struct usage *usage)
{
    const struct pyro_app *app = context->app;
    int64_t *rows = pyro_allocate(context->arena->allocator, 2 * READ_ROWS * sizeof(*rows));
    if (!rows) {
        context->failed = true;
        return false;
    }
    double begin = pyro_real(app->application.start_ms);
    usage->width_ms = pyro_app_wall(app) / SLICES;
    for (size_t first = 0; first < app->tasks.count; first += READ_ROWS) {
        size_t count = app->tasks.count - first < READ_ROWS ? app->tasks.count - first : READ_ROWS;
        pyro_task_read(&app->tasks, PYRO_TASK_launch_ms, first, count, rows);
        pyro_task_read(&app->tasks, PYRO_TASK_finish_ms, first, count, rows + READ_ROWS);
        for (size_t i = 0; i < count; i++)
            if (rows[i] > 0)
                spread(usage, pyro_real(rows[i]) - begin, pyro_real(rows[READ_ROWS + i]) - begin);
    }
    for (size_t i = 0; i < app->unfinished_tasks.count; i++)
        spread(usage, pyro_real(app->unfinished_tasks.items[i].launch_ms) - begin,
               pyro_real(app->unfinished_tasks.items[i].until_ms) - begin);
    pyro_release(context->arena->allocator, rows);
    return true;
}

/* Wall time added when only `slots` tasks may run: the work above that line queues, and flows into slices that have
 * room within the same busy stretch; what is left at its end makes the run longer. */
static double longer_ms(const struct usage *usage, double slots)
{
    double queued = 0, added = 0;
    for (size_t i = 0; i < SLICES; i++) {
        bool idle = usage->busy[i] < 0.05; /* the driver works: whatever waits must be done before */
        if (idle && queued > 0) {
            added += queued / slots;
            queued = 0;
        }
        queued = fmax(0, queued + usage->busy[i] - slots);
        /* A stage that follows cannot start before the queue is done, and a narrow stage cannot help: room in slices
         * of narrow stages counts half. */
        if (usage->busy[i] < slots && queued > 0)
            queued = fmax(0, queued - (slots - usage->busy[i]) / 2);
    }
    return (added + queued / slots) * usage->width_ms;
}

/* Core time of slots without a task while stages ran. Where executors have cores that no task can use, because they
 * lack another resource for them, these belong to the slots in equal parts. */
static double idle_slots(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    const int64_t *parts = app->numbers.core_ms;
    double cores = 0, usable = 0;
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        int64_t removed = executor->removed_ms == PYRO_NONE ? app->application.end_ms : executor->removed_ms;
        double life = pyro_span(executor->added_ms, removed);
        int64_t profile = executor->resource_profile;
        struct pyro_slots slots = pyro_slots_of(app, profile, profile, executor->cores, executor->resources);
        cores += life * pyro_real(executor->cores);
        usable += life * (slots.count < 1 ? pyro_real(executor->cores) : (double)slots.count * slots.cpus);
    }
    double working = pyro_real(app->numbers.core_total_ms) - pyro_real(parts[PYRO_CORE_IDLE_DRIVER]) -
                     pyro_real(parts[PYRO_CORE_IDLE_WAIT]);
    double idle = pyro_real(parts[PYRO_CORE_IDLE_NO_WORK]);
    const struct pyro_drained *drained = pyro_drained_executors(app, context->arena);
    context->failed |= !drained;
    for (size_t i = 0; drained && i < app->executors.count; i++) /* these moved their blocks before they ended */
        if (drained[i].finish_ms != PYRO_NONE)
            idle -= pyro_span(drained[i].finish_ms, app->executors.items[i].removed_ms) *
                    pyro_real(app->executors.items[i].cores);
    for (size_t i = 0; i < app->executors.count; i++) { /* their removal may be missing */
        const struct pyro_executor *executor = &app->executors.items[i];
        if (executor->blocks_gone_ms > 0 && executor->removed_ms == PYRO_NONE)
            idle -= pyro_span(executor->blocks_gone_ms, app->application.end_ms) * pyro_real(executor->cores);
    }
    idle = fmax(idle, 0);
    return cores > usable ? fmax(0, idle - (1 - usable / cores) * working) * cores / usable : idle;
}

struct verdict {
    double executors, wanted, slots_each, longer, saved_core;
    bool release; /* no smaller number would do, but executors could be given back for a time */
    double released_core, stretch_ms;
};

/* Core time of executors that were idle for long stretches while others worked. */
static void measure_stretches(struct pyro_rule_context *context, const struct usage *usage, struct verdict *verdict)
{
    const struct pyro_app *app = context->app;
    double begin = pyro_real(app->application.start_ms);
    for (size_t i = 0, end; i < SLICES; i = end) {
        end = i + 1;
        double most = usage->busy[i];
        if (most < 0.05)
            continue;
        while (end < SLICES && usage->busy[end] >= 0.05 &&
               ceil(usage->busy[end] / verdict->slots_each - 0.1) <= ceil(most / verdict->slots_each - 0.1)) {
            most = fmax(most, usage->busy[end]);
            end++;
        }
        double length = (double)(end - i) * usage->width_ms;
        if (length < pyro_limit(context, STRETCH_MIN_MS))
            continue;
        double from = begin + (double)i * usage->width_ms;
        double alive = pyro_slots_between(app, NULL, pyro_whole(from), pyro_whole(from + length));
        double needed = fmax(1, ceil(most / verdict->slots_each - 0.1)) * verdict->slots_each;
        if (alive - needed < verdict->slots_each * 0.9)
            continue;
        verdict->released_core +=
            (alive - needed) * (length - pyro_limit(context, RELEASE_MS)) * pyro_app_cores_per_slot(app);
        verdict->stretch_ms += length;
    }
}

static struct verdict suggest(struct pyro_rule_context *context, const struct usage *usage)
{
    const struct pyro_app *app = context->app;
    struct verdict verdict = {.slots_each = pyro_app_slots_per_executor(app)};
    double wall = fmax(pyro_app_wall(app), 1), core = pyro_real(app->numbers.core_total_ms);
    verdict.executors = ceil(pyro_real(app->numbers.cores_peak) / pyro_app_executor_cores(app));
    verdict.wanted = verdict.executors;
    double barrier = ceil(pyro_app_barrier_tasks(app) / verdict.slots_each);
    for (int64_t count = pyro_whole(fmax(barrier, 1)); (double)count < verdict.executors; count++) {
        double n = (double)count;
        double longer = longer_ms(usage, n * verdict.slots_each);
        if (longer > pyro_limit(context, LONGER_MAX) * wall)
            continue;
        verdict.wanted = n;
        verdict.longer = longer;
        break;
    }
    double used = verdict.wanted / fmax(verdict.executors, 1) * core * (1 + verdict.longer / wall);
    verdict.saved_core = fmax(0, core - used);
    if (barrier <= 0) /* else nothing may give executors back: Spark refuses it */
        measure_stretches(context, usage, &verdict);
    if (verdict.released_core > 1.5 * verdict.saved_core) {
        verdict.release = true;
        verdict.saved_core = verdict.released_core;
    }
    return verdict;
}

/* Core time that was idle in stages of other findings: fixing them ends these stages sooner. */
static double idle_elsewhere(const struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    double idle = 0;
    for (size_t i = 0; i < context->earlier.count; i++) {
        const struct pyro_finding *finding = &context->earlier.items[i];
        bool cut = strcmp(finding->rule->id, "too-few-partitions") == 0;
        if (cut && finding->confidence <= 0.7)
            continue;
        for (size_t k = 0; k < finding->stage_count; k++) {
            const struct pyro_stage *stage = &app->stages.items[finding->stages[k]];
            double unused = pyro_stage_slots(app, stage) * pyro_stage_length(stage) - pyro_real(stage->task_ms);
            idle += fmax(unused, 0) * pyro_app_cores_per_slot(app) *
                    (cut ? 0.5 : 1); /* more partitions do not fill all slots */
        }
    }
    return idle;
}

/* `competes`: with a fixed number of them. */
static void advise_release(struct pyro_rule_context *context, struct pyro_finding *finding, double executors,
                           const char *verify, bool competes)
{
    const struct pyro_app *app = context->app;
    bool on = pyro_app_dynamic_allocation(app), tracks = pyro_app_spark_at_least(app, 3, 0);
    struct pyro_advice *advice = pyro_finding_advise(
        context, finding,
        on ? PYRO_SLICE_LITERAL("Let dynamic allocation remove idle executors after 10 s.")
           : PYRO_SLICE_LITERAL("Let dynamic allocation remove executors while stages with few tasks run."),
        verify);
    if (!on) {
        pyro_advice_set(context, advice, "spark.dynamicAllocation.enabled", PYRO_SLICE_LITERAL("true"));
        if (tracks && !pyro_app_property_bool(app, "spark.shuffle.service.enabled", false)) {
            pyro_advice_set(context, advice, "spark.dynamicAllocation.shuffleTracking.enabled",
                            PYRO_SLICE_LITERAL("true"));
            /* Otherwise executors with shuffle output stay for as long as the application. */
            pyro_advice_set(context, advice, "spark.dynamicAllocation.shuffleTracking.timeout",
                            PYRO_SLICE_LITERAL("30s"));
        }
        /* As many as there are now, from the start. */
        pyro_advice_set(context, advice, "spark.dynamicAllocation.initialExecutors",
                        pyro_say(context, "%.0f", executors));
        pyro_advice_set(context, advice, "spark.dynamicAllocation.maxExecutors", pyro_say(context, "%.0f", executors));
    }
    pyro_advice_set(context, advice, "spark.dynamicAllocation.executorIdleTimeout", PYRO_SLICE_LITERAL("10s"));
    if (competes)
        pyro_advice_competes(advice);
}

static void advise_use(struct pyro_rule_context *context, struct pyro_finding *finding, const char *verify)
{
    pyro_finding_advise(context, finding,
                        PYRO_SLICE_LITERAL("Or use the slots: more partitions in the stages that leave slots idle, or "
                                           "independent jobs at the same time."),
                        verify);
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct verdict *verdict)
{
    const struct pyro_app *app = context->app;
    const char *verify =
        "In the next run the part idle_no_work of the core time is smaller, and the duration is about the same.";
    bool dynamic = pyro_app_dynamic_allocation(app);
    if (verdict->release) {
        advise_release(context, finding, verdict->executors, verify, false);
        advise_use(context, finding, verify);
        return;
    }
    /* The fewest that are enough by the use over time, and more of them: the simulator says which take no longer. */
    double left = verdict->executors - verdict->wanted;
    const double counts[] = {verdict->wanted, verdict->wanted + 1, verdict->wanted + ceil(left / 4),
                             verdict->wanted + ceil(left / 2), verdict->executors - 1};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        if ((i > 0 && counts[i] <= counts[i - 1]) || counts[i] >= verdict->executors)
            continue;
        struct pyro_advice *advice = pyro_finding_advise(
            context, finding,
            pyro_say(context, "Run with %s instead of %.0f.",
                     pyro_say_count(context, counts[i], "executor", "executors"), verdict->executors),
            verify);
        pyro_advice_set(context, advice, dynamic ? "spark.dynamicAllocation.maxExecutors" : "spark.executor.instances",
                        pyro_say(context, "%.0f", counts[i]));
        if (i > 0)
            pyro_advice_competes(advice);
    }
    if (pyro_app_barrier_tasks(app) <= 0)
        advise_release(context, finding, verdict->executors, verify, true);
    advise_use(context, finding, verify);
}

static void report(struct pyro_rule_context *context, const struct verdict *verdict)
{
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_idle_executors);
    if (!finding)
        return;
    finding->id = pyro_slice_from(pyro_rule_idle_executors.id); /* one finding for the whole application */
    double core = fmax(pyro_real(app->numbers.core_total_ms), 1);
    double idle = idle_slots(context);
    const char *remedy =
        verdict->release
            ? pyro_say(context, "For %s whole executors were not needed.", pyro_say_ms(context, verdict->stretch_ms))
                  .ptr
            : pyro_say(context, "%.0f of %.0f executors %s enough for this work.", verdict->wanted, verdict->executors,
                       verdict->wanted < 1.5 ? "is" : "are")
                  .ptr;
    finding->cause = pyro_say(
        context, "While stages ran, slots without a task were %.0f %% of the allocated core time (%s of %s). %s",
        100 * idle / core, pyro_say_ms(context, idle), pyro_say_ms(context, core), remedy);
    pyro_finding_evidence(context, finding, "idle_core_ms", idle, pyro_limit(context, IDLE_SHARE) * core, "ms");
    pyro_finding_evidence(context, finding, "idle_share", idle / core, pyro_limit(context, IDLE_SHARE), "share");
    if (!verdict->release)
        pyro_finding_evidence(context, finding, "executors", verdict->executors, verdict->wanted, "count");
    if (verdict->release)
        pyro_finding_evidence(context, finding, "narrow_stretches_ms", verdict->stretch_ms, 0, "ms");
    else
        pyro_finding_evidence(context, finding, "longer_ms", verdict->longer, (double)NAN, "ms");
    advise(context, finding, verdict);
    finding->confidence *= verdict->release ? 0.7 : 0.8;
}

/* Streams in real-time mode keep a slot for each partition of each stage, so that no number of them can be left out
 * because of what their tasks do. */
static bool is_real_time(const struct pyro_app *app)
{
    double real_time = 0, all = 0;
    for (size_t i = 0; i < app->stages.count; i++) {
        all += pyro_real(app->stages.items[i].task_ms);
        real_time += app->stages.items[i].real_time ? pyro_real(app->stages.items[i].task_ms) : 0;
    }
    return 2 * real_time > all;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    double core = pyro_real(app->numbers.core_total_ms);
    if (app->executors.count == 0 || pyro_app_is_local(app) || core <= 0 || pyro_app_wall(app) <= 0 ||
        pyro_app_is_interactive(app) || is_real_time(app))
        return PYRO_VERDICT_NOT_APPLICABLE;
    double idle = idle_slots(context);
    if (core < pyro_limit(context, CORE_MIN_MS) || idle < pyro_limit(context, IDLE_SHARE) * core ||
        app->numbers.executors < 2)
        return PYRO_VERDICT_QUIET;
    struct usage *usage = pyro_arena_alloc(context->arena, sizeof(*usage));
    if (!usage || !measure(context, usage)) {
        context->failed = true;
        return PYRO_VERDICT_QUIET;
    }
    struct verdict verdict = suggest(context, usage);
    double saved = fmin(verdict.saved_core, idle) - idle_elsewhere(context);
    if ((verdict.wanted >= verdict.executors && !verdict.release) || saved < pyro_limit(context, SAVED_SHARE) * core)
        return PYRO_VERDICT_QUIET;
    report(context, &verdict);
    return PYRO_VERDICT_FINDING;
}

const struct pyro_rule pyro_rule_idle_executors = {
    .id = "idle-executors",
    .category = "parallelism",
    .title = "Idle executors",
    .summary = "Slots are idle while stages run: fewer executors do the same work in the same time.",
    PYRO_THRESHOLDS(thresholds),
    .after = {"data-skew", "straggler", "too-few-partitions", "locality-wait"},
    .needs_settings = true,
    .needs_whole = true,
    .evaluate = evaluate,
};
