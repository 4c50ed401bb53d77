#include "decode/rest/rest_reading.h"

#include <stdio.h>
#include <string.h>

#include "base/json/scan.h"
#include "base/numbers/calendar.h"

enum { LINES_BYTES = 1 << 18 };

enum pyro_status pyro_rest_no_memory(struct pyro_rest_reading *reading)
{
    return pyro_error_set(reading->error, PYRO_ERROR_MEMORY, "no memory left to read REST answers");
}

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

/* Servers indent their answers, and this reader takes a newline for the end of a record. There is none inside strings:
 * JSON forbids it. */
static void start_body(struct pyro_strbuf *body, struct pyro_json_reader *json)
{
    for (char *at = body->data; (at = memchr(at, '\n', (size_t)(body->data + body->len - at)));)
        *at = ' ';
    pyro_json_reader_start(json, body->data, body->data + body->len, pyro_scan_best());
}

static enum pyro_status get_page(struct pyro_rest_reading *reading, const char *page, struct pyro_strbuf *body,
                                 struct pyro_json_reader *json, unsigned *ret_status)
{
    *ret_status = 0;
    PYRO_TRY(reading->source->get(reading->source->context, page, body, ret_status, reading->error));
    if (*ret_status == 200 && (!body->data || body->failed))
        return pyro_rest_no_memory(reading);
    if (*ret_status != 200)
        return PYRO_OK;
    start_body(body, json);
    return reading->shown.history ? pyro_rest_history_read(&reading->shown, page, *json, reading->error) : PYRO_OK;
}

enum pyro_status pyro_rest_get(struct pyro_rest_reading *reading, const char *page, struct pyro_strbuf *body,
                               struct pyro_json_reader *json)
{
    unsigned status;
    PYRO_TRY(get_page(reading, page, body, json, &status));
    if (status == 200)
        return PYRO_OK;
    if (reading->error && reading->error->message[0])
        return reading->error->code = PYRO_ERROR_INPUT;
    return pyro_error_set(reading->error, PYRO_ERROR_INPUT, "the server answers %u to %s", status, page);
}

enum pyro_status pyro_rest_get_optional(struct pyro_rest_reading *reading, const char *page,
                                        struct pyro_json_reader *json, bool *ret_there)
{
    unsigned status;
    PYRO_TRY(get_page(reading, page, &reading->body, json, &status));
    *ret_there = status == 200;
    pyro_error_clear(reading->error);
    return PYRO_OK;
}

enum pyro_status pyro_rest_check(struct pyro_rest_reading *reading, const char *page,
                                 const struct pyro_json_reader *json)
{
    if (reading->body.failed || reading->lines.failed)
        return pyro_rest_no_memory(reading);
    if (!json->error)
        return PYRO_OK;
    return pyro_error_set(reading->error, PYRO_ERROR_INPUT,
                          "the answer of the server to %s is not an answer of Spark (%s): check that the address is "
                          "that of a History Server or a running application",
                          page[0] ? page : "the application", json->error);
}

bool pyro_rest_take(struct pyro_json_reader *json, const struct pyro_json_key *keys, unsigned count,
                    struct pyro_slice *values)
{
    struct pyro_json_object object;
    for (unsigned i = 0; i < count; i++)
        values[i] = PYRO_SLICE_NULL;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = pyro_json_next(json, &object, keys, count)) != PYRO_JSON_END;) {
        if (key < 0 || pyro_json_peek(json) == 'n')
            pyro_json_skip(json);
        else
            pyro_json_take_raw(json, &values[key]);
    }
    return !json->error;
}

void pyro_rest_start(struct pyro_json_reader *json, struct pyro_slice text)
{
    pyro_json_reader_start(json, text.ptr, text.ptr ? text.ptr + text.len : NULL, pyro_scan_best());
}

bool pyro_rest_take_text(struct pyro_slice text, const struct pyro_json_key *keys, unsigned count,
                         struct pyro_slice *values)
{
    struct pyro_json_reader json;
    for (unsigned i = 0; i < count; i++)
        values[i] = PYRO_SLICE_NULL;
    if (!text.ptr)
        return false;
    pyro_rest_start(&json, text);
    return pyro_rest_take(&json, keys, count, values);
}

