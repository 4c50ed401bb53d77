/* Thresholds of data-skew, slow-host and straggler: a finding a tenth inside of each, none a tenth outside. */
#include "base/strings/intern.h"
#include "scene.h"

#define MIB INT64_C(1048576)

/* A stage whose last tasks are slow, and may have more data. */
struct uneven {
    unsigned slots, tasks, slow;
    int64_t ms, slow_ms, bytes, slow_bytes, records, slow_records;
    bool sql;
    int64_t ends_ms; /* of the application; 0: with the stage */
};

static void is_uneven(struct fixture_task *task, unsigned index, void *context)
{
    const struct uneven *of = context;
    bool slow = index >= of->tasks - of->slow;
    task->row[PYRO_TASK_shuffle_local_bytes] = slow ? of->slow_bytes : of->bytes;
    task->row[PYRO_TASK_shuffle_read_records] = slow ? of->slow_records : of->records;
}

static struct scene uneven(struct uneven of)
{
    struct scene scene = scene_new(of.slots / 2, 2);
    int64_t ms[32];
    for (unsigned i = 0; i < of.tasks; i++)
        ms[i] = i < of.tasks - of.slow ? of.ms : of.slow_ms;
    struct pyro_stage *stage = scene_stage(&scene, of.tasks, ms, of.tasks, is_uneven, &of);
    if (of.sql)
        stage->sql = 7;
    if (of.ends_ms)
        scene.now = SCENE_START + of.ends_ms;
    return scene;
}

static void test_data_skew(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct uneven stage;
    } cases[] = {
        /* ratio_min 2: 2.2 x the time and the data, 1.8 x */
        {"ratio_min", true, {4, 12, 1, 10000, 22000, 10 * MIB, 22 * MIB, .sql = true}},
        {"ratio_min", false, {4, 12, 1, 10000, 18000, 10 * MIB, 18 * MIB, .sql = true}},
        /* follows_min 0.25: at 9 x the time, data grew by 2.2 / 8 and 1.8 / 8 */
        {"follows_min", true, {4, 12, 1, 2000, 18000, 10 * MIB, 32 * MIB, .sql = true}},
        {"follows_min", false, {4, 12, 1, 2000, 18000, 10 * MIB, 28 * MIB, .sql = true}},
        /* plain_ratio_min 4: at 30 x the time */
        {"plain_ratio_min", true, {4, 12, 1, 2000, 60000, 10 * MIB, 44 * MIB, .sql = true}},
        {"plain_ratio_min", false, {4, 12, 1, 2000, 60000, 10 * MIB, 36 * MIB, .sql = true}},
        /* batch_ratio_min 1.5 and batch_time_ratio_min 3, of RDDs */
        {"batch_ratio_min", true, {4, 12, 1, 5000, 18000, 10 * MIB, 16 * MIB, .sql = false}},
        {"batch_ratio_min", false, {4, 12, 1, 5000, 18000, 10 * MIB, 14 * MIB, .sql = false}},
        {"batch_time_ratio_min", true, {4, 12, 1, 5000, 16500, 10 * MIB, 17 * MIB, .sql = false}},
        {"batch_time_ratio_min", false, {4, 12, 1, 5000, 13500, 10 * MIB, 17 * MIB, .sql = false}},
        /* tasks_min 3 */
        {"tasks_min", true, {4, 3, 1, 2000, 20000, 10 * MIB, 100 * MIB, .sql = false}},
        {"tasks_min", false, {4, 2, 1, 2000, 20000, 10 * MIB, 100 * MIB, .sql = false}},
        /* heavy_share_max 0.4: 4 of 10, and 5 of 11 */
        {"heavy_share_max", true, {8, 10, 4, 2000, 20000, 10 * MIB, 100 * MIB, .sql = false}},
        {"heavy_share_max", false, {8, 11, 5, 2000, 20000, 10 * MIB, 100 * MIB, .sql = false}},
        /* saving_ms_min 1000: 0.85 x what the stage ends sooner if the work of 8 slots were even: 1004 and 818 ms */
        {"saving_ms_min", true, {8, 8, 1, 500, 1850, 10 * MIB, 60 * MIB, .sql = false}},
        {"saving_ms_min", false, {8, 8, 1, 500, 1600, 10 * MIB, 60 * MIB, .sql = false}},
        /* saving_share_min 0.01: 2231 ms of 203 and of 248 s */
        {"saving_share_min", true, {8, 8, 1, 500, 3500, 10 * MIB, 90 * MIB, .ends_ms = 203000}},
        {"saving_share_min", false, {8, 8, 1, 500, 3500, 10 * MIB, 90 * MIB, .ends_ms = 248000}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = uneven(cases[i].stage);
        scene_judge(&scene, "data-skew", cases[i].finds, cases[i].threshold);
    }
}

