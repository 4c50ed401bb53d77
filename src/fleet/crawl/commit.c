/* From workers to the store. */
#include <stdio.h>
#include <string.h>

#include "fleet/crawl/crawling.h"

/* ---- What became of a log ---------------------------------------------------------------------------------------- */

static struct pyro_crawl_event event_of(struct pyro_crawl *crawl, const struct pyro_crawl_slot *slot,
                                        enum pyro_crawl_event_kind kind)
{
    const struct pyro_crawl_source *source = slot->source != SIZE_MAX ? crawl->watches[slot->source].source : NULL;
    struct pyro_crawl_event event = {.kind = kind, .source = source ? source->label : NULL};
    event.log = source ? pyro_crawl_key_name(source, slot->key).ptr : slot->key.ptr;
    event.wall_ms = slot->result.wall_ms;
    if (slot->result.outcome == PYRO_CRAWL_MADE) {
        event.application = slot->result.run.app_id.ptr;
        event.attempt = slot->result.run.attempt.len ? slot->result.run.attempt.ptr : NULL;
    }
    return event;
}

/* Rows of errors say which run, or at least which log. */
static struct pyro_store_error_row row_of(struct pyro_crawl *crawl, const struct pyro_crawl_slot *slot)
{
    const struct pyro_crawl_result *result = &slot->result;
    const struct pyro_crawl_source *source = slot->source != SIZE_MAX ? crawl->watches[slot->source].source : NULL;
    const struct pyro_app *app = result->app;
    bool last = result->lasting || slot->tries + 1 >= PYRO_WORK_TRIES;
    return (struct pyro_store_error_row){
        .time_ms = pyro_store_now_ms(),
        .application = app && app->application.id.len ? app->application.id.ptr
                       : source                       ? pyro_crawl_key_name(source, slot->key).ptr
                                                      : slot->key.ptr,
        .attempt = app && app->application.attempt.len ? app->application.attempt.ptr : NULL,
        .source = source ? source->label : NULL,
        .step = result->step,
        .type = result->type,
        .message = result->message,
        .raw = last ? result->raw.ptr : NULL,
        .tries = slot->tries + 1,
    };
}

static enum pyro_status store_failure(struct pyro_crawl *crawl, void *context, struct pyro_error *error)
{
    struct pyro_crawl_slot *slot = context;
    struct pyro_store_error_row row = row_of(crawl, slot);
    if (!pyro_store_clean_error(crawl->store, &row, &slot->arena))
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for the errors of a store");
    return slot->lease.key ? crawl->work->fail(crawl->work_state, &slot->lease, slot->result.lasting, &row, error)
                           : pyro_store_add_error(crawl->store, &row, error);
}

static enum pyro_status store_nothing(struct pyro_crawl *crawl, void *context, struct pyro_error *error)
{
    const struct pyro_crawl_slot *slot = context;
    return slot->lease.key ? crawl->work->skip(crawl->work_state, &slot->lease, error) : PYRO_OK;
}

static enum pyro_status give_back(struct pyro_crawl *crawl, void *context, struct pyro_error *error)
{
    const struct pyro_crawl_slot *slot = context;
    return slot->lease.key ? crawl->work->release(crawl->work_state, &slot->lease, error) : PYRO_OK;
}

static enum pyro_status finish_broken(struct pyro_crawl *crawl, struct pyro_crawl_slot *slot)
{
    const struct pyro_crawl_result *result = &slot->result;
    struct pyro_crawl_event event = event_of(crawl, slot, PYRO_CRAWL_FAILED);
    bool fetch = strcmp(result->step, "fetch") == 0;
    if (slot->source != SIZE_MAX)
        pyro_crawl_note_fetch(crawl, slot->source, fetch);
    event.step = result->step;
    event.message = result->message;
    event.tries = slot->tries + 1;
    event.lasting = result->lasting || event.tries >= PYRO_WORK_TRIES;
    PYRO_TRY(pyro_crawl_patiently(crawl, store_failure, slot));
    crawl->totals.failed++;
    pyro_crawl_tell(crawl, &event);
    return PYRO_OK;
}

static enum pyro_status finish_unwanted(struct pyro_crawl *crawl, struct pyro_crawl_slot *slot)
{
    struct pyro_crawl_event event = event_of(crawl, slot, PYRO_CRAWL_SKIPPED);
    event.message = slot->result.message;
    PYRO_TRY(pyro_crawl_patiently(crawl, store_nothing, slot));
    crawl->totals.skipped++;
    pyro_crawl_tell(crawl, &event);
    return PYRO_OK;
}

