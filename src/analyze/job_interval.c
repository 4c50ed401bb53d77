#include "analyze/job_interval.h"

#include "analyze/accounts/split.h"

void pyro_job_interval(const struct pyro_app *app, const struct pyro_index *stages, const struct pyro_job *job,
                       int64_t *begin, int64_t *end)
{
    struct pyro_window window = pyro_app_window(app);
    bool ended = job->status.ptr && !pyro_slice_is(job->status, "running");
    int64_t first = INT64_MAX, last = INT64_MIN;
    bool look = job->submitted_ms == PYRO_NONE || (job->completed_ms == PYRO_NONE && ended);
    for (uint32_t s = 0; look && s < job->stage_id_count; s++) {
        size_t entry, count = pyro_index_find(stages, job->stage_ids[s], &entry);
        for (size_t i = entry; i < entry + count; i++) {
            uint64_t from, to;
            if (!pyro_stage_interval(&window, &app->stages.items[stages->entries[i].row], &from, &to))
                continue;
            int64_t start = (int64_t)((uint64_t)window.start + from), stop = (int64_t)((uint64_t)window.start + to);
            first = start < first ? start : first;
            last = stop > last ? stop : last;
        }
    }
    *begin = job->submitted_ms != PYRO_NONE ? job->submitted_ms : first != INT64_MAX ? first : window.start;
    *end = job->completed_ms != PYRO_NONE ? job->completed_ms : ended && last != INT64_MIN ? last : window.end;
    if (*end < *begin)
        *end = *begin;
}
