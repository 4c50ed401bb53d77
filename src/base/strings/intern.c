#include "base/strings/intern.h"

#include <stdatomic.h>

#include "base/collections/hash.h"
#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "base/memory/allocator.h"
#include "base/memory/arena.h"

struct pyro_string_pool {
    const struct pyro_allocator *allocator;
    atomic_int references;
    struct pyro_string_pool *parent; /* whose memory older texts are in, or NULL */
    struct pyro_arena arena;
    PYRO_VEC(struct pyro_slice) texts;
    uint32_t *slots;   /* text number + 1, 0 is free; linear probing */
    size_t slot_count; /* a power of two, at least twice the number of texts */
    pyro_text_gate *gate;
    void *gate_context;
};

struct pyro_string_pool *pyro_string_pool_new(const struct pyro_allocator *allocator)
{
    struct pyro_string_pool *pool = pyro_allocate(allocator, sizeof(*pool));
    if (!pool)
        return NULL;
    *pool = (struct pyro_string_pool){.allocator = allocator};
    atomic_init(&pool->references, 1);
    pyro_arena_init(&pool->arena, allocator);
    if (pyro_intern(pool, PYRO_SLICE_LITERAL("")) == UINT32_MAX) {
        pyro_string_pool_release(pool);
        return NULL;
    }
    return pool;
}

struct pyro_string_pool *pyro_string_pool_retain(struct pyro_string_pool *pool)
{
    atomic_fetch_add_explicit(&pool->references, 1, memory_order_relaxed);
    return pool;
}

void pyro_string_pool_release(struct pyro_string_pool *pool)
{
    if (!pool || atomic_fetch_sub_explicit(&pool->references, 1, memory_order_acq_rel) != 1)
        return;
    pyro_arena_done(&pool->arena);
    pyro_vec_done(&pool->texts, pool->allocator);
    pyro_release(pool->allocator, pool->slots);
    pyro_string_pool_release(pool->parent);
    pyro_release(pool->allocator, pool);
}

static bool grow_slots(struct pyro_string_pool *pool)
{
    size_t slot_count = pool->slot_count ? pool->slot_count * 2 : 256;
    while (slot_count < 4 * pool->texts.count)
        slot_count *= 2;
    uint32_t *slots = pyro_allocate(pool->allocator, slot_count * sizeof(*slots));
    if (!slots)
        return false;
    memset(slots, 0, slot_count * sizeof(*slots));
    for (size_t id = 0; id < pool->texts.count; id++) {
        size_t slot = pyro_hash_slice(pool->texts.items[id]) & (slot_count - 1);
        while (slots[slot])
            slot = (slot + 1) & (slot_count - 1);
        slots[slot] = (uint32_t)id + 1;
    }
    pyro_release(pool->allocator, pool->slots);
    pool->slots = slots;
    pool->slot_count = slot_count;
    return true;
}

struct pyro_string_pool *pyro_string_pool_snapshot(struct pyro_string_pool *pool)
{
    struct pyro_string_pool *copy = pyro_allocate(pool->allocator, sizeof(*copy));
    if (!copy)
        return NULL;
    *copy = (struct pyro_string_pool){.allocator = pool->allocator, .parent = pyro_string_pool_retain(pool)};
    atomic_init(&copy->references, 1);
    pyro_arena_init(&copy->arena, pool->allocator);
    if (!pyro_vec_reserve(&copy->texts, pool->texts.count, pool->allocator)) {
        pyro_string_pool_release(copy);
        return NULL;
    }
    memcpy(copy->texts.items, pool->texts.items, pool->texts.count * sizeof(*pool->texts.items));
    copy->texts.count = pool->texts.count;
    return copy;
}

/* `ret_new`: set if the gate has to see the text first, which is then not added; NULL: it has seen it. */
static uint32_t intern_as_is(struct pyro_string_pool *pool, struct pyro_slice text, bool *ret_new)
{
    if (2 * (pool->texts.count + 1) > pool->slot_count && !grow_slots(pool))
        return UINT32_MAX;
    size_t slot = pyro_hash_slice(text) & (pool->slot_count - 1);
    for (; pool->slots[slot]; slot = (slot + 1) & (pool->slot_count - 1)) {
        uint32_t id = pool->slots[slot] - 1;
        if (pyro_slice_eq(pool->texts.items[id], text))
            return id;
    }
    if (pool->gate && ret_new) {
        *ret_new = true;
        return 0;
    }
    if (pool->texts.count >= UINT32_MAX - 1)
        return UINT32_MAX;
    struct pyro_slice copy = pyro_arena_copy(&pool->arena, text);
    struct pyro_slice *item = copy.ptr ? pyro_vec_push(&pool->texts, pool->allocator) : NULL;
    if (!item)
        return UINT32_MAX;
    *item = copy;
    pool->slots[slot] = (uint32_t)pool->texts.count;
    return (uint32_t)pool->texts.count - 1;
}

