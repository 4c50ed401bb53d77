/* When applications, jobs, stages and tasks ran, from text logs alone: pyrometer.log_timeline/1. */
#ifndef PYRO_DECODE_LOGS_TIMELINE_TIMELINE_H
#define PYRO_DECODE_LOGS_TIMELINE_TIMELINE_H

#include "decode/logs/records/record.h"

enum { PYRO_LOG_TASKS_MOST = 4000000, PYRO_LOG_JOBS_MOST = 1000000 };

/* Times are PYRO_NONE where no line says them. */
struct pyro_line_application {
    struct pyro_slice id, name, path; /* id and name may be null; path: of the first log of it that was read */
    int64_t start_ms, end_ms;         /* of its first and last record */
    uint64_t tasks;
};

enum pyro_line_status { PYRO_LINE_UNKNOWN, PYRO_LINE_SUCCEEDED, PYRO_LINE_FAILED };

struct pyro_line_job {
    int32_t application; /* number in the array */
    int64_t id, partitions, final_stage;
    struct pyro_slice name; /* "collect at etl.py:3" */
    int64_t start_ms, end_ms;
    enum pyro_line_status status;
    bool map; /* of adaptive execution: it computes a map stage only, and no line of its own says its end */
};

struct pyro_line_stage { /* an attempt: the hull of its tasks */
    int32_t application;
    int64_t id, attempt;
    int64_t start_ms, end_ms;
    uint64_t tasks, failed;
};

struct pyro_line_task {
    int32_t application;
    int32_t executor; /* text number; -1: not known */
    int64_t id, stage, stage_attempt, index, attempt;
    int64_t start_ms, end_ms;
    enum pyro_line_status status;
    bool by_driver_start, by_driver_end; /* the driver's line counts, not the executor's */
};

struct pyro_line_step {
    int64_t time_ms, tasks; /* how many then run */
};

struct pyro_line_result {
    const struct pyro_line_application *applications;
    const struct pyro_line_job *jobs;
    const struct pyro_line_stage *stages;
    const struct pyro_line_task *tasks;
    const struct pyro_line_step *active;
    size_t application_count, job_count, stage_count, task_count, active_count;
    uint64_t left_out; /* tasks and jobs beyond the limits */
};

struct pyro_line_filter {
    struct pyro_slice executor; /* null: all */
    int64_t stage;              /* PYRO_NONE: all */
};

struct pyro_line_timeline;
enum pyro_status pyro_line_timeline_new(const struct pyro_allocator *allocator, enum pyro_redaction redaction,
                                        struct pyro_line_timeline **ret, struct pyro_error *error);
void pyro_line_timeline_free(struct pyro_line_timeline *timeline);
/* Context: the struct pyro_line_timeline. */
pyro_log_consumer pyro_line_timeline_take;
/* Everything by application, then by time and id. Arrays live as long as the timeline; call it once. */
enum pyro_status pyro_line_timeline_finish(struct pyro_line_timeline *timeline, const struct pyro_line_filter *filter,
                                           struct pyro_line_result *ret, struct pyro_error *error);
/* The executor of a task, or null. */
struct pyro_slice pyro_line_executor(const struct pyro_line_timeline *timeline, const struct pyro_line_task *task);

#endif
