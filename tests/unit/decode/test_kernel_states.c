/* What threads did as a trace of the kernel says it: events by hand, states to the nanosecond. */
#include "trace_kit.h"

/* A trace with one task that has all of it. */
static void begin(struct trace *trace)
{
    trace_new(trace);
    trace_task(trace, 1, 0, INT64_MAX);
    trace_start(trace);
    trace_switch(trace, 0, IDLE, RUNS, TASK, 0);
}

static void assert_state(const struct trace *trace, enum pyro_kernel_state state, int64_t ns)
{
    assert_int_equal(trace_sum(trace, TASK, state), ns);
    int64_t accounted = 0;
    for (int root = 0; root < PYRO_KERNEL_STATES; root++)
        accounted += trace_account(trace, 1, state, (enum pyro_kernel_state)root, NULL, NULL);
    assert_int_equal(accounted, ns);
}

/* ---- Threads that run, or could ---------------------------------------------------------------------------------- */

static void test_user_and_system(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_enter(&trace, TASK, "read", 3, 100);
    trace_leave(&trace, TASK, 64, 150);
    trace_enter(&trace, TASK, "getpid", 0, 180);
    trace_leave(&trace, TASK, 10, 187);
    trace_switch(&trace, 0, TASK, SLEEPS, IDLE, 300);
    trace_end(&trace, 400);
    assert_state(&trace, PYRO_KERNEL_USER, 100 + 30 + 113);
    assert_state(&trace, PYRO_KERNEL_SYSTEM, 50 + 7);
    assert_state(&trace, PYRO_KERNEL_WAITING, 100);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_SYSTEM, PYRO_KERNEL_SYSTEM, "read", ""), 50);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_SYSTEM, PYRO_KERNEL_SYSTEM, "getpid", ""), 7);
    assert_int_equal(trace_whole(&trace, 1), 400);
    trace_done(&trace);
}

static void test_calls_and_bytes_are_counted(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    for (int64_t i = 0; i < 10; i++) {
        trace_enter(&trace, TASK, "write", 4, 100 * i + 50);
        trace_leave(&trace, TASK, i == 9 ? -32 : 7, 100 * i + 60);
    }
    trace_end(&trace, 1000);
    size_t first, count = pyro_tracks_waits_of(trace.tracks, 1, &first);
    for (size_t i = first; i < first + count; i++) {
        const struct pyro_task_wait_row row = pyro_tracks_task_wait(trace.tracks, i);
        assert_int_equal(row.count, row.state == PYRO_KERNEL_SYSTEM ? 10 : 11); /* pieces of user code */
        assert_int_equal(row.bytes, row.state == PYRO_KERNEL_SYSTEM ? 63 : PYRO_NONE);
    }
    const struct pyro_trace_call_row calls = pyro_tracks_trace_call(trace.tracks, 0);
    assert_true(pyro_slice_is(calls.name, "write"));
    assert_int_equal(calls.count, 10);
    assert_int_equal(calls.errors, 1);
    assert_int_equal(calls.duration_ns, 100);
    assert_int_equal(calls.bytes, 63);
    trace_done(&trace);
}

static void test_preempted_by_two(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_switch(&trace, 0, TASK, PREEMPTED, STRESS, 100);
    trace_switch(&trace, 0, STRESS, RUNS, OTHER, 200);
    trace_switch(&trace, 0, OTHER, RUNS, TASK, 250);
    trace_switch(&trace, 0, TASK, PREEMPTED, COLLECTOR, 300);
    trace_switch(&trace, 0, COLLECTOR, SLEEPS, TASK, 330);
    trace_end(&trace, 400);
    assert_state(&trace, PYRO_KERNEL_RUNNABLE, 180);
    assert_state(&trace, PYRO_KERNEL_USER, 100 + 50 + 70);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_RUNNABLE, PYRO_KERNEL_RUNNABLE, "", "stress (99)"), 100);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_RUNNABLE, PYRO_KERNEL_RUNNABLE, "", "other (98)"), 50);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_RUNNABLE, PYRO_KERNEL_RUNNABLE, "", "GC Thread#0"), 30);
    assert_int_equal(trace_sum(&trace, STRESS, PYRO_KERNEL_RUNNABLE), 200); /* 200 to the end */
    trace_done(&trace);
}

