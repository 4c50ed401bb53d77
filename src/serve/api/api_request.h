/* Pyrometer's own REST API: one family of endpoints a file, all of them rows of routes.def. docs/api.md describes it,
 * docs/api/openapi.json defines it. */
#ifndef PYRO_SERVE_API_API_REQUEST_H
#define PYRO_SERVE_API_API_REQUEST_H

#include "serve/api/answer_job.h"
#include "serve/request.h"
#include "text/json_write.h"

enum { API_ARGUMENTS = 4 };

struct api_request {
    struct serve_request *http;
    struct pyro_slice arguments[API_ARGUMENTS]; /* what stood for the {} of the route */
    /* Of routes below an application, which is as the list has it: */
    const struct pyro_slice *below; /* segments behind it */
    size_t below_count;
    const struct pyro_catalog_app *app;
    const struct pyro_attempt *attempt;
};

typedef void api_handler(struct api_request *request);
#define ROUTE(method, path, handler, scope, class, parameters) api_handler pyro_api_##handler;
#include "report/report.h"
#include "serve/api/routes.def"
#undef ROUTE

/* Answers a request whose path is the service's, or, below `prefix`, what follows that. */
void pyro_api_dispatch(struct serve_request *http, const char *prefix);

/* Says in the header Allow which methods that path takes. */
void pyro_api_allow(struct serve_request *http, const char *path);

/* The answer is an error; its code follows from the status. */
void pyro_api_error(struct serve_request *http, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The answer is what a function of the library says: 422 for what cannot be read, 503 for what was stopped or had no
 * memory, else `otherwise`. */
void pyro_api_fail(struct serve_request *http, const struct pyro_error *error, unsigned otherwise);

/* ---- Parameters; false: it is wrong, and the request is answered ---- */

bool pyro_api_number(struct api_request *request, const char *name, int64_t least, int64_t most, int64_t fallback,
                     int64_t *ret);
/* One of `names` (ended by NULL); *ret is its number, `fallback` where the parameter is missing. */
bool pyro_api_choice(struct api_request *request, const char *name, const char *const *names, size_t fallback,
                     size_t *ret);

/* ---- Answers ---- */

/* A small document, written into the answer: begin, members, end. */
struct api_document {
    struct pyro_writer writer;
    struct pyro_output output;
    struct pyro_json_writer json;
};
void pyro_api_begin(struct api_request *request, struct api_document *document, const char *schema);
void pyro_api_end(struct api_request *request, struct api_document *document);

/* A job with the diagnosis of the request's application; NULL: the request is answered. */
struct api_job *pyro_api_open(struct api_request *request, api_work *work);
/* The same with the report alone where that is all there is. */
struct api_job *pyro_api_open_report(struct api_request *request, api_work *work);
/* What is available of any attempt; NULL: the request is answered. `whole`: the report alone will not do. */
const struct pyro_catalog_diagnosis *pyro_api_diagnosis(struct serve_request *http, struct pyro_slice app,
                                                        struct pyro_slice attempt, bool whole);
/* Gives the answer a tag made of all that it depends on: the log, the request, this program. True: the client has that
 * one, and there is nothing to do. */
bool pyro_api_is_known(struct api_request *request);

#endif
