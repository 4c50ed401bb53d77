/* What holds for every JSON document that the library writes, read by another parser. */
#ifndef PYRO_FUZZ_JSON_CHECK_H
#define PYRO_FUZZ_JSON_CHECK_H

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "decode/task_checks.h"
#include "fuzz_kit.h"
#include "made_log.h"

static inline bool fuzz_ends(const char *key, const char *end)
{
    size_t len = strlen(key), more = strlen(end);
    return len >= more && strcmp(key + len - more, end) == 0;
}

static inline void fuzz_check_number(const char *key, double value)
{
    bool ok = !isinf(value);
    if (fuzz_ends(key, "_ms") || fuzz_ends(key, "_bytes"))
        ok = ok && value >= (strcmp(key, "launch_ms") == 0 ? -PYRO_CLOCK_TOLERANCE_MS : 0); /* since the start */
    if (fuzz_ends(key, "_share") && !fuzz_ends(key, "error_share"))
        ok = ok && value >= 0 && value <= 1;
    if (!ok)
        fprintf(stderr, "%s is %g\n", key, value);
    FUZZ_CHECK(ok);
}

/* Differences of two runs, which may be negative, are below these keys. */
static inline bool fuzz_is_difference(const char *key)
{
    static const char *const keys[] = {"comparison", "difference", "change", "changed", "saves"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static inline void fuzz_check_members(const json_t *value, const char *key)
{
    const char *name;
    json_t *member;
    if (json_is_number(value))
        fuzz_check_number(key, json_number_value(value));
    for (size_t i = 0; i < json_array_size(value); i++)
        fuzz_check_members(json_array_get(value, i), key);
    if (json_is_object(value) && !fuzz_is_difference(key))
        json_object_foreach((json_t *)(uintptr_t)value, name, member) fuzz_check_members(member, name);
}

/* Nothing that is written, in whatever form, has the secret of made logs, or is not UTF-8. */
static inline void fuzz_check_text(const char *text, size_t len)
{
    FUZZ_CHECK(fuzz_is_utf8(text, len));
    const char *secret = len ? memmem(text, len, MADE_SECRET, strlen(MADE_SECRET)) : NULL;
    if (secret) {
        size_t before = (size_t)(secret - text) < 120 ? (size_t)(secret - text) : 120;
        fprintf(stderr, "secret: %.*s\n", (int)before + 20, secret - before);
    }
    FUZZ_CHECK(!secret);
}

/* Well-formed, no member twice, and with `members`: no time or size is negative, shares are 0..1. */
static inline void fuzz_check_json(const char *text, size_t len, bool members)
{
    json_error_t error;
    fuzz_check_text(text, len);
    json_t *value = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
    if (!value)
        fprintf(stderr, "%s at %d: %.200s\n", error.text, error.position,
                text + (error.position > 100 ? error.position - 100 : 0));
    FUZZ_CHECK(value);
    if (members)
        fuzz_check_members(value, "");
    json_decref(value);
}

#endif
