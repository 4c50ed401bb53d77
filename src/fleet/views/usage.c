/* What runs were allocated and used over time: plain sums of spans, so that a mean is weighted by duration. */
#include "fleet/views/views.h"

#define SUMS                                                                                                           \
    "{\"as\":\"core_ms\",\"op\":\"sum\",\"field\":\"core_ms\"},"                                                       \
    "{\"as\":\"busy_core_ms\",\"op\":\"sum\",\"field\":\"busy_core_ms\"},"                                             \
    "{\"as\":\"mib_ms\",\"op\":\"sum\",\"field\":\"mib_ms\"},"                                                         \
    "{\"as\":\"input_bytes\",\"op\":\"sum\",\"field\":\"input_bytes\"},"                                               \
    "{\"as\":\"output_bytes\",\"op\":\"sum\",\"field\":\"output_bytes\"},"                                             \
    "{\"as\":\"shuffle_bytes\",\"op\":\"sum\",\"field\":\"shuffle_bytes\"}"

enum { SUM_COUNT = 6, SPANS = 300 };

/* At most SPANS spans, as long as clocks and calendars have them. */
static int64_t span_of(double first, double last)
{
    static const int64_t minutes[] = {5, 15, 30, 60, 180, 360, 720, 1440, 10080, 40320};
    size_t i = 0;
    while (i + 1 < sizeof(minutes) / sizeof(*minutes) && (last - first) / 6e4 / (double)minutes[i] > SPANS)
        i++;
    return minutes[i] * 60000;
}

/* `series`: what it is of; NULL: there is only one. */
static void add_row(struct pyro_fleet_view *view, struct pyro_fleet_table *table, int64_t start_ms, int64_t span_ms,
                    const struct pyro_query_value *series, const double *sums)
{
    pyro_fleet_add_int(view, table, start_ms);
    pyro_fleet_add_int(view, table, span_ms);
    if (series)
        pyro_fleet_add(view, table, series);
    pyro_fleet_add_real(view, table, sums[0] / (double)span_ms);
    pyro_fleet_add_real(view, table, sums[1] / (double)span_ms);
    pyro_fleet_add_real(view, table, sums[2] / (double)span_ms * 1048576);
    for (size_t i = 0; i < SUM_COUNT; i++)
        pyro_fleet_add_int(view, table, (int64_t)sums[i]);
}

static void take_sums(const struct pyro_query_answer *answer, size_t row, size_t from, double *ret)
{
    for (size_t i = 0; i < SUM_COUNT; i++)
        ret[i] = pyro_answer_number(answer, row, from + i);
}

static struct pyro_fleet_table *begin_spans(struct pyro_fleet_view *view)
{
    struct pyro_fleet_table *table = pyro_fleet_table(view, "rows", "Usage over time");
    pyro_fleet_column(table, "start_ms", "Start", FLEET_TIME);
    pyro_fleet_column(table, "span_ms", "Span", FLEET_MS);
    if (view->by.len)
        pyro_fleet_by_column(view, table);
    pyro_fleet_column(table, "cores", "Cores", FLEET_RATIO);
    pyro_fleet_column(table, "busy_cores", "Busy cores", FLEET_RATIO);
    pyro_fleet_column(table, "memory_bytes", "Memory", FLEET_BYTES);
    pyro_fleet_column(table, "core_ms", "Core hours", FLEET_CORE_MS);
    pyro_fleet_column(table, "busy_core_ms", "Busy core hours", FLEET_CORE_MS);
    pyro_fleet_column(table, "mib_ms", "GiB hours", FLEET_MIB_MS);
    pyro_fleet_column(table, "input_bytes", "Input", FLEET_BYTES);
    pyro_fleet_column(table, "output_bytes", "Output", FLEET_BYTES);
    pyro_fleet_column(table, "shuffle_bytes", "Shuffle", FLEET_BYTES);
    return table;
}

static enum pyro_status ask_spans(struct pyro_fleet_view *view, int64_t span_ms, struct pyro_query_answer *ret,
                                  struct pyro_error *error)
{
    pyro_fleet_from(view, "usage");
    return pyro_fleet_ask(view, ret, error,
                          "\"group\":[{\"field\":\"start_ms\",\"every_ms\":%lld}],\"measures\":[" SUMS
                          "],\"limit\":10000",
                          (long long)span_ms);
}

/* The rows of a span by series, and what all others have together. */
static enum pyro_status add_series(struct pyro_fleet_view *view, struct pyro_fleet_table *table, int64_t span_ms,
                                   const struct pyro_query_answer *all, const struct pyro_query_value *top,
                                   size_t top_count, struct pyro_error *error)
{
    static const struct pyro_query_value other = {.kind = PYRO_VALUE_TEXT, .text = PYRO_SLICE_LITERAL("(other)")};
    struct pyro_query_answer parts = {0};
    if (top_count) {
        pyro_fleet_from(view, "usage");
        pyro_fleet_where_in(view, view->by, top, top_count);
        PYRO_TRY(
            pyro_fleet_ask(view, &parts, error,
                           "\"group\":[{\"field\":\"start_ms\",\"every_ms\":%lld},{\"field\":%s}],\"measures\":[" SUMS
                           "],\"limit\":10000",
                           (long long)span_ms, view->by_json.ptr));
    }
    size_t at = 0;
    for (size_t row = 0; row < all->row_count; row++) {
        int64_t start_ms = pyro_answer_int(all, row, 0);
        double rest[SUM_COUNT], sums[SUM_COUNT], left = 0;
        take_sums(all, row, 1, rest);
        for (; at < parts.row_count && pyro_answer_int(&parts, at, 0) == start_ms; at++) {
            take_sums(&parts, at, 2, sums);
            add_row(view, table, start_ms, span_ms, pyro_answer_value(&parts, at, 1), sums);
            for (size_t i = 0; i < SUM_COUNT; i++)
                rest[i] -= sums[i];
        }
        for (size_t i = 0; i < SUM_COUNT; i++)
            left += rest[i];
        if (left > 0)
            add_row(view, table, start_ms, span_ms, &other, rest);
    }
    return PYRO_OK;
}

