#include "base/threads/cpu_meter.h"

#include <time.h>

uint64_t pyro_cpu_now(void)
{
    struct timespec used;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0)
        return 0;
    return (uint64_t)used.tv_sec * 1000000 + (uint64_t)used.tv_nsec / 1000;
}

bool pyro_cpu_charge(struct pyro_cpu_meter *meter, uint64_t *stamp)
{
    if (!meter)
        return true;
    uint64_t now = pyro_cpu_now(), taken = now > *stamp ? now - *stamp : 0;
    *stamp = now;
    uint64_t used = atomic_fetch_add_explicit(&meter->used_us, taken, memory_order_relaxed) + taken;
    return !meter->most_us || used <= meter->most_us;
}

bool pyro_cpu_is_spent(const struct pyro_cpu_meter *meter)
{
    return meter && meter->most_us && atomic_load_explicit(&meter->used_us, memory_order_relaxed) > meter->most_us;
}

enum pyro_status pyro_cpu_exceeded(const struct pyro_cpu_meter *meter, struct pyro_error *error)
{
    pyro_error_describe(error, PYRO_ERROR_INPUT,
                        "reading it takes more than %llu s of CPU time, the maximum for an upload (--upload-cpu)",
                        (unsigned long long)(meter->most_us / 1000000));
    return pyro_error_lasts(error, PYRO_ERROR_INPUT);
}
