/* Stages that nothing else happens beside: the same as events and slots would do with them, without the events.
 *
 * Most stages of most runs are alone for most of their time. Their tasks take turns on the slots here, until the next
 * event of anything else; what runs by then goes on as events. Results are the same to the last bit. */
#include <stdlib.h>

#include "replay/times.h"

/* A task on its slot. */
struct replay_turn {
    int64_t at, end; /* when the slot is free again, and when the task has ended */
    uint32_t order, executor, run;
};

struct turns {
    struct replay_turn *items; /* a heap */
    size_t count, room;
    uint32_t begun;
    bool hole; /* the first one has been taken out */
};

static bool comes_before(const struct replay_turn *a, const struct replay_turn *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void sink(struct turns *turns, struct replay_turn turn)
{
    struct replay_turn *items = turns->items;
    size_t place = 0, count = turns->count;
    for (size_t child = 1; child < count; child = 2 * place + 1) {
        child += child + 1 < count && comes_before(&items[child + 1], &items[child]);
        if (!comes_before(&items[child], &turn))
            break;
        items[place] = items[child];
        place = child;
    }
    items[place] = turn;
}

static void add(struct turns *turns, struct replay_turn turn)
{
    if (turns->hole) { /* one ends, the next one begins: no need to move any other */
        turns->hole = false;
        sink(turns, turn);
        return;
    }
    size_t place = turns->count++;
    for (; place > 0 && comes_before(&turn, &turns->items[(place - 1) / 2]); place = (place - 1) / 2)
        turns->items[place] = turns->items[(place - 1) / 2];
    turns->items[place] = turn;
}

/* The one whose slot is free next, or NULL. */
static const struct replay_turn *first_of(struct turns *turns)
{
    if (turns->hole) {
        turns->hole = false;
        turns->count--;
        if (turns->count > 0)
            sink(turns, turns->items[turns->count]);
    }
    return turns->count > 0 ? &turns->items[0] : NULL;
}

static bool is_alone(const struct pyro_replay *replay, const struct replay_group *group, uint32_t number)
{
    const struct replay_stage *stage = &replay->stages[number];
    for (uint32_t g = 0; g < replay->group_count; g++)
        if (&replay->groups[g] != group && replay->groups[g].ready_count > 0)
            return false;
    return !replay->losing && !replay->revived && !replay->allocation && !replay->locality &&
           replay->holding_count == 0 && replay->together.count == 0 && !stage->waits &&
           replay->stage_states[number].retry_first == REPLAY_NOBODY &&
           (stage->plain || replay_is_cut(replay, number)) &&
           replay_tasks(replay, number) - replay->stage_states[number].cursor >= 2;
}

/* What tasks of a stage have in common, looked up once for all of them. */
struct kind_of_task {
    const struct replay_run *runs; /* of its own; NULL where an edit gave it others */
    const int64_t *us, *fetch_us;  /* of its own runs, or NULL */
    uint32_t first, count, group;
    bool scaled; /* times are not as they are said */
};

static struct kind_of_task kind_of(const struct pyro_replay *replay, uint32_t number)
{
    const struct replay_stage *stage = &replay->stages[number];
    const struct replay_stage_edit *edit = replay->stage_edits ? &replay->stage_edits[number] : NULL;
    bool cut = replay_is_cut(replay, number);
    return (struct kind_of_task){.runs = cut ? NULL : replay->runs + stage->runs.first,
                                 .us = cut || !edit ? NULL : edit->own,
                                 .fetch_us = cut || !replay->fetch_us ? NULL : replay->fetch_us + stage->runs.first,
                                 .first = stage->runs.first,
                                 .count = replay_tasks(replay, number),
                                 .group = stage->group,
                                 .scaled = cut || replay->spread ||
                                           (edit && edit->factor != (int64_t)1 << REPLAY_FACTOR_BITS)};
}

/* Tasks for all free slots. */
static void begin_tasks(struct pyro_replay *replay, struct replay_group *group, uint32_t number,
                        const struct kind_of_task *kind, struct turns *turns)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    uint32_t executor;
    while (state->cursor < kind->count && turns->count - turns->hole < turns->room &&
           (executor = pyro_replay_free_executor(replay, group, replay->stages[number].need)) != REPLAY_NOBODY) {
        uint32_t part = state->cursor++, run = kind->first + part;
        const struct replay_run *row = kind->runs ? &kind->runs[part] : NULL;
        if (row && replay_is_gone(replay, run)) {
            state->parts_left -= state->parts_left > 0;
            continue;
        }
        if (row && row->executor != executor && replay_has_slot(replay, number, row->executor) &&
            replay->executors[row->executor].group == kind->group)
            executor = row->executor;
        int64_t us = kind->scaled || !(kind->us || row) ? replay_run_us(replay, number, run, part)
                     : kind->us                         ? kind->us[part]
                                                        : row->us;
        if (replay->first_ms)
            us = replay_later(us, replay_starting_us(replay, number, executor));
        int64_t slot = replay_slot_us(replay, us, kind->fetch_us ? kind->fetch_us[part] : 0);
        replay->busy = pyro_add_saturating(replay->busy, us);
        replay_take(replay, number, executor);
        add(turns,
            (struct replay_turn){replay_later(replay->now, slot), replay_later(replay->now, slot > us ? slot : us),
                                 turns->begun++, executor, row ? run : REPLAY_NOBODY});
    }
}

