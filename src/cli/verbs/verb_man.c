/* pyrometer man [VERB]: manual pages, made from the verb and option tables. */
#include "help.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Text of a manual page: what roff would read as its own is escaped; blank lines become paragraphs. */
static void put_roff(struct cli_output *output, const char *text)
{
    bool line_start = true;
    for (; *text != '\0'; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            cli_puts(output, "\\&");
        line_start = false;
        if (*text == '\\')
            cli_puts(output, "\\e");
        else if (*text == '-')
            cli_puts(output, "\\-");
        else if (*text == '\'')
            cli_puts(output, "\\(aq");
        else if (text[0] == '\n' && text[1] == '\n') {
            cli_puts(output, "\n.PP\n");
            text++;
            line_start = true;
        } else
            cli_output_write(output, text, 1);
    }
}

static void put_title(struct cli_output *output, const char *name)
{
    char title[64];
    size_t len = 0;
    for (; name[len] != '\0' && len + 1 < sizeof(title); len++)
        title[len] = (char)toupper((unsigned char)name[len]);
    title[len] = '\0';
    cli_puts(output, ".TH ");
    put_roff(output, title);
    cli_putf(output, " 1 \"\" \"pyrometer %s\" \"User Commands\"\n.SH NAME\n", pyro_version());
}

static void put_exit_status(struct cli_output *output, const struct cli_verb *verb)
{
    cli_puts(output, ".SH EXIT STATUS\n");
    for (const struct cli_exit_meaning *exit = cli_next_exit(NULL, verb); exit != NULL;
         exit = cli_next_exit(exit, verb)) {
        cli_putf(output, ".TP\n%d\n", exit->status);
        put_roff(output, exit->meaning);
        cli_puts(output, "\n");
    }
}

static void put_options(struct cli_output *output, const struct cli_verb *verb)
{
    cli_puts(output, ".SH OPTIONS\n");
    for (const struct cli_option *option = verb->body->options; option->name != NULL; option++) {
        char label[64];
        cli_option_label(option, label, sizeof(label));
        cli_puts(output, ".TP\n.B ");
        put_roff(output, label);
        cli_puts(output, "\n");
        put_roff(output, cli_option_help(verb->body, option));
        if (option->choices != NULL && option->choices[0] != '@') {
            cli_puts(output, "\nOne of: ");
            put_roff(output, option->choices);
            cli_puts(output, ".");
        }
        if (option->fallback != NULL) {
            cli_puts(output, "\nDefault: ");
            put_roff(output, option->fallback);
            cli_puts(output, ".");
        }
        cli_puts(output, "\n");
    }
}

static void put_list_of_words(struct cli_output *output, const struct cli_verb_body *body)
{
    const char *word, *meaning;
    for (size_t i = 0; body->word != NULL && (word = body->word(i, &meaning)) != NULL; i++) {
        if (i == 0)
            cli_putf(output, ".SS %s\n", body->words_title);
        cli_putf(output, ".TP\n.B %s\n", word);
        put_roff(output, meaning);
        cli_puts(output, "\n");
    }
}

static void print_verb(struct cli_output *output, const void *context)
{
    const struct cli_verb *verb = context;
    char name[64];
    snprintf(name, sizeof(name), "pyrometer-%s", verb->name);
    put_title(output, name);
    put_roff(output, name);
    cli_puts(output, " \\- ");
    put_roff(output, verb->summary);
    cli_putf(output, "\n.SH SYNOPSIS\n.B pyrometer %s\n", verb->name);
    if (verb->arguments[0] != '\0') {
        put_roff(output, verb->arguments);
        cli_puts(output, "\n");
    }
    cli_puts(output, "[OPTION...]\n.SH DESCRIPTION\n");
    put_roff(output, verb->body->description);
    cli_puts(output, "\n");
    put_list_of_words(output, verb->body);
    put_options(output, verb);
    if (verb->body->examples != NULL)
        cli_puts(output, ".SH EXAMPLES\n");
    for (const struct cli_example *example = verb->body->examples; example != NULL && example->command != NULL;
         example++) {
        cli_puts(output, ".TP\n.B ");
        put_roff(output, example->command);
        cli_puts(output, "\n");
        put_roff(output, example->what);
        cli_puts(output, "\n");
    }
    put_exit_status(output, verb);
    cli_puts(output, ".SH SEE ALSO\n.BR pyrometer (1)\n");
}

static void print_command(struct cli_output *output, const void *context)
{
    (void)context;
    put_title(output, "pyrometer");
    cli_puts(output,
             "pyrometer \\- say why an Apache Spark application was slow\n.SH SYNOPSIS\n.B pyrometer\nVERB "
             "[ARGUMENT...] [OPTION...]\n.SH DESCRIPTION\nPyrometer reads the event log of an Apache Spark application "
             "and says why it was slow, what that costs, and what to change. It needs no JVM.\n.SH VERBS\n");
    for (size_t i = 0; i < cli_verb_count; i++) {
        cli_putf(output, ".TP\n.B %s ", cli_verbs[i].name);
        put_roff(output, cli_verbs[i].arguments);
        cli_puts(output, "\n");
        put_roff(output, cli_verbs[i].summary);
        cli_puts(output, "\n");
    }
    put_exit_status(output, NULL);
    cli_puts(output, ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nIf set to any value, reports have no color.\n"
                     ".SH SEE ALSO\n");
    for (size_t i = 0; i < cli_verb_count; i++)
        cli_putf(output, ".BR pyrometer\\-%s (1)%s\n", cli_verbs[i].name, i + 1 < cli_verb_count ? "," : "");
}

static int run(const struct cli_call *call)
{
    if (call->argument_count == 0)
        return cli_print(print_command, NULL);
    const struct cli_verb *verb = cli_verb_find(call->arguments[0]);
    if (verb == NULL)
        return cli_usage_error(call->verb, "there is no verb '%s'", call->arguments[0]);
    return cli_print(print_verb, verb);
}

static const struct cli_option options[] = {CLI_OPTION_HELP, {0}};

static const struct cli_example examples[] = {
    {"pyrometer man diagnose | man -l -", "Read the page of one verb without installing it."},
    {"pyrometer man > pyrometer.1", "The page of the whole command."},
    {0},
};

const struct cli_verb_body cli_verb_man = {
    .run = run,
    .most = 1,
    .options = options,
    .choices = "@verbs",
    .description = "Prints a manual page in roff format. An installation of pyrometer includes these pages for man.",
    .examples = examples,
};
