/* The work of crawlers, and what they learn of clusters: each function is one transaction, so that two of them never
 * have the same item. */
#include "store/sqlite/sqlite.h"

static enum pyro_status not_written(struct pyro_sqlite *store, struct pyro_error *error)
{
    return pyro_sqlite_fail(store, PYRO_ERROR_OUTPUT, "cannot be written", error);
}

/* Ends the transaction that the caller has begun. */
static enum pyro_status settle(struct pyro_sqlite *store, bool ok, struct pyro_error *error)
{
    if (ok && pyro_database_run(store->db, "COMMIT"))
        return PYRO_OK;
    enum pyro_status status = not_written(store, error);
    pyro_database_run(store->db, "ROLLBACK");
    return status;
}

/* ---- What a source lists ----------------------------------------------------------------------------------------- */

static enum pyro_status offer(void *state, const struct pyro_work_item *items, size_t count, size_t *ret_new,
                              struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    size_t taken = 0;
    if (!pyro_database_run(store->db, "BEGIN IMMEDIATE"))
        return not_written(store, error);
    /* What is new stays new, with the stamp and the end that it is listed with now. */
    sqlite3_stmt *s = pyro_sqlite_prepare(
        store, "INSERT INTO work (key, source, stamp, state, end_ms) VALUES (?1, ?2, ?3, 0, ?4) ON CONFLICT (key)"
               " DO UPDATE SET stamp = excluded.stamp, end_ms = excluded.end_ms, state = 0, tries = 0, next_ms = 0"
               " WHERE state <> 1 AND stamp <> excluded.stamp");
    bool ok = s != NULL;
    for (size_t i = 0; i < count && ok; i++) {
        pyro_sqlite_bind_slice(s, 1, items[i].key);
        pyro_sqlite_bind_slice(s, 2, items[i].source);
        pyro_sqlite_bind_slice(s, 3, items[i].stamp);
        sqlite3_bind_int64(s, 4, items[i].end_ms);
        ok = pyro_sqlite_put(s);
        taken += ok ? (size_t)sqlite3_changes(store->db) : 0;
    }
    sqlite3_finalize(s);
    PYRO_TRY(settle(store, ok, error));
    *ret_new = taken;
    return PYRO_OK;
}

static enum pyro_status listed(void *state, struct pyro_slice source, struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    sqlite3_stmt *s = pyro_sqlite_prepare(store, "INSERT OR REPLACE INTO work_source VALUES (?, ?)");
    if (s) {
        pyro_sqlite_bind_slice(s, 1, source);
        sqlite3_bind_int64(s, 2, pyro_store_now_ms());
    }
    return pyro_sqlite_finish(store, s, error);
}

static enum pyro_status counts(void *state, struct pyro_slice source, struct pyro_work_counts *ret,
                               struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    struct pyro_work_counts found = {.low_ms = PYRO_NONE, .listed_ms = PYRO_NONE};
    int64_t least_open = PYRO_NONE, most = PYRO_NONE;
    sqlite3_stmt *s = pyro_sqlite_prepare(
        store, "SELECT state, count(*), min(end_ms), max(end_ms) FROM work WHERE source = ?1 GROUP BY state"
               " UNION ALL SELECT -1, listed_ms, NULL, NULL FROM work_source WHERE source = ?1");
    if (s)
        pyro_sqlite_bind_slice(s, 1, source);
    int step = s ? SQLITE_ROW : SQLITE_ERROR;
    while (step == SQLITE_ROW && (step = sqlite3_step(s)) == SQLITE_ROW) {
        int kind = sqlite3_column_int(s, 0);
        int64_t least = sqlite3_column_int64(s, 2), latest = sqlite3_column_int64(s, 3);
        if (kind < 0) {
            found.listed_ms = sqlite3_column_int64(s, 1);
            continue;
        }
        if (kind > PYRO_WORK_DEAD)
            continue; /* of a later build */
        found.items[kind] = sqlite3_column_int64(s, 1);
        if (kind != PYRO_WORK_DONE && kind != PYRO_WORK_DEAD && (least_open == PYRO_NONE || least < least_open))
            least_open = least;
        most = most == PYRO_NONE || latest > most ? latest : most;
    }
    sqlite3_finalize(s);
    if (step != SQLITE_DONE)
        return pyro_sqlite_fail(store, PYRO_ERROR_INPUT, "cannot be read", error);
    found.low_ms = least_open != PYRO_NONE ? least_open - 1 : most;
    *ret = found;
    return PYRO_OK;
}

/* ---- Leases ------------------------------------------------------------------------------------------------------ */

