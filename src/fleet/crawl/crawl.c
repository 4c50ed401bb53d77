/* The crawl as a whole: its settings, its loop, and its end. */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/memory/allocator.h"
#include "base/options.h"
#include "fleet/crawl/crawling.h"

#include "text/escape.h"

enum { STORE_TRIES = 3, STORE_PAUSE_MS = 1000 };
enum { MOST_TAKEN_BACK = 3 }; /* of one pass: a store whose answers are all lost must not prevent its end */

const char *pyro_crawl_event_name(unsigned kind)
{
    static const char *const names[] = {"listed",      "stored",  "skipped", "failed",  "late",
                                        "unreachable", "waiting", "passed",  "stopping"};
    return kind < sizeof(names) / sizeof(*names) ? names[kind] : NULL;
}

/* Without secrets and control characters: much of it is what servers and logs say. */
static const char *shown(struct pyro_crawl *crawl, const char *text)
{
    struct pyro_strbuf found, plain;
    pyro_strbuf_init(&found, crawl->options->allocator);
    pyro_strbuf_init(&plain, crawl->options->allocator);
    pyro_add_plain(&plain, pyro_secrets_text(&crawl->secrets, pyro_slice_from(text), &found));
    bool failed = found.failed || plain.failed;
    struct pyro_slice kept = failed ? PYRO_SLICE_NULL : pyro_arena_copy(&crawl->told, pyro_strbuf_slice(&plain));
    pyro_strbuf_done(&found);
    pyro_strbuf_done(&plain);
    return kept.ptr ? kept.ptr : PYRO_REDACTED;
}

void pyro_crawl_tell(struct pyro_crawl *crawl, struct pyro_crawl_event *event)
{
    const char **const texts[] = {&event->source, &event->log, &event->application, &event->attempt, &event->message};
    pyro_arena_reset(&crawl->told);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        *texts[i] = *texts[i] ? shown(crawl, *texts[i]) : NULL;
    event->size = sizeof(*event);
    event->stored = crawl->totals.stored;
    event->skipped = crawl->totals.skipped;
    event->failed = crawl->totals.failed;
    event->late = crawl->totals.late;
    if (crawl->wanted->event)
        crawl->wanted->event(crawl->wanted->event_context, event);
}

static void pause_ms(int64_t ms)
{
    const struct timespec moment = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&moment, NULL);
}

/* The store itself waits for others that write; what lasts longer than that may still pass. */
enum pyro_status pyro_crawl_patiently(struct pyro_crawl *crawl, pyro_crawl_call *call, void *context)
{
    for (int tried = 1;; tried++) {
        pthread_mutex_lock(&crawl->store_lock);
        enum pyro_status status = call(crawl, context, crawl->error);
        pthread_mutex_unlock(&crawl->store_lock);
        /* A store that cannot be read is not a source that cannot. */
        status = status == PYRO_ERROR_INPUT ? PYRO_ERROR_OUTPUT : status;
        if (status != PYRO_ERROR_OUTPUT || tried >= STORE_TRIES)
            return status;
        struct pyro_crawl_event event = {.kind = PYRO_CRAWL_WAITING, .step = "store", .message = crawl->error->message};
        pyro_crawl_tell(crawl, &event);
        pause_ms((int64_t)STORE_PAUSE_MS * tried);
    }
}

static enum pyro_status read_verdicts(struct pyro_crawl *crawl, void *context, struct pyro_error *error)
{
    struct pyro_verdicts *verdicts = context;
    pyro_verdicts_done(verdicts); /* of a try before this one */
    return pyro_verdicts_read(crawl->store, verdicts, error);
}

enum pyro_status pyro_crawl_read_verdicts(struct pyro_crawl *crawl)
{
    struct pyro_verdicts fresh = {0}, old;
    enum pyro_status status = pyro_crawl_patiently(crawl, read_verdicts, &fresh);
    if (status == PYRO_OK) {
        pthread_rwlock_wrlock(&crawl->verdicts_lock);
        old = crawl->verdicts;
        crawl->verdicts = fresh;
        pthread_rwlock_unlock(&crawl->verdicts_lock);
        fresh = old;
    }
    pyro_verdicts_done(&fresh);
    return status;
}

