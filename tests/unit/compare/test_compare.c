#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "compare/comparing.h"
#include "fixture.h"

/* ---- Splitting the change of one stage ---- */

static struct pyro_stage_side side(double wall, double slots, double data, double cpu, double gc)
{
    struct pyro_stage_side ret = {.wall_ms = wall, .slots = slots, .data = data, .task_ms = cpu + gc};
    ret.parts[PYRO_CAUSE_CPU] = cpu;
    ret.parts[PYRO_CAUSE_GC] = gc;
    return ret;
}

static void split(struct pyro_stage_side before, struct pyro_stage_side after, int64_t *causes)
{
    int64_t total = (int64_t)(after.wall_ms - before.wall_ms), sum = 0;
    for (int i = 0; i < PYRO_CAUSES; i++)
        causes[i] = 0;
    pyro_compare_split(&before, &after, total, causes);
    for (int i = 0; i < PYRO_CAUSES; i++)
        sum += causes[i];
    assert_int_equal(sum, total);
}

/* That cause has everything, except what rounding to whole milliseconds moves. */
static void only(const int64_t *causes, int cause, int64_t ms)
{
    for (int i = 0; i < PYRO_CAUSES; i++)
        if (llabs(causes[i] - (i == cause ? ms : 0)) > 1)
            fail_msg("%s: %lld", pyro_cause_names[i], (long long)causes[i]);
}

static void test_one_factor_alone(void **state)
{
    (void)state;
    int64_t causes[PYRO_CAUSES];
    split(side(1000, 4, 50, 4000, 0), side(2000, 4, 100, 8000, 0), causes);
    only(causes, PYRO_CAUSE_DATA, 1000);
    split(side(1000, 4, 50, 4000, 0), side(2000, 2, 50, 4000, 0), causes);
    only(causes, PYRO_CAUSE_SLOTS, 1000);
    split(side(2000, 4, 50, 4000, 0), side(1000, 8, 50, 4000, 0), causes);
    only(causes, PYRO_CAUSE_SLOTS, -1000);
    split(side(1000, 4, 50, 4000, 0), side(3000, 4, 50, 4000, 0), causes);
    only(causes, PYRO_CAUSE_FILL, 2000);
    split(side(1000, 4, 50, 4000, 0), side(1500, 4, 50, 4000, 2000), causes);
    only(causes, PYRO_CAUSE_GC, 500);
    split(side(1000, 4, 50, 4000, 0), side(1500, 4, 50, 6000, 0), causes);
    only(causes, PYRO_CAUSE_CPU, 500);
}

static void test_parts_of_the_task_time(void **state)
{
    (void)state;
    static const int parts[] = {PYRO_CAUSE_SPILL, PYRO_CAUSE_FETCH_WAIT, PYRO_CAUSE_SHUFFLE_WRITE, PYRO_CAUSE_OFF_CPU,
                                PYRO_CAUSE_TASK_OVERHEAD};
    int64_t causes[PYRO_CAUSES];
    for (int i = 0; i < 5; i++) {
        struct pyro_stage_side after = side(1500, 4, 50, 4000, 0);
        after.parts[parts[i]] = 2000;
        after.task_ms = 6000;
        split(side(1000, 4, 50, 4000, 0), after, causes);
        only(causes, parts[i], 500);
    }
}

static void test_factors_that_cancel_out(void **state)
{
    (void)state;
    int64_t causes[PYRO_CAUSES];
    split(side(1000, 4, 50, 4000, 0), side(1000, 4, 100, 4000, 0), causes);
    assert_int_equal(causes[PYRO_CAUSE_DATA], -causes[PYRO_CAUSE_CPU]);
    assert_true(causes[PYRO_CAUSE_DATA] > 600 && causes[PYRO_CAUSE_DATA] < 800); /* 1000 ln 2 */
}

static void test_unknown_data_and_slots(void **state)
{
    (void)state;
    int64_t causes[PYRO_CAUSES];
    split(side(1000, 4, 0, 4000, 0), side(1500, 4, 0, 6000, 0), causes);
    only(causes, PYRO_CAUSE_UNEXPLAINED, 500);
    split(side(1000, 4, 0, 4000, 0), side(1500, 4, 0, 4000, 2000), causes);
    only(causes, PYRO_CAUSE_GC, 500);
    split(side(1000, NAN, 50, 4000, 0), side(2000, NAN, 50, 4000, 0), causes);
    only(causes, PYRO_CAUSE_FILL, 1000);
    split(side(0, 4, 50, 0, 0), side(2000, 4, 50, 4000, 0), causes);
    only(causes, PYRO_CAUSE_UNEXPLAINED, 2000);
}

static void test_absurd_numbers_still_add_up(void **state)
{
    (void)state;
    static const double values[] = {1, 3, 7e5, 9e14, 4e18};
    int64_t causes[PYRO_CAUSES];
    for (int i = 0; i < 5 * 5 * 5 * 5; i++)
        split(side(values[i % 5], values[i / 5 % 5], values[i / 25 % 5], values[i / 125], 1),
              side(values[i / 125], values[i % 5], values[i / 5 % 5], values[i / 25 % 5], 5), causes);
}

