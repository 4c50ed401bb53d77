/* Programs: types as flat lists of operations, and reading by them. */
#include "decode/profiling/jfr/types.h"

#include <stdio.h>

#include "base/memory/allocator.h"

struct pyro_jfr_text pyro_jfr_take_text(struct pyro_jfr_cursor *cursor)
{
    struct pyro_jfr_text text = {.encoding = (enum pyro_jfr_encoding)pyro_jfr_byte(cursor)};
    switch (text.encoding) {
    case PYRO_JFR_TEXT_NULL:
    case PYRO_JFR_TEXT_EMPTY:
        break;
    case PYRO_JFR_TEXT_CONSTANT:
        text.key = (uint64_t)pyro_jfr_long(cursor);
        break;
    case PYRO_JFR_TEXT_UTF8:
    case PYRO_JFR_TEXT_LATIN1: {
        int32_t len = pyro_jfr_int(cursor);
        if (len < 0 || !pyro_jfr_has(cursor, (uint64_t)len)) {
            cursor->failed = true;
            break;
        }
        text.bytes = (struct pyro_slice){(const char *)cursor->at, (size_t)len};
        cursor->at += len;
        break;
    }
    case PYRO_JFR_TEXT_CHARS: {
        int32_t count = pyro_jfr_int(cursor);
        const unsigned char *from = cursor->at;
        for (int32_t i = 0; i < count && !cursor->failed; i++)
            pyro_jfr_short(cursor);
        cursor->failed |= count < 0;
        text.bytes = (struct pyro_slice){(const char *)from, (size_t)(cursor->at - from)};
        break;
    }
    default:
        cursor->failed = true;
    }
    if (cursor->failed)
        text = (struct pyro_jfr_text){.encoding = PYRO_JFR_TEXT_NULL};
    return text;
}

/* ---- Making programs --------------------------------------------------------------------------------------------- */

/* A type whose fields are being listed. */
struct level {
    const struct pyro_jfr_type *type;
    size_t field;
    size_t path_len; /* of the path in front of its fields */
    size_t array;    /* operation of the array that it is the element of, + 1 */
};

struct compiler {
    const struct pyro_jfr_types *types;
    const char *const *slots;
    size_t slot_count;
    struct pyro_jfr_program *program;
    struct level levels[PYRO_JFR_LEVELS];
    unsigned depth, loops;
    unsigned steps; /* fields seen: inner types without fields make no operations */
    char path[256];
    bool first_string; /* "*" has its string */
};

static int plain_kind(struct pyro_slice name)
{
    static const struct {
        const char *name;
        enum pyro_jfr_operation_kind kind;
    } plain[] = {
        {"long", PYRO_JFR_LONG},    {"int", PYRO_JFR_INT},     {"java.lang.String", PYRO_JFR_STRING},
        {"boolean", PYRO_JFR_BYTE}, {"byte", PYRO_JFR_BYTE},   {"short", PYRO_JFR_SHORT},
        {"char", PYRO_JFR_CHAR},    {"float", PYRO_JFR_FLOAT}, {"double", PYRO_JFR_DOUBLE},
    };
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
        if (pyro_slice_is(name, plain[i].name))
            return (int)plain[i].kind;
    return -1;
}

static int16_t slot_of(struct compiler *compiler, int kind)
{
    for (size_t i = 0; i < compiler->slot_count; i++) {
        if (!compiler->slots[i])
            continue;
        if (strcmp(compiler->slots[i], compiler->path) == 0)
            return (int16_t)i;
        if (strcmp(compiler->slots[i], "*") == 0 && kind == PYRO_JFR_STRING && !compiler->first_string) {
            compiler->first_string = true;
            return (int16_t)i;
        }
    }
    return -1;
}

/* Appends an operation; its place + 1, or 0: no memory, or the program is too long and not usable. */
static size_t append(struct compiler *compiler, struct pyro_jfr_operation operation, bool *ret_memory)
{
    struct pyro_jfr_program *program = compiler->program;
    if (program->operations.count >= PYRO_JFR_OPERATIONS) {
        program->usable = false;
        return 0;
    }
    if (!pyro_vec_reserve(&program->operations, 1, compiler->types->allocator)) {
        *ret_memory = false;
        return 0;
    }
    program->operations.items[program->operations.count++] = operation;
    return program->operations.count;
}

static void set_path(struct compiler *compiler, const struct level *level, struct pyro_slice name)
{
    int len = snprintf(compiler->path + level->path_len, sizeof(compiler->path) - level->path_len, "%s%.*s",
                       level->path_len ? "." : "", (int)(name.len < 128 ? name.len : 128), name.ptr);
    if (len < 0 || (size_t)len >= sizeof(compiler->path) - level->path_len) /* nothing that is wanted is so deep */
        compiler->path[sizeof(compiler->path) - 1] = '\0';
}

/* The fields of the type come next; false: it lies too deep. */
static bool enter(struct compiler *compiler, const struct pyro_jfr_type *type, size_t array)
{
    if (compiler->depth == PYRO_JFR_LEVELS)
        return false;
    size_t path_len = compiler->depth ? strlen(compiler->path) : 0;
    compiler->levels[compiler->depth++] = (struct level){type, 0, path_len, array};
    return true;
}

static void leave(struct compiler *compiler)
{
    const struct level *level = &compiler->levels[--compiler->depth];
    if (level->array) {
        struct pyro_jfr_operation *array = &compiler->program->operations.items[level->array - 1];
        array->body = (uint16_t)(compiler->program->operations.count - level->array);
        compiler->loops--;
    }
}

