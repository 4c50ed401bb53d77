/* The catalog: a thread that updates at the folders, the list that it found last, and those who wait for a change. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory/allocator.h"
#include "base/numbers/saturate.h"
#include "base/threads/thread.h"
#include "catalog/application_list.h"
#include "catalog/found_artefacts.h"
#include "catalog/found_files.h"
#include "catalog/log.h"
#include "catalog/open.h"
#include "catalog/stores.h"
#include "catalog/update.h"
#include "store/store.h"

enum { AGAIN_MS = 1000 };

/* ---- The updating thread ---- */

static bool is_stopping(void *context)
{
    struct pyro_catalog *catalog = context;
    return atomic_load_explicit(&catalog->stop, memory_order_relaxed);
}

/* Takes over `list`. */
static void publish(void *context, struct pyro_catalog_list *list)
{
    struct pyro_catalog *catalog = context;
    pthread_mutex_lock(&catalog->mutex);
    pyro_catalog_list_set_generation(list, ++catalog->generation);
    const struct pyro_catalog_list *old = catalog->list;
    catalog->list = list;
    pyro_catalog_sweep(catalog);
    pthread_cond_broadcast(&catalog->listed);
    pthread_mutex_unlock(&catalog->mutex);
    pyro_catalog_list_release(old);
}

/* Brings the index up to `now`. */
static void keep(struct pyro_catalog *catalog, const struct pyro_catalog_list *now)
{
    for (size_t i = 0; catalog->index && catalog->kept && i < catalog->options.folder_count; i++)
        pyro_catalog_index_write(catalog->index, catalog->folders[i], catalog->kept, now);
    pyro_catalog_list_release(catalog->kept);
    catalog->kept = pyro_catalog_list_retain(now);
}

static void publish_partial(void *context, struct pyro_catalog_list *list)
{
    struct pyro_catalog *catalog = context;
    keep(catalog, list);
    publish(catalog, list);
}

/* Forgets those that an earlier start took for logs of a folder like others, and read without a limit. */
static void mark_uploads(pyro_catalog_logs *logs, const char *uploads)
{
    for (size_t i = logs->count; i-- > 0;) {
        struct pyro_catalog_log *log = logs->items[i];
        log->uploaded = pyro_catalog_is_uploaded(log, uploads);
        if (!log->uploaded || log->log.part_count == 0 || log->log.parts[0].most_bytes)
            continue;
        logs->items[i] = logs->items[--logs->count];
        pyro_catalog_log_release(log);
    }
}

/* What an earlier start found. It is not shown before it was compared with the folders. */
static const struct pyro_catalog_list *recall(struct pyro_catalog *catalog)
{
    pyro_catalog_logs logs = {0};
    bool ok = catalog->index != NULL;
    for (size_t i = 0; ok && i < catalog->options.folder_count; i++)
        ok = pyro_catalog_index_read(catalog->index, catalog->folders[i], &catalog->options, &logs,
                                     &catalog->identities);
    mark_uploads(&logs, catalog->options.uploads);
    const struct pyro_catalog_list *list = ok ? pyro_catalog_list_new(&logs, NULL) : NULL;
    pyro_catalog_logs_done(&logs);
    return list;
}

/* The list to compare with; the first time, the one to show when nothing has changed. */
static const struct pyro_catalog_list *list_before(struct pyro_catalog *catalog, bool first)
{
    const struct pyro_catalog_list *list = first ? recall(catalog) : NULL;
    if (!list)
        list = pyro_catalog_list_retain(catalog->list); /* only this thread changes it */
    if (first)
        catalog->kept = pyro_catalog_list_retain(list);
    return list;
}

static void update(struct pyro_catalog *catalog, bool first)
{
    struct pyro_catalog_update one = {
        .folders = (const char *const *)catalog->folders,
        .folder_count = catalog->options.folder_count,
        .uploads = catalog->options.uploads,
        .costs = &catalog->options.costs,
        .unlimited = catalog->options.unlimited,
        .follow_links = catalog->options.follow_links,
        .stores = catalog->stores.items,
        .store_count = catalog->stores.count,
        .threads = catalog->options.work.threads,
        .redaction = catalog->options.load.redaction,
        .stopping = is_stopping,
        .partial = first ? publish_partial : NULL,
        .context = catalog,
        .identities = &catalog->identities,
        .artefacts = &catalog->artefacts,
    };
    struct pyro_catalog_list *list = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    const struct pyro_catalog_list *before = list_before(catalog, first);
    pthread_mutex_lock(&catalog->mutex);
    uint64_t number = ++catalog->updates_begun;
    catalog->wanted = false;
    pthread_mutex_unlock(&catalog->mutex);
    one.before = before;
    for (size_t i = 0; i < catalog->stores.count; i++)
        pyro_catalog_store_update(catalog->stores.items[i], &catalog->identities);
    /* Without memory the list stays as it is until the next update. */
    enum pyro_status status = pyro_catalog_update(&one, &list, &error);
    if (status == PYRO_OK && !list && first && !is_stopping(catalog))
        list = pyro_catalog_list_retain(before);
    if (list) {
        keep(catalog, list);
        publish(catalog, list);
    }
    pyro_catalog_list_release(before);
    pthread_mutex_lock(&catalog->mutex);
    catalog->updates_ended = number;
    catalog->update_failed = status != PYRO_OK;
    catalog->first_done = true;
    pthread_cond_broadcast(&catalog->listed);
    pthread_mutex_unlock(&catalog->mutex);
}

