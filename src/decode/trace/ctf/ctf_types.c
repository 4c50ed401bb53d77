/* Sizes and alignments of types, and the rest that both languages of metadata need. */
#include "decode/trace/ctf/ctf_types.h"

#include <limits.h>

enum { BITS_MAX = 1 << 30 }; /* of a field whose size is fixed: more than any packet is read with */

void pyro_ctf_metadata_init(struct pyro_ctf_metadata *metadata, struct pyro_arena *arena,
                            const struct pyro_allocator *allocator)
{
    *metadata = (struct pyro_ctf_metadata){
        .allocator = allocator, .arena = arena, .version = 18, .tracer_major = -1, .tracer_minor = -1};
    pyro_strbuf_init(&metadata->text, allocator);
}

void pyro_ctf_metadata_done(struct pyro_ctf_metadata *metadata)
{
    pyro_vec_done(&metadata->clocks, metadata->allocator);
    pyro_vec_done(&metadata->streams, metadata->allocator);
    pyro_vec_done(&metadata->events, metadata->allocator);
    pyro_strbuf_done(&metadata->text);
}

static int small_number(int64_t number)
{
    return number >= 0 && number <= INT_MAX ? (int)number : -1;
}

void pyro_ctf_take_environment(struct pyro_ctf_metadata *metadata, struct pyro_slice name, struct pyro_slice text,
                               int64_t number)
{
    if (pyro_slice_is(name, "hostname") || (pyro_slice_is(name, "host") && !metadata->host.ptr))
        metadata->host = text;
    else if (pyro_slice_is(name, "tracer_name"))
        metadata->tracer = text;
    else if (pyro_slice_is(name, "domain"))
        metadata->domain = text;
    else if (pyro_slice_is(name, "machine"))
        metadata->machine = text;
    else if (pyro_slice_is(name, "tracer_major"))
        metadata->tracer_major = small_number(number);
    else if (pyro_slice_is(name, "tracer_minor"))
        metadata->tracer_minor = small_number(number);
}

static uint64_t round_up(uint64_t bits, uint32_t align)
{
    return (bits + align - 1) & ~(uint64_t)(align - 1);
}

static void settle_struct(struct pyro_ctf_type *type)
{
    type->fixed = true;
    type->bits = 0;
    for (size_t i = 0; i < type->member_count; i++) {
        const struct pyro_ctf_type *inner = type->members[i].type;
        if (inner->align > type->align)
            type->align = inner->align;
        if (inner->depth >= type->depth)
            type->depth = (uint8_t)(inner->depth + 1);
        type->fixed = type->fixed && inner->fixed;
        if (type->fixed)
            type->bits = round_up(type->bits, inner->align) + inner->bits;
        type->fixed = type->fixed && type->bits <= BITS_MAX;
    }
}

static void settle_elements(struct pyro_ctf_type *type)
{
    const struct pyro_ctf_type *element = type->element;
    if (element->align > type->align)
        type->align = element->align;
    type->depth = (uint8_t)(element->depth + 1);
    if (type->kind != PYRO_CTF_ARRAY || !element->fixed || type->count > BITS_MAX)
        return;
    uint64_t step = round_up(element->bits, element->align);
    uint64_t bits = type->count == 0 ? 0 : step * (type->count - 1) + element->bits; /* each has 30 bits */
    type->fixed = bits <= BITS_MAX;
    type->bits = bits;
}

const char *pyro_ctf_settle(struct pyro_ctf_type *type)
{
    if (type->align == 0)
        type->align = 1;
    if (!pyro_ctf_is_power(type->align) || type->align > PYRO_CTF_ALIGN_MAX)
        return "an alignment is not a power of 2 of at most 4096 bits";
    switch ((enum pyro_ctf_kind)type->kind) {
    case PYRO_CTF_INTEGER:
        type->fixed = true;
        if (type->bits == 0 || type->bits > 4096)
            return "an integer does not have 1 to 4096 bits";
        break;
    case PYRO_CTF_REAL:
        type->fixed = true;
        if (type->bits != 16 && type->bits != 32 && type->bits != 64 && type->bits != 128)
            return "a floating-point number does not have 16, 32, 64 or 128 bits";
        break;
    case PYRO_CTF_LEB:
    case PYRO_CTF_STRING:
        if (type->align < 8)
            type->align = 8;
        break;
    case PYRO_CTF_STRUCT:
        settle_struct(type);
        break;
    case PYRO_CTF_VARIANT:
    case PYRO_CTF_OPTIONAL:
        for (size_t i = 0; i < type->member_count; i++)
            if (type->members[i].type->depth >= type->depth)
                type->depth = (uint8_t)(type->members[i].type->depth + 1);
        break;
    case PYRO_CTF_ARRAY:
    case PYRO_CTF_SEQUENCE:
        settle_elements(type);
        break;
    }
    return type->depth > PYRO_CTF_LEVELS ? "types are nested too deeply" : NULL;
}
