/* stage-retries, job-failed, executor-churn and config-risk. */
#include "base/strings/intern.h"
#include "rules/fixes/known_settings.h"
#include "scene.h"

static const int64_t two_s = 2000;

struct failing {
    struct pyro_app *app;
    unsigned every;
};

static void fetch_fails(struct fixture_task *task, unsigned index, void *context)
{
    const struct failing *failing = context;
    if (index % failing->every != 0)
        return;
    task->row[PYRO_TASK_status] = PYRO_TASK_FAILED;
    task->row[PYRO_TASK_reason] = pyro_intern(failing->app->strings, PYRO_SLICE_LITERAL("FetchFailed"));
}

static void belongs(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    const struct pyro_stage *stage = context;
    task->row[PYRO_TASK_stage] = stage->id;
    task->row[PYRO_TASK_stage_attempt] = stage->attempt;
}

/* A stage whose files vanish, and `again` attempts more. */
static struct scene retried(int64_t again, unsigned tasks_again)
{
    struct scene scene = scene_new(2, 2);
    struct failing failing = {scene.app, 20};
    scene_stage(&scene, 40, &two_s, 1, NULL, NULL);
    struct pyro_stage *stage = scene_stage(&scene, 40, &two_s, 1, fetch_fails, &failing);
    stage->status = PYRO_SLICE_LITERAL("failed");
    stage->failure =
        PYRO_SLICE_LITERAL("org.apache.spark.shuffle.FetchFailedException\n\tat x\nCaused by: "
                           "java.io.FileNotFoundException: /data/shuffle_0_1_0.data (No such file or directory)\n");
    for (int64_t i = 1; i <= again; i++) {
        struct pyro_stage attempt = {.id = 2, .attempt = i};
        struct pyro_stage *repeat = scene_stage(&scene, tasks_again, &two_s, 1, belongs, &attempt);
        repeat->id = attempt.id;
        repeat->attempt = attempt.attempt;
    }
    return scene;
}

static void test_stage_retries(void **state)
{
    (void)state;
    struct scene scene = retried(1, 12);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "stage-retries");
    assert_non_null(finding);
    assert_true(finding->severity >= PYRO_SEVERITY_MODERATE);
    assert_non_null(pyro_slice_find(finding->cause, "java.io.FileNotFoundException"));
    assert_non_null(pyro_slice_find(finding->advice[0].text, "spark.local.dir"));
    scene_free(&scene);
    scene = retried(0, 0);
    scene_end(&scene);
    scene_quiet(&scene, "stage-retries");
    scene_free(&scene);
}

/* A job of the last stage, failed. */
static struct scene failed_job(const char *failure, bool later)
{
    struct scene scene = scene_new(2, 2);
    static const int64_t first[] = {1}, second[] = {2};
    struct pyro_stage *stage = scene_stage(&scene, 20, &two_s, 1, NULL, NULL);
    stage->job = 0;
    stage->status = PYRO_SLICE_LITERAL("failed");
    struct pyro_job *job = fixture_job(scene.app, 0, stage->submitted_ms, scene.now, first, 1);
    job->status = PYRO_SLICE_LITERAL("failed");
    job->failure = pyro_slice_from(failure);
    job->name = PYRO_SLICE_LITERAL("count at etl.py:9");
    if (later) {
        stage = scene_stage(&scene, 20, &two_s, 1, NULL, NULL);
        stage->job = 1;
        fixture_job(scene.app, 1, stage->submitted_ms, scene.now, second, 1)->name = job->name;
    }
    scene_end(&scene);
    return scene;
}

