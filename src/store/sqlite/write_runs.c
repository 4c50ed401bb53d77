/* What is written: runs, errors and verdicts. */
#include "advice/fault_costs.h"
#include "base/secrets/secret_expressions.h"
#include "store/sqlite/sqlite.h"

/* ---- One run ----------------------------------------------------------------------------------------------------- */

static void bind_row(sqlite3_stmt *s, const struct pyro_run *run)
{
    const struct pyro_app *app = run->diagnosis->app;
    const struct pyro_application_row *row = &app->application;
    pyro_sqlite_bind_slice(s, 1, run->app_id);
    pyro_sqlite_bind_slice(s, 2, run->attempt);
    pyro_sqlite_bind_slice(s, 3, run->name);
    pyro_sqlite_bind_slice(s, 4, row->user);
    pyro_sqlite_bind_slice(s, 5, row->spark_version);
    pyro_sqlite_bind_slice(s, 6, row->master);
    pyro_sqlite_bind_slice(s, 7, row->status);
    pyro_sqlite_bind_int(s, 8, row->start_ms);
    pyro_sqlite_bind_int(s, 9, row->end_ms);
    pyro_sqlite_bind_int(s, 10, row->duration_ms);
    pyro_sqlite_bind_int(s, 11, app->numbers.core_total_ms);
    sqlite3_bind_double(s, 12, app->integrity.confidence);
    sqlite3_bind_int64(s, 13, run->recorded_ms);
    pyro_sqlite_bind_slice(s, 14, run->path);
    pyro_sqlite_bind_slice(s, 15, run->application);
    pyro_sqlite_bind_slice(s, 16, run->type);
    pyro_sqlite_bind_slice(s, 17, run->version);
    pyro_sqlite_bind_slice(s, 18, run->tag);
    pyro_sqlite_bind_slice(s, 19, run->queue);
    pyro_sqlite_bind_int(s, 20, run->input_bytes);
    pyro_sqlite_bind_slice(s, 21, run->source);
    sqlite3_bind_int(s, 22, run->is_final_attempt);
    pyro_sqlite_bind_slice(s, 23, row->outcome);
}

/* Key of the run's row; a run that was stored before keeps its own, and with it its names as a baseline. */
static int64_t put_row(struct pyro_sqlite *store, const struct pyro_run *run)
{
    sqlite3_stmt *s = pyro_sqlite_prepare(
        store,
        "INSERT INTO run (app_id, attempt, name, user, spark_version, master, status, start_ms, end_ms, duration_ms,"
        " core_ms, confidence, recorded_ms, path, application, type, version, tag, queue, input_bytes, source,"
        " is_final_attempt, outcome) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
        " ON CONFLICT (app_id, attempt) DO UPDATE SET name = excluded.name, user = excluded.user,"
        " spark_version = excluded.spark_version, master = excluded.master, status = excluded.status,"
        " start_ms = excluded.start_ms, end_ms = excluded.end_ms, duration_ms = excluded.duration_ms,"
        " core_ms = excluded.core_ms, confidence = excluded.confidence, recorded_ms = excluded.recorded_ms,"
        " path = excluded.path, application = excluded.application, type = excluded.type, version = excluded.version,"
        " tag = excluded.tag, queue = excluded.queue, input_bytes = excluded.input_bytes,"
        " source = coalesce(excluded.source, source), is_final_attempt = excluded.is_final_attempt, outcome = "
        "excluded.outcome RETURNING key");
    if (!s)
        return -1;
    bind_row(s, run);
    int64_t key = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : -1;
    if (key >= 0 && sqlite3_step(s) != SQLITE_DONE)
        key = -1;
    sqlite3_finalize(s);
    return key;
}

/* Runs one statement with the run's key as ?1 and, where given, a text as ?2. */
static bool with_key(struct pyro_sqlite *store, const char *text, int64_t key, struct pyro_slice name)
{
    sqlite3_stmt *s = pyro_sqlite_prepare(store, text);
    if (s) {
        sqlite3_bind_int64(s, 1, key);
        if (name.ptr)
            pyro_sqlite_bind_slice(s, 2, name);
    }
    bool ok = pyro_sqlite_put(s);
    sqlite3_finalize(s);
    return ok;
}