/* ---- Whole applications ---- */

static struct pyro_diagnosis no_findings(struct pyro_app *app)
{
    return (struct pyro_diagnosis){.app = app};
}

static struct pyro_comparison *compare(struct pyro_app *before, struct pyro_app *after)
{
    static struct pyro_diagnosis diagnoses[2];
    struct pyro_comparison *comparison = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    diagnoses[0] = no_findings(before);
    diagnoses[1] = no_findings(after);
    assert_int_equal(pyro_compare(&diagnoses[0], &diagnoses[1], NULL, &comparison, &error), PYRO_OK);
    int64_t sum = 0;
    for (int i = 0; i < PYRO_CAUSES; i++)
        sum += comparison->causes[i];
    assert_int_equal(sum, comparison->after_ms - comparison->before_ms);
    assert_int_equal(comparison->before_ms, before->numbers.wall_total_ms);
    for (size_t i = 0; i < comparison->stage_count; i++) {
        const struct pyro_compared_stage *row = &comparison->stages[i];
        sum = 0;
        for (int k = 0; k < PYRO_CAUSES; k++)
            sum += row->causes[k];
        assert_int_equal(sum, row->after_ms - row->before_ms);
    }
    return comparison;
}

/* One executor of two cores; stages of two tasks each, one behind the other. */
static struct pyro_app *application(const char *const *sites, const int64_t *ms, size_t stages)
{
    int64_t now = 2000, end = 3000;
    for (size_t i = 0; i < stages; i++)
        end += ms[i];
    struct pyro_app *app = fixture_app(1000, end);
    fixture_executor(app, "1", 2, 2000, PYRO_NONE);
    for (size_t i = 0; i < stages; i++) {
        struct pyro_stage *stage = fixture_stage(app, (int64_t)i, now, now + ms[i]);
        stage->call_site = pyro_slice_from(sites[i]);
        for (int task = 0; task < 2; task++) {
            struct fixture_task row = fixture_task(app, (int64_t)i, "1", now, now + ms[i]);
            row.row[PYRO_TASK_input_bytes] = 1000;
            row.row[PYRO_TASK_input_records] = 10;
            fixture_add(app, &row);
        }
        now += ms[i];
    }
    fixture_analyze(app);
    return app;
}

static void test_the_same_run_twice(void **state)
{
    (void)state;
    static const char *const sites[] = {"count at job.py:3", "save at job.py:9"};
    static const int64_t ms[] = {4000, 2000};
    struct pyro_app *app = application(sites, ms, 2);
    struct pyro_comparison *comparison = compare(app, app);
    for (int i = 0; i < PYRO_CAUSES; i++)
        assert_int_equal(comparison->causes[i], 0);
    assert_int_equal(comparison->matched_stages, 2);
    assert_true(comparison->matched_share == 1);
    assert_false(pyro_comparison_is_unlike(comparison));
    assert_int_equal(comparison->setting_count, 0);
    pyro_comparison_free(comparison);
    pyro_app_release(app);
}

static void test_new_gone_and_moved_stages(void **state)
{
    (void)state;
    static const char *const before_sites[] = {"count at /a/job.py:3", "save at /a/job.py:9", "take at /a/job.py:20"};
    static const char *const after_sites[] = {"count at /a/job.py:3", "save at /b/job.py:12", "show at /a/job.py:30"};
    static const int64_t before_ms[] = {4000, 2000, 500}, after_ms[] = {4000, 2000, 3000};
    struct pyro_app *before = application(before_sites, before_ms, 3), *after = application(after_sites, after_ms, 3);
    struct pyro_comparison *comparison = compare(before, after);
    assert_int_equal(comparison->matched_stages, 2);
    assert_int_equal(comparison->stage_count, 4);
    assert_int_equal(comparison->causes[PYRO_CAUSE_NEW_STAGES], 3000);
    assert_int_equal(comparison->causes[PYRO_CAUSE_GONE_STAGES], -500);
    assert_int_equal(comparison->stages[0].before, -1);
    assert_int_equal(comparison->stages[1].after, -1);
    pyro_comparison_free(comparison);
    pyro_app_release(before);
    pyro_app_release(after);
}

static void test_unlike_applications(void **state)
{
    (void)state;
    static const char *const sites[] = {"count at job.py:3"}, *const others[] = {"save at other.py:1"};
    static const int64_t ms[] = {4000};
    struct pyro_app *before = application(sites, ms, 1), *after = application(others, ms, 1);
    struct pyro_comparison *comparison = compare(before, after);
    assert_true(pyro_comparison_is_unlike(comparison));
    assert_int_equal(comparison->causes[PYRO_CAUSE_NEW_STAGES], 4000);
    assert_int_equal(comparison->causes[PYRO_CAUSE_GONE_STAGES], -4000);
    pyro_comparison_free(comparison);
    pyro_app_release(before);
    pyro_app_release(after);
}

