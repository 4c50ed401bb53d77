/* What events refer to: threads, stacks, classes, texts, times. Each is decoded once a chunk. */
#include "base/numbers/saturate.h"
#include "decode/profiling/jfr/chunk.h"

struct pyro_slice pyro_jfr_text(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *value)
{
    pyro_strbuf_clear(&chunk->scratch);
    if (!pyro_jfr_add_text(chunk, &chunk->scratch, value)) {
        chunk->no_memory |= chunk->scratch.failed;
        return PYRO_SLICE_NULL;
    }
    struct pyro_slice text = pyro_intern_slice(chunk->reading->texts, pyro_strbuf_slice(&chunk->scratch));
    chunk->no_memory |= !text.ptr;
    return text;
}

/* ---- Times ------------------------------------------------------------------------------------------------------- */

/* A real as an integer, the ends for what lies outside. */
static int64_t whole(double value)
{
    if (!(value > -9.2e18))
        return INT64_MIN + 1; /* not PYRO_NONE */
    return value < 9.2e18 ? (int64_t)value : INT64_MAX;
}

static int64_t scaled(int64_t value, int64_t factor)
{
    int64_t product;
    if (__builtin_mul_overflow(value, factor, &product))
        return value < 0 ? INT64_MIN + 1 : INT64_MAX;
    return product;
}

int64_t pyro_jfr_duration(const struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *value)
{
    if (!value->set)
        return PYRO_NONE;
    switch (value->unit) {
    case PYRO_JFR_NANOSECONDS:
        return value->number;
    case PYRO_JFR_MICROSECONDS:
        return scaled(value->number, 1000);
    case PYRO_JFR_MILLISECONDS:
        return scaled(value->number, 1000000);
    case PYRO_JFR_SECONDS:
        return scaled(value->number, 1000000000);
    default:
        return whole((double)value->number / chunk->ticks_per_ns);
    }
}

