/* Two groups of runs, at best of one application: versions, values of a setting or tag, or before and after a date. */
#include <math.h>
#include <stdio.h>

#include "fleet/views/trend.h"
#include "text/humanize.h"

enum { LEAST = 5, VALUES = 2 };

/* One group: the condition that makes it, and its runs. */
struct group {
    struct pyro_slice field;       /* null: by date */
    struct pyro_query_value value; /* of the field; null: where it is not known */
    bool missing;                  /* no run has another value: the group is empty */
    int64_t at_ms;
    bool after;                      /* by date: from at_ms */
    struct pyro_query_answer answer; /* duration_ms, input_bytes, core_ms, ... of completed runs, newest first */
};

static const struct {
    const char *field, *name, *unit;
} measures[] = {
    {"duration_ms", "duration_ms", "ms"},
    {"core_ms", "core_ms", "core_ms"},
    {"input_bytes", "input_bytes", "bytes"},
    {"agg.stages.shuffleWriteBytes.sum", "shuffle_write_bytes", "bytes"},
    {"agg.stages.memoryBytesSpilled.sum", "memory_spill_bytes", "bytes"},
    {"agg.stages.jvmGcTime.sum", "gc_ms", "ms"},
    {"agg.stages.numFailedTasks.sum", "failed_tasks", "count"},
};
enum { DURATION, CORE, INPUT, MEASURES = sizeof(measures) / sizeof(*measures) };

static void add_condition(struct pyro_fleet_view *view, const void *context)
{
    const struct group *group = context;
    if (!group->field.ptr)
        pyro_fleet_where_number(view, "start_ms", group->after ? ">=" : "<", (double)group->at_ms);
    else if (group->value.kind == PYRO_VALUE_NULL)
        pyro_fleet_where_known(view, group->field.ptr, false);
    else
        pyro_fleet_where_in(view, group->field, &group->value, 1);
}

static void add_completed(struct pyro_fleet_view *view, const void *context)
{
    pyro_fleet_where(view, "status", "=", PYRO_SLICE_LITERAL("completed"));
    pyro_fleet_where_known(view, "duration_ms", true);
    add_condition(view, context);
}

static enum pyro_status ask_group(struct pyro_fleet_view *view, struct group *group, struct pyro_error *error)
{
    char fields[512];
    size_t len = 0;
    if (group->missing)
        return PYRO_OK;
    for (size_t i = 0; i < MEASURES; i++)
        len += (size_t)snprintf(fields + len, sizeof(fields) - len, "%s\"%s\"", i ? "," : "", measures[i].field);
    pyro_fleet_from(view, "runs");
    add_completed(view, group);
    PYRO_TRY(
        pyro_fleet_ask(view, &group->answer, error,
                       "\"fields\":[%s,\"start_ms\"],\"order\":{\"by\":\"start_ms\",\"descending\":true},\"limit\":%d",
                       fields, FLEET_MARKS / 2));
    pyro_fleet_note_newest(view, &group->answer);
    return PYRO_OK;
}

/* ---- Which groups ------------------------------------------------------------------------------------------------ */

/* The last lasting change of the duration, else the middle of the runs. */
static enum pyro_status find_date(struct pyro_fleet_view *view, int64_t *ret, struct pyro_error *error)
{
    struct group all = {.at_ms = 0, .after = true};
    struct pyro_query_answer answer;
    struct pyro_trend trend;
    struct pyro_change_point changes[PYRO_CHANGES_MAX];
    size_t change_count;
    pyro_fleet_from(view, "runs");
    add_completed(view, &all);
    PYRO_TRY(pyro_fleet_ask(
        view, &answer, error,
        "\"fields\":[\"start_ms\",\"duration_ms\",\"input_bytes\",\"agg.cores_peak\"],\"order\":{\"by\":\"start_ms\","
        "\"descending\":true},\"limit\":%d",
        FLEET_MARKS));
    size_t count = answer.row_count;
    double *duration = pyro_arena_array(view->arena, count + 1, sizeof(*duration));
    double *input = pyro_arena_array(view->arena, count + 1, sizeof(*input));
    double *cores = pyro_arena_array(view->arena, count + 1, sizeof(*cores));
    if (!duration || !input || !cores)
        return pyro_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        duration[i] = pyro_answer_number(&answer, count - 1 - i, 1);
        input[i] = pyro_answer_number(&answer, count - 1 - i, 2);
        cores[i] = pyro_answer_number(&answer, count - 1 - i, 3);
    }
    if (!pyro_trend_of(input, duration, cores, count, view->arena, &trend) ||
        !pyro_change_points(trend.adjusted, count, view->arena, changes, &change_count))
        return pyro_no_memory(error);
    size_t index = change_count ? changes[change_count - 1].index : count / 2;
    *ret = count ? pyro_answer_int(&answer, count - 1 - index, 0) : 0;
    pyro_fleet_note(view, change_count ? "The date is that of the last lasting change of the duration."
                                       : "The duration has no lasting change: the date is that of the middle run.");
    return PYRO_OK;
}

