/* Listing sources, and claiming what they have. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fleet/crawl/crawling.h"
#include "source/http/http.h"

enum { MOST_FAILURES = 10, FIRST_PAUSE_MS = 1000, LONGEST_PAUSE_MS = 60000, OFFERED = 10000 };

/* ---- Listing ----------------------------------------------------------------------------------------------------- */

struct lister {
    struct pyro_crawl *crawl;
    struct pyro_crawl_watch *watch;
};

static bool is_ending(void *context)
{
    struct pyro_crawl *crawl = context;
    pthread_mutex_lock(&crawl->lock);
    bool ending = crawl->ending || crawl->abandoned;
    pthread_mutex_unlock(&crawl->lock);
    return ending;
}

static void *list(void *context)
{
    struct lister lister = *(struct lister *)context;
    struct pyro_crawl *crawl = lister.crawl;
    struct pyro_crawl_watch *watch = lister.watch;
    const struct pyro_stop stop = {is_ending, crawl};
    pyro_release(NULL, context);
    watch->error = (struct pyro_error){.size = sizeof(watch->error)};
    watch->listing.stop = &stop;
    watch->status = pyro_crawl_list(&watch->listing, &watch->list, &watch->error);
    watch->listing.stop = NULL;
    pthread_mutex_lock(&crawl->lock);
    watch->listed = true;
    pthread_cond_signal(&crawl->done);
    pthread_mutex_unlock(&crawl->lock);
    return NULL;
}

struct counting {
    const struct pyro_crawl_watch *watch;
    struct pyro_work_counts counts;
};

static enum pyro_status count(struct pyro_crawl *crawl, void *context, struct pyro_error *error)
{
    struct counting *counting = context;
    return crawl->work->counts(crawl->work_state, pyro_slice_from(counting->watch->source->label), &counting->counts,
                               error);
}

enum pyro_status pyro_crawl_count_held(struct pyro_crawl *crawl, int64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < crawl->watch_count; i++) {
        struct counting counting = {.watch = &crawl->watches[i]};
        PYRO_TRY(pyro_crawl_patiently(crawl, count, &counting));
        *ret = pyro_add_saturating(*ret, counting.counts.items[PYRO_WORK_LEASED]);
    }
    return PYRO_OK;
}

static enum pyro_status take_back(struct pyro_crawl *crawl, void *context, struct pyro_error *error)
{
    return crawl->work->take_back(crawl->work_state, crawl->owner, context, error);
}

enum pyro_status pyro_crawl_take_back(struct pyro_crawl *crawl, size_t *ret_count)
{
    return pyro_crawl_patiently(crawl, take_back, ret_count);
}

/* What a list begins with: the later of what is wanted and what the store has behind it. */
static enum pyro_status begin_list(struct pyro_crawl *crawl, struct pyro_crawl_watch *watch)
{
    struct counting counting = {.watch = watch};
    struct lister *lister = pyro_allocate(NULL, sizeof(*lister));
    if (!lister)
        return pyro_error_set(crawl->error, PYRO_ERROR_MEMORY, "no memory left for listing a source");
    enum pyro_status status = pyro_crawl_patiently(crawl, count, &counting);
    const struct pyro_work_counts counts = counting.counts;
    int64_t from_ms = crawl->settings.min_end_ms;
    bool first = !watch->reachable || counts.listed_ms == PYRO_NONE || counts.low_ms == PYRO_NONE;
    watch->whole =
        first || pyro_add_saturating(counts.listed_ms, PYRO_CRAWL_DAY_MS) <= crawl->work->now_ms(crawl->work_state);
    int64_t low_ms = pyro_sub_saturating(counts.low_ms, PYRO_CRAWL_DAY_MS);
    if (!watch->whole && (from_ms == PYRO_NONE || low_ms > from_ms))
        from_ms = low_ms;
    if (watch->whole && watch->memory.known.count) { /* nothing is taken for granted then */
        pyro_map_done(&watch->memory.known);
        pyro_map_init(&watch->memory.known, crawl->settings.allocator);
    }
    watch->listing = (struct pyro_crawl_listing){
        .settings = &crawl->settings, .source = watch->source, .memory = &watch->memory, .from_ms = from_ms};
    watch->listing.whole = watch->whole;
    *lister = (struct lister){crawl, watch};
    watch->listed = false;
    watch->listing_now = status == PYRO_OK && pyro_thread_start(&watch->lister, list, lister);
    if (watch->listing_now)
        return PYRO_OK;
    pyro_release(NULL, lister);
    return status == PYRO_OK
               ? pyro_error_set(crawl->error, PYRO_ERROR_MEMORY, "the system starts no thread for listing a source")
               : status;
}

