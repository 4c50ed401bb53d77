/* What the command says on standard error. */
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096 };

size_t cli_unsafe_at(const char *text, unsigned *ret_code)
{
    const unsigned char *p = (const unsigned char *)text;
    unsigned code = p[0];
    size_t len = 1;
    if ((p[0] & 0xe0) == 0xc0 && (p[1] & 0xc0) == 0x80) {
        code = (p[0] & 0x1fU) << 6 | (p[1] & 0x3fU);
        len = 2;
    } else if ((p[0] & 0xf0) == 0xe0 && (p[1] & 0xc0) == 0x80 && (p[2] & 0xc0) == 0x80) {
        code = (p[0] & 0xfU) << 12 | (p[1] & 0x3fU) << 6 | (p[2] & 0x3fU);
        len = 3;
    }
    *ret_code = code;
    bool control = len == 1 ? code < 0x20 || code == 0x7f : code < 0xa0;
    bool format = code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
                  (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
    return control || format ? len : 0;
}

/* Writes `text` as one line: characters that control a terminal, or reorder text, appear as \xNN for each byte. */
static void put_line(const char *text)
{
    char line[LINE_MAX_BYTES + 16];
    size_t len = 0;
    for (; *text != '\0' && len < LINE_MAX_BYTES; text++) {
        unsigned code;
        size_t unsafe = cli_unsafe_at(text, &code);
        for (size_t i = 0; i < unsafe; i++)
            len += (size_t)snprintf(line + len, 5, "\\x%02x", (unsigned)(unsigned char)text[i]);
        if (unsafe > 0)
            text += unsafe - 1;
        else
            line[len++] = *text;
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
