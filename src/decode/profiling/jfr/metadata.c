/* The metadata event: a table of texts, then a tree of elements with attributes. Classes have fields, and fields have
 * annotations, which say the unit of a time. */
#include "base/memory/allocator.h"
#include "decode/profiling/jfr/types.h"

void pyro_jfr_types_init(struct pyro_jfr_types *types, const struct pyro_allocator *allocator)
{
    *types = (struct pyro_jfr_types){.allocator = allocator};
    pyro_arena_init(&types->arena, allocator);
    pyro_map_init(&types->by_id, allocator);
}

void pyro_jfr_types_done(struct pyro_jfr_types *types)
{
    for (size_t i = 0; i < types->types.count; i++) {
        pyro_jfr_program_done(&types->types.items[i].skip, types->allocator);
        pyro_jfr_program_done(&types->types.items[i].text, types->allocator);
        pyro_jfr_program_done(&types->types.items[i].named, types->allocator);
        pyro_map_done(&types->types.items[i].constants);
    }
    pyro_vec_done(&types->types, types->allocator);
    pyro_vec_done(&types->fields, types->allocator);
    pyro_map_done(&types->by_id);
    pyro_arena_done(&types->arena);
}

struct pyro_jfr_type *pyro_jfr_type_by_id(const struct pyro_jfr_types *types, int64_t id)
{
    const uint64_t *row = pyro_map_get(&types->by_id, (uint64_t)id);
    return row && *row ? &types->types.items[*row - 1] : NULL;
}

struct pyro_jfr_type *pyro_jfr_type_by_name(const struct pyro_jfr_types *types, const char *name)
{
    for (size_t i = 0; i < types->types.count; i++)
        if (pyro_slice_is(types->types.items[i].name, name))
            return &types->types.items[i];
    return NULL;
}

/* ---- The tree ---------------------------------------------------------------------------------------------------- */

enum { LEVELS = 32 };

enum element { ELEMENT_OTHER, ELEMENT_CLASS, ELEMENT_FIELD, ELEMENT_ANNOTATION };

struct tree {
    struct pyro_jfr_types *types;
    struct pyro_jfr_cursor cursor;
    PYRO_VEC(struct pyro_slice) names;
    struct {
        int32_t left; /* children */
        enum element element;
    } levels[LEVELS];
    unsigned depth;
    bool no_memory;
};

/* The attributes of one element that any element is asked for. */
struct attributes {
    struct pyro_slice id, name, class, constant, dimension, value;
};

static struct pyro_slice name_at(struct tree *tree, int32_t number)
{
    if (number >= 0 && (size_t)number < tree->names.count)
        return tree->names.items[number];
    tree->cursor.failed = true;
    return PYRO_SLICE_NULL;
}

static void read_names(struct tree *tree)
{
    int32_t count = pyro_jfr_int(&tree->cursor);
    if (count < 0 || count > PYRO_JFR_NAMES)
        tree->cursor.failed = true;
    for (int32_t i = 0; i < count && !tree->cursor.failed && !tree->no_memory; i++) {
        struct pyro_jfr_text text = pyro_jfr_take_text(&tree->cursor);
        if (!pyro_vec_reserve(&tree->names, 1, tree->types->allocator))
            tree->no_memory = true;
        else /* what is not ASCII is a name in a foreign language that nothing here looks for */
            tree->names.items[tree->names.count++] = text.bytes.ptr ? text.bytes : PYRO_SLICE_LITERAL("");
    }
}

