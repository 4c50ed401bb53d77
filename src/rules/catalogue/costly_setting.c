/* costly-setting: a value other than Spark's default costs the time that is seen. */
#include <math.h>
#include <string.h>

#include "analyze/app_facts.h"
#include "rules/cases/affected.h"
#include "rules/causes/jvm_suspect.h"
#include "rules/causes/measures.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

enum { STAGE_SHARE, COST_MS, COST_SHARE, FINDINGS_MAX };
static const struct pyro_threshold thresholds[] = {
    [STAGE_SHARE] = {"stage_share_min", 0.1, "share",
                     "Minimum share of the symptom in the task time of a stage: other stages do not count"},
    [COST_MS] = {"cost_ms_min", 1500, "ms", "Quiet if the symptom costs less wall time"},
    [COST_SHARE] = {"cost_share_min", 0.05, "share", "... or a smaller share of the wall time"},
    [FINDINGS_MAX] = {"settings_max", 8, "count", "Maximum number of settings that are reported"},
};

struct cost {
    double wall_ms, task_ms, of_ms; /* of_ms: task time of the stages that count */
    size_t stages, worst;
};

/* Stages in which the symptom is a small share keep no cost. */
static struct cost sum_up(struct pyro_rule_context *context, struct pyro_measured *measured)
{
    const struct pyro_app *app = context->app;
    struct cost cost = {.wall_ms = measured->driver_ms, .worst = SIZE_MAX};
    for (size_t i = 0; i < app->stages.count; i++) {
        double all = pyro_real(app->stages.items[i].task_ms), ms = fmin(measured->stage_ms[i], all);
        if (ms <= 0 || ms < pyro_limit(context, STAGE_SHARE) * all) {
            measured->stage_ms[i] = 0;
            continue;
        }
        measured->stage_ms[i] = ms;
        cost.wall_ms += ms / all * pyro_stage_length(&app->stages.items[i]);
        cost.task_ms += ms;
        cost.of_ms += all;
        cost.stages++;
        if (cost.worst == SIZE_MAX || ms > measured->stage_ms[cost.worst])
            cost.worst = i;
    }
    return cost;
}

static void report(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                   const struct pyro_measured *measured, const struct cost *cost)
{
    struct pyro_finding *finding = pyro_finding_add(context, &pyro_rule_costly_setting);
    if (!finding)
        return;
    const char *key = suspect->row->key;
    finding->id = pyro_say(context, "costly-setting:%s", key);
    finding->title = pyro_say(context, "Costly setting: %s", key);
    if (cost->stages > 0)
        pyro_finding_at_stage(context, finding, cost->worst);
    const char *task = cost->stages > 0
                           ? pyro_say(context, "%s of task time (%.0f %% of that of %s)",
                                      pyro_say_ms(context, cost->task_ms), 100 * cost->task_ms / fmax(cost->of_ms, 1),
                                      pyro_say_count(context, (double)cost->stages, "stage", "stages"))
                                 .ptr
                           : "";
    const char *driver = measured->driver_ms > 0
                             ? pyro_say(context, "%s of the driver", pyro_say_ms(context, measured->driver_ms)).ptr
                             : "";
    const char *found =
        measured->found.ptr ? pyro_say(context, " (%s)", pyro_say_text(context, measured->found, 200)).ptr : "";
    bool plain = !suspect->is_default && !suspect->is_option;
    finding->cause =
        pyro_say(context, "%s %s %s%s%s. %s%s: this costs about %s%s%s.", key, suspect->is_option ? "has" : "is",
                 pyro_say_text(context, suspect->value, 80),
                 suspect->is_default ? ", as by default"
                 : plain             ? "; Spark's default is "
                                     : "",
                 plain ? pyro_say_text(context, suspect->usual, 80) : "", pyro_symptom_doc(suspect->symptom), found,
                 task, cost->stages > 0 && measured->driver_ms > 0 ? " and " : "", driver);
    pyro_finding_evidence(context, finding, "cost_wall_ms", cost->wall_ms, 0, "ms");
    if (cost->stages > 0) {
        pyro_finding_evidence(context, finding, "cost_task_ms", cost->task_ms, 0, "ms");
        pyro_finding_evidence(context, finding, "cost_share", cost->task_ms / fmax(cost->of_ms, 1),
                              pyro_limit(context, STAGE_SHARE), "share");
    }
    double value = pyro_setting_magnitude(suspect->row, suspect->value),
           usual = pyro_setting_magnitude(suspect->row, suspect->usual);
    if (isfinite(value))
        pyro_finding_evidence(context, finding, "value", value, usual,
                              suspect->row->kind == PYRO_SETTING_SIZE   ? "bytes"
                              : suspect->row->kind == PYRO_SETTING_TIME ? "ms"
                                                                        : "count");
    pyro_finding_merged(context, finding, "stages", cost->stages);
    finding->costs = (struct pyro_fault_costs){pyro_whole(cost->wall_ms), pyro_whole(cost->task_ms)};
    for (size_t i = 0; i < context->app->stages.count; i++)
        if (measured->stage_ms[i] > 0) {
            double all = fmax(pyro_real(context->app->stages.items[i].task_ms), 1);
            pyro_affected_add(context, finding, i);
            pyro_remedy_stage(context, finding, i, 1 - measured->stage_ms[i] / all);
        }
    const struct pyro_application_row *application = &context->app->application;
    if (measured->driver_ms > 0 && application->start_ms != PYRO_NONE && application->end_ms != PYRO_NONE)
        pyro_remedy_driver(context, finding, application->start_ms, application->end_ms,
                           1 - fmin(measured->driver_ms / fmax(pyro_real(context->app->numbers.driver_ms), 1), 1));
    pyro_suspect_advise(context, finding, suspect,
                        "The Environment page of the next run shows the default, and the stages take less task time.");
    pyro_remedy_by_settings(finding);
    finding->confidence *= 0.8;
}

