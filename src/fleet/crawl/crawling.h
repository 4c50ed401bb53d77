/* A crawl in progress.
 *
 * The thread that called pyro_crawl() does all that concerns the store: it offers what the sources list, claims items
 * into slots, records what workers have made of them, and renews leases. Each source is listed by a thread of its own
 * in each pass. Workers take slots that are queued, the oldest first, and make them ready. They do not ask the store,
 * which records runs meanwhile: what people said of earlier findings is read in each pass and after each batch. */
#ifndef PYRO_FLEET_CRAWL_CRAWLING_H
#define PYRO_FLEET_CRAWL_CRAWLING_H

#include "base/numbers/saturate.h"
#include "base/secrets/secrets.h"
#include "base/threads/thread.h"
#include "fleet/crawl/list_folders.h"
#include "fleet/crawl/read_run.h"
#include "store/verdicts.h"

enum {
    PYRO_CRAWL_BATCH = 100,      /* runs of one transaction */
    PYRO_CRAWL_BATCH_MS = 1000,  /* that a run waits for others */
    PYRO_CRAWL_CLAIM = 32,       /* items that are claimed at a time, in addition to those in work */
    PYRO_CRAWL_STOP_MS = 30000,  /* for what is in work when the crawl is to end */
    PYRO_CRAWL_LOOK_MS = 100,    /* how often it looks for a stop */
    PYRO_CRAWL_DAY_MS = 86400000 /* everything is listed that often, and otherwise what ended since this before `low` */
};

enum pyro_slot_state { PYRO_SLOT_FREE, PYRO_SLOT_QUEUED, PYRO_SLOT_WORKING, PYRO_SLOT_READY };

struct pyro_crawl_slot {
    enum pyro_slot_state state;
    uint64_t order;                    /* the lowest is worked on first */
    size_t source;                     /* SIZE_MAX: a run that is read again by its path */
    struct pyro_arena arena;           /* of what was claimed */
    struct pyro_lease lease;           /* key NULL: none */
    int64_t tries;                     /* failures before this one */
    int64_t renew_ms, ready_ms;        /* of the clock that no one sets */
    struct pyro_slice app_id, attempt; /* of a run that is read again */
    struct pyro_slice key;             /* its path, or the item's key */
    const char *version;               /* of the server that it is read from; NULL: unknown, or no server */
    struct pyro_crawl_result result;   /* once it is ready */
};

/* A source over time. */
struct pyro_crawl_watch {
    const struct pyro_crawl_source *source;
    struct pyro_crawl_memory memory;
    struct pyro_thread lister;
    /* Of the lister; the crawl's lock protects `listed`. */
    struct pyro_crawl_listing listing;
    struct pyro_crawl_list list;
    struct pyro_error error;
    enum pyro_status status;
    bool listing_now, listed;
    bool whole;       /* everything was asked for */
    bool reachable;   /* the last list came */
    char version[32]; /* of the server, by the last list that said so; "": unknown */
    double tokens;    /* that the rate leaves */
    int64_t tokens_ms, pause_until_ms;
    unsigned failures; /* fetches that failed one after the other */
};

struct pyro_crawl_again {
    struct pyro_slice key, app_id, attempt; /* key: its path; of a run of a server that is a source, that of its item */
    size_t source;                          /* that server; SIZE_MAX: none */
};

struct pyro_crawl {
    struct pyro_crawl_settings settings;
    const struct pyro_crawl_options *wanted;
    const struct pyro_options *options;
    struct pyro_error *error;
    char owner[200];
    pyro_store *store;
    const struct pyro_work_backend *work;
    void *work_state;
    pthread_mutex_t store_lock; /* taken before `lock` where both are */
    pthread_rwlock_t verdicts_lock;
    struct pyro_verdicts verdicts; /* protected by `verdicts_lock`: the calling thread replaces them */
    /* Protected by `lock`: */
    pthread_mutex_t lock;
    pthread_cond_t queued, done;
    struct pyro_crawl_slot *slots;
    size_t slot_count;
    bool ending;    /* workers go home */
    bool abandoned; /* also those that are at work */
    /* Of the calling thread: */
    struct pyro_thread *workers;
    struct pyro_crawl_watch *watches;
    size_t watch_count;
    uint64_t next_order;
    struct pyro_arena again_arena;
    PYRO_VEC(struct pyro_crawl_again) again; /* runs that are read again, before anything else */
    size_t again_next;
    bool stopping, unreachable;
    unsigned taken_back;               /* how often in this pass */
    struct pyro_error unreachable_why; /* of the first source in this pass */
    int64_t next_pass_ms, stop_by_ms;
    struct pyro_crawl_event totals;       /* its counts only */
    struct pyro_crawl_clusters *clusters; /* of a pass; NULL: nothing is asked now */
    struct pyro_secrets secrets;          /* of what events say */
    struct pyro_arena told;               /* texts of the last event */
};