static enum pyro_status split_by_date(struct pyro_fleet_view *view, struct group *groups, struct pyro_error *error)
{
    if (view->options->before || view->options->after)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "by date, there is no before and after: give 'at'");
    int64_t at_ms = view->at_ms;
    if (at_ms == PYRO_NONE)
        PYRO_TRY(find_date(view, &at_ms, error));
    groups[0] = (struct group){.at_ms = at_ms};
    groups[1] = (struct group){.at_ms = at_ms, .after = true};
    return PYRO_OK;
}

/* The two values that runs started with most recently, the older one before; or those that were named. */
static enum pyro_status split_by_field(struct pyro_fleet_view *view, struct group *groups, struct pyro_error *error)
{
    const char *named[VALUES] = {view->options->before, view->options->after};
    struct pyro_query_answer answer;
    if (view->options->at)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "'at' is for --by date only");
    pyro_fleet_from(view, "runs");
    pyro_fleet_where(view, "status", "=", PYRO_SLICE_LITERAL("completed"));
    PYRO_TRY(pyro_fleet_ask(view, &answer, error,
                            "\"group\":[{\"field\":%s}],\"measures\":[{\"as\":\"runs\",\"op\":\"count\"},"
                            "{\"as\":\"last_ms\",\"op\":\"max\",\"field\":\"start_ms\"}],\"order\":{\"by\":"
                            "\"last_ms\",\"descending\":true},\"limit\":1000",
                            view->by_json.ptr));
    size_t next = 0;
    for (size_t i = VALUES; i-- > 0;) {
        groups[i].field = view->by;
        if (named[i]) {
            groups[i].value = (struct pyro_query_value){.kind = PYRO_VALUE_TEXT, .text = pyro_slice_from(named[i])};
            continue;
        }
        for (; next < answer.row_count; next++) { /* not what the other group has */
            const struct pyro_query_value *value = pyro_answer_value(&answer, next, 0);
            const char *other = named[!i];
            if (!(other && value->kind == PYRO_VALUE_TEXT && pyro_slice_is(value->text, other)))
                break;
        }
        groups[i].missing = next == answer.row_count;
        if (!groups[i].missing)
            groups[i].value = *pyro_answer_value(&answer, next++, 0);
    }
    return PYRO_OK;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static size_t values_of(const struct group *group, size_t measure, double *ret)
{
    size_t count = 0;
    for (size_t i = 0; i < group->answer.row_count; i++) {
        double value = pyro_answer_number(&group->answer, i, measure);
        if (isfinite(value))
            ret[count++] = value;
    }
    return count;
}

/* ln(duration) of both groups, adjusted for input by one slope. */
static bool adjust(struct pyro_fleet_view *view, const struct group *groups, double *const *values, double *ret_slope)
{
    size_t counts[] = {groups[0].answer.row_count, groups[1].answer.row_count}, all = counts[0] + counts[1];
    double *input = pyro_arena_array(view->arena, all + 1, sizeof(*input));
    double *duration = pyro_arena_array(view->arena, all + 1, sizeof(*duration));
    struct pyro_trend trend;
    if (!input || !duration)
        return false;
    for (size_t g = 0, k = 0; g < 2; g++)
        for (size_t i = 0; i < counts[g]; i++, k++) {
            input[k] = pyro_answer_number(&groups[g].answer, i, INPUT);
            duration[k] = pyro_answer_number(&groups[g].answer, i, DURATION);
        }
    /* Without cores: the groups may differ in just these. */
    if (!pyro_trend_of(input, duration, NULL, all, view->arena, &trend))
        return false;
    memcpy(values[0], trend.adjusted, counts[0] * sizeof(double));
    memcpy(values[1], trend.adjusted + counts[0], counts[1] * sizeof(double));
    if (ret_slope)
        *ret_slope = trend.slope;
    return true;
}

