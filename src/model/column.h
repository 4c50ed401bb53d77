/* The schema of every table as data: made from the .def files in tables/, used by SQL, CSV, docs and tests. */
#ifndef PYRO_MODEL_COLUMN_H
#define PYRO_MODEL_COLUMN_H

#include <stddef.h>
#include <stdint.h>

#include "base/numbers/none.h"
#include "base/strings/slice.h"

enum pyro_type { PYRO_TYPE_INT, PYRO_TYPE_REAL, PYRO_TYPE_TEXT };

struct pyro_column {
    const char *name;
    enum pyro_type type;
    const char *unit; /* "ms", "ns", "bytes", "1/s" or "" */
    const char *doc;
    size_t offset; /* in the row struct; for tasks the number of the column */
};

enum pyro_table_id {
#define PYRO_TABLE(name, doc) PYRO_TABLE_##name,
#include "model/tables/tables.def"
#undef PYRO_TABLE
    PYRO_TABLE_COUNT
};

struct pyro_table_schema {
    const char *name;
    const char *doc;
    const struct pyro_column *columns;
    size_t column_count;
    size_t row_size; /* 0 for tasks, whose rows are spread over column chunks */
};

extern const struct pyro_table_schema pyro_table_schemas[PYRO_TABLE_COUNT];

struct pyro_value {
    enum pyro_type type;
    int64_t integer;
    double real;
    struct pyro_slice text;
};

#endif
