/* pyrometer fleet VIEW STORE */
#include "ending.h"
#include "fleet_model.h"
#include "price_options.h"

#include <stdio.h>
#include <string.h>

enum { LIST_MAX = 64 };

struct fleet {
    struct pyro_fleet_options wanted;
    const char *tags[LIST_MAX], *max[LIST_MAX];
    const char *view, *url;
};

static bool take_list(const struct cli_call *call, const char *name, const char **list, size_t *ret_count)
{
    const char *value;
    for (size_t i = 0; (value = cli_repeated_value(call, name, i)) != NULL; i++) {
        if (i == LIST_MAX) {
            cli_usage_error(call->verb, "--%s may be given %d times", name, LIST_MAX);
            return false;
        }
        list[i] = value;
        *ret_count = i + 1;
    }
    return true;
}

static bool take_options(const struct cli_call *call, struct fleet *fleet)
{
    struct pyro_fleet_options *wanted = &fleet->wanted;
    *wanted = (struct pyro_fleet_options){.size = sizeof(*wanted), .tags = fleet->tags, .max = fleet->max};
    const char *name, **place;
    for (size_t i = 0; (place = pyro_fleet_option(wanted, i, &name)) != NULL; i++)
        *place = cli_value_if_known(call, name);
    fleet->view = call->arguments[0];
    fleet->url = call->argument_count > 1 ? call->arguments[1] : cli_store_url(call);
    if (call->argument_count > 1 && cli_value(call, "store") != NULL) {
        cli_usage_error(call->verb, "the store is given twice: as STORE and with --store");
        return false;
    }
    if (fleet->url == NULL) {
        cli_usage_error(call->verb, "there is no store: name it (sqlite:FILE), or set PYROMETER_STORE");
        return false;
    }
    return take_list(call, "tag", fleet->tags, &wanted->tag_count) &&
           take_list(call, "max", fleet->max, &wanted->max_count);
}

/* Prices are read only for the views that have money. */
static enum pyro_status write_view(const struct cli_call *call, struct fleet *fleet, enum pyro_format format,
                                   const struct pyro_report_options *report, struct cli_output *output,
                                   struct pyro_error *error)
{
    pyro_store *store = NULL;
    pyro_prices *prices = NULL;
    const struct pyro_store_options how = {.size = sizeof(how), .redaction = cli_redaction(call), .read_only = 1};
    struct cli_progress progress = {0};
    struct pyro_options work = {.size = sizeof(work), .progress = cli_progress_callback, .progress_context = &progress};
    struct pyro_writer writer = cli_output_writer(output);
    enum pyro_status status = pyro_store_open(fleet->url, &how, NULL, &store, error);
    if (status == PYRO_OK && pyro_fleet_view_takes(fleet->view, "prices"))
        status = cli_prices_open(call, &prices, error);
    fleet->wanted.prices = prices;
    if (status == PYRO_OK)
        status = pyro_fleet_view(store, fleet->view, &fleet->wanted, format, report, &work, &writer, error);
    pyro_prices_free(prices);
    pyro_store_close(store);
    return status;
}

static int run(const struct cli_call *call)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_report_options report = {.size = sizeof(report)};
    struct fleet fleet;
    struct cli_output output;
    enum pyro_format format;
    if (strcmp(call->arguments[0], "model") == 0)
        return cli_fleet_model(call);
    if (call->argument_count > 2)
        return cli_usage_error(call->verb, "give one view and one store");
    if (!cli_format_value(call, "format", &format) || !take_options(call, &fleet) || !cli_width_value(call, &report))
        return CLI_EXIT_USAGE;
    int status = cli_result_open(call, &output, &report);
    if (status != CLI_EXIT_OK)
        return status;
    enum pyro_status done = write_view(call, &fleet, format, &report, &output, &error);
    return cli_result_close_after(&output, done, &error);
}

static const struct cli_option options[] = {
    {"format", 'f', "FORMAT", cli_formats_fleet, "text",
     "What to write. JSON is one document, schema pyrometer.fleet_VIEW/1; CSV is the first table."},
    CLI_OPTION_OUTPUT,
    {"store", 's', "URL", NULL, NULL,
     "Read this store (sqlite:FILE, opensearch:URL) if there is no STORE. Default: the environment variable "
     "PYROMETER_STORE."},
    {"app", 'a', "NAME", NULL, NULL, NULL},
    {"user", 'u', "NAME", NULL, NULL, NULL},
    {"since", 0, "TIME", NULL, NULL, NULL},
    {"until", 0, "TIME", NULL, NULL, NULL},
    {"tag", 't', "KEY=VALUE...", NULL, NULL, NULL},
    {"max", 'm', "FIELD=N...", NULL, NULL, NULL},
    {"by", 'b', "FIELD", NULL, NULL, NULL},
    {"value", 0, "FIELD", NULL, NULL, NULL},
    {"before", 0, "VALUE", NULL, NULL, NULL},
    {"after", 0, "VALUE", NULL, NULL, NULL},
    {"at", 0, "TIME", NULL, NULL, NULL},
    {"prices", 'p', "FILE...", NULL, NULL,
     "waste, adoption: use the prices of this file. They take precedence over the prices that come with pyrometer."},
    {"instance", 0, "TYPE", NULL, NULL, NULL},
    {"region", 0, "REGION", NULL, NULL, NULL},
    {"currency", 0, "CODE", NULL, NULL, NULL},
    CLI_OPTION_WIDTH,
    CLI_OPTION_COLOR,
    CLI_OPTION_REDACT,
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer fleet usage sqlite:runs.db --by user --since 30d", "Who used how many cores in the last 30 days."},
    {"pyrometer fleet runs sqlite:runs.db --app daily-report",
     "The trend of one application, its outliers and lasting changes."},
    {"pyrometer fleet findings sqlite:runs.db", "Which findings cost most, over all runs."},
    {"pyrometer fleet waste sqlite:runs.db --by queue --instance m5.xlarge --format csv",
     "Core hours and money without use, for a spreadsheet."},
    {"pyrometer fleet histogram sqlite:runs.db --value input_bytes --max duration_ms=600000",
     "The input of runs of up to ten minutes."},
    {"pyrometer fleet model daily-report sqlite:runs.db",
     "Which model predicts the run time of one application best, and how far it is off."},
    {"pyrometer fleet compare sqlite:runs.db --app daily-report --by spark.sql.adaptive.enabled",
     "Whether a setting made runs faster, and what else differs."},
    {0},
};

static const char *option_help(const char *option)
{
    return pyro_fleet_option_meaning(strcmp(option, "tag") == 0 ? "tags" : option);
}

/* The views of the library, and the model of one application. */
static const char *view_word(size_t index, const char **ret_meaning)
{
    const char *name = pyro_fleet_view_name(index);
    *ret_meaning = pyro_fleet_view_meaning(index);
    if (name == NULL && pyro_fleet_view_name(index - 1) != NULL) {
        name = "model";
        *ret_meaning = "models of the run time of one application";
    }
    return name;
}

const struct cli_verb_body cli_verb_fleet = {
    .run = run,
    .least = 1,
    .most = 3,
    .options = options,
    .choices = "@files",
    .option_help = option_help,
    .word = view_word,
    .words_title = "Views",
    .description =
        "Shows what the runs of a store have in common. VIEW is one of those below, or model APP.\n\nSTORE is where "
        "'pyrometer diagnose --store' and 'pyrometer crawl' keep runs. Each view says which "
        "questions it asked the store, and works on any number of runs.",
    .examples = examples,
};
