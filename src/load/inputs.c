/* The public inputs and loading of one of them. */
#include "analyze/analyze.h"
#include "base/memory/allocator.h"
#include "base/options.h"
#include "base/strings/intern.h"
#include "decode/logs/records/record_reader.h"
#include "decode/logs/timeline/timeline.h"
#include "load/artefacts.h"
#include "load/load.h"
#include "load/remote/remote.h"
#include "model/history/history.h"

struct pyro_inputs {
    const struct pyro_allocator *allocator;
    struct pyro_log_list list;
    struct pyro_artefact_list artefacts;
    enum pyro_redaction redaction;
};

static enum pyro_status find_artefacts(const char *const *paths, size_t path_count,
                                       const struct pyro_load_settings *settings, pyro_inputs *inputs,
                                       struct pyro_error *error)
{
    struct pyro_artefact_search how = {
        .named = settings->artefacts > 1, .kind = PYRO_ARTEFACT_KINDS, .logged = settings->artefacts == 1};
    const char *given = how.named ? settings->artefact_kind : NULL;
    for (unsigned i = 0; given && i < PYRO_ARTEFACT_KINDS; i++)
        if (strcmp(pyro_artefact_kind_name((enum pyro_artefact_kind)i), given) == 0)
            how.kind = (enum pyro_artefact_kind)i;
    if (given && how.kind == PYRO_ARTEFACT_KINDS)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "there is no kind of files '%s'", given);
    return pyro_artefacts_find(paths, path_count, &how, &inputs->list, settings->allocator, &inputs->artefacts, error);
}

enum pyro_status pyro_inputs_open_keeping(const char *const *paths, size_t path_count,
                                          const struct pyro_load_options *load, const struct pyro_options *options,
                                          struct pyro_strbuf *unread, pyro_inputs **ret, struct pyro_error *error)
{
    struct pyro_load_settings resolved;
    pyro_error_clear(error);
    PYRO_TRY(pyro_load_resolve(load, options, &resolved, error));
    resolved.unread = unread;
    if (!ret || (path_count && !paths))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "pyro_inputs_open(): the paths or the place for the result are missing");
    struct pyro_inputs *inputs = pyro_allocate(resolved.allocator, sizeof(*inputs));
    if (!inputs)
        return pyro_no_memory(error);
    *inputs = (struct pyro_inputs){.allocator = resolved.allocator, .redaction = resolved.redaction};
    struct pyro_stopwatch begun = pyro_phase_begin(&resolved.phases);
    const struct pyro_known known = {
        .unlimited = resolved.unlimited != 0, .deep = resolved.artefacts == 1, .unpack = true};
    enum pyro_status status =
        pyro_source_discover_again(paths, path_count, &known, resolved.allocator, &inputs->list, error);
    if (status == PYRO_OK && resolved.artefacts)
        status = find_artefacts(paths, path_count, &resolved, inputs, error);
    if (status == PYRO_OK)
        status = pyro_remote_expand(&inputs->list, &resolved, error);
    pyro_phase_end(&resolved.phases, &begun, "open", 1);
    if (status != PYRO_OK) {
        pyro_inputs_close(inputs);
        return status;
    }
    *ret = inputs;
    return PYRO_OK;
}

enum pyro_status pyro_inputs_open(const char *const *paths, size_t path_count, const struct pyro_load_options *load,
                                  const struct pyro_options *options, pyro_inputs **ret, struct pyro_error *error)
{
    return pyro_inputs_open_keeping(paths, path_count, load, options, NULL, ret, error);
}

static bool copy_log(struct pyro_arena *arena, const struct pyro_log *log, struct pyro_log *ret)
{
    struct pyro_log_part *parts = pyro_arena_array(arena, log->part_count, sizeof(*parts));
    bool ok = parts != NULL;
    *ret = *log;
    ret->path = pyro_arena_copy(arena, log->path);
    ret->parts = parts;
    for (size_t i = 0; ok && i < log->part_count; i++) {
        const struct pyro_log_part *part = &log->parts[i];
        parts[i] = (struct pyro_log_part){.path = pyro_arena_copy(arena, part->path),
                                          .member = pyro_arena_copy(arena, part->member),
                                          .compacted = part->compacted,
                                          .label = pyro_arena_copy(arena, part->label),
                                          .place = part->place,
                                          .most_bytes = part->most_bytes,
                                          .most_line_bytes = part->most_line_bytes,
                                          .inside = pyro_arena_copy(arena, part->inside),
                                          .limit_option = part->limit_option};
        ok = parts[i].path.ptr && (parts[i].member.ptr || !part->member.ptr) &&
             (parts[i].label.ptr || !part->label.ptr) && (parts[i].inside.ptr || !part->inside.ptr);
    }
    return ok && ret->path.ptr;
}

