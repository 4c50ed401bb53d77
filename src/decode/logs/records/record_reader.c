#include "decode/logs/records/record_reader.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/options.h"
#include "decode/artefact_guess.h"
#include "decode/logs/layout.h"
#include "decode/logs/records/envelope.h"
#include "decode/logs/records/logger_record.h"
#include "decode/logs/records/progress_bar.h"
#include "model/column.h"
#include "source/discovery/walk.h"

enum {
    HEAD_BYTES = 64 << 10, /* what decides what a file is */
    READ_BYTES = 256 << 10,
    BUFFER_BYTES = PYRO_LOG_RECORD_BYTES + PYRO_LOG_LINE_BYTES + READ_BYTES,
    NOTES_MOST = 1000,
    SOURCES_MOST = 64 /* containers of one file whose lines alternate */
};

/* The parts of a line that Kubernetes' nodes or Docker have cut. */
struct partial {
    struct pyro_strbuf text;
    bool open;
};

struct state {
    const struct pyro_log_reading *reading;
    struct pyro_log_input *input;
    struct pyro_log_assembler assembler;
    struct pyro_error *error;
    char *buffer;
    size_t begin, scanned, end; /* of the line that is read; where its end was looked for; of the bytes */
    int64_t offset;             /* in the file, of the buffer's first byte */
    uint64_t line;
    bool ended, skipping, dirty;
    bool collections;  /* a file of this argument is a log of a garbage collector */
    bool yarn, turned; /* turned: a line named the container or the host */
    struct pyro_log_envelope envelope;
    const struct pyro_log_file *whole;                 /* the file itself, for lines that name no container */
    const struct pyro_log_file *sources[SOURCES_MOST]; /* containers and hosts that lines name */
    size_t source_count;
    struct pyro_reader *reader;
    const struct pyro_log_candidate *candidate;
    struct pyro_slice section, host; /* of `yarn logs`: the container, its host */
    struct partial partials[2];
    struct pyro_strbuf inner; /* a line without its envelope, with the padding that readers of JSON need */
};