/* New items come first: one that ends every crawler keeps no other waiting. */
static const char claim_text[] =
    "UPDATE work SET state = 1, owner = ?2, epoch = epoch + 1, until_ms = ?3, next_ms = 0"
    " WHERE key IN (SELECT key FROM ("
    "SELECT * FROM (SELECT key, 0 AS class, end_ms FROM work WHERE source = ?1 AND state = 0 ORDER BY end_ms LIMIT ?4)"
    " UNION ALL SELECT * FROM (SELECT key, 1, end_ms FROM work WHERE source = ?1 AND state = 3 AND next_ms <= ?5"
    " ORDER BY end_ms LIMIT ?4)"
    " UNION ALL SELECT * FROM (SELECT key, 2, end_ms FROM work WHERE source = ?1 AND state = 1 AND until_ms < ?6"
    " ORDER BY end_ms LIMIT ?4)) ORDER BY class, end_ms, key LIMIT ?4)"
    " RETURNING key, stamp, end_ms, epoch, tries";

static bool take_item(sqlite3_stmt *s, struct pyro_arena *arena, struct pyro_slice source, const char *owner,
                      struct pyro_work_item *ret)
{
    *ret = (struct pyro_work_item){
        .key = pyro_arena_copy(arena, pyro_sqlite_slice(s, 0)),
        .source = source,
        .stamp = pyro_arena_copy(arena, pyro_sqlite_slice(s, 1)),
        .end_ms = sqlite3_column_int64(s, 2),
        .owner = pyro_arena_copy(arena, pyro_slice_from(owner)),
        .epoch = sqlite3_column_int64(s, 3),
        .tries = sqlite3_column_int64(s, 4),
        .state = PYRO_WORK_LEASED,
    };
    return ret->key.ptr && ret->stamp.ptr && ret->owner.ptr;
}

static enum pyro_status claim(void *state, struct pyro_slice source, const char *owner, size_t most,
                              struct pyro_arena *arena, struct pyro_work_item *ret, size_t *ret_count,
                              struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    struct pyro_slice name = pyro_arena_copy(arena, source);
    if (!name.ptr)
        return pyro_no_memory(error);
    if (!pyro_database_run(store->db, "BEGIN IMMEDIATE"))
        return not_written(store, error);
    int64_t now = pyro_store_now_ms();
    size_t count = 0;
    sqlite3_stmt *s = pyro_sqlite_prepare(store, claim_text);
    if (s) {
        pyro_sqlite_bind_slice(s, 1, source);
        pyro_sqlite_bind_text(s, 2, owner);
        sqlite3_bind_int64(s, 3, now + PYRO_WORK_LEASE_MS);
        sqlite3_bind_int64(s, 4, (int64_t)most);
        sqlite3_bind_int64(s, 5, now);
        sqlite3_bind_int64(s, 6, now - PYRO_WORK_GRACE_MS);
    }
    int step = s ? SQLITE_ROW : SQLITE_ERROR;
    while (step == SQLITE_ROW && (step = sqlite3_step(s)) == SQLITE_ROW)
        if (count >= most || !take_item(s, arena, name, owner, &ret[count++]))
            step = SQLITE_NOMEM;
    sqlite3_finalize(s);
    if (step == SQLITE_NOMEM) {
        pyro_database_run(store->db, "ROLLBACK");
        return pyro_no_memory(error);
    }
    PYRO_TRY(settle(store, step == SQLITE_DONE, error));
    *ret_count = count;
    return PYRO_OK;
}

/* A statement whose ?1 and ?2 are key and epoch of a lease that is held. */
static sqlite3_stmt *of_lease(struct pyro_sqlite *store, const char *text, const struct pyro_lease *lease)
{
    sqlite3_stmt *s = pyro_sqlite_prepare(store, text);
    if (s) {
        pyro_sqlite_bind_text(s, 1, lease->key);
        sqlite3_bind_int64(s, 2, lease->epoch);
    }
    return s;
}
#define HELD " WHERE key = ?1 AND epoch = ?2 AND state = 1"

static enum pyro_status renew(void *state, const struct pyro_lease *lease, bool *ret_held, struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    sqlite3_stmt *s = of_lease(store, "UPDATE work SET until_ms = ?3" HELD, lease);
    if (s)
        sqlite3_bind_int64(s, 3, pyro_store_now_ms() + PYRO_WORK_LEASE_MS);
    PYRO_TRY(pyro_sqlite_finish(store, s, error));
    *ret_held = sqlite3_changes(store->db) == 1;
    return PYRO_OK;
}

static enum pyro_status release(void *state, const struct pyro_lease *lease, struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    return pyro_sqlite_finish(
        store, of_lease(store, "UPDATE work SET state = 0, owner = NULL, until_ms = 0" HELD, lease), error);
}

