#include "analyze/tracks/stage_waits.h"

#include <stdlib.h>

#include "base/numbers/saturate.h"

/* ---- Names ------------------------------------------------------------------------------------------------------- */

bool pyro_wait_is_own(struct pyro_slice by)
{
    return by.ptr && !pyro_slice_ends_with(by, ")");
}

bool pyro_wait_is_spark(struct pyro_slice by)
{
    return pyro_slice_ends_with(by, ")") &&
           (pyro_slice_starts_with(by, "executor ") || pyro_slice_starts_with(by, "driver (") ||
            pyro_slice_starts_with(by, "Python worker ("));
}

bool pyro_wait_is_kernel(struct pyro_slice by)
{
    static const char *const names[] = {"kworker/", "jbd2/", "kswapd", "ksoftirqd/", "migration/", "rcu_", "loop"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (pyro_slice_ends_with(by, ")") && pyro_slice_starts_with(by, names[i]))
            return true;
    return false;
}

bool pyro_wait_is_jvm(struct pyro_slice by)
{
    /* Names of HotSpot's threads, cut to 15 characters by the kernel. */
    static const char *const names[] = {"VM Thread",       "VM Periodic Tas", "GC Thread#", "G1 ",
                                        "ZWorker",         "ZDriver",         "Shenandoah", "C1 CompilerThre",
                                        "C2 CompilerThre", "ParGC Thread"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (pyro_slice_starts_with(by, names[i]))
            return true;
    return false;
}

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

bool pyro_task_waited(const struct pyro_app *app, int64_t task, struct pyro_task_waited *ret)
{
    size_t first, count = app->tracks ? pyro_tracks_waits_of(app->tracks, task, &first) : 0;
    *ret = (struct pyro_task_waited){0};
    for (size_t i = 0; i < count; i++) {
        const struct pyro_task_wait_row row = pyro_tracks_task_wait(app->tracks, first + i);
        ret->traced_ns = pyro_add_saturating(ret->traced_ns, row.duration_ns);
        ret->by_root_ns[row.root] = pyro_add_saturating(ret->by_root_ns[row.root], row.duration_ns);
    }
    return ret->traced_ns > ret->by_root_ns[PYRO_KERNEL_UNKNOWN];
}

struct pyro_slice pyro_task_waited_by(const struct pyro_app *app, int64_t task, enum pyro_kernel_state root)
{
    size_t first, count = app->tracks ? pyro_tracks_waits_of(app->tracks, task, &first) : 0;
    struct pyro_slice most = PYRO_SLICE_NULL;
    int64_t most_ns = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pyro_task_wait_row row = pyro_tracks_task_wait(app->tracks, first + i);
        if (row.root != root || row.duration_ns <= most_ns)
            continue;
        most_ns = row.duration_ns;
        most = row.by.ptr ? row.by : row.what;
    }
    return most;
}

/* ---- Stages ------------------------------------------------------------------------------------------------------ */

static int compare_kinds(const void *a, const void *b)
{
    const struct pyro_traced_wait *x = a, *y = b;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    if (x->state != y->state)
        return x->state < y->state ? -1 : 1;
    if (x->root != y->root)
        return x->root < y->root ? -1 : 1;
    int order = pyro_slice_compare(x->what, y->what);
    return order ? order : pyro_slice_compare(x->by, y->by);
}

static int compare_durations(const void *a, const void *b)
{
    const struct pyro_traced_wait *x = a, *y = b;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    if (x->duration_ns != y->duration_ns)
        return x->duration_ns > y->duration_ns ? -1 : 1;
    return compare_kinds(a, b);
}

/* Where the stages of rows are found: in an application, or among keys. */
struct stages {
    const struct pyro_app *app;
    const struct pyro_stage_key *keys; /* sorted */
    size_t count;
};

static int compare_keys(const void *a, const void *b)
{
    const struct pyro_stage_key *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->attempt > y->attempt) - (x->attempt < y->attempt);
}

static ptrdiff_t find_stage(const struct stages *stages, int64_t id, int64_t attempt)
{
    if (stages->app)
        return pyro_app_find_stage(stages->app, id, attempt);
    const struct pyro_stage_key key = {id, attempt};
    const struct pyro_stage_key *found = bsearch(&key, stages->keys, stages->count, sizeof(key), compare_keys);
    return found ? found - stages->keys : -1;
}

