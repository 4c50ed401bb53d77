#include "report/secrets.h"

#include <strings.h>

const char pyro_redacted[] = "*********(redacted)";

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* `word` in any case; a '.' in it stands for nothing or one byte that is no letter. */
static bool begins_with(struct pyro_slice text, const char *word)
{
    size_t at = 0;
    for (; *word; word++) {
        if (*word == '.') {
            at += at < text.len && !is_letter(text.ptr[at]);
            continue;
        }
        if (at == text.len || strncasecmp(text.ptr + at, word, 1) != 0)
            return false;
        at++;
    }
    return true;
}

static bool speaks_of_secrets(struct pyro_slice text)
{
    static const char *const words[] = {"secret",      "password",   "passwd",        "token",
                                        "access.key",  "credential", "api.key",       "private.key",
                                        "account.key", "sas.key",    "encryption.key"};
    for (size_t i = 0; i < text.len; i++) {
        if (!is_letter(text.ptr[i]))
            continue;
        for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
            if (begins_with((struct pyro_slice){text.ptr + i, text.len - i}, words[k]))
                return true;
    }
    return false;
}

/* "scheme://user:word@host". */
static bool has_user_information(struct pyro_slice text)
{
    for (const char *at = text.ptr, *end = text.ptr + text.len; (at = pyro_slice_find(text, "://"));) {
        bool colon = false;
        for (at += 3; at < end && *at != '/' && *at != '@' && *at > ' ' && *at != '"'; at++)
            colon |= *at == ':';
        if (colon && at < end && *at == '@')
            return true;
        text = (struct pyro_slice){at, (size_t)(end - at)};
    }
    return false;
}

bool pyro_is_secret(struct pyro_slice key, struct pyro_slice value)
{
    return speaks_of_secrets(key) || speaks_of_secrets(value) || has_user_information(value);
}
