/* What plan_tree.c and plan_time.c share while a plan is built. */
#ifndef PYRO_ANALYZE_PLANS_PLAN_BUILD_H
#define PYRO_ANALYZE_PLANS_PLAN_BUILD_H

#include "analyze/plans/plan_tree.h"

struct pyro_plan_tie {
    uint32_t owner; /* an operator, or plan->count + a segment */
    uint32_t stage; /* entry of plan->own_stages */
};

struct pyro_plan_segments {
    const struct pyro_allocator *allocator;
    /* Of each operator: operators between two exchanges are one segment, since a task runs all of them. */
    uint32_t *segment;
    PYRO_VEC(struct pyro_plan_tie) ties;
};

/* Entry of plan->own_stages that is this row of app->stages. */
uint32_t pyro_plan_own_stage(const struct pyro_plan_tree *plan, uint32_t row);
/* The longest of its timings in ms, whatever they are called. */
double pyro_op_longest_timing(const struct pyro_plan_tree *plan, uint32_t op);
/* Fills time_ms of the operators, task_ms and other_ms; false when there is no memory. */
bool pyro_plan_attribute(struct pyro_plan_segments *segments, struct pyro_plan_tree *plan, struct pyro_arena *scratch);

#endif
