/* Columns and cursors of answers, and how they are written. */
#include "base/collections/hash.h"
#include "store/query.h"
#include "text/escape.h"
#include "text/json_write.h"

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

/* "AS.AT", such as "duration.99.9". */
static struct pyro_slice percentile_name(const struct pyro_query_measure *measure, double at, struct pyro_arena *arena)
{
    struct pyro_strbuf name;
    pyro_strbuf_init(&name, arena->allocator);
    pyro_strbuf_add_slice(&name, measure->as);
    pyro_strbuf_add_char(&name, '.');
    pyro_add_json_real(&name, at);
    struct pyro_slice copy = name.failed ? PYRO_SLICE_NULL : pyro_arena_copy(arena, pyro_strbuf_slice(&name));
    pyro_strbuf_done(&name);
    return copy;
}

static size_t columns_of(const struct pyro_query_measure *measure)
{
    return measure->op == PYRO_MEASURE_PERCENTILES ? measure->at_count : 1;
}

size_t pyro_query_column_count(const struct pyro_query *query)
{
    size_t count = query->group_count + query->field_count;
    for (size_t i = 0; i < query->measure_count; i++)
        count += columns_of(&query->measures[i]);
    return count;
}

const struct pyro_slice *pyro_query_columns(const struct pyro_query *query, struct pyro_arena *arena, size_t *ret_count)
{
    size_t count = pyro_query_column_count(query);
    struct pyro_slice *names = pyro_arena_array(arena, count + 1, sizeof(*names));
    size_t at = 0;
    if (!names)
        return NULL;
    for (size_t i = 0; i < query->group_count; i++)
        names[at++] = query->groups[i].field.name;
    for (size_t i = 0; i < query->field_count; i++)
        names[at++] = query->fields[i].name;
    for (size_t i = 0; i < query->measure_count; i++) {
        const struct pyro_query_measure *measure = &query->measures[i];
        for (size_t j = 0; j < columns_of(measure); j++) {
            names[at] =
                measure->op == PYRO_MEASURE_PERCENTILES ? percentile_name(measure, measure->at[j], arena) : measure->as;
            if (!names[at++].ptr)
                return NULL;
        }
    }
    *ret_count = count;
    return names;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

int pyro_query_value_compare(const struct pyro_query_value *left, const struct pyro_query_value *right)
{
    bool texts = left->kind == PYRO_VALUE_TEXT;
    if (left->kind == PYRO_VALUE_NULL || right->kind == PYRO_VALUE_NULL)
        return (left->kind != PYRO_VALUE_NULL) - (right->kind != PYRO_VALUE_NULL);
    if (texts != (right->kind == PYRO_VALUE_TEXT))
        return texts ? 1 : -1;
    if (texts)
        return pyro_slice_compare(left->text, right->text);
    if (left->kind == PYRO_VALUE_INT && right->kind == PYRO_VALUE_INT)
        return (left->integer > right->integer) - (left->integer < right->integer);
    long double a = left->kind == PYRO_VALUE_INT ? (long double)left->integer : (long double)left->real;
    long double b = right->kind == PYRO_VALUE_INT ? (long double)right->integer : (long double)right->real;
    return (a > b) - (a < b);
}

/* ---- Cursors ----------------------------------------------------------------------------------------------------- */

/* Hexadecimal: a checksum over question and values, then each value: its kind, and 8 bytes or a length and a text. */
enum { CURSOR_VERSION = 1, CHECK_BYTES = 8 };

static void add_number(struct pyro_strbuf *to, uint64_t number)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        pyro_strbuf_add_char(to, (char)(number >> shift));
}

static void add_text(struct pyro_strbuf *to, struct pyro_slice text)
{
    add_number(to, text.len);
    pyro_strbuf_add_slice(to, text);
}

static void add_value(struct pyro_strbuf *to, const struct pyro_query_value *value)
{
    uint64_t bits = (uint64_t)value->integer;
    if (value->kind == PYRO_VALUE_REAL)
        memcpy(&bits, &value->real, sizeof(bits));
    pyro_strbuf_add_char(to, (char)value->kind);
    if (value->kind == PYRO_VALUE_TEXT)
        add_text(to, value->text);
    else if (value->kind != PYRO_VALUE_NULL)
        add_number(to, bits);
}

