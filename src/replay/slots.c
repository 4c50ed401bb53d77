/* Slots of executors, and which task of which stage gets the next one. */
#include "replay/losses.h"
#include "replay/times.h"

/* Of the stages that share a pool, the number that is looked at for the next one. */
enum { FAIR_LOOKED_AT = 1024 };

/* ---- executors --------------------------------------------------------------------------------------------------- */

void pyro_replay_offer(struct pyro_replay *replay, uint32_t number)
{
    struct replay_executor_state *state = &replay->executor_states[number];
    struct replay_group *group = &replay->groups[replay->executors[number].group];
    if (state->stacked || !state->alive || state->free <= 0)
        return;
    state->stacked = true;
    state->below = group->top;
    group->top = number;
}

void pyro_replay_come(struct pyro_replay *replay, uint32_t number)
{
    struct replay_executor_state *state = &replay->executor_states[number];
    if (state->alive || state->retired)
        return;
    struct replay_group *group = &replay->groups[replay->executors[number].group];
    state->alive = true;
    state->free = replay_capacity(replay, number) - state->held;
    group->slots += replay->executors[number].slots;
    group->free += state->free;
    pyro_replay_offer(replay, number);
}

/* Running tasks are let finish: those that a lost executor interrupted are in the log as failed runs. */
void pyro_replay_leave(struct pyro_replay *replay, uint32_t number)
{
    struct replay_executor_state *state = &replay->executor_states[number];
    if (replay->revived)
        return;
    state->retired = true;
    if (!state->alive)
        return;
    struct replay_group *group = &replay->groups[replay->executors[number].group];
    state->alive = false;
    group->slots -= replay->executors[number].slots;
    group->free -= state->free;
}

/* Those that have less than is needed run tasks, and are offered again when one ends. */
uint32_t pyro_replay_free_executor(struct pyro_replay *replay, struct replay_group *group, int64_t need)
{
    while (group->top != REPLAY_NOBODY) {
        struct replay_executor_state *state = &replay->executor_states[group->top];
        if (state->alive && state->free > 0 && (state->free >= need || state->held == 0))
            return group->top;
        state->stacked = false;
        group->top = state->below;
    }
    return REPLAY_NOBODY;
}

/* ---- stages with tasks to launch --------------------------------------------------------------------------------- */

/* Its place among the stages of its group. */
static void make_ready(struct pyro_replay *replay, uint32_t number)
{
    struct replay_group *group = &replay->groups[replay->stages[number].group];
    uint32_t place = group->ready_count++;
    if (!replay->fair)
        for (; place > 0 && replay->stages[number].rank < replay->stages[group->ready[(place - 1) / 2]].rank;
             place = (place - 1) / 2)
            group->ready[place] = group->ready[(place - 1) / 2];
    group->ready[place] = number;
}

void pyro_replay_queue_stage(struct pyro_replay *replay, uint32_t number)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    if (state->queued)
        return;
    state->queued = true;
    if (!replay->stages[number].barrier || state->cursor > 0 || state->retry_first != REPLAY_NOBODY) {
        make_ready(replay, number);
        return;
    }
    uint32_t *waiting = pyro_vec_push(&replay->together, replay->allocator);
    replay->no_memory |= !waiting;
    if (waiting)
        *waiting = number;
}

static void drop_stage(struct pyro_replay *replay, struct replay_group *group, uint32_t place)
{
    replay->stage_states[group->ready[place]].queued = false;
    uint32_t last = group->ready[--group->ready_count], count = group->ready_count;
    if (!replay->fair) {
        for (uint32_t child = 2 * place + 1; child < count; child = 2 * place + 1) {
            if (child + 1 < count &&
                replay->stages[group->ready[child + 1]].rank < replay->stages[group->ready[child]].rank)
                child++;
            if (replay->stages[group->ready[child]].rank >= replay->stages[last].rank)
                break;
            group->ready[place] = group->ready[child];
            place = child;
        }
    }
    group->ready[place] = last;
}

static bool has_task(struct pyro_replay *replay, uint32_t number)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    const struct replay_run *runs = &replay->runs[replay->stages[number].runs.first];
    const uint32_t passed = replay->stages[number].waits ? REPLAY_RUN_WAITS : 0;
    uint32_t count = replay_tasks(replay, number);
    if (replay->losing ? !pyro_replay_may_run(replay, number) : state->done)
        return false;
    if (state->retry_first != REPLAY_NOBODY)
        return true;
    if (!replay_is_cut(replay, number))
        while (state->cursor < count && (runs[state->cursor].flags & (REPLAY_RUN_HEAD | passed)) != REPLAY_RUN_HEAD)
            state->cursor++;
    return state->cursor < count;
}

