/* pyrometer completions SHELL: scripts for bash, zsh and fish, made from the verb and option tables. */
#include "help.h"
#include "result_output.h"

#include <string.h>

/* Writes every word of `choices`, which may name a table. */
static void put_words(struct cli_output *output, const char *choices, const char *before, const char *after)
{
    if (choices == NULL)
        return;
    if (strcmp(choices, "@verbs") == 0) {
        for (size_t i = 0; i < cli_verb_count; i++)
            cli_putf(output, "%s%s%s", before, cli_verbs[i].name, after);
    } else if (strcmp(choices, "@rules") == 0) {
        for (size_t i = 0; i < pyro_rules_count(); i++)
            cli_putf(output, "%s%s%s", before, cli_rule(i).id, after);
    } else if (strcmp(choices, "@profiles") == 0) {
        for (size_t i = 0; pyro_profile_name(i) != NULL; i++)
            cli_putf(output, "%s%s%s", before, pyro_profile_name(i), after);
    } else {
        for (size_t len; *choices != '\0'; choices += len, choices += strspn(choices, " ")) {
            len = strcspn(choices, " ");
            if (choices[0] != '@')
                cli_putf(output, "%s%.*s%s", before, (int)len, choices, after);
        }
    }
}

/* Every word that can be the first argument of the verb. */
static void put_choices(struct cli_output *output, const struct cli_verb *verb, const char *before, const char *after)
{
    const char *word, *meaning;
    for (size_t i = 0; verb->body->word != NULL && (word = verb->body->word(i, &meaning)) != NULL; i++)
        cli_putf(output, "%s%s%s", before, word, after);
    put_words(output, verb->body->choices, before, after);
}

static bool takes_files(const struct cli_verb *verb)
{
    return verb->body->choices != NULL && strstr(verb->body->choices, "@files") != NULL;
}

/* Whether the first argument is a word although files follow. */
static bool takes_word_first(const struct cli_verb *verb)
{
    return !takes_files(verb) || verb->body->word != NULL || verb->body->choices[0] != '@';
}

/* Makes `text` safe inside single quotes of a shell. */
static void put_quoted(struct cli_output *output, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            cli_puts(output, "'\\''");
        else
            cli_output_write(output, text, 1);
    }
}

static void put_bash_values(struct cli_output *output, const struct cli_verb *verb)
{
    for (const struct cli_option *option = verb->body->options; option->name != NULL; option++) {
        if (option->argument == NULL)
            continue;
        cli_putf(output, "    %s:--%s", verb->name, option->name);
        if (option->letter != 0)
            cli_putf(output, " | %s:-%c", verb->name, option->letter);
        if (option->choices != NULL) {
            cli_puts(output, ") mapfile -t COMPREPLY < <(compgen -W '");
            put_words(output, option->choices, "", " ");
            cli_puts(output, "' -- \"$word\"); return ;;\n");
        } else if (strcmp(option->argument, "FILE") == 0)
            cli_puts(output, ") mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return ;;\n");
        else
            cli_puts(output, ") return ;;\n");
    }
}

static void put_bash(struct cli_output *output)
{
    cli_puts(output, "# bash completion of pyrometer; written by: pyrometer completions bash\n_pyrometer()\n{\n    "
                     "local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}\n  "
                     "  COMPREPLY=()\n    if ((COMP_CWORD == 1)); then\n        mapfile -t COMPREPLY < <(compgen -W '");
    for (size_t i = 0; i < cli_verb_count; i++)
        cli_putf(output, "%s%s", i == 0 ? "" : " ", cli_verbs[i].name);
    cli_puts(output, "' -- \"$word\")\n        return\n    fi\n    case $verb:$before in\n");
    for (size_t i = 0; i < cli_verb_count; i++)
        put_bash_values(output, &cli_verbs[i]);
    cli_puts(output, "    esac\n    local options='' words='' files=''\n    case $verb in\n");
    for (size_t i = 0; i < cli_verb_count; i++) {
        const struct cli_verb *verb = &cli_verbs[i];
        cli_putf(output, "    %s)\n        options='", verb->name);
        for (const struct cli_option *option = verb->body->options; option->name != NULL; option++)
            cli_putf(output, "%s--%s", option == verb->body->options ? "" : " ", option->name);
        cli_puts(output, "'\n        words='");
        put_choices(output, verb, "", " ");
        cli_putf(output, "'\n        files=%s\n        ;;\n", takes_files(verb) ? "yes" : "");
    }
    cli_puts(output, "    esac\n"
                     "    if [[ $word == -* ]]; then\n"
                     "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
                     "    elif [[ -n $files && (-z $words || COMP_CWORD -gt 2) ]]; then\n"
                     "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                     "    else\n"
                     "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
                     "    fi\n}\n"
                     "complete -o filenames -F _pyrometer pyrometer\n");
}

