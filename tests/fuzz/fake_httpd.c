#include "fake_httpd.h"
#include "fuzz_kit.h"

#if defined(HAVE_SERVER) && !defined(PYRO_LIBRARIES_LINKED)
#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <strings.h>

#include "libraries/libmicrohttpd.h"

/* How much is read of a stream that may have no end, and of other answers. */
enum { STREAM_BYTES = 1, ANSWER_BYTES = 4 << 20, BLOCK = 256 << 10 };

struct MHD_Daemon {
    MHD_AccessHandlerCallback answer;
    void *answer_context;
    MHD_RequestCompletedCallback end;
    void *end_context;
};

struct MHD_Response {
    int references;
    unsigned headers;
    uint64_t size;
    struct pyro_strbuf body;
    char type[128];
    MHD_ContentReaderCallback read; /* NULL: `body` is all */
    MHD_ContentReaderFreeCallback free;
    void *context;
};

struct MHD_Connection {
    const struct fake_request *request;
    struct pyro_strbuf head; /* as libmicrohttpd leaves it: zeros in place of line ends */
    size_t names[FAKE_HEADERS], values[FAKE_HEADERS], version;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    bool suspended, was_suspended;
    unsigned status;
    struct MHD_Response *response;
    union MHD_ConnectionInfo info;
    struct sockaddr_in address;
};

static struct MHD_Daemon the_daemon;

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

static enum MHD_Result add_response_header(struct MHD_Response *response, const char *name, const char *value)
{
    FUZZ_CHECK(name && value && !strpbrk(name, "\r\n: ") && !strpbrk(value, "\r\n"));
    if (strcmp(name, MHD_HTTP_HEADER_CONTENT_TYPE) == 0)
        snprintf(response->type, sizeof(response->type), "%s", value);
    response->headers++;
    return MHD_YES;
}

static struct MHD_Response *new_response(void)
{
    struct MHD_Response *response = calloc(1, sizeof(*response));
    FUZZ_CHECK(response);
    response->references = 1;
    pyro_strbuf_init(&response->body, NULL);
    return response;
}

static struct MHD_Response *create_from_buffer(size_t size, void *data, enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response = new_response();
    FUZZ_CHECK(mode == MHD_RESPMEM_MUST_COPY || size == 0);
    response->size = size;
    pyro_strbuf_add(&response->body, data, size);
    return response;
}

static struct MHD_Response *create_from_callback(uint64_t size, size_t block, MHD_ContentReaderCallback read,
                                                 void *context, MHD_ContentReaderFreeCallback free)
{
    struct MHD_Response *response = new_response();
    FUZZ_CHECK(block > 0);
    response->size = size;
    response->read = read;
    response->free = free;
    response->context = context;
    return response;
}

static void destroy_response(struct MHD_Response *response)
{
    if (--response->references > 0)
        return;
    if (response->free)
        response->free(response->context);
    pyro_strbuf_done(&response->body);
    free(response);
}

