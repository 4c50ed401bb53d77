/* Thresholds of batch-overrun, state-growth and watermark-lag: a finding a tenth inside of each, none a tenth outside.
 */
#include "scene.h"

static struct pyro_stream_batch *add_batch(struct scene *scene, int64_t at_ms, int64_t duration_ms, int64_t rows)
{
    struct pyro_stream_batch *batch = pyro_vec_push(&scene->app->streams, scene->app->allocator);
    assert_non_null(batch);
    pyro_row_init(PYRO_TABLE_streams, batch);
    batch->run = PYRO_SLICE_LITERAL("run");
    batch->source = PYRO_SLICE_LITERAL("KafkaV2[Subscribe[orders]]");
    batch->batch = (int64_t)scene->app->streams.count - 1;
    batch->time_ms = SCENE_START + at_ms;
    batch->duration_ms = duration_ms;
    batch->input_rows = rows;
    return batch;
}

/* `count` batches, of which the last `late` take `late_ms`; the others, `ms`. They begin every four seconds, or
 * `pause_ms` after the one before. */
struct batches {
    int count, late;
    int64_t ms, late_ms, pause_ms;
    bool timed;
};

static struct scene batches(struct batches of)
{
    struct scene scene = scene_new(2, 2);
    int64_t at = 0;
    for (int i = 0; i < of.count; i++) {
        int64_t ms = i < of.count - of.late ? of.ms : of.late_ms;
        add_batch(&scene, at, ms, 100 + i);
        at += ms + of.pause_ms;
        if (of.timed)
            at = (at + 3999) / 4000 * 4000;
    }
    scene.now += at;
    return scene;
}

static void test_batch_overrun(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct batches batches;
    } cases[] = {
        /* warm_up_batches 2 and batches_min 4 */
        {"batches_min", true, {6, 0, 7000, 0, 10, false}},
        {"batches_min", false, {5, 0, 7000, 0, 10, false}},
        /* late_share 0.4: 11 and 9 of 25 */
        {"late_share", true, {27, 11, 3000, 4500, 0, true}},
        {"late_share", false, {27, 9, 3000, 4500, 0, true}},
        /* busy_share 0.95: nearly all, and 0.85 */
        {"busy_share", true, {12, 0, 7000, 0, 10, false}},
        {"busy_share", false, {12, 0, 7000, 0, 1235, false}},
        /* long_ms 5000 */
        {"long_ms", true, {12, 0, 5500, 0, 10, false}},
        {"long_ms", false, {12, 0, 4500, 0, 10, false}},
        /* growth 1.5, of batches below long_ms */
        {"growth", true, {12, 4, 2000, 3300, 10, false}},
        {"growth", false, {12, 4, 2000, 2700, 10, false}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = batches(cases[i].batches);
        scene_judge(&scene, "batch-overrun", cases[i].finds, cases[i].threshold);
    }
}

/* State that gets `added` rows in each batch of ten seconds, `slower` in the last five, and loses `removed`; a row
 * takes `row_bytes` hundredths of a byte. */
struct growth {
    int count;
    int64_t added, slower, removed, row_bytes;
};

static struct scene growing(struct growth of)
{
    struct scene scene = scene_new(2, 2);
    int64_t rows = 0;
    for (int i = 0; i < of.count; i++) {
        struct pyro_stream_batch *batch = add_batch(&scene, i * 10000, 2000, 20000);
        rows += (i < of.count - 5 ? of.added : of.slower) - of.removed;
        batch->state_rows = rows;
        batch->state_memory_bytes = rows * of.row_bytes / 100;
        batch->state_rows_updated = of.added;
        batch->state_rows_removed = of.removed;
        batch->state_operators = PYRO_SLICE_LITERAL("stateStoreSave");
    }
    scene.now += 200000;
    return scene;
}

