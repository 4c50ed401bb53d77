#include "base/collections/map.h"

#include <string.h>

#include "base/collections/hash.h"
#include "base/collections/vec.h"
#include "base/memory/allocator.h"

/* Each stage and job has many maps, and most stay small. */
enum { FEWEST_SLOTS = 8 };

void pyro_map_init(struct pyro_map *map, const struct pyro_allocator *allocator)
{
    *map = (struct pyro_map){.allocator = allocator};
}

void pyro_map_done(struct pyro_map *map)
{
    pyro_release(map->allocator, map->slots);
    pyro_release(map->allocator, map->used);
    pyro_map_init(map, map->allocator);
}

/* The key's slot, or the free one where it belongs. */
static size_t find_slot(const struct pyro_map *map, uint64_t key)
{
    size_t slot = pyro_hash_mix(key) & (map->slot_count - 1);
    while (map->used[slot] && map->slots[slot].key != key)
        slot = (slot + 1) & (map->slot_count - 1);
    return slot;
}

static bool grow(struct pyro_map *map)
{
    struct pyro_map bigger = {.allocator = map->allocator,
                              .slot_count = map->slot_count ? map->slot_count * 2 : FEWEST_SLOTS};
    bigger.slots = pyro_allocate(map->allocator, bigger.slot_count * sizeof(*bigger.slots));
    bigger.used = pyro_allocate(map->allocator, bigger.slot_count);
    if (!bigger.slots || !bigger.used) {
        pyro_map_done(&bigger);
        return false;
    }
    memset(bigger.used, 0, bigger.slot_count);
    for (size_t i = 0; i < map->slot_count; i++) {
        if (!map->used[i])
            continue;
        size_t slot = find_slot(&bigger, map->slots[i].key);
        bigger.used[slot] = 1;
        bigger.slots[slot] = map->slots[i];
    }
    bigger.count = map->count;
    pyro_map_done(map);
    *map = bigger;
    return true;
}

uint64_t *pyro_map_put(struct pyro_map *map, uint64_t key, bool *ret_new)
{
    if (2 * (map->count + 1) > map->slot_count && !grow(map))
        return NULL;
    size_t slot = find_slot(map, key);
    if (ret_new)
        *ret_new = !map->used[slot];
    if (!map->used[slot]) {
        map->used[slot] = 1;
        map->slots[slot] = (struct pyro_map_slot){key, 0};
        map->count++;
    }
    return &map->slots[slot].value;
}

uint64_t *pyro_map_get(const struct pyro_map *map, uint64_t key)
{
    if (!map->slot_count)
        return NULL;
    size_t slot = find_slot(map, key);
    return map->used[slot] ? &map->slots[slot].value : NULL;
}

bool pyro_map_copy(struct pyro_map *copy, const struct pyro_map *map)
{
    pyro_map_init(copy, map->allocator);
    if (!map->count)
        return true;
    copy->slots = pyro_allocate(map->allocator, map->slot_count * sizeof(*copy->slots));
    copy->used = pyro_allocate(map->allocator, map->slot_count);
    if (!copy->slots || !copy->used) {
        pyro_map_done(copy);
        return false;
    }
    for (size_t i = 0; i < map->slot_count; i++)
        if (map->used[i])
            copy->slots[i] = map->slots[i];
    memcpy(copy->used, map->used, map->slot_count);
    copy->slot_count = map->slot_count;
    copy->count = map->count;
    return true;
}

void pyro_id_set_init(struct pyro_id_set *set, const struct pyro_allocator *allocator)
{
    set->count = 0;
    pyro_map_init(&set->words, allocator);
}

void pyro_id_set_done(struct pyro_id_set *set)
{
    pyro_map_done(&set->words);
    set->count = 0;
}

int pyro_id_set_add(struct pyro_id_set *set, int64_t id)
{
    uint64_t *word = pyro_map_put(&set->words, (uint64_t)id >> 6, NULL);
    if (!word)
        return -1;
    uint64_t bit = 1ULL << ((uint64_t)id & 63);
    if (*word & bit)
        return 0;
    *word |= bit;
    set->count++;
    return 1;
}

bool pyro_id_set_has(const struct pyro_id_set *set, int64_t id)
{
    const uint64_t *word = pyro_map_get(&set->words, (uint64_t)id >> 6);
    return word && (*word >> ((uint64_t)id & 63) & 1);
}

void pyro_value_map_init(struct pyro_value_map *map, const struct pyro_allocator *allocator)
{
    *map = (struct pyro_value_map){0};
    pyro_map_init(&map->pages, allocator);
}

void pyro_value_map_done(struct pyro_value_map *map)
{
    pyro_vec_done(map, map->pages.allocator);
    pyro_map_done(&map->pages);
}

int64_t *pyro_value_map_put(struct pyro_value_map *map, int64_t number)
{
    uint64_t *page = pyro_map_put(&map->pages, (uint64_t)number / PYRO_VALUE_PAGE, NULL);
    if (page && *page == 0) {
        struct pyro_value_page *added = pyro_vec_push(map, map->pages.allocator);
        if (!added)
            return NULL; /* the page stays 0: not there */
        for (size_t i = 0; i < PYRO_VALUE_PAGE; i++)
            added->values[i] = PYRO_VALUE_NONE;
        *page = map->count;
    }
    return page ? &map->items[*page - 1].values[(uint64_t)number % PYRO_VALUE_PAGE] : NULL;
}

int64_t pyro_value_map_get(const struct pyro_value_map *map, int64_t number)
{
    const uint64_t *page = pyro_map_get(&map->pages, (uint64_t)number / PYRO_VALUE_PAGE);
    return page && *page ? map->items[*page - 1].values[(uint64_t)number % PYRO_VALUE_PAGE] : PYRO_VALUE_NONE;
}