/* large_records_ratio 1.5, at 12 x the bytes; many_heavy 4. */
static void test_advice_about_skew(void **state)
{
    (void)state;
    for (int64_t records = 14000; records <= 16000; records += 2000) {
        struct scene scene =
            uneven((struct uneven){4, 12, 1, 2000, 24000, 10 * MIB, 120 * MIB, 10000, records, .sql = true});
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "data-skew");
        assert_non_null(finding);
        assert_int_equal(pyro_slice_find(finding->cause, "larger records") != NULL, records < 15000);
        scene_free(&scene);
    }
    for (unsigned heavy = 3; heavy <= 4; heavy++) {
        struct scene scene =
            uneven((struct uneven){8, 20, heavy, 2000, 24000, 10 * MIB, 120 * MIB, 100, 1200, .sql = true});
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "data-skew");
        assert_non_null(finding);
        bool keys = false;
        for (size_t i = 0; i < finding->advice_count; i++)
            keys |= pyro_slice_find(finding->advice[i].text, "distribution of the keys") != NULL;
        assert_int_equal(keys, heavy == 4);
        scene_free(&scene);
    }
}

static void test_straggler(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct uneven stage;
    } cases[] = {
        /* ratio_min 3 */
        {"ratio_min", true, {4, 12, 1, 5000, 16500, .sql = false}},
        {"ratio_min", false, {4, 12, 1, 5000, 13500, .sql = false}},
        /* slow_ms_min 3000 */
        {"slow_ms_min", true, {4, 12, 1, 1000, 4300, .sql = false}},
        {"slow_ms_min", false, {4, 12, 1, 1000, 3700, .sql = false}},
        /* slow_share_max 0.2: 2 of 10, 5 of 20 */
        {"slow_share_max", true, {4, 10, 2, 2000, 20000, .sql = false}},
        {"slow_share_max", false, {8, 20, 5, 2000, 20000, .sql = false}},
        /* tasks_min 4 */
        {"tasks_min", true, {4, 4, 1, 2000, 20000, .sql = false}},
        {"tasks_min", false, {4, 3, 1, 2000, 20000, .sql = false}},
        /* saving_share_min 0.01: 0.85 x 7 s of 540 and of 660 s */
        {"saving_share_min", true, {4, 12, 1, 3000, 10000, .ends_ms = 540000}},
        {"saving_share_min", false, {4, 12, 1, 3000, 10000, .ends_ms = 660000}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = uneven(cases[i].stage);
        scene_judge(&scene, "straggler", cases[i].finds, cases[i].threshold);
    }
}

/* One task of 2 s tasks takes `ms`: an early one, so that the stage waits for it for a part of that only. */
static struct scene early(unsigned tasks, unsigned index, int64_t ms, bool warm)
{
    struct scene scene = warm ? scene_new(2, 2) : scene_cold(2, 2);
    int64_t all[12] = {2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000};
    all[index] = ms;
    scene_stage(&scene, tasks, all, 12, NULL, NULL);
    return scene;
}

static void test_straggler_among_the_first(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds, warm;
        unsigned tasks, index;
        int64_t ms;
    } cases[] = {
        /* cold_allowance_ms 10000 and opener_allowance_ms 3000, each with slow_ms_min 3000 and the usual 2000 */
        {"cold_allowance_ms", true, false, 8, 0, 15800},
        {"cold_allowance_ms", false, false, 8, 0, 14200},
        {"opener_allowance_ms", true, true, 8, 0, 8500},
        {"opener_allowance_ms", false, true, 8, 0, 7500},
        /* saving_ms_min 1000: begun at 2 s, the task ends 1250 and 1000 ms after the others; 0.85 of that */
        {"saving_ms_min", true, true, 12, 4, 7250},
        {"saving_ms_min", false, true, 12, 4, 7000},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = early(cases[i].tasks, cases[i].index, cases[i].ms, cases[i].warm);
        scene_judge(&scene, "straggler", cases[i].finds, cases[i].threshold);
    }
}

static void collects(struct fixture_task *task, unsigned index, void *context)
{
    task->row[PYRO_TASK_gc_ms] = index == 11 ? *(int64_t *)context : 0;
}

