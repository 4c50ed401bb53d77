#include "decode/logs/repeats/cells.h"

#include "model/column.h"

void pyro_cells_init(struct pyro_cells *cells, const struct pyro_allocator *allocator)
{
    *cells = (struct pyro_cells){.allocator = allocator};
    pyro_map_init(&cells->numbers, allocator);
}

void pyro_cell_done(struct pyro_cell *cell, const struct pyro_allocator *allocator)
{
    pyro_vec_done(&cell->containers.numbers, allocator);
    pyro_vec_done(&cell->stages.numbers, allocator);
}

void pyro_cells_done(struct pyro_cells *cells)
{
    for (size_t i = 0; i < cells->items.count; i++)
        pyro_cell_done(&cells->items.items[i], cells->allocator);
    pyro_vec_done(&cells->items, cells->allocator);
    pyro_map_done(&cells->numbers);
}

struct pyro_cell pyro_cell_empty(void)
{
    return (struct pyro_cell){
        .first_ms = PYRO_NONE, .last_ms = PYRO_NONE, .last_container = PYRO_NONE, .last_stage = PYRO_NONE};
}

/* Number + 1; 0: no memory. */
static uint32_t add_cell(struct pyro_cells *cells, int32_t template_id, uint32_t group)
{
    struct pyro_cell *cell = pyro_vec_push(&cells->items, cells->allocator);
    if (!cell)
        return 0;
    *cell = pyro_cell_empty();
    cell->template_id = template_id;
    cell->group = group;
    return (uint32_t)cells->items.count;
}

uint32_t pyro_cells_find(struct pyro_cells *cells, int32_t template_id, uint32_t group)
{
    uint64_t key = (uint64_t)(uint32_t)template_id << 32 | group;
    const uint64_t *found = pyro_map_get(&cells->numbers, key);
    if (found)
        return (uint32_t)*found - 1;
    if (cells->items.count >= PYRO_CELLS_MOST) {
        if (!cells->shared)
            cells->shared = add_cell(cells, PYRO_CELL_SHARED, 0);
        return cells->shared - 1;
    }
    uint64_t *number = pyro_map_put(&cells->numbers, key, NULL);
    if (number)
        *number = add_cell(cells, template_id, group);
    return number ? (uint32_t)*number - 1 : UINT32_MAX;
}

/* The place of a number, or where it belongs. */
static size_t find_place(const struct pyro_cell_set *set, int64_t number)
{
    size_t low = 0, high = set->numbers.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->numbers.items[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool set_add(struct pyro_cell_set *set, int64_t number, const struct pyro_allocator *allocator)
{
    size_t place = find_place(set, number), count = set->numbers.count;
    if ((place < count && set->numbers.items[place] == number) || count >= PYRO_CELL_SET)
        return true;
    if (!pyro_vec_reserve(&set->numbers, 1, allocator))
        return false;
    int64_t *items = set->numbers.items;
    memmove(items + place + 1, items + place, (count - place) * sizeof(*items));
    items[place] = number;
    set->numbers.count++;
    return true;
}

static void add_times(struct pyro_cell *cell, int64_t first_ms, int64_t last_ms)
{
    if (first_ms == PYRO_NONE)
        return;
    if (cell->first_ms == PYRO_NONE || first_ms < cell->first_ms)
        cell->first_ms = first_ms;
    if (last_ms > cell->last_ms)
        cell->last_ms = last_ms;
}

bool pyro_cells_add(struct pyro_cells *cells, uint32_t number, const struct pyro_log_record *record, int64_t container,
                    int64_t stage)
{
    struct pyro_cell *cell = &cells->items.items[number];
    bool done = true;
    cell->count++;
    if (record->level > cell->level)
        cell->level = record->level;
    add_times(cell, record->time_ms, record->time_ms);
    if (container != cell->last_container)
        done = set_add(&cell->containers, container, cells->allocator);
    if (stage != cell->last_stage && stage != PYRO_NONE)
        done = done && set_add(&cell->stages, stage, cells->allocator);
    cell->last_container = container;
    cell->last_stage = stage;
    return done;
}

bool pyro_cells_unite(const struct pyro_cells *cells, struct pyro_cell *cell, const struct pyro_cell *other)
{
    if (other->level > cell->level)
        cell->level = other->level;
    add_times(cell, other->first_ms, other->last_ms);
    for (size_t i = 0; i < other->containers.numbers.count; i++)
        if (!set_add(&cell->containers, other->containers.numbers.items[i], cells->allocator))
            return false;
    for (size_t i = 0; i < other->stages.numbers.count; i++)
        if (!set_add(&cell->stages, other->stages.numbers.items[i], cells->allocator))
            return false;
    return true;
}
