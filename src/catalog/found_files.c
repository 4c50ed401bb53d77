/* What was found in the folders, kept between starts in one SQLite file: which files each log had and what the list
 * shows of it. Losing it costs one reading of the logs; a file of another version, or a damaged one, is made again, and
 * a row with a wrong checksum counts as missing. Locks and atomic changes are SQLite's. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/collections/hash.h"
#include "base/files/new_file.h"
#include "base/secrets/secret_expressions.h"
#include "catalog/application_list.h"
#include "catalog/found_files.h"
#include "catalog/log.h"
#include "store/database.h"

/* VERSION is raised with every change of the tables, and of what pyro_attempt_scan() says of a log. */
enum { APPLICATION_ID = 0x5059524c, VERSION = 5, PATIENCE_MS = 2000 };

static const char schema[] =
    "CREATE TABLE build (version TEXT NOT NULL);"
    "CREATE TABLE log (root BLOB NOT NULL, path BLOB NOT NULL, layout INTEGER, in_progress INTEGER, compacted INTEGER,"
    " missing_parts INTEGER, app_id BLOB, attempt_id BLOB, name BLOB, user BLOB, version BLOB, start_ms INTEGER,"
    " end_ms INTEGER, modified_ms INTEGER, completed INTEGER, outcome INTEGER, last_event_ms INTEGER, problem BLOB, "
    "parts INTEGER NOT NULL,"
    " checksum INTEGER NOT NULL, PRIMARY KEY (root, path)) WITHOUT ROWID;"
    "CREATE TABLE part (root BLOB NOT NULL, path BLOB NOT NULL, number INTEGER NOT NULL, file BLOB NOT NULL,"
    " member BLOB, compacted INTEGER, device INTEGER, inode INTEGER, bytes INTEGER, modified_ns INTEGER,"
    " most_bytes INTEGER,"
    " PRIMARY KEY (root, path, number)) WITHOUT ROWID;";

/* A build, and how it redacts: what another one keeps is made again. */
enum { BUILD_BYTES = 80 };

struct pyro_catalog_index {
    sqlite3 *db;
    char build[BUILD_BYTES];
};

/* ---- The file ---- */

static bool run_text(struct pyro_catalog_index *index, const char *text)
{
    return pyro_database_run(index->db, text);
}

static void close_db(struct pyro_catalog_index *index)
{
    sqlite3_close(index->db);
    index->db = NULL;
}

/* False: another process holds it, or the file system cannot lock. A file that is of another version or damaged is of
 * no use any more. */
static bool open_db(struct pyro_catalog_index *index, const char *path, bool *ret_useless)
{
    char afterwards[256], question[256];
    /* An empty table is one that was made just now. */
    snprintf(afterwards, sizeof(afterwards), "INSERT INTO build SELECT '%s' WHERE NOT EXISTS (SELECT * FROM build);",
             index->build);
    snprintf(question, sizeof(question), "SELECT count(*) FROM build WHERE version = '%s'", index->build);
    const struct pyro_database_kind kind = {.application_id = APPLICATION_ID,
                                            .version = VERSION,
                                            .patience_ms = PATIENCE_MS,
                                            .schema = schema,
                                            .afterwards = afterwards};
    enum pyro_database_state state = pyro_database_open(path, &kind, true, &index->db, NULL);
    bool good = state == PYRO_DATABASE_GOOD && pyro_database_number(index->db, question) == 1;
    *ret_useless = !good && state != PYRO_DATABASE_UNUSABLE;
    if (good)
        run_text(index, "PRAGMA synchronous = NORMAL");
    else
        close_db(index);
    return good;
}