static void test_job_failed(void **state)
{
    (void)state;
    const char *text = "Job aborted due to stage failure: Task 3 in stage 1.0 failed 4 times, most recent failure: "
                       "Lost task 3.3 in stage 1.0 (TID 9) (h executor 1): java.lang.ArithmeticException: / by zero\n"
                       "\tat com.acme.Etl.run(Etl.scala:7)\n";
    struct scene scene = failed_job(text, false);
    const struct pyro_finding *finding = scene_finding(&scene, "job-failed");
    assert_non_null(finding);
    assert_int_equal(finding->severity, PYRO_SEVERITY_CRITICAL);
    assert_non_null(pyro_slice_find(finding->cause, "java.lang.ArithmeticException: / by zero, at com.acme.Etl.run"));
    assert_non_null(pyro_slice_find(finding->cause, "after 4 attempts"));
    scene_free(&scene);
    scene = failed_job(text, true); /* tried again, and well */
    assert_int_equal(scene_finding(&scene, "job-failed")->severity, PYRO_SEVERITY_MODERATE);
    scene_free(&scene);
    scene = failed_job("org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
                       "  File \"/app/load.py\", line 12, in parse\nKeyError: 'price'\n",
                       false);
    assert_non_null(pyro_slice_find(scene_finding(&scene, "job-failed")->cause,
                                    "KeyError: 'price', at load.py:12, in parse, wrapped in org.apache"));
    scene_free(&scene);
    scene = failed_job("Job 0 cancelled part of cancelled job group 7", false);
    scene_quiet(&scene, "job-failed");
    scene_free(&scene);
}

struct runner {
    struct pyro_app *app;
    const char *executor;
};

static void run_on(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    const struct runner *runner = context;
    task->row[PYRO_TASK_executor] = pyro_intern(runner->app->strings, pyro_slice_from(runner->executor));
}

/* Rounds of work with executors given back between them, `absent` ms each time. */
static struct scene rounds(unsigned count, int64_t absent)
{
    static const char *const ids[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
    static const int64_t stage_ids[] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct scene scene = scene_new(1, 2);
    fixture_property(scene.app, "spark", "spark.dynamicAllocation.enabled", "true");
    fixture_property(scene.app, "spark", "spark.dynamicAllocation.executorIdleTimeout", "2s");
    for (unsigned i = 0; i < count; i++) {
        struct pyro_executor *last = &scene.app->executors.items[scene.app->executors.count - 1];
        last->removed_ms = scene.now + 2000;
        last->remove_reason = PYRO_SLICE_LITERAL("Executor killed by driver.");
        int64_t submitted = last->removed_ms + absent - 4000; /* and waits four seconds */
        scene.now = last->removed_ms + absent;
        fixture_executor(scene.app, ids[i + 1], 2, scene.now, PYRO_NONE);
        struct runner runner = {scene.app, ids[i + 1]};
        struct pyro_stage *stage = scene_stage(&scene, 4, &two_s, 1, run_on, &runner);
        stage->submitted_ms = submitted;
        stage->job = i;
        fixture_job(scene.app, i, submitted, scene.now, &stage_ids[i], 1);
    }
    scene_end(&scene);
    return scene;
}

static void test_executor_churn(void **state)
{
    (void)state;
    struct scene scene = rounds(5, 8000);
    const struct pyro_finding *finding = scene_finding(&scene, "executor-churn");
    assert_non_null(finding);
    assert_in_range(finding->saves.wall_expected_ms, 14000, 28000); /* five times four seconds */
    assert_true(finding->severity >= PYRO_SEVERITY_SEVERE);
    assert_string_equal(scene_setting(finding, "spark.dynamicAllocation.executorIdleTimeout"), "13s");
    assert_string_equal(scene_setting(finding, "spark.dynamicAllocation.minExecutors"), "1");
    scene_free(&scene);
    scene = rounds(2, 8000);
    scene_quiet(&scene, "executor-churn");
    scene_free(&scene);
    scene = rounds(5, 900000); /* a quarter of an hour: right so */
    scene_quiet(&scene, "executor-churn");
    scene_free(&scene);
}

static const struct pyro_finding *finding_of(const struct scene *scene, const char *id)
{
    for (size_t i = 0; i < scene->diagnosis->finding_count; i++)
        if (pyro_slice_is(scene->diagnosis->findings[i].id, id))
            return &scene->diagnosis->findings[i];
    return NULL;
}

static void test_config_risk(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *more, *more_value, *id;
        enum pyro_severity severity;
    } cases[] = {
        {"spark.task.maxFailures", "1", "a", "", "config-risk:spark.task.maxfailures", PYRO_SEVERITY_MODERATE},
        {"spark.task.maxFailures", "4", "a", "", NULL, PYRO_SEVERITY_LOW},
        {"spark.executor.heartbeatInterval", "45s", "spark.network.timeout", "60s", "spark.executor.heartbeatInterval",
         PYRO_SEVERITY_MODERATE},
        {"spark.executor.heartbeatInterval", "20s", "spark.network.timeout", "120s", NULL, PYRO_SEVERITY_LOW},
        {"spark.driver.maxResultSize", "0", "a", "", "spark.driver.maxResultSize", PYRO_SEVERITY_LOW},
        {"spark.driver.maxResultSize", "2g", "a", "", NULL, PYRO_SEVERITY_LOW},
        {"spark.memory.fraction", "0.95", "spark.executor.memory", "1g", "spark.memory.fraction",
         PYRO_SEVERITY_MODERATE},
        {"spark.memory.fraction", "0.7", "a", "", NULL, PYRO_SEVERITY_LOW},
        {"spark.task.cpus", "2", "a", "", "spark.task.cpus", PYRO_SEVERITY_CRITICAL}, /* of three cores */
        {"spark.executor.memoryoverhead", "1g", "a", "", "spark.executor.memoryoverhead", PYRO_SEVERITY_MODERATE},
        {"spark.executor.memoryOverhead", "1g", "a", "", NULL, PYRO_SEVERITY_LOW},
        {"spark.executor.memoryOverhead", "128m", "spark.executor.memory", "8g", "spark.executor.memoryOverhead",
         PYRO_SEVERITY_MODERATE},
        {"spark.storage.memoryFraction", "0.5", "a", "", "spark.storage.memoryFraction", PYRO_SEVERITY_LOW},
        {"spark.acme.table", "orders", "a", "", NULL, PYRO_SEVERITY_LOW},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene = scene_new(2, 3);
        fixture_property(scene.app, "spark", cases[i].key, cases[i].value);
        fixture_property(scene.app, "spark", cases[i].more, cases[i].more_value);
        scene_stage(&scene, 60, &two_s, 1, NULL, NULL);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "config-risk");
        assert_int_equal(finding != NULL, cases[i].id != NULL);
        if (finding) {
            assert_int_equal(finding->severity, cases[i].severity);
            assert_non_null(pyro_slice_find(finding->id, "config-risk:spark."));
        }
        scene_free(&scene);
    }
}

