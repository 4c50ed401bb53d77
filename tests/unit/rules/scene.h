/* Applications for the rules: a cluster and stages whose tasks are placed on its slots as a scheduler would. */
#ifndef PYRO_TEST_SCENE_H
#define PYRO_TEST_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "advice/advice.h"
#include "fixture.h"
#include "rules/finding.h"

enum { SCENE_START = 1000000, SCENE_SLOTS_MAX = 64 };

struct scene {
    struct pyro_app *app;
    unsigned executors, cores;
    int64_t now;                      /* where the next stage begins */
    int64_t free_at[SCENE_SLOTS_MAX]; /* of each slot */
    struct pyro_diagnosis *diagnosis;
};

/* Spark 3.5 on a cluster whose executors come after two seconds; the clock is after warm-up tasks, so that later tasks
 * are not the first on their executors. */
struct scene scene_new(unsigned executors, unsigned cores);
/* The same without warm-up tasks. */
struct scene scene_cold(unsigned executors, unsigned cores);
/* A task as `change` makes it, `ms` long. */
typedef void (*scene_change)(struct fixture_task *task, unsigned index, void *context);
/* Adds a stage of `count` tasks of `ms[index % kinds]`, run on all slots; the next stage begins behind it. */
struct pyro_stage *scene_stage(struct scene *scene, unsigned count, const int64_t *ms, unsigned kinds,
                               scene_change change, void *context);
/* A SQL execution whose plan follows; stages join it by their `sql`. It ends with the application unless set. */
struct pyro_sql_execution *scene_query(struct scene *scene, int64_t sql);
/* The next operator of that plan, below number `parent` (-1: the root). */
void scene_node(struct scene *scene, int64_t parent, const char *name, const char *detail, const char *metadata);
/* A metric of that operator, updated by stage `stage` (-1: by the driver). */
void scene_metric(struct scene *scene, int64_t stage, const char *name, int64_t value);
/* Ends the application here and evaluates all rules. */
void scene_end(struct scene *scene);
void scene_free(struct scene *scene);
/* The first finding of a rule, or NULL. */
const struct pyro_finding *scene_finding(const struct scene *scene, const char *rule);
enum pyro_verdict scene_verdict(const struct scene *scene, const char *rule);
/* Value of a setting that its rule advises, whether it is taken or not, or "". */
const char *scene_setting(const struct pyro_finding *finding, const char *key);
/* Ends the application, asserts that the rule finds something or nothing there, and frees it; `what` is for messages.
 */
void scene_judge(struct scene *scene, const char *rule, bool finds, const char *what);
#define scene_quiet(scene, rule) assert_null(scene_finding((scene), (rule)))

#endif
