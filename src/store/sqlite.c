/* A store in one SQLite file. Tables are ours to change; the views are a contract (docs/store.md). */
#include <string.h>

#include "base/memory.h"
#include "base/secret_expressions.h"
#include "store/database.h"
#include "store/store.h"

/* A reader does not wait for as long as a writer: whoever reads has something to answer without the store. */
enum { APPLICATION_ID = 0x5059524f, VERSION = 1, WRITER_PATIENCE_MS = 10000, READER_PATIENCE_MS = 1000 };

static const char schema[] =
    "CREATE TABLE run (key INTEGER PRIMARY KEY, app_id TEXT NOT NULL, attempt TEXT NOT NULL, name TEXT NOT NULL,"
    " user TEXT, spark_version TEXT, master TEXT, status TEXT, start_ms INTEGER, end_ms INTEGER, duration_ms INTEGER,"
    " core_ms INTEGER, confidence REAL, recorded_ms INTEGER NOT NULL, path TEXT, json TEXT NOT NULL,"
    " UNIQUE (app_id, attempt));"
    "CREATE INDEX run_by_name ON run (name, start_ms);"
    "CREATE TABLE run_finding (run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE, position INTEGER NOT NULL,"
    " id TEXT NOT NULL, rule TEXT NOT NULL, category TEXT NOT NULL, severity TEXT NOT NULL, confidence REAL,"
    " title TEXT, cause TEXT, job INTEGER, stage INTEGER, stage_attempt INTEGER, sql INTEGER, executor TEXT, host TEXT,"
    " call_site TEXT, saves_low_ms INTEGER, saves_ms INTEGER, saves_high_ms INTEGER, saves_core_ms INTEGER,"
    " folded INTEGER NOT NULL, PRIMARY KEY (run, position)) WITHOUT ROWID;"
    "CREATE INDEX run_finding_by_id ON run_finding (id);"
    "CREATE TABLE run_aggregate (run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE, name TEXT NOT NULL,"
    " value REAL NOT NULL, PRIMARY KEY (run, name)) WITHOUT ROWID;"
    "CREATE TABLE verdict (key INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, application TEXT NOT NULL,"
    " finding TEXT NOT NULL, rule TEXT NOT NULL, verdict TEXT NOT NULL, note TEXT NOT NULL);"
    "CREATE TABLE baseline (name TEXT PRIMARY KEY, run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE);"
    "CREATE TABLE error (key INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, app_id TEXT NOT NULL, step TEXT NOT NULL,"
    " type TEXT NOT NULL, message TEXT NOT NULL, raw TEXT);"
    "CREATE VIEW runs AS SELECT app_id, attempt, name, user, start_ms, end_ms, duration_ms, spark_version, master,"
    " status, core_ms, confidence, recorded_ms, path FROM run;"
    "CREATE VIEW raw AS SELECT app_id, attempt, json FROM run;"
    "CREATE VIEW aggregates AS SELECT app_id, attempt, a.name AS name, value FROM run JOIN run_aggregate a ON run = "
    "key;"
    "CREATE VIEW findings AS SELECT app_id, attempt, id, rule, severity, category, f.confidence AS confidence, title,"
    " cause, job, stage, stage_attempt, sql, executor, host, call_site, saves_low_ms, saves_ms, saves_high_ms,"
    " saves_core_ms, folded FROM run JOIN run_finding f ON run = key;"
    "CREATE VIEW errors AS SELECT app_id, step, type, message, raw, time_ms FROM error;"
    "CREATE VIEW feedback AS SELECT application, finding, rule, verdict, note, time_ms FROM verdict;"
    "CREATE VIEW baselines AS SELECT b.name AS name, app_id, attempt FROM baseline b JOIN run ON run = key;";

/* Who may see a run, as its application said, and the key of the expressions that its texts were redacted by. Stores
 * that were made before have no such rows yet. */
static const char additions[] =
    "CREATE TABLE IF NOT EXISTS run_access (run INTEGER PRIMARY KEY REFERENCES run (key) ON DELETE CASCADE,"
    " enabled INTEGER NOT NULL, view_users TEXT, view_groups TEXT, admin_users TEXT, admin_groups TEXT);"
    "CREATE TABLE IF NOT EXISTS run_redaction (run INTEGER PRIMARY KEY REFERENCES run (key) ON DELETE CASCADE,"
    " expressions INTEGER NOT NULL);";

