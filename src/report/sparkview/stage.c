/* One stage attempt, without its tasks and executors. */
#include "base/numbers/saturate.h"
#include "report/sparkview/sparkview.h"

const char *const pyro_spark_stage_statuses[SPARK_STAGE_STATUSES] = {"ACTIVE", "COMPLETE", "FAILED", "PENDING",
                                                                     "SKIPPED"};

int64_t pyro_spark_shuffle_read(const struct pyro_history_stage *stage)
{
    int64_t local = stage->metrics[PYRO_HISTORY_localBytesRead], remote = stage->metrics[PYRO_HISTORY_remoteBytesRead];
    return local == PYRO_NONE || remote == PYRO_NONE ? stage->shuffle_read : pyro_add_wrapping(local, remote);
}

static void write_metrics(struct spark_json *json, const struct pyro_history_stage *stage)
{
    const int64_t *metrics = stage->metrics;
    static const struct spark_name names[] = {
#define HISTORY_METRIC(name, column, stage) SPARK_NAME(#stage),
#include "model/history/metrics.def"
#undef HISTORY_METRIC
    };
    enum {
        READ = PYRO_HISTORY_shuffleRecordsRead,
        LATER = PYRO_HISTORY_remoteReqsDuration, /* than in tasks */
        PUSH = PYRO_HISTORY_corruptMergedBlockChunks,
        REQUESTS = PYRO_HISTORY_remoteMergedReqsDuration
    };
    pyro_spark_put_ints(json, names, metrics, READ);
    pyro_spark_put_int(json, "shuffleReadBytes", pyro_spark_shuffle_read(stage));
    pyro_spark_put_ints(json, names + READ, metrics + READ, 1);
    pyro_spark_put_ints(json, names + PUSH, metrics + PUSH, REQUESTS - PUSH);
    pyro_spark_put_ints(json, names + LATER, metrics + LATER, 1);
    pyro_spark_put_ints(json, names + REQUESTS, metrics + REQUESTS, PYRO_HISTORY_METRICS - REQUESTS);
}

void pyro_spark_open_stage(struct spark_json *json, const struct pyro_history_stage *stage)
{
    pyro_spark_open_object(json);
    pyro_spark_put_text(json, "status", pyro_slice_from(pyro_spark_stage_statuses[stage->status]));
    pyro_spark_put_int(json, "stageId", stage->id);
    pyro_spark_put_int(json, "attemptId", stage->attempt);
    pyro_spark_put_int(json, "numTasks", stage->partitions);
    pyro_spark_put_int(json, "numActiveTasks", stage->active);
    pyro_spark_put_int(json, "numCompleteTasks", stage->completed);
    pyro_spark_put_int(json, "numFailedTasks", stage->failed);
    pyro_spark_put_int(json, "numKilledTasks", stage->killed);
    pyro_spark_put_int(json, "numCompletedIndices", stage->completed_indices);
    pyro_spark_put_time(json, "submissionTime", stage->submitted_ms);
    pyro_spark_put_time(json, "firstTaskLaunchedTime", stage->first_launch_ms);
    pyro_spark_put_time(json, "completionTime", stage->completed_ms);
    pyro_spark_put_text(json, "failureReason", stage->failure);
    write_metrics(json, stage);
    pyro_spark_put_text(json, "name", stage->name.ptr ? stage->name : PYRO_SLICE_LITERAL(""));
    pyro_spark_put_text(json, "description", stage->description);
    if (!json->brief)
        pyro_spark_put_text(json, "details", stage->details.ptr ? stage->details : PYRO_SLICE_LITERAL(""));
    pyro_spark_put_text(json, "schedulingPool", stage->pool);
    pyro_spark_key(json, "rddIds");
    pyro_spark_open_array(json);
    for (size_t i = 0; i < stage->rdd_ids.count; i++) {
        pyro_spark_element(json);
        pyro_spark_integer(json, stage->rdd_ids.items[i]);
    }
    pyro_spark_close_array(json);
    pyro_spark_accumulables(json, stage->accumulables.items, stage->accumulables.count);
}

void pyro_spark_stage_profile(struct spark_json *json, const struct pyro_history_stage *stage)
{
    pyro_spark_counts_object(json, "killedTasksSummary", &stage->killed_reasons);
    pyro_spark_put_int(json, "resourceProfileId", stage->profile);
    pyro_spark_peaks(json, "peakExecutorMetrics", &stage->peaks);
}

void pyro_spark_close_stage(struct spark_json *json, const struct pyro_history_stage *stage)
{
    pyro_spark_put_bool(json, "isShufflePushEnabled", stage->push_enabled);
    pyro_spark_put_int(json, "shuffleMergersCount", stage->mergers);
    pyro_spark_close_object(json);
}
