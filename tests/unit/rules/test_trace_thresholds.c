/* Thresholds of the rules that read traces of the kernel: a finding a tenth inside of each, none a tenth outside; and
 * whom the findings name. */
#include <string.h>

#include "model/tracks/tracks.h"
#include "scene.h"

#define MS INT64_C(1000000)

enum { SLOTS = 4, STAGE_TASKS = 8, TASK_MS = 10000, STAGE_START = SCENE_START + 4000, STAGE_MS = 20000 };
enum { FOUND_MS = 454000, SMALL_MS = 555000 }; /* ends: half of 80 s of tasks on 4 slots is more, or less, than 2 % */

/* A part of the time of each task; the rest is its own code. */
struct part {
    enum pyro_kernel_state state, root;
    const char *what, *by;
    int64_t of_1000, count, bytes; /* of each task */
};

struct traced {
    const char *threshold;
    bool finds;
    struct part part, other; /* other: a second one */
    int64_t ends_ms;         /* after the start of the application; 0: with the stage */
};

static struct pyro_slice text(const char *name)
{
    return name ? pyro_slice_from(name) : PYRO_SLICE_NULL;
}

static void add_part(struct pyro_tracks *tracks, int64_t task, const struct part *part)
{
    const struct pyro_task_wait_row row = {.task = task,
                                           .stage = 1,
                                           .stage_attempt = 0,
                                           .state = part->state,
                                           .root = part->root,
                                           .what = text(part->what),
                                           .by = text(part->by),
                                           .duration_ns = part->of_1000 * TASK_MS * MS / 1000,
                                           .count = part->count ? part->count : 1,
                                           .bytes = part->bytes ? part->bytes : PYRO_NONE};
    if (part->of_1000 > 0)
        assert_true(pyro_tracks_add_task_wait(tracks, &row));
}

/* One stage of eight tasks of ten seconds each on four slots, and what a trace says of them. */
static struct scene traced_scene(const struct traced *traced)
{
    struct scene scene = scene_new(SLOTS / 2, 2);
    const int64_t ms = TASK_MS;
    scene_stage(&scene, STAGE_TASKS, &ms, 1, NULL, NULL);
    assert_int_equal(scene.now, STAGE_START + STAGE_MS);
    scene.app->tracks = pyro_tracks_new(NULL);
    const struct part rest = {.state = PYRO_KERNEL_USER,
                              .root = PYRO_KERNEL_USER,
                              .of_1000 = 1000 - traced->part.of_1000 - traced->other.of_1000};
    for (int64_t task = 0; task < STAGE_TASKS; task++) {
        add_part(scene.app->tracks, task, &traced->part);
        add_part(scene.app->tracks, task, &traced->other);
        add_part(scene.app->tracks, task, &rest);
    }
    assert_true(pyro_tracks_seal(scene.app->tracks));
    if (traced->ends_ms)
        scene.now = SCENE_START + traced->ends_ms;
    return scene;
}

static void judge_all(const char *rule, const struct traced *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct scene scene = traced_scene(&cases[i]);
        scene_judge(&scene, rule, cases[i].finds, cases[i].threshold);
    }
}

#define JUDGE_ALL(rule, cases) judge_all((rule), (cases), sizeof(cases) / sizeof(*(cases)))

/* The cause has each of the texts, which are separated by bars. */
static void says(const char *rule, const struct traced *traced, const char *texts)
{
    struct scene scene = traced_scene(traced);
    scene_end(&scene);
    const struct pyro_finding *finding = scene_finding(&scene, rule);
    assert_non_null(finding);
    for (const char *at = texts; *at;) {
        size_t len = strcspn(at, "|");
        if (!memmem(finding->cause.ptr, finding->cause.len, at, len))
            fail_msg("%s: \"%.*s\" is not in \"%.*s\"", rule, (int)len, at, (int)finding->cause.len,
                     finding->cause.ptr);
        at += len + (at[len] == '|');
    }
    scene_free(&scene);
}

/* ---- Processors -------------------------------------------------------------------------------------------------- */

