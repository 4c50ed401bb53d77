#include "analyze/memory/cached_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/app_facts.h"
#include "analyze/plans/lineage.h"
#include "base/collections/vec.h"
#include "base/memory/allocator.h"
#include "base/numbers/order.h"

/* A task that finds its block takes this share of one that computes it again, where no task of its stage found one
 * (0.04 to 0.3 in recorded pairs). */
#define FOUND_SHARE 0.15

/* Of a partition: what the task that made its block read, and how long it took. */
struct made {
    int64_t bytes; /* -1: none did */
    double ms;
};

struct search {
    const struct pyro_app *app;
    double same_bytes;
    struct made *made; /* by partition */
    int64_t partitions;
    PYRO_VEC(struct pyro_block_task) tasks;
    double *values; /* one for each task of a stage */
};

static bool succeeded(const struct pyro_app *app, size_t task)
{
    return pyro_task_get(&app->tasks, PYRO_TASK_status, task) == PYRO_TASK_SUCCESS;
}

static int64_t partition_of(const struct pyro_app *app, size_t task)
{
    int64_t partition = pyro_task_get(&app->tasks, PYRO_TASK_partition, task);
    return partition != PYRO_NONE ? partition : pyro_task_get(&app->tasks, PYRO_TASK_index, task);
}

static double duration(const struct pyro_app *app, size_t task)
{
    return pyro_span(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, task),
                     pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, task));
}

static void note_made(struct search *search, const struct pyro_stage *stage)
{
    const struct pyro_app *app = search->app;
    for (size_t i = 0; i < (size_t)stage->tasks; i++) {
        size_t task = app->tasks_by_stage[stage->first_task + i];
        int64_t partition = partition_of(app, task), read = pyro_task_get(&app->tasks, PYRO_TASK_input_bytes, task);
        if (partition >= 0 && partition < search->partitions && search->made[partition].bytes < 0 &&
            succeeded(app, task))
            search->made[partition] = (struct made){read > 0 ? read : 0, duration(app, task)};
    }
}

/* A task that finds its block reads that many bytes from the cache; one that does not reads nothing, or the same file
 * as the task that made the block. */
static bool is_miss(const struct search *search, int64_t read, int64_t made)
{
    double change = fabs(pyro_real(read) - (double)made);
    return read <= 0 || (made > 0 && change <= search->same_bytes * (double)made);
}

static bool look(struct search *search, size_t row, const struct pyro_allocator *allocator)
{
    const struct pyro_app *app = search->app;
    const struct pyro_stage *stage = &app->stages.items[row];
    size_t first = search->tasks.count, found = 0;
    for (size_t i = 0; i < (size_t)stage->tasks; i++) {
        size_t task = app->tasks_by_stage[stage->first_task + i];
        int64_t partition = partition_of(app, task);
        if (!succeeded(app, task) || partition < 0 || partition >= search->partitions ||
            search->made[partition].bytes < 0 || pyro_task_get(&app->tasks, PYRO_TASK_has_metrics, task) != 1)
            continue;
        struct pyro_block_task *own = pyro_vec_push(&search->tasks, allocator);
        if (!own)
            return false;
        int64_t read = pyro_task_get(&app->tasks, PYRO_TASK_input_bytes, task);
        double ms = duration(app, task);
        *own = (struct pyro_block_task){.task = task,
                                        .stage = row,
                                        .found = !is_miss(search, read, search->made[partition].bytes),
                                        .found_ms = ms,
                                        .missed_ms = ms};
        if (!own->found)
            continue;
        own->missed_ms = fmax(ms, search->made[partition].ms);
        search->values[found++] = ms;
    }
    double usual = found >= 2 ? pyro_median(search->values, found) : -1;
    for (size_t i = first; i < search->tasks.count; i++) {
        struct pyro_block_task *own = &search->tasks.items[i];
        if (!own->found)
            own->found_ms = fmin(own->missed_ms, usual >= 0 ? usual : FOUND_SHARE * own->missed_ms);
    }
    return true;
}

