/* Types of TSDL. They may be inside each other: what calls itself here counts the levels. */
#include "decode/trace/ctf/tsdl.h"

enum { PATH_MAX_PARTS = 32 };

static bool enter(struct tsdl *tsdl)
{
    if (++tsdl->levels <= PYRO_CTF_LEVELS)
        return true;
    return pyro_tsdl_fail(tsdl, tsdl->token.line, "types are nested too deeply");
}

/* ---- Plain types ------------------------------------------------------------------------------------------------- */

static bool is_true(const struct tsdl_attribute *attribute)
{
    if (attribute->is_number)
        return attribute->number != 0;
    return pyro_slice_is(attribute->text, "true") || pyro_slice_is(attribute->text, "TRUE");
}

static bool take_size(struct tsdl *tsdl, const struct tsdl_attribute *attribute, uint64_t *ret)
{
    if (!attribute->is_number || attribute->number < 0 || attribute->number > PYRO_CTF_ALIGN_MAX)
        return pyro_tsdl_fail(tsdl, attribute->line, "a size or an alignment is not 0 to 4096");
    *ret = (uint64_t)attribute->number;
    return true;
}

static uint8_t order_of(struct pyro_slice text)
{
    if (pyro_slice_is(text, "le"))
        return PYRO_CTF_LITTLE;
    return pyro_slice_is(text, "be") || pyro_slice_is(text, "network") ? PYRO_CTF_BIG : PYRO_CTF_NATIVE;
}

/* "clock.NAME.value" -> NAME */
static struct pyro_slice clock_of(struct pyro_slice text)
{
    if (!pyro_slice_starts_with(text, "clock.") || !pyro_slice_ends_with(text, ".value") || text.len < 13)
        return PYRO_SLICE_NULL;
    return (struct pyro_slice){text.ptr + 6, text.len - 12};
}

static bool take_plain(struct tsdl *tsdl, const struct tsdl_attribute *attribute, struct pyro_ctf_type *type,
                       uint64_t *align)
{
    const struct pyro_slice name = attribute->name;
    uint64_t digits = 0;
    if (pyro_slice_is(name, "size"))
        return take_size(tsdl, attribute, &type->bits);
    if (pyro_slice_is(name, "align"))
        return take_size(tsdl, attribute, align);
    if (pyro_slice_is(name, "signed"))
        type->is_signed = is_true(attribute);
    else if (pyro_slice_is(name, "byte_order"))
        type->order = order_of(attribute->text);
    else if (pyro_slice_is(name, "encoding"))
        type->character = pyro_slice_is(attribute->text, "UTF8") || pyro_slice_is(attribute->text, "utf8") ||
                          pyro_slice_is(attribute->text, "UTF-8") || pyro_slice_is(attribute->text, "ASCII") ||
                          pyro_slice_is(attribute->text, "ascii");
    else if (pyro_slice_is(name, "map"))
        type->clock = clock_of(attribute->text);
    else if (type->kind == PYRO_CTF_REAL && (pyro_slice_is(name, "exp_dig") || pyro_slice_is(name, "mant_dig"))) {
        if (!take_size(tsdl, attribute, &digits))
            return false;
        type->bits += digits;
    }
    return true;
}

/* What is after "integer", "floating_point" or "string". */
static const struct pyro_ctf_type *read_plain(struct tsdl *tsdl, enum pyro_ctf_kind kind)
{
    struct pyro_ctf_type *type = pyro_tsdl_new(tsdl, NULL, kind);
    struct tsdl_attribute attribute;
    uint64_t align = 0;
    if (!type)
        return NULL;
    if (kind != PYRO_CTF_STRING && !pyro_tsdl_is_mark(tsdl, '{')) {
        pyro_tsdl_fail(tsdl, tsdl->token.line, "'{' is missing");
        return NULL;
    }
    if (pyro_tsdl_take_mark(tsdl, '{')) {
        while (!pyro_tsdl_is_mark(tsdl, '}'))
            if (!pyro_tsdl_attribute(tsdl, &attribute) || !take_plain(tsdl, &attribute, type, &align))
                return NULL;
        pyro_tsdl_advance(tsdl);
    }
    if (kind == PYRO_CTF_STRING)
        type->bits = 0;
    if (align == 0) /* what the specification says: bytes where it can be */
        align = type->bits % 8 == 0 ? 8 : 1;
    type->align = (uint32_t)align;
    type->character = type->character && type->bits == 8;
    return pyro_tsdl_made(tsdl, type);
}

