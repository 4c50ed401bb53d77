/* A batch: what some complete lines of an event log hold, decoded without looking at anything else.
 *
 * Batches are made by any number of threads and applied by one, in the order of the log (builder.h). Task events, which
 * make up nearly all of a log, are decoded here to rows; all other records are only found here and decoded when the
 * batch is applied, when what came before them is known. */
#ifndef PYRO_DECODE_BATCH_H
#define PYRO_DECODE_BATCH_H

#include "base/collections/vec.h"
#include "base/json/json_read.h"
#include "base/memory/arena.h"
#include "base/strings/strbuf.h"
#include "decode/sparkview/gather.h"
#include "model/task_table.h"

/* Beside enum pyro_wanted: what the batches are for. */
enum {
    PYRO_BATCH_HISTORY = 1 << 16,    /* pyro_listener_apply() */
    PYRO_BATCH_SQL = 1 << 18,        /* a history's SQL executions; together with PYRO_WANT_TASK_METRICS */
    PYRO_BATCH_NO_COLUMNS = 1 << 17, /* not pyro_builder_apply(): records that only it reads are passed over */
    PYRO_BATCH_PHOTON = 1 << 19      /* the memory of Photon's operators counts as that of their tasks */
};

/* What a log that begins with these bytes needs in addition: PYRO_BATCH_PHOTON of Databricks. All batches of a log have
 * the same. */
uint32_t pyro_batch_wanted_by(struct pyro_slice head);

/* Peaks of "Task Executor Metrics" that the model keeps, each the largest value seen. */
enum pyro_executor_peak {
    PYRO_PEAK_HEAP,
    PYRO_PEAK_OFFHEAP,
    PYRO_PEAK_EXECUTION,
    PYRO_PEAK_STORAGE,
    PYRO_PEAK_RSS,
    PYRO_PEAK_PYTHON_RSS,
    PYRO_PEAK_OTHER_RSS,
    PYRO_PEAK_FULL_COLLECTIONS, /* these two grow from the process's start: the largest is the last */
    PYRO_PEAK_COLLECTION_MS,
    PYRO_PEAK_COUNT
};

/* A text of the lines, once a batch. Texts 0.. are numbered in the order in which they appear. */
struct pyro_batch_text {
    struct pyro_slice raw;          /* as written; escapes not decoded */
    int64_t peaks[PYRO_PEAK_COUNT]; /* when it is the id of an executor */
    uint32_t next;                  /* in its hash chain; row + 1 */
};

enum pyro_record_kind {
    PYRO_RECORD_COLD,           /* decode `text` when applied; `event` is its row in events.def, or -1: unknown event */
    PYRO_RECORD_REJECT,         /* `text` is the line, `reason` what is wrong */
    PYRO_RECORD_TASK_END_REASON /* `text` is the raw value of a task's end reason that is not Success; `row` its task */
};

#define PYRO_REASON_LONG "longer than the maximum record size"

struct pyro_record {
    enum pyro_record_kind kind;
    int event;
    uint32_t row;
    uint64_t offset, line; /* of the line's first byte, and its number from 0; both in the batch */
    struct pyro_slice text;
    const char *reason;
};

enum { PYRO_BATCH_TEXT_BUCKETS = 256 };

struct pyro_batch {
    const struct pyro_allocator *allocator;
    const struct pyro_scan *scan;
    uint64_t max_record;
    uint32_t wanted; /* bit set of enum pyro_wanted */
    uint64_t bytes, lines;
    PYRO_VEC(int64_t) rows; /* TaskEnd events: PYRO_TASK_COLUMN_COUNT values each; texts are numbers of this batch */
    /* With PYRO_WANT_TASK_METRICS: SQL metrics of all rows as pyro_task_metrics() returns them, one row's after the
     * other's, and for each row where its own end. */
    struct pyro_strbuf metrics;
    PYRO_VEC(size_t) metric_ends;
    PYRO_VEC(int64_t)
    starts; /* TaskStart events: PYRO_TASK_START_COLUMNS values each; of texts only the executor,
               unless for a history */
    struct pyro_history_batch history;
    PYRO_VEC(struct pyro_record) records; /* in the order of the lines */
    PYRO_VEC(struct pyro_batch_text) texts;
    uint32_t buckets[PYRO_BATCH_TEXT_BUCKETS];
    PYRO_VEC(uint64_t) counts; /* of events that hold nothing for the model, by row of events.def */
    bool failed;               /* no memory */
};

void pyro_batch_init(struct pyro_batch *batch, const struct pyro_allocator *allocator, const struct pyro_scan *scan,
                     uint64_t max_record, uint32_t wanted);
void pyro_batch_done(struct pyro_batch *batch);
/* Empties it, keeping its memory. */
void pyro_batch_clear(struct pyro_batch *batch);

/* Decodes the lines of [text, text + len), which PYRO_SCAN_PADDING readable bytes must follow. The last line may lack
 * its newline. Rows refer to the text: it must stay until the batch has been applied. False: no memory. */
bool pyro_batch_decode(struct pyro_batch *batch, const char *text, size_t len);

/* Number of a text in this batch, or UINT32_MAX (no memory, failed is set). */
uint32_t pyro_batch_text(struct pyro_batch *batch, struct pyro_slice raw);

#endif
