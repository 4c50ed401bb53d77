/* Tables and views, and the way from version 1 to this one. */
#include "store/sqlite/sqlite.h"

/* Of a run: one row here, and rows that go with it. */
#define RUN_COLUMNS                                                                                                    \
    "application TEXT NOT NULL DEFAULT '', type TEXT NOT NULL DEFAULT '', version TEXT NOT NULL DEFAULT '',"           \
    " tag TEXT NOT NULL DEFAULT '', queue TEXT, input_bytes INTEGER, source TEXT,"                                     \
    " is_final_attempt INTEGER NOT NULL DEFAULT 1, outcome TEXT"
#define OF_RUN "run INTEGER PRIMARY KEY REFERENCES run (key) ON DELETE CASCADE"

/* Aggregates, properties and tags are ordered by name, then by run: a view over all runs reads few names of
 * hundreds. */
#define TABLES                                                                                                         \
    "CREATE TABLE run_report (" OF_RUN ", json TEXT NOT NULL);"                                                        \
    "CREATE TABLE run_raw (" OF_RUN ", json TEXT NOT NULL);"                                                           \
    "CREATE TABLE aggregate_name (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"                                 \
    "CREATE TABLE aggregate (name INTEGER NOT NULL REFERENCES aggregate_name (id),"                                    \
    " run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE, value REAL NOT NULL, PRIMARY KEY (name, run))"      \
    " WITHOUT ROWID;"                                                                                                  \
    "CREATE TABLE property_name (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"                                  \
    "CREATE TABLE property (name INTEGER NOT NULL REFERENCES property_name (id),"                                      \
    " run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE, value TEXT NOT NULL, PRIMARY KEY (name, run))"      \
    " WITHOUT ROWID;"                                                                                                  \
    "CREATE TABLE tag_name (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"                                       \
    "CREATE TABLE run_tag (name INTEGER NOT NULL REFERENCES tag_name (id),"                                            \
    " run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE, value TEXT NOT NULL, PRIMARY KEY (name, run))"      \
    " WITHOUT ROWID;"                                                                                                  \
    "CREATE TABLE run_allocation (" OF_RUN                                                                             \
    ", core_ms INTEGER, mib_ms INTEGER, parts TEXT, platform TEXT, instance TEXT,"                                     \
    " region TEXT);"                                                                                                   \
    "CREATE TABLE run_usage (run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE, start_ms INTEGER NOT NULL,"  \
    " span_ms INTEGER NOT NULL, slot_ms INTEGER NOT NULL, core_ms INTEGER NOT NULL, busy_core_ms INTEGER NOT NULL,"    \
    " mib_ms INTEGER NOT NULL, input_bytes INTEGER NOT NULL, output_bytes INTEGER NOT NULL,"                           \
    " shuffle_bytes INTEGER NOT NULL, PRIMARY KEY (run, start_ms)) WITHOUT ROWID;"                                     \
    "CREATE TABLE run_advice (run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE, position INTEGER NOT NULL," \
    " finding TEXT NOT NULL, rule TEXT NOT NULL, key TEXT NOT NULL, previous TEXT, value TEXT NOT NULL,"               \
    " saves_low_ms INTEGER, saves_ms INTEGER, saves_high_ms INTEGER, saves_core_ms INTEGER,"                           \
    " PRIMARY KEY (run, position)) WITHOUT ROWID;"                                                                     \
    "CREATE TABLE suggestion (id TEXT PRIMARY KEY, application TEXT NOT NULL, time_ms INTEGER NOT NULL,"               \
    " state TEXT NOT NULL, goal TEXT NOT NULL, target TEXT, document TEXT NOT NULL, note TEXT) WITHOUT ROWID;"         \
    "CREATE INDEX suggestion_by_application ON suggestion (application, time_ms);"                                     \
    "CREATE TABLE work (key TEXT PRIMARY KEY, source TEXT NOT NULL, stamp TEXT NOT NULL, state INTEGER NOT NULL,"      \
    " owner TEXT, until_ms INTEGER NOT NULL DEFAULT 0, epoch INTEGER NOT NULL DEFAULT 0,"                              \
    " tries INTEGER NOT NULL DEFAULT 0, next_ms INTEGER NOT NULL DEFAULT 0, end_ms INTEGER NOT NULL) WITHOUT ROWID;"   \
    "CREATE INDEX work_by_state ON work (source, state, end_ms);"                                                      \
    "CREATE TABLE work_source (source TEXT PRIMARY KEY, listed_ms INTEGER NOT NULL) WITHOUT ROWID;"                    \
    "CREATE TABLE cluster (source TEXT NOT NULL, time_ms INTEGER NOT NULL, name TEXT NOT NULL, value REAL NOT NULL,"   \
    " PRIMARY KEY (source, time_ms, name)) WITHOUT ROWID;"                                                             \
    "CREATE TABLE run_day (application TEXT NOT NULL, time_ms INTEGER NOT NULL, runs INTEGER NOT NULL,"                \
    " completed INTEGER NOT NULL, duration_ms INTEGER NOT NULL, core_ms INTEGER NOT NULL,"                             \
    " input_bytes INTEGER NOT NULL, PRIMARY KEY (application, time_ms)) WITHOUT ROWID;"                                \
    "CREATE INDEX run_by_application ON run (application, start_ms);"                                                  \
    "CREATE INDEX run_by_start ON run (start_ms);"                                                                     \
    "CREATE INDEX run_by_end ON run (end_ms);"

