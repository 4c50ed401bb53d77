/* Reading by programs: what a stream spends its time with. */
#include <math.h>

#include "decode/trace/ctf/ctf_program.h"

/* An array that is being read: its first operation, the one after its last, and how many rounds are left. */
struct loop {
    const struct pyro_ctf_operation *first, *end;
    uint64_t left, at;
};

static inline uint64_t little(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static uint64_t take_little(const unsigned char *bytes, unsigned shift, unsigned size)
{
    uint64_t value = little(bytes) >> shift;
    if (shift + size > 64)
        value |= (uint64_t)bytes[8] << (64 - shift);
    return size < 64 ? value & ((UINT64_C(1) << size) - 1) : value;
}

static uint64_t take_big(const unsigned char *bytes, unsigned shift, unsigned size)
{
    uint64_t value = __builtin_bswap64(little(bytes)) << shift;
    if (shift + size > 64)
        value |= bytes[8] >> (8 - shift);
    return value >> (64 - size);
}

static uint64_t reversed(uint64_t value, unsigned size)
{
    uint64_t turned = 0;
    for (unsigned i = 0; i < size; i++, value >>= 1)
        turned = turned << 1 | (value & 1);
    return turned;
}

static int64_t rounded(double real)
{
    if (!(real > -9.2e18)) /* also what is not a number */
        return isnan(real) ? 0 : INT64_MIN;
    return real < 9.2e18 ? llround(real) : INT64_MAX;
}

static uint64_t real_of(uint64_t bits, unsigned size)
{
    double real = 0;
    if (size == 32) {
        uint32_t half = (uint32_t)bits;
        float narrow;
        memcpy(&narrow, &half, sizeof(narrow));
        real = (double)narrow;
    } else if (size == 64) {
        memcpy(&real, &bits, sizeof(real));
    }
    return (uint64_t)rounded(real);
}

static uint64_t take_bits(const struct pyro_ctf_operation *operation, const unsigned char *data, uint64_t at)
{
    unsigned size = operation->size, flags = operation->flags, shift = (unsigned)(at & 7);
    const unsigned char *bytes = data + (at >> 3);
    uint64_t value = flags & PYRO_CTF_BIG_ENDIAN ? take_big(bytes, shift, size) : take_little(bytes, shift, size);
    if (flags & PYRO_CTF_REVERSED)
        value = reversed(value, size);
    if (flags & PYRO_CTF_FLOATING)
        return real_of(value, size);
    if (flags & PYRO_CTF_TRUTH)
        return value != 0;
    if ((flags & PYRO_CTF_SIGNED) && size > 0 && size < 64) {
        uint64_t sign = UINT64_C(1) << (size - 1);
        value = (value ^ sign) - sign;
    }
    return value;
}

/* False: it goes on after the limit. Bits beyond the 64th are lost. */
static bool take_varint(struct pyro_ctf_run *run, bool is_signed, uint64_t *ret)
{
    uint64_t value = 0, at = run->at;
    for (unsigned shift = 0;; shift += 7) {
        if (run->limit - at < 8)
            return false;
        uint64_t byte = run->data[at >> 3];
        at += 8;
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        if (byte >= 0x80)
            continue;
        if (is_signed && (byte & 0x40) && shift + 7 < 64)
            value |= UINT64_MAX << (shift + 7);
        break;
    }
    run->at = at;
    *ret = value;
    return true;
}

static struct pyro_slice text_at(const unsigned char *bytes, uint64_t len)
{
    const void *end = len > 0 ? memchr(bytes, 0, len) : NULL;
    return (struct pyro_slice){(const char *)bytes, end ? (size_t)((const unsigned char *)end - bytes) : (size_t)len};
}

/* A string with its end; null: it goes on after the limit. */
static struct pyro_slice take_string(struct pyro_ctf_run *run, unsigned unit)
{
    const unsigned char *from = run->data + (run->at >> 3), *limit = run->data + (run->limit >> 3), *at = from;
    if (unit == 1) {
        at = from < limit ? memchr(from, 0, (size_t)(limit - from)) : NULL;
        if (!at)
            return PYRO_SLICE_NULL;
    } else {
        static const unsigned char zeros[4];
        while ((size_t)(limit - at) >= unit && memcmp(at, zeros, unit) != 0)
            at += unit;
        if ((size_t)(limit - at) < unit)
            return PYRO_SLICE_NULL;
    }
    run->at += (uint64_t)(at - from + unit) * 8;
    return (struct pyro_slice){(const char *)from, (size_t)(at - from)};
}

/* A clock of fewer than 64 bits has passed 0 if it would go back. */
static inline void set_clock(struct pyro_ctf_run *run, uint64_t value, unsigned size)
{
    if (size == 0 || size >= 64) {
        run->clock = value;
        return;
    }
    uint64_t range = UINT64_C(1) << size, now = (run->clock & ~(range - 1)) | value;
    run->clock = now < run->clock ? now + range : now;
}

static inline void store(struct pyro_ctf_run *run, const struct pyro_ctf_operation *operation, uint64_t value)
{
    if (operation->to == PYRO_CTF_TO_SLOT)
        run->slots[operation->place] = (struct pyro_ctf_value){true, (int64_t)value, {NULL, 0}};
    else if (operation->to == PYRO_CTF_TO_REGISTER)
        run->registers[operation->place] = value;
    else if (operation->to == PYRO_CTF_TO_CLOCK)
        set_clock(run, value, operation->size);
}

static inline void store_text(struct pyro_ctf_run *run, const struct pyro_ctf_operation *operation,
                              struct pyro_slice text)
{
    if (operation->to == PYRO_CTF_TO_SLOT)
        run->slots[operation->place] = (struct pyro_ctf_value){true, 0, text};
}

/* The target; UINT32_MAX: there is none. */
static uint32_t choose(const struct pyro_ctf_run *run, const struct pyro_ctf_operation *operation)
{
    const struct pyro_ctf_case *cases = run->store->cases.items + operation->next;
    uint64_t value = run->registers[operation->from];
    if (operation->flags & PYRO_CTF_SIGNED)
        value ^= UINT64_C(1) << 63;
    for (uint64_t i = 0; i < operation->bits; i++)
        if (value >= cases[i].first && value <= cases[i].last)
            return cases[i].target;
    return UINT32_MAX;
}

enum pyro_ctf_result pyro_ctf_execute(struct pyro_ctf_run *run, const struct pyro_ctf_program *program)
{
    const struct pyro_ctf_operation *first = run->store->operations.items + program->first, *at = first;
    const unsigned char *data = run->data, *bytes = data;
    struct loop loops[PYRO_CTF_LOOPS];
    unsigned depth = 0;
    uint64_t base = 0, value = 0, idle = 0;
    struct pyro_slice text = PYRO_SLICE_NULL;
    for (;; at++) {
        while (depth > 0 && at == loops[depth - 1].end) {
            struct loop *loop = &loops[depth - 1];
            if (run->at == loop->at && ++idle > PYRO_CTF_STEPS)
                return PYRO_CTF_WRONG;
            loop->at = run->at;
            if (--loop->left > 0) {
                at = loop->first;
                break;
            }
            depth--;
        }
        switch ((enum pyro_ctf_code)at->code) {
        case PYRO_CTF_OP_END:
            return PYRO_CTF_DONE;
        case PYRO_CTF_OP_RUN:
            base = run->at;
            if (at->bits > run->limit - base)
                return PYRO_CTF_SHORT;
            run->at = base + at->bits;
            bytes = data + (base >> 3);
            break;
        case PYRO_CTF_OP_READ_U8:
            store(run, at, bytes[(at->bits + (base & 7)) >> 3]);
            break;
        case PYRO_CTF_OP_READ_S8:
            store(run, at, (uint64_t)(int64_t)(int8_t)bytes[(at->bits + (base & 7)) >> 3]);
            break;
        case PYRO_CTF_OP_READ_U16:
            store(run, at, (uint16_t)little(bytes + ((at->bits + (base & 7)) >> 3)));
            break;
        case PYRO_CTF_OP_READ_S16:
            store(run, at, (uint64_t)(int64_t)(int16_t)little(bytes + ((at->bits + (base & 7)) >> 3)));
            break;
        case PYRO_CTF_OP_READ_U32:
            store(run, at, (uint32_t)little(bytes + ((at->bits + (base & 7)) >> 3)));
            break;
        case PYRO_CTF_OP_READ_S32:
            store(run, at, (uint64_t)(int64_t)(int32_t)little(bytes + ((at->bits + (base & 7)) >> 3)));
            break;
        case PYRO_CTF_OP_READ_64:
            store(run, at, little(bytes + ((at->bits + (base & 7)) >> 3)));
            break;
        case PYRO_CTF_OP_READ_BITS:
            store(run, at, take_bits(at, data, base + at->bits));
            break;
        case PYRO_CTF_OP_READ_TEXT:
            store_text(run, at, text_at(data + ((base + at->bits) >> 3), at->next));
            break;
        case PYRO_CTF_OP_READ_PLACE:
            store(run, at, (base + at->bits) >> 3);
            break;
        case PYRO_CTF_OP_ALIGN:
            base = (run->at + at->bits - 1) & ~(at->bits - 1);
            if (base > run->limit)
                return PYRO_CTF_SHORT;
            run->at = base;
            break;
        case PYRO_CTF_OP_STRING:
            text = take_string(run, at->size);
            if (!text.ptr)
                return PYRO_CTF_SHORT;
            store_text(run, at, text);
            break;
        case PYRO_CTF_OP_VARINT:
            text = PYRO_SLICE_NULL;
            if (!take_varint(run, at->flags & PYRO_CTF_SIGNED, &value))
                return PYRO_CTF_SHORT;
            break;
        case PYRO_CTF_OP_AGAIN:
            if (text.ptr)
                store_text(run, at, text);
            else
                store(run, at, value);
            break;
        case PYRO_CTF_OP_TEXT:
            value = run->registers[at->from];
            if (value > (run->limit - run->at) >> 3)
                return PYRO_CTF_SHORT;
            store_text(run, at, text_at(data + (run->at >> 3), value));
            break;
        case PYRO_CTF_OP_ELEMENT:
            value = run->registers[at->from];
            if (at->next >= value)
                break;
            if (at->bits * at->next + at->size > run->limit - run->at)
                return PYRO_CTF_SHORT;
            store(run, at, take_bits(at, data, run->at + at->bits * at->next));
            break;
        case PYRO_CTF_OP_SKIP:
            value = run->registers[at->from];
            if (value == 0 || at->bits == 0)
                break;
            if (value > (run->limit - run->at + at->next) / at->bits)
                return PYRO_CTF_SHORT;
            run->at += value * at->bits - at->next;
            break;
        case PYRO_CTF_OP_LOOP:
            value = at->from == PYRO_CTF_NO_REGISTER ? at->bits : run->registers[at->from];
            if (value == 0 || at->next == 0 || depth == PYRO_CTF_LOOPS) {
                at += at->next;
                break;
            }
            loops[depth++] = (struct loop){at + 1, at + 1 + at->next, value, run->at};
            break;
        case PYRO_CTF_OP_SWITCH:
            base = choose(run, at);
            if (base == UINT32_MAX)
                return PYRO_CTF_WRONG;
            at = first + base - 1;
            break;
        case PYRO_CTF_OP_JUMP:
            at = first + at->next - 1;
            break;
        case PYRO_CTF_OP_LOAD:
            store(run, at, run->registers[at->from]);
            break;
        }
    }
}
