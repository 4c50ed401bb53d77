/* pyrometer serve DIR|STORE... */
#include "config_options.h"
#include "loading.h"
#include "price_options.h"

#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { STOP_SECONDS = 2, ARENAS = 4 };

static volatile sig_atomic_t reload_asked;

static void on_hangup(int signal_number)
{
    (void)signal_number;
    reload_asked = 1;
}

/* Where there is nothing to read again, a terminal that goes takes the server with it. */
static void catch_hangup(const struct pyro_server_options *options)
{
    struct sigaction action = {.sa_handler = on_hangup, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (options->tokens != NULL || options->tls_certificate != NULL)
        sigaction(SIGHUP, &action, NULL);
}

static void wait_for_signal(pyro_server *server)
{
    while (!cli_stop_signal()) {
        const struct timespec moment = {.tv_nsec = 100000000}; /* a signal ends it at once */
        nanosleep(&moment, NULL);
        if (reload_asked) {
            reload_asked = 0;
            pyro_server_reload(server);
        }
    }
}

static void warn(void *context, const char *message)
{
    (void)context;
    cli_complain("%s; the server continues with the previous one", message);
}

/* --add-token: no server; one more user who may use one. */
static int add_token(const struct cli_call *call, const char *name)
{
    const char *file = cli_value(call, "tokens");
    char token[160];
    struct pyro_error error = {.size = sizeof(error)};
    if (file == NULL)
        return cli_usage_error(call->verb, "--add-token needs --tokens FILE, where the token's hash is kept");
    enum pyro_status status =
        pyro_token_add(file, name, cli_value(call, "role"), cli_value(call, "groups"), token, sizeof(token), &error);
    if (status == PYRO_ERROR_ARGUMENT)
        return cli_usage_error(call->verb, "%s", error.message);
    if (status != PYRO_OK) {
        cli_complain("%s", error.message);
        return CLI_EXIT_OUTPUT;
    }
    printf("%s\n", token);
    return fflush(stdout) == 0 ? CLI_EXIT_OK : CLI_EXIT_OUTPUT;
}

enum { NAMES = 16 };

static void take_names(const struct cli_call *call, const char *option, const char **names, size_t *ret_count)
{
    const char *name;
    while (*ret_count < NAMES && (name = cli_repeated_value(call, option, *ret_count)) != NULL)
        names[(*ret_count)++] = name;
}

static void take_access(const struct cli_call *call, struct pyro_server_options *options, const char **hosts,
                        const char **origins)
{
    options->tokens = cli_value(call, "tokens");
    options->tls_certificate = cli_value(call, "tls-cert");
    options->tls_key = cli_value(call, "tls-key");
    options->acls = cli_value(call, "acls") != NULL;
    options->insecure = cli_value(call, "insecure") != NULL;
    take_names(call, "allow-host", hosts, &options->host_count);
    take_names(call, "allow-origin", origins, &options->origin_count);
    options->hosts = hosts;
    options->origins = origins;
}

/* As many files as this user may open: each connection is one. */
static void raise_file_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

/* Beyond a few threads each one's own arena would keep what it freed; large blocks go back to the system at once. */
static void limit_memory(uint64_t memory)
{
    cli_limit_sqlite(memory);
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, ARENAS);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
#endif
}

/* Prices only where some are given: reports say nothing of costs without. */
static int open_prices(const struct cli_call *call, pyro_prices **ret)
{
    struct pyro_error error = {.size = sizeof(error)};
    const char *instance = cli_value(call, "instance"), *region = cli_value(call, "region");
    enum pyro_status status = PYRO_OK;
    if (cli_value(call, "prices") != NULL || instance != NULL || region != NULL)
        status = cli_prices_open(call, ret, &error);
    if (status == PYRO_OK && *ret != NULL)
        status = pyro_prices_choose_nodes(*ret, instance, region, &error);
    return status == PYRO_OK ? CLI_EXIT_OK : cli_failure(&error);
}

/* A store that cannot be opened is reported at the start, not at the first request. */
static int check_store(const char *url)
{
    struct pyro_error error = {.size = sizeof(error)};
    pyro_store *store = NULL;
    if (url == NULL || pyro_store_open(url, NULL, NULL, &store, &error) == PYRO_OK) {
        pyro_store_close(store);
        return CLI_EXIT_OK;
    }
    return cli_failure(&error);
}