static void test_cpu_contention(void **state)
{
    (void)state;
    const enum pyro_kernel_state R = PYRO_KERNEL_RUNNABLE;
    const struct traced cases[] = {
        {"runnable_share_min 0.2", true, .part = {R, R, NULL, "stress (123)", 220, 0, 0}},
        {"runnable_share_min 0.2", false, .part = {R, R, NULL, "stress (123)", 180, 0, 0}},
        /* Two others together. */
        {"runnable_share_min 0.2", true, .part = {R, R, NULL, "stress (123)", 110, 0, 0},
         .other = {R, R, NULL, "make (7)", 110, 0, 0}},
        {"own_share_min 0.5", true, .part = {R, R, NULL, "Executor task l", 550, 0, 0}},
        {"own_share_min 0.5", false, .part = {R, R, NULL, "Executor task l", 450, 0, 0}},
        {"own_share_min 0.5", true, .part = {R, R, NULL, "executor 2 (8)", 300, 0, 0},
         .other = {R, R, NULL, "Python worker (9)", 250, 0, 0}},
        {"own_share_min 0.5", false, .part = {R, R, NULL, "executor 2 (8)", 250, 0, 0},
         .other = {R, R, NULL, "Python worker (9)", 200, 0, 0}},
        {"who ran is not known", false, .part = {R, R, NULL, NULL, 900, 0, 0}},
        {"the recorder", false, .part = {R, R, NULL, "perf (123)", 500, 0, 0},
         .other = {R, R, NULL, "lttng-consumerd (5)", 400, 0, 0}},
        {"saving_share_min 0.02", true, .part = {R, R, NULL, "stress (123)", 500, 0, 0}, .ends_ms = FOUND_MS},
        {"saving_share_min 0.02", false, .part = {R, R, NULL, "stress (123)", 500, 0, 0}, .ends_ms = SMALL_MS},
    };
    JUDGE_ALL("cpu-contention", cases);
    const struct traced two = {.part = {R, R, NULL, "stress (123)", 300, 0, 0},
                               .other = {R, R, NULL, "make (7)", 100, 0, 0}};
    says("cpu-contention", &two, "40 %|75 % of that was stress (123)");
    says("cpu-contention", &cases[3], "55 %|the executor's own thread Executor task l");
}

static void test_cpu_throttled(void **state)
{
    (void)state;
    const enum pyro_kernel_state T = PYRO_KERNEL_THROTTLED;
    const struct traced cases[] = {
        {"throttled_share_min 0.05", true, .part = {T, T, NULL, NULL, 55, 0, 0}},
        {"throttled_share_min 0.05", false, .part = {T, T, NULL, NULL, 45, 0, 0}},
        /* A thread that a task waited for was throttled. */
        {"throttled_share_min 0.05", true, .part = {PYRO_KERNEL_PYTHON, T, NULL, NULL, 55, 0, 0}},
        {"saving_share_min 0.02", true, .part = {T, T, NULL, NULL, 500, 0, 0}, .ends_ms = FOUND_MS},
        {"saving_share_min 0.02", false, .part = {T, T, NULL, NULL, 500, 0, 0}, .ends_ms = SMALL_MS},
    };
    JUDGE_ALL("cpu-throttled", cases);
    says("cpu-throttled", &cases[3], "50 %|40.0 s in all|quota");
}

/* ---- Disks and networks ------------------------------------------------------------------------------------------ */

static void test_disk_bound(void **state)
{
    (void)state;
    const enum pyro_kernel_state D = PYRO_KERNEL_DISK;
    const struct traced cases[] = {
        {"disk_share_min 0.2", true, .part = {D, D, "253:0", "backup (7)", 220, 0, 0}},
        {"disk_share_min 0.2", false, .part = {D, D, "253:0", "backup (7)", 180, 0, 0}},
        {"disk_share_min 0.2", true, .part = {PYRO_KERNEL_FUTEX, D, "253:0", NULL, 220, 0, 0}},
        {"saving_share_min 0.02", true, .part = {D, D, "253:0", NULL, 500, 0, 0}, .ends_ms = FOUND_MS},
        {"saving_share_min 0.02", false, .part = {D, D, "253:0", NULL, 500, 0, 0}, .ends_ms = SMALL_MS},
    };
    JUDGE_ALL("disk-bound", cases);
    says("disk-bound", &cases[0], "22 %|253:0|busy with requests of backup (7)");
}

