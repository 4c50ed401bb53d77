/* Why a task failed, from the text that the server keeps of it. Texts stay as they are written in JSON, escapes and
 * all. */
#include "decode/rest/rest_reading.h"

/* Length up to the first place of these escapes and bytes, none of them begun in the middle of an escape. */
static size_t length_before(struct pyro_slice text, const char *words)
{
    size_t len = strlen(words);
    for (size_t i = 0; i + len <= text.len; i += text.ptr[i] == '\\' ? 2 : 1)
        if (memcmp(text.ptr + i, words, len) == 0)
            return i;
    return text.len;
}

static void add_text(struct pyro_rest_reading *reading, const char *name, const char *from, size_t len)
{
    pyro_compact_as_written(&reading->lines, name, (struct pyro_slice){from, len});
}

static void add_reason(struct pyro_rest_reading *reading, const char *reason)
{
    pyro_compact_string(&reading->lines, "Reason", reason);
}

/* "java.lang.RuntimeException: what happened\n\tat ..." */
static void add_exception(struct pyro_rest_reading *reading, struct pyro_slice text)
{
    size_t line = length_before(text, "\\n"), name = 0;
    while (name < line && text.ptr[name] != ':' && text.ptr[name] != ' ' && text.ptr[name] != '\\')
        name++;
    bool named = name > 0 && (name == line || text.ptr[name] == ':') && memchr(text.ptr, '.', name);
    add_reason(reading, "ExceptionFailure");
    if (named)
        add_text(reading, "Class Name", text.ptr, name);
    /* All lines up to the stack: messages of Python workers have their own stack in them. */
    size_t end = length_before(text, "\\n\\tat "), begin = named ? name + (name < line) : 0;
    begin += begin > 0 && begin < end && text.ptr[begin] == ' ';
    begin = begin < end ? begin : end;
    add_text(reading, "Description", text.ptr + begin, end - begin);
}

static void add_lost_executor(struct pyro_rest_reading *reading, struct pyro_slice text)
{
    const char *reason = pyro_slice_find(text, " Reason: ");
    add_reason(reading, "ExecutorLostFailure");
    pyro_compact_bool(&reading->lines, "Exit Caused By App",
                      pyro_slice_find(text, "caused by one of the running tasks"));
    if (reason)
        add_text(reading, "Loss Reason", reason + 9, text.len - (size_t)(reason + 9 - text.ptr));
}

void pyro_rest_add_reason(struct pyro_rest_reading *reading, struct pyro_slice status, struct pyro_slice message)
{
    static const char *const plain[] = {"Resubmitted", "TaskResultLost", "UnknownReason", "TaskCommitDenied"};
    struct pyro_slice text = pyro_rest_string(message);
    pyro_rest_begin(reading, "Task End Reason", '{');
    if (pyro_rest_is(status, "SUCCESS")) {
        add_reason(reading, "Success");
        pyro_rest_end(reading, '}');
        return;
    }
    for (size_t i = 0; text.ptr && i < sizeof(plain) / sizeof(*plain); i++)
        if (pyro_slice_starts_with(text, plain[i])) {
            add_reason(reading, plain[i]);
            pyro_rest_end(reading, '}');
            return;
        }
    if (!text.ptr) {
        add_reason(reading, pyro_rest_is(status, "KILLED") ? "TaskKilled" : "UnknownReason");
    } else if (pyro_slice_starts_with(text, "FetchFailed(")) {
        add_reason(reading, "FetchFailed");
        add_text(reading, "Message", text.ptr, text.len);
    } else if (pyro_slice_starts_with(text, "ExecutorLostFailure")) {
        add_lost_executor(reading, text);
    } else if (pyro_rest_is(status, "KILLED")) {
        add_reason(reading, "TaskKilled");
        add_text(reading, "Kill Reason", text.ptr, text.len);
    } else {
        add_exception(reading, text);
    }
    pyro_rest_end(reading, '}');
}
