/* Opening, closing, and what every statement needs. */
#include "store/sqlite/query.h"

#include <string.h>

#include "base/memory/allocator.h"

/* A reader does not wait for as long as a writer: a reader has something to answer without the store. */
enum { APPLICATION_ID = 0x5059524f, WRITER_PATIENCE_MS = 10000, READER_PATIENCE_MS = 1000 };

enum pyro_status pyro_sqlite_damaged(const char *place, struct pyro_error *error)
{
    pyro_error_describe(error, PYRO_ERROR_INPUT,
                        "the store is damaged and was not changed: restore a copy, or name another file");
    pyro_error_at(error, place, UINT64_MAX);
    return pyro_error_lasts(error, PYRO_ERROR_INPUT);
}

enum pyro_status pyro_sqlite_fail(const struct pyro_sqlite *store, enum pyro_status code, const char *what,
                                  struct pyro_error *error)
{
    int reason = sqlite3_errcode(store->db);
    if (reason == SQLITE_NOMEM)
        return pyro_no_memory(error);
    if (pyro_database_is_damage(reason))
        return pyro_sqlite_damaged(store->place, error);
    /* "not an error": a text that was to be bound was too long, or a step gave what it never gives. */
    pyro_error_describe(error, code, "the store %s: %s", what, sqlite3_errmsg(store->db));
    pyro_error_at(error, store->place, UINT64_MAX);
    return code;
}

static void close_store(void *state)
{
    struct pyro_sqlite *store = state;
    if (!store)
        return;
    sqlite3_close(store->db);
    pyro_map_done(&store->names);
    pyro_release(store->allocator, store);
}

/* An existing file that may be written to, but not now, is an error of output. */
static enum pyro_status cannot_open(const struct pyro_sqlite *store, bool writes, struct pyro_error *error)
{
    int reason = store->db ? sqlite3_errcode(store->db) : SQLITE_NOMEM;
    bool unread =
        reason == SQLITE_OK || reason == SQLITE_ROW || reason == SQLITE_DONE; /* the look through it says so */
    bool now = reason == SQLITE_BUSY || reason == SQLITE_LOCKED || reason == SQLITE_FULL || reason == SQLITE_IOERR;
    if (reason == SQLITE_NOMEM)
        return pyro_no_memory(error);
    return pyro_error_set(error, writes && (now || unread) ? PYRO_ERROR_OUTPUT : PYRO_ERROR_INPUT,
                          "cannot open the store: %s", unread ? "cannot read a part of it" : sqlite3_errmsg(store->db));
}

static enum pyro_status open_file(struct pyro_sqlite *store, const char *place, bool writes, struct pyro_error *error)
{
    const struct pyro_database_kind kind = {.application_id = APPLICATION_ID,
                                            .version = PYRO_SQLITE_VERSION,
                                            .patience_ms = writes ? WRITER_PATIENCE_MS : READER_PATIENCE_MS,
                                            .before = "PRAGMA auto_vacuum = INCREMENTAL",
                                            .schema = pyro_sqlite_schema,
                                            .upgrade = pyro_sqlite_upgrade,
                                            .lacks = pyro_sqlite_lacks,
                                            .addition = pyro_sqlite_outcomes,
                                            .afterwards = pyro_sqlite_additions};
    int64_t version;
    switch (pyro_database_open(place, &kind, writes, &store->db, &version)) {
    case PYRO_DATABASE_GOOD:
        return PYRO_OK;
    case PYRO_DATABASE_FOREIGN:
        pyro_error_describe(error, PYRO_ERROR_INPUT,
                            "it is an SQLite file, but not a Pyrometer store; name another file");
        return pyro_error_lasts(error, PYRO_ERROR_INPUT);
    case PYRO_DATABASE_OTHER_VERSION:
        pyro_error_describe(error, PYRO_ERROR_INPUT,
                            "it is a store of version %lld, but this build supports version %d; use a newer build",
                            (long long)version, (int)PYRO_SQLITE_VERSION);
        return pyro_error_lasts(error, PYRO_ERROR_INPUT);
    case PYRO_DATABASE_DAMAGED:
        return pyro_sqlite_damaged(place, error);
    default:
        return cannot_open(store, writes, error);
    }
}

