/* pyrometer rules [ID] */
#include "ending.h"
#include "loading.h"
#include "result_output.h"

#include <string.h>

/* The index of a rule, by its id. */
static size_t index_of(const char *id)
{
    size_t index = 0;
    while (index < pyro_rules_count() && strcmp(cli_rule(index).id, id) != 0)
        index++;
    return index;
}

/* As people read it: 67108864 bytes are 64 MiB. */
static void put_value(struct cli_output *output, const struct pyro_threshold_info *threshold)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double value = threshold->value;
    if (strcmp(threshold->unit, "bytes") == 0 && value >= 1024) {
        size_t unit = 0;
        for (value /= 1024; value >= 1024 && unit < 3; unit++)
            value /= 1024;
        cli_putf(output, "%.6g %s", value, units[unit]);
    } else if (strcmp(threshold->unit, "share") == 0) {
        cli_putf(output, "%.6g %%", 100 * value);
    } else if (strcmp(threshold->unit, "ratio") == 0) {
        cli_putf(output, "%.6g x", value);
    } else {
        cli_putf(output, "%.15g%s", value, strcmp(threshold->unit, "ms") == 0 ? " ms" : "");
    }
}

static void put_thresholds(struct cli_output *output, size_t rule, const char *id)
{
    size_t count = pyro_rules_threshold_count(rule);
    if (count == 0)
        return;
    struct pyro_threshold_info first = {.size = sizeof(first)};
    cli_filled(pyro_rules_threshold(rule, 0, &first));
    cli_putf(
        output,
        "\n## Thresholds\n\nThe values of this build. A configuration file changes them (rules: {%s: {%s: ...}}).\n\n",
        id, first.name);
    for (size_t i = 0; i < count; i++) {
        struct pyro_threshold_info threshold = {.size = sizeof(threshold)};
        cli_filled(pyro_rules_threshold(rule, i, &threshold));
        cli_putf(output, "- `%s`: ", threshold.name);
        put_value(output, &threshold);
        cli_puts(output, "\n");
        cli_puts(output, "  ");
        cli_put_wrapped(output, threshold.doc, 2, 2, 100);
    }
}

static bool category_was_before(size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(cli_rule(i).category, cli_rule(index).category) == 0)
            return true;
    return false;
}

static void list_text(struct cli_output *output)
{
    for (size_t i = 0; i < pyro_rules_count(); i++) {
        const char *category = cli_rule(i).category;
        if (category_was_before(i))
            continue;
        cli_putf(output, "%s%s:\n", i == 0 ? "" : "\n", category);
        for (size_t k = i; k < pyro_rules_count(); k++) {
            struct pyro_rule_info rule = cli_rule(k);
            if (strcmp(rule.category, category) != 0)
                continue;
            cli_putf(output, "    %-22s ", rule.id);
            cli_put_wrapped(output, rule.summary, 27, 27, 80);
        }
    }
    cli_puts(output, "\n'pyrometer rules ID' explains one of them.\n");
}

static void explain(struct cli_output *output, const struct pyro_rule_info *rule)
{
    const char *page = pyro_rules_page(index_of(rule->id));
    if (*page != '\0')
        cli_puts(output, page);
    else
        cli_putf(output, "# %s\n\n%s\n", rule->title, rule->summary);
    put_thresholds(output, index_of(rule->id), rule->id);
}

static int unknown_rule(const struct cli_call *call)
{
    const char *ids[128];
    size_t count = 0;
    for (; count < pyro_rules_count() && count < sizeof(ids) / sizeof(ids[0]); count++)
        ids[count] = cli_rule(count).id;
    const char *nearest = pyro_nearest(call->arguments[0], ids, count);
    if (nearest != NULL)
        return cli_usage_error(call->verb, "there is no rule '%s'; did you mean '%s'?", call->arguments[0], nearest);
    return cli_usage_error(call->verb, "there is no rule '%s'; 'pyrometer rules' lists them", call->arguments[0]);
}

static int run(const struct cli_call *call)
{
    bool json = strcmp(cli_value(call, "format"), "json") == 0;
    struct pyro_rule_info rule = {0};
    if (call->argument_count == 1) {
        for (size_t i = 0; i < pyro_rules_count() && rule.id == NULL; i++)
            if (strcmp(cli_rule(i).id, call->arguments[0]) == 0)
                rule = cli_rule(i);
        if (rule.id == NULL)
            return unknown_rule(call);
    }
    struct cli_output output;
    int status = cli_output_open(&output, NULL);
    if (status != CLI_EXIT_OK)
        return status;
    struct pyro_writer writer = cli_output_writer(&output);
    struct pyro_error error = {.size = sizeof(error)};
    enum pyro_status written = PYRO_OK;
    if (json)
        written = pyro_rules_write(rule.id, &writer, &error);
    else if (rule.id != NULL)
        explain(&output, &rule);
    else
        list_text(&output);
    return cli_result_close_after(&output, written, &error);
}

static const struct cli_option options[] = {
    {"format", 'f', "FORMAT", cli_formats_rules, "text", "How to write it."},
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer rules", "All rules by category, each with its meaning."},
    {"pyrometer rules data-skew", "What one rule means, what it needs, and how to fix what it finds."},
    {0},
};

const struct cli_verb_body cli_verb_rules = {
    .run = run,
    .most = 1,
    .options = options,
    .choices = "@rules",
    .description =
        "Lists the rules that 'pyrometer diagnose' applies, or prints the page of one rule: its meaning, how to see "
        "it, how to fix it, when it does not apply, its thresholds with their sources, and its formula.",
    .examples = examples,
};
