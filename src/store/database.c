#include "store/database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/new_file.h"

#define CODE "error code=" /* before the number in what quick_check says */

enum { CHECKED_BYTES = 32 << 20 };

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

bool pyro_database_is_damage(int code)
{
    return (code & 0xff) == SQLITE_NOTADB || (code & 0xff) == SQLITE_CORRUPT; /* without what extended codes add */
}

static enum pyro_database_state failure(int code)
{
    return pyro_database_is_damage(code) ? PYRO_DATABASE_DAMAGED : PYRO_DATABASE_UNUSABLE;
}

/* Writing to a damaged file would spread the damage. A look through a large file takes too long for each opening: there
 * only what a statement meets is found, which is then undone. */
static enum pyro_database_state check_pages(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    enum pyro_database_state state = PYRO_DATABASE_GOOD;
    int64_t pages = pyro_database_number(db, "PRAGMA page_count"), bytes = pyro_database_number(db, "PRAGMA page_size");
    if (pages < 0 || bytes < 0)
        return failure(sqlite3_errcode(db));
    if (pages > CHECKED_BYTES / (bytes ? bytes : 1))
        return PYRO_DATABASE_GOOD;
    int code = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code != SQLITE_ROW) {
        state = failure(code);
    } else {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        const char *failed = text ? strstr(text, CODE) : NULL; /* a page could not be read: what that says is it */
        if (!text)
            state = PYRO_DATABASE_UNUSABLE; /* no memory */
        else if (strcmp(text, "ok") != 0)
            state = failed ? failure((int)strtol(failed + sizeof(CODE) - 1, NULL, 10)) : PYRO_DATABASE_DAMAGED;
    }
    sqlite3_finalize(statement);
    return state;
}

/* A number that is not the wanted one may also be none. */
static enum pyro_database_state unless_failed(sqlite3 *db, enum pyro_database_state state)
{
    int code = sqlite3_errcode(db);
    return code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE ? state : failure(code);
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
        return unless_failed(db, PYRO_DATABASE_FOREIGN);
    *ret_version = pyro_database_number(db, "PRAGMA user_version");
    return *ret_version == kind->version ? PYRO_DATABASE_GOOD : unless_failed(db, PYRO_DATABASE_OTHER_VERSION);
}

static bool may_upgrade(const struct pyro_database_kind *kind, enum pyro_database_state state, int64_t version)
{
    return state == PYRO_DATABASE_OTHER_VERSION && kind->upgrade && version == kind->version - 1;
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
    bool older = may_upgrade(kind, state, *ret_version);
    if (older || (state == PYRO_DATABASE_GOOD && !empty))
        state = check_pages(db);
    snprintf(stamp, sizeof(stamp), "PRAGMA application_id = %d; PRAGMA user_version = %d;", kind->application_id,
             kind->version);
    bool lacks =
        state == PYRO_DATABASE_GOOD && !empty && !older && kind->lacks && pyro_database_number(db, kind->lacks) == 1;
    if (lacks && !pyro_database_run(db, kind->addition))
        state = PYRO_DATABASE_UNUSABLE;
    const char *change = empty ? kind->schema : older ? kind->upgrade : NULL;
    if (state == PYRO_DATABASE_GOOD && change && (!pyro_database_run(db, change) || !pyro_database_run(db, stamp)))
        state = PYRO_DATABASE_UNUSABLE;
    if (state == PYRO_DATABASE_GOOD && kind->afterwards && !pyro_database_run(db, kind->afterwards))
        state = PYRO_DATABASE_UNUSABLE;
    if (state == PYRO_DATABASE_GOOD && !pyro_database_run(db, "COMMIT"))
        state = PYRO_DATABASE_UNUSABLE;
    else if (state != PYRO_DATABASE_GOOD && !sqlite3_get_autocommit(db) && state != PYRO_DATABASE_UNUSABLE)
        pyro_database_run(db, "ROLLBACK"); /* else the caller's message would be that of the rollback */
    return state;
}

/* Nothing else is written for a reader. */
static enum pyro_database_state prepare_to_read(sqlite3 *db, const struct pyro_database_kind *kind,
                                                int64_t *ret_version, bool *ret_empty)
{
    enum pyro_database_state state = recognise(db, kind, ret_version, ret_empty);
    bool older = may_upgrade(kind, state, *ret_version);
    bool lacks = state == PYRO_DATABASE_GOOD && !*ret_empty && kind->lacks && sqlite3_db_readonly(db, "main") == 0 &&
                 pyro_database_number(db, kind->lacks) == 1;
    if (!older && !lacks)
        return state;
    if (!pyro_database_run(db, "PRAGMA query_only = OFF"))
        return failure(sqlite3_errcode(db));
    enum pyro_database_state prepared = prepare(db, kind, ret_version);
    state = older ? prepared : state; /* what is missing is not needed for everything */
    if (state == PYRO_DATABASE_GOOD && !pyro_database_run(db, "PRAGMA query_only = ON"))
        state = failure(sqlite3_errcode(db));
    return state;
}

/* SQLite makes files by the umask, and its journals like the file: a new one is made before, for its owner only. What
 * exists keeps its permissions; what cannot be made is left to SQLite to complain of. */
static void make_private(const char *path)
{
    int file = pyro_new_file(path, PYRO_NEW_FILE_PRIVATE);
    if (file >= 0)
        close(file);
}

enum pyro_database_state pyro_database_open(const char *path, const struct pyro_database_kind *kind, bool writes,
                                            sqlite3 **ret, int64_t *ret_version)
{
    /* A reader too: only so can it undo what a writer that died left unfinished. */
    int flags = SQLITE_OPEN_READWRITE | (writes ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_NOMUTEX;
    int64_t version = 0;
    bool empty = false;
    if (writes && path[0] != ':') /* ":memory:" */
        make_private(path);
    int code = sqlite3_open_v2(path, ret, flags, NULL);
    if (code != SQLITE_OK)
        return failure(code);
    sqlite3_busy_timeout(*ret, kind->patience_ms);
    sqlite3_db_config(*ret, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    if (!writes && !pyro_database_run(*ret, "PRAGMA query_only = ON"))
        return failure(sqlite3_errcode(*ret));
    /* Pages whose cells do not fit are found before they are followed. */
    if (!pyro_database_run(*ret, "PRAGMA cell_size_check = ON"))
        return failure(sqlite3_errcode(*ret));
    /* Of another file it would be a change, though it says what is so already. */
    if (writes && kind->before && pyro_database_number(*ret, "PRAGMA page_count") == 0 &&
        !pyro_database_run(*ret, kind->before))
        return failure(sqlite3_errcode(*ret));
    enum pyro_database_state state =
        writes ? prepare(*ret, kind, &version) : prepare_to_read(*ret, kind, &version, &empty);
    if (ret_version)
        *ret_version = version;
    return state == PYRO_DATABASE_GOOD && empty ? PYRO_DATABASE_FOREIGN : state;
}
