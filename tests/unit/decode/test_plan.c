/* Plans of SQL executions: their trees, and what their metrics sum up to. */
#include "base/numbers/varint.h"
#include "kit.h"

#define START(id, plan)                                                                                                \
    "{'Event':'" SQL_UI "SparkListenerSQLExecutionStart','executionId':" #id ",'description':'d" #id                   \
    "','details':'org.apache.spark.x\\nmain.py:5','physicalPlanDescription':'text','sparkPlanInfo':" plan              \
    ",'time':5}\n"
#define UPDATE(id, plan)                                                                                               \
    "{'Event':'" SQL_UI "SparkListenerSQLAdaptiveExecutionUpdate','executionId':" #id                                  \
    ",'physicalPlanDescription':'newer','sparkPlanInfo':" plan "}\n"
#define METRIC(name, id) "{'name':'" name "','accumulatorId':" #id ",'metricType':'sum'}"

/* With the texts of plans, and metrics that have no value. */
static const struct pyro_app *decode_wanted(struct kit *kit, const char *text)
{
    kit_start(kit, PYRO_WANT_PLAN_TEXT);
    kit_feed(kit, text);
    return kit_finish(kit);
}

static void trees(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = decode_wanted(
        &kit, START(7, "{'nodeName':'Join','simpleString':'Join [a]','children':[{'nodeName':'Sort','simpleString':'s',"
                       "'children':[{'nodeName':'Scan','children':[],'metadata':{'Format':'x'},'metrics':[" METRIC(
                           "rows", 1) "]}],'metrics':[]},{'nodeName':'Filter','children':[]}],'metadata':{},'metrics':"
                                      "[" METRIC("time", 2) "," METRIC("size", 3) "]}") START(8, "null")
                  START(9, "{'children':[null,{'nodeName':'only'}],'metrics':[null]}"));
    static const int64_t parents[] = {PYRO_NONE, 0, 1, 0}, depths[] = {0, 1, 2, 1};
    static const char *const names[] = {"Join", "Sort", "Scan", "Filter"};
    assert_int_equal(app->integrity.bad_lines, 0);
    assert_int_equal(app->sql_nodes.count, 6);
    for (size_t i = 0; i < 4; i++) {
        const struct pyro_sql_node *node = &app->sql_nodes.items[i];
        assert_int_equal(node->sql, 7);
        assert_int_equal(node->node, i);
        assert_int_equal(node->parent, parents[i]);
        assert_int_equal(node->depth, depths[i]);
        assert_text(node->name, names[i]);
    }
    assert_text(app->sql_nodes.items[0].detail, "Join [a]");
    assert_int_equal(app->sql_nodes.items[4].sql, 9);
    assert_text(app->sql_nodes.items[5].name, "only");
    assert_int_equal(app->sql_metrics.count, 4);         /* of which none has a value */
    assert_int_equal(app->sql_metrics.items[0].node, 2); /* its node comes last, its text first */
    assert_text(app->sql_metrics.items[1].name, "time");
    assert_int_equal(app->sql.count, 3);
    assert_text(app->sql.items[0].call_site, "main.py:5");
    assert_text(app->sql.items[0].plan, "text");
    kit_done(&kit);
}

