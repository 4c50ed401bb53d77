/* Lines of structured logging: {"ts":...,"level":...,"msg":...,"context":{...},"exception":{...},"logger":...}. */
#include "base/json/json_read.h"
#include "base/json/unescape.h"
#include "base/numbers/calendar.h"
#include "decode/logs/records/header.h"
#include "model/column.h"

enum { FRAMES_MOST = 512 };

void pyro_log_json_init(struct pyro_log_json *json, const struct pyro_allocator *allocator)
{
    json->scan = pyro_scan_best();
    pyro_strbuf_init(&json->message, allocator);
}

void pyro_log_json_done(struct pyro_log_json *json)
{
    pyro_strbuf_done(&json->message);
}

static bool take_raw(struct pyro_json_reader *at, struct pyro_slice *ret)
{
    if (pyro_json_peek(at) == '"')
        return pyro_json_take_string(at, ret, NULL);
    return pyro_json_take_raw(at, ret);
}

/* ,"context":{"task_name":"task 0.0 in stage 1.0 (TID 3)"}, or of the Spark plugin {"task":"3","stage":"1.0"} */
static void read_context(struct pyro_json_reader *at, struct pyro_log_header *ret)
{
    PYRO_JSON_KEYS(context, (CONTEXT_TASK, "task_name"), (CONTEXT_MDC_TASK, "mdc.taskName"), (CONTEXT_TID, "task"),
                   (CONTEXT_STAGE, "stage"));
    struct pyro_slice tid = PYRO_SLICE_NULL, stage = PYRO_SLICE_NULL;
    struct pyro_json_object object;
    if (pyro_json_peek(at) != '{') {
        pyro_json_skip(at);
        return;
    }
    if (!pyro_json_enter_object(at, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT_KNOWN(at, &object, context)) != PYRO_JSON_END;)
        if (pyro_json_peek(at) == '"')
            pyro_json_take_string(at,
                                  key == CONTEXT_TID     ? &tid
                                  : key == CONTEXT_STAGE ? &stage
                                                         : &ret->task_name,
                                  NULL);
        else
            pyro_json_skip(at);
    if (!ret->task_name.ptr && stage.len > 0) /* Spark's own says more; the "task" of another program may be anything */
        ret->task_name = tid;
}

static void add_frame(struct pyro_log_json *json, struct pyro_slice class, struct pyro_slice method,
                      struct pyro_slice file, struct pyro_slice line)
{
    struct pyro_strbuf *out = &json->message;
    if (class.len == 0 || pyro_slice_is(class, "null")) { /* of Python */
        pyro_strbuf_add_text(out, "\n  File \"");
        pyro_text_decode(out, file, NULL);
        pyro_strbuf_add_text(out, "\", line ");
        pyro_text_decode(out, line, NULL);
        pyro_strbuf_add_text(out, ", in ");
        pyro_text_decode(out, method, NULL);
        return;
    }
    pyro_strbuf_add_text(out, "\n\tat ");
    pyro_text_decode(out, class, NULL);
    pyro_strbuf_add_char(out, '.');
    pyro_text_decode(out, method, NULL);
    pyro_strbuf_add_char(out, '(');
    pyro_text_decode(out, file.len ? file : PYRO_SLICE_LITERAL("Unknown Source"), NULL);
    if (line.len && line.ptr[0] != '-') {
        pyro_strbuf_add_char(out, ':');
        pyro_text_decode(out, line, NULL);
    }
    pyro_strbuf_add_char(out, ')');
}

static void read_frame(struct pyro_log_json *json, struct pyro_json_reader *at)
{
    PYRO_JSON_KEYS(frame, (FRAME_CLASS, "class"), (FRAME_METHOD, "method"), (FRAME_FILE, "file"), (FRAME_LINE, "line"));
    struct pyro_slice parts[frame_count] = {{NULL, 0}};
    struct pyro_json_object object;
    if (!pyro_json_enter_object(at, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT_KNOWN(at, &object, frame)) != PYRO_JSON_END;)
        take_raw(at, &parts[key]);
    if (!at->error)
        add_frame(json, parts[FRAME_CLASS], parts[FRAME_METHOD], parts[FRAME_FILE], parts[FRAME_LINE]);
}

