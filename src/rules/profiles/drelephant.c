/* The Spark heuristics of Dr. Elephant's master branch. docs/profiles/drelephant.md */
#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "rules/finding.h"
#include "rules/profiles/profile.h"

enum level { NONE, LOW, MODERATE, SEVERE, CRITICAL };
static const char *const words[] = {"NONE", "LOW", "MODERATE", "SEVERE", "CRITICAL"};
#define GIB (1024.0 * 1024 * 1024)

static const double memory_limits[] = {10 * GIB, 15 * GIB, 20 * GIB, 25 * GIB};
static const double overhead_limits[] = {2 * GIB, 4 * GIB, 6 * GIB, 8 * GIB};
static const double core_limits[] = {4, 6, 8, 10};
static const double failure_limits[] = {0.1, 0.3, 0.5, 0.5};
static const double runtime_limits[] = {900e3, 1800e3, 2700e3, 3600e3};
static const double gc_limits[] = {0.08, 0.1, 0.15, 0.2};
/* 10^0.125, 10^0.25, 10^0.5, 10 */
static const double spread_limits[] = {1.333521432163324, 1.7782794100389228, 3.1622776601683795, 10};

static enum level rank(double value, const double *limits)
{
    for (int level = CRITICAL; level > NONE; level--)
        if (value >= limits[level - 1])
            return (enum level)level;
    return NONE;
}

/* The limit that was reached, else the lowest. */
static void say(struct pyro_rule_context *context, struct pyro_diagnosis *diagnosis, const char *heuristic,
                double value, const double *limits, struct pyro_slice detail)
{
    enum level level = rank(value, limits);
    pyro_profile_say(context, diagnosis, heuristic, words[level], value, limits[level > NONE ? level - 1 : 0], detail);
}

static void say_flag(struct pyro_rule_context *context, struct pyro_diagnosis *diagnosis, enum level level,
                     const char *detail)
{
    pyro_profile_say(context, diagnosis, "Spark Configuration", words[level], (double)NAN, (double)NAN,
                     pyro_slice_from(detail));
}

static void judge_configuration(struct pyro_rule_context *context, struct pyro_diagnosis *diagnosis)
{
    static const struct {
        const char *key;
        const double *limits;
        int64_t unit; /* 0: a number of cores */
    } rows[] = {
        {"spark.executor.memory", memory_limits, 1}, /* without suffix Dr. Elephant reads bytes */
        {"spark.driver.memory", memory_limits, 1},
        {"spark.executor.cores", core_limits, 0},
        {"spark.driver.cores", core_limits, 0},
        {"spark.yarn.executor.memoryOverhead", overhead_limits, 1048576},
        {"spark.yarn.driver.memoryOverhead", overhead_limits, 1048576},
    };
    const struct pyro_app *app = context->app;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double value = pyro_real(rows[i].unit ? pyro_app_property_size(app, rows[i].key, rows[i].unit, 0)
                                              : pyro_app_property_int(app, rows[i].key, 0));
        if (pyro_app_property(app, rows[i].key).ptr)
            say(context, diagnosis, "Spark Configuration", value, rows[i].limits,
                pyro_say(context, "%s is %.0f%s", rows[i].key, value, rows[i].unit ? " bytes" : ""));
    }
    bool kryo = pyro_slice_is(pyro_app_property(app, "spark.serializer"), "org.apache.spark.serializer.KryoSerializer");
    say_flag(context, diagnosis, kryo ? NONE : MODERATE,
             kryo ? "spark.serializer is Kryo" : "spark.serializer is not Kryo");
    bool service = pyro_app_property_bool(app, "spark.shuffle.service.enabled", false);
    bool dynamic = pyro_app_dynamic_allocation(app);
    say_flag(context, diagnosis,
             service   ? NONE
             : dynamic ? SEVERE
                       : MODERATE,
             service   ? "spark.shuffle.service.enabled is on"
             : dynamic ? "dynamic allocation is on without spark.shuffle.service.enabled"
                       : "spark.shuffle.service.enabled is off");
    if (dynamic) {
        bool least = pyro_app_property_int(app, "spark.dynamicAllocation.minExecutors", 0) > 1;
        bool most = pyro_app_property_int(app, "spark.dynamicAllocation.maxExecutors", 0) > 900;
        say_flag(context, diagnosis, least ? CRITICAL : NONE,
                 least ? "spark.dynamicAllocation.minExecutors is above 1"
                       : "spark.dynamicAllocation.minExecutors is at most 1");
        say_flag(context, diagnosis, most ? CRITICAL : NONE,
                 most ? "spark.dynamicAllocation.maxExecutors is above 900"
                      : "spark.dynamicAllocation.maxExecutors is at most 900");
    }
    struct pyro_slice jars = pyro_app_property(app, "spark.yarn.secondary.jars");
    if (jars.ptr && pyro_slice_find(jars, "*"))
        say_flag(context, diagnosis, CRITICAL, "spark.yarn.secondary.jars has a wildcard");
}

