/* Runs every rule over an application and turns what they say into a diagnosis. */
#include "advice/advice.h"
#include "advice/fault_costs.h"
#include "advice/native.h"
#include "advice/price.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory/allocator.h"
#include "base/threads/stop.h"
#include "rules/config.h"
#include "rules/judge.h"
#include "rules/profiles/profile.h"
#include "rules/stable_id.h"

/* Texts that the rule left out must still be strings, and numbers in their range. */
static void make_valid(struct pyro_finding *finding)
{
    if (!finding->cause.ptr)
        finding->cause = PYRO_SLICE_LITERAL("");
    if (!finding->title.ptr)
        finding->title = PYRO_SLICE_LITERAL("");
    if (!(finding->confidence >= 0))
        finding->confidence = 0;
    finding->confidence = fmin(finding->confidence, 1);
}

/* Says which thresholds are not at their defaults. */
static bool note_limits(const struct pyro_config *config, struct pyro_diagnosis *diagnosis)
{
    size_t most = config ? config->limits.count : 0;
    if (most == 0)
        return true;
    diagnosis->changed = pyro_arena_array(&diagnosis->arena, most, sizeof(*diagnosis->changed));
    if (!diagnosis->changed)
        return false;
    for (size_t i = 0; i < pyro_rule_count; i++) {
        double limits[PYRO_THRESHOLDS_MAX];
        pyro_config_limits(config, i, limits);
        for (size_t k = 0; k < pyro_rules[i]->threshold_count; k++)
            if (limits[k] != pyro_rules[i]->thresholds[k].value)
                diagnosis->changed[diagnosis->changed_count++] =
                    (struct pyro_changed_limit){pyro_rules[i], &pyro_rules[i]->thresholds[k], limits[k]};
    }
    return true;
}

/* Takes out what the user does not want; ids are those that the findings have without that. */
static bool suppress(const struct pyro_config *config, struct pyro_diagnosis *diagnosis)
{
    if (!config || config->suppressions.count == 0 || diagnosis->finding_count == 0)
        return true;
    struct pyro_arena *arena = &diagnosis->arena;
    diagnosis->suppressed = pyro_arena_array(arena, diagnosis->finding_count, sizeof(*diagnosis->suppressed));
    if (!diagnosis->suppressed)
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        const struct pyro_config_suppression *by = pyro_config_suppresses(config, finding->rule->id, finding->id);
        if (!by) {
            diagnosis->findings[kept++] = *finding;
            continue;
        }
        struct pyro_slice reason = pyro_arena_copy(arena, by->reason);
        if (!reason.ptr)
            return false;
        diagnosis->suppressed[diagnosis->suppressed_count++] =
            (struct pyro_suppressed){finding->rule, finding->id, reason, finding->severity};
    }
    diagnosis->finding_count = kept;
    return true;
}

/* Of a run that the log holds only in part, what matters little or is not sure may be otherwise in the whole run; the
 * risk of a failure is not less for that. */
static void leave_out_unsure(struct pyro_diagnosis *diagnosis)
{
    enum { KEPT_CONFIDENCE = 60 /* hundredths */ };
    size_t kept = 0;
    if (!diagnosis->app->integrity.course_unknown)
        return;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        if (pyro_finding_matters_in_part(diagnosis->app, finding) &&
            (finding->failure_risk > 0 || 100 * finding->confidence >= KEPT_CONFIDENCE))
            diagnosis->findings[kept++] = *finding;
    }
    diagnosis->finding_count = kept;
    for (size_t row = 0; row < pyro_rule_count; row++) {
        bool found = false;
        for (size_t i = 0; i < kept && !found; i++)
            found = diagnosis->findings[i].rule == pyro_rules[row];
        if (!found && diagnosis->outcomes[row].verdict == PYRO_VERDICT_FINDING)
            diagnosis->outcomes[row].verdict = PYRO_VERDICT_NOT_APPLICABLE;
    }
}

