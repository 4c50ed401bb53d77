/* The accounts of tasks: windows of a thread, what waits came down to, and what has no room. */
#include <stdio.h>

#include "trace_kit.h"

static void begin(struct trace *trace)
{
    trace_new(trace);
    trace_task(trace, 1, 0, INT64_MAX);
    trace_start(trace);
    trace_switch(trace, 0, IDLE, RUNS, TASK, 0);
}

/* ---- Windows ----------------------------------------------------------------------------------------------------- */

static void test_states_are_cut_at_borders_of_tasks(void **unused)
{
    struct trace trace;
    (void)unused;
    trace_new(&trace);
    trace_task(&trace, 1, 100, 200);
    trace_task(&trace, 2, 200, 300);
    trace_task(&trace, 3, 350, INT64_MAX); /* its end was never said */
    trace_start(&trace);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 50);
    trace_switch(&trace, 0, TASK, SLEEPS, IDLE, 250);
    trace_wake(&trace, 0, TASK, 0, 400);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 410);
    trace_end(&trace, 500);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_USER, PYRO_KERNEL_USER, "", ""), 100);
    assert_int_equal(trace_whole(&trace, 1), 100);
    assert_int_equal(trace_account(&trace, 2, PYRO_KERNEL_USER, PYRO_KERNEL_USER, "", ""), 50);
    assert_int_equal(trace_account(&trace, 2, PYRO_KERNEL_WAITING, PYRO_KERNEL_WAITING, "", ""), 50);
    assert_int_equal(trace_whole(&trace, 2), 100);
    assert_int_equal(trace_account(&trace, 3, PYRO_KERNEL_WAITING, PYRO_KERNEL_WAITING, "", ""), 50);
    assert_int_equal(trace_account(&trace, 3, PYRO_KERNEL_USER, PYRO_KERNEL_USER, "", ""), 90);
    assert_int_equal(trace_whole(&trace, 3), 150);
    /* The same by time. */
    int64_t states = 0;
    for (size_t i = 0; i < pyro_tracks_count(trace.tracks, PYRO_TRACK_TASK_STATES); i++)
        states += pyro_tracks_task_state(trace.tracks, i).duration_ns;
    assert_int_equal(states, 100 + 100 + 150);
    trace_done(&trace);
}

/* The reason of a wait is known when its call returns: after what followed it. */
static void test_a_wait_across_a_border(void **unused)
{
    struct trace trace;
    (void)unused;
    trace_new(&trace);
    trace_task(&trace, 1, 0, 200);
    trace_task(&trace, 2, 200, 400);
    trace_start(&trace);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 0);
    trace_enter(&trace, TASK, "futex", 0, 140);
    trace_switch(&trace, 0, TASK, SLEEPS, STRESS, 150);
    trace_wake(&trace, 0, TASK, 0, 250);
    trace_switch(&trace, 0, STRESS, RUNS, TASK, 260);
    trace_leave(&trace, TASK, 0, 270);
    trace_end(&trace, 400);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_FUTEX, PYRO_KERNEL_FUTEX, "futex", ""), 50);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_UNKNOWN, PYRO_KERNEL_UNKNOWN, NULL, NULL), 0);
    assert_int_equal(trace_account(&trace, 2, PYRO_KERNEL_FUTEX, PYRO_KERNEL_FUTEX, "futex", ""), 50);
    assert_int_equal(trace_account(&trace, 2, PYRO_KERNEL_RUNNABLE, PYRO_KERNEL_RUNNABLE, "", "stress (99)"), 10);
    assert_int_equal(trace_account(&trace, 2, PYRO_KERNEL_SYSTEM, PYRO_KERNEL_SYSTEM, "futex", ""), 10);
    assert_int_equal(trace_account(&trace, 2, PYRO_KERNEL_USER, PYRO_KERNEL_USER, "", ""), 130);
    assert_int_equal(trace_whole(&trace, 1), 200);
    assert_int_equal(trace_whole(&trace, 2), 200);
    trace_done(&trace);
}

