/* From a path to the row of routes.def that answers it, and what rows share: parameters and errors. */
#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "serve/failure_answer.h"
#include "serve/spark/spark_request.h"

enum scope { SCOPE_ROOT, SCOPE_APP, SCOPE_FILE };

static const struct {
    const char *path;
    spark_handler *handler;
    enum scope scope;
} routes[] = {
#define ROUTE(path, handler, scope) {path, pyro_spark_##handler, SCOPE_##scope},
#include "serve/spark/routes.def"
#undef ROUTE
};

static bool same_word(struct pyro_slice a, const char *b)
{
    return a.ptr && a.len == strlen(b) && strncasecmp(a.ptr, b, a.len) == 0;
}

bool pyro_spark_flag(const struct spark_request *request, const char *name)
{
    return same_word(pyro_serve_parameter(request->http, name), "true");
}

bool pyro_spark_flag_or(const struct spark_request *request, const char *name, bool fallback)
{
    return pyro_serve_parameter(request->http, name).len ? pyro_spark_flag(request, name) : fallback;
}

bool pyro_spark_number(struct spark_request *request, const char *name, int64_t fallback, int64_t *ret)
{
    struct pyro_slice text = pyro_serve_parameter(request->http, name);
    *ret = fallback;
    if (text.len == 0 || pyro_serve_parse_number(text, ret))
        return true;
    pyro_spark_fault(request, 404);
    return false;
}

bool pyro_spark_choices(struct spark_request *request, const char *parameter, const char *const *names, size_t count,
                        uint32_t *ret)
{
    *ret = 0;
    struct pyro_slice value;
    for (size_t i = 0; (value = pyro_serve_parameter_at(request->http, parameter, i)).ptr; i++) {
        size_t found = 0;
        if (value.len == 0) {
            *ret |= SPARK_NULL_CHOICE;
            continue;
        }
        while (found < count && !same_word(value, names[found]))
            found++;
        if (found == count) {
            pyro_spark_fault(request, 404);
            return false;
        }
        *ret |= (uint32_t)1 << found;
    }
    if (*ret == 0)
        *ret = UINT32_MAX;
    return true;
}

/* As Java orders them: what is not a number comes last. */
static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return isnan(x) || isnan(y) ? (isnan(x) != 0) - (isnan(y) != 0) : (x > y) - (x < y);
}

/* A number as Java reads it: blanks around it and a suffix of its type are allowed, "NaN" and "Infinity" are numbers.
 */
static bool parse_real(struct pyro_slice text, double *ret)
{
    char word[64], *end;
    while (text.len && (unsigned char)*text.ptr <= ' ')
        text = (struct pyro_slice){text.ptr + 1, text.len - 1};
    while (text.len && (unsigned char)text.ptr[text.len - 1] <= ' ')
        text.len--;
    if (text.len == 0 || text.len >= sizeof(word))
        return false;
    memcpy(word, text.ptr, text.len);
    word[text.len] = '\0';
    const char *unsigned_word = word + (*word == '+' || *word == '-');
    bool named = strcmp(unsigned_word, "NaN") == 0 || strcmp(unsigned_word, "Infinity") == 0;
    bool hex = unsigned_word[0] == '0' && (unsigned_word[1] | 32) == 'x';
    if (!named && ((*unsigned_word != '.' && (*unsigned_word < '0' || *unsigned_word > '9')) ||
                   (hex && !strpbrk(unsigned_word, "pP"))))
        return false;
    if (!named && text.len > 1 && strchr("fFdD", word[text.len - 1]))
        word[text.len - 1] = '\0';
    *ret = strtod(word, &end);
    return end > word && !*end;
}

bool pyro_spark_quantiles(struct spark_request *request, const char *fallback, double *quantiles, size_t *ret_count)
{
    struct pyro_slice text = pyro_serve_parameter(request->http, "quantiles");
    if (!text.ptr)
        text = pyro_slice_from(fallback);
    bool some = text.len > 0;
    while (some && text.len && text.ptr[text.len - 1] == ',') /* after the last comma, nothing is not a word */
        text.len--;
    *ret_count = 0;
    for (bool more = text.len || !some; more;) {
        const char *comma = text.len ? memchr(text.ptr, ',', text.len) : NULL;
        size_t len = comma ? (size_t)(comma - text.ptr) : text.len;
        if (*ret_count == SPARK_QUANTILES) {
            pyro_spark_error(request, 400, "parameter \"quantiles\" has more than %d of them", SPARK_QUANTILES);
            return false;
        }
        if (!parse_real((struct pyro_slice){text.ptr, len}, &quantiles[*ret_count])) {
            pyro_spark_error(request, 400, "Bad value for parameter \"quantiles\".  Expected a double, got \"%.*s\"",
                             (int)(len < 200 ? len : 200), text.ptr);
            return false;
        }
        (*ret_count)++;
        more = comma != NULL;
        text = comma ? (struct pyro_slice){comma + 1, text.len - len - 1} : text;
    }
    qsort(quantiles, *ret_count, sizeof(*quantiles), compare_reals);
    return true;
}

