#include "decode/logs/layout.h"

#include "base/numbers/calendar.h"
#include "decode/logs/gc/gc_log.h"
#include "decode/logs/records/envelope.h"
#include "decode/logs/records/header.h"
#include "model/failure_text.h"
#include "source/discovery/names.h"

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits(struct pyro_slice text, size_t at)
{
    size_t n = 0;
    while (at + n < text.len && is_digit(text.ptr[at + n]))
        n++;
    return n;
}

static struct pyro_slice part_of(struct pyro_slice text, size_t from, size_t to)
{
    return (struct pyro_slice){text.ptr + from, to - from};
}

/* Digits in groups that '_' joins: "1709280000000_0001_01_000002". The place behind them, 0: there are fewer groups. */
static size_t groups(struct pyro_slice text, size_t at, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        size_t n = digits(text, at);
        if (n == 0 || (i + 1 < count && (at + n >= text.len || text.ptr[at + n] != '_')))
            return 0;
        at += n + (i + 1 < count);
    }
    return at;
}

/* The end of an id of an application that begins at `at`, or 0. */
static size_t id_end(struct pyro_slice text, size_t at)
{
    enum { LOCAL_LEAST = 10, STAMP = 14, SERIAL = 4, HEX = 32 };
    struct pyro_slice rest = {text.ptr + at, text.len - at};
    if (pyro_slice_starts_with(rest, "application_"))
        return groups(text, at + 12, 2);
    if (pyro_slice_starts_with(rest, "app-")) {
        size_t serial = at + 4 + STAMP + 1;
        bool good = digits(text, at + 4) == STAMP && serial < text.len && text.ptr[serial - 1] == '-' &&
                    digits(text, serial) >= SERIAL;
        return good ? serial + digits(text, serial) : 0;
    }
    if (pyro_slice_starts_with(rest, "local-"))
        return digits(text, at + 6) >= LOCAL_LEAST ? at + 6 + digits(text, at + 6) : 0;
    if (pyro_slice_starts_with(rest, "spark-application-"))
        return digits(text, at + 18) >= LOCAL_LEAST ? at + 18 + digits(text, at + 18) : 0;
    if (!pyro_slice_starts_with(rest, "spark-") || rest.len < 6 + HEX)
        return 0;
    for (size_t i = 6; i < 6 + HEX; i++)
        if (!is_digit(rest.ptr[i]) && (rest.ptr[i] < 'a' || rest.ptr[i] > 'f'))
            return 0;
    return at + 6 + HEX;
}

