#include <math.h>

#include "analyze/settings/spark_settings.h"
#include "report/diagnosis/json_parts.h"
#include "report/shared/finding_facts.h"
#include "rules/profiles/profile.h"

static void write_where(struct pyro_json_writer *json, const struct pyro_finding *finding)
{
    pyro_json_begin(json, "where", '{');
    pyro_json_int(json, "job", finding->job);
    pyro_json_int(json, "stage", finding->stage);
    pyro_json_int(json, "attempt", finding->attempt);
    pyro_json_int(json, "sql", finding->sql);
    pyro_json_text(json, "executor", finding->executor);
    pyro_json_text(json, "host", finding->host);
    pyro_json_text(json, "call_site", finding->call_site);
    pyro_json_end(json, '}');
}

/* A stream of a month has a million stages: a page marks no more than these. */
enum { AFFECTED_MAX = 1000 };

static void write_affected(struct pyro_json_writer *json, const struct pyro_app *app,
                           const struct pyro_finding *finding)
{
    size_t count = finding->stage_count < AFFECTED_MAX ? finding->stage_count : AFFECTED_MAX;
    pyro_json_line(json);
    pyro_json_begin(json, "stages", '{');
    pyro_json_count(json, "count", finding->stage_count);
    pyro_json_begin_numbers(json, "id");
    for (size_t i = 0; i < count; i++)
        pyro_json_number(json, app->stages.items[finding->stages[i]].id);
    pyro_json_end_numbers(json);
    pyro_json_begin_numbers(json, "attempt");
    for (size_t i = 0; i < count; i++)
        pyro_json_number(json, app->stages.items[finding->stages[i]].attempt);
    pyro_json_end_numbers(json);
    pyro_json_end(json, '}');
}

