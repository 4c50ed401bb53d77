/* What a run was allocated and used, in spans of time that are the same for all runs: sums over many runs are then
 * plain sums. Rows add up to the run's own totals exactly. */
#include <math.h>

#include "analyze/accounts/core.h"
#include "analyze/app_facts.h"
#include "analyze/memory/container.h"
#include "base/memory/allocator.h"
#include "cost/share.h"
#include "store/run.h"

enum { MOST_ROWS = 1000 };
static const int64_t spans_ms[] = {5 * 60000, 60 * 60000, 24 * 3600000, 365 * (int64_t)86400000};

struct usage {
    struct pyro_run *run;
    const struct pyro_app *app;
    int64_t first_ms, span_ms; /* of the first row */
    size_t rows;
    pyro_fixed *busy; /* of each row */
};

static int64_t floor_to(int64_t value, int64_t unit)
{
    int64_t rest = value % unit;
    return pyro_sub_saturating(value, rest < 0 ? rest + unit : rest);
}

/* The shortest span with which the run has few rows: longer than an hour only where the log's times are broken. */
static bool choose_span(struct usage *usage, int64_t from_ms, int64_t to_ms)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < sizeof(spans_ms) / sizeof(*spans_ms); i++) {
        usage->span_ms = spans_ms[i];
        usage->first_ms = floor_to(from_ms, usage->span_ms);
        rows = ((uint64_t)to_ms - (uint64_t)usage->first_ms) / (uint64_t)usage->span_ms + 1;
        if (rows <= MOST_ROWS || (i == 1 && rows <= 10 * MOST_ROWS))
            break;
    }
    usage->rows = rows <= 10 * MOST_ROWS ? (size_t)rows : 0;
    return usage->rows > 0;
}

/* ---- Parts of a row ---- */

/* floor(value * part / whole), for part <= whole. */
static pyro_fixed share_of(pyro_fixed value, uint64_t part, uint64_t whole)
{
    return value / whole * part + value % whole * part / whole;
}

static size_t row_at(const struct usage *usage, int64_t time_ms)
{
    if (time_ms <= usage->first_ms)
        return 0;
    uint64_t row = ((uint64_t)time_ms - (uint64_t)usage->first_ms) / (uint64_t)usage->span_ms;
    return row < usage->rows ? (size_t)row : usage->rows - 1;
}

static int64_t row_end(const struct usage *usage, size_t row)
{
    return pyro_add_saturating(usage->first_ms, (int64_t)(row + 1) * usage->span_ms);
}

/* Time from..to as it falls into rows, one after the other. */
struct walk {
    const struct usage *usage;
    int64_t from_ms, to_ms;
    size_t row, last;
    uint64_t before, until; /* ms from the begin to the row's begin, and to its end */
};

static struct walk walk_rows(const struct usage *usage, int64_t from_ms, int64_t to_ms)
{
    to_ms = to_ms > from_ms ? to_ms : from_ms;
    size_t first = row_at(usage, from_ms), last = row_at(usage, to_ms > from_ms ? to_ms - 1 : to_ms);
    return (struct walk){usage, from_ms, to_ms, first, last, 0, 0};
}

static bool next_row(struct walk *walk)
{
    if (walk->row > walk->last)
        return false;
    uint64_t whole = (uint64_t)walk->to_ms - (uint64_t)walk->from_ms;
    int64_t end_ms = row_end(walk->usage, walk->row);
    walk->before = walk->until;
    walk->until = walk->row == walk->last ? whole : (uint64_t)pyro_sub_saturating(end_ms, walk->from_ms);
    walk->row++;
    return true;
}

/* A whole number, spread evenly over the time. */
static void spread(const struct walk *walk, int64_t value, int64_t *to)
{
    uint64_t whole = (uint64_t)walk->to_ms - (uint64_t)walk->from_ms;
    if (value <= 0)
        return;
    if (whole == 0) {
        *to = pyro_add_saturating(*to, value);
        return;
    }
    pyro_fixed before = share_of((pyro_fixed)value, walk->before, whole),
               until = share_of((pyro_fixed)value, walk->until, whole);
    *to = pyro_add_saturating(*to, (int64_t)(until - before));
}

/* ---- Executors ---- */