static enum MHD_Result queue_response(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response)
{
    FUZZ_CHECK(!connection->response && status >= 200 && status < 600);
    response->references++;
    connection->status = status;
    connection->response = response;
    return MHD_YES;
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

static const union MHD_ConnectionInfo *get_info(struct MHD_Connection *connection, enum MHD_ConnectionInfoType type,
                                                ...)
{
    switch (type) {
    case MHD_CONNECTION_INFO_CONNECTION_FD:
        connection->info.connect_fd = -1;
        break;
    case MHD_CONNECTION_INFO_SOCKET_CONTEXT:
        connection->info.socket_context = NULL;
        break;
    case MHD_CONNECTION_INFO_CLIENT_ADDRESS:
        connection->address = (struct sockaddr_in){.sin_family = AF_INET};
        connection->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connection->info.client_addr = (struct sockaddr *)&connection->address;
        break;
    case MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE:
        connection->info.header_size = connection->head.len;
        break;
    default:
        return NULL;
    }
    return &connection->info;
}

static const char *header_name(const struct MHD_Connection *connection, size_t i)
{
    return connection->head.data + connection->names[i];
}

static const char *header_value(const struct MHD_Connection *connection, size_t i)
{
    return connection->head.data + connection->values[i];
}

static int get_values(struct MHD_Connection *connection, enum MHD_ValueKind kind, MHD_KeyValueIterator take,
                      void *context)
{
    (void)connection, (void)kind, (void)take, (void)context;
    return 0; /* only cookies are counted by it */
}

static int get_values_n(struct MHD_Connection *connection, enum MHD_ValueKind kind, MHD_KeyValueIteratorN take,
                        void *context)
{
    const struct fake_request *request = connection->request;
    if (kind == MHD_HEADER_KIND)
        for (size_t i = 0; i < request->header_count; i++) {
            const char *name = header_name(connection, i), *value = header_value(connection, i);
            take(context, kind, name, strlen(name), value, strlen(value));
        }
    if (kind == MHD_GET_ARGUMENT_KIND)
        for (size_t i = 0; i < request->parameter_count; i++) {
            const struct fake_pair *pair = &request->parameters[i];
            take(context, kind, pair->name, strlen(pair->name), pair->value, pair->value ? strlen(pair->value) : 0);
        }
    return 1;
}

static enum MHD_Result lookup(struct MHD_Connection *connection, enum MHD_ValueKind kind, const char *key, size_t len,
                              const char **ret_value, size_t *ret_len)
{
    FUZZ_CHECK(kind == MHD_HEADER_KIND);
    for (size_t i = 0; i < connection->request->header_count; i++) {
        const char *name = header_name(connection, i);
        if (strlen(name) != len || strncasecmp(name, key, len) != 0)
            continue;
        *ret_value = header_value(connection, i);
        *ret_len = strlen(*ret_value);
        return MHD_YES;
    }
    return MHD_NO;
}

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

static void suspend_connection(struct MHD_Connection *connection)
{
    pthread_mutex_lock(&connection->mutex);
    FUZZ_CHECK(!connection->suspended);
    connection->suspended = connection->was_suspended = true;
    pthread_mutex_unlock(&connection->mutex);
}

static void resume_connection(struct MHD_Connection *connection)
{
    pthread_mutex_lock(&connection->mutex);
    FUZZ_CHECK(connection->suspended);
    connection->suspended = false;
    pthread_cond_signal(&connection->changed);
    pthread_mutex_unlock(&connection->mutex);
}

/* Whether it was suspended. */
static bool wait_for_resumption(struct MHD_Connection *connection)
{
    pthread_mutex_lock(&connection->mutex);
    while (connection->suspended)
        pthread_cond_wait(&connection->changed, &connection->mutex);
    bool was = connection->was_suspended;
    connection->was_suspended = false;
    pthread_mutex_unlock(&connection->mutex);
    return was;
}

/* ---- The daemon -------------------------------------------------------------------------------------------------- */

static struct MHD_Daemon *start_daemon(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept,
                                       void *accept_context, MHD_AccessHandlerCallback answer, void *answer_context,
                                       ...)
{
    va_list arguments;
    (void)flags, (void)port, (void)accept, (void)accept_context;
    the_daemon = (struct MHD_Daemon){.answer = answer, .answer_context = answer_context};
    va_start(arguments, answer_context);
    FUZZ_CHECK(va_arg(arguments, int) == MHD_OPTION_ARRAY);
    for (const struct MHD_OptionItem *option = va_arg(arguments, struct MHD_OptionItem *);
         option->option != MHD_OPTION_END; option++)
        if (option->option == MHD_OPTION_NOTIFY_COMPLETED) {
            the_daemon.end = (MHD_RequestCompletedCallback)option->value;
            the_daemon.end_context = option->ptr_value;
        }
    va_end(arguments);
    return &the_daemon;
}

static void stop_daemon(struct MHD_Daemon *daemon)
{
    (void)daemon;
}

static const union MHD_DaemonInfo *daemon_info(struct MHD_Daemon *daemon, enum MHD_DaemonInfoType type, ...)
{
    static union MHD_DaemonInfo info = {.port = 80};
    (void)daemon, (void)type;
    return &info;
}

static enum MHD_Result is_supported(enum MHD_FEATURE feature)
{
    (void)feature;
    return MHD_NO;
}

static size_t unescape(char *text)
{
    return strlen(text);
}

bool fake_httpd_install(void)
{
    if (pyro_microhttpd_load(NULL) != PYRO_OK)
        return false;
    MHD_add_response_header = add_response_header;
    MHD_create_response_from_buffer = create_from_buffer;
    MHD_create_response_from_callback = create_from_callback;
    MHD_destroy_response = destroy_response;
    MHD_get_connection_info = get_info;
    MHD_get_connection_values = get_values;
    MHD_get_connection_values_n = get_values_n;
    MHD_get_daemon_info = daemon_info;
    MHD_http_unescape = unescape;
    MHD_is_feature_supported = is_supported;
    MHD_lookup_connection_value_n = lookup;
    MHD_queue_response = queue_response;
    MHD_resume_connection = resume_connection;
    MHD_start_daemon = start_daemon;
    MHD_stop_daemon = stop_daemon;
    MHD_suspend_connection = suspend_connection;
    return true;
}

/* ---- One request ------------------------------------------------------------------------------------------------- */

static void add_text(struct pyro_strbuf *head, const char *text, size_t zeros)
{
    pyro_strbuf_add_text(head, text);
    pyro_strbuf_add(head, "\0", zeros < 1 ? 0 : 1);
    pyro_strbuf_add(head, "\0", zeros < 2 ? 0 : 1);
}

static void write_head(struct MHD_Connection *connection)
{
    const struct fake_request *request = connection->request;
    struct pyro_strbuf *head = &connection->head;
    add_text(head, request->method, 1);
    add_text(head, request->path, 1);
    connection->version = head->len;
    add_text(head, MHD_HTTP_VERSION_1_1, 2);
    for (size_t i = 0; i < request->header_count; i++) {
        connection->names[i] = head->len;
        add_text(head, request->headers[i].name, 1);
        pyro_strbuf_add_text(head, " ");
        connection->values[i] = head->len;
        add_text(head, request->headers[i].value, 2);
    }
    pyro_strbuf_add(head, "\0", 1);
    pyro_strbuf_add(head, "\0", 1);
    FUZZ_CHECK(!head->failed);
}

/* The handler is called as libmicrohttpd does: once with the headers, again when it was suspended, with pieces of the
 * body, and without data when that is over. */
static void run_handler(struct MHD_Connection *connection, void **state)
{
    const struct fake_request *request = connection->request;
    const char *head = connection->head.data, *body = request->body;
    size_t left = request->body_len;
    for (bool first = true, again = false; !connection->response; first = false) {
        size_t size = first || again ? 0 : left < 1000 ? left : left - left / 2, offered = size;
        if (the_daemon.answer(the_daemon.answer_context, connection, request->path, head, head + connection->version,
                              size ? body : NULL, &size, state) != MHD_YES)
            return;
        FUZZ_CHECK(offered == 0 || size == 0);
        body = offered ? body + offered : body;
        left -= offered;
        again = wait_for_resumption(connection);
    }
}

static void read_body(struct MHD_Connection *connection, struct fake_answer *ret)
{
    struct MHD_Response *response = connection->response;
    static char block[BLOCK];
    ret->streamed = response->size == MHD_SIZE_UNKNOWN;
    if (!response->read)
        pyro_strbuf_add(&ret->body, response->body.data, response->body.len);
    uint64_t most = ret->streamed ? STREAM_BYTES : response->size;
    if (strncmp(ret->type, "text/event-stream", 17) != 0 && ret->streamed)
        most = ANSWER_BYTES;
    for (uint64_t at = 0; response->read && at < most;) {
        ssize_t got = response->read(response->context, at, block, sizeof(block));
        FUZZ_CHECK(got <= (ssize_t)sizeof(block));
        if (got < 0)
            break;
        pyro_strbuf_add(&ret->body, block, (size_t)got);
        at += (uint64_t)got;
        if (got == 0)
            FUZZ_CHECK(wait_for_resumption(connection));
    }
}

void fake_httpd_send(const struct fake_request *request, struct fake_answer *ret)
{
    struct MHD_Connection connection = {.request = request};
    void *state = NULL;
    *ret = (struct fake_answer){0};
    pyro_strbuf_init(&ret->body, NULL);
    pyro_strbuf_init(&connection.head, NULL);
    pthread_mutex_init(&connection.mutex, NULL);
    pthread_cond_init(&connection.changed, NULL);
    write_head(&connection);
    run_handler(&connection, &state);
    if (connection.response) {
        ret->status = connection.status;
        snprintf(ret->type, sizeof(ret->type), "%s", connection.response->type);
        read_body(&connection, ret);
        destroy_response(connection.response);
    }
    if (the_daemon.end)
        the_daemon.end(the_daemon.end_context, &connection, &state, MHD_REQUEST_TERMINATED_COMPLETED_OK);
    pthread_mutex_destroy(&connection.mutex);
    pthread_cond_destroy(&connection.changed);
    pyro_strbuf_done(&connection.head);
}

#else

bool fake_httpd_install(void)
{
    return false;
}

void fake_httpd_send(const struct fake_request *request, struct fake_answer *ret)
{
    (void)request, (void)ret;
}

#endif
