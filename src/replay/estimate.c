/* What the log does not say: how long the driver takes to start and end a stage, and how soon a slot gets its next
 * task.
 *
 * Both are estimated for the whole run, from stages' lengths: what a replay without them leaves over of stages that ran
 * alone. Three numbers for one run, however many stages it has, so that a wrong model would show. */
#include <math.h>

#include "replay/replaying.h"

#include "base/numbers/order.h"

/* Beyond this something else happened in a stage than starting it. */
#define START_MAX_US 500000
/* The first stage of a run finds a cold driver, and one more time there is nothing to compare with. */
#define FIRST_START_MAX_US 10000000
/* Where tasks of it failed the rest of it has more reasons. */
#define FIRST_START_FAILED_MAX_US 1000000
/* From an executor's registration to its first offer of slots, where no stage waited for one: as recorded runs show. */
#define EXECUTOR_START_US     400000
#define EXECUTOR_START_MAX_US 2000000
/* Least waves of tasks, and tasks, with which the time between tasks outweighs that of starting the stage. */
#define WAVES_MIN 4
#define TASKS_MIN 64
/* Time between two tasks of a slot; below 0 a result is still being handled while the slot works again. */
#define DISPATCH_MAX_US 100000

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Whether stages ran while no other did: bit i of `alone`. */
static void find_alone(const struct pyro_replay *replay, unsigned char *alone)
{
    int64_t last = -1;
    for (uint32_t i = 0; i < replay->stage_count; i++) {
        const struct replay_stage *stage = &replay->stages[i];
        alone[i] = stage->from >= last && (i + 1 == replay->stage_count || replay->stages[i + 1].from >= stage->to);
        last = stage->to > last ? stage->to : last;
    }
}

static bool is_whole(const struct pyro_replay *replay, uint32_t number)
{
    const struct pyro_stage *stage = &replay->app->stages.items[replay->stages[number].row];
    return stage->completed_ms != PYRO_NONE && stage->failed_tasks == 0 && stage->killed_tasks == 0 &&
           replay->stages[number].partitions > 0 && replay->stage_states[number].slots > 0;
}

static int64_t left_over(const struct pyro_replay *replay, uint32_t number)
{
    const struct replay_stage *stage = &replay->stages[number];
    const struct replay_stage_state *state = &replay->stage_states[number];
    return (stage->to - stage->from) - (state->end - state->start);
}

static bool has_many_waves(const struct pyro_replay *replay, uint32_t number)
{
    return replay->stages[number].partitions >= TASKS_MIN &&
           replay->stages[number].partitions / WAVES_MIN >= replay->stage_states[number].slots;
}

static void estimate_start(struct pyro_replay *replay, const unsigned char *alone)
{
    int64_t sum = 0, count = 0;
    for (uint32_t i = 1; i < replay->stage_count; i++) {
        if (!alone[i] || !is_whole(replay, i) || has_many_waves(replay, i))
            continue;
        sum += clamp(left_over(replay, i), -START_MAX_US, START_MAX_US);
        count++;
    }
    replay->stage_start = count > 0 && sum > 0 ? sum / count : 0;
    replay->first_start = replay->stage_start;
    if (replay->stage_count == 0 || has_many_waves(replay, 0) || replay->stage_states[0].slots == 0)
        return;
    int64_t most = is_whole(replay, 0) ? FIRST_START_MAX_US : FIRST_START_FAILED_MAX_US;
    replay->first_start = clamp(left_over(replay, 0), replay->stage_start, most);
}

/* Stages that waited for executors: what is left over of them is the executors' start. */
static void estimate_executors(struct pyro_replay *replay)
{
    int64_t sum = 0, count = 0;
    bool waits = false;
    for (uint32_t i = 0; i < replay->stage_count; i++) {
        const struct pyro_stage *stage = &replay->app->stages.items[replay->stages[i].row];
        if (replay->stage_states[i].slots > 0 || replay->stages[i].partitions == 0 ||
            stage->completed_ms == PYRO_NONE || stage->failed_tasks > 0)
            continue;
        sum += clamp(left_over(replay, i), 0, EXECUTOR_START_MAX_US);
        count++;
    }
    for (uint32_t i = 0; i < replay->executor_count; i++)
        waits = waits || replay->executors[i].added > 0;
    replay->executor_start = count > 0 ? sum / count : waits ? EXECUTOR_START_US : 0;
}

static void estimate_dispatch(struct pyro_replay *replay, const unsigned char *alone)
{
    __int128 sum = 0;
    int64_t tasks = 0;
    for (uint32_t i = 0; i < replay->stage_count; i++) {
        if (!alone[i] || !is_whole(replay, i) || !has_many_waves(replay, i))
            continue;
        int64_t rest = left_over(replay, i) - (i == 0 ? replay->first_start : replay->stage_start);
        sum += (__int128)rest * replay->stage_states[i].slots;
        tasks += replay->stages[i].partitions;
    }
    __int128 mean = tasks > 0 ? sum / tasks : 0;
    replay->dispatch = mean < -DISPATCH_MAX_US  ? -DISPATCH_MAX_US
                       : mean > DISPATCH_MAX_US ? DISPATCH_MAX_US
                                                : (int64_t)mean;
}

