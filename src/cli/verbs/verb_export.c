/* pyrometer export LOG --anonymized | --to FORM | --features ROWS */
#include "ending.h"
#include "one_log.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

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

static int export_telemetry(const struct cli_call *call, const struct cli_loading *options,
                            struct cli_progress *progress, enum pyro_telemetry form, struct cli_output *output)
{
    struct pyro_error error = {.size = sizeof(error)};
    pyro_app *app = NULL;
    int status = cli_load_one(call, call->arguments[0], options, progress, &app);
    struct pyro_writer writer = cli_output_writer(output);
    if (status == CLI_EXIT_OK && pyro_export_telemetry(app, form, &options->work, &writer, &error) != PYRO_OK)
        status = cli_failure(&error);
    pyro_app_release(app);
    return status;
}

static int send(const struct cli_call *call, const struct cli_loading *options, struct cli_progress *progress,
                const char *form)
{
    struct pyro_error error = {.size = sizeof(error)};
    pyro_app *app = NULL;
    if (form == NULL || strcmp(form, "otlp") != 0)
        return cli_usage_error(call->verb, "--endpoint needs --to otlp");
    int status = cli_load_one(call, call->arguments[0], options, progress, &app);
    if (status == CLI_EXIT_OK &&
        pyro_send_telemetry(app, cli_value(call, "endpoint"), &options->work, &error) != PYRO_OK)
        status = cli_failure(&error);
    cli_progress_erase(progress);
    pyro_app_release(app);
    return status;
}

static int export_features(const struct cli_call *call, const struct cli_loading *options,
                           struct cli_progress *progress, const char *rows, struct cli_output *output)
{
    struct pyro_error error = {.size = sizeof(error)};
    enum pyro_features_of of = strcmp(rows, "tasks") == 0 ? PYRO_FEATURES_TASKS : PYRO_FEATURES_STAGES;
    pyro_app *app = NULL;
    int status = cli_load_one(call, call->arguments[0], options, progress, &app);
    struct pyro_writer writer = cli_output_writer(output);
    if (status == CLI_EXIT_OK && pyro_features_write(app, of, &options->work, &writer, &error) != PYRO_OK)
        status = cli_failure(&error);
    pyro_app_release(app);
    return status;
}

/* A form that is a folder: there is no output that could be a pipe. */
static int export_folder(const struct cli_call *call, const struct cli_loading *options, struct cli_progress *progress)
{
    struct pyro_error error = {.size = sizeof(error)};
    const char *folder = cli_value(call, "output");
    struct cli_log log = {0};
    if (folder == NULL || folder[0] == '\0' || strcmp(folder, "-") == 0)
        return cli_usage_error(call->verb, "--to trace-compass writes a folder: name it with -o");
    cli_catch_signals();
    int status = cli_log_open(call, call->arguments[0], options, NULL, progress, &log);
    cli_progress_erase(progress);
    if (status == CLI_EXIT_OK && !cli_folder_make(folder)) {
        cli_complain("cannot make %s: %s", folder, strerror(errno));
        status = CLI_EXIT_OUTPUT;
    }
    if (status == CLI_EXIT_OK &&
        pyro_trace_compass_write(log.app, log.diagnosis, folder, &options->work, &error) != PYRO_OK)
        status = cli_failure(&error);
    cli_log_close(&log);
    return status;
}

static enum pyro_telemetry form_of(const char *name)
{
    enum pyro_telemetry form = PYRO_TELEMETRY_OTLP;
    while (pyro_telemetry_name(form) != NULL && strcmp(pyro_telemetry_name(form), name) != 0)
        form++;
    return form; /* the option takes no other name */
}

