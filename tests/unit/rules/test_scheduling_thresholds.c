/* Thresholds of shuffle-fetch-wait, shuffle-write-slow, scheduler-delay, task-overhead, locality-wait,
 * speculation-waste, shuffle-heavy and resource-wait: a finding a tenth inside of each, none a tenth outside. */
#include <math.h>

#include "base/strings/intern.h"
#include "scene.h"

#define MIB INT64_C(1048576)

/* Tasks of `ms` that spend `part_ms` on one thing, and then one task of `other_ms`. */
struct parts {
    unsigned tasks;
    int64_t ms, part_ms, other_ms;
    int64_t blocks, block_bytes, written_bytes; /* of a task */
    enum pyro_task_column column;
};

static void spend(struct fixture_task *task, unsigned index, void *context)
{
    const struct parts *of = context;
    bool nanoseconds = of->column == PYRO_TASK_shuffle_write_ns, outside = of->column == PYRO_TASK_run_ms;
    (void)index;
    task->row[PYRO_TASK_shuffle_remote_blocks] = of->blocks;
    task->row[PYRO_TASK_shuffle_remote_bytes] = of->blocks * of->block_bytes;
    task->row[PYRO_TASK_shuffle_write_bytes] = of->written_bytes;
    task->row[PYRO_TASK_run_ms] = of->ms;
    if (outside || of->column == PYRO_TASK_deserialize_ms)
        task->row[PYRO_TASK_run_ms] -= of->part_ms;
    if (!outside)
        task->row[of->column] = of->part_ms * (nanoseconds ? 1000000 : 1);
}

static struct scene spending(struct parts of)
{
    struct scene scene = scene_new(2, 2);
    if (!of.blocks) {
        of.blocks = 4;
        of.block_bytes = MIB;
    }
    of.written_bytes = of.written_bytes ? of.written_bytes : MIB / 4;
    scene_stage(&scene, of.tasks, &of.ms, 1, spend, &of);
    if (of.other_ms)
        scene_stage(&scene, 1, &of.other_ms, 1, NULL, NULL);
    return scene;
}

static const struct {
    const char *rule, *share, *mean;
    enum pyro_task_column column;
    int64_t mean_ms;  /* least of a task */
    unsigned openers; /* tasks that do not count */
    double usual, sure;
} rules[] = {
    {"shuffle-fetch-wait", "wait_share_min", "wait_ms_min", PYRO_TASK_fetch_wait_ms, 20, 0, 0.03, 0.7},
    {"shuffle-write-slow", "write_share_min", "write_ms_min", PYRO_TASK_shuffle_write_ns, 20, 0, 0.05, 0.7},
    {"scheduler-delay", "delay_share_min", "delay_ms_min", PYRO_TASK_run_ms, 200, 0, 0.03, 0.7},
    {"task-overhead", "overhead_share_min", "overhead_ms_min", PYRO_TASK_deserialize_ms, 40, 4, 0.03, 0.8},
};

static void test_parts_of_tasks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
        const char *rule = rules[i].rule;
        enum pyro_task_column column = rules[i].column;
        int64_t mean = rules[i].mean_ms;
        unsigned openers = rules[i].openers;
        for (int in = 0; in < 2; in++) {
            /* a share of 0.2 of 2 s */
            struct scene scene = spending((struct parts){40, 2000, in ? 440 : 360, .column = column});
            scene_judge(&scene, rule, in, rules[i].share);
            /* the mean, in tasks three times as long */
            scene = spending((struct parts){200, 3 * mean, in ? mean * 11 / 10 : mean * 9 / 10, .column = column});
            scene_judge(&scene, rule, in, rules[i].mean);
            /* total_ms_min 2000: ten tasks or eight, 220 ms each */
            scene = spending((struct parts){openers + (in ? 10 : 8), 550, 220, .column = column});
            scene_judge(&scene, rule, in, "total_ms_min");
            /* total_share_min 0.01: 4400 ms of 400 and of 489 s */
            scene = spending((struct parts){openers + 20, 550, 220, in ? 381000 : 470000, .column = column});
            scene_judge(&scene, rule, in, "total_share_min");
        }
        /* usual_share: of a quarter, what is more than usual goes, as far as that is sure. */
        struct scene scene = spending((struct parts){40, 2000, 500, .column = column});
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, rule);
        assert_non_null(finding);
        double left = 1 - rules[i].sure * (0.25 - rules[i].usual);
        assert_true(fabs(finding->edits[0].factor - left) < 1e-6);
        scene_free(&scene);
    }
}