/* All rows whose stage is known, and what they add up to. */
static void take_rows(const struct pyro_tracks *tracks, const struct stages *stages, struct pyro_stage_waits *waits)
{
    size_t rows = pyro_tracks_count(tracks, PYRO_TRACK_TASK_WAITS);
    int64_t task = PYRO_NONE;
    for (size_t i = 0; i < rows; i++) {
        const struct pyro_task_wait_row row = pyro_tracks_task_wait(tracks, i);
        ptrdiff_t stage = find_stage(stages, row.stage, row.stage_attempt);
        if (stage < 0)
            continue;
        struct pyro_stage_waited *waited = &waits->stages[stage];
        waited->traced_ns = pyro_add_saturating(waited->traced_ns, row.duration_ns);
        waited->by_root_ns[row.root] = pyro_add_saturating(waited->by_root_ns[row.root], row.duration_ns);
        waited->tasks += row.task != task;
        task = row.task;
        waits->waits[waits->count++] = (struct pyro_traced_wait){.stage = (size_t)stage,
                                                                 .state = row.state,
                                                                 .root = row.root,
                                                                 .what = row.what,
                                                                 .by = row.by,
                                                                 .duration_ns = row.duration_ns,
                                                                 .count = row.count,
                                                                 .bytes = row.bytes != PYRO_NONE ? row.bytes : 0};
    }
}

/* Puts rows of one kind together. */
static void join_rows(struct pyro_stage_waits *waits)
{
    size_t kept = 0;
    if (waits->count > 0)
        qsort(waits->waits, waits->count, sizeof(*waits->waits), compare_kinds);
    for (size_t i = 0; i < waits->count; i++) {
        struct pyro_traced_wait *last = kept > 0 ? &waits->waits[kept - 1] : NULL;
        if (!last || compare_kinds(last, &waits->waits[i]) != 0) {
            waits->waits[kept++] = waits->waits[i];
            continue;
        }
        last->duration_ns = pyro_add_saturating(last->duration_ns, waits->waits[i].duration_ns);
        last->count = pyro_add_saturating(last->count, waits->waits[i].count);
        last->bytes = pyro_add_saturating(last->bytes, waits->waits[i].bytes);
    }
    waits->count = kept;
    if (kept > 0)
        qsort(waits->waits, kept, sizeof(*waits->waits), compare_durations);
    for (size_t i = kept; i-- > 0;) {
        waits->stages[waits->waits[i].stage].first = i;
        waits->stages[waits->waits[i].stage].count++;
    }
}

static const struct pyro_stage_waits *collect(const struct pyro_tracks *tracks, const struct stages *stages,
                                              struct pyro_arena *arena)
{
    struct pyro_stage_waits *waits = pyro_arena_array(arena, 1, sizeof(*waits));
    size_t rows = tracks ? pyro_tracks_count(tracks, PYRO_TRACK_TASK_WAITS) : 0;
    if (!waits || rows == 0)
        return waits;
    waits->stages = pyro_arena_array(arena, stages->count + 1, sizeof(*waits->stages));
    waits->waits = pyro_arena_array(arena, rows + 1, sizeof(*waits->waits));
    if (!waits->stages || !waits->waits)
        return NULL;
    take_rows(tracks, stages, waits);
    join_rows(waits);
    return waits;
}

const struct pyro_stage_waits *pyro_stage_waits_new(const struct pyro_app *app, struct pyro_arena *arena)
{
    const struct stages stages = {.app = app, .count = app->stages.count};
    return collect(app->tracks, &stages, arena);
}

const struct pyro_stage_waits *pyro_stage_waits_alone(const struct pyro_tracks *tracks, struct pyro_arena *arena,
                                                      struct pyro_stage_key **ret_stages, size_t *ret_count)
{
    size_t rows = pyro_tracks_count(tracks, PYRO_TRACK_TASK_WAITS), kept = 0;
    struct pyro_stage_key *keys = pyro_arena_array(arena, rows + 1, sizeof(*keys));
    if (!keys)
        return NULL;
    for (size_t i = 0; i < rows; i++) {
        const struct pyro_task_wait_row row = pyro_tracks_task_wait(tracks, i);
        keys[i] = (struct pyro_stage_key){row.stage, row.stage_attempt};
    }
    if (rows > 0)
        qsort(keys, rows, sizeof(*keys), compare_keys);
    for (size_t i = 0; i < rows; i++)
        if (kept == 0 || compare_keys(&keys[kept - 1], &keys[i]) != 0)
            keys[kept++] = keys[i];
    const struct stages stages = {.keys = keys, .count = kept};
    *ret_stages = keys;
    *ret_count = kept;
    return collect(tracks, &stages, arena);
}

const struct pyro_stage_waits *pyro_stage_waits_of(const struct pyro_tracks *tracks, struct pyro_stage_key stage,
                                                   struct pyro_arena *arena)
{
    const struct stages stages = {.keys = &stage, .count = 1};
    return collect(tracks, &stages, arena);
}
