/* What Spark's REST API says of the threads of an executor, saved to a file:
 *
 *     [{"threadId":61,"threadName":"main","threadState":"RUNNABLE","stackTrace":{"elems":["a.B.c(B.java:1)", ...]},
 * ...}]
 *
 * It has no time. */
#include "base/json/json_read.h"
#include "base/json/unescape.h"
#include "base/memory/allocator.h"
#include "decode/profiling/thread_dump.h"

enum { BYTES_MOST = 64 << 20 };

PYRO_JSON_KEYS(thread_keys, (THREAD_ID, "threadId"), (THREAD_NAME, "threadName"), (THREAD_STATE, "threadState"),
               (THREAD_STACK, "stackTrace"));
PYRO_JSON_KEYS(stack_keys, (STACK_ELEMS, "elems"));

struct reading_json {
    struct pyro_thread_dump dump;
    struct pyro_json_reader json;
    struct pyro_strbuf frame;
    bool failed; /* no memory */
};

/* Behind the names of a loader and a module: "java.base@17.0.15/java.lang.Thread.run", "app//a.B.c". The slash in the
 * name of a hidden class follows a '$'. */
static struct pyro_slice without_module(struct pyro_slice frame)
{
    const char *open = frame.len ? memchr(frame.ptr, '(', frame.len) : NULL;
    const char *end = open ? open : frame.ptr + frame.len, *slash;
    while ((slash = memchr(frame.ptr, '/', (size_t)(end - frame.ptr))) != NULL &&
           !memchr(frame.ptr, '$', (size_t)(slash - frame.ptr))) {
        frame.len -= (size_t)(slash + 1 - frame.ptr);
        frame.ptr = slash + 1;
    }
    return frame;
}

/* Locks follow the frame, on lines of their own or after an arrow. */
static struct pyro_slice without_locks(struct pyro_slice frame)
{
    const char *newline = frame.len ? memchr(frame.ptr, '\n', frame.len) : NULL;
    if (newline)
        frame.len = (size_t)(newline - frame.ptr);
    const char *arrow = pyro_slice_find(frame, " => ");
    if (arrow)
        frame.len = (size_t)(arrow - frame.ptr);
    return frame;
}

static void take_frame(struct reading_json *reading)
{
    struct pyro_slice raw = PYRO_SLICE_NULL;
    if (!pyro_json_take_string(&reading->json, &raw, NULL) || !raw.ptr)
        return;
    pyro_strbuf_clear(&reading->frame);
    pyro_text_decode(&reading->frame, raw, NULL);
    struct pyro_slice frame = without_module(without_locks(pyro_strbuf_slice(&reading->frame)));
    reading->failed |= reading->frame.failed || (frame.len > 0 && !pyro_thread_dump_frame(&reading->dump, frame));
}

static void take_stack(struct reading_json *reading)
{
    struct pyro_json_reader *json = &reading->json;
    struct pyro_json_object stack;
    if (!pyro_json_enter_object(json, &stack))
        return;
    while (PYRO_JSON_NEXT_KNOWN(json, &stack, stack_keys) == STACK_ELEMS) {
        bool first = true;
        if (!pyro_json_enter_array(json))
            continue;
        while (!reading->failed && pyro_json_next_element(json, &first))
            take_frame(reading);
    }
}

static void take_thread(struct reading_json *reading)
{
    struct pyro_json_reader *json = &reading->json;
    struct pyro_thread_dump *dump = &reading->dump;
    struct pyro_json_object thread;
    struct pyro_slice text;
    pyro_strbuf_clear(&dump->name);
    dump->tid = PYRO_NONE;
    if (!pyro_json_enter_object(json, &thread))
        return;
    for (int key; !reading->failed && (key = PYRO_JSON_NEXT_KNOWN(json, &thread, thread_keys)) != PYRO_JSON_END;) {
        text = PYRO_SLICE_NULL;
        if (key == THREAD_ID)
            pyro_json_take_int(json, &dump->tid);
        else if (key == THREAD_STACK)
            take_stack(reading);
        else if (pyro_json_take_string(json, &text, NULL) && text.ptr && key == THREAD_NAME)
            pyro_text_decode(&dump->name, text, NULL);
        else if (text.ptr)
            dump->state = pyro_thread_dump_state(text);
    }
    /* A thread whose record breaks off has half a stack. */
    reading->failed |= !pyro_thread_dump_end(dump, !json->error && dump->tid != PYRO_NONE);
}

/* Records are lines for the reader of JSON, while servers indent their answers. No text has a newline as it is. */
static void take_text(struct reading_json *reading, char *text, size_t len)
{
    bool first = true;
    for (char *at = text; (at = memchr(at, '\n', (size_t)(text + len - at))) != NULL;)
        *at = ' ';
    pyro_json_reader_start(&reading->json, text, text + len, pyro_scan_best());
    if (pyro_json_enter_array(&reading->json))
        while (!reading->failed && pyro_json_next_element(&reading->json, &first))
            take_thread(reading);
    reading->dump.reading->facts->rejected += reading->json.error != NULL;
}

static enum pyro_status read_text(struct pyro_profile_reading *reading, struct pyro_strbuf *text)
{
    enum { STEP = 256 << 10 };
    size_t got = 1;
    while (got > 0 && text->len < BYTES_MOST) {
        if (!pyro_strbuf_reserve(text, STEP))
            return pyro_no_memory(reading->error);
        PYRO_TRY(pyro_reader_read(reading->reader, text->data + text->len, STEP, &got, reading->error));
        text->len += got;
    }
    reading->bytes = text->len;
    if (!pyro_strbuf_reserve(text, PYRO_SCAN_PADDING))
        return pyro_no_memory(reading->error);
    memset(text->data + text->len, 0, PYRO_SCAN_PADDING);
    return PYRO_OK;
}

enum pyro_status pyro_profile_decode_spark_threads(struct pyro_profile_reading *reading)
{
    struct reading_json own = {.failed = false};
    struct pyro_strbuf text;
    pyro_strbuf_init(&text, reading->allocator);
    pyro_strbuf_init(&own.frame, reading->allocator);
    pyro_thread_dump_init(&own.dump, reading);
    enum pyro_status status = read_text(reading, &text);
    if (status == PYRO_OK) {
        take_text(&own, text.data, text.len);
        status = own.failed ? pyro_no_memory(reading->error) : PYRO_OK;
    }
    pyro_thread_dump_done(&own.dump);
    pyro_strbuf_done(&own.frame);
    pyro_strbuf_done(&text);
    return status;
}
