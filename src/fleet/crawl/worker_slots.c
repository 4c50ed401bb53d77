/* Slots and the workers that take them. */
#include "fleet/crawl/crawling.h"

#include "base/memory/allocator.h"

/* ---- Workers ----------------------------------------------------------------------------------------------------- */

static int go_on(void *context, const struct pyro_progress *progress)
{
    struct pyro_crawl *crawl = context;
    (void)progress;
    pthread_mutex_lock(&crawl->lock);
    bool abandoned = crawl->abandoned;
    pthread_mutex_unlock(&crawl->lock);
    return abandoned;
}

static enum pyro_status judge(void *context, pyro_diagnosis *diagnosis, struct pyro_error *error)
{
    struct pyro_crawl *crawl = context;
    pthread_rwlock_rdlock(&crawl->verdicts_lock);
    enum pyro_status status = pyro_verdicts_judge(&crawl->verdicts, diagnosis, error);
    pthread_rwlock_unlock(&crawl->verdicts_lock);
    return status;
}

static struct pyro_crawl_slot *oldest(struct pyro_crawl *crawl)
{
    struct pyro_crawl_slot *found = NULL;
    for (size_t i = 0; i < crawl->slot_count; i++) {
        struct pyro_crawl_slot *slot = &crawl->slots[i];
        if (slot->state == PYRO_SLOT_QUEUED && (!found || slot->order < found->order))
            found = slot;
    }
    return found;
}

static void *work(void *context)
{
    struct pyro_crawl *crawl = context;
    pthread_mutex_lock(&crawl->lock);
    for (;;) {
        struct pyro_crawl_slot *slot = crawl->ending ? NULL : oldest(crawl);
        if (crawl->ending)
            break;
        if (!slot) {
            pthread_cond_wait(&crawl->queued, &crawl->lock);
            continue;
        }
        slot->state = PYRO_SLOT_WORKING;
        pthread_mutex_unlock(&crawl->lock);
        const struct pyro_crawl_reading reading = {
            .settings = &crawl->settings,
            .source = slot->source != SIZE_MAX ? crawl->watches[slot->source].source : NULL,
            .history_version = slot->version,
            .key = slot->key,
            .app_id = slot->app_id,
            .attempt = slot->attempt,
            .progress = go_on,
            .context = crawl,
            .judge = judge,
        };
        pyro_crawl_read(&reading, &slot->result);
        pthread_mutex_lock(&crawl->lock);
        slot->state = PYRO_SLOT_READY;
        slot->ready_ms = pyro_clock_ms();
        pthread_cond_signal(&crawl->done);
    }
    pthread_mutex_unlock(&crawl->lock);
    return NULL;
}

bool pyro_crawl_start_workers(struct pyro_crawl *crawl)
{
    unsigned started = 0;
    for (unsigned i = 0; i < crawl->settings.jobs; i++)
        started += pyro_thread_start(&crawl->workers[i], work, crawl);
    return started > 0;
}

void pyro_crawl_end_workers(struct pyro_crawl *crawl)
{
    pthread_mutex_lock(&crawl->lock);
    crawl->ending = true;
    pthread_cond_broadcast(&crawl->queued);
    pthread_mutex_unlock(&crawl->lock);
    for (unsigned i = 0; crawl->workers && i < crawl->settings.jobs; i++)
        pyro_thread_join(&crawl->workers[i]);
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

size_t pyro_crawl_count(struct pyro_crawl *crawl, enum pyro_slot_state state)
{
    size_t count = 0;
    pthread_mutex_lock(&crawl->lock);
    for (size_t i = 0; i < crawl->slot_count; i++)
        count += crawl->slots[i].state == state;
    pthread_mutex_unlock(&crawl->lock);
    return count;
}

/* Only the calling thread frees slots and fills them, so that nothing of a free one needs the lock. */
struct pyro_crawl_slot *pyro_crawl_free_slot(struct pyro_crawl *crawl)
{
    struct pyro_crawl_slot *found = NULL;
    pthread_mutex_lock(&crawl->lock);
    for (size_t i = 0; i < crawl->slot_count && !found; i++)
        if (crawl->slots[i].state == PYRO_SLOT_FREE)
            found = &crawl->slots[i];
    pthread_mutex_unlock(&crawl->lock);
    return found;
}

void pyro_crawl_enqueue(struct pyro_crawl *crawl, struct pyro_crawl_slot *slot)
{
    slot->order = crawl->next_order++;
    slot->renew_ms = pyro_clock_ms() + PYRO_WORK_RENEW_MS;
    pthread_mutex_lock(&crawl->lock);
    slot->state = PYRO_SLOT_QUEUED;
    pthread_cond_signal(&crawl->queued);
    pthread_mutex_unlock(&crawl->lock);
}

struct pyro_crawl_slot *pyro_crawl_take_queued(struct pyro_crawl *crawl)
{
    pthread_mutex_lock(&crawl->lock);
    struct pyro_crawl_slot *slot = oldest(crawl);
    if (slot)
        slot->state = PYRO_SLOT_WORKING;
    pthread_mutex_unlock(&crawl->lock);
    return slot;
}

void pyro_crawl_empty(struct pyro_crawl *crawl, struct pyro_crawl_slot *slot)
{
    pyro_crawl_result_done(&slot->result);
    pyro_arena_done(&slot->arena);
    pthread_mutex_lock(&crawl->lock);
    *slot = (struct pyro_crawl_slot){.source = SIZE_MAX, .result.outcome = PYRO_CRAWL_BROKEN};
    pthread_mutex_unlock(&crawl->lock);
}
