#include "base/secrets/secret_scan.h"

#include <stdint.h>
#include <string.h>

/* Three adjacent bytes of every text that an expression of secret_forms.h matches: of each word, sign and shape some
 * that are rare elsewhere. Letters in lower case; `_` and `\` as they are with that bit set too. */
#define LOW(c) ((uint8_t)((c) | 0x20))

/* Of names of properties and options. */
#define NAMES(P, row)                                                                                                  \
    P(row, 'e', 'c', 'r') /* secret */                                                                                 \
    P(row, 's', 's', 'w') /* password, passwd */                                                                       \
    P(row, 's', 's', 'p') /* passphrase */                                                                             \
    P(row, 's', 's', 'c') /* passcode */                                                                               \
    P(row, 'k', 'e', 'n') /* token */                                                                                  \
    P(row, 'k', 'e', 'y') /* access key and the other keys, with and without a sign before "key" */                    \
    P(row, 'p', 'w', 'd')                                                                                              \
    P(row, 'e', 'd', 'e') /* credential */                                                                             \
    P(row, 's', 'a', 's') /* fs.azure.sas */

/* What else announces a secret. */
#define HEADERS(P, row)                                                                                                \
    P(row, 't', 'i', 'f') /* identified by */                                                                          \
    P(row, 'r', 'e', 'r') /* bearer */                                                                                 \
    P(row, 'r', 'i', 'z') /* authorization */                                                                          \
    P(row, 's', 'i', 'g') /* sig, signature */                                                                         \
    P(row, 'k', 'i', 'e') /* cookie */                                                                                 \
    P(row, 'p', '.', 'a') /* hadoop.auth */

/* Of names of options beyond those. */
#define OPTIONS(P, row) P(row, 'u', 'r', 'l')

/* Of addresses: "://", also escaped. */
#define ADDRESSES(P, row)                                                                                              \
    P(row, ':', '/', '/')                                                                                              \
    P(row, ':', '/', '\\')                                                                                             \
    P(row, ':', '/', '%')                                                                                              \
    P(row, ':', '/', '&')                                                                                              \
    P(row, ':', '\\', '/')                                                                                             \
    P(row, ':', '\\', '\\')                                                                                            \
    P(row, ':', '\\', 'u')                                                                                             \
    P(row, ':', '%', '2')                                                                                              \
    P(row, ':', '&', 's')                                                                                              \
    P(row, ':', '&', '#')                                                                                              \
    P(row, '3', 'a', '/')                                                                                              \
    P(row, '3', 'a', '\\')                                                                                             \
    P(row, '3', 'a', '%')                                                                                              \
    P(row, '3', 'a', '&')                                                                                              \
    P(row, '3', 'a', ';')                                                                                              \
    P(row, 'o', 'l', 'o') /* &colon; */                                                                                \
    P(row, '5', '8', ';')                                                                                              \
    P(row, 'c', 'l', 'e') /* oracle */

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
    P(row, 'd', 'a', 'p') /* dapi */                                                                                   \
    P(row, 'k', '_', 'l')                                                                                              \
    P(row, '-', '-', '-') /* PEM */

#define ALL(P, row) NAMES(P, row) HEADERS(P, row) OPTIONS(P, row) ADDRESSES(P, row) SHAPES(P, row)

/* The rest of the longest word after its three bytes, and TAIL, are shorter. */
enum { MOST_OF_WORD = 128 };

enum { NAMED = 1, HEADED = 2, ADDRESSED = 4, SHAPED = 8, OPTION = 16, ANNOUNCED = 32, IN_HEADER = 64 };

/* ---- A table, and what it lets through --------------------------------------------------------------------------- */

/* The 64 values that bytes of ASCII have with the bit of LOW() set. Others are taken for one of them. */
#define CELL(c)               (((c)&0x1f) | (((c)&0x40) >> 1))
#define HEAD_OF(row, x, y, z) | (CELL(x) == (row) ? UINT64_C(1) << CELL(y) : 0)
#define TAIL_OF(row, x, y, z) | (CELL(y) == (row) ? UINT64_C(1) << CELL(z) : 0)
#define HEAD_ROW(row)         (UINT64_C(0) ALL(HEAD_OF, row))
#define TAIL_ROW(row)         (UINT64_C(0) ALL(TAIL_OF, row))
#define FOUR(ROW, n)          ROW(n), ROW((n) + 1), ROW((n) + 2), ROW((n) + 3)
#define SIXTEEN(ROW, n)       FOUR(ROW, n), FOUR(ROW, (n) + 4), FOUR(ROW, (n) + 8), FOUR(ROW, (n) + 12)
#define TABLE(ROW)                                                                                                     \
    {                                                                                                                  \
        SIXTEEN(ROW, 0), SIXTEEN(ROW, 16), SIXTEEN(ROW, 32), SIXTEEN(ROW, 48)                                          \
    }

