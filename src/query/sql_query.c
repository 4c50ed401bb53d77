/* pyro_sql_query(): one reading statement over the tables of an application.
 *
 * The statement may come from anyone (a web page, a script), so it is held to reading: an authorizer refuses all else
 * when it is compiled, limits bound what it may ask of memory, and the progress callback can stop it. */
#include "query/sql_query.h"

#include "base/memory/arena.h"
#include "base/options.h"

enum {
    MAX_STATEMENT_BYTES = 1000000,
    MAX_EXPRESSION_DEPTH = 500,
    MAX_PATTERN_BYTES = 1000, /* of LIKE and GLOB */
    MAX_REFERENCES = 200000,  /* what a statement names, once every WITH is put in its place */
    STEPS_BETWEEN_PROGRESS = 10000
};

struct query {
    const struct pyro_app *app;
    struct pyro_options options;
    struct pyro_sql_source source;
    struct pyro_sql_disk disk;
    sqlite3 *db;
    size_t references;
    bool cancelled;
};

static bool is_stopped(void *context)
{
    struct query *query = context;
    if (!query->options.progress || query->cancelled)
        return query->cancelled;
    struct pyro_progress progress = {.size = sizeof(progress),
                                     .path = query->app->path.ptr ? query->app->path.ptr : ""};
    query->cancelled = query->options.progress(query->options.progress_context, &progress) != 0;
    return query->cancelled;
}

static int on_progress(void *context)
{
    return is_stopped(context);
}

/* Called while a statement is compiled, too, which nothing else can stop. */
static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *trigger)
{
    struct query *query = context;
    (void)first;
    (void)database;
    (void)trigger;
    if (++query->references > MAX_REFERENCES || (query->references % 100 == 0 && is_stopped(query)))
        return SQLITE_DENY;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return pyro_sql_may_call(second) ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

/* SQLite's message; with the tables there are where one was not found. */
static enum pyro_status fail(const struct query *query, struct pyro_error *error)
{
    int code = sqlite3_errcode(query->db);
    const char *message = sqlite3_errmsg(query->db);
    if (query->cancelled)
        return pyro_error_set(error, PYRO_ERROR_CANCELLED, "the statement was stopped");
    if (code == SQLITE_NOMEM)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "the statement needs more memory than it may use");
    if (query->disk.full)
        return pyro_error_set(
            error, PYRO_ERROR_ARGUMENT,
            "the statement sorts or stores more than %llu MiB in temporary files, the maximum: narrow it with WHERE",
            (unsigned long long)(query->disk.limit >> 20));
    if (code == SQLITE_TOOBIG)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s: a value may have at most %d MiB", message,
                              PYRO_SQL_VALUE_BYTES >> 20);
    if (query->references > MAX_REFERENCES)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the statement is too complex: it names more than %d columns",
                              MAX_REFERENCES);
    if (code == SQLITE_AUTH)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "only reading statements are allowed (%s)", message);
    if (strncmp(message, "not authorized to use function", 30) == 0)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s: docs/tables.md lists the available functions", message);
    if (strncmp(message, "no such table", 13) != 0)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s", message);
    struct pyro_strbuf tables;
    pyro_strbuf_init(&tables, query->app->allocator);
    for (size_t i = 0; i < PYRO_TABLE_COUNT; i++)
        pyro_strbuf_printf(&tables, "%s%s", i ? ", " : "", pyro_table_schemas[i].name);
    enum pyro_status status = pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%.400s; the tables are: %s", message,
                                             tables.data ? tables.data : "");
    pyro_strbuf_done(&tables);
    return status;
}

/* Nothing but the tables: those that come with SQLite look into the process (sqlite_stmt, dbstat). */
static int add_contents(struct query *query)
{
    int status = sqlite3_drop_modules(query->db, NULL);
    if (status == SQLITE_OK)
        status = pyro_sql_add_functions(query->db, &query->source);
    return status == SQLITE_OK ? pyro_sql_add_tables(query->db, &query->source) : status;
}

