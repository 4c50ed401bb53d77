/* A query's plan as DataFlint sees it: the graph of the History Server's REST API, and which stage ran what.
 * docs/profiles/dataflint.md */
#ifndef PYRO_RULES_PROFILES_DATAFLINT_H
#define PYRO_RULES_PROFILES_DATAFLINT_H

#include "analyze/plans/plan_tree.h"
#include "base/memory/arena.h"

#define PYRO_NO_NODE UINT32_MAX

struct pyro_dataflint_node {
    uint32_t op;                                /* of the plan; of a reused exchange the one that it takes from */
    uint32_t parent, first_child, next_sibling; /* PYRO_NO_NODE: none */
    uint32_t child_count;
    bool reused;                /* stands for a node that is listed elsewhere */
    int64_t stage, write, read; /* rows of app->stages: of a plain operator, of an exchange's two sides; or -1 */
};

struct pyro_dataflint_graph {
    const struct pyro_plan_tree *plan;
    struct pyro_dataflint_node *nodes; /* parents before children */
    uint32_t count;
    uint32_t made_output; /* its first node where none is an output by itself: it is not an input then */
};

/* False: no memory. */
bool pyro_dataflint_graph(struct pyro_dataflint_graph *graph, const struct pyro_plan_tree *plan,
                          struct pyro_arena *arena);
struct pyro_slice pyro_dataflint_name(const struct pyro_dataflint_graph *graph, uint32_t node);

#endif
