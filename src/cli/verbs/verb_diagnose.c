/* pyrometer diagnose PATH... */
#include "config_options.h"
#include "ending.h"
#include "price_options.h"
#include "timings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An input that could not be read, kept until the end of the document. */
struct unreadable {
    char *path, *reason;
};

struct diagnose {
    const struct cli_call *call;
    struct cli_progress progress;
    struct cli_output output;
    struct pyro_writer writer;
    struct cli_loading options;
    struct pyro_report_options report;
    pyro_config *config;
    pyro_prices *prices; /* NULL: none were given */
    enum pyro_format format;
    pyro_inputs *inputs;
    pyro_store *store;     /* NULL: none was asked for, or it cannot be had now */
    int stored;            /* CLI_EXIT_OK, or how to exit since something was not kept; that was said */
    pyro_reports *reports; /* NULL until the first report of a document of several */
    struct unreadable *unreadable;
    size_t unreadable_count;
    size_t read_count;
    bool alone; /* one log: its report is the document */
    struct pyro_error error;
};

static bool keep_unreadable(struct diagnose *state, const char *path, const char *reason)
{
    struct unreadable *grown = realloc(state->unreadable, (state->unreadable_count + 1) * sizeof(*state->unreadable));
    if (grown != NULL)
        state->unreadable = grown;
    struct unreadable kept = {grown != NULL ? strdup(path) : NULL, grown != NULL ? strdup(reason) : NULL};
    if (kept.path == NULL || kept.reason == NULL) {
        free(kept.path);
        free(kept.reason);
        state->error =
            (struct pyro_error){.size = sizeof(state->error), .code = PYRO_ERROR_MEMORY, .message = "out of memory"};
        return false;
    }
    state->unreadable[state->unreadable_count++] = kept;
    return true;
}

static bool parse(struct diagnose *state)
{
    const struct cli_call *call = state->call;
    state->report = (struct pyro_report_options){.size = sizeof(state->report)};
    if (!cli_format_value(call, "format", &state->format) ||
        !cli_load_options(call, &state->progress, &state->options) ||
        !cli_offset_value(call, "tz", &state->report.utc_offset_s))
        return false;
    state->options.load.artefacts = 1;
    state->options.load.history = cli_store_url(call) != NULL;
    if (state->format == PYRO_FORMAT_HTML)
        state->options.load.wanted |= PYRO_WANT_PLAN_TEXT; /* its pages show what operators do */
    if (!cli_width_value(call, &state->report))
        return false;
    state->report.details = cli_value(call, "details") != NULL;
    state->report.brief = cli_value(call, "brief") != NULL;
    if (cli_value(call, "name") != NULL && cli_store_url(call) == NULL) {
        cli_usage_error(call->verb, "--name names a run in a store; give --store as well");
        return false;
    }
    size_t from_stdin = 0;
    for (size_t i = 0; i < call->argument_count; i++)
        from_stdin += strcmp(call->arguments[i], "-") == 0;
    if (from_stdin > 1) {
        cli_usage_error(call->verb, "standard input ('-') can be read only once");
        return false;
    }
    return true;
}

/* The first time something is not kept; the reports are printed nevertheless. */
static void not_stored(struct diagnose *state, const struct pyro_error *error)
{
    if (state->stored != CLI_EXIT_OK)
        return;
    cli_progress_erase(&state->progress);
    cli_failure(error);
    state->stored = CLI_EXIT_OUTPUT;
}

/* What people said of earlier findings, and a row for this run; without memory the diagnosis is of no use. */
static enum pyro_status use_store(struct diagnose *state, pyro_diagnosis *diagnosis)
{
    struct pyro_error error = {.size = sizeof(error)};
    if (cli_store_url(state->call) == NULL)
        return PYRO_OK;
    enum pyro_status status =
        state->store != NULL ? pyro_store_apply_feedback(state->store, diagnosis, &error) : PYRO_ERROR_INPUT;
    if (status == PYRO_ERROR_MEMORY) {
        state->error = error;
        return status;
    }
    if (status != PYRO_OK)
        pyro_diagnosis_lacks_feedback(diagnosis);
    if (status != PYRO_OK && state->store != NULL)
        not_stored(state, &error);
    else if (status == PYRO_OK &&
             pyro_store_record(state->store, diagnosis, cli_value(state->call, "name"), &error) != PYRO_OK)
        not_stored(state, &error);
    return PYRO_OK;
}

/* A store that cannot be written to now costs what it would have kept and said, not the reports. Exit status.
 */
