/* pyrometer whatif LOG */
#include "config_options.h"
#include "ending.h"
#include "one_log.h"
#include "price_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS_MAX = 128 };

/* What is asked, as the library takes it. */
struct question {
    const char *set[CLI_REPEATED_MAX + 8], *sweep[CLI_REPEATED_MAX], *without[CLI_REPEATED_MAX], *fix[CLI_REPEATED_MAX];
    size_t set_count, sweep_count, without_count, fix_count;
    char *own[8]; /* "executors=4", of the options that have names of their own */
    size_t own_count;
    int64_t deadline_ms;
    double max_cost;
};

/* Options whose values are settings. */
static const char *const named[] = {"executors", "cores", "memory", "hosts", "scale-input"};

/* Whether the text before the '=' is a setting that has a model. Others are refused with a list of all. */
static bool check_key(const struct cli_call *call, const char *text)
{
    size_t len = strcspn(text, "="), used = 0;
    const char *names[2 * SETTINGS_MAX];
    size_t count = 0;
    char list[3000], key[100];
    if (text[len] == '\0' || len == 0)
        return true; /* the library says what is wrong */
    for (size_t i = 0; i < pyro_whatif_setting_count() && i < SETTINGS_MAX; i++) {
        struct pyro_whatif_setting_info info = {.size = sizeof(info)};
        cli_filled(pyro_whatif_setting(i, &info));
        if ((strlen(info.key) == len && strncmp(info.key, text, len) == 0) ||
            (info.name != NULL && strlen(info.name) == len && strncmp(info.name, text, len) == 0))
            return true;
        names[count++] = info.key;
        if (info.name != NULL)
            names[count++] = info.name;
        if (used < sizeof(list))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i > 0 ? ", " : "", info.key);
    }
    snprintf(key, sizeof(key), "%.*s", (int)(len < 99 ? len : 99), text);
    const char *nearest = pyro_nearest(key, names, count);
    cli_usage_error(
        call->verb, "%s has no model, so its effect cannot be predicted%s%s%s; these settings have a model: %s", key,
        nearest != NULL ? " (did you mean " : "", nearest != NULL ? nearest : "", nearest != NULL ? "?)" : "", list);
    return false;
}

/* Exit status; what is wrong was said. */
static int read_question(const struct cli_call *call, struct question *question)
{
    for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
        const char *value = cli_value(call, named[i]);
        if (value == NULL)
            continue;
        size_t len = strlen(named[i]) + strlen(value) + 2;
        char *text = malloc(len);
        if (text == NULL) {
            cli_complain("no memory left");
            return CLI_EXIT_OUTPUT;
        }
        snprintf(text, len, "%s=%s", named[i], value);
        question->own[question->own_count++] = text;
        question->set[question->set_count++] = text;
    }
    const char *value;
    for (size_t i = 0; (value = cli_repeated_value(call, "set", i)) != NULL; i++) {
        /* A finding of the run may have measured what another setting does. */
        if (strncmp(value, "spark.", strlen("spark.")) != 0 && !check_key(call, value))
            return CLI_EXIT_USAGE;
        question->set[question->set_count++] = value;
    }
    for (size_t i = 0; (value = cli_repeated_value(call, "sweep", i)) != NULL; i++) {
        if (!check_key(call, value))
            return CLI_EXIT_USAGE;
        question->sweep[question->sweep_count++] = value;
    }
    while ((value = cli_repeated_value(call, "without", question->without_count)) != NULL)
        question->without[question->without_count++] = value;
    while ((value = cli_repeated_value(call, "fix", question->fix_count)) != NULL)
        question->fix[question->fix_count++] = value;
    return CLI_EXIT_OK;
}

static bool wants_money(const struct cli_call *call)
{
    return cli_value(call, "prices") != NULL || cli_value(call, "instance") != NULL;
}

