/* Answers for runs of which there is only the report: what a stored document allows to be said. */
#ifndef PYRO_SERVE_STORED_H
#define PYRO_SERVE_STORED_H

#include <jansson.h>

#include "catalog/catalog.h"

/* The report, as the diagnosis gives it or as it was stored. */
enum pyro_status pyro_stored_write_report(const struct pyro_catalog_diagnosis *opened, const struct pyro_writer *writer,
                                          struct pyro_error *error);
/* The same as a tree, a new reference; NULL: it could not be, as `error` says. */
json_t *pyro_stored_tree(const struct pyro_catalog_diagnosis *opened, struct pyro_error *error);
/* pyrometer.finding/1 of a stored report. PYRO_ERROR_ARGUMENT: it has no such finding. */
enum pyro_status pyro_stored_write_finding(const struct pyro_catalog_diagnosis *opened, const char *id,
                                           const struct pyro_writer *writer, struct pyro_error *error);
/* pyrometer.comparison/1 of two reports: amounts, accounts and findings side by side. What the difference is due to is
 * not said, nor are stages and queries compared: that takes both logs. */
enum pyro_status pyro_stored_write_comparison(const struct pyro_catalog_diagnosis *before,
                                              const struct pyro_catalog_diagnosis *after,
                                              const struct pyro_writer *writer, struct pyro_error *error);

#endif
