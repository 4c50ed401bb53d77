/* Why a task failed, from the text that the server keeps of it. Texts stay as they are written in JSON, escapes and all. */
#include "decode/historyapi/reading.h"

/* Length up to the first escaped newline. */
static size_t first_line(struct pyro_slice text)
{
    for (size_t i = 0; i + 1 < text.len; i++) {
        if (text.ptr[i] != '\\')
            continue;
        if (text.ptr[i + 1] == 'n')
            return i;
        i++;
    }
    return text.len;
}

static void add_text(struct api_reading *reading, const char *name, const char *from, size_t len)
{
    api_add(reading, ",\"");
    api_add(reading, name);
    api_add(reading, "\":\"");
    pyro_strbuf_add(&reading->lines, from, len);
    api_add(reading, "\"");
}

/* "java.lang.RuntimeException: what happened\n\tat ..." */
static void add_exception(struct api_reading *reading, struct pyro_slice text)
{
    size_t line = first_line(text), name = 0;
    while (name < line && text.ptr[name] != ':' && text.ptr[name] != ' ' && text.ptr[name] != '\\')
        name++;
    bool named = name > 0 && (name == line || text.ptr[name] == ':') && memchr(text.ptr, '.', name);
    api_add(reading, "\"ExceptionFailure\"");
    if (named)
        add_text(reading, "Class Name", text.ptr, name);
    /* All lines up to the stack: messages of Python workers have their own stack in them. */
    const char *stack = pyro_slice_find(text, "\\n\\tat ");
    size_t end = stack ? (size_t)(stack - text.ptr) : text.len;
    size_t begin = named && name + 2 <= end && text.ptr[name] == ':' ? name + 2 : named && name == line ? end : 0;
    add_text(reading, "Description", text.ptr + begin, end - begin);
}

static void add_lost_executor(struct api_reading *reading, struct pyro_slice text)
{
    const char *reason = pyro_slice_find(text, " Reason: ");
    api_add(reading, "\"ExecutorLostFailure\",\"Exit Caused By App\":");
    api_add(reading, pyro_slice_find(text, "caused by one of the running tasks") ? "true" : "false");
    if (reason)
        add_text(reading, "Loss Reason", reason + 9, text.len - (size_t)(reason + 9 - text.ptr));
}

void api_add_reason(struct api_reading *reading, struct pyro_slice status, struct pyro_slice message)
{
    static const char *const plain[] = {"Resubmitted", "TaskResultLost", "UnknownReason", "TaskCommitDenied"};
    struct pyro_slice text = api_string(message);
    api_add(reading, ",\"Task End Reason\":{\"Reason\":");
    if (api_is(status, "SUCCESS")) {
        api_add(reading, "\"Success\"}");
        return;
    }
    for (size_t i = 0; text.ptr && i < sizeof(plain) / sizeof(*plain); i++)
        if (pyro_slice_starts_with(text, plain[i])) {
            api_add(reading, "\"");
            api_add(reading, plain[i]);
            api_add(reading, "\"}");
            return;
        }
    if (!text.ptr) {
        api_add(reading, api_is(status, "KILLED") ? "\"TaskKilled\"" : "\"UnknownReason\"");
    } else if (pyro_slice_starts_with(text, "FetchFailed(")) {
        api_add(reading, "\"FetchFailed\"");
        add_text(reading, "Message", text.ptr, text.len);
    } else if (pyro_slice_starts_with(text, "ExecutorLostFailure")) {
        add_lost_executor(reading, text);
    } else if (api_is(status, "KILLED")) {
        api_add(reading, "\"TaskKilled\"");
        add_text(reading, "Kill Reason", text.ptr, text.len);
    } else {
        add_exception(reading, text);
    }
    api_add(reading, "}");
}