static enum pyro_status store_row(struct pyro_crawl *crawl, void *context, struct pyro_error *error)
{
    return pyro_store_add_error(crawl->store, context, error);
}

/* Services that failed for a run that is stored: it lacks what they would have said. */
static enum pyro_status note_failures(struct pyro_crawl *crawl, struct pyro_crawl_slot *slot)
{
    const struct pyro_crawl_result *result = &slot->result;
    for (size_t i = 0; i < result->failures.count; i++) {
        const struct pyro_enrich_failure *failure = &result->failures.items[i];
        struct pyro_crawl_event event = event_of(crawl, slot, PYRO_CRAWL_FAILED);
        struct pyro_store_error_row row = {.time_ms = pyro_store_now_ms(),
                                           .application = event.application,
                                           .attempt = event.attempt,
                                           .source = event.source,
                                           .step = "enrich",
                                           .type = failure->type,
                                           .message = failure->message.ptr,
                                           .raw = failure->raw.ptr,
                                           .tries = 1};
        event.step = "enrich";
        event.message = failure->message.ptr;
        if (!pyro_store_clean_error(crawl->store, &row, &slot->result.arena))
            return pyro_error_set(crawl->error, PYRO_ERROR_MEMORY, "no memory left for the errors of a store");
        PYRO_TRY(pyro_crawl_patiently(crawl, store_row, &row));
        crawl->totals.failed++;
        pyro_crawl_tell(crawl, &event);
    }
    return PYRO_OK;
}

/* What the store made of a run. */
static void tell_recorded(struct pyro_crawl *crawl, struct pyro_crawl_slot *slot, enum pyro_record_result result)
{
    struct pyro_crawl_event event = event_of(crawl, slot, PYRO_CRAWL_STORED);
    if (slot->source != SIZE_MAX)
        pyro_crawl_note_fetch(crawl, slot->source, false);
    if (result == PYRO_RECORD_LATE) {
        event.kind = PYRO_CRAWL_LATE;
        crawl->totals.late++;
    } else if (result == PYRO_RECORD_CONFLICT) {
        event.kind = PYRO_CRAWL_FAILED;
        event.step = "store";
        event.message = "id-conflict: the store has another run of this id, which started at another time";
        event.lasting = 1;
        crawl->totals.failed++;
    } else {
        crawl->totals.stored++;
    }
    pyro_crawl_tell(crawl, &event);
}

/* ---- Batches ----------------------------------------------------------------------------------------------------- */

struct batch {
    struct pyro_crawl_slot *slots[PYRO_CRAWL_BATCH];
    bool kept[PYRO_CRAWL_BATCH]; /* the store has the run */
    size_t count;
};

static enum pyro_status record(struct pyro_crawl *crawl, void *context, struct pyro_error *error)
{
    struct batch *batch = context;
    const struct pyro_run *runs[PYRO_CRAWL_BATCH];
    enum pyro_record_result results[PYRO_CRAWL_BATCH] = {PYRO_RECORD_KEPT};
    for (size_t i = 0; i < batch->count; i++)
        runs[i] = &batch->slots[i]->result.run;
    PYRO_TRY(pyro_store_record_runs(crawl->store, runs, batch->count, results, error));
    for (size_t i = 0; i < batch->count; i++) {
        batch->kept[i] = results[i] == PYRO_RECORD_KEPT;
        tell_recorded(crawl, batch->slots[i], results[i]);
    }
    return PYRO_OK;
}

/* Of a batch that was refused, each run by itself: one that cannot be kept, whatever the reason, is a failure of its
 * own, as long as the store takes that. */
static enum pyro_status record_each(struct pyro_crawl *crawl, struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct batch one = {.slots = {batch->slots[i]}, .count = 1};
        struct pyro_crawl_result *result = &batch->slots[i]->result;
        enum pyro_status status = pyro_crawl_patiently(crawl, record, &one);
        if (status == PYRO_ERROR_OUTPUT) {
            result->step = "store";
            result->type = "unwritten";
            snprintf(result->message, sizeof(result->message), "%s", crawl->error->message);
            status = finish_broken(crawl, batch->slots[i]);
        }
        batch->kept[i] = one.kept[0];
        PYRO_TRY(status);
    }
    return PYRO_OK;
}

