/* The bill of one application. */
#include "cost/money.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "analyze/accounts/fixed_point.h"

enum { LINES = 12, NOTES = 16 };
static const double hour_ms = 3600000;

struct bill {
    struct pyro_cost *cost;
    const struct pyro_prices *prices;
    const struct pyro_money_options *options;
    struct pyro_slice region, instance, driver_instance;
    int64_t node_core_ms; /* of the nodes that executors ran on; 0: unknown, or not paid for by nodes */
    bool driver_apart;    /* the driver's node is on the bill by itself */
    bool failed;
};

static struct pyro_slice say(struct bill *bill, const char *format, ...) __attribute__((format(printf, 2, 3)));
static struct pyro_slice say(struct bill *bill, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct pyro_slice made = pyro_arena_vprintf(&bill->cost->arena, format, arguments);
    va_end(arguments);
    bill->failed |= made.ptr == NULL;
    return made;
}

/* At most 100 bytes of a text that comes from a log. */
#define TEXT(slice) (int)((slice).len < 100 ? (slice).len : 100), (slice).ptr ? (slice).ptr : ""

static void note(struct bill *bill, struct pyro_slice text)
{
    struct pyro_money *money = &bill->cost->money;
    for (size_t i = 0; i < money->note_count; i++)
        if (pyro_slice_eq(money->notes[i], text))
            return;
    if (text.ptr && money->note_count < NOTES)
        money->notes[money->note_count++] = text;
}

/* " (did you mean m5.xlarge?)" for a type that no sheet has; " (known in eu-west-1, us-east-1)" for one that has prices
 * elsewhere; else nothing. */
static struct pyro_slice hint(struct bill *bill, const struct pyro_price_query *query)
{
    enum { REGIONS = 6 };
    const struct pyro_prices *prices = bill->prices;
    struct pyro_slice word = pyro_arena_copy(&bill->cost->arena, query->instance), regions = PYRO_SLICE_LITERAL("");
    const char **names = pyro_arena_array(&bill->cost->arena, prices->rows.count + 1, sizeof(*names));
    size_t count = 0, places = 0;
    if (!word.len || !names) {
        bill->failed |= !names;
        return regions;
    }
    for (size_t i = 0; i < prices->rows.count; i++) {
        const struct pyro_price *row = &prices->rows.items[i];
        if (row->instance.len && !pyro_slice_eq(row->instance, query->instance))
            names[count++] = row->instance.ptr;
        if (!row->instance.len || !pyro_slice_eq(row->instance, query->instance) || !row->region.len ||
            pyro_slice_find(regions, row->region.ptr) || places++ >= REGIONS)
            continue;
        regions = say(bill, "%.*s%s%.*s", TEXT(regions), regions.len ? ", " : "", TEXT(row->region));
    }
    if (regions.len)
        return say(bill, " (prices of it are known in %.*s)", (int)regions.len, regions.ptr);
    const char *nearest = pyro_nearest(word.ptr, names, count);
    return nearest ? say(bill, " (did you mean %s?)", nearest) : regions;
}

static void miss(struct bill *bill, const struct pyro_price_query *query)
{
    struct pyro_money *money = &bill->cost->money;
    if (money->missing_count == LINES)
        return;
    struct pyro_slice where = query->region, known = hint(bill, query);
    struct pyro_slice text =
        say(bill, "service %s, unit %s%s%.*s%s%.*s%s%.*s%s%s%.*s", query->service, query->unit,
            query->instance.len ? ", instance " : "", TEXT(query->instance), where.len ? ", region " : "", TEXT(where),
            query->tier.len ? ", tier " : "", TEXT(query->tier), query->purchase ? ", purchase " : "",
            query->purchase ? query->purchase : "", (int)known.len, known.ptr ? known.ptr : "");
    for (size_t i = 0; i < money->missing_count; i++)
        if (pyro_slice_eq(money->missing[i], text))
            return;
    money->missing[money->missing_count++] = text;
    money->prices_missing = true;
}

static struct pyro_slice region_of(const struct pyro_cost *cost, const struct pyro_money_options *options)
{
    return options && options->region ? pyro_slice_from(options->region) : cost->place.region.text;
}

/* ---- lines ----------------------------------------------------------------------------------------------------- */

