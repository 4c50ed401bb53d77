/* SparkListenerMiscellaneousProcessAdded: processes beside driver and executors, such as YARN's application master. */
#include "decode/builder.h"
#include "decode/eventlog/decoders.h"

static void decode_info(struct pyro_json *json, struct pyro_builder *builder, struct pyro_process *found)
{
    static const struct pyro_json_key keys[] = {
        PYRO_JSON_KEY("hostPort"),
        PYRO_JSON_KEY("cores"),
        PYRO_JSON_KEY("logUrlInfo"),
    };
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = pyro_json_next(json, &object, keys, 3)) != PYRO_JSON_END;) {
        if (key == 0)
            pyro_build_text(builder, json, &found->host_port);
        else if (key == 1)
            pyro_json_take_int(json, &found->cores);
        else
            pyro_json_skip(json);
    }
}

bool pyro_decode_process_added(struct pyro_json *json, struct pyro_builder *builder)
{
    static const struct pyro_json_key keys[] = {
        PYRO_JSON_KEY("Event"),
        PYRO_JSON_KEY("time"),
        PYRO_JSON_KEY("processId"),
        PYRO_JSON_KEY("info"),
    };
    struct pyro_process found;
    struct pyro_json_object object;
    pyro_row_init(PYRO_TABLE_processes, &found);
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = pyro_json_next(json, &object, keys, 4)) != PYRO_JSON_END;) {
        if (key == 1)
            pyro_json_take_int(json, &found.added_ms);
        else if (key == 2)
            pyro_build_text(builder, json, &found.id);
        else if (key == 3 && pyro_json_peek(json) == '{')
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
