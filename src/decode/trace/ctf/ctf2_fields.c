/* Classes of fields of version 2. They may be inside each other: what calls itself here counts the levels. */
#include "base/collections/hash.h"
#include "decode/trace/ctf/ctf2.h"

/* What an object says, whatever the order of its members. */
struct draft {
    struct pyro_ctf_type type;
    struct pyro_slice name; /* of its kind */
    struct pyro_slice bit_order, encoding;
    bool has_length, has_location;
    uint64_t length, align;
    const struct pyro_ctf_type *inner;
    const struct pyro_ctf_range *ranges;
    size_t range_count;
};

enum form {
    FORM_INTEGER,
    FORM_SIGNED,
    FORM_BOOLEAN,
    FORM_REAL,
    FORM_LEB,
    FORM_SIGNED_LEB,
    FORM_STRING,
    FORM_TEXT,
    FORM_LONG_TEXT,
    FORM_BLOB,
    FORM_LONG_BLOB,
    FORM_STRUCT,
    FORM_ARRAY,
    FORM_SEQUENCE,
    FORM_OPTIONAL,
    FORM_VARIANT
};

static const struct {
    const char *name;
    enum form form;
    enum pyro_ctf_kind kind;
    bool needs_length, needs_location, needs_inner;
} forms[] = {
    {"fixed-length-bit-array", FORM_INTEGER, PYRO_CTF_INTEGER, true, false, false},
    {"fixed-length-bit-map", FORM_INTEGER, PYRO_CTF_INTEGER, true, false, false},
    {"fixed-length-boolean", FORM_BOOLEAN, PYRO_CTF_INTEGER, true, false, false},
    {"fixed-length-unsigned-integer", FORM_INTEGER, PYRO_CTF_INTEGER, true, false, false},
    {"fixed-length-signed-integer", FORM_SIGNED, PYRO_CTF_INTEGER, true, false, false},
    {"fixed-length-floating-point-number", FORM_REAL, PYRO_CTF_REAL, true, false, false},
    {"fixed-length-unsigned-enumeration", FORM_INTEGER, PYRO_CTF_INTEGER, true, false, false}, /* release candidates */
    {"fixed-length-signed-enumeration", FORM_SIGNED, PYRO_CTF_INTEGER, true, false, false},
    {"variable-length-unsigned-enumeration", FORM_LEB, PYRO_CTF_LEB, false, false, false},
    {"variable-length-signed-enumeration", FORM_SIGNED_LEB, PYRO_CTF_LEB, false, false, false},
    {"variable-length-unsigned-integer", FORM_LEB, PYRO_CTF_LEB, false, false, false},
    {"variable-length-signed-integer", FORM_SIGNED_LEB, PYRO_CTF_LEB, false, false, false},
    {"null-terminated-string", FORM_STRING, PYRO_CTF_STRING, false, false, false},
    {"static-length-string", FORM_TEXT, PYRO_CTF_ARRAY, true, false, false},
    {"dynamic-length-string", FORM_LONG_TEXT, PYRO_CTF_SEQUENCE, false, true, false},
    {"static-length-blob", FORM_BLOB, PYRO_CTF_ARRAY, true, false, false},
    {"dynamic-length-blob", FORM_LONG_BLOB, PYRO_CTF_SEQUENCE, false, true, false},
    {"structure", FORM_STRUCT, PYRO_CTF_STRUCT, false, false, false},
    {"static-length-array", FORM_ARRAY, PYRO_CTF_ARRAY, true, false, true},
    {"dynamic-length-array", FORM_SEQUENCE, PYRO_CTF_SEQUENCE, false, true, true},
    {"optional", FORM_OPTIONAL, PYRO_CTF_OPTIONAL, false, true, true},
    {"variant", FORM_VARIANT, PYRO_CTF_VARIANT, false, true, false},
};

static bool take_roles(struct ctf2 *ctf2, uint8_t *ret)
{
    static const struct {
        const char *name;
        enum pyro_ctf_role role;
    } roles[] = {
        {"packet-magic-number", PYRO_CTF_MAGIC},
        {"metadata-stream-uuid", PYRO_CTF_UUID},
        {"data-stream-class-id", PYRO_CTF_STREAM_ID},
        {"event-record-class-id", PYRO_CTF_EVENT_ID},
        {"default-clock-timestamp", PYRO_CTF_TIMESTAMP},
        {"packet-end-default-clock-timestamp", PYRO_CTF_PACKET_END},
        {"packet-content-length", PYRO_CTF_CONTENT_SIZE},
        {"packet-total-length", PYRO_CTF_PACKET_SIZE},
        {"packet-sequence-number", PYRO_CTF_SEQUENCE_NUMBER},
        {"discarded-event-record-counter-snapshot", PYRO_CTF_DISCARDED},
    };
    bool first = true;
    if (!pyro_json_enter_array(&ctf2->json))
        return pyro_ctf2_fail(ctf2, "roles are a list");
    while (pyro_json_next_element(&ctf2->json, &first)) {
        struct pyro_slice text = PYRO_SLICE_NULL;
        if (!pyro_ctf2_take_text(ctf2, &text))
            return false;
        for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
            if (pyro_slice_is(text, roles[i].name))
                *ret = (uint8_t)roles[i].role;
    }
    return !ctf2->json.error;
}

