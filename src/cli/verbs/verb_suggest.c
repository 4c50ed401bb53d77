/* pyrometer suggest --app NAME, --all, --review, and ... -- spark-submit ARGS */
#include "ending.h"
#include "price_options.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MS = 2000, ANSWER_SECONDS = 3, RECORD_SECONDS = 60, ANSWER_BYTES = 1 << 16 };

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

static enum pyro_status open_store(const struct cli_call *call, bool reads, struct question *question,
                                   struct pyro_error *error)
{
    const struct pyro_store_options how = {.size = sizeof(how), .redaction = cli_redaction(call), .read_only = reads};
    return pyro_store_open(cli_store_url(call), &how, NULL, &question->store, error);
}

/* Exit status; what is wrong was said. */
static int open_question(const struct cli_call *call, struct cli_progress *progress, bool reads, struct question *ret)
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
    return open_store(call, reads, ret, &error) == PYRO_OK ? CLI_EXIT_OK : cli_failure(&error);
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
    int status = cli_result_open(call, &output, NULL);
    if (status != CLI_EXIT_OK)
        return status;
    status = open_question(call, &progress, false, &question);
    if (status == CLI_EXIT_OK) {
        const struct pyro_writer writer = cli_output_writer(&output);
        if (answer(call, &question, &writer, &error) != PYRO_OK)
            status = fail(call, &error);
    }
    close_question(&question);
    return cli_result_close(&output, status);
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

/* "KEY=VALUE", each with a NUL behind it, and one more NUL: an answer that breaks off is none. */
static bool send_settings(const pyro_suggestion *suggestion, int descriptor)
{
    bool sent = true;
    for (size_t i = 0; sent && i < pyro_suggestion_setting_count(suggestion); i++) {
        struct pyro_suggested_setting setting = {.size = sizeof(setting)};
        cli_filled(pyro_suggestion_setting(suggestion, i, &setting));
        sent = write_pipe(&descriptor, setting.key, strlen(setting.key)) == 0 && write_pipe(&descriptor, "=", 1) == 0 &&
               write_pipe(&descriptor, setting.value, strlen(setting.value) + 1) == 0;
    }
    return sent && write_pipe(&descriptor, "", 1) == 0;
}

/* A reader of the job's output must not wait for this process. */
static void leave_output(void)
{
    int nothing = open("/dev/null", O_RDWR);
    for (int i = STDIN_FILENO; nothing >= 0 && i <= STDERR_FILENO; i++)
        dup2(nothing, i);
}

/* Keeps the suggestion, however long the store is locked; says what is wrong behind the answer. */
static int record(const struct cli_call *call, struct question *question, pyro_suggestion *suggestion, int descriptor)
{
    struct pyro_error error = {.size = sizeof(error)};
    pyro_store_close(question->store);
    question->store = NULL;
    if (open_store(call, false, question, &error) == PYRO_OK &&
        pyro_suggestion_record(question->store, suggestion, &error) == PYRO_OK)
        return CLI_EXIT_OK;
    write_pipe(&descriptor, error.message, strlen(error.message));
    return CLI_EXIT_OUTPUT;
}

/* The store is opened read-only, so that its writers are not waited for. If its parent stops waiting, the process ends
 * by its alarm. */
static int answer_job(const struct cli_call *call, int descriptor)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct cli_progress progress;
    struct question question;
    pyro_suggestion *suggestion = NULL;
    alarm(ANSWER_SECONDS);
    int status = open_question(call, &progress, true, &question);
    if (status == CLI_EXIT_OK && pyro_suggest(question.store, cli_value(call, "app"), &question.options,
                                              &question.loading.work, &suggestion, &error) != PYRO_OK)
        status = fail(call, &error);
    if (status == CLI_EXIT_OK) {
        alarm(RECORD_SECONDS);
        leave_output();
        if (send_settings(suggestion, descriptor) && pyro_suggestion_setting_count(suggestion) > 0)
            status = record(call, &question, suggestion, descriptor);
    }
    pyro_suggestion_free(suggestion);
    close_question(&question);
    return status;
}

/* What is sent until the other end is closed; false: it was not within the time. */
static bool receive(int descriptor, char *buffer, size_t bytes, size_t *ret_len)
{
    int64_t left_ms = ANSWER_MS;
    *ret_len = 0;
    for (;;) {
        struct pollfd waits = {.fd = descriptor, .events = POLLIN};
        struct timespec before, after;
        clock_gettime(CLOCK_MONOTONIC, &before);
        int ready = poll(&waits, 1, (int)left_ms);
        clock_gettime(CLOCK_MONOTONIC, &after);
        left_ms -= (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
        if (ready < 0 && errno == EINTR && left_ms > 0)
            continue;
        if (ready <= 0 || *ret_len == bytes)
            return false;
        ssize_t got = read(descriptor, buffer + *ret_len, bytes - *ret_len);
        if (got <= 0)
            return got == 0;
        *ret_len += (size_t)got;
        left_ms = left_ms > 0 ? left_ms : 0;
    }
}

/* The process that answers is not a child of the job, which knows nothing of it and would not end it. Gives the leader
 * of its group; -1: there is none. */
static pid_t start_answer(const struct cli_call *call, const int *ends)
{
    pid_t leader = fork();
    if (leader == 0) {
        close(ends[0]);
        setpgid(0, 0);
        _exit(fork() == 0 ? answer_job(call, ends[1]) : CLI_EXIT_OK);
    }
    int status = 0;
    while (leader > 0 && waitpid(leader, &status, 0) < 0 && errno == EINTR)
        ;
    return leader;
}

/* Bytes of the settings at the start of what was received, and whether their end was. */
static size_t settings_of(const char *buffer, size_t len, bool *ret_complete)
{
    size_t at = 0;
    const char *end;
    while ((end = memchr(buffer + at, '\0', len - at)) != NULL && end > buffer + at)
        at = (size_t)(end - buffer) + 1;
    *ret_complete = end != NULL;
    return end != NULL ? at : 0;
}

/* Asks in a process of its own, so that whatever happens there, the job starts. Gives the bytes of the answer. A store
 * that is locked is waited for as long as an answer is; later the suggestion is kept while the job runs. */
static size_t ask_process(const struct cli_call *call, char *buffer)
{
    int ends[2];
    size_t len = 0;
    bool complete = false;
    if (pipe(ends) != 0)
        return 0;
    pid_t leader = start_answer(call, ends);
    close(ends[1]);
    bool ended = leader > 0 && receive(ends[0], buffer, ANSWER_BYTES - 1, &len);
    close(ends[0]);
    size_t bytes = settings_of(buffer, len, &complete);
    if (!ended && !complete) {
        if (leader > 0)
            kill(-leader, SIGKILL);
        cli_complain("no suggestion within 2 seconds: the job starts with its own settings");
    }
    buffer[len] = '\0';
    if (ended && complete && len > bytes + 1)
        cli_complain("the store does not keep the suggestion: %s", buffer + bytes + 1);
    return bytes;
}

/* The command, then the settings, then its own arguments: where both say something, spark-submit takes the later. */
static int start(const struct cli_call *call)
{
    char *buffer = calloc(1, ANSWER_BYTES);
    size_t len = buffer != NULL ? ask_process(call, buffer) : 0, settings = 0, count = 0;
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
    execvp(words[0], (char *const *)(uintptr_t)words); /* which it only reads */
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
    {"format", 'f', "FORMAT", cli_formats_suggest, "text",
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
