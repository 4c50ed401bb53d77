/* What answers a request to Spark's REST API: one endpoint family a file, all of them rows of routes.def. */
#ifndef PYRO_SERVE_SPARK_SPARK_REQUEST_H
#define PYRO_SERVE_SPARK_SPARK_REQUEST_H

#include "report/sparkview/sparkview.h"
#include "serve/request.h"

enum { SPARK_ARGUMENTS = 4 };

struct spark_request {
    struct serve_request *http;
    struct pyro_catalog *catalog;
    struct pyro_slice app_id, attempt_id;         /* attempt_id may be null */
    struct pyro_slice arguments[SPARK_ARGUMENTS]; /* what stood for the {} of the route */
    const struct pyro_history *history;           /* of routes below an application; else NULL */
    struct spark_json json;                       /* writes the answer */
};

typedef void spark_handler(struct spark_request *request);
#define ROUTE(path, handler, scope) spark_handler pyro_spark_##handler;
#include "serve/spark/routes.def"
#undef ROUTE

/* applications/ID and applications/ID/ATTEMPT. */
void pyro_spark_application(struct spark_request *request);
void pyro_spark_application_attempt(struct spark_request *request);

/* The answer is an error with this text. */
void pyro_spark_error(struct spark_request *request, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void pyro_spark_no_such_app(struct spark_request *request);
/* The text is the path: Spark's own answer to what is not below an application. */
void pyro_spark_no_such_path(struct spark_request *request);
/* The page that Jetty shows where Jersey found nothing (404, 405) or Spark failed (500). */
void pyro_spark_fault(struct spark_request *request, unsigned status);
/* A number of digits; -1: beyond 64 bits. */
int64_t pyro_spark_id(struct pyro_slice digits);

bool pyro_spark_flag(const struct spark_request *request, const char *name);
/* A flag that is off only with another value than true: an empty one counts as none. */
bool pyro_spark_flag_or(const struct spark_request *request, const char *name, bool fallback);
/* An empty value counts as none. False, and the request answered with 404 as Spark does, if it is not a number. */
bool pyro_spark_number(struct spark_request *request, const char *name, int64_t fallback, int64_t *ret);
/* Values of an enumeration that a request selects by; bit i for names[i], SPARK_NULL_CHOICE for an empty value, which
 * nothing has. All bits when none is given. False, and answered with 404, when a value is none of them. */
#define SPARK_NULL_CHOICE ((uint32_t)1 << 31)
bool pyro_spark_choices(struct spark_request *request, const char *parameter, const char *const *names, size_t count,
                        uint32_t *ret);
/* "0.05,0.5", sorted: false, and answered with 400, if a word is not a number or there are more than
 * SPARK_QUANTILES. */
enum { SPARK_QUANTILES = 128 };
bool pyro_spark_quantiles(struct spark_request *request, const char *fallback, double *quantiles, size_t *ret_count);
/* Of sorted numbers, the place of a quantile, as Scala makes a whole number of the share. */
int64_t pyro_spark_place(double quantile, size_t count);

/* ---- Shared by families ---- */

/* The stage attempt that a route's first two segments name; NULL: there is none, and the request is answered. */
const struct pyro_history_stage *pyro_spark_find_stage(struct spark_request *request);

/* Tasks of a stage, and how many of them are read at once. Their statuses are bits of enum pyro_history_task_status. */
enum { SPARK_TASKS_AT_ONCE = 64 };
void pyro_spark_write_task(struct spark_json *json, const struct pyro_history *history,
                           const struct pyro_history_task *task);
/* A stage's summary over its tasks, where any has metrics; false: no memory. */
struct spark_summaries;
bool pyro_spark_write_task_distributions(struct spark_json *json, struct spark_summaries *summaries,
                                         const struct pyro_history_stage *stage);
void pyro_spark_write_quantiles(struct spark_json *json, struct spark_summaries *summaries);
enum { SPARK_TASK_STATUSES = 5 }; /* the last one, UNKNOWN, no task has */
extern const char *const pyro_spark_task_statuses[SPARK_TASK_STATUSES];

#endif