static int64_t number_of(struct pyro_slice text)
{
    bool negative = text.len > 0 && text.ptr[0] == '-';
    uint64_t value = 0;
    for (size_t i = negative; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
        value = value * 10 + (uint64_t)(text.ptr[i] - '0');
    return (int64_t)(negative ? 0 - value : value);
}

static struct attributes read_attributes(struct tree *tree)
{
    struct attributes attributes = {.id = PYRO_SLICE_NULL};
    int32_t count = pyro_jfr_int(&tree->cursor);
    for (int32_t i = 0; i < count && !tree->cursor.failed; i++) {
        struct pyro_slice key = name_at(tree, pyro_jfr_int(&tree->cursor));
        struct pyro_slice value = name_at(tree, pyro_jfr_int(&tree->cursor));
        struct pyro_slice *place = pyro_slice_is(key, "id")             ? &attributes.id
                                   : pyro_slice_is(key, "name")         ? &attributes.name
                                   : pyro_slice_is(key, "class")        ? &attributes.class
                                   : pyro_slice_is(key, "constantPool") ? &attributes.constant
                                   : pyro_slice_is(key, "dimension")    ? &attributes.dimension
                                   : pyro_slice_is(key, "value")        ? &attributes.value
                                                                        : NULL;
        if (place)
            *place = value;
    }
    return attributes;
}

static void add_type(struct tree *tree, const struct attributes *attributes)
{
    struct pyro_jfr_types *types = tree->types;
    if (types->types.count == PYRO_JFR_TYPES) {
        tree->cursor.failed = true;
        return;
    }
    struct pyro_jfr_type *type = pyro_vec_push(&types->types, types->allocator);
    uint64_t *row = type ? pyro_map_put(&types->by_id, (uint64_t)number_of(attributes->id), NULL) : NULL;
    struct pyro_slice name =
        pyro_arena_copy(&types->arena, attributes->name.ptr ? attributes->name : PYRO_SLICE_LITERAL(""));
    if (!row || !name.ptr) {
        tree->no_memory = true;
        return;
    }
    *type = (struct pyro_jfr_type){.name = name, .id = number_of(attributes->id), .first_field = types->fields.count};
    pyro_map_init(&type->constants, types->allocator);
    *row = types->types.count;
}

static void add_field(struct tree *tree, const struct attributes *attributes)
{
    struct pyro_jfr_types *types = tree->types;
    struct pyro_jfr_field *field = pyro_vec_push(&types->fields, types->allocator);
    struct pyro_slice name =
        pyro_arena_copy(&types->arena, attributes->name.ptr ? attributes->name : PYRO_SLICE_LITERAL(""));
    if (!field || !name.ptr) {
        tree->no_memory = true;
        return;
    }
    *field = (struct pyro_jfr_field){
        .name = name,
        .type = number_of(attributes->class),
        .constant = pyro_slice_is(attributes->constant, "true"),
        .array = attributes->dimension.len > 0 && number_of(attributes->dimension) > 0,
    };
    types->types.items[types->types.count - 1].field_count++;
}

static void add_annotation(struct tree *tree, const struct attributes *attributes)
{
    static const struct {
        const char *text;
        enum pyro_jfr_unit unit;
    } units[] = {
        {"TICKS", PYRO_JFR_TICKS},
        {"NANOSECONDS", PYRO_JFR_NANOSECONDS},
        {"MICROSECONDS", PYRO_JFR_MICROSECONDS},
        {"MILLISECONDS", PYRO_JFR_MILLISECONDS},
        {"SECONDS", PYRO_JFR_SECONDS},
        {"NANOSECONDS_SINCE_EPOCH", PYRO_JFR_EPOCH_NANOSECONDS},
        {"MILLISECONDS_SINCE_EPOCH", PYRO_JFR_EPOCH_MILLISECONDS},
    };
    struct pyro_jfr_field *field = &tree->types->fields.items[tree->types->fields.count - 1];
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        if (pyro_slice_is(attributes->value, units[i].text)) {
            field->unit = (uint8_t)units[i].unit;
            field->unit_type = number_of(attributes->class);
        }
    }
}

/* One element, whose children come next. */
static void read_element(struct tree *tree, enum element parent)
{
    struct pyro_slice name = name_at(tree, pyro_jfr_int(&tree->cursor));
    struct attributes attributes = read_attributes(tree);
    int32_t children = pyro_jfr_int(&tree->cursor);
    enum element element = ELEMENT_OTHER;
    if (tree->cursor.failed)
        return;
    if (pyro_slice_is(name, "class")) {
        element = ELEMENT_CLASS;
        add_type(tree, &attributes);
    } else if (parent == ELEMENT_CLASS && pyro_slice_is(name, "field")) {
        element = ELEMENT_FIELD;
        add_field(tree, &attributes);
    } else if (parent == ELEMENT_FIELD && pyro_slice_is(name, "annotation")) {
        element = ELEMENT_ANNOTATION;
        add_annotation(tree, &attributes);
    }
    if (tree->depth == LEVELS || children < 0 || tree->no_memory) {
        tree->cursor.failed = true;
        return;
    }
    tree->levels[tree->depth].left = children;
    tree->levels[tree->depth++].element = element;
}

static void read_tree(struct tree *tree)
{
    read_element(tree, ELEMENT_OTHER);
    while (tree->depth > 0 && !tree->cursor.failed) {
        if (tree->levels[tree->depth - 1].left == 0) {
            tree->depth--;
            continue;
        }
        tree->levels[tree->depth - 1].left--;
        read_element(tree, tree->levels[tree->depth - 1].element);
    }
}

/* Only annotations of times have units. */
static void check_units(struct pyro_jfr_types *types)
{
    for (size_t i = 0; i < types->fields.count; i++) {
        struct pyro_jfr_field *field = &types->fields.items[i];
        const struct pyro_jfr_type *type = field->unit ? pyro_jfr_type_by_id(types, field->unit_type) : NULL;
        if (!type ||
            (!pyro_slice_is(type->name, "jdk.jfr.Timespan") && !pyro_slice_is(type->name, "jdk.jfr.Timestamp")))
            field->unit = PYRO_JFR_NO_UNIT;
    }
}

int pyro_jfr_read_types(struct pyro_jfr_types *types, struct pyro_jfr_cursor cursor)
{
    const struct pyro_allocator *allocator = types->allocator;
    struct tree tree = {.types = types, .cursor = cursor};
    pyro_jfr_types_done(types);
    pyro_jfr_types_init(types, allocator);
    pyro_jfr_long(&tree.cursor); /* start, duration, number of the metadata */
    pyro_jfr_long(&tree.cursor);
    pyro_jfr_long(&tree.cursor);
    read_names(&tree);
    if (!tree.cursor.failed && !tree.no_memory)
        read_tree(&tree);
    pyro_vec_done(&tree.names, allocator);
    if (tree.no_memory || tree.cursor.failed) {
        pyro_jfr_types_done(types);
        pyro_jfr_types_init(types, allocator);
        return tree.no_memory ? -1 : 0;
    }
    check_units(types);
    return 1;
}