int64_t pyro_spark_place(double quantile, size_t count)
{
    double share = quantile * (double)count;
    int64_t last = (int64_t)count - 1;
    if (isnan(share))
        return 0;
    return share >= (double)last ? last : share < -9e18 ? INT64_MIN : (int64_t)share;
}

/* ---- Routes ---- */

enum match { MATCH_NONE, MATCH_FAULT, MATCH };

static bool is_number(struct pyro_slice segment)
{
    for (size_t i = 0; i < segment.len; i++)
        if (segment.ptr[i] < '0' || segment.ptr[i] > '9')
            return false;
    return segment.len > 0;
}

int64_t pyro_spark_id(struct pyro_slice text)
{
    int64_t id = 0;
    for (size_t i = 0; i < text.len; i++)
        if (__builtin_mul_overflow(id, 10, &id) || __builtin_add_overflow(id, text.ptr[i] - '0', &id))
            return -1;
    return id;
}

static enum match match(const char *route, const struct pyro_slice *segments, size_t count,
                        struct pyro_slice *arguments)
{
    struct pyro_slice wanted[SERVE_SEGMENTS];
    size_t taken = 0;
    bool fault = false;
    if (pyro_serve_split(pyro_slice_from(route), wanted) != count)
        return MATCH_NONE;
    for (size_t i = 0; i < count; i++) {
        bool small = pyro_slice_is(wanted[i], "{#}"), large = pyro_slice_is(wanted[i], "{##}");
        bool any = pyro_slice_is(wanted[i], "{}");
        if (small || large ? !is_number(segments[i]) : !any && !pyro_slice_eq(wanted[i], segments[i]))
            return MATCH_NONE;
        int64_t id = small || large ? pyro_spark_id(segments[i]) : 0;
        fault |= id < 0 || (small && id > INT32_MAX);
        if ((small || large || any) && taken < SPARK_ARGUMENTS)
            arguments[taken++] = segments[i];
    }
    return fault ? MATCH_FAULT : MATCH;
}

/* Rows of routes.def at the root, or those below an application. */
static enum match find_route(bool root, const struct pyro_slice *segments, size_t count, struct spark_request *request,
                             size_t *ret_row)
{
    for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++) {
        bool here = (routes[i].scope == SCOPE_ROOT) == root;
        enum match found = here ? match(routes[i].path, segments, count, request->arguments) : MATCH_NONE;
        *ret_row = i;
        if (found != MATCH_NONE)
            return found;
    }
    return MATCH_NONE;
}

/* Jersey's answer to other methods than GET, which no existing resource has. */
static bool refuse_method(struct spark_request *request)
{
    struct serve_request *http = request->http;
    if (http->method == SERVE_GET)
        return false;
    if (http->method == SERVE_OPTIONS) {
        http->type = "application/vnd.sun.wadl+xml";
        pyro_serve_header(http, "Allow", PYRO_SLICE_LITERAL("HEAD,GET,OPTIONS"));
        return true;
    }
    http->status = 405;
    http->type = NULL;
    if (http->method == SERVE_POST)
        pyro_spark_fault(request, 405);
    pyro_serve_header(http, "Allow", PYRO_SLICE_LITERAL("GET,OPTIONS"));
    return true;
}

static void answer_app(struct spark_request *request, size_t row)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_history *history = NULL;
    if (refuse_method(request))
        return;
    if (routes[row].scope == SCOPE_FILE) {
        routes[row].handler(request);
        return;
    }
    if (request->http->visible && !pyro_catalog_list_find(pyro_serve_list(request->http), request->app_id)) {
        pyro_spark_no_such_app(request);
        return;
    }
    const struct pyro_catalog_caller caller = pyro_ticket_caller(request->http->ticket);
    bool with_sql = routes[row].handler == pyro_spark_sql_executions || routes[row].handler == pyro_spark_sql_execution;
    enum pyro_status status = pyro_catalog_history(request->catalog, &caller, request->app_id, request->attempt_id,
                                                   with_sql, &history, &error);
    if (status == PYRO_ERROR_CANCELLED || status == PYRO_ERROR_MEMORY) {
        pyro_serve_unavailable(request->http, error.message);
        return;
    }
    if (status != PYRO_OK) {
        pyro_spark_error(request, pyro_failure_status(&error) == 503 ? 503 : 500, "%s", error.message);
        return;
    }
    if (!history) {
        pyro_spark_no_such_app(request);
        return;
    }
    request->history = history;
    routes[row].handler(request);
    request->history = NULL;
    pyro_history_release(history);
}

