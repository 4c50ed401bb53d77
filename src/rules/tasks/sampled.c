#include "rules/tasks/sampled.h"

#include <math.h>

#include "analyze/app_facts.h"
#include "model/app.h"
#include "model/tracks/tracks.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

#define Z_95      1.959964
#define NS_PER_MS 1e6

/* How much of the tasks' time the samples of a clock stand for. */
static double covered(const struct pyro_stage *stage, enum pyro_sample_clock clock)
{
    double run = pyro_real(stage->run_ms);
    if (clock != PYRO_CLOCK_CPU)
        return 1;
    return run > 0 ? fmin(pyro_real(stage->cpu_ms) / run, 1) : 0;
}

struct pyro_sampled_share pyro_sampled_share(const struct pyro_app *app, const struct pyro_stage_samples *samples,
                                             size_t stage, enum pyro_sample_clock clock, double weight)
{
    const struct pyro_stage_sampled *sampled = &samples->stages[stage];
    struct pyro_sampled_share ret = {.count = (double)sampled->count[clock]};
    double n = ret.count, whole = (double)sampled->weight[clock];
    if (clock == PYRO_CLOCK_WAIT) {
        ret.share = sampled->profiled_ms > 0 ? fmin(weight / NS_PER_MS / sampled->profiled_ms, 1) : 0;
        ret.low = ret.high = ret.share;
        return ret;
    }
    if (n < 1 || whole <= 0)
        return ret;
    double p = fmin(weight / whole, 1), z2 = Z_95 * Z_95, part = covered(&app->stages.items[stage], clock);
    double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
    double half = Z_95 * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
    ret.share = part * p;
    ret.low = part * fmax(middle - half, 0);
    ret.high = part * fmin(middle + half, 1);
    return ret;
}

void pyro_sampled_evidence(struct pyro_rule_context *context, struct pyro_finding *finding, const char *name,
                           const struct pyro_sampled_share *share)
{
    pyro_finding_evidence(context, finding, name, share->share, (double)NAN, "share");
    pyro_finding_evidence(context, finding, "share_low", share->low, (double)NAN, "share");
    pyro_finding_evidence(context, finding, "share_high", share->high, (double)NAN, "share");
    pyro_finding_evidence(context, finding, "samples", share->count, (double)NAN, "count");
}

const char *pyro_sampled_basis(struct pyro_rule_context *context, const struct pyro_sampled_share *share,
                               enum pyro_sample_clock clock)
{
    struct pyro_slice text = clock == PYRO_CLOCK_WAIT ? pyro_say(context, "%.0f recorded waits", share->count)
                                                      : pyro_say(context, "%.0f samples, %.0f to %.0f %%", share->count,
                                                                 100 * share->low, 100 * share->high);
    return text.ptr ? text.ptr : "";
}

static struct pyro_slice file_name(struct pyro_slice path)
{
    size_t at = path.len;
    while (at > 0 && path.ptr[at - 1] != '/')
        at--;
    return (struct pyro_slice){path.ptr + at, path.len - at};
}

const char *pyro_say_method(struct pyro_rule_context *context, int32_t frame)
{
    if (frame < 0)
        return "";
    const struct pyro_frame_row *row = pyro_tracks_frame(context->app->tracks, (size_t)frame);
    const char *function = pyro_say_text(context, row->function, 120);
    if (!row->file.ptr)
        return function;
    struct pyro_slice text = pyro_say(context, "%s (%s)", function, pyro_say_text(context, file_name(row->file), 60));
    return text.ptr ? text.ptr : "";
}

double pyro_sampled_ms(const struct pyro_app *app, size_t stage, double share)
{
    const struct pyro_stage *row = &app->stages.items[stage];
    double spread = fmax(fmin(pyro_stage_slots(app, row), pyro_real(row->partitions)), 1);
    return share * pyro_real(row->run_ms) / spread;
}

enum { SHARE, LOW, HIGH, COUNT };
_Static_assert(COUNT + 1 == PYRO_SAMPLED_VALUES, "values of a spot");

struct pyro_spot *pyro_sampled_add(struct pyro_rule_context *context, struct pyro_spots *spots, size_t stage,
                                   const struct pyro_sampled_share *share)
{
    struct pyro_spot *spot = pyro_spots_add(context, spots, stage);
    if (!spot)
        return NULL;
    spot->weight = pyro_sampled_ms(context->app, stage, share->share);
    spot->value[SHARE] = share->share;
    spot->value[LOW] = share->low;
    spot->value[HIGH] = share->high;
    spot->value[COUNT] = share->count;
    return spot;
}

struct pyro_sampled_share pyro_sampled_share_of(const struct pyro_spot *spot)
{
    return (struct pyro_sampled_share){spot->value[SHARE], spot->value[LOW], spot->value[HIGH], spot->value[COUNT]};
}

void pyro_sampled_remedy(struct pyro_rule_context *context, struct pyro_finding *finding,
                         const struct pyro_spots *spots, size_t first, size_t end, double part)
{
    for (size_t i = first; i < end; i++) {
        const struct pyro_spot *spot = &spots->list.items[i];
        pyro_remedy_stage(context, finding, spot->stage, 1 - part * spot->value[SHARE]);
    }
}

enum pyro_verdict pyro_sampled_evaluate(struct pyro_rule_context *context, double share,
                                        void (*examine)(struct pyro_rule_context *context, struct pyro_spots *spots,
                                                        size_t stage),
                                        void (*report)(struct pyro_rule_context *context,
                                                       const struct pyro_spots *spots, size_t first, size_t end))
{
    struct pyro_spots spots = {0};
    if (!context->samples->stages)
        return PYRO_VERDICT_NOT_APPLICABLE;
    for (size_t i = 0; i < context->app->stages.count && !context->failed; i++)
        if (context->samples->stages[i].method_count > 0)
            examine(context, &spots, i);
    return pyro_spots_report(context, &spots, share, report) ? PYRO_VERDICT_FINDING : PYRO_VERDICT_QUIET;
}