struct store {
    const struct pyro_allocator *allocator;
    sqlite3 *db;
    char place[]; /* for messages */
};

static enum pyro_status damaged(const char *place, struct pyro_error *error)
{
    pyro_error_set(error, PYRO_ERROR_INPUT,
                   "the store is damaged and was not changed: restore a copy, or name another file");
    pyro_error_at(error, place, UINT64_MAX);
    return pyro_error_lasts(error, PYRO_ERROR_INPUT);
}

static enum pyro_status no_memory(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for the store");
}

static enum pyro_status fail(const struct store *store, enum pyro_status code, const char *what,
                             struct pyro_error *error)
{
    int reason = sqlite3_errcode(store->db);
    if (reason == SQLITE_NOMEM)
        return no_memory(error);
    if (pyro_database_is_damage(reason))
        return damaged(store->place, error);
    /* "not an error": a text that was to be bound was too long, or a step gave what it never gives. */
    pyro_error_set(error, code, "the store %s: %s", what, sqlite3_errmsg(store->db));
    pyro_error_at(error, store->place, UINT64_MAX);
    return code;
}

static void close_store(void *state)
{
    struct store *store = state;
    if (!store)
        return;
    sqlite3_close(store->db);
    pyro_release(store->allocator, store);
}

static bool run_text(struct store *store, const char *text)
{
    return pyro_database_run(store->db, text);
}

/* A file that is there and may be written to, but not now, is a matter of output. */
static enum pyro_status cannot_open(const struct store *store, bool writes, struct pyro_error *error)
{
    int reason = store->db ? sqlite3_errcode(store->db) : SQLITE_NOMEM;
    bool unread =
        reason == SQLITE_OK || reason == SQLITE_ROW || reason == SQLITE_DONE; /* the look through it says so */
    bool now = reason == SQLITE_BUSY || reason == SQLITE_LOCKED || reason == SQLITE_FULL || reason == SQLITE_IOERR;
    if (reason == SQLITE_NOMEM)
        return no_memory(error);
    return pyro_error_set(error, writes && (now || unread) ? PYRO_ERROR_OUTPUT : PYRO_ERROR_INPUT,
                          "cannot open the store: %s", unread ? "cannot read a part of it" : sqlite3_errmsg(store->db));
}

