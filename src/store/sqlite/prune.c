/* What is too old, or too much, goes: in small transactions, so that others can write in between. */
#include "base/numbers/saturate.h"
#include "store/sqlite/sqlite.h"

/* How many runs, or pages of the file, one transaction deals with. */
#define RUNS  "200"
#define PAGES "1000"

enum { ROUNDS = 16 };

#define AGE       "coalesce(start_ms, recorded_ms)"
#define NO_NAME   "key NOT IN (SELECT run FROM baseline)"
#define OF_VICTIM " WHERE run IN (SELECT run FROM temp.victim)"
#define DAY       "86400000"

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

static int64_t used_bytes(struct pyro_sqlite *store)
{
    int64_t pages = pyro_database_number(store->db, "PRAGMA page_count"),
            free_pages = pyro_database_number(store->db, "PRAGMA freelist_count"),
            bytes = pyro_database_number(store->db, "PRAGMA page_size");
    return pages < 0 || free_pages < 0 || bytes < 0 ? -1 : pyro_sub_saturating(pages, free_pages) * bytes;
}

/* Length of a run's text, which is not read for that; 0: there is none. */
static int64_t text_bytes(struct pyro_sqlite *store, const char *table, int64_t run)
{
    sqlite3_blob *blob = NULL;
    int64_t bytes = sqlite3_blob_open(store->db, "main", table, "json", run, 0, &blob) == SQLITE_OK
                        ? (int64_t)sqlite3_blob_bytes(blob)
                        : 0;
    sqlite3_blob_close(blob);
    return bytes;
}

static bool read_ages(struct pyro_sqlite *store, struct pyro_ages *ret)
{
    sqlite3_stmt *s = pyro_sqlite_prepare(store, "SELECT key, " AGE " FROM run WHERE " NO_NAME " ORDER BY 2");
    int step = s ? SQLITE_ROW : SQLITE_ERROR;
    while (step == SQLITE_ROW && (step = sqlite3_step(s)) == SQLITE_ROW) {
        int64_t key = sqlite3_column_int64(s, 0);
        struct pyro_age *run = pyro_vec_push(&ret->runs, store->allocator);
        if (!run) {
            step = SQLITE_NOMEM;
            break;
        }
        run->time_ms = sqlite3_column_int64(s, 1);
        run->text_bytes = text_bytes(store, "run_report", key) + text_bytes(store, "run_raw", key);
        ret->text_bytes += run->text_bytes;
    }
    sqlite3_finalize(s);
    return step == SQLITE_DONE;
}

/* ---- One batch --------------------------------------------------------------------------------------------------- */

static bool with_time(struct pyro_sqlite *store, const char *text, int64_t before_ms)
{
    sqlite3_stmt *s = pyro_sqlite_prepare(store, text);
    if (s)
        sqlite3_bind_int64(s, 1, before_ms);
    bool ok = pyro_sqlite_put(s);
    sqlite3_finalize(s);
    return ok;
}

static bool run_all(struct pyro_sqlite *store, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!pyro_database_run(store->db, texts[i]))
            return false;
    return true;
}

/* The next runs that the statement chooses. Gives how many; -1: it failed. */
static int64_t choose(struct pyro_sqlite *store, const char *text, int64_t before_ms)
{
    if (!pyro_database_run(store->db, "DELETE FROM temp.victim") || !with_time(store, text, before_ms))
        return -1;
    return pyro_database_number(store->db, "SELECT count(*) FROM temp.victim");
}

static bool delete_texts(struct pyro_sqlite *store)
{
    static const char *const texts[] = {"DELETE FROM run_report" OF_VICTIM, "DELETE FROM run_raw" OF_VICTIM};
    return run_all(store, texts, sizeof(texts) / sizeof(*texts));
}

