/* From a path to the row of routes.def that answers it, and what rows share: parameters, errors, documents. */
#include <stdarg.h>
#include <stdio.h>

#include "base/collections/hash.h"
#include "serve/api/api_request.h"
#include "serve/failure_answer.h"
#include "serve/shared.h"

enum scope { SCOPE_ROOT, SCOPE_APP };

static const struct route {
    enum serve_method method;
    const char *path;
    api_handler *handler;
    enum scope scope;
    enum serve_class class;
    const char *parameters;
} routes[] = {
#define ROUTE(method, path, handler, scope, class, parameters)                                                         \
    {SERVE_##method, path, pyro_api_##handler, SCOPE_##scope, SERVE_##class, parameters},
#include "serve/api/routes.def"
#undef ROUTE
};
enum { ROUTES = sizeof(routes) / sizeof(*routes), ALLOWED_MAX = 32 };

void pyro_api_error(struct serve_request *http, unsigned status, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    pyro_serve_plain(http, status, "%s", text);
}

void pyro_api_fail(struct serve_request *http, const struct pyro_error *error, unsigned otherwise)
{
    if (pyro_failure_status(error) == 500)
        pyro_api_error(http, otherwise, "%s", error->message);
    else
        pyro_serve_failure(http, error);
}

/* ---- Parameters ---- */

struct allowed {
    char names[ALLOWED_MAX][32];
    const char *pointers[ALLOWED_MAX];
    bool repeated[ALLOWED_MAX];
    size_t count;
};

static void split_words(const char *words, struct allowed *allowed)
{
    allowed->count = 0;
    while (*words && allowed->count < ALLOWED_MAX) {
        size_t len = strcspn(words, " ");
        bool repeated = words[len - 1] == '*';
        snprintf(allowed->names[allowed->count], sizeof(allowed->names[0]), "%.*s", (int)(len - repeated), words);
        allowed->pointers[allowed->count] = allowed->names[allowed->count];
        allowed->repeated[allowed->count++] = repeated;
        words += len + (words[len] == ' ');
    }
}

static bool is_plain(struct pyro_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7f)
            return false;
    return true;
}

static void refuse_unknown(struct api_request *request, struct pyro_slice name, const struct allowed *allowed)
{
    char word[64];
    snprintf(word, sizeof(word), "%.*s", (int)(name.len < 63 ? name.len : 63), name.ptr);
    const char *nearest = pyro_nearest(word, allowed->pointers, allowed->count);
    if (nearest)
        pyro_api_error(request->http, 400, "there is no parameter '%s' here; did you mean '%s'?", word, nearest);
    else if (allowed->count)
        pyro_api_error(request->http, 400, "there is no parameter '%s' here", word);
    else
        pyro_api_error(request->http, 400, "there is no parameter '%s' here: this path has no parameters", word);
}

static bool check_parameters(struct api_request *request, const char *words)
{
    struct serve_request *http = request->http;
    struct allowed allowed;
    split_words(words, &allowed);
    if (http->parameter_count == SERVE_PARAMETERS) {
        pyro_api_error(http, 400, "the query has more than %d parameters", SERVE_PARAMETERS - 1);
        return false;
    }
    for (size_t i = 0; i < http->parameter_count; i++) {
        struct pyro_slice name = http->parameters[i].name;
        size_t k = 0;
        while (k < allowed.count && !pyro_slice_is(name, allowed.names[k]))
            k++;
        if (k == allowed.count) {
            refuse_unknown(request, is_plain(name) ? name : PYRO_SLICE_LITERAL("?"), &allowed);
            return false;
        }
        if (!allowed.repeated[k] && pyro_serve_parameter_at(http, allowed.names[k], 1).ptr) {
            pyro_api_error(http, 400, "the parameter '%s' is given more than once", allowed.names[k]);
            return false;
        }
        if (!is_plain(http->parameters[i].value)) {
            pyro_api_error(http, 400, "the parameter '%s' has control characters", allowed.names[k]);
            return false;
        }
    }
    return true;
}