static enum pyro_status open_file(struct store *store, const char *place, bool writes, struct pyro_error *error)
{
    const struct pyro_database_kind kind = {APPLICATION_ID, VERSION, writes ? WRITER_PATIENCE_MS : READER_PATIENCE_MS,
                                            schema, additions};
    int64_t version;
    switch (pyro_database_open(place, &kind, writes, &store->db, &version)) {
    case PYRO_DATABASE_GOOD:
        return PYRO_OK;
    case PYRO_DATABASE_FOREIGN:
        pyro_error_set(error, PYRO_ERROR_INPUT, "it is an SQLite file, but not a Pyrometer store; name another file");
        return pyro_error_lasts(error, PYRO_ERROR_INPUT);
    case PYRO_DATABASE_OTHER_VERSION:
        pyro_error_set(error, PYRO_ERROR_INPUT,
                       "it is a store of version %lld, but this build supports version %d; use a newer build",
                       (long long)version, VERSION);
        return pyro_error_lasts(error, PYRO_ERROR_INPUT);
    case PYRO_DATABASE_DAMAGED:
        return damaged(place, error);
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
    struct store *store = pyro_allocate(allocator, sizeof(*store) + bytes);
    if (!store)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for a store");
    *store = (struct store){.allocator = allocator};
    memcpy(store->place, place, bytes);
    enum pyro_status status = open_file(store, place, writes, error);
    /* Without it a run that is recorded again would keep rows of the one before. */
    if (status == PYRO_OK &&
        (!run_text(store, "PRAGMA foreign_keys = ON") ||
         !run_text(store, "PRAGMA secure_delete = ON"))) /* what is written anew may replace what was not redacted */
        status = fail(store, PYRO_ERROR_INPUT, "cannot be opened", error);
    if (status != PYRO_OK) {
        pyro_error_at(error, place, UINT64_MAX);
        close_store(store);
        return status;
    }
    *ret = store;
    return PYRO_OK;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void bind_slice(sqlite3_stmt *statement, int at, struct pyro_slice text)
{
    if (text.ptr)
        sqlite3_bind_text64(statement, at, text.ptr, text.len, SQLITE_STATIC, SQLITE_UTF8);
}

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    bind_slice(statement, at, pyro_slice_from(text));
}

static void bind_int(sqlite3_stmt *statement, int at, int64_t value)
{
    if (value != PYRO_NONE)
        sqlite3_bind_int64(statement, at, value);
}

static sqlite3_stmt *prepared(struct store *store, const char *text)
{
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(store->db, text, -1, &statement, NULL);
    return statement; /* NULL: later calls with it fail, and the error is the database's */
}

static bool put(sqlite3_stmt *statement)
{
    if (!statement) /* which SQLite does not take everywhere */
        return false;
    bool done = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return done;
}

/* Key of the run's row; a run that was there keeps its own, and with it its names as a baseline. */
static int64_t put_run(struct store *store, const struct pyro_run *run)
{
    const struct pyro_app *app = run->diagnosis->app;
    const struct pyro_application_row *row = &app->application;
    sqlite3_stmt *s = prepared(
        store,
        "INSERT INTO run (app_id, attempt, name, user, spark_version, master, status, start_ms, end_ms, duration_ms,"
        " core_ms, confidence, recorded_ms, path, json) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
        " ON CONFLICT (app_id, attempt) DO UPDATE SET name = excluded.name, user = excluded.user,"
        " spark_version = excluded.spark_version, master = excluded.master, status = excluded.status,"
        " start_ms = excluded.start_ms, end_ms = excluded.end_ms, duration_ms = excluded.duration_ms,"
        " core_ms = excluded.core_ms, confidence = excluded.confidence, recorded_ms = excluded.recorded_ms,"
        " path = excluded.path, json = excluded.json RETURNING key");
    if (!s)
        return -1;
    bind_slice(s, 1, run->app_id);
    bind_slice(s, 2, run->attempt);
    bind_slice(s, 3, run->name);
    bind_slice(s, 4, row->user);
    bind_slice(s, 5, row->spark_version);
    bind_slice(s, 6, row->master);
    bind_slice(s, 7, row->status);
    bind_int(s, 8, row->start_ms);
    bind_int(s, 9, row->end_ms);
    bind_int(s, 10, row->duration_ms);
    bind_int(s, 11, app->numbers.core_total_ms);
    sqlite3_bind_double(s, 12, app->integrity.confidence);
    sqlite3_bind_int64(s, 13, run->recorded_ms);
    bind_slice(s, 14, run->path);
    bind_slice(s, 15, run->report);
    int64_t key = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : -1;
    if (key >= 0 && sqlite3_step(s) != SQLITE_DONE)
        key = -1;
    sqlite3_finalize(s);
    return key;
}

static bool put_findings(struct store *store, int64_t key, const struct pyro_diagnosis *diagnosis)
{
    sqlite3_stmt *s = prepared(store, "INSERT INTO run_finding VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    bool ok = s != NULL;
    for (size_t i = 0; i < diagnosis->finding_count && ok; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        sqlite3_bind_int64(s, 1, key);
        sqlite3_bind_int64(s, 2, (int64_t)i);
        bind_slice(s, 3, finding->id);
        bind_text(s, 4, finding->rule->id);
        bind_text(s, 5, finding->rule->category);
        bind_text(s, 6, pyro_severity_name(finding->severity));
        sqlite3_bind_double(s, 7, finding->confidence);
        bind_slice(s, 8, finding->title);
        bind_slice(s, 9, finding->cause);
        bind_int(s, 10, finding->job);
        bind_int(s, 11, finding->stage);
        bind_int(s, 12, finding->attempt);
        bind_int(s, 13, finding->sql);
        bind_slice(s, 14, finding->executor);
        bind_slice(s, 15, finding->host);
        bind_slice(s, 16, finding->call_site);
        bind_int(s, 17, finding->saves.wall_low_ms);
        bind_int(s, 18, finding->saves.wall_expected_ms);
        bind_int(s, 19, finding->saves.wall_high_ms);
        bind_int(s, 20, finding->saves.core_ms);
        sqlite3_bind_int(s, 21, finding->folded);
        ok = put(s);
    }
    sqlite3_finalize(s);
    return ok;
}

static bool put_access(struct store *store, int64_t key, const struct pyro_access_lists *access)
{
    sqlite3_stmt *s = prepared(store, "INSERT OR REPLACE INTO run_access VALUES (?,?,?,?,?,?)");
    if (s) {
        sqlite3_bind_int64(s, 1, key);
        sqlite3_bind_int(s, 2, access->enabled);
        bind_slice(s, 3, access->users);
        bind_slice(s, 4, access->groups);
        bind_slice(s, 5, access->admins);
        bind_slice(s, 6, access->admin_groups);
    }
    bool ok = put(s);
    sqlite3_finalize(s);
    return ok;
}

static bool put_redaction(struct store *store, int64_t key, enum pyro_redaction redaction)
{
    sqlite3_stmt *s = prepared(store, "INSERT OR REPLACE INTO run_redaction VALUES (?,?)");
    if (s) {
        sqlite3_bind_int64(s, 1, key);
        sqlite3_bind_int64(s, 2, (int64_t)pyro_secret_expressions_key(redaction));
    }
    bool ok = put(s);
    sqlite3_finalize(s);
    return ok;
}

static bool put_aggregates(struct store *store, int64_t key, const struct pyro_run *run)
{
    sqlite3_stmt *s = prepared(store, "INSERT INTO run_aggregate VALUES (?,?,?)");
    bool ok = s != NULL;
    for (size_t i = 0; i < run->aggregates.count && ok; i++) {
        sqlite3_bind_int64(s, 1, key);
        bind_text(s, 2, run->aggregates.items[i].name);
        sqlite3_bind_double(s, 3, run->aggregates.items[i].value);
        ok = put(s);
    }
    sqlite3_finalize(s);
    return ok;
}

/* Runs one statement with the run's key as ?1 and, where given, a text as ?2. */
static bool with_key(struct store *store, const char *text, int64_t key, const char *name)
{
    sqlite3_stmt *s = prepared(store, text);
    if (s) {
        sqlite3_bind_int64(s, 1, key);
        if (name)
            bind_text(s, 2, name);
    }
    bool ok = put(s);
    sqlite3_finalize(s);
    return ok;
}

static enum pyro_status sqlite_record(void *state, const struct pyro_run *run, struct pyro_error *error)
{
    struct store *store = state;
    if (!run_text(store, "BEGIN IMMEDIATE"))
        return fail(store, PYRO_ERROR_OUTPUT, "cannot be written", error);
    int64_t key = put_run(store, run);
    bool ok = key >= 0 && with_key(store, "DELETE FROM run_finding WHERE run = ?1", key, NULL) &&
              with_key(store, "DELETE FROM run_aggregate WHERE run = ?1", key, NULL) &&
              put_findings(store, key, run->diagnosis) && put_aggregates(store, key, run) &&
              put_access(store, key, &run->access) && put_redaction(store, key, run->diagnosis->app->redaction) &&
              (!run->baseline || with_key(store,
                                          "INSERT INTO baseline (name, run) VALUES (?2, ?1)"
                                          " ON CONFLICT (name) DO UPDATE SET run = excluded.run",
                                          key, run->baseline)) &&
              run_text(store, "COMMIT");
    if (ok)
        return PYRO_OK;
    enum pyro_status status = fail(store, PYRO_ERROR_OUTPUT, "cannot be written", error);
    run_text(store, "ROLLBACK");
    return status;
}

static enum pyro_status finish_insert(struct store *store, sqlite3_stmt *statement, struct pyro_error *error)
{
    bool ok = put(statement);
    enum pyro_status status = ok ? PYRO_OK : fail(store, PYRO_ERROR_OUTPUT, "cannot be written", error);
    sqlite3_finalize(statement);
    return status;
}

static enum pyro_status sqlite_record_error(void *state, const struct pyro_store_error_row *row,
                                            struct pyro_error *error)
{
    struct store *store = state;
    sqlite3_stmt *s =
        prepared(store, "INSERT INTO error (time_ms, app_id, step, type, message, raw) VALUES (?,?,?,?,?,?)");
    if (s) {
        sqlite3_bind_int64(s, 1, row->time_ms);
        bind_text(s, 2, row->application);
        bind_text(s, 3, row->step);
        bind_text(s, 4, row->type);
        bind_text(s, 5, row->message);
        bind_text(s, 6, row->raw);
    }
    return finish_insert(store, s, error);
}

static enum pyro_status sqlite_add_verdict(void *state, const struct pyro_verdict_row *row, struct pyro_error *error)
{
    struct store *store = state;
    sqlite3_stmt *s = prepared(
        store, "INSERT INTO verdict (time_ms, application, finding, rule, verdict, note) VALUES (?,?,?,?,?,?)");
    if (s) {
        sqlite3_bind_int64(s, 1, row->time_ms);
        bind_text(s, 2, row->application);
        bind_text(s, 3, row->finding);
        bind_text(s, 4, row->rule);
        bind_text(s, 5, pyro_feedback_name(row->verdict));
        bind_text(s, 6, row->note);
    }
    return finish_insert(store, s, error);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static const char *column_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}

/* Columns that were read may be wanting for want of memory, which only the connection says. */
static int row_step(const struct store *store, int step)
{
    return step == SQLITE_ROW && sqlite3_errcode(store->db) == SQLITE_NOMEM ? SQLITE_NOMEM : step;
}

static const char *keep(struct pyro_arena *arena, const char *text)
{
    return pyro_arena_copy(arena, pyro_slice_from(text)).ptr;
}

static enum pyro_status sqlite_find_finding(void *state, const char *application, const char *finding,
                                            struct pyro_arena *arena, struct pyro_verdict_row *row,
                                            struct pyro_error *error)
{
    struct store *store = state;
    sqlite3_stmt *s = prepared(store, "SELECT name, max(f.rule) FROM run JOIN run_finding f ON run = key WHERE id = ?1"
                                      " AND (?2 IS NULL OR name = ?2 OR app_id = ?2) GROUP BY name"
                                      " ORDER BY max(start_ms) DESC, name LIMIT 2");
    if (!s)
        return fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    bind_text(s, 1, finding);
    bind_text(s, 2, application);
    int step = sqlite3_step(s);
    enum pyro_status status = PYRO_OK;
    if (step == SQLITE_ROW) {
        row->application = keep(arena, column_text(s, 0));
        row->rule = keep(arena, column_text(s, 1));
        step = row_step(store, step);
        int more = step == SQLITE_ROW ? sqlite3_step(s) : SQLITE_DONE;
        if (!row->application || !row->rule || step != SQLITE_ROW)
            status = no_memory(error);
        else if (more != SQLITE_ROW && more != SQLITE_DONE)
            status = fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
        else if (more == SQLITE_ROW)
            status = pyro_error_set(
                error, PYRO_ERROR_ARGUMENT,
                "several applications have the finding '%.200s', such as '%.200s' and '%.200s'; name one with --app",
                finding, row->application, column_text(s, 0));
    } else if (step == SQLITE_DONE) {
        status =
            pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                           "no run%s%.200s%s in the store has the finding '%.200s'; record one with 'pyrometer "
                           "diagnose LOG --store ...', which prints its ids",
                           application ? " of '" : "", application ? application : "", application ? "'" : "", finding);
    } else {
        status = fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    }
    sqlite3_finalize(s);
    return status;
}

static enum pyro_status sqlite_each_verdict(void *state, int (*take)(void *context, const struct pyro_verdict_row *row),
                                            void *context, struct pyro_error *error)
{
    struct store *store = state;
    sqlite3_stmt *s =
        prepared(store, "SELECT time_ms, application, finding, rule, verdict, note FROM verdict WHERE verdict ="
                        " 'missed' OR key IN (SELECT max(key) FROM verdict WHERE verdict <> 'missed'"
                        " GROUP BY application, finding) ORDER BY key");
    int step = s ? SQLITE_ROW : SQLITE_ERROR;
    while (step == SQLITE_ROW && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct pyro_verdict_row row = {
            sqlite3_column_int64(s, 0), 0, column_text(s, 1), column_text(s, 2), column_text(s, 3), column_text(s, 5)};
        unsigned verdict = 0;
        const char *named = column_text(s, 4);
        if ((step = row_step(store, step)) != SQLITE_ROW)
            break;
        while (pyro_feedback_name(verdict) && strcmp(pyro_feedback_name(verdict), named) != 0)
            verdict++;
        if (!pyro_feedback_name(verdict))
            continue; /* written by a later build */
        row.verdict = (enum pyro_feedback_verdict)verdict;
        if (take(context, &row) != 0)
            step = SQLITE_DONE;
    }
    enum pyro_status status = step == SQLITE_DONE ? PYRO_OK : fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    sqlite3_finalize(s);
    return status;
}

static enum pyro_status sqlite_each_run(void *state, int (*take)(void *context, const struct pyro_past_run *run),
                                        void *context, struct pyro_error *error)
{
    struct store *store = state;
    sqlite3_stmt *s = prepared(store, "SELECT name, start_ms, end_ms, core_ms FROM run WHERE start_ms IS NOT NULL AND"
                                      " end_ms IS NOT NULL AND core_ms IS NOT NULL ORDER BY start_ms, key");
    int step = s ? SQLITE_ROW : SQLITE_ERROR;
    while (step == SQLITE_ROW && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct pyro_past_run run = {sizeof(run), column_text(s, 0), sqlite3_column_int64(s, 1),
                                    sqlite3_column_int64(s, 2), sqlite3_column_int64(s, 3)};
        step = row_step(store, step);
        if (step == SQLITE_ROW && take(context, &run) != 0)
            step = SQLITE_DONE;
    }
    enum pyro_status status = step == SQLITE_DONE ? PYRO_OK : fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    sqlite3_finalize(s);
    return status;
}

static struct pyro_slice column_slice(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    int len = sqlite3_column_bytes(statement, column);
    return text ? (struct pyro_slice){text, (size_t)(len > 0 ? len : 0)} : PYRO_SLICE_NULL;
}

static int64_t column_ms(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL ? PYRO_NONE : sqlite3_column_int64(statement, column);
}

static enum pyro_status sqlite_each_stored(void *state, int (*take)(void *context, const struct pyro_stored_run *run),
                                           void *context, struct pyro_error *error)
{
    struct store *store = state;
    /* Where that cannot be asked, nobody may be let in as if it had not been known. */
    int64_t tables = pyro_database_number(store->db, "SELECT count(*) FROM sqlite_schema WHERE name = 'run_access'");
    if (tables < 0)
        return fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    bool knows = tables == 1;
    sqlite3_stmt *s =
        prepared(store, knows ? "SELECT app_id, attempt, name, user, spark_version, status, path, start_ms, end_ms,"
                                " recorded_ms, enabled, view_users, view_groups, admin_users, admin_groups FROM run"
                                " LEFT JOIN run_access ON run = key ORDER BY app_id, attempt"
                              : "SELECT app_id, attempt, name, user, spark_version, status, path, start_ms, end_ms,"
                                " recorded_ms, NULL, NULL, NULL, NULL, NULL FROM run ORDER BY app_id, attempt");
    int step = s ? SQLITE_ROW : SQLITE_ERROR;
    while (step == SQLITE_ROW && (step = sqlite3_step(s)) == SQLITE_ROW) {
        const struct pyro_stored_run run = {
            .app_id = column_slice(s, 0),
            .attempt = column_slice(s, 1),
            .name = column_slice(s, 2),
            .user = column_slice(s, 3),
            .spark_version = column_slice(s, 4),
            .status = column_slice(s, 5),
            .path = column_slice(s, 6),
            .start_ms = column_ms(s, 7),
            .end_ms = column_ms(s, 8),
            .recorded_ms = sqlite3_column_int64(s, 9),
            .knows_access = sqlite3_column_type(s, 10) != SQLITE_NULL,
            .access = {.known = true,
                       .enabled = sqlite3_column_int(s, 10) != 0,
                       .users = column_slice(s, 11),
                       .groups = column_slice(s, 12),
                       .admins = column_slice(s, 13),
                       .admin_groups = column_slice(s, 14)},
        };
        step = row_step(store, step);
        if (step == SQLITE_ROW && take(context, &run) != 0)
            step = SQLITE_DONE;
    }
    enum pyro_status status = step == SQLITE_DONE ? PYRO_OK : fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    sqlite3_finalize(s);
    return status;
}

/* What the run's texts were redacted by; 0: nobody knows. */
static uint64_t redaction_of(struct store *store, struct pyro_slice app_id, struct pyro_slice attempt)
{
    sqlite3_stmt *s =
        prepared(store, "SELECT expressions FROM run_redaction JOIN run ON run = key WHERE app_id = ? AND attempt = ?");
    if (s) {
        bind_slice(s, 1, app_id);
        bind_slice(s, 2, attempt.ptr ? attempt : PYRO_SLICE_LITERAL(""));
    }
    uint64_t key = s && sqlite3_step(s) == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return key;
}

static enum pyro_status sqlite_report(void *state, struct pyro_slice app_id, struct pyro_slice attempt,
                                      struct pyro_strbuf *out, uint64_t *ret_redaction, struct pyro_error *error)
{
    struct store *store = state;
    sqlite3_stmt *s = prepared(store, "SELECT json FROM run WHERE app_id = ? AND attempt = ?");
    if (s) {
        bind_slice(s, 1, app_id);
        bind_slice(s, 2, attempt.ptr ? attempt : PYRO_SLICE_LITERAL(""));
    }
    int step = s ? sqlite3_step(s) : SQLITE_ERROR;
    enum pyro_status status = PYRO_OK;
    if (step == SQLITE_ROW) {
        *ret_redaction = redaction_of(store, app_id, attempt);
        pyro_strbuf_add_slice(out, column_slice(s, 0));
        if (out->failed || row_step(store, step) != SQLITE_ROW)
            status = pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for a stored report");
    } else if (step == SQLITE_DONE) {
        status = pyro_error_lasts(error, pyro_error_set(error, PYRO_ERROR_INPUT, "the store no longer has this run"));
    } else {
        status = fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    }
    sqlite3_finalize(s);
    return status;
}

static int64_t sqlite_state(void *state)
{
    struct store *store = state;
    return pyro_database_number(store->db, "PRAGMA data_version");
}

static enum pyro_status sqlite_baseline(void *state, const char *name, struct pyro_arena *arena,
                                        struct pyro_baseline *ret, uint64_t *ret_redaction, struct pyro_error *error)
{
    struct store *store = state;
    sqlite3_stmt *s =
        prepared(store, "SELECT app_id, attempt, path, json FROM baseline b JOIN run ON run = key WHERE b.name = ?");
    if (!s)
        return fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    bind_text(s, 1, name);
    int step = sqlite3_step(s);
    enum pyro_status status = PYRO_OK;
    *ret = (struct pyro_baseline){.size = sizeof(*ret)};
    if (step == SQLITE_ROW) {
        struct pyro_baseline found = {sizeof(found), keep(arena, column_text(s, 0)), keep(arena, column_text(s, 1)),
                                      keep(arena, column_text(s, 2)), keep(arena, column_text(s, 3))};
        if (!found.application || !found.attempt || !found.path || !found.report || row_step(store, step) != SQLITE_ROW)
            status = no_memory(error);
        else
            *ret = found;
        *ret_redaction = redaction_of(store, column_slice(s, 0), column_slice(s, 1));
    } else if (step != SQLITE_DONE) {
        status = fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    }
    sqlite3_finalize(s);
    return status;
}

const struct pyro_backend pyro_backend_sqlite = {
    .scheme = "sqlite",
    .open = open_store,
    .close = close_store,
    .record = sqlite_record,
    .record_error = sqlite_record_error,
    .find_finding = sqlite_find_finding,
    .add_verdict = sqlite_add_verdict,
    .each_verdict = sqlite_each_verdict,
    .each_run = sqlite_each_run,
    .baseline = sqlite_baseline,
    .each_stored = sqlite_each_stored,
    .report = sqlite_report,
    .state = sqlite_state,
};
