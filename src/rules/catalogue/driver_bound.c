/* driver-bound: there are executors but no stage runs: the driver works alone. */
#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

/* Half of the driver's own time can usually be moved to executors or done while they work. */
#define MOVABLE    0.5
#define GAPS_SHOWN 3

enum { FIRE_SHARE, FIRE_MS, SESSION_MS, SESSION_MAX_MS, GAP_MIN_MS };
static const struct pyro_threshold thresholds[] = {
    [FIRE_SHARE] = {"driver_share_min", 0.15, "share",
                    "Quiet if the driver works alone for a smaller share of the run"},
    [FIRE_MS] = {"driver_ms_min", 5000, "ms", "Quiet if the gaps together are shorter"},
    [SESSION_MS] = {"session_ms", 8000, "ms",
                    "Starting and stopping a session (imports, catalog, first plan) does not count as a saving"},
    [SESSION_MAX_MS] =
        {"session_ms_max", 30000, "ms",
         "If executors take longer than that to start, so does the driver's first plan: at most this time"},
    [GAP_MIN_MS] = {"gap_ms_min", 250, "ms", "Shorter gaps count as scheduling"},
};

struct gap {
    double from, to;
    ptrdiff_t before, after; /* stage rows, -1 at the ends */
};

struct gaps {
    struct gap largest[GAPS_SHOWN];
    double count, total_ms, in_sql_ms;
    double edges_ms; /* before the first stage and after the last */
};

/* Part of a gap in which a SQL execution was open: planning, file listing, commit; not the user's own code. */
static double open_sql_ms(const struct pyro_app *app, double from, double to)
{
    double most = 0;
    for (size_t i = 0; i < app->sql.count; i++) {
        const struct pyro_sql_execution *sql = &app->sql.items[i];
        if (sql->submitted_ms == PYRO_NONE || (double)sql->submitted_ms >= to)
            continue;
        double end = sql->completed_ms == PYRO_NONE ? to : (double)sql->completed_ms;
        most = fmax(most, fmin(end, to) - fmax((double)sql->submitted_ms, from));
    }
    return fmax(most, 0);
}

static void add_gap(struct pyro_rule_context *context, struct gaps *gaps, struct gap gap)
{
    double length = gap.to - gap.from;
    if (length < pyro_limit(context, GAP_MIN_MS))
        return;
    gaps->count++;
    gaps->total_ms += length;
    gaps->in_sql_ms += open_sql_ms(context->app, gap.from, gap.to);
    gaps->edges_ms += gap.before < 0 || gap.after < 0 ? length : 0;
    for (size_t i = 0; i < GAPS_SHOWN; i++) {
        struct gap held = gaps->largest[i];
        if (length > held.to - held.from) {
            gaps->largest[i] = gap;
            gap = held;
            length = held.to - held.from;
        }
    }
}

struct begin {
    double at;
    size_t row;
};

static int by_begin(const void *left, const void *right)
{
    const struct begin *a = left, *b = right;
    if (a->at < b->at || a->at > b->at)
        return a->at < b->at ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static bool find_gaps(struct pyro_rule_context *context, struct gaps *gaps)
{
    const struct pyro_app *app = context->app;
    struct begin *order = pyro_arena_array(context->arena, app->stages.count + 1, sizeof(*order));
    if (!order) {
        context->failed = true;
        return false;
    }
    size_t count = 0;
    for (size_t i = 0; i < app->stages.count; i++)
        if (app->stages.items[i].submitted_ms != PYRO_NONE)
            order[count++] = (struct begin){(double)app->stages.items[i].submitted_ms, i};
    if (count > 1)
        qsort(order, count, sizeof(*order), by_begin);
    double begin = pyro_real(app->application.start_ms) + pyro_real(context->app->numbers.phase_wait_ms);
    double end = pyro_real(app->application.end_ms), busy_until = begin;
    ptrdiff_t before = -1;
    for (size_t i = 0; i < count; i++) {
        const struct pyro_stage *stage = &app->stages.items[order[i].row];
        add_gap(context, gaps, (struct gap){busy_until, order[i].at, before, (ptrdiff_t)order[i].row});
        double done = stage->completed_ms == PYRO_NONE ? end : (double)stage->completed_ms;
        if (done >= busy_until) {
            busy_until = done;
            before = (ptrdiff_t)order[i].row;
        }
    }
    add_gap(context, gaps, (struct gap){busy_until, end, before, -1});
    return true;
}

static const char *say_gap(struct pyro_rule_context *context, const struct gap *gap)
{
    const struct pyro_stage *stages = context->app->stages.items;
    const char *length = pyro_say_ms(context, gap->to - gap->from);
    if (gap->before < 0 && gap->after < 0)
        return pyro_say(context, "%s without any job", length).ptr;
    if (gap->before < 0)
        return pyro_say(context, "%s before job %lld", length, (long long)stages[gap->after].job).ptr;
    if (gap->after < 0)
        return pyro_say(context, "%s after job %lld", length, (long long)stages[gap->before].job).ptr;
    if (stages[gap->before].job == stages[gap->after].job)
        return pyro_say(context, "%s inside job %lld", length, (long long)stages[gap->after].job).ptr;
    return pyro_say(context, "%s between jobs %lld and %lld", length, (long long)stages[gap->before].job,
                    (long long)stages[gap->after].job)
        .ptr;
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct gaps *gaps)
{
    const char *verify = "In the next run the part driver of the wall time is smaller, and the event timeline of the "
                         "Jobs page has no gaps.";
    const struct gap *gap = &gaps->largest[0];
    bool inside_sql = gaps->in_sql_ms > gaps->total_ms / 2;
    if (inside_sql)
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL("Read fewer files and partitions, write fewer files, and shorten plans that "
                               "grow in loops (checkpoint or save in between): most of this time is "
                               "inside SQL executions, for planning, listing files or committing "
                               "output."),
            verify);
    else
        pyro_finding_advise(
            context, finding,
            PYRO_SLICE_LITERAL(
                "Find the code that runs in these gaps (a thread dump of the driver shows it); no SQL execution was "
                "open. Replace loops over collect() or toPandas() with DataFrame operators or a pandas UDF. Replace "
                "withColumn() in a loop, which analyzes the whole plan each time, with one select() or withColumns()."),
            verify);
    if (gap->before >= 0 && gap->after >= 0)
        pyro_finding_advise(context, finding,
                            PYRO_SLICE_LITERAL("If steps do not depend on each other, start the next Spark action from "
                                               "a second thread while the driver works. Then executors stay busy."),
                            verify);
}