/* Up to 18 digits; -1: not such a number. */
static int64_t number_of(struct pyro_slice text)
{
    int64_t number = text.len > 0 && text.len <= 18 ? 0 : -1;
    for (size_t i = 0; i < text.len && number >= 0; i++)
        number = text.ptr[i] >= '0' && text.ptr[i] <= '9' ? number * 10 + (text.ptr[i] - '0') : -1;
    return number;
}

bool pyro_api_number(struct api_request *request, const char *name, int64_t least, int64_t most, int64_t fallback,
                     int64_t *ret)
{
    struct pyro_slice text = pyro_serve_parameter(request->http, name);
    *ret = fallback;
    if (!text.ptr)
        return true;
    int64_t value = number_of(text);
    if (value >= least && value <= most) {
        *ret = value;
        return true;
    }
    pyro_api_error(request->http, 400, "'%s' cannot be '%.*s': it is a number from %lld to %lld", name,
                   (int)(text.len < 60 ? text.len : 60), text.ptr, (long long)least, (long long)most);
    return false;
}

bool pyro_api_choice(struct api_request *request, const char *name, const char *const *names, size_t fallback,
                     size_t *ret)
{
    struct pyro_slice text = pyro_serve_parameter(request->http, name);
    char list[256];
    size_t len = 0;
    *ret = fallback;
    if (!text.ptr)
        return true;
    for (size_t i = 0; names[i]; i++) {
        if (pyro_slice_is(text, names[i])) {
            *ret = i;
            return true;
        }
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "", names[i]);
    }
    pyro_api_error(request->http, 400, "'%s' cannot be '%.*s': it is one of %s", name,
                   (int)(text.len < 60 ? text.len : 60), text.ptr, list);
    return false;
}

/* ---- Documents ---- */

void pyro_api_begin(struct api_request *request, struct api_document *document, const char *schema)
{
    document->writer = pyro_strbuf_writer(request->http->out);
    pyro_output_init(&document->output, &document->writer, NULL);
    pyro_json_writer_init(&document->json, &document->output);
    pyro_json_begin(&document->json, NULL, '{');
    if (schema)
        pyro_json_string(&document->json, "schema", schema);
}

void pyro_api_end(struct api_request *request, struct api_document *document)
{
    struct pyro_error error = {.size = sizeof(error)};
    pyro_json_end(&document->json, '}');
    pyro_strbuf_add_char(&document->output.buffer, '\n');
    if (pyro_output_done(&document->output, &error) != PYRO_OK)
        pyro_serve_failure(request->http, &error);
}

/* Whether who asks may see it. The list alone would not do without access lists: a log may have been renamed since. */
static bool may_see(struct serve_request *http, struct pyro_slice app, struct pyro_slice attempt)
{
    const struct pyro_catalog_app *listed = http->visible ? pyro_catalog_list_find(pyro_serve_list(http), app) : NULL;
    return !http->visible || (listed && pyro_catalog_app_attempt(listed, attempt));
}

const struct pyro_catalog_diagnosis *pyro_api_diagnosis(struct serve_request *http, struct pyro_slice app,
                                                        struct pyro_slice attempt, bool whole)
{
    const struct pyro_catalog_caller caller = pyro_ticket_caller(http->ticket);
    const struct pyro_catalog_diagnosis *diagnosis = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    enum pyro_status status = PYRO_OK;
    if (may_see(http, app, attempt))
        status = whole ? pyro_catalog_diagnosis(http->catalog, &caller, app, attempt, &diagnosis, &error)
                       : pyro_catalog_report(http->catalog, &caller, app, attempt, &diagnosis, &error);
    if (status != PYRO_OK)
        pyro_api_fail(http, &error, 500);
    else if (diagnosis && diagnosis->partial)
        pyro_failure_headers(http, 200); /* the next answer may have all of it */
    else if (!diagnosis)
        pyro_api_error(http, 404, "there is no application '%.*s' with the attempt '%.*s'",
                       (int)(app.len < 200 ? app.len : 200), app.ptr, attempt.ptr ? (int)attempt.len : 1,
                       attempt.ptr ? attempt.ptr : "-");
    return diagnosis;
}

