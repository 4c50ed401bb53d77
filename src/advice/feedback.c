#include "advice/feedback.h"

#include <math.h>

#include "advice/advice.h"
#include "advice/fault_costs.h"
#include "base/error.h"

/* A rule's own confidence weighs as much as this number of verdicts: of other applications, and of this one. Verdicts
 * on this application say more about it, so that fewer suffice. */
#define PRIOR_ELSEWHERE 4.0
#define PRIOR_HERE      2.0

const char *pyro_feedback_name(unsigned verdict)
{
    static const char *const names[] = {"confirmed", "false-positive", "fixed", "missed"};
    return verdict < sizeof(names) / sizeof(names[0]) ? names[verdict] : NULL;
}

double pyro_calibrated(double prior, const struct pyro_votes *votes)
{
    double elsewhere = votes->right_elsewhere + votes->wrong_elsewhere, here = votes->right_here + votes->wrong_here;
    double all = (PRIOR_ELSEWHERE * prior + votes->right_elsewhere) / (PRIOR_ELSEWHERE + elsewhere);
    return (PRIOR_HERE * all + votes->right_here) / (PRIOR_HERE + here);
}

static void calibrate(struct pyro_diagnosis *diagnosis, struct pyro_finding *finding, const struct pyro_votes *votes,
                      size_t vote_count)
{
    /* What the log is missing lowers every confidence, whatever people say of the rule. */
    double integrity = diagnosis->app->integrity.confidence;
    for (size_t i = 0; i < vote_count; i++)
        if (votes[i].rule == finding->rule && integrity > 0)
            finding->confidence = integrity * pyro_calibrated(fmin(finding->confidence / integrity, 1), &votes[i]);
}

static bool any_folded(const struct pyro_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        if (diagnosis->findings[i].folded)
            return true;
    return false;
}

/* The plan without what folded findings advise. */
static enum pyro_status plan_again(struct pyro_diagnosis *diagnosis, struct pyro_error *error)
{
    struct pyro_predicted_run run = {0};
    if (!pyro_findings_cost(diagnosis->app, diagnosis->findings, diagnosis->finding_count))
        return pyro_no_memory(error);
    enum pyro_status status = pyro_predict_prepare(&run, diagnosis->app, false, error);
    if (status == PYRO_OK)
        pyro_predict_take_cost(&run, diagnosis->cost);
    if (status == PYRO_OK)
        status = pyro_plan_make(diagnosis, &run, error);
    pyro_predict_done(&run);
    return status;
}

enum pyro_status pyro_diagnosis_judge(struct pyro_diagnosis *diagnosis, const struct pyro_votes *votes,
                                      size_t vote_count, const struct pyro_judged *judged, size_t judged_count,
                                      struct pyro_error *error)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct pyro_finding *finding = &diagnosis->findings[i];
        calibrate(diagnosis, finding, votes, vote_count);
        for (size_t k = 0; k < judged_count; k++) {
            if (!pyro_slice_eq(judged[k].finding, finding->id))
                continue;
            finding->judged = true;
            finding->folded = judged[k].verdict == PYRO_FEEDBACK_FALSE_POSITIVE;
            finding->judgement = judged[k].verdict;
            finding->judged_ms = judged[k].time_ms;
            finding->note =
                pyro_arena_copy(&diagnosis->arena, judged[k].note.ptr ? judged[k].note : PYRO_SLICE_LITERAL(""));
            if (!finding->note.ptr)
                return pyro_no_memory(error);
        }
    }
    return any_folded(diagnosis) ? plan_again(diagnosis, error) : PYRO_OK;
}
