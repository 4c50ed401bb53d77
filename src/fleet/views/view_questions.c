/* Questions of views, in the JSON form of docs/store-queries.md, and their answers. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/collections/hash.h"
#include "fleet/views/views.h"
#include "text/escape.h"
#include "text/json_compact.h"

static void begin_condition(struct pyro_fleet_view *view, struct pyro_slice field, const char *op)
{
    struct pyro_strbuf *text = &view->question;
    pyro_compact_begin(text, NULL, '{');
    pyro_compact_text(text, "field", field);
    pyro_compact_string(text, "op", op);
}

static void where_text(struct pyro_fleet_view *view, struct pyro_slice field, const char *op, struct pyro_slice value)
{
    begin_condition(view, field, op);
    pyro_compact_text(&view->question, "value", value);
    pyro_compact_end(&view->question, '}');
}

void pyro_fleet_where(struct pyro_fleet_view *view, const char *field, const char *op, struct pyro_slice value)
{
    where_text(view, pyro_slice_from(field), op, value);
}

void pyro_fleet_where_number(struct pyro_fleet_view *view, const char *field, const char *op, double value)
{
    begin_condition(view, pyro_slice_from(field), op);
    pyro_compact_name(&view->question, "value");
    pyro_add_json_real(&view->question, value);
    pyro_compact_end(&view->question, '}');
}

void pyro_fleet_where_known(struct pyro_fleet_view *view, const char *field, bool known)
{
    begin_condition(view, pyro_slice_from(field), "exists");
    pyro_compact_bool(&view->question, "value", known);
    pyro_compact_end(&view->question, '}');
}

static void add_value(struct pyro_strbuf *text, const struct pyro_query_value *value)
{
    if (value->kind == PYRO_VALUE_INT)
        pyro_strbuf_add_int(text, value->integer);
    else if (value->kind == PYRO_VALUE_REAL)
        pyro_add_json_real(text, value->real);
    else
        pyro_add_json(text, pyro_value_text(value));
}

void pyro_fleet_where_in(struct pyro_fleet_view *view, struct pyro_slice field, const struct pyro_query_value *values,
                         size_t count)
{
    begin_condition(view, field, "in");
    pyro_compact_begin(&view->question, "value", '[');
    for (size_t i = 0; i < count; i++) {
        pyro_compact_next(&view->question);
        add_value(&view->question, &values[i]);
    }
    pyro_compact_end(&view->question, ']');
    pyro_compact_end(&view->question, '}');
}

static void where_status(struct pyro_fleet_view *view, const char *one, const char *other)
{
    const struct pyro_query_value values[] = {{.kind = PYRO_VALUE_TEXT, .text = pyro_slice_from(one)},
                                              {.kind = PYRO_VALUE_TEXT, .text = pyro_slice_from(other)}};
    pyro_fleet_where_in(view, PYRO_SLICE_LITERAL("status"), values, 2);
}

void pyro_fleet_where_ended(struct pyro_fleet_view *view)
{
    where_status(view, "completed", "failed");
}

enum pyro_status pyro_fleet_note_not_ended(struct pyro_fleet_view *view, struct pyro_error *error)
{
    struct pyro_query_answer answer;
    pyro_fleet_from(view, "runs");
    where_status(view, "in_progress", "truncated");
    PYRO_TRY(pyro_fleet_ask(view, &answer, error, "\"measures\":[{\"as\":\"runs\",\"op\":\"count\"}]"));
    int64_t count = answer.row_count ? pyro_answer_int(&answer, 0, 0) : 0;
    if (count > 0)
        pyro_fleet_note(view, "Runs left out because their log has no end (in progress or truncated): %lld.",
                        (long long)count);
    return PYRO_OK;
}

/* KEY=VALUE; the library has checked that there is a '='. */
static void where_pair(struct pyro_fleet_view *view, const char *prefix, const char *pair)
{
    const char *equals = strchr(pair, '=');
    struct pyro_slice key = pyro_arena_printf(view->arena, "%s%.*s", prefix, (int)(equals - pair), pair);
    where_text(view, key, "=", pyro_slice_from(equals + 1));
}

static void add_filters(struct pyro_fleet_view *view, bool of_runs)
{
    const struct pyro_fleet_options *options = view->options;
    const char *time = of_runs ? "start_ms" : "time_ms";
    if (view->since_ms != PYRO_NONE)
        pyro_fleet_where_number(view, time, ">=", (double)view->since_ms);
    if (view->until_ms != PYRO_NONE)
        pyro_fleet_where_number(view, time, "<", (double)view->until_ms);
    if (!of_runs)
        return;
    if (options->app)
        pyro_fleet_where(view, "application", "=", pyro_slice_from(options->app));
    if (options->user)
        pyro_fleet_where(view, "user", "=", pyro_slice_from(options->user));
    for (size_t i = 0; i < options->tag_count; i++)
        where_pair(view, "tag.", options->tags[i]);
    for (size_t i = 0; i < options->max_count; i++) {
        const char *equals = strchr(options->max[i], '=');
        struct pyro_slice field =
            pyro_arena_copy(view->arena, (struct pyro_slice){options->max[i], (size_t)(equals - options->max[i])});
        view->failed |= !field.ptr;
        if (field.ptr)
            pyro_fleet_where_number(view, field.ptr, "<=", atof(equals + 1));
    }
}