static bool lost_executor(const struct pyro_app *app, const struct pyro_stage *stage)
{
    for (size_t i = 0; i < app->executors.count; i++)
        if (app->executors.items[i].removed_ms != PYRO_NONE && app->executors.items[i].removed_ms < stage->completed_ms)
            return true;
    return false;
}

/* `uses`: all of one persisted RDD, in the order of stages. */
static bool follow(struct search *search, const struct pyro_rdd_use *uses, size_t count, struct pyro_arena *arena,
                   struct pyro_cached_rdd *ret)
{
    const struct pyro_app *app = search->app;
    const struct pyro_rdd *rdd = &app->rdds.items[uses[0].rdd];
    int64_t tasks = 0;
    *ret = (struct pyro_cached_rdd){.rdd = uses[0].rdd};
    for (size_t i = 0; i < count; i++)
        tasks += app->stages.items[uses[i].stage].tasks;
    if (rdd->partitions <= 0 || rdd->partitions / 4 > tasks) /* many more partitions than tasks are damage */
        return true;
    search->partitions = rdd->partitions;
    search->tasks.count = 0;
    search->made = pyro_allocate(arena->allocator, (size_t)rdd->partitions * sizeof(*search->made));
    search->values = pyro_allocate(arena->allocator, ((size_t)tasks + 1) * sizeof(*search->values));
    bool done = search->made && search->values;
    for (int64_t i = 0; done && i < rdd->partitions; i++)
        search->made[i] = (struct made){-1, 0};
    for (size_t i = 0; done && i < count; i++) {
        const struct pyro_stage *stage = &app->stages.items[uses[i].stage];
        if (stage->partitions != rdd->partitions)
            continue;
        if (uses[i].kind == PYRO_RDD_READ && !lost_executor(app, stage))
            done = look(search, uses[i].stage, arena->allocator);
        note_made(search, stage);
    }
    ret->count = search->tasks.count;
    ret->tasks = done ? pyro_arena_array(arena, ret->count + 1, sizeof(*ret->tasks)) : NULL;
    done = done && ret->tasks;
    for (size_t i = 0; done && i < ret->count; i++) {
        ret->tasks[i] = search->tasks.items[i];
        ret->missed += !ret->tasks[i].found;
    }
    pyro_release(arena->allocator, search->made);
    pyro_release(arena->allocator, search->values);
    return done;
}

bool pyro_cached_blocks_find(const struct pyro_app *app, double same_bytes, struct pyro_arena *arena,
                             struct pyro_cached_blocks *ret)
{
    struct pyro_lineage lineage;
    struct search search = {.app = app, .same_bytes = same_bytes};
    size_t count = 0;
    *ret = (struct pyro_cached_blocks){0};
    if (!pyro_app_caches(app))
        return true;
    if (!pyro_lineage_load(app, arena, &lineage))
        return false;
    for (size_t s = 0; s < app->stages.count; s++) {
        size_t from = lineage.first[s], to = lineage.first[s + 1], cached = 0;
        for (size_t i = from; i < to; i++)
            cached += lineage.uses[i].kind != PYRO_RDD_COMPUTED;
        for (size_t i = from; i < to && cached == 1; i++)
            if (lineage.uses[i].kind != PYRO_RDD_COMPUTED)
                lineage.uses[count++] = lineage.uses[i];
    }
    if (count > 1)
        qsort(lineage.uses, count, sizeof(*lineage.uses), pyro_rdd_use_order);
    ret->rdds = pyro_arena_array(arena, count + 1, sizeof(*ret->rdds));
    bool done = ret->rdds != NULL;
    for (size_t from = 0, to; from < count && done; from = to) {
        for (to = from; to < count && lineage.uses[to].rdd == lineage.uses[from].rdd; to++)
            ;
        done = follow(&search, lineage.uses + from, to - from, arena, &ret->rdds[ret->count]);
        ret->count += ret->rdds[ret->count].count > 0;
    }
    pyro_vec_done(&search.tasks, arena->allocator);
    return done;
}
