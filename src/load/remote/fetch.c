/* A remote log -> a temporary file -> a log like any other. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/temporary_file.h"
#include "base/memory/allocator.h"
#include "decode/rest/rest.h"
#include "load/remote/remote.h"
#include "model/history/history.h"

struct fetching {
    const struct pyro_log *log;
    const struct pyro_remote *remote;
    struct pyro_remote_options asked;
    struct pyro_remote_client client;
    struct pyro_fetched *ret;
    struct pyro_error *error;
    uint64_t written;
};

static enum pyro_status no_memory(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for a remote log");
}

/* ---- The temporary file ------------------------------------------------------------------------------------------ */

/* It is opened again by its descriptor. */
static enum pyro_status open_file(struct fetching *fetching)
{
    fetching->ret->fd = pyro_temporary_file();
    if (fetching->ret->fd < 0)
        return pyro_error_set(fetching->error, PYRO_ERROR_INPUT,
                              "cannot make a temporary file in %s (%s): name another folder in TMPDIR",
                              pyro_temporary_folder(), strerror(errno));
    return PYRO_OK;
}

static enum pyro_status write_file(struct fetching *fetching, const char *bytes, size_t len)
{
    int failure = pyro_write_all(fetching->ret->fd, bytes, len);
    fetching->written += len;
    if (failure)
        return pyro_error_set(fetching->error, PYRO_ERROR_INPUT,
                              "cannot write the temporary file (%s): name a folder with more room in TMPDIR",
                              strerror(failure));
    return PYRO_OK;
}

static bool receive(void *context, const void *bytes, size_t len)
{
    return write_file(context, bytes, len) == PYRO_OK;
}

static enum pyro_status empty_file(struct fetching *fetching)
{
    fetching->written = 0;
    if (ftruncate(fetching->ret->fd, 0) != 0 || lseek(fetching->ret->fd, 0, SEEK_SET) != 0)
        return pyro_error_set(fetching->error, PYRO_ERROR_INPUT, "cannot write the temporary file: %s",
                              strerror(errno));
    return PYRO_OK;
}

/* Gets an address into the file; a body that broke off is got again from its beginning. */
static enum pyro_status download(struct fetching *fetching, const char *url, struct pyro_exchange_answer *ret)
{
    for (unsigned tried = 1;; tried++) {
        PYRO_TRY(empty_file(fetching));
        ret->bytes = 0;
        enum pyro_status status = pyro_http_get(fetching->client.http, url, fetching->asked.max_bytes,
                                                PYRO_REMOTE_TRIES, receive, fetching, ret, fetching->error);
        bool broke_off = status == PYRO_ERROR_INPUT && ret->bytes > 0 && ret->bytes == fetching->written &&
                         ret->bytes < fetching->asked.max_bytes;
        if (!broke_off || tried >= PYRO_REMOTE_TRIES)
            return status;
    }
}

/* What was got, where nothing else says what the server answered. */
static void keep_file(const struct fetching *fetching)
{
    struct pyro_strbuf *unread = fetching->client.options->unread;
    char part[4096];
    ssize_t got = 1;
    if (fetching->ret->fd < 0 || !unread || unread->len > 0)
        return;
    while (got > 0 && unread->len < PYRO_HTTP_KEPT_BYTES && !unread->failed) {
        got = pread(fetching->ret->fd, part, sizeof(part), (off_t)unread->len);
        pyro_strbuf_add(unread, part, got > 0 ? (size_t)got : 0);
    }
}

/* ---- The file as a log ------------------------------------------------------------------------------------------- */

/* *ret_reason: why it holds none, else NULL. Of the list. */
static enum pyro_status open_list(struct fetching *fetching, const char **ret_reason)
{
    struct pyro_fetched *ret = fetching->ret;
    char path[64];
    const char *const paths[] = {path};
    snprintf(path, sizeof(path), "/proc/self/fd/%d", ret->fd);
    pyro_log_list_done(&ret->list);
    const struct pyro_known known = {.unlimited = fetching->client.options->unlimited != 0, .unpack = true};
    PYRO_TRY(
        pyro_source_discover_again(paths, 1, &known, fetching->client.options->allocator, &ret->list, fetching->error));
    *ret_reason = NULL;
    if (ret->list.count == 0) {
        *ret_reason = ret->list.unreadable_count ? ret->list.unreadable[0].message.ptr : "has no event log";
        return PYRO_OK;
    }
    struct pyro_log *log = &ret->list.logs[0];
    log->path = fetching->log->path;
    for (size_t i = 0; i < log->part_count; i++)
        log->parts[i].label = log->parts[i].member.ptr ? log->parts[i].member : log->path;
    ret->log = log;
    return PYRO_OK;
}

