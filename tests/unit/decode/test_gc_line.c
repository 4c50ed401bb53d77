/* Lines and records of garbage collectors' logs, as JDK 7, 8 and 17 write them. Whole logs of real runs:
 * tests/e2e/test_bundles.py; all combinations of flags and decorations: tests/profiling/test_gc_logs.py. */
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

/* The only event of a text of one or more lines; false: it has none. */
static bool read_text(struct pyro_slice text, struct pyro_gc_event *ret)
{
    struct pyro_gc_reader reader = {0};
    struct pyro_gc_event event;
    unsigned count = 0;
    while (text.len > 0) {
        const char *end = memchr(text.ptr, '\n', text.len);
        struct pyro_slice line = {text.ptr, end ? (size_t)(end - text.ptr) : text.len};
        if (pyro_gc_reader_next(&reader, line, &event))
            count++, *ret = event;
        pyro_slice_drop(&text, line.len + (end != NULL));
    }
    if (pyro_gc_reader_end(&reader, &event))
        count++, *ret = event;
    assert_true(count <= 1);
    return count == 1;
}

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
     "Full GC (Ergonomics)", PYRO_NONE, 3500000, 123456700, 500 * KIB, 400 * KIB, true},
    {"0.75: [GC pause (G1 Evacuation Pause) (young), 0.0123000 secs]", "GC pause (G1 Evacuation Pause) (young)",
     PYRO_NONE, 750000, 12300000, PYRO_NONE, PYRO_NONE, true},
    /* Without a level and tags, with other times, and without any decoration. */
    {"[2024-03-01T10:15:02.123+0100][1.234s] GC(0) Pause Mark Start 1.500ms", "Pause Mark Start", 1709284502123,
     1234000, 1500000, PYRO_NONE, PYRO_NONE, true},
    {"GC(7) Pause Young (Normal) (G1 Evacuation Pause) 24M->5M(256M) 10.500ms",
     "Pause Young (Normal) (G1 Evacuation Pause)", PYRO_NONE, PYRO_NONE, 10500000, 24 * MIB, 5 * MIB, true},
    {"[1709284502123ms][1234ms][1234567890ns][node-1][77][debug] GC(1) Concurrent Mark 13.2ms", "Concurrent Mark",
     1709284502123, 1234567, 13200000, PYRO_NONE, PYRO_NONE, false},
    /* Names of one collector inside another's record, stamps, ids, and both signs of a decimal. */
    {"1,234: #3: [GC (Allocation Failure) 1,234: #3: [ParNew: 4928K->512K(4928K), 0,0053000 secs] "
     "4928K->3345K(15872K), "
     "0,0055001 secs] [Times: user=0,02 sys=0,01, real=0,01 secs]",
     "GC (Allocation Failure)", PYRO_NONE, 1234000, 5500100, 4928 * KIB, 3345 * KIB, true},
    {"1.5: [GC[YG occupancy: 15 K (6 K)]1.5: [Rescan (parallel) , 0.0100000 secs] [1 CMS-remark: 1K(2K)] 3K(4K), "
     "0.0200000 secs]",
     "GC", PYRO_NONE, 1500000, 20000000, PYRO_NONE, PYRO_NONE, true},
    {"1.5: [GC-- [PSYoungGen: 5K->5K(6K)] 9K->8K(10K), 0.5000000 secs]", "GC", PYRO_NONE, 1500000, 500000000, 9 * KIB,
     8 * KIB, true},
    {"2.5: [CMS-concurrent-mark: 0.010/0.013 secs] [Times: user=0.01 sys=0.00, real=0.01 secs]", "CMS-concurrent-mark",
     PYRO_NONE, 2500000, 13000000, PYRO_NONE, PYRO_NONE, false},
    {"2.5: [GC concurrent-mark-end, 0.0123000 secs]", "GC concurrent-mark", PYRO_NONE, 2500000, 12300000, PYRO_NONE,
     PYRO_NONE, false},
    {" CMS: abort preclean due to time 2.5: [CMS-concurrent-abortable-preclean: 0.100/5.000 secs]",
     "CMS-concurrent-abortable-preclean", PYRO_NONE, 2500000, 5000000000, PYRO_NONE, PYRO_NONE, false},
    /* Over several lines. */
    {"1.5: [GC (Allocation Failure) 1.5: [DefNew\n"
     "Desired survivor size 262144 bytes, new threshold 1 (max 15)\n"
     "- age   1:     524288 bytes,     524288 total\n"
     ": 4928K->512K(4928K), 0.0053000 secs] 4928K->3345K(15872K), 0.0055000 secs] [Times: user=0.02 sys=0.01, "
     "real=0.01 "
     "secs]",
     "GC (Allocation Failure)", PYRO_NONE, 1500000, 5500000, 4928 * KIB, 3345 * KIB, true},
    {"11.1: [GC pause (G1 Evacuation Pause) (young) 11.1: [G1Ergonomics (CSet Construction) start, _pending_cards: 0]\n"
     " 11.1: [G1Ergonomics (CSet Construction) finish, eden: 100 regions]\n"
     ", 0.2000000 secs]\n"
     "   [Parallel Time: 190.0 ms, GC Workers: 4]\n"
     "   [Eden: 400.0M(400.0M)->0.0B(380.0M) Survivors: 0.0B->20.0M Heap: 400.0M(4096.0M)->22.5M(4096.0M)]\n"
     " [Times: user=0.70 sys=0.02, real=0.20 secs]",
     "GC pause (G1 Evacuation Pause) (young)", PYRO_NONE, 11100000, 200000000, 400 * MIB, 22 * MIB + 512 * KIB, true},
    {"1.5: [Full GC (Allocation Failure) 1.5: [CMS1.6: [CMS-concurrent-mark: 0.100/0.200 secs] [Times: user=0.02 "
     "sys=0.01, real=0.01 secs] \n"
     " (concurrent mode failure): 50K->40K(60K), 0.5000000 secs] 70K->40K(80K), [Metaspace: 1K->1K(2K)], 0.6000000 "
     "secs]",
     "Full GC (Allocation Failure)", PYRO_NONE, 1500000, 600000000, 70 * KIB, 40 * KIB, true},
    {"1.5: [GC (CMS Final Remark) [YG occupancy: 5 K (6 K)]{Heap before GC invocations=1 (full 1):\n"
     " par new generation   total 6K, used 5K [0x0000000640000000, 0x00000006a0000000, 0x00000006a0000000)\n"
     "1.5: [GC (CMS Final Remark) 1.5: [ParNew: 5K->1K(6K), 0.0100000 secs] 9K->5K(10K), 0.0110000 secs]\n"
     "Heap after GC invocations=2 (full 1):\n"
     "}\n"
     "1.6: [Rescan (parallel) , 0.0100000 secs] [1 CMS-remark: 4K(5K)] 5K(10K), 0.0300000 secs]",
     "GC (CMS Final Remark)", PYRO_NONE, 1500000, 30000000, PYRO_NONE, PYRO_NONE, true},
    {"1.5: [Full GC (System.gc()) 1.5: [Class Histogram (before full gc): \n"
     "   1:          1234         567890  [C\n"
     "   2:            12           3456  [Ljava.lang.Object;\n"
     ", 0.1000000 secs] 50K->40K(60K), 0.2000000 secs]",
     "Full GC (System.gc())", PYRO_NONE, 1500000, 200000000, 50 * KIB, 40 * KIB, true},
    /* Shenandoah. */
    {"2020-03-10T08:03:29.314-0400: 0.376: #2: [Pause Init Mark (process weakrefs), 1.001 ms]",
     "Pause Init Mark (process weakrefs)", 1583841809314, 376000, 1001000, PYRO_NONE, PYRO_NONE, true},
    {"463.322: [Concurrent update references  10G->9784M(18G), 17.012 ms]", "Concurrent update references", PYRO_NONE,
     463322000, 17012000, 10240 * MIB, 9784 * MIB, false},
    {"0.2: [Pause Final Mark, start]\n"
     "    Using 2 of 2 workers for final marking\n"
     "0.5: [Pause Final Mark 1447M->684M(2048M), 2,279 ms]",
     "Pause Final Mark", PYRO_NONE, 500000, 2279000, 1447 * MIB, 684 * MIB, true},
    {"0.5: [Concurrent marking    Cancelling concurrent GC: Allocation Failure\n"
     " 50M->60M(64M), 3.500 ms]",
     "Concurrent marking", PYRO_NONE, 500000, 3500000, 50 * MIB, 60 * MIB, false},
    /* The first record was cut when the process died; another one follows in the same file. */
    {"1.5: [GC (Allocation Failure) [PSYoungGen: 5K->\n"
     "9.5: [GC (Metadata GC Threshold) [PSYoungGen: 5K->5K(6K)] 9K->8K(10K), 0.5000000 secs]",
     "GC (Metadata GC Threshold)", PYRO_NONE, 9500000, 500000000, 9 * KIB, 8 * KIB, true},
};

