#include "report/flame/flame.h"

#include "base/numbers/saturate.h"
#include "model/column.h"

bool pyro_flame_init(struct pyro_flame *flame, const struct pyro_allocator *allocator)
{
    *flame = (struct pyro_flame){.allocator = allocator, .unit = "samples"};
    pyro_map_init(&flame->frame_of, allocator);
    pyro_map_init(&flame->node_of, allocator);
    pyro_strbuf_init(&flame->scratch, allocator);
    flame->texts = pyro_string_pool_new(allocator);
    return flame->texts && pyro_vec_push(&flame->frames, allocator) && pyro_vec_push(&flame->nodes, allocator);
}

void pyro_flame_done(struct pyro_flame *flame)
{
    pyro_string_pool_release(flame->texts);
    pyro_vec_done(&flame->frames, flame->allocator);
    pyro_vec_done(&flame->nodes, flame->allocator);
    pyro_vec_done(&flame->order, flame->allocator);
    pyro_map_done(&flame->frame_of);
    pyro_map_done(&flame->node_of);
    pyro_strbuf_done(&flame->scratch);
}

/* FILE:FUNCTION:LINE, as far as they are known. */
static struct pyro_slice text_of(struct pyro_flame *flame, const struct pyro_frame_row *row, int64_t line)
{
    struct pyro_strbuf *text = &flame->scratch;
    pyro_strbuf_clear(text);
    if (row->file.ptr) {
        pyro_strbuf_add_slice(text, row->file);
        pyro_strbuf_add_char(text, ':');
    }
    pyro_strbuf_add_slice(text, row->function);
    if (line != PYRO_NONE) {
        pyro_strbuf_add_char(text, ':');
        pyro_strbuf_add_int(text, line);
    }
    return pyro_strbuf_slice(text);
}

uint32_t pyro_flame_add_frame(struct pyro_flame *flame, const struct pyro_frame_row *row)
{
    int64_t line = flame->merge_lines ? PYRO_NONE : row->line;
    uint32_t number = pyro_intern(flame->texts, text_of(flame, row, line));
    uint64_t *place =
        number == UINT32_MAX || flame->scratch.failed ? NULL : pyro_map_put(&flame->frame_of, number, NULL);
    if (!place)
        return 0;
    if (*place)
        return (uint32_t)*place;
    const struct pyro_flame_frame frame = {
        .text = pyro_string_pool_text(flame->texts, number),
        .function = pyro_intern_slice(flame->texts, row->function),
        .file = pyro_intern_slice(flame->texts, row->file),
        .language = pyro_intern_slice(flame->texts, row->language),
        .line = line,
    };
    if ((row->function.ptr && !frame.function.ptr) || (row->file.ptr && !frame.file.ptr) ||
        flame->frames.count >= UINT32_MAX || !pyro_vec_reserve(&flame->frames, 1, flame->allocator))
        return 0;
    *place = flame->frames.count;
    flame->frames.items[flame->frames.count++] = frame;
    return (uint32_t)*place;
}

uint32_t pyro_flame_child(struct pyro_flame *flame, uint32_t parent, uint32_t frame)
{
    uint64_t key = (uint64_t)parent << 32 | frame;
    const uint64_t *known = pyro_map_get(&flame->node_of, key);
    if (known)
        return (uint32_t)*known;
    if (flame->nodes.count >= PYRO_FLAME_NODES_MAX) {
        flame->full = true;
        return UINT32_MAX;
    }
    uint64_t *place = pyro_map_put(&flame->node_of, key, NULL);
    struct pyro_flame_node *node = place ? pyro_vec_push(&flame->nodes, flame->allocator) : NULL;
    if (!node)
        return UINT32_MAX;
    *place = flame->nodes.count - 1;
    node->parent = parent;
    node->frame = frame;
    node->depth = flame->nodes.items[parent].depth + 1;
    return (uint32_t)*place;
}

bool pyro_flame_weigh(struct pyro_flame *flame, uint32_t node, unsigned side, int64_t weight)
{
    struct pyro_flame_node *own = &flame->nodes.items[node];
    own->self[side] = pyro_add_saturating(own->self[side], weight);
    if (own->listed)
        return true;
    if (!pyro_vec_reserve(&flame->order, 1, flame->allocator))
        return false;
    flame->order.items[flame->order.count++] = node;
    own->listed = true;
    return true;
}

void pyro_flame_finish(struct pyro_flame *flame)
{
    struct pyro_flame_node *nodes = flame->nodes.items;
    for (size_t i = 0; i < flame->nodes.count; i++)
        memcpy(nodes[i].total, nodes[i].self, sizeof(nodes[i].total));
    for (size_t i = flame->nodes.count; i-- > 1;)
        for (unsigned side = 0; side < 2; side++)
            nodes[nodes[i].parent].total[side] =
                pyro_add_saturating(nodes[nodes[i].parent].total[side], nodes[i].total[side]);
}

size_t pyro_flame_path(const struct pyro_flame *flame, uint32_t node, uint32_t *frames, size_t capacity)
{
    size_t count = 0;
    for (; node != 0 && count < capacity; node = flame->nodes.items[node].parent)
        frames[count++] = flame->nodes.items[node].frame;
    return count;
}