/* Jersey does not look further once it is inside these. */
static bool is_closed(struct pyro_slice segment)
{
    return pyro_slice_is(segment, "stages") || pyro_slice_is(segment, "sql") || pyro_slice_is(segment, "streaming");
}

/* Below applications/ID or applications/ID/ATTEMPT. False: nothing there, and not answered. */
static bool answer_below_app(struct spark_request *request, const struct pyro_slice *segments, size_t count)
{
    size_t row;
    enum match found = find_route(false, segments, count, request, &row);
    if (found == MATCH)
        answer_app(request, row);
    else if (found == MATCH_FAULT || is_closed(segments[0]))
        pyro_spark_fault(request, 404);
    else
        return false;
    return true;
}

/* The segments of a path, without what follows a semicolon in them; one slash at its end counts for nothing, empty
 * segments are none of Spark's. */
static bool split(struct pyro_slice path, struct pyro_slice *segments, size_t *ret_count)
{
    struct pyro_slice rest = path;
    if (rest.len && rest.ptr[rest.len - 1] == '/')
        rest.len--;
    *ret_count = pyro_serve_split(rest, segments);
    size_t slashes = 0;
    for (size_t i = 0; i < rest.len; i++)
        slashes += rest.ptr[i] == '/';
    bool whole = *ret_count != SIZE_MAX && *ret_count == slashes + 1;
    for (size_t i = 0; *ret_count != SIZE_MAX && i < *ret_count; i++) {
        const char *semicolon = memchr(segments[i].ptr, ';', segments[i].len);
        segments[i].len = semicolon ? (size_t)(semicolon - segments[i].ptr) : segments[i].len;
        whole &= segments[i].len > 0;
    }
    return whole;
}

/* A path with empty segments: below an application it is as any other that is not there. */
static void refuse_path(struct spark_request *request, const struct pyro_slice *segments, size_t count)
{
    bool below = count != SIZE_MAX && count > 2 && pyro_slice_is(segments[0], "applications");
    if (!below || is_closed(segments[2]) || (count > 3 && is_closed(segments[3])))
        pyro_spark_fault(request, 404);
    else
        pyro_spark_no_such_path(request);
}

/* Whether there was memory for what this user may see. Asked only where that is not everything: else an application is
 * answered before there is a list. */
static bool has_list(struct spark_request *request)
{
    if (!request->http->visible || pyro_serve_list(request->http))
        return true;
    pyro_spark_error(request, 503, "no memory left");
    return false;
}

static void dispatch(struct spark_request *request)
{
    struct pyro_slice segments[SERVE_SEGMENTS];
    size_t count, row;
    if (!split(request->http->path, segments, &count)) {
        refuse_path(request, segments, count);
        return;
    }
    if (pyro_slice_is(segments[0], "applications") && !has_list(request))
        return;
    if (find_route(true, segments, count, request, &row) == MATCH) {
        if (!refuse_method(request))
            routes[row].handler(request);
        return;
    }
    if (!pyro_slice_is(segments[0], "applications") || count < 2) {
        pyro_spark_fault(request, 404);
        return;
    }
    request->app_id = segments[1];
    if (count == 2) {
        if (!refuse_method(request))
            pyro_spark_application(request);
        return;
    }
    if (answer_below_app(request, segments + 2, count - 2))
        return;
    request->attempt_id = segments[2];
    if (count == 3) {
        if (!refuse_method(request))
            pyro_spark_application_attempt(request);
    } else if (!answer_below_app(request, segments + 3, count - 3)) {
        pyro_spark_no_such_path(request);
    }
}

/* The list and its rows are light; what needs an application's log, or sends it, is not. */
enum serve_class pyro_spark_class(enum serve_method method, const char *path)
{
    struct spark_request request = {.http = NULL};
    struct pyro_slice segments[SERVE_SEGMENTS];
    size_t count, row;
    (void)method;
    if (!split(pyro_slice_from(path), segments, &count) || count < 3 || !pyro_slice_is(segments[0], "applications"))
        return SERVE_LIGHT;
    bool found = find_route(false, segments + 2, count - 2, &request, &row) == MATCH ||
                 (count > 3 && find_route(false, segments + 3, count - 3, &request, &row) == MATCH);
    return found ? SERVE_HEAVY : SERVE_LIGHT;
}

void pyro_serve_spark(struct serve_request *http)
{
    struct spark_request request = {.http = http, .catalog = http->catalog, .json = {.out = http->out}};
    pyro_serve_header(http, "X-Frame-Options", PYRO_SLICE_LITERAL("SAMEORIGIN"));
    pyro_serve_header(http, "X-XSS-Protection", PYRO_SLICE_LITERAL("1; mode=block"));
    dispatch(&request);
}