enum pyro_status pyro_crawl_begin_pass(struct pyro_crawl *crawl)
{
    crawl->unreachable = false;
    PYRO_TRY(pyro_crawl_read_verdicts(crawl));
    for (size_t i = 0; i < crawl->watch_count; i++)
        if (!crawl->watches[i].listing_now)
            PYRO_TRY(begin_list(crawl, &crawl->watches[i]));
    PYRO_TRY(pyro_crawl_begin_clusters(crawl));
    crawl->next_pass_ms = pyro_add_saturating(pyro_clock_ms(), crawl->settings.every_ms);
    return PYRO_OK;
}

struct offer {
    const struct pyro_work_item *items;
    size_t count, fresh;
};

static enum pyro_status offer(struct pyro_crawl *crawl, void *context, struct pyro_error *error)
{
    struct offer *some = context;
    return crawl->work->offer(crawl->work_state, some->items, some->count, &some->fresh, error);
}

static enum pyro_status note_listed(struct pyro_crawl *crawl, void *context, struct pyro_error *error)
{
    const struct pyro_crawl_watch *watch = context;
    return crawl->work->listed(crawl->work_state, pyro_slice_from(watch->source->label), error);
}

static enum pyro_status take_list(struct pyro_crawl *crawl, struct pyro_crawl_watch *watch)
{
    struct pyro_crawl_event event = {.kind = PYRO_CRAWL_LISTED, .source = watch->source->label};
    if (watch->status == PYRO_ERROR_MEMORY) {
        pyro_error_copy(crawl->error, &watch->error);
        return watch->status;
    }
    watch->reachable = watch->status == PYRO_OK;
    if (!watch->reachable) {
        event.kind = PYRO_CRAWL_UNREACHABLE;
        event.message = watch->error.message;
        if (!crawl->unreachable)
            crawl->unreachable_why = watch->error;
        crawl->unreachable = true;
        pyro_crawl_tell(crawl, &event);
        return PYRO_OK;
    }
    watch->failures = 0;
    if (watch->list.version.ptr)
        snprintf(watch->version, sizeof(watch->version), "%s", watch->list.version.ptr);
    /* Others wait for the store meanwhile: not everything at once. */
    for (size_t from = 0; from < watch->list.items.count; from += OFFERED) {
        size_t left = watch->list.items.count - from;
        struct offer some = {watch->list.items.items + from, left < OFFERED ? left : OFFERED, 0};
        PYRO_TRY(pyro_crawl_patiently(crawl, offer, &some));
        event.count += (int64_t)some.fresh;
    }
    if (watch->whole)
        PYRO_TRY(pyro_crawl_patiently(crawl, note_listed, watch));
    pyro_crawl_remember(&watch->memory, &watch->list);
    pyro_crawl_tell(crawl, &event);
    return PYRO_OK;
}

enum pyro_status pyro_crawl_take_lists(struct pyro_crawl *crawl)
{
    for (size_t i = 0; i < crawl->watch_count; i++) {
        struct pyro_crawl_watch *watch = &crawl->watches[i];
        pthread_mutex_lock(&crawl->lock);
        bool listed = watch->listing_now && watch->listed;
        pthread_mutex_unlock(&crawl->lock);
        if (!listed)
            continue;
        pyro_thread_join(&watch->lister);
        watch->listing_now = false;
        enum pyro_status status = crawl->stopping ? PYRO_OK : take_list(crawl, watch);
        pyro_crawl_list_done(&watch->list, crawl->settings.allocator);
        PYRO_TRY(status);
    }
    return PYRO_OK;
}