static void add_executor(struct usage *usage, const struct pyro_executor_share *given, int64_t slots, int64_t mib)
{
    int64_t start_ms = usage->app->application.start_ms;
    struct walk walk = walk_rows(usage, pyro_add_saturating(start_ms, (int64_t)given->from),
                                 pyro_add_saturating(start_ms, (int64_t)given->to));
    while (next_row(&walk)) {
        struct pyro_usage_row *row = &usage->run->usage.items[walk.row - 1];
        int64_t ms = (int64_t)(walk.until - walk.before);
        row->core_ms = pyro_add_saturating(row->core_ms, pyro_saturate((__int128)ms * (__int128)given->cores));
        row->slot_ms = pyro_add_saturating(row->slot_ms, pyro_saturate((__int128)ms * slots));
        row->mib_ms = pyro_add_saturating(row->mib_ms, pyro_saturate((__int128)ms * mib));
    }
}

static void add_executors(struct usage *usage, const struct pyro_core_shares *shares)
{
    const struct pyro_app *app = usage->app;
    int64_t profile = INT64_MIN, mib = 0;
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor_share *given = &shares->executors[i];
        const struct pyro_executor *executor = &app->executors.items[i];
        if (given->cores == 0)
            continue;
        if (executor->resource_profile != profile) {
            profile = executor->resource_profile;
            mib = pyro_executor_container(app, profile).container_mib;
        }
        add_executor(usage, given, pyro_executor_slots(app, executor, NULL), mib > 0 ? mib : 0);
    }
}

/* ---- Tasks ---- */

enum { AT_ONCE = 1024 };
enum value { LAUNCH, FINISH, INPUT, OUTPUT, REMOTE, LOCAL, WRITTEN, VALUES };
static const enum pyro_task_column columns[VALUES] = {
    [LAUNCH] = PYRO_TASK_launch_ms,
    [FINISH] = PYRO_TASK_finish_ms,
    [INPUT] = PYRO_TASK_input_bytes,
    [OUTPUT] = PYRO_TASK_output_bytes,
    [REMOTE] = PYRO_TASK_shuffle_remote_bytes,
    [LOCAL] = PYRO_TASK_shuffle_local_bytes,
    [WRITTEN] = PYRO_TASK_shuffle_write_bytes,
};

struct task_values {
    int64_t items[VALUES][AT_ONCE];
};

/* What a task did in the row that the walk has reached. */
static pyro_fixed busy_in(const struct walk *walk, pyro_fixed busy)
{
    uint64_t whole = (uint64_t)walk->to_ms - (uint64_t)walk->from_ms;
    return whole == 0 ? busy : share_of(busy, walk->until, whole) - share_of(busy, walk->before, whole);
}

/* A task whose times are not known counts where the run begins. */
static void add_task(struct usage *usage, const struct task_values *values, size_t i, pyro_fixed busy)
{
    int64_t from = values->items[LAUNCH][i], to = values->items[FINISH][i];
    from = from == PYRO_NONE ? usage->app->application.start_ms : from;
    struct walk walk = walk_rows(usage, from, to == PYRO_NONE ? from : to);
    while (next_row(&walk)) {
        struct pyro_usage_row *row = &usage->run->usage.items[walk.row - 1];
        spread(&walk, values->items[INPUT][i], &row->input_bytes);
        spread(&walk, values->items[OUTPUT][i], &row->output_bytes);
        spread(&walk, values->items[REMOTE][i], &row->shuffle_bytes);
        spread(&walk, values->items[LOCAL][i], &row->shuffle_bytes);
        spread(&walk, values->items[WRITTEN][i], &row->shuffle_bytes);
        usage->busy[walk.row - 1] += busy_in(&walk, busy);
    }
}

/* Its data is unknown. */
static void add_unfinished(struct usage *usage, const struct pyro_unfinished_task *task, pyro_fixed busy)
{
    int64_t from = task->launch_ms == PYRO_NONE ? usage->app->application.start_ms : task->launch_ms;
    struct walk walk = walk_rows(usage, from, task->until_ms == PYRO_NONE ? from : task->until_ms);
    while (next_row(&walk))
        usage->busy[walk.row - 1] += busy_in(&walk, busy);
}

