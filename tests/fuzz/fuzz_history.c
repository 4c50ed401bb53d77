/* The History Server's view of an event log: followed batch by batch, with snapshots between them, every row of what
 * comes out within its bounds. The first byte says how many lines go together. */
#include "base/strings/strbuf.h"
#include "decode/sparkview/listener.h"
#include "fuzz_kit.h"

enum { MOST_BYTES = 1 << 20 };

static void check_sql(const struct pyro_history_sql *sql)
{
    int64_t nodes = (int64_t)sql->nodes.count;
    for (size_t i = 0; i < sql->nodes.count; i++) {
        const struct pyro_history_sql_node *node = &sql->nodes.items[i];
        FUZZ_CHECK(node->cluster >= -1 && node->cluster < (int64_t)i);
        FUZZ_CHECK((size_t)node->metric + node->metric_count <= sql->metrics.count);
    }
    for (size_t i = 0; i < sql->edges.count; i++) {
        const struct pyro_history_sql_edge *edge = &sql->edges.items[i];
        FUZZ_CHECK(edge->from >= 0 && edge->from < nodes && edge->to >= 0 && edge->to < nodes);
    }
}

static void check(const struct pyro_history *history)
{
    for (size_t i = 0; i < history->sql.count; i++)
        check_sql(&history->sql.items[i]);
    for (size_t i = 0; i < history->rdds.count; i++) {
        const struct pyro_history_rdd *rdd = &history->rdds.items[i];
        FUZZ_CHECK(rdd->memory >= 0 && rdd->disk >= 0);
        FUZZ_CHECK(rdd->cached >= 0 && (uint64_t)rdd->cached <= rdd->blocks.count);
    }
    for (size_t i = 0; i < history->stages.count; i++)
        for (size_t t = 0; t < history->stages.items[i].tasks.count; t++) {
            struct pyro_history_task task;
            pyro_history_task_read(history, history->stages.items[i].tasks.items[t], &task);
            FUZZ_CHECK(task.id >= 0);
        }
}

static bool apply(struct pyro_listener *listener, const char *text, size_t len)
{
    struct pyro_batch batch;
    pyro_batch_init(&batch, NULL, pyro_scan_best(), MOST_BYTES, pyro_listener_wanted(true));
    bool ok = pyro_batch_decode(&batch, text, len) && pyro_listener_apply(listener, &batch);
    pyro_batch_done(&batch);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pyro_listener listener;
    if (size < 1)
        return 0;
    size_t len = size - 1, lines = data[0] % 16 + 1u;
    char *text = malloc(len + PYRO_SCAN_PADDING);
    /* Half of them with limits that the rest of the byte draws. */
    uint64_t limit = data[0] >> 5 & 3;
    const struct pyro_retained_limits limits = {sizeof(limits), limit, limit, limit + 1, limit, limit};
    FUZZ_CHECK(text && pyro_listener_init(&listener, true, data[0] & 0x80 ? &limits : NULL, PYRO_REDACT_WIDE));
    memcpy(text, data + 1, len);
    memset(text + len, 0, PYRO_SCAN_PADDING);
    bool ok = true;
    for (size_t at = 0; ok && at < len;) {
        size_t end = at;
        for (size_t i = 0; i < lines && end < len; i++) {
            const char *newline = memchr(text + end, '\n', len - end);
            end = newline ? (size_t)(newline - text) + 1 : len;
        }
        ok = apply(&listener, text + at, end - at);
        at = end;
    }
    struct pyro_history *history = ok ? pyro_listener_take(&listener) : NULL;
    if (history)
        check(history);
    pyro_history_release(history);
    pyro_listener_done(&listener);
    free(text);
    return 0;
}
