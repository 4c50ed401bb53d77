/* Entry of the command: finds the verb and hands it its parsed command line. */
#include "cli.h"
#include "help.h"
#include "result_output.h"
#include "timings.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VERB(name, arguments, summary, group) extern const struct cli_verb_body cli_verb_##name;
#include "verbs.def"
#undef VERB

#define VERB(name, arguments, summary, group) {#name, arguments, summary, group, &cli_verb_##name},
const struct cli_verb cli_verbs[] = {
#include "verbs.def"
};
#undef VERB
#define VERB_FORMATS(verb, formats) const char cli_formats_##verb[] = formats;
#include "formats.def"
#undef VERB_FORMATS

const size_t cli_verb_count = sizeof(cli_verbs) / sizeof(cli_verbs[0]);

const struct cli_verb *cli_verb_find(const char *name)
{
    for (size_t i = 0; i < cli_verb_count; i++)
        if (strcmp(cli_verbs[i].name, name) == 0)
            return &cli_verbs[i];
    return NULL;
}

static int run_verb(const struct cli_verb *verb, int count, char **arguments)
{
    struct cli_call call;
    if (!cli_parse(verb, count, arguments, &call))
        return CLI_EXIT_USAGE;
    if (cli_value(&call, "help") != NULL)
        return cli_print(cli_help_verb, verb);
    if (call.argument_count < verb->body->least)
        return cli_usage_error(verb, "%s is missing", verb->arguments);
    if (call.argument_count > verb->body->most)
        return cli_usage_error(verb, "unexpected argument '%s'", call.arguments[verb->body->most]);
    int status = verb->body->run(&call);
    cli_timings_print();
    return status;
}

static int unknown_verb(const char *word)
{
    if (word[0] == '-' && word[1] != '\0')
        return cli_usage_error(NULL, "unknown option '%s'; options come after a verb", word);
    if (strcmp(word, "-") == 0 || access(word, F_OK) == 0)
        return cli_usage_error(NULL, "'%s' is not a verb; to diagnose it: pyrometer diagnose %s", word, word);
    const char *names[64];
    size_t count = 0;
    for (; count < cli_verb_count && count < sizeof(names) / sizeof(names[0]); count++)
        names[count] = cli_verbs[count].name;
    const char *nearest = pyro_nearest(word, names, count);
    if (nearest != NULL)
        return cli_usage_error(NULL, "unknown verb '%s'; did you mean '%s'?", word, nearest);
    return cli_usage_error(NULL, "unknown verb '%s'", word);
}

int main(int argc, char **argv)
{
    /* A reader that goes away is an output error, reported like any other. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow fails like one on a full disk */
    if (argc < 2)
        return cli_print(cli_help_short, NULL);
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        word = "help";
    else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        word = "version";
    const struct cli_verb *verb = cli_verb_find(word);
    if (verb == NULL)
        return unknown_verb(word);
    return run_verb(verb, argc - 2, argv + 2);
}
