#include "report/sparkview/spark_json.h"

#include "base/numbers/calendar.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void pyro_spark_word(struct spark_json *json, const char *word)
{
    pyro_strbuf_add_text(json->out, word);
}

/* ---- Containers ---- */

static void add(struct spark_json *json, const char *text, size_t len)
{
    char *at = pyro_spark_room(json, len);
    if (!at)
        return;
    memcpy(at, text, len);
    pyro_spark_wrote(json, at + len);
}

void pyro_spark_open_object(struct spark_json *json)
{
    add(json, "{", 1);
    json->depth++;
    json->filled = false;
}

void pyro_spark_close_object(struct spark_json *json)
{
    json->depth--;
    if (json->filled) {
        char *at = pyro_spark_room(json, pyro_spark_key_bytes(json, 0));
        json->filled = false; /* no comma before the end */
        if (at) {
            at = pyro_spark_indent(json, at);
            *at++ = '}';
            pyro_spark_wrote(json, at);
        }
    } else {
        add(json, " }", 2);
    }
    json->filled = true;
}

void pyro_spark_open_array(struct spark_json *json)
{
    add(json, "[", 1);
    json->filled = false;
}

void pyro_spark_close_array(struct spark_json *json)
{
    add(json, " ]", 2);
    json->filled = true;
}

void pyro_spark_element(struct spark_json *json)
{
    if (json->filled)
        add(json, ", ", 2);
    else
        add(json, " ", 1);
    json->filled = true;
}

void pyro_spark_key_slice(struct spark_json *json, struct pyro_slice key)
{
    char *at = pyro_spark_room(json, pyro_spark_key_bytes(json, 0));
    if (!at)
        return;
    pyro_spark_wrote(json, pyro_spark_indent(json, at));
    pyro_spark_text(json, key);
    add(json, " : ", 3);
}

void pyro_spark_name(struct spark_json *json, const struct spark_name *name)
{
    char *at = pyro_spark_room(json, pyro_spark_key_bytes(json, sizeof(name->text)));
    if (!at)
        return;
    at = pyro_spark_indent(json, at);
    memcpy(at, name->text, sizeof(name->text));
    pyro_spark_wrote(json, at + name->len);
}

/* ---- Texts ---- */

enum { WORD = sizeof(uint64_t), ESCAPED = 6 };

static uint64_t load(const char *from)
{
    uint64_t word;
    memcpy(&word, from, WORD);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The highest bit of each byte that has to be escaped; above the lowest such byte, of others too. */
static uint64_t specials(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
    uint64_t quotes = word ^ ones * '"', slashes = word ^ ones * '\\';
    return (((word - ones * 0x20) & ~word) | ((quotes - ones) & ~quotes) | ((slashes - ones) & ~slashes)) & highs;
}

static bool is_special(unsigned char byte)
{
    return byte < 0x20 || byte == '"' || byte == '\\';
}

/* At most ESCAPED bytes. */
static char *escape(char *at, unsigned char byte)
{
    static const char short_names[] = "\b\t\n\f\r\"\\", letters[] = "btnfr\"\\", digits[] = "0123456789ABCDEF";
    const char *found = byte ? strchr(short_names, byte) : NULL;
    *at++ = '\\';
    if (found) {
        *at++ = letters[found - short_names];
        return at;
    }
    memcpy(at, "u00", 3);
    at[3] = digits[byte >> 4];
    at[4] = digits[byte & 15];
    return at + 5;
}

/* Copies up to the first byte that has to be escaped; how many there are before it. */
static size_t copy_plain(char *to, struct pyro_slice text)
{
    size_t i = 0;
    for (; i + WORD <= text.len; i += WORD) {
        uint64_t found = specials(load(text.ptr + i));
        memcpy(to + i, text.ptr + i, WORD);
        if (found)
            return i + (size_t)__builtin_ctzll(found) / 8;
    }
    for (; i < text.len && !is_special((unsigned char)text.ptr[i]); i++)
        to[i] = text.ptr[i];
    return i;
}

void pyro_spark_text(struct spark_json *json, struct pyro_slice text)
{
    char *at = pyro_spark_room(json, text.len + ESCAPED + 2);
    if (!at)
        return;
    *at++ = '"';
    for (;;) {
        size_t plain = copy_plain(at, text);
        at += plain;
        if (plain == text.len)
            break;
        at = escape(at, (unsigned char)text.ptr[plain]);
        text = (struct pyro_slice){text.ptr + plain + 1, text.len - plain - 1};
        pyro_spark_wrote(json, at);
        at = pyro_spark_room(json, text.len + ESCAPED + 1);
        if (!at)
            return;
    }
    *at++ = '"';
    pyro_spark_wrote(json, at);
}

/* ---- Numbers ---- */

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
    "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
    "9899";

static unsigned count_digits(uint64_t value)
{
    static const uint64_t powers[] = {0,
                                      10,
                                      100,
                                      1000,
                                      10000,
                                      100000,
                                      1000000,
                                      10000000,
                                      100000000,
                                      1000000000,
                                      10000000000,
                                      100000000000,
                                      1000000000000,
                                      10000000000000,
                                      100000000000000,
                                      1000000000000000,
                                      10000000000000000,
                                      100000000000000000,
                                      1000000000000000000,
                                      10000000000000000000U};
    unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1), about = bits * 1233 >> 12; /* log10(2) = 1233 / 4096 */
    return about + 1 - (value < powers[about]);
}