/* Folders that no longer exist, such as those for uploads of a server that was stopped, are forgotten. */
static void forget_gone(struct pyro_catalog_index *index)
{
    sqlite3_stmt *roots = NULL;
    struct stat status;
    PYRO_VEC(char *) gone = {0};
    if (sqlite3_prepare_v2(index->db, "SELECT DISTINCT root FROM log", -1, &roots, NULL) == SQLITE_OK) {
        while (sqlite3_step(roots) == SQLITE_ROW) {
            const char *root = (const char *)sqlite3_column_text(roots, 0);
            char **slot = root && stat(root, &status) != 0 && errno == ENOENT ? pyro_vec_push(&gone, NULL) : NULL;
            if (slot)
                *slot = strdup(root);
        }
    }
    sqlite3_finalize(roots);
    for (size_t i = 0; i < gone.count; i++) {
        char *text = sqlite3_mprintf("DELETE FROM log WHERE root = CAST(%Q AS BLOB);"
                                     "DELETE FROM part WHERE root = CAST(%Q AS BLOB)",
                                     gone.items[i] ? gone.items[i] : "", gone.items[i] ? gone.items[i] : "");
        if (text)
            run_text(index, text);
        sqlite3_free(text);
        free(gone.items[i]);
    }
    pyro_vec_done(&gone, NULL);
}

static bool make_folders(const char *folder)
{
    char path[PATH_MAX];
    size_t len = strlen(folder);
    if (len == 0 || len >= sizeof(path))
        return false;
    memcpy(path, folder, len + 1);
    for (size_t i = 1; i <= len; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        char end = path[i];
        path[i] = '\0';
        if (!pyro_new_folder(path) && errno != EEXIST && errno != EROFS && errno != EACCES)
            return false;
        path[i] = end;
    }
    return access(folder, W_OK | X_OK) == 0;
}

enum pyro_status pyro_catalog_index_open(const char *folder, enum pyro_redaction redaction,
                                         struct pyro_catalog_index **ret, struct pyro_error *error)
{
    char path[PATH_MAX];
    if (!make_folders(folder) ||
        (size_t)snprintf(path, sizeof(path), "%s/applications.sqlite", folder) >= sizeof(path)) {
        pyro_error_describe(error, PYRO_ERROR_OUTPUT, "cannot keep anything in %s: %s", folder, strerror(errno));
        return PYRO_ERROR_OUTPUT;
    }
    struct pyro_catalog_index *index = pyro_allocate(NULL, sizeof(*index));
    if (!index)
        return pyro_no_memory(error);
    *index = (struct pyro_catalog_index){0};
    snprintf(index->build, sizeof(index->build), "%.40s %016llx", PYROMETER_VERSION,
             (unsigned long long)pyro_secret_expressions_key(redaction));
    bool useless, open = open_db(index, path, &useless);
    if (useless) {
        unlink(path);
        open = open_db(index, path, &useless);
    }
    if (open) /* else in use for long, or on a file system that cannot lock: go without */
        forget_gone(index);
    *ret = index;
    return PYRO_OK;
}

void pyro_catalog_index_close(struct pyro_catalog_index *index)
{
    if (!index)
        return;
    close_db(index);
    pyro_release(NULL, index);
}

/* ---- Rows ---- */

static void sum_number(uint64_t *sum, uint64_t number)
{
    for (int i = 0; i < 64; i += 8)
        *sum = pyro_fnv_byte(*sum, (unsigned char)(number >> i));
}

static void sum_text(uint64_t *sum, struct pyro_slice text)
{
    sum_number(sum, text.ptr ? text.len : UINT64_MAX);
    *sum = pyro_fnv(*sum, text.ptr, text.ptr ? text.len : 0);
}