static bool advises(const struct scene *scene, const char *rule, const char *text)
{
    const struct pyro_finding *finding = scene_finding(scene, rule);
    bool found = false;
    assert_non_null(finding);
    for (size_t i = 0; i < finding->advice_count; i++)
        found |= pyro_slice_find(finding->advice[i].text, text) != NULL;
    return found;
}

static void test_blocks_of_shuffles(void **state)
{
    (void)state;
    static const struct {
        int64_t blocks, bytes;
        bool small;
    } fetched[] = {
        {400, 59000, true},
        {400, 72000, false}, /* small_block_bytes 64 KiB */
        {110, 10000, true},
        {90, 10000, false}, /* many_blocks 100 */
    };
    for (size_t i = 0; i < sizeof(fetched) / sizeof(*fetched); i++) {
        struct scene scene = spending(
            (struct parts){40, 2000, 900, 0, fetched[i].blocks, fetched[i].bytes, .column = PYRO_TASK_fetch_wait_ms});
        scene_end(&scene);
        assert_int_equal(advises(&scene, "shuffle-fetch-wait", "fewer and larger blocks"), fetched[i].small);
        scene_free(&scene);
    }
    /* bytes_per_second_max 100 MB: in half a second */
    for (int64_t bytes = 45000000; bytes <= 55000000; bytes += 10000000) {
        struct scene scene =
            spending((struct parts){40, 2000, 500, .written_bytes = bytes, .column = PYRO_TASK_shuffle_write_ns});
        scene_judge(&scene, "shuffle-write-slow", bytes == 45000000, "bytes_per_second_max");
    }
    /* small_block_bytes 16 KiB: for ten reducers */
    static const int64_t parents[] = {1};
    for (int64_t bytes = 147000; bytes <= 180000; bytes += 33000) {
        struct scene scene =
            spending((struct parts){40, 2000, 500, .written_bytes = bytes, .column = PYRO_TASK_shuffle_write_ns});
        scene_stage(&scene, 10, &(int64_t){2000}, 1, NULL, NULL);
        fixture_parents(scene.app, 2, parents, 1);
        scene_end(&scene);
        assert_int_equal(advises(&scene, "shuffle-write-slow", "Use fewer shuffle partitions"), bytes == 147000);
        scene_free(&scene);
    }
}

static void near_data(struct fixture_task *task, unsigned index, void *context)
{
    (void)index;
    task->row[PYRO_TASK_locality] = pyro_intern(context, PYRO_SLICE_LITERAL("PROCESS_LOCAL"));
}

/* Stages of `tasks` of `ms`; the second of two executors gets none of them for `kept_ms`, or none at all. */
struct kept {
    unsigned stages, tasks;
    int64_t ms, kept_ms, beside_ms, ends_ms;
};

static struct scene kept(struct kept of)
{
    struct scene scene = scene_new(2, 2);
    for (unsigned i = 0; i < of.stages; i++) {
        int64_t begin = scene.now;
        for (unsigned k = 2; k < 4; k++)
            scene.free_at[k] = of.kept_ms ? begin + of.kept_ms : INT64_MAX / 2;
        scene_stage(&scene, of.tasks, &of.ms, 1, near_data, scene.app->strings);
        if (of.beside_ms) {
            fixture_stage(scene.app, 7, begin, begin + of.beside_ms);
            fixture_run(scene.app, 7, "1", begin, begin + of.beside_ms);
        }
    }
    if (of.ends_ms)
        scene.now = SCENE_START + of.ends_ms;
    return scene;
}

