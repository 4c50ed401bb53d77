#include "decode/logs/records/records.h"

#include "decode/logs/layout.h"
#include "model/column.h"
#include "model/exception_chain.h"
#include "model/failure_text.h"

enum { ZONE_STEP_MS = 15 * 60000, ZONE_MOST_MS = 14 * 3600000, JUMP_MS = 1000 };

void pyro_log_assembler_init(struct pyro_log_assembler *assembler, const struct pyro_allocator *allocator)
{
    *assembler = (struct pyro_log_assembler){.last_ms = PYRO_NONE};
    pyro_log_json_init(&assembler->json, allocator);
    pyro_strbuf_init(&assembler->joined, allocator);
}

void pyro_log_assembler_done(struct pyro_log_assembler *assembler)
{
    pyro_log_json_done(&assembler->json);
    pyro_strbuf_done(&assembler->joined);
}

static struct pyro_log_span span_of(struct pyro_slice part, const char *begin)
{
    return part.ptr ? (struct pyro_log_span){(size_t)(part.ptr - begin), part.len}
                    : (struct pyro_log_span){0, SIZE_MAX};
}

static struct pyro_slice slice_of(struct pyro_log_span span, const char *begin)
{
    return span.len == SIZE_MAX ? PYRO_SLICE_NULL : (struct pyro_slice){begin + span.at, span.len};
}

/* ---- Times ------------------------------------------------------------------------------------------------------- */

/* A header's time in UTC. A prefix in UTC says what its zone is. */
static int64_t in_utc(struct pyro_log_assembler *assembler, const struct pyro_log_header *header, int64_t prefix_ms)
{
    int64_t time_ms = header->time_ms, offset_ms = assembler->offset_s * 1000;
    if (time_ms == PYRO_NONE)
        return prefix_ms != PYRO_NONE ? prefix_ms : assembler->last_ms;
    if (header->zoned)
        return time_ms;
    /* Times of headers and prefixes have years of four digits: nothing here can overflow. */
    int64_t apart_ms = prefix_ms != PYRO_NONE ? time_ms - prefix_ms : ZONE_MOST_MS + 1; /* cannot overflow */
    if (apart_ms >= -ZONE_MOST_MS && apart_ms <= ZONE_MOST_MS) {
        int64_t half = apart_ms < 0 ? -ZONE_STEP_MS / 2 : ZONE_STEP_MS / 2;
        return time_ms - (apart_ms + half) / ZONE_STEP_MS * ZONE_STEP_MS; /* cannot overflow */
    }
    assembler->counts->zone_assumed |= !assembler->has_zone;
    assembler->counts->zone_given |= assembler->has_zone;
    return time_ms - offset_ms; /* cannot overflow */
}

