/* A list of applications: attempts of the same application joined, put into Spark's order, and what is left over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/collections/hash.h"
#include "base/memory/allocator.h"
#include "catalog/application_list.h"
#include "catalog/found_artefacts.h"
#include "catalog/log.h"
#include "catalog/sent.h"

struct pyro_catalog_list {
    atomic_int references;
    uint64_t generation;
    struct pyro_arena arena;
    struct pyro_catalog_log **logs; /* by path; retained */
    size_t log_count;
    struct pyro_slice *ids;        /* of applications, by log; null: not listed */
    struct pyro_attempt *attempts; /* by application, newest first */
    size_t attempt_count;
    struct pyro_catalog_app *apps; /* in the order of the list */
    size_t app_count;
    const struct pyro_catalog_app **by_id;
    struct pyro_catalog_unreadable *unreadable;
    size_t unreadable_count;
    const struct pyro_catalog_artefacts *artefacts;
};

static int compare_paths(const void *a, const void *b)
{
    const struct pyro_catalog_log *const *x = a, *const *y = b;
    return pyro_slice_compare((*x)->log.path, (*y)->log.path);
}

/* ---- Duplicates ---- */

struct candidate {
    struct pyro_attempt attempt;
    const struct pyro_catalog_log *log;
};

static int compare_ids(struct pyro_slice a, struct pyro_slice b)
{
    if (!a.ptr || !b.ptr)
        return (a.ptr != NULL) - (b.ptr != NULL);
    return pyro_slice_compare(a, b);
}

/* Logs of the folders before those that stores name, which are the same ones or copies; logs before what is only
 * stored; all of them before uploads, which anybody may have made up. */
static int rank_of(const struct pyro_catalog_log *log)
{
    return log->uploaded ? 3 : log->stored ? 2 : log->named_by_store;
}

/* Where a log does not say when its run began. */
static int64_t start_of(const struct pyro_attempt *attempt)
{
    return attempt->start_ms > 0 ? attempt->start_ms : INT64_MAX;
}

/* Runs by their ids and starts, with an unknown one last; of the logs of a run, the one to show comes first. By rank; a
 * finished one before one that is being written, then the one written last, then the larger one. */
static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    int order = pyro_slice_compare(x->attempt.app_id, y->attempt.app_id);
    if (order == 0)
        order = compare_ids(x->attempt.attempt_id, y->attempt.attempt_id);
    if (order == 0)
        order = (start_of(&x->attempt) > start_of(&y->attempt)) - (start_of(&x->attempt) < start_of(&y->attempt));
    if (order == 0)
        order = rank_of(x->log) - rank_of(y->log);
    if (order == 0)
        order = y->attempt.completed - x->attempt.completed;
    if (order == 0)
        order = (x->attempt.modified_ms < y->attempt.modified_ms) - (x->attempt.modified_ms > y->attempt.modified_ms);
    if (order == 0) {
        uint64_t m = pyro_catalog_log_bytes(x->log), n = pyro_catalog_log_bytes(y->log);
        order = (m < n) - (m > n);
    }
    return order ? order : pyro_slice_compare(x->log->log.path, y->log->log.path);
}

static bool same_ids(const struct pyro_attempt *a, const struct pyro_attempt *b)
{
    return pyro_slice_eq(a->app_id, b->app_id) && compare_ids(a->attempt_id, b->attempt_id) == 0;
}

/* The id of a run whose own one is another's. */
static struct pyro_slice make_id(struct pyro_catalog_list *list, const struct pyro_attempt *attempt)
{
    return pyro_arena_printf(&list->arena, "%.*s~%lld", (int)attempt->app_id.len, attempt->app_id.ptr,
                             (long long)attempt->start_ms);
}

static bool add_unreadable(struct pyro_catalog_list *list, const struct pyro_catalog_log *log, struct pyro_slice reason,
                           bool passing)
{
    if (!reason.ptr)
        return false;
    list->unreadable[list->unreadable_count++] =
        (struct pyro_catalog_unreadable){log->log.path, reason, passing, log->cpu_us, log->exhausted};
    return true;
}

/* Files next to event logs that belong to none of them. */
static void add_left(struct pyro_catalog_list *list)
{
    size_t count;
    const struct pyro_unreadable *left = pyro_catalog_artefacts_left(list->artefacts, &count);
    for (size_t i = 0; i < count; i++)
        list->unreadable[list->unreadable_count++] =
            (struct pyro_catalog_unreadable){.path = left[i].path, .reason = left[i].message};
}

