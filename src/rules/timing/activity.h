/* When stages ran side by side: how much of any span of time none of them, or just one, was running. */
#ifndef PYRO_RULES_TIMING_ACTIVITY_H
#define PYRO_RULES_TIMING_ACTIVITY_H

#include "base/memory/arena.h"
#include "model/app.h"

/* Begin (its first task could start) and end of a stage that ran tasks, in ms; INFINITY and -INFINITY for one that ran
 * none. A stage without an end lasts to the application's. */
double pyro_stage_from(const struct pyro_stage *stage);
double pyro_stage_to(const struct pyro_app *app, const struct pyro_stage *stage);

struct pyro_activity;

/* Of all stages, in the arena; NULL when there is no memory. One sort, whatever number of spans is asked for later. */
struct pyro_activity *pyro_activity_new(const struct pyro_app *app, struct pyro_arena *arena);
/* Milliseconds of [from, to) in which no stage ran, and in which exactly one did. */
double pyro_activity_none(const struct pyro_activity *activity, double from, double to);
double pyro_activity_one(const struct pyro_activity *activity, double from, double to);

#endif
