/* One application: its runs, the newest first, those that are out of line, and lasting changes. Without one: all of
 * them. */
#include "fleet/views/trend.h"

#include <math.h>

enum { AROUND = 10 }; /* runs on each side of a change whose settings are compared */

/* ---- All applications ---- */

static enum pyro_status all_applications(struct pyro_fleet_view *view, struct pyro_error *error)
{
    struct pyro_query_answer runs, failed;
    pyro_fleet_from(view, "runs");
    PYRO_TRY(pyro_fleet_ask(view, &runs, error,
                            "\"group\":[{\"field\":%s}],\"measures\":[{\"as\":\"runs\",\"op\":\"count\"},"
                            "{\"as\":\"duration_ms\",\"op\":\"percentiles\",\"field\":\"duration_ms\",\"at\":[50,95]},"
                            "{\"as\":\"core_ms\",\"op\":\"sum\",\"field\":\"core_ms\"},"
                            "{\"as\":\"input_bytes\",\"op\":\"sum\",\"field\":\"input_bytes\"},"
                            "{\"as\":\"last_ms\",\"op\":\"max\",\"field\":\"start_ms\"}],\"limit\":10000",
                            view->by_json.ptr));
    pyro_fleet_from(view, "runs");
    pyro_fleet_where(view, "status", "=", PYRO_SLICE_LITERAL("failed"));
    PYRO_TRY(pyro_fleet_ask(view, &failed, error,
                            "\"group\":[{\"field\":%s}],\"measures\":[{\"as\":\"runs\",\"op\":\"count\"}],"
                            "\"limit\":10000",
                            view->by_json.ptr));
    struct pyro_fleet_table *table = pyro_fleet_table(view, "rows", "Runs");
    pyro_fleet_by_column(view, table);
    pyro_fleet_column(table, "runs", "Runs", FLEET_COUNT);
    pyro_fleet_column(table, "failed", "Failed", FLEET_COUNT);
    pyro_fleet_column(table, "median_ms", "Median duration", FLEET_MS);
    pyro_fleet_column(table, "p95_ms", "p95 duration", FLEET_MS);
    pyro_fleet_column(table, "core_ms", "Core hours", FLEET_CORE_MS);
    pyro_fleet_column(table, "input_bytes", "Input", FLEET_BYTES);
    pyro_fleet_column(table, "last_ms", "Last start", FLEET_TIME);
    size_t near = 0;
    for (size_t row = 0; row < runs.row_count; row++) {
        size_t match = pyro_fleet_row_of(&failed, pyro_answer_value(&runs, row, 0), near);
        near = match == SIZE_MAX ? near : match;
        pyro_fleet_add(view, table, pyro_answer_value(&runs, row, 0));
        pyro_fleet_add(view, table, pyro_answer_value(&runs, row, 1));
        pyro_fleet_add_int(view, table, match == SIZE_MAX ? 0 : pyro_answer_int(&failed, match, 1));
        for (size_t c = 2; c < 7; c++)
            pyro_fleet_add_int(view, table, pyro_answer_int(&runs, row, c));
    }
    pyro_fleet_rank(view, table, 5, FLEET_TABLE_ROWS);
    const struct pyro_fleet_picture picture = {"bars", "Core hours", "rows", NULL, "core_ms", .series = view->by};
    pyro_fleet_picture(view, &picture);
    pyro_fleet_note(view, "Of one application, this view shows the trend, outliers and lasting changes.");
    return PYRO_OK;
}

/* ---- One application ---- */

enum column { APP_ID, ATTEMPT, START, DURATION, INPUT, CORE, STATUS, VERSION, SPARK, OUTCOME, CORES };

struct history {
    struct pyro_query_answer answer; /* newest first */
    size_t count;                    /* completed runs, oldest first */
    size_t *rows;                    /* of the answer */
    struct pyro_trend trend;
    struct pyro_spread spread;
    struct pyro_change_point changes[PYRO_CHANGES_MAX];
    size_t change_count;
};

/* Completed ones, of which duration says something. */
static bool counts(const struct pyro_query_answer *answer, size_t row)
{
    return pyro_answer_number(answer, row, DURATION) >= 0 &&
           pyro_slice_is(pyro_answer_text(answer, row, STATUS), "completed");
}