/* `logarithms`: the shift is a ratio, and medians are shown as times. */
static bool add_row(struct pyro_fleet_view *view, struct pyro_fleet_table *table, const char *title, const char *unit,
                    double *const *values, const size_t *counts, bool logarithms)
{
    struct pyro_shift shift;
    struct pyro_rank_test test;
    double middles[2];
    bool enough = counts[0] >= LEAST && counts[1] >= LEAST;
    if (!pyro_shift_of(values[1], counts[1], values[0], counts[0], view->arena, &shift) ||
        !pyro_rank_test(values[1], counts[1], values[0], counts[0], view->arena, &test) ||
        !pyro_middle(values[0], counts[0], view->arena, &middles[0]) ||
        !pyro_middle(values[1], counts[1], view->arena, &middles[1]))
        return false;
    const char *verdict = !enough ? "too few runs" : shift.low > 0 ? "more" : shift.high < 0 ? "less" : "unclear";
    pyro_fleet_add_text(view, table, pyro_slice_from(title));
    pyro_fleet_add_int(view, table, (int64_t)counts[0]);
    pyro_fleet_add_int(view, table, (int64_t)counts[1]);
    pyro_fleet_add_real(view, table, logarithms ? exp(middles[0]) : middles[0]);
    pyro_fleet_add_real(view, table, logarithms ? exp(middles[1]) : middles[1]);
    double base = logarithms ? exp(middles[0]) : 1;
    const double shifts[] = {shift.shift, shift.low, shift.high};
    for (size_t i = 0; i < 3; i++)
        pyro_fleet_add_real(view, table, !enough ? (double)NAN : logarithms ? base * (exp(shifts[i]) - 1) : shifts[i]);
    pyro_fleet_add_real(view, table, enough ? test.p : (double)NAN);
    pyro_fleet_add_text(view, table, pyro_slice_from(verdict));
    pyro_fleet_add_text(view, table, pyro_slice_from(unit));
    return true;
}

static bool fill(struct pyro_fleet_view *view, const struct group *groups)
{
    struct pyro_fleet_table *table = pyro_fleet_table(view, "rows", "Comparison");
    size_t most = groups[0].answer.row_count + groups[1].answer.row_count + 1;
    double *values[2] = {pyro_arena_array(view->arena, most, sizeof(**values)),
                         pyro_arena_array(view->arena, most, sizeof(**values))};
    pyro_fleet_column(table, "measure", "Measure", FLEET_TEXT);
    pyro_fleet_column(table, "before_runs", "Runs before", FLEET_COUNT);
    pyro_fleet_column(table, "after_runs", "Runs after", FLEET_COUNT);
    pyro_fleet_column(table, "before_median", "Median before", FLEET_OF_ROW);
    pyro_fleet_column(table, "after_median", "Median after", FLEET_OF_ROW);
    pyro_fleet_column(table, "shift", "Shift", FLEET_OF_ROW);
    pyro_fleet_column(table, "shift_low", "At least", FLEET_OF_ROW);
    pyro_fleet_column(table, "shift_high", "At most", FLEET_OF_ROW);
    pyro_fleet_column(table, "p", "p", FLEET_RATIO);
    pyro_fleet_column(table, "verdict", "Verdict", FLEET_TEXT);
    pyro_fleet_column(table, "unit", "Unit", FLEET_TEXT);
    pyro_fleet_keep(table, "shift verdict after_median before_median shift_low shift_high");
    const size_t runs[2] = {groups[0].answer.row_count, groups[1].answer.row_count};
    double slope;
    if (!values[0] || !values[1] || !adjust(view, groups, values, &slope) ||
        !add_row(view, table, "adjusted_duration_ms", "ms", values, runs, true))
        return false;
    for (size_t i = 0; i < MEASURES; i++) {
        const size_t counts[2] = {values_of(&groups[0], i, values[0]), values_of(&groups[1], i, values[1])};
        if (counts[0] && counts[1] && !add_row(view, table, measures[i].name, measures[i].unit, values, counts, false))
            return false;
    }
    pyro_fleet_note(view, "Slope of the duration by input (logarithms of both): %.3f.", slope);
    if (runs[0] < LEAST || runs[1] < LEAST)
        pyro_fleet_note(view, "Too few runs: %zu before and %zu after; at least %d of each are compared.", runs[0],
                        runs[1], LEAST);
    return true;
}

static enum pyro_status add_settings(struct pyro_fleet_view *view, const struct group *groups, struct pyro_error *error)
{
    struct pyro_trend_change changes[PYRO_TREND_CHANGES];
    size_t count = 0;
    if (!groups[0].missing && !groups[1].missing)
        PYRO_TRY(pyro_trend_changes(view, add_completed, &groups[0], &groups[1], changes, &count, error));
    struct pyro_fleet_table *table = pyro_fleet_table(view, "settings", "Other settings that differ");
    pyro_fleet_column(table, "setting", "Setting", FLEET_TEXT);
    pyro_fleet_column(table, "before", "Before", FLEET_TEXT);
    pyro_fleet_column(table, "before_runs", "Runs with it", FLEET_COUNT);
    pyro_fleet_column(table, "after", "After", FLEET_TEXT);
    pyro_fleet_column(table, "after_runs", "Runs with it", FLEET_COUNT);
    for (size_t i = 0; i < count; i++) {
        struct pyro_slice key = pyro_slice_from(changes[i].key), by = view->by;
        if (pyro_slice_starts_with(by, "property."))
            by = (struct pyro_slice){by.ptr + 9, by.len - 9};
        if (groups[0].field.ptr && pyro_slice_eq(key, by))
            continue; /* what is compared */
        pyro_fleet_add_text(view, table, key);
        pyro_fleet_add_text(view, table, changes[i].before);
        pyro_fleet_add_int(view, table, (int64_t)changes[i].before_count);
        pyro_fleet_add_text(view, table, changes[i].after);
        pyro_fleet_add_int(view, table, (int64_t)changes[i].after_count);
    }
    return PYRO_OK;
}

