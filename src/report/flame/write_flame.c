/* pyro_flame_write(): profiles at paths, decoded one after the other, or those of applications, as one flame graph. */
#include <stdio.h>

#include "base/memory/allocator.h"
#include "base/options.h"
#include "decode/intake.h"
#include "model/app.h"
#include "model/column.h"
#include "report/flame/flame.h"
#include "source/discovery/walk.h"

static const struct {
    const char *suffix;
    bool differs;
    void (*write)(const struct pyro_flame *flame, struct pyro_output *output);
} formats[] = {
#define PYRO_FLAME_FORMAT(constant, name, suffix, differs, doc) {suffix, differs, pyro_flame_write_##name},
#include "report/flame/formats.def"
#undef PYRO_FLAME_FORMAT
};

enum { FORMATS = sizeof(formats) / sizeof(*formats) };

static const char *const event_names[] = {"", "cpu", "wall", "alloc", "lock", "wait", "live", "malloc"};

const char *pyro_flame_suffix(enum pyro_flame_format format)
{
    return (unsigned)format < FORMATS ? formats[format].suffix : NULL;
}

const char *pyro_flame_event_name(enum pyro_flame_event event)
{
    return (unsigned)event < sizeof(event_names) / sizeof(*event_names) ? event_names[event] : NULL;
}

/* What a call is to read: paths or parts. */
struct sources {
    const char *const *paths;
    const struct pyro_log_part *parts;
    size_t count;
};

struct writing {
    const struct sources *sources;
    const struct pyro_flame_options *options;
    const struct pyro_options *work;
    struct pyro_flame flame;
    struct pyro_flame_filter filter;
    struct pyro_flame_count count;
    uint64_t files;
    unsigned events; /* bits of enum pyro_sample_event that occurred */
    unsigned side;
    char *head;             /* PYRO_ARTEFACT_HEAD bytes */
    const pyro_app *latest; /* application that was added */
};

/* ---- One file ---------------------------------------------------------------------------------------------------- */

static void report_problem(const struct writing *writing, struct pyro_slice path, const char *reason)
{
    if (writing->options->problem)
        writing->options->problem(writing->options->problem_context, path.ptr, reason);
}

static bool note_events(struct writing *writing, const struct pyro_tracks *tracks)
{
    size_t count = pyro_tracks_count(tracks, PYRO_TRACK_SAMPLES);
    for (size_t i = 0; i < count; i++)
        writing->events |= 1U << pyro_tracks_sample(tracks, i).event;
    return true;
}

static void report_damage(const struct writing *writing, struct pyro_slice path, struct pyro_slice problems)
{
    char text[512];
    if (problems.len == 0)
        return;
    snprintf(text, sizeof(text), "%.*s; the rest was read", (int)(problems.len < 400 ? problems.len : 400),
             problems.ptr);
    report_problem(writing, path, text);
}

/* What of the samples is not in the picture, and why. */
static void report_left_out(const struct writing *writing, struct pyro_slice path, const struct pyro_tracks *tracks,
                            const struct pyro_flame_count *count)
{
    if (count->untimed > 0)
        report_problem(writing, path, "its records have no times, which --from and --to need: they are left out");
    if ((writing->filter.by_task || writing->filter.by_stage) && count->unowned > 0 &&
        pyro_tracks_count(tracks, PYRO_TRACK_OWNERS) == 0)
        report_problem(writing, path,
                       writing->filter.by_task
                           ? "none of its records names a task, which --task needs: they are left out"
                           : "none of its records names a stage, which --stage needs: they are left out");
}

/* Samples of a file whose records do not say of which event they are. */
static bool lacks_event(const struct writing *writing, enum pyro_profile_kind kind)
{
    return kind == PYRO_PROFILE_FOLDED && writing->filter.event != PYRO_FLAME_ANY;
}

static enum pyro_status gather(struct writing *writing, struct pyro_slice path, const struct pyro_tracks *tracks,
                               const struct pyro_profile_order *order, struct pyro_error *error)
{
    struct pyro_flame_count count = {0};
    if (!pyro_flame_gather(&writing->flame, tracks, order, &writing->filter, writing->side, &count))
        return pyro_no_memory(error);
    report_left_out(writing, path, tracks, &count);
    writing->count.samples += count.samples;
    writing->count.taken += count.taken;
    writing->count.untimed += count.untimed;
    writing->count.asked += count.asked;
    writing->count.unowned += count.unowned;
    return PYRO_OK;
}

