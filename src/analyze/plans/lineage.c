#include "analyze/plans/lineage.h"

#include "analyze/row_index.h"

struct walk {
    const struct pyro_app *app;
    struct pyro_index rows; /* of all RDDs */
    int64_t *built_by;      /* by RDD row: id of the stage that made it for the cache, PYRO_NONE: none */
    PYRO_VEC(struct pyro_rdd_use) uses;
};

static ptrdiff_t row_of(const struct walk *walk, int64_t id)
{
    size_t entry;
    return pyro_index_find(&walk->rows, id, &entry) > 0 ? (ptrdiff_t)walk->rows.entries[entry].row : -1;
}

static ptrdiff_t index_in(const struct pyro_stage *stage, int64_t id)
{
    size_t low = 0, high = stage->rdd_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stage->rdd_ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < stage->rdd_count && stage->rdd_ids[low] == id ? (ptrdiff_t)low : -1;
}

static enum pyro_rdd_use_kind kind_of(struct walk *walk, const struct pyro_stage *stage, const struct pyro_rdd *rdd,
                                      size_t row)
{
    if (rdd->cached != 1 || stage->id < rdd->cached_from || stage->id > rdd->cached_to)
        return PYRO_RDD_COMPUTED;
    if (walk->built_by[row] != PYRO_NONE && walk->built_by[row] != stage->id)
        return PYRO_RDD_READ;
    walk->built_by[row] = stage->id;
    return PYRO_RDD_BUILT;
}

/* From the RDDs that no other RDD of the stage is made from, back to its sources or to what was cached. */
static bool walk_stage(struct walk *walk, size_t stage_row, const struct pyro_allocator *allocator)
{
    const struct pyro_stage *stage = &walk->app->stages.items[stage_row];
    const struct pyro_rdd *rdds = walk->app->rdds.items;
    if (!rdds)
        return true; /* the log names RDDs of stages, and describes none of them */
    ptrdiff_t rows[PYRO_STAGE_RDDS];
    bool wanted[PYRO_STAGE_RDDS];
    for (size_t i = 0; i < stage->rdd_count; i++) {
        rows[i] = row_of(walk, stage->rdd_ids[i]);
        wanted[i] = true;
    }
    for (size_t i = 0; i < stage->rdd_count; i++) {
        const struct pyro_rdd *rdd = rows[i] < 0 ? NULL : &rdds[rows[i]];
        for (uint32_t p = 0; rdd && p < rdd->parent_count; p++) {
            ptrdiff_t parent = index_in(stage, rdd->parent_ids[p]);
            if (parent >= 0 && (size_t)parent != i)
                wanted[parent] = false;
        }
    }
    /* Parents have smaller ids than what is made from them, so that one pass from the newest on is enough. */
    for (size_t i = stage->rdd_count; i > 0; i--) {
        if (!wanted[i - 1] || rows[i - 1] < 0)
            continue;
        size_t row = (size_t)rows[i - 1];
        struct pyro_rdd_use *use = pyro_vec_push(&walk->uses, allocator);
        if (!use)
            return false;
        const struct pyro_rdd *rdd = &rdds[row];
        *use = (struct pyro_rdd_use){stage_row, row, kind_of(walk, stage, rdd, row)};
        for (uint32_t p = 0; use->kind != PYRO_RDD_READ && p < rdd->parent_count; p++) {
            ptrdiff_t parent = index_in(stage, rdd->parent_ids[p]);
            if (parent >= 0 && (size_t)parent < i - 1)
                wanted[parent] = true;
        }
    }
    return true;
}

bool pyro_lineage_load(const struct pyro_app *app, struct pyro_arena *arena, struct pyro_lineage *ret)
{
    struct walk walk = {.app = app};
    walk.built_by = pyro_arena_array(arena, app->rdds.count + 1, sizeof(*walk.built_by));
    *ret = (struct pyro_lineage){.first = pyro_arena_array(arena, app->stages.count + 1, sizeof(*ret->first))};
    bool ok = pyro_index_rdds(&walk.rows, app) && walk.built_by && ret->first;
    for (size_t i = 0; ok && i < app->rdds.count; i++)
        walk.built_by[i] = PYRO_NONE;
    for (size_t i = 0; ok && i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        ret->first[i] = walk.uses.count;
        if (stage->attempt == 0 && stage->tasks > 0 && stage->rdd_count > 0)
            ok = walk_stage(&walk, i, arena->allocator);
    }
    if (ok) {
        ret->first[app->stages.count] = ret->count = walk.uses.count;
        ret->uses = pyro_arena_array(arena, ret->count + 1, sizeof(*ret->uses));
        ok = ret->uses != NULL;
    }
    if (ok && ret->count > 0)
        memcpy(ret->uses, walk.uses.items, ret->count * sizeof(*ret->uses));
    pyro_vec_done(&walk.uses, arena->allocator);
    pyro_index_done(&walk.rows);
    return ok;
}

bool pyro_rdd_is_source(const struct pyro_rdd *rdd)
{
    static const char *const sources[] = {"parallelize",     "range",      "textFile",         "wholeTextFiles",
                                          "binaryFiles",     "hadoopFile", "newAPIHadoopFile", "sequenceFile",
                                          "newAPIHadoopRDD", "hadoopRDD",  "makeRDD",          "objectFile"};
    if (rdd->parent_count == 0)
        return true;
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
        if (pyro_slice_is(rdd->operation, sources[i]))
            return true;
    return pyro_slice_starts_with(rdd->operation, "Scan ");
}

int pyro_rdd_use_order(const void *left, const void *right)
{
    const struct pyro_rdd_use *a = left, *b = right;
    if (a->rdd != b->rdd)
        return a->rdd < b->rdd ? -1 : 1;
    return a->stage < b->stage ? -1 : a->stage > b->stage;
}
