/* What runs say about an applied suggestion. */
#include <math.h>

#include "fleet/suggest/review.h"

const char *pyro_review_action_name(enum pyro_review_action action)
{
    static const char *const names[] = {[PYRO_REVIEW_WAIT] = "wait",
                                        [PYRO_REVIEW_KEEP] = "keep",
                                        [PYRO_REVIEW_ROLL_BACK] = "roll_back",
                                        [PYRO_REVIEW_CHANGED] = "changed"};
    return names[action];
}

static void decide(struct pyro_review *review, enum pyro_review_action action, const char *reason)
{
    review->action = action;
    review->reason = reason;
}

/* The first runs are a canary: they must not die of what was changed, nor exceed both what was promised and what was
 * slow before. */
static void judge_canary(const struct pyro_reviewed_run *runs, size_t first, size_t end, struct pyro_review *review)
{
    for (size_t i = first; i < end; i++) {
        double duration_ms = runs[i].run.duration_ms;
        if (runs[i].died_of_it) {
            decide(review, PYRO_REVIEW_ROLL_BACK, "a run with these settings failed for memory or a limit of results");
            return;
        }
        if (runs[i].run.completed && duration_ms > review->kept->high_ms &&
            review->realised.before >= PYRO_ADOPTION_LEAST && duration_ms > review->realised.slow_ms) {
            decide(review, PYRO_REVIEW_ROLL_BACK,
                   "a run with these settings took longer than promised, and than 95 % of the runs before");
            return;
        }
    }
}

bool pyro_review_judge(const struct pyro_reviewed_run *runs, size_t count, struct pyro_arena *scratch,
                       struct pyro_review *review)
{
    struct pyro_adoption_run *all = pyro_arena_array(scratch, count + 1, sizeof(*all));
    size_t first = 0, end;
    if (!all)
        return false;
    while (first < count && !(runs[first].adopts && runs[first].start_ms >= review->kept->applied_ms))
        first++;
    for (end = first; end < count && runs[end].adopts;)
        end++;
    for (size_t i = 0; i < count; i++)
        all[i] = runs[i].run;
    review->runs = end - first;
    decide(review, PYRO_REVIEW_WAIT,
           review->runs == 0 ? "no run has these settings yet" : "fewer than 3 runs have them");
    if (review->runs == 0)
        return true;
    if (!pyro_realised_saving(all, first, end, scratch, &review->realised))
        return false;
    review->has_realised = true;
    judge_canary(runs, first, first + 1, review);
    if (review->action != PYRO_REVIEW_WAIT || review->runs < PYRO_ADOPTION_LEAST)
        return true;
    judge_canary(runs, first, end, review);
    if (review->action != PYRO_REVIEW_WAIT)
        return true;
    if (review->realised.verdict == PYRO_REALISED_HARMFUL)
        decide(review, PYRO_REVIEW_ROLL_BACK, "runs with these settings take longer");
    else
        decide(review, PYRO_REVIEW_KEEP,
               review->realised.verdict == PYRO_REALISED_YES ? "runs with these settings take less time"
                                                             : "runs with these settings show no harm");
    return true;
}
