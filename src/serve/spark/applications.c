/* version, applications, applications/ID, applications/ID/ATTEMPT */
#include <strings.h>
#include <time.h>

#include "serve/spark/spark_request.h"

void pyro_spark_version(struct spark_request *request)
{
    struct spark_json *json = &request->json;
    pyro_spark_open_object(json);
    pyro_spark_put_text(json, "spark", PYRO_SLICE_LITERAL("3.5.6"));
    pyro_spark_close_object(json);
}

static void write_app(struct spark_json *json, const struct pyro_catalog_app *app)
{
    pyro_spark_open_object(json);
    pyro_spark_put_text(json, "id", app->id);
    pyro_spark_put_text(json, "name", app->name);
    pyro_spark_key(json, "attempts");
    pyro_spark_open_array(json);
    for (size_t i = 0; i < app->attempt_count; i++) {
        pyro_spark_element(json);
        pyro_spark_write_attempt(json, &app->attempts[i]);
    }
    pyro_spark_close_array(json);
    pyro_spark_close_object(json);
}

/* ---- Filters ---- */

/* The text from its place on, which moves behind what was read. */
struct cursor {
    const char *at, *end;
};

static bool take_char(struct cursor *text, char wanted)
{
    bool there = text->at < text->end && *text->at == wanted;
    text->at += there;
    return there;
}

/* A number, as Java's SimpleDateFormat takes it: of as many digits as there are, blanks and a minus before them
 * allowed. */
