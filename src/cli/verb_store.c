/* pyrometer store query STORE QUESTION */
#include "load.h"
#include "output.h"

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

static const struct sub_verb {
    const char *name;
    size_t arguments; /* with its own name */
    sub_call *call;
    const char *usage;
} sub_verbs[] = {{"query", 3, query, "query STORE QUESTION"}};

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

static int run(const struct cli_call *call)
{
    struct pyro_error error = {.size = sizeof(error)};
    const struct sub_verb *sub_verb = find_sub_verb(call);
    struct pyro_store_options how = {.size = sizeof(how), .redaction = cli_redaction(call), .read_only = 1};
    struct cli_output output;
    pyro_store *store = NULL;
    if (sub_verb == NULL)
        return CLI_EXIT_USAGE;
    if (cli_value(call, "user") == NULL && (cli_value(call, "groups") != NULL || cli_value(call, "always") != NULL))
        return cli_usage_error(call->verb, "--groups and --always go with --user");
    cli_catch_signals();
    if (pyro_store_open(call->arguments[1], &how, NULL, &store, &error) != PYRO_OK)
        return cli_failure(&error);
    int status = cli_output_open(&output, cli_value(call, "output"));
    if (status == CLI_EXIT_OK) {
        struct pyro_writer writer = cli_output_writer(&output);
        status = sub_verb->call(call, store, &writer);
        int closed = cli_output_close(&output, status == CLI_EXIT_OK);
        status = status == CLI_EXIT_OK ? closed : status;
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
    {0},
};

const struct cli_verb_body cli_verb_store = {
    .run = run,
    .least = 1,
    .most = 3,
    .options = options,
    .choices = "query",
    .description =
        "Asks and maintains a store of runs. query: answers QUESTION, a JSON text (pyrometer.store_query/1), "
        "with one JSON document (pyrometer.store_answer/1).\n\nSTORE is the URL of the store, such as "
        "sqlite:FILE.",
    .examples = examples,
};
