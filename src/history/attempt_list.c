#include "history/history.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#include "base/collections/hash.h"
#include "base/json/scan.h"
#include "base/json/unescape.h"
#include "base/memory/allocator.h"
#include "base/secrets/secrets.h"
#include "decode/sparkview/listener.h"
#include "history/last_job.h"
#include "history/line_event.h"
#include "history/second_start.h"
#include "load/lines.h"
#include "load/load.h"

enum {
    FIRST_TAIL_BYTES = 16 << 10,
    TAIL_BYTES = 1 << 20,   /* of a plain file, in which its end is looked for: as Spark does */
    WHOLE_BYTES = 16 << 20, /* a plain file up to this is read to its end */
    MOST_OTHER = 10000,     /* lines at the beginning of a file, none of which is an event: it is not an event log */
    MOST_ENVIRONMENTS = 16  /* whose expressions are read: Spark writes one, and one more whenever a file is added */
};

static enum pyro_status no_memory(struct pyro_error *error)
{
    return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left to read a log");
}

/* ---- The list ---- */

struct scan {
    struct pyro_arena *texts, line;
    struct pyro_attempt *attempt;
    struct pyro_secrets secrets;
    unsigned environments;      /* whose expressions were read */
    int64_t exit_code;          /* PYRO_NONE: unknown */
    enum pyro_job_end last_job; /* of those that were read */
    size_t others;              /* lines before the first event */
    bool events;                /* there was one */
    bool started, ended, failed;
    bool closed;     /* it has an end though its name says that it is being written */
    bool identified; /* what the log begins with is known: only its end is looked for */
    uint64_t first;  /* hash of the application's id and attempt, as they are logged */
    uint64_t lines;  /* that were read, of a log that is read to its end */
    bool counts_lines;
    struct pyro_slice second; /* another application that the log has, else null */
    uint64_t second_line;
};

/* Of one application, in whatever event. */
static uint64_t identity_of(const struct pyro_tree *event)
{
    const struct pyro_tree *id = pyro_tree_get(event, "App ID"), *attempt = pyro_tree_get(event, "App Attempt ID");
    return pyro_hash_mix(pyro_hash_slice(id ? id->text : PYRO_SLICE_NULL) * 3 +
                         pyro_hash_slice(attempt ? attempt->text : PYRO_SLICE_NULL));
}

/* As in the log. */
static struct pyro_slice keep_raw(struct scan *scan, struct pyro_slice raw)
{
    struct pyro_strbuf text;
    if (!raw.ptr)
        return PYRO_SLICE_NULL;
    pyro_strbuf_init(&text, NULL);
    pyro_text_decode(&text, raw, NULL);
    struct pyro_slice kept = pyro_arena_copy(scan->texts, pyro_strbuf_slice(&text));
    scan->failed |= text.failed || !kept.ptr;
    pyro_strbuf_done(&text);
    return kept;
}

/* Without its secrets. */
static struct pyro_slice keep(struct scan *scan, const struct pyro_tree *node)
{
    struct pyro_strbuf buffer;
    if (!node)
        return PYRO_SLICE_NULL;
    struct pyro_slice text = keep_raw(scan, node->text.ptr ? node->text : PYRO_SLICE_LITERAL(""));
    if (!text.ptr)
        return text;
    pyro_strbuf_init(&buffer, NULL);
    struct pyro_slice shown = pyro_secrets_text(&scan->secrets, text, &buffer);
    if (shown.ptr != text.ptr)
        text = pyro_arena_copy(scan->texts, shown);
    scan->failed |= buffer.failed || !text.ptr;
    pyro_strbuf_done(&buffer);
    return text;
}

/* What the log itself wants hidden: the environment comes before the application's start. */
static void read_own_expressions(struct scan *scan, struct pyro_slice line)
{
    if (!pyro_slice_find(line, "redaction"))
        return;
    pyro_arena_reset(&scan->line);
    const struct pyro_tree *event = pyro_tree_parse(&scan->line, line);
    const struct pyro_tree *spark = event ? pyro_tree_get(event, "Spark Properties") : NULL;
    for (const struct pyro_tree *member = spark ? spark->first : NULL; member; member = member->next)
        if (pyro_slice_find(member->key, "redaction") && member->text.ptr) {
            struct pyro_slice key = keep_raw(scan, member->key), value = keep_raw(scan, member->text);
            if (key.ptr && value.ptr)
                pyro_secrets_configure(&scan->secrets, key, value);
        }
}

