/* Documents about one application, in addition to its report: what a page about it draws. The same bytes serve the
 * server (docs/api.md) and the HTML report. Each is bounded by the model it is written from, and streams. */
#ifndef PYRO_REPORT_VIEWS_VIEWS_H
#define PYRO_REPORT_VIEWS_VIEWS_H

#include "analyze/analyze.h"
#include "base/memory/allocator.h"
#include "text/json_write.h"

enum { PYRO_VIEW_IDS = 2, PYRO_VIEW_TASKS = 500000 };

struct pyro_view_request {
    const struct pyro_diagnosis *diagnosis;
    const struct pyro_app *app;
    int64_t ids[PYRO_VIEW_IDS]; /* what stands for each {#} of the path */
    size_t most_tasks;
    int64_t tracks_from_ns, tracks_to_ns; /* from the application's start; to 0: until its end */
    struct pyro_arena *arena;             /* working memory of this document */
};

/* Writes one document. Before anything is written: PYRO_ERROR_ARGUMENT where the application has no such stage or
 * query, PYRO_ERROR_MEMORY. */
typedef enum pyro_status pyro_view(struct pyro_json_writer *json, const struct pyro_view_request *request,
                                   struct pyro_error *error);
#define PYRO_VIEW(path, function, schema) pyro_view pyro_view_##function;
#include "report/report.h"
#include "report/views/views.def"
#undef PYRO_VIEW

enum pyro_status pyro_view_no_memory(struct pyro_error *error);

/* to - from, PYRO_NONE where either is unknown or the difference does not fit. */
int64_t pyro_view_span(int64_t from, int64_t to);
/* The application's start, 0 when unknown: what relative times count from. */
int64_t pyro_view_start(const struct pyro_app *app);

/* ---- Tasks ---- */

/* Runs of tasks by launch, equal ones in the order of the log. Records that repeat a task (Resubmitted) and those
 * without a launch time are not runs. */
struct pyro_view_tasks {
    uint32_t *rows; /* in app->tasks */
    size_t count;   /* of `rows` */
    size_t all;     /* before the shortest were left out */
};
/* All runs of the application, or those of one row of app->stages; beyond `most` the longest stay. Successful ones go
 * before failed ones. */
bool pyro_view_tasks_load(const struct pyro_view_request *request, ptrdiff_t stage_row, struct pyro_view_tasks *ret);
/* Leaves the shortest out, until `most` are left. False: no memory. */
bool pyro_view_tasks_thin(const struct pyro_view_request *request, struct pyro_view_tasks *tasks);
int64_t pyro_view_task_duration(const struct pyro_app *app, uint32_t row);
/* 0 succeeded, 1 failed, 2 killed. */
int64_t pyro_view_task_status(const struct pyro_app *app, uint32_t row);

/* For each entry of `executor` (ascending by launch as the tasks are) the lowest row of its executor that is free:
 * tasks at the same time never share one. False: no memory. */
bool pyro_view_slots(const struct pyro_view_request *request, const struct pyro_view_tasks *tasks,
                     const uint32_t *executor, size_t executor_count, uint32_t *slots);

#endif
