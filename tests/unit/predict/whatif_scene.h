/* Questions to small applications, for tests of the models. */
#ifndef PYRO_TEST_WHATIF_SCENE_H
#define PYRO_TEST_WHATIF_SCENE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fixture.h"
#include "predict/model.h"

enum { WHATIF_START = 1000000 };

#define assert_near(value, expected, by) assert_true(fabs((value) - (expected)) <= (by))

struct whatif_scene {
    struct pyro_app *app;
    bool analyzed;
    struct pyro_whatif whatif;
};

/* An application of `ms`, not analyzed yet. */
struct whatif_scene whatif_scene(int64_t ms);
/* One job of one stage, both from `from` to `to`. Ids count from 0. */
void whatif_stage(struct whatif_scene *scene, int64_t from, int64_t to);
/* SQL execution 0 with a plan of one node; `node` is its name. */
void whatif_query(struct whatif_scene *scene, const char *node);
/* A task of the newest stage on executor "1". */
struct fixture_task whatif_task(struct whatif_scene *scene, int64_t from, int64_t to);
/* Answers "KEY=VALUE" (up to four, separated by blanks) and one sweep, or NULL; the first scenario. */
const struct pyro_scenario *whatif_answer(struct whatif_scene *scene, const char *set, const char *sweep);
/* The message of a refusal. */
const char *whatif_refusal(struct whatif_scene *scene, const char *set, const char *sweep);
/* What a model of that answer is not sure of, as a share of the time in tasks: that it may be shorter, or longer. */
double whatif_doubt(const struct whatif_scene *scene, const struct pyro_scenario *scenario, enum pyro_model_id model,
                    bool longer);
void whatif_free(struct whatif_scene *scene);

#endif
