/* task-failures, executor-lost and resource-wait. */
#include <stdio.h>

#include "base/strings/intern.h"
#include "scene.h"

static const int64_t two_s = 2000;

struct failing {
    struct pyro_app *app;
    const char *reason;
    unsigned every;
    int64_t attempt;
};

static void fails(struct fixture_task *task, unsigned index, void *context)
{
    const struct failing *failing = context;
    if (index % failing->every != 0)
        return;
    task->row[PYRO_TASK_status] = PYRO_TASK_FAILED;
    task->row[PYRO_TASK_reason] = pyro_intern(failing->app->strings, pyro_slice_from(failing->reason));
    task->row[PYRO_TASK_attempt] = failing->attempt;
    struct pyro_failure *failure = pyro_vec_push(&failing->app->failures, failing->app->allocator);
    assert_non_null(failure);
    pyro_row_init(PYRO_TABLE_failures, failure);
    failure->kind = PYRO_SLICE_LITERAL("task");
    failure->stage = task->row[PYRO_TASK_stage];
    failure->reason = pyro_slice_from(failing->reason);
    failure->class_name = PYRO_SLICE_LITERAL("org.apache.spark.api.python.PythonException");
    failure->message =
        index % 2 ? PYRO_SLICE_LITERAL("Traceback (most recent call last):\n  File \"x.py\"\nValueError: row 7\n")
                  : PYRO_SLICE_LITERAL("Traceback (most recent call last):\n  File \"y.py\"\nValueError: row 12\n");
}

static void test_task_failures_group_by_message(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    struct failing failing = {scene.app, "ExceptionFailure", 5, 0};
    scene_stage(&scene, 60, &two_s, 1, fails, &failing);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "task-failures");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->cause, "12 task attempts failed"));
    assert_non_null(pyro_slice_find(finding->cause, "ValueError: row 12"));
    assert_true(finding->severity >= PYRO_SEVERITY_MODERATE);
    assert_int_equal(scene.diagnosis->finding_count, 1);
    scene_free(&scene);
}

/* Fails every other task, each with a message of its own: an address and an id. */
static void fails_apart(struct fixture_task *task, unsigned index, void *context)
{
    static char messages[32][96], ids[32][12];
    static unsigned number;
    struct failing *failing = context;
    unsigned mine = number++ % 32;
    fails(task, index, context);
    if (index % failing->every != 0)
        return;
    struct pyro_failure *failure = &failing->app->failures.items[failing->app->failures.count - 1];
    snprintf(messages[mine], sizeof(messages[mine]), "cannot lock Row@%x for 3f2a%04x-beef-4d0c-abcd-00aa%08x",
             0x1f00 + 77 * mine, mine, 31 * mine);
    snprintf(ids[mine], sizeof(ids[mine]), "%lld", (long long)task->row[PYRO_TASK_id]);
    failure->message = pyro_slice_from(messages[mine]);
    failure->id = pyro_slice_from(ids[mine]);
}

/* One exception in two stages is one finding, where most of it is; attempts are counted, not shared out. */
static void test_one_cause_in_two_stages(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    struct failing failing = {scene.app, "ExceptionFailure", 4, 0};
    scene_stage(&scene, 8, &two_s, 1, fails_apart, &failing);
    scene_stage(&scene, 20, &two_s, 1, fails_apart, &failing);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "task-failures");
    assert_non_null(finding);
    assert_int_equal(scene.diagnosis->finding_count, 1);
    assert_non_null(pyro_slice_find(finding->cause, "7 task attempts in 2 stages failed with "));
    assert_non_null(pyro_slice_find(finding->cause, "discarded 14.0 s of work"));
    assert_int_equal(finding->stage, 2);
    scene_free(&scene);
}

/* Attempts at one partition, one behind the other; all but the last fail. */
static void tries(struct fixture_task *task, unsigned index, void *context)
{
    struct failing *failing = context;
    task->row[PYRO_TASK_index] = 0;
    task->row[PYRO_TASK_attempt] = index;
    if (index == 2)
        return;
    task->row[PYRO_TASK_status] = PYRO_TASK_FAILED;
    task->row[PYRO_TASK_reason] = pyro_intern(failing->app->strings, PYRO_SLICE_LITERAL("ExceptionFailure"));
}

