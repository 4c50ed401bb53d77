/* SparkListenerJobStart, JobEnd. */
#include <stdlib.h>

#include "base/strings/intern.h"
#include "decode/builder.h"
#include "decode/eventlog/decoders.h"
#include "decode/eventlog/stage_info.h"

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool pyro_decode_id_list(struct pyro_json_reader *json, struct pyro_builder *builder, const int64_t **ids,
                         uint32_t *count)
{
    PYRO_VEC(int64_t) found = {0};
    if (!pyro_json_enter_array(json))
        return !json->error;
    for (bool first = true; pyro_json_next_element(json, &first);) {
        int64_t *id = pyro_vec_push(&found, builder->allocator);
        if (!id)
            builder->failed = true;
        if (!id || !pyro_json_take_int(json, id))
            break;
    }
    int64_t *kept = NULL;
    if (!json->error && !builder->failed && found.count && found.count < UINT32_MAX) {
        kept = pyro_string_pool_alloc(builder->app->strings, found.count * sizeof(*kept));
        builder->failed |= !kept;
    }
    if (kept) {
        memcpy(kept, found.items, found.count * sizeof(*kept));
        qsort(kept, found.count, sizeof(*kept), compare_ids);
        *ids = kept;
        *count = (uint32_t)found.count;
    }
    pyro_vec_done(&found, builder->allocator);
    return !json->error && !builder->failed;
}

static void decode_job_properties(struct pyro_json_reader *json, struct pyro_builder *builder, struct pyro_job *job)
{
    PYRO_JSON_KEYS(keys, (SQL, "spark.sql.execution.id"), (DESCRIPTION, "spark.job.description"),
                   (GROUP, "spark.jobGroup.id"), (POOL, "spark.scheduler.pool"), (TAGS, "spark.job.tags"));
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT_KNOWN(json, &object, keys)) != PYRO_JSON_END;) {
        if (pyro_json_peek(json) != '"')
            pyro_json_skip(json);
        else if (key == SQL)
            pyro_json_take_loose_int(json, &job->sql);
        else
            pyro_build_text(builder, json,
                            key == DESCRIPTION ? &job->description
                            : key == GROUP     ? &job->group_id
                            : key == TAGS      ? &job->tags
                                               : &job->pool);
    }
}

bool pyro_decode_job_start(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (JOB_ID, "Job ID"), (SUBMISSION_TIME, "Submission Time"),
                   (STAGE_INFOS, "Stage Infos"), (STAGE_IDS, "Stage IDs"), (PROPERTIES, "Properties"));
    struct pyro_job found;
    pyro_row_init(PYRO_TABLE_jobs, &found);
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        switch (key) {
        case JOB_ID:
            pyro_json_take_int(json, &found.id);
            break;
        case SUBMISSION_TIME:
            pyro_json_take_int(json, &found.submitted_ms);
            break;
        case STAGE_INFOS:
            pyro_json_skip_array_fast(json); /* each stage that runs says the same again */
            break;
        case STAGE_IDS:
            pyro_decode_id_list(json, builder, &found.stage_ids, &found.stage_id_count);
            break;
        case PROPERTIES:
            decode_job_properties(json, builder, &found);
            break;
        default:
            pyro_json_skip(json);
        }
    }
    if (!pyro_json_record_end(json) || builder->failed)
        return false;
    if (found.id == PYRO_NONE)
        return pyro_json_refuse(json, "the start of a job without its id");
    struct pyro_job *job = pyro_build_job(builder, found.id);
    if (!job)
        return false;
    builder->app->repeats.jobs += pyro_build_identity(builder, PYRO_IDENTITY_JOB_START, (uint64_t)found.id);
    /* Its end may have come before, where a log's lines are out of order. */
    found.status = job->status.ptr ? job->status : pyro_intern_slice(builder->app->strings, pyro_slice_from("running"));
    found.failure = job->failure;
    found.completed_ms = job->completed_ms;
    found.stages = (int64_t)found.stage_id_count;
    *job = found;
    pyro_build_scheduling_time(builder, job->submitted_ms);
    return !builder->failed;
}

static void decode_result(struct pyro_json_reader *json, struct pyro_builder *builder, struct pyro_slice *result,
                          struct pyro_slice *message)
{
    PYRO_JSON_KEYS(keys, (RESULT, "Result"), (EXCEPTION, "Exception"));
    PYRO_JSON_KEYS(exception_keys, (EXCEPTION_MESSAGE, "Message"));
    struct pyro_json_object object, exception;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == RESULT) {
            pyro_build_text(builder, json, result);
        } else if (key == EXCEPTION && pyro_json_enter_object(json, &exception)) {
            for (int member; (member = PYRO_JSON_NEXT(json, &exception, exception_keys)) != PYRO_JSON_END;) {
                if (member == EXCEPTION_MESSAGE)
                    pyro_build_text(builder, json, message);
                else
                    pyro_json_skip(json);
            }
        } else if (key != EXCEPTION) {
            pyro_json_skip(json);
        }
    }
}

bool pyro_decode_job_end(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (JOB_ID, "Job ID"), (COMPLETION_TIME, "Completion Time"),
                   (JOB_RESULT, "Job Result"));
    int64_t id = PYRO_NONE, completed_ms = PYRO_NONE;
    struct pyro_slice result = PYRO_SLICE_NULL, message = PYRO_SLICE_NULL;
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == JOB_ID)
            pyro_json_take_int(json, &id);
        else if (key == COMPLETION_TIME)
            pyro_json_take_int(json, &completed_ms);
        else if (key == JOB_RESULT)
            decode_result(json, builder, &result, &message);
        else
            pyro_json_skip(json);
    }
    if (json->error || builder->failed)
        return false;
    if (id == PYRO_NONE)
        return pyro_json_refuse(json, "the end of a job without its id");
    struct pyro_job *job = pyro_build_job(builder, id);
    if (!job)
        return false;
    bool known = result.ptr || message.ptr; /* an end that does not say how is not a failure */
    bool failed = known && !pyro_slice_is(result, "JobSucceeded");
    job->completed_ms = completed_ms;
    if (known)
        job->status = pyro_intern_slice(builder->app->strings, pyro_slice_from(failed ? "failed" : "succeeded"));
    job->failure = failed ? message : PYRO_SLICE_NULL;
    builder->last_job = pyro_job_end_join(builder->last_job, pyro_job_end_of(failed, message));
    pyro_build_scheduling_time(builder, completed_ms);
    bool repeated = pyro_build_identity(builder, PYRO_IDENTITY_JOB_END, (uint64_t)id);
    builder->app->repeats.failed_jobs += repeated && failed;
    struct pyro_failure *failure = failed ? pyro_build_failure(builder, "job") : NULL;
    if (failure) {
        failure->id = pyro_build_number(builder, id);
        failure->time_ms = completed_ms;
        failure->reason = result;
        failure->message = pyro_intern_slice(builder->app->strings, pyro_build_cut(message, 2000));
    }
    return !builder->failed;
}
