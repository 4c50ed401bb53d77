#include "base/secrets/secret_scan.h"

#include <stdint.h>

/* Bytes of a text that is looked up in a table first. */
enum { SHORT = 256 };

/* Two or three adjacent bytes of every text that an expression of secret_forms.h matches: of each word, sign and shape
 * some that are rare elsewhere. Letters in lower case; `_` and `\` as they are with that bit set too. */
#define LOW(c) ((uint8_t)((c) | 0x20))

/* Of names, headers and addresses: a sign or a blank follows. */
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
    P(row, ':', '/', '/')  /* addresses */                                                                             \
    P(row, ':', '/', '\\') /* the same, the second slash escaped */                                                    \
    P(row, ':', '/', '%')                                                                                              \
    P(row, ':', '/', '&')                                                                                              \
    P(row, 's', 'a', 's') /* fs.azure.sas */                                                                           \
    P(row, 't', 'i', 'f') /* identified by */                                                                          \
    P(row, 'r', 'e', 'r') /* bearer */                                                                                 \
    P(row, 't', 'h', 'o') /* authorization */                                                                          \
    P(row, 's', 'i', 'g') /* sig, signature */                                                                         \
    P(row, 'c', 'l', 'e') /* oracle */                                                                                 \
    P(row, 'o', 'l', 'o') /* &colon; */                                                                                \
    P(row, '5', '8', ';')

/* Of values that are known by their shape. */
#define SHAPES(P, row)                                                                                                 \
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

enum { NAMED = 1, SHAPED = 2 };

/* ---- Short texts: a table ---------------------------------------------------------------------------------------- */

/* The 64 values that bytes of ASCII have with the bit of LOW() set. */
#define CELL(c)               (((c)&0x1f) | (((c)&0x40) >> 1))
#define CELL_OF(row, x, y)    | (CELL(x) == (row) ? UINT64_C(1) << CELL(y) : 0)
#define HEAD_OF(row, x, y, z) | (CELL(x) == (row) ? UINT64_C(1) << CELL(y) : 0)
#define TAIL_OF(row, x, y, z) | (CELL(y) == (row) ? UINT64_C(1) << CELL(z) : 0)
#define PAIR_ROW(row)         (UINT64_C(0) PAIRS(CELL_OF, row))
#define HEAD_ROW(row)         (UINT64_C(0) TRIPLES(HEAD_OF, row) SHAPES(HEAD_OF, row))
#define TAIL_ROW(row)         (UINT64_C(0) TRIPLES(TAIL_OF, row) SHAPES(TAIL_OF, row))
#define FOUR(ROW, n)          ROW(n), ROW((n) + 1), ROW((n) + 2), ROW((n) + 3)
#define SIXTEEN(ROW, n)       FOUR(ROW, n), FOUR(ROW, (n) + 4), FOUR(ROW, (n) + 8), FOUR(ROW, (n) + 12)
#define TABLE(ROW)                                                                                                     \
    {                                                                                                                  \
        SIXTEEN(ROW, 0), SIXTEEN(ROW, 16), SIXTEEN(ROW, 32), SIXTEEN(ROW, 48)                                          \
    }

/* Bit y of row x: of each pair, and of the first and the last two bytes of each triple. */
static const uint64_t pairs[64] = TABLE(PAIR_ROW), heads[64] = TABLE(HEAD_ROW), tails[64] = TABLE(TAIL_ROW);

/* Bytes beyond ASCII count as a blank, which is in no row. */
static size_t cell_of(uint8_t c)
{
    return (size_t)CELL(c) & ((size_t)(c >> 7) - 1);
}

/* *ret_pair: whether the text has one of the pairs. *ret_triple: whether there is a head where a tail follows, which
 * need not be of the same triple. */
static void look_up(const uint8_t *bytes, size_t len, bool *ret_pair, bool *ret_triple)
{
    uint64_t pair = 0, triple = 0, head = 0;
    size_t a = len > 0 ? cell_of(bytes[0]) : 0;
    for (size_t i = 1; i < len; i++) {
        size_t b = cell_of(bytes[i]);
        pair |= pairs[a] >> b;
        triple |= head & (tails[a] >> b);
        head = heads[a] >> b;
        a = b;
    }
    *ret_pair = pair & 1;
    *ret_triple = triple & 1;
}

/* ---- All texts: without branches, so that the compiler makes vector code ------------------------------------------
 */

static unsigned look(const uint8_t *bytes, size_t len)
{
    uint8_t named = 0, shaped = 0;
    for (size_t i = 1; i < len; i++) {
        uint8_t a = bytes[i - 1] | 0x20, b = bytes[i] | 0x20;
#define P(row, x, y) named |= (uint8_t)((a == LOW(x)) & (b == LOW(y)));
        PAIRS(P, 0)
#undef P
    }
    for (size_t i = 2; i < len; i++) {
        uint8_t a = bytes[i - 2] | 0x20, b = bytes[i - 1] | 0x20, c = bytes[i] | 0x20;
#define P(row, x, y, z) named |= (uint8_t)((a == LOW(x)) & (b == LOW(y)) & (c == LOW(z)));
        TRIPLES(P, 0)
#undef P
#define P(row, x, y, z) shaped |= (uint8_t)((a == LOW(x)) & (b == LOW(y)) & (c == LOW(z)));
        SHAPES(P, 0)
#undef P
    }
    return (named ? NAMED : 0) | (shaped ? SHAPED : 0);
}

/* A sign or a blank that separates a name from its value, as it is or as its escaped forms begin. */
static bool has_separator(const uint8_t *bytes, size_t len)
{
    uint8_t found = 0;
    for (size_t i = 0; i < len; i++) {
        uint8_t c = bytes[i];
        found |= (uint8_t)((c == '=') | (c == ':') | (c == '>') | (c == '&') | (c == '%') | (c == '\\') | (c == '+') |
                           (c == ' ') | ((uint8_t)(c - '\t') < 5));
    }
    return found != 0;
}

/* Vectors are slow at the ends of texts: names and values of properties are hardly more than ends. */
static unsigned look_at(struct pyro_slice text)
{
    const uint8_t *bytes = (const uint8_t *)text.ptr;
    bool pair = true, triple = true;
    if (text.len <= SHORT)
        look_up(bytes, text.len, &pair, &triple);
    return triple ? look(bytes, text.len) : pair ? NAMED : 0;
}

bool pyro_may_hold_secret(struct pyro_slice text)
{
    unsigned found = look_at(text);
    return (found & SHAPED) || (found && has_separator((const uint8_t *)text.ptr, text.len));
}

bool pyro_may_name_secret(struct pyro_slice text)
{
    return look_at(text) & NAMED;
}