static void test_failed_attempts_cost_their_time(void **state)
{
    (void)state;
    struct scene scene = scene_new(1, 1);
    struct failing failing = {scene.app, "ExceptionFailure", 1, 0};
    static const int64_t ms[] = {5000, 4000, 6000};
    scene_stage(&scene, 3, ms, 3, tries, &failing);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "task-failures");
    assert_non_null(finding);
    assert_int_equal(finding->saves.wall_expected_ms, 9000);
    assert_true(finding->saves.wall_low_ms < 9000 && finding->saves.wall_high_ms > 9000);
    scene_free(&scene);
}

static void test_third_failure_of_four_is_near_the_end(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    struct failing failing = {scene.app, "ExceptionFailure", 60, 2};
    scene_stage(&scene, 60, &two_s, 1, fails, &failing);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "task-failures");
    assert_non_null(finding);
    assert_int_equal(finding->severity, PYRO_SEVERITY_SEVERE);
    scene_free(&scene);
}

static void test_one_failure_of_many_is_low(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    struct failing failing = {scene.app, "ExceptionFailure", 400, 0};
    scene_stage(&scene, 400, &two_s, 1, fails, &failing);
    scene_end(&scene);
    assert_int_equal(scene_finding(&scene, "task-failures")->severity, PYRO_SEVERITY_LOW);
    assert_int_equal(scene.diagnosis->config_change_count, 0);
    scene_free(&scene);
}

static void test_consequences_of_losses_are_no_task_failures(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    struct failing failing = {scene.app, "ExecutorLostFailure", 10, 0};
    scene_stage(&scene, 60, &two_s, 1, fails, &failing);
    scene_end(&scene);
    scene_quiet(&scene, "task-failures");
    scene_free(&scene);
}

static void lose(struct scene *scene, const char *reason)
{
    struct failing failing = {scene->app, "ExecutorLostFailure", 30, 0};
    scene_stage(scene, 60, &two_s, 1, fails, &failing);
    scene->app->executors.items[0].removed_ms = scene->now - 10000;
    scene->app->executors.items[0].remove_reason = pyro_slice_from(reason);
    scene_end(scene);
}

static void test_executor_lost_knows_exit_codes(void **state)
{
    (void)state;
    static const struct {
        const char *reason, *meaning;
    } cases[] = {
        {"Container from a bad node. Exit status: 143. Diagnostics", "SIGTERM"},
        {"Remote RPC client disassociated. Likely due to containers", "connection ended"},
        {"Exit status: -100. Diagnostics: Container released on a *lost* node.", "its node was lost"},
        {"worker lost: Not receiving heartbeat for 60 seconds", "its node was lost"},
        {"exited with exit code -1(unexpected).\nThe API gave the following brief reason: Evicted\nThe API gave the "
         "following message: The node was low on resource: ephemeral-storage. Container",
         "ran out of a resource: ephemeral-storage"},
        {"The executor with id 2 exited with exit code 139(SIGSEGV: that's unexpected).", "native library"},
        {"Command exited with code 57", "did not end when it was killed"},
        {"Command exited with code 50", "nothing caught"},
        {"Container from a bad node. Exit status: 1. Diagnostics", "exit code 1"},
        {"The executor with ID 2 was not found in the cluster but we didn't get a reason why.", "its pod was gone"},
        {"Something new", "is unusual"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene = scene_new(2, 2);
        lose(&scene, cases[i].reason);
        const struct pyro_finding *finding = scene_finding(&scene, "executor-lost");
        assert_non_null(finding);
        assert_true(finding->severity >= PYRO_SEVERITY_MODERATE);
        assert_non_null(pyro_slice_find(finding->cause, cases[i].meaning));
        scene_free(&scene);
    }
}

/* Partition 1 is lost with executor 2 after 3 of its 8 s and run again by executor 1; partition 0's output went with it
 * as well, and is made again. */
static void lost_run(struct fixture_task *task, unsigned index, void *context)
{
    struct failing *failing = context;
    static const int64_t places[] = {0, 1, 1, 0, 0}, attempts[] = {0, 0, 1, 0, 1};
    static const char *const executors[] = {"2", "2", "1", "2", "1"};
    task->row[PYRO_TASK_index] = places[index];
    task->row[PYRO_TASK_attempt] = attempts[index];
    task->row[PYRO_TASK_executor] = pyro_intern(failing->app->strings, pyro_slice_from(executors[index]));
    if (index == 1) {
        task->row[PYRO_TASK_status] = PYRO_TASK_FAILED;
        task->row[PYRO_TASK_reason] = pyro_intern(failing->app->strings, PYRO_SLICE_LITERAL("ExecutorLostFailure"));
    } else if (index == 3) {
        task->row[PYRO_TASK_status] = PYRO_TASK_RESUBMITTED;
        task->row[PYRO_TASK_reason] = pyro_intern(failing->app->strings, PYRO_SLICE_LITERAL("Resubmitted"));
    }
}

static void test_lost_work_costs_its_time(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 1);
    struct failing failing = {scene.app, NULL, 1, 0};
    static const int64_t ms[] = {2000, 3000, 8000, 2000, 2000};
    int64_t begin = scene.now;
    scene_stage(&scene, 5, ms, 5, lost_run, &failing);
    scene.app->executors.items[1].removed_ms = begin + 5000;
    scene.app->executors.items[1].remove_reason = PYRO_SLICE_LITERAL("Something new");
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "executor-lost");
    assert_non_null(finding);
    /* The unchanged run: 0 to 2 s and 0 to 3 s, then lost: again at 5 s (or 3 s), one after the other on executor 1.
     * Without: 8 s against 2 s. */
    assert_in_range(finding->saves.wall_expected_ms, 4000, 8000);
    assert_true(finding->saves.wall_expected_ms < finding->saves.wall_high_ms);
    scene_free(&scene);
}

