/* config-risk: settings that are risky in this run, or that have no effect. */
#include <math.h>

#include "analyze/app_facts.h"
#include "model/failure_text.h"
#include "rules/finding.h"
#include "rules/fixes/known_settings.h"

#define MIB 1048576.0

enum { FINDINGS_MAX, RISK, SOME_RISK, ODD, BEATS, TIMEOUT_S, GC_SHARE, FRACTION, USER_MIB, RESULT_SHARE, OVERHEAD };
static const struct pyro_threshold thresholds[] = {
    [FINDINGS_MAX] = {"settings_max", 8, "count", "Maximum number of settings that are reported"},
    [RISK] = {"risk", 0.3, "share", "Failure risk, or harm, of a setting that affects the work of this run"},
    [SOME_RISK] = {"risk_some", 0.2, "share", "... of a setting that does not have the intended effect"},
    [ODD] = {"risk_odd", 0.05, "share", "... of an unusual setting: the severity stays low"},
    [BEATS] = {"heartbeats_min", 2, "count",
               "Minimum number of heartbeats within the network timeout: an executor must be able to miss one"},
    [TIMEOUT_S] = {"network_timeout_s_min", 60, "count",
                   "With a shorter timeout, a long garbage collection looks like a dead executor"},
    [GC_SHARE] = {"gc_share_min", 0.1, "share",
                  "... if executors spend at least this share of their time in garbage collection"},
    [FRACTION] = {"memory_fraction_max", 0.8, "share", "Above this, little heap is left for the objects of tasks"},
    [USER_MIB] = {"user_bytes_min", 64 * MIB, "bytes", "... if less than this is left per task"},
    [RESULT_SHARE] = {"result_heap_share_min", 0.1, "share",
                      "Without a limit on results, a result of this share of the driver's heap is a risk"},
    [OVERHEAD] = {"overhead_share_min", 0.07, "share",
                  "Share of the heap that a JVM needs outside the heap, at least 384 MiB"},
};

/* One setting that is wrong. */
struct flaw {
    const char *title, *verify;
    struct pyro_slice key; /* the setting that is to blame */
    struct pyro_slice cause, advice;
    const char *set;         /* the property to set, or NULL */
    struct pyro_slice value; /* to this */
    double risk, harm, core_share;
    const char *metric, *unit; /* evidence */
    double measured, expected;
};

struct flaws {
    struct flaw items[PYRO_KNOWN_SETTINGS_MAX];
    size_t count;
};

static const char *const verify_usual = "The Environment page of the next run shows the recommended setting.";

static struct flaw *add(struct flaws *flaws, const char *title, struct pyro_slice key)
{
    if (flaws->count == sizeof(flaws->items) / sizeof(flaws->items[0]))
        return NULL;
    struct flaw *flaw = &flaws->items[flaws->count++];
    *flaw = (struct flaw){
        .title = title, .verify = verify_usual, .key = key, .measured = (double)NAN, .expected = (double)NAN};
    return flaw;
}

static bool has(const struct pyro_app *app, const char *key)
{
    return pyro_app_property(app, key).len > 0;
}

/* Seconds of a time property; a plain number counts `unit` ms. */
static double seconds(const struct pyro_app *app, const char *key, int64_t unit, double fallback)
{
    int64_t ms = pyro_app_property_time(app, key, unit, PYRO_NONE);
    return ms == PYRO_NONE ? fallback : (double)ms / 1000;
}

static bool is_contained(const struct pyro_app *app)
{
    return pyro_text_has(app->application.master, "yarn") || pyro_text_has(app->application.master, "k8s");
}

static bool uses_python(const struct pyro_app *app)
{
    for (size_t i = 0; i < app->rdds.count; i++)
        if (pyro_slice_is(app->rdds.items[i].name, "PythonRDD"))
            return true;
    for (size_t i = 0; i < app->sql_nodes.count; i++)
        if (pyro_slice_find(app->sql_nodes.items[i].name, "Python") ||
            pyro_slice_find(app->sql_nodes.items[i].name, "InPandas"))
            return true;
    return false;
}