/* Uploads that belong to no run which is listed. */
static bool add_lost(struct pyro_catalog_list *list)
{
    const struct pyro_catalog_sent_files *sent = pyro_catalog_artefacts_sent(list->artefacts);
    struct pyro_map listed; /* hashes of the ids of applications */
    pyro_map_init(&listed, NULL);
    bool ok = true;
    for (size_t i = 0; ok && i < list->attempt_count; i++)
        ok = pyro_map_put(&listed, pyro_hash_slice(list->logs[list->attempts[i].log]->attempt.app_id), NULL) != NULL;
    for (size_t i = 0; ok && sent && i < sent->items.count; i++) {
        const struct pyro_artefact_file *file = &sent->items.items[i].file;
        struct pyro_slice id = file->owner.name;
        if (sent->items.items[i].place != PYRO_PLACE_ARTEFACT || (id.ptr && pyro_map_get(&listed, pyro_hash_slice(id))))
            continue;
        struct pyro_slice reason =
            id.ptr
                ? pyro_arena_printf(&list->arena, "belongs to the application %s, whose event log is not here", id.ptr)
                : PYRO_SLICE_LITERAL("is not an event log, and does not say which application it belongs to");
        ok = reason.ptr != NULL;
        list->unreadable[list->unreadable_count++] =
            (struct pyro_catalog_unreadable){.path = file->part.path, .reason = reason};
    }
    pyro_map_done(&listed);
    return ok;
}

static bool add_duplicate(struct pyro_catalog_list *list, const struct pyro_catalog_log *log,
                          const struct pyro_catalog_log *shown)
{
    if (log->stored || log->named_by_store)
        return true; /* those need no action */
    /* The user who has uploaded it may not see the other. */
    struct pyro_slice reason = log->uploaded
                                   ? PYRO_SLICE_LITERAL("has the same attempt of the same application as another log")
                                   : pyro_arena_printf(&list->arena,
                                                       "has the same attempt of the same application as %s, "
                                                       "which is shown instead: remove one of them",
                                                       shown->log.path.ptr);
    return add_unreadable(list, log, reason, false);
}

/* The candidate of the group whose run keeps the id: by rank, then the newest. */
static size_t find_keeper(const struct candidate *candidates, size_t first, size_t end)
{
    size_t keeper = first;
    for (size_t i = first + 1; i < end; i++) {
        int order = rank_of(candidates[i].log) - rank_of(candidates[keeper].log);
        bool newer = start_of(&candidates[i].attempt) > start_of(&candidates[keeper].attempt);
        if (candidates[i].attempt.start_ms > 0 && (order < 0 || (order == 0 && newer)))
            keeper = i;
    }
    return keeper;
}

/* Candidates with the same ids: each run once. A log that does not say when its run began counts as one of the run that
 * keeps the id, as a copy does, or the log as it was while it was written. */
static bool choose_runs(struct pyro_catalog_list *list, const struct candidate *candidates, size_t first, size_t end)
{
    size_t keeper = find_keeper(candidates, first, end);
    for (size_t i = first, shown = first; i < end; i++) {
        const struct pyro_attempt *attempt = &candidates[i].attempt;
        if (attempt->start_ms <= 0)
            shown = keeper;
        else if (start_of(attempt) != start_of(&candidates[shown].attempt))
            shown = i;
        if (shown != i) {
            if (!add_duplicate(list, candidates[i].log, candidates[shown].log))
                return false;
            continue;
        }
        struct pyro_attempt *chosen = &list->attempts[list->attempt_count++];
        *chosen = *attempt;
        if (start_of(attempt) != start_of(&candidates[keeper].attempt))
            chosen->app_id = make_id(list, attempt);
        if (!chosen->app_id.ptr)
            return false;
    }
    return true;
}

static bool choose(struct pyro_catalog_list *list, struct candidate *candidates, size_t count)
{
    bool ok = true;
    if (count)
        qsort(candidates, count, sizeof(*candidates), compare_candidates);
    for (size_t first = 0, end; ok && first < count; first = end) {
        for (end = first + 1; end < count && same_ids(&candidates[first].attempt, &candidates[end].attempt);)
            end++;
        ok = choose_runs(list, candidates, first, end);
    }
    return ok;
}

/* ---- Order ---- */

