/* Where, when and how tasks run: slow-host, locality-wait, speculation-waste, scheduler-delay, task-overhead,
 * shuffle-fetch-wait, shuffle-write-slow, shuffle-heavy. */
#include "base/strings/intern.h"
#include "scene.h"

#define MIB INT64_C(1048576)

static const int64_t even[] = {2000, 2100, 1900, 2300};

/* Tasks of executor 1 take three times as long; `context`: their CPU time as well when not NULL. */
static void slow_first(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    int64_t first = pyro_intern((struct pyro_string_pool *)((void **)context)[0], PYRO_SLICE_LITERAL("1"));
    int64_t ms = task->row[PYRO_TASK_finish_ms] - task->row[PYRO_TASK_launch_ms];
    task->row[PYRO_TASK_cpu_ns] = 1000 * 1000000;
    if (task->row[PYRO_TASK_executor] == first)
        task->row[PYRO_TASK_finish_ms] += 2 * ms;
    if (task->row[PYRO_TASK_executor] == first && ((void **)context)[1])
        task->row[PYRO_TASK_cpu_ns] *= 3;
}

static void run_slow_host(struct scene *scene, unsigned stages, bool slower_processor)
{
    void *context[2] = {scene->app->strings, slower_processor ? scene : NULL};
    for (unsigned i = 0; i < stages; i++) {
        struct pyro_stage *stage = scene_stage(scene, 24, even, 4, slow_first, context);
        /* What the change added lies behind the clock of the scene. */
        stage->completed_ms += 4600;
        scene->now += 4600;
    }
    scene_end(scene);
}

static void test_slow_host_fires_over_stages(void **state)
{
    (void)state;
    struct scene scene = scene_new(3, 2);
    run_slow_host(&scene, 4, false);
    const struct pyro_finding *finding = scene_finding(&scene, "slow-host");
    assert_non_null(finding);
    assert_string_equal(finding->host.ptr, "1");
    assert_string_equal(finding->id.ptr, "slow-host:1");
    assert_true(finding->severity >= PYRO_SEVERITY_MODERATE);
    assert_non_null(pyro_slice_find(finding->cause, "x as long as on the others"));
    assert_non_null(pyro_slice_find(finding->cause, "so they waited for something"));
    assert_string_equal(scene_setting(finding, "spark.yarn.exclude.nodes"), "1");
    assert_true(finding->edit_count >= 24);
    scene_free(&scene);
}

static void test_slow_host_tells_processor_from_waiting(void **state)
{
    (void)state;
    struct scene scene = scene_new(3, 2);
    run_slow_host(&scene, 4, true);
    const struct pyro_finding *finding = scene_finding(&scene, "slow-host");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->cause, "more CPU time"));
    scene_free(&scene);
}

static void test_slow_host_needs_several_stages(void **state)
{
    (void)state;
    struct scene scene = scene_new(3, 2);
    run_slow_host(&scene, 2, false);
    scene_quiet(&scene, "slow-host");
    assert_int_equal(scene_verdict(&scene, "slow-host"), PYRO_VERDICT_QUIET);
    scene_free(&scene);
}

/* The first host has three times the data: that is not its fault. */
static void more_data(struct fixture_task *task, unsigned index, void *context)
{
    slow_first(task, index, context);
    int64_t first = pyro_intern((struct pyro_string_pool *)((void **)context)[0], PYRO_SLICE_LITERAL("1"));
    task->row[PYRO_TASK_input_bytes] = (task->row[PYRO_TASK_executor] == first ? 30 : 10) * MIB;
}

static void test_slow_host_is_quiet_with_more_data(void **state)
{
    (void)state;
    struct scene scene = scene_new(3, 2);
    void *context[2] = {scene.app->strings, NULL};
    for (unsigned i = 0; i < 4; i++) {
        scene_stage(&scene, 24, even, 4, more_data, context)->completed_ms += 4600;
        scene.now += 4600;
    }
    scene_end(&scene);
    scene_quiet(&scene, "slow-host");
    scene_free(&scene);
}

