/* Layouts: the fields of a scope as a list of nodes, and which node is the length or the selector of another. */
#include "decode/trace/ctf/ctf_program.h"

enum { MATCHES = 8 };

/* Nodes that a location means: several where they are in options of which only one is in an event. */
struct matches {
    enum pyro_ctf_scope scope;
    int32_t nodes[MATCHES];
    size_t count;
};

enum pyro_status pyro_ctf_refuse(struct pyro_ctf_compiler *compiler, unsigned line, const char *why)
{
    return pyro_error_set(compiler->error, PYRO_ERROR_INPUT, "line %u of the metadata: %s", line, why);
}

bool pyro_ctf_same_name(struct pyro_slice field, struct pyro_slice asked)
{
    if (pyro_slice_eq(field, asked))
        return true;
    return field.len == asked.len + 1 && field.ptr[0] == '_' && memcmp(field.ptr + 1, asked.ptr, asked.len) == 0;
}

void pyro_ctf_compiler_init(struct pyro_ctf_compiler *compiler, const struct pyro_ctf_metadata *metadata,
                            struct pyro_ctf_store *store, struct pyro_error *error)
{
    *compiler = (struct pyro_ctf_compiler){
        .metadata = metadata,
        .store = store,
        .error = error,
        .shared = PYRO_CTF_ROLES,
        .own = PYRO_CTF_SHARED,
        .most = PYRO_CTF_SHARED,
    };
}

void pyro_ctf_compiler_done(struct pyro_ctf_compiler *compiler)
{
    for (size_t i = 0; i < PYRO_CTF_SCOPES; i++)
        pyro_vec_done(&compiler->layouts[i].nodes, compiler->metadata->allocator);
}

unsigned pyro_ctf_register(struct pyro_ctf_compiler *compiler, enum pyro_ctf_scope scope)
{
    if (scope <= PYRO_CTF_EVENT_HEADER)
        return compiler->shared < PYRO_CTF_SHARED ? compiler->shared++ : PYRO_CTF_NO_REGISTER;
    if (compiler->own == PYRO_CTF_REGISTERS)
        return PYRO_CTF_NO_REGISTER;
    if (++compiler->own > compiler->most)
        compiler->most = compiler->own;
    return compiler->own - 1;
}

/* ---- Roles ---------------------------------------------------------------------------------------------------------
 */

/* What fields of version 1.8 are for; of version 2 only the processor has no role. */
static uint8_t role_by_name(enum pyro_ctf_scope scope, struct pyro_slice name, bool only_cpu)
{
    static const struct {
        enum pyro_ctf_scope scope;
        const char *name;
        enum pyro_ctf_role role;
    } roles[] = {
        {PYRO_CTF_PACKET_CONTEXT, "cpu_id", PYRO_CTF_CPU},
        {PYRO_CTF_PACKET_HEADER, "magic", PYRO_CTF_MAGIC},
        {PYRO_CTF_PACKET_HEADER, "uuid", PYRO_CTF_UUID},
        {PYRO_CTF_PACKET_HEADER, "stream_id", PYRO_CTF_STREAM_ID},
        {PYRO_CTF_PACKET_CONTEXT, "timestamp_begin", PYRO_CTF_TIMESTAMP},
        {PYRO_CTF_PACKET_CONTEXT, "timestamp_end", PYRO_CTF_PACKET_END},
        {PYRO_CTF_PACKET_CONTEXT, "content_size", PYRO_CTF_CONTENT_SIZE},
        {PYRO_CTF_PACKET_CONTEXT, "packet_size", PYRO_CTF_PACKET_SIZE},
        {PYRO_CTF_PACKET_CONTEXT, "packet_seq_num", PYRO_CTF_SEQUENCE_NUMBER},
        {PYRO_CTF_PACKET_CONTEXT, "events_discarded", PYRO_CTF_DISCARDED},
        {PYRO_CTF_EVENT_HEADER, "id", PYRO_CTF_EVENT_ID},
        {PYRO_CTF_EVENT_HEADER, "timestamp", PYRO_CTF_TIMESTAMP},
    };
    for (size_t i = 0; i < (only_cpu ? 1 : sizeof(roles) / sizeof(*roles)); i++)
        if (roles[i].scope == scope && pyro_ctf_same_name(name, pyro_slice_from(roles[i].name)))
            return (uint8_t)roles[i].role;
    return PYRO_CTF_NO_ROLE;
}

static bool is_number(const struct pyro_ctf_type *type)
{
    return (type->kind == PYRO_CTF_INTEGER && type->bits <= 64) || type->kind == PYRO_CTF_LEB;
}