static void no_second_try(struct pyro_rule_context *context, struct flaws *flaws)
{
    const struct pyro_app *app = context->app;
    static const struct {
        const char *key, *what, *value;
        bool fetches; /* matters only where shuffle blocks come from other executors */
        int64_t least;
    } tries[] = {
        {"spark.task.maxFailures", "the first failed task ends its job, even if only a node was lost", "4", false, 1},
        {"spark.stage.maxConsecutiveAttempts", "the first shuffle file that a task cannot fetch ends the job", "4",
         true, 1},
        {"spark.shuffle.io.maxRetries", "one broken connection makes Spark repeat a stage", "3", true, 0},
    };
    double remote = 0;
    for (size_t i = 0; i < app->stages.count; i++)
        remote += pyro_real(app->stages.items[i].shuffle_read_bytes);
    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        int64_t value = pyro_app_property_int(app, tries[i].key, 1000);
        if (value > tries[i].least || pyro_app_is_local(app) || (tries[i].fetches && remote <= 0))
            continue;
        struct flaw *flaw = add(flaws, "No retries", pyro_slice_from(tries[i].key));
        if (!flaw)
            return;
        flaw->cause =
            pyro_say(context, "%s is %lld: %s. This run had %.0f tasks on %.0f executors, and it happened not to fail.",
                     tries[i].key, (long long)value, tries[i].what, pyro_real(app->numbers.tasks),
                     pyro_real(app->numbers.executors));
        flaw->advice = pyro_say(context, "Set %s back to Spark's default of %s.", tries[i].key, tries[i].value);
        flaw->set = tries[i].key;
        flaw->value = pyro_slice_from(tries[i].value);
        flaw->risk = pyro_limit(context, RISK);
        flaw->metric = "value", flaw->unit = "count";
        flaw->measured = (double)value, flaw->expected = (double)(tries[i].value[0] - '0');
    }
}

static void heartbeats(struct pyro_rule_context *context, struct flaws *flaws)
{
    const struct pyro_app *app = context->app;
    double timeout = seconds(app, "spark.network.timeout", 1000, 120);
    double beat = seconds(app, "spark.executor.heartbeatInterval", 1, 10);
    double gc = pyro_real(app->numbers.gc_ms) / fmax(pyro_real(app->numbers.run_ms), 1);
    struct flaw *flaw = NULL;
    if (pyro_app_is_local(app))
        return;
    if (beat * pyro_limit(context, BEATS) > timeout) {
        flaw = add(flaws, "Heartbeat interval too long", PYRO_SLICE_LITERAL("spark.executor.heartbeatInterval"));
        if (!flaw)
            return;
        flaw->cause =
            pyro_say(context,
                     "Executors send a heartbeat every %.0f s and count as lost after %.0f s. A single late heartbeat, "
                     "for example because of a long garbage collection or a busy driver, ends a healthy executor.",
                     beat, timeout);
        flaw->risk = pyro_limit(context, RISK);
        flaw->set = "spark.executor.heartbeatInterval";
        flaw->value = PYRO_SLICE_LITERAL("10s");
        flaw->advice =
            PYRO_SLICE_LITERAL("Send heartbeats every 10 s, which is a small part of spark.network.timeout.");
    } else if (timeout < pyro_limit(context, TIMEOUT_S)) {
        flaw = add(flaws, "Network timeout too short", PYRO_SLICE_LITERAL("spark.network.timeout"));
        if (!flaw)
            return;
        flaw->cause = pyro_say(context,
                               "An executor that does not answer for %.0f s counts as lost (spark.network.timeout). "
                               "Executors spent %.0f %% of their run time in garbage collection.",
                               timeout, 100 * gc);
        flaw->risk = pyro_limit(context, gc >= pyro_limit(context, GC_SHARE) ? RISK : ODD);
        flaw->set = "spark.network.timeout";
        flaw->value = PYRO_SLICE_LITERAL("120s");
        flaw->advice = PYRO_SLICE_LITERAL("Set the timeout to 120 s, Spark's default.");
    } else {
        return;
    }
    flaw->metric = "timeout_s", flaw->unit = "count";
    flaw->measured = timeout, flaw->expected = fmax(120, beat * 12);
}