static void add_reals(struct pyro_strbuf *to, const double *reals, size_t count)
{
    add_number(to, count);
    for (size_t i = 0; i < count; i++)
        add_value(to, &(struct pyro_query_value){.kind = PYRO_VALUE_REAL, .real = reals[i]});
}

/* Everything of the question that decides which rows it has and in which order. */
static void add_question(struct pyro_strbuf *to, const struct pyro_query *query)
{
    pyro_strbuf_add_char(to, CURSOR_VERSION);
    pyro_strbuf_add_char(to, (char)query->from);
    pyro_strbuf_add_char(to, (char)query->descending);
    add_text(to, query->order_by.ptr ? query->order_by : PYRO_SLICE_LITERAL(""));
    for (size_t i = 0; i < query->condition_count; i++) {
        const struct pyro_query_condition *condition = &query->conditions[i];
        pyro_strbuf_add_char(to, (char)condition->op);
        add_text(to, condition->field.name);
        add_number(to, condition->value_count);
        for (size_t j = 0; j < condition->value_count; j++)
            add_value(to, &condition->values[j]);
    }
    for (size_t i = 0; i < query->group_count; i++) {
        add_text(to, query->groups[i].field.name);
        add_number(to, (uint64_t)query->groups[i].every_ms);
        add_reals(to, query->groups[i].edges, query->groups[i].edge_count);
    }
    for (size_t i = 0; i < query->measure_count; i++) {
        const struct pyro_query_measure *measure = &query->measures[i];
        pyro_strbuf_add_char(to, (char)measure->op);
        add_text(to, measure->as);
        add_text(to, measure->field.kind ? measure->field.name : PYRO_SLICE_LITERAL(""));
        add_text(to, measure->weight.kind ? measure->weight.name : PYRO_SLICE_LITERAL(""));
        add_reals(to, measure->at, measure->at_count);
    }
}

static uint64_t checksum(const struct pyro_query *query, struct pyro_slice values, bool *failed)
{
    struct pyro_strbuf all;
    pyro_strbuf_init(&all, NULL);
    add_question(&all, query);
    add_text(&all, values);
    uint64_t sum = pyro_hash_slice(pyro_strbuf_slice(&all));
    *failed |= all.failed;
    pyro_strbuf_done(&all);
    return sum;
}

