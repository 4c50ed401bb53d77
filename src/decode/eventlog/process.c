/* SparkListenerMiscellaneousProcessAdded: processes beside driver and executors, such as YARN's application master. */
#include "decode/builder.h"
#include "decode/eventlog/decoders.h"

static void decode_info(struct pyro_json_reader *json, struct pyro_builder *builder, struct pyro_process *found)
{
    PYRO_JSON_KEYS(keys, (HOST_PORT, "hostPort"), (CORES, "cores"), (LOG_URL_INFO, "logUrlInfo"));
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == HOST_PORT)
            pyro_build_text(builder, json, &found->host_port);
        else if (key == CORES)
            pyro_json_take_int(json, &found->cores);
        else
            pyro_json_skip(json);
    }
}

bool pyro_decode_process_added(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (TIME, "time"), (PROCESS_ID, "processId"), (INFO, "info"));
    struct pyro_process found;
    struct pyro_json_object object;
    pyro_row_init(PYRO_TABLE_processes, &found);
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == TIME)
            pyro_json_take_int(json, &found.added_ms);
        else if (key == PROCESS_ID)
            pyro_build_text(builder, json, &found.id);
        else if (key == INFO && pyro_json_peek(json) == '{')
            decode_info(json, builder, &found);
        else
            pyro_json_skip(json);
    }
    if (json->error || builder->failed)
        return false;
    struct pyro_process *row = pyro_vec_push(&builder->app->processes, builder->allocator);
    if (row)
        *row = found;
    else
        builder->failed = true;
    return !builder->failed;
}