/* A rule that shows the symptom found it: its finding names the setting (rules/causes/causing_settings.c). */
static bool is_shown(const struct pyro_rule_context *context, const struct pyro_suspect *suspect)
{
    for (size_t i = 0; i < context->earlier.count; i++)
        if (strcmp(context->earlier.items[i].rule->id, pyro_symptom_rule(suspect->symptom)) == 0)
            return true;
    return false;
}

static bool judge(struct pyro_rule_context *context, const struct pyro_suspect *suspect)
{
    const struct pyro_app *app = context->app;
    pyro_measure *measure = pyro_measure_of(suspect->symptom);
    if (!measure || is_shown(context, suspect) ||
        pyro_suspect_is_advised(suspect, context->earlier.items, context->earlier.count))
        return false;
    struct pyro_measured measured = {
        .stage_ms = pyro_arena_array(context->scratch, app->stages.count + 1, sizeof(*measured.stage_ms))};
    context->failed |= !measured.stage_ms;
    if (context->failed)
        return false;
    memset(measured.stage_ms, 0, (app->stages.count + 1) * sizeof(*measured.stage_ms));
    measure(context, suspect, &measured);
    struct cost cost = sum_up(context, &measured);
    if (context->failed || cost.wall_ms < pyro_limit(context, COST_MS) ||
        cost.wall_ms < pyro_limit(context, COST_SHARE) * pyro_app_judged_wall(app))
        return false;
    report(context, suspect, &measured, &cost);
    return true;
}

/* The one default that is slow for all: toPandas() without Arrow, before Spark 4.2. */
static void judge_arrow(struct pyro_rule_context *context)
{
    const struct pyro_slice key = PYRO_SLICE_LITERAL("spark.sql.execution.arrow.pyspark.enabled");
    const struct pyro_suspect suspect = {.row = pyro_setting_find(key),
                                         .value = pyro_setting_current(context->app, key),
                                         .usual = PYRO_SLICE_LITERAL("true"),
                                         .symptom = PYRO_SYMPTOM_PLAIN_RESULTS,
                                         .is_default = true,
                                         .factor = INFINITY};
    if (suspect.row && pyro_slice_is(suspect.value, "false"))
        judge(context, &suspect);
}

/* Options of the JVM have no default to compare with. */
static void judge_jvm(struct pyro_rule_context *context)
{
    struct pyro_suspect suspect;
    if (pyro_jvm_suspect(context, &suspect))
        judge(context, &suspect);
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    struct pyro_suspects suspects;
    double found = 0;
    if (!pyro_suspects_load(context, &suspects))
        return PYRO_VERDICT_QUIET;
    for (size_t i = 0; i < suspects.count && found < pyro_limit(context, FINDINGS_MAX) && !context->failed; i++)
        found += judge(context, &suspects.items[i]);
    if (!context->failed)
        judge_arrow(context);
    if (!context->failed)
        judge_jvm(context);
    return suspects.count + context->findings.count == 0 ? PYRO_VERDICT_NOT_APPLICABLE : PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_costly_setting = {
    .id = "costly-setting",
    .category = "resources",
    .title = "Costly setting",
    .summary = "A setting that is not Spark's default costs the time that is seen.",
    PYRO_THRESHOLDS(thresholds),
    .after = {PYRO_RULE_AFTER_ALL},
    .effort = PYRO_EFFORT_SETTING,
    .needs_settings = true,
    .evaluate = evaluate,
};
