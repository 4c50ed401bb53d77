/* Cached blocks: how many have room in the executors of a scenario, and what the others cost.
 *
 * A block that has no room is computed again by every task that looks for it, or read from disk where its level says
 * so. Spark does not make room for a block by evicting another one of the same RDD: it is always the same ones that
 * stay. Which tasks of the run found their block, and what it took them without, analyze/memory/cached_blocks.h says.
 */
#include <math.h>

#include "analyze/app_facts.h"
#include "analyze/memory/cached_blocks.h"
#include "analyze/scratch.h"
#include "predict/cut_tasks.h"

/* Of a heap, what Spark leaves to itself and to the user's objects before spark.memory.fraction is taken. */
#define RESERVED_BYTES (300.0 * 1024 * 1024)
/* Shares of blocks without room that differ by less are the same. */
#define SAME_SHARE 0.005
/* What is stored when the last block that has room was stored: the next one did not fit. */
#define FULL 0.97
/* Of the memory for storage and execution what blocks get, where the run shows no lack of it: tasks need it at other
 * times, or spill. */
#define STORAGE_PART 0.9
/* Of the changed part of the time in tasks. */
#define DOUBT 0.35

/* Executors' own peaks: the largest one, and their sum. */
static void take_stored(struct pyro_predicted_run *run)
{
    for (size_t i = 0; i < run->app->executors.count; i++) {
        const struct pyro_executor *row = &run->app->executors.items[i];
        double own = pyro_real(row->storage_peak_bytes);
        run->stored_most = fmax(run->stored_most, own);
        run->stored_all += own;
    }
}

/* Where in its stage each task of the log is. */
static uint32_t *places_of(const struct pyro_predicted_run *run)
{
    uint32_t *places = pyro_scratch(run->app, run->app->tasks.count, sizeof(*places));
    for (size_t i = 0; places && i < run->app->tasks.count; i++)
        places[i] = UINT32_MAX;
    for (size_t s = 0; places && s < run->app->stages.count; s++)
        for (uint32_t i = 0; i < run->stages[s].count; i++)
            places[run->tasks[run->stages[s].first + i].row] = i;
    return places;
}

static bool keep(struct pyro_predicted_run *run, const struct pyro_cached_blocks *blocks)
{
    const struct pyro_app *app = run->app;
    size_t count = 0;
    for (size_t i = 0; i < blocks->count; i++)
        count += blocks->rdds[i].count;
    uint32_t *places = count > 0 ? places_of(run) : NULL;
    run->cached = count > 0 ? pyro_scratch(app, count, sizeof(*run->cached)) : NULL;
    if (count == 0)
        return true;
    for (size_t i = 0; places && run->cached && i < blocks->count; i++) {
        const struct pyro_cached_rdd *rdd = &blocks->rdds[i];
        bool disk = pyro_slice_find(app->rdds.items[rdd->rdd].level, "DISK") != NULL;
        run->cached_blocks += rdd->count > 0 ? (size_t)app->rdds.items[rdd->rdd].partitions : 0;
        for (size_t k = 0; k < rdd->count; k++) {
            const struct pyro_block_task *task = &rdd->tasks[k];
            if (places[task->task] == UINT32_MAX)
                continue;
            run->cached_missed += !task->found;
            run->cached[run->cached_count++] = (struct pyro_cached_task){
                .stage = (uint32_t)task->stage,
                .place = places[task->task],
                .found = task->found,
                .disk = disk,
                .found_ms = (float)task->found_ms,
                .missed_ms = (float)task->missed_ms,
                .bytes = (float)pyro_real(pyro_task_get(&app->tasks, PYRO_TASK_input_bytes, task->task))};
        }
    }
    bool done = places && run->cached;
    pyro_release(app->allocator, places);
    return done;
}

bool pyro_predict_take_cached(struct pyro_predicted_run *run)
{
    struct pyro_arena arena;
    struct pyro_cached_blocks blocks;
    pyro_arena_init(&arena, run->app->allocator);
    bool done = pyro_cached_blocks_find(run->app, PYRO_SAME_BYTES, &arena, &blocks) && keep(run, &blocks);
    pyro_arena_done(&arena);
    take_stored(run);
    return done;
}

static double usable(double heap, double fraction)
{
    return fmax(heap - RESERVED_BYTES, 0) * fraction;
}

/* Bytes that all blocks need. Where none had room, each needed more than storage ever held for one task. */
static double needed(const struct pyro_predicted_run *run, double share)
{
    double slots = fmax((double)run->cores, 1);
    if (share >= 1 - SAME_SHARE)
        return run->stored_most / slots * (double)run->cached_blocks;
    return run->stored_all / (1 - share) / (share > SAME_SHARE ? FULL : 1);
}