/* How far the jobs' ends are from the recorded ones, all together. */
static int64_t distance(const struct pyro_replay *replay)
{
    int64_t sum = 0;
    for (uint32_t j = 0; j < replay->job_count; j++) {
        int64_t off = replay->job_states[j].end - replay->jobs[j].to;
        sum = pyro_add_saturating(sum, off < 0 ? -off : off);
    }
    return sum;
}

static int64_t distance_of(const struct pyro_replay *replay, uint32_t number)
{
    int64_t rest = left_over(replay, number);
    return rest < 0 ? -rest : rest;
}

/* Which of the stages that may have waited for locality did: those whose length a replay with waiting tells better. */
static bool choose_waiting(struct pyro_replay *replay)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < replay->stage_count; i++)
        any += replay->stages[i].locality_wait > 0;
    if (any == 0)
        return true;
    int64_t *without = pyro_scratch(replay->app, replay->stage_count, sizeof(*without));
    if (!without)
        return false;
    for (uint32_t i = 0; i < replay->stage_count; i++) {
        without[i] = distance_of(replay, i);
        replay->stages[i].waits = replay->stages[i].locality_wait > 0;
    }
    bool done = pyro_replay_go(replay);
    for (uint32_t i = 0; i < replay->stage_count; i++)
        replay->stages[i].waits = replay->stages[i].waits && distance_of(replay, i) < without[i];
    pyro_release(replay->allocator, without);
    return done && pyro_replay_go(replay);
}

bool pyro_replay_estimate(struct pyro_replay *replay)
{
    unsigned char *alone = pyro_scratch(replay->app, replay->stage_count, 1);
    if (!alone || !pyro_replay_go(replay)) {
        pyro_release(replay->allocator, alone);
        return false;
    }
    /* The log does not have the file that says how task sets of one pool share it. */
    if (replay->fair) {
        int64_t fifo = distance(replay);
        replay->fair_inside = true;
        bool done = pyro_replay_go(replay);
        if (done && distance(replay) >= fifo) {
            replay->fair_inside = false;
            done = pyro_replay_go(replay);
        }
        if (!done) {
            pyro_release(replay->allocator, alone);
            return false;
        }
    }
    if (!choose_waiting(replay)) {
        pyro_release(replay->allocator, alone);
        return false;
    }
    estimate_executors(replay);
    find_alone(replay, alone);
    estimate_start(replay, alone);
    estimate_dispatch(replay, alone);
    pyro_release(replay->allocator, alone);
    return true;
}

/* The median time of a stage's tasks that ran away from their data, or of those that did not; -1: there is none. */
static double median_us(const struct pyro_replay *replay, const struct replay_stage *stage, bool away, double *values,
                        size_t *ret_count)
{
    size_t count = 0;
    for (uint32_t i = stage->runs.first; i < stage->runs.first + stage->runs.count; i++) {
        const struct replay_run *run = &replay->runs[i];
        bool is_away = (run->flags & (REPLAY_RUN_WAITS | REPLAY_RUN_PINNED)) == REPLAY_RUN_WAITS;
        if (run->flags & REPLAY_RUN_HEAD && run->flags & REPLAY_RUN_SUCCESS && is_away == away)
            values[count++] = (double)run->us;
    }
    *ret_count = count;
    return count > 0 ? pyro_median(values, count) : -1;
}

enum pyro_status pyro_replay_waits(const struct pyro_replay *replay, struct pyro_replay_waits *ret,
                                   struct pyro_error *error)
{
    size_t largest = 0, ratios_count = 0;
    for (uint32_t i = 0; i < replay->stage_count; i++)
        largest = replay->stages[i].runs.count > largest ? replay->stages[i].runs.count : largest;
    double *values = pyro_scratch(replay->app, largest, sizeof(*values));
    double *ratios = pyro_scratch(replay->app, replay->stage_count, sizeof(*ratios));
    *ret = (struct pyro_replay_waits){.farther = (double)NAN};
    for (uint32_t i = 0; values && ratios && i < replay->stage_count; i++) {
        const struct replay_stage *stage = &replay->stages[i];
        size_t away, near;
        ret->unsure += !stage->waits && stage->far > stage->near;
        if (!stage->waits)
            continue;
        double far_us = median_us(replay, stage, true, values, &away),
               near_us = median_us(replay, stage, false, values, &near);
        ret->stages++;
        ret->tasks += away;
        ret->task_ms = pyro_add_saturating(ret->task_ms, replay->app->stages.items[stage->row].task_ms);
        if (far_us >= 0 && near_us > 0)
            ratios[ratios_count++] = far_us / near_us;
    }
    if (values && ratios && ratios_count > 0)
        ret->farther = pyro_median(ratios, ratios_count);
    bool done = values && ratios;
    pyro_release(replay->allocator, values);
    pyro_release(replay->allocator, ratios);
    return done ? PYRO_OK : pyro_no_memory(error);
}
