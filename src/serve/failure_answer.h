/* What a failure of the library is to a client: which status it gets, and words without a path of this machine. */
#ifndef PYRO_SERVE_FAILURE_ANSWER_H
#define PYRO_SERVE_FAILURE_ANSWER_H

#include "base/error.h"
#include "serve/request.h"

enum { SERVE_FAILURE_BYTES = 1600 };

/* 422: the input's own bytes are why, so that asking again does not help. 503: it may help. 500: a defect. Where the
 * caller has a better word for PYRO_ERROR_ARGUMENT, it says so itself. */
unsigned pyro_failure_status(const struct pyro_error *error);
/* The last part of the file's name, unless a store is meant, and why; for `text` of SERVE_FAILURE_BYTES. */
void pyro_failure_text(const struct pyro_error *error, char *text);
/* What such an answer says to caches, that it holds for this one request, and of 503 to those who try again. Of errors
 * it is called for each answer. */
void pyro_failure_headers(struct serve_request *request, unsigned status);
/* Answers with all three. */
void pyro_serve_failure(struct serve_request *request, const struct pyro_error *error);

#endif
