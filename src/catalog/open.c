/* What is open: loaded once for all requests, shared by reference, closed when others need the memory. */
#include <errno.h>
#include <time.h>

#include "base/threads/thread.h"
#include "catalog/application_list.h"
#include "catalog/found_artefacts.h"
#include "catalog/kinds.h"
#include "catalog/log.h"
#include "catalog/open.h"

enum {
    MOST_LOADS = 8, /* at once: each may take as much memory as a large log needs */
    CHECK_MS = 100  /* how often those that wait check whether they are to go on */
};

static void close_slot(struct pyro_catalog_slot *slot)
{
    const struct pyro_catalog_kind_row *kind = pyro_catalog_kinds[slot->kind];
    if (slot->value)
        kind->release(slot->value);
    if (slot->state && kind->close)
        kind->close(slot->state);
    pyro_catalog_log_release(slot->log);
    pyro_catalog_log_release(slot->failed);
    pyro_release(NULL, slot);
}

static void remove_slot(struct pyro_catalog *catalog, size_t i)
{
    struct pyro_catalog_slot *slot = catalog->open.items[i];
    catalog->usage.memory_bytes -= slot->memory;
    catalog->open.items[i] = catalog->open.items[--catalog->open.count];
    close_slot(slot);
}

void pyro_catalog_close_all(struct pyro_catalog *catalog)
{
    while (catalog->open.count)
        remove_slot(catalog, 0);
    pyro_vec_done(&catalog->open, NULL);
}

static bool is_busy(const struct pyro_catalog_slot *slot)
{
    return slot->loading || slot->waiting;
}

void pyro_catalog_sweep(struct pyro_catalog *catalog)
{
    size_t count;
    struct pyro_catalog_log *const *logs = pyro_catalog_list_logs(catalog->list, &count);
    for (size_t i = catalog->open.count; i-- > 0;) {
        size_t j = 0;
        while (j < count && logs[j]->identity != catalog->open.items[i]->identity)
            j++;
        if (j == count && !is_busy(catalog->open.items[i]))
            remove_slot(catalog, i);
    }
}

/* Closes what was not asked for longest, until the rest fits; `newest` stays. A reader of something that is closed
 * holds a reference. */
static void evict(struct pyro_catalog *catalog, const struct pyro_catalog_slot *newest, uint64_t limit_bytes)
{
    while (catalog->usage.memory_bytes > limit_bytes) {
        size_t oldest = SIZE_MAX;
        for (size_t i = 0; i < catalog->open.count; i++) {
            const struct pyro_catalog_slot *slot = catalog->open.items[i];
            if (slot != newest && !is_busy(slot) &&
                (oldest == SIZE_MAX || slot->used < catalog->open.items[oldest]->used))
                oldest = i;
        }
        if (oldest == SIZE_MAX)
            return;
        catalog->usage.evictions++;
        remove_slot(catalog, oldest);
    }
}

void pyro_catalog_shrink(struct pyro_catalog *catalog)
{
    pthread_mutex_lock(&catalog->mutex);
    evict(catalog, NULL, catalog->usage.memory_bytes / 2);
    pthread_mutex_unlock(&catalog->mutex);
}

static struct pyro_catalog_slot *slot_of(struct pyro_catalog *catalog, uint64_t identity, enum pyro_catalog_kind kind)
{
    for (size_t i = 0; i < catalog->open.count; i++)
        if (catalog->open.items[i]->identity == identity && catalog->open.items[i]->kind == kind)
            return catalog->open.items[i];
    struct pyro_catalog_slot *slot = pyro_allocate(NULL, sizeof(*slot));
    struct pyro_catalog_slot **place = slot ? pyro_vec_push(&catalog->open, NULL) : NULL;
    if (!place) {
        pyro_release(NULL, slot);
        return NULL;
    }
    *slot = (struct pyro_catalog_slot){.identity = identity, .kind = kind};
    return *place = slot;
}

/* The log of the attempt, retained; no log: there is none. While the first update goes on, waits for it to be found. */
static struct pyro_catalog_run find_run(struct pyro_catalog *catalog, struct pyro_slice id, struct pyro_slice attempt)
{
    for (;;) {
        const struct pyro_attempt *found = pyro_catalog_app_attempt(pyro_catalog_list_find(catalog->list, id), attempt);
        if (found)
            return (struct pyro_catalog_run){
                .log = pyro_catalog_log_retain(pyro_catalog_list_log_of(catalog->list, found))};
        if (catalog->first_done || atomic_load(&catalog->stop))
            return (struct pyro_catalog_run){.log = NULL};
        pthread_cond_wait(&catalog->listed, &catalog->mutex);
    }
}