static void test_ordinary_removals_are_quiet(void **state)
{
    (void)state;
    static const char *const reasons[] = {"Executor killed by driver.", "Executor decommission: node drained",
                                          "Container container_1 exited from explicit termination request.",
                                          "The executor with id 3 was deleted by a user or the framework."};
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        struct scene scene = scene_new(2, 2);
        lose(&scene, reasons[i]);
        scene_quiet(&scene, "executor-lost");
        scene_free(&scene);
    }
}

static void test_resource_wait_in_the_middle(void **state)
{
    (void)state;
    struct scene scene = scene_new(1, 2);
    scene_stage(&scene, 20, &two_s, 1, NULL, NULL);
    scene.app->executors.items[0].removed_ms = scene.now;
    scene.app->executors.items[0].remove_reason = PYRO_SLICE_LITERAL("Executor killed by driver.");
    fixture_property(scene.app, "spark", "spark.dynamicAllocation.enabled", "true");
    fixture_property(scene.app, "spark", "spark.dynamicAllocation.executorIdleTimeout", "2s");
    int64_t submitted = scene.now;
    scene.now += 20000; /* a stage waits this long for the next executor */
    fixture_executor(scene.app, "1", 2, scene.now, PYRO_NONE);
    scene_stage(&scene, 20, &two_s, 1, NULL, NULL)->submitted_ms = submitted;
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "resource-wait");
    assert_non_null(finding);
    assert_true(finding->severity >= PYRO_SEVERITY_SEVERE);
    assert_string_equal(scene_setting(finding, "spark.dynamicAllocation.minExecutors"), "1");
    assert_string_equal(scene_setting(finding, "spark.dynamicAllocation.executorIdleTimeout"), "60s");
    scene_free(&scene);
}

static void test_usual_start_is_at_most_low(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    scene_stage(&scene, 20, &two_s, 1, NULL, NULL);
    scene.app->application.start_ms -= 10000;
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "resource-wait");
    assert_true(!finding || finding->severity == PYRO_SEVERITY_LOW);
    scene_free(&scene);
}

/* The first executors come after two minutes, while work waits for them or before there is any. */
static struct scene slow_start_without_end(bool work_waits)
{
    struct scene scene = scene_new(2, 2);
    scene_stage(&scene, 100, &two_s, 1, NULL, NULL);
    scene.app->application.start_ms -= 120000;
    if (work_waits)
        scene.app->stages.items[0].submitted_ms -= 121000;
    return scene;
}

static struct scene slow_start(bool work_waits)
{
    struct scene scene = slow_start_without_end(work_waits);
    scene_end(&scene);
    return scene;
}

static void test_slow_start_counts(void **state)
{
    (void)state;
    struct scene scene = slow_start(true);
    const struct pyro_finding *finding = scene_finding(&scene, "resource-wait");
    assert_non_null(finding);
    assert_in_range(finding->saves.wall_expected_ms, 122000 - 30000 - 500, 122000 - 30000);
    assert_int_equal(finding->severity, PYRO_SEVERITY_CRITICAL);
    scene_free(&scene);
    scene = slow_start(false); /* the driver was not sooner */
    finding = scene_finding(&scene, "resource-wait");
    assert_non_null(finding);
    assert_int_equal(finding->severity, PYRO_SEVERITY_LOW);
    scene_free(&scene);
}

