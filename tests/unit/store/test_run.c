/* What is kept of a run: aggregates of what a History Server shows, usage in spans of time, and the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>

#include "advice/advice.h"
#include "fixture.h"
#include "model/history/history.h"
#include "store/store.h"

enum { START_MS = 1000000000, SPAN_MS = 300000, REASONS_ALIKE = 200 };

/* ---- Applications ------------------------------------------------------------------------------------------------ */

/* One job of one stage; the caller adds executors and tasks. */
static struct pyro_app *new_app(int64_t length_ms)
{
    static const int64_t stages[] = {0};
    struct pyro_app *app = fixture_app(START_MS, START_MS + length_ms);
    app->application.duration_ms = length_ms;
    app->application.id = PYRO_SLICE_LITERAL("app-1");
    app->application.name = PYRO_SLICE_LITERAL("nightly");
    fixture_property(app, "spark", "spark.executor.memory", "2g");
    fixture_property(app, "spark", "spark.yarn.queue", "etl");
    fixture_property(app, "hadoop", "fs.defaultFS", "file:///");
    fixture_job(app, 0, START_MS, START_MS + length_ms, stages, 1);
    fixture_stage(app, 0, START_MS, START_MS + length_ms);
    return app;
}

/* A task that read and wrote `bytes`; takes back `app`. */
static void add_task(struct pyro_app *app, int64_t from_ms, int64_t to_ms, int64_t bytes)
{
    struct fixture_task task = fixture_task(app, 0, "1", START_MS + from_ms, START_MS + to_ms);
    task.row[PYRO_TASK_input_bytes] = bytes;
    task.row[PYRO_TASK_output_bytes] = bytes + 1;
    task.row[PYRO_TASK_shuffle_local_bytes] = bytes + 2;
    task.row[PYRO_TASK_shuffle_write_bytes] = bytes + 3;
    fixture_add(app, &task);
}

static struct pyro_diagnosis *diagnose(struct pyro_app *app)
{
    struct pyro_diagnosis *diagnosis = NULL;
    fixture_analyze(app);
    assert_int_equal(pyro_diagnosis_new(app, &(struct pyro_judging){.threads = 1}, &diagnosis, NULL), PYRO_OK);
    pyro_app_release(app);
    return diagnosis;
}

static void make(const struct pyro_diagnosis *diagnosis, struct pyro_run *run)
{
    static const struct pyro_run_origin origin = {.source = "/logs", .has_later_attempt = true};
    assert_int_equal(pyro_run_make(diagnosis, &origin, run, NULL), PYRO_OK);
}

static void done(struct pyro_run *run, struct pyro_diagnosis *diagnosis)
{
    pyro_run_done(run);
    pyro_diagnosis_free(diagnosis);
}

/* ---- Histories --------------------------------------------------------------------------------------------------- */

static struct pyro_history_stage *add_stage(struct pyro_history *history, int64_t from_ms, int64_t to_ms, int64_t bytes)
{
    struct pyro_history_stage *stage = pyro_vec_push(&history->stages, NULL);
    stage->id = (int64_t)history->stages.count - 1;
    stage->status = PYRO_STAGE_COMPLETE;
    stage->submitted_ms = START_MS + from_ms - 10;
    stage->first_launch_ms = START_MS + from_ms;
    stage->completed_ms = START_MS + to_ms;
    stage->completed = 4;
    stage->metrics[PYRO_HISTORY_bytesRead] = bytes;
    return stage;
}

static struct pyro_history_executor *add_executor(struct pyro_history *history, const char *id, int64_t cores)
{
    struct pyro_history_executor *executor = pyro_vec_push(&history->executors, NULL);
    executor->id = pyro_slice_from(id);
    executor->active = true;
    executor->cores = cores;
    executor->added_ms = START_MS;
    executor->max_memory = 1 << 30;
    return executor;
}

