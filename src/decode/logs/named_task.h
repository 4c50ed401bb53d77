/* Which task or stage a record is about. */
#ifndef PYRO_DECODE_LOGS_NAMED_TASK_H
#define PYRO_DECODE_LOGS_NAMED_TASK_H

#include <stdbool.h>

#include "decode/logs/records/record.h"

/* "task 0.1 in stage 3.0 (TID 12)" */
struct pyro_log_task {
    int64_t index, attempt;       /* 0 and 1 */
    int64_t stage, stage_attempt; /* 3 and 0; the attempt is 0 where it is not written; PYRO_NONE: only the TID is */
    int64_t tid;
    size_t end; /* place in the text behind the number of the TID */
};

/* The first one in the first KiB of a text. */
bool pyro_log_task_read(struct pyro_slice text, struct pyro_log_task *ret);
/* An MDC: such a text, or the Spark plugin's: the number of the TID. */
bool pyro_log_mdc_read(struct pyro_slice text, struct pyro_log_task *ret);
/* Of a record: its MDC, its thread's name or its message. */
bool pyro_log_task_of(const struct pyro_log_record *record, struct pyro_log_task *ret);
/* The stage that a record names, its task's or another; PYRO_NONE without one. */
int64_t pyro_log_stage_of(const struct pyro_log_record *record);
/* A number at the beginning of a text; the bytes it takes, 0: there is none, or it does not fit 63 bits. */
size_t pyro_log_number_read(struct pyro_slice text, int64_t *ret);

#endif
