/* Structured Streaming: StreamingQueryListener$QueryProgressEvent, one a micro-batch. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/intern.h"
#include "base/text.h"
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

/* Counts come from the log: what is negative or too large is left out of sums. */
static void add_count(int64_t *sum, int64_t value)
{
    if (value == PYRO_NONE)
        return;
    if (*sum == PYRO_NONE)
        *sum = 0;
    if (value < 0 || __builtin_add_overflow(*sum, value, sum))
        *sum = value < 0 ? *sum : INT64_MAX;
}

/* The first 200 bytes of the text of a JSON string's raw contents. */
static struct pyro_slice keep_text(struct pyro_builder *builder, struct pyro_slice raw)
{
    struct pyro_slice kept = PYRO_SLICE_NULL;
    if (!raw.ptr)
        return kept;
    kept = pyro_intake_prefix(&builder->intake, pyro_build_scratch(builder, raw), 200, false);
    builder->failed |= !kept.ptr;
    return kept;
}

static void take_description(struct pyro_json *json, struct pyro_builder *builder, struct pyro_slice *text)
{
    struct pyro_slice raw = PYRO_SLICE_NULL;
    if (pyro_json_take_string(json, &raw, NULL) && !text->ptr)
        *text = keep_text(builder, raw);
}

static void decode_states(struct pyro_json *json, struct pyro_builder *builder, struct pyro_stream_batch *batch)
{
    static const struct pyro_json_key keys[] = {
        KEY("operatorName"),   KEY("numRowsTotal"),    KEY("numRowsUpdated"),
        KEY("numRowsRemoved"), KEY("memoryUsedBytes"), KEY("numRowsDroppedByWatermark"),
    };
    int64_t *const sums[] = {&batch->state_rows, &batch->state_rows_updated, &batch->state_rows_removed,
                             &batch->state_memory_bytes, &batch->dropped_rows};
    char names[200];
    size_t used = 0;
    if (!pyro_json_enter_array(json))
        return;
    for (bool first = true; pyro_json_next_element(json, &first);) {
        struct pyro_json_object object;
        struct pyro_slice name = PYRO_SLICE_NULL;
        int64_t values[5] = {PYRO_NONE, PYRO_NONE, PYRO_NONE, PYRO_NONE, PYRO_NONE};
        if (!pyro_json_enter_object(json, &object))
            continue;
        for (int key; (key = pyro_json_next(json, &object, keys, 6)) != PYRO_JSON_END;) {
            if (key > 0)
                pyro_json_take_int(json, &values[key - 1]);
            else if (key == 0 && pyro_json_peek(json) == '"')
                pyro_json_take_string(json, &name, NULL);
            else
                pyro_json_skip(json);
        }
        for (size_t i = 0; i < 5; i++)
            add_count(sums[i], values[i]);
        if (name.len > 0 && name.len + 2 <= sizeof(names) - used) {
            memcpy(names + used, ", ", used > 0 ? 2 : 0);
            used += used > 0 ? 2 : 0;
            memcpy(names + used, name.ptr, name.len);
            used += name.len;
        }
    }
    if (used > 0)
        batch->state_operators = keep_text(builder, (struct pyro_slice){names, used});
}

static void decode_sources(struct pyro_json *json, struct pyro_builder *builder, struct pyro_stream_batch *batch)
{
    static const struct pyro_json_key keys[] = {
        KEY("numInputRows"),
        KEY("inputRowsPerSecond"),
        KEY("processedRowsPerSecond"),
        KEY("description"),
    };
    if (!pyro_json_enter_array(json))
        return;
    for (bool first = true; pyro_json_next_element(json, &first);) {
        struct pyro_json_object object;
        int64_t rows = 0;
        double rates[2] = {NAN, NAN};
        if (!pyro_json_enter_object(json, &object))
            continue;
        for (int key; (key = pyro_json_next(json, &object, keys, 4)) != PYRO_JSON_END;) {
            char next = pyro_json_peek(json);
            if (key == 0)
                pyro_json_take_int(json, &rows);
            else if ((key == 1 || key == 2) && next != '"')
                pyro_json_take_double(json, &rates[key - 1]);
            else if (key == 3 && next == '"')
                take_description(json, builder, &batch->source);
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

static void decode_durations(struct pyro_json *json, struct pyro_stream_batch *batch)
{
    static const struct pyro_json_key keys[] = {
        KEY("triggerExecution"), KEY("latestOffset"), KEY("getBatch"),      KEY("queryPlanning"),
        KEY("walCommit"),        KEY("addBatch"),     KEY("commitOffsets"),
    };
    int64_t *const places[] = {&batch->duration_ms,       &batch->latest_offset_ms, &batch->get_batch_ms,
                               &batch->query_planning_ms, &batch->wal_commit_ms,    &batch->add_batch_ms,
                               &batch->commit_offsets_ms};
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = pyro_json_next(json, &object, keys, 7)) != PYRO_JSON_END;) {
        if (key >= 0)
            pyro_json_take_int(json, places[key]);
        else
            pyro_json_skip(json);
    }
}

static void decode_event_time(struct pyro_json *json, struct pyro_stream_batch *batch)
{
    static const struct pyro_json_key keys[] = {KEY("watermark"), KEY("max")};
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = pyro_json_next(json, &object, keys, 2)) != PYRO_JSON_END;) {
        struct pyro_slice text = PYRO_SLICE_NULL;
        if (key >= 0 && pyro_json_peek(json) == '"' && pyro_json_take_string(json, &text, NULL))
            *(key == 0 ? &batch->watermark_ms : &batch->event_time_max_ms) = parse_instant(text);
        else if (key < 0 || pyro_json_peek(json) != '"')
            pyro_json_skip(json);
    }
}

static void decode_sink(struct pyro_json *json, struct pyro_builder *builder, struct pyro_stream_batch *batch)
{
    static const struct pyro_json_key keys[] = {KEY("description")};
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = pyro_json_next(json, &object, keys, 1)) != PYRO_JSON_END;) {
        if (key == 0 && pyro_json_peek(json) == '"')
            take_description(json, builder, &batch->sink);
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
        KEY("sources"),    KEY("sink"),
    };
    struct pyro_slice text = PYRO_SLICE_NULL;
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = pyro_json_next(json, &object, keys, 11)) != PYRO_JSON_END;) {
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
            decode_durations(json, batch);
            break;
        case 7:
            decode_event_time(json, batch);
            break;
        case 8:
            decode_states(json, builder, batch);
            break;
        case 9:
            decode_sources(json, builder, batch);
            break;
        case 10:
            decode_sink(json, builder, batch);
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
