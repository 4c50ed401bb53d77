#include "fleet/crawl/expression.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/options.h"

enum { DEPTH = 64, MOST_BYTES = 4096 };

enum node_kind {
    NODE_NUMBER,
    NODE_REFERENCE,
    NODE_DATE,
    NODE_ADD,
    NODE_SUBTRACT,
    NODE_MULTIPLY,
    NODE_DIVIDE,
    NODE_NEGATE
};

struct pyro_expression {
    enum node_kind kind;
    double number;
    struct pyro_slice text; /* reference without its braces; format of a date, null: ISO 8601 */
    const struct pyro_expression *left, *right;
};

/* ---- Parsing ----------------------------------------------------------------------------------------------------- */

struct parser {
    struct pyro_arena *arena;
    const char *at, *end;
    unsigned depth;
    const char *wrong; /* NULL: nothing so far */
    bool no_memory;
};

static void skip_space(struct parser *parser)
{
    while (parser->at < parser->end && (*parser->at == ' ' || *parser->at == '\t'))
        parser->at++;
}

static bool accept(struct parser *parser, char wanted)
{
    skip_space(parser);
    bool there = parser->at < parser->end && *parser->at == wanted;
    parser->at += there;
    return there;
}

static const struct pyro_expression *refuse(struct parser *parser, const char *why)
{
    parser->wrong = parser->wrong ? parser->wrong : why;
    return NULL;
}

static struct pyro_expression *make(struct parser *parser, enum node_kind kind, const struct pyro_expression *left,
                                    const struct pyro_expression *right)
{
    struct pyro_expression *node = pyro_arena_alloc(parser->arena, sizeof(*node));
    parser->no_memory |= !node;
    if (!node || parser->wrong)
        return NULL;
    *node = (struct pyro_expression){.kind = kind, .left = left, .right = right};
    return node;
}

static const struct pyro_expression *parse_sum(struct parser *parser);

static const struct pyro_expression *with_text(struct parser *parser, enum node_kind kind, struct pyro_slice text,
                                               const struct pyro_expression *left)
{
    struct pyro_expression *node = make(parser, kind, left, NULL);
    if (node && text.ptr) {
        node->text = pyro_arena_copy(parser->arena, text);
        parser->no_memory |= !node->text.ptr;
    }
    return node;
}

static const struct pyro_expression *parse_reference(struct parser *parser)
{
    static const char *const kinds[] = {"/", "agg.", "tag.", "property.", "run."};
    const char *closing = memchr(parser->at, '}', (size_t)(parser->end - parser->at));
    if (!closing)
        return refuse(parser, "a brace is not closed");
    struct pyro_slice text = {parser->at, (size_t)(closing - parser->at)};
    size_t kind = 0;
    while (kind < sizeof(kinds) / sizeof(*kinds) && !pyro_slice_starts_with(text, kinds[kind]))
        kind++;
    if (kind == sizeof(kinds) / sizeof(*kinds))
        return refuse(parser, "braces hold /POINTER, agg.NAME, tag.KEY, property.KEY or run.FIELD");
    parser->at = closing + 1;
    return with_text(parser, NODE_REFERENCE, text, NULL);
}

/* date(VALUE) or date(VALUE, "FORMAT"), behind "date" */
static const struct pyro_expression *parse_date(struct parser *parser)
{
    struct pyro_slice format = PYRO_SLICE_NULL;
    if (!accept(parser, '('))
        return refuse(parser, "date needs a value in parentheses");
    const struct pyro_expression *value = parse_sum(parser);
    if (accept(parser, ',')) {
        const char *closing;
        if (!accept(parser, '"') || !(closing = memchr(parser->at, '"', (size_t)(parser->end - parser->at))))
            return refuse(parser, "the format of a date is in quotation marks");
        format = (struct pyro_slice){parser->at, (size_t)(closing - parser->at)};
        parser->at = closing + 1;
    }
    if (!accept(parser, ')'))
        return refuse(parser, "a parenthesis is not closed");
    return with_text(parser, NODE_DATE, format, value);
}

static const struct pyro_expression *parse_number(struct parser *parser)
{
    char text[40];
    size_t len = 0;
    while (parser->at + len < parser->end && len + 1 < sizeof(text) &&
           ((parser->at[len] >= '0' && parser->at[len] <= '9') || parser->at[len] == '.'))
        len++;
    if (len == 0)
        return refuse(parser, "a value is missing");
    memcpy(text, parser->at, len);
    text[len] = '\0';
    char *stop;
    double number = strtod(text, &stop);
    if (*stop)
        return refuse(parser, "a number is not one");
    parser->at += len;
    struct pyro_expression *node = make(parser, NODE_NUMBER, NULL, NULL);
    if (node)
        node->number = number;
    return node;
}

