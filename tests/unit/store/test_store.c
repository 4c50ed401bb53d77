/* Stores: what is kept of a run, verdicts, and what they do to a later diagnosis. */
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include <math.h>

#include "advice/advice.h"
#include "fixture.h"
#include "store/store.h"

static char folder[] = "/tmp/pyrometer-store-XXXXXX";
static char url[128];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(url, sizeof(url), "sqlite:%s/runs.db", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(url + 7);
    return rmdir(folder);
}

/* An application of one stage whose last task takes twenty times as long as the others, with as much data. */
static struct pyro_diagnosis *diagnose(void)
{
    struct pyro_app *app = fixture_app(0, 100000);
    struct pyro_diagnosis *diagnosis = NULL;
    app->application.name = PYRO_SLICE_LITERAL("nightly");
    app->application.id = PYRO_SLICE_LITERAL("app-1");
    fixture_executor(app, "1", 4, 0, PYRO_NONE);
    static const int64_t stages[] = {0, 1};
    fixture_job(app, 0, 1000, 60000, stages, 2);
    fixture_stage(app, 0, 1000, 3000);
    fixture_stage(app, 1, 3000, 60000);
    for (int i = 0; i < 4; i++)
        fixture_run(app, 0, "1", 1000, 3000);
    for (int i = 0; i < 39; i++)
        fixture_run(app, 1, "1", 3000 + i / 4 * 2000, 5000 + i / 4 * 2000);
    fixture_run(app, 1, "1", 21000, 60000);
    fixture_analyze(app);
    assert_int_equal(pyro_diagnosis_new(app, &(struct pyro_judging){.threads = 1}, &diagnosis, NULL), PYRO_OK);
    pyro_app_release(app);
    assert_true(diagnosis->finding_count > 0);
    return diagnosis;
}

static pyro_store *open_store(void)
{
    pyro_store *store = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    if (pyro_store_open(url, NULL, NULL, &store, &error) != PYRO_OK)
        fail_msg("%s", error.message);
    return store;
}

static const struct pyro_finding *slow_task(const struct pyro_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        if (strcmp(diagnosis->findings[i].rule->id, "straggler") == 0)
            return &diagnosis->findings[i];
    fail_msg("no straggler");
    return NULL;
}

static int count_runs(void *context, const struct pyro_past_run *run)
{
    (void)run;
    ++*(int *)context;
    return 0;
}

/* Wherever SQLite's memory ends, a run is kept whole or not at all, and the next write is as if nothing had been. */
static void test_a_write_without_memory_keeps_nothing(void **state)
{
    (void)state;
    struct pyro_diagnosis *diagnosis = diagnose();
    struct pyro_error error = {.size = sizeof(error)};
    bool kept = false, failed = false;
    unlink(url + 7);
    pyro_store *store = open_store();
    for (sqlite3_int64 more = 1024; !kept; more += 16 << 10) {
        int runs = 0;
        sqlite3_hard_heap_limit64(sqlite3_memory_used() + more);
        enum pyro_status status = pyro_store_record(store, diagnosis, NULL, &error);
        sqlite3_hard_heap_limit64(0);
        kept = status == PYRO_OK;
        failed |= !kept;
        assert_true(kept || status == PYRO_ERROR_OUTPUT || status == PYRO_ERROR_MEMORY);
        assert_true(kept || error.message[0] != '\0');
        assert_int_equal(pyro_store_each_run(store, count_runs, &runs, &error), PYRO_OK);
        assert_int_equal(runs, kept ? 1 : 0);
    }
    assert_true(failed);
    pyro_store_close(store);
    unlink(url + 7);
    pyro_diagnosis_free(diagnosis);
}

static void test_calibration(void **state)
{
    (void)state;
    struct pyro_votes none = {0}, right = {.right_here = 8}, wrong = {.wrong_elsewhere = 4},
                      both = {.right_here = 1, .wrong_elsewhere = 4};
    assert_true(fabs(pyro_calibrated(0.8, &none) - 0.8) < 1e-12);
    assert_true(fabs(pyro_calibrated(0.8, &right) - (1.6 + 8) / 10) < 1e-12);
    assert_true(fabs(pyro_calibrated(0.8, &wrong) - 0.4) < 1e-12);
    assert_true(fabs(pyro_calibrated(0.8, &both) - (0.8 + 1) / 3) < 1e-12);
}

