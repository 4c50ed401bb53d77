/* pyrometer suggest --app NAME, --all, --review, and ... -- spark-submit ARGS */
#include "load.h"
#include "output.h"
#include "prices.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MS = 2000, FLAGS_BYTES = 1 << 16 };

/* What is asked, as the library takes it. */
struct question {
    struct pyro_suggest_options options;
    struct cli_loading loading;
    pyro_prices *prices;
    pyro_store *store;
};

static bool read_numbers(const struct cli_call *call, struct pyro_suggest_options *options)
{
    uint64_t input = 0;
    if (cli_value(call, "input-bytes") != NULL && !cli_size_value(call, "input-bytes", &input))
        return false;
    options->input_bytes = input > INT64_MAX ? INT64_MAX : (int64_t)input;
    return (cli_value(call, "deadline") == NULL || cli_time_value(call, "deadline", &options->deadline_ms)) &&
           (cli_value(call, "max-cost") == NULL || cli_amount_value(call, "max-cost", 1e15, &options->max_cost));
}

/* Exit status; what is wrong was said. */
static int open_question(const struct cli_call *call, struct cli_progress *progress, struct question *ret)
{
    struct pyro_error error = {.size = sizeof(error)};
    *ret = (struct question){.options = {.size = sizeof(ret->options)}};
    if (!cli_load_options(call, progress, &ret->loading) || !read_numbers(call, &ret->options))
        return CLI_EXIT_USAGE;
    ret->options.instance = cli_value(call, "instance");
    ret->options.region = cli_value(call, "region");
    ret->options.policy = cli_value(call, "policy");
    ret->options.without_logs = cli_value(call, "no-logs") != NULL;
    bool money = cli_value(call, "prices") != NULL || ret->options.instance != NULL;
    if (money && cli_prices_open(call, &ret->prices, &error) != PYRO_OK)
        return cli_failure(&error);
    ret->options.prices = ret->prices;
    ret->options.load = &ret->loading.load;
    const struct pyro_store_options how = {.size = sizeof(how), .redaction = cli_redaction(call)};
    return pyro_store_open(cli_store_url(call), &how, NULL, &ret->store, &error) == PYRO_OK ? CLI_EXIT_OK
                                                                                            : cli_failure(&error);
}

static void close_question(struct question *question)
{
    pyro_store_close(question->store);
    pyro_prices_free(question->prices);
}

static int fail(const struct cli_call *call, const struct pyro_error *error)
{
    return error->code == PYRO_ERROR_ARGUMENT ? cli_usage_error(call->verb, "%s", error->message) : cli_failure(error);
}

static enum pyro_suggestion_format format_of(const struct cli_call *call)
{
    static const char *const names[] = {"text", "json", "spark-submit", "spark-defaults"};
    unsigned format = 0;
    while (format < 3 && strcmp(names[format], cli_value(call, "format")) != 0)
        format++;
    return (enum pyro_suggestion_format)format;
}

/* One application: suggested, kept, written, and applied where that is asked. */
static enum pyro_status suggest_one(const struct cli_call *call, const struct question *question,
                                    const struct pyro_writer *writer, struct pyro_error *error)
{
    pyro_suggestion *suggestion = NULL;
    enum pyro_status status = pyro_suggest(question->store, cli_value(call, "app"), &question->options,
                                           &question->loading.work, &suggestion, error);
    bool applies = cli_value(call, "apply") != NULL &&
                   (cli_value(call, "unattended") == NULL || pyro_suggestion_is_permitted(suggestion));
    if (status == PYRO_OK && applies)
        status = pyro_suggestion_apply(question->store, suggestion, cli_value(call, "apply"), error);
    else if (status == PYRO_OK)
        status = pyro_suggestion_record(question->store, suggestion, error);
    if (status == PYRO_OK)
        status = pyro_suggestion_write(suggestion, format_of(call), writer, error);
    pyro_suggestion_free(suggestion);
    return status;
}

