/* Files of an application other than its event log, by their content: one row a kind in artefact_kinds.def.
 *
 *     head of the file -> pyro_artefact_recognise() -> pyro_artefact_decode() -> rows of model/tracks/tracks.h */
#ifndef PYRO_DECODE_ARTEFACT_KINDS_H
#define PYRO_DECODE_ARTEFACT_KINDS_H

#include "base/collections/map.h"
#include "decode/intake.h"
#include "decode/trace/trace_files.h"
#include "model/tracks/tracks.h"
#include "source/source.h"

enum pyro_artefact_kind {
#define PYRO_ARTEFACT(id, name, prefix, doc) PYRO_ARTEFACT_##id,
#include "decode/artefact_kinds.def"
#undef PYRO_ARTEFACT
    PYRO_ARTEFACT_KINDS /* none of them */
};

/* Decompressed bytes at the beginning of a file that say what it is. */
enum { PYRO_ARTEFACT_HEAD = 64 << 10 };

/* Whose file it is. Slices are null where neither the path nor the content says it. */
struct pyro_artefact_source {
    struct pyro_slice path;        /* as the user sees it */
    struct pyro_slice application; /* its id */
    struct pyro_slice executor;    /* "driver", or the executor's id */
    struct pyro_slice host;
    int64_t start_ns; /* of the application, since 1970; PYRO_NONE: not known */
};

const char *pyro_artefact_kind_name(enum pyro_artefact_kind kind); /* "gc-log" */

/* The kind of a file that begins with these bytes; PYRO_ARTEFACT_KINDS: none. `whole`: there are no more. */
enum pyro_artefact_kind pyro_artefact_recognise(struct pyro_slice head, bool whole);

/* Finds out whose file it is: by its path below the folder that was named, then by its first bytes. The slices are
 * parts of both. */
struct pyro_artefact_source pyro_artefact_source_of(struct pyro_slice path, struct pyro_slice head);

struct pyro_templates;
struct pyro_log_errors;

/* What the text logs of an application share: their templates and errors are counted together. */
struct pyro_text_logs {
    struct pyro_templates *templates;
    struct pyro_log_errors *errors;
    struct pyro_log_waits *waits;
    bool has_zone; /* one of them showed its zone: offset_s, for those whose lines name no task */
    int64_t offset_s;
};

/* The files of one application, while they are read. */
struct pyro_artefact_reading {
    struct pyro_tracks *tracks;
    const struct pyro_allocator *allocator;
    enum pyro_redaction redaction;
    struct pyro_intake intake; /* hides the secrets of texts that enter the tracks */
    struct pyro_text_logs logs;
    struct pyro_trace_files traces;        /* decoded when all files are known */
    const struct pyro_reader_check *check; /* asked meanwhile; NULL: none */
    const struct pyro_log_part *part;      /* the file that is read, for decoders that open it again */
    const struct pyro_value_map *launches; /* start of each task by its id, milliseconds since 1970; NULL: not known */
};

/* `tracks` must outlive it, and the reading must not move. */
void pyro_artefacts_begin(struct pyro_artefact_reading *reading, struct pyro_tracks *tracks,
                          enum pyro_redaction redaction, const struct pyro_allocator *allocator);
/* Adds a row of `artefacts` and what the file says. A damaged file is not an error: what can be read is added, and the
 * row says what is missing. Fails with PYRO_ERROR_MEMORY, or as the reader does. */
enum pyro_status pyro_artefact_decode(struct pyro_artefact_reading *reading, enum pyro_artefact_kind kind,
                                      const struct pyro_artefact_source *source, struct pyro_reader *reader,
                                      struct pyro_error *error);
/* Adds what is known when all files are read, and seals the tracks. */
enum pyro_status pyro_artefacts_end(struct pyro_artefact_reading *reading, struct pyro_error *error);
/* In any case. The tracks stay. */
void pyro_artefacts_done(struct pyro_artefact_reading *reading);

/* What each row of artefact_kinds.def names. */
#define PYRO_ARTEFACT(id, name, prefix, doc)                                                                           \
    bool pyro_##prefix##_recognise(struct pyro_slice head, bool whole);                                                \
    enum pyro_status pyro_##prefix##_artefact(struct pyro_artefact_reading *reading,                                   \
                                              const struct pyro_artefact_source *source, struct pyro_reader *reader,   \
                                              struct pyro_error *error);
#include "decode/artefact_kinds.def"
#undef PYRO_ARTEFACT

#endif
