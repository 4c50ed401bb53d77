#include "base/secrets/secrets.h"

#include "base/collections/hash.h"
#include "base/secrets/secret_scan.h"

/* Expressions come from logs: what they may cost is bounded, for each text by its length. */
enum {
    MATCH_LIMIT = 100000,
    HEAP_KIB = 1024,
    EXPRESSION_BYTES = 4096,
    STEPS = 20000,
    STEPS_A_BYTE = 100,
    STACK = 32 << 10,
    MOST_STACK = 1 << 20
};

static const char *const settings[PYRO_SECRET_SETTINGS] = {
    [PYRO_SECRET_PROPERTIES] = "spark.redaction.regex",
    [PYRO_SECRET_OPTIONS] = "spark.sql.redaction.options.regex",
    [PYRO_SECRET_TEXTS] = "spark.redaction.string.regex",
    [PYRO_SECRET_SQL_TEXTS] = "spark.sql.redaction.string.regex",
};

/* ---- Expressions ------------------------------------------------------------------------------------------------- */

/* Called between any two items of an expression of the log. PCRE2's own limit starts again at every byte of a text. */
static int count_step(pcre2_callout_block *block, void *context)
{
    struct pyro_secrets *secrets = context;
    size_t at = block->current_position;
    uint64_t cost = 1 + (at > secrets->last ? at - secrets->last : secrets->last - at);
    secrets->last = at;
    if (cost > secrets->steps) {
        secrets->steps = 0;
        return PCRE2_ERROR_CALLOUT;
    }
    secrets->steps -= cost;
    return 0;
}

static bool start(struct pyro_secrets *secrets)
{
    if (secrets->limits || secrets->failed)
        return !secrets->failed;
    secrets->fixed = pyro_secret_expressions(secrets->how);
    secrets->found = pcre2_match_data_create(1, NULL);
    secrets->pair = pcre2_match_data_create(3, NULL);
    secrets->limits = pcre2_match_context_create(NULL);
    secrets->stack = pcre2_jit_stack_create(STACK, MOST_STACK, NULL); /* without it the thread's own serves */
    pyro_strbuf_init(&secrets->spare, NULL);
    secrets->failed |= !secrets->fixed || !secrets->found || !secrets->pair || !secrets->limits;
    if (!secrets->failed) {
        pcre2_set_match_limit(secrets->limits, MATCH_LIMIT);
        pcre2_set_heap_limit(secrets->limits, HEAP_KIB);
        if (secrets->stack)
            pcre2_jit_stack_assign(secrets->limits, NULL, secrets->stack);
    }
    return !secrets->failed;
}

void pyro_secrets_done(struct pyro_secrets *secrets)
{
    for (size_t i = 0; i < PYRO_SECRET_SETTINGS; i++)
        pyro_pattern_free(secrets->own[i]);
    pcre2_match_data_free(secrets->found);
    pcre2_match_data_free(secrets->pair);
    pcre2_match_context_free(secrets->limits);
    if (secrets->stack)
        pcre2_jit_stack_free(secrets->stack);
    pyro_strbuf_done(&secrets->spare);
    *secrets = (struct pyro_secrets){.how = secrets->how};
}

bool pyro_secrets_configure(struct pyro_secrets *secrets, struct pyro_slice key, struct pyro_slice value)
{
    size_t row = 0;
    while (row < PYRO_SECRET_SETTINGS && !pyro_slice_is(key, settings[row]))
        row++;
    /* One that is redacted was taken before. */
    if (row == PYRO_SECRET_SETTINGS || value.len == 0 || value.len > EXPRESSION_BYTES ||
        pyro_slice_is(value, PYRO_REDACTED) || secrets->own_hash[row] == pyro_hash_slice(value) ||
        secrets->own_count[row] > PYRO_SECRET_EXPRESSIONS_MOST || !start(secrets))
        return false;
    if (++secrets->own_count[row] > PYRO_SECRET_EXPRESSIONS_MOST)
        value = PYRO_SLICE_LITERAL("(?s).+");
    pyro_pattern_free(secrets->own[row]);
    /* It has failed for lack of memory: what a log wants hidden must not be shown since it could not be looked for. */
    secrets->own[row] = pyro_pattern_new(value.ptr, value.len, PCRE2_AUTO_CALLOUT, &secrets->failed);
    secrets->own_hash[row] = pyro_hash_slice(value);
    return secrets->own[row] != NULL;
}

