/* Numbers about all tasks of a stage that ended: of each metric, the values at some shares of their order. */
#ifndef PYRO_SERVE_SPARK_SUMMARIES_H
#define PYRO_SERVE_SPARK_SUMMARIES_H

#include "model/history/history.h"
#include "serve/spark/select.h"
#include "serve/spark/spark_request.h"

/* A row of what Spark tells, in its order: a metric, the sum of two, something derived of several, or the beginning or
 * the end of an object. */
enum spark_summary_kind {
    SUMMARY_METRIC,
    SUMMARY_SUM,
    SUMMARY_DURATION,
    SUMMARY_GETTING_RESULT,
    SUMMARY_SCHEDULER_DELAY,
    SUMMARY_OPEN,
    SUMMARY_CLOSE
};
struct spark_summary_row {
    struct spark_name name;
    enum spark_summary_kind kind;
    enum pyro_history_metric metric, other;
};
enum { SPARK_SUMMARY_ROWS = 48, SPARK_SUMMARY_VALUES = 38 };
extern const struct spark_summary_row pyro_spark_summary_rows[SPARK_SUMMARY_ROWS];

/* What summaries of one stage after the other share. */
struct spark_summaries {
    const struct pyro_history *history;
    const double *quantiles;
    size_t quantile_count;
    struct pyro_strbuf text; /* the quantiles as they are written; empty until then */
    pyro_history_runs succeeded, others;
    struct spark_select_room room;
    int64_t *values, *more; /* of a column */
    size_t capacity;
    /* Of each row that has values, one after the other, one for each quantile; NaN where Spark has none. */
    double picked[SPARK_SUMMARY_VALUES * SPARK_QUANTILES];
};

/* Quantiles must live as long as the summaries. */
void pyro_spark_summaries_init(struct spark_summaries *summaries, const struct pyro_history *history,
                               const double *quantiles, size_t quantile_count);
void pyro_spark_summaries_done(struct spark_summaries *summaries);

enum spark_summary_state { SUMMARY_THERE, SUMMARY_NO_TASKS, SUMMARY_NO_MEMORY };
/* Fills `picked`. SUMMARY_NO_TASKS: none has succeeded. */
enum spark_summary_state pyro_spark_summaries_compute(struct spark_summaries *summaries,
                                                      const struct pyro_history_stage *stage);

#endif
