/* What a predicted run allocates: cores x time. */
#include <math.h>

#include "fleet/statistics/statistics.h"
#include "fleet/suggest/suggest.h"

static double slots_of(const struct pyro_suggest_run *run)
{
    return run->executors * run->cores;
}

double pyro_core_time_predict(const struct pyro_core_time *core_time, double slots, double wall_ms)
{
    if (!core_time->fixed)
        return slots * wall_ms * core_time->share;
    return slots * fmax(wall_ms - core_time->without_ms, wall_ms * core_time->least);
}

/* The median of |predicted - observed| / observed. */
static bool error_of(const struct pyro_core_time *core_time, const struct pyro_suggest_history *history,
                     double *scratch, struct pyro_arena *arena, double *ret)
{
    size_t count = 0;
    for (size_t i = 0; i < history->count; i++) {
        const struct pyro_suggest_run *run = history->runs[i];
        double error = fabs(pyro_core_time_predict(core_time, slots_of(run), run->duration_ms) / run->core_ms - 1);
        if (isfinite(error))
            scratch[count++] = error;
    }
    return pyro_middle(scratch, count, arena, ret);
}

bool pyro_core_time_fit(const struct pyro_suggest_history *history, struct pyro_arena *arena,
                        struct pyro_core_time *ret)
{
    double *shares = pyro_arena_array(arena, history->count + 1, sizeof(*shares));
    double *without = pyro_arena_array(arena, history->count + 1, sizeof(*without));
    struct pyro_core_time with_share = {.share = 1}, with_time = {.fixed = true, .least = INFINITY};
    double share_error = 0, time_error = 0;
    size_t count = 0;
    if (!shares || !without)
        return false;
    for (size_t i = 0; i < history->count; i++) {
        const struct pyro_suggest_run *run = history->runs[i];
        double held = run->core_ms / slots_of(run);
        if (held > 0 && isfinite(held) && run->duration_ms > 0) {
            without[count] = fmax(run->duration_ms - held, 0);
            shares[count] = held / run->duration_ms;
            with_time.least = fmin(with_time.least, shares[count++]);
        }
    }
    *ret = with_share;
    if (count == 0)
        return true;
    if (!pyro_middle(shares, count, arena, &with_share.share) ||
        !pyro_middle(without, count, arena, &with_time.without_ms) ||
        !error_of(&with_share, history, shares, arena, &share_error) ||
        !error_of(&with_time, history, shares, arena, &time_error))
        return false;
    *ret = time_error < share_error ? with_time : with_share;
    return true;
}