static void *run(void *context)
{
    struct pyro_catalog *catalog = context;
    for (bool first = true; !is_stopping(catalog); first = false) {
        update(catalog, first);
        /* What could not be looked at for now is looked at soon. */
        bool again = catalog->update_failed || pyro_catalog_list_is_passing(catalog->list);
        unsigned wait_ms = catalog->options.update_ms;
        int64_t when = pyro_clock_ms() + (again && wait_ms > AGAIN_MS ? AGAIN_MS : wait_ms);
        pthread_mutex_lock(&catalog->mutex);
        while (!is_stopping(catalog) && !catalog->wanted &&
               pyro_condition_wait(&catalog->listed, &catalog->mutex, when))
            ;
        pthread_mutex_unlock(&catalog->mutex);
    }
    return NULL;
}

/* ---- Opening and closing ---- */

static size_t without_slash(const char *folder)
{
    size_t len = strlen(folder);
    while (len > 1 && folder[len - 1] == '/')
        len--;
    return len;
}

/* Opens the stores among the folders, so that a failure is reported at the start. */
static enum pyro_status open_stores(struct pyro_catalog *catalog, const struct pyro_catalog_options *options,
                                    struct pyro_error *error)
{
    for (size_t i = 0; i < options->folder_count; i++) {
        if (!pyro_store_is_url(options->folders[i]))
            continue;
        struct pyro_catalog_store *store = NULL;
        PYRO_TRY(pyro_catalog_store_open(options->folders[i], &store, error));
        struct pyro_catalog_store **slot = pyro_vec_push(&catalog->stores, NULL);
        if (!slot) {
            pyro_catalog_store_close(store);
            return pyro_no_memory(error);
        }
        *slot = store;
    }
    return PYRO_OK;
}

static void close_stores(struct pyro_catalog *catalog)
{
    for (size_t i = 0; i < catalog->stores.count; i++)
        pyro_catalog_store_close(catalog->stores.items[i]);
    pyro_vec_done(&catalog->stores, NULL);
}

/* The folders and then the one of uploads, each once. */
static bool copy_folders(struct pyro_catalog *catalog, const struct pyro_catalog_options *options)
{
    catalog->options.folder_count = 0;
    catalog->folders = pyro_allocate(NULL, (options->folder_count + 1) * sizeof(*catalog->folders));
    if (!catalog->folders)
        return false;
    for (size_t i = 0; i < options->folder_count + (options->uploads != NULL); i++) {
        const char *text = i < options->folder_count ? options->folders[i] : options->uploads;
        if (i < options->folder_count && pyro_store_is_url(text))
            continue;
        size_t len = without_slash(text), same = 0;
        while (same < catalog->options.folder_count &&
               !(strncmp(catalog->folders[same], text, len) == 0 && catalog->folders[same][len] == '\0'))
            same++;
        if (same < catalog->options.folder_count)
            continue;
        char *copy = strndup(text, len);
        if (!copy)
            return false;
        catalog->folders[catalog->options.folder_count++] = copy;
    }
    return true;
}

static bool copy_options(struct pyro_catalog *catalog, const struct pyro_catalog_options *options)
{
    catalog->options = *options;
    catalog->options.uploads = catalog->options.cache = NULL;
    bool ok = copy_folders(catalog, options);
    catalog->options.folders = (const char *const *)catalog->folders;
    if (options->uploads)
        ok = ok && (catalog->options.uploads = strndup(options->uploads, without_slash(options->uploads))) != NULL;
    if (options->cache)
        ok = ok && (catalog->options.cache = strdup(options->cache)) != NULL;
    catalog->options.load.size = sizeof(catalog->options.load);
    catalog->options.rules.size = sizeof(catalog->options.rules);
    catalog->options.work.size = sizeof(catalog->options.work);
    if (catalog->options.work.threads == 0) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        catalog->options.work.threads = cores > 2 ? (unsigned)cores : 2;
    }
    return ok;
}

static void update_soon(void *context)
{
    pyro_catalog_refresh(context);
}

/* Uploads are looked at when they come. */
static void start_watching(struct pyro_catalog *catalog)
{
    size_t count = catalog->options.folder_count;
    const char *uploads = catalog->options.uploads;
    if (count && uploads && strcmp(catalog->folders[count - 1], uploads) == 0)
        count--;
    const struct pyro_catalog_watch_options options = {.folders = (const char *const *)catalog->folders,
                                                       .folder_count = count,
                                                       .changed = update_soon,
                                                       .context = catalog};
    if (count)
        catalog->watch = pyro_catalog_watch_open(&options);
}