/* Stages 1 and 2 overlap; stage 3 was skipped. Executor 2 is lost, and its tasks were counted twice. */
static struct pyro_history *new_history(void)
{
    struct pyro_history *history = pyro_history_new();
    history->start_ms = START_MS;
    history->end_ms = START_MS + 100000;
    add_stage(history, 1000, 11000, 200 << 20);
    add_stage(history, 20000, 50000, 0);
    struct pyro_history_stage *killed = add_stage(history, 40000, 60000, 300 << 20);
    add_stage(history, 0, 0, 0);
    struct pyro_history_stage *skipped = &history->stages.items[3];
    skipped->submitted_ms = skipped->first_launch_ms = skipped->completed_ms = skipped->completed = 0;
    for (int i = 0; i < REASONS_ALIKE; i++)
        *(struct pyro_history_count *)pyro_vec_push(&killed->killed_reasons, NULL) =
            (struct pyro_history_count){PYRO_SLICE_LITERAL("another attempt succeeded"), 3};
    *(struct pyro_history_count *)pyro_vec_push(&killed->killed_reasons, NULL) =
        (struct pyro_history_count){PYRO_SLICE_LITERAL("Job 7 cancelled"), 1};
    add_executor(history, "driver", 0);
    add_executor(history, "1", 4)->duration_ms = 150000;
    struct pyro_history_executor *lost = add_executor(history, "2", 4);
    lost->active = false;
    lost->removed_ms = START_MS + 50000;
    lost->duration_ms = 250000;
    lost->resubmitted_ms = 60000;
    lost->peaks.set = true;
    lost->peaks.values[PYRO_HISTORY_PEAK_ConcurrentGCCount] = 5;
    return history;
}

static struct pyro_diagnosis *with_history(struct pyro_history *history, const char *version)
{
    struct pyro_app *app = new_app(100000);
    fixture_executor(app, "1", 4, START_MS, PYRO_NONE);
    fixture_run(app, 0, "1", START_MS + 1000, START_MS + 11000);
    app->history = history;
    app->listed = (struct pyro_attempt){.app_id = app->application.id,
                                        .name = app->application.name,
                                        .user = PYRO_SLICE_LITERAL("etl"),
                                        .version = pyro_slice_from(version),
                                        .start_ms = history->start_ms,
                                        .end_ms = history->end_ms,
                                        .completed = history->end_ms >= 0};
    return diagnose(app);
}

/* NAN: there is none. */
static double aggregate(const struct pyro_run *run, const char *name)
{
    for (size_t i = 0; i < run->aggregates.count; i++)
        if (strcmp(run->aggregates.items[i].name, name) == 0)
            return run->aggregates.items[i].value;
    return (double)NAN;
}

static void expect(const struct pyro_run *run, const char *name, double value)
{
    double found = aggregate(run, name);
    if (isnan(value) ? !isnan(found) : !(fabs(found - value) <= 1e-9 * fabs(value)))
        fail_msg("%s is %g, not %g", name, found, value);
}

/* ---- Aggregates -------------------------------------------------------------------------------------------------- */

static void test_aggregates_of_the_history(void **state)
{
    (void)state;
    struct pyro_diagnosis *diagnosis = with_history(new_history(), "3.5.6");
    struct pyro_run run;
    make(diagnosis, &run);
    expect(&run, "stages.elements_count", 4);
    expect(&run, "stages.duration.sum", 60000);
    expect(&run, "stages.duration.nunique", 4); /* the skipped one has 0 */
    expect(&run, "stages.scheduling_overhead.max", 10);
    expect(&run, "stages.throughput_bytes.min", -1);
    expect(&run, "stages.average_task_input_bytes.count_not_null", 3);
    expect(&run, "stages.average_task_input.max", 75 << 20);
    expect(&run, "stages.completionTime.max", START_MS + 60000);
    expect(&run, "stages.isShufflePushEnabled.any", 0);
    expect(&run, "stages.killedTasksSummary.another attempt succeeded.sum", 3 * REASONS_ALIKE);
    expect(&run, "stages.killedTasksSummary.another attempt succeeded.count_not_null", 1);
    expect(&run, "stages.killedTasksSummary.Job 7 cancelled.sum", (double)NAN);
    expect(&run, "executors.elements_count", 2);
    expect(&run, "executors.isActive.sum", 1);
    expect(&run, "executors.removeTime.min", START_MS + 50000);
    expect(&run, "executors.totalCores.std", 0);
    expect(&run, "executors.peakMemoryMetrics.TotalGCTime.count_not_null", 1);
    expect(&run, "executors.peakMemoryMetrics.TotalGCTime.std", (double)NAN);
    expect(&run, "executors.peakMemoryMetrics.ConcurrentGCCount.max", (double)NAN); /* a column of Spark 4 */
    expect(&run, "driver.coreCost", 0);
    expect(&run, "driver.totalDuration", 100000);
    expect(&run, "summary.parallel_part", 50000);
    expect(&run, "summary.stages_in_parallel", 1);
    expect(&run, "summary.stages_sum", 60000);
    expect(&run, "summary.stages_interval", 59000);
    expect(&run, "summary.seq_part", 50000);
    expect(&run, "summary.core_cost", 600000);
    expect(&run, "summary.parallel_work", 400000);
    expect(&run, "summary.average_throughput", 3.0 / 100000);
    expect(&run, "summary.unused_storage_memory", (2048.0 - 300) * (1 << 20));
    assert_non_null(run.raw.ptr);
    done(&run, diagnosis);
}

