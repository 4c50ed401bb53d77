/* Runs and feedback, as they were kept. */
#include <stdio.h>
#include <string.h>

#include "store/sqlite/sqlite.h"

static const char *column_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}

static const char *keep(struct pyro_arena *arena, const char *text)
{
    return pyro_arena_copy(arena, pyro_slice_from(text)).ptr;
}

enum pyro_status pyro_sqlite_find_finding(void *state, const char *application, const char *finding,
                                          struct pyro_arena *arena, struct pyro_verdict_row *row,
                                          struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    sqlite3_stmt *s =
        pyro_sqlite_prepare(store, "SELECT name, max(f.rule) FROM run JOIN run_finding f ON run = key WHERE id = ?1"
                                   " AND (?2 IS NULL OR name = ?2 OR app_id = ?2) GROUP BY name"
                                   " ORDER BY max(start_ms) DESC, name LIMIT 2");
    if (!s)
        return pyro_sqlite_fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    pyro_sqlite_bind_text(s, 1, finding);
    pyro_sqlite_bind_text(s, 2, application);
    int step = sqlite3_step(s);
    enum pyro_status status = PYRO_OK;
    if (step == SQLITE_ROW) {
        row->application = keep(arena, column_text(s, 0));
        row->rule = keep(arena, column_text(s, 1));
        step = pyro_sqlite_row_step(store, step);
        int more = step == SQLITE_ROW ? sqlite3_step(s) : SQLITE_DONE;
        if (!row->application || !row->rule || step != SQLITE_ROW)
            status = pyro_no_memory(error);
        else if (more != SQLITE_ROW && more != SQLITE_DONE)
            status = pyro_sqlite_fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
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
        status = pyro_sqlite_fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    }
    sqlite3_finalize(s);
    return status;
}

enum pyro_status pyro_sqlite_each_verdict(void *state, int (*take)(void *context, const struct pyro_verdict_row *row),
                                          void *context, struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    sqlite3_stmt *s = pyro_sqlite_prepare(
        store, "SELECT time_ms, application, finding, rule, verdict, note FROM verdict WHERE verdict ="
               " 'missed' OR key IN (SELECT max(key) FROM verdict WHERE verdict <> 'missed'"
               " GROUP BY application, finding) ORDER BY key");
    int step = s ? SQLITE_ROW : SQLITE_ERROR;
    while (step == SQLITE_ROW && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct pyro_verdict_row row = {
            sqlite3_column_int64(s, 0), 0, column_text(s, 1), column_text(s, 2), column_text(s, 3), column_text(s, 5)};
        unsigned verdict = 0;
        const char *named = column_text(s, 4);
        if ((step = pyro_sqlite_row_step(store, step)) != SQLITE_ROW)
            break;
        while (pyro_feedback_name(verdict) && strcmp(pyro_feedback_name(verdict), named) != 0)
            verdict++;
        if (!pyro_feedback_name(verdict))
            continue; /* written by a later build */
        row.verdict = (enum pyro_feedback_verdict)verdict;
        if (take(context, &row) != 0)
            step = SQLITE_DONE;
    }
    enum pyro_status status =
        step == SQLITE_DONE ? PYRO_OK : pyro_sqlite_fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    sqlite3_finalize(s);
    return status;
}

enum pyro_status pyro_sqlite_each_run(void *state, int (*take)(void *context, const struct pyro_past_run *run),
                                      void *context, struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    sqlite3_stmt *s =
        pyro_sqlite_prepare(store, "SELECT name, start_ms, end_ms, core_ms FROM run WHERE start_ms IS NOT NULL AND"
                                   " end_ms IS NOT NULL AND core_ms IS NOT NULL ORDER BY start_ms, key");
    int step = s ? SQLITE_ROW : SQLITE_ERROR;
    while (step == SQLITE_ROW && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct pyro_past_run run = {sizeof(run), column_text(s, 0), sqlite3_column_int64(s, 1),
                                    sqlite3_column_int64(s, 2), sqlite3_column_int64(s, 3)};
        step = pyro_sqlite_row_step(store, step);
        if (step == SQLITE_ROW && take(context, &run) != 0)
            step = SQLITE_DONE;
    }
    enum pyro_status status =
        step == SQLITE_DONE ? PYRO_OK : pyro_sqlite_fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    sqlite3_finalize(s);
    return status;
}

static int64_t column_ms(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL ? PYRO_NONE : sqlite3_column_int64(statement, column);
}

