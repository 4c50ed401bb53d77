/* The one form of questions to a store (docs/store-queries.md): views, pages, models and suggestions ask nothing else,
 * and every backend answers alike.
 *
 *     {"from": "runs", "where": [{"field": "user", "op": "=", "value": "etl"}],
 *      "group": [{"field": "start_ms", "every_ms": 86400000}],
 *      "measures": [{"as": "runs", "op": "count"}, {"as": "p95", "op": "percentiles", "field": "duration_ms", "at":
 * [95]}], "order": {"by": "runs", "descending": true}, "limit": 100}
 *
 * A question has either `measures` (and groups, 2 at most: one row per group) or `fields` (rows of `from`). */
#ifndef PYRO_STORE_QUERY_H
#define PYRO_STORE_QUERY_H

#include "base/error.h"
#include "base/memory/arena.h"
#include "base/strings/slice.h"
#include "base/strings/strbuf.h"

enum {
    PYRO_QUERY_GROUPS = 2,          /* levels */
    PYRO_QUERY_MOST_GROUPS = 10000, /* rows of groups: more is an error */
    PYRO_QUERY_MOST_ROWS = 100000,  /* of one answer; `after` goes on */
    PYRO_QUERY_SECONDS = 15,        /* a longer question is stopped with an error */
    PYRO_QUERY_MOST_MEASURES = 64,
    PYRO_QUERY_MOST_FIELDS = 64,
    PYRO_QUERY_MOST_CONDITIONS = 64,
    PYRO_QUERY_MOST_VALUES = 1000, /* of one `in` */
    PYRO_QUERY_MOST_NAMES = 40,    /* different ones behind agg., property. and tag. */
    PYRO_QUERY_MOST_EDGES = 1000,
    PYRO_QUERY_MOST_BYTES = 64 << 20, /* of an answer with rows, which then ends early; `after` goes on */
    PYRO_QUERY_MOST_JSON = 1 << 20    /* bytes of a question */
};

enum pyro_query_from {
#define PYRO_QUERY_FROM(id, name, table, of_runs, meaning) PYRO_FROM_##id,
#include "store/query_fields.def"
#undef PYRO_QUERY_FROM
    PYRO_QUERY_FROMS
};

enum pyro_field_type {
    PYRO_FIELD_INT,
    PYRO_FIELD_REAL,
    PYRO_FIELD_TEXT,
    PYRO_FIELD_TIME, /* epoch milliseconds */
    PYRO_FIELD_FLAG  /* 0 or 1 */
};

/* A row of query_fields.def: a list of documents, and a column that can be asked for. */
struct pyro_query_list {
    const char *name, *table;
    bool of_runs;
};
extern const struct pyro_query_list pyro_query_lists[PYRO_QUERY_FROMS];
struct pyro_store_field {
    const char *name;
    enum pyro_query_from from;
    enum pyro_field_type type;
};

enum pyro_query_field_kind {
    PYRO_QUERY_NO_FIELD,  /* count */
    PYRO_QUERY_COLUMN,    /* of `from`, or of its run */
    PYRO_QUERY_AGGREGATE, /* agg.NAME: REAL */
    PYRO_QUERY_PROPERTY,  /* property.KEY: TEXT, of the run */
    PYRO_QUERY_TAG        /* tag.KEY: TEXT, of the run */
};
struct pyro_query_field {
    enum pyro_query_field_kind kind;
    const struct pyro_store_field *column; /* of PYRO_QUERY_COLUMN */
    struct pyro_slice name;                /* as asked for */
    struct pyro_slice key;                 /* behind "agg.", "property." or "tag." */
};

enum pyro_query_value_kind { PYRO_VALUE_NULL, PYRO_VALUE_INT, PYRO_VALUE_REAL, PYRO_VALUE_TEXT };
struct pyro_query_value {
    enum pyro_query_value_kind kind;
    int64_t integer;
    double real;
    struct pyro_slice text;
};

enum pyro_query_op {
    PYRO_OP_EQUAL,
    PYRO_OP_NOT_EQUAL, /* also of what is not known */
    PYRO_OP_LESS,
    PYRO_OP_AT_MOST,
    PYRO_OP_MORE,
    PYRO_OP_AT_LEAST,
    PYRO_OP_IN,     /* one of `values` */
    PYRO_OP_PREFIX, /* of texts, byte by byte */
    PYRO_OP_EXISTS  /* value: 1 known, 0 unknown */
};
struct pyro_query_condition {
    struct pyro_query_field field;
    enum pyro_query_op op;
    const struct pyro_query_value *values;
    size_t value_count;
};

struct pyro_query_group {
    struct pyro_query_field field;
    int64_t every_ms;    /* of a time or a number: floor(value / every) * every; 0: each value is a group */
    const double *edges; /* ascending: [edges[i], edges[i + 1]) is the group named edges[i]; others are in none */
    size_t edge_count;
};

