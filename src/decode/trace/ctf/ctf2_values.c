/* Values that fragments of metadata have in many places. */
#include "base/json/unescape.h"
#include "decode/trace/ctf/ctf2.h"

bool pyro_ctf2_fail(struct ctf2 *ctf2, const char *why)
{
    return pyro_json_refuse(&ctf2->json, why);
}

bool pyro_ctf2_no_memory(struct ctf2 *ctf2)
{
    ctf2->no_memory = true;
    return pyro_ctf2_fail(ctf2, "no memory left");
}

unsigned pyro_ctf2_line(struct ctf2 *ctf2)
{
    for (; ctf2->counted < ctf2->json.at; ctf2->counted++)
        ctf2->line += *ctf2->counted == '\r'; /* newlines were replaced: see pyro_ctf_parse_fragments() */
    return ctf2->line;
}

void *pyro_ctf2_keep(struct ctf2 *ctf2, const void *items, size_t count, size_t size)
{
    void *kept = pyro_arena_array(ctf2->metadata->arena, count + 1, size);
    if (!kept)
        pyro_ctf2_no_memory(ctf2);
    else if (count > 0)
        memcpy(kept, items, count * size);
    return kept;
}

bool pyro_ctf2_take_text(struct ctf2 *ctf2, struct pyro_slice *ret)
{
    struct pyro_slice raw = PYRO_SLICE_NULL;
    bool plain = true;
    if (!pyro_json_take_string(&ctf2->json, &raw, &plain))
        return false;
    if (!plain && raw.ptr) {
        size_t len = pyro_text_decode_into(raw, NULL, 0);
        char *text = pyro_arena_alloc(ctf2->metadata->arena, len + 1);
        if (!text)
            return pyro_ctf2_no_memory(ctf2);
        pyro_text_decode_into(raw, text, len);
        raw = (struct pyro_slice){text, len};
    }
    *ret = raw;
    return true;
}

bool pyro_ctf2_take_bits(struct ctf2 *ctf2, uint64_t *ret)
{
    struct pyro_slice raw = PYRO_SLICE_NULL;
    uint64_t value = 0;
    if (!pyro_json_take_raw(&ctf2->json, &raw))
        return false;
    bool minus = raw.len > 0 && raw.ptr[0] == '-';
    for (size_t i = minus; i < raw.len; i++)
        if (raw.ptr[i] < '0' || raw.ptr[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(raw.ptr[i] - '0'), &value))
            return pyro_ctf2_fail(ctf2, "an integer of 64 bits was expected");
    if (raw.len == minus)
        return pyro_ctf2_fail(ctf2, "an integer was expected");
    *ret = minus ? 0 - value : value;
    return true;
}

bool pyro_ctf2_take_uuid(struct ctf2 *ctf2, unsigned char uuid[16])
{
    bool first = true;
    size_t count = 0;
    if (!pyro_json_enter_array(&ctf2->json))
        return pyro_ctf2_fail(ctf2, "a UUID is a list of 16 bytes");
    while (pyro_json_next_element(&ctf2->json, &first)) {
        uint64_t byte = 0;
        if (!pyro_ctf2_take_bits(ctf2, &byte))
            return false;
        if (count == 16 || byte > 255)
            return pyro_ctf2_fail(ctf2, "a UUID is a list of 16 bytes");
        uuid[count++] = (unsigned char)byte;
    }
    return count == 16 ? !ctf2->json.error : pyro_ctf2_fail(ctf2, "a UUID is a list of 16 bytes");
}

static bool take_range(struct ctf2 *ctf2, struct pyro_ctf_range *ret)
{
    uint64_t ends[2];
    size_t count = 0;
    bool first = true;
    if (!pyro_json_enter_array(&ctf2->json))
        return pyro_ctf2_fail(ctf2, "a range is a list of two integers");
    for (; pyro_json_next_element(&ctf2->json, &first); count++)
        if (count == 2 || !pyro_ctf2_take_bits(ctf2, &ends[count]))
            return pyro_ctf2_fail(ctf2, "a range is a list of two integers");
    if (count != 2)
        return pyro_ctf2_fail(ctf2, "a range is a list of two integers");
    *ret = (struct pyro_ctf_range){ends[0], ends[1]};
    return !ctf2->json.error;
}

