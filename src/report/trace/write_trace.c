/* pyro_trace_write(): what traces say, from the tracks of an application or of files alone. */
#include "load/load.h"
#include "report/shared/draw.h"
#include "report/trace/trace.h"

static enum pyro_status find_tracks(const pyro_inputs *inputs, const pyro_diagnosis *diagnosis,
                                    const struct pyro_allocator *allocator, struct pyro_tracks **ret_own,
                                    const struct pyro_tracks **ret, struct pyro_error *error)
{
    *ret = diagnosis ? diagnosis->app->tracks : NULL;
    if (!diagnosis && inputs && pyro_inputs_artefact_count(inputs) > 0) {
        PYRO_TRY(pyro_inputs_tracks(inputs, allocator, ret_own, error));
        *ret = *ret_own;
    }
    for (size_t i = 0; *ret && i < pyro_tracks_count(*ret, PYRO_TRACK_ARTEFACTS); i++)
        if (pyro_slice_is(pyro_tracks_artefact(*ret, i)->kind, "ctf") ||
            pyro_slice_is(pyro_tracks_artefact(*ret, i)->kind, "task-threads"))
            return PYRO_OK;
    return pyro_error_set(error, PYRO_ERROR_INPUT,
                          "there is no trace%s: a trace is a folder with a file 'metadata' (Common Trace Format); of "
                          "perf.data make one with 'perf data convert --to-ctf=FOLDER'",
                          diagnosis ? " that belongs to this application" : " at any of the paths");
}

enum pyro_status pyro_trace_write(const pyro_inputs *inputs, const pyro_diagnosis *diagnosis,
                                  const struct pyro_report_options *wanted, enum pyro_format format,
                                  const struct pyro_options *options, const struct pyro_writer *writer,
                                  struct pyro_error *error)
{
    struct pyro_options resolved;
    struct pyro_report_options report;
    struct pyro_tracks *own = NULL;
    const struct pyro_tracks *tracks = NULL;
    struct pyro_trace_report trace;
    struct pyro_output output;
    struct pyro_arena arena;
    pyro_error_clear(error);
    if ((!inputs && !diagnosis) || !pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the inputs or the writer is missing");
    if (format != PYRO_FORMAT_TEXT && format != PYRO_FORMAT_JSON)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "traces are written as text or json");
    PYRO_TRY(pyro_options_resolve(options, &resolved, error));
    PYRO_TRY(pyro_report_options_read(wanted, &report, error));
    enum pyro_status status = find_tracks(inputs, diagnosis, resolved.allocator, &own, &tracks, error);
    if (status != PYRO_OK) {
        pyro_tracks_free(own);
        return status;
    }
    pyro_arena_init(&arena, resolved.allocator);
    if (pyro_trace_gather(tracks, diagnosis, &arena, &trace)) {
        pyro_output_init(&output, writer, resolved.allocator);
        if (format == PYRO_FORMAT_JSON)
            pyro_trace_json(&output, &trace);
        else
            pyro_trace_text(&output, &trace, &report);
        status = pyro_output_done(&output, error);
    } else {
        status = pyro_no_memory(error);
    }
    pyro_arena_done(&arena);
    pyro_tracks_free(own);
    return status;
}