/* A member of a structure or an option of a variant. */
static bool take_member(struct ctf2 *ctf2, struct pyro_ctf_member *ret)
{
    PYRO_JSON_KEYS(keys, (NAME, "name"), (CLASS, "field-class"), (RANGES, "selector-field-ranges"));
    struct pyro_json_object object;
    if (!pyro_json_enter_object(&ctf2->json, &object))
        return pyro_ctf2_fail(ctf2, "a member or option is an object");
    ret->name = PYRO_SLICE_LITERAL("");
    for (int key; (key = PYRO_JSON_NEXT_KNOWN(&ctf2->json, &object, keys)) != PYRO_JSON_END;) {
        if (key == CLASS)
            ret->type = pyro_ctf2_take_type(ctf2);
        else if (key == NAME)
            pyro_ctf2_take_text(ctf2, &ret->name);
        else
            pyro_ctf2_take_ranges(ctf2, &ret->ranges, &ret->range_count);
    }
    return ret->type ? !ctf2->json.error : pyro_ctf2_fail(ctf2, "a member or option has no field class");
}

static bool take_members(struct ctf2 *ctf2, struct pyro_ctf_type *type)
{
    const struct pyro_allocator *allocator = ctf2->metadata->allocator;
    PYRO_VEC(struct pyro_ctf_member) members = {NULL, 0, 0};
    bool first = true, done = pyro_json_enter_array(&ctf2->json) || pyro_ctf2_fail(ctf2, "members are a list");
    while (done && pyro_json_next_element(&ctf2->json, &first)) {
        struct pyro_ctf_member *member = pyro_vec_push(&members, allocator);
        done = member ? take_member(ctf2, member) : pyro_ctf2_no_memory(ctf2);
    }
    type->members = pyro_ctf2_keep(ctf2, members.items, members.count, sizeof(*members.items));
    type->member_count = members.count;
    pyro_vec_done(&members, allocator);
    return done && type->members && !ctf2->json.error;
}

static bool take_draft(struct ctf2 *ctf2, struct draft *draft)
{
    PYRO_JSON_KEYS(keys, (TYPE, "type"), (LENGTH, "length"), (BYTE_ORDER_, "byte-order"), (BIT_ORDER, "bit-order"),
                   (ALIGNMENT, "alignment"), (MINIMUM, "minimum-alignment"), (ROLES, "roles"), (ENCODING, "encoding"),
                   (LENGTH_AT, "length-field-location"), (SELECTOR_AT, "selector-field-location"),
                   (RANGES, "selector-field-ranges"), (ELEMENT, "element-field-class"), (INNER, "field-class"),
                   (MEMBERS, "member-classes"), (OPTIONS, "options"));
    struct pyro_json_object object;
    struct pyro_slice text = PYRO_SLICE_NULL;
    if (!pyro_json_enter_object(&ctf2->json, &object))
        return pyro_ctf2_fail(ctf2, "a field class is an object or the name of an alias");
    for (int key; (key = PYRO_JSON_NEXT_KNOWN(&ctf2->json, &object, keys)) != PYRO_JSON_END;) {
        if (key == TYPE) {
            pyro_ctf2_take_text(ctf2, &draft->name);
        } else if (key == LENGTH) {
            draft->has_length = pyro_ctf2_take_bits(ctf2, &draft->length);
        } else if (key == BYTE_ORDER_) {
            pyro_ctf2_take_text(ctf2, &text);
            draft->type.order = pyro_slice_is(text, "big-endian") ? PYRO_CTF_BIG : PYRO_CTF_LITTLE;
        } else if (key == BIT_ORDER) {
            pyro_ctf2_take_text(ctf2, &draft->bit_order);
        } else if (key == ALIGNMENT || key == MINIMUM) {
            pyro_ctf2_take_bits(ctf2, &draft->align);
        } else if (key == ROLES) {
            take_roles(ctf2, &draft->type.role);
        } else if (key == ENCODING) {
            pyro_ctf2_take_text(ctf2, &draft->encoding);
        } else if (key == LENGTH_AT || key == SELECTOR_AT) {
            draft->has_location = pyro_ctf2_take_location(ctf2, &draft->type.location);
        } else if (key == RANGES) {
            pyro_ctf2_take_ranges(ctf2, &draft->ranges, &draft->range_count);
        } else if (key == ELEMENT || key == INNER) {
            draft->inner = pyro_ctf2_take_type(ctf2);
        } else {
            take_members(ctf2, &draft->type);
        }
    }
    return !ctf2->json.error;
}

