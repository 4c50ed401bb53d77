#include "decode/task_checks.h"

#include <stdio.h>

#include "base/memory/allocator.h"
#include "base/numbers/saturate.h"

/* ---- One row by itself ---- */

/* Metrics are the columns from the first to the last; none is ever below 0 in Spark. */
enum {
    FIRST_METRIC = PYRO_TASK_deserialize_ms,
    LAST_METRIC = PYRO_TASK_push_remote_requests_ms,
    METRICS = LAST_METRIC - FIRST_METRIC + 1
};
_Static_assert(LAST_METRIC + 1 == PYRO_TASK_stage_row, "the metrics are the last public columns of a task");

/* Executors have clocks of their own, which are not exact: a part of a task may last for 6/5 of what the driver's clock
 * says, and a second more. Other times are measured on several threads at once: collectors, writers, and requests. */
enum { PARTS_OF_TIME = 5, MORE_MS = 1000, THREADS = 64, NS_OF_MS = 1000000 };

static const struct timed_metric {
    enum pyro_task_column column;
    int32_t unit;    /* of a millisecond */
    bool concurrent; /* adds up several threads */
} timed_metrics[] = {
    {PYRO_TASK_run_ms, 1, false},
    {PYRO_TASK_deserialize_ms, 1, false},
    {PYRO_TASK_result_serialize_ms, 1, false},
    {PYRO_TASK_gc_ms, 1, true},
    {PYRO_TASK_fetch_wait_ms, 1, true},
    {PYRO_TASK_cpu_ns, NS_OF_MS, true},
    {PYRO_TASK_deserialize_cpu_ns, NS_OF_MS, true},
    {PYRO_TASK_shuffle_write_ns, NS_OF_MS, true},
};

/* Requests run next to each other, as many as there are blocks. */
static const enum pyro_task_column request_metrics[] = {PYRO_TASK_shuffle_remote_requests_ms,
                                                        PYRO_TASK_push_remote_requests_ms};

static void set_aside(struct pyro_task_doubts *doubts, int64_t *row, enum pyro_task_column column, int64_t unknown)
{
    doubts->times += column == PYRO_TASK_launch_ms || column == PYRO_TASK_finish_ms;
    if (doubts->values++ == 0) {
        doubts->id = row[PYRO_TASK_id];
        doubts->stage = row[PYRO_TASK_stage];
        doubts->column = column;
        doubts->value = row[column];
    }
    row[column] = unknown;
}

static void check_signs(struct pyro_task_doubts *doubts, int64_t *row)
{
    for (int c = FIRST_METRIC; c <= LAST_METRIC; c++)
        if (row[c] < 0 && row[c] != PYRO_NONE)
            set_aside(doubts, row, (enum pyro_task_column)c, PYRO_NONE);
}

/* How long a part of a task of this duration may last. */
static int64_t longest_part(int64_t duration_ms)
{
    return pyro_add_saturating(pyro_add_saturating(duration_ms, duration_ms / PARTS_OF_TIME), MORE_MS);
}

