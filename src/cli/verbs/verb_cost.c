/* pyrometer cost LOG... */
#include "ending.h"
#include "price_options.h"

#include <stdio.h>
#include <string.h>

struct cost {
    const struct cli_call *call;
    struct cli_progress progress;
    struct cli_loading options;
    pyro_inputs *inputs;
    pyro_prices *prices;
    pyro_costs *costs;
    int64_t deadline_ms;
    double interruptions;
    size_t read_count;
    char first_path[512], first_reason[1100]; /* of what could not be read */
    size_t unreadable;
    struct pyro_error error;
};

static enum pyro_status unreadable(struct cost *state, const char *path, const char *reason)
{
    if (state->unreadable++ == 0) {
        snprintf(state->first_path, sizeof(state->first_path), "%s", path);
        snprintf(state->first_reason, sizeof(state->first_reason), "%s", reason);
    }
    return pyro_costs_add_unreadable(state->costs, path, reason, &state->error);
}

static enum pyro_status take_app(void *context, size_t index, pyro_app *app, void *made,
                                 const struct pyro_error *failure, struct pyro_error *error)
{
    struct cost *state = context;
    enum pyro_status status;
    (void)made;
    (void)error; /* state->error, which is the caller's too */
    cli_progress_erase(&state->progress);
    if (cli_stop_signal() != 0)
        status = state->error.code = PYRO_ERROR_CANCELLED;
    else if (failure != NULL)
        status = unreadable(state, pyro_inputs_path(state->inputs, index), failure->message);
    else
        status = pyro_costs_add(state->costs, app, &state->error);
    state->read_count += status == PYRO_OK && failure == NULL;
    cli_progress_start(&state->progress, index + 1, pyro_inputs_count(state->inputs));
    return status;
}

static enum pyro_status add_logs(struct cost *state)
{
    const struct pyro_each_input each = {.size = sizeof(each), .context = state, .take = take_app};
    enum pyro_status status = PYRO_OK;
    for (size_t i = 0; i < pyro_inputs_unreadable_count(state->inputs) && status == PYRO_OK; i++)
        status = unreadable(state, pyro_inputs_unreadable_path(state->inputs, i),
                            pyro_inputs_unreadable_reason(state->inputs, i));
    if (status != PYRO_OK)
        return status;
    cli_progress_start(&state->progress, 0, pyro_inputs_count(state->inputs));
    status = pyro_inputs_each(state->inputs, &state->options.load, &state->options.work, &each, &state->error);
    cli_progress_erase(&state->progress);
    return status;
}

static int take_run(void *context, const struct pyro_past_run *run)
{
    struct cost *state = context;
    return pyro_costs_add_past_run(state->costs, run, &state->error) == PYRO_OK ? 0 : 1;
}

/* What a store knows of earlier runs. */
static enum pyro_status add_history(struct cost *state, const char *url)
{
    pyro_store *store = NULL;
    enum pyro_status status = pyro_store_open(url, NULL, NULL, &store, &state->error);
    if (status == PYRO_OK)
        status = pyro_costs_add_past_run(state->costs, NULL, &state->error);
    if (status == PYRO_OK)
        status = pyro_store_each_run(store, take_run, state, &state->error);
    pyro_store_close(store);
    return status != PYRO_OK ? status : state->error.code;
}

static int run_cost(struct cost *state, enum pyro_format format, const struct pyro_report_options *report,
                    struct cli_output *output)
{
    const struct cli_call *call = state->call;
    struct pyro_cost_options wanted = {.size = sizeof(wanted)};
    wanted.by = cli_value(call, "by");
    wanted.currency = cli_value(call, "currency");
    wanted.instance = cli_value(call, "instance");
    wanted.region = cli_value(call, "region");
    wanted.spot = cli_value(call, "spot") != NULL;
    wanted.deadline_ms = state->deadline_ms;
    wanted.interruptions = state->interruptions;
    enum pyro_status status = cli_prices_open(call, &state->prices, &state->error);
    wanted.prices = state->prices;
    if (status == PYRO_OK)
        status = pyro_costs_new(&wanted, NULL, &state->costs, &state->error);
    if (status == PYRO_OK && cli_store_url(call) != NULL)
        status = add_history(state, cli_store_url(call));
    if (status == PYRO_OK) {
        cli_progress_start(&state->progress, 0, 1);
        status = pyro_inputs_open(call->arguments, call->argument_count, &state->options.load, &state->options.work,
                                  &state->inputs, &state->error);
        cli_progress_erase(&state->progress);
    }
    if (status == PYRO_OK)
        status = add_logs(state);
    if (status != PYRO_OK)
        return cli_failure(&state->error);
    if (state->read_count == 0) {
        if (state->unreadable > 0)
            cli_complain_unreadable(state->first_path, state->first_reason);
        else
            cli_complain("cannot read %s: it has no event log; name a log, or a folder of logs", call->arguments[0]);
        return CLI_EXIT_INPUT;
    }
    struct pyro_writer writer = cli_output_writer(output);
    status = pyro_costs_write(state->costs, format, report, &writer, &state->error);
    return status == PYRO_OK ? CLI_EXIT_OK : cli_failure(&state->error);
}

