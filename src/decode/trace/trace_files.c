#include "decode/trace/trace_files.h"

#include <stdio.h>
#include <string.h>

#include "base/numbers/saturate.h"
#include "base/strings/strbuf.h"
#include "decode/artefact_kinds.h"
#include "decode/trace/host_clocks.h"
#include "decode/trace/kernel_events.h"
#include "decode/trace/logged_events.h"
#include "model/column.h"

void pyro_trace_files_done(struct pyro_trace_files *files)
{
    for (size_t i = 0; i < files->folders.count; i++) {
        pyro_release(files->allocator, files->folders.items[i].path);
        pyro_release(files->allocator, files->folders.items[i].inside);
    }
    pyro_vec_done(&files->folders, files->allocator);
    pyro_task_windows_done(&files->windows);
}

/* ---- A file `metadata` ---------------------------------------------------------------------------------------------
 */

bool pyro_ctf_folder_recognise(struct pyro_slice head, bool whole)
{
    (void)whole;
    return pyro_ctf_recognise(head);
}

static char *copy_of(const struct pyro_allocator *allocator, struct pyro_slice text)
{
    char *copy = pyro_allocate(allocator, text.len + 1);
    if (copy) {
        memcpy(copy, text.ptr, text.len);
        copy[text.len] = '\0';
    }
    return copy;
}

/* Its streams are in its folder: they are read when all files are known. */
enum pyro_status pyro_ctf_folder_artefact(struct pyro_artefact_reading *reading,
                                          const struct pyro_artefact_source *source, struct pyro_reader *reader,
                                          struct pyro_error *error)
{
    struct pyro_trace_files *files = &reading->traces;
    const struct pyro_log_part *part = reading->part;
    struct pyro_slice path = part ? part->path : source->path;
    const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
    struct pyro_slice folder =
        slash ? (struct pyro_slice){path.ptr, (size_t)(slash - path.ptr)} : PYRO_SLICE_LITERAL(".");
    bool packed = part && (part->member.ptr || part->unpacked);
    (void)reader;
    struct pyro_artefact_row row = {
        .kind = PYRO_SLICE_LITERAL("ctf"),
        .path = source->path,
        .first_ns = PYRO_NONE,
        .last_ns = PYRO_NONE,
        .bytes = PYRO_NONE,
        .clock = -1,
        .problems =
            packed ? PYRO_SLICE_LITERAL("is a trace in an archive: unpack it, then name the folder") : PYRO_SLICE_NULL};
    int32_t artefact = pyro_tracks_add_artefact(reading->tracks, &row);
    if (artefact < 0)
        return pyro_no_memory(error);
    if (packed)
        return PYRO_OK;
    struct pyro_trace_folder *added = pyro_vec_push(&files->folders, files->allocator);
    if (!added)
        return pyro_no_memory(error);
    added->artefact = artefact;
    added->path = copy_of(files->allocator, folder);
    if (part && part->inside.ptr)
        added->inside = copy_of(files->allocator, part->inside);
    return added->path && (added->inside || !part || !part->inside.ptr) ? PYRO_OK : pyro_no_memory(error);
}

/* ---- Decoding ---------------------------------------------------------------------------------------------------- */

struct decoding {
    struct pyro_trace_files *files;
    struct pyro_tracks *tracks;
    struct pyro_kernel kernel;
    struct pyro_kernel_events events;
    struct pyro_logged_events logged;
    struct pyro_ctf *ctf;
    PYRO_VEC(int32_t) artefact_of; /* by number of the trace */
};

static struct pyro_ctf_wanted want(void *context, const struct pyro_ctf_trace *trace, struct pyro_slice name)
{
    (void)context, (void)trace;
    return pyro_kernel_events_want(name);
}

static void lose(void *context, const struct pyro_ctf_loss *loss)
{
    struct decoding *decoding = context;
    struct pyro_kernel *kernel = &decoding->kernel;
    const struct pyro_trace_loss_row row = {.artefact = decoding->artefact_of.items[loss->trace],
                                            .cpu = loss->cpu >= 0 ? loss->cpu : PYRO_NONE,
                                            .start_ns = loss->from_ns,
                                            .end_ns = loss->until_ns < INT64_MAX ? loss->until_ns : PYRO_NONE,
                                            .count = loss->events > 0 ? (int64_t)loss->events : PYRO_NONE,
                                            .reason = pyro_slice_from(loss->why)};
    kernel->no_memory |= !pyro_tracks_add_trace_loss(decoding->tracks, &row);
    if (kernel->first_ns != PYRO_NONE)
        pyro_kernel_lost(kernel, decoding->events.host_of.items[loss->trace], loss->from_ns, loss->until_ns);
}

