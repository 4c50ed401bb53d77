/* One update at the folders: what has not changed is taken over, the rest is scanned, on several threads. */
#include <errno.h>
#include <time.h>

#include "base/collections/hash.h"
#include "base/collections/map.h"
#include "base/threads/thread.h"
#include "catalog/application_list.h"
#include "catalog/found_artefacts.h"
#include "catalog/log.h"
#include "catalog/stores.h"
#include "catalog/update.h"
#include "catalog/update_stores.h"
#include "load/load.h"

enum { MOST_THREADS = 16, PARTIAL_MS = 500 };

/* A file that some log of the last list was read from. */
struct known_file {
    const char *path;
    struct pyro_file_stamp stamp;
    struct pyro_catalog_log *log;
    bool alone; /* the log is this file */
};

/* A log that is to be scanned. */
struct job {
    const struct pyro_log *log;
    struct pyro_file_stamp *stamps;
    struct pyro_catalog_log *made; /* NULL until it is done, or when there was no memory */
    bool gone;
    bool named; /* by a store */
};

struct state {
    const struct pyro_catalog_update *update;
    struct known_file *files;
    size_t file_count;
    struct pyro_map file_rows; /* hash of the path, or the next number that is free -> row + 1 */
    struct pyro_arena arena;
    pyro_catalog_logs logs; /* of the new list */
    PYRO_VEC(struct job) jobs;
    size_t kept;       /* of the logs: those of the last list */
    bool failed;       /* no memory */
    bool dropped;      /* something that was taken for a log is none any more */
    bool named_failed; /* a log that a store names could not be looked at this time */
    const struct pyro_log_list *found;
    atomic_size_t next;
    int64_t pause_ms; /* when workers stop for a partial list; INT64_MAX: never */
};

static bool stopping(const struct state *state)
{
    return state->update->stopping(state->update->context);
}

/* ---- What is known ---- */

static bool add_file(struct state *state, const struct known_file *file)
{
    bool added = false;
    for (uint64_t key = pyro_hash_slice(pyro_slice_from(file->path)); !added; key++) {
        uint64_t *row = pyro_map_put(&state->file_rows, key, &added);
        if (!row)
            return false;
        if (added)
            *row = state->file_count + 1;
    }
    state->files[state->file_count++] = *file;
    return true;
}

static const struct known_file *find_file(const struct state *state, const char *path)
{
    const uint64_t *row;
    for (uint64_t key = pyro_hash_slice(pyro_slice_from(path)); (row = pyro_map_get(&state->file_rows, key)); key++)
        if (strcmp(state->files[*row - 1].path, path) == 0)
            return &state->files[*row - 1];
    return NULL;
}

static bool index_files(struct state *state)
{
    size_t count, files = 0;
    struct pyro_catalog_log *const *logs = pyro_catalog_list_logs(state->update->before, &count);
    for (size_t i = 0; i < count; i++)
        files += logs[i]->log.part_count;
    state->files = pyro_allocate(NULL, (files + 1) * sizeof(*state->files));
    bool ok = state->files != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        const struct pyro_log *log = &logs[i]->log;
        bool alone = log->layout == PYRO_LAYOUT_SINGLE && log->part_count == 1;
        for (size_t j = 0; ok && j < log->part_count; j++) {
            const struct known_file file = {log->parts[j].path.ptr, logs[i]->stamps[j], logs[i], alone};
            if (!log->parts[j].member.ptr && log->layout != PYRO_LAYOUT_LOGS &&
                !logs[i]->passing) /* archives are listed again: a file does not say all that it holds */
                ok = add_file(state, &file);
        }
    }
    return ok;
}

static bool keep(struct state *state, const struct pyro_catalog_log *log)
{
    struct pyro_catalog_log **place = pyro_vec_push(&state->logs, NULL);
    if (place)
        *place = pyro_catalog_log_retain(log);
    state->kept += place != NULL;
    state->failed |= !place;
    return place != NULL;
}

