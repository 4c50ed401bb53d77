/* Programs from layouts.
 *
 * While operations are made, it is known where they will read, as far as it can be: at a place that leaves `rest` bits
 * when it is divided by `unit`, a power of 2. Fields whose alignment is known then make runs, inside which no place has
 * to be computed when events are read. */
#include "decode/trace/ctf/ctf_program.h"

enum { OPERATIONS_MAX = 1 << 16, ALL_OPERATIONS_MAX = 1 << 22 };

struct place {
    uint64_t unit, rest;
};

struct maker {
    struct pyro_ctf_compiler *compiler;
    struct pyro_ctf_store *store;
    const struct pyro_ctf_picks *picks;
    enum pyro_ctf_scope scope;
    const struct pyro_ctf_node *nodes;
    uint32_t first;
    bool in_run;
    size_t run; /* its operation */
    unsigned loops;
    struct place place;
    enum pyro_status status;
};

static enum pyro_status emit_node(struct maker *maker, int32_t at);

/* ---- Operations
 * ------------------------------------------------------------------------------------------------------ */

/* Row of the operation; after a failure, of one that is not used. */
static size_t append(struct maker *maker, struct pyro_ctf_operation operation)
{
    struct pyro_ctf_store *store = maker->store;
    if (maker->status == PYRO_OK &&
        (store->operations.count - maker->first >= OPERATIONS_MAX || store->operations.count >= ALL_OPERATIONS_MAX))
        maker->status = pyro_ctf_refuse(maker->compiler, maker->nodes ? maker->nodes->type->line : 0,
                                        "an event, or all of them, have too many fields");
    if (maker->status != PYRO_OK)
        return maker->first;
    if (!pyro_vec_reserve(&store->operations, 1, store->allocator)) {
        maker->status = pyro_no_memory(maker->compiler->error);
        return maker->first;
    }
    store->operations.items[store->operations.count++] = operation;
    return store->operations.count - 1;
}

static struct pyro_ctf_operation *operation_at(struct maker *maker, size_t row)
{
    return &maker->store->operations.items[row];
}

static void end_run(struct maker *maker)
{
    maker->in_run = false;
}

static void go(struct maker *maker, uint64_t bits)
{
    maker->place.rest = (maker->place.rest + bits) & (maker->place.unit - 1);
}

static bool on_byte(const struct maker *maker)
{
    return maker->place.unit >= 8 && maker->place.rest % 8 == 0;
}

/* Adds bits to the run; the place of the first of them in it. */
static uint64_t pass(struct maker *maker, uint64_t bits)
{
    if (!maker->in_run || operation_at(maker, maker->run)->bits > UINT64_MAX / 2) {
        maker->run = append(maker, (struct pyro_ctf_operation){.code = PYRO_CTF_OP_RUN});
        maker->in_run = maker->status == PYRO_OK;
    }
    if (!maker->in_run)
        return 0;
    uint64_t at = operation_at(maker, maker->run)->bits;
    operation_at(maker, maker->run)->bits += bits;
    go(maker, bits);
    return at;
}

static void align(struct maker *maker, uint32_t bits)
{
    if (bits <= maker->place.unit) {
        uint64_t padding = (0 - maker->place.rest) & (bits - 1);
        if (padding > 0)
            pass(maker, padding);
        return;
    }
    end_run(maker);
    append(maker, (struct pyro_ctf_operation){.code = PYRO_CTF_OP_ALIGN, .bits = bits});
    maker->place = (struct place){bits, 0};
}

/* What is known at a place that is one of two. */
static struct place either(struct place a, struct place b)
{
    struct place place = {a.unit < b.unit ? a.unit : b.unit, 0};
    while (((a.rest - b.rest) & (place.unit - 1)) != 0)
        place.unit /= 2;
    place.rest = a.rest & (place.unit - 1);
    return place;
}

/* ---- Numbers
 * --------------------------------------------------------------------------------------------------------- */