/* FAIR: the pool with the fewest running tasks, all weights being equal; inside as `fair_inside` says. */
static bool goes_before(const struct pyro_replay *replay, uint32_t a, uint32_t b)
{
    const struct replay_stage *one = &replay->stages[a], *other = &replay->stages[b];
    uint32_t one_pool = replay->pool_running[one->pool], other_pool = replay->pool_running[other->pool];
    if (one_pool != other_pool)
        return one_pool < other_pool;
    if (one->pool != other->pool)
        return one->pool < other->pool;
    uint32_t one_runs = replay->stage_states[a].running, other_runs = replay->stage_states[b].running;
    if (replay->fair_inside && one_runs != other_runs)
        return one_runs < other_runs;
    return one->rank < other->rank;
}

/* The stage whose task comes next, or REPLAY_NOBODY. */
uint32_t pyro_replay_next_stage(struct pyro_replay *replay, struct replay_group *group)
{
    uint32_t best = REPLAY_NOBODY;
    for (uint32_t i = 0; i < group->ready_count && i < FAIR_LOOKED_AT;) {
        uint32_t number = group->ready[i];
        if (!has_task(replay, number)) {
            drop_stage(replay, group, i);
            continue;
        }
        if (!replay->fair)
            return number;
        if (best == REPLAY_NOBODY || goes_before(replay, number, best))
            best = number;
        i++;
    }
    return best;
}

/* ---- runs of tasks ----------------------------------------------------------------------------------------------- */

static uint32_t end_of(const struct pyro_replay *replay, const struct replay_stage *stage, uint32_t run)
{
    uint32_t end = run + 1, limit = stage->runs.first + stage->runs.count;
    while (end < limit && !(replay->runs[end].flags & REPLAY_RUN_HEAD))
        end++;
    return end;
}

void pyro_replay_queue_run(struct pyro_replay *replay, uint32_t number, uint32_t run)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    if (!replay->retry_next)
        replay->retry_next = pyro_scratch(replay->app, replay->run_count, sizeof(*replay->retry_next));
    if (!replay->retry_next) {
        replay->no_memory = true;
        return;
    }
    if (replay->run_done[run] & REPLAY_IN_LINE)
        return;
    replay->run_done[run] |= REPLAY_IN_LINE;
    replay->retry_next[run] = REPLAY_NOBODY;
    if (state->retry_first == REPLAY_NOBODY)
        state->retry_first = run;
    else
        replay->retry_next[state->retry_last] = run;
    state->retry_last = run;
    pyro_replay_queue_stage(replay, number);
}

static uint32_t take_run(struct pyro_replay *replay, uint32_t number)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    uint32_t run = state->retry_first;
    if (run == REPLAY_NOBODY)
        return replay->stages[number].runs.first + state->cursor++;
    state->retry_first = replay->retry_next[run];
    replay->run_done[run] &= (unsigned char)~REPLAY_IN_LINE;
    return run;
}

static uint32_t running_place(struct pyro_replay *replay)
{
    if (replay->running_free != REPLAY_NOBODY) {
        uint32_t place = replay->running_free;
        replay->running_free = replay->running.items[place].run;
        return place;
    }
    if (!pyro_vec_push(&replay->running, replay->allocator)) {
        replay->no_memory = true;
        return REPLAY_NOBODY;
    }
    return (uint32_t)replay->running.count - 1;
}

/* Other waits: away from its data a task takes `farther` times longer, and near it as much less. */
static int64_t moved_us(const struct pyro_replay *replay, uint32_t number, uint32_t executor, uint32_t run, int64_t us)
{
    const struct replay_run *row = &replay->runs[run];
    double factor = replay->locality->farther;
    bool near = !replay->stage_states[number].spread;
    if (!(row->flags & REPLAY_RUN_WAITS) || row->executor == executor || !(factor > 0))
        return us;
    bool pinned = row->flags & REPLAY_RUN_PINNED;
    double moved = pinned && !near ? (double)us * factor : !pinned && near ? (double)us / factor : (double)us;
    return moved < (double)REPLAY_TIME_MAX ? (int64_t)moved : REPLAY_TIME_MAX;
}