static const struct pyro_expression *parse_value(struct parser *parser)
{
    static const char date[] = "date";
    const struct pyro_expression *value;
    if (++parser->depth > DEPTH)
        return refuse(parser, "it is nested too deeply");
    if (accept(parser, '-')) {
        value = parse_value(parser);
        value = make(parser, NODE_NEGATE, value, NULL);
    } else if (accept(parser, '(')) {
        value = parse_sum(parser);
        if (!accept(parser, ')'))
            value = refuse(parser, "a parenthesis is not closed");
    } else if (accept(parser, '{')) {
        value = parse_reference(parser);
    } else if ((size_t)(parser->end - parser->at) >= sizeof(date) - 1 &&
               memcmp(parser->at, date, sizeof(date) - 1) == 0) {
        parser->at += sizeof(date) - 1;
        value = parse_date(parser);
    } else {
        value = parse_number(parser);
    }
    parser->depth--;
    return value;
}

static const struct pyro_expression *parse_product(struct parser *parser)
{
    const struct pyro_expression *left = parse_value(parser);
    while (left) {
        enum node_kind kind = accept(parser, '*') ? NODE_MULTIPLY : accept(parser, '/') ? NODE_DIVIDE : NODE_NUMBER;
        if (kind == NODE_NUMBER)
            break;
        const struct pyro_expression *right = parse_value(parser);
        left = make(parser, kind, left, right);
    }
    return left;
}

static const struct pyro_expression *parse_sum(struct parser *parser)
{
    const struct pyro_expression *left = parse_product(parser);
    while (left) {
        enum node_kind kind = accept(parser, '+') ? NODE_ADD : accept(parser, '-') ? NODE_SUBTRACT : NODE_NUMBER;
        if (kind == NODE_NUMBER)
            break;
        const struct pyro_expression *right = parse_product(parser);
        left = make(parser, kind, left, right);
    }
    return left;
}

enum pyro_status pyro_expression_parse(struct pyro_arena *arena, struct pyro_slice text,
                                       const struct pyro_expression **ret, struct pyro_error *error)
{
    struct parser parser = {.arena = arena, .at = text.ptr, .end = text.ptr + text.len};
    const struct pyro_expression *parsed =
        text.len < MOST_BYTES ? parse_sum(&parser) : refuse(&parser, "it is too long");
    skip_space(&parser);
    if (parser.no_memory)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for an expression");
    if (!parser.wrong && parser.at < parser.end)
        refuse(&parser, "something follows that does not belong to it");
    if (parser.wrong || !parsed)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "'%.200s' is not an expression: %s at character %zu",
                              text.ptr, parser.wrong ? parser.wrong : "a value is missing",
                              (size_t)(parser.at - text.ptr) + 1);
    *ret = parsed;
    return PYRO_OK;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static const struct pyro_derived nothing = {.kind = PYRO_DERIVED_NOTHING};

static struct pyro_derived number_of(double number)
{
    return isfinite(number) ? (struct pyro_derived){.kind = PYRO_DERIVED_NUMBER, .number = number} : nothing;
}

static struct pyro_derived count_of(int64_t number)
{
    return number == PYRO_NONE ? nothing : number_of((double)number);
}

static struct pyro_derived text_of(struct pyro_slice text)
{
    return text.ptr ? (struct pyro_derived){.kind = PYRO_DERIVED_TEXT, .text = text} : nothing;
}

const json_t *pyro_json_at(const json_t *document, struct pyro_slice pointer)
{
    char name[256];
    while (document && pointer.len > 0 && *pointer.ptr == '/') {
        size_t used = 1, len = 0;
        for (; used < pointer.len && pointer.ptr[used] != '/'; used++) {
            char byte = pointer.ptr[used];
            if (byte == '~' && used + 1 < pointer.len && (pointer.ptr[used + 1] == '0' || pointer.ptr[used + 1] == '1'))
                byte = pointer.ptr[++used] == '1' ? '/' : '~';
            if (len + 1 >= sizeof(name))
                return NULL;
            name[len++] = byte;
        }
        name[len] = '\0';
        pyro_slice_drop(&pointer, used);
        bool index = json_is_array(document) && len > 0 && len < 8 && strspn(name, "0123456789") == len;
        document = index ? json_array_get(document, (size_t)atol(name)) : json_object_get(document, name);
    }
    return pointer.len == 0 ? document : NULL;
}

static struct pyro_derived value_in(const json_t *document, struct pyro_slice pointer)
{
    const json_t *found = pyro_json_at(document, pointer);
    if (json_is_string(found))
        return text_of((struct pyro_slice){json_string_value(found), json_string_length(found)});
    if (json_is_number(found))
        return number_of(json_number_value(found));
    return json_is_boolean(found) ? number_of(json_is_true(found)) : nothing;
}