/* Bit y of row x: of the first and the last two bytes of each triple. */
static const uint64_t heads[64] = TABLE(HEAD_ROW), tails[64] = TABLE(TAIL_ROW);

/* Whether "key" may be that of an access key, and of the others: their words end in these letters, a sign may be
 * between, and after "access" any. */
static bool is_of_secret_key(const uint8_t *begin, const uint8_t *at)
{
    static const char before[] = "istedhngISTEDHNG._-fF";
    return at > begin && (memchr(before, at[-1], sizeof(before) - 1) || (at - begin > 1 && (at[-2] | 0x20) == 's'));
}

/* Of the triple at `at` in a text; 0: it is none. */
static unsigned kind_of(const uint8_t *begin, const uint8_t *at, const uint8_t *end)
{
    uint8_t a = at[0] | 0x20, b = at[1] | 0x20, c = at[2] | 0x20;
    /* Most texts of Spark SQL have "keys" and "adaptive", few a key that is secret or "dapi". */
    if (a == 'k' && b == 'e' && c == 'y' && !is_of_secret_key(begin, at))
        return 0;
    if (a == 'd' && b == 'a' && c == 'p' && (at + 3 == end || (at[3] | 0x20) != 'i'))
        return 0;
    if (a == 'u' && b == 'r' && c == 'l' && at > begin && (at[-1] | 0x20) == 'c') /* curl -u user:password */
        return HEADED | OPTION;
#define P(kind, x, y, z)                                                                                               \
    if (a == LOW(x) && b == LOW(y) && c == LOW(z))                                                                     \
        return kind;
    NAMES(P, NAMED)
    HEADERS(P, HEADED)
    OPTIONS(P, OPTION)
    ADDRESSES(P, ADDRESSED)
    SHAPES(P, SHAPED)
#undef P
    return 0;
}

/* The sign, quote or blank that follows the word that goes on here, as it is or as its escaped forms begin: it
 * separates a name from its value. 0: none does. */
static uint8_t followed_by(const uint8_t *at, const uint8_t *end)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    static const char signs[] = "=:><,&%\\+\"'` \t\n\v\f\r";
    if (end - at > MOST_OF_WORD)
        end = at + MOST_OF_WORD;
    while (at < end && memchr(word, *at, sizeof(word) - 1))
        at++;
    return at < end && memchr(signs, *at, sizeof(signs) - 1) ? *at : 0;
}

static unsigned announcement(unsigned kind, uint8_t sign)
{
    /* A tag's sign after the name of a property, as it is or escaped. */
    bool in_tag = sign == '<' || sign == '>' || sign == '&' || sign == '%' || sign == '\\';
    return sign == 0 ? 0 : (kind & HEADED) || in_tag ? ANNOUNCED | IN_HEADER : ANNOUNCED;
}

/* The kinds of all triples of the text. */
static unsigned look(struct pyro_slice text)
{
    const uint8_t *bytes = (const uint8_t *)text.ptr;
    unsigned found = 0;
    uint64_t head = 0;
    size_t a = text.len > 0 ? CELL((size_t)bytes[0]) : 0;
    for (size_t i = 1; i < text.len; i++) {
        size_t b = CELL((size_t)bytes[i]);
        /* A head where a tail follows, which need not be of the same triple. */
        if (head & (tails[a] >> b) & 1) {
            unsigned kind = kind_of(bytes, bytes + i - 2, bytes + text.len);
            if ((kind & (NAMED | HEADED)) && (found & (ANNOUNCED | IN_HEADER)) != (ANNOUNCED | IN_HEADER))
                found |= announcement(kind, followed_by(bytes + i + 1, bytes + text.len));
            found |= kind;
        }
        head = heads[a] >> b;
        a = b;
    }
    return found;
}

/* The sign before which an address has its password, as it is or as its escaped forms begin. */
static bool has_at(struct pyro_slice text)
{
    uint8_t found = 0;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = (uint8_t)text.ptr[i];
        found |= (uint8_t)((c == '@') | (c == '%') | (c == '&') | (c == '\\'));
    }
    return found != 0;
}

unsigned pyro_may_hold_secret(struct pyro_slice text)
{
    unsigned found = look(text);
    if (!found)
        return 0;
    return (found & ANNOUNCED ? PYRO_SECRET_BY_NAME : 0) | (found & IN_HEADER ? PYRO_SECRET_BY_HEADER : 0) |
           ((found & SHAPED) || ((found & ADDRESSED) && has_at(text)) ? PYRO_SECRET_BY_SHAPE : 0) |
           (found & (NAMED | OPTION) ? PYRO_SECRET_BY_OPTION : 0);
}

bool pyro_may_name_secret(struct pyro_slice text)
{
    return look(text) & NAMED;
}