static int open_store(struct diagnose *state)
{
    const char *url = cli_store_url(state->call);
    if (url == NULL || pyro_store_open(url, NULL, NULL, &state->store, &state->error) == PYRO_OK)
        return CLI_EXIT_OK;
    if (state->error.code != PYRO_ERROR_OUTPUT)
        return cli_failure(&state->error);
    not_stored(state, &state->error);
    return CLI_EXIT_OK;
}

/* An input that could not be read is part of the store's history too. */
static void store_unreadable(struct diagnose *state)
{
    struct pyro_error error = {.size = sizeof(error)};
    for (size_t i = 0; i < state->unreadable_count && state->stored == CLI_EXIT_OK && state->store != NULL; i++)
        if (pyro_store_record_error(state->store, state->unreadable[i].path, "read", "unreadable",
                                    state->unreadable[i].reason, NULL, &error) != PYRO_OK)
            not_stored(state, &error);
}

static enum pyro_status open_reports(struct diagnose *state)
{
    if (state->reports != NULL)
        return PYRO_OK;
    return pyro_reports_open(state->format, &state->report, &state->writer, &state->reports, &state->error);
}

static enum pyro_status add_report(struct diagnose *state, const pyro_diagnosis *diagnosis, bool alone)
{
    if (alone)
        return pyro_report_write(diagnosis, state->format, &state->report, &state->writer, &state->error);
    enum pyro_status status = open_reports(state);
    return status == PYRO_OK ? pyro_reports_add(state->reports, diagnosis, &state->error) : status;
}

/* On any thread. */
static enum pyro_status diagnose_app(void *context, size_t index, pyro_app *app, const struct pyro_options *options,
                                     void **ret, struct pyro_error *error)
{
    const struct diagnose *state = context;
    const struct pyro_diagnose_options wanted = {
        .size = sizeof(wanted), .config = state->config, .prices = state->prices};
    pyro_diagnosis *diagnosis = NULL;
    (void)index;
    enum pyro_status status = pyro_diagnose(app, &wanted, options, &diagnosis, error);
    *ret = diagnosis;
    return status;
}

static void drop_diagnosis(void *context, void *diagnosis)
{
    (void)context;
    pyro_diagnosis_free(diagnosis);
}

static enum pyro_status report_app(struct diagnose *state, size_t index, pyro_diagnosis *diagnosis,
                                   const struct pyro_error *failure)
{
    if (failure != NULL)
        return keep_unreadable(state, pyro_inputs_path(state->inputs, index), failure->message) ? PYRO_OK
                                                                                                : PYRO_ERROR_MEMORY;
    enum pyro_status status = use_store(state, diagnosis);
    if (status != PYRO_OK)
        return status;
    state->read_count++;
    cli_timings_begin();
    status = add_report(state, diagnosis, state->alone);
    cli_timings_end("render");
    return status;
}

/* In the order of the inputs. */
static enum pyro_status take_app(void *context, size_t index, pyro_app *app, void *made,
                                 const struct pyro_error *failure, struct pyro_error *error)
{
    struct diagnose *state = context;
    (void)app;
    (void)error; /* state->error, which is the caller's too */
    cli_progress_erase(&state->progress);
    enum pyro_status status =
        cli_stop_signal() != 0 ? (state->error.code = PYRO_ERROR_CANCELLED) : report_app(state, index, made, failure);
    pyro_diagnosis_free(made);
    cli_progress_start(&state->progress, index + 1, pyro_inputs_count(state->inputs));
    return status;
}

static enum pyro_status diagnose_each(struct diagnose *state)
{
    const struct pyro_each_input each = {
        .size = sizeof(each), .context = state, .work = diagnose_app, .take = take_app, .drop = drop_diagnosis};
    cli_progress_start(&state->progress, 0, pyro_inputs_count(state->inputs));
    enum pyro_status status =
        pyro_inputs_each(state->inputs, &state->options.load, &state->options.work, &each, &state->error);
    cli_progress_erase(&state->progress);
    return status;
}

/* The end of a document of several: what could not be read. A document of nothing is written in JSON only. */
static enum pyro_status finish_reports(struct diagnose *state)
{
    if (state->read_count == 0 && state->format != PYRO_FORMAT_JSON)
        return PYRO_OK;
    enum pyro_status status = open_reports(state);
    for (size_t i = 0; i < state->unreadable_count && status == PYRO_OK; i++)
        status = pyro_reports_add_unreadable(state->reports, state->unreadable[i].path, state->unreadable[i].reason,
                                             &state->error);
    return status == PYRO_OK ? pyro_reports_finish(state->reports, &state->error) : status;
}

