/* The values of an execution's metrics, in the words of Spark's SQLMetrics.stringValue. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/numbers/order.h"
#include "base/strings/intern.h"
#include "decode/sparkview/sql.h"

/* What one stage, or one update of the driver, gives to a metric. */
struct piece {
    size_t known, order; /* row of the metric; as Spark walks the stages */
    const struct pyro_sql_stage *stage;
    const struct pyro_sql_values *values;
    int64_t driver_value;
};

typedef PYRO_VEC(struct piece) pieces;
typedef PYRO_VEC(int64_t) numbers;

/* All values of a metric: those that are given, sorted, and how many tasks gave none, which count as 0. */
struct gathered {
    numbers values;
    uint64_t silent;
    bool has_max;
    int64_t max, stage, attempt, task;
};

static int by_metric(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->known != y->known)
        return x->known < y->known ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int scala_order(const void *a, const void *b)
{
    return pyro_scala_order(*(const int64_t *)a, *(const int64_t *)b);
}

/* ---- Words ---- */

static void add_grouped(struct pyro_strbuf *text, uint64_t number)
{
    char digits[24];
    int len = snprintf(digits, sizeof(digits), "%" PRIu64, number);
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            pyro_strbuf_add_char(text, ',');
        pyro_strbuf_add_char(text, digits[i]);
    }
}

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static void add_sum(struct pyro_strbuf *text, int64_t value)
{
    if (value < 0)
        pyro_strbuf_add_char(text, '-');
    add_grouped(text, magnitude(value));
}

/* Averages are kept as tenths. */
static void add_average(struct pyro_strbuf *text, int64_t value)
{
    if (value < 0)
        pyro_strbuf_add_char(text, '-');
    add_grouped(text, magnitude(value) / 10);
    if (magnitude(value) % 10)
        pyro_strbuf_printf(text, ".%u", (unsigned)(magnitude(value) % 10));
}

static void add_size(struct pyro_strbuf *text, int64_t bytes)
{
    static const char units[] = "KMGTPE";
    int unit = 6;
    while (unit > 0 && (bytes < 0 || bytes >> (10 * unit) < 2))
        unit--;
    if (unit == 0) {
        pyro_strbuf_printf(text, "%" PRId64 ".0 B", bytes);
        return;
    }
    /* Tenths, halves rounded up. */
    unsigned shift = 10 * (unsigned)unit;
    uint64_t whole = (uint64_t)bytes >> shift, rest = (uint64_t)bytes & (((uint64_t)1 << shift) - 1);
    uint64_t half = (uint64_t)1 << (shift - 1);
    uint64_t tenths =
        rest < UINT64_MAX / 10 - half ? (rest * 10 + half) >> shift : ((rest >> 4) * 10 + (half >> 4)) >> (shift - 4);
    pyro_strbuf_printf(text, "%" PRIu64 ".%" PRIu64 " %ciB", whole + tenths / 10, tenths % 10, units[unit - 1]);
}

/* `places` digits after the point; a float in Spark, whose exact value is rounded with halves up. */
static void add_share(struct pyro_strbuf *text, int64_t ms, float unit_ms, unsigned places, const char *unit)
{
    float share = (float)ms / unit_ms;
    uint64_t scale = places == 1 ? 10 : 100;
    uint64_t scaled = (uint64_t)((long double)share * (long double)scale + 0.5L);
    pyro_strbuf_printf(text, "%" PRIu64 ".%0*" PRIu64 " %s", scaled / scale, (int)places, scaled % scale, unit);
}

static void add_duration(struct pyro_strbuf *text, int64_t ms)
{
    if (ms < 1000)
        pyro_strbuf_printf(text, "%" PRId64 " ms", ms);
    else if (ms < 60000)
        add_share(text, ms, 1000, 1, "s");
    else if (ms < 3600000)
        add_share(text, ms, 60000, 1, "m");
    else
        add_share(text, ms, 3600000, 2, "h");
}

static void add_nanoseconds(struct pyro_strbuf *text, int64_t ns)
{
    add_duration(text, ns / 1000000);
}

typedef void add_value(struct pyro_strbuf *text, int64_t value);

