/* pyrometer compare BEFORE AFTER */
#include "config_options.h"
#include "ending.h"
#include "one_log.h"

#include <string.h>

static int compare(const struct cli_call *call, const struct cli_loading *options, struct cli_progress *progress,
                   enum pyro_format format, const struct pyro_report_options *report, struct cli_output *output)
{
    struct cli_log logs[2] = {{0}};
    struct pyro_error error = {.size = sizeof(error)};
    pyro_comparison *comparison = NULL;
    pyro_config *config = NULL;
    int status = cli_config_open(call, &config);
    for (size_t i = 0; i < 2 && status == CLI_EXIT_OK; i++)
        status = cli_log_open(call, call->arguments[i], options, config, progress, &logs[i]);
    cli_progress_erase(progress);
    if (status == CLI_EXIT_OK) {
        struct pyro_writer writer = cli_output_writer(output);
        enum pyro_status done = pyro_compare(logs[0].diagnosis, logs[1].diagnosis, NULL, &comparison, &error);
        if (done == PYRO_OK)
            done = pyro_comparison_write(comparison, format, report, &writer, &error);
        if (done != PYRO_OK)
            status = cli_failure(&error);
    }
    pyro_comparison_free(comparison);
    cli_log_close(&logs[0]);
    cli_log_close(&logs[1]);
    pyro_config_free(config);
    return status;
}

static int run(const struct cli_call *call)
{
    enum pyro_format format;
    struct cli_progress progress;
    struct cli_loading options;
    struct cli_output output;
    struct pyro_report_options report = {.size = sizeof(report)};
    if (!cli_format_value(call, "format", &format) || !cli_load_options(call, &progress, &options) ||
        !cli_offset_value(call, "tz", &report.utc_offset_s))
        return CLI_EXIT_USAGE;
    if (!cli_width_value(call, &report))
        return CLI_EXIT_USAGE;
    if (strcmp(call->arguments[0], "-") == 0 && strcmp(call->arguments[1], "-") == 0)
        return cli_usage_error(call->verb, "standard input ('-') can be read only once");
    report.details = cli_value(call, "details") != NULL;
    int status = cli_result_open(call, &output, &report);
    if (status != CLI_EXIT_OK)
        return status;
    status = compare(call, &options, &progress, format, &report, &output);
    return cli_result_close(&output, status);
}

static const struct cli_option options[] = {
    {"format", 'f', "FORMAT", cli_formats_compare, "text",
     "What to write. JSON is one document, schema pyrometer.comparison/1."},
    CLI_OPTION_OUTPUT,
    CLI_OPTION_THREADS,
    CLI_OPTION_TIMINGS,
    {"tz", 0, "OFFSET", NULL, "UTC",
     "Show times at this offset from UTC (+HH:MM, -HH:MM), or in the time zone of this machine (local). JSON is always "
     "UTC."},
    CLI_OPTION_WIDTH,
    CLI_OPTION_COLOR,
    {"details", 'd', NULL, NULL, NULL, "List every stage, SQL execution and setting that differs."},
    CLI_OPTION_CONFIG,
    CLI_OPTION_SUPPRESS,
    CLI_OPTION_MAX_RECORD,
    CLI_OPTION_NO_LIMITS,
    CLI_OPTION_REDACT,
    CLI_OPTIONS_REMOTE,
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer compare yesterday.zst today.zst", "What changed since yesterday, and why the run takes longer."},
    {"pyrometer compare --format markdown main.zst branch.zst", "The same for a pull request."},
    {"pyrometer compare -f json before after | jq '.causes[:3]'", "The three largest causes, for a program."},
    {0},
};

const struct cli_verb_body cli_verb_compare = {
    .run = run,
    .least = 2,
    .most = 2,
    .options = options,
    .choices = "@files",
    .description = "Compares two runs of one application and says why the second run took more or less time. The "
                   "difference in wall time is attributed to causes (the amount of data, slots, garbage collection, "
                   "the driver, waiting for executors, new stages, ...). The causes add up exactly to the difference, "
                   "and each names the stage or call site with its largest share. The report then compares the time "
                   "account, amounts, stages, findings, plans and settings.\n\nBEFORE and AFTER are inputs that "
                   "'pyrometer diagnose' reads, each with one application; one of them may be '-'. A slower run is not "
                   "an error: the exit status is 0. To fail on a slower run, use 'pyrometer gate --baseline'.",
    .examples = examples,
};
