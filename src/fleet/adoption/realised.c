/* What following a piece of advice saved. */
#include <math.h>

#include "base/numbers/order.h"
#include "fleet/adoption/adoption.h"

#define SLOW_PERCENT 95

const char *pyro_realised_verdict_name(enum pyro_realised_verdict verdict)
{
    static const char *const names[] = {
        [PYRO_REALISED_TOO_FEW] = "too_few_runs",
        [PYRO_REALISED_UNCLEAR] = "unclear",
        [PYRO_REALISED_YES] = "realised",
        [PYRO_REALISED_HARMFUL] = "harmful",
    };
    return names[verdict];
}

static bool is_timed(const struct pyro_adoption_run *run)
{
    return run->completed && run->duration_ms > 0 && isfinite(run->duration_ms);
}

/* One number of the runs of a window, as logarithms, and their inputs. */
struct window {
    double x[PYRO_ADOPTION_WINDOW], y[PYRO_ADOPTION_WINDOW], core[PYRO_ADOPTION_WINDOW];
    size_t count, core_count;
    size_t from, to; /* the runs it spans, failed ones included */
};

static void window_add(struct window *window, const struct pyro_adoption_run *run)
{
    double x = isnan(run->input_bytes) ? pyro_log_input(0) : pyro_log_input(run->input_bytes);
    window->x[window->count] = x;
    window->y[window->count++] = pyro_log_duration(run->duration_ms);
    window->core_count += run->core_ms > 0 && isfinite(run->core_ms);
    window->core[window->count - 1] = pyro_log_duration(isfinite(run->core_ms) ? run->core_ms : 0);
}

static void fill_windows(const struct pyro_adoption_run *runs, size_t first, size_t end, struct window *before,
                         struct window *after)
{
    before->from = before->to = after->from = first;
    for (size_t i = first; i-- > 0 && before->count < PYRO_ADOPTION_WINDOW;) {
        if (is_timed(&runs[i]))
            window_add(before, &runs[i]);
        before->from = i;
    }
    after->to = first;
    for (size_t i = first; i < end && after->count < PYRO_ADOPTION_WINDOW; i++) {
        if (is_timed(&runs[i]))
            window_add(after, &runs[i]);
        after->to = i + 1;
    }
}

/* The shift of one number between the windows, without what input explains. The adjusted values replace `y`. */
static bool shift_of(const struct window *before, const struct window *after, double *y_before, double *y_after,
                     struct pyro_arena *scratch, double *ret_slope, struct pyro_shift *ret)
{
    double reference = 0;
    if (!pyro_input_slope(before->x, y_before, before->count, scratch, ret_slope) ||
        !pyro_middle(after->x, after->count, scratch, &reference))
        return false;
    for (size_t i = 0; i < before->count; i++)
        y_before[i] -= *ret_slope * (before->x[i] - reference);
    for (size_t i = 0; i < after->count; i++)
        y_after[i] -= *ret_slope * (after->x[i] - reference);
    return pyro_shift_of(y_before, before->count, y_after, after->count, scratch, ret);
}

static struct pyro_realised_share share_of(double hits, double count)
{
    struct pyro_realised_share share = {.share = count > 0 ? hits / count : (double)NAN};
    pyro_share_interval(hits, count, &share.low, &share.high);
    return share;
}

static struct pyro_realised_share failed_share(const struct pyro_adoption_run *runs, const struct window *window)
{
    size_t failed = 0;
    for (size_t i = window->from; i < window->to; i++)
        failed += !runs[i].completed;
    return share_of((double)failed, (double)(window->to - window->from));
}

static struct pyro_realised_share slow_share(const struct window *window, double limit)
{
    size_t slow = 0;
    for (size_t i = 0; i < window->count; i++)
        slow += window->y[i] > limit;
    return share_of((double)slow, (double)window->count);
}

static enum pyro_realised_verdict judge(const struct pyro_realised *realised)
{
    if (realised->before < PYRO_ADOPTION_LEAST || realised->after < PYRO_ADOPTION_LEAST)
        return PYRO_REALISED_TOO_FEW;
    if (realised->shift.low > 0)
        return PYRO_REALISED_YES;
    return realised->shift.high < 0 ? PYRO_REALISED_HARMFUL : PYRO_REALISED_UNCLEAR;
}

/* Sums of what the later runs took, and would have taken. */
static void sum_up(const struct pyro_adoption_run *runs, size_t first, size_t end, struct pyro_realised *realised)
{
    double duration_ms = 0, core_ms = 0;
    for (size_t i = first; i < end; i++) {
        if (!is_timed(&runs[i]))
            continue;
        realised->later++;
        duration_ms += runs[i].duration_ms;
        core_ms += isfinite(runs[i].core_ms) ? runs[i].core_ms : 0;
    }
    realised->saved_ms = duration_ms * expm1(realised->shift.shift);
    realised->saved_low_ms = duration_ms * expm1(realised->shift.low);
    realised->saved_high_ms = duration_ms * expm1(realised->shift.high);
    realised->saved_core_ms = core_ms * expm1(realised->core_shift.shift);
    realised->saved_core_low_ms = core_ms * expm1(realised->core_shift.low);
    realised->saved_core_high_ms = core_ms * expm1(realised->core_shift.high);
}

bool pyro_realised_saving(const struct pyro_adoption_run *runs, size_t first, size_t end, struct pyro_arena *scratch,
                          struct pyro_realised *ret)
{
    struct window before = {0}, after = {0};
    struct pyro_realised realised = {.core_shift = {NAN, NAN, NAN, 0}};
    double core_slope = 0;
    fill_windows(runs, first, end, &before, &after);
    realised.before = before.count;
    realised.after = after.count;
    if (!shift_of(&before, &after, before.y, after.y, scratch, &realised.slope, &realised.shift))
        return false;
    /* Core time is known of all runs or left out: a window of some would compare others. */
    if (before.core_count == before.count && after.core_count == after.count &&
        !shift_of(&before, &after, before.core, after.core, scratch, &core_slope, &realised.core_shift))
        return false;
    sum_up(runs, first, end, &realised);
    realised.failed_before = failed_share(runs, &before);
    realised.failed_after = failed_share(runs, &after);
    double sorted[PYRO_ADOPTION_WINDOW];
    memcpy(sorted, before.y, sizeof(sorted));
    pyro_sort_reals(sorted, before.count);
    double limit = pyro_sorted_percentile(sorted, before.count, SLOW_PERCENT);
    realised.slow_ms = exp(limit);
    realised.slow_before = slow_share(&before, limit);
    realised.slow_after = slow_share(&after, limit);
    realised.verdict = judge(&realised);
    *ret = realised;
    return true;
}
