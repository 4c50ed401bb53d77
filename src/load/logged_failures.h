/* Errors of text logs as rows of `failures`, so that rules and reports see them without knowing of logs. */
#ifndef PYRO_LOAD_LOGGED_FAILURES_H
#define PYRO_LOAD_LOGGED_FAILURES_H

#include "decode/artefact_kinds.h"
#include "model/app.h"

enum { PYRO_LOGGED_FAILURES = 1000 };

/* Adds a row for each different error, newest first, at most PYRO_LOGGED_FAILURES. One that an event says already is
 * not added: it counts once. */
enum pyro_status pyro_logged_failures_add(struct pyro_app *app, const struct pyro_text_logs *logs,
                                          struct pyro_error *error);

#endif