static void test_even_hosts_are_quiet(void **state)
{
    (void)state;
    struct scene scene = scene_new(3, 2);
    for (unsigned i = 0; i < 4; i++)
        scene_stage(&scene, 24, even, 4, NULL, NULL);
    scene_end(&scene);
    assert_int_equal(scene.diagnosis->finding_count, 0);
    assert_int_equal(scene_verdict(&scene, "slow-host"), PYRO_VERDICT_QUIET);
    assert_int_equal(scene_verdict(&scene, "speculation-waste"), PYRO_VERDICT_NOT_APPLICABLE);
    assert_int_equal(scene_verdict(&scene, "shuffle-fetch-wait"), PYRO_VERDICT_NOT_APPLICABLE);
    assert_int_equal(scene_verdict(&scene, "shuffle-write-slow"), PYRO_VERDICT_NOT_APPLICABLE);
    assert_int_equal(scene_verdict(&scene, "shuffle-heavy"), PYRO_VERDICT_NOT_APPLICABLE);
    assert_int_equal(scene_verdict(&scene, "locality-wait"), PYRO_VERDICT_QUIET);
    scene_free(&scene);
}

/* Of each task's 2 s or so: *context ms for one thing. */
struct share {
    enum pyro_task_column column;
    int64_t value;
};

static void spend(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    const struct share *share = context;
    int64_t ms = task->row[PYRO_TASK_finish_ms] - task->row[PYRO_TASK_launch_ms];
    task->row[PYRO_TASK_shuffle_remote_blocks] = 400;
    task->row[PYRO_TASK_shuffle_remote_bytes] = 4 * MIB;
    task->row[PYRO_TASK_shuffle_write_bytes] = 4 * MIB;
    task->row[PYRO_TASK_run_ms] = ms;
    task->row[share->column] = share->value;
    if (share->column == PYRO_TASK_deserialize_ms || share->column == PYRO_TASK_result_serialize_ms)
        task->row[PYRO_TASK_run_ms] -= share->value;
    if (share->column == PYRO_TASK_run_ms)
        task->row[PYRO_TASK_run_ms] = ms - share->value;
}

static struct scene spend_on(enum pyro_task_column column, int64_t value)
{
    struct scene scene = scene_new(2, 2);
    struct share share = {column, value};
    for (unsigned i = 0; i < 2; i++)
        scene_stage(&scene, 40, even, 4, spend, &share);
    scene_end(&scene);
    return scene;
}

static void test_parts_of_tasks_that_are_too_large(void **state)
{
    (void)state;
    const struct {
        const char *rule;
        enum pyro_task_column column;
        int64_t much, little;
        const char *says;
    } cases[] = {
        {"shuffle-fetch-wait", PYRO_TASK_fetch_wait_ms, 900, 100, "waited for shuffle blocks"},
        {"shuffle-write-slow", PYRO_TASK_shuffle_write_ns, 900000000, 100000000, "writing shuffle files"},
        {"scheduler-delay", PYRO_TASK_run_ms, 900, 100, "between driver and executor"},
        {"task-overhead", PYRO_TASK_deserialize_ms, 900, 100, "deserializing the task"},
        {"task-overhead", PYRO_TASK_result_serialize_ms, 900, 100, "serializing their results"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene = spend_on(cases[i].column, cases[i].much);
        const struct pyro_finding *finding = scene_finding(&scene, cases[i].rule);
        assert_non_null(finding);
        assert_true(finding->severity >= PYRO_SEVERITY_MODERATE);
        assert_non_null(pyro_slice_find(finding->cause, cases[i].says));
        assert_non_null(pyro_slice_find(finding->cause, "2 stages at this call site"));
        assert_int_equal(finding->edit_count, 2);
        scene_free(&scene);
        scene = spend_on(cases[i].column, cases[i].little);
        scene_quiet(&scene, cases[i].rule);
        assert_int_equal(scene_verdict(&scene, cases[i].rule), PYRO_VERDICT_QUIET);
        scene_free(&scene);
    }
}

static void test_fetch_limits_are_lifted(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    struct share share = {PYRO_TASK_fetch_wait_ms, 900};
    fixture_property(scene.app, "spark", "spark.reducer.maxSizeInFlight", "1m");
    scene_stage(&scene, 40, even, 4, spend, &share);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "shuffle-fetch-wait");
    assert_non_null(finding);
    assert_string_equal(scene_setting(finding, "spark.reducer.maxSizeInFlight"), "48m");
    assert_non_null(pyro_slice_find(finding->advice[1].text, "fewer and larger blocks"));
    scene_free(&scene);
}

