/* Capacity that an application holds steadily, by the runs that a store has of it. docs/cost.md */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "advice/cost/advise.h"
#include "analyze/accounts/fixed_point.h"

/* What is judged by; docs/cost.md says why. */
#define STEADY      0.70  /* without a price: this share of the time */
#define MONTH_HOURS 730.0 /* a year's hours / 12 */
enum { RUNS_MIN = 10, DAYS_MIN = 28, NODES_MAX = 10000 };
static const int64_t day_ms = 86400000;

/* Cores from one moment to the next. */
struct stretch {
    int64_t at_ms, ms, milli; /* milli: thousandths of a core; while gathering: how they change at `at_ms` */
};

struct history {
    struct stretch *items; /* most cores first */
    size_t count, runs;
    double span_ms;
};

static int by_moment(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    if (x->at_ms != y->at_ms)
        return x->at_ms < y->at_ms ? -1 : 1;
    return x->milli < y->milli ? -1 : x->milli > y->milli;
}

static int by_level(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    if (x->milli != y->milli)
        return x->milli > y->milli ? -1 : 1;
    return x->at_ms < y->at_ms ? -1 : x->at_ms > y->at_ms;
}

/* False: no memory. */
static bool gather(const struct pyro_past *past, size_t past_count, struct pyro_slice name, struct pyro_arena *arena,
                   struct history *ret)
{
    size_t count = 0;
    *ret = (struct history){0};
    for (size_t i = 0; i < past_count; i++)
        ret->runs += pyro_slice_eq(past[i].application, name);
    ret->items = pyro_arena_array(arena, 2 * ret->runs + 1, sizeof(*ret->items));
    if (!ret->items)
        return false;
    for (size_t i = 0; i < past_count; i++) {
        if (!pyro_slice_eq(past[i].application, name))
            continue;
        __int128 length = (__int128)past[i].end_ms - past[i].start_ms;
        __int128 milli = (__int128)past[i].core_ms * 1000 / length;
        int64_t held = milli > INT32_MAX ? INT32_MAX : (int64_t)milli;
        ret->items[count++] = (struct stretch){past[i].start_ms, 0, held};
        ret->items[count++] = (struct stretch){past[i].end_ms, 0, -held};
    }
    if (count == 0)
        return true;
    qsort(ret->items, count, sizeof(*ret->items), by_moment);
    int64_t level = 0;
    for (size_t i = 0; i < count; i++) {
        level += ret->items[i].milli;
        ret->items[i].milli = level;
        ret->items[i].ms = i + 1 < count ? pyro_saturate((__int128)ret->items[i + 1].at_ms - ret->items[i].at_ms) : 0;
    }
    ret->span_ms = (double)ret->items[count - 1].at_ms - (double)ret->items[0].at_ms;
    ret->count = count;
    qsort(ret->items, count, sizeof(*ret->items), by_level);
    return true;
}

/* Share of the time in which at least `milli` was held. */
static double share_of(const struct history *history, int64_t milli)
{
    double ms = 0;
    for (size_t i = 0; i < history->count && history->items[i].milli >= milli; i++)
        ms += (double)history->items[i].ms;
    return history->span_ms > 0 ? ms / history->span_ms : 0;
}

/* The most that was held for this share of the time. */
static int64_t level_of(const struct history *history, double share)
{
    double ms = 0;
    for (size_t i = 0; i < history->count; i++) {
        ms += (double)history->items[i].ms;
        if (history->items[i].ms > 0 && ms >= share * history->span_ms)
            return history->items[i].milli;
    }
    return 0;
}

/* The cheapest price of an hour that has to be paid whether it is used or not; null `purchase`: there is none. */
static double reserved_hour(const struct pyro_cost *cost, const struct pyro_prices *prices,
                            const struct pyro_money_options *options, struct pyro_slice *purchase)
{
    double best = (double)NAN;
    *purchase = PYRO_SLICE_NULL;
    for (size_t i = 0; i < prices->rows.count; i++) {
        const struct pyro_price *row = &prices->rows.items[i];
        if (!pyro_slice_eq(row->instance, cost->money.instance) || !pyro_slice_is(row->unit, "hour") ||
            (!pyro_slice_starts_with(row->purchase, "reserved") &&
             !pyro_slice_starts_with(row->purchase, "savings-plan")))
            continue;
        struct pyro_money_options reserved = *options;
        reserved.purchase = row->purchase.ptr;
        double hour = pyro_node_hour(cost, prices, &reserved, cost->money.instance);
        if (hour >= 0 && (isnan(best) || hour < best)) {
            best = hour;
            *purchase = row->purchase;
        }
    }
    return best;
}

#define TEXT(slice) (int)((slice).len < 80 ? (slice).len : 80), (slice).ptr ? (slice).ptr : ""