struct pyro_slice pyro_query_cursor_make(const struct pyro_query *query, const struct pyro_query_value *values,
                                         size_t count, struct pyro_arena *arena)
{
    static const char digits[] = "0123456789abcdef";
    struct pyro_strbuf bytes, check;
    pyro_strbuf_init(&bytes, NULL);
    pyro_strbuf_init(&check, NULL);
    for (size_t i = 0; i < count; i++)
        add_value(&bytes, &values[i]);
    bool failed = bytes.failed;
    add_number(&check, checksum(query, pyro_strbuf_slice(&bytes), &failed));
    pyro_strbuf_add_slice(&check, pyro_strbuf_slice(&bytes));
    char *text = failed || check.failed ? NULL : pyro_arena_alloc(arena, check.len * 2 + 1);
    for (size_t i = 0; text && i < check.len; i++) {
        text[2 * i] = digits[(unsigned char)check.data[i] >> 4];
        text[2 * i + 1] = digits[(unsigned char)check.data[i] & 15];
    }
    struct pyro_slice made = text ? (struct pyro_slice){text, check.len * 2} : PYRO_SLICE_NULL;
    pyro_strbuf_done(&bytes);
    pyro_strbuf_done(&check);
    return made;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_number(struct pyro_slice *from, uint64_t *ret)
{
    if (from->len < 8)
        return false;
    *ret = 0;
    for (size_t i = 0; i < 8; i++)
        *ret = *ret << 8 | (unsigned char)from->ptr[i];
    *from = (struct pyro_slice){from->ptr + 8, from->len - 8};
    return true;
}

static bool take_value(struct pyro_slice *from, struct pyro_query_value *ret)
{
    uint64_t number = 0;
    if (from->len == 0 || (unsigned char)*from->ptr > PYRO_VALUE_TEXT)
        return false;
    *ret = (struct pyro_query_value){.kind = (enum pyro_query_value_kind) * from->ptr};
    *from = (struct pyro_slice){from->ptr + 1, from->len - 1};
    if (ret->kind == PYRO_VALUE_NULL)
        return true;
    if (!take_number(from, &number) || (ret->kind == PYRO_VALUE_TEXT && number > from->len))
        return false;
    if (ret->kind == PYRO_VALUE_TEXT) {
        ret->text = (struct pyro_slice){from->ptr, (size_t)number};
        *from = (struct pyro_slice){from->ptr + number, from->len - (size_t)number};
    } else if (ret->kind == PYRO_VALUE_REAL) {
        memcpy(&ret->real, &number, sizeof(number));
    } else {
        ret->integer = (int64_t)number;
    }
    return true;
}

enum pyro_status pyro_query_cursor_read(const struct pyro_query *query, struct pyro_arena *arena,
                                        struct pyro_query_value *ret, size_t count, struct pyro_error *error)
{
    struct pyro_slice text = query->after;
    char *bytes = pyro_arena_alloc(arena, text.len / 2 + 1);
    uint64_t check = 0;
    bool good = text.len % 2 == 0, failed = !bytes;
    for (size_t i = 0; good && !failed && i < text.len / 2; i++) {
        int high = digit(text.ptr[2 * i]), low = digit(text.ptr[2 * i + 1]);
        good = high >= 0 && low >= 0;
        bytes[i] = good ? (char)(high * 16 + low) : 0;
    }
    struct pyro_slice rest = {bytes, text.len / 2};
    good = good && !failed && take_number(&rest, &check) && checksum(query, rest, &failed) == check;
    for (size_t i = 0; good && i < count; i++)
        good = take_value(&rest, &ret[i]);
    if (failed)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for a question to a store");
    return good && rest.len == 0 ? PYRO_OK
                                 : pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                                                  "the question: after: it is not from an answer to this question; ask "
                                                  "without it");
}

/* ---- The document ------------------------------------------------------------------------------------------------ */

static void write_value(struct pyro_json_writer *json, const struct pyro_query_value *value)
{
    switch (value->kind) {
    case PYRO_VALUE_INT:
        pyro_json_begin_value(json); /* every integer: PYRO_NONE is one here */
        pyro_strbuf_add_int(&json->output->buffer, value->integer);
        break;
    case PYRO_VALUE_REAL:
        pyro_json_real(json, NULL, value->real);
        break;
    case PYRO_VALUE_TEXT:
        pyro_json_text(json, NULL, value->text);
        break;
    case PYRO_VALUE_NULL:
        pyro_json_null(json, NULL);
    }
}

void pyro_query_answer_write(const struct pyro_query_answer *answer, struct pyro_strbuf *to)
{
    const struct pyro_writer writer = pyro_strbuf_writer(to);
    struct pyro_output output;
    struct pyro_json_writer json;
    pyro_output_init(&output, &writer, NULL);
    pyro_json_writer_init(&json, &output);
    json.margin = true;
    pyro_json_begin(&json, NULL, '{');
    pyro_json_string(&json, "schema", "pyrometer.store_answer/1");
    pyro_json_line(&json);
    pyro_json_begin(&json, "columns", '[');
    for (size_t i = 0; i < answer->column_count; i++)
        pyro_json_text(&json, NULL, answer->columns[i]);
    pyro_json_end(&json, ']');
    pyro_json_line(&json);
    pyro_json_begin(&json, "rows", '[');
    for (size_t row = 0; row < answer->row_count; row++) {
        pyro_json_line(&json);
        pyro_json_begin(&json, NULL, '[');
        for (size_t i = 0; i < answer->column_count; i++)
            write_value(&json, &answer->values[row * answer->column_count + i]);
        pyro_json_end(&json, ']');
    }
    pyro_json_end(&json, ']');
    pyro_json_line(&json);
    pyro_json_text(&json, "after", answer->after);
    pyro_json_end(&json, '}');
    pyro_strbuf_add_char(&output.buffer, '\n');
    to->failed |= pyro_output_done(&output, NULL) != PYRO_OK;
}
