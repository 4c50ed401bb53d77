#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/tracks/thread_tasks.h"

enum { THREADS = 4, PER_THREAD = 60, TASKS = THREADS * PER_THREAD, MS = 1000000, SLACK = 5 * MS };

static uint64_t state;

static int64_t below(int64_t most)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((state >> 33) % (uint64_t)most);
}

struct truth {
    struct pyro_thread_task task;
    int32_t thread;
};

struct sight {
    int64_t time_ns;
    int32_t thread;
};

static int by_start(const void *a, const void *b)
{
    const struct truth *x = a, *y = b;
    return x->task.start_ns != y->task.start_ns ? (x->task.start_ns < y->task.start_ns ? -1 : 1)
                                                : (x->thread > y->thread) - (x->thread < y->thread);
}

static int by_time(const void *a, const void *b)
{
    const struct sight *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* An executor of `threads` slots, whose threads are seen every 10 ms while they run a task, by a clock that is up to
 * SLACK off. Returns how many tasks got a thread; each must be the right one. */
static size_t simulate(uint64_t seed, int threads)
{
    struct truth truths[TASKS];
    struct pyro_thread_task tasks[TASKS];
    struct pyro_arena arena;
    struct pyro_thread_tasks matching;
    size_t count = (size_t)threads * PER_THREAD, sights = 0, matched = 0;
    struct sight *seen = calloc(400000, sizeof(*seen));
    assert_non_null(seen);
    state = seed;
    int64_t skew = below(2 * SLACK) - SLACK;
    for (int t = 0; t < threads; t++) {
        int64_t now = 1000 * (int64_t)MS;
        for (int i = 0; i < PER_THREAD; i++) {
            int64_t start = now + below(20 * MS), end = start + (1 + below(300)) * MS;
            truths[t * PER_THREAD + i] = (struct truth){{start, end, -1}, 100 + t};
            for (int64_t at = start; at < end; at += 10 * MS)
                if (below(10) > 0)
                    seen[sights++] = (struct sight){at + skew, 100 + t};
            now = end;
        }
    }
    qsort(truths, count, sizeof(*truths), by_start);
    qsort(seen, sights, sizeof(*seen), by_time);
    for (size_t i = 0; i < count; i++)
        tasks[i] = truths[i].task;
    pyro_arena_init(&arena, NULL);
    assert_true(pyro_thread_tasks_begin(&matching, tasks, count, SLACK, &arena));
    for (size_t i = 0; i < sights; i++)
        assert_true(pyro_thread_tasks_saw(&matching, seen[i].thread, seen[i].time_ns));
    assert_true(pyro_thread_tasks_match(&matching));
    for (size_t i = 0; i < count; i++) {
        matched += tasks[i].thread >= 0;
        assert_true(tasks[i].thread < 0 || tasks[i].thread == truths[i].thread);
    }
    pyro_thread_tasks_done(&matching);
    pyro_arena_done(&arena);
    free(seen);
    return matched;
}

static void test_no_task_gets_a_wrong_thread(void **unused)
{
    size_t found = 0;
    (void)unused;
    for (uint64_t seed = 1; seed <= 60; seed++)
        found += simulate(seed, 1 + (int)(seed % THREADS));
    assert_true(found > 1000);
}

static void test_one_slot_says_it_all(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 20; seed++)
        assert_true(simulate(seed, 1) >= PER_THREAD * 9 / 10);
}

static void test_what_one_thread_has_the_other_cannot_have(void **unused)
{
    /* Only the long task runs at 150 ms; so the other thread has the short one. */
    struct pyro_thread_task tasks[] = {{0, 100 * MS, -1}, {0, 200 * MS, -1}};
    struct pyro_thread_task equal[] = {{0, 100 * MS, -1}, {0, 100 * MS, -1}};
    struct pyro_arena arena;
    struct pyro_thread_tasks matching;
    (void)unused;
    pyro_arena_init(&arena, NULL);
    assert_true(pyro_thread_tasks_begin(&matching, tasks, 2, 0, &arena));
    assert_true(pyro_thread_tasks_saw(&matching, 7, 50 * MS) && pyro_thread_tasks_saw(&matching, 8, 60 * MS) &&
                pyro_thread_tasks_saw(&matching, 8, 150 * MS) && pyro_thread_tasks_saw(&matching, 9, 900 * MS));
    assert_true(pyro_thread_tasks_match(&matching));
    assert_int_equal(tasks[0].thread, 7);
    assert_int_equal(tasks[1].thread, 8);
    pyro_thread_tasks_done(&matching);
    assert_true(pyro_thread_tasks_begin(&matching, equal, 2, 0, &arena));
    assert_true(pyro_thread_tasks_saw(&matching, 7, 50 * MS) && pyro_thread_tasks_saw(&matching, 8, 60 * MS));
    assert_true(pyro_thread_tasks_match(&matching));
    assert_int_equal(equal[0].thread, -1);
    assert_int_equal(equal[1].thread, -1);
    pyro_thread_tasks_done(&matching);
    pyro_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_task_gets_a_wrong_thread),
        cmocka_unit_test(test_one_slot_says_it_all),
        cmocka_unit_test(test_what_one_thread_has_the_other_cannot_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
