/* Structured Streaming: StreamingQueryListener$QueryProgressEvent, one a micro-batch. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/intern.h"
#include "decode/builder.h"
#include "decode/eventlog/decoders.h"

#define KEY PYRO_JSON_KEY

/* "2024-01-31T12:34:56.789Z" as epoch milliseconds, or PYRO_NONE. */
static int64_t parse_instant(struct pyro_slice text)
{
    char copy[32];
    int year, month, day, hour, minute, second, used = 0;
    if (!text.ptr || text.len >= sizeof(copy))
        return PYRO_NONE;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    if (sscanf(copy, "%4d-%2d-%2dT%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute, &second, &used) != 6)
        return PYRO_NONE;
    struct tm when = {.tm_year = year - 1900,
                      .tm_mon = month - 1,
                      .tm_mday = day,
                      .tm_hour = hour,
                      .tm_min = minute,
                      .tm_sec = second};
    int64_t millis = 0;
    if (copy[used] == '.')
        millis = strtol(copy + used + 1, NULL, 10) % 1000;
    return (int64_t)timegm(&when) * 1000 + millis;
}

static void decode_states(struct pyro_json *json, struct pyro_stream_batch *batch)
{
    static const struct pyro_json_key keys[] = {KEY("numRowsTotal"), KEY("memoryUsedBytes")};
    if (!pyro_json_enter_array(json))
        return;
    for (bool first = true; pyro_json_next_element(json, &first);) {
        struct pyro_json_object object;
        int64_t values[2] = {0, 0};
        if (!pyro_json_enter_object(json, &object))
            continue;
        for (int key; (key = pyro_json_next(json, &object, keys, 2)) != PYRO_JSON_END;) {
            if (key >= 0)
                pyro_json_take_int(json, &values[key]);
            else
                pyro_json_skip(json);
        }
        batch->state_rows =
            (int64_t)((uint64_t)(batch->state_rows == PYRO_NONE ? 0 : batch->state_rows) + (uint64_t)values[0]);
        batch->state_memory_bytes =
            (int64_t)((uint64_t)(batch->state_memory_bytes == PYRO_NONE ? 0 : batch->state_memory_bytes) +
                      (uint64_t)values[1]);
    }
}

static void decode_sources(struct pyro_json *json, struct pyro_stream_batch *batch)
{
    static const struct pyro_json_key keys[] = {
        KEY("numInputRows"),
        KEY("inputRowsPerSecond"),
        KEY("processedRowsPerSecond"),
    };
    if (!pyro_json_enter_array(json))
        return;
    for (bool first = true; pyro_json_next_element(json, &first);) {
        struct pyro_json_object object;
        int64_t rows = 0;
        double rates[2] = {NAN, NAN};
        if (!pyro_json_enter_object(json, &object))
            continue;
        for (int key; (key = pyro_json_next(json, &object, keys, 3)) != PYRO_JSON_END;) {
            char next = pyro_json_peek(json);
            if (key == 0)
                pyro_json_take_int(json, &rows);
            else if ((key == 1 || key == 2) && next != '"')
                pyro_json_take_double(json, &rates[key - 1]);
            else
                pyro_json_skip(json);
        }
        batch->input_rows =
            (int64_t)((uint64_t)(batch->input_rows == PYRO_NONE ? 0 : batch->input_rows) + (uint64_t)rows);
        if (!isnan(rates[0]))
            batch->input_rows_per_second =
                isnan(batch->input_rows_per_second) ? rates[0] : batch->input_rows_per_second + rates[0];
        if (!isnan(rates[1]))
            batch->processed_rows_per_second =
                isnan(batch->processed_rows_per_second) ? rates[1] : batch->processed_rows_per_second + rates[1];
    }
}

/* One integer or text of a small object. */
static void decode_one(struct pyro_json *json, struct pyro_builder *builder, const struct pyro_json_key *key_wanted,
                       int64_t *number, struct pyro_slice *text)
{
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = pyro_json_next(json, &object, key_wanted, 1)) != PYRO_JSON_END;) {
        if (key == 0 && number)
            pyro_json_take_int(json, number);
        else if (key == 0 && pyro_json_peek(json) == '"')
            pyro_build_text(builder, json, text);
        else
            pyro_json_skip(json);
    }
}

static void decode_progress(struct pyro_json *json, struct pyro_builder *builder, struct pyro_stream_batch *batch)
{
    static const struct pyro_json_key keys[] = {
        KEY("id"),         KEY("runId"),     KEY("name"),
        KEY("timestamp"),  KEY("batchId"),   KEY("batchDuration"),
        KEY("durationMs"), KEY("eventTime"), KEY("stateOperators"),
        KEY("sources"),
    };
    static const struct pyro_json_key trigger[] = {KEY("triggerExecution")}, watermark[] = {KEY("watermark")};
    struct pyro_slice text = PYRO_SLICE_NULL;
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = pyro_json_next(json, &object, keys, 10)) != PYRO_JSON_END;) {
        switch (key) {
        case 0:
            pyro_build_text(builder, json, &batch->query);
            break;
        case 1:
            pyro_build_text(builder, json, &batch->run);
            break;
        case 2:
            pyro_build_text(builder, json, &batch->name);
            break;
        case 3:
            text = PYRO_SLICE_NULL;
            pyro_build_text(builder, json, &text);
            batch->time_ms = parse_instant(text);
            break;
        case 4:
            pyro_json_take_int(json, &batch->batch);
            break;
        case 6:
            decode_one(json, builder, trigger, &batch->duration_ms, NULL);
            break;
        case 7:
            text = PYRO_SLICE_NULL;
            decode_one(json, builder, watermark, NULL, &text);
            batch->watermark_ms = parse_instant(text);
            break;
        case 8:
            decode_states(json, batch);
            break;
        case 9:
            decode_sources(json, batch);
            break;
        default:
            pyro_json_skip(json);
        }
    }
}

bool pyro_decode_query_progress(struct pyro_json *json, struct pyro_builder *builder)
{
    static const struct pyro_json_key keys[] = {KEY("Event"), KEY("progress")};
    struct pyro_stream_batch batch;
    struct pyro_json_object object;
    pyro_row_init(PYRO_TABLE_streams, &batch);
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = pyro_json_next(json, &object, keys, 2)) != PYRO_JSON_END;) {
        if (key == 1)
            decode_progress(json, builder, &batch);
        else
            pyro_json_skip(json);
    }
    if (json->error || builder->failed)
        return false;
    struct pyro_stream_batch *row = pyro_vec_push(&builder->app->streams, builder->allocator);
    if (row)
        *row = batch;
    else
        builder->failed = true;
    return !builder->failed;
}