static double bill_line(struct bill *bill, const struct pyro_price *price, double quantity, double each,
                        struct pyro_slice text)
{
    struct pyro_money *money = &bill->cost->money;
    double total = quantity * each * 1e6;
    if (money->line_count == LINES || !(total >= 0) || total > 9e18)
        return NAN;
    if (!money->currency.ptr)
        money->currency = pyro_arena_copy(&bill->cost->arena, price->currency);
    bill->failed |= !money->currency.ptr;
    double rate = pyro_prices_rate(bill->prices, price->currency, money->currency);
    total *= rate;
    if (!(rate > 0) || total > 9e18)
        return NAN;
    struct pyro_cost_line *line = &money->lines[money->line_count++];
    *line = (struct pyro_cost_line){.text = text,
                                    .unit = pyro_arena_copy(&bill->cost->arena, price->unit),
                                    .source = pyro_arena_copy(&bill->cost->arena, price->source),
                                    .dated = pyro_arena_copy(&bill->cost->arena, price->dated),
                                    .quantity = quantity,
                                    .price = each * rate,
                                    .micros = (int64_t)(total + 0.5)};
    money->micros = pyro_add_saturating(money->micros, line->micros);
    if (!bill->region.ptr && price->region.ptr)
        note(bill, say(bill, "The log does not name the region: these are prices of %.*s.", TEXT(price->region)));
    return total;
}

/* The price of an hour of an instance type, sold by whichever service has it. */
static const struct pyro_price *hour_price(struct bill *bill, struct pyro_slice instance, bool complain)
{
    const struct pyro_price *seller = pyro_prices_seller(bill->prices, instance);
    struct pyro_slice cloud = bill->cost->place.cloud.text;
    const char *service = seller                          ? seller->service.ptr
                          : pyro_slice_is(cloud, "azure") ? "azure"
                          : pyro_slice_is(cloud, "gcp")   ? "gce"
                                                          : "ec2";
    struct pyro_price_query query = {service,      "hour",          instance,
                                     bill->region, PYRO_SLICE_NULL, bill->options ? bill->options->purchase : NULL};
    const struct pyro_price *found = pyro_prices_find(bill->prices, &query);
    if (!found && complain)
        miss(bill, &query);
    return found;
}

static struct pyro_slice tier_of(const struct pyro_cost *cost)
{
    return cost->place.workload.text.ptr ? cost->place.workload.text : PYRO_SLICE_LITERAL("jobs");
}

static struct pyro_price_query dbu_query(const struct pyro_cost *cost, struct pyro_slice region)
{
    struct pyro_slice cloud = cost->place.cloud.text;
    return (struct pyro_price_query){pyro_slice_is(cloud, "azure") ? "databricks-azure"
                                     : pyro_slice_is(cloud, "gcp") ? "databricks-gcp"
                                                                   : "databricks",
                                     "dbu",
                                     PYRO_SLICE_NULL,
                                     region,
                                     tier_of(cost),
                                     NULL};
}

static const struct pyro_price *dbu_rating(struct bill *bill, struct pyro_slice instance)
{
    struct pyro_price_query query = dbu_query(bill->cost, PYRO_SLICE_NULL);
    query.unit = "dbu-per-hour";
    query.instance = instance;
    return pyro_prices_find(bill->prices, &query);
}

/* What the platform takes for a node in addition to the node's price. */
struct surcharge {
    const char *of;                 /* the platform; NULL: it takes nothing, or by nothing known of the node */
    struct pyro_price_query query;  /* what is looked for; what lacks, where there is no price */
    const struct pyro_price *price; /* NULL: unknown */
    double per_hour;                /* units of the price that an hour of a node takes; 0: unknown */
    bool dbu;                       /* the units are DBUs */
};

static struct surcharge surcharge_of(struct bill *bill, struct pyro_slice instance, const struct pyro_instance *shape)
{
    struct surcharge found = {.of = NULL};
    switch (bill->cost->place.platform) {
    case PYRO_PLATFORM_EMR:
        found.of = "EMR";
        found.query = (struct pyro_price_query){"emr", "hour", instance, bill->region, PYRO_SLICE_NULL, NULL};
        found.per_hour = 1;
        break;
    case PYRO_PLATFORM_DATAPROC:
        if (!shape)
            return found;
        found.of = "Dataproc";
        found.query =
            (struct pyro_price_query){"dataproc", "core-hour", PYRO_SLICE_NULL, bill->region, PYRO_SLICE_NULL, NULL};
        found.per_hour = (double)shape->cores;
        break;
    case PYRO_PLATFORM_DATABRICKS: {
        const struct pyro_price *rating = dbu_rating(bill, instance);
        found.of = "Databricks";
        found.dbu = true;
        found.query = dbu_query(bill->cost, bill->region);
        if (!rating) {
            found.query.unit = "dbu-per-hour";
            found.query.instance = instance;
            return found;
        }
        found.per_hour = rating->price;
        break;
    }
    default:
        return found;
    }
    found.price = pyro_prices_find(bill->prices, &found.query);
    return found;
}

