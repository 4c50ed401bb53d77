/* pyrometer.profile/1: what profilers, logs of garbage collectors and text logs recorded of a run.
 *
 *     tracks, and a diagnosis if there is an event log -> pyro_profiling_gather() -> _json(), _html() or _text() */
#ifndef PYRO_REPORT_PROFILING_PROFILING_H
#define PYRO_REPORT_PROFILING_PROFILING_H

#include "analyze/tracks/frame_kinds.h"
#include "analyze/tracks/track.h"
#include "base/collections/map.h"
#include "report/flame/flame.h"
#include "report/report.h"

enum { PYRO_PROFILING_METHODS = 30, PYRO_PROFILING_POINTS = 1000, PYRO_PROFILING_TASKS = 20000 };

/* What of the records counts. */
struct pyro_profiling_choice {
    const char *const *metrics; /* series whose name has one of these in it; none: all */
    size_t metric_count;
    const char *const *ignored; /* but not those whose name has one of these in it */
    size_t ignored_count;
    struct pyro_slice process; /* executor, process id or name of the only process; null: all */
    bool normalize;            /* MiB and minutes */
    /* What text logs say of jobs, stages and tasks; counts without an event log. NULL: nothing. */
    const struct pyro_line_timeline *timeline;
    const struct pyro_line_result *lines;
    struct pyro_flame_filter samples; /* only of this task or stage */
};

/* All rows of threads that are one process: the log of its garbage collector, its recording, its text log. */
struct pyro_profiling_process {
    int32_t thread;         /* the first of the rows */
    struct pyro_slice name; /* "executor 3", "driver" */
    struct pyro_slice role, executor, host;
    int64_t pid;
    bool has_gc_log; /* its pauses are those of that log: a recording has them again */
    uint64_t pauses, samples;
    int64_t pause_ns, longest_pause_ns;
};

/* A task, a stage or a job. */
struct pyro_profiling_work {
    int64_t id, stage, attempt; /* id: of the task, the stage or the job; PYRO_NONE: not known, or of another kind */
    int32_t process;            /* of a task, where it is known; else -1 */
    int64_t start_ns, end_ns;   /* end: PYRO_NONE: not known */
    struct pyro_slice name;
};

struct pyro_profiling_works {
    struct pyro_profiling_work *items; /* by start */
    size_t count;
    uint64_t left_out;
};

/* A method in the samples of one event. */
struct pyro_profiling_method {
    struct pyro_slice function, file, language;
    int64_t self, total; /* weight in the event's unit: as the innermost frame, and anywhere in a stack */
    int64_t waiting;     /* of self: the thread waited or was blocked */
};

/* Allocations of one class by one method. */
struct pyro_profiling_allocation {
    struct pyro_slice class_name;
    struct pyro_slice function, file, language; /* null: the stack does not say */
    int64_t bytes;
};

/* What the samples of a stage spend in serializers. */
struct pyro_profiling_serialization {
    int64_t stage, attempt; /* PYRO_NONE: of samples whose stage is not known */
    enum pyro_sample_event event;
    int64_t weight;                        /* of all its samples of the event */
    int64_t serializers[PYRO_SERIALIZERS]; /* of these, weight of the samples in each; NONE is unused */
    int64_t sum;                           /* of the serializers */
};

/* All samples of one event. */
struct pyro_profiling_samples {
    int64_t weight;
    int64_t left_out; /* weight of those that name no task or stage for certain, where the choice asks for one */
    size_t count;
    struct pyro_profiling_method *methods; /* most of their own first; at most PYRO_PROFILING_METHODS */
    size_t method_count;
};

struct pyro_profiling {
    const struct pyro_tracks *tracks;
    const struct pyro_diagnosis *diagnosis; /* NULL without an event log */
    struct pyro_profiling_choice choice;
    int64_t start_ns, end_ns; /* of everything that has a time; PYRO_NONE: nothing has */
    struct pyro_profiling_process *processes;
    size_t process_count;
    int32_t *process_of;         /* by row of threads: place in `processes`, -1 if the process is not chosen */
    bool *takes_series;          /* by row of series */
    struct pyro_point_row *most; /* by row of series: its largest point; series -1: it has none, or is not chosen */
    struct pyro_profiling_works tasks, stages, jobs;
    struct pyro_profiling_samples samples[PYRO_SAMPLE_EVENTS];
    struct pyro_profiling_allocation *allocations; /* most bytes first; at most PYRO_PROFILING_METHODS */
    size_t allocation_count;
    struct pyro_profiling_serialization *serialization; /* by stage and event: those with some; the most first */
    size_t serialization_count;                         /* at most PYRO_PROFILING_METHODS */
};

/* Memory comes from the arena, which must outlive the result. `diagnosis` and `choice` may be NULL.
 * PYRO_ERROR_ARGUMENT: the choice takes no process. */
enum pyro_status pyro_profiling_gather(const struct pyro_tracks *tracks, const struct pyro_diagnosis *diagnosis,
                                       const struct pyro_profiling_choice *choice, struct pyro_arena *arena,
                                       struct pyro_profiling *ret, struct pyro_error *error);
/* Parts of gathering. False: no memory. */
bool pyro_profiling_find_work(struct pyro_profiling *profile, struct pyro_arena *arena);
bool pyro_profiling_find_serialization(struct pyro_profiling *profile, struct pyro_arena *arena);
bool pyro_profiling_find_methods(struct pyro_profiling *profile, struct pyro_arena *arena);

/* Process of a row of threads, or -1. */
int32_t pyro_profiling_process_of(const struct pyro_profiling *profile, int32_t thread);
/* Whether a row of threads is of a log of the garbage collector. */
bool pyro_profiling_is_gc_log(const struct pyro_profiling *profile, int32_t thread);
/* Process of a row of threads whose pauses count, or -1. */
int32_t pyro_profiling_pauses_of(const struct pyro_profiling *profile, int32_t thread);
/* Whether times are known, so that there is an axis. */
bool pyro_profiling_is_timed(const struct pyro_profiling *profile);
/* A unit and a value in it as the choice wants them: bytes become MiB, times minutes. */
const char *pyro_profiling_unit(const struct pyro_profiling *profile, struct pyro_slice unit);
double pyro_profiling_value(const struct pyro_profiling *profile, struct pyro_slice unit, double value);
/* The value with its unit, for people. */
void pyro_profiling_add_value(const struct pyro_profiling *profile, struct pyro_strbuf *to, struct pyro_slice unit,
                              double value);
void pyro_profiling_add_ms(const struct pyro_profiling *profile, struct pyro_strbuf *to, int64_t ns);

/* False: no memory for what is drawn. */
bool pyro_profiling_json(struct pyro_output *output, const struct pyro_profiling *profile, struct pyro_arena *arena);
bool pyro_profiling_html(struct pyro_output *output, const struct pyro_profiling *profile, struct pyro_arena *arena);
void pyro_profiling_text(struct pyro_output *output, const struct pyro_profiling *profile,
                         const struct pyro_report_options *options);

#endif
