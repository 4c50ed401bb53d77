/* Lines of garbage collectors' logs, as JDK 8 and 17 write them. Whole logs of real runs: tests/e2e/test_bundles.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/logs/gc/gc_log.h"
#include "model/column.h"

#define MIB (1LL << 20)
#define KIB (1LL << 10)
#define MS  1000000LL

struct sample {
    const char *line, *name;
    int64_t time_ms, uptime_us, duration_ns, before, after;
    bool pause;
};

static const struct sample samples[] = {
    {"[2024-03-01T10:15:02.123+0100][1.234s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) "
     "24M->4M(256M) 2.345ms",
     "Pause Young (Normal) (G1 Evacuation Pause)", 1709284502123, 1234000, 2345000, 24 * MIB, 4 * MIB, true},
    {"[0.512s][info][gc] GC(3) Pause Full (Allocation Failure) 512K->100K(1024K) 12.500ms",
     "Pause Full (Allocation Failure)", PYRO_NONE, 512000, 12500000, 512 * KIB, 100 * KIB, true},
    {"[1234ms][info][gc,phases ] GC(1) Concurrent Mark 13.2ms", "Concurrent Mark", PYRO_NONE, 1234000, 13200000,
     PYRO_NONE, PYRO_NONE, false},
    {"[2.5s][info][gc,phases      ] GC(2) Y: Pause Mark Start (Major) 0.012ms", "Pause Mark Start (Major)", PYRO_NONE,
     2500000, 12000, PYRO_NONE, PYRO_NONE, true},
    {"2019-02-14T10:10:07.123+0100: 1.234: [GC (Allocation Failure) [PSYoungGen: 65536K->10720K(76288K)] "
     "65536K->10728K(251392K), 0.0083420 secs] [Times: user=0.02 sys=0.01, real=0.01 secs]",
     "GC (Allocation Failure)", 1550135407123, 1234000, 8342000, 65536 * KIB, 10728 * KIB, true},
    {"3.5: [Full GC (Ergonomics) [PSYoungGen: 1K->0K(2K)] [ParOldGen: 9K->8K(10K)] 500K->400K(1000K), [Metaspace: "
     "20K->20K(30K)], 0.1234567 secs] [Times: user=0.02 sys=0.01, real=0.12 secs]",
     "Full GC (Ergonomics)", PYRO_NONE, 3500000, 123456000, 500 * KIB, 400 * KIB, true},
    {"0.75: [GC pause (G1 Evacuation Pause) (young), 0.0123000 secs]", "GC pause (G1 Evacuation Pause) (young)",
     PYRO_NONE, 750000, 12300000, PYRO_NONE, PYRO_NONE, true},
};

static void test_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
        const struct sample *sample = &samples[i];
        struct pyro_gc_event event;
        assert_true(pyro_gc_line_read(pyro_slice_from(sample->line), &event));
        assert_int_equal(event.name.len, strlen(sample->name));
        assert_memory_equal(event.name.ptr, sample->name, event.name.len);
        assert_int_equal(event.time_ms, sample->time_ms);
        assert_int_equal(event.uptime_us, sample->uptime_us);
        assert_int_equal(event.duration_ns, sample->duration_ns);
        assert_int_equal(event.before, sample->before);
        assert_int_equal(event.after, sample->after);
        assert_int_equal(event.pause, sample->pause);
    }
}

/* Every line that is cut anywhere reads as less or as nothing, and never beyond its end. */
static void test_cut_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
        size_t whole = strlen(samples[i].line);
        for (size_t len = 0; len < whole; len++) {
            struct pyro_gc_event event;
            char *copy = malloc(len + 1); /* so that a sanitizer sees the end */
            assert_non_null(copy);
            memcpy(copy, samples[i].line, len);
            if (pyro_gc_line_read((struct pyro_slice){copy, len}, &event))
                assert_true(event.name.len <= len);
            free(copy);
        }
    }
}

static void test_other_lines(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "[",
        "[0.012s][info][gc] Using G1",
        "[0.5s][info][gc,start] GC(0) Pause Young (Normal) (G1 Evacuation Pause)",
        "[0.5s][info][safepoint] Pause Young 1.0ms",
        "[0.5s][info][gc,heap] GC(0) Eden regions: 12->0(13)",
        "24/03/01 10:15:02 INFO Executor: Running task 0.0 in stage 1.0 (TID 3)",
        "99999999999999999999999: [GC (Allocation Failure) 1K->0K(2K), 0.1 secs]",
        "1.0: [GC (Allocation Failure) 99999999999999999999G->0K(2K), 99999999999999999999 secs]",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct pyro_gc_event event;
        assert_false(pyro_gc_line_read(pyro_slice_from(lines[i]), &event));
    }
}

static struct pyro_artefact_source source_of(const char *path, const char *head)
{
    return pyro_artefact_source_of(pyro_slice_from(path), pyro_slice_from(head));
}

/* Whose file it is, as paths of clusters say it. */
static void test_sources(void **state)
{
    (void)state;
    static const struct {
        const char *path, *head, *application, *executor;
    } paths[] = {
        {"logs/app-20240301101500-0000/3/stdout", "", "app-20240301101500-0000", "3"},
        {"logs/app-20240301101500-0000-7.gc", "", "app-20240301101500-0000", "7"},
        {"c/application_1709280000000_0001/container_1709280000000_0001_01_000002/stderr", "",
         "application_1709280000000_0001", NULL},
        {"gc/executor_12.log", "", NULL, "12"},
        {"gc/driver-gc.log", "... local-1709280000000 ...", "local-1709280000000", "driver"},
        {"p/spark-0123456789abcdef0123456789abcdef/profile-exec-4.jfr", "", "spark-0123456789abcdef0123456789abcdef",
         "4"},
        {"myapp-20240301101500-0000/drivers.log", "", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        struct pyro_artefact_source source = source_of(paths[i].path, paths[i].head);
        assert_true(pyro_slice_eq(source.application, pyro_slice_from(paths[i].application)));
        assert_int_equal(source.application.ptr == NULL, paths[i].application == NULL);
        assert_true(pyro_slice_eq(source.executor, pyro_slice_from(paths[i].executor)));
        assert_int_equal(source.executor.ptr == NULL, paths[i].executor == NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_cut_lines),
        cmocka_unit_test(test_other_lines),
        cmocka_unit_test(test_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
