/* The next run from this one: questions of users, answered side by side. */
#ifndef PYRO_ADVICE_WHATIF_API_H
#define PYRO_ADVICE_WHATIF_API_H

#include "predict/predict.h"
#include "rules/rule.h"

/* A finding on a changed run. */
struct pyro_scenario_finding {
    const struct pyro_finding *finding;
    bool known; /* what fixing it would change says something about the changed run */
    enum pyro_severity severity;
    int64_t saves_ms;
};

/* There is time to judge all findings on all scenarios. */
bool pyro_whatif_judges(const struct pyro_whatif *whatif);
/* Answers one scenario, its findings included. Threads each have a fork of the run's replay and an arena whose texts
 * outlive the answer. */
enum pyro_status pyro_whatif_answer(const struct pyro_whatif *whatif, struct pyro_replay *replay,
                                    struct pyro_arena *arena, struct pyro_scenario *scenario, struct pyro_error *error);

#endif
