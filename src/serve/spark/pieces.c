#include "serve/spark/pieces.h"

#include "base/memory/allocator.h"

/* Longer answers are sent while they are written: clients read the first bytes sooner, and no more memory is touched
 * than the processor's caches hold. */
enum { LONG = 1 << 20 };

struct long_answer {
    struct spark_pieces pieces;
    struct pyro_history *history;
    struct pyro_strbuf out; /* what was written last */
    struct spark_json json; /* writes there */
    size_t sent;            /* of it */
    bool more;              /* pieces are to come */
};

static int64_t read_answer(void *context, char *buffer, size_t size)
{
    struct long_answer *answer = context;
    if (answer->sent == answer->out.len) {
        answer->sent = 0;
        answer->out.len = 0;
        while (answer->more && answer->out.len < size && !answer->out.failed)
            answer->more = answer->pieces.next(answer->pieces.context, &answer->json);
        if (answer->out.failed)
            return SERVE_STREAM_BROKEN;
        if (answer->out.len == 0)
            return SERVE_STREAM_END;
    }
    size_t rest = answer->out.len - answer->sent, len = rest < size ? rest : size;
    memcpy(buffer, answer->out.data + answer->sent, len);
    answer->sent += len;
    return (int64_t)len;
}

static void close_answer(void *context)
{
    struct long_answer *answer = context;
    answer->pieces.close(answer->pieces.context);
    pyro_history_release(answer->history);
    pyro_strbuf_done(&answer->out);
    pyro_release(NULL, answer);
}

/* False: no memory. */
static bool go_on_later(struct spark_request *request, const struct spark_pieces *pieces)
{
    struct long_answer *answer = pyro_allocate(NULL, sizeof(*answer));
    if (!answer)
        return false;
    *answer = (struct long_answer){.pieces = *pieces, .out = *request->http->out, .json = request->json, .more = true};
    answer->json.out = &answer->out;
    answer->history = pyro_history_retain(pyro_unconst(request->history));
    pyro_strbuf_init(request->http->out, NULL);
    request->http->stream = (struct serve_stream){read_answer, close_answer, answer, -1};
    return true;
}

void pyro_spark_answer_pieces(struct spark_request *request, const struct spark_pieces *pieces)
{
    struct pyro_strbuf *out = request->http->out;
    bool more = true;
    while (more && out->len < LONG && !out->failed)
        more = pieces->next(pieces->context, &request->json);
    if (more && !out->failed && go_on_later(request, pieces))
        return;
    if (more || out->failed)
        pyro_spark_error(request, 503, "no memory left");
    pieces->close(pieces->context);
}
