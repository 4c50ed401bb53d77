/* Stages: what they are, which others they seem to wait for, and their tasks in between. */
#include <stdlib.h>

#include "decode/rest/rest_reading.h"

enum { STAGES_LOOKED_AT = 1000 };

PYRO_JSON_KEYS(stage_keys, (STATUS, "status"), (ID, "stageId"), (ATTEMPT, "attemptId"), (PARTITIONS, "numTasks"),
               (ACTIVE, "numActiveTasks"), (COMPLETE, "numCompleteTasks"), (FAILED, "numFailedTasks"),
               (KILLED, "numKilledTasks"), (SUBMITTED, "submissionTime"), (COMPLETED, "completionTime"),
               (FAILURE, "failureReason"), (READ_BYTES, "shuffleReadBytes"), (WRITE_BYTES, "shuffleWriteBytes"),
               (NAME, "name"), (DESCRIPTION, "description"), (DETAILS, "details"), (POOL, "schedulingPool"),
               (RDDS, "rddIds"), (PROFILE, "resourceProfileId"));

static int compare_stages(const void *left, const void *right)
{
    const struct pyro_rest_stage *a = left, *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->attempt > b->attempt) - (a->attempt < b->attempt);
}

static uint64_t count_of(struct pyro_slice value)
{
    int64_t count = pyro_rest_int(value, 0);
    return count > 0 && count < INT32_MAX ? (uint64_t)count : 0;
}

static bool keep_stage(struct pyro_rest_reading *reading, const struct pyro_slice *values)
{
    int64_t id = pyro_rest_int(values[ID], PYRO_NONE);
    int64_t submitted_ms = pyro_rest_time(values[SUBMITTED]);
    /* Those that were skipped, or wait for others, were not submitted. One that ran may have no time that can be. */
    if (id < 0 || pyro_rest_is(values[STATUS], "SKIPPED") || pyro_rest_is(values[STATUS], "PENDING"))
        return true;
    uint64_t tasks =
        count_of(values[ACTIVE]) + count_of(values[COMPLETE]) + count_of(values[FAILED]) + count_of(values[KILLED]);
    if (submitted_ms == PYRO_NONE && tasks == 0)
        return true;
    struct pyro_rest_stage *stage = pyro_vec_push(&reading->stages, reading->source->allocator);
    if (!stage)
        return false;
    bool over = pyro_rest_is(values[STATUS], "COMPLETE") || pyro_rest_is(values[STATUS], "FAILED");
    *stage = (struct pyro_rest_stage){
        .id = id,
        .attempt = pyro_rest_int(values[ATTEMPT], 0),
        .submitted_ms = submitted_ms,
        .completed_ms = over ? pyro_rest_time(values[COMPLETED]) : PYRO_NONE,
        .over = over,
        .shuffle_read_bytes = pyro_rest_int(values[READ_BYTES], 0),
        .shuffle_write_bytes = pyro_rest_int(values[WRITE_BYTES], 0),
        .tasks = tasks,
        .failed_tasks = count_of(values[FAILED]),
        .name = values[NAME],
        .details = values[DETAILS],
        .description = values[DESCRIPTION],
        .failure = values[FAILURE],
        .partitions = values[PARTITIONS],
        .profile = values[PROFILE],
        .pool = values[POOL],
        .rdds = values[RDDS],
    };
    if (!stage->failure.ptr && pyro_rest_is(values[STATUS], "FAILED"))
        stage->failure = PYRO_SLICE_LITERAL("\"the server does not say why\"");
    return true;
}

enum pyro_status pyro_rest_list_stages(struct pyro_rest_reading *reading)
{
    struct pyro_json_reader json;
    int64_t newest = -1;
    uint64_t listed = 0;
    PYRO_TRY(pyro_rest_get(reading, "stages", &reading->stages_body, &json));
    if (pyro_json_enter_array(&json))
        for (bool first = true; pyro_json_next_element(&json, &first);) {
            struct pyro_slice values[stage_keys_count];
            if (!pyro_rest_take(&json, stage_keys, stage_keys_count, values))
                continue;
            if (!keep_stage(reading, values))
                return pyro_rest_no_memory(reading);
            int64_t id = pyro_rest_int(values[ID], -1);
            listed += pyro_rest_int(values[ATTEMPT], 0) == 0;
            newest = id > newest ? id : newest;
        }
    PYRO_TRY(pyro_rest_check(reading, "stages", &json));
    if (reading->stages.count > 1)
        qsort(reading->stages.items, reading->stages.count, sizeof(*reading->stages.items), compare_stages);
    if (newest >= 0 && (uint64_t)newest + 1 > listed)
        reading->facts->lost_stages = (uint64_t)newest + 1 - listed;
    return PYRO_OK;
}

/* ---- Parents ----------------------------------------------------------------------------------------------------- */

