/* Wall account: what the application's time went to, instant by instant. */
#include "analyze/accounts/fixed_point.h"
#include "analyze/accounts/marks.h"
#include "analyze/accounts/split.h"
#include "analyze/accounts/stage_wall.h"
#include "analyze/analyze.h"
#include "analyze/scratch.h"
#include "analyze/task_rows.h"
#include "analyze/unfinished_tasks.h"

_Static_assert(PYRO_WALL_GETTING_RESULT - PYRO_WALL_SCHEDULER_DELAY + 1 == PYRO_SPLIT_PARTS &&
                   PYRO_WALL_COMPUTE - PYRO_WALL_SCHEDULER_DELAY == PYRO_SPLIT_COMPUTE,
               "task parts stand in one order");

enum { TASK_START, TASK_END, STAGE_START, STAGE_END, EXECUTOR_START, EXECUTOR_END };

static void add_tasks(const struct pyro_app *app, const struct pyro_window *window, struct pyro_marks *marks,
                      int64_t (*buffer)[PYRO_READ_ROWS])
{
    for (size_t first = 0; first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        pyro_run_times(app, first, count, buffer);
        for (size_t i = 0; i < count; i++) {
            uint64_t from = pyro_window_at(window, buffer[0][i]), to = pyro_window_at(window, buffer[1][i]);
            if (from >= to)
                continue;
            pyro_marks_add(marks, from, TASK_START, first + i);
            pyro_marks_add(marks, to, TASK_END, first + i);
        }
    }
    for (size_t i = 0; i < app->unfinished_tasks.count; i++) {
        uint64_t from, to;
        if (!pyro_unfinished_interval(window, &app->unfinished_tasks.items[i], &from, &to))
            continue;
        pyro_marks_add(marks, from, TASK_START, app->tasks.count + i);
        pyro_marks_add(marks, to, TASK_END, app->tasks.count + i);
    }
}

static void add_intervals(const struct pyro_app *app, const struct pyro_window *window, struct pyro_marks *marks)
{
    uint64_t from, to;
    for (size_t i = 0; i < app->stages.count; i++) {
        if (!pyro_stage_interval(window, &app->stages.items[i], &from, &to) || from == to)
            continue;
        pyro_marks_add(marks, from, STAGE_START, i);
        pyro_marks_add(marks, to, STAGE_END, i);
    }
    for (size_t i = 0; i < app->executors.count; i++) {
        pyro_executor_interval(window, &app->executors.items[i], &from, &to);
        pyro_marks_add(marks, from, EXECUTOR_START, i);
        pyro_marks_add(marks, to, EXECUTOR_END, i);
    }
}

/* Walks along the marks. *pause gets the longest stretch in which executors had no task. parts[] gets the instants
 * without tasks; shares[] what of the others belongs to each task; waits[], where it is not NULL, what of the
 * scheduling belongs to each stage. */
static void sweep(const struct pyro_app *app, const struct pyro_window *window, const struct pyro_marks *marks,
                  pyro_fixed *parts, pyro_fixed *shares, pyro_fixed *waits, uint64_t *pause)
{
    uint64_t now = 0, tasks = 0, stages = 0, alive = 0, idle = 0;
    *pause = 0;
    bool log_has_executors = app->executors.count > 0, any_added = !log_has_executors;
    pyro_fixed clock = 0;     /* what a task that ran from the start on would have got by now */
    pyro_fixed scheduled = 0; /* the same for the scheduling of a stage */
    for (size_t i = 0; i <= marks->list.count; i++) {
        const struct pyro_mark *mark = i < marks->list.count ? &marks->list.items[i] : NULL;
        uint64_t next = mark ? mark->at : window->length, dt = next - now;
        if (dt > 0) {
            bool no_executor = !any_added || (stages > 0 && alive == 0 && log_has_executors);
            idle = tasks == 0 && !no_executor ? idle + dt : 0;
            *pause = idle > *pause ? idle : *pause;
            if (waits && tasks == 0 && stages > 0 && !no_executor)
                scheduled += pyro_fixed_scaled(dt, 1, stages);
            if (tasks > 0)
                clock += pyro_fixed_scaled(dt, 1, tasks);
            else
                parts[no_executor  ? PYRO_WALL_RESOURCE_WAIT
                      : stages > 0 ? PYRO_WALL_SCHEDULING
                                   : PYRO_WALL_DRIVER] += (pyro_fixed)dt << PYRO_FIXED_BITS;
            now = next;
        }
        if (!mark)
            break;
        switch (mark->kind) {
        case TASK_START:
            tasks++;
            shares[mark->row] = clock;
            break;
        case TASK_END:
            tasks--;
            shares[mark->row] = clock - shares[mark->row];
            break;
        case STAGE_START:
            stages++;
            if (waits)
                waits[mark->row] = scheduled;
            break;
        case STAGE_END:
            stages--;
            if (waits)
                waits[mark->row] = scheduled - waits[mark->row];
            break;
        case EXECUTOR_START:
            any_added = true;
            alive++;
            break;
        default:
            alive--;
            break;
        }
    }
}

