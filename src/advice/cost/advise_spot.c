/* The run on spot nodes: simulated again and again with nodes that are taken away at a given rate. docs/cost.md */
#include <math.h>

#include "advice/cost/advisor.h"
#include "analyze/accounts/fixed_point.h"
#include "analyze/scratch.h"
#include "base/numbers/order.h"
#include "base/numbers/saturate.h"

#define HOUR_MS 3600000.0
/* The time until a node that replaces another one is available, before its executors start. */
#define BOOT_MS 120000.0
/* What clouds say before they take a node. */
enum { NOTICE_AWS_MS = 120000, NOTICE_MS = 30000 };
/* Tasks that may be spent on all replays of a run, and how many there are at least and at most. */
enum { TASKS = 4000000, REPLAYS_MIN = 16, REPLAYS_MAX = 200 };
/* Interruptions are drawn for so many times the run's length; who survives that long stays. */
#define HORIZON 8.0
enum { EXECUTORS_MAX = 200000 };
/* Chance of being late, or of giving up, up to which spot nodes are advised. */
#define LATE_MAX 0.05

struct draw {
    uint64_t state;
};

/* Uniform in (0, 1]: splitmix64. */
static double next(struct draw *draw)
{
    uint64_t mixed = draw->state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    mixed ^= mixed >> 31;
    return (double)((mixed >> 11) + 1) * 0x1p-53;
}

struct simulation {
    struct pyro_advisor *advisor;
    struct pyro_cost_spot *spot;
    uint32_t *node_of; /* of each of the run's executors */
    uint32_t nodes;
    struct pyro_replay_executor *executors;
    size_t count, room;
    double horizon_ms;
    double *walls, *core_ms;
};

static bool find_nodes(struct simulation *simulation)
{
    const struct pyro_advisor *advisor = simulation->advisor;
    simulation->node_of = pyro_scratch(advisor->app, advisor->count, sizeof(*simulation->node_of));
    for (size_t i = 0; simulation->node_of && i < advisor->count; i++) {
        size_t like = 0;
        while (like < i && !(advisor->hosts[like].len > 0 && pyro_slice_eq(advisor->hosts[like], advisor->hosts[i])))
            like++;
        simulation->node_of[i] = like < i ? simulation->node_of[like] : simulation->nodes++;
    }
    return simulation->node_of != NULL;
}

static bool add_executor(struct simulation *simulation, struct pyro_replay_executor executor)
{
    if (simulation->count == simulation->room)
        return false;
    simulation->executors[simulation->count++] = executor;
    return true;
}

/* One node and those that replace it, one after the other. The executors of a node go together. False: too many. */
static bool draw_node(struct simulation *simulation, uint32_t node, struct draw *draw, int64_t *interruptions)
{
    const struct pyro_advisor *advisor = simulation->advisor;
    const struct pyro_cost_spot *spot = simulation->spot;
    int64_t shift = 0, first = INT64_MAX; /* of the node: when its first executor came */
    for (size_t i = 0; i < advisor->count; i++)
        if (simulation->node_of[i] == node && advisor->executors[i].added_ms < first)
            first = advisor->executors[i].added_ms;
    for (;;) {
        double lives = -log(next(draw)) / spot->rate * HOUR_MS;
        double gone = (double)first + (double)shift + lives;
        bool stays = !(gone < simulation->horizon_ms);
        int64_t at = stays ? PYRO_NONE : (int64_t)gone;
        for (size_t i = 0; i < advisor->count; i++) {
            struct pyro_replay_executor executor = advisor->executors[i];
            if (simulation->node_of[i] != node)
                continue;
            executor.added_ms = shift > 0 ? first + shift : executor.added_ms;
            if (!stays && executor.added_ms >= at)
                continue; /* it would have come too late */
            executor.removed_ms = at;
            executor.lost = !stays;
            executor.keeps_output = spot->keeps_output;
            executor.drain_ms = spot->notice_ms;
            if (!add_executor(simulation, executor))
                return false;
        }
        if (stays)
            return true;
        (*interruptions)++;
        shift = pyro_add_saturating(pyro_sub_saturating(at, first), spot->replaced_ms);
    }
}

static double quantile(const double *sorted, int64_t count, double share)
{
    return sorted[(size_t)floor(share * (double)(count - 1) + 0.5)];
}

struct sums {
    double walls, tasks, partitions, interruptions, late, task_limit, stage_limit;
};

