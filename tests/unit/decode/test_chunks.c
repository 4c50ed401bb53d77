/* What logs repeat: templates, blocks, groups, and the exact form. Random logs: tests/e2e/test_log_chunks.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/logs/repeats/chunks.h"
#include "model/column.h"

struct setup {
    struct pyro_chunks *chunks;
    struct pyro_error error;
    int64_t time_ms; /* of the next record */
    const struct pyro_log_chunk *found;
    size_t count;
};

static void start(struct setup *setup, struct pyro_chunks_options options)
{
    *setup = (struct setup){.error = {.size = sizeof(setup->error)}, .time_ms = 1000};
    assert_int_equal(pyro_chunks_new(NULL, &options, &setup->chunks, &setup->error), PYRO_OK);
}

static void take(struct setup *setup, const char *container, const char *message)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/stderr", container);
    struct pyro_log_file file = {.path = pyro_slice_from(path), .container = pyro_slice_from(container)};
    struct pyro_log_record record = {.time_ms = setup->time_ms++,
                                     .level = message[0] == 'W' ? PYRO_LEVEL_WARN : PYRO_LEVEL_INFO,
                                     .logger = PYRO_SLICE_LITERAL("Test"),
                                     .message = pyro_slice_from(message)};
    assert_int_equal(pyro_chunks_take(setup->chunks, &file, &record, &setup->error), PYRO_OK);
}

static void finish(struct setup *setup)
{
    assert_int_equal(pyro_chunks_finish(setup->chunks, &setup->found, &setup->count, &setup->error), PYRO_OK);
}

static void assert_chunk(const struct pyro_log_chunk *chunk, uint64_t count, const char *lines)
{
    char text[1024] = "";
    size_t len = 0;
    for (size_t i = 0; i < chunk->line_count; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.*s", i ? "|" : "", (int)chunk->lines[i].len,
                                chunk->lines[i].ptr);
    assert_string_equal(text, lines);
    assert_int_equal(chunk->count, count);
}

static void test_templates_and_a_block(void **state)
{
    struct setup setup;
    (void)state;
    start(&setup, (struct pyro_chunks_options){.exact = false});
    take(&setup, "b", "Waiting in stage 7.0");
    for (int i = 0; i < 3; i++) {
        take(&setup, i < 2 ? "b" : "a", "Opened block 5");
        take(&setup, i < 2 ? "b" : "a", "Warmed up in stage 3.0");
        take(&setup, i < 2 ? "b" : "a", "Closed block 5");
        take(&setup, i < 2 ? "b" : "a", i % 2 ? "Waiting in stage 8.0" : "Resting");
    }
    take(&setup, "a", "Opened block 6");
    finish(&setup);
    assert_int_equal(setup.count, 4);
    const struct pyro_log_chunk *block = &setup.found[0];
    assert_chunk(block, 3, "Opened block <*>|Warmed up in stage <*>|Closed block <*>");
    assert_null(block->template_text.ptr);
    assert_null(block->group.ptr);
    assert_int_equal(block->level, PYRO_LEVEL_WARN);
    assert_int_equal(block->first_ms, 1001);
    assert_int_equal(block->last_ms, 1013);
    assert_int_equal(block->container_count, 2);
    assert_true(pyro_slice_is(block->containers[0], "a") && pyro_slice_is(block->containers[1], "b"));
    assert_int_equal(block->stage_count, 1);
    assert_int_equal(block->stages[0], 3);
    assert_true(block->share == 9.0 / 14);
    assert_chunk(&setup.found[1], 2, "Waiting in stage <*>");
    assert_true(pyro_slice_is(setup.found[1].template_text, "Waiting in stage <*>"));
    assert_int_equal(setup.found[1].stage_count, 2);
    assert_int_equal(setup.found[1].stages[1], 8);
    assert_chunk(&setup.found[2], 2, "Resting");
    assert_chunk(&setup.found[3], 1, "Opened block <*>"); /* the one outside the block */
    pyro_chunks_free(setup.chunks);
}

static void test_no_block_across_files(void **state)
{
    struct setup setup;
    (void)state;
    start(&setup, (struct pyro_chunks_options){.exact = false});
    for (int i = 0; i < 4; i++) {
        take(&setup, "b", "Second");
        take(&setup, "a", "First");
    }
    finish(&setup);
    assert_int_equal(setup.count, 2);
    assert_chunk(&setup.found[0], 4, "Second");
    assert_chunk(&setup.found[1], 4, "First");
    pyro_chunks_free(setup.chunks);
}

static void test_by_container(void **state)
{
    struct setup setup;
    (void)state;
    start(&setup, (struct pyro_chunks_options){.by = PYRO_CHUNKS_BY_CONTAINER});
    for (int i = 0; i < 3; i++)
        take(&setup, "a", "Hello");
    for (int i = 0; i < 5; i++)
        take(&setup, "b", "Hello");
    take(&setup, "", "Hello");
    finish(&setup);
    assert_int_equal(setup.count, 3);
    assert_chunk(&setup.found[0], 5, "Hello");
    assert_true(pyro_slice_is(setup.found[0].group, "b"));
    assert_chunk(&setup.found[1], 3, "Hello");
    assert_true(pyro_slice_is(setup.found[1].group, "a"));
    assert_true(setup.found[2].group.ptr && setup.found[2].group.len == 0);
    assert_int_equal(setup.found[2].container_count, 0);
    pyro_chunks_free(setup.chunks);
}