/* What the planner is to expect, whatever is in the store now: 100,000 runs. Otherwise it takes every index for a good
 * one, and plans would change with the rows. */
#define STATISTICS                                                                                                     \
    "ANALYZE sqlite_schema; DELETE FROM sqlite_stat1; INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES"                \
    " ('run', 'run_by_application', '100000 20 1'), ('run', 'run_by_name', '100000 20 1'),"                            \
    " ('run', 'run_by_start', '100000 1'), ('run', 'run_by_end', '100000 1'),"                                         \
    " ('run', 'sqlite_autoindex_run_1', '100000 1 1'), ('aggregate', 'aggregate', '60000000 100000 1'),"               \
    " ('aggregate_name', 'sqlite_autoindex_aggregate_name_1', '1000 1'), ('property', 'property', '5000000 50000 1')," \
    " ('property_name', 'sqlite_autoindex_property_name_1', '1000 1'), ('run_tag', 'run_tag', '500000 50000 1'),"      \
    " ('tag_name', 'sqlite_autoindex_tag_name_1', '20 1'), ('run_finding', 'run_finding', '300000 3 1'),"              \
    " ('run_finding', 'run_finding_by_id', '300000 20'), ('run_usage', 'run_usage', '1000000 10 1'),"                  \
    " ('run_advice', 'run_advice', '200000 2 1'), ('run_allocation', NULL, '100000'), ('run_access', NULL, '100000');"

#define OUTCOME_OF_STATUS "outcome = CASE status WHEN 'in_progress' THEN 'running' ELSE status END"

#define VIEW_OF_RUNS                                                                                                   \
    "CREATE VIEW runs AS SELECT app_id, attempt, name, user, start_ms, end_ms, duration_ms, spark_version, master,"    \
    " status, core_ms, confidence, recorded_ms, path, application, type, version, tag, queue, input_bytes, source,"    \
    " is_final_attempt, outcome FROM run;"

#define VIEWS                                                                                                          \
    VIEW_OF_RUNS                                                                                                       \
    "CREATE VIEW raw AS SELECT app_id, attempt, json FROM run JOIN run_raw ON run = key;"                              \
    "CREATE VIEW reports AS SELECT app_id, attempt, json FROM run JOIN run_report ON run = key;"                       \
    "CREATE VIEW aggregates AS SELECT app_id, attempt, n.name AS name, value FROM aggregate a JOIN aggregate_name n"   \
    " ON n.id = a.name JOIN run ON run = key;"                                                                         \
    "CREATE VIEW properties AS SELECT app_id, attempt, n.name AS key, value FROM property p JOIN property_name n"      \
    " ON n.id = p.name JOIN run r ON run = r.key;"                                                                     \
    "CREATE VIEW tags AS SELECT app_id, attempt, n.name AS key, value FROM run_tag t JOIN tag_name n"                  \
    " ON n.id = t.name JOIN run r ON run = r.key;"                                                                     \
    "CREATE VIEW findings AS SELECT app_id, attempt, id, rule, severity, category, f.confidence AS confidence, title," \
    " cause, job, stage, stage_attempt, sql, executor, host, call_site, saves_low_ms, saves_ms, saves_high_ms,"        \
    " saves_core_ms, folded FROM run JOIN run_finding f ON run = key;"                                                 \
    "CREATE VIEW allocations AS SELECT app_id, attempt, a.core_ms AS core_ms, mib_ms, parts, platform, instance,"      \
    " region FROM run_allocation a JOIN run ON run = key;"                                                             \
    "CREATE VIEW usage AS SELECT app_id, attempt, u.start_ms AS start_ms, span_ms, slot_ms, u.core_ms AS core_ms,"     \
    " busy_core_ms, mib_ms, u.input_bytes AS input_bytes, output_bytes, shuffle_bytes FROM run_usage u"                \
    " JOIN run ON run = key;"                                                                                          \
    "CREATE VIEW advice AS SELECT app_id, attempt, application, finding, rule, a.key AS key, previous, value,"         \
    " saves_low_ms, saves_ms, saves_high_ms, saves_core_ms FROM run_advice a JOIN run r ON run = r.key;"               \
    "CREATE VIEW errors AS SELECT app_id, step, type, message, raw, time_ms, attempt, source, tries FROM error;"       \
    "CREATE VIEW feedback AS SELECT application, finding, rule, verdict, note, time_ms FROM verdict;"                  \
    "CREATE VIEW baselines AS SELECT b.name AS name, app_id, attempt FROM baseline b JOIN run ON run = key;"           \
    "CREATE VIEW days AS SELECT application, time_ms, runs, completed, duration_ms, core_ms, input_bytes FROM "        \
    "run_day;"                                                                                                         \
    "CREATE VIEW suggestions AS SELECT id, application, time_ms, state, goal, target, document, note FROM suggestion;"

