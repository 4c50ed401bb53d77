#include "made_members.h"

enum { DEEPEST_PLAN = 6, PLAN_NODES = 24 };

#define SQL "org.apache.spark.sql.execution.ui.SparkListener"

static void plan_node(struct making *making, int depth)
{
    static const char *const names[] = {"HashAggregate",
                                        "Exchange",
                                        "SortMergeJoin",
                                        "BroadcastExchange",
                                        "Scan parquet db.t",
                                        "Project",
                                        "Sort",
                                        "Filter",
                                        "WholeStageCodegen (1)",
                                        "AdaptiveSparkPlan",
                                        "InMemoryTableScan",
                                        "BatchEvalPython",
                                        "Window",
                                        "BroadcastHashJoin",
                                        "BroadcastNestedLoopJoin",
                                        "CartesianProduct",
                                        "Execute InsertIntoHadoopFsRelationCommand",
                                        "ReusedExchange",
                                        "ShuffleQueryStage",
                                        "AQEShuffleRead",
                                        "Scan JDBCRelation(t) [numPartitions=1]",
                                        "Generate",
                                        "Union",
                                        "Coalesce"};
    static const char *const details[] = {"",
                                          "keys=[a#1], functions=[sum(b#2)]",
                                          "hashpartitioning(a#1, 200), ENSURE_REQUIREMENTS",
                                          "jdbc:x://u:" MADE_SECRET "@h/d",
                                          "Location: InMemoryFileIndex(1 paths)[file:/x], PartitionFilters: []",
                                          "SinglePartition",
                                          "runLater(x)"};
    const char *name = CHOOSE(making, names);
    unsigned detail = made_next(making);
    making->nodes++;
    pyro_strbuf_printf(making->out, "{\"nodeName\":\"%s\",\"simpleString\":\"%s %s\",\"metadata\":{},\"metrics\":[",
                       name, name, details[detail % (sizeof(details) / sizeof(*details))]);
    for (unsigned i = 0; i < detail >> 6; i++)
        pyro_strbuf_printf(making->out, "%s{\"name\":\"%s\",\"accumulatorId\":%u,\"metricType\":\"%s\"}", i ? "," : "",
                           i ? "time in aggregation build" : "number of output rows", making->nodes + 8 * i,
                           i ? "timing" : "sum");
    pyro_strbuf_add_text(making->out, "],\"children\":[");
    unsigned children = detail >> 4 & 3;
    for (unsigned i = 0; i < children && depth < DEEPEST_PLAN && making->nodes < PLAN_NODES; i++) {
        if (i)
            pyro_strbuf_add_text(making->out, ",");
        plan_node(making, depth + 1);
    }
    pyro_strbuf_add_text(making->out, "]}");
}

static void plan(struct making *making)
{
    making->nodes = 0;
    pyro_strbuf_add_text(making->out, ",\"sparkPlanInfo\":");
    plan_node(making, 0);
}

void made_sql_start(struct making *making)
{
    made_begin(making, SQL "SQLExecutionStart");
    unsigned id = made_next(making);
    made_number(making, "executionId", id & 3);
    made_number(making, "rootExecutionId", id >> 6);
    made_text(making, "description", id & 8 ? "select 1" : "load password=" MADE_SECRET);
    made_text(making, "details", "org.x.Main.main(Main.scala:7)");
    made_text(making, "physicalPlanDescription",
              id & 4 ? "" : "== Physical Plan ==\\n* Project (1)\\n\\n(1) Project\\nOutput: [a#1]\\n");
    plan(making);
    made_number(making, "time", made_later(making));
    made_raw(making, "modifiedConfigs", "{\"spark.sql.shuffle.partitions\":\"7\"}");
    made_end(making);
}

void made_sql_update(struct making *making)
{
    made_begin(making, SQL "SQLAdaptiveExecutionUpdate");
    made_number(making, "executionId", made_next(making) & 3);
    made_text(making, "physicalPlanDescription", "p");
    plan(making);
    made_end(making);
}

void made_sql_accumulators(struct making *making)
{
    made_begin(making, SQL "DriverAccumUpdates");
    made_number(making, "executionId", made_next(making) & 3);
    pyro_strbuf_printf(making->out, ",\"accumUpdates\":[[1,%lld],[9,-4],[%u,5]]", (long long)made_amount(making, 100),
                       made_next(making));
    made_end(making);
}

void made_sql_end(struct making *making)
{
    made_begin(making, SQL "SQLExecutionEnd");
    made_number(making, "executionId", made_next(making) & 3);
    made_number(making, "time", made_later(making));
    made_text(making, "errorMessage", made_next(making) & 1 ? "bad: password=" MADE_SECRET : "");
    made_end(making);
}
