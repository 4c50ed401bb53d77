/* What this run says about each property of interest: the value that a finding asks for, or why the present one does.
 * Every reason is made of this run's numbers; where the log has none there is no row. docs/configuration-advice.md */
#include <math.h>

#include "advice/advice.h"
#include "advice/native.h"
#include "analyze/app_facts.h"
#include "analyze/memory/shortage.h"
#include "analyze/settings/spark_settings.h"
#include "rules/finding.h"

/* Numbers that several reasons need, gathered once. */
struct run {
    struct pyro_rule_context *context;
    const struct pyro_app *app;
    double run_ms, gc_share, spill_bytes, slots, executors, cores_each, heap, heap_peak;
    double shuffle_most, shuffle_partitions, shuffle_task_ms; /* the stage that read most of a shuffle of SQL */
    double rdd_most, rdd_partitions, rdd_task_ms;             /* the same of RDDs */
    double input_most, input_partitions, input_task_ms;       /* the SQL stage that read most input */
    double broadcast_most;
    double rdd_shuffle_bytes, result_ms, slowest_ratio;
    double execution_most; /* memory that one task held or spilled for execution */
    double speculative;
    bool any_sql, any_rdd, metrics_known;
};

static void measure_stage(struct run *run, const struct pyro_stage *stage)
{
    double read = pyro_real(stage->shuffle_read_bytes), input = pyro_real(stage->input_bytes);
    double partitions = fmax(pyro_real(stage->partitions), 1), task = pyro_real(stage->duration_median);
    bool sql = pyro_stage_is_sql(stage);
    run->any_sql |= sql;
    run->any_rdd |= !sql;
    if (sql && read > run->shuffle_most) {
        run->shuffle_most = read;
        run->shuffle_partitions = partitions;
        run->shuffle_task_ms = task;
    } else if (!sql && read > run->rdd_most) {
        run->rdd_most = read;
        run->rdd_partitions = partitions;
        run->rdd_task_ms = task;
    }
    if (sql && input > run->input_most) {
        run->input_most = input;
        run->input_partitions = partitions;
        run->input_task_ms = task;
    }
    if (!sql)
        run->rdd_shuffle_bytes += pyro_real(stage->shuffle_write_bytes);
    run->result_ms += pyro_real(stage->result_serialize_ms);
    run->execution_most = fmax(run->execution_most, pyro_real(stage->peak_execution_memory_bytes));
    run->speculative += pyro_real(stage->speculative_tasks);
    if (task >= 1000 && pyro_stage_is_compared(stage))
        run->slowest_ratio = fmax(run->slowest_ratio, pyro_real(stage->duration_max) / task);
}

/* Nodes and metrics come in the same order: by execution, then node. */
static double largest_broadcast(const struct pyro_app *app)
{
    double most = 0;
    for (size_t i = 0, m = 0; i < app->sql_nodes.count; i++) {
        const struct pyro_sql_node *node = &app->sql_nodes.items[i];
        for (; m < app->sql_metrics.count; m++) {
            const struct pyro_sql_metric *metric = &app->sql_metrics.items[m];
            if (metric->sql > node->sql || (metric->sql == node->sql && metric->node > node->node))
                break;
            if (metric->sql == node->sql && metric->node == node->node && pyro_slice_is(metric->name, "data size") &&
                pyro_slice_starts_with(node->name, "BroadcastExchange"))
                most = fmax(most, pyro_real(metric->value));
        }
    }
    return most;
}

static struct run measure(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    const struct pyro_numbers *numbers = &app->numbers;
    struct run run = {.context = context, .app = app};
    run.run_ms = pyro_real(numbers->run_ms);
    run.gc_share = run.run_ms > 0 ? pyro_real(numbers->gc_ms) / run.run_ms : 0;
    run.spill_bytes = pyro_real(numbers->disk_spill_bytes);
    run.heap = pyro_app_heap_bytes(app);
    run.heap_peak = pyro_real(numbers->executor_heap_peak_bytes);
    run.metrics_known = run.heap_peak > 0 && run.heap > 0;
    for (size_t i = 0; i < app->executors.count; i++)
        run.cores_each = fmax(run.cores_each, pyro_real(app->executors.items[i].cores));
    run.slots = pyro_real(numbers->cores_peak);
    run.executors = run.cores_each > 0 ? ceil(run.slots / run.cores_each) : 0;
    for (size_t i = 0; i < app->stages.count; i++)
        measure_stage(&run, &app->stages.items[i]);
    run.broadcast_most = largest_broadcast(app);
    return run;
}