bool pyro_ctf2_take_ranges(struct ctf2 *ctf2, const struct pyro_ctf_range **ret, size_t *ret_count)
{
    const struct pyro_allocator *allocator = ctf2->metadata->allocator;
    PYRO_VEC(struct pyro_ctf_range) ranges = {NULL, 0, 0};
    bool first = true, done = pyro_json_enter_array(&ctf2->json) || pyro_ctf2_fail(ctf2, "ranges are a list");
    while (done && pyro_json_next_element(&ctf2->json, &first)) {
        struct pyro_ctf_range *range = pyro_vec_push(&ranges, allocator);
        done = range ? take_range(ctf2, range) : pyro_ctf2_no_memory(ctf2);
    }
    *ret = pyro_ctf2_keep(ctf2, ranges.items, ranges.count, sizeof(*ranges.items));
    *ret_count = ranges.count;
    pyro_vec_done(&ranges, allocator);
    return done && *ret && !ctf2->json.error;
}

static bool take_origin(struct ctf2 *ctf2, int *ret)
{
    static const char *const names[PYRO_CTF_SCOPES] = {
        [PYRO_CTF_PACKET_HEADER] = "packet-header",
        [PYRO_CTF_PACKET_CONTEXT] = "packet-context",
        [PYRO_CTF_EVENT_HEADER] = "event-record-header",
        [PYRO_CTF_COMMON_CONTEXT] = "event-record-common-context",
        [PYRO_CTF_EVENT_CONTEXT] = "event-record-specific-context",
        [PYRO_CTF_PAYLOAD] = "event-record-payload",
    };
    struct pyro_slice text = PYRO_SLICE_NULL;
    if (!pyro_ctf2_take_text(ctf2, &text))
        return false;
    for (int i = 0; i < PYRO_CTF_SCOPES; i++) {
        if (pyro_slice_is(text, names[i])) {
            *ret = i;
            return true;
        }
    }
    return pyro_ctf2_fail(ctf2, "the origin of a field location is not known");
}

static bool take_path(struct ctf2 *ctf2, struct pyro_ctf_location *ret)
{
    struct pyro_slice parts[PYRO_CTF_LEVELS];
    size_t count = 0;
    bool first = true;
    if (!pyro_json_enter_array(&ctf2->json))
        return pyro_ctf2_fail(ctf2, "the path of a field location is a list");
    while (pyro_json_next_element(&ctf2->json, &first)) {
        if (count == PYRO_CTF_LEVELS)
            return pyro_ctf2_fail(ctf2, "the path of a field location is too long");
        parts[count] = PYRO_SLICE_NULL; /* stays so for null */
        if (!pyro_ctf2_take_text(ctf2, &parts[count++]))
            return false;
    }
    ret->path = pyro_ctf2_keep(ctf2, parts, count, sizeof(*parts));
    ret->path_len = count;
    return ret->path && !ctf2->json.error;
}

bool pyro_ctf2_take_location(struct ctf2 *ctf2, struct pyro_ctf_location *ret)
{
    PYRO_JSON_KEYS(keys, (ORIGIN, "origin"), (PATH, "path"));
    struct pyro_json_object object;
    *ret = (struct pyro_ctf_location){.origin = PYRO_CTF_RELATIVE};
    if (pyro_json_peek(&ctf2->json) == '[') /* as release candidates have it */
        return take_path(ctf2, ret);
    if (!pyro_json_enter_object(&ctf2->json, &object))
        return pyro_ctf2_fail(ctf2, "a field location is an object");
    for (int key; (key = PYRO_JSON_NEXT_KNOWN(&ctf2->json, &object, keys)) != PYRO_JSON_END;)
        if (key == ORIGIN ? !take_origin(ctf2, &ret->origin) : !take_path(ctf2, ret))
            return false;
    return ret->path_len > 0 ? !ctf2->json.error : pyro_ctf2_fail(ctf2, "a field location has no path");
}