/* True: done; false with advisor->failed: no memory; false: the rate is too high. */
static bool simulate(struct simulation *simulation, struct sums *sums)
{
    struct pyro_advisor *advisor = simulation->advisor;
    struct pyro_cost_spot *spot = simulation->spot;
    for (int64_t n = 0; n < spot->replays; n++) {
        struct draw draw = {(uint64_t)n * UINT64_C(0x632be59bd9b4e019) + 1};
        struct pyro_replay_change change = {.executors = simulation->executors};
        struct pyro_replay_result result;
        int64_t interruptions = 0;
        simulation->count = 0;
        for (uint32_t node = 0; node < simulation->nodes; node++)
            if (!draw_node(simulation, node, &draw, &interruptions))
                return false;
        change.executor_count = simulation->count;
        advisor->failed |= pyro_replay_run(advisor->run.replay, &change, &result, NULL) != PYRO_OK;
        if (advisor->failed)
            return false;
        double wall = (double)result.wall_ms;
        simulation->walls[n] = wall;
        simulation->core_ms[n] = (double)result.core_ms;
        sums->walls += wall;
        sums->tasks += (double)result.damage.tasks;
        sums->partitions += (double)result.damage.partitions;
        sums->interruptions += (double)result.damage.executors * (double)simulation->nodes / (double)advisor->count;
        sums->late += wall > (double)spot->limit_ms;
        sums->task_limit += result.damage.most_task_failures >= spot->task_failures_max;
        sums->stage_limit += result.damage.most_stage_failures >= spot->stage_failures_max;
    }
    return true;
}

/* ---- what the log says of it --------------------------------------------------------------------------------------
 */

static bool is_on(const struct pyro_app *app, const char *key, bool otherwise)
{
    return pyro_app_property_bool(app, key, otherwise);
}

/* Spark moves blocks of nodes that it is about to lose, or a service outside the nodes has them. A shuffle service on
 * the nodes themselves goes with them. */
static void read_settings(const struct pyro_advisor *advisor, struct pyro_cost_spot *spot)
{
    const struct pyro_app *app = advisor->app;
    struct pyro_slice shuffle = pyro_app_property(app, "spark.shuffle.manager"),
                      cloud = advisor->cost->place.cloud.text;
    bool drains = is_on(app, "spark.decommission.enabled", false);
    bool moves = drains && is_on(app, "spark.storage.decommission.enabled", false) &&
                 is_on(app, "spark.storage.decommission.shuffleBlocks.enabled", true);
    bool remote =
        pyro_slice_find(shuffle, "Celeborn") || pyro_slice_find(shuffle, "Rss") || pyro_slice_find(shuffle, "Uniffle");
    spot->keeps_output = moves || remote;
    spot->kept_by =
        remote  ? "a remote shuffle service keeps the shuffle output"
        : moves ? "Spark moves the shuffle output when an interruption is announced (spark.decommission.enabled)"
        : is_on(app, "spark.shuffle.service.enabled", false)
            ? "the shuffle service and its output are lost with the node"
            : "the shuffle output is lost with the node";
    spot->notice_ms = !drains ? 0 : pyro_slice_is(cloud, "aws") ? NOTICE_AWS_MS : NOTICE_MS;
    spot->replaced_ms = (int64_t)BOOT_MS + (advisor->count > 0 ? advisor->executors[0].added_ms : 0);
    int64_t tasks = pyro_app_property_int(app, "spark.task.maxFailures", 4),
            stages = pyro_app_property_int(app, "spark.stage.maxConsecutiveAttempts", 4);
    spot->task_failures_max = tasks > 0 && tasks < UINT32_MAX ? (uint32_t)tasks : 4;
    spot->stage_failures_max = stages > 0 && stages < UINT32_MAX ? (uint32_t)stages : 4;
    spot->limit_ms = pyro_saturate((__int128)pyro_advisor_limit(advisor));
}

/* What the executors' nodes cost at the price of spot ones; NaN: unknown. */
static double spot_micros(const struct pyro_advisor *advisor)
{
    const struct pyro_cost *cost = advisor->cost;
    struct pyro_money_options options = advisor->options ? *advisor->options : (struct pyro_money_options){0};
    if (!advisor->prices || !cost->money.known)
        return (double)NAN;
    if (options.purchase)
        return advisor->executor_micros; /* billed as such already */
    if (!advisor->by_nodes)
        return (double)NAN;
    double hour = pyro_node_hour(cost, advisor->prices, &options, cost->money.instance);
    options.purchase = "spot";
    return advisor->executor_micros * pyro_node_hour(cost, advisor->prices, &options, cost->money.instance) / hour;
}

/* ---- the advice ---------------------------------------------------------------------------------------------------
 */

