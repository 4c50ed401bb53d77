/* Errors of text logs, one entry for those that are the same: pyrometer.errors/1. */
#ifndef PYRO_DECODE_LOGS_ERRORS_H
#define PYRO_DECODE_LOGS_ERRORS_H

#include "decode/logs/records/record.h"

enum { PYRO_LOG_ERRORS_MOST = 10000, PYRO_LOG_ERROR_VALUES = 64 };

/* Arrays have the first PYRO_LOG_ERROR_VALUES different values, ascending. Texts have lost their secrets. */
struct pyro_log_error {
    uint64_t count;
    int64_t first_ms, last_ms;        /* PYRO_NONE: not known */
    enum pyro_log_level level;        /* the worst; PYRO_LEVEL_NONE: it was not logged */
    const char *cause;                /* id of failure_kinds.def, or NULL */
    struct pyro_slice text;           /* the last one, cut after 32 KiB */
    struct pyro_slice logger;         /* of the last one; may be null */
    struct pyro_slice root, message;  /* the exception at the root of the chain and what it says; null without one */
    const struct pyro_slice *classes; /* of the chain, outermost first */
    size_t class_count;
    const struct pyro_slice *frames; /* of the user's own code, innermost first */
    size_t frame_count;
    const struct pyro_slice *containers, *executors;
    size_t container_count, executor_count;
    const int64_t *tasks, *stages;
    size_t task_count, stage_count;
};

struct pyro_log_errors;

enum pyro_status pyro_log_errors_new(const struct pyro_allocator *allocator, enum pyro_redaction redaction,
                                     struct pyro_log_errors **ret, struct pyro_error *error);
void pyro_log_errors_free(struct pyro_log_errors *errors);
/* Takes the records that are errors: of level ERROR and FATAL, of WARN with an exception, and exceptions without a
 * header. Context: the struct pyro_log_errors. */
pyro_log_consumer pyro_log_errors_take;
/* Newest first; *ret_other: how many more were not kept, since there were too many different ones. The array lives as
 * long as `errors`; call it once. */
enum pyro_status pyro_log_errors_finish(struct pyro_log_errors *errors, const struct pyro_log_error **ret,
                                        size_t *ret_count, uint64_t *ret_other, struct pyro_error *error);

#endif