static void test_by_stage(void **state)
{
    struct setup setup;
    (void)state;
    start(&setup, (struct pyro_chunks_options){.by = PYRO_CHUNKS_BY_STAGE});
    for (int i = 0; i < 4; i++) {
        take(&setup, "a", "Running stage 12.0");
        take(&setup, "a", "Ran stage 12.0");
        take(&setup, "a", i ? "Running stage 5.0" : "Idle");
    }
    finish(&setup);
    assert_int_equal(setup.count, 3);
    assert_chunk(&setup.found[0], 4, "Running stage <*>|Ran stage <*>");
    assert_true(pyro_slice_is(setup.found[0].group, "12"));
    assert_chunk(&setup.found[1], 3, "Running stage <*>");
    assert_true(pyro_slice_is(setup.found[1].group, "5"));
    assert_chunk(&setup.found[2], 1, "Idle");
    assert_true(setup.found[2].group.ptr && setup.found[2].group.len == 0);
    pyro_chunks_free(setup.chunks);
}

static void test_sets_are_bounded(void **state)
{
    struct setup setup;
    char container[16], message[32];
    (void)state;
    start(&setup, (struct pyro_chunks_options){.exact = false});
    for (int i = 0; i < 150; i++) {
        snprintf(container, sizeof(container), "c%03d", 149 - i);
        snprintf(message, sizeof(message), "Hello stage %d", 149 - i);
        take(&setup, container, message);
    }
    finish(&setup);
    assert_int_equal(setup.count, 1);
    assert_int_equal(setup.found[0].container_count, 100);
    assert_true(pyro_slice_is(setup.found[0].containers[0], "c050"));
    assert_true(pyro_slice_is(setup.found[0].containers[99], "c149"));
    assert_int_equal(setup.found[0].stage_count, 100);
    assert_int_equal(setup.found[0].stages[0], 50);
    pyro_chunks_free(setup.chunks);
}

static void take_lines(struct setup *setup)
{
    static const char *const lines[] = {
        "24/03/01 10:15:02 INFO Foo: once",
        "24/03/01 10:15:02 INFO Foo: twice",
        "24/03/01 10:15:03 WARN Foo: twice",
        "24/03/01 10:15:03 WARNING Foo: as in the original \t",
        "\tat no.level(Here.java:1)",
        "24/03/01 10:15:03 info Foo: retry after error code 5",
        "24/03/01 10:15:04 ERROR  code 5",
        "x error",
        "x error ",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        assert_int_equal(pyro_chunks_take_line(setup->chunks, pyro_slice_from(lines[i]), &setup->error), PYRO_OK);
}

static void test_exact(void **state)
{
    struct setup setup;
    (void)state;
    start(&setup, (struct pyro_chunks_options){.exact = true});
    take_lines(&setup);
    finish(&setup);
    assert_int_equal(setup.count, 5);
    assert_chunk(&setup.found[0], 2, "Foo: twice");
    assert_chunk(&setup.found[1], 2, "code 5");
    assert_chunk(&setup.found[2], 2, "");
    assert_chunk(&setup.found[3], 1, "Foo: once");
    assert_chunk(&setup.found[4], 1, "ING Foo: as in the original");
    assert_null(setup.found[0].template_text.ptr);
    assert_true(setup.found[0].share == 2.0 / 8 && setup.found[0].first_ms == PYRO_NONE);
    pyro_chunks_free(setup.chunks);
    start(&setup, (struct pyro_chunks_options){.exact = true, .level = PYRO_SLICE_LITERAL("Info")});
    take_lines(&setup);
    finish(&setup);
    assert_int_equal(setup.count, 1);
    assert_chunk(&setup.found[0], 1, "Foo: once|Foo: twice");
    pyro_chunks_free(setup.chunks);
}

static void test_nothing(void **state)
{
    struct setup setup;
    (void)state;
    for (int exact = 0; exact < 2; exact++) {
        start(&setup, (struct pyro_chunks_options){.exact = exact});
        finish(&setup);
        assert_int_equal(setup.count, 0);
        pyro_chunks_free(setup.chunks);
    }
    struct pyro_chunks_options both = {.exact = true, .by = PYRO_CHUNKS_BY_STAGE};
    assert_int_equal(pyro_chunks_new(NULL, &both, &setup.chunks, &setup.error), PYRO_ERROR_ARGUMENT);
    pyro_chunks_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_templates_and_a_block),
        cmocka_unit_test(test_no_block_across_files),
        cmocka_unit_test(test_by_container),
        cmocka_unit_test(test_by_stage),
        cmocka_unit_test(test_sets_are_bounded),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests_name("chunks", tests, NULL, NULL);
}
