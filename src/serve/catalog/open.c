/* What is open: loaded once whoever asks, shared by reference, closed when others need the room. */
#include <errno.h>
#include <time.h>

#include "base/thread.h"
#include "serve/catalog/parts.h"

enum {
    MOST_LOADS = 8, /* at once: each may take as much memory as a large log needs */
    LOOK_MS = 100   /* how often those that wait look whether they are to go on */
};

static void close_slot(struct serve_slot *slot)
{
    const struct serve_kind_row *kind = pyro_serve_kinds[slot->kind];
    if (slot->value)
        kind->release(slot->value);
    if (slot->state && kind->close)
        kind->close(slot->state);
    pyro_serve_log_release(slot->log);
    pyro_serve_log_release(slot->failed);
    pyro_release(NULL, slot);
}

static void remove_slot(struct serve_catalog *catalog, size_t i)
{
    struct serve_slot *slot = catalog->open.items[i];
    catalog->usage.memory_bytes -= slot->memory;
    catalog->open.items[i] = catalog->open.items[--catalog->open.count];
    close_slot(slot);
}

void pyro_serve_catalog_close_all(struct serve_catalog *catalog)
{
    while (catalog->open.count)
        remove_slot(catalog, 0);
    pyro_vec_done(&catalog->open, NULL);
}

static bool is_busy(const struct serve_slot *slot)
{
    return slot->loading || slot->waiting;
}

void pyro_serve_catalog_sweep(struct serve_catalog *catalog)
{
    size_t count;
    struct serve_log *const *logs = pyro_serve_list_logs(catalog->list, &count);
    for (size_t i = catalog->open.count; i-- > 0;) {
        size_t j = 0;
        while (j < count && logs[j]->identity != catalog->open.items[i]->identity)
            j++;
        if (j == count && !is_busy(catalog->open.items[i]))
            remove_slot(catalog, i);
    }
}

/* Closes what was not asked for longest, until the rest fits; `newest` stays. Whoever still reads something that is
 * closed holds a reference. */
