/* Parts of a stage's time that a trace of the kernel explains: what the rules share that judge by it. */
#ifndef PYRO_RULES_TASKS_TRACED_H
#define PYRO_RULES_TASKS_TRACED_H

#include "analyze/tracks/stage_waits.h"
#include "rules/cases/sites.h"
#include "rules/rule.h"

/* Whether a part of a stage's time is what the rule is about. */
typedef bool pyro_traced_matches(const struct pyro_traced_wait *wait);

struct pyro_traced_part {
    double share;               /* of the traced time of the stage's tasks that is known; measured, not sampled */
    double seconds;             /* of all its tasks */
    double tasks;               /* that were traced */
    struct pyro_slice by, what; /* the longest of it; null: not known */
    double by_share;            /* of all that matches, with all processes of that name */
    double processes;           /* with that name */
    double count, bytes;        /* how often, and bytes read or written */
};

/* What matches of the stage's time. */
struct pyro_traced_part pyro_traced_part(const struct pyro_rule_context *context, size_t stage,
                                         pyro_traced_matches *matches);
/* Adds a spot for it. NULL: no memory. */
struct pyro_spot *pyro_traced_add(struct pyro_rule_context *context, struct pyro_spots *spots, size_t stage,
                                  const struct pyro_traced_part *part);
/* Adds a finding at the stage of the first spot [first, end) with the evidence NAME_share, traced_ms and traced_tasks.
 * The simulated tasks are shorter by `saved` of their shares. NULL: no memory. */
struct pyro_finding *pyro_traced_finding(struct pyro_rule_context *context, const struct pyro_spots *spots,
                                         size_t first, size_t end, const char *name,
                                         const struct pyro_traced_part *part, double saved);
/* Examines each stage that was traced and reports as pyro_sampled_evaluate() does. The rule does not apply to
 * runs that were not traced. */
enum pyro_verdict pyro_traced_evaluate(struct pyro_rule_context *context, double share,
                                       void (*examine)(struct pyro_rule_context *context, struct pyro_spots *spots,
                                                       size_t stage),
                                       void (*report)(struct pyro_rule_context *context, const struct pyro_spots *spots,
                                                      size_t first, size_t end));
/* A rule about one part of the traced time. Its thresholds are PYRO_TRACED_SHARE and PYRO_TRACED_SAVING. */
enum { PYRO_TRACED_SHARE, PYRO_TRACED_SAVING, PYRO_TRACED_THRESHOLDS };
#define PYRO_TRACED_LIMITS(name, value, doc)                                                                           \
    {                                                                                                                  \
        [PYRO_TRACED_SHARE] = {name, value, "share", doc}, [PYRO_TRACED_SAVING] = {                                    \
            "saving_share_min",                                                                                        \
            0.02,                                                                                                      \
            "share",                                                                                                   \
            "Quiet if the waits cost less of the application's time"                                                   \
        }                                                                                                              \
    }
struct pyro_traced_rule {
    pyro_traced_matches *matches;
    /* What lasts longer because of something else, and counts where `matches` alone is at least half of the threshold.
     * NULL: nothing. */
    pyro_traced_matches *stretched;
    const char *evidence; /* "disk_share" */
    double saved;         /* of the part, if the advice is followed */
    double confidence;    /* of what the trace allows */
    struct pyro_slice (*say)(struct pyro_rule_context *context, size_t stage, const struct pyro_traced_part *part);
    const char *advice, *verify;
};
/* Judges by context->rule->traced. */
enum pyro_verdict pyro_traced_judge(struct pyro_rule_context *context);

/* "For 40 % of their time (3 s in all) tasks of Stage 5 (...)": how the causes begin. */
const char *pyro_traced_say_share(struct pyro_rule_context *context, size_t stage, const struct pyro_traced_part *part);
/* "stress (123)", or what else is known; "something that the trace does not name". */
const char *pyro_traced_culprit(struct pyro_rule_context *context, const struct pyro_traced_part *part);

#endif
