/* Requests, and what their answers say. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/numbers/saturate.h"
#include "store/opensearch/opensearch.h"
#include "text/escape.h"

enum { TRIES = 4, TRIES_TO_READ = 2, READ_S = 30 };

int64_t pyro_opensearch_monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

enum pyro_status pyro_opensearch_no_memory(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for the store");
}

/* ---- What answers say -------------------------------------------------------------------------------------------- */

struct pyro_slice pyro_opensearch_text(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_string(value) ? (struct pyro_slice){json_string_value(value), json_string_length(value)}
                                 : PYRO_SLICE_NULL;
}

int64_t pyro_opensearch_int(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? (int64_t)json_integer_value(value) : PYRO_NONE;
}

int64_t pyro_opensearch_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    double number = json_number_value(value);
    if (!json_is_real(value))
        return pyro_opensearch_int(object, key);
    return number >= -0x1p63 && number < 0x1p63 ? (int64_t)number : PYRO_NONE;
}

const json_t *pyro_opensearch_hits(const json_t *answer)
{
    return json_object_get(json_object_get(answer, "hits"), "hits");
}

static enum pyro_status code_of(enum pyro_opensearch_purpose purpose)
{
    return purpose == PYRO_OS_WRITES ? PYRO_ERROR_OUTPUT : PYRO_ERROR_INPUT;
}

static const char *what_failed(enum pyro_opensearch_purpose purpose)
{
    return purpose == PYRO_OS_WRITES ? "the store cannot be written" : "the store cannot be read";
}

static enum pyro_status say(const struct pyro_opensearch *store, enum pyro_opensearch_purpose purpose,
                            const char *reason, struct pyro_error *error)
{
    char text[400]; /* `reason` may be of `error` */
    snprintf(text, sizeof(text), "%.399s", reason);
    pyro_error_describe(error, code_of(purpose), "%s: %s", what_failed(purpose), text);
    pyro_error_at(error, store->label, UINT64_MAX);
    return code_of(purpose);
}

