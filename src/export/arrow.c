/* pyro_table_export(): a table as an Arrow C stream, in batches that are copies.
 *
 * A consumer may move any of the structs that it is given, children too, and release them one by one and in any order.
 * So each owns what it points to, and says by its private data how to free it. */
#include "export/arrow.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/allocator.h"
#include "base/options.h"

enum { BATCH_ROWS = 65536, MOST_COLUMNS = 1000, METADATA_ENTRIES = 2 };

struct stream {
    const struct pyro_allocator *allocator;
    pyro_app *app;
    struct pyro_arrow_source source;
    struct pyro_arrow_limits limits;
    size_t at;
    char error[160]; /* of the last call, or "" */
    size_t column_count;
    size_t columns[];
};

static const struct pyro_column *column_at(const struct stream *stream, size_t i)
{
    return &stream->source.schema->columns[stream->columns[i]];
}

static struct pyro_value value_at(const struct stream *stream, size_t row, size_t i)
{
    return stream->source.value(stream->source.context, row, stream->columns[i]);
}

static bool is_known(const struct pyro_value *value)
{
    return value->type == PYRO_TYPE_INT    ? value->integer != PYRO_NONE
           : value->type == PYRO_TYPE_REAL ? !isnan(value->real)
                                           : value->text.ptr != NULL;
}

static int fail(struct stream *stream, int code, const char *why)
{
    snprintf(stream->error, sizeof(stream->error), "%s", why);
    return code;
}

static int no_memory(struct stream *stream)
{
    return fail(stream, ENOMEM, "no memory for a batch of the table");
}

/* ---- Schemas ----------------------------------------------------------------------------------------------------- */

/* What a schema owns. */
struct schema {
    const struct pyro_allocator *allocator;
    struct ArrowSchema **children;
    struct ArrowSchema *child; /* all of them */
    char metadata[];
};

static void release_schema(struct ArrowSchema *arrow)
{
    struct schema *own = arrow->private_data;
    for (int64_t i = 0; i < arrow->n_children; i++)
        if (arrow->children[i]->release)
            arrow->children[i]->release(arrow->children[i]);
    pyro_release(own->allocator, own->children);
    pyro_release(own->allocator, own->child);
    pyro_release(own->allocator, own);
    arrow->release = NULL;
}

static char *put_bytes(char *at, const char *text)
{
    int32_t len = (int32_t)strlen(text); /* of a table's definition: a line */
    memcpy(at, &len, sizeof(len));
    memcpy(at + sizeof(len), text, (size_t)len);
    return at + sizeof(len) + len;
}

/* Names and values of `entries`, as Arrow encodes them; those without a value are left out. */
static struct schema *new_schema(const struct pyro_allocator *allocator, const char *const (*entries)[2])
{
    size_t bytes = sizeof(int32_t);
    int32_t count = 0;
    for (size_t i = 0; i < METADATA_ENTRIES; i++)
        if (entries[i][1] && *entries[i][1]) {
            bytes += 2 * sizeof(int32_t) + strlen(entries[i][0]) + strlen(entries[i][1]);
            count++;
        }
    struct schema *own = pyro_allocate(allocator, sizeof(*own) + bytes);
    if (!own)
        return NULL;
    *own = (struct schema){.allocator = allocator};
    memcpy(own->metadata, &count, sizeof(count));
    char *at = own->metadata + sizeof(count);
    for (size_t i = 0; i < METADATA_ENTRIES; i++)
        if (entries[i][1] && *entries[i][1])
            at = put_bytes(put_bytes(at, entries[i][0]), entries[i][1]);
    return own;
}

/* False: no memory, and nothing is left of it. */
static bool fill_schema(const struct stream *stream, const struct pyro_column *column, struct ArrowSchema *ret)
{
    static const char *const formats[] = {"l", "g", "u"};
    const char *const entries[METADATA_ENTRIES][2] = {
        {"unit", column ? column->unit : ""},
        {"doc", column ? column->doc : stream->source.schema->doc},
    };
    struct schema *own = new_schema(stream->allocator, entries);
    if (!own)
        return false;
    *ret = (struct ArrowSchema){
        .format = column ? formats[column->type] : "+s",
        .name = column ? column->name : "",
        .metadata = own->metadata,
        .flags = column ? ARROW_FLAG_NULLABLE : 0,
        .release = release_schema,
        .private_data = own,
    };
    return true;
}