static int64_t multiply(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t request_count(const int64_t *row)
{
    int64_t count = THREADS;
    static const enum pyro_task_column counts[] = {PYRO_TASK_shuffle_remote_blocks, PYRO_TASK_push_remote_blocks,
                                                   PYRO_TASK_push_remote_chunks};
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        if (row[counts[i]] > 0)
            count = pyro_add_saturating(count, row[counts[i]]);
    return count;
}

/* `longest`: of a part that one thread does. */
static void check_lengths(struct pyro_task_doubts *doubts, int64_t *row, int64_t longest)
{
    for (size_t i = 0; i < sizeof(timed_metrics) / sizeof(*timed_metrics); i++) {
        const struct timed_metric *metric = &timed_metrics[i];
        if (row[metric->column] / metric->unit > (metric->concurrent ? multiply(longest, THREADS) : longest))
            set_aside(doubts, row, metric->column, PYRO_NONE);
    }
    int64_t requests = multiply(longest, request_count(row));
    for (size_t i = 0; i < sizeof(request_metrics) / sizeof(*request_metrics); i++)
        if (row[request_metrics[i]] > requests)
            set_aside(doubts, row, request_metrics[i], PYRO_NONE);
}

/* 0 is Spark's word for a result that the status update contained. */
static void check_fetch(struct pyro_task_doubts *doubts, int64_t *row)
{
    int64_t fetch = row[PYRO_TASK_getting_result_ms];
    if (fetch < 0 || (fetch > 0 && row[PYRO_TASK_launch_ms] > 0 && row[PYRO_TASK_finish_ms] > 0 &&
                      (fetch < pyro_sub_saturating(row[PYRO_TASK_launch_ms], PYRO_CLOCK_TOLERANCE_MS) ||
                       fetch > pyro_add_saturating(row[PYRO_TASK_finish_ms], PYRO_CLOCK_TOLERANCE_MS))))
        set_aside(doubts, row, PYRO_TASK_getting_result_ms, 0);
}

/* A record without a time has 0 for it; a time of 0 next to a real one is a wrong one. */
static void check_time(struct pyro_task_doubts *doubts, int64_t *row, enum pyro_task_column column, int64_t other)
{
    if (row[column] < 0 || (row[column] == 0 && other != 0))
        set_aside(doubts, row, column, PYRO_NONE);
    if (row[column] == 0)
        row[column] = PYRO_NONE;
}

/* Spark writes metrics of every task that succeeded; one that took a second has run for some of it. */
static bool is_unmeasured(const int64_t *row)
{
    enum { CREDIBLE_MS = 1000 };
    if (row[PYRO_TASK_status] != PYRO_TASK_SUCCESS)
        return false;
    if (row[PYRO_TASK_has_metrics] <= 0 || row[PYRO_TASK_run_ms] == PYRO_NONE)
        return true;
    return (row[PYRO_TASK_run_ms] | row[PYRO_TASK_deserialize_ms] | row[PYRO_TASK_result_serialize_ms] |
            row[PYRO_TASK_gc_ms]) == 0 &&
           row[PYRO_TASK_launch_ms] > 0 &&
           pyro_sub_saturating(row[PYRO_TASK_finish_ms], row[PYRO_TASK_launch_ms]) >= CREDIBLE_MS;
}

void pyro_check_task(struct pyro_task_doubts *doubts, int64_t *row)
{
    int64_t signs = row[PYRO_TASK_getting_result_ms], launch = row[PYRO_TASK_launch_ms],
            finish = row[PYRO_TASK_finish_ms];
    for (int c = FIRST_METRIC; c <= LAST_METRIC; c++)
        signs |= row[c];
    doubts->unmeasured += is_unmeasured(row);
    if (signs < 0)
        check_signs(doubts, row);
    if (launch <= 0 || finish <= 0) {
        check_time(doubts, row, PYRO_TASK_launch_ms, finish);
        check_time(doubts, row, PYRO_TASK_finish_ms, launch);
    } else if (finish >= launch) {
        check_lengths(doubts, row, longest_part(finish - launch));
    }
    check_fetch(doubts, row);
}

/* ---- All tasks against stages and the application ---- */

enum { AT_ONCE = PYRO_TASK_CHUNK_ROWS };

struct bounds {
    int64_t from, to;
};

/* How many tasks of a stage have a launch, and on how many of them its submission or completion cannot be right. */
struct stage_votes {
    uint32_t tasks, before, after;
};

struct check {
    struct pyro_app *app;
    struct pyro_task_doubts *doubts;
    struct bounds run;
    struct bounds *stages; /* by row: what its times allow */
    struct stage_votes *votes;
    int64_t launch[AT_ONCE], finish[AT_ONCE], row[AT_ONCE];
};

static struct bounds bounds_of(int64_t from, int64_t to)
{
    return (struct bounds){from == PYRO_NONE ? INT64_MIN : pyro_sub_saturating(from, PYRO_CLOCK_TOLERANCE_MS),
                           to == PYRO_NONE ? INT64_MAX : pyro_add_saturating(to, PYRO_CLOCK_TOLERANCE_MS)};
}

static bool is_outside(int64_t time, struct bounds bounds)
{
    return time < bounds.from || time > bounds.to;
}

static struct bounds stage_bounds(const struct check *check, int64_t row)
{
    return row >= 0 && row < (int64_t)check->app->stages.count ? check->stages[row]
                                                               : (struct bounds){INT64_MIN, INT64_MAX};
}

/* A task starts within its stage. It may end after it, where it was not killed. */
static bool is_launch_wrong(const struct check *check, int64_t launch, int64_t row)
{
    return launch > 0 && (is_outside(launch, check->run) || is_outside(launch, stage_bounds(check, row)));
}

static bool is_finish_wrong(const struct check *check, int64_t launch, int64_t finish, int64_t row)
{
    bool launched = launch > 0 && !is_launch_wrong(check, launch, row);
    return finish > 0 &&
           (is_outside(finish, check->run) || finish < stage_bounds(check, row).from || (launched && finish < launch));
}

static void read_times(struct check *check, size_t first, size_t count)
{
    pyro_task_read(&check->app->tasks, PYRO_TASK_launch_ms, first, count, check->launch);
    pyro_task_read(&check->app->tasks, PYRO_TASK_finish_ms, first, count, check->finish);
    pyro_task_read(&check->app->tasks, PYRO_TASK_stage_row, first, count, check->row);
}

static void vote(struct check *check, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t row = check->row[i], launch = check->launch[i];
        if (row < 0 || row >= (int64_t)check->app->stages.count || launch <= 0 || is_outside(launch, check->run))
            continue;
        check->votes[row].tasks++;
        check->votes[row].before += launch < check->stages[row].from;
        check->votes[row].after += launch > check->stages[row].to;
    }
}