static double session_ms(struct pyro_rule_context *context, const struct gaps *gaps)
{
    double executors = fmin(pyro_real(context->app->numbers.phase_wait_ms), pyro_limit(context, SESSION_MAX_MS));
    return fmax(pyro_limit(context, SESSION_MS), fmin(executors, gaps->edges_ms));
}

static void report(struct pyro_rule_context *context, const struct gaps *gaps)
{
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_driver_bound);
    if (!finding)
        return;
    finding->id = pyro_slice_from(pyro_rule_driver_bound.id); /* one finding for the whole application */
    double wall = pyro_app_wall(app), driver = pyro_real(app->numbers.wall_ms[PYRO_WALL_DRIVER]);
    double session = session_ms(context, gaps);
    const struct gap *gap = &gaps->largest[0];
    if (gap->before >= 0)
        pyro_finding_at_stage(context, finding, (size_t)gap->before);
    finding->stage = finding->attempt = PYRO_NONE; /* it is between stages */
    struct pyro_slice list = pyro_say(context, "%s", say_gap(context, gap));
    for (size_t i = 1; i < GAPS_SHOWN && gaps->largest[i].to > gaps->largest[i].from; i++)
        list = pyro_say(context, "%s, %s", list.ptr, say_gap(context, &gaps->largest[i]));
    finding->cause = pyro_say(
        context,
        "For %s (%.0f %% of the run) executors were available but no stage ran. The driver worked alone, in %s: %s%s.",
        pyro_say_ms(context, driver), 100 * driver / fmax(wall, 1), pyro_say_count(context, gaps->count, "gap", "gaps"),
        gaps->count > GAPS_SHOWN ? "the largest " : "", list.ptr);
    pyro_finding_evidence(context, finding, "driver_ms", driver, fmin(driver, session), "ms");
    pyro_finding_evidence(context, finding, "driver_share", driver / fmax(wall, 1), pyro_limit(context, FIRE_SHARE),
                          "share");
    pyro_finding_evidence(context, finding, "gaps", gaps->count, (double)NAN, "count");
    pyro_finding_evidence(context, finding, "largest_gap_ms", gap->to - gap->from, (double)NAN, "ms");
    pyro_finding_evidence(context, finding, "gaps_in_sql_ms", gaps->in_sql_ms, (double)NAN, "ms");
    advise(context, finding, gaps);
    finding->confidence *= 0.9;
    /* All gaps pass faster alike, so that what a session takes stays. */
    double movable = fmax(0, fmin(driver, gaps->total_ms) - session);
    pyro_remedy_alone(context, finding,
                      pyro_whole(pyro_real(app->application.start_ms) + pyro_real(app->numbers.phase_wait_ms)),
                      app->application.end_ms, pyro_limit(context, GAP_MIN_MS), 1 - movable / fmax(gaps->total_ms, 1));
    pyro_remedy_partly(finding, MOVABLE);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (app->stages.count == 0 || pyro_app_is_streaming(app) || pyro_app_is_interactive(app) ||
        app->integrity.compacted)
        return PYRO_VERDICT_NOT_APPLICABLE;
    double wall = pyro_app_wall(app), driver = pyro_real(app->numbers.wall_ms[PYRO_WALL_DRIVER]);
    if (driver < pyro_limit(context, FIRE_SHARE) * wall ||
        driver < pyro_limit(context, FIRE_MS) + pyro_limit(context, SESSION_MS) / 2)
        return PYRO_VERDICT_QUIET;
    struct gaps gaps = {0};
    if (!find_gaps(context, &gaps) || gaps.count < 1 || gaps.total_ms < pyro_limit(context, FIRE_MS))
        return PYRO_VERDICT_QUIET;
    report(context, &gaps);
    return PYRO_VERDICT_FINDING;
}

const struct pyro_rule pyro_rule_driver_bound = {
    .id = "driver-bound",
    .category = "parallelism",
    .title = "Driver works alone",
    .summary = "Executors are available but no stage runs: the driver computes, collects, plans or commits alone.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"large-result", "driver-memory"},
    .needs_whole = true,
    .evaluate = evaluate,
};
