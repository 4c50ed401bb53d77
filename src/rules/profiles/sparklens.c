/* The report of Sparklens: its figures by its own formulas. docs/profiles/sparklens.md */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "base/numbers/order.h"
#include "base/numbers/saturate.h"
#include "rules/finding.h"
#include "rules/profiles/profile.h"
#include "rules/profiles/sparklens.h"

/* The number of stages in its two tables; of more, those that took longest. */
enum { STAGES_MAX = 100 };

struct report {
    struct pyro_rule_context *context;
    struct pyro_diagnosis *diagnosis;
    const struct pyro_sparklens_run *run;
    double total_cores;
};

/* Sparklens judges nothing: every row is a figure of its report. */
static void say(const struct report *report, const char *heuristic, double value, struct pyro_slice detail)
{
    pyro_profile_say(report->context, report->diagnosis, heuristic, "report", value, (double)NAN, detail);
}

/* As its formulas do: whole numbers divided as 32-bit floats. */
static double percent(double part, double whole)
{
    return (double)((float)(part * 100) / (float)whole);
}

/* Driver time is less than nothing where groups of jobs overlap. */
static const char *time_text(const struct report *report, double ms)
{
    struct pyro_slice text =
        pyro_say(report->context, "%s%s", ms < 0 ? "-" : "", pyro_say_ms(report->context, fabs(ms)));
    return text.ptr ? text.ptr : "";
}

static void say_ms(const struct report *report, const char *heuristic, double ms, const char *what)
{
    say(report, heuristic, ms, pyro_say(report->context, "%s: %s", time_text(report, ms), what));
}

static void say_percent(const struct report *report, const char *heuristic, double ms, double whole)
{
    double share = percent(ms, whole);
    say(report, heuristic, share, pyro_say(report->context, "%.2f %%: %.0f ms of %.0f ms", share, ms, whole));
}

static void say_times(const struct report *report)
{
    const struct pyro_sparklens_run *run = report->run;
    double driver = run->app_ms - run->job_ms, critical = pyro_sparklens_critical_ms(run);
    double perfect = floor(run->run_ms / report->total_cores);
    if (critical < 0) {
        report->context->failed = true;
        return;
    }
    say_percent(report, "Driver WallClock Time", driver, run->app_ms);
    say_percent(report, "Executor WallClock Time", run->job_ms, run->app_ms);
    say_ms(report, "Total WallClock Time", run->app_ms, "from its start to its end");
    say_ms(report, "Critical path", driver + critical, "the minimum with infinite resources");
    say_ms(report, "Zero skew", driver + perfect, "the minimum with the same executors and perfect parallelism");
    double alone = driver + run->run_ms; /* cannot overflow */
    say_ms(report, "Single core", alone, "with a single executor of a single core");
}

static double lifetime_ms(const struct pyro_app *app)
{
    double sum = 0;
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        double from = fmax(pyro_real(executor->added_ms), pyro_real(app->application.start_ms));
        double to = pyro_real(app->application.end_ms);
        if (executor->added_ms == PYRO_NONE)
            continue;
        if (executor->removed_ms != PYRO_NONE)
            to = fmin(to, pyro_real(executor->removed_ms));
        sum += pyro_real(executor->cores) * (to - from);
    }
    return sum;
}

static void say_cores(const struct report *report)
{
    const struct pyro_sparklens_run *run = report->run;
    double available = report->total_cores * run->app_ms, in_jobs = report->total_cores * run->job_ms;
    double driver = report->total_cores * (run->app_ms - run->job_ms), unused = in_jobs - run->run_ms;
    double of_driver = percent(driver, available), of_executors = percent(unused, available);
    say(report, "Total cores", report->total_cores,
        pyro_say(report->context, "%" PRId64 " executors of %" PRId64 " cores", run->executors, run->cores));
    say_ms(report, "Hours available", available, "OneCoreComputeHours of all cores from start to end");
    say_ms(report, "Hours AutoScale Aware", lifetime_ms(run->app), "OneCoreComputeHours while executors were alive");
    say_ms(report, "Hours wasted by driver", driver, "OneCoreComputeHours while no job ran");
    say_ms(report, "Executor hours available", in_jobs, "OneCoreComputeHours while jobs ran");
    say_percent(report, "Executor hours used", run->run_ms, in_jobs);
    say_percent(report, "Executor hours wasted", unused, in_jobs);
    say(report, "Wasted Driver", of_driver, pyro_say(report->context, "%.2f %%", of_driver));
    say(report, "Wasted Executor", of_executors, pyro_say(report->context, "%.2f %%", of_executors));
    say(report, "Wasted Total", (double)((float)of_driver + (float)of_executors),
        pyro_say(report->context, "%.2f %%", (double)((float)of_driver + (float)of_executors)));
}