static void judge(pyro_store *store, enum pyro_feedback_verdict verdict, const char *finding, enum pyro_status expected)
{
    struct pyro_feedback feedback = {.size = sizeof(feedback), .verdict = verdict, .finding = finding, .note = "known"};
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_store_add_feedback(store, &feedback, &error), expected);
}

static int count_verdicts(void *context, const struct pyro_feedback *feedback)
{
    int *counts = context;
    counts[feedback->verdict]++;
    return 0;
}

static void test_feedback_returns(void **state)
{
    (void)state;
    struct pyro_diagnosis *first = diagnose();
    char id[256];
    snprintf(id, sizeof(id), "%s", slow_task(first)->id.ptr);
    double confidence = slow_task(first)->confidence;
    pyro_store *store = open_store();
    judge(store, PYRO_FEEDBACK_CONFIRMED, id, PYRO_ERROR_ARGUMENT); /* no run is recorded yet */
    assert_int_equal(pyro_store_record(store, first, "good", NULL), PYRO_OK);
    assert_int_equal(pyro_store_record(store, first, NULL, NULL), PYRO_OK);
    judge(store, PYRO_FEEDBACK_CONFIRMED, id, PYRO_OK);
    judge(store, PYRO_FEEDBACK_FALSE_POSITIVE, id, PYRO_OK); /* replaces it */
    struct pyro_feedback missed = {
        .size = sizeof(missed), .verdict = PYRO_FEEDBACK_MISSED, .application = "nightly", .rule = "disk-spill"};
    assert_int_equal(pyro_store_add_feedback(store, &missed, NULL), PYRO_OK);
    pyro_store_close(store);
    pyro_diagnosis_free(first);

    store = open_store();
    int counts[4] = {0};
    assert_int_equal(pyro_store_each_feedback(store, count_verdicts, counts, NULL), PYRO_OK);
    assert_int_equal(counts[PYRO_FEEDBACK_CONFIRMED], 0);
    assert_int_equal(counts[PYRO_FEEDBACK_FALSE_POSITIVE], 1);
    assert_int_equal(counts[PYRO_FEEDBACK_MISSED], 1);
    struct pyro_diagnosis *second = diagnose();
    assert_int_equal(pyro_store_apply_feedback(store, second, NULL), PYRO_OK);
    const struct pyro_finding *finding = slow_task(second);
    assert_true(finding->folded);
    assert_string_equal(finding->note.ptr, "known");
    double integrity = second->app->integrity.confidence, prior = confidence / integrity;
    assert_true(fabs(finding->confidence - integrity * 2 * prior / 3) < 1e-9);
    struct pyro_baseline baseline = {.size = sizeof(baseline)};
    assert_int_equal(pyro_store_baseline(store, "good", &baseline, NULL), PYRO_OK);
    assert_string_equal(baseline.application, "app-1");
    assert_non_null(strstr(baseline.report, "\"pyrometer.report/1\""));
    assert_int_equal(pyro_store_baseline(store, "none", &baseline, NULL), PYRO_OK);
    assert_null(baseline.report);
    pyro_store_close(store);
    pyro_diagnosis_free(second);
}

static void test_refuses(void **state)
{
    (void)state;
    char other[160];
    pyro_store *store = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_store_open("opensearch:http://localhost", NULL, NULL, &store, &error), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_store_open("sqlite:", NULL, NULL, &store, &error), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_store_open("sqlite:/nonexistent/folder/x.db", NULL, NULL, &store, &error), PYRO_ERROR_INPUT);
    snprintf(other, sizeof(other), "%s/text", folder);
    FILE *file = fopen(other, "w");
    fputs("this is not a database, but it is long enough to be looked at as one", file);
    fclose(file);
    snprintf(other, sizeof(other), "sqlite:%s/text", folder);
    assert_int_equal(pyro_store_open(other, NULL, NULL, &store, &error), PYRO_ERROR_INPUT);
    unlink(other + 7);
    assert_null(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_write_without_memory_keeps_nothing),
        cmocka_unit_test(test_calibration),
        cmocka_unit_test(test_feedback_returns),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
