/* Core account: what the cores that the application held were used for. */
#include "analyze/accounts/core.h"

#include "analyze/accounts/fixed_point.h"
#include "analyze/accounts/marks.h"
#include "analyze/accounts/split.h"
#include "analyze/analyze.h"
#include "analyze/scratch.h"
#include "analyze/task_rows.h"
#include "analyze/task_slots.h"
#include "analyze/unfinished_tasks.h"

_Static_assert(PYRO_CORE_SCHEDULER_DELAY == 0 && (int)PYRO_CORE_GETTING_RESULT + 1 == PYRO_SPLIT_PARTS &&
                   (int)PYRO_CORE_COMPUTE == PYRO_SPLIT_COMPUTE,
               "task parts stand in one order");

/* A task runs in the application from START to END, and on its executor from ATTACH to DETACH; mostly these are the
 * same, which BOTH_ stands for. */
enum {
    TASK_START,
    TASK_END,
    TASK_ATTACH,
    TASK_DETACH,
    BOTH_START,
    BOTH_END,
    STAGE_START,
    STAGE_END,
    EXECUTOR_START,
    EXECUTOR_END
};

struct executor_state {
    uint64_t last; /* until when it is accounted */
    uint64_t from, to, cores, used;
    uint64_t idle_clock[PYRO_IDLES]; /* the sweep's, at `last` */
    pyro_fixed idle[PYRO_IDLES];     /* core ms */
    pyro_fixed clock;                /* what a task of one CPU that ran here all the time would have got */
    bool alive;
};

struct core_sweep {
    const struct pyro_app *app;
    struct pyro_window window;
    struct pyro_marks marks;
    struct executor_state *executors;
    pyro_fixed *shares; /* by task, those without an end last */
    uint32_t *cpus;     /* by stage row, the last for tasks without one */
    int64_t (*buffer)[PYRO_READ_ROWS];
    struct pyro_split_run *run;
    uint64_t idle_clock[PYRO_IDLES]; /* ms so far in which idle cores would have been idle for this reason */
};

static uint32_t cpus_of(const struct core_sweep *sweep, size_t task)
{
    int32_t row = pyro_stage_of(sweep->app, task);
    return sweep->cpus[row < 0 ? sweep->app->stages.count : (size_t)row];
}

static void add_task(struct core_sweep *sweep, size_t task, uint64_t from, uint64_t to)
{
    if (from >= to)
        return;
    int32_t row = pyro_executor_of(sweep->app, task);
    const struct executor_state *executor = row < 0 ? NULL : &sweep->executors[row];
    bool both = executor && executor->from <= from && executor->to >= to;
    pyro_marks_add(&sweep->marks, from, both ? BOTH_START : TASK_START, task);
    pyro_marks_add(&sweep->marks, to, both ? BOTH_END : TASK_END, task);
    if (!executor || both)
        return;
    from = from > executor->from ? from : executor->from;
    to = to < executor->to ? to : executor->to;
    if (from >= to)
        return;
    pyro_marks_add(&sweep->marks, from, TASK_ATTACH, task);
    pyro_marks_add(&sweep->marks, to, TASK_DETACH, task);
}

static void add_tasks(struct core_sweep *sweep)
{
    const struct pyro_app *app = sweep->app;
    for (size_t first = 0; first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        pyro_run_times(app, first, count, sweep->buffer);
        for (size_t i = 0; i < count; i++)
            add_task(sweep, first + i, pyro_window_at(&sweep->window, sweep->buffer[0][i]),
                     pyro_window_at(&sweep->window, sweep->buffer[1][i]));
    }
    for (size_t i = 0; i < app->unfinished_tasks.count; i++) {
        uint64_t from, to;
        if (pyro_unfinished_interval(&sweep->window, &app->unfinished_tasks.items[i], &from, &to))
            add_task(sweep, app->tasks.count + i, from, to);
    }
}

static void add_intervals(struct core_sweep *sweep)
{
    uint64_t from, to;
    for (size_t i = 0; i < sweep->app->stages.count; i++) {
        if (!pyro_stage_interval(&sweep->window, &sweep->app->stages.items[i], &from, &to))
            continue;
        pyro_marks_add(&sweep->marks, from, STAGE_START, i);
        pyro_marks_add(&sweep->marks, to, STAGE_END, i);
    }
    for (size_t i = 0; i < sweep->app->executors.count; i++) {
        pyro_marks_add(&sweep->marks, sweep->executors[i].from, EXECUTOR_START, i);
        pyro_marks_add(&sweep->marks, sweep->executors[i].to, EXECUTOR_END, i);
    }
}

/* Accounts an executor up to `now`. Executors are only visited when something changes on them; what the application
 * did in between is the difference of the idle clocks. */