static void test_speculation_on_writes(void **state)
{
    (void)state;
    for (int version = 1; version <= 2; version++) {
        struct scene scene = scene_new(2, 2);
        fixture_property(scene.app, "spark", "spark.speculation", "true");
        fixture_property(scene.app, "spark", "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version",
                         version == 1 ? "1" : "2");
        int64_t id = scene_stage(&scene, 20, &two_s, 1, NULL, NULL)->id;
        struct fixture_task task = fixture_task(scene.app, id, "1", scene.now, scene.now + 100);
        task.row[PYRO_TASK_output_bytes] = 1 << 20;
        fixture_add(scene.app, &task);
        scene.now += 100;
        scene_end(&scene);
        const struct pyro_finding *finding = finding_of(&scene, "config-risk:spark.speculation");
        assert_int_equal(finding != NULL, version == 2);
        if (finding)
            assert_int_equal(finding->severity, PYRO_SEVERITY_MODERATE);
        scene_free(&scene);
    }
}

static void test_known_settings(void **state)
{
    (void)state;
    assert_string_equal(pyro_meant_setting(PYRO_SLICE_LITERAL("spark.executor.instance")), "spark.executor.instances");
    assert_string_equal(pyro_meant_setting(PYRO_SLICE_LITERAL("spark.excutor.memory")), "spark.executor.memory");
    assert_string_equal(pyro_meant_setting(PYRO_SLICE_LITERAL("spark.sql.shuffle.partitoins")),
                        "spark.sql.shuffle.partitions");
    assert_null(pyro_meant_setting(PYRO_SLICE_LITERAL("spark.executor.memory")));
    assert_null(pyro_meant_setting(PYRO_SLICE_LITERAL("spark.executor.env.HOME")));
    assert_null(pyro_meant_setting(PYRO_SLICE_LITERAL("")));
    assert_non_null(pyro_gone_setting(PYRO_SLICE_LITERAL("spark.memory.useLegacyMode")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stage_retries),         cmocka_unit_test(test_job_failed),
        cmocka_unit_test(test_executor_churn),        cmocka_unit_test(test_config_risk),
        cmocka_unit_test(test_speculation_on_writes), cmocka_unit_test(test_known_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
