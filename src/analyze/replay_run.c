/* One replay: events in the order of their time, and after all of one time slots for whoever has tasks. */
#include "analyze/replay_parts.h"

enum event_kind {
    EXECUTOR_ADDED,
    EXECUTOR_REMOVED,
    JOB_START,
    JOB_END,
    STAGE_START,
    STAGE_READY,
    STAGE_END,
    STAGE_SPREADS, /* its tasks may run far from their data */
    RUN_ENDED,
    RUN_QUEUED /* a second attempt, or a speculative copy */
};
#define KIND_BITS 4

/* Of the stages that share a pool, so many are looked at for the next one. */
enum { FAIR_LOOKED_AT = 1024 };

/* ---- events ------------------------------------------------------------------------------------------------------ */

static bool earlier(const struct replay_event *a, const struct replay_event *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void push(struct pyro_replay *replay, int64_t at, enum event_kind kind, uint32_t what)
{
    if (!pyro_vec_reserve(&replay->events, 1, replay->allocator)) {
        replay->no_memory = true;
        return;
    }
    struct replay_event event = {at, replay->made++ << KIND_BITS | kind, what};
    struct replay_event *items = replay->events.items;
    size_t place = replay->events.count++;
    for (; place > 0 && earlier(&event, &items[(place - 1) / 2]); place = (place - 1) / 2)
        items[place] = items[(place - 1) / 2];
    items[place] = event;
}

static struct replay_event pop(struct pyro_replay *replay)
{
    struct replay_event *items = replay->events.items;
    struct replay_event first = items[0], last = items[--replay->events.count];
    size_t place = 0, count = replay->events.count;
    for (size_t child = 1; child < count; child = 2 * place + 1) {
        if (child + 1 < count && earlier(&items[child + 1], &items[child]))
            child++;
        if (!earlier(&items[child], &last))
            break;
        items[place] = items[child];
        place = child;
    }
    items[place] = last;
    return first;
}

/* ---- executors --------------------------------------------------------------------------------------------------- */

static void stack(struct pyro_replay *replay, uint32_t number)
{
    struct replay_executor_state *state = &replay->executor_states[number];
    struct replay_group *group = &replay->groups[replay->executors[number].group];
    if (state->stacked || !state->alive || state->free <= 0)
        return;
    state->stacked = true;
    state->below = group->top;
    group->top = number;
}

static void come(struct pyro_replay *replay, uint32_t number)
{
    struct replay_executor_state *state = &replay->executor_states[number];
    if (state->alive || state->retired)
        return;
    state->alive = true;
    state->free = replay->executors[number].slots - state->busy;
    replay->groups[replay->executors[number].group].slots += replay->executors[number].slots;
    stack(replay, number);
}

/* Running tasks are let finish: those that a lost executor interrupted are in the log as failed runs. */
static void leave(struct pyro_replay *replay, uint32_t number)
{
    struct replay_executor_state *state = &replay->executor_states[number];
    if (replay->revived)
        return;
    state->retired = true;
    if (!state->alive)
        return;
    state->alive = false;
    replay->groups[replay->executors[number].group].slots -= replay->executors[number].slots;
}

/* An executor of the group with a free slot, or REPLAY_NOBODY. */
static uint32_t free_executor(struct pyro_replay *replay, struct replay_group *group)
{
    while (group->top != REPLAY_NOBODY) {
        struct replay_executor_state *state = &replay->executor_states[group->top];
        if (state->alive && state->free > 0)
            return group->top;
        state->stacked = false;
        group->top = state->below;
    }
    return REPLAY_NOBODY;
}

/* ---- stages with tasks to launch --------------------------------------------------------------------------------- */

static void queue_stage(struct pyro_replay *replay, uint32_t number)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    struct replay_group *group = &replay->groups[replay->stages[number].group];
    if (state->queued)
        return;
    state->queued = true;
    uint32_t place = group->ready_count++;
    if (!replay->fair)
        for (; place > 0 && replay->stages[number].rank < replay->stages[group->ready[(place - 1) / 2]].rank;
             place = (place - 1) / 2)
            group->ready[place] = group->ready[(place - 1) / 2];
    group->ready[place] = number;
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

static uint32_t tasks_of(const struct pyro_replay *replay, uint32_t number)
{
    const struct replay_stage_edit *edit = replay->stage_edits ? &replay->stage_edits[number] : NULL;
    return edit && edit->count > 0 ? edit->count : replay->stages[number].runs.count;
}

static bool is_cut(const struct pyro_replay *replay, uint32_t number)
{
    return replay->stage_edits && replay->stage_edits[number].count > 0;
}

static bool has_task(struct pyro_replay *replay, uint32_t number)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    const struct replay_run *runs = &replay->runs[replay->stages[number].runs.first];
    uint32_t count = tasks_of(replay, number);
    if (state->done)
        return false;
    if (state->retry_first != REPLAY_NOBODY)
        return true;
    if (!is_cut(replay, number))
        while (state->cursor < count &&
               (runs[state->cursor].flags & (REPLAY_RUN_HEAD | REPLAY_RUN_WAITS)) != REPLAY_RUN_HEAD)
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
static uint32_t next_stage(struct pyro_replay *replay, struct replay_group *group)
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

static uint32_t head_of(const struct pyro_replay *replay, uint32_t run)
{
    while (!(replay->runs[run].flags & REPLAY_RUN_HEAD))
        run--;
    return run;
}

static uint32_t end_of(const struct pyro_replay *replay, const struct replay_stage *stage, uint32_t run)
{
    uint32_t end = run + 1, limit = stage->runs.first + stage->runs.count;
    while (end < limit && !(replay->runs[end].flags & REPLAY_RUN_HEAD))
        end++;
    return end;
}

static void queue_run(struct pyro_replay *replay, uint32_t number, uint32_t run)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    replay->retry_next[run] = REPLAY_NOBODY;
    if (state->retry_first == REPLAY_NOBODY)
        state->retry_first = run;
    else
        replay->retry_next[state->retry_last] = run;
    state->retry_last = run;
    queue_stage(replay, number);
}