static void test_state_growth(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct growth growth;
    } cases[] = {
        /* batches_min 6, rows_min 1000 */
        {"batches_min", true, {6, 10000, 10000, 0, 20000}},
        {"batches_min", false, {5, 10000, 10000, 0, 20000}},
        {"rows_min", true, {10, 110, 110, 0, 20000}},
        {"rows_min", false, {10, 90, 90, 0, 20000}},
        /* steady 0.5 */
        {"steady", true, {15, 10000, 5500, 0, 20000}},
        {"steady", false, {15, 10000, 4500, 0, 20000}},
        /* removed_share 0.5: nine batches remove what eight leave */
        {"removed_share", true, {15, 10000, 10000, 4300, 20000}},
        {"removed_share", false, {15, 10000, 10000, 5100, 20000}},
        /* heap_share 0.5 of two heaps of 1 GiB, days_max 30: 100 rows a second, of 4.55 and of 3.77 bytes */
        {"days_max", true, {15, 1000, 1000, 0, 455}},
        {"days_max", false, {15, 1000, 1000, 0, 377}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = growing(cases[i].growth);
        scene_judge(&scene, "state-growth", cases[i].finds, cases[i].threshold);
    }
    /* risk_days 2: 1.8 and 2.2 */
    for (int64_t bytes = 5650; bytes <= 6830; bytes += 1180) {
        struct scene scene = growing((struct growth){15, 1000, 1000, 0, bytes});
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "state-growth");
        assert_non_null(finding);
        assert_true((finding->failure_risk >= 0.5) == (bytes == 6830));
        scene_free(&scene);
    }
}

/* Batches of `rows`, of which `dropped` come too late; the watermark stays the same in the last `still`. */
struct late {
    int count, still;
    int64_t rows, dropped, interval_ms;
};

static struct scene late(struct late of)
{
    struct scene scene = scene_new(2, 2);
    for (int i = 0; i < of.count; i++) {
        struct pyro_stream_batch *batch = add_batch(&scene, i * of.interval_ms, 2000, of.rows);
        int moved = i < of.count - of.still ? i : of.count - of.still;
        batch->event_time_max_ms = batch->time_ms;
        batch->watermark_ms = SCENE_START - 5000 + moved * of.interval_ms;
        batch->state_rows = 100;
        batch->state_rows_updated = of.rows;
        batch->dropped_rows = of.dropped;
    }
    scene.now += 200000;
    return scene;
}

static void test_watermark_lag(void **state)
{
    (void)state;
    static const struct {
        const char *threshold;
        bool finds;
        struct late late;
    } cases[] = {
        /* batches_min 4 */
        {"batches_min", true, {4, 1, 1000, 50, 10000}},
        {"batches_min", false, {3, 1, 1000, 50, 10000}},
        /* dropped_share 0.01, dropped_min 20: 22 and 18 */
        {"dropped_share", true, {10, 1, 1000, 11, 10000}},
        {"dropped_share", false, {10, 1, 1000, 9, 10000}},
        {"dropped_min", true, {11, 1, 100, 2, 10000}},
        {"dropped_min", false, {9, 1, 100, 2, 10000}},
        /* still_ms 20000: four intervals; still_batches 4 */
        {"still_ms", true, {8, 5, 1000, 0, 5500}},
        {"still_ms", false, {8, 5, 1000, 0, 4500}},
        {"still_batches", true, {8, 4, 1000, 0, 12000}},
        {"still_batches", false, {8, 3, 1000, 0, 12000}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct scene scene = late(cases[i].late);
        scene_judge(&scene, "watermark-lag", cases[i].finds, cases[i].threshold);
    }
    /* dropped_many 0.1 */
    double harm[2];
    for (int many = 0; many < 2; many++) {
        struct scene scene = late((struct late){10, 1, 1000, many ? 124 : 99, 10000});
        scene_end(&scene);
        const struct pyro_finding *finding = scene_finding(&scene, "watermark-lag");
        assert_non_null(finding);
        harm[many] = finding->harm;
        scene_free(&scene);
    }
    assert_true(harm[1] > harm[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_overrun),
        cmocka_unit_test(test_state_growth),
        cmocka_unit_test(test_watermark_lag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
