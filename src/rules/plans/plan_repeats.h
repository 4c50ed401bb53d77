/* Parts of physical plans that several SQL executions computed, each by itself. */
#ifndef PYRO_RULES_PLANS_PLAN_REPEATS_H
#define PYRO_RULES_PLANS_PLAN_REPEATS_H

#include "rules/rule.h"

struct pyro_repeated_stage {
    size_t stage;  /* row */
    double factor; /* of its task time that is left when the part is kept; 0: it need not run */
};

struct pyro_plan_repeat {
    size_t node;      /* row in app->sql_nodes: top of the part, in the first execution */
    size_t first_sql; /* row */
    size_t times;     /* executions, nested ones counted once */
    size_t operators; /* in the part */
    bool exact;       /* the same filters and columns too */
    ptrdiff_t stage;  /* the first stage row that would be saved, -1 */
    double saved;     /* task ms of all executions but the first */
    struct pyro_repeated_stage *parts;
    size_t part_count;
};

struct pyro_plan_repeats {
    struct pyro_plan_repeat *items; /* most saved first */
    size_t count;
};

/* `shared`: share of the shortest stage's work that counts as belonging to the part, where a stage does more than it;
 * `shared_scan`: the same where the part only reads, filters and projects. In the scratch arena; false when there is no
 * memory. */
bool pyro_plan_repeats_load(struct pyro_rule_context *context, double shared, double shared_scan,
                            struct pyro_plan_repeats *ret);

#endif
