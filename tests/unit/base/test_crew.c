#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/threads/crew.h"

enum { PIECES = 1000 };

struct job {
    atomic_int done[PIECES];
    atomic_int most_worker;
    size_t fails; /* this piece */
};

static enum pyro_status do_piece(void *context, unsigned worker, size_t index, const struct pyro_stop *stop,
                                 struct pyro_error *error)
{
    struct job *job = context;
    (void)stop;
    atomic_fetch_add(&job->done[index], 1);
    if ((int)worker > atomic_load(&job->most_worker))
        atomic_store(&job->most_worker, (int)worker);
    return index == job->fails ? pyro_error_set(error, PYRO_ERROR_INPUT, "piece %zu", index) : PYRO_OK;
}

static void test_every_piece_is_done_once(void **state)
{
    (void)state;
    for (unsigned threads = 0; threads <= PYRO_CREW_MOST + 1; threads++) {
        struct job job = {.fails = SIZE_MAX};
        const struct pyro_crew_work work = {.count = PIECES, .work = do_piece, .context = &job};
        assert_int_equal(pyro_crew_run(threads, &work, NULL), PYRO_OK);
        for (size_t i = 0; i < PIECES; i++)
            assert_int_equal(job.done[i], 1);
        assert_true(job.most_worker < (int)(threads ? threads : 1) && job.most_worker < PYRO_CREW_MOST);
    }
}

static void test_a_failure_ends_it(void **state)
{
    (void)state;
    struct job job = {.fails = 10};
    const struct pyro_crew_work work = {.count = PIECES, .work = do_piece, .context = &job};
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_crew_run(1, &work, &error), PYRO_ERROR_INPUT);
    assert_string_equal(error.message, "piece 10");
    assert_int_equal(job.done[10], 1);
    assert_int_equal(job.done[11], 0);
    pyro_error_clear(&error);
    assert_int_equal(pyro_crew_run(4, &work, &error), PYRO_ERROR_INPUT);
    assert_string_equal(error.message, "piece 10");
}

/* The first piece waits until the second one failed, and ends because of that. */
static enum pyro_status wait_or_fail(void *context, unsigned worker, size_t index, const struct pyro_stop *stop,
                                     struct pyro_error *error)
{
    atomic_bool *waits = context;
    (void)worker;
    if (index == 1) {
        while (!atomic_load(waits))
            continue;
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory");
    }
    atomic_store(waits, true);
    while (!pyro_stop_is_asked(stop))
        continue;
    return pyro_error_set(error, PYRO_ERROR_CANCELLED, "stopped");
}

static void test_the_piece_that_failed_is_the_reason(void **state)
{
    (void)state;
    atomic_bool waits = false;
    struct pyro_error error = {.size = sizeof(error)};
    const struct pyro_crew_work work = {.count = 2, .work = wait_or_fail, .context = &waits};
    assert_int_equal(pyro_crew_run(2, &work, &error), PYRO_ERROR_MEMORY);
    assert_string_equal(error.message, "no memory");
}

static bool after_five(void *context)
{
    return ++*(int *)context > 5;
}

static void test_the_caller_stops_it(void **state)
{
    (void)state;
    int asked = 0;
    struct job job = {.fails = SIZE_MAX};
    const struct pyro_stop stop = {after_five, &asked};
    const struct pyro_crew_work work = {.count = PIECES, .work = do_piece, .context = &job, .stop = &stop};
    assert_int_equal(pyro_crew_run(1, &work, NULL), PYRO_ERROR_CANCELLED);
    assert_int_equal(job.done[4], 1);
    assert_int_equal(job.done[5], 0);
    assert_int_equal(asked, 6);
}

static void test_nothing_to_do(void **state)
{
    (void)state;
    const struct pyro_crew_work work = {.count = 0, .work = do_piece};
    assert_int_equal(pyro_crew_run(4, &work, NULL), PYRO_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_piece_is_done_once),
        cmocka_unit_test(test_a_failure_ends_it),
        cmocka_unit_test(test_the_piece_that_failed_is_the_reason),
        cmocka_unit_test(test_the_caller_stops_it),
        cmocka_unit_test(test_nothing_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