static void share_out(const struct pyro_app *app, const pyro_fixed *shares, struct pyro_split_run *run,
                      pyro_fixed *parts)
{
    for (size_t first = 0; first < app->tasks.count; first += PYRO_SPLIT_RUN) {
        size_t count = app->tasks.count - first < PYRO_SPLIT_RUN ? app->tasks.count - first : PYRO_SPLIT_RUN;
        pyro_split_read(app, first, count, run);
        for (size_t i = 0; i < count; i++)
            pyro_share_out(&run->splits[i], shares[first + i], parts + PYRO_WALL_SCHEDULER_DELAY);
    }
    for (size_t i = 0; i < app->unfinished_tasks.count; i++)
        parts[PYRO_WALL_COMPUTE] += shares[app->tasks.count + i];
}

/* Fills shares and waits (may be NULL) as sweep() does; false: no memory. */
static bool walk(const struct pyro_app *app, const struct pyro_window *window, pyro_fixed *parts, pyro_fixed *shares,
                 pyro_fixed *waits, uint64_t *pause)
{
    struct pyro_marks marks;
    pyro_marks_init(&marks, app->allocator, 2 * (pyro_all_tasks(app) + app->stages.count + app->executors.count));
    int64_t(*buffer)[PYRO_READ_ROWS] = pyro_scratch(app, 3, sizeof(*buffer));
    bool done = buffer != NULL;
    if (done) {
        add_tasks(app, window, &marks, buffer);
        add_intervals(app, window, &marks);
        done = pyro_marks_finish(&marks);
    }
    if (done)
        sweep(app, window, &marks, parts, shares, waits, pause);
    pyro_marks_done(&marks);
    pyro_release(app->allocator, buffer);
    return done;
}

enum pyro_status pyro_analyze_wall(struct pyro_app *app, struct pyro_error *error)
{
    struct pyro_window window = pyro_app_window(app);
    pyro_fixed *shares = pyro_scratch(app, pyro_all_tasks(app), sizeof(*shares));
    struct pyro_split_run *run = pyro_scratch(app, 1, sizeof(*run));
    pyro_fixed parts[PYRO_WALL_PARTS] = {0}, sum = 0;
    uint64_t pause = 0;
    bool done = shares && run && walk(app, &window, parts, shares, NULL, &pause);
    if (done) {
        app->numbers.longest_pause_ms = (int64_t)pause;
        share_out(app, shares, run, parts);
        for (unsigned i = 0; i < PYRO_WALL_PARTS; i++)
            sum += parts[i];
        /* Only shares of running tasks are rounded down, so what is missing is theirs. */
        parts[PYRO_WALL_COMPUTE] += ((pyro_fixed)window.length << PYRO_FIXED_BITS) - sum;
        app->numbers.wall_total_ms = (int64_t)window.length;
        pyro_round_parts(parts, PYRO_WALL_PARTS, app->numbers.wall_total_ms, app->numbers.wall_ms);
    }
    pyro_release(app->allocator, shares);
    pyro_release(app->allocator, run);
    return done ? PYRO_OK : pyro_no_memory(error);
}