static enum pyro_status add_note(struct state *state, struct pyro_slice path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum pyro_status add_note(struct state *state, struct pyro_slice path, const char *format, ...)
{
    struct pyro_log_input *input = state->input;
    if (input->notes.count >= NOTES_MOST)
        return PYRO_OK;
    struct pyro_log_problem *note = pyro_vec_push(&input->notes, input->files.allocator);
    if (!note)
        return pyro_no_memory(state->error);
    va_list arguments;
    va_start(arguments, format);
    *note = (struct pyro_log_problem){path, pyro_arena_vprintf(&input->files.arena, format, arguments)};
    va_end(arguments);
    return note->reason.ptr ? PYRO_OK : pyro_no_memory(state->error);
}

/* ---- Whose log it is --------------------------------------------------------------------------------------------- */

static struct pyro_slice keep(struct state *state, struct pyro_slice text)
{
    return pyro_arena_copy(&state->input->files.arena, text);
}

/* The container's id holds that of its application: container_[e17_]1709280000000_0001_01_000002. */
static struct pyro_slice application_of(struct state *state, struct pyro_slice container)
{
    size_t at = 10, groups = 0, end;
    if (!container.ptr || !pyro_slice_starts_with(container, "container_"))
        return PYRO_SLICE_NULL;
    const char *behind = container.ptr[at] == 'e' ? memchr(container.ptr + at, '_', container.len - at) : NULL;
    at = behind ? (size_t)(behind - container.ptr) + 1 : at;
    for (end = at; end < container.len && groups < 2; end++)
        groups += container.ptr[end] == '_';
    if (groups < 2)
        return PYRO_SLICE_NULL;
    return pyro_arena_printf(&state->input->files.arena, "application_%.*s", (int)(end - 1 - at), container.ptr + at);
}

/* Makes the texts of a file last, and tells the assembler. */
static enum pyro_status begin_part(struct state *state, struct pyro_log_file file, struct pyro_slice head)
{
    struct pyro_log_file *kept = pyro_arena_alloc(&state->input->files.arena, sizeof(*kept));
    if (!file.application.ptr)
        file.application = application_of(state, file.container);
    pyro_log_file_look(&file, head);
    if (!kept)
        return pyro_no_memory(state->error);
    kept->path = keep(state, file.path);
    kept->application = keep(state, file.application);
    kept->container = keep(state, file.container);
    kept->executor = keep(state, file.executor);
    kept->host = keep(state, file.host);
    if (!kept->path.ptr || state->input->files.arena.failed)
        return pyro_no_memory(state->error);
    state->assembler.file = kept;
    return PYRO_OK;
}

/* A line of `yarn logs` itself. */
static enum pyro_status take_frame(struct state *state, enum pyro_yarn_line kind, const struct pyro_yarn_frame *frame)
{
    struct pyro_slice path = state->candidate->path;
    PYRO_TRY(pyro_log_assembler_end_file(&state->assembler, state->error));
    if (kind == PYRO_YARN_CONTAINER) {
        state->section = keep(state, frame->container);
        state->host = keep(state, frame->host);
    }
    if (kind != PYRO_YARN_TYPE)
        return PYRO_OK;
    struct pyro_log_file file = {.container = state->section, .host = state->host};
    file.path = pyro_arena_printf(&state->input->files.arena, "%.*s!%.*s/%.*s", (int)path.len, path.ptr,
                                  (int)state->section.len, state->section.ptr ? state->section.ptr : "",
                                  (int)(frame->type.len < 256 ? frame->type.len : 256), frame->type.ptr);
    size_t left = state->end - state->begin;
    struct pyro_slice head = {state->buffer + state->begin, left < HEAD_BYTES ? left : HEAD_BYTES};
    const char *next = pyro_slice_find(head, "\nEnd of LogType:");
    next = next ? next : pyro_slice_find(head, "\nContainer: container_");
    head.len = next ? (size_t)(next - head.ptr) : head.len;
    return begin_part(state, file, head);
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* Zeros at either end come from files that a crash left behind; elsewhere the line is not text. */
static bool take_off_zeros(struct pyro_slice *line)
{
    while (line->len > 0 && *line->ptr == '\0') {
        line->ptr++;
        line->len--;
    }
    while (line->len > 0 && line->ptr[line->len - 1] == '\0')
        line->len--;
    return !memchr(line->ptr, '\0', line->len);
}

/* A line without carriage returns. */
static enum pyro_status take_piece(struct state *state, struct pyro_slice line, int64_t place, int64_t time_ms)
{
    const struct pyro_log_reading *reading = state->reading;
    struct pyro_yarn_frame frame = {.container = PYRO_SLICE_NULL};
    enum pyro_yarn_line kind = state->yarn ? pyro_yarn_line_read(line, &frame) : PYRO_YARN_NONE;
    if (kind != PYRO_YARN_NONE)
        return take_frame(state, kind, &frame);
    if (reading->take_line)
        PYRO_TRY(reading->take_line(reading->context, line, state->error));
    return reading->take || !reading->take_line
               ? pyro_log_assembler_line(&state->assembler, line, place, state->line, time_ms, state->error)
               : PYRO_OK;
}

/* Spark's progress bar returns to the beginning of its line, and what is logged next comes behind it. Copies of a
 * screen have lost the carriage returns. */
static enum pyro_status take_pieces(struct state *state, struct pyro_slice line, int64_t place, int64_t time_ms)
{
    PYRO_TRY(pyro_log_assembler_copy(&state->assembler, state->error)); /* what is left out may lie inside a record */
    while (line.len > 0) {
        const char *stop = memchr(line.ptr, '\r', line.len);
        struct pyro_slice piece = {line.ptr, stop ? (size_t)(stop - line.ptr) : line.len};
        size_t used = stop ? piece.len + 1 : piece.len;
        struct pyro_slice text = pyro_behind_blanks(piece);
        if (pyro_begins_progress_bar(text))
            piece = text = pyro_behind_progress_bars(text);
        if (text.len > 0)
            PYRO_TRY(take_piece(state, piece, place + (int64_t)(piece.ptr - line.ptr), time_ms));
        line = (struct pyro_slice){line.ptr + used, line.len - used};
        place += (int64_t)used;
    }
    return PYRO_OK;
}

static enum pyro_status take_text(struct state *state, struct pyro_slice line, int64_t place, int64_t time_ms)
{
    return memchr(line.ptr, '\r', line.len) || pyro_begins_progress_bar(line) ? take_pieces(state, line, place, time_ms)
                                                                              : take_piece(state, line, place, time_ms);
}

static bool is_same_source(const struct pyro_log_file *a, const struct pyro_log_file *b)
{
    return pyro_slice_eq(a->container, b->container) && pyro_slice_eq(a->host, b->host) &&
           pyro_slice_eq(a->application, b->application);
}

/* Lines of several containers may alternate: the records that follow belong to the one that this line names. */
static enum pyro_status turn_to(struct state *state, const struct pyro_enveloped_line *line)
{
    struct pyro_log_assembler *assembler = &state->assembler;
    bool named = line->container.ptr || line->host.ptr;
    if (!named && !state->turned)
        return PYRO_OK;
    struct pyro_log_file wanted = *state->whole;
    wanted.container = line->container.ptr ? line->container : wanted.container;
    wanted.host = line->host.ptr ? line->host : wanted.host;
    wanted.application = line->application.ptr ? line->application : wanted.application;
    state->turned = named;
    if (is_same_source(assembler->file, &wanted))
        return PYRO_OK;
    PYRO_TRY(pyro_log_assembler_end(assembler, state->error));
    assembler->file = state->whole;
    for (size_t i = 0; i < state->source_count && named; i++)
        if (is_same_source(state->sources[i], &wanted)) {
            assembler->file = state->sources[i];
            return PYRO_OK;
        }
    if (!named || state->source_count == SOURCES_MOST)
        return PYRO_OK;
    struct pyro_slice executor = line->executor.ptr ? line->executor : pyro_log_file_of(wanted.container).executor;
    wanted.executor = line->container.ptr && executor.ptr ? executor : wanted.executor;
    PYRO_TRY(begin_part(state, wanted, PYRO_SLICE_LITERAL("")));
    state->sources[state->source_count++] = assembler->file;
    return PYRO_OK;
}

static enum pyro_status take_enveloped(struct state *state, const struct pyro_enveloped_line *wrapped, int64_t place)
{
    struct partial *partial = &state->partials[wrapped->error_stream];
    struct pyro_slice text = wrapped->text;
    PYRO_TRY(turn_to(state, wrapped));
    if (partial->open || wrapped->partial) {
        if (!partial->open)
            pyro_strbuf_clear(&partial->text);
        size_t room = PYRO_LOG_LINE_BYTES - partial->text.len;
        state->input->counts.cut_lines += room < text.len && room > 0;
        pyro_strbuf_add(&partial->text, text.ptr, text.len < room ? text.len : room);
        partial->open = wrapped->partial;
        if (wrapped->partial)
            return partial->text.failed ? pyro_no_memory(state->error) : PYRO_OK;
        text = pyro_strbuf_slice(&partial->text);
    }
    struct pyro_strbuf *line = &state->inner;
    pyro_strbuf_clear(line);
    pyro_strbuf_add_slice(line, text);
    if (partial->text.failed || line->failed || !pyro_strbuf_reserve(line, PYRO_SCAN_PADDING))
        return pyro_no_memory(state->error);
    return take_text(state, pyro_strbuf_slice(line), place, wrapped->time_ms);
}

/* A line, or one record of a line that holds several. */
static enum pyro_status open_line(struct state *state, struct pyro_slice line, int64_t place)
{
    struct pyro_enveloped_line wrapped;
    if (state->envelope.kind == PYRO_ENVELOPE_NONE || !pyro_log_envelope_open(&state->envelope, line, &wrapped))
        return take_text(state, line, place, PYRO_NONE);
    if (!wrapped.left_out)
        return take_enveloped(state, &wrapped, place);
    state->input->counts.other_records += line.len > 1;
    return PYRO_OK;
}

static enum pyro_status take_batch(struct state *state, struct pyro_slice line, struct pyro_json_reader *batch)
{
    struct pyro_slice record;
    bool first = true, any = false;
    for (; pyro_logger_batch_next(batch, &first, &record); any = true)
        PYRO_TRY(open_line(state, record, state->offset + (record.ptr - state->buffer)));
    state->input->counts.other_records += !any && batch->error && line.len > 1;
    return PYRO_OK;
}

/* `cut`: the line goes on, and the rest of it is dropped. */
static enum pyro_status take_line(struct state *state, struct pyro_slice line, bool cut)
{
    struct pyro_log_counts *counts = &state->input->counts;
    int64_t place = state->offset + (line.ptr - state->buffer);
    struct pyro_json_reader batch;
    counts->lines++;
    counts->cut_lines += cut;
    state->line++;
    if (line.len > 0 && line.ptr[line.len - 1] == '\r') {
        line.len--;
        PYRO_TRY(pyro_log_assembler_copy(&state->assembler, state->error)); /* the record's text is without it */
    }
    if (state->dirty && line.len > 0 && !take_off_zeros(&line)) {
        counts->garbage_lines++;
        return pyro_log_assembler_end(&state->assembler, state->error);
    }
    if (pyro_log_envelope_is_batch(&state->envelope, line, &batch))
        PYRO_TRY(take_batch(state, line, &batch));
    else
        PYRO_TRY(open_line(state, line, place));
    if (state->envelope.text.failed)
        return pyro_no_memory(state->error);
    return cut ? pyro_log_assembler_end(&state->assembler, state->error) : PYRO_OK;
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

/* Moves what is still needed to the front of the buffer. */
static void make_room(struct state *state)
{
    struct pyro_log_assembler *assembler = &state->assembler;
    bool open = assembler->begin && !assembler->copies;
    size_t first = open ? (size_t)(assembler->begin - state->buffer) : state->begin;
    if (first == 0)
        return;
    memmove(state->buffer, state->buffer + first, state->end - first);
    state->offset += (int64_t)first;
    state->begin -= first;
    state->scanned -= first;
    state->end -= first;
    if (open)
        assembler->begin = state->buffer;
}

static enum pyro_status report_progress(struct state *state)
{
    const struct pyro_options *options = state->reading->options;
    struct pyro_progress progress = {.size = sizeof(progress), .path = state->candidate->path.ptr};
    if (!options->progress)
        return PYRO_OK;
    pyro_reader_position(state->reader, &progress.bytes_done, &progress.bytes_total);
    if (options->progress(options->progress_context, &progress) != 0)
        return pyro_error_set(state->error, PYRO_ERROR_CANCELLED, "reading was stopped");
    return PYRO_OK;
}

static enum pyro_status read_more(struct state *state)
{
    size_t got = 0, room = BUFFER_BYTES - state->end;
    PYRO_TRY(pyro_reader_read(state->reader, state->buffer + state->end, room < READ_BYTES ? room : READ_BYTES, &got,
                              state->error));
    state->dirty |= memchr(state->buffer + state->end, '\0', got) != NULL;
    state->end += got;
    state->ended = got == 0;
    state->input->counts.bytes += got;
    return report_progress(state);
}

/* The line that is too long goes on until the next newline. */
static void skip_rest(struct state *state)
{
    const char *newline = memchr(state->buffer + state->begin, '\n', state->end - state->begin);
    state->begin = state->scanned = newline ? (size_t)(newline - state->buffer) + 1 : state->end;
    state->skipping = !newline;
}

/* Takes all lines that were read. */
static enum pyro_status take_lines(struct state *state)
{
    while (state->begin < state->end) {
        if (state->skipping) {
            skip_rest(state);
            continue;
        }
        const char *newline = memchr(state->buffer + state->scanned, '\n', state->end - state->scanned);
        size_t stop = newline ? (size_t)(newline - state->buffer) : state->end;
        size_t len = stop - state->begin;
        bool cut = len > PYRO_LOG_LINE_BYTES;
        state->scanned = stop;
        if (!newline && !cut && !state->ended)
            return PYRO_OK;
        struct pyro_slice line = {state->buffer + state->begin, cut ? PYRO_LOG_LINE_BYTES : len};
        state->begin = state->scanned = newline ? stop + 1 : stop;
        state->skipping = cut && !newline;
        PYRO_TRY(take_line(state, line, cut));
    }
    return PYRO_OK;
}

/* Parts of lines whose last part was never written. */
static enum pyro_status end_partials(struct state *state)
{
    for (unsigned stream = 0; stream < 2; stream++) {
        const struct pyro_enveloped_line rest = {.time_ms = PYRO_NONE,
                                                 .error_stream = stream == 1,
                                                 .text = PYRO_SLICE_LITERAL(""),
                                                 .container =
                                                     state->turned ? state->assembler.file->container : PYRO_SLICE_NULL,
                                                 .host = state->turned ? state->assembler.file->host : PYRO_SLICE_NULL};
        if (state->partials[stream].open)
            PYRO_TRY(take_enveloped(state, &rest, state->offset + (int64_t)state->end));
    }
    return PYRO_OK;
}

static enum pyro_status read_lines(struct state *state)
{
    for (;;) {
        PYRO_TRY(take_lines(state));
        if (state->ended)
            break;
        make_room(state);
        PYRO_TRY(read_more(state));
    }
    PYRO_TRY(end_partials(state));
    return pyro_log_assembler_end_file(&state->assembler, state->error);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static enum pyro_status read_head(struct state *state)
{
    while (!state->ended && state->end < HEAD_BYTES)
        PYRO_TRY(read_more(state));
    return PYRO_OK;
}

/* Reads the file if it is a text log; *ret_refusal says why it is none. */
static enum pyro_status read_open(struct state *state, const char **ret_refusal)
{
    const struct pyro_log_candidate *candidate = state->candidate;
    PYRO_TRY(read_head(state));
    struct pyro_slice head = {state->buffer, state->end < HEAD_BYTES ? state->end : HEAD_BYTES};
    enum pyro_log_content content = pyro_log_content_of(head, state->reading->pattern);
    *ret_refusal = pyro_log_content_refusal(content);
    state->collections |= content == PYRO_CONTENT_GC;
    if (content == PYRO_CONTENT_TEXT && !candidate->named && !pyro_log_name(candidate->path))
        *ret_refusal = "has no header of a log";
    if (*ret_refusal)
        return PYRO_OK;
    struct pyro_guess guess;
    if (!pyro_artefact_guess(head, state->ended, &guess))
        snprintf(guess.text, sizeof(guess.text), "%s", pyro_text_guess(head));
    state->yarn = pyro_slice_find(head, "Container: container_") && pyro_slice_find(head, "LogType:");
    pyro_log_envelope_find(&state->envelope, head, state->reading->pattern);
    state->assembler.copies = state->envelope.kind != PYRO_ENVELOPE_NONE;
    PYRO_TRY(begin_part(state, pyro_log_file_of(candidate->path), head));
    state->whole = state->assembler.file;
    const struct pyro_log_counts *counts = &state->input->counts;
    uint64_t records = counts->records, headed = counts->headed;
    state->input->counts.files++;
    PYRO_TRY(read_lines(state));
    if (counts->records > records && counts->headed == headed)
        PYRO_TRY(
            add_note(state, candidate->path,
                     "no line begins with a time and a level in a known form, so errors that were logged cannot be "
                     "seen: --pattern says the form. It is %s",
                     guess.text));
    const char *damage = pyro_reader_damage(state->reader);
    return damage ? add_note(state, candidate->path, "is read up to its damage: %s", damage) : PYRO_OK;
}

static void begin_file(struct state *state, const struct pyro_log_candidate *candidate)
{
    state->candidate = candidate;
    state->begin = state->scanned = state->end = 0;
    state->offset = 0;
    state->line = 0;
    state->ended = state->skipping = state->dirty = state->yarn = state->turned = false;
    state->whole = NULL;
    state->source_count = 0;
    state->section = state->host = PYRO_SLICE_NULL;
    state->partials[0].open = state->partials[1].open = false;
}

static enum pyro_status refuse(struct state *state, struct pyro_slice path, const char *reason)
{
    return pyro_log_files_refuse(&state->input->files, path, pyro_slice_from(reason)) == PYRO_OK
               ? PYRO_OK
               : pyro_no_memory(state->error);
}

static enum pyro_status read_file(struct state *state, const struct pyro_log_candidate *candidate)
{
    const char *refusal = NULL;
    struct pyro_error own = {.size = sizeof(own)}, *outer = state->error;
    begin_file(state, candidate);
    state->error = &own;
    uint64_t files = state->input->counts.files;
    enum pyro_status status = pyro_reader_open(&candidate->part, state->input->files.allocator, &state->reader, &own);
    if (status == PYRO_OK)
        status = read_open(state, &refusal);
    pyro_reader_close(state->reader);
    state->reader = NULL;
    state->error = outer;
    if (status == PYRO_ERROR_INPUT && own.path[0]) { /* of this file; a consumer's own errors name none */
        if (state->input->counts.files > files)
            PYRO_TRY(pyro_log_assembler_end_file(&state->assembler, outer));
        return refuse(state, candidate->path, own.message);
    }
    if (status != PYRO_OK) {
        pyro_error_copy(outer, &own);
        return status;
    }
    state->input->counts.other_files += refusal && !candidate->named;
    return refusal && candidate->named ? refuse(state, candidate->path, refusal) : PYRO_OK;
}

/* Whether something is known of a path already: a reason why it, or a file below it, cannot be read, or a file below it
 * that another path led to. */
static bool is_answered(const struct pyro_log_files *files, const char *path)
{
    for (size_t i = 0; i < files->unreadable.count; i++)
        if (pyro_slice_starts_with(files->unreadable.items[i].path, path))
            return true;
    for (size_t i = 0; i < files->items.count; i++)
        if (files->items.items[i].named && pyro_slice_is(files->items.items[i].path, path))
            return true;
    return false;
}

/* A path without any text log is an unreadable one. */
static enum pyro_status read_files(struct state *state)
{
    struct pyro_log_files *files = &state->input->files;
    size_t next = 0;
    for (; state->reading->parts && next < files->items.count; next++)
        PYRO_TRY(read_file(state, &files->items.items[next]));
    for (size_t argument = 0; argument < state->reading->path_count; argument++) {
        uint64_t logs = state->input->counts.files;
        const char *path = state->reading->paths[argument];
        state->collections = false;
        for (; next < files->items.count && files->items.items[next].argument == argument; next++)
            PYRO_TRY(read_file(state, &files->items.items[next]));
        if (state->input->counts.files == logs && !is_answered(files, path))
            PYRO_TRY(refuse(state, pyro_slice_from(path),
                            state->collections
                                ? "has no text log, but logs of a garbage collector: use 'pyrometer profile'"
                                : "has no text log"));
    }
    return PYRO_OK;
}

static enum pyro_status check_found(struct state *state)
{
    struct pyro_log_files *files = &state->input->files;
    if (state->input->counts.files > 0)
        return PYRO_OK;
    if (files->unreadable.count == 0)
        return pyro_error_set(state->error, PYRO_ERROR_INPUT, "no path was given");
    const struct pyro_log_problem *first = &files->unreadable.items[0];
    pyro_error_describe(state->error, PYRO_ERROR_INPUT, "%s", first->reason.ptr);
    pyro_error_at(state->error, first->path.ptr, UINT64_MAX);
    return PYRO_ERROR_INPUT;
}

static enum pyro_status note_counts(struct state *state)
{
    const struct pyro_log_counts *counts = &state->input->counts;
    const struct pyro_log_filter *filter = state->reading->filter;
    const struct pyro_log_files *files = &state->input->files;
    const struct pyro_slice all = PYRO_SLICE_NULL;
    if (counts->zone_assumed)
        PYRO_TRY(add_note(state, all, "times without a zone count as UTC: --tz says which zone they are in"));
    if (files->too_many)
        PYRO_TRY(add_note(state, all, "files beyond the first %d were not read: %llu", PYRO_WALK_FILES,
                          (unsigned long long)files->too_many));
    if (files->too_deep)
        PYRO_TRY(add_note(state, all, "folders more than %d levels deep were not read: %llu", PYRO_WALK_LEVELS,
                          (unsigned long long)files->too_deep));
    if (files->refused)
        PYRO_TRY(add_note(state, all, "files and folders that cannot be opened or listed: %llu",
                          (unsigned long long)files->refused));
    if (counts->cut_lines)
        PYRO_TRY(add_note(state, all, "lines longer than 1 MiB were cut: %llu", (unsigned long long)counts->cut_lines));
    if (counts->garbage_lines)
        PYRO_TRY(add_note(state, all, "lines that are not text were left out: %llu",
                          (unsigned long long)counts->garbage_lines));
    if (counts->profiler_lines)
        PYRO_TRY(add_note(state, all, "records of a profiler were left out: %llu",
                          (unsigned long long)counts->profiler_lines));
    if (counts->other_records)
        PYRO_TRY(add_note(state, all,
                          "objects other than records of a log, such as metrics and events, were left out: %llu",
                          (unsigned long long)counts->other_records));
    if (counts->jumps)
        PYRO_TRY(add_note(state, all, "the clock went back: %llu times", (unsigned long long)counts->jumps));
    if (filter && filter->undecided)
        PYRO_TRY(add_note(state, all, "records that took --grep too long were left out: %llu",
                          (unsigned long long)filter->undecided));
    return PYRO_OK;
}

static enum pyro_status read_all(struct state *state)
{
    state->buffer = pyro_allocate(state->input->files.allocator, BUFFER_BYTES + PYRO_SCAN_PADDING);
    if (!state->buffer)
        return pyro_no_memory(state->error);
    memset(state->buffer + BUFFER_BYTES, 0, PYRO_SCAN_PADDING);
    PYRO_TRY(read_files(state));
    PYRO_TRY(check_found(state));
    return note_counts(state);
}

enum pyro_status pyro_logs_read(const struct pyro_log_reading *reading, struct pyro_log_input *ret,
                                struct pyro_error *error)
{
    const struct pyro_allocator *allocator = reading->options->allocator;
    struct state state = {.reading = reading, .input = ret, .error = error};
    memset(ret, 0, sizeof(*ret));
    if (reading->parts)
        PYRO_TRY(pyro_log_files_of_parts(reading->parts, reading->part_count, allocator, &ret->files, error));
    else
        PYRO_TRY(pyro_log_files_find(reading->paths, reading->path_count, reading->unlimited, allocator, &ret->files,
                                     error));
    pyro_log_assembler_init(&state.assembler, allocator);
    state.assembler.pattern = reading->pattern;
    state.assembler.has_zone = reading->has_zone;
    state.assembler.offset_s = reading->offset_s;
    state.assembler.filter = reading->filter;
    state.assembler.take = reading->take;
    state.assembler.context = reading->context;
    state.assembler.counts = &ret->counts;
    pyro_strbuf_init(&state.partials[0].text, allocator);
    pyro_strbuf_init(&state.partials[1].text, allocator);
    pyro_strbuf_init(&state.inner, allocator);
    pyro_log_envelope_init(&state.envelope, allocator);
    enum pyro_status status = read_all(&state);
    pyro_release(allocator, state.buffer);
    pyro_strbuf_done(&state.partials[0].text);
    pyro_strbuf_done(&state.partials[1].text);
    pyro_strbuf_done(&state.inner);
    pyro_log_envelope_done(&state.envelope);
    pyro_log_assembler_done(&state.assembler);
    return status;
}

void pyro_log_input_done(struct pyro_log_input *input)
{
    pyro_vec_done(&input->notes, input->files.allocator);
    pyro_log_files_done(&input->files);
}
