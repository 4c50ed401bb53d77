/* Constants of what tasks cost, computed by hand: docs/whatif.md, Partitions. */
#include <stdio.h>

#include "predict/cut_tasks.h"
#include "whatif_scene.h"

enum { MB = 1000 * 1000 };

/* Equal tasks of one stage, and what each has. */
struct equal {
    unsigned count;
    int64_t ms, run_ms, cpu_us, records, bytes, blocks;
};

static void add_stage(struct whatif_scene *scene, const struct equal *of)
{
    whatif_stage(scene, 0, 90000);
    scene->app->stages.items[scene->app->stages.count - 1].partitions = of->count;
    for (unsigned i = 0; i < of->count; i++) {
        struct fixture_task task = whatif_task(scene, 0, of->ms);
        task.row[PYRO_TASK_run_ms] = of->run_ms;
        task.row[PYRO_TASK_cpu_ns] = of->cpu_us * 1000;
        task.row[PYRO_TASK_shuffle_local_bytes] = of->bytes;
        task.row[PYRO_TASK_shuffle_read_records] = of->records;
        task.row[PYRO_TASK_shuffle_local_blocks] = of->blocks;
        fixture_add(scene->app, &task);
    }
}

static struct whatif_scene stages(const struct equal *first, const struct equal *heavy, const char *master)
{
    struct whatif_scene scene = whatif_scene(100000);
    fixture_executor(scene.app, "1", 4, WHATIF_START, PYRO_NONE);
    if (master)
        scene.app->application.master = pyro_slice_from(master);
    add_stage(&scene, first);
    if (heavy->count)
        add_stage(&scene, heavy);
    whatif_answer(&scene, "spark.sql.shuffle.partitions=100", NULL);
    return scene;
}

static void test_fixed_cost_by_other_stages(void **state)
{
    (void)state;
    static const struct {
        const char *constant;
        struct equal stage, heavy; /* another one, whose tasks have much to do */
        const char *master;
        double fixed_ms;
    } cases[] = {
        /* Of 106 ms beyond the floor of 6 ms, 10,000 records take a hundredth each: two of 12 ms are work. */
        {"FLOOR_CPU_MS", {8, 12, 12, 12000, 200, 0, 0}, {20, 200, 106, 106000, 10000, 0, 0}, NULL, 10},
        /* HEAVY_CPU_MS 100: 94 ms say nothing of records, which then cost almost nothing. */
        {"HEAVY_CPU_MS", {8, 12, 12, 12000, 200, 0, 0}, {20, 200, 94, 94000, 10000, 0, 0}, NULL, 11.998},
        {"HEAVY_CPU_MS", {8, 12, 12, 12000, 200, 0, 0}, {20, 300, 116, 116000, 11000, 0, 0}, NULL, 10},
        /* ENOUGH_RECORDS 100,000 */
        {"ENOUGH_RECORDS", {8, 12, 12, 12000, 200, 0, 0}, {20, 200, 106, 106000, 5500, 0, 0}, NULL, 12 - 3.6364},
        {"ENOUGH_RECORDS", {8, 12, 12, 12000, 200, 0, 0}, {20, 200, 106, 106000, 4500, 0, 0}, NULL, 11.998},
        /* ENOUGH_BYTES 16 MB; where there are fewer, USUAL_BYTES_A_MS: 100 kB a millisecond */
        {"ENOUGH_BYTES", {8, 12, 12, 12000, 0, 20000, 0}, {20, 200, 106, 106000, 0, 880000, 0}, NULL, 12 - 2.2727},
        {"ENOUGH_BYTES", {8, 12, 12, 12000, 0, 20000, 0}, {20, 200, 106, 106000, 0, 720000, 0}, NULL, 11.8},
        {"USUAL_BYTES_A_MS", {8, 12, 12, 12000, 0, 200000, 0}, {0}, NULL, 10},
        /* FIXED_CPU_MAX_MS 14, and BLOCK_CPU_MS 0.02 for each of 100 blocks */
        {"FIXED_CPU_MAX_MS", {8, 30, 30, 30000, 0, 0, 0}, {0}, NULL, 14},
        {"BLOCK_CPU_MS", {8, 30, 30, 30000, 0, 0, 100}, {0}, NULL, 16},
        /* WAIT_MAX_MS 60: beyond 1.3 x the processor's time, 66 ms of waiting follow the data, 54 ms do not. */
        {"WAIT_MAX_MS", {8, 79, 79, 10000, 0, 0, 0}, {0}, NULL, 13},
        {"WAIT_MAX_MS", {8, 67, 67, 10000, 0, 0, 0}, {0}, NULL, 67},
        /* DRIVER_MS 3 on the driver's host, from FLOOR_TASKS 20 on */
        {"DRIVER_MS", {22, 40, 13, 10000, 0, 900000, 0}, {0}, "local[4]", 27 + 1.3 + 3},
        {"FLOOR_TASKS", {18, 40, 13, 10000, 0, 900000, 0}, {0}, "local[4]", 27 + 1.3},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct whatif_scene scene = stages(&cases[i].stage, &cases[i].heavy, cases[i].master);
        double fixed = (double)scene.whatif.run.stages[0].fixed_ms;
        if (fabs(fixed - cases[i].fixed_ms) > 0.003)
            fail_msg("%s: %f, not %f", cases[i].constant, fixed, cases[i].fixed_ms);
        whatif_free(&scene);
    }
}

