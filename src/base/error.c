#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pyro_error_clear(struct pyro_error *error)
{
    if (!error)
        return;
    error->code = PYRO_OK;
    error->lasting = 0;
    error->offset = UINT64_MAX;
    error->path[0] = '\0';
    error->message[0] = '\0';
}

enum pyro_status pyro_error_set(struct pyro_error *error, enum pyro_status code, const char *format, ...)
{
    if (!error)
        return code;
    pyro_error_clear(error);
    error->code = code;
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof(error->message), format, args);
    va_end(args);
    return code;
}

enum pyro_status pyro_error_lasts(struct pyro_error *error, enum pyro_status code)
{
    if (error)
        error->lasting = 1;
    return code;
}

void pyro_error_at(struct pyro_error *error, const char *path, uint64_t offset)
{
    if (!error)
        return;
    error->offset = offset;
    if (path && !error->path[0])
        snprintf(error->path, sizeof(error->path), "%s", path);
}