static struct pyro_ctf_operation number_operation(const struct maker *maker, const struct pyro_ctf_type *type)
{
    bool big = type->order == PYRO_CTF_NATIVE ? maker->compiler->metadata->big_endian : type->order == PYRO_CTF_BIG;
    struct pyro_ctf_operation operation = {.code = PYRO_CTF_OP_READ_BITS, .size = (uint8_t)type->bits};
    operation.flags = (uint8_t)((type->is_signed ? PYRO_CTF_SIGNED : 0) | (big ? PYRO_CTF_BIG_ENDIAN : 0) |
                                (type->reversed ? PYRO_CTF_REVERSED : 0) | (type->boolean ? PYRO_CTF_TRUTH : 0) |
                                (type->kind == PYRO_CTF_REAL ? PYRO_CTF_FLOATING : 0));
    if (type->kind == PYRO_CTF_LEB)
        operation.code = PYRO_CTF_OP_VARINT;
    else if (on_byte(maker) && (!big || type->bits == 8) && !type->reversed && !type->boolean &&
             type->kind == PYRO_CTF_INTEGER)
        operation.code = (uint8_t)(type->bits == 8    ? type->is_signed ? PYRO_CTF_OP_READ_S8 : PYRO_CTF_OP_READ_U8
                                   : type->bits == 16 ? type->is_signed ? PYRO_CTF_OP_READ_S16 : PYRO_CTF_OP_READ_U16
                                   : type->bits == 32 ? type->is_signed ? PYRO_CTF_OP_READ_S32 : PYRO_CTF_OP_READ_U32
                                   : type->bits == 64 ? PYRO_CTF_OP_READ_64
                                                      : PYRO_CTF_OP_READ_BITS);
    return operation;
}

/* A node's operation once for each thing that needs its value. */
static void emit_reads(struct maker *maker, int32_t at, struct pyro_ctf_operation operation)
{
    const struct pyro_ctf_node *node = &maker->nodes[at];
    if (node->target != PYRO_CTF_NO_REGISTER) {
        operation.to = PYRO_CTF_TO_REGISTER;
        operation.place = node->target;
        append(maker, operation);
    }
    if (node->role != PYRO_CTF_NO_ROLE) {
        operation.to = node->role == PYRO_CTF_TIMESTAMP ? PYRO_CTF_TO_CLOCK : PYRO_CTF_TO_REGISTER;
        operation.place = node->role;
        append(maker, operation);
    }
    for (size_t i = 0; maker->picks && i < maker->picks->picks.count; i++) {
        const struct pyro_ctf_pick *pick = &maker->picks->picks.items[i];
        if (pick->scope == maker->scope && pick->node == at && pick->element < 0) {
            operation.to = PYRO_CTF_TO_SLOT;
            operation.place = pick->slot;
            append(maker, operation);
        }
    }
}

static void emit_number(struct maker *maker, int32_t at)
{
    const struct pyro_ctf_type *type = maker->nodes[at].type;
    struct pyro_ctf_operation operation = number_operation(maker, type);
    operation.bits = pass(maker, type->bits);
    if (maker->nodes[at].needed)
        emit_reads(maker, at, operation);
}

static void emit_varint(struct maker *maker, int32_t at)
{
    struct pyro_ctf_operation operation = number_operation(maker, maker->nodes[at].type);
    end_run(maker);
    operation.to = PYRO_CTF_TO_NOTHING;
    append(maker, operation);
    operation.code = PYRO_CTF_OP_AGAIN;
    emit_reads(maker, at, operation);
    maker->place = (struct place){8, 0};
}

/* ---- Texts, arrays
 * --------------------------------------------------------------------------------------------------- */

static void emit_string(struct maker *maker, int32_t at)
{
    struct pyro_ctf_operation operation = {
        .code = PYRO_CTF_OP_STRING, .size = maker->nodes[at].type->unit, .to = PYRO_CTF_TO_NOTHING};
    end_run(maker);
    size_t row = append(maker, operation);
    operation.code = PYRO_CTF_OP_AGAIN;
    emit_reads(maker, at, operation);
    if (maker->status == PYRO_OK && maker->store->operations.count == row + 2) { /* one slot: at once */
        operation_at(maker, row)->to = operation_at(maker, row + 1)->to;
        operation_at(maker, row)->place = operation_at(maker, row + 1)->place;
        maker->store->operations.count--;
    }
    maker->place = (struct place){8, 0};
}

