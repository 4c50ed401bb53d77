/* What an application's folder holds of traces: collected while its files are read, decoded together when all are
 * known. Traces of all hosts are merged by time; the tasks come from records of the plugin. */
#ifndef PYRO_DECODE_TRACE_TRACE_FILES_H
#define PYRO_DECODE_TRACE_TRACE_FILES_H

#include "base/error.h"
#include "decode/trace/task_windows.h"
#include "source/source.h"

struct pyro_trace_folder {
    char *path;   /* NUL-terminated */
    char *inside; /* the real path of a folder that all its files must lie in; NULL: anywhere */
    int32_t artefact;
};

struct pyro_trace_files {
    const struct pyro_allocator *allocator;
    PYRO_VEC(struct pyro_trace_folder) folders;
    struct pyro_task_windows windows;
};

void pyro_trace_files_done(struct pyro_trace_files *files);
/* Decodes reading->traces into its tracks, and what programs logged to its text logs. A trace that cannot be read is a
 * row with its problem. */
struct pyro_artefact_reading;
enum pyro_status pyro_trace_files_decode(struct pyro_artefact_reading *reading, struct pyro_error *error);

#endif