static struct pyro_slice say_memory(const struct run *run)
{
    struct pyro_rule_context *context = run->context;
    if (run->run_ms <= 0)
        return PYRO_SLICE_NULL;
    const char *spilled =
        run->spill_bytes > 0
            ? pyro_say(context, "%s was spilled to disk", pyro_say_bytes(context, run->spill_bytes)).ptr
            : "nothing was spilled to disk";
    if (!run->metrics_known)
        return pyro_say(context, "Garbage collection took %.1f %% of task time, and %s; the log has no heap peaks.",
                        100 * run->gc_share, spilled);
    return pyro_say(context,
                    "The heap was %.0f %% full (%s of %s), garbage collection took %.1f %% of task time, and %s.",
                    100 * run->heap_peak / run->heap, pyro_say_bytes(context, run->heap_peak),
                    pyro_say_bytes(context, run->heap), 100 * run->gc_share, spilled);
}

static struct pyro_slice executor_memory(const struct run *run)
{
    return pyro_app_is_local(run->app) ? PYRO_SLICE_NULL : say_memory(run);
}

static struct pyro_slice driver_memory(const struct run *run)
{
    const struct pyro_numbers *numbers = &run->app->numbers;
    double peak = pyro_real(numbers->driver_heap_peak_bytes), limit = pyro_real(numbers->driver_heap_limit_bytes);
    if (pyro_app_is_local(run->app))
        return say_memory(run);
    if (peak <= 0 || limit <= 0)
        return PYRO_SLICE_NULL;
    return pyro_say(run->context, "The driver's heap was %.0f %% full (%s of %s).", 100 * peak / limit,
                    pyro_say_bytes(run->context, peak), pyro_say_bytes(run->context, limit));
}

static struct pyro_slice executor_overhead(const struct run *run)
{
    size_t killed = 0;
    if (run->executors <= 0 || pyro_app_is_local(run->app))
        return PYRO_SLICE_NULL;
    for (size_t i = 0; i < run->app->executors.count; i++)
        killed += pyro_executor_shortage(run->app, &run->app->executors.items[i]) >= PYRO_SHORTAGE_VIRTUAL;
    return killed > 0
               ? PYRO_SLICE_NULL
               : pyro_say(run->context, "None of %zu executors was killed because of the memory of its container.",
                          run->app->executors.count);
}

static struct pyro_slice executor_cores(const struct run *run)
{
    double cpu = pyro_real(run->app->numbers.cpu_ms);
    if (run->cores_each <= 0 || run->run_ms <= 0 || cpu <= 0 || pyro_app_is_local(run->app))
        return PYRO_SLICE_NULL;
    return pyro_say(run->context,
                    "Tasks used the CPU for %.0f %% of their run time, with %.0f tasks at the same time in an "
                    "executor. Garbage collection took %.1f %% of the run time.",
                    fmin(100, 100 * cpu / run->run_ms), pyro_app_slots_per_executor(run->app), 100 * run->gc_share);
}

static struct pyro_slice say_busy(const struct run *run)
{
    double core = pyro_real(run->app->numbers.core_total_ms);
    double idle = pyro_real(run->app->numbers.core_ms[PYRO_CORE_IDLE_NO_WORK]);
    if (core <= 0 || run->executors <= 0 || pyro_app_is_local(run->app))
        return PYRO_SLICE_NULL;
    return pyro_say(run->context, "While stages ran, %.0f %% of the core time of %.0f executor%s was idle.",
                    100 * idle / core, run->executors, run->executors > 1 ? "s" : "");
}

static struct pyro_slice instances(const struct run *run)
{
    return pyro_app_dynamic_allocation(run->app) ? PYRO_SLICE_NULL : say_busy(run);
}

