#include "base/json/json_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json/unescape.h"

void pyro_json_reader_start(struct pyro_json_reader *json, const char *text, const char *end,
                            const struct pyro_scan *scan)
{
    *json = (struct pyro_json_reader){.at = text, .end = end, .scan = scan};
}

bool pyro_json_fail(struct pyro_json_reader *json, const char *reason)
{
    if (!json->error)
        json->error = json->at >= json->end || *json->at == '\n' ? "the record ends early" : reason;
    return false;
}

static inline bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static inline void skip_blanks(struct pyro_json_reader *json)
{
    while (json->at < json->end && is_blank(*json->at))
        json->at++;
}

/* Takes `byte` if it comes next. */
static inline bool take(struct pyro_json_reader *json, char byte)
{
    if (json->at < json->end && *json->at == byte) {
        json->at++;
        return true;
    }
    skip_blanks(json);
    if (json->at < json->end && *json->at == byte) {
        json->at++;
        return true;
    }
    return false;
}

static bool take_word(struct pyro_json_reader *json, const char *word, size_t len)
{
    if ((size_t)(json->end - json->at) < len || memcmp(json->at, word, len) != 0)
        return pyro_json_fail(json, "not a JSON value");
    json->at += len;
    return true;
}

char pyro_json_peek(struct pyro_json_reader *json)
{
    if (json->error)
        return 0;
    skip_blanks(json);
    if (json->at >= json->end) {
        pyro_json_fail(json, "");
        return 0;
    }
    if (*json->at == '\0')
        pyro_json_fail(json, "not a JSON value");
    return *json->at;
}

static bool enter(struct pyro_json_reader *json, char bracket, const char *complaint)
{
    if (json->error)
        return false;
    if (!take(json, bracket)) {
        if (json->at < json->end && *json->at == 'n')
            take_word(json, "null", 4);
        else
            pyro_json_fail(json, complaint);
        return false;
    }
    if (++json->depth > PYRO_JSON_DEPTH)
        return pyro_json_fail(json, "nested too deeply");
    return true;
}

bool pyro_json_enter_object(struct pyro_json_reader *json, struct pyro_json_object *object)
{
    *object = (struct pyro_json_object){.first = true};
    return enter(json, '{', "an object was expected");
}

bool pyro_json_enter_array(struct pyro_json_reader *json)
{
    return enter(json, '[', "an array was expected");
}

bool pyro_json_next_element(struct pyro_json_reader *json, bool *first)
{
    if (json->error)
        return false;
    if (take(json, ']')) {
        json->depth--;
        return false;
    }
    if (!*first && !take(json, ','))
        return pyro_json_fail(json, "a comma was expected");
    *first = false;
    skip_blanks(json);
    return true;
}

/* A key outside the expected order: read it whole, then look through the table. */
static int find_key(struct pyro_json_reader *json, struct pyro_json_object *object, const struct pyro_json_key *keys,
                    unsigned key_count)
{
    bool plain = false;
    object->name = PYRO_SLICE_NULL;
    if (json->at >= json->end || *json->at != '"') {
        pyro_json_fail(json, "a key was expected");
        return PYRO_JSON_END;
    }
    if (!pyro_json_take_string(json, &object->name, &plain))
        return PYRO_JSON_END;
    if (!take(json, ':')) {
        pyro_json_fail(json, "a colon was expected");
        return PYRO_JSON_END;
    }
    struct pyro_slice name = object->name;
    if (!name.ptr)
        return PYRO_JSON_OTHER;
    char decoded[sizeof(keys->name)];
    if (!plain && name.len < 6 * sizeof(decoded) && memchr(name.ptr, '\\', name.len)) {
        size_t len = pyro_text_decode_into(name, decoded, sizeof(decoded));
        if (len <= sizeof(decoded))
            name = (struct pyro_slice){decoded, len};
    }
    for (unsigned i = 0; i < key_count; i++) {
        unsigned row = object->expected + i < key_count ? object->expected + i : object->expected + i - key_count;
        if (keys[row].len == name.len + 3 && memcmp(keys[row].name + 1, name.ptr, name.len) == 0) {
            object->expected = row + 1 < key_count ? row + 1 : 0;
            return (int)row;
        }
    }
    return PYRO_JSON_OTHER;
}

int pyro_json_next_any(struct pyro_json_reader *json, struct pyro_json_object *object, const struct pyro_json_key *keys,
                       unsigned key_count)
{
    if (json->error)
        return PYRO_JSON_END;
    if (take(json, '}')) {
        json->depth--;
        return PYRO_JSON_END;
    }
    if (!object->first && !take(json, ',')) {
        pyro_json_fail(json, "a comma was expected");
        return PYRO_JSON_END;
    }
    object->first = false;
    skip_blanks(json);
    return find_key(json, object, keys, key_count);
}

