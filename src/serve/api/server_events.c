/* events: what changes in the list of applications, as server-sent events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
#include <time.h>

#include "base/memory/allocator.h"
#include "serve/api/api_request.h"

enum { WAIT_MS = 500, QUIET_S = 15 };

struct events {
    struct pyro_catalog *catalog;
    struct serve_request asker;           /* a copy: who asks, for `visible` */
    const struct pyro_catalog_list *list; /* as the client knows it */
    struct pyro_strbuf text;
    size_t taken;
    time_t spoken;
    bool greeted;
};

static int append(void *context, const void *data, size_t len)
{
    pyro_strbuf_add(context, data, len);
    return 0;
}

struct change {
    const struct pyro_catalog_app *app;
    const struct pyro_attempt *attempt;
    const struct pyro_catalog_list *list;
    const char *kind; /* "added", "changed", "removed" */
};

static void add_event(struct events *events, const char *name, const struct change *change)
{
    struct pyro_writer writer = {sizeof(writer), append, &events->text};
    struct pyro_output output;
    struct pyro_json_writer json;
    struct pyro_catalog_log_info log = pyro_catalog_list_log(change->list, change->attempt);
    pyro_strbuf_printf(&events->text, "event: %s\ndata: ", name);
    pyro_output_init(&output, &writer, NULL);
    pyro_json_writer_init(&json, &output);
    pyro_json_begin(&json, NULL, '{');
    pyro_json_text(&json, "app", change->app->id);
    pyro_json_text(&json, "attempt", change->attempt->attempt_id);
    pyro_json_text(&json, "name", change->app->name);
    pyro_json_string(&json, "change", change->kind);
    pyro_json_bool(&json, "completed", change->attempt->completed);
    pyro_json_count(&json, "bytes", log.bytes);
    pyro_json_int(&json, "modified_ms", change->attempt->modified_ms);
    pyro_json_end(&json, '}');
    pyro_ignore_status(pyro_output_done(&output, NULL), "the buffer knows that it is incomplete");
    pyro_strbuf_add_text(&events->text, "\n\n");
}

static bool has_changed(const struct pyro_catalog_list *before, const struct pyro_attempt *old,
                        const struct pyro_catalog_list *now, const struct pyro_attempt *attempt)
{
    struct pyro_catalog_log_info was = pyro_catalog_list_log(before, old), is = pyro_catalog_list_log(now, attempt);
    return old->completed != attempt->completed || old->modified_ms != attempt->modified_ms || was.bytes != is.bytes ||
           was.files != is.files;
}

/* What `now` has beyond `before`; `gone`: the other way round. */
static void add_differences(struct events *events, const struct pyro_catalog_list *before,
                            const struct pyro_catalog_list *now, bool gone)
{
    size_t count;
    const struct pyro_catalog_app *apps = pyro_catalog_list_apps(now, &count);
    for (size_t i = 0; i < count; i++) {
        const struct pyro_catalog_app *known = pyro_catalog_list_find(before, apps[i].id);
        for (size_t k = 0; k < apps[i].attempt_count; k++) {
            struct change change = {&apps[i], &apps[i].attempts[k], now, gone ? "removed" : "added"};
            const struct pyro_attempt *old = known ? pyro_catalog_app_attempt(known, change.attempt->attempt_id) : NULL;
            if (old && (gone || !has_changed(before, old, now, change.attempt)))
                continue;
            change.kind = old ? "changed" : change.kind;
            add_event(events, old && !change.attempt->completed ? "progress" : "application", &change);
        }
    }
}

/* What the asker may see of the list as it is now; to be released. */
static const struct pyro_catalog_list *list_now(struct events *events)
{
    const struct pyro_catalog_list *all = pyro_catalog_list(events->catalog);
    if (!events->asker.visible)
        return all;
    const struct pyro_catalog_list *seen = pyro_catalog_list_visible(all, events->asker.visible, &events->asker);
    pyro_catalog_list_release(all);
    return seen;
}

static void look(struct events *events)
{
    uint64_t known = pyro_catalog_list_generation(events->list);
    if (pyro_catalog_wait(events->catalog, known, WAIT_MS) == known)
        return;
    const struct pyro_catalog_list *now = list_now(events);
    if (!now)
        return; /* no memory: the next look may have some */
    add_differences(events, events->list, now, false);
    add_differences(events, now, events->list, true);
    pyro_catalog_list_release(events->list);
    events->list = now;
}

static int64_t read_events(void *context, char *buffer, size_t size)
{
    struct events *events = context;
    if (!events->greeted) {
        pyro_strbuf_add_text(&events->text, "retry: 2000\n\n");
        events->greeted = true;
    } else if (events->taken == events->text.len) {
        if (pyro_catalog_stopping(events->catalog))
            return SERVE_STREAM_END;
        look(events);
        /* Proxies and the operating system end what is silent for too long. */
        if (events->taken == events->text.len && time(NULL) - events->spoken >= QUIET_S)
            pyro_strbuf_add_text(&events->text, ": nothing new\n\n");
    }
    size_t there = events->text.len - events->taken;
    if (events->text.failed)
        return SERVE_STREAM_BROKEN;
    if (!there)
        return SERVE_STREAM_LATER;
    size_t got = there < size ? there : size;
    memcpy(buffer, events->text.data + events->taken, got);
    events->taken += got;
    events->spoken = time(NULL);
    if (events->taken == events->text.len) {
        pyro_strbuf_clear(&events->text);
        events->taken = 0;
    }
    return (int64_t)got;
}

static void close_events(void *context)
{
    struct events *events = context;
    pyro_catalog_list_release(events->list);
    pyro_strbuf_done(&events->text);
    pyro_release(NULL, events);
}

void pyro_api_events(struct api_request *request)
{
    struct serve_request *http = request->http;
    struct events *events = pyro_allocate(NULL, sizeof(*events));
    if (!events) {
        pyro_api_error(http, 503, "no memory left: try again later");
        return;
    }
    *events = (struct events){.catalog = http->catalog, .asker = *http, .spoken = time(NULL)};
    pyro_strbuf_init(&events->text, NULL);
    events->list = list_now(events);
    if (!events->list) {
        close_events(events);
        pyro_api_error(http, 503, "no memory left: try again later");
        return;
    }
    http->type = "text/event-stream";
    pyro_serve_header(http, "X-Accel-Buffering", PYRO_SLICE_LITERAL("no"));
    http->stream = (struct serve_stream){.read = read_events, .close = close_events, .context = events, .length = -1};
}
