#include "serve/http/connections.h"

#include <errno.h>
#include <sys/socket.h>
#include <time.h>

#include "base/memory.h"

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Cutting the socket lets the event loop see the end of the connection; it closes it. */
static void cut_late_ones(const struct connections *connections)
{
    int64_t now = now_ms();
    for (struct connection *one = connections->all.next; one != &connections->all; one = one->next)
        if (one->deadline_ms < now)
            shutdown(one->socket, SHUT_RDWR);
}

static void *reap(void *context)
{
    struct connections *connections = context;
    pthread_mutex_lock(&connections->mutex);
    while (!connections->stopping) {
        struct timespec next;
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_sec++;
        if (pthread_cond_timedwait(&connections->changed, &connections->mutex, &next) == ETIMEDOUT)
            cut_late_ones(connections);
    }
    pthread_mutex_unlock(&connections->mutex);
    return NULL;
}

void pyro_connections_start(struct connections *connections)
{
    pthread_condattr_t clock;
    *connections = (struct connections){.all = {.next = &connections->all, .previous = &connections->all}};
    pthread_mutex_init(&connections->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&connections->changed, &clock);
    pthread_condattr_destroy(&clock);
    connections->reaping = pthread_create(&connections->reaper, NULL, reap, connections) == 0;
}

void pyro_connections_stop(struct connections *connections)
{
    pthread_mutex_lock(&connections->mutex);
    connections->stopping = true;
    pthread_cond_broadcast(&connections->changed);
    pthread_mutex_unlock(&connections->mutex);
    if (connections->reaping)
        pthread_join(connections->reaper, NULL);
    pthread_mutex_destroy(&connections->mutex);
    pthread_cond_destroy(&connections->changed);
}

static struct connection *add(struct connections *connections, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct connection *place = info ? pyro_allocate(NULL, sizeof(*place)) : NULL;
    if (!place)
        return NULL;
    *place = (struct connection){.socket = info->connect_fd, .deadline_ms = now_ms() + HEADER_SECONDS * 1000};
    pthread_mutex_lock(&connections->mutex);
    place->next = &connections->all;
    place->previous = connections->all.previous;
    place->previous->next = place->next->previous = place;
    connections->count++;
    pthread_mutex_unlock(&connections->mutex);
    return place;
}

void pyro_connections_notify(void *context, struct MHD_Connection *connection, void **state,
                             enum MHD_ConnectionNotificationCode code)
{
    struct connections *connections = context;
    struct connection *place = *state;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *state = add(connections, connection);
    } else if (place) { /* before its socket is closed, so that the reaper never cuts another's */
        pthread_mutex_lock(&connections->mutex);
        place->next->previous = place->previous;
        place->previous->next = place->next;
        connections->count--;
        pthread_mutex_unlock(&connections->mutex);
        pyro_release(NULL, place);
        *state = NULL;
    }
}

static void set_deadline(struct connections *connections, struct connection *place, int64_t deadline_ms)
{
    if (!place)
        return;
    pthread_mutex_lock(&connections->mutex);
    place->deadline_ms = deadline_ms;
    pthread_mutex_unlock(&connections->mutex);
}

static int64_t allowed_ms(uint64_t bytes)
{
    return GRACE_SECONDS * 1000 + (int64_t)(bytes / SLOWEST_BYTES) * 1000;
}

void pyro_connection_takes_body(struct connections *connections, struct connection *place, uint64_t bytes)
{
    if (place && !bytes)
        place->begun_ms = now_ms();
    if (place)
        set_deadline(connections, place, place->begun_ms + allowed_ms(bytes));
}

void pyro_connection_is_worked_on(struct connections *connections, struct connection *place)
{
    set_deadline(connections, place, INT64_MAX);
}

void pyro_connection_sends(struct connections *connections, struct connection *place, uint64_t bytes)
{
    set_deadline(connections, place, now_ms() + allowed_ms(bytes));
}

void pyro_connection_waits(struct connections *connections, struct connection *place)
{
    set_deadline(connections, place, now_ms() + HEADER_SECONDS * 1000);
}
