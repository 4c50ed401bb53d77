/* One replay: events in the order of their time, and after all of one time slots for stages with tasks. */
#include "base/threads/stop.h"
#include "replay/losses.h"

enum { EVENTS_BETWEEN_LOOKS = 1 << 13 };

/* ---- events ------------------------------------------------------------------------------------------------------ */

static bool earlier(const struct replay_event *a, const struct replay_event *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

void pyro_replay_push(struct pyro_replay *replay, int64_t at, enum replay_event_kind kind, uint32_t what)
{
    if (!pyro_vec_reserve(&replay->events, 1, replay->allocator)) {
        replay->no_memory = true;
        return;
    }
    struct replay_event event = {at, replay->made++ << REPLAY_KIND_BITS | kind, what};
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
/* ---- stages and jobs --------------------------------------------------------------------------------------------- */

static void met_stage(struct pyro_replay *replay, uint32_t number, int64_t time)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    state->base = time > state->base ? time : state->base;
    if (state->needs_left == 0 || --state->needs_left > 0 || state->started)
        return;
    const struct replay_stage_edit *edit = replay->stage_edits ? &replay->stage_edits[number] : NULL;
    int64_t gap = replay->stages[number].gap - (edit ? edit->less : 0);
    if (edit && edit->skip)
        pyro_replay_push(replay, state->base, REPLAY_STAGE_END, number);
    else
        pyro_replay_push(replay, replay_later(state->base, gap > 0 ? gap : 0), REPLAY_STAGE_START, number);
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
    pyro_replay_push(replay, replay_later(replay->job_states[number].base, replay->job_gaps[number]), REPLAY_JOB_START,
                     number);
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
        pyro_replay_push(replay, replay_later(replay->now, replay->job_tails[number]), REPLAY_JOB_END, number);
}

static void start_stage(struct pyro_replay *replay, uint32_t number)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    const struct replay_stage *stage = &replay->stages[number];
    if (state->started)
        return;
    state->started = true;
    state->start = replay->now;
    if (stage->partitions == 0 && !replay_is_cut(replay, number)) /* no task is known: its time is all there is */
        pyro_replay_push(replay, replay_later(replay->now, stage->to - stage->from), REPLAY_STAGE_END, number);
    else
        pyro_replay_push(replay, replay_later(replay->now, number == 0 ? replay->first_start : replay->stage_start),
                         REPLAY_STAGE_READY, number);
}

static void ready_stage(struct pyro_replay *replay, uint32_t number)
{
    const struct replay_stage *stage = &replay->stages[number];
    struct replay_stage_state *state = &replay->stage_states[number];
    state->slots = replay_slots(replay, number);
    state->parts_left = replay_is_cut(replay, number) ? replay_tasks(replay, number) : stage->partitions;
    if (replay->endless && pyro_replay_run_all(replay, number))
        return;
    pyro_replay_queue_stage(replay, number);
    if (replay->losing)
        pyro_replay_losses_settle(replay);
    if (!stage->waits || replay_is_cut(replay, number))
        return;
    bool holds = replay->holding_count < REPLAY_HOLDING_MAX && !replay->others;
    int64_t wait = !holds             ? 0
                   : replay->locality ? pyro_replay_wait(replay->locality->wait_ms, stage->near, stage->far)
                                      : stage->locality_wait;
    pyro_replay_push(replay, replay_later(replay->now, wait), REPLAY_STAGE_SPREADS, number);
    if (wait > stage->locality_wait)
        pyro_replay_push(replay, replay_later(replay->now, stage->locality_wait), REPLAY_STAGE_NEARS, number);
    if (holds)
        replay->holding[replay->holding_count++] = number;
}

static void spread_stage(struct pyro_replay *replay, uint32_t number)
{
    const struct replay_list *runs = &replay->stages[number].runs;
    replay->stage_states[number].spread = true;
    for (uint32_t i = 0; i < replay->holding_count; i++)
        if (replay->holding[i] == number)
            replay->holding[i] = replay->holding[--replay->holding_count];
    for (uint32_t i = runs->first; i < runs->first + runs->count; i++)
        if (replay->runs[i].flags & REPLAY_RUN_WAITS && !(replay->run_done[i] & REPLAY_LAUNCHED))
            pyro_replay_queue_run(replay, number, i);
}

