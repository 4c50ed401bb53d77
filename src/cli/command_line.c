/* Parsing of command lines by a verb's option table. */
#include "cli.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const struct cli_option *find_long(const struct cli_option *options, const char *name, size_t len)
{
    for (const struct cli_option *option = options; option->name != NULL; option++)
        if (strlen(option->name) == len && memcmp(option->name, name, len) == 0)
            return option;
    return NULL;
}

static const struct cli_option *find_letter(const struct cli_option *options, char letter)
{
    for (const struct cli_option *option = options; option->name != NULL; option++)
        if (option->letter == letter)
            return option;
    return NULL;
}

static bool unknown_option(const struct cli_verb *verb, const char *word, size_t name_len)
{
    const char *names[CLI_OPTIONS_MAX];
    size_t count = 0;
    for (const struct cli_option *option = verb->body->options; option->name != NULL; option++)
        names[count++] = option->name;
    char name[64];
    snprintf(name, sizeof(name), "%.*s", (int)(name_len < 63 ? name_len : 63), word + 2);
    const char *nearest = pyro_nearest(name, names, count);
    if (nearest != NULL)
        cli_usage_error(verb, "unknown option '--%s'; did you mean '--%s'?", name, nearest);
    else
        cli_usage_error(verb, "unknown option '--%s'", name);
    return false;
}

static bool is_choice(const char *choices, const char *value)
{
    size_t len = strlen(value);
    for (const char *at = choices; *at != '\0';) {
        size_t word = strcspn(at, " ");
        if (word == len && memcmp(at, value, len) == 0)
            return true;
        at += word;
        at += strspn(at, " ");
    }
    return false;
}

bool cli_option_repeats(const struct cli_option *option)
{
    size_t len = option->argument != NULL ? strlen(option->argument) : 0;
    return len > 3 && strcmp(option->argument + len - 3, "...") == 0;
}

static bool take_value(struct cli_call *call, const struct cli_option *option, const char *value)
{
    bool free_choice = option->choices == NULL || option->choices[0] == '@';
    if (!free_choice && option->argument != NULL && !is_choice(option->choices, value)) {
        char choices[160];
        size_t len = 0;
        for (const char *at = option->choices; *at != '\0' && len + 3 < sizeof(choices); at++) {
            if (*at == ' ') {
                choices[len++] = ',';
                choices[len++] = ' ';
            } else {
                choices[len++] = *at;
            }
        }
        choices[len] = '\0';
        cli_usage_error(call->verb, "--%s cannot be '%s'; it is one of %s", option->name, value, choices);
        return false;
    }
    if (cli_option_repeats(option)) {
        if (call->repeated_count == CLI_REPEATED_MAX) {
            cli_usage_error(call->verb, "--%s is given too often: at most %d times", option->name, CLI_REPEATED_MAX);
            return false;
        }
        call->repeated[call->repeated_count++] = (struct cli_repeated){option, value};
    }
    size_t place = (size_t)(option - call->verb->body->options);
    if (place >= CLI_OPTIONS_MAX) {
        cli_complain("--%s stands behind the last option that a verb can have", option->name);
        return false;
    }
    call->values[place] = value;
    return true;
}

/* Takes the option at arguments[*at], and its value with it. */
static bool take_option(struct cli_call *call, int count, char **arguments, int *at)
{
    const struct cli_option *options = call->verb->body->options;
    const char *word = arguments[*at];
    const struct cli_option *option;
    const char *value = NULL;
    if (word[1] == '-') {
        size_t len = strcspn(word + 2, "=");
        option = find_long(options, word + 2, len);
        if (option == NULL)
            return unknown_option(call->verb, word, len);
        if (word[2 + len] == '=')
            value = word + 2 + len + 1;
    } else {
        option = find_letter(options, word[1]);
        if (option == NULL) {
            cli_usage_error(call->verb, "unknown option '%s'", word);
            return false;
        }
        if (word[2] != '\0')
            value = word + 2;
    }
    if (option->argument == NULL) {
        if (value != NULL) {
            cli_usage_error(call->verb, "--%s takes no value", option->name);
            return false;
        }
        return take_value(call, option, "");
    }
    if (value == NULL) {
        if (*at + 1 >= count) {
            cli_usage_error(call->verb, "--%s needs a value: %s", option->name, option->argument);
            return false;
        }
        value = arguments[++*at];
    }
    return take_value(call, option, value);
}

bool cli_parse(const struct cli_verb *verb, int count, char **arguments, struct cli_call *ret)
{
    struct cli_call call = {.verb = verb};
    int kept = 0;
    bool only_arguments = false;
    for (int at = 0; at < count; at++) {
        char *word = arguments[at];
        if (only_arguments || word[0] != '-' || word[1] == '\0') {
            arguments[kept++] = word; /* arguments move to the front of the array they came in */
        } else if (strcmp(word, "--") == 0) {
            only_arguments = true;
        } else if (!take_option(&call, count, arguments, &at)) {
            return false;
        }
    }
    call.arguments = (const char *const *)arguments;
    call.argument_count = (size_t)kept;
    *ret = call;
    return true;
}

const char *cli_value_if_known(const struct cli_call *call, const char *name)
{
    return find_long(call->verb->body->options, name, strlen(name)) != NULL ? cli_value(call, name) : NULL;
}

const char *cli_value(const struct cli_call *call, const char *name)
{
    const struct cli_option *option = find_long(call->verb->body->options, name, strlen(name));
    assert(option != NULL);
    const char *value = call->values[option - call->verb->body->options];
    return value != NULL ? value : option->fallback;
}

const char *cli_repeated_value(const struct cli_call *call, const char *name, size_t index)
{
    for (size_t i = 0; i < call->repeated_count; i++)
        if (strcmp(call->repeated[i].option->name, name) == 0 && index-- == 0)
            return call->repeated[i].value;
    return NULL;
}
