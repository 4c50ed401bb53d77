#include "base/options.h"

#include <string.h>
#include <unistd.h>

enum pyro_status pyro_options_resolve(const struct pyro_options *options, struct pyro_options *ret,
                                      struct pyro_error *error)
{
    struct pyro_options resolved = {.size = sizeof(resolved)};
    if (options) {
        /* Older callers know fewer fields; a newer caller's further fields cannot be honoured. */
        if (options->size < sizeof(options->size) || options->size > sizeof(resolved))
            return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                                  "pyro_options.size is %zu: set it to sizeof(struct pyro_options)", options->size);
        memcpy(&resolved, options, options->size);
        resolved.size = sizeof(resolved);
    }
    if (resolved.threads == 0) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        resolved.threads = cores > 0 ? (unsigned)cores : 1;
    }
    if (resolved.max_record_bytes == 0)
        resolved.max_record_bytes = 256u << 20;
    if (resolved.max_record_bytes < 4096)
        resolved.max_record_bytes = 4096;
    *ret = resolved;
    return PYRO_OK;
}