/* The latest of the times that an event, or an object in it, has. */
static void take_times(const struct pyro_tree *event, int64_t *latest_ms)
{
    static const char *const keys[] = {"Timestamp",   "time",        "Submission Time",
                                       "Launch Time", "Finish Time", "Completion Time"},
                             *const objects[] = {"Task Info", "Stage Info"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        int64_t time_ms = pyro_tree_int(pyro_tree_get(event, keys[i]), -1);
        *latest_ms = time_ms > *latest_ms ? time_ms : *latest_ms;
    }
    for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++) {
        const struct pyro_tree *object = pyro_tree_get(event, objects[i]);
        if (object)
            take_times(object, latest_ms);
    }
}

/* What a log says of itself is taken once, so that one which says it a million times costs no memory. */
static bool is_wanted(const struct scan *scan, enum pyro_line_event event)
{
    switch (event) {
    case PYRO_LINE_APPLICATION_END:
        return true;
    case PYRO_LINE_APPLICATION_START: /* another one, only where a log is read to its end */
        return !scan->identified || !scan->second.ptr;
    case PYRO_LINE_LOG_START:
        return !scan->identified && !scan->attempt->version.len;
    default:
        return false;
    }
}

/* False: this is another kind of file, such as a long text log, which need not be read to its end. */
static bool may_be_events(struct scan *scan, struct pyro_slice line)
{
    enum { NAME_BYTES = 100 };
    const struct pyro_slice start = {line.ptr, line.len < NAME_BYTES ? line.len : NAME_BYTES};
    scan->events = scan->events || pyro_slice_find(start, "\"Event\"");
    return scan->events || ++scan->others < MOST_OTHER;
}

static bool scan_line(void *context, struct pyro_slice line)
{
    struct scan *scan = context;
    struct pyro_attempt *attempt = scan->attempt;
    enum pyro_line_event kind = pyro_line_event(line);
    scan->lines += scan->counts_lines;
    if (kind == PYRO_LINE_JOB_END)
        scan->last_job = pyro_job_end_join(scan->last_job, pyro_job_end_read(&scan->line, line));
    if (kind == PYRO_LINE_ENVIRONMENT && !scan->identified && scan->environments < MOST_ENVIRONMENTS) {
        scan->environments++;
        read_own_expressions(scan, line);
    }
    if (!is_wanted(scan, kind))
        return !scan->failed && (scan->started || may_be_events(scan, line));
    pyro_arena_reset(&scan->line);
    const struct pyro_tree *event = pyro_tree_parse(&scan->line, line);
    scan->failed |= scan->line.failed;
    if (!event)
        return !scan->failed;
    if (kind == PYRO_LINE_APPLICATION_END) {
        attempt->end_ms = pyro_tree_int(pyro_tree_get(event, "Timestamp"), -1);
        scan->exit_code = pyro_tree_int(pyro_tree_get(event, "ExitCode"), PYRO_NONE);
        scan->ended = true;
    } else if (kind == PYRO_LINE_APPLICATION_START && scan->identified) {
        if (pyro_tree_get(event, "App ID") && identity_of(event) != scan->first) {
            scan->second = keep(scan, pyro_tree_get(event, "App ID"));
            scan->second_line = scan->lines;
        }
    } else if (kind == PYRO_LINE_APPLICATION_START) {
        scan->first = identity_of(event);
        attempt->app_id = keep(scan, pyro_tree_get(event, "App ID"));
        attempt->attempt_id = keep(scan, pyro_tree_get(event, "App Attempt ID"));
        attempt->name = keep(scan, pyro_tree_get(event, "App Name"));
        attempt->user = keep(scan, pyro_tree_get(event, "User"));
        attempt->start_ms = pyro_tree_int(pyro_tree_get(event, "Timestamp"), 0);
        scan->started = true;
    } else {
        attempt->version = keep(scan, pyro_tree_get(event, "Spark Version"));
    }
    return !scan->failed && (scan->identified || !scan->started);
}

/* For a log without an end: when its last events happened. */
static bool scan_time(void *context, struct pyro_slice line)
{
    struct scan *scan = context;
    pyro_arena_reset(&scan->line);
    const struct pyro_tree *event = pyro_tree_parse(&scan->line, line);
    if (event)
        take_times(event, &scan->attempt->last_event_ms);
    if (event && pyro_line_event(line) == PYRO_LINE_APPLICATION_END) {
        scan->exit_code = pyro_tree_int(pyro_tree_get(event, "ExitCode"), PYRO_NONE);
        scan->closed = true;
    }
    return true;
}