static enum pyro_status answer(const struct cli_call *call, const struct question *question,
                               const struct pyro_writer *writer, struct pyro_error *error)
{
    if (cli_value(call, "review") != NULL) {
        const struct pyro_review_options how = {.size = sizeof(how),
                                                .application = cli_value(call, "app"),
                                                .policy = cli_value(call, "policy"),
                                                .rollback = cli_value(call, "rollback") != NULL};
        return pyro_suggestions_review(question->store, &how, format_of(call), &question->loading.work, writer, error);
    }
    if (cli_value(call, "all") != NULL)
        return pyro_suggest_all(question->store, &question->options, format_of(call), &question->loading.work, writer,
                                error);
    return suggest_one(call, question, writer, error);
}

static int print(const struct cli_call *call)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct cli_progress progress;
    struct cli_output output;
    struct question question;
    int status = cli_output_open(&output, cli_value(call, "output"));
    if (status != CLI_EXIT_OK)
        return status;
    cli_catch_signals();
    status = open_question(call, &progress, &question);
    if (status == CLI_EXIT_OK) {
        const struct pyro_writer writer = cli_output_writer(&output);
        if (answer(call, &question, &writer, &error) != PYRO_OK)
            status = fail(call, &error);
    }
    close_question(&question);
    int closed = cli_output_close(&output, status == CLI_EXIT_OK);
    return status == CLI_EXIT_OK ? closed : status;
}

/* ---- Starting a job -------------------------------------------------------------------------------------------------
 */