static void test_spark_4_counts_lost_work_once(void **state)
{
    (void)state;
    struct pyro_diagnosis *diagnosis = with_history(new_history(), "4.0.1");
    struct pyro_run run;
    make(diagnosis, &run);
    expect(&run, "summary.parallel_work", 340000);
    expect(&run, "executors.peakMemoryMetrics.ConcurrentGCCount.max", 5);
    pyro_run_done(&run);
    /* The server counts, not the log. */
    const struct pyro_run_origin old_server = {.history_version = "3.5.6"};
    assert_int_equal(pyro_run_make(diagnosis, &old_server, &run, NULL), PYRO_OK);
    expect(&run, "summary.parallel_work", 400000);
    done(&run, diagnosis);
}

/* The server says -1 for the end of what runs. */
static void test_without_end_or_executors(void **state)
{
    (void)state;
    struct pyro_history *history = new_history();
    history->end_ms = -1;
    struct pyro_diagnosis *diagnosis = with_history(history, "3.5.6");
    struct pyro_run run;
    make(diagnosis, &run);
    expect(&run, "executors.durationMilliseconds.min", -1.0 - START_MS);
    expect(&run, "summary.seq_part", -50000);
    expect(&run, "summary.estimated_speedup", (double)NAN); /* by a duration of 0 */
    done(&run, diagnosis);

    history = new_history();
    history->executors.count = 1; /* the driver */
    diagnosis = with_history(history, "3.5.6");
    make(diagnosis, &run);
    expect(&run, "executors.elements_count", 0);
    expect(&run, "executors.totalCores.sum", (double)NAN);
    expect(&run, "driver.totalCores", 0);
    expect(&run, "summary.stages_sum", (double)NAN);
    done(&run, diagnosis);
}

static void test_without_history(void **state)
{
    (void)state;
    struct pyro_app *app = new_app(100000);
    fixture_executor(app, "1", 4, START_MS, PYRO_NONE);
    add_task(app, 0, 50000, 100);
    struct pyro_diagnosis *diagnosis = diagnose(app);
    struct pyro_run run;
    make(diagnosis, &run);
    assert_null(run.raw.ptr);
    expect(&run, "stages.elements_count", (double)NAN);
    expect(&run, "run.duration_ms", 100000);
    expect(&run, "run.core_ms", 400000);
    expect(&run, "run.busy_core_ms", 50000);
    expect(&run, "run.wasted_core_ms", 350000);
    expect(&run, "run.core_used_share", 0.125);
    assert_true(pyro_slice_is(run.source, "/logs") && pyro_slice_is(run.queue, "etl") && !run.is_final_attempt);
    assert_int_equal(run.properties.count, 2); /* of Spark */
    done(&run, diagnosis);
}

/* ---- Usage ------------------------------------------------------------------------------------------------------- */