static uint32_t take_run(struct pyro_replay *replay, uint32_t number)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    uint32_t run = state->retry_first;
    if (run == REPLAY_NOBODY)
        return replay->stages[number].runs.first + state->cursor++;
    state->retry_first = replay->retry_next[run];
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

static int64_t run_us(const struct pyro_replay *replay, uint32_t number, uint32_t run)
{
    const struct replay_stage_edit *edit = replay->stage_edits ? &replay->stage_edits[number] : NULL;
    int64_t us = edit && edit->count > 0 ? edit->us : replay->runs[run].us;
    if (!edit || edit->factor == (int64_t)1 << REPLAY_FACTOR_BITS)
        return us;
    __int128 scaled = ((__int128)us * edit->factor) >> REPLAY_FACTOR_BITS;
    return scaled > REPLAY_TIME_MAX ? REPLAY_TIME_MAX : (int64_t)scaled;
}

static void launch(struct pyro_replay *replay, uint32_t number, uint32_t executor, uint32_t run)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    const struct replay_stage *stage = &replay->stages[number];
    uint32_t place = running_place(replay);
    if (place == REPLAY_NOBODY)
        return;
    int64_t us = run_us(replay, number, run), fetch = run == REPLAY_NOBODY ? 0 : replay->runs[run].fetch_us;
    /* Results are still being handled while the slot runs the next task: its time may be shorter than the task's. */
    int64_t held = fetch < us ? us - fetch : us, slot = held + replay->dispatch;
    slot = slot < held / 2 ? held / 2 : slot;
    int64_t free_at = replay_later(replay->now, slot), end = replay_later(replay->now, slot > us ? slot : us);
    replay->running.items[place] = (struct replay_running){run, number, executor, end};
    replay->busy = pyro_add_saturating(replay->busy, us);
    replay->executor_states[executor].free--;
    replay->executor_states[executor].busy++;
    state->running++;
    replay->pool_running[stage->pool]++;
    push(replay, free_at, RUN_ENDED, place);
    uint32_t limit = stage->runs.first + stage->runs.count;
    if (run != REPLAY_NOBODY && run + 1 < limit && replay->runs[run + 1].flags & REPLAY_RUN_COPY) {
        /* The one that lost was killed when the other ended: that is how much later it began. */
        int64_t later = replay->runs[run].us - replay->runs[run + 1].us;
        push(replay, replay_later(replay->now, later > 0 ? later : 0), RUN_QUEUED, run + 1);
    }
}