static bool is_digit(char byte)
{
    return (unsigned char)(byte - '0') < 10;
}

/* How many of the eight bytes are digits before the first that is none; `word` holds them less '0'. */
static inline unsigned count_digits(uint64_t word)
{
    /* A byte above 9 sets its top bit; a carry can only reach bytes behind such a one. */
    uint64_t others = ((word + 0x7676767676767676ULL) | word) & 0x8080808080808080ULL;
    return others ? (unsigned)__builtin_ctzll(others) >> 3 : 8;
}

/* Value of the first `count` (1..8) digits: pairs, then fours, then all eight at once. */
static inline uint64_t digits_value(uint64_t word, unsigned count)
{
    word <<= 8 * (8 - count);
    word = (word * 10 + (word >> 8)) & 0x00ff00ff00ff00ffULL;
    word = (word * 100 + (word >> 16)) & 0x0000ffff0000ffffULL;
    return (word * 10000 + (word >> 32)) & 0xffffffffULL;
}

/* Digits at p, at most 24 of them, eight at a time. Sets *ret_value to what at most 18 digits are worth. */
static unsigned take_digits(const char *p, const char *end, uint64_t *ret_value)
{
    static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint64_t value = 0;
    unsigned total = 0;
    for (int round = 0; round < 3; round++) {
        uint64_t word = pyro_json_word(p + total);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        word ^= 0x3030303030303030ULL;
        unsigned count = count_digits(word);
        if ((size_t)(end - p) < total + count)
            count = (unsigned)(end - p) - total;
        if (count == 0)
            break;
        value = value * powers[count] + digits_value(word, count);
        total += count;
        if (count < 8)
            break;
    }
    *ret_value = value;
    return total;
}

/* For 19 digits and more: *ret_overflow when the value needs more than 64 bits. Returns the place behind the digits. */
static const char *take_many_digits(const char *p, const char *end, uint64_t *ret_value, bool *ret_overflow)
{
    uint64_t value = 0;
    bool overflow = false;
    for (; p < end && is_digit(*p); p++)
        overflow |=
            __builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value);
    *ret_value = value;
    *ret_overflow = overflow;
    return p;
}

bool pyro_json_take_long_int(struct pyro_json_reader *json, int64_t *value)
{
    if (json->error)
        return false;
    skip_blanks(json);
    const char *p = json->at, *end = json->end;
    if (p >= end)
        return pyro_json_fail(json, "");
    bool negative = *p == '-', overflow = false;
    p += negative;
    const char *digits = p;
    uint64_t sum;
    unsigned count = take_digits(p, end, &sum);
    p = count <= 18 ? p + count : take_many_digits(p, end, &sum, &overflow);
    if (p == digits) {
        if (p < end && *p == 'n' && !negative)
            return take_word(json, "null", 4);
        return pyro_json_fail(json, "an integer was expected");
    }
    if (p < end && (*p == '.' || *p == 'e' || *p == 'E'))
        return pyro_json_fail(json, "an integer was expected, not a fraction");
    if (*digits == '0' && p - digits > 1)
        return pyro_json_fail(json, "an integer with a leading zero");
    if (overflow || sum > (uint64_t)INT64_MAX + negative)
        return pyro_json_fail(json, "an integer larger than 64 bits");
    json->at = p;
    *value = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

bool pyro_json_take_loose_int(struct pyro_json_reader *json, int64_t *value)
{
    if (pyro_json_peek(json) != '"')
        return pyro_json_take_int(json, value);
    struct pyro_slice text = PYRO_SLICE_NULL;
    if (!pyro_json_take_string(json, &text, NULL))
        return false;
    char digits[24];
    if (text.len == 0 || text.len >= sizeof(digits))
        return true;
    memcpy(digits, text.ptr, text.len);
    digits[text.len] = '\0';
    char *rest;
    errno = 0;
    long long number = strtoll(digits, &rest, 10);
    if (*rest == '\0' && errno == 0)
        *value = number;
    return true;
}

/* Consumes a number of JSON's grammar; *ret_len 0 when there is none. */
static bool take_number(struct pyro_json_reader *json, const char **ret_start)
{
    const char *p = json->at, *end = json->end;
    *ret_start = p;
    if (p < end && *p == '-')
        p++;
    const char *digits = p;
    while (p < end && is_digit(*p))
        p++;
    if (p == digits || (*digits == '0' && p - digits > 1))
        return pyro_json_fail(json, "not a JSON value");
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        while (p < end && is_digit(*p))
            p++;
        if (p == fraction)
            return pyro_json_fail(json, "a number without digits after its decimal point");
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        const char *exponent = p;
        while (p < end && is_digit(*p))
            p++;
        if (p == exponent)
            return pyro_json_fail(json, "a number without digits in its exponent");
    }
    json->at = p;
    return true;
}