/* ---- by nodes -------------------------------------------------------------------------------------------------- */

/* How many nodes of this type a host stands for: more than one where its executors held more cores than such a node
 * has. */
static double nodes_of(const struct pyro_cost_node *node, const struct pyro_instance *shape)
{
    if (!shape || node->driver || node->core_peak <= shape->cores)
        return 1;
    return ceil((double)node->core_peak / (double)shape->cores);
}

static void bill_nodes(struct bill *bill, struct pyro_slice instance, bool driver)
{
    struct pyro_cost *cost = bill->cost;
    const struct pyro_instance *shape = pyro_prices_instance(bill->prices, instance);
    double count = 0, hours = 0;
    for (size_t i = 0; i < cost->node_count; i++) {
        if (cost->nodes[i].driver != driver)
            continue;
        double nodes = nodes_of(&cost->nodes[i], shape);
        count += nodes;
        hours += nodes * ((double)cost->nodes[i].to_ms - (double)cost->nodes[i].from_ms) / hour_ms;
    }
    if (count < 1)
        return;
    if (!driver && shape) {
        double core_ms = hours * hour_ms * (double)shape->cores;
        bill->node_core_ms = core_ms < 9e18 ? (int64_t)core_ms : 0;
    }
    size_t first = cost->money.line_count;
    const struct pyro_price *price = hour_price(bill, instance, true);
    if (!driver) {
        cost->money.nodes = count;
        cost->money.region = pyro_arena_copy(&cost->arena, price ? price->region : PYRO_SLICE_NULL);
    }
    if (price)
        bill_line(bill, price, hours, price->price,
                  say(bill, "%.0f x %.*s%s", count, TEXT(instance), driver ? " (driver)" : ""));
    struct surcharge more = surcharge_of(bill, instance, shape);
    double sold = hours * more.per_hour;
    if (more.dbu && more.per_hour > 0)
        cost->money.dbu = (isnan(cost->money.dbu) ? 0 : cost->money.dbu) + sold;
    if (more.price && more.dbu)
        bill_line(bill, more.price, sold, more.price->price,
                  say(bill, "DBU (%.*s) of %.0f x %.*s", TEXT(more.query.tier), count, TEXT(instance)));
    else if (more.price)
        bill_line(bill, more.price, sold, more.price->price,
                  say(bill, "%s on %.0f x %.*s", more.of, count, TEXT(instance)));
    else if (more.of)
        miss(bill, &more.query);
    for (size_t i = first; i < cost->money.line_count; i++)
        cost->money.lines[i].driver = driver;
}

double pyro_node_hour(const struct pyro_cost *cost, const struct pyro_prices *prices,
                      const struct pyro_money_options *options, struct pyro_slice instance)
{
    struct pyro_cost copy = *cost; /* of which nothing is written here */
    struct bill bill = {.cost = &copy, .prices = prices, .options = options, .region = region_of(cost, options)};
    bill.region = cost->money.region.ptr ? cost->money.region : bill.region;
    const struct pyro_price *seller = pyro_prices_seller(prices, instance),
                            *seller_now = pyro_prices_seller(prices, cost->money.instance);
    if (!seller || !seller_now || !pyro_slice_eq(seller->service, seller_now->service))
        return (double)NAN; /* another vendor's */
    const struct pyro_instance *shape = pyro_prices_instance(prices, instance);
    const struct pyro_price *price = hour_price(&bill, instance, false);
    if (!price)
        return (double)NAN;
    double rate = pyro_prices_rate(prices, price->currency, cost->money.currency);
    struct surcharge more = surcharge_of(&bill, instance, shape);
    double micros = rate > 0 ? price->price * rate * 1e6 : (double)NAN;
    if (!more.of)
        return micros;
    if (!more.price)
        return (double)NAN;
    double more_rate = pyro_prices_rate(prices, more.price->currency, cost->money.currency);
    return more_rate > 0 ? micros + more.price->price * more.per_hour * more_rate * 1e6 : (double)NAN;
}

/* ---- by resources ---------------------------------------------------------------------------------------------- */

static void bill_resource(struct bill *bill, const char *service, const char *unit, double quantity, bool memory)
{
    struct pyro_price_query query = {
        service, unit, PYRO_SLICE_NULL, bill->region, PYRO_SLICE_NULL, bill->options ? bill->options->purchase : NULL};
    const struct pyro_price *price = pyro_prices_find(bill->prices, &query);
    if (!price) {
        miss(bill, &query);
        return;
    }
    size_t at = bill->cost->money.line_count;
    bill_line(bill, price, quantity, price->price, say(bill, "%s of %s", unit, service));
    if (bill->cost->money.line_count > at)
        bill->cost->money.lines[at].memory = memory;
}

