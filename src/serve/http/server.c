/* The server's beginning and end: libmicrohttpd, one thread a connection. */
#include "serve/http/server.h"

#include <arpa/inet.h>

#include "base/memory.h"

enum { CONNECTIONS = 128, CONNECTIONS_PER_ADDRESS = 64, IDLE_SECONDS = 30, HEADER_BYTES = 32 << 10 };

static void *scan(void *context)
{
    struct pyro_server *server = context;
    struct serve_catalog *catalog = NULL;
    struct pyro_error error = {0};
    if (pyro_serve_catalog_open(server->folder, server->memory_bytes, &catalog, &error) != PYRO_OK)
        catalog = NULL;
    pthread_mutex_lock(&server->mutex);
    server->catalog = catalog;
    server->error = error;
    server->ready = true;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->mutex);
    return NULL;
}

struct serve_catalog *pyro_http_catalog(struct pyro_server *server)
{
    pthread_mutex_lock(&server->mutex);
    while (!server->ready)
        pthread_cond_wait(&server->changed, &server->mutex);
    pthread_mutex_unlock(&server->mutex);
    return server->catalog;
}

static enum pyro_status listen_on(struct pyro_server *server, const char *host, unsigned port, struct pyro_error *error)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "'%s' is no IPv4 address to listen on", host);
    server->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, (uint16_t)port, NULL, NULL,
        pyro_http_answer, server, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)CONNECTIONS_PER_ADDRESS,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES,
        MHD_OPTION_NOTIFY_COMPLETED, pyro_http_end, NULL, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        server->daemon ? MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!info)
        return pyro_error_set(error, PYRO_ERROR_OUTPUT, "cannot listen on %s:%u: is the port taken?", host, port);
    server->port = info->port;
    return PYRO_OK;
}

enum pyro_status pyro_server_start(const char *folder, const struct pyro_server_options *options, pyro_server **ret,
                                   struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!folder || !options || !ret || options->size != sizeof(*options) || options->port > 65535)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "pyro_server_start(): no folder, options or port");
    size_t bytes = strlen(folder) + 1;
    struct pyro_server *server = pyro_allocate(NULL, sizeof(*server) + bytes);
    if (!server)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left");
    *server = (struct pyro_server){.folder = (char *)(server + 1),
                                   .memory_bytes = options->memory_bytes ? options->memory_bytes : (uint64_t)1 << 30,
                                   .max_upload_bytes =
                                       options->max_upload_bytes ? options->max_upload_bytes : (uint64_t)2 << 30};
    memcpy(server->folder, folder, bytes);
    pthread_mutex_init(&server->mutex, NULL);
    pthread_cond_init(&server->changed, NULL);
    enum pyro_status status = pyro_spool_open(&server->uploads, options->upload_folder, error);
    if (status == PYRO_OK)
        status = listen_on(server, options->host ? options->host : "127.0.0.1", options->port, error);
    if (status == PYRO_OK) {
        server->scanning = pthread_create(&server->scanner, NULL, scan, server) == 0;
        if (!server->scanning)
            scan(server);
        *ret = server;
    } else {
        pyro_server_stop(server);
    }
    return status;
}

unsigned pyro_server_port(const pyro_server *server)
{
    return server->port;
}

void pyro_server_stop(pyro_server *server)
{
    if (!server)
        return;
    if (server->scanning)
        pthread_join(server->scanner, NULL);
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    pyro_serve_catalog_close(server->catalog);
    pyro_spool_close(&server->uploads);
    pthread_mutex_destroy(&server->mutex);
    pthread_cond_destroy(&server->changed);
    pyro_release(NULL, server);
}