/* An executor of the log that has a free slot now. */
static bool has_slot(const struct pyro_replay *replay, uint32_t number)
{
    return number < replay->executor_count && !replay->others && replay->executor_states[number].alive &&
           replay->executor_states[number].free > 0;
}

static void launch_next(struct pyro_replay *replay, uint32_t number, uint32_t executor)
{
    if (is_cut(replay, number)) {
        replay->stage_states[number].cursor++;
        launch(replay, number, executor, REPLAY_NOBODY);
        return;
    }
    uint32_t run = take_run(replay, number);
    bool copy = replay->runs[run].flags & REPLAY_RUN_COPY;
    uint32_t before = replay->runs[run].executor;
    if (has_slot(replay, before) && replay->executors[before].group == replay->stages[number].group)
        executor = before;
    if (!copy || !(replay->run_done[head_of(replay, run)] & REPLAY_DONE)) /* else its original was faster */
        launch(replay, number, executor, run);
}

/* Tasks whose data is with one executor go there as soon as it has a slot. */
static void launch_pinned(struct pyro_replay *replay, uint32_t number)
{
    const struct replay_stage *stage = &replay->stages[number];
    uint32_t end = replay->stage_states[number].done ? stage->runs.first : stage->runs.first + stage->runs.count;
    for (uint32_t i = stage->runs.first; i < end && !replay->no_memory; i++) {
        if (!(replay->runs[i].flags & REPLAY_RUN_PINNED) || replay->run_done[i] & REPLAY_LAUNCHED ||
            !has_slot(replay, replay->runs[i].executor))
            continue;
        replay->run_done[i] |= REPLAY_LAUNCHED;
        launch(replay, number, replay->runs[i].executor, i);
    }
}

static void end_part(struct pyro_replay *replay, uint32_t number)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    if (state->parts_left > 0 && --state->parts_left == 0)
        push(replay, state->end > replay->now ? state->end : replay->now, STAGE_END, number);
}

static void end_run(struct pyro_replay *replay, uint32_t place)
{
    struct replay_running running = replay->running.items[place];
    replay->running.items[place].run = replay->running_free;
    replay->running_free = place;
    const struct replay_stage *stage = &replay->stages[running.stage];
    struct replay_stage_state *state = &replay->stage_states[running.stage];
    replay->executor_states[running.executor].free++;
    replay->executor_states[running.executor].busy--;
    stack(replay, running.executor);
    state->running--;
    state->end = running.end > state->end ? running.end : state->end;
    replay->pool_running[stage->pool]--;
    if (running.run == REPLAY_NOBODY) {
        end_part(replay, running.stage);
        return;
    }
    if (replay->runs[running.run].flags & REPLAY_RUN_FATAL) {
        push(replay, replay->now, STAGE_END, running.stage);
        return;
    }
    uint32_t run = running.run, head = head_of(replay, run), end = end_of(replay, stage, run), next = run + 1;
    bool success = replay->runs[run].flags & REPLAY_RUN_SUCCESS, any = false;
    while (next < end && replay->runs[next].flags & REPLAY_RUN_COPY)
        next++;
    if (next < end && !(replay->runs[run].flags & REPLAY_RUN_COPY && !success)) {
        /* Failed: once more. Succeeded: its output went with its executor, and then once more. */
        uint32_t row = replay->runs[run].executor;
        bool lost_it =
            success && row < replay->app->executors.count && replay->app->executors.items[row].removed_ms != PYRO_NONE;
        int64_t lost = lost_it ? replay_at(replay, replay->app->executors.items[row].removed_ms) : 0;
        push(replay, lost > replay->now ? lost : replay->now, RUN_QUEUED, next);
        return;
    }
    for (uint32_t i = head; i < end && !any; i++)
        any = replay->runs[i].flags & REPLAY_RUN_SUCCESS;
    if (replay->run_done[head] & REPLAY_DONE || !(success || (!any && run + 1 == end)))
        return;
    replay->run_done[head] |= REPLAY_DONE;
    end_part(replay, running.stage);
}