static void bill_resources(struct bill *bill, const char *service)
{
    const struct pyro_cost *cost = bill->cost;
    bill_resource(bill, service, "core-hour", (double)cost->cpu_request_ms / hour_ms, false);
    bill_resource(bill, service, "gib-hour", pyro_cost_gib_hours(&cost->total), true);
}

static bool has_price(const struct bill *bill, const char *service, const char *unit)
{
    struct pyro_price_query query = {service, unit, PYRO_SLICE_NULL, bill->region, PYRO_SLICE_NULL, NULL};
    return pyro_prices_find(bill->prices, &query) != NULL;
}

/* ---- which bill ------------------------------------------------------------------------------------------------ */

static void choose(struct bill *bill)
{
    struct pyro_cost *cost = bill->cost;
    const struct pyro_cost_place *place = &cost->place;
    if (cost->settings_unknown)
        note(bill, PYRO_SLICE_LITERAL("The settings of the run are unknown: its memory is counted as that of Spark's "
                                      "defaults."));
    if (cost->total.core_ms == 0 || cost->executors_unknown) {
        note(bill, PYRO_SLICE_LITERAL("The log has no executors: the allocation is unknown."));
        cost->money.missing[cost->money.missing_count++] =
            PYRO_SLICE_LITERAL("executors: the log has no ExecutorAdded event");
        return;
    }
    if (bill->instance.len) {
        bill_nodes(bill, bill->instance, false);
        bool apart = false;
        for (size_t i = 0; i < cost->node_count; i++)
            apart |= cost->nodes[i].driver;
        bill->driver_apart = apart;
        bill_nodes(bill, bill->driver_instance.len ? bill->driver_instance : bill->instance, true);
        if (place->platform == PYRO_PLATFORM_EMR || place->platform == PYRO_PLATFORM_DATAPROC)
            note(bill, PYRO_SLICE_LITERAL("Nodes without executors and driver (such as the primary node) are not in "
                                          "the log and not part of this cost."));
        return;
    }
    switch (place->platform) {
    case PYRO_PLATFORM_EMR_SERVERLESS:
        bill_resources(bill, "emr-serverless");
        return;
    case PYRO_PLATFORM_GLUE:
        /* A DPU has 4 cores (docs/prices.md). */
        bill_resource(bill, "glue", "dpu-hour", (double)cost->cpu_request_ms / hour_ms / 4, false);
        return;
    case PYRO_PLATFORM_KUBERNETES:
        bill_resources(bill, "kubernetes");
        return;
    default:
        break;
    }
    if (has_price(bill, "cluster", "core-hour") || has_price(bill, "cluster", "gib-hour")) {
        bill_resources(bill, "cluster");
        return;
    }
    cost->money.missing[cost->money.missing_count++] =
        say(bill, "the instance type, which the log does not name: give --instance TYPE, or prices of service cluster "
                  "(units core-hour and gib-hour)");
}

/* ---- sharing out ----------------------------------------------------------------------------------------------- */

struct cells {
    int64_t *weights, *shares;
    struct pyro_cost_amount **amounts;
    size_t count;
};

static bool share_line(struct bill *bill, const struct pyro_cost_line *line, struct cells *cells)
{
    struct pyro_cost *cost = bill->cost;
    int64_t sum = 0;
    size_t driver = cells->count - 2, unheld = cells->count - 1;
    if (line->driver) {
        cells->amounts[driver]->micros += line->micros;
        return true;
    }
    int64_t held = 0;
    for (size_t i = 0; i < cells->count; i++) {
        cells->weights[i] = line->memory ? cells->amounts[i]->memory_mib_ms : cells->amounts[i]->core_ms;
        held += cells->amounts[i]->core_ms;
    }
    if (bill->driver_apart) {
        held -= cells->weights[driver];
        cells->weights[driver] = 0;
    }
    cells->weights[unheld] = bill->node_core_ms > held ? bill->node_core_ms - held : 0; /* cannot overflow */
    for (size_t i = 0; i < cells->count; i++)
        sum = pyro_add_saturating(sum, cells->weights[i]);
    if (sum == 0 || sum == INT64_MAX) {
        cells->amounts[unheld]->micros += line->micros;
        return true;
    }
    if (!pyro_apportion(cost->arena.allocator, cells->weights, cells->count, sum, line->micros, cells->shares))
        return false;
    for (size_t i = 0; i < cells->count; i++)
        cells->amounts[i]->micros += cells->shares[i];
    return true;
}