/* One line for all when nothing could be read; else, with a text report, one line each. */
static int complain_unreadable(const struct diagnose *state)
{
    if (state->read_count > 0) {
        for (size_t i = 0; i < state->unreadable_count && state->format == PYRO_FORMAT_TEXT; i++)
            cli_complain_unreadable(state->unreadable[i].path, state->unreadable[i].reason);
        return CLI_EXIT_OK;
    }
    const struct unreadable *first = state->unreadable;
    if (first == NULL)
        cli_complain("cannot read %s: it has no event log; name a log, or a folder of logs", state->call->arguments[0]);
    else if (state->unreadable_count == 1)
        cli_complain_unreadable(first->path, first->reason);
    else
        cli_complain("cannot read any of the %zu inputs; the first, %s: %s", state->unreadable_count, first->path,
                     first->reason);
    return CLI_EXIT_INPUT;
}

static int diagnose_all(struct diagnose *state)
{
    const struct cli_call *call = state->call;
    int opened = open_store(state);
    if (opened != CLI_EXIT_OK)
        return opened;
    cli_progress_start(&state->progress, 0, 1);
    if (pyro_inputs_open(call->arguments, call->argument_count, &state->options.load, &state->options.work,
                         &state->inputs, &state->error) != PYRO_OK)
        return cli_failure(&state->error);
    size_t bad = pyro_inputs_unreadable_count(state->inputs);
    for (size_t i = 0; i < bad; i++)
        if (!keep_unreadable(state, pyro_inputs_unreadable_path(state->inputs, i),
                             pyro_inputs_unreadable_reason(state->inputs, i)))
            return cli_failure(&state->error);
    size_t found = pyro_inputs_count(state->inputs);
    state->alone = call->argument_count == 1 && found + bad <= 1;
    enum pyro_status status = diagnose_each(state);
    if (status == PYRO_OK)
        store_unreadable(state);
    if (status == PYRO_OK && !state->alone)
        status = finish_reports(state);
    return status == PYRO_OK ? complain_unreadable(state) : cli_failure(&state->error);
}

/* A sheet of the user's, or the built-in ones alone. */
static int open_prices(struct diagnose *state)
{
    const char *path = cli_value(state->call, "prices"), *instance = cli_value(state->call, "instance"),
               *region = cli_value(state->call, "region");
    if (path == NULL && instance == NULL && region == NULL)
        return CLI_EXIT_OK;
    enum pyro_status status = path != NULL && strcmp(path, "builtin") == 0
                                  ? pyro_prices_new(NULL, &state->prices, &state->error)
                                  : cli_prices_open(state->call, &state->prices, &state->error);
    if (status == PYRO_OK)
        status = pyro_prices_choose_nodes(state->prices, instance, region, &state->error);
    return status == PYRO_OK ? CLI_EXIT_OK : cli_failure(&state->error);
}

static int run(const struct cli_call *call)
{
    struct diagnose state = {.call = call, .error.size = sizeof(state.error)};
    if (!parse(&state))
        return CLI_EXIT_USAGE;
    int status = cli_config_open(call, &state.config);
    if (status == CLI_EXIT_OK)
        status = open_prices(&state);
    if (status == CLI_EXIT_OK)
        status = cli_result_open(call, &state.output, &state.report);
    if (status != CLI_EXIT_OK) {
        pyro_prices_free(state.prices);
        pyro_config_free(state.config);
        return status;
    }
    struct pyro_page_options page = {.size = sizeof(page), .prices = state.prices, .options = &state.options.work};
    if (state.format == PYRO_FORMAT_HTML) {
        state.report.document = pyro_page_document;
        state.report.document_context = &page;
    }
    state.report.ids = cli_store_url(call) != NULL;
    state.writer = cli_output_writer(&state.output);
    status = diagnose_all(&state);
    cli_progress_erase(&state.progress);
    /* Several inputs of which none could be read still make a JSON document. */
    bool keep = status == CLI_EXIT_OK || (status == CLI_EXIT_INPUT && state.reports != NULL);
    int closed = cli_output_close(&state.output, keep);
    pyro_reports_free(state.reports);
    pyro_store_close(state.store);
    pyro_inputs_close(state.inputs);
    pyro_prices_free(state.prices);
    pyro_config_free(state.config);
    for (size_t i = 0; i < state.unreadable_count; i++) {
        free(state.unreadable[i].path);
        free(state.unreadable[i].reason);
    }
    free(state.unreadable);
    if (status == CLI_EXIT_OK)
        status = closed;
    return status == CLI_EXIT_OK ? state.stored : status;
}

