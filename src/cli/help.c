/* Help texts, all made from the verb and option tables. */
#include "help.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 80, INDENT = 4 };

void cli_help_short(struct cli_output *output, const void *context)
{
    (void)context;
    cli_puts(output,
             "pyrometer reads the event log of an Apache Spark application and says why it was slow.\n\n    pyrometer "
             "diagnose LOG            why the application was slow, and what to change\n    pyrometer sql LOG 'SELECT "
             "...'    query the tables of the log\n    pyrometer help                    all other commands\n");
}

static void put_verb_row(struct cli_output *output, const struct cli_verb *verb)
{
    char synopsis[64];
    snprintf(synopsis, sizeof(synopsis), "%s %s", verb->name, verb->arguments);
    cli_putf(output, "    %-24s %s\n", synopsis, verb->summary);
}

/* The contract of the command; docs/cli and README.md say the same. */
static const struct cli_exit_meaning exits[] = {
    {CLI_EXIT_OK, NULL, NULL, "done"},
    {CLI_EXIT_GATE, "gate", NULL, "the gate found something that it must fail on"},
    {CLI_EXIT_USAGE, NULL, NULL, "the command line is wrong"},
    {CLI_EXIT_INPUT, NULL, "rules doctor help version completions man",
     "an input cannot be read; one line on standard error says which, why and what to do"},
    {CLI_EXIT_OUTPUT, NULL, NULL, "the output cannot be written, or an internal error occurred"},
    {CLI_EXIT_SIGNALLED + SIGINT, NULL, "crawl serve", "stopped by Ctrl-C"},
    {0},
};

static bool names(const char *verbs, const char *verb)
{
    size_t len = strlen(verb);
    for (const char *at = strstr(verbs, verb); at != NULL; at = strstr(at + 1, verb))
        if ((at == verbs || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return true;
    return false;
}

const struct cli_exit_meaning *cli_next_exit(const struct cli_exit_meaning *previous, const struct cli_verb *verb)
{
    const struct cli_exit_meaning *exit = previous == NULL ? exits : previous + 1;
    for (; exit->meaning != NULL; exit++)
        if (verb == NULL || ((exit->only == NULL || names(exit->only, verb->name)) &&
                             (exit->never == NULL || !names(exit->never, verb->name))))
            return exit;
    return NULL;
}

static void put_exits(struct cli_output *output, const struct cli_verb *verb)
{
    cli_puts(output, "\nExit status:\n");
    for (const struct cli_exit_meaning *exit = cli_next_exit(NULL, verb); exit != NULL;
         exit = cli_next_exit(exit, verb)) {
        cli_putf(output, "    %-3d  ", exit->status);
        cli_put_wrapped(output, exit->meaning, 9, 9, 100);
    }
}

void cli_help_all(struct cli_output *output, const void *context)
{
    (void)context;
    cli_puts(output,
             "pyrometer VERB ...: read the event log of an Apache Spark application and say why it was slow.\n");
    const char *group = "";
    for (size_t i = 0; i < cli_verb_count; i++) {
        if (strcmp(group, cli_verbs[i].group) != 0) {
            group = cli_verbs[i].group;
            cli_putf(output, "\n%s:\n", group);
        }
        put_verb_row(output, &cli_verbs[i]);
    }
    put_exits(output, NULL);
    cli_puts(output, "\n'pyrometer help VERB' or 'pyrometer VERB --help' explains one verb, with examples.\n");
}

void cli_option_label(const struct cli_option *option, char *text, size_t size)
{
    char letter[8] = "";
    if (option->letter != 0)
        snprintf(letter, sizeof(letter), "-%c, ", option->letter);
    snprintf(text, size, "%s--%s%s%s", letter, option->name, option->argument != NULL ? " " : "",
             option->argument != NULL ? option->argument : "");
}

const char *cli_option_help(const struct cli_verb_body *body, const struct cli_option *option)
{
    return option->help != NULL ? option->help : body->option_help(option->name);
}

static void put_option(struct cli_output *output, const struct cli_verb_body *body, const struct cli_option *option)
{
    char label[64], text[640];
    cli_option_label(option, label, sizeof(label));
    cli_putf(output, "    %s\n", label);
    size_t len = (size_t)snprintf(text, sizeof(text), "%s", cli_option_help(body, option));
    if (option->choices != NULL && option->choices[0] != '@' && len < sizeof(text))
        len += (size_t)snprintf(text + len, sizeof(text) - len, " One of: %s.", option->choices);
    if (option->fallback != NULL && len < sizeof(text))
        snprintf(text + len, sizeof(text) - len, " Default: %s.", option->fallback);
    cli_put_wrapped(output, text, 0, 2 * INDENT, WIDTH);
}

static void put_list_of_words(struct cli_output *output, const struct cli_verb_body *body)
{
    const char *word, *meaning;
    if (body->word == NULL)
        return;
    cli_putf(output, "\n%s:\n", body->words_title);
    for (size_t i = 0; (word = body->word(i, &meaning)) != NULL; i++) {
        cli_putf(output, "    %-15s ", word);
        cli_put_wrapped(output, meaning, 20, 20, WIDTH);
    }
}

void cli_help_verb(struct cli_output *output, const void *context)
{
    const struct cli_verb *verb = context;
    cli_putf(output, "pyrometer %s: %s\n\nUsage: pyrometer %s%s%s", verb->name, verb->summary, verb->name,
             verb->arguments[0] != '\0' ? " " : "", verb->arguments);
    cli_puts(output, verb->body->options[1].name != NULL ? " [OPTION...]\n\n" : "\n\n");
    cli_put_wrapped(output, verb->body->description, 0, 0, WIDTH);
    put_list_of_words(output, verb->body);
    cli_puts(output, "\nOptions:\n");
    for (const struct cli_option *option = verb->body->options; option->name != NULL; option++)
        put_option(output, verb->body, option);
    put_exits(output, verb);
    if (verb->body->examples == NULL)
        return;
    cli_puts(output, "\nExamples:\n");
    for (const struct cli_example *example = verb->body->examples; example->command != NULL; example++) {
        cli_putf(output, "    %s\n", example->command);
        cli_put_wrapped(output, example->what, 0, 2 * INDENT, WIDTH);
    }
}
