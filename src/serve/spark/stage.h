/* One stage attempt, piece by piece: with its tasks it may take hundreds of megabytes. */
#ifndef PYRO_SERVE_SPARK_STAGE_H
#define PYRO_SERVE_SPARK_STAGE_H

#include "serve/spark/summaries.h"

/* What a request wants of each stage. */
struct spark_stage_wish {
    bool details, summaries;
    uint32_t tasks; /* statuses */
    double quantiles[SPARK_QUANTILES];
    size_t quantile_count;
    struct spark_summaries numbers; /* where `summaries` */
};

struct spark_stage_text {
    const struct pyro_history *history;
    const struct pyro_history_stage *stage;
    struct spark_stage_wish *wish;
    bool begun;
    size_t task; /* the next one */
};

/* Whether a quantile lies before the stage's first executor, where Spark fails. */
bool pyro_spark_stage_refused(const struct pyro_history_stage *stage, const struct spark_stage_wish *wish);

void pyro_spark_stage_begin(struct spark_stage_text *text, const struct pyro_history *history,
                            const struct pyro_history_stage *stage, struct spark_stage_wish *wish);
/* Writes the next piece; false: that was the last one. */
bool pyro_spark_stage_next(struct spark_stage_text *text, struct spark_json *json);

#endif
