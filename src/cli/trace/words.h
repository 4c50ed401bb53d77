/* Growing lists of words, such as command lines. */
#ifndef PYROMETER_CLI_WORDS_H
#define PYROMETER_CLI_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* `items` ends with NULL. After a failed allocation it is unchanged, and `failed` is set. All zero: empty. */
struct cli_words {
    char **items;
    size_t count, capacity;
    bool failed;
};

void cli_words_add(struct cli_words *words, const char *word);
void cli_words_addf(struct cli_words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "--conf", "KEY=VALUE" */
void cli_words_add_pair(struct cli_words *words, const char *option, const char *value);
/* Puts `word` in the place of another one. */
void cli_words_replace(struct cli_words *words, size_t index, const char *word);
void cli_words_free(struct cli_words *words);

/* Splits a text as shells do: blanks separate words, quotes and backslashes keep them together. */
void cli_words_split(struct cli_words *words, const char *text);
/* One text that is split into the same words; the caller frees it. NULL: no memory left. */
char *cli_words_join(const struct cli_words *words);

/* What printf() would print; the caller frees it. NULL: no memory left. */
char *cli_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
