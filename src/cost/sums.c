/* The same amounts by job, SQL execution, pool and job group, and in other tools' units. */
#include <math.h>
#include <stdlib.h>

#include "analyze/accounts/fixed_point.h"
#include "cost/cost.h"

static void add_amount(struct pyro_cost_amount *to, const struct pyro_cost_amount *what)
{
    to->core_ms = pyro_add_saturating(to->core_ms, what->core_ms);
    to->memory_mib_ms = pyro_add_saturating(to->memory_mib_ms, what->memory_mib_ms);
    to->micros = pyro_add_saturating(to->micros, what->micros);
}

static int compare_rows(const void *a, const void *b)
{
    const struct pyro_cost_row *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    /* No name before any name. */
    if (!x->name.ptr || !y->name.ptr)
        return (x->name.ptr != NULL) - (y->name.ptr != NULL);
    return pyro_slice_compare(x->name, y->name);
}

/* One row for each id or name among the stages, ascending. */
static bool sum_by(struct pyro_cost *cost, const int64_t *ids, const struct pyro_slice *names,
                   struct pyro_cost_rows *ret)
{
    size_t count = cost->stages.count, kept = 0;
    struct pyro_cost_row *rows = ret->items;
    if (!rows)
        rows = pyro_arena_array(&cost->arena, count + 1, sizeof(*rows));
    if (!rows)
        return false;
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct pyro_cost_row){ids ? ids[i] : PYRO_NONE, PYRO_NONE, names ? names[i] : PYRO_SLICE_NULL,
                                         cost->stages.items[i].total};
    if (count > 1)
        qsort(rows, count, sizeof(*rows), compare_rows);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && compare_rows(&rows[kept - 1], &rows[i]) == 0)
            add_amount(&rows[kept - 1].total, &rows[i].total);
        else
            rows[kept++] = rows[i];
    }
    *ret = (struct pyro_cost_rows){rows, kept};
    return true;
}

bool pyro_cost_sum_up(struct pyro_cost *cost)
{
    return sum_by(cost, cost->stage_jobs, NULL, &cost->jobs) && sum_by(cost, cost->stage_sql, NULL, &cost->sql) &&
           sum_by(cost, NULL, cost->stage_pools, &cost->pools) && sum_by(cost, NULL, cost->stage_groups, &cost->groups);
}

double pyro_cost_core_hours(const struct pyro_cost_amount *amount)
{
    return (double)amount->core_ms / 3600000;
}

double pyro_cost_gib_hours(const struct pyro_cost_amount *amount)
{
    return (double)amount->memory_mib_ms / 1024 / 3600000;
}

int64_t pyro_cost_mb_seconds(const struct pyro_cost_amount *amount)
{
    return amount->memory_mib_ms / 1000;
}

int64_t pyro_cost_vcore_seconds(const struct pyro_cost_amount *amount)
{
    return amount->core_ms / 1000;
}

double pyro_cost_dcu(const struct pyro_cost_amount *amount)
{
    return 0.05 * pyro_cost_core_hours(amount) + 0.005 * pyro_cost_gib_hours(amount);
}

double pyro_cost_nodes_for(const struct pyro_cost *cost, double executors, double now)
{
    bool by_nodes = cost->money.instance.len > 0 && cost->money.nodes > 0 && now > 0;
    return by_nodes ? ceil(cost->money.nodes * executors / now - 1e-9) : 0;
}
