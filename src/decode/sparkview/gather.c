#include "decode/sparkview/gather.h"

#include "base/json/unescape.h"
#include "decode/eventlog/events.h"
#include "decode/sparkview/listener.h"

#define pyro_history_on_none NULL

/* By row of events.def. */
static pyro_history_event *const listeners[] = {
#define PYRO_EVENT(name, decoder, listener) pyro_history_on_##listener,
#include "decode/eventlog/events.def"
#undef PYRO_EVENT
};

void pyro_history_batch_init(struct pyro_history_batch *batch, const struct pyro_allocator *allocator)
{
    *batch = (struct pyro_history_batch){.allocator = allocator};
    pyro_arena_init(&batch->arena, allocator);
    pyro_strbuf_init(&batch->accumulables, allocator);
}

void pyro_history_batch_done(struct pyro_history_batch *batch)
{
    pyro_arena_done(&batch->arena);
    pyro_vec_done(&batch->steps, batch->allocator);
    pyro_vec_done(&batch->ends, batch->allocator);
    pyro_vec_done(&batch->events, batch->allocator);
    pyro_strbuf_done(&batch->accumulables);
}

void pyro_history_batch_clear(struct pyro_history_batch *batch)
{
    pyro_arena_reset(&batch->arena);
    batch->steps.count = batch->ends.count = batch->events.count = 0;
    pyro_strbuf_clear(&batch->accumulables);
    batch->bad_lines = 0;
    batch->failed = false;
}

static bool add_step(struct pyro_history_batch *batch, enum pyro_history_step step)
{
    unsigned char *added = pyro_vec_push(&batch->steps, batch->allocator);
    if (added)
        *added = (unsigned char)step;
    return added && !batch->failed && !batch->accumulables.failed;
}

bool pyro_gather_start(struct pyro_history_batch *batch)
{
    return add_step(batch, PYRO_STEP_START);
}

bool pyro_gather_end(struct pyro_history_batch *batch, const int64_t *peaks, struct pyro_slice reason)
{
    struct pyro_gathered_end *added = pyro_vec_push(&batch->ends, batch->allocator);
    if (!added)
        return false;
    memcpy(added->peaks, peaks, sizeof(added->peaks));
    added->reason = reason.ptr ? pyro_tree_parse(&batch->arena, reason) : NULL;
    added->accumulables_end = batch->accumulables.len;
    return add_step(batch, PYRO_STEP_END);
}

bool pyro_gather_event(struct pyro_history_batch *batch, struct pyro_slice name, struct pyro_slice line, bool sql)
{
    /* The last part of the event's class: older and newer versions write some events with their package. */
    const char *dot = memrchr(name.ptr, '.', name.len);
    if (dot)
        name = (struct pyro_slice){dot + 1, name.len - (size_t)(dot + 1 - name.ptr)};
    int row = pyro_event_find(name);
    if (row != PYRO_EVENT_UNKNOWN && listeners[row]) {
        const struct pyro_tree *root = pyro_tree_parse(&batch->arena, line);
        struct pyro_gathered_event *added = root ? pyro_vec_push(&batch->events, batch->allocator) : NULL;
        if (!root)
            batch->bad_lines++;
        else if (added)
            *added = (struct pyro_gathered_event){.follow = listeners[row], .root = root};
        return !root || (added && add_step(batch, PYRO_STEP_EVENT));
    }
    if (!sql || !pyro_sql_follows(name))
        return true;
    struct pyro_gathered_event *added = pyro_vec_push(&batch->events, batch->allocator);
    if (added)
        *added = (struct pyro_gathered_event){.name = name, .line = line};
    return added && add_step(batch, PYRO_STEP_EVENT);
}

/* The texts decoded into the batch's arena. */
static struct pyro_slice decode(struct pyro_history_batch *batch, const struct pyro_tree *node)
{
    struct pyro_strbuf text;
    if (!node)
        return PYRO_SLICE_NULL;
    pyro_strbuf_init(&text, batch->allocator);
    pyro_text_decode(&text, node->text, NULL);
    struct pyro_slice kept = pyro_arena_copy(&batch->arena, pyro_strbuf_slice(&text));
    batch->failed |= text.failed || !kept.ptr;
    pyro_strbuf_done(&text);
    return kept;
}

void pyro_gather_accumulables(struct pyro_history_batch *batch, struct pyro_json_reader *json)
{
    struct pyro_scan_words words;
    const char *start = json->at;
    if (!pyro_json_skip_array_words(json, &words) || pyro_words_all_internal(&words))
        return;
    const struct pyro_tree *array =
        pyro_tree_parse(&batch->arena, (struct pyro_slice){start, (size_t)(json->at - start)});
    for (const struct pyro_tree *node = array ? array->first : NULL; node; node = node->next) {
        if (!pyro_tree_is_user_accumulable(node))
            continue;
        const struct pyro_history_accumulable one = {
            .id = pyro_tree_int(pyro_tree_get(node, "ID"), 0),
            .name = decode(batch, pyro_tree_get(node, "Name")),
            .update = decode(batch, pyro_tree_get(node, "Update")),
            .value = decode(batch, pyro_tree_get(node, "Value")),
        };
        pyro_history_accumulable_put(&batch->accumulables, &one);
    }
}
