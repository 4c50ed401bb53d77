/* What scenarios cost: the run's own bill, each line in proportion to what it counts. */
#include <math.h>

#include "base/numbers/saturate.h"
#include "cost/money.h"
#include "predict/cut_tasks.h"

enum pyro_status pyro_predict_take_prices(struct pyro_predicted_run *run, const struct pyro_prices *prices,
                                          const char *instance, const char *region, struct pyro_error *error)
{
    struct pyro_money_options options = {.instance = instance, .region = region};
    if (!prices)
        return PYRO_OK;
    PYRO_TRY(pyro_cost_new(run->app, run->app->allocator, &run->own_cost, error));
    PYRO_TRY(pyro_cost_price(run->own_cost, prices, &options, error));
    pyro_predict_take_cost(run, run->own_cost);
    return PYRO_OK;
}

static double ratio(double now, double was)
{
    return was > 0 && now >= 0 ? now / was : 0;
}

/* Core time with the driver's, which lasts as long as the run. */
static double amount_ratio(double executors_now, double executors_was, double driver, double longer)
{
    return ratio(executors_now + driver * longer, executors_was + driver);
}

/* Of a bill of nodes, which are whole: by their number and the lifetimes of executors. 0: it is another bill. */
static double nodes_ratio(const struct pyro_predicted_run *run, const struct pyro_scenario *scenario)
{
    double now = (double)run->executors, larger = ratio((double)scenario->cores_per_executor, (double)run->cores);
    double executors = (double)scenario->executors * (larger > 0 ? larger : 1);
    double nodes = pyro_cost_nodes_for(run->cost, executors, now);
    double whole = nodes > 0 && executors > 0 ? nodes / (run->cost->money.nodes * executors / now) : 0;
    return whole * ratio((double)scenario->core_ms, (double)run->base.core_ms);
}

double pyro_scenario_cost(const struct pyro_predicted_run *run, const struct pyro_scenario *scenario)
{
    const struct pyro_cost *cost = run->cost;
    double sum = 0, longer = ratio((double)scenario->wall_expected_ms, (double)run->check.replayed_ms);
    if (!cost || !cost->money.known)
        return NAN;
    const struct pyro_cost_amount *driver = &cost->parts[PYRO_COST_DRIVER];
    double core = amount_ratio((double)scenario->core_ms, (double)run->base.core_ms, (double)driver->core_ms, longer);
    /* Memory time: executors' lifetimes x what each was asked for, as heaps compare. */
    double own_memory = (double)(pyro_sub_saturating(cost->total.memory_mib_ms, driver->memory_mib_ms));
    double lifetimes = ratio((double)scenario->core_ms / fmax((double)scenario->cores_per_executor, 1),
                             (double)run->base.core_ms / fmax((double)run->cores, 1));
    double larger = ratio((double)scenario->memory_bytes, (double)run->memory_bytes);
    double memory = amount_ratio(own_memory * lifetimes * larger, own_memory, (double)driver->memory_mib_ms, longer);
    double nodes = nodes_ratio(run, scenario);
    for (size_t i = 0; i < cost->money.line_count; i++) {
        const struct pyro_cost_line *line = &cost->money.lines[i];
        sum += (double)line->micros * (line->driver ? longer : nodes > 0 ? nodes : line->memory ? memory : core);
    }
    return sum / 1e6;
}

double pyro_scenario_price(const struct pyro_predicted_run *run, const struct pyro_scenario *scenario)
{
    double cost = pyro_scenario_cost(run, scenario);
    return isnan(cost) ? (double)scenario->core_ms / 3600000 : cost;
}

void pyro_predict_take_cost(struct pyro_predicted_run *run, const struct pyro_cost *cost)
{
    const struct pyro_scenario unchanged = {.wall_expected_ms = run->base.wall_ms,
                                            .core_ms = run->base.core_ms,
                                            .executors = run->executors,
                                            .cores_per_executor = run->cores,
                                            .memory_bytes = run->memory_bytes};
    run->cost = cost;
    run->base_cost = pyro_scenario_cost(run, &unchanged);
}
