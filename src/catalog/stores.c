/* The runs that stores have, as logs without files. */
#include <stdlib.h>

#include "catalog/log.h"
#include "catalog/stores.h"
#include "store/store.h"

enum pyro_status pyro_catalog_store_open(const char *url, struct pyro_catalog_store **ret, struct pyro_error *error)
{
    struct pyro_catalog_store *store = pyro_allocate(NULL, sizeof(*store));
    if (!store)
        return pyro_no_memory(error);
    *store = (struct pyro_catalog_store){.url = strdup(url), .state = -1};
    pyro_strbuf_init(&store->label, NULL);
    pyro_store_add_label(url, &store->label);
    enum pyro_status status =
        store->url && !store->label.failed ? pyro_store_open_to_read(url, &store->store, error) : pyro_no_memory(error);
    if (status != PYRO_OK) {
        pyro_catalog_store_close(store);
        return status;
    }
    struct stat file;
    if (pyro_store_has_file(url) && stat(pyro_store_place(url), &file) == 0)
        store->stamp = pyro_file_stamp_of(&file);
    *ret = store;
    return PYRO_OK;
}

void pyro_catalog_store_close(struct pyro_catalog_store *store)
{
    if (!store)
        return;
    pyro_store_close(store->store);
    pyro_catalog_logs_done(&store->runs);
    pyro_vec_done(&store->named, NULL);
    pyro_strbuf_done(&store->label);
    free(store->url);
    pyro_release(NULL, store);
}

/* ---- Reading ---- */

struct reading {
    const struct pyro_catalog_store *store;
    pyro_catalog_logs runs;
    uint64_t *identities;
    struct pyro_arena arena;
    bool failed; /* no memory */
};

static int compare_paths(const void *a, const void *b)
{
    const struct pyro_catalog_log *const *x = a, *const *y = b;
    return pyro_slice_compare((*x)->log.path, (*y)->log.path);
}

static struct pyro_catalog_log *run_at(const pyro_catalog_logs *runs, struct pyro_slice path)
{
    struct pyro_catalog_log wanted = {.log.path = path}, *key = &wanted;
    struct pyro_catalog_log **found =
        runs->count ? bsearch(&key, runs->items, runs->count, sizeof(*runs->items), compare_paths) : NULL;
    return found ? *found : NULL;
}

static bool same_text(struct pyro_slice a, struct pyro_slice b)
{
    return (a.ptr != NULL) == (b.ptr != NULL) && (!a.ptr || pyro_slice_eq(a, b));
}

static bool same_access(const struct pyro_catalog_stored *a, const struct pyro_catalog_stored *b)
{
    return a->knows_access == b->knows_access && a->access.enabled == b->access.enabled &&
           same_text(a->access.users, b->access.users) && same_text(a->access.groups, b->access.groups) &&
           same_text(a->access.admins, b->access.admins) && same_text(a->access.admin_groups, b->access.admin_groups);
}

static bool same_run(const struct pyro_catalog_log *log, const struct pyro_attempt *attempt,
                     const struct pyro_catalog_stored *stored)
{
    return log->stored->recorded_ms == stored->recorded_ms && same_text(log->stored->path, stored->path) &&
           same_access(log->stored, stored) && log->attempt.completed == attempt->completed &&
           log->attempt.outcome == attempt->outcome && log->attempt.start_ms == attempt->start_ms &&
           log->attempt.end_ms == attempt->end_ms && same_text(log->attempt.name, attempt->name) &&
           same_text(log->attempt.user, attempt->user) && same_text(log->attempt.version, attempt->version);
}

static struct pyro_slice or_empty(struct pyro_slice text)
{
    return text.ptr ? text : PYRO_SLICE_LITERAL("");
}

static struct pyro_attempt attempt_of(const struct pyro_stored_run *run)
{
    enum pyro_run_outcome outcome = pyro_run_outcome_read(run->outcome.ptr ? run->outcome : run->status);
    bool completed = pyro_run_outcome_ended(outcome) && run->end_ms != PYRO_NONE && run->start_ms != PYRO_NONE;
    return (struct pyro_attempt){.app_id = or_empty(run->app_id),
                                 .attempt_id = run->attempt.len ? run->attempt : PYRO_SLICE_NULL,
                                 .name = or_empty(run->name),
                                 .user = or_empty(run->user),
                                 .version = or_empty(run->spark_version),
                                 .start_ms = run->start_ms != PYRO_NONE ? run->start_ms : 0,
                                 .end_ms = completed ? run->end_ms : -1,
                                 .modified_ms = run->recorded_ms,
                                 .completed = completed,
                                 .outcome = outcome == PYRO_RUN_OUTCOMES ? PYRO_RUN_TRUNCATED : outcome,
                                 .last_event_ms = run->end_ms != PYRO_NONE ? run->end_ms : -1};
}