/* In the middle of a system call: it goes on in it. */
static void test_preempted_in_a_call(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_enter(&trace, TASK, "write", 3, 100);
    trace_switch(&trace, 0, TASK, PREEMPTED, STRESS, 110);
    trace_switch(&trace, 0, STRESS, SLEEPS, TASK, 160);
    trace_leave(&trace, TASK, 1, 190);
    trace_end(&trace, 200);
    assert_state(&trace, PYRO_KERNEL_SYSTEM, 40);
    assert_state(&trace, PYRO_KERNEL_RUNNABLE, 50);
    assert_state(&trace, PYRO_KERNEL_USER, 110);
    trace_done(&trace);
}

/* An idle processor takes a thread at once, unless the thread may not run. */
static void test_throttled(void **unused)
{
    for (int64_t less = 0; less < 2; less++) {
        struct trace trace;
        (void)unused;
        begin(&trace);
        trace_switch(&trace, 0, TASK, PREEMPTED, IDLE, 100);
        trace_switch(&trace, 0, IDLE, RUNS, TASK, 100 + PYRO_THROTTLED_NS_MIN - less);
        trace_end(&trace, 2 * MS);
        assert_state(&trace, PYRO_KERNEL_THROTTLED, less ? 0 : PYRO_THROTTLED_NS_MIN);
        assert_state(&trace, PYRO_KERNEL_RUNNABLE, less ? PYRO_THROTTLED_NS_MIN - 1 : 0);
        trace_done(&trace);
    }
}

/* A neighbor runs there before it is that long. */
static void test_idle_then_busy(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_switch(&trace, 0, TASK, PREEMPTED, IDLE, 100);
    trace_switch(&trace, 0, IDLE, RUNS, STRESS, 100 + MS / 2);
    trace_switch(&trace, 0, STRESS, SLEEPS, TASK, 100 + 3 * MS);
    trace_end(&trace, 4 * MS);
    assert_state(&trace, PYRO_KERNEL_THROTTLED, 0);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_RUNNABLE, PYRO_KERNEL_RUNNABLE, "", ""), MS / 2);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_RUNNABLE, PYRO_KERNEL_RUNNABLE, "", "stress (99)"),
                     3 * MS - MS / 2);
    trace_done(&trace);
}

static void test_migration(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_switch(&trace, 1, IDLE, RUNS, OTHER, 50);
    trace_switch(&trace, 0, TASK, PREEMPTED, STRESS, 100);
    trace_at(&trace, 200);
    pyro_kernel_migrate(&trace.kernel, trace_thread(&trace, TASK), 1, trace.kernel.last_ns);
    trace_switch(&trace, 0, STRESS, SLEEPS, IDLE, 220);
    trace_switch(&trace, 1, OTHER, RUNS, TASK, 250);
    trace_end(&trace, 300);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_RUNNABLE, PYRO_KERNEL_RUNNABLE, "", "stress (99)"), 100);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_RUNNABLE, PYRO_KERNEL_RUNNABLE, "", "other (98)"), 50);
    assert_state(&trace, PYRO_KERNEL_USER, 150);
    assert_int_equal(trace.kernel.migrations, 1);
    trace_done(&trace);
}

static void test_stopped(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_switch(&trace, 0, TASK, STOPS, IDLE, 100);
    trace_wake(&trace, 1, TASK, 0, 400);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 410);
    trace_end(&trace, 500);
    assert_state(&trace, PYRO_KERNEL_STOPPED, 300);
    assert_state(&trace, PYRO_KERNEL_RUNNABLE, 10);
    assert_state(&trace, PYRO_KERNEL_USER, 190);
    trace_done(&trace);
}

/* ---- Waits ------------------------------------------------------------------------------------------------------- */

static void test_futex_and_its_time_limit(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_wait(&trace, "futex", 0, SLEEPS, 0, -110, 100, 400);
    trace_wait(&trace, "futex", 0, SLEEPS, 0, 0, 500, 600);
    trace_wait(&trace, "clock_nanosleep", 0, SLEEPS, 0, 0, 700, 705);
    trace_wait(&trace, "epoll_wait", 0, SLEEPS, 0, 0, 800, 830);
    trace_wait(&trace, "epoll_wait", 0, SLEEPS, 0, 1, 900, 902);
    trace_wait(&trace, "wait4", 0, SLEEPS, 0, 5, 910, 911);
    trace_end(&trace, 1000);
    assert_state(&trace, PYRO_KERNEL_TIMER, 300 + 5 + 30);
    assert_state(&trace, PYRO_KERNEL_FUTEX, 100);
    assert_state(&trace, PYRO_KERNEL_NETWORK, 2);
    assert_state(&trace, PYRO_KERNEL_WAITING, 1);
    assert_state(&trace, PYRO_KERNEL_SYSTEM, 0); /* all calls began to wait at once, and ended at once */
    trace_done(&trace);
}

