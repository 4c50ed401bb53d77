/* The server's beginning and end. */
#include "serve/http/server.h"

#include <errno.h>
#include <malloc.h>
#include <sys/stat.h>
#include <time.h>

#include "base/memory/allocator.h"
#include "base/options.h"
#include "base/threads/thread.h"
#include "serve/http/listen.h"
#include "store/store.h"

/* STOP_MS: how long answers that have begun may take once the server is to stop. */
enum { STOP_MS = 1000, CONNECTIONS = 4096, UPDATE_MS = 10000, UPLOADS = 10000, QUERIES = 2, QUERY_MS = 15000 };
enum { UPLOAD_CPU_SECONDS = 120, USER_CPU_SECONDS = 600 };

enum {
    FIRST_WORKERS = 4,
    LIGHT_WORKERS = 16,
    HEAVY_WORKERS = 64,    /* as many as the limiter lets run */
    ADMISSION_WORKERS = 2, /* a hash takes 16 MiB */
    HEAVY_NICENESS = 5,
    ANSWER_BYTES = 16 << 20
};

/* What the process may take beyond --memory: the program, its threads and buffers; a quarter of that is for what grows
 * between two looks. */
#define MEMORY_BYTES (UINT64_C(1) << 30)
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PROCESS_BYTES (UINT64_C(16) << 30) /* sanitizers keep what was freed, and shadow all of it */
#else
#define PROCESS_BYTES (UINT64_C(256) << 20)
#endif

bool pyro_server_is_stopping(struct pyro_server *server)
{
    pthread_mutex_lock(&server->mutex);
    bool stopping = server->stopping;
    pthread_mutex_unlock(&server->mutex);
    return stopping;
}

static struct pyro_server *create(const struct pyro_server_options *options)
{
    struct pyro_server *server = pyro_allocate(NULL, sizeof(*server));
    if (!server)
        return NULL;
    *server = (struct pyro_server){
        .max_upload_bytes = options->max_upload_bytes ? options->max_upload_bytes : (uint64_t)2 << 30,
        .max_connections = options->max_connections ? options->max_connections : CONNECTIONS,
    };
    pthread_mutex_init(&server->mutex, NULL);
    pyro_condition_init(&server->changed);
    server->shared.limiter = &server->limiter;
    server->shared.max_upload_bytes = server->max_upload_bytes;
    server->shared.store = options->store;
    server->shared.stale_ms = options->stale_ms ? options->stale_ms : PYRO_STALE_MS;
    server->shared.prices = options->prices;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    server->shared.metrics.started_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (!pyro_limiter_open(&server->limiter, options->queries ? options->queries : QUERIES,
                           options->query_ms ? options->query_ms : QUERY_MS)) {
        pyro_release(NULL, server);
        return NULL;
    }
    pyro_upload_cpu_open(&server->upload_cpu,
                         (uint64_t)(options->user_cpu_s ? options->user_cpu_s : USER_CPU_SECONDS) * 1000000);
    server->shared.upload_cpu = &server->upload_cpu;
    pyro_stream_limit_init(&server->streams);
    pyro_connections_start(&server->connections);
    return server;
}

static enum pyro_status open_uploads(struct pyro_server *server, const struct pyro_server_options *options,
                                     struct pyro_error *error)
{
    const struct serve_upload_limits limits = {
        .bytes = options->uploads_bytes ? options->uploads_bytes : (uint64_t)20 << 30,
        .files = options->uploads_count ? options->uploads_count : UPLOADS,
        .free_bytes = options->uploads_free_bytes ? options->uploads_free_bytes : (uint64_t)512 << 20,
    };
    return pyro_uploads_open(&server->uploads, options->upload_folder, &limits, error);
}

/* Missing folders would always be served as empty. */
static enum pyro_status check_folders(const char *const *folders, size_t count, struct pyro_error *error)
{
    struct stat status;
    for (size_t i = 0; i < count; i++) {
        if (!folders[i])
            return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "pyro_server_start(): folder %zu is NULL", i);
        if (pyro_store_is_url(folders[i]) || stat(folders[i], &status) == 0)
            continue; /* stores are opened below */
        pyro_error_describe(error, PYRO_ERROR_INPUT, "%s: check the path", strerror(errno));
        pyro_error_at(error, folders[i], UINT64_MAX);
        return PYRO_ERROR_INPUT;
    }
    return PYRO_OK;
}

static enum pyro_status open_catalog(struct pyro_server *server, const char *const *folders, size_t count,
                                     const struct pyro_server_options *options, struct pyro_error *error)
{
    struct pyro_retained_limits retained = {.size = sizeof(retained)};
    PYRO_TRY(PYRO_TAKE(&retained, options->retained, error));
    const struct pyro_catalog_options wanted = {
        .folders = folders,
        .folder_count = count,
        .uploads = server->uploads.folder,
        .costs = {.ratio = options->upload_ratio,
                  .line_bytes = options->upload_line_bytes ? options->upload_line_bytes : (uint64_t)64 << 20,
                  .cpu_us = (uint64_t)(options->upload_cpu_s ? options->upload_cpu_s : UPLOAD_CPU_SECONDS) * 1000000},
        .unlimited = options->unlimited != 0,
        .follow_links = options->follow_links != 0,
        .cache = options->cache,
        .memory_bytes = options->memory_bytes ? options->memory_bytes : MEMORY_BYTES,
        .update_ms = options->update_ms ? options->update_ms : UPDATE_MS,
        .watch = true,
        .retained = retained,
        .store = options->store,
        .load = {.size = sizeof(wanted.load),
                 .wanted = PYRO_WANT_PLAN_TEXT | PYRO_WANT_TASK_METRICS | PYRO_WANT_PLAN_CHANGES,
                 .redaction = options->redaction,
                 .stale_ms = server->shared.stale_ms},
        .rules = {.size = sizeof(wanted.rules), .config = options->config, .prices = options->prices},
    };
    return pyro_catalog_open(&wanted, &server->catalog, error);
}