static void speculative_writes(struct pyro_rule_context *context, struct flaws *flaws)
{
    const struct pyro_app *app = context->app;
    const char *committer = "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version";
    bool jdbc = false;
    if (!pyro_app_property_bool(app, "spark.speculation", false))
        return;
    for (size_t i = 0; i < app->sql_nodes.count; i++)
        jdbc |= pyro_slice_find(app->sql_nodes.items[i].name, "SaveIntoDataSource") &&
                pyro_text_has(app->sql_nodes.items[i].detail, "jdbc");
    bool files = pyro_app_property_int(app, committer, 1) == 2 && app->numbers.output_bytes > 0;
    if (!jdbc && !files)
        return;
    struct flaw *flaw =
        add(flaws, "Speculation with writes that cannot be undone", PYRO_SLICE_LITERAL("spark.speculation"));
    if (!flaw)
        return;
    flaw->harm = pyro_limit(context, RISK);
    flaw->cause =
        jdbc ? PYRO_SLICE_LITERAL("Speculation is on and the run writes to a database. A speculative copy that Spark "
                                  "stops has already inserted some of its rows.")
             : pyro_say(
                   context,
                   "Speculation is on and %s were written with committer version 2. This version moves the files of "
                   "each task to their final location immediately. If a job fails, readers see some of its files.",
                   pyro_say_bytes(context, pyro_real(app->numbers.output_bytes)));
    flaw->advice = files ? PYRO_SLICE_LITERAL("Use committer version 1, a committer for the storage (S3A magic, "
                                              "manifest), or a table format with transactions.")
                         : PYRO_SLICE_LITERAL("Disable speculation for jobs that write to databases.");
    flaw->set = files ? committer : "spark.speculation";
    flaw->value = files ? PYRO_SLICE_LITERAL("1") : PYRO_SLICE_LITERAL("false");
    flaw->metric = "output_bytes", flaw->unit = "bytes";
    flaw->measured = pyro_real(app->numbers.output_bytes);
}

static void unlimited_results(struct pyro_rule_context *context, struct flaws *flaws)
{
    const struct pyro_app *app = context->app;
    const char *key = "spark.driver.maxResultSize";
    if (!has(app, key) || pyro_app_property_size(app, key, 1, 1) != 0)
        return;
    double largest = 0, heap = pyro_app_driver_heap_bytes(app);
    for (size_t i = 0; i < app->stages.count; i++)
        largest = fmax(largest, pyro_real(app->stages.items[i].result_bytes));
    struct flaw *flaw = add(flaws, "No limit on results", pyro_slice_from(key));
    if (!flaw)
        return;
    flaw->cause = pyro_say(context,
                           "%s is 0: an action can collect any amount of data, and then the driver fails instead of "
                           "the action. The largest result of this run was %s; the driver's heap is %s.",
                           key, pyro_say_bytes(context, largest), pyro_say_bytes(context, heap));
    flaw->risk = pyro_limit(context, largest >= pyro_limit(context, RESULT_SHARE) * heap ? SOME_RISK : ODD);
    flaw->set = key;
    flaw->value = pyro_say_memory(context, fmax(fmin(heap / 4, 1024 * MIB), largest * 1.5));
    flaw->advice = pyro_say(context, "Set a limit that fits the driver: %s.", flaw->value.ptr);
    flaw->metric = "largest_result_bytes", flaw->unit = "bytes";
    flaw->measured = largest;
}

static void high_fraction(struct pyro_rule_context *context, struct flaws *flaws)
{
    const struct pyro_app *app = context->app;
    double fraction = pyro_app_memory_fraction(app);
    if (fraction <= pyro_limit(context, FRACTION))
        return;
    double left = (1 - fraction) * fmax(0, pyro_app_heap_bytes(app) - 300 * MIB) / pyro_app_slots_per_executor(app);
    struct flaw *flaw = add(flaws, "Almost no heap for objects of tasks", PYRO_SLICE_LITERAL("spark.memory.fraction"));
    if (!flaw)
        return;
    flaw->cause = pyro_say(context,
                           "spark.memory.fraction=%.2f gives almost all of the heap to Spark's caches and buffers: %s "
                           "are left for the objects of a task (rows, collections, decoders).",
                           fraction, pyro_say_bytes(context, left));
    flaw->risk = pyro_limit(context, left < pyro_limit(context, USER_MIB) ? SOME_RISK : ODD);
    flaw->set = "spark.memory.fraction";
    flaw->value = PYRO_SLICE_LITERAL("0.6");
    flaw->advice = PYRO_SLICE_LITERAL("Set spark.memory.fraction back to 0.6, and raise the heap if caches need more.");
    flaw->metric = "left_for_a_task_bytes", flaw->unit = "bytes";
    flaw->measured = left, flaw->expected = pyro_limit(context, USER_MIB);
}