static void end_stage(struct pyro_replay *replay, uint32_t number)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    const struct replay_stage *stage = &replay->stages[number];
    if (state->done)
        return;
    if (replay->losing && replay->losing->stages[number].short_of) {
        replay->losing->stages[number].short_of = false; /* its tasks will end it again */
        return;
    }
    state->done = state->started = true;
    state->end = replay->now;
    for (uint32_t i = 0; i < stage->next.count; i++)
        met_stage(replay, replay->lists.items[stage->next.first + i], replay->now);
    if (stage->job == REPLAY_NOBODY)
        replay->last = replay->now > replay->last ? replay->now : replay->last;
    else if (--replay->job_states[stage->job].stages_left == 0)
        pyro_replay_push(replay, replay_later(replay->now, replay->job_tails[stage->job]), REPLAY_JOB_END, stage->job);
    while (replay->stages_done < replay->stage_count && replay->stage_states[replay->stages_done].done)
        replay->stages_done++;
    for (; replay->leaving_next < replay->executor_count; replay->leaving_next++) {
        uint32_t executor = replay->by_last_stage[replay->leaving_next];
        if (replay->executors[executor].last_stage > replay->stages_done)
            break;
        if (!replay->executors[executor].stays)
            pyro_replay_leave(replay, executor);
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
    replay->jobs_left--;
    replay->last = replay->now > replay->last ? replay->now : replay->last;
    for (uint32_t i = 0; i < next->count; i++)
        if (!is_dropped(replay, number, replay->lists.items[next->first + i]))
            met_job(replay, replay->lists.items[next->first + i], replay->now);
}