static enum pyro_status fetch_file(struct fetching *fetching)
{
    struct pyro_exchange_answer answer = {0};
    const char *reason = NULL;
    PYRO_TRY(download(fetching, fetching->remote->base.ptr, &answer));
    if (answer.status != 200)
        return PYRO_ERROR_INPUT; /* the error says which */
    if (answer.html)
        return pyro_error_set(
            fetching->error, PYRO_ERROR_INPUT,
            "it is a web page: give the address of an event log, or of the page of an application on a History Server");
    PYRO_TRY(open_list(fetching, &reason));
    return reason ? pyro_error_set(fetching->error, PYRO_ERROR_INPUT, "its answer %s", reason) : PYRO_OK;
}

/* The archive that a server hands out. *ret_refusal says why there is none, "" when there is: the live UI answers with
 * an empty one. */
static enum pyro_status fetch_archive(struct fetching *fetching, char *ret_refusal, size_t capacity)
{
    struct pyro_exchange_answer answer = {0};
    const char *reason = NULL;
    struct pyro_strbuf url;
    pyro_strbuf_init(&url, fetching->client.options->allocator);
    pyro_remote_add_api(&url, fetching->remote, true);
    pyro_strbuf_add_text(&url, "/logs");
    ret_refusal[0] = '\0';
    enum pyro_status status = url.failed ? no_memory(fetching->error) : download(fetching, url.data, &answer);
    pyro_strbuf_done(&url);
    PYRO_TRY(status);
    if (answer.status != 200) {
        snprintf(ret_refusal, capacity, "%.250s", fetching->error->message);
        return PYRO_OK;
    }
    PYRO_TRY(open_list(fetching, &reason));
    if (reason)
        snprintf(ret_refusal, capacity, "its archive %.250s", reason);
    return PYRO_OK;
}

/* ---- REST answers ------------------------------------------------------------------------------------------------ */

static enum pyro_status get_page(void *context, const char *page, struct pyro_strbuf *body, unsigned *ret_status,
                                 struct pyro_error *error)
{
    struct fetching *fetching = context;
    struct pyro_exchange_answer answer = {0};
    struct pyro_strbuf url;
    pyro_strbuf_init(&url, fetching->client.options->allocator);
    pyro_remote_add_api(&url, fetching->remote, page[0] != '\0');
    if (page[0])
        pyro_strbuf_printf(&url, "/%s", page);
    enum pyro_status status = url.failed ? no_memory(error)
                                         : pyro_http_get_text(fetching->client.http, url.data, PYRO_REMOTE_ANSWER_BYTES,
                                                              PYRO_REMOTE_TRIES, body, &answer, error);
    pyro_strbuf_done(&url);
    fetching->client.received += answer.bytes;
    *ret_status = answer.status;
    if (status == PYRO_OK && answer.status == 200)
        pyro_remote_keep(fetching->client.options, pyro_strbuf_slice(body));
    if (status == PYRO_OK && answer.status == 200 && answer.html) {
        *ret_status = 404;
        pyro_error_describe(error, PYRO_ERROR_INPUT, "the server answers with a web page instead of %s of the REST API",
                            page[0] ? page : "the application");
    }
    return status;
}

static enum pyro_status put_lines(void *context, const char *lines, size_t len, struct pyro_error *error)
{
    struct fetching *fetching = context;
    if (len > fetching->asked.max_bytes - fetching->written)
        return pyro_error_set(error, PYRO_ERROR_INPUT,
                              "the answers are larger than the limit of %llu bytes: see --max-download",
                              (unsigned long long)fetching->asked.max_bytes);
    return write_file(fetching, lines, len);
}