uint32_t pyro_intern(struct pyro_string_pool *pool, struct pyro_slice text)
{
    bool is_new = false;
    if (!text.ptr)
        text = PYRO_SLICE_LITERAL("");
    uint32_t number = intern_as_is(pool, text, &is_new);
    if (!is_new)
        return number;
    text = pool->gate(pool->gate_context, text, UINT32_MAX);
    return text.ptr ? intern_as_is(pool, text, NULL) : UINT32_MAX;
}

void pyro_string_pool_set_gate(struct pyro_string_pool *pool, pyro_text_gate *gate, void *context)
{
    pool->gate = gate;
    pool->gate_context = context;
}

struct pyro_slice pyro_intern_slice(struct pyro_string_pool *pool, struct pyro_slice text)
{
    if (!text.ptr)
        return text;
    uint32_t id = pyro_intern(pool, text);
    return id == UINT32_MAX ? PYRO_SLICE_NULL : pool->texts.items[id];
}

struct pyro_slice pyro_string_pool_text(const struct pyro_string_pool *pool, uint32_t id)
{
    return id < pool->texts.count ? pool->texts.items[id] : PYRO_SLICE_NULL;
}

uint32_t pyro_string_pool_count(const struct pyro_string_pool *pool)
{
    return (uint32_t)pool->texts.count;
}

void *pyro_string_pool_alloc(struct pyro_string_pool *pool, size_t size)
{
    return pyro_arena_alloc(&pool->arena, size);
}

size_t pyro_string_pool_bytes(const struct pyro_string_pool *pool)
{
    size_t bytes = 0;
    for (; pool; pool = pool->parent)
        bytes += sizeof(*pool) + pool->arena.reserved + pool->texts.capacity * sizeof(*pool->texts.items) +
                 pool->slot_count * sizeof(*pool->slots);
    return bytes;
}

/* ---- Looking again ------------------------------------------------------------------------------------------------
 */

struct pyro_renewal {
    struct pyro_string_pool *pool;
    struct pyro_map numbers; /* address of an old text -> its number + 1 */
    PYRO_VEC(struct pyro_slice) old;
};

static bool renew_one(struct pyro_renewal *renewal, uint32_t number)
{
    struct pyro_string_pool *pool = renewal->pool;
    struct pyro_slice old = pool->texts.items[number], now = pool->gate(pool->gate_context, old, number);
    if (now.ptr && pyro_slice_eq(old, now))
        return true;
    struct pyro_slice copy = now.ptr ? pyro_arena_copy(&pool->arena, now) : now;
    struct pyro_slice *kept = copy.ptr ? pyro_vec_push(&renewal->old, pool->allocator) : NULL;
    uint64_t *place = kept ? pyro_map_put(&renewal->numbers, (uint64_t)(uintptr_t)old.ptr, NULL) : NULL;
    if (!place)
        return false;
    *kept = old;
    *place = (uint64_t)number + 1;
    pool->texts.items[number] = copy;
    return true;
}

bool pyro_string_pool_renew(struct pyro_string_pool *pool, struct pyro_renewal **ret)
{
    struct pyro_renewal *renewal = pool->gate ? pyro_allocate(pool->allocator, sizeof(*renewal)) : NULL;
    *ret = NULL;
    if (!renewal)
        return !pool->gate;
    *renewal = (struct pyro_renewal){.pool = pool};
    pyro_map_init(&renewal->numbers, pool->allocator);
    bool ok = true;
    for (size_t i = 0; ok && i < pool->texts.count; i++)
        ok = renew_one(renewal, (uint32_t)i);
    if (ok && renewal->old.count)
        ok = grow_slots(pool);
    for (size_t i = 0; !ok && i < renewal->old.count; i++) { /* back to what they were */
        const uint64_t *place = pyro_map_get(&renewal->numbers, (uint64_t)(uintptr_t)renewal->old.items[i].ptr);
        if (place)
            pool->texts.items[*place - 1] = renewal->old.items[i];
    }
    if (ok && renewal->old.count) {
        *ret = renewal;
        return true;
    }
    renewal->old.count = 0;
    pyro_renewal_done(renewal);
    return ok;
}

struct pyro_slice pyro_renewed(const struct pyro_renewal *renewal, struct pyro_slice text)
{
    const uint64_t *place = text.ptr ? pyro_map_get(&renewal->numbers, (uint64_t)(uintptr_t)text.ptr) : NULL;
    return place ? renewal->pool->texts.items[*place - 1] : text;
}

void pyro_renewal_done(struct pyro_renewal *renewal)
{
    if (!renewal)
        return;
    struct pyro_string_pool *pool = renewal->pool;
    bool shared = pool->parent || atomic_load_explicit(&pool->references, memory_order_relaxed) != 1;
    for (size_t i = 0; !shared && i < renewal->old.count; i++)
        memset(pyro_unconst(renewal->old.items[i].ptr), 0, renewal->old.items[i].len);
    pyro_vec_done(&renewal->old, pool->allocator);
    pyro_map_done(&renewal->numbers);
    pyro_release(pool->allocator, renewal);
}
