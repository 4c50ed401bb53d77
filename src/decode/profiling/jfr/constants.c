/* Pools of constants. Checkpoint events hold entries of many pools; the place of each entry is noted, and it is decoded
 * when an event refers to it. */
#include "base/json/unescape.h"
#include "decode/profiling/jfr/chunk.h"

bool pyro_jfr_event_at(const struct pyro_jfr_chunk *chunk, size_t at, struct pyro_jfr_event *ret)
{
    struct pyro_jfr_cursor cursor = {
        .at = chunk->data + at, .end = chunk->data + chunk->len, .compressed = chunk->compressed};
    if (at >= chunk->len)
        return false;
    int32_t size = pyro_jfr_int(&cursor);
    if (cursor.failed || size <= 0 || (size_t)size > chunk->len - at)
        return false;
    cursor.end = chunk->data + at + (size_t)size;
    if (cursor.at > cursor.end)
        return false;
    int64_t type = pyro_jfr_long(&cursor);
    *ret = (struct pyro_jfr_event){.type = type, .body = cursor, .at = at, .next = at + (size_t)size};
    return !cursor.failed;
}

void pyro_jfr_forget_pools(struct pyro_jfr_types *types)
{
    for (size_t i = 0; i < types->types.count; i++) {
        struct pyro_map *constants = &types->types.items[i].constants;
        if (constants->count > 0) {
            pyro_map_done(constants);
            pyro_map_init(constants, types->allocator);
        }
    }
}

/* Notes the entries of one pool. */
static bool index_pool(struct pyro_jfr_chunk *chunk, struct pyro_jfr_cursor *cursor)
{
    struct pyro_jfr_type *type = pyro_jfr_type_by_id(chunk->types, pyro_jfr_long(cursor));
    int32_t count = pyro_jfr_int(cursor);
    if (cursor->failed || !type || count < 0)
        return false;
    if (!type->skip.made && !pyro_jfr_compile(chunk->types, type, NULL, 0, &type->skip)) {
        chunk->no_memory = true;
        return false;
    }
    if (!type->skip.usable)
        return false;
    for (int32_t i = 0; i < count; i++) {
        int64_t key = pyro_jfr_long(cursor);
        size_t at = (size_t)(cursor->at - chunk->data);
        if (!pyro_jfr_run(&type->skip, cursor, NULL, NULL, NULL))
            return false;
        uint64_t *place = pyro_map_put(&type->constants, (uint64_t)key, NULL);
        if (!place) {
            chunk->no_memory = true;
            return false;
        }
        *place = at + 1;
    }
    return true;
}

bool pyro_jfr_index_pools(struct pyro_jfr_chunk *chunk, struct pyro_jfr_cursor cursor)
{
    pyro_jfr_long(&cursor); /* start, duration, distance to the checkpoint before */
    pyro_jfr_long(&cursor);
    pyro_jfr_long(&cursor);
    pyro_jfr_byte(&cursor); /* what made it */
    int32_t pools = pyro_jfr_int(&cursor);
    for (int32_t i = 0; i < pools && !cursor.failed; i++)
        if (!index_pool(chunk, &cursor))
            return false;
    return !cursor.failed;
}

bool pyro_jfr_constant(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *reference,
                       const struct pyro_jfr_program *program, struct pyro_jfr_value *values,
                       bool (*each)(void *context, struct pyro_jfr_value *values), void *context)
{
    if (!reference->set || reference->type >= chunk->types->types.count || !program->usable)
        return false;
    const struct pyro_jfr_type *type = &chunk->types->types.items[reference->type];
    const uint64_t *place = pyro_map_get(&type->constants, (uint64_t)reference->number);
    if (!place) {
        chunk->reading->facts->unknown += reference->number != 0; /* 0 may be null */
        return false;
    }
    struct pyro_jfr_cursor cursor = {
        .at = chunk->data + (*place - 1), .end = chunk->data + chunk->len, .compressed = chunk->compressed};
    return pyro_jfr_run(program, &cursor, values, each, context);
}

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