static bool say_problem(struct decoding *decoding, int32_t artefact, struct pyro_slice text)
{
    struct pyro_artefact_row *row = pyro_tracks_artefact_edit(decoding->tracks, artefact);
    row->problems = pyro_tracks_text(decoding->tracks, text);
    return row->problems.ptr != NULL;
}

static enum pyro_status add_folder(struct pyro_ctf *ctf, const struct pyro_trace_folder *folder,
                                   struct pyro_error *error)
{
    pyro_ctf_keep_inside(ctf, folder->inside);
    return pyro_ctf_add(ctf, folder->path, error);
}

/* ---- Clocks of several hosts ------------------------------------------------------------------------------------- */

static struct pyro_ctf_wanted want_segments(void *context, const struct pyro_ctf_trace *trace, struct pyro_slice name)
{
    struct pyro_ctf_wanted wanted = {.kind = -1};
    (void)context, (void)trace;
    if (pyro_slice_is(name, "inet_sock_local_out"))
        wanted = (struct pyro_ctf_wanted){.kind = 1, .slots = {"seq", "ack_seq"}};
    else if (pyro_slice_is(name, "inet_sock_local_in"))
        wanted = (struct pyro_ctf_wanted){.kind = 0, .slots = {"seq", "ack_seq"}};
    return wanted;
}

/* Few traces have them, and all are read twice for that. */
static bool has_segments(struct decoding *decoding)
{
    for (size_t i = 0; i < pyro_ctf_class_count(decoding->ctf); i++)
        if (want_segments(NULL, NULL, pyro_ctf_class(decoding->ctf, i).name).kind >= 0)
            return true;
    return false;
}

static enum pyro_status read_segments(struct decoding *decoding, struct pyro_ctf *ctf, struct pyro_host_clocks *clocks,
                                      struct pyro_error *error)
{
    const struct pyro_ctf_event *event;
    struct pyro_error refused = {.size = sizeof(refused)};
    for (size_t i = 0; i < decoding->files->folders.count; i++)
        if (add_folder(ctf, &decoding->files->folders.items[i], &refused) == PYRO_ERROR_MEMORY)
            return pyro_no_memory(error);
    for (;;) {
        PYRO_TRY(pyro_ctf_next(ctf, &event, error));
        if (!event)
            return PYRO_OK;
        const struct pyro_segment segment = {.key = (uint64_t)event->slots[0].integer << 32 ^
                                                    (uint64_t)event->slots[1].integer,
                                             .time_ns = event->time_ns,
                                             .host = decoding->events.host_of.items[event->trace],
                                             .sent = event->kind == 1};
        if (event->slots[0].known && event->slots[1].known && !pyro_host_clocks_note(clocks, &segment))
            return pyro_no_memory(error);
    }
}

/* The clocks of hosts without records of tasks become that of the first host, where both traces have the TCP segments
 * between them. */
static enum pyro_status compare_hosts(struct decoding *decoding, struct pyro_error *error)
{
    struct pyro_host_clocks clocks = {.allocator = decoding->files->allocator};
    const struct pyro_ctf_calls calls = {want_segments, NULL, decoding};
    if (decoding->kernel.hosts.count < 2 || !has_segments(decoding))
        return PYRO_OK;
    struct pyro_ctf *ctf = pyro_ctf_new(&calls, decoding->files->allocator);
    enum pyro_status status = ctf ? read_segments(decoding, ctf, &clocks, error) : pyro_no_memory(error);
    pyro_ctf_free(ctf);
    for (size_t i = 0; i < pyro_ctf_trace_count(decoding->ctf) && status == PYRO_OK && clocks.segments.count > 0; i++) {
        int32_t artefact = pyro_tracks_artefact(decoding->tracks, (size_t)decoding->artefact_of.items[i])->clock;
        struct pyro_clock_row *row = pyro_tracks_clock_edit(decoding->tracks, artefact);
        if (decoding->events.host_of.items[i] == 0 || pyro_slice_is(row->method, "task-threads"))
            continue;
        const struct pyro_host_offset fit = pyro_host_clocks_fit(&clocks, 0, decoding->events.host_of.items[i]);
        if (fit.matches == 0)
            continue;
        pyro_ctf_shift(decoding->ctf, i, fit.offset_ns);
        row->offset_ns = pyro_add_saturating(row->offset_ns, fit.offset_ns);
        row->drift_ppb = fit.drift_ppb;
        row->error_ns = fit.error_ns;
        row->matches = fit.matches;
        row->method = PYRO_SLICE_LITERAL("tcp-segments");
    }
    pyro_host_clocks_done(&clocks);
    return status;
}

