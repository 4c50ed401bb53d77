/* The server's beginning and end: libmicrohttpd, one thread a connection. */
#include "serve/http/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/stat.h>

#include "base/memory.h"

enum { CONNECTIONS = 128, CONNECTIONS_PER_ADDRESS = 64, IDLE_SECONDS = 30, HEADER_BYTES = 32 << 10, UPDATE_MS = 10000 };

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

/* Folders that are not there would be served as empty for ever. */
static enum pyro_status check_folders(const char *const *folders, size_t count, struct pyro_error *error)
{
    struct stat status;
    for (size_t i = 0; i < count; i++) {
        if (!folders[i])
            return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "pyro_server_start(): folder %zu is NULL", i);
        if (stat(folders[i], &status) == 0)
            continue;
        pyro_error_set(error, PYRO_ERROR_INPUT, "%s: check the path", strerror(errno));
        pyro_error_at(error, folders[i], UINT64_MAX);
        return PYRO_ERROR_INPUT;
    }
    return PYRO_OK;
}

static enum pyro_status open_catalog(struct pyro_server *server, const char *const *folders, size_t count,
                                     const struct pyro_server_options *options, struct pyro_error *error)
{
    const struct serve_catalog_options wanted = {
        .folders = folders,
        .folder_count = count,
        .uploads = server->uploads.folder,
        .cache = options->cache,
        .memory_bytes = options->memory_bytes ? options->memory_bytes : (uint64_t)1 << 30,
        .update_ms = options->update_ms ? options->update_ms : UPDATE_MS,
    };
    return pyro_serve_catalog_open(&wanted, &server->catalog, error);
}

enum pyro_status pyro_server_start(const char *const *folders, size_t folder_count,
                                   const struct pyro_server_options *options, pyro_server **ret,
                                   struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!folders || folder_count == 0 || !options || !ret || options->size != sizeof(*options) || options->port > 65535)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "pyro_server_start(): no folder, options or port");
    PYRO_TRY(check_folders(folders, folder_count, error));
    struct pyro_server *server = pyro_allocate(NULL, sizeof(*server));
    if (!server)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left");
    *server = (struct pyro_server){.max_upload_bytes =
                                       options->max_upload_bytes ? options->max_upload_bytes : (uint64_t)2 << 30};
    enum pyro_status status = pyro_spool_open(&server->uploads, options->upload_folder, error);
    if (status == PYRO_OK)
        status = open_catalog(server, folders, folder_count, options, error);
    if (status == PYRO_OK)
        status = listen_on(server, options->host ? options->host : "127.0.0.1", options->port, error);
    if (status != PYRO_OK) {
        pyro_server_stop(server);
        return status;
    }
    *ret = server;
    return PYRO_OK;
}

unsigned pyro_server_port(const pyro_server *server)
{
    return server->port;
}

void pyro_server_stop(pyro_server *server)
{
    if (!server)
        return;
    if (server->catalog)
        pyro_serve_catalog_stop(server->catalog);
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    pyro_serve_catalog_close(server->catalog);
    pyro_spool_close(&server->uploads);
    pyro_release(NULL, server);
}
