/* How many tasks each executor ran at once. */
#include <stdlib.h>

#include "base/numbers/saturate.h"
#include "load/logged/logged.h"

struct step {
    size_t executor;
    int64_t time_ms, more;
};

/* Ends first: a line says the second only. */
static int compare_steps(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    if (a->executor != b->executor)
        return a->executor < b->executor ? -1 : 1;
    if (a->time_ms != b->time_ms)
        return a->time_ms < b->time_ms ? -1 : 1;
    return (a->more > b->more) - (a->more < b->more);
}

/* The driver starts the next task before it writes that one has finished. */
enum { WRITTEN_LATE_MS = 200 };

/* The most tasks that each executor ran at once, and those without a log of their own. */
bool pyro_logged_count_cores(struct pyro_logged *logged)
{
    const struct pyro_line_result *lines = &logged->lines;
    size_t made = 0;
    struct step *steps = pyro_allocate(logged->allocator, (2 * lines->task_count + 1) * sizeof(*steps));
    for (size_t i = 0; steps && i < lines->task_count; i++) {
        const struct pyro_line_task *task = &lines->tasks[i];
        struct pyro_slice id = pyro_line_executor(logged->timeline, task);
        if (task->application != logged->application || !id.ptr || task->start_ms == PYRO_NONE)
            continue;
        struct pyro_logged_executor *row = pyro_logged_executor(logged, id, true);
        if (!row)
            break;
        if (row->first_ms == PYRO_NONE || task->start_ms < row->first_ms)
            row->first_ms = task->start_ms;
        size_t executor = (size_t)(row - logged->executors.items);
        int64_t end_ms =
            pyro_sub_saturating(task->end_ms == PYRO_NONE ? logged->end_ms : task->end_ms, WRITTEN_LATE_MS);
        row->cores += row->cores == 0;
        steps[made++] = (struct step){executor, task->start_ms, 1};
        steps[made++] = (struct step){executor, end_ms > task->start_ms ? end_ms : task->start_ms, -1};
    }
    if (steps && made > 0)
        qsort(steps, made, sizeof(*steps), compare_steps);
    int64_t now = 0;
    for (size_t i = 0; i < made; i++) {
        struct pyro_logged_executor *row = &logged->executors.items[steps[i].executor];
        now = (i == 0 || steps[i].executor != steps[i - 1].executor ? 0 : now) + steps[i].more;
        row->cores = now > row->cores ? now : row->cores;
    }
    pyro_release(logged->allocator, steps);
    return steps && !logged->failed;
}
