/* Jobs: their starts, and, when all stages have been read, their ends. */
#include <stdlib.h>

#include "decode/rest/rest_reading.h"

PYRO_JSON_KEYS(job_keys, (ID, "jobId"), (NAME, "name"), (DESCRIPTION, "description"), (SUBMITTED, "submissionTime"),
               (COMPLETED, "completionTime"), (STAGE_IDS, "stageIds"), (STATUS, "status"), (GROUP, "jobGroup"),
               (TAGS, "jobTags"));

static int64_t execution_of(const struct pyro_rest_reading *reading, int64_t job)
{
    size_t low = 0, high = reading->executions.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (reading->executions.items[middle].job < job)
            low = middle + 1;
        else
            high = middle;
    }
    return low < reading->executions.count && reading->executions.items[low].job == job
               ? reading->executions.items[low].execution
               : PYRO_NONE;
}

static bool keep_stage_ids(struct pyro_rest_reading *reading, struct pyro_rest_job *job, struct pyro_slice ids)
{
    struct pyro_json_reader json;
    job->first_stage = reading->job_stages.count;
    pyro_rest_start(&json, ids);
    if (!ids.ptr || !pyro_json_enter_array(&json))
        return true;
    for (bool first = true; pyro_json_next_element(&json, &first);) {
        int64_t *id = pyro_vec_push(&reading->job_stages, reading->source->allocator);
        if (!id)
            return false;
        *id = PYRO_NONE;
        pyro_json_take_int(&json, id);
    }
    job->stage_count = reading->job_stages.count - job->first_stage;
    return true;
}

static enum pyro_status write_start(struct pyro_rest_reading *reading, const struct pyro_slice *values,
                                    const struct pyro_rest_job *job)
{
    int64_t execution = execution_of(reading, job->id);
    pyro_rest_line(reading, "SparkListenerJobStart");
    pyro_rest_add_int(reading, "Job ID", job->id);
    pyro_rest_add_time(reading, "Submission Time", pyro_rest_time(values[SUBMITTED]));
    pyro_rest_add_raw(reading, "Stage IDs", values[STAGE_IDS]);
    pyro_rest_begin(reading, "Properties", '{');
    if (execution != PYRO_NONE)
        pyro_rest_add_int_text(reading, "spark.sql.execution.id", execution);
    pyro_rest_add_raw(reading, "spark.job.description", values[DESCRIPTION]);
    pyro_rest_add_raw(reading, "spark.jobGroup.id", values[GROUP]);
    pyro_rest_end(reading, '}');
    return pyro_rest_line_end(reading);
}

static int compare_values(const void *left, const void *right)
{
    int64_t a = pyro_rest_int(((const struct pyro_slice *)left)[ID], 0),
            b = pyro_rest_int(((const struct pyro_slice *)right)[ID], 0);
    return (a > b) - (a < b);
}

struct job_values {
    struct pyro_slice values[job_keys_count];
};

typedef PYRO_VEC(struct job_values) job_values_vec;

static enum pyro_status write_jobs(struct pyro_rest_reading *reading, const job_values_vec *found)
{
    for (size_t i = 0; i < found->count; i++) {
        const struct pyro_slice *values = found->items[i].values;
        struct pyro_rest_job *job = pyro_vec_push(&reading->jobs, reading->source->allocator);
        if (!job)
            return pyro_rest_no_memory(reading);
        job->id = pyro_rest_int(values[ID], PYRO_NONE);
        job->failed = pyro_rest_is(values[STATUS], "FAILED");
        bool over = job->failed || pyro_rest_is(values[STATUS], "SUCCEEDED");
        job->completed_ms = over ? pyro_rest_time(values[COMPLETED]) : PYRO_NONE;
        if (!keep_stage_ids(reading, job, values[STAGE_IDS]))
            return pyro_rest_no_memory(reading);
        PYRO_TRY(write_start(reading, values, job));
    }
    return PYRO_OK;
}

enum pyro_status pyro_rest_read_jobs(struct pyro_rest_reading *reading)
{
    const struct pyro_allocator *allocator = reading->source->allocator;
    job_values_vec found = {0};
    struct pyro_json_reader json;
    PYRO_TRY(pyro_rest_get(reading, "jobs", &reading->body, &json));
    if (pyro_json_enter_array(&json))
        for (bool first = true; pyro_json_next_element(&json, &first);) {
            struct job_values *job = pyro_vec_push(&found, allocator);
            if (!job) {
                pyro_vec_done(&found, allocator);
                return pyro_rest_no_memory(reading);
            }
            if (!pyro_rest_take(&json, job_keys, job_keys_count, job->values) || pyro_rest_int(job->values[ID], -1) < 0)
                found.count--;
        }
    enum pyro_status status = pyro_rest_check(reading, "jobs", &json);
    if (found.count > 1)
        qsort(found.items, found.count, sizeof(*found.items), compare_values);
    if (status == PYRO_OK)
        status = write_jobs(reading, &found);
    /* Ids count up from 0: those that are not there were forgotten. */
    if (reading->jobs.count > 0) {
        uint64_t known = (uint64_t)reading->jobs.items[reading->jobs.count - 1].id + 1;
        reading->facts->lost_jobs = known > reading->jobs.count ? known - reading->jobs.count : 0;
    }
    pyro_vec_done(&found, allocator);
    return status;
}

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

static int compare_ends(const void *left, const void *right)
{
    const struct pyro_rest_job *a = left, *b = right;
    if (a->completed_ms != b->completed_ms)
        return a->completed_ms < b->completed_ms ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* A job fails with what its stage failed with. */
static struct pyro_slice failure_of(const struct pyro_rest_reading *reading, const struct pyro_rest_job *job)
{
    struct pyro_slice failure = PYRO_SLICE_NULL;
    int64_t newest = INT64_MIN;
    for (size_t k = 0; k < job->stage_count; k++) {
        int64_t id = reading->job_stages.items[job->first_stage + k];
        for (size_t i = pyro_rest_find_stage(reading, id); i < reading->stages.count; i++) {
            const struct pyro_rest_stage *stage = &reading->stages.items[i];
            if (stage->id != id)
                break;
            if (!stage->failure.ptr || stage->completed_ms < newest)
                continue;
            failure = stage->failure;
            newest = stage->completed_ms;
        }
    }
    return failure;
}

enum pyro_status pyro_rest_end_jobs(struct pyro_rest_reading *reading)
{
    if (reading->jobs.count > 1)
        qsort(reading->jobs.items, reading->jobs.count, sizeof(*reading->jobs.items), compare_ends);
    for (size_t i = 0; i < reading->jobs.count; i++) {
        const struct pyro_rest_job *job = &reading->jobs.items[i];
        if (job->completed_ms == PYRO_NONE)
            continue;
        pyro_rest_line(reading, "SparkListenerJobEnd");
        pyro_rest_add_int(reading, "Job ID", job->id);
        pyro_rest_add_time(reading, "Completion Time", job->completed_ms);
        if (job->failed) {
            pyro_rest_begin_failed_job(reading);
            pyro_rest_add_raw(reading, "Message", failure_of(reading, job));
            pyro_rest_end_failed_job(reading);
        } else {
            pyro_rest_add_succeeded_job(reading);
        }
        PYRO_TRY(pyro_rest_line_end(reading));
    }
    return PYRO_OK;
}