/* CPUs or another resource of which an executor has less than its cores could use. */
static void odd_cores(struct pyro_rule_context *context, struct flaws *flaws)
{
    const struct pyro_app *app = context->app;
    double cores = pyro_app_executor_cores(app);
    const struct pyro_executor *executor = pyro_app_largest_executor(app);
    if (!executor)
        return;
    int64_t profile = executor->resource_profile;
    struct pyro_slots slots = pyro_slots_of(app, profile, profile, executor->cores, executor->resources);
    double usable = (double)slots.count * slots.cpus, left = cores - usable;
    bool by_cpus = pyro_slice_is(slots.limit, "cpus");
    const char *name = pyro_say_text(context, slots.limit, 40);
    if (slots.count < 1 || left < 0.5)
        return;
    struct pyro_slice key =
        by_cpus ? PYRO_SLICE_LITERAL("spark.task.cpus") : pyro_say(context, "spark.task.resource.%s.amount", name);
    struct flaw *flaw = add(flaws, "Cores that no task can use", key);
    if (!flaw)
        return;
    if (by_cpus)
        flaw->cause = pyro_say(context,
                               "Each task takes %.0f cores (%s) on executors with %.0f cores: %.0f of them are always "
                               "idle.",
                               slots.task, profile > 0 ? "its resource profile" : "spark.task.cpus", cores, left);
    else
        flaw->cause = pyro_say(context,
                               "Each task takes %g of the resource %s (%s), of which an executor has %g: %s at once "
                               "for its %.0f cores, and %.0f of them are always idle.",
                               slots.task, name, profile > 0 ? "its resource profile" : key.ptr, slots.executor,
                               pyro_say_count(context, (double)slots.count, "task", "tasks"), cores, left);
    flaw->core_share = left / cores;
    flaw->metric = "idle_cores_share", flaw->unit = "share";
    flaw->measured = flaw->core_share, flaw->expected = 0;
    if (by_cpus) {
        flaw->set = "spark.executor.cores";
        flaw->value = pyro_say(context, "%.0f", usable);
        flaw->advice = pyro_say(context, "Request executors with a multiple of %.0f cores.", slots.task);
        return;
    }
    /* What a task does with the resource, and whether hosts have fewer cores, the log does not say. */
    flaw->advice = pyro_say(context,
                            "Let more tasks share the resource %s (a smaller %s), or request executors with %s, unless "
                            "tasks use more cores than Spark knows of.",
                            name, key.ptr, pyro_say_count(context, usable, "core", "cores"));
    flaw->verify = "In the next run the executors run more tasks at once, or have fewer cores.";
}

static void small_overhead(struct pyro_rule_context *context, struct flaws *flaws)
{
    const struct pyro_app *app = context->app;
    const char *key = "spark.executor.memoryOverhead";
    double heap = pyro_app_heap_bytes(app);
    double set = pyro_real(pyro_app_property_size(app, key, (int64_t)MIB, 0));
    double least = fmax(384 * MIB, pyro_limit(context, OVERHEAD) * heap);
    if (!is_contained(app) || set <= 0 || set >= least)
        return;
    bool python = uses_python(app);
    struct flaw *flaw = add(flaws, "Memory overhead too small", pyro_slice_from(key));
    if (!flaw)
        return;
    flaw->cause = pyro_say(context,
                           "The memory overhead is %s for a heap of %s%s. Under load, the buffers and threads of the "
                           "JVM alone take more than that, and the cluster manager kills the container.",
                           pyro_say_bytes(context, set), pyro_say_bytes(context, heap),
                           python ? ", and it also has to hold the Python workers" : "");
    flaw->risk = pyro_limit(context, python ? RISK : SOME_RISK);
    flaw->set = key;
    flaw->value = pyro_say_memory(context, fmax(least, heap * (python ? 0.25 : 0.1)));
    flaw->advice = pyro_say(context, "Set the memory overhead to %s.", flaw->value.ptr);
    flaw->metric = "overhead_bytes", flaw->unit = "bytes";
    flaw->measured = set, flaw->expected = least;
}