static struct pyro_ctf_type *copy_type(struct ctf2 *ctf2, const struct pyro_ctf_type *type)
{
    struct pyro_ctf_type *made = pyro_arena_alloc(ctf2->metadata->arena, sizeof(*made));
    if (!made) {
        pyro_ctf2_no_memory(ctf2);
        return NULL;
    }
    *made = *type;
    const char *why = pyro_ctf_settle(made);
    if (why)
        pyro_ctf2_fail(ctf2, why);
    return ctf2->json.error ? NULL : made;
}

static uint8_t unit_of(struct pyro_slice encoding)
{
    if (pyro_slice_starts_with(encoding, "utf-16"))
        return 2;
    return pyro_slice_starts_with(encoding, "utf-32") ? 4 : 1;
}

/* The byte that texts and blobs are made of. */
static const struct pyro_ctf_type *byte_type(struct ctf2 *ctf2, bool character)
{
    const struct pyro_ctf_type byte = {
        .kind = PYRO_CTF_INTEGER, .order = PYRO_CTF_LITTLE, .character = character, .bits = 8, .align = 8};
    return copy_type(ctf2, &byte);
}

static const struct pyro_ctf_type *finish(struct ctf2 *ctf2, struct draft *draft, size_t row)
{
    struct pyro_ctf_type *type = &draft->type;
    enum form form = forms[row].form;
    type->kind = (uint8_t)forms[row].kind;
    type->unit = unit_of(draft->encoding);
    type->is_signed = form == FORM_SIGNED || form == FORM_SIGNED_LEB;
    type->boolean = form == FORM_BOOLEAN;
    type->align = draft->align <= PYRO_CTF_ALIGN_MAX ? (uint32_t)draft->align : PYRO_CTF_ALIGN_MAX + 1;
    type->element = draft->inner;
    if (type->kind == PYRO_CTF_INTEGER || type->kind == PYRO_CTF_REAL) {
        type->bits = draft->length;
        if (draft->bit_order.ptr)
            type->reversed = pyro_slice_is(draft->bit_order, "first-to-last") == (type->order == PYRO_CTF_BIG);
    } else if (type->kind == PYRO_CTF_ARRAY) {
        type->count = draft->length;
    }
    if (form == FORM_TEXT || form == FORM_LONG_TEXT || form == FORM_BLOB || form == FORM_LONG_BLOB) {
        type->element = byte_type(ctf2, (form == FORM_TEXT || form == FORM_LONG_TEXT) && type->unit == 1);
        if (!type->element)
            return NULL;
    }
    if (form == FORM_OPTIONAL) {
        struct pyro_ctf_member member = {.name = PYRO_SLICE_LITERAL(""),
                                         .type = draft->inner,
                                         .ranges = draft->ranges,
                                         .range_count = draft->range_count};
        type->element = NULL;
        type->members = pyro_ctf2_keep(ctf2, &member, 1, sizeof(member));
        type->member_count = 1;
    }
    return ctf2->json.error ? NULL : copy_type(ctf2, type);
}

static const struct pyro_ctf_type *read_type(struct ctf2 *ctf2)
{
    struct draft draft = {.type.order = PYRO_CTF_LITTLE};
    draft.type.line = pyro_ctf2_line(ctf2);
    if (!take_draft(ctf2, &draft))
        return NULL;
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        if (!pyro_slice_is(draft.name, forms[i].name))
            continue;
        if ((forms[i].needs_length && !draft.has_length) || (forms[i].needs_location && !draft.has_location) ||
            (forms[i].needs_inner && !draft.inner)) {
            pyro_ctf2_fail(ctf2, "a field class has no length, location, or inner class");
            return NULL;
        }
        return finish(ctf2, &draft, i);
    }
    pyro_ctf2_fail(ctf2, "the type of a field class is not known");
    return NULL;
}

static const struct pyro_ctf_type *find_alias(struct ctf2 *ctf2)
{
    struct pyro_slice name = PYRO_SLICE_NULL;
    if (!pyro_ctf2_take_text(ctf2, &name))
        return NULL;
    const uint64_t *row = pyro_map_get(&ctf2->by_hash, pyro_hash_slice(name));
    const struct ctf2_alias *alias = row ? &ctf2->aliases.items[*row - 1] : NULL;
    if (alias && pyro_slice_eq(alias->name, name))
        return alias->type;
    pyro_ctf2_fail(ctf2, "the alias of a field class is not known");
    return NULL;
}

const struct pyro_ctf_type *pyro_ctf2_take_type(struct ctf2 *ctf2)
{
    const struct pyro_ctf_type *type = NULL;
    if (ctf2->levels == PYRO_CTF_LEVELS) {
        pyro_ctf2_fail(ctf2, "field classes are nested too deeply");
        return NULL;
    }
    ctf2->levels++;
    type = pyro_json_peek(&ctf2->json) == '"' ? find_alias(ctf2) : read_type(ctf2);
    ctf2->levels--;
    return type;
}