/* Calls `each` for the lines in the last bytes of a file; for none if they cannot be read. */
static void read_last(int fd, uint64_t size, size_t bytes, pyro_line_callback *each, struct scan *scan)
{
    uint64_t from = size > bytes ? size - bytes : 0;
    char *tail = pyro_allocate(NULL, bytes + PYRO_SCAN_PADDING);
    ssize_t len = tail ? pread(fd, tail, bytes, (off_t)from) : -1;
    if (len > 0) {
        memset(tail + len, 0, PYRO_SCAN_PADDING);
        char *first = from ? memchr(tail, '\n', (size_t)len) : tail - 1;
        for (char *at = first ? first + 1 : tail + len; at < tail + len;) {
            char *newline = memchr(at, '\n', (size_t)(tail + len - at));
            char *end = newline ? newline : tail + len;
            each(scan, (struct pyro_slice){at, (size_t)(end - at)});
            at = end + 1;
        }
    }
    scan->failed |= !tail;
    pyro_release(NULL, tail);
}

/* Of a large plain log: only another application is looked for. */
static bool scan_start(void *context, struct pyro_slice line)
{
    struct scan *scan = context;
    return pyro_line_event(line) != PYRO_LINE_APPLICATION_START || (scan_line(scan, line) && !scan->second.ptr);
}

/* The last piece of a plain file: the last event is the end, in most logs. False: it is not a plain file. As Spark
 * does, a log whose name says that it is being written is not searched for its end. */
static bool scan_tail(const struct pyro_log *log, struct scan *scan)
{
    struct pyro_reader *reader = NULL;
    int fd;
    uint64_t size;
    if (log->part_count == 0 || pyro_reader_open(&log->parts[log->part_count - 1], NULL, &reader, NULL) != PYRO_OK)
        return false;
    bool plain = pyro_reader_is_plain_file(reader, &fd, &size);
    if (plain && !log->in_progress) {
        if (log->part_count == 1 && size > WHOLE_BYTES)
            scan->failed |= !pyro_second_start_look(fd, size, scan_start, scan);
        read_last(fd, size, FIRST_TAIL_BYTES, scan_line, scan);
        if (!scan->ended && size > FIRST_TAIL_BYTES)
            read_last(fd, size, TAIL_BYTES, scan_line, scan);
    }
    if (plain && !scan->ended)
        read_last(fd, size, FIRST_TAIL_BYTES, scan_time, scan);
    pyro_reader_close(reader);
    return plain;
}

/* Of text logs, whose lines are made once for both: what is at the beginning, and what is at the end. */
static bool scan_made_line(void *context, struct pyro_slice line)
{
    struct scan *scan = context;
    scan_line(scan, line);
    scan->identified = scan->started;
    return !scan->failed;
}

/* A plain log is read to its end only if it is small: it may hold another application (cat a b). In a larger one that
 * is looked for where it may begin, and if it is not found there, the log says so when it is opened. */
static bool is_small(const struct pyro_log *log)
{
    struct stat info;
    return log->part_count == 1 && stat(log->parts[0].path.ptr, &info) == 0 && info.st_size <= WHOLE_BYTES;
}

static enum pyro_status scan_end(const struct pyro_log *log, struct scan *scan, struct pyro_error *error)
{
    bool plain = scan_tail(log, scan);
    if (log->in_progress && !scan->closed)
        return PYRO_OK;
    if (!log->in_progress && (!plain || is_small(log))) {
        scan->counts_lines = true;
        scan->second = PYRO_SLICE_NULL;
        scan->last_job = PYRO_JOB_END_NONE;
        PYRO_TRY(pyro_lines_read(log, scan_line, scan, error));
    }
    bool open = scan->last_job == PYRO_JOB_END_NONE || scan->last_job == PYRO_JOB_END_CANCELED;
    if (plain && (scan->ended || scan->closed) && open && (scan->exit_code == PYRO_NONE || scan->exit_code == 0))
        PYRO_TRY(pyro_last_job_find(log, &scan->line, &scan->last_job, error));
    return PYRO_OK;
}

static enum pyro_status say_two(const struct pyro_log *log, const struct scan *scan, struct pyro_error *error)
{
    char line[64] = "";
    struct pyro_slice id = scan->attempt->app_id.ptr ? scan->attempt->app_id : PYRO_SLICE_LITERAL("?");
    if (scan->second_line)
        snprintf(line, sizeof(line), ", which starts in line %llu", (unsigned long long)scan->second_line);
    pyro_error_describe(error, PYRO_ERROR_INPUT, "holds two applications or attempts, %.*s and %.*s%s: split it",
                        (int)id.len, id.ptr, (int)scan->second.len, scan->second.ptr, line);
    pyro_error_at(error, log->path.ptr, UINT64_MAX);
    return pyro_error_lasts(error, PYRO_ERROR_INPUT);
}

