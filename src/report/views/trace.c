/* pyrometer.trace/1 of an application. Without traces its lists are empty. */
#include "report/trace/trace.h"
#include "report/views/views.h"

enum pyro_status pyro_view_trace(struct pyro_json_writer *json, const struct pyro_view_request *request,
                                 struct pyro_error *error)
{
    struct pyro_tracks *none = request->app->tracks ? NULL : pyro_tracks_new(request->app->allocator);
    const struct pyro_tracks *tracks = none ? none : request->app->tracks;
    struct pyro_trace_report trace;
    bool ok = tracks && (!none || pyro_tracks_seal(none)) &&
              pyro_trace_gather(tracks, request->diagnosis, request->arena, &trace);
    if (ok)
        pyro_trace_value(json, &trace);
    pyro_tracks_free(none);
    return ok ? PYRO_OK : pyro_view_no_memory(error);
}