bool pyro_crawl_is_listing(const struct pyro_crawl *crawl)
{
    size_t i = 0;
    while (i < crawl->watch_count && !crawl->watches[i].listing_now)
        i++;
    return i < crawl->watch_count;
}

void pyro_crawl_end_lists(struct pyro_crawl *crawl)
{
    for (size_t i = 0; i < crawl->watch_count; i++) {
        struct pyro_crawl_watch *watch = &crawl->watches[i];
        if (watch->listing_now) {
            pyro_thread_join(&watch->lister);
            pyro_crawl_list_done(&watch->list, crawl->settings.allocator);
        }
        pyro_map_done(&watch->memory.known);
    }
}

/* ---- Claiming ---------------------------------------------------------------------------------------------------- */

void pyro_crawl_note_fetch(struct pyro_crawl *crawl, size_t source, bool failed)
{
    struct pyro_crawl_watch *watch = &crawl->watches[source];
    struct pyro_crawl_event event = {.kind = PYRO_CRAWL_UNREACHABLE, .source = watch->source->label};
    if (!failed) {
        watch->failures = 0;
        watch->pause_until_ms = 0;
        return;
    }
    int64_t pause = (int64_t)FIRST_PAUSE_MS << (watch->failures < 6 ? watch->failures : 6);
    watch->failures++;
    watch->pause_until_ms = pyro_clock_ms() + (pause < LONGEST_PAUSE_MS ? pause : LONGEST_PAUSE_MS);
    if (watch->failures != MOST_FAILURES || !watch->reachable)
        return;
    /* Its list came, but nothing else: the rest waits for the next list. */
    watch->reachable = false;
    event.message = "several logs one after the other could not be fetched";
    if (!crawl->unreachable) {
        crawl->unreachable_why = (struct pyro_error){.size = sizeof(crawl->unreachable_why)};
        pyro_error_describe(&crawl->unreachable_why, PYRO_ERROR_INPUT, "%s", event.message);
        pyro_error_at(&crawl->unreachable_why, watch->source->label, UINT64_MAX);
    }
    crawl->unreachable = true;
    pyro_crawl_tell(crawl, &event);
}

/* How many items the rate leaves now. */
static size_t allowed(struct pyro_crawl_watch *watch, size_t most)
{
    double rate = watch->source->rate, burst = rate > 1 ? rate : 1;
    int64_t now_ms = pyro_clock_ms();
    if (now_ms < watch->pause_until_ms)
        return 0;
    if (rate <= 0)
        return most;
    watch->tokens = watch->tokens_ms ? watch->tokens + (double)(now_ms - watch->tokens_ms) * rate / 1000 : 1;
    watch->tokens = watch->tokens < burst ? watch->tokens : burst;
    watch->tokens_ms = now_ms;
    return watch->tokens < (double)most ? (size_t)watch->tokens : most;
}

struct claim {
    struct pyro_crawl_watch *watch;
    struct pyro_arena arena;
    struct pyro_work_item items[PYRO_CRAWL_CLAIM];
    size_t most, count;
};

static enum pyro_status claim(struct pyro_crawl *crawl, void *context, struct pyro_error *error)
{
    struct claim *some = context;
    return crawl->work->claim(crawl->work_state, pyro_slice_from(some->watch->source->label), crawl->owner, some->most,
                              &some->arena, some->items, &some->count, error);
}

/* Of the watch, which may change while a worker reads. */
static bool take_version(struct pyro_crawl_slot *slot, const struct pyro_crawl_watch *watch)
{
    if (watch->version[0])
        slot->version = pyro_arena_copy(&slot->arena, pyro_slice_from(watch->version)).ptr;
    return !watch->version[0] || slot->version;
}

