/* Cached blocks that have room or do not, on runs whose answers are computed by hand. */
#include <stdlib.h>

#include "whatif_scene.h"

#define MIB INT64_C(1048576)

static const int64_t cached_rdd = 7;

static void stage_of_rdd(struct whatif_scene *scene, int64_t from, int64_t to)
{
    whatif_stage(scene, from, to);
    struct pyro_stage *row = &scene->app->stages.items[scene->app->stages.count - 1];
    row->rdd_ids = &cached_rdd;
    row->rdd_count = 1;
    row->partitions = 4;
}

static void task(struct whatif_scene *scene, int64_t partition, int64_t bytes, int64_t from, int64_t to)
{
    struct fixture_task task =
        fixture_task(scene->app, (int64_t)scene->app->stages.count - 1, "1", WHATIF_START + from, WHATIF_START + to);
    task.row[PYRO_TASK_index] = partition;
    task.row[PYRO_TASK_input_bytes] = bytes;
    task.row[PYRO_TASK_has_metrics] = 1;
    fixture_add(scene->app, &task);
}

/* One executor with one slot. The first stage makes four blocks from 100 MiB of files each, 1 s a task; of the second
 * one, tasks 0 and 1 find theirs (0.1 s), and the others read the files again. (1,000 - 300) x 0.6 = 420 MiB are full.
 */
static struct whatif_scene evicted(const char *level)
{
    struct whatif_scene scene = whatif_scene(6200);
    fixture_executor(scene.app, "1", 1, WHATIF_START, PYRO_NONE);
    scene.app->executors.items[0].storage_peak_bytes = 420 * MIB;
    fixture_property(scene.app, "spark", "spark.executor.memory", "1000m");
    fixture_property(scene.app, "spark", "spark.memory.fraction", "0.6");
    struct pyro_rdd *rdd = pyro_vec_push(&scene.app->rdds, scene.app->allocator);
    pyro_row_init(PYRO_TABLE_rdds, rdd);
    *rdd = (struct pyro_rdd){.id = cached_rdd,
                             .stage = 0,
                             .partitions = 4,
                             .cached = 1,
                             .cached_from = 0,
                             .cached_to = INT64_MAX,
                             .level = pyro_slice_from(level)};
    stage_of_rdd(&scene, 0, 4000);
    for (int i = 0; i < 4; i++)
        task(&scene, i, 100 * MIB, i * 1000, i * 1000 + 1000);
    stage_of_rdd(&scene, 4000, 6200);
    for (int i = 0; i < 2; i++)
        task(&scene, i, 210 * MIB, 4000 + i * 100, 4100 + i * 100);
    for (int i = 2; i < 4; i++)
        task(&scene, i, 100 * MIB, 2200 + i * 1000, 3200 + i * 1000);
    return scene;
}

static void test_room(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        int64_t wall_ms;
    } cases[] = {
        {"memory=1000m", 6200},
        /* All four need 420 / 0.5 / 0.97 = 866 MiB; (2,000 - 300) x 0.6 = 1,020. */
        {"memory=2000m", 4400},
        /* (1,300 - 300) x 0.6 = 600 of 866: 0.307 of them have no room instead of 0.5. */
        {"memory=1300m", 5504},
        {"executors=3", 2200},
        /* (1,000 - 300) x 0.3 = 210 of 866. */
        {"spark.memory.fraction=0.3", 7127},
    };
    struct whatif_scene scene = evicted("MEMORY_ONLY");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct pyro_scenario *scenario = whatif_answer(&scene, cases[i].set, NULL);
        if (llabs(scenario->wall_expected_ms - cases[i].wall_ms) > 5)
            fail_msg("%s: %lld", cases[i].set, (long long)scenario->wall_expected_ms);
    }
    whatif_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