static bool add_tasks(struct usage *usage, const struct pyro_core_shares *shares)
{
    const struct pyro_app *app = usage->app;
    struct task_values *values = pyro_allocate(app->allocator, sizeof(*values));
    if (!values)
        return false;
    for (size_t first = 0; first < app->tasks.count; first += AT_ONCE) {
        size_t count = app->tasks.count - first < AT_ONCE ? app->tasks.count - first : AT_ONCE;
        for (size_t v = 0; v < VALUES; v++)
            pyro_task_read(&app->tasks, columns[v], first, count, values->items[v]);
        for (size_t i = 0; i < count; i++)
            add_task(usage, values, i, shares->total_ms > 0 ? shares->tasks[first + i] : 0);
    }
    for (size_t i = 0; i < app->unfinished_tasks.count; i++)
        add_unfinished(usage, &app->unfinished_tasks.items[i],
                       shares->total_ms > 0 ? shares->tasks[app->tasks.count + i] : 0);
    pyro_release(app->allocator, values);
    return true;
}

int64_t pyro_idle_core_ms(const struct pyro_numbers *numbers)
{
    int64_t sum = numbers->core_ms[PYRO_CORE_IDLE_NO_WORK];
    sum = pyro_add_saturating(sum, numbers->core_ms[PYRO_CORE_IDLE_DRIVER]);
    return pyro_add_saturating(sum, numbers->core_ms[PYRO_CORE_IDLE_WAIT]);
}

/* Whole milliseconds, whose sum is what the core account calls used. */
static bool round_busy(struct usage *usage)
{
    int64_t total = pyro_sub_saturating(usage->app->numbers.core_total_ms, pyro_idle_core_ms(&usage->app->numbers));
    int64_t *rounded = pyro_allocate(usage->app->allocator, usage->rows * sizeof(*rounded));
    pyro_fixed sum = 0;
    size_t largest = 0;
    for (size_t i = 0; i < usage->rows; i++) {
        sum += usage->busy[i];
        largest = usage->busy[i] > usage->busy[largest] ? i : largest;
    }
    usage->busy[largest] += ((pyro_fixed)(uint64_t)total << PYRO_FIXED_BITS) - sum; /* what rounding took */
    bool ok = rounded && pyro_round_shares(usage->app->allocator, usage->busy, usage->rows, total, rounded);
    for (size_t i = 0; i < usage->rows && ok; i++)
        usage->run->usage.items[i].busy_core_ms = rounded[i];
    pyro_release(usage->app->allocator, rounded);
    return ok;
}

static bool fill(struct usage *usage)
{
    struct pyro_core_shares shares;
    const struct pyro_allocator *allocator = usage->run->arena.allocator;
    if (!pyro_vec_reserve(&usage->run->usage, usage->rows, allocator))
        return false;
    memset(usage->busy, 0, usage->rows * sizeof(*usage->busy));
    for (size_t i = 0; i < usage->rows; i++) {
        struct pyro_usage_row *row = pyro_vec_push(&usage->run->usage, allocator);
        row->start_ms = pyro_add_saturating(usage->first_ms, (int64_t)i * usage->span_ms);
        row->span_ms = usage->span_ms;
    }
    if (pyro_core_shares_new(usage->app, &shares, NULL) != PYRO_OK)
        return false;
    if (shares.total_ms > 0)
        add_executors(usage, &shares);
    bool ok = add_tasks(usage, &shares) && (shares.total_ms == 0 || round_busy(usage));
    pyro_core_shares_done(&shares);
    return ok;
}

bool pyro_run_add_usage(struct pyro_run *run)
{
    const struct pyro_app *app = run->diagnosis->app;
    const struct pyro_application_row *row = &app->application;
    struct usage usage = {.run = run, .app = app};
    if (row->start_ms == PYRO_NONE || row->end_ms == PYRO_NONE ||
        !choose_span(&usage, row->start_ms, row->end_ms > row->start_ms ? row->end_ms : row->start_ms))
        return true;
    usage.busy = pyro_allocate(run->arena.allocator, usage.rows * sizeof(*usage.busy));
    bool ok = usage.busy && fill(&usage);
    pyro_release(run->arena.allocator, usage.busy);
    return ok;
}
