/* The record reader: skipping, walking key by key and a second, recursive reading of the grammar agree on every text,
 * and nothing is read after the padding. The first byte chooses the content of the padding and how values are taken. */
#include "base/json/json_read.h"
#include "base/json/unescape.h"
#include "fuzz_kit.h"

/* ---- A second opinion on the grammar ---- */

struct grammar {
    const char *at, *end;
};

static bool accept_value(struct grammar *text, unsigned depth);

static void blanks(struct grammar *text)
{
    while (text->at < text->end && memchr(" \t\r", *text->at, 3))
        text->at++;
}

static bool accept(struct grammar *text, char byte)
{
    blanks(text);
    if (text->at == text->end || *text->at != byte)
        return false;
    text->at++;
    return true;
}

static bool accept_word(struct grammar *text, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(text->end - text->at) < len || memcmp(text->at, word, len) != 0)
        return false;
    text->at += len;
    return true;
}

static bool accept_string(struct grammar *text)
{
    if (!accept(text, '"'))
        return false;
    while (text->at < text->end && *text->at != '"') {
        unsigned char byte = (unsigned char)*text->at++;
        if (byte < 0x20)
            return false;
        if (byte != '\\')
            continue;
        if (text->at == text->end)
            return false;
        char kind = *text->at++;
        if (kind == 'u') {
            for (int i = 0; i < 4; i++, text->at++)
                if (text->at == text->end || !memchr("0123456789abcdefABCDEF", *text->at, 22))
                    return false;
        } else if (!memchr("\"\\/bfnrt", kind, 8)) {
            return false;
        }
    }
    return accept(text, '"');
}

static size_t accept_digits(struct grammar *text)
{
    size_t count = 0;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
        count++;
    return count;
}

static bool accept_number(struct grammar *text)
{
    if (text->at < text->end && *text->at == '-')
        text->at++;
    const char *first = text->at;
    size_t digits = accept_digits(text);
    if (digits == 0 || (digits > 1 && *first == '0'))
        return false;
    if (text->at < text->end && *text->at == '.') {
        text->at++;
        if (accept_digits(text) == 0)
            return false;
    }
    if (text->at < text->end && (*text->at == 'e' || *text->at == 'E')) {
        text->at++;
        if (text->at < text->end && (*text->at == '+' || *text->at == '-'))
            text->at++;
        if (accept_digits(text) == 0)
            return false;
    }
    return true;
}

static bool accept_members(struct grammar *text, unsigned depth, bool object)
{
    char close = object ? '}' : ']';
    if (depth > PYRO_JSON_DEPTH)
        return false;
    if (accept(text, close))
        return true;
    do {
        if (object && (blanks(text), !accept_string(text) || !accept(text, ':')))
            return false;
        if (!accept_value(text, depth))
            return false;
    } while (accept(text, ','));
    return accept(text, close);
}

static bool accept_value(struct grammar *text, unsigned depth)
{
    blanks(text);
    if (text->at == text->end)
        return false;
    switch (*text->at) {
    case '{':
    case '[':
        text->at++;
        return accept_members(text, depth + 1, text->at[-1] == '{');
    case '"':
        return accept_string(text);
    case 't':
        return accept_word(text, "true");
    case 'f':
        return accept_word(text, "false");
    case 'n':
        return accept_word(text, "null");
    default:
        return accept_number(text);
    }
}

/* ---- Walking by the reader's own steps ---- */

static const struct pyro_json_key keys[] = {PYRO_JSON_KEY("Event"), PYRO_JSON_KEY("Stage ID"),
                                            PYRO_JSON_KEY("Task Executor Metrics"), PYRO_JSON_KEY("a"),
                                            PYRO_JSON_KEY("")};
enum { KEYS = sizeof(keys) / sizeof(*keys) };

static void walk_string(struct pyro_json_reader *json)
{
    struct pyro_slice text = PYRO_SLICE_NULL;
    struct pyro_strbuf decoded;
    bool plain = false;
    if (!pyro_json_take_string(json, &text, &plain) || !text.ptr)
        return;
    pyro_strbuf_init(&decoded, NULL);
    pyro_text_decode(&decoded, text, NULL);
    FUZZ_CHECK(fuzz_is_utf8(decoded.data, decoded.len));
    if (plain)
        FUZZ_CHECK(decoded.len == text.len && (text.len == 0 || memcmp(decoded.data, text.ptr, text.len) == 0));
    pyro_strbuf_done(&decoded);
}

