/* Numbers of clusters over time: one row for each number in each pass. */
#include "fleet/crawl/crawling.h"

struct pyro_crawl_clusters {
    struct pyro_crawl *crawl;
    struct pyro_thread thread;
    struct pyro_arena arena;
    PYRO_VEC(struct pyro_cluster_row) rows;
    PYRO_VEC(struct pyro_enrich_failure) failures; /* `type` is the service here */
    bool done;                                     /* the crawl's lock protects it */
    bool no_memory;
};

static void take(void *context, const struct pyro_cluster_row *row)
{
    struct pyro_crawl_clusters *clusters = context;
    struct pyro_cluster_row *added = pyro_vec_push(&clusters->rows, clusters->arena.allocator);
    if (added)
        *added = *row;
    clusters->no_memory |= !added;
}

static void fail(void *context, const struct pyro_enricher *enricher, const char *message)
{
    struct pyro_crawl_clusters *clusters = context;
    struct pyro_enrich_failure *added = pyro_vec_push(&clusters->failures, clusters->arena.allocator);
    if (added)
        *added = (struct pyro_enrich_failure){.type = enricher->label,
                                              .message = pyro_arena_copy(&clusters->arena, pyro_slice_from(message))};
    clusters->no_memory |= !added || !added->message.ptr;
}

static void *ask(void *context)
{
    struct pyro_crawl_clusters *clusters = context;
    struct pyro_crawl *crawl = clusters->crawl;
    clusters->no_memory |= !pyro_enrich_clusters(&crawl->settings.enrichers, &clusters->arena, take, fail, clusters);
    pthread_mutex_lock(&crawl->lock);
    clusters->done = true;
    pthread_cond_signal(&crawl->done);
    pthread_mutex_unlock(&crawl->lock);
    return NULL;
}

static bool is_any_cluster(const struct pyro_crawl *crawl)
{
    const struct pyro_enrichers *all = &crawl->settings.enrichers;
    size_t i = 0;
    while (i < all->items.count && all->items.items[i].kind != PYRO_ENRICH_YARN)
        i++;
    return i < all->items.count;
}

enum pyro_status pyro_crawl_begin_clusters(struct pyro_crawl *crawl)
{
    if (crawl->clusters || !is_any_cluster(crawl))
        return PYRO_OK;
    struct pyro_crawl_clusters *clusters = pyro_allocate(crawl->settings.allocator, sizeof(*clusters));
    if (!clusters)
        return pyro_error_set(crawl->error, PYRO_ERROR_MEMORY, "no memory left for the numbers of clusters");
    *clusters = (struct pyro_crawl_clusters){.crawl = crawl};
    pyro_arena_init(&clusters->arena, crawl->settings.allocator);
    crawl->clusters = clusters;
    if (!pyro_thread_start(&clusters->thread, ask, clusters))
        pyro_crawl_end_clusters(crawl);
    return PYRO_OK;
}

static enum pyro_status keep(struct pyro_crawl *crawl, void *context, struct pyro_error *error)
{
    const struct pyro_crawl_clusters *clusters = context;
    return pyro_store_add_cluster(crawl->store, clusters->rows.items, clusters->rows.count, error);
}

enum pyro_status pyro_crawl_take_clusters(struct pyro_crawl *crawl)
{
    struct pyro_crawl_clusters *clusters = crawl->clusters;
    pthread_mutex_lock(&crawl->lock);
    bool done = clusters && clusters->done;
    pthread_mutex_unlock(&crawl->lock);
    if (!done)
        return PYRO_OK;
    pyro_thread_join(&clusters->thread);
    enum pyro_status status = clusters->rows.count ? pyro_crawl_patiently(crawl, keep, clusters) : PYRO_OK;
    for (size_t i = 0; i < clusters->failures.count; i++) {
        struct pyro_crawl_event event = {.kind = PYRO_CRAWL_UNREACHABLE,
                                         .source = clusters->failures.items[i].type,
                                         .message = clusters->failures.items[i].message.ptr};
        pyro_crawl_tell(crawl, &event);
    }
    if (status == PYRO_OK && clusters->no_memory)
        status = pyro_error_set(crawl->error, PYRO_ERROR_MEMORY, "no memory left for the numbers of clusters");
    pyro_crawl_end_clusters(crawl);
    return status;
}

void pyro_crawl_end_clusters(struct pyro_crawl *crawl)
{
    struct pyro_crawl_clusters *clusters = crawl->clusters;
    if (!clusters)
        return;
    pyro_thread_join(&clusters->thread);
    pyro_vec_done(&clusters->rows, clusters->arena.allocator);
    pyro_vec_done(&clusters->failures, clusters->arena.allocator);
    pyro_arena_done(&clusters->arena);
    pyro_release(crawl->settings.allocator, clusters);
    crawl->clusters = NULL;
}