/* Descriptors are known from the calls that returned them; else it matters who ended the wait. */
static void test_descriptors(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_enter(&trace, TASK, "socket", 2, 1);
    trace_leave(&trace, TASK, 5, 1);
    trace_enter(&trace, TASK, "openat", 0, 2);
    trace_leave(&trace, TASK, 6, 2);
    trace_enter(&trace, TASK, "openat", 0, 3);
    trace_leave(&trace, TASK, -2, 3);
    pyro_kernel_note_descriptor(&trace.kernel, trace_thread(&trace, TASK), 7, PYRO_DESCRIPTOR_PIPE);
    trace_switch(&trace, 1, IDLE, RUNS, OTHER, 4);
    trace_enter(&trace, OTHER, "write", 1, 5);
    trace_wait(&trace, "read", 5, SLEEPS, 1, 8, 10, 20);       /* the socket: 10 */
    trace_wait(&trace, "read", 6, SLEEPS, 1, 8, 30, 50);       /* the file: 20 */
    trace_wait(&trace, "read", 7, SLEEPS, 0, 8, 60, 90);       /* the pipe: 30 */
    trace_wait(&trace, "read", 8, SLEEPS, 1, 8, 100, 140);     /* not known, a thread wrote: 40 */
    trace_wait(&trace, "read", 8, SLEEPS, 0, 8, 150, 200);     /* not known, an interrupt: 50 */
    trace_wait(&trace, "recvfrom", 9, SLEEPS, 1, 8, 210, 270); /* 60, and 9 is a socket */
    trace_wait(&trace, "read", 9, SLEEPS, 1, 8, 300, 370);     /* 70 */
    trace_enter(&trace, TASK, "close", 9, 380);
    trace_leave(&trace, TASK, 0, 380);
    trace_wait(&trace, "read", 9, SLEEPS, 1, 8, 400, 480); /* not known again: 80 */
    trace_end(&trace, 500);
    assert_state(&trace, PYRO_KERNEL_NETWORK, 10 + 50 + 60 + 70);
    assert_state(&trace, PYRO_KERNEL_DISK, 20);
    assert_state(&trace, PYRO_KERNEL_PIPE, 30 + 40 + 80);
    trace_done(&trace);
}

static void test_python_worker(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_switch(&trace, 1, IDLE, RUNS, PYTHON, 0);
    trace_enter(&trace, TASK, "recvfrom", 5, 100);
    trace_switch(&trace, 0, TASK, SLEEPS, IDLE, 100);
    trace_enter(&trace, PYTHON, "sendto", 4, 400);
    trace_wake(&trace, 1, TASK, 0, 400);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 400);
    trace_leave(&trace, TASK, 8, 400);
    trace_end(&trace, 500);
    assert_state(&trace, PYRO_KERNEL_PYTHON, 300);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_PYTHON, PYRO_KERNEL_USER, "", "Python worker (77)"), 300);
    trace_done(&trace);
}

/* ---- Disks ------------------------------------------------------------------------------------------------------- */

static void test_disk_and_who_kept_it_busy(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_issue(&trace, DISK_A, 8, STRESS, 10);
    trace_enter(&trace, TASK, "fsync", 3, 100);
    trace_issue(&trace, DISK_B, 16, OTHER, 101);
    trace_issue(&trace, DISK_A, 16, TASK, 105);
    trace_switch(&trace, 0, TASK, DEEP, IDLE, 110);
    trace_complete(&trace, 0, DISK_A, 8, 380);
    trace_complete(&trace, 0, DISK_A, 16, 400);
    trace_wake(&trace, 0, TASK, 0, 405);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 410);
    trace_leave(&trace, TASK, 0, 420);
    /* Then only its own request is in the device. */
    trace_enter(&trace, TASK, "pread64", 3, 500);
    trace_issue(&trace, DISK_A, 24, TASK, 505);
    trace_switch(&trace, 0, TASK, DEEP, IDLE, 510);
    trace_complete(&trace, 1, DISK_A, 24, 600);
    trace_wake(&trace, 1, TASK, 0, 600);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 600);
    trace_leave(&trace, TASK, 0, 600);
    trace_end(&trace, 700);
    /* Both had requests in it: 270 of the other process, 290 of its own. */
    assert_state(&trace, PYRO_KERNEL_DISK, 295 + 90);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_DISK, PYRO_KERNEL_DISK, "253:0", ""), 385);
    trace_done(&trace);
}

