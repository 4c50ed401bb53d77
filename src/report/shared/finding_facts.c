#include "report/shared/finding_facts.h"

#include <math.h>

#include "analyze/app_facts.h"
#include "analyze/attributes.h"
#include "base/numbers/saturate.h"
#include "report/cost/cost.h"
#include "text/escape.h"
#include "text/humanize.h"

const char *pyro_severity_heading(enum pyro_severity severity)
{
    static const char *const names[] = {"LOW", "MODERATE", "SEVERE", "CRITICAL ISSUES"};
    return (unsigned)severity < 4 ? names[severity] : "LOW";
}

/* Share of the run's wall time, or NaN. */
static double wall_share(const struct pyro_app *app, int64_t ms)
{
    int64_t total = app->application.duration_ms;
    if (total == PYRO_NONE || total <= 0)
        total = app->numbers.wall_total_ms;
    return total > 0 && ms >= 0 ? (double)ms / (double)total : NAN;
}

static void add_percent_range(struct pyro_strbuf *buffer, double low, double high)
{
    long long from = llround(low * 100), to = llround(high * 100);
    if (from == to)
        pyro_strbuf_printf(buffer, " (%s%lld %%)", to ? "" : "under ", to ? to : 1);
    else
        pyro_strbuf_printf(buffer, " (%lld-%lld %%)", from, to);
}

void pyro_fact_saves(struct pyro_strbuf *buffer, const struct pyro_app *app, const struct pyro_saving *saves)
{
    if (saves->wall_high_ms > 0) {
        double low = wall_share(app, saves->wall_low_ms), high = wall_share(app, saves->wall_high_ms);
        pyro_strbuf_add_text(buffer, "saves ");
        pyro_human_ms_range(buffer, saves->wall_low_ms, saves->wall_high_ms);
        if (isfinite(low) && isfinite(high))
            add_percent_range(buffer, low, high);
    } else if (saves->core_ms > 0) {
        pyro_strbuf_add_text(buffer, "saves ");
        pyro_human_ms(buffer, saves->core_ms);
        pyro_strbuf_add_text(buffer, " core time");
    } else {
        pyro_strbuf_add_text(buffer, saves->basis == PYRO_BASIS_NONE ? "time saved: not known" : "no time saved");
    }
}

void pyro_fact_setting(struct pyro_strbuf *buffer, const struct pyro_setting *setting)
{
    pyro_add_plain(buffer, setting->key);
    pyro_strbuf_add_char(buffer, '=');
    pyro_add_plain(buffer, setting->value);
}

void pyro_fact_costs(struct pyro_strbuf *buffer, const struct pyro_app *app, const struct pyro_finding *finding)
{
    const struct pyro_fault_costs *costs = &finding->costs;
    double share = wall_share(app, costs->wall_ms);
    if (costs->wall_ms > 0) {
        pyro_strbuf_add_text(buffer, "costs ");
        pyro_human_ms(buffer, costs->wall_ms);
        if (isfinite(share))
            add_percent_range(buffer, share, share);
    } else if (costs->core_ms > 0) {
        pyro_strbuf_add_text(buffer, "costs ");
        pyro_human_ms(buffer, costs->core_ms);
        pyro_strbuf_add_text(buffer, " core time");
    } else {
        pyro_strbuf_add_text(buffer, costs->wall_ms == PYRO_NONE ? "cost not known" : "costs no time");
    }
}

static void add_place(struct pyro_strbuf *buffer, size_t from, const char *word, const char *capital)
{
    if (buffer->len > from)
        pyro_strbuf_add_text(buffer, ", ");
    pyro_strbuf_add_text(buffer, buffer->len > from ? word : capital);
    pyro_strbuf_add_char(buffer, ' ');
}

/* Where no model knows what an action saves, what it cures says how much there is to win. */
static void add_cured_costs(struct pyro_strbuf *buffer, const struct pyro_diagnosis *diagnosis,
                            const struct pyro_action *action)
{
    int64_t ms = 0;
    for (size_t i = 0; i < action->cure_count; i++) {
        int64_t cost = diagnosis->findings[action->cures[i]].costs.wall_ms;
        ms = cost > 0 ? pyro_add_saturating(ms, cost) : ms;
    }
    if (ms == 0)
        return;
    pyro_strbuf_add_text(buffer, "; what it cures costs ");
    pyro_human_ms(buffer, ms);
}

