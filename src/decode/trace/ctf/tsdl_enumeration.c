/* Enumerations of TSDL: an integer type, and names of its values. */
#include "decode/trace/ctf/tsdl.h"

/* A number with its sign, as bits. */
static bool read_value(struct tsdl *tsdl, uint64_t *ret)
{
    bool minus = pyro_tsdl_take_mark(tsdl, '-');
    if (!minus)
        pyro_tsdl_take_mark(tsdl, '+');
    if (tsdl->token.kind != TSDL_NUMBER)
        return pyro_tsdl_fail(tsdl, tsdl->token.line, "a number was expected");
    *ret = minus ? 0 - tsdl->token.number : tsdl->token.number;
    pyro_tsdl_advance(tsdl);
    return true;
}

/* "NAME", "NAME = 3" or "NAME = 1 ... 4". */
static bool read_label(struct tsdl *tsdl, uint64_t next, struct pyro_ctf_label *ret)
{
    if (tsdl->token.kind != TSDL_WORD && tsdl->token.kind != TSDL_TEXT)
        return pyro_tsdl_fail(tsdl, tsdl->token.line, "the name of a value was expected");
    *ret = (struct pyro_ctf_label){tsdl->token.text, {next, next}};
    pyro_tsdl_advance(tsdl);
    if (!pyro_tsdl_take_mark(tsdl, '='))
        return true;
    if (!read_value(tsdl, &ret->range.first))
        return false;
    ret->range.last = ret->range.first;
    if (tsdl->token.kind != TSDL_DOTS)
        return true;
    pyro_tsdl_advance(tsdl);
    return read_value(tsdl, &ret->range.last);
}

static bool read_labels(struct tsdl *tsdl, struct pyro_ctf_type *type)
{
    const struct pyro_allocator *allocator = tsdl->metadata->allocator;
    PYRO_VEC(struct pyro_ctf_label) labels = {NULL, 0, 0};
    uint64_t next = 0;
    bool done = pyro_tsdl_expect(tsdl, '{');
    while (done && !pyro_tsdl_is_mark(tsdl, '}')) {
        struct pyro_ctf_label *label = pyro_vec_push(&labels, allocator);
        done = label ? read_label(tsdl, next, label) : pyro_tsdl_no_memory(tsdl);
        if (done) {
            next = label->range.last + 1;
            done = pyro_tsdl_take_mark(tsdl, ',') || pyro_tsdl_is_mark(tsdl, '}') || pyro_tsdl_expect(tsdl, '}');
        }
    }
    if (done) {
        struct pyro_ctf_label *kept = pyro_arena_array(tsdl->metadata->arena, labels.count + 1, sizeof(*kept));
        if (kept && labels.count > 0)
            memcpy(kept, labels.items, labels.count * sizeof(*kept));
        type->labels = kept;
        type->label_count = labels.count;
        pyro_tsdl_advance(tsdl);
        done = kept || pyro_tsdl_no_memory(tsdl);
    }
    pyro_vec_done(&labels, allocator);
    return done;
}

const struct pyro_ctf_type *pyro_tsdl_enumeration(struct tsdl *tsdl)
{
    const struct pyro_ctf_type *container = NULL;
    if (pyro_tsdl_take_mark(tsdl, ':')) {
        container = pyro_tsdl_type(tsdl, NULL);
        if (!container)
            return NULL;
        if (container->kind != PYRO_CTF_INTEGER) {
            pyro_tsdl_fail(tsdl, tsdl->token.line, "an enumeration is not of integers");
            return NULL;
        }
    } else {
        container = pyro_tsdl_find(tsdl, TSDL_ALIAS, PYRO_SLICE_LITERAL("int"));
        if (!container || container->kind != PYRO_CTF_INTEGER) {
            pyro_tsdl_fail(tsdl, tsdl->token.line, "an enumeration has no type of integers, and \"int\" is not known");
            return NULL;
        }
    }
    struct pyro_ctf_type *type = pyro_tsdl_new(tsdl, container, PYRO_CTF_INTEGER);
    return type && read_labels(tsdl, type) ? type : NULL;
}