/* What of a task lies outside of the trace is unknown. */
static void test_a_task_that_began_before_the_trace(void **unused)
{
    struct trace trace;
    (void)unused;
    trace_new(&trace);
    trace_task(&trace, 1, -500, 100);
    trace_task(&trace, 2, 100, 1000);
    trace_task(&trace, 3, 2000, 3000);
    trace_start(&trace);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 0);
    trace_end(&trace, 400);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_UNKNOWN, PYRO_KERNEL_UNKNOWN, "", ""), 500);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_USER, PYRO_KERNEL_USER, "", ""), 100);
    assert_int_equal(trace_account(&trace, 2, PYRO_KERNEL_UNKNOWN, PYRO_KERNEL_UNKNOWN, "", ""), 600);
    assert_int_equal(trace_account(&trace, 2, PYRO_KERNEL_USER, PYRO_KERNEL_USER, "", ""), 300);
    assert_int_equal(trace_whole(&trace, 3), 0);
    trace_done(&trace);
}

/* Only the task that ran then. */
static void test_losses_tear_the_tasks_that_they_meet(void **unused)
{
    struct trace trace;
    (void)unused;
    trace_new(&trace);
    trace_task(&trace, 1, 0, 100);
    trace_task(&trace, 2, 100, 200);
    trace_task(&trace, 3, 200, 300);
    trace_start(&trace);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 0);
    trace_enter(&trace, TASK, "getpid", 0, 130);
    trace_at(&trace, 150);
    pyro_kernel_lost(&trace.kernel, trace.host, trace.kernel.first_ns + 120, trace.kernel.first_ns + 160);
    trace_switch(&trace, 0, TASK, PREEMPTED, STRESS, 170);
    trace_switch(&trace, 0, STRESS, RUNS, TASK, 210);
    trace_end(&trace, 300);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_USER, PYRO_KERNEL_USER, "", ""), 100);
    assert_int_equal(trace_account(&trace, 2, PYRO_KERNEL_UNKNOWN, PYRO_KERNEL_UNKNOWN, "", ""), 100);
    assert_int_equal(trace_whole(&trace, 2), 100);
    assert_int_equal(trace_account(&trace, 3, PYRO_KERNEL_RUNNABLE, PYRO_KERNEL_RUNNABLE, "", "stress (99)"), 10);
    assert_int_equal(trace_account(&trace, 3, PYRO_KERNEL_USER, PYRO_KERNEL_USER, "", ""), 90);
    trace_done(&trace);
}

/* ---- What a wait came down to ------------------------------------------------------------------------------------ */

/* The helper's code and its call are one span of 400, of which the call has 100. */
static void test_a_lock_that_a_running_thread_held(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_switch(&trace, 1, IDLE, RUNS, HELPER, 0);
    trace_enter(&trace, TASK, "futex", 0, 100);
    trace_switch(&trace, 0, TASK, SLEEPS, IDLE, 110);
    trace_enter(&trace, HELPER, "futex", 0, 300);
    trace_wake(&trace, 1, TASK, 0, 310);
    trace_leave(&trace, HELPER, 1, 400);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 420);
    trace_leave(&trace, TASK, 0, 430);
    trace_end(&trace, 500);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_FUTEX, PYRO_KERNEL_USER, "", "Helper"), 150);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_FUTEX, PYRO_KERNEL_SYSTEM, "", "Helper"), 50);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_RUNNABLE, PYRO_KERNEL_RUNNABLE, "", ""), 110);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_SYSTEM, PYRO_KERNEL_SYSTEM, "futex", ""), 20);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_USER, PYRO_KERNEL_USER, "", ""), 170);
    assert_int_equal(trace_whole(&trace, 1), 500);
    trace_done(&trace);
}

/* A processor wakes threads of an idle one by an interrupt there. */
static void test_woken_on_another_processor(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_switch(&trace, 1, IDLE, RUNS, HELPER, 0);
    trace_enter(&trace, TASK, "futex", 0, 100);
    trace_switch(&trace, 0, TASK, SLEEPS, IDLE, 100);
    trace_enter(&trace, HELPER, "futex", 0, 300);
    trace_waking(&trace, 1, TASK, 300);
    trace_leave(&trace, HELPER, 1, 300);
    trace_wake(&trace, 0, TASK, 0, 310);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 310);
    trace_leave(&trace, TASK, 0, 310);
    trace_switch(&trace, 0, TASK, SLEEPS, IDLE, 400);
    trace_wake(&trace, 0, TASK, 0, 450); /* who woke it before says nothing here */
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 450);
    trace_end(&trace, 500);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_FUTEX, PYRO_KERNEL_USER, "", "Helper"), 210);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_WAITING, PYRO_KERNEL_WAITING, "", ""), 50);
    trace_done(&trace);
}

