#include "model/exception_chain.h"

#include "base/collections/hash.h"
#include "model/failure_text.h"

static const char TRACEBACK[] = "Traceback (most recent call last)", INNER[] = "most recent failure: ";
/* Between two tracebacks: the second exception was raised while, or because, the first one was handled. */
static const char HANDLED[] = "During handling of the above exception",
                  RAISED[] = "The above exception was the direct cause";

enum { HASHED_FRAMES = 64, COLONS_MOST = 12, SEEN_FRAMES = 64 };

enum mode {
    MODE_JAVA,
    MODE_TRACEBACK,    /* frames of Python; the line that names the exception follows */
    MODE_AFTER_PYTHON, /* after that line: a handler's traceback or the JVM's side may follow */
    MODE_OTHER_FRAMES  /* those of Spark's driver, or of an exception that was suppressed */
};

struct reading {
    struct pyro_exception_chain *chain;
    enum mode mode;
    bool in_python;
    bool joined;                   /* the next traceback belongs to the exception that was raised after the last one */
    size_t message;                /* the first exception of such a message; 0: none */
    size_t python;                 /* in_python: the first of the exceptions of Python that are being read */
    size_t inner;                  /* the exception inside the message of the one before it; 0: none */
    struct pyro_exception pending; /* frames of a traceback whose name is not there yet */
    uint64_t owner;                /* of frames: numbers of exceptions in the order of the text */
    uint64_t owners[PYRO_CHAIN_MOST];
    struct pyro_user_frame frames[SEEN_FRAMES];
    size_t frame_count;
};

static struct pyro_slice behind(struct pyro_slice text, size_t head)
{
    return (struct pyro_slice){text.ptr + head, text.len - head};
}