/* Puts the clock of a trace on the axis: by the pairs of its host, where its own metadata say less. */
static bool place_clock(struct decoding *decoding, size_t number, int32_t artefact)
{
    const struct pyro_ctf_trace *trace = pyro_ctf_trace(decoding->ctf, number);
    const struct pyro_clock_fit fit = pyro_task_windows_fit(&decoding->files->windows, trace->host);
    struct pyro_clock_row row = {.host = trace->host,
                                 .source = PYRO_SLICE_LITERAL("ctf"),
                                 .base = trace->absolute ? PYRO_SLICE_LITERAL("utc") : PYRO_SLICE_LITERAL("monotonic"),
                                 .offset_ns = trace->offset_ns,
                                 .method = PYRO_SLICE_LITERAL("metadata")};
    if (fit.matches > 0) {
        pyro_ctf_shift(decoding->ctf, number, pyro_sub_saturating(fit.offset_ns, trace->offset_ns));
        row.base = PYRO_SLICE_LITERAL("monotonic");
        row.offset_ns = fit.offset_ns;
        row.drift_ppb = fit.drift_ppb;
        row.error_ns = fit.error_ns;
        row.method = PYRO_SLICE_LITERAL("task-threads");
        row.matches = (int64_t)fit.matches;
    } else if (!trace->absolute) {
        row.method = PYRO_SLICE_LITERAL("unknown");
    }
    int32_t clock = pyro_tracks_add_clock(decoding->tracks, &row);
    pyro_tracks_artefact_edit(decoding->tracks, artefact)->clock = clock;
    return clock >= 0;
}

static enum pyro_status add_trace(struct decoding *decoding, const struct pyro_trace_folder *folder,
                                  struct pyro_error *error)
{
    struct pyro_error refused = {.size = sizeof(refused)};
    size_t number = pyro_ctf_trace_count(decoding->ctf);
    enum pyro_status status = add_folder(decoding->ctf, folder, &refused);
    if (status == PYRO_ERROR_MEMORY)
        return pyro_no_memory(error);
    if (status != PYRO_OK)
        return say_problem(decoding, folder->artefact, pyro_slice_from(refused.message)) ? PYRO_OK
                                                                                         : pyro_no_memory(error);
    const struct pyro_ctf_trace *trace = pyro_ctf_trace(decoding->ctf, number);
    int32_t *artefact = pyro_vec_push(&decoding->artefact_of, decoding->files->allocator);
    if (!artefact || !pyro_kernel_events_host(&decoding->events, trace->host))
        return pyro_no_memory(error);
    *artefact = folder->artefact;
    if (pyro_slice_is(trace->machine, "aarch64"))
        pyro_kernel_events_machine(&decoding->events, PYRO_MACHINE_AARCH64);
    struct pyro_artefact_row *row = pyro_tracks_artefact_edit(decoding->tracks, folder->artefact);
    row->host = trace->host.ptr ? pyro_tracks_text(decoding->tracks, trace->host) : PYRO_SLICE_NULL;
    return place_clock(decoding, number, folder->artefact) ? PYRO_OK : pyro_no_memory(error);
}

static bool take_message(struct decoding *decoding, const struct pyro_ctf_event *event)
{
    struct pyro_slice host = decoding->kernel.hosts.items[decoding->events.host_of.items[event->trace]].name;
    return pyro_logged_events_take(&decoding->logged, event, host, decoding->artefact_of.items[event->trace]);
}

