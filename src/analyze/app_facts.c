#include "analyze/app_facts.h"

#include <math.h>

#include "analyze/memory/container.h"
#include "model/failure_kinds.h"

double pyro_real(int64_t value)
{
    return value > 0 ? (double)value : 0;
}

int64_t pyro_whole(double value)
{
    if (!(value > 0))
        return 0;
    return value >= 4611686018427387904.0 ? INT64_C(4611686018427387904) : (int64_t)(value + 0.5);
}

double pyro_span(int64_t from, int64_t to)
{
    return from == PYRO_NONE || to == PYRO_NONE || to <= from ? 0 : (double)to - (double)from;
}

double pyro_app_wall(const struct pyro_app *app)
{
    double wall = pyro_real(app->numbers.wall_total_ms);
    return wall > 0 ? wall : pyro_real(app->application.duration_ms);
}

double pyro_app_judged_wall(const struct pyro_app *app)
{
    return pyro_app_wall(app) * (app->integrity.course_unknown ? 2 : 1);
}

bool pyro_app_failed(const struct pyro_app *app)
{
    return pyro_slice_is(app->application.status, "failed") ||
           (app->application.exit_code != PYRO_NONE && app->application.exit_code != 0);
}

enum pyro_run_outcome pyro_app_outcome(const struct pyro_app *app)
{
    enum pyro_run_outcome outcome = pyro_run_outcome_read(app->application.outcome);
    return outcome == PYRO_RUN_OUTCOMES ? PYRO_RUN_TRUNCATED : outcome;
}

bool pyro_app_is_streaming(const struct pyro_app *app)
{
    if (app->streams.count > 0)
        return true;
    /* REST answers hold no progress of queries; the jobs of a micro-batch name its run. */
    for (size_t i = 0; app->integrity.rest && i < app->sql.count; i++)
        if (pyro_slice_find(app->sql.items[i].description, "runId = ") &&
            pyro_slice_find(app->sql.items[i].description, "batch = "))
            return true;
    return false;
}