static enum pyro_status finish(struct pyro_diagnosis *diagnosis, const struct pyro_finding_list *found,
                               const struct pyro_config *config, const struct pyro_stop *stop, struct pyro_error *error)
{
    struct pyro_arena *arena = &diagnosis->arena;
    size_t count = found->count;
    struct pyro_finding *findings = pyro_arena_array(arena, count + 1, sizeof(*findings));
    diagnosis->profile = config ? config->profile : NULL;
    if (!findings)
        return pyro_no_memory(error);
    if (count > 0)
        memcpy(findings, found->items, count * sizeof(*findings));
    if (!pyro_findings_cost(diagnosis->app, findings, count))
        return pyro_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        if (pyro_stop_is_asked(stop))
            return pyro_error_set(error, PYRO_ERROR_CANCELLED, "stopped");
        make_valid(&findings[i]);
        findings[i].severity = pyro_finding_severity(diagnosis->app, &findings[i]);
        if (!findings[i].id.ptr)
            findings[i].id = pyro_finding_stable_id(arena, &findings[i]);
        if (!findings[i].id.ptr)
            return pyro_no_memory(error);
    }
    if (count > 1)
        qsort(findings, count, sizeof(*findings), pyro_finding_compare);
    diagnosis->findings = findings;
    diagnosis->finding_count = count;
    leave_out_unsure(diagnosis);
    bool done =
        pyro_findings_make_unique(arena, findings, diagnosis->finding_count) && suppress(config, diagnosis) &&
        pyro_findings_lead_by_roots(arena, findings, diagnosis->finding_count) &&
        /* Those that were left out cost nothing. */
        (diagnosis->finding_count == count || pyro_findings_cost(diagnosis->app, findings, diagnosis->finding_count)) &&
        note_limits(config, diagnosis) && pyro_profile_run(diagnosis) && pyro_native_advice(diagnosis);
    return done ? PYRO_OK : pyro_no_memory(error);
}

/* ---- all of it ---- */

struct preparing {
    const struct pyro_app *app;
    struct pyro_predicted_run run;
};

static enum pyro_status prepare_run(void *context, struct pyro_error *error)
{
    struct preparing *preparing = context;
    return pyro_predict_prepare(&preparing->run, preparing->app, false, error);
}

static enum pyro_status diagnose(struct pyro_diagnosis *diagnosis, const struct pyro_judging *how,
                                 struct pyro_predicted_run *run, struct pyro_finding_list *found,
                                 struct pyro_error *error)
{
    unsigned threads = pyro_rules_useful_threads(diagnosis->app, how->threads);
    struct preparing preparing = {.app = diagnosis->app};
    const struct pyro_beside beside = {prepare_run, &preparing};
    struct pyro_stopwatch begun = pyro_phase_begin(&how->phases);
    enum pyro_status judged = pyro_rules_judge(diagnosis, how->config, threads, &beside, how->stop, found, error);
    *run = preparing.run;
    pyro_phase_end(&how->phases, &begun, "judge", threads);
    PYRO_TRY(judged);
    diagnosis->replay = run->check;
    diagnosis->savings_unknown = !how->unsound_too && !pyro_replay_is_sound(&run->check);
    pyro_predict_take_cost(run, how->cost);
    begun = pyro_phase_begin(&how->phases);
    enum pyro_status priced = pyro_findings_price(diagnosis, run, threads, how->stop, found, error);
    pyro_phase_end(&how->phases, &begun, "price", threads);
    PYRO_TRY(priced);
    begun = pyro_phase_begin(&how->phases);
    PYRO_TRY(finish(diagnosis, found, how->config, how->stop, error));
    pyro_replay_stop_by(run->replay, how->stop);
    enum pyro_status status = pyro_plan_make(diagnosis, run, error);
    pyro_phase_end(&how->phases, &begun, "recommend", 1);
    return status;
}

enum pyro_status pyro_diagnosis_new(struct pyro_app *app, const struct pyro_judging *judging,
                                    struct pyro_diagnosis **ret, struct pyro_error *error)
{
    if (!app || !ret)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the application or the place for the diagnosis is missing");
    if (!app->sealed)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the application is not sealed: analyze it first");
    struct pyro_diagnosis *diagnosis = pyro_allocate(judging->allocator, sizeof(*diagnosis));
    if (!diagnosis)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for a diagnosis");
    *diagnosis = (struct pyro_diagnosis){.app = pyro_app_retain(app)};
    pyro_arena_init(&diagnosis->arena, judging->allocator);
    struct pyro_finding_list found = {0};
    struct pyro_predicted_run run = {0};
    enum pyro_status status = diagnose(diagnosis, judging, &run, &found, error);
    pyro_predict_done(&run);
    pyro_vec_done(&found, judging->allocator);
    if (status == PYRO_OK)
        *ret = diagnosis;
    else
        pyro_diagnosis_free(diagnosis);
    return status;
}
