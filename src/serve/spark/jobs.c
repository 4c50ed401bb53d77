/* jobs, jobs/ID */
#include "serve/spark/pieces.h"
#include "serve/spark/sort.h"
#include "serve/spark/spark_request.h"

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
    pyro_spark_put_int(json, "numTasks", job->tasks);
    pyro_spark_put_int(json, "numActiveTasks", job->active_tasks);
    pyro_spark_put_int(json, "numCompletedTasks", job->completed_tasks);
    pyro_spark_put_int(json, "numSkippedTasks", job->skipped_tasks);
    pyro_spark_put_int(json, "numFailedTasks", job->failed_tasks);
    pyro_spark_put_int(json, "numKilledTasks", job->killed_tasks);
    pyro_spark_put_int(json, "numCompletedIndices", job->completed_indices);
    pyro_spark_put_int(json, "numActiveStages", job->active_stages);
    pyro_spark_put_int(json, "numCompletedStages", job->completed_stages);
    pyro_spark_put_int(json, "numSkippedStages", job->skipped_stages);
    pyro_spark_put_int(json, "numFailedStages", job->failed_stages);
    pyro_spark_counts_object(json, "killedTasksSummary", &job->killed);
    pyro_spark_close_object(json);
}

static bool job_id(const void *context, size_t row, int64_t *ret)
{
    *ret = ((const struct pyro_history *)context)->jobs.items[row].id;
    return true;
}

/* Backwards. */
struct job_list {
    const struct pyro_history *history;
    uint32_t *rows;
    size_t left;
    uint32_t wanted; /* statuses */
};

static bool next_job(void *context, struct spark_json *json)
{
    struct job_list *list = context;
    if (list->left == 0) {
        pyro_spark_close_array(json);
        return false;
    }
    const struct pyro_history_job *job = &list->history->jobs.items[list->rows[--list->left]];
    if (list->wanted >> job->status & 1) {
        pyro_spark_element(json);
        write_job(json, job);
    }
    return true;
}

static void close_jobs(void *context)
{
    struct job_list *list = context;
    pyro_release(NULL, list->rows);
    pyro_release(NULL, list);
}

void pyro_spark_jobs(struct spark_request *request)
{
    const struct pyro_history *history = request->history;
    uint32_t wanted;
    if (!pyro_spark_choices(request, "status", statuses, sizeof(statuses) / sizeof(*statuses), &wanted))
        return;
    size_t count;
    uint32_t *rows = pyro_spark_sort_rows(history->jobs.count, job_id, history, &count);
    if (!rows) {
        pyro_spark_error(request, 503, "no memory left");
        return;
    }
    struct job_list *list = pyro_allocate(NULL, sizeof(*list));
    if (!list) {
        pyro_release(NULL, rows);
        pyro_spark_error(request, 503, "no memory left");
        return;
    }
    *list = (struct job_list){history, rows, count, wanted};
    pyro_spark_open_array(&request->json);
    pyro_spark_answer_pieces(request, &(const struct spark_pieces){next_job, close_jobs, list});
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
