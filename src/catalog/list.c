/* A list of applications: attempts of the same application joined, put into Spark's order, and what is left over. */
#include <stdlib.h>

#include "catalog/internal.h"

struct pyro_catalog_list {
    atomic_int references;
    uint64_t generation;
    struct pyro_arena arena;
    struct pyro_catalog_log **logs; /* by path; retained */
    size_t log_count;
    struct pyro_attempt *attempts; /* by application, newest first */
    size_t attempt_count;
    struct pyro_catalog_app *apps; /* in the order of the list */
    size_t app_count;
    const struct pyro_catalog_app **by_id;
    struct pyro_catalog_unreadable *unreadable;
    size_t unreadable_count;
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

/* Logs of the same attempt: the one to show comes first. By rank; a finished one before one that is being written, then
 * the one written last, then the larger one. */
static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    int order = pyro_slice_compare(x->attempt.app_id, y->attempt.app_id);
    if (order == 0)
        order = compare_ids(x->attempt.attempt_id, y->attempt.attempt_id);
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

static bool same_attempt(const struct pyro_attempt *a, const struct pyro_attempt *b)
{
    return pyro_slice_eq(a->app_id, b->app_id) && compare_ids(a->attempt_id, b->attempt_id) == 0;
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

/* Fills attempts with one of each, and says of the others which one is shown. */
static bool choose(struct pyro_catalog_list *list, struct candidate *candidates, size_t count)
{
    if (count)
        qsort(candidates, count, sizeof(*candidates), compare_candidates);
    for (size_t i = 0, shown = 0; i < count; i++) {
        if (i == 0 || !same_attempt(&candidates[i].attempt, &candidates[shown].attempt)) {
            shown = i;
            list->attempts[list->attempt_count++] = candidates[i].attempt;
            continue;
        }
        if (candidates[i].log->stored || candidates[i].log->named_by_store)
            continue; /* nobody need do anything about those */
        /* Whoever has uploaded it may not be one who sees the other. */
        const struct pyro_catalog_log *log = candidates[i].log;
        struct pyro_slice reason = log->uploaded
                                       ? PYRO_SLICE_LITERAL("is of the same attempt of the same application as a log "
                                                            "that is there already")
                                       : pyro_arena_printf(&list->arena,
                                                           "is of the same attempt of the same application as %s, "
                                                           "which is shown instead: remove one of them",
                                                           candidates[shown].log->log.path.ptr);
        if (!add_unreadable(list, log, reason, false))
            return false;
    }
    return true;
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

static bool fill(struct pyro_catalog_list *list)
{
    size_t count = list->log_count, listed = 0;
    struct candidate *candidates = pyro_allocate(NULL, (count + 1) * sizeof(*candidates));
    list->attempts = pyro_arena_array(&list->arena, count + 1, sizeof(*list->attempts));
    list->apps = pyro_arena_array(&list->arena, count + 1, sizeof(*list->apps));
    list->by_id = pyro_arena_array(&list->arena, count + 1, sizeof(*list->by_id));
    list->unreadable = pyro_arena_array(&list->arena, count + 1, sizeof(*list->unreadable));
    bool ok = candidates && list->attempts && list->apps && list->by_id && list->unreadable;
    for (size_t i = 0; ok && i < count; i++) {
        const struct pyro_catalog_log *log = list->logs[i];
        if (log->problem.ptr) {
            ok = add_unreadable(list, log, log->problem, log->passing);
            continue;
        }
        candidates[listed] = (struct candidate){log->attempt, log};
        candidates[listed++].attempt.log = i;
    }
    ok = ok && choose(list, candidates, listed);
    pyro_release(NULL, candidates);
    if (!ok)
        return false;
    group(list);
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

struct pyro_catalog_list *pyro_catalog_list_new(pyro_catalog_logs *logs)
{
    struct pyro_catalog_list *list = pyro_allocate(NULL, sizeof(*list));
    if (!list)
        return NULL;
    *list = (struct pyro_catalog_list){0};
    atomic_init(&list->references, 1);
    pyro_arena_init(&list->arena, NULL);
    list->logs = pyro_arena_array(&list->arena, logs->count + 1, sizeof(*list->logs));
    if (logs->count)
        qsort(logs->items, logs->count, sizeof(*logs->items), compare_paths);
    for (size_t i = 0; list->logs && i < logs->count; i++)
        list->logs[list->log_count++] = pyro_catalog_log_retain(logs->items[i]);
    if (list->logs && fill(list))
        return list;
    pyro_catalog_list_release(list);
    return NULL;
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
    struct pyro_catalog_list *made = whole ? pyro_catalog_list_new(&logs) : NULL;
    if (made)
        pyro_catalog_list_set_generation(made, list->generation);
    pyro_vec_done(&logs, NULL);
    return made;
}

struct pyro_catalog_list *pyro_catalog_list_retain(const struct pyro_catalog_list *list)
{
    struct pyro_catalog_list *counted = (struct pyro_catalog_list *)list;
    atomic_fetch_add_explicit(&counted->references, 1, memory_order_relaxed);
    return counted;
}

void pyro_catalog_list_release(const struct pyro_catalog_list *list)
{
    struct pyro_catalog_list *counted = (struct pyro_catalog_list *)list;
    if (!counted || atomic_fetch_sub_explicit(&counted->references, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < counted->log_count; i++)
        pyro_catalog_log_release(counted->logs[i]);
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
    size_t low = 0, high = list->log_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = pyro_slice_compare(list->logs[middle]->log.path, path);
        if (order == 0)
            return list->logs[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
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

const struct pyro_catalog_app *pyro_catalog_list_find(const struct pyro_catalog_list *list, struct pyro_slice id)
{
    const struct pyro_catalog_app wanted = {.id = id}, *key = &wanted;
    if (!list || list->app_count == 0 || !id.ptr)
        return NULL;
    const struct pyro_catalog_app **found =
        bsearch(&key, list->by_id, list->app_count, sizeof(*list->by_id), compare_by_id);
    return found ? *found : NULL;
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
                                          log->cpu_us,
                                          log->stored};
}

const struct pyro_log *pyro_catalog_list_files(const struct pyro_catalog_list *list, const struct pyro_attempt *attempt)
{
    return &pyro_catalog_list_log_of(list, attempt)->log;
}

const struct pyro_catalog_unreadable *pyro_catalog_list_unreadable(const struct pyro_catalog_list *list,
                                                                   size_t *ret_count)
{
    *ret_count = list ? list->unreadable_count : 0;
    return list ? list->unreadable : NULL;
}