static uint64_t step_of(const struct pyro_ctf_type *element)
{
    return (element->bits + element->align - 1) & ~(uint64_t)(element->align - 1);
}

/* Elements and texts of an array whose elements come next. `run_at`: where it begins in a run. */
static void emit_elements(struct maker *maker, int32_t at, uint64_t run_at, bool bytes)
{
    const struct pyro_ctf_type *type = maker->nodes[at].type, *element = type->element;
    bool is_array = type->kind == PYRO_CTF_ARRAY;
    for (size_t i = 0; maker->picks && i < maker->picks->picks.count; i++) {
        const struct pyro_ctf_pick *pick = &maker->picks->picks.items[i];
        struct pyro_ctf_operation operation = {.code = PYRO_CTF_OP_READ_TEXT, .next = (uint32_t)type->count};
        if (pick->scope != maker->scope || pick->node != at || (pick->element < 0 && !bytes))
            continue;
        if (pick->element >= 0) {
            if (is_array && (uint64_t)pick->element >= type->count)
                continue;
            operation = number_operation(maker, element);
            if (!is_array || step_of(element) % 8 != 0)
                operation.code = PYRO_CTF_OP_READ_BITS;
        }
        operation.bits =
            is_array ? run_at + (pick->element > 0 ? (uint64_t)pick->element * step_of(element) : 0) : step_of(element);
        if (!is_array) {
            operation.code = pick->element < 0 ? PYRO_CTF_OP_TEXT : PYRO_CTF_OP_ELEMENT;
            operation.from = maker->nodes[at].source;
            operation.next = pick->element < 0 ? 0 : (uint32_t)pick->element;
        }
        operation.to = PYRO_CTF_TO_SLOT;
        operation.place = pick->slot;
        append(maker, operation);
    }
}

static enum pyro_status emit_loop(struct maker *maker, int32_t at)
{
    const struct pyro_ctf_type *type = maker->nodes[at].type;
    if (++maker->loops > PYRO_CTF_LOOPS)
        return pyro_ctf_refuse(maker->compiler, type->line, "arrays are nested too deeply");
    end_run(maker);
    size_t row =
        append(maker, (struct pyro_ctf_operation){.code = PYRO_CTF_OP_LOOP,
                                                  .from = type->kind == PYRO_CTF_ARRAY ? PYRO_CTF_NO_REGISTER
                                                                                       : maker->nodes[at].source,
                                                  .bits = type->count});
    maker->place = (struct place){1, 0};
    PYRO_TRY(emit_node(maker, at + 1));
    end_run(maker);
    if (maker->status == PYRO_OK)
        operation_at(maker, row)->next = (uint32_t)(maker->store->operations.count - row - 1);
    maker->place = (struct place){1, 0};
    maker->loops--;
    return maker->status;
}

static enum pyro_status emit_array(struct maker *maker, int32_t at)
{
    const struct pyro_ctf_node *node = &maker->nodes[at];
    const struct pyro_ctf_type *type = node->type, *element = type->element;
    if (!element->fixed || maker->nodes[at + 1].needed || (type->kind == PYRO_CTF_ARRAY && !type->fixed))
        return emit_loop(maker, at);
    bool bytes = on_byte(maker);
    if (type->kind == PYRO_CTF_ARRAY) {
        struct place before = maker->place;
        uint64_t run_at = pass(maker, type->bits);
        struct place after = maker->place;
        maker->place = before; /* where the first element is */
        if (node->role == PYRO_CTF_UUID && bytes)
            append(maker, (struct pyro_ctf_operation){.code = PYRO_CTF_OP_READ_PLACE,
                                                      .to = PYRO_CTF_TO_REGISTER,
                                                      .place = PYRO_CTF_UUID,
                                                      .bits = run_at});
        emit_elements(maker, at, run_at, bytes);
        maker->place = after;
        return maker->status;
    }
    uint64_t step = step_of(element), less = step - element->bits;
    end_run(maker);
    emit_elements(maker, at, 0, bytes);
    append(maker, (struct pyro_ctf_operation){
                      .code = PYRO_CTF_OP_SKIP, .from = node->source, .bits = step, .next = (uint32_t)less});
    uint64_t known = step & (0 - step); /* what every number of steps can be divided by */
    if (less > 0 || (step > 0 && known < maker->place.unit))
        maker->place = (struct place){less > 0 ? 1 : known, less > 0 ? 0 : maker->place.rest & (known - 1)};
    return maker->status;
}