static bool unchanged(void *context, const char *path, const struct stat *status)
{
    struct state *state = context;
    const struct known_file *file = find_file(state, path);
    const struct pyro_file_stamp stamp = pyro_file_stamp_of(status);
    if (!file && pyro_catalog_artefacts_has(*state->update->artefacts, pyro_slice_from(path), &stamp))
        return true;
    if (!file || !pyro_file_stamp_eq(file->stamp, stamp))
        return false;
    return !file->alone || keep(state, file->log);
}

static bool no_event_log(void *context, const char *path, const struct stat *status)
{
    struct state *state = context;
    struct pyro_slice text = pyro_slice_from(path);
    /* What is listed with a problem of the moment is to be read again. */
    return !pyro_catalog_list_at(state->update->before, text) &&
           pyro_catalog_artefacts_is_other(*state->update->artefacts, text, pyro_file_stamp_of(status));
}

/* ---- Discovering ---- */

static enum pyro_status no_memory(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for the list of logs");
}

static bool is_below(struct pyro_slice path, struct pyro_slice folder)
{
    return path.len > folder.len && memcmp(path.ptr, folder.ptr, folder.len) == 0 &&
           (path.ptr[folder.len] == '/' || path.ptr[folder.len] == '!');
}

/* Whether the system refused to show the log, a part of it or the folder it is in: it says nothing of whether it is
 * still there. */
static bool is_in_doubt(const struct state *state, struct pyro_slice path)
{
    const struct pyro_log_list *found = state->found;
    for (size_t i = 0; i < found->unreadable_count; i++) {
        const struct pyro_unreadable *row = &found->unreadable[i];
        if (row->passing && (pyro_slice_eq(row->path, path) || is_below(path, row->path) || is_below(row->path, path)))
            return true;
    }
    return false;
}

static bool has_passing(const struct pyro_log_list *found)
{
    size_t i = 0;
    while (i < found->unreadable_count && !found->unreadable[i].passing)
        i++;
    return i < found->unreadable_count;
}

/* Logs of the last list that are in doubt stay in it until they can be looked at again. */
static bool keep_doubtful(struct state *state)
{
    size_t count, there = state->logs.count;
    struct pyro_catalog_log *const *logs = pyro_catalog_list_logs(state->update->before, &count);
    bool ok = true;
    for (size_t i = 0; ok && i < count && has_passing(state->found); i++) {
        size_t j = 0;
        if (logs[i]->stored || logs[i]->named_by_store || logs[i]->log.layout == PYRO_LAYOUT_LOGS ||
            !is_in_doubt(state, logs[i]->log.path))
            continue;
        while (j < there && state->logs.items[j] != logs[i]) /* files that have not changed are already listed */
            j++;
        if (j == there && logs[i]->log.part_count)
            ok = keep(state, logs[i]);
    }
    return ok;
}

/* A row of what could not be read. */
static bool add_problem(struct state *state, struct pyro_slice path, struct pyro_slice why, bool passing)
{
    const struct pyro_log none = {.path = path};
    struct pyro_catalog_log **place = pyro_vec_push(&state->logs, NULL);
    if (!place)
        return false;
    *place = pyro_catalog_log_new(&none, NULL, NULL, why, NULL);
    if (!*place) {
        state->logs.count--;
        return false;
    }
    (*place)->passing = passing;
    return true;
}

/* Text logs and the like grow while applications run; they do not become event logs. */
static bool is_artefact(const struct state *state, const struct pyro_log *log)
{
    if (log->layout != PYRO_LAYOUT_SINGLE || log->part_count != 1)
        return false;
    const struct pyro_log_part *part = &log->parts[0];
    const struct pyro_file_stamp stamp =
        part->member.ptr ? pyro_file_stamp_at(part->path.ptr) : (struct pyro_file_stamp){0};
    return pyro_catalog_artefacts_has(*state->update->artefacts, log->path, part->member.ptr ? &stamp : NULL);
}

