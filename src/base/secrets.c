#include "base/secrets.h"

/* Expressions come from logs: what they may cost is bounded, for each text by its length. */
enum { MATCH_LIMIT = 100000, HEAP_KIB = 1024, EXPRESSION_BYTES = 4096, STEPS = 20000, STEPS_A_BYTE = 100 };

/* The default of spark.redaction.regex. */
#define WORDS "secret|password|token|access[.]?key"

static const char names[] = "(?i)" WORDS;

/* The default of spark.sql.redaction.options.regex. */
static const char options[] = "(?i)url";

/* 1: the secret. Values end where lists and settings go on; a ':' needs quotes or a clear word, since schemas are
 * written name:type. */
static const char text_expression[] =
    "(?i)(?:"
    "(?:" WORDS "|access[_-]key|passwd)[\\w.\\-]{0,64}(?:"
    "[\"']?\\s*=>?\\s*|[\"']\\s*:\\s*(?=[\"'])"
    ")|\\b(?:password|passwd|secret)\\s*:\\s+"
    "|\\b(?:password|passwd|secret|identified\\s+by)\\s+(?=[\"'])"
    "|://[^\\s/:@\"']{0,256}:(?=[^\\s/@\"']{1,1024}@)"
    ")(\"[^\"]*\"|'[^']*'|\\\\\"(?:[^\"\\\\]|\\\\[^\"])*\\\\\"|(?<=:)[^\\s/@\"']+(?=@)|[^\\s,;&)\\]}\"']+)";

/* An option as plans ([a=b, c=d], Map(a -> b)) and statements (OPTIONS (a 'b', `c` = 'd')) write it. 1: its name, 2:
 * its value. A value that opens a list is a list of columns. */
static const char pair_expression[] = "(?<=[\\[({,\\s])[`\"']?([A-Za-z_][\\w.\\-]{0,127})[`\"']?"
                                      "(?:(?:=|\\s->\\s)(?![\\[({#])|\\s*=?\\s*(?=['\"]))"
                                      "(\"[^\"]*\"|'[^']*'|[^\\s,)\\]}\"']+)";

static const char *const settings[PYRO_SECRET_SETTINGS] = {
    [PYRO_SECRET_PROPERTIES] = "spark.redaction.regex",
    [PYRO_SECRET_OPTIONS] = "spark.sql.redaction.options.regex",
    [PYRO_SECRET_TEXTS] = "spark.redaction.string.regex",
    [PYRO_SECRET_SQL_TEXTS] = "spark.sql.redaction.string.regex",
};

/* ---- Expressions ------------------------------------------------------------------------------------------------- */

/* NULL also where the expression is none; for want of memory `secrets->failed` is set: what a log wants hidden must not
 * be shown since it could not be looked for. */
static pcre2_code *compile(struct pyro_secrets *secrets, const char *expression, size_t len, uint32_t flags)
{
    int code;
    size_t at;
    pcre2_code *compiled =
        pcre2_compile((PCRE2_SPTR)expression, len, PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C | flags, &code, &at, NULL);
    secrets->failed |= !compiled && code == PCRE2_ERROR_HEAP_FAILED;
    if (compiled)
        pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE); /* where it cannot, matching is slower */
    return compiled;
}

/* Called between any two items of an expression of the log. PCRE2's own limit begins anew at every byte of a text. */
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
    secrets->names = compile(secrets, names, sizeof(names) - 1, 0);
    secrets->options = compile(secrets, options, sizeof(options) - 1, 0);
    secrets->text = compile(secrets, text_expression, sizeof(text_expression) - 1, 0);
    secrets->pairs = compile(secrets, pair_expression, sizeof(pair_expression) - 1, 0);
    secrets->found = pcre2_match_data_create(1, NULL);
    secrets->pair = pcre2_match_data_create(3, NULL);
    secrets->limits = pcre2_match_context_create(NULL);
    pyro_strbuf_init(&secrets->spare, NULL);
    secrets->failed |= !secrets->names || !secrets->options || !secrets->text || !secrets->pairs || !secrets->found ||
                       !secrets->pair || !secrets->limits;
    if (!secrets->failed) {
        pcre2_set_match_limit(secrets->limits, MATCH_LIMIT);
        pcre2_set_heap_limit(secrets->limits, HEAP_KIB);
    }
    return !secrets->failed;
}

void pyro_secrets_done(struct pyro_secrets *secrets)
{
    pcre2_code_free(secrets->names);
    pcre2_code_free(secrets->options);
    pcre2_code_free(secrets->text);
    pcre2_code_free(secrets->pairs);
    for (size_t i = 0; i < PYRO_SECRET_SETTINGS; i++)
        pcre2_code_free(secrets->own[i]);
    pcre2_match_data_free(secrets->found);
    pcre2_match_data_free(secrets->pair);
    pcre2_match_context_free(secrets->limits);
    pyro_strbuf_done(&secrets->spare);
    *secrets = (struct pyro_secrets){0};
}

void pyro_secrets_configure(struct pyro_secrets *secrets, struct pyro_slice key, struct pyro_slice value)
{
    size_t row = 0;
    while (row < PYRO_SECRET_SETTINGS && !pyro_slice_is(key, settings[row]))
        row++;
    /* One that is redacted was taken before. */
    if (row == PYRO_SECRET_SETTINGS || value.len == 0 || value.len > EXPRESSION_BYTES ||
        pyro_slice_is(value, PYRO_REDACTED) || !start(secrets))
        return;
    pcre2_code_free(secrets->own[row]);
    secrets->own[row] = compile(secrets, value.ptr, value.len, PCRE2_AUTO_CALLOUT);
}