static enum pyro_status add_tracks(struct writing *writing, struct pyro_slice path, enum pyro_profile_kind kind,
                                   const struct pyro_tracks *tracks, const struct pyro_profile_order *order,
                                   const struct pyro_profile_facts *facts, struct pyro_error *error)
{
    writing->files++;
    if (lacks_event(writing, kind)) {
        report_problem(writing, path, "its stacks do not say of which event they are: leave out --event to read them");
        return PYRO_OK;
    }
    note_events(writing, tracks);
    report_damage(writing, path, pyro_tracks_artefact(tracks, (size_t)facts->artefact)->problems);
    return gather(writing, path, tracks, order, error);
}

/* The files of an application, which were read with its event log. */
static enum pyro_status add_application(struct writing *writing, struct pyro_slice name,
                                        const struct pyro_tracks *tracks, struct pyro_error *error)
{
    const struct pyro_artefact_row *row;
    for (size_t i = 0; i < pyro_tracks_count(tracks, PYRO_TRACK_ARTEFACTS); i++) {
        row = pyro_tracks_artefact(tracks, i);
        if (!pyro_profile_is_kind(row->kind))
            continue;
        writing->files++;
        report_damage(writing, row->path, row->problems);
    }
    note_events(writing, tracks);
    return gather(writing, name, tracks, NULL, error);
}

static enum pyro_status decode(struct writing *writing, const struct pyro_log_part *part, enum pyro_profile_kind kind,
                               struct pyro_slice head, struct pyro_error *error)
{
    const struct pyro_allocator *allocator = writing->flame.allocator;
    struct pyro_artefact_source source = pyro_artefact_source_of(pyro_part_name(part), head);
    struct pyro_reader *reader;
    struct pyro_profile_facts facts;
    struct pyro_profile_order order;
    struct pyro_intake intake; /* names of frames are texts of a program, with what it puts into them */
    PYRO_TRY(pyro_reader_open(part, allocator, &reader, error));
    struct pyro_tracks *tracks = pyro_tracks_new(allocator);
    if (!tracks) {
        pyro_reader_close(reader);
        return pyro_no_memory(error);
    }
    pyro_profile_order_init(&order, allocator);
    pyro_intake_init(&intake, pyro_tracks_strings(tracks), PYRO_REDACT_WIDE, allocator);
    enum pyro_status status = pyro_profile_decode(tracks, kind, &source, reader, allocator, &order, &facts, error);
    if (status == PYRO_OK && (pyro_intake_failed(&intake) || !pyro_tracks_seal(tracks)))
        status = pyro_no_memory(error);
    if (status == PYRO_OK)
        status = add_tracks(writing, pyro_part_name(part), kind, tracks, &order, &facts, error);
    pyro_profile_order_done(&order, allocator);
    pyro_intake_done(&intake);
    pyro_tracks_free(tracks);
    pyro_reader_close(reader);
    return status;
}

/* A file that cannot be read is left out; what comes from memory or the caller ends the call. */
static enum pyro_status leave_out(struct writing *writing, struct pyro_slice path, enum pyro_status status,
                                  struct pyro_error *error)
{
    if (status != PYRO_ERROR_INPUT)
        return status;
    report_problem(writing, path, error->message);
    pyro_error_clear(error);
    return PYRO_OK;
}

/* `named`: a folder may have all kinds of files, but this one was asked for. */
static enum pyro_status read_part(struct writing *writing, const struct pyro_log_part *part, bool named,
                                  struct pyro_error *error)
{
    struct pyro_slice name = pyro_part_name(part);
    const struct pyro_progress progress = {.size = sizeof(progress), .path = part->path.ptr};
    size_t len;
    if (writing->work->progress && writing->work->progress(writing->work->progress_context, &progress) != 0)
        return pyro_error_set(error, PYRO_ERROR_CANCELLED, "stopped");
    enum pyro_status status =
        pyro_part_head(part, writing->flame.allocator, writing->head, PYRO_ARTEFACT_HEAD, &len, error);
    if (status != PYRO_OK)
        return leave_out(writing, name, status, error);
    struct pyro_slice head = {writing->head, len};
    enum pyro_profile_kind kind = pyro_profile_recognise(head, len < PYRO_ARTEFACT_HEAD);
    if (kind != PYRO_PROFILE_KINDS)
        return leave_out(writing, name, decode(writing, part, kind, head, error), error);
    if (named)
        report_problem(writing, name,
                       len == 0
                           ? "is empty"
                           : "is not a profile: neither a recording of Java Flight Recorder or async-profiler, nor "
                             "records of Uber's JVM profiler or of Python workers, nor folded stacks");
    return PYRO_OK;
}