/* Whether applications of the folder are made of their text logs, so that nothing is wrong that it has no event log. */
static bool has_logged(const struct state *state, struct pyro_slice path)
{
    size_t count, i = 0;
    const struct pyro_log *logs = pyro_catalog_artefacts_logged(*state->update->artefacts, &count);
    while (i < count && !is_below(logs[i].path, path) && !pyro_slice_eq(logs[i].path, path))
        i++;
    return i < count;
}

/* Takes over a log whose files have not changed, or makes it a job. */
static bool take_log(struct state *state, const struct pyro_log *log, bool named)
{
    const struct pyro_catalog_log *before = pyro_catalog_list_at(state->update->before, log->path);
    if (before && !named && is_in_doubt(state, log->path))
        return true; /* keep_doubtful() takes it */
    if (!named && is_artefact(state, log))
        return true;
    struct pyro_file_stamp *stamps = pyro_arena_array(&state->arena, log->part_count, sizeof(*stamps));
    if (!stamps)
        return false;
    if (!pyro_catalog_log_stat(log, stamps)) {
        if (errno == ENOENT)
            return true; /* removed since */
        return before ? keep(state, before)
                      : add_problem(state, log->path, PYRO_SLICE_LITERAL("cannot be checked"), true);
    }
    if (before && !before->passing && pyro_catalog_log_same(before, log, stamps) && before->named_by_store == named &&
        (!named || pyro_catalog_accept_named(state->update->stores, state->update->store_count, before)))
        return keep(state, before);
    struct job *job = pyro_vec_push(&state->jobs, NULL);
    if (job)
        *job = (struct job){.log = log, .stamps = stamps, .named = named};
    return job != NULL;
}

static bool take_unreadable(struct state *state, const struct pyro_unreadable *row)
{
    const char *uploads = state->update->uploads;
    if (uploads && pyro_slice_is(row->path, uploads) && !row->passing) /* nothing was uploaded yet */
        return true;
    const struct pyro_catalog_log *before = pyro_catalog_list_at(state->update->before, row->path);
    if (before && before->log.part_count && row->passing)
        return true; /* it is kept */
    if (pyro_catalog_artefacts_has(*state->update->artefacts, row->path, NULL) || has_logged(state, row->path))
        return true;
    if (before && before->log.part_count == 0 && pyro_slice_eq(before->problem, row->message))
        return keep(state, before);
    return add_problem(state, row->path, row->message, row->passing);
}

static bool take_found(struct state *state, const struct pyro_log_list *found)
{
    state->found = found;
    bool ok = !state->failed && keep_doubtful(state);
    for (size_t i = 0; ok && i < found->count; i++)
        ok = take_log(state, &found->logs[i], false);
    for (size_t i = 0; ok && i < found->unreadable_count; i++)
        ok = take_unreadable(state, &found->unreadable[i]);
    return ok;
}

/* ---- Stores ---- */

/* A file by itself that has not changed is taken over. */
static bool is_as_before(void *context, const struct pyro_catalog_named *named)
{
    struct state *state = context;
    struct pyro_file_stamp stamp;
    const struct pyro_catalog_log *before = pyro_catalog_list_at(state->update->before, named->run->stored->path);
    return before && before->named_by_store && before->log.layout == PYRO_LAYOUT_SINGLE &&
           before->log.part_count == 1 && pyro_catalog_is_of(before, named->run) &&
           pyro_catalog_log_stat(&before->log, &stamp) && pyro_file_stamp_eq(before->stamps[0], stamp) &&
           keep(state, before);
}

