/* What is open, and the catalog itself. */
#ifndef PYRO_CATALOG_OPEN_H
#define PYRO_CATALOG_OPEN_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/collections/vec.h"
#include "base/threads/thread.h"
#include "catalog/catalog.h"
#include "catalog/kinds.h"
#include "catalog/watch_folder.h"

struct pyro_catalog_log;
struct pyro_catalog_store;

struct pyro_catalog_slot {
    uint64_t identity; /* of the log */
    enum pyro_catalog_kind kind;
    const struct pyro_catalog_log *log; /* as it was when `value` was loaded; NULL: it never was */
    uint64_t key;                       /* of the files next to it, then */
    void *value, *state;
    uint64_t memory;
    uint64_t used;             /* when it was asked for last, counted in requests */
    uint64_t fresh;            /* catalog->freshness as `value` was loaded; 0: it is to be loaded again */
    size_t waiting;            /* requests that hold a pointer to this slot */
    bool loading;              /* `state` belongs to the request that loads */
    struct pyro_error failure; /* code PYRO_OK: none; else why `failed` could not be loaded: kept where it lasts */
    const struct pyro_catalog_log *failed;
};

struct pyro_catalog {
    struct pyro_catalog_options options; /* texts are the catalog's */
    char **folders;
    PYRO_VEC(struct pyro_catalog_store *) stores; /* of the updating thread */
    struct pyro_catalog_watch *watch;             /* NULL: nothing is watched */
    struct pyro_thread updater;
    atomic_bool stop;
    uint64_t identities;                  /* of the updating thread, as the next three */
    struct pyro_catalog_index *index;     /* NULL: nothing is kept */
    const struct pyro_catalog_list *kept; /* what the index holds; NULL before the first update */
    const struct pyro_catalog_artefacts *artefacts;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t listed; /* a list, the end of an update, or stop */
    pthread_cond_t loaded;
    struct pyro_catalog_list *list; /* never NULL */
    uint64_t generation;
    bool first_done;
    uint64_t updates_begun, updates_ended;
    bool update_failed; /* the last update found no memory, and the list is that of the one before */
    bool wanted;        /* an update is wanted at once */
    PYRO_VEC(struct pyro_catalog_slot *) open;
    uint64_t clock;
    unsigned loading;   /* loads under way */
    uint64_t freshness; /* counts what makes open diagnoses old; begins at 1 */
    struct pyro_catalog_usage usage;
};

/* The open thing of that kind of the attempt, retained. Of what is only stored there are no histories. */
enum pyro_status pyro_catalog_open_kind(struct pyro_catalog *catalog, const struct pyro_catalog_caller *caller,
                                        enum pyro_catalog_kind kind, struct pyro_slice id, struct pyro_slice attempt,
                                        void **ret, struct pyro_error *error);
/* Forgets what is open of logs that are no longer there. Under the mutex. */
void pyro_catalog_sweep(struct pyro_catalog *catalog);
void pyro_catalog_close_all(struct pyro_catalog *catalog);

#endif
