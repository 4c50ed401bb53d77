#include "analyze/accounts/split.h"

/* Columns that a split is made of, in the order of pyro_split_run.columns. */
enum { LAUNCH, FINISH, GETTING, HAS_METRICS, DESERIALIZE, RUN, GC, FETCH_WAIT, WRITE_NS, SERIALIZE, STATUS, COLUMNS };
_Static_assert((int)COLUMNS == (int)PYRO_SPLIT_COLUMNS, "a run has room for every column");
static const enum pyro_task_column columns[COLUMNS] = {
    PYRO_TASK_launch_ms,
    PYRO_TASK_finish_ms,
    PYRO_TASK_getting_result_ms,
    PYRO_TASK_has_metrics,
    PYRO_TASK_deserialize_ms,
    PYRO_TASK_run_ms,
    PYRO_TASK_gc_ms,
    PYRO_TASK_fetch_wait_ms,
    PYRO_TASK_shuffle_write_ns,
    PYRO_TASK_result_serialize_ms,
    PYRO_TASK_status,
};

static inline int64_t not_negative(int64_t value)
{
    return value > 0 ? value : 0;
}

/* Takes a part off what remains of a task. */
static inline int64_t take(int64_t metric, int64_t *remaining)
{
    int64_t part = not_negative(metric);
    part = part < *remaining ? part : *remaining;
    *remaining -= part;
    return part;
}

/* Of a task that was lost with its executor, Spark writes metrics that were not measured: all are 0. So are those of an
 * empty object; a task that ran for a second has run for some of it. */
static inline bool is_measured(const int64_t *metric, int64_t duration_ms)
{
    enum { CREDIBLE_MS = 1000 };
    if (metric[HAS_METRICS] <= 0)
        return false;
    if ((metric[RUN] | metric[DESERIALIZE] | metric[SERIALIZE] | metric[GC]) != 0)
        return true;
    return metric[STATUS] == PYRO_TASK_SUCCESS && duration_ms < CREDIBLE_MS;
}

static inline struct pyro_task_split split_of(const int64_t *metric)
{
    struct pyro_task_split split = {.duration_ms = pyro_task_duration(metric[LAUNCH], metric[FINISH])};
    int64_t left = split.duration_ms;
    if (is_measured(metric, left)) {
        int64_t getting =
            metric[GETTING] > 0 && metric[FINISH] > metric[GETTING] ? metric[FINISH] - metric[GETTING] : 0;
        /* What neither ran nor is known to be something else; step by step, so that nothing can overflow. */
        int64_t delay = split.duration_ms;
        take(metric[RUN], &delay);
        if (metric[RUN] == PYRO_NONE)
            delay = 0; /* what the task did is unknown */
        take(metric[DESERIALIZE], &delay);
        take(metric[SERIALIZE], &delay);
        take(getting, &delay);
        split.scheduler_delay = take(delay, &left);
        split.deserialize = take(metric[DESERIALIZE], &left);
        split.gc = take(metric[GC], &left);
        split.shuffle_fetch_wait = take(metric[FETCH_WAIT], &left);
        split.shuffle_write = take(not_negative(metric[WRITE_NS]) / 1000000, &left);
        split.result_serialize = take(metric[SERIALIZE], &left);
        split.getting_result = take(getting, &left);
    }
    split.compute = left;
    return split;
}

void pyro_split_read(const struct pyro_app *app, size_t first, size_t count, struct pyro_split_run *run)
{
    for (unsigned i = 0; i < COLUMNS; i++)
        pyro_task_read(&app->tasks, columns[i], first, count, run->columns[i]);
    for (size_t row = 0; row < count; row++) {
        int64_t metrics[COLUMNS];
        for (unsigned i = 0; i < COLUMNS; i++)
            metrics[i] = run->columns[i][row];
        run->splits[row] = split_of(metrics);
    }
}

struct pyro_task_split pyro_task_split(const struct pyro_app *app, size_t task)
{
    int64_t metrics[COLUMNS];
    for (unsigned i = 0; i < COLUMNS; i++)
        metrics[i] = pyro_task_get(&app->tasks, columns[i], task);
    return split_of(metrics);
}