static struct pyro_catalog_log *make_run(struct reading *reading, const struct pyro_stored_run *run)
{
    pyro_arena_reset(&reading->arena);
    const struct pyro_log none = {
        .path = pyro_arena_printf(&reading->arena, "%s!%.*s/%.*s", reading->store->label.data, (int)run->app_id.len,
                                  run->app_id.ptr ? run->app_id.ptr : "", (int)run->attempt.len,
                                  run->attempt.ptr ? run->attempt.ptr : "")};
    const struct pyro_attempt attempt = attempt_of(run);
    const struct pyro_catalog_stored stored = {
        reading->store->url, run->path.len && !memchr(run->path.ptr, '\0', run->path.len) ? run->path : PYRO_SLICE_NULL,
        run->recorded_ms, run->knows_access, run->access};
    if (!none.path.ptr)
        return NULL;
    struct pyro_catalog_log *before = run_at(&reading->store->runs, none.path);
    if (before && same_run(before, &attempt, &stored))
        return pyro_catalog_log_retain(before);
    struct pyro_catalog_log *made = pyro_catalog_log_new(&none, NULL, &attempt, PYRO_SLICE_NULL, &stored);
    if (made)
        made->identity = before ? before->identity : ++*reading->identities;
    return made;
}

static int take_run(void *context, const struct pyro_stored_run *run)
{
    struct reading *reading = context;
    struct pyro_catalog_log *made = make_run(reading, run);
    struct pyro_catalog_log **place = made ? pyro_vec_push(&reading->runs, NULL) : NULL;
    if (place)
        *place = made;
    else
        pyro_catalog_log_release(made);
    reading->failed |= !place;
    return reading->failed;
}

static int compare_named(const void *a, const void *b)
{
    const struct pyro_catalog_named *x = a, *y = b;
    return pyro_slice_compare(x->run->stored->path, y->run->stored->path);
}

/* Takes over the runs; false: no memory, and nothing changes. */
static bool replace_runs(struct pyro_catalog_store *store, pyro_catalog_logs *runs)
{
    pyro_catalog_named_vec named = {0};
    if (runs->count)
        qsort(runs->items, runs->count, sizeof(*runs->items), compare_paths);
    for (size_t i = 0; i < runs->count; i++) {
        struct pyro_slice path = runs->items[i]->stored->path;
        if (!path.len || path.ptr[0] != '/')
            continue;
        struct pyro_catalog_named *one = pyro_vec_push(&named, NULL);
        if (!one) {
            pyro_vec_done(&named, NULL);
            return false;
        }
        one->run = runs->items[i];
    }
    if (named.count)
        qsort(named.items, named.count, sizeof(*named.items), compare_named);
    pyro_vec_done(&store->named, NULL);
    store->named = named;
    pyro_catalog_logs_done(&store->runs);
    store->runs = *runs;
    return true;
}

/* The store's file may have been replaced by another. */
static bool open_again(struct pyro_catalog_store *store)
{
    struct stat file;
    struct pyro_error ignored = {.size = sizeof(ignored)};
    if (pyro_store_has_file(store->url) && stat(pyro_store_place(store->url), &file) == 0) {
        struct pyro_file_stamp stamp = pyro_file_stamp_of(&file);
        if (stamp.device != store->stamp.device || stamp.inode != store->stamp.inode) {
            pyro_store_close(store->store);
            store->store = NULL;
            store->state = -1;
        }
        store->stamp = stamp;
    }
    return store->store || pyro_store_open_to_read(store->url, &store->store, &ignored) == PYRO_OK;
}

void pyro_catalog_store_update(struct pyro_catalog_store *store, uint64_t *identities)
{
    struct reading reading = {.store = store};
    struct pyro_error ignored = {.size = sizeof(ignored)};
    reading.identities = identities;
    if (!open_again(store))
        return;
    int64_t state = pyro_store_state(store->store);
    if (state == store->state)
        return;
    pyro_arena_init(&reading.arena, NULL);
    enum pyro_status status = pyro_store_each_stored(store->store, take_run, &reading, &ignored);
    pyro_arena_done(&reading.arena);
    if (status != PYRO_OK || reading.failed || !replace_runs(store, &reading.runs))
        pyro_catalog_logs_done(&reading.runs); /* the next update tries again */
    else
        store->state = state;
}

enum pyro_status pyro_catalog_stored_report(const struct pyro_catalog_log *log, struct pyro_strbuf *out,
                                            struct pyro_error *error)
{
    pyro_store *store = NULL;
    PYRO_TRY(pyro_store_open_to_read(log->stored->url, &store, error));
    enum pyro_status status = pyro_store_report(store, log->attempt.app_id, log->attempt.attempt_id, out, error);
    pyro_store_close(store);
    return status;
}