/* The runs of both groups, for the picture. False: no memory. */
static bool add_runs(struct pyro_fleet_view *view, const struct group *groups)
{
    struct pyro_fleet_table *table = pyro_fleet_table(view, "runs", "Runs");
    size_t most = groups[0].answer.row_count + groups[1].answer.row_count + 1;
    double *values[2] = {pyro_arena_array(view->arena, most, sizeof(**values)),
                         pyro_arena_array(view->arena, most, sizeof(**values))};
    table->drawn_only = true;
    pyro_fleet_column(table, "start_ms", "Start", FLEET_TIME);
    pyro_fleet_column(table, "group", "Group", FLEET_TEXT);
    pyro_fleet_column(table, "adjusted_ms", "Adjusted for input", FLEET_MS);
    pyro_fleet_column(table, "duration_ms", "Duration", FLEET_MS);
    pyro_fleet_column(table, "input_bytes", "Input", FLEET_BYTES);
    if (!values[0] || !values[1] || !adjust(view, groups, values, NULL))
        return false;
    for (size_t g = 0; g < 2; g++) {
        for (size_t i = 0; i < groups[g].answer.row_count; i++) {
            pyro_fleet_add(view, table, pyro_answer_value(&groups[g].answer, i, MEASURES));
            pyro_fleet_add_text(view, table, g ? PYRO_SLICE_LITERAL("after") : PYRO_SLICE_LITERAL("before"));
            pyro_fleet_add_real(view, table, exp(values[g][i]));
            pyro_fleet_add(view, table, pyro_answer_value(&groups[g].answer, i, DURATION));
            pyro_fleet_add(view, table, pyro_answer_value(&groups[g].answer, i, INPUT));
        }
    }
    const struct pyro_fleet_picture picture = {"points",      "Duration, adjusted for input",       "runs", "start_ms",
                                               "adjusted_ms", .series = PYRO_SLICE_LITERAL("group")};
    pyro_fleet_picture(view, &picture);
    return true;
}

static struct pyro_slice name_of(struct pyro_fleet_view *view, const struct group *group)
{
    const struct pyro_query_value *value = &group->value;
    if (!group->field.ptr) {
        struct pyro_strbuf text;
        pyro_strbuf_init(&text, view->allocator);
        pyro_human_time(&text, group->at_ms, 0);
        struct pyro_slice name = pyro_arena_printf(view->arena, "%s %.*s", group->after ? "since" : "until",
                                                   (int)text.len, text.data ? text.data : "");
        pyro_strbuf_done(&text);
        return name;
    }
    if (group->missing)
        return PYRO_SLICE_LITERAL("(none)");
    return value->kind == PYRO_VALUE_TEXT  ? value->text
           : value->kind == PYRO_VALUE_INT ? pyro_arena_printf(view->arena, "%lld", (long long)value->integer)
                                           : PYRO_SLICE_LITERAL("(unknown)");
}

enum pyro_status pyro_fleet_compare(struct pyro_fleet_view *view, struct pyro_error *error)
{
    struct group groups[2] = {{.at_ms = 0}, {.at_ms = 0}};
    bool by_date = pyro_slice_is(view->by, "date");
    PYRO_TRY(by_date ? split_by_date(view, groups, error) : split_by_field(view, groups, error));
    PYRO_TRY(ask_group(view, &groups[0], error));
    PYRO_TRY(ask_group(view, &groups[1], error));
    struct pyro_slice before = name_of(view, &groups[0]), after = name_of(view, &groups[1]);
    pyro_fleet_note(view, "Before: %s %.*s. After: %s %.*s.", view->by.ptr, (int)before.len, before.ptr, view->by.ptr,
                    (int)after.len, after.ptr);
    if (!view->options->app)
        pyro_fleet_note(view,
                        "Runs of all applications are compared: the groups may differ in what they ran. 'app' takes "
                        "those of one.");
    if (!fill(view, groups))
        return pyro_no_memory(error);
    PYRO_TRY(add_settings(view, groups, error));
    if (!add_runs(view, groups))
        return pyro_no_memory(error);
    pyro_fleet_note(view, "Shift: Hodges-Lehmann estimate of after - before with its 90 %% interval; p: Mann-Whitney, "
                          "two-sided. The adjusted duration leaves out the influence of input.");
    return PYRO_OK;
}
