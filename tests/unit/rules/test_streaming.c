/* batch-overrun, state-growth and watermark-lag. */
#include "scene.h"

static struct pyro_stream_batch *add_batch(struct scene *scene, int64_t at_ms, int64_t duration_ms, int64_t rows)
{
    struct pyro_stream_batch *batch = pyro_vec_push(&scene->app->streams, scene->app->allocator);
    assert_non_null(batch);
    pyro_row_init(PYRO_TABLE_streams, batch);
    batch->run = PYRO_SLICE_LITERAL("run");
    batch->name = PYRO_SLICE_LITERAL("orders");
    batch->source = PYRO_SLICE_LITERAL("KafkaV2[Subscribe[orders]]");
    batch->batch = (int64_t)scene->app->streams.count - 1;
    batch->time_ms = SCENE_START + at_ms;
    batch->duration_ms = duration_ms;
    batch->add_batch_ms = duration_ms * 9 / 10;
    batch->input_rows = rows;
    return batch;
}

static const struct pyro_finding *judge(struct scene *scene, const char *rule)
{
    scene->now += 200000;
    scene_end(scene);
    return scene_finding(scene, rule);
}

/* A trigger of four seconds: two short batches, then ten of `ms`. */
static const struct pyro_finding *batches_of(struct scene *scene, int64_t ms)
{
    *scene = scene_new(2, 2);
    int64_t at = 0;
    for (int i = 0; i < 12; i++) {
        int64_t took = i < 2 ? 1000 : ms;
        add_batch(scene, at, took, 100 + i);
        at += took;
        at = took < 4000 ? (at + 3999) / 4000 * 4000 : at;
    }
    return judge(scene, "batch-overrun");
}

static void test_batches_over_their_trigger(void **state)
{
    (void)state;
    struct scene scene;
    const struct pyro_finding *finding = batches_of(&scene, 9000);
    assert_non_null(finding);
    assert_int_equal(finding->severity, PYRO_SEVERITY_MODERATE);
    assert_string_equal(finding->evidence[0].metric, "batch_ms");
    assert_true(finding->evidence[0].value == 9000 && finding->evidence[0].expected == 4000);
    assert_int_equal(finding->saves.wall_expected_ms, 0);
    scene_free(&scene);
    assert_null(batches_of(&scene, 3000));
    assert_int_equal(scene_verdict(&scene, "batch-overrun"), PYRO_VERDICT_QUIET);
    scene_free(&scene);
}

/* Without a pause: the trigger does not show. `grow` percent more each time, rows as well unless `limited`. */
static const struct pyro_finding *busy_batches(struct scene *scene, int64_t ms, int64_t grow, bool limited)
{
    *scene = scene_new(2, 2);
    int64_t at = 0;
    for (int i = 0; i < 12; i++) {
        add_batch(scene, at, ms, limited ? 500 : 500 + i);
        at += ms + 10;
        ms += ms * grow / 100;
    }
    return judge(scene, "batch-overrun");
}

static void test_busy_streams(void **state)
{
    (void)state;
    struct scene scene;
    assert_non_null(busy_batches(&scene, 7000, 0, false));
    scene_free(&scene);
    assert_null(busy_batches(&scene, 7000, 0, true)); /* as a backfill with a limit looks */
    scene_free(&scene);
    assert_null(busy_batches(&scene, 900, 0, false)); /* no trigger set: one batch behind the other */
    scene_free(&scene);
    const struct pyro_finding *finding = busy_batches(&scene, 2000, 15, false);
    assert_non_null(finding);
    assert_int_equal(finding->severity, PYRO_SEVERITY_SEVERE); /* falls behind */
    scene_free(&scene);
    assert_null(busy_batches(&scene, 9000, -15, false)); /* catches up */
    scene_free(&scene);
}

struct state_scene {
    int64_t added, removed, keys, delay_ms; /* a batch; most that there are; of the watermark, 0: none */
};