static void note_forgotten(struct pyro_fetched *ret, const struct pyro_rest_facts *facts)
{
    uint64_t lost = facts->lost_jobs + facts->lost_stages + facts->lost_executions;
    ret->tasks = facts->tasks;
    ret->lost_tasks = facts->lost_tasks;
    ret->forgotten = lost > 0;
    if (lost + facts->lost_tasks > 0)
        snprintf(ret->notes[2], sizeof(ret->notes[2]),
                 "The server has already dropped data (spark.ui.retainedJobs, Stages, Tasks): %llu jobs, %llu stages, "
                 "%llu tasks and %llu SQL executions are missing.",
                 (unsigned long long)facts->lost_jobs, (unsigned long long)facts->lost_stages,
                 (unsigned long long)facts->lost_tasks, (unsigned long long)facts->lost_executions);
}

static enum pyro_status fetch_rest(struct fetching *fetching)
{
    struct pyro_fetched *ret = fetching->ret;
    struct pyro_rest_facts facts;
    const char *reason = NULL;
    const struct pyro_rest_source source = {
        .allocator = fetching->client.options->allocator,
        .attempt = fetching->remote->attempt.ptr,
        .history = fetching->client.options->history,
        .redaction = fetching->client.options->redaction,
        .get = get_page,
        .put = put_lines,
        .context = fetching,
    };
    ret->rest = true;
    PYRO_TRY(empty_file(fetching));
    PYRO_TRY(pyro_rest_read(&source, &facts, fetching->error));
    ret->history = facts.history;
    PYRO_TRY(open_list(fetching, &reason));
    if (reason)
        return pyro_error_set(fetching->error, PYRO_ERROR_INPUT, "the answers of the server are not a log: it %s",
                              reason);
    ret->list.logs[0].in_progress = !facts.completed;
    snprintf(
        ret->notes[1], sizeof(ret->notes[1]),
        "REST answers have no lineage of RDDs, no SQL metrics of single tasks and no progress of streaming queries. "
        "They round the totals of SQL metrics. The dependencies of stages are inferred from their times.");
    note_forgotten(ret, &facts);
    return PYRO_OK;
}

static enum pyro_status fetch_application(struct fetching *fetching)
{
    char refusal[300] = "";
    if (fetching->asked.mode != PYRO_REMOTE_REST)
        PYRO_TRY(fetch_archive(fetching, refusal, sizeof(refusal)));
    if (fetching->ret->log)
        return PYRO_OK;
    if (fetching->asked.mode == PYRO_REMOTE_LOG)
        return pyro_error_set(fetching->error, PYRO_ERROR_INPUT, "the server does not provide the log: %s", refusal);
    PYRO_TRY(fetch_rest(fetching));
    snprintf(fetching->ret->notes[0], sizeof(fetching->ret->notes[0]), "Read from the REST API%s%s.",
             refusal[0] ? ": the server does not provide the log, " : "", refusal);
    return PYRO_OK;
}

enum pyro_status pyro_fetch(const struct pyro_log *log, const struct pyro_load_settings *options,
                            struct pyro_fetched *ret, struct pyro_error *error)
{
    struct pyro_error own = {.size = sizeof(own)};
    struct fetching fetching = {.log = log,
                                .remote = log->remote,
                                .asked = pyro_remote_resolve(options),
                                .ret = ret,
                                .error = pyro_error_is_usable(error) ? error : &own};
    *ret = (struct pyro_fetched){.fd = -1};
    pyro_arena_init(&ret->list.arena, options->allocator);
    if (log->layout != PYRO_LAYOUT_REMOTE) {
        ret->log = log;
        return PYRO_OK;
    }
    if (!log->remote)
        return pyro_error_set(error, PYRO_ERROR_INPUT, "addresses are not allowed here: name files and folders");
    enum pyro_status status = pyro_remote_client_open(&fetching.client, options, log->path.ptr, fetching.error);
    if (status == PYRO_OK)
        status = open_file(&fetching);
    if (status == PYRO_OK)
        status = log->remote->app.ptr ? fetch_application(&fetching) : fetch_file(&fetching);
    pyro_remote_client_close(&fetching.client);
    if (status == PYRO_ERROR_INPUT)
        keep_file(&fetching);
    if (status != PYRO_OK) {
        fetching.error->path[0] = '\0';
        pyro_error_at(fetching.error, log->path.ptr, UINT64_MAX);
        pyro_fetched_done(ret);
    }
    return status;
}

void pyro_fetched_done(struct pyro_fetched *fetched)
{
    pyro_history_release(fetched->history);
    fetched->history = NULL;
    pyro_log_list_done(&fetched->list);
    if (fetched->fd >= 0)
        close(fetched->fd);
    fetched->fd = -1;
}
