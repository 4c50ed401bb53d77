/* Predictions as JSON: schema pyrometer.whatif/1 (docs/schema/). */
#include <math.h>

#include "cost/cost.h"
#include "report/shared/finding_facts.h"
#include "report/whatif/write_whatif.h"
#include "text/json_write.h"

static void write_base(struct pyro_json_writer *json, const struct pyro_predicted_run *run)
{
    pyro_json_line(json);
    pyro_json_begin(json, "base", '{');
    pyro_json_int(json, "measured_ms", run->check.measured_ms);
    pyro_json_int(json, "replayed_ms", run->check.replayed_ms);
    pyro_json_int(json, "executors", run->executors);
    pyro_json_int(json, "cores_per_executor", run->cores);
    pyro_json_int(json, "memory_bytes", run->memory_bytes);
    pyro_json_int(json, "hosts", run->hosts);
    pyro_json_int(json, "core_ms", run->base.core_ms);
    pyro_json_real(json, "utilization", run->base.utilization);
    pyro_json_int(json, "critical_path_ms", run->critical_path_ms);
    pyro_json_real(json, "replay_error_share", run->check.error_share);
    pyro_json_real(json, "cost",
                   run->cost && run->cost->money.known ? (double)run->cost->money.micros / 1e6 : (double)NAN);
    pyro_json_text(json, "currency", run->cost && run->cost->money.known ? run->cost->money.currency : PYRO_SLICE_NULL);
    pyro_json_real(json, "confidence", run->app->integrity.confidence);
    pyro_json_end(json, '}');
}

static void write_application(struct pyro_json_writer *json, const struct pyro_app *app)
{
    const struct pyro_application_row *row = &app->application;
    pyro_json_line(json);
    pyro_json_begin(json, "application", '{');
    pyro_json_text(json, "id", row->id);
    pyro_json_text(json, "name", row->name);
    pyro_json_text(json, "attempt", row->attempt);
    pyro_json_text(json, "spark_version", row->spark_version);
    pyro_json_text(json, "path", app->path);
    pyro_json_end(json, '}');
}