static struct pyro_slice dynamic_most(const struct run *run)
{
    return pyro_app_dynamic_allocation(run->app) ? say_busy(run) : PYRO_SLICE_NULL;
}

static struct pyro_slice dynamic_least(const struct run *run)
{
    double wait = pyro_real(run->app->numbers.wall_ms[PYRO_WALL_RESOURCE_WAIT]);
    return pyro_app_dynamic_allocation(run->app)
               ? pyro_say(run->context, "Work waited %s without an executor.", pyro_say_ms(run->context, wait))
               : PYRO_SLICE_NULL;
}

static struct pyro_slice collector(const struct run *run)
{
    if (run->run_ms <= 0)
        return PYRO_SLICE_NULL;
    return pyro_say(run->context, "Garbage collection took %s of %s of task time (%.1f %%).",
                    pyro_say_ms(run->context, pyro_real(run->app->numbers.gc_ms)),
                    pyro_say_ms(run->context, run->run_ms), 100 * run->gc_share);
}

static struct pyro_slice executor_options(const struct run *run)
{
    return pyro_app_is_local(run->app) ? PYRO_SLICE_NULL : collector(run);
}

static struct pyro_slice driver_options(const struct run *run)
{
    return pyro_app_is_local(run->app) ? collector(run) : PYRO_SLICE_NULL;
}

static struct pyro_slice memory_fraction(const struct run *run)
{
    double slot = pyro_app_slot_memory(run->app), storage = pyro_real(run->app->numbers.storage_peak_bytes);
    if (slot <= 0 || run->execution_most <= 0)
        return PYRO_SLICE_NULL;
    return pyro_say(run->context,
                    "The largest task used %s of execution memory, a slot has at least %s, and caches used %s.",
                    pyro_say_bytes(run->context, run->execution_most), pyro_say_bytes(run->context, slot),
                    pyro_say_bytes(run->context, storage));
}

static struct pyro_slice speculation(const struct run *run)
{
    if (run->slowest_ratio <= 0)
        return PYRO_SLICE_NULL;
    return pyro_say(run->context,
                    "The slowest task took %.1f x the median of its stage, and Spark started %.0f speculative copies.",
                    run->slowest_ratio, run->speculative);
}

static struct pyro_slice serializer(const struct run *run)
{
    if (!run->any_rdd || run->rdd_shuffle_bytes <= 0)
        return run->any_sql ? PYRO_SLICE_LITERAL("The run shuffled only DataFrames, which do not use it.")
                            : PYRO_SLICE_NULL;
    return pyro_say(run->context,
                    "RDDs shuffled %s, and serializing results took %s (%.1f %% of task time). Another serializer "
                    "cannot save more than that.",
                    pyro_say_bytes(run->context, run->rdd_shuffle_bytes), pyro_say_ms(run->context, run->result_ms),
                    run->run_ms > 0 ? 100 * run->result_ms / run->run_ms : 0);
}

static struct pyro_slice say_pieces(const struct run *run, const char *what, double bytes, double pieces, double ms)
{
    return bytes > 0 ? pyro_say(run->context,
                                "%s (%s) had %.0f partitions of %s, and the median task took %s, on %.0f slots.", what,
                                pyro_say_bytes(run->context, bytes), pieces,
                                pyro_say_bytes(run->context, bytes / pieces), pyro_say_ms(run->context, ms), run->slots)
                     : PYRO_SLICE_NULL;
}

static struct pyro_slice shuffle_partitions(const struct run *run)
{
    return say_pieces(run, "The largest shuffle of a query", run->shuffle_most, run->shuffle_partitions,
                      run->shuffle_task_ms);
}

static struct pyro_slice parallelism(const struct run *run)
{
    return say_pieces(run, "The largest shuffle of RDDs", run->rdd_most, run->rdd_partitions, run->rdd_task_ms);
}

static struct pyro_slice input_pieces(const struct run *run)
{
    return say_pieces(run, "The largest input of a query", run->input_most, run->input_partitions, run->input_task_ms);
}

