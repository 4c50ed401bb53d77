/* Views of the stores that the server was given, for those who ask. */
#ifndef PYRO_SERVE_FLEET_QUESTION_H
#define PYRO_SERVE_FLEET_QUESTION_H

#include "fleet/suggest/suggestion_document.h"
#include "fleet/views/views.h"
#include "serve/request.h"

/* A question that outlives its request. */
struct serve_fleet_question {
    const char *view, *url; /* url: of the store */
    bool narrowed;          /* only what `viewer` may see */
    struct pyro_query_viewer viewer;
    struct pyro_fleet_options wanted; /* without prices */
};

/* The store of that number, from 1 in the order in which the server was given them; NULL: there is none. */
const char *pyro_serve_store_url(const struct pyro_catalog *catalog, size_t number);
/* What the question may see, by who asks (NULL: everything). False: no memory. */
bool pyro_serve_viewer(const struct serve_request *request, struct pyro_arena *arena,
                       struct serve_fleet_question *question);
/* Answers it. `prices` NULL: the library's own. */
enum pyro_status pyro_serve_fleet_write(const struct serve_fleet_question *question, const pyro_prices *prices,
                                        enum pyro_format format, const struct pyro_report_options *report,
                                        const struct pyro_options *options, const struct pyro_writer *writer,
                                        struct pyro_error *error);
/* Suggests for an application from what the question's store has and its viewer may see. */
enum pyro_status pyro_serve_suggestion_write(const struct serve_fleet_question *question, const char *application,
                                             const struct pyro_suggest_options *wanted,
                                             enum pyro_suggestion_format format, const struct pyro_options *options,
                                             const struct pyro_writer *writer, struct pyro_error *error);

#endif