static int by_start(const void *left, const void *right)
{
    const struct pyro_sparklens_group *a = left, *b = right;
    return a->start_ms != b->start_ms ? (a->start_ms > b->start_ms) - (a->start_ms < b->start_ms)
                                      : (a->first > b->first) - (a->first < b->first);
}

/* Each group is compared with the one that started before it alone. */
static void say_overlap(const struct report *report)
{
    const struct pyro_sparklens_run *run = report->run;
    size_t overlaps = 0, count = run->group_count;
    struct pyro_sparklens_group *groups = pyro_arena_array(run->arena, count + 1, sizeof(*groups));
    if (!groups) {
        report->context->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        groups[i] = run->groups[i];
    if (count > 1)
        qsort(groups, count, sizeof(*groups), by_start);
    for (size_t i = 1; i < count; i++)
        overlaps += groups[i - 1].end_ms > groups[i].start_ms;
    pyro_profile_say(
        report->context, report->diagnosis, "Job overlap", overlaps > 0 ? "Found" : "Good", (double)overlaps,
        (double)NAN,
        pyro_say(report->context, "%zu of %zu job groups overlap the previous one%s", overlaps, count,
                 overlaps > 0 ? ": Sparklens itself says that some of these numbers are not reliable then" : ""));
}

static void say_model(const struct report *report)
{
    static const int percents[] = {10, 20, 50, 80, 100, 110, 120, 150, 200, 300, 400, 500};
    const struct pyro_sparklens_run *run = report->run;
    double run_ms = 0;
    for (size_t i = 0; i < run->stage_count; i++)
        run_ms += run->stages[i].run_ms;
    for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
        int64_t executors = (int64_t)floor((double)run->executors * percents[i] / 100);
        double ms = 0;
        if (executors <= 0)
            continue;
        if (!pyro_sparklens_estimate_ms(run, executors, &ms)) {
            report->context->failed = true;
            return;
        }
        if (isnan(ms))
            continue;
        say(report, "Estimated time", ms,
            pyro_say(report->context, "%" PRId64 " executors (%d %%): %s, cluster utilization %.2f %%", executors,
                     percents[i], time_text(report, ms), run_ms * 100 / (ms * (double)executors * (double)run->cores)));
        if (percents[i] == 100 && ms >= 0) /* it takes less than nothing for a timeout */
            say(report, "Model Error", trunc(fabs(run->app_ms - ms) * 100 / run->app_ms),
                pyro_say(report->context, "%.0f %%: model estimation %.0f ms, real duration %.0f ms",
                         trunc(fabs(run->app_ms - ms) * 100 / run->app_ms), ms, run->app_ms));
    }
}

static double median_ms(const struct pyro_sparklens_run *run, const struct pyro_sparklens_stage *stage, double *room)
{
    for (size_t i = 0; i < stage->time_count; i++)
        room[i] = (double)run->times[stage->first_time + i].run_ms;
    return pyro_median(room, stage->time_count);
}

static double length_ms(const struct pyro_sparklens_stage *stage)
{
    return (double)(pyro_sub_saturating(stage->end_ms, stage->start_ms));
}

