/* Two runs side by side: what differs, and what the difference in wall time is attributed to (docs/compare.md). */
#ifndef PYRO_COMPARE_COMPARE_H
#define PYRO_COMPARE_COMPARE_H

#include "rules/rule.h"

enum pyro_cause {
#define PYRO_CAUSE(constant, name, words) PYRO_CAUSE_##constant,
#include "compare/causes.def"
#undef PYRO_CAUSE
    PYRO_CAUSES
};
extern const char *const pyro_cause_names[PYRO_CAUSES];
extern const char *const pyro_cause_words[PYRO_CAUSES];

/* A stage of one run and what it is in the other; a row is -1 where there is none. */
struct pyro_compared_stage {
    ptrdiff_t before, after;     /* in app->stages */
    int64_t before_ms, after_ms; /* of the wall account: scheduling and tasks */
    int64_t causes[PYRO_CAUSES]; /* add up to after_ms - before_ms */
    const char *volume;          /* "records_read", "bytes_read", "records_written", "bytes_written", NULL: none */
    double data_before, data_after;
    double slots_before, slots_after; /* alive on average while it was active; NaN: unknown */
};

struct pyro_compared_operator {
    struct pyro_slice name;
    int64_t before, after; /* how often the plan has it */
};
/* A query whose plan differs. */
struct pyro_compared_query {
    size_t before, after; /* in app->sql */
    const struct pyro_compared_operator *operators;
    size_t operator_count;
};

struct pyro_compared_setting {
    struct pyro_slice key, before, after; /* null: not set */
};

/* A finding of either run; NULL: that run has none of this id. */
struct pyro_compared_finding {
    const struct pyro_finding *before, *after;
};

enum { PYRO_COMPARED_QUERIES_KEPT = 200 };

struct pyro_comparison {
    const struct pyro_diagnosis *before, *after; /* the caller's */
    struct pyro_arena arena;
    int64_t before_ms, after_ms;        /* wall time */
    int64_t causes[PYRO_CAUSES];        /* add up to after_ms - before_ms */
    struct pyro_compared_stage *stages; /* largest difference first */
    size_t stage_count, matched_stages;
    double matched_share; /* of the wall time that both runs' stages have, in stages that both have; NaN: none */
    struct pyro_compared_query *queries;
    size_t query_count, matched_queries, changed_queries; /* query_count: those kept of changed_queries */
    size_t new_queries, gone_queries;
    struct pyro_compared_setting *settings; /* those that differ, by key */
    size_t setting_count;
    struct pyro_compared_finding *findings; /* those that are new, removed or of another severity, in that order */
    size_t finding_count;
};

enum pyro_status pyro_comparison_make(const struct pyro_diagnosis *before, const struct pyro_diagnosis *after,
                                      const struct pyro_allocator *allocator, struct pyro_comparison **ret,
                                      struct pyro_error *error);

/* A finding that both runs have, of other severity or the same, is not a new one. */
static inline bool pyro_compared_is_new(const struct pyro_compared_finding *finding)
{
    return !finding->before && finding->after;
}
/* Causes in the order of their weight: largest change in the direction of the whole first. `order` has PYRO_CAUSES. */
void pyro_causes_order(const int64_t *causes, int64_t total, unsigned *order);

/* The two runs hardly share a stage: they are other applications, or other versions of one. */
bool pyro_comparison_is_unlike(const struct pyro_comparison *comparison);

#endif