static uint8_t role_of(struct pyro_ctf_compiler *compiler, enum pyro_ctf_scope scope, const struct pyro_ctf_node *node)
{
    const struct pyro_ctf_type *type = node->type;
    uint8_t role = type->role;
    if (scope > PYRO_CTF_EVENT_HEADER || node->repeated)
        return PYRO_CTF_NO_ROLE;
    if (compiler->metadata->version == 2 && role == PYRO_CTF_NO_ROLE)
        role = role_by_name(scope, node->name, true);
    else if (compiler->metadata->version != 2)
        role = role_by_name(scope, node->name, false);
    if (compiler->metadata->version != 2 && scope == PYRO_CTF_EVENT_HEADER && type->clock.ptr)
        role = PYRO_CTF_TIMESTAMP;
    bool is_bytes = type->kind == PYRO_CTF_ARRAY && type->fixed && type->bits == 128;
    if (role == PYRO_CTF_UUID ? !is_bytes : !is_number(type))
        role = PYRO_CTF_NO_ROLE;
    if (role == PYRO_CTF_TIMESTAMP && type->clock.ptr)
        compiler->clock = type->clock;
    return role;
}

/* ---- Locations ------------------------------------------------------------------------------------------------------
 */

static const struct pyro_ctf_node *nodes_of(const struct pyro_ctf_compiler *compiler, enum pyro_ctf_scope scope)
{
    return compiler->layouts[scope].nodes.items;
}

/* Nodes below `parent` that the path leads to. Options of variants have no part in paths, but may. */
static void descend(struct pyro_ctf_compiler *compiler, struct matches *matches, int32_t parent, int32_t before,
                    const struct pyro_slice *path, size_t len)
{
    const struct pyro_ctf_node *nodes = nodes_of(compiler, matches->scope);
    for (int32_t i = parent + 1; i < nodes[parent].end && i < before; i = nodes[i].end) {
        if (++compiler->compared > PYRO_CTF_COMPARED)
            return;
        bool named = pyro_ctf_same_name(nodes[i].name, path[0]) || pyro_ctf_same_name(path[0], nodes[i].name);
        int32_t inner = i; /* of an array, the element that is being read */
        while (nodes[inner].type->element && inner + 1 < nodes[inner].end && inner + 1 < before)
            inner++;
        bool within = nodes[inner].type->members != NULL;
        if (named && len == 1 && is_number(nodes[i].type)) {
            if (matches->count < MATCHES)
                matches->nodes[matches->count++] = i;
        } else if (named && len > 1 && within) {
            descend(compiler, matches, inner, before, path + 1, len - 1);
        }
        if (nodes[i].option && inner == i && within && (!named || len == 1))
            descend(compiler, matches, i, before, path, len);
    }
}

/* From the node outward, and then through the scopes before its own. */
static void search(struct pyro_ctf_compiler *compiler, enum pyro_ctf_scope scope, int32_t node,
                   const struct pyro_ctf_location *location, struct matches *matches)
{
    matches->scope = scope;
    for (int32_t up = nodes_of(compiler, scope)[node].parent; up >= 0 && matches->count == 0;
         up = nodes_of(compiler, scope)[up].parent)
        descend(compiler, matches, up, node, location->path, location->path_len);
    while (matches->count == 0 && matches->scope > PYRO_CTF_PACKET_HEADER) {
        matches->scope--;
        if (compiler->layouts[matches->scope].nodes.count > 0)
            descend(compiler, matches, 0, INT32_MAX, location->path, location->path_len);
    }
}

static int32_t struct_around(const struct pyro_ctf_node *nodes, int32_t node)
{
    do
        node = nodes[node].parent;
    while (node >= 0 && nodes[node].type->kind != PYRO_CTF_STRUCT);
    return node;
}

static void find(struct pyro_ctf_compiler *compiler, enum pyro_ctf_scope scope, int32_t node,
                 const struct pyro_ctf_location *location, struct matches *matches)
{
    if (location->path_len == 0)
        return;
    if (location->origin == PYRO_CTF_SEARCHED) {
        search(compiler, scope, node, location, matches);
    } else if (location->origin >= 0) {
        matches->scope = (enum pyro_ctf_scope)location->origin;
        if (compiler->layouts[matches->scope].nodes.count > 0 && matches->scope <= scope)
            descend(compiler, matches, 0, matches->scope == scope ? node : INT32_MAX, location->path,
                    location->path_len);
    } else {
        const struct pyro_ctf_node *nodes = nodes_of(compiler, scope);
        int32_t from = struct_around(nodes, node);
        size_t up = 0;
        for (; up < location->path_len && !location->path[up].ptr && from >= 0; up++)
            from = struct_around(nodes, from);
        matches->scope = scope;
        if (from >= 0 && up < location->path_len)
            descend(compiler, matches, from, node, location->path + up, location->path_len - up);
    }
}

static void mark_needed(struct pyro_ctf_node *nodes, int32_t node)
{
    for (; node >= 0; node = nodes[node].parent)
        nodes[node].needed = true;
}