static void test_disk_of_another_process(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    for (int64_t i = 0; i < 3; i++)
        trace_issue(&trace, DISK_A, 100 + i, STRESS, 10);
    trace_enter(&trace, TASK, "fsync", 3, 100);
    trace_issue(&trace, DISK_A, 16, TASK, 105);
    trace_switch(&trace, 0, TASK, DEEP, IDLE, 110);
    for (int64_t i = 0; i < 3; i++)
        trace_complete(&trace, 1, DISK_A, 100 + i, 300);
    trace_complete(&trace, 0, DISK_A, 16, 400);
    trace_wake(&trace, 0, TASK, 0, 400);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 400);
    trace_leave(&trace, TASK, 0, 400);
    trace_end(&trace, 700);
    /* Three requests for 190 each, and its own for 290. */
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_DISK, PYRO_KERNEL_DISK, "253:0", "stress (99)"), 290);
    trace_done(&trace);
}

static void test_page_fault(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_enter(&trace, TASK, "getpid", 0, 50);
    trace_leave(&trace, TASK, 10, 50);
    trace_issue(&trace, DISK_A, 8, TASK, 100);
    trace_switch(&trace, 0, TASK, DEEP, IDLE, 100);
    trace_complete(&trace, 0, DISK_A, 8, 300);
    trace_wake(&trace, 0, TASK, 0, 300);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 310);
    trace_end(&trace, 400);
    assert_state(&trace, PYRO_KERNEL_PAGE_FAULT, 200);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_PAGE_FAULT, PYRO_KERNEL_PAGE_FAULT, "253:0", ""), 200);
    trace_done(&trace);
}

/* Where page faults were recorded, one of them came before. */
static void test_recorded_page_faults(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace.kernel.has_faults = true;
    trace_thread(&trace, TASK)->faulted = true;
    trace_switch(&trace, 0, TASK, DEEP, IDLE, 100);
    trace_wake(&trace, 0, TASK, 0, 150);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 150);
    trace_enter(&trace, TASK, "getpid", 0, 160);
    trace_leave(&trace, TASK, 10, 160);
    trace_switch(&trace, 0, TASK, DEEP, IDLE, 200); /* for what is not known */
    trace_end(&trace, 400);
    assert_state(&trace, PYRO_KERNEL_PAGE_FAULT, 50);
    assert_state(&trace, PYRO_KERNEL_WAITING, 200);
    trace_done(&trace);
}

/* In mmap() the kernel waits for the lock of the address space. */
static void test_lock_of_the_kernel(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_wait(&trace, "mmap", 0, DEEP, 0, 0, 100, 150);
    trace_wait(&trace, "madvise", 0, SLEEPS, 0, 0, 200, 210);
    trace_end(&trace, 400);
    assert_state(&trace, PYRO_KERNEL_KERNEL_LOCK, 60);
    trace_done(&trace);
}

/* Threads of the kernel make no calls, and have no pages of their own. */
static void test_deep_waits_of_threads_without_calls(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_name(&trace, 500, 500, "jbd2/vda1-8");
    trace_enter(&trace, TASK, "getpid", 0, 1);
    trace_leave(&trace, TASK, 10, 1);
    trace_switch(&trace, 1, IDLE, RUNS, 500, 10);
    trace_switch(&trace, 1, 500, DEEP, IDLE, 100);
    trace_complete(&trace, 1, DISK_A, 8, 300);
    trace_wake(&trace, 1, 500, 1, 300);
    trace_switch(&trace, 1, IDLE, RUNS, 500, 300);
    trace_end(&trace, 400);
    assert_int_equal(trace_sum(&trace, 500, PYRO_KERNEL_DISK), 200);
    assert_int_equal(trace_sum(&trace, 500, PYRO_KERNEL_PAGE_FAULT), 0);
    trace_done(&trace);
}

