/* pyrometer sql LOG STATEMENT */
#include "ending.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATEMENT_MAX_BYTES = 1 << 20 };

/* The statement from standard input, to be freed; NULL: reported. */
static char *read_statement(const struct cli_call *call)
{
    char *text = malloc(STATEMENT_MAX_BYTES + 1);
    if (text == NULL) {
        cli_complain("out of memory");
        return NULL;
    }
    size_t len = fread(text, 1, STATEMENT_MAX_BYTES + 1, stdin);
    if (len > STATEMENT_MAX_BYTES || memchr(text, '\0', len) != NULL) {
        cli_usage_error(call->verb, "the statement on standard input is longer than 1 MiB, or is not text");
        free(text);
        return NULL;
    }
    text[len] = '\0';
    return text;
}

static int query(const struct cli_call *call, const struct cli_loading *options, struct cli_progress *progress,
                 const char *statement, enum pyro_format format, struct cli_output *output)
{
    struct pyro_error error = {.size = sizeof(error)};
    pyro_app *app = NULL;
    int status = cli_load_one(call, call->arguments[0], options, progress, &app);
    struct pyro_writer writer = cli_output_writer(output);
    if (status == CLI_EXIT_OK && pyro_sql_query(app, statement, format, &options->work, &writer, &error) != PYRO_OK)
        status = cli_failure(&error);
    pyro_app_release(app);
    return status;
}

static int run(const struct cli_call *call)
{
    enum pyro_format format;
    struct cli_progress progress;
    struct cli_loading options;
    if (!cli_format_value(call, "format", &format) || !cli_load_options(call, &progress, &options))
        return CLI_EXIT_USAGE;
    options.load.wanted = PYRO_WANT_PLAN_TEXT | PYRO_WANT_TASK_METRICS;
    options.load.artefacts = 1;
    const char *statement = call->arguments[1];
    char *from_stdin = NULL;
    if (strcmp(statement, "-") == 0) {
        if (strcmp(call->arguments[0], "-") == 0)
            return cli_usage_error(call->verb, "LOG and STATEMENT cannot both be standard input");
        statement = from_stdin = read_statement(call);
        if (statement == NULL)
            return CLI_EXIT_USAGE;
    }
    struct cli_output output;
    int status = cli_result_open(call, &output, NULL);
    if (status == CLI_EXIT_OK)
        status = cli_result_close(&output, query(call, &options, &progress, statement, format, &output));
    free(from_stdin);
    return status;
}

static const struct cli_option options[] = {
    {"format", 'f', "FORMAT", cli_formats_sql, "text",
     "How to write the rows: aligned columns, an array of JSON objects, CSV or a Markdown table."},
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
    {"pyrometer sql LOG 'SELECT name, sql FROM sqlite_schema'", "The tables and their columns."},
    {"pyrometer sql LOG 'SELECT * FROM stages ORDER BY completed_ms - submitted_ms DESC LIMIT 10'",
     "The ten longest stages."},
    {"pyrometer sql LOG --format json 'SELECT * FROM executors'", "Rows as an array of objects."},
    {"pyrometer sql LOG - < question.sql", "A statement from a file."},
    {0},
};

const struct cli_verb_body cli_verb_sql = {
    .run = run,
    .least = 2,
    .most = 2,
    .options = options,
    .choices = "@files",
    .description =
        "Runs one SQL statement (in SQLite's language, read-only) on the tables of one log: applications, jobs, "
        "stages, tasks, unfinished_tasks, executors, sql, sql_nodes, sql_metrics, rdds, exclusions, operations, "
        "processes, streams, "
        "failures, properties, rejects and attributes; and of what logs and profiles in its folder recorded: "
        "artefacts, clocks, "
        "threads, owners, spans, series, points, frames, stacks, samples, functions, templates and messages; of traces "
        "task_states, task_waits, thread_times, trace_events, trace_calls and trace_losses (docs/tables.md). Nothing "
        "is copied or stored.\n\nLOG is an input that "
        "'pyrometer diagnose' reads, with one application; '-' is standard input. "
        "STATEMENT may be '-' instead. If the statement is wrong, the command shows SQLite's message and exits with 2.",
    .examples = examples,
};