/* Gives the length or the selector of a node a register. */
static enum pyro_status connect(struct pyro_ctf_compiler *compiler, enum pyro_ctf_scope scope, int32_t at)
{
    struct pyro_ctf_node *node = &compiler->layouts[scope].nodes.items[at];
    struct matches matches = {.count = 0};
    unsigned taken = PYRO_CTF_NO_REGISTER;
    find(compiler, scope, at, &node->type->location, &matches);
    if (matches.count == 0)
        return pyro_ctf_refuse(compiler, node->type->line,
                               "the field that has the length or the selector of another is not known");
    struct pyro_ctf_node *nodes = compiler->layouts[matches.scope].nodes.items;
    for (size_t i = 0; i < matches.count; i++)
        if (nodes[matches.nodes[i]].target != PYRO_CTF_NO_REGISTER)
            taken = nodes[matches.nodes[i]].target;
    if (taken == PYRO_CTF_NO_REGISTER) {
        taken = pyro_ctf_register(compiler, matches.scope);
        if (taken == PYRO_CTF_NO_REGISTER)
            return pyro_ctf_refuse(compiler, node->type->line, "there are too many lengths and selectors");
    }
    for (size_t i = 0; i < matches.count; i++) {
        nodes[matches.nodes[i]].target = (uint16_t)taken;
        mark_needed(nodes, matches.nodes[i]);
    }
    node->source = (uint16_t)taken;
    node->source_scope = (int8_t)matches.scope;
    node->source_node = matches.nodes[0];
    return PYRO_OK;
}

/* ---- Nodes ----------------------------------------------------------------------------------------------------------
 */

/* Calls itself for inner types: their depth is bounded. */
static enum pyro_status add_node(struct pyro_ctf_compiler *compiler, enum pyro_ctf_scope scope,
                                 const struct pyro_ctf_type *type, struct pyro_slice name, int32_t parent)
{
    struct pyro_ctf_layout *layout = &compiler->layouts[scope];
    if (layout->nodes.count == PYRO_CTF_NODES || ++compiler->all_nodes > PYRO_CTF_ALL_NODES)
        return pyro_ctf_refuse(compiler, type->line, "an event, or all of them, have too many fields");
    struct pyro_ctf_node *node = pyro_vec_push(&layout->nodes, compiler->metadata->allocator);
    if (!node)
        return pyro_no_memory(compiler->error);
    int32_t at = (int32_t)(layout->nodes.count - 1);
    const struct pyro_ctf_node *around = parent >= 0 ? &layout->nodes.items[parent] : NULL;
    bool in_array = around && (around->type->kind == PYRO_CTF_ARRAY || around->type->kind == PYRO_CTF_SEQUENCE);
    bool in_option = around && (around->type->kind == PYRO_CTF_VARIANT || around->type->kind == PYRO_CTF_OPTIONAL);
    *node = (struct pyro_ctf_node){
        .type = type,
        .name = name,
        .parent = parent,
        .target = PYRO_CTF_NO_REGISTER,
        .source = PYRO_CTF_NO_REGISTER,
        .option = in_option,
        .repeated = in_array || (around && around->repeated),
    };
    node->role = role_of(compiler, scope, node);
    node->end = at + 1;
    if (node->role != PYRO_CTF_NO_ROLE)
        mark_needed(layout->nodes.items, at);
    if (type->kind == PYRO_CTF_SEQUENCE || type->kind == PYRO_CTF_VARIANT || type->kind == PYRO_CTF_OPTIONAL) {
        /* Its own node must end after those that it may refer to. */
        PYRO_TRY(connect(compiler, scope, at));
    }
    if (type->element)
        PYRO_TRY(add_node(compiler, scope, type->element, PYRO_SLICE_LITERAL(""), at));
    for (size_t i = 0; i < type->member_count; i++) {
        for (int32_t up = at; up >= 0; up = layout->nodes.items[up].parent)
            layout->nodes.items[up].end = (int32_t)layout->nodes.count;
        PYRO_TRY(add_node(compiler, scope, type->members[i].type, type->members[i].name, at));
    }
    layout->nodes.items[at].end = (int32_t)layout->nodes.count;
    return PYRO_OK;
}

enum pyro_status pyro_ctf_lay_out(struct pyro_ctf_compiler *compiler, enum pyro_ctf_scope scope,
                                  const struct pyro_ctf_type *type)
{
    compiler->layouts[scope].nodes.count = 0;
    if (!type)
        return PYRO_OK;
    if (type->kind != PYRO_CTF_STRUCT)
        return pyro_ctf_refuse(compiler, type->line, "the fields of a packet or event are not a structure");
    return add_node(compiler, scope, type, PYRO_SLICE_LITERAL(""), -1);
}