static void launch(struct pyro_replay *replay, uint32_t number, uint32_t executor, uint32_t run)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    const struct replay_stage *stage = &replay->stages[number];
    uint32_t place = running_place(replay);
    if (place == REPLAY_NOBODY)
        return;
    uint32_t part = run == REPLAY_NOBODY ? state->cursor - 1 : 0; /* taken just now */
    int64_t us = replay_run_us(replay, number, run, part),
            fetch = run == REPLAY_NOBODY ? 0 : replay_fetch_us(replay, run);
    if (replay->locality && run != REPLAY_NOBODY)
        us = moved_us(replay, number, executor, run, us);
    us = replay_later(us, replay_starting_us(replay, number, executor));
    int64_t slot = replay_slot_us(replay, us, fetch);
    int64_t free_at = replay_later(replay->now, slot), end = replay_later(replay->now, slot > us ? slot : us);
    replay->running.items[place] = (struct replay_running){run, number, executor, true, false, end};
    replay->busy = pyro_add_saturating(replay->busy, us);
    replay_take(replay, number, executor);
    replay->executor_states[executor].expired = false;
    replay->allocating.running++;
    replay->executor_states[executor].holds_shuffle |= stage->writes_shuffle;
    state->running++;
    replay->pool_running[stage->pool]++;
    pyro_replay_push(replay, free_at, REPLAY_TASK_ENDED, place);
    uint32_t limit = stage->runs.first + stage->runs.count;
    if (run != REPLAY_NOBODY && run + 1 < limit && replay->runs[run + 1].flags & REPLAY_RUN_COPY) {
        /* The one that lost was killed when the other ended: that is how much later it began. */
        int64_t later = replay_own_us(replay, number, run) - replay_own_us(replay, number, run + 1);
        pyro_replay_push(replay, replay_later(replay->now, later > 0 ? later : 0), REPLAY_TASK_QUEUED, run + 1);
    }
}

void pyro_replay_go_on(struct pyro_replay *replay, uint32_t stage, uint32_t run, uint32_t executor, int64_t at,
                       int64_t end)
{
    uint32_t place = running_place(replay);
    if (place == REPLAY_NOBODY)
        return;
    replay->running.items[place] = (struct replay_running){run, stage, executor, true, false, end};
    replay->allocating.running++;
    replay->stage_states[stage].running++;
    replay->pool_running[replay->stages[stage].pool]++;
    pyro_replay_push(replay, at, REPLAY_TASK_ENDED, place);
}

static void end_part(struct pyro_replay *replay, uint32_t number)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    if (state->parts_left == 0 || --state->parts_left > 0)
        return;
    if (state->done && replay->losing)
        pyro_replay_again_done(replay, number);
    else
        pyro_replay_push(replay,
                         replay_later(state->end > replay->now ? state->end : replay->now, replay->stages[number].tail),
                         REPLAY_STAGE_END, number);
}

static void end_partition(struct pyro_replay *replay, uint32_t number, uint32_t head)
{
    if (replay->run_done[head] & REPLAY_DONE)
        return;
    replay->run_done[head] |= REPLAY_DONE;
    end_part(replay, number);
}

/* The attempt behind `run` that is made, copies only with `copies`; `end` for none. */
static uint32_t attempt_behind(const struct pyro_replay *replay, uint32_t run, uint32_t end, bool copies)
{
    uint32_t next = run + 1;
    while (next < end && (replay_is_skipped(replay, next) || (!copies && replay->runs[next].flags & REPLAY_RUN_COPY)))
        next++;
    return next;
}

/* What is run in the place of an attempt: that one, the next one that no edit took out, the last one where none is
 * left, or REPLAY_NOBODY: its partition needs none. */
static uint32_t stand_in(struct pyro_replay *replay, uint32_t number, uint32_t run)
{
    if (!replay_is_skipped(replay, run))
        return run;
    uint32_t end = end_of(replay, &replay->stages[number], run);
    uint32_t next = attempt_behind(replay, run, end, false);
    next = next < end ? next : attempt_behind(replay, run, end, true);
    if (next < end)
        return next;
    if (!replay_is_gone(replay, end - 1))
        return end - 1;
    end_partition(replay, number, replay_head(replay, run));
    return REPLAY_NOBODY;
}

