/* pyrometer help [VERB] */
#include "cli.h"
#include "help.h"

static int run(const struct cli_call *call)
{
    if (call->argument_count == 0)
        return cli_print(cli_help_all, NULL);
    const struct cli_verb *verb = cli_verb_find(call->arguments[0]);
    if (verb == NULL)
        return cli_usage_error(NULL, "there is no verb '%s'", call->arguments[0]);
    return cli_print(cli_help_verb, verb);
}

static const struct cli_option options[] = {CLI_OPTION_HELP, {0}};

static const struct cli_example examples[] = {
    {"pyrometer help", "All verbs, and the meaning of the exit status."},
    {"pyrometer help diagnose", "The options of one verb, with examples."},
    {0},
};

const struct cli_verb_body cli_verb_help = {
    .run = run,
    .least = 0,
    .most = 1,
    .options = options,
    .choices = "@verbs",
    .description = "Prints a list of all verbs, or the options of one verb. 'pyrometer VERB --help' does the same.",
    .examples = examples,
};