const char pyro_sqlite_schema[] =
    "CREATE TABLE run (key INTEGER PRIMARY KEY, app_id TEXT NOT NULL, attempt TEXT NOT NULL, name TEXT NOT NULL,"
    " user TEXT, spark_version TEXT, master TEXT, status TEXT, start_ms INTEGER, end_ms INTEGER, duration_ms INTEGER,"
    " core_ms INTEGER, confidence REAL, recorded_ms INTEGER NOT NULL, path TEXT, " RUN_COLUMNS ","
    " UNIQUE (app_id, attempt));"
    "CREATE INDEX run_by_name ON run (name, start_ms);"
    "CREATE TABLE run_finding (run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE, position INTEGER NOT NULL,"
    " id TEXT NOT NULL, rule TEXT NOT NULL, category TEXT NOT NULL, severity TEXT NOT NULL, confidence REAL,"
    " title TEXT, cause TEXT, job INTEGER, stage INTEGER, stage_attempt INTEGER, sql INTEGER, executor TEXT, host TEXT,"
    " call_site TEXT, saves_low_ms INTEGER, saves_ms INTEGER, saves_high_ms INTEGER, saves_core_ms INTEGER,"
    " folded INTEGER NOT NULL, PRIMARY KEY (run, position)) WITHOUT ROWID;"
    "CREATE INDEX run_finding_by_id ON run_finding (id);"
    "CREATE TABLE verdict (key INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, application TEXT NOT NULL,"
    " finding TEXT NOT NULL, rule TEXT NOT NULL, verdict TEXT NOT NULL, note TEXT NOT NULL);"
    "CREATE TABLE baseline (name TEXT PRIMARY KEY, run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE);"
    "CREATE TABLE error (key INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, app_id TEXT NOT NULL, step TEXT NOT NULL,"
    " type TEXT NOT NULL, message TEXT NOT NULL, raw TEXT, attempt TEXT, source TEXT,"
    " tries INTEGER NOT NULL DEFAULT 1);" TABLES VIEWS STATISTICS;

/* Who may see a run, as its application said, and the key of the expressions that its texts were redacted by. Stores
 * that were made before have no such rows yet. */
const char pyro_sqlite_additions[] =
    "CREATE TABLE IF NOT EXISTS run_access (run INTEGER PRIMARY KEY REFERENCES run (key) ON DELETE CASCADE,"
    " enabled INTEGER NOT NULL, view_users TEXT, view_groups TEXT, admin_users TEXT, admin_groups TEXT);"
    "CREATE TABLE IF NOT EXISTS run_redaction (run INTEGER PRIMARY KEY REFERENCES run (key) ON DELETE CASCADE,"
    " expressions INTEGER NOT NULL);";

/* Stores that were made before outcomes know only the status. */
const char pyro_sqlite_lacks[] = "SELECT count(*) = 0 FROM pragma_table_info('run') WHERE name = 'outcome'";
const char pyro_sqlite_outcomes[] =
    "ALTER TABLE run ADD COLUMN outcome TEXT; UPDATE run SET " OUTCOME_OF_STATUS "; DROP VIEW runs; " VIEW_OF_RUNS;

/* Aggregates were those of the report's model, and have another meaning under the same names now: they go. What the
 * document of the History Server says is in no old store: `raw` is empty until the logs are read again. */
#define ADD(table, column) "ALTER TABLE " table " ADD COLUMN " column ";"
const char pyro_sqlite_upgrade[] =
    "DROP VIEW runs; DROP VIEW raw; DROP VIEW aggregates; DROP VIEW findings; DROP VIEW errors; DROP VIEW feedback;"
    "DROP VIEW baselines; DROP TABLE run_aggregate;" ADD("run", "application TEXT NOT NULL DEFAULT ''")
        ADD("run", "type TEXT NOT NULL DEFAULT ''") ADD("run", "version TEXT NOT NULL DEFAULT ''")
            ADD("run", "tag TEXT NOT NULL DEFAULT ''") ADD("run", "queue TEXT") ADD("run", "input_bytes INTEGER")
                ADD("run", "source TEXT") ADD("run", "is_final_attempt INTEGER NOT NULL DEFAULT 1")
                    ADD("run", "outcome TEXT") ADD("error", "attempt TEXT") ADD("error", "source TEXT")
                        ADD("error", "tries INTEGER NOT NULL DEFAULT 1") TABLES
    "INSERT INTO run_report (run, json) SELECT key, json FROM run;"
    "ALTER TABLE run DROP COLUMN json;"
    "UPDATE run SET " OUTCOME_OF_STATUS
    ", application = name, type = name, tag = name, is_final_attempt = NOT EXISTS (SELECT 1 FROM run later"
    " WHERE later.app_id = run.app_id AND later.start_ms > run.start_ms);" VIEWS STATISTICS;