static void test_shuffle_sync_is_switched_off(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    struct share share = {PYRO_TASK_shuffle_write_ns, 900000000};
    fixture_property(scene.app, "spark", "spark.shuffle.sync", "true");
    scene_stage(&scene, 40, even, 4, spend, &share);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, "shuffle-write-slow");
    assert_non_null(finding);
    assert_string_equal(scene_setting(finding, "spark.shuffle.sync"), "false");
    scene_free(&scene);
}

/* Copies of each tenth task are killed, or win. */
static void copies(struct fixture_task *task, unsigned index, void *context)
{
    if (index % 4 != 3)
        return;
    task->row[PYRO_TASK_speculative] = 1;
    if (!context)
        task->row[PYRO_TASK_status] = PYRO_TASK_KILLED;
}

static void test_speculation_waste(void **state)
{
    (void)state;
    for (int won = 0; won < 2; won++) {
        struct scene scene = scene_new(2, 2);
        fixture_property(scene.app, "spark", "spark.speculation", "true");
        scene_stage(&scene, 40, even, 4, copies, won ? &scene : NULL);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "speculation-waste");
        assert_true(won ? !finding : finding != NULL);
        if (finding) {
            assert_int_equal(finding->saves.basis, PYRO_BASIS_SETTINGS);
            assert_true(finding->saves.busy_ms >= 23000); /* what the copies took */
            assert_string_equal(scene_setting(finding, "spark.speculation"), "false");
            assert_true(finding->severity >= PYRO_SEVERITY_MODERATE);
        }
        scene_free(&scene);
    }
}

static void near_data(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    task->row[PYRO_TASK_locality] =
        pyro_intern((struct pyro_string_pool *)context, PYRO_SLICE_LITERAL("PROCESS_LOCAL"));
}

/* Its first wave is made of first attempts; what begins later are retries or copies. */
static void retried(struct fixture_task *task, unsigned index, void *context)
{
    near_data(task, index, context);
    task->row[PYRO_TASK_attempt] = index >= 2 && index % 2 == 0;
    task->row[PYRO_TASK_speculative] = index >= 2 && index % 2 == 1;
}

/* All tasks on the first executor although the second is idle; `gone`: its block manager was removed before. */
static struct scene one_sided_with(const char *wait, scene_change change, bool gone)
{
    struct scene scene = scene_new(2, 2);
    scene.app->executors.items[1].blocks_gone_ms = gone ? scene.now : 0;
    if (wait)
        fixture_property(scene.app, "spark", "spark.locality.wait", wait);
    for (unsigned i = 2; i < 4; i++)
        scene.free_at[i] = INT64_MAX / 2;
    scene_stage(&scene, 20, even, 4, change, scene.app->strings);
    scene_end(&scene);
    return scene;
}

static struct scene one_sided_of(const char *wait, scene_change change)
{
    return one_sided_with(wait, change, false);
}

static struct scene one_sided(const char *wait)
{
    return one_sided_of(wait, near_data);
}

static void test_locality_wait_fires_when_slots_stay_empty(void **state)
{
    (void)state;
    struct scene scene = one_sided("10s");
    const struct pyro_finding *finding = scene_finding(&scene, "locality-wait");
    assert_non_null(finding);
    assert_string_equal(scene_setting(finding, "spark.locality.wait"), "0s");
    assert_non_null(pyro_slice_find(finding->cause, "1 executor were idle"));
    scene_free(&scene);
    scene = one_sided("0s");
    assert_int_equal(scene_verdict(&scene, "locality-wait"), PYRO_VERDICT_NOT_APPLICABLE);
    scene_free(&scene);
}

