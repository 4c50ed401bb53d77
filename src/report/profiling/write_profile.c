/* pyro_profiling_write(): what was recorded of a run, from the tracks of its application or of files alone. */
#include "decode/logs/timeline/timeline.h"
#include "load/load.h"
#include "report/profiling/profiling.h"
#include "report/shared/draw.h"

struct writing {
    struct pyro_profiling_options asked;
    struct pyro_report_options report;
    struct pyro_options options;
    enum pyro_format format;
};

static enum pyro_status take(struct writing *writing, const struct pyro_profiling_options *asked,
                             const struct pyro_options *options, struct pyro_error *error)
{
    writing->asked = (struct pyro_profiling_options){.size = sizeof(writing->asked)};
    PYRO_TRY(PYRO_TAKE(&writing->asked, asked, error));
    PYRO_TRY(pyro_options_resolve(options, &writing->options, error));
    PYRO_TRY(pyro_report_options_read(writing->asked.report, &writing->report, error));
    if ((writing->asked.metric_count && !writing->asked.metrics) ||
        (writing->asked.ignored_count && !writing->asked.ignored))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the names of series are missing");
    if (writing->format != PYRO_FORMAT_TEXT && writing->format != PYRO_FORMAT_JSON &&
        writing->format != PYRO_FORMAT_HTML)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "profiles are written as text, json or html");
    return PYRO_OK;
}

static enum pyro_status write_profile(const struct writing *writing, const struct pyro_tracks *tracks,
                                      const pyro_diagnosis *diagnosis, const struct pyro_line_timeline *timeline,
                                      const struct pyro_line_result *lines, const struct pyro_writer *writer,
                                      struct pyro_arena *arena, struct pyro_error *error)
{
    const struct pyro_profiling_choice choice = {.timeline = timeline,
                                                 .lines = timeline ? lines : NULL,
                                                 .metrics = writing->asked.metrics,
                                                 .metric_count = writing->asked.metric_count,
                                                 .ignored = writing->asked.ignored,
                                                 .ignored_count = writing->asked.ignored_count,
                                                 .process = pyro_slice_from(writing->asked.process),
                                                 .normalize = writing->asked.normalize != 0,
                                                 .samples = {
                                                     .by_task = (writing->asked.filters & PYRO_FLAME_BY_TASK) != 0,
                                                     .by_stage = (writing->asked.filters & PYRO_FLAME_BY_STAGE) != 0,
                                                     .task = writing->asked.task,
                                                     .stage = writing->asked.stage,
                                                 }};
    struct pyro_profiling profile;
    struct pyro_output output;
    PYRO_TRY(pyro_profiling_gather(tracks, diagnosis, &choice, arena, &profile, error));
    pyro_output_init(&output, writer, writing->options.allocator);
    if (writing->format == PYRO_FORMAT_TEXT)
        pyro_profiling_text(&output, &profile, &writing->report);
    else if (!(writing->format == PYRO_FORMAT_JSON ? pyro_profiling_json : pyro_profiling_html)(&output, &profile,
                                                                                                arena))
        output.buffer.failed = true;
    return pyro_output_done(&output, error);
}

static enum pyro_status find_tracks(const struct writing *writing, const pyro_inputs *inputs,
                                    const pyro_diagnosis *diagnosis, struct pyro_tracks **ret_own,
                                    const struct pyro_tracks **ret, struct pyro_error *error)
{
    *ret = diagnosis ? diagnosis->app->tracks : NULL;
    if (!diagnosis && inputs && pyro_inputs_artefact_count(inputs) > 0) {
        PYRO_TRY(pyro_inputs_tracks(inputs, writing->options.allocator, ret_own, error));
        *ret = *ret_own;
    }
    if (*ret && pyro_tracks_count(*ret, PYRO_TRACK_ARTEFACTS) > 0)
        return PYRO_OK;
    return pyro_error_set(error, PYRO_ERROR_INPUT,
                          "there is no record of a profiler, no log of a garbage collector and no text log%s",
                          diagnosis ? " that belongs to this application" : " at any of the paths");
}

enum pyro_status pyro_profiling_write(const pyro_inputs *inputs, const pyro_diagnosis *diagnosis,
                                      const struct pyro_profiling_options *wanted, enum pyro_format format,
                                      const struct pyro_options *options, const struct pyro_writer *writer,
                                      struct pyro_error *error)
{
    struct writing writing = {.format = format};
    const struct pyro_tracks *tracks = NULL;
    struct pyro_tracks *own = NULL;
    struct pyro_arena arena;
    pyro_error_clear(error);
    if ((!inputs && !diagnosis) || !pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the inputs or the writer is missing");
    PYRO_TRY(take(&writing, wanted, options, error));
    PYRO_TRY(find_tracks(&writing, inputs, diagnosis, &own, &tracks, error));
    pyro_arena_init(&arena, writing.options.allocator);
    const struct pyro_line_filter all = {.stage = PYRO_NONE};
    struct pyro_line_timeline *timeline = NULL;
    struct pyro_line_result lines = {0};
    enum pyro_status status = own ? pyro_inputs_line_timeline(inputs, &writing.options, &timeline, error) : PYRO_OK;
    if (status == PYRO_OK && timeline)
        status = pyro_line_timeline_finish(timeline, &all, &lines, error);
    if (status == PYRO_OK)
        status = write_profile(&writing, tracks, diagnosis, timeline, &lines, writer, &arena, error);
    pyro_line_timeline_free(timeline);
    pyro_arena_done(&arena);
    pyro_tracks_free(own);
    return status;
}
