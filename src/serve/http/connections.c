#include "serve/http/connections.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include "base/memory/allocator.h"
#include "base/threads/thread.h"

enum { TICK_MS = 250, POLLED = 256 };

/* Cutting the socket lets the event loop see the end of the connection; it closes it. */
static void cut_late_ones(const struct connections *connections)
{
    int64_t now = pyro_clock_ms();
    for (struct connection *one = connections->all.next; one != &connections->all; one = one->next)
        if (one->deadline_ms < now)
            shutdown(one->socket, SHUT_RDWR);
}

/* A client that is to send has closed its end. The event loop may never notice: it gets each event once, and takes the
 * end together with the last bytes for only those. What was sent before must have been read, so that this is believed
 * only when nothing has happened from one look to the next. */
static void cut_ended_one(struct connection *one)
{
    int unread = 0;
    if (ioctl(one->socket, FIONREAD, &unread) != 0 || unread > 0)
        return;
    if (one->ended_at == one->steps)
        shutdown(one->socket, SHUT_RDWR);
    one->ended_at = one->steps;
}

static void cut_ended_ones(const struct connections *connections)
{
    struct connection *asked[POLLED];
    struct pollfd sockets[POLLED];
    for (struct connection *one = connections->all.next; one != &connections->all;) {
        nfds_t count = 0;
        for (; one != &connections->all && count < POLLED; one = one->next) {
            if (!one->awaited)
                continue;
            asked[count] = one;
            sockets[count++] = (struct pollfd){.fd = one->socket, .events = POLLRDHUP};
        }
        if (count == 0 || poll(sockets, count, 0) <= 0)
            continue;
        for (nfds_t i = 0; i < count; i++)
            if (sockets[i].revents & (POLLRDHUP | POLLHUP | POLLERR))
                cut_ended_one(asked[i]);
    }
}

static void *reap(void *context)
{
    struct connections *connections = context;
    pthread_mutex_lock(&connections->mutex);
    while (!connections->stopping) {
        if (pyro_condition_wait(&connections->changed, &connections->mutex, pyro_clock_ms() + TICK_MS))
            continue;
        cut_late_ones(connections);
        cut_ended_ones(connections);
    }
    pthread_mutex_unlock(&connections->mutex);
    return NULL;
}

void pyro_connections_start(struct connections *connections)
{
    *connections = (struct connections){.all = {.next = &connections->all, .previous = &connections->all}};
    pthread_mutex_init(&connections->mutex, NULL);
    pyro_condition_init(&connections->changed);
    pyro_thread_start(&connections->reaper, reap, connections);
}

void pyro_connections_stop(struct connections *connections)
{
    pthread_mutex_lock(&connections->mutex);
    connections->stopping = true;
    pthread_cond_broadcast(&connections->changed);
    pthread_mutex_unlock(&connections->mutex);
    pyro_thread_join(&connections->reaper);
    pthread_mutex_destroy(&connections->mutex);
    pthread_cond_destroy(&connections->changed);
}

static struct connection *add(struct connections *connections, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct connection *place = info ? pyro_allocate(NULL, sizeof(*place)) : NULL;
    if (!place)
        return NULL;
    *place = (struct connection){.all = connections,
                                 .socket = info->connect_fd,
                                 .deadline_ms = pyro_clock_ms() + HEADER_SECONDS * 1000,
                                 .awaited = true,
                                 .steps = 1};
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

static void set_deadline(struct connections *connections, struct connection *place, int64_t deadline_ms, bool awaited)
{
    if (!place)
        return;
    pthread_mutex_lock(&connections->mutex);
    place->deadline_ms = deadline_ms;
    place->awaited = awaited;
    place->steps++;
    pthread_mutex_unlock(&connections->mutex);
}

static int64_t allowed_ms(uint64_t bytes)
{
    return GRACE_SECONDS * 1000 + (int64_t)(bytes / SLOWEST_BYTES) * 1000;
}

void pyro_connection_takes_body(struct connections *connections, struct connection *place, uint64_t bytes)
{
    if (place && !bytes)
        place->begun_ms = pyro_clock_ms();
    if (place)
        set_deadline(connections, place, place->begun_ms + allowed_ms(bytes), true);
}

void pyro_connection_is_worked_on(struct connections *connections, struct connection *place)
{
    set_deadline(connections, place, INT64_MAX, false);
}

void pyro_connection_sends(struct connections *connections, struct connection *place, uint64_t bytes)
{
    set_deadline(connections, place, pyro_clock_ms() + allowed_ms(bytes), false);
}

void pyro_connection_waits(struct connections *connections, struct connection *place)
{
    set_deadline(connections, place, pyro_clock_ms() + HEADER_SECONDS * 1000, true);
}