enum pyro_status pyro_catalog_open(const struct pyro_catalog_options *options, struct pyro_catalog **ret,
                                   struct pyro_error *error)
{
    pyro_catalog_logs none = {0};
    struct pyro_catalog *catalog = pyro_allocate(NULL, sizeof(*catalog));
    if (!catalog)
        return pyro_no_memory(error);
    memset(catalog, 0, sizeof(*catalog));
    catalog->freshness = 1;
    pthread_mutex_init(&catalog->mutex, NULL);
    pyro_condition_init(&catalog->listed);
    pyro_condition_init(&catalog->loaded);
    catalog->list = pyro_catalog_list_new(&none, NULL);
    enum pyro_status status = PYRO_OK;
    if (!copy_options(catalog, options) || !catalog->list)
        status = pyro_no_memory(error);
    else
        status = open_stores(catalog, options, error);
    if (status == PYRO_OK && options->cache)
        status = pyro_catalog_index_open(options->cache, options->load.redaction, &catalog->index, error);
    if (status == PYRO_OK && options->watch)
        start_watching(catalog); /* before the first update, so that nothing is missed between */
    if (status == PYRO_OK && !pyro_thread_start(&catalog->updater, run, catalog))
        status = pyro_error_set(error, PYRO_ERROR_MEMORY, "cannot start a thread to watch the folders");
    if (status != PYRO_OK) {
        pyro_catalog_close(catalog);
        return status;
    }
    *ret = catalog;
    return PYRO_OK;
}

void pyro_catalog_stop(struct pyro_catalog *catalog)
{
    atomic_store(&catalog->stop, true);
    pthread_mutex_lock(&catalog->mutex);
    pthread_cond_broadcast(&catalog->listed);
    pthread_cond_broadcast(&catalog->loaded);
    pthread_mutex_unlock(&catalog->mutex);
}

void pyro_catalog_close(struct pyro_catalog *catalog)
{
    if (!catalog)
        return;
    pyro_catalog_stop(catalog);
    pyro_catalog_watch_close(catalog->watch);
    pyro_thread_join(&catalog->updater);
    pyro_catalog_close_all(catalog);
    pyro_catalog_list_release(catalog->list);
    pyro_catalog_list_release(catalog->kept);
    pyro_catalog_artefacts_release(catalog->artefacts);
    pyro_catalog_index_close(catalog->index);
    close_stores(catalog);
    for (size_t i = 0; i < catalog->options.folder_count && catalog->folders; i++)
        free(catalog->folders[i]);
    pyro_release(NULL, catalog->folders);
    free(pyro_unconst(catalog->options.uploads));
    free(pyro_unconst(catalog->options.cache));
    pthread_cond_destroy(&catalog->listed);
    pthread_cond_destroy(&catalog->loaded);
    pthread_mutex_destroy(&catalog->mutex);
    pyro_release(NULL, catalog);
}

/* ---- Asking ---- */

const char *pyro_catalog_store_url(const struct pyro_catalog *catalog, size_t index)
{
    /* Neither the list of stores nor their URLs change while the catalog is open. */
    return index < catalog->stores.count ? catalog->stores.items[index]->url : NULL;
}

const struct pyro_catalog_list *pyro_catalog_list(struct pyro_catalog *catalog)
{
    pthread_mutex_lock(&catalog->mutex);
    while (!catalog->first_done && !is_stopping(catalog))
        pthread_cond_wait(&catalog->listed, &catalog->mutex);
    const struct pyro_catalog_list *list = pyro_catalog_list_retain(catalog->list);
    pthread_mutex_unlock(&catalog->mutex);
    return list;
}

uint64_t pyro_catalog_wait(struct pyro_catalog *catalog, uint64_t since, unsigned timeout_ms)
{
    int64_t when = pyro_add_saturating(pyro_clock_ms(), timeout_ms);
    pthread_mutex_lock(&catalog->mutex);
    while (catalog->generation == since && !is_stopping(catalog) &&
           pyro_condition_wait(&catalog->listed, &catalog->mutex, when))
        ;
    uint64_t generation = catalog->generation;
    pthread_mutex_unlock(&catalog->mutex);
    return generation;
}

enum pyro_redaction pyro_catalog_redaction(const struct pyro_catalog *catalog)
{
    return catalog->options.load.redaction;
}

uint64_t pyro_catalog_upload_cpu(const struct pyro_catalog *catalog)
{
    return catalog->options.costs.cpu_us;
}

bool pyro_catalog_stopping(struct pyro_catalog *catalog)
{
    return is_stopping(catalog);
}

bool pyro_catalog_refresh(struct pyro_catalog *catalog)
{
    pthread_mutex_lock(&catalog->mutex);
    uint64_t number = catalog->updates_begun + 1; /* the one under way may have passed by already */
    catalog->wanted = true;
    pthread_cond_broadcast(&catalog->listed);
    while (catalog->updates_ended < number && !is_stopping(catalog))
        pthread_cond_wait(&catalog->listed, &catalog->mutex);
    bool good = !catalog->update_failed;
    pthread_mutex_unlock(&catalog->mutex);
    return good;
}
