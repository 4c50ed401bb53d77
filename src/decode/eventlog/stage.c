/* SparkListenerStageSubmitted, StageCompleted, and the StageInfo inside them. */
#include "base/numbers/varint.h"
#include "base/strings/intern.h"
#include "decode/builder.h"
#include "decode/eventlog/decoders.h"
#include "decode/eventlog/keys.h"
#include "decode/eventlog/rdd_info.h"
#include "decode/eventlog/stage_info.h"
#include "model/failure_kinds.h"

/* Totals of SQL metrics: the driver's sum over the tasks so far, so that the newest value counts. Spark calls them
 * internal, as it does the task metrics, which the tasks' own records give. Their ids go to the scratch buffer. */
static void decode_accumulables(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    int64_t last = 0;
    pyro_strbuf_clear(&builder->scratch);
    if (!pyro_json_enter_array(json))
        return;
    for (bool first = true; pyro_json_next_element(json, &first);) {
        struct pyro_json_object object;
        struct pyro_slice metadata = PYRO_SLICE_NULL;
        int64_t id = PYRO_NONE, value = PYRO_NONE;
        bool internal = false;
        if (!pyro_json_enter_object(json, &object))
            continue;
        for (int key; (key = PYRO_JSON_NEXT(json, &object, accumulable_keys)) != PYRO_JSON_END;) {
            char next = pyro_json_peek(json);
            if (key == ACCUMULABLE_ID)
                pyro_json_take_int(json, &id);
            else if (key == ACCUMULABLE_VALUE && (next == '"' || next == '-' || (next >= '0' && next <= '9')))
                pyro_json_take_loose_int(json, &value);
            else if (key == ACCUMULABLE_INTERNAL)
                pyro_json_take_bool(json, &internal);
            else if (key == ACCUMULABLE_METADATA && next == '"')
                pyro_json_take_string(json, &metadata, NULL);
            else
                pyro_json_skip(json);
        }
        if (json->error || (internal && !pyro_slice_is(metadata, "sql")) || id == PYRO_NONE || value == PYRO_NONE)
            continue;
        int64_t *place = pyro_value_map_put(&builder->accumulators, id);
        if (place)
            *place = value;
        pyro_varint_put(&builder->scratch, &last, id);
        builder->failed |= !place || builder->scratch.failed;
    }
}

PYRO_JSON_KEYS(info_keys, (INFO_ID, "Stage ID"), (INFO_ATTEMPT, "Stage Attempt ID"), (INFO_NAME, "Stage Name"),
               (INFO_PARTITIONS, "Number of Tasks"), (INFO_RDDS, "RDD Info"), (INFO_PARENTS, "Parent IDs"),
               (INFO_DETAILS, "Details"), (INFO_SUBMITTED, "Submission Time"), (INFO_COMPLETED, "Completion Time"),
               (INFO_FAILURE, "Failure Reason"), (INFO_ACCUMULABLES, "Accumulables"),
               (INFO_PROFILE, "Resource Profile Id"), (INFO_PUSHES, "Shuffle Push Enabled"),
               (INFO_MERGERS, "Shuffle Push Mergers Count"));

/* What one event says of a stage; the two texts as written, to be read when the stage is known. */
struct stage_info {
    struct pyro_stage row;
    struct pyro_slice details, rdds, accumulables;
    bool pushes;
    int64_t mergers; /* shuffle services */
};

/* Arrays are taken aside as text and read when the record has been found to be whole. Spark 1.0 has one RDD here. */
static void take_array(struct pyro_json_reader *json, struct pyro_slice *text)
{
    if (pyro_json_peek(json) != '[') {
        pyro_json_take_raw(json, text);
        return;
    }
    const char *start = json->at;
    if (pyro_json_skip_array_fast(json))
        *text = (struct pyro_slice){start, (size_t)(json->at - start)};
}