static enum pyro_status record_batch(struct pyro_crawl *crawl, struct batch *batch)
{
    if (batch->count == 0)
        return PYRO_OK;
    enum pyro_status status = pyro_crawl_patiently(crawl, record, batch);
    if (status == PYRO_ERROR_OUTPUT)
        status = record_each(crawl, batch);
    for (size_t i = 0; i < batch->count && status == PYRO_OK; i++)
        status = batch->kept[i] ? note_failures(crawl, batch->slots[i]) : PYRO_OK;
    for (size_t i = 0; i < batch->count; i++)
        pyro_crawl_empty(crawl, batch->slots[i]);
    batch->count = 0;
    return status == PYRO_OK ? pyro_crawl_read_verdicts(crawl) : status;
}

/* Whether to write now: a full batch, one that has waited, or one to which nothing is added. */
static bool is_time(struct pyro_crawl *crawl)
{
    size_t ready = 0, coming = 0;
    int64_t oldest_ms = INT64_MAX;
    pthread_mutex_lock(&crawl->lock);
    for (size_t i = 0; i < crawl->slot_count; i++) {
        const struct pyro_crawl_slot *slot = &crawl->slots[i];
        coming += slot->state == PYRO_SLOT_QUEUED || slot->state == PYRO_SLOT_WORKING;
        if (slot->state != PYRO_SLOT_READY)
            continue;
        ready++;
        oldest_ms = slot->ready_ms < oldest_ms ? slot->ready_ms : oldest_ms;
    }
    pthread_mutex_unlock(&crawl->lock);
    return ready > 0 && (ready >= PYRO_CRAWL_BATCH || coming == 0 ||
                         pyro_sub_saturating(pyro_clock_ms(), oldest_ms) >= PYRO_CRAWL_BATCH_MS);
}

enum pyro_status pyro_crawl_commit(struct pyro_crawl *crawl, bool all)
{
    struct batch batch = {.count = 0};
    enum pyro_status status = PYRO_OK;
    if (!all && !is_time(crawl))
        return PYRO_OK;
    for (size_t i = 0; i < crawl->slot_count && status == PYRO_OK; i++) {
        struct pyro_crawl_slot *slot = &crawl->slots[i];
        pthread_mutex_lock(&crawl->lock);
        bool ready = slot->state == PYRO_SLOT_READY;
        pthread_mutex_unlock(&crawl->lock);
        if (!ready)
            continue;
        if (slot->result.outcome == PYRO_CRAWL_MADE) {
            slot->result.run.lease = slot->lease.key ? &slot->lease : NULL;
            batch.slots[batch.count++] = slot;
            if (batch.count == PYRO_CRAWL_BATCH)
                status = record_batch(crawl, &batch);
            continue;
        }
        status = slot->result.outcome == PYRO_CRAWL_BROKEN     ? finish_broken(crawl, slot)
                 : slot->result.outcome == PYRO_CRAWL_UNWANTED ? finish_unwanted(crawl, slot)
                                                               : pyro_crawl_patiently(crawl, give_back, slot);
        pyro_crawl_empty(crawl, slot);
    }
    enum pyro_status last = record_batch(crawl, &batch);
    return status == PYRO_OK ? last : status;
}

/* ---- Leases ------------------------------------------------------------------------------------------------------ */

static enum pyro_status renew(struct pyro_crawl *crawl, void *context, struct pyro_error *error)
{
    struct pyro_crawl_slot *slot = context;
    bool held = false; /* where it is not, recording says so */
    return crawl->work->renew(crawl->work_state, &slot->lease, &held, error);
}

enum pyro_status pyro_crawl_renew(struct pyro_crawl *crawl)
{
    int64_t now_ms = pyro_clock_ms();
    for (size_t i = 0; i < crawl->slot_count; i++) {
        struct pyro_crawl_slot *slot = &crawl->slots[i];
        /* The calling thread fills and empties slots: what it reads here does not change meanwhile. */
        if (!slot->lease.key || slot->renew_ms > now_ms)
            continue;
        PYRO_TRY(pyro_crawl_patiently(crawl, renew, slot));
        slot->renew_ms = pyro_add_saturating(now_ms, PYRO_WORK_RENEW_MS);
    }
    return PYRO_OK;
}

void pyro_crawl_release_queued(struct pyro_crawl *crawl)
{
    struct pyro_crawl_slot *slot;
    while ((slot = pyro_crawl_take_queued(crawl))) {
        struct pyro_error error = {.size = sizeof(error)};
        pthread_mutex_lock(&crawl->store_lock);
        pyro_ignore_status(give_back(crawl, slot, &error), "the lease ends by itself");
        pthread_mutex_unlock(&crawl->store_lock);
        pyro_crawl_empty(crawl, slot);
    }
}