/* What each of them has in all. */
static enum pyro_status add_groups(struct pyro_fleet_view *view, struct pyro_query_value *ret_top, size_t *ret_count,
                                   struct pyro_error *error)
{
    struct pyro_query_answer sums, runs;
    pyro_fleet_from(view, "usage");
    PYRO_TRY(pyro_fleet_ask(view, &sums, error, "\"group\":[{\"field\":%s}],\"measures\":[" SUMS "],\"limit\":10000",
                            view->by_json.ptr));
    pyro_fleet_from(view, "runs");
    PYRO_TRY(pyro_fleet_ask(view, &runs, error,
                            "\"group\":[{\"field\":%s}],\"measures\":[{\"as\":\"runs\",\"op\":\"count\"},"
                            "{\"as\":\"duration_ms\",\"op\":\"sum\",\"field\":\"duration_ms\"}],\"limit\":10000",
                            view->by_json.ptr));
    struct pyro_fleet_table *table = pyro_fleet_table(view, "groups", "In all");
    pyro_fleet_by_column(view, table);
    pyro_fleet_column(table, "core_ms", "Core hours", FLEET_CORE_MS);
    pyro_fleet_column(table, "busy_share", "Busy", FLEET_SHARE);
    pyro_fleet_column(table, "cores", "Cores of a run", FLEET_RATIO);
    pyro_fleet_column(table, "runs", "Runs", FLEET_COUNT);
    pyro_fleet_column(table, "duration_ms", "Duration", FLEET_MS);
    pyro_fleet_column(table, "mib_ms", "GiB hours", FLEET_MIB_MS);
    pyro_fleet_column(table, "input_bytes", "Input", FLEET_BYTES);
    pyro_fleet_column(table, "output_bytes", "Output", FLEET_BYTES);
    pyro_fleet_column(table, "shuffle_bytes", "Shuffle", FLEET_BYTES);
    size_t near = 0;
    for (size_t row = 0; row < sums.row_count; row++) {
        double all[SUM_COUNT];
        take_sums(&sums, row, 1, all);
        size_t match = pyro_fleet_row_of(&runs, pyro_answer_value(&sums, row, 0), near);
        near = match == SIZE_MAX ? near : match;
        double duration = match == SIZE_MAX ? 0 : pyro_answer_number(&runs, match, 2);
        pyro_fleet_add(view, table, pyro_answer_value(&sums, row, 0));
        pyro_fleet_add_int(view, table, (int64_t)all[0]);
        pyro_fleet_add_real(view, table, all[1] / all[0]);
        pyro_fleet_add_real(view, table, all[0] / duration);
        pyro_fleet_add_int(view, table, match == SIZE_MAX ? PYRO_NONE : pyro_answer_int(&runs, match, 1));
        pyro_fleet_add_int(view, table, (int64_t)duration);
        for (size_t i = 2; i < SUM_COUNT; i++)
            pyro_fleet_add_int(view, table, (int64_t)all[i]);
    }
    pyro_fleet_rank(view, table, 1, FLEET_TABLE_ROWS);
    *ret_count = 0;
    for (size_t row = 0; row < pyro_fleet_rows(table) && *ret_count < FLEET_SERIES; row++)
        if (table->values.items[row * table->column_count].kind != PYRO_VALUE_NULL)
            ret_top[(*ret_count)++] = table->values.items[row * table->column_count];
    return PYRO_OK;
}

enum pyro_status pyro_fleet_usage(struct pyro_fleet_view *view, struct pyro_error *error)
{
    struct pyro_query_answer range, all;
    struct pyro_query_value top[FLEET_SERIES];
    size_t top_count = 0;
    pyro_fleet_from(view, "runs"); /* far fewer than spans */
    PYRO_TRY(pyro_fleet_ask(view, &range, error,
                            "\"measures\":[{\"as\":\"first\",\"op\":\"min\",\"field\":\"start_ms\"},"
                            "{\"as\":\"last\",\"op\":\"max\",\"field\":\"end_ms\"}]"));
    double first = range.row_count ? pyro_answer_number(&range, 0, 0) : 0;
    double last = range.row_count ? pyro_answer_number(&range, 0, 1) : 0;
    int64_t span_ms = span_of(first, last);
    struct pyro_fleet_table *table = begin_spans(view);
    PYRO_TRY(ask_spans(view, span_ms, &all, error));
    if (view->by.len) {
        PYRO_TRY(add_groups(view, top, &top_count, error));
        PYRO_TRY(add_series(view, table, span_ms, &all, top, top_count, error));
    }
    for (size_t row = 0; !view->by.len && row < all.row_count; row++) {
        double sums[SUM_COUNT];
        take_sums(&all, row, 1, sums);
        add_row(view, table, pyro_answer_int(&all, row, 0), span_ms, NULL, sums);
    }
    struct pyro_fleet_picture picture = {"area", "Cores", "rows", "start_ms", "cores", .series = view->by};
    pyro_fleet_picture(view, &picture);
    picture.title = "Memory";
    picture.y = "memory_bytes";
    pyro_fleet_picture(view, &picture);
    picture.title = "Shuffle";
    picture.y = "shuffle_bytes";
    pyro_fleet_picture(view, &picture);
    pyro_fleet_note(view, "Cores and memory are means over each span: allocated core time and memory time, divided by "
                          "the length of the span.");
    return PYRO_OK;
}
