/* Folded stacks: "outermost;...;innermost WEIGHT", or "... BEFORE AFTER". */
#include "report/flame/flame.h"

/* A frame's text without what ends frames and lines. */
static void add_frame(struct pyro_strbuf *buffer, struct pyro_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.ptr[i];
        pyro_strbuf_add_char(buffer, byte == ';' ? ',' : (unsigned char)byte < 0x20 ? ' ' : byte);
    }
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
