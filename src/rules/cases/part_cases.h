/* Stages whose tasks spend too much of their time on one thing that is not their work: waiting for shuffle blocks,
 * writing them, being scheduled, being deserialized. */
#ifndef PYRO_RULES_CASES_PART_CASES_H
#define PYRO_RULES_CASES_PART_CASES_H

#include "analyze/accounts/fixed_point.h"
#include "rules/rule.h"

/* Task time of one stage by its parts (PYRO_SPLIT_...), of successful tasks that are not the first of an executor. */
struct pyro_stage_parts {
    double tasks, work_ms, part_ms[PYRO_SPLIT_PARTS];
    /* The same without the first tasks of this stage on each executor, which fetch and compile what others find. */
    double steady_tasks, steady_ms, steady_part_ms[PYRO_SPLIT_PARTS];
};
/* One entry a stage row, made when first asked for; NULL when there is no memory (and context->failed is set). */
const struct pyro_stage_parts *pyro_stage_parts(struct pyro_rule_context *context);

struct pyro_part_limits {
    unsigned parts; /* bits 1 << PYRO_SPLIT_... that count together */
    bool steady;    /* leave the first tasks of a stage on each executor out */
    double share;   /* of the task time */
    double mean_ms; /* a task */
    double usual;   /* share that a healthy run shows as well */
    /* Of all stages of a site together: */
    double total_ms, total_share; /* of the application's task time */
};

struct pyro_part_case {
    size_t stage;                   /* row in app->stages */
    double tasks, work_ms, part_ms; /* as judged */
    double factor;                  /* what its tasks would take of their time without the excess */
    struct pyro_slice site;
    size_t lead; /* entry of the same site with the most excess: where its finding is made */
    /* In the lead, of all stages of the site: */
    size_t stages;
    double all_tasks, all_work_ms, all_part_ms;
};

struct pyro_part_cases {
    PYRO_VEC(struct pyro_part_case) list; /* most excess first */
    double usual;
};

/* Every rule about such parts has a share and a time per task as its first thresholds, and these three in a row. */
#define PYRO_PART_TOTALS(usual)                                                                                        \
    {"total_ms_min", 2000, "ms", "Quiet if the sum over all tasks at a call site is smaller"},                         \
        {"total_share_min", 0.01, "share", "... or a smaller share of the application's task time"},                   \
    {                                                                                                                  \
        "usual_share", usual, "share", "Share that remains in a healthy run"                                           \
    }
/* The limits of the context's rule; `totals`: the place of the three. */
struct pyro_part_limits pyro_part_limits(const struct pyro_rule_context *context, unsigned parts, size_t totals);

typedef bool pyro_part_filter(struct pyro_rule_context *context, size_t stage);
/* Says what is found at a site. */
typedef void pyro_part_report(struct pyro_rule_context *context, struct pyro_finding *finding,
                              const struct pyro_part_cases *cases, size_t lead);

/* Reports each site beyond the limits whose first stage `filter` lets pass; NULL: all. */
enum pyro_verdict pyro_part_cases_evaluate(struct pyro_rule_context *context, const struct pyro_part_limits *limits,
                                           pyro_part_filter *filter, pyro_part_report *report);
/* Adds place, the evidence NAME_share, NAME_ms and mean_NAME_ms, "stages", and the edits of all stages of the site. */
void pyro_part_cases_report(struct pyro_rule_context *context, struct pyro_finding *finding,
                            const struct pyro_part_cases *cases, size_t lead, const char *name);
/* " 3 stages of this place show it.", or "". */
const char *pyro_part_cases_more(struct pyro_rule_context *context, const struct pyro_part_case *lead);

#endif
