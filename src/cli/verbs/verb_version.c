/* pyrometer version */
#include "result_output.h"

static void print(struct cli_output *output, const void *context)
{
    (void)context;
    cli_putf(output, "pyrometer %s\n", pyro_version());
}

static int run(const struct cli_call *call)
{
    (void)call;
    return cli_print(print, NULL);
}

static const struct cli_option options[] = {CLI_OPTION_HELP, {0}};

static const struct cli_example examples[] = {{"pyrometer version", "Prints, for example, 'pyrometer 0.1.0'."}, {0}};

const struct cli_verb_body cli_verb_version = {
    .run = run,
    .options = options,
    .description = "Prints only the version. 'pyrometer doctor' says more about this build.",
    .examples = examples,
};
