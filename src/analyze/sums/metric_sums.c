/* SQL metrics over tasks: how many added to one, and the least, median and largest of what they added. */
#include "analyze/analyze.h"
#include "analyze/scratch.h"

#include <stdlib.h>

/* The values of one accumulator. */
struct gathered {
    int64_t accumulator;
    size_t first, count; /* in the values of all */
};

struct gathering {
    struct gathered *metrics; /* by accumulator */
    size_t count;
    int64_t *values;
};

static int compare_metrics(const void *a, const void *b)
{
    const struct gathered *x = a, *y = b;
    return (x->accumulator > y->accumulator) - (x->accumulator < y->accumulator);
}

static int compare_values(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Ids come in runs and ascending in a task, so the next one is mostly where the last one ended. */
static struct gathered *find(const struct gathering *all, int64_t accumulator, size_t *guess)
{
    if (*guess < all->count && all->metrics[*guess].accumulator == accumulator)
        return &all->metrics[(*guess)++];
    size_t low = 0, high = all->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all->metrics[middle].accumulator < accumulator)
            low = middle + 1;
        else
            high = middle;
    }
    *guess = low + 1;
    return low < all->count && all->metrics[low].accumulator == accumulator ? &all->metrics[low] : NULL;
}

/* Counts the values of each metric; once there is room for them, keeps them. */
static void walk_tasks(const struct pyro_app *app, struct gathering *all)
{
    for (size_t i = 0; i < all->count; i++)
        all->metrics[i].count = 0;
    size_t guess = 0;
    for (size_t i = 0; i < app->tasks.count; i++) {
        struct pyro_slice from = pyro_task_metrics(&app->tasks, i);
        if (from.len == 0 || pyro_task_get(&app->tasks, PYRO_TASK_status, i) != PYRO_TASK_SUCCESS)
            continue;
        struct pyro_task_metric metric = {0};
        while (pyro_task_metric_next(&from, &metric)) {
            struct gathered *place = metric.value > 0 ? find(all, metric.accumulator, &guess) : NULL;
            if (place && all->values)
                all->values[place->first + place->count] = metric.value;
            if (place)
                place->count++;
        }
    }
}

static size_t collect_metrics(const struct pyro_app *app, struct gathered *metrics)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < app->sql_metrics.count; i++)
        if (app->sql_metrics.items[i].accumulator != PYRO_NONE)
            metrics[count++] = (struct gathered){.accumulator = app->sql_metrics.items[i].accumulator};
    qsort(metrics, count, sizeof(*metrics), compare_metrics);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || metrics[i].accumulator != metrics[kept - 1].accumulator)
            metrics[kept++] = metrics[i];
    return kept;
}

static void fill_rows(struct pyro_app *app, const struct gathering *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->metrics[i].count > 0)
            qsort(all->values + all->metrics[i].first, all->metrics[i].count, sizeof(int64_t), compare_values);
    size_t guess = 0;
    for (size_t i = 0; i < app->sql_metrics.count; i++) {
        struct pyro_sql_metric *row = &app->sql_metrics.items[i];
        const struct gathered *found = row->accumulator != PYRO_NONE ? find(all, row->accumulator, &guess) : NULL;
        row->tasks = found ? (int64_t)found->count : PYRO_NONE;
        if (!found || found->count == 0)
            continue;
        const int64_t *values = all->values + found->first;
        row->task_min = values[0];
        row->task_median = values[found->count / 2];
        row->task_max = values[found->count - 1];
    }
}

enum pyro_status pyro_analyze_task_metrics(struct pyro_app *app, struct pyro_error *error)
{
    if (app->sql_metrics.count == 0 || !pyro_task_table_has_metrics(&app->tasks))
        return PYRO_OK;
    struct gathering all = {.metrics = pyro_scratch(app, app->sql_metrics.count, sizeof(*all.metrics))};
    if (all.metrics) {
        all.count = collect_metrics(app, all.metrics);
        walk_tasks(app, &all);
        size_t values = 0;
        for (size_t i = 0; i < all.count; i++) {
            all.metrics[i].first = values;
            values += all.metrics[i].count;
        }
        all.values = pyro_scratch(app, values + 1, sizeof(*all.values));
    }
    if (all.values) {
        walk_tasks(app, &all);
        fill_rows(app, &all);
    }
    bool done = all.values != NULL;
    pyro_release(app->allocator, all.values);
    pyro_release(app->allocator, all.metrics);
    return done ? PYRO_OK : pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the SQL metrics of tasks");
}
