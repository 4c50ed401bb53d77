#include "serve/limiter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory/allocator.h"
#include "base/numbers/saturate.h"
#include "base/threads/thread.h"

enum {
    HEAVY_RUNNING = 64, /* many of them wait for one large log to be read: requests for another must not wait, too */
    HEAVY_WAITING = 512,
    HEAVY_WAIT_MS = 30000,
    HEAVY_MS = 600000,
    QUERIES_WAITING = 8,
    QUERY_WAIT_MS = 2000,
    TICK_MS = 20,
    TICKS_BETWEEN_SOCKETS = 5,
    POLLED = 256,
    LARGE_BLOCK = 256 << 10,
    RESERVED_BYTES = 128 << 20 /* of the memory, for what is not the limiter's */
};

const char pyro_limiter_busy[] = "the server is busy with the maximum number of requests of this kind: try again later";
const char pyro_limiter_queries_busy[] = "the server is busy with the maximum number of statements: try again later";

const char *pyro_limiter_why(enum serve_stop why)
{
    static const char *const words[] = {
        [SERVE_GO_ON] = "cancelled",
        [SERVE_CLIENT_GONE] = "the client closed the connection",
        [SERVE_TOO_LATE] = "this took longer than allowed and was stopped",
        [SERVE_NO_MEMORY] = ("this needs more memory than the server allows and was stopped: try again later, or give "
                             "the server more memory (--memory)"),
        [SERVE_STOPPING] = "the server is stopping",
    };
    return words[why];
}

/* ---- One ticket -------------------------------------------------------------------------------------------------- */

enum serve_stop pyro_ticket_stopped(struct serve_ticket *ticket)
{
    if (!ticket)
        return SERVE_GO_ON;
    int stop = atomic_load_explicit(&ticket->stop, memory_order_relaxed);
    if (stop == SERVE_GO_ON && pyro_clock_ms() >= atomic_load_explicit(&ticket->deadline_ms, memory_order_relaxed))
        stop = SERVE_TOO_LATE;
    return (enum serve_stop)stop;
}

int pyro_ticket_progress(void *context, const struct pyro_progress *progress)
{
    (void)progress;
    return pyro_ticket_stopped(context) != SERVE_GO_ON;
}

static const struct pyro_allocator *allocator_of(const struct serve_ticket *ticket)
{
    return ticket && ticket->limiter ? pyro_counted_allocator(ticket->limiter->memory) : NULL;
}

struct pyro_options pyro_ticket_options(struct serve_ticket *ticket)
{
    return (struct pyro_options){.size = sizeof(struct pyro_options),
                                 .allocator = allocator_of(ticket),
                                 .progress = pyro_ticket_progress,
                                 .progress_context = ticket};
}

static const char *why_stopped(void *context, bool *ret_for_all)
{
    enum serve_stop why = pyro_ticket_stopped(context);
    *ret_for_all = why == SERVE_STOPPING || why == SERVE_NO_MEMORY;
    return why == SERVE_GO_ON ? NULL : pyro_limiter_why(why);
}

static void set_loads(void *context, bool begins)
{
    struct serve_ticket *ticket = context;
    if (ticket)
        atomic_store(&ticket->loads, begins);
}

struct pyro_catalog_caller pyro_ticket_caller(struct serve_ticket *ticket)
{
    return (struct pyro_catalog_caller){.allocator = allocator_of(ticket),
                                        .no_memory = pyro_limiter_why(SERVE_NO_MEMORY),
                                        .stopped = why_stopped,
                                        .reading = set_loads,
                                        .context = ticket};
}

static void stop(struct serve_ticket *ticket, enum serve_stop why)
{
    int none = SERVE_GO_ON;
    atomic_compare_exchange_strong(&ticket->stop, &none, (int)why);
}

/* ---- Under the limiter's mutex --------------------------------------------------------------------------------------
 */

static void forget_socket(struct serve_ticket *ticket)
{
    if (ticket->owns_socket)
        close(ticket->socket);
    ticket->owns_socket = false;
    ticket->socket = -1;
}

