/* What the command says on standard error. */
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