static void test_io_disturbed_by_spark(void **state)
{
    (void)state;
    const enum pyro_kernel_state D = PYRO_KERNEL_DISK;
    const struct traced cases[] = {
        {"own_disk_share_min 0.1", true, .part = {D, D, "253:0", "executor 3 (8)", 110, 0, 0}},
        {"own_disk_share_min 0.1", false, .part = {D, D, "253:0", "executor 3 (8)", 90, 0, 0}},
        {"own_disk_share_min 0.1", true, .part = {D, D, "253:0", "shuffle-server", 60, 0, 0},
         .other = {D, D, "253:0", "driver (6)", 60, 0, 0}},
        {"another process", false, .part = {D, D, "253:0", "backup (7)", 900, 0, 0}},
        {"its own requests", false, .part = {D, D, "253:0", NULL, 900, 0, 0}},
        {"saving_share_min 0.02", true, .part = {D, D, "253:0", "executor 3 (8)", 500, 0, 0}, .ends_ms = FOUND_MS},
        {"saving_share_min 0.02", false, .part = {D, D, "253:0", "executor 3 (8)", 500, 0, 0}, .ends_ms = SMALL_MS},
    };
    JUDGE_ALL("io-disturbed-by-spark", cases);
    says("io-disturbed-by-spark", &cases[0], "11 %|most of them of executor 3 (8)");
}

static void test_network_bound(void **state)
{
    (void)state;
    const enum pyro_kernel_state N = PYRO_KERNEL_NETWORK;
    const struct traced cases[] = {
        {"network_share_min 0.3", true, .part = {N, N, "recvfrom", NULL, 330, 0, 0}},
        {"network_share_min 0.3", false, .part = {N, N, "recvfrom", NULL, 270, 0, 0}},
        {"a peer on the machine", true, .part = {N, PYRO_KERNEL_USER, NULL, "postgres (5)", 330, 0, 0}},
        {"an executor", false, .part = {N, PYRO_KERNEL_USER, NULL, "executor 3 (8)", 900, 0, 0}},
        {"saving_share_min 0.02", true, .part = {N, N, "recvfrom", NULL, 500, 0, 0}, .ends_ms = FOUND_MS},
        {"saving_share_min 0.02", false, .part = {N, N, "recvfrom", NULL, 500, 0, 0}, .ends_ms = SMALL_MS},
    };
    JUDGE_ALL("network-bound", cases);
    says("network-bound", &cases[0], "33 %|recvfrom|not a thread of a machine that was traced");
    says("network-bound", &cases[2], "33 %|postgres (5)");
}

static void test_small_io(void **state)
{
    (void)state;
    enum { CALLS = 2000, BYTES = 100 * CALLS };
    const enum pyro_kernel_state S = PYRO_KERNEL_SYSTEM;
    const struct traced cases[] = {
        {"calls_share_min 0.1", true, .part = {S, S, "write", NULL, 110, CALLS, BYTES}},
        {"calls_share_min 0.1", false, .part = {S, S, "write", NULL, 90, CALLS, BYTES}},
        {"calls_share_min 0.1", true, .part = {S, S, "write", NULL, 60, CALLS, BYTES},
         .other = {S, S, "read", NULL, 60, CALLS, BYTES}},
        {"another call", false, .part = {S, S, "getrusage", NULL, 500, CALLS, 0}},
        {"call_bytes_max 4096", true, .part = {S, S, "read", NULL, 500, CALLS, 3700 * CALLS}},
        {"call_bytes_max 4096", false, .part = {S, S, "read", NULL, 500, CALLS, 4500 * CALLS}},
        {"task_calls_min 1000", true, .part = {S, S, "pread64", NULL, 500, 1100, 100000}},
        {"task_calls_min 1000", false, .part = {S, S, "pread64", NULL, 500, 900, 100000}},
        {"saving_share_min 0.02", true, .part = {S, S, "write", NULL, 500, CALLS, BYTES}, .ends_ms = FOUND_MS},
        {"saving_share_min 0.02", false, .part = {S, S, "write", NULL, 500, CALLS, BYTES}, .ends_ms = SMALL_MS},
    };
    JUDGE_ALL("small-io", cases);
    says("small-io", &cases[0], "called write|16000 times|100 bytes each|11 %");
}

/* ---- Locks and memory -------------------------------------------------------------------------------------------- */

