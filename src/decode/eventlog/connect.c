/* Spark Connect: the life of an operation, SparkListenerConnectOperationStarted to ...Closed. */
#include "base/strings/intern.h"
#include "decode/builder.h"
#include "decode/eventlog/decoders.h"

enum { STATEMENT_BYTES = 2000 };

/* What one event says of an operation. */
struct step {
    struct pyro_slice id, session, user, statement, failure;
    int64_t time_ms, rows;
};

PYRO_JSON_KEYS(keys, (EVENT, "Event"), (JOB_TAG, "jobTag"), (OPERATION, "operationId"), (TIME, "eventTime"),
               (SESSION, "sessionId"), (USER, "userId"), (STATEMENT, "statementText"), (FAILURE, "errorMessage"),
               (ROWS, "producedRowCount"));

static void decode_statement(struct pyro_json_reader *json, struct pyro_builder *builder, struct pyro_slice *text)
{
    pyro_build_text(builder, json, text);
    if (text->ptr)
        *text = pyro_intern_slice(builder->app->strings, pyro_build_cut(*text, STATEMENT_BYTES));
}

static bool decode(struct pyro_json_reader *json, struct pyro_builder *builder, struct step *step)
{
    struct pyro_json_object object;
    *step = (struct step){.time_ms = PYRO_NONE, .rows = PYRO_NONE};
    if (!pyro_json_enter_object(json, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;) {
        switch (key) {
        case OPERATION:
            pyro_build_text(builder, json, &step->id);
            break;
        case TIME:
            pyro_json_take_int(json, &step->time_ms);
            break;
        case SESSION:
            pyro_build_text(builder, json, &step->session);
            break;
        case USER:
            pyro_build_text(builder, json, &step->user);
            break;
        case STATEMENT:
            decode_statement(json, builder, &step->statement);
            break;
        case FAILURE:
            pyro_build_text(builder, json, &step->failure);
            break;
        case ROWS:
            pyro_json_take_int(json, &step->rows);
            break;
        default:
            pyro_json_skip(json);
        }
    }
    if (json->error || builder->failed)
        return false;
    return true;
}

/* NULL: no memory, or an event without an id, which is counted and of no use. */
static struct pyro_operation *find_operation(struct pyro_builder *builder, struct pyro_slice id)
{
    if (!id.ptr)
        return NULL;
    uint64_t *row = pyro_map_put(&builder->operations, pyro_intern(builder->app->strings, id), NULL);
    if (row && *row == 0) {
        struct pyro_operation *added = pyro_vec_push(&builder->app->operations, builder->allocator);
        if (added) {
            pyro_row_init(PYRO_TABLE_operations, added);
            added->id = id;
            added->status = pyro_intern_slice(builder->app->strings, pyro_slice_from("running"));
            *row = builder->app->operations.count;
        }
    }
    builder->failed |= !row || *row == 0;
    return builder->failed ? NULL : &builder->app->operations.items[*row - 1];
}

bool pyro_decode_operation_started(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    struct step step;
    struct pyro_operation *row = decode(json, builder, &step) ? find_operation(builder, step.id) : NULL;
    if (!row)
        return !json->error && !builder->failed;
    row->session = step.session;
    row->user = step.user;
    row->statement = step.statement;
    row->started_ms = step.time_ms;
    return true;
}

bool pyro_decode_operation_analyzed(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    struct step step;
    struct pyro_operation *row = decode(json, builder, &step) ? find_operation(builder, step.id) : NULL;
    if (row)
        row->analyzed_ms = step.time_ms;
    return !json->error && !builder->failed;
}

bool pyro_decode_operation_ready(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    struct step step;
    struct pyro_operation *row = decode(json, builder, &step) ? find_operation(builder, step.id) : NULL;
    if (row)
        row->ready_ms = step.time_ms;
    return !json->error && !builder->failed;
}

static bool ended(struct pyro_json_reader *json, struct pyro_builder *builder, const char *status)
{
    struct step step;
    struct pyro_operation *row = decode(json, builder, &step) ? find_operation(builder, step.id) : NULL;
    if (!row)
        return !json->error && !builder->failed;
    row->ended_ms = step.time_ms;
    row->rows_produced = step.rows;
    row->failure = step.failure;
    row->status = pyro_intern_slice(builder->app->strings, pyro_slice_from(status));
    return true;
}

bool pyro_decode_operation_finished(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    return ended(json, builder, "finished");
}

bool pyro_decode_operation_failed(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    return ended(json, builder, "failed");
}

bool pyro_decode_operation_canceled(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    return ended(json, builder, "canceled");
}

bool pyro_decode_operation_closed(struct pyro_json_reader *json, struct pyro_builder *builder)
{
    struct step step;
    struct pyro_operation *row = decode(json, builder, &step) ? find_operation(builder, step.id) : NULL;
    if (row)
        row->closed_ms = step.time_ms;
    return !json->error && !builder->failed;
}
