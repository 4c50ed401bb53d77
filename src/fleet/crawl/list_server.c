/* The list of a History Server: its applications by the time they ended, the newest first, in pages. */
#include <stdio.h>
#include <time.h>

#include "base/json/json_read.h"
#include "base/json/unescape.h"
#include "base/memory/allocator.h"
#include "base/numbers/saturate.h"
#include "fleet/crawl/list_folders.h"
#include "source/http/http.h"

enum {
    PAGE = 1000,
    MOST_PAGE = 1000000,     /* if this number ends in one millisecond */
    MOST_ATTEMPTS = 5000000, /* of one list: more is not a list, and memory is limited */
    TRIES = 4,
    TIMEOUT_S = 120
};
#define ANSWER_BYTES (UINT64_C(256) << 20)

static enum pyro_status no_memory(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for the list of a server");
}

struct pyro_slice pyro_crawl_api(const struct pyro_crawl_source *source, struct pyro_arena *arena)
{
    return pyro_arena_printf(arena, "%s/api/v1/applications", source->given);
}

/* ---- One answer -------------------------------------------------------------------------------------------------- */

struct attempt {
    struct pyro_slice id; /* as written; null: none */
    int64_t end_ms, updated_ms;
    bool completed;
};

/* One page of the list, as it is read. */
struct page {
    const struct pyro_crawl_listing *listing;
    struct pyro_crawl_list *list;
    bool running;        /* those are asked for that have not ended */
    size_t applications; /* of this page */
    size_t all;          /* and of those before it, wanted or not */
    int64_t earliest_ms; /* the least end of an application; PYRO_NONE: none has ended */
    struct pyro_json_reader json;
    bool failed; /* no memory */
};

static bool take_attempt(struct page *page, struct attempt *ret)
{
    PYRO_JSON_KEYS(keys, (ATTEMPT_ID, "attemptId"), (COMPLETED, "completed"), (UPDATED, "lastUpdatedEpoch"),
                   (ENDED, "endTimeEpoch"));
    struct pyro_json_object object;
    *ret = (struct attempt){.end_ms = -1, .updated_ms = -1};
    if (!pyro_json_enter_object(&page->json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT_KNOWN(&page->json, &object, keys)) != PYRO_JSON_END;)
        switch (key) {
        case ATTEMPT_ID:
            pyro_json_take_string(&page->json, &ret->id, NULL);
            break;
        case COMPLETED:
            pyro_json_take_bool(&page->json, &ret->completed);
            break;
        case UPDATED:
            pyro_json_take_int(&page->json, &ret->updated_ms);
            break;
        default:
            pyro_json_take_int(&page->json, &ret->end_ms);
        }
    return !page->json.error;
}

/* Keys hold ids as addresses do: nothing else in them has a slash. */
static void escape(struct pyro_strbuf *to, struct pyro_slice raw)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, to->allocator);
    pyro_text_decode(&text, raw, NULL);
    pyro_http_escape(to, pyro_strbuf_slice(&text));
    to->failed |= text.failed;
    pyro_strbuf_done(&text);
}

static bool is_wanted(const struct page *page, const struct attempt *attempt)
{
    const struct pyro_crawl_settings *settings = page->listing->settings;
    if (!attempt->completed)
        return page->running && attempt->updated_ms >= 0 &&
               pyro_add_saturating(attempt->updated_ms, settings->still_ms) <= pyro_store_now_ms();
    return settings->min_end_ms == PYRO_NONE || attempt->end_ms >= settings->min_end_ms;
}

static bool add_attempt(struct page *page, struct pyro_slice id, const struct attempt *attempt)
{
    struct pyro_strbuf name;
    char stamp[64];
    if (!is_wanted(page, attempt))
        return true;
    pyro_strbuf_init(&name, page->listing->settings->allocator);
    escape(&name, id);
    pyro_strbuf_add_char(&name, '/');
    if (attempt->id.ptr)
        escape(&name, attempt->id);
    snprintf(stamp, sizeof(stamp), "%lld:%lld", (long long)attempt->end_ms, (long long)attempt->updated_ms);
    bool ok =
        !name.failed && pyro_crawl_list_add(page->listing, page->list, pyro_strbuf_slice(&name), pyro_slice_from(stamp),
                                            attempt->completed ? attempt->end_ms : attempt->updated_ms);
    pyro_strbuf_done(&name);
    return ok;
}