static void evict(struct serve_catalog *catalog, const struct serve_slot *newest)
{
    while (catalog->usage.memory_bytes > catalog->options.memory_bytes) {
        size_t oldest = SIZE_MAX;
        for (size_t i = 0; i < catalog->open.count; i++) {
            const struct serve_slot *slot = catalog->open.items[i];
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

void pyro_serve_catalog_shrink(struct serve_catalog *catalog)
{
    pthread_mutex_lock(&catalog->mutex);
    uint64_t limit = catalog->options.memory_bytes;
    catalog->options.memory_bytes = catalog->usage.memory_bytes / 2;
    evict(catalog, NULL);
    catalog->options.memory_bytes = limit;
    pthread_mutex_unlock(&catalog->mutex);
}

static struct serve_slot *slot_of(struct serve_catalog *catalog, uint64_t identity, enum serve_kind kind)
{
    for (size_t i = 0; i < catalog->open.count; i++)
        if (catalog->open.items[i]->identity == identity && catalog->open.items[i]->kind == kind)
            return catalog->open.items[i];
    struct serve_slot *slot = pyro_allocate(NULL, sizeof(*slot));
    struct serve_slot **place = slot ? pyro_vec_push(&catalog->open, NULL) : NULL;
    if (!place) {
        pyro_release(NULL, slot);
        return NULL;
    }
    *slot = (struct serve_slot){.identity = identity, .kind = kind};
    return *place = slot;
}

/* The log of the attempt, retained; NULL: there is none. While the first look goes on, waits for it to be found. */
static const struct serve_log *find_log(struct serve_catalog *catalog, struct pyro_slice id, struct pyro_slice attempt)
{
    for (;;) {
        const struct pyro_attempt *found = pyro_serve_app_attempt(pyro_serve_list_find(catalog->list, id), attempt);
        if (found)
            return pyro_serve_log_retain(pyro_serve_list_log_of(catalog->list, found));
        if (catalog->first_done || atomic_load(&catalog->stop))
            return NULL;
        pthread_cond_wait(&catalog->listed, &catalog->mutex);
    }
}

/* ---- Loading ---- */

/* What a load is made for. */
struct load {
    struct serve_catalog *catalog;
    struct serve_slot *slot;
    struct serve_ticket *ticket;
};

/* Goes on for others who wait for the same, though the one that began it has gone. */
static int look(void *context, const struct pyro_progress *progress)
{
    const struct load *load = context;
    (void)progress;
    enum serve_stop why = pyro_ticket_stopped(load->ticket);
    if (why == SERVE_GO_ON || why == SERVE_STOPPING || why == SERVE_NO_MEMORY)
        return why != SERVE_GO_ON;
    pthread_mutex_lock(&load->catalog->mutex);
    bool alone = load->slot->waiting <= 1;
    pthread_mutex_unlock(&load->catalog->mutex);
    return alone;
}

/* Waits for the end of some load, or for the time to look again. */
static void wait_for_loads(struct serve_catalog *catalog)
{
    pyro_condition_wait(&catalog->loaded, &catalog->mutex, pyro_clock_ms() + LOOK_MS);
}

static enum pyro_status stopped(struct serve_ticket *ticket, struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_CANCELLED, "%s", pyro_gate_why(pyro_ticket_stopped(ticket)));
}

/* Without the mutex while it reads. */
static void load(struct serve_catalog *catalog, struct serve_slot *slot, const struct serve_log *log,
                 struct serve_ticket *ticket)
{
    struct load context = {catalog, slot, ticket};
    struct serve_catalog_options options = catalog->options;
    options.load.progress = look;
    options.load.progress_context = &context;
    options.load.allocator = ticket && ticket->gate ? &ticket->gate->allocator : NULL;
    const struct serve_kind_row *kind = pyro_serve_kinds[slot->kind];
    struct pyro_error error = {0};
    void *state = slot->state, *before = slot->log == log ? slot->value : NULL; /* this thread's, as the state is */
    struct serve_loaded loaded = {0};
    slot->loading = true;
    while (catalog->loading >= MOST_LOADS && pyro_ticket_stopped(ticket) == SERVE_GO_ON)
        wait_for_loads(catalog);
    catalog->loading++;
    catalog->usage.loads++;
    uint64_t freshness = catalog->freshness;
    pthread_mutex_unlock(&catalog->mutex);
    if (ticket)
        atomic_store(&ticket->loads, true);
    enum pyro_status status = pyro_ticket_stopped(ticket) == SERVE_GO_ON
                                  ? kind->load(log, &options, before, &state, &loaded, &error)
                                  : PYRO_ERROR_CANCELLED;
    if (ticket)
        atomic_store(&ticket->loads, false);
    if (status == PYRO_ERROR_CANCELLED)
        stopped(ticket, &error);
    else if (status == PYRO_ERROR_MEMORY)
        pyro_error_set(&error, status, "%s", pyro_gate_why(SERVE_NO_MEMORY));
    pthread_mutex_lock(&catalog->mutex);
    catalog->loading--;
    slot->loading = false;
    slot->state = state;
    if (status == PYRO_OK) {
        if (slot->value)
            kind->release(slot->value);
        pyro_serve_log_release(slot->log);
        catalog->usage.memory_bytes += loaded.memory - slot->memory;
        slot->memory = loaded.memory;
        slot->value = loaded.value;
        slot->log = pyro_serve_log_retain(log);
        slot->fresh = loaded.partial ? 0 : freshness;
    }
    pyro_serve_log_release(slot->failed);
    slot->failed = status == PYRO_OK ? NULL : pyro_serve_log_retain(log);
    slot->failure = error;
    slot->failure.code = status;
    pthread_cond_broadcast(&catalog->loaded);
}

static bool is_fresh(const struct serve_catalog *catalog, const struct serve_slot *slot)
{
    return slot->kind == SERVE_KIND_DIAGNOSIS ? slot->fresh == catalog->freshness : slot->fresh != 0;
}

/* What is there while another request is at it: of a log that is being written, since the next change follows soon.
 * Nothing follows the end of a run, so the log of one that ended is waited for. */
static bool last_will_do(const struct serve_slot *slot, const struct serve_log *log)
{
    return slot->value && (slot->log == log || log->log.in_progress);
}

/* Makes the slot hold the log as it is now. */
static enum pyro_status fill(struct serve_catalog *catalog, struct serve_slot *slot, const struct serve_log *log,
                             struct serve_ticket *ticket, struct pyro_error *error)
{
    while (slot->loading && !last_will_do(slot, log) && pyro_ticket_stopped(ticket) == SERVE_GO_ON)
        wait_for_loads(catalog);
    if (pyro_ticket_stopped(ticket) != SERVE_GO_ON)
        return stopped(ticket, error);
    if (slot->value && ((slot->log == log && is_fresh(catalog, slot)) || slot->loading)) {
        catalog->usage.hits++;
        return PYRO_OK;
    }
    /* Only what the bytes themselves say fails again in the same way. */
    if (slot->failed != log || !slot->failure.lasting)
        load(catalog, slot, log, ticket);
    if (slot->value && slot->log == log && slot->failure.code == PYRO_OK)
        return PYRO_OK;
    *error = slot->failure;
    return slot->failure.code;
}

/* Under the mutex. */
static enum pyro_status open_log(struct serve_catalog *catalog, struct serve_ticket *ticket, enum serve_kind kind,
                                 const struct serve_log *log, void **ret, struct pyro_error *error)
{
    struct serve_slot *slot = slot_of(catalog, log->identity, kind);
    if (!slot)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left");
    slot->waiting++;
    slot->used = ++catalog->clock;
    enum pyro_status status = fill(catalog, slot, log, ticket, error);
    slot->waiting--;
    if (status == PYRO_OK)
        *ret = pyro_serve_kinds[kind]->retain(slot->value);
    evict(catalog, slot);
    return status;
}

static bool is_gone(const struct serve_log *log)
{
    struct stat status;
    return log->log.part_count && stat(log->log.parts[0].path.ptr, &status) != 0 && errno == ENOENT;
}

enum pyro_status pyro_serve_catalog_open_kind(struct serve_catalog *catalog, struct serve_ticket *ticket,
                                              enum serve_kind kind, struct pyro_slice id, struct pyro_slice attempt,
                                              void **ret, struct pyro_error *error)
{
    enum pyro_status status = PYRO_OK;
    *ret = NULL;
    /* A log that was renamed or deleted since the last look is looked for again, once. */
    for (bool again = false;; again = true) {
        pthread_mutex_lock(&catalog->mutex);
        const struct serve_log *log = find_log(catalog, id, attempt);
        bool there = log && (!log->stored || kind == SERVE_KIND_DIAGNOSIS);
        status = there ? open_log(catalog, ticket, kind, log, ret, error) : PYRO_OK;
        pthread_mutex_unlock(&catalog->mutex);
        bool gone = log && status == PYRO_ERROR_INPUT && is_gone(log);
        pyro_serve_log_release(log);
        if (!gone || again)
            return gone ? PYRO_OK : status;
        pyro_serve_catalog_refresh(catalog);
    }
}

void pyro_serve_catalog_forget_diagnoses(struct serve_catalog *catalog)
{
    pthread_mutex_lock(&catalog->mutex);
    catalog->freshness++; /* also for those that are being loaded now */
    pthread_mutex_unlock(&catalog->mutex);
}

struct serve_catalog_usage pyro_serve_catalog_usage(struct serve_catalog *catalog)
{
    pthread_mutex_lock(&catalog->mutex);
    struct serve_catalog_usage usage = catalog->usage;
    usage.open = catalog->open.count;
    pthread_mutex_unlock(&catalog->mutex);
    struct serve_watch_usage watch = pyro_serve_watch_usage(catalog->watch);
    usage.watched = watch.watched;
    usage.unwatched = watch.unwatched;
    return usage;
}