static void launch_next(struct pyro_replay *replay, uint32_t number, uint32_t executor)
{
    if (replay_is_cut(replay, number)) {
        replay->stage_states[number].cursor++;
        launch(replay, number, executor, REPLAY_NOBODY);
        return;
    }
    uint32_t run = take_run(replay, number);
    bool copy = replay->runs[run].flags & REPLAY_RUN_COPY;
    run = copy && replay_is_skipped(replay, run) ? REPLAY_NOBODY : stand_in(replay, number, run);
    if (run == REPLAY_NOBODY)
        return;
    uint32_t before = replay->runs[run].executor;
    if (replay_has_slot(replay, number, before) && replay->executors[before].group == replay->stages[number].group)
        executor = before;
    /* A copy whose original was faster, or a lost task whose copy was. */
    bool idle = (copy || replay->losing) && replay->run_done[replay_head(replay, run)] & REPLAY_DONE;
    if (!idle)
        launch(replay, number, executor, run);
}

/* An executor that has data of this stage and a slot. */
static uint32_t near_executor(const struct pyro_replay *replay, uint32_t number)
{
    const struct replay_stage *stage = &replay->stages[number];
    for (uint32_t i = stage->runs.first; i < stage->runs.first + stage->runs.count; i++)
        if (replay->runs[i].flags & REPLAY_RUN_PINNED && replay_has_slot(replay, number, replay->runs[i].executor))
            return replay->runs[i].executor;
    return REPLAY_NOBODY;
}

/* Tasks that waited without success and would now wait on: their data is taken to be where the other tasks' of their
 * stage is, since slots were free elsewhere. */
static void launch_near(struct pyro_replay *replay, uint32_t number)
{
    const struct replay_stage *stage = &replay->stages[number];
    for (uint32_t i = stage->runs.first; i < stage->runs.first + stage->runs.count && !replay->no_memory; i++) {
        if ((replay->runs[i].flags & (REPLAY_RUN_WAITS | REPLAY_RUN_PINNED)) != REPLAY_RUN_WAITS ||
            replay->run_done[i] & REPLAY_LAUNCHED)
            continue;
        uint32_t executor = near_executor(replay, number);
        if (executor == REPLAY_NOBODY)
            return;
        replay->run_done[i] |= REPLAY_LAUNCHED;
        uint32_t run = stand_in(replay, number, i);
        if (run != REPLAY_NOBODY)
            launch(replay, number, executor, run);
    }
}

/* Tasks whose data is with one executor go there as soon as it has a slot. */
static void launch_pinned(struct pyro_replay *replay, uint32_t number)
{
    const struct replay_stage *stage = &replay->stages[number];
    uint32_t end = replay->stage_states[number].done ? stage->runs.first : stage->runs.first + stage->runs.count;
    for (uint32_t i = stage->runs.first; i < end && !replay->no_memory; i++) {
        if (!(replay->runs[i].flags & REPLAY_RUN_PINNED) || replay->run_done[i] & REPLAY_LAUNCHED ||
            !replay_has_slot(replay, number, replay->runs[i].executor))
            continue;
        replay->run_done[i] |= REPLAY_LAUNCHED;
        uint32_t run = stand_in(replay, number, i);
        if (run != REPLAY_NOBODY)
            launch(replay, number, replay->runs[i].executor, run);
    }
    if (replay->stage_states[number].nears && !replay->stage_states[number].done)
        launch_near(replay, number);
}