static struct pyro_slice broadcast(const struct run *run)
{
    if (run->broadcast_most <= 0)
        return PYRO_SLICE_NULL;
    return pyro_say(run->context, "The largest broadcast table took %s of memory.",
                    pyro_say_bytes(run->context, run->broadcast_most));
}

static struct pyro_slice adaptive(const struct run *run)
{
    if (!run->any_sql || !pyro_app_spark_at_least(run->app, 3, 0))
        return PYRO_SLICE_NULL;
    return pyro_app_adaptive(run->app)
               ? PYRO_SLICE_LITERAL("Adaptive execution is on; no stage shows a reason to disable it.")
               : PYRO_SLICE_LITERAL(
                     "This run has no stage with partitions that adaptive execution should coalesce or split.");
}

/* Why the present value does, for each property that this run can say something about. */
static const struct {
    const char *key;
    struct pyro_slice (*keep)(const struct run *run);
} judges[] = {
    {"spark.executor.memory", executor_memory},
    {"spark.executor.memoryOverhead", executor_overhead},
    {"spark.executor.cores", executor_cores},
    {"spark.executor.instances", instances},
    {"spark.driver.memory", driver_memory},
    {"spark.executor.extraJavaOptions", executor_options},
    {"spark.driver.extraJavaOptions", driver_options},
    {"spark.memory.fraction", memory_fraction},
    {"spark.dynamicAllocation.minExecutors", dynamic_least},
    {"spark.dynamicAllocation.maxExecutors", dynamic_most},
    {"spark.speculation", speculation},
    {"spark.serializer", serializer},
    {"spark.default.parallelism", parallelism},
    {"spark.sql.shuffle.partitions", shuffle_partitions},
    {"spark.sql.files.maxPartitionBytes", input_pieces},
    {"spark.sql.autoBroadcastJoinThreshold", broadcast},
    {"spark.sql.adaptive.enabled", adaptive},
};

static const struct pyro_change *find_change(const struct pyro_diagnosis *diagnosis, struct pyro_slice key)
{
    for (size_t i = 0; i < diagnosis->change_count; i++)
        if (pyro_slice_eq(diagnosis->changes[i].key, key))
            return &diagnosis->changes[i];
    return NULL;
}

/* Executors and cores of the run, if no property has them. */
static struct pyro_slice current_value(const struct run *run, struct pyro_slice key)
{
    struct pyro_slice set = pyro_setting_current(run->app, key);
    if (!set.ptr && pyro_slice_is(key, "spark.executor.instances") && run->executors > 0)
        return pyro_say(run->context, "%.0f", run->executors);
    if (!set.ptr && pyro_slice_is(key, "spark.executor.cores") && run->cores_each > 0)
        return pyro_say(run->context, "%.0f", run->cores_each);
    return set;
}

static void add_row(const struct run *run, struct pyro_diagnosis *diagnosis, struct pyro_slice key,
                    struct pyro_slice (*keep)(const struct run *run))
{
    const struct pyro_change *change = find_change(diagnosis, key);
    if (!change && !keep)
        return; /* most settings: nothing is known of them */
    const struct pyro_setting_row *known = pyro_setting_find(key);
    struct pyro_configured row = {.key = key, .current = current_value(run, key)};
    if (change) {
        const struct pyro_finding *finding = &diagnosis->findings[change->finding];
        row.recommended = change->value;
        if (change->current.ptr)
            row.current = change->current;
        row.reason = finding->advice[change->advice].said;
        row.verify = finding->advice[change->advice].verify;
        row.finding = finding->id;
    } else {
        row.recommended = row.current;
        row.reason = keep ? keep(run) : PYRO_SLICE_NULL;
        if (!row.reason.ptr)
            return;
    }
    enum pyro_applies applies = pyro_setting_applies(run->app, known, &row.note);
    if (!change && applies == PYRO_APPLIES_NO)
        return;
    if (change && change->current.ptr) {
        row.note = "the program sets it (spark.conf.set or SET): change it there";
        applies = PYRO_APPLIES_ELSEWHERE;
    }
    row.applies = applies == PYRO_APPLIES_ELSEWHERE ? "elsewhere" : known && !known->at_start ? "runtime" : "start";
    diagnosis->configuration[diagnosis->configuration_count++] = row;
}