/* Nodes that are held for longer than the share of the time above which reserving them is cheaper. */
static void advise_nodes(struct pyro_cost *cost, const struct history *history, struct pyro_cost_advice *advice,
                         int64_t cores, double now, double reserved, struct pyro_slice purchase)
{
    double even = reserved / now, used = 0;
    int64_t nodes = level_of(history, even) / 1000 / cores, held_cores;
    struct pyro_slice currency = cost->money.currency;
    nodes = nodes > NODES_MAX ? NODES_MAX : nodes;
    if (nodes == 0 || even >= 1) {
        advice->safety = pyro_arena_printf(
            &cost->arena,
            "Reserved capacity (%.*s) of %.*s pays off if it is used at least %.0f %% of the time. The %zu runs of "
            "%.0f days in the store used a node's %lld cores for %.0f %% of the time (%.0f hours per month): none is "
            "recommended.",
            TEXT(purchase), TEXT(cost->money.instance), 100 * even, history->runs, history->span_ms / (double)day_ms,
            (long long)cores, 100 * share_of(history, cores * 1000), MONTH_HOURS * share_of(history, cores * 1000));
        return;
    }
    for (size_t i = 0; i < history->count; i++) {
        int64_t held = history->items[i].milli / 1000 / cores;
        used += (double)(held < nodes ? held : nodes) * (double)history->items[i].ms / history->span_ms;
    }
    held_cores = nodes * cores;
    double month = MONTH_HOURS * (used * now - (double)nodes * reserved) / 1e6;
    double share = share_of(history, held_cores * 1000);
    advice->text = pyro_arena_printf(&cost->arena, "%lld x %.*s (%.*s)", (long long)nodes, TEXT(cost->money.instance),
                                     TEXT(purchase));
    advice->safety = pyro_arena_printf(
        &cost->arena,
        "The %zu runs of %.0f days in the store used at least %lld cores for %.0f %% of the time (%.0f hours per "
        "month). Reserved capacity pays off at %.0f %% or more (%.4f instead of %.4f %.*s per hour). It saves %.2f "
        "%.*s per month if this use continues.",
        history->runs, history->span_ms / (double)day_ms, (long long)held_cores, 100 * share, MONTH_HOURS * share,
        100 * even, reserved / 1e6, now / 1e6, TEXT(currency), month, TEXT(currency));
    advice->saves_share = used > 0 ? 1 - (double)nodes * reserved / (used * now) : 0;
}

enum pyro_status pyro_cost_reserve(struct pyro_cost *cost, const struct pyro_past *past, size_t past_count,
                                   struct pyro_slice application, const struct pyro_prices *prices,
                                   const struct pyro_money_options *options, struct pyro_error *error)
{
    struct pyro_arena arena;
    struct history history;
    if (cost->manager == PYRO_MANAGER_LOCAL || cost->advice_count == PYRO_COST_ADVICE_MAX)
        return PYRO_OK;
    pyro_arena_init(&arena, cost->arena.allocator);
    bool ok = gather(past, past_count, application, &arena, &history);
    struct pyro_cost_advice *advice = &cost->advice[cost->advice_count];
    *advice = (struct pyro_cost_advice){
        .kind = "reserve", .executors = PYRO_NONE, .wall_ms = PYRO_NONE, .core_ms = PYRO_NONE, .micros = PYRO_NONE};
    if (ok && (history.runs < RUNS_MIN || history.span_ms < (double)(DAYS_MIN * day_ms))) {
        advice->safety = pyro_arena_printf(&cost->arena,
                                           "Reserved capacity: the store has %zu run%s of this application over %.0f "
                                           "days; it takes at least %d runs over %d days to know the steady use.",
                                           history.runs, history.runs == 1 ? "" : "s",
                                           floor(history.span_ms / (double)day_ms), RUNS_MIN, DAYS_MIN);
    } else if (ok) {
        const struct pyro_instance *shape = prices ? pyro_prices_instance(prices, cost->money.instance) : NULL;
        struct pyro_money_options on_demand = *options;
        struct pyro_slice purchase = PYRO_SLICE_NULL;
        on_demand.purchase = NULL;
        double now = shape ? pyro_node_hour(cost, prices, &on_demand, cost->money.instance) : (double)NAN;
        double reserved = shape ? reserved_hour(cost, prices, options, &purchase) : (double)NAN;
        if (shape && shape->cores > 0 && now > 0 && reserved >= 0) {
            advise_nodes(cost, &history, advice, shape->cores, now, reserved, purchase);
        } else {
            int64_t level = level_of(&history, STEADY);
            advice->safety =
                pyro_arena_printf(&cost->arena,
                                  "Reserved capacity: the %zu runs of %.0f days in the store used at least %.1f cores "
                                  "for %.0f %% of the time (%.0f hours per month), and any cores for %.0f %%. It is "
                                  "unknown whether reserved capacity pays off: give the instance type, and a price for "
                                  "it with purchase reserved-... or savings-plan-... (--instance, --prices).",
                                  history.runs, history.span_ms / (double)day_ms, (double)level / 1000, 100 * STEADY,
                                  MONTH_HOURS * STEADY, 100 * share_of(&history, 1));
        }
    }
    cost->advice_count += ok;
    ok = ok && advice->safety.ptr;
    pyro_arena_done(&arena);
    return ok ? PYRO_OK : pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for recommendations on cost");
}