static void remove_ticket(struct serve_ticket *ticket)
{
    ticket->next->previous = ticket->previous;
    ticket->previous->next = ticket->next;
    forget_socket(ticket);
}

static void begin(struct serve_limiter *limiter, struct serve_ticket *ticket)
{
    ticket->running = true;
    limiter->counts[SERVE_HEAVY].running++;
    atomic_store(&ticket->deadline_ms, pyro_clock_ms() + limiter->limits[SERVE_HEAVY].work_ms);
}

/* The one that waits longest, as running; NULL: none may. */
static struct serve_ticket *next_to_run(struct serve_limiter *limiter)
{
    if (limiter->stopping || limiter->counts[SERVE_HEAVY].waiting == 0 ||
        limiter->counts[SERVE_HEAVY].running >= limiter->limits[SERVE_HEAVY].running)
        return NULL;
    for (struct serve_ticket *one = limiter->all.next; one != &limiter->all; one = one->next) {
        if (one->running || !one->run)
            continue;
        limiter->counts[SERVE_HEAVY].waiting--;
        begin(limiter, one);
        return one;
    }
    return NULL;
}

/* Takes it out of those that wait, so that it is refused by the caller, who has no lock then. */
static void give_up(struct serve_limiter *limiter, struct serve_ticket *ticket)
{
    limiter->counts[SERVE_HEAVY].waiting--;
    limiter->counts[SERVE_HEAVY].refused++;
    remove_ticket(ticket);
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

static void start(struct serve_ticket *ticket)
{
    if (ticket)
        ticket->run(ticket->context, ticket);
}

bool pyro_limiter_enter(struct serve_limiter *limiter, int socket,
                        void (*run)(void *context, struct serve_ticket *ticket), void (*refuse)(void *context),
                        void *context)
{
    struct serve_ticket *ticket = pyro_allocate(NULL, sizeof(*ticket));
    if (!ticket)
        return false;
    *ticket = (struct serve_ticket){
        .limiter = limiter, .references = 1, .socket = socket, .run = run, .refuse = refuse, .context = context};
    atomic_init(&ticket->stop, SERVE_GO_ON);
    atomic_init(&ticket->deadline_ms, INT64_MAX);
    pthread_mutex_lock(&limiter->mutex);
    struct serve_class_counts *counts = &limiter->counts[SERVE_HEAVY];
    const struct serve_class_limits *limits = &limiter->limits[SERVE_HEAVY];
    bool runs = counts->running < limits->running && counts->waiting == 0;
    bool refused = limiter->stopping || (!runs && counts->waiting >= limits->waiting);
    if (refused) {
        counts->refused++;
    } else {
        ticket->patience_ms = pyro_add_saturating(pyro_clock_ms(), limits->wait_ms);
        ticket->next = &limiter->all;
        ticket->previous = limiter->all.previous;
        ticket->previous->next = ticket->next->previous = ticket;
        if (runs)
            begin(limiter, ticket);
        else
            counts->waiting++;
        pthread_cond_broadcast(&limiter->changed);
    }
    pthread_mutex_unlock(&limiter->mutex);
    if (refused)
        pyro_release(NULL, ticket);
    else if (runs)
        start(ticket);
    return !refused;
}

void pyro_ticket_unwatch(struct serve_ticket *ticket, bool stays)
{
    if (!ticket || !ticket->limiter)
        return;
    pthread_mutex_lock(&ticket->limiter->mutex);
    int own = stays && ticket->socket >= 0 ? fcntl(ticket->socket, F_DUPFD_CLOEXEC, 0) : -1;
    forget_socket(ticket);
    ticket->socket = own;
    ticket->owns_socket = own >= 0;
    pthread_mutex_unlock(&ticket->limiter->mutex);
}

struct serve_ticket *pyro_ticket_retain(struct serve_ticket *ticket)
{
    if (!ticket || !ticket->limiter)
        return ticket;
    pthread_mutex_lock(&ticket->limiter->mutex);
    ticket->references++;
    pthread_mutex_unlock(&ticket->limiter->mutex);
    return ticket;
}

void pyro_ticket_yield(struct serve_ticket *ticket)
{
    if (!ticket || !ticket->limiter)
        return;
    struct serve_limiter *limiter = ticket->limiter;
    pthread_mutex_lock(&limiter->mutex);
    if (ticket->running)
        limiter->counts[SERVE_HEAVY].running--;
    ticket->running = false;
    ticket->run = NULL; /* it does not wait, either */
    struct serve_ticket *next = next_to_run(limiter);
    pthread_mutex_unlock(&limiter->mutex);
    start(next);
}

void pyro_ticket_release(struct serve_ticket *ticket)
{
    if (!ticket || !ticket->limiter)
        return;
    struct serve_limiter *limiter = ticket->limiter;
    struct serve_ticket *next = NULL;
    pthread_mutex_lock(&limiter->mutex);
    bool last = --ticket->references == 0;
    if (last) {
        limiter->counts[SERVE_HEAVY].running -= ticket->running;
        limiter->counts[SERVE_HEAVY].stopped += pyro_ticket_stopped(ticket) != SERVE_GO_ON;
        remove_ticket(ticket);
        next = next_to_run(limiter);
    }
    pthread_mutex_unlock(&limiter->mutex);
    if (last)
        pyro_release(NULL, ticket);
    start(next);
}

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

enum serve_stop pyro_ticket_begin_query(struct serve_ticket *ticket)
{
    struct serve_limiter *limiter = ticket ? ticket->limiter : NULL;
    if (!limiter) {
        if (ticket)
            atomic_store(&ticket->deadline_ms, pyro_add_saturating(pyro_clock_ms(), ticket->query_ms));
        return SERVE_GO_ON;
    }
    struct serve_class_counts *counts = &limiter->counts[SERVE_QUERY];
    const struct serve_class_limits *limits = &limiter->limits[SERVE_QUERY];
    const int64_t until = pyro_add_saturating(pyro_clock_ms(), limits->wait_ms);
    enum serve_stop why = SERVE_GO_ON;
    bool late = false;
    pthread_mutex_lock(&limiter->mutex);
    if (counts->running >= limits->running && counts->waiting >= limits->waiting)
        late = true;
    counts->waiting++;
    while (!late && counts->running >= limits->running && (why = pyro_ticket_stopped(ticket)) == SERVE_GO_ON)
        late = !pyro_condition_wait(&limiter->changed, &limiter->mutex, until);
    counts->waiting--;
    if (why == SERVE_GO_ON && late)
        why = SERVE_TOO_LATE;
    if (why == SERVE_GO_ON) {
        counts->running++;
        ticket->holds_query = true;
        int64_t end = pyro_add_saturating(pyro_clock_ms(), limits->work_ms);
        if (end < atomic_load(&ticket->deadline_ms))
            atomic_store(&ticket->deadline_ms, end);
    } else {
        counts->refused++;
    }
    pthread_mutex_unlock(&limiter->mutex);
    return why;
}

void pyro_ticket_end_query(struct serve_ticket *ticket)
{
    struct serve_limiter *limiter = ticket ? ticket->limiter : NULL;
    if (!limiter) {
        if (ticket)
            atomic_store(&ticket->deadline_ms, INT64_MAX);
        return;
    }
    pthread_mutex_lock(&limiter->mutex);
    if (ticket->holds_query) {
        limiter->counts[SERVE_QUERY].running--;
        limiter->counts[SERVE_QUERY].stopped += pyro_ticket_stopped(ticket) != SERVE_GO_ON;
        ticket->holds_query = false;
        atomic_store(&ticket->deadline_ms, pyro_clock_ms() + limiter->limits[SERVE_HEAVY].work_ms);
        pthread_cond_broadcast(&limiter->changed);
    }
    pthread_mutex_unlock(&limiter->mutex);
}

/* ---- The keeper -------------------------------------------------------------------------------------------------- */

/* Clients that have closed their end want no answer. */
static void look_at_sockets(struct serve_limiter *limiter)
{
    struct serve_ticket *asked[POLLED];
    struct pollfd sockets[POLLED];
    bool any = false;
    for (struct serve_ticket *one = limiter->all.next; one != &limiter->all;) {
        nfds_t count = 0;
        for (; one != &limiter->all && count < POLLED; one = one->next) {
            if (one->socket < 0)
                continue;
            asked[count] = one;
            sockets[count++] = (struct pollfd){.fd = one->socket, .events = POLLRDHUP};
        }
        if (count == 0 || poll(sockets, count, 0) <= 0)
            continue;
        for (nfds_t i = 0; i < count; i++) {
            if (!(sockets[i].revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)))
                continue;
            stop(asked[i], SERVE_CLIENT_GONE);
            forget_socket(asked[i]);
            any = true;
        }
    }
    if (any)
        pthread_cond_broadcast(&limiter->changed); /* some may wait for a query's turn */
}

