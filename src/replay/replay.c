#include "replay/replay.h"

#include <math.h>

#include "replay/edits.h"
#include "replay/losses.h"

/* A replay of the unchanged run that is off by more says nothing of a changed one. */
#define SOUND_SHARE 0.03
#define SOUND_MS    1000.0

void pyro_replay_free(struct pyro_replay *replay)
{
    if (!replay)
        return;
    const struct pyro_allocator *allocator = replay->allocator;
    for (uint32_t i = 0; replay->groups && i < replay->group_count; i++)
        pyro_release(allocator, replay->groups[i].ready);
    void *const parts[] = {replay->executors,    replay->groups,       replay->stage_states,    replay->job_states,
                           replay->stage_edits,  replay->job_gaps,     replay->executor_states, replay->job_tails,
                           replay->job_windows,  replay->pool_running, replay->retry_next,      replay->run_done,
                           replay->events.items, replay->turns.items,  replay->running.items,   replay->together.items};
    void *const shared[] = {replay->runs,      replay->fetch_us,    replay->run_of_task,
                            replay->first_run, replay->stages,      replay->stage_of_row,
                            replay->jobs,      replay->lists.items, replay->by_last_stage};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        pyro_release(allocator, parts[i]);
    for (size_t i = 0; !replay->forked && i < sizeof(shared) / sizeof(shared[0]); i++)
        pyro_release(allocator, shared[i]);
    pyro_release(allocator, replay);
}

static bool make_states(struct pyro_replay *replay)
{
    const struct pyro_app *app = replay->app;
    replay->stage_states = pyro_scratch(app, replay->stage_count, sizeof(*replay->stage_states));
    replay->job_states = pyro_scratch(app, replay->job_count, sizeof(*replay->job_states));
    replay->executor_states = pyro_scratch(app, replay->executor_count, sizeof(*replay->executor_states));
    replay->job_gaps = pyro_scratch(app, replay->job_count, sizeof(*replay->job_gaps));
    replay->job_tails = pyro_scratch(app, replay->job_count, sizeof(*replay->job_tails));
    replay->pool_running = pyro_scratch(app, replay->pool_count, sizeof(*replay->pool_running));
    replay->run_done = pyro_scratch(app, replay->run_count, 1);
    return replay->stage_states && replay->job_states && replay->executor_states && replay->job_gaps &&
           replay->job_tails && replay->pool_running && replay->run_done;
}

static struct pyro_replay_result result_of(const struct pyro_replay *replay)
{
    int64_t wall = replay->job_count + replay->stage_count > 0 ? replay_later(replay->last, replay->tail_now)
                                                               : replay_us((int64_t)replay->window.length);
    struct pyro_replay_result result = {.wall_ms = (wall + 500) / 1000, .busy_ms = replay->busy / 1000};
    __int128 core = 0;
    for (uint32_t i = 0; replay->allocation && i < replay->executor_count; i++)
        if (replay->executor_states[i].alive && wall > replay->executor_states[i].since)
            core += (__int128)(wall - replay->executor_states[i].since) * replay->executors[i].cores;
    core += replay->allocation ? replay->allocating.core : 0;
    result.executors = replay->allocation ? replay->allocating.most_alive : 0;
    for (uint32_t i = 0; !replay->allocation && i < replay->executor_count; i++) {
        const struct replay_executor *executor = &replay->executors[i];
        int64_t to = executor->removed < wall ? executor->removed : wall;
        if (to > executor->added)
            core += (__int128)(to - executor->added) * executor->cores;
    }
    result.short_of_slots = replay->short_stage != REPLAY_NOBODY;
    result.short_stage = result.short_of_slots ? replay->stages[replay->short_stage].row : 0;
    core /= 1000;
    result.core_ms = core > INT64_MAX ? INT64_MAX : (int64_t)core;
    /* A slot may get its next task before the driver knows of the end of the last one: not used twice for that. */
    if (result.core_ms > 0 && result.busy_ms > result.core_ms)
        result.busy_ms = result.core_ms;
    result.utilization = result.core_ms > 0 ? (double)result.busy_ms / (double)result.core_ms : (double)NAN;
    return result;
}