static double rate(double failed, double done)
{
    return failed + done > 0 ? failed / (failed + done) : 0;
}

static void judge_jobs(struct pyro_rule_context *context, struct pyro_diagnosis *diagnosis,
                       const struct pyro_peer_tasks *tasks)
{
    const struct pyro_app *app = context->app;
    double done = 0, failed = 0, worst = 0;
    int64_t job = PYRO_NONE;
    struct pyro_peer_tasks *jobs = pyro_arena_array(context->arena, app->jobs.count + 1, sizeof(*jobs));
    if (!jobs) {
        context->failed = true;
        return;
    }
    for (size_t i = 0; i < app->stages.count; i++) {
        ptrdiff_t row = pyro_app_find_job(app, app->stages.items[i].job);
        if (row < 0)
            continue;
        jobs[row].done += tasks[i].done;
        jobs[row].failed += tasks[i].failed;
    }
    for (size_t i = 0; i < app->jobs.count; i++) {
        done += pyro_slice_is(app->jobs.items[i].status, "succeeded");
        failed += pyro_slice_is(app->jobs.items[i].status, "failed");
        double share = rate(jobs[i].failed, fmax(0, jobs[i].done));
        if (share > worst) {
            worst = share;
            job = app->jobs.items[i].id;
        }
    }
    say(context, diagnosis, "Spark Job Metrics", rate(failed, done), failure_limits,
        pyro_say(context, "%.0f of %.0f jobs failed", failed, failed + done));
    say(context, diagnosis, "Spark Job Metrics", worst, failure_limits,
        job == PYRO_NONE ? PYRO_SLICE_LITERAL("no job has failed tasks")
                         : pyro_say(context, "failed tasks of job %lld", (long long)job));
}

static void judge_stages(struct pyro_rule_context *context, struct pyro_diagnosis *diagnosis,
                         const struct pyro_peer_tasks *tasks)
{
    const struct pyro_app *app = context->app;
    double done = 0, failed = 0, worst = 0, longest = 0;
    int64_t failing = PYRO_NONE, slow = PYRO_NONE;
    /* The driver is one of the executors that the History Server lists. */
    int64_t listed = (int64_t)app->executors.count + !pyro_app_is_local(app);
    int64_t executors = pyro_app_property_int(app, "spark.executor.instances", listed);
    executors = executors > 0 ? executors : 1;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        done += pyro_slice_is(stage->status, "succeeded");
        failed += pyro_slice_is(stage->status, "failed");
        double share = rate(tasks[i].failed, fmax(0, tasks[i].done));
        double runtime = floor(pyro_real(stage->run_ms) / (double)executors);
        if (share > worst) {
            worst = share;
            failing = stage->id;
        }
        if (runtime > longest) {
            longest = runtime;
            slow = stage->id;
        }
    }
    say(context, diagnosis, "Spark Stage Metrics", rate(failed, done), failure_limits,
        pyro_say(context, "%.0f of %.0f stages failed", failed, failed + done));
    say(context, diagnosis, "Spark Stage Metrics", worst, failure_limits,
        failing == PYRO_NONE ? PYRO_SLICE_LITERAL("no stage has failed tasks")
                             : pyro_say(context, "failed tasks of stage %lld", (long long)failing));
    say(context, diagnosis, "Spark Stage Metrics", longest, runtime_limits,
        slow == PYRO_NONE
            ? PYRO_SLICE_LITERAL("no stage ran")
            : pyro_say(context, "run time of stage %lld by %lld executors", (long long)slow, (long long)executors));
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double executor_value(const struct pyro_executor *executor, int which)
{
    return pyro_real(which == 0   ? executor->busy_ms
                     : which == 1 ? executor->input_bytes
                     : which == 2 ? executor->shuffle_read_bytes
                                  : executor->shuffle_write_bytes);
}