/* ---- Structures, variants and enumerations ----------------------------------------------------------------------- */

/* "a.b.c", up to the closing mark. */
static bool read_location(struct tsdl *tsdl, char closing, struct pyro_ctf_location *ret)
{
    static const struct {
        const char *prefix;
        enum pyro_ctf_scope scope;
        unsigned parts;
    } roots[] = {
        {"trace.packet.header", PYRO_CTF_PACKET_HEADER, 3}, {"stream.packet.context", PYRO_CTF_PACKET_CONTEXT, 3},
        {"stream.event.header", PYRO_CTF_EVENT_HEADER, 3},  {"stream.event.context", PYRO_CTF_COMMON_CONTEXT, 3},
        {"event.context", PYRO_CTF_EVENT_CONTEXT, 2},       {"event.fields", PYRO_CTF_PAYLOAD, 2},
    };
    struct pyro_slice parts[PATH_MAX_PARTS], whole = {tsdl->token.from, 0};
    size_t count = 0;
    do {
        if (tsdl->token.kind != TSDL_WORD || count == PATH_MAX_PARTS)
            return pyro_tsdl_fail(tsdl, tsdl->token.line, "the name of a field was expected");
        parts[count++] = tsdl->token.text;
        whole.len = (size_t)(tsdl->at - whole.ptr);
        pyro_tsdl_advance(tsdl);
    } while (pyro_tsdl_take_mark(tsdl, '.'));
    size_t from = 0;
    ret->origin = PYRO_CTF_SEARCHED;
    for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
        size_t len = strlen(roots[i].prefix);
        if (count > roots[i].parts && pyro_slice_starts_with(whole, roots[i].prefix) && whole.ptr[len] == '.') {
            ret->origin = (int)roots[i].scope;
            from = roots[i].parts;
        }
    }
    struct pyro_slice *path = pyro_arena_array(tsdl->metadata->arena, count - from, sizeof(*path));
    if (!path)
        return pyro_tsdl_no_memory(tsdl);
    memcpy(path, parts + from, (count - from) * sizeof(*path));
    ret->path = path;
    ret->path_len = count - from;
    return pyro_tsdl_expect(tsdl, closing);
}

/* "[n]" and "[length]" after a name; the first is the outermost. */
static const struct pyro_ctf_type *read_dimensions(struct tsdl *tsdl, const struct pyro_ctf_type *type)
{
    struct pyro_ctf_type *arrays[PYRO_CTF_LEVELS];
    size_t count = 0;
    while (pyro_tsdl_take_mark(tsdl, '[')) {
        if (count == PYRO_CTF_LEVELS) {
            pyro_tsdl_fail(tsdl, tsdl->token.line, "types are nested too deeply");
            return NULL;
        }
        bool is_number = tsdl->token.kind == TSDL_NUMBER;
        struct pyro_ctf_type *array = pyro_tsdl_new(tsdl, NULL, is_number ? PYRO_CTF_ARRAY : PYRO_CTF_SEQUENCE);
        if (!array)
            return NULL;
        if (is_number) {
            array->count = tsdl->token.number;
            pyro_tsdl_advance(tsdl);
            if (!pyro_tsdl_expect(tsdl, ']'))
                return NULL;
        } else if (!read_location(tsdl, ']', &array->location)) {
            return NULL;
        }
        arrays[count++] = array;
    }
    while (type && count > 0) {
        arrays[--count]->element = type;
        type = pyro_tsdl_made(tsdl, arrays[count]);
    }
    return type;
}

