/* Dynamic allocation: executors come when tasks wait and go when they are idle, as Spark's ExecutorAllocationManager
 * and ExecutorMonitor decide it. Their clock of 100 ms is not modeled: everything happens at its time. */
#include <math.h>

#include "replay/slots.h"

/* Executors at once, whatever is asked for. */
enum { ROOM_MAX = 100000 };

static int64_t slots_of(const struct pyro_replay *replay, const struct pyro_replay_allocation *allocation)
{
    int64_t profile = allocation->resource_profile;
    int64_t slots = pyro_slots_of(replay->app, profile, profile, allocation->cores, PYRO_SLICE_NULL).count;
    return slots > 0 ? slots : 1;
}

uint32_t pyro_replay_allocation_room(const struct pyro_replay *replay, const struct pyro_replay_allocation *allocation)
{
    int64_t tasks = 0, most = allocation->most;
    for (uint32_t i = 0; i < replay->stage_count; i++)
        tasks += replay->stages[i].runs.count;
    int64_t useful = tasks / slots_of(replay, allocation) + 1 + allocation->initial + PYRO_REPLAY_PARTITIONS;
    most = most < useful ? most : useful;
    most = most > allocation->initial ? most : allocation->initial;
    return (uint32_t)(most < 1 ? 1 : most > ROOM_MAX ? ROOM_MAX : most);
}

bool pyro_replay_allocation_begin(struct pyro_replay *replay)
{
    const struct pyro_replay_allocation *allocation = replay->allocation;
    struct replay_allocating *state = &replay->allocating;
    uint32_t *vacant = state->vacant, *expired = state->expired;
    *state = (struct replay_allocating){.target = allocation->initial, .add = 1, .due = -1};
    state->vacant = vacant ? vacant : pyro_scratch(replay->app, replay->executor_count, sizeof(*vacant));
    state->expired = expired ? expired : pyro_scratch(replay->app, replay->executor_count, sizeof(*expired));
    if (!state->vacant || !state->expired)
        return false;
    for (uint32_t i = replay->executor_count; i-- > 0;)
        state->vacant[state->vacant_count++] = i;
    for (int64_t i = 0; i < allocation->initial && state->vacant_count > 0; i++) {
        state->coming++;
        pyro_replay_push(replay, replay_later(replay_us(allocation->first_ms), replay->executor_start),
                         REPLAY_EXECUTOR_ADDED, state->vacant[--state->vacant_count]);
    }
    return true;
}

/* Tasks that wait for a slot. Second attempts are counted as one a stage. */
static int64_t waiting(const struct pyro_replay *replay)
{
    int64_t tasks = 0;
    for (uint32_t g = 0; g < replay->group_count; g++) {
        const struct replay_group *group = &replay->groups[g];
        for (uint32_t i = 0; i < group->ready_count; i++) {
            const struct replay_stage_state *stage = &replay->stage_states[group->ready[i]];
            uint32_t all = replay_tasks(replay, group->ready[i]);
            if (!stage->done)
                tasks += (all > stage->cursor ? all - stage->cursor : 0) + (stage->retry_first != REPLAY_NOBODY);
        }
    }
    for (size_t i = 0; i < replay->together.count; i++)
        tasks += replay_tasks(replay, replay->together.items[i]);
    return tasks;
}

static void let_go(struct pyro_replay *replay, uint32_t number)
{
    struct replay_executor_state *executor = &replay->executor_states[number];
    struct replay_allocating *state = &replay->allocating;
    int64_t to = replay->now, end = replay_later(replay->last, replay->tail_now);
    if (replay->jobs_left == 0 && to > end) /* the application's end took it */
        to = end > executor->since ? end : executor->since;
    state->core += (__int128)(to - executor->since) * replay->executors[number].cores;
    state->alive--;
    executor->alive = false;
    replay->groups[replay->executors[number].group].slots -= replay->executors[number].slots;
    replay->groups[replay->executors[number].group].free -= executor->free;
    state->vacant[state->vacant_count++] = number;
}

static bool may_go(const struct pyro_replay *replay)
{
    const struct replay_allocating *state = &replay->allocating;
    int64_t left = state->alive + state->coming - 1;
    return left >= replay->allocation->least && left >= state->target;
}

static void let_expired_go(struct pyro_replay *replay)
{
    struct replay_allocating *state = &replay->allocating;
    while (state->expired_count > 0 && may_go(replay)) {
        uint32_t number = state->expired[--state->expired_count];
        struct replay_executor_state *executor = &replay->executor_states[number];
        bool still = executor->expired && executor->alive && executor->busy == 0;
        executor->expired = false;
        if (still)
            let_go(replay, number);
    }
}