/* Of all that is kept of a log, except the folder it was found in. */
static int64_t checksum(const struct pyro_log *log, const struct pyro_file_stamp *stamps, size_t folder_len,
                        const struct pyro_attempt *attempt, struct pyro_slice problem)
{
    uint64_t sum = PYRO_FNV;
    const struct pyro_slice texts[] = {attempt->app_id, attempt->attempt_id, attempt->name,
                                       attempt->user,   attempt->version,    problem};
    const uint64_t numbers[] = {log->layout,
                                log->in_progress,
                                log->compacted,
                                log->missing_parts,
                                (uint64_t)attempt->start_ms,
                                (uint64_t)attempt->end_ms,
                                (uint64_t)attempt->modified_ms,
                                attempt->completed,
                                attempt->outcome,
                                (uint64_t)attempt->last_event_ms,
                                log->part_count};
    sum_text(&sum, (struct pyro_slice){log->path.ptr + folder_len, log->path.len - folder_len});
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        sum_text(&sum, texts[i]);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        sum_number(&sum, numbers[i]);
    for (size_t i = 0; i < log->part_count; i++) {
        struct pyro_slice path = log->parts[i].path;
        sum_text(&sum, (struct pyro_slice){path.ptr + folder_len, path.len - folder_len});
        sum_text(&sum, log->parts[i].member);
        sum_number(&sum, log->parts[i].compacted);
        sum_number(&sum, stamps[i].device);
        sum_number(&sum, stamps[i].inode);
        sum_number(&sum, stamps[i].bytes);
        sum_number(&sum, (uint64_t)stamps[i].modified_ns);
        sum_number(&sum, log->parts[i].most_bytes);
    }
    return (int64_t)sum;
}

/* ---- Reading ---- */

struct row_reader {
    struct pyro_arena arena;
    struct pyro_slice folder; /* as it was given */
    struct pyro_slice inside; /* pyro_log_part */
    bool sent, unlimited;     /* the folder is that of uploads; other logs have no limits */
};

static struct pyro_slice column(struct row_reader *reader, sqlite3_stmt *row, int at)
{
    if (sqlite3_column_type(row, at) == SQLITE_NULL)
        return PYRO_SLICE_NULL;
    const char *bytes = sqlite3_column_blob(row, at);
    int len = sqlite3_column_bytes(row, at);
    return pyro_arena_copy(&reader->arena, (struct pyro_slice){bytes ? bytes : "", (size_t)(len > 0 ? len : 0)});
}

/* A path below the folder, made whole; null when it leads elsewhere or cannot be one. */
static struct pyro_slice path_column(struct row_reader *reader, sqlite3_stmt *row, int at)
{
    struct pyro_slice rest = column(reader, row, at);
    if (!rest.ptr || (rest.len && rest.ptr[0] != '/') || memchr(rest.ptr, '\0', rest.len) ||
        pyro_slice_find(rest, "/../"))
        return PYRO_SLICE_NULL;
    char *path = pyro_arena_alloc(&reader->arena, reader->folder.len + rest.len + 1);
    if (!path)
        return PYRO_SLICE_NULL;
    memcpy(path, reader->folder.ptr, reader->folder.len);
    memcpy(path + reader->folder.len, rest.ptr, rest.len);
    return (struct pyro_slice){path, reader->folder.len + rest.len};
}

/* The parts of the log of `row`; `parts` is at the first of them or of a later log. False: damaged. */
static bool read_parts(struct row_reader *reader, sqlite3_stmt *row, sqlite3_stmt *parts, bool *more,
                       struct pyro_log *log, struct pyro_file_stamp **ret_stamps)
{
    struct pyro_slice path = column(reader, row, 0);
    int64_t count = sqlite3_column_int64(row, 17);
    PYRO_VEC(struct pyro_log_part) found = {0};
    PYRO_VEC(struct pyro_file_stamp) stamps = {0};
    bool ok = path.ptr != NULL;
    for (; ok && *more; *more = sqlite3_step(parts) == SQLITE_ROW) {
        int order = pyro_slice_compare(column(reader, parts, 0), path);
        if (order > 0)
            break;
        struct pyro_log_part *part = order == 0 ? pyro_vec_push(&found, NULL) : NULL;
        struct pyro_file_stamp *stamp = part ? pyro_vec_push(&stamps, NULL) : NULL;
        if (order == 0 && !stamp) {
            ok = false;
        } else if (stamp) {
            *part = (struct pyro_log_part){.path = path_column(reader, parts, 1),
                                           .member = column(reader, parts, 2),
                                           .compacted = sqlite3_column_int(parts, 3) != 0,
                                           .most_bytes = (uint64_t)sqlite3_column_int64(parts, 8),
                                           .inside = reader->inside,
                                           .limit_option = reader->sent ? "--max-upload-ratio" : PYRO_LIFT_LIMITS};
            if (!reader->sent && reader->unlimited)
                part->most_bytes = 0;
            *stamp = (struct pyro_file_stamp){(uint64_t)sqlite3_column_int64(parts, 4),
                                              (uint64_t)sqlite3_column_int64(parts, 5),
                                              (uint64_t)sqlite3_column_int64(parts, 6), sqlite3_column_int64(parts, 7)};
            ok = part->path.ptr != NULL;
        }
    }
    ok = ok && found.count > 0 && (int64_t)found.count == count;
    if (ok) {
        log->part_count = found.count;
        log->parts = pyro_arena_array(&reader->arena, found.count, sizeof(*log->parts));
        *ret_stamps = pyro_arena_array(&reader->arena, found.count, sizeof(**ret_stamps));
        ok = log->parts && *ret_stamps;
    }
    if (ok) {
        memcpy(log->parts, found.items, found.count * sizeof(*found.items));
        memcpy(*ret_stamps, stamps.items, found.count * sizeof(*stamps.items));
    }
    pyro_vec_done(&found, NULL);
    pyro_vec_done(&stamps, NULL);
    return ok;
}