static void totals_of_metrics(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = decode_wanted(
        &kit,
        START(0, "{'nodeName':'Scan','metrics':[" METRIC("a", 1) "," METRIC("b", 2) "," METRIC("c", 3) "," METRIC(
                     "d",
                     4) "," METRIC("e",
                                   5) "," METRIC("f",
                                                 6) "]}") "{'Event':'SparkListenerStageCompleted','Stage Info':{'Stage "
                                                          "ID':0,'Accumulables':[{'ID':1,'Name':'a','Value':"
                                                          "'10','Internal':false},{'ID':2,'Value':'20',"
                                                          "'Internal':true,'Metadata':'sql'},{'ID':3,'Value':-"
                                                          "1},{'ID':6,'Value':'7','Internal':true},"
                                                          "{'ID':99,'Value':{'x':1}},{'ID':98,'Value':'text'},null]}}\n"
                                                          "{'Event':'SparkListenerStageCompleted','Stage Info':{'Stage "
                                                          "ID':1,'Accumulables':[{'ID':1,'Value':'15'}]}}\n"
                                                          "{'Event':'" SQL_UI
                                                          "SparkListenerDriverAccumUpdates','executionId':0,'"
                                                          "accumUpdates':[[1,100],[4,7],[4,2],"
                                                          "[3,9],null,[5],[]]}\n");
    static const int64_t values[] = {115, 20, 9, 9, PYRO_NONE, PYRO_NONE};
    assert_int_equal(app->integrity.bad_lines, 0);
    assert_int_equal(app->sql_metrics.count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(app->sql_metrics.items[i].value, values[i]);
    kit_done(&kit);
}

static void what_nobody_asked_for(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit, START(0, "{'nodeName':'Project','simpleString':'Project [x]','metrics':[" METRIC("a", 1) "," METRIC(
                           "b", 2) "]}") "{'Event':'" SQL_UI
                                         "SparkListenerDriverAccumUpdates','executionId':0,'accumUpdates':[[2,5]]}\n");
    assert_null(app->sql.items[0].plan.ptr);
    assert_null(app->sql_nodes.items[0].detail.ptr);
    assert_text(app->sql_nodes.items[0].name, "Project");
    assert_text(app->sql_nodes.items[0].class, "project");
    assert_int_equal(app->sql_metrics.count, 1); /* the one that has a value */
    assert_text(app->sql_metrics.items[0].name, "b");
    assert_int_equal(app->sql_metrics.items[0].value, 5);
    kit_done(&kit);
}

/* What rules read of operators: of scans, joins and so on the text and the metadata, up to a limit. */
static void what_rules_ask_for(void **state)
{
    (void)state;
    struct kit kit;
    char text[3000], key[801], name[1001];
    memset(key, 'x', sizeof(key) - 1);
    memset(name, 'y', sizeof(name) - 1);
    key[sizeof(key) - 1] = name[sizeof(name) - 1] = '\0';
    snprintf(text, sizeof(text),
             START(0, "{'metadata':{'Location':'a\\n[b]','n':[1],'Long':'%s'},'simpleString':'Scan %s','children':["
                      "{'nodeName':'Martian'}],'nodeName':'Scan parquet db.t'}"),
             key, name);
    const struct pyro_app *app = kit_decode(&kit, text);
    const struct pyro_sql_node *scan = &app->sql_nodes.items[0];
    assert_int_equal(app->integrity.bad_lines, 0);
    assert_text(scan->class, "scan");
    assert_text(scan->engine, "spark");
    assert_int_equal(scan->detail.len, 400);
    assert_true(pyro_slice_starts_with(scan->detail, "Scan yyy"));
    assert_int_equal(scan->metadata.len, strlen("Location: a\n[b]\nLong: ") + 600);
    assert_text(app->sql_nodes.items[1].class, "unknown");
    assert_null(app->sql_nodes.items[1].engine.ptr);
    kit_done(&kit);
}

/* Spark calls SQL metrics internal and says "sql" beside; task metrics are internal too. */
static void accumulators_of_stages(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit,
        START(0,
              "{'nodeName':'Scan','metrics':[" METRIC("a", 7) "," METRIC(
                  "b", 900) "]}") "{'Event':'SparkListenerStageCompleted','Stage Info':{'Stage ID':0,'Accumulables':["
                                  "{'ID':7,'Name':'a','Value':'10','Internal':true,'Count Failed "
                                  "Values':true,'Metadata':'sql'},"
                                  "{'ID':8,'Name':'internal.metrics.resultSize','Value':5,'Internal':true},"
                                  "{'ID':900,'Value':'-1','Internal':true,'Metadata':'sql'},{'ID':3,'Value':4,'"
                                  "Metadata':'sql'}]}}\n");
    struct pyro_slice ids = app->stages.items[0].accumulators;
    int64_t id = 0, expected[] = {7, 900, 3};
    for (size_t i = 0; i < 3; i++) {
        assert_true(pyro_varint_take(&ids, &id));
        assert_int_equal(id, expected[i]);
    }
    assert_false(pyro_varint_take(&ids, &id));
    assert_int_equal(app->sql_metrics.items[0].value, 10);
    assert_int_equal(app->sql_metrics.items[1].value, 0);
    kit_done(&kit);
}

