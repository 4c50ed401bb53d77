/* Core time that was allocated and not used, what fixes would save of it, and money. */
#include <math.h>

#include "cost/money.h"
#include "fleet/views/views.h"

enum { COMBINATIONS = 16, RATES = 64 };

/* What a core hour and a GiB hour cost on one kind of nodes. */
struct rate {
    struct pyro_query_value instance;
    double core_hour, gib_hour; /* NaN: unknown */
};

struct money {
    double *amounts; /* by row of the view's sums; NaN: some of it has no price */
    struct pyro_slice currency;
    struct pyro_slice missing; /* the first price that is not known; null: none */
};

/* ---- Prices ------------------------------------------------------------------------------------------------------ */

static enum pyro_platform platform_of(struct pyro_slice name)
{
    enum pyro_platform platform = PYRO_PLATFORM_UNKNOWN;
    for (unsigned i = 0; i < PYRO_PLATFORM_UNKNOWN; i++)
        if (pyro_slice_is(name, pyro_platform_name((enum pyro_platform)i)))
            platform = (enum pyro_platform)i;
    return platform;
}

/* The bill of an application that holds this much on nodes of one type, and nothing else. NaN: unknown. */
static enum pyro_status price(struct pyro_fleet_view *view, struct pyro_cost *cost, int64_t core_ms, int64_t mib_ms,
                              struct money *money, double *ret, struct pyro_error *error)
{
    const struct pyro_fleet_options *options = view->options;
    const struct pyro_money_options how = {.currency = money->currency.ptr ? money->currency.ptr : options->currency,
                                           .instance = options->instance,
                                           .region = options->region};
    struct pyro_slice instance = options->instance ? pyro_slice_from(options->instance) : cost->place.instance.text;
    const struct pyro_instance *shape = instance.len ? pyro_prices_instance(options->prices, instance) : NULL;
    struct pyro_cost_node node = {.core_peak = shape ? shape->cores : 1};
    node.to_ms = core_ms / (shape ? shape->cores : 1);
    cost->nodes = &node;
    cost->node_count = instance.len > 0 && core_ms > 0;
    cost->total = (struct pyro_cost_amount){.core_ms = core_ms ? core_ms : 1, .memory_mib_ms = mib_ms};
    cost->cpu_request_ms = core_ms;
    PYRO_TRY(pyro_cost_price(cost, options->prices, &how, error));
    *ret = cost->money.known && (shape || !instance.len) ? (double)cost->money.micros / 1e6 : (double)NAN;
    if (!cost->money.known && cost->money.missing_count && !money->missing.ptr)
        money->missing = pyro_arena_copy(view->arena, cost->money.missing[0]);
    if (cost->money.known && !money->currency.ptr)
        money->currency = pyro_arena_copy(view->arena, cost->money.currency);
    return PYRO_OK;
}

static enum pyro_status make_rate(struct pyro_fleet_view *view, struct pyro_slice platform, struct pyro_slice region,
                                  struct rate *rate, struct money *money, struct pyro_error *error)
{
    enum { HOUR = 3600000, HOURS = 100000 }; /* so many that millionths do not matter */
    struct pyro_cost cost = {.place.platform = platform_of(platform)};
    cost.place.region.text = region;
    if (rate->instance.kind == PYRO_VALUE_TEXT)
        cost.place.instance.text = rate->instance.text;
    pyro_arena_init(&cost.arena, view->allocator);
    enum pyro_status status = price(view, &cost, (int64_t)HOUR * HOURS, 0, money, &rate->core_hour, error);
    if (status == PYRO_OK)
        status = price(view, &cost, 0, (int64_t)HOUR * HOURS * 1024, money, &rate->gib_hour, error);
    rate->core_hour /= HOURS;
    rate->gib_hour = cost.place.instance.text.len || view->options->instance ? 0 : rate->gib_hour / HOURS;
    pyro_arena_done(&cost.arena);
    return status;
}

static void where_or_unknown(struct pyro_fleet_view *view, const char *field, struct pyro_slice value)
{
    if (value.ptr)
        pyro_fleet_where(view, field, "=", value);
    else
        pyro_fleet_where_known(view, field, false);
}