static void short_tracking(struct pyro_rule_context *context, struct flaws *flaws)
{
    const struct pyro_app *app = context->app;
    const char *key = "spark.dynamicAllocation.shuffleTracking.timeout";
    double set = seconds(app, key, 1, HUGE_VAL), fetch_failures = 0;
    if (!pyro_app_dynamic_allocation(app) || set >= 60 || app->numbers.shuffle_read_bytes <= 0)
        return;
    for (size_t i = 0; i < app->failures.count; i++)
        fetch_failures += pyro_slice_is(app->failures.items[i].reason, "FetchFailed");
    struct flaw *flaw = add(flaws, "Shuffle files are removed early", pyro_slice_from(key));
    if (!flaw)
        return;
    flaw->cause = pyro_say(context,
                           "Executors are removed %.0f s after their last task although they hold shuffle files (this "
                           "run read %s; %.0f tasks could not fetch their blocks).",
                           set, pyro_say_bytes(context, pyro_real(app->numbers.shuffle_read_bytes)), fetch_failures);
    flaw->risk = pyro_limit(context, fetch_failures > 0 ? RISK : ODD);
    flaw->set = key;
    flaw->value = PYRO_SLICE_LITERAL("30min");
    flaw->advice = PYRO_SLICE_LITERAL(
        "Do not set the timeout, or set it to 30 minutes: the shuffle files of running jobs are then safe.");
    flaw->metric = "fetch_failures", flaw->unit = "count";
    flaw->measured = fetch_failures, flaw->expected = 0;
}

static void contradictions(struct pyro_rule_context *context, struct flaws *flaws)
{
    const struct pyro_app *app = context->app;
    int64_t most = pyro_app_property_int(app, "spark.dynamicAllocation.maxExecutors", INT64_MAX);
    int64_t least = pyro_app_property_int(app, "spark.dynamicAllocation.minExecutors", 0);
    int64_t start = pyro_app_property_int(app, "spark.executor.instances", 0);
    if (!pyro_app_dynamic_allocation(app) || most == INT64_MAX || (start <= most && least <= most))
        return;
    struct flaw *flaw =
        add(flaws, "Settings contradict each other", PYRO_SLICE_LITERAL("spark.dynamicAllocation.maxExecutors"));
    if (!flaw)
        return;
    flaw->cause = pyro_say(context, "At most %lld executors are allowed, but %s requests %lld.", (long long)most,
                           least > most ? "spark.dynamicAllocation.minExecutors" : "spark.executor.instances",
                           (long long)(least > most ? least : start));
    flaw->risk = pyro_limit(context, ODD);
    flaw->advice = PYRO_SLICE_LITERAL("Keep the correct number and remove the other one.");
    flaw->metric = "max_executors", flaw->unit = "count";
    flaw->measured = (double)most, flaw->expected = (double)(least > most ? least : start);
}

static void kryo_buffer(struct pyro_rule_context *context, struct flaws *flaws)
{
    const struct pyro_app *app = context->app;
    for (size_t i = 0; i < app->failures.count; i++) {
        if (!pyro_text_has(app->failures.items[i].message, "Kryo serialization failed: Buffer overflow"))
            continue;
        struct flaw *flaw =
            add(flaws, "Serializer buffer too small", PYRO_SLICE_LITERAL("spark.kryoserializer.buffer.max"));
        if (!flaw)
            return;
        flaw->cause =
            pyro_say(context, "Tasks failed with \"%s\": an object is larger than spark.kryoserializer.buffer.max.",
                     pyro_say_text(context, app->failures.items[i].message, PYRO_CAUSE_BYTES));
        flaw->risk = pyro_limit(context, RISK);
        flaw->set = "spark.kryoserializer.buffer.max";
        flaw->value = PYRO_SLICE_LITERAL("512m");
        flaw->advice = PYRO_SLICE_LITERAL("Allow the buffer to grow to 512m, and create smaller objects.");
        flaw->metric = "value_bytes", flaw->unit = "bytes";
        flaw->measured =
            pyro_real(pyro_app_property_size(app, "spark.kryoserializer.buffer.max", (int64_t)MIB, 64 * (int64_t)MIB));
        return;
    }
}