/* The value of a number of JSON's grammar, whatever decimal point the locale has: strtod() sees none. */
static double to_double(const char *p, const char *end)
{
    enum { DIGITS = 19, LARGEST = 100000 };
    const char *sign = p < end && *p == '-' ? "-" : "";
    uint64_t digits = 0;
    long exponent = 0, written = 0;
    bool behind_point = false;
    p += *sign != '\0';
    for (int count = 0; p < end && (*p | 0x20) != 'e'; p++) {
        if (*p == '.') {
            behind_point = true;
        } else if (count < DIGITS) {
            digits = digits * 10 + (uint64_t)(*p - '0');
            count += digits != 0;
            exponent -= behind_point;
        } else {
            exponent += !behind_point; /* beyond a double's precision */
        }
    }
    bool small = end - p > 1 && p[1] == '-';
    for (; p < end; p++)
        if (is_digit(*p) && written < LARGEST)
            written = written * 10 + (*p - '0');
    char text[64];
    snprintf(text, sizeof(text), "%s%llue%ld", sign, (unsigned long long)digits,
             exponent + (small ? -written : written));
    return strtod(text, NULL);
}

bool pyro_json_take_double(struct pyro_json_reader *json, double *value)
{
    char next = pyro_json_peek(json);
    if (next == 'n')
        return take_word(json, "null", 4);
    const char *start;
    if (!next || !take_number(json, &start))
        return false;
    *value = to_double(start, json->at);
    return true;
}

bool pyro_json_take_bool(struct pyro_json_reader *json, bool *value)
{
    switch (pyro_json_peek(json)) {
    case 't':
        *value = true;
        return take_word(json, "true", 4);
    case 'f':
        *value = false;
        return take_word(json, "false", 5);
    case 'n':
        return take_word(json, "null", 4);
    case 0:
        return false;
    default:
        return pyro_json_fail(json, "true or false was expected");
    }
}

bool pyro_json_take_string(struct pyro_json_reader *json, struct pyro_slice *value, bool *ret_plain)
{
    if (json->error)
        return false;
    if (json->at >= json->end || *json->at != '"')
        skip_blanks(json);
    if (json->at >= json->end || *json->at != '"') {
        if (json->at < json->end && *json->at == 'n')
            return take_word(json, "null", 4);
        return pyro_json_fail(json, "a string was expected");
    }
    const char *start = json->at + 1;
    unsigned flags = 0;
    json->at = json->scan->string_end(start, json->end, &flags);
    if (flags & PYRO_SCAN_BAD_ESCAPE)
        return pyro_json_fail(json, "a bad escape in a string");
    if (json->at >= json->end || *json->at != '"')
        return pyro_json_fail(json, "a control character in a string");
    *value = (struct pyro_slice){start, (size_t)(json->at - start)};
    if (ret_plain)
        *ret_plain = flags == 0;
    json->at++;
    return true;
}

static bool skip_scalar(struct pyro_json_reader *json, char first)
{
    const char *start;
    struct pyro_slice text;
    switch (first) {
    case '"':
        return pyro_json_take_string(json, &text, NULL);
    case 't':
        return take_word(json, "true", 4);
    case 'f':
        return take_word(json, "false", 5);
    case 'n':
        return take_word(json, "null", 4);
    case 0:
        return false;
    default:
        return take_number(json, &start);
    }
}

static bool is_in_table(struct pyro_slice name, const struct pyro_json_key *keys, unsigned key_count)
{
    for (unsigned i = 0; i < key_count; i++)
        if (keys[i].len == name.len + 3 && memcmp(keys[i].name + 1, name.ptr, name.len) == 0)
            return true;
    return false;
}

/* Passes over members that the table does not have, as long as they are texts with nothing unusual about their keys. */
static void skip_texts(struct pyro_json_reader *json, const struct pyro_json_key *keys, unsigned key_count)
{
    const char *end = json->end;
    for (const char *at = json->at; end - at >= 8 && at[0] == ',' && at[1] == '"';) {
        unsigned key_flags = 0, flags = 0;
        const char *name = at + 2, *quote = json->scan->string_end(name, end, &key_flags);
        if (key_flags || end - quote < 4 || quote[0] != '"' || quote[1] != ':' || quote[2] != '"' ||
            is_in_table((struct pyro_slice){name, (size_t)(quote - name)}, keys, key_count))
            return;
        const char *behind = json->scan->string_end(quote + 3, end, &flags);
        if ((flags & PYRO_SCAN_BAD_ESCAPE) || behind >= end || *behind != '"')
            return;
        json->at = at = behind + 1;
    }
}