/* The helper never ran code of its own: half of its time in the kernel, half without a processor. */
static void test_parts_of_one_span(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_switch(&trace, 1, IDLE, RUNS, HELPER, 0);
    trace_enter(&trace, HELPER, "write", 1, 0);
    trace_enter(&trace, TASK, "futex", 0, 0);
    trace_switch(&trace, 0, TASK, SLEEPS, IDLE, 0);
    trace_switch(&trace, 1, HELPER, PREEMPTED, STRESS, 100);
    trace_switch(&trace, 1, STRESS, RUNS, HELPER, 200);
    trace_wake(&trace, 1, TASK, 0, 200);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 200);
    trace_leave(&trace, TASK, 0, 200);
    trace_end(&trace, 300);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_FUTEX, PYRO_KERNEL_SYSTEM, "", "Helper"), 100);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_FUTEX, PYRO_KERNEL_RUNNABLE, "", "stress (99)"), 100);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_FUTEX, PYRO_KERNEL_USER, NULL, NULL), 0);
    trace_done(&trace);
}

/* The task waits for the helper, which waits for the collector, which waits for a disk that another process keeps busy.
 */
static void test_a_chain_of_two_wakers(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_switch(&trace, 1, IDLE, RUNS, HELPER, 0);
    trace_switch(&trace, 2, IDLE, RUNS, COLLECTOR, 0);
    trace_enter(&trace, TASK, "futex", 0, 100);
    trace_switch(&trace, 0, TASK, SLEEPS, IDLE, 100);
    trace_enter(&trace, HELPER, "futex", 0, 100);
    trace_switch(&trace, 1, HELPER, SLEEPS, IDLE, 100);
    trace_enter(&trace, COLLECTOR, "fsync", 4, 100);
    trace_issue(&trace, DISK_B, 8, STRESS, 100);
    trace_switch(&trace, 2, COLLECTOR, DEEP, IDLE, 100);
    trace_complete(&trace, 2, DISK_B, 8, 600);
    trace_wake(&trace, 2, COLLECTOR, 2, 600);
    trace_switch(&trace, 2, IDLE, RUNS, COLLECTOR, 600);
    trace_leave(&trace, COLLECTOR, 0, 600);
    trace_enter(&trace, COLLECTOR, "futex", 0, 700);
    trace_wake(&trace, 2, HELPER, 1, 700);
    trace_leave(&trace, COLLECTOR, 1, 700);
    trace_switch(&trace, 1, IDLE, RUNS, HELPER, 700);
    trace_leave(&trace, HELPER, 0, 700);
    trace_enter(&trace, HELPER, "futex", 0, 750);
    trace_wake(&trace, 1, TASK, 0, 750);
    trace_leave(&trace, HELPER, 1, 750);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 750);
    trace_leave(&trace, TASK, 0, 750);
    trace_end(&trace, 1000);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_FUTEX, PYRO_KERNEL_DISK, "253:1", "stress (99)"), 500);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_FUTEX, PYRO_KERNEL_USER, "", "GC Thread#0"), 100);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_FUTEX, PYRO_KERNEL_USER, "", "Helper"), 50);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_USER, PYRO_KERNEL_USER, "", ""), 350);
    assert_int_equal(trace_whole(&trace, 1), 1000);
    trace_done(&trace);
}

/* It waited for a disk and woke the task in one call, which has not returned yet. */
static void test_a_waker_whose_wait_is_still_open(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_switch(&trace, 1, IDLE, RUNS, HELPER, 0);
    trace_enter(&trace, TASK, "futex", 0, 100);
    trace_switch(&trace, 0, TASK, SLEEPS, IDLE, 100);
    trace_enter(&trace, HELPER, "fsync", 4, 100);
    trace_switch(&trace, 1, HELPER, DEEP, IDLE, 100);
    trace_complete(&trace, 1, DISK_A, 8, 500);
    trace_wake(&trace, 1, HELPER, 1, 500);
    trace_switch(&trace, 1, IDLE, RUNS, HELPER, 500);
    trace_wake(&trace, 1, TASK, 0, 600);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 600);
    trace_leave(&trace, TASK, 0, 600);
    trace_end(&trace, 1000);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_FUTEX, PYRO_KERNEL_DISK, "253:0", ""), 400);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_FUTEX, PYRO_KERNEL_SYSTEM, "fsync", "Helper"), 100);
    trace_done(&trace);
}