bool pyro_secrets_overrun(const struct pyro_secrets *secrets)
{
    for (size_t row = 0; row < PYRO_SECRET_SETTINGS; row++)
        if (secrets->own_count[row] > PYRO_SECRET_EXPRESSIONS_MOST)
            return true;
    return false;
}

/* ---- Matching ---------------------------------------------------------------------------------------------------- */

static void allow_steps(struct pyro_secrets *secrets, size_t bytes)
{
    secrets->steps = STEPS + STEPS_A_BYTE * (uint64_t)bytes;
}

/* As pyro_pattern_match(); the context has a place of its own for each struct. */
static int match(struct pyro_secrets *secrets, struct pyro_pattern *pattern, struct pyro_slice text, size_t from,
                 pcre2_match_data *found)
{
    pcre2_set_callout(secrets->limits, count_step, secrets);
    secrets->last = from;
    int result = pyro_pattern_match(pattern, text, from, found, secrets->limits);
    secrets->failed |= result == PCRE2_ERROR_NOMEMORY;
    return result;
}

/* Also true if the limits end before an answer. */
static bool matches(struct pyro_secrets *secrets, struct pyro_pattern *pattern, struct pyro_slice text)
{
    if (!pattern || !text.ptr)
        return false;
    allow_steps(secrets, text.len);
    return match(secrets, pattern, text, 0, secrets->found) != PCRE2_ERROR_NOMATCH;
}

/* ---- Harmless names ---------------------------------------------------------------------------------------------- */

enum harmless_value { ANY, PATH };

static bool is_path(struct pyro_slice value)
{
    while (value.len && (value.ptr[0] == '"' || value.ptr[0] == '\'' || value.ptr[0] == '\\')) {
        value.ptr++;
        value.len--;
    }
    return value.len && (value.ptr[0] == '/' || (value.len > 2 && value.ptr[1] == ':' && value.ptr[2] == '\\'));
}

static bool is_harmless(struct pyro_slice name, struct pyro_slice value)
{
    static const struct {
        const char *name;
        enum harmless_value value;
    } rows[] = {
#define PYRO_HARMLESS_NAME(name, value, reason) {name, value},
#include "base/secrets/harmless_names.def"
#undef PYRO_HARMLESS_NAME
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (pyro_slice_is(name, rows[i].name))
            return rows[i].value == ANY || is_path(value);
    return false;
}

/* The same of the name that the byte at `at` is of. */
static bool is_harmless_at(struct pyro_slice text, size_t at, struct pyro_slice value)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    size_t begin = at, end = at;
    while (begin > 0 && memchr(letters, text.ptr[begin - 1], sizeof(letters) - 1))
        begin--;
    while (end < text.len && memchr(letters, text.ptr[end], sizeof(letters) - 1))
        end++;
    return is_harmless((struct pyro_slice){text.ptr + begin, end - begin}, value);
}

/* ---- Properties -------------------------------------------------------------------------------------------------- */

bool pyro_secrets_name(struct pyro_secrets *secrets, struct pyro_slice key, struct pyro_slice value)
{
    if (!start(secrets))
        return true;
    bool suspect = pyro_may_name_secret(key);
    return (suspect && matches(secrets, secrets->fixed->names, key)) ||
           matches(secrets, secrets->own[PYRO_SECRET_PROPERTIES], key) ||
           (suspect && matches(secrets, secrets->fixed->more_names, key) && !is_harmless(key, value));
}

bool pyro_secrets_property(struct pyro_secrets *secrets, struct pyro_slice key, struct pyro_slice value)
{
    return pyro_secrets_name(secrets, key, value) ||
           (pyro_may_name_secret(value) && matches(secrets, secrets->fixed->names, value)) ||
           matches(secrets, secrets->own[PYRO_SECRET_PROPERTIES], value);
}

