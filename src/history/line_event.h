/* Which event a line is, for those that look for a few events only. */
#ifndef PYRO_HISTORY_LINE_EVENT_H
#define PYRO_HISTORY_LINE_EVENT_H

#include <string.h>

#include "base/strings/slice.h"

enum pyro_line_event {
    PYRO_LINE_OTHER,
    PYRO_LINE_LOG_START,
    PYRO_LINE_APPLICATION_START,
    PYRO_LINE_APPLICATION_END,
    PYRO_LINE_ENVIRONMENT,
    PYRO_LINE_JOB_END
};

/* By the name, which Spark writes first. PYRO_SCAN_PADDING bytes after the line may be read. */
static inline enum pyro_line_event pyro_line_event(struct pyro_slice line)
{
    enum { NAME_BYTES = 100 };
    static const struct {
        struct pyro_slice name;
        enum pyro_line_event event;
    } events[] = {
        {PYRO_SLICE_LITERAL("LogStart\""), PYRO_LINE_LOG_START},
        {PYRO_SLICE_LITERAL("ApplicationStart\""), PYRO_LINE_APPLICATION_START},
        {PYRO_SLICE_LITERAL("ApplicationEnd\""), PYRO_LINE_APPLICATION_END},
        {PYRO_SLICE_LITERAL("EnvironmentUpdate\""), PYRO_LINE_ENVIRONMENT},
        {PYRO_SLICE_LITERAL("JobEnd\""), PYRO_LINE_JOB_END},
    };
    const struct pyro_slice start = {line.ptr, line.len < NAME_BYTES ? line.len : NAME_BYTES};
    const char *found = pyro_slice_find(start, "SparkListener");
    if (!found) /* with which Databricks' logs begin */
        return pyro_slice_find(start, "\"DBCEventLoggingListenerMetadata\"") ? PYRO_LINE_LOG_START : PYRO_LINE_OTHER;
    found += strlen("SparkListener");
    size_t left = line.len - (size_t)(found - line.ptr);
    for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
        if (events[i].name.len <= left && memcmp(found, events[i].name.ptr, events[i].name.len) == 0)
            return events[i].event;
    return PYRO_LINE_OTHER;
}

#endif