static enum pyro_status skip(void *state, const struct pyro_lease *lease, struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    sqlite3_stmt *s =
        of_lease(store, "UPDATE work SET state = 2, stamp = ?3, owner = NULL, until_ms = 0, tries = 0" HELD, lease);
    if (s)
        pyro_sqlite_bind_text(s, 3, lease->stamp);
    return pyro_sqlite_finish(store, s, error);
}

static enum pyro_status fail(void *state, const struct pyro_lease *lease, bool lasts,
                             const struct pyro_store_error_row *row, struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    if (!pyro_database_run(store->db, "BEGIN IMMEDIATE"))
        return not_written(store, error);
    sqlite3_stmt *s =
        of_lease(store,
                 "UPDATE work SET tries = tries + 1, stamp = ?3, owner = NULL, until_ms = 0,"
                 " state = CASE WHEN ?4 OR tries + 1 >= ?5 THEN 4 ELSE 3 END,"
                 " next_ms = CASE WHEN ?4 OR tries + 1 >= ?5 THEN 0 ELSE ?6 + (?7 << (2 * tries)) END" HELD,
                 lease);
    if (s) {
        pyro_sqlite_bind_text(s, 3, lease->stamp);
        sqlite3_bind_int(s, 4, lasts);
        sqlite3_bind_int(s, 5, PYRO_WORK_TRIES);
        sqlite3_bind_int64(s, 6, pyro_store_now_ms());
        sqlite3_bind_int(s, 7, PYRO_WORK_FIRST_PAUSE_MS);
    }
    bool ok = pyro_sqlite_put(s), held = ok && sqlite3_changes(store->db) == 1;
    sqlite3_finalize(s);
    /* The holder of the item now says what becomes of it. */
    return settle(store, ok && (!held || pyro_sqlite_put_error(store, row)), error);
}

static enum pyro_status retry(void *state, struct pyro_slice source, size_t *ret_count, struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    sqlite3_stmt *s = pyro_sqlite_prepare(
        store, "UPDATE work SET state = 0, tries = 0, next_ms = 0 WHERE (?1 IS NULL OR source = ?1) AND"
               " state IN (3, 4)");
    if (s)
        pyro_sqlite_bind_slice(s, 1, source);
    PYRO_TRY(pyro_sqlite_finish(store, s, error));
    *ret_count = (size_t)sqlite3_changes(store->db);
    return PYRO_OK;
}

static enum pyro_status take_back(void *state, const char *owner, size_t *ret_count, struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    sqlite3_stmt *s = pyro_sqlite_prepare(
        store, "UPDATE work SET state = 0, owner = NULL, until_ms = 0 WHERE state = 1 AND owner = ?1");
    if (s)
        pyro_sqlite_bind_text(s, 1, owner);
    PYRO_TRY(pyro_sqlite_finish(store, s, error));
    *ret_count = (size_t)sqlite3_changes(store->db);
    return PYRO_OK;
}

enum pyro_status pyro_sqlite_add_cluster(void *state, const struct pyro_cluster_row *rows, size_t count,
                                         struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    if (!pyro_database_run(store->db, "BEGIN IMMEDIATE"))
        return not_written(store, error);
    sqlite3_stmt *s = pyro_sqlite_prepare(store, "INSERT OR REPLACE INTO cluster VALUES (?, ?, ?, ?)");
    bool ok = s != NULL;
    for (size_t i = 0; i < count && ok; i++) {
        pyro_sqlite_bind_slice(s, 1, rows[i].source);
        sqlite3_bind_int64(s, 2, rows[i].time_ms);
        pyro_sqlite_bind_slice(s, 3, rows[i].name);
        sqlite3_bind_double(s, 4, rows[i].value);
        ok = pyro_sqlite_put(s);
    }
    sqlite3_finalize(s);
    return settle(store, ok, error);
}

static int64_t now_ms(void *state)
{
    (void)state;
    return pyro_store_now_ms();
}

_Static_assert(PYRO_WORK_NEW == 0 && PYRO_WORK_LEASED == 1 && PYRO_WORK_DONE == 2 && PYRO_WORK_FAILED == 3 &&
                   PYRO_WORK_DEAD == 4,
               "the statements name states by their numbers");

const struct pyro_work_backend pyro_sqlite_work = {
    .offer = offer,
    .claim = claim,
    .renew = renew,
    .release = release,
    .skip = skip,
    .fail = fail,
    .retry = retry,
    .take_back = take_back,
    .counts = counts,
    .listed = listed,
    .now_ms = now_ms,
};