static void adaptive_updates_replace(void **state)
{
    (void)state;
    struct kit kit;
    kit_start(&kit, PYRO_WANT_PLAN_TEXT);
    kit_feed(&kit, START(1, "{'nodeName':'SortMergeJoin','children':[{'nodeName':'SortMergeJoin(skew=true)'},{'"
                            "nodeName':'B','metrics':[" METRIC("x", 1) "]}]}"));
    kit_feed(&kit, UPDATE(1, "{'nodeName':'C','simpleString':'C [c]','metrics':[" METRIC("y", 2) "]}"));
    kit_feed(&kit, UPDATE(2, "{'nodeName':'D'}"));
    kit_feed(&kit, START(2, "{'nodeName':'older'}"));
    const struct pyro_app *app = kit_finish(&kit);
    assert_int_equal(app->integrity.bad_lines, 0);
    assert_int_equal(app->sql_nodes.count, 2);
    assert_text(app->sql_nodes.items[0].name, "C");
    assert_text(app->sql_nodes.items[0].detail, "C [c]");
    assert_text(app->sql_nodes.items[1].name, "D");
    assert_int_equal(app->sql_metrics.count, 1);
    assert_text(app->sql_metrics.items[0].name, "y");
    assert_int_equal(app->sql.items[0].plan_updates, 1);
    assert_int_equal(app->sql.items[0].first_joins[0], 2);
    assert_int_equal(app->sql.items[0].first_joins[1], 0);
    assert_text(app->sql.items[0].plan, "newer");
    assert_text(app->sql.items[1].plan, "newer");
    assert_text(app->sql.items[1].description, "d2");
    assert_false(app->sql.items[1].unstarted);
    kit_done(&kit);
}

/* A plan of `depth` nodes, one below the other, as one line. */
static char *deep_plan(size_t depth)
{
    static const char head[] =
        "{\"Event\":\"" SQL_UI "SparkListenerSQLExecutionStart\",\"executionId\":1,\"sparkPlanInfo\":";
    static const char open[] = "{\"nodeName\":\"N\",\"children\":[", close[] = "]}";
    char *text = malloc(sizeof(head) + depth * (sizeof(open) + sizeof(close)) + 10), *at = text;
    assert_non_null(text);
    at = stpcpy(at, head);
    for (size_t i = 0; i < depth; i++)
        at = stpcpy(at, open);
    for (size_t i = 0; i < depth; i++)
        at = stpcpy(at, close);
    strcpy(at, "}\n");
    return text;
}

static void deep_plans(void **state)
{
    (void)state;
    for (int too_deep = 0; too_deep < 2; too_deep++) {
        struct kit kit;
        /* Each node is an object and an array, within the record's own object. */
        size_t depth = PYRO_JSON_DEPTH / 2 - 1 + 4 * (size_t)too_deep;
        char *text = deep_plan(depth);
        kit_start(&kit, 0);
        kit_feed_raw(&kit, text, strlen(text));
        const struct pyro_app *app = kit_finish(&kit);
        assert_int_equal(app->integrity.bad_lines + app->integrity.notes.count, too_deep);
        assert_int_equal(app->sql_nodes.count, too_deep ? 0 : depth);
        if (!too_deep)
            assert_int_equal(app->sql_nodes.items[depth - 1].depth, depth - 1);
        kit_done(&kit);
        free(text);
    }
}

/* An aggregate over a filtered table, below a wrapper of generated code. */
#define AGGREGATE(key, columns, filter)                                                                                \
    "{'nodeName':'WholeStageCodegen (1)','simpleString':'WholeStageCodegen (1)','children':[{'nodeName':"              \
    "'HashAggregate','simpleString':'HashAggregate(keys=[" key "])','children':[{'nodeName':'Scan parquet ',"          \
    "'simpleString':'FileScan parquet [" columns "] Batched: true, Location: InMemoryFileIndex(1 paths)[file:/t], "    \
    "PushedFilters: [" filter "], ReadSchema: struct<" columns ">','children':[]}]}]}"