static int run(const struct cli_call *call)
{
    struct cli_progress progress;
    struct cli_loading options;
    struct cli_output output;
    const char *form = cli_value(call, "to"), *features = cli_value(call, "features");
    bool anonymized = cli_value(call, "anonymized") != NULL;
    if (anonymized + (form != NULL) + (features != NULL) != 1)
        return cli_usage_error(call->verb, "say what to export: --anonymized, --to and a form, or --features and rows");
    if (!cli_load_options(call, &progress, &options))
        return CLI_EXIT_USAGE;
    if (cli_value(call, "endpoint") != NULL)
        return send(call, &options, &progress, form);
    /* What traces of the kernel recorded is part of these. */
    enum pyro_telemetry to = form != NULL ? form_of(form) : PYRO_TELEMETRY_OTLP;
    options.load.artefacts = features != NULL || to == PYRO_TELEMETRY_PERFETTO || to == PYRO_TELEMETRY_TRACE_COMPASS;
    if (to == PYRO_TELEMETRY_TRACE_COMPASS)
        return export_folder(call, &options, &progress);
    int status = cli_result_open(call, &output, NULL);
    if (status != CLI_EXIT_OK)
        return status;
    status = anonymized         ? export_log(call, &options, &progress, &output)
             : features != NULL ? export_features(call, &options, &progress, features, &output)
                                : export_telemetry(call, &options, &progress, to, &output);
    return cli_result_close(&output, status);
}

static const struct cli_option options[] = {
    {"anonymized", 0, NULL, NULL, NULL,
     "Write the log without names, paths, queries and hosts. Numbers, structure and Spark's own words stay."},
    {"to", 0, "FORM", "otlp prometheus perfetto trace-compass", NULL,
     "Write the application for another tool: spans, events and metrics as OTLP in JSON (otlp), metrics over time as "
     "OpenMetrics (prometheus), spans and states of threads as a trace for ui.perfetto.dev (perfetto), or a folder for "
     "Eclipse Trace Compass (trace-compass), which -o names."},
    {"endpoint", 0, "URL", NULL, NULL,
     "Send it to a collector of OpenTelemetry instead, by HTTP: its address without /v1/traces. With --to otlp."},
    {"features", 0, "ROWS", "tasks stages", NULL,
     "Write numbers for statistics and machine learning as CSV (docs/features.md): a row for each task (tasks) or "
     "stage "
     "attempt (stages)."},
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
    {"pyrometer export LOG --to otlp -o spans.jsonl",
     "Spans, events and metrics for a collector's otlpjsonfile receiver."},
    {"pyrometer export LOG --to otlp --endpoint http://localhost:4318", "The same, to a collector."},
    {"pyrometer export LOG --to perfetto -o run.pftrace", "A trace for ui.perfetto.dev."},
    {"pyrometer export RUN --to trace-compass -o run.tc",
     "A trace with an analysis for Eclipse Trace Compass, of a run that 'pyrometer trace record' recorded."},
    {"pyrometer export RUN --features tasks -o tasks.csv", "Numbers of each task, also from traces of the kernel."},
    {"pyrometer export LOG --to prometheus -o run.om",
     "Then: promtool tsdb create-blocks-from openmetrics run.om DATA"},
    {0},
};

const struct cli_verb_body cli_verb_export = {
    .run = run,
    .least = 1,
    .most = 1,
    .options = options,
    .choices = "@files",
    .description =
        "With --to, writes an application in the form of another tool, as the Spark plugin sends a running one: the "
        "same names and ids, so that what is exported twice is one. If LOG is a folder that also has traces of the "
        "kernel, perfetto and trace-compass show what the threads of tasks did.\n\n"
        "With --features, writes what the log and these traces say of each task or stage as a table of numbers.\n\n"
        "With --anonymized, writes a copy of an event log that can be shown to others. Every word that is not part of "
        "the vocabulary of Spark, Java, Python or SQL is replaced, the same word always by the same replacement. "
        "Literals in queries, "
        "hosts and long numbers in texts are replaced too. Measured numbers, times and the structure of jobs, stages "
        "and plans stay, so that the diagnosis stays the same.\n\nEvents that Spark does not define are left out. Row "
        "counts and sizes stay: if these are secret, do not share the log.",
    .examples = examples,
};
