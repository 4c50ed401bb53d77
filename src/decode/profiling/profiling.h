/* Records of profilers, decoded into the tables of model/tracks/tracks.h.
 *
 *     head of the file -> pyro_profile_recognise() -> pyro_profile_decode() -> threads, owners, samples, spans, points
 *
 * Text is decoded as it streams. A recording of Java Flight Recorder is decoded chunk by chunk, each in memory. */
#ifndef PYRO_DECODE_PROFILING_PROFILING_H
#define PYRO_DECODE_PROFILING_PROFILING_H

#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "decode/artefact_kinds.h"

enum pyro_profile_kind {
#define PYRO_PROFILE_KIND(constant, name, prefix, decode) PYRO_PROFILE_##constant,
#include "decode/profiling/kinds.def"
#undef PYRO_PROFILE_KIND
    PYRO_PROFILE_KINDS /* none of them */
};

/* The kind of a file that begins with these decompressed bytes (PYRO_ARTEFACT_HEAD are enough), PYRO_PROFILE_KINDS for
 * what no profiler wrote. `whole`: there are no more. */
enum pyro_profile_kind pyro_profile_recognise(struct pyro_slice head, bool whole);

/* Whether artefacts of this name are of one of the kinds: "jfr". */
bool pyro_profile_is_kind(struct pyro_slice name);

/* Stacks of the samples, each once, in the order of their first samples in the files. */
struct pyro_profile_order {
    PYRO_VEC(int32_t) stacks;
    struct pyro_map seen; /* stack + 1 */
};

void pyro_profile_order_init(struct pyro_profile_order *order, const struct pyro_allocator *allocator);
void pyro_profile_order_done(struct pyro_profile_order *order, const struct pyro_allocator *allocator);

enum { PYRO_UNREAD_KINDS = 8 };

/* Samples that a recording has and nothing here reads. */
struct pyro_unread_samples {
    char name[60];
    uint64_t count;
};

struct pyro_profile_facts {
    int32_t artefact;    /* its row */
    uint64_t records;    /* that were decoded */
    uint64_t rejected;   /* that are damaged */
    uint64_t other;      /* of kinds that are not decoded */
    uint64_t samples;    /* all of them */
    uint64_t untimed;    /* of these, without a time */
    uint64_t unknown;    /* references in a recording that lead nowhere */
    uint64_t lines_cut;  /* of text, longer than PYRO_TEXT_LINE_BYTES */
    uint64_t stacks_cut; /* deeper than PYRO_PROFILE_DEPTH: their outermost frames are missing */
    uint64_t lost;       /* samples that the profiler itself could not keep */
    struct pyro_unread_samples unread[PYRO_UNREAD_KINDS]; /* the first ones */
    size_t unread_count;
    const char *problem; /* why the end was not read, valid as long as the reader; NULL: it was */
};

enum { PYRO_PROFILE_DEPTH = 4096 }; /* frames of a stack */

/* Adds what the file says, from its beginning, to the tracks, which must not be sealed, and a row of `artefacts` with
 * its problems. Damage is not an error: what can be read is added. Fails without memory, and as pyro_reader_read().
 * `order` may be NULL. */
enum pyro_status pyro_profile_decode(struct pyro_tracks *tracks, enum pyro_profile_kind kind,
                                     const struct pyro_artefact_source *source, struct pyro_reader *reader,
                                     const struct pyro_allocator *allocator, struct pyro_profile_order *order,
                                     struct pyro_profile_facts *ret, struct pyro_error *error);

#endif