/* A variant that got its selector where it is used. */
static const struct pyro_ctf_type *with_selector(struct tsdl *tsdl, const struct pyro_ctf_type *type,
                                                 const struct pyro_ctf_location *location)
{
    struct pyro_ctf_type *made = type ? pyro_tsdl_new(tsdl, type, PYRO_CTF_VARIANT) : NULL;
    if (made)
        made->location = *location;
    return made;
}

/* Fields of one statement: "type a, b[3];" */
static bool read_fields(struct tsdl *tsdl, struct pyro_ctf_member **members, size_t *count, size_t *capacity)
{
    struct pyro_slice name;
    const struct pyro_ctf_type *type = pyro_tsdl_type(tsdl, &name);
    if (type && !name.ptr && pyro_tsdl_take_mark(tsdl, ';')) /* it only names a structure */
        return true;
    while (type) {
        if (!name.ptr)
            return pyro_tsdl_fail(tsdl, tsdl->token.line, "the name of a field is missing");
        const struct pyro_ctf_type *whole = read_dimensions(tsdl, type);
        if (!whole)
            return false;
        if (*capacity == *count &&
            !pyro_vec_grow((void **)members, capacity, *count, 1, sizeof(**members), tsdl->metadata->allocator))
            return pyro_tsdl_no_memory(tsdl);
        (*members)[(*count)++] = (struct pyro_ctf_member){.name = name, .type = whole};
        if (!pyro_tsdl_take_mark(tsdl, ','))
            return pyro_tsdl_expect(tsdl, ';');
        name = tsdl->token.kind == TSDL_WORD ? tsdl->token.text : PYRO_SLICE_NULL;
        pyro_tsdl_advance(tsdl);
    }
    return false;
}

static bool read_members(struct tsdl *tsdl, struct pyro_ctf_type *type)
{
    struct pyro_ctf_member *members = NULL;
    size_t count = 0, capacity = 0, names = tsdl->names.count;
    bool done = true;
    while (done && !pyro_tsdl_is_mark(tsdl, '}')) {
        if (tsdl->token.kind == TSDL_END)
            done = pyro_tsdl_fail(tsdl, tsdl->token.line, "a structure does not end");
        else
            done =
                pyro_tsdl_declaration(tsdl) ? tsdl->status == PYRO_OK : read_fields(tsdl, &members, &count, &capacity);
    }
    pyro_tsdl_advance(tsdl);
    pyro_tsdl_forget(tsdl, names);
    struct pyro_ctf_member *kept = pyro_arena_array(tsdl->metadata->arena, count + 1, sizeof(*kept));
    if (kept && count > 0)
        memcpy(kept, members, count * sizeof(*kept));
    pyro_release(tsdl->metadata->allocator, members);
    type->members = kept;
    type->member_count = count;
    return kept ? tsdl->status == PYRO_OK : pyro_tsdl_no_memory(tsdl);
}

static const struct pyro_ctf_type *find_tag(struct tsdl *tsdl, enum tsdl_space space, struct pyro_slice tag)
{
    const struct pyro_ctf_type *type = tag.ptr ? pyro_tsdl_find(tsdl, space, tag) : NULL;
    if (!type)
        pyro_tsdl_fail(tsdl, tsdl->token.line, "a structure, variant or enumeration has no members and is not known");
    return type;
}

static struct pyro_slice take_tag(struct tsdl *tsdl)
{
    struct pyro_slice tag = PYRO_SLICE_NULL;
    if (tsdl->token.kind == TSDL_WORD) {
        tag = tsdl->token.text;
        pyro_tsdl_advance(tsdl);
    }
    return tag;
}

