#include "base/secret_scan.h"

#include <stdint.h>

/* Bytes of a text that is looked up in a table first. */
enum { SHORT = 256 };

/* Two or three bytes that stand side by side in every text that an expression of secret_forms.h matches: of each word,
 * sign and shape some that are rare elsewhere. Letters in lower case; `_` and `\` as they are with that bit set too. */
#define LOW(c) ((uint8_t)((c) | 0x20))

#define PAIRS(P, row)                                                                                                  \
    P(row, 'c', 'r') /* secret, credential */                                                                          \
    P(row, 's', 's') /* password, passphrase, access key */                                                            \
    P(row, 'o', 'k') /* token, cookie */                                                                               \
    P(row, 'w', 'd') /* pwd */                                                                                         \
    P(row, 'i', 'k') /* apikey, and other keys with and without a sign before "key" */                                 \
    P(row, 't', 'k')                                                                                                   \
    P(row, 'e', 'k')                                                                                                   \
    P(row, 'd', 'k')                                                                                                   \
    P(row, 'h', 'k')                                                                                                   \
    P(row, 'n', 'k')                                                                                                   \
    P(row, 'g', 'k')                                                                                                   \
    P(row, 'f', 'k')                                                                                                   \
    P(row, '.', 'k')                                                                                                   \
    P(row, '_', 'k')                                                                                                   \
    P(row, '-', 'k')                                                                                                   \
    P(row, ':', '\\') /* the same, escaped */                                                                          \
    P(row, ':', '%')                                                                                                   \
    P(row, ':', '&')                                                                                                   \
    P(row, '3', 'a')

#define TRIPLES(P, row)                                                                                                \
    P(row, ':', '/', '/') /* addresses */                                                                              \
    P(row, 's', 'a', 's') /* fs.azure.sas */                                                                           \
    P(row, 't', 'i', 'f') /* identified by */                                                                          \
    P(row, 'r', 'e', 'r') /* bearer */                                                                                 \
    P(row, 't', 'h', 'o') /* authorization */                                                                          \
    P(row, 's', 'i', 'g') /* sig, signature */                                                                         \
    P(row, 'c', 'l', 'e') /* oracle */                                                                                 \
    P(row, 'o', 'l', 'o') /* &colon; */                                                                                \
    P(row, '5', '8', ';')                                                                                              \
    P(row, 'k', 'i', 'a')                                                                                              \
    P(row, 's', 'i', 'a')                                                                                              \
    P(row, 'e', 'y', 'j')                                                                                              \
    P(row, 'g', 'h', 'p')                                                                                              \
    P(row, 'g', 'h', 'o')                                                                                              \
    P(row, 'g', 'h', 's')                                                                                              \
    P(row, 'g', 'h', 'u')                                                                                              \
    P(row, 'g', 'h', 'r')                                                                                              \
    P(row, 'b', '_', 'p') /* github_pat_ */                                                                            \
    P(row, 'g', 'l', 'p')                                                                                              \
    P(row, 'x', 'o', 'x')                                                                                              \
    P(row, 'a', 'i', 'z')                                                                                              \
    P(row, 'd', 'a', 'p')                                                                                              \
    P(row, 'k', '_', 'l')                                                                                              \
    P(row, '-', '-', '-') /* PEM */

/* ---- Short texts: a table ---------------------------------------------------------------------------------------- */

/* The 64 values that bytes of ASCII have with the bit of LOW() set. */
#define CELL(c)                (((c)&0x1f) | (((c)&0x40) >> 1))
#define CELL_OF(row, x, y)     | (CELL(x) == (row) ? UINT64_C(1) << CELL(y) : 0)
#define HEAD_OF(row, x, y, z)  | (CELL(x) == (row) ? UINT64_C(1) << CELL(y) : 0)
#define TAIL_OF(row, x, y, z)  | (CELL(y) == (row) ? UINT64_C(1) << CELL(z) : 0)
#define PAIR_ROW(row)          (UINT64_C(0) PAIRS(CELL_OF, row))
#define HEAD_ROW(row)          (UINT64_C(0) TRIPLES(HEAD_OF, row))
#define TAIL_ROW(row)          (UINT64_C(0) TRIPLES(TAIL_OF, row))
#define EIGHT(ROW, n)          ROW(n), ROW((n) + 1), ROW((n) + 2), ROW((n) + 3), ROW((n) + 4), ROW((n) + 5), ROW((n) + 6), ROW((n) + 7)
#define TABLE(ROW)             {EIGHT(ROW, 0), EIGHT(ROW, 8), EIGHT(ROW, 16), EIGHT(ROW, 24), EIGHT(ROW, 32), EIGHT(ROW, 40), EIGHT(ROW, 48), EIGHT(ROW, 56)}

/* Bit y of row x: of each pair, and of the first and the last two bytes of each triple. */
static const uint64_t pairs[64] = TABLE(PAIR_ROW), heads[64] = TABLE(HEAD_ROW), tails[64] = TABLE(TAIL_ROW);

/* Bytes beyond ASCII count as a blank, which is in no row. */
static size_t cell_of(uint8_t c)
{
    return (size_t)CELL(c) & ((size_t)(c >> 7) - 1);
}

/* Whether the text has such a pair, or a head where a tail follows, which need not be of the same triple. */
static bool may_have(const uint8_t *bytes, size_t len)
{
    uint64_t found = 0, head = 0;
    size_t a = len > 0 ? cell_of(bytes[0]) : 0;
    for (size_t i = 1; i < len; i++) {
        size_t b = cell_of(bytes[i]);
        found |= (pairs[a] >> b) | (head & (tails[a] >> b));
        head = heads[a] >> b;
        a = b;
    }
    return found & 1;
}

/* ---- All texts --------------------------------------------------------------------------------------------------- */

/* Without branches, so that the compiler makes vector code of it. */
static bool has(const uint8_t *bytes, size_t len)
{
    uint8_t found = 0;
    for (size_t i = 1; i < len; i++) {
        uint8_t a = bytes[i - 1] | 0x20, b = bytes[i] | 0x20;
#define P(row, x, y) found |= (uint8_t)((a == LOW(x)) & (b == LOW(y)));
        PAIRS(P, )
#undef P
    }
    for (size_t i = 2; i < len; i++) {
        uint8_t a = bytes[i - 2] | 0x20, b = bytes[i - 1] | 0x20, c = bytes[i] | 0x20;
#define P(row, x, y, z) found |= (uint8_t)((a == LOW(x)) & (b == LOW(y)) & (c == LOW(z)));
        TRIPLES(P, )
#undef P
    }
    return found != 0;
}

bool pyro_may_hold_secret(struct pyro_slice text)
{
    const uint8_t *bytes = (const uint8_t *)text.ptr;
    /* Vectors are slow at the ends of texts: names and values of properties are hardly more than ends. */
    return (text.len > SHORT || may_have(bytes, text.len)) && has(bytes, text.len);
}