char *pyro_spark_write_integer(char *at, int64_t value)
{
    uint64_t rest = (uint64_t)value;
    if (value < 0) {
        *at++ = '-';
        rest = 0 - rest;
    }
    if (rest < 10) {
        *at = (char)('0' + rest);
        return at + 1;
    }
    unsigned count = count_digits(rest);
    char *end = at + count, *to = end;
    for (; rest >= 100; rest /= 100)
        memcpy(to -= 2, pairs + 2 * (rest % 100), 2);
    if (rest >= 10)
        memcpy(to - 2, pairs + 2 * rest, 2);
    else
        to[-1] = (char)('0' + rest);
    return end;
}

void pyro_spark_integer(struct spark_json *json, int64_t value)
{
    char *at = pyro_spark_room(json, SPARK_INTEGER_BYTES);
    if (at)
        pyro_spark_wrote(json, pyro_spark_write_integer(at, value));
}

void pyro_spark_put_ints(struct spark_json *json, const struct spark_name *names, const int64_t *values, size_t count)
{
    size_t most = pyro_spark_key_bytes(json, sizeof(names->text)) + SPARK_INTEGER_BYTES;
    char *at = pyro_spark_room(json, count * most);
    if (!at)
        return;
    for (size_t i = 0; i < count; i++) {
        if (pyro_spark_is_unknown(json, values[i]))
            continue;
        at = pyro_spark_indent(json, at);
        memcpy(at, names[i].text, sizeof(names[i].text));
        at = pyro_spark_write_integer(at + names[i].len, values[i]);
    }
    pyro_spark_wrote(json, at);
}

/* The fewest digits that give the same number again, without zeros at their end; the first one counts 10^exponent,
 * which is returned. */
static int shortest(double value, char digits[40])
{
    char text[40], *at;
    int exponent = 0;
    if (value == floor(value) && value < 1e15) {
        exponent = snprintf(digits, 40, "%.0f", value) - 1;
    } else {
        for (int more = 0; more <= 16; more++) {
            double again = snprintf(text, sizeof(text), "%.*e", more, value) > 0 ? strtod(text, &at) : 0;
            if (again >= value && again <= value)
                break;
        }
        size_t len = 0;
        for (at = text; *at && *at != 'e'; at++)
            if (*at != '.')
                digits[len++] = *at;
        digits[len] = '\0';
        exponent = (int)strtol(at + 1, NULL, 10);
    }
    for (size_t len = strlen(digits); len > 1 && digits[len - 1] == '0'; len--)
        digits[len - 1] = '\0';
    return exponent;
}

/* As Java's Double.toString() writes it. */
void pyro_spark_real(struct spark_json *json, double value)
{
    if (!isfinite(value)) {
        pyro_spark_word(json, isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
        return;
    }
    if (value == floor(value) && fabs(value) < 1e7) {
        if (value == 0 && signbit(value))
            add(json, "-", 1);
        pyro_spark_integer(json, (int64_t)value);
        add(json, ".0", 2);
        return;
    }
    char digits[40];
    int exponent = shortest(value < 0 ? -value : value, digits), count = (int)strlen(digits);
    pyro_strbuf_add_text(json->out, value < 0 ? "-" : "");
    if (exponent < -3 || exponent >= 7) {
        pyro_strbuf_printf(json->out, "%c.%sE%d", digits[0], count > 1 ? digits + 1 : "0", exponent);
    } else if (exponent < 0) {
        pyro_strbuf_printf(json->out, "0.%.*s%s", -exponent - 1, "00", digits);
    } else {
        int whole = exponent + 1;
        pyro_strbuf_printf(json->out, "%.*s%.*s.%s", whole, digits, whole > count ? whole - count : 0, "000000",
                           whole < count ? digits + whole : "0");
    }
}

/* ---- Dates ---- */

static char *write_two(char *at, unsigned value, char behind)
{
    memcpy(at, pairs + 2 * (size_t)value, 2);
    at[2] = behind;
    return at + 3;
}

void pyro_spark_date(struct spark_json *json, int64_t time_ms)
{
    enum { DAY_MS = 86400000, DATE_BYTES = 64 };
    int64_t in_day = time_ms % DAY_MS, day = time_ms / DAY_MS, year;
    unsigned month, day_of_month;
    if (in_day < 0) {
        in_day += DAY_MS;
        day--;
    }
    pyro_day_split(day, &year, &month, &day_of_month);
    unsigned ms = (unsigned)(in_day % 1000), second = (unsigned)(in_day / 1000);
    char *at = pyro_spark_room(json, DATE_BYTES);
    if (!at)
        return;
    *at++ = '"';
    if (year >= 0 && year <= 9999) {
        memcpy(at, pairs + 2 * (year / 100), 2);
        memcpy(at + 2, pairs + 2 * (year % 100), 2);
        at += 4;
    } else {
        at = pyro_spark_write_integer(at, year);
    }
    *at++ = '-';
    at = write_two(at, month, '-');
    at = write_two(at, day_of_month, 'T');
    at = write_two(at, second / 3600, ':');
    at = write_two(at, second / 60 % 60, ':');
    at = write_two(at, second % 60, '.');
    *at++ = (char)('0' + ms / 100);
    memcpy(at, pairs + 2 * (size_t)(ms % 100), 2);
    memcpy(at + 2, "GMT\"", 4);
    pyro_spark_wrote(json, at + 6);
}
