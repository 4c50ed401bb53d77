#include "fleet/crawl/read_run.h"

#include <stdio.h>
#include <string.h>

#include "base/numbers/saturate.h"
#include "base/threads/thread.h"
#include "fleet/crawl/list_folders.h"
#include "load/load.h"

struct reader {
    const struct pyro_crawl_reading *reading;
    struct pyro_crawl_result *ret;
    struct pyro_load_options load;
    struct pyro_remote_options remote;
    struct pyro_options work;
    pyro_inputs *inputs;
    struct pyro_strbuf unread; /* the beginning of what could not be read */
    struct pyro_error error;
};

/* ---- Failures ---------------------------------------------------------------------------------------------------- */

static const char *type_of(enum pyro_status status, const char *usual)
{
    return status == PYRO_ERROR_MEMORY ? "no-memory" : status == PYRO_ERROR_INTERNAL ? "internal" : usual;
}

static void fail(struct reader *reader, enum pyro_status status, const char *step, const char *type)
{
    struct pyro_crawl_result *ret = reader->ret;
    ret->outcome = status == PYRO_ERROR_CANCELLED ? PYRO_CRAWL_STOPPED : PYRO_CRAWL_BROKEN;
    ret->step = step;
    ret->type = type_of(status, type);
    ret->lasting = reader->error.lasting != 0;
    snprintf(ret->message, sizeof(ret->message), "%s", reader->error.message);
}

static void skip(struct reader *reader, const char *why)
{
    reader->ret->outcome = PYRO_CRAWL_UNWANTED;
    snprintf(reader->ret->message, sizeof(reader->ret->message), "%s", why);
}