static void test_locality_wait(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct kept kept;
    } cases[] = {
        /* stretch_ms_min 1000: between the first and the last launch */
        {"stretch_ms_min", true, {5, 6, 550, 0, 0, 0}},
        {"stretch_ms_min", false, {5, 6, 450, 0, 0, 0}},
        /* idle_share_min 0.15: 8 s and 6 s of two of four slots, in 24 s */
        {"idle_share_min", true, {1, 40, 2000, 8000, 0, 0}},
        {"idle_share_min", false, {1, 40, 2000, 6000, 0, 0}},
        /* alone_share_min 0.8 of the 22 s between the first and the last launch */
        {"alone_share_min", true, {1, 40, 2000, 8000, 3300, 0}},
        {"alone_share_min", false, {1, 40, 2000, 8000, 5500, 0}},
        /* saving_ms_min 1000: 0.6 of one and a half waves */
        {"saving_ms_min", true, {1, 40, 1230, 4920, 0, 0}},
        {"saving_ms_min", false, {1, 40, 1000, 4000, 0, 0}},
        /* saving_share_min 0.01: 1.8 s of 163 and of 200 s */
        {"saving_share_min", true, {1, 40, 2000, 8000, 0, 163000}},
        {"saving_share_min", false, {1, 40, 2000, 8000, 0, 200000}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = kept(cases[i].kept);
        scene_judge(&scene, "locality-wait", cases[i].finds, cases[i].threshold);
    }
}

struct copies {
    unsigned count, lost;
    int64_t ms, other_ms;
};

static void copies(struct fixture_task *task, unsigned index, void *context)
{
    const struct copies *of = context;
    if (index < 40)
        return;
    task->row[PYRO_TASK_speculative] = 1;
    if (index - 40 < of->lost)
        task->row[PYRO_TASK_status] = PYRO_TASK_KILLED;
}

static void test_speculation_waste(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct copies copies;
    } cases[] = {
        /* copies_min 5, lost_ratio_min 0.5, lost_ms_min 2000 */
        {"copies_min", true, {5, 5, 2000, 0}},
        {"copies_min", false, {4, 4, 2000, 0}},
        {"lost_ratio_min", true, {20, 11, 2000, 0}},
        {"lost_ratio_min", false, {20, 9, 2000, 0}},
        {"lost_ms_min", true, {5, 5, 440, 0}},
        {"lost_ms_min", false, {5, 5, 360, 0}},
        /* lost_share_min 0.01: 10 s of 909 and of 1111 s */
        {"lost_share_min", true, {5, 5, 2000, 811000}},
        {"lost_share_min", false, {5, 5, 2000, 1013000}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = scene_new(2, 2);
        struct copies of = cases[i].copies;
        scene_stage(&scene, 40 + of.count, &of.ms, 1, copies, &of)->partitions = 40;
        if (of.other_ms)
            scene_stage(&scene, 1, &of.other_ms, 1, NULL, NULL);
        scene_judge(&scene, "speculation-waste", cases[i].finds, cases[i].threshold);
    }
}

/* Bytes of each of twenty tasks: of the first stage, and of those that shuffle again. */
struct volume {
    int64_t input, write, again;
    unsigned stages;
    int64_t write_ms, other_ms;
};

struct moved {
    int64_t input, read, write, write_ms;
};

static void moves(struct fixture_task *task, unsigned index, void *context)
{
    const struct moved *of = context;
    (void)index;
    task->row[PYRO_TASK_input_bytes] = of->input;
    task->row[PYRO_TASK_shuffle_local_bytes] = of->read;
    task->row[PYRO_TASK_shuffle_write_bytes] = of->write;
    task->row[PYRO_TASK_shuffle_write_ns] = of->write_ms * 1000000;
}

static struct scene shuffled(struct volume of)
{
    struct scene scene = scene_new(2, 2);
    for (unsigned i = 0; i < of.stages; i++) {
        struct moved moved = {i ? 0 : of.input, i ? of.again : 0, i ? of.again : of.write, of.write_ms};
        scene_stage(&scene, 20, &(int64_t){2000}, 1, moves, &moved)->sql = 7;
    }
    if (of.other_ms)
        scene_stage(&scene, 1, &of.other_ms, 1, NULL, NULL);
    return scene;
}