static bool fill_slot(struct pyro_crawl *crawl, size_t source, const struct pyro_work_item *item)
{
    struct pyro_crawl_slot *slot = pyro_crawl_free_slot(crawl);
    if (!slot)
        return false;
    pyro_arena_init(&slot->arena, crawl->settings.allocator);
    struct pyro_slice key = pyro_arena_copy(&slot->arena, item->key),
                      stamp = pyro_arena_copy(&slot->arena, item->stamp);
    if (!key.ptr || !stamp.ptr || !take_version(slot, &crawl->watches[source])) {
        pyro_arena_done(&slot->arena);
        return false;
    }
    slot->source = source;
    slot->key = key;
    slot->lease = (struct pyro_lease){.key = key.ptr, .owner = crawl->owner, .stamp = stamp.ptr, .epoch = item->epoch};
    slot->tries = item->tries;
    pyro_crawl_enqueue(crawl, slot);
    return true;
}

static enum pyro_status claim_from(struct pyro_crawl *crawl, size_t source, size_t most, bool *ret_more)
{
    struct claim some = {.watch = &crawl->watches[source]};
    size_t left = allowed(some.watch, most);
    some.most = left < PYRO_CRAWL_CLAIM ? left : PYRO_CRAWL_CLAIM;
    if (some.most == 0) { /* later */
        *ret_more = true;
        return PYRO_OK;
    }
    pyro_arena_init(&some.arena, crawl->settings.allocator);
    enum pyro_status status = pyro_crawl_patiently(crawl, claim, &some);
    for (size_t i = 0; status == PYRO_OK && i < some.count; i++)
        if (!fill_slot(crawl, source, &some.items[i]))
            status = pyro_error_set(crawl->error, PYRO_ERROR_MEMORY, "no memory left for a log");
    some.watch->tokens -= (double)some.count;
    *ret_more |= some.count > 0;
    pyro_arena_done(&some.arena);
    return status;
}

/* Whether the run can be read now; *ret_never: its server is not there, and the run stays as it is. */
static bool is_due(struct pyro_crawl *crawl, const struct pyro_crawl_again *run, bool *ret_never)
{
    struct pyro_crawl_watch *watch = run->source != SIZE_MAX ? &crawl->watches[run->source] : NULL;
    *ret_never = watch && !watch->reachable;
    if (!watch || *ret_never)
        return true;
    bool due = allowed(watch, 1) > 0;
    watch->tokens -= due;
    return due;
}

/* Runs that are read again are not taken from a source's work. */
static enum pyro_status fill_again(struct pyro_crawl *crawl, size_t room)
{
    bool never = false;
    for (; room > 0 && crawl->again_next < crawl->again.count; room--) {
        const struct pyro_crawl_again *run = &crawl->again.items[crawl->again_next];
        if (!is_due(crawl, run, &never))
            break;
        crawl->again_next++;
        if (never)
            continue;
        struct pyro_crawl_slot *slot = pyro_crawl_free_slot(crawl);
        pyro_arena_init(&slot->arena, crawl->settings.allocator);
        if (run->source != SIZE_MAX && !take_version(slot, &crawl->watches[run->source])) {
            pyro_arena_done(&slot->arena);
            return pyro_error_set(crawl->error, PYRO_ERROR_MEMORY, "no memory left for a log");
        }
        slot->source = run->source;
        slot->key = run->key;
        slot->app_id = run->app_id;
        slot->attempt = run->attempt;
        pyro_crawl_enqueue(crawl, slot);
    }
    return PYRO_OK;
}

