/* Builds a struct pyro_history from batches, in the order of the log. */
#ifndef PYRO_DECODE_SPARKVIEW_LISTENER_H
#define PYRO_DECODE_SPARKVIEW_LISTENER_H

#include "base/strings/strbuf.h"
#include "decode/batch.h"
#include "decode/intake.h"
#include "decode/sparkview/retained.h"
#include "decode/sparkview/sql.h"

/* What counting needs in addition to the rows, as long as they grow. */
struct pyro_job_progress {
    struct pyro_id_set indices; /* stage << 32 | index of tasks that succeeded */
    struct pyro_id_set completed_stages, skipped_stages;
};
struct pyro_stage_progress {
    struct pyro_id_set indices; /* of tasks that succeeded */
};

struct pyro_listener {
    struct pyro_history *history;
    struct pyro_strbuf scratch;
    bool with_sql;             /* SQL executions are followed */
    bool brief;                /* long texts that stores do not keep are passed over; to be set at once */
    struct pyro_intake intake; /* through which all texts come into history->strings */
    struct pyro_sql_follower sql;
    struct pyro_retained retained;
    PYRO_VEC(struct pyro_job_progress) jobs;     /* by job row */
    PYRO_VEC(uint32_t) running_jobs;             /* rows, ascending */
    PYRO_VEC(struct pyro_stage_progress) stages; /* by stage row */
    struct pyro_map shares;                      /* stage row << 32 | text number of the executor -> row + 1 */
    struct pyro_value_map numbers;               /* task id -> number */
    PYRO_VEC(uint32_t) free_places;              /* rows of `running` that no task is in */
    size_t last_stage;                           /* where the last task belonged */
    size_t first_live;                           /* no stage before it is live */
    size_t remembered;                           /* executors that are */
};

/* `limits`: what is forgotten; NULL: nothing. False: no memory. */
bool pyro_listener_init(struct pyro_listener *listener, bool with_sql, const struct pyro_retained_limits *limits,
                        enum pyro_redaction redaction);
void pyro_listener_done(struct pyro_listener *listener);
/* What its batches are to be decoded with. */
uint32_t pyro_listener_wanted(bool with_sql);
/* Adds what a batch holds that was decoded so; batches of one log come in its order. False: no
 * memory. */
bool pyro_listener_apply(struct pyro_listener *listener, const struct pyro_batch *batch);
/* Hands the history over, sealed; the listener may only be done away with. NULL: no memory. */
struct pyro_history *pyro_listener_take(struct pyro_listener *listener);

/* The history as it is now, sealed; the listener goes on. NULL: no memory. */
struct pyro_history *pyro_listener_snapshot(struct pyro_listener *listener);

/* ---- For the files that follow events ---- */

#define PYRO_EVENT(name, decoder, listener) pyro_history_event pyro_history_on_##listener;
#include "decode/eventlog/events.def"
#undef PYRO_EVENT

/* The node's text, decoded and kept; null when there is none. */
struct pyro_slice pyro_listener_text(struct pyro_listener *listener, const struct pyro_tree *node);
/* The node's text as it would be written in JSON without quotes. */
struct pyro_slice pyro_listener_keep(struct pyro_listener *listener, struct pyro_slice raw);
/* The same of a plan or a statement. */
struct pyro_slice pyro_listener_plan(struct pyro_listener *listener, struct pyro_slice raw);
/* What names and values of an object mean. */
enum pyro_pairs {
    PYRO_PAIRS_PLAIN,    /* texts of their own */
    PYRO_PAIRS_NAMED,    /* a name may forbid to show its value */
    PYRO_PAIRS_SETTINGS, /* so may the value, as Spark's server has it */
};
void pyro_listener_pairs(struct pyro_listener *listener, const struct pyro_tree *object, enum pyro_pairs kind,
                         pyro_history_pairs *pairs);
/* The log's own expressions have changed: looks at all that was kept before again. */
void pyro_listener_look_again(struct pyro_listener *listener);
void pyro_listener_accumulables(struct pyro_listener *listener, const struct pyro_tree *array,
                                pyro_history_accumulables *ret);
/* What a batch gathered of a task's accumulables, without secrets: `all`, or in `to`. */
struct pyro_slice pyro_listener_task_accumulables(struct pyro_listener *listener, struct pyro_slice all,
                                                  struct pyro_strbuf *to);
struct pyro_history_executor *pyro_listener_executor(struct pyro_listener *listener, struct pyro_slice id,
                                                     int64_t time_ms);
/* The share of an executor (its id's number) in a stage, added when new. */
struct pyro_history_share *pyro_listener_share(struct pyro_listener *listener, struct pyro_history_stage *stage,
                                               uint32_t executor);
/* Number of a text, or UINT32_MAX when it is null or there is no memory. */
uint32_t pyro_listener_number(struct pyro_listener *listener, struct pyro_slice text);
struct pyro_history_executor *pyro_listener_find_executor(struct pyro_listener *listener, struct pyro_slice id);
/* The same, NULL if it was removed: events about it count no longer. */
struct pyro_history_executor *pyro_listener_live_executor(struct pyro_listener *listener, struct pyro_slice id);
/* Whether a stage that is not over began before the executor ended. */
void pyro_listener_remember(struct pyro_listener *listener, struct pyro_history_executor *executor);
/* Adds to a set; *count follows it. */
void pyro_listener_add(struct pyro_listener *listener, struct pyro_id_set *set, int64_t id, int64_t *count);
/* RDDs that a stage reads and that are to be kept. */
void pyro_listener_rdds(struct pyro_listener *listener, const struct pyro_tree *rdds);
/* The executor was removed, and the blocks it held. */
void pyro_listener_lose_blocks(struct pyro_listener *listener, struct pyro_history_executor *executor);
/* An event's "Executor Metrics" as PYRO_HISTORY_PEAKS values; a missing object counts as zeros, as it does in Spark. */
void pyro_listener_memory(const struct pyro_tree *metrics, int64_t *values);
void pyro_listener_peaks(struct pyro_history_peaks *peaks, const int64_t *values);
void pyro_listener_count(struct pyro_listener *listener, pyro_history_counts *counts, struct pyro_slice reason);

/* Rows of a batch, their texts already numbers of the history. */
void pyro_listener_task_start(struct pyro_listener *listener, const int64_t *row);
void pyro_listener_task_end(struct pyro_listener *listener, int64_t *row, const struct pyro_gathered_end *end,
                            struct pyro_slice accumulables, struct pyro_slice updates);

#endif
