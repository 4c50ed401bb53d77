/* Decoders of the two events that batches decode themselves. `json` is at the record's first byte; on success it is at
 * its end. False: json->error says what is wrong. */
#ifndef PYRO_DECODE_EVENTLOG_TASK_EVENTS_H
#define PYRO_DECODE_EVENTLOG_TASK_EVENTS_H

#include "decode/batch.h"
#include "model/column.h"

/* Fills a row of PYRO_TASK_COLUMN_COUNT values; texts are numbers of the batch, or PYRO_NONE. *reason is the raw end
 * reason when it is not Success, else null. */
bool pyro_decode_task_end(struct pyro_json_reader *json, struct pyro_batch *batch, int64_t *row,
                          struct pyro_slice *reason);
/* Fills the first PYRO_TASK_START_COLUMNS values of a row; of its texts only the executor unless it is for a history.
 */
bool pyro_decode_task_start(struct pyro_json_reader *json, struct pyro_batch *batch, int64_t *row);
/* The array of a task's accumulables: appends what pyro_task_metrics() returns of it. */
void pyro_decode_task_metrics(struct pyro_json_reader *json, struct pyro_strbuf *metrics);
/* "peak memory usage" of the Photon operators in an array of accumulables, in bytes; 0: none, or it cannot be read. The
 * reader may be left anywhere. */
int64_t pyro_decode_photon_memory(struct pyro_json_reader *json);
/* An object of executor metrics: raises `peaks` (PYRO_PEAK_COUNT values) to what it holds. */
bool pyro_decode_executor_metrics(struct pyro_json_reader *json, int64_t *peaks);

#endif