/* A stage's time is one statement; two tasks or more, and most of them, outweigh it. */
static bool is_outvoted(uint32_t votes, uint32_t tasks)
{
    return votes >= 2 && votes > tasks / 2;
}

static size_t count_votes(struct check *check)
{
    size_t aside = 0;
    for (size_t i = 0; i < check->app->stages.count; i++) {
        struct pyro_stage *stage = &check->app->stages.items[i];
        const struct stage_votes *votes = &check->votes[i];
        if (is_outvoted(votes->before, votes->tasks)) {
            stage->submitted_ms = PYRO_NONE;
            aside++;
        }
        if (is_outvoted(votes->after, votes->tasks)) {
            stage->completed_ms = PYRO_NONE;
            aside++;
        }
        check->stages[i] = bounds_of(stage->submitted_ms, stage->completed_ms);
    }
    return aside;
}

static void edit(void *context, int64_t *row)
{
    struct check *check = context;
    int64_t launch = row[PYRO_TASK_launch_ms], finish = row[PYRO_TASK_finish_ms], stage = row[PYRO_TASK_stage_row];
    bool wrong_launch = is_launch_wrong(check, launch, stage),
         wrong_finish = is_finish_wrong(check, launch, finish, stage);
    if (wrong_launch)
        set_aside(check->doubts, row, PYRO_TASK_launch_ms, PYRO_NONE);
    if (wrong_finish)
        set_aside(check->doubts, row, PYRO_TASK_finish_ms, PYRO_NONE);
    int64_t duration = pyro_sub_saturating(check->app->application.end_ms, check->app->application.start_ms);
    if ((row[PYRO_TASK_launch_ms] <= 0 || row[PYRO_TASK_finish_ms] <= 0) &&
        check->app->application.start_ms != PYRO_NONE)
        check_lengths(check->doubts, row, longest_part(duration > 0 ? duration : 0));
    if (wrong_launch || wrong_finish) {
        int64_t fetch = row[PYRO_TASK_getting_result_ms];
        if (fetch > 0 && is_outside(fetch, check->run))
            set_aside(check->doubts, row, PYRO_TASK_getting_result_ms, 0);
    }
}