enum pyro_query_measure_op {
    PYRO_MEASURE_COUNT,
    PYRO_MEASURE_SUM,
    PYRO_MEASURE_MIN,
    PYRO_MEASURE_MAX,
    PYRO_MEASURE_MEAN,       /* weighted where a weight is given */
    PYRO_MEASURE_PERCENTILES /* nearest rank; one column for each of `at`: "AS.AT" */
};
struct pyro_query_measure {
    struct pyro_slice as;
    enum pyro_query_measure_op op;
    struct pyro_query_field field, weight; /* weight: of SUM (sum of value x weight) and MEAN; else no field */
    const double *at;                      /* 0..100 */
    size_t at_count;
};

struct pyro_query {
    enum pyro_query_from from;
    const struct pyro_query_condition *conditions;
    size_t condition_count;
    struct pyro_query_group groups[PYRO_QUERY_GROUPS];
    size_t group_count;
    const struct pyro_query_measure *measures;
    size_t measure_count; /* 0: rows */
    const struct pyro_query_field *fields;
    size_t field_count;
    /* A column of the answer that comes first in the order; null: none. Then come, with groups, their values; with rows
     * start_ms, app_id, attempt and the place within the run; of `errors`, `suggestions` and `cluster` time_ms, and
     * app_id; id; source and name. What is not known comes before everything else. */
    struct pyro_slice order_by;
    bool descending;         /* the whole order is turned round */
    size_t limit;            /* 1 to PYRO_QUERY_MOST_ROWS */
    struct pyro_slice after; /* what an answer gave; null: from the start */
    int64_t most_ms;         /* that the answer may take; from the JSON form: PYRO_QUERY_SECONDS */
};

/* Who asks: sees their own runs and those that let them, as Spark's access lists say (model/viewers.h), and nothing
 * that is not of a run. NULL where it is asked for: a user who may see everything. */
struct pyro_query_viewer {
    struct pyro_slice user, groups; /* groups: a,b */
    bool always;                    /* lists hold also where an application was run without spark.acls.enable */
};

struct pyro_query_answer {
    const struct pyro_slice *columns;
    size_t column_count;
    struct pyro_query_value *values; /* row by row */
    size_t row_count;
    struct pyro_slice after; /* null: this was all */
};

/* Reads the JSON form. All of *ret is in the arena. PYRO_ERROR_ARGUMENT: it is none, or asks for what there is not; the
 * message names the member and the nearest name. */
enum pyro_status pyro_query_parse(struct pyro_slice json, struct pyro_arena *arena, struct pyro_query *ret,
                                  struct pyro_error *error);
/* {"schema", "columns": [...], "rows": [[...]], "after": ...} */
void pyro_query_answer_write(const struct pyro_query_answer *answer, struct pyro_strbuf *to);

/* NULL: `from` has no such column, nor its run. */
const struct pyro_store_field *pyro_store_field_find(enum pyro_query_from from, struct pyro_slice name);
/* The column, or what is behind agg., property. or tag.; `name` must live as long as *ret. False: there is none. */
bool pyro_query_field_make(enum pyro_query_from from, struct pyro_slice name, struct pyro_query_field *ret);
/* "; did you mean '...'?" where a name of `from` is near; else "". In the arena; NULL: no memory. */
const char *pyro_query_field_hint(enum pyro_query_from from, struct pyro_slice name, struct pyro_arena *arena);
enum pyro_field_type pyro_query_field_type(const struct pyro_query_field *field);

/* The names of the answer's columns: groups and measures, or fields. NULL: no memory. */
const struct pyro_slice *pyro_query_columns(const struct pyro_query *query, struct pyro_arena *arena,
                                            size_t *ret_count);

/* The answer would have more than PYRO_QUERY_MOST_GROUPS rows. */
enum pyro_status pyro_query_too_many_groups(struct pyro_error *error);
/* How many they are. */
size_t pyro_query_column_count(const struct pyro_query *query);
/* An answer of rows of groups, which come in any order: those behind query->after, as many as the limit says. Texts are
 * copied into the arena. */
enum pyro_status pyro_query_arrange(const struct pyro_query *query, const struct pyro_query_value *values, size_t count,
                                    struct pyro_arena *arena, struct pyro_query_answer *ret, struct pyro_error *error);
/* Where an answer ended: the values by which its last row is ordered. Opaque text in the arena; null: no memory. */
struct pyro_slice pyro_query_cursor_make(const struct pyro_query *query, const struct pyro_query_value *values,
                                         size_t count, struct pyro_arena *arena);
/* The values of query->after. PYRO_ERROR_ARGUMENT: it is not of an answer to this question. */
enum pyro_status pyro_query_cursor_read(const struct pyro_query *query, struct pyro_arena *arena,
                                        struct pyro_query_value *ret, size_t count, struct pyro_error *error);
/* Less than, equal to or more than 0; numbers by value, texts byte by byte; null before everything else. */
int pyro_query_value_compare(const struct pyro_query_value *left, const struct pyro_query_value *right);

#endif