/* All slots that are free at the same time as the first of them. */
static void end_tasks(struct pyro_replay *replay, uint32_t number, struct turns *turns)
{
    struct replay_stage_state *state = &replay->stage_states[number];
    const struct replay_turn *turn;
    while ((turn = first_of(turns)) != NULL && turn->at == replay->now) {
        replay_give(replay, number, turn->executor);
        replay_learn(replay, number, turn->executor);
        pyro_replay_offer(replay, turn->executor);
        state->end = turn->end > state->end ? turn->end : state->end;
        state->parts_left -= state->parts_left > 0;
        turns->hole = true;
    }
}

static int by_order(const void *a, const void *b)
{
    const struct replay_turn *one = a, *other = b;
    return (one->order > other->order) - (one->order < other->order);
}

/* What runs goes on as events, in the order in which it began. */
static void hand_over(struct pyro_replay *replay, uint32_t number, struct turns *turns)
{
    first_of(turns);
    if (turns->items && turns->count > 1)
        qsort(turns->items, turns->count, sizeof(*turns->items), by_order);
    for (size_t i = 0; i < turns->count; i++)
        pyro_replay_go_on(replay, number, turns->items[i].run, turns->items[i].executor, turns->items[i].at,
                          turns->items[i].end);
}

void pyro_replay_run_alone(struct pyro_replay *replay, struct replay_group *group)
{
    uint32_t number = pyro_replay_next_stage(replay, group);
    if (number == REPLAY_NOBODY || !is_alone(replay, group, number))
        return;
    struct replay_stage_state *state = &replay->stage_states[number];
    uint32_t tasks = replay_tasks(replay, number) - state->cursor;
    int64_t slots = replay_slots(replay, number);
    size_t room = slots < (int64_t)tasks ? (size_t)(slots > 0 ? slots : 0) : tasks;
    replay->turns.count = 0;
    if (!pyro_vec_reserve(&replay->turns, room + 1, replay->allocator)) {
        replay->no_memory = true;
        return;
    }
    struct turns turns = {.items = replay->turns.items, .room = room};
    int64_t other = replay->events.count > 0 ? replay->events.items[0].at : REPLAY_TIME_MAX;
    const struct replay_turn *turn;
    const struct kind_of_task kind = kind_of(replay, number);
    begin_tasks(replay, group, number, &kind, &turns);
    while ((turn = first_of(&turns)) != NULL && turn->at < other) {
        replay->now = turn->at;
        end_tasks(replay, number, &turns);
        begin_tasks(replay, group, number, &kind, &turns);
    }
    if (state->parts_left == 0)
        pyro_replay_push(replay,
                         replay_later(state->end > replay->now ? state->end : replay->now, replay->stages[number].tail),
                         REPLAY_STAGE_END, number);
    else
        hand_over(replay, number, &turns);
}

bool pyro_replay_run_all(struct pyro_replay *replay, uint32_t number)
{
    const struct replay_stage *stage = &replay->stages[number];
    const struct replay_stage_edit *edit = replay->stage_edits ? &replay->stage_edits[number] : NULL;
    bool cut = replay_is_cut(replay, number);
    uint32_t count = replay_tasks(replay, number), first = stage->runs.first;
    int64_t last = 0, busy = 0;
    if (replay_slots(replay, number) < count || count == 0 || (!cut && !stage->plain))
        return false;
    for (uint32_t i = 0; !cut && i < count; i++)
        if (replay_is_skipped(replay, first + i))
            return false;
    bool as_it_is = !replay->spread && (!edit || edit->factor == (int64_t)1 << REPLAY_FACTOR_BITS);
    for (uint32_t i = 0; i < count; i++) {
        int64_t fetch = cut ? 0 : replay_fetch_us(replay, first + i);
        int64_t us =
            as_it_is && !cut ? replay_own_us(replay, number, first + i) : replay_run_us(replay, number, first + i, i);
        int64_t slot = replay_slot_us(replay, us, fetch), end = slot > us ? slot : us;
        last = end > last ? end : last;
        busy = pyro_add_saturating(busy, us);
    }
    replay->busy = pyro_add_saturating(replay->busy, busy);
    pyro_replay_push(replay, replay_later(replay_later(replay->now, last), stage->tail), REPLAY_STAGE_END, number);
    return true;
}
