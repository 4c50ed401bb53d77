/* Nodes of another type: larger or smaller ones, or of a family with more or less memory for each core. */
#include <math.h>

#include "advice/cost/advisor.h"
#include "analyze/accounts/fixed_point.h"

/* What is judged by; docs/cost.md says why. */
#define MEMORY_SPARE 1.25 /* of the memory that was used */
#define MEMORY_GIVEN 0.85 /* of a node's memory, the rest is the system's */

/* What the executors ask of nodes. */
struct need {
    double cores, memory_mib; /* of an executor */
    double core_share, given; /* how many times its cores, and which share of its memory, a node now gives */
    double used_mib;          /* by an executor at most; 0: unknown */
    double executors;         /* of all nodes */
};

/* Nodes of this type for all executors; infinite where one has no room for any. */
static double nodes_of(const struct need *need, const struct pyro_instance *type)
{
    double by_cores = floor((double)type->cores * need->core_share / need->cores + 1e-9),
           by_memory = floor((double)type->memory_mib * need->given / need->memory_mib + 1e-9);
    double each = fmin(by_cores, by_memory);
    return each >= 1 ? ceil(need->executors / each) : (double)INFINITY;
}

static struct need need_of(const struct pyro_advisor *advisor, const struct pyro_instance *now)
{
    double each = ceil((double)advisor->count / advisor->nodes);
    double has = (double)advisor->cost->shapes[0].container.container_mib;
    struct need need = {.cores = fmax((double)advisor->executors[0].cores, 1),
                        .used_mib = pyro_advisor_used_mib(advisor->app),
                        .executors = (double)advisor->count};
    /* Without peaks they need what they have. */
    need.memory_mib = need.used_mib > 0 ? need.used_mib * MEMORY_SPARE : has;
    /* As tightly as they are packed now, whatever the cluster manager counts. */
    need.core_share = fmax(each * need.cores / fmax((double)now->cores, 1), 1);
    need.given =
        need.used_mib > 0 ? MEMORY_GIVEN : fmin(fmax(each * has / fmax((double)now->memory_mib, 1), MEMORY_GIVEN), 1);
    return need;
}

static struct pyro_slice safety(struct pyro_advisor *advisor, const struct need *need, const struct pyro_instance *now,
                                const struct pyro_instance *best, double nodes)
{
    double has = (double)advisor->cost->shapes[0].container.container_mib;
    double each = ceil(need->executors / nodes), room = (double)best->memory_mib * need->given / 1024;
    double per_core = (double)best->memory_mib / fmax((double)best->cores, 1),
           per_core_now = (double)now->memory_mib / fmax((double)now->cores, 1);
    const char *bound = per_core > per_core_now * 1.05
                            ? "The run is memory-bound: these nodes have more memory per core. "
                        : per_core < per_core_now * 0.95
                            ? "The run is compute-bound: these nodes have less memory per core, which is enough. "
                            : "";
    if (need->used_mib > 0)
        return pyro_advisor_say(
            advisor,
            "%sExecutors used at most %.1f GiB, %.1f GiB per node; such a node has %.0f GiB, with %.0f %% in reserve. "
            "This assumes cores of the same speed.%s",
            bound, need->used_mib / 1024, each * need->used_mib / 1024, (double)best->memory_mib / 1024,
            100 * (1 - each * need->used_mib / 1024 / room),
            each * has > (double)best->memory_mib * MEMORY_GIVEN ? " Lower spark.executor.memory to fit." : "");
    return pyro_advisor_say(advisor,
                            "%sExecutors keep their memory, %.1f GiB per node with %.0f GiB. The log has no memory "
                            "peaks (spark.eventLog.logStageExecutorMetrics=true writes them), so it is not known "
                            "whether less is safe. This assumes cores of the same speed.",
                            bound, each * need->memory_mib / 1024, (double)best->memory_mib / 1024);
}

void pyro_advise_instance(struct pyro_advisor *advisor)
{
    struct pyro_cost *cost = advisor->cost;
    const struct pyro_instance *now = pyro_prices_instance(advisor->prices, cost->money.instance), *best = NULL;
    double hour_now = 0, least = INFINITY, nodes = 0;
    if (!now || !advisor->by_nodes || !cost->money.known)
        return;
    struct need need = need_of(advisor, now);
    if (!(need.memory_mib > 0))
        return;
    hour_now = pyro_node_hour(cost, advisor->prices, advisor->options, now->name) * advisor->nodes;
    for (size_t i = 0; i < advisor->prices->instances.count; i++) {
        const struct pyro_instance *other = &advisor->prices->instances.items[i];
        double count = nodes_of(&need, other);
        double hour = isfinite(count) ? pyro_node_hour(cost, advisor->prices, advisor->options, other->name) * count
                                      : (double)NAN;
        if (hour < least) {
            least = hour;
            best = other;
            nodes = count;
        }
    }
    if (!best || best == now || !(least < hour_now * (1 - PYRO_ADVISE_SAVING))) {
        if (!(need.used_mib > 0))
            pyro_advisor_decline(
                advisor, "instance",
                PYRO_SLICE_LITERAL("The log has no memory peaks (spark.eventLog.logStageExecutorMetrics=true writes "
                                   "them), so it is not known whether another instance type is safe."));
        return;
    }
    struct pyro_slice why = safety(advisor, &need, now, best, nodes);
    struct pyro_cost_advice *advice = pyro_advisor_add(advisor, "instance");
    if (!advice)
        return;
    double saved = advisor->executor_micros * (1 - least / hour_now);
    advice->wall_ms = cost->duration_ms;
    advice->core_ms = cost->total.core_ms;
    advice->executors = (int64_t)advisor->count;
    advice->micros = cost->money.micros - pyro_saturate((__int128)saved);
    advice->saves_micros = cost->money.micros - advice->micros;
    advice->saves_share = cost->money.micros > 0 ? saved / (double)cost->money.micros : 0;
    advice->text = pyro_advisor_say(advisor, "%.0f x %.*s", nodes, (int)(best->name.len < 80 ? best->name.len : 80),
                                    best->name.ptr);
    advice->safety = why;
}
