/* http_send METHOD URL [KEY=VALUE...]: sends one request and writes what came of it.
 *
 * Keys: body, long (bytes of a body of x), type, header (several), limit, tries, repeatable, user, token, ca, timeout,
 * stop (the number of questions after which to stop), times (the request is sent as often on one client; the last
 * answer is written). Writes "STATUS BYTES RETRY_AFTER DATE HTML QUESTIONS", a line break and the body; or "error CODE
 * MESSAGE", exit 1. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/http/http.h"

enum { MOST_HEADERS = 8 };

struct asked {
    struct pyro_http_options options;
    struct pyro_http_request request;
    const char *headers[MOST_HEADERS];
    unsigned times;
    uint64_t stop, questions;
    char *long_body; /* of malloc(); NULL: none */
};

static bool stopped(void *context, uint64_t received, uint64_t expected)
{
    struct asked *asked = context;
    (void)received, (void)expected;
    asked->questions++;
    return asked->stop && asked->questions >= asked->stop;
}

static bool take_method(struct pyro_http_request *request, const char *name)
{
    static const char *const names[] = {"GET", "HEAD", "POST", "PUT", "DELETE"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0) {
            request->method = (enum pyro_http_method)i;
            return true;
        }
    return false;
}

/* More than a command line holds. */
static struct pyro_slice long_body(struct asked *asked, size_t len)
{
    asked->long_body = malloc(len + 1);
    if (!asked->long_body)
        return PYRO_SLICE_NULL;
    memset(asked->long_body, 'x', len);
    return (struct pyro_slice){asked->long_body, len};
}

static bool take_key(struct asked *asked, const char *key, size_t len, const char *value)
{
    const struct pyro_slice name = {key, len};
    if (pyro_slice_is(name, "body"))
        asked->request.body = pyro_slice_from(value);
    else if (pyro_slice_is(name, "long") && !asked->long_body)
        asked->request.body = long_body(asked, strtoul(value, NULL, 10));
    else if (pyro_slice_is(name, "type"))
        asked->request.content_type = value;
    else if (pyro_slice_is(name, "header") && asked->request.header_count < MOST_HEADERS)
        asked->headers[asked->request.header_count++] = value;
    else if (pyro_slice_is(name, "limit"))
        asked->request.limit = strtoull(value, NULL, 10);
    else if (pyro_slice_is(name, "tries"))
        asked->request.tries = (unsigned)strtoul(value, NULL, 10);
    else if (pyro_slice_is(name, "repeatable"))
        asked->request.repeatable = true;
    else if (pyro_slice_is(name, "user"))
        asked->options.user = value;
    else if (pyro_slice_is(name, "token"))
        asked->options.token = value;
    else if (pyro_slice_is(name, "ca"))
        asked->options.ca_file = value;
    else if (pyro_slice_is(name, "timeout"))
        asked->options.timeout_s = (unsigned)strtoul(value, NULL, 10);
    else if (pyro_slice_is(name, "stop"))
        asked->stop = strtoull(value, NULL, 10);
    else if (pyro_slice_is(name, "times"))
        asked->times = (unsigned)strtoul(value, NULL, 10);
    else
        return false;
    return true;
}

static int send_request(struct asked *asked)
{
    struct pyro_http *http = NULL;
    struct pyro_exchange_answer answer = {0};
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_strbuf body;
    pyro_strbuf_init(&body, NULL);
    enum pyro_status status = pyro_http_open(&asked->options, &http, &error);
    for (unsigned i = 0; status == PYRO_OK && i < asked->times; i++)
        status = pyro_http_send(http, &asked->request, &body, &answer, &error);
    pyro_http_close(http);
    if (status == PYRO_OK) {
        printf("%u %" PRIu64 " %" PRId64 " %" PRId64 " %d %" PRIu64 "\n", answer.status, answer.bytes,
               answer.retry_after_s, answer.date_ms, answer.html, asked->questions);
        fwrite(body.data, 1, body.len, stdout);
    } else {
        printf("error %d %s\n", (int)status, error.message);
    }
    pyro_strbuf_done(&body);
    return status != PYRO_OK;
}

int main(int argc, char **argv)
{
    struct asked asked = {.times = 1};
    asked.request = (struct pyro_http_request){.limit = 1 << 20, .tries = 1, .content_type = "application/json"};
    asked.request.headers = asked.headers;
    asked.options = (struct pyro_http_options){.stopped = stopped, .context = &asked};
    bool understood = argc >= 3 && take_method(&asked.request, argv[1]);
    asked.request.url = argv[argc >= 3 ? 2 : 0];
    for (int i = 3; understood && i < argc; i++) {
        size_t len = strcspn(argv[i], "=");
        understood = argv[i][len] == '=' && take_key(&asked, argv[i], len, argv[i] + len + 1);
    }
    int status = 2;
    if (understood)
        status = send_request(&asked);
    else
        fprintf(stderr, "usage: http_send METHOD URL [KEY=VALUE...]\n");
    free(asked.long_body);
    return status;
}
