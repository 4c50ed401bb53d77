#include "base/secret_scan.h"

#include <stdint.h>

/* Two or three bytes that stand side by side in every text that an expression of secret_forms.h matches: of each word,
 * sign and shape some that are rare elsewhere. Letters in lower case; `_` and `\` as they are with that bit set too. */
#define LOW(c) ((uint8_t)((c) | 0x20))

#define PAIRS(P)                                                                                                       \
    P('c', 'r') /* secret, credential */                                                                               \
    P('s', 's') /* password, passphrase, access key */                                                                 \
    P('o', 'k') /* token, cookie */                                                                                    \
    P('w', 'd') /* pwd */                                                                                              \
    P('i', 'k') /* apikey, and other keys with and without a sign before "key" */                                      \
    P('t', 'k')                                                                                                        \
    P('e', 'k')                                                                                                        \
    P('d', 'k')                                                                                                        \
    P('h', 'k')                                                                                                        \
    P('n', 'k')                                                                                                        \
    P('g', 'k')                                                                                                        \
    P('f', 'k')                                                                                                        \
    P('.', 'k')                                                                                                        \
    P('_', 'k')                                                                                                        \
    P('-', 'k')                                                                                                        \
    P(':', '\\') /* the same, escaped */                                                                               \
    P(':', '%')                                                                                                        \
    P(':', '&')                                                                                                        \
    P('3', 'a')

#define TRIPLES(P)                                                                                                     \
    P(':', '/', '/') /* addresses */                                                                                   \
    P('s', 'a', 's') /* fs.azure.sas */                                                                                \
    P('t', 'i', 'f') /* identified by */                                                                               \
    P('r', 'e', 'r') /* bearer */                                                                                      \
    P('t', 'h', 'o') /* authorization */                                                                               \
    P('s', 'i', 'g') /* sig, signature */                                                                              \
    P('c', 'l', 'e') /* oracle */                                                                                      \
    P('o', 'l', 'o') /* &colon; */                                                                                     \
    P('5', '8', ';')                                                                                                   \
    P('k', 'i', 'a')                                                                                                   \
    P('s', 'i', 'a')                                                                                                   \
    P('e', 'y', 'j')                                                                                                   \
    P('g', 'h', 'p')                                                                                                   \
    P('g', 'h', 'o')                                                                                                   \
    P('g', 'h', 's')                                                                                                   \
    P('g', 'h', 'u')                                                                                                   \
    P('g', 'h', 'r')                                                                                                   \
    P('b', '_', 'p') /* github_pat_ */                                                                                 \
    P('g', 'l', 'p')                                                                                                   \
    P('x', 'o', 'x')                                                                                                   \
    P('a', 'i', 'z')                                                                                                   \
    P('d', 'a', 'p')                                                                                                   \
    P('k', '_', 'l')                                                                                                   \
    P('-', '-', '-') /* PEM */

bool pyro_may_hold_secret(struct pyro_slice text)
{
    const uint8_t *bytes = (const uint8_t *)text.ptr;
    uint8_t found = 0;
    /* Without branches, so that the compiler makes vector code of it. */
    for (size_t i = 1; i < text.len; i++) {
        uint8_t a = bytes[i - 1] | 0x20, b = bytes[i] | 0x20;
#define P(x, y) found |= (uint8_t)((a == LOW(x)) & (b == LOW(y)));
        PAIRS(P)
#undef P
    }
    for (size_t i = 2; i < text.len; i++) {
        uint8_t a = bytes[i - 2] | 0x20, b = bytes[i - 1] | 0x20, c = bytes[i] | 0x20;
#define P(x, y, z) found |= (uint8_t)((a == LOW(x)) & (b == LOW(y)) & (c == LOW(z)));
        TRIPLES(P)
#undef P
    }
    return found != 0;
}
