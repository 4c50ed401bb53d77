/* How a number of runs is distributed. */
#include <math.h>

#include "fleet/views/views.h"
#include "text/escape.h"
#include "text/json_compact.h"

enum { BINS = 40 };

/* 1, 2 or 5 times a power of ten, at least `least`. */
static double round_step(double least)
{
    double power = pow(10, floor(log10(least)));
    for (unsigned i = 0; i < 4; i++) {
        static const double steps[] = {1, 2, 5, 10};
        if (steps[i] * power >= least * (1 - 1e-9))
            return steps[i] * power;
    }
    return 10 * power;
}

/* Edges that enclose [low, high]: even steps, or 1, 2, 5, 10, ... where values spread over three powers of ten. */
static size_t make_edges(double low, double high, double *edges)
{
    size_t count = 0;
    if (low > 0 && high / low > 1000) {
        double power = pow(10, floor(log10(low)));
        for (; count < BINS * 2; power *= 10)
            for (unsigned i = 0; i < 3; i++) {
                static const double steps[] = {1, 2, 5};
                double edge = steps[i] * power, next = (i == 2 ? 10 : steps[i + 1]) * power;
                if (next <= low || count == BINS * 2)
                    continue;
                edges[count++] = edge;
                if (edge > high)
                    return count;
            }
        return count;
    }
    double step = high > low ? round_step((high - low) / BINS * 1.5) : round_step(fmax(fabs(low) / 10, 1));
    double first = floor(low / step);
    for (; count < BINS + 2; count++) {
        edges[count] = (first + (double)count) * step;
        if (edges[count] > high)
            return count + 1;
    }
    return count;
}

static void write_edges(struct pyro_strbuf *text, const double *edges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pyro_compact_next(text);
        pyro_add_json_real(text, edges[i]);
    }
}

/* Pyrometer's own numbers of a run hold up to the last event of its log; those that Spot defines need the end. */
static bool needs_end(const char *value)
{
    return strncmp(value, "agg.", 4) == 0 && strncmp(value, "agg.run.", 8) != 0;
}

static void from_runs(struct pyro_fleet_view *view, const char *value)
{
    pyro_fleet_from(view, "runs");
    if (needs_end(value))
        pyro_fleet_where_ended(view);
}

static enum pyro_status ask_range(struct pyro_fleet_view *view, const char *field, struct pyro_query_answer *ret,
                                  struct pyro_error *error)
{
    return pyro_fleet_ask(view, ret, error,
                          "\"measures\":[{\"as\":\"runs\",\"op\":\"count\"},"
                          "{\"as\":\"min\",\"op\":\"min\",\"field\":%s},{\"as\":\"mean\",\"op\":\"mean\",\"field\":%s},"
                          "{\"as\":\"max\",\"op\":\"max\",\"field\":%s},{\"as\":\"p\",\"op\":\"percentiles\","
                          "\"field\":%s,\"at\":[5,25,50,75,95,99]}]",
                          field, field, field, field);
}

static enum pyro_fleet_unit unit_of(const char *field)
{
    struct pyro_slice name = pyro_slice_from(field);
    if (strcmp(field, "core_ms") == 0)
        return FLEET_CORE_MS;
    if (pyro_slice_ends_with(name, "_ms") || pyro_slice_ends_with(name, "uration"))
        return FLEET_MS;
    return pyro_slice_find(name, "ytes") ? FLEET_BYTES : FLEET_RATIO;
}

static void add_quantiles(struct pyro_fleet_view *view, const struct pyro_query_answer *range,
                          enum pyro_fleet_unit unit)
{
    static const char *const names[] = {"runs", "min", "mean", "max", "p5", "p25", "median", "p75", "p95", "p99"};
    struct pyro_fleet_table *table = pyro_fleet_table(view, "quantiles", "Quantiles");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        pyro_fleet_column(table, names[i], names[i], i ? unit : FLEET_COUNT);
    for (size_t i = 0; range->row_count && i < sizeof(names) / sizeof(*names); i++)
        pyro_fleet_add(view, table, pyro_answer_value(range, 0, i));
}