/* Foreign keys are off: they would look for the rows of a run where no index finds them. */
static bool delete_runs(struct pyro_sqlite *store)
{
    static const char *const texts[] = {
        "INSERT INTO run_day SELECT application, (time_ms - (time_ms % " DAY " + " DAY ") % " DAY "), count(*),"
        " sum(status IS 'completed'), ifnull(sum(duration_ms), 0), ifnull(sum(core_ms), 0), ifnull(sum(input_bytes), 0)"
        " FROM (SELECT *, " AGE " AS time_ms FROM run WHERE key IN (SELECT run FROM temp.victim)) GROUP BY 1, 2"
        " ON CONFLICT (application, time_ms) DO UPDATE SET runs = runs + excluded.runs,"
        " completed = completed + excluded.completed, duration_ms = duration_ms + excluded.duration_ms,"
        " core_ms = core_ms + excluded.core_ms, input_bytes = input_bytes + excluded.input_bytes",
        "DELETE FROM run_report" OF_VICTIM,
        "DELETE FROM run_raw" OF_VICTIM,
        "DELETE FROM run_finding" OF_VICTIM,
        "DELETE FROM aggregate" OF_VICTIM " AND name IN (SELECT id FROM aggregate_name)",
        "DELETE FROM property" OF_VICTIM " AND name IN (SELECT id FROM property_name)",
        "DELETE FROM run_tag" OF_VICTIM " AND name IN (SELECT id FROM tag_name)",
        "DELETE FROM run_allocation" OF_VICTIM,
        "DELETE FROM run_usage" OF_VICTIM,
        "DELETE FROM run_advice" OF_VICTIM,
        "DELETE FROM run_access" OF_VICTIM,
        "DELETE FROM run_redaction" OF_VICTIM,
        "DELETE FROM run WHERE key IN (SELECT run FROM temp.victim)",
    };
    return run_all(store, texts, sizeof(texts) / sizeof(*texts));
}

/* Batch after batch, until nothing is left to choose. *ret_count grows by the runs. */
static bool in_batches(struct pyro_sqlite *store, const char *chosen, int64_t before_ms,
                       bool (*delete)(struct pyro_sqlite *store), int64_t *ret_count)
{
    int64_t count = 1;
    while (count > 0) {
        if (!pyro_database_run(store->db, "BEGIN IMMEDIATE"))
            return false;
        count = choose(store, chosen, before_ms);
        if (count < 0 || (count > 0 && !delete (store)) || !pyro_database_run(store->db, "COMMIT"))
            return false;
        *ret_count += count;
    }
    return true;
}

static bool delete_rows(struct pyro_sqlite *store, const char *text, int64_t before_ms, int64_t *ret_count)
{
    int64_t before = sqlite3_total_changes(store->db);
    bool ok = with_time(store, text, before_ms);
    *ret_count += pyro_sub_saturating(sqlite3_total_changes(store->db), before);
    return ok;
}

/* Each finds the next ones without a look at all runs. */
#define CHOOSE_TEXTS                                                                                                   \
    "INSERT OR IGNORE INTO temp.victim SELECT run FROM (SELECT run FROM run_report UNION ALL SELECT run FROM run_raw)" \
    " JOIN run ON key = run WHERE " AGE " < ?1 AND " NO_NAME " LIMIT " RUNS
#define CHOOSE_RUNS                                                                                                    \
    "INSERT INTO temp.victim SELECT key FROM run WHERE (start_ms < ?1 OR (start_ms IS NULL AND recorded_ms < ?1)) "    \
    "AND " NO_NAME " LIMIT " RUNS