int64_t pyro_jfr_time(const struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *value)
{
    if (!value->set)
        return PYRO_NONE;
    if (value->unit == PYRO_JFR_EPOCH_NANOSECONDS)
        return value->number;
    if (value->unit == PYRO_JFR_EPOCH_MILLISECONDS)
        return scaled(value->number, 1000000);
    int64_t ticks = pyro_sub_saturating(value->number, chunk->start_ticks);
    return pyro_add_saturating(chunk->start_ns, whole((double)ticks / chunk->ticks_per_ns));
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

int32_t pyro_jfr_thread_row(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *reference)
{
    enum { JAVA_NAME, OS_NAME, OS_ID };
    struct pyro_jfr_value values[PYRO_JFR_SLOTS] = {{.set = false}};
    if (!reference->set || reference->number == 0)
        return chunk->process;
    uint64_t *row = pyro_map_put(&chunk->threads, (uint64_t)reference->number, NULL);
    if (!row)
        return -1;
    if (*row)
        return (int32_t)(*row - 1);
    int32_t thread = chunk->process;
    if (pyro_jfr_constant(chunk, reference, &chunk->thread, values, NULL, NULL)) {
        struct pyro_slice name = pyro_jfr_text(chunk, &values[JAVA_NAME]);
        if (!name.ptr)
            name = pyro_jfr_text(chunk, &values[OS_NAME]);
        const struct pyro_profile_process process = {.pid = chunk->pid, .role = "jvm"};
        thread = chunk->no_memory
                     ? -1
                     : pyro_profile_thread_row(chunk->reading, &process, name,
                                               values[OS_ID].number > 0 ? values[OS_ID].number : PYRO_NONE);
    }
    *row = thread < 0 ? 0 : (uint64_t)thread + 1;
    return thread;
}

/* ---- Classes and methods ----------------------------------------------------------------------------------------- */

/* "[Ljava/lang/String;" to "java.lang.String[]", "[B" to "byte[]", "java/lang/String" to "java.lang.String". */
static void add_class(struct pyro_strbuf *buffer, struct pyro_slice name)
{
    static const struct {
        char letter;
        const char *name;
    } plain[] = {{'B', "byte"}, {'C', "char"}, {'D', "double"}, {'F', "float"},
                 {'I', "int"},  {'J', "long"}, {'S', "short"},  {'Z', "boolean"}};
    size_t dimensions = 0;
    while (dimensions < name.len && name.ptr[dimensions] == '[')
        dimensions++;
    struct pyro_slice element = {name.ptr + dimensions, name.len - dimensions};
    if (dimensions > 0 && element.len > 1 && element.ptr[0] == 'L' && element.ptr[element.len - 1] == ';') {
        element.ptr++;
        element.len -= 2;
    } else if (dimensions > 0 && element.len == 1) {
        for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
            if (plain[i].letter == element.ptr[0])
                element = pyro_slice_from(plain[i].name);
    }
    for (size_t i = 0; i < element.len; i++)
        pyro_strbuf_add_char(buffer, element.ptr[i] == '/' ? '.' : element.ptr[i]);
    for (size_t i = 0; i < dimensions; i++)
        pyro_strbuf_add_text(buffer, "[]");
}

/* Appends the name of a class; nothing where it has none. */
static bool add_class_name(struct pyro_jfr_chunk *chunk, struct pyro_strbuf *buffer,
                           const struct pyro_jfr_value *reference)
{
    static const char *const slots[] = {"name"};
    struct pyro_jfr_value values[PYRO_JFR_SLOTS] = {{.set = false}};
    if (!reference->set || reference->number == 0 || reference->type >= chunk->types->types.count)
        return false;
    struct pyro_jfr_type *type = &chunk->types->types.items[reference->type];
    if (!type->named.made && !pyro_jfr_compile(chunk->types, type, slots, 1, &type->named)) {
        chunk->no_memory = true;
        return false;
    }
    if (!pyro_jfr_constant(chunk, reference, &type->named, values, NULL, NULL))
        return false;
    struct pyro_slice name = pyro_jfr_text(chunk, &values[0]);
    if (name.len > 0)
        add_class(buffer, name);
    return name.len > 0;
}

struct pyro_slice pyro_jfr_class_name(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *reference)
{
    struct pyro_slice name = PYRO_SLICE_NULL;
    struct pyro_strbuf buffer;
    pyro_strbuf_init(&buffer, chunk->reading->allocator);
    if (add_class_name(chunk, &buffer, reference)) {
        name = pyro_intern_slice(chunk->reading->texts, pyro_strbuf_slice(&buffer));
        chunk->no_memory |= !name.ptr || buffer.failed;
    }
    pyro_strbuf_done(&buffer);
    return name;
}

/* "java.lang.Thread.run" */
static struct pyro_slice method_name(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *reference)
{
    enum { TYPE, NAME };
    struct pyro_jfr_value values[PYRO_JFR_SLOTS] = {{.set = false}};
    uint64_t *number = pyro_map_put(&chunk->methods, (uint64_t)reference->number, NULL);
    if (!number) {
        chunk->no_memory = true;
        return PYRO_SLICE_NULL;
    }
    if (*number)
        return pyro_string_pool_text(chunk->reading->texts, (uint32_t)(*number - 1));
    struct pyro_strbuf buffer;
    pyro_strbuf_init(&buffer, chunk->reading->allocator);
    if (pyro_jfr_constant(chunk, reference, &chunk->method, values, NULL, NULL)) {
        bool in_class = add_class_name(chunk, &buffer, &values[TYPE]);
        struct pyro_slice name = pyro_jfr_text(chunk, &values[NAME]);
        if (in_class && name.len > 0)
            pyro_strbuf_add_char(&buffer, '.');
        pyro_strbuf_add_slice(&buffer, name);
    }
    if (buffer.len == 0)
        pyro_strbuf_add_text(&buffer, "[unknown]");
    uint32_t text = buffer.failed ? UINT32_MAX : pyro_intern(chunk->reading->texts, pyro_strbuf_slice(&buffer));
    pyro_strbuf_done(&buffer);
    if (text == UINT32_MAX) {
        chunk->no_memory = true;
        return PYRO_SLICE_NULL;
    }
    *number = (uint64_t)text + 1;
    return pyro_string_pool_text(chunk->reading->texts, text);
}

/* ---- Stacks ------------------------------------------------------------------------------------------------------ */

enum { FRAME_METHOD, FRAME_LINE, FRAME_KIND };

static bool take_frame(void *context, struct pyro_jfr_value *values)
{
    struct pyro_jfr_chunk *chunk = context;
    if (chunk->frames.count == PYRO_PROFILE_DEPTH) {
        chunk->reading->facts->stacks_cut++;
        return false;
    }
    struct pyro_jfr_frame *frame = pyro_vec_push(&chunk->frames, chunk->reading->allocator);
    if (!frame) {
        chunk->no_memory = true;
        return false;
    }
    *frame = (struct pyro_jfr_frame){values[FRAME_METHOD], values[FRAME_LINE], values[FRAME_KIND]};
    return true;
}

/* "Native" is a native method of Java, unless it has no class. */
static struct pyro_slice language_of(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_frame *frame,
                                     struct pyro_slice function)
{
    struct pyro_slice kind = pyro_jfr_text(chunk, &frame->kind);
    if (pyro_slice_is(kind, "Kernel"))
        return PYRO_SLICE_LITERAL("kernel");
    if (pyro_slice_is(kind, "C++") || (pyro_slice_is(kind, "Native") && !memchr(function.ptr, '.', function.len)))
        return PYRO_SLICE_LITERAL("native");
    return PYRO_SLICE_LITERAL("java");
}

static int32_t add_frame(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_frame *frame)
{
    struct pyro_slice function = method_name(chunk, &frame->method);
    if (!function.ptr)
        return -1;
    const struct pyro_frame_row row = {.function = function,
                                       .line = frame->line.number > 0 ? frame->line.number : PYRO_NONE,
                                       .language = language_of(chunk, frame, function)};
    return pyro_tracks_add_frame(chunk->reading->tracks, &row);
}

int32_t pyro_jfr_stack_row(struct pyro_jfr_chunk *chunk, const struct pyro_jfr_value *reference)
{
    struct pyro_jfr_value values[PYRO_JFR_SLOTS] = {{.set = false}};
    if (!reference->set || reference->number == 0)
        return -1;
    uint64_t *known = pyro_map_put(&chunk->stacks, (uint64_t)reference->number, NULL);
    if (!known) {
        chunk->no_memory = true;
        return -1;
    }
    if (*known)
        return (int32_t)((int64_t)*known - 2);
    int32_t stack = -1;
    chunk->frames.count = 0;
    pyro_jfr_constant(chunk, reference, &chunk->stack, values, take_frame, chunk);
    for (size_t i = chunk->frames.count; i-- > 0 && !chunk->no_memory;) {
        int32_t frame = add_frame(chunk, &chunk->frames.items[i]);
        stack = frame < 0 ? -1 : pyro_tracks_add_stack(chunk->reading->tracks, stack, frame);
        chunk->no_memory |= stack < 0;
    }
    *known = (uint64_t)((int64_t)stack + 2);
    return stack;
}

int32_t pyro_jfr_stack_of_class(struct pyro_jfr_chunk *chunk, int32_t stack, const struct pyro_jfr_value *reference)
{
    struct pyro_slice name = pyro_jfr_class_name(chunk, reference);
    if (!name.ptr || chunk->no_memory)
        return stack;
    const struct pyro_frame_row row = {.function = name, .line = PYRO_NONE, .language = PYRO_SLICE_LITERAL("java")};
    int32_t frame = pyro_tracks_add_frame(chunk->reading->tracks, &row);
    int32_t with = frame < 0 ? -1 : pyro_tracks_add_stack(chunk->reading->tracks, stack, frame);
    chunk->no_memory |= with < 0;
    return with;
}