/* ---- Variants
 * -------------------------------------------------------------------------------------------------------- */

static void add_case(struct maker *maker, struct pyro_ctf_range range, bool is_signed, size_t target)
{
    struct pyro_ctf_store *store = maker->store;
    uint64_t flip = is_signed ? UINT64_C(1) << 63 : 0;
    if (maker->status != PYRO_OK)
        return;
    if (!pyro_vec_reserve(&store->cases, 1, store->allocator)) {
        maker->status = pyro_no_memory(maker->compiler->error);
        return;
    }
    store->cases.items[store->cases.count++] =
        (struct pyro_ctf_case){range.first ^ flip, range.last ^ flip, (uint32_t)(target - maker->first)};
}

/* Ranges that lead to a member. */
static void add_cases(struct maker *maker, const struct pyro_ctf_node *node, const struct pyro_ctf_member *member,
                      size_t target)
{
    const struct pyro_ctf_type *selector =
        maker->compiler->layouts[node->source_scope].nodes.items[node->source_node].type;
    for (size_t i = 0; i < member->range_count; i++)
        add_case(maker, member->ranges[i], selector->is_signed, target);
    if (node->type->kind == PYRO_CTF_OPTIONAL && member->range_count == 0)
        add_case(maker, (struct pyro_ctf_range){1, UINT64_MAX}, false, target);
    for (size_t i = 0; node->type->kind == PYRO_CTF_VARIANT && member->range_count == 0 && i < selector->label_count;
         i++)
        if (pyro_ctf_same_name(member->name, selector->labels[i].name) ||
            pyro_ctf_same_name(selector->labels[i].name, member->name))
            add_case(maker, selector->labels[i].range, selector->is_signed, target);
}

static bool is_signed_selector(const struct maker *maker, const struct pyro_ctf_node *node)
{
    bool ranges = node->type->kind == PYRO_CTF_VARIANT || node->type->members[0].range_count > 0;
    return ranges && maker->compiler->layouts[node->source_scope].nodes.items[node->source_node].type->is_signed;
}

static enum pyro_status emit_variant(struct maker *maker, int32_t at)
{
    const struct pyro_ctf_node *node = &maker->nodes[at];
    struct place before = maker->place, after = before;
    bool optional = node->type->kind == PYRO_CTF_OPTIONAL;
    size_t chain = 0; /* jumps to the end, each with the row of the one before it */
    end_run(maker);
    size_t row =
        append(maker, (struct pyro_ctf_operation){.code = PYRO_CTF_OP_SWITCH,
                                                  .from = node->source,
                                                  .to = optional ? PYRO_CTF_TO_NOTHING : PYRO_CTF_TO_SLOT,
                                                  .flags = is_signed_selector(maker, node) ? PYRO_CTF_SIGNED : 0});
    PYRO_VEC(uint32_t) targets = {NULL, 0, 0};
    for (int32_t option = at + 1, i = 0; option < node->end && maker->status == PYRO_OK;
         option = maker->nodes[option].end, i++) {
        uint32_t *target = pyro_vec_push(&targets, maker->store->allocator);
        if (!target) {
            maker->status = pyro_no_memory(maker->compiler->error);
            break;
        }
        *target = (uint32_t)maker->store->operations.count;
        maker->place = before;
        enum pyro_status status = emit_node(maker, option);
        if (maker->status == PYRO_OK)
            maker->status = status;
        end_run(maker);
        after = i == 0 && !optional ? maker->place : either(after, maker->place);
        chain = append(maker, (struct pyro_ctf_operation){.code = PYRO_CTF_OP_JUMP, .next = (uint32_t)chain});
    }
    size_t first_case = maker->store->cases.count;
    for (size_t i = 0; i < targets.count; i++)
        add_cases(maker, node, &node->type->members[i], targets.items[i]);
    pyro_vec_done(&targets, maker->store->allocator);
    if (maker->status != PYRO_OK)
        return maker->status;
    uint32_t end = (uint32_t)(maker->store->operations.count - maker->first);
    while (chain > 0) {
        struct pyro_ctf_operation *jump = operation_at(maker, chain);
        chain = jump->next;
        jump->next = end;
    }
    struct pyro_ctf_operation *choice = operation_at(maker, row);
    choice->next = (uint32_t)first_case;
    /* Nothing fits: an optional field has its end here, a variant cannot be read. */
    if (optional)
        add_case(maker, (struct pyro_ctf_range){0, UINT64_MAX}, false, end + maker->first);
    operation_at(maker, row)->bits = maker->store->cases.count - first_case;
    maker->place = node->end > at + 1 ? after : before;
    return maker->status;
}

