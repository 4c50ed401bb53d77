/* One function for each decoder named in events.def, in the file of its subject. */
#ifndef PYRO_DECODE_EVENTLOG_DECODERS_H
#define PYRO_DECODE_EVENTLOG_DECODERS_H

#include <stdbool.h>

struct pyro_json_reader;
struct pyro_builder;

#define PYRO_DECODER(name) bool pyro_decode_##name(struct pyro_json_reader *json, struct pyro_builder *builder)

/* application.c */
PYRO_DECODER(log_start);
PYRO_DECODER(application_start);
PYRO_DECODER(databricks_metadata);
PYRO_DECODER(application_end);
PYRO_DECODER(environment_update);
PYRO_DECODER(resource_profile_added);
/* job.c */
PYRO_DECODER(job_start);
PYRO_DECODER(job_end);
/* stage.c */
PYRO_DECODER(stage_submitted);
PYRO_DECODER(stage_completed);
/* executor.c */
PYRO_DECODER(executor_added);
PYRO_DECODER(executor_removed);
PYRO_DECODER(block_manager_added);
PYRO_DECODER(block_manager_removed);
PYRO_DECODER(executor_metrics_update);
PYRO_DECODER(stage_executor_metrics);
/* storage.c */
PYRO_DECODER(block_updated);
PYRO_DECODER(unpersist_rdd);
/* exclusion.c */
PYRO_DECODER(executor_excluded);
PYRO_DECODER(executor_unexcluded);
PYRO_DECODER(node_excluded);
PYRO_DECODER(node_unexcluded);
/* process.c */
PYRO_DECODER(process_added);
/* connect.c */
PYRO_DECODER(operation_started);
PYRO_DECODER(operation_analyzed);
PYRO_DECODER(operation_ready);
PYRO_DECODER(operation_finished);
PYRO_DECODER(operation_failed);
PYRO_DECODER(operation_canceled);
PYRO_DECODER(operation_closed);
/* sql.c */
PYRO_DECODER(sql_execution_start);
PYRO_DECODER(sql_execution_end);
PYRO_DECODER(driver_accum_updates);
PYRO_DECODER(sql_adaptive_execution_update);
/* streaming.c */
PYRO_DECODER(query_progress);

#undef PYRO_DECODER

#endif