/* Of one platform in one region: what each group pays for its nodes of each type. */
static enum pyro_status add_place(struct pyro_fleet_view *view, const struct pyro_query_answer *sums,
                                  struct pyro_slice platform, struct pyro_slice region, struct money *money,
                                  struct pyro_error *error)
{
    struct pyro_query_answer parts;
    struct rate rates[RATES];
    size_t rate_count = 0, near = 0;
    pyro_fleet_from(view, "allocations");
    where_or_unknown(view, "platform", platform);
    where_or_unknown(view, "region", region);
    PYRO_TRY(pyro_fleet_ask(view, &parts, error,
                            "\"group\":[{\"field\":%s},{\"field\":\"instance\"}],\"measures\":["
                            "{\"as\":\"core_ms\",\"op\":\"sum\",\"field\":\"core_ms\"},"
                            "{\"as\":\"mib_ms\",\"op\":\"sum\",\"field\":\"mib_ms\"}],\"limit\":10000",
                            view->by_json.ptr));
    for (size_t row = 0; row < parts.row_count; row++) {
        const struct pyro_query_value *instance = pyro_fleet_value(&parts, row, 1);
        size_t match = pyro_fleet_row_of(sums, pyro_fleet_value(&parts, row, 0), near), i = 0;
        while (i < rate_count && !pyro_fleet_same(&rates[i].instance, instance))
            i++;
        if (i == rate_count && rate_count < RATES) {
            rates[rate_count].instance = *instance;
            PYRO_TRY(make_rate(view, platform, region, &rates[rate_count++], money, error));
        }
        if (match == SIZE_MAX)
            continue;
        near = match;
        double core_ms = pyro_fleet_real(&parts, row, 2), mib_ms = pyro_fleet_real(&parts, row, 3);
        money->amounts[match] += i == RATES ? (double)NAN
                                            : rates[i].core_hour * core_ms / 3600e3 +
                                                  (mib_ms > 0 ? rates[i].gib_hour * mib_ms / 1024 / 3600e3 : 0);
    }
    return PYRO_OK;
}