static void sum_up(struct simulation *simulation, const struct pyro_advised_size *full, const struct sums *sums)
{
    const struct pyro_advisor *advisor = simulation->advisor;
    struct pyro_cost_spot *spot = simulation->spot;
    double count = (double)spot->replays, executors = spot_micros(advisor), all = 0;
    double driver = (double)advisor->cost->money.micros - advisor->executor_micros;
    double off = advisor->run.check.error_share;
    off = isfinite(off) ? off : 0;
    for (int64_t n = 0; n < spot->replays; n++) { /* now money instead of core time */
        simulation->core_ms[n] =
            executors * simulation->core_ms[n] / fmax(full->core_ms, 1) + driver * simulation->walls[n] / full->wall_ms;
        all += simulation->core_ms[n];
    }
    pyro_sort_reals(simulation->walls, (size_t)spot->replays);
    spot->wall_ms = pyro_saturate((__int128)(sums->walls / count));
    spot->wall_low_ms = pyro_saturate((__int128)(quantile(simulation->walls, spot->replays, 0.05) * (1 - off)));
    spot->wall_high_ms = pyro_saturate((__int128)(quantile(simulation->walls, spot->replays, 0.95) * (1 + off)));
    spot->micros = spot->low_micros = spot->high_micros = PYRO_NONE;
    if (isfinite(all)) {
        pyro_sort_reals(simulation->core_ms, (size_t)spot->replays);
        spot->micros = pyro_saturate((__int128)(all / count));
        spot->low_micros = pyro_saturate((__int128)(quantile(simulation->core_ms, spot->replays, 0.05) * (1 - off)));
        spot->high_micros = pyro_saturate((__int128)(quantile(simulation->core_ms, spot->replays, 0.95) * (1 + off)));
    }
    spot->interruptions = sums->interruptions / count;
    spot->tasks = sums->tasks / count;
    spot->partitions = sums->partitions / count;
    spot->late_share = sums->late / count;
    spot->task_limit_share = sums->task_limit / count;
    spot->stage_limit_share = sums->stage_limit / count;
    spot->safe = spot->late_share <= LATE_MAX && spot->task_limit_share + spot->stage_limit_share == 0;
}

static struct pyro_slice limits_words(struct pyro_advisor *advisor, const struct pyro_cost_spot *spot)
{
    if (spot->task_limit_share + spot->stage_limit_share == 0)
        return PYRO_SLICE_LITERAL("no task and no stage reached its limit of failures");
    return pyro_advisor_say(advisor,
                            "in %.0f %% a task was lost %u times (spark.task.maxFailures), in %.0f %% a stage could "
                            "not fetch %u times (spark.stage.maxConsecutiveAttempts), and Spark may give up",
                            100 * spot->task_limit_share, spot->task_failures_max, 100 * spot->stage_limit_share,
                            spot->stage_failures_max);
}

static void write_advice(struct pyro_advisor *advisor, struct pyro_cost_spot *spot)
{
    struct pyro_cost *cost = advisor->cost;
    struct pyro_slice limits = limits_words(advisor, spot);
    char mean[40], low[40], high[40], limit[40], boot[40];
    struct pyro_cost_advice *advice = pyro_advisor_add(advisor, "spot");
    if (!advice)
        return;
    advice->spot = spot;
    advice->executors = (int64_t)advisor->count;
    advice->wall_ms = spot->wall_ms;
    advice->micros = spot->micros;
    bool compares = spot->micros != PYRO_NONE && !(advisor->options && advisor->options->purchase);
    if (compares) {
        advice->saves_micros = cost->money.micros - spot->micros;
        advice->saves_share = cost->money.micros > 0 ? (double)advice->saves_micros / (double)cost->money.micros : 0;
    }
    spot->safe = spot->safe && (!compares || advice->saves_share >= PYRO_ADVISE_SAVING);
    if (advisor->by_nodes && cost->money.instance.ptr)
        advice->text = pyro_advisor_say(advisor, "%.0f x %.*s as spot instances", advisor->nodes,
                                        (int)(cost->money.instance.len < 80 ? cost->money.instance.len : 80),
                                        cost->money.instance.ptr);
    else
        advice->text =
            pyro_advisor_say(advisor, "%zu executor%s on spot nodes", advisor->count, advisor->count == 1 ? "" : "s");
    advice->safety = pyro_advisor_say(
        advisor,
        "At %.3g interruptions per node and hour, %lld simulated runs took %s on average (%s to %s in 90 %% of them), "
        "with %.2g interruptions each. %.0f %% took longer than %s (%s). On average %.1f tasks were lost and %.1f "
        "partitions were computed again; %.*s. In this run %s. A node is replaced after %s. This assumes that the node "
        "of the driver stays.",
        spot->rate, (long long)spot->replays, pyro_advisor_time(mean, sizeof(mean), (double)spot->wall_ms),
        pyro_advisor_time(low, sizeof(low), (double)spot->wall_low_ms),
        pyro_advisor_time(high, sizeof(high), (double)spot->wall_high_ms), spot->interruptions, 100 * spot->late_share,
        pyro_advisor_time(limit, sizeof(limit), (double)spot->limit_ms),
        advisor->wanted->deadline_ms > 0 ? "the deadline" : "10 % longer than now", spot->tasks, spot->partitions,
        (int)limits.len, limits.ptr ? limits.ptr : "", spot->kept_by,
        pyro_advisor_time(boot, sizeof(boot), (double)spot->replaced_ms));
}