/* Of a file that has no event at all, what it looks like instead. */
static enum pyro_status say_no_application(const struct pyro_log *log, struct pyro_error *error)
{
    struct pyro_guess guess;
    if (log->layout == PYRO_LAYOUT_SINGLE && pyro_log_guess(log, &guess))
        pyro_error_describe(error, PYRO_ERROR_INPUT, "%s %s", guess.of_run ? "is" : "is not a Spark event log, but",
                            guess.text);
    else
        pyro_error_describe(error, PYRO_ERROR_INPUT,
                            log->layout == PYRO_LAYOUT_LOGS ? "no file of it says when the application ran"
                                                            : "it has no start event of an application");
    pyro_error_at(error, log->path.ptr, UINT64_MAX);
    return pyro_error_lasts(error, PYRO_ERROR_INPUT);
}

enum pyro_status pyro_attempt_scan(const pyro_inputs *inputs, size_t index, struct pyro_arena *arena,
                                   struct pyro_attempt *ret, struct pyro_error *error)
{
    const struct pyro_log *log = pyro_inputs_log(inputs, index);
    struct pyro_attempt attempt = {.log = index, .end_ms = -1, .last_event_ms = -1, .version = PYRO_SLICE_LITERAL("")};
    struct scan scan = {.texts = arena, .attempt = &attempt, .exit_code = PYRO_NONE};
    struct stat info;
    if (!log)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "there is no log %zu", index);
    scan.secrets.how = pyro_inputs_redaction(inputs);
    pyro_arena_init(&scan.line, NULL);
    bool made = log->layout == PYRO_LAYOUT_LOGS;
    enum pyro_status status = pyro_lines_read(log, made ? scan_made_line : scan_line, &scan, error);
    scan.identified = true;
    if (status == PYRO_OK && scan.started && !made)
        status = scan_end(log, &scan, error);
    const struct pyro_run_end end = {scan.ended || scan.closed, log->in_progress, scan.exit_code, scan.last_job};
    attempt.outcome = pyro_run_outcome(&end);
    pyro_arena_done(&scan.line);
    bool secrets_failed = scan.secrets.failed;
    pyro_secrets_done(&scan.secrets);
    PYRO_TRY(status);
    if (scan.failed || secrets_failed)
        return no_memory(error);
    if (!scan.started)
        return say_no_application(log, error);
    if (scan.second.ptr && !made)
        return say_two(log, &scan, error);
    attempt.completed = scan.ended;
    if (log->part_count && stat(log->parts[log->part_count - 1].path.ptr, &info) != 0)
        return pyro_error_set(error, PYRO_ERROR_INPUT, "cannot read: %s", strerror(errno));
    if (log->part_count)
        attempt.modified_ms = (int64_t)info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1000000;
    if (!attempt.app_id.ptr) /* before Spark 1.3 */
        attempt.app_id = log->path;
    *ret = attempt;
    return PYRO_OK;
}

/* ---- Who may see it ---------------------------------------------------------------------------------------------- */

struct access_scan {
    struct scan texts;
    struct pyro_access_lists *lists;
    size_t lines;
};

static struct pyro_slice property_of(const void *properties, const char *key)
{
    const struct pyro_tree *value = pyro_tree_get(properties, key);
    return value ? value->text : PYRO_SLICE_NULL;
}

static bool scan_access(void *context, struct pyro_slice line)
{
    enum { LINES = 10000 }; /* the environment is among the first events */
    struct access_scan *scan = context;
    if (pyro_line_event(line) != PYRO_LINE_ENVIRONMENT)
        return ++scan->lines < LINES;
    const struct pyro_tree *event = pyro_tree_parse(&scan->texts.line, line);
    scan->texts.failed |= scan->texts.line.failed; /* else everybody might see it */
    const struct pyro_tree *spark = event ? pyro_tree_get(event, "Spark Properties") : NULL;
    *scan->lists = pyro_access_read(property_of, spark);
    scan->lists->known = event != NULL;
    scan->lists->users = keep_raw(&scan->texts, scan->lists->users);
    scan->lists->groups = keep_raw(&scan->texts, scan->lists->groups);
    scan->lists->admins = keep_raw(&scan->texts, scan->lists->admins);
    scan->lists->admin_groups = keep_raw(&scan->texts, scan->lists->admin_groups);
    return false;
}

enum pyro_status pyro_attempt_access(const struct pyro_log *log, struct pyro_arena *arena,
                                     struct pyro_access_lists *ret, struct pyro_error *error)
{
    *ret = (struct pyro_access_lists){0};
    if (log->layout == PYRO_LAYOUT_LOGS) { /* which say nothing of it: the administrators' */
        ret->enabled = true;
        return PYRO_OK;
    }
    struct access_scan scan = {.texts.texts = arena, .lists = ret};
    pyro_arena_init(&scan.texts.line, NULL);
    enum pyro_status status = pyro_lines_read(log, scan_access, &scan, error);
    pyro_arena_done(&scan.texts.line);
    return status == PYRO_OK && scan.texts.failed ? no_memory(error) : status;
}