enum pyro_status pyro_replay_new(const struct pyro_app *app, struct pyro_replay **ret, struct pyro_error *error)
{
    if (!app || !ret || !app->sealed)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a replay needs a sealed application");
    struct pyro_replay *replay = pyro_scratch(app, 1, sizeof(*replay));
    if (!replay)
        return pyro_no_memory(error);
    replay->app = app;
    replay->allocator = app->allocator;
    replay->window = pyro_app_window(app);
    struct replay_undo undo = {0};
    bool done = app->tasks.count < UINT32_MAX && pyro_replay_take_graph(replay) && pyro_replay_take_tasks(replay) &&
                pyro_replay_take_executors(replay) && make_states(replay);
    if (done) {
        pyro_replay_apply(replay, &undo, NULL, 0);
        done = pyro_replay_estimate(replay) && pyro_replay_go(replay);
    }
    if (!done) {
        pyro_replay_free(replay);
        return pyro_no_memory(error);
    }
    replay->base = result_of(replay);
    for (uint32_t j = 0; j < replay->job_count; j++) {
        int64_t off = replay->job_states[j].end - replay->jobs[j].to;
        off = off < 0 ? -off : off;
        replay->worst_job = off > replay->worst_job ? off : replay->worst_job;
    }
    for (uint32_t i = 0; i < replay->stage_count; i++) {
        const struct replay_stage_state *state = &replay->stage_states[i];
        int64_t off = (replay->stages[i].to - replay->stages[i].from) - (state->end - state->start);
        if (state->done && (off < 0 ? -off : off) > (replay->worst_off < 0 ? -replay->worst_off : replay->worst_off)) {
            replay->worst_off = off;
            replay->worst_stage = i;
        }
    }
    *ret = replay;
    return PYRO_OK;
}

/* A copy of `count` items, or NULL. */
static void *copy_of(const struct pyro_app *app, const void *items, size_t count, size_t size)
{
    void *copy = pyro_scratch(app, count, size);
    if (copy && count > 0)
        memcpy(copy, items, count * size);
    return copy;
}

/* What runs and their edits change is copied, the rest shared. */
void pyro_replay_stop_by(struct pyro_replay *replay, const struct pyro_stop *stop)
{
    replay->stop = stop;
}

enum pyro_status pyro_replay_fork(const struct pyro_replay *replay, struct pyro_replay **ret, struct pyro_error *error)
{
    const struct pyro_app *app = replay->app;
    struct pyro_replay *fork = pyro_scratch(app, 1, sizeof(*fork));
    if (!fork)
        return pyro_no_memory(error);
    *fork = *replay;
    fork->forked = true;
    fork->stage_edits = NULL;
    fork->job_windows = NULL;
    fork->events.items = NULL;
    fork->allocation = NULL;
    fork->losing = NULL;
    fork->allocating = (struct replay_allocating){0};
    fork->running.items = NULL;
    fork->turns.items = NULL;
    fork->together.items = NULL;
    fork->together.count = fork->together.capacity = 0;
    fork->turns.count = fork->turns.capacity = 0;
    fork->events.count = fork->events.capacity = fork->running.count = fork->running.capacity = 0;
    fork->retry_next = NULL;
    fork->run_edits = NULL;
    fork->executors = copy_of(app, replay->executors, replay->executor_count, sizeof(*fork->executors));
    fork->groups = copy_of(app, replay->groups, replay->group_count, sizeof(*fork->groups));
    bool done = true;
    for (uint32_t i = 0; fork->groups && i < fork->group_count; i++) {
        fork->groups[i].ready = pyro_scratch(app, fork->stage_count, sizeof(uint32_t));
        done = done && fork->groups[i].ready;
    }
    if (!make_states(fork) || !done || !fork->executors || !fork->groups) {
        pyro_replay_free(fork);
        return pyro_no_memory(error);
    }
    *ret = fork;
    return PYRO_OK;
}

struct pyro_replay_result pyro_replay_base(const struct pyro_replay *replay)
{
    return replay->base;
}

struct pyro_replay_check pyro_replay_check(const struct pyro_replay *replay)
{
    struct pyro_replay_check check = {
        .measured_ms = (int64_t)replay->window.length, .replayed_ms = replay->base.wall_ms, .error_share = (double)NAN};
    if (check.measured_ms > 0)
        check.error_share = fabs((double)check.replayed_ms - (double)check.measured_ms) / (double)check.measured_ms;
    check.worst_job_ms = (replay->worst_job + 500) / 1000;
    check.worst_stage = replay->stage_count > 0 ? replay->stages[replay->worst_stage].row : 0;
    check.worst_stage_ms = replay->worst_off / 1000;
    return check;
}

bool pyro_replay_is_sound(const struct pyro_replay_check *check)
{
    double off_ms = fabs((double)check->replayed_ms - (double)check->measured_ms);
    return off_ms < SOUND_MS || check->error_share <= SOUND_SHARE;
}

/* Other executors than the log's, for one run. */
struct other_executors {
    struct replay_executor *executors;
    struct replay_executor_state *states;
    uint32_t count;
};

static void swap_executors(struct pyro_replay *replay, struct other_executors *other)
{
    struct other_executors mine = {replay->executors, replay->executor_states, replay->executor_count};
    replay->executors = other->executors;
    replay->executor_states = other->states;
    replay->executor_count = other->count;
    *other = mine;
    replay->others = !replay->others;
}

