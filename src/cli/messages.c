/* What the command says on standard error, and "did you mean". */
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096 };

/* Writes `text` as one line: control characters appear as \xNN. */
static void put_line(const char *text)
{
    char line[LINE_MAX_BYTES + 8];
    size_t len = 0;
    for (; *text != '\0' && len < LINE_MAX_BYTES; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte < 0x20 || byte == 0x7f)
            len += (size_t)snprintf(line + len, 5, "\\x%02x", byte);
        else
            line[len++] = (char)byte;
    }
    line[len++] = '\n';
    fwrite(line, 1, len, stderr);
    fflush(stderr);
}

static void complain(const char *prefix, const char *format, va_list arguments)
{
    char text[LINE_MAX_BYTES];
    int len = snprintf(text, sizeof(text), "%s", prefix);
    if (len >= 0 && (size_t)len < sizeof(text))
        vsnprintf(text + len, sizeof(text) - (size_t)len, format, arguments);
    put_line(text);
}

void cli_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain("pyrometer: ", format, arguments);
    va_end(arguments);
}

int cli_usage_error(const struct cli_verb *verb, const char *format, ...)
{
    char prefix[64];
    if (verb != NULL)
        snprintf(prefix, sizeof(prefix), "pyrometer %s: ", verb->name);
    else
        snprintf(prefix, sizeof(prefix), "pyrometer: ");
    va_list arguments;
    va_start(arguments, format);
    complain(prefix, format, arguments);
    va_end(arguments);
    fprintf(stderr, "Try 'pyrometer help%s%s'.\n", verb != NULL ? " " : "", verb != NULL ? verb->name : "");
    return CLI_EXIT_USAGE;
}

enum { WORD_MAX = 32 };

/* Number of letters to insert, delete, replace or swap with their neighbour to make `left` `right`. */
static size_t distance(const char *left, const char *right)
{
    size_t rows[3][WORD_MAX + 1];
    size_t left_len = strlen(left), right_len = strlen(right);
    if (left_len > WORD_MAX || right_len > WORD_MAX)
        return WORD_MAX;
    for (size_t j = 0; j <= right_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= left_len; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= right_len; j++) {
            size_t best = above[j - 1] + (left[i - 1] != right[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] &&
                above2[j - 2] + 1 < best)
                best = above2[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[left_len % 3][right_len];
}

const char *cli_nearest(const char *word, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    size_t len = strlen(word);
    size_t limit = len < 3 ? 1 : len < 6 ? 2 : 3, best = limit + 1;
    for (size_t i = 0; i < count; i++) {
        size_t steps = distance(word, candidates[i]);
        if (len >= 3 && strncmp(word, candidates[i], len) == 0)
            steps = steps < 1 ? steps : 1; /* a beginning of it */
        if (steps < best) {
            best = steps;
            nearest = candidates[i];
        }
    }
    return nearest;
}
