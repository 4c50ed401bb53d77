#include "analyze/tracks/thread_tasks.h"

#include <stdlib.h>

#include "base/memory/allocator.h"
#include "base/numbers/saturate.h"

/* A thread in an interval between two bounds. */
struct pyro_thread_sight {
    uint32_t interval, thread; /* number of the thread */
    bool explained;            /* its task is known */
};

/* Tasks of a thread, by their place in matching->tasks. */
struct pyro_thread_list {
    PYRO_VEC(uint32_t) tasks;
    int32_t thread;
};

enum {
    PASSES_MAX = 64,          /* each follows chains of tasks to their end in one direction */
    TOGETHER_MAX = 1024,      /* tasks that may run at once; an interval with more says nothing */
    CANDIDATES_MAX = 1 << 26, /* of all intervals: 256 MiB */
};

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool pyro_thread_tasks_begin(struct pyro_thread_tasks *matching, struct pyro_thread_task *tasks, size_t count,
                             int64_t slack_ns, struct pyro_arena *arena)
{
    *matching = (struct pyro_thread_tasks){.arena = arena, .tasks = tasks, .count = count, .slack_ns = slack_ns};
    pyro_map_init(&matching->last, arena->allocator);
    pyro_map_init(&matching->numbers, arena->allocator);
    if (count > UINT32_MAX / 4)
        return false;
    matching->bounds = pyro_arena_array(arena, 2 * count + 1, sizeof(*matching->bounds));
    if (!matching->bounds)
        return false;
    for (size_t i = 0; i < count; i++) {
        tasks[i].thread = -1;
        matching->bounds[2 * i] = pyro_add_saturating(tasks[i].start_ns, -slack_ns);
        matching->bounds[2 * i + 1] = pyro_add_saturating(tasks[i].end_ns, slack_ns);
    }
    qsort(matching->bounds, 2 * count, sizeof(*matching->bounds), compare_times);
    for (size_t i = 0; i < 2 * count; i++)
        if (matching->bound_count == 0 || matching->bounds[matching->bound_count - 1] != matching->bounds[i])
            matching->bounds[matching->bound_count++] = matching->bounds[i];
    return true;
}

void pyro_thread_tasks_done(struct pyro_thread_tasks *matching)
{
    for (size_t i = 0; matching->lists && i < matching->thread_count; i++)
        pyro_vec_done(&matching->lists[i].tasks, matching->arena->allocator);
    pyro_vec_done(&matching->sights, matching->arena->allocator);
    pyro_map_done(&matching->last);
    pyro_map_done(&matching->numbers);
}

bool pyro_thread_tasks_saw(struct pyro_thread_tasks *matching, int32_t thread, int64_t time_ns)
{
    while (matching->at < matching->bound_count && matching->bounds[matching->at] <= time_ns)
        matching->at++;
    if (matching->at == 0 || matching->at == matching->bound_count)
        return true; /* before the first task, or after the last */
    uint64_t *last = pyro_map_put(&matching->last, (uint64_t)(uint32_t)thread, NULL);
    uint64_t *number = last ? pyro_map_put(&matching->numbers, (uint64_t)(uint32_t)thread, NULL) : NULL;
    if (!number)
        return false;
    if (*number == 0)
        *number = ++matching->thread_count;
    if (*last == matching->at)
        return true;
    *last = matching->at;
    struct pyro_thread_sight *sight = pyro_vec_push(&matching->sights, matching->arena->allocator);
    if (!sight)
        return false;
    *sight = (struct pyro_thread_sight){.interval = (uint32_t)(matching->at - 1), .thread = (uint32_t)(*number - 1)};
    return true;
}

/* ---- Which tasks an interval may have ---------------------------------------------------------------------------- */

struct candidates {
    size_t *begins;  /* by interval, and the end of the last */
    uint32_t *tasks; /* places in matching->tasks */
};

/* Goes through the intervals with a thread in them. `ret->tasks` NULL: only counts. False: too many. */
static bool sweep(const struct pyro_thread_tasks *matching, const bool *wanted, uint32_t *running,
                  struct candidates *ret)
{
    size_t next = 0, count = 0, total = 0;
    for (size_t i = 0; i + 1 < matching->bound_count; i++) {
        int64_t from = matching->bounds[i];
        while (next < matching->count &&
               pyro_add_saturating(matching->tasks[next].start_ns, -matching->slack_ns) <= from)
            running[count++] = (uint32_t)next++;
        size_t kept = 0;
        for (size_t r = 0; r < count; r++)
            if (pyro_add_saturating(matching->tasks[running[r]].end_ns, matching->slack_ns) > from)
                running[kept++] = running[r];
        count = kept;
        ret->begins[i] = total;
        if (!wanted[i] || count > TOGETHER_MAX)
            continue;
        for (size_t r = 0; r < count && ret->tasks; r++)
            ret->tasks[total + r] = running[r];
        total += count;
        if (total > CANDIDATES_MAX)
            return false;
    }
    if (matching->bound_count > 0)
        ret->begins[matching->bound_count - 1] = total;
    return true;
}

