#include "base/options.h"

#include <unistd.h>

/* No struct of the header comes near it: a larger size was never set. */
enum { MOST_STRUCT_BYTES = 4096 };

bool pyro_struct_take(void *own, size_t known, const void *given)
{
    size_t size = 0;
    if (!given)
        return true;
    memcpy(&size, given, sizeof(size));
    if (size < sizeof(size) || size > MOST_STRUCT_BYTES)
        return false;
    for (size_t i = known; i < size; i++) /* a newer caller's further fields cannot be honored */
        if (((const char *)given)[i])
            return false;
    memcpy(own, given, size < known ? size : known);
    memcpy(own, &known, sizeof(known));
    return true;
}

enum pyro_status pyro_struct_give(void *ret, size_t known, const void *own)
{
    size_t size = 0;
    if (ret)
        memcpy(&size, ret, sizeof(size));
    if (size < sizeof(size) || size > MOST_STRUCT_BYTES)
        return PYRO_ERROR_ARGUMENT;
    size_t filled = size < known ? size : known;
    memcpy((char *)ret + sizeof(size), (const char *)own + sizeof(size), filled - sizeof(size));
    memset((char *)ret + filled, 0, size - filled);
    return PYRO_OK;
}

enum pyro_status pyro_struct_refused(const char *name, struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                          "'%s' has a size or a field that this library does not know: set all of it to zero, then "
                          "`size` to sizeof of its struct",
                          name);
}

enum pyro_status pyro_options_resolve(const struct pyro_options *options, struct pyro_options *ret,
                                      struct pyro_error *error)
{
    struct pyro_options resolved = {.size = sizeof(resolved)};
    PYRO_TRY(PYRO_TAKE(&resolved, options, error));
    if (resolved.allocator && resolved.allocator->size < sizeof(*resolved.allocator))
        return pyro_struct_refused("pyro_allocator", error);
    if (resolved.threads == 0) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        resolved.threads = cores > 0 ? (unsigned)cores : 1;
    }
    *ret = resolved;
    return PYRO_OK;
}

enum pyro_status pyro_load_resolve(const struct pyro_load_options *load, const struct pyro_options *options,
                                   struct pyro_load_settings *ret, struct pyro_error *error)
{
    struct pyro_options own;
    struct pyro_load_options how = {.size = sizeof(how)};
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    PYRO_TRY(PYRO_TAKE(&how, load, error));
    struct pyro_remote_options remote = {.size = sizeof(remote)};
    PYRO_TRY(PYRO_TAKE(&remote, how.remote, error));
    *ret = (struct pyro_load_settings){
        .allocator = own.allocator,
        .threads = own.threads,
        .progress = own.progress,
        .progress_context = own.progress_context,
        .phases = {own.phase, own.phase_context},
        .max_record_bytes = how.max_record_bytes,
        .wanted = how.wanted,
        .remote = how.remote,
        .unlimited = how.unlimited,
        .redaction = how.redaction,
        .artefacts = how.artefacts,
        .artefact_kind = how.artefact_kind,
        .history = how.history != 0,
        .stale_ms = how.stale_ms > 0 ? how.stale_ms : PYRO_STALE_MS,
    };
    if (ret->max_record_bytes == 0)
        ret->max_record_bytes = 256u << 20;
    if (ret->max_record_bytes < 4096)
        ret->max_record_bytes = 4096;
    return PYRO_OK;
}
