/* What answers a request: one endpoint family a file, all of them rows of routes.def. */
#ifndef PYRO_SERVE_API_H
#define PYRO_SERVE_API_H

#include "serve/catalog.h"
#include "serve/json.h"

/* One `name=value` of the query, decoded. */
struct pyro_serve_parameter {
    struct pyro_slice name, value;
};

enum { SERVE_PARAMETERS = 64, SERVE_SEGMENTS = 16 };

struct serve_request {
    struct serve_catalog *catalog;
    struct pyro_serve_parameter parameters[SERVE_PARAMETERS];
    size_t parameter_count;
    struct pyro_slice app_id, attempt_id; /* attempt_id may be null */
    struct pyro_slice arguments[4];       /* what stood for the {} of the route */
    const struct pyro_history *history;   /* of routes below an application; else NULL */
    struct pyro_strbuf *out;
    struct serve_json json; /* writes to `out` */
    unsigned status;        /* 200, or of the error whose text is in `out` */
};

typedef void serve_handler(struct serve_request *request);
#define ROUTE(path, handler, scope) serve_handler pyro_serve_##handler;
#include "serve/routes.def"
#undef ROUTE

/* applications/ID and applications/ID/ATTEMPT. */
void pyro_serve_application(struct serve_request *request);
void pyro_serve_application_attempt(struct serve_request *request);

/* Answers GET `path` (without query), which must be below /api/v1/. */
void pyro_serve_dispatch(struct serve_request *request, struct pyro_slice path);

/* The answer is an error with this text. */
void pyro_serve_error(struct serve_request *request, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The parameter's value, or a null slice. */
struct pyro_slice pyro_serve_parameter(const struct serve_request *request, const char *name);
/* The `index`-th value of a parameter that may be given several times, or a null slice. */
struct pyro_slice pyro_serve_parameter_at(const struct serve_request *request, const char *name, size_t index);
bool pyro_serve_flag(const struct serve_request *request, const char *name);
/* False, and the request answered with 404 as Spark does, when it is no number. */
bool pyro_serve_number(struct serve_request *request, const char *name, int64_t fallback, int64_t *ret);
/* A path's segment of digits; -1: not a number, which no route has. */
int64_t pyro_serve_id(struct pyro_slice text);
/* Values of an enumeration that a request selects by; bit i for names[i]. All bits when none is given. False, and
 * answered with 404, when a value is none of them. */
bool pyro_serve_choices(struct serve_request *request, const char *parameter, const char *const *names, size_t count,
                        uint32_t *ret);
/* "0.05,0.5": false, and answered with 400, when a word is no number. At most SERVE_QUANTILES. */
enum { SERVE_QUANTILES = 64 };
bool pyro_serve_quantiles(struct serve_request *request, const char *fallback, double *quantiles, size_t *ret_count);

/* ---- Shared by families ---- */

void pyro_serve_pairs_object(struct serve_json *json, const char *key, const pyro_history_pairs *pairs);
void pyro_serve_counts_object(struct serve_json *json, const char *key, const pyro_history_counts *counts);
void pyro_serve_peaks(struct serve_json *json, const char *key, const struct pyro_history_peaks *peaks);
void pyro_serve_accumulables(struct serve_json *json, const struct pyro_history_accumulable *items, size_t count);
const struct pyro_history_executor *pyro_serve_find_executor(const struct pyro_history *history, struct pyro_slice id);

/* The stage attempt that a route's first two segments name; NULL: there is none, and the request is answered. */
const struct pyro_history_stage *pyro_serve_find_stage(struct serve_request *request);

/* Tasks of a stage. Their statuses are bits of enum pyro_history_task_status. */
void pyro_serve_write_task(struct serve_json *json, const struct pyro_history *history,
                           const struct pyro_history_task *task);
/* Members of a stage's summary over its tasks; false: no task has metrics, nothing is written. */
bool pyro_serve_write_task_distributions(struct serve_json *json, const struct pyro_history *history,
                                         const struct pyro_history_stage *stage, const double *quantiles, size_t count,
                                         bool *ret_memory);
extern const char *const pyro_serve_task_statuses[4];

#endif
