#include "fleet/views/trend.h"

#include <math.h>
#include <stdio.h>

/* Runs of one number of cores that say how long it takes. */
enum { GROUP_MIN = 3 };

/* Unknown cores are one configuration as well. */
static bool same_cores(const double *cores, size_t a, size_t b)
{
    if (!cores)
        return true;
    bool known = isfinite(cores[a]), other = isfinite(cores[b]);
    return known == other && (!known || !(fabs(cores[a] - cores[b]) > 0));
}

/* Values less the median of runs with as many cores, where there are enough of them, else less that of all. */
static bool center(const double *values, const double *cores, size_t count, struct pyro_arena *arena, double *ret)
{
    double *group = pyro_arena_array(arena, count + 1, sizeof(*group)), all;
    double *middles = pyro_arena_array(arena, count + 1, sizeof(*middles));
    if (!group || !middles || !pyro_middle(values, count, arena, &all))
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t first = 0, members = 0;
        while (!same_cores(cores, first, i))
            first++;
        for (size_t k = i; k < count && first == i; k++)
            if (same_cores(cores, i, k))
                group[members++] = values[k];
        middles[i] = first < i ? middles[first] : all;
        if (members >= GROUP_MIN && !pyro_middle(group, members, arena, &middles[i]))
            return false;
        ret[i] = values[i] - middles[i];
    }
    return true;
}

bool pyro_trend_of(const double *input_bytes, const double *duration_ms, const double *cores, size_t count,
                   struct pyro_arena *arena, struct pyro_trend *ret)
{
    double *x = pyro_arena_array(arena, count + 1, sizeof(*x)), *y = pyro_arena_array(arena, count + 1, sizeof(*y));
    double *centered = pyro_arena_array(arena, count + 1, sizeof(*centered)), middle;
    struct pyro_trend trend = {.adjusted = pyro_arena_array(arena, count + 1, sizeof(*trend.adjusted)),
                               .off = pyro_arena_array(arena, count + 1, sizeof(*trend.off))};
    if (!x || !y || !centered || !trend.adjusted || !trend.off)
        return false;
    for (size_t i = 0; i < count; i++) {
        x[i] = pyro_log_input(isfinite(input_bytes[i]) ? input_bytes[i] : 0);
        trend.adjusted[i] = pyro_log_duration(duration_ms[i]);
    }
    if (!center(x, cores, count, arena, centered) || !center(trend.adjusted, cores, count, arena, y) ||
        !pyro_input_slope(centered, y, count, arena, &trend.slope) || !pyro_middle(x, count, arena, &middle))
        return false;
    for (size_t i = 0; i < count; i++)
        trend.adjusted[i] -= trend.slope * (x[i] - middle);
    if (!center(trend.adjusted, cores, count, arena, trend.off))
        return false;
    *ret = trend;
    return true;
}

/* ---- Settings ---- */

static const char *const keys[] = {
#define PYRO_SPARK_SETTING(key, kind, unit, group, fallback, since, larger, when, below, above, changes) key,
#include "analyze/settings/spark_settings.def"
#undef PYRO_SPARK_SETTING
};
/* Columns of runs come first. A question may name 40 properties. */
enum {
    KEYS = sizeof(keys) / sizeof(*keys),
    COLUMNS = 4,
    /* behind them start_ms, which orders the runs */ KEYS_ASKED = 24,
    RUNS_ASKED = 50
};
static const char *const columns[COLUMNS] = {"version", "spark_version", "queue", "master"};

static enum pyro_status ask_settings(struct pyro_fleet_view *view,
                                     void (*add)(struct pyro_fleet_view *view, const void *context),
                                     const void *context, size_t first, size_t count, struct pyro_query_answer *ret,
                                     struct pyro_error *error)
{
    char fields[8192];
    size_t len = 0;
    for (size_t i = 0; i < COLUMNS; i++)
        len += (size_t)snprintf(fields + len, sizeof(fields) - len, "%s\"%s\"", i ? "," : "", columns[i]);
    for (size_t i = first; i < first + count && len < sizeof(fields); i++)
        len += (size_t)snprintf(fields + len, sizeof(fields) - len, ",\"property.%s\"", keys[i]);
    pyro_fleet_from(view, "runs");
    add(view, context);
    return pyro_fleet_ask(
        view, ret, error,
        "\"fields\":[%s,\"start_ms\"],\"order\":{\"by\":\"start_ms\",\"descending\":true},\"limit\":%d", fields,
        RUNS_ASKED);
}

/* The most frequent value of a column, the earliest one among equals. */
static struct pyro_slice most_frequent(const struct pyro_query_answer *answer, size_t column, size_t *ret_count)
{
    struct pyro_slice best = PYRO_SLICE_NULL;
    *ret_count = 0;
    for (size_t i = 0; i < answer->row_count; i++) {
        const struct pyro_query_value *value = pyro_answer_value(answer, i, column);
        size_t count = 0;
        for (size_t j = 0; j < answer->row_count; j++)
            count += pyro_fleet_same(value, pyro_answer_value(answer, j, column));
        if (count > *ret_count) {
            *ret_count = count;
            best = pyro_answer_text(answer, i, column);
        }
    }
    return best;
}

enum pyro_status pyro_trend_changes(struct pyro_fleet_view *view,
                                    void (*add)(struct pyro_fleet_view *view, const void *context), const void *before,
                                    const void *after, struct pyro_trend_change *ret, size_t *ret_count,
                                    struct pyro_error *error)
{
    *ret_count = 0;
    for (size_t first = 0; first < KEYS; first += KEYS_ASKED) {
        struct pyro_query_answer left, right;
        size_t asked = KEYS - first < KEYS_ASKED ? KEYS - first : KEYS_ASKED;
        PYRO_TRY(ask_settings(view, add, before, first, asked, &left, error));
        PYRO_TRY(ask_settings(view, add, after, first, asked, &right, error));
        if (left.row_count == 0 || right.row_count == 0)
            return PYRO_OK;
        for (size_t c = first ? COLUMNS : 0; c < COLUMNS + asked && *ret_count < PYRO_TREND_CHANGES; c++) {
            struct pyro_trend_change change = {.key = c < COLUMNS ? columns[c] : keys[first + c - COLUMNS]};
            change.before = most_frequent(&left, c, &change.before_count);
            change.after = most_frequent(&right, c, &change.after_count);
            if ((change.before.ptr == NULL) != (change.after.ptr == NULL) ||
                (change.before.ptr && !pyro_slice_eq(change.before, change.after)))
                ret[(*ret_count)++] = change;
        }
    }
    return PYRO_OK;
}

struct pyro_slice pyro_trend_words(struct pyro_fleet_view *view, const struct pyro_trend_change *changes, size_t count)
{
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, view->allocator);
    for (size_t i = 0; i < count; i++) {
        pyro_strbuf_printf(&text, "%s%s ", i ? ", " : "", changes[i].key);
        pyro_strbuf_add_slice(&text, changes[i].before.ptr ? changes[i].before : PYRO_SLICE_LITERAL("(unset)"));
        pyro_strbuf_add_text(&text, " -> ");
        pyro_strbuf_add_slice(&text, changes[i].after.ptr ? changes[i].after : PYRO_SLICE_LITERAL("(unset)"));
    }
    struct pyro_slice words = pyro_arena_copy(view->arena, pyro_strbuf_slice(&text));
    view->failed |= text.failed || !words.ptr;
    pyro_strbuf_done(&text);
    return words;
}
