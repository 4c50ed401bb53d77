#include "rules/fixes/known_settings.h"

#include <ctype.h>

static const struct pyro_gone_setting gone[] = {
    {"spark.storage.memoryFraction", 3, 0, "storage and execution share spark.memory.fraction of the heap"},
    {"spark.shuffle.memoryFraction", 3, 0, "storage and execution share spark.memory.fraction of the heap"},
    {"spark.storage.unrollFraction", 3, 0, "storage and execution share spark.memory.fraction of the heap"},
    {"spark.memory.useLegacyMode", 3, 0, "the old memory manager was removed"},
    {"spark.shuffle.consolidateFiles", 1, 6, "sort-based shuffle always writes one file per task"},
    {"spark.shuffle.spill", 1, 6, "shuffles always spill when they need to"},
    {"spark.sql.unsafe.enabled", 1, 6, "rows always have that form"},
    {"spark.sql.codegen", 1, 6, "see spark.sql.codegen.wholeStage"},
    {"spark.akka.frameSize", 2, 0, "see spark.rpc.message.maxSize"},
    {"spark.akka.timeout", 2, 0, "see spark.network.timeout"},
    {"spark.akka.threads", 2, 0, "see spark.rpc.io.threads"},
    {"spark.yarn.user.classpath.first", 2, 0,
     "see spark.driver.userClassPathFirst and spark.executor.userClassPathFirst"},
    {"spark.sql.tungsten.enabled", 2, 0, "it is always on"},
    {"spark.sql.planner.externalSort", 2, 0, "sorting always spills when it needs to"},
};

static const char *const usual[] = {
    "spark.broadcast.blockSize",
    "spark.default.parallelism",
    "spark.driver.cores",
    "spark.driver.extraClassPath",
    "spark.driver.extraJavaOptions",
    "spark.driver.maxResultSize",
    "spark.driver.memory",
    "spark.driver.memoryOverhead",
    "spark.driver.memoryOverheadFactor",
    "spark.dynamicAllocation.cachedExecutorIdleTimeout",
    "spark.dynamicAllocation.enabled",
    "spark.dynamicAllocation.executorAllocationRatio",
    "spark.dynamicAllocation.executorIdleTimeout",
    "spark.dynamicAllocation.initialExecutors",
    "spark.dynamicAllocation.maxExecutors",
    "spark.dynamicAllocation.minExecutors",
    "spark.dynamicAllocation.schedulerBacklogTimeout",
    "spark.dynamicAllocation.shuffleTracking.enabled",
    "spark.dynamicAllocation.shuffleTracking.timeout",
    "spark.dynamicAllocation.sustainedSchedulerBacklogTimeout",
    "spark.executor.cores",
    "spark.executor.extraClassPath",
    "spark.executor.extraJavaOptions",
    "spark.executor.heartbeatInterval",
    "spark.executor.instances",
    "spark.executor.memory",
    "spark.executor.memoryOverhead",
    "spark.executor.memoryOverheadFactor",
    "spark.executor.pyspark.memory",
    "spark.io.compression.codec",
    "spark.kryoserializer.buffer",
    "spark.kryoserializer.buffer.max",
    "spark.locality.wait",
    "spark.memory.fraction",
    "spark.memory.offHeap.enabled",
    "spark.memory.offHeap.size",
    "spark.memory.storageFraction",
    "spark.network.timeout",
    "spark.rpc.message.maxSize",
    "spark.scheduler.mode",
    "spark.serializer",
    "spark.shuffle.compress",
    "spark.shuffle.io.maxRetries",
    "spark.shuffle.io.retryWait",
    "spark.shuffle.service.enabled",
    "spark.shuffle.spill.compress",
    "spark.speculation.multiplier",
    "spark.speculation.quantile",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes",
    "spark.sql.adaptive.autoBroadcastJoinThreshold",
    "spark.sql.adaptive.coalescePartitions.enabled",
    "spark.sql.adaptive.coalescePartitions.initialPartitionNum",
    "spark.sql.adaptive.coalescePartitions.minPartitionSize",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst",
    "spark.sql.adaptive.enabled",
    "spark.sql.adaptive.localShuffleReader.enabled",
    "spark.sql.adaptive.skewJoin.enabled",
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.broadcastTimeout",
    "spark.sql.execution.arrow.maxRecordsPerBatch",
    "spark.sql.execution.arrow.pyspark.enabled",
    "spark.sql.files.ignoreCorruptFiles",
    "spark.sql.files.maxPartitionBytes",
    "spark.sql.files.maxRecordsPerFile",
    "spark.sql.files.openCostInBytes",
    "spark.sql.inMemoryColumnarStorage.batchSize",
    "spark.sql.inMemoryColumnarStorage.compressed",
    "spark.sql.parquet.compression.codec",
    "spark.sql.parquet.filterPushdown",
    "spark.sql.shuffle.partitions",
    "spark.sql.sources.partitionOverwriteMode",
    "spark.stage.maxConsecutiveAttempts",
    "spark.task.maxFailures",
    "spark.yarn.maxAppAttempts",
};

const struct pyro_gone_setting *pyro_gone_setting(struct pyro_slice key)
{
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        if (pyro_slice_is(key, gone[i].key))
            return &gone[i];
    return NULL;
}

static char lower(char letter)
{
    return (char)tolower((unsigned char)letter);
}

static size_t common_prefix(struct pyro_slice a, struct pyro_slice b)
{
    size_t n = 0;
    while (n < a.len && n < b.len && lower(a.ptr[n]) == lower(b.ptr[n]))
        n++;
    return n;
}

static size_t common_suffix(struct pyro_slice a, struct pyro_slice b)
{
    size_t n = 0;
    while (n < a.len && n < b.len && lower(a.ptr[a.len - 1 - n]) == lower(b.ptr[b.len - 1 - n]))
        n++;
    return n;
}

/* They differ only in case, or in one letter. */
static bool is_near(struct pyro_slice a, struct pyro_slice b)
{
    size_t longer = a.len > b.len ? a.len : b.len, shorter = a.len < b.len ? a.len : b.len;
    if (longer - shorter > 1)
        return false;
    size_t head = common_prefix(a, b), tail = common_suffix(a, b);
    if (head == longer || head + tail >= longer - 1)
        return true;
    /* Two neighbours swapped. */
    return a.len == b.len && head + 2 + tail == a.len && lower(a.ptr[head]) == lower(b.ptr[head + 1]) &&
           lower(a.ptr[head + 1]) == lower(b.ptr[head]);
}

const char *pyro_meant_setting(struct pyro_slice key)
{
    const char *meant = NULL;
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
        if (pyro_slice_is(key, usual[i]))
            return NULL;
        if (!meant && is_near(key, pyro_slice_from(usual[i])))
            meant = usual[i];
    }
    return meant;
}
