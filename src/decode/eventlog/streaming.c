/* Structured Streaming: StreamingQueryListener$QueryProgressEvent, one a micro-batch. */
#include <math.h>

#include "base/json/unescape.h"
#include "base/numbers/calendar.h"
#include "base/strings/intern.h"
#include "decode/builder.h"
#include "decode/eventlog/decoders.h"

/* "2024-01-31T12:34:56.789Z" as epoch milliseconds, or PYRO_NONE. */
static int64_t parse_instant(struct pyro_slice text)
{
    int64_t ms;
    bool zoned;
    return pyro_date_time_read(text, &ms, &zoned) > 0 ? ms : PYRO_NONE;
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

static void take_description(struct pyro_json_reader *json, struct pyro_builder *builder, struct pyro_slice *text)
{
    struct pyro_slice raw = PYRO_SLICE_NULL;
    if (pyro_json_take_string(json, &raw, NULL) && !text->ptr)
        *text = keep_text(builder, raw);
}

static void decode_states(struct pyro_json_reader *json, struct pyro_builder *builder, struct pyro_stream_batch *batch)
{
    PYRO_JSON_KEYS(keys, (OPERATOR_NAME, "operatorName"), (NUM_ROWS_TOTAL, "numRowsTotal"),
                   (NUM_ROWS_UPDATED, "numRowsUpdated"), (NUM_ROWS_REMOVED, "numRowsRemoved"),
                   (MEMORY_USED_BYTES, "memoryUsedBytes"),
                   (NUM_ROWS_DROPPED_BY_WATERMARK, "numRowsDroppedByWatermark"));
    int64_t *const sums[keys_count] = {[NUM_ROWS_TOTAL] = &batch->state_rows,
                                       [NUM_ROWS_UPDATED] = &batch->state_rows_updated,
                                       [NUM_ROWS_REMOVED] = &batch->state_rows_removed,
                                       [MEMORY_USED_BYTES] = &batch->state_memory_bytes,
                                       [NUM_ROWS_DROPPED_BY_WATERMARK] = &batch->dropped_rows};
    char names[200];
    size_t used = 0;
    if (!pyro_json_enter_array(json))
        return;
    for (bool first = true; pyro_json_next_element(json, &first);) {
        struct pyro_json_object object;
        struct pyro_slice name = PYRO_SLICE_NULL;
        int64_t values[keys_count];
        for (size_t i = 0; i < keys_count; i++)
            values[i] = PYRO_NONE;
        if (!pyro_json_enter_object(json, &object))
            continue;
        for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
            if (key >= 0 && sums[key])
                pyro_json_take_int(json, &values[key]);
            else if (key == OPERATOR_NAME && pyro_json_peek(json) == '"')
                pyro_json_take_string(json, &name, NULL);
            else
                pyro_json_skip(json);
        }
        for (size_t i = 0; i < keys_count; i++)
            if (sums[i])
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

static void decode_sources(struct pyro_json_reader *json, struct pyro_builder *builder, struct pyro_stream_batch *batch)
{
    PYRO_JSON_KEYS(keys, (NUM_INPUT_ROWS, "numInputRows"), (INPUT_ROWS_PER_SECOND, "inputRowsPerSecond"),
                   (PROCESSED_ROWS_PER_SECOND, "processedRowsPerSecond"), (DESCRIPTION, "description"));
    if (!pyro_json_enter_array(json))
        return;
    for (bool first = true; pyro_json_next_element(json, &first);) {
        struct pyro_json_object object;
        int64_t rows = 0;
        double input_rate = NAN, processed_rate = NAN;
        if (!pyro_json_enter_object(json, &object))
            continue;
        for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
            char next = pyro_json_peek(json);
            if (key == NUM_INPUT_ROWS)
                pyro_json_take_int(json, &rows);
            else if ((key == INPUT_ROWS_PER_SECOND || key == PROCESSED_ROWS_PER_SECOND) && next != '"')
                pyro_json_take_double(json, key == INPUT_ROWS_PER_SECOND ? &input_rate : &processed_rate);
            else if (key == DESCRIPTION && next == '"')
                take_description(json, builder, &batch->source);
            else
                pyro_json_skip(json);
        }
        batch->input_rows =
            (int64_t)((uint64_t)(batch->input_rows == PYRO_NONE ? 0 : batch->input_rows) + (uint64_t)rows);
        if (!isnan(input_rate))
            batch->input_rows_per_second =
                isnan(batch->input_rows_per_second) ? input_rate : batch->input_rows_per_second + input_rate;
        if (!isnan(processed_rate))
            batch->processed_rows_per_second = isnan(batch->processed_rows_per_second)
                                                   ? processed_rate
                                                   : batch->processed_rows_per_second + processed_rate;
    }
}

static void decode_durations(struct pyro_json_reader *json, struct pyro_stream_batch *batch)
{
    PYRO_JSON_KEYS(keys, (TRIGGER_EXECUTION, "triggerExecution"), (LATEST_OFFSET, "latestOffset"),
                   (GET_BATCH, "getBatch"), (QUERY_PLANNING, "queryPlanning"), (WAL_COMMIT, "walCommit"),
                   (ADD_BATCH, "addBatch"), (COMMIT_OFFSETS, "commitOffsets"));
    int64_t *const columns[keys_count] = {
        [TRIGGER_EXECUTION] = &batch->duration_ms,   [LATEST_OFFSET] = &batch->latest_offset_ms,
        [GET_BATCH] = &batch->get_batch_ms,          [QUERY_PLANNING] = &batch->query_planning_ms,
        [WAL_COMMIT] = &batch->wal_commit_ms,        [ADD_BATCH] = &batch->add_batch_ms,
        [COMMIT_OFFSETS] = &batch->commit_offsets_ms};
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key >= 0)
            pyro_json_take_int(json, columns[key]);
        else
            pyro_json_skip(json);
    }
}