static int get_schema(struct ArrowArrayStream *arrow, struct ArrowSchema *ret)
{
    struct stream *stream = arrow->private_data;
    size_t count = stream->column_count;
    struct ArrowSchema made;
    stream->error[0] = '\0';
    if (!fill_schema(stream, NULL, &made))
        return no_memory(stream);
    struct schema *own = made.private_data;
    own->children = pyro_allocate(stream->allocator, count * sizeof(*own->children));
    own->child = pyro_allocate(stream->allocator, count * sizeof(*own->child));
    made.children = own->children;
    bool ok = own->children && own->child;
    for (size_t i = 0; ok && i < count; i++) {
        own->children[i] = &own->child[i];
        ok = fill_schema(stream, column_at(stream, i), &own->child[i]);
        made.n_children += ok;
    }
    if (!ok) {
        release_schema(&made);
        return no_memory(stream);
    }
    *ret = made;
    return 0;
}

/* ---- Batches ----------------------------------------------------------------------------------------------------- */

enum { VALIDITY, VALUES, OFFSETS = VALUES, TEXT, BUFFERS };

/* What an array owns. */
struct array {
    const struct pyro_allocator *allocator;
    const void *buffers[BUFFERS]; /* as the array shows them */
    void *memory[BUFFERS];
    struct ArrowArray **children;
    struct ArrowArray *child; /* all of them */
};

static void release_array(struct ArrowArray *arrow)
{
    struct array *own = arrow->private_data;
    for (int64_t i = 0; i < arrow->n_children; i++)
        if (arrow->children[i]->release)
            arrow->children[i]->release(arrow->children[i]);
    for (size_t i = 0; i < BUFFERS; i++)
        pyro_release(own->allocator, own->memory[i]);
    pyro_release(own->allocator, own->children);
    pyro_release(own->allocator, own->child);
    pyro_release(own->allocator, own);
    arrow->release = NULL;
}

/* A buffer of an array; NULL: no memory. One of no bytes has room for one, since a text's buffer may not be NULL. */
static void *new_buffer(struct array *own, size_t which, size_t bytes)
{
    own->memory[which] = pyro_allocate(own->allocator, bytes ? bytes : 1);
    own->buffers[which] = own->memory[which];
    return own->memory[which];
}

static void set_unknown(uint8_t *validity, size_t row)
{
    validity[row / 8] &= (uint8_t) ~(1u << row % 8);
}

static bool fill_numbers(const struct stream *stream, size_t i, struct ArrowArray *arrow)
{
    struct array *own = arrow->private_data;
    size_t rows = (size_t)arrow->length;
    char *values = new_buffer(own, VALUES, rows * sizeof(int64_t));
    uint8_t *validity = own->memory[VALIDITY];
    for (size_t row = 0; values && row < rows; row++) {
        struct pyro_value value = value_at(stream, stream->at + row, i);
        if (!is_known(&value)) {
            set_unknown(validity, row);
            arrow->null_count++;
            value.integer = 0;
            value.real = 0;
        }
        if (value.type == PYRO_TYPE_INT)
            memcpy(values + row * sizeof(value.integer), &value.integer, sizeof(value.integer));
        else
            memcpy(values + row * sizeof(value.real), &value.real, sizeof(value.real));
    }
    return values != NULL;
}

static bool fill_texts(const struct stream *stream, size_t i, struct ArrowArray *arrow)
{
    struct array *own = arrow->private_data;
    size_t rows = (size_t)arrow->length;
    int32_t *offsets = new_buffer(own, OFFSETS, (rows + 1) * sizeof(*offsets));
    uint8_t *validity = own->memory[VALIDITY];
    if (!offsets)
        return false;
    offsets[0] = 0;
    for (size_t row = 0; row < rows; row++) {
        struct pyro_value value = value_at(stream, stream->at + row, i);
        if (!is_known(&value)) {
            set_unknown(validity, row);
            arrow->null_count++;
        }
        offsets[row + 1] = offsets[row] + (value.text.ptr ? (int32_t)value.text.len : 0); /* rows_of_batch() */
    }
    char *text = new_buffer(own, TEXT, (size_t)offsets[rows]);
    for (size_t row = 0; text && row < rows; row++) {
        struct pyro_value value = value_at(stream, stream->at + row, i);
        if (value.text.ptr)
            memcpy(text + offsets[row], value.text.ptr, value.text.len);
    }
    return text != NULL;
}