/* Two threads that wake each other: nothing of the task's own time is counted twice. */
static void test_threads_that_wait_for_each_other(void **unused)
{
    enum { ROUNDS = 100 };
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_switch(&trace, 1, IDLE, RUNS, HELPER, 0);
    trace_enter(&trace, HELPER, "futex", 0, 0);
    trace_switch(&trace, 1, HELPER, SLEEPS, IDLE, 0);
    for (int64_t i = 0; i < ROUNDS; i++) {
        int64_t now = 100 * i;
        trace_enter(&trace, TASK, "futex", 0, now + 10);
        trace_wake(&trace, 0, HELPER, 1, now + 10);
        trace_switch(&trace, 0, TASK, SLEEPS, IDLE, now + 20);
        trace_switch(&trace, 1, IDLE, RUNS, HELPER, now + 20);
        trace_leave(&trace, HELPER, 0, now + 30);
        trace_enter(&trace, HELPER, "futex", 0, now + 80);
        trace_wake(&trace, 1, TASK, 0, now + 80);
        trace_switch(&trace, 1, HELPER, SLEEPS, IDLE, now + 90);
        trace_switch(&trace, 0, IDLE, RUNS, TASK, now + 90);
        trace_leave(&trace, TASK, 0, now + 90);
    }
    trace_end(&trace, 100 * ROUNDS);
    int64_t waited = trace_sum(&trace, TASK, PYRO_KERNEL_FUTEX), blamed = 0;
    for (int root = 0; root < PYRO_KERNEL_STATES; root++)
        blamed += trace_account(&trace, 1, PYRO_KERNEL_FUTEX, (enum pyro_kernel_state)root, NULL, NULL);
    assert_int_equal(waited, 60 * ROUNDS);
    assert_int_equal(blamed, waited);
    assert_int_equal(trace_whole(&trace, 1), 100 * ROUNDS);
    trace_done(&trace);
}

/* ---- Room -------------------------------------------------------------------------------------------------------- */

/* More culprits than rows: nothing is lost, no one is charged with what another did, and later kinds keep their place.
 */
static void test_more_culprits_than_rows(void **unused)
{
    enum { CULPRITS = 3 * PYRO_ACCOUNT_ROWS_MAX, FIRST = 1000 };
    struct trace trace;
    (void)unused;
    begin(&trace);
    int64_t now = 0;
    for (int64_t i = 0; i < CULPRITS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "p%lld", (long long)i);
        trace_name(&trace, FIRST + i, FIRST + i, name);
        trace_switch(&trace, 0, TASK, PREEMPTED, FIRST + i, now + 10);
        now += 10 + (i == CULPRITS / 2 ? 5000 : i == 3 ? 3000 : 20);
        trace_switch(&trace, 0, FIRST + i, SLEEPS, TASK, now);
    }
    trace_wait(&trace, "mmap", 0, DEEP, 0, 0, now + 10, now + 110);
    trace_end(&trace, now + 200);
    assert_int_equal(trace_whole(&trace, 1), now + 200);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_RUNNABLE, PYRO_KERNEL_RUNNABLE, NULL, NULL),
                     20 * (CULPRITS - 2) + 5000 + 3000);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_RUNNABLE, PYRO_KERNEL_RUNNABLE, "", "p3 (1003)"), 3000);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_RUNNABLE, PYRO_KERNEL_RUNNABLE, "", "p96 (1096)"), 5000);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_KERNEL_LOCK, PYRO_KERNEL_KERNEL_LOCK, "mmap", ""), 100);
    for (int64_t i = 0; i < CULPRITS; i++) {
        char by[32];
        snprintf(by, sizeof(by), "p%lld (%lld)", (long long)i, (long long)(FIRST + i));
        if (i != 3 && i != CULPRITS / 2)
            assert_true(trace_account(&trace, 1, PYRO_KERNEL_RUNNABLE, PYRO_KERNEL_RUNNABLE, NULL, by) <= 20);
    }
    trace_done(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states_are_cut_at_borders_of_tasks),
        cmocka_unit_test(test_a_wait_across_a_border),
        cmocka_unit_test(test_a_task_that_began_before_the_trace),
        cmocka_unit_test(test_losses_tear_the_tasks_that_they_meet),
        cmocka_unit_test(test_a_lock_that_a_running_thread_held),
        cmocka_unit_test(test_woken_on_another_processor),
        cmocka_unit_test(test_parts_of_one_span),
        cmocka_unit_test(test_a_chain_of_two_wakers),
        cmocka_unit_test(test_a_waker_whose_wait_is_still_open),
        cmocka_unit_test(test_threads_that_wait_for_each_other),
        cmocka_unit_test(test_more_culprits_than_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
