/* Step 1: which runs say something about the next one. */
#include <math.h>

#include "base/numbers/saturate.h"
#include "fleet/statistics/statistics.h"
#include "fleet/suggest/suggest.h"

#define DAY_MS (24 * 3600 * INT64_C(1000))

/* Runs of one configuration that their spread needs. */
enum { JUDGED = 3 };

static bool is_completed(const struct pyro_suggest_run *run)
{
    return run->final && pyro_slice_is(run->status, "completed") && run->duration_ms > 0;
}

static bool same(struct pyro_slice a, struct pyro_slice b)
{
    return a.ptr && b.ptr && pyro_slice_eq(a, b);
}

/* Keeps those whose text is that of the newest run, where there are enough. Says whether it did. */
static bool keep_same(struct pyro_suggest_history *history, size_t offset)
{
    const struct pyro_slice *newest = (const void *)((const char *)history->newest + offset);
    size_t equal = 0;
    for (size_t i = 0; i < history->count; i++)
        equal += same(*newest, *(const struct pyro_slice *)(const void *)((const char *)history->runs[i] + offset));
    if (equal < PYRO_HISTORY_SAME)
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < history->count; i++)
        if (same(*newest, *(const struct pyro_slice *)(const void *)((const char *)history->runs[i] + offset)))
            history->runs[kept++] = history->runs[i];
    history->count = kept;
    return true;
}

static bool same_configuration(const struct pyro_suggest_run *a, const struct pyro_suggest_run *b)
{
    return !(fabs(a->executors - b->executors) > 0) && !(fabs(a->cores - b->cores) > 0);
}

/* Deviations of input-adjusted durations from the median of their configuration: a run on other executors is not an
 * outlier. `judged`: of configurations with enough runs. */
static bool deviations(const struct pyro_suggest_history *history, double *ret, bool *judged, struct pyro_arena *arena)
{
    size_t count = history->count;
    double *x = pyro_arena_array(arena, count + 1, sizeof(*x)), *y = pyro_arena_array(arena, count + 1, sizeof(*y));
    double *group = pyro_arena_array(arena, count + 1, sizeof(*group)), slope = 0;
    if (!x || !y || !group)
        return false;
    for (size_t i = 0; i < count; i++) {
        double input = history->runs[i]->input_bytes;
        x[i] = pyro_log_input(isnan(input) ? 0 : input);
        y[i] = pyro_log_duration(history->runs[i]->duration_ms);
    }
    if (!pyro_input_slope(x, y, count, arena, &slope))
        return false;
    for (size_t i = 0; i < count; i++)
        y[i] -= slope * x[i];
    for (size_t i = 0; i < count; i++) {
        size_t members = 0;
        double middle = 0;
        for (size_t k = 0; k < count; k++)
            if (same_configuration(history->runs[i], history->runs[k]))
                group[members++] = y[k];
        if (!pyro_middle(group, members, arena, &middle))
            return false;
        judged[i] = members >= JUDGED;
        ret[i] = y[i] - middle;
    }
    return true;
}

static bool leave_out_outliers(struct pyro_suggest_history *history, struct pyro_arena *arena)
{
    size_t count = history->count, kept = 0, spread_count = 0;
    double *off = pyro_arena_array(arena, count + 1, sizeof(*off));
    double *those = pyro_arena_array(arena, count + 1, sizeof(*those));
    bool *judged = pyro_arena_array(arena, count + 1, sizeof(*judged));
    struct pyro_spread spread;
    if (!off || !those || !judged || !deviations(history, off, judged, arena))
        return false;
    for (size_t i = 0; i < count; i++)
        if (judged[i])
            those[spread_count++] = off[i];
    if (!pyro_spread_of(those, spread_count, arena, &spread))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!judged[i] || fabs(pyro_modified_z(&spread, off[i])) <= PYRO_OUTLIER_Z)
            history->runs[kept++] = history->runs[i];
    history->outliers = count - kept;
    history->count = kept;
    return true;
}

/* The median of the newest known values. */
static bool newest_median(const struct pyro_suggest_history *history, size_t offset, struct pyro_arena *arena,
                          double *ret)
{
    double values[PYRO_HISTORY_INPUTS];
    size_t count = 0;
    for (size_t i = history->count; i-- > 0 && count < PYRO_HISTORY_INPUTS;) {
        double value = *(const double *)(const void *)((const char *)history->runs[i] + offset);
        if (isfinite(value))
            values[count++] = value;
    }
    return pyro_middle(values, count, arena, ret);
}

bool pyro_history_choose(const struct pyro_suggest_run *rows, size_t count, int64_t now_ms, struct pyro_arena *arena,
                         struct pyro_suggest_history *ret)
{
    struct pyro_suggest_history history = {.runs = pyro_arena_array(arena, count + 1, sizeof(*history.runs))};
    if (!history.runs)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].final)
            history.newest = &rows[i];
        if (is_completed(&rows[i]) && rows[i].start_ms >= pyro_sub_saturating(now_ms, PYRO_HISTORY_DAYS * DAY_MS))
            history.runs[history.count++] = &rows[i];
    }
    if (history.newest) {
        history.same_code = keep_same(&history, offsetof(struct pyro_suggest_run, version));
        history.same_spark = keep_same(&history, offsetof(struct pyro_suggest_run, spark_version));
    }
    if (history.count > PYRO_HISTORY_RUNS) {
        history.runs += history.count - PYRO_HISTORY_RUNS;
        history.count = PYRO_HISTORY_RUNS;
    }
    if (!leave_out_outliers(&history, arena) ||
        !newest_median(&history, offsetof(struct pyro_suggest_run, input_bytes), arena, &history.input_bytes) ||
        !newest_median(&history, offsetof(struct pyro_suggest_run, largest_input_bytes), arena,
                       &history.largest_input_bytes))
        return false;
    history.completed = history.count > 0 ? history.runs[history.count - 1] : NULL;
    *ret = history;
    return true;
}

struct pyro_fleet_run *pyro_history_fleet_runs(const struct pyro_suggest_history *history, struct pyro_arena *arena)
{
    struct pyro_fleet_run *runs = pyro_arena_array(arena, history->count + 1, sizeof(*runs));
    for (size_t i = 0; runs && i < history->count; i++) {
        const struct pyro_suggest_run *run = history->runs[i];
        runs[i] = (struct pyro_fleet_run){.start_ms = run->start_ms,
                                          .duration_ms = run->duration_ms,
                                          .executors = run->executors,
                                          .cores = run->cores,
                                          .input_bytes = run->input_bytes,
                                          .largest_input_bytes = run->largest_input_bytes};
    }
    return runs;
}