/* Adds each task to its stage, or to what was done again. */
static void add_to_stages(const struct pyro_app *app, const pyro_fixed *shares, struct pyro_split_run *run,
                          struct pyro_stage_wall *stages, pyro_fixed *again)
{
    int64_t status[PYRO_SPLIT_RUN];
    for (size_t first = 0; first < app->tasks.count; first += PYRO_SPLIT_RUN) {
        size_t count = app->tasks.count - first < PYRO_SPLIT_RUN ? app->tasks.count - first : PYRO_SPLIT_RUN;
        pyro_split_read(app, first, count, run);
        pyro_task_read(&app->tasks, PYRO_TASK_status, first, count, status);
        for (size_t i = 0; i < count; i++) {
            int32_t row = app->tasks.stage_rows[first + i];
            if (status[i] != PYRO_TASK_SUCCESS || (row >= 0 && app->stages.items[row].attempt > 0)) {
                *again += shares[first + i];
                continue;
            }
            struct pyro_stage_wall *stage = &stages[row < 0 ? app->stages.count : (size_t)row];
            const struct pyro_task_split *split = &run->splits[i];
            stage->tasks += shares[first + i];
            stage->task_ms = pyro_add_saturating(stage->task_ms, split->duration_ms);
            const int64_t parts[PYRO_SPLIT_PARTS] = {
                split->scheduler_delay,    split->deserialize,   split->compute,          split->gc,
                split->shuffle_fetch_wait, split->shuffle_write, split->result_serialize, split->getting_result};
            for (unsigned k = 0; k < PYRO_SPLIT_PARTS; k++)
                stage->split_ms[k] = pyro_add_saturating(stage->split_ms[k], parts[k]);
        }
    }
    for (size_t i = 0; i < app->unfinished_tasks.count; i++) {
        const struct pyro_unfinished_task *task = &app->unfinished_tasks.items[i];
        pyro_fixed share = shares[app->tasks.count + i];
        if (task->lost || task->speculative == 1 ||
            (task->stage_row >= 0 && app->stages.items[task->stage_row].attempt > 0)) {
            *again += share;
            continue;
        }
        struct pyro_stage_wall *stage = &stages[task->stage_row < 0 ? app->stages.count : (size_t)task->stage_row];
        stage->tasks += share;
        stage->task_ms = pyro_add_saturating(stage->task_ms, pyro_unfinished_ms(task));
        stage->split_ms[PYRO_SPLIT_COMPUTE] =
            pyro_add_saturating(stage->split_ms[PYRO_SPLIT_COMPUTE], pyro_unfinished_ms(task));
    }
}

enum pyro_status pyro_wall_by_stage(const struct pyro_app *app, struct pyro_wall_split *split,
                                    struct pyro_stage_wall *stages, struct pyro_error *error)
{
    struct pyro_window window = pyro_app_window(app);
    pyro_fixed *shares = pyro_scratch(app, pyro_all_tasks(app), sizeof(*shares));
    pyro_fixed *waits = pyro_scratch(app, app->stages.count, sizeof(*waits));
    struct pyro_split_run *run = pyro_scratch(app, 1, sizeof(*run));
    pyro_fixed parts[PYRO_WALL_PARTS] = {0};
    uint64_t pause = 0;
    bool done = shares && waits && run && walk(app, &window, parts, shares, waits, &pause);
    if (done) {
        memset(stages, 0, (app->stages.count + 1) * sizeof(*stages));
        *split = (struct pyro_wall_split){.length_ms = (int64_t)window.length,
                                          .resource_wait = parts[PYRO_WALL_RESOURCE_WAIT],
                                          .driver = parts[PYRO_WALL_DRIVER]};
        add_to_stages(app, shares, run, stages, &split->again);
        for (size_t i = 0; i < app->stages.count; i++) {
            if (app->stages.items[i].attempt > 0)
                split->again += waits[i];
            else
                stages[i].scheduling = waits[i];
        }
    }
    pyro_release(app->allocator, shares);
    pyro_release(app->allocator, waits);
    pyro_release(app->allocator, run);
    return done ? PYRO_OK : pyro_no_memory(error);
}