static const struct cli_option options[] = {
    {"format", 'f', "FORMAT", cli_formats_diagnose, "text",
     "What to write. JSON is one document: schema pyrometer.report/1, or pyrometer.reports/1 for several logs."},
    CLI_OPTION_OUTPUT,
    CLI_OPTION_CONFIG,
    CLI_OPTION_SUPPRESS,
    CLI_OPTION_PROFILE,
    {"prices", 'p', "FILE", NULL, NULL,
     "Say what the run and its findings cost. Uses this price sheet (docs/prices.md) and the price sheets that come "
     "with pyrometer; builtin: only those that come with pyrometer."},
    {"instance", 0, "TYPE", NULL, NULL,
     "Say what the run and its findings cost on nodes of this instance type, whatever the log says."},
    {"region", 0, "REGION", NULL, NULL, "Use the prices of this region, whatever the log says."},
    CLI_OPTION_THREADS,
    CLI_OPTION_TIMINGS,
    {"tz", 0, "OFFSET", NULL, "UTC",
     "Show times at this offset from UTC (+HH:MM, -HH:MM), or in the time zone of this machine (local). JSON and CSV "
     "are always UTC."},
    {"width", 'w', "N", NULL, NULL,
     "Set the width of the text report in columns. Default: the width of the terminal, between 80 and 120; without a "
     "terminal 80."},
    {"color", 0, "WHEN", "auto always never", "auto",
     "Color the text report. auto: on a terminal, unless NO_COLOR is set or TERM is dumb."},
    {"details", 'd', NULL, NULL, NULL, "List every stage and executor in the text and Markdown reports."},
    {"brief", 'b', NULL, NULL, NULL,
     "Write at most 25 lines of text: the head, the recommended settings, and one line for each finding above low."},
    CLI_OPTION_STORE,
    {"name", 0, "NAME", NULL, NULL, "Call the run NAME in the store, for 'pyrometer gate --baseline NAME'."},
    CLI_OPTION_MAX_RECORD,
    CLI_OPTION_NO_LIMITS,
    CLI_OPTION_REDACT,
    CLI_OPTIONS_REMOTE,
    {"limit", 0, "N", NULL, NULL, "For the address of a whole History Server: read only the N newest applications."},
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer diagnose spark-events/app-20260101120000-0001",
     "One application: what took time, why, and what to change."},
    {"pyrometer diagnose --format json -o report.json spark-events/",
     "Every application in a folder, as one document."},
    {"pyrometer diagnose --instance m5.2xlarge --region us-east-1 app.zst",
     "What the run costs on such nodes, and what each finding saves of that."},
    {"pyrometer diagnose --brief app.zst", "At most 25 lines: what to change, and what it saves."},
    {"pyrometer diagnose --format html -o report.html app.zst",
     "The page that pyrometer serve shows, in one file that needs no server and no network."},
    {"zstd -dc app.zst | pyrometer diagnose -", "A log from a pipe. (Compressed logs can be named directly.)"},
    {"pyrometer diagnose --details --tz local application_1700000000000_0042.zip",
     "The archive that a History Server sends, with every stage and executor."},
    {"pyrometer diagnose http://localhost:18080/history/app-20260101120000-0001/jobs/",
     "An application of a History Server, by the address of any of its pages."},
    {"pyrometer diagnose http://localhost:4040", "A running application, from its live UI."},
    {"pyrometer diagnose --suppress idle-executors --suppress 'data-skew:join at etl.py:*' app.zst",
     "Without known and accepted findings."},
    {0},
};

const struct cli_verb_body cli_verb_diagnose = {
    .run = run,
    .least = 1,
    .most = SIZE_MAX,
    .options = options,
    .choices = "@files",
    .description =
        "Reads event logs of Apache Spark 1.x to 4.x and says where the time of each application went, how much of it "
        "each finding costs, what causes it, and which settings or code to change.\n\nPATH is an event log, plain or "
        "compressed with zstd, lz4, snappy, lzf or gzip (recognized by content); the folder of a rolling log "
        "(eventlog_v2_...); a folder with many logs; a Databricks log folder; an archive (zip, tar, 7z); '-' "
        "for standard input; or an address (http or https). An address names a log, the page of an application on a "
        "History Server or live UI, or a whole server. Pyrometer reads damaged and unfinished logs as far as possible, "
        "and the report says what is missing.\n\nOn a terminal, progress is shown on standard error; Ctrl-C stops the "
        "command, leaves no unfinished file, and exits with 130.",
    .examples = examples,
};
