/* Feeding a log as it grows: pieces do not show, snapshots do not change. */
#include "kit.h"

static void pieces_do_not_show(void **state)
{
    (void)state;
    struct pyro_strbuf whole, other;
    size_t len = strlen(kit_small_log);
    const char *path = kit_path("small");
    pyro_strbuf_init(&whole, NULL);
    pyro_strbuf_init(&other, NULL);
    kit_write(path, kit_small_log, len);
    kit_report(kit_feed(path, kit_small_log, len, len, NULL), &whole);
    for (size_t piece = 1; piece < 300; piece = piece * 2 + 1) {
        kit_report(kit_feed(path, kit_small_log, len, piece, NULL), &other);
        assert_string_equal(other.data, whole.data);
    }
    kit_report(kit_load(path, NULL), &other);
    assert_string_equal(other.data, whole.data);
    pyro_strbuf_done(&whole);
    pyro_strbuf_done(&other);
}

static void snapshots_stay(void **state)
{
    (void)state;
    enum { SNAPSHOTS = 40 };
    pyro_app *kept[SNAPSHOTS];
    struct pyro_strbuf before[SNAPSHOTS], log, now;
    struct pyro_error error = {.size = sizeof(error)};
    pyro_decoder *decoder = NULL;
    pyro_app *app = NULL;
    pyro_strbuf_init(&log, NULL);
    pyro_strbuf_init(&now, NULL);
    pyro_strbuf_add_text(&log, kit_small_log);
    for (int i = 2; i < 12000; i++) /* several chunks of tasks, and texts that make the pool grow */
        kit_add_task(&log, i);
    assert_int_equal(pyro_decoder_new("log", NULL, NULL, &decoder, &error), PYRO_OK);
    size_t piece = log.len / SNAPSHOTS;
    for (int i = 0; i < SNAPSHOTS; i++) {
        assert_int_equal(pyro_decoder_feed(decoder, log.data + (size_t)i * piece, piece, &error), PYRO_OK);
        assert_int_equal(pyro_decoder_snapshot(decoder, &kept[i], &error), PYRO_OK);
        pyro_strbuf_init(&before[i], NULL);
        kit_report(pyro_app_retain(kept[i]), &before[i]);
    }
    size_t rest = log.len - SNAPSHOTS * piece;
    assert_int_equal(pyro_decoder_feed(decoder, log.data + SNAPSHOTS * piece, rest, &error), PYRO_OK);
    assert_int_equal(pyro_decoder_finish(decoder, &app, &error), PYRO_OK);
    pyro_decoder_free(decoder);
    for (int i = 0; i < SNAPSHOTS; i++) { /* the decoder is freed, the newest application is used: nothing changes */
        kit_report(kept[i], &now);
        assert_string_equal(now.data, before[i].data);
        pyro_strbuf_done(&before[i]);
    }
    struct pyro_strbuf whole;
    pyro_strbuf_init(&whole, NULL);
    kit_report(app, &now);
    kit_report(kit_feed("log", log.data, log.len, log.len, NULL), &whole);
    assert_string_equal(now.data, whole.data);
    pyro_strbuf_done(&whole);
    pyro_strbuf_done(&log);
    pyro_strbuf_done(&now);
}

static void nothing_to_read(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "\n\n", "no log\n", "{\"Event\":\"Own\"}\n"};
    for (size_t i = 0; i < 4; i++) {
        struct pyro_error error = {.size = sizeof(error)};
        pyro_decoder *decoder = NULL;
        pyro_app *app = NULL;
        assert_int_equal(pyro_decoder_new("the log", NULL, NULL, &decoder, &error), PYRO_OK);
        assert_int_equal(pyro_decoder_feed(decoder, texts[i], strlen(texts[i]), &error), PYRO_OK);
        assert_int_equal(pyro_decoder_snapshot(decoder, &app, &error), PYRO_OK); /* it may still come */
        pyro_app_release(app);
        app = NULL;
        assert_int_equal(pyro_decoder_finish(decoder, &app, &error), PYRO_ERROR_INPUT);
        assert_string_equal(error.path, "the log");
        assert_null(app);
        assert_int_equal(pyro_decoder_feed(decoder, "x", 1, &error), PYRO_ERROR_ARGUMENT);
        assert_int_equal(pyro_decoder_finish(decoder, &app, &error), PYRO_ERROR_ARGUMENT);
        assert_int_equal(pyro_decoder_snapshot(decoder, &app, &error), PYRO_ERROR_ARGUMENT);
        pyro_decoder_free(decoder);
    }
}

static void arguments(void **state)
{
    (void)state;
    struct pyro_error error = {.size = sizeof(error)};
    pyro_decoder *decoder = NULL;
    struct {
        struct pyro_load_options load;
        char newer[16];
    } large = {.load = {.size = sizeof(large)}};
    static const size_t sizes[] = {0, 1, sizeof(size_t) - 1, SIZE_MAX};
    for (size_t i = 0; i < 4; i++) {
        struct pyro_options options = {.size = sizes[i]};
        assert_int_equal(pyro_decoder_new("x", NULL, &options, &decoder, &error), PYRO_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, "size"));
    }
    /* A newer caller's longer one, as long as it does not ask for what this library does not know. */
    assert_int_equal(pyro_decoder_new("x", &large.load, NULL, &decoder, &error), PYRO_OK);
    pyro_decoder_free(decoder);
    large.newer[15] = 1;
    assert_int_equal(pyro_decoder_new("x", &large.load, NULL, &decoder, &error), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_decoder_new(NULL, NULL, NULL, &decoder, &error), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_decoder_new("x", NULL, NULL, NULL, &error), PYRO_ERROR_ARGUMENT);
    /* An older caller's shorter struct: what lies behind it is not looked at. */
    struct pyro_load_options older = {.size = offsetof(struct pyro_load_options, wanted), .max_record_bytes = 5000};
    older.remote = (const struct pyro_remote_options *)(uintptr_t)1;
    assert_int_equal(pyro_decoder_new("x", &older, NULL, &decoder, NULL), PYRO_OK);
    assert_int_equal(pyro_decoder_feed(decoder, NULL, 5, NULL), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_decoder_feed(decoder, NULL, 0, NULL), PYRO_OK);
    assert_int_equal(pyro_decoder_feed(NULL, "x", 1, NULL), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_decoder_snapshot(decoder, NULL, NULL), PYRO_ERROR_ARGUMENT);
    pyro_decoder_free(decoder);
    pyro_decoder_free(NULL);
}

static int clean(void **state)
{
    (void)state;
    kit_clean();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_do_not_show),
        cmocka_unit_test(snapshots_stay),
        cmocka_unit_test(nothing_to_read),
        cmocka_unit_test(arguments),
    };
    return cmocka_run_group_tests_name("decoder", tests, NULL, clean);
}
