/* trace analyze: what traces say of threads and tasks. */
#include "ending.h"
#include "loading.h"
#include "result_output.h"
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct analyzing {
    struct cli_loading loading;
    struct cli_progress progress;
    struct pyro_report_options report;
    pyro_inputs *inputs;
    pyro_app *app;
    pyro_diagnosis *diagnosis;
};

static bool take_options(const struct cli_call *call, struct analyzing *analyzing)
{
    if (!cli_load_options(call, &analyzing->progress, &analyzing->loading) ||
        !cli_width_value(call, &analyzing->report) ||
        (cli_value(call, "tz") != NULL && !cli_offset_value(call, "tz", &analyzing->report.utc_offset_s)))
        return false;
    analyzing->loading.load.artefacts = 1; /* event logs may lie deeper in the folder */
    analyzing->report.details = cli_value(call, "details") != NULL;
    return true;
}

/* Whether a file is perf's own, and not yet a trace. */
static bool is_perf_data(const char *path)
{
    static const char magic[] = "PERFILE2";
    char head[sizeof(magic) - 1];
    FILE *file = fopen(path, "rbe");
    bool found = file != NULL && fread(head, sizeof(head), 1, file) == 1 && memcmp(head, magic, sizeof(head)) == 0;
    if (file != NULL)
        fclose(file);
    return found;
}

static int refuse_perf_data(const struct cli_call *call)
{
    for (size_t i = 1; i < call->argument_count; i++) {
        if (!is_perf_data(call->arguments[i]))
            continue;
        cli_complain("%s: is a file of perf; make a trace of it, then name its folder: perf data convert --force "
                     "--to-ctf=FOLDER -i %s",
                     call->arguments[i], call->arguments[i]);
        return CLI_EXIT_INPUT;
    }
    return CLI_EXIT_OK;
}

static int read_paths(const struct cli_call *call, struct analyzing *analyzing)
{
    struct pyro_error error = {.size = sizeof(error)};
    size_t count = call->argument_count - 1;
    const char **paths = calloc(count + 1, sizeof(*paths));
    if (paths == NULL)
        return cli_complain("no memory left"), CLI_EXIT_OUTPUT;
    memcpy(paths, call->arguments + 1, count * sizeof(*paths));
    if (cli_value(call, "log") != NULL)
        paths[count++] = cli_value(call, "log");
    int loaded = cli_load_run(call, paths, count, &analyzing->loading, &analyzing->progress, &analyzing->inputs,
                              &analyzing->app);
    free(paths);
    if (loaded != CLI_EXIT_OK)
        return loaded;
    if (analyzing->app != NULL &&
        pyro_diagnose(analyzing->app, NULL, &analyzing->loading.work, &analyzing->diagnosis, &error) != PYRO_OK)
        return cli_failure(&error);
    return CLI_EXIT_OK;
}

static int write_trace(const struct cli_call *call, struct analyzing *analyzing, enum pyro_format format)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct cli_output output;
    int status = cli_result_open(call, &output, &analyzing->report);
    if (status != CLI_EXIT_OK)
        return status;
    struct pyro_writer writer = cli_output_writer(&output);
    enum pyro_status done = pyro_trace_write(analyzing->inputs, analyzing->diagnosis, &analyzing->report, format,
                                             &analyzing->loading.work, &writer, &error);
    return cli_result_close_after(&output, done, &error);
}

int cli_trace_analyze(const struct cli_call *call)
{
    struct analyzing analyzing = {.report.size = sizeof(analyzing.report)};
    enum pyro_format format = PYRO_FORMAT_TEXT;
    if (call->argument_count < 2)
        return cli_usage_error(call->verb, "analyze needs the folder of a trace, or one that has some in it");
    if ((cli_value(call, "format") != NULL && !cli_format_value(call, "format", &format)) ||
        !take_options(call, &analyzing))
        return CLI_EXIT_USAGE;
    int status = refuse_perf_data(call);
    if (status != CLI_EXIT_OK)
        return status;
    cli_catch_signals();
    status = read_paths(call, &analyzing);
    if (status == CLI_EXIT_OK)
        status = write_trace(call, &analyzing, format);
    pyro_diagnosis_free(analyzing.diagnosis);
    pyro_app_release(analyzing.app);
    pyro_inputs_close(analyzing.inputs);
    return status;
}
