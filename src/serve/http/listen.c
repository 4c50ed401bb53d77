#include "serve/http/listen.h"

#include <netdb.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { IDLE_SECONDS = 30, HEADER_BYTES = 32 << 10, LOOPS_LIMIT = 4, OWN_FILES = 256 };

static unsigned count_loops(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > LOOPS_LIMIT ? LOOPS_LIMIT : (unsigned)cores;
}

/* As many as asked for, and as there are files left for them beside what the services open. */
static unsigned count_connections(unsigned wanted)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY)
        return wanted;
    rlim_t rest = files.rlim_cur > 2 * OWN_FILES ? files.rlim_cur - OWN_FILES : files.rlim_cur / 2;
    return rest < wanted ? (unsigned)rest : wanted;
}

static bool resolve(const char *host, unsigned port, struct sockaddr_storage *ret)
{
    const struct addrinfo wanted = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV |
                                                (strcmp(host, "localhost") == 0 ? 0 : AI_NUMERICHOST),
                                    .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char service[16];
    snprintf(service, sizeof(service), "%u", port);
    if (getaddrinfo(host, service, &wanted, &found) != 0)
        return false;
    memcpy(ret, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return true;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **state,
                          enum MHD_ConnectionNotificationCode code)
{
    struct pyro_server *server = context;
    pyro_connections_notify(&server->connections, connection, state, code);
}

enum pyro_status pyro_http_listen(struct pyro_server *server, const char *host, unsigned port, struct pyro_error *error)
{
    struct sockaddr_storage address;
    if (!resolve(host, port, &address))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "'%s' is no IPv4 or IPv6 address to listen on", host);
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;
    if (address.ss_family == AF_INET6)
        flags |= MHD_USE_IPv6;
    unsigned connections = count_connections(server->max_connections), loops = count_loops();
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_SOCK_ADDR, 0, &address},
        {MHD_OPTION_CONNECTION_LIMIT, connections, NULL},
        /* One client alone does not take all. */
        {MHD_OPTION_PER_IP_CONNECTION_LIMIT, connections / 2 + 1, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEADER_BYTES, NULL},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)pyro_http_end, server},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, server},
        {loops > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, loops, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    server->daemon = MHD_start_daemon(flags, (uint16_t)port, NULL, NULL, pyro_http_answer, server, MHD_OPTION_ARRAY,
                                      options, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        server->daemon ? MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!info)
        return pyro_error_set(error, PYRO_ERROR_OUTPUT, "cannot listen on %s, port %u: is the port taken?", host, port);
    server->port = info->port;
    return PYRO_OK;
}