static void account(struct core_sweep *sweep, struct executor_state *executor, uint64_t now)
{
    uint64_t dt = now - executor->last;
    if (executor->alive && dt > 0) {
        bool fits = executor->used <= executor->cores;
        if (executor->used > 0) /* tasks that want more cores than there are get less than the time they took */
            executor->clock +=
                fits ? (pyro_fixed)dt << PYRO_FIXED_BITS : pyro_fixed_scaled(dt, executor->cores, executor->used);
        pyro_fixed idle_cores = fits ? executor->cores - executor->used : 0;
        for (unsigned i = 0; i < PYRO_IDLES; i++)
            executor->idle[i] += idle_cores * (sweep->idle_clock[i] - executor->idle_clock[i]);
    }
    executor->last = now;
    memcpy(executor->idle_clock, sweep->idle_clock, sizeof(executor->idle_clock));
}

static void attach(struct core_sweep *sweep, uint32_t task, uint64_t now)
{
    struct executor_state *executor = &sweep->executors[pyro_executor_of(sweep->app, task)];
    account(sweep, executor, now);
    executor->used += cpus_of(sweep, task);
    sweep->shares[task] = executor->clock;
}

static void detach(struct core_sweep *sweep, uint32_t task, uint64_t now)
{
    struct executor_state *executor = &sweep->executors[pyro_executor_of(sweep->app, task)];
    account(sweep, executor, now);
    executor->used -= cpus_of(sweep, task);
    sweep->shares[task] = (executor->clock - sweep->shares[task]) * cpus_of(sweep, task);
}

static void walk(struct core_sweep *sweep)
{
    uint64_t now = 0, tasks = 0, stages = 0;
    for (size_t i = 0; i < sweep->marks.list.count; i++) {
        const struct pyro_mark *mark = &sweep->marks.list.items[i];
        sweep->idle_clock[stages == 0  ? PYRO_IDLE_DRIVER
                          : tasks == 0 ? PYRO_IDLE_WAIT
                                       : PYRO_IDLE_NO_WORK] += mark->at - now;
        now = mark->at;
        struct executor_state *executor;
        switch (mark->kind) {
        case BOTH_START:
        case TASK_START:
            tasks++;
            if (mark->kind == BOTH_START)
                attach(sweep, mark->row, now);
            break;
        case BOTH_END:
        case TASK_END:
            tasks--;
            if (mark->kind == BOTH_END)
                detach(sweep, mark->row, now);
            break;
        case TASK_ATTACH:
            attach(sweep, mark->row, now);
            break;
        case TASK_DETACH:
            detach(sweep, mark->row, now);
            break;
        case STAGE_START:
            stages++;
            break;
        case STAGE_END:
            stages--;
            break;
        default:
            executor = &sweep->executors[mark->row];
            account(sweep, executor, now);
            executor->alive = mark->kind == EXECUTOR_START;
            break;
        }
    }
}

static void share_out(const struct core_sweep *sweep, pyro_fixed *parts)
{
    const struct pyro_app *app = sweep->app;
    int64_t *status = sweep->buffer[0];
    for (size_t first = 0; first < app->tasks.count; first += PYRO_SPLIT_RUN) {
        size_t count = app->tasks.count - first < PYRO_SPLIT_RUN ? app->tasks.count - first : PYRO_SPLIT_RUN;
        pyro_split_read(app, first, count, sweep->run);
        pyro_task_read(&app->tasks, PYRO_TASK_status, first, count, status);
        for (size_t i = 0; i < count; i++) {
            if (status[i] == PYRO_TASK_SUCCESS)
                pyro_share_out(&sweep->run->splits[i], sweep->shares[first + i], parts);
            else
                parts[PYRO_CORE_FAILED_TASKS] += sweep->shares[first + i];
        }
    }
    for (size_t i = 0; i < app->unfinished_tasks.count; i++)
        parts[app->unfinished_tasks.items[i].lost ? PYRO_CORE_FAILED_TASKS : PYRO_CORE_COMPUTE] +=
            sweep->shares[app->tasks.count + i];
}

/* Core ms that all executors offer; false when there are none, or more than an int64_t counts. */
static bool prepare_executors(struct core_sweep *sweep, int64_t *total)
{
    pyro_fixed sum = 0;
    for (size_t i = 0; i < sweep->app->executors.count; i++) {
        struct executor_state *executor = &sweep->executors[i];
        executor->cores = pyro_executor_cores(&sweep->app->executors.items[i]);
        pyro_executor_interval(&sweep->window, &sweep->app->executors.items[i], &executor->from, &executor->to);
        sum += (pyro_fixed)(executor->to - executor->from) * executor->cores;
    }
    *total = sum > INT64_MAX ? 0 : (int64_t)sum;
    return *total > 0;
}

/* Fills shares and the executors' idle time; *total is 0 where there is nothing to share out. */
static bool run_sweep(struct core_sweep *sweep, int64_t *total)
{
    if (!prepare_executors(sweep, total))
        return true;
    add_tasks(sweep);
    add_intervals(sweep);
    if (!pyro_marks_finish(&sweep->marks))
        return false;
    walk(sweep);
    return true;
}