static bool start_workers(struct pyro_server *server)
{
    return pyro_workers_start(&server->light, FIRST_WORKERS, LIGHT_WORKERS, 0) &&
           pyro_workers_start(&server->heavy, FIRST_WORKERS, HEAVY_WORKERS, HEAVY_NICENESS) &&
           pyro_workers_start(&server->admission, 1, ADMISSION_WORKERS, 0);
}

static void stop_workers(struct pyro_server *server)
{
    pyro_workers_stop(&server->admission);
    pyro_workers_stop(&server->heavy);
    pyro_workers_stop(&server->light);
}

static void shrink(void *context)
{
    struct pyro_server *server = context;
    pyro_catalog_shrink(server->catalog);
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

static enum pyro_status load_libraries(struct pyro_error *error)
{
    PYRO_TRY(pyro_microhttpd_load(error));
    PYRO_TRY(pyro_gnutls_load(error));
    return pyro_sodium_load(error);
}

enum pyro_status pyro_server_start(const char *const *folders, size_t folder_count,
                                   const struct pyro_server_options *given, pyro_server **ret, struct pyro_error *error)
{
    struct pyro_server_options own = {.size = sizeof(own)}, *options = &own;
    pyro_error_clear(error);
    PYRO_TRY(PYRO_TAKE(&own, given, error));
    if (!folders || folder_count == 0 || !given || !ret || options->port > 65535)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "pyro_server_start(): the folder, the options or the port is missing");
    PYRO_TRY(check_folders(folders, folder_count, error));
    PYRO_TRY(load_libraries(error));
    struct pyro_server *server = create(options);
    if (!server)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left, or cannot start a thread");
    enum pyro_status status = pyro_access_open(&server->access, options, error);
    if (status == PYRO_OK)
        status = open_uploads(server, options, error);
    if (status == PYRO_OK && !start_workers(server))
        status = pyro_error_set(error, PYRO_ERROR_MEMORY, "cannot start a thread");
    if (status == PYRO_OK)
        status = open_catalog(server, folders, folder_count, options, error);
    if (status == PYRO_OK)
        status = pyro_server_listen(server, options, error);
    if (status != PYRO_OK) {
        pyro_server_stop(server);
        return status;
    }
    uint64_t memory = options->memory_bytes ? options->memory_bytes : MEMORY_BYTES;
    server->most_answer_bytes = memory / 8 > ANSWER_BYTES ? memory / 8 : ANSWER_BYTES;
    pyro_limiter_watch_memory(&server->limiter, memory + PROCESS_BYTES / 4 * 3, shrink, server);
    server->watch = (struct watch){
        .tokens = server->access.has_tokens ? &server->access.tokens : NULL,
        .certificate = &server->certificate,
        .warn = options->warn,
        .warn_context = options->warn_context,
    };
    if (!pyro_watch_start(&server->watch)) { /* tokens that are taken away would stay */
        pyro_server_stop(server);
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "cannot start a thread");
    }
    *ret = server;
    return PYRO_OK;
}

void pyro_server_reload(pyro_server *server)
{
    if (server)
        pyro_watch_ask(&server->watch);
}

unsigned pyro_server_port(const pyro_server *server)
{
    return server->port;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void wait_for_answers(struct pyro_server *server)
{
    int64_t until = pyro_clock_ms() + STOP_MS;
    pthread_mutex_lock(&server->mutex);
    while (server->exchanges && pyro_condition_wait(&server->changed, &server->mutex, until))
        continue;
    pthread_mutex_unlock(&server->mutex);
}

/* New connections are now closed at once (listen.c). MHD_quiesce_daemon() is not for this: of libmicrohttpd 0.9.75, it
 * and the daemon's thread may both take the listening socket out of the epoll set, which ends the process.
 */
static void stop_accepting(struct pyro_server *server)
{
    pthread_mutex_lock(&server->mutex);
    server->stopping = true;
    pthread_mutex_unlock(&server->mutex);
}

static void stop_daemon(struct pyro_server *server)
{
    stop_accepting(server);
    pyro_stream_limit_stop(&server->streams, STREAMS_STOP_WAITING);
    wait_for_answers(server);
    pyro_limiter_stop(&server->limiter);
    /* The daemon must not be stopped while a connection is suspended. */
    pyro_stream_limit_stop(&server->streams, STREAMS_STOP_ALL);
    stop_workers(server);
    MHD_stop_daemon(server->daemon);
}

void pyro_server_stop(pyro_server *server)
{
    if (!server)
        return;
    pyro_watch_stop(&server->watch);
    if (server->catalog)
        pyro_catalog_stop(server->catalog);
    if (server->daemon)
        stop_daemon(server);
    else
        stop_workers(server);
    pyro_stream_limit_done(&server->streams);
    pyro_connections_stop(&server->connections);
    pyro_limiter_stop(&server->limiter);
    pyro_catalog_close(server->catalog);
    pyro_limiter_close(&server->limiter);
    pyro_uploads_close(&server->uploads);
    pyro_upload_cpu_close(&server->upload_cpu);
    pyro_access_close(&server->access);
    pyro_certificate_close(&server->certificate);
    pthread_mutex_destroy(&server->mutex);
    pthread_cond_destroy(&server->changed);
    pyro_release(NULL, server);
}
