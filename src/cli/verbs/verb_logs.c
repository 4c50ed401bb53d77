/* pyrometer logs top|errors|timeline PATH... */
#include "ending.h"

#include <stdio.h>
#include <string.h>

typedef enum pyro_status logs_call(const char *const *paths, size_t path_count, const struct pyro_logs_options *asked,
                                   enum pyro_format format, const struct pyro_options *options,
                                   const struct pyro_writer *writer, struct pyro_error *error);

static const struct sub_verb {
    const char *name;
    logs_call *call;
} sub_verbs[] = {{"top", pyro_logs_top}, {"errors", pyro_logs_errors}, {"timeline", pyro_logs_timeline}};

static const struct sub_verb *find_sub_verb(const struct cli_call *call)
{
    const char *names[sizeof(sub_verbs) / sizeof(*sub_verbs)], *given = call->arguments[0];
    size_t count = sizeof(sub_verbs) / sizeof(*sub_verbs);
    for (size_t i = 0; i < count; i++) {
        names[i] = sub_verbs[i].name;
        if (strcmp(given, names[i]) == 0)
            return &sub_verbs[i];
    }
    const char *nearest = pyro_nearest(given, names, count);
    cli_usage_error(call->verb, "'%s' is none of top, errors, timeline%s%s%s", given, nearest ? "; did you mean '" : "",
                    nearest ? nearest : "", nearest ? "'?" : "");
    return NULL;
}

static void complain_of(void *context, const char *path, const char *message)
{
    (void)context;
    if (path[0] != '\0')
        cli_complain("%s: %s", strcmp(path, "-") == 0 ? "standard input" : path, message);
    else
        cli_complain("%s", message);
}

/* --tz: how times are shown, and what those without a zone mean. */
static bool take_zone(const struct cli_call *call, struct pyro_logs_options *asked, struct pyro_report_options *report)
{
    if (cli_value(call, "tz") == NULL)
        return true;
    asked->has_zone = 1;
    if (!cli_offset_value(call, "tz", &asked->utc_offset_s))
        return false;
    report->utc_offset_s = asked->utc_offset_s;
    return true;
}

static bool take_options(const struct cli_call *call, struct pyro_logs_options *asked,
                         struct pyro_report_options *report)
{
    unsigned limit = 0;
    asked->level = cli_value(call, "level");
    asked->since = cli_value(call, "since");
    asked->until = cli_value(call, "until");
    asked->executor = cli_value(call, "executor");
    asked->stage = cli_value(call, "stage");
    asked->grep = cli_value(call, "grep");
    asked->pattern = cli_value(call, "pattern");
    asked->by = cli_value(call, "by");
    asked->exact = cli_value(call, "exact") != NULL;
    asked->unlimited = cli_value(call, "no-input-limits") != NULL;
    asked->redaction = cli_redaction(call);
    asked->report = report;
    asked->note = complain_of;
    report->details = cli_value(call, "details") != NULL;
    if (cli_value(call, "count") != NULL) {
        if (!cli_unsigned_value(call, "count", 0, 1000000000, &limit))
            return false;
        asked->limit = limit > 0 ? limit : SIZE_MAX;
    }
    if (!cli_width_value(call, report))
        return false;
    return take_zone(call, asked, report);
}

static bool check_paths(const struct cli_call *call)
{
    size_t from_stdin = 0;
    for (size_t i = 1; i < call->argument_count; i++)
        from_stdin += strcmp(call->arguments[i], "-") == 0;
    if (from_stdin > 1)
        cli_usage_error(call->verb, "standard input ('-') can be read only once");
    return from_stdin <= 1;
}

