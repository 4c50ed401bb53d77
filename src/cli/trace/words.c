#include "words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes `word`, which may be NULL: no memory was left for it. */
static void take(struct cli_words *words, char *word)
{
    if (word != NULL && words->count + 1 >= words->capacity) {
        size_t capacity = words->capacity == 0 ? 16 : 2 * words->capacity;
        char **items = realloc(words->items, capacity * sizeof(*items));
        if (items != NULL) {
            words->items = items;
            words->capacity = capacity;
        }
    }
    if (word == NULL || words->count + 1 >= words->capacity) {
        words->failed = true;
        free(word);
        return;
    }
    words->items[words->count++] = word;
    words->items[words->count] = NULL;
}

void cli_words_add(struct cli_words *words, const char *word)
{
    take(words, strdup(word));
}

static char *format_text(const char *format, va_list arguments)
{
    char *text = NULL;
    return vasprintf(&text, format, arguments) >= 0 ? text : NULL;
}

void cli_words_addf(struct cli_words *words, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    take(words, format_text(format, arguments));
    va_end(arguments);
}

char *cli_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(format, arguments);
    va_end(arguments);
    return text;
}

void cli_words_add_pair(struct cli_words *words, const char *option, const char *value)
{
    cli_words_add(words, option);
    cli_words_add(words, value);
}

void cli_words_replace(struct cli_words *words, size_t index, const char *word)
{
    char *copy = strdup(word);
    if (copy == NULL) {
        words->failed = true;
        return;
    }
    free(words->items[index]);
    words->items[index] = copy;
}

void cli_words_free(struct cli_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    free(words->items);
    *words = (struct cli_words){0};
}

/* Copies one word without its quotes. Gives its end. */
static const char *copy_word(const char *at, char *to)
{
    char quote = '\0';
    for (; *at != '\0' && (quote != '\0' || strchr(" \t\n", *at) == NULL); at++) {
        if (quote == '\0' && (*at == '\'' || *at == '"'))
            quote = *at;
        else if (quote != '\0' && *at == quote)
            quote = '\0';
        else if (*at == '\\' && quote != '\'' && at[1] != '\0')
            *to++ = *++at;
        else
            *to++ = *at;
    }
    *to = '\0';
    return at;
}

void cli_words_split(struct cli_words *words, const char *text)
{
    for (text += strspn(text, " \t\n"); *text != '\0'; text += strspn(text, " \t\n")) {
        char *word = malloc(strlen(text) + 1);
        if (word == NULL) {
            words->failed = true;
            return;
        }
        text = copy_word(text, word);
        take(words, word);
    }
}

/* In single quotes, unless it is plain. */
static char *put_quoted(char *to, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./-_";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0')
        return stpcpy(to, word);
    *to++ = '\'';
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            to = stpcpy(to, "'\\''");
        else
            *to++ = *word;
    }
    *to++ = '\'';
    *to = '\0';
    return to;
}

char *cli_words_join(const struct cli_words *words)
{
    size_t bytes = 1;
    for (size_t i = 0; i < words->count; i++)
        bytes += 4 * strlen(words->items[i]) + 3;
    char *text = malloc(bytes), *to = text;
    if (text == NULL || words->failed) {
        free(text);
        return NULL;
    }
    *to = '\0';
    for (size_t i = 0; i < words->count; i++) {
        if (i > 0)
            *to++ = ' ';
        to = put_quoted(to, words->items[i]);
    }
    return text;
}