static void add_code(struct pyro_strbuf *buffer, uint32_t code)
{
    if (code < 0x80) {
        pyro_strbuf_add_char(buffer, (char)code);
    } else if (code < 0x800) {
        pyro_strbuf_add_char(buffer, (char)(0xc0 | code >> 6));
        pyro_strbuf_add_char(buffer, (char)(0x80 | (code & 0x3f)));
    } else if (code < 0x10000) {
        pyro_strbuf_add_char(buffer, (char)(0xe0 | code >> 12));
        pyro_strbuf_add_char(buffer, (char)(0x80 | (code >> 6 & 0x3f)));
        pyro_strbuf_add_char(buffer, (char)(0x80 | (code & 0x3f)));
    } else {
        pyro_strbuf_add_char(buffer, (char)(0xf0 | code >> 18));
        pyro_strbuf_add_char(buffer, (char)(0x80 | (code >> 12 & 0x3f)));
        pyro_strbuf_add_char(buffer, (char)(0x80 | (code >> 6 & 0x3f)));
        pyro_strbuf_add_char(buffer, (char)(0x80 | (code & 0x3f)));
    }
}

/* UTF-16 units; a surrogate without its other half becomes U+FFFD. */
static void add_units(struct pyro_strbuf *buffer, struct pyro_slice units, bool compressed)
{
    struct pyro_jfr_cursor cursor = {.at = (const unsigned char *)units.ptr,
                                     .end = (const unsigned char *)units.ptr + units.len,
                                     .compressed = compressed};
    uint32_t high = 0;
    while (cursor.at < cursor.end && !cursor.failed) {
        uint32_t unit = (uint16_t)pyro_jfr_short(&cursor);
        bool low = unit >= 0xdc00 && unit < 0xe000;
        if (high && low) {
            add_code(buffer, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
            high = 0;
            continue;
        }
        if (high)
            add_code(buffer, 0xfffd);
        high = unit >= 0xd800 && unit < 0xdc00 ? unit : 0;
        if (!high)
            add_code(buffer, low ? 0xfffd : unit);
    }
    if (high)
        add_code(buffer, 0xfffd);
}

static bool add_string(struct pyro_jfr_chunk *chunk, struct pyro_strbuf *buffer, const struct pyro_jfr_text *text)
{
    switch (text->encoding) {
    case PYRO_JFR_TEXT_EMPTY:
        return true;
    case PYRO_JFR_TEXT_UTF8:
        pyro_strbuf_add_slice(buffer, text->bytes);
        return true;
    case PYRO_JFR_TEXT_LATIN1:
        for (size_t i = 0; i < text->bytes.len; i++)
            add_code(buffer, (unsigned char)text->bytes.ptr[i]);
        return true;
    case PYRO_JFR_TEXT_CHARS:
        add_units(buffer, text->bytes, chunk->compressed);
        return true;
    default:
        return false;
    }
}

/* The program that reads the first string of a type. */
static const struct pyro_jfr_program *text_program(struct pyro_jfr_chunk *chunk, struct pyro_jfr_type *type)
{
    static const char *const slots[] = {"*"};
    if (!type->text.made && !pyro_jfr_compile(chunk->types, type, slots, 1, &type->text))
        chunk->no_memory = true;
    return &type->text;
}

bool pyro_jfr_add_text(struct pyro_jfr_chunk *chunk, struct pyro_strbuf *buffer, const struct pyro_jfr_value *value)
{
    struct pyro_jfr_value now = *value;
    /* A constant leads to its string, and that may lead into the pool of strings. */
    for (unsigned steps = 0; steps < 3 && now.set && !chunk->no_memory; steps++) {
        struct pyro_jfr_value next[PYRO_JFR_SLOTS] = {{.set = false}};
        struct pyro_jfr_value reference = now;
        if (now.text.encoding == PYRO_JFR_TEXT_CONSTANT) {
            const struct pyro_jfr_type *strings = pyro_jfr_type_by_name(chunk->types, "java.lang.String");
            if (!strings)
                return false;
            reference = (struct pyro_jfr_value){.set = true,
                                                .constant = true,
                                                .number = (int64_t)now.text.key,
                                                .type = (uint32_t)(strings - chunk->types->types.items)};
        } else if (now.text.encoding != PYRO_JFR_TEXT_NULL) {
            return add_string(chunk, buffer, &now.text) && !buffer->failed;
        }
        if (!reference.constant || reference.type >= chunk->types->types.count)
            return false;
        const struct pyro_jfr_program *program = text_program(chunk, &chunk->types->types.items[reference.type]);
        if (!pyro_jfr_constant(chunk, &reference, program, next, NULL, NULL))
            return false;
        now = next[0];
    }
    return false;
}
