#include "serve/http/listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/memory/allocator.h"
#include "serve/http/framing.h"

enum { IDLE_SECONDS = 30, POOL_BYTES = 128 << 10, LOOPS_LIMIT = 4, OWN_FILES = 256 };

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

/* ---- Safe to expose? --------------------------------------------------------------------------------------------- */

static enum pyro_status check_exposure(const struct pyro_server_options *options, const char *host,
                                       struct pyro_error *error)
{
    bool tls = options->tls_certificate != NULL;
    if (tls != (options->tls_key != NULL))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "TLS needs both a certificate and its key");
    if (pyro_access_is_loopback(host) || options->insecure || (tls && options->tokens))
        return PYRO_OK;
    return pyro_error_set(
        error, PYRO_ERROR_ARGUMENT,
        "other machines can reach %s: %s%s%s. Give %s%s%s, or give --insecure if something else protects the server",
        host, options->tokens ? "" : "everyone who reaches the server can read every log and upload logs",
        !options->tokens && !tls ? ", and " : "", tls ? "" : "everyone on the network path can read tokens and answers",
        options->tokens ? "" : "--tokens", !options->tokens && !tls ? " and " : "",
        tls ? "" : "--tls-cert and --tls-key");
}

/* ---- TLS --------------------------------------------------------------------------------------------------------- */

static enum pyro_status read_tls(struct pyro_server *server, const struct pyro_server_options *options,
                                 struct pyro_error *error)
{
    if (!options->tls_certificate)
        return PYRO_OK;
    if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES ||
        MHD_is_feature_supported(MHD_FEATURE_HTTPS_CERT_CALLBACK) != MHD_YES)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "this libmicrohttpd was built without TLS");
    server->connections.certificate = &server->certificate;
    return pyro_certificate_open(&server->certificate, options->tls_certificate, options->tls_key, error);
}

/* Called by each handshake; libmicrohttpd keeps the connection with the session. */
static int choose_certificate(gnutls_session_t session, const gnutls_datum_t *names, int name_count,
                              const gnutls_pk_algorithm_t *algorithms, int algorithm_count, gnutls_pcert_st **ret_chain,
                              unsigned *ret_count, gnutls_privkey_t *ret_key)
{
    struct MHD_Connection *connection = gnutls_session_get_ptr(session);
    const union MHD_ConnectionInfo *info =
        connection ? MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT) : NULL;
    const struct connection *place = info ? info->socket_context : NULL;
    (void)names;
    (void)name_count;
    (void)algorithms;
    (void)algorithm_count;
    if (!place)
        return -1;
    const struct certificate_pair *pair = pyro_certificate_pair(place->all->certificate);
    *ret_chain = pair->chain;
    *ret_count = pair->count;
    *ret_key = pair->key;
    return 0;
}

/* ---- The daemon -------------------------------------------------------------------------------------------------- */

/* A NUL would end the path early for code that reads it as a string. */
static size_t unescape(void *context, struct MHD_Connection *connection, char *text)
{
    size_t len = MHD_http_unescape(text);
    (void)context;
    (void)connection;
    for (char *at = text; (at = memchr(at, '\0', len - (size_t)(at - text)));)
        *at = '\x1a';
    return len;
}

static enum MHD_Result accept_connection(void *context, const struct sockaddr *address, socklen_t len)
{
    (void)address;
    (void)len;
    return pyro_server_is_stopping(context) ? MHD_NO : MHD_YES;
}

static struct MHD_Daemon *start(struct pyro_server *server, struct sockaddr_storage *address, unsigned port)
{
    unsigned connections = count_connections(server->max_connections), loops = count_loops();
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;
    flags |= address->ss_family == AF_INET6 ? MHD_USE_IPv6 : 0;
    flags |= server->certificate.pair ? MHD_USE_TLS : 0;
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_SOCK_ADDR, 0, address},
        {MHD_OPTION_CONNECTION_LIMIT, connections, NULL},
        /* One client alone does not take all. */
        {MHD_OPTION_PER_IP_CONNECTION_LIMIT, connections / 2 + 1, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, NULL},
        /* Headers may take a part of it: each name and value takes some more, and so does the answer. */
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, POOL_BYTES, NULL},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)pyro_request_count_parameters, server},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)pyro_exchange_end, server},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, server},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)unescape, NULL},
        {MHD_OPTION_END, 0, NULL}, /* loops */
        {MHD_OPTION_END, 0, NULL}, /* TLS: two */
        {MHD_OPTION_END, 0, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    size_t count = 10;
    if (loops > 1)
        options[count++] = (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, loops, NULL};
    if (server->certificate.pair) {
        static char versions[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
        options[count++] =
            (struct MHD_OptionItem){MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(intptr_t)choose_certificate};
        options[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, versions};
    }
    return MHD_start_daemon(flags, (uint16_t)port, accept_connection, server, pyro_exchange_answer, server,
                            MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

enum pyro_status pyro_server_listen(struct pyro_server *server, const struct pyro_server_options *options,
                                    struct pyro_error *error)
{
    struct sockaddr_storage address = {0};
    const char *host = options->host ? options->host : "127.0.0.1";
    if (!resolve(host, options->port, &address))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "'%s' is not an IPv4 or IPv6 address to listen on", host);
    PYRO_TRY(check_exposure(options, host, error));
    PYRO_TRY(read_tls(server, options, error));
    server->daemon = start(server, &address, options->port);
    const union MHD_DaemonInfo *info =
        server->daemon ? MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!info)
        return pyro_error_set(error, PYRO_ERROR_OUTPUT, "cannot listen on %s, port %u: is the port taken?", host,
                              options->port);
    server->port = info->port;
    return PYRO_OK;
}