/* An array of `rows` rows that owns nothing yet; false: no memory. */
static bool new_array(const struct stream *stream, size_t rows, struct ArrowArray *ret)
{
    struct array *own = pyro_allocate(stream->allocator, sizeof(*own));
    if (!own)
        return false;
    *own = (struct array){.allocator = stream->allocator};
    *ret = (struct ArrowArray){.length = (int64_t)rows,
                               .n_buffers = 1,
                               .buffers = own->buffers,
                               .release = release_array,
                               .private_data = own};
    return true;
}

/* One column; false: no memory, and nothing is left of it. */
static bool fill_column(const struct stream *stream, size_t i, size_t rows, struct ArrowArray *ret)
{
    if (!new_array(stream, rows, ret))
        return false;
    struct array *own = ret->private_data;
    bool text = column_at(stream, i)->type == PYRO_TYPE_TEXT;
    uint8_t *validity = new_buffer(own, VALIDITY, (rows + 7) / 8);
    ret->n_buffers = text ? 3 : 2;
    if (validity)
        memset(validity, 0xFF, (rows + 7) / 8);
    if (!validity || !(text ? fill_texts(stream, i, ret) : fill_numbers(stream, i, ret))) {
        release_array(ret);
        return false;
    }
    if (ret->null_count == 0)
        own->buffers[VALIDITY] = NULL; /* all are valid */
    return true;
}

/* As many rows as one batch holds, from the next one; 0: a text alone is too long. */
static size_t rows_of_batch(const struct stream *stream)
{
    size_t rows = stream->source.rows - stream->at;
    if (rows > stream->limits.rows)
        rows = stream->limits.rows;
    for (size_t i = 0; i < stream->column_count; i++) {
        if (column_at(stream, i)->type != PYRO_TYPE_TEXT)
            continue;
        size_t left = stream->limits.text_bytes;
        for (size_t row = 0; row < rows; row++) {
            struct pyro_value value = value_at(stream, stream->at + row, i);
            size_t len = value.text.ptr ? value.text.len : 0;
            if (len > left)
                rows = row; /* ends the loop too */
            else
                left -= len;
        }
    }
    return rows;
}

static int get_next(struct ArrowArrayStream *arrow, struct ArrowArray *ret)
{
    struct stream *stream = arrow->private_data;
    size_t count = stream->column_count;
    struct ArrowArray made;
    stream->error[0] = '\0';
    if (stream->at == stream->source.rows) {
        *ret = (struct ArrowArray){0}; /* the end */
        return 0;
    }
    size_t rows = rows_of_batch(stream);
    if (rows == 0)
        return fail(stream, EOVERFLOW, "a text of the table is longer than 2 GiB, the most that a batch can hold");
    if (!new_array(stream, rows, &made))
        return no_memory(stream);
    struct array *own = made.private_data;
    own->children = pyro_allocate(stream->allocator, count * sizeof(*own->children));
    own->child = pyro_allocate(stream->allocator, count * sizeof(*own->child));
    made.children = own->children;
    bool ok = own->children && own->child;
    for (size_t i = 0; ok && i < count; i++) {
        own->children[i] = &own->child[i];
        ok = fill_column(stream, i, rows, &own->child[i]);
        made.n_children += ok;
    }
    if (!ok) {
        release_array(&made);
        return no_memory(stream);
    }
    stream->at += rows;
    *ret = made;
    return 0;
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

static const char *get_last_error(struct ArrowArrayStream *arrow)
{
    const struct stream *stream = arrow->private_data;
    return *stream->error ? stream->error : NULL;
}

static void release_stream(struct ArrowArrayStream *arrow)
{
    struct stream *stream = arrow->private_data;
    stream->source.release(stream->source.context);
    pyro_app_release(stream->app);
    pyro_release(stream->allocator, stream);
    arrow->release = NULL;
}

/* NULL: no memory. `columns` NULL: all of them. */
static struct stream *new_stream(pyro_app *app, const struct pyro_arrow_source *source, const size_t *columns,
                                 size_t column_count, const struct pyro_allocator *allocator)
{
    struct stream *stream = pyro_allocate(allocator, sizeof(*stream) + column_count * sizeof(*columns));
    if (!stream)
        return NULL;
    *stream = (struct stream){
        .allocator = allocator,
        .app = pyro_app_retain(app),
        .source = *source,
        .limits = {BATCH_ROWS, INT32_MAX},
        .column_count = column_count,
    };
    for (size_t i = 0; i < column_count; i++)
        stream->columns[i] = columns ? columns[i] : i;
    return stream;
}

static enum pyro_status give_stream(struct stream *stream, struct ArrowArrayStream *ret, struct pyro_error *error)
{
    if (!stream)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for a stream of the table");
    *ret = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, stream};
    return PYRO_OK;
}