static void write_jobs(struct pyro_json_writer *json, const struct pyro_app *app, const struct pyro_scenario *scenario)
{
    pyro_json_line(json);
    pyro_json_begin(json, "jobs", '[');
    for (size_t i = 0; i < app->jobs.count; i++) {
        if (scenario->jobs[i].start_ms < 0)
            continue;
        pyro_json_begin(json, NULL, '{');
        pyro_json_int(json, "id", app->jobs.items[i].id);
        pyro_json_int(json, "start_ms", scenario->jobs[i].start_ms);
        pyro_json_int(json, "end_ms", scenario->jobs[i].end_ms);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_models(struct pyro_json_writer *json, const struct pyro_scenario *scenario)
{
    pyro_json_line(json);
    pyro_json_begin(json, "models", '[');
    for (size_t i = 0; i < scenario->effect_count; i++) {
        const struct pyro_predicted_effect *effect = &scenario->effects[i];
        pyro_json_begin(json, NULL, '{');
        pyro_json_string(json, "name", pyro_model_name(effect->model));
        pyro_json_text(json, "effect", effect->text);
        pyro_json_begin(json, "doubt_ms", '{');
        pyro_json_int(json, "below", effect->low_ms);
        pyro_json_int(json, "above", effect->high_ms);
        pyro_json_end(json, '}');
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_judged(struct pyro_json_writer *json, const char *key, const struct pyro_scenario *scenario,
                         bool vanish)
{
    pyro_json_begin(json, key, '[');
    for (size_t i = 0; i < scenario->finding_count; i++) {
        const struct pyro_scenario_finding *judged = &scenario->findings[i];
        const struct pyro_finding *finding = judged->finding;
        bool was = finding->severity > PYRO_SEVERITY_LOW, is = judged->severity > PYRO_SEVERITY_LOW;
        if (!judged->known || was == is || was != vanish)
            continue;
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "id", finding->id);
        pyro_json_string(json, "rule", finding->rule->id);
        pyro_json_string(json, "severity_before", pyro_severity_name(finding->severity));
        pyro_json_string(json, "severity_after", pyro_severity_name(judged->severity));
        pyro_json_int(json, "saves_ms", judged->saves_ms);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

/* null where there are too many scenarios to judge them all. */
static void write_findings(struct pyro_json_writer *json, const struct pyro_whatif *whatif,
                           const struct pyro_scenario *scenario)
{
    size_t judged = 0;
    pyro_json_line(json);
    if (!whatif->judges) {
        pyro_json_null(json, "findings");
        return;
    }
    for (size_t i = 0; i < scenario->finding_count; i++)
        judged += scenario->findings[i].known;
    pyro_json_begin(json, "findings", '{');
    pyro_json_count(json, "judged", judged);
    pyro_json_count(json, "not_judged", scenario->finding_count - judged);
    write_judged(json, "vanish", scenario, true);
    write_judged(json, "appear", scenario, false);
    pyro_json_end(json, '}');
}

static void write_optimum(struct pyro_json_writer *json, const struct pyro_whatif *whatif)
{
    if (!whatif->goal.asked)
        return;
    pyro_json_line(json);
    pyro_json_begin(json, "optimum", '{');
    pyro_json_string(json, "goal", whatif->goal.cost ? "cost" : "time");
    pyro_json_int(json, "deadline_ms", whatif->goal.deadline_ms > 0 ? whatif->goal.deadline_ms : PYRO_NONE);
    pyro_json_real(json, "max_cost", whatif->goal.max_cost > 0 ? whatif->goal.max_cost : (double)NAN);
    pyro_json_bool(json, "met", whatif->optimum.met);
    pyro_json_count(json, "best", whatif->optimum.best);
    pyro_json_count(json, "evaluated", whatif->optimum.evaluated);
    pyro_json_end(json, '}');
}

static void write_scenario(struct pyro_json_writer *json, const struct pyro_whatif *whatif,
                           const struct pyro_scenario *scenario, bool jobs)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_int(json, "executors", scenario->executors);
    pyro_json_int(json, "cores_per_executor", scenario->cores_per_executor);
    pyro_json_int(json, "memory_bytes", scenario->memory_bytes);
    if (scenario->given[PYRO_PREDICTED_HOSTS].ptr)
        pyro_json_text(json, "hosts", scenario->given[PYRO_PREDICTED_HOSTS]);
    if (scenario->given[PYRO_PREDICTED_SCALE].ptr)
        pyro_json_real(json, "scale_input", scenario->values[PYRO_PREDICTED_SCALE]);
    pyro_json_begin(json, "settings", '{');
    for (unsigned i = 0; i < PYRO_PREDICTED_SETTINGS; i++)
        if (pyro_whatif_shows(scenario, i))
            pyro_json_text(json, pyro_predicted_settings[i].key, scenario->given[i]);
    pyro_json_end(json, '}');
    pyro_json_line(json);
    pyro_json_begin(json, "wall_ms", '{');
    pyro_json_int(json, "low", scenario->wall_low_ms);
    pyro_json_int(json, "expected", scenario->wall_expected_ms);
    pyro_json_int(json, "high", scenario->wall_high_ms);
    pyro_json_end(json, '}');
    if (jobs)
        write_jobs(json, whatif->run.app, scenario);
    pyro_json_line(json);
    pyro_json_int(json, "core_ms", scenario->core_ms);
    pyro_json_real(json, "cost", scenario->cost);
    pyro_json_real(json, "utilization", scenario->utilization);
    pyro_json_int(json, "critical_path_ms", scenario->critical_path_ms);
    write_findings(json, whatif, scenario);
    write_models(json, scenario);
    pyro_json_end(json, '}');
}

/* What the scenarios bring along, and what is recommended for this run. */
static void write_recommended(struct pyro_json_writer *json, const struct pyro_whatif *whatif)
{
    const struct pyro_diagnosis *diagnosis = whatif->diagnosis;
    pyro_json_line(json);
    pyro_json_begin(json, "fixes", '[');
    for (size_t i = 0; i < whatif->fix_count; i++)
        pyro_json_text(json, NULL, whatif->fixes[i]);
    pyro_json_end(json, ']');
    pyro_json_line(json);
    if (diagnosis->config_change_count == 0) {
        pyro_json_null(json, "plan");
        return;
    }
    pyro_json_begin(json, "plan", '{');
    for (size_t i = 0; i < diagnosis->config_change_count; i++) {
        pyro_json_key(json, diagnosis->config_changes[i].key);
        pyro_json_text(json, NULL, diagnosis->config_changes[i].value);
    }
    pyro_json_end(json, '}');
}

void pyro_whatif_json(struct pyro_output *output, const struct pyro_whatif *whatif, bool jobs)
{
    struct pyro_json_writer json;
    pyro_json_writer_init(&json, output);
    pyro_json_begin(&json, NULL, '{');
    pyro_json_line(&json);
    pyro_json_string(&json, "schema", "pyrometer.whatif/1");
    write_application(&json, whatif->run.app);
    write_base(&json, &whatif->run);
    write_recommended(&json, whatif);
    write_optimum(&json, whatif);
    pyro_json_line(&json);
    pyro_json_begin(&json, "scenarios", '[');
    for (size_t i = 0; i < whatif->scenario_count; i++) {
        write_scenario(&json, whatif, &whatif->scenarios[i], jobs);
        pyro_output_flush(output, false);
    }
    pyro_json_end(&json, ']');
    pyro_json_end(&json, '}');
    pyro_strbuf_add_char(&output->buffer, '\n');
}