/* The log says when executors were asked for: what the driver did before does not count. */
static void test_requests_say_how_long_executors_took(void **state)
{
    (void)state;
    struct scene scene = slow_start_without_end(true);
    for (size_t i = 0; i < scene.app->executors.count; i++) {
        struct pyro_executor *executor = &scene.app->executors.items[i];
        executor->registered_ms = executor->added_ms;
        executor->requested_ms = executor->added_ms - 50000 - (int64_t)i * 10000;
    }
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "resource-wait");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->cause, "available 50.0 s after its request"));
    assert_non_null(pyro_slice_find(finding->cause, "slowest one 1 min 0 s after it"));
    assert_in_range(finding->saves.wall_expected_ms, 50000 - 30000 - 500, 50000 - 30000);
    scene_free(&scene);
    scene = slow_start_without_end(true);
    for (size_t i = 0; i < scene.app->executors.count; i++) { /* times that contradict each other say nothing */
        scene.app->executors.items[i].registered_ms = scene.app->executors.items[i].added_ms;
        scene.app->executors.items[i].requested_ms = scene.app->executors.items[i].added_ms + 1;
    }
    scene_end(&scene);
    finding = scene_finding(&scene, "resource-wait");
    assert_non_null(finding);
    assert_in_range(finding->saves.wall_expected_ms, 122000 - 30000 - 500, 122000 - 30000);
    scene_free(&scene);
}

/* One executor works off many tasks; three more come `late` ms after it. */
static void ramp(int64_t late, bool fires)
{
    struct scene scene = scene_new(1, 1);
    fixture_property(scene.app, "spark", "spark.dynamicAllocation.enabled", "true");
    fixture_property(scene.app, "spark", "spark.dynamicAllocation.schedulerBacklogTimeout", "60s");
    int64_t begin = scene.now;
    scene_stage(&scene, 60, &two_s, 1, NULL, NULL);
    for (int i = 2; i <= 4; i++)
        fixture_executor(scene.app, i == 2 ? "2" : i == 3 ? "3" : "4", 1, begin + late, PYRO_NONE);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "resource-wait");
    assert_int_equal(finding != NULL, fires);
    if (finding) {
        /* Three quarters of the time beyond 15 s, and more: with these settings all come when the first one did. */
        assert_in_range(finding->saves.wall_expected_ms, (late - 15000) * 3 / 4 - 1000, late);
        assert_string_equal(scene_setting(finding, "spark.dynamicAllocation.initialExecutors"), "4");
        assert_string_equal(scene_setting(finding, "spark.dynamicAllocation.schedulerBacklogTimeout"), "1s");
        assert_non_null(pyro_slice_find(finding->cause, "1 of 4 slots"));
    }
    scene_free(&scene);
}

static void test_slow_ramp(void **state)
{
    (void)state;
    ramp(80000, true);
    ramp(12000, false); /* as long as containers take */
}

static void test_shells_wait_from_their_first_work(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    scene_stage(&scene, 100, &two_s, 1, NULL, NULL);
    scene.app->application.start_ms -= 120000;
    scene.app->application.name = PYRO_SLICE_LITERAL("Spark shell");
    scene_end(&scene);
    scene_quiet(&scene, "resource-wait");
    scene_free(&scene);
}

static void test_tasks_before_the_first_executor_deny_it(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    scene_stage(&scene, 100, &two_s, 1, NULL, NULL);
    for (size_t i = 0; i < scene.app->executors.count; i++)
        scene.app->executors.items[i].added_ms = scene.now + 60000; /* of another log */
    scene.now += 70000;
    scene_end(&scene);
    assert_int_equal(scene_verdict(&scene, "resource-wait"), PYRO_VERDICT_NOT_APPLICABLE);
    scene_free(&scene);
}

/* ---- Thresholds: a finding a tenth inside of each, none a tenth outside ---- */

/* The first `count` tasks fail, each of another cause where `apart`. */
struct some_fail {
    struct pyro_app *app;
    unsigned count;
    bool apart;
};

static void some_fail(struct fixture_task *task, unsigned index, void *context)
{
    static const char *const names[] = {"java.lang.A", "java.lang.B", "java.lang.C",
                                        "java.lang.D", "java.lang.E", "java.lang.F"};
    const struct some_fail *of = context;
    struct failing failing = {of->app, "ExceptionFailure", 1, 0};
    if (index >= of->count)
        return;
    fails(task, index, &failing);
    struct pyro_failure *failure = &of->app->failures.items[of->app->failures.count - 1];
    failure->class_name = pyro_slice_from(names[of->apart ? index % 6 : 0]);
    failure->message = PYRO_SLICE_LITERAL("boom");
}