static void put_zsh_option(struct cli_output *output, const struct cli_verb *verb, const struct cli_option *option)
{
    cli_puts(output, cli_option_repeats(option) ? "        '*" : "        '");
    if (option->letter != 0)
        cli_putf(output, "(-%c --%s)'{-%c,--%s}'", option->letter, option->name, option->letter, option->name);
    else
        cli_putf(output, "--%s", option->name);
    cli_puts(output, "[");
    for (const char *at = cli_option_help(verb->body, option); *at != '\0' && *at != '.' && *at != ':'; at++) {
        char letter[2] = {*at, '\0'};
        if (*at == '[' || *at == ']')
            cli_puts(output, "\\");
        put_quoted(output, letter);
    }
    cli_puts(output, "]");
    if (option->choices != NULL) {
        cli_putf(output, ":%s:(", option->argument);
        put_words(output, option->choices, " ", "");
        cli_puts(output, ")");
    } else if (option->argument != NULL)
        cli_putf(output, ":%s:%s", option->argument, strcmp(option->argument, "FILE") == 0 ? "_files" : "");
    cli_puts(output, "' \\\n");
}

static void put_zsh(struct cli_output *output)
{
    cli_puts(output, "#compdef pyrometer\n# zsh completion of pyrometer; written by: pyrometer completions "
                     "zsh\n_pyrometer()\n{\n    local -a verbs\n    verbs=(\n");
    for (size_t i = 0; i < cli_verb_count; i++) {
        cli_putf(output, "        '%s:", cli_verbs[i].name);
        put_quoted(output, cli_verbs[i].summary);
        cli_puts(output, "'\n");
    }
    cli_puts(output, "    )\n    if ((CURRENT == 2)); then\n        _describe verb verbs\n        return\n    fi\n"
                     "    local verb=$words[2]\n    shift words\n    ((CURRENT--))\n    case $verb in\n");
    for (size_t i = 0; i < cli_verb_count; i++) {
        const struct cli_verb *verb = &cli_verbs[i];
        cli_putf(output, "    %s)\n        _arguments \\\n", verb->name);
        for (const struct cli_option *option = verb->body->options; option->name != NULL; option++)
            put_zsh_option(output, verb, option);
        if (takes_word_first(verb)) {
            cli_puts(output, "        '1:word:(");
            put_choices(output, verb, " ", "");
            cli_puts(output, takes_files(verb) ? ")' \\\n" : ")'\n");
        }
        if (takes_files(verb))
            cli_puts(output, "        '*:path:_files'\n");
        cli_puts(output, "        ;;\n");
    }
    cli_puts(output, "    esac\n}\nif [ \"$funcstack[1]\" = _pyrometer ]; then\n    _pyrometer \"$@\"\nelse\n"
                     "    compdef _pyrometer pyrometer\nfi\n");
}

static void put_fish(struct cli_output *output)
{
    cli_puts(output,
             "# fish completion of pyrometer; written by: pyrometer completions fish\ncomplete -c pyrometer -f\n");
    for (size_t i = 0; i < cli_verb_count; i++) {
        const struct cli_verb *verb = &cli_verbs[i];
        cli_putf(output, "complete -c pyrometer -n __fish_use_subcommand -a %s -d '", verb->name);
        put_quoted(output, verb->summary);
        cli_puts(output, "'\n");
        for (const struct cli_option *option = verb->body->options; option->name != NULL; option++) {
            cli_putf(output, "complete -c pyrometer -n '__fish_seen_subcommand_from %s' -l %s", verb->name,
                     option->name);
            if (option->letter != 0)
                cli_putf(output, " -s %c", option->letter);
            if (option->choices != NULL) {
                cli_puts(output, " -x -a '");
                put_words(output, option->choices, "", " ");
                cli_puts(output, "'");
            } else if (option->argument != NULL)
                cli_puts(output, strcmp(option->argument, "FILE") == 0 ? " -r -F" : " -x");
            cli_putf(output, " -d '%s'\n", option->argument != NULL ? option->argument : "");
        }
        cli_putf(output, "complete -c pyrometer -n '__fish_seen_subcommand_from %s'", verb->name);
        cli_puts(output, takes_files(verb) ? " -F" : "");
        if (takes_word_first(verb)) {
            cli_puts(output, " -a '");
            put_choices(output, verb, "", " ");
            cli_puts(output, "'");
        }
        cli_puts(output, "\n");
    }
}

static void print(struct cli_output *output, const void *context)
{
    const char *shell = context;
    if (strcmp(shell, "bash") == 0)
        put_bash(output);
    else if (strcmp(shell, "zsh") == 0)
        put_zsh(output);
    else
        put_fish(output);
}

static int run(const struct cli_call *call)
{
    const char *shell = call->arguments[0];
    if (strcmp(shell, "bash") != 0 && strcmp(shell, "zsh") != 0 && strcmp(shell, "fish") != 0)
        return cli_usage_error(
            call->verb, "cannot write completions for '%s'; there are completions for bash, zsh and fish", shell);
    return cli_print(print, shell);
}

static const struct cli_option options[] = {CLI_OPTION_HELP, {0}};

static const struct cli_example examples[] = {
    {"source <(pyrometer completions bash)", "Completion in this bash; add the line to ~/.bashrc to keep it."},
    {"pyrometer completions fish > ~/.config/fish/completions/pyrometer.fish", "Completion in fish."},
    {0},
};

const struct cli_verb_body cli_verb_completions = {
    .run = run,
    .least = 1,
    .most = 1,
    .options = options,
    .choices = "bash zsh fish",
    .description = "Prints a completion script. An installation of pyrometer already includes these scripts.",
    .examples = examples,
};
