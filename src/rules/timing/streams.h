/* Micro-batches of each run of a streaming query, for the rules about streams. */
#ifndef PYRO_RULES_TIMING_STREAMS_H
#define PYRO_RULES_TIMING_STREAMS_H

#include "rules/rule.h"

/* One run of one query: batches that ran, in their order; progress that only says "nothing new" is left out. */
struct pyro_stream_run {
    const struct pyro_stream_batch **batches;
    size_t count;
};

/* Whether something is so of a run. */
typedef bool pyro_stream_question(struct pyro_rule_context *context, const struct pyro_stream_run *run);

/* Asks `judge`, which reports what it finds, of each run, in the order of their first batches. Not applicable:
 * `applies` is so of none. */
enum pyro_verdict pyro_streams_evaluate(struct pyro_rule_context *context, pyro_stream_question *applies,
                                        pyro_stream_question *judge);

/* "Stream 'orders'" or, without a name, "Stream 3f2c... (RateStreamV2 to parquet)". */
const char *pyro_say_stream(struct pyro_rule_context *context, const struct pyro_stream_run *run);
/* Place and id: the query's name, else its source and sink; ids of queries change with each new checkpoint. */
void pyro_finding_at_stream(struct pyro_rule_context *context, struct pyro_finding *finding,
                            const struct pyro_stream_run *run);
/* Middle of a column (by offset of an int64_t) over batches [from, to); 0 for none. Unknown values are left out. */
double pyro_stream_median(struct pyro_rule_context *context, const struct pyro_stream_run *run, size_t from, size_t to,
                          size_t offset);
/* In real-time mode (Spark 4.1 and later) a batch takes as long as it is asked to, whatever it has to do. */
bool pyro_stream_is_real_time(const struct pyro_app *app, const struct pyro_stream_run *run);
double pyro_stream_sum(const struct pyro_stream_run *run, size_t from, size_t to, size_t offset);

#endif