static int serve(const struct cli_call *call, struct pyro_server_options *options)
{
    struct pyro_error error = {.size = sizeof(error)};
    pyro_server *server = NULL;
    cli_catch_signals();
    catch_hangup(options);
    options->warn = warn;
    enum pyro_status status = pyro_server_start(call->arguments, call->argument_count, options, &server, &error);
    if (status == PYRO_ERROR_ARGUMENT)
        return cli_usage_error(call->verb, "%s", error.message);
    if (status == PYRO_ERROR_OUTPUT) {
        cli_complain("%s", error.message);
        return CLI_EXIT_OUTPUT;
    }
    if (status != PYRO_OK)
        return cli_failure(&error);
    bool six = strchr(options->host, ':') != NULL;
    printf("listening on http%s://%s%s%s:%u/\n", options->tls_key != NULL ? "s" : "", six ? "[" : "", options->host,
           six ? "]" : "", pyro_server_port(server));
    bool written = fflush(stdout) == 0;
    if (written)
        wait_for_signal(server);
    alarm(STOP_SECONDS); /* whatever does not look whether it is to stop ends with the process */
    pyro_server_stop(server);
    return written ? CLI_EXIT_OK : CLI_EXIT_OUTPUT;
}

/* --retain-like-spark, and --retained for other numbers. False: reported. */
static bool take_retained(const struct cli_call *call, struct pyro_retained_limits *limits)
{
    const struct {
        const char *key;
        uint64_t *limit, spark;
    } rows[] = {
        {"spark.ui.retainedTasks", &limits->tasks, 100000},
        {"spark.ui.retainedJobs", &limits->jobs, 1000},
        {"spark.ui.retainedStages", &limits->stages, 1000},
        {"spark.sql.ui.retainedExecutions", &limits->executions, 1000},
        {"spark.ui.retainedDeadExecutors", &limits->dead_executors, 100},
    };
    enum { ROWS = sizeof(rows) / sizeof(*rows) };
    const char *given;
    bool like_spark = cli_value(call, "retain-like-spark") != NULL;
    for (size_t i = 0; like_spark && i < ROWS; i++)
        *rows[i].limit = rows[i].spark;
    for (size_t n = 0; (given = cli_repeated_value(call, "retained", n)) != NULL; n++) {
        const char *sign = strchr(given, '=');
        size_t len = sign != NULL ? (size_t)(sign - given) : strlen(given), row = 0;
        while (row < ROWS && (strlen(rows[row].key) != len || memcmp(rows[row].key, given, len) != 0))
            row++;
        size_t digits = sign != NULL ? strspn(sign + 1, "0123456789") : 0;
        uint64_t limit = digits > 0 && digits < 10 && sign[1 + digits] == '\0' ? strtoull(sign + 1, NULL, 10) : 0;
        if (row == ROWS || limit == 0) {
            cli_usage_error(call->verb,
                            "--retained cannot be '%s'; it is KEY=N with N from 1 to 999999999 and KEY one "
                            "of spark.ui.retainedTasks, spark.ui.retainedJobs, spark.ui.retainedStages, "
                            "spark.sql.ui.retainedExecutions, spark.ui.retainedDeadExecutors",
                            given);
            return false;
        }
        *rows[row].limit = limit;
    }
    return true;
}

static bool take_upload_limits(const struct cli_call *call, struct pyro_server_options *options)
{
    unsigned count;
    if (!cli_size_value(call, "max-upload", &options->max_upload_bytes) ||
        !cli_size_value(call, "uploads-size", &options->uploads_bytes) ||
        !cli_unsigned_value(call, "uploads-count", 1, 1000000, &count) ||
        !cli_size_value(call, "uploads-free", &options->uploads_free_bytes) ||
        !cli_size_value(call, "max-upload-line", &options->upload_line_bytes) ||
        !cli_unsigned_value(call, "max-upload-ratio", 1, 1000000, &options->upload_ratio) ||
        !cli_unsigned_value(call, "upload-cpu", 1, 86400, &options->upload_cpu_s) ||
        !cli_unsigned_value(call, "user-cpu", 1, 86400, &options->user_cpu_s))
        return false;
    options->uploads_count = count;
    return true;
}

