#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/threads/crew.h"

enum { PIECES = 1000 };

struct job {
    atomic_int done[PIECES];
    atomic_int most_worker;
    size_t fails; /* this piece */
};

static bool do_piece(void *context, unsigned worker, size_t index, const struct pyro_stop *stop)
{
    struct job *job = context;
    (void)stop;
    atomic_fetch_add(&job->done[index], 1);
    if ((int)worker > atomic_load(&job->most_worker))
        atomic_store(&job->most_worker, (int)worker);
    return index != job->fails;
}

static void test_every_piece_is_done_once(void **state)
{
    (void)state;
    for (unsigned threads = 0; threads <= PYRO_CREW_MOST + 1; threads++) {
        struct job job = {.fails = SIZE_MAX};
        const struct pyro_crew_work work = {.count = PIECES, .work = do_piece, .context = &job};
        assert_true(pyro_crew_run(threads, &work));
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
    assert_false(pyro_crew_run(1, &work));
    assert_int_equal(job.done[10], 1);
    assert_int_equal(job.done[11], 0);
    assert_false(pyro_crew_run(4, &work));
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
    assert_false(pyro_crew_run(1, &work));
    assert_int_equal(job.done[4], 1);
    assert_int_equal(job.done[5], 0);
    assert_int_equal(asked, 6);
}

static void test_nothing_to_do(void **state)
{
    (void)state;
    const struct pyro_crew_work work = {.count = 0, .work = do_piece};
    assert_true(pyro_crew_run(4, &work));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_piece_is_done_once),
        cmocka_unit_test(test_a_failure_ends_it),
        cmocka_unit_test(test_the_caller_stops_it),
        cmocka_unit_test(test_nothing_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
