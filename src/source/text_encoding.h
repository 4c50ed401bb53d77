/* What programs on Windows put before a text, or write it in: a byte order mark, and UTF-16. Readers give UTF-8. */
#ifndef PYRO_SOURCE_TEXT_ENCODING_H
#define PYRO_SOURCE_TEXT_ENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pyro_text_encoding {
    PYRO_TEXT_BYTES,  /* as they are: UTF-8, or whatever it is */
    PYRO_TEXT_MARKED, /* UTF-8 with a mark before it */
    PYRO_TEXT_UTF16_LE,
    PYRO_TEXT_UTF16_BE
};

/* By the first bytes (4 are enough). *ret_mark: the length of the mark. */
enum pyro_text_encoding pyro_text_encoding_of(const unsigned char *head, size_t len, size_t *ret_mark);

enum { PYRO_UTF16_IN = 4096, PYRO_UTF16_OUT = PYRO_UTF16_IN / 2 * 3 + 3 };

/* A stream of UTF-16 on its way to UTF-8. Zeroed to begin with. */
struct pyro_utf16 {
    bool big; /* the high byte comes first */
    unsigned char in[PYRO_UTF16_IN];
    size_t in_len;
    uint32_t high; /* the first half of a character beyond 16 bits, or 0 */
    char out[PYRO_UTF16_OUT];
    size_t out_at, out_len; /* out[out_at..out_len) was not handed out */
};

/* Converts what is in `in` to `out`, which is empty. An odd byte stays, unless the stream ends; what is not a character
 * becomes U+FFFD. */
void pyro_utf16_convert(struct pyro_utf16 *utf16, bool ends);

#endif
