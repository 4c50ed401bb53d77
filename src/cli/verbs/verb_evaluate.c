/* pyrometer evaluate CORPUS */
#include "ending.h"

#include <string.h>

static int run(const struct cli_call *call)
{
    struct cli_progress progress;
    struct cli_loading options;
    struct pyro_error error = {.size = sizeof(error)};
    enum pyro_format format;
    struct cli_output output;
    pyro_store *store = NULL;
    if (!cli_format_value(call, "format", &format) || !cli_load_options(call, &progress, &options))
        return CLI_EXIT_USAGE;
    const char *split = cli_value(call, "split"), *url = cli_store_url(call);
    struct pyro_evaluate_options wanted = {.size = sizeof(wanted)};
    wanted.load = &options.load;
    wanted.split = strcmp(split, "all") == 0 ? NULL : split;
    int status = cli_result_open(call, &output, NULL);
    if (status != CLI_EXIT_OK)
        return status;
    struct pyro_writer writer = cli_output_writer(&output);
    cli_progress_start(&progress, 0, 1);
    enum pyro_status done = url != NULL ? pyro_store_open(url, NULL, NULL, &store, &error) : PYRO_OK;
    wanted.store = store;
    if (done == PYRO_OK)
        done = pyro_evaluate(call->arguments[0], &wanted, &options.work, format, &writer, &error);
    cli_progress_erase(&progress);
    status = cli_result_close_after(&output, done, &error);
    pyro_store_close(store);
    return status;
}

static const struct cli_option options[] = {
    {"format", 'f', "FORMAT", cli_formats_evaluate, "text",
     "What to write. JSON is one document, schema pyrometer.evaluation/1."},
    CLI_OPTION_OUTPUT,
    {"split", 0, "SPLIT", NULL, "all", "Judge only the runs of one split, such as held-out."},
    CLI_OPTION_STORE,
    CLI_OPTION_THREADS,
    CLI_OPTION_TIMINGS,
    CLI_OPTION_MAX_RECORD,
    CLI_OPTION_NO_LIMITS,
    CLI_OPTION_REDACT,
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer evaluate corpus/", "How often each rule is correct, over all labeled runs."},
    {"pyrometer evaluate corpus/ --split held-out -f markdown", "Only on runs that were not used to write the rules."},
    {"pyrometer evaluate corpus/ --store sqlite:runs.db", "Also on feedback that people gave on their own runs."},
    {0},
};

const struct cli_verb_body cli_verb_evaluate = {
    .run = run,
    .least = 1,
    .most = 1,
    .options = options,
    .choices = "@files",
    .description =
        "Diagnoses every run of a corpus and compares the findings with its labels. Per rule: correct findings, false "
        "alarms, misses, precision and recall. Where the corpus also has the fixed run: the predicted saving and the "
        "measured one.\n\nA corpus is a folder with a manifest.json that lists logs, the rules that are expected and "
        "allowed for each log, and whether the run is healthy. Only findings above low severity count. With a store, "
        "verdicts given by 'pyrometer feedback' count as labels.",
    .examples = examples,
};