static struct pyro_slice trimmed(struct pyro_slice text)
{
    while (text.len > 0 && (*text.ptr == ' ' || *text.ptr == '\t' || *text.ptr == '\r'))
        text = behind(text, 1);
    while (text.len > 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\r'))
        text.len--;
    return text;
}

/* Length of a name that an exception is likely to have: a text with a dot may be anything. */
static size_t likely_name(struct pyro_slice line)
{
    static const char *const ends[] = {"Error",     "Exception", "Failure", "Interrupt",
                                       "Throwable", "Exit",      "Failed",  "Fault"};
    struct pyro_slice name = {line.ptr, pyro_exception_name_length(line)};
    for (size_t i = 0; name.len > 0 && i < sizeof(ends) / sizeof(*ends); i++)
        if (pyro_slice_ends_with(name, ends[i]))
            return name.len;
    return 0;
}

/* Before an exception in a line: what the JVM says of its end. */
static struct pyro_slice without_preface(struct pyro_slice line)
{
    static const char *const prefaces[] = {"# ", "Terminating due to ", "Aborting due to ", "Exception: "};
    for (size_t i = 0; i < sizeof(prefaces) / sizeof(*prefaces); i++)
        if (pyro_slice_starts_with(line, prefaces[i]))
            return behind(line, strlen(prefaces[i]));
    if (pyro_slice_starts_with(line, "Exception in thread \"")) {
        struct pyro_slice rest = behind(line, 21);
        for (const char *quote; (quote = memmem(rest.ptr, rest.len, "\" ", 2)) != NULL;) {
            rest = behind(rest, (size_t)(quote - rest.ptr) + 2);
            if (likely_name(rest) > 0)
                return rest;
        }
    }
    return line;
}

bool pyro_begins_stack(struct pyro_slice line)
{
    return line.len > 0 && (*line.ptr == 'T' || *line.ptr == 'E') &&
           (pyro_slice_starts_with(line, TRACEBACK) || pyro_slice_starts_with(line, "Exception in thread \""));
}

bool pyro_begins_exception(struct pyro_slice line)
{
    return pyro_begins_stack(line) || likely_name(without_preface(line)) > 0;
}

/* ---- Items ------------------------------------------------------------------------------------------------------- */

static void push(struct reading *reading, struct pyro_exception item)
{
    struct pyro_exception_chain *chain = reading->chain;
    /* The root is what matters: it takes the last place of a chain that is full. */
    size_t place = chain->count < PYRO_CHAIN_MOST ? chain->count++ : PYRO_CHAIN_MOST - 1;
    chain->items[place] = item;
    reading->owners[place] = ++reading->owner;
}

static struct pyro_exception *last(struct reading *reading)
{
    return reading->chain->count ? &reading->chain->items[reading->chain->count - 1] : NULL;
}

/* Joined exceptions of Python are in the order in which they were raised: the first one is the root. */
static void end_python(struct reading *reading)
{
    struct pyro_exception *items = reading->chain->items;
    size_t a = reading->python, b = reading->in_python ? reading->chain->count : 0;
    for (; a + 1 < b; a++, b--) {
        struct pyro_exception item = items[a];
        uint64_t owner = reading->owners[a];
        items[a] = items[b - 1];
        reading->owners[a] = reading->owners[b - 1];
        items[b - 1] = item;
        reading->owners[b - 1] = owner;
    }
    reading->in_python = false;
}

/* A traceback that no joint precedes is part of the message of the exception before: Spark 4's driver raises a
 * PythonException with the traceback of the worker as its message. */
static void begin_python(struct reading *reading)
{
    if (reading->in_python && !reading->joined) {
        end_python(reading);
        reading->message = reading->chain->count;
    }
    reading->joined = false;
    if (!reading->in_python)
        reading->python = reading->chain->count;
    reading->in_python = true;
    reading->mode = MODE_TRACEBACK;
    reading->pending = (struct pyro_exception){.name = PYRO_SLICE_NULL};
}

static void add_frame(struct reading *reading, struct pyro_exception *item, uint64_t owner, struct pyro_slice frame,
                      struct pyro_slice user)
{
    if (item->frame_count < HASHED_FRAMES) {
        uint64_t hash = item->frames;
        for (size_t i = 0; i < frame.len && frame.ptr[i] != '('; i++)
            if ((unsigned char)(frame.ptr[i] - '0') > 9)
                hash = pyro_fnv_byte(hash, (unsigned char)frame.ptr[i]);
        item->frames = pyro_hash_mix(hash + 1);
        item->frame_count++;
    }
    if (user.ptr && reading->frame_count < SEEN_FRAMES)
        reading->frames[reading->frame_count++] = (struct pyro_user_frame){user, owner};
}

/* "ExecutorLostFailure (executor 5 exited caused by one of the running tasks) Reason: what happened" */
static bool push_lost_executor(struct reading *reading, struct pyro_slice text)
{
    static const char name[] = "ExecutorLostFailure";
    if (!pyro_slice_starts_with(text, name))
        return false;
    const char *reason = pyro_slice_find(text, "Reason: ");
    struct pyro_slice message = reason ? behind(text, (size_t)(reason - text.ptr) + 8) : behind(text, sizeof(name) - 1);
    push(reading, (struct pyro_exception){.name = {text.ptr, sizeof(name) - 1}, .message = trimmed(message)});
    return true;
}

static bool push_named(struct reading *reading, struct pyro_slice text, size_t name)
{
    struct pyro_exception item = {.name = {text.ptr, name}};
    item.message = trimmed(behind(text, name > 0 && name < text.len ? name + 1 : name));
    const char *traceback = pyro_slice_find(item.message, TRACEBACK);
    /* Of the exception inside of the message, which push_inner() takes. */
    if (traceback && pyro_slice_find(item.message, INNER))
        traceback = NULL;
    if (traceback)
        item.message.len = (size_t)(traceback - item.message.ptr);
    /* The driver repeats the exception of a task, which was in its message, as the cause of its own. */
    struct pyro_exception_chain *chain = reading->chain;
    const struct pyro_exception *before = reading->inner < chain->count ? &chain->items[reading->inner] : NULL;
    if (reading->inner > 0 && before && pyro_slice_eq(before->name, item.name) &&
        pyro_slice_eq(before->message, item.message))
        chain->count = reading->inner;
    reading->inner = 0;
    push(reading, item);
    reading->mode = MODE_JAVA;
    if (traceback)
        begin_python(reading);
    return true;
}

/* An exception at the beginning of a text, or behind some "...: ". */
static bool push_first(struct reading *reading, struct pyro_slice line)
{
    line = without_preface(line);
    for (unsigned colons = 0; colons < COLONS_MOST; colons++) {
        size_t name = likely_name(line);
        if (name > 0)
            return push_named(reading, line, name);
        if (push_lost_executor(reading, line))
            return true;
        const char *colon = memmem(line.ptr, line.len, ": ", 2);
        if (!colon)
            return false;
        line = behind(line, (size_t)(colon - line.ptr) + 2);
    }
    return false;
}

/* A task's failure inside the message of a job's: "... most recent failure: Lost task 0.3 in stage 1.0 (TID 6) (host
 * executor 1): java.lang..." */
static void push_inner(struct reading *reading)
{
    const struct pyro_exception *item = last(reading);
    const char *at = item ? pyro_slice_find(item->message, INNER) : NULL;
    if (!at)
        return;
    struct pyro_slice rest = behind(item->message, (size_t)(at - item->message.ptr));
    const char *close = pyro_slice_find(rest, "): ");
    size_t place = reading->chain->count;
    if (close && push_first(reading, behind(rest, (size_t)(close - rest.ptr) + 3)))
        reading->inner = place;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static void read_java_frame(struct reading *reading, struct pyro_slice frame)
{
    struct pyro_exception *item = last(reading);
    if (!item || reading->mode != MODE_JAVA)
        return;
    add_frame(reading, item, reading->owners[reading->chain->count - 1], frame,
              pyro_is_library_frame(frame) ? PYRO_SLICE_NULL : frame);
}

/* A name alone, or with a message: what a traceback ends with. */
static size_t any_name(struct pyro_slice line)
{
    size_t n = 0;
    while (n < line.len &&
           ((unsigned char)line.ptr[n] > 0x7f || line.ptr[n] == '.' || line.ptr[n] == '_' ||
            (line.ptr[n] >= '0' && line.ptr[n] <= '9') || ((line.ptr[n] | 0x20) >= 'a' && (line.ptr[n] | 0x20) <= 'z')))
        n++;
    return n > 0 && (n == line.len || line.ptr[n] == ':') ? n : 0;
}

/* 'File "/app/load.py", line 12, in parse' without the number, for the hash. */
static void read_python_frame(struct reading *reading, struct pyro_slice line)
{
    struct pyro_slice frame = trimmed(line);
    struct pyro_slice user = pyro_python_frame(line);
    if (!pyro_slice_starts_with(frame, "File \""))
        return;
    add_frame(reading, &reading->pending, reading->owner + 1, behind(frame, 6), user);
}

/* False: the line is not part of a traceback. */
static bool read_python_line(struct reading *reading, struct pyro_slice line)
{
    if (line.len == 0 || *line.ptr == ' ' || *line.ptr == '\t') {
        read_python_frame(reading, line);
        return true;
    }
    size_t name = any_name(line);
    if (name == 0)
        return false;
    reading->pending.name = (struct pyro_slice){line.ptr, name};
    reading->pending.message = trimmed(behind(line, name < line.len ? name + 1 : name));
    push(reading, reading->pending);
    reading->mode = MODE_AFTER_PYTHON;
    return true;
}

/* What joins the exceptions of a text. True: the line was one of these. */
static bool read_joint(struct reading *reading, struct pyro_slice line)
{
    if (pyro_slice_starts_with(line, TRACEBACK)) {
        begin_python(reading);
        return true;
    }
    if (reading->mode == MODE_AFTER_PYTHON &&
        (pyro_slice_starts_with(line, HANDLED) || pyro_slice_starts_with(line, RAISED))) {
        reading->joined = true;
        return true;
    }
    if (pyro_slice_starts_with(line, "Caused by: ")) {
        end_python(reading);
        line = behind(line, 11);
        if (!push_first(reading, line))
            push_named(reading, line, any_name(line));
        push_inner(reading);
        return true;
    }
    if (pyro_slice_starts_with(line, "Driver stacktrace:") || pyro_slice_starts_with(trimmed(line), "Suppressed: ")) {
        reading->mode = MODE_OTHER_FRAMES;
        return true;
    }
    /* The JVM's side of an exception of Python: of py4j, and of PySpark's own. */
    bool jvm = pyro_slice_starts_with(line, "JVM stacktrace:");
    if (reading->mode == MODE_AFTER_PYTHON && (jvm || pyro_slice_starts_with(line, ": "))) {
        end_python(reading);
        if (jvm && reading->message > 0) /* what the JVM says has them as well */
            reading->chain->count = reading->message;
        reading->message = 0;
        reading->mode = MODE_JAVA;
        if (!jvm && push_first(reading, behind(line, 2)))
            push_inner(reading);
        return true;
    }
    return false;
}

static void read_line(struct reading *reading, struct pyro_slice line, bool after_jvm)
{
    if (read_joint(reading, line))
        return;
    if (reading->mode == MODE_TRACEBACK && read_python_line(reading, line))
        return;
    if (line.len > 4 && *line.ptr == '\t' && pyro_slice_starts_with(line, "\tat ")) {
        /* Frames of the JVM below the traceback of its Python worker. */
        if (reading->mode != MODE_AFTER_PYTHON)
            read_java_frame(reading, behind(line, 4));
    } else if (line.len > 0 && *line.ptr != ' ' && *line.ptr != '\t' && (reading->chain->count == 0 || after_jvm)) {
        if (push_first(reading, line))
            push_inner(reading);
    }
}

/* The frames of the innermost exception that has any of the user's, innermost first: Python writes its own last. */
static void choose_frames(struct reading *reading)
{
    struct pyro_exception_chain *chain = reading->chain;
    for (size_t i = chain->count; i-- > 0 && chain->frame_count == 0;)
        for (size_t k = 0; k < reading->frame_count && chain->frame_count < PYRO_CHAIN_FRAMES; k++)
            if (reading->frames[k].owner == reading->owners[i])
                chain->frames[chain->frame_count++] = reading->frames[k];
    if (chain->frame_count == 0 || !pyro_split_frame(chain->frames[0].text).rest.ptr)
        return;
    for (size_t a = 0, b = chain->frame_count - 1; a < b; a++, b--) {
        struct pyro_user_frame frame = chain->frames[a];
        chain->frames[a] = chain->frames[b];
        chain->frames[b] = frame;
    }
}

static uint64_t hash_of(const struct pyro_exception_chain *chain)
{
    uint64_t hash = pyro_message_hash(pyro_chain_root(chain)->message);
    for (size_t i = 0; i < chain->count; i++)
        hash = pyro_hash_mix(hash ^ pyro_hash_slice(chain->items[i].name)) + chain->items[i].frames;
    return pyro_hash_mix(hash);
}

bool pyro_exception_chain_read(struct pyro_slice text, struct pyro_exception_chain *ret)
{
    struct reading reading = {.chain = ret, .mode = MODE_JAVA};
    struct pyro_slice line;
    bool after_jvm = false;
    ret->count = ret->frame_count = 0;
    ret->hash = 0;
    while (pyro_next_line(&text, &line)) {
        read_line(&reading, line, after_jvm);
        after_jvm = pyro_slice_starts_with(line, "JVM stacktrace:");
    }
    /* A traceback that is cut before its last line has no name. */
    end_python(&reading);
    choose_frames(&reading);
    if (ret->count > 0)
        ret->hash = hash_of(ret);
    return ret->count > 0;
}