void pyro_fact_action_saves(struct pyro_strbuf *buffer, const struct pyro_diagnosis *diagnosis,
                            const struct pyro_action *action)
{
    const struct pyro_saving *saves = &action->saves;
    if (saves->wall_high_ms > 0) {
        pyro_fact_saves(buffer, diagnosis->app, saves);
        if (saves->core_ms > 0) {
            pyro_strbuf_add_text(buffer, ", ");
            pyro_human_ms(buffer, saves->core_ms);
            pyro_strbuf_add_text(buffer, " core time");
        }
    } else {
        pyro_fact_saves(buffer, diagnosis->app, saves);
        if (saves->basis == PYRO_BASIS_NONE)
            add_cured_costs(buffer, diagnosis, action);
    }
    if (diagnosis->cost && diagnosis->cost->money.known && saves->cost > 0) {
        pyro_strbuf_add_text(buffer, ", ");
        pyro_human_money(buffer, (int64_t)llround(saves->cost * 1e6), diagnosis->cost->money.currency);
    }
}

void pyro_fact_where(struct pyro_strbuf *buffer, const struct pyro_finding *finding)
{
    size_t from = buffer->len;
    if (finding->stage != PYRO_NONE) {
        add_place(buffer, from, "stage", "Stage");
        pyro_strbuf_add_int(buffer, finding->stage);
        if (finding->attempt > 0) {
            pyro_strbuf_add_text(buffer, " attempt ");
            pyro_strbuf_add_int(buffer, finding->attempt);
        }
    } else if (finding->sql != PYRO_NONE) {
        add_place(buffer, from, "SQL execution", "SQL execution");
        pyro_strbuf_add_int(buffer, finding->sql);
    } else if (finding->job != PYRO_NONE) {
        add_place(buffer, from, "job", "Job");
        pyro_strbuf_add_int(buffer, finding->job);
    }
    if (finding->executor.ptr) {
        add_place(buffer, from, "executor", "Executor");
        pyro_strbuf_add_slice(buffer, finding->executor);
    }
    if (finding->host.ptr) {
        add_place(buffer, from, "host", "Host");
        pyro_strbuf_add_slice(buffer, finding->host);
    }
    if (finding->call_site.len && buffer->len > from) {
        pyro_strbuf_add_text(buffer, " (");
        pyro_strbuf_add_slice(buffer, finding->call_site);
        pyro_strbuf_add_char(buffer, ')');
    } else {
        pyro_strbuf_add_slice(buffer, finding->call_site);
    }
}

void pyro_fact_cause(struct pyro_strbuf *buffer, const struct pyro_finding *finding)
{
    /* Rules may name the place themselves where that makes the better sentence. */
    static const char *const places[] = {"Stage ", "Job ",    "Executor ", "SQL execution ",
                                         "Host ",  "Stream ", "In all ",   "In some "};
    bool named = false;
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
        named = named || pyro_slice_starts_with(finding->cause, places[i]);
    size_t from = buffer->len;
    if (!named)
        pyro_fact_where(buffer, finding);
    if (finding->cause.len && buffer->len > from)
        pyro_strbuf_add_text(buffer, ": ");
    pyro_strbuf_add_slice(buffer, finding->cause);
}

/* "slowest_task_ms" -> "slowest task": the unit shows in the number. */
static void add_metric(struct pyro_strbuf *buffer, const char *metric)
{
    static const char *const units[] = {"_ms", "_bytes", "_share", "_ratio", "_count"};
    if (!strcmp(metric, "spared_task_ms")) /* not a task that is spared */
        metric = "saved task time";
    size_t len = strlen(metric);
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        size_t unit = strlen(units[i]);
        if (len > unit && !strcmp(metric + len - unit, units[i]) && i != 2 && i != 3) {
            len -= unit;
            break;
        }
    }
    for (size_t i = 0; i < len; i++)
        pyro_strbuf_add_char(buffer, metric[i] == '_' ? ' ' : metric[i]);
}

void pyro_fact_evidence(struct pyro_strbuf *buffer, const struct pyro_finding *finding)
{
    for (size_t i = 0; i < finding->evidence_count; i++) {
        const struct pyro_evidence *evidence = &finding->evidence[i];
        if (i)
            pyro_strbuf_add_text(buffer, ", ");
        add_metric(buffer, evidence->metric);
        pyro_strbuf_add_char(buffer, ' ');
        pyro_human_quantity(buffer, evidence->value, evidence->unit);
        if (isfinite(evidence->expected)) {
            pyro_strbuf_add_text(buffer, " (expected ");
            pyro_human_quantity(buffer, evidence->expected, evidence->unit);
            pyro_strbuf_add_char(buffer, ')');
        }
    }
}

