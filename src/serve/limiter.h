/* How many requests of a kind run at once, how many wait for that, and until when each may go on.
 *
 *     light: lists, pages, metrics. Never wait: workers are kept for them.
 *     heavy: what needs a whole application: reports, predictions, comparisons, exports, uploads.
 *     query: a statement of a stranger's. Part of a heavy request; few run, since each may use all of its limits.
 *
 * All functions may be called from any thread. */
#ifndef PYRO_SERVE_LIMITER_H
#define PYRO_SERVE_LIMITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/counted.h"
#include "base/threads/thread.h"
#include "catalog/catalog.h"

enum serve_class { SERVE_LIGHT, SERVE_HEAVY, SERVE_QUERY, SERVE_CLASSES };

/* Why work is to end before it is done. */
enum serve_stop {
    SERVE_GO_ON,
    SERVE_CLIENT_GONE,
    SERVE_TOO_LATE,  /* its time is over */
    SERVE_NO_MEMORY, /* the process would exceed what it may take */
    SERVE_STOPPING   /* the server is */
};

struct serve_limiter;

/* What a request runs by. Shared by all that work for it; what it holds is given back with the last reference. Without
 * a limiter (`pyrometer mcp`): only the deadline counts. */
struct serve_ticket {
    struct serve_limiter *limiter;        /* NULL: none */
    struct serve_ticket *next, *previous; /* of the limiter's; guarded by its mutex, as all that follows up to `stop` */
    int references;
    bool running, holds_query, owns_socket;
    int socket;          /* of the client, -1: not looked at */
    int64_t patience_ms; /* until when it waits to run */
    /* Called without a lock, one of them, once: it may run, and the ticket is the callee's; or it may not. */
    void (*run)(void *context, struct serve_ticket *ticket);
    void (*refuse)(void *context);
    void *context;
    atomic_bool loads;               /* reads a log: the first to be stopped where memory is short */
    unsigned query_ms;               /* without a limiter: for each statement */
    atomic_int stop;                 /* enum serve_stop */
    atomic_int_fast64_t deadline_ms; /* of the monotonic clock; INT64_MAX: none */
};

struct serve_class_limits {
    size_t running, waiting;
    unsigned wait_ms; /* the longest that one waits */
    unsigned work_ms; /* and the longest that it may run then */
};

struct serve_class_counts {
    size_t running, waiting;
    uint64_t refused, stopped; /* since the start; stopped: before they were done */
};

struct serve_limiter {
    struct serve_class_limits limits[SERVE_CLASSES];
    struct pyro_counted *memory;   /* for work: large blocks are refused where the process has too much */
    uint64_t memory_bytes;         /* that the process may take; 0: not looked at */
    void (*shrink)(void *context); /* gives memory back that can be had again; may be NULL */
    void *shrink_context;
    struct pyro_thread keeper;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    struct serve_class_counts counts[SERVE_CLASSES];
    struct serve_ticket all; /* a ring, in the order in which they came */
    bool stopping;
};

/* `queries`: that run at once; `query_ms`: for each. False: no thread could be started, or no memory. */
bool pyro_limiter_open(struct serve_limiter *limiter, size_t queries, unsigned query_ms);
/* Ends all work: running work is to stop, waiting requests are refused. */
void pyro_limiter_stop(struct serve_limiter *limiter);
/* After the last ticket is closed. */
void pyro_limiter_close(struct serve_limiter *limiter);

/* For a heavy request: `run` or `refuse` is called, perhaps at once, also from other threads. `socket`: is looked at
 * until pyro_ticket_unwatch(); a client that closes its end ends the work. False: no memory, or too many wait, and
 * neither is called. */
bool pyro_limiter_enter(struct serve_limiter *limiter, int socket,
                        void (*run)(void *context, struct serve_ticket *ticket), void (*refuse)(void *context),
                        void *context);
/* Looks at the memory of the process while heavy requests run: beyond `bytes` `shrink` is called, and where that does
 * not do, work is stopped, and gets no more large blocks from the limiter's allocator. Before the first request. */
void pyro_limiter_watch_memory(struct serve_limiter *limiter, uint64_t bytes, void (*shrink)(void *context),
                               void *context);
/* The client's socket is no longer looked at; `stays`: by a number of its own instead of the given one, which may then
 * be closed. */
void pyro_ticket_unwatch(struct serve_ticket *ticket, bool stays);
struct serve_ticket *pyro_ticket_retain(struct serve_ticket *ticket);
void pyro_ticket_release(struct serve_ticket *ticket); /* NULL is ignored */
/* What follows needs others no longer: lets one of those that wait run, while this one only sends. */
void pyro_ticket_yield(struct serve_ticket *ticket);

/* Waits until a statement may run, and gives it its time. SERVE_TOO_LATE: too many wait, or it took too long. */
enum serve_stop pyro_ticket_begin_query(struct serve_ticket *ticket);
void pyro_ticket_end_query(struct serve_ticket *ticket);

/* Whether to go on; NULL: always. Cheap enough to be asked thousands of times a second. */
enum serve_stop pyro_ticket_stopped(struct serve_ticket *ticket);
/* The same for pyro_options.progress; the context is the ticket or NULL. */
int pyro_ticket_progress(void *context, const struct pyro_progress *progress);
/* Options that ask it, for the library's functions; their allocator is the limiter's. */
struct pyro_options pyro_ticket_options(struct serve_ticket *ticket);

/* The ticket, as the catalog asks it; valid as long as the ticket. */
struct pyro_catalog_caller pyro_ticket_caller(struct serve_ticket *ticket);

/* A light request begins or ends; for the counts. */
void pyro_limiter_light(struct serve_limiter *limiter, int running, int waiting);
struct serve_class_counts pyro_limiter_counts(struct serve_limiter *limiter, enum serve_class class);
/* "heavy" */
const char *pyro_limiter_class_name(enum serve_class class);

/* The message of a refusal, over HTTP as in a tool's answer. */
extern const char pyro_limiter_busy[], pyro_limiter_queries_busy[];
/* And whose work was stopped. */
const char *pyro_limiter_why(enum serve_stop why);
enum { SERVE_RETRY_SECONDS = 2 };

#endif
