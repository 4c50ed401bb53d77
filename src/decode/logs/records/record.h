/* One record of a text log: a line with a header (time, level, logger ...) and the lines without one that follow it. */
#ifndef PYRO_DECODE_LOGS_RECORDS_RECORD_H
#define PYRO_DECODE_LOGS_RECORDS_RECORD_H

#include <stdint.h>

#include "base/error.h"
#include "base/strings/slice.h"
#include "model/log_level.h"

/* Where records come from: one file, or one container's part of the output of `yarn logs`. Slices are null where
 * neither the path nor the content says it. */
struct pyro_log_file {
    struct pyro_slice path;        /* as the user sees it; of a member of an archive ARCHIVE!MEMBER */
    struct pyro_slice application; /* application_1709280000000_0001, app-20240301101500-0000, local-..., spark-... */
    struct pyro_slice container;   /* container_1709280000000_0001_01_000002, a pod's name, or the file's folder */
    struct pyro_slice executor;    /* "driver" or the executor's id */
    struct pyro_slice host;
};

/* Slices are borrowed until the consumer returns. */
struct pyro_log_record {
    int64_t time_ms; /* since 1970 UTC; without a header that of the record before it; PYRO_NONE: not known */
    int64_t place;   /* offset of the first byte in the decompressed file */
    uint64_t line;   /* number of its first line, from 1 */
    uint32_t lines;  /* how many lines it has */
    enum pyro_log_level level;
    struct pyro_slice logger;    /* "Executor", "org.apache.spark.executor.Executor"; null without one */
    struct pyro_slice thread;    /* null without one */
    struct pyro_slice task_name; /* MDC of Spark 3.2 and later: "task 0.0 in stage 1.0 (TID 3)"; null without one */
    struct pyro_slice message;   /* after the header, all lines, without the last line's end */
    struct pyro_slice text; /* the whole record as written, without prefixes of Kubernetes and the last line's end */
};

/* Called for each record, file after file in the order of their names, records in the order of the file. */
typedef enum pyro_status pyro_log_consumer(void *context, const struct pyro_log_file *file,
                                           const struct pyro_log_record *record, struct pyro_error *error);

#endif
