/* Applications made by hand, for tests of the analyses. */
#ifndef PYRO_TEST_FIXTURE_H
#define PYRO_TEST_FIXTURE_H

#include "analyze/analyze.h"

struct pyro_app *fixture_app(int64_t start_ms, int64_t end_ms);
struct pyro_stage *fixture_stage(struct pyro_app *app, int64_t id, int64_t submitted_ms, int64_t completed_ms);
struct pyro_executor *fixture_executor(struct pyro_app *app, const char *id, int64_t cores, int64_t added_ms,
                                       int64_t removed_ms);
/* `stage_ids` and, by fixture_parents(), parent ids must outlive the application. */
struct pyro_job *fixture_job(struct pyro_app *app, int64_t id, int64_t submitted_ms, int64_t completed_ms,
                             const int64_t *stage_ids, uint32_t stage_id_count);
void fixture_parents(struct pyro_app *app, int64_t stage, const int64_t *parents, uint32_t count);
/* Keeps properties sorted. */
void fixture_property(struct pyro_app *app, const char *kind, const char *key, const char *value);

/* A row with every metric 0, ready to change. */
struct fixture_task {
    int64_t row[PYRO_TASK_COLUMN_COUNT];
};
struct fixture_task fixture_task(struct pyro_app *app, int64_t stage, const char *executor, int64_t launch_ms,
                                 int64_t finish_ms);
void fixture_add(struct pyro_app *app, const struct fixture_task *task);
/* The two above in one: a successful task that only computed. */
void fixture_run(struct pyro_app *app, int64_t stage, const char *executor, int64_t launch_ms, int64_t finish_ms);
/* Analyses; fails the test on any error and when parts do not add up. */
void fixture_analyze(struct pyro_app *app);

#endif
