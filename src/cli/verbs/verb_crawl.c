/* pyrometer crawl SOURCE... */
#include "loading.h"
#include "result_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The library gives what is in work 30 s; then it only cleans up. */
enum { STOP_SECONDS = 40 };

struct crawl {
    const struct cli_call *call;
    struct cli_output output;
    bool json;
    bool brief; /* of the events, only what a user may want to look into: the line of progress has the rest */
    struct cli_progress progress;
    struct pyro_crawl_options options;
};

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void now_text(char *text, size_t size)
{
    struct timespec now;
    struct tm utc;
    char seconds[32];
    clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &utc) == NULL || strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &utc) == 0)
        seconds[0] = '\0';
    snprintf(text, size, "%s.%03ldZ", seconds, now.tv_nsec / 1000000);
}

struct field {
    const char *name, *text; /* text NULL: a number */
    int64_t number;
    bool present;
};

enum { FIELDS = 15 };

/* The pass left logs to other crawlers. */
static bool is_held(const struct pyro_crawl_event *event)
{
    return event->kind == PYRO_CRAWL_PASSED && event->count > 0;
}

static size_t fields_of(const struct pyro_crawl_event *event, struct field *fields)
{
    bool sums = event->kind == PYRO_CRAWL_PASSED || event->kind == PYRO_CRAWL_STOPPING;
    const struct field all[FIELDS] = {
        {"source", event->source, 0, event->source != NULL},
        {"log", event->log, 0, event->log != NULL},
        {"application", event->application, 0, event->application != NULL},
        {"attempt", event->attempt, 0, event->attempt != NULL},
        {"step", event->step, 0, event->step != NULL},
        {"tries", NULL, event->tries, event->tries > 0},
        {"lasting", NULL, 1, event->lasting != 0},
        {"count", NULL, event->count, event->kind == PYRO_CRAWL_LISTED || event->kind == PYRO_CRAWL_STOPPING},
        {"held", NULL, event->count, is_held(event)},
        {"wall_ms", NULL, event->wall_ms, event->kind == PYRO_CRAWL_STORED},
        {"stored", NULL, (int64_t)event->stored, sums},
        {"skipped", NULL, (int64_t)event->skipped, sums},
        {"failed", NULL, (int64_t)event->failed, sums},
        {"late", NULL, (int64_t)event->late, sums},
        {"message", event->message, 0, event->message != NULL},
    };
    size_t count = 0;
    for (size_t i = 0; i < FIELDS; i++)
        if (all[i].present)
            fields[count++] = all[i];
    return count;
}

static void put_line(struct crawl *state, const struct pyro_crawl_event *event)
{
    struct field fields[FIELDS];
    size_t count = fields_of(event, fields);
    char time_text[48];
    now_text(time_text, sizeof(time_text));
    if (state->json)
        cli_putf(&state->output, "{\"time\": \"%s\", \"event\": \"%s\"", time_text, pyro_crawl_event_name(event->kind));
    else
        cli_putf(&state->output, "%s %s", time_text, pyro_crawl_event_name(event->kind));
    for (size_t i = 0; i < count; i++) {
        const struct field *field = &fields[i];
        cli_putf(&state->output, state->json ? ", \"%s\": " : " %s=", field->name);
        if (field->text == NULL)
            cli_putf(&state->output, "%lld", (long long)field->number);
        else if (state->json || field->text[strcspn(field->text, " \"=\\\n\r\t")] != '\0' || field->text[0] == '\0')
            cli_put_json(&state->output, field->text);
        else
            cli_puts(&state->output, field->text);
    }
    cli_puts(&state->output, state->json ? "}\n" : "\n");
    cli_output_flush(&state->output);
}

static bool is_problem(const struct pyro_crawl_event *event)
{
    return event->kind == PYRO_CRAWL_FAILED || event->kind == PYRO_CRAWL_UNREACHABLE ||
           event->kind == PYRO_CRAWL_WAITING;
}

/* What is shown at a terminal in addition to the sums: of a pass that is repeated, only problems. */
static bool is_shown(const struct crawl *state, const struct pyro_crawl_event *event)
{
    return !state->brief || is_problem(event) || (state->options.once && is_held(event));
}

/* Sums, on a terminal. */
static void show(struct crawl *state, const struct pyro_crawl_event *event)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (now_ms < state->progress.last_ms + 100 && event->kind == PYRO_CRAWL_STORED)
        return;
    state->progress.last_ms = now_ms;
    state->progress.shown = true;
    fprintf(stderr, "\r%llu runs stored, %llu logs skipped, %llu failures%s\033[K", (unsigned long long)event->stored,
            (unsigned long long)event->skipped, (unsigned long long)event->failed,
            event->kind == PYRO_CRAWL_STOPPING ? "; finishing what is in work" : "");
    fflush(stderr);
}

