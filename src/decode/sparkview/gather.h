/* The part of a batch that a history is built from: what its lines hold beyond the rows of tasks, in their order.
 * Gathered by any thread, applied by one (listener.h). */
#ifndef PYRO_DECODE_SPARKVIEW_GATHER_H
#define PYRO_DECODE_SPARKVIEW_GATHER_H

#include "base/json/json_read.h"
#include "base/strings/strbuf.h"
#include "decode/sparkview/tree.h"
#include "model/history/history.h"

struct pyro_listener;
typedef void pyro_history_event(struct pyro_listener *listener, const struct pyro_tree *event);

/* What a line is; the n-th of its kind belongs to the n-th item. */
enum pyro_history_step { PYRO_STEP_START, PYRO_STEP_END, PYRO_STEP_EVENT };

/* In addition to a row of the batch. */
struct pyro_gathered_end {
    int64_t peaks[PYRO_HISTORY_PEAKS];
    const struct pyro_tree *reason; /* NULL: Success, or none */
    size_t accumulables_end;
};

struct pyro_gathered_event {
    pyro_history_event *follow; /* NULL: an event of SQL, for pyro_sql_event() */
    const struct pyro_tree *root;
    struct pyro_slice name, line; /* of SQL */
};

struct pyro_history_batch {
    const struct pyro_allocator *allocator;
    struct pyro_arena arena; /* of the trees, whose texts are those of the lines */
    PYRO_VEC(unsigned char) steps;
    PYRO_VEC(struct pyro_gathered_end) ends;
    PYRO_VEC(struct pyro_gathered_event) events;
    struct pyro_strbuf accumulables; /* of all ends, one after the other: see pyro_history_accumulable_put() */
    uint64_t bad_lines;
    bool failed; /* no memory */
};

void pyro_history_batch_init(struct pyro_history_batch *batch, const struct pyro_allocator *allocator);
void pyro_history_batch_done(struct pyro_history_batch *batch);
void pyro_history_batch_clear(struct pyro_history_batch *batch);

/* False: no memory. */
bool pyro_gather_start(struct pyro_history_batch *batch);
/* `peaks`: PYRO_HISTORY_PEAKS values; `reason`: the raw end reason, null for Success. */
bool pyro_gather_end(struct pyro_history_batch *batch, const int64_t *peaks, struct pyro_slice reason);
/* An event of another kind: its tree, when the history follows it; the line of one about SQL executions, if they are
 * wanted. A line that cannot be read is counted. */
bool pyro_gather_event(struct pyro_history_batch *batch, struct pyro_slice name, struct pyro_slice line, bool sql);
/* Reads the array of a task's accumulables and keeps those that users named. */
void pyro_gather_accumulables(struct pyro_history_batch *batch, struct pyro_json_reader *json);

#endif