static int run(const struct cli_call *call)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_report_options report = {.size = sizeof(report)};
    struct pyro_logs_options asked = {.size = sizeof(asked)};
    struct cli_progress progress = {0};
    struct pyro_options work = {.size = sizeof(work), .progress = cli_progress_callback, .progress_context = &progress};
    struct cli_output output;
    enum pyro_format format;
    const struct sub_verb *sub_verb = find_sub_verb(call);
    if (sub_verb == NULL || !check_paths(call) || !cli_format_value(call, "format", &format) ||
        !take_options(call, &asked, &report))
        return CLI_EXIT_USAGE;
    int status = cli_result_open(call, &output, &report);
    if (status != CLI_EXIT_OK)
        return status;
    cli_progress_start(&progress, 0, 1);
    struct pyro_writer writer = cli_output_writer(&output);
    enum pyro_status done =
        sub_verb->call(call->arguments + 1, call->argument_count - 1, &asked, format, &work, &writer, &error);
    cli_progress_erase(&progress);
    return cli_result_close_after(&output, done, &error);
}

static const struct cli_option options[] = {
    {"format", 'f', "FORMAT", cli_formats_logs, "text",
     "What to write. JSON is one document: pyrometer.chunks/1, pyrometer.errors/1 or pyrometer.log_timeline/1."},
    CLI_OPTION_OUTPUT,
    {"count", 'n', "N", NULL, NULL,
     "Show the first N rows; 0 means all. Default: 20 for top, and for errors as text; all otherwise."},
    {"level", 0, "LEVEL", NULL, NULL,
     "Take only records of this level (trace, debug, info, warn, error, fatal) and worse ones."},
    {"since", 0, "TIME", NULL, NULL,
     "Take only records at this time or later (2024-03-01T10:15:00, with or without a zone)."},
    {"until", 0, "TIME", NULL, NULL, "Take only records at this time or earlier."},
    {"executor", 0, "ID", NULL, NULL, "Take only logs of this executor, or of the driver (driver)."},
    {"stage", 0, "N", NULL, NULL, "Take only records that name this stage."},
    {"grep", 'g', "REGEX", NULL, NULL, "Take only records in which this regular expression (PCRE2) finds something."},
    {"tz", 0, "ZONE", NULL, NULL,
     "The zone of times that do not say theirs, and of the times in the text: UTC, local, or an offset such as +02:00. "
     "Default: UTC, with a note."},
    {"pattern", 'p', "PATTERN", NULL, NULL,
     "The layout of the lines, in the language of log4j (%d %p %c %t %X %m with widths). Known layouts need none."},
    {"by", 'b', "WHAT", "container stage", NULL, "top: For each container or stage."},
    {"exact", 0, NULL, NULL, NULL,
     "top: Repeated lines word by word, as phil_stopwatch finds them; --level is then exactly error, info or warn."},
    {"details", 'd', NULL, NULL, NULL, "Show whole texts and every row in the text."},
    CLI_OPTION_WIDTH,
    CLI_OPTION_COLOR,
    CLI_OPTION_NO_LIMITS,
    CLI_OPTION_REDACT,
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer logs errors containers/", "Every kind of error in the logs of a cluster, newest first."},
    {"pyrometer logs errors --since 2024-03-01T10:00 --executor 3 application_1_2.log",
     "Errors of one executor in the output of 'yarn logs'."},
    {"pyrometer logs top --by container -n 5 work/app-20240301101500-0000/", "What each executor's log repeats most."},
    {"pyrometer logs timeline -f json driver.log", "Jobs, stages and tasks of a run without an event log."},
    {"pyrometer logs errors -p '%d{HH:mm:ss.SSS} [%t] %-5level %logger{36} - %msg%n' app.log",
     "Logs of an own layout."},
    {0},
};

const struct cli_verb_body cli_verb_logs = {
    .run = run,
    .least = 2,
    .most = SIZE_MAX,
    .options = options,
    .choices = "top errors timeline @files",
    .description =
        "Reads what drivers and executors write for people. top: the messages and blocks of lines that take most of "
        "the logs. errors: exceptions with their causes, each kind once. timeline: when jobs, stages and tasks "
        "ran.\n\nPATH is a file, a folder (8 levels deep), an archive or '-' for standard input; plain or "
        "compressed. Folders of YARN, EMR, a standalone cluster, Kubernetes and Databricks, and the output of 'yarn "
        "logs', are recognized.",
    .examples = examples,
};