static void dispatch(struct pyro_replay *replay)
{
    for (uint32_t i = 0; i < replay->holding_count; i++)
        launch_pinned(replay, replay->holding[i]);
    for (uint32_t g = 0; g < replay->group_count && !replay->no_memory; g++) {
        struct replay_group *group = &replay->groups[g];
        while (group->ready_count > 0 && !replay->no_memory) {
            uint32_t executor = free_executor(replay, group);
            uint32_t stage = executor == REPLAY_NOBODY ? REPLAY_NOBODY : next_stage(replay, group);
            if (stage == REPLAY_NOBODY)
                break;
            launch_next(replay, stage, executor);
        }
    }
}

/* ---- stages and jobs --------------------------------------------------------------------------------------------- */

static void met_stage(struct pyro_replay *replay, uint32_t number, int64_t time)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    state->base = time > state->base ? time : state->base;
    if (state->needs_left == 0 || --state->needs_left > 0 || state->started)
        return;
    if (replay->stage_edits && replay->stage_edits[number].skip)
        push(replay, state->base, STAGE_END, number);
    else
        push(replay, replay_later(state->base, replay->stages[number].gap), STAGE_START, number);
}

static void met_job(struct pyro_replay *replay, uint32_t number, int64_t time);

/* Everything that the first job of a window waited for is done: so it is for the others, which do not wait for it. */
static void open_window(struct pyro_replay *replay, uint32_t number)
{
    uint32_t window = replay->job_windows ? replay->job_windows[number] : REPLAY_NOBODY;
    if (window == REPLAY_NOBODY || replay->windows[window].first != number)
        return;
    for (uint32_t j = number + 1; j < replay->windows[window].end; j++)
        met_job(replay, j, replay->job_states[number].base);
}

static void ready_job(struct pyro_replay *replay, uint32_t number)
{
    push(replay, replay_later(replay->job_states[number].base, replay->job_gaps[number]), JOB_START, number);
    open_window(replay, number);
}

static void met_job(struct pyro_replay *replay, uint32_t number, int64_t time)
{
    struct replay_job_state *state = &replay->job_states[number];
    state->base = time > state->base ? time : state->base;
    if (state->needs_left > 0 && --state->needs_left == 0 && !state->started)
        ready_job(replay, number);
}

static void start_job(struct pyro_replay *replay, uint32_t number)
{
    struct replay_job_state *state = &replay->job_states[number];
    if (state->started)
        return;
    state->started = true;
    state->start = replay->now;
    const struct replay_list *stages = &replay->jobs[number].stages;
    for (uint32_t i = 0; i < stages->count; i++)
        met_stage(replay, replay->lists.items[stages->first + i], replay->now);
    if (stages->count == 0)
        push(replay, replay_later(replay->now, replay->jobs[number].tail), JOB_END, number);
}

static void start_stage(struct pyro_replay *replay, uint32_t number)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    const struct replay_stage *stage = &replay->stages[number];
    if (state->started)
        return;
    state->started = true;
    state->start = replay->now;
    if (stage->partitions == 0 && !is_cut(replay, number)) /* no task is known: its time is all there is */
        push(replay, replay_later(replay->now, stage->to - stage->from), STAGE_END, number);
    else
        push(replay, replay_later(replay->now, number == 0 ? replay->first_start : replay->stage_start), STAGE_READY,
             number);
}

static void ready_stage(struct pyro_replay *replay, uint32_t number)
{
    const struct replay_stage *stage = &replay->stages[number];
    struct replay_stage_state *state = &replay->stage_states[number];
    state->slots = replay->groups[stage->group].slots;
    state->parts_left = is_cut(replay, number) ? tasks_of(replay, number) : stage->partitions;
    queue_stage(replay, number);
    if (!stage->waits || is_cut(replay, number))
        return;
    bool holds = replay->holding_count < REPLAY_HOLDING_MAX && !replay->others;
    push(replay, replay_later(replay->now, holds ? stage->locality_wait : 0), STAGE_SPREADS, number);
    if (holds)
        replay->holding[replay->holding_count++] = number;
}

static void spread_stage(struct pyro_replay *replay, uint32_t number)
{
    const struct replay_list *runs = &replay->stages[number].runs;
    for (uint32_t i = 0; i < replay->holding_count; i++)
        if (replay->holding[i] == number)
            replay->holding[i] = replay->holding[--replay->holding_count];
    for (uint32_t i = runs->first; i < runs->first + runs->count; i++)
        if (replay->runs[i].flags & REPLAY_RUN_WAITS && !(replay->run_done[i] & REPLAY_LAUNCHED))
            queue_run(replay, number, i);
}

