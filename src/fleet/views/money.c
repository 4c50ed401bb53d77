/* Money for allocated cores and memory, by the price sheets. */
#include "fleet/views/money.h"

#include <math.h>

#include "cost/money.h"

enum { COMBINATIONS = 16, RATES = 64 };

/* What a core hour and a GiB hour cost on one kind of nodes. */
struct rate {
    struct pyro_query_value instance;
    double core_hour, gib_hour; /* NaN: unknown */
};

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
                              struct pyro_fleet_money *money, double *ret, struct pyro_error *error)
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
                                  struct rate *rate, struct pyro_fleet_money *money, struct pyro_error *error)
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

static void from_allocations(struct pyro_fleet_view *view, const struct pyro_fleet_payers *payers)
{
    pyro_fleet_from(view, "allocations");
    if (payers->only_count)
        pyro_fleet_where_in(view, payers->by, payers->only, payers->only_count);
}

/* Of one platform in one region: what each group pays for its nodes of each type. */
static enum pyro_status add_place(struct pyro_fleet_view *view, const struct pyro_fleet_payers *payers,
                                  const struct pyro_query_answer *sums, struct pyro_slice platform,
                                  struct pyro_slice region, struct pyro_fleet_money *money, struct pyro_error *error)
{
    struct pyro_query_answer parts;
    struct rate rates[RATES];
    size_t rate_count = 0, near = 0;
    from_allocations(view, payers);
    where_or_unknown(view, "platform", platform);
    where_or_unknown(view, "region", region);
    PYRO_TRY(pyro_fleet_ask(view, &parts, error,
                            "\"group\":[{\"field\":%s},{\"field\":\"instance\"}],\"measures\":["
                            "{\"as\":\"core_ms\",\"op\":\"sum\",\"field\":\"core_ms\"},"
                            "{\"as\":\"mib_ms\",\"op\":\"sum\",\"field\":\"mib_ms\"}],\"limit\":10000",
                            payers->by_json.ptr));
    for (size_t row = 0; row < parts.row_count; row++) {
        const struct pyro_query_value *instance = pyro_answer_value(&parts, row, 1);
        size_t match = pyro_fleet_row_of(sums, pyro_answer_value(&parts, row, 0), near), i = 0;
        while (i < rate_count && !pyro_fleet_same(&rates[i].instance, instance))
            i++;
        if (i == rate_count && rate_count < RATES) {
            rates[rate_count].instance = *instance;
            PYRO_TRY(make_rate(view, platform, region, &rates[rate_count++], money, error));
        }
        if (match == SIZE_MAX)
            continue;
        near = match;
        double core_ms = pyro_answer_number(&parts, row, 2), mib_ms = pyro_answer_number(&parts, row, 3);
        money->amounts[match] += i == RATES ? (double)NAN
                                            : rates[i].core_hour * core_ms / 3600e3 +
                                                  (mib_ms > 0 ? rates[i].gib_hour * mib_ms / 1024 / 3600e3 : 0);
    }
    return PYRO_OK;
}

enum pyro_status pyro_fleet_price(struct pyro_fleet_view *view, const struct pyro_fleet_payers *payers,
                                  const struct pyro_query_answer *sums, struct pyro_fleet_money *ret,
                                  struct pyro_error *error)
{
    struct pyro_query_answer places;
    struct pyro_fleet_money money = {.amounts = pyro_arena_array(view->arena, sums->row_count + 1, sizeof(double))};
    if (!money.amounts)
        return pyro_no_memory(error);
    from_allocations(view, payers);
    PYRO_TRY(pyro_fleet_ask(view, &places, error,
                            "\"group\":[{\"field\":\"platform\"},{\"field\":\"region\"}],\"measures\":["
                            "{\"as\":\"core_ms\",\"op\":\"sum\",\"field\":\"core_ms\"}],"
                            "\"order\":{\"by\":\"core_ms\",\"descending\":true},\"limit\":%d",
                            COMBINATIONS));
    for (size_t i = 0; i < places.row_count; i++)
        PYRO_TRY(add_place(view, payers, sums, pyro_answer_text(&places, i, 0), pyro_answer_text(&places, i, 1), &money,
                           error));
    if (places.after.ptr)
        pyro_fleet_note(view, "Only the %d most used platforms and regions are priced.", COMBINATIONS);
    if (money.missing.ptr)
        pyro_fleet_note(view, "Some prices are unknown: %.*s.", (int)money.missing.len, money.missing.ptr);
    *ret = money;
    return PYRO_OK;
}
