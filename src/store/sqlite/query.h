/* Questions as statements of SQLite. */
#ifndef PYRO_STORE_SQLITE_QUERY_H
#define PYRO_STORE_SQLITE_QUERY_H

#include "store/sqlite/sqlite.h"

/* One statement in the making. Names in its text come from our tables, values are bound. */
struct pyro_sqlite_question {
    const struct pyro_query *query;
    const struct pyro_query_viewer *viewer;
    struct pyro_strbuf select, from, where, order;
    PYRO_VEC(struct pyro_query_value) bound; /* ?1, ?2 ... */
    PYRO_VEC(struct pyro_query_field) named; /* n0, n1 ...: joined tables of names */
    PYRO_VEC(enum pyro_field_type) columns;  /* of what is selected */
    int viewer_at;                           /* the parameter that is the viewer; 0: none */
    bool needs_run, failed;
};

/* Everything that a question needs of the rows: where it has measures, fields of groups, then field and weight of each
 * measure; else its fields, then what rows are ordered by. `question` is to be given to pyro_sqlite_question_done() in
 * every case. PYRO_ERROR_ARGUMENT: a cursor of another question. */
enum pyro_status pyro_sqlite_question_make(const struct pyro_query *query, const struct pyro_query_viewer *viewer,
                                           struct pyro_arena *arena, struct pyro_sqlite_question *question,
                                           struct pyro_error *error);
void pyro_sqlite_question_done(struct pyro_sqlite_question *question);
enum { PYRO_SQLITE_MOST_TERMS = 5 };
/* How many values order the rows. */
size_t pyro_sqlite_order_count(const struct pyro_query *query);
/* The kind of the pointer that a viewer is bound as. */
#define PYRO_SQLITE_VIEWER "pyro-viewer"
/* The SQL functions that statements call. */
bool pyro_sqlite_add_functions(sqlite3 *db);

#endif
