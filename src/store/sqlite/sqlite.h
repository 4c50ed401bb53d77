/* A store in one SQLite file. Tables are ours to change; the views are a contract (docs/store.md). */
#ifndef PYRO_STORE_SQLITE_SQLITE_H
#define PYRO_STORE_SQLITE_SQLITE_H

#include "base/collections/map.h"
#include "store/database.h"
#include "store/store.h"

enum { PYRO_SQLITE_VERSION = 2 };

struct pyro_sqlite {
    const struct pyro_allocator *allocator;
    sqlite3 *db;
    struct pyro_map names; /* address of an aggregate's lasting name -> its id, as far as it is known */
    char place[];          /* for messages */
};

/* Tables and views of an empty file; what each opening adds; and the step from version 1, in the opening's transaction.
 */
extern const char pyro_sqlite_schema[], pyro_sqlite_additions[], pyro_sqlite_upgrade[];
extern const char pyro_sqlite_lacks[], pyro_sqlite_outcomes[];

enum pyro_status pyro_sqlite_damaged(const char *place, struct pyro_error *error);
/* What the connection says of the call that failed; `code` unless it is damage or want of memory. */
enum pyro_status pyro_sqlite_fail(const struct pyro_sqlite *store, enum pyro_status code, const char *what,
                                  struct pyro_error *error);

/* NULL: later calls with it fail, and the error is the database's. */
sqlite3_stmt *pyro_sqlite_prepare(struct pyro_sqlite *store, const char *text);
/* What is null, NULL or PYRO_NONE stays NULL. Texts must live until the statement has run. */
void pyro_sqlite_bind_slice(sqlite3_stmt *statement, int at, struct pyro_slice text);
void pyro_sqlite_bind_text(sqlite3_stmt *statement, int at, const char *text);
void pyro_sqlite_bind_int(sqlite3_stmt *statement, int at, int64_t value);
/* Runs a statement without rows and makes it ready for the next one. */
bool pyro_sqlite_put(sqlite3_stmt *statement);
/* The same for the last time: finalizes it. PYRO_ERROR_OUTPUT: it was not written. */
enum pyro_status pyro_sqlite_finish(struct pyro_sqlite *store, sqlite3_stmt *statement, struct pyro_error *error);

/* Null where the column is. */
struct pyro_slice pyro_sqlite_slice(sqlite3_stmt *statement, int column);
/* Columns that were read may be missing for lack of memory, which only the connection says. */
int pyro_sqlite_row_step(const struct pyro_sqlite *store, int step);

/* Adds a row of `error`. */
bool pyro_sqlite_put_error(struct pyro_sqlite *store, const struct pyro_store_error_row *row);

/* ---- Functions of the backend ---- */

extern const struct pyro_work_backend pyro_sqlite_work;
enum pyro_status pyro_sqlite_add_cluster(void *state, const struct pyro_cluster_row *rows, size_t count,
                                         struct pyro_error *error);

enum pyro_status pyro_sqlite_record(void *state, const struct pyro_run *const *runs, size_t count,
                                    enum pyro_record_result *results, struct pyro_error *error);
enum pyro_status pyro_sqlite_record_error(void *state, const struct pyro_store_error_row *row,
                                          struct pyro_error *error);
enum pyro_status pyro_sqlite_add_verdict(void *state, const struct pyro_verdict_row *row, struct pyro_error *error);
enum pyro_status pyro_sqlite_find_finding(void *state, const char *application, const char *finding,
                                          struct pyro_arena *arena, struct pyro_verdict_row *row,
                                          struct pyro_error *error);
enum pyro_status pyro_sqlite_each_verdict(void *state, int (*take)(void *context, const struct pyro_verdict_row *row),
                                          void *context, struct pyro_error *error);
enum pyro_status pyro_sqlite_each_run(void *state, int (*take)(void *context, const struct pyro_past_run *run),
                                      void *context, struct pyro_error *error);
enum pyro_status pyro_sqlite_each_stored(void *state, int (*take)(void *context, const struct pyro_stored_run *run),
                                         void *context, struct pyro_error *error);
enum pyro_status pyro_sqlite_report(void *state, struct pyro_slice app_id, struct pyro_slice attempt,
                                    struct pyro_strbuf *out, uint64_t *ret_redaction, struct pyro_error *error);
enum pyro_status pyro_sqlite_baseline(void *state, const char *name, struct pyro_arena *arena,
                                      struct pyro_baseline *ret, uint64_t *ret_redaction, struct pyro_error *error);
enum pyro_status pyro_sqlite_prune(void *state, const struct pyro_prune *prune, struct pyro_pruned *ret,
                                   struct pyro_error *error);
enum pyro_status pyro_sqlite_stat(void *state, struct pyro_arena *arena, struct pyro_store_stat *ret,
                                  struct pyro_error *error);
enum pyro_status pyro_sqlite_put_suggestion(void *state, const struct pyro_suggestion_row *row,
                                            struct pyro_error *error);
enum pyro_status pyro_sqlite_query(void *state, const struct pyro_query *query, const struct pyro_query_viewer *viewer,
                                   struct pyro_arena *arena, struct pyro_query_answer *ret, struct pyro_error *error);

#endif
