/* The section on cost, in the words of a bill. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/cost/cost.h"
#include "text/humanize.h"

void pyro_human_money(struct pyro_strbuf *buffer, int64_t micros, struct pyro_slice currency)
{
    bool negative = micros < 0;
    uint64_t amount = negative ? 0 - (uint64_t)micros : (uint64_t)micros;
    if (!currency.ptr) {
        pyro_strbuf_add_char(buffer, '-');
        return;
    }
    pyro_strbuf_add_text(buffer, negative ? "-" : "");
    if (pyro_slice_is(currency, "USD")) {
        pyro_strbuf_add_char(buffer, '$');
    } else {
        pyro_strbuf_add_slice(buffer, currency);
        pyro_strbuf_add_char(buffer, ' ');
    }
    /* Cents, and below a cent's worth of digits as many as show two figures. */
    uint64_t unit = amount >= 100000 || amount == 0 ? 10000 : amount >= 1000 ? 100 : 1;
    uint64_t rounded = amount / unit + (amount % unit >= unit - amount % unit ? 1 : 0);
    uint64_t scale = 1000000 / unit;
    int decimals = unit == 10000 ? 2 : unit == 100 ? 4 : 6;
    struct pyro_strbuf whole;
    pyro_strbuf_init(&whole, buffer->allocator);
    pyro_human_count(&whole, (int64_t)(rounded / scale));
    pyro_strbuf_add_slice(buffer, pyro_strbuf_slice(&whole));
    buffer->failed |= whole.failed;
    pyro_strbuf_done(&whole);
    pyro_strbuf_printf(buffer, ".%0*llu", decimals, (unsigned long long)(rounded % scale));
}

void pyro_human_hours(struct pyro_strbuf *buffer, double hours)
{
    /* Thousandths as an integer, so that no locale shows. */
    if (!(hours >= 0) || hours > 1e15) {
        pyro_strbuf_add_char(buffer, '-');
        return;
    }
    int64_t thousandths = (int64_t)(hours * 1000 + 0.5);
    if (hours >= 100) {
        pyro_human_count(buffer, (int64_t)(hours + 0.5));
    } else if (hours >= 10) {
        int64_t tenths = (int64_t)(hours * 10 + 0.5);
        pyro_strbuf_printf(buffer, "%lld.%lld", (long long)(tenths / 10), (long long)(tenths % 10));
    } else {
        pyro_strbuf_printf(buffer, "%lld.%03lld", (long long)(thousandths / 1000), (long long)(thousandths % 1000));
    }
}

/* NaN, which is shown as "-": no setting of memory is known. */
static double gib_hours(const struct pyro_cost *cost, const struct pyro_cost_amount *amount)
{
    return cost->settings_unknown ? (double)NAN : pyro_cost_gib_hours(amount);
}

/* "10 x r5.2xlarge = $12.50/run" */
static void add_current(struct pyro_section *section, const struct pyro_cost *cost)
{
    const struct pyro_money *money = &cost->money;
    struct pyro_strbuf *lead = &section->lead;
    pyro_strbuf_add_text(lead, "Current: ");
    for (size_t i = 0; i < money->line_count; i++) {
        pyro_strbuf_add_text(lead, i ? " + " : "");
        pyro_strbuf_add_slice(lead, money->lines[i].text);
    }
    if (money->line_count == 0) {
        pyro_human_hours(lead, pyro_cost_core_hours(&cost->total));
        pyro_strbuf_add_text(lead, " core hours ");
        if (cost->settings_unknown) {
            pyro_strbuf_add_text(lead, "per run, memory unknown, at an unknown price.");
            return;
        }
        pyro_strbuf_add_text(lead, "and ");
        pyro_human_hours(lead, gib_hours(cost, &cost->total));
        pyro_strbuf_add_text(lead, " GiB hours per run, at an unknown price.");
        return;
    }
    pyro_strbuf_add_text(lead, money->known ? " = " : " = at least ");
    pyro_human_money(lead, money->micros, money->currency);
    pyro_strbuf_add_text(lead, "/run");
}

/* "Between $2.10 and $2.80. "; nothing where both read the same. */
static void add_money_range(struct pyro_strbuf *remarks, int64_t low, int64_t high, struct pyro_slice currency)
{
    struct pyro_strbuf from, to;
    pyro_strbuf_init(&from, remarks->allocator);
    pyro_strbuf_init(&to, remarks->allocator);
    pyro_human_money(&from, low, currency);
    pyro_human_money(&to, high, currency);
    remarks->failed |= from.failed || to.failed;
    if (!pyro_slice_eq(pyro_strbuf_slice(&from), pyro_strbuf_slice(&to))) {
        pyro_strbuf_add_text(remarks, "Between ");
        pyro_strbuf_add_slice(remarks, pyro_strbuf_slice(&from));
        pyro_strbuf_add_text(remarks, " and ");
        pyro_strbuf_add_slice(remarks, pyro_strbuf_slice(&to));
        pyro_strbuf_add_text(remarks, ". ");
    }
    pyro_strbuf_done(&from);
    pyro_strbuf_done(&to);
}