static bool make_executors(const struct pyro_replay *replay, const struct pyro_replay_change *change,
                           struct other_executors *ret)
{
    const struct pyro_replay_allocation *allocation = change->allocation;
    const struct pyro_replay_executor any = {.removed_ms = PYRO_NONE,
                                             .cores = allocation ? allocation->cores : 0,
                                             .resource_profile = allocation ? allocation->resource_profile : 0};
    size_t count = allocation ? pyro_replay_allocation_room(replay, allocation) : change->executor_count;
    if (count >= REPLAY_NOBODY)
        return false;
    ret->executors = pyro_scratch(replay->app, count, sizeof(*ret->executors));
    ret->states = pyro_scratch(replay->app, count, sizeof(*ret->states));
    if (!ret->executors || !ret->states)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct pyro_replay_executor *executor = allocation ? &any : &change->executors[i];
        struct replay_executor *mine = &ret->executors[i];
        mine->added = replay_us(executor->added_ms);
        mine->removed = executor->removed_ms == PYRO_NONE ? REPLAY_TIME_MAX : replay_us(executor->removed_ms);
        mine->lost = executor->lost && executor->removed_ms != PYRO_NONE;
        mine->keeps_output = executor->keeps_output;
        mine->drain = replay_us(executor->drain_ms);
        mine->cores = executor->cores < 0 ? 0 : executor->cores > INT32_MAX ? INT32_MAX : executor->cores;
        mine->slots = pyro_slots_of(replay->app, executor->resource_profile, executor->resource_profile, mine->cores,
                                    PYRO_SLICE_NULL)
                          .count;
        mine->last_stage = REPLAY_NOBODY;
        for (uint32_t g = 0; g < replay->group_count; g++)
            if (replay->groups[g].profile == executor->resource_profile)
                mine->group = g;
    }
    ret->count = (uint32_t)count;
    return true;
}

static bool has_losses(const struct pyro_replay *replay)
{
    for (uint32_t i = 0; i < replay->executor_count; i++)
        if (replay->executors[i].lost)
            return true;
    return false;
}

static void fill_jobs(const struct pyro_replay *replay, struct pyro_replay_span *jobs)
{
    for (size_t i = 0; i < replay->app->jobs.count; i++)
        jobs[i] = (struct pyro_replay_span){-1, -1};
    for (uint32_t j = 0; j < replay->job_count; j++)
        jobs[replay->jobs[j].row] = (struct pyro_replay_span){(replay->job_states[j].start + 500) / 1000,
                                                              (replay->job_states[j].end + 500) / 1000};
}

enum pyro_status pyro_replay_run(struct pyro_replay *replay, const struct pyro_replay_change *change,
                                 struct pyro_replay_result *ret, struct pyro_error *error)
{
    static const struct pyro_replay_change unchanged = {0};
    struct replay_undo undo = {0};
    struct other_executors other = {0};
    change = change ? change : &unchanged;
    replay->no_memory = replay->stopped = false;
    bool others = change->executors || change->allocation, fair = replay->fair;
    bool swapped = others && make_executors(replay, change, &other);
    bool done = swapped || !others;
    if (swapped)
        swap_executors(replay, &other);
    pyro_replay_apply(replay, &undo, change->edits, change->edit_count);
    replay->spread = change->spread;
    replay->seed = change->seed;
    replay->endless = change->endless && others;
    replay->first_ms = change->first_ms;
    replay->cold_ms = change->cold_ms;
    replay->locality = change->locality;
    replay->allocation = change->allocation;
    replay->fair = change->other_mode ? change->fair : fair;
    done = done && (!swapped || !has_losses(replay) || pyro_replay_losses_new(replay));
    done = done && !replay->no_memory && pyro_replay_go(replay);
    replay->spread = NULL;
    replay->first_ms = NULL;
    replay->locality = NULL;
    replay->endless = false;
    replay->fair = fair;
    if (done) {
        *ret = result_of(replay);
        ret->damage = replay->losing ? replay->losing->damage : (struct pyro_replay_damage){0};
        if (change->jobs)
            fill_jobs(replay, change->jobs);
    }
    pyro_replay_losses_free(replay);
    pyro_replay_undo(replay, &undo);
    replay->allocation = NULL;
    pyro_release(replay->allocator, replay->allocating.vacant);
    pyro_release(replay->allocator, replay->allocating.expired);
    replay->allocating.vacant = replay->allocating.expired = NULL;
    if (swapped)
        swap_executors(replay, &other);
    pyro_release(replay->allocator, other.executors);
    pyro_release(replay->allocator, other.states);
    if (replay->stopped)
        return pyro_error_set(error, PYRO_ERROR_CANCELLED, "stopped");
    return done ? PYRO_OK : pyro_no_memory(error);
}