void pyro_fact_improvement(struct pyro_strbuf *buffer, const struct pyro_app *app, const struct pyro_finding *finding)
{
    const struct pyro_saving *saves = &finding->saves;
    size_t from = buffer->len;
    if (isfinite(saves->stage_share) && saves->stage_share > 0) {
        pyro_human_share(buffer, saves->stage_share);
        pyro_strbuf_add_text(buffer, " faster stage");
    }
    if (saves->wall_expected_ms > 0) {
        double share = wall_share(app, saves->wall_expected_ms);
        if (buffer->len > from)
            pyro_strbuf_add_text(buffer, ", ");
        pyro_human_ms(buffer, saves->wall_expected_ms);
        if (isfinite(share)) {
            pyro_strbuf_add_text(buffer, " (");
            pyro_human_share(buffer, share);
            pyro_strbuf_add_char(buffer, ')');
        }
        pyro_strbuf_add_text(buffer, " less wall time");
    }
    if (saves->core_ms > 0) {
        if (buffer->len > from)
            pyro_strbuf_add_text(buffer, ", ");
        pyro_human_ms(buffer, saves->core_ms);
        pyro_strbuf_add_text(buffer, " less core time");
    }
}

void pyro_fact_judgement(struct pyro_strbuf *buffer, const struct pyro_finding *finding)
{
    if (!finding->judged || finding->folded)
        return;
    pyro_strbuf_add_text(buffer, finding->judgement == PYRO_FEEDBACK_FIXED ? "Marked as fixed in an earlier run"
                                                                           : "Confirmed in an earlier run");
    if (finding->note.len) {
        pyro_strbuf_add_text(buffer, ": ");
        pyro_strbuf_add_slice(buffer, finding->note);
    }
}

void pyro_fact_verdict(struct pyro_strbuf *buffer, const struct pyro_diagnosis *diagnosis)
{
    size_t counts[4] = {0};
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        if ((unsigned)diagnosis->findings[i].severity < 4)
            counts[diagnosis->findings[i].severity]++;
    size_t all = diagnosis->finding_count, above = all - counts[PYRO_SEVERITY_LOW];
    enum pyro_run_outcome outcome = pyro_app_outcome(diagnosis->app);
    pyro_strbuf_add_text(buffer, outcome == PYRO_RUN_FAILED       ? "The application failed. "
                                 : outcome == PYRO_RUN_JOB_FAILED ? "The last job failed. "
                                                                  : "");
    if (!diagnosis->finding_count) {
        pyro_strbuf_add_text(buffer, "No findings.");
    } else if (!above) {
        pyro_strbuf_printf(buffer, "No findings above low severity (%zu low).", diagnosis->finding_count);
    } else {
        pyro_strbuf_printf(buffer, "%zu finding%s:", all, all == 1 ? "" : "s");
        const char *comma = " ";
        for (int severity = PYRO_SEVERITY_CRITICAL; severity >= PYRO_SEVERITY_LOW; severity--)
            if (counts[severity]) {
                pyro_strbuf_printf(buffer, "%s%zu %s", comma, counts[severity],
                                   pyro_severity_name((enum pyro_severity)severity));
                comma = ", ";
            }
        pyro_strbuf_add_char(buffer, '.');
    }
    if (diagnosis->app->integrity.confidence < 0.9) {
        pyro_strbuf_add_text(buffer, diagnosis->app->integrity.contradictory
                                         ? " The log contradicts itself (confidence "
                                         : " The log is incomplete (confidence ");
        pyro_human_hundredths(buffer, diagnosis->app->integrity.confidence);
        pyro_strbuf_add_text(buffer, "): see data quality.");
    }
}

/* The run with a plan. */
static void add_predicted(struct pyro_strbuf *buffer, const struct pyro_diagnosis *diagnosis,
                          const struct pyro_recommended_plan *plan)
{
    const struct pyro_cost *cost = diagnosis->cost;
    pyro_human_ms(buffer, diagnosis->replay.measured_ms);
    pyro_strbuf_add_text(buffer, " -> ");
    pyro_human_ms(buffer, plan->wall_expected_ms);
    pyro_strbuf_add_text(buffer, " (");
    pyro_human_ms_range(buffer, plan->wall_low_ms, plan->wall_high_ms);
    pyro_strbuf_add_char(buffer, ')');
    if (cost && cost->money.known && isfinite(plan->cost)) {
        pyro_strbuf_add_text(buffer, ", ");
        pyro_human_money(buffer, cost->money.micros, cost->money.currency);
        pyro_strbuf_add_text(buffer, " -> ");
        pyro_human_money(buffer, (int64_t)llround(plan->cost * 1e6), cost->money.currency);
    }
    pyro_strbuf_add_char(buffer, '.');
}

