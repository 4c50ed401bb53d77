/* Plans of SQL executions: the input is the text of one sparkPlanInfo. It starts an execution, replaces the plan of
 * another, and its metrics get values; the tables of nodes stay trees, whatever it is. */
#include "base/strings/strbuf.h"
#include "fuzz_kit.h"
#include "model/app.h"
#include "pyrometer.h"

#define SQL_EVENT "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListener"

static void feed(pyro_decoder *decoder, const char *text)
{
    struct pyro_error error = {.size = sizeof(error)};
    FUZZ_CHECK(pyro_decoder_feed(decoder, text, strlen(text), &error) == PYRO_OK);
}

static void check_trees(const struct pyro_app *app)
{
    size_t first = 0;
    for (size_t i = 0; i < app->sql_nodes.count; i++) {
        const struct pyro_sql_node *node = &app->sql_nodes.items[i];
        if (i == 0 || node->sql != node[-1].sql)
            first = i;
        FUZZ_CHECK(node->node == (int64_t)(i - first));
        FUZZ_CHECK(pyro_app_find_sql(app, node->sql) >= 0);
        if (node->node == 0) {
            FUZZ_CHECK(node->parent == PYRO_NONE && node->depth == 0);
        } else {
            FUZZ_CHECK(node->parent >= 0 && node->parent < node->node);
            FUZZ_CHECK(node->depth == app->sql_nodes.items[first + (size_t)node->parent].depth + 1);
        }
        FUZZ_CHECK(!node->name.ptr || fuzz_is_utf8(node->name.ptr, node->name.len));
        FUZZ_CHECK(!node->detail.ptr || fuzz_is_utf8(node->detail.ptr, node->detail.len));
    }
    for (size_t i = 1; i < app->sql_metrics.count; i++)
        FUZZ_CHECK(app->sql_metrics.items[i].node >= 0 &&
                   app->sql_metrics.items[i].sql >= app->sql_metrics.items[i - 1].sql);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pyro_load_options options = {.size = sizeof(options), .wanted = size % 2 ? PYRO_WANT_PLAN_TEXT : 0};
    struct pyro_error error = {.size = sizeof(error)};
    pyro_decoder *decoder = NULL;
    pyro_app *app = NULL;
    FUZZ_CHECK(pyro_decoder_new("log", &options, NULL, &decoder, &error) == PYRO_OK);
    feed(decoder, "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"4.0.0\"}\n");
    feed(decoder, SQL_EVENT "SQLExecutionStart\",\"executionId\":1,\"description\":\"d\",\"sparkPlanInfo\":");
    FUZZ_CHECK(pyro_decoder_feed(decoder, data, size, &error) == PYRO_OK);
    feed(decoder, ",\"time\":5}\n");
    feed(decoder,
         SQL_EVENT "SQLExecutionStart\",\"executionId\":2,\"sparkPlanInfo\":{\"nodeName\":\"Old\",\"children\":"
                   "[{\"nodeName\":\"Scan\",\"metrics\":[{\"accumulatorId\":7}]}]},\"time\":6}\n");
    feed(decoder, SQL_EVENT "SQLAdaptiveExecutionUpdate\",\"executionId\":2,\"sparkPlanInfo\":");
    FUZZ_CHECK(pyro_decoder_feed(decoder, data, size, &error) == PYRO_OK);
    feed(decoder, "}\n" SQL_EVENT "DriverAccumUpdates\",\"executionId\":1,\"accumUpdates\":[[7,3],[1,-1],[0,9]]}\n");
    feed(decoder, "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":{\"Stage ID\":0,\"Accumulables\":"
                  "[{\"ID\":7,\"Value\":\"12\"},{\"ID\":2,\"Value\":9223372036854775807}]}}\n");
    FUZZ_CHECK(pyro_decoder_snapshot(decoder, &app, &error) == PYRO_OK);
    check_trees(app);
    pyro_app_release(app);
    FUZZ_CHECK(pyro_decoder_finish(decoder, &app, &error) == PYRO_OK);
    check_trees(app);
    pyro_app_release(app);
    pyro_decoder_free(decoder);
    return 0;
}