static bool open_sweep(struct core_sweep *sweep, const struct pyro_app *app)
{
    *sweep = (struct core_sweep){.app = app, .window = pyro_app_window(app)};
    size_t rows = pyro_all_tasks(app) + app->stages.count + app->executors.count;
    pyro_marks_init(&sweep->marks, app->allocator, app->executors.count == 0 ? 0 : 2 * rows);
    sweep->executors = pyro_scratch(app, app->executors.count, sizeof(*sweep->executors));
    sweep->shares = pyro_scratch(app, pyro_all_tasks(app), sizeof(*sweep->shares));
    sweep->cpus = pyro_stage_cpus(app);
    sweep->buffer = pyro_scratch(app, 3, sizeof(*sweep->buffer));
    sweep->run = pyro_scratch(app, 1, sizeof(*sweep->run));
    return !sweep->marks.failed && sweep->executors && sweep->shares && sweep->cpus && sweep->buffer && sweep->run;
}

static void close_sweep(struct core_sweep *sweep)
{
    const struct pyro_allocator *allocator = sweep->app->allocator;
    pyro_marks_done(&sweep->marks);
    pyro_release(allocator, sweep->executors);
    pyro_release(allocator, sweep->shares);
    pyro_release(allocator, sweep->cpus);
    pyro_release(allocator, sweep->buffer);
    pyro_release(allocator, sweep->run);
}

static void fill_account(const struct core_sweep *sweep, struct pyro_numbers *numbers)
{
    pyro_fixed parts[PYRO_CORE_PARTS] = {0}, idle[PYRO_IDLES] = {0}, sum = 0;
    share_out(sweep, parts);
    for (size_t i = 0; i < sweep->app->executors.count; i++)
        for (unsigned k = 0; k < PYRO_IDLES; k++)
            idle[k] += sweep->executors[i].idle[k];
    parts[PYRO_CORE_IDLE_NO_WORK] = idle[PYRO_IDLE_NO_WORK] << PYRO_FIXED_BITS;
    parts[PYRO_CORE_IDLE_DRIVER] = idle[PYRO_IDLE_DRIVER] << PYRO_FIXED_BITS;
    parts[PYRO_CORE_IDLE_WAIT] = idle[PYRO_IDLE_WAIT] << PYRO_FIXED_BITS;
    for (unsigned i = 0; i < PYRO_CORE_PARTS; i++)
        sum += parts[i];
    /* Idle time is exact; only shares of tasks that had to be scaled down are rounded, so what is missing is theirs. */
    parts[PYRO_CORE_COMPUTE] += ((pyro_fixed)(uint64_t)numbers->core_total_ms << PYRO_FIXED_BITS) - sum;
    pyro_round_parts(parts, PYRO_CORE_PARTS, numbers->core_total_ms, numbers->core_ms);
}

enum pyro_status pyro_analyze_core(struct pyro_app *app, struct pyro_error *error)
{
    struct core_sweep sweep;
    struct pyro_numbers *numbers = &app->numbers;
    numbers->core_total_ms = 0;
    memset(numbers->core_ms, 0, sizeof(numbers->core_ms));
    bool done = open_sweep(&sweep, app) && run_sweep(&sweep, &numbers->core_total_ms);
    if (done && numbers->core_total_ms > 0)
        fill_account(&sweep, numbers);
    close_sweep(&sweep);
    return done ? PYRO_OK : pyro_no_memory(error);
}

enum pyro_status pyro_core_shares_new(const struct pyro_app *app, struct pyro_core_shares *ret,
                                      struct pyro_error *error)
{
    struct core_sweep sweep;
    struct pyro_core_shares shares = {.allocator = app->allocator};
    shares.executors = pyro_scratch(app, app->executors.count, sizeof(*shares.executors));
    bool done = shares.executors && open_sweep(&sweep, app) && run_sweep(&sweep, &shares.total_ms);
    if (!shares.executors)
        return pyro_no_memory(error);
    for (size_t i = 0; done && i < app->executors.count; i++) {
        const struct executor_state *state = &sweep.executors[i];
        shares.executors[i] = (struct pyro_executor_share){state->from, state->to, state->cores, {0}};
        memcpy(shares.executors[i].idle, state->idle, sizeof(state->idle));
    }
    if (done) {
        shares.tasks = sweep.shares;
        sweep.shares = NULL;
        *ret = shares;
    } else {
        pyro_release(app->allocator, shares.executors);
    }
    close_sweep(&sweep);
    return done ? PYRO_OK : pyro_no_memory(error);
}

void pyro_core_shares_done(struct pyro_core_shares *shares)
{
    pyro_release(shares->allocator, shares->tasks);
    pyro_release(shares->allocator, shares->executors);
    shares->tasks = NULL;
    shares->executors = NULL;
}