static int run(const struct cli_call *call)
{
    struct pyro_server_options options = {.size = sizeof(options), .host = cli_value(call, "host")};
    struct pyro_retained_limits retained = {.size = sizeof(retained)};
    options.retained = &retained;
    const char *hosts[NAMES], *origins[NAMES], *new_token = cli_value(call, "add-token");
    if (new_token != NULL)
        return add_token(call, new_token);
    if (call->argument_count == 0)
        return cli_usage_error(call->verb, "give a folder with logs");
    pyro_config *config = NULL;
    pyro_prices *prices = NULL;
    if (!cli_unsigned_value(call, "port", 0, 65535, &options.port) ||
        !cli_size_value(call, "memory", &options.memory_bytes) || !take_upload_limits(call, &options) ||
        !cli_interval_value(call, "update-interval", &options.update_ms) ||
        !cli_time_value(call, "stale-after", &options.stale_ms) ||
        !cli_unsigned_value(call, "max-connections", 1, 1000000, &options.max_connections) ||
        !cli_unsigned_value(call, "queries", 1, 64, &options.queries) ||
        !cli_interval_value(call, "query-timeout", &options.query_ms) || !take_retained(call, &retained))
        return CLI_EXIT_USAGE;
    take_access(call, &options, hosts, origins);
    raise_file_limit();
    limit_memory(options.memory_bytes);
    char cache[PATH_MAX];
    if (cli_value(call, "no-cache") == NULL)
        options.cache = cli_cache_folder(call, cache, sizeof(cache));
    options.upload_folder = cli_value(call, "uploads");
    options.unlimited = cli_value(call, "no-input-limits") != NULL;
    options.follow_links = cli_value(call, "follow-links") != NULL;
    options.store = cli_store_url(call);
    options.redaction = cli_redaction(call);
    int status = check_store(options.store);
    if (status == CLI_EXIT_OK)
        status = cli_config_open(call, &config);
    if (status == CLI_EXIT_OK)
        status = open_prices(call, &prices);
    options.config = config;
    options.prices = prices;
    if (status == CLI_EXIT_OK)
        status = serve(call, &options);
    pyro_config_free(config);
    pyro_prices_free(prices);
    return status;
}