/* ---- What follows ------------------------------------------------------------------------------------------------ */

static bool overlap(const struct pyro_thread_tasks *matching, uint32_t a, uint32_t b)
{
    const struct pyro_thread_task *x = &matching->tasks[a], *y = &matching->tasks[b];
    int64_t from = x->start_ns > y->start_ns ? x->start_ns : y->start_ns;
    int64_t to = x->end_ns < y->end_ns ? x->end_ns : y->end_ns;
    return to > from && to - from > 2 * matching->slack_ns;
}

/* Place of the first task of the thread that starts behind `task`. */
static size_t place_of(const struct pyro_thread_list *list, uint32_t task)
{
    size_t low = 0, high = list->tasks.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->tasks.items[middle] < task)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The tasks of a thread do not overlap, so that its neighbours decide. */
static bool is_possible(const struct pyro_thread_tasks *matching, const struct pyro_thread_list *list, uint32_t task)
{
    size_t at = place_of(list, task);
    return (at == 0 || !overlap(matching, list->tasks.items[at - 1], task)) &&
           (at == list->tasks.count || !overlap(matching, list->tasks.items[at], task));
}

static bool give(struct pyro_thread_tasks *matching, struct pyro_thread_list *list, uint32_t task)
{
    size_t at = place_of(list, task);
    if (!pyro_vec_reserve(&list->tasks, 1, matching->arena->allocator))
        return false;
    memmove(list->tasks.items + at + 1, list->tasks.items + at, (list->tasks.count - at) * sizeof(uint32_t));
    list->tasks.items[at] = task;
    list->tasks.count++;
    matching->tasks[task].thread = list->thread;
    return true;
}

/* Explains a sight where only one task is left. False: no memory. */
static bool explain(struct pyro_thread_tasks *matching, const struct candidates *candidates,
                    struct pyro_thread_sight *sight, bool *changed)
{
    struct pyro_thread_list *list = &matching->lists[sight->thread];
    uint32_t only = 0, left = 0;
    for (size_t i = candidates->begins[sight->interval]; i < candidates->begins[sight->interval + 1]; i++) {
        uint32_t task = candidates->tasks[i];
        if (matching->tasks[task].thread == list->thread) {
            sight->explained = true;
            return true;
        }
        if (matching->tasks[task].thread >= 0 || !is_possible(matching, list, task))
            continue;
        only = task;
        if (++left > 1)
            return true;
    }
    if (left == 0)
        return true;
    *changed = sight->explained = true;
    return give(matching, list, only);
}

static bool follow(struct pyro_thread_tasks *matching, const struct candidates *candidates)
{
    bool changed = true;
    for (unsigned pass = 0; pass < PASSES_MAX && changed; pass++) {
        changed = false;
        for (size_t i = 0; i < matching->sights.count; i++) {
            size_t at = pass % 2 == 0 ? i : matching->sights.count - 1 - i;
            struct pyro_thread_sight *sight = &matching->sights.items[at];
            if (!sight->explained && !explain(matching, candidates, sight, &changed))
                return false;
        }
    }
    return true;
}

bool pyro_thread_tasks_match(struct pyro_thread_tasks *matching)
{
    struct pyro_arena *arena = matching->arena;
    struct candidates candidates = {0};
    if (matching->sights.count == 0)
        return true;
    bool *wanted = pyro_arena_array(arena, matching->bound_count, sizeof(*wanted));
    uint32_t *running = pyro_arena_array(arena, matching->count + 1, sizeof(*running));
    candidates.begins = pyro_arena_array(arena, matching->bound_count + 1, sizeof(*candidates.begins));
    matching->lists = pyro_arena_array(arena, matching->thread_count, sizeof(*matching->lists));
    if (!wanted || !running || !candidates.begins || !matching->lists)
        return false;
    for (size_t i = 0; i < matching->sights.count; i++)
        wanted[matching->sights.items[i].interval] = true;
    for (size_t i = 0; i < matching->numbers.slot_count; i++)
        if (matching->numbers.used[i])
            matching->lists[matching->numbers.slots[i].value - 1].thread = (int32_t)matching->numbers.slots[i].key;
    if (!sweep(matching, wanted, running, &candidates))
        return true; /* too much to say anything */
    candidates.tasks =
        pyro_arena_array(arena, candidates.begins[matching->bound_count - 1] + 1, sizeof(*candidates.tasks));
    return candidates.tasks && sweep(matching, wanted, running, &candidates) && follow(matching, &candidates);
}