bool pyro_app_is_interactive(const struct pyro_app *app)
{
    static const char *const names[] = {"Spark shell", "PySparkShell", "SparkSQL::",       "Thrift JDBC",
                                        "Zeppelin",    "Jupyter",      "Databricks Shell", "livy-session"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (pyro_slice_find(app->application.name, names[i]))
            return true;
    return false;
}

bool pyro_app_spark_at_least(const struct pyro_app *app, int major, int minor)
{
    struct pyro_slice text = app->application.spark_version;
    int number[2] = {0, 0};
    size_t at = 0;
    for (int part = 0; part < 2; part++) {
        size_t first = at;
        while (at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9' && number[part] < 10000)
            number[part] = number[part] * 10 + (text.ptr[at++] - '0');
        if (at == first)
            return part == 0 || number[0] > major || (number[0] == major && minor == 0);
        if (at < text.len && text.ptr[at] == '.')
            at++;
        else
            break;
    }
    return number[0] > major || (number[0] == major && number[1] >= minor);
}

bool pyro_sql_adaptive(const struct pyro_app *app, int64_t sql)
{
    return pyro_app_spark_at_least(app, 3, 0) &&
           pyro_sql_property_bool(app, sql, "spark.sql.adaptive.enabled", pyro_app_spark_at_least(app, 3, 2));
}

bool pyro_app_adaptive(const struct pyro_app *app)
{
    return pyro_sql_adaptive(app, PYRO_NONE);
}

bool pyro_app_dynamic_allocation(const struct pyro_app *app)
{
    return pyro_app_property_bool(app, "spark.dynamicAllocation.enabled", false);
}

bool pyro_app_caches(const struct pyro_app *app)
{
    for (size_t i = 0; i < app->rdds.count; i++)
        if (app->rdds.items[i].cached == 1)
            return true;
    return false;
}

double pyro_sql_shuffle_partitions(const struct pyro_app *app, int64_t sql)
{
    return pyro_real(pyro_sql_property_int(app, sql, "spark.sql.shuffle.partitions", 200));
}

const struct pyro_executor *pyro_app_largest_executor(const struct pyro_app *app)
{
    const struct pyro_executor *largest = NULL;
    for (size_t i = 0; i < app->executors.count; i++)
        if (app->executors.items[i].cores > (largest ? largest->cores : 0))
            largest = &app->executors.items[i];
    return largest;
}

double pyro_app_executor_cores(const struct pyro_app *app)
{
    const struct pyro_executor *largest = pyro_app_largest_executor(app);
    int64_t cores = largest ? largest->cores : pyro_app_property_int(app, "spark.executor.cores", 1);
    return fmax(1, pyro_real(cores));
}

double pyro_app_slots_per_executor(const struct pyro_app *app)
{
    const struct pyro_executor *largest = pyro_app_largest_executor(app);
    if (largest)
        return (double)pyro_executor_slots(app, largest, NULL);
    int64_t cores = pyro_whole(pyro_app_executor_cores(app));
    return fmax(1, (double)pyro_slots_of(app, 0, 0, cores, PYRO_SLICE_NULL).count);
}

double pyro_app_cores_per_slot(const struct pyro_app *app)
{
    return pyro_app_executor_cores(app) / pyro_app_slots_per_executor(app);
}

double pyro_app_peak_slots(const struct pyro_app *app)
{
    return fmax(1, pyro_real(app->numbers.cores_peak) / pyro_app_cores_per_slot(app));
}

/* What the run set, or Spark's default, but no less than what was measured. */
static double heap_set(const struct pyro_app *app, const char *key, int64_t peak)
{
    int64_t set = pyro_app_property_size(app, key, 1 << 20, 0);
    return set > 0 ? (double)set : fmax((double)PYRO_DEFAULT_HEAP_BYTES, pyro_real(peak));
}

double pyro_app_driver_heap_bytes(const struct pyro_app *app)
{
    if (app->numbers.driver_heap_limit_bytes > 0)
        return pyro_real(app->numbers.driver_heap_limit_bytes);
    return heap_set(app, "spark.driver.memory", app->numbers.driver_heap_peak_bytes);
}

const char *pyro_app_heap_key(const struct pyro_app *app)
{
    return pyro_app_is_local(app) ? "spark.driver.memory" : "spark.executor.memory";
}

double pyro_app_heap_bytes(const struct pyro_app *app)
{
    return heap_set(app, pyro_app_heap_key(app), app->numbers.executor_heap_peak_bytes);
}

double pyro_app_memory_fraction(const struct pyro_app *app)
{
    const double usual = 0.6; /* Spark's default */
    struct pyro_slice text = pyro_app_property(app, "spark.memory.fraction");
    double value = text.len > 8 ? usual : pyro_property_decimal(text, usual);
    return value > 0 && value <= 1 ? value : usual;
}

double pyro_app_slot_memory(const struct pyro_app *app)
{
    const double mib = 1024.0 * 1024;
    double usable = fmax(pyro_app_heap_bytes(app) - 300 * mib, 64 * mib);
    return usable * pyro_app_memory_fraction(app) / pyro_app_slots_per_executor(app);
}

double pyro_slots_between(const struct pyro_app *app, const struct pyro_stage *stage, int64_t from, int64_t to)
{
    double length = pyro_span(from, to), sum = 0, at_once = 0;
    double begin = (double)from, end = (double)to;
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        double added = executor->added_ms == PYRO_NONE ? begin : (double)executor->added_ms;
        double removed = executor->removed_ms == PYRO_NONE ? end : (double)executor->removed_ms;
        if (stage && !pyro_executor_serves(app, executor, stage))
            continue;
        double slots = (double)pyro_executor_slots(app, executor, stage);
        if (removed >= begin && added <= begin)
            at_once += slots;
        sum += fmax(0, fmin(removed, end) - fmax(added, begin)) * slots;
    }
    return length > 0 ? sum / length : at_once;
}

int64_t pyro_executor_came_ms(const struct pyro_executor *executor)
{
    bool told = executor->registered_ms > 0 && executor->registered_ms < executor->added_ms;
    return told ? executor->registered_ms : executor->added_ms;
}

int64_t pyro_executor_start_ms(const struct pyro_executor *executor)
{
    int64_t from = executor->requested_ms, to = executor->registered_ms;
    bool known = from > 0 && to >= from && executor->added_ms >= to;
    return known ? to - from : PYRO_NONE;
}

static bool was_drained(const struct pyro_executor *executor)
{
    bool own;
    return executor->removed_ms != PYRO_NONE && pyro_removal_is_decommission(executor->remove_reason, &own);
}

const struct pyro_drained *pyro_drained_executors(const struct pyro_app *app, struct pyro_arena *arena)
{
    struct pyro_drained *drained = pyro_arena_array(arena, app->executors.count + 1, sizeof(*drained));
    bool *wanted = pyro_arena_array(arena, app->executors.count + 1, sizeof(*wanted)), any = false;
    if (!drained || !wanted)
        return NULL;
    for (size_t i = 0; i < app->executors.count; i++) {
        drained[i] = (struct pyro_drained){PYRO_NONE, PYRO_NONE};
        wanted[i] = was_drained(&app->executors.items[i]);
        any |= wanted[i];
    }
    for (size_t row = 0; any && row < app->tasks.count; row++) {
        int64_t at = pyro_task_get(&app->tasks, PYRO_TASK_executor_row, row);
        if (at < 0 || at >= (int64_t)app->executors.count || !wanted[at])
            continue;
        int64_t launch = pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, row),
                finish = pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, row);
        drained[at].launch_ms = launch > drained[at].launch_ms ? launch : drained[at].launch_ms;
        drained[at].finish_ms = finish > drained[at].finish_ms ? finish : drained[at].finish_ms;
    }
    return drained;
}

