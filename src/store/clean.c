#include "store/clean.h"

#include "base/json/unescape.h"
#include "text/escape.h"

bool pyro_store_is_clean(uint64_t key, enum pyro_redaction how)
{
    return key == pyro_secret_expressions_key(PYRO_REDACT_WIDE) ||
           (how == PYRO_REDACT_SPARK && key == pyro_secret_expressions_key(PYRO_REDACT_SPARK));
}

struct pyro_slice pyro_store_clean_text(struct pyro_secrets *secrets, struct pyro_slice text, struct pyro_arena *arena)
{
    struct pyro_strbuf buffer;
    pyro_strbuf_init(&buffer, NULL);
    struct pyro_slice shown = pyro_secrets_text(secrets, text, &buffer);
    if (shown.ptr != text.ptr)
        text = buffer.failed ? PYRO_SLICE_NULL : pyro_arena_copy(arena, shown);
    pyro_strbuf_done(&buffer);
    return text;
}

static const char *string_end(const char *p, const char *end)
{
    while (p < end && *p != '"')
        p += *p == '\\' ? 2 : 1;
    return p < end ? p : end;
}

/* Whether a ':' follows: the string is a member's name. */
static bool is_name(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
        p++;
    return p < end && *p == ':';
}

struct pyro_slice pyro_store_clean_json(struct pyro_secrets *secrets, struct pyro_slice document,
                                        struct pyro_strbuf *to)
{
    const char *p = document.ptr, *end = document.ptr + document.len, *copied = p;
    struct pyro_strbuf decoded, name, buffer;
    pyro_strbuf_init(&decoded, NULL);
    pyro_strbuf_init(&name, NULL);
    pyro_strbuf_init(&buffer, NULL);
    while (p < end && (p = memchr(p, '"', (size_t)(end - p)))) {
        const char *to_end = string_end(p + 1, end), *next = to_end < end ? to_end + 1 : end;
        bool names = is_name(next, end);
        struct pyro_strbuf *text = names ? &name : &decoded;
        pyro_strbuf_clear(text);
        pyro_text_decode(text, (struct pyro_slice){p + 1, (size_t)(to_end - p - 1)}, NULL);
        struct pyro_slice value = pyro_strbuf_slice(text), shown = pyro_secrets_plan(secrets, value, &buffer);
        if (!names && pyro_secrets_name(secrets, pyro_strbuf_slice(&name), value))
            shown = PYRO_SLICE_LITERAL(PYRO_REDACTED);
        if (shown.ptr != value.ptr) {
            pyro_strbuf_add(to, copied, (size_t)(p - copied));
            pyro_add_json(to, shown);
            copied = next;
        }
        if (!names)
            pyro_strbuf_clear(&name);
        p = next;
    }
    if (copied != document.ptr)
        pyro_strbuf_add(to, copied, (size_t)(end - copied));
    to->failed |= decoded.failed || name.failed || buffer.failed;
    pyro_strbuf_done(&decoded);
    pyro_strbuf_done(&name);
    pyro_strbuf_done(&buffer);
    return copied != document.ptr ? pyro_strbuf_slice(to) : document;
}