static struct pyro_catalog_log *read_log(struct row_reader *reader, sqlite3_stmt *row, sqlite3_stmt *parts, bool *more)
{
    struct pyro_file_stamp *stamps = NULL;
    struct pyro_log log = {
        .path = path_column(reader, row, 0),
        .layout = (enum pyro_log_layout)sqlite3_column_int(row, 1),
        .in_progress = sqlite3_column_int(row, 2) != 0,
        .compacted = sqlite3_column_int(row, 3) != 0,
        .missing_parts = (uint64_t)sqlite3_column_int64(row, 4),
    };
    const struct pyro_attempt attempt = {
        .app_id = column(reader, row, 5),
        .attempt_id = column(reader, row, 6),
        .name = column(reader, row, 7),
        .user = column(reader, row, 8),
        .version = column(reader, row, 9),
        .start_ms = sqlite3_column_int64(row, 10),
        .end_ms = sqlite3_column_int64(row, 11),
        .modified_ms = sqlite3_column_int64(row, 12),
        .completed = sqlite3_column_int(row, 13) != 0,
        .outcome = (enum pyro_run_outcome)sqlite3_column_int(row, 14),
        .last_event_ms = sqlite3_column_int64(row, 15),
    };
    struct pyro_slice problem = column(reader, row, 16);
    bool good = read_parts(reader, row, parts, more, &log, &stamps) && log.path.ptr &&
                (unsigned)log.layout <= PYRO_LAYOUT_DATABRICKS && (unsigned)attempt.outcome < PYRO_RUN_OUTCOMES &&
                checksum(&log, stamps, reader->folder.len, &attempt, problem) == sqlite3_column_int64(row, 18);
    return good ? pyro_catalog_log_new(&log, stamps, problem.ptr ? NULL : &attempt, problem, NULL) : NULL;
}

static void bind_slice(sqlite3_stmt *statement, int at, struct pyro_slice text)
{
    if (text.ptr)
        sqlite3_bind_blob64(statement, at, text.ptr, text.len, SQLITE_STATIC);
    else
        sqlite3_bind_null(statement, at);
}

