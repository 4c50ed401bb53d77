#include "../report/fixture.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/arrow.h"

enum { TASKS = 300 };

/* ---- A reader of Arrow's structs, which knows nothing of the model ------------------------------------------------
 */

static bool is_valid(const struct ArrowArray *array, size_t row)
{
    const uint8_t *validity = array->buffers[0];
    return !validity || validity[row / 8] >> row % 8 & 1;
}

static void check_cell(const struct ArrowArray *array, size_t row, const struct pyro_value *value)
{
    if (value->type == PYRO_TYPE_INT) {
        assert_int_equal(is_valid(array, row), value->integer != PYRO_NONE);
        if (is_valid(array, row))
            assert_int_equal(((const int64_t *)array->buffers[1])[row], value->integer);
    } else if (value->type == PYRO_TYPE_REAL) {
        assert_int_equal(is_valid(array, row), !isnan(value->real));
        if (is_valid(array, row))
            assert_true(((const double *)array->buffers[1])[row] == value->real);
    } else {
        const int32_t *offsets = array->buffers[1];
        assert_int_equal(is_valid(array, row), value->text.ptr != NULL);
        assert_int_equal(offsets[row + 1] - offsets[row], value->text.ptr ? value->text.len : 0);
        if (value->text.ptr)
            assert_memory_equal((const char *)array->buffers[2] + offsets[row], value->text.ptr, value->text.len);
    }
}

/* Reads all of a stream of all columns, and gives the number of batches. */
static size_t check_stream(const struct pyro_app *app, enum pyro_table_id table, struct ArrowArrayStream *stream)
{
    const struct pyro_table_schema *schema = &pyro_table_schemas[table];
    size_t at = 0, batches = 0;
    for (;; batches++) {
        struct ArrowArray batch;
        assert_int_equal(stream->get_next(stream, &batch), 0);
        if (!batch.release)
            break;
        assert_int_equal(batch.n_children, schema->column_count);
        assert_true(batch.length > 0 && batch.n_buffers == 1 && batch.null_count == 0 && !batch.buffers[0]);
        for (size_t c = 0; c < schema->column_count; c++) {
            const struct ArrowArray *child = batch.children[c];
            int64_t nulls = 0;
            assert_true(child->length == batch.length && child->offset == 0);
            assert_int_equal(child->n_buffers, schema->columns[c].type == PYRO_TYPE_TEXT ? 3 : 2);
            for (int64_t row = 0; row < batch.length; row++) {
                struct pyro_value value = pyro_app_value(app, table, at + (size_t)row, c);
                check_cell(child, (size_t)row, &value);
                nulls += !is_valid(child, (size_t)row);
            }
            assert_int_equal(nulls, child->null_count);
        }
        at += (size_t)batch.length;
        batch.release(&batch);
        assert_null(batch.release);
    }
    assert_int_equal(at, pyro_app_row_count(app, table));
    struct ArrowArray again;
    assert_int_equal(stream->get_next(stream, &again), 0); /* it stays at its end */
    assert_null(again.release);
    return batches;
}

static struct ArrowArrayStream open_limited(struct fixture *fixture, enum pyro_table_id table, size_t rows,
                                            size_t text_bytes)
{
    const struct pyro_arrow_limits limits = {rows, text_bytes};
    struct ArrowArrayStream stream;
    size_t columns[200];
    size_t count = pyro_table_schemas[table].column_count;
    assert_true(count <= 200);
    for (size_t c = 0; c < count; c++)
        columns[c] = c;
    assert_int_equal(pyro_arrow_stream(fixture->app, table, columns, count, &limits, NULL, &stream, NULL), PYRO_OK);
    return stream;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void test_every_table(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, TASKS, false);
    for (size_t id = 0; id < PYRO_TABLE_COUNT; id++) {
        struct ArrowArrayStream stream;
        assert_int_equal(
            pyro_table_export(fixture.app, pyro_table_schemas[id].name, NULL, 0, NULL, &stream, &fixture.error),
            PYRO_OK);
        size_t rows = pyro_app_row_count(fixture.app, (enum pyro_table_id)id);
        assert_int_equal(check_stream(fixture.app, (enum pyro_table_id)id, &stream), rows > 0);
        stream.release(&stream);
        assert_null(stream.release);
    }
    fixture_done(&fixture);
}

