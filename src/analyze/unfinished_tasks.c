/* When tasks without an end gave their slot back.
 *
 * The driver died, the log was cut, or events were dropped. Such a task holds its slot until the log or its executor
 * ends: this is what is known. Its stage's completion ends it as well (what still runs then are copies, which are
 * killed), and so does the launch of a task that would not have had a slot otherwise: the one that runs longest is
 * taken to have ended. */
#include "analyze/unfinished_tasks.h"

#include "analyze/accounts/marks.h"
#include "analyze/analyze.h"
#include "analyze/scratch.h"
#include "analyze/task_rows.h"
#include "analyze/task_slots.h"
#include "base/memory/allocator.h"
#include "base/numbers/saturate.h"

enum { TASK_END, UNFINISHED_END, TASK_START, UNFINISHED_START };

#define NOBODY UINT32_MAX

struct slots {
    int64_t cores, used;
    uint32_t first, last; /* unfinished tasks that run there, by launch */
    bool looked_at;
};

struct sweep {
    struct pyro_app *app;
    struct pyro_window window;
    struct slots *executors;
    uint32_t *cpus, *next; /* by stage row; by unfinished task */
    bool *over;            /* by unfinished task: not in the list any more, or not yet */
    struct pyro_marks marks;
};

static int64_t first_of(int64_t a, int64_t b)
{
    return b != PYRO_NONE && b < a ? b : a;
}

/* From what the log says of its executor and its stage. */
static void set_end(const struct pyro_app *app, struct pyro_unfinished_task *task)
{
    int64_t until = app->application.end_ms;
    if (until == PYRO_NONE || task->launch_ms == PYRO_NONE)
        return;
    if (task->stage_row >= 0)
        until = first_of(until, app->stages.items[task->stage_row].completed_ms);
    if (task->executor_row >= 0) {
        int64_t removed = app->executors.items[task->executor_row].removed_ms;
        task->lost = removed != PYRO_NONE && removed <= until;
        until = first_of(until, removed);
    }
    task->until_ms = until > task->launch_ms ? until : task->launch_ms;
}

static bool open_sweep(struct sweep *sweep, struct pyro_app *app)
{
    *sweep = (struct sweep){.app = app, .window = pyro_app_window(app)};
    pyro_marks_init(&sweep->marks, app->allocator, 0);
    sweep->executors = pyro_scratch(app, app->executors.count, sizeof(*sweep->executors));
    sweep->cpus = pyro_stage_cpus(app);
    sweep->next = pyro_scratch(app, app->unfinished_tasks.count, sizeof(*sweep->next));
    sweep->over = pyro_scratch(app, app->unfinished_tasks.count, sizeof(*sweep->over));
    return sweep->executors && sweep->cpus && sweep->next && sweep->over;
}

static void close_sweep(struct sweep *sweep)
{
    const struct pyro_allocator *allocator = sweep->app->allocator;
    pyro_marks_done(&sweep->marks);
    pyro_release(allocator, sweep->executors);
    pyro_release(allocator, sweep->cpus);
    pyro_release(allocator, sweep->next);
    pyro_release(allocator, sweep->over);
}

static void add_unfinished(struct sweep *sweep)
{
    struct pyro_app *app = sweep->app;
    for (size_t i = 0; i < app->executors.count; i++)
        sweep->executors[i] =
            (struct slots){(int64_t)pyro_executor_cores(&app->executors.items[i]), 0, NOBODY, NOBODY, false};
    for (size_t i = 0; i < app->unfinished_tasks.count; i++) {
        const struct pyro_unfinished_task *task = &app->unfinished_tasks.items[i];
        sweep->over[i] = true;
        uint64_t from, to;
        if (task->executor_row < 0 || !pyro_unfinished_interval(&sweep->window, task, &from, &to))
            continue;
        sweep->executors[task->executor_row].looked_at = true;
        pyro_marks_add(&sweep->marks, from, UNFINISHED_START, i);
        pyro_marks_add(&sweep->marks, to, UNFINISHED_END, i);
    }
}

static bool add_tasks(struct sweep *sweep)
{
    const struct pyro_app *app = sweep->app;
    int64_t(*times)[PYRO_READ_ROWS] = pyro_scratch(app, 3, sizeof(*times));
    for (size_t first = 0; times && first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        pyro_run_times(app, first, count, times);
        for (size_t i = 0; i < count; i++) {
            int32_t executor = app->tasks.executor_rows[first + i];
            uint64_t from = pyro_window_at(&sweep->window, times[0][i]);
            uint64_t to = pyro_window_at(&sweep->window, times[1][i]);
            if (executor < 0 || !sweep->executors[executor].looked_at || from >= to)
                continue;
            pyro_marks_add(&sweep->marks, from, TASK_START, first + i);
            pyro_marks_add(&sweep->marks, to, TASK_END, first + i);
        }
    }
    pyro_release(app->allocator, times);
    return times != NULL;
}