/* Logs that are where stores say, and of the runs that they say; `found` is to be done away with in every case. */
static bool take_named(struct state *state, struct pyro_log_list *found)
{
    const struct pyro_catalog_update *update = state->update;
    struct pyro_catalog_roots roots = {.arena = &state->arena,
                                       .folders = update->folders,
                                       .folder_count = update->folder_count,
                                       .known = is_as_before,
                                       .context = state};
    bool ok = true;
    for (size_t i = 0; ok && i < update->store_count; i++)
        ok = pyro_catalog_roots_of(&roots, update->stores[i]);
    ok = ok && pyro_source_discover(roots.paths.items, roots.paths.count, NULL, found, NULL) == PYRO_OK;
    state->named_failed |= ok && has_passing(found);
    for (size_t i = 0; ok && i < found->count; i++)
        if (pyro_catalog_is_named(update->stores, update->store_count, found->logs[i].path))
            ok = take_log(state, &found->logs[i], true);
    pyro_vec_done(&roots.paths, NULL);
    return ok && !state->failed;
}

/* Last, so that no run is shown as only stored while its log is still being looked for. */
static bool add_runs(struct state *state)
{
    bool ok = true;
    for (size_t i = 0; i < state->update->store_count; i++) {
        const pyro_catalog_logs *runs = &state->update->stores[i]->runs;
        for (size_t j = 0; ok && j < runs->count; j++) {
            const struct pyro_catalog_log *run = runs->items[j];
            ok = keep(state, run);
            if (pyro_catalog_list_at(state->update->before, run->log.path) != run)
                state->kept--; /* it is new */
        }
    }
    return ok;
}

/* ---- Scanning ---- */

static void *work(void *context)
{
    struct state *state = context;
    while (pyro_clock_ms() < state->pause_ms && !stopping(state)) {
        size_t i = atomic_fetch_add(&state->next, 1);
        if (i >= state->jobs.count)
            break;
        struct job *job = &state->jobs.items[i];
        job->made = pyro_catalog_log_scan(state->update, job->log, job->stamps, &job->gone);
    }
    return NULL;
}

static void run_workers(struct state *state)
{
    struct pyro_thread threads[MOST_THREADS] = {{0}};
    size_t left = state->jobs.count - atomic_load(&state->next), started = 0;
    size_t wanted = state->update->threads < MOST_THREADS ? state->update->threads : MOST_THREADS;
    if (wanted > left)
        wanted = left;
    while (started + 1 < wanted && pyro_thread_start(&threads[started], work, state))
        started++;
    work(state);
    for (size_t i = 0; i < started; i++)
        pyro_thread_join(&threads[i]);
}

/* A renamed log is the one whose first file it has, which is no longer where it was. */
static const struct pyro_catalog_log *same_file(const struct state *state, struct pyro_file_stamp stamp)
{
    struct stat status;
    for (size_t i = 0; i < state->file_count; i++) {
        const struct known_file *file = &state->files[i];
        if (file->stamp.inode == stamp.inode && file->stamp.device == stamp.device)
            return stat(file->path, &status) != 0 ? file->log : NULL;
    }
    return NULL;
}

static void identify(struct state *state, struct pyro_catalog_log *log)
{
    const struct pyro_catalog_log *before = pyro_catalog_list_at(state->update->before, log->log.path);
    if (!before && log->log.part_count && !log->log.parts[0].member.ptr)
        before = same_file(state, log->stamps[0]);
    log->identity = before ? before->identity : ++*state->update->identities;
}

/* What is where a store says that a run's log is may be anything. */
static bool is_wanted(struct state *state, const struct job *job)
{
    if (!job->named || !job->made)
        return !job->named;
    job->made->named_by_store = true;
    state->named_failed |= job->made->passing;
    return !job->made->problem.ptr &&
           pyro_catalog_accept_named(state->update->stores, state->update->store_count, job->made);
}

/* Moves finished jobs from `from` on to the new list. */
static bool collect(struct state *state, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        struct job *job = &state->jobs.items[i];
        if (job->gone || !is_wanted(state, job))
            continue;
        /* What could not be read again this time is shown unchanged. */
        const struct pyro_catalog_log *before =
            job->made ? pyro_catalog_list_at(state->update->before, job->log->path) : NULL;
        if (job->made && job->made->passing && before && !before->problem.ptr) {
            if (!keep(state, before))
                return false;
            continue;
        }
        struct pyro_catalog_log **place = job->made ? pyro_vec_push(&state->logs, NULL) : NULL;
        if (!place)
            return false;
        *place = job->made;
        job->made = NULL;
    }
    return true;
}

