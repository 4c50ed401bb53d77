/* SQL metrics of single tasks, for those who ask for them. */
#include "base/numbers/saturate.h"
#include "decode/eventlog/keys.h"
#include "decode/eventlog/task_events.h"

/* Users' accumulators may hold fractions, which are none of SQL's business. */
static void take_update(struct pyro_json_reader *json, int64_t *update)
{
    const struct pyro_json_reader before = *json;
    if (pyro_json_take_loose_int(json, update) || before.error)
        return;
    *json = before;
    pyro_json_skip(json);
}

/* What the task added to one accumulator; Spark writes SQL metrics as texts and calls them internal. */
static void decode_one(struct pyro_json_reader *json, struct pyro_strbuf *metrics, int64_t *last)
{
    struct pyro_json_object object;
    struct pyro_slice metadata = PYRO_SLICE_NULL;
    int64_t id = PYRO_NONE, update = PYRO_NONE;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, accumulable_keys)) != PYRO_JSON_END;) {
        char next = pyro_json_peek(json);
        if (key == ACCUMULABLE_ID)
            pyro_json_take_int(json, &id);
        else if (key == ACCUMULABLE_UPDATE && (next == '"' || next == '-' || (next >= '0' && next <= '9')))
            take_update(json, &update);
        else if (key == ACCUMULABLE_METADATA && next == '"')
            pyro_json_take_string(json, &metadata, NULL);
        else
            pyro_json_skip(json);
    }
    if (!json->error && pyro_slice_is(metadata, "sql") && id != PYRO_NONE && update != PYRO_NONE)
        pyro_task_metric_put(metrics, last, id, update);
}

void pyro_decode_task_metrics(struct pyro_json_reader *json, struct pyro_strbuf *metrics)
{
    int64_t last = 0;
    if (!pyro_json_enter_array(json))
        return;
    for (bool first = true; pyro_json_next_element(json, &first);)
        decode_one(json, metrics, &last);
}

static int64_t photon_bytes_of(struct pyro_json_reader *json)
{
    struct pyro_json_object object;
    struct pyro_slice name = PYRO_SLICE_NULL;
    int64_t update = PYRO_NONE;
    if (!pyro_json_enter_object(json, &object))
        return 0;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, accumulable_keys)) != PYRO_JSON_END;) {
        char next = pyro_json_peek(json);
        if (key == ACCUMULABLE_UPDATE && (next == '"' || next == '-' || (next >= '0' && next <= '9')))
            take_update(json, &update);
        else if (key == ACCUMULABLE_NAME && next == '"')
            pyro_json_take_string(json, &name, NULL);
        else
            pyro_json_skip(json);
    }
    return !json->error && update > 0 && pyro_slice_find(name, "peak memory usage") ? update : 0;
}

int64_t pyro_decode_photon_memory(struct pyro_json_reader *json)
{
    int64_t sum = 0;
    if (!pyro_json_enter_array(json))
        return 0;
    for (bool first = true; pyro_json_next_element(json, &first);)
        sum = pyro_add_saturating(sum, photon_bytes_of(json));
    return json->error ? 0 : sum;
}
