/* Whatever a log claims, parts add up (fixture_analyze() checks it) and nothing overflows, hangs or leaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/accounts/stage_wall.h"
#include "fixture.h"

enum { APPLICATIONS = 2000 };

static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int64_t below(uint64_t *state, int64_t limit)
{
    return (int64_t)(random_bits(state) % (uint64_t)limit);
}

/* A time near the application's, or now and then one that only a damaged or hostile log holds. */
static int64_t some_time(uint64_t *state, bool hostile)
{
    static const int64_t extremes[] = {0, -1, 1, INT64_MAX, INT64_MIN + 1, 9000000000000000000, PYRO_NONE, -5000};
    if (hostile && below(state, 4) == 0)
        return extremes[below(state, 8)];
    return 1000 + below(state, 300);
}

static void fill(struct pyro_app *app, uint64_t *state, bool hostile, int64_t *ids)
{
    int64_t stages = below(state, 8), executors = below(state, 5), tasks = below(state, 60), jobs = below(state, 5);
    for (int64_t i = 0; i < 16; i++)
        ids[i] = below(state, 9) - 1;
    if (below(state, 3) == 0)
        fixture_property(app, "spark", "spark.task.cpus", below(state, 2) ? "2" : "999999999");
    for (int64_t i = 0; i < executors; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%d", (int)below(state, 3));
        int64_t cores = hostile && below(state, 4) == 0 ? INT64_MAX : below(state, 5);
        fixture_executor(app, id, cores, some_time(state, hostile),
                         below(state, 2) ? PYRO_NONE : some_time(state, hostile));
    }
    for (int64_t i = 0; i < stages; i++) {
        fixture_stage(app, below(state, 6), some_time(state, hostile), some_time(state, hostile))->attempt =
            below(state, 2);
        app->stages.items[i].parent_ids = ids + below(state, 8);
        app->stages.items[i].parent_count = (uint32_t)below(state, 8);
    }
    for (int64_t i = 0; i < jobs; i++)
        fixture_job(app, below(state, 4), some_time(state, hostile), some_time(state, hostile), ids + below(state, 8),
                    (uint32_t)below(state, 8));
    for (int64_t i = 0; i < tasks; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%d", (int)below(state, 4));
        struct fixture_task task =
            fixture_task(app, below(state, 7), id, some_time(state, hostile), some_time(state, hostile));
        task.row[PYRO_TASK_status] = below(state, 4) ? PYRO_TASK_SUCCESS : below(state, 4);
        task.row[PYRO_TASK_has_metrics] = below(state, 8) > 0;
        static const enum pyro_task_column metrics[] = {
            PYRO_TASK_run_ms,
            PYRO_TASK_gc_ms,
            PYRO_TASK_deserialize_ms,
            PYRO_TASK_result_serialize_ms,
            PYRO_TASK_fetch_wait_ms,
            PYRO_TASK_shuffle_write_ns,
            PYRO_TASK_getting_result_ms,
        };
        for (size_t k = 0; k < sizeof(metrics) / sizeof(metrics[0]); k++)
            task.row[metrics[k]] = hostile && below(state, 6) == 0 ? some_time(state, true) : below(state, 40);
        fixture_add(app, &task);
    }
}

/* The parts of the tasks of each stage are the tasks' time. */
static void check_stages(const struct pyro_app *app)
{
    struct pyro_stage_wall *stages = calloc(app->stages.count + 1, sizeof(*stages));
    struct pyro_wall_split whole;
    struct pyro_error error = {.size = sizeof(error)};
    assert_non_null(stages);
    assert_int_equal(pyro_wall_by_stage(app, &whole, stages, &error), PYRO_OK);
    for (size_t i = 0; i <= app->stages.count; i++) {
        int64_t sum = 0;
        for (int k = 0; k < PYRO_SPLIT_PARTS; k++)
            sum += stages[i].split_ms[k];
        assert_int_equal(sum, stages[i].task_ms);
    }
    free(stages);
}

static void test_parts_add_up(void **state)
{
    (void)state;
    uint64_t seed = 2463534242u;
    for (int i = 0; i < APPLICATIONS; i++) {
        bool hostile = i % 2 == 1;
        int64_t ids[16];
        struct pyro_app *app = fixture_app(some_time(&seed, hostile), hostile ? some_time(&seed, true) : 1300);
        fill(app, &seed, hostile, ids);
        fixture_analyze(app); /* checks the sums */
        if (!hostile)
            check_stages(app);
        assert_true(app->numbers.wall_total_ms >= 0 && app->numbers.core_total_ms >= 0);
        assert_true(app->numbers.critical_path_ms == PYRO_NONE ||
                    app->numbers.critical_path_ms >= app->numbers.driver_ms);
        assert_true(app->numbers.phase_wait_ms >= 0 && app->numbers.phase_write_ms >= 0);
        pyro_app_release(app);
    }
}

struct budget {
    int left;
};
static void *limited_allocate(void *context, size_t size)
{
    struct budget *budget = context;
    return budget->left-- > 0 ? malloc(size) : NULL;
}
static void *limited_reallocate(void *context, void *memory, size_t size)
{
    struct budget *budget = context;
    return budget->left-- > 0 ? realloc(memory, size) : NULL;
}
static void limited_release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

/* Analyzing fails cleanly at whichever allocation memory runs out. */
static void test_no_memory(void **state)
{
    (void)state;
    bool succeeded = false;
    int failures = 0;
    for (int left = 0; !succeeded && left < 500; left++) {
        struct budget budget = {1 << 20};
        struct pyro_allocator allocator = {sizeof(allocator), limited_allocate, limited_reallocate, limited_release,
                                           &budget};
        struct pyro_app *app = pyro_app_new(&allocator);
        assert_non_null(app);
        app->application.start_ms = 1000;
        app->application.end_ms = 1300;
        uint64_t seed = 99;
        int64_t ids[16];
        fill(app, &seed, false, ids);
        fixture_executor(app, "1", 2, 1000, PYRO_NONE);
        fixture_stage(app, 1, 1000, 1200);
        fixture_run(app, 1, "1", 1000, 1100);
        budget.left = left;
        struct pyro_error error = {.size = sizeof(error)};
        enum pyro_status status = pyro_analyze(app, &error);
        succeeded = status == PYRO_OK;
        if (!succeeded) {
            assert_int_equal(status, PYRO_ERROR_MEMORY);
            assert_int_equal(error.code, PYRO_ERROR_MEMORY);
            failures++;
        }
        budget.left = 1 << 20;
        pyro_app_release(app);
    }
    assert_true(succeeded);
    assert_true(failures > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts_add_up), cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
