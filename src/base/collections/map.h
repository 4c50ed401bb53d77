/* Maps and sets of 64-bit keys, open addressing. Grown by the allocator; false or NULL means no memory. */
#ifndef PYRO_BASE_COLLECTIONS_MAP_H
#define PYRO_BASE_COLLECTIONS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pyrometer.h"

struct pyro_map_slot {
    uint64_t key, value;
};

struct pyro_map {
    const struct pyro_allocator *allocator;
    struct pyro_map_slot *slots;
    unsigned char *used;
    size_t slot_count, count;
};

void pyro_map_init(struct pyro_map *map, const struct pyro_allocator *allocator);
void pyro_map_done(struct pyro_map *map);
/* Place of the key's value, added as 0 when new (*ret_new, may be NULL). Valid until the next call that adds. */
uint64_t *pyro_map_put(struct pyro_map *map, uint64_t key, bool *ret_new);
/* Place of the key's value, or NULL. */
uint64_t *pyro_map_get(const struct pyro_map *map, uint64_t key);

/* `copy`, not initialised yet, gets all keys and values; false: no memory, and it is empty. */
bool pyro_map_copy(struct pyro_map *copy, const struct pyro_map *map);

/* A set of mostly dense numbers (task ids): one map slot holds 64 neighbours. */
struct pyro_id_set {
    struct pyro_map words;
    uint64_t count;
};

void pyro_id_set_init(struct pyro_id_set *set, const struct pyro_allocator *allocator);
void pyro_id_set_done(struct pyro_id_set *set);
/* 1: added; 0: already present; -1: no memory. */
int pyro_id_set_add(struct pyro_id_set *set, int64_t id);
bool pyro_id_set_has(const struct pyro_id_set *set, int64_t id);

/* A map from mostly dense numbers (accumulator ids) to values: neighbours share a page, some 9 bytes a number. */
#define PYRO_VALUE_NONE INT64_MIN

enum { PYRO_VALUE_PAGE = 16 };

struct pyro_value_page {
    int64_t values[PYRO_VALUE_PAGE]; /* PYRO_VALUE_NONE: not there */
};

struct pyro_value_map {
    struct pyro_map pages; /* number / 16 -> page + 1 */
    struct pyro_value_page *items;
    size_t count, capacity;
};

void pyro_value_map_init(struct pyro_value_map *map, const struct pyro_allocator *allocator);
void pyro_value_map_done(struct pyro_value_map *map);
/* Place of the number's value, PYRO_VALUE_NONE when new; NULL: no memory. Valid until the next call that adds. */
int64_t *pyro_value_map_put(struct pyro_value_map *map, int64_t number);
/* The number's value, or PYRO_VALUE_NONE. */
int64_t pyro_value_map_get(const struct pyro_value_map *map, int64_t number);

#endif
