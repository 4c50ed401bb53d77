#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/secrets/secret_scan.h"
#include "base/secrets/secrets.h"

bool pyro_error_is_usable(const struct pyro_error *error)
{
    return error && error->size >= sizeof(*error);
}

void pyro_error_clear(struct pyro_error *error)
{
    if (!pyro_error_is_usable(error))
        return;
    error->code = PYRO_OK;
    error->lasting = 0;
    error->offset = UINT64_MAX;
    error->path[0] = '\0';
    error->message[0] = '\0';
}

/* Messages hold what servers, logs and files say. */
static void hide_secrets(struct pyro_error *error)
{
    struct pyro_slice text = pyro_slice_from(error->message);
    struct pyro_secrets secrets = {.how = PYRO_REDACT_WIDE};
    struct pyro_strbuf found;
    if (!pyro_may_hold_secret(text))
        return;
    pyro_strbuf_init(&found, NULL);
    struct pyro_slice shown = pyro_secrets_text(&secrets, text, &found);
    if (shown.ptr != text.ptr)
        snprintf(error->message, sizeof(error->message), "%.*s", (int)shown.len, shown.ptr);
    pyro_strbuf_done(&found);
    pyro_secrets_done(&secrets);
}

static void describe(struct pyro_error *error, enum pyro_status code, const char *format, va_list args)
{
    if (!pyro_error_is_usable(error))
        return;
    pyro_error_clear(error);
    error->code = code;
    vsnprintf(error->message, sizeof(error->message), format, args);
    hide_secrets(error);
}

enum pyro_status pyro_error_set(struct pyro_error *error, enum pyro_status code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    describe(error, code, format, args);
    va_end(args);
    return code;
}

void pyro_error_describe(struct pyro_error *error, enum pyro_status code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    describe(error, code, format, args);
    va_end(args);
}

enum pyro_status pyro_error_lasts(struct pyro_error *error, enum pyro_status code)
{
    if (pyro_error_is_usable(error))
        error->lasting = 1;
    return code;
}

void pyro_error_at(struct pyro_error *error, const char *path, uint64_t offset)
{
    if (!pyro_error_is_usable(error))
        return;
    error->offset = offset;
    if (path && !error->path[0])
        snprintf(error->path, sizeof(error->path), "%s", path);
}

void pyro_error_copy(struct pyro_error *to, const struct pyro_error *from)
{
    if (!pyro_error_is_usable(to))
        return;
    size_t size = to->size;
    *to = *from;
    to->size = size;
}
