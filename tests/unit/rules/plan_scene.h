/* Applications of one query, for rules that read plans. */
#ifndef PYRO_TEST_PLAN_SCENE_H
#define PYRO_TEST_PLAN_SCENE_H

#include "scene.h"

/* A run of one query whose plan the test fills in; its one stage ran every operator. */
struct query {
    struct scene scene;
    struct pyro_strbuf ids;
    int64_t accumulators, last;
};

struct query query_new(void);
/* The next operator of the plan, below number `parent` (PYRO_NONE: the root). */
void query_add(struct query *query, int64_t parent, const char *name, const char *detail, const char *metadata);
/* A metric of operator `node`, which the query's stage updates. */
void query_metric(struct query *query, int64_t node, const char *name, const char *type, int64_t value);
void query_rows(struct query *query, int64_t node, int64_t count);
/* Adds the stage that ran the plan, its job, and one task of `other_ms` for something else; evaluates all rules. */
void query_run(struct query *query, int64_t other_ms);
/* The same without other work. */
void query_end(struct query *query);
void query_free(struct query *query);

#endif