static void decode_event_time(struct pyro_json_reader *json, struct pyro_stream_batch *batch)
{
    PYRO_JSON_KEYS(keys, (WATERMARK, "watermark"), (MAX, "max"));
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        struct pyro_slice text = PYRO_SLICE_NULL;
        if (key >= 0 && pyro_json_peek(json) == '"' && pyro_json_take_string(json, &text, NULL))
            *(key == WATERMARK ? &batch->watermark_ms : &batch->event_time_max_ms) = parse_instant(text);
        else if (key < 0 || pyro_json_peek(json) != '"')
            pyro_json_skip(json);
    }
}

static void decode_sink(struct pyro_json_reader *json, struct pyro_builder *builder, struct pyro_stream_batch *batch)
{
    PYRO_JSON_KEYS(keys, (DESCRIPTION, "description"));
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == DESCRIPTION && pyro_json_peek(json) == '"')
            take_description(json, builder, &batch->sink);
        else
            pyro_json_skip(json);
    }
}

static void decode_progress(struct pyro_json_reader *json, struct pyro_builder *builder,
                            struct pyro_stream_batch *batch)
{
    PYRO_JSON_KEYS(keys, (ID, "id"), (RUN_ID, "runId"), (NAME, "name"), (TIMESTAMP, "timestamp"), (BATCH_ID, "batchId"),
                   (BATCH_DURATION, "batchDuration"), (DURATION_MS, "durationMs"), (EVENT_TIME, "eventTime"),
                   (STATE_OPERATORS, "stateOperators"), (SOURCES, "sources"), (SINK, "sink"));
    struct pyro_slice text = PYRO_SLICE_NULL;
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        switch (key) {
        case ID:
            pyro_build_text(builder, json, &batch->query);
            break;
        case RUN_ID:
            pyro_build_text(builder, json, &batch->run);
            break;
        case NAME:
            pyro_build_text(builder, json, &batch->name);
            break;
        case TIMESTAMP:
            text = PYRO_SLICE_NULL;
            pyro_build_text(builder, json, &text);
            batch->time_ms = parse_instant(text);
            break;
        case BATCH_ID:
            pyro_json_take_int(json, &batch->batch);
            break;
        case DURATION_MS:
            decode_durations(json, batch);
            break;
        case EVENT_TIME:
            decode_event_time(json, batch);
            break;
        case STATE_OPERATORS:
            decode_states(json, builder, batch);
            break;
        case SOURCES:
            decode_sources(json, builder, batch);
            break;
        case SINK:
            decode_sink(json, builder, batch);
            break;
        default:
            pyro_json_skip(json);
        }
    }
}

bool pyro_decode_query_progress(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    PYRO_JSON_KEYS(keys, (EVENT, "Event"), (PROGRESS, "progress"));
    struct pyro_stream_batch batch;
    struct pyro_json_object object;
    pyro_row_init(PYRO_TABLE_streams, &batch);
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        if (key == PROGRESS)
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