int pyro_json_next_known(struct pyro_json_reader *json, struct pyro_json_object *object,
                         const struct pyro_json_key *keys, unsigned key_count)
{
    for (;;) {
        if (!object->first && !json->error)
            skip_texts(json, keys, key_count);
        int key = pyro_json_next(json, object, keys, key_count);
        if (key != PYRO_JSON_OTHER)
            return key;
        pyro_json_skip(json);
    }
}

/* Before an object's value: its key and colon. */
static bool skip_key(struct pyro_json_reader *json)
{
    struct pyro_slice name;
    if (pyro_json_peek(json) != '"')
        return pyro_json_fail(json, "a key was expected");
    return pyro_json_take_string(json, &name, NULL) &&
           (take(json, ':') || pyro_json_fail(json, "a colon was expected"));
}

bool pyro_json_skip(struct pyro_json_reader *json)
{
    char next = pyro_json_peek(json);
    if (next != '{' && next != '[')
        return skip_scalar(json, next);
    /* One bit a level: set for objects. No recursion, so that nesting cannot exhaust the stack. */
    uint64_t objects[(PYRO_JSON_DEPTH + 64) / 64] = {0};
    unsigned level = 0;
    for (;;) {
        char first = pyro_json_peek(json);
        if (first == '{' || first == '[') {
            if (json->depth + level + 1 > PYRO_JSON_DEPTH)
                return pyro_json_fail(json, "nested too deeply");
            json->at++;
            uint64_t bit = 1ULL << (level & 63);
            objects[level >> 6] = (objects[level >> 6] & ~bit) | (first == '{' ? bit : 0);
            level++;
            if (!take(json, first == '{' ? '}' : ']')) {
                if (first == '{' && !skip_key(json))
                    return false;
                continue;
            }
            level--;
        } else if (!skip_scalar(json, first)) {
            return false;
        }
        /* Behind a value: close what ends here, or go on with the next member. */
        for (;;) {
            if (level == 0)
                return true;
            bool object = objects[(level - 1) >> 6] >> ((level - 1) & 63) & 1;
            if (take(json, ',')) {
                if (object && !skip_key(json))
                    return false;
                break;
            }
            if (!take(json, object ? '}' : ']'))
                return pyro_json_fail(json, "a comma was expected");
            level--;
        }
    }
}

bool pyro_json_skip_array_fast(struct pyro_json_reader *json)
{
    if (json->error)
        return false;
    if (!take(json, '['))
        return pyro_json_skip(json);
    const char *behind = json->scan->array_end(json->at, json->end);
    if (!behind)
        return pyro_json_fail(json, "an array that does not end");
    json->at = behind;
    return true;
}

bool pyro_json_skip_array_words(struct pyro_json_reader *json, struct pyro_scan_words *ret)
{
    *ret = (struct pyro_scan_words){0};
    if (json->error)
        return false;
    if (!take(json, '['))
        return pyro_json_skip(json);
    const char *behind = json->scan->array_words(json->at, json->end, ret);
    if (!behind)
        return pyro_json_fail(json, "an array that does not end");
    json->at = behind;
    return true;
}

bool pyro_json_take_raw(struct pyro_json_reader *json, struct pyro_slice *value)
{
    if (!pyro_json_peek(json))
        return false;
    const char *start = json->at;
    if (!pyro_json_skip(json))
        return false;
    *value = (struct pyro_slice){start, (size_t)(json->at - start)};
    return true;
}

bool pyro_json_record_end(struct pyro_json_reader *json)
{
    if (json->error)
        return false;
    skip_blanks(json);
    if (json->at < json->end && *json->at != '\n')
        return pyro_json_fail(json, "more text after the end of the record");
    return true;
}

bool pyro_json_take_raw_fast(struct pyro_json_reader *json, struct pyro_slice *value)
{
    char next = pyro_json_peek(json);
    if (next != '{' && next != '[')
        return pyro_json_take_raw(json, value);
    const char *start = json->at, *behind = json->scan->container_end(start + 1, json->end);
    if (!behind)
        return pyro_json_fail(json, "an object or array that does not end");
    *value = (struct pyro_slice){start, (size_t)(behind - start)};
    json->at = behind;
    return true;
}
