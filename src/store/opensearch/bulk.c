/* Many documents at once. Each one has its own answer: one that is refused must not lose the others. */
#include <string.h>
#include <time.h>

#include "base/memory/allocator.h"
#include "store/opensearch/opensearch.h"
#include "text/escape.h"

enum { TRIES = 5, PAUSE_MS = 500 };

void pyro_opensearch_bulk_init(struct pyro_opensearch_bulk *bulk, struct pyro_opensearch *store)
{
    *bulk = (struct pyro_opensearch_bulk){.store = store};
    pyro_strbuf_init(&bulk->body, store->allocator);
}

void pyro_opensearch_bulk_done(struct pyro_opensearch_bulk *bulk)
{
    pyro_strbuf_done(&bulk->body);
    pyro_vec_done(&bulk->items, bulk->store->allocator);
}

static void add_target(struct pyro_strbuf *body, const struct pyro_opensearch *store,
                       const struct pyro_opensearch_target *target, const char *operation)
{
    pyro_compact_begin(body, NULL, '{');
    pyro_compact_begin(body, operation, '{');
    pyro_compact_string(body, "_index", store->index[target->index]);
    pyro_compact_text(body, "_id", target->id);
    pyro_compact_int(body, "version", target->version);
    if (target->version != PYRO_NONE)
        pyro_compact_string(body, "version_type", "external_gte");
    pyro_compact_int(body, "if_seq_no", target->seq_no);
    pyro_compact_int(body, "if_primary_term", target->primary_term);
    pyro_strbuf_add_text(body, "}}\n");
}

/* One more item, whose operation is written. NULL: no memory. */
static struct pyro_opensearch_item *add_item(struct pyro_opensearch_bulk *bulk,
                                             const struct pyro_opensearch_target *target, const char *operation,
                                             size_t owner, int what)
{
    struct pyro_opensearch_item *item = pyro_vec_push(&bulk->items, bulk->store->allocator);
    if (!item)
        return NULL;
    item->owner = owner;
    item->what = what;
    item->at = bulk->body.len;
    add_target(&bulk->body, bulk->store, target, operation);
    item->document = item->end = bulk->body.len;
    return bulk->body.failed ? NULL : item;
}

enum pyro_status pyro_opensearch_bulk_begin(struct pyro_opensearch_bulk *bulk,
                                            const struct pyro_opensearch_target *target, size_t owner, int what,
                                            struct pyro_error *error)
{
    if (!add_item(bulk, target, target->create ? "create" : target->update ? "update" : "index", owner, what))
        return pyro_opensearch_no_memory(error);
    pyro_strbuf_add_text(&bulk->body, target->update ? "{\"doc\":{" : "{");
    bulk->closing = target->update ? "}}\n" : "}\n";
    return bulk->body.failed ? pyro_opensearch_no_memory(error) : PYRO_OK;
}

enum pyro_status pyro_opensearch_bulk_delete(struct pyro_opensearch_bulk *bulk,
                                             const struct pyro_opensearch_target *target, size_t owner, int what,
                                             struct pyro_error *error)
{
    return add_item(bulk, target, "delete", owner, what) ? PYRO_OK : pyro_opensearch_no_memory(error);
}