/* An attempt whose turn has come. A task and its copy both have the next attempt behind them: it runs once. */
static void follow(struct pyro_replay *replay, uint32_t run)
{
    bool copy = replay->runs[run].flags & REPLAY_RUN_COPY;
    if (replay->run_done[replay_head(replay, run)] & REPLAY_DONE || (!copy && replay->run_done[run] & REPLAY_FOLLOWED))
        return;
    replay->run_done[run] |= REPLAY_FOLLOWED;
    pyro_replay_queue_run(replay, replay->stage_of_row[replay_row_of(replay, run)], run);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void handle(struct pyro_replay *replay, const struct replay_event *event)
{
    uint32_t what = event->what;
    switch ((enum replay_event_kind)(event->order & ((1u << REPLAY_KIND_BITS) - 1))) {
    case REPLAY_EXECUTOR_ADDED:
        if (replay->allocation)
            pyro_replay_allocation_came(replay, what);
        else
            pyro_replay_come(replay, what);
        break;
    case REPLAY_EXECUTOR_REMOVED:
        if (replay->losing && replay->executors[what].lost)
            pyro_replay_lost(replay, what);
        pyro_replay_leave(replay, what);
        break;
    case REPLAY_EXECUTOR_DRAINS:
        pyro_replay_leave(replay, what);
        break;
    case REPLAY_JOB_START:
        start_job(replay, what);
        break;
    case REPLAY_JOB_END:
        end_job(replay, what);
        break;
    case REPLAY_STAGE_START:
        start_stage(replay, what);
        break;
    case REPLAY_STAGE_READY:
        ready_stage(replay, what);
        break;
    case REPLAY_STAGE_END:
        end_stage(replay, what);
        break;
    case REPLAY_STAGE_SPREADS:
        spread_stage(replay, what);
        break;
    case REPLAY_STAGE_NEARS:
        replay->stage_states[what].nears = true;
        break;
    case REPLAY_STAGE_AGAIN:
        pyro_replay_again(replay, what);
        break;
    case REPLAY_TASK_ENDED:
        pyro_replay_end_run(replay, what);
        break;
    case REPLAY_TASK_QUEUED:
        follow(replay, what);
        break;
    case REPLAY_ALLOCATE:
        pyro_replay_allocation_ask(replay);
        break;
    case REPLAY_EXECUTOR_IDLE:
        pyro_replay_allocation_check(replay, what);
        break;
    }
}

/* Nothing is left to happen, but not all is done: damaged logs, or executors that an edit outlives. True when it goes
 * on. */
static bool unstick(struct pyro_replay *replay)
{
    bool waiting = pyro_replay_part_barriers(replay);
    for (uint32_t g = 0; g < replay->group_count; g++) {
        struct replay_group *group = &replay->groups[g];
        if (pyro_replay_next_stage(replay, group) == REPLAY_NOBODY)
            continue;
        waiting = true;
    }
    if (waiting && !replay->revived) {
        replay->revived = true;
        for (uint32_t i = 0; i < replay->executor_count; i++) {
            replay->executor_states[i].retired = false;
            pyro_replay_come(replay, i);
        }
    }
    for (uint32_t g = 0; waiting && g < replay->group_count; g++) {
        struct replay_group *group = &replay->groups[g];
        if (pyro_replay_next_stage(replay, group) == REPLAY_NOBODY ||
            pyro_replay_free_executor(replay, group, 1) != REPLAY_NOBODY)
            continue;
        /* No slot at all: one, so that the end is reached. */
        for (uint32_t i = 0; i < replay->executor_count; i++)
            if (replay->executors[i].group == g) {
                group->free += REPLAY_SLOT - (replay->executor_states[i].alive ? replay->executor_states[i].free : 0);
                replay->executor_states[i].alive = true;
                replay->executor_states[i].free = REPLAY_SLOT;
                pyro_replay_offer(replay, i);
                break;
            }
    }
    for (uint32_t g = 0; waiting && g < replay->group_count; g++)
        if (pyro_replay_next_stage(replay, &replay->groups[g]) != REPLAY_NOBODY &&
            pyro_replay_free_executor(replay, &replay->groups[g], 1) != REPLAY_NOBODY)
            return true;
    for (; replay->stuck_stage < replay->stage_count; replay->stuck_stage++) {
        struct replay_stage_state *state = &replay->stage_states[replay->stuck_stage];
        if (state->done)
            continue;
        pyro_replay_push(replay, replay->now, state->started ? REPLAY_STAGE_END : REPLAY_STAGE_START,
                         replay->stuck_stage);
        replay->stuck_stage += state->started;
        return true;
    }
    for (; replay->stuck_job < replay->job_count; replay->stuck_job++) {
        struct replay_job_state *state = &replay->job_states[replay->stuck_job];
        if (state->done)
            continue;
        pyro_replay_push(replay, replay->now, state->started ? REPLAY_JOB_END : REPLAY_JOB_START, replay->stuck_job);
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
    replay->allocating.running = 0;
    replay->now = replay->last = replay->busy = 0;
    replay->holding_count = 0;
    replay->together.count = 0;
    replay->short_stage = REPLAY_NOBODY;
    replay->jobs_left = replay->job_count;
    replay->stages_done = replay->stuck_job = replay->stuck_stage = 0;
    replay->leaving_next = replay->others ? replay->executor_count : 0;
    replay->revived = false;
    if (replay->losing)
        pyro_replay_losses_begin(replay);
    memset(replay->run_done, 0, replay->run_count);
    memset(replay->pool_running, 0, replay->pool_count * sizeof(*replay->pool_running));
    for (uint32_t g = 0; g < replay->group_count; g++) {
        replay->groups[g].top = REPLAY_NOBODY;
        replay->groups[g].slots = replay->groups[g].free = 0;
        replay->groups[g].ready_count = 0;
    }
    for (uint32_t i = 0; i < replay->executor_count; i++) {
        replay->executor_states[i] = (struct replay_executor_state){.below = REPLAY_NOBODY};
        if (replay->allocation)
            continue;
        pyro_replay_push(replay, replay_later(replay->executors[i].added, replay->executor_start),
                         REPLAY_EXECUTOR_ADDED, i);
        const struct replay_executor *executor = &replay->executors[i];
        if (executor->lost && executor->drain > 0)
            pyro_replay_push(replay, executor->removed > executor->drain ? executor->removed - executor->drain : 0,
                             REPLAY_EXECUTOR_DRAINS, i);
        if (executor->removed != REPLAY_TIME_MAX)
            pyro_replay_push(replay, executor->removed, REPLAY_EXECUTOR_REMOVED, i);
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
    if (replay->allocation && !pyro_replay_allocation_begin(replay))
        return false;
    /* The one need more than there are: that it all began. */
    for (uint32_t j = 0; j < replay->job_count; j++)
        met_job(replay, j, 0);
    for (uint32_t i = 0; i < replay->stage_count; i++)
        if (replay->stages[i].job == REPLAY_NOBODY)
            met_stage(replay, i, 0);
    do {
        while (replay->events.count > 0 && !replay->no_memory) {
            struct replay_event event = pop(replay);
            if (++replay->handled % EVENTS_BETWEEN_LOOKS == 0 && pyro_stop_is_asked(replay->stop))
                replay->stopped = replay->no_memory = true;
            replay->now = event.at;
            handle(replay, &event);
            if (replay->events.count > 0 && replay->events.items[0].at == replay->now)
                continue;
            pyro_replay_dispatch(replay);
            if (replay->allocation)
                pyro_replay_allocation_look(replay);
        }
        if (replay->no_memory || !unstick(replay))
            break;
        pyro_replay_dispatch(replay);
    } while (true);
    return !replay->no_memory;
}
