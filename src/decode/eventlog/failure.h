/* Why a task ended other than well: rows of the failures table. */
#ifndef PYRO_DECODE_EVENTLOG_FAILURE_H
#define PYRO_DECODE_EVENTLOG_FAILURE_H

#include "decode/builder.h"

/* Bytes of a description that are kept: fewer when there are many, so that a run of a million failures fits in memory.
 */
enum { PYRO_FAILURE_BYTES = 2000, PYRO_FAILURE_SHORT_BYTES = 200, PYRO_FAILURES_IN_FULL = 1000 };

/* `task` is the row of the batch that the record belongs to, `text_ids` the batch's texts as numbers of the pool. */
void pyro_decode_task_failure(struct pyro_builder *builder, const struct pyro_record *record, const int64_t *task,
                              const uint32_t *text_ids, const struct pyro_scan *scan);

#endif