/* ---- The loop ---------------------------------------------------------------------------------------------------- */

static void wait_for_news(struct pyro_crawl *crawl)
{
    pthread_mutex_lock(&crawl->lock);
    pyro_condition_wait(&crawl->done, &crawl->lock, pyro_clock_ms() + PYRO_CRAWL_LOOK_MS);
    pthread_mutex_unlock(&crawl->lock);
}

static void look_whether_to_stop(struct pyro_crawl *crawl)
{
    const struct pyro_progress progress = {.size = sizeof(progress), .path = ""};
    const struct pyro_options *options = crawl->options;
    if (!options->progress || options->progress(options->progress_context, &progress) == 0 || crawl->stopping)
        return;
    struct pyro_crawl_event event = {.kind = PYRO_CRAWL_STOPPING};
    crawl->stopping = true;
    crawl->stop_by_ms = pyro_clock_ms() + PYRO_CRAWL_STOP_MS;
    event.count = (int64_t)pyro_crawl_count(crawl, PYRO_SLOT_WORKING);
    pyro_crawl_tell(crawl, &event);
    pyro_crawl_release_queued(crawl);
}

/* Whether everything that was begun is done, or has been waited for long enough. */
static bool is_stopped(struct pyro_crawl *crawl)
{
    bool working = pyro_crawl_count(crawl, PYRO_SLOT_WORKING) > 0;
    if (working && pyro_clock_ms() >= crawl->stop_by_ms) {
        pthread_mutex_lock(&crawl->lock);
        crawl->abandoned = true;
        pthread_mutex_unlock(&crawl->lock);
    }
    return !working;
}

static enum pyro_status end_pass(struct pyro_crawl *crawl, bool *ret_ended)
{
    struct pyro_crawl_event event = {.kind = PYRO_CRAWL_PASSED};
    PYRO_TRY(pyro_crawl_count_held(crawl, &event.count));
    if (event.count > 0)
        event.message =
            "another crawler has these logs in hand, or died with them: then they are free within 5 minutes";
    pyro_crawl_tell(crawl, &event);
    *ret_ended = true;
    if (!crawl->settings.once || !crawl->unreachable)
        return PYRO_OK;
    pyro_error_copy(crawl->error, &crawl->unreachable_why);
    return PYRO_ERROR_INPUT;
}

/* One round; *ret_ended: the crawl is over. */
static enum pyro_status go_round(struct pyro_crawl *crawl, bool *ret_passing, bool *ret_ended)
{
    bool more = false;
    wait_for_news(crawl);
    look_whether_to_stop(crawl);
    PYRO_TRY(pyro_crawl_take_lists(crawl));
    PYRO_TRY(pyro_crawl_take_clusters(crawl));
    PYRO_TRY(pyro_crawl_commit(crawl, crawl->stopping));
    PYRO_TRY(pyro_crawl_renew(crawl));
    if (crawl->stopping) {
        if (!is_stopped(crawl))
            return PYRO_OK;
        *ret_ended = true;
        PYRO_TRY(pyro_crawl_commit(crawl, true));
        return pyro_error_set(crawl->error, PYRO_ERROR_CANCELLED, "the crawl was stopped");
    }
    PYRO_TRY(pyro_crawl_claim(crawl, &more));
    bool busy = more || crawl->clusters || pyro_crawl_is_listing(crawl) ||
                pyro_crawl_count(crawl, PYRO_SLOT_FREE) < crawl->slot_count;
    if (busy)
        return PYRO_OK;
    if (*ret_passing) {
        size_t again = 0;
        if (crawl->taken_back < MOST_TAKEN_BACK)
            PYRO_TRY(pyro_crawl_take_back(crawl, &again));
        if (again > 0) {
            crawl->taken_back++;
            return PYRO_OK;
        }
        *ret_passing = false;
        if (crawl->settings.once)
            return end_pass(crawl, ret_ended);
        bool unused;
        PYRO_TRY(end_pass(crawl, &unused));
    }
    if (pyro_clock_ms() < crawl->next_pass_ms)
        return PYRO_OK;
    *ret_passing = true;
    crawl->taken_back = 0;
    return pyro_crawl_begin_pass(crawl);
}