static bool judge(struct pyro_fleet_view *view, struct history *history)
{
    size_t all = history->answer.row_count;
    double *input = pyro_arena_array(view->arena, all + 1, sizeof(*input));
    double *duration = pyro_arena_array(view->arena, all + 1, sizeof(*duration));
    double *cores = pyro_arena_array(view->arena, all + 1, sizeof(*cores));
    history->rows = pyro_arena_array(view->arena, all + 1, sizeof(*history->rows));
    if (!input || !duration || !cores || !history->rows)
        return false;
    for (size_t i = all; i-- > 0;) {
        if (!counts(&history->answer, i))
            continue;
        input[history->count] = pyro_answer_number(&history->answer, i, INPUT);
        cores[history->count] = pyro_answer_number(&history->answer, i, CORES);
        duration[history->count] = pyro_answer_number(&history->answer, i, DURATION);
        history->rows[history->count++] = i;
    }
    return pyro_trend_of(input, duration, cores, history->count, view->arena, &history->trend) &&
           pyro_spread_of(history->trend.off, history->count, view->arena, &history->spread) &&
           pyro_change_points(history->trend.adjusted, history->count, view->arena, history->changes,
                              &history->change_count);
}

/* How many lasting changes came before the run. */
static int64_t segment_of(const struct history *history, size_t run)
{
    int64_t segment = 0;
    while ((size_t)segment < history->change_count && history->changes[segment].index <= run)
        segment++;
    return segment;
}

static void add_runs(struct pyro_fleet_view *view, struct history *history)
{
    struct pyro_fleet_table *table = pyro_fleet_table(view, "rows", "Runs");
    const struct pyro_query_answer *answer = &history->answer;
    size_t outliers = 0, next = history->count;
    pyro_fleet_column(table, "start_ms", "Start", FLEET_TIME);
    pyro_fleet_column(table, "app_id", "Run", FLEET_TEXT);
    pyro_fleet_column(table, "attempt", "Attempt", FLEET_TEXT);
    pyro_fleet_column(table, "outcome", "Outcome", FLEET_TEXT);
    pyro_fleet_column(table, "duration_ms", "Duration", FLEET_MS);
    pyro_fleet_column(table, "adjusted_ms", "Adjusted for input", FLEET_MS);
    pyro_fleet_column(table, "z", "Modified z", FLEET_RATIO);
    pyro_fleet_column(table, "outlier", "Outlier", FLEET_FLAG);
    pyro_fleet_column(table, "segment", "Segment", FLEET_COUNT);
    pyro_fleet_column(table, "input_bytes", "Input", FLEET_BYTES);
    pyro_fleet_column(table, "core_ms", "Core hours", FLEET_CORE_MS);
    pyro_fleet_column(table, "version", "Version", FLEET_TEXT);
    pyro_fleet_column(table, "spark_version", "Spark", FLEET_TEXT);
    pyro_fleet_column(table, "status", "Status", FLEET_TEXT);
    pyro_fleet_keep(table, "duration_ms outcome app_id outlier");
    bool grouped = pyro_fleet_further_column(view, table);
    for (size_t row = 0; row < answer->row_count; row++) {
        bool judged = next > 0 && history->rows[next - 1] == row;
        double y = judged ? history->trend.adjusted[--next] : (double)NAN;
        double z = judged ? pyro_modified_z(&history->spread, history->trend.off[next]) : (double)NAN;
        bool outlier = judged && fabs(z) > PYRO_OUTLIER_Z;
        outliers += outlier;
        pyro_fleet_add(view, table, pyro_answer_value(answer, row, START));
        pyro_fleet_add(view, table, pyro_answer_value(answer, row, APP_ID));
        pyro_fleet_add(view, table, pyro_answer_value(answer, row, ATTEMPT));
        struct pyro_slice outcome = pyro_answer_text(answer, row, OUTCOME);
        pyro_fleet_add_text(view, table, outcome.ptr ? outcome : pyro_answer_text(answer, row, STATUS));
        pyro_fleet_add(view, table, pyro_answer_value(answer, row, DURATION));
        pyro_fleet_add_real(view, table, exp(y));
        pyro_fleet_add_real(view, table, z);
        pyro_fleet_add_int(view, table, outlier);
        pyro_fleet_add_int(view, table, segment_of(history, next));
        pyro_fleet_add(view, table, pyro_answer_value(answer, row, INPUT));
        pyro_fleet_add(view, table, pyro_answer_value(answer, row, CORE));
        pyro_fleet_add(view, table, pyro_answer_value(answer, row, VERSION));
        pyro_fleet_add(view, table, pyro_answer_value(answer, row, SPARK));
        pyro_fleet_add(view, table, pyro_answer_value(answer, row, STATUS));
        if (grouped)
            pyro_fleet_add(view, table, pyro_fleet_by_value(view, answer, row));
    }
    pyro_fleet_note(view, "Runs: %zu, completed: %zu, outliers beyond a modified z of %.1f: %zu, lasting changes: %zu.",
                    answer->row_count, history->count, PYRO_OUTLIER_Z, outliers, history->change_count);
    pyro_fleet_note(view, "Slope of the duration by input (logarithms of both) among runs with as many cores: %.3f.",
                    history->trend.slope);
}

