/* pyrometer store query STORE QUESTION, pyrometer store stat|prune STORE */
#include "ending.h"

#include <string.h>

typedef int sub_call(const struct cli_call *call, pyro_store *store, const struct pyro_writer *writer);

static int query(const struct cli_call *call, pyro_store *store, const struct pyro_writer *writer)
{
    struct pyro_error error = {.size = sizeof(error)};
    const struct pyro_store_query_options how = {.size = sizeof(how),
                                                 .user = cli_value(call, "user"),
                                                 .groups = cli_value(call, "groups"),
                                                 .always = cli_value(call, "always") != NULL};
    return pyro_store_query(store, call->arguments[2], &how, writer, &error) == PYRO_OK ? CLI_EXIT_OK
                                                                                        : cli_failure(&error);
}

static int stat(const struct cli_call *call, pyro_store *store, const struct pyro_writer *writer)
{
    struct pyro_error error = {.size = sizeof(error)};
    (void)call;
    return pyro_store_stat(store, writer, &error) == PYRO_OK ? CLI_EXIT_OK : cli_failure(&error);
}

static int prune(const struct cli_call *call, pyro_store *store, const struct pyro_writer *writer)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_prune_options how = {.size = sizeof(how), .dry_run = cli_value(call, "dry-run") != NULL};
    uint64_t most_bytes = 0;
    if ((cli_value(call, "keep") != NULL && !cli_time_value(call, "keep", &how.keep_ms)) ||
        (cli_value(call, "keep-aggregates") != NULL &&
         !cli_time_value(call, "keep-aggregates", &how.keep_aggregates_ms)) ||
        (cli_value(call, "max-size") != NULL && !cli_size_value(call, "max-size", &most_bytes)))
        return CLI_EXIT_USAGE;
    how.most_bytes = most_bytes < INT64_MAX ? (int64_t)most_bytes : INT64_MAX;
    if (how.keep_ms == 0 && how.keep_aggregates_ms == 0 && how.most_bytes == 0)
        return cli_usage_error(call->verb, "say what to keep: --keep, --keep-aggregates or --max-size");
    return pyro_store_prune(store, &how, writer, &error) == PYRO_OK ? CLI_EXIT_OK : cli_failure(&error);
}

static const struct sub_verb {
    const char *name;
    size_t arguments; /* with its own name */
    bool writes;
    sub_call *call;
    const char *usage;
} sub_verbs[] = {{"query", 3, false, query, "query STORE QUESTION"},
                 {"stat", 2, false, stat, "stat STORE"},
                 {"prune", 2, true, prune, "prune STORE"}};

static const struct sub_verb *find_sub_verb(const struct cli_call *call)
{
    enum { COUNT = sizeof(sub_verbs) / sizeof(*sub_verbs) };
    const char *names[COUNT], *given = call->arguments[0];
    for (size_t i = 0; i < COUNT; i++) {
        names[i] = sub_verbs[i].name;
        if (strcmp(given, names[i]) != 0)
            continue;
        if (call->argument_count == sub_verbs[i].arguments)
            return &sub_verbs[i];
        cli_usage_error(call->verb, "give 'store %s'", sub_verbs[i].usage);
        return NULL;
    }
    const char *nearest = pyro_nearest(given, names, COUNT);
    cli_usage_error(call->verb, "'%s' is no command of 'store'%s%s%s", given, nearest ? "; did you mean '" : "",
                    nearest ? nearest : "", nearest ? "'?" : "");
    return NULL;
}

/* False: an option that this command does not have; reported. */
static bool check_options(const struct cli_call *call, const struct sub_verb *sub_verb)
{
    static const char *const owners[][2] = {{"user", "query"},           {"groups", "query"},   {"always", "query"},
                                            {"keep", "prune"},           {"max-size", "prune"}, {"dry-run", "prune"},
                                            {"keep-aggregates", "prune"}};
    for (size_t i = 0; i < sizeof(owners) / sizeof(*owners); i++) {
        if (cli_value(call, owners[i][0]) == NULL || strcmp(sub_verb->name, owners[i][1]) == 0)
            continue;
        cli_usage_error(call->verb, "--%s goes with 'store %s'", owners[i][0], owners[i][1]);
        return false;
    }
    if (cli_value(call, "user") == NULL && (cli_value(call, "groups") != NULL || cli_value(call, "always") != NULL)) {
        cli_usage_error(call->verb, "--groups and --always go with --user");
        return false;
    }
    return true;
}