/* The scheduler's events alone do not say whether a wait was in a call. */
static void test_trace_of_the_scheduler_only(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_switch(&trace, 1, IDLE, RUNS, HELPER, 0);
    trace_switch(&trace, 0, TASK, DEEP, IDLE, 100);
    trace_complete(&trace, 0, DISK_A, 8, 299);
    trace_wake(&trace, 0, TASK, 0, 300);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 310);
    trace_switch(&trace, 0, TASK, DEEP, IDLE, 320);
    trace_wake(&trace, 1, TASK, 0, 340);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 340);
    trace_switch(&trace, 0, TASK, SLEEPS, IDLE, 400);
    trace_wake(&trace, 1, TASK, 0, 450);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 450);
    trace_end(&trace, 500);
    assert_state(&trace, PYRO_KERNEL_PAGE_FAULT, 0);
    assert_state(&trace, PYRO_KERNEL_DISK, 200);
    assert_state(&trace, PYRO_KERNEL_WAITING, 20 + 50);
    assert_state(&trace, PYRO_KERNEL_RUNNABLE, 10);
    assert_state(&trace, PYRO_KERNEL_USER, 220);
    trace_done(&trace);
}

/* ---- What a trace does not say ----------------------------------------------------------------------------------- */

static void test_seen_in_the_middle(void **unused)
{
    struct trace trace;
    (void)unused;
    trace_new(&trace);
    trace_task(&trace, 1, 0, INT64_MAX);
    trace_start(&trace);
    trace_leave(&trace, TASK, 5, 50); /* began before the trace */
    trace_switch(&trace, 0, TASK, SLEEPS, IDLE, 80);
    trace_wake(&trace, 1, HELPER, 1, 90); /* was asleep, for what is not known */
    trace_switch(&trace, 1, IDLE, RUNS, HELPER, 95);
    trace_end(&trace, 200);
    assert_state(&trace, PYRO_KERNEL_UNKNOWN, 50);
    assert_state(&trace, PYRO_KERNEL_USER, 30);
    assert_state(&trace, PYRO_KERNEL_WAITING, 120);
    assert_int_equal(trace.kernel.unmatched, 1);
    assert_int_equal(trace_sum(&trace, HELPER, PYRO_KERNEL_UNKNOWN), 90);
    assert_int_equal(trace_sum(&trace, HELPER, PYRO_KERNEL_RUNNABLE), 5);
    trace_done(&trace);
}

/* The task's whole account is unknown, since what is missing may be any part of it. */
static void test_lost_events(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_switch(&trace, 1, IDLE, RUNS, HELPER, 0);
    trace_enter(&trace, TASK, "futex", 0, 100);
    trace_switch(&trace, 0, TASK, SLEEPS, IDLE, 100);
    trace_at(&trace, 300);
    pyro_kernel_lost(&trace.kernel, trace.host, trace.kernel.first_ns + 300, trace.kernel.first_ns + 400);
    trace_switch(&trace, 0, IDLE, RUNS, TASK, 500);
    trace_switch(&trace, 0, TASK, DEEP, IDLE, 550); /* in which call it was is lost, too */
    trace_end(&trace, 600);
    assert_int_equal(trace_sum(&trace, TASK, PYRO_KERNEL_FUTEX), 200);
    assert_int_equal(trace_sum(&trace, TASK, PYRO_KERNEL_UNKNOWN), 200);
    assert_int_equal(trace_sum(&trace, TASK, PYRO_KERNEL_USER), 150);
    assert_int_equal(trace_sum(&trace, TASK, PYRO_KERNEL_PAGE_FAULT), 0);
    assert_int_equal(trace_sum(&trace, HELPER, PYRO_KERNEL_USER), 300);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_UNKNOWN, PYRO_KERNEL_UNKNOWN, "", ""), 600);
    assert_int_equal(trace_whole(&trace, 1), 600);
    trace_done(&trace);
}

/* One processor's packet says so before the others are as far. */
static void test_events_lost_later_than_the_newest(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_at(&trace, 100);
    pyro_kernel_lost(&trace.kernel, trace.host, trace.kernel.first_ns + 300, trace.kernel.first_ns + 400);
    trace_switch(&trace, 0, TASK, SLEEPS, IDLE, 200);
    trace_end(&trace, 600);
    assert_int_equal(trace_sum(&trace, TASK, PYRO_KERNEL_USER), 100);
    assert_int_equal(trace_whole(&trace, 1), 600);
    trace_done(&trace);
}

