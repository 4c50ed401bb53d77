#include "analyze/tracks/frame_kinds.h"

#include <string.h>

static bool starts_with_one_of(struct pyro_slice text, const char *const *list)
{
    for (; *list; list++)
        if (pyro_slice_starts_with(text, *list))
            return true;
    return false;
}

static bool has_one_of(struct pyro_slice text, const char *const *list)
{
    for (; text.ptr && *list; list++)
        if (pyro_slice_find(text, *list))
            return true;
    return false;
}

/* ---- Java and Scala ---------------------------------------------------------------------------------------------- */

static const char *const reflection[] = {"java.lang.reflect.", "jdk.internal.reflect.", "sun.reflect.",
                                         "java.lang.invoke.", NULL};
static const char *const language[] = {"java.", "javax.", "jdk.", "sun.", "com.sun.", "scala.", NULL};
static const char *const expression[] = {"org.apache.spark.sql.catalyst.expressions.", NULL};
static const char *const spark[] = {"org.apache.spark.",
                                    "org.apache.hadoop.",
                                    "org.apache.parquet.",
                                    "org.apache.orc.",
                                    "org.apache.arrow.",
                                    "org.apache.avro.",
                                    "org.apache.commons.",
                                    "org.codehaus.",
                                    "io.netty.",
                                    "com.esotericsoftware.",
                                    "com.fasterxml.",
                                    "com.google.",
                                    "net.jpountz.",
                                    "com.github.luben.",
                                    "org.xerial.",
                                    "org.sparkproject.",
                                    "py4j.",
                                    "one.profiler.",
                                    "com.uber.profiling.",
                                    NULL};

static enum pyro_frame_kind kind_in_java(struct pyro_slice function)
{
    if (starts_with_one_of(function, reflection))
        return PYRO_FRAME_REFLECTION;
    if (starts_with_one_of(function, language))
        return PYRO_FRAME_LANGUAGE;
    if (starts_with_one_of(function, expression))
        return PYRO_FRAME_EXPRESSION;
    if (starts_with_one_of(function, spark) || !memchr(function.ptr, '.', function.len)) /* native code */
        return PYRO_FRAME_SPARK;
    return PYRO_FRAME_PROGRAM;
}

/* ---- Python ------------------------------------------------------------------------------------------------------ */

static const char *const python_language[] = {"<frozen", "<string>", "runpy.py", NULL};
static const char *const pyspark[] = {"pyspark.zip/", "/pyspark/", "pyrometer/profil", "cloudpickle", "py4j", NULL};

static enum pyro_frame_kind kind_in_python(struct pyro_slice file)
{
    if (!file.ptr || has_one_of(file, python_language))
        return PYRO_FRAME_LANGUAGE;
    if (pyro_slice_find(file, "/pyspark/work/")) /* where a standalone worker puts the program's files */
        return PYRO_FRAME_PROGRAM;
    if (has_one_of(file, pyspark))
        return PYRO_FRAME_SPARK;
    if (pyro_slice_find(file, "/lib/python") && !pyro_slice_find(file, "-packages/"))
        return PYRO_FRAME_LANGUAGE;
    return PYRO_FRAME_PROGRAM;
}

static bool is_python(const struct pyro_frame_row *frame)
{
    return frame->language.ptr && pyro_slice_is(frame->language, "python");
}