/* What could not be read, for people who look into it; text only. */
static void take_raw(struct reader *reader)
{
    struct pyro_slice text = pyro_strbuf_slice(&reader->unread);
    if (text.len > 0 && !memchr(text.ptr, '\0', text.len))
        reader->ret->raw = pyro_arena_copy(&reader->ret->arena, text);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* The log among those at the address; its index, or SIZE_MAX after a failure. */
static size_t open_inputs(struct reader *reader)
{
    const struct pyro_crawl_reading *reading = reader->reading;
    struct pyro_slice inside = PYRO_SLICE_NULL, address = reading->key;
    bool remote = reading->source ? reading->source->server : false;
    if (reading->source)
        address = pyro_crawl_address(reading->source, reading->key, &reader->ret->arena, &inside);
    enum pyro_status status = address.ptr
                                  ? pyro_inputs_open_keeping(&address.ptr, 1, &reader->load, &reader->work,
                                                             &reader->unread, &reader->inputs, &reader->error)
                                  : pyro_error_set(&reader->error, PYRO_ERROR_MEMORY, "no memory left for a log");
    if (status != PYRO_OK) {
        fail(reader, status, "read", "unreadable");
        return SIZE_MAX;
    }
    size_t count = pyro_inputs_count(reader->inputs), index = 0;
    while (index < count && inside.ptr && !pyro_slice_is(inside, pyro_inputs_path(reader->inputs, index)))
        index++;
    if (index < count)
        return index;
    if (!reading->source) {
        skip(reader, "its log is no longer there");
        return SIZE_MAX;
    }
    const char *why = pyro_inputs_unreadable_count(reader->inputs) ? pyro_inputs_unreadable_reason(reader->inputs, 0)
                                                                   : "the log is no longer there";
    reader->error.lasting = !remote;
    snprintf(reader->error.message, sizeof(reader->error.message), "%s", why);
    fail(reader, PYRO_ERROR_INPUT, remote ? "fetch" : "read", remote ? "unreachable" : "unreadable");
    const struct pyro_log_part part = {.path = address};
    if (!remote && !inside.ptr)
        pyro_log_beginning(&part, &reader->unread);
    take_raw(reader);
    return SIZE_MAX;
}

static bool load(struct reader *reader, size_t index)
{
    const struct pyro_log *log = pyro_inputs_log(reader->inputs, index);
    pyro_strbuf_clear(&reader->unread);
    enum pyro_status status = pyro_app_load_keeping(reader->inputs, index, &reader->load, &reader->work,
                                                    &reader->unread, &reader->ret->app, &reader->error);
    if (status == PYRO_OK)
        return true;
    bool remote = log && log->remote, fetch = remote && !reader->error.lasting;
    fail(reader, status, fetch ? "fetch" : "read", fetch ? "unreachable" : "unreadable");
    if (status == PYRO_ERROR_INPUT)
        take_raw(reader);
    return false;
}

/* Which of the runs there is meant was asked for by its id. */
static bool is_other(const struct reader *reader, const pyro_app *app)
{
    const struct pyro_crawl_reading *reading = reader->reading;
    struct pyro_slice attempt = app->application.attempt.ptr ? app->application.attempt : PYRO_SLICE_LITERAL("");
    return reading->app_id.ptr && app->application.id.len > 0 &&
           (!pyro_slice_eq(reading->app_id, app->application.id) || !pyro_slice_eq(reading->attempt, attempt));
}

static bool is_wanted(struct reader *reader)
{
    const struct pyro_crawl_settings *settings = reader->reading->settings;
    const pyro_app *app = reader->ret->app;
    if (reader->reading->app_id.ptr) {
        if (is_other(reader, app))
            skip(reader, "another run is at its path now");
        return !is_other(reader, app);
    }
    int64_t end_ms = app->application.end_ms;
    if (!pyro_crawl_settings_wants(settings, pyro_slice_from(pyro_app_name(app)))) {
        skip(reader, "its name is not one of those that are wanted");
        return false;
    }
    if (settings->min_end_ms != PYRO_NONE && end_ms != PYRO_NONE && end_ms < settings->min_end_ms) {
        skip(reader, "it ended earlier than what is wanted");
        return false;
    }
    return true;
}

/* "history" of "http://history:18080/base": what Spot calls a server. */
static struct pyro_slice host_of(const char *label)
{
    const char *host = strstr(label, "://");
    host = host ? host + 3 : label;
    size_t len = *host == '[' ? strcspn(host, "]") : strcspn(host, ":/");
    return *host == '[' ? (struct pyro_slice){host + 1, len - 1} : (struct pyro_slice){host, len};
}

/* What a store keeps of the run. */
static enum pyro_status make_run(struct reader *reader)
{
    struct pyro_crawl_result *ret = reader->ret;
    const struct pyro_crawl_source *source = reader->reading->source;
    const char *host = NULL;
    if (source && source->server && !(host = pyro_arena_copy(&ret->arena, host_of(source->label)).ptr))
        return pyro_error_set(&reader->error, PYRO_ERROR_MEMORY, "no memory left for the name of a server");
    const struct pyro_run_origin origin = {.source = source ? source->label : NULL,
                                           .history_host = host,
                                           .history_version = reader->reading->history_version};
    PYRO_TRY(pyro_run_make(ret->diagnosis, &origin, &ret->run, &reader->error));
    ret->outcome = PYRO_CRAWL_MADE;
    const struct pyro_crawl_settings *settings = reader->reading->settings;
    if (!pyro_enrich(&settings->enrichers, settings->redaction, &ret->run, &ret->arena, &ret->failures) ||
        !pyro_classify(&settings->classes, &ret->run))
        return pyro_error_set(&reader->error, PYRO_ERROR_MEMORY, "no memory left for what is known of a run");
    return PYRO_OK;
}

static void diagnose(struct reader *reader)
{
    struct pyro_crawl_result *ret = reader->ret;
    enum pyro_status status = pyro_diagnose(ret->app, NULL, &reader->work, &ret->diagnosis, &reader->error);
    if (status == PYRO_OK &&
        (status = reader->reading->judge(reader->reading->context, ret->diagnosis, &reader->error)) != PYRO_OK) {
        /* Without the feedback it would be another report than the next one. */
        fail(reader, status, "store", "unread");
        ret->lasting = false;
        return;
    }
    if (status == PYRO_OK)
        status = make_run(reader);
    if (status == PYRO_OK)
        return;
    if (ret->outcome == PYRO_CRAWL_MADE)
        pyro_run_done(&ret->run);
    fail(reader, status, "diagnose", "undiagnosed");
}

void pyro_crawl_read(const struct pyro_crawl_reading *reading, struct pyro_crawl_result *ret)
{
    const struct pyro_crawl_settings *settings = reading->settings;
    struct reader reader = {.reading = reading, .ret = ret, .error.size = sizeof(reader.error)};
    int64_t began_ms = pyro_clock_ms();
    *ret = (struct pyro_crawl_result){.outcome = PYRO_CRAWL_BROKEN};
    pyro_arena_init(&ret->arena, settings->allocator);
    reader.remote = (struct pyro_remote_options){
        .size = sizeof(reader.remote), .timeout_s = settings->timeout_s, .max_bytes = settings->max_bytes};
    if (reading->source) {
        reader.remote.mode = reading->source->mode;
        reader.remote.user = reading->source->user;
        reader.remote.token = reading->source->token;
    }
    reader.load = (struct pyro_load_options){.size = sizeof(reader.load),
                                             .remote = &reader.remote,
                                             .unlimited = settings->unlimited,
                                             .redaction = settings->redaction,
                                             .history = 1};
    reader.work = (struct pyro_options){.size = sizeof(reader.work),
                                        .allocator = settings->allocator,
                                        .threads = 1,
                                        .progress = reading->progress,
                                        .progress_context = reading->context};
    pyro_strbuf_init(&reader.unread, settings->allocator);
    size_t index = open_inputs(&reader);
    if (index != SIZE_MAX && load(&reader, index) && is_wanted(&reader))
        diagnose(&reader);
    pyro_inputs_close(reader.inputs);
    pyro_strbuf_done(&reader.unread);
    ret->wall_ms = pyro_sub_saturating(pyro_clock_ms(), began_ms);
}

void pyro_crawl_result_done(struct pyro_crawl_result *result)
{
    if (result->outcome == PYRO_CRAWL_MADE)
        pyro_run_done(&result->run);
    pyro_diagnosis_free(result->diagnosis);
    pyro_app_release(result->app);
    pyro_vec_done(&result->failures, result->arena.allocator);
    pyro_arena_done(&result->arena);
    *result = (struct pyro_crawl_result){.outcome = PYRO_CRAWL_BROKEN};
}