/* A number of few digits is exactly what the C library makes of it. */
static void walk_number(struct pyro_json_reader *json)
{
    const char *start = json->at;
    char digits[20];
    double real = 0;
    if (!pyro_json_take_double(json, &real) || json->at - start >= (ptrdiff_t)sizeof(digits))
        return;
    memcpy(digits, start, (size_t)(json->at - start));
    digits[json->at - start] = '\0';
    double expected = strtod(digits, NULL);
    FUZZ_CHECK(memcmp(&real, &expected, sizeof(real)) == 0);
}

static void walk(struct pyro_json_reader *json)
{
    struct pyro_json_object object;
    bool truth = false;
    switch (pyro_json_peek(json)) {
    case 0:
        return;
    case '{':
        pyro_json_enter_object(json, &object);
        for (int key; (key = pyro_json_next(json, &object, keys, KEYS)) != PYRO_JSON_END;) {
            FUZZ_CHECK(key == PYRO_JSON_OTHER || (key >= 0 && key < KEYS));
            walk(json);
        }
        return;
    case '[':
        pyro_json_enter_array(json);
        for (bool first = true; pyro_json_next_element(json, &first);)
            walk(json);
        return;
    case '"':
        walk_string(json);
        return;
    case 't':
    case 'f':
    case 'n':
        pyro_json_take_bool(json, &truth);
        return;
    default:
        walk_number(json);
    }
}

/* Takes the document's members as whatever the bytes of `taste` say: mostly errors, which must stay errors. */
static void taste_members(struct pyro_json_reader *json, uint8_t taste)
{
    struct pyro_json_object object;
    struct pyro_slice text = PYRO_SLICE_NULL;
    int64_t number = 0;
    double real = 0;
    bool truth = false;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = pyro_json_next(json, &object, keys, taste % (KEYS + 1))) != PYRO_JSON_END;
         taste = (uint8_t)(taste * 5 + 1)) {
        switch (taste >> 5) {
        case 0:
            pyro_json_take_int(json, &number);
            break;
        case 1:
            pyro_json_take_loose_int(json, &number);
            break;
        case 2:
            pyro_json_take_double(json, &real);
            break;
        case 3:
            pyro_json_take_bool(json, &truth);
            break;
        case 4:
            pyro_json_skip_array_fast(json);
            break;
        case 5:
            pyro_json_take_raw(json, &text);
            break;
        case 6:
            walk_string(json);
            break;
        default:
            walk(json);
        }
    }
    if (json->error) {
        const char *error = json->error;
        FUZZ_CHECK(!pyro_json_take_int(json, &number) && !pyro_json_skip(json) && !pyro_json_record_end(json));
        FUZZ_CHECK(json->error == error);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char stale[] = {'"', ',', '}', '7', ':', ']', '\n', '\\'};
    if (size < 1 || size - 1 > FUZZ_TEXT_LIMIT)
        return 0;
    const char *text = fuzz_guarded_copy(data + 1, size - 1, stale[data[0] % sizeof(stale)]), *end = text + (size - 1);
    struct grammar grammar = {text, end};
    bool expected = accept_value(&grammar, 0);
    for (size_t v = 0; pyro_scan_variant(v); v++) {
        struct pyro_json_reader json;
        pyro_json_reader_start(&json, text, end, pyro_scan_variant(v));
        FUZZ_CHECK(pyro_json_skip(&json) == expected && (json.error == NULL) == expected);
        FUZZ_CHECK(json.at >= text && json.at <= end && (!expected || json.at == grammar.at));
        pyro_json_reader_start(&json, text, end, pyro_scan_variant(v));
        walk(&json);
        FUZZ_CHECK((json.error == NULL) == expected && json.at <= end && (!expected || json.at == grammar.at));
        FUZZ_CHECK(!expected || json.depth == 0);
        pyro_json_reader_start(&json, text, end, pyro_scan_variant(v));
        taste_members(&json, data[0]);
        FUZZ_CHECK(json.at >= text && json.at <= end);
    }
    return 0;
}