static int compare_attempts(const void *a, const void *b)
{
    const struct pyro_attempt *x = a, *y = b;
    int order = pyro_slice_compare(x->app_id, y->app_id);
    if (order)
        return order;
    if (x->start_ms != y->start_ms)
        return x->start_ms > y->start_ms ? -1 : 1;
    return -pyro_slice_compare(x->attempt_id, y->attempt_id);
}

static int compare_apps(const void *a, const void *b)
{
    const struct pyro_catalog_app *x = a, *y = b;
    if (x->attempts->end_ms != y->attempts->end_ms)
        return x->attempts->end_ms > y->attempts->end_ms ? -1 : 1;
    return -pyro_slice_compare(x->id, y->id);
}

static int compare_by_id(const void *a, const void *b)
{
    const struct pyro_catalog_app *const *x = a, *const *y = b;
    return pyro_slice_compare((*x)->id, (*y)->id);
}

static int compare_unreadable(const void *a, const void *b)
{
    const struct pyro_catalog_unreadable *x = a, *y = b;
    return pyro_slice_compare(x->path, y->path);
}

static void group(struct pyro_catalog_list *list)
{
    if (list->attempt_count == 0)
        return;
    qsort(list->attempts, list->attempt_count, sizeof(*list->attempts), compare_attempts);
    for (size_t i = 0; i < list->attempt_count; i++) {
        const struct pyro_attempt *attempt = &list->attempts[i];
        struct pyro_catalog_app *last = list->app_count ? &list->apps[list->app_count - 1] : NULL;
        if (last && pyro_slice_eq(last->id, attempt->app_id)) {
            last->attempt_count++;
            continue;
        }
        list->apps[list->app_count++] = (struct pyro_catalog_app){attempt->app_id, attempt->name, attempt, 1};
    }
    qsort(list->apps, list->app_count, sizeof(*list->apps), compare_apps);
    for (size_t i = 0; i < list->app_count; i++)
        list->by_id[i] = &list->apps[i];
    qsort(list->by_id, list->app_count, sizeof(*list->by_id), compare_by_id);
}

/* ---- Making and asking ---- */

/* Where the log at that path is among the logs; SIZE_MAX: there is none. */
static size_t find_at(const struct pyro_catalog_list *list, struct pyro_slice path)
{
    size_t low = 0, high = list->log_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = pyro_slice_compare(list->logs[middle]->log.path, path);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return SIZE_MAX;
}

/* The id that the log has in another list; its own where it has none there. */
static struct pyro_slice id_in(const struct pyro_catalog_list *from, const struct pyro_catalog_log *log)
{
    size_t at = find_at(from, log->log.path);
    return at != SIZE_MAX && from->ids[at].ptr ? from->ids[at] : log->attempt.app_id;
}

/* `from`: a list with the same logs, whose ids they keep; NULL: none. */
static bool fill(struct pyro_catalog_list *list, const struct pyro_catalog_list *from)
{
    size_t count = list->log_count, listed = 0, left = 0;
    const struct pyro_catalog_sent_files *sent = from ? NULL : pyro_catalog_artefacts_sent(list->artefacts);
    if (!from)
        pyro_catalog_artefacts_left(list->artefacts, &left);
    struct candidate *candidates = pyro_allocate(NULL, (count + 1) * sizeof(*candidates));
    list->attempts = pyro_arena_array(&list->arena, count + 1, sizeof(*list->attempts));
    list->ids = pyro_arena_array(&list->arena, count + 1, sizeof(*list->ids));
    list->apps = pyro_arena_array(&list->arena, count + 1, sizeof(*list->apps));
    list->by_id = pyro_arena_array(&list->arena, count + 1, sizeof(*list->by_id));
    list->unreadable =
        pyro_arena_array(&list->arena, count + left + (sent ? sent->items.count : 0) + 1, sizeof(*list->unreadable));
    bool ok = candidates && list->attempts && list->ids && list->apps && list->by_id && list->unreadable;
    for (size_t i = 0; ok && i < count; i++) {
        const struct pyro_catalog_log *log = list->logs[i];
        if (log->problem.ptr) {
            ok = add_unreadable(list, log, log->problem, log->passing);
            continue;
        }
        candidates[listed] = (struct candidate){log->attempt, log};
        candidates[listed].attempt.log = i;
        if (from)
            candidates[listed].attempt.app_id = pyro_arena_copy(&list->arena, id_in(from, log));
        ok = candidates[listed++].attempt.app_id.ptr != NULL;
    }
    ok = ok && choose(list, candidates, listed);
    pyro_release(NULL, candidates);
    if (!ok)
        return false;
    for (size_t i = 0; i < list->attempt_count; i++)
        list->ids[list->attempts[i].log] = list->attempts[i].app_id;
    group(list);
    if (left)
        add_left(list);
    if (sent && !add_lost(list))
        return false;
    if (list->unreadable_count)
        qsort(list->unreadable, list->unreadable_count, sizeof(*list->unreadable), compare_unreadable);
    return true;
}