int64_t pyro_stage_begin(const struct pyro_stage *stage)
{
    return stage->first_task_ms != PYRO_NONE ? stage->first_task_ms : stage->submitted_ms;
}

double pyro_stage_length(const struct pyro_stage *stage)
{
    return pyro_span(stage->submitted_ms != PYRO_NONE ? stage->submitted_ms : stage->first_task_ms,
                     stage->completed_ms);
}

bool pyro_stage_is_compared(const struct pyro_stage *stage)
{
    return !stage->real_time && !stage->barrier;
}

bool pyro_stage_failed_at_barrier(const struct pyro_stage *attempt)
{
    return attempt->barrier && pyro_slice_starts_with(attempt->failure, PYRO_BARRIER_FAILURE);
}

double pyro_app_barrier_tasks(const struct pyro_app *app)
{
    double most = 0;
    for (size_t i = 0; i < app->stages.count; i++)
        if (app->stages.items[i].barrier)
            most = fmax(most, pyro_real(app->stages.items[i].partitions));
    return most;
}

double pyro_stage_read_bytes(const struct pyro_stage *stage)
{
    return pyro_real(stage->input_bytes) + pyro_real(stage->shuffle_read_bytes);
}

double pyro_stage_slots(const struct pyro_app *app, const struct pyro_stage *stage)
{
    double slots = pyro_slots_between(app, stage, pyro_stage_begin(stage), stage->completed_ms);
    if (slots < 0.5) {
        double length = pyro_span(pyro_stage_begin(stage), stage->completed_ms);
        slots = length > 0 ? ceil(pyro_real(stage->task_ms) / length) : 1;
    }
    return fmax(1, slots);
}

bool pyro_stage_is_sql(const struct pyro_stage *stage)
{
    return stage->sql != PYRO_NONE;
}

/* The first row of sql_nodes of this or a later SQL execution: they are grouped by execution, ascending. */
static size_t first_node_of(const struct pyro_app *app, int64_t sql)
{
    size_t low = 0, high = app->sql_nodes.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (app->sql_nodes.items[middle].sql < sql)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool pyro_stage_was_coalesced(const struct pyro_app *app, const struct pyro_stage *stage)
{
    const struct pyro_sql_node *nodes = app->sql_nodes.items;
    for (size_t i = first_node_of(app, stage->sql); i < app->sql_nodes.count && nodes[i].sql == stage->sql; i++)
        if (pyro_slice_starts_with(nodes[i].name, "AQEShuffleRead") ||
            pyro_slice_starts_with(nodes[i].name, "CustomShuffleReader"))
            return true;
    return false;
}

int64_t pyro_app_last_work(const struct pyro_app *app)
{
    int64_t last = PYRO_NONE;
    for (size_t i = 0; i < app->stages.count; i++)
        if (app->stages.items[i].completed_ms > last)
            last = app->stages.items[i].completed_ms;
    return last != PYRO_NONE ? last : app->application.end_ms;
}

double pyro_stage_repeated_part(const struct pyro_app *app, const struct pyro_stage *attempt)
{
    double done = 0, partitions = 0, later = 0;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        if (stage->id != attempt->id)
            continue;
        double successes =
            fmax(0, pyro_real(stage->tasks) - pyro_real(stage->failed_tasks) - pyro_real(stage->killed_tasks));
        done += successes;
        later += stage->attempt > 0 ? successes : 0;
        partitions = fmax(partitions, pyro_real(stage->partitions));
    }
    return later > 0 ? fmin(1, fmax(0, done - partitions) / later) : 0;
}

bool pyro_job_failed(const struct pyro_job *job)
{
    return pyro_job_end_of(pyro_slice_is(job->status, "failed"), job->failure) == PYRO_JOB_END_FAILED;
}

ptrdiff_t pyro_job_failed_stage(const struct pyro_app *app, const struct pyro_job *job)
{
    for (size_t i = app->stages.count; i-- > 0;)
        if (app->stages.items[i].job == job->id && pyro_slice_is(app->stages.items[i].status, "failed"))
            return (ptrdiff_t)i;
    return -1;
}

bool pyro_app_ended_in_failure(const struct pyro_app *app)
{
    int64_t last = PYRO_NONE, failed = PYRO_NONE;
    for (size_t i = 0; i < app->jobs.count; i++) {
        const struct pyro_job *job = &app->jobs.items[i];
        last = job->id > last ? job->id : last;
        if (pyro_job_failed(job) && job->id > failed)
            failed = job->id;
    }
    return failed != PYRO_NONE && failed >= last;
}
