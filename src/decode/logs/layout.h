/* Where logs lie and what frames them: names of folders, the output of `yarn logs`, prefixes of Kubernetes. */
#ifndef PYRO_DECODE_LOGS_LAYOUT_H
#define PYRO_DECODE_LOGS_LAYOUT_H

#include <stdbool.h>

#include "base/memory/arena.h"
#include "decode/logs/records/record.h"

/* What the path of a log says: application, container and executor. `path` is the user's, or ARCHIVE!MEMBER; slices are
 * of it. */
struct pyro_log_file pyro_log_file_of(struct pyro_slice path);
/* The same from the first bytes of the file, for what the path does not say: the application's id, "driver" or the
 * executor's id and host. Slices of `head`. */
void pyro_log_file_look(struct pyro_log_file *file, struct pyro_slice head);
/* First id of an application in a text ("application_1709280000000_0001", "app-20240301101500-0000",
 * "local-1709280000000", "spark-" and 32 hexadecimal digits), or null. */
struct pyro_slice pyro_application_id(struct pyro_slice text);

/* Lines that frame the parts of the output of `yarn logs`. */
enum pyro_yarn_line {
    PYRO_YARN_NONE,
    PYRO_YARN_CONTAINER, /* "Container: container_... on host_45454": container and host */
    PYRO_YARN_TYPE,      /* "LogType:stderr": its name */
    PYRO_YARN_OTHER      /* "LogLength:123", "End of LogType:stderr", rules of '=' and '*' */
};
struct pyro_yarn_frame {
    struct pyro_slice container, host, type;
};
enum pyro_yarn_line pyro_yarn_line_read(struct pyro_slice line, struct pyro_yarn_frame *ret);

/* "2024-03-01T10:15:02.123456789Z stderr F text" of Kubernetes' nodes. */
struct pyro_cri_line {
    int64_t time_ms;
    bool error_stream, partial; /* partial: the next line of the stream goes on */
    struct pyro_slice text;
};
bool pyro_cri_line_read(struct pyro_slice line, struct pyro_cri_line *ret);

/* What the beginning of a file is. */
enum pyro_log_content {
    PYRO_CONTENT_EMPTY,
    PYRO_CONTENT_LOG,     /* some line has a header */
    PYRO_CONTENT_TEXT,    /* text without headers: a log if its name says so */
    PYRO_CONTENT_EVENTS,  /* an event log */
    PYRO_CONTENT_GC,      /* of a garbage collector */
    PYRO_CONTENT_DUMP,    /* of threads */
    PYRO_CONTENT_RECORDS, /* of a profiler */
    PYRO_CONTENT_BINARY
};
struct pyro_log_pattern;
/* `own` may be NULL. */
enum pyro_log_content pyro_log_content_of(struct pyro_slice head, const struct pyro_log_pattern *own);
/* Whether the name is one that logs have: stdout, stderr, syslog, *.log, *.out, *.err, and the like with a codec's end.
 */
bool pyro_log_name(struct pyro_slice path);
/* "is an event log: ..." for a file that is not a text log; else NULL. */
const char *pyro_log_content_refusal(enum pyro_log_content content);

/* A record of a profiler on a line of its own, in the output of a process. */
bool pyro_is_profiler_line(struct pyro_slice line);

#endif