/* A store that is not there is not made. Gives the exit status. */
static int open_store(const struct cli_call *call, bool writes, pyro_store **ret)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_store_options how = {.size = sizeof(how), .redaction = cli_redaction(call), .read_only = 1};
    if (pyro_store_open(call->arguments[1], &how, NULL, ret, &error) != PYRO_OK)
        return cli_failure(&error);
    if (!writes)
        return CLI_EXIT_OK;
    pyro_store_close(*ret);
    how.read_only = 0;
    return pyro_store_open(call->arguments[1], &how, NULL, ret, &error) == PYRO_OK ? CLI_EXIT_OK : cli_failure(&error);
}

static int run(const struct cli_call *call)
{
    const struct sub_verb *sub_verb = find_sub_verb(call);
    struct cli_output output;
    pyro_store *store = NULL;
    if (sub_verb == NULL || !check_options(call, sub_verb))
        return CLI_EXIT_USAGE;
    cli_catch_signals();
    int status = open_store(call, sub_verb->writes && cli_value(call, "dry-run") == NULL, &store);
    if (status != CLI_EXIT_OK)
        return status;
    status = cli_result_open(call, &output, NULL);
    if (status == CLI_EXIT_OK) {
        struct pyro_writer writer = cli_output_writer(&output);
        status = cli_result_close(&output, sub_verb->call(call, store, &writer));
    }
    pyro_store_close(store);
    return status;
}

static const struct cli_option options[] = {
    {"user", 'u', "NAME", NULL, NULL,
     "query: Answer as for this user, who sees their own runs and those whose access lists let them."},
    {"groups", 0, "NAMES", NULL, NULL, "query: The groups of this user, separated by commas."},
    {"always", 0, NULL, NULL, NULL,
     "query: Access lists also hold for applications that ran without spark.acls.enable."},
    {"keep", 0, "TIME", NULL, NULL,
     "prune: Keep reports and documents of the History Server for this time since the start of their run, such as "
     "90d."},
    {"keep-aggregates", 0, "TIME", NULL, NULL,
     "prune: Keep runs for this time, such as 2y. Then one row for each day and application remains."},
    {"max-size", 0, "SIZE", NULL, NULL,
     "prune: If the store uses more than SIZE (a number of bytes, or a number with K, M or G), remove reports and "
     "documents of the oldest runs, and then the oldest runs."},
    {"dry-run", 0, NULL, NULL, NULL, "prune: Say what would be removed, and change nothing."},
    CLI_OPTION_OUTPUT,
    CLI_OPTION_REDACT,
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer store query sqlite:runs.db '{\"from\": \"runs\", \"fields\": [\"app_id\", \"user\"]}'",
     "The runs of a store."},
    {"pyrometer store query sqlite:runs.db --user ann \"$(cat question.json)\"",
     "The answer that this user gets to the question in a file."},
    {"pyrometer store stat sqlite:runs.db", "What takes the space of a store."},
    {"pyrometer store prune sqlite:runs.db --keep 90d --keep-aggregates 2y --dry-run",
     "What these limits would remove."},
    {0},
};

const struct cli_verb_body cli_verb_store = {
    .run = run,
    .least = 1,
    .most = 3,
    .options = options,
    .choices = "query stat prune",
    .description = "Asks and maintains a store of runs. Each command writes one JSON document. query: answers "
                   "QUESTION, a JSON text "
                   "(pyrometer.store_query/1). stat: the size of the store, and what takes it. prune: removes what is "
                   "too old or too "
                   "much.\n\nSTORE is the URL of the store, such as sqlite:FILE.",
    .examples = examples,
};
