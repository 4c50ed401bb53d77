/* The rows of a timeline while logs are read. */
#ifndef PYRO_DECODE_LOGS_TIMELINE_LINE_TABLE_H
#define PYRO_DECODE_LOGS_TIMELINE_LINE_TABLE_H

#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "base/memory/arena.h"
#include "base/numbers/saturate.h"
#include "base/strings/intern.h"
#include "decode/intake.h"
#include "decode/logs/timeline/timeline.h"

struct pyro_line_timeline {
    const struct pyro_allocator *allocator;
    struct pyro_string_pool *pool;
    struct pyro_arena arena;   /* of the result */
    struct pyro_intake intake; /* hides secrets of what enters the pool */
    PYRO_VEC(struct pyro_line_application) applications;
    PYRO_VEC(struct pyro_line_job) jobs;
    PYRO_VEC(struct pyro_line_task) tasks;
    struct pyro_map application_places, job_places, task_places; /* hash -> row + 1 */
    const struct pyro_log_file *file, *begun_file;               /* that the last record came from */
    int32_t current;                                             /* its application */
    bool begun;                                                  /* a line of that file said that Spark starts */
    bool failed;                                                 /* no memory */
    uint64_t left_out;
    uint64_t last_job;          /* row + 1 of the job whose lines follow; 0: none */
    struct pyro_map map_stages; /* of jobs that compute a map stage only: hash of the stage -> row + 1 */
};

#endif