/* NULL: a type that Spark does not know either. */
static add_value *find_format(struct pyro_slice type)
{
    static const struct {
        const char *type;
        add_value *add;
    } rows[] = {{"sum", add_sum},
                {"average", add_average},
                {"size", add_size},
                {"timing", add_duration},
                {"nsTiming", add_nanoseconds}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (pyro_slice_is(type, rows[i].type))
            return rows[i].add;
    return NULL;
}

static int64_t wrapping_sum(const numbers *values)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < values->count; i++)
        sum += (uint64_t)values->items[i];
    return (int64_t)sum;
}

static void keep_from(numbers *values, int64_t least)
{
    size_t kept = 0;
    for (size_t i = 0; i < values->count; i++)
        if (values->items[i] >= least)
            values->items[kept++] = values->items[i];
    values->count = kept;
}

/* The value at a place of the sorted list that begins with the silent tasks' zeros. */
static int64_t at_place(const struct gathered *all, uint64_t place)
{
    return place < all->silent || !all->values.items ? 0 : all->values.items[place - all->silent];
}

/* Smallest, middle and largest, with the task of the largest. */
static void add_spread(struct pyro_strbuf *text, const struct gathered *all, add_value *add)
{
    uint64_t count = all->silent + all->values.count;
    pyro_strbuf_add_char(text, '(');
    add(text, at_place(all, 0));
    pyro_strbuf_add_text(text, ", ");
    add(text, at_place(all, count / 2));
    pyro_strbuf_add_text(text, ", ");
    add(text, at_place(all, count - 1));
    if (all->has_max)
        pyro_strbuf_printf(text, " (stage %" PRId64 ".%" PRId64 ": task %" PRId64 "))", all->stage, all->attempt,
                           all->task);
    else
        pyro_strbuf_add_text(text, " (driver))");
}

static const char spread_name[] = "(min, med, max (stageId: taskId))";

static void add_words(struct pyro_strbuf *text, struct pyro_slice type, struct gathered *all)
{
    add_value *add = find_format(type);
    if (pyro_slice_starts_with(type, "v2Custom_")) { /* needs the class that made it */
        pyro_strbuf_add_text(text, "N/A");
        return;
    }
    if (add == add_sum) {
        add_sum(text, wrapping_sum(&all->values));
        return;
    }
    bool average = add == add_average;
    if (average)
        all->silent = 0;
    keep_from(&all->values, average ? 1 : 0);
    uint64_t count = all->silent + all->values.count;
    pyro_sort_ints(all->values.items, all->values.count);
    if (count <= 1) {
        add(text, count ? at_place(all, 0) : 0);
        return;
    }
    if (average) {
        pyro_strbuf_printf(text, "%s:\n", spread_name);
    } else {
        pyro_strbuf_printf(text, "total %s\n", spread_name);
        add(text, wrapping_sum(&all->values));
        pyro_strbuf_add_char(text, ' ');
    }
    add_spread(text, all, add);
}

/* ---- Gathering ---- */

static bool push_number(numbers *values, int64_t value)
{
    int64_t *added = pyro_vec_push(values, NULL);
    if (added)
        *added = value;
    return added != NULL;
}

static bool gather_stage(struct gathered *all, const struct piece *piece)
{
    uint64_t given = 0;
    const struct pyro_value_map *map = &piece->values->values;
    for (size_t page = 0; page < map->count; page++) {
        for (int i = 0; i < PYRO_VALUE_PAGE; i++) {
            if (map->items[page].values[i] == PYRO_VALUE_NONE)
                continue;
            given++;
            if (!push_number(&all->values, map->items[page].values[i]))
                return false;
        }
    }
    all->silent += (uint64_t)piece->stage->tasks - given;
    if (piece->values->needs_max && (!all->has_max || piece->values->max > all->max)) {
        all->has_max = true;
        all->max = piece->values->max;
        all->stage = piece->stage->id;
        all->attempt = piece->stage->attempt;
        all->task = piece->values->max_task;
    }
    return true;
}

