/* SQL over one application: its tables as SQLite virtual tables, and rows of a result as text.
 *
 * A statement may come from anyone, so all that it can use is bounded: what it may call, the length of a value, the
 * disk that it sorts on, and, by its caller's progress callback, its time. Memory has no limit of SQLite's for one
 * connection: a program that runs statements of strangers sets sqlite3_hard_heap_limit64() for the process. */
#ifndef PYRO_QUERY_SQL_QUERY_H
#define PYRO_QUERY_SQL_QUERY_H

#include <sqlite3.h>

#include "model/app.h"
#include "report/report.h"

enum {
    PYRO_SQL_VALUE_BYTES = 16 << 20, /* of one value: one call may make one, and nothing stops a call */
    PYRO_SQL_COLUMNS = 500           /* of a result */
};

/* Bytes of temporary files that one statement may use; the caller's own machine, and a stranger's on a server. */
#define PYRO_SQL_OWN_DISK_BYTES    (UINT64_C(16) << 30)
#define PYRO_SQL_SERVER_DISK_BYTES (UINT64_C(512) << 20)

/* pyro_sql_query() with another limit for temporary files; 0: none. */
enum pyro_status pyro_sql_run(pyro_app *app, const char *statement, enum pyro_format format, uint64_t disk_bytes,
                              const struct pyro_options *options, const struct pyro_writer *writer,
                              struct pyro_error *error);

/* What a statement is run over. */
struct pyro_sql_source {
    const struct pyro_app *app;
    bool (*stopped)(void *context); /* asked in long loops between SQLite's steps */
    void *context;
};

/* ---- What a statement may use (sql_functions.c, sql_disk.c) ---- */

/* Whether a statement may call it, in any case of letters. */
bool pyro_sql_may_call(const char *function);
/* Own code for SQLite's functions that one call could keep busy for hours. The source must outlive the connection. The
 * result is SQLite's. */
int pyro_sql_add_functions(sqlite3 *db, struct pyro_sql_source *source);

/* Temporary files of one connection. */
struct pyro_sql_disk {
    sqlite3_vfs vfs; /* to open the connection with, by `name` */
    sqlite3_vfs *below;
    char name[48];
    uint64_t bytes, limit; /* 0: none */
    bool full;             /* a file had to grow beyond the limit */
};
/* Stays where it is until it is closed, after the connection. False: there is no file system to put it over. */
bool pyro_sql_disk_open(struct pyro_sql_disk *disk, uint64_t limit);
void pyro_sql_disk_close(struct pyro_sql_disk *disk);

/* ---- Tables and rows ---- */

/* Adds every table of pyro_table_schemas to the connection. Rows stay where they are; the source must outlive the
 * connection. The result is SQLite's. */
int pyro_sql_add_tables(sqlite3 *db, const struct pyro_sql_source *source);

/* Steps `statement` through to its end and writes its rows. The result is SQLite's: SQLITE_DONE when all went well;
 * failures of the output stick in `output`. */
int pyro_sql_write_rows(sqlite3_stmt *statement, enum pyro_format format, struct pyro_output *output);

/* Names for the columns of a result, each different: the second "x" is "x_2". `count` NUL-terminated texts in `arena`,
 * or NULL when there is no memory. */
const char **pyro_sql_column_names(sqlite3_stmt *statement, struct pyro_arena *arena);

#endif
