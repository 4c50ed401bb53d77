/* A stage cut into another number of tasks, by numbers computed by hand. */
#include "predict/cut_tasks.h"
#include "whatif_scene.h"

enum { TASKS = 20, TASK_MS = 1000 };

/* A stage on four slots; task i reads `load[i]` MB. What the run says of its tasks may be changed before it is cut. */
struct cut {
    struct whatif_scene scene;
    struct pyro_predict_change change;
    const struct pyro_scenario_tasks *tasks;
};

static void begin(struct cut *cut, const double *load, int count)
{
    *cut = (struct cut){.scene = whatif_scene(100000)};
    struct whatif_scene *scene = &cut->scene;
    fixture_executor(scene->app, "1", 4, WHATIF_START, PYRO_NONE);
    fixture_property(scene->app, "spark", "spark.executor.memory", "1g");
    whatif_stage(scene, 0, 90000);
    scene->app->stages.items[0].partitions = count;
    for (int i = 0; i < count; i++) {
        struct fixture_task task = whatif_task(scene, 0, TASK_MS);
        task.row[PYRO_TASK_shuffle_local_bytes] = (int64_t)(load[i] * 1e6);
        fixture_add(scene->app, &task);
    }
    whatif_answer(scene, "spark.sql.shuffle.partitions=100", NULL);
    cut->change = (struct pyro_predict_change){.run = &scene->whatif.run, .scenario = scene->whatif.scenarios};
    pyro_arena_init(&cut->change.scratch, NULL);
}

static void recut(struct cut *cut, uint32_t count)
{
    pyro_change_recut(&cut->change, 0, count);
    assert_false(cut->change.failed);
    cut->tasks = pyro_change_tasks(&cut->change, 0);
    assert_int_equal(cut->tasks->count, count);
}

static void end(struct cut *cut)
{
    pyro_arena_done(&cut->change.scratch);
    whatif_free(&cut->scene);
}

/* The largest or the least load of the tasks, as a share of all. */
static double share_of(const struct cut *cut, bool largest)
{
    double all = 0, found = cut->tasks->load[0];
    for (uint32_t i = 0; i < cut->tasks->count; i++) {
        double load = cut->tasks->load[i];
        all += load;
        found = largest ? fmax(found, load) : fmin(found, load);
    }
    return found / all;
}

/* Twenty tasks, of which the last `large` ones read `more`, the others `less`. */
static double share_when_cut(int large, double less, double more, uint32_t count, bool largest)
{
    double load[TASKS];
    struct cut cut;
    for (int i = 0; i < TASKS; i++)
        load[i] = i < TASKS - large ? less : more;
    begin(&cut, load, TASKS);
    recut(&cut, count);
    double share = share_of(&cut, largest);
    end(&cut);
    return share;
}

/* LUMP 3: 2.7 times the median is divided like the others, with larger differences: by the root of 2. 3.3 times stays
 * whole: what is above the median comes on top of an even share. */
static void test_lumps(void **state)
{
    (void)state;
    double mean = 21.7 / 20, wider = sqrt(2), small = 1 + (1 / mean - 1) * wider, large = 1 + (2.7 / mean - 1) * wider;
    assert_near(share_when_cut(1, 1, 2.7, 2 * TASKS, true), large / (38 * small + 2 * large), 1e-5);
    assert_near(share_when_cut(1, 1, 3.3, 2 * TASKS, true), (0.5 + 2.3) / 22.3, 1e-5);
}

/* Four times as many tasks are one and a half times as far from the mean, not twice; and none has less than a tenth of
 * the mean. */
static void test_spread(void **state)
{
    (void)state;
    double mean = 21.7 / 20, small = 1 + (1 / mean - 1) * 1.5, large = 1 + (2.7 / mean - 1) * 1.5;
    assert_near(share_when_cut(1, 1, 2.7, 4 * TASKS, true), large / (76 * small + 4 * large), 1e-5);
    mean = 1.01;
    large = 1 + (2 / mean - 1) * 1.5;
    assert_near(share_when_cut(10, 0.02, 2, 4 * TASKS, false), 0.1 / (40 * 0.1 + 40 * large), 1e-5);
}

static double work_of(const struct cut *cut)
{
    double work = 0;
    for (uint32_t i = 0; i < cut->tasks->count; i++)
        work += cut->tasks->ms[i];
    return work;
}

/* Twenty tasks of a second that need `need` times their memory and spilled 1 MB each, which took `spill_ms`. */
static double work_when_spilled(double need, double spill_ms, uint32_t count)
{
    double load[TASKS];
    struct cut cut;
    for (int i = 0; i < TASKS; i++)
        load[i] = 1;
    begin(&cut, load, TASKS);
    struct pyro_predicted_run *run = &cut.scene.whatif.run;
    for (int i = 0; i < TASKS; i++) {
        run->tasks[i].spill = 1e6f;
        run->tasks[i].need = (float)(need * pyro_task_memory(run));
    }
    run->spill_ms = spill_ms / 1e6;
    run->stages[0].fixed_ms = 0;
    run->added_ms = 0;
    recut(&cut, count);
    double work = work_of(&cut);
    end(&cut);
    return work;
}

static void test_spilling(void **state)
{
    (void)state;
    /* Twice as many tasks need half of it, which fits. */
    assert_near(work_when_spilled(1.5, 300, 2 * TASKS), TASKS * 700, 10);
    /* ... or did not fit before and does not now: 2 of 3.5 memories each, then 1 of 1.75, so a third less. */
    assert_near(work_when_spilled(3.5, 300, 2 * TASKS), TASKS * (1000 - 300 / 3.0), 10);
    /* WORK_LEFT 0.3 */
    assert_near(work_when_spilled(1.5, 900, 2 * TASKS), TASKS * 300, 10);
}

/* WRITE_MS 45: each added task of a small stage opens and commits a file, where the stage writes any. */
static void test_written_files(void **state)
{
    (void)state;
    enum { BEFORE = 10, AFTER = 15 };
    double load[BEFORE], work[2];
    for (int i = 0; i < BEFORE; i++)
        load[i] = 1;
    for (int writes = 0; writes < 2; writes++) {
        struct cut cut;
        begin(&cut, load, BEFORE);
        cut.scene.app->stages.items[0].output_bytes = writes * 1000;
        cut.scene.whatif.run.stages[0].fixed_ms = 500;
        cut.scene.whatif.run.added_ms = 30;
        recut(&cut, AFTER);
        work[writes] = work_of(&cut);
        end(&cut);
    }
    assert_near(work[1] - work[0], (AFTER - BEFORE) * 45, 0.1);
}

/* Four tasks with rows for all of ten folders write 40 files; with 20 rows a task and folder, 40 tasks have two and
 * leave out a few: 1 - exp(-2). Where files are missing, they say how many rows there are: half of them, ln 2. */
static void test_files_in_folders(void **state)
{
    (void)state;
    struct pyro_stage_facts facts = {.folders = 10, .written = 40, .written_rows = 800};
    assert_near(pyro_written_files(&facts, 4, 40), 400 * (1 - exp(-2)), 1e-6);
    assert_near(pyro_written_files(&facts, 4, 1), 10, 1e-6);
    facts.written = 20;
    assert_near(pyro_written_files(&facts, 4, 8), 80 * (1 - exp(-log(2) / 2)), 1e-6);
    facts.folders = 0;
    assert_near(pyro_written_files(&facts, 4, 8), 8, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_in_folders), cmocka_unit_test(test_lumps),         cmocka_unit_test(test_spread),
        cmocka_unit_test(test_spilling),         cmocka_unit_test(test_written_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
