/* logged-errors: what text logs say and no event does: waits before retries, errors, and the same warning again and
 * again. */
#include <math.h>
#include <string.h>

#include "analyze/app_facts.h"
#include "analyze/tracks/logged_waits.h"
#include "model/tracks/tracks.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

enum { WAIT_SHARE, ERRORS, WARNINGS };
static const struct pyro_threshold thresholds[] = {
    [WAIT_SHARE] = {"wait_share_min", 0.02, "share",
                    "Minimum share of the tasks' time that logs name as waits before retries"},
    [ERRORS] = {"errors_min", 3, "count", "Minimum number of times that logs have an error which no event has"},
    [WARNINGS] = {"warnings_min", 100, "count", "Minimum number of times that logs have the same warning"},
};

enum { TEXT_BYTES = 160 };

/* ---- Waits ------------------------------------------------------------------------------------------------------- */

static bool report_waits(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    const struct pyro_logged_waits *waits = pyro_logged_waits_new(app, context->scratch);
    double run_ms = 0;
    if (!waits) {
        context->failed = true;
        return false;
    }
    for (size_t i = 0; i < app->stages.count; i++)
        run_ms += pyro_real(app->stages.items[i].run_ms);
    double share = run_ms > 0 ? fmin(waits->tasks_ms / run_ms, 1) : 0;
    struct pyro_finding *finding = waits->task_count > 0 && share >= pyro_limit(context, WAIT_SHARE)
                                       ? pyro_finding_add(context, context->rule)
                                       : NULL;
    if (!finding)
        return false;
    finding->title = PYRO_SLICE_LITERAL("Waits before retries");
    finding->cause = pyro_say(context,
                              "Text logs name %s before a retry, %s in all. Tasks waited %s of it, %.0f %% of their "
                              "time.%s%s%s",
                              pyro_say_count(context, (double)waits->count, "wait", "waits"),
                              pyro_say_ms(context, waits->total_ms), pyro_say_ms(context, waits->tasks_ms), 100 * share,
                              waits->logger.ptr ? " The longest is of the logger " : "",
                              pyro_say_text(context, waits->logger, TEXT_BYTES), waits->logger.ptr ? "." : "");
    pyro_finding_advise(
        context, finding,
        PYRO_SLICE_LITERAL("See what is tried again (pyrometer logs top FOLDER --grep '(?i)retry'). If a "
                           "service refuses some of the requests, ask for many rows at once, or run "
                           "fewer tasks that ask at the same time."),
        "In the next run the logs name fewer waits (pyrometer sql FOLDER \"SELECT count(*) FROM spans WHERE "
        "kind = 'logged-wait'\").");
    pyro_finding_evidence(context, finding, "wait_share", share, (double)NAN, "share");
    pyro_finding_evidence(context, finding, "logged_wait_ms", waits->total_ms, (double)NAN, "ms");
    pyro_finding_evidence(context, finding, "task_wait_ms", waits->tasks_ms, (double)NAN, "ms");
    pyro_finding_evidence(context, finding, "waits", (double)waits->count, (double)NAN, "count");
    pyro_finding_evidence(context, finding, "waiting_tasks", (double)waits->task_count, (double)NAN, "count");
    for (size_t i = 0; i < waits->task_count; i++) {
        size_t row = waits->tasks[i].task;
        double ms = pyro_span(pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, row),
                              pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, row));
        pyro_remedy_task(context, finding, row, fmax(ms - waits->tasks[i].ms, 0));
    }
    finding->confidence *=
        waits->many > waits->alone ? 0.7 : 0.9; /* several tasks: which of them waited is not known */
    return true;
}

/* ---- Errors and warnings ----------------------------------------------------------------------------------------- */

/* The one that logs say most often of those that count, and what all of them add up to. */
struct said {
    struct pyro_slice text, executor;
    int64_t most;
    double total, kinds;
};

static void take(struct said *said, struct pyro_slice text, int64_t count)
{
    said->total += (double)count;
    said->kinds++;
    if (count > said->most) {
        said->most = count;
        said->text = text;
    }
}