static bool take_number(struct cursor *text, int *ret)
{
    const char *begin;
    *ret = 0;
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\t'))
        text->at++;
    bool minus = text->end - text->at > 1 && *text->at == '-' && text->at[1] >= '0' && text->at[1] <= '9';
    text->at += minus;
    for (begin = text->at; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
        *ret = *ret < 100000000 ? *ret * 10 + (*text->at - '0') : *ret;
    *ret = minus ? -*ret : *ret;
    return text->at > begin;
}

/* "GMT", "UTC", "+0200", "GMT+02:00": minutes east of GMT. */
static bool take_zone(struct cursor *text, int *ret_minutes)
{
    bool named =
        text->end - text->at >= 3 && (strncasecmp(text->at, "GMT", 3) == 0 || strncasecmp(text->at, "UTC", 3) == 0);
    text->at += named ? 3 : 0;
    *ret_minutes = 0;
    if (text->at == text->end || (*text->at != '+' && *text->at != '-'))
        return named;
    int sign = *text->at++ == '-' ? -1 : 1, hours, minutes = 0;
    const char *begin = text->at;
    if (!take_number(text, &hours))
        return named;
    if (text->at - begin == 4) {
        minutes = hours % 100;
        hours /= 100;
    } else if (!take_char(text, ':') || !take_number(text, &minutes)) {
        return named;
    }
    if (hours < 0 || hours >= 24 || minutes < 0 || minutes >= 60)
        return false;
    *ret_minutes = sign * (hours * 60 + minutes);
    return true;
}

/* Sums of times beyond 64 bits wrap, as Java's do. */
static int64_t wrap(int64_t ms, int64_t count, int64_t each_ms)
{
    return (int64_t)((uint64_t)ms + (uint64_t)count * (uint64_t)each_ms);
}

/* "2015-02-03T16:42:40.000GMT", else "2015-02-03" and whatever follows. Days beyond a month's end run into the next. */
static bool parse_date(struct pyro_slice given, int64_t *ret_ms)
{
    struct cursor text = {given.ptr, given.ptr + given.len};
    int year, month, day, hour, minute, second, ms, zone;
    if (!take_number(&text, &year) || !take_char(&text, '-') || !take_number(&text, &month) || !take_char(&text, '-') ||
        !take_number(&text, &day))
        return false;
    struct tm parts = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
    *ret_ms = wrap(0, (int64_t)timegm(&parts), 1000);
    bool whole = take_char(&text, 'T') && take_number(&text, &hour) && take_char(&text, ':') &&
                 take_number(&text, &minute) && take_char(&text, ':') && take_number(&text, &second) &&
                 take_char(&text, '.') && take_number(&text, &ms) && take_zone(&text, &zone);
    if (whole)
        *ret_ms = wrap(wrap(*ret_ms, ms, 1), ((int64_t)hour * 60 + minute - zone) * 60 + second, 1000);
    return true;
}

enum { MIN_DATE, MAX_DATE, MIN_END_DATE, MAX_END_DATE, DATES };

static bool read_dates(struct spark_request *request, int64_t *dates)
{
    static const struct {
        const char *name;
        const char *fallback;
    } rows[DATES] = {
        {"minDate", "2010-01-01"},
        {"maxDate", "3000-01-01"},
        {"minEndDate", "2010-01-01"},
        {"maxEndDate", "3000-01-01"},
    };
    for (int i = 0; i < DATES; i++) {
        struct pyro_slice text = pyro_serve_parameter(request->http, rows[i].name);
        if (!text.len)
            text = pyro_slice_from(rows[i].fallback);
        if (!parse_date(text, &dates[i])) {
            pyro_spark_error(request, 400, "Couldn't parse date: %.*s", (int)(text.len < 200 ? text.len : 200),
                             text.ptr);
            request->http->type = "application/json"; /* which it is not: as Spark says it */
            return false;
        }
    }
    return true;
}

static bool in_range(const struct pyro_catalog_app *app, const int64_t *dates)
{
    bool running = !app->attempts->completed;
    int64_t now = (int64_t)time(NULL) * 1000;
    for (size_t i = 0; i < app->attempt_count; i++) {
        const struct pyro_attempt *attempt = &app->attempts[i];
        bool end = running ? dates[MAX_END_DATE] > now
                           : attempt->end_ms >= dates[MIN_END_DATE] && attempt->end_ms <= dates[MAX_END_DATE];
        if (end && attempt->start_ms >= dates[MIN_DATE] && attempt->start_ms <= dates[MAX_DATE])
            return true;
    }
    return false;
}

void pyro_spark_applications(struct spark_request *request)
{
    static const char *const statuses[] = {"COMPLETED", "RUNNING"};
    int64_t dates[DATES], limit;
    uint32_t wanted;
    if (!pyro_spark_choices(request, "status", statuses, 2, &wanted) || !read_dates(request, dates) ||
        !pyro_spark_number(request, "limit", INT32_MAX, &limit))
        return;
    size_t count;
    const struct pyro_catalog_app *apps = pyro_catalog_list_apps(pyro_serve_list(request->http), &count);
    struct spark_json *json = &request->json;
    pyro_spark_open_array(json);
    for (size_t i = 0; i < count && limit > 0; i++) {
        if (!(wanted & (apps[i].attempts->completed ? 1 : 2)) || !in_range(&apps[i], dates))
            continue;
        pyro_spark_element(json);
        write_app(json, &apps[i]);
        limit--;
    }
    pyro_spark_close_array(json);
}

void pyro_spark_application(struct spark_request *request)
{
    const struct pyro_catalog_app *app = pyro_catalog_list_find(pyro_serve_list(request->http), request->app_id);
    if (app)
        write_app(&request->json, app);
    else
        pyro_spark_error(request, 404, "unknown app: %.*s", (int)request->app_id.len, request->app_id.ptr);
}

void pyro_spark_application_attempt(struct spark_request *request)
{
    const struct pyro_catalog_app *app = pyro_catalog_list_find(pyro_serve_list(request->http), request->app_id);
    for (size_t i = 0; app && i < app->attempt_count; i++) {
        if (pyro_slice_eq(app->attempts[i].attempt_id, request->attempt_id)) {
            pyro_spark_write_attempt(&request->json, &app->attempts[i]);
            return;
        }
    }
    pyro_spark_error(request, 404, "unknown app %.*s, attempt %.*s", (int)request->app_id.len, request->app_id.ptr,
                     (int)request->attempt_id.len, request->attempt_id.ptr);
}