static bool share_money(struct bill *bill)
{
    struct pyro_cost *cost = bill->cost;
    const struct pyro_allocator *allocator = cost->arena.allocator;
    size_t of_stages = cost->stages.count * PYRO_COST_TASK_PARTS;
    struct cells cells = {.count = of_stages + PYRO_COST_PARTS - PYRO_COST_TASK_PARTS};
    cells.weights = pyro_allocate(allocator, cells.count * sizeof(*cells.weights));
    cells.shares = pyro_allocate(allocator, cells.count * sizeof(*cells.shares));
    cells.amounts = pyro_allocate(allocator, cells.count * sizeof(*cells.amounts));
    bool ok = cells.weights && cells.shares && cells.amounts;
    for (size_t i = 0; ok && i < of_stages; i++)
        cells.amounts[i] = &cost->stage_parts[i];
    for (size_t i = of_stages; ok && i < cells.count; i++)
        cells.amounts[i] = &cost->parts[PYRO_COST_TASK_PARTS + i - of_stages];
    for (size_t i = 0; ok && i < cost->money.line_count; i++)
        ok = share_line(bill, &cost->money.lines[i], &cells);
    for (size_t i = 0; ok && i < of_stages; i++) {
        cost->stages.items[i / PYRO_COST_TASK_PARTS].total.micros += cost->stage_parts[i].micros;
        cost->parts[i % PYRO_COST_TASK_PARTS].micros += cost->stage_parts[i].micros;
    }
    cost->total.micros = cost->money.micros;
    pyro_release(allocator, cells.weights);
    pyro_release(allocator, cells.shares);
    pyro_release(allocator, cells.amounts);
    return ok && pyro_cost_sum_up(cost);
}

/* The lines' currency into the one that is asked for. */
static enum pyro_status check_currency(struct bill *bill, struct pyro_error *error)
{
    struct pyro_money *money = &bill->cost->money;
    const char *wanted = bill->options ? bill->options->currency : NULL;
    if (!wanted)
        return PYRO_OK;
    for (size_t i = 0; i < bill->prices->rows.count; i++)
        if (pyro_prices_rate(bill->prices, bill->prices->rows.items[i].currency, pyro_slice_from(wanted)) > 0) {
            money->currency = pyro_arena_copy(&bill->cost->arena, pyro_slice_from(wanted));
            bill->failed |= !money->currency.ptr;
            return PYRO_OK;
        }
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                          "no price is in %s, and no exchange rate is known: add 'rates: {%s: ...}' to a price sheet "
                          "in the currency of the prices, and give it with --prices",
                          wanted, wanted);
}

enum pyro_status pyro_cost_price(struct pyro_cost *cost, const struct pyro_prices *prices,
                                 const struct pyro_money_options *options, struct pyro_error *error)
{
    struct bill bill = {.cost = cost, .prices = prices, .options = options, .region = region_of(cost, options)};
    struct pyro_money *money = &cost->money;
    bill.instance = options && options->instance ? pyro_slice_from(options->instance) : cost->place.instance.text;
    bill.driver_instance = options && options->instance ? bill.instance : cost->place.driver_instance.text;
    if (prices->chosen_instance.ptr && !(options && options->instance))
        bill.instance = bill.driver_instance = prices->chosen_instance;
    if (prices->chosen_region.ptr && !(options && options->region))
        bill.region = prices->chosen_region;
    if (!bill.instance.ptr) {
        bill.instance = prices->node_instance;
        bill.driver_instance = prices->driver_instance;
    }
    if (!bill.region.ptr)
        bill.region = prices->node_region;
    *money = (struct pyro_money){.dbu = (double)NAN};
    money->lines = pyro_arena_array(&cost->arena, LINES, sizeof(*money->lines));
    money->missing = pyro_arena_array(&cost->arena, LINES + 2, sizeof(*money->missing));
    money->notes = pyro_arena_array(&cost->arena, NOTES, sizeof(*money->notes));
    if (!money->lines || !money->missing || !money->notes)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the bill");
    PYRO_TRY(check_currency(&bill, error));
    choose(&bill);
    money->known = money->missing_count == 0 && money->line_count > 0 && !cost->settings_unknown;
    cost->money.instance = bill.instance.len ? pyro_arena_copy(&cost->arena, bill.instance) : PYRO_SLICE_NULL;
    if (bill.failed || !share_money(&bill))
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the bill");
    return PYRO_OK;
}
