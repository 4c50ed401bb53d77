/* pyrometer export LOG --anonymized */
#include "ending.h"

#include <inttypes.h>

static int export_log(const struct cli_call *call, const struct cli_loading *options, struct cli_progress *progress,
                      struct cli_output *output)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_export_counts counts = {.size = sizeof(counts)};
    pyro_inputs *inputs = NULL;
    int status = cli_open_one(call, call->arguments[0], options, progress, &inputs);
    if (status != CLI_EXIT_OK)
        return status;
    struct pyro_writer writer = cli_output_writer(output);
    enum pyro_status done = pyro_export_anonymized(inputs, 0, &options->load, &options->work, &writer, &counts, &error);
    cli_progress_erase(progress);
    pyro_inputs_close(inputs);
    if (done != PYRO_OK)
        return cli_failure(&error);
    if (counts.left_out > 0)
        cli_complain("%" PRIu64 " records written; %" PRIu64
                     " left out: damaged events, and events that Spark does not define",
                     counts.records, counts.left_out);
    return CLI_EXIT_OK;
}

static int run(const struct cli_call *call)
{
    struct cli_progress progress;
    struct cli_loading options;
    struct cli_output output;
    if (cli_value(call, "anonymized") == NULL)
        return cli_usage_error(call->verb, "say what to export: --anonymized");
    if (!cli_load_options(call, &progress, &options))
        return CLI_EXIT_USAGE;
    int status = cli_result_open(call, &output, NULL);
    if (status != CLI_EXIT_OK)
        return status;
    status = export_log(call, &options, &progress, &output);
    return cli_result_close(&output, status);
}

static const struct cli_option options[] = {
    {"anonymized", 0, NULL, NULL, NULL,
     "Write the log without names, paths, queries and hosts. Numbers, structure and Spark's own words stay."},
    CLI_OPTION_OUTPUT,
    CLI_OPTION_THREADS,
    CLI_OPTION_TIMINGS,
    CLI_OPTION_MAX_RECORD,
    CLI_OPTION_NO_LIMITS,
    CLI_OPTION_REDACT,
    CLI_OPTIONS_REMOTE,
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer export LOG --anonymized -o shared.log", "A plain event log that can be shared. Check it first."},
    {"pyrometer export LOG --anonymized | zstd -o shared.zst", "The same, compressed."},
    {0},
};

const struct cli_verb_body cli_verb_export = {
    .run = run,
    .least = 1,
    .most = 1,
    .options = options,
    .choices = "@files",
    .description =
        "Writes a copy of an event log that can be shown to others. Every word that is not part of the vocabulary of "
        "Spark, Java, Python or SQL is replaced, the same word always by the same replacement. Literals in queries, "
        "hosts and long numbers in texts are replaced too. Measured numbers, times and the structure of jobs, stages "
        "and plans stay, so that the diagnosis stays the same.\n\nEvents that Spark does not define are left out. Row "
        "counts and sizes stay: if these are secret, do not share the log.",
    .examples = examples,
};
