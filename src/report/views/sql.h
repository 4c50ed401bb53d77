/* What the documents about SQL executions share. */
#ifndef PYRO_REPORT_VIEWS_SQL_H
#define PYRO_REPORT_VIEWS_SQL_H

#include "report/views/views.h"

/* Ids of the jobs of each row of app->sql: ids [ends[row - 1], ends[row]), in the order of the jobs' rows. */
struct pyro_view_sql_jobs {
    int64_t *ids;
    size_t *ends;
};
bool pyro_view_sql_jobs(const struct pyro_view_request *request, struct pyro_view_sql_jobs *ret);

/* What list and plan both say of an execution, as members of an object. */
void pyro_view_sql_head(struct pyro_json_writer *json, const struct pyro_view_request *request,
                        const struct pyro_view_sql_jobs *jobs, size_t row);

#endif