static enum pyro_status visit(void *context, struct pyro_slice folder, const struct pyro_log_part *part,
                              struct pyro_error *error)
{
    return read_part(context, part, pyro_slice_eq(part->path, folder), error);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* "cpu, wall" */
static void list_events(const struct writing *writing, char *text, size_t capacity)
{
    size_t len = 0;
    for (unsigned i = 0; i < PYRO_SAMPLE_EVENTS && len < capacity; i++)
        if (writing->events & 1U << i)
            len += (size_t)snprintf(text + len, capacity - len, "%s%s", len ? ", " : "",
                                    pyro_sample_event_name((enum pyro_sample_event)i));
    if (len == 0)
        snprintf(text, capacity, "none");
}

static enum pyro_status check_taken(const struct writing *writing, struct pyro_error *error)
{
    char events[64];
    const char *wanted = pyro_flame_event_name(writing->options->event);
    if (writing->files == 0)
        return pyro_error_set(error, PYRO_ERROR_INPUT, "there is no profile at any of the paths");
    if (writing->flame.nodes.items[0].total[PYRO_FLAME_AFTER] > 0)
        return PYRO_OK;
    list_events(writing, events, sizeof(events));
    return pyro_error_set(error, PYRO_ERROR_INPUT, "no sample is left%s%s; events of the samples that were read: %s",
                          wanted[0] ? " for the event " : " for this choice", wanted, events);
}

/* The application with the owners of what is at the path; NULL: they are not asked for, or there is none. */
static const pyro_app *application_of(const struct writing *writing, size_t number)
{
    const pyro_app *const *all = writing->options->applications;
    const pyro_app *app = all && (writing->filter.by_task || writing->filter.by_stage) ? all[number] : NULL;
    return app && app->tracks && pyro_tracks_count(app->tracks, PYRO_TRACK_SAMPLES) > 0 ? app : NULL;
}

static struct pyro_slice name_of(const struct sources *sources, size_t number)
{
    return sources->paths ? pyro_slice_from(sources->paths[number]) : pyro_part_name(&sources->parts[number]);
}

static enum pyro_status read_source(struct writing *writing, size_t number, struct pyro_error *error)
{
    const struct sources *sources = writing->sources;
    struct pyro_slice name = name_of(sources, number);
    struct pyro_walk_result result = {0};
    const pyro_app *app = application_of(writing, number);
    if (app) /* once, however many of its files there are */
        return app == writing->latest ? PYRO_OK
                                      : add_application(writing, name, (writing->latest = app)->tracks, error);
    if (!sources->paths)
        return read_part(writing, &sources->parts[number], true, error);
    enum pyro_status status =
        pyro_walk(sources->paths[number], writing->flame.allocator, visit, writing, &result, error);
    return status == PYRO_OK ? status : leave_out(writing, name, status, error);
}

static enum pyro_status read_all(struct writing *writing, struct pyro_error *error)
{
    bool differs = writing->options->differs != 0;
    for (size_t i = 0; i < writing->sources->count; i++) {
        writing->side = differs && i == 0 ? PYRO_FLAME_BEFORE : PYRO_FLAME_AFTER;
        if (differs)
            writing->latest = NULL;
        PYRO_TRY(read_source(writing, i, error));
    }
    if (writing->flame.full)
        report_problem(writing, name_of(writing->sources, 0),
                       "more than 8,388,608 different calls: the rest is left out");
    pyro_flame_finish(&writing->flame);
    return check_taken(writing, error);
}

static enum pyro_status check_options(const struct pyro_flame_options *options, enum pyro_flame_format format,
                                      size_t count, struct pyro_error *error)
{
    if ((unsigned)format >= FORMATS)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "there is no format %u of flame graphs", (unsigned)format);
    if (!pyro_flame_event_name(options->event))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "there is no event %u", (unsigned)options->event);
    if (options->differs && count != 2)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a difference is between two paths");
    if (options->differs && !formats[format].differs)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a difference cannot be written as %s: use .svg or .folded",
                              formats[format].suffix);
    return PYRO_OK;
}

