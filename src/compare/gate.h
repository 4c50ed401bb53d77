/* A run against its limits: severities, a budget, a baseline. docs/cli/gate.md says what each check means. */
#ifndef PYRO_COMPARE_GATE_H
#define PYRO_COMPARE_GATE_H

#include "compare/compare.h"

enum pyro_limit_id {
#define PYRO_LIMIT(constant, name, unit, words, compared, explains) PYRO_LIMIT_##constant,
#include "compare/limits.def"
#undef PYRO_LIMIT
    PYRO_LIMITS
};

struct pyro_limit_info {
    const char *name, *unit, *words;
    bool compared;
    bool means; /* a run that is clearly faster than its baseline may exceed it */
    const char *explains;
};
extern const struct pyro_limit_info pyro_limits[PYRO_LIMITS];

/* One thing that the run was held to. */
struct pyro_check {
    struct pyro_slice name; /* "complete", "fail_on.severe", "wall", "findings.moderate", "baseline.wall" */
    const char *unit;       /* "ms", "bytes", "share", "count" */
    double value, limit;    /* NaN: not a number's matter */
    bool passed;
    struct pyro_slice message;          /* one or more sentences */
    const struct pyro_finding *finding; /* that explains why it failed, or NULL */
};

struct pyro_gate {
    const struct pyro_diagnosis *diagnosis;
    struct pyro_comparison *comparison; /* with the baseline, or NULL */
    struct pyro_arena arena;
    PYRO_VEC(struct pyro_check) checks;
    size_t failed;
};

/* ---- Between gate.c and budget.c */

/* A limit that a budget sets. */
struct pyro_budget_limit {
    bool set;
    double value, tolerance;
};
struct pyro_budget {
    struct pyro_budget_limit limits[PYRO_LIMITS];
    struct pyro_budget_limit findings[4]; /* by severity: findings of it or worse */
};
enum pyro_status pyro_budget_read(struct pyro_arena *arena, const char *path, struct pyro_budget *ret,
                                  struct pyro_error *error);

#endif
