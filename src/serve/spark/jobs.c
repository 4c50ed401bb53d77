/* jobs, jobs/ID */
#include <stdlib.h>

#include "serve/spark/api.h"

static const char *const statuses[] = {"RUNNING", "SUCCEEDED", "FAILED", "UNKNOWN"};

static void write_job(struct spark_json *json, const struct pyro_history_job *job)
{
    pyro_spark_open_object(json);
    pyro_spark_put_int(json, "jobId", job->id);
    pyro_spark_put_text(json, "name", job->name.ptr ? job->name : PYRO_SLICE_LITERAL(""));
    pyro_spark_put_text(json, "description", job->description);
    pyro_spark_put_time(json, "submissionTime", job->submitted_ms);
    pyro_spark_put_time(json, "completionTime", job->completed_ms);
    pyro_spark_key(json, "stageIds");
    pyro_spark_open_array(json);
    for (size_t i = 0; i < job->stage_ids.count; i++) {
        pyro_spark_element(json);
        pyro_spark_integer(json, job->stage_ids.items[i]);
    }
    pyro_spark_close_array(json);
    pyro_spark_put_text(json, "jobGroup", job->group);
    pyro_spark_key(json, "jobTags");
    pyro_spark_open_array(json);
    for (size_t i = 0; i < job->tags.count; i++) {
        pyro_spark_element(json);
        pyro_spark_text(json, job->tags.items[i]);
    }
    pyro_spark_close_array(json);
    pyro_spark_put_text(json, "status", pyro_slice_from(statuses[job->status]));
    const struct {
        const char *name;
        int64_t value;
    } rows[] = {
        {"numTasks", job->tasks},
        {"numActiveTasks", job->active_tasks},
        {"numCompletedTasks", job->completed_tasks},
        {"numSkippedTasks", job->skipped_tasks},
        {"numFailedTasks", job->failed_tasks},
        {"numKilledTasks", job->killed_tasks},
        {"numCompletedIndices", job->completed_indices},
        {"numActiveStages", job->active_stages},
        {"numCompletedStages", job->completed_stages},
        {"numSkippedStages", job->skipped_stages},
        {"numFailedStages", job->failed_stages},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        pyro_spark_put_int(json, rows[i].name, rows[i].value);
    pyro_spark_counts_object(json, "killedTasksSummary", &job->killed);
    pyro_spark_close_object(json);
}

static int newest_first(const void *a, const void *b)
{
    const struct pyro_history_job *x = *(const struct pyro_history_job *const *)a,
                                  *y = *(const struct pyro_history_job *const *)b;
    return (x->id < y->id) - (x->id > y->id);
}

void pyro_spark_jobs(struct spark_request *request)
{
    const struct pyro_history *history = request->history;
    uint32_t wanted;
    if (!pyro_spark_choices(request, "status", statuses, sizeof(statuses) / sizeof(*statuses), &wanted))
        return;
    const struct pyro_history_job **jobs = pyro_allocate(NULL, (history->jobs.count + 1) * sizeof(*jobs));
    if (!jobs) {
        pyro_spark_error(request, 500, "no memory left");
        return;
    }
    for (size_t i = 0; i < history->jobs.count; i++)
        jobs[i] = &history->jobs.items[i];
    qsort(jobs, history->jobs.count, sizeof(*jobs), newest_first);
    pyro_spark_open_array(&request->json);
    for (size_t i = 0; i < history->jobs.count; i++) {
        if (!(wanted >> jobs[i]->status & 1))
            continue;
        pyro_spark_element(&request->json);
        write_job(&request->json, jobs[i]);
    }
    pyro_spark_close_array(&request->json);
    pyro_release(NULL, jobs);
}

void pyro_spark_job(struct spark_request *request)
{
    int64_t id = pyro_serve_id(request->arguments[0]);
    const struct pyro_history_job *job = pyro_history_job(request->history, id);
    if (job)
        write_job(&request->json, job);
    else
        pyro_spark_error(request, 404, "unknown job: %lld", (long long)id);
}