bool pyro_catalog_list_is_passing(const struct pyro_catalog_list *list)
{
    bool passing = false;
    for (size_t i = 0; i < list->unreadable_count; i++)
        passing |= list->unreadable[i].passing;
    return passing;
}

static struct pyro_catalog_list *make_list(pyro_catalog_logs *logs, const struct pyro_catalog_artefacts *artefacts,
                                           const struct pyro_catalog_list *from)
{
    struct pyro_catalog_list *list = pyro_allocate(NULL, sizeof(*list));
    if (!list)
        return NULL;
    *list = (struct pyro_catalog_list){0};
    atomic_init(&list->references, 1);
    list->artefacts = pyro_catalog_artefacts_retain(artefacts);
    pyro_arena_init(&list->arena, NULL);
    list->logs = pyro_arena_array(&list->arena, logs->count + 1, sizeof(*list->logs));
    if (logs->count)
        qsort(logs->items, logs->count, sizeof(*logs->items), compare_paths);
    for (size_t i = 0; list->logs && i < logs->count; i++)
        list->logs[list->log_count++] = pyro_catalog_log_retain(logs->items[i]);
    if (list->logs && fill(list, from))
        return list;
    pyro_catalog_list_release(list);
    return NULL;
}

struct pyro_catalog_list *pyro_catalog_list_new(pyro_catalog_logs *logs, const struct pyro_catalog_artefacts *artefacts)
{
    return make_list(logs, artefacts, NULL);
}

const struct pyro_catalog_artefacts *pyro_catalog_list_artefacts(const struct pyro_catalog_list *list)
{
    return list->artefacts;
}

const struct pyro_catalog_list *pyro_catalog_list_visible(const struct pyro_catalog_list *list,
                                                          pyro_catalog_visible *visible, void *context)
{
    pyro_catalog_logs logs = {0};
    bool whole = true;
    /* Only what is listed: with one hidden, another log of its attempt would seem to be what is opened for it. */
    for (size_t i = 0; i < list->attempt_count && whole; i++) {
        struct pyro_catalog_log *log = list->logs[list->attempts[i].log];
        const struct pyro_catalog_seen seen = {log->identity, &log->log, &log->attempt, log->stored};
        if (!visible(context, &seen))
            continue;
        struct pyro_catalog_log **slot = pyro_vec_push(&logs, NULL);
        whole = slot != NULL;
        if (slot)
            *slot = log;
    }
    struct pyro_catalog_list *made = whole ? make_list(&logs, list->artefacts, list) : NULL;
    if (made)
        pyro_catalog_list_set_generation(made, list->generation);
    pyro_vec_done(&logs, NULL);
    return made;
}

struct pyro_catalog_list *pyro_catalog_list_retain(const struct pyro_catalog_list *list)
{
    struct pyro_catalog_list *counted = pyro_unconst(list);
    atomic_fetch_add_explicit(&counted->references, 1, memory_order_relaxed);
    return counted;
}

