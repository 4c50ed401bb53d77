/* SQLite files of ours: opened, recognized and made in one way, whatever is kept in them. */
#ifndef PYRO_STORE_DATABASE_H
#define PYRO_STORE_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* What identifies a file of one kind, and how it is made. */
struct pyro_database_kind {
    int application_id, version;
    int patience_ms;     /* how long a writer waits for another */
    const char *before;  /* done to an empty file, outside of transactions; NULL: nothing */
    const char *schema;  /* of an empty file, in one transaction with its stamp */
    const char *upgrade; /* of a file of the version before, in one transaction with its stamp; NULL: none */
    /* What files of this version may lack, since they were made before it was added: a statement that gives 1 where it
     * is missing, and those that add it, in one transaction. A reader adds it too if it can. NULL: nothing. */
    const char *lacks, *addition;
    const char *afterwards; /* done at each opening for writing, in the same transaction; NULL: nothing */
};

enum pyro_database_state {
    PYRO_DATABASE_GOOD,
    PYRO_DATABASE_FOREIGN,       /* SQLite, but another program's */
    PYRO_DATABASE_OTHER_VERSION, /* of ours */
    PYRO_DATABASE_DAMAGED,       /* no SQLite file, or a broken one: it is left as it is */
    PYRO_DATABASE_UNUSABLE,      /* missing, locked, not to be read or written: sqlite3_errmsg() says what */
};

/* Opens the file; where `writes`, makes it when it is missing or empty, and looks through it before it is written to.
 * One of the version before is upgraded, also for a reader, which could not read it as it is. A reader does nothing
 * else but undo what a writer that died has left unfinished, as SQLite does for every reader that may. *ret, which may
 * be NULL without memory, is to be closed by sqlite3_close() in every case. *ret_version: what
 * PYRO_DATABASE_OTHER_VERSION found; may be NULL. */
enum pyro_database_state pyro_database_open(const char *path, const struct pyro_database_kind *kind, bool writes,
                                            sqlite3 **ret, int64_t *ret_version);
/* Whether the code of an SQLite call says that the file is damaged. */
bool pyro_database_is_damage(int code);
/* One statement or several without a result. */
bool pyro_database_run(sqlite3 *db, const char *text);
/* The number that a query gives; -1: none. */
int64_t pyro_database_number(sqlite3 *db, const char *text);

#endif
