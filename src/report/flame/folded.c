/* Folded stacks: "outermost;...;innermost WEIGHT", or "... BEFORE AFTER". */
#include "report/flame/flame.h"
#include "text/escape.h"

/* A frame's text without what ends frames and lines, or reorders them. */
static void add_frame(struct pyro_strbuf *buffer, struct pyro_slice text)
{
    size_t from = buffer->len;
    pyro_add_plain(buffer, text);
    for (size_t i = from; i < buffer->len; i++)
        if (buffer->data[i] == ';')
            buffer->data[i] = ',';
}

void pyro_flame_write_folded(const struct pyro_flame *flame, struct pyro_output *output)
{
    struct pyro_strbuf *buffer = &output->buffer;
    uint32_t frames[PYRO_PROFILE_DEPTH + 4];
    for (size_t i = 0; i < flame->order.count; i++) {
        const struct pyro_flame_node *node = &flame->nodes.items[flame->order.items[i]];
        size_t depth = pyro_flame_path(flame, flame->order.items[i], frames, sizeof(frames) / sizeof(*frames));
        for (size_t f = depth; f-- > 0;) {
            add_frame(buffer, flame->frames.items[frames[f]].text);
            if (f > 0)
                pyro_strbuf_add_char(buffer, ';');
        }
        if (flame->differs)
            pyro_strbuf_printf(buffer, " %lld", (long long)node->self[PYRO_FLAME_BEFORE]);
        pyro_strbuf_printf(buffer, " %lld\n", (long long)node->self[PYRO_FLAME_AFTER]);
        pyro_output_flush(output, false);
    }
}