/* " = $7.50/run. Savings: $5.00/run (40 %). " */
static void add_amounts(struct pyro_strbuf *remarks, const struct pyro_cost *cost,
                        const struct pyro_cost_advice *advice)
{
    bool less = advice->saves_micros >= 0;
    pyro_strbuf_add_text(remarks, " = ");
    pyro_human_money(remarks, advice->micros, cost->money.currency);
    pyro_strbuf_add_text(remarks, "/run. ");
    if (advice->spot)
        add_money_range(remarks, advice->spot->low_micros, advice->spot->high_micros, cost->money.currency);
    if (advice->saves_micros == 0)
        return;
    pyro_strbuf_add_text(remarks, less ? "Savings: " : "Additional cost: ");
    pyro_human_money(remarks, less ? advice->saves_micros : -advice->saves_micros, cost->money.currency);
    pyro_strbuf_add_text(remarks, "/run (");
    pyro_human_share(remarks, less ? advice->saves_share : -advice->saves_share);
    pyro_strbuf_add_text(remarks, "). ");
}

/* "Recommended: 6 x r5.2xlarge = $7.50/run. Savings: $5.00/run (40 %).", a line each. */
static void add_advice(struct pyro_strbuf *remarks, const struct pyro_cost *cost)
{
    for (size_t i = 0; i < cost->advice_count; i++) {
        const struct pyro_cost_advice *advice = &cost->advice[i];
        if (!advice->text.ptr) {
            pyro_strbuf_add_slice(remarks, advice->safety);
            pyro_strbuf_add_char(remarks, '\n');
            continue;
        }
        if (strcmp(advice->kind, "reserve") == 0) { /* its money is of a month, not of a run */
            pyro_strbuf_add_text(remarks, "Reserved capacity: ");
            pyro_strbuf_add_slice(remarks, advice->text);
            pyro_strbuf_add_text(remarks, ". ");
            pyro_strbuf_add_slice(remarks, advice->safety);
            pyro_strbuf_add_char(remarks, '\n');
            continue;
        }
        pyro_strbuf_add_text(remarks, strcmp(advice->kind, "autoscale") == 0 ? "Autoscaling: "
                                      : advice->spot && !advice->spot->safe  ? "Not recommended: "
                                                                             : "Recommended: ");
        pyro_strbuf_add_slice(remarks, advice->text);
        if (advice->micros != PYRO_NONE) {
            add_amounts(remarks, cost, advice);
        } else if (advice->saves_share > 0) {
            pyro_strbuf_add_text(remarks, ". Savings: ");
            pyro_human_share(remarks, advice->saves_share);
            pyro_strbuf_add_text(remarks, " of the executors' core time. ");
        } else {
            pyro_strbuf_add_text(remarks, ". ");
        }
        pyro_strbuf_add_slice(remarks, advice->safety);
        pyro_strbuf_add_char(remarks, '\n');
    }
}

static void add_parts(struct pyro_grid *grid, const struct pyro_cost *cost)
{
    static const struct pyro_grid_column columns[] = {{"Use", false, 0, false},
                                                      {"Core hours", true, 0, false},
                                                      {"GiB hours", true, 3, false},
                                                      {"Money", true, 1, false},
                                                      {"Share", true, 2, false}};
    int64_t weights[PYRO_COST_PARTS];
    unsigned permille[PYRO_COST_PARTS];
    bool priced = cost->money.line_count > 0;
    for (unsigned i = 0; i < PYRO_COST_PARTS; i++)
        weights[i] = priced ? cost->parts[i].micros : cost->parts[i].core_ms;
    pyro_permille_parts(weights, PYRO_COST_PARTS, permille);
    grid->columns = columns;
    grid->column_count = 5;
    for (unsigned i = 0; i < PYRO_COST_PARTS; i++) {
        const struct pyro_cost_amount *part = &cost->parts[i];
        if (part->core_ms == 0 && part->memory_mib_ms == 0 && part->micros == 0)
            continue;
        for (const char *p = pyro_cost_part_names[i]; *p; p++)
            pyro_strbuf_add_char(&grid->text, *p == '_' ? ' ' : *p);
        pyro_grid_next(grid);
        pyro_human_hours(&grid->text, pyro_cost_core_hours(part));
        pyro_grid_next(grid);
        pyro_human_hours(&grid->text, gib_hours(cost, part));
        pyro_grid_next(grid);
        if (priced)
            pyro_human_money(&grid->text, part->micros, cost->money.currency);
        pyro_grid_next(grid);
        pyro_human_permille(&grid->text, permille[i]);
        pyro_grid_next(grid);
    }
}