void pyro_catalog_list_release(const struct pyro_catalog_list *list)
{
    struct pyro_catalog_list *counted = pyro_unconst(list);
    if (!counted || atomic_fetch_sub_explicit(&counted->references, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < counted->log_count; i++)
        pyro_catalog_log_release(counted->logs[i]);
    pyro_catalog_artefacts_release(counted->artefacts);
    pyro_arena_done(&counted->arena);
    pyro_release(NULL, counted);
}

struct pyro_catalog_log *const *pyro_catalog_list_logs(const struct pyro_catalog_list *list, size_t *ret_count)
{
    *ret_count = list->log_count;
    return list->logs;
}

struct pyro_catalog_log *pyro_catalog_list_at(const struct pyro_catalog_list *list, struct pyro_slice path)
{
    size_t at = find_at(list, path);
    return at == SIZE_MAX ? NULL : list->logs[at];
}

const struct pyro_catalog_log *pyro_catalog_list_log_of(const struct pyro_catalog_list *list,
                                                        const struct pyro_attempt *attempt)
{
    return list->logs[attempt->log];
}

void pyro_catalog_list_set_generation(struct pyro_catalog_list *list, uint64_t generation)
{
    list->generation = generation;
}

uint64_t pyro_catalog_list_generation(const struct pyro_catalog_list *list)
{
    return list ? list->generation : 0;
}

const struct pyro_catalog_app *pyro_catalog_list_apps(const struct pyro_catalog_list *list, size_t *ret_count)
{
    *ret_count = list ? list->app_count : 0;
    return list ? list->apps : NULL;
}

static const struct pyro_catalog_app *find_id(const struct pyro_catalog_list *list, struct pyro_slice id)
{
    const struct pyro_catalog_app wanted = {.id = id}, *key = &wanted;
    const struct pyro_catalog_app **found =
        bsearch(&key, list->by_id, list->app_count, sizeof(*list->by_id), compare_by_id);
    return found ? *found : NULL;
}

/* The run that ID~START names, where it has ID alone. */
static const struct pyro_catalog_app *find_by_start(const struct pyro_catalog_list *list, struct pyro_slice id)
{
    const char *mark = memrchr(id.ptr, '~', id.len);
    const struct pyro_catalog_app *app =
        mark ? find_id(list, (struct pyro_slice){id.ptr, (size_t)(mark - id.ptr)}) : NULL;
    char start[24];
    for (size_t i = 0; app && i < app->attempt_count; i++) {
        snprintf(start, sizeof(start), "%lld", (long long)app->attempts[i].start_ms);
        if (pyro_slice_is((struct pyro_slice){mark + 1, id.len - (size_t)(mark + 1 - id.ptr)}, start))
            return app;
    }
    return NULL;
}

const struct pyro_catalog_app *pyro_catalog_list_find(const struct pyro_catalog_list *list, struct pyro_slice id)
{
    if (!list || list->app_count == 0 || !id.ptr)
        return NULL;
    const struct pyro_catalog_app *found = find_id(list, id);
    return found ? found : find_by_start(list, id);
}

const struct pyro_attempt *pyro_catalog_app_attempt(const struct pyro_catalog_app *app, struct pyro_slice attempt)
{
    for (size_t i = 0; app && i < app->attempt_count; i++)
        if (compare_ids(app->attempts[i].attempt_id, attempt) == 0)
            return &app->attempts[i];
    return NULL;
}

struct pyro_catalog_log_info pyro_catalog_list_log(const struct pyro_catalog_list *list,
                                                   const struct pyro_attempt *attempt)
{
    const struct pyro_catalog_log *log = pyro_catalog_list_log_of(list, attempt);
    return (struct pyro_catalog_log_info){log->stored ? log->stored->path : log->log.path,
                                          pyro_catalog_log_bytes(log),
                                          log->log.in_progress,
                                          log->uploaded,
                                          log->cpu_us + pyro_catalog_artefacts_cpu(list->artefacts, log),
                                          log->stored,
                                          pyro_catalog_artefacts_key_of(list->artefacts, log)};
}

const struct pyro_log *pyro_catalog_list_files(const struct pyro_catalog_list *list, const struct pyro_attempt *attempt)
{
    return &pyro_catalog_list_log_of(list, attempt)->log;
}

const struct pyro_artefact_file *pyro_catalog_list_file(const struct pyro_catalog_list *list,
                                                        const struct pyro_attempt *attempt, size_t *at)
{
    const struct pyro_catalog_log *log = pyro_catalog_list_log_of(list, attempt);
    return pyro_catalog_artefacts_key_of(list->artefacts, log) ? pyro_catalog_artefacts_next(list->artefacts, log, at)
                                                               : NULL;
}

bool pyro_catalog_list_sent(const struct pyro_catalog_list *list, struct pyro_slice path, struct pyro_catalog_sent *ret)
{
    const struct pyro_catalog_sent_file *sent =
        list ? pyro_catalog_sent_at(pyro_catalog_artefacts_sent(list->artefacts), path) : NULL;
    if (!sent || sent->place != PYRO_PLACE_ARTEFACT)
        return false;
    *ret = (struct pyro_catalog_sent){sent->file.owner.name, pyro_artefact_kind_name(sent->file.kind), sent->cpu_us};
    return true;
}

const struct pyro_catalog_unreadable *pyro_catalog_list_unreadable(const struct pyro_catalog_list *list,
                                                                   size_t *ret_count)
{
    *ret_count = list ? list->unreadable_count : 0;
    return list ? list->unreadable : NULL;
}