/* ---- What changed ---- */

struct range {
    int64_t from_ms, to_ms; /* both are in it */
};

static void in_range(struct pyro_fleet_view *view, const void *context)
{
    const struct range *range = context;
    pyro_fleet_where(view, "status", "=", PYRO_SLICE_LITERAL("completed"));
    pyro_fleet_where_number(view, "start_ms", ">=", (double)range->from_ms);
    pyro_fleet_where_number(view, "start_ms", "<=", (double)range->to_ms);
}

static struct range range_of(const struct history *history, size_t first, size_t last)
{
    return (struct range){pyro_answer_int(&history->answer, history->rows[first], START),
                          pyro_answer_int(&history->answer, history->rows[last], START)};
}

static enum pyro_status add_changes(struct pyro_fleet_view *view, const struct history *history,
                                    struct pyro_error *error)
{
    struct pyro_fleet_table *table = pyro_fleet_table(view, "changes", "Lasting changes");
    pyro_fleet_column(table, "start_ms", "First run", FLEET_TIME);
    pyro_fleet_column(table, "app_id", "Run", FLEET_TEXT);
    pyro_fleet_column(table, "before_ms", "Median before", FLEET_MS);
    pyro_fleet_column(table, "after_ms", "Median after", FLEET_MS);
    pyro_fleet_column(table, "change", "Change", FLEET_SHARE);
    pyro_fleet_column(table, "p", "p", FLEET_RATIO);
    pyro_fleet_column(table, "changed", "What changed there", FLEET_TEXT);
    for (size_t i = 0; i < history->change_count; i++) {
        const struct pyro_change_point *change = &history->changes[i];
        size_t least = i ? history->changes[i - 1].index : 0,
               most = i + 1 < history->change_count ? history->changes[i + 1].index : history->count;
        size_t first = change->index - least > AROUND ? change->index - AROUND : least;
        size_t last = most - change->index > AROUND ? change->index + AROUND : most;
        const struct range before = range_of(history, first, change->index - 1),
                           after = range_of(history, change->index, last - 1);
        struct pyro_trend_change settings[PYRO_TREND_CHANGES];
        size_t count = 0;
        if (i < AROUND) /* each takes four questions */
            PYRO_TRY(pyro_trend_changes(view, in_range, &before, &after, settings, &count, error));
        pyro_fleet_add_int(view, table, after.from_ms);
        pyro_fleet_add(view, table, pyro_answer_value(&history->answer, history->rows[change->index], APP_ID));
        pyro_fleet_add_real(view, table, exp(change->before));
        pyro_fleet_add_real(view, table, exp(change->after));
        pyro_fleet_add_real(view, table, exp(change->after - change->before) - 1);
        pyro_fleet_add_real(view, table, change->p);
        pyro_fleet_add_text(view, table,
                            count ? pyro_trend_words(view, settings, count)
                                  : PYRO_SLICE_LITERAL("no setting or version that the store knows"));
    }
    return PYRO_OK;
}

enum pyro_status pyro_fleet_runs(struct pyro_fleet_view *view, struct pyro_error *error)
{
    static const char fields[] = "\"app_id\",\"attempt\",\"start_ms\",\"duration_ms\",\"input_bytes\",\"core_ms\","
                                 "\"status\",\"version\",\"spark_version\",\"outcome\",\"agg.cores_peak\"";
    struct history history = {.count = 0};
    if (!view->options->app)
        return all_applications(view, error);
    bool by_default = !view->options->by; /* that of all applications */
    if (by_default)
        view->by = PYRO_SLICE_NULL;
    pyro_fleet_from(view, "runs");
    PYRO_TRY(pyro_fleet_ask(view, &history.answer, error,
                            "\"fields\":[%s%s],\"order\":{\"by\":\"start_ms\","
                            "\"descending\":true},\"limit\":%d",
                            fields, pyro_fleet_further_field(view, fields), FLEET_MARKS));
    if (!judge(view, &history))
        return pyro_no_memory(error);
    add_runs(view, &history);
    PYRO_TRY(add_changes(view, &history, error));
    pyro_fleet_note_newest(view, &history.answer);
    struct pyro_fleet_picture picture = {"points",
                                         "Duration, adjusted for input",
                                         "rows",
                                         "start_ms",
                                         "adjusted_ms",
                                         .mark = "outlier",
                                         .series = by_default ? PYRO_SLICE_LITERAL("segment") : view->by};
    pyro_fleet_picture(view, &picture);
    picture.title = "Duration by input";
    picture.x = "input_bytes";
    picture.y = "duration_ms";
    pyro_fleet_picture(view, &picture);
    return PYRO_OK;
}
