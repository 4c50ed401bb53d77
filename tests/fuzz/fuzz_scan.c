/* Every variant of the scans finds what a plain loop finds, and reads no further than its padding. The first byte says
 * what is in the padding, the second where the scan begins. */
#include "fuzz_kit.h"

static bool plain_escape(const char *p, const char *end)
{
    if (end - p < 2 || !memchr("\"\\/bfnrtu", p[1], 9))
        return false;
    for (int i = 2; p[1] == 'u' && i < 6; i++)
        if (p + i >= end || !memchr("0123456789abcdefABCDEF", p[i], 22))
            return false;
    return true;
}

static const char *plain_string_end(const char *p, const char *end, unsigned *flags)
{
    for (; p < end && *p != '"' && (unsigned char)*p >= 0x20; p++) {
        if ((unsigned char)*p >= 0x80)
            *flags |= PYRO_SCAN_NON_ASCII;
        if (*p != '\\')
            continue;
        *flags |= PYRO_SCAN_ESCAPES;
        if (!plain_escape(p, end)) {
            *flags |= PYRO_SCAN_BAD_ESCAPE;
            return p;
        }
        p++; /* the rest of the escape is neither a quote nor a control character */
    }
    return p < end ? p : end;
}

static const char *plain_array_end(const char *p, const char *end)
{
    int64_t depth = 1, braces = 0;
    bool in_string = false, escaped = false;
    for (; p < end && *p != '\n'; p++) {
        bool plain = !escaped;
        escaped = plain && *p == '\\';
        if (*p == '"' && plain)
            in_string = !in_string;
        if (in_string)
            continue;
        braces += (*p == '{') - (*p == '}');
        depth += (*p == '[') - (*p == ']');
        if (*p == ']' && depth == 0)
            return braces == 0 ? p + 1 : NULL;
    }
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char stale[] = {'"', ']', '\\', '\n', '\x80', 'x', '{', '}'};
    if (size < 2 || size - 2 > FUZZ_TEXT_LIMIT)
        return 0;
    char *text = fuzz_guarded_copy(data + 2, size - 2, stale[data[0] % sizeof(stale)]);
    const char *end = text + (size - 2);
    size_t from = data[1] < size - 2 ? data[1] : 0;
    for (size_t v = 0; pyro_scan_variant(v); v++) {
        const struct pyro_scan *scan = pyro_scan_variant(v);
        /* All ends of strings in the text, one behind the other. */
        for (const char *p = text + from; p < end; p++) {
            unsigned expected = 0, found = 0;
            const char *stop = plain_string_end(p, end, &expected);
            FUZZ_CHECK(scan->string_end(p, end, &found) == stop);
            FUZZ_CHECK((found & PYRO_SCAN_BAD_ESCAPE) == (expected & PYRO_SCAN_BAD_ESCAPE));
            /* What follows a bad escape may be reported too: it is not used then. */
            FUZZ_CHECK(found == expected || (expected & PYRO_SCAN_BAD_ESCAPE));
            p = stop;
        }
        unsigned kept = 8;
        scan->string_end(text, end, &kept);
        FUZZ_CHECK(kept & 8);
        FUZZ_CHECK(scan->array_end(text + from, end) == plain_array_end(text + from, end));
        FUZZ_CHECK(scan->array_end(end, end) == NULL);
        struct pyro_scan_words words, first;
        FUZZ_CHECK(scan->array_words(text + from, end, &words) == plain_array_end(text + from, end));
        pyro_scan_variant(0)->array_words(text + from, end, &first);
        FUZZ_CHECK(words.objects == first.objects && words.yes == first.yes && words.no == first.no);
    }
    return 0;
}