/* ADDED_MS 15, and less if this share of the tasks of a stage is fixed: SMALL_SHARE 0.4 of 27.3 and of 33.3 ms. */
static void test_cost_of_an_added_task(void **state)
{
    (void)state;
    static const struct equal small = {20, 27, 27, 27300, 0, 1530000, 0}, large = {20, 33, 33, 33300, 0, 2130000, 0};
    struct whatif_scene scene = stages(&small, &(struct equal){0}, NULL);
    assert_near(scene.whatif.run.added_ms, 12, 0.2);
    whatif_free(&scene);
    scene = stages(&large, &(struct equal){0}, NULL);
    assert_near(scene.whatif.run.added_ms, 15, 1e-6);
    whatif_free(&scene);
}

/* Tasks of a stage compared: three of eight read nothing, or lines through those that read more. */
static void test_fixed_cost_by_tasks(void **state)
{
    (void)state;
    static const struct {
        const char *constant;
        unsigned count, empty;
        int64_t less, more; /* bytes of half of the others, and of the rest */
        int64_t less_ms, more_ms;
        double fixed_ms;
        bool told;
    } cases[] = {
        {"EMPTY_MIN", 8, 3, 10 * MB, 10 * MB, 400, 400, 70, true},
        {"EMPTY_MIN", 8, 2, 10 * MB, 10 * MB, 400, 400, 70, false},
        {"SAMPLE_MIN", 7, 3, 10 * MB, 10 * MB, 400, 400, 70, false},
        {"LOAD_SPREAD_MIN", 8, 0, 10 * MB, 33 * MB / 2, 200, 265, 100, true},
        {"LOAD_SPREAD_MIN", 8, 0, 10 * MB, 27 * MB / 2, 200, 235, 100, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct whatif_scene scene = whatif_scene(100000);
        fixture_executor(scene.app, "1", 4, WHATIF_START, PYRO_NONE);
        whatif_stage(&scene, 0, 90000);
        scene.app->stages.items[0].partitions = cases[i].count;
        for (unsigned k = 0; k < cases[i].count; k++) {
            bool empty = k < cases[i].empty, less = k % 2 == 0;
            struct fixture_task task = whatif_task(&scene, 0, empty ? 70 : less ? cases[i].less_ms : cases[i].more_ms);
            task.row[PYRO_TASK_shuffle_local_bytes] = empty ? 0 : less ? cases[i].less : cases[i].more;
            fixture_add(scene.app, &task);
        }
        whatif_answer(&scene, "spark.sql.shuffle.partitions=100", NULL);
        double fixed = (double)scene.whatif.run.stages[0].fixed_ms;
        if ((fabs(fixed - cases[i].fixed_ms) < 0.01) != cases[i].told)
            fail_msg("%s: %f", cases[i].constant, fixed);
        whatif_free(&scene);
    }
}

/* ---- Stages with a new cut ---- */

/* A query's shuffle of `count` tasks on 64 slots: `empty` of them take 100 ms and read nothing, the others `ms` more.
 */
struct cut {
    unsigned count, empty;
    int64_t ms, last_ms; /* last_ms: of the last one, which reads as much more; 0: like the others */
    int64_t blocks;      /* of all */
    const char *node;    /* of its plan */
};

static struct whatif_scene cut(struct cut of)
{
    struct whatif_scene scene = whatif_scene(100000);
    static char partitions[16];
    snprintf(partitions, sizeof(partitions), "%u", of.count);
    fixture_executor(scene.app, "1", 64, WHATIF_START, PYRO_NONE);
    fixture_property(scene.app, "spark", "spark.sql.adaptive.enabled", "false");
    fixture_property(scene.app, "spark", "spark.sql.shuffle.partitions", partitions);
    whatif_stage(&scene, 0, 100 + (of.last_ms > of.ms ? of.last_ms : of.ms));
    scene.app->jobs.items[0].sql = 0;
    scene.app->stages.items[0].partitions = of.count;
    for (unsigned i = 0; i < of.count; i++) {
        int64_t ms = i < of.empty ? 0 : i + 1 == of.count && of.last_ms ? of.last_ms : of.ms;
        struct fixture_task task = whatif_task(&scene, 0, 100 + ms);
        task.row[PYRO_TASK_shuffle_local_bytes] = ms * 10000;
        task.row[PYRO_TASK_shuffle_local_blocks] = i == 0 ? of.blocks : 0;
        fixture_add(scene.app, &task);
    }
    if (of.node)
        whatif_query(&scene, of.node);
    return scene;
}

static double busy_of(struct cut of, const char *set)
{
    struct whatif_scene scene = cut(of);
    double busy = (double)whatif_answer(&scene, set, NULL)->busy_ms;
    whatif_free(&scene);
    return busy;
}

/* LUMP 3: a task with more than three times the median stays whole. */
static void test_lumps(void **state)
{
    (void)state;
    for (int lump = 0; lump < 2; lump++) {
        struct whatif_scene scene = cut((struct cut){20, 0, 1000, lump ? 3300 : 2700, 0, NULL});
        const struct pyro_scenario *scenario = whatif_answer(&scene, "spark.sql.shuffle.partitions=400", NULL);
        int64_t took = scenario->jobs[0].end_ms - scenario->jobs[0].start_ms;
        assert_int_equal(took > 2000, lump);
        whatif_free(&scene);
    }
}

/* FILLED_MIN 0.9: where fewer tasks read anything, there are few keys, which stay whole. */
static void test_few_keys(void **state)
{
    (void)state;
    for (unsigned empty = 1; empty <= 3; empty += 2) {
        struct whatif_scene scene = cut((struct cut){20, empty, 3000, 0, 0, NULL});
        const struct pyro_scenario *scenario = whatif_answer(&scene, "spark.sql.shuffle.partitions=400", NULL);
        int64_t took = scenario->jobs[0].end_ms - scenario->jobs[0].start_ms;
        assert_int_equal(took > 3000, empty == 3);
        whatif_free(&scene);
    }
}

/* BLOCK_MS 0.025 for each block that more tasks fetch, where each fetched from CUT_ALIKE 0.8 as many writers as there
 * are tasks, and there are CUT_ALIKE_MIN 6 of them. */
static void test_more_blocks(void **state)
{
    (void)state;
    static const struct {
        unsigned count;
        int64_t blocks;
        double more_ms; /* of 400 tasks */
    } cases[] = {
        {10, 88, 400 * 0.025 * 8.8 * 39},
        {10, 72, 0},
        {6, 36, 400 * 0.025 * 6 * (400 / 6.0 - 1)},
        {5, 25, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cut of = {cases[i].count, 3, 5000, 0, 0, NULL};
        double without = busy_of(of, "spark.sql.shuffle.partitions=400");
        of.blocks = cases[i].blocks;
        assert_near(busy_of(of, "spark.sql.shuffle.partitions=400") - without, cases[i].more_ms, 250);
    }
}

/* An added task of a small stage (FEW 20) costs 15 ms, COLD_TIMES 1.5 times that more at first, which fades over
 * WARM_TASKS 250; and PYTHON_MS 40 where Python has a part. In others it costs what theirs do. */
static void test_added_tasks(void **state)
{
    (void)state;
    static const struct {
        unsigned count;
        int64_t more;
        double added_ms;
        const char *set;
    } cases[] = {
        {18, 382, 15 * (1 + 1.5 * 250 * (1 - 0.21696) / 382), "spark.sql.shuffle.partitions=400"},
        {18, 82, 15 * (1 + 1.5 * 250 * (1 - 0.72036) / 82), "spark.sql.shuffle.partitions=100"},
        {22, 378, 100, "spark.sql.shuffle.partitions=400"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cut of = {cases[i].count, 3, 5000, 0, 0, NULL};
        double all = cases[i].count * 100.0 + (cases[i].count - 3) * 5000.0;
        assert_near(busy_of(of, cases[i].set), all + (double)cases[i].more * cases[i].added_ms, 210);
    }
    struct cut of = {18, 3, 5000, 0, 0, "Project"};
    double without = busy_of(of, "spark.sql.shuffle.partitions=400");
    of.node = "BatchEvalPython";
    assert_near(busy_of(of, "spark.sql.shuffle.partitions=400") - without, 382 * 40, 210);
}

/* ---- Memory ---- */

static double spilled_cost(int64_t written, int64_t write_ms)
{
    struct whatif_scene scene = whatif_scene(100000);
    fixture_executor(scene.app, "1", 2, WHATIF_START, PYRO_NONE);
    whatif_stage(&scene, 0, 90000);
    struct fixture_task task = whatif_task(&scene, 0, 80000);
    task.row[PYRO_TASK_shuffle_write_bytes] = written;
    task.row[PYRO_TASK_shuffle_write_ns] = write_ms * 1000000;
    fixture_add(scene.app, &task);
    whatif_answer(&scene, "memory=2g", NULL);
    double cost = scene.whatif.run.spill_ms;
    /* RESERVED_BYTES 300 MiB of 1 GiB, 0.6 of the rest for two tasks */
    assert_near(pyro_task_memory(&scene.whatif.run), 724 * 1048576.0 * 0.6 / 2, 1);
    whatif_free(&scene);
    return cost;
}

/* A spilled byte is written and read at DISK_BYTES_A_MS, or as fast as SHUFFLE_BYTES_ENOUGH 16 MiB were written, and
 * its 1 / PACKED bytes of memory are serialized at SERIALIZED_A_MS. */
static void test_cost_of_spilled_bytes(void **state)
{
    (void)state;
    assert_near(spilled_cost(0, 0), 2 / 200e3 + 1 / (0.4 * 200e3), 1e-9);
    assert_near(spilled_cost(18500000, 37000), 2 / 500.0 + 1 / (0.4 * 200e3), 1e-9);
    assert_near(spilled_cost(15000000, 30000), 2 / 200e3 + 1 / (0.4 * 200e3), 1e-9);
}

/* One task of 50 s, 10 s of which are garbage collection, in 1 GiB. */
static double collecting(int64_t heap_peak, int64_t storage, const char *set)
{
    struct whatif_scene scene = whatif_scene(100000);
    fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
    scene.app->executors.items[0].heap_peak_bytes = heap_peak;
    scene.app->executors.items[0].storage_peak_bytes = storage;
    whatif_stage(&scene, 0, 90000);
    struct fixture_task task = whatif_task(&scene, 0, 50000);
    task.row[PYRO_TASK_gc_ms] = 10000;
    fixture_add(scene.app, &task);
    double busy = (double)whatif_answer(&scene, set, NULL)->busy_ms;
    whatif_free(&scene);
    return busy;
}

static void test_garbage_collection(void **state)
{
    (void)state;
    const double gib = 1073741824, live = 60e6;
    /* FILLED 0.85: what was never used of a heap does not help. */
    assert_near(collecting((int64_t)(0.8 * gib), 0, "memory=2g"), 50000, 1);
    assert_near(collecting((int64_t)(0.9 * gib), 0, "memory=2g"), 40000 + 10000 * (gib - live) / (2 * gib - live), 1);
    /* Blocks and tasks keep no more alive than their share of a heap. */
    double left_was = gib - 0.6 * 724 * 1048576.0 - live, left = (1200 - 0.6 * 900) * 1048576.0 - live;
    assert_near(collecting(0, 2000 * (int64_t)MB, "memory=1200m"), 40000 + 10000 * left_was / left, 1);
    /* GC_FACTOR_MAX 8 */
    assert_near(collecting(0, 2000 * (int64_t)MB, "memory=64g"), 40000 + 10000 / 8.0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed_cost_by_other_stages),
        cmocka_unit_test(test_cost_of_an_added_task),
        cmocka_unit_test(test_fixed_cost_by_tasks),
        cmocka_unit_test(test_lumps),
        cmocka_unit_test(test_few_keys),
        cmocka_unit_test(test_more_blocks),
        cmocka_unit_test(test_added_tasks),
        cmocka_unit_test(test_cost_of_spilled_bytes),
        cmocka_unit_test(test_garbage_collection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