enum pyro_frame_kind pyro_frame_kind_of(const struct pyro_frame_row *frame)
{
    if (is_python(frame))
        return kind_in_python(frame->file);
    return frame->function.ptr ? kind_in_java(frame->function) : PYRO_FRAME_SPARK;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* The last word of "org.acme.Model$.load" or "load". */
static struct pyro_slice last_word(struct pyro_slice function)
{
    for (size_t i = function.len; i > 0; i--)
        if (function.ptr[i - 1] == '.')
            return (struct pyro_slice){function.ptr + i, function.len - i};
    return function;
}

static bool is_one_of(struct pyro_slice text, const char *const *list)
{
    for (; *list; list++)
        if (pyro_slice_is(text, *list))
            return true;
    return false;
}

bool pyro_frame_prepares(const struct pyro_frame_row *frame)
{
    static const char *const starts[] = {"load", "init", "connect", "compile", "from_", "create_engine", NULL};
    static const char *const names[] = {"__init__", "<clinit>", "getConnection", "getInstance", "forName", "build",
                                        "open",     "setup",    "set_up",        "_compile",    "blank",   NULL};
    struct pyro_slice name = frame->function.ptr ? last_word(frame->function) : PYRO_SLICE_NULL;
    return name.ptr && (starts_with_one_of(name, starts) || is_one_of(name, names));
}

bool pyro_frame_waits_for_input(const struct pyro_frame_row *frame)
{
    static const char *const names[] = {"read_int", "read_long", "read_with_length", "_read_with_length", NULL};
    return is_python(frame) && frame->function.ptr && is_one_of(frame->function, names);
}

bool pyro_frame_takes_lock(const struct pyro_frame_row *frame)
{
    static const char *const names[] = {"lock", "lockInterruptibly", "tryLock", "readLock", "writeLock", NULL};
    return !is_python(frame) && frame->function.ptr &&
           pyro_slice_starts_with(frame->function, "java.util.concurrent.locks.") &&
           is_one_of(last_word(frame->function), names);
}

enum pyro_serializer pyro_frame_serializer(const struct pyro_frame_row *frame)
{
    static const char *const java[] = {"java.io.ObjectOutputStream.", "java.io.ObjectInputStream.",
                                       "java.io.ObjectOutputStream$", "java.io.ObjectInputStream$",
                                       "java.io.ObjectStreamClass.",  NULL};
    static const char *const kryo[] = {"com.esotericsoftware.kryo.", "com.twitter.chill.", NULL};
    static const char *const own[] = {"org.apache.spark.serializer.",
                                      "org.apache.spark.sql.execution.UnsafeRowSerializer", NULL};
    if (!frame->function.ptr || is_python(frame))
        return PYRO_SERIALIZER_NONE;
    if (starts_with_one_of(frame->function, java))
        return PYRO_SERIALIZER_JAVA;
    if (starts_with_one_of(frame->function, kryo))
        return PYRO_SERIALIZER_KRYO;
    /* writeAll() asks the iterator, which runs the program, for each object. */
    bool runs_program = pyro_slice_starts_with(last_word(frame->function), "writeAll");
    return starts_with_one_of(frame->function, own) && !runs_program ? PYRO_SERIALIZER_SPARK : PYRO_SERIALIZER_NONE;
}

/* ---- Stacks ------------------------------------------------------------------------------------------------------ */

static struct pyro_slice folder_of(struct pyro_slice file)
{
    while (file.len > 0 && file.ptr[file.len - 1] != '/')
        file.len--;
    return file;
}

/* The program's own: what it brings lies in other folders. */
static bool is_with(const struct pyro_frame_row *frame, const struct pyro_frame_row *entry)
{
    struct pyro_slice folder = folder_of(entry->file);
    return !entry->file.ptr || folder.len == 0 ||
           (frame->file.len >= folder.len && memcmp(frame->file.ptr, folder.ptr, folder.len) == 0);
}

/* `facts` are those of the callers. */
static void add_program(struct pyro_stack_facts *facts, const struct pyro_tracks *tracks, int32_t frame,
                        enum pyro_frame_kind kind)
{
    const struct pyro_frame_row *row = pyro_tracks_frame(tracks, (size_t)frame);
    if (kind == PYRO_FRAME_PROGRAM && facts->entry < 0)
        facts->entry = frame;
    bool program = kind == PYRO_FRAME_PROGRAM && is_with(row, pyro_tracks_frame(tracks, (size_t)facts->entry));
    if (program) {
        facts->method = frame;
        facts->callee = -1;
        facts->program = true;
    } else if (facts->entry >= 0 && facts->callee < 0 && kind != PYRO_FRAME_REFLECTION) {
        facts->callee = frame;
    }
    if (facts->entry >= 0 && facts->prepares < 0 && pyro_frame_prepares(row))
        facts->prepares = frame;
}

/* Nothing of the program so far: what a function of a query called, or Spark did. */
static void add_platform(struct pyro_stack_facts *facts, int32_t frame, enum pyro_frame_kind kind)
{
    if (kind == PYRO_FRAME_SPARK || kind == PYRO_FRAME_EXPRESSION) {
        facts->expression = kind == PYRO_FRAME_EXPRESSION;
        facts->method = frame;
        facts->callee = -1;
    } else if (kind == PYRO_FRAME_LANGUAGE && facts->callee < 0) {
        facts->callee = frame;
    }
}

const struct pyro_stack_facts *pyro_stack_facts_of(const struct pyro_tracks *tracks, struct pyro_arena *arena)
{
    static const struct pyro_stack_facts none = {.method = -1, .callee = -1, .prepares = -1, .entry = -1};
    size_t frames = pyro_tracks_count(tracks, PYRO_TRACK_FRAMES), stacks = pyro_tracks_count(tracks, PYRO_TRACK_STACKS);
    unsigned char *kinds = pyro_arena_array(arena, frames + 1, sizeof(*kinds));
    struct pyro_stack_facts *facts = pyro_arena_array(arena, stacks + 1, sizeof(*facts));
    if (!kinds || !facts)
        return NULL;
    for (size_t i = 0; i < frames; i++)
        kinds[i] = (unsigned char)pyro_frame_kind_of(pyro_tracks_frame(tracks, i));
    for (size_t i = 0; i < stacks; i++) { /* callers come first */
        const struct pyro_stack_row stack = pyro_tracks_stack(tracks, i);
        const struct pyro_frame_row *frame = pyro_tracks_frame(tracks, (size_t)stack.frame);
        enum pyro_frame_kind kind = (enum pyro_frame_kind)kinds[stack.frame];
        facts[i] = stack.parent >= 0 ? facts[stack.parent] : none;
        facts[i].python = is_python(frame);
        facts[i].in_task |= frame->function.ptr &&
                            pyro_slice_find(frame->function, "org.apache.spark.executor.Executor$TaskRunner.run");
        facts[i].locks |= pyro_frame_takes_lock(frame);
        facts[i].input = pyro_frame_waits_for_input(frame);
        facts[i].transfer = facts[i].python && kind == PYRO_FRAME_SPARK && !facts[i].input;
        if (kind == PYRO_FRAME_PROGRAM || facts[i].entry >= 0)
            add_program(&facts[i], tracks, stack.frame, kind);
        else
            add_platform(&facts[i], stack.frame, kind);
    }
    return facts;
}
