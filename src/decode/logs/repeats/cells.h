/* What `logs top` knows of the records of one template, or of one template in one container or stage. */
#ifndef PYRO_DECODE_LOGS_REPEATS_CELLS_H
#define PYRO_DECODE_LOGS_REPEATS_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "decode/logs/records/record.h"

enum {
    PYRO_CELLS_MOST = 100000, /* later pairs of template and group share one cell */
    PYRO_CELL_SET = 100       /* containers and stages of one cell; later ones are left out */
};

#define PYRO_CELL_SHARED (-1) /* the template of the shared cell */

/* Different numbers, ascending. */
struct pyro_cell_set {
    PYRO_VEC(int64_t) numbers;
};

struct pyro_cell {
    int32_t template_id;
    uint32_t group;
    uint64_t count;
    uint64_t explained; /* by blocks */
    enum pyro_log_level level;
    int64_t first_ms, last_ms;
    struct pyro_cell_set containers, stages;
    int64_t last_container, last_stage; /* PYRO_NONE at first */
};

struct pyro_cells {
    const struct pyro_allocator *allocator;
    PYRO_VEC(struct pyro_cell) items;
    struct pyro_map numbers; /* template and group -> number + 1 */
    uint32_t shared;         /* number + 1 of the shared cell */
};

void pyro_cells_init(struct pyro_cells *cells, const struct pyro_allocator *allocator);
void pyro_cells_done(struct pyro_cells *cells);
/* Number of the cell, in the order in which they were first asked for; UINT32_MAX: no memory. */
uint32_t pyro_cells_find(struct pyro_cells *cells, int32_t template_id, uint32_t group);
/* Adds a record. `container`: its number; `stage`: PYRO_NONE without one. False: no memory. */
bool pyro_cells_add(struct pyro_cells *cells, uint32_t cell, const struct pyro_log_record *record, int64_t container,
                    int64_t stage);
/* Adds to `cell` what another one has: level, times, containers and stages. False: no memory. */
bool pyro_cells_unite(const struct pyro_cells *cells, struct pyro_cell *cell, const struct pyro_cell *other);
/* A cell outside the array, and its end. */
struct pyro_cell pyro_cell_empty(void);
void pyro_cell_done(struct pyro_cell *cell, const struct pyro_allocator *allocator);

#endif