enum pyro_status pyro_opensearch_bulk_end(struct pyro_opensearch_bulk *bulk, struct pyro_error *error)
{
    pyro_strbuf_add_text(&bulk->body, bulk->closing);
    if (bulk->body.failed)
        return pyro_opensearch_no_memory(error);
    bulk->items.items[bulk->items.count - 1].end = bulk->body.len;
    return bulk->body.len < PYRO_OS_BULK ? PYRO_OK : pyro_opensearch_bulk_send(bulk, error);
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

static bool is_busy(unsigned status)
{
    return status == 429 || status == 503;
}

static enum pyro_status give(struct pyro_opensearch_bulk *bulk, const struct pyro_opensearch_item *item,
                             const json_t *answer, struct pyro_error *error)
{
    struct pyro_opensearch_item told = *item;
    const json_t *why = json_object_get(answer, "error"), *cause = json_object_get(why, "caused_by");
    struct pyro_slice reason = pyro_opensearch_text(cause, "reason");
    told.type = pyro_opensearch_text(why, "type");
    told.seq_no = pyro_opensearch_int(answer, "_seq_no");
    told.primary_term = pyro_opensearch_int(answer, "_primary_term");
    told.reason = reason.len ? reason : pyro_opensearch_text(why, "reason");
    size_t bytes = item->end - item->document; /* with the line break at its end */
    told.source = (struct pyro_slice){bulk->body.data + item->document, bytes ? bytes - 1 : 0};
    return bulk->take ? bulk->take(bulk->context, &told, error) : PYRO_OK;
}

/* Hands out what each operation came to; those that the server had no time for stay in the bulk. */
static enum pyro_status take_answers(struct pyro_opensearch_bulk *bulk, const json_t *answer, bool last,
                                     struct pyro_error *error)
{
    const json_t *answers = json_object_get(answer, "items");
    size_t kept = 0, bytes = 0;
    if (json_array_size(answers) != bulk->items.count)
        return pyro_opensearch_refused(bulk->store, PYRO_OS_WRITES, 200, NULL, error);
    for (size_t i = 0; i < bulk->items.count; i++) {
        struct pyro_opensearch_item item = bulk->items.items[i];
        const json_t *one = json_array_get(answers, i);
        const json_t *named = json_object_iter_value(json_object_iter(pyro_unconst(one)));
        int64_t status = pyro_opensearch_int(named, "status");
        item.status = status > 0 ? (unsigned)status : 500;
        if (!is_busy(item.status) || last) {
            PYRO_TRY(give(bulk, &item, named, error));
            continue;
        }
        memmove(bulk->body.data + bytes, bulk->body.data + item.at, item.end - item.at);
        item.document = bytes + (item.document - item.at);
        item.end = bytes + (item.end - item.at);
        item.at = bytes;
        bytes = item.end;
        bulk->items.items[kept++] = item;
    }
    bulk->items.count = kept;
    bulk->body.len = bytes;
    return PYRO_OK;
}

/* Sends the operations one by one, as their request was too large for the server. */
static enum pyro_status send_each(struct pyro_opensearch_bulk *bulk, struct pyro_error *error)
{
    enum pyro_status status = PYRO_OK;
    for (size_t i = 0; i < bulk->items.count && status == PYRO_OK; i++) {
        struct pyro_opensearch_bulk one;
        struct pyro_opensearch_item item = bulk->items.items[i];
        pyro_opensearch_bulk_init(&one, bulk->store);
        one.take = bulk->take;
        one.context = bulk->context;
        one.refresh = bulk->refresh;
        pyro_strbuf_add(&one.body, bulk->body.data + item.at, item.end - item.at);
        struct pyro_opensearch_item *place = pyro_vec_push(&one.items, bulk->store->allocator);
        if (place && !one.body.failed) {
            item.document -= item.at;
            item.end -= item.at;
            item.at = 0;
            *place = item;
            status = pyro_opensearch_bulk_send(&one, error);
        } else {
            status = pyro_opensearch_no_memory(error);
        }
        pyro_opensearch_bulk_done(&one);
    }
    bulk->items.count = 0;
    return status;
}

/* A document that no request can hold is refused like any other. */
static enum pyro_status take_too_large(struct pyro_opensearch_bulk *bulk, struct pyro_error *error)
{
    struct pyro_opensearch_item item = bulk->items.items[0];
    item.status = 413;
    item.type = PYRO_SLICE_LITERAL("too_large");
    item.reason = PYRO_SLICE_LITERAL("the document is larger than http.max_content_length of the server");
    item.source = (struct pyro_slice){bulk->body.data + item.document, item.end - item.document - 1};
    bulk->items.count = 0;
    bulk->body.len = 0;
    return bulk->take ? bulk->take(bulk->context, &item, error) : PYRO_OK;
}

static enum pyro_status send_once(struct pyro_opensearch_bulk *bulk, bool last, struct pyro_error *error)
{
    json_t *answer = NULL;
    unsigned status = 0;
    const struct pyro_opensearch_request request = {
        .purpose = PYRO_OS_WRITES,
        .method = PYRO_HTTP_POST,
        .path = bulk->refresh ? "/_bulk?refresh=true" : "/_bulk",
        .body = pyro_strbuf_slice(&bulk->body),
        .lines = true,
    };
    if (!bulk->refresh)
        bulk->store->stale = true;
    enum pyro_status result = pyro_opensearch_send(bulk->store, &request, &answer, &status, error);
    if (result == PYRO_OK && status == 413)
        result = bulk->items.count == 1 ? take_too_large(bulk, error) : send_each(bulk, error);
    else if (result == PYRO_OK && status != 200)
        result = pyro_opensearch_refused(bulk->store, PYRO_OS_WRITES, status, answer, error);
    else if (result == PYRO_OK)
        result = take_answers(bulk, answer, last, error);
    json_decref(answer);
    return result;
}

enum pyro_status pyro_opensearch_bulk_send(struct pyro_opensearch_bulk *bulk, struct pyro_error *error)
{
    enum pyro_status status = PYRO_OK;
    for (unsigned tried = 0; bulk->items.count && status == PYRO_OK; tried++) {
        const int64_t pause_ms = (int64_t)PAUSE_MS << tried;
        const struct timespec pause = {pause_ms / 1000, pause_ms % 1000 * 1000000};
        if (tried)
            nanosleep(&pause, NULL);
        status = send_once(bulk, tried + 1 >= TRIES, error);
    }
    bulk->items.count = 0;
    bulk->body.len = 0;
    return status;
}

/* ---- One document ------------------------------------------------------------------------------------------------ */

enum pyro_status pyro_opensearch_must_be_written(void *context, const struct pyro_opensearch_item *item,
                                                 struct pyro_error *error)
{
    (void)context;
    if (item->status / 100 == 2)
        return PYRO_OK;
    return pyro_error_set(error, PYRO_ERROR_OUTPUT, "the store cannot be written: the server answers %u: %.*s",
                          item->status, (int)(item->reason.len < 250 ? item->reason.len : 250),
                          item->reason.ptr ? item->reason.ptr : "");
}

enum pyro_status pyro_opensearch_put(struct pyro_opensearch *store, const struct pyro_opensearch_target *target,
                                     void (*add)(const void *row, struct pyro_strbuf *to), const void *row,
                                     struct pyro_error *error)
{
    struct pyro_opensearch_bulk bulk;
    pyro_opensearch_bulk_init(&bulk, store);
    bulk.take = pyro_opensearch_must_be_written;
    bulk.refresh = true;
    enum pyro_status status = pyro_opensearch_bulk_begin(&bulk, target, 0, 0, error);
    if (status == PYRO_OK) {
        add(row, &bulk.body);
        status = pyro_opensearch_bulk_end(&bulk, error);
    }
    if (status == PYRO_OK)
        status = pyro_opensearch_bulk_send(&bulk, error);
    pyro_opensearch_bulk_done(&bulk);
    return status;
}
