/* What executors and the driver were given: cores, and memory as Spark asks the cluster manager for it. */
#ifndef PYRO_ANALYZE_MEMORY_CONTAINER_H
#define PYRO_ANALYZE_MEMORY_CONTAINER_H

#include "analyze/platform.h"

struct pyro_container {
    int64_t cores;         /* of Spark: task slots before spark.task.cpus; PYRO_NONE where executors differ */
    int64_t cpu_milli;     /* thousandths of a CPU that a pod asks for; PYRO_NONE: as many as cores */
    int64_t heap_mib;      /* spark.executor.memory */
    int64_t overhead_mib;  /* memoryOverhead */
    int64_t offheap_mib;   /* spark.memory.offHeap.size, where Spark adds it */
    int64_t pyspark_mib;   /* spark.executor.pyspark.memory */
    int64_t container_mib; /* the sum; on YARN rounded up to what the scheduler gives out, where the log says */
};

/* Of an executor with this resource profile (below 0: the default one). */
struct pyro_container pyro_executor_container(const struct pyro_app *app, int64_t resource_profile);
struct pyro_container pyro_driver_container(const struct pyro_app *app);
/* The application master that YARN runs for a driver outside the cluster. False: there is none. */
bool pyro_master_container(const struct pyro_app *app, struct pyro_container *ret);

#endif
