/* SQL over one application: its tables as SQLite virtual tables, and rows of a result as text. */
#ifndef PYRO_SESSION_SQL_H
#define PYRO_SESSION_SQL_H

#include <sqlite3.h>

#include "model/app.h"
#include "report/report.h"

/* Adds every table of pyro_table_schemas to the connection. Rows stay where they are in `app`, which must outlive the
 * connection. The result is SQLite's. */
int pyro_sql_add_tables(sqlite3 *db, const struct pyro_app *app);

/* Steps `statement` through to its end and writes its rows. The result is SQLite's: SQLITE_DONE when all went well;
 * failures of the output stick in `output`. */
int pyro_sql_write_rows(sqlite3_stmt *statement, enum pyro_format format, struct pyro_output *output);

/* Names for the columns of a result, each different: the second "x" is "x_2". `count` NUL-terminated texts in `arena`,
 * or NULL when there is no memory. */
const char **pyro_sql_column_names(sqlite3_stmt *statement, struct pyro_arena *arena);

#endif