static bool take_align(struct tsdl *tsdl, struct pyro_ctf_type *type)
{
    if (!pyro_tsdl_take_word(tsdl, "align"))
        return true;
    if (!pyro_tsdl_expect(tsdl, '('))
        return false;
    if (tsdl->token.kind != TSDL_NUMBER || tsdl->token.number > PYRO_CTF_ALIGN_MAX)
        return pyro_tsdl_fail(tsdl, tsdl->token.line, "a size or an alignment is not 0 to 4096");
    type->align = (uint32_t)tsdl->token.number;
    pyro_tsdl_advance(tsdl);
    return pyro_tsdl_expect(tsdl, ')');
}

static const struct pyro_ctf_type *read_struct(struct tsdl *tsdl)
{
    struct pyro_slice tag = take_tag(tsdl);
    if (!pyro_tsdl_is_mark(tsdl, '{'))
        return find_tag(tsdl, TSDL_STRUCT_TAG, tag);
    struct pyro_ctf_type *made = pyro_tsdl_new(tsdl, NULL, PYRO_CTF_STRUCT);
    pyro_tsdl_advance(tsdl);
    if (!made || !read_members(tsdl, made) || !take_align(tsdl, made))
        return NULL;
    const struct pyro_ctf_type *type = pyro_tsdl_made(tsdl, made);
    return type && (!tag.ptr || pyro_tsdl_name(tsdl, TSDL_STRUCT_TAG, tag, type)) ? type : NULL;
}

static const struct pyro_ctf_type *read_variant(struct tsdl *tsdl)
{
    struct pyro_ctf_location location = {.path_len = 0};
    struct pyro_slice tag = take_tag(tsdl);
    bool selected = pyro_tsdl_take_mark(tsdl, '<');
    if (selected && !read_location(tsdl, '>', &location))
        return NULL;
    const struct pyro_ctf_type *type;
    if (pyro_tsdl_is_mark(tsdl, '{')) {
        struct pyro_ctf_type *made = pyro_tsdl_new(tsdl, NULL, PYRO_CTF_VARIANT);
        pyro_tsdl_advance(tsdl);
        type = made && read_members(tsdl, made) ? pyro_tsdl_made(tsdl, made) : NULL;
        if (type && tag.ptr && !pyro_tsdl_name(tsdl, TSDL_VARIANT_TAG, tag, type))
            return NULL;
    } else {
        type = find_tag(tsdl, TSDL_VARIANT_TAG, tag);
    }
    return selected ? with_selector(tsdl, type, &location) : type;
}

static const struct pyro_ctf_type *read_enumeration(struct tsdl *tsdl)
{
    struct pyro_slice tag = take_tag(tsdl);
    if (!pyro_tsdl_is_mark(tsdl, ':') && !pyro_tsdl_is_mark(tsdl, '{'))
        return find_tag(tsdl, TSDL_ENUM_TAG, tag);
    const struct pyro_ctf_type *type = pyro_tsdl_enumeration(tsdl);
    return type && (!tag.ptr || pyro_tsdl_name(tsdl, TSDL_ENUM_TAG, tag, type)) ? type : NULL;
}

/* ---- Types and their names --------------------------------------------------------------------------------------- */

/* Words with one blank between them, pointers' asterisks included: "unsigned long", "char *". Without `ret_name`, all
 * are of the type; with it, the last one is not. */
static struct pyro_slice read_alias(struct tsdl *tsdl, struct pyro_slice *ret_name)
{
    struct pyro_slice words[PATH_MAX_PARTS];
    size_t count = 0, len = 0;
    for (; count < PATH_MAX_PARTS; pyro_tsdl_advance(tsdl)) {
        if (pyro_tsdl_is_word(tsdl, "const"))
            continue;
        if (pyro_tsdl_is_mark(tsdl, '*'))
            words[count++] = PYRO_SLICE_LITERAL("*");
        else if (tsdl->token.kind == TSDL_WORD)
            words[count++] = tsdl->token.text;
        else
            break;
    }
    if (ret_name && count > 1)
        *ret_name = words[--count];
    for (size_t i = 0; i < count; i++)
        len += words[i].len + (i > 0);
    char *text = count == 1 ? NULL : pyro_arena_alloc(tsdl->metadata->arena, len + 1);
    if (count == 1)
        return words[0];
    if (!text || count == 0) {
        if (!text)
            pyro_tsdl_no_memory(tsdl);
        return PYRO_SLICE_NULL;
    }
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text[at++] = ' ';
        memcpy(text + at, words[i].ptr, words[i].len);
        at += words[i].len;
    }
    return (struct pyro_slice){text, len};
}

