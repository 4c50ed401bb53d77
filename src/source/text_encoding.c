#include "source/text_encoding.h"

#include <string.h>

enum pyro_text_encoding pyro_text_encoding_of(const unsigned char *head, size_t len, size_t *ret_mark)
{
    *ret_mark = 0;
    if (len >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) {
        *ret_mark = 3;
        return PYRO_TEXT_MARKED;
    }
    /* With two more zeros it is UTF-32, which no program writes logs in. */
    if (len < 4 || (head[2] == 0 && head[3] == 0))
        return PYRO_TEXT_BYTES;
    bool little = head[0] == 0xff && head[1] == 0xfe, big = head[0] == 0xfe && head[1] == 0xff;
    *ret_mark = little || big ? 2 : 0;
    return little ? PYRO_TEXT_UTF16_LE : big ? PYRO_TEXT_UTF16_BE : PYRO_TEXT_BYTES;
}

static void put(struct pyro_utf16 *utf16, uint32_t code)
{
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = len; i-- > 1; code >>= 6)
        utf16->out[utf16->out_len + i] = (char)(0x80 | (code & 0x3f));
    utf16->out[utf16->out_len] = (char)(leads[len] | code);
    utf16->out_len += len;
}

static void take_unit(struct pyro_utf16 *utf16, uint32_t unit)
{
    enum { REPLACEMENT = 0xfffd, HIGH = 0xd800, LOW = 0xdc00, BEHIND = 0xe000, BEYOND = 0x10000 };
    bool low = unit >= LOW && unit < BEHIND;
    uint32_t high = utf16->high;
    utf16->high = 0;
    if (high && low) {
        put(utf16, BEYOND + ((high - HIGH) << 10 | (unit - LOW)));
        return;
    }
    if (high)
        put(utf16, REPLACEMENT);
    if (unit >= HIGH && unit < LOW)
        utf16->high = unit;
    else
        put(utf16, low ? REPLACEMENT : unit);
}

void pyro_utf16_convert(struct pyro_utf16 *utf16, bool ends)
{
    size_t at = 0;
    utf16->out_at = utf16->out_len = 0;
    for (; at + 2 <= utf16->in_len; at += 2) {
        uint32_t first = utf16->in[at], second = utf16->in[at + 1];
        take_unit(utf16, utf16->big ? first << 8 | second : second << 8 | first);
    }
    utf16->in_len -= at;
    if (utf16->in_len > 0)
        utf16->in[0] = utf16->in[at];
    if (ends && (utf16->in_len > 0 || utf16->high)) {
        put(utf16, 0xfffd);
        utf16->in_len = 0;
        utf16->high = 0;
    }
}