/* What this run adds to the meaning of a platform's own setting. */
static struct pyro_slice say_numbers(const struct run *run, enum pyro_platform_numbers numbers)
{
    struct pyro_rule_context *context = run->context;
    const struct pyro_numbers *app = &run->app->numbers;
    size_t removed = 0;
    switch (numbers) {
    case PYRO_NUMBERS_OUTPUT:
        return pyro_say(context, "The run wrote %s.", pyro_say_bytes(context, pyro_real(app->output_bytes)));
    case PYRO_NUMBERS_SHUFFLE:
        return pyro_say(context, "The run shuffled %s.", pyro_say_bytes(context, pyro_real(app->shuffle_write_bytes)));
    case PYRO_NUMBERS_BROADCAST:
        return pyro_say(context, "The largest broadcast had %s.", pyro_say_bytes(context, run->broadcast_most));
    case PYRO_NUMBERS_LOST:
        for (size_t i = 0; i < run->app->executors.count; i++)
            removed += run->app->executors.items[i].removed_ms != PYRO_NONE;
        return pyro_say(context, "%zu of %zu executors were removed during the run.", removed,
                        run->app->executors.count);
    default:
        return pyro_say(context, "The run read %s.", pyro_say_bytes(context, pyro_real(app->input_bytes)));
    }
}

/* Those of the platform's own Spark that the run sets. No finding is about them: what they do is not in the log. */
static void add_platform_rows(const struct run *run, struct pyro_diagnosis *diagnosis)
{
    enum pyro_platform platform = pyro_app_platform(run->app);
    for (size_t i = 0; i < pyro_platform_setting_count; i++) {
        const struct pyro_platform_setting *setting = &pyro_platform_settings[i];
        struct pyro_slice value = pyro_app_property(run->app, setting->key);
        bool here = setting->platform == platform ||
                    (setting->platform == PYRO_PLATFORM_EMR && platform == PYRO_PLATFORM_EMR_SERVERLESS);
        if (!here || !value.ptr)
            continue;
        struct pyro_slice numbers = say_numbers(run, setting->numbers);
        diagnosis->configuration[diagnosis->configuration_count++] = (struct pyro_configured){
            .key = pyro_slice_from(setting->key),
            .current = value,
            .recommended = value,
            .reason = pyro_say(run->context, "%s. %.*s", setting->meaning, (int)numbers.len, numbers.ptr),
            .applies = setting->at_start ? "start" : "runtime",
        };
    }
}

bool pyro_advise_configuration(struct pyro_diagnosis *diagnosis)
{
    struct pyro_rule_context context = {
        .app = diagnosis->app, .arena = &diagnosis->arena, .scratch = &diagnosis->arena};
    struct run run = measure(&context);
    size_t most = pyro_setting_row_count + diagnosis->change_count + pyro_platform_setting_count;
    diagnosis->configuration_count = 0;
    diagnosis->configuration = pyro_arena_array(&diagnosis->arena, most, sizeof(*diagnosis->configuration));
    if (!diagnosis->configuration)
        return false;
    if (diagnosis->app->integrity.settings_unknown)
        return true; /* nothing to compare with */
    for (size_t i = 0; i < pyro_setting_row_count; i++) {
        struct pyro_slice (*keep)(const struct run *run) = NULL;
        for (size_t k = 0; k < sizeof(judges) / sizeof(judges[0]); k++)
            if (strcmp(judges[k].key, pyro_setting_rows[i].key) == 0)
                keep = judges[k].keep;
        add_row(&run, diagnosis, pyro_slice_from(pyro_setting_rows[i].key), keep);
    }
    for (size_t i = 0; i < diagnosis->change_count; i++)
        if (!pyro_setting_find(diagnosis->changes[i].key))
            add_row(&run, diagnosis, diagnosis->changes[i].key, NULL);
    add_platform_rows(&run, diagnosis);
    return !context.failed;
}