/* Adds the files next to the log. */
static void find_artefacts(const struct pyro_catalog *catalog, struct pyro_catalog_run *run)
{
    const struct pyro_catalog_artefacts *artefacts = pyro_catalog_list_artefacts(catalog->list);
    run->key = pyro_catalog_artefacts_key_of(artefacts, run->log);
    if (run->key)
        run->artefacts = pyro_catalog_artefacts_retain(artefacts);
}

static void release_run(const struct pyro_catalog_run *run)
{
    pyro_catalog_log_release(run->log);
    pyro_catalog_artefacts_release(run->artefacts);
}

/* Whether the slot's value was made of just that. */
static bool is_current(const struct pyro_catalog_slot *slot, const struct pyro_catalog_run *run)
{
    return slot->value && slot->log == run->log && slot->key == run->key;
}

/* ---- Loading ---- */

/* Why the caller's work ends; NULL: it goes on. */
static const char *why_stopped(const struct pyro_catalog_caller *caller, bool *ret_for_all)
{
    return caller && caller->stopped ? caller->stopped(caller->context, ret_for_all) : NULL;
}

static bool is_stopped(const struct pyro_catalog_caller *caller)
{
    bool for_all;
    return why_stopped(caller, &for_all) != NULL;
}

static void tell_reading(const struct pyro_catalog_caller *caller, bool begins)
{
    if (caller && caller->reading)
        caller->reading(caller->context, begins);
}

/* What a load is made for. */
struct load {
    struct pyro_catalog *catalog;
    struct pyro_catalog_slot *slot;
    const struct pyro_catalog_caller *caller;
};

/* Goes on for others who wait for the same, though the one that began it has ended. */
static int report_progress(void *context, const struct pyro_progress *progress)
{
    const struct load *load = context;
    bool for_all = false;
    (void)progress;
    if (!why_stopped(load->caller, &for_all))
        return 0;
    if (for_all)
        return 1;
    pthread_mutex_lock(&load->catalog->mutex);
    bool alone = load->slot->waiting <= 1;
    pthread_mutex_unlock(&load->catalog->mutex);
    return alone;
}

/* Waits for the end of some load, or for the time to check again. */
static void wait_for_loads(struct pyro_catalog *catalog)
{
    pyro_condition_wait(&catalog->loaded, &catalog->mutex, pyro_clock_ms() + CHECK_MS);
}

static enum pyro_status stopped(const struct pyro_catalog_caller *caller, struct pyro_error *error)
{
    bool for_all;
    const char *why = why_stopped(caller, &for_all);
    return pyro_error_set(error, PYRO_ERROR_CANCELLED, "%s", why ? why : "cancelled");
}

/* Without the mutex while it reads. */
static void load(struct pyro_catalog *catalog, struct pyro_catalog_slot *slot, const struct pyro_catalog_run *run,
                 const struct pyro_catalog_caller *caller)
{
    struct load context = {catalog, slot, caller};
    struct pyro_catalog_options options = catalog->options;
    options.work.progress = report_progress;
    options.work.progress_context = &context;
    options.work.allocator = caller ? caller->allocator : NULL;
    const struct pyro_catalog_kind_row *kind = pyro_catalog_kinds[slot->kind];
    struct pyro_error error = {.size = sizeof(error)};
    void *state = slot->state,
         *before = is_current(slot, run) ? slot->value : NULL; /* this thread's, as the state is */
    struct pyro_catalog_loaded loaded = {0};
    slot->loading = true;
    while (catalog->loading >= MOST_LOADS && !is_stopped(caller))
        wait_for_loads(catalog);
    catalog->loading++;
    catalog->usage.loads++;
    uint64_t freshness = catalog->freshness;
    pthread_mutex_unlock(&catalog->mutex);
    tell_reading(caller, true);
    enum pyro_status status =
        is_stopped(caller) ? PYRO_ERROR_CANCELLED : kind->load(run, &options, before, &state, &loaded, &error);
    tell_reading(caller, false);
    if (status == PYRO_ERROR_CANCELLED)
        status = stopped(caller, &error);
    else if (status == PYRO_ERROR_MEMORY && caller && caller->no_memory)
        pyro_error_describe(&error, status, "%s", caller->no_memory);
    pthread_mutex_lock(&catalog->mutex);
    catalog->loading--;
    slot->loading = false;
    slot->state = state;
    if (status == PYRO_OK) {
        if (slot->value)
            kind->release(slot->value);
        pyro_catalog_log_release(slot->log);
        catalog->usage.memory_bytes += loaded.memory - slot->memory;
        slot->memory = loaded.memory;
        slot->value = loaded.value;
        slot->log = pyro_catalog_log_retain(run->log);
        slot->key = run->key;
        slot->fresh = loaded.partial ? 0 : freshness;
    }
    pyro_catalog_log_release(slot->failed);
    slot->failed = status == PYRO_OK ? NULL : pyro_catalog_log_retain(run->log);
    slot->failure = error;
    slot->failure.code = status;
    pthread_cond_broadcast(&catalog->loaded);
}

