/* Parts of a stage's time that profilers saw, with how sure samples make them. */
#ifndef PYRO_RULES_TASKS_SAMPLED_H
#define PYRO_RULES_TASKS_SAMPLED_H

#include "analyze/tracks/stage_samples.h"
#include "rules/cases/sites.h"
#include "rules/rule.h"

/* A part of the time of a stage's tasks: 95 % interval by Wilson's formula (1927). Waits that were recorded one by one
 * are measured, not sampled: their interval is empty. */
struct pyro_sampled_share {
    double share, low, high; /* 0..1 */
    double count;            /* samples or waits that it rests on, those of other methods among them */
};
struct pyro_sampled_share pyro_sampled_share(const struct pyro_app *app, const struct pyro_stage_samples *samples,
                                             size_t stage, enum pyro_sample_clock clock, double weight);

/* Adds the evidence NAME_share, share_low, share_high and samples. */
void pyro_sampled_evidence(struct pyro_rule_context *context, struct pyro_finding *finding, const char *name,
                           const struct pyro_sampled_share *share);
/* "800 samples, 97 to 99 %" or "1,600 recorded waits". */
const char *pyro_sampled_basis(struct pyro_rule_context *context, const struct pyro_sampled_share *share,
                               enum pyro_sample_clock clock);
/* A method as people write it: "ask_service (slacker.py)", "java.lang.Thread.sleep". `frame` -1: "". */
const char *pyro_say_method(struct pyro_rule_context *context, int32_t frame);
/* Wall time that a part of the stage's task time costs, shared by the slots that its tasks use. */
double pyro_sampled_ms(const struct pyro_app *app, size_t stage, double share);

/* Adds a spot that keeps the share in the first PYRO_SAMPLED_VALUES of its values; the rule may use the others. NULL:
 * no memory. */
enum { PYRO_SAMPLED_VALUES = 4 };
struct pyro_spot *pyro_sampled_add(struct pyro_rule_context *context, struct pyro_spots *spots, size_t stage,
                                   const struct pyro_sampled_share *share);
struct pyro_sampled_share pyro_sampled_share_of(const struct pyro_spot *spot);
/* Tasks of the stages of the spots [first, end) would be shorter by `part` of the share of their time. */
void pyro_sampled_remedy(struct pyro_rule_context *context, struct pyro_finding *finding,
                         const struct pyro_spots *spots, size_t first, size_t end, double part);
/* Examines each stage whose samples are known, and reports groups of spots that weigh at least `share` of the
 * application's wall time. Without samples the rule does not apply. */
enum pyro_verdict pyro_sampled_evaluate(struct pyro_rule_context *context, double share,
                                        void (*examine)(struct pyro_rule_context *context, struct pyro_spots *spots,
                                                        size_t stage),
                                        void (*report)(struct pyro_rule_context *context,
                                                       const struct pyro_spots *spots, size_t first, size_t end));

#endif