static void take_attempts(struct page *page, struct pyro_slice id, struct pyro_slice name, struct pyro_slice attempts)
{
    struct pyro_json_reader outer = page->json;
    int64_t newest_ms = PYRO_NONE;
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, page->listing->settings->allocator);
    pyro_text_decode(&text, name, NULL);
    bool wanted = pyro_crawl_settings_wants(page->listing->settings, pyro_strbuf_slice(&text));
    pyro_strbuf_done(&text);
    pyro_json_reader_start(&page->json, attempts.ptr, attempts.ptr + attempts.len, pyro_scan_best());
    if (pyro_json_enter_array(&page->json))
        for (bool first = true; !page->failed && pyro_json_next_element(&page->json, &first);) {
            struct attempt attempt;
            if (!take_attempt(page, &attempt))
                break;
            if (attempt.completed && attempt.end_ms > 0 && (newest_ms == PYRO_NONE || attempt.end_ms > newest_ms))
                newest_ms = attempt.end_ms;
            page->failed |= wanted && !add_attempt(page, id, &attempt);
        }
    if (newest_ms != PYRO_NONE && (page->earliest_ms == PYRO_NONE || newest_ms < page->earliest_ms))
        page->earliest_ms = newest_ms;
    if (!page->json.error)
        page->json = outer;
}

static void take_application(struct page *page)
{
    PYRO_JSON_KEYS(keys, (ID, "id"), (NAME, "name"), (ATTEMPTS, "attempts"));
    struct pyro_json_object object;
    struct pyro_slice id = PYRO_SLICE_NULL, name = PYRO_SLICE_LITERAL(""), attempts = PYRO_SLICE_NULL;
    if (!pyro_json_enter_object(&page->json, &object)) {
        pyro_json_refuse(&page->json, "an application that is not an object");
        return;
    }
    for (int key; (key = PYRO_JSON_NEXT_KNOWN(&page->json, &object, keys)) != PYRO_JSON_END;)
        if (key == ID)
            pyro_json_take_string(&page->json, &id, NULL);
        else if (key == NAME)
            pyro_json_take_string(&page->json, &name, NULL);
        else
            pyro_json_take_raw(&page->json, &attempts);
    if (page->json.error)
        return;
    if (!id.ptr || !attempts.ptr) {
        pyro_json_refuse(&page->json, "an application without id or attempts");
        return;
    }
    page->applications++;
    take_attempts(page, id, name, attempts);
}

static void start(struct pyro_json_reader *json, struct pyro_strbuf *body)
{
    for (size_t i = 0; i < body->len; i++) /* which does not count as white space where records are lines */
        body->data[i] = body->data[i] == '\n' || body->data[i] == '\r' ? ' ' : body->data[i];
    pyro_json_reader_start(json, body->data, body->data + body->len, pyro_scan_best());
}

static enum pyro_status read_page(struct page *page, struct pyro_strbuf *body, struct pyro_error *error)
{
    start(&page->json, body);
    if (pyro_json_peek(&page->json) != '[')
        return pyro_error_set(error, PYRO_ERROR_INPUT,
                              "it does not answer as Spark's History Server does: check the address");
    pyro_json_enter_array(&page->json);
    for (bool first = true; !page->failed && pyro_json_next_element(&page->json, &first);)
        take_application(page);
    if (page->failed)
        return no_memory(error);
    page->all += page->applications;
    if (page->list->seen > MOST_ATTEMPTS || page->all > MOST_ATTEMPTS)
        return pyro_error_set(error, PYRO_ERROR_INPUT, "it lists more than %d applications or attempts",
                              (int)MOST_ATTEMPTS);
    if (page->json.error)
        return pyro_error_set(error, PYRO_ERROR_INPUT, "its list of applications cannot be read: %s", page->json.error);
    return PYRO_OK;
}

/* ---- All pages --------------------------------------------------------------------------------------------------- */

/* Appends "&KEY=2026-01-31T12:00:00.000GMT". */
static void add_time(struct pyro_strbuf *url, const char *key, int64_t ms)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm utc;
    char text[40];
    if (!gmtime_r(&seconds, &utc) || strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc) == 0)
        return;
    pyro_strbuf_printf(url, "&%s=%s.%03dGMT", key, text, (int)(ms % 1000));
}

static bool is_stopped(void *context, uint64_t received, uint64_t expected)
{
    (void)received;
    (void)expected;
    return pyro_stop_is_asked(context);
}

static enum pyro_status get_page(struct pyro_http *http, const char *url, struct pyro_strbuf *body,
                                 struct pyro_error *error)
{
    struct pyro_exchange_answer answer = {0};
    pyro_strbuf_clear(body);
    PYRO_TRY(pyro_http_get_text(http, url, ANSWER_BYTES, TRIES, body, &answer, error));
    if (answer.status != 200)
        return PYRO_ERROR_INPUT; /* the error says which */
    if (body->len == 0 || answer.html)
        return pyro_error_set(error, PYRO_ERROR_INPUT, "it answers with a web page instead of Spark's REST API");
    return PYRO_OK;
}

