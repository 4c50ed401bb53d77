/* DBCEventLoggingListenerMetadata, with which Databricks begins each file of an event log instead of LogStart. */
#include "decode/builder.h"
#include "decode/eventlog/decoders.h"

/* Files of one log are numbered from 0. One that comes again, or late, is not missing. */
static void take_rollover(struct pyro_builder *builder, int64_t number)
{
    enum { MOST = 1000000 }; /* more is not a number of files */
    if (number < 0 || number > MOST || (builder->rolled && number <= builder->rollover))
        return;
    builder->missing_rollovers += (uint64_t)(builder->rolled ? number - builder->rollover - 1 : number);
    builder->rollover = number;
    builder->rolled = true;
}

bool pyro_decode_databricks_metadata(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (ROLLOVER, "Rollover Number"), (SPARK_VERSION, "Spark Version"),
                   (TIMESTAMP, "Timestamp"), (CONTEXT_ID, "SparkContext Id"));
    struct pyro_json_object object;
    struct pyro_slice version = PYRO_SLICE_NULL;
    int64_t rollover = PYRO_NONE;
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == SPARK_VERSION)
            pyro_build_text(builder, json, &version);
        else if (key == ROLLOVER)
            pyro_json_take_int(json, &rollover);
        else
            pyro_json_skip(json);
    }
    if (json->error || builder->failed)
        return false;
    if (!builder->app->application.spark_version.len)
        builder->app->application.spark_version = version;
    if (rollover != PYRO_NONE)
        take_rollover(builder, rollover);
    builder->starts.log_line = builder->starts.line;
    builder->starts.log_part = builder->part_path;
    return true;
}
