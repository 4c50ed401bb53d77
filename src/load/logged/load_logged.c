/* The event lines of an application's text logs into its columns. */
#include <stdio.h>

#include "base/json/scan.h"
#include "base/strings/strbuf.h"
#include "decode/builder.h"
#include "load/feed.h"
#include "load/load.h"
#include "load/logged/logged.h"

static bool apply(void *context, const struct pyro_batch *batch)
{
    return pyro_builder_apply(context, batch);
}

static bool reject_long(void *context, uint64_t len)
{
    return pyro_builder_reject_long(context, len);
}

static enum pyro_status put(void *context, const char *lines, size_t len, struct pyro_error *error)
{
    return pyro_feed_add(context, lines, len) ? PYRO_OK : pyro_no_memory(error);
}

/* What the report says of where it comes from. */
static bool add_notes(struct pyro_app *app, const struct pyro_logged *logged)
{
    char text[400];
    bool ok = true;
    if (logged->logs == 0) {
        ok = pyro_app_note(app, PYRO_SLICE_LITERAL("There is no event log and no text log: jobs, stages and tasks are "
                                                   "unknown. The other files say when the application ran"));
    } else {
        snprintf(text, sizeof(text),
                 "There is no event log: the application is made of %llu text log%s. Times are as exact as their "
                 "lines. What tasks read and wrote, their CPU time and memory, and plans of SQL are unknown",
                 (unsigned long long)logged->logs, logged->logs == 1 ? "" : "s");
        ok = pyro_app_note(app, pyro_slice_from(text));
    }
    if (ok && logged->logs > 0 && logged->executors.count > 0)
        ok = pyro_app_note(app, logged->slots != PYRO_NONE
                                    ? PYRO_SLICE_LITERAL("Cores of executors are the tasks that the driver says each "
                                                         "of them runs at once")
                                    : PYRO_SLICE_LITERAL("Cores of executors are the most tasks that each of them ran "
                                                         "at once: there may be more"));
    if (ok && !logged->named)
        ok = pyro_app_note(
            app, PYRO_SLICE_LITERAL("No file names the application: its id is the name of the folder or archive"));
    if (ok && logged->zone_assumed)
        ok = pyro_app_note(app, PYRO_SLICE_LITERAL("Times without a zone count as UTC"));
    if (ok && logged->lines.application_count > 1)
        ok = pyro_app_note(app, PYRO_SLICE_LITERAL("The logs are those of several runs: the one with the most tasks "
                                                   "counts"));
    if (ok && logged->lines.left_out > 0) {
        snprintf(text, sizeof(text), "Jobs and tasks beyond the limits were left out: %llu",
                 (unsigned long long)logged->lines.left_out);
        ok = pyro_app_note(app, pyro_slice_from(text));
    }
    return ok;
}

/* ---- Into batches ------------------------------------------------------------------------------------------------ */

static enum pyro_status write_batches(struct pyro_logged *logged, const struct pyro_load_settings *options,
                                      const struct pyro_load_sink *sink, struct pyro_error *error)
{
    struct pyro_feed feed;
    pyro_feed_init(&feed, options->allocator, sink, options->max_record_bytes);
    enum pyro_status status = pyro_logged_write(logged, put, &feed, error);
    if (status == PYRO_OK && !pyro_feed_end(&feed))
        status = pyro_no_memory(error);
    pyro_feed_done(&feed);
    return status;
}

enum pyro_status pyro_logged_batches(const struct pyro_log *log, const struct pyro_load_settings *options,
                                     const struct pyro_load_sink *sink, struct pyro_error *error)
{
    struct pyro_logged logged;
    enum pyro_status status = pyro_logged_read(log, options, &logged, error);
    if (status == PYRO_OK && sink->begin_part && !sink->begin_part(sink->context, log->path))
        status = pyro_no_memory(error);
    if (status == PYRO_OK)
        status = write_batches(&logged, options, sink, error);
    pyro_logged_done(&logged);
    return status;
}

/* ---- Line by line ------------------------------------------------------------------------------------------------ */

struct lines {
    struct pyro_strbuf text; /* with the padding that readers of lines want */
    pyro_line_callback *callback;
    void *context;
    bool stopped;
};

static enum pyro_status hand_out(void *context, const char *bytes, size_t len, struct pyro_error *error)
{
    struct lines *lines = context;
    static const char padding[PYRO_SCAN_PADDING];
    pyro_strbuf_clear(&lines->text);
    pyro_strbuf_add(&lines->text, bytes, len);
    pyro_strbuf_add(&lines->text, padding, sizeof(padding));
    if (lines->text.failed)
        return pyro_no_memory(error);
    const char *at = lines->text.data, *end = at + len;
    for (const char *newline; (newline = memchr(at, '\n', (size_t)(end - at))) != NULL; at = newline + 1) {
        lines->stopped = !lines->callback(lines->context, (struct pyro_slice){at, (size_t)(newline - at)});
        if (lines->stopped)
            return PYRO_ERROR_CANCELLED;
    }
    return PYRO_OK;
}

enum pyro_status pyro_logged_lines(const struct pyro_log *log, pyro_line_callback *callback, void *context,
                                   struct pyro_error *error)
{
    struct lines lines = {.callback = callback, .context = context};
    struct pyro_load_settings options;
    struct pyro_logged logged;
    PYRO_TRY(pyro_load_resolve(NULL, NULL, &options, error));
    pyro_strbuf_init(&lines.text, NULL);
    enum pyro_status status = pyro_logged_read(log, &options, &logged, error);
    if (status == PYRO_OK)
        status = pyro_logged_write(&logged, hand_out, &lines, error);
    pyro_logged_done(&logged);
    pyro_strbuf_done(&lines.text);
    return lines.stopped ? PYRO_OK : status;
}

/* ---- Into an application ----------------------------------------------------------------------------------------- */

static enum pyro_status build(struct pyro_logged *logged, const struct pyro_log *log,
                              const struct pyro_load_settings *options, struct pyro_builder *builder,
                              struct pyro_app **ret, struct pyro_error *error)
{
    const struct pyro_log_facts facts = {.in_progress = false};
    const struct pyro_load_sink sink = {.context = builder,
                                        .wanted = options->wanted & (PYRO_BATCH_HISTORY - 1),
                                        .apply = apply,
                                        .reject_long = reject_long};
    if (!pyro_builder_begin_part(builder, log->path))
        return pyro_no_memory(error);
    PYRO_TRY(write_batches(logged, options, &sink, error));
    PYRO_TRY(pyro_builder_finish(builder, &facts, false, ret, error));
    struct pyro_integrity *integrity = &(*ret)->integrity;
    integrity->logged = true;
    integrity->bytes = logged->bytes;
    integrity->lines = logged->text_lines;
    integrity->events.count = 0; /* these events were never logged */
    integrity->truncated = false;
    if (add_notes(*ret, logged))
        return PYRO_OK;
    pyro_app_release(*ret);
    *ret = NULL;
    return pyro_no_memory(error);
}

enum pyro_status pyro_logged_load(const struct pyro_log *log, const struct pyro_load_settings *options,
                                  struct pyro_app **ret, struct pyro_error *error)
{
    struct pyro_logged logged;
    struct pyro_builder builder;
    enum pyro_status status = pyro_logged_read(log, options, &logged, error);
    if (status == PYRO_OK) {
        status = pyro_builder_init(&builder, options->allocator, options->wanted, options->redaction, error);
        if (status == PYRO_OK)
            status = build(&logged, log, options, &builder, ret, error);
        pyro_builder_done(&builder);
    }
    pyro_logged_done(&logged);
    return status;
}