static int write_pipe(void *context, const void *data, size_t len)
{
    const int *descriptor = context;
    const char *at = data;
    while (len > 0) {
        ssize_t wrote = write(*descriptor, at, len);
        if (wrote < 0 && errno != EINTR)
            return 1;
        at += wrote > 0 ? wrote : 0;
        len -= wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

/* "KEY=VALUE", each with a NUL behind it. */
static int send_settings(const struct cli_call *call, int descriptor)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct cli_progress progress;
    struct question question;
    pyro_suggestion *suggestion = NULL;
    int status = open_question(call, &progress, &question);
    if (status == CLI_EXIT_OK && pyro_suggest(question.store, cli_value(call, "app"), &question.options,
                                              &question.loading.work, &suggestion, &error) != PYRO_OK)
        status = fail(call, &error);
    bool sent = status == CLI_EXIT_OK;
    for (size_t i = 0; sent && i < pyro_suggestion_setting_count(suggestion); i++) {
        struct pyro_suggested_setting setting = {.size = sizeof(setting)};
        pyro_suggestion_setting(suggestion, i, &setting);
        sent = write_pipe(&descriptor, setting.key, strlen(setting.key)) == 0 && write_pipe(&descriptor, "=", 1) == 0 &&
               write_pipe(&descriptor, setting.value, strlen(setting.value) + 1) == 0;
    }
    close(descriptor);
    if (status == CLI_EXIT_OK && pyro_suggestion_record(question.store, suggestion, &error) != PYRO_OK)
        status = fail(call, &error);
    pyro_suggestion_free(suggestion);
    close_question(&question);
    return status;
}

/* What the child sends until it is done or the time is over; -1: there is no answer. */
static ssize_t receive(int descriptor, char *buffer, size_t bytes)
{
    int64_t left_ms = ANSWER_MS;
    size_t len = 0;
    for (;;) {
        struct pollfd waits = {.fd = descriptor, .events = POLLIN};
        struct timespec before, after;
        clock_gettime(CLOCK_MONOTONIC, &before);
        int ready = poll(&waits, 1, (int)left_ms);
        clock_gettime(CLOCK_MONOTONIC, &after);
        left_ms -= (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
        if (ready < 0 && errno == EINTR && left_ms > 0)
            continue;
        if (ready <= 0 || len == bytes)
            return -1;
        ssize_t got = read(descriptor, buffer + len, bytes - len);
        if (got < 0)
            return -1;
        if (got == 0)
            return (ssize_t)len;
        len += (size_t)got;
        left_ms = left_ms > 0 ? left_ms : 0;
    }
}

/* Asks in a process of its own, so that whatever happens there, the job starts. Gives the bytes of the answer. */
static size_t ask_child(const struct cli_call *call, char *buffer, size_t bytes)
{
    int ends[2];
    if (pipe(ends) != 0)
        return 0;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        _exit(send_settings(call, ends[1]));
    }
    close(ends[1]);
    ssize_t got = child > 0 ? receive(ends[0], buffer, bytes) : -1;
    close(ends[0]);
    if (child > 0 && got < 0)
        kill(child, SIGKILL);
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (got < 0)
        cli_complain("no suggestion within 2 seconds: the job starts with its own settings");
    return got > 0 ? (size_t)got : 0;
}

/* The command, then the settings, then its own arguments: where both say something, spark-submit takes the later. */
static int start(const struct cli_call *call)
{
    char *buffer = malloc(FLAGS_BYTES);
    size_t len = buffer != NULL ? ask_child(call, buffer, FLAGS_BYTES) : 0, settings = 0, count = 0;
    for (size_t i = 0; i < len; i++)
        settings += buffer[i] == '\0';
    const char **words = calloc(call->argument_count + 2 * settings + 1, sizeof(*words));
    if (words == NULL) {
        free(buffer);
        cli_complain("no memory left");
        return CLI_EXIT_OUTPUT;
    }
    words[count++] = call->arguments[0];
    for (const char *at = buffer; settings > 0; settings--, at += strlen(at) + 1) {
        words[count++] = "--conf";
        words[count++] = at;
    }
    for (size_t i = 1; i < call->argument_count; i++)
        words[count++] = call->arguments[i];
    signal(SIGPIPE, SIG_DFL); /* which the command itself ignores, and the job would inherit */
    signal(SIGXFSZ, SIG_DFL);
    execvp(words[0], (char *const *)words);
    cli_complain("cannot start %s: %s", words[0], strerror(errno));
    free(words);
    free(buffer);
    return CLI_EXIT_INPUT;
}

/* ---- The verb -------------------------------------------------------------------------------------------------------
 */

static int run(const struct cli_call *call)
{
    const bool app = cli_value(call, "app") != NULL, all = cli_value(call, "all") != NULL,
               review = cli_value(call, "review") != NULL, flags = format_of(call) > PYRO_SUGGESTION_JSON;
    if (cli_store_url(call) == NULL)
        return cli_usage_error(call->verb, "suggestions come from the runs of a store; give --store sqlite:FILE");
    if (!review && app == all)
        return cli_usage_error(call->verb, "give --app NAME or --all");
    if (review && (all || cli_value(call, "apply") != NULL))
        return cli_usage_error(call->verb, "--review goes with --app, --rollback and --policy");
    if (!review && cli_value(call, "rollback") != NULL)
        return cli_usage_error(call->verb, "--rollback goes with --review");
    if ((all || review) && flags)
        return cli_usage_error(call->verb, "%s is written as text or json", all ? "--all" : "--review");
    if (cli_value(call, "unattended") != NULL &&
        (cli_value(call, "apply") == NULL || cli_value(call, "policy") == NULL))
        return cli_usage_error(call->verb, "--unattended goes with --apply and --policy");
    if (cli_value(call, "apply") != NULL && !app)
        return cli_usage_error(call->verb, "--apply goes with --app");
    if (call->argument_count > 0 && (!app || review || cli_value(call, "apply") != NULL))
        return cli_usage_error(call->verb, "a job starts with the suggestion of --app");
    return call->argument_count > 0 ? start(call) : print(call);
}

static const struct cli_option options[] = {
    {"app", 'a', "NAME", NULL, NULL, "The application."},
    {"all", 0, NULL, NULL, NULL,
     "Suggest for every application of the store; those that save the most core time in a run come first."},
    {"input-bytes", 0, "SIZE", NULL, NULL,
     "The input of the next run, such as 200G. Default: the median of the newest 5 runs."},
    {"deadline", 0, "TIME", NULL, NULL, "Choose the cheapest configuration that finishes within TIME, such as 30m."},
    {"max-cost", 0, "COST", NULL, NULL,
     "Choose the fastest configuration that costs at most COST: money with --prices or --instance, otherwise core "
     "hours."},
    {"format", 'f', "FORMAT", "text json spark-submit spark-defaults", "text",
     "What to write. JSON is one document, schema pyrometer.suggestion/1. spark-submit: --conf options in one line. "
     "spark-defaults: lines of spark-defaults.conf."},
    {"apply", 0, "FILE", NULL, NULL,
     "Write the settings into FILE (spark-defaults.conf). Only their own lines change; the former file is kept in the "
     "same folder. A file that was changed since the last suggestion is refused."},
    {"unattended", 0, NULL, NULL, NULL,
     "With --apply and --policy: apply only if the policy lists the application and limits executors or cores. "
     "Otherwise only show and keep the suggestion."},
    {"review", 0, NULL, NULL, NULL,
     "Judge the applied suggestions by the runs since: keep, roll back, or wait for more runs."},
    {"rollback", 0, NULL, NULL, NULL, "With --review: restore the former file of suggestions that do harm."},
    {"policy", 0, "FILE", NULL, NULL,
     "Read limits from the section 'policy' of FILE (YAML), such as the crawler's configuration."},
    {"no-logs", 0, NULL, NULL, NULL,
     "Open no event log: use only what the store has. Configurations that never ran are not predicted."},
    CLI_OPTION_STORE,
    {"prices", 0, "FILE...", NULL, NULL,
     "Predict costs with the prices of FILE (YAML) and the prices that come with pyrometer. May be given several "
     "times."},
    {"instance", 0, "TYPE", NULL, NULL, "Price the predictions with nodes of this instance type."},
    {"region", 0, "REGION", NULL, NULL, "Use the prices of this region where the log does not name one."},
    CLI_OPTION_OUTPUT,
    CLI_OPTION_THREADS,
    CLI_OPTION_MAX_RECORD,
    CLI_OPTION_NO_LIMITS,
    CLI_OPTION_REDACT,
    CLI_OPTIONS_REMOTE,
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer suggest --app nightly-etl -s sqlite:runs.db", "The cheapest configuration that is not slower."},
    {"pyrometer suggest --app nightly-etl --input-bytes 200G --deadline 30m -s sqlite:runs.db",
     "The cheapest configuration that reads 200 GiB within half an hour."},
    {"pyrometer suggest --app nightly-etl -s sqlite:runs.db -- spark-submit etl.py",
     "Start the job with the suggested settings, or unchanged if there is no suggestion within 2 seconds."},
    {"pyrometer suggest --app nightly-etl --apply conf/spark-defaults.conf -s sqlite:runs.db",
     "Write the suggestion into a file, and keep the former one."},
    {"pyrometer suggest --review --rollback -s sqlite:runs.db", "Take back what made runs slower or fail."},
    {0},
};

const struct cli_verb_body cli_verb_suggest = {
    .run = run,
    .least = 0,
    .most = 10000,
    .options = options,
    .description =
        "Suggests the configuration of the next run of an application from its earlier runs in a store: executors, "
        "cores, memory and other settings, with the predicted time and cost, how sure they are, and what speaks "
        "against them. With too little history there is no suggestion, and the answer says what is missing.\n\nWith a "
        "command behind '--', the command starts with the suggested settings as --conf options in front of its own "
        "arguments, which take precedence.",
    .examples = examples,
};