static void test_batches(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, TASKS, false);
    static const size_t rows[] = {1, 7, 8, 9, TASKS - 1, TASKS, TASKS + 1};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct ArrowArrayStream stream = open_limited(&fixture, PYRO_TABLE_tasks, rows[i], INT32_MAX);
        assert_int_equal(check_stream(fixture.app, PYRO_TABLE_tasks, &stream), (TASKS + rows[i] - 1) / rows[i]);
        stream.release(&stream);
    }
    /* Texts cut a batch short: "success" is seven bytes. */
    struct ArrowArrayStream stream = open_limited(&fixture, PYRO_TABLE_tasks, TASKS, 29);
    assert_true(check_stream(fixture.app, PYRO_TABLE_tasks, &stream) >= TASKS / 4);
    stream.release(&stream);
    stream = open_limited(&fixture, PYRO_TABLE_tasks, TASKS, 1);
    struct ArrowArray batch;
    assert_int_equal(stream.get_next(&stream, &batch), EOVERFLOW);
    assert_non_null(strstr(stream.get_last_error(&stream), "longer"));
    stream.release(&stream);
    fixture_done(&fixture);
}

/* What a consumer holds stays, whatever was released before: the application, the stream, the batch that it was in. */
static void test_owners(void **state)
{
    (void)state;
    struct fixture fixture;
    struct ArrowArrayStream stream;
    struct ArrowArray batch, moved;
    struct ArrowSchema schema, column;
    const char *const names[] = {"status", "id"};
    fixture_init(&fixture, TASKS, false);
    assert_int_equal(pyro_table_export(fixture.app, "tasks", names, 2, NULL, &stream, &fixture.error), PYRO_OK);
    struct pyro_app *app = fixture.app;
    fixture.app = NULL;
    pyro_app_release(app);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    stream.release(&stream);
    assert_int_equal(schema.n_children, 2);
    column = *schema.children[0];
    schema.children[0]->release = NULL;
    schema.release(&schema);
    assert_string_equal(column.name, "status");
    assert_string_equal(column.format, "u");
    assert_int_equal(column.flags, ARROW_FLAG_NULLABLE);
    column.release(&column);
    assert_null(column.release);
    moved = *batch.children[1];
    batch.children[1]->release = NULL;
    batch.release(&batch);
    assert_int_equal(moved.length, TASKS);
    assert_int_equal(((const int64_t *)moved.buffers[1])[TASKS - 1], TASKS - 1);
    moved.release(&moved);
    fixture_done(&fixture);
}

/* The value of a key in Arrow's metadata, compared; false: it has no such key. */
static bool metadata_is(const char *metadata, const char *key, const char *value)
{
    int32_t count, len;
    memcpy(&count, metadata, sizeof(count));
    metadata += sizeof(count);
    for (bool found = false; count > 0; count--) {
        for (int half = 0; half < 2; half++) {
            const char *wanted = half ? value : key;
            memcpy(&len, metadata, sizeof(len));
            metadata += sizeof(len);
            bool same = (size_t)len == strlen(wanted) && memcmp(metadata, wanted, (size_t)len) == 0;
            metadata += len;
            if (half && found)
                return same;
            found = same;
        }
    }
    return false;
}

static void test_schemas(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, TASKS, false);
    static const char *const formats[] = {"l", "g", "u"};
    for (size_t id = 0; id < PYRO_TABLE_COUNT; id++) {
        const struct pyro_table_schema *table = &pyro_table_schemas[id];
        struct ArrowArrayStream stream;
        struct ArrowSchema schema;
        assert_int_equal(pyro_table_export(fixture.app, table->name, NULL, 0, NULL, &stream, NULL), PYRO_OK);
        assert_int_equal(stream.get_schema(&stream, &schema), 0);
        assert_string_equal(schema.format, "+s");
        assert_true(metadata_is(schema.metadata, "doc", table->doc));
        assert_int_equal(schema.n_children, table->column_count);
        for (size_t c = 0; c < table->column_count; c++) {
            const struct pyro_column *column = &table->columns[c];
            assert_string_equal(schema.children[c]->name, column->name);
            assert_string_equal(schema.children[c]->format, formats[column->type]);
            assert_true(metadata_is(schema.children[c]->metadata, "doc", column->doc));
            assert_int_equal(metadata_is(schema.children[c]->metadata, "unit", column->unit), *column->unit != '\0');
        }
        schema.release(&schema);
        stream.release(&stream);
    }
    fixture_done(&fixture);
}