static enum pyro_status open_database(struct query *query, uint64_t disk_bytes, struct pyro_error *error)
{
    static const int limits[][2] = {{SQLITE_LIMIT_LENGTH, PYRO_SQL_VALUE_BYTES},
                                    {SQLITE_LIMIT_SQL_LENGTH, MAX_STATEMENT_BYTES},
                                    {SQLITE_LIMIT_COLUMN, PYRO_SQL_COLUMNS},
                                    {SQLITE_LIMIT_EXPR_DEPTH, MAX_EXPRESSION_DEPTH},
                                    {SQLITE_LIMIT_COMPOUND_SELECT, 100},
                                    {SQLITE_LIMIT_VDBE_OP, 1000000},
                                    {SQLITE_LIMIT_VARIABLE_NUMBER, 100},
                                    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MAX_PATTERN_BYTES},
                                    {SQLITE_LIMIT_ATTACHED, 0},
                                    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                    {SQLITE_LIMIT_WORKER_THREADS, 0}};
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
    if (!pyro_sql_disk_open(&query->disk, disk_bytes))
        return pyro_error_set(error, PYRO_ERROR_INTERNAL, "SQLite has no file system");
    int status = sqlite3_open_v2(":memory:", &query->db, flags, query->disk.name);
    if (status == SQLITE_OK)
        status = add_contents(query);
    if (status == SQLITE_NOMEM || !query->db)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for the statement");
    if (status != SQLITE_OK)
        return pyro_error_set(error, PYRO_ERROR_INTERNAL, "SQLite: %s", sqlite3_errmsg(query->db));
    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
        sqlite3_limit(query->db, limits[i][0], limits[i][1]);
    sqlite3_db_config(query->db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    sqlite3_set_authorizer(query->db, authorize, query);
    sqlite3_progress_handler(query->db, STEPS_BETWEEN_PROGRESS, on_progress, query);
    return PYRO_OK;
}

/* Compiles the only statement of `text`; comments and semicolons may follow it. */
static enum pyro_status compile(struct query *query, const char *text, sqlite3_stmt **ret, struct pyro_error *error)
{
    sqlite3_stmt *statement = NULL;
    const char *tail = text;
    while (!statement) {
        if (sqlite3_prepare_v3(query->db, tail, -1, 0, &statement, &tail) != SQLITE_OK)
            return fail(query, error);
        if (!statement && !*tail)
            return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the statement is empty");
    }
    while (*tail) {
        sqlite3_stmt *second = NULL;
        int status = sqlite3_prepare_v3(query->db, tail, -1, 0, &second, &tail);
        bool other = status != SQLITE_OK || second;
        sqlite3_finalize(second);
        if (other) {
            sqlite3_finalize(statement);
            return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                                  "only one statement is allowed, and there is more text after the first");
        }
    }
    if (sqlite3_column_count(statement) == 0) {
        sqlite3_finalize(statement);
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the statement returns no rows: only SELECT is allowed");
    }
    *ret = statement;
    return PYRO_OK;
}

static enum pyro_status run(struct query *query, const char *text, enum pyro_format format,
                            const struct pyro_writer *writer, struct pyro_error *error)
{
    sqlite3_stmt *statement = NULL;
    struct pyro_output output;
    PYRO_TRY(compile(query, text, &statement, error));
    pyro_output_init(&output, writer, query->app->allocator);
    int stepped = pyro_sql_write_rows(statement, format, &output);
    enum pyro_status status = PYRO_OK;
    if (stepped != SQLITE_DONE && output.status == PYRO_OK)
        status = fail(query, error);
    sqlite3_finalize(statement);
    /* Rows that came before a failure are written nevertheless. */
    enum pyro_status written = pyro_output_done(&output, status == PYRO_OK ? error : NULL);
    return status != PYRO_OK ? status : written;
}

enum pyro_status pyro_sql_run(pyro_app *app, const char *statement, enum pyro_format format, uint64_t disk_bytes,
                              const struct pyro_options *options, const struct pyro_writer *writer,
                              struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!app || !statement || !pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the application, the statement or the writer is missing");
    if (format > PYRO_FORMAT_CSV)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "rows are written as text, json, csv or markdown");
    if (strlen(statement) > MAX_STATEMENT_BYTES)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the statement is longer than %d bytes", MAX_STATEMENT_BYTES);
    struct query query = {.app = app};
    PYRO_TRY(pyro_options_resolve(options, &query.options, error));
    query.source = (struct pyro_sql_source){app, is_stopped, &query};
    enum pyro_status status = open_database(&query, disk_bytes, error);
    if (status == PYRO_OK)
        status = run(&query, statement, format, writer, error);
    sqlite3_close(query.db); /* its statements are finalized: nothing is left of it that uses the files */
    pyro_sql_disk_close(&query.disk);
    return status;
}

enum pyro_status pyro_sql_query(pyro_app *app, const char *statement, enum pyro_format format,
                                const struct pyro_options *options, const struct pyro_writer *writer,
                                struct pyro_error *error)
{
    return pyro_sql_run(app, statement, format, PYRO_SQL_OWN_DISK_BYTES, options, writer, error);
}
