#include "text/json_write.h"

#include "base/numbers/none.h"
#include "text/escape.h"

void pyro_json_writer_init(struct pyro_json_writer *json, struct pyro_output *output)
{
    *json = (struct pyro_json_writer){.output = output};
}

void pyro_json_line(struct pyro_json_writer *json)
{
    json->line = true;
}

static void new_line(struct pyro_json_writer *json, unsigned indent)
{
    pyro_strbuf_add_char(&json->output->buffer, '\n');
    while (!json->margin && indent--)
        pyro_strbuf_add_text(&json->output->buffer, "  ");
}

/* Comma, line break or blank in front of a member, as its place needs. */
static void separate(struct pyro_json_writer *json)
{
    struct pyro_strbuf *buffer = &json->output->buffer;
    uint64_t bit = (uint64_t)1 << (json->depth & 63);
    bool first = !(json->filled & bit);
    if (json->depth && !first)
        pyro_strbuf_add_char(buffer, ',');
    if (json->line && json->depth) {
        json->lined |= bit;
        new_line(json, json->depth);
        pyro_output_flush(json->output, false);
    } else if (json->depth && !first) {
        pyro_strbuf_add_char(buffer, ' ');
    }
    json->filled |= bit;
    json->line = false;
}

void pyro_json_key(struct pyro_json_writer *json, struct pyro_slice key)
{
    separate(json);
    pyro_add_json(&json->output->buffer, key);
    pyro_strbuf_add_text(&json->output->buffer, ": ");
    /* The value belongs to this key: no separator of its own. */
    json->filled &= ~((uint64_t)1 << (json->depth & 63));
}

static struct pyro_strbuf *member(struct pyro_json_writer *json, const char *key)
{
    struct pyro_strbuf *buffer = &json->output->buffer;
    separate(json);
    if (key) {
        pyro_add_json(buffer, pyro_slice_from(key));
        pyro_strbuf_add_text(buffer, ": ");
    }
    return buffer;
}

void pyro_json_begin_value(struct pyro_json_writer *json)
{
    separate(json);
}

void pyro_json_begin(struct pyro_json_writer *json, const char *key, char bracket)
{
    pyro_strbuf_add_char(member(json, key), bracket);
    json->depth++;
    uint64_t bit = (uint64_t)1 << (json->depth & 63);
    json->filled &= ~bit;
    json->lined &= ~bit;
}

void pyro_json_end(struct pyro_json_writer *json, char bracket)
{
    uint64_t bit = (uint64_t)1 << (json->depth & 63);
    json->depth--;
    json->line = false;
    if (json->lined & bit && !json->margin)
        new_line(json, json->depth);
    pyro_strbuf_add_char(&json->output->buffer, bracket);
}

void pyro_json_null(struct pyro_json_writer *json, const char *key)
{
    pyro_strbuf_add_text(member(json, key), "null");
}

void pyro_json_int(struct pyro_json_writer *json, const char *key, int64_t value)
{
    if (value == PYRO_NONE)
        pyro_json_null(json, key);
    else
        pyro_strbuf_add_int(member(json, key), value);
}

void pyro_json_count(struct pyro_json_writer *json, const char *key, uint64_t value)
{
    pyro_strbuf_printf(member(json, key), "%llu", (unsigned long long)value);
}

void pyro_json_real(struct pyro_json_writer *json, const char *key, double value)
{
    pyro_add_json_real(member(json, key), value);
}

void pyro_json_bool(struct pyro_json_writer *json, const char *key, bool value)
{
    pyro_strbuf_add_text(member(json, key), value ? "true" : "false");
}

void pyro_json_text(struct pyro_json_writer *json, const char *key, struct pyro_slice value)
{
    pyro_add_json(member(json, key), value);
}

void pyro_json_string(struct pyro_json_writer *json, const char *key, const char *value)
{
    pyro_add_json(member(json, key), pyro_slice_from(value));
}

void pyro_json_begin_numbers(struct pyro_json_writer *json, const char *key)
{
    pyro_json_begin(json, key, '[');
}

static struct pyro_strbuf *next_number(struct pyro_json_writer *json)
{
    struct pyro_strbuf *buffer = &json->output->buffer;
    uint64_t bit = (uint64_t)1 << (json->depth & 63);
    pyro_output_flush(json->output, false);
    if (json->filled & bit)
        pyro_strbuf_add_char(buffer, ',');
    json->filled |= bit;
    return buffer;
}

void pyro_json_number(struct pyro_json_writer *json, int64_t value)
{
    struct pyro_strbuf *buffer = next_number(json);
    if (value == PYRO_NONE)
        pyro_strbuf_add_text(buffer, "null");
    else
        pyro_strbuf_add_int(buffer, value);
}

void pyro_json_thousandths(struct pyro_json_writer *json, int64_t value)
{
    if (value == PYRO_NONE || value % 1000 == 0) {
        pyro_json_number(json, value == PYRO_NONE ? value : value / 1000);
        return;
    }
    struct pyro_strbuf *buffer = next_number(json);
    int fraction = (int)(value % 1000), digits = 3;
    for (fraction = fraction < 0 ? -fraction : fraction; fraction % 10 == 0; fraction /= 10)
        digits--;
    pyro_strbuf_printf(buffer, "%s%lld.%0*d", value < 0 && value > -1000 ? "-" : "", (long long)(value / 1000), digits,
                       fraction);
}

void pyro_json_end_numbers(struct pyro_json_writer *json)
{
    pyro_json_end(json, ']');
}