static const struct pyro_finding *with_state(struct scene *scene, struct state_scene plan)
{
    *scene = scene_new(2, 2);
    int64_t rows = 0;
    for (int i = 0; i < 15; i++) {
        struct pyro_stream_batch *batch = add_batch(scene, i * 10000, 2000, 20000);
        bool removes = i > 4;
        rows += plan.added - (removes ? plan.removed : 0);
        rows = plan.keys && rows > plan.keys ? plan.keys : rows;
        batch->state_rows = rows;
        batch->state_memory_bytes = rows * 200;
        batch->state_rows_updated = plan.added;
        batch->state_rows_removed = removes ? plan.removed : 0;
        batch->state_operators = PYRO_SLICE_LITERAL("stateStoreSave");
        if (plan.delay_ms) {
            batch->event_time_max_ms = batch->time_ms;
            batch->watermark_ms = batch->time_ms - plan.delay_ms;
        }
    }
    return judge(scene, "state-growth");
}

static void test_state_growth(void **state)
{
    (void)state;
    struct scene scene;
    const struct pyro_finding *finding = with_state(&scene, (struct state_scene){.added = 10000});
    assert_non_null(finding);
    assert_int_equal(finding->severity, PYRO_SEVERITY_SEVERE); /* 200 KB a second fill 1 GiB within two hours */
    assert_int_equal(finding->advice_count, 2);                /* a watermark, and RocksDB until then */
    scene_free(&scene);
    assert_null(with_state(&scene, (struct state_scene){.added = 10000, .removed = 9900}));
    scene_free(&scene);
    assert_null(with_state(&scene, (struct state_scene){.added = 10000, .keys = 60000}));
    scene_free(&scene);
    assert_null(with_state(&scene, (struct state_scene){.added = 10000, .delay_ms = 30000}));
    scene_free(&scene);
    assert_null(with_state(&scene, (struct state_scene){.added = 10000, .delay_ms = 600000})); /* too short a run */
    scene_free(&scene);
    assert_non_null(with_state(&scene, (struct state_scene){.added = 10000, .delay_ms = 86400000}));
    scene_free(&scene);
    assert_null(with_state(&scene, (struct state_scene){.added = 12}));
    scene_free(&scene);
}

static const struct pyro_finding *with_watermark(struct scene *scene, int64_t dropped, bool stands)
{
    *scene = scene_new(2, 2);
    for (int i = 0; i < 10; i++) {
        struct pyro_stream_batch *batch = add_batch(scene, i * 10000, 2000, 1000);
        batch->event_time_max_ms = batch->time_ms;
        batch->watermark_ms = stands ? SCENE_START - 5000 : batch->time_ms - 5000;
        batch->state_rows = 100;
        batch->state_rows_updated = 1000;
        batch->dropped_rows = dropped;
    }
    return judge(scene, "watermark-lag");
}

static void test_watermark_lag(void **state)
{
    (void)state;
    struct scene scene;
    const struct pyro_finding *finding = with_watermark(&scene, 50, false);
    assert_non_null(finding);
    assert_int_equal(finding->severity, PYRO_SEVERITY_MODERATE);
    assert_true(finding->evidence[0].value == 500);
    scene_free(&scene);
    finding = with_watermark(&scene, 500, false);
    assert_non_null(finding);
    assert_int_equal(finding->severity, PYRO_SEVERITY_SEVERE);
    scene_free(&scene);
    assert_null(with_watermark(&scene, 1, false));
    scene_free(&scene);
    finding = with_watermark(&scene, 0, true);
    assert_non_null(finding);
    assert_string_equal(finding->evidence[0].metric, "still_batches");
    assert_string_equal(scene_setting(finding, "spark.sql.streaming.multipleWatermarkPolicy"), "max");
    scene_free(&scene);
}

static void test_no_stream_does_not_apply(void **state)
{
    (void)state;
    struct scene scene = scene_new(2, 2);
    scene_end(&scene);
    assert_int_equal(scene_verdict(&scene, "batch-overrun"), PYRO_VERDICT_NOT_APPLICABLE);
    assert_int_equal(scene_verdict(&scene, "state-growth"), PYRO_VERDICT_NOT_APPLICABLE);
    assert_int_equal(scene_verdict(&scene, "watermark-lag"), PYRO_VERDICT_NOT_APPLICABLE);
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches_over_their_trigger),
        cmocka_unit_test(test_busy_streams),
        cmocka_unit_test(test_state_growth),
        cmocka_unit_test(test_watermark_lag),
        cmocka_unit_test(test_no_stream_does_not_apply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
