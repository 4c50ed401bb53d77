/* Reading logs for the History Server's REST API: which attempt a log is of, and all that it tells. */
#ifndef PYRO_HISTORY_HISTORY_H
#define PYRO_HISTORY_HISTORY_H

#include "base/error.h"
#include "base/memory/arena.h"
#include "base/strings/strbuf.h"
#include "model/history/attempt.h"
#include "model/history/history.h"
#include "model/viewers.h"

/* Reads no more of the log than the list needs. Texts go to `arena`. PYRO_ERROR_INPUT: no event log that begins with an
 * application's start. */
enum pyro_status pyro_attempt_scan(const pyro_inputs *inputs, size_t log, struct pyro_arena *arena,
                                   struct pyro_attempt *ret, struct pyro_error *error);
/* `with_sql`: with SQL executions, whose metrics take about as long to follow as all the rest. `limits`: what is
 * forgotten as Spark forgets it; NULL: nothing. `options`: progress only; NULL: none. */
enum pyro_status pyro_history_load(const pyro_inputs *inputs, size_t log, bool with_sql,
                                   const struct pyro_retained_limits *limits, const struct pyro_options *options,
                                   struct pyro_history **ret, struct pyro_error *error);

/* ---- Logs that grow ----
 *
 * A follower belongs to one thread at a time; the histories that it gives are immutable and share what does not change
 * any more. */
struct pyro_history_follower;

enum pyro_status pyro_history_follower_new(bool with_sql, const struct pyro_retained_limits *limits,
                                           enum pyro_redaction redaction, struct pyro_history_follower **ret,
                                           struct pyro_error *error);
void pyro_history_follower_free(struct pyro_history_follower *follower);
/* Text of the log in any pieces; what no newline has ended yet waits for the rest. */
enum pyro_status pyro_history_follower_feed(struct pyro_history_follower *follower, const void *bytes, size_t len,
                                            struct pyro_error *error);
/* What is known now; the caller releases it. */
enum pyro_status pyro_history_follower_snapshot(struct pyro_history_follower *follower, struct pyro_history **ret,
                                                struct pyro_error *error);
/* The history of a log as it is now. *follower, NULL at first, remembers where reading ended: of plain files only what
 * was appended since is read, and of one that is written, up to its last whole line. A log that was replaced, truncated
 * or compacted is read again from its start, as a compressed one is each time (then *follower is NULL again). After an
 * error *follower is NULL. */
enum pyro_status pyro_history_follow(struct pyro_history_follower **follower, const pyro_inputs *inputs, size_t log,
                                     bool with_sql, const struct pyro_retained_limits *limits,
                                     const struct pyro_options *options, struct pyro_history **ret,
                                     struct pyro_error *error);

/* ---- Kept in files ----
 *
 * An index holds the history of a log that has ended, compressed, with a checksum. One that is damaged, of another
 * version, or of another state of the log (its files' sizes, times, numbers and first bytes) counts as not there. Only
 * histories that nothing was forgotten of are kept. */

/* What tells this state of a log's files; false: it has none, or is still written. Taken before the log is read. */
bool pyro_history_identify(const pyro_inputs *inputs, size_t log, struct pyro_strbuf *identity);
/* NULL: there is none. */
struct pyro_history *pyro_history_index_load(const char *folder, const pyro_inputs *inputs, size_t log, bool with_sql);
/* False: it was not kept, since the log is small or has changed, the index would exceed 15 % of the log's text, another
 * process is at it, or writing failed. */
bool pyro_history_index_save(const char *folder, const pyro_inputs *inputs, size_t log,
                             const struct pyro_history *history, struct pyro_slice identity);
/* The bytes of such a file. */
bool pyro_history_index_write(const struct pyro_history *history, struct pyro_slice identity, struct pyro_strbuf *file);
struct pyro_history *pyro_history_index_read(struct pyro_slice file, struct pyro_slice identity);
struct pyro_log;

/* Reads the log up to its environment. Without one, or with half of one, the lists are empty and not `known`. */
enum pyro_status pyro_attempt_access(const struct pyro_log *log, struct pyro_arena *arena,
                                     struct pyro_access_lists *ret, struct pyro_error *error);

#endif