static void test_kernel_lock(void **state)
{
    (void)state;
    const enum pyro_kernel_state F = PYRO_KERNEL_FUTEX, K = PYRO_KERNEL_KERNEL_LOCK, U = PYRO_KERNEL_USER;
    const struct traced cases[] = {
        {"lock_share_min 0.2", true, .part = {F, U, NULL, "Executor task l", 220, 0, 0}},
        {"lock_share_min 0.2", false, .part = {F, U, NULL, "Executor task l", 180, 0, 0}},
        {"lock_share_min 0.2", true, .part = {K, K, "mmap", NULL, 220, 0, 0}},
        {"lock_share_min 0.2", false, .part = {K, K, "mmap", NULL, 180, 0, 0}},
        {"lock_share_min 0.2", true, .part = {F, U, NULL, "Executor task l", 110, 0, 0},
         .other = {K, K, "mmap", NULL, 110, 0, 0}},
        {"threads of the JVM", false, .part = {F, U, NULL, "GC Thread#0", 450, 0, 0},
         .other = {F, U, NULL, "VM Thread", 450, 0, 0}},
        {"saving_share_min 0.02", true, .part = {F, U, NULL, "Executor task l", 500, 0, 0}, .ends_ms = FOUND_MS},
        {"saving_share_min 0.02", false, .part = {F, U, NULL, "Executor task l", 500, 0, 0}, .ends_ms = SMALL_MS},
    };
    JUDGE_ALL("kernel-lock", cases);
    says("kernel-lock", &cases[0], "22 %|Executor task l held them");
    says("kernel-lock", &cases[2], "22 %|mmap");
}

static void test_page_faults(void **state)
{
    (void)state;
    const enum pyro_kernel_state P = PYRO_KERNEL_PAGE_FAULT;
    const struct traced cases[] = {
        {"fault_share_min 0.05", true, .part = {P, P, "253:0", NULL, 55, 0, 0}},
        {"fault_share_min 0.05", false, .part = {P, P, "253:0", NULL, 45, 0, 0}},
        {"fault_share_min 0.05", true, .part = {PYRO_KERNEL_FUTEX, P, "253:0", NULL, 55, 0, 0}},
        {"saving_share_min 0.02", true, .part = {P, P, "253:0", NULL, 500, 0, 0}, .ends_ms = FOUND_MS},
        {"saving_share_min 0.02", false, .part = {P, P, "253:0", NULL, 500, 0, 0}, .ends_ms = SMALL_MS},
    };
    JUDGE_ALL("page-faults", cases);
    says("page-faults", &cases[3], "50 %|read from a disk");
}

/* ---- What was not traced ----------------------------------------------------------------------------------------- */

static const char *const rules[] = {"cpu-contention", "cpu-throttled", "disk-bound",  "io-disturbed-by-spark",
                                    "network-bound",  "small-io",      "kernel-lock", "page-faults"};

static void test_no_trace(void **state)
{
    (void)state;
    struct scene scene = scene_new(SLOTS / 2, 2);
    scene_end(&scene);
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
        assert_int_equal(scene_verdict(&scene, rules[i]), PYRO_VERDICT_NOT_APPLICABLE);
    scene_free(&scene);
}

/* Shares are of the time that is known: tasks whose events are missing count neither way. */
static void test_tasks_with_lost_events(void **state)
{
    (void)state;
    const enum pyro_kernel_state D = PYRO_KERNEL_DISK, X = PYRO_KERNEL_UNKNOWN;
    const struct traced cases[] = {
        {"disk_share_min 0.2", true, .part = {D, D, "253:0", NULL, 110, 0, 0}, .other = {X, X, NULL, NULL, 500, 0, 0}},
        {"disk_share_min 0.2", false, .part = {D, D, "253:0", NULL, 90, 0, 0}, .other = {X, X, NULL, NULL, 500, 0, 0}},
    };
    JUDGE_ALL("disk-bound", cases);
    const struct traced lost = {.part = {X, X, NULL, NULL, 1000, 0, 0}};
    struct scene scene = traced_scene(&lost);
    scene_end(&scene);
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
        scene_quiet(&scene, rules[i]);
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu_contention), cmocka_unit_test(test_cpu_throttled),
        cmocka_unit_test(test_disk_bound),     cmocka_unit_test(test_io_disturbed_by_spark),
        cmocka_unit_test(test_network_bound),  cmocka_unit_test(test_small_io),
        cmocka_unit_test(test_kernel_lock),    cmocka_unit_test(test_page_faults),
        cmocka_unit_test(test_no_trace),       cmocka_unit_test(test_tasks_with_lost_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
