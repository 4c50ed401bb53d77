/* pyrometer gate LOG */
#include "config_options.h"
#include "ending.h"
#include "one_log.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gate_call {
    const struct cli_call *call;
    enum pyro_format format;
    struct cli_progress progress;
    struct cli_loading options;
    struct pyro_report_options report;
    struct pyro_gate_options gate;
    pyro_config *config;
    pyro_store *store; /* NULL: none was named */
};

/* The log of the run that bears a name in the store, to be freed; NULL: what is wrong was said, *ret_status is how to
 * exit. */
static char *find_in_store(const struct gate_call *state, const char *name, int *ret_status)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_baseline found = {.size = sizeof(found)};
    char *path = NULL;
    *ret_status = CLI_EXIT_INPUT;
    if (pyro_store_baseline(state->store, name, &found, &error) != PYRO_OK)
        *ret_status = cli_failure(&error);
    else if (found.path == NULL)
        cli_complain("cannot read %s: no such file, and no run in the store has this name; 'pyrometer diagnose LOG "
                     "--store ... --name %s' gives a run this name",
                     name, name);
    else if (access(found.path, F_OK) != 0)
        cli_complain("cannot read %s: the run '%s' was recorded from this log, which no longer exists", found.path,
                     name);
    else
        path = strdup(found.path);
    return path;
}

/* Opens a log; what was said of its findings before holds here too. */
static int open_log(struct gate_call *state, const char *path, struct cli_log *ret)
{
    struct pyro_error error = {.size = sizeof(error)};
    int status = cli_log_open(state->call, path, &state->options, state->config, &state->progress, ret);
    if (status == CLI_EXIT_OK && state->store != NULL &&
        pyro_store_apply_feedback(state->store, ret->diagnosis, &error) != PYRO_OK)
        status = cli_failure(&error);
    return status;
}

/* The run that --baseline names: a log, "-", or a name in the store. Exit status; what is wrong was said. */
static int open_baseline(struct gate_call *state, const char *name, struct cli_log *ret)
{
    bool is_log = strcmp(name, "-") == 0 || access(name, F_OK) == 0;
    if (!is_log && state->store == NULL) {
        cli_complain("cannot read %s: no such file; --baseline takes the log of an earlier run, or with --store the "
                     "name of one",
                     name);
        return CLI_EXIT_INPUT;
    }
    int status = CLI_EXIT_OK;
    char *found = is_log ? NULL : find_in_store(state, name, &status);
    if (is_log || found != NULL)
        status = open_log(state, found != NULL ? found : name, ret);
    free(found);
    return status;
}

/* Severities in the order of enum pyro_severity. */
static int severity_of(const char *name)
{
    static const char *const names[] = {"low", "moderate", "severe", "critical"};
    for (int i = 0; i < 4; i++)
        if (name != NULL && strcmp(name, names[i]) == 0)
            return i + 1;
    return 0;
}

/* A share: "10%", "0.1". */
static bool parse_tolerance(const struct cli_call *call, double *ret)
{
    const char *text = cli_value(call, "tolerance");
    char *end;
    double value = strtod(text, &end);
    bool percent = end != text && *end == '%';
    if (end == text || end[percent ? 1 : 0] != '\0' || !(value >= 0 && value <= 1000)) {
        cli_usage_error(call->verb, "--tolerance cannot be '%s'; it is a share such as 10%% or 0.1", text);
        return false;
    }
    value = percent ? value / 100 : value;
    *ret = value > 0 ? value : -1;
    return true;
}

static bool parse(struct gate_call *state)
{
    const struct cli_call *call = state->call;
    const char *baseline = cli_value(call, "baseline");
    state->report = (struct pyro_report_options){.size = sizeof(state->report)};
    state->gate = (struct pyro_gate_options){.size = sizeof(state->gate),
                                             .fail_on = severity_of(cli_value(call, "fail-on")),
                                             .budget = cli_value(call, "budget"),
                                             .allow_incomplete = cli_value(call, "allow-incomplete") != NULL};
    if (!cli_format_value(call, "format", &state->format) ||
        !cli_load_options(call, &state->progress, &state->options) || !parse_tolerance(call, &state->gate.tolerance))
        return false;
    if (state->gate.fail_on == 0 && state->gate.budget == NULL && baseline == NULL) {
        cli_usage_error(call->verb, "say what to fail on: --fail-on, --budget or --baseline");
        return false;
    }
    if (baseline != NULL && strcmp(baseline, "-") == 0 && strcmp(call->arguments[0], "-") == 0) {
        cli_usage_error(call->verb, "standard input ('-') can be read only once");
        return false;
    }
    return true;
}