static void say_stage(const struct report *report, const struct pyro_sparklens_stage *stage, double wall_ms,
                      double run_ms, double *room)
{
    const struct pyro_sparklens_run *run = report->run;
    double length = length_ms(stage), available = report->total_cores * length, longest = 0;
    double median = median_ms(run, stage, room);
    for (size_t i = 0; i < stage->time_count; i++)
        longest = fmax(longest, (double)run->times[stage->first_time + i].run_ms);
    double read = stage->input_bytes + stage->shuffle_read_bytes;
    double skew = median > 0 ? longest / median : 0;
    say(report, "Per Stage Utilization", percent(stage->run_ms, available),
        pyro_say(report->context,
                 "stage %" PRId64 ": wall clock %.0f %%, run time %.2f %%, %zu tasks, measured %.0f ms, ideal %.0f ms, "
                 "used %.1f %%",
                 stage->id, trunc(percent(available, wall_ms * report->total_cores)), percent(stage->run_ms, run_ms),
                 stage->time_count, length, floor(stage->run_ms / report->total_cores),
                 percent(stage->run_ms, available)));
    say(report, "TaskSkew", skew,
        pyro_say(report->context,
                 "stage %" PRId64
                 ": PRatio %.2f, TaskSkew %.2f, StageSkew %.2f, OIRatio %.2f, ShuffleWrite %.2f %%, ReadFetch %.2f %%, "
                 "GC %.2f %%",
                 stage->id, stage->tasks / report->total_cores, skew, length > 0 ? longest / length : 0,
                 read > 0 ? (stage->output_bytes + stage->shuffle_write_bytes) / read : 0,
                 stage->run_ms > 0 ? stage->write_ns / 1e6 * 100 / stage->run_ms : 0,
                 stage->run_ms > 0 ? stage->fetch_wait_ms * 100 / stage->run_ms : 0,
                 stage->run_ms > 0 ? stage->gc_ms * 100 / stage->run_ms : 0));
}

/* Length that a stage must have to be shown: the STAGES_MAX longest. */
static double least_length(const struct pyro_sparklens_run *run, double *room)
{
    size_t count = 0;
    for (size_t i = 0; i < run->stage_count; i++)
        if (run->stages[i].time_count > 0)
            room[count++] = length_ms(&run->stages[i]);
    if (count <= STAGES_MAX)
        return 0;
    return pyro_select_real(room, count, count - STAGES_MAX);
}

static void say_stages(const struct report *report)
{
    const struct pyro_sparklens_run *run = report->run;
    size_t most = run->stage_count, told = 0, ended = 0;
    double wall_ms = 0, run_ms = 0;
    for (size_t i = 0; i < run->stage_count; i++) {
        most = run->stages[i].time_count > most ? run->stages[i].time_count : most;
        ended += run->stages[i].time_count > 0;
        wall_ms += run->stages[i].time_count > 0 ? length_ms(&run->stages[i]) : 0;
        run_ms += run->stages[i].run_ms;
    }
    double *room = pyro_arena_array(run->arena, most + 1, sizeof(*room));
    if (!room) {
        report->context->failed = true;
        return;
    }
    double least = least_length(run, room);
    for (size_t i = 0; i < run->stage_count && told < STAGES_MAX; i++) {
        if (run->stages[i].time_count == 0 || length_ms(&run->stages[i]) < least)
            continue;
        say_stage(report, &run->stages[i], wall_ms, run_ms, room);
        told++;
    }
    if (told < ended)
        say(report, "Per Stage Utilization", (double)(ended - told),
            pyro_say(report->context, "%zu shorter stages are left out", ended - told));
}

static void judge(struct pyro_rule_context *context, struct pyro_diagnosis *diagnosis)
{
    const struct pyro_app *app = context->app;
    struct pyro_arena scratch;
    bool ended =
        pyro_slice_is(app->application.status, "completed") || pyro_slice_is(app->application.status, "failed");
    if (!ended || pyro_span(app->application.start_ms, app->application.end_ms) <= 0) {
        pyro_profile_say(context, diagnosis, "Report", "not applicable", (double)NAN, (double)NAN,
                         PYRO_SLICE_LITERAL("Sparklens reports at the end of the application; this log has no end"));
        return;
    }
    pyro_arena_init(&scratch, context->arena->allocator);
    struct pyro_sparklens_run run = {.app = app, .arena = &scratch};
    if (pyro_sparklens_read(&run)) {
        struct report report = {context, diagnosis, &run, (double)run.executors * (double)run.cores};
        say_times(&report);
        say_cores(&report);
        say_overlap(&report);
        say_model(&report);
        say_stages(&report);
    } else {
        context->failed = true;
    }
    pyro_arena_done(&scratch);
}

const struct pyro_profile pyro_profile_sparklens = {"sparklens", "Sparklens", judge};