/* A field: an operation, or the fields of its type. False: no memory. */
static bool add_field(struct compiler *compiler, const struct pyro_jfr_field *field)
{
    const struct pyro_jfr_type *type = pyro_jfr_type_by_id(compiler->types, field->type);
    bool memory = true;
    size_t array = 0;
    if (++compiler->steps > PYRO_JFR_OPERATIONS || !type || (field->array && compiler->loops == PYRO_JFR_LOOPS)) {
        compiler->program->usable = false;
        return true;
    }
    if (field->array) {
        array = append(compiler, (struct pyro_jfr_operation){.kind = PYRO_JFR_ARRAY, .slot = -1, .body = 1}, &memory);
        if (!array)
            return memory;
    }
    int kind = field->constant ? PYRO_JFR_CONSTANT : plain_kind(type->name);
    if (kind < 0) {
        compiler->loops += field->array;
        compiler->program->usable = compiler->program->usable && enter(compiler, type, array);
        return true;
    }
    append(compiler,
           (struct pyro_jfr_operation){.kind = (uint8_t)kind,
                                       .unit = field->unit,
                                       .slot = slot_of(compiler, kind),
                                       .type = (uint32_t)(type - compiler->types->types.items)},
           &memory);
    return memory;
}

bool pyro_jfr_compile(const struct pyro_jfr_types *types, const struct pyro_jfr_type *type, const char *const *slots,
                      size_t slot_count, struct pyro_jfr_program *ret)
{
    struct compiler compiler = {.types = types, .slots = slots, .slot_count = slot_count, .program = ret};
    int kind = plain_kind(type->name);
    bool memory = true;
    *ret = (struct pyro_jfr_program){.made = true, .usable = true};
    if (kind >= 0) { /* a pool of strings */
        append(&compiler, (struct pyro_jfr_operation){.kind = (uint8_t)kind, .slot = slot_of(&compiler, kind)},
               &memory);
        return memory;
    }
    enter(&compiler, type, 0);
    while (memory && ret->usable && compiler.depth > 0) {
        struct level *level = &compiler.levels[compiler.depth - 1];
        if (level->field == level->type->field_count) {
            leave(&compiler);
            continue;
        }
        const struct pyro_jfr_field *field = &types->fields.items[level->type->first_field + level->field++];
        set_path(&compiler, level, field->name);
        memory = add_field(&compiler, field);
    }
    return memory;
}

void pyro_jfr_program_done(struct pyro_jfr_program *program, const struct pyro_allocator *allocator)
{
    pyro_vec_done(&program->operations, allocator);
    *program = (struct pyro_jfr_program){0};
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static struct pyro_jfr_value take_value(const struct pyro_jfr_operation *operation, struct pyro_jfr_cursor *cursor)
{
    struct pyro_jfr_value value = {
        .set = true,
        .constant = operation->kind == PYRO_JFR_CONSTANT,
        .unit = operation->unit,
        .type = operation->type,
    };
    switch ((enum pyro_jfr_operation_kind)operation->kind) {
    case PYRO_JFR_BYTE:
        value.number = ((int64_t)pyro_jfr_byte(cursor) ^ 0x80) - 0x80; /* its sign */
        break;
    case PYRO_JFR_SHORT:
        value.number = pyro_jfr_short(cursor);
        break;
    case PYRO_JFR_CHAR:
        value.number = (uint16_t)pyro_jfr_short(cursor);
        break;
    case PYRO_JFR_INT:
        value.number = pyro_jfr_int(cursor);
        break;
    case PYRO_JFR_LONG:
    case PYRO_JFR_CONSTANT:
        value.number = pyro_jfr_long(cursor);
        break;
    case PYRO_JFR_FLOAT:
        value.real = pyro_jfr_float(cursor);
        break;
    case PYRO_JFR_DOUBLE:
        value.real = pyro_jfr_double(cursor);
        break;
    case PYRO_JFR_STRING:
        value.text = pyro_jfr_take_text(cursor);
        break;
    case PYRO_JFR_ARRAY:
        break;
    }
    return value;
}

/* An array that is being read: its first operation, the one behind its last, and how many elements are left. */
struct loop {
    size_t first, end;
    int32_t left;
};

bool pyro_jfr_run(const struct pyro_jfr_program *program, struct pyro_jfr_cursor *cursor, struct pyro_jfr_value *values,
                  bool (*each)(void *context, struct pyro_jfr_value *values), void *context)
{
    struct loop loops[PYRO_JFR_LOOPS + 1];
    unsigned depth = 0;
    size_t at = 0;
    while (!cursor->failed) {
        if (depth > 0 && at == loops[depth - 1].end) {
            if (depth == 1 && each && !each(context, values))
                return false;
            if (--loops[depth - 1].left > 0)
                at = loops[depth - 1].first;
            else
                depth--;
            continue;
        }
        if (at == program->operations.count)
            return true;
        const struct pyro_jfr_operation *operation = &program->operations.items[at++];
        if (operation->kind == PYRO_JFR_ARRAY) {
            int32_t count = pyro_jfr_int(cursor);
            /* An element without fields takes no bytes: any number of them is nothing. */
            if (count <= 0 || operation->body == 0 || depth > PYRO_JFR_LOOPS)
                at += operation->body;
            else
                loops[depth++] = (struct loop){at, at + operation->body, count};
            continue;
        }
        struct pyro_jfr_value value = take_value(operation, cursor);
        if (operation->slot >= 0 && values)
            values[operation->slot] = value;
    }
    return false;
}
