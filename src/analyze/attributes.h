/* What the log says of a row and no column has: who started the application, whose trace it is part of, tags of jobs.
 * Names are those of attributes of the Spark plugin's spans (jvm/.../conf/Settings.java reads the same settings). */
#ifndef PYRO_ANALYZE_ATTRIBUTES_H
#define PYRO_ANALYZE_ATTRIBUTES_H

#include "model/app.h"

/* Of the application; null: the log does not say it. */
struct pyro_slice pyro_app_attribute(const struct pyro_app *app, const char *key);

#define PYRO_ATTRIBUTE_DAG         "airflow.dag_id"
#define PYRO_ATTRIBUTE_TASK        "airflow.task_id"
#define PYRO_ATTRIBUTE_RUN         "airflow.run_id"
#define PYRO_ATTRIBUTE_TRACE       "trace_id"       /* 32 hexadecimal digits */
#define PYRO_ATTRIBUTE_PARENT_SPAN "parent_span_id" /* 16 hexadecimal digits */

#endif
