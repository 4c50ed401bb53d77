#include "decode/logs/records/logger_record.h"

#include "base/json/unescape.h"
#include "base/numbers/calendar.h"
#include "decode/logs/records/header.h"

/* Names of members, those of Log Analytics with the ending of their type. */
#define MEMBERS(X)                                                                                                     \
    X(TIME, "timestamp")                                                                                               \
    X(TIME, "@timestamp")                                                                                              \
    X(TIME, "time")                                                                                                    \
    X(TIME, "TimeGenerated")                                                                                           \
    X(LEVEL, "level")                                                                                                  \
    X(LEVEL, "Level")                                                                                                  \
    X(LEVEL, "Level_s")                                                                                                \
    X(LEVEL, "logLevel")                                                                                               \
    X(LEVEL, "LogLevel")                                                                                               \
    X(LEVEL, "log.level")                                                                                              \
    X(MESSAGE, "message")                                                                                              \
    X(MESSAGE, "Message")                                                                                              \
    X(MESSAGE, "Message_s")                                                                                            \
    X(MESSAGE, "formattedMessage")                                                                                     \
    X(LOGGER, "logger_name")                                                                                           \
    X(LOGGER, "logger_name_s")                                                                                         \
    X(LOGGER, "loggerName")                                                                                            \
    X(LOGGER, "LoggerName")                                                                                            \
    X(LOGGER, "logger")                                                                                                \
    X(LOGGER, "log.logger")                                                                                            \
    X(THREAD, "thread_name")                                                                                           \
    X(THREAD, "thread_name_s")                                                                                         \
    X(THREAD, "threadName")                                                                                            \
    X(THREAD, "ThreadName")                                                                                            \
    X(THREAD, "thread")                                                                                                \
    X(THREAD, "process.thread.name")                                                                                   \
    X(APPLICATION, "applicationId")                                                                                    \
    X(APPLICATION, "applicationId_s")                                                                                  \
    X(APPLICATION, "ApplicationId")                                                                                    \
    X(EXECUTOR, "executorId")                                                                                          \
    X(EXECUTOR, "executorId_s")                                                                                        \
    X(EXECUTOR, "ExecutorId")                                                                                          \
    X(HOST, "source_host")                                                                                             \
    X(HOST, "host")                                                                                                    \
    X(HOST, "Host")                                                                                                    \
    X(HOST, "Computer")                                                                                                \
    X(EXCEPTION, "exception_class")                                                                                    \
    X(EXCEPTION, "error.type")                                                                                         \
    X(EXCEPTION_MESSAGE, "exception_message")                                                                          \
    X(EXCEPTION_MESSAGE, "error.message")                                                                              \
    X(STACK, "stacktrace")                                                                                             \
    X(STACK, "stackTrace")                                                                                             \
    X(STACK, "stack_trace")                                                                                            \
    X(STACK, "error.stack_trace")                                                                                      \
    X(STACK, "stacktrace_s")                                                                                           \
    X(STACK, "exception_stacktrace_s")
#define KEY_ROW(part, name)  PYRO_JSON_KEY(name),
#define PART_ROW(part, name) PYRO_PART_##part,

/* Rows of `keys` before the parts. */
enum { KEY_PROPERTIES, KEY_PROPERTIES_TITLE, KEY_EXCEPTION, KEYS_BEFORE };

static const struct pyro_json_key keys[] = {PYRO_JSON_KEY("properties"), PYRO_JSON_KEY("Properties"),
                                            PYRO_JSON_KEY("exception"), MEMBERS(KEY_ROW)};
static const unsigned char parts_of_keys[] = {MEMBERS(PART_ROW)};

enum { KEY_COUNT = sizeof(keys) / sizeof(*keys), NESTED_MOST = 2, TIME_MOST = 64, LEVEL_MOST = 16 };

/* Where texts that hold objects are decoded. */
struct inner {
    char *text;
    size_t size;
};

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static bool take_text(struct pyro_json_reader *at, struct pyro_slice *ret)
{
    if (pyro_json_peek(at) == '"')
        return pyro_json_take_string(at, ret, NULL);
    pyro_json_skip(at);
    return false;
}

static void read_members(struct pyro_json_reader *at, struct inner *inner, unsigned depth,
                         struct pyro_logger_record *ret);

/* Members of an object inside of the record count more than those around it. */
static void overlay(struct pyro_logger_record *record, const struct pyro_logger_record *over)
{
    for (size_t i = 0; i < PYRO_LOGGER_PARTS; i++)
        if (over->parts[i].ptr)
            record->parts[i] = over->parts[i];
}