static void test_thresholds_of_failures(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        unsigned tasks, failed;
        double risk;
    } cases[] = {
        /* share_min 0.02: 9 and 7 of 400; failed_tasks_min 10 of 1000 */
        {"share_min", 396, 9, 0.3},
        {"share_min", 396, 7, 0.1},
        {"failed_tasks_min", 996, 11, 0.3},
        {"failed_tasks_min", 996, 9, 0.1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene = scene_new(2, 2);
        struct some_fail of = {scene.app, cases[i].failed, false};
        scene_stage(&scene, cases[i].tasks, &two_s, 1, some_fail, &of)->partitions -= cases[i].failed;
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "task-failures");
        assert_non_null(finding);
        if (finding->failure_risk != cases[i].risk)
            fail_msg("wrong near %s", cases[i].threshold);
        scene_free(&scene);
    }
    /* causes_max 5 of six */
    struct scene scene = scene_new(2, 2);
    struct some_fail of = {scene.app, 6, true};
    scene_stage(&scene, 60, &two_s, 1, some_fail, &of)->partitions -= 6;
    scene_end(&scene);
    int found = 0;
    for (size_t i = 0; i < scene.diagnosis->finding_count; i++)
        found += strcmp(scene.diagnosis->findings[i].rule->id, "task-failures") == 0;
    assert_int_equal(found, 5);
    scene_free(&scene);
}

static void test_thresholds_of_losses(void **state)
{
    (void)state;
    /* ending_ms 2000 before the last work ended */
    for (int64_t ms = 1800; ms <= 2200; ms += 400) {
        struct scene scene = scene_new(2, 2);
        scene_stage(&scene, 60, &two_s, 1, NULL, NULL);
        scene.app->executors.items[0].removed_ms = scene.now - ms;
        scene.app->executors.items[0].remove_reason = PYRO_SLICE_LITERAL("Something new");
        scene_judge(&scene, "executor-lost", ms == 2200, "ending_ms");
    }
    /* lost_min 2 of twenty, lost_share_min 0.2: where memory may be the reason */
    static const struct {
        unsigned executors, lost;
        double risk;
    } cases[] = {{20, 2, 0.5}, {20, 1, 0.3}, {4, 1, 0.5}, {6, 1, 0.3}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene = scene_new(cases[i].executors, 2);
        struct failing failing = {scene.app, "ExecutorLostFailure", 30, 0};
        scene.app->application.master = PYRO_SLICE_LITERAL("spark://host:7077");
        scene_stage(&scene, 120, &two_s, 1, fails, &failing);
        for (unsigned k = 0; k < cases[i].lost; k++) {
            scene.app->executors.items[k].removed_ms = scene.now - 4000;
            scene.app->executors.items[k].remove_reason = PYRO_SLICE_LITERAL("Command exited with code 137");
        }
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "executor-lost");
        assert_non_null(finding);
        if (finding->failure_risk != cases[i].risk)
            fail_msg("%u of %u: %f", cases[i].lost, cases[i].executors, finding->failure_risk);
        scene_free(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_task_failures_group_by_message),
        cmocka_unit_test(test_one_cause_in_two_stages),
        cmocka_unit_test(test_failed_attempts_cost_their_time),
        cmocka_unit_test(test_third_failure_of_four_is_near_the_end),
        cmocka_unit_test(test_one_failure_of_many_is_low),
        cmocka_unit_test(test_consequences_of_losses_are_no_task_failures),
        cmocka_unit_test(test_executor_lost_knows_exit_codes),
        cmocka_unit_test(test_lost_work_costs_its_time),
        cmocka_unit_test(test_ordinary_removals_are_quiet),
        cmocka_unit_test(test_resource_wait_in_the_middle),
        cmocka_unit_test(test_usual_start_is_at_most_low),
        cmocka_unit_test(test_slow_start_counts),
        cmocka_unit_test(test_requests_say_how_long_executors_took),
        cmocka_unit_test(test_slow_ramp),
        cmocka_unit_test(test_shells_wait_from_their_first_work),
        cmocka_unit_test(test_tasks_before_the_first_executor_deny_it),
        cmocka_unit_test(test_thresholds_of_failures),
        cmocka_unit_test(test_thresholds_of_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