static void put_value(struct pyro_sql_follower *sql, struct pyro_history_sql *execution, int64_t accumulator,
                      struct pyro_slice text)
{
    uint64_t *place = pyro_map_put(&execution->values, (uint64_t)accumulator, NULL);
    uint32_t kept = pyro_intern(sql->history->strings, text);
    sql->history->failed |= !place || kept == UINT32_MAX;
    if (place)
        *place = (uint64_t)kept + 1;
}

/* Pieces of one metric. */
static void aggregate_metric(struct pyro_sql_follower *sql, size_t row, const struct piece *items, size_t count,
                             struct gathered *all, struct pyro_strbuf *text)
{
    const struct pyro_sql_known *known = &sql->live.items[row].known.items[items->known];
    numbers values = all->values;
    values.count = 0;
    *all = (struct gathered){.values = values};
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        if (items[i].values) {
            ok = gather_stage(all, &items[i]);
            continue;
        }
        /* A larger value of the driver takes the place of the task that had the largest. */
        if (i > 0 && all->has_max && items[i].driver_value > all->max)
            all->has_max = false;
        ok = push_number(&all->values, items[i].driver_value);
    }
    sql->history->failed |= !ok;
    if (!ok || (!find_format(known->type) && !pyro_slice_starts_with(known->type, "v2Custom_")))
        return;
    pyro_strbuf_clear(text);
    add_words(text, known->type, all);
    sql->history->failed |= text->failed; /* the next metric begins with an empty text */
    put_value(sql, &sql->history->sql.items[row], known->accumulator, pyro_strbuf_slice(text));
}

static bool add_stage_pieces(struct pyro_sql_follower *sql, size_t row, int64_t id, pieces *found)
{
    const struct pyro_sql_live *live = &sql->live.items[row];
    const uint64_t *place = pyro_map_get(&sql->stages, (uint64_t)id);
    const struct pyro_sql_stage *stage = place ? (const struct pyro_sql_stage *)(uintptr_t)*place : NULL;
    for (size_t i = 0; stage && i < stage->metrics.count; i++) {
        const uint64_t *known = pyro_map_get(&live->known_rows, (uint64_t)stage->metrics.items[i].accumulator);
        if (!known || !*known)
            continue;
        struct piece *piece = pyro_vec_push(found, NULL);
        if (!piece)
            return false;
        *piece = (struct piece){*known - 1, found->count, stage, &stage->metrics.items[i], 0};
    }
    return true;
}

static bool add_driver_pieces(const struct pyro_sql_live *live, pieces *found)
{
    for (size_t i = 0; i < live->driver.count; i++) {
        const uint64_t *known = pyro_map_get(&live->known_rows, (uint64_t)live->driver.items[i].accumulator);
        if (!known || !*known)
            continue;
        struct piece *piece = pyro_vec_push(found, NULL);
        if (!piece)
            return false;
        *piece = (struct piece){*known - 1, found->count, NULL, NULL, live->driver.items[i].value};
    }
    return true;
}

void pyro_sql_aggregate(struct pyro_sql_follower *sql, size_t row)
{
    const struct pyro_history_sql *execution = &sql->history->sql.items[row];
    size_t count = execution->stages.count;
    int64_t *stages = pyro_allocate(NULL, (count + 1) * sizeof(*stages));
    pieces found = {0};
    bool ok = stages != NULL;
    if (ok && count)
        memcpy(stages, execution->stages.items, count * sizeof(*stages));
    if (ok && count > PYRO_SCALA_SMALL)
        qsort(stages, count, sizeof(*stages), scala_order);
    for (size_t i = 0; ok && i < count; i++)
        ok = add_stage_pieces(sql, row, stages[i], &found);
    ok = ok && add_driver_pieces(&sql->live.items[row], &found);
    sql->history->failed |= !ok;
    if (found.count)
        qsort(found.items, found.count, sizeof(*found.items), by_metric);
    struct gathered all = {0};
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, NULL);
    for (size_t first = 0, i = 1; ok && found.count && i <= found.count; i++) {
        if (i < found.count && found.items[i].known == found.items[first].known)
            continue;
        aggregate_metric(sql, row, &found.items[first], i - first, &all, &text);
        first = i;
    }
    pyro_strbuf_done(&text);
    pyro_vec_done(&all.values, NULL);
    pyro_vec_done(&found, NULL);
    pyro_release(NULL, stages);
}
