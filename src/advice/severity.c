/* Severities, and the order of findings. */
#include <math.h>
#include <string.h>

#include "advice/advice.h"
#include "analyze/app_facts.h"

/* Borders of the contract: a quarter, a tenth and 3 % of wall or core time. */
static const double share_borders[] = {0.25, 0.10, 0.03};
/* failure_risk: 0.9 the application failed because of it; 0.5 failure is near; 0.2 a real risk. The same for harm. */
static const double risk_borders[] = {PYRO_FAILED_RISK, 0.5, 0.2};

static enum pyro_severity rank(double value, const double *borders)
{
    /* A share of 0.0999999 that came from integers that were rounded is a tenth. */
    const double slack = 1e-9;
    if (value >= borders[0] - slack)
        return PYRO_SEVERITY_CRITICAL;
    if (value >= borders[1] - slack)
        return PYRO_SEVERITY_SEVERE;
    return value >= borders[2] - slack ? PYRO_SEVERITY_MODERATE : PYRO_SEVERITY_LOW;
}

/* What counts: the fault costs that much, and that much of it can be had back, as far as both are known. */
static double that_counts(int64_t cost, double saved, const struct pyro_finding *finding)
{
    if (cost == PYRO_NONE)
        return saved;
    return finding->saves.basis == PYRO_BASIS_NONE ? pyro_real(cost) : fmin(pyro_real(cost), saved);
}

/* Of wall or of core time, whichever is the larger share. */
static double share_of(const struct pyro_app *app, const struct pyro_finding *finding)
{
    double wall = pyro_app_wall(app), core = pyro_real(app->numbers.core_total_ms);
    double saved = pyro_real(finding->saves.core_ms);
    if (finding->frees_slots)
        saved = fmax(saved, pyro_real(finding->saves.busy_ms));
    double wall_ms = that_counts(finding->full_costs.wall_ms, pyro_real(finding->saves.wall_expected_ms), finding),
           core_ms = that_counts(finding->full_costs.core_ms, saved, finding);
    return fmax(wall > 0 ? wall_ms / wall : 0, core > 0 ? core_ms / core : 0);
}

static enum pyro_severity severity_of(const struct pyro_finding *finding, double share)
{
    enum pyro_severity time = rank(share, share_borders);
    enum pyro_severity risk = rank(fmax(finding->failure_risk, finding->harm), risk_borders);
    return time > risk ? time : risk;
}

enum pyro_severity pyro_finding_severity(const struct pyro_app *app, const struct pyro_finding *finding)
{
    return severity_of(finding, share_of(app, finding));
}

bool pyro_finding_matters_in_part(const struct pyro_app *app, const struct pyro_finding *finding)
{
    return severity_of(finding, share_of(app, finding) / 2) > PYRO_SEVERITY_LOW;
}

static int compare_int(int64_t a, int64_t b)
{
    return a < b ? 1 : a > b ? -1 : 0; /* larger first */
}

int pyro_finding_compare(const void *left, const void *right)
{
    const struct pyro_finding *a = left, *b = right;
    int order = compare_int(a->saves.wall_expected_ms, b->saves.wall_expected_ms);
    if (!order)
        order = compare_int(a->saves.core_ms, b->saves.core_ms);
    if (!order)
        order = compare_int(a->severity, b->severity);
    if (!order)
        order = strcmp(a->rule->id, b->rule->id);
    if (!order)
        order = pyro_slice_compare(a->id, b->id);
    return order ? order : compare_int(b->stage, a->stage);
}