void pyro_fact_plan(struct pyro_strbuf *buffer, const struct pyro_diagnosis *diagnosis, bool code)
{
    const struct pyro_recommended_plan *plan = code ? &diagnosis->code_plan : &diagnosis->settings_plan;
    if (!plan->made)
        return;
    if (code)
        pyro_strbuf_printf(buffer, "Changes of the program for %zu finding%s: ", plan->finding_count,
                           plan->finding_count == 1 ? "" : "s");
    else
        pyro_strbuf_printf(buffer, "%zu recommended setting%s: ", diagnosis->config_change_count,
                           diagnosis->config_change_count == 1 ? "" : "s together");
    add_predicted(buffer, diagnosis, plan);
}

void pyro_fact_together(struct pyro_strbuf *buffer, const struct pyro_diagnosis *diagnosis)
{
    if (!diagnosis->together.made)
        return;
    pyro_strbuf_add_text(buffer, diagnosis->action_count == 1 ? "With it: " : "All of it together: ");
    add_predicted(buffer, diagnosis, &diagnosis->together);
}

void pyro_fact_rules(struct pyro_strbuf *buffer, const struct pyro_diagnosis *diagnosis)
{
    size_t counts[3] = {0};
    for (size_t i = 0; i < pyro_rule_count; i++)
        counts[diagnosis->outcomes[i].verdict]++;
    pyro_strbuf_printf(buffer, "%zu rule%s: %zu with findings, %zu quiet, %zu not applicable", pyro_rule_count,
                       pyro_rule_count == 1 ? "" : "s", counts[PYRO_VERDICT_FINDING], counts[PYRO_VERDICT_QUIET],
                       counts[PYRO_VERDICT_NOT_APPLICABLE]);
}

void pyro_fact_configured(struct pyro_strbuf *buffer, const struct pyro_diagnosis *diagnosis)
{
    enum { NAMED_MAX = 5 };
    size_t count = diagnosis->suppressed_count, named = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pyro_rule *rule = diagnosis->suppressed[i].rule;
        bool had = false;
        for (size_t k = 0; k < i && !had; k++)
            had = diagnosis->suppressed[k].rule == rule;
        if (i == 0)
            pyro_strbuf_printf(buffer, "%zu finding%s suppressed (%s", count, count == 1 ? "" : "s", rule->id);
        else if (!had && ++named < NAMED_MAX)
            pyro_strbuf_printf(buffer, ", %s", rule->id);
    }
    if (count > 0)
        pyro_strbuf_add_text(buffer, named >= NAMED_MAX ? ", ...)." : ").");
    count = diagnosis->changed_count;
    for (size_t i = 0; i < count && i < NAMED_MAX; i++) {
        const struct pyro_changed_limit *changed = &diagnosis->changed[i];
        if (i == 0)
            pyro_strbuf_printf(buffer, "%s%zu threshold%s changed (", buffer->len > 0 ? " " : "", count,
                               count == 1 ? "" : "s");
        pyro_strbuf_printf(buffer, "%s%s.%s=%.10g", i > 0 ? ", " : "", changed->rule->id, changed->threshold->name,
                           changed->value);
    }
    if (count > 0)
        pyro_strbuf_add_text(buffer, count > NAMED_MAX ? ", ...)." : ").");
}

void pyro_fact_orchestrator(struct pyro_strbuf *buffer, const struct pyro_app *app)
{
    static const char *const parts[][2] = {
        {"dag ", PYRO_ATTRIBUTE_DAG}, {"task ", PYRO_ATTRIBUTE_TASK}, {"run ", PYRO_ATTRIBUTE_RUN}};
    const char *between = "";
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        struct pyro_slice value = pyro_app_attribute(app, parts[i][1]);
        if (!value.ptr)
            continue;
        pyro_strbuf_add_text(buffer, between);
        pyro_strbuf_add_text(buffer, parts[i][0]);
        pyro_strbuf_add_slice(buffer, value);
        between = ", ";
    }
}

struct pyro_slice pyro_fact_name(const struct pyro_app *app)
{
    if (app->application.name.len)
        return app->application.name;
    if (app->application.id.len)
        return app->application.id;
    return PYRO_SLICE_LITERAL("(unknown)");
}

bool pyro_fact_shows_check(const struct pyro_finding *finding, size_t i)
{
    struct pyro_slice check = finding->advice[i].verify;
    return check.len > 0 && (i + 1 == finding->advice_count || !pyro_slice_eq(check, finding->advice[i + 1].verify));
}
