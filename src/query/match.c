/* like() and glob(), which the operators LIKE and GLOB call: as SQLite's own, but that they can be stopped. A long text
 * and a long pattern take as many comparisons as their lengths multiply to, and that is one step of a statement. */
#include "query/calls.h"

enum { LOOKS_BETWEEN_STOPS = 1 << 20 };

struct matcher {
    struct pyro_sql_source *source;
    uint32_t many, one, escape; /* characters that stand for any text, for any character, for the next as it is */
    bool glob;
    uint32_t looks;
    bool stopped;
};

static uint32_t next(struct pyro_slice *text)
{
    size_t len = 1;
    uint32_t code = (unsigned char)*text->ptr;
    if (code >= 0x80)
        code = pyro_sql_character(text->ptr, text->ptr + text->len, &len);
    *text = (struct pyro_slice){text->ptr + len, text->len - len};
    return code;
}

static uint32_t fold(const struct matcher *matcher, uint32_t code)
{
    return !matcher->glob && code >= 'A' && code <= 'Z' ? code + 'a' - 'A' : code;
}

/* [a-z], [^a]: whether the character is in it; `pattern` is after the '[' and then after the ']'. A set without an end
 * matches nothing. */
static bool in_set(struct pyro_slice *pattern, uint32_t code)
{
    bool invert = false, seen = false;
    uint32_t before = 0;
    if (pattern->len && *pattern->ptr == '^') {
        invert = true;
        next(pattern);
    }
    for (bool first = true; pattern->len; first = false) {
        uint32_t one = next(pattern);
        if (one == ']' && !first)
            return seen != invert;
        if (one == '-' && before && pattern->len && *pattern->ptr != ']') {
            uint32_t last = next(pattern);
            seen |= code >= before && code <= last;
            before = 0;
        } else {
            seen |= one == code;
            before = one;
        }
    }
    return false;
}

/* Whether the pattern's next piece, which is not `many`, fits the text's next character; both move on if so. */
static bool fits(const struct matcher *matcher, struct pyro_slice *pattern, struct pyro_slice *text)
{
    struct pyro_slice rest = *pattern, after = *text;
    if (!rest.len || !after.len)
        return false;
    uint32_t wanted = next(&rest), code = next(&after);
    bool same;
    if (matcher->glob && wanted == '[') {
        same = in_set(&rest, code);
    } else if (wanted == matcher->escape && matcher->escape) {
        same = rest.len && fold(matcher, next(&rest)) == fold(matcher, code);
    } else {
        same = wanted == matcher->one || fold(matcher, wanted) == fold(matcher, code);
    }
    if (same) {
        *pattern = rest;
        *text = after;
    }
    return same;
}

static bool is_many(const struct matcher *matcher, struct pyro_slice pattern)
{
    return pattern.len && (unsigned char)*pattern.ptr == matcher->many && matcher->many != matcher->escape;
}

/* What does not fit is tried again from the last `many` on, one character later; earlier ones need not be. */
static bool matches(struct matcher *matcher, struct pyro_slice pattern, struct pyro_slice text)
{
    struct pyro_slice from_pattern = PYRO_SLICE_NULL, from_text = PYRO_SLICE_NULL;
    while (!matcher->stopped) {
        if (++matcher->looks % LOOKS_BETWEEN_STOPS == 0)
            matcher->stopped = matcher->source->stopped(matcher->source->context);
        if (is_many(matcher, pattern)) {
            next(&pattern);
            if (!pattern.len)
                return true;
            from_pattern = pattern;
            from_text = text;
        } else if (!pattern.len && !text.len) {
            return true;
        } else if (!fits(matcher, &pattern, &text)) {
            if (!from_pattern.ptr || !text.len || !from_text.len)
                return false;
            next(&from_text);
            pattern = from_pattern;
            text = from_text;
        }
    }
    return false;
}

/* like(Y, X[, Z]): X LIKE Y ESCAPE Z; glob(Y, X): X GLOB Y. */
static void match(sqlite3_context *context, int count, sqlite3_value **values, bool glob)
{
    struct matcher matcher = {
        .source = sqlite3_user_data(context), .many = glob ? '*' : '%', .one = glob ? '?' : '_', .glob = glob};
    if (pyro_sql_any_null(count, values))
        return;
    if (sqlite3_value_type(values[0]) == SQLITE_BLOB || sqlite3_value_type(values[1]) == SQLITE_BLOB) {
        sqlite3_result_int(context, 0);
        return;
    }
    struct pyro_slice pattern = pyro_sql_bytes_of(values[0], false), text = pyro_sql_bytes_of(values[1], false);
    int longest = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
    if (pattern.len > (size_t)longest) {
        sqlite3_result_error(context, "LIKE or GLOB pattern too complex", -1);
        return;
    }
    if (count == 3) {
        struct pyro_slice escape = pyro_sql_bytes_of(values[2], false);
        matcher.escape = escape.len ? next(&escape) : 0;
        if (!matcher.escape || escape.len) {
            sqlite3_result_error(context, "ESCAPE expression must be a single character", -1);
            return;
        }
    }
    bool found = matches(&matcher, pattern, text);
    if (matcher.stopped)
        sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    else
        sqlite3_result_int(context, found);
}

void pyro_sql_like(sqlite3_context *context, int count, sqlite3_value **values)
{
    match(context, count, values, false);
}

void pyro_sql_glob(sqlite3_context *context, int count, sqlite3_value **values)
{
    match(context, count, values, true);
}