static bool read_limits(const struct cli_call *call, struct question *question)
{
    return (cli_value(call, "deadline") == NULL || cli_time_value(call, "deadline", &question->deadline_ms)) &&
           (cli_value(call, "max-cost") == NULL || cli_amount_value(call, "max-cost", 1e15, &question->max_cost));
}

static int predict(const struct cli_call *call, const struct question *question, const struct cli_loading *options,
                   struct cli_progress *progress, enum pyro_format format, const struct pyro_report_options *report,
                   struct cli_output *output)
{
    struct cli_log log = {0};
    struct pyro_error error = {.size = sizeof(error)};
    pyro_whatif *whatif = NULL;
    pyro_config *config = NULL;
    pyro_prices *prices = NULL;
    int status = cli_config_open(call, &config);
    if (status == CLI_EXIT_OK && wants_money(call) && cli_prices_open(call, &prices, &error) != PYRO_OK)
        status = cli_failure(&error);
    if (status == CLI_EXIT_OK)
        status = cli_log_open(call, call->arguments[0], options, config, progress, &log);
    if (status == CLI_EXIT_OK) {
        struct pyro_writer writer = cli_output_writer(output);
        struct pyro_whatif_options asked = {.size = sizeof(asked),
                                            .set = question->set,
                                            .set_count = question->set_count,
                                            .sweep = question->sweep,
                                            .sweep_count = question->sweep_count,
                                            .optimize = cli_value(call, "optimize"),
                                            .deadline_ms = question->deadline_ms,
                                            .max_cost = question->max_cost,
                                            .prices = prices,
                                            .instance = cli_value(call, "instance"),
                                            .region = cli_value(call, "region"),
                                            .without = question->without,
                                            .without_count = question->without_count,
                                            .fix = question->fix,
                                            .fix_count = question->fix_count,
                                            .plan = cli_value(call, "plan") != NULL};
        enum pyro_status done = pyro_whatif_run(log.diagnosis, &asked, &options->work, &whatif, &error);
        cli_progress_erase(progress);
        if (done == PYRO_OK)
            done = pyro_whatif_write(whatif, format, report, &writer, &error);
        bool known = true;
        for (size_t i = 0; done == PYRO_ERROR_ARGUMENT && i < question->set_count && known; i++)
            known = strstr(error.message, "has no model") == NULL || check_key(call, question->set[i]);
        if (!known)
            status = CLI_EXIT_USAGE;
        else if (done == PYRO_ERROR_ARGUMENT)
            status = cli_usage_error(call->verb, "%s", error.message);
        else if (done != PYRO_OK)
            status = cli_failure(&error);
    }
    pyro_whatif_free(whatif);
    cli_log_close(&log);
    pyro_config_free(config);
    pyro_prices_free(prices);
    return status;
}

static int run(const struct cli_call *call)
{
    enum pyro_format format;
    struct cli_progress progress;
    struct cli_loading options;
    struct cli_output output;
    struct pyro_report_options report = {.size = sizeof(report)};
    struct question question = {.set_count = 0};
    if (!cli_format_value(call, "format", &format) || !cli_load_options(call, &progress, &options))
        return CLI_EXIT_USAGE;
    if (!cli_width_value(call, &report))
        return CLI_EXIT_USAGE;
    int status = read_question(call, &question);
    if (status == CLI_EXIT_OK)
        status = read_limits(call, &question) ? cli_result_open(call, &output, &report) : CLI_EXIT_USAGE;
    if (status == CLI_EXIT_OK) {
        status = predict(call, &question, &options, &progress, format, &report, &output);
        status = cli_result_close(&output, status);
    }
    for (size_t i = 0; i < question.own_count; i++)
        free(question.own[i]);
    return status;
}

