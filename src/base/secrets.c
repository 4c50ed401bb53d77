#include "base/secrets.h"

/* Expressions come from logs: what they may cost is bounded. */
enum { MATCH_LIMIT = 100000, HEAP_KIB = 1024, EXPRESSION_BYTES = 4096 };

/* The default of spark.redaction.regex. */
#define WORDS "secret|password|token|access[.]?key"

static const char names[] = "(?i)" WORDS;

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

static pcre2_code *compile(const char *expression, size_t len)
{
    int code;
    size_t at;
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)expression, len, PCRE2_NEVER_UTF, &code, &at, NULL);
    if (compiled)
        pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE); /* where it cannot, matching is slower */
    return compiled;
}

static bool start(struct pyro_secrets *secrets)
{
    if (secrets->limits || secrets->failed)
        return !secrets->failed;
    secrets->names = compile(names, sizeof(names) - 1);
    secrets->text = compile(text_expression, sizeof(text_expression) - 1);
    secrets->found = pcre2_match_data_create(2, NULL);
    secrets->limits = pcre2_match_context_create(NULL);
    secrets->failed = !secrets->names || !secrets->text || !secrets->found || !secrets->limits;
    if (!secrets->failed) {
        pcre2_set_match_limit(secrets->limits, MATCH_LIMIT);
        pcre2_set_heap_limit(secrets->limits, HEAP_KIB);
    }
    return !secrets->failed;
}

void pyro_secrets_done(struct pyro_secrets *secrets)
{
    pcre2_code_free(secrets->names);
    pcre2_code_free(secrets->own);
    pcre2_code_free(secrets->text);
    pcre2_match_data_free(secrets->found);
    pcre2_match_context_free(secrets->limits);
    *secrets = (struct pyro_secrets){0};
}

void pyro_secrets_add(struct pyro_secrets *secrets, struct pyro_slice expression)
{
    if (expression.len == 0 || expression.len > EXPRESSION_BYTES || !start(secrets))
        return;
    pcre2_code_free(secrets->own);
    secrets->own = compile(expression.ptr, expression.len);
}

/* Also where it cannot be told within the limits. */
static bool matches(struct pyro_secrets *secrets, const pcre2_code *code, struct pyro_slice text, size_t from)
{
    if (!text.ptr)
        return false;
    int count = pcre2_match(code, (PCRE2_SPTR)text.ptr, text.len, from, 0, secrets->found, secrets->limits);
    return count != PCRE2_ERROR_NOMATCH;
}

bool pyro_secrets_property(struct pyro_secrets *secrets, struct pyro_slice key, struct pyro_slice value)
{
    if (!start(secrets))
        return true;
    return matches(secrets, secrets->names, key, 0) || matches(secrets, secrets->names, value, 0) ||
           (secrets->own && (matches(secrets, secrets->own, key, 0) || matches(secrets, secrets->own, value, 0)));
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

struct pyro_slice pyro_secrets_text(struct pyro_secrets *secrets, struct pyro_slice text, struct pyro_strbuf *buffer)
{
    size_t from = 0, copied = 0;
    if (text.len == 0 || !may_hold_secret(text))
        return text;
    if (!start(secrets))
        return PYRO_SLICE_LITERAL(PYRO_REDACTED);
    pyro_strbuf_clear(buffer);
    for (;;) {
        int count =
            pcre2_match(secrets->text, (PCRE2_SPTR)text.ptr, text.len, from, 0, secrets->found, secrets->limits);
        if (count == PCRE2_ERROR_NOMATCH)
            break;
        if (count < 2) /* beyond the limits */
            return PYRO_SLICE_LITERAL(PYRO_REDACTED);
        const size_t *places = pcre2_get_ovector_pointer(secrets->found);
        pyro_strbuf_add(buffer, text.ptr + copied, places[2] - copied);
        pyro_strbuf_add_text(buffer, PYRO_REDACTED);
        from = copied = places[3];
    }
    if (copied == 0)
        return text;
    pyro_strbuf_add(buffer, text.ptr + copied, text.len - copied);
    return pyro_strbuf_slice(buffer);
}