/* 0 stands for any time. */
static int64_t ns_of(int64_t ms)
{
    int64_t ns;
    if (ms == 0)
        return PYRO_NONE;
    if (__builtin_mul_overflow(ms, 1000000, &ns))
        return ms < 0 ? INT64_MIN + 1 : INT64_MAX;
    return ns;
}

static struct pyro_flame_filter filter_of(const struct pyro_flame_options *options)
{
    return (struct pyro_flame_filter){
        .event = options->event,
        .by_task = (options->filters & PYRO_FLAME_BY_TASK) != 0,
        .by_stage = (options->filters & PYRO_FLAME_BY_STAGE) != 0,
        .by_process = (options->filters & PYRO_FLAME_BY_PROCESS) != 0,
        .combined = options->combined != 0,
        .task = options->task,
        .stage = options->stage,
        .process = options->process,
        .from_ns = ns_of(options->from_ms),
        .to_ns = ns_of(options->to_ms),
    };
}

static enum pyro_status write_flame(struct writing *writing, enum pyro_flame_format format,
                                    const struct pyro_writer *writer, struct pyro_error *error)
{
    struct pyro_output output;
    PYRO_TRY(read_all(writing, error));
    pyro_output_init(&output, writer, writing->flame.allocator);
    formats[format].write(&writing->flame, &output);
    return pyro_output_done(&output, error);
}

static enum pyro_status write_sources(const struct sources *sources, const struct pyro_flame_options *wanted,
                                      const struct pyro_options *options, enum pyro_flame_format format,
                                      const struct pyro_writer *writer, struct pyro_flame_counts *ret_counts,
                                      struct pyro_error *error)
{
    struct pyro_error own_error = {.size = sizeof(own_error)}; /* files that are left out say why, wanted or not */
    struct pyro_flame_options own = {.size = sizeof(own)};
    struct pyro_options work;
    pyro_error_clear(error);
    if ((!sources->paths && !sources->parts) || sources->count == 0 || !pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the paths or the writer is missing");
    PYRO_TRY(PYRO_TAKE(&own, wanted, error));
    PYRO_TRY(pyro_options_resolve(options, &work, error));
    PYRO_TRY(check_options(&own, format, sources->count, error));
    struct writing writing = {.sources = sources, .options = &own, .work = &work, .filter = filter_of(&own)};
    bool ready = pyro_flame_init(&writing.flame, work.allocator);
    writing.flame.merge_lines = own.merge_lines != 0;
    writing.flame.differs = own.differs != 0;
    writing.flame.unit =
        pyro_sample_event_unit(own.event == PYRO_FLAME_ALLOC || own.event >= PYRO_FLAME_LIVE ? PYRO_SAMPLE_ALLOC
                               : own.event == PYRO_FLAME_LOCK                                ? PYRO_SAMPLE_LOCK
                                                                                             : PYRO_SAMPLE_CPU);
    writing.head = pyro_allocate(work.allocator, PYRO_ARTEFACT_HEAD);
    enum pyro_status status =
        ready && writing.head ? write_flame(&writing, format, writer, &own_error) : pyro_no_memory(&own_error);
    const struct pyro_flame_counts counts = {
        .size = sizeof(counts),
        .files = writing.files,
        .taken = writing.count.taken,
        .asked = writing.count.asked,
        .left_out = writing.count.unowned,
    };
    if (status == PYRO_OK && ret_counts)
        status = PYRO_GIVE(ret_counts, &counts);
    pyro_release(work.allocator, writing.head);
    pyro_flame_done(&writing.flame);
    pyro_error_copy(error, &own_error);
    return status;
}

enum pyro_status pyro_flame_write(const char *const *paths, size_t path_count, const struct pyro_flame_options *wanted,
                                  const struct pyro_options *options, enum pyro_flame_format format,
                                  const struct pyro_writer *writer, struct pyro_flame_counts *ret_counts,
                                  struct pyro_error *error)
{
    return write_sources(&(struct sources){.paths = paths, .count = path_count}, wanted, options, format, writer,
                         ret_counts, error);
}

enum pyro_status pyro_flame_write_parts(const struct pyro_log_part *parts, size_t count,
                                        const struct pyro_flame_options *wanted, const struct pyro_options *options,
                                        enum pyro_flame_format format, const struct pyro_writer *writer,
                                        struct pyro_error *error)
{
    return write_sources(&(struct sources){.parts = parts, .count = count}, wanted, options, format, writer, NULL,
                         error);
}