bool pyro_secrets_own_name(struct pyro_secrets *secrets, struct pyro_slice text)
{
    return matches(secrets, secrets->own[PYRO_SECRET_PROPERTIES], text);
}

static bool is_secret_option(struct pyro_secrets *secrets, struct pyro_slice key, struct pyro_slice value)
{
    struct pyro_pattern *own = secrets->own[PYRO_SECRET_OPTIONS];
    return matches(secrets, secrets->fixed->options, key) || matches(secrets, secrets->fixed->options, value) ||
           matches(secrets, own, key) || matches(secrets, own, value) || pyro_secrets_property(secrets, key, value);
}

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

/* One of the ways that a text is looked through: writes it to `out` where anything is replaced. */
typedef struct pyro_slice pass(struct pyro_secrets *secrets, struct pyro_pattern *pattern, struct pyro_slice text,
                               struct pyro_strbuf *out);

static struct pyro_slice finish(struct pyro_slice text, size_t copied, struct pyro_strbuf *out)
{
    if (out->len == 0)
        return text;
    pyro_strbuf_add(out, text.ptr + copied, text.len - copied);
    return pyro_strbuf_slice(out);
}

static void replace(struct pyro_slice text, size_t copied, size_t begin, struct pyro_strbuf *out)
{
    pyro_strbuf_add(out, text.ptr + copied, begin - copied);
    pyro_strbuf_add_text(out, PYRO_REDACTED);
}

/* What group 1 of the expression finds. */
static struct pyro_slice replace_values(struct pyro_secrets *secrets, struct pyro_pattern *pattern,
                                        struct pyro_slice text, struct pyro_strbuf *out)
{
    size_t from = 0, copied = 0;
    for (;;) {
        int count = match(secrets, pattern, text, from, secrets->pair);
        if (count == PCRE2_ERROR_NOMATCH)
            return finish(text, copied, out);
        if (count < 0 || count == 1) /* beyond the limits */
            return PYRO_SLICE_LITERAL(PYRO_REDACTED);
        const size_t *places = pcre2_get_ovector_pointer(secrets->pair);
        struct pyro_slice value = {text.ptr + places[2], places[3] - places[2]};
        if (pattern == secrets->fixed->text && is_harmless_at(text, places[0], value)) {
            from = places[2] > from ? places[2] : from + 1;
            continue;
        }
        replace(text, copied, places[2], out);
        from = copied = places[3];
    }
}

static struct pyro_slice replace_pairs(struct pyro_secrets *secrets, struct pyro_pattern *pattern,
                                       struct pyro_slice text, struct pyro_strbuf *out, bool plan)
{
    size_t from = 0, copied = 0;
    for (;;) {
        int count = match(secrets, pattern, text, from, secrets->pair);
        if (count == PCRE2_ERROR_NOMATCH)
            return finish(text, copied, out);
        if (count < 3)
            return PYRO_SLICE_LITERAL(PYRO_REDACTED);
        const size_t *places = pcre2_get_ovector_pointer(secrets->pair);
        struct pyro_slice key = {text.ptr + places[2], places[3] - places[2]},
                          value = {text.ptr + places[4], places[5] - places[4]};
        from = places[5];
        if (pyro_slice_starts_with(value, "****") ||
            !(plan ? is_secret_option(secrets, key, value) : pyro_secrets_own_name(secrets, key)))
            continue;
        replace(text, copied, places[4], out);
        copied = places[5];
    }
}

static struct pyro_slice replace_options(struct pyro_secrets *secrets, struct pyro_pattern *pattern,
                                         struct pyro_slice text, struct pyro_strbuf *out)
{
    return replace_pairs(secrets, pattern, text, out, true);
}

/* Values of names that the log's own expression finds. */
static struct pyro_slice replace_own(struct pyro_secrets *secrets, struct pyro_pattern *pattern, struct pyro_slice text,
                                     struct pyro_strbuf *out)
{
    return replace_pairs(secrets, pattern, text, out, false);
}