static enum pyro_status list_pages(struct page *page, struct pyro_http *http, const char *api, struct pyro_error *error)
{
    struct pyro_strbuf url, body;
    enum pyro_status status = PYRO_OK;
    size_t limit = PAGE;
    int64_t until_ms = PYRO_NONE;
    pyro_strbuf_init(&url, page->listing->settings->allocator);
    pyro_strbuf_init(&body, page->listing->settings->allocator);
    for (bool more = true; more && status == PYRO_OK;) {
        pyro_strbuf_clear(&url);
        pyro_strbuf_printf(&url, "%s?status=%s&limit=%zu", api, page->running ? "running" : "completed", limit);
        if (page->listing->from_ms != PYRO_NONE && page->listing->from_ms > 0 && !page->running)
            add_time(&url, "minEndDate", page->listing->from_ms);
        if (until_ms != PYRO_NONE)
            add_time(&url, "maxEndDate", until_ms);
        page->applications = 0;
        page->earliest_ms = PYRO_NONE;
        status = url.failed ? no_memory(error) : get_page(http, url.data, &body, error);
        if (status == PYRO_OK)
            status = read_page(page, &body, error);
        /* The next page begins where this one ended: what ended in the same millisecond is in both. A page that ends no
         * earlier than the one before it is of a server that does not look at the time. */
        more = page->applications >= limit && limit < MOST_PAGE;
        if (page->earliest_ms == PYRO_NONE || (until_ms != PYRO_NONE && page->earliest_ms >= until_ms))
            limit *= 10;
        else
            until_ms = page->earliest_ms;
    }
    pyro_strbuf_done(&url);
    pyro_strbuf_done(&body);
    return status;
}

/* The Spark version of the server. A missing version is not a failure: runs are counted by their own. */
static enum pyro_status ask_version(const struct pyro_crawl_listing *listing, struct pyro_http *http,
                                    struct pyro_crawl_list *ret, struct pyro_error *error)
{
    PYRO_JSON_KEYS(keys, (SPARK, "spark"));
    struct pyro_slice url = pyro_arena_printf(&ret->arena, "%s/api/v1/version", listing->source->given),
                      raw = PYRO_SLICE_NULL;
    struct pyro_error own = {.size = sizeof(own)};
    struct pyro_strbuf body, text;
    struct pyro_json_reader json;
    struct pyro_json_object object;
    pyro_strbuf_init(&body, listing->settings->allocator);
    pyro_strbuf_init(&text, listing->settings->allocator);
    enum pyro_status status = url.ptr ? get_page(http, url.ptr, &body, &own) : no_memory(&own);
    if (status == PYRO_OK) {
        start(&json, &body);
        if (pyro_json_peek(&json) == '{' && pyro_json_enter_object(&json, &object))
            while (PYRO_JSON_NEXT_KNOWN(&json, &object, keys) != PYRO_JSON_END)
                pyro_json_take_string(&json, &raw, NULL);
        if (!json.error && raw.len)
            pyro_text_decode(&text, raw, NULL);
        if (text.len)
            ret->version = pyro_arena_copy(&ret->arena, pyro_strbuf_slice(&text));
        if (text.failed || (text.len && !ret->version.ptr))
            status = no_memory(&own);
    }
    pyro_strbuf_done(&body);
    pyro_strbuf_done(&text);
    if (status == PYRO_OK || status == PYRO_ERROR_INPUT)
        return PYRO_OK;
    pyro_error_copy(error, &own);
    return status;
}

enum pyro_status pyro_crawl_list_server(const struct pyro_crawl_listing *listing, struct pyro_crawl_list *ret,
                                        struct pyro_error *error)
{
    const struct pyro_crawl_source *source = listing->source;
    const struct pyro_http_options options = {
        .allocator = listing->settings->allocator,
        .user = source->user,
        .token = source->token,
        .timeout_s = listing->settings->timeout_s ? listing->settings->timeout_s : TIMEOUT_S,
        .stopped = is_stopped,
        .context = pyro_unconst(listing->stop),
    };
    struct pyro_http *http = NULL;
    struct page page = {.listing = listing, .list = ret};
    struct pyro_error own = {.size = sizeof(own)};
    error = pyro_error_is_usable(error) ? error : &own;
    struct pyro_slice api = pyro_crawl_api(source, &ret->arena);
    enum pyro_status status = api.ptr ? pyro_http_open(&options, &http, error) : no_memory(error);
    if (status == PYRO_OK)
        status = list_pages(&page, http, api.ptr, error);
    /* Those that have not ended may have been given up: a whole look at the server finds them. */
    page.running = true;
    if (status == PYRO_OK && listing->whole)
        status = list_pages(&page, http, api.ptr, error);
    if (status == PYRO_OK)
        status = ask_version(listing, http, ret, error);
    pyro_http_close(http);
    if (status != PYRO_OK) {
        error->path[0] = '\0';
        pyro_error_at(error, source->label, UINT64_MAX);
    }
    return status;
}