static bool run(struct simulation *simulation, const struct pyro_advised_size *full)
{
    struct pyro_advisor *advisor = simulation->advisor;
    struct pyro_cost_spot *spot = simulation->spot;
    struct sums sums = {0};
    double expected = spot->rate / HOUR_MS * simulation->horizon_ms * (double)advisor->count;
    simulation->room = (size_t)fmin((double)advisor->count + 4 * expected + 1000, EXECUTORS_MAX);
    simulation->walls = pyro_scratch(advisor->app, (size_t)spot->replays, sizeof(*simulation->walls));
    simulation->core_ms = pyro_scratch(advisor->app, (size_t)spot->replays, sizeof(*simulation->core_ms));
    simulation->executors = pyro_scratch(advisor->app, simulation->room, sizeof(*simulation->executors));
    bool done = simulation->walls && simulation->core_ms && simulation->executors && find_nodes(simulation);
    if (!done)
        return false;
    if (simulate(simulation, &sums)) {
        sum_up(simulation, full, &sums);
        write_advice(advisor, spot);
    } else if (!advisor->failed) {
        pyro_advisor_decline(
            advisor, "spot",
            pyro_advisor_say(
                advisor, "At %.3g interruptions per node and hour, too many nodes are lost to simulate spot instances.",
                spot->rate));
    }
    return true;
}

/* The driver ran on a node of executors, not on one of its own or outside of the cluster. */
static bool shares_node(const struct pyro_advisor *advisor)
{
    const struct pyro_cost *cost = advisor->cost;
    struct pyro_slice host = pyro_app_property(advisor->app, "spark.driver.host");
    bool shares = !cost->client_mode;
    for (size_t i = 0; i < cost->node_count; i++) {
        if (cost->nodes[i].driver)
            return false;
        shares = shares || (host.len > 0 && pyro_slice_eq(cost->nodes[i].host, host));
    }
    return shares;
}

bool pyro_advise_spot(struct pyro_advisor *advisor, const struct pyro_advised_size *full)
{
    if (!(advisor->wanted->interruptions > 0))
        return true;
    if (!(full->wall_ms > 0)) {
        if (pyro_app_property_bool(advisor->app, "spark.dynamicAllocation.enabled", false))
            pyro_advisor_decline(advisor, "spot",
                                 PYRO_SLICE_LITERAL("Interruptions are not simulated for dynamic allocation, which "
                                                    "replaces executors by its own rules."));
        return true;
    }
    if (advisor->nodes <= 1 && advisor->cost->has_driver && shares_node(advisor)) {
        pyro_advisor_decline(advisor, "spot",
                             PYRO_SLICE_LITERAL("The only node has the driver too: the application ends when it is "
                                                "taken away."));
        return true;
    }
    struct pyro_cost_spot *spot = pyro_arena_alloc(&advisor->cost->arena, sizeof(*spot));
    if (!spot)
        return false;
    int64_t fitting = TASKS / ((int64_t)advisor->app->tasks.count + 1);
    *spot = (struct pyro_cost_spot){.rate = advisor->wanted->interruptions,
                                    .replays = fitting < REPLAYS_MIN   ? REPLAYS_MIN
                                               : fitting > REPLAYS_MAX ? REPLAYS_MAX
                                                                       : fitting};
    read_settings(advisor, spot);
    struct simulation simulation = {.advisor = advisor, .spot = spot, .horizon_ms = full->wall_ms * HORIZON};
    bool done = run(&simulation, full);
    pyro_release(advisor->app->allocator, simulation.walls);
    pyro_release(advisor->app->allocator, simulation.core_ms);
    pyro_release(advisor->app->allocator, simulation.executors);
    pyro_release(advisor->app->allocator, simulation.node_of);
    return done;
}
