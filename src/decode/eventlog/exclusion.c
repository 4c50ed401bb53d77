/* Executors and nodes that Spark keeps tasks away from: SparkListenerExecutorExcluded[ForStage],
 * NodeExcluded[ForStage], ExecutorUnexcluded, NodeUnexcluded, and the same as ...Blacklisted, which Spark 3.1 to 3.x
 * writes in addition. */
#include "base/strings/intern.h"
#include "decode/builder.h"
#include "decode/eventlog/decoders.h"

PYRO_JSON_KEYS(keys, (EVENT, "Event"), (TIME, "time"), (EXECUTOR, "executorId"), (TASK_FAILURES, "taskFailures"),
               (HOST, "hostId"), (EXECUTOR_FAILURES, "executorFailures"), (STAGE, "stageId"),
               (STAGE_ATTEMPT, "stageAttemptId"));
enum { LOOKED_BACK = 10000 }; /* exclusions among which one that ends is looked for */

static bool decode(struct pyro_json_reader *json, struct pyro_builder *builder, const char *kind,
                   struct pyro_exclusion *found)
{
    struct pyro_json_object object;
    pyro_row_init(PYRO_TABLE_exclusions, found);
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == TIME)
            pyro_json_take_int(json, &found->time_ms);
        else if (key == EXECUTOR || key == HOST)
            pyro_build_text(builder, json, &found->id);
        else if (key == TASK_FAILURES || key == EXECUTOR_FAILURES)
            pyro_json_take_int(json, &found->failures);
        else if (key == STAGE)
            pyro_json_take_int(json, &found->stage);
        else if (key == STAGE_ATTEMPT)
            pyro_json_take_int(json, &found->stage_attempt);
        else
            pyro_json_skip(json);
    }
    if (json->error || builder->failed)
        return false;
    found->kind = pyro_intern_slice(builder->app->strings, pyro_slice_from(kind));
    return true;
}

static bool same_exclusion(const struct pyro_exclusion *a, const struct pyro_exclusion *b)
{
    return pyro_slice_eq(a->id, b->id) && pyro_slice_eq(a->kind, b->kind) && a->stage == b->stage &&
           a->stage_attempt == b->stage_attempt;
}

static bool excluded(struct pyro_json_reader *json, struct pyro_builder *builder, const char *kind)
{
    struct pyro_exclusion found;
    if (!decode(json, builder, kind, &found))
        return false;
    if (!found.id.ptr)
        return true; /* counted, but of no use */
    /* The old and the new name of one exclusion follow each other. */
    size_t count = builder->app->exclusions.count;
    for (size_t i = count; i > 0 && count - i < 8; i--)
        if (same_exclusion(&builder->app->exclusions.items[i - 1], &found) &&
            builder->app->exclusions.items[i - 1].time_ms == found.time_ms)
            return true;
    struct pyro_exclusion *row = pyro_vec_push(&builder->app->exclusions, builder->allocator);
    if (row)
        *row = found;
    else
        builder->failed = true;
    return !builder->failed;
}

static bool unexcluded(struct pyro_json_reader *json, struct pyro_builder *builder, const char *kind)
{
    struct pyro_exclusion found;
    if (!decode(json, builder, kind, &found))
        return false;
    if (!found.id.ptr)
        return true; /* counted, but of no use */
    size_t count = builder->app->exclusions.count, oldest = count > LOOKED_BACK ? count - LOOKED_BACK : 0;
    for (size_t i = count; i-- > oldest;) {
        struct pyro_exclusion *row = &builder->app->exclusions.items[i];
        if (same_exclusion(row, &found)) {
            row->until_ms = row->until_ms == PYRO_NONE ? found.time_ms : row->until_ms;
            break;
        }
    }
    return true;
}

bool pyro_decode_executor_excluded(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    return excluded(json, builder, "executor");
}

bool pyro_decode_node_excluded(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    return excluded(json, builder, "node");
}

bool pyro_decode_executor_unexcluded(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    return unexcluded(json, builder, "executor");
}

bool pyro_decode_node_unexcluded(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    return unexcluded(json, builder, "node");
}