static void write_evidence(struct pyro_json_writer *json, const struct pyro_finding *finding)
{
    pyro_json_line(json);
    pyro_json_begin(json, "evidence", '[');
    for (size_t i = 0; i < finding->evidence_count; i++) {
        const struct pyro_evidence *evidence = &finding->evidence[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_string(json, "metric", evidence->metric);
        pyro_json_real(json, "value", evidence->value);
        pyro_json_string(json, "unit", evidence->unit);
        pyro_json_real(json, "expected", evidence->expected);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_settings(struct pyro_json_writer *json, const char *key, const struct pyro_setting *settings,
                           size_t count)
{
    pyro_json_begin(json, key, '{');
    for (size_t i = 0; i < count; i++) {
        pyro_json_key(json, settings[i].key);
        pyro_json_text(json, NULL, settings[i].value);
    }
    pyro_json_end(json, '}');
}

static void write_advice(struct pyro_json_writer *json, const struct pyro_finding *finding)
{
    pyro_json_line(json);
    pyro_json_begin(json, "advice", '[');
    for (size_t i = 0; i < finding->advice_count; i++) {
        const struct pyro_advice *advice = &finding->advice[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "text", advice->text);
        write_settings(json, "config", advice->settings, advice->setting_count);
        pyro_json_text(json, "code", advice->code);
        pyro_json_text(json, "verify", advice->verify);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_saving(struct pyro_json_writer *json, const struct pyro_saving *saves)
{
    static const char *const bases[] = {
        [PYRO_BASIS_NONE] = NULL, [PYRO_BASIS_SETTINGS] = "settings", [PYRO_BASIS_CODE] = "code"};
    pyro_json_line(json);
    pyro_json_begin(json, "saves", '{');
    pyro_json_begin(json, "wall_ms", '{');
    pyro_json_int(json, "low", saves->wall_low_ms);
    pyro_json_int(json, "expected", saves->wall_expected_ms);
    pyro_json_int(json, "high", saves->wall_high_ms);
    pyro_json_end(json, '}');
    pyro_json_real(json, "stage_share", saves->stage_share);
    pyro_json_int(json, "core_ms", saves->core_ms);
    pyro_json_real(json, "cost", saves->cost);
    pyro_json_string(json, "basis", bases[saves->basis]);
    pyro_json_end(json, '}');
}

void pyro_json_finding(struct pyro_json_writer *json, const char *key, const struct pyro_diagnosis *diagnosis,
                       const struct pyro_finding *finding)
{
    pyro_json_line(json);
    pyro_json_begin(json, key, '{');
    pyro_json_text(json, "id", finding->id);
    pyro_json_string(json, "rule", finding->rule->id);
    pyro_json_string(json, "category", finding->rule->category);
    pyro_json_string(json, "severity", pyro_severity_name(finding->severity));
    pyro_json_real(json, "confidence", finding->confidence);
    pyro_json_text(json, "title", finding->title);
    pyro_json_line(json);
    write_where(json, finding);
    write_affected(json, diagnosis->app, finding);
    pyro_json_line(json);
    pyro_json_text(json, "cause", finding->cause);
    pyro_json_text(json, "follows", finding->root);
    write_evidence(json, finding);
    write_advice(json, finding);
    write_saving(json, &finding->saves);
    pyro_json_begin(json, "costs", '{');
    pyro_json_int(json, "wall_ms", finding->costs.wall_ms);
    pyro_json_int(json, "core_ms", finding->costs.core_ms);
    pyro_json_end(json, '}');
    if (finding->judged) {
        pyro_json_line(json);
        pyro_json_bool(json, "folded", finding->folded);
        pyro_json_begin(json, "feedback", '{');
        pyro_json_string(json, "verdict", pyro_feedback_name(finding->judgement));
        pyro_json_text(json, "note", finding->note);
        pyro_json_int(json, "time_ms", finding->judged_ms);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, '}');
}

void pyro_json_findings(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis)
{
    pyro_json_line(json);
    pyro_json_begin(json, "findings", '[');
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        pyro_json_finding(json, NULL, diagnosis, &diagnosis->findings[i]);
    pyro_json_end(json, ']');
}

void pyro_json_config_changes(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis)
{
    pyro_json_line(json);
    write_settings(json, "config_changes", diagnosis->config_changes, diagnosis->config_change_count);
}

/* The run with a plan. */
static void write_predicted(struct pyro_json_writer *json, const struct pyro_recommended_plan *plan)
{
    pyro_json_begin(json, "wall_ms", '{');
    pyro_json_int(json, "low", plan->wall_low_ms);
    pyro_json_int(json, "expected", plan->wall_expected_ms);
    pyro_json_int(json, "high", plan->wall_high_ms);
    pyro_json_end(json, '}');
    pyro_json_int(json, "core_ms", plan->core_ms);
    pyro_json_real(json, "cost", plan->cost);
}

static void write_action(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis,
                         const struct pyro_action *action)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_text(json, "id", action->id);
    pyro_json_text(json, "title", action->title);
    pyro_json_string(json, "kind", action->setting_count ? "settings" : "code");
    write_settings(json, "config", action->settings, action->setting_count);
    pyro_json_text(json, "code", action->code);
    pyro_json_string(json, "effort", pyro_effort_name(action->effort));
    pyro_json_string(json, "risk", pyro_risk_name(action->risk));
    pyro_json_begin(json, "cures", '[');
    for (size_t i = 0; i < action->cure_count; i++)
        pyro_json_text(json, NULL, diagnosis->findings[action->cures[i]].id);
    pyro_json_end(json, ']');
    write_saving(json, &action->saves);
    pyro_json_text(json, "check", action->check);
    pyro_json_text(json, "text", action->text);
    pyro_json_end(json, '}');
}

void pyro_json_actions(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis)
{
    pyro_json_line(json);
    pyro_json_begin(json, "actions", '[');
    for (size_t i = 0; i < diagnosis->action_count; i++)
        write_action(json, diagnosis, &diagnosis->actions[i]);
    pyro_json_end(json, ']');
    const struct pyro_recommended_plan *together = &diagnosis->together;
    pyro_json_line(json);
    if (!together->made) {
        pyro_json_null(json, "together");
        return;
    }
    pyro_json_begin(json, "together", '{');
    write_predicted(json, together);
    pyro_json_end(json, '}');
}

static void write_plan(struct pyro_json_writer *json, const char *key, const struct pyro_diagnosis *diagnosis,
                       const struct pyro_recommended_plan *plan, bool settings)
{
    pyro_json_line(json);
    if (!plan->made) {
        pyro_json_null(json, key);
        return;
    }
    pyro_json_begin(json, key, '{');
    if (settings)
        write_settings(json, "settings", diagnosis->config_changes, diagnosis->config_change_count);
    pyro_json_begin(json, "findings", '[');
    for (size_t i = 0; i < plan->finding_count; i++)
        pyro_json_text(json, NULL, diagnosis->findings[plan->findings[i]].id);
    pyro_json_end(json, ']');
    write_predicted(json, plan);
    pyro_json_end(json, '}');
}

void pyro_json_plans(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis)
{
    write_plan(json, "plan", diagnosis, &diagnosis->settings_plan, true);
    write_plan(json, "code_plan", diagnosis, &diagnosis->code_plan, false);
}

void pyro_json_rules(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis)
{
    static const char *const names[] = {[PYRO_VERDICT_QUIET] = "quiet",
                                        [PYRO_VERDICT_FINDING] = "finding",
                                        [PYRO_VERDICT_NOT_APPLICABLE] = "not_applicable"};
    pyro_json_line(json);
    pyro_json_begin(json, "rules", '{');
    for (unsigned i = 0; i < pyro_rule_count; i++)
        pyro_json_string(json, diagnosis->outcomes[i].rule->id, names[diagnosis->outcomes[i].verdict]);
    pyro_json_end(json, '}');
}

void pyro_json_suppressed(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis)
{
    pyro_json_line(json);
    pyro_json_begin(json, "suppressed", '[');
    for (size_t i = 0; i < diagnosis->suppressed_count; i++) {
        const struct pyro_suppressed *finding = &diagnosis->suppressed[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "id", finding->id);
        pyro_json_string(json, "rule", finding->rule->id);
        pyro_json_string(json, "severity", pyro_severity_name(finding->severity));
        pyro_json_text(json, "reason", finding->reason);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

void pyro_json_thresholds(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis)
{
    pyro_json_line(json);
    pyro_json_begin(json, "thresholds", '[');
    for (size_t i = 0; i < diagnosis->changed_count; i++) {
        const struct pyro_changed_limit *changed = &diagnosis->changed[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_string(json, "rule", changed->rule->id);
        pyro_json_string(json, "name", changed->threshold->name);
        pyro_json_real(json, "value", changed->value);
        pyro_json_real(json, "default", changed->threshold->value);
        pyro_json_string(json, "unit", changed->threshold->unit);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

void pyro_json_configuration(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis)
{
    pyro_json_line(json);
    pyro_json_string(json, "platform", pyro_platform_name(pyro_app_platform(diagnosis->app)));
    pyro_json_line(json);
    pyro_json_begin(json, "configuration", '[');
    for (size_t i = 0; i < diagnosis->configuration_count; i++) {
        const struct pyro_configured *row = &diagnosis->configuration[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "key", row->key);
        pyro_json_text(json, "current", row->current);
        pyro_json_text(json, "recommended", row->recommended);
        pyro_json_text(json, "reason", row->reason);
        pyro_json_text(json, "verify", row->verify);
        pyro_json_string(json, "applies", row->applies);
        pyro_json_string(json, "note", row->note);
        pyro_json_text(json, "finding", row->finding);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

void pyro_json_profile(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis)
{
    pyro_json_line(json);
    if (!diagnosis->profile) {
        pyro_json_null(json, "profile");
        return;
    }
    pyro_json_begin(json, "profile", '{');
    pyro_json_string(json, "name", diagnosis->profile->name);
    pyro_json_begin(json, "verdicts", '[');
    for (size_t i = 0; i < diagnosis->peer_verdict_count; i++) {
        const struct pyro_peer_verdict *verdict = &diagnosis->peer_verdicts[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_string(json, "heuristic", verdict->heuristic);
        pyro_json_string(json, "severity", verdict->severity);
        pyro_json_real(json, "value", verdict->value);
        pyro_json_real(json, "threshold", verdict->threshold);
        pyro_json_text(json, "detail", verdict->detail);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
}