static enum pyro_status loop(struct pyro_crawl *crawl)
{
    bool passing = true, ended = false;
    enum pyro_status status = pyro_crawl_prepare(crawl);
    if (status == PYRO_OK)
        status = pyro_crawl_begin_pass(crawl);
    while (status == PYRO_OK && !ended)
        status = go_round(crawl, &passing, &ended);
    return status;
}

/* ---- Beginning and end ------------------------------------------------------------------------------------------- */

static void make_owner(struct pyro_crawl *crawl)
{
    char host[100] = "";
    uint64_t number = 0;
    gethostname(host, sizeof(host) - 1);
    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
        number = (uint64_t)pyro_clock_ms();
    snprintf(crawl->owner, sizeof(crawl->owner), "%s:%ld:%016llx", host, (long)getpid(), (unsigned long long)number);
}

static enum pyro_status take_settings(struct pyro_crawl *crawl)
{
    struct pyro_crawl_settings *settings = &crawl->settings;
    const struct pyro_crawl_options *wanted = crawl->wanted;
    struct pyro_crawl_source *source;
    pyro_crawl_settings_init(settings, crawl->options->allocator);
    if (wanted->config)
        PYRO_TRY(pyro_crawl_settings_load(settings, wanted->config, crawl->error));
    for (size_t i = 0; i < wanted->source_count; i++)
        PYRO_TRY(pyro_crawl_settings_add(settings, wanted->sources[i], &source, crawl->error));
    for (size_t i = 0; wanted->rate > 0 && i < settings->sources.count; i++)
        settings->sources.items[i].rate = wanted->rate;
    settings->min_end_ms = wanted->min_end_ms > 0 ? wanted->min_end_ms : settings->min_end_ms;
    settings->store = wanted->store ? wanted->store : settings->store;
    settings->jobs = wanted->jobs ? wanted->jobs : settings->jobs ? settings->jobs : crawl->options->threads;
    settings->every_ms = wanted->every_ms ? wanted->every_ms : settings->every_ms;
    settings->timeout_s = wanted->timeout_s;
    settings->max_bytes = wanted->max_bytes;
    settings->once = wanted->once != 0;
    settings->retry_errors = wanted->retry_errors != 0;
    settings->recompute = wanted->recompute != 0;
    settings->unlimited = wanted->unlimited != 0;
    settings->redaction = wanted->redaction;
    return pyro_crawl_settings_finish(settings, crawl->error);
}

static enum pyro_status open_store(struct pyro_crawl *crawl)
{
    const struct pyro_store_options how = {.size = sizeof(how), .redaction = crawl->settings.redaction};
    enum pyro_status status = pyro_store_open(crawl->settings.store, &how, crawl->options, &crawl->store, crawl->error);
    if (status != PYRO_OK)
        return status == PYRO_ERROR_INPUT ? PYRO_ERROR_OUTPUT : status;
    crawl->work = pyro_store_work(crawl->store, &crawl->work_state);
    return PYRO_OK;
}