size_t pyro_rest_find_stage(const struct pyro_rest_reading *reading, int64_t id)
{
    size_t low = 0, high = reading->stages.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (reading->stages.items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first job that has a stage is the one that ran it. */
static void give_jobs(struct pyro_rest_reading *reading)
{
    for (size_t i = 0; i < reading->jobs.count; i++) {
        const struct pyro_rest_job *job = &reading->jobs.items[i];
        for (size_t k = 0; k < job->stage_count; k++) {
            int64_t id = reading->job_stages.items[job->first_stage + k];
            for (size_t row = pyro_rest_find_stage(reading, id);
                 row < reading->stages.count && reading->stages.items[row].id == id && !reading->stages.items[row].job;
                 row++)
                reading->stages.items[row].job = job;
        }
    }
}

/* A stage is submitted as soon as its parents have ended. It is taken to read the shuffles that its job's earlier
 * stages had written by then and that no other stage was taken to read. */
static void add_parents(struct pyro_rest_reading *reading, const struct pyro_rest_stage *stage)
{
    const struct pyro_rest_job *job = stage->shuffle_read_bytes > 0 ? stage->job : NULL;
    size_t row = (size_t)(stage - reading->stages.items);
    pyro_rest_begin(reading, "Parent IDs", '[');
    for (size_t looked = 0; job && row-- > 0 && looked < STAGES_LOOKED_AT; looked++) {
        struct pyro_rest_stage *other = &reading->stages.items[row];
        if (other->job != job || other->id == stage->id || other->consumed || other->completed_ms == PYRO_NONE ||
            other->completed_ms > stage->submitted_ms || other->shuffle_write_bytes <= 0)
            continue;
        other->consumed = true;
        pyro_compact_int(&reading->lines, NULL, other->id);
    }
    pyro_rest_end(reading, ']');
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static void add_rdds(struct pyro_rest_reading *reading, const struct pyro_rest_stage *stage)
{
    struct pyro_json_reader json;
    pyro_rest_begin(reading, "RDD Info", '[');
    pyro_rest_start(&json, stage->rdds);
    if (stage->rdds.ptr && reading->rdds.count > 0 && pyro_json_enter_array(&json))
        for (bool first = true; pyro_json_next_element(&json, &first);) {
            int64_t id = PYRO_NONE;
            pyro_json_take_int(&json, &id);
            const struct pyro_rest_rdd wanted = {.id = id};
            const struct pyro_rest_rdd *rdd =
                bsearch(&wanted, reading->rdds.items, reading->rdds.count, sizeof(wanted), pyro_rest_compare_rdds);
            if (!rdd)
                continue;
            pyro_compact_json(&reading->lines, NULL,
                              (struct pyro_slice){reading->rdd_texts.data + rdd->begin, rdd->len});
        }
    pyro_rest_end(reading, ']');
}

static void add_info(struct pyro_rest_reading *reading, const struct pyro_rest_stage *stage, bool submission)
{
    pyro_rest_begin(reading, "Stage Info", '{');
    pyro_rest_add_int(reading, "Stage ID", stage->id);
    pyro_rest_add_int(reading, "Stage Attempt ID", stage->attempt);
    pyro_rest_add_raw(reading, "Stage Name", stage->name);
    pyro_rest_add_raw(reading, "Number of Tasks", stage->partitions);
    if (submission) {
        add_rdds(reading, stage);
        add_parents(reading, stage);
        pyro_rest_add_raw(reading, "Details", stage->details);
    }
    pyro_rest_add_time(reading, "Submission Time", stage->submitted_ms);
    if (!submission) {
        pyro_rest_add_time(reading, "Completion Time", stage->completed_ms);
        pyro_rest_add_raw(reading, "Failure Reason", stage->failure);
    }
    pyro_rest_add_raw(reading, "Resource Profile Id", stage->profile);
}

static enum pyro_status write_submitted(struct pyro_rest_reading *reading, const struct pyro_rest_stage *stage)
{
    pyro_rest_line(reading, "SparkListenerStageSubmitted");
    add_info(reading, stage, true);
    pyro_rest_end(reading, '}');
    pyro_rest_begin(reading, "Properties", '{');
    pyro_rest_add_raw(reading, "spark.scheduler.pool", stage->pool);
    pyro_rest_end(reading, '}');
    return pyro_rest_line_end(reading);
}

static void add_metrics(struct pyro_rest_reading *reading, const struct pyro_rest_stage *stage)
{
    size_t low = 0, high = reading->metrics.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct pyro_rest_stage_metric *metric = &reading->metrics.items[middle];
        if (metric->stage < stage->id || (metric->stage == stage->id && metric->attempt < stage->attempt))
            low = middle + 1;
        else
            high = middle;
    }
    pyro_rest_begin(reading, "Accumulables", '[');
    for (; low < reading->metrics.count; low++) {
        const struct pyro_rest_stage_metric *metric = &reading->metrics.items[low];
        if (metric->stage != stage->id || metric->attempt != stage->attempt)
            break;
        pyro_rest_begin(reading, NULL, '{');
        pyro_rest_add_int(reading, "ID", metric->accumulator);
        pyro_rest_add_int_text(reading, "Value", metric->value);
        pyro_compact_bool(&reading->lines, "Internal", true);
        pyro_compact_bool(&reading->lines, "Count Failed Values", true);
        pyro_compact_string(&reading->lines, "Metadata", "sql");
        pyro_rest_end(reading, '}');
    }
    pyro_rest_end(reading, ']');
}

enum pyro_status pyro_rest_read_stages(struct pyro_rest_reading *reading)
{
    give_jobs(reading);
    for (size_t i = 0; i < reading->stages.count; i++) {
        const struct pyro_rest_stage *stage = &reading->stages.items[i];
        PYRO_TRY(write_submitted(reading, stage));
        PYRO_TRY(pyro_rest_read_tasks(reading, stage));
        if (!stage->over)
            continue;
        pyro_rest_line(reading, "SparkListenerStageCompleted");
        add_info(reading, stage, false);
        add_metrics(reading, stage);
        pyro_rest_end(reading, '}');
        PYRO_TRY(pyro_rest_line_end(reading));
    }
    return PYRO_OK;
}