/* A text that holds an object, as resource logs of Azure have it. */
static void read_properties_text(struct pyro_json_reader *at, struct inner *inner, unsigned depth,
                                 struct pyro_logger_record *ret)
{
    struct pyro_slice text;
    struct pyro_json_reader own;
    if (!pyro_json_take_string(at, &text, NULL) || text.len == 0 || *text.ptr != '{' || inner->size < PYRO_SCAN_PADDING)
        return;
    size_t room = inner->size - PYRO_SCAN_PADDING, len = pyro_text_decode_into(text, inner->text, room);
    if (len > room)
        return;
    char *begin = inner->text;
    memset(begin + len, 0, PYRO_SCAN_PADDING);
    *inner = (struct inner){begin + len + PYRO_SCAN_PADDING, room - len};
    pyro_json_reader_start(&own, begin, begin + len, at->scan);
    read_members(&own, inner, depth, ret);
}

static void read_object(struct pyro_json_reader *at, struct inner *inner, unsigned depth,
                        struct pyro_logger_record *ret)
{
    char first = pyro_json_peek(at);
    if (depth >= NESTED_MOST || (first != '{' && first != '"'))
        pyro_json_skip(at);
    else if (first == '{')
        read_members(at, inner, depth + 1, ret);
    else
        read_properties_text(at, inner, depth + 1, ret);
}

/* An exception is an object, or the text of its stack. Its message is not that of the record. */
static void read_exception(struct pyro_json_reader *at, struct inner *inner, unsigned depth,
                           struct pyro_logger_record *ret)
{
    struct pyro_logger_record own = {.parts = {PYRO_SLICE_NULL}};
    if (pyro_json_peek(at) != '{') {
        take_text(at, &ret->parts[PYRO_PART_STACK]);
        return;
    }
    read_object(at, inner, depth, &own);
    if (!own.parts[PYRO_PART_EXCEPTION_MESSAGE].ptr)
        own.parts[PYRO_PART_EXCEPTION_MESSAGE] = own.parts[PYRO_PART_MESSAGE];
    for (size_t i = PYRO_PART_EXCEPTION; i <= PYRO_PART_STACK; i++)
        if (own.parts[i].ptr)
            ret->parts[i] = own.parts[i];
}

static void read_members(struct pyro_json_reader *at, struct inner *inner, unsigned depth,
                         struct pyro_logger_record *ret)
{
    struct pyro_json_object object;
    struct pyro_logger_record nested = {.parts = {PYRO_SLICE_NULL}};
    if (!pyro_json_enter_object(at, &object))
        return;
    for (int key; (key = pyro_json_next_known(at, &object, keys, KEY_COUNT)) != PYRO_JSON_END;) {
        if (key == KEY_PROPERTIES || key == KEY_PROPERTIES_TITLE)
            read_object(at, inner, depth, &nested);
        else if (key == KEY_EXCEPTION)
            read_exception(at, inner, depth, &nested);
        else
            take_text(at, &ret->parts[parts_of_keys[key - KEYS_BEFORE]]);
    }
    overlay(ret, &nested);
}

bool pyro_logger_record_read(const struct pyro_scan *scan, struct pyro_slice line, char *buffer, size_t size,
                             struct pyro_logger_record *ret)
{
    struct pyro_json_reader at;
    struct inner inner = {.size = size};
    inner.text = buffer;
    *ret = (struct pyro_logger_record){.parts = {PYRO_SLICE_NULL}};
    if (line.len == 0 || *line.ptr != '{')
        return false;
    pyro_json_reader_start(&at, line.ptr, line.ptr + line.len, scan);
    read_members(&at, &inner, 0, ret);
    return !at.error;
}

/* ---- What it says ------------------------------------------------------------------------------------------------ */

static enum pyro_log_level level_of(struct pyro_slice text)
{
    static const struct {
        const char *name;
        enum pyro_log_level level;
    } others[] = {{"INFORMATIONAL", PYRO_LEVEL_INFO}, {"INFORMATION", PYRO_LEVEL_INFO}, {"VERBOSE", PYRO_LEVEL_DEBUG}};
    char upper[LEVEL_MOST];
    if (!text.ptr || text.len > sizeof(upper))
        return PYRO_LEVEL_NONE;
    for (size_t i = 0; i < text.len; i++)
        upper[i] = (char)(text.ptr[i] >= 'a' && text.ptr[i] <= 'z' ? text.ptr[i] - ('a' - 'A') : text.ptr[i]);
    struct pyro_slice word = {upper, text.len};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (pyro_slice_is(word, others[i].name))
            return others[i].level;
    return pyro_log_level_of(word);
}