static void take_event(void *context, const struct pyro_crawl_event *event)
{
    struct crawl *state = context;
    if (is_shown(state, event)) {
        cli_progress_erase(&state->progress);
        put_line(state, event);
    }
    if (state->progress.wanted)
        show(state, event);
}

/* No process reads the log any more, or a stop was requested. */
static int look(void *context, const struct pyro_progress *progress)
{
    const struct crawl *state = context;
    (void)progress;
    return cli_stop_signal() != 0 || state->output.error != 0;
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static bool take_date(const struct cli_call *call, const char *name, int64_t *ret_ms)
{
    const char *text = cli_value(call, name);
    struct tm parts = {0};
    if (text == NULL)
        return true;
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
    time_t seconds = end != NULL && *end == '\0' && strlen(text) == 19 ? timegm(&parts) : 0;
    if (seconds <= 0) {
        cli_usage_error(call->verb, "--%s cannot be '%s'; it is a time in UTC such as 2026-01-31T00:00:00", name, text);
        return false;
    }
    *ret_ms = (int64_t)seconds * 1000;
    return true;
}

/* "5", or "5/s" */
static bool take_rate(const struct cli_call *call, double *ret)
{
    const char *text = cli_value(call, "rate");
    char *end;
    if (text == NULL)
        return true;
    double rate = strtod(text, &end);
    if (end == text || !(rate >= 0.001 && rate <= 1e6) || (*end != '\0' && strcmp(end, "/s") != 0)) {
        cli_usage_error(call->verb, "--rate cannot be '%s'; it is a number of logs a second such as 5/s", text);
        return false;
    }
    *ret = rate;
    return true;
}

static bool take_options(struct crawl *state)
{
    const struct cli_call *call = state->call;
    struct pyro_crawl_options *options = &state->options;
    const char *format = cli_value(call, "log-format");
    *options = (struct pyro_crawl_options){.size = sizeof(*options), .event = take_event, .event_context = state};
    options->store = cli_store_url(call);
    options->sources = call->arguments;
    options->source_count = call->argument_count;
    options->config = cli_value(call, "config");
    options->once = cli_value(call, "once") != NULL;
    options->retry_errors = cli_value(call, "retry-errors") != NULL;
    options->recompute = cli_value(call, "recompute") != NULL;
    options->unlimited = cli_value(call, "no-input-limits") != NULL;
    options->redaction = cli_redaction(call);
    state->json = format != NULL && strcmp(format, "json") == 0;
    cli_progress_start(&state->progress, 0, 1);
    bool read_here = isatty(STDOUT_FILENO) == 1;
    state->progress.wanted = state->progress.wanted && !(read_here && format != NULL);
    state->brief = read_here && state->progress.wanted;
    if (options->once && cli_value(call, "every") != NULL) {
        cli_usage_error(call->verb, "--once is one pass; --every is the time between several");
        return false;
    }
    return (cli_value(call, "jobs") == NULL || cli_unsigned_value(call, "jobs", 1, 64, &options->jobs)) &&
           (cli_value(call, "every") == NULL || cli_interval_value(call, "every", &options->every_ms)) &&
           cli_unsigned_value(call, "timeout", 1, 86400, &options->timeout_s) &&
           cli_size_value(call, "max-download", &options->max_bytes) && take_rate(call, &options->rate) &&
           take_date(call, "min_end_date", &options->min_end_ms) &&
           take_date(call, "min-end-date", &options->min_end_ms);
}

/* ---- The verb ---------------------------------------------------------------------------------------------------- */

static int exit_of(struct crawl *state, enum pyro_status status, const struct pyro_error *error)
{
    switch (status) {
    case PYRO_OK:
    case PYRO_ERROR_CANCELLED: /* what was in work is done */
        return CLI_EXIT_OK;
    case PYRO_ERROR_ARGUMENT:
        return error->path[0] != '\0' && strstr(error->message, error->path) == NULL
                   ? cli_usage_error(state->call->verb, "%s, %s", error->path, error->message)
                   : cli_usage_error(state->call->verb, "%s", error->message);
    default:
        break;
    }
    if (error->path[0] != '\0')
        cli_complain("%s: %s", error->path, error->message);
    else
        cli_complain("%s", error->message);
    return status == PYRO_ERROR_INPUT ? CLI_EXIT_INPUT : CLI_EXIT_OUTPUT;
}

/* --from-spot: no crawl, but the configuration of one. */
static int translate(const struct cli_call *call, const char *path)
{
    struct cli_output output;
    struct pyro_error error = {.size = sizeof(error)};
    int opened = cli_output_open(&output, NULL);
    if (opened != CLI_EXIT_OK)
        return opened;
    struct pyro_writer writer = cli_output_writer(&output);
    enum pyro_status status = pyro_crawl_from_spot(path, &writer, &error);
    int closed = cli_output_close(&output, status == PYRO_OK);
    if (status == PYRO_ERROR_INPUT) {
        cli_complain_unreadable(path, error.message);
        return CLI_EXIT_INPUT;
    }
    return status == PYRO_OK || status == PYRO_ERROR_OUTPUT ? closed : cli_usage_error(call->verb, "%s", error.message);
}

static int run(const struct cli_call *call)
{
    const char *spot = cli_value(call, "from-spot");
    if (spot != NULL)
        return translate(call, spot);
    struct crawl state = {.call = call};
    struct pyro_error error = {.size = sizeof(error)};
    if (!take_options(&state))
        return CLI_EXIT_USAGE;
    int opened = cli_output_open(&state.output, NULL);
    if (opened != CLI_EXIT_OK)
        return opened;
    cli_catch_signals();
    cli_stop_within(STOP_SECONDS);
    const struct pyro_options work = {.size = sizeof(work), .progress = look, .progress_context = &state};
    enum pyro_status status = pyro_crawl(&state.options, &work, &error);
    if (state.progress.shown)
        fputs("\n", stderr);
    int status_of_crawl = exit_of(&state, status, &error);
    int closed = cli_output_close(&state.output, true);
    return status_of_crawl != CLI_EXIT_OK ? status_of_crawl : closed;
}

static const struct cli_option options[] = {
    CLI_OPTION_STORE,
    {"config", 'c', "FILE", NULL, NULL,
     "Read sources, store, classification and enrichers from this file (crawl.yaml). Options have priority."},
    {"every", 0, "TIME", NULL, NULL, "Look for new logs at this interval. Default: 60s."},
    {"once", 0, NULL, NULL, NULL, "Stop after one pass."},
    {"jobs", 'j', "N", NULL, NULL, "Read N logs at a time. Default: one per core."},
    {"rate", 0, "N/s", NULL, NULL, "Read at most N logs a second from each source."},
    {"min-end-date", 0, "DATE", NULL, NULL,
     "Only take runs that ended at this time (UTC, YYYY-MM-DDThh:mm:ss) or later; of a folder, logs that were written "
     "then or later."},
    {"min_end_date", 0, "DATE", NULL, NULL, "The same, spelled as in Spot."},
    {"retry-errors", 0, NULL, NULL, NULL,
     "Try all logs again that failed. Without SOURCE, make all failed logs of the store due again, for other "
     "crawlers."},
    {"recompute", 0, NULL, NULL, NULL,
     "First read the logs of all stored runs again, if they are still available, and replace what the store has."},
    {"from-spot", 0, "FILE", NULL, NULL,
     "Print the configuration (crawl.yaml) that does what Spot does with this config.ini, and do nothing else."},
    {"log-format", 0, "FORMAT", "text json", NULL,
     "Print one line for each event in this format. Default: text; on a terminal, failures and a line of progress."},
    {"timeout", 0, "SECONDS", NULL, "120", "Give up on a server that sends almost nothing for this time."},
    {"max-download", 0, "SIZE", NULL, "16G",
     "Refuse a remote log of which the server sends more than SIZE. The log needs that much space in TMPDIR."},
    CLI_OPTION_NO_LIMITS,
    CLI_OPTION_REDACT,
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer crawl http://history:18080 --store sqlite:runs.db",
     "Take every run of a History Server, and those to come."},
    {"pyrometer crawl /var/spark-events --store sqlite:runs.db --once", "One pass over a folder of event logs."},
    {"pyrometer crawl -c crawl.yaml --log-format json", "As a service."},
    {0},
};

const struct cli_verb_body cli_verb_crawl = {
    .run = run,
    .most = 1000,
    .options = options,
    .choices = "@files",
    .description =
        "Brings all runs of History Servers and folders of event logs into a store. A pass lists what a source has, "
        "reads and diagnoses what is new or has changed, and stores it; then the next pass follows. A log that is "
        "still being written is taken when it ends, or when it has not grown for a day.\n\nSeveral crawlers share the "
        "work of one store. Each claims a log for five minutes at a time, so that none is lost when one of them dies. "
        "A log that fails is tried five times, later and later, and is listed in the store's errors.\n\nSOURCE is a "
        "folder or the address of a History Server. The exit status is 0 even if single logs failed, 3 if --once could "
        "not reach a source, and 4 if the store cannot be written. SIGTERM finishes the logs that are being read, for "
        "at most 30 seconds.",
    .examples = examples,
};
