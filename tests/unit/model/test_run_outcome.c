/* What became of an application: each kind of end, and what the last jobs say of it. */
#include "model/outcome/run_outcome.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/numbers/none.h"

static const char *outcome_of(bool ended, bool in_progress, int64_t exit_code, enum pyro_job_end last_job)
{
    const struct pyro_run_end end = {ended, in_progress, exit_code, last_job};
    return pyro_run_outcome_name(pyro_run_outcome(&end));
}

static void test_kinds_of_end(void **state)
{
    (void)state;
    assert_string_equal(outcome_of(true, false, PYRO_NONE, PYRO_JOB_END_SUCCEEDED), "completed");
    assert_string_equal(outcome_of(true, false, PYRO_NONE, PYRO_JOB_END_NONE), "completed");
    assert_string_equal(outcome_of(true, true, 0, PYRO_JOB_END_SUCCEEDED), "completed");
    assert_string_equal(outcome_of(true, false, 0, PYRO_JOB_END_FAILED), "job_failed");
    assert_string_equal(outcome_of(true, false, PYRO_NONE, PYRO_JOB_END_FAILED), "failed");
    assert_string_equal(outcome_of(true, false, 1, PYRO_JOB_END_SUCCEEDED), "failed");
    assert_string_equal(outcome_of(true, false, 1, PYRO_JOB_END_CANCELED), "failed");
    assert_string_equal(outcome_of(true, false, PYRO_NONE, PYRO_JOB_END_CANCELED), "stopped");
    assert_string_equal(outcome_of(true, false, 0, PYRO_JOB_END_CANCELED), "stopped");
    assert_string_equal(outcome_of(false, true, PYRO_NONE, PYRO_JOB_END_FAILED), "running");
    assert_string_equal(outcome_of(false, false, PYRO_NONE, PYRO_JOB_END_FAILED), "truncated");
}

static enum pyro_job_end end_of(const char *message)
{
    return pyro_job_end_of(true, pyro_slice_from(message));
}

static void test_ends_of_jobs(void **state)
{
    (void)state;
    assert_int_equal(pyro_job_end_of(false, PYRO_SLICE_NULL), PYRO_JOB_END_SUCCEEDED);
    assert_int_equal(pyro_job_end_of(true, PYRO_SLICE_NULL), PYRO_JOB_END_FAILED);
    assert_int_equal(end_of("Job 4 cancelled part of cancelled job group 8d"), PYRO_JOB_END_CANCELED);
    assert_int_equal(end_of("[SPARK_JOB_CANCELLED] Job 9 cancelled Query [id = 7] was stopped SQLSTATE: XXKDA"),
                     PYRO_JOB_END_CANCELED);
    assert_int_equal(end_of("Job 7 cancelled because SparkContext was shut down"), PYRO_JOB_END_CANCELED);
    assert_int_equal(end_of("Job 5 cancelled The corresponding broadcast query has failed."), PYRO_JOB_END_FAILED);
    assert_int_equal(end_of("Job aborted due to stage failure: Task 1 failed: IOException: upload was cancelled"),
                     PYRO_JOB_END_FAILED);
}

static void test_jobs_one_after_another(void **state)
{
    (void)state;
    const enum pyro_job_end none = PYRO_JOB_END_NONE, good = PYRO_JOB_END_SUCCEEDED, bad = PYRO_JOB_END_FAILED,
                            canceled = PYRO_JOB_END_CANCELED;
    assert_int_equal(pyro_job_end_join(none, canceled), canceled);
    assert_int_equal(pyro_job_end_join(good, canceled), canceled);
    assert_int_equal(pyro_job_end_join(bad, canceled), bad); /* one query: the others were canceled with it */
    assert_int_equal(pyro_job_end_join(bad, good), good);
    assert_int_equal(pyro_job_end_join(bad, none), bad);
}

static void test_words(void **state)
{
    (void)state;
    for (int i = 0; i < PYRO_RUN_OUTCOMES; i++) {
        enum pyro_run_outcome outcome = (enum pyro_run_outcome)i;
        assert_int_equal(pyro_run_outcome_read(pyro_slice_from(pyro_run_outcome_name(outcome))), i);
        assert_int_equal(pyro_run_outcome_ended(outcome), outcome != PYRO_RUN_RUNNING && outcome != PYRO_RUN_TRUNCATED);
    }
    assert_string_equal(pyro_run_outcome_words(PYRO_RUN_JOB_FAILED), "job failed");
    assert_string_equal(pyro_run_outcome_status(PYRO_RUN_STOPPED), "completed");
    assert_int_equal(pyro_run_outcome_read(PYRO_SLICE_LITERAL("in_progress")), PYRO_RUN_RUNNING);
    assert_int_equal(pyro_run_outcome_read(PYRO_SLICE_LITERAL("done")), PYRO_RUN_OUTCOMES);
    assert_int_equal(pyro_run_outcome_read(PYRO_SLICE_NULL), PYRO_RUN_OUTCOMES);
}

static void test_logs_that_nothing_writes(void **state)
{
    (void)state;
    assert_int_equal(pyro_run_outcome_now(PYRO_RUN_RUNNING, 1000, 2000, 1000), PYRO_RUN_RUNNING);
    assert_int_equal(pyro_run_outcome_now(PYRO_RUN_RUNNING, 1000, 2001, 1000), PYRO_RUN_TRUNCATED);
    assert_int_equal(pyro_run_outcome_now(PYRO_RUN_RUNNING, PYRO_NONE, 2001, 1000), PYRO_RUN_RUNNING);
    assert_int_equal(pyro_run_outcome_now(PYRO_RUN_COMPLETED, 0, 2001, 1000), PYRO_RUN_COMPLETED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_of_end),
        cmocka_unit_test(test_ends_of_jobs),
        cmocka_unit_test(test_jobs_one_after_another),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_logs_that_nothing_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
