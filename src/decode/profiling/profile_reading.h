/* State of one pyro_profile_decode(), and what all decoders add rows with. They return false when there is no memory.
 */
#ifndef PYRO_DECODE_PROFILING_PROFILE_READING_H
#define PYRO_DECODE_PROFILING_PROFILE_READING_H

#include "base/strings/intern.h"
#include "base/strings/strbuf.h"
#include "decode/profiling/profiling.h"
#include "model/column.h"

enum pyro_profile_series {
#define PYRO_PROFILE_SERIES(constant, name, unit, label, type, doc) PYRO_PROFILE_##constant,
#include "decode/profiling/series.def"
#undef PYRO_PROFILE_SERIES
    PYRO_PROFILE_SERIES_COUNT
};

/* What a record says of the task that its thread worked for. */
struct pyro_profile_task {
    int64_t task, stage, stage_attempt; /* PYRO_NONE: not known */
    const char *method;                 /* of pyro_owner_row */
};

/* Times at which a thread is known to have worked for a task. */
struct pyro_profile_owner {
    int32_t thread;
    struct pyro_profile_task of;
    int64_t start_ns, end_ns;
};

struct pyro_profile_reading {
    struct pyro_tracks *tracks;
    const struct pyro_allocator *allocator;
    const struct pyro_artefact_source *source;
    struct pyro_reader *reader;
    struct pyro_profile_order *order; /* or NULL */
    struct pyro_profile_facts *facts;
    struct pyro_error *error;
    int32_t clock;
    uint64_t bytes, rows;
    int64_t first_ns, last_ns; /* PYRO_NONE: no record has a time yet */
    struct pyro_string_pool *texts;
    struct pyro_map series;   /* by thread, kind and label */
    struct pyro_map owner_of; /* hash of thread and task -> owner + 1 */
    PYRO_VEC(struct pyro_profile_owner) owners;
};

/* Hands over the lines of the file. Stops when `take` says false, which means that there is no memory. */
enum pyro_status pyro_profile_lines(struct pyro_profile_reading *reading,
                                    bool (*take)(void *context, struct pyro_slice line), void *context);

/* Rows of `threads`, -1 without memory. `pid`, `tid`: PYRO_NONE where not known. Of a host or executor that the record
 * does not name, those of the source count. */
struct pyro_profile_process {
    struct pyro_slice host, executor;
    const char *role;
    int64_t pid;
};
int32_t pyro_profile_process_row(struct pyro_profile_reading *reading, const struct pyro_profile_process *process);
int32_t pyro_profile_thread_row(struct pyro_profile_reading *reading, const struct pyro_profile_process *process,
                                struct pyro_slice name, int64_t tid);

bool pyro_profile_sample(struct pyro_profile_reading *reading, const struct pyro_sample_row *row);
bool pyro_profile_span(struct pyro_profile_reading *reading, const struct pyro_span_row *row);
/* `label`: null where the series has none. */
bool pyro_profile_point(struct pyro_profile_reading *reading, int32_t thread, enum pyro_profile_series series,
                        struct pyro_slice label, int64_t time_ns, double value);
/* The thread worked for the task from `start_ns` to `end_ns`. */
bool pyro_profile_owned(struct pyro_profile_reading *reading, int32_t thread, const struct pyro_profile_task *task,
                        int64_t start_ns, int64_t end_ns);

/* What the name of a thread says: "Executor task launch worker for task 7", "... for task 0.0 in stage 1.0 (TID 7)".
 * False: nothing. */
bool pyro_profile_task_of_name(struct pyro_slice name, struct pyro_profile_task *ret);
/* What the tag of a span says, as Spark's profilers write it: "stageId=1,stageAttempt=0,...,taskId=7,status=SUCCESS".
 * False: it is not about a task. */
bool pyro_profile_task_of_tag(struct pyro_slice tag, struct pyro_profile_task *ret);
/* A frame as profilers write it: FILE.py:FUNCTION:LINE, FUNCTION (FILE.py:LINE), CLASS.METHOD:LINE, any text.
 * `language`: of what is not Python's. */
int32_t pyro_profile_frame_row(struct pyro_profile_reading *reading, struct pyro_slice text,
                               struct pyro_slice language);
/* Milliseconds as records have them, in nanoseconds; PYRO_NONE for what is not a time. */
int64_t pyro_profile_ns(double ms);

/* The decoders of kinds.def. */
#define PYRO_PROFILE_KIND(constant, name, prefix, decode)                                                              \
    enum pyro_status pyro_profile_decode_##decode(struct pyro_profile_reading *reading);
#include "decode/profiling/kinds.def"
#undef PYRO_PROFILE_KIND

#endif