static struct api_job *open_job(struct api_request *request, api_work *work, bool whole)
{
    const struct pyro_catalog_diagnosis *diagnosis =
        pyro_api_diagnosis(request->http, request->app->id, request->attempt->attempt_id, whole);
    struct api_job *job = diagnosis ? pyro_api_job_new(request->http, work) : NULL;
    if (job)
        job->diagnoses[0] = diagnosis;
    else
        pyro_catalog_diagnosis_release(diagnosis);
    return job;
}

struct api_job *pyro_api_open(struct api_request *request, api_work *work)
{
    return open_job(request, work, true);
}

struct api_job *pyro_api_open_report(struct api_request *request, api_work *work)
{
    return open_job(request, work, false);
}

bool pyro_api_is_known(struct api_request *request)
{
    struct serve_request *http = request->http;
    struct pyro_catalog_log_info log = pyro_catalog_list_log(pyro_serve_list(http), request->attempt);
    uint64_t hash = pyro_fnv(PYRO_FNV, PYROMETER_VERSION, sizeof(PYROMETER_VERSION));
    if (log.path.ptr)
        hash = pyro_fnv(hash, log.path.ptr, log.path.len);
    hash = pyro_fnv(hash, log.stored ? "stored" : "log", 3);
    hash = pyro_fnv(hash, &log.bytes, sizeof(log.bytes));
    hash = pyro_fnv(hash, &log.files, sizeof(log.files));
    hash = pyro_fnv(hash, &request->attempt->modified_ms, sizeof(request->attempt->modified_ms));
    hash = pyro_fnv(hash, http->path.ptr, http->path.len);
    for (size_t i = 0; i < http->parameter_count; i++) {
        hash = pyro_fnv(hash, http->parameters[i].name.ptr, http->parameters[i].name.len);
        hash = pyro_fnv(hash, "=", 1);
        hash = pyro_fnv(hash, http->parameters[i].value.ptr, http->parameters[i].value.len);
        hash = pyro_fnv(hash, "&", 1);
    }
    uint64_t verdicts = atomic_load_explicit(&http->shared->verdicts, memory_order_relaxed);
    hash = pyro_fnv(hash, &verdicts, sizeof(verdicts));
    char tag[32];
    int len = snprintf(tag, sizeof(tag), "\"%016llx\"", (unsigned long long)hash);
    pyro_serve_header(http, "ETag", (struct pyro_slice){tag, (size_t)len});
    pyro_serve_header(http, "Cache-Control", PYRO_SLICE_LITERAL("private, no-cache"));
    struct pyro_slice known = pyro_serve_request_header(http, "If-None-Match");
    return known.ptr && memmem(known.ptr, known.len, tag, (size_t)len) != NULL;
}

/* ---- Routes ---- */

static const struct route *find_route(enum scope scope, enum serve_method method, const struct pyro_slice *segments,
                                      size_t count, struct api_request *request, bool *other_method)
{
    for (size_t i = 0; i < ROUTES; i++) {
        if (routes[i].scope != scope ||
            !pyro_serve_matches(routes[i].path, segments, count, request->arguments, API_ARGUMENTS))
            continue;
        if (routes[i].method == method)
            return &routes[i];
        *other_method = true;
    }
    return NULL;
}

void pyro_api_allow(struct serve_request *http, const char *path)
{
    static const struct {
        enum serve_method method;
        const char *name;
    } names[] = {{SERVE_GET, "GET, HEAD"}, {SERVE_POST, "POST"}, {SERVE_DELETE, "DELETE"}};
    struct api_request request = {.http = http};
    struct pyro_slice segments[SERVE_SEGMENTS];
    char text[64];
    size_t count = pyro_serve_split(pyro_slice_from(path), segments), len = 0;
    bool below = count != SIZE_MAX && count > 3 && pyro_slice_is(segments[0], "applications"), other;
    for (size_t i = 0; count != SIZE_MAX && i < sizeof(names) / sizeof(*names); i++)
        if (find_route(SCOPE_ROOT, names[i].method, segments, count, &request, &other) ||
            (below && find_route(SCOPE_APP, names[i].method, segments + 3, count - 3, &request, &other)))
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", len ? ", " : "", names[i].name);
    if (len)
        pyro_serve_header(http, "Allow", (struct pyro_slice){text, len});
}