/* ---- Matching ---------------------------------------------------------------------------------------------------- */

static void allow_steps(struct pyro_secrets *secrets, size_t bytes)
{
    secrets->steps = STEPS + STEPS_A_BYTE * (uint64_t)bytes;
}

/* As pcre2_match(); the context has a place of its own for each struct. */
static int match(struct pyro_secrets *secrets, const pcre2_code *code, struct pyro_slice text, size_t from,
                 pcre2_match_data *found)
{
    pcre2_set_callout(secrets->limits, count_step, secrets);
    secrets->last = from;
    int result = pcre2_match(code, (PCRE2_SPTR)text.ptr, text.len, from, 0, found, secrets->limits);
    secrets->failed |= result == PCRE2_ERROR_NOMEMORY;
    return result;
}

/* Also where it cannot be told within the limits. */
static bool matches(struct pyro_secrets *secrets, const pcre2_code *code, struct pyro_slice text)
{
    if (!code || !text.ptr)
        return false;
    allow_steps(secrets, text.len);
    return match(secrets, code, text, 0, secrets->found) != PCRE2_ERROR_NOMATCH;
}

bool pyro_secrets_property(struct pyro_secrets *secrets, struct pyro_slice key, struct pyro_slice value)
{
    if (!start(secrets))
        return true;
    const pcre2_code *own = secrets->own[PYRO_SECRET_PROPERTIES];
    return matches(secrets, secrets->names, key) || matches(secrets, secrets->names, value) ||
           matches(secrets, own, key) || matches(secrets, own, value);
}

static bool is_secret_option(struct pyro_secrets *secrets, struct pyro_slice key, struct pyro_slice value)
{
    const pcre2_code *own = secrets->own[PYRO_SECRET_OPTIONS];
    return matches(secrets, secrets->options, key) || matches(secrets, secrets->options, value) ||
           matches(secrets, own, key) || matches(secrets, own, value) || pyro_secrets_property(secrets, key, value);
}

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

/* One of the ways that a text is looked through: writes it to `out` where anything is replaced. */
typedef struct pyro_slice pass(struct pyro_secrets *secrets, const pcre2_code *code, struct pyro_slice text,
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

static struct pyro_slice replace_words(struct pyro_secrets *secrets, const pcre2_code *code, struct pyro_slice text,
                                       struct pyro_strbuf *out)
{
    size_t from = 0;
    for (;;) {
        int count = match(secrets, code, text, from, secrets->pair);
        if (count == PCRE2_ERROR_NOMATCH)
            return finish(text, from, out);
        if (count < 2) /* beyond the limits */
            return PYRO_SLICE_LITERAL(PYRO_REDACTED);
        const size_t *places = pcre2_get_ovector_pointer(secrets->pair);
        replace(text, from, places[2], out);
        from = places[3];
    }
}

static struct pyro_slice replace_options(struct pyro_secrets *secrets, const pcre2_code *code, struct pyro_slice text,
                                         struct pyro_strbuf *out)
{
    size_t from = 0, copied = 0;
    for (;;) {
        int count = match(secrets, code, text, from, secrets->pair);
        if (count == PCRE2_ERROR_NOMATCH)
            return finish(text, copied, out);
        if (count < 3)
            return PYRO_SLICE_LITERAL(PYRO_REDACTED);
        const size_t *places = pcre2_get_ovector_pointer(secrets->pair);
        struct pyro_slice key = {text.ptr + places[2], places[3] - places[2]},
                          value = {text.ptr + places[4], places[5] - places[4]};
        from = places[5];
        struct pyro_slice rest = {value.ptr, text.len - places[4]};
        if (pyro_slice_starts_with(rest, PYRO_REDACTED) || !is_secret_option(secrets, key, value))
            continue;
        replace(text, copied, places[4], out);
        copied = places[5];
    }
}

/* Whatever an expression of the log finds; empty finds are none. */
static struct pyro_slice replace_all(struct pyro_secrets *secrets, const pcre2_code *code, struct pyro_slice text,
                                     struct pyro_strbuf *out)
{
    size_t from = 0, copied = 0;
    allow_steps(secrets, text.len);
    while (from <= text.len) {
        int count = match(secrets, code, text, from, secrets->found);
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

/* Whether the text has two letters side by side that every match of text_expression has: of "secret", of "password",
 * "passwd" and "access", of "token", of "identified", of "://". Most texts have none. */
static bool may_hold_secret(struct pyro_slice text)
{
    unsigned char found = 0;
    for (size_t i = 1; i < text.len; i++) {
        unsigned char a = (unsigned char)text.ptr[i - 1] | 0x20, b = (unsigned char)text.ptr[i] | 0x20;
        found |= (unsigned char)(((a == 'c') & (b == 'r')) | ((a == 's') & (b == 's')) | ((a == 'o') & (b == 'k')) |
                                 ((a == 'i') & (b == 'f')) | ((a == '/') & (b == '/')));
    }
    return found;
}

/* The result is `text` itself, a literal, or in one of both buffers. */
static struct pyro_slice look_through(struct pyro_secrets *secrets, pass *how, const pcre2_code *code,
                                      struct pyro_slice text, struct pyro_strbuf *buffer)
{
    if (!code || text.len == 0)
        return text;
    struct pyro_strbuf *out = text.ptr == buffer->data ? &secrets->spare : buffer;
    pyro_strbuf_clear(out);
    return how(secrets, code, text, out);
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
    if (may_hold_secret(text))
        shown = look_through(secrets, replace_words, secrets->text, text, buffer);
    if (plan)
        shown = look_through(secrets, replace_options, secrets->pairs, shown, buffer);
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