/* Exit status: CLI_EXIT_OK, CLI_EXIT_GATE, or of a failure. */
static int check(struct gate_call *state, struct cli_output *output)
{
    const char *baseline = cli_value(state->call, "baseline");
    struct cli_log log = {0}, before = {0};
    struct pyro_error error = {.size = sizeof(error)};
    pyro_gate *gate = NULL;
    const char *url = cli_store_url(state->call);
    int status = cli_config_open(state->call, &state->config);
    if (status == CLI_EXIT_OK && url != NULL && pyro_store_open(url, NULL, NULL, &state->store, &error) != PYRO_OK)
        status = cli_failure(&error);
    if (status == CLI_EXIT_OK)
        status = open_log(state, state->call->arguments[0], &log);
    if (status == CLI_EXIT_OK && baseline != NULL)
        status = open_baseline(state, baseline, &before);
    cli_progress_erase(&state->progress);
    if (status == CLI_EXIT_OK) {
        struct pyro_writer writer = cli_output_writer(output);
        state->gate.baseline = before.diagnosis;
        enum pyro_status done = pyro_gate_run(log.diagnosis, &state->gate, &gate, &error);
        if (done == PYRO_OK)
            done = pyro_gate_write(gate, state->format, &state->report, &writer, &error);
        status = done != PYRO_OK ? cli_failure(&error) : pyro_gate_passed(gate) ? CLI_EXIT_OK : CLI_EXIT_GATE;
    }
    pyro_gate_free(gate);
    cli_log_close(&log);
    cli_log_close(&before);
    pyro_store_close(state->store);
    pyro_config_free(state->config);
    return status;
}

static int run(const struct cli_call *call)
{
    struct gate_call state = {.call = call};
    struct cli_output output;
    if (!parse(&state))
        return CLI_EXIT_USAGE;
    int status = cli_result_open(call, &output, &state.report);
    if (status != CLI_EXIT_OK)
        return status;
    return cli_result_close(&output, check(&state, &output));
}

static const struct cli_option options[] = {
    {"fail-on", 0, "SEVERITY", "low moderate severe critical", NULL,
     "Fail if the run has a finding of this severity or worse, or if the application failed."},
    {"budget", 'b', "FILE", NULL, NULL,
     "Fail if the run exceeds a limit in FILE (YAML or JSON): wall, core_time, spill, memory_spill, input, output, "
     "shuffle, shuffle_read, shuffle_write, gc_share, failures, failed_tasks, failed_stages, failed_jobs, findings, "
     "tolerance."},
    CLI_OPTION_STORE,
    {"baseline", 0, "LOG|NAME", NULL, NULL,
     "Fail if the run is worse than this one (a log, or the name of a run in the store) by more than the tolerance: "
     "wall, core_time, spill, shuffle, gc_share, failures, or a new finding above low severity."},
    {"tolerance", 0, "SHARE", NULL, "10%",
     "How much the run may exceed its baseline. The tolerance is always at least 1 s, 16 MiB or 1 % of the run time."},
    {"allow-incomplete", 0, NULL, NULL, NULL,
     "Do not fail because a log is unfinished or damaged, or because the run failed."},
    {"format", 'f', "FORMAT", cli_formats_gate, "text",
     "What to write. JSON is one document, schema pyrometer.gate/1."},
    CLI_OPTION_OUTPUT,
    CLI_OPTION_THREADS,
    CLI_OPTION_TIMINGS,
    CLI_OPTION_COLOR,
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
    {"pyrometer gate --fail-on severe app.zst",
     "Fail on findings that cost at least a tenth of the run, or are likely to make it fail."},
    {"pyrometer gate --budget budget.yaml --format junit -o gate.xml app.zst",
     "Limits from a file, with the result for a continuous integration server."},
    {"pyrometer gate --baseline main.zst --tolerance 20% branch.zst",
     "Fail if the branch is more than 20 % worse than main, and say why."},
    {0},
};

const struct cli_verb_body cli_verb_gate = {
    .run = run,
    .least = 1,
    .most = 1,
    .options = options,
    .choices = "@files",
    .description = "Compares one run with limits and exits with 1 if the run exceeds them. The limits are a severity "
                   "of findings, a budget, or an earlier run. For each exceeded limit the report shows the value, the "
                   "limit, and the finding that explains it. --fail-on, --budget and --baseline may be given "
                   "together.\n\nAn unfinished or damaged log cannot prove that the run kept a limit, so it fails too. "
                   "--allow-incomplete judges what the log has.\n\nExit status: 0 the run kept every limit, 1 it "
                   "exceeded a limit, 2 the command line or the budget is wrong, 3 a log or the budget cannot be read.",
    .examples = examples,
};