static void end_stage(struct pyro_replay *replay, uint32_t number)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    const struct replay_stage *stage = &replay->stages[number];
    if (state->done)
        return;
    state->done = state->started = true;
    state->end = replay->now;
    for (uint32_t i = 0; i < stage->next.count; i++)
        met_stage(replay, replay->lists.items[stage->next.first + i], replay->now);
    if (stage->job == REPLAY_NOBODY)
        replay->last = replay->now > replay->last ? replay->now : replay->last;
    else if (--replay->job_states[stage->job].stages_left == 0)
        push(replay, replay_later(replay->now, replay->jobs[stage->job].tail), JOB_END, stage->job);
    while (replay->stages_done < replay->stage_count && replay->stage_states[replay->stages_done].done)
        replay->stages_done++;
    for (; replay->leaving_next < replay->executor_count; replay->leaving_next++) {
        uint32_t executor = replay->by_last_stage[replay->leaving_next];
        if (replay->executors[executor].last_stage > replay->stages_done)
            break;
        leave(replay, executor);
    }
}

static bool is_dropped(const struct pyro_replay *replay, uint32_t before, uint32_t after)
{
    return replay->job_windows && replay->job_windows[after] != REPLAY_NOBODY &&
           replay->job_windows[before] == replay->job_windows[after] &&
           replay->jobs[before].unit != replay->jobs[after].unit;
}

