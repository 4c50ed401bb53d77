/* Places that show one fault, kept whole: like cases.h, but every stage stays, so that a finding can say what each of
 * them would have been (remedy.h). */
#ifndef PYRO_RULES_CASES_SITES_H
#define PYRO_RULES_CASES_SITES_H

#include "rules/rule.h"

struct pyro_spot {
    size_t stage;  /* row in app->stages */
    double weight; /* ms that it costs: the heaviest of a site speaks for it */
    int kind;      /* spots of one site but of two kinds are two findings */
    double value[10];
    const void *about; /* the rule's own */
    struct pyro_slice site;
};

struct pyro_spots {
    PYRO_VEC(struct pyro_spot) list;
};

struct pyro_spot *pyro_spots_add(struct pyro_rule_context *context, struct pyro_spots *spots, size_t stage_row);
/* Puts spots of one site (pyro_stage_site) and kind together, the heaviest first. */
void pyro_spots_group(struct pyro_rule_context *context, struct pyro_spots *spots);
/* End of the group that begins at `first`. */
size_t pyro_spots_end(const struct pyro_spots *spots, size_t first);
double pyro_spots_weight(const struct pyro_spots *spots, size_t first, size_t end);
double pyro_spots_sum(const struct pyro_spots *spots, size_t first, size_t end, size_t value);
/* What a rule does with its spots in the end: groups them, hands each group that weighs at least `share` of the
 * application's wall time to `report`, and frees the spots. True when there was one. */
bool pyro_spots_report(struct pyro_rule_context *context, struct pyro_spots *spots, double share,
                       void (*report)(struct pyro_rule_context *context, const struct pyro_spots *spots, size_t first,
                                      size_t end));
void pyro_spots_done(struct pyro_rule_context *context, struct pyro_spots *spots);

#endif