static void test_shuffle_heavy(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct volume volume;
    } cases[] = {
        /* shuffle_bytes_min 32 MiB: 35.2 and 28.8 MiB */
        {"shuffle_bytes_min", true, {MIB / 100, 176 * MIB / 100, 0, 1, 100, 0}},
        {"shuffle_bytes_min", false, {MIB / 100, 144 * MIB / 100, 0, 1, 100, 0}},
        /* ratio_min 4 */
        {"ratio_min", true, {10 * MIB, 44 * MIB, 0, 1, 0, 0}},
        {"ratio_min", false, {10 * MIB, 36 * MIB, 0, 1, 0, 0}},
        /* repeats_min 2, alike_min 0.8 */
        {"repeats_min", true, {60 * MIB, 60 * MIB, 60 * MIB, 3, 0, 0}},
        {"repeats_min", false, {60 * MIB, 60 * MIB, 60 * MIB, 2, 0, 0}},
        {"alike_min", true, {60 * MIB, 60 * MIB, 52 * MIB, 3, 0, 0}},
        {"alike_min", false, {60 * MIB, 60 * MIB, 43 * MIB, 3, 0, 0}},
        /* cost_ms_min 1000: 66 and 54 MB at 60 KB a millisecond, except what was read */
        {"cost_ms_min", true, {50000, 3300000, 0, 1, 0, 0}},
        {"cost_ms_min", false, {50000, 2700000, 0, 1, 0, 0}},
        /* cost_share_min 0.01: 5.2 s of 470 and of 575 s */
        {"cost_share_min", true, {50000, 15700000, 0, 1, 0, 422000}},
        {"cost_share_min", false, {50000, 15700000, 0, 1, 0, 527000}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = shuffled(cases[i].volume);
        scene_judge(&scene, "shuffle-heavy", cases[i].finds, cases[i].threshold);
    }
}

static void test_waits_for_the_first_executor(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        int64_t wait_ms, wall_ms;
    } cases[] = {
        /* start_allowance_ms 30000, with 0.02 of 140 s */
        {"start_allowance_ms", true, 33000, 140000},
        {"start_allowance_ms", false, 27000, 140000},
        /* start_share_min 0.25, start_ms_min 5000 */
        {"start_share_min", true, 20000, 72700},
        {"start_share_min", false, 20000, 89000},
        {"start_ms_min", true, 5500, 15000},
        {"start_ms_min", false, 4500, 15000},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = scene_new(2, 2);
        scene.app->application.start_ms = SCENE_START + 2000 - cases[i].wait_ms;
        scene.now = scene.app->application.start_ms + cases[i].wall_ms;
        scene_judge(&scene, "resource-wait", cases[i].finds, cases[i].threshold);
    }
}

/* The only executor is lost, and another one comes `wait_ms` later. */
static void test_waits_for_later_executors(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        int64_t wait_ms, ends_ms;
    } cases[] = {
        /* later_ms_min 2000, later_share_min 0.02 of 100 and of 122 s */
        {"later_ms_min", true, 2200, 40000},
        {"later_ms_min", false, 1800, 40000},
        {"later_share_min", true, 2200, 100000},
        {"later_share_min", false, 2200, 122000},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = scene_cold(2, 1);
        scene.free_at[1] = INT64_MAX / 2;
        scene_stage(&scene, 2, &(int64_t){4000}, 1, NULL, NULL);
        scene.app->executors.items[0].removed_ms = scene.now;
        scene.app->executors.items[1].added_ms = scene.now + cases[i].wait_ms;
        scene.free_at[0] = INT64_MAX / 2;
        scene.free_at[1] = scene.now + cases[i].wait_ms;
        scene_stage(&scene, 2, &(int64_t){4000}, 1, NULL, NULL);
        scene.now = SCENE_START + cases[i].ends_ms;
        scene_judge(&scene, "resource-wait", cases[i].finds, cases[i].threshold);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_of_tasks),
        cmocka_unit_test(test_blocks_of_shuffles),
        cmocka_unit_test(test_locality_wait),
        cmocka_unit_test(test_speculation_waste),
        cmocka_unit_test(test_shuffle_heavy),
        cmocka_unit_test(test_waits_for_the_first_executor),
        cmocka_unit_test(test_waits_for_later_executors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
