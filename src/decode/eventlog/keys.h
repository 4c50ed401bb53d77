/* Keys of objects that several events carry, in the order in which Spark writes them. */
#ifndef PYRO_DECODE_EVENTLOG_KEYS_H
#define PYRO_DECODE_EVENTLOG_KEYS_H

#include "base/json/json_read.h"

/* SparkPlanInfo, and its metrics. */
PYRO_JSON_KEYS(plan_node_keys, (NODE_NAME, "nodeName"), (NODE_TEXT, "simpleString"), (NODE_CHILDREN, "children"),
               (NODE_METADATA, "metadata"), (NODE_METRICS, "metrics"));
PYRO_JSON_KEYS(plan_metric_keys, (METRIC_NAME, "name"), (METRIC_ACCUMULATOR, "accumulatorId"),
               (METRIC_TYPE, "metricType"));

/* AccumulableInfo, of a stage or a task. */
PYRO_JSON_KEYS(accumulable_keys, (ACCUMULABLE_ID, "ID"), (ACCUMULABLE_NAME, "Name"), (ACCUMULABLE_UPDATE, "Update"),
               (ACCUMULABLE_VALUE, "Value"), (ACCUMULABLE_INTERNAL, "Internal"),
               (ACCUMULABLE_COUNTS_FAILED, "Count Failed Values"), (ACCUMULABLE_METADATA, "Metadata"));

#endif
