/* Reads one log with threads and builds its application. */
#ifndef PYRO_LOAD_LOAD_H
#define PYRO_LOAD_LOAD_H

#include "base/options.h"
#include "base/strings/strbuf.h"
#include "decode/artefact_guess.h"
#include "decode/batch.h"
#include "model/app.h"
#include "source/source.h"

/* Where a log's batches go, in its order and on the calling thread. Each function returns false when there is no
 * memory. */
struct pyro_load_sink {
    void *context;
    uint32_t wanted; /* of the batches: enum pyro_wanted and what batch.h adds */
    /* For each part, if not NULL, which must be plain files then: where a line begins, and where reading stops. */
    const uint64_t *from, *until;
    bool (*begin_part)(void *context, struct pyro_slice path);
    bool (*apply)(void *context, const struct pyro_batch *batch);
    bool (*reject_long)(void *context, uint64_t len);       /* a record of `len` bytes was skipped */
    bool (*note_damage)(void *context, const char *damage); /* at the end of the part */
};

/* Reads a log to its end. */
enum pyro_status pyro_load_batches(const struct pyro_log *log, const struct pyro_load_settings *options,
                                   const struct pyro_load_sink *sink, struct pyro_error *error);

/* `options` with every default filled in. */
enum pyro_status pyro_load_log(const struct pyro_log *log, const struct pyro_load_settings *options,
                               struct pyro_app **ret, struct pyro_error *error);

/* Gives an application what a History Server shows of it, which is the application's then. */
void pyro_load_show(struct pyro_app *app, struct pyro_history *history, const struct pyro_log *log);
/* An application that runs, by the name of its log, has ended as truncated if the log was last changed more than
 * `stale_ms` (0: a day) ago: at `changed_ms` since 1970, or PYRO_NONE if that is unknown. */
void pyro_load_say_stale(struct pyro_app *app, int64_t changed_ms, int64_t stale_ms);
/* As pyro_inputs_open() and pyro_app_load(). Where a log cannot be read, `unread` gets up to 1 MiB of its beginning,
 * decompressed, or of what its server answered instead; empty: nothing is known of it. */
enum pyro_status pyro_inputs_open_keeping(const char *const *paths, size_t path_count,
                                          const struct pyro_load_options *load, const struct pyro_options *options,
                                          struct pyro_strbuf *unread, pyro_inputs **ret, struct pyro_error *error);
enum pyro_status pyro_app_load_keeping(const pyro_inputs *inputs, size_t index, const struct pyro_load_options *load,
                                       const struct pyro_options *options, struct pyro_strbuf *unread, pyro_app **ret,
                                       struct pyro_error *error);
/* The beginning of a file, in the same way. */
void pyro_log_beginning(const struct pyro_log_part *part, struct pyro_strbuf *unread);

/* What the beginning of a log of one file, which has no events, looks like. False: nothing can be said; nor of standard
 * input, which was read. */
bool pyro_log_guess(const struct pyro_log *log, struct pyro_guess *ret);

/* The log behind an index, or NULL beyond the last. */
const struct pyro_log *pyro_inputs_log(const pyro_inputs *inputs, size_t index);
/* When jobs, stages and tasks ran, as the text logs among the other files say; the caller frees *ret. NULL: there is no
 * text log. Files that cannot be read are left out. */
struct pyro_line_timeline;
enum pyro_status pyro_inputs_line_timeline(const pyro_inputs *inputs, const struct pyro_options *work,
                                           struct pyro_line_timeline **ret, struct pyro_error *error);
/* All other files than event logs, read into tracks that the caller frees. */
enum pyro_status pyro_inputs_tracks(const pyro_inputs *inputs, const struct pyro_allocator *allocator,
                                    struct pyro_tracks **ret, struct pyro_error *error);
/* What its options said. */
enum pyro_redaction pyro_inputs_redaction(const pyro_inputs *inputs);
/* Inputs that are this one log, found before; it is copied. */
enum pyro_status pyro_inputs_of(const struct pyro_log *log, enum pyro_redaction redaction, pyro_inputs **ret,
                                struct pyro_error *error);

#endif