static struct pyro_slice behind(struct pyro_slice text, const char *prefix)
{
    size_t len = strlen(prefix);
    return (struct pyro_slice){text.ptr + len, text.len - len};
}

static struct pyro_derived field_of(const struct pyro_run *run, struct pyro_slice name)
{
    const struct pyro_app *app = run->diagnosis->app;
    const struct {
        const char *name;
        struct pyro_derived value;
    } fields[] = {
        {"app_id", text_of(run->app_id)},
        {"attempt", text_of(run->attempt)},
        {"name", text_of(run->name)},
        {"user", text_of(app->application.user)},
        {"start_ms", count_of(app->application.start_ms)},
        {"end_ms", count_of(app->application.end_ms)},
        {"duration_ms", count_of(app->application.duration_ms)},
        {"core_ms", count_of(app->numbers.core_total_ms)},
        {"input_bytes", count_of(run->input_bytes)},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (pyro_slice_is(name, fields[i].name))
            return fields[i].value;
    return nothing;
}

static struct pyro_derived refer(struct pyro_slice text, const json_t *document, const struct pyro_run *run)
{
    if (*text.ptr == '/')
        return value_in(document, text);
    if (pyro_slice_starts_with(text, "run."))
        return field_of(run, behind(text, "run."));
    if (pyro_slice_starts_with(text, "agg.")) {
        struct pyro_slice name = behind(text, "agg.");
        for (size_t i = 0; i < run->aggregates.count; i++)
            if (pyro_slice_is(name, run->aggregates.items[i].name))
                return number_of(run->aggregates.items[i].value);
        return nothing;
    }
    bool tag = pyro_slice_starts_with(text, "tag.");
    struct pyro_slice key = behind(text, tag ? "tag." : "property.");
    const struct pyro_run_pair *pairs = tag ? run->tags.items : run->properties.items;
    size_t count = tag ? run->tags.count : run->properties.count;
    for (size_t i = 0; i < count; i++)
        if (pyro_slice_eq(pairs[i].key, key))
            return text_of(pairs[i].value);
    return nothing;
}

bool pyro_parse_date(const char *text, const char *format, int64_t *ret_ms)
{
    struct tm parts = {0};
    const char *end = strptime(text, format, &parts);
    if (!end || *end)
        return false;
    int64_t offset_s = (int64_t)parts.tm_gmtoff; /* timegm() changes it */
    *ret_ms = ((int64_t)timegm(&parts) - offset_s) * 1000;
    return true;
}

static struct pyro_derived date_of(struct pyro_derived value, struct pyro_slice format)
{
    static const char *const usual[] = {"%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d"};
    char text[80];
    int64_t ms;
    if (value.kind != PYRO_DERIVED_TEXT || value.text.len >= sizeof(text))
        return nothing;
    memcpy(text, value.text.ptr, value.text.len);
    text[value.text.len] = '\0';
    if (format.ptr)
        return pyro_parse_date(text, format.ptr, &ms) ? number_of((double)ms) : nothing;
    for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
        if (pyro_parse_date(text, usual[i], &ms))
            return number_of((double)ms);
    return nothing;
}

/* Numbers are often written as texts. */
static bool as_number(struct pyro_derived value, double *ret)
{
    char text[48], *end;
    *ret = value.number;
    if (value.kind != PYRO_DERIVED_TEXT)
        return value.kind == PYRO_DERIVED_NUMBER;
    if (value.text.len == 0 || value.text.len >= sizeof(text))
        return false;
    memcpy(text, value.text.ptr, value.text.len);
    text[value.text.len] = '\0';
    *ret = strtod(text, &end);
    return *end == '\0' && isfinite(*ret);
}

static struct pyro_derived compute(enum node_kind kind, double left, double right)
{
    switch (kind) {
    case NODE_ADD:
        return number_of(left + right);
    case NODE_SUBTRACT:
        return number_of(left - right);
    case NODE_MULTIPLY:
        return number_of(left * right);
    default:
        return right != 0 ? number_of(left / right) : nothing;
    }
}

struct pyro_derived pyro_expression_value(const struct pyro_expression *expression, const json_t *document,
                                          struct pyro_run *run)
{
    double left, right;
    switch (expression->kind) {
    case NODE_NUMBER:
        return number_of(expression->number);
    case NODE_REFERENCE:
        return refer(expression->text, document, run);
    case NODE_DATE:
        return date_of(pyro_expression_value(expression->left, document, run), expression->text);
    case NODE_NEGATE:
        return as_number(pyro_expression_value(expression->left, document, run), &left) ? number_of(-left) : nothing;
    default:
        return as_number(pyro_expression_value(expression->left, document, run), &left) &&
                       as_number(pyro_expression_value(expression->right, document, run), &right)
                   ? compute(expression->kind, left, right)
                   : nothing;
    }
}
