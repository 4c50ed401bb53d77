#include "source/progress.h"

#include <sys/stat.h>
#include <time.h>

uint64_t pyro_progress_start(struct pyro_progress_meter *meter, const struct pyro_load_settings *options,
                             const struct pyro_log *log)
{
    uint64_t total = 0;
    for (size_t i = 0; i < log->part_count; i++) {
        struct stat file;
        if (log->parts[i].member.ptr || stat(log->parts[i].path.ptr, &file) != 0 || !S_ISREG(file.st_mode)) {
            total = 0;
            break;
        }
        total += (uint64_t)file.st_size;
    }
    *meter = (struct pyro_progress_meter){.options = options, .progress.size = sizeof(meter->progress)};
    meter->progress.path = log->path.ptr;
    meter->progress.bytes_total = total;
    return total;
}

enum pyro_status pyro_progress_report(struct pyro_progress_meter *meter, uint64_t bytes_done, struct pyro_error *error)
{
    if (!meter->options->progress)
        return PYRO_OK;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    if (now_ns - meter->last_ns < 20000000u)
        return PYRO_OK;
    meter->last_ns = now_ns;
    meter->progress.bytes_done = bytes_done;
    if (meter->options->progress(meter->options->progress_context, &meter->progress) != 0)
        return pyro_error_set(error, PYRO_ERROR_CANCELLED, "cancelled");
    return PYRO_OK;
}
