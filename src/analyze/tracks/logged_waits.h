/* Waits that text logs name, such as before a retry, given to the tasks that ran meanwhile on the same executor. */
#ifndef PYRO_ANALYZE_TRACKS_LOGGED_WAITS_H
#define PYRO_ANALYZE_TRACKS_LOGGED_WAITS_H

#include "base/memory/arena.h"
#include "model/app.h"

struct pyro_task_wait {
    size_t task; /* row */
    double ms;   /* of its time; waits that overlap count once */
};

struct pyro_logged_waits {
    struct pyro_task_wait *tasks; /* in the order of their rows */
    size_t task_count;
    size_t count;             /* waits that the logs name */
    double total_ms;          /* of all of these */
    double tasks_ms;          /* the part of it that tasks waited */
    size_t alone, many;       /* waits while one task ran on the executor, or several: these share it equally */
    struct pyro_slice logger; /* that names most time; null: none */
};

/* NULL: no memory left in the arena. */
const struct pyro_logged_waits *pyro_logged_waits_new(const struct pyro_app *app, struct pyro_arena *arena);

#endif