/* The processor says that another thread left it than the one that was known. */
static void test_missing_switches(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_switch(&trace, 0, STRESS, RUNS, OTHER, 100); /* TASK left it, and STRESS came */
    trace_switch(&trace, 1, IDLE, RUNS, TASK, 150);
    trace_switch(&trace, 0, OTHER, SLEEPS, IDLE, 200);
    trace_switch(&trace, 2, IDLE, RUNS, TASK, 250); /* it still was on 1 */
    trace_switch(&trace, 1, STRESS, SLEEPS, IDLE, 260);
    trace_end(&trace, 300);
    assert_state(&trace, PYRO_KERNEL_UNKNOWN, 150);
    assert_state(&trace, PYRO_KERNEL_USER, 150);
    trace_done(&trace);
}

/* A thread that waits is seen to leave a processor, and is woken then: it is in one queue only. */
static void test_queued_once(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_switch(&trace, 0, TASK, SLEEPS, STRESS, 100);
    trace_switch(&trace, 0, TASK, PREEMPTED, STRESS, 150);
    trace_wake(&trace, 0, TASK, 0, 160);
    trace_switch(&trace, 0, STRESS, RUNS, OTHER, 200);
    trace_switch(&trace, 0, OTHER, RUNS, TASK, 300);
    trace_switch(&trace, 0, TASK, PREEMPTED, OTHER, 310);
    trace_end(&trace, 400);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_RUNNABLE, PYRO_KERNEL_RUNNABLE, "", "stress (99)"), 50);
    assert_int_equal(trace_account(&trace, 1, PYRO_KERNEL_RUNNABLE, PYRO_KERNEL_RUNNABLE, "", "other (98)"), 190);
    assert_int_equal(trace_whole(&trace, 1), 400);
    trace_done(&trace);
}

static void test_exit_and_a_number_used_again(void **unused)
{
    struct trace trace;
    (void)unused;
    begin(&trace);
    trace_switch(&trace, 1, IDLE, RUNS, STRESS, 0);
    trace_switch(&trace, 1, STRESS, DIES, IDLE, 100);
    const struct pyro_kthread *old = trace.kernel.all.items[5];
    assert_int_equal(old->tid, STRESS);
    trace_switch(&trace, 2, IDLE, RUNS, OTHER, 100);
    trace_switch(&trace, 2, OTHER, DIES, IDLE, 250);
    trace_wake(&trace, 0, STRESS, 1, 200 + 100);
    assert_ptr_not_equal(trace_thread(&trace, STRESS), old);
    assert_int_equal(trace_thread(&trace, STRESS)->pid, -1);
    trace_switch(&trace, 1, IDLE, RUNS, STRESS, 320);
    trace_end(&trace, 400); /* with the sums of all */
    assert_int_equal(trace_sum(&trace, STRESS, PYRO_KERNEL_USER), 100 + 80);
    assert_int_equal(trace_sum(&trace, STRESS, PYRO_KERNEL_UNKNOWN), 200);
    assert_int_equal(trace_sum(&trace, STRESS, PYRO_KERNEL_RUNNABLE), 20);
    assert_int_equal(trace_sum(&trace, OTHER, PYRO_KERNEL_UNKNOWN), 250);
    trace_done(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_user_and_system),
        cmocka_unit_test(test_calls_and_bytes_are_counted),
        cmocka_unit_test(test_preempted_by_two),
        cmocka_unit_test(test_preempted_in_a_call),
        cmocka_unit_test(test_throttled),
        cmocka_unit_test(test_idle_then_busy),
        cmocka_unit_test(test_migration),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_futex_and_its_time_limit),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_python_worker),
        cmocka_unit_test(test_disk_and_who_kept_it_busy),
        cmocka_unit_test(test_disk_of_another_process),
        cmocka_unit_test(test_page_fault),
        cmocka_unit_test(test_recorded_page_faults),
        cmocka_unit_test(test_lock_of_the_kernel),
        cmocka_unit_test(test_deep_waits_of_threads_without_calls),
        cmocka_unit_test(test_trace_of_the_scheduler_only),
        cmocka_unit_test(test_seen_in_the_middle),
        cmocka_unit_test(test_lost_events),
        cmocka_unit_test(test_events_lost_later_than_the_newest),
        cmocka_unit_test(test_missing_switches),
        cmocka_unit_test(test_queued_once),
        cmocka_unit_test(test_exit_and_a_number_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