static const struct cli_option options[] = {
    {"executors", 'e', "N", NULL, NULL, "The number of executors, for the whole run."},
    {"cores", 'c', "N", NULL, NULL, "The number of cores per executor."},
    {"memory", 'm', "SIZE", NULL, NULL, "The heap of each executor, such as 4g."},
    {"hosts", 0, "N", NULL, NULL,
     "The hosts that the executors run on: 'same', 'new' (as many executors on each as in the run), or a number. "
     "Executors "
     "of one host share its CPUs. By default same, if all executors of the run share one host, otherwise new."},
    {"scale-input", 0, "FACTOR", NULL, NULL, "A multiple of the input data, such as 2."},
    {"set", 0, "KEY=VALUE...", NULL, NULL,
     "Another value for this Spark setting. A setting without a model is refused. May be given several times."},
    {"fix", 0, "FINDING-ID...", NULL, NULL,
     "Fix this finding of 'pyrometer diagnose': with the settings that it recommends, or with the change of the "
     "program "
     "that it describes. May be given several times."},
    {"plan", 0, NULL, NULL, NULL, "Use the whole recommended configuration of 'pyrometer diagnose'."},
    {"sweep", 0, "KEY=VALUES...", NULL, NULL,
     "One scenario per value: a list (100,200,400), a range (1..64) or a range with a step (2g..16g..2g). KEY is a "
     "setting, executors, cores, memory, hosts or scale-input. Several sweeps combine. May be given several times."},
    {"optimize", 0, "GOAL", "time cost", NULL,
     "Search executors, cores and partitions for the least time or cost (core hours without prices). Shows the "
     "configurations that no other configuration beats in both time and cost. Values that other options set stay."},
    {"deadline", 0, "TIME", NULL, NULL, "The search keeps the wall time at or below this, such as 30m or 2h."},
    {"max-cost", 0, "COST", NULL, NULL, "The search keeps the cost at or below this."},
    {"without", 0, "MODEL...", NULL, NULL,
     "Leave out this model, to see what it contributes. The report names each model. May be given several times."},
    {"prices", 0, "FILE...", NULL, NULL,
     "Show what each scenario costs, with the prices of FILE (YAML) and the prices that come with pyrometer. May be "
     "given several times."},
    {"instance", 0, "TYPE", NULL, NULL,
     "Price the scenarios with nodes of this instance type. The durations of tasks do not change."},
    {"region", 0, "REGION", NULL, NULL, "Use the prices of this region where the log does not name one."},
    {"format", 'f', "FORMAT", cli_formats_whatif, "text",
     "What to write. JSON is one document, schema pyrometer.whatif/1; CSV has one row per scenario."},
    CLI_OPTION_OUTPUT,
    CLI_OPTION_THREADS,
    CLI_OPTION_TIMINGS,
    CLI_OPTION_WIDTH,
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
    {"pyrometer whatif --executors 20 app.zst", "How long the run takes on 20 executors."},
    {"pyrometer whatif --sweep executors=1..64 app.zst", "The same for each number up to 64, with a chart."},
    {"pyrometer whatif --plan app.zst", "How long the run takes with all recommended settings."},
    {"pyrometer whatif --fix data-skew:join-at-etl.py:88 app.zst", "How long it takes without this finding."},
    {"pyrometer whatif --sweep executors=4,8,16 --sweep cores=2,4 -f csv -o sizes.csv app.zst",
     "Six cluster sizes, for a spreadsheet."},
    {"pyrometer whatif --optimize cost --deadline 30m app.zst",
     "The cheapest configuration that finishes within half an hour."},
    {0},
};

const struct cli_verb_body cli_verb_whatif = {
    .run = run,
    .least = 1,
    .most = 1,
    .options = options,
    .choices = "@files",
    .description =
        "Predicts the next run from this one. A simulator of Spark's scheduler replays the same jobs, stages and tasks "
        "with your changes. For each scenario the report shows the time with a range, the core time, the share of it "
        "that is used, and which effects were modeled, and how.\n\nLOG is an input that 'pyrometer diagnose' reads, "
        "with one application. A setting without a model is refused by name, with a list of the settings that have "
        "one. No change that you ask for is ignored silently.",
    .examples = examples,
};
