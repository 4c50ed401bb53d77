/* Compares the variants of the scans. Without cmocka, since the test also runs for processors that have none installed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/scan.h"

/* A failure ends the test. */
#define CHECK(expression) check((expression), #expression, __LINE__)

static void check(int holds, const char *expression, int line)
{
    if (holds)
        return;
    fprintf(stderr, "test_scan.c:%d: not true: %s\n", line, expression);
    exit(1);
}

/* Every variant must agree with a plain loop on random texts of the bytes that matter, wherever they start and end. */
enum { TEXT = 700 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static const char *plain_array_end(const char *p, const char *end)
{
    int depth = 1, braces = 0, in_string = 0;
    for (; p < end; p++) {
        if (*p == '\n')
            return NULL;
        if (*p == '\\') { /* the next byte is escaped, inside strings and (in what is not JSON) outside */
            p++;
            if (p < end && *p == '\n')
                return NULL;
            if (p < end && *p != '"') {
                if (!in_string) {
                    depth += (*p == '[') - (*p == ']');
                    braces += (*p == '{') - (*p == '}');
                    if (*p == ']' && depth == 0)
                        return braces == 0 ? p + 1 : NULL;
                }
            }
            continue;
        }
        if (*p == '"')
            in_string = !in_string;
        if (in_string)
            continue;
        braces += (*p == '{') - (*p == '}');
        if (*p == '[')
            depth++;
        if (*p == ']' && --depth == 0)
            return braces == 0 ? p + 1 : NULL;
    }
    return NULL;
}

/* What is between `p` and `end`, which is outside strings. */
static struct pyro_scan_words plain_words(const char *p, const char *end)
{
    struct pyro_scan_words words = {0};
    int in_string = 0;
    for (char before = '['; p < end; before = *p++) {
        if (*p == '\\') {
            before = *p++;
            if (p < end && *p == '"')
                continue;
        }
        in_string ^= p < end && *p == '"';
        if (in_string || p >= end)
            continue;
        words.objects += *p == '{';
        words.yes += before == ':' && *p == 't';
        words.no += before == ':' && *p == 'f';
    }
    return words;
}

static const char *plain_container_end(const char *p, const char *end)
{
    int depth = 1, in_string = 0;
    for (; p < end; p++) {
        if (*p == '\n')
            return NULL;
        int escaped = *p == '\\';
        if (escaped && ++p < end && *p == '\n')
            return NULL;
        if (p >= end)
            return NULL;
        if (*p == '"' && !escaped)
            in_string = !in_string;
        if (in_string || *p == '"')
            continue;
        depth += (*p == '{') + (*p == '[');
        if ((*p == '}' || *p == ']') && --depth == 0)
            return p + 1;
    }
    return NULL;
}

/* Only what is a string of JSON up to its end is compared: elsewhere escapes are judged differently. */
static const char *plain_string_end(const char *p, const char *end, unsigned *flags)
{
    for (; p < end; p++) {
        if (*p == '"' || (unsigned char)*p < 0x20)
            return p;
        *flags |= (unsigned char)*p >= 0x80 ? PYRO_SCAN_NON_ASCII : 0;
        if (*p != '\\')
            continue;
        *flags |= PYRO_SCAN_ESCAPES;
        if (end - p < 2 || !strchr("\"\\/bfnrt", p[1]) || !p[1]) {
            *flags |= PYRO_SCAN_BAD_ESCAPE;
            return p;
        }
        p++;
    }
    return end;
}

static void fill(char *text, uint64_t *random, const char *alphabet)
{
    size_t letters = strlen(alphabet);
    for (size_t i = 0; i < TEXT; i++)
        text[i] = alphabet[next_random(random) % letters];
}

static void test_variants_agree(void)
{
    static const char *const alphabets[] = {
        "abcdefghijklmnopqrstuvwxyz0123456789,:{}\"",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
        "ab\\\\\\\"[]{}",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx[]",
        "abc\xc3\xa9 \x1f\x7f\"",
        "\\\\\\\\\\\\\\\\\\\\\\\\\"]",
        "{}[]\"\n,::::::::::::::::::::::::::::::::",
        "{{{{[[[[[[[[[[}}]]]]]]]\"abcdefghijklmnopqrstuvwxyz",
        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz\\\\nnnnbt\xc3",
        ":t:f:t:f:t:f:t:f:t:f:t:f:t:f:t:f:t:f:t:f:t:f:t:f:t:f:t:f{}\"]",
    };
    char *buffer = calloc(1, TEXT + PYRO_SCAN_PADDING);
    uint64_t random = 88172645463325252ULL;
    CHECK(pyro_scan_best() != NULL);
    for (int round = 0; round < 6000; round++) {
        fill(buffer, &random, alphabets[round % 10]);
        size_t from = next_random(&random) % 130, to = from + next_random(&random) % (TEXT - from);
        const char *p = buffer + from, *end = buffer + to;
        const char *close = plain_array_end(p, end);
        for (size_t v = 0; pyro_scan_variant(v); v++) {
            const struct pyro_scan *scan = pyro_scan_variant(v);
            CHECK(scan->array_end(p, end) == close);
            struct pyro_scan_words words, expected_words = plain_words(p, close ? close : p);
            CHECK(scan->array_words(p, end, &words) == close);
            if (close && !memchr(p, '\\', (size_t)(close - p))) {
                CHECK(words.objects == expected_words.objects);
                CHECK(words.yes == expected_words.yes);
                CHECK(words.no == expected_words.no);
            }
            CHECK(scan->container_end(p, end) == plain_container_end(p, end));
            unsigned flags = 0, expected_flags = 0;
            const char *string_end = plain_string_end(p, end, &expected_flags);
            CHECK(scan->string_end(p, end, &flags) == string_end);
            CHECK((flags & (PYRO_SCAN_ESCAPES | PYRO_SCAN_BAD_ESCAPE)) ==
                  (expected_flags & (PYRO_SCAN_ESCAPES | PYRO_SCAN_BAD_ESCAPE)));
            if (!(flags & PYRO_SCAN_BAD_ESCAPE))
                CHECK(flags == expected_flags);
        }
    }
    free(buffer);
}

static void test_last_variant_is_scalar(void)
{
    size_t count = 0;
    while (pyro_scan_variant(count))
        count++;
    CHECK(count > 0);
    CHECK(strcmp(pyro_scan_variant(count - 1)->name, "scalar") == 0);
    CHECK(pyro_scan_best() == pyro_scan_variant(0));
}

int main(void)
{
    test_variants_agree();
    test_last_variant_is_scalar();
    for (size_t v = 0; pyro_scan_variant(v); v++)
        printf("%s%s", v ? ", " : "", pyro_scan_variant(v)->name);
    printf(" agree\n");
    return 0;
}