/* ---- Everything
 * ------------------------------------------------------------------------------------------------------ */

/* Calls itself for inner nodes: their depth is bounded. */
static enum pyro_status emit_node(struct maker *maker, int32_t at)
{
    const struct pyro_ctf_node *node = &maker->nodes[at];
    if (maker->status != PYRO_OK)
        return maker->status;
    align(maker, node->type->align);
    if (node->type->fixed && !node->needed) {
        if (node->type->bits > 0)
            pass(maker, node->type->bits);
        return maker->status;
    }
    switch ((enum pyro_ctf_kind)node->type->kind) {
    case PYRO_CTF_INTEGER:
    case PYRO_CTF_REAL:
        emit_number(maker, at);
        break;
    case PYRO_CTF_LEB:
        emit_varint(maker, at);
        break;
    case PYRO_CTF_STRING:
        emit_string(maker, at);
        break;
    case PYRO_CTF_STRUCT:
        for (int32_t inner = at + 1; inner < node->end; inner = maker->nodes[inner].end)
            PYRO_TRY(emit_node(maker, inner));
        break;
    case PYRO_CTF_VARIANT:
    case PYRO_CTF_OPTIONAL:
        return emit_variant(maker, at);
    case PYRO_CTF_ARRAY:
    case PYRO_CTF_SEQUENCE:
        return emit_array(maker, at);
    }
    return maker->status;
}

/* Fields of the packet's context, which its own program has read. */
static void emit_loads(struct maker *maker)
{
    for (size_t i = 0; maker->picks && i < maker->picks->picks.count; i++) {
        const struct pyro_ctf_pick *pick = &maker->picks->picks.items[i];
        if (pick->scope != PYRO_CTF_PACKET_CONTEXT)
            continue;
        const struct pyro_ctf_node *node = &maker->compiler->layouts[pick->scope].nodes.items[pick->node];
        if (node->target == PYRO_CTF_NO_REGISTER)
            continue;
        append(maker, (struct pyro_ctf_operation){
                          .code = PYRO_CTF_OP_LOAD, .to = PYRO_CTF_TO_SLOT, .place = pick->slot, .from = node->target});
    }
}

enum pyro_status pyro_ctf_compile(struct pyro_ctf_compiler *compiler, enum pyro_ctf_scope first,
                                  enum pyro_ctf_scope last, const struct pyro_ctf_picks *picks,
                                  struct pyro_ctf_program *ret)
{
    struct maker maker = {.compiler = compiler,
                          .store = compiler->store,
                          .picks = picks,
                          .first = (uint32_t)compiler->store->operations.count,
                          .place = {first == PYRO_CTF_PACKET_HEADER ? PYRO_CTF_ALIGN_MAX : 1, 0}};
    *ret = (struct pyro_ctf_program){.first = maker.first};
    for (int scope = (int)first; scope <= (int)last; scope++) {
        const struct pyro_ctf_layout *layout = &compiler->layouts[scope];
        maker.scope = (enum pyro_ctf_scope)scope;
        maker.nodes = layout->nodes.items;
        for (size_t i = 0; i < layout->nodes.count; i++)
            ret->roles |= layout->nodes.items[i].role ? 1U << layout->nodes.items[i].role : 0;
        if (layout->nodes.count > 0)
            PYRO_TRY(emit_node(&maker, 0));
    }
    ret->empty = compiler->store->operations.count == maker.first;
    emit_loads(&maker);
    append(&maker, (struct pyro_ctf_operation){.code = PYRO_CTF_OP_END});
    return maker.status;
}