/* The time of the record as it is written, if that is one. */
static bool time_of(struct pyro_slice text, char *ret, size_t *ret_len)
{
    int64_t time_ms;
    bool zoned;
    *ret_len = text.ptr ? pyro_text_decode_into(text, ret, TIME_MOST) : 0;
    if (*ret_len == 0 || *ret_len > TIME_MOST)
        return false;
    return pyro_date_time_read((struct pyro_slice){ret, *ret_len}, &time_ms, &zoned) == *ret_len;
}

bool pyro_logger_record_is_log(const struct pyro_logger_record *record)
{
    char time[TIME_MOST];
    size_t len;
    return record->parts[PYRO_PART_MESSAGE].ptr && level_of(record->parts[PYRO_PART_LEVEL]) != PYRO_LEVEL_NONE &&
           time_of(record->parts[PYRO_PART_TIME], time, &len);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* What a header may hold without being taken for something else. */
static bool is_plain(struct pyro_slice text, const char *stops)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < ' ' || strchr(stops, text.ptr[i]))
            return false;
    return text.len > 0;
}

static void add_exception(const struct pyro_logger_record *record, struct pyro_strbuf *out)
{
    struct pyro_slice name = record->parts[PYRO_PART_EXCEPTION], stack = record->parts[PYRO_PART_STACK];
    struct pyro_slice message = record->parts[PYRO_PART_EXCEPTION_MESSAGE];
    if (stack.len == 0 && !(name.len > 0 && message.ptr)) /* a class alone is that of the logging code */
        return;
    if (name.len > 0 && !(stack.len >= name.len && memcmp(stack.ptr, name.ptr, name.len) == 0)) {
        pyro_strbuf_add_char(out, '\n');
        pyro_text_decode(out, name, NULL);
        if (message.len > 0) {
            pyro_strbuf_add_text(out, ": ");
            pyro_text_decode(out, message, NULL);
        }
    }
    if (stack.len > 0) {
        pyro_strbuf_add_char(out, '\n');
        pyro_text_decode(out, stack, NULL);
    }
}

void pyro_logger_record_write(const struct pyro_logger_record *record, struct pyro_strbuf *out)
{
    struct pyro_slice thread = record->parts[PYRO_PART_THREAD], logger = record->parts[PYRO_PART_LOGGER];
    char time[TIME_MOST];
    size_t len;
    if (!time_of(record->parts[PYRO_PART_TIME], time, &len))
        return;
    pyro_strbuf_add(out, time, len);
    pyro_strbuf_add_char(out, ' ');
    pyro_strbuf_add_text(out, pyro_log_level_name(level_of(record->parts[PYRO_PART_LEVEL])));
    pyro_strbuf_add_char(out, ' ');
    if (thread.ptr && is_plain(thread, "]\\")) {
        pyro_strbuf_add_char(out, '[');
        pyro_strbuf_add_slice(out, thread);
        pyro_strbuf_add_text(out, "] ");
    }
    if (logger.ptr && is_plain(logger, " :[]()\\")) {
        pyro_strbuf_add_slice(out, logger);
        pyro_strbuf_add_text(out, ": ");
    }
    pyro_text_decode(out, record->parts[PYRO_PART_MESSAGE], NULL);
    add_exception(record, out);
}

/* ---- Batches ----------------------------------------------------------------------------------------------------- */

bool pyro_logger_batch_begin(const struct pyro_scan *scan, struct pyro_slice line, struct pyro_json_reader *ret)
{
    PYRO_JSON_KEYS(members, (MEMBER_RECORDS, "records"));
    struct pyro_json_object object;
    if (line.len == 0 || (*line.ptr != '[' && *line.ptr != '{'))
        return false;
    pyro_json_reader_start(ret, line.ptr, line.ptr + line.len, scan);
    if (*line.ptr == '{' &&
        (!pyro_json_enter_object(ret, &object) || PYRO_JSON_NEXT(ret, &object, members) != MEMBER_RECORDS))
        return false;
    return pyro_json_peek(ret) == '[' && pyro_json_enter_array(ret);
}

bool pyro_logger_batch_next(struct pyro_json_reader *batch, bool *first, struct pyro_slice *ret)
{
    return pyro_json_next_element(batch, first) && pyro_json_take_raw_fast(batch, ret);
}
