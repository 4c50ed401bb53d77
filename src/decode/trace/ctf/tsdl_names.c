/* Names of types: those of a block hide those around it. */
#include "base/collections/hash.h"
#include "decode/trace/ctf/tsdl.h"

static uint64_t hash_of(enum tsdl_space space, struct pyro_slice text)
{
    return pyro_hash_mix(pyro_hash_slice(text) + (uint64_t)space);
}

static bool is_same(const struct tsdl_name *name, enum tsdl_space space, struct pyro_slice text)
{
    return name->space == space && pyro_slice_eq(name->text, text);
}

const struct pyro_ctf_type *pyro_tsdl_find(const struct tsdl *tsdl, enum tsdl_space space, struct pyro_slice text)
{
    const uint64_t *newest = pyro_map_get(&tsdl->by_hash, hash_of(space, text));
    const struct tsdl_name *name = newest && *newest ? &tsdl->names.items[*newest - 1] : NULL;
    return name && is_same(name, space, text) ? name->type : NULL;
}

bool pyro_tsdl_name(struct tsdl *tsdl, enum tsdl_space space, struct pyro_slice text, const struct pyro_ctf_type *type)
{
    uint64_t hash = hash_of(space, text);
    uint64_t *newest = pyro_map_put(&tsdl->by_hash, hash, NULL);
    struct tsdl_name *name = newest ? pyro_vec_push(&tsdl->names, tsdl->metadata->allocator) : NULL;
    if (!name)
        return pyro_tsdl_no_memory(tsdl);
    *name = (struct tsdl_name){space, text, type, hash, (size_t)*newest};
    *newest = tsdl->names.count;
    return true;
}

void pyro_tsdl_forget(struct tsdl *tsdl, size_t count)
{
    for (; tsdl->names.count > count; tsdl->names.count--) {
        const struct tsdl_name *name = &tsdl->names.items[tsdl->names.count - 1];
        uint64_t *newest = pyro_map_get(&tsdl->by_hash, name->hash);
        if (newest)
            *newest = name->hidden;
    }
}

struct pyro_ctf_type *pyro_tsdl_new(struct tsdl *tsdl, const struct pyro_ctf_type *like, enum pyro_ctf_kind kind)
{
    struct pyro_ctf_type *type = pyro_arena_alloc(tsdl->metadata->arena, sizeof(*type));
    if (!type) {
        pyro_tsdl_no_memory(tsdl);
        return NULL;
    }
    if (like)
        *type = *like;
    else
        *type = (struct pyro_ctf_type){.kind = (uint8_t)kind, .line = tsdl->token.line, .unit = 1};
    return type;
}

const struct pyro_ctf_type *pyro_tsdl_made(struct tsdl *tsdl, struct pyro_ctf_type *type)
{
    const char *why = tsdl->status == PYRO_OK ? pyro_ctf_settle(type) : NULL;
    if (why)
        pyro_tsdl_fail(tsdl, type->line, why);
    return tsdl->status == PYRO_OK ? type : NULL;
}