static void mark(struct state *state)
{
    for (size_t i = 0; i < state->logs.count; i++) {
        struct pyro_catalog_log *log = state->logs.items[i];
        if (log->identity) /* of an earlier list, which others read */
            continue;
        identify(state, log);
        log->uploaded = pyro_catalog_is_uploaded(log, state->update->uploads);
    }
}

static struct pyro_catalog_list *list_of(struct state *state)
{
    mark(state);
    return pyro_catalog_list_new(&state->logs, *state->update->artefacts);
}

/* The jobs from that one on. */
static bool scan_all(struct state *state, size_t first)
{
    size_t collected = first;
    atomic_store(&state->next, first);
    while (collected < state->jobs.count && !stopping(state)) {
        state->pause_ms = state->update->partial ? pyro_clock_ms() + PARTIAL_MS : INT64_MAX;
        run_workers(state);
        size_t done = atomic_load(&state->next);
        if (done > state->jobs.count)
            done = state->jobs.count;
        if (!collect(state, collected, done))
            return false;
        collected = done;
        struct pyro_catalog_list *list = state->update->partial && done < state->jobs.count ? list_of(state) : NULL;
        if (list)
            state->update->partial(state->update->context, list);
    }
    return true;
}

/* ---- Files next to the logs ---- */

/* Those that were taken for logs are none. */
static void drop_artefacts(struct state *state, const struct pyro_catalog_artefacts *artefacts)
{
    size_t kept = 0;
    for (size_t i = 0; i < state->logs.count; i++) {
        struct pyro_catalog_log *log = state->logs.items[i];
        bool folder = log->log.part_count == 0 && !log->passing && has_logged(state, log->log.path);
        if (log->problem.ptr && (folder || pyro_catalog_artefacts_has(artefacts, log->log.path, NULL))) {
            pyro_catalog_log_release(log);
            state->dropped = true;
        } else {
            state->logs.items[kept++] = log;
        }
    }
    state->logs.count = kept;
}

/* ---- Applications without an event log ---- */

static bool is_at_rest(const struct pyro_file_stamp *stamps, size_t count)
{
    enum { REST_S = 10 };
    struct timespec now;
    int64_t newest_ns = INT64_MIN;
    for (size_t i = 0; i < count; i++)
        newest_ns = stamps[i].modified_ns > newest_ns ? stamps[i].modified_ns : newest_ns;
    clock_gettime(CLOCK_REALTIME, &now);
    return newest_ns / 1000000000 < (int64_t)now.tv_sec - REST_S;
}

static bool has_same_files(const struct pyro_catalog_log *before, const struct pyro_log *log)
{
    size_t i = 0;
    while (before->log.part_count == log->part_count && i < log->part_count &&
           pyro_slice_eq(before->log.parts[i].path, log->parts[i].path))
        i++;
    return before->log.part_count == log->part_count && i == log->part_count;
}

/* One that is listed is made again when its files have changed and are no longer written: all of them are read for
 * it. */
static bool take_logged(struct state *state)
{
    size_t count, first = state->jobs.count;
    const struct pyro_log *logs = pyro_catalog_artefacts_logged(*state->update->artefacts, &count);
    for (size_t i = 0; i < count; i++) {
        const struct pyro_catalog_log *before = pyro_catalog_list_at(state->update->before, logs[i].path);
        struct pyro_file_stamp *stamps = pyro_arena_array(&state->arena, logs[i].part_count, sizeof(*stamps));
        if (!stamps)
            return false;
        if (!pyro_catalog_log_stat(&logs[i], stamps))
            continue;
        bool known = before && before->log.layout == PYRO_LAYOUT_LOGS && !before->passing;
        if (known && (pyro_catalog_log_same(before, &logs[i], stamps) ||
                      (has_same_files(before, &logs[i]) && !is_at_rest(stamps, logs[i].part_count)))) {
            if (!keep(state, before))
                return false;
            continue;
        }
        struct job *job = pyro_vec_push(&state->jobs, NULL);
        if (!job)
            return false;
        *job = (struct job){.log = &logs[i], .stamps = stamps};
    }
    return first == state->jobs.count || scan_all(state, first);
}