/* Whether any row of a chunk is to be looked at more closely. */
static bool is_doubtful(const struct check *check, size_t count)
{
    bool doubtful = false;
    for (size_t i = 0; i < count && !doubtful; i++)
        doubtful = check->launch[i] <= 0 || check->finish[i] <= 0 ||
                   is_launch_wrong(check, check->launch[i], check->row[i]) ||
                   is_finish_wrong(check, check->launch[i], check->finish[i], check->row[i]);
    return doubtful;
}

static bool is_any_doubtful(struct check *check)
{
    const struct pyro_task_table *tasks = &check->app->tasks;
    bool doubtful = false;
    for (size_t first = 0; first < tasks->count && !doubtful; first += AT_ONCE) {
        size_t count = tasks->count - first < AT_ONCE ? tasks->count - first : AT_ONCE;
        read_times(check, first, count);
        doubtful = is_doubtful(check, count);
    }
    return doubtful;
}

static bool check_all(struct check *check, size_t *ret_stage_times)
{
    const struct pyro_task_table *tasks = &check->app->tasks;
    for (size_t i = 0; i < check->app->stages.count; i++)
        check->stages[i] =
            bounds_of(check->app->stages.items[i].submitted_ms, check->app->stages.items[i].completed_ms);
    if (!is_any_doubtful(check))
        return true;
    for (size_t first = 0; first < tasks->count; first += AT_ONCE) {
        size_t count = tasks->count - first < AT_ONCE ? tasks->count - first : AT_ONCE;
        read_times(check, first, count);
        vote(check, count);
    }
    *ret_stage_times = count_votes(check);
    for (size_t first = 0; first < tasks->count; first += AT_ONCE) {
        size_t count = tasks->count - first < AT_ONCE ? tasks->count - first : AT_ONCE;
        read_times(check, first, count);
        if (is_doubtful(check, count) && !pyro_task_table_edit(&check->app->tasks, first / AT_ONCE, edit, check))
            return false;
    }
    return true;
}

bool pyro_check_tasks(struct pyro_app *app, struct pyro_task_doubts *doubts, size_t *ret_stage_times)
{
    size_t stages = app->stages.count;
    struct check *check = pyro_allocate(app->allocator, sizeof(*check));
    struct bounds *bounds = pyro_allocate(app->allocator, (stages + 1) * sizeof(*bounds));
    struct stage_votes *votes = pyro_allocate(app->allocator, (stages + 1) * sizeof(*votes));
    bool done = check && bounds && votes;
    *ret_stage_times = 0;
    if (done) {
        memset(votes, 0, (stages + 1) * sizeof(*votes));
        check->app = app;
        check->doubts = doubts;
        check->run = bounds_of(app->application.start_ms, app->application.end_ms);
        check->stages = bounds;
        check->votes = votes;
        done = check_all(check, ret_stage_times);
    }
    pyro_release(app->allocator, check);
    pyro_release(app->allocator, bounds);
    pyro_release(app->allocator, votes);
    return done;
}

bool pyro_note_doubts(struct pyro_app *app, const struct pyro_task_doubts *doubts)
{
    char text[400];
    app->integrity.contradicted_task_values = doubts->values;
    app->integrity.contradicted_task_times = doubts->times;
    app->integrity.unmeasured_tasks = doubts->unmeasured;
    if (doubts->values == 0)
        return true;
    const struct pyro_table_schema *schema = &pyro_table_schemas[PYRO_TABLE_tasks];
    snprintf(text, sizeof(text),
             "Values of tasks contradict each other: %llu are below 0, end before they begin, lie outside of the stage "
             "or the application, or are longer than from launch to end. They are not used. The first: %s %lld of task "
             "%lld, stage %lld",
             (unsigned long long)doubts->values, schema->columns[doubts->column].name, (long long)doubts->value,
             (long long)doubts->id, (long long)doubts->stage);
    return pyro_app_note(app, pyro_slice_from(text));
}