static enum pyro_status add_money(struct pyro_fleet_view *view, const struct pyro_query_answer *sums,
                                  struct money *money, struct pyro_error *error)
{
    struct pyro_query_answer places;
    pyro_fleet_from(view, "allocations");
    PYRO_TRY(pyro_fleet_ask(view, &places, error,
                            "\"group\":[{\"field\":\"platform\"},{\"field\":\"region\"}],\"measures\":["
                            "{\"as\":\"core_ms\",\"op\":\"sum\",\"field\":\"core_ms\"}],"
                            "\"order\":{\"by\":\"core_ms\",\"descending\":true},\"limit\":%d",
                            COMBINATIONS));
    for (size_t i = 0; i < places.row_count; i++)
        PYRO_TRY(add_place(view, sums, pyro_fleet_text(&places, i, 0), pyro_fleet_text(&places, i, 1), money, error));
    if (places.after.ptr)
        pyro_fleet_note(view, "Only the %d most used platforms and regions are priced.", COMBINATIONS);
    if (money->missing.ptr)
        pyro_fleet_note(view, "Some prices are unknown: %.*s.", (int)money->missing.len, money->missing.ptr);
    return PYRO_OK;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

enum column { RUNS = 1, CORE, IDLE, FAILED_TASKS, WASTED, SAVES };

static enum pyro_status ask_sums(struct pyro_fleet_view *view, struct pyro_query_answer *ret, struct pyro_error *error)
{
    pyro_fleet_from(view, "runs");
    return pyro_fleet_ask(view, ret, error,
                          "\"group\":[{\"field\":%s}],\"measures\":[{\"as\":\"runs\",\"op\":\"count\"},"
                          "{\"as\":\"core_ms\",\"op\":\"sum\",\"field\":\"core_ms\"},"
                          "{\"as\":\"idle\",\"op\":\"sum\",\"field\":\"agg.run.idle_core_ms\"},"
                          "{\"as\":\"failed\",\"op\":\"sum\",\"field\":\"agg.run.core_failed_tasks_ms\"},"
                          "{\"as\":\"wasted\",\"op\":\"sum\",\"field\":\"agg.run.wasted_core_ms\"},"
                          "{\"as\":\"saves\",\"op\":\"sum\",\"field\":\"agg.run.saves_core_ms\"}],"
                          "\"limit\":10000",
                          view->by_json.ptr);
}

static enum pyro_status ask_failed(struct pyro_fleet_view *view, struct pyro_query_answer *ret,
                                   struct pyro_error *error)
{
    pyro_fleet_from(view, "runs");
    pyro_fleet_where(view, "status", "=", PYRO_SLICE_LITERAL("failed"));
    return pyro_fleet_ask(view, ret, error,
                          "\"group\":[{\"field\":%s}],\"measures\":[{\"as\":\"core_ms\",\"op\":\"sum\","
                          "\"field\":\"core_ms\"}],\"limit\":10000",
                          view->by_json.ptr);
}

static int64_t sum_of(const struct pyro_query_answer *answer, const struct pyro_query_value *key, size_t *near)
{
    size_t match = pyro_fleet_row_of(answer, key, *near);
    if (match == SIZE_MAX)
        return 0;
    *near = match;
    double sum = pyro_fleet_real(answer, match, 1);
    return sum > 0 ? (int64_t)sum : 0;
}

enum pyro_status pyro_fleet_waste(struct pyro_fleet_view *view, struct pyro_error *error)
{
    struct pyro_query_answer runs, failed;
    struct money money = {.currency = PYRO_SLICE_NULL};
    PYRO_TRY(ask_sums(view, &runs, error));
    PYRO_TRY(ask_failed(view, &failed, error));
    money.amounts = pyro_arena_array(view->arena, runs.row_count + 1, sizeof(*money.amounts));
    if (!money.amounts)
        return pyro_no_memory(error);
    bool priced = view->options->prices != NULL;
    if (priced)
        PYRO_TRY(add_money(view, &runs, &money, error));
    struct pyro_fleet_table *table = pyro_fleet_table(view, "rows", "Waste");
    pyro_fleet_by_column(view, table);
    pyro_fleet_column(table, "runs", "Runs", FLEET_COUNT);
    pyro_fleet_column(table, "core_ms", "Core hours", FLEET_CORE_MS);
    pyro_fleet_column(table, "wasted_core_ms", "Wasted", FLEET_CORE_MS);
    pyro_fleet_column(table, "wasted_share", "Share", FLEET_SHARE);
    pyro_fleet_column(table, "idle_core_ms", "Idle", FLEET_CORE_MS);
    pyro_fleet_column(table, "failed_tasks_core_ms", "Failed tasks", FLEET_CORE_MS);
    pyro_fleet_column(table, "failed_runs_core_ms", "Failed runs", FLEET_CORE_MS);
    pyro_fleet_column(table, "saves_core_ms", "Settings would save", FLEET_CORE_MS);
    if (priced) {
        pyro_fleet_column(table, "cost", "Cost", FLEET_RATIO);
        pyro_fleet_column(table, "wasted_cost", "Cost of waste", FLEET_RATIO);
        pyro_fleet_column(table, "currency", "Currency", FLEET_TEXT);
    }
    size_t near = 0;
    for (size_t row = 0; row < runs.row_count; row++) {
        const struct pyro_query_value *key = pyro_fleet_value(&runs, row, 0);
        double core_ms = pyro_fleet_real(&runs, row, CORE), wasted = pyro_fleet_real(&runs, row, WASTED);
        double amount = money.currency.ptr ? money.amounts[row] : (double)NAN;
        pyro_fleet_add(view, table, key);
        pyro_fleet_add_int(view, table, pyro_fleet_int(&runs, row, RUNS));
        pyro_fleet_add_int(view, table, pyro_fleet_int(&runs, row, CORE));
        pyro_fleet_add_int(view, table, pyro_fleet_int(&runs, row, WASTED));
        pyro_fleet_add_real(view, table, wasted / core_ms);
        pyro_fleet_add_int(view, table, pyro_fleet_int(&runs, row, IDLE));
        pyro_fleet_add_int(view, table, pyro_fleet_int(&runs, row, FAILED_TASKS));
        pyro_fleet_add_int(view, table, sum_of(&failed, key, &near));
        pyro_fleet_add_int(view, table, pyro_fleet_int(&runs, row, SAVES));
        if (priced) {
            pyro_fleet_add_real(view, table, amount);
            pyro_fleet_add_real(view, table, amount * wasted / core_ms);
            pyro_fleet_add_text(view, table, money.currency);
        }
    }
    pyro_fleet_rank(view, table, 3, FLEET_TABLE_ROWS);
    const struct pyro_fleet_picture picture = {"bars", "Wasted core hours", "rows",
                                               NULL,   "wasted_core_ms",    .series = view->by};
    pyro_fleet_picture(view, &picture);
    pyro_fleet_note(view, "Wasted: core time without a task, and that of failed tasks. Settings would save: the "
                          "prediction for each run with all recommended settings together.");
    return PYRO_OK;
}