bool pyro_catalog_index_read(struct pyro_catalog_index *index, const char *folder,
                             const struct pyro_catalog_options *options, pyro_catalog_logs *logs, uint64_t *identities)
{
    char root[PATH_MAX];
    sqlite3_stmt *rows = NULL, *parts = NULL;
    struct row_reader reader = {.folder = pyro_slice_from(strcmp(folder, "/") == 0 ? "" : folder)};
    reader.sent = options->uploads && pyro_slice_is(pyro_slice_from(options->uploads), folder);
    reader.unlimited = options->unlimited;
    bool ok = true;
    if (!index->db || !realpath(folder, root))
        return true;
    reader.inside = options->follow_links ? PYRO_SLICE_NULL : pyro_slice_from(root);
    sqlite3_prepare_v2(
        index->db,
        "SELECT path, layout, in_progress, compacted, missing_parts, app_id, attempt_id, name, user,"
        " version, start_ms, end_ms, modified_ms, completed, outcome, last_event_ms, problem, parts, checksum FROM log"
        " WHERE root = ? ORDER BY path",
        -1, &rows, NULL);
    sqlite3_prepare_v2(index->db,
                       "SELECT path, file, member, compacted, device, inode, bytes, modified_ns, most_bytes FROM part"
                       " WHERE root = ? ORDER BY path, number",
                       -1, &parts, NULL);
    if (rows && parts) {
        bind_slice(rows, 1, pyro_slice_from(root));
        bind_slice(parts, 1, pyro_slice_from(root));
        bool more = sqlite3_step(parts) == SQLITE_ROW;
        pyro_arena_init(&reader.arena, NULL);
        while (ok && sqlite3_step(rows) == SQLITE_ROW) {
            pyro_arena_reset(&reader.arena);
            struct pyro_catalog_log *log = read_log(&reader, rows, parts, &more);
            struct pyro_catalog_log **slot = log ? pyro_vec_push(logs, NULL) : NULL;
            ok = !log || slot;
            if (slot) {
                log->identity = ++*identities;
                *slot = log;
            } else {
                pyro_catalog_log_release(log);
            }
        }
        pyro_arena_done(&reader.arena);
    }
    sqlite3_finalize(rows);
    sqlite3_finalize(parts);
    return ok;
}

/* ---- Writing ---- */

struct writer {
    sqlite3_stmt *put, *put_part, *remove, *remove_parts;
    struct pyro_slice root;
    size_t folder_len;
};

static struct pyro_slice below(const struct writer *writer, struct pyro_slice path)
{
    return (struct pyro_slice){path.ptr + writer->folder_len, path.len - writer->folder_len};
}

static bool run(sqlite3_stmt *statement)
{
    bool done = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    return done;
}

static bool remove_log(const struct writer *writer, const struct pyro_catalog_log *log)
{
    sqlite3_stmt *const both[] = {writer->remove, writer->remove_parts};
    bool ok = true;
    for (size_t i = 0; i < 2; i++) {
        bind_slice(both[i], 1, writer->root);
        bind_slice(both[i], 2, below(writer, log->log.path));
        ok = ok && run(both[i]);
    }
    return ok;
}

static bool put_part(const struct writer *writer, const struct pyro_catalog_log *log, size_t number)
{
    sqlite3_stmt *s = writer->put_part;
    const struct pyro_log_part *part = &log->log.parts[number];
    const struct pyro_file_stamp *stamp = &log->stamps[number];
    bind_slice(s, 1, writer->root);
    bind_slice(s, 2, below(writer, log->log.path));
    sqlite3_bind_int64(s, 3, (int64_t)number);
    bind_slice(s, 4, below(writer, part->path));
    bind_slice(s, 5, part->member);
    sqlite3_bind_int(s, 6, part->compacted);
    sqlite3_bind_int64(s, 7, (int64_t)stamp->device);
    sqlite3_bind_int64(s, 8, (int64_t)stamp->inode);
    sqlite3_bind_int64(s, 9, (int64_t)stamp->bytes);
    sqlite3_bind_int64(s, 10, stamp->modified_ns);
    sqlite3_bind_int64(s, 11, (int64_t)part->most_bytes);
    return run(s);
}