static const struct cli_option options[] = {
    {"port", 'p', "N", NULL, "18080",
     "Listen on this port. 0 takes a free port; the line on standard output names it."},
    {"host", 0, "ADDRESS", NULL, "127.0.0.1",
     "Listen on this address, IPv4 or IPv6. An address that other machines can reach needs --tokens and TLS, or "
     "--insecure."},
    {"tokens", 0, "FILE", NULL, NULL,
     "Require a token from this file. The file has only hashes. --add-token writes it, and a running server reads it "
     "again when it changes."},
    {"add-token", 0, "NAME", NULL, NULL,
     "Create a token for NAME, print it once, and keep its hash in the file of --tokens. An earlier token of NAME "
     "becomes invalid. Does not start a server."},
    {"role", 0, "ROLE", "view upload admin", "view",
     "What the new token allows. view: read. upload: also upload logs and delete uploads. admin: also see every "
     "application, regardless of its access lists."},
    {"groups", 0, "NAMES", NULL, NULL, "The groups of NAME, as a,b, for the access lists of applications."},
    {"tls-cert", 0, "FILE", NULL, NULL,
     "Serve HTTPS (TLS 1.2 or 1.3) with this certificate chain (PEM). The server reads it again when it changes and on "
     "SIGHUP."},
    {"tls-key", 0, "FILE", NULL, NULL, "The private key of the certificate (PEM)."},
    {"insecure", 0, NULL, NULL, NULL,
     "Allow an address that other machines can reach, without tokens or without TLS. Without tokens, everyone who "
     "reaches the server can read every log and upload logs. Without TLS, everyone on the network path can read tokens "
     "and answers."},
    {"acls", 0, NULL, NULL, NULL,
     "With tokens: show each application only to its owner and to the users in its access lists, as "
     "spark.history.ui.acls.enable does. Without this option only applications that ran with spark.acls.enable are "
     "restricted."},
    {"allow-host", 0, "NAME...", NULL, NULL,
     "Without tokens: also accept requests to this host name. Requests to IP addresses and localhost are always "
     "accepted."},
    {"allow-origin", 0, "ORIGIN...", NULL, NULL,
     "Allow pages of this origin (https://name:port) to read answers and send requests."},
    {"max-connections", 0, "N", NULL, "4096",
     "Serve at most this many connections at the same time, and at most half of them from one address."},
    {"memory", 0, "SIZE", NULL, "1G",
     "The memory limit for open applications, statements and answers together. The most recently used applications "
     "stay open. Requests that need more are refused. The process stays below this limit plus 256M."},
    {"query-timeout", 0, "TIME", NULL, "15s",
     "Stop the SQL statement of a client (the tool 'query' of agents) after TIME, from 100ms to 1d."},
    {"queries", 0, "N", NULL, "2",
     "Run at most this many SQL statements at the same time. Eight more wait for up to two seconds; others are "
     "refused."},
    {"uploads", 0, "FOLDER", NULL, NULL,
     "Keep uploaded logs in this folder. The server creates it if necessary. Default: a folder in $TMPDIR, which the "
     "server deletes when it ends."},
    {"max-upload", 0, "SIZE", NULL, "2G", "Refuse an upload larger than this."},
    {"uploads-size", 0, "SIZE", NULL, "20G", "Refuse uploads when all uploads together exceed this size."},
    {"uploads-count", 0, "N", NULL, "10000", "Keep at most this many uploads."},
    {"uploads-free", 0, "SIZE", NULL, "512M",
     "Refuse uploads that leave less than this free on the disk of the uploads folder."},
    {"max-upload-ratio", 0, "N", NULL, "1000",
     "Refuse uploads that decompress to more than 64 MiB and more than N times their size."},
    {"max-upload-line", 0, "SIZE", NULL, "64M", "Refuse uploads with a line longer than this."},
    {"upload-cpu", 0, "SECONDS", NULL, "120",
     "Stop reading an upload when it takes more CPU time than this, on every read."},
    {"user-cpu", 0, "SECONDS", NULL, "600",
     "Refuse uploads of a user (without tokens: of an address) whose uploads took more CPU time than this within the "
     "last hour."},
    CLI_OPTION_NO_LIMITS,
    {"follow-links", 0, NULL, NULL, NULL, "Also follow symbolic links that lead out of the folders."},
    {"update-interval", 0, "TIME", NULL, "10s",
     "Check the folders this often, from 100ms to 1d, for logs that are new, have grown, were renamed or were removed. "
     "Changes in local folders are noticed sooner."},
    {"stale-after", 0, "TIME", NULL, "24h",
     "List a log without an end as truncated, not as running, if it has not grown for this time."},
    {"cache", 0, "DIR", NULL, NULL,
     "Keep an index of the logs in this folder, so that the next start reads only changed logs. Default: "
     "$XDG_CACHE_HOME/pyrometer, or ~/.cache/pyrometer."},
    {"no-cache", 0, NULL, NULL, NULL, "Do not keep an index between starts."},
    {"retain-like-spark", 0, NULL, NULL, NULL,
     "Apply the default retention of Spark's History Server to /api/v1: 100000 tasks per stage, 1000 jobs, stages and "
     "SQL executions, and 100 removed executors. Without this option /api/v1 shows everything."},
    {"retained", 0, "KEY=N...", NULL, NULL,
     "Apply the retention of a History Server with this property to /api/v1: spark.ui.retainedTasks, retainedJobs, "
     "retainedStages or retainedDeadExecutors, or spark.sql.ui.retainedExecutions. It takes precedence over "
     "--retain-like-spark. Alone it limits nothing else."},
    {"store", 's', "URL", NULL, NULL,
     "Keep feedback on findings in this store (sqlite:FILE, opensearch:URL). Without a store the server refuses "
     "feedback. Default: the "
     "environment variable PYROMETER_STORE."},
    CLI_OPTION_REDACT,
    CLI_OPTION_CONFIG,
    CLI_OPTION_SUPPRESS,
    {"prices", 'P', "FILE...", NULL, NULL,
     "Show in reports what runs cost, with the prices of this file. They take precedence over the prices that come "
     "with pyrometer (docs/prices.md). May be given several times."},
    {"instance", 0, "TYPE", NULL, NULL,
     "Show in reports what runs cost on nodes of this instance type, whatever their logs say."},
    {"region", 0, "REGION", NULL, NULL, "Use the prices of this region, whatever the logs say."},
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer serve /var/log/spark-events", "Answers like a History Server, on http://127.0.0.1:18080/."},
    {"pyrometer serve sqlite:runs.db",
     "The same for the runs of a store. Uses their logs or, if a log no longer exists, the stored report."},
    {"curl http://127.0.0.1:18080/api/v1/applications", "The list of applications, in Spark's format."},
    {"pyrometer serve --retain-like-spark --retained spark.ui.retainedJobs=5000 DIR",
     "Shows no more than a History Server that keeps 5,000 jobs."},
    {"pyrometer serve --port 0 DIR", "On a free port, for scripts: read the port from the line that it prints."},
    {"pyrometer serve --add-token vera --tokens TOKENS", "Gives vera read access: prints her token."},
    {"pyrometer serve --host 0.0.0.0 --tokens TOKENS --tls-cert cert.pem --tls-key key.pem DIR",
     "For other machines, with tokens and TLS."},
    {0},
};

const struct cli_verb_body cli_verb_serve = {
    .run = run,
    .least = 0,
    .most = SIZE_MAX,
    .options = options,
    .choices = "@files",
    .description = "Serves the web UI and the REST API of Spark's History Server (/api/v1, as Spark 3.5) for the logs "
                   "in folders and the runs in stores (sqlite:FILE, opensearch:URL): applications, jobs, stages, "
                   "tasks, executors, "
                   "RDDs, environment. docs/serve.md lists all endpoints. /pyrometer/v1 serves reports, timelines, "
                   "plans, predictions, uploads and feedback (docs/api.md). /metrics serves metrics for "
                   "Prometheus.\n\nPrints one line, 'listening on http://HOST:PORT/', as soon as it listens. Requests "
                   "wait until the server has read the folders. Ctrl-C or SIGTERM stops the server.",
    .examples = examples,
};