enum pyro_redaction pyro_inputs_redaction(const pyro_inputs *inputs)
{
    return inputs->redaction;
}

enum pyro_status pyro_inputs_of(const struct pyro_log *log, enum pyro_redaction redaction, pyro_inputs **ret,
                                struct pyro_error *error)
{
    pyro_inputs *inputs = pyro_allocate(NULL, sizeof(*inputs));
    if (!inputs)
        return pyro_no_memory(error);
    *inputs = (struct pyro_inputs){0};
    pyro_arena_init(&inputs->list.arena, NULL);
    inputs->list.logs = pyro_arena_alloc(&inputs->list.arena, sizeof(*inputs->list.logs));
    inputs->redaction = redaction;
    inputs->list.count = 1;
    if (!inputs->list.logs || !copy_log(&inputs->list.arena, log, inputs->list.logs)) {
        pyro_inputs_close(inputs);
        return pyro_no_memory(error);
    }
    *ret = inputs;
    return PYRO_OK;
}

void pyro_inputs_close(pyro_inputs *inputs)
{
    if (!inputs)
        return;
    pyro_log_list_done(&inputs->list);
    pyro_release(inputs->allocator, inputs);
}

size_t pyro_inputs_count(const pyro_inputs *inputs)
{
    return inputs->list.count;
}

const struct pyro_log *pyro_inputs_log(const pyro_inputs *inputs, size_t index)
{
    return index < inputs->list.count ? &inputs->list.logs[index] : NULL;
}

const char *pyro_inputs_path(const pyro_inputs *inputs, size_t index)
{
    return index < inputs->list.count ? inputs->list.logs[index].path.ptr : NULL;
}

size_t pyro_inputs_unreadable_count(const pyro_inputs *inputs)
{
    return inputs->list.unreadable_count;
}

const char *pyro_inputs_unreadable_path(const pyro_inputs *inputs, size_t index)
{
    return index < inputs->list.unreadable_count ? inputs->list.unreadable[index].path.ptr : NULL;
}

const char *pyro_inputs_unreadable_reason(const pyro_inputs *inputs, size_t index)
{
    return index < inputs->list.unreadable_count ? inputs->list.unreadable[index].message.ptr : NULL;
}

size_t pyro_inputs_artefact_count(const pyro_inputs *inputs)
{
    return inputs->artefacts.count;
}

enum pyro_status pyro_inputs_tracks(const pyro_inputs *inputs, const struct pyro_allocator *allocator,
                                    struct pyro_tracks **ret, struct pyro_error *error)
{
    return pyro_artefacts_read(&inputs->artefacts, inputs->redaction, NULL, allocator, ret, error);
}

enum pyro_status pyro_inputs_line_timeline(const pyro_inputs *inputs, const struct pyro_options *work,
                                           struct pyro_line_timeline **ret, struct pyro_error *error)
{
    enum pyro_status status = PYRO_OK;
    *ret = NULL;
    for (size_t i = 0; i < inputs->artefacts.count && status == PYRO_OK; i++) {
        if (inputs->artefacts.items[i].kind != PYRO_ARTEFACT_TEXT_LOG)
            continue;
        if (!*ret)
            PYRO_TRY(pyro_line_timeline_new(work->allocator, inputs->redaction, ret, error));
        struct pyro_log_part part = inputs->artefacts.items[i].part;
        struct pyro_log_reading how = {
            .parts = &part, .part_count = 1, .options = work, .take = pyro_line_timeline_take, .context = *ret};
        struct pyro_log_input input;
        struct pyro_error refused = {.size = sizeof(refused)};
        status = pyro_logs_read(&how, &input, &refused);
        pyro_log_input_done(&input);
        if (status == PYRO_ERROR_INPUT)
            status = PYRO_OK; /* what is wrong with a file is said where it is listed */
        if (status != PYRO_OK)
            pyro_error_copy(error, &refused);
    }
    if (status != PYRO_OK) {
        pyro_line_timeline_free(*ret);
        *ret = NULL;
    }
    return status;
}