static void end_job(struct pyro_replay *replay, uint32_t number)
{
    struct replay_job_state *state = &replay->job_states[number];
    const struct replay_list *next = &replay->jobs[number].next;
    if (state->done)
        return;
    state->done = true;
    state->end = replay->now;
    replay->last = replay->now > replay->last ? replay->now : replay->last;
    for (uint32_t i = 0; i < next->count; i++)
        if (!is_dropped(replay, number, replay->lists.items[next->first + i]))
            met_job(replay, replay->lists.items[next->first + i], replay->now);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void handle(struct pyro_replay *replay, const struct replay_event *event)
{
    uint32_t what = event->what;
    int64_t stage;
    switch ((enum event_kind)(event->order & ((1u << KIND_BITS) - 1))) {
    case EXECUTOR_ADDED:
        come(replay, what);
        break;
    case EXECUTOR_REMOVED:
        leave(replay, what);
        break;
    case JOB_START:
        start_job(replay, what);
        break;
    case JOB_END:
        end_job(replay, what);
        break;
    case STAGE_START:
        start_stage(replay, what);
        break;
    case STAGE_READY:
        ready_stage(replay, what);
        break;
    case STAGE_END:
        end_stage(replay, what);
        break;
    case STAGE_SPREADS:
        spread_stage(replay, what);
        break;
    case RUN_ENDED:
        end_run(replay, what);
        break;
    case RUN_QUEUED:
        stage = pyro_task_get(&replay->app->tasks, PYRO_TASK_stage_row, replay->runs[what].task);
        if (!(replay->run_done[head_of(replay, what)] & REPLAY_DONE))
            queue_run(replay, replay->stage_of_row[stage], what);
        break;
    }
}

/* Nothing is left to happen, but not all is done: damaged logs, or executors that an edit outlives. True when it goes
 * on. */
static bool unstick(struct pyro_replay *replay)
{
    bool waiting = false;
    for (uint32_t g = 0; g < replay->group_count; g++) {
        struct replay_group *group = &replay->groups[g];
        if (next_stage(replay, group) == REPLAY_NOBODY)
            continue;
        waiting = true;
    }
    if (waiting && !replay->revived) {
        replay->revived = true;
        for (uint32_t i = 0; i < replay->executor_count; i++) {
            replay->executor_states[i].retired = false;
            come(replay, i);
        }
    }
    for (uint32_t g = 0; waiting && g < replay->group_count; g++) {
        struct replay_group *group = &replay->groups[g];
        if (next_stage(replay, group) == REPLAY_NOBODY || free_executor(replay, group) != REPLAY_NOBODY)
            continue;
        /* No slot at all: one, so that the end is reached. */
        for (uint32_t i = 0; i < replay->executor_count; i++)
            if (replay->executors[i].group == g) {
                replay->executor_states[i].alive = true;
                replay->executor_states[i].free = 1;
                stack(replay, i);
                break;
            }
    }
    for (uint32_t g = 0; waiting && g < replay->group_count; g++)
        if (next_stage(replay, &replay->groups[g]) != REPLAY_NOBODY &&
            free_executor(replay, &replay->groups[g]) != REPLAY_NOBODY)
            return true;
    for (; replay->stuck_stage < replay->stage_count; replay->stuck_stage++) {
        struct replay_stage_state *state = &replay->stage_states[replay->stuck_stage];
        if (state->done)
            continue;
        push(replay, replay->now, state->started ? STAGE_END : STAGE_START, replay->stuck_stage);
        replay->stuck_stage += state->started;
        return true;
    }
    for (; replay->stuck_job < replay->job_count; replay->stuck_job++) {
        struct replay_job_state *state = &replay->job_states[replay->stuck_job];
        if (state->done)
            continue;
        push(replay, replay->now, state->started ? JOB_END : JOB_START, replay->stuck_job);
        replay->stuck_job += state->started;
        return true;
    }
    return false;
}

static void begin(struct pyro_replay *replay)
{
    replay->events.count = replay->running.count = 0;
    replay->running_free = REPLAY_NOBODY;
    replay->made = 0;
    replay->now = replay->last = replay->busy = 0;
    replay->holding_count = 0;
    replay->stages_done = replay->stuck_job = replay->stuck_stage = 0;
    replay->leaving_next = replay->others ? replay->executor_count : 0;
    replay->revived = false;
    memset(replay->run_done, 0, replay->run_count);
    memset(replay->pool_running, 0, replay->pool_count * sizeof(*replay->pool_running));
    for (uint32_t g = 0; g < replay->group_count; g++) {
        replay->groups[g].top = REPLAY_NOBODY;
        replay->groups[g].slots = 0;
        replay->groups[g].ready_count = 0;
    }
    for (uint32_t i = 0; i < replay->executor_count; i++) {
        replay->executor_states[i] = (struct replay_executor_state){.below = REPLAY_NOBODY};
        push(replay, replay_later(replay->executors[i].added, replay->executor_start), EXECUTOR_ADDED, i);
        if (replay->executors[i].removed != REPLAY_TIME_MAX)
            push(replay, replay->executors[i].removed, EXECUTOR_REMOVED, i);
    }
    for (uint32_t i = 0; i < replay->stage_count; i++)
        replay->stage_states[i] =
            (struct replay_stage_state){.needs_left = replay->stages[i].needs.count + 1, .retry_first = REPLAY_NOBODY};
    for (uint32_t j = 0; j < replay->job_count; j++) {
        const struct replay_job *job = &replay->jobs[j];
        struct replay_job_state *state = &replay->job_states[j];
        *state = (struct replay_job_state){.stages_left = job->stages.count, .needs_left = job->needs.count + 1};
        for (uint32_t i = 0; replay->job_windows && i < job->needs.count; i++)
            state->needs_left -= is_dropped(replay, replay->lists.items[job->needs.first + i], j);
        uint32_t window = replay->job_windows ? replay->job_windows[j] : REPLAY_NOBODY;
        state->needs_left += window != REPLAY_NOBODY && replay->windows[window].first != j;
    }
}

bool pyro_replay_go(struct pyro_replay *replay)
{
    begin(replay);
    /* The one need more than there are: that it all began. */
    for (uint32_t j = 0; j < replay->job_count; j++)
        met_job(replay, j, 0);
    for (uint32_t i = 0; i < replay->stage_count; i++)
        if (replay->stages[i].job == REPLAY_NOBODY)
            met_stage(replay, i, 0);
    do {
        while (replay->events.count > 0 && !replay->no_memory) {
            struct replay_event event = pop(replay);
            replay->now = event.at;
            handle(replay, &event);
            if (replay->events.count == 0 || replay->events.items[0].at != replay->now)
                dispatch(replay);
        }
        if (replay->no_memory || !unstick(replay))
            break;
        dispatch(replay);
    } while (true);
    return !replay->no_memory;
}