static struct pyro_slice first_line(struct pyro_slice text)
{
    const char *end = text.ptr ? memchr(text.ptr, '\n', text.len) : NULL;
    return end ? (struct pyro_slice){text.ptr, (size_t)(end - text.ptr)} : text;
}

static bool report_said(struct pyro_rule_context *context, const struct said *said, struct pyro_slice title,
                        const char *format_one, const char *format_many, const char *look)
{
    struct pyro_finding *finding = said->kinds > 0 ? pyro_finding_add(context, context->rule) : NULL;
    if (!finding)
        return false;
    finding->title = title;
    finding->cause =
        pyro_say(context, "Text logs have %s that no event reports, %.0f times in all. %s: \"%s\".",
                 pyro_say_count(context, said->kinds, format_one, format_many), said->total,
                 said->kinds > 1 ? "The most frequent" : "It is", pyro_say_text(context, said->text, TEXT_BYTES));
    pyro_finding_advise(context, finding,
                        pyro_say(context, "Read them (%s). The logs do not say whether they cost time.", look),
                        "In the next run the logs no longer have them.");
    pyro_finding_evidence(context, finding, "messages", said->total, 0, "count");
    pyro_finding_evidence(context, finding, "different_messages", said->kinds, 0, "count");
    finding->confidence *= 0.6;
    return true;
}

static bool report_errors(struct pyro_rule_context *context)
{
    struct said said = {.most = 0};
    for (size_t i = 0; i < context->app->failures.count; i++) {
        const struct pyro_failure *failure = &context->app->failures.items[i];
        if (failure->source.ptr && pyro_slice_is(failure->kind, "log") &&
            (double)failure->count >= pyro_limit(context, ERRORS))
            take(&said, first_line(failure->message.ptr ? failure->message : failure->reason), failure->count);
    }
    return report_said(context, &said, PYRO_SLICE_LITERAL("Errors in logs"), "error", "errors",
                       "pyrometer logs errors FOLDER");
}

/* Of a logger: what they say is reported as waits. */
static int64_t waits_of(const struct pyro_tracks *tracks, struct pyro_slice logger)
{
    int64_t count = 0;
    for (size_t i = 0; logger.ptr && i < pyro_tracks_count(tracks, PYRO_TRACK_SPANS); i++) {
        const struct pyro_span_row span = pyro_tracks_span(tracks, i);
        count += span.kind == PYRO_SPAN_LOGGED_WAIT && pyro_slice_eq(span.name, logger);
    }
    return count;
}

static bool report_warnings(struct pyro_rule_context *context)
{
    const struct pyro_tracks *tracks = context->app->tracks;
    struct said said = {.most = 0};
    for (size_t i = 0; i < pyro_tracks_count(tracks, PYRO_TRACK_TEMPLATES); i++) {
        const struct pyro_template_row *row = pyro_tracks_template(tracks, i);
        double least = pyro_limit(context, WARNINGS);
        if (row->level.ptr && pyro_slice_is(row->level, "WARN") && (double)row->count >= least &&
            (double)(row->count - waits_of(tracks, row->logger)) >= least)
            take(&said, row->text, row->count);
    }
    return report_said(context, &said, PYRO_SLICE_LITERAL("Repeated warnings"), "warning", "warnings",
                       "pyrometer logs top FOLDER --level WARN");
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    if (!context->app->tracks || pyro_tracks_count(context->app->tracks, PYRO_TRACK_TEMPLATES) == 0)
        return PYRO_VERDICT_NOT_APPLICABLE; /* no text log */
    bool found = report_waits(context);
    found |= report_errors(context);
    found |= report_warnings(context);
    return found ? PYRO_VERDICT_FINDING : PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_logged_errors = {
    .id = "logged-errors",
    .category = "failures",
    .title = "Errors and waits in logs",
    .summary = "Text logs name waits before retries, errors or repeated warnings that no event reports.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"executor-lost", "executor-oom", "task-failures", "stage-retries"},
    .evaluate = evaluate,
};