void pyro_replay_end_run(struct pyro_replay *replay, uint32_t place)
{
    struct replay_running running = replay->running.items[place];
    replay->running.items[place].run = replay->running_free;
    replay->running.items[place].active = false;
    replay->running_free = place;
    if (running.lost)
        return;
    const struct replay_stage *stage = &replay->stages[running.stage];
    struct replay_stage_state *state = &replay->stage_states[running.stage];
    replay_give(replay, running.stage, running.executor);
    replay_learn(replay, running.stage, running.executor);
    pyro_replay_offer(replay, running.executor);
    replay->allocating.running--;
    if (replay->allocation && replay->executor_states[running.executor].busy == 0)
        pyro_replay_allocation_idle(replay, running.executor);
    state->running--;
    state->end = running.end > state->end ? running.end : state->end;
    replay->pool_running[stage->pool]--;
    if (running.run == REPLAY_NOBODY) {
        end_part(replay, running.stage);
        return;
    }
    if (stage->plain && !replay->losing) {
        end_partition(replay, running.stage, running.run);
        return;
    }
    bool stands_in = replay_is_skipped(replay, running.run);
    if (replay->runs[running.run].flags & REPLAY_RUN_FATAL && !stands_in) {
        pyro_replay_push(replay, replay->now, REPLAY_STAGE_END, running.stage);
        return;
    }
    uint32_t run = running.run, head = replay_head(replay, run), end = end_of(replay, stage, run);
    uint32_t next = attempt_behind(replay, run, end, false);
    bool success = replay->runs[run].flags & REPLAY_RUN_SUCCESS || stands_in, any = false;
    if (next < end && !(replay->runs[run].flags & REPLAY_RUN_COPY && !success)) {
        /* Failed: again. Succeeded: its output went with its executor, and then again. */
        uint32_t row = replay->runs[run].executor;
        bool lost_it =
            success && row < replay->app->executors.count && replay->app->executors.items[row].removed_ms != PYRO_NONE;
        int64_t lost = lost_it ? replay_at(replay, replay->app->executors.items[row].removed_ms) : 0;
        pyro_replay_push(replay, lost > replay->now ? lost : replay->now, REPLAY_TASK_QUEUED, next);
        return;
    }
    for (uint32_t i = head; i < end && !any; i++)
        any = replay->runs[i].flags & REPLAY_RUN_SUCCESS && !replay_is_skipped(replay, i);
    if (!success && (any || attempt_behind(replay, run, end, true) < end))
        return;
    if (replay->losing)
        pyro_replay_computed(replay, head, run, running.executor);
    end_partition(replay, running.stage, head);
}

/* ---- barrier stages ---------------------------------------------------------------------------------------------- */

/* Launches those of the group that come before the stage with `rank` and have a slot for each task. */
static void launch_together(struct pyro_replay *replay, uint32_t group, uint32_t rank)
{
    for (size_t i = 0; i < replay->together.count && !replay->no_memory;) {
        uint32_t number = replay->together.items[i], executor;
        const struct replay_stage *stage = &replay->stages[number];
        if (stage->group != group || stage->rank >= rank ||
            (!replay->stage_states[number].done &&
             replay->groups[group].free < stage->need * (int64_t)replay_tasks(replay, number))) {
            i++;
            continue;
        }
        replay->together.items[i] = replay->together.items[--replay->together.count];
        replay->stage_states[number].queued = false;
        while (!replay->no_memory && has_task(replay, number) &&
               (executor = pyro_replay_free_executor(replay, &replay->groups[group], stage->need)) != REPLAY_NOBODY)
            launch_next(replay, number, executor);
        if (has_task(replay, number)) { /* enough slots are free, but in parts that are too small */
            replay->stage_states[number].queued = true;
            make_ready(replay, number);
        }
    }
}

bool pyro_replay_part_barriers(struct pyro_replay *replay)
{
    size_t count = replay->together.count;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = replay->together.items[i];
        if (replay->short_stage == REPLAY_NOBODY && !replay->stage_states[number].done)
            replay->short_stage = number;
        make_ready(replay, number);
    }
    replay->together.count = 0;
    return count > 0;
}

void pyro_replay_dispatch(struct pyro_replay *replay)
{
    for (uint32_t i = 0; i < replay->holding_count; i++)
        launch_pinned(replay, replay->holding[i]);
    for (uint32_t g = 0; g < replay->group_count && !replay->no_memory; g++) {
        struct replay_group *group = &replay->groups[g];
        if (group->ready_count == 1 && replay->allocating.running == 0)
            pyro_replay_run_alone(replay, group);
        if (replay->together.count > 0) {
            uint32_t next = pyro_replay_next_stage(replay, group);
            launch_together(replay, g, next == REPLAY_NOBODY ? UINT32_MAX : replay->stages[next].rank);
        }
        while (group->ready_count > 0 && !replay->no_memory) {
            uint32_t executor = pyro_replay_free_executor(replay, group, 1);
            uint32_t stage = executor == REPLAY_NOBODY ? REPLAY_NOBODY : pyro_replay_next_stage(replay, group);
            if (stage == REPLAY_NOBODY)
                break;
            if (replay->executor_states[executor].free < replay->stages[stage].need)
                executor = pyro_replay_free_executor(replay, group, replay->stages[stage].need);
            if (executor == REPLAY_NOBODY)
                break;
            launch_next(replay, stage, executor);
        }
        if (replay->together.count > 0)
            launch_together(replay, g, UINT32_MAX);
    }
}