void pyro_fleet_from(struct pyro_fleet_view *view, const char *from)
{
    pyro_strbuf_clear(&view->question);
    pyro_compact_begin(&view->question, NULL, '{');
    pyro_compact_string(&view->question, "from", from);
    pyro_compact_begin(&view->question, "where", '[');
    add_filters(view, strcmp(from, "errors") != 0);
}

static bool is_stopped(const struct pyro_fleet_view *view)
{
    struct pyro_progress progress = {.size = sizeof(progress), .path = ""};
    return view->work && view->work->progress && view->work->progress(view->work->progress_context, &progress) != 0;
}

enum pyro_status pyro_fleet_ask(struct pyro_fleet_view *view, struct pyro_query_answer *ret, struct pyro_error *error,
                                const char *format, ...)
{
    va_list arguments;
    struct pyro_query query;
    va_start(arguments, format);
    struct pyro_slice rest = pyro_arena_vprintf(view->arena, format, arguments);
    va_end(arguments);
    pyro_compact_end(&view->question, ']');
    pyro_compact_next(&view->question);
    pyro_strbuf_add_slice(&view->question, rest);
    pyro_compact_end(&view->question, '}');
    struct pyro_slice text = pyro_arena_copy(view->arena, pyro_strbuf_slice(&view->question));
    if (!rest.ptr || !text.ptr || view->question.failed || view->failed)
        return pyro_no_memory(error);
    if (is_stopped(view))
        return pyro_error_set(error, PYRO_ERROR_CANCELLED, "the view was canceled");
    if (view->question_count < FLEET_QUESTIONS)
        view->questions[view->question_count++] = text;
    PYRO_TRY(pyro_query_parse(text, view->arena, &query, error));
    return pyro_store_ask(view->store, &query, view->viewer, view->arena, ret, error);
}

const char *pyro_fleet_further_field(struct pyro_fleet_view *view, const char *fields)
{
    if (!view->by.len || strstr(fields, view->by_json.ptr))
        return "";
    struct pyro_slice field = pyro_arena_printf(view->arena, ",%s", view->by_json.ptr);
    view->failed |= !field.ptr;
    return field.ptr ? field.ptr : "";
}

/* ---- Answers ---- */

const struct pyro_query_value *pyro_fleet_by_value(const struct pyro_fleet_view *view,
                                                   const struct pyro_query_answer *answer, size_t row)
{
    static const struct pyro_query_value none = {.kind = PYRO_VALUE_NULL};
    for (size_t c = 0; c < answer->column_count; c++)
        if (pyro_slice_eq(answer->columns[c], view->by))
            return pyro_answer_value(answer, row, c);
    return &none;
}

uint64_t pyro_fleet_hash(uint64_t hash, const struct pyro_query_value *value)
{
    double real = pyro_value_number(value);
    const unsigned char *bytes = (const unsigned char *)&real;
    size_t len = value->kind == PYRO_VALUE_NULL ? 0 : sizeof(real);
    if (value->kind == PYRO_VALUE_TEXT) {
        bytes = (const unsigned char *)value->text.ptr;
        len = value->text.len;
    }
    return pyro_fnv(pyro_fnv_byte(hash, (unsigned char)value->kind), bytes, len);
}

bool pyro_fleet_same(const struct pyro_query_value *a, const struct pyro_query_value *b)
{
    if (a->kind == PYRO_VALUE_TEXT || b->kind == PYRO_VALUE_TEXT)
        return a->kind == b->kind && pyro_slice_eq(a->text, b->text);
    if (a->kind == PYRO_VALUE_NULL || b->kind == PYRO_VALUE_NULL)
        return a->kind == b->kind;
    double left = pyro_value_number(a), right = pyro_value_number(b);
    return !(left < right) && !(left > right);
}

size_t pyro_fleet_row_of(const struct pyro_query_answer *answer, const struct pyro_query_value *key, size_t from)
{
    for (size_t i = 0; i < answer->row_count; i++) { /* answers of one view have nearly the same order */
        size_t row = (from + i) % answer->row_count;
        if (pyro_fleet_same(pyro_answer_value(answer, row, 0), key))
            return row;
    }
    return SIZE_MAX;
}