static enum pyro_status prepare(struct pyro_crawl *crawl)
{
    PYRO_TRY(take_settings(crawl));
    PYRO_TRY(open_store(crawl));
    struct pyro_crawl_settings *settings = &crawl->settings;
    const struct pyro_allocator *allocator = settings->allocator;
    crawl->slot_count = 2 * (size_t)settings->jobs + PYRO_CRAWL_CLAIM + 2 * (size_t)PYRO_CRAWL_BATCH;
    crawl->slots = pyro_allocate(allocator, crawl->slot_count * sizeof(*crawl->slots));
    crawl->workers = pyro_allocate(allocator, settings->jobs * sizeof(*crawl->workers));
    crawl->watches = pyro_allocate(allocator, (settings->sources.count + 1) * sizeof(*crawl->watches));
    if (!crawl->slots || !crawl->workers || !crawl->watches)
        return pyro_no_memory(crawl->error);
    memset(crawl->workers, 0, settings->jobs * sizeof(*crawl->workers));
    for (size_t i = 0; i < crawl->slot_count; i++)
        crawl->slots[i] = (struct pyro_crawl_slot){.source = SIZE_MAX, .result.outcome = PYRO_CRAWL_BROKEN};
    for (size_t i = 0; i < settings->sources.count; i++) {
        crawl->watches[i] = (struct pyro_crawl_watch){.source = &settings->sources.items[i]};
        pyro_map_init(&crawl->watches[i].memory.known, allocator);
    }
    crawl->watch_count = settings->sources.count;
    if (!pyro_crawl_start_workers(crawl))
        return pyro_no_memory(crawl->error);
    return PYRO_OK;
}

static void finish(struct pyro_crawl *crawl)
{
    const struct pyro_allocator *allocator = crawl->settings.allocator;
    /* Whatever the reason for the end: what is ready was recorded, or its lease goes to another. */
    if (crawl->store && crawl->slots)
        pyro_crawl_release_queued(crawl);
    pthread_mutex_lock(&crawl->lock);
    crawl->abandoned = true;
    pthread_mutex_unlock(&crawl->lock);
    pyro_crawl_end_workers(crawl);
    pyro_crawl_end_lists(crawl);
    pyro_crawl_end_clusters(crawl);
    for (size_t i = 0; crawl->slots && i < crawl->slot_count; i++)
        pyro_crawl_empty(crawl, &crawl->slots[i]);
    pyro_release(allocator, crawl->slots);
    pyro_release(allocator, crawl->workers);
    pyro_release(allocator, crawl->watches);
    pyro_vec_done(&crawl->again, allocator);
    pyro_arena_done(&crawl->again_arena);
    pyro_arena_done(&crawl->told);
    pyro_secrets_done(&crawl->secrets);
    pyro_verdicts_done(&crawl->verdicts);
    pyro_store_close(crawl->store);
    pyro_crawl_settings_done(&crawl->settings);
    pthread_cond_destroy(&crawl->queued);
    pthread_cond_destroy(&crawl->done);
    pthread_mutex_destroy(&crawl->lock);
    pthread_mutex_destroy(&crawl->store_lock);
    pthread_rwlock_destroy(&crawl->verdicts_lock);
}

enum pyro_status pyro_crawl(const struct pyro_crawl_options *wanted, const struct pyro_options *options,
                            struct pyro_error *error)
{
    struct pyro_options own;
    struct pyro_error own_error = {.size = sizeof(own_error)};
    struct pyro_crawl_options how = {.size = sizeof(how)};
    pyro_error_clear(error);
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    PYRO_TRY(PYRO_TAKE(&how, wanted, error));
    if (!wanted || (how.source_count && !how.sources))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "pyro_crawl(): the options or the sources are missing");
    struct pyro_crawl crawl = {
        .wanted = &how, .options = &own, .error = pyro_error_is_usable(error) ? error : &own_error};
    make_owner(&crawl);
    pthread_mutex_init(&crawl.lock, NULL);
    pthread_mutex_init(&crawl.store_lock, NULL);
    pthread_rwlock_init(&crawl.verdicts_lock, NULL);
    pthread_cond_init(&crawl.queued, NULL);
    pyro_condition_init(&crawl.done);
    pyro_arena_init(&crawl.again_arena, own.allocator);
    pyro_arena_init(&crawl.told, own.allocator);
    crawl.secrets.how = how.redaction;
    enum pyro_status status = prepare(&crawl);
    if (status == PYRO_OK)
        status = loop(&crawl);
    finish(&crawl);
    return status;
}