/* *ret_same: they are those of the last list. */
static enum pyro_status find_artefacts(struct state *state, bool *ret_same, struct pyro_error *error)
{
    const struct pyro_catalog_update *update = state->update;
    struct pyro_catalog_artefacts *now = NULL;
    PYRO_TRY(pyro_catalog_artefacts_find(update, &state->logs, *update->artefacts, &now, error));
    *ret_same = pyro_catalog_artefacts_same(now, pyro_catalog_list_artefacts(update->before));
    pyro_catalog_artefacts_release(*update->artefacts);
    *update->artefacts = now;
    drop_artefacts(state, now);
    return take_logged(state) ? PYRO_OK : PYRO_ERROR_MEMORY;
}

/* ---- The update ---- */

static void state_done(struct state *state)
{
    for (size_t i = 0; i < state->jobs.count; i++)
        pyro_catalog_log_release(state->jobs.items[i].made);
    pyro_vec_done(&state->jobs, NULL);
    pyro_catalog_logs_done(&state->logs);
    pyro_release(NULL, state->files);
    pyro_map_done(&state->file_rows);
    pyro_arena_done(&state->arena);
}

static enum pyro_status run_update(struct state *state, struct pyro_catalog_list **ret, struct pyro_error *error)
{
    const struct pyro_catalog_update *update = state->update;
    const struct pyro_known known = {.deep = true,
                                     .no_event_log = no_event_log,
                                     .unchanged = unchanged,
                                     .context = state,
                                     .inside = !update->follow_links,
                                     .unlimited = update->unlimited,
                                     .untrusted = update->uploads,
                                     .untrusted_ratio = update->costs->ratio,
                                     .untrusted_by = "--max-upload-ratio"};
    struct pyro_log_list found, named = {0};
    size_t before;
    pyro_catalog_list_logs(update->before, &before);
    if (!index_files(state))
        return no_memory(error);
    enum pyro_status status =
        pyro_source_discover_again(update->folders, update->folder_count, &known, NULL, &found, error);
    bool ok = status != PYRO_OK ||
              (take_found(state, &found) && take_named(state, &named) && scan_all(state, 0) && add_runs(state));
    state->found = NULL;
    pyro_log_list_done(&found);
    pyro_log_list_done(&named);
    /* What is not that run's log is not read again, unless it could not be read at all. */
    if (status != PYRO_OK || !ok || state->named_failed || stopping(state))
        for (size_t i = 0; i < update->store_count; i++)
            pyro_catalog_forget_refusals(update->stores[i]);
    PYRO_TRY(status);
    if (!ok)
        return no_memory(error);
    bool same_files = true;
    if (!stopping(state))
        status = find_artefacts(state, &same_files, error);
    bool same = state->jobs.count == 0 && state->logs.count == state->kept && state->kept == before && same_files &&
                !state->dropped;
    if (stopping(state) || (status == PYRO_OK && same))
        return PYRO_OK;
    if (status != PYRO_OK)
        return no_memory(error);
    *ret = list_of(state);
    return *ret ? PYRO_OK : no_memory(error);
}

enum pyro_status pyro_catalog_update(const struct pyro_catalog_update *update, struct pyro_catalog_list **ret,
                                     struct pyro_error *error)
{
    struct state state = {.update = update};
    pyro_arena_init(&state.arena, NULL);
    pyro_map_init(&state.file_rows, NULL);
    *ret = NULL;
    enum pyro_status status = run_update(&state, ret, error);
    state_done(&state);
    return status;
}