static bool keep_source(struct pyro_app *app, const struct pyro_log *log, const struct pyro_fetched *fetched)
{
    struct pyro_integrity *integrity = &app->integrity;
    if (!log->remote)
        return true;
    integrity->source_url = app->path;
    integrity->rest = fetched->rest;
    integrity->forgotten = fetched->forgotten;
    integrity->tasks_forgotten = fetched->lost_tasks;
    /* The temporary file says when it was fetched. */
    if (app->history && log->remote->updated_ms >= 0)
        app->listed.modified_ms = log->remote->updated_ms;
    for (size_t i = 0; i < sizeof(fetched->notes) / sizeof(*fetched->notes); i++) {
        struct pyro_slice *note = fetched->notes[i][0] ? pyro_vec_push(&integrity->notes, app->allocator) : NULL;
        if (fetched->notes[i][0] && !note)
            return false;
        if (note)
            *note = pyro_intern_slice(app->strings, pyro_slice_from(fetched->notes[i]));
        if (note && !note->ptr)
            return false;
    }
    return true;
}

void pyro_log_beginning(const struct pyro_log_part *part, struct pyro_strbuf *unread)
{
    struct pyro_reader *reader = NULL;
    char piece[4096];
    size_t got = 1;
    pyro_strbuf_clear(unread);
    if (pyro_reader_open(part, NULL, &reader, NULL) != PYRO_OK)
        return;
    while (got > 0 && unread->len < PYRO_HTTP_KEPT_BYTES && !unread->failed) {
        size_t left = PYRO_HTTP_KEPT_BYTES - unread->len;
        if (pyro_reader_read(reader, piece, left < sizeof(piece) ? left : sizeof(piece), &got, NULL) != PYRO_OK)
            break;
        pyro_strbuf_add(unread, piece, got);
    }
    pyro_reader_close(reader);
}

enum pyro_status pyro_app_load_keeping(const pyro_inputs *inputs, size_t index, const struct pyro_load_options *load,
                                       const struct pyro_options *options, struct pyro_strbuf *unread, pyro_app **ret,
                                       struct pyro_error *error)
{
    struct pyro_load_settings resolved;
    pyro_error_clear(error);
    PYRO_TRY(pyro_load_resolve(load, options, &resolved, error));
    resolved.unread = unread;
    if (!inputs || !ret || index >= inputs->list.count)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "pyro_app_load(): there is no input %zu", index);
    struct pyro_fetched fetched;
    struct pyro_app *app = NULL;
    PYRO_TRY(pyro_fetch(&inputs->list.logs[index], &resolved, &fetched, error));
    resolved.history = resolved.history && !fetched.rest; /* lines made of answers say less than the answers */
    enum pyro_status status = pyro_load_log(fetched.log, &resolved, &app, error);
    if (status == PYRO_OK && fetched.history) {
        pyro_load_show(app, fetched.history, fetched.log);
        fetched.history = NULL;
    }
    if (status == PYRO_ERROR_INPUT && unread && fetched.log->part_count > 0)
        pyro_log_beginning(&fetched.log->parts[0], unread);
    if (status == PYRO_OK) {
        struct pyro_stopwatch begun = pyro_phase_begin(&resolved.phases);
        app->path = pyro_intern_slice(app->strings, fetched.log->path);
        status = app->path.ptr && keep_source(app, &inputs->list.logs[index], &fetched) ? pyro_analyze(app, error)
                                                                                        : pyro_no_memory(error);
        pyro_phase_end(&resolved.phases, &begun, "analyze", 1);
        if (status == PYRO_OK)
            status =
                pyro_artefacts_attach(&inputs->artefacts, app, inputs->list.logs[index].path, &resolved, NULL, error);
    } else if (inputs->list.logs[index].remote &&
               pyro_error_is_usable(error)) { /* the temporary file's name says nothing */
        error->path[0] = '\0';
        pyro_error_at(error, inputs->list.logs[index].path.ptr, error->offset);
    }
    pyro_fetched_done(&fetched);
    if (status != PYRO_OK) {
        pyro_app_release(app);
        return status;
    }
    *ret = app;
    return PYRO_OK;
}

enum pyro_status pyro_app_load(const pyro_inputs *inputs, size_t index, const struct pyro_load_options *load,
                               const struct pyro_options *options, pyro_app **ret, struct pyro_error *error)
{
    return pyro_app_load_keeping(inputs, index, load, options, NULL, ret, error);
}
