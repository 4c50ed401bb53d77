/* Which thread of an executor ran which task, found from when threads were seen inside of a task and when tasks ran.
 *
 * A thread that was seen while a single task ran had that task; a thread runs one task at a time. These two are applied
 * until nothing new follows. A task gets a thread only where no other is possible. */
#ifndef PYRO_ANALYZE_TRACKS_THREAD_TASKS_H
#define PYRO_ANALYZE_TRACKS_THREAD_TASKS_H

#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "base/memory/arena.h"

/* A task of the executor, from its launch to its end as the driver saw them. */
struct pyro_thread_task {
    int64_t start_ns, end_ns; /* start <= end */
    int32_t thread;           /* found: the thread, or -1 */
};

struct pyro_thread_sight;

struct pyro_thread_tasks {
    struct pyro_arena *arena;
    struct pyro_thread_task *tasks; /* by start; the caller's */
    size_t count;
    int64_t slack_ns;              /* how far the clocks of driver and executor may differ */
    int64_t *bounds;               /* sorted: between two of them the same tasks may have run */
    size_t bound_count, at;        /* at: where the newest sight was */
    struct pyro_map last, numbers; /* by thread: its newest interval + 1; its number + 1 */
    PYRO_VEC(struct pyro_thread_sight) sights;
    struct pyro_thread_list *lists; /* by number of a thread: its tasks */
    size_t thread_count;
};

/* Some of its memory comes from the arena. False: none left; pyro_thread_tasks_done() in any case. */
bool pyro_thread_tasks_begin(struct pyro_thread_tasks *matching, struct pyro_thread_task *tasks, size_t count,
                             int64_t slack_ns, struct pyro_arena *arena);
/* The thread was inside of some task; times must not decrease. False: no memory. */
bool pyro_thread_tasks_saw(struct pyro_thread_tasks *matching, int32_t thread, int64_t time_ns);
/* Fills tasks[].thread. False: no memory. */
bool pyro_thread_tasks_match(struct pyro_thread_tasks *matching);
void pyro_thread_tasks_done(struct pyro_thread_tasks *matching);

#endif
