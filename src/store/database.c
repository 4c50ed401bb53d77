#include "store/database.h"

#include <stdio.h>

bool pyro_database_run(sqlite3 *db, const char *text)
{
    return sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK;
}

int64_t pyro_database_number(sqlite3 *db, const char *text)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(db, text, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static enum pyro_database_state failure(int code)
{
    return code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? PYRO_DATABASE_DAMAGED : PYRO_DATABASE_UNUSABLE;
}

/* What the file is; *ret_empty: nothing yet. */
static enum pyro_database_state recognise(sqlite3 *db, const struct pyro_database_kind *kind, int64_t *ret_version,
                                          bool *ret_empty)
{
    int64_t tables = pyro_database_number(db, "SELECT count(*) FROM sqlite_schema");
    *ret_empty = tables == 0;
    if (tables < 0)
        return failure(sqlite3_errcode(db));
    if (tables == 0)
        return PYRO_DATABASE_GOOD;
    if (pyro_database_number(db, "PRAGMA application_id") != kind->application_id)
        return PYRO_DATABASE_FOREIGN;
    *ret_version = pyro_database_number(db, "PRAGMA user_version");
    return *ret_version == kind->version ? PYRO_DATABASE_GOOD : PYRO_DATABASE_OTHER_VERSION;
}

static enum pyro_database_state prepare(sqlite3 *db, const struct pyro_database_kind *kind, int64_t *ret_version)
{
    char stamp[96];
    bool empty;
    /* One writer at a time: two processes that open a new file must not both make the tables. */
    int code = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (code != SQLITE_OK)
        return failure(code);
    enum pyro_database_state state = recognise(db, kind, ret_version, &empty);
    snprintf(stamp, sizeof(stamp), "PRAGMA application_id = %d; PRAGMA user_version = %d;", kind->application_id,
             kind->version);
    if (state == PYRO_DATABASE_GOOD && empty && (!pyro_database_run(db, kind->schema) || !pyro_database_run(db, stamp)))
        state = PYRO_DATABASE_UNUSABLE;
    if (state == PYRO_DATABASE_GOOD && kind->afterwards && !pyro_database_run(db, kind->afterwards))
        state = PYRO_DATABASE_UNUSABLE;
    if (state == PYRO_DATABASE_GOOD && !pyro_database_run(db, "COMMIT"))
        state = PYRO_DATABASE_UNUSABLE;
    else if (state != PYRO_DATABASE_GOOD && !sqlite3_get_autocommit(db) && state != PYRO_DATABASE_UNUSABLE)
        pyro_database_run(db, "ROLLBACK"); /* else the caller's message would be that of the rollback */
    return state;
}

enum pyro_database_state pyro_database_open(const char *path, const struct pyro_database_kind *kind, bool writes,
                                            sqlite3 **ret, int64_t *ret_version)
{
    int flags = (writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX;
    int64_t version = 0;
    bool empty = false;
    int code = sqlite3_open_v2(path, ret, flags, NULL);
    if (code != SQLITE_OK)
        return failure(code);
    sqlite3_busy_timeout(*ret, kind->patience_ms);
    sqlite3_db_config(*ret, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    enum pyro_database_state state = writes ? prepare(*ret, kind, &version) : recognise(*ret, kind, &version, &empty);
    if (ret_version)
        *ret_version = version;
    return state == PYRO_DATABASE_GOOD && empty ? PYRO_DATABASE_FOREIGN : state;
}