static void prints_of_what_is_computed(void **state)
{
    (void)state;
    struct kit kit;
    const struct pyro_app *app = kit_decode(
        &kit, START(1, AGGREGATE("k#1L", "k#1L", "")) START(2, AGGREGATE("k#77L", "k#77L", ""))
                  START(3, AGGREGATE("k#1L", "k#1L,v#2", "")) START(4, AGGREGATE("k#1L", "k#1L", "k > 2"))
                      START(5, "{'nodeName':'Sort','simpleString':'Sort','children':[{'nodeName':'InMemoryTableScan',"
                               "'simpleString':'InMemoryTableScan','children':[" AGGREGATE("k#1L", "k#1L", "") "]}]}"));
    assert_int_equal(app->sql_nodes.count, 17);
    const struct pyro_sql_node *nodes = app->sql_nodes.items;
    assert_true(nodes[0].exact_print != 0 &&
                nodes[0].exact_print == nodes[1].exact_print); /* the wrapper adds nothing */
    assert_true(nodes[1].exact_print != nodes[2].exact_print);
    assert_true(nodes[0].exact_print == nodes[3].exact_print &&
                nodes[0].columnless_print == nodes[3].columnless_print); /* ids differ only */
    assert_true(nodes[0].exact_print != nodes[6].exact_print &&
                nodes[0].columnless_print == nodes[6].columnless_print); /* another column as well */
    assert_true(nodes[0].exact_print != nodes[9].exact_print &&
                nodes[0].columnless_print != nodes[9].columnless_print); /* other rows */
    assert_true(nodes[12].exact_print == 0 && nodes[13].exact_print == 0 &&
                nodes[14].exact_print == 0); /* what a cache holds */
    kit_done(&kit);
}

/* As Spark 4.3 writes them; those that are secret by their name, also where the log says so afterwards, are hidden. */
static void settings_of_the_session(void **state)
{
    (void)state;
    struct kit kit;
    kit_start(&kit, 0);
    kit_feed(&kit, "{'Event':'" SQL_UI "SparkListenerSQLExecutionStart','executionId':4,'rootExecutionId':4,'time':5,"
                   "'modifiedConfigs':{'my.password':'no','spark.sql.shuffle.partitions':'400',"
                   "'spark.sql.text':'two\\nlines=1','spark.sql.number':3,'my.own':'mine'},'jobTags':['a'],"
                   "'jobGroupId':null,'queryId':'01a207b7-80ae'}\n"
                   "{'Event':'" SQL_UI "SparkListenerSQLExecutionStart','executionId':5,'time':5,'modifiedConfigs':{},"
                   "'queryId':null}\n"
                   "{'Event':'" SQL_UI "SparkListenerSQLExecutionStart','executionId':6,'time':5,"
                   "'modifiedConfigs':null}\n"
                   "{'Event':'SparkListenerEnvironmentUpdate','Spark Properties':{'spark.redaction.regex':'own'}}\n");
    const struct pyro_app *app = kit_finish(&kit);
    assert_int_equal(app->integrity.bad_lines, 0);
    assert_int_equal(app->sql.count, 3);
    assert_text(app->sql.items[0].query_id, "01a207b7-80ae");
    assert_text(app->sql.items[0].modified_configs,
                "spark.sql.shuffle.partitions=400\nspark.sql.text=two lines=1\nmy.password=*********(redacted)\n"
                "my.own=*********(redacted)");
    assert_null(app->sql.items[1].query_id.ptr);
    assert_null(app->sql.items[1].modified_configs.ptr);
    assert_null(app->sql.items[2].modified_configs.ptr);
    kit_done(&kit);
}

/* No more than a page of them. */
static void too_many_settings(void **state)
{
    (void)state;
    struct kit kit;
    struct pyro_strbuf line;
    pyro_strbuf_init(&line, NULL);
    pyro_strbuf_add_text(&line, "{'Event':'" SQL_UI "SparkListenerSQLExecutionStart','executionId':1,"
                                "'modifiedConfigs':{");
    for (int i = 0; i < 400; i++)
        pyro_strbuf_printf(&line, "'other.%d':'%0600d',", i, i);
    pyro_strbuf_add_text(&line, "'spark.sql.shuffle.partitions':'7'}}\n");
    const struct pyro_app *app = kit_decode(&kit, line.data);
    assert_int_equal(app->sql.count, 1);
    assert_in_range(app->sql.items[0].modified_configs.len, 1000, 4096);
    assert_true(pyro_slice_starts_with(app->sql.items[0].modified_configs, "spark.sql.shuffle.partitions=7\n"));
    pyro_strbuf_done(&line);
    kit_done(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees),
        cmocka_unit_test(totals_of_metrics),
        cmocka_unit_test(what_nobody_asked_for),
        cmocka_unit_test(what_rules_ask_for),
        cmocka_unit_test(accumulators_of_stages),
        cmocka_unit_test(adaptive_updates_replace),
        cmocka_unit_test(deep_plans),
        cmocka_unit_test(prints_of_what_is_computed),
        cmocka_unit_test(settings_of_the_session),
        cmocka_unit_test(too_many_settings),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