enum pyro_status pyro_crawl_claim(struct pyro_crawl *crawl, bool *ret_more)
{
    size_t queued = pyro_crawl_count(crawl, PYRO_SLOT_QUEUED), free = pyro_crawl_count(crawl, PYRO_SLOT_FREE);
    /* Workers go on while a batch is recorded: where many are ready, logs are read fast, and as many may wait. Of slow
     * ones hardly any wait, so that other crawlers get them. */
    size_t enough = crawl->settings.jobs + pyro_crawl_count(crawl, PYRO_SLOT_READY);
    *ret_more = queued > 0 || crawl->again_next < crawl->again.count;
    if (queued >= enough || free <= PYRO_CRAWL_CLAIM)
        return PYRO_OK;
    /* Servers are listed first: they say their version, and whether they answer. */
    if (*ret_more && crawl->again_next == 0 && pyro_crawl_is_listing(crawl))
        return PYRO_OK;
    PYRO_TRY(fill_again(crawl, PYRO_CRAWL_CLAIM));
    if (crawl->again_next < crawl->again.count || pyro_crawl_count(crawl, PYRO_SLOT_QUEUED) >= enough)
        return PYRO_OK;
    /* Another source begins each time, so that none waits for all of the others. */
    for (size_t n = 0; n < crawl->watch_count; n++) {
        size_t source = (crawl->next_order + n) % crawl->watch_count;
        size_t room = pyro_crawl_count(crawl, PYRO_SLOT_FREE);
        if (crawl->watches[source].reachable && room > 0)
            PYRO_TRY(claim_from(crawl, source, room, ret_more));
    }
    return PYRO_OK;
}

/* ---- Before the first pass --------------------------------------------------------------------------------------- */

/* The server that the run was read from, among the sources: its address alone would lack the password. */
static size_t server_of(const struct pyro_crawl *crawl, const struct pyro_stored_run *run)
{
    size_t i = 0;
    while (i < crawl->watch_count && !(crawl->watches[i].source->server && run->source.ptr &&
                                       pyro_slice_is(run->source, crawl->watches[i].source->label)))
        i++;
    return i < crawl->watch_count && pyro_is_url(run->path.ptr) ? i : SIZE_MAX;
}

static int take_stored(void *context, const struct pyro_stored_run *run)
{
    struct pyro_crawl *crawl = context;
    struct pyro_arena *arena = &crawl->again_arena;
    struct pyro_crawl_again *again = run->path.len ? pyro_vec_push(&crawl->again, crawl->settings.allocator) : NULL;
    if (!run->path.len)
        return 0;
    arena->failed |= !again;
    if (!again)
        return 1;
    *again = (struct pyro_crawl_again){.app_id = pyro_arena_copy(arena, run->app_id),
                                       .attempt = pyro_arena_copy(arena, run->attempt),
                                       .source = server_of(crawl, run)};
    again->key = again->source == SIZE_MAX
                     ? pyro_arena_copy(arena, run->path)
                     : pyro_crawl_server_key(crawl->watches[again->source].source, run->app_id, run->attempt, arena);
    arena->failed |= !again->key.ptr || !again->app_id.ptr || !again->attempt.ptr;
    return arena->failed;
}

static enum pyro_status list_stored(struct pyro_crawl *crawl, void *context, struct pyro_error *error)
{
    (void)context;
    crawl->again.count = 0; /* of a try before this one */
    return pyro_store_each_stored(crawl->store, take_stored, crawl, error);
}

static enum pyro_status retry(struct pyro_crawl *crawl, void *context, struct pyro_error *error)
{
    const struct pyro_crawl_watch *watch = context; /* NULL: of all sources */
    struct pyro_slice source = watch ? pyro_slice_from(watch->source->label) : PYRO_SLICE_NULL;
    size_t count;
    return crawl->work->retry(crawl->work_state, source, &count, error);
}

enum pyro_status pyro_crawl_prepare(struct pyro_crawl *crawl)
{
    if (crawl->settings.recompute) {
        PYRO_TRY(pyro_crawl_patiently(crawl, list_stored, NULL));
        if (crawl->again_arena.failed)
            return pyro_error_set(crawl->error, PYRO_ERROR_MEMORY, "no memory left for the list of runs");
    }
    for (size_t i = 0; crawl->settings.retry_errors && i < crawl->watch_count; i++)
        PYRO_TRY(pyro_crawl_patiently(crawl, retry, &crawl->watches[i]));
    /* Without a source, for the crawlers that have one. */
    return crawl->settings.retry_errors && crawl->watch_count == 0 ? pyro_crawl_patiently(crawl, retry, NULL) : PYRO_OK;
}