/* Names that nothing reads: misspelled, or of another version of Spark. */
static void names(struct pyro_rule_context *context, struct flaws *flaws)
{
    const struct pyro_app *app = context->app;
    for (size_t i = 0; i < app->properties.count; i++) {
        const struct pyro_property *property = &app->properties.items[i];
        if (!pyro_slice_is(property->kind, "spark"))
            continue;
        const struct pyro_gone_setting *gone = pyro_gone_setting(property->key);
        const char *meant = gone ? NULL : pyro_meant_setting(property->key);
        bool unread = gone && pyro_app_spark_at_least(app, gone->major, gone->minor);
        if (!meant && !unread)
            continue;
        struct flaw *flaw = add(flaws, meant ? "Misspelled setting" : "Setting without effect", property->key);
        if (!flaw)
            return;
        const char *key = pyro_say_text(context, property->key, 100);
        flaw->cause = meant
                          ? pyro_say(context, "Spark does not have a setting %s. It most likely means %s, which is %s.",
                                     key, meant, has(app, meant) ? "also set" : "not set and has its default value")
                          : pyro_say(context, "%s has no effect since Spark %d.%d: %s.", key, gone->major, gone->minor,
                                     gone->instead);
        flaw->advice = meant ? pyro_say(context, "If this is the intended setting, set %s=%s.", meant,
                                        pyro_say_text(context, property->value, 80))
                             : PYRO_SLICE_LITERAL("Remove it.");
        flaw->set = meant && !has(app, meant) ? meant : NULL;
        flaw->value = property->value;
        flaw->risk = pyro_limit(context, meant && !has(app, meant) ? SOME_RISK : ODD);
        flaw->metric = "settings_without_effect", flaw->unit = "count";
        flaw->measured = 1, flaw->expected = 0;
    }
}

static void report(struct pyro_rule_context *context, const struct flaw *flaw)
{
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_config_risk);
    if (!finding)
        return;
    finding->id = pyro_say(context, "config-risk:%s", pyro_say_text(context, flaw->key, 100));
    finding->title = pyro_slice_from(flaw->title);
    finding->cause = flaw->cause;
    pyro_finding_evidence(context, finding, flaw->metric, flaw->measured, flaw->expected, flaw->unit);
    struct pyro_advice *advice = pyro_finding_advise(context, finding, flaw->advice, flaw->verify);
    if (flaw->set)
        pyro_advice_set(context, advice, flaw->set, flaw->value);
    if (flaw->set && flaw->risk + flaw->harm > 0)
        pyro_advice_prevents(advice, flaw->title);
    finding->failure_risk = flaw->risk;
    finding->harm = flaw->harm;
    finding->confidence *= 0.9;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    static void (*const checks[])(struct pyro_rule_context *, struct flaws *) = {
        no_second_try,  heartbeats,     speculative_writes, unlimited_results, high_fraction, odd_cores,
        small_overhead, short_tracking, kryo_buffer,        contradictions,    names};
    size_t settings = 0;
    for (size_t i = 0; i < context->app->properties.count; i++)
        settings += pyro_slice_is(context->app->properties.items[i].kind, "spark");
    if (settings == 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct flaws *flaws = pyro_arena_array(context->arena, 1, sizeof(*flaws));
    if (!flaws) {
        context->failed = true;
        return PYRO_VERDICT_QUIET;
    }
    flaws->count = 0;
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
        checks[i](context, flaws);
    for (size_t i = 0; i < flaws->count && (double)i < pyro_limit(context, FINDINGS_MAX); i++)
        report(context, &flaws->items[i]);
    return flaws->count > 0 ? PYRO_VERDICT_FINDING : PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_config_risk = {
    .id = "config-risk",
    .category = "resources",
    .title = "Risky settings",
    .summary = "Settings that are a risk for this run, or that have no effect.",
    PYRO_THRESHOLDS(thresholds),
    .needs_settings = true,
    .evaluate = evaluate,
};