static bool find_app(struct api_request *request, struct pyro_slice id, struct pyro_slice attempt)
{
    struct pyro_slice named = pyro_slice_is(attempt, "-") ? PYRO_SLICE_NULL : attempt;
    const struct pyro_catalog_list *list = pyro_serve_list(request->http);
    if (!list) {
        pyro_api_error(request->http, 503, "no memory left: try again later");
        return false;
    }
    request->app = pyro_catalog_list_find(list, id);
    request->attempt = request->app ? pyro_catalog_app_attempt(request->app, named) : NULL;
    if (request->attempt)
        return true;
    pyro_api_error(request->http, 404,
                   request->app ? "the application '%.*s' has no attempt '%.*s'"
                                : "there is no application '%.*s' (attempt '%.*s') in this server's folders",
                   (int)(id.len < 200 ? id.len : 200), id.ptr, (int)(attempt.len < 100 ? attempt.len : 100),
                   attempt.ptr);
    return false;
}

static void dispatch(struct api_request *request, const struct pyro_slice *segments, size_t count)
{
    struct serve_request *http = request->http;
    bool other_method = false, below = count > 3 && pyro_slice_is(segments[0], "applications");
    const struct route *route = find_route(SCOPE_ROOT, http->method, segments, count, request, &other_method);
    if (!route && below)
        route = find_route(SCOPE_APP, http->method, segments + 3, count - 3, request, &other_method);
    if (!route && other_method) {
        pyro_api_error(http, 405, "this path does not support this method; docs/api.md lists the methods");
        return;
    }
    if (!route) {
        pyro_api_error(http, 404, "there is nothing at /pyrometer/v1/%.*s; /pyrometer/v1/openapi.json lists all paths",
                       (int)(http->path.len < 200 ? http->path.len : 200), http->path.ptr);
        return;
    }
    if (!check_parameters(request, route->parameters))
        return;
    if (route->scope == SCOPE_APP) {
        if (!find_app(request, segments[1], segments[2]))
            return;
        request->below = segments + 3;
        request->below_count = count - 3;
    }
    route->handler(request);
}

void pyro_api_dispatch(struct serve_request *http, const char *prefix)
{
    struct api_request request = {.http = http};
    struct pyro_slice segments[SERVE_SEGMENTS + 1];
    size_t before = prefix != NULL, count = pyro_serve_split(http->path, segments + before);
    if (prefix)
        segments[0] = pyro_slice_from(prefix);
    count = count == SIZE_MAX || count + before > SERVE_SEGMENTS ? 0 : count + before;
    /* Ids of findings have paths in them. */
    if (count > 5 && pyro_slice_is(segments[3], "findings")) {
        segments[4].len = (size_t)(http->path.ptr + http->path.len - segments[4].ptr);
        count = 5;
    }
    dispatch(&request, segments, count);
}

/* Below an application everything needs it; ids of findings have any number of segments. */
enum serve_class pyro_api_class(enum serve_method method, const char *path)
{
    struct api_request request = {.http = NULL};
    struct pyro_slice segments[SERVE_SEGMENTS];
    bool other_method = false;
    size_t count = pyro_serve_split(pyro_slice_from(path), segments);
    const struct route *route =
        count == SIZE_MAX ? NULL : find_route(SCOPE_ROOT, method, segments, count, &request, &other_method);
    bool below = count > 3 && (count == SIZE_MAX || pyro_slice_is(segments[0], "applications"));
    return route ? route->class : below ? SERVE_HEAVY : SERVE_LIGHT;
}

void pyro_serve_api(struct serve_request *http)
{
    pyro_api_dispatch(http, NULL);
}