static bool apply(struct pyro_sqlite *store, const struct pyro_prune *prune, struct pyro_pruned *ret)
{
    return with_time(store, "UPDATE error SET raw = NULL WHERE raw IS NOT NULL AND time_ms < ?1",
                     prune->texts_before_ms) &&
           delete_rows(store, "DELETE FROM error WHERE time_ms < ?1", prune->details_before_ms, &ret->errors) &&
           delete_rows(store, "DELETE FROM cluster WHERE time_ms < ?1", prune->details_before_ms, &ret->cluster) &&
           in_batches(store, CHOOSE_RUNS, prune->details_before_ms, delete_runs, &ret->details) &&
           in_batches(store, CHOOSE_TEXTS, prune->texts_before_ms, delete_texts, &ret->texts);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

/* Gives free pages back. A file of version 1 cannot do that piece by piece, and can afterwards. */
static bool shrink(struct pyro_sqlite *store)
{
    if (pyro_database_number(store->db, "PRAGMA auto_vacuum") != 2)
        return pyro_database_run(store->db, "PRAGMA auto_vacuum = INCREMENTAL; VACUUM");
    int64_t left = pyro_database_number(store->db, "PRAGMA freelist_count"), before = INT64_MAX;
    while (left > 0 && left < before) {
        before = left;
        if (!pyro_database_run(store->db, "PRAGMA incremental_vacuum(" PAGES ")"))
            return false;
        left = pyro_database_number(store->db, "PRAGMA freelist_count");
    }
    return left >= 0;
}

/* What the limits would remove. */
static bool count_all(struct pyro_sqlite *store, const struct pyro_prune *prune, struct pyro_pruned *ret)
{
    static const char *const texts[] = {
        "SELECT count(*) FROM run WHERE " AGE " < ?1 AND " AGE " >= ?2 AND " NO_NAME
        " AND (key IN (SELECT run FROM run_report) OR key IN (SELECT run FROM run_raw))",
        "SELECT count(*) FROM run WHERE " AGE " < ?2 AND " NO_NAME,
        "SELECT count(*) FROM error WHERE time_ms < ?2",
        "SELECT count(*) FROM cluster WHERE time_ms < ?2",
    };
    int64_t *const counts[] = {&ret->texts, &ret->details, &ret->errors, &ret->cluster};
    bool ok = true;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts) && ok; i++) {
        sqlite3_stmt *s = pyro_sqlite_prepare(store, texts[i]);
        if (s) {
            if (i == 0)
                sqlite3_bind_int64(s, 1, prune->texts_before_ms);
            sqlite3_bind_int64(s, 2, prune->details_before_ms);
        }
        ok = s && sqlite3_step(s) == SQLITE_ROW;
        *counts[i] = ok ? sqlite3_column_int64(s, 0) : 0;
        sqlite3_finalize(s);
    }
    return ok;
}

/* Once by the plan, and again where it gave less than it promised. */
static bool prune_all(struct pyro_sqlite *store, struct pyro_prune *prune, struct pyro_pruned *ret)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct pyro_ages ages = {0};
        int64_t used = used_bytes(store);
        bool ok = used >= 0 && read_ages(store, &ages);
        const struct pyro_prune before = *prune;
        int64_t gone = ok ? pyro_prune_plan(&ages, used, prune) : 0;
        pyro_vec_done(&ages.runs, store->allocator);
        if (round == 0)
            ret->bytes_before = used;
        ret->bytes_after = used;
        bool changed = round == 0 || before.texts_before_ms != prune->texts_before_ms ||
                       before.details_before_ms != prune->details_before_ms;
        if (!ok || !changed)
            return ok;
        if (prune->dry_run) {
            ret->bytes_after = used - gone;
            return count_all(store, prune, ret);
        }
        if (!apply(store, prune, ret))
            return false;
    }
    ret->bytes_after = used_bytes(store);
    return ret->bytes_after >= 0;
}

enum pyro_status pyro_sqlite_prune(void *state, const struct pyro_prune *prune, struct pyro_pruned *ret,
                                   struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    struct pyro_prune limits = *prune;
    struct pyro_pruned pruned = {0};
    bool ok = limits.dry_run
                  ? prune_all(store, &limits, &pruned)
                  : pyro_database_run(store->db, "PRAGMA foreign_keys = OFF;"
                                                 "CREATE TEMP TABLE IF NOT EXISTS victim (run INTEGER PRIMARY KEY)") &&
                        prune_all(store, &limits, &pruned) && shrink(store);
    enum pyro_status status = ok ? PYRO_OK : pyro_sqlite_fail(store, PYRO_ERROR_OUTPUT, "cannot be written", error);
    if (!sqlite3_get_autocommit(store->db))
        pyro_database_run(store->db, "ROLLBACK");
    if (!pyro_database_run(store->db, "PRAGMA foreign_keys = ON") && status == PYRO_OK)
        status = pyro_sqlite_fail(store, PYRO_ERROR_OUTPUT, "cannot be written", error);
    pruned.texts_before_ms = limits.texts_before_ms;
    pruned.details_before_ms = limits.details_before_ms;
    if (status == PYRO_OK)
        *ret = pruned;
    return status;
}