/* worker_slots.c */
bool pyro_crawl_start_workers(struct pyro_crawl *crawl);
void pyro_crawl_end_workers(struct pyro_crawl *crawl);
/* How many slots are in that state. */
size_t pyro_crawl_count(struct pyro_crawl *crawl, enum pyro_slot_state state);
struct pyro_crawl_slot *pyro_crawl_free_slot(struct pyro_crawl *crawl);
/* Gives a slot that was filled to the workers. */
void pyro_crawl_enqueue(struct pyro_crawl *crawl, struct pyro_crawl_slot *slot);
/* Takes back what no worker has begun. */
struct pyro_crawl_slot *pyro_crawl_take_queued(struct pyro_crawl *crawl);
void pyro_crawl_empty(struct pyro_crawl *crawl, struct pyro_crawl_slot *slot);

/* commit.c */
/* Records what is ready, if there is enough of it or it has waited; `all`: in any case. */
enum pyro_status pyro_crawl_commit(struct pyro_crawl *crawl, bool all);
enum pyro_status pyro_crawl_renew(struct pyro_crawl *crawl);
/* Gives back what no worker has begun. */
void pyro_crawl_release_queued(struct pyro_crawl *crawl);

/* passes.c */
/* Begins to list every source that is not being listed. */
enum pyro_status pyro_crawl_begin_pass(struct pyro_crawl *crawl);
/* Gives back what is leased to this crawler although it has nothing in hand: the store's answers to claims were lost.
 */
enum pyro_status pyro_crawl_take_back(struct pyro_crawl *crawl, size_t *ret_count);
/* Items of all sources that are leased: while this crawler has none in hand, to others, of which some may be dead. */
enum pyro_status pyro_crawl_count_held(struct pyro_crawl *crawl, int64_t *ret);
/* Offers what was listed meanwhile. */
enum pyro_status pyro_crawl_take_lists(struct pyro_crawl *crawl);
/* Fills slots. *ret_more: there is or may soon be more to claim in this pass. */
enum pyro_status pyro_crawl_claim(struct pyro_crawl *crawl, bool *ret_more);
bool pyro_crawl_is_listing(const struct pyro_crawl *crawl);
void pyro_crawl_end_lists(struct pyro_crawl *crawl);
/* A fetch from the source has failed, or one has not. */
void pyro_crawl_note_fetch(struct pyro_crawl *crawl, size_t source, bool failed);
/* Runs that are to be read again, and failures that are to be tried again at once. */
enum pyro_status pyro_crawl_prepare(struct pyro_crawl *crawl);

/* clusters.c: numbers of clusters, once in each pass, asked by a thread of its own. */
enum pyro_status pyro_crawl_begin_clusters(struct pyro_crawl *crawl);
enum pyro_status pyro_crawl_take_clusters(struct pyro_crawl *crawl);
void pyro_crawl_end_clusters(struct pyro_crawl *crawl);

/* crawl.c */
void pyro_crawl_tell(struct pyro_crawl *crawl, struct pyro_crawl_event *event);
/* Reads what people said of findings. */
enum pyro_status pyro_crawl_read_verdicts(struct pyro_crawl *crawl);
/* Calls the store until it can be written, for some time. */
typedef enum pyro_status pyro_crawl_call(struct pyro_crawl *crawl, void *context, struct pyro_error *error);
enum pyro_status pyro_crawl_patiently(struct pyro_crawl *crawl, pyro_crawl_call *call, void *context);

#endif