static bool put_log(const struct writer *writer, const struct pyro_catalog_log *log)
{
    sqlite3_stmt *s = writer->put;
    const struct pyro_attempt *attempt = &log->attempt;
    bind_slice(s, 1, writer->root);
    bind_slice(s, 2, below(writer, log->log.path));
    sqlite3_bind_int(s, 3, (int)log->log.layout);
    sqlite3_bind_int(s, 4, log->log.in_progress);
    sqlite3_bind_int(s, 5, log->log.compacted);
    sqlite3_bind_int64(s, 6, (int64_t)log->log.missing_parts);
    bind_slice(s, 7, attempt->app_id);
    bind_slice(s, 8, attempt->attempt_id);
    bind_slice(s, 9, attempt->name);
    bind_slice(s, 10, attempt->user);
    bind_slice(s, 11, attempt->version);
    sqlite3_bind_int64(s, 12, attempt->start_ms);
    sqlite3_bind_int64(s, 13, attempt->end_ms);
    sqlite3_bind_int64(s, 14, attempt->modified_ms);
    sqlite3_bind_int(s, 15, attempt->completed);
    sqlite3_bind_int(s, 16, (int)attempt->outcome);
    sqlite3_bind_int64(s, 17, attempt->last_event_ms);
    bind_slice(s, 18, log->problem);
    sqlite3_bind_int64(s, 19, (int64_t)log->log.part_count);
    sqlite3_bind_int64(s, 20, checksum(&log->log, log->stamps, writer->folder_len, attempt, log->problem));
    bool ok = run(s);
    for (size_t i = 0; ok && i < log->log.part_count; i++)
        ok = put_part(writer, log, i);
    return ok;
}

/* Whether the log, and every file of it, is below the folder. What is made of text logs is not kept. */
static bool is_below(const struct pyro_catalog_log *log, struct pyro_slice folder)
{
    bool below = log->log.part_count > 0 && log->log.layout != PYRO_LAYOUT_LOGS;
    for (size_t i = 0; below && i <= log->log.part_count; i++) {
        struct pyro_slice path = i < log->log.part_count ? log->log.parts[i].path : log->log.path;
        below = path.len >= folder.len && memcmp(path.ptr, folder.ptr, folder.len) == 0 &&
                (path.len == folder.len || path.ptr[folder.len] == '/');
    }
    return below;
}

/* Makes the rows of that folder say what `now` does, where they say what `before` did. */
static bool write_changes(const struct writer *writer, struct pyro_slice folder, const struct pyro_catalog_list *before,
                          const struct pyro_catalog_list *now)
{
    size_t before_count, now_count;
    struct pyro_catalog_log *const *old = pyro_catalog_list_logs(before, &before_count);
    struct pyro_catalog_log *const *new = pyro_catalog_list_logs(now, &now_count);
    bool ok = true;
    for (size_t i = 0; ok && i < before_count; i++)
        if (is_below(old[i], folder) && pyro_catalog_list_at(now, old[i]->log.path) != old[i])
            ok = remove_log(writer, old[i]);
    for (size_t i = 0; ok && i < now_count; i++)
        if (is_below(new[i], folder) && pyro_catalog_list_at(before, new[i]->log.path) != new[i])
            ok = remove_log(writer, new[i]) && (new[i]->passing || put_log(writer, new[i]));
    return ok;
}

static sqlite3_stmt *prepare(struct pyro_catalog_index *index, const char *text)
{
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(index->db, text, -1, &statement, NULL);
    return statement;
}

void pyro_catalog_index_write(struct pyro_catalog_index *index, const char *folder,
                              const struct pyro_catalog_list *before, const struct pyro_catalog_list *now)
{
    char root[PATH_MAX];
    if (!index->db || !realpath(folder, root) || !run_text(index, "BEGIN IMMEDIATE"))
        return;
    struct pyro_slice given = pyro_slice_from(strcmp(folder, "/") == 0 ? "" : folder);
    struct writer writer = {
        .put = prepare(index, "INSERT OR REPLACE INTO log VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
        .put_part = prepare(index, "INSERT OR REPLACE INTO part VALUES (?,?,?,?,?,?,?,?,?,?,?)"),
        .remove = prepare(index, "DELETE FROM log WHERE root = ? AND path = ?"),
        .remove_parts = prepare(index, "DELETE FROM part WHERE root = ? AND path = ?"),
        .root = pyro_slice_from(root),
        .folder_len = given.len,
    };
    bool ok = writer.put && writer.put_part && writer.remove && writer.remove_parts &&
              write_changes(&writer, given, before, now);
    sqlite3_finalize(writer.put);
    sqlite3_finalize(writer.put_part);
    sqlite3_finalize(writer.remove);
    sqlite3_finalize(writer.remove_parts);
    run_text(index, ok ? "COMMIT" : "ROLLBACK");
}
