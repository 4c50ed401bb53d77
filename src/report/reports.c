/* The public report functions: one report, or many as one document. */
#include "base/memory/allocator.h"
#include "base/memory/arena.h"
#include "base/options.h"
#include "report/shared/draw.h"
#include "report/shared/web_assets.h"

enum pyro_status pyro_report_options_read(const struct pyro_report_options *given, struct pyro_report_options *ret,
                                          struct pyro_error *error)
{
    struct pyro_report_options options = {.size = sizeof(options)};
    PYRO_TRY(PYRO_TAKE(&options, given, error));
    if (options.width == 0)
        options.width = 80;
    if (options.width < 40)
        options.width = 40;
    if (options.width > 1000)
        options.width = 1000;
    if (options.utc_offset_s < -86400 || options.utc_offset_s > 86400)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "pyro_report_options.utc_offset_s is more than a day");
    *ret = options;
    return PYRO_OK;
}

static const struct pyro_renderer *find_renderer(enum pyro_format format, struct pyro_error *error)
{
    if (format == PYRO_FORMAT_HTML && pyro_web_check(error) != PYRO_OK)
        return NULL;
    if ((unsigned)format < pyro_renderer_count)
        return pyro_renderers[format];
    pyro_error_describe(error, PYRO_ERROR_ARGUMENT, "there is no report format %u", (unsigned)format);
    return NULL;
}

enum pyro_status pyro_report_write(const pyro_diagnosis *diagnosis, enum pyro_format format,
                                   const struct pyro_report_options *options, const struct pyro_writer *writer,
                                   struct pyro_error *error)
{
    struct pyro_report_options own;
    struct pyro_output output;
    pyro_error_clear(error);
    const struct pyro_renderer *renderer = find_renderer(format, error);
    if (!renderer)
        return PYRO_ERROR_ARGUMENT;
    if (!diagnosis || !pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the diagnosis or the writer is missing");
    PYRO_TRY(pyro_report_options_read(options, &own, error));
    pyro_output_init(&output, writer, diagnosis->arena.allocator);
    renderer->report(&output, diagnosis, &own, 0, false);
    return pyro_output_done(&output, error);
}

struct pyro_reports {
    const struct pyro_renderer *renderer;
    struct pyro_report_options options;
    struct pyro_writer writer;
    struct pyro_output output;
    struct pyro_arena arena; /* paths and reasons */
    PYRO_VEC(struct pyro_slice) paths;
    PYRO_VEC(struct pyro_slice) reasons;
    size_t count;
    bool finished;
};

enum pyro_status pyro_reports_open(enum pyro_format format, const struct pyro_report_options *options,
                                   const struct pyro_writer *writer, pyro_reports **ret, struct pyro_error *error)
{
    struct pyro_report_options own;
    pyro_error_clear(error);
    const struct pyro_renderer *renderer = find_renderer(format, error);
    if (!renderer)
        return PYRO_ERROR_ARGUMENT;
    if (!pyro_can_write(writer) || !ret)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the writer is missing");
    PYRO_TRY(pyro_report_options_read(options, &own, error));
    pyro_reports *reports = pyro_allocate(NULL, sizeof(*reports));
    if (!reports)
        return pyro_no_memory(error);
    *reports = (pyro_reports){.renderer = renderer, .options = own, .writer = *writer};
    pyro_output_init(&reports->output, &reports->writer, NULL);
    pyro_arena_init(&reports->arena, NULL);
    if (renderer->begin_many)
        renderer->begin_many(&reports->output, &reports->options);
    *ret = reports;
    return PYRO_OK;
}

/* What went wrong so far; the first failure stays. */
static enum pyro_status reports_status(pyro_reports *reports, struct pyro_error *error)
{
    pyro_output_flush(&reports->output, true);
    switch (reports->output.status) {
    case PYRO_OK:
        return PYRO_OK;
    case PYRO_ERROR_MEMORY:
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left to write the reports");
    default:
        return pyro_error_set(error, reports->output.status, "the output could not be written");
    }
}

enum pyro_status pyro_reports_add(pyro_reports *reports, const pyro_diagnosis *diagnosis, struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!reports || !diagnosis || reports->finished)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the open reports or the diagnosis is missing");
    reports->renderer->report(&reports->output, diagnosis, &reports->options, reports->count++, true);
    return reports_status(reports, error);
}

enum pyro_status pyro_reports_add_unreadable(pyro_reports *reports, const char *path, const char *reason,
                                             struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!reports || !path || !reason || reports->finished)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the open reports, the path or the reason is missing");
    struct pyro_slice path_copy = pyro_arena_copy(&reports->arena, pyro_slice_from(path));
    struct pyro_slice reason_copy = pyro_arena_copy(&reports->arena, pyro_slice_from(reason));
    if (!path_copy.ptr || !reason_copy.ptr || !pyro_vec_reserve(&reports->paths, 1, NULL) ||
        !pyro_vec_reserve(&reports->reasons, 1, NULL))
        return pyro_no_memory(error);
    reports->paths.items[reports->paths.count++] = path_copy;
    reports->reasons.items[reports->reasons.count++] = reason_copy;
    return PYRO_OK;
}

enum pyro_status pyro_reports_finish(pyro_reports *reports, struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!reports || reports->finished)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the open reports are missing");
    reports->finished = true;
    reports->renderer->end_many(&reports->output, reports->paths.items, reports->reasons.items, reports->paths.count);
    return reports_status(reports, error);
}

void pyro_reports_free(pyro_reports *reports)
{
    if (!reports)
        return;
    pyro_strbuf_done(&reports->output.buffer);
    pyro_vec_done(&reports->paths, NULL);
    pyro_vec_done(&reports->reasons, NULL);
    pyro_arena_done(&reports->arena);
    pyro_release(NULL, reports);
}
