/* Builds a struct pyro_history from the events of a log, one line after the other. */
#ifndef PYRO_DECODE_HISTORY_LISTENER_H
#define PYRO_DECODE_HISTORY_LISTENER_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "decode/history/sql.h"
#include "decode/history/tree.h"
#include "model/history.h"

struct pyro_listener {
    struct pyro_history *history;
    struct pyro_arena arena; /* of the line at hand */
    struct pyro_strbuf scratch;
    struct pyro_sql_follower sql;
};

/* False: no memory. */
bool pyro_listener_init(struct pyro_listener *listener);
void pyro_listener_done(struct pyro_listener *listener);
/* One line without its newline; PYRO_SCAN_PADDING readable bytes must follow. False: no memory. A line that cannot be
 * read is counted. */
bool pyro_listener_line(struct pyro_listener *listener, struct pyro_slice line);
/* Hands the history over; the listener may only be done away with. */
struct pyro_history *pyro_listener_take(struct pyro_listener *listener);

/* ---- For the files that follow events ---- */

typedef void pyro_history_event(struct pyro_listener *listener, const struct pyro_tree *event);
#define HISTORY_EVENT(name, function) pyro_history_event pyro_history_on_##function;
#include "decode/history/history_events.def"
#undef HISTORY_EVENT

/* The node's text, decoded and kept; null when there is none. */
struct pyro_slice pyro_listener_text(struct pyro_listener *listener, const struct pyro_tree *node);
/* The node's text as it would be written in JSON without quotes. */
struct pyro_slice pyro_listener_keep(struct pyro_listener *listener, struct pyro_slice raw);
void pyro_listener_pairs(struct pyro_listener *listener, const struct pyro_tree *object, pyro_history_pairs *pairs);
void pyro_listener_accumulables(struct pyro_listener *listener, const struct pyro_tree *array,
                                pyro_history_accumulables *ret);
struct pyro_history_executor *pyro_listener_executor(struct pyro_listener *listener, struct pyro_slice id,
                                                     int64_t time_ms);
/* The share of an executor in a stage, added when new. */
struct pyro_history_share *pyro_listener_share(struct pyro_listener *listener, struct pyro_history_stage *stage,
                                               struct pyro_slice executor);
/* Raises peaks by an event's "Executor Metrics"; a missing object counts as zeros, as it does in Spark. */
void pyro_listener_peaks(struct pyro_history_peaks *peaks, const struct pyro_tree *metrics);
void pyro_listener_count(struct pyro_listener *listener, pyro_history_counts *counts, struct pyro_slice reason);

#endif