static void judge_executors(struct pyro_rule_context *context, struct pyro_diagnosis *diagnosis, const double *repeated)
{
    static const char *const names[] = {"task time", "input bytes", "shuffle read bytes", "shuffle write bytes"};
    static const double ignored[] = {300e3, 100.0 * 1048576, 100.0 * 1048576, 100.0 * 1048576};
    const struct pyro_app *app = context->app;
    size_t count = app->executors.count + !pyro_app_is_local(app); /* with the driver, which does nothing */
    double *values = pyro_arena_array(context->arena, count + 1, sizeof(*values));
    if (!values) {
        context->failed = true;
        return;
    }
    for (int which = 0; which < 4 && count > 0; which++) {
        for (size_t i = 0; i < count; i++)
            values[i] = i < app->executors.count
                            ? executor_value(&app->executors.items[i], which) + (which == 0 ? repeated[i] : 0)
                            : 0;
        qsort(values, count, sizeof(*values), ascending);
        double most = values[count - 1];
        double median = count % 2 ? values[count / 2] : floor((values[count / 2 - 1] + values[count / 2]) / 2);
        double ratio = median > 0 ? most / median : INFINITY;
        enum level level = most < ignored[which] ? NONE : rank(ratio, spread_limits);
        pyro_profile_say(context, diagnosis, "Spark Executor Metrics", words[level],
                         most > 0 && median > 0 ? ratio : (double)NAN, spread_limits[level > NONE ? level - 1 : 0],
                         pyro_say(context, "%s: max %.0f, median %.0f%s", names[which], most, median,
                                  most < ignored[which] ? " (too small to judge)" : ""));
    }
}

static void judge_gc(struct pyro_rule_context *context, struct pyro_diagnosis *diagnosis, const double *repeated)
{
    const struct pyro_app *app = context->app;
    double gc = 0, duration = 0;
    for (size_t i = 0; i < app->executors.count; i++) {
        if (pyro_slice_is(app->executors.items[i].id, "driver"))
            continue;
        gc += pyro_real(app->executors.items[i].gc_ms);
        duration += pyro_real(app->executors.items[i].busy_ms) + repeated[i];
    }
    if (duration > 0)
        say(context, diagnosis, "Executor GC", gc / duration, gc_limits,
            pyro_say(context, "GC time to executor run time: %.0f ms of %.0f ms", gc, duration));
}

static void judge(struct pyro_rule_context *context, struct pyro_diagnosis *diagnosis)
{
    double *repeated = pyro_arena_array(context->arena, context->app->executors.count + 1, sizeof(*repeated));
    const struct pyro_peer_tasks *tasks = pyro_profile_stage_tasks(context);
    if (!repeated || !tasks) {
        context->failed = true;
        return;
    }
    pyro_profile_repeated_ms(context->app, repeated);
    judge_configuration(context, diagnosis);
    judge_executors(context, diagnosis, repeated);
    judge_jobs(context, diagnosis, tasks);
    judge_stages(context, diagnosis, tasks);
    judge_gc(context, diagnosis, repeated);
}

const struct pyro_profile pyro_profile_drelephant = {"drelephant", "Dr. Elephant", judge};
