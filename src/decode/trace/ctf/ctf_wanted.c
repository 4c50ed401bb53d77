/* Which fields of an event the caller's names mean. */
#include "decode/trace/ctf/ctf_program.h"

/* Whether the path ends at the node. Options of variants have no part in a path, but may. Calls itself for the nodes
 * around, whose number is bounded. */
static bool leads_to(const struct pyro_ctf_node *nodes, int32_t node, struct pyro_slice path)
{
    if (nodes[node].parent < 0)
        return path.len == 0;
    if (nodes[node].option && leads_to(nodes, nodes[node].parent, path))
        return true;
    struct pyro_slice last = path, rest = {path.ptr, 0};
    const char *dot = path.len > 0 ? memrchr(path.ptr, '.', path.len) : NULL;
    if (dot) {
        rest.len = (size_t)(dot - path.ptr);
        last = (struct pyro_slice){dot + 1, path.len - rest.len - 1};
    }
    return last.len > 0 && pyro_ctf_same_name(nodes[node].name, last) && leads_to(nodes, nodes[node].parent, rest);
}

static bool is_value(const struct pyro_ctf_type *type)
{
    switch ((enum pyro_ctf_kind)type->kind) {
    case PYRO_CTF_INTEGER:
        return type->bits <= 64;
    case PYRO_CTF_REAL:
        return type->bits == 32 || type->bits == 64;
    case PYRO_CTF_LEB:
        return true;
    case PYRO_CTF_STRING:
        return type->unit == 1;
    case PYRO_CTF_ARRAY:
    case PYRO_CTF_SEQUENCE:
        return type->element->kind == PYRO_CTF_INTEGER && type->element->character;
    case PYRO_CTF_STRUCT:
    case PYRO_CTF_VARIANT:
    case PYRO_CTF_OPTIONAL:
        break;
    }
    return false;
}

static bool has_elements(const struct pyro_ctf_type *type)
{
    return (type->kind == PYRO_CTF_ARRAY || type->kind == PYRO_CTF_SEQUENCE) &&
           (type->element->kind == PYRO_CTF_INTEGER || type->element->kind == PYRO_CTF_REAL) && is_value(type->element);
}

/* "args.1" -> "args" and 1; false: it does not end in a number. */
static bool split_element(struct pyro_slice path, struct pyro_slice *ret_array, int32_t *ret_element)
{
    size_t digits = 0;
    int32_t number = 0;
    while (digits < path.len && digits < 7 && path.ptr[path.len - 1 - digits] >= '0' &&
           path.ptr[path.len - 1 - digits] <= '9')
        digits++;
    if (digits == 0 || digits + 2 > path.len || path.ptr[path.len - 1 - digits] != '.')
        return false;
    for (size_t i = path.len - digits; i < path.len; i++)
        number = number * 10 + (path.ptr[i] - '0');
    *ret_array = (struct pyro_slice){path.ptr, path.len - digits - 1};
    *ret_element = number;
    return true;
}

static void match(const struct pyro_ctf_node *nodes, int32_t node, struct pyro_slice path, struct pyro_ctf_pick *ret)
{
    struct pyro_slice array;
    int32_t element;
    if (is_value(nodes[node].type) && leads_to(nodes, node, path)) {
        ret->node = node;
        ret->element = -1;
    } else if (has_elements(nodes[node].type) && split_element(path, &array, &element) &&
               leads_to(nodes, node, array)) {
        ret->node = node;
        ret->element = element;
    }
}

/* The first alternative counts, then the innermost scope. */
static bool pick_alternative(const struct pyro_ctf_compiler *compiler, struct pyro_slice path, unsigned rank,
                             uint8_t slot, struct pyro_ctf_picks *ret)
{
    static const enum pyro_ctf_scope order[] = {PYRO_CTF_PAYLOAD, PYRO_CTF_EVENT_CONTEXT, PYRO_CTF_COMMON_CONTEXT,
                                                PYRO_CTF_PACKET_CONTEXT};
    size_t before = ret->picks.count;
    for (size_t i = 0; i < sizeof(order) / sizeof(*order) && ret->picks.count == before; i++) {
        const struct pyro_ctf_layout *layout = &compiler->layouts[order[i]];
        for (size_t k = 0; k < layout->nodes.count; k++) {
            struct pyro_ctf_pick pick = {.node = -1, .scope = (uint8_t)order[i], .slot = slot, .rank = rank};
            bool plain =
                order[i] != PYRO_CTF_PACKET_CONTEXT ||
                (layout->nodes.items[k].type->kind == PYRO_CTF_INTEGER && is_value(layout->nodes.items[k].type));
            if (!layout->nodes.items[k].repeated && plain)
                match(layout->nodes.items, (int32_t)k, path, &pick);
            if (pick.node < 0)
                continue;
            if (!pyro_vec_reserve(&ret->picks, 1, ret->allocator))
                return false;
            ret->picks.items[ret->picks.count++] = pick;
        }
    }
    return true;
}

static bool pick_slot(const struct pyro_ctf_compiler *compiler, const char *paths, uint8_t slot,
                      struct pyro_ctf_picks *ret)
{
    size_t before = ret->picks.count;
    unsigned rank = 0;
    for (const char *at = paths; ret->picks.count == before; rank++) {
        const char *bar = strchr(at, '|');
        struct pyro_slice path = bar ? (struct pyro_slice){at, (size_t)(bar - at)} : pyro_slice_from(at);
        if (!pick_alternative(compiler, path, rank, slot, ret))
            return false;
        if (!bar)
            break;
        at = bar + 1;
    }
    return true;
}

bool pyro_ctf_pick(struct pyro_ctf_compiler *compiler, const struct pyro_ctf_wanted *wanted, struct pyro_ctf_picks *ret)
{
    ret->picks.count = 0;
    ret->slots = 0;
    if (wanted->kind < 0)
        return true;
    for (; ret->slots < PYRO_CTF_SLOTS && wanted->slots[ret->slots]; ret->slots++)
        if (!pick_slot(compiler, wanted->slots[ret->slots], (uint8_t)ret->slots, ret))
            return false;
    for (size_t i = 0; i < ret->picks.count; i++) {
        const struct pyro_ctf_pick *pick = &ret->picks.items[i];
        struct pyro_ctf_node *nodes = compiler->layouts[pick->scope].nodes.items;
        if (pick->scope == PYRO_CTF_PACKET_CONTEXT && nodes[pick->node].target == PYRO_CTF_NO_REGISTER)
            nodes[pick->node].target = (uint16_t)pyro_ctf_register(compiler, PYRO_CTF_PACKET_CONTEXT);
        for (int32_t up = pick->node; up >= 0; up = nodes[up].parent)
            nodes[up].needed = true;
    }
    return true;
}
