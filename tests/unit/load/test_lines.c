/* The search for ends of lines looks at each byte a bounded number of times, however long a line is and in whatever
 * pieces it comes. The program is linked so that the functions that look at bytes count them. */
#include <stdatomic.h>
#include <unistd.h>
#include <zstd.h>

#include "base/memory/allocator.h"
#include "history/history.h"
#include "kit.h"
#include "load/lines.h"
#include "load/load.h"

static atomic_size_t looked_at;

void *__real_memchr(const void *memory, int byte, size_t len);
void *__real_memrchr(const void *memory, int byte, size_t len);
void *__real_memmove(void *to, const void *from, size_t len);
void *__wrap_memchr(const void *memory, int byte, size_t len);
void *__wrap_memrchr(const void *memory, int byte, size_t len);
void *__wrap_memmove(void *to, const void *from, size_t len);

void *__wrap_memchr(const void *memory, int byte, size_t len)
{
    const char *found = __real_memchr(memory, byte, len);
    atomic_fetch_add(&looked_at, found ? (size_t)(found - (const char *)memory) + 1 : len);
    return pyro_unconst(found);
}

void *__wrap_memrchr(const void *memory, int byte, size_t len)
{
    const char *found = __real_memrchr(memory, byte, len);
    atomic_fetch_add(&looked_at, found ? len - (size_t)(found - (const char *)memory) : len);
    return pyro_unconst(found);
}

void *__wrap_memmove(void *to, const void *from, size_t len)
{
    atomic_fetch_add(&looked_at, len);
    return __real_memmove(to, from, len);
}

/* Times that a byte may be looked at or moved. */
enum { MOST = 4, LONG_LINE = 24 << 20, SHORT_LINE = 100 };

static struct pyro_strbuf text; /* of a log with a long line among short ones */

static void make_text(size_t line)
{
    pyro_strbuf_init(&text, NULL);
    pyro_strbuf_add_text(&text, "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.6\"}\n");
    kit_add_filler(&text, line);
    for (int i = 0; i < 1000; i++)
        kit_add_filler(&text, SHORT_LINE);
    kit_add_filler(&text, line);
    pyro_strbuf_add_text(&text, "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"a\",\"App ID\":\"app-1\","
                                "\"Timestamp\":1,\"User\":\"u\"}\n");
    kit_add_filler(&text, line);
    pyro_strbuf_add_text(&text, "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":2}\n");
    assert_false(text.failed);
}

static int setup(void **state)
{
    (void)state;
    make_text(LONG_LINE);
    size_t bound = ZSTD_compressBound(text.len);
    char *packed = malloc(bound);
    size_t len = ZSTD_compress(packed, bound, text.data, text.len, 1);
    kit_write(kit_path("plain"), text.data, text.len);
    kit_write(kit_path("packed"), packed, len);
    free(packed);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pyro_strbuf_done(&text);
    kit_clean();
    return 0;
}

static void expect_linear(const char *what)
{
    size_t times = atomic_load(&looked_at) / text.len;
    if (times > MOST)
        fail_msg("%s looks at each byte %zu times", what, times);
}

static pyro_inputs *open_log(const char *name)
{
    const char *path = kit_path(name);
    pyro_inputs *inputs = NULL;
    const struct pyro_load_options options = {.size = sizeof(options), .unlimited = 1};
    assert_int_equal(pyro_inputs_open(&path, 1, &options, NULL, &inputs, NULL), PYRO_OK);
    assert_int_equal(pyro_inputs_count(inputs), 1);
    atomic_store(&looked_at, 0);
    return inputs;
}

static void test_scanning(void **state)
{
    static const char *const names[] = {"plain", "packed"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct pyro_attempt attempt;
        struct pyro_arena arena;
        pyro_inputs *inputs = open_log(names[i]);
        pyro_arena_init(&arena, NULL);
        assert_int_equal(pyro_attempt_scan(inputs, 0, &arena, &attempt, NULL), PYRO_OK);
        assert_true(attempt.completed);
        expect_linear(names[i]);
        struct pyro_access_lists lists;
        atomic_store(&looked_at, 0);
        assert_int_equal(pyro_attempt_access(pyro_inputs_log(inputs, 0), &arena, &lists, NULL), PYRO_OK);
        expect_linear(names[i]);
        pyro_arena_done(&arena);
        pyro_inputs_close(inputs);
    }
}

static void test_loading(void **state)
{
    static const char *const names[] = {"plain", "packed"};
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        struct kit_options options = {KIT_SIZES, .work.threads = i / 2 % 2 ? 3 : 1};
        options.load.max_record_bytes = i < 4 ? 0 : 1 << 20;
        pyro_inputs *inputs = open_log(names[i % 2]);
        pyro_app *app = NULL;
        assert_int_equal(pyro_app_load(inputs, 0, &options.load, &options.work, &app, NULL), PYRO_OK);
        expect_linear(names[i % 2]);
        pyro_app_release(app);
        pyro_inputs_close(inputs);
    }
}