bool pyro_rest_next_pair(struct pyro_json_reader *json, bool *first, struct pyro_slice *ret_name,
                         struct pyro_slice *ret_value)
{
    while (pyro_json_next_element(json, first)) {
        struct pyro_slice texts[2] = {PYRO_SLICE_NULL, PYRO_SLICE_NULL}, rest;
        size_t count = 0;
        if (!pyro_json_enter_array(json))
            continue;
        for (bool inner = true; pyro_json_next_element(json, &inner);)
            pyro_json_take_raw(json, count < 2 ? &texts[count++] : &rest);
        if (json->error || !pyro_rest_string(texts[0]).ptr || !pyro_rest_string(texts[1]).ptr)
            continue;
        *ret_name = texts[0];
        *ret_value = texts[1];
        return true;
    }
    return false;
}

int64_t pyro_rest_int(struct pyro_slice value, int64_t fallback)
{
    struct pyro_json_reader json;
    int64_t number = fallback;
    if (!value.ptr)
        return fallback;
    pyro_rest_start(&json, value);
    return pyro_json_take_int(&json, &number) ? number : fallback;
}

struct pyro_slice pyro_rest_string(struct pyro_slice value)
{
    if (value.len < 2 || value.ptr[0] != '"')
        return PYRO_SLICE_NULL;
    return (struct pyro_slice){value.ptr + 1, value.len - 2};
}

bool pyro_rest_is(struct pyro_slice value, const char *string)
{
    struct pyro_slice text = pyro_rest_string(value);
    return text.ptr && pyro_slice_is(text, string);
}

/* Digits at `at`, or -1. */
static int64_t digits(struct pyro_slice text, size_t at, size_t count)
{
    int64_t number = 0;
    for (size_t i = at; i < at + count; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return -1;
        number = number * 10 + (text.ptr[i] - '0');
    }
    return number;
}

