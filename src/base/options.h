/* Structs that cross pyrometer.h, and the caller's options with every default filled in. */
#ifndef PYRO_BASE_OPTIONS_H
#define PYRO_BASE_OPTIONS_H

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/phase_times.h"

/* The beginning of every struct that crosses pyrometer.h is its size, as its owner knows it. These functions get the
 * size that this library knows.
 *
 * Copies a caller's struct over `own`, which holds the defaults and its size. NULL: the defaults stay. False: `size` is
 * not set, or a field that this library does not know is not zero. */
bool pyro_struct_take(void *own, size_t known, const void *given);
/* Copies `own` to a caller's struct, as much as fits; fields that this library does not know become zero, `size` stays.
 * PYRO_ERROR_ARGUMENT: `size` is not set. */
enum pyro_status pyro_struct_give(void *ret, size_t known, const void *own);

/* PYRO_ERROR_ARGUMENT for a struct that pyro_struct_take() refuses; `name` is its type. */
enum pyro_status pyro_struct_refused(const char *name, struct pyro_error *error);

#define PYRO_TAKE(own, given, error)                                                                                   \
    (pyro_struct_take(own, sizeof(*(own)), given) ? PYRO_OK : pyro_struct_refused(#given, error))
#define PYRO_GIVE(ret, own) pyro_struct_give(ret, sizeof(*(ret)), own)

static inline bool pyro_can_write(const struct pyro_writer *writer)
{
    return writer && writer->size >= sizeof(*writer) && writer->write;
}

/* `options` may be NULL. PYRO_ERROR_ARGUMENT: its size is not one that this library knows. */
enum pyro_status pyro_options_resolve(const struct pyro_options *options, struct pyro_options *ret,
                                      struct pyro_error *error);

enum { PYRO_STALE_MS = 86400000 }; /* the default of pyro_load_options.stale_ms */

/* Both structs of a call that reads logs, in one. */
struct pyro_load_settings {
    const struct pyro_allocator *allocator;
    unsigned threads;
    int (*progress)(void *context, const struct pyro_progress *progress);
    void *progress_context;
    struct pyro_phases phases;
    uint64_t max_record_bytes;
    uint32_t wanted;
    const struct pyro_remote_options *remote; /* as given */
    int unlimited;
    enum pyro_redaction redaction;
    int artefacts;
    const char *artefact_kind; /* as given */
    bool history;
    int64_t stale_ms;
    /* Gets the beginning of what was read where a log of a server cannot be read, up to PYRO_HTTP_KEPT_BYTES: of the
     * log, or of the answer that failed. NULL: not wanted; so it is after pyro_load_resolve(). */
    struct pyro_strbuf *unread;
};
/* Both may be NULL. */
enum pyro_status pyro_load_resolve(const struct pyro_load_options *load, const struct pyro_options *options,
                                   struct pyro_load_settings *ret, struct pyro_error *error);

#endif
