#include "decode/artefact_kinds.h"

#include <string.h>

#include "decode/logs/layout.h"
#include "decode/logs/text_log.h"
#include "model/column.h"

const char *pyro_artefact_kind_name(enum pyro_artefact_kind kind)
{
    static const char *const names[PYRO_ARTEFACT_KINDS + 1] = {
#define PYRO_ARTEFACT(id, name, prefix, doc) name,
#include "decode/artefact_kinds.def"
#undef PYRO_ARTEFACT
        "unknown"};
    return names[kind];
}

enum pyro_artefact_kind pyro_artefact_recognise(struct pyro_slice head, bool whole)
{
    /* Event logs are found by their own rules (source.h), and are nothing else. */
    if (pyro_slice_starts_with(head, "{\"Event\":"))
        return PYRO_ARTEFACT_KINDS;
#define PYRO_ARTEFACT(id, name, prefix, doc)                                                                           \
    if (pyro_##prefix##_recognise(head, whole))                                                                        \
        return PYRO_ARTEFACT_##id;
#include "decode/artefact_kinds.def"
#undef PYRO_ARTEFACT
    return PYRO_ARTEFACT_KINDS;
}

void pyro_artefacts_begin(struct pyro_artefact_reading *reading, struct pyro_tracks *tracks,
                          enum pyro_redaction redaction, const struct pyro_allocator *allocator)
{
    *reading = (struct pyro_artefact_reading){.tracks = tracks, .allocator = allocator, .redaction = redaction};
    reading->traces.allocator = reading->traces.windows.allocator = allocator;
    pyro_intake_init(&reading->intake, pyro_tracks_strings(tracks), redaction, allocator);
}

enum pyro_status pyro_artefact_decode(struct pyro_artefact_reading *reading, enum pyro_artefact_kind kind,
                                      const struct pyro_artefact_source *source, struct pyro_reader *reader,
                                      struct pyro_error *error)
{
    switch (kind) {
#define PYRO_ARTEFACT(id, name, prefix, doc)                                                                           \
    case PYRO_ARTEFACT_##id:                                                                                           \
        return pyro_##prefix##_artefact(reading, source, reader, error);
#include "decode/artefact_kinds.def"
#undef PYRO_ARTEFACT
    default:
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "this is no file of a kind that can be read");
    }
}

enum pyro_status pyro_artefacts_end(struct pyro_artefact_reading *reading, struct pyro_error *error)
{
    PYRO_TRY(pyro_trace_files_decode(reading, error)); /* programs log to traces, too */
    PYRO_TRY(pyro_text_logs_end(&reading->logs, reading->tracks, error));
    if (pyro_intake_failed(&reading->intake) || !pyro_tracks_seal(reading->tracks))
        return pyro_no_memory(error);
    return PYRO_OK;
}

void pyro_artefacts_done(struct pyro_artefact_reading *reading)
{
    pyro_text_logs_done(&reading->logs);
    pyro_trace_files_done(&reading->traces);
    pyro_intake_leave(&reading->intake);
    pyro_intake_done(&reading->intake);
}

/* ---- Whose file it is -------------------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static struct pyro_slice digits_at(struct pyro_slice text, size_t at)
{
    size_t end = at;
    while (end < text.len && is_digit(text.ptr[end]))
        end++;
    return end > at ? (struct pyro_slice){text.ptr + at, end - at} : PYRO_SLICE_NULL;
}

/* The number behind an id in a path: ".../app-20240301101500-0000/3/stdout" of a standalone worker, and
 * "app-20240301101500-0000-3.gc" of Spark's own example, {{APP_ID}}-{{EXECUTOR_ID}}.gc. */
static struct pyro_slice number_behind(struct pyro_slice path, struct pyro_slice id)
{
    if (!id.ptr || id.ptr < path.ptr || id.ptr >= path.ptr + path.len)
        return PYRO_SLICE_NULL;
    size_t after = (size_t)(id.ptr - path.ptr) + id.len;
    if (after >= path.len || (path.ptr[after] != '/' && path.ptr[after] != '-'))
        return PYRO_SLICE_NULL;
    struct pyro_slice number = digits_at(path, after + 1);
    size_t end = after + 1 + number.len;
    return number.ptr && end < path.len && path.ptr[end] == (path.ptr[after] == '/' ? '/' : '.') ? number
                                                                                                 : PYRO_SLICE_NULL;
}

/* The executor that a word of a file's name says: "driver.log", "profile-exec-3.jfr", "executor_3.gc.log". */
static struct pyro_slice executor_word(struct pyro_slice text)
{
    static const char *const words[] = {"executor", "exec"};
    if (pyro_slice_starts_with(text, "driver") && (text.len == 6 || !is_word(text.ptr[6])))
        return (struct pyro_slice){text.ptr, 6};
    for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++) {
        size_t len = strlen(words[w]);
        if (!pyro_slice_starts_with(text, words[w]))
            continue;
        len += len < text.len && (text.ptr[len] == '-' || text.ptr[len] == '_');
        struct pyro_slice number = digits_at(text, len);
        if (number.ptr)
            return number;
    }
    return PYRO_SLICE_NULL;
}

static struct pyro_slice find_executor(struct pyro_slice path, struct pyro_slice application)
{
    struct pyro_slice found = PYRO_SLICE_NULL, rest = path;
    while (!found.ptr && application.len > 0) { /* a folder and a file in it may both have the id */
        const char *id = memmem(rest.ptr, rest.len, application.ptr, application.len);
        if (!id)
            break;
        found = number_behind(path, (struct pyro_slice){id, application.len});
        rest = (struct pyro_slice){id + application.len, (size_t)(path.ptr + path.len - id) - application.len};
    }
    size_t name = path.len;
    while (name > 0 && path.ptr[name - 1] != '/')
        name--;
    for (size_t i = name; i < path.len && !found.ptr; i++)
        if (i == name || !is_word(path.ptr[i - 1]))
            found = executor_word((struct pyro_slice){path.ptr + i, path.len - i});
    return found;
}

struct pyro_artefact_source pyro_artefact_source_of(struct pyro_slice path, struct pyro_slice head)
{
    struct pyro_artefact_source source = {.path = path, .start_ns = PYRO_NONE};
    source.application = pyro_application_id(path);
    if (!source.application.ptr) { /* folders of EMR Serverless and names of Glue have ids of another form */
        const struct pyro_log_file file = pyro_log_file_of(path);
        source.application = file.application;
        source.executor = file.application.ptr ? file.executor : PYRO_SLICE_NULL;
    }
    if (!source.application.ptr)
        source.application = pyro_application_id(head);
    if (!source.executor.ptr)
        source.executor = find_executor(path, source.application);
    return source;
}