int64_t pyro_rest_time(struct pyro_slice value)
{
    struct pyro_slice text = pyro_rest_string(value);
    if (!text.ptr || text.len != 26 || memcmp(text.ptr + 23, "GMT", 3) != 0 || text.ptr[10] != 'T')
        return PYRO_NONE;
    int64_t year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
    int64_t hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
    int64_t ms = digits(text, 20, 3);
    /* A time before 1970 is how Spark writes "not yet". */
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || minute < 0 || second < 0 || ms < 0)
        return PYRO_NONE;
    return (((pyro_days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * 1000 + ms;
}

/* ---- Event lines ------------------------------------------------------------------------------------------------- */

void pyro_rest_begin(struct pyro_rest_reading *reading, const char *name, char bracket)
{
    pyro_compact_begin(&reading->lines, name, bracket);
}

void pyro_rest_end(struct pyro_rest_reading *reading, char bracket)
{
    pyro_compact_end(&reading->lines, bracket);
}

void pyro_rest_line(struct pyro_rest_reading *reading, const char *event)
{
    pyro_rest_begin(reading, NULL, '{');
    pyro_compact_string(&reading->lines, "Event", event);
}

void pyro_rest_add_raw(struct pyro_rest_reading *reading, const char *name, struct pyro_slice value)
{
    pyro_compact_json(&reading->lines, name, value);
}

void pyro_rest_add_int(struct pyro_rest_reading *reading, const char *name, int64_t value)
{
    pyro_compact_name(&reading->lines, name);
    pyro_strbuf_add_int(&reading->lines, value);
}

void pyro_rest_add_int_text(struct pyro_rest_reading *reading, const char *name, int64_t value)
{
    pyro_compact_name(&reading->lines, name);
    pyro_strbuf_add_char(&reading->lines, '"');
    pyro_strbuf_add_int(&reading->lines, value);
    pyro_strbuf_add_char(&reading->lines, '"');
}

void pyro_rest_begin_failed_job(struct pyro_rest_reading *reading)
{
    pyro_rest_begin(reading, "Job Result", '{');
    pyro_compact_string(&reading->lines, "Result", "JobFailed");
    pyro_rest_begin(reading, "Exception", '{');
}

void pyro_rest_end_failed_job(struct pyro_rest_reading *reading)
{
    pyro_rest_end(reading, '}');
    pyro_rest_end(reading, '}');
}

void pyro_rest_add_succeeded_job(struct pyro_rest_reading *reading)
{
    pyro_rest_begin(reading, "Job Result", '{');
    pyro_compact_string(&reading->lines, "Result", "JobSucceeded");
    pyro_rest_end(reading, '}');
}

void pyro_rest_add_time(struct pyro_rest_reading *reading, const char *name, int64_t time_ms)
{
    if (time_ms != PYRO_NONE)
        pyro_rest_add_int(reading, name, time_ms);
}

enum pyro_status pyro_rest_flush(struct pyro_rest_reading *reading)
{
    struct pyro_strbuf *lines = &reading->lines;
    if (lines->failed)
        return pyro_rest_no_memory(reading);
    if (lines->len > 0)
        PYRO_TRY(reading->source->put(reading->source->context, lines->data, lines->len, reading->error));
    pyro_strbuf_clear(lines);
    return PYRO_OK;
}

enum pyro_status pyro_rest_line_end(struct pyro_rest_reading *reading)
{
    pyro_strbuf_add_text(&reading->lines, "}\n");
    return reading->lines.len < LINES_BYTES && !reading->lines.failed ? PYRO_OK : pyro_rest_flush(reading);
}

/* ---- The whole application --------------------------------------------------------------------------------------- */

/* What was kept of the pages, with the times of the application. */
static enum pyro_status give_history(struct pyro_rest_reading *reading)
{
    struct pyro_history *history = reading->shown.history;
    bool ended = reading->facts->completed && reading->ended_ms != PYRO_NONE;
    history->start_ms = reading->started_ms == PYRO_NONE ? PYRO_HISTORY_NO_TIME : reading->started_ms;
    history->end_ms = ended ? reading->ended_ms : -1;
    reading->facts->history = pyro_rest_history_give(&reading->shown);
    return reading->facts->history ? PYRO_OK : pyro_rest_no_memory(reading);
}

static enum pyro_status read_all(struct pyro_rest_reading *reading)
{
    if (reading->source->history && !pyro_rest_history_begin(&reading->shown, reading->source->redaction))
        return pyro_rest_no_memory(reading);
    PYRO_TRY(pyro_rest_read_application(reading));
    PYRO_TRY(pyro_rest_read_executors(reading));
    PYRO_TRY(pyro_rest_read_storage(reading));
    PYRO_TRY(pyro_rest_read_sql(reading));
    PYRO_TRY(pyro_rest_list_stages(reading));
    PYRO_TRY(pyro_rest_read_jobs(reading));
    PYRO_TRY(pyro_rest_read_stages(reading));
    PYRO_TRY(pyro_rest_end_jobs(reading));
    PYRO_TRY(pyro_rest_end_application(reading));
    PYRO_TRY(pyro_rest_flush(reading));
    return reading->shown.history ? give_history(reading) : PYRO_OK;
}

enum pyro_status pyro_rest_read(const struct pyro_rest_source *source, struct pyro_rest_facts *ret,
                                struct pyro_error *error)
{
    struct pyro_error own = {.size = sizeof(own)};
    struct pyro_rest_reading reading = {.source = source,
                                        .facts = ret,
                                        .error = pyro_error_is_usable(error) ? error : &own,
                                        .next_accumulator = 1,
                                        .started_ms = PYRO_NONE,
                                        .ended_ms = PYRO_NONE};
    struct pyro_strbuf *const buffers[] = {&reading.body, &reading.stages_body, &reading.lines, &reading.rdd_texts};
    *ret = (struct pyro_rest_facts){0};
    pyro_error_clear(reading.error);
    for (size_t i = 0; i < sizeof(buffers) / sizeof(*buffers); i++)
        pyro_strbuf_init(buffers[i], source->allocator);
    enum pyro_status status = read_all(&reading);
    if (source->history)
        pyro_rest_history_done(&reading.shown);
    for (size_t i = 0; i < sizeof(buffers) / sizeof(*buffers); i++)
        pyro_strbuf_done(buffers[i]);
    pyro_vec_done(&reading.stages, source->allocator);
    pyro_vec_done(&reading.jobs, source->allocator);
    pyro_vec_done(&reading.job_stages, source->allocator);
    pyro_vec_done(&reading.metrics, source->allocator);
    pyro_vec_done(&reading.executions, source->allocator);
    pyro_vec_done(&reading.rdds, source->allocator);
    return status;
}
