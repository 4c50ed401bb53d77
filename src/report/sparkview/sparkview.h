/* One application as Spark's REST API shows it, for the server's answers and for what stores keep of a run. */
#ifndef PYRO_REPORT_SPARKVIEW_SPARKVIEW_H
#define PYRO_REPORT_SPARKVIEW_SPARKVIEW_H

#include "model/app.h"
#include "model/history/history.h"
#include "report/sparkview/spark_json.h"

enum { SPARK_STAGE_STATUSES = 5 };
extern const char *const pyro_spark_stage_statuses[SPARK_STAGE_STATUSES];
extern const struct spark_name pyro_spark_peak_names[PYRO_HISTORY_PEAKS];

/* ---- Members that several answers have ---- */

void pyro_spark_pairs_object(struct spark_json *json, const char *key, const pyro_history_pairs *pairs);
void pyro_spark_counts_object(struct spark_json *json, const char *key, const pyro_history_counts *counts);
void pyro_spark_peaks(struct spark_json *json, const char *key, const struct pyro_history_peaks *peaks);
void pyro_spark_write_accumulable(struct spark_json *json, const struct pyro_history_accumulable *one);
void pyro_spark_accumulables(struct spark_json *json, const struct pyro_history_accumulable *items, size_t count);

/* ---- Whole objects ---- */

void pyro_spark_write_attempt(struct spark_json *json, const struct pyro_attempt *attempt);
/* Active ones backwards by id, all of them forwards: the orders of Spark's own indexes. `now_ms`: up to when an
 * application that runs has run. False: no memory. */
bool pyro_spark_write_executors(struct spark_json *json, const struct pyro_history *history, int64_t now_ms,
                                bool active_only);
/* Of a history that has one. False: no memory. */
bool pyro_spark_write_environment(struct spark_json *json, const struct pyro_history *history);
/* A stage attempt up to its tasks, and what follows tasks and executors up to its quantiles. */
void pyro_spark_open_stage(struct spark_json *json, const struct pyro_history_stage *stage);
void pyro_spark_stage_profile(struct spark_json *json, const struct pyro_history_stage *stage);
/* The rest. */
void pyro_spark_close_stage(struct spark_json *json, const struct pyro_history_stage *stage);

/* A copy, sorted by key, that the caller releases; NULL: no memory. */
struct pyro_history_pair *pyro_spark_sort_pairs(const pyro_history_pairs *pairs);

/* ---- What stores keep ---- */

/* What is known of a run in addition to its log. */
struct pyro_spark_document {
    struct pyro_slice history_host; /* null: its log was found elsewhere */
    int64_t time_processed_ms;
    bool is_final_attempt;
    bool spark_4; /* as a server of Spark 4 shows it */
};
/* Appends pyrometer.history_document/1 (docs/schema/): what a History Server shows of the attempt, as one object. `app`
 * has a history. False: no memory. */
bool pyro_spark_write_document(const struct pyro_app *app, const struct pyro_spark_document *document,
                               struct pyro_strbuf *to);

/* ---- What the API derives ---- */

/* `spark_4`: as such a server counts; `now_ms`: as long an application that runs has run. */
int64_t pyro_spark_executor_duration(const struct pyro_history *history, const struct pyro_history_executor *executor,
                                     bool spark_4, int64_t now_ms);
int64_t pyro_spark_executor_gc(const struct pyro_history *history, const struct pyro_history_executor *executor);
/* Of a stage. */
int64_t pyro_spark_shuffle_read(const struct pyro_history_stage *stage);

#endif