static bool put_findings(struct pyro_sqlite *store, int64_t key, const struct pyro_diagnosis *diagnosis)
{
    sqlite3_stmt *s =
        pyro_sqlite_prepare(store, "INSERT INTO run_finding VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    bool ok = s != NULL;
    for (size_t i = 0; i < diagnosis->finding_count && ok; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        sqlite3_bind_int64(s, 1, key);
        sqlite3_bind_int64(s, 2, (int64_t)i);
        pyro_sqlite_bind_slice(s, 3, finding->id);
        pyro_sqlite_bind_text(s, 4, finding->rule->id);
        pyro_sqlite_bind_text(s, 5, finding->rule->category);
        pyro_sqlite_bind_text(s, 6, pyro_severity_name(finding->severity));
        sqlite3_bind_double(s, 7, finding->confidence);
        pyro_sqlite_bind_slice(s, 8, finding->title);
        pyro_sqlite_bind_slice(s, 9, finding->cause);
        pyro_sqlite_bind_int(s, 10, finding->job);
        pyro_sqlite_bind_int(s, 11, finding->stage);
        pyro_sqlite_bind_int(s, 12, finding->attempt);
        pyro_sqlite_bind_int(s, 13, finding->sql);
        pyro_sqlite_bind_slice(s, 14, finding->executor);
        pyro_sqlite_bind_slice(s, 15, finding->host);
        pyro_sqlite_bind_slice(s, 16, finding->call_site);
        const struct pyro_saving part = pyro_finding_part(finding);
        pyro_sqlite_bind_int(s, 17, part.wall_low_ms);
        pyro_sqlite_bind_int(s, 18, part.wall_expected_ms);
        pyro_sqlite_bind_int(s, 19, part.wall_high_ms);
        pyro_sqlite_bind_int(s, 20, part.core_ms);
        sqlite3_bind_int(s, 21, finding->folded);
        ok = pyro_sqlite_put(s);
    }
    sqlite3_finalize(s);
    return ok;
}

static bool put_access(struct pyro_sqlite *store, int64_t key, const struct pyro_access_lists *access)
{
    sqlite3_stmt *s = pyro_sqlite_prepare(store, "INSERT OR REPLACE INTO run_access VALUES (?,?,?,?,?,?)");
    if (s) {
        sqlite3_bind_int64(s, 1, key);
        sqlite3_bind_int(s, 2, access->enabled);
        pyro_sqlite_bind_slice(s, 3, access->users);
        pyro_sqlite_bind_slice(s, 4, access->groups);
        pyro_sqlite_bind_slice(s, 5, access->admins);
        pyro_sqlite_bind_slice(s, 6, access->admin_groups);
    }
    bool ok = pyro_sqlite_put(s);
    sqlite3_finalize(s);
    return ok;
}

static bool put_redaction(struct pyro_sqlite *store, int64_t key, enum pyro_redaction redaction)
{
    sqlite3_stmt *s = pyro_sqlite_prepare(store, "INSERT OR REPLACE INTO run_redaction VALUES (?,?)");
    if (s) {
        sqlite3_bind_int64(s, 1, key);
        sqlite3_bind_int64(s, 2, (int64_t)pyro_secret_expressions_key(redaction));
    }
    bool ok = pyro_sqlite_put(s);
    sqlite3_finalize(s);
    return ok;
}

/* A text that goes with the run, such as its report; none where it is null. */
static bool put_text(struct pyro_sqlite *store, const char *text, int64_t key, struct pyro_slice value)
{
    return !value.ptr || with_key(store, text, key, value);
}

/* Values are by the number of their name, which the first run that has it gives it. */
struct named_values {
    struct pyro_sqlite *store;
    int64_t run;
    sqlite3_stmt *insert, *name;
};

static bool open_values(struct named_values *values, const char *insert, const char *name)
{
    values->insert = pyro_sqlite_prepare(values->store, insert);
    values->name = pyro_sqlite_prepare(values->store, name);
    return values->insert && values->name;
}

/* The caller has bound ?3, the value, which stays bound until it is written. */
static bool put_value(struct named_values *values, struct pyro_slice name)
{
    bool named = false;
    for (;;) {
        sqlite3_bind_int64(values->insert, 1, values->run);
        pyro_sqlite_bind_slice(values->insert, 2, name);
        if (sqlite3_step(values->insert) != SQLITE_DONE)
            return false;
        sqlite3_reset(values->insert);
        if (sqlite3_changes(values->store->db) == 1)
            return true;
        if (named)
            return false;
        pyro_sqlite_bind_slice(values->name, 1, name);
        named = pyro_sqlite_put(values->name);
        if (!named)
            return false;
    }
}

static void close_values(struct named_values *values)
{
    sqlite3_finalize(values->insert);
    sqlite3_finalize(values->name);
}

/* Runs have a thousand aggregates, all with the same names: their names' ids are remembered. */
struct aggregate_statements {
    sqlite3_stmt *insert, *find, *name;
};

/* 0: the store cannot be read or written. */
static int64_t find_name(const struct aggregate_statements *statements, const char *name)
{
    int64_t id = 0;
    for (int tries = 0; tries < 2 && id == 0; tries++) {
        pyro_sqlite_bind_text(statements->find, 1, name);
        int step = sqlite3_step(statements->find);
        id = step == SQLITE_ROW ? sqlite3_column_int64(statements->find, 0) : 0;
        sqlite3_reset(statements->find);
        if (step != SQLITE_ROW && step != SQLITE_DONE)
            return 0;
        pyro_sqlite_bind_text(statements->name, 1, name);
        if (id == 0 && !pyro_sqlite_put(statements->name))
            return 0;
    }
    return id;
}

static bool put_aggregate(struct pyro_sqlite *store, const struct aggregate_statements *statements, int64_t key,
                          const struct pyro_aggregate *aggregate)
{
    uint64_t *known =
        aggregate->lasting ? pyro_map_put(&store->names, (uint64_t)(uintptr_t)aggregate->name, NULL) : NULL;
    int64_t id = known && *known ? (int64_t)*known : find_name(statements, aggregate->name);
    if (id == 0)
        return false;
    if (known)
        *known = (uint64_t)id;
    sqlite3_bind_int64(statements->insert, 1, id);
    sqlite3_bind_int64(statements->insert, 2, key);
    sqlite3_bind_double(statements->insert, 3, aggregate->value);
    bool ok = sqlite3_step(statements->insert) == SQLITE_DONE;
    sqlite3_reset(statements->insert);
    return ok;
}

static bool put_aggregates(struct pyro_sqlite *store, int64_t key, const struct pyro_run *run)
{
    const struct aggregate_statements statements = {
        pyro_sqlite_prepare(store, "INSERT INTO aggregate VALUES (?, ?, ?)"),
        pyro_sqlite_prepare(store, "SELECT id FROM aggregate_name WHERE name = ?"),
        pyro_sqlite_prepare(store, "INSERT INTO aggregate_name (name) VALUES (?)"),
    };
    bool ok = statements.insert && statements.find && statements.name;
    for (size_t i = 0; i < run->aggregates.count && ok; i++)
        ok = put_aggregate(store, &statements, key, &run->aggregates.items[i]);
    sqlite3_finalize(statements.insert);
    sqlite3_finalize(statements.find);
    sqlite3_finalize(statements.name);
    return ok;
}

static bool put_pairs(struct pyro_sqlite *store, int64_t key, const struct pyro_run_pair *pairs, size_t count,
                      const char *insert, const char *name)
{
    struct named_values values = {.store = store, .run = key};
    bool ok = open_values(&values, insert, name);
    for (size_t i = 0; i < count && ok; i++) {
        pyro_sqlite_bind_slice(values.insert, 3, pairs[i].value);
        ok = put_value(&values, pairs[i].key);
    }
    close_values(&values);
    return ok;
}

static bool put_allocation(struct pyro_sqlite *store, int64_t key, const struct pyro_allocation_row *row)
{
    sqlite3_stmt *s = pyro_sqlite_prepare(store, "INSERT OR REPLACE INTO run_allocation VALUES (?,?,?,?,?,?,?)");
    if (s) {
        sqlite3_bind_int64(s, 1, key);
        pyro_sqlite_bind_int(s, 2, row->core_ms);
        pyro_sqlite_bind_int(s, 3, row->mib_ms);
        pyro_sqlite_bind_slice(s, 4, row->parts);
        pyro_sqlite_bind_slice(s, 5, row->platform);
        pyro_sqlite_bind_slice(s, 6, row->instance);
        pyro_sqlite_bind_slice(s, 7, row->region);
    }
    bool ok = pyro_sqlite_put(s);
    sqlite3_finalize(s);
    return ok;
}

static bool put_usage(struct pyro_sqlite *store, int64_t key, const struct pyro_run *run)
{
    sqlite3_stmt *s = pyro_sqlite_prepare(store, "INSERT INTO run_usage VALUES (?,?,?,?,?,?,?,?,?,?)");
    bool ok = s != NULL;
    for (size_t i = 0; i < run->usage.count && ok; i++) {
        const struct pyro_usage_row *row = &run->usage.items[i];
        const int64_t values[] = {
            key,         row->start_ms,    row->span_ms,      row->slot_ms,      row->core_ms, row->busy_core_ms,
            row->mib_ms, row->input_bytes, row->output_bytes, row->shuffle_bytes};
        for (int v = 0; v < (int)(sizeof(values) / sizeof(*values)); v++)
            sqlite3_bind_int64(s, v + 1, values[v]);
        ok = pyro_sqlite_put(s);
    }
    sqlite3_finalize(s);
    return ok;
}

static bool put_advice(struct pyro_sqlite *store, int64_t key, const struct pyro_run *run)
{
    sqlite3_stmt *s = pyro_sqlite_prepare(store, "INSERT INTO run_advice VALUES (?,?,?,?,?,?,?,?,?,?,?)");
    bool ok = s != NULL;
    for (size_t i = 0; i < run->advice.count && ok; i++) {
        const struct pyro_advice_row *row = &run->advice.items[i];
        sqlite3_bind_int64(s, 1, key);
        sqlite3_bind_int64(s, 2, (int64_t)i);
        pyro_sqlite_bind_slice(s, 3, row->finding);
        pyro_sqlite_bind_slice(s, 4, row->rule);
        pyro_sqlite_bind_slice(s, 5, row->key);
        pyro_sqlite_bind_slice(s, 6, row->previous);
        pyro_sqlite_bind_slice(s, 7, row->value);
        pyro_sqlite_bind_int(s, 8, row->saves_low_ms);
        pyro_sqlite_bind_int(s, 9, row->saves_ms);
        pyro_sqlite_bind_int(s, 10, row->saves_high_ms);
        pyro_sqlite_bind_int(s, 11, row->saves_core_ms);
        ok = pyro_sqlite_put(s);
    }
    sqlite3_finalize(s);
    return ok;
}

/* What the run had before goes; its row, and what is replaced with it, stays. */
static bool clear_run(struct pyro_sqlite *store, int64_t key)
{
    static const char *const texts[] = {
        "DELETE FROM run_finding WHERE run = ?1",
        "DELETE FROM aggregate WHERE run = ?1 AND name IN (SELECT id FROM aggregate_name)",
        "DELETE FROM property WHERE run = ?1 AND name IN (SELECT id FROM property_name)",
        "DELETE FROM run_tag WHERE run = ?1 AND name IN (SELECT id FROM tag_name)",
        "DELETE FROM run_usage WHERE run = ?1",
        "DELETE FROM run_advice WHERE run = ?1",
        "DELETE FROM run_raw WHERE run = ?1",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (!with_key(store, texts[i], key, PYRO_SLICE_NULL))
            return false;
    return true;
}

/* As the document of the History Server has it: quotation marks in texts are escaped, and properties come later. */
#define FINAL     "'\"is_final_attempt\" : true'"
#define NOT_FINAL "'\"is_final_attempt\" : false'"

/* The attempt that started last is the final one. */
static bool mark_final_attempt(struct pyro_sqlite *store, int64_t key)
{
    return with_key(store,
                    "UPDATE run SET is_final_attempt = 0 WHERE key <> ?1 AND app_id = (SELECT app_id FROM run WHERE "
                    "key = ?1)"
                    " AND start_ms < (SELECT start_ms FROM run WHERE key = ?1)",
                    key, PYRO_SLICE_NULL) &&
           with_key(store,
                    "UPDATE run SET is_final_attempt = 0 WHERE key = ?1 AND EXISTS (SELECT 1 FROM run later WHERE"
                    " later.app_id = run.app_id AND later.start_ms > run.start_ms)",
                    key, PYRO_SLICE_NULL) &&
           with_key(store,
                    "UPDATE run_raw SET json = substr(json, 1, instr(json, " FINAL ") - 1) || " NOT_FINAL
                    " || substr(json, instr(json, " FINAL ") + length(" FINAL ")) WHERE instr(json, " FINAL ") > 0 AND"
                    " run IN (SELECT key FROM run WHERE is_final_attempt = 0 AND app_id = (SELECT app_id FROM run WHERE"
                    " key = ?1))",
                    key, PYRO_SLICE_NULL);
}

static bool put_run(struct pyro_sqlite *store, const struct pyro_run *run, bool known)
{
    int64_t key = put_row(store, run);
    return key >= 0 && (!known || clear_run(store, key)) && put_findings(store, key, run->diagnosis) &&
           put_text(store, "INSERT OR REPLACE INTO run_report VALUES (?1, ?2)", key, run->report) &&
           put_text(store, "INSERT INTO run_raw VALUES (?1, ?2)", key, run->raw) && put_aggregates(store, key, run) &&
           put_pairs(store, key, run->properties.items, run->properties.count,
                     "INSERT INTO property SELECT id, ?1, ?3 FROM property_name WHERE name = ?2",
                     "INSERT INTO property_name (name) VALUES (?)") &&
           put_pairs(store, key, run->tags.items, run->tags.count,
                     "INSERT INTO run_tag SELECT id, ?1, ?3 FROM tag_name WHERE name = ?2",
                     "INSERT INTO tag_name (name) VALUES (?)") &&
           put_allocation(store, key, &run->allocation) && put_usage(store, key, run) && put_advice(store, key, run) &&
           put_access(store, key, &run->access) && put_redaction(store, key, run->diagnosis->app->redaction) &&
           mark_final_attempt(store, key) &&
           (!run->baseline || with_key(store,
                                       "INSERT INTO baseline (name, run) VALUES (?2, ?1)"
                                       " ON CONFLICT (name) DO UPDATE SET run = excluded.run",
                                       key, pyro_slice_from(run->baseline)));
}

/* ---- Several runs ------------------------------------------------------------------------------------------------ */

/* Whether the lease is still this one's; -1: the store cannot be read. */
static int holds_lease(struct pyro_sqlite *store, const struct pyro_lease *lease)
{
    sqlite3_stmt *s = pyro_sqlite_prepare(store, "SELECT epoch = ?2 AND state = ?3 FROM work WHERE key = ?1");
    if (!s)
        return -1;
    pyro_sqlite_bind_text(s, 1, lease->key);
    sqlite3_bind_int64(s, 2, lease->epoch);
    sqlite3_bind_int(s, 3, PYRO_WORK_LEASED);
    int step = sqlite3_step(s);
    int held = step == SQLITE_ROW ? sqlite3_column_int(s, 0) : step == SQLITE_DONE ? 0 : -1;
    sqlite3_finalize(s);
    return held;
}

static bool end_lease(struct pyro_sqlite *store, const struct pyro_lease *lease, enum pyro_work_state state)
{
    sqlite3_stmt *s = pyro_sqlite_prepare(
        store, "UPDATE work SET state = ?2, stamp = ?3, owner = NULL, until_ms = 0, next_ms = 0 WHERE key = ?1");
    if (s) {
        pyro_sqlite_bind_text(s, 1, lease->key);
        sqlite3_bind_int(s, 2, (int)state);
        pyro_sqlite_bind_text(s, 3, lease->stamp);
    }
    bool ok = pyro_sqlite_put(s);
    sqlite3_finalize(s);
    return ok;
}

/* What the store has under the run's id. */
enum known_run { RUN_NEW, RUN_KNOWN, RUN_OTHER, RUN_UNREADABLE };

static enum known_run find_run(struct pyro_sqlite *store, const struct pyro_run *run)
{
    sqlite3_stmt *s = pyro_sqlite_prepare(store, "SELECT start_ms FROM run WHERE app_id = ? AND attempt = ?");
    if (!s)
        return RUN_UNREADABLE;
    pyro_sqlite_bind_slice(s, 1, run->app_id);
    pyro_sqlite_bind_slice(s, 2, run->attempt);
    int step = sqlite3_step(s);
    int64_t start_ms = run->diagnosis->app->application.start_ms;
    enum known_run known = step == SQLITE_DONE ? RUN_NEW : step == SQLITE_ROW ? RUN_KNOWN : RUN_UNREADABLE;
    if (known == RUN_KNOWN && sqlite3_column_type(s, 0) != SQLITE_NULL && start_ms != PYRO_NONE &&
        sqlite3_column_int64(s, 0) != start_ms)
        known = RUN_OTHER;
    sqlite3_finalize(s);
    return known;
}

static bool put_conflict(struct pyro_sqlite *store, const struct pyro_run *run)
{
    struct pyro_arena arena;
    pyro_arena_init(&arena, store->allocator);
    struct pyro_slice app_id = pyro_arena_copy(&arena, run->app_id), attempt = pyro_arena_copy(&arena, run->attempt),
                      source = pyro_arena_copy(&arena, run->source.ptr ? run->source : run->path);
    const struct pyro_store_error_row row = {
        .time_ms = run->recorded_ms,
        .application = app_id.ptr,
        .attempt = attempt.ptr,
        .source = source.ptr,
        .step = "store",
        .type = "id-conflict",
        .message = "the store has another run of this application and attempt, which started at another time",
        .tries = 1,
    };
    bool ok = app_id.ptr && attempt.ptr && source.ptr && pyro_sqlite_put_error(store, &row) &&
              (!run->lease || end_lease(store, run->lease, PYRO_WORK_DEAD));
    pyro_arena_done(&arena);
    return ok;
}

static bool record_run(struct pyro_sqlite *store, const struct pyro_run *run, enum pyro_record_result *ret)
{
    int held = run->lease ? holds_lease(store, run->lease) : 1;
    enum known_run known = held > 0 ? find_run(store, run) : RUN_NEW;
    if (held < 0 || known == RUN_UNREADABLE)
        return false;
    *ret = held == 0 ? PYRO_RECORD_LATE : known == RUN_OTHER ? PYRO_RECORD_CONFLICT : PYRO_RECORD_KEPT;
    if (*ret == PYRO_RECORD_LATE)
        return true;
    if (*ret == PYRO_RECORD_CONFLICT)
        return put_conflict(store, run);
    return put_run(store, run, known == RUN_KNOWN) && (!run->lease || end_lease(store, run->lease, PYRO_WORK_DONE));
}

enum pyro_status pyro_sqlite_record(void *state, const struct pyro_run *const *runs, size_t count,
                                    enum pyro_record_result *results, struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    bool ok = pyro_database_run(store->db, "BEGIN IMMEDIATE");
    if (!ok)
        return pyro_sqlite_fail(store, PYRO_ERROR_OUTPUT, "cannot be written", error);
    for (size_t i = 0; i < count && ok; i++)
        ok = record_run(store, runs[i], &results[i]);
    if (ok && pyro_database_run(store->db, "COMMIT"))
        return PYRO_OK;
    enum pyro_status status = pyro_sqlite_fail(store, PYRO_ERROR_OUTPUT, "cannot be written", error);
    pyro_database_run(store->db, "ROLLBACK");
    pyro_map_done(&store->names); /* some of them may be deleted now */
    pyro_map_init(&store->names, store->allocator);
    return status;
}

/* ---- Errors and verdicts ----------------------------------------------------------------------------------------- */

static sqlite3_stmt *error_statement(struct pyro_sqlite *store, const struct pyro_store_error_row *row)
{
    sqlite3_stmt *s =
        pyro_sqlite_prepare(store, "INSERT INTO error (time_ms, app_id, step, type, message, raw, attempt,"
                                   " source, tries) VALUES (?,?,?,?,?,?,?,?,?)");
    if (s) {
        sqlite3_bind_int64(s, 1, row->time_ms);
        pyro_sqlite_bind_text(s, 2, row->application);
        pyro_sqlite_bind_text(s, 3, row->step);
        pyro_sqlite_bind_text(s, 4, row->type);
        pyro_sqlite_bind_text(s, 5, row->message);
        pyro_sqlite_bind_text(s, 6, row->raw);
        pyro_sqlite_bind_text(s, 7, row->attempt);
        pyro_sqlite_bind_text(s, 8, row->source);
        sqlite3_bind_int64(s, 9, row->tries);
    }
    return s;
}

bool pyro_sqlite_put_error(struct pyro_sqlite *store, const struct pyro_store_error_row *row)
{
    sqlite3_stmt *s = error_statement(store, row);
    bool ok = pyro_sqlite_put(s);
    sqlite3_finalize(s);
    return ok;
}

enum pyro_status pyro_sqlite_record_error(void *state, const struct pyro_store_error_row *row, struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    return pyro_sqlite_finish(store, error_statement(store, row), error);
}

enum pyro_status pyro_sqlite_add_verdict(void *state, const struct pyro_verdict_row *row, struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    sqlite3_stmt *s = pyro_sqlite_prepare(
        store, "INSERT INTO verdict (time_ms, application, finding, rule, verdict, note) VALUES (?,?,?,?,?,?)");
    if (s) {
        sqlite3_bind_int64(s, 1, row->time_ms);
        pyro_sqlite_bind_text(s, 2, row->application);
        pyro_sqlite_bind_text(s, 3, row->finding);
        pyro_sqlite_bind_text(s, 4, row->rule);
        pyro_sqlite_bind_text(s, 5, pyro_feedback_name(row->verdict));
        pyro_sqlite_bind_text(s, 6, row->note);
    }
    return pyro_sqlite_finish(store, s, error);
}

enum pyro_status pyro_sqlite_put_suggestion(void *state, const struct pyro_suggestion_row *row,
                                            struct pyro_error *error)
{
    struct pyro_sqlite *store = state;
    sqlite3_stmt *s = pyro_sqlite_prepare(
        store, "INSERT OR REPLACE INTO suggestion (id, application, time_ms, state, goal, target, document, note)"
               " VALUES (?,?,?,?,?,?,?,?)");
    if (s) {
        pyro_sqlite_bind_slice(s, 1, row->id);
        pyro_sqlite_bind_slice(s, 2, row->application);
        sqlite3_bind_int64(s, 3, row->time_ms);
        pyro_sqlite_bind_slice(s, 4, row->state);
        pyro_sqlite_bind_slice(s, 5, row->goal);
        pyro_sqlite_bind_slice(s, 6, row->target);
        pyro_sqlite_bind_slice(s, 7, row->document);
        pyro_sqlite_bind_slice(s, 8, row->note);
    }
    return pyro_sqlite_finish(store, s, error);
}