static void test_feeding(void **state)
{
    enum { PIECE = 1000 };
    pyro_decoder *decoder = NULL;
    struct pyro_history_follower *follower = NULL;
    (void)state;
    for (uint64_t most = 0; most <= 1 << 20; most += 1 << 20) {
        const struct pyro_load_options options = {.size = sizeof(options), .max_record_bytes = most};
        assert_int_equal(pyro_decoder_new("log", &options, NULL, &decoder, NULL), PYRO_OK);
        atomic_store(&looked_at, 0);
        for (size_t at = 0; at < text.len; at += PIECE)
            assert_int_equal(
                pyro_decoder_feed(decoder, text.data + at, text.len - at < PIECE ? text.len - at : PIECE, NULL),
                PYRO_OK);
        expect_linear("a decoder");
        pyro_decoder_free(decoder);
    }
    assert_int_equal(pyro_history_follower_new(true, NULL, PYRO_REDACT_WIDE, &follower, NULL), PYRO_OK);
    atomic_store(&looked_at, 0);
    for (size_t at = 0; at < text.len; at += PIECE)
        assert_int_equal(
            pyro_history_follower_feed(follower, text.data + at, text.len - at < PIECE ? text.len - at : PIECE, NULL),
            PYRO_OK);
    expect_linear("a follower");
    pyro_history_follower_free(follower);
}

/* A line that comes in many pieces, each of which is looked at. */
static void test_growing(void **state)
{
    enum { PIECE = 100 << 10 };
    struct pyro_history_follower *follower = NULL;
    (void)state;
    FILE *file = fopen(kit_path("grows.inprogress"), "wb");
    size_t looked = 0, bytes = 8 << 20;
    for (size_t at = 0; at < bytes; at += PIECE) {
        struct pyro_history *history = NULL;
        assert_int_equal(fwrite(text.data + at, 1, PIECE, file), PIECE);
        assert_int_equal(fflush(file), 0);
        pyro_inputs *inputs = open_log("grows.inprogress");
        assert_int_equal(pyro_history_follow(&follower, inputs, 0, false, NULL, NULL, &history, NULL), PYRO_OK);
        looked += atomic_load(&looked_at);
        pyro_history_release(history);
        pyro_inputs_close(inputs);
    }
    fclose(file);
    pyro_history_follower_free(follower);
    assert_in_range(looked, 0, MOST * bytes);
}

static int drop(void *context, const void *data, size_t len)
{
    (void)context;
    (void)data;
    (void)len;
    return 0;
}

static void test_exporting(void **state)
{
    const struct pyro_writer writer = {sizeof(writer), drop, NULL};
    (void)state;
    pyro_inputs *inputs = open_log("packed");
    assert_int_equal(pyro_export_anonymized(inputs, 0, NULL, NULL, &writer, NULL, NULL), PYRO_OK);
    expect_linear("an export");
    pyro_inputs_close(inputs);
}

/* A part may have a limit, and then nothing beyond it is kept. */
static void test_limits(void **state)
{
    static const char *const names[] = {"plain", "packed"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct pyro_arena arena;
        struct pyro_attempt attempt;
        struct pyro_error error = {.size = sizeof(error)};
        pyro_app *app = NULL;
        const struct pyro_options options = {.size = sizeof(options), .threads = 3};
        pyro_inputs *inputs = open_log(names[i]);
        pyro_inputs_log(inputs, 0)->parts[0].most_line_bytes = LONG_LINE / 2;
        pyro_arena_init(&arena, NULL);
        assert_int_equal(pyro_attempt_scan(inputs, 0, &arena, &attempt, &error), PYRO_ERROR_INPUT);
        assert_non_null(strstr(error.message, "--max-upload-line"));
        assert_int_equal(pyro_app_load(inputs, 0, NULL, &options, &app, &error), PYRO_ERROR_INPUT);
        assert_non_null(strstr(error.message, "--max-upload-line"));
        pyro_inputs_log(inputs, 0)->parts[0].most_line_bytes = LONG_LINE * 2;
        assert_int_equal(pyro_app_load(inputs, 0, NULL, &options, &app, &error), PYRO_OK);
        pyro_app_release(app);
        pyro_arena_done(&arena);
        pyro_inputs_close(inputs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scanning), cmocka_unit_test(test_loading),   cmocka_unit_test(test_feeding),
        cmocka_unit_test(test_growing),  cmocka_unit_test(test_exporting), cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