static enum pyro_status take_events(struct decoding *decoding, const struct pyro_reader_check *check,
                                    struct pyro_error *error)
{
    enum { STEP = 1 << 16 };
    const struct pyro_ctf_event *event;
    for (uint64_t count = 0; !decoding->kernel.no_memory; count++) {
        if (check && count % STEP == 0)
            PYRO_TRY(check->go_on(check->context, error));
        PYRO_TRY(pyro_ctf_next(decoding->ctf, &event, error));
        if (!event)
            break;
        struct pyro_artefact_row *row =
            pyro_tracks_artefact_edit(decoding->tracks, decoding->artefact_of.items[event->trace]);
        if (row->first_ns == PYRO_NONE)
            row->first_ns = event->time_ns;
        row->last_ns = event->time_ns;
        if (!pyro_kernel_events_is_logged(event))
            pyro_kernel_events_take(&decoding->events, event);
        else if (!take_message(decoding, event))
            return pyro_no_memory(error);
    }
    return decoding->kernel.no_memory ? pyro_no_memory(error) : PYRO_OK;
}

/* How many events came by name, and what is not read. */
static bool write_classes(struct decoding *decoding)
{
    for (size_t i = 0; i < pyro_ctf_class_count(decoding->ctf); i++) {
        const struct pyro_ctf_class class = pyro_ctf_class(decoding->ctf, i);
        const struct pyro_trace_event_row row = {.artefact = decoding->artefact_of.items[class.trace],
                                                 .name = class.name,
                                                 .count = (int64_t) class.count,
                                                 .known = pyro_kernel_events_want(class.name).kind >= 0};
        pyro_tracks_artefact_edit(decoding->tracks, row.artefact)->rows += row.count;
        if (row.count > 0 && !pyro_tracks_add_trace_event(decoding->tracks, &row))
            return false;
    }
    for (size_t i = 0; i < pyro_ctf_trace_count(decoding->ctf); i++) {
        const struct pyro_ctf_trace *trace = pyro_ctf_trace(decoding->ctf, i);
        int32_t artefact = decoding->artefact_of.items[i];
        pyro_tracks_artefact_edit(decoding->tracks, artefact)->bytes = (int64_t)trace->bytes;
        if (trace->problem.ptr && !say_problem(decoding, artefact, trace->problem))
            return false;
    }
    return true;
}

static enum pyro_status decode_all(struct decoding *decoding, const struct pyro_reader_check *check,
                                   struct pyro_error *error)
{
    for (size_t i = 0; i < decoding->files->folders.count; i++)
        PYRO_TRY(add_trace(decoding, &decoding->files->folders.items[i], error));
    PYRO_TRY(compare_hosts(decoding, error));
    PYRO_TRY(take_events(decoding, check, error));
    if (decoding->kernel.first_ns != PYRO_NONE)
        pyro_kernel_end(&decoding->kernel);
    return write_classes(decoding) && pyro_kernel_write(&decoding->kernel) ? PYRO_OK : pyro_no_memory(error);
}

enum pyro_status pyro_trace_files_decode(struct pyro_artefact_reading *reading, struct pyro_error *error)
{
    struct pyro_trace_files *files = &reading->traces;
    struct decoding decoding = {.files = files, .tracks = reading->tracks};
    const struct pyro_ctf_calls calls = {want, lose, &decoding};
    if (!pyro_task_windows_settle(&files->windows, reading->tracks))
        return pyro_no_memory(error);
    if (files->folders.count == 0)
        return PYRO_OK;
    pyro_kernel_begin(&decoding.kernel, reading->tracks, &files->windows, files->allocator);
    pyro_kernel_events_init(&decoding.events, &decoding.kernel);
    pyro_logged_events_init(&decoding.logged, reading);
    decoding.ctf = pyro_ctf_new(&calls, files->allocator);
    enum pyro_status status = decoding.ctf && !decoding.kernel.no_memory ? decode_all(&decoding, reading->check, error)
                                                                         : pyro_no_memory(error);
    pyro_ctf_free(decoding.ctf);
    pyro_vec_done(&decoding.artefact_of, files->allocator);
    pyro_logged_events_done(&decoding.logged);
    pyro_kernel_events_done(&decoding.events);
    pyro_kernel_done(&decoding.kernel);
    return status;
}