/* An array of frames, or one text. */
static void read_stack(struct pyro_log_json *json, struct pyro_json_reader *at)
{
    struct pyro_slice text = PYRO_SLICE_NULL;
    bool first = true;
    unsigned count = 0;
    if (pyro_json_peek(at) != '[') {
        if (take_raw(at, &text) && text.len && !pyro_slice_is(text, "null")) {
            pyro_strbuf_add_char(&json->message, '\n');
            pyro_text_decode(&json->message, text, NULL);
        }
        return;
    }
    if (!pyro_json_enter_array(at))
        return;
    while (pyro_json_next_element(at, &first)) {
        if (pyro_json_peek(at) == '{' && count++ < FRAMES_MOST) {
            read_frame(json, at);
        } else if (pyro_json_peek(at) == '"' && count++ < FRAMES_MOST && pyro_json_take_string(at, &text, NULL)) {
            pyro_strbuf_add_text(&json->message, "\n\t");
            pyro_text_decode(&json->message, text, NULL);
        } else if (!at->error) {
            pyro_json_skip(at);
        }
    }
}

/* "exception":{"class":...,"msg":...,"stacktrace":[...]}, whose members Spark and PySpark write in this order. */
static void read_exception(struct pyro_log_json *json, struct pyro_json_reader *at)
{
    PYRO_JSON_KEYS(exception, (EXCEPTION_CLASS, "class"), (EXCEPTION_MESSAGE, "msg"), (EXCEPTION_STACK, "stacktrace"));
    struct pyro_json_object object;
    struct pyro_slice name = PYRO_SLICE_NULL, message = PYRO_SLICE_NULL, stack = PYRO_SLICE_NULL;
    if (pyro_json_peek(at) != '{') {
        pyro_json_skip(at);
        return;
    }
    if (!pyro_json_enter_object(at, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT_KNOWN(at, &object, exception)) != PYRO_JSON_END;) {
        if (key == EXCEPTION_CLASS)
            take_raw(at, &name);
        else if (key == EXCEPTION_MESSAGE)
            take_raw(at, &message);
        else
            pyro_json_take_raw(at, &stack);
    }
    if (at->error || name.len == 0 || pyro_slice_is(name, "null"))
        return;
    pyro_strbuf_add_char(&json->message, '\n');
    pyro_text_decode(&json->message, name, NULL);
    if (message.len && !pyro_slice_is(message, "null")) {
        pyro_strbuf_add_text(&json->message, ": ");
        pyro_text_decode(&json->message, message, NULL);
    }
    if (stack.len > 0) {
        struct pyro_json_reader inner;
        pyro_json_reader_start(&inner, stack.ptr, stack.ptr + stack.len, json->scan);
        read_stack(json, &inner);
    }
}

bool pyro_log_json_read(struct pyro_log_json *json, struct pyro_slice line, struct pyro_log_header *ret)
{
    PYRO_JSON_KEYS(members, (MEMBER_TS, "ts"), (MEMBER_LEVEL, "level"), (MEMBER_MSG, "msg"),
                   (MEMBER_CONTEXT, "context"), (MEMBER_EXCEPTION, "exception"), (MEMBER_LOGGER, "logger"));
    struct pyro_json_reader at;
    struct pyro_json_object object;
    struct pyro_slice time = PYRO_SLICE_NULL, level = PYRO_SLICE_NULL, message = PYRO_SLICE_NULL,
                      exception = PYRO_SLICE_NULL;
    *ret = (struct pyro_log_header){.time_ms = PYRO_NONE};
    pyro_strbuf_clear(&json->message);
    pyro_json_reader_start(&at, line.ptr, line.ptr + line.len, json->scan);
    if (!pyro_json_enter_object(&at, &object))
        return false;
    for (int key; (key = PYRO_JSON_NEXT_KNOWN(&at, &object, members)) != PYRO_JSON_END;) {
        if (key == MEMBER_TS)
            take_raw(&at, &time);
        else if (key == MEMBER_LEVEL)
            take_raw(&at, &level);
        else if (key == MEMBER_MSG)
            take_raw(&at, &message);
        else if (key == MEMBER_LOGGER)
            take_raw(&at, &ret->logger);
        else if (key == MEMBER_CONTEXT)
            read_context(&at, ret);
        else
            pyro_json_take_raw(&at, &exception);
    }
    ret->level = pyro_log_level_of(level);
    if (at.error || ret->level == PYRO_LEVEL_NONE || !message.ptr ||
        pyro_date_time_read(time, &ret->time_ms, &ret->zoned) == 0)
        return false;
    pyro_text_decode(&json->message, message, NULL);
    if (exception.len > 0) {
        struct pyro_json_reader inner;
        pyro_json_reader_start(&inner, exception.ptr, exception.ptr + exception.len, json->scan);
        read_exception(json, &inner);
    }
    ret->message = pyro_strbuf_slice(&json->message);
    return !json->message.failed;
}