/* Adds up all rows, which follow one another. */
static struct pyro_usage_row sum_usage(const struct pyro_run *run)
{
    struct pyro_usage_row sum = {0};
    for (size_t i = 0; i < run->usage.count; i++) {
        const struct pyro_usage_row *row = &run->usage.items[i];
        assert_int_equal(row->start_ms % row->span_ms, 0);
        assert_true(i == 0 || row->start_ms == row[-1].start_ms + row->span_ms);
        assert_true(row->busy_core_ms >= 0 && row->core_ms >= 0);
        sum.slot_ms += row->slot_ms;
        sum.core_ms += row->core_ms;
        sum.busy_core_ms += row->busy_core_ms;
        sum.mib_ms += row->mib_ms;
        sum.input_bytes += row->input_bytes;
        sum.output_bytes += row->output_bytes;
        sum.shuffle_bytes += row->shuffle_bytes;
    }
    return sum;
}

static void expect_usage(const struct pyro_run *run)
{
    const struct pyro_numbers *numbers = &run->diagnosis->app->numbers;
    struct pyro_usage_row sum = sum_usage(run);
    assert_int_equal(sum.core_ms, numbers->core_total_ms);
    assert_true((double)sum.busy_core_ms == aggregate(run, "run.busy_core_ms"));
    assert_true((double)sum.mib_ms == aggregate(run, "run.memory_mib_ms"));
    assert_true((double)sum.slot_ms == aggregate(run, "run.slot_ms"));
    assert_int_equal(sum.input_bytes, numbers->input_bytes);
    assert_int_equal(sum.output_bytes, numbers->output_bytes);
    assert_int_equal(sum.shuffle_bytes, numbers->shuffle_read_bytes + numbers->shuffle_write_bytes);
}

static void test_usage_in_five_minutes(void **state)
{
    (void)state;
    struct pyro_app *app = new_app(4 * SPAN_MS);
    fixture_property(app, "spark", "spark.task.cpus", "2");
    fixture_executor(app, "1", 4, START_MS + 1000, START_MS + 3 * SPAN_MS);
    fixture_executor(app, "2", 2, START_MS + SPAN_MS, PYRO_NONE);
    add_task(app, 2000, 3 * SPAN_MS - 7, 1000003); /* over several rows, with a rest in each */
    add_task(app, 2000, 2000, 7);
    for (int i = 0; i < 30; i++)
        add_task(app, 5000 + i * 20011, 5000 + i * 20011 + 19999, 1234567 + i);
    struct pyro_diagnosis *diagnosis = diagnose(app);
    struct pyro_run run;
    make(diagnosis, &run);
    assert_int_equal(run.usage.count, 5); /* it does not begin at a multiple of five minutes */
    assert_int_equal(run.usage.items[0].span_ms, SPAN_MS);
    assert_int_equal(run.usage.items[4].input_bytes, 0);
    assert_int_equal(run.usage.items[4].core_ms, 2 * (START_MS % SPAN_MS));
    expect(&run, "run.slot_ms", aggregate(&run, "run.core_ms") / 2);
    expect_usage(&run);
    done(&run, diagnosis);
}

static void test_usage_of_long_runs(void **state)
{
    (void)state;
    const struct {
        int64_t length_ms, span_ms;
        size_t rows;
    } cases[] = {
        {900 * (int64_t)SPAN_MS, SPAN_MS, 901},
        {1100 * (int64_t)SPAN_MS, 3600000, 93},
        {2000 * (int64_t)3600000, 3600000, 2001},
        {20000 * (int64_t)3600000, 24 * 3600000, 834},
        {INT64_MAX / 2, 0, 0}, /* no run */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct pyro_app *app = new_app(cases[i].length_ms);
        fixture_executor(app, "1", 4, START_MS, PYRO_NONE);
        add_task(app, 1000, cases[i].length_ms / 3, 123456789012345);
        struct pyro_diagnosis *diagnosis = diagnose(app);
        struct pyro_run run;
        make(diagnosis, &run);
        assert_int_equal(run.usage.count, cases[i].rows);
        if (run.usage.count) {
            assert_int_equal(run.usage.items[0].span_ms, cases[i].span_ms);
            expect_usage(&run);
        }
        done(&run, diagnosis);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aggregates_of_the_history), cmocka_unit_test(test_spark_4_counts_lost_work_once),
        cmocka_unit_test(test_without_end_or_executors),  cmocka_unit_test(test_without_history),
        cmocka_unit_test(test_usage_in_five_minutes),     cmocka_unit_test(test_usage_of_long_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