/* The share of blocks that has no room in the scenario, where storage gets `part` of the memory for it that tasks do
 * not need. */
static double share_without_room(const struct pyro_predict_change *change, double share, double part)
{
    const struct pyro_predicted_run *run = change->run;
    const struct pyro_scenario *scenario = change->scenario;
    double was = usable((double)run->memory_bytes, pyro_run_setting(run->app, PYRO_PREDICTED_FRACTION));
    double now = usable((double)scenario->memory_bytes, pyro_scenario_setting(change, PYRO_PREDICTED_FRACTION));
    double kept = pyro_scenario_setting(change, PYRO_PREDICTED_STORAGE_FRACTION);
    double tasks = fmax((double)scenario->cores_per_executor / fmax((double)run->cores, 1), 1);
    /* Where some blocks had no room, what they did not get was needed for something else. */
    bool some = share > SAME_SHARE && share < 1 - SAME_SHARE;
    double each = some ? now - fmax(was - run->stored_most, 0) * tasks : part * now;
    each = fmin(fmax(each, kept * now), now);
    double need = needed(run, share), room = each * (double)scenario->executors;
    return need > 0 ? fmin(fmax(1 - room / need, 0), 1) : share;
}

/* Whether the scenario gives blocks other room. */
static bool is_about_room(const struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    const struct pyro_scenario *scenario = change->scenario;
    return scenario->memory_bytes != run->memory_bytes || scenario->executors != run->executors ||
           scenario->cores_per_executor != run->cores || pyro_asks(change, PYRO_PREDICTED_FRACTION) ||
           pyro_asks(change, PYRO_PREDICTED_STORAGE_FRACTION);
}

/* Changes one task's time; returns by how much, ms. `was`, `now`: shares of blocks without room. */
static double change_task(struct pyro_predict_change *change, const struct pyro_cached_task *task, double was,
                          double now)
{
    struct pyro_scenario_tasks *tasks = pyro_change_tasks(change, task->stage);
    double less = (double)task->missed_ms - (double)task->found_ms, by = 0;
    if (!tasks || tasks->recut || task->place >= tasks->count)
        return 0;
    if (now < was && !task->found)
        by = -less * (1 - now / was);
    else if (now > was && task->found)
        by = (task->disk ? (double)task->bytes / change->run->constants[PYRO_CONSTANT_DISK_BYTES_A_MS] : less) *
             (now - was) / fmax(1 - was, 0.01);
    double before = tasks->ms[task->place];
    tasks->ms[task->place] = fmax(before + by, fmin(before, pyro_fixed_ms(change, task->stage)));
    return tasks->ms[task->place] - before;
}

/* What all tasks that look for blocks take longer without them. */
static double missed_ms(const struct pyro_predicted_run *run)
{
    double ms = 0;
    for (size_t i = 0; i < run->cached_count; i++)
        ms += (double)run->cached[i].missed_ms - (double)run->cached[i].found_ms;
    return ms;
}

void pyro_model_cache(struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    bool asked = pyro_asks(change, PYRO_PREDICTED_STORAGE_FRACTION);
    if (!run->stages || run->cached_count == 0 || !(run->stored_all > 0) || !is_about_room(change)) {
        if (asked)
            pyro_effect(change, PYRO_MODEL_cache, 0, 0,
                        run->cached_count == 0 ? "no task looked for a cached block"
                                               : "unchanged, or the log does not say what was stored");
        return;
    }
    double was = (double)run->cached_missed / (double)run->cached_count,
           now = share_without_room(change, was, STORAGE_PART), worst = share_without_room(change, was, 0);
    double risk = fmax(worst - now, 0) * missed_ms(run) / fmax((double)run->app->numbers.task_ms, 1);
    if (fabs(now - was) <= SAME_SHARE) {
        pyro_effect(change, PYRO_MODEL_cache, 0, now >= was ? risk : 0,
                    "%.0f %% of cached blocks have no room, as in the run", 100 * was);
        return;
    }
    double less = 0, more = 0, task_ms = fmax((double)run->app->numbers.task_ms, 1);
    for (size_t i = 0; i < run->cached_count && !change->failed; i++) {
        double by = change_task(change, &run->cached[i], was, now);
        *(by < 0 ? &less : &more) += fabs(by);
    }
    double doubt = DOUBT * (less + more) / task_ms;
    pyro_effect(change, PYRO_MODEL_cache, doubt, doubt + risk,
                "%.0f %% of cached blocks have no room instead of %.0f %%: tasks that look for them take %.1f s %s",
                100 * now, 100 * was, (less + more) / 1000, less > 0 ? "less" : "more");
}
