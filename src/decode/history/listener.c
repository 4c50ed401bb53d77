#include "decode/history/listener.h"

#include "base/intern.h"
#include "base/text.h"

static const struct {
    const char *name;
    pyro_history_event *follow;
} events[] = {
#define HISTORY_EVENT(name, function) {name, pyro_history_on_##function},
#include "decode/history/history_events.def"
#undef HISTORY_EVENT
};

bool pyro_listener_init(struct pyro_listener *listener)
{
    *listener = (struct pyro_listener){.history = pyro_history_new()};
    pyro_arena_init(&listener->arena, NULL);
    pyro_strbuf_init(&listener->scratch, NULL);
    pyro_sql_follower_init(&listener->sql, listener->history);
    return listener->history != NULL;
}

void pyro_listener_done(struct pyro_listener *listener)
{
    pyro_sql_follower_done(&listener->sql);
    pyro_history_release(listener->history);
    pyro_arena_done(&listener->arena);
    pyro_strbuf_done(&listener->scratch);
}

struct pyro_history *pyro_listener_take(struct pyro_listener *listener)
{
    struct pyro_history *history = listener->history;
    pyro_sql_follower_flush(&listener->sql);
    listener->history = NULL;
    history->memory = (size_t)history->bytes / 8 + history->tasks.count * (sizeof(struct pyro_history_task) + 300) +
                      history->stages.count * 4096 + ((size_t)1 << 16);
    return history;
}

/* The last part of an event's class: older and newer versions write some events with their package. */
static struct pyro_slice event_name(struct pyro_slice line)
{
    static const char prefix[] = "{\"Event\":\"";
    if (!pyro_slice_starts_with(line, prefix))
        return PYRO_SLICE_NULL;
    const char *start = line.ptr + sizeof(prefix) - 1;
    size_t rest = line.len - (sizeof(prefix) - 1);
    const char *quote = memchr(start, '"', rest < 256 ? rest : 256);
    if (!quote)
        return PYRO_SLICE_NULL;
    const char *dot = memrchr(start, '.', (size_t)(quote - start));
    start = dot ? dot + 1 : start;
    return (struct pyro_slice){start, (size_t)(quote - start)};
}

static struct pyro_slice late_event_name(const struct pyro_tree *root)
{
    const struct pyro_tree *node = pyro_tree_get(root, "Event");
    struct pyro_slice name = node ? node->text : PYRO_SLICE_NULL;
    const char *dot = name.ptr ? memrchr(name.ptr, '.', name.len) : NULL;
    return dot ? (struct pyro_slice){dot + 1, name.len - (size_t)(dot + 1 - name.ptr)} : name;
}

bool pyro_listener_line(struct pyro_listener *listener, struct pyro_slice line)
{
    struct pyro_slice name = event_name(line);
    const struct pyro_tree *root = NULL;
    listener->history->bytes += line.len + 1;
    if (line.len == 0)
        return true;
    pyro_arena_reset(&listener->arena);
    if (!name.ptr) {
        root = pyro_tree_parse(&listener->arena, line);
        name = late_event_name(root);
        listener->history->bad_lines += !root;
    }
    if (name.ptr && pyro_sql_event(listener, name, line))
        return !listener->history->failed;
    for (size_t i = 0; name.ptr && i < sizeof(events) / sizeof(*events); i++) {
        if (!pyro_slice_is(name, events[i].name))
            continue;
        root = root ? root : pyro_tree_parse(&listener->arena, line);
        if (root)
            events[i].follow(listener, root);
        else
            listener->history->bad_lines++;
        break;
    }
    return !listener->history->failed;
}

struct pyro_slice pyro_listener_keep(struct pyro_listener *listener, struct pyro_slice raw)
{
    if (!raw.ptr)
        return raw;
    pyro_strbuf_clear(&listener->scratch);
    pyro_text_decode(&listener->scratch, raw, NULL);
    struct pyro_slice kept = PYRO_SLICE_NULL;
    if (!listener->scratch.failed)
        kept = pyro_intern_slice(listener->history->strings, pyro_strbuf_slice(&listener->scratch));
    listener->history->failed |= !kept.ptr;
    return kept;
}

struct pyro_slice pyro_listener_text(struct pyro_listener *listener, const struct pyro_tree *node)
{
    return node ? pyro_listener_keep(listener, node->text) : PYRO_SLICE_NULL;
}

void pyro_listener_pairs(struct pyro_listener *listener, const struct pyro_tree *object, pyro_history_pairs *pairs)
{
    pairs->count = 0;
    for (const struct pyro_tree *member = object ? object->first : NULL; member; member = member->next) {
        struct pyro_history_pair *pair = pyro_vec_push(pairs, NULL);
        listener->history->failed |= !pair;
        if (!pair)
            return;
        pair->key = pyro_listener_keep(listener, member->key);
        pair->value = pyro_listener_keep(listener, member->text);
    }
}

void pyro_listener_accumulables(struct pyro_listener *listener, const struct pyro_tree *array,
                                pyro_history_accumulables *ret)
{
    for (const struct pyro_tree *node = array ? array->first : NULL; node; node = node->next) {
        if (pyro_tree_bool(pyro_tree_get(node, "Internal")) || pyro_tree_is(pyro_tree_get(node, "Metadata"), "sql"))
            continue;
        struct pyro_history_accumulable *added = pyro_vec_push(ret, NULL);
        listener->history->failed |= !added;
        if (!added)
            return;
        added->id = pyro_tree_int(pyro_tree_get(node, "ID"), 0);
        added->name = pyro_listener_text(listener, pyro_tree_get(node, "Name"));
        added->update = pyro_listener_text(listener, pyro_tree_get(node, "Update"));
        added->value = pyro_listener_text(listener, pyro_tree_get(node, "Value"));
    }
}

void pyro_listener_peaks(struct pyro_history_peaks *peaks, const struct pyro_tree *metrics)
{
    static const char *const names[] = {
#define HISTORY_PEAK(name) #name,
#include "model/history_peaks.def"
#undef HISTORY_PEAK
    };
    for (int i = 0; i < PYRO_HISTORY_PEAKS; i++) {
        int64_t value = pyro_tree_int(pyro_tree_get(metrics, names[i]), 0);
        if (value > peaks->values[i])
            peaks->values[i] = value;
    }
    peaks->set = true;
}

void pyro_listener_count(struct pyro_listener *listener, pyro_history_counts *counts, struct pyro_slice reason)
{
    for (size_t i = 0; i < counts->count; i++) {
        if (pyro_slice_eq(counts->items[i].reason, reason)) {
            counts->items[i].count++;
            return;
        }
    }
    struct pyro_history_count *added = pyro_vec_push(counts, NULL);
    listener->history->failed |= !added;
    if (added)
        *added = (struct pyro_history_count){reason, 1};
}

struct pyro_history_share *pyro_listener_share(struct pyro_listener *listener, struct pyro_history_stage *stage,
                                               struct pyro_slice executor)
{
    uint64_t *row = pyro_map_put(&stage->share_rows, pyro_intern(listener->history->strings, executor), NULL);
    if (row && *row)
        return &stage->shares.items[*row - 1];
    struct pyro_history_share *share = row ? pyro_vec_push(&stage->shares, NULL) : NULL;
    listener->history->failed |= !share;
    if (share) {
        share->executor = executor;
        *row = stage->shares.count;
    }
    return share;
}