static int64_t note_time(struct pyro_log_assembler *assembler, int64_t time_ms)
{
    bool known = assembler->last_ms != PYRO_NONE && time_ms != PYRO_NONE;
    assembler->counts->jumps += known && time_ms < assembler->last_ms - JUMP_MS; /* cannot overflow */
    assembler->last_ms = time_ms;
    return time_ms;
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static enum pyro_status deliver(struct pyro_log_assembler *assembler, const struct pyro_log_record *record,
                                struct pyro_error *error)
{
    assembler->counts->records++;
    if (!assembler->take || (assembler->filter && !pyro_log_filter_passes(assembler->filter, assembler->file, record)))
        return PYRO_OK;
    return assembler->take(assembler->context, assembler->file, record, error);
}

enum pyro_status pyro_log_assembler_end(struct pyro_log_assembler *assembler, struct pyro_error *error)
{
    const char *begin = assembler->begin;
    struct pyro_slice text = {begin, assembler->len};
    if (!begin)
        return PYRO_OK;
    assembler->begin = NULL;
    while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r' ||
                            text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    size_t message = assembler->message.at < text.len ? assembler->message.at : text.len;
    const struct pyro_log_record record = {.time_ms = assembler->time_ms,
                                           .place = assembler->place,
                                           .line = assembler->line,
                                           .lines = assembler->lines,
                                           .level = assembler->level,
                                           .logger = slice_of(assembler->logger, begin),
                                           .thread = slice_of(assembler->thread, begin),
                                           .task_name = slice_of(assembler->task_name, begin),
                                           .message = {begin + message, text.len - message},
                                           .text = text};
    return deliver(assembler, &record, error);
}

enum pyro_status pyro_log_assembler_end_file(struct pyro_log_assembler *assembler, struct pyro_error *error)
{
    enum pyro_status status = pyro_log_assembler_end(assembler, error);
    assembler->last_ms = PYRO_NONE;
    assembler->last = '\0';
    return status;
}

enum pyro_status pyro_log_assembler_copy(struct pyro_log_assembler *assembler, struct pyro_error *error)
{
    if (assembler->begin && !assembler->copies) {
        pyro_strbuf_clear(&assembler->joined);
        pyro_strbuf_add_slice(&assembler->joined, (struct pyro_slice){assembler->begin, assembler->len});
        assembler->begin = assembler->joined.data;
    }
    assembler->copies = true;
    return assembler->joined.failed ? pyro_no_memory(error) : PYRO_OK;
}

static void note_end(struct pyro_log_assembler *assembler, struct pyro_slice line)
{
    while (line.len > 0 && (line.ptr[line.len - 1] == ' ' || line.ptr[line.len - 1] == '\t'))
        line.len--;
    assembler->blank = line.len == 0;
    if (line.len > 0)
        assembler->last = line.ptr[line.len - 1];
}

/* What a process writes when it dies, in front of everything that logging would write: the JVM, C++, the C library,
 * Python.
 */
static bool begins_crash(struct pyro_slice line)
{
    static const char *const words[] = {"# A fatal error has been detected by the Java Runtime",
                                        "# There is insufficient memory for the Java Runtime",
                                        "# java.lang.OutOfMemoryError",
                                        "java.lang.OutOfMemoryError",
                                        "Terminating due to java.lang.OutOfMemoryError",
                                        "Aborting due to java.lang.OutOfMemoryError",
                                        "terminate called ",
                                        "double free or corruption",
                                        "free(): ",
                                        "malloc(): ",
                                        "realloc(): ",
                                        "munmap_chunk(): ",
                                        "corrupted size vs. prev_size",
                                        "corrupted double-linked list",
                                        "malloc_consolidate(): ",
                                        "pure virtual method called",
                                        "libc++abi: ",
                                        "*** buffer overflow detected ***",
                                        "*** stack smashing detected ***",
                                        "Fatal Python error: "};
    if (line.len == 0 || !memchr("#jTAtdfmrcpl*F", *line.ptr, 14))
        return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (pyro_slice_starts_with(line, words[i]))
            return true;
    return false;
}

/* Opens a record with this line. `header`: NULL without one. */
static enum pyro_status open_record(struct pyro_log_assembler *assembler, struct pyro_slice line, int64_t place,
                                    uint64_t number, const struct pyro_log_header *header, int64_t prefix_ms,
                                    struct pyro_error *error)
{
    struct pyro_log_span none = {0, SIZE_MAX};
    assembler->headed = header != NULL;
    assembler->counts->headed += assembler->headed;
    bool crash = !header && begins_crash(line);
    assembler->exception = crash || (!header && pyro_begins_exception(line));
    assembler->level = header ? header->level : crash ? PYRO_LEVEL_FATAL : PYRO_LEVEL_NONE;
    assembler->logger = header ? span_of(header->logger, line.ptr) : none;
    assembler->thread = header ? span_of(header->thread, line.ptr) : none;
    assembler->task_name = header ? span_of(header->task_name, line.ptr) : none;
    assembler->message = header ? span_of(header->message, line.ptr) : (struct pyro_log_span){0, line.len};
    if (header)
        assembler->time_ms = note_time(assembler, in_utc(assembler, header, prefix_ms));
    else
        assembler->time_ms = prefix_ms != PYRO_NONE ? note_time(assembler, prefix_ms) : assembler->last_ms;
    assembler->place = place;
    assembler->line = number;
    assembler->lines = 1;
    assembler->begin = line.ptr;
    assembler->len = line.len;
    if (assembler->copies) {
        pyro_strbuf_clear(&assembler->joined);
        pyro_strbuf_add_slice(&assembler->joined, line);
        assembler->begin = pyro_strbuf_slice(&assembler->joined).ptr;
        if (assembler->joined.failed)
            return pyro_no_memory(error);
    }
    note_end(assembler, line);
    return PYRO_OK;
}

static enum pyro_status extend_record(struct pyro_log_assembler *assembler, struct pyro_slice line,
                                      struct pyro_error *error)
{
    assembler->lines++;
    if (assembler->copies) {
        pyro_strbuf_add_char(&assembler->joined, '\n');
        pyro_strbuf_add_slice(&assembler->joined, line);
        assembler->begin = assembler->joined.data;
        assembler->len = assembler->joined.len;
        if (assembler->joined.failed)
            return pyro_no_memory(error);
    } else {
        assembler->len = (size_t)(line.ptr + line.len - assembler->begin);
    }
    note_end(assembler, line);
    return PYRO_OK;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* After an empty line inside an exception: what goes on with it. */
static bool goes_on(struct pyro_slice line)
{
    static const char *const words[] = {"Caused by:",
                                        "During handling of",
                                        "The above exception",
                                        "Driver stacktrace:",
                                        "JVM stacktrace:",
                                        "Suppressed:",
                                        ": "};
    if (line.len == 0 || *line.ptr == ' ' || *line.ptr == '\t')
        return true;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (pyro_slice_starts_with(line, words[i]))
            return true;
    return pyro_exception_name_length(line) > 0;
}

/* An exception that a record of level WARN or above announced, or a crash, goes on with what looks like another crash.
 */
static bool is_of_crash(const struct pyro_log_assembler *assembler)
{
    return assembler->begin && (assembler->exception || (assembler->headed && assembler->level >= PYRO_LEVEL_WARN));
}

/* Whether a line without a header belongs to the open record. */
static bool joins(const struct pyro_log_assembler *assembler, struct pyro_slice line)
{
    if (!assembler->begin || assembler->len + line.len >= PYRO_LOG_RECORD_BYTES)
        return false;
    if (begins_crash(line))
        return is_of_crash(assembler);
    if (pyro_begins_stack(line))
        return assembler->last == ':' && (assembler->headed || assembler->exception);
    if (assembler->headed)
        return true;
    return assembler->exception && (!assembler->blank || goes_on(line));
}

static bool read_header(const struct pyro_log_assembler *assembler, struct pyro_slice line, struct pyro_log_header *ret)
{
    return (assembler->pattern && pyro_log_pattern_read(assembler->pattern, line, ret)) ||
           pyro_log_header_read(line, ret);
}

/* A record that is one line of JSON. */
static enum pyro_status take_json(struct pyro_log_assembler *assembler, struct pyro_slice line, int64_t place,
                                  uint64_t number, const struct pyro_log_header *header, int64_t prefix_ms,
                                  struct pyro_error *error)
{
    PYRO_TRY(pyro_log_assembler_end(assembler, error));
    const struct pyro_log_record record = {
        .time_ms = note_time(assembler, in_utc(assembler, header, prefix_ms)),
        .place = place,
        .line = number,
        .lines = 1,
        .level = header->level,
        .logger = header->logger,
        .task_name = header->task_name,
        .message = header->message,
        .text = line,
    };
    assembler->counts->headed++;
    assembler->last = '\0';
    return deliver(assembler, &record, error);
}

static bool is_json(struct pyro_slice line)
{
    enum { LOOKED_AT = 64 };
    struct pyro_slice head = {line.ptr, line.len < LOOKED_AT ? line.len : LOOKED_AT};
    return pyro_slice_starts_with(line, "{\"ts\":") ||
           (line.len > 0 && *line.ptr == '{' && pyro_slice_find(head, "\"level\":"));
}

enum pyro_status pyro_log_assembler_line(struct pyro_log_assembler *assembler, struct pyro_slice line, int64_t place,
                                         uint64_t number, int64_t time_ms, struct pyro_error *error)
{
    struct pyro_log_header header;
    bool json = is_json(line);
    if (json && pyro_log_json_read(&assembler->json, line, &header))
        return take_json(assembler, line, place, number, &header, time_ms, error);
    if (assembler->json.message.failed)
        return pyro_no_memory(error);
    if (!json && read_header(assembler, line, &header)) {
        PYRO_TRY(pyro_log_assembler_end(assembler, error));
        return open_record(assembler, line, place, number, &header, time_ms, error);
    }
    if (pyro_is_profiler_line(line)) {
        assembler->counts->profiler_lines++;
        return pyro_log_assembler_end(assembler, error);
    }
    if (joins(assembler, line))
        return extend_record(assembler, line, error);
    PYRO_TRY(pyro_log_assembler_end(assembler, error));
    if (line.len == 0)
        return PYRO_OK;
    return open_record(assembler, line, place, number, NULL, time_ms, error);
}