static const struct pyro_ctf_type *read_any(struct tsdl *tsdl, struct pyro_slice *ret_name)
{
    if (pyro_tsdl_take_word(tsdl, "integer"))
        return read_plain(tsdl, PYRO_CTF_INTEGER);
    if (pyro_tsdl_take_word(tsdl, "floating_point"))
        return read_plain(tsdl, PYRO_CTF_REAL);
    if (pyro_tsdl_take_word(tsdl, "string"))
        return read_plain(tsdl, PYRO_CTF_STRING);
    if (pyro_tsdl_take_word(tsdl, "struct"))
        return read_struct(tsdl);
    if (pyro_tsdl_take_word(tsdl, "variant"))
        return read_variant(tsdl);
    if (pyro_tsdl_take_word(tsdl, "enum"))
        return read_enumeration(tsdl);
    struct pyro_slice alias = read_alias(tsdl, ret_name);
    const struct pyro_ctf_type *type = alias.ptr ? pyro_tsdl_find(tsdl, TSDL_ALIAS, alias) : NULL;
    if (!type)
        pyro_tsdl_fail(tsdl, tsdl->token.line, alias.ptr ? "a type is not known" : "a type was expected");
    return type;
}

const struct pyro_ctf_type *pyro_tsdl_type(struct tsdl *tsdl, struct pyro_slice *ret_name)
{
    const struct pyro_ctf_type *type = NULL;
    if (ret_name)
        *ret_name = PYRO_SLICE_NULL;
    if (enter(tsdl)) {
        while (pyro_tsdl_take_word(tsdl, "const"))
            continue;
        type = read_any(tsdl, ret_name);
    }
    tsdl->levels--;
    if (type && ret_name && !ret_name->ptr)
        *ret_name = take_tag(tsdl);
    return tsdl->status == PYRO_OK ? type : NULL;
}

static bool read_typealias(struct tsdl *tsdl)
{
    const struct pyro_ctf_type *type = pyro_tsdl_type(tsdl, NULL);
    if (!type)
        return false;
    if (tsdl->token.kind != TSDL_ASSIGN_TYPE)
        return pyro_tsdl_fail(tsdl, tsdl->token.line, "':=' is missing");
    pyro_tsdl_advance(tsdl);
    struct pyro_slice name = read_alias(tsdl, NULL);
    if (!name.ptr)
        return pyro_tsdl_fail(tsdl, tsdl->token.line, "the name of a type is missing");
    return pyro_tsdl_expect(tsdl, ';') && pyro_tsdl_name(tsdl, TSDL_ALIAS, name, type);
}

static bool read_typedef(struct tsdl *tsdl)
{
    struct pyro_slice name;
    const struct pyro_ctf_type *type = pyro_tsdl_type(tsdl, &name);
    type = type ? read_dimensions(tsdl, type) : NULL;
    if (!type)
        return false;
    if (!name.ptr)
        return pyro_tsdl_fail(tsdl, tsdl->token.line, "the name of a type is missing");
    return pyro_tsdl_expect(tsdl, ';') && pyro_tsdl_name(tsdl, TSDL_ALIAS, name, type);
}

bool pyro_tsdl_declaration(struct tsdl *tsdl)
{
    if (pyro_tsdl_take_word(tsdl, "typealias"))
        read_typealias(tsdl);
    else if (pyro_tsdl_take_word(tsdl, "typedef"))
        read_typedef(tsdl);
    else
        return false;
    return true;
}