static int run(const struct cli_call *call)
{
    struct cost state = {.call = call, .error.size = sizeof(state.error)};
    enum pyro_format format;
    struct cli_output output;
    struct pyro_report_options report = {.size = sizeof(report)};
    if (!cli_format_value(call, "format", &format) || !cli_load_options(call, &state.progress, &state.options))
        return CLI_EXIT_USAGE;
    if (cli_value(call, "deadline") != NULL && !cli_time_value(call, "deadline", &state.deadline_ms))
        return CLI_EXIT_USAGE;
    if (cli_value(call, "interruptions") != NULL &&
        !cli_amount_value(call, "interruptions", 1000, &state.interruptions))
        return CLI_EXIT_USAGE;
    if (!cli_width_value(call, &report))
        return CLI_EXIT_USAGE;
    size_t from_stdin = 0;
    for (size_t i = 0; i < call->argument_count; i++)
        from_stdin += strcmp(call->arguments[i], "-") == 0;
    if (from_stdin > 1)
        return cli_usage_error(call->verb, "standard input ('-') can be read only once");
    report.details = cli_value(call, "details") != NULL;
    int status = cli_result_open(call, &output, &report);
    if (status != CLI_EXIT_OK)
        return status;
    status = run_cost(&state, format, &report, &output);
    status = cli_result_close(&output, status);
    pyro_costs_free(state.costs);
    pyro_prices_free(state.prices);
    pyro_inputs_close(state.inputs);
    return status;
}

static const struct cli_option options[] = {
    {"format", 'f', "FORMAT", cli_formats_cost, "text",
     "What to write. JSON is one document, schema pyrometer.cost/1; CSV has one row per group."},
    CLI_OPTION_OUTPUT,
    {"by", 'b', "WHAT", NULL, "application",
     "Sum by application, user, queue, platform, pool, group (of jobs), job, stage, sql, tag:KEY or property:KEY."},
    {"prices", 'p', "FILE...", NULL, NULL,
     "Use the prices of this file. They take precedence over the prices that come with pyrometer (docs/prices.md). May "
     "be given several times."},
    {"currency", 0, "CODE", NULL, NULL, "Show amounts in this currency. A price sheet must give the exchange rate."},
    {"instance", 0, "TYPE", NULL, NULL,
     "Take this instance type for the nodes: where the log does not name one, or to see what another type costs."},
    {"region", 0, "REGION", NULL, NULL, "Use the prices of this region where the log does not name one."},
    {"spot", 0, NULL, NULL, NULL, "Price nodes as spot instances."},
    {"interruptions", 0, "RATE", NULL, NULL,
     "Simulate the run on spot nodes with this many interruptions per node and hour (0.05: one in twenty nodes per "
     "hour). Shows time and cost, including the work that Spark repeats, and the probability of missing the deadline."},
    {"deadline", 0, "TIME", NULL, NULL,
     "The longest time that a recommended run may take (90s, 30m, 2h). Default: 10 % longer than this run."},
    {"store", 's', "URL", NULL, NULL,
     "Recommend reserved capacity from the runs of an application in this store (sqlite:FILE, opensearch:URL). "
     "Default: the "
     "environment variable PYROMETER_STORE."},
    {"details", 'd', NULL, NULL, NULL, "Show every application and every row in the text."},
    CLI_OPTION_THREADS,
    CLI_OPTION_TIMINGS,
    CLI_OPTION_WIDTH,
    CLI_OPTION_COLOR,
    CLI_OPTION_MAX_RECORD,
    CLI_OPTION_NO_LIMITS,
    CLI_OPTION_REDACT,
    CLI_OPTIONS_REMOTE,
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer cost app.zst", "What a run was allocated, how it used that, and what it cost."},
    {"pyrometer cost --by user --format csv spark-events/", "Who spends how much, for a spreadsheet."},
    {"pyrometer cost --instance r5.2xlarge --region us-east-1 app.zst",
     "The price of a run whose log does not name the instance type of the nodes."},
    {"pyrometer cost --prices ours.yaml --by tag:team spark-events/", "By team, at negotiated prices."},
    {"pyrometer cost --interruptions 0.1 --deadline 1h app.zst",
     "Whether spot nodes are good enough if each is interrupted once in ten hours."},
    {0},
};

const struct cli_verb_body cli_verb_cost = {
    .run = run,
    .least = 1,
    .most = SIZE_MAX,
    .options = options,
    .choices = "@files",
    .description =
        "Says what applications were allocated and how they used it. The allocation is the lifetime of each executor x "
        "the cores and memory that Spark requested from the cluster manager, plus the driver. The uses are useful "
        "work, spilling, garbage collection, waiting, speculative and repeated work, and idle time. They add up "
        "exactly, down to jobs, stages, SQL executions and pools.\n\nPrices come from dated price sheets with their "
        "sources. Pyrometer takes platform, region and instance type from the log where the log names them. A price "
        "that is not in any sheet is unknown: the report says which one, and asks for --prices.",
    .examples = examples,
};