static bool is_word(char c)
{
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

struct pyro_slice pyro_application_id(struct pyro_slice text)
{
    /* Each of them has one of two letters behind which a short look decides. */
    for (size_t at = 0; at + 10 < text.len; at++) {
        char c = text.ptr[at];
        if ((c != 'a' && c != 'l' && c != 's') || (at > 0 && is_word(text.ptr[at - 1])))
            continue;
        size_t end = id_end(text, at);
        if (end)
            return part_of(text, at, end);
    }
    return PYRO_SLICE_NULL;
}

static struct pyro_slice container_id(struct pyro_slice text)
{
    const char *at = pyro_slice_find(text, "container_");
    if (!at)
        return PYRO_SLICE_NULL;
    size_t from = (size_t)(at - text.ptr), first = from + 10;
    if (first < text.len && text.ptr[first] == 'e') { /* the epoch of a resource manager that was restarted */
        size_t n = digits(text, first + 1);
        if (n == 0 || first + 1 + n >= text.len || text.ptr[first + 1 + n] != '_')
            return PYRO_SLICE_NULL;
        first += n + 2;
    }
    size_t end = groups(text, first, 4);
    return end ? part_of(text, from, end) : PYRO_SLICE_NULL;
}

/* A name without the end of a codec. */
static struct pyro_slice plain_name(struct pyro_slice name)
{
    static const char *const ends[] = {".gz", ".zst", ".zstd", ".lz4", ".snappy"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        if (pyro_slice_ends_with(name, ends[i]))
            return (struct pyro_slice){name.ptr, name.len - strlen(ends[i])};
    return name;
}

bool pyro_log_name(struct pyro_slice path)
{
    static const char *const ends[] = {".log", ".out", ".err", "stderr", "stdout", "syslog", ".stderr", ".stdout"};
    struct pyro_slice name = plain_name(pyro_base_name(path));
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        if (pyro_slice_ends_with(name, ends[i]))
            return true;
    return pyro_slice_starts_with(name, "stderr") || pyro_slice_starts_with(name, "stdout") ||
           pyro_slice_starts_with(name, "driveroutput") || pyro_slice_starts_with(name, "jr_") ||
           pyro_slice_find(name, ".log.") || pyro_slice_find(name, "log4j");
}

/* "stderr", "stdout-2024", "log4j-active.log", "0.log": the folder says more. */
static bool is_stream_name(struct pyro_slice name)
{
    name = plain_name(name);
    return pyro_slice_starts_with(name, "stderr") || pyro_slice_starts_with(name, "stdout") ||
           pyro_slice_starts_with(name, "syslog") || pyro_slice_starts_with(name, "log4j") ||
           pyro_slice_starts_with(name, "driveroutput") ||
           (name.len > 0 && is_digit(name.ptr[0]) && pyro_slice_ends_with(name, ".log"));
}

/* "work/app-20240301101500-0000/3/stderr": container "app-20240301101500-0000/3", executor 3. */
static void look_standalone(struct pyro_log_file *file, struct pyro_slice path)
{
    if (!path.ptr || !file->application.ptr || !pyro_slice_starts_with(file->application, "app-"))
        return;
    size_t at = (size_t)(file->application.ptr - path.ptr) + file->application.len;
    size_t n = at < path.len && path.ptr[at] == '/' ? digits(path, at + 1) : 0;
    if (n > 0 && at + 1 + n < path.len && path.ptr[at + 1 + n] == '/') {
        file->executor = part_of(path, at + 1, at + 1 + n);
        file->container = (struct pyro_slice){file->application.ptr, file->application.len + 1 + n};
    }
}

/* Pods: "/var/log/containers/POD_NAMESPACE_CONTAINER-ID.log", "/var/log/pods/NAMESPACE_POD_UID/CONTAINER/0.log",
 * "POD.log"; executors' names end in "-exec-3", the driver's in "-driver". */
static void look_pod(struct pyro_log_file *file, struct pyro_slice path)
{
    const char *mark = pyro_slice_find(path, "-exec-");
    const char *driver = pyro_slice_find(path, "-driver");
    const char *at = mark ? mark : driver;
    if (!at || file->container.ptr)
        return;
    const char *begin = at, *end = at + (mark ? 6 : 7), *stop = path.ptr + path.len;
    if (mark && (end == stop || !is_digit(*end)))
        return;
    while (mark && end < stop && is_digit(*end))
        end++;
    if (end < stop && *end != '_' && *end != '.' && *end != '/')
        return;
    while (begin > path.ptr && begin[-1] != '/' && begin[-1] != '_' && begin[-1] != '!')
        begin--;
    file->container = (struct pyro_slice){begin, (size_t)(end - begin)};
    file->executor = mark ? (struct pyro_slice){mark + 6, (size_t)(end - mark) - 6} : PYRO_SLICE_LITERAL("driver");
}

/* The component of a path that begins at `at`. */
static struct pyro_slice component(struct pyro_slice path, size_t at)
{
    const char *slash = path.ptr && at < path.len ? memchr(path.ptr + at, '/', path.len - at) : NULL;
    return part_of(path, at, slash ? (size_t)(slash - path.ptr) : path.len);
}

/* EMR Serverless: "applications/ID/jobs/RUN/SPARK_DRIVER/stderr.gz", ".../SPARK_EXECUTOR/3/archived/stderr_1.gz", also
 * "SPARK_EXECUTOR_3". The id of the run is Spark's id of the application. */
static void look_serverless(struct pyro_log_file *file, struct pyro_slice path)
{
    const char *jobs = pyro_slice_find(path, "/jobs/");
    size_t at = jobs ? (size_t)(jobs - path.ptr) + strlen("/jobs/") : path.len;
    struct pyro_slice run = component(path, at), role = component(path, at + run.len + 1);
    if (file->container.ptr || run.len == 0 || at + run.len >= path.len || !role.ptr ||
        !pyro_slice_starts_with(role, "SPARK_"))
        return;
    size_t end = at + run.len + 1 + role.len;
    if (pyro_slice_is(role, "SPARK_DRIVER")) {
        file->executor = PYRO_SLICE_LITERAL("driver");
    } else {
        struct pyro_slice id = pyro_slice_is(role, "SPARK_EXECUTOR")             ? component(path, end + 1)
                               : pyro_slice_starts_with(role, "SPARK_EXECUTOR_") ? part_of(role, 15, role.len)
                                                                                 : PYRO_SLICE_NULL;
        if (id.len == 0 || digits(id, 0) != id.len)
            return;
        file->executor = id;
        end = (size_t)(id.ptr - path.ptr) + id.len;
    }
    file->container = part_of(path, at, end);
    if (!file->application.ptr)
        file->application = run;
}

/* Glue, streams of CloudWatch as files: "jr_HEX" and "jr_HEX-driver" of the driver, "jr_HEX-3" of executor 3,
 * "jr_HEX_g-HEX" of some executor. */
static void look_glue(struct pyro_log_file *file, struct pyro_slice name)
{
    enum { PREFIX = 3, HEX_LEAST = 32 };
    size_t end = PREFIX;
    if (file->container.ptr || !pyro_slice_starts_with(name, "jr_"))
        return;
    while (end < name.len && (is_digit(name.ptr[end]) || (name.ptr[end] >= 'a' && name.ptr[end] <= 'f')))
        end++;
    if (end < PREFIX + HEX_LEAST)
        return;
    struct pyro_slice rest = plain_name(part_of(name, end, name.len));
    const char *dot = rest.len ? memchr(rest.ptr, '.', rest.len) : NULL;
    if (dot)
        rest.len = (size_t)(dot - rest.ptr);
    bool numbered = rest.len > 1 && rest.ptr[0] == '-' && digits(rest, 1) == rest.len - 1;
    if (rest.len == 0 || pyro_slice_is(rest, "-driver"))
        file->executor = PYRO_SLICE_LITERAL("driver");
    else if (numbered)
        file->executor = part_of(rest, 1, rest.len);
    file->container = part_of(name, 0, end + rest.len);
    if (!file->application.ptr)
        file->application = part_of(name, 0, end);
}

static bool has_folder(struct pyro_slice path, const char *inner, const char *first)
{
    return pyro_slice_find(path, inner) || pyro_slice_starts_with(path, first);
}

struct pyro_log_file pyro_log_file_of(struct pyro_slice path)
{
    struct pyro_log_file file = {.path = path};
    struct pyro_slice name = pyro_base_name(path), folder = pyro_folder_name(path);
    file.application = pyro_application_id(path);
    file.container = container_id(path);
    if (!file.container.ptr) {
        look_standalone(&file, path);
        look_serverless(&file, path);
        look_glue(&file, name);
        look_pod(&file, path);
    }
    if (!file.executor.ptr && pyro_slice_starts_with(name, "driveroutput")) /* Dataproc */
        file.executor = PYRO_SLICE_LITERAL("driver");
    if (!file.executor.ptr && has_folder(path, "/driver/", "driver/")) /* Databricks */
        file.executor = PYRO_SLICE_LITERAL("driver");
    if (!file.container.ptr)
        file.container = is_stream_name(name) && folder.len > 0 ? pyro_base_name(folder) : name;
    return file;
}

/* ---- First bytes ------------------------------------------------------------------------------------------------- */

static struct pyro_slice word_behind(struct pyro_slice text, const char *mark)
{
    const char *at = pyro_slice_find(text, mark);
    if (!at)
        return PYRO_SLICE_NULL;
    const char *begin = at + strlen(mark), *end = begin;
    while (end < text.ptr + text.len && *end != ' ' && *end != '\n' && *end != '\r' && *end != '"' && *end != ',')
        end++;
    return end > begin ? (struct pyro_slice){begin, (size_t)(end - begin)} : PYRO_SLICE_NULL;
}

void pyro_log_file_look(struct pyro_log_file *file, struct pyro_slice head)
{
    if (!file->application.ptr)
        file->application = pyro_application_id(head);
    struct pyro_slice id = word_behind(head, "Starting executor ID ");
    if (!file->host.ptr && id.ptr)
        file->host = word_behind((struct pyro_slice){id.ptr, (size_t)(head.ptr + head.len - id.ptr)}, " on host ");
    if (file->executor.ptr)
        return;
    bool driver = pyro_slice_find(head, "Submitted application: ") != NULL;
    if (!id.ptr)
        id = word_behind(head, "--executor-id ");
    if (driver)
        file->executor = PYRO_SLICE_LITERAL("driver");
    else
        file->executor = id;
}

static bool has_header(struct pyro_slice head, const struct pyro_log_pattern *own)
{
    enum { LINES_MOST = 400 };
    struct pyro_slice line, rest = head;
    struct pyro_log_header header;
    struct pyro_log_envelope envelope;
    for (unsigned n = 0; n < LINES_MOST && pyro_next_line(&rest, &line); n++) {
        bool json = pyro_slice_starts_with(line, "{\"ts\":");
        if (json || (own && pyro_log_pattern_read(own, line, &header)) || pyro_log_header_read(line, &header) ||
            pyro_slice_starts_with(line, "Container: container_"))
            return true;
    }
    return pyro_log_envelope_find(&envelope, head, own) != PYRO_ENVELOPE_NONE;
}

static bool is_binary(struct pyro_slice head)
{
    size_t odd = 0;
    for (size_t i = 0; i < head.len; i++) {
        unsigned char c = (unsigned char)head.ptr[i];
        odd += (c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != 0x1b) || c == 0x7f;
    }
    return odd > head.len / 10;
}

/* Whether the file begins as a log of a garbage collector does; output of programs may have such lines later. Unified
 * logs may have lines about other things in front. */
static bool is_gc_log(struct pyro_slice head)
{
    enum { LINES_MOST = 3 }; /* of Java 8: its version, the memory, "CommandLine flags" */
    bool unified = head.len > 0 && *head.ptr == '[';
    struct pyro_slice line;
    for (unsigned n = 0; (n < LINES_MOST || unified) && pyro_next_line(&head, &line); n++)
        if (pyro_gc_line_known(line) || (n == 0 && unified && pyro_slice_find(line, "[gc")))
            return true;
    return false;
}

enum pyro_log_content pyro_log_content_of(struct pyro_slice head, const struct pyro_log_pattern *own)
{
    if (head.len == 0)
        return PYRO_CONTENT_EMPTY;
    if (pyro_slice_starts_with(head, "{\"Event\":"))
        return PYRO_CONTENT_EVENTS;
    if (has_header(head, own))
        return PYRO_CONTENT_LOG;
    if (is_binary(head))
        return PYRO_CONTENT_BINARY;
    struct pyro_slice line, rest = head;
    pyro_next_line(&rest, &line);
    if (is_gc_log(head))
        return PYRO_CONTENT_GC;
    if (pyro_slice_find((struct pyro_slice){head.ptr, head.len < 4096 ? head.len : 4096}, "Full thread dump "))
        return PYRO_CONTENT_DUMP;
    return pyro_is_profiler_line(line) ? PYRO_CONTENT_RECORDS : PYRO_CONTENT_TEXT;
}

const char *pyro_log_content_refusal(enum pyro_log_content content)
{
    switch (content) {
    case PYRO_CONTENT_EMPTY:
        return "is empty";
    case PYRO_CONTENT_EVENTS:
        return "is an event log, not a text log: use 'pyrometer diagnose'";
    case PYRO_CONTENT_GC:
        return "is a log of a garbage collector, not a text log: use 'pyrometer profile'";
    case PYRO_CONTENT_DUMP:
        return "is a thread dump, not a text log";
    case PYRO_CONTENT_RECORDS:
        return "has records of a profiler, not a text log";
    case PYRO_CONTENT_BINARY:
        return "is not text";
    default:
        return NULL;
    }
}

bool pyro_is_profiler_line(struct pyro_slice line)
{
    if (line.len < 2 || line.ptr[line.len - 1] != '}')
        return false;
    if (*line.ptr != '{')
        return pyro_slice_find(line, "ConsoleOutputReporter - ") != NULL && pyro_slice_find(line, ": {") != NULL;
    return pyro_slice_find(line, "\"stacktrace\":") || pyro_slice_find(line, "\"heapMemoryTotalUsed\":") ||
           pyro_slice_find(line, "\"pmem_rss\":") || pyro_slice_find(line, "\"jvmClassPath\":");
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

static struct pyro_slice behind(struct pyro_slice text, size_t head)
{
    struct pyro_slice rest = {text.ptr + head, text.len - head};
    while (rest.len > 0 && *rest.ptr == ' ') {
        rest.ptr++;
        rest.len--;
    }
    return rest;
}

static bool is_rule(struct pyro_slice line)
{
    size_t n = 0;
    while (n < line.len && line.ptr[n] == line.ptr[0])
        n++;
    return n == line.len && n >= 20 && (line.ptr[0] == '=' || line.ptr[0] == '*');
}

enum pyro_yarn_line pyro_yarn_line_read(struct pyro_slice line, struct pyro_yarn_frame *ret)
{
    static const char *const others[] = {
        "LogAggregationType:", "LogLastModifiedTime:", "Log Upload Time:", "LogLength:",
        "LogContents:",        "Log Contents:",        "End of LogType:"};
    if (line.len == 0 || !memchr("CLE=*", *line.ptr, 5))
        return PYRO_YARN_NONE;
    if (pyro_slice_starts_with(line, "Container: container_")) {
        ret->container = container_id(line);
        ret->host = word_behind(line, " on ");
        const char *port = ret->host.ptr ? memrchr(ret->host.ptr, '_', ret->host.len) : NULL;
        if (port) /* of the NodeManager */
            ret->host.len = (size_t)(port - ret->host.ptr);
        return PYRO_YARN_CONTAINER;
    }
    if (pyro_slice_starts_with(line, "LogType:")) {
        ret->type = behind(line, 8);
        return PYRO_YARN_TYPE;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (pyro_slice_starts_with(line, others[i]))
            return PYRO_YARN_OTHER;
    return is_rule(line) ? PYRO_YARN_OTHER : PYRO_YARN_NONE;
}

bool pyro_cri_line_read(struct pyro_slice line, struct pyro_cri_line *ret)
{
    enum { SHORTEST = 30 };
    bool zoned;
    if (line.len < SHORTEST || line.ptr[4] != '-' || line.ptr[10] != 'T')
        return false;
    size_t at = pyro_date_time_read(line, &ret->time_ms, &zoned);
    if (at == 0 || !zoned || line.len < at + 10 || line.ptr[at] != ' ')
        return false;
    struct pyro_slice rest = {line.ptr + at + 1, line.len - at - 1};
    ret->error_stream = pyro_slice_starts_with(rest, "stderr ");
    if (!ret->error_stream && !pyro_slice_starts_with(rest, "stdout "))
        return false;
    if ((rest.ptr[7] != 'F' && rest.ptr[7] != 'P') || (rest.len > 8 && rest.ptr[8] != ' '))
        return false;
    ret->partial = rest.ptr[7] == 'P';
    ret->text = rest.len > 9 ? (struct pyro_slice){rest.ptr + 9, rest.len - 9} : PYRO_SLICE_LITERAL("");
    return true;
}