/* Whatever an expression of the log finds; empty finds are none. */
static struct pyro_slice replace_all(struct pyro_secrets *secrets, struct pyro_pattern *pattern, struct pyro_slice text,
                                     struct pyro_strbuf *out)
{
    size_t from = 0, copied = 0;
    allow_steps(secrets, text.len);
    while (from <= text.len) {
        int count = match(secrets, pattern, text, from, secrets->found);
        if (count == PCRE2_ERROR_NOMATCH)
            break;
        if (count < 0)
            return PYRO_SLICE_LITERAL(PYRO_REDACTED);
        const size_t *places = pcre2_get_ovector_pointer(secrets->found);
        size_t begin = places[0], end = places[1];
        if (begin < copied || end <= begin) {
            from = (end > from ? end : from) + 1;
            continue;
        }
        replace(text, copied, begin, out);
        from = copied = end;
    }
    return finish(text, copied, out);
}

/* The result is `text` itself, a literal, or in one of both buffers. */
static struct pyro_slice look_through(struct pyro_secrets *secrets, pass *how, struct pyro_pattern *pattern,
                                      struct pyro_slice text, struct pyro_strbuf *buffer)
{
    if (!pattern || text.len == 0)
        return text;
    struct pyro_strbuf *out = text.ptr == buffer->data ? &secrets->spare : buffer;
    pyro_strbuf_clear(out);
    return how(secrets, pattern, text, out);
}

static struct pyro_slice redact(struct pyro_secrets *secrets, struct pyro_slice text, struct pyro_strbuf *buffer,
                                bool plan)
{
    if (text.len == 0)
        return text;
    if (!start(secrets)) {
        buffer->failed = true;
        return PYRO_SLICE_LITERAL(PYRO_REDACTED);
    }
    pyro_strbuf_clear(buffer);
    struct pyro_slice shown = text;
    unsigned suspect = pyro_may_hold_secret(text);
    if (suspect & PYRO_SECRET_BY_NAME)
        shown = look_through(secrets, replace_values, secrets->fixed->text, text, buffer);
    if (suspect & PYRO_SECRET_BY_HEADER)
        shown = look_through(secrets, replace_values, secrets->fixed->headers, shown, buffer);
    if (suspect & PYRO_SECRET_BY_SHAPE)
        shown = look_through(secrets, replace_values, secrets->fixed->shapes, shown, buffer);
    bool own = secrets->own[PYRO_SECRET_OPTIONS] || secrets->own[PYRO_SECRET_PROPERTIES];
    if (plan && (own || (suspect & PYRO_SECRET_BY_OPTION)))
        shown = look_through(secrets, replace_options, secrets->fixed->pairs, shown, buffer);
    else if (!plan && secrets->own[PYRO_SECRET_PROPERTIES])
        shown = look_through(secrets, replace_own, secrets->fixed->pairs, shown, buffer);
    if (plan)
        shown = look_through(secrets, replace_all, secrets->own[PYRO_SECRET_SQL_TEXTS], shown, buffer);
    shown = look_through(secrets, replace_all, secrets->own[PYRO_SECRET_TEXTS], shown, buffer);
    if (shown.ptr != secrets->spare.data)
        return shown;
    pyro_strbuf_clear(buffer);
    pyro_strbuf_add_slice(buffer, shown);
    buffer->failed |= secrets->spare.failed;
    return pyro_strbuf_slice(buffer);
}

struct pyro_slice pyro_secrets_text(struct pyro_secrets *secrets, struct pyro_slice text, struct pyro_strbuf *buffer)
{
    return redact(secrets, text, buffer, false);
}

struct pyro_slice pyro_secrets_plan(struct pyro_secrets *secrets, struct pyro_slice text, struct pyro_strbuf *buffer)
{
    return redact(secrets, text, buffer, true);
}

bool pyro_secrets_suspects(const struct pyro_secrets *secrets, struct pyro_slice bytes)
{
    for (size_t i = 0; i < PYRO_SECRET_SETTINGS; i++)
        if (secrets->own[i])
            return bytes.len > 0;
    /* Names and values may be apart in these bytes, without a sign between them. */
    return pyro_may_name_secret(bytes) || (pyro_may_hold_secret(bytes) & (PYRO_SECRET_BY_NAME | PYRO_SECRET_BY_SHAPE));
}
