/* What of a message is a value: each case as message and masked text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strings/slice.h"
#include "decode/logs/repeats/mask.h"
#include "model/column.h"

struct masking {
    const char *message, *masked;
};

static void assert_masked(const struct masking *cases, size_t count)
{
    struct pyro_masked masked;
    for (size_t i = 0; i < count; i++) {
        pyro_mask(pyro_slice_from(cases[i].message), &masked);
        masked.text[masked.len] = '\0';
        assert_string_equal(masked.text, cases[i].masked);
    }
}

#define ASSERT_MASKED(cases) assert_masked(cases, sizeof(cases) / sizeof(*(cases)))

static void test_messages_of_spark(void **state)
{
    (void)state;
    static const struct masking cases[] = {
        {"Running task 0.0 in stage 1.0 (TID 3)", "Running task <*> in stage <*> (TID <*>)"},
        {"Finished task 1.0 in stage 0.0 (TID 1) in 15 ms on 10.0.0.1 (executor 1) (1/2)",
         "Finished task <*> in stage <*> (TID <*>) in <*> on <*> (executor <*>) (<*>)"},
        {"Block broadcast_5_piece0 stored as bytes in memory (estimated size 12.3 KiB, free 434.4 MiB)",
         "Block <*> stored as bytes in memory (estimated size <*>, free <*>)"},
        {"Added rdd_3_4 in memory on localhost:40611 (size: 5.0 KiB, free: 434.4 MiB)",
         "Added <*> in memory on <*> (size: <*>, free: <*>)"},
        {"Submitting 3 missing tasks from ResultStage 2 (MapPartitionsRDD[5] at collect at job.py:12) (first 15 tasks "
         "are "
         "for partitions Vector(0, 1, 2))",
         "Submitting <*> missing tasks from ResultStage <*> (MapPartitionsRDD[<*>] at <*>) (first <*> tasks "
         "are "
         "for partitions Vector(<*>))"},
        {"Missing parents: List()", "Missing parents: List(<*>)"},
        {"Missing parents: List(ShuffleMapStage 0, ShuffleMapStage 1)", "Missing parents: List(<*>)"},
        {"Lost task 0.0 in stage 1.0 (TID 3) (10.0.0.1 executor 2): java.lang.RuntimeException: boom at row 17",
         "Lost task <*> in stage <*> (TID <*>) (<*> executor <*>): java.lang.RuntimeException: <*>"},
        {"Successfully started service 'sparkDriver' on port 40611.", "Successfully started service <*> on port <*>."},
        {"Code generated in 12.345678 ms", "Code generated in <*>"},
        {"Registering block manager 10.0.0.1:40611 with 434.4 MiB RAM, BlockManagerId(driver, 10.0.0.1, 40611, None)",
         "Registering block manager <*> with <*> RAM, BlockManagerId(driver, <*>, None)"},
        {"Will request 2 executor container(s), each with <memory:1408, vCores:1>",
         "Will request <*> executor container(s), each with <memory:<*>, vCores:<*>>"},
    };
    ASSERT_MASKED(cases);
}

static void test_values(void **state)
{
    (void)state;
    static const struct masking cases[] = {
        {"id application_1709280000000_0001 done", "id <*> done"},
        {"on container_1709280000000_0001_01_000002: exit 137", "on <*>: exit <*>"},
        {"uuid 3f2504e0-4f89-11d3-9a0c-0305e82c3301.", "uuid <*>."},
        {"shuffle_1_2_0, rdd_3_4 and broadcast_5_piece0", "<*> and <*>"},
        {"task_202403011015_0001_m_000001_0", "<*>"},
        {"at 0x7fff5fbff8c8 and deadbeef01", "at <*> and <*>"},
        {"24/03/01 10:15:02 2024-03-01T10:15:02.123Z", "<*> <*> <*>"},
        {"-5 +3 1.5E-5 50% 1,234,567", "<*> <*> <*> <*> <*>"},
        {"took 2.5 s, 3.0 m and 4 min", "took <*> and <*>"},
        {"512 B of 1.0 GiB; 5 bytes; 3 members", "<*> of <*>; <*> bytes; <*> members"},
        {"retry after 5 s.", "retry after <*>."},
        {"size:5 [n=3] {k:v7}", "size:<*> [n=<*>] {k:<*>}"},
    };
    ASSERT_MASKED(cases);
}

static void test_paths_and_names(void **state)
{
    (void)state;
    static const struct masking cases[] = {
        {"reading /var/lib/data.", "reading <*>."},
        {"to hdfs://nn:8020/t/day=2024-03-01/part-0.parquet, range 0-5", "to <*>, range <*>"},
        {"at spark://master:7077", "at <*>"},
        {"profile org/apache/spark/defaults.properties", "profile <*>"},
        {"read/write of ~/x and ./y", "read/write of <*> and <*>"},
        {"a / b", "a / b"},
        {"BlockManager@abcdef, user@host", "<*>"},
        {"log4j and s3a stay, org.apache.log4j.Logger too", "log4j and s3a stay, org.apache.log4j.Logger too"},
        {"host1 and thread-7 do not", "<*> and <*> do not"},
        {"Starting job: collect at /home/me/job.py:12", "Starting job: <*>"},
        {"(start at Native.java:0), at 12:30, stop at 5:00", "(<*>), at <*>, stop at <*>"},
        {"class org.apache.spark.executor.Executor", "class org.apache.spark.executor.Executor"},
        {"`table` of \"a b\" isn't 'x'", "<*> of <*> isn't <*>"},
        {"an \"open one", "an \"open one"},
    };
    ASSERT_MASKED(cases);
}

static void test_lines_and_blanks(void **state)
{
    (void)state;
    static const struct masking cases[] = {
        {"", ""},
        {"  \n ", ""},
        {"\n  first  line\there \r\nsecond", "first line here"},
        {"a b", "a b"},
    };
    ASSERT_MASKED(cases);
    struct pyro_masked masked;
    pyro_mask(PYRO_SLICE_NULL, &masked);
    assert_int_equal(masked.len, 0);
}

static void test_long_texts_are_cut(void **state)
{
    (void)state;
    enum { LONG = 10000 };
    struct pyro_masked masked;
    char *text = malloc(LONG);
    assert_non_null(text);
    memset(text, 'a', LONG);
    pyro_mask((struct pyro_slice){text, LONG}, &masked);
    assert_int_equal(masked.len, PYRO_MASK_BYTES + strlen(PYRO_MASK));
    assert_true(pyro_slice_ends_with((struct pyro_slice){masked.text, masked.len}, "a" PYRO_MASK));
    pyro_mask((struct pyro_slice){text, PYRO_MASK_BYTES}, &masked);
    assert_int_equal(masked.len, PYRO_MASK_BYTES);
    for (size_t i = 0; i + 1 < LONG; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    pyro_mask((struct pyro_slice){text + 1, LONG - 1}, &masked);
    assert_true(masked.len <= PYRO_MASK_BYTES + strlen(PYRO_MASK));
    assert_true((unsigned char)masked.text[masked.len - strlen(PYRO_MASK) - 1] == 0xa9);
    memset(text, '/', LONG);
    pyro_mask((struct pyro_slice){text, LONG}, &masked);
    assert_true(pyro_slice_is((struct pyro_slice){masked.text, masked.len}, PYRO_MASK));
    free(text);
}

static int64_t stage_of(const char *message)
{
    struct pyro_masked masked;
    pyro_mask(pyro_slice_from(message), &masked);
    return masked.stage;
}

static void test_stages(void **state)
{
    (void)state;
    assert_int_equal(stage_of("Running task 0.0 in stage 13.0 (TID 3)"), 13);
    assert_int_equal(stage_of("Submitting ShuffleMapStage 4 (of stage 5)"), 4);
    assert_int_equal(stage_of("Removed TaskSet 6.1, whose tasks have all completed"), 6);
    assert_int_equal(stage_of("Adding task set 7.0 with 2 tasks"), 7);
    assert_int_equal(stage_of("stage 2147483647"), INT32_MAX);
    assert_true(stage_of("stage 2147483648") == PYRO_NONE);
    assert_true(stage_of("stage 99999999999999999999") == PYRO_NONE);
    assert_true(stage_of("storage 4 and 5") == PYRO_NONE);
    assert_true(stage_of("stage x1") == PYRO_NONE);
    assert_int_equal(pyro_mask_stage(pyro_slice_from("task 0.0 in stage 1.0 (TID 3)")), 1);
    assert_true(pyro_mask_stage(pyro_slice_from("stage ")) == PYRO_NONE);
    assert_true(pyro_mask_stage(PYRO_SLICE_NULL) == PYRO_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_of_spark),  cmocka_unit_test(test_values),
        cmocka_unit_test(test_paths_and_names),    cmocka_unit_test(test_lines_and_blanks),
        cmocka_unit_test(test_long_texts_are_cut), cmocka_unit_test(test_stages),
    };
    return cmocka_run_group_tests_name("mask", tests, NULL, NULL);
}