/* One that waits without success, no longer among the others; NULL: none. */
static struct serve_ticket *find_hopeless(struct serve_limiter *limiter)
{
    int64_t now = pyro_clock_ms();
    if (limiter->counts[SERVE_HEAVY].waiting == 0)
        return NULL;
    for (struct serve_ticket *one = limiter->all.next; one != &limiter->all; one = one->next) {
        if (one->running || !one->run)
            continue;
        if (limiter->stopping || now >= one->patience_ms || pyro_ticket_stopped(one) != SERVE_GO_ON) {
            give_up(limiter, one);
            return one;
        }
    }
    return NULL;
}

static void refuse_hopeless(struct serve_limiter *limiter)
{
    struct serve_ticket *one;
    while ((one = find_hopeless(limiter))) {
        pthread_mutex_unlock(&limiter->mutex);
        one->refuse(one->context);
        pyro_release(NULL, one);
        pthread_mutex_lock(&limiter->mutex);
    }
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static uint64_t resident_bytes(void)
{
    unsigned long long size, resident = 0;
    char text[128];
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t len = file >= 0 ? read(file, text, sizeof(text) - 1) : -1;
    if (file >= 0)
        close(file);
    text[len > 0 ? len : 0] = '\0';
    return sscanf(text, "%llu %llu", &size, &resident) == 2 ? resident * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* Whether what the limiter's allocator has given and the process has leaves room for a block. What is given may not
 * have been written to yet, so that the process does not have it; what it has may not be the limiter's. */
static bool fits(struct serve_limiter *limiter, size_t size)
{
    uint64_t given = pyro_counted_bytes(limiter->memory);
    return given + size <= limiter->memory_bytes - RESERVED_BYTES && resident_bytes() + size <= limiter->memory_bytes;
}

/* Small blocks may be had: those are seen when the keeper looks. */
static bool may_have(void *context, size_t before, size_t size)
{
    struct serve_limiter *limiter = context;
    if (size <= before || size < LARGE_BLOCK || !limiter->memory_bytes || fits(limiter, size))
        return true;
    if (limiter->shrink)
        limiter->shrink(limiter->shrink_context);
    return fits(limiter, size);
}

/* The one that came last among those that still go on, of those that read logs if there are any. */
static struct serve_ticket *find_victim(struct serve_limiter *limiter)
{
    struct serve_ticket *last = NULL;
    for (struct serve_ticket *one = limiter->all.previous; one != &limiter->all; one = one->previous) {
        if (!one->running || pyro_ticket_stopped(one) != SERVE_GO_ON)
            continue;
        if (atomic_load(&one->loads))
            return one;
        last = last ? last : one;
    }
    return last;
}

/* What takes memory is not known by whom; what the process has is. One is stopped at each look, so that those that are
 * stopped have the time to give back what they have. */
static void look_at_memory(struct serve_limiter *limiter)
{
    if (!limiter->memory_bytes || limiter->counts[SERVE_HEAVY].running == 0 ||
        resident_bytes() <= limiter->memory_bytes)
        return;
    if (limiter->shrink) {
        pthread_mutex_unlock(&limiter->mutex);
        limiter->shrink(limiter->shrink_context);
        pthread_mutex_lock(&limiter->mutex);
        if (resident_bytes() <= limiter->memory_bytes)
            return;
    }
    struct serve_ticket *victim = find_victim(limiter);
    if (victim)
        stop(victim, SERVE_NO_MEMORY);
    pthread_cond_broadcast(&limiter->changed);
}

void pyro_limiter_watch_memory(struct serve_limiter *limiter, uint64_t bytes, void (*shrink)(void *context),
                               void *context)
{
    pthread_mutex_lock(&limiter->mutex);
    limiter->memory_bytes = bytes;
    limiter->shrink = shrink;
    limiter->shrink_context = context;
    pthread_mutex_unlock(&limiter->mutex);
}

static void *keep(void *context)
{
    struct serve_limiter *limiter = context;
    pthread_mutex_lock(&limiter->mutex);
    for (unsigned tick = 0; !limiter->stopping; tick++) {
        if (limiter->all.next == &limiter->all) {
            pthread_cond_wait(&limiter->changed, &limiter->mutex);
            continue;
        }
        pyro_condition_wait(&limiter->changed, &limiter->mutex, pyro_clock_ms() + TICK_MS);
        look_at_memory(limiter);
        if (tick % TICKS_BETWEEN_SOCKETS == 0)
            look_at_sockets(limiter);
        refuse_hopeless(limiter);
    }
    refuse_hopeless(limiter);
    pthread_mutex_unlock(&limiter->mutex);
    return NULL;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

bool pyro_limiter_open(struct serve_limiter *limiter, size_t queries, unsigned query_ms)
{
    *limiter = (struct serve_limiter){
        .limits = {[SERVE_HEAVY] = {HEAVY_RUNNING, HEAVY_WAITING, HEAVY_WAIT_MS, HEAVY_MS},
                   [SERVE_QUERY] = {queries, QUERIES_WAITING, QUERY_WAIT_MS, query_ms}},
        .memory = pyro_counted_new(&(struct pyro_counted_options){.allows = may_have, .context = limiter}),
        .all = {.next = &limiter->all, .previous = &limiter->all},
    };
    pthread_mutex_init(&limiter->mutex, NULL);
    pyro_condition_init(&limiter->changed);
    return limiter->memory && pyro_thread_start(&limiter->keeper, keep, limiter);
}

void pyro_limiter_stop(struct serve_limiter *limiter)
{
    pthread_mutex_lock(&limiter->mutex);
    limiter->stopping = true;
    for (struct serve_ticket *one = limiter->all.next; one != &limiter->all; one = one->next)
        stop(one, SERVE_STOPPING);
    pthread_cond_broadcast(&limiter->changed);
    pthread_mutex_unlock(&limiter->mutex);
    pyro_thread_join(&limiter->keeper);
}

void pyro_limiter_close(struct serve_limiter *limiter)
{
    pyro_limiter_stop(limiter);
    pyro_counted_release(limiter->memory);
    pthread_mutex_destroy(&limiter->mutex);
    pthread_cond_destroy(&limiter->changed);
}

/* ---- Counts ------------------------------------------------------------------------------------------------------ */

void pyro_limiter_light(struct serve_limiter *limiter, int running, int waiting)
{
    pthread_mutex_lock(&limiter->mutex);
    limiter->counts[SERVE_LIGHT].running += (size_t)running;
    limiter->counts[SERVE_LIGHT].waiting += (size_t)waiting;
    pthread_mutex_unlock(&limiter->mutex);
}

struct serve_class_counts pyro_limiter_counts(struct serve_limiter *limiter, enum serve_class class)
{
    pthread_mutex_lock(&limiter->mutex);
    struct serve_class_counts counts = limiter->counts[class];
    pthread_mutex_unlock(&limiter->mutex);
    return counts;
}

const char *pyro_limiter_class_name(enum serve_class class)
{
    static const char *const names[SERVE_CLASSES] = {"light", "heavy", "query"};
    return names[class];
}