static void test_arguments(void **state)
{
    (void)state;
    struct fixture fixture;
    struct ArrowArrayStream stream;
    struct pyro_error *error = &fixture.error;
    const char *const wrong[] = {"id", "exekutor"};
    fixture_init(&fixture, 1, false);
    assert_int_equal(pyro_table_export(fixture.app, "task", NULL, 0, NULL, &stream, error), PYRO_ERROR_ARGUMENT);
    assert_string_equal(error->message, "there is no table 'task'; did you mean 'tasks'?");
    assert_int_equal(pyro_table_export(fixture.app, "tasks", wrong, 2, NULL, &stream, error), PYRO_ERROR_ARGUMENT);
    assert_string_equal(error->message, "the table tasks has no column 'exekutor'; did you mean 'executor'?");
    assert_int_equal(pyro_table_export(NULL, "tasks", NULL, 0, NULL, &stream, error), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_table_export(fixture.app, NULL, NULL, 0, NULL, &stream, error), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_table_export(fixture.app, "tasks", NULL, 1, NULL, &stream, error), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_table_export(fixture.app, "tasks", wrong, 0, NULL, &stream, error), PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_table_export(fixture.app, "tasks", wrong, SIZE_MAX, NULL, &stream, error),
                     PYRO_ERROR_ARGUMENT);
    assert_int_equal(pyro_table_export(fixture.app, "tasks", NULL, 0, NULL, NULL, error), PYRO_ERROR_ARGUMENT);
    const struct pyro_options unset = {0};
    assert_int_equal(pyro_table_export(fixture.app, "tasks", NULL, 0, &unset, &stream, error), PYRO_ERROR_ARGUMENT);
    fixture_done(&fixture);
}

/* ---- No memory --------------------------------------------------------------------------------------------------- */

struct ledger {
    size_t made, fails_at, live;
};

static void *take(void *context, size_t size)
{
    struct ledger *ledger = context;
    if (++ledger->made == ledger->fails_at)
        return NULL;
    ledger->live++;
    return malloc(size);
}

static void *retake(void *context, void *memory, size_t size)
{
    (void)context;
    return realloc(memory, size);
}

static void give(void *context, void *memory)
{
    struct ledger *ledger = context;
    ledger->live -= memory != NULL;
    free(memory);
}

/* Whichever allocation fails: it is said, nothing is lost, and the next try goes on where this one did not. */
static void test_no_memory(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, TASKS, false);
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        struct ledger ledger = {.fails_at = n};
        const struct pyro_allocator allocator = {sizeof(allocator), take, retake, give, &ledger};
        const struct pyro_options options = {.size = sizeof(options), .allocator = &allocator};
        struct ArrowArrayStream stream;
        struct ArrowSchema schema;
        struct ArrowArray batch;
        enum pyro_status status = pyro_table_export(fixture.app, "tasks", NULL, 0, &options, &stream, &fixture.error);
        failed = status != PYRO_OK;
        if (failed) {
            assert_int_equal(status, PYRO_ERROR_MEMORY);
            assert_int_equal(ledger.live, 0);
            continue;
        }
        assert_null(stream.get_last_error(&stream));
        size_t before = ledger.live;
        if (stream.get_schema(&stream, &schema) != 0) {
            failed = true;
            assert_int_equal(ledger.live, before);
            assert_non_null(stream.get_last_error(&stream));
            assert_int_equal(stream.get_schema(&stream, &schema), 0);
            assert_null(stream.get_last_error(&stream));
        }
        before = ledger.live;
        int code = stream.get_next(&stream, &batch);
        if (code != 0) {
            failed = true;
            assert_int_equal(code, ENOMEM);
            assert_int_equal(ledger.live, before);
            assert_non_null(strstr(stream.get_last_error(&stream), "memory"));
            assert_int_equal(stream.get_next(&stream, &batch), 0);
        }
        assert_int_equal(batch.length, TASKS);
        batch.release(&batch);
        schema.release(&schema);
        stream.release(&stream);
        assert_int_equal(ledger.live, 0);
        assert_true(failed || ledger.made < n);
    }
    fixture_done(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_table), cmocka_unit_test(test_batches),   cmocka_unit_test(test_owners),
        cmocka_unit_test(test_schemas),     cmocka_unit_test(test_arguments), cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