/* Executors that all tasks at once would take; the target falls to that, but not before the first stage. */
static int64_t lower_target(struct pyro_replay *replay)
{
    const struct pyro_replay_allocation *allocation = replay->allocation;
    struct replay_allocating *state = &replay->allocating;
    double slots = (double)slots_of(replay, allocation);
    int64_t needed = (int64_t)ceil((double)(state->running + waiting(replay)) * allocation->ratio / slots);
    int64_t least = needed > allocation->least ? needed : allocation->least;
    state->begun = state->begun || needed > 0;
    if (state->begun && least < state->target) {
        state->target = least;
        state->add = 1;
        let_expired_go(replay);
    }
    return needed;
}

void pyro_replay_allocation_look(struct pyro_replay *replay)
{
    struct replay_allocating *state = &replay->allocating;
    int64_t needed = lower_target(replay);
    bool wait = replay->together.count > 0;
    for (uint32_t g = 0; g < replay->group_count && !wait; g++)
        wait = pyro_replay_next_stage(replay, &replay->groups[g]) != REPLAY_NOBODY;
    if (!wait) {
        state->due = -1;
        state->add = 1;
    } else if (state->due < 0 && needed > state->target && state->target < replay->allocation->most) {
        state->due = replay_later(replay->now, replay_us(replay->allocation->backlog_ms));
        pyro_replay_push(replay, state->due, REPLAY_ALLOCATE, 0);
    }
}

void pyro_replay_allocation_ask(struct pyro_replay *replay)
{
    const struct pyro_replay_allocation *allocation = replay->allocation;
    struct replay_allocating *state = &replay->allocating;
    if (state->due != replay->now)
        return;
    int64_t needed = lower_target(replay), target = state->target, have = state->alive + state->coming;
    target = (target > have ? target : have) + state->add;
    target = target < needed ? target : needed;
    target = target > allocation->least ? target : allocation->least;
    target = target < allocation->most ? target : allocation->most;
    if (target < state->target + 1 && needed > state->target && state->target < allocation->most)
        target = state->target + 1;
    bool all = target - state->target >= state->add;
    state->add = all ? state->add < ROOM_MAX ? 2 * state->add : state->add : 1;
    state->target = target > state->target ? target : state->target;
    while (state->alive + state->coming < state->target && state->vacant_count > 0) {
        state->coming++;
        int64_t at = replay_later(replay->now, replay_us(allocation->start_ms));
        pyro_replay_push(replay, replay_later(at, replay->executor_start), REPLAY_EXECUTOR_ADDED,
                         state->vacant[--state->vacant_count]);
    }
    /* Nothing more to ask for: the next change is looked at when it comes. */
    if (state->target >= needed || state->target >= allocation->most) {
        state->due = -1;
        return;
    }
    state->due = replay_later(replay->now, replay_us(allocation->sustained_ms));
    pyro_replay_push(replay, state->due, REPLAY_ALLOCATE, 0);
}

void pyro_replay_allocation_came(struct pyro_replay *replay, uint32_t number)
{
    struct replay_executor_state *executor = &replay->executor_states[number];
    struct replay_allocating *state = &replay->allocating;
    uint32_t below = executor->below;
    bool stacked = executor->stacked;
    *executor = (struct replay_executor_state){.below = below, .stacked = stacked, .since = replay->now};
    state->coming--;
    state->alive++;
    state->most_alive = state->alive > state->most_alive ? state->alive : state->most_alive;
    pyro_replay_come(replay, number);
    pyro_replay_allocation_idle(replay, number);
}

/* It now has no task. */
void pyro_replay_allocation_idle(struct pyro_replay *replay, uint32_t number)
{
    struct replay_executor_state *executor = &replay->executor_states[number];
    int64_t ms = executor->holds_shuffle ? replay->allocation->shuffle_idle_ms : replay->allocation->idle_ms;
    executor->idle_since = replay->now;
    if (ms != PYRO_NONE)
        pyro_replay_push(replay, replay_later(replay->now, replay_us(ms)), REPLAY_EXECUTOR_IDLE, number);
}

void pyro_replay_allocation_check(struct pyro_replay *replay, uint32_t number)
{
    struct replay_executor_state *executor = &replay->executor_states[number];
    struct replay_allocating *state = &replay->allocating;
    int64_t ms = executor->holds_shuffle ? replay->allocation->shuffle_idle_ms : replay->allocation->idle_ms;
    if (!executor->alive || executor->busy > 0 || executor->expired || ms == PYRO_NONE ||
        replay->now < replay_later(executor->idle_since, replay_us(ms)))
        return;
    if (may_go(replay)) {
        let_go(replay, number);
    } else if (state->expired_count < replay->executor_count) {
        executor->expired = true;
        state->expired[state->expired_count++] = number;
    }
}