static void test_locality_wait_is_not_of_retries(void **state)
{
    (void)state;
    struct scene scene = one_sided_of("10s", retried);
    assert_null(scene_finding(&scene, "locality-wait"));
    scene_free(&scene);
}

/* The log may lack its removal: neither slots that wait nor ones that are idle are known. */
static void test_executor_without_its_blocks(void **state)
{
    (void)state;
    struct scene scene = one_sided_with("10s", near_data, true);
    scene_quiet(&scene, "locality-wait");
    scene_quiet(&scene, "idle-executors");
    scene_free(&scene);
}

static void test_locality_wait_is_quiet_on_full_slots(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    scene_stage(&scene, 20, even, 4, near_data, scene.app->strings);
    scene_end(&scene);
    scene_quiet(&scene, "locality-wait");
    scene_free(&scene);
}

struct volume {
    int64_t input, read, write;
};

static void moves(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    const struct volume *volume = context;
    task->row[PYRO_TASK_input_bytes] = volume->input;
    task->row[PYRO_TASK_shuffle_local_bytes] = volume->read;
    task->row[PYRO_TASK_shuffle_write_bytes] = volume->write;
}

static struct scene shuffle(struct volume volume, unsigned stages)
{
    struct scene scene = scene_new(2, 2);
    for (unsigned i = 0; i < stages; i++) {
        scene_stage(&scene, 20, even, 4, moves, &volume)->sql = 7;
        volume.input = 0;
    }
    scene_end(&scene);
    return scene;
}

static void test_shuffle_heavy(void **state)
{
    (void)state;
    struct scene scene = shuffle((struct volume){2 * MIB, 0, 60 * MIB}, 1);
    const struct pyro_finding *finding = scene_finding(&scene, "shuffle-heavy");
    assert_non_null(finding);
    assert_true(finding->severity >= PYRO_SEVERITY_SEVERE);
    assert_non_null(pyro_slice_find(finding->cause, "30.0 x the 40.0 MiB that it read"));
    scene_free(&scene);
    scene = shuffle((struct volume){60 * MIB, 60 * MIB, 60 * MIB}, 4); /* no more than it reads, but four times */
    finding = scene_finding(&scene, "shuffle-heavy");
    assert_non_null(finding);
    assert_non_null(pyro_slice_find(finding->cause, "stages shuffled the output of a shuffle again"));
    scene_free(&scene);
    scene = shuffle((struct volume){60 * MIB, 0, 60 * MIB}, 1);
    scene_quiet(&scene, "shuffle-heavy");
    scene_free(&scene);
    scene = shuffle((struct volume){MIB / 64, 0, MIB}, 1); /* many times nearly nothing */
    scene_quiet(&scene, "shuffle-heavy");
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_host_fires_over_stages),
        cmocka_unit_test(test_slow_host_tells_processor_from_waiting),
        cmocka_unit_test(test_slow_host_needs_several_stages),
        cmocka_unit_test(test_slow_host_is_quiet_with_more_data),
        cmocka_unit_test(test_even_hosts_are_quiet),
        cmocka_unit_test(test_parts_of_tasks_that_are_too_large),
        cmocka_unit_test(test_fetch_limits_are_lifted),
        cmocka_unit_test(test_shuffle_sync_is_switched_off),
        cmocka_unit_test(test_speculation_waste),
        cmocka_unit_test(test_locality_wait_fires_when_slots_stay_empty),
        cmocka_unit_test(test_locality_wait_is_not_of_retries),
        cmocka_unit_test(test_executor_without_its_blocks),
        cmocka_unit_test(test_locality_wait_is_quiet_on_full_slots),
        cmocka_unit_test(test_shuffle_heavy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