static void add_container(struct pyro_strbuf *text, const struct pyro_container *given, bool memory_unknown)
{
    pyro_human_count(text, given->cores < 0 ? 0 : given->cores);
    if (memory_unknown) {
        pyro_strbuf_add_text(text, given->cores == 1 ? " core" : " cores");
        return;
    }
    pyro_strbuf_add_text(text, given->cores == 1 ? " core and " : " cores and ");
    pyro_human_bytes(text, given->container_mib * 1048576);
    if (given->container_mib == given->heap_mib)
        return;
    pyro_strbuf_add_text(text, " (heap ");
    pyro_human_bytes(text, given->heap_mib * 1048576);
    pyro_strbuf_add_text(text, ", overhead ");
    pyro_human_bytes(text, given->overhead_mib * 1048576);
    if (given->offheap_mib) {
        pyro_strbuf_add_text(text, ", off heap ");
        pyro_human_bytes(text, given->offheap_mib * 1048576);
    }
    if (given->pyspark_mib) {
        pyro_strbuf_add_text(text, ", Python ");
        pyro_human_bytes(text, given->pyspark_mib * 1048576);
    }
    pyro_strbuf_add_char(text, ')');
}

static void add_remarks(struct pyro_strbuf *remarks, const struct pyro_cost *cost)
{
    const struct pyro_money *money = &cost->money;
    for (size_t i = 0; i < cost->shape_count && i < 4; i++) {
        pyro_human_count(remarks, cost->shapes[i].executors);
        pyro_strbuf_add_text(remarks, cost->shapes[i].executors == 1 ? " executor of " : " executors of ");
        add_container(remarks, &cost->shapes[i].container, cost->settings_unknown);
        pyro_strbuf_add_text(remarks, ".\n");
    }
    if (cost->has_driver) {
        pyro_strbuf_add_text(remarks, "The driver, ");
        add_container(remarks, &cost->driver, cost->settings_unknown);
        pyro_strbuf_add_text(remarks,
                             cost->client_mode && !cost->settings_unknown ? ", outside the cluster.\n" : ".\n");
    }
    pyro_strbuf_add_text(remarks, "Platform: ");
    pyro_strbuf_add_text(remarks, pyro_platform_name(cost->place.platform));
    pyro_strbuf_add_text(remarks, " (");
    pyro_strbuf_add_slice(remarks, cost->place.reason);
    pyro_strbuf_add_text(remarks, ", confidence ");
    pyro_human_hundredths(remarks, cost->place.confidence);
    pyro_strbuf_add_text(remarks, ").\n");
    for (size_t i = 0; i < money->note_count; i++) {
        pyro_strbuf_add_slice(remarks, money->notes[i]);
        pyro_strbuf_add_char(remarks, '\n');
    }
    for (size_t i = 0; i < money->missing_count; i++) {
        pyro_strbuf_add_text(remarks, "Unknown: ");
        pyro_strbuf_add_slice(remarks, money->missing[i]);
        pyro_strbuf_add_text(remarks, money->prices_missing ? ". Give prices with --prices FILE.\n" : ".\n");
    }
    for (size_t i = 0; i < money->line_count; i++) {
        const struct pyro_cost_line *line = &money->lines[i];
        if (!line->source.ptr)
            continue;
        pyro_strbuf_add_text(remarks, "Price of ");
        pyro_strbuf_add_slice(remarks, line->text);
        pyro_strbuf_add_text(remarks, ": ");
        pyro_strbuf_add_slice(remarks, line->source);
        if (line->dated.ptr) {
            pyro_strbuf_add_text(remarks, ", ");
            pyro_strbuf_add_slice(remarks, line->dated);
        }
        pyro_strbuf_add_text(remarks, ".\n");
    }
}

void pyro_cost_section(struct pyro_section *section, const struct pyro_cost *cost)
{
    section->title = "Cost";
    add_current(section, cost);
    add_parts(&section->grid, cost);
    add_advice(&section->remarks, cost);
    add_remarks(&section->remarks, cost);
}

void pyro_section_money(struct pyro_section *section, const struct pyro_diagnosis *diagnosis,
                        const struct pyro_report_options *options)
{
    (void)options;
    if (!diagnosis->cost)
        return;
    pyro_cost_section(section, diagnosis->cost);
    section->title = "Cost optimization";
}