/* Bins without a run are rows too, so that the picture shows the gaps. */
static void add_bins(struct pyro_fleet_view *view, struct pyro_fleet_table *table,
                     const struct pyro_query_answer *counts, const double *edges, size_t edge_count)
{
    bool several = view->by.len > 0;
    size_t at = 0;
    double all = 0;
    for (size_t i = 0; i < counts->row_count; i++)
        all += pyro_answer_number(counts, i, 1 + several);
    for (size_t i = 0; i + 1 < edge_count; i++) {
        size_t rows = 0;
        for (; at < counts->row_count && pyro_answer_number(counts, at, 0) < edges[i + 1]; at++, rows++) {
            pyro_fleet_add_real(view, table, edges[i]);
            pyro_fleet_add_real(view, table, edges[i + 1]);
            if (several)
                pyro_fleet_add(view, table, pyro_answer_value(counts, at, 1));
            pyro_fleet_add(view, table, pyro_answer_value(counts, at, 1 + several));
            pyro_fleet_add_real(view, table, pyro_answer_number(counts, at, 1 + several) / all);
        }
        if (rows)
            continue;
        pyro_fleet_add_real(view, table, edges[i]);
        pyro_fleet_add_real(view, table, edges[i + 1]);
        if (several)
            pyro_fleet_add_text(view, table, PYRO_SLICE_NULL);
        pyro_fleet_add_int(view, table, 0);
        pyro_fleet_add_real(view, table, 0);
    }
}

enum pyro_status pyro_fleet_histogram(struct pyro_fleet_view *view, struct pyro_error *error)
{
    struct pyro_query_answer range = {0}, counts = {0};
    double edges[BINS * 2 + 3];
    const char *value = view->options->value ? view->options->value : "duration_ms";
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, view->allocator);
    pyro_add_json(&text, pyro_slice_from(value));
    struct pyro_slice field = pyro_arena_copy(view->arena, pyro_strbuf_slice(&text));
    from_runs(view, value);
    pyro_fleet_where_known(view, value, true); /* only runs with a value have quantiles */
    enum pyro_status status =
        text.failed || !field.ptr ? pyro_no_memory(error) : ask_range(view, field.ptr, &range, error);
    size_t edge_count = 0;
    if (status == PYRO_OK && range.row_count && pyro_answer_value(&range, 0, 1)->kind != PYRO_VALUE_NULL)
        edge_count = make_edges(pyro_answer_number(&range, 0, 1), pyro_answer_number(&range, 0, 3), edges);
    pyro_strbuf_clear(&text);
    write_edges(&text, edges, edge_count);
    if (status == PYRO_OK && edge_count) {
        from_runs(view, value);
        status = pyro_fleet_ask(view, &counts, error,
                                "\"group\":[{\"field\":%s,\"edges\":[%s]}%s%s%s],\"measures\":[{\"as\":\"runs\","
                                "\"op\":\"count\"}],\"limit\":10000",
                                field.ptr, text.data, view->by.len ? ",{\"field\":" : "",
                                view->by.len ? view->by_json.ptr : "", view->by.len ? "}" : "");
    }
    view->failed |= text.failed;
    pyro_strbuf_done(&text);
    PYRO_TRY(status);
    enum pyro_fleet_unit unit = unit_of(value);
    struct pyro_fleet_table *table = pyro_fleet_table(view, "rows", "Histogram");
    pyro_fleet_column(table, "from", "From", unit);
    pyro_fleet_column(table, "to", "Below", unit);
    if (view->by.len)
        pyro_fleet_by_column(view, table);
    pyro_fleet_column(table, "runs", "Runs", FLEET_COUNT);
    pyro_fleet_column(table, "share", "Share", FLEET_SHARE);
    add_bins(view, table, &counts, edges, edge_count);
    add_quantiles(view, &range, unit);
    const struct pyro_fleet_picture picture = {"histogram", value, "rows", "from", "runs", .series = view->by};
    pyro_fleet_picture(view, &picture);
    pyro_fleet_note(view, "%s of runs. A bin holds the values from its first edge to below its second.", value);
    return needs_end(value) ? pyro_fleet_note_not_ended(view, error) : PYRO_OK;
}