enum pyro_status pyro_arrow_stream_of(pyro_app *app, const struct pyro_arrow_source *source,
                                      const struct pyro_allocator *allocator, struct ArrowArrayStream *ret,
                                      struct pyro_error *error)
{
    return give_stream(new_stream(app, source, NULL, source->schema->column_count, allocator), ret, error);
}

/* ---- Tables of the model ----------------------------------------------------------------------------------------- */

struct table {
    const struct pyro_allocator *allocator;
    const pyro_app *app;
    enum pyro_table_id id;
};

static struct pyro_value table_value(const void *context, size_t row, size_t column)
{
    const struct table *table = context;
    return pyro_app_value(table->app, table->id, row, column);
}

static void release_table(void *context)
{
    struct table *table = context;
    pyro_release(table->allocator, table);
}

enum pyro_status pyro_arrow_stream(pyro_app *app, enum pyro_table_id table, const size_t *columns, size_t column_count,
                                   const struct pyro_arrow_limits *limits, const struct pyro_allocator *allocator,
                                   struct ArrowArrayStream *ret, struct pyro_error *error)
{
    struct table *read = pyro_allocate(allocator, sizeof(*read));
    const struct pyro_arrow_source source = {.schema = &pyro_table_schemas[table],
                                             .rows = pyro_app_row_count(app, table),
                                             .value = table_value,
                                             .release = release_table,
                                             .context = read};
    struct stream *stream = read ? new_stream(app, &source, columns, column_count, allocator) : NULL;
    if (!stream) {
        pyro_release(allocator, read);
        return give_stream(NULL, ret, error);
    }
    *read = (struct table){.allocator = allocator, .app = app, .id = table};
    stream->limits = *limits;
    return give_stream(stream, ret, error);
}

static enum pyro_status find_table(const char *name, enum pyro_table_id *ret, struct pyro_error *error)
{
    const char *names[PYRO_TABLE_COUNT];
    for (size_t id = 0; id < PYRO_TABLE_COUNT; id++) {
        names[id] = pyro_table_schemas[id].name;
        if (strcmp(names[id], name) == 0) {
            *ret = (enum pyro_table_id)id;
            return PYRO_OK;
        }
    }
    const char *nearest = pyro_nearest(name, names, PYRO_TABLE_COUNT);
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "there is no table '%.100s'%s%s%s", name,
                          nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static enum pyro_status find_column(const struct pyro_table_schema *schema, const char *name, size_t *ret,
                                    struct pyro_error *error)
{
    const char *names[MOST_COLUMNS];
    for (size_t c = 0; c < schema->column_count; c++) {
        names[c] = schema->columns[c].name;
        if (name && strcmp(names[c], name) == 0) {
            *ret = c;
            return PYRO_OK;
        }
    }
    const char *nearest = name ? pyro_nearest(name, names, schema->column_count) : NULL;
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the table %s has no column '%.100s'%s%s%s", schema->name,
                          name ? name : "", nearest ? "; did you mean '" : "", nearest ? nearest : "",
                          nearest ? "'?" : "");
}

enum pyro_status pyro_table_export(pyro_app *app, const char *table, const char *const *columns, size_t column_count,
                                   const struct pyro_options *options, struct ArrowArrayStream *ret,
                                   struct pyro_error *error)
{
    static const struct pyro_arrow_limits limits = {BATCH_ROWS, INT32_MAX};
    enum pyro_table_id id = PYRO_TABLE_COUNT;
    struct pyro_options own;
    size_t chosen[MOST_COLUMNS];
    pyro_error_clear(error);
    if (!app || !table || !ret || (!columns && column_count) || (columns && !column_count) ||
        column_count > MOST_COLUMNS)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "an application, a table, a place for the stream and 1 to %d columns are needed",
                              MOST_COLUMNS);
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    PYRO_TRY(find_table(table, &id, error));
    const struct pyro_table_schema *schema = &pyro_table_schemas[id];
    size_t count = columns ? column_count : schema->column_count;
    for (size_t i = 0; i < count; i++) {
        chosen[i] = i;
        if (columns)
            PYRO_TRY(find_column(schema, columns[i], &chosen[i], error));
    }
    return pyro_arrow_stream(app, id, chosen, count, &limits, own.allocator, ret, error);
}
