#include "base/json/unescape.h"

struct sink {
    struct pyro_strbuf *buffer;
    char *fixed;
    size_t capacity, len;
    uint64_t replaced;
};

static void put(struct sink *sink, const char *bytes, size_t len)
{
    if (sink->buffer)
        pyro_strbuf_add(sink->buffer, bytes, len);
    else if (sink->len + len <= sink->capacity)
        memcpy(sink->fixed + sink->len, bytes, len);
    sink->len += len;
}

static void put_code_point(struct sink *sink, uint32_t code)
{
    char bytes[4];
    size_t len;
    if (code < 0x80) {
        bytes[0] = (char)code;
        len = 1;
    } else if (code < 0x800) {
        bytes[0] = (char)(0xc0 | code >> 6);
        bytes[1] = (char)(0x80 | (code & 0x3f));
        len = 2;
    } else if (code < 0x10000) {
        bytes[0] = (char)(0xe0 | code >> 12);
        bytes[1] = (char)(0x80 | (code >> 6 & 0x3f));
        bytes[2] = (char)(0x80 | (code & 0x3f));
        len = 3;
    } else {
        bytes[0] = (char)(0xf0 | code >> 18);
        bytes[1] = (char)(0x80 | (code >> 12 & 0x3f));
        bytes[2] = (char)(0x80 | (code >> 6 & 0x3f));
        bytes[3] = (char)(0x80 | (code & 0x3f));
        len = 4;
    }
    put(sink, bytes, len);
}

static void put_replacement(struct sink *sink)
{
    sink->replaced++;
    put(sink, "\xef\xbf\xbd", 3);
}

/* Length of the valid UTF-8 sequence at p (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF), or 0. */
static size_t utf8_sequence(const unsigned char *p, size_t rest)
{
    unsigned char lead = p[0];
    size_t len = lead < 0x80                   ? 1
                 : lead >= 0xc2 && lead < 0xe0 ? 2
                 : lead >= 0xe0 && lead < 0xf0 ? 3
                 : lead >= 0xf0 && lead < 0xf5 ? 4
                                               : 0;
    if (len == 0 || len > rest)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((lead == 0xe0 && p[1] < 0xa0) || (lead == 0xed && p[1] >= 0xa0) || (lead == 0xf0 && p[1] < 0x90) ||
        (lead == 0xf4 && p[1] >= 0x90))
        return 0;
    return len;
}

static int hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* The 16 bits of \uXXXX at p, or -1. */
static int32_t unicode_escape(const char *p, size_t rest)
{
    if (rest < 6 || p[0] != '\\' || p[1] != 'u')
        return -1;
    int32_t code = 0;
    for (int i = 2; i < 6; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

/* Decodes the escape at p; returns the bytes it takes. */
static size_t decode_escape(struct sink *sink, const char *p, size_t rest)
{
    int32_t code = unicode_escape(p, rest);
    if (code >= 0xd800 && code < 0xdc00) {
        int32_t low = unicode_escape(p + 6, rest - 6);
        if (low >= 0xdc00 && low < 0xe000) {
            put_code_point(sink, 0x10000 + ((uint32_t)(code - 0xd800) << 10) + (uint32_t)(low - 0xdc00));
            return 12;
        }
    }
    if (code >= 0xd800 && code < 0xe000) {
        put_replacement(sink);
        return 6;
    }
    if (code >= 0) {
        put_code_point(sink, (uint32_t)code);
        return 6;
    }
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    char byte = rest > 1 ? p[1] : '\\';
    if ((unsigned char)byte >= 0x80) { /* no escape: the backslash stands for itself */
        put(sink, p, 1);
        return 1;
    }
    const char *special = byte ? strchr(from, byte) : NULL;
    put(sink, special ? &to[special - from] : &byte, 1);
    return rest > 1 ? 2 : 1;
}

/* Whether eight bytes are ASCII without a backslash. */
static inline bool is_plain_word(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    uint64_t backslash = word ^ 0x5c5c5c5c5c5c5c5cULL; /* a byte of 0 is one */
    return (((backslash - 0x0101010101010101ULL) | word) & 0x8080808080808080ULL) == 0;
}

static void decode(struct sink *sink, struct pyro_slice raw)
{
    if (raw.len == 0) /* the pointer may be null, to which nothing may be added */
        return;
    const char *p = raw.ptr, *end = raw.ptr + raw.len;
    while (p < end) {
        const char *start = p;
        while (end - p >= 8 && is_plain_word(p))
            p += 8;
        while (p < end && *p != '\\' && (unsigned char)*p < 0x80)
            p++;
        if (p > start)
            put(sink, start, (size_t)(p - start));
        if (p == end)
            break;
        if (*p == '\\') {
            p += decode_escape(sink, p, (size_t)(end - p));
            continue;
        }
        size_t len = utf8_sequence((const unsigned char *)p, (size_t)(end - p));
        if (len)
            put(sink, p, len);
        else
            put_replacement(sink);
        p += len ? len : 1;
    }
}

void pyro_text_decode(struct pyro_strbuf *buffer, struct pyro_slice raw, uint64_t *replaced)
{
    struct sink sink = {.buffer = buffer};
    decode(&sink, raw);
    if (replaced)
        *replaced += sink.replaced;
}

size_t pyro_text_decode_into(struct pyro_slice raw, char *buffer, size_t capacity)
{
    struct sink sink = {.capacity = capacity};
    sink.fixed = buffer;
    decode(&sink, raw);
    return sink.len;
}