static void test_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
        const struct sample *sample = &samples[i];
        struct pyro_gc_event event;
        assert_true(read_text(pyro_slice_from(sample->line), &event));
        assert_string_equal(event.name, sample->name);
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
            if (read_text((struct pyro_slice){copy, len}, &event))
                assert_true(strlen(event.name) <= len);
            pyro_gc_line_known((struct pyro_slice){copy, len});
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
        "0.5: [Pause Init Mark, start]",
        "0.5: [Pause Init Mark, 3.587 secs]",
        "0.5: [Pause 7, 3.587 ms]",
        "0.5: [Concurrent marking, 99999999999999999999 ms]",
        "Pause Init Mark (G)        =     0.04 s (a =     7001 us)",
        "1.0: [GC (Allocation Failure) 99999999999999999999G->0K(2K), 99999999999999999999 secs]",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct pyro_gc_event event;
        assert_false(read_text(pyro_slice_from(lines[i]), &event));
    }
}

/* What tells a log of the garbage collector from other texts, also where no collection is in its beginning. */
static void test_known_lines(void **state)
{
    (void)state;
    static const char *const known[] = {
        "[0.012s][info][gc] Using G1",
        "[2024-03-01T10:15:02.123+0100][1.234s] Using The Z Garbage Collector",
        "Using Parallel",
        "GC(0) Pause Young (Normal) (G1 Evacuation Pause)",
        "CommandLine flags: -XX:InitialHeapSize=4294967296 -XX:+PrintGC -XX:+UseParallelGC ",
        "{Heap before GC invocations=0 (full 0):",
        "1.5: [GC pause (young)",
        "[Concurrent reset 1222M->1222M(1678M), 2.952 ms]",
        "1.5: [Pause Final Update Refs, start]",
        "2019-02-14T10:10:07.123+0100: 1.234: Total time for which application threads were stopped: 0.0001 seconds",
    };
    static const char *const other[] = {
        "",
        "Using G1 is recommended",
        "[GC] started",
        "[Pause] 1",
        "[Concurrent 7 ms]",
        "[GCLogger (main)] 1 secs]",
        "GC(0) is what a pause is called",
        "24/03/01 10:15:02 INFO Executor: Running task 0.0 in stage 1.0 (TID 3)",
        "OpenJDK 64-Bit Server VM warning: ignoring option MaxPermSize",
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        assert_true(pyro_gc_line_known(pyro_slice_from(known[i])));
    for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
        assert_false(pyro_gc_line_known(pyro_slice_from(other[i])));
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
        {"app-20240301101500-0000/app-20240301101500-0000-7.gc", "", "app-20240301101500-0000", "7"},
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
        cmocka_unit_test(test_lines),       cmocka_unit_test(test_cut_lines), cmocka_unit_test(test_other_lines),
        cmocka_unit_test(test_known_lines), cmocka_unit_test(test_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
