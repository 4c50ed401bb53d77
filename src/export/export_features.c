/* pyro_features_write(), pyro_features_export(): features as CSV, and as an Arrow C stream. */
#include "analyze/features/feature_rows.h"

#include <math.h>

#include "base/memory/allocator.h"
#include "base/options.h"
#include "export/arrow.h"
#include "text/buffered_output.h"
#include "text/escape.h"

static bool exists(const pyro_app *app, enum pyro_features_of of)
{
    return app && (of == PYRO_FEATURES_TASKS || of == PYRO_FEATURES_STAGES);
}

static enum pyro_status refuse(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the application, the rows or the writer is missing");
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static void add_value(struct pyro_strbuf *to, const struct pyro_value *value)
{
    if (value->type == PYRO_TYPE_INT && value->integer != PYRO_NONE)
        pyro_strbuf_add_int(to, value->integer);
    else if (value->type == PYRO_TYPE_REAL && !isnan(value->real))
        pyro_add_json_real(to, value->real);
}

static void write_csv(const struct pyro_features *features, enum pyro_features_of of, struct pyro_output *output)
{
    const struct pyro_table_schema *schema = pyro_features_schema(of);
    struct pyro_strbuf *to = &output->buffer;
    for (size_t i = 0; i < schema->column_count; i++)
        pyro_strbuf_printf(to, "%s%s", i > 0 ? "," : "", schema->columns[i].name);
    pyro_strbuf_add_text(to, "\r\n");
    for (size_t row = 0; row < pyro_features_rows(features, of) && output->status == PYRO_OK; row++) {
        for (size_t i = 0; i < schema->column_count; i++) {
            const struct pyro_value value = pyro_features_value(features, of, row, i);
            pyro_strbuf_add_text(to, i > 0 ? "," : "");
            add_value(to, &value);
        }
        pyro_strbuf_add_text(to, "\r\n");
        pyro_output_flush(output, false);
    }
}

enum pyro_status pyro_features_write(const pyro_app *app, enum pyro_features_of of, const struct pyro_options *options,
                                     const struct pyro_writer *writer, struct pyro_error *error)
{
    struct pyro_options own;
    struct pyro_output output;
    struct pyro_arena arena;
    pyro_error_clear(error);
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    if (!exists(app, of) || !pyro_can_write(writer))
        return refuse(error);
    pyro_arena_init(&arena, own.allocator);
    pyro_output_init(&output, writer, own.allocator);
    const struct pyro_features *features = pyro_features_new(app, &arena);
    if (features)
        write_csv(features, of, &output);
    enum pyro_status written = pyro_output_done(&output, features ? error : NULL);
    pyro_arena_done(&arena);
    return features ? written : pyro_no_memory(error);
}

/* ---- Arrow ------------------------------------------------------------------------------------------------------- */

struct streamed {
    const struct pyro_allocator *allocator;
    struct pyro_arena arena;
    const struct pyro_features *features;
    enum pyro_features_of of;
};

static struct pyro_value streamed_value(const void *context, size_t row, size_t column)
{
    const struct streamed *streamed = context;
    return pyro_features_value(streamed->features, streamed->of, row, column);
}

static void release(void *context)
{
    struct streamed *streamed = context;
    pyro_arena_done(&streamed->arena);
    pyro_release(streamed->allocator, streamed);
}

enum pyro_status pyro_features_export(pyro_app *app, enum pyro_features_of of, const struct pyro_options *options,
                                      struct ArrowArrayStream *ret, struct pyro_error *error)
{
    struct pyro_options own;
    pyro_error_clear(error);
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    if (!exists(app, of) || !ret)
        return refuse(error);
    struct streamed *streamed = pyro_allocate(own.allocator, sizeof(*streamed));
    if (!streamed)
        return pyro_no_memory(error);
    *streamed = (struct streamed){.allocator = own.allocator, .of = of};
    pyro_arena_init(&streamed->arena, own.allocator);
    streamed->features = pyro_features_new(app, &streamed->arena);
    const struct pyro_arrow_source source = {
        .schema = pyro_features_schema(of),
        .rows = streamed->features ? pyro_features_rows(streamed->features, of) : 0,
        .value = streamed_value,
        .release = release,
        .context = streamed,
    };
    enum pyro_status status =
        streamed->features ? pyro_arrow_stream_of(app, &source, own.allocator, ret, error) : pyro_no_memory(error);
    if (status != PYRO_OK)
        release(streamed);
    return status;
}