static void test_failed_tasks_are_retries(void **state)
{
    (void)state;
    static const char *const sites[] = {"count at job.py:3"};
    static const int64_t ms[] = {4000};
    struct pyro_app *before = application(sites, ms, 1);
    struct pyro_app *after = fixture_app(1000, 11000);
    fixture_executor(after, "1", 2, 2000, PYRO_NONE);
    fixture_stage(after, 0, 2000, 10000)->call_site = pyro_slice_from(sites[0]);
    for (int task = 0; task < 4; task++) {
        int64_t from = task < 2 ? 2000 : 6000;
        struct fixture_task row = fixture_task(after, 0, "1", from, from + 4000);
        row.row[PYRO_TASK_status] = task < 2 ? PYRO_TASK_FAILED : PYRO_TASK_SUCCESS;
        row.row[PYRO_TASK_input_bytes] = 1000;
        row.row[PYRO_TASK_input_records] = 10;
        fixture_add(after, &row);
    }
    fixture_analyze(after);
    struct pyro_comparison *comparison = compare(before, after);
    assert_int_equal(comparison->causes[PYRO_CAUSE_RETRIES], 4000);
    pyro_comparison_free(comparison);
    pyro_app_release(before);
    pyro_app_release(after);
}

static void test_settings(void **state)
{
    (void)state;
    struct pyro_app *apps[2];
    for (int i = 0; i < 2; i++) {
        apps[i] = fixture_app(1000, 2000);
        apps[i]->application.id = i ? PYRO_SLICE_LITERAL("app-7") : PYRO_SLICE_LITERAL("app-12");
        fixture_property(apps[i], "spark", "spark.app.id", i ? "app-7" : "app-12");
        fixture_property(apps[i], "spark", "spark.x.dir", i ? "/logs/app-7/x" : "/logs/app-12/x");
        fixture_property(apps[i], "spark", "spark.same", "1");
        fixture_property(apps[i], "spark", "spark.sql.shuffle.partitions", i ? "8" : "200");
        fixture_property(apps[i], "spark", i ? "spark.only.after" : "spark.only.before", "x");
        fixture_property(apps[i], "jvm", "Java Version", i ? "17" : "11");
        fixture_property(apps[i], "system", "user.dir", i ? "/a" : "/b");
        fixture_analyze(apps[i]);
    }
    struct pyro_comparison *comparison = compare(apps[0], apps[1]);
    static const char *const keys[] = {"Java version", "spark.only.after", "spark.only.before",
                                       "spark.sql.shuffle.partitions"};
    assert_int_equal(comparison->setting_count, 4);
    for (int i = 0; i < 4; i++)
        assert_true(pyro_slice_is(comparison->settings[i].key, keys[i]));
    assert_null(comparison->settings[1].before.ptr);
    assert_true(pyro_slice_is(comparison->settings[3].after, "8"));
    pyro_comparison_free(comparison);
    pyro_app_release(apps[0]);
    pyro_app_release(apps[1]);
}

static void test_texts_without_what_changes(void **state)
{
    (void)state;
    struct pyro_slice job = PYRO_SLICE_LITERAL("count at job.py:31"), moved = PYRO_SLICE_LITERAL("count at job.py:45");
    struct pyro_slice batch = PYRO_SLICE_LITERAL("batch 17"), next = PYRO_SLICE_LITERAL("Batch 118");
    assert_true(pyro_match_text(batch, true) == pyro_match_text(next, true));
    assert_true(pyro_match_text(job, true) != pyro_match_text(moved, true));
    assert_true(pyro_match_text(job, false) == pyro_match_text(moved, false));
}

static void test_rows_pair_by_key_in_any_order(void **state)
{
    (void)state;
    static const uint64_t before[] = {30, 10, 20, 10, 0, 40}, after[] = {10, 50, 20, 0, 30, 10, 10};
    static const ptrdiff_t mates[] = {4, 0, 2, 5, -1, -1};
    struct pyro_match match;
    assert_true(pyro_match_init(&match, NULL, 6, 7));
    assert_true(pyro_match_by(&match, (const uint64_t *const[2]){before, after}));
    for (ptrdiff_t i = 0; i < 6; i++) {
        assert_int_equal(match.mate[0][i], mates[i]);
        if (mates[i] >= 0)
            assert_int_equal(match.mate[1][mates[i]], i);
    }
    pyro_match_done(&match);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_factor_alone),
        cmocka_unit_test(test_parts_of_the_task_time),
        cmocka_unit_test(test_factors_that_cancel_out),
        cmocka_unit_test(test_unknown_data_and_slots),
        cmocka_unit_test(test_absurd_numbers_still_add_up),
        cmocka_unit_test(test_the_same_run_twice),
        cmocka_unit_test(test_new_gone_and_moved_stages),
        cmocka_unit_test(test_unlike_applications),
        cmocka_unit_test(test_failed_tasks_are_retries),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_texts_without_what_changes),
        cmocka_unit_test(test_rows_pair_by_key_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
