/* Steps of a comparison, each in the file of its name. False: no memory. */
#ifndef PYRO_COMPARE_COMPARING_H
#define PYRO_COMPARE_COMPARING_H

#include "analyze/accounts/stage_wall.h"
#include "compare/compare.h"

/* ---- match_rows.c */

/* Rows of two tables that are to be paired: mate[] is -1 until a row has one. */
struct pyro_match {
    const struct pyro_allocator *allocator;
    size_t count[2];
    ptrdiff_t *mate[2];
};
bool pyro_match_init(struct pyro_match *match, const struct pyro_allocator *allocator, size_t before, size_t after);
void pyro_match_done(struct pyro_match *match);
/* Pairs rows of equal key in their order, those without a mate only; a key of 0 never pairs. */
bool pyro_match_by(struct pyro_match *match, const uint64_t *const keys[2]);

/* A text without what changes from run to run (see pyro_stable_place()), hashed; `lines` false: without line numbers
 * of source files too. */
uint64_t pyro_match_text(struct pyro_slice text, bool lines);
static inline uint64_t pyro_match_mix(uint64_t hash, uint64_t more)
{
    hash ^= more + UINT64_C(0x9E3779B97F4A7C15) + (hash << 6) + (hash >> 2);
    hash *= UINT64_C(0xFF51AFD7ED558CCD);
    return hash ^ hash >> 32;
}

/* ---- match_stages.c */

/* Pairs app->stages of both runs: call site, query, RDD operations, what it reads and writes. */
bool pyro_compare_match_stages(const struct pyro_app *const apps[2], struct pyro_match *match);

/* ---- attribute.c */

enum pyro_status pyro_compare_attribute(struct pyro_comparison *comparison, const struct pyro_match *match,
                                        struct pyro_error *error);

/* What one side of a matched stage is made of. */
struct pyro_stage_side {
    double wall_ms, task_ms, slots; /* slots: NaN unknown */
    double data;                    /* 0: unknown */
    double parts[PYRO_CAUSES];      /* task time by cause, GC to TASK_OVERHEAD */
};
/* Splits `total_ms` = what the tasks' wall time grew by. Adds to causes[]. */
void pyro_compare_split(const struct pyro_stage_side *before, const struct pyro_stage_side *after, int64_t total_ms,
                        int64_t *causes);

/* ---- changed_plans.c, changed_settings.c */

bool pyro_compare_plans(struct pyro_comparison *comparison);
bool pyro_compare_settings(struct pyro_comparison *comparison);

#endif