static enum pyro_status open_store(const char *place, bool writes, const struct pyro_allocator *allocator, void **ret,
                                   struct pyro_error *error)
{
    size_t bytes = strlen(place) + 1;
    if (!*place)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a store needs a file: sqlite:FILE");
    struct pyro_sqlite *store = pyro_allocate(allocator, sizeof(*store) + bytes);
    if (!store)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for a store");
    *store = (struct pyro_sqlite){.allocator = allocator};
    pyro_map_init(&store->names, allocator);
    memcpy(store->place, place, bytes);
    enum pyro_status status = open_file(store, place, writes, error);
    /* Without it a run that is recorded again would keep rows of the one before. */
    if (status == PYRO_OK &&
        (!pyro_sqlite_add_functions(store->db) ||
         !pyro_database_run(store->db, "PRAGMA cache_size = -32768; PRAGMA foreign_keys = ON") ||
         !pyro_database_run(store->db,
                            "PRAGMA secure_delete = ON"))) /* what is written again may replace what was not redacted */
        status = pyro_sqlite_fail(store, PYRO_ERROR_INPUT, "cannot be opened", error);
    if (status != PYRO_OK) {
        pyro_error_at(error, place, UINT64_MAX);
        close_store(store);
        return status;
    }
    *ret = store;
    return PYRO_OK;
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

void pyro_sqlite_bind_slice(sqlite3_stmt *statement, int at, struct pyro_slice text)
{
    if (text.ptr)
        sqlite3_bind_text64(statement, at, text.ptr, text.len, SQLITE_STATIC, SQLITE_UTF8);
}

void pyro_sqlite_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    pyro_sqlite_bind_slice(statement, at, pyro_slice_from(text));
}

void pyro_sqlite_bind_int(sqlite3_stmt *statement, int at, int64_t value)
{
    if (value != PYRO_NONE)
        sqlite3_bind_int64(statement, at, value);
}

sqlite3_stmt *pyro_sqlite_prepare(struct pyro_sqlite *store, const char *text)
{
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(store->db, text, -1, &statement, NULL);
    return statement; /* NULL: later calls with it fail, and the error is the database's */
}

bool pyro_sqlite_put(sqlite3_stmt *statement)
{
    if (!statement) /* which SQLite does not take everywhere */
        return false;
    bool done = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return done;
}

enum pyro_status pyro_sqlite_finish(struct pyro_sqlite *store, sqlite3_stmt *statement, struct pyro_error *error)
{
    bool ok = pyro_sqlite_put(statement);
    enum pyro_status status = ok ? PYRO_OK : pyro_sqlite_fail(store, PYRO_ERROR_OUTPUT, "cannot be written", error);
    sqlite3_finalize(statement);
    return status;
}

struct pyro_slice pyro_sqlite_slice(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    int len = sqlite3_column_bytes(statement, column);
    return text ? (struct pyro_slice){text, (size_t)(len > 0 ? len : 0)} : PYRO_SLICE_NULL;
}

int pyro_sqlite_row_step(const struct pyro_sqlite *store, int step)
{
    return step == SQLITE_ROW && sqlite3_errcode(store->db) == SQLITE_NOMEM ? SQLITE_NOMEM : step;
}

static int64_t sqlite_state(void *state)
{
    struct pyro_sqlite *store = state;
    return pyro_database_number(store->db, "PRAGMA data_version");
}

const struct pyro_backend pyro_backend_sqlite = {
    .scheme = "sqlite",
    .open = open_store,
    .close = close_store,
    .record = pyro_sqlite_record,
    .record_error = pyro_sqlite_record_error,
    .find_finding = pyro_sqlite_find_finding,
    .add_verdict = pyro_sqlite_add_verdict,
    .each_verdict = pyro_sqlite_each_verdict,
    .each_run = pyro_sqlite_each_run,
    .baseline = pyro_sqlite_baseline,
    .each_stored = pyro_sqlite_each_stored,
    .query = pyro_sqlite_query,
    .prune = pyro_sqlite_prune,
    .stat = pyro_sqlite_stat,
    .put_suggestion = pyro_sqlite_put_suggestion,
    .report = pyro_sqlite_report,
    .work = &pyro_sqlite_work,
    .add_cluster = pyro_sqlite_add_cluster,
    .state = sqlite_state,
};
