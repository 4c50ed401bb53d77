#include "serve/catalog.h"

#include <pthread.h>
#include <stdlib.h>

struct open_history {
    size_t log;
    struct pyro_history *history;
    uint64_t used; /* when it was asked for last, counted in requests */
};

struct serve_catalog {
    pyro_inputs *inputs;
    struct pyro_arena arena;
    struct pyro_attempt *attempts;
    struct serve_app *apps;
    size_t attempt_count, app_count;
    uint64_t memory_bytes;
    pthread_mutex_t mutex; /* guards what follows */
    PYRO_VEC(struct open_history) open;
    uint64_t clock;
};

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
    const struct serve_app *x = a, *y = b;
    if (x->attempts->end_ms != y->attempts->end_ms)
        return x->attempts->end_ms > y->attempts->end_ms ? -1 : 1;
    return -pyro_slice_compare(x->id, y->id);
}

static bool group(struct serve_catalog *catalog)
{
    if (!catalog->attempts || catalog->attempt_count == 0)
        return true;
    qsort(catalog->attempts, catalog->attempt_count, sizeof(*catalog->attempts), compare_attempts);
    catalog->apps = pyro_arena_array(&catalog->arena, catalog->attempt_count + 1, sizeof(*catalog->apps));
    if (!catalog->apps)
        return false;
    for (size_t i = 0; i < catalog->attempt_count; i++) {
        struct pyro_attempt *attempt = &catalog->attempts[i];
        struct serve_app *last = catalog->app_count ? &catalog->apps[catalog->app_count - 1] : NULL;
        if (last && pyro_slice_eq(last->id, attempt->app_id)) {
            last->attempt_count++;
            continue;
        }
        catalog->apps[catalog->app_count++] = (struct serve_app){attempt->app_id, attempt->name, attempt, 1};
    }
    qsort(catalog->apps, catalog->app_count, sizeof(*catalog->apps), compare_apps);
    return true;
}

enum pyro_status pyro_serve_catalog_open(const char *folder, uint64_t memory_bytes, struct serve_catalog **ret,
                                         struct pyro_error *error)
{
    struct serve_catalog *catalog = pyro_allocate(NULL, sizeof(*catalog));
    if (!catalog)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left");
    *catalog = (struct serve_catalog){.memory_bytes = memory_bytes};
    pyro_arena_init(&catalog->arena, NULL);
    pthread_mutex_init(&catalog->mutex, NULL);
    enum pyro_status status = pyro_inputs_open(&folder, 1, NULL, &catalog->inputs, error);
    size_t count = status == PYRO_OK ? pyro_inputs_count(catalog->inputs) : 0;
    if (status == PYRO_OK) {
        catalog->attempts = pyro_arena_array(&catalog->arena, count + 1, sizeof(*catalog->attempts));
        if (!catalog->attempts)
            status = pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left");
    }
    for (size_t i = 0; status == PYRO_OK && i < count; i++) {
        struct pyro_error ignored;
        status = pyro_attempt_scan(catalog->inputs, i, &catalog->arena, &catalog->attempts[catalog->attempt_count],
                                   &ignored);
        catalog->attempt_count += status == PYRO_OK;
        if (status == PYRO_ERROR_INPUT)
            status = PYRO_OK;
    }
    if (status == PYRO_OK && !group(catalog))
        status = pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left");
    if (status != PYRO_OK) {
        pyro_serve_catalog_close(catalog);
        return status;
    }
    *ret = catalog;
    return PYRO_OK;
}

void pyro_serve_catalog_close(struct serve_catalog *catalog)
{
    if (!catalog)
        return;
    for (size_t i = 0; i < catalog->open.count; i++)
        pyro_history_release(catalog->open.items[i].history);
    pyro_vec_done(&catalog->open, NULL);
    pyro_inputs_close(catalog->inputs);
    pyro_arena_done(&catalog->arena);
    pthread_mutex_destroy(&catalog->mutex);
    pyro_release(NULL, catalog);
}

const struct serve_app *pyro_serve_catalog_apps(const struct serve_catalog *catalog, size_t *ret_count)
{
    *ret_count = catalog->app_count;
    return catalog->apps;
}

const struct serve_app *pyro_serve_catalog_find(const struct serve_catalog *catalog, struct pyro_slice id)
{
    for (size_t i = 0; i < catalog->app_count; i++)
        if (pyro_slice_eq(catalog->apps[i].id, id))
            return &catalog->apps[i];
    return NULL;
}

/* Closes those that were not asked for longest, until the rest fits; the newest stays. Whoever still reads one holds a
 * reference. */
static void evict(struct serve_catalog *catalog)
{
    for (;;) {
        uint64_t memory = 0;
        size_t oldest = 0;
        for (size_t i = 0; i < catalog->open.count; i++) {
            memory += catalog->open.items[i].history->memory;
            if (catalog->open.items[i].used < catalog->open.items[oldest].used)
                oldest = i;
        }
        if (memory <= catalog->memory_bytes || catalog->open.count < 2)
            return;
        pyro_history_release(catalog->open.items[oldest].history);
        catalog->open.items[oldest] = catalog->open.items[--catalog->open.count];
    }
}

static enum pyro_status open_log(struct serve_catalog *catalog, size_t log, struct pyro_history **ret,
                                 struct pyro_error *error)
{
    catalog->clock++;
    for (size_t i = 0; i < catalog->open.count; i++) {
        if (catalog->open.items[i].log == log) {
            catalog->open.items[i].used = catalog->clock;
            *ret = pyro_history_retain(catalog->open.items[i].history);
            return PYRO_OK;
        }
    }
    struct pyro_history *history = NULL;
    PYRO_TRY(pyro_history_load(catalog->inputs, log, &history, error));
    struct open_history *added = pyro_vec_push(&catalog->open, NULL);
    if (added) {
        *added = (struct open_history){log, pyro_history_retain(history), catalog->clock};
        evict(catalog);
    }
    *ret = history;
    return PYRO_OK;
}

enum pyro_status pyro_serve_catalog_history(struct serve_catalog *catalog, struct pyro_slice id,
                                            struct pyro_slice attempt, struct pyro_history **ret,
                                            struct pyro_error *error)
{
    const struct serve_app *app = pyro_serve_catalog_find(catalog, id);
    *ret = NULL;
    for (size_t i = 0; app && i < app->attempt_count; i++) {
        const struct pyro_attempt *one = &app->attempts[i];
        bool both = one->attempt_id.ptr && attempt.ptr, neither = !one->attempt_id.ptr && !attempt.ptr;
        if (!neither && !(both && pyro_slice_eq(one->attempt_id, attempt)))
            continue;
        pthread_mutex_lock(&catalog->mutex);
        enum pyro_status status = open_log(catalog, one->log, ret, error);
        pthread_mutex_unlock(&catalog->mutex);
        return status;
    }
    return PYRO_OK;
}
