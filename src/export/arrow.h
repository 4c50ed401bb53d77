/* Tables as Arrow C streams. */
#ifndef PYRO_EXPORT_ARROW_H
#define PYRO_EXPORT_ARROW_H

#include "model/app.h"

/* How large a batch may be. */
struct pyro_arrow_limits {
    size_t rows;
    size_t text_bytes; /* of each column; at most INT32_MAX, which is what offsets can say */
};

/* A table that is read value by value. */
struct pyro_arrow_source {
    const struct pyro_table_schema *schema;
    size_t rows;
    struct pyro_value (*value)(const void *context, size_t row, size_t column);
    void (*release)(void *context); /* with the stream */
    void *context;
};

/* All its columns. The stream keeps the application alive. Without success the source stays the caller's. */
enum pyro_status pyro_arrow_stream_of(pyro_app *app, const struct pyro_arrow_source *source,
                                      const struct pyro_allocator *allocator, struct ArrowArrayStream *ret,
                                      struct pyro_error *error);

/* pyro_table_export() with limits of its own. The columns are numbers of columns of the table; they are copied. */
enum pyro_status pyro_arrow_stream(pyro_app *app, enum pyro_table_id table, const size_t *columns, size_t column_count,
                                   const struct pyro_arrow_limits *limits, const struct pyro_allocator *allocator,
                                   struct ArrowArrayStream *ret, struct pyro_error *error);

#endif