enum pyro_status pyro_opensearch_refused(const struct pyro_opensearch *store, enum pyro_opensearch_purpose purpose,
                                         unsigned status, const json_t *answer, struct pyro_error *error)
{
    const json_t *why = json_object_get(answer, "error"), *root = json_array_get(json_object_get(why, "root_cause"), 0);
    why = root ? root : why ? why : answer;
    struct pyro_slice type = pyro_opensearch_text(why, "type"), reason = pyro_opensearch_text(why, "reason");
    char text[400];
    if (json_is_string(why)) /* of something before the server */
        reason = (struct pyro_slice){json_string_value(why), json_string_length(why)};
    snprintf(text, sizeof(text), "the server answers %u%s%.*s%s%.*s", status, type.len ? " " : "",
             (int)(type.len < 80 ? type.len : 80), type.ptr ? type.ptr : "", reason.len ? ": " : "",
             (int)(reason.len < 250 ? reason.len : 250), reason.ptr ? reason.ptr : "");
    for (char *at = text; *at; at++)
        *at = (unsigned char)*at < ' ' ? ' ' : *at;
    return say(store, purpose, text, error);
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

static enum pyro_status read_answer(struct pyro_opensearch *store, enum pyro_opensearch_purpose purpose,
                                    const struct pyro_exchange_answer *answer, json_t **ret, struct pyro_error *error)
{
    json_error_t why;
    *ret = json_loadb(store->body.data, store->body.len, JSON_ALLOW_NUL, &why);
    if (*ret)
        return PYRO_OK;
    if (json_error_code(&why) == json_error_out_of_memory)
        return pyro_opensearch_no_memory(error);
    if (answer->status / 100 == 2)
        return say(store, purpose, "its answer is not JSON; is the address that of OpenSearch?", error);
    pyro_ignore_status(pyro_http_refused(answer, pyro_strbuf_slice(&store->body), error),
                       "its text becomes that of the request");
    return say(store, purpose, error ? error->message : "", error);
}

static enum pyro_status too_long(const struct pyro_opensearch *store, struct pyro_error *error)
{
    return pyro_error_set(
        error, PYRO_ERROR_ARGUMENT,
        "the question took longer than %lld s and was stopped; narrow it with 'where', for example by "
        "a later start_ms",
        (long long)store->most_ms / 1000);
}

/* Sends it, within the deadline of the store. */
static enum pyro_status transfer(struct pyro_opensearch *store, const struct pyro_opensearch_request *request,
                                 struct pyro_exchange_answer *ret, struct pyro_error *error)
{
    struct pyro_strbuf url;
    unsigned tries = store->only_reads ? TRIES_TO_READ : TRIES;
    bool own = store->only_reads && !store->deadline; /* not of a question */
    pyro_strbuf_init(&url, store->allocator);
    pyro_strbuf_add_text(&url, store->server);
    pyro_strbuf_add_text(&url, request->path);
    const struct pyro_http_request sent = {
        .method = request->method,
        .url = url.data,
        .body = request->body,
        .content_type = request->lines ? "application/x-ndjson" : "application/json",
        .limit = PYRO_OS_ANSWER_BYTES,
        .tries = request->once ? 1 : tries,
        .repeatable = !request->once,
    };
    if (own)
        store->deadline = pyro_add_saturating(pyro_opensearch_monotonic_ms(), 1000 * READ_S);
    enum pyro_status status =
        url.failed ? pyro_opensearch_no_memory(error) : pyro_http_send(store->http, &sent, &store->body, ret, error);
    pyro_strbuf_done(&url);
    if (own)
        store->deadline = 0;
    return status;
}

enum pyro_status pyro_opensearch_send(struct pyro_opensearch *store, const struct pyro_opensearch_request *request,
                                      json_t **ret, unsigned *ret_status, struct pyro_error *error)
{
    struct pyro_error own = {.size = sizeof(own)};
    struct pyro_exchange_answer answer = {0};
    enum pyro_status status = transfer(store, request, &answer, &own);
    if (status == PYRO_ERROR_CANCELLED && store->deadline) /* nothing else cancels */
        return too_long(store, error);
    if (status == PYRO_ERROR_CANCELLED)
        return say(store, request->purpose, "the server did not answer in time", error);
    if (status == PYRO_ERROR_INPUT)
        return say(store, request->purpose, own.message, error);
    if (status != PYRO_OK) {
        pyro_error_copy(error, &own);
        return status;
    }
    *ret_status = answer.status;
    return read_answer(store, request->purpose, &answer, ret, error);
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static void format(struct pyro_strbuf *to, const char *form, va_list values)
{
    for (const char *at = form; *at; at++) {
        if (*at != '?') {
            pyro_strbuf_add_char(to, (char)(*at == '\'' ? '"' : *at));
            continue;
        }
        switch (*++at) {
        case 's':
            pyro_add_json(to, pyro_slice_from(va_arg(values, const char *)));
            break;
        case 't':
            pyro_add_json(to, va_arg(values, struct pyro_slice));
            break;
        case 'i':
            pyro_strbuf_add_int(to, va_arg(values, int64_t));
            break;
        default:
            pyro_strbuf_add_text(to, va_arg(values, const char *));
        }
    }
}

void pyro_opensearch_format(struct pyro_strbuf *to, const char *form, ...)
{
    va_list values;
    va_start(values, form);
    format(to, form, values);
    va_end(values);
}

static enum pyro_status ask(struct pyro_opensearch *store, enum pyro_opensearch_purpose purpose, const char *indices,
                            const char *what, const struct pyro_strbuf *body, json_t **ret, struct pyro_error *error)
{
    char path[1400];
    unsigned status = 0;
    snprintf(path, sizeof(path), "%s%s/%s", indices ? "/" : "", indices ? indices : "", what);
    const struct pyro_opensearch_request request = {
        .purpose = purpose, .method = PYRO_HTTP_POST, .path = path, .body = pyro_strbuf_slice(body)};
    if (body->failed)
        return pyro_opensearch_no_memory(error);
    PYRO_TRY(pyro_opensearch_send(store, &request, ret, &status, error));
    if (status / 100 == 2)
        return PYRO_OK;
    enum pyro_status result = pyro_opensearch_refused(store, purpose, status, *ret, error);
    json_decref(*ret);
    *ret = NULL;
    return result;
}

enum pyro_status pyro_opensearch_ask(struct pyro_opensearch *store, enum pyro_opensearch_purpose purpose,
                                     const char *indices, const char *what, json_t **ret, struct pyro_error *error,
                                     const char *form, ...)
{
    struct pyro_strbuf body;
    va_list values;
    pyro_strbuf_init(&body, store->allocator);
    va_start(values, form);
    format(&body, form, values);
    va_end(values);
    enum pyro_status status = ask(store, purpose, indices, what, &body, ret, error);
    pyro_strbuf_done(&body);
    return status;
}

static enum pyro_status search(struct pyro_opensearch *store, enum pyro_opensearch_index index,
                               const struct pyro_strbuf *body, json_t **ret, struct pyro_error *error)
{
    json_t *answer = NULL;
    PYRO_TRY(ask(store, PYRO_OS_READS, store->index[index], "_search", body, &answer, error));
    const json_t *shards = json_object_get(answer, "_shards"),
                 *failure = json_array_get(json_object_get(shards, "failures"), 0);
    enum pyro_status status = PYRO_OK;
    if (json_is_true(json_object_get(answer, "timed_out")))
        status = too_long(store, error);
    else if (pyro_opensearch_int(shards, "failed") > 0)
        status = pyro_opensearch_refused(store, PYRO_OS_READS, 200, json_object_get(failure, "reason"), error);
    if (status != PYRO_OK) {
        json_decref(answer);
        return status;
    }
    *ret = answer;
    return PYRO_OK;
}

enum pyro_status pyro_opensearch_search(struct pyro_opensearch *store, enum pyro_opensearch_index index, json_t **ret,
                                        struct pyro_error *error, const char *form, ...)
{
    struct pyro_strbuf body;
    va_list values;
    pyro_strbuf_init(&body, store->allocator);
    va_start(values, form);
    format(&body, form, values);
    va_end(values);
    enum pyro_status status = search(store, index, &body, ret, error);
    pyro_strbuf_done(&body);
    return status;
}

enum pyro_status pyro_opensearch_next_page(struct pyro_opensearch_pages *pages, const json_t *hit,
                                           struct pyro_error *error)
{
    const json_t *sort = json_object_get(hit, "sort");
    if (!json_is_array(sort) || json_array_size(sort) == 0)
        return pyro_error_set(error, PYRO_ERROR_INPUT,
                              "a full page of the store's answer does not say after which values the next one begins");
    free(pages->last);
    pages->last = json_dumps(sort, JSON_COMPACT);
    if (!pages->last)
        return pyro_opensearch_no_memory(error);
    if ((pages->seen && strcmp(pages->seen, pages->last) == 0) || ++pages->count > PYRO_OS_PAGES_MAX)
        return pyro_error_set(error, PYRO_ERROR_INPUT, "the store's answers have no end: their pages %s",
                              pages->count > PYRO_OS_PAGES_MAX ? "are too many" : "repeat");
    if ((pages->count & (pages->count - 1)) == 0) { /* at powers of two, so that a circle of any length is found */
        free(pages->seen);
        pages->seen = strdup(pages->last);
        if (!pages->seen)
            return pyro_opensearch_no_memory(error);
    }
    return PYRO_OK;
}

void pyro_opensearch_pages_done(struct pyro_opensearch_pages *pages)
{
    free(pages->last);
    free(pages->seen);
}

/* One page after the last one; *ret_more: there can be another. */
static enum pyro_status take_page(struct pyro_opensearch *store, enum pyro_opensearch_index index,
                                  struct pyro_strbuf *body, size_t len, struct pyro_opensearch_pages *pages,
                                  pyro_opensearch_take *take, void *context, bool *ret_more, struct pyro_error *error)
{
    json_t *answer = NULL;
    body->len = len;
    pyro_opensearch_format(body, ",'size':?i,'track_total_hits':false", (int64_t)PYRO_OS_PAGE);
    if (pages->last)
        pyro_opensearch_format(body, ",'search_after':?x", pages->last);
    pyro_strbuf_add_char(body, '}');
    *ret_more = false;
    PYRO_TRY(search(store, index, body, &answer, error));
    const json_t *hits = pyro_opensearch_hits(answer);
    size_t count = json_array_size(hits), i = 0;
    enum pyro_status status = PYRO_OK;
    while (i < count && take(context, json_array_get(hits, i)) == 0)
        i++;
    if (i == PYRO_OS_PAGE) {
        *ret_more = true;
        status = pyro_opensearch_next_page(pages, json_array_get(hits, count - 1), error);
    }
    json_decref(answer);
    return status;
}

enum pyro_status pyro_opensearch_each(struct pyro_opensearch *store, enum pyro_opensearch_index index,
                                      pyro_opensearch_take *take, void *context, struct pyro_error *error,
                                      const char *form, ...)
{
    struct pyro_strbuf body;
    va_list values;
    struct pyro_opensearch_pages pages = {0};
    bool more = false;
    pyro_strbuf_init(&body, store->allocator);
    va_start(values, form);
    format(&body, form, values);
    va_end(values);
    size_t len = body.len ? body.len - 1 : 0; /* without the brace at its end */
    enum pyro_status status = PYRO_OK;
    do
        status = take_page(store, index, &body, len, &pages, take, context, &more, error);
    while (status == PYRO_OK && more);
    pyro_opensearch_pages_done(&pages);
    pyro_strbuf_done(&body);
    return status;
}

enum pyro_status pyro_opensearch_refresh(struct pyro_opensearch *store, const char *indices, struct pyro_error *error)
{
    json_t *answer = NULL;
    PYRO_TRY(pyro_opensearch_ask(store, PYRO_OS_WRITES, indices, "_refresh", &answer, error, "{}"));
    json_decref(answer);
    return PYRO_OK;
}

/* ---- The clock --------------------------------------------------------------------------------------------------- */

enum { CLOCK_LASTS_MS = 60000 };

/* OpenSearch sends no header with the date, and a proxy's clock may be another. */
static void ask_clock(struct pyro_opensearch *store)
{
    const struct pyro_opensearch_request request = {.path = "/_cat/health?h=epoch&format=json"};
    struct pyro_error ignored = {.size = sizeof(ignored)};
    json_t *answer = NULL;
    unsigned status = 0;
    int64_t before_ms = pyro_opensearch_monotonic_ms();
    if (pyro_opensearch_send(store, &request, &answer, &status, &ignored) != PYRO_OK)
        return;
    struct pyro_slice epoch = pyro_opensearch_text(json_array_get(answer, 0), "epoch");
    int64_t seconds = 0;
    for (size_t i = 0; i < epoch.len && i < 12 && epoch.ptr[i] >= '0' && epoch.ptr[i] <= '9'; i++)
        seconds = 10 * seconds + (epoch.ptr[i] - '0');
    if (seconds > 0) {
        store->clock_ms = 1000 * seconds;
        store->asked_ms = before_ms;
    }
    json_decref(answer);
}

int64_t pyro_opensearch_now_ms(void *state)
{
    struct pyro_opensearch *store = state;
    int64_t here = pyro_opensearch_monotonic_ms(), passed = pyro_sub_saturating(here, store->asked_ms);
    if (store->asked_ms == 0 || passed > CLOCK_LASTS_MS) {
        ask_clock(store);
        passed = pyro_sub_saturating(here, store->asked_ms);
    }
    return store->asked_ms ? pyro_add_saturating(store->clock_ms, passed)
                           : pyro_store_now_ms(); /* where the cluster does not say */
}