static void decode_member(struct pyro_json_reader *json, struct pyro_builder *builder, struct stage_info *info, int key)
{
    struct pyro_stage *found = &info->row;
    switch (key) {
    case INFO_ID:
        pyro_json_take_int(json, &found->id);
        break;
    case INFO_ATTEMPT:
        pyro_json_take_int(json, &found->attempt);
        break;
    case INFO_NAME:
        pyro_build_text(builder, json, &found->name);
        break;
    case INFO_PARTITIONS:
        pyro_json_take_int(json, &found->partitions);
        break;
    case INFO_RDDS:
        take_array(json, &info->rdds);
        break;
    case INFO_PARENTS:
        pyro_decode_id_list(json, builder, &found->parent_ids, &found->parent_count);
        break;
    case INFO_DETAILS:
        pyro_json_take_string(json, &info->details, NULL);
        break;
    case INFO_SUBMITTED:
        pyro_json_take_int(json, &found->submitted_ms);
        break;
    case INFO_COMPLETED:
        pyro_json_take_int(json, &found->completed_ms);
        break;
    case INFO_FAILURE:
        pyro_build_text(builder, json, &found->failure);
        break;
    case INFO_ACCUMULABLES:
        take_array(json, &info->accumulables);
        break;
    case INFO_PROFILE:
        pyro_json_take_int(json, &found->resource_profile);
        break;
    case INFO_PUSHES:
        pyro_json_take_bool(json, &info->pushes);
        break;
    case INFO_MERGERS:
        pyro_json_take_int(json, &info->mergers);
        break;
    default:
        pyro_json_skip(json);
    }
}

static void decode_info(struct pyro_json_reader *json, struct pyro_builder *builder, struct stage_info *info)
{
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, info_keys)) != PYRO_JSON_END;)
        decode_member(json, builder, info, key);
    info->row.merges_shuffle = info->pushes && info->mergers > 0;
}

static void init_info(struct stage_info *info)
{
    *info = (struct stage_info){0};
    pyro_row_init(PYRO_TABLE_stages, &info->row);
    info->row.attempt = 0; /* Spark 1.x before 1.3 has none */
}

/* What the other event of this attempt said stays where this one is silent. */
static void merge(struct pyro_stage *stage, const struct pyro_stage *found)
{
#define KEEP_INT(column)                                                                                               \
    if (found->column != PYRO_NONE)                                                                                    \
    stage->column = found->column
#define KEEP_TEXT(column)                                                                                              \
    if (found->column.ptr)                                                                                             \
    stage->column = found->column
    KEEP_TEXT(name);
    KEEP_TEXT(failure);
    KEEP_INT(partitions);
    KEEP_INT(submitted_ms);
    KEEP_INT(completed_ms);
    KEEP_INT(resource_profile);
    stage->merges_shuffle |= found->merges_shuffle;
    stage->barrier |= pyro_slice_starts_with(found->failure, PYRO_BARRIER_FAILURE);
#undef KEEP_INT
#undef KEEP_TEXT
    if (found->parent_ids) {
        stage->parent_ids = found->parent_ids;
        stage->parent_count = found->parent_count;
    }
}

/* What the scratch buffer holds after decode_accumulables(). */
static bool keep_accumulators(struct pyro_builder *builder, struct pyro_stage *stage)
{
    size_t len = builder->scratch.len;
    if (len == 0)
        return true;
    char *kept = pyro_string_pool_alloc(builder->app->strings, len);
    if (!kept)
        return !(builder->failed = true);
    memcpy(kept, builder->scratch.data, len);
    stage->accumulators = (struct pyro_slice){kept, len};
    return true;
}