/* cause_share_min 0.5: of 20 s more than its peers. */
static void test_cause_of_a_straggler(void **state)
{
    (void)state;
    const int64_t ms[] = {2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 22000};
    for (int64_t gc = 9000; gc <= 11000; gc += 2000) {
        struct scene scene = scene_new(2, 2);
        scene_stage(&scene, 12, ms, 12, collects, &gc);
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "straggler");
        assert_non_null(finding);
        assert_int_equal(pyro_slice_find(finding->cause, "garbage collection took") != NULL, gc > 10000);
        scene_free(&scene);
    }
}

/* Stages in which tasks on host 1 take `percent[i % kinds]` of what the others take, then one long task. */
struct hosts {
    unsigned executors, cores, stages, tasks, kinds;
    int64_t percent[5], ms, other_ms;
};

struct slower {
    int64_t host, percent;
};

static void is_slower(struct fixture_task *task, unsigned index, void *context)
{
    const struct slower *of = context;
    int64_t ms = task->row[PYRO_TASK_finish_ms] - task->row[PYRO_TASK_launch_ms];
    (void)index;
    if (task->row[PYRO_TASK_executor] == of->host)
        task->row[PYRO_TASK_finish_ms] += ms * (of->percent - 100) / 100;
}

static struct scene hosts(struct hosts of)
{
    struct scene scene = scene_new(of.executors, of.cores);
    for (unsigned i = 0; i < of.stages; i++) {
        struct slower slower = {pyro_intern(scene.app->strings, PYRO_SLICE_LITERAL("1")), of.percent[i % of.kinds]};
        scene_stage(&scene, of.tasks, &of.ms, 1, is_slower, &slower)->completed_ms += 2 * of.ms;
        scene.now += 2 * of.ms;
    }
    if (of.other_ms)
        scene_stage(&scene, 1, &of.other_ms, 1, NULL, NULL);
    return scene;
}

static void test_slow_host(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct hosts hosts;
    } cases[] = {
        /* ratio_min 1.4 */
        {"ratio_min", true, {3, 2, 4, 24, 1, {150}, 2000, 0}},
        {"ratio_min", false, {3, 2, 4, 24, 1, {130}, 2000, 0}},
        /* tasks_min 2: two tasks on each host, and one */
        {"tasks_min", true, {3, 2, 5, 6, 1, {190}, 2000, 0}},
        {"tasks_min", false, {4, 1, 10, 4, 1, {190}, 2000, 0}},
        /* tasks_in_all_min 9: 3 x 3, and 4 x 2 */
        {"tasks_in_all_min", true, {3, 3, 3, 9, 1, {190}, 2000, 0}},
        {"tasks_in_all_min", false, {3, 2, 4, 6, 1, {190}, 2000, 0}},
        /* stages_min 3 */
        {"stages_min", true, {3, 2, 3, 24, 1, {190}, 2000, 0}},
        {"stages_min", false, {3, 2, 2, 24, 1, {190}, 2000, 0}},
        /* slower_share_min 0.8: 4 of 5, 3 of 5 */
        {"slower_share_min", true, {3, 2, 5, 24, 5, {190, 190, 190, 190, 100}, 2000, 0}},
        {"slower_share_min", false, {3, 2, 5, 24, 5, {190, 190, 190, 100, 100}, 2000, 0}},
        /* slower_ratio_min 1.2: of the fourth stage of five */
        {"slower_ratio_min", true, {3, 2, 5, 24, 5, {190, 190, 190, 130, 100}, 2000, 0}},
        {"slower_ratio_min", false, {3, 2, 5, 24, 5, {190, 190, 190, 110, 100}, 2000, 0}},
        /* lost_ms_min 3000: 32 tasks lose 103 ms and 85 ms each */
        {"lost_ms_min", true, {3, 2, 4, 24, 1, {150}, 206, 0}},
        {"lost_ms_min", false, {3, 2, 4, 24, 1, {150}, 170, 0}},
        /* lost_share_min 0.01: 16 s of 1454 and of 1778 s */
        {"lost_share_min", true, {3, 2, 4, 24, 1, {150}, 1000, 1330000}},
        {"lost_share_min", false, {3, 2, 4, 24, 1, {150}, 1000, 1654000}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = hosts(cases[i].hosts);
        scene_judge(&scene, "slow-host", cases[i].finds, cases[i].threshold);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_skew),
        cmocka_unit_test(test_advice_about_skew),
        cmocka_unit_test(test_straggler),
        cmocka_unit_test(test_straggler_among_the_first),
        cmocka_unit_test(test_cause_of_a_straggler),
        cmocka_unit_test(test_slow_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