enum pyro_status pyro_sqlite_each_stored(void *state, int (*take)(void *context, const struct pyro_stored_run *run),
                                         void *context, struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    /* If that cannot be asked, no user may be let in as if it had not been known. */
    int64_t tables = pyro_database_number(store->db, "SELECT count(*) FROM sqlite_schema WHERE name = 'run_access'");
    if (tables < 0)
        return pyro_sqlite_fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    bool knows = tables == 1, outcomes = pyro_database_number(store->db, pyro_sqlite_lacks) == 0;
    char text[400];
    snprintf(text, sizeof(text),
             "SELECT app_id, attempt, name, user, spark_version, status, path, start_ms, end_ms, recorded_ms, %s,"
             " source, %s FROM run%s ORDER BY app_id, attempt",
             knows ? "enabled, view_users, view_groups, admin_users, admin_groups" : "NULL, NULL, NULL, NULL, NULL",
             outcomes ? "outcome" : "NULL", knows ? " LEFT JOIN run_access ON run = key" : "");
    sqlite3_stmt *s = pyro_sqlite_prepare(store, text);
    int step = s ? SQLITE_ROW : SQLITE_ERROR;
    while (step == SQLITE_ROW && (step = sqlite3_step(s)) == SQLITE_ROW) {
        const struct pyro_stored_run run = {
            .app_id = pyro_sqlite_slice(s, 0),
            .attempt = pyro_sqlite_slice(s, 1),
            .name = pyro_sqlite_slice(s, 2),
            .user = pyro_sqlite_slice(s, 3),
            .spark_version = pyro_sqlite_slice(s, 4),
            .status = pyro_sqlite_slice(s, 5),
            .path = pyro_sqlite_slice(s, 6),
            .source = pyro_sqlite_slice(s, 15),
            .outcome = pyro_sqlite_slice(s, 16),
            .start_ms = column_ms(s, 7),
            .end_ms = column_ms(s, 8),
            .recorded_ms = sqlite3_column_int64(s, 9),
            .knows_access = sqlite3_column_type(s, 10) != SQLITE_NULL,
            .access = {.known = true,
                       .enabled = sqlite3_column_int(s, 10) != 0,
                       .users = pyro_sqlite_slice(s, 11),
                       .groups = pyro_sqlite_slice(s, 12),
                       .admins = pyro_sqlite_slice(s, 13),
                       .admin_groups = pyro_sqlite_slice(s, 14)},
        };
        step = pyro_sqlite_row_step(store, step);
        if (step == SQLITE_ROW && take(context, &run) != 0)
            step = SQLITE_DONE;
    }
    enum pyro_status status =
        step == SQLITE_DONE ? PYRO_OK : pyro_sqlite_fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    sqlite3_finalize(s);
    return status;
}

/* What the run's texts were redacted by; 0: not known. */
static uint64_t redaction_of(struct pyro_sqlite *store, struct pyro_slice app_id, struct pyro_slice attempt)
{
    sqlite3_stmt *s = pyro_sqlite_prepare(
        store, "SELECT expressions FROM run_redaction JOIN run ON run = key WHERE app_id = ? AND attempt = ?");
    if (s) {
        pyro_sqlite_bind_slice(s, 1, app_id);
        pyro_sqlite_bind_slice(s, 2, attempt.ptr ? attempt : PYRO_SLICE_LITERAL(""));
    }
    uint64_t key = s && sqlite3_step(s) == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return key;
}

enum pyro_status pyro_sqlite_report(void *state, struct pyro_slice app_id, struct pyro_slice attempt,
                                    struct pyro_strbuf *out, uint64_t *ret_redaction, struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    sqlite3_stmt *s = pyro_sqlite_prepare(
        store, "SELECT json FROM run JOIN run_report ON run = key WHERE app_id = ? AND attempt = ?");
    if (s) {
        pyro_sqlite_bind_slice(s, 1, app_id);
        pyro_sqlite_bind_slice(s, 2, attempt.ptr ? attempt : PYRO_SLICE_LITERAL(""));
    }
    int step = s ? sqlite3_step(s) : SQLITE_ERROR;
    enum pyro_status status = PYRO_OK;
    if (step == SQLITE_ROW) {
        *ret_redaction = redaction_of(store, app_id, attempt);
        pyro_strbuf_add_slice(out, pyro_sqlite_slice(s, 0));
        if (out->failed || pyro_sqlite_row_step(store, step) != SQLITE_ROW)
            status = pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for a stored report");
    } else if (step == SQLITE_DONE) {
        status = pyro_error_lasts(
            error, pyro_error_set(error, PYRO_ERROR_INPUT, "the store no longer has the report of this run"));
    } else {
        status = pyro_sqlite_fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    }
    sqlite3_finalize(s);
    return status;
}

enum pyro_status pyro_sqlite_baseline(void *state, const char *name, struct pyro_arena *arena,
                                      struct pyro_baseline *ret, uint64_t *ret_redaction, struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    sqlite3_stmt *s =
        pyro_sqlite_prepare(store, "SELECT app_id, attempt, path, json FROM baseline b JOIN run ON b.run = key"
                                   " JOIN run_report r ON r.run = key WHERE b.name = ?");
    if (!s)
        return pyro_sqlite_fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    pyro_sqlite_bind_text(s, 1, name);
    int step = sqlite3_step(s);
    enum pyro_status status = PYRO_OK;
    *ret = (struct pyro_baseline){.size = sizeof(*ret)};
    if (step == SQLITE_ROW) {
        struct pyro_baseline found = {sizeof(found), keep(arena, column_text(s, 0)), keep(arena, column_text(s, 1)),
                                      keep(arena, column_text(s, 2)), keep(arena, column_text(s, 3))};
        if (!found.application || !found.attempt || !found.path || !found.report ||
            pyro_sqlite_row_step(store, step) != SQLITE_ROW)
            status = pyro_no_memory(error);
        else
            *ret = found;
        *ret_redaction = redaction_of(store, pyro_sqlite_slice(s, 0), pyro_sqlite_slice(s, 1));
    } else if (step != SQLITE_DONE) {
        status = pyro_sqlite_fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    }
    sqlite3_finalize(s);
    return status;
}
