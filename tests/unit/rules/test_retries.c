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

/* A stage whose files are removed, and `again` attempts more. */
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
    assert_non_null(pyro_slice_find(finding->all_advice[0].said, "spark.local.dir"));
    scene_free(&scene);
    scene = retried(0, 0);
    scene_end(&scene);
    scene_quiet(&scene, "stage-retries");
    scene_free(&scene);
}

/* A job of the last stage, failed. */
static struct scene failed_job_of(const char *failure, bool later, bool service)
{
    struct scene scene = scene_new(2, 2);
    if (service)
        fixture_property(scene.app, "spark", "spark.shuffle.service.enabled", "true");
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

static struct scene failed_job(const char *failure, bool later)
{
    return failed_job_of(failure, later, false);
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

/* Files that a dead service had: the service is what to look at, in the words of the finding about retries. */
static void test_job_failed_without_its_shuffle_service(void **state)
{
    (void)state;
    const char *text = "Job aborted due to stage failure: ShuffleMapStage 1 has failed the maximum allowable number of "
                       "times: 4. Most recent failure reason:\n"
                       "org.apache.spark.shuffle.FetchFailedException: Failed to connect to h2/10.0.0.2:7337\n";
    struct scene scene = failed_job(text, false);
    assert_null(pyro_slice_find(scene_finding(&scene, "job-failed")->cause, "shuffle service"));
    scene_free(&scene);
    scene = failed_job_of(text, false, true);
    const struct pyro_finding *finding = scene_finding(&scene, "job-failed");
    assert_non_null(pyro_slice_find(finding->cause, "the external shuffle service at h2/10.0.0.2:7337 did not answer"));
    assert_non_null(pyro_slice_find(finding->all_advice[0].said, "why the external shuffle service"));
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

/* ---- Thresholds: a finding a tenth inside of each, none a tenth outside ---- */

/* Stages ran again for a share of the task time, where other work takes the rest; 0: none. */
static struct scene retried_beside(int64_t again, double repeated_ms, double share)
{
    struct scene scene = retried(again, 12);
    int64_t other = share > 0 ? (int64_t)(repeated_ms / share) - 192000 : 0;
    if (other > 0)
        scene_stage(&scene, 1, &other, 1, NULL, NULL);
    scene_end(&scene);
    return scene;
}

/* near_limit_share 0.75: three and two of four attempts; risk_near 0.5, risk 0.3. little_share 0.002 of the task time;
 * risk_little 0.1. */
static void test_risk_of_retries(void **state)
{
    (void)state;
    struct scene scene = retried_beside(1, 0, 0);
    const struct pyro_finding *finding = scene_finding(&scene, "stage-retries");
    assert_non_null(finding);
    assert_int_equal(scene.app->numbers.task_ms, 192000);
    assert_string_equal(finding->evidence[2].metric, "repeated_task_ms");
    double repeated = finding->evidence[2].value;
    scene_free(&scene);
    const struct {
        int64_t again;
        double share, risk;
    } cases[] = {{2, 0, 0.5}, {1, 0, 0.3}, {1, 0.0022, 0.3}, {1, 0.0018, 0.1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        scene = retried_beside(cases[i].again, repeated, cases[i].share);
        finding = scene_finding(&scene, "stage-retries");
        assert_non_null(finding);
        assert_true(finding->failure_risk == cases[i].risk);
        scene_free(&scene);
    }
}

/* causes_max 5; risk_ended 0.9, risk 0.5, risk_again 0.2. */
static void test_risk_of_failed_jobs(void **state)
{
    (void)state;
    static const int64_t stages[] = {1, 2, 3, 4, 5, 6, 7};
    static const char *const messages[] = {"java.lang.A: one",  "java.lang.B: two",  "java.lang.C: three",
                                           "java.lang.D: four", "java.lang.E: five", "java.lang.F: six"};
    struct scene scene = scene_new(2, 2);
    for (int i = 0; i < 6; i++) {
        struct pyro_stage *stage = scene_stage(&scene, 4, &two_s, 1, NULL, NULL);
        stage->job = i;
        struct pyro_job *job = fixture_job(scene.app, i, stage->submitted_ms, scene.now, &stages[i], 1);
        job->status = PYRO_SLICE_LITERAL("failed");
        job->failure = pyro_slice_from(messages[i]);
        job->name = pyro_slice_from(messages[i]);
    }
    fixture_job(scene.app, 6, scene.now, scene.now + 1000, &stages[6], 1);
    scene.now += 1000;
    scene_end(&scene);
    int found = 0;
    for (size_t i = 0; i < scene.diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &scene.diagnosis->findings[i];
        if (strcmp(finding->rule->id, "job-failed") != 0)
            continue;
        found++;
        assert_true(finding->failure_risk == 0.5); /* a job followed */
    }
    assert_int_equal(found, 5);
    scene_free(&scene);
    for (int later = 0; later < 2; later++) {
        scene = failed_job("java.lang.ArithmeticException: / by zero", later);
        assert_true(scene_finding(&scene, "job-failed")->failure_risk == (later ? 0.2 : 0.9));
        scene_free(&scene);
    }
}

/* Rounds as above, with another idle timeout; work waits for each executor, and blocks may have been cached. */
static struct scene given_back(unsigned count, int64_t absent, int64_t waits, const char *idle, bool cached)
{
    static const char *const ids[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
    struct scene scene = scene_new(1, 2);
    fixture_property(scene.app, "spark", "spark.dynamicAllocation.enabled", "true");
    fixture_property(scene.app, "spark", "spark.dynamicAllocation.executorIdleTimeout", idle);
    for (unsigned i = 0; i < count; i++) {
        struct pyro_executor *last = &scene.app->executors.items[scene.app->executors.count - 1];
        last->removed_ms = scene.now + 2000;
        last->remove_reason = PYRO_SLICE_LITERAL("Executor killed by driver.");
        scene.now = last->removed_ms + absent;
        int64_t submitted = scene.now - waits;
        fixture_executor(scene.app, ids[i + 1], 2, scene.now, PYRO_NONE);
        struct runner runner = {scene.app, ids[i + 1]};
        scene_stage(&scene, 4, &two_s, 1, run_on, &runner)->submitted_ms = submitted;
    }
    if (cached) {
        struct pyro_rdd *rdd = pyro_vec_push(&scene.app->rdds, scene.app->allocator);
        assert_non_null(rdd);
        pyro_row_init(PYRO_TABLE_rdds, rdd);
        rdd->cached = 1;
        rdd->memory_bytes = 1 << 20;
    }
    return scene;
}

static void test_thresholds_of_churn(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        unsigned count;
        int64_t absent, waits;
    } cases[] = {
        /* replaced_min 3, absent_ms_max 300000, waited_ms_min 2000: four times 550 and 450 ms */
        {"replaced_min", true, 3, 8000, 4000},    {"replaced_min", false, 2, 8000, 4000},
        {"absent_ms_max", true, 4, 270000, 4000}, {"absent_ms_max", false, 4, 330000, 4000},
        {"waited_ms_min", true, 4, 8000, 550},    {"waited_ms_min", false, 4, 8000, 450},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene = given_back(cases[i].count, cases[i].absent, cases[i].waits, "2s", false);
        scene_judge(&scene, "executor-churn", cases[i].finds, cases[i].threshold);
    }
    /* risk_cache_lost 0.2 */
    struct scene scene = given_back(4, 8000, 4000, "2s", true);
    scene_end(&scene);
    assert_true(scene_finding(&scene, "executor-churn")->failure_risk == 0.2);
    scene_free(&scene);
    /* timeout_s_max 600: 1.25 of 432 s, and of 528 s */
    for (int longer = 0; longer < 2; longer++) {
        scene = given_back(4, longer ? 268000 : 172000, 4000, "260s", false);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "executor-churn");
        assert_non_null(finding);
        assert_int_equal(*scene_setting(finding, "spark.dynamicAllocation.executorIdleTimeout") != 0, !longer);
        scene_free(&scene);
    }
}

struct used {
    int64_t gc_ms, result_bytes;
};

static void uses(struct fixture_task *task, unsigned index, void *context)
{
    const struct used *of = context;
    (void)index;
    task->row[PYRO_TASK_gc_ms] = of->gc_ms;
    task->row[PYRO_TASK_result_bytes] = of->result_bytes;
}

static void test_thresholds_of_settings(void **state)
{
    (void)state;
    static const struct {
        const char *threshold, *key, *value, *more, *more_value;
        struct used used; /* by each of ten tasks */
        double risk;      /* 0: quiet */
    } cases[] = {
        /* risk 0.3 */
        {"risk", "spark.task.maxFailures", "1", "a", "", {0, 0}, 0.3},
        /* heartbeats_min 2 within 60 s */
        {"heartbeats_min", "spark.executor.heartbeatInterval", "33s", "spark.network.timeout", "60s", {0, 0}, 0.3},
        {"heartbeats_min", "spark.executor.heartbeatInterval", "27s", "spark.network.timeout", "60s", {0, 0}, 0},
        /* network_timeout_s_min 60; gc_share_min 0.1 of 2 s; risk_odd 0.05 */
        {"network_timeout_s_min", "spark.network.timeout", "54s", "a", "", {0, 0}, 0.05},
        {"network_timeout_s_min", "spark.network.timeout", "66s", "a", "", {0, 0}, 0},
        {"gc_share_min", "spark.network.timeout", "54s", "a", "", {220, 0}, 0.3},
        {"gc_share_min", "spark.network.timeout", "54s", "a", "", {180, 0}, 0.05},
        /* memory_fraction_max 0.8; user_bytes_min 64 MiB of 0.1 of what 1440 and 1720 MiB leave to two tasks */
        {"memory_fraction_max", "spark.memory.fraction", "0.82", "spark.executor.memory", "1g", {0, 0}, 0.05},
        {"memory_fraction_max", "spark.memory.fraction", "0.78", "spark.executor.memory", "1g", {0, 0}, 0},
        {"user_bytes_min", "spark.memory.fraction", "0.9", "spark.executor.memory", "1440m", {0, 0}, 0.2},
        {"user_bytes_min", "spark.memory.fraction", "0.9", "spark.executor.memory", "1720m", {0, 0}, 0.05},
        /* result_heap_share_min 0.1 of 1 GiB */
        {"result_heap_share_min", "spark.driver.maxResultSize", "0", "a", "", {0, 11811160}, 0.2},
        {"result_heap_share_min", "spark.driver.maxResultSize", "0", "a", "", {0, 9663676}, 0.05},
        /* overhead_share_min 0.07 of 10 GiB: 645 and 788 MiB */
        {"overhead_share_min", "spark.executor.memoryOverhead", "645m", "spark.executor.memory", "10g", {0, 0}, 0.2},
        {"overhead_share_min", "spark.executor.memoryOverhead", "788m", "spark.executor.memory", "10g", {0, 0}, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene = scene_cold(2, 2);
        struct used used = cases[i].used;
        fixture_property(scene.app, "spark", cases[i].key, cases[i].value);
        fixture_property(scene.app, "spark", cases[i].more, cases[i].more_value);
        scene_stage(&scene, 10, &two_s, 1, uses, &used);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "config-risk");
        if ((finding ? finding->failure_risk : 0) != cases[i].risk)
            fail_msg("wrong near %s: %f", cases[i].threshold, finding ? finding->failure_risk : 0);
        scene_free(&scene);
    }
    /* settings_max 8 of those that are misspelled */
    struct scene scene = scene_new(2, 2);
    static const char *const misspelled[] = {"spark.executor.memoryy",
                                             "spark.executor.coress",
                                             "spark.driver.memoryy",
                                             "spark.executor.instancess",
                                             "spark.sql.shuffle.partitionss",
                                             "spark.default.parallelismm",
                                             "spark.memory.fractionn",
                                             "spark.task.cpuss",
                                             "spark.speculationn",
                                             "spark.excutor.memory",
                                             "spark.executor.instance",
                                             "spark.sql.shuffle.partitoins"};
    for (size_t i = 0; i < sizeof(misspelled) / sizeof(*misspelled); i++)
        fixture_property(scene.app, "spark", misspelled[i], "2");
    scene_stage(&scene, 10, &two_s, 1, NULL, NULL);
    scene_end(&scene);
    int found = 0;
    for (size_t i = 0; i < scene.diagnosis->finding_count; i++)
        found += strcmp(scene.diagnosis->findings[i].rule->id, "config-risk") == 0;
    assert_int_equal(found, 8);
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stage_retries),
        cmocka_unit_test(test_job_failed),
        cmocka_unit_test(test_job_failed_without_its_shuffle_service),
        cmocka_unit_test(test_executor_churn),
        cmocka_unit_test(test_config_risk),
        cmocka_unit_test(test_speculation_on_writes),
        cmocka_unit_test(test_known_settings),
        cmocka_unit_test(test_risk_of_retries),
        cmocka_unit_test(test_risk_of_failed_jobs),
        cmocka_unit_test(test_thresholds_of_churn),
        cmocka_unit_test(test_thresholds_of_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
