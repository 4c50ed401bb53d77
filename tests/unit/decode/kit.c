#include "kit.h"

#include "base/strings/intern.h"

void kit_start(struct kit *kit, uint32_t wanted)
{
    memset(kit, 0, sizeof(*kit));
    kit->error.size = sizeof(kit->error);
    assert_int_equal(pyro_builder_init(&kit->builder, NULL, wanted, PYRO_REDACT_WIDE, &kit->error), PYRO_OK);
    assert_true(pyro_builder_begin_part(&kit->builder, PYRO_SLICE_LITERAL("log")));
    pyro_batch_init(&kit->batch, NULL, pyro_scan_best(), 1 << 20, wanted);
}

void kit_feed_raw(struct kit *kit, const char *text, size_t len)
{
    char *copy = malloc(len + PYRO_SCAN_PADDING);
    assert_non_null(copy);
    memcpy(copy, text, len);
    memset(copy + len, '"', PYRO_SCAN_PADDING); /* what follows the text must not matter */
    pyro_batch_clear(&kit->batch);
    assert_true(pyro_batch_decode(&kit->batch, copy, len));
    assert_true(pyro_builder_apply(&kit->builder, &kit->batch));
    free(copy);
}

void kit_feed(struct kit *kit, const char *text)
{
    size_t len = strlen(text);
    char *quoted = malloc(len + 1);
    assert_non_null(quoted);
    for (size_t i = 0; i <= len; i++)
        quoted[i] = text[i] == '\'' ? '"' : text[i];
    kit_feed_raw(kit, quoted, len);
    free(quoted);
}

struct pyro_app *kit_finish(struct kit *kit)
{
    const struct pyro_log_facts facts = {0};
    assert_int_equal(pyro_builder_finish(&kit->builder, &facts, false, &kit->app, &kit->error), PYRO_OK);
    return kit->app;
}

void kit_done(struct kit *kit)
{
    pyro_app_release(kit->app);
    pyro_batch_done(&kit->batch);
    pyro_builder_done(&kit->builder);
}

struct pyro_app *kit_decode(struct kit *kit, const char *text)
{
    kit_start(kit, 0);
    kit_feed(kit, text);
    return kit_finish(kit);
}

int64_t kit_task(const struct pyro_app *app, enum pyro_task_column column, size_t row)
{
    assert_true(row < app->tasks.count);
    return pyro_task_get(&app->tasks, column, row);
}

const char *kit_task_text(const struct pyro_app *app, enum pyro_task_column column, size_t row)
{
    int64_t text = kit_task(app, column, row);
    return text == PYRO_NONE ? NULL : pyro_app_text(app, text).ptr;
}

uint64_t kit_events(const struct pyro_app *app, const char *name)
{
    for (size_t i = 0; i < app->integrity.events.count; i++)
        if (pyro_slice_is(app->integrity.events.items[i].name, name))
            return app->integrity.events.items[i].count;
    return 0;
}

void assert_text(struct pyro_slice text, const char *expected)
{
    if (!expected) {
        assert_null(text.ptr);
        return;
    }
    assert_non_null(text.ptr);
    assert_string_equal(text.ptr, expected);
    assert_int_equal(text.len, strlen(expected));
}
