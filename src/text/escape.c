#include "text/escape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPLACEMENT = 0xFFFD };

uint32_t pyro_utf8_next(const char **p, const char *end)
{
    const unsigned char *s = (const unsigned char *)*p;
    size_t left = (size_t)(end - *p);
    uint32_t lead = *s;
    size_t len = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : (lead & 0xF0) == 0xE0 ? 3 : 4;
    if (len == 1) {
        ++*p;
        return lead;
    }
    ++*p; /* a bad byte alone is skipped; what follows may be good */
    if (lead < 0xC2 || lead > 0xF4 || left < len)
        return REPLACEMENT;
    uint32_t code = lead & (0x7Fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return REPLACEMENT;
        code = code << 6 | (s[i] & 0x3Fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[len] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return REPLACEMENT;
    *p += len - 1;
    return code;
}

void pyro_utf8_add(struct pyro_strbuf *buffer, uint32_t code)
{
    char bytes[4];
    size_t len = 0;
    if (code < 0x80) {
        bytes[len++] = (char)code;
    } else if (code < 0x800) {
        bytes[len++] = (char)(0xC0 | code >> 6);
        bytes[len++] = (char)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        bytes[len++] = (char)(0xE0 | code >> 12);
        bytes[len++] = (char)(0x80 | (code >> 6 & 0x3F));
        bytes[len++] = (char)(0x80 | (code & 0x3F));
    } else {
        bytes[len++] = (char)(0xF0 | code >> 18);
        bytes[len++] = (char)(0x80 | (code >> 12 & 0x3F));
        bytes[len++] = (char)(0x80 | (code >> 6 & 0x3F));
        bytes[len++] = (char)(0x80 | (code & 0x3F));
    }
    pyro_strbuf_add(buffer, bytes, len);
}

size_t pyro_utf8_columns(struct pyro_slice text)
{
    if (!text.len)
        return 0;
    size_t columns = 0;
    const char *end = text.ptr + text.len;
    for (const char *p = text.ptr; p < end; columns++)
        pyro_utf8_next(&p, end);
    return columns;
}

size_t pyro_utf8_prefix(struct pyro_slice text, size_t columns)
{
    if (!text.len)
        return 0;
    const char *p = text.ptr, *end = text.ptr + text.len;
    while (p < end && columns--)
        pyro_utf8_next(&p, end);
    return (size_t)(p - text.ptr);
}

static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

/* Characters that change the order or the lines of the text around them. */
static bool is_format(uint32_t code)
{
    return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

static uint32_t plain(uint32_t code)
{
    if (code == '\n' || code == '\t' || code == '\r')
        return ' ';
    return is_control(code) || is_format(code) ? REPLACEMENT : code;
}

void pyro_add_plain(struct pyro_strbuf *buffer, struct pyro_slice text)
{
    if (!text.len)
        return; /* a null slice has no address to count from */
    const char *end = text.ptr + text.len;
    for (const char *p = text.ptr; p < end;)
        pyro_utf8_add(buffer, plain(pyro_utf8_next(&p, end)));
}

void pyro_add_xml(struct pyro_strbuf *buffer, struct pyro_slice text)
{
    if (!text.len)
        return;
    const char *end = text.ptr + text.len;
    for (const char *p = text.ptr; p < end;) {
        uint32_t code = pyro_utf8_next(&p, end);
        switch (code) {
        case '<':
            pyro_strbuf_add_text(buffer, "&lt;");
            break;
        case '>':
            pyro_strbuf_add_text(buffer, "&gt;");
            break;
        case '&':
            pyro_strbuf_add_text(buffer, "&amp;");
            break;
        case '"':
            pyro_strbuf_add_text(buffer, "&quot;");
            break;
        case '\n':
            pyro_strbuf_add_text(buffer, "&#10;");
            break;
        default:
            pyro_utf8_add(buffer, code == 0xFFFE || code == 0xFFFF ? REPLACEMENT : plain(code));
        }
    }
}

void pyro_add_markdown(struct pyro_strbuf *buffer, struct pyro_slice text)
{
    if (!text.len)
        return; /* a null slice has no address to count from */
    const char *end = text.ptr + text.len;
    for (const char *p = text.ptr; p < end;) {
        uint32_t code = plain(pyro_utf8_next(&p, end));
        switch (code) {
        case '<':
            pyro_strbuf_add_text(buffer, "&lt;");
            break;
        case '>':
            pyro_strbuf_add_text(buffer, "&gt;");
            break;
        case '&':
            pyro_strbuf_add_text(buffer, "&amp;");
            break;
        case '\\':
        case '`':
        case '|':
        case '*':
        case '_':
        case '[':
        case ']':
        case '~':
        case '#':
        case '!':
        case '$':
            pyro_strbuf_add_char(buffer, '\\');
            pyro_strbuf_add_char(buffer, (char)code);
            break;
        default:
            pyro_utf8_add(buffer, code);
        }
    }
}

void pyro_add_csv(struct pyro_strbuf *buffer, struct pyro_slice text)
{
    if (!text.len)
        return; /* a null slice has no address to count from */
    const char *end = text.ptr + text.len;
    bool formula = text.len > 0 && memchr("=+-@\t\r", text.ptr[0], 6);
    bool quoted = formula || (text.len > 0 && (text.ptr[0] == ' ' || end[-1] == ' '));
    for (const char *p = text.ptr; p < end && !quoted; p++)
        quoted = *p == '"' || *p == ',' || *p == '\n' || *p == '\r';
    if (quoted)
        pyro_strbuf_add_char(buffer, '"');
    if (formula)
        pyro_strbuf_add_char(buffer, '\'');
    for (const char *p = text.ptr; p < end;) {
        uint32_t code = pyro_utf8_next(&p, end);
        if (is_format(code) || (is_control(code) && code != '\n' && code != '\r' && code != '\t'))
            code = REPLACEMENT;
        if (code == '"')
            pyro_strbuf_add_char(buffer, '"');
        pyro_utf8_add(buffer, code);
    }
    if (quoted)
        pyro_strbuf_add_char(buffer, '"');
}

static bool json_escape(struct pyro_strbuf *buffer, uint32_t code)
{
    static const char named[][2] = {{'"', '"'},  {'\\', '\\'}, {'\n', 'n'}, {'\r', 'r'},
                                    {'\t', 't'}, {'\b', 'b'},  {'\f', 'f'}};
    for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
        if (code == (unsigned char)named[i][0]) {
            pyro_strbuf_add_char(buffer, '\\');
            pyro_strbuf_add_char(buffer, named[i][1]);
            return true;
        }
    if (!is_control(code))
        return false;
    pyro_strbuf_printf(buffer, "\\u%04x", (unsigned)code);
    return true;
}

/* Whether none of eight bytes needs an escape. */
static inline bool is_plain_word(const char *p)
{
    const uint64_t ones = 0x0101010101010101ULL;
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    uint64_t quote = word ^ ones * '"', backslash = word ^ ones * '\\'; /* bytes of 0 are such */
    uint64_t special = (quote - ones) | (backslash - ones) | (word - ones * 0x20) | (word + ones);
    return ((special | word) & ones * 0x80) == 0;
}

void pyro_add_json(struct pyro_strbuf *buffer, struct pyro_slice text)
{
    if (!text.ptr) {
        pyro_strbuf_add_text(buffer, "null");
        return;
    }
    pyro_strbuf_add_char(buffer, '"');
    const char *end = text.ptr + text.len, *p = text.ptr;
    while (p < end) {
        const char *run = p; /* most text needs no escape: copy whole runs of it */
        while (end - p >= 8 && is_plain_word(p))
            p += 8;
        while (p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x7F && *p != '"' && *p != '\\')
            p++;
        pyro_strbuf_add(buffer, run, (size_t)(p - run));
        if (p == end)
            break;
        uint32_t code = pyro_utf8_next(&p, end);
        if (!json_escape(buffer, code))
            pyro_utf8_add(buffer, code);
    }
    pyro_strbuf_add_char(buffer, '"');
}

void pyro_add_json_real(struct pyro_strbuf *buffer, double value)
{
    if (!isfinite(value)) {
        pyro_strbuf_add_text(buffer, "null");
        return;
    }
    if (fabs(value) < 9007199254740992.0 && value == (double)(int64_t)value) {
        pyro_strbuf_add_int(buffer, (int64_t)value);
        return;
    }
    char text[64];
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(text, sizeof(text), "%.*g", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    /* The caller's locale may write the decimal point as something else, of several bytes even. */
    bool point = false;
    for (const char *p = text; *p; p++) {
        bool number = (*p >= '0' && *p <= '9') || *p == 'e' || *p == '+' || *p == '-';
        if (number || !point)
            pyro_strbuf_add_char(buffer, number ? *p : '.');
        point = !number;
    }
}