/* The stage's row after a whole record; NULL and an error when the record or one of its arrays is bad. */
static struct pyro_stage *apply_info(struct pyro_json_reader *json, struct pyro_builder *builder,
                                     const struct stage_info *info, bool submission)
{
    if (!pyro_json_record_end(json) || builder->failed)
        return NULL;
    if (info->row.id == PYRO_NONE) {
        pyro_json_refuse(json, "an event of a stage without its id");
        return NULL;
    }
    struct pyro_stage *stage = pyro_build_stage(builder, info->row.id, info->row.attempt);
    if (!stage)
        return NULL;
    /* Both events of an attempt name the same RDDs and the same call stack. */
    bool first = submission || stage->unsubmitted;
    struct pyro_json_reader inside;
    pyro_json_reader_start(&inside, info->rdds.ptr, info->rdds.ptr ? info->rdds.ptr + info->rdds.len : NULL,
                           json->scan);
    if (first && info->rdds.ptr && !pyro_decode_rdds(&inside, builder, stage, submission) && inside.error)
        pyro_json_fail(json, inside.error);
    pyro_json_reader_start(&inside, info->accumulables.ptr,
                           info->accumulables.ptr ? info->accumulables.ptr + info->accumulables.len : NULL, json->scan);
    if (info->accumulables.ptr)
        decode_accumulables(&inside, builder);
    if (inside.error)
        pyro_json_fail(json, inside.error);
    if (json->error || builder->failed || (info->accumulables.ptr && !keep_accumulators(builder, stage)))
        return NULL;
    merge(stage, &info->row);
    if (first || !stage->call_site.ptr)
        stage->call_site = pyro_build_call_site(builder, info->details, stage->name);
    pyro_build_scheduling_time(builder, stage->submitted_ms);
    pyro_build_scheduling_time(builder, stage->completed_ms);
    return stage;
}

bool pyro_decode_stage_submitted(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (STAGE_INFO, "Stage Info"), (PROPERTIES, "Properties"));
    PYRO_JSON_KEYS(property_keys, (PROPERTY_POOL, "spark.scheduler.pool"));
    struct stage_info info;
    struct pyro_slice pool = PYRO_SLICE_NULL;
    struct pyro_json_object object, properties;
    init_info(&info);
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == STAGE_INFO) {
            decode_info(json, builder, &info);
        } else if (key != PROPERTIES) {
            pyro_json_skip(json);
        } else if (pyro_json_enter_object(json, &properties)) {
            while (PYRO_JSON_NEXT_KNOWN(json, &properties, property_keys) != PYRO_JSON_END) {
                if (pyro_json_peek(json) == '"')
                    pyro_build_text(builder, json, &pool);
                else
                    pyro_json_skip(json);
            }
        }
    }
    struct pyro_stage *stage = apply_info(json, builder, &info, true);
    if (!stage)
        return false;
    stage->unsubmitted = false;
    stage->pool = pool;
    if (!stage->status.ptr)
        stage->status = pyro_intern_slice(builder->app->strings, pyro_slice_from("running"));
    builder->app->repeats.stages += pyro_build_stage_event(builder, stage, false);
    return !builder->failed;
}

bool pyro_decode_stage_completed(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (STAGE_INFO, "Stage Info"));
    struct stage_info info;
    struct pyro_json_object object;
    init_info(&info);
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == STAGE_INFO)
            decode_info(json, builder, &info);
        else
            pyro_json_skip(json);
    }
    struct pyro_stage *stage = apply_info(json, builder, &info, false);
    if (!stage)
        return false;
    stage->status =
        pyro_intern_slice(builder->app->strings, pyro_slice_from(stage->failure.ptr ? "failed" : "succeeded"));
    bool repeated = pyro_build_stage_event(builder, stage, true);
    builder->app->repeats.failed_stages += repeated && stage->failure.ptr;
    struct pyro_failure *failure = stage->failure.ptr ? pyro_build_failure(builder, "stage") : NULL;
    if (failure) {
        pyro_strbuf_clear(&builder->scratch);
        pyro_strbuf_printf(&builder->scratch, "%lld.%lld", (long long)stage->id, (long long)stage->attempt);
        failure->id = pyro_intern_slice(builder->app->strings, pyro_strbuf_slice(&builder->scratch));
        failure->stage = stage->id;
        failure->time_ms = stage->completed_ms;
        failure->message = pyro_intern_slice(builder->app->strings, pyro_build_cut(stage->failure, 2000));
    }
    return !builder->failed;
}
