/* What each fault costs: docs/severity.md#costs.
 *
 * The run is cut where something begins or ends that a finding is about. A finding costs time evenly in the intervals
 * of its stages, and in those of the driver's time that its fix would shorten; at most all of them. Where several
 * findings together cost more than an interval has, each has its part. */
#include "advice/fault_costs.h"

#include <math.h>
#include <string.h>

#include "analyze/accounts/marks.h"
#include "analyze/app_facts.h"
#include "analyze/scratch.h"

enum { BORDER, EXECUTOR_START, EXECUTOR_END };

/* Times of one measure: of the wall clock, or of cores. */
enum { WALL, CORE, MEASURES };

struct interval {
    double time[MEASURES];    /* that there is */
    double claimed[MEASURES]; /* that all findings together would cost */
};

struct costing {
    const struct pyro_app *app;
    struct pyro_window window;
    struct interval *intervals;
    size_t count;
    uint64_t *borders; /* count + 1 */
    int32_t *depth;    /* count + 1: of one finding, stages that begin less those that end at each border */
};

static size_t place_of(const struct costing *costing, uint64_t at)
{
    size_t low = 0, high = costing->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (costing->borders[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of an edit of what happened between two times, not of tasks. */
static bool edited_interval(const struct costing *costing, const struct pyro_edit *edit, uint64_t *from, uint64_t *to)
{
    switch (edit->kind) {
    case PYRO_EDIT_DRIVER:
    case PYRO_EDIT_ALONE:
    case PYRO_EDIT_EXECUTORS:
    case PYRO_EDIT_CONCURRENT:
        *from = pyro_window_at(&costing->window, edit->from_ms);
        *to = pyro_window_at(&costing->window, edit->to_ms);
        return *from < *to;
    default:
        return false;
    }
}

static bool mark_all(const struct costing *costing, const struct pyro_finding *findings, size_t count,
                     struct pyro_marks *marks)
{
    uint64_t from, to;
    pyro_marks_add(marks, 0, BORDER, 0);
    pyro_marks_add(marks, costing->window.length, BORDER, 0);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < findings[i].edit_count; k++)
            if (edited_interval(costing, &findings[i].edits[k], &from, &to)) {
                pyro_marks_add(marks, from, BORDER, i);
                pyro_marks_add(marks, to, BORDER, i);
            }
    for (size_t i = 0; i < costing->app->stages.count; i++) {
        if (!pyro_stage_interval(&costing->window, &costing->app->stages.items[i], &from, &to))
            continue;
        pyro_marks_add(marks, from, BORDER, i);
        pyro_marks_add(marks, to, BORDER, i);
    }
    for (size_t i = 0; i < costing->app->executors.count; i++) {
        pyro_executor_interval(&costing->window, &costing->app->executors.items[i], &from, &to);
        pyro_marks_add(marks, from, EXECUTOR_START, i);
        pyro_marks_add(marks, to, EXECUTOR_END, i);
    }
    return pyro_marks_finish(marks);
}

static bool cut(struct costing *costing, const struct pyro_finding *findings, size_t count)
{
    const struct pyro_app *app = costing->app;
    struct pyro_marks marks;
    pyro_marks_init(&marks, app->allocator, 2 * (app->stages.count + app->executors.count + 1));
    bool marked = mark_all(costing, findings, count, &marks);
    size_t most = marks.list.count;
    costing->intervals = pyro_scratch(app, most, sizeof(*costing->intervals));
    costing->borders = pyro_scratch(app, most, sizeof(*costing->borders));
    costing->depth = pyro_scratch(app, most, sizeof(*costing->depth));
    bool made = marked && costing->intervals && costing->borders && costing->depth;
    uint64_t now = 0, cores = 0;
    for (size_t i = 0; i < most && made; i++) {
        const struct pyro_mark *mark = &marks.list.items[i];
        if (mark->at > now) {
            costing->borders[costing->count] = now;
            costing->intervals[costing->count].time[WALL] = (double)(mark->at - now);
            costing->intervals[costing->count++].time[CORE] = (double)(mark->at - now) * (double)cores;
            now = mark->at;
        }
        if (mark->kind == EXECUTOR_START)
            cores += pyro_executor_cores(&app->executors.items[mark->row]);
        else if (mark->kind == EXECUTOR_END)
            cores -= pyro_executor_cores(&app->executors.items[mark->row]);
    }
    if (made)
        costing->borders[costing->count] = now;
    pyro_marks_done(&marks);
    return made;
}

/* ---- one finding ---- */

/* In `depth`: the intervals that it is about; all of them where it names none. */
static void find_intervals(struct costing *costing, const struct pyro_finding *finding)
{
    memset(costing->depth, 0, (costing->count + 1) * sizeof(*costing->depth));
    uint64_t from, to;
    bool any = false;
    for (size_t i = 0; i < finding->stage_count; i++) {
        if (!pyro_stage_interval(&costing->window, &costing->app->stages.items[finding->stages[i]], &from, &to))
            continue;
        costing->depth[place_of(costing, from)]++;
        costing->depth[place_of(costing, to)]--;
        any = true;
    }
    for (size_t i = 0; i < finding->edit_count; i++) {
        if (!edited_interval(costing, &finding->edits[i], &from, &to))
            continue;
        costing->depth[place_of(costing, from)]++;
        costing->depth[place_of(costing, to)]--;
        any = true;
    }
    if (!any)
        costing->depth[0] = 1;
    for (size_t i = 1; i < costing->count; i++)
        costing->depth[i] += costing->depth[i - 1];
}

static double time_of(const struct costing *costing, unsigned measure)
{
    double sum = 0;
    for (size_t i = 0; i < costing->count; i++)
        if (costing->depth[i] > 0)
            sum += costing->intervals[i].time[measure];
    return sum;
}

/* What it costs, whatever others do: what its rule measured, else what its fix saves. PYRO_NONE: not known. */
static int64_t claim_of(const struct pyro_finding *finding, unsigned measure)
{
    int64_t said = measure == WALL ? finding->costs.wall_ms : finding->costs.core_ms;
    if (said != PYRO_NONE || finding->own.basis == PYRO_BASIS_NONE)
        return said;
    int64_t core = finding->own.core_ms;
    if (finding->frees_slots && finding->own.busy_ms > core)
        core = finding->own.busy_ms;
    return measure == WALL ? finding->own.wall_expected_ms : core;
}

static int64_t *member(struct pyro_fault_costs *costs, unsigned measure)
{
    return measure == WALL ? &costs->wall_ms : &costs->core_ms;
}

static void claim(struct costing *costing, struct pyro_finding *finding)
{
    find_intervals(costing, finding);
    for (unsigned measure = 0; measure < MEASURES; measure++) {
        double most = time_of(costing, measure);
        int64_t wanted = claim_of(finding, measure), *full = member(&finding->full_costs, measure);
        if (wanted == PYRO_NONE || (measure == CORE && costing->app->numbers.core_total_ms <= 0)) {
            *full = PYRO_NONE;
            continue;
        }
        double cost = fmin(fmax((double)wanted, 0), most);
        *full = (int64_t)cost;
        for (size_t i = 0; i < costing->count && cost > 0; i++)
            if (costing->depth[i] > 0)
                costing->intervals[i].claimed[measure] += cost * costing->intervals[i].time[measure] / most;
    }
}

static void take_part(struct costing *costing, struct pyro_finding *finding)
{
    finding->costs = finding->full_costs;
    find_intervals(costing, finding);
    for (unsigned measure = 0; measure < MEASURES; measure++) {
        int64_t full = *member(&finding->full_costs, measure);
        double most = time_of(costing, measure), sum = 0;
        for (size_t i = 0; i < costing->count && full > 0; i++) {
            const struct interval *interval = &costing->intervals[i];
            if (costing->depth[i] > 0 && interval->time[measure] > 0)
                sum += (double)full * interval->time[measure] / most *
                       fmin(1, interval->time[measure] / interval->claimed[measure]);
        }
        if (full > 0)
            *member(&finding->costs, measure) = (int64_t)sum;
    }
}

bool pyro_findings_cost(const struct pyro_app *app, struct pyro_finding *findings, size_t count)
{
    struct costing costing = {.app = app, .window = pyro_app_window(app)};
    bool made = count == 0 || cut(&costing, findings, count);
    for (size_t i = 0; i < count && made; i++)
        if (!findings[i].folded)
            claim(&costing, &findings[i]);
    for (size_t i = 0; i < count && made; i++)
        if (!findings[i].folded)
            take_part(&costing, &findings[i]);
        else
            findings[i].costs = (struct pyro_fault_costs){PYRO_NONE, PYRO_NONE};
    pyro_release(app->allocator, costing.intervals);
    pyro_release(app->allocator, costing.borders);
    pyro_release(app->allocator, costing.depth);
    return made;
}

static int64_t at_most(int64_t saved, int64_t cost)
{
    return saved != PYRO_NONE && cost != PYRO_NONE && saved > cost ? cost : saved;
}

struct pyro_saving pyro_finding_part(const struct pyro_finding *finding)
{
    struct pyro_saving part = finding->saves;
    int64_t *const times[] = {&part.wall_low_ms, &part.wall_expected_ms, &part.wall_high_ms};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        *times[i] = at_most(*times[i], finding->costs.wall_ms);
    part.core_ms = at_most(part.core_ms, finding->costs.core_ms);
    return part;
}