static bool is_fresh(const struct pyro_catalog *catalog, const struct pyro_catalog_slot *slot)
{
    return slot->kind == PYRO_CATALOG_DIAGNOSIS ? slot->fresh == catalog->freshness : slot->fresh != 0;
}

/* Whether the last state will do while another request loads: of a log that is being written, since the next change
 * follows soon. Nothing follows the end of a run, so the log of one that ended is waited for. */
static bool last_will_do(const struct pyro_catalog_slot *slot, const struct pyro_catalog_run *run)
{
    return is_current(slot, run) || (slot->value && run->log->log.in_progress);
}

/* Makes the slot hold the log as it is now. */
static enum pyro_status fill(struct pyro_catalog *catalog, struct pyro_catalog_slot *slot,
                             const struct pyro_catalog_run *run, const struct pyro_catalog_caller *caller,
                             struct pyro_error *error)
{
    while (slot->loading && !last_will_do(slot, run) && !is_stopped(caller))
        wait_for_loads(catalog);
    if (is_stopped(caller))
        return stopped(caller, error);
    if (slot->value && ((is_current(slot, run) && is_fresh(catalog, slot)) || slot->loading)) {
        catalog->usage.hits++;
        return PYRO_OK;
    }
    /* Only what the bytes themselves say fails again in the same way. */
    if (slot->failed != run->log || !slot->failure.lasting)
        load(catalog, slot, run, caller);
    if (is_current(slot, run) && slot->failure.code == PYRO_OK)
        return PYRO_OK;
    pyro_error_copy(error, &slot->failure);
    return slot->failure.code;
}

/* Under the mutex. */
static enum pyro_status open_run(struct pyro_catalog *catalog, const struct pyro_catalog_caller *caller,
                                 enum pyro_catalog_kind kind, const struct pyro_catalog_run *run, void **ret,
                                 struct pyro_error *error)
{
    struct pyro_catalog_slot *slot = slot_of(catalog, run->log->identity, kind);
    if (!slot)
        return pyro_no_memory(error);
    slot->waiting++;
    slot->used = ++catalog->clock;
    enum pyro_status status = fill(catalog, slot, run, caller, error);
    slot->waiting--;
    if (status == PYRO_OK)
        *ret = pyro_catalog_kinds[kind]->retain(slot->value);
    evict(catalog, slot, catalog->options.memory_bytes);
    return status;
}

static bool is_gone(const struct pyro_catalog_log *log)
{
    struct stat status;
    return log->log.part_count && stat(log->log.parts[0].path.ptr, &status) != 0 && errno == ENOENT;
}

enum pyro_status pyro_catalog_open_kind(struct pyro_catalog *catalog, const struct pyro_catalog_caller *caller,
                                        enum pyro_catalog_kind kind, struct pyro_slice id, struct pyro_slice attempt,
                                        void **ret, struct pyro_error *error)
{
    enum pyro_status status = PYRO_OK;
    *ret = NULL;
    /* A log that was renamed or deleted since the last update is looked for again, once. */
    for (bool again = false;; again = true) {
        pthread_mutex_lock(&catalog->mutex);
        struct pyro_catalog_run run = find_run(catalog, id, attempt);
        bool there = run.log && (!run.log->stored || kind == PYRO_CATALOG_DIAGNOSIS);
        if (there && kind == PYRO_CATALOG_DIAGNOSIS)
            find_artefacts(catalog, &run);
        status = there ? open_run(catalog, caller, kind, &run, ret, error) : PYRO_OK;
        pthread_mutex_unlock(&catalog->mutex);
        bool gone = run.log && status == PYRO_ERROR_INPUT && is_gone(run.log);
        release_run(&run);
        if (!gone || again)
            return gone ? PYRO_OK : status;
        pyro_catalog_refresh(catalog);
    }
}

void pyro_catalog_forget_diagnoses(struct pyro_catalog *catalog)
{
    pthread_mutex_lock(&catalog->mutex);
    catalog->freshness++; /* also for those that are being loaded now */
    pthread_mutex_unlock(&catalog->mutex);
}

struct pyro_catalog_usage pyro_catalog_usage(struct pyro_catalog *catalog)
{
    pthread_mutex_lock(&catalog->mutex);
    struct pyro_catalog_usage usage = catalog->usage;
    usage.open = catalog->open.count;
    pthread_mutex_unlock(&catalog->mutex);
    struct pyro_catalog_watch_usage watch = pyro_catalog_watch_usage(catalog->watch);
    usage.watched = watch.watched;
    usage.unwatched = watch.unwatched;
    return usage;
}