static int64_t cpus_of(const struct sweep *sweep, int32_t stage)
{
    return sweep->cpus[stage < 0 ? sweep->app->stages.count : (size_t)stage];
}

static void end_unfinished(struct sweep *sweep, uint32_t number)
{
    const struct pyro_unfinished_task *task = &sweep->app->unfinished_tasks.items[number];
    if (sweep->over[number])
        return;
    sweep->over[number] = true;
    sweep->executors[task->executor_row].used -= cpus_of(sweep, task->stage_row);
}

/* Makes room for a launch. */
static void start(struct sweep *sweep, int32_t executor, int64_t cpus, uint64_t at)
{
    struct slots *slots = &sweep->executors[executor];
    while (slots->cores > 0 && slots->used + cpus > slots->cores && slots->first != NOBODY) {
        uint32_t number = slots->first;
        slots->first = sweep->next[number];
        if (sweep->over[number])
            continue;
        struct pyro_unfinished_task *task = &sweep->app->unfinished_tasks.items[number];
        task->until_ms = sweep->window.start + (int64_t)at;
        task->lost = false;
        end_unfinished(sweep, number);
    }
    slots->used += cpus;
}

static void walk(struct sweep *sweep)
{
    const struct pyro_app *app = sweep->app;
    for (size_t i = 0; i < sweep->marks.list.count; i++) {
        const struct pyro_mark *mark = &sweep->marks.list.items[i];
        const struct pyro_unfinished_task *task;
        struct slots *slots;
        switch (mark->kind) {
        case TASK_START:
            start(sweep, app->tasks.executor_rows[mark->row], cpus_of(sweep, app->tasks.stage_rows[mark->row]),
                  mark->at);
            break;
        case TASK_END:
            sweep->executors[app->tasks.executor_rows[mark->row]].used -=
                cpus_of(sweep, app->tasks.stage_rows[mark->row]);
            break;
        case UNFINISHED_START:
            task = &app->unfinished_tasks.items[mark->row];
            start(sweep, task->executor_row, cpus_of(sweep, task->stage_row), mark->at);
            slots = &sweep->executors[task->executor_row];
            sweep->over[mark->row] = false;
            sweep->next[mark->row] = NOBODY;
            if (slots->first == NOBODY)
                slots->first = mark->row;
            else
                sweep->next[slots->last] = mark->row;
            slots->last = mark->row;
            break;
        default:
            end_unfinished(sweep, mark->row);
            break;
        }
    }
}

/* A slot that is given back at an instant is free for a launch at the same one: sorted by kind, then by time. */
static bool order_marks(struct sweep *sweep)
{
    struct pyro_mark *marks = sweep->marks.list.items;
    struct pyro_mark *room = pyro_allocate(sweep->app->allocator, (sweep->marks.list.count + 1) * sizeof(*room));
    bool done = room && !sweep->marks.failed;
    if (done) {
        size_t count = 0;
        for (uint32_t kind = TASK_END; kind <= UNFINISHED_START; kind++)
            for (size_t i = 0; i < sweep->marks.list.count; i++)
                if (marks[i].kind == kind)
                    room[count++] = marks[i];
        if (count > 0)
            memcpy(marks, room, count * sizeof(*marks));
    }
    pyro_release(sweep->app->allocator, room);
    return done && pyro_marks_finish(&sweep->marks);
}

enum pyro_status pyro_analyze_unfinished(struct pyro_app *app, struct pyro_error *error)
{
    if (app->unfinished_tasks.count == 0)
        return PYRO_OK;
    for (size_t i = 0; i < app->unfinished_tasks.count; i++)
        set_end(app, &app->unfinished_tasks.items[i]);
    struct sweep sweep;
    bool done = open_sweep(&sweep, app);
    if (done) {
        add_unfinished(&sweep);
        done = add_tasks(&sweep) && order_marks(&sweep);
    }
    if (done)
        walk(&sweep);
    close_sweep(&sweep);
    for (size_t i = 0; done && i < app->unfinished_tasks.count; i++) {
        const struct pyro_unfinished_task *task = &app->unfinished_tasks.items[i];
        if (task->executor_row >= 0) {
            int64_t *busy = &app->executors.items[task->executor_row].busy_ms;
            *busy = pyro_add_saturating(*busy, pyro_unfinished_ms(task));
        }
    }
    return done ? PYRO_OK : pyro_no_memory(error);
}
