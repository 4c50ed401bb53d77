/* The alerts of DataFlint's open-source plugin, version 0.9.8. docs/profiles/dataflint.md */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/app_facts.h"
#include "base/collections/map.h"
#include "rules/finding.h"
#include "rules/plans/plans.h"
#include "rules/profiles/dataflint.h"
#include "rules/profiles/profile.h"

#define KIB 1024.0
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)

enum { ROWS_MAX = 12 }; /* of one alert; more are counted */

static const double memory_high = 95, memory_low = 70, idle_high = 50, small_file = 3 * MIB, many_files = 100;
static const double skew_ratio = 10, skew_ms = 5000, many_tasks = 5000, small_task_ms = 500, big_partition = 5 * GIB;
static const double long_condition = 1000, big_broadcast = GIB, scanned_rows = 1e10;
/* A smaller side below the first number with a larger one above the second. */
static const double broadcast_limits[][2] = {
    {10 * MIB, -1}, {100 * MIB, 10 * GIB}, {1000 * MIB, 300 * GIB}, {5 * GIB, TIB}};

/* What tasks of a stage that succeeded ran and moved. */
struct stage_facts {
    bool known, any;
    double median_ms, max_ms, output, input, shuffle_write, shuffle_read;
};

struct state {
    struct pyro_rule_context *context;
    struct pyro_diagnosis *diagnosis;
    const struct pyro_app *app;
    struct pyro_dataflint_graph *graphs;
    size_t graph_count;
    struct stage_facts *stages; /* rows of app->stages */
    int64_t *first;             /* of each stage: row of its first attempt, the only one that DataFlint keeps */
    size_t *seen;               /* of each stage: number of the query + 1 that named it last */
    /* The alert that is being looked for. */
    const char *alert, *type;
    double threshold;
    size_t raised;
    bool disabled;
};

static void say(struct state *state, const char *severity, double value, struct pyro_slice detail)
{
    pyro_profile_say(state->context, state->diagnosis, state->alert, severity, value, state->threshold, detail);
}

static bool is_disabled(const struct state *state, const char *alert)
{
    struct pyro_slice list = pyro_app_property(state->app, "spark.dataflint.alert.disabled");
    while (list.len > 0) {
        const char *comma = memchr(list.ptr, ',', list.len);
        struct pyro_slice one = {list.ptr, comma ? (size_t)(comma - list.ptr) : list.len};
        pyro_slice_drop(&list, one.len + (comma != NULL));
        while (one.len > 0 && (*one.ptr == ' ' || *one.ptr == '\t'))
            one = (struct pyro_slice){one.ptr + 1, one.len - 1};
        while (one.len > 0 && (one.ptr[one.len - 1] == ' ' || one.ptr[one.len - 1] == '\t'))
            one.len--;
        if (pyro_slice_is(one, alert))
            return true;
    }
    return false;
}

/* False: the user does not want it. */
static bool begin(struct state *state, const char *alert, const char *type, double threshold)
{
    state->alert = alert;
    state->type = type;
    state->threshold = threshold;
    state->raised = 0;
    for (size_t i = 0; i < state->app->stages.count; i++)
        state->seen[i] = 0;
    state->disabled = is_disabled(state, alert);
    if (state->disabled)
        say(state, "disabled", (double)NAN, PYRO_SLICE_LITERAL("by spark.dataflint.alert.disabled"));
    return !state->disabled;
}

static void raise_alert(struct state *state, double value, struct pyro_slice detail)
{
    if (state->raised++ < ROWS_MAX)
        say(state, state->type, value, detail);
}

static void end(struct state *state)
{
    if (state->raised == 0)
        say(state, "none", (double)NAN, PYRO_SLICE_LITERAL("nothing to report"));
    if (state->raised > ROWS_MAX)
        say(state, state->type, (double)NAN, pyro_say(state->context, "%zu more", state->raised - ROWS_MAX));
}

/* ---- The application --------------------------------------------------------------------------------------------- */

static double percent(double part, double whole)
{
    return whole > 0 ? fmin(fmax(part / whole * 100, 0), 100) : 0;
}

static bool is_executor(const struct pyro_executor *executor)
{
    return !pyro_slice_is(executor->id, "driver");
}

static void judge_memory(struct state *state)
{
    const struct pyro_app *app = state->app;
    double peak = 0;
    double heap = pyro_real(pyro_app_property_size(app, "spark.executor.memory", (int64_t)MIB, (int64_t)GIB));
    for (size_t i = 0; i < app->executors.count; i++)
        if (is_executor(&app->executors.items[i]))
            peak = fmax(peak, pyro_real(app->executors.items[i].heap_peak_bytes));
    double share = percent(peak, heap);
    bool high = share > memory_high, low = !high && share < memory_low;
    struct pyro_slice detail =
        peak > 0 ? pyro_say(state->context, "peak heap of executors is %.2f %% of %s", share,
                            pyro_say_bytes(state->context, heap))
                 : PYRO_SLICE_LITERAL("no executor has a peak in this log: DataFlint reports nothing");
    if (begin(state, "executorMemoryTooHigh", "error", memory_high))
        say(state, peak > 0 && high ? "error" : "none", peak > 0 ? share : (double)NAN, detail);
    if (begin(state, "executorMemoryTooLow", "warning", memory_low))
        say(state, peak > 0 && low ? "warning" : "none", peak > 0 ? share : (double)NAN, detail);
    double driver_peak = pyro_real(app->numbers.driver_heap_peak_bytes);
    double driver_heap = pyro_real(app->numbers.driver_heap_limit_bytes);
    double driver_share = percent(driver_peak, driver_heap);
    if (begin(state, "driverMemoryTooHigh", "error", memory_high))
        say(state, driver_share > memory_high ? "error" : "none", driver_peak > 0 ? driver_share : (double)NAN,
            driver_peak > 0 ? pyro_say(state->context, "peak heap of the driver is %.2f %% of %s", driver_share,
                                       pyro_say_bytes(state->context, driver_heap))
                            : PYRO_SLICE_LITERAL("the driver has no peak in this log: DataFlint reports nothing"));
}

/* The driver counts only where no executor was ever there. */
static void judge_idle(struct state *state)
{
    const struct pyro_app *app = state->app;
    double busy = 0, possible = 0;
    double *repeated = pyro_arena_array(state->context->arena, app->executors.count + 1, sizeof(*repeated));
    size_t executors = 0;
    if (!repeated) {
        state->context->failed = true;
        return;
    }
    pyro_profile_repeated_ms(app, repeated);
    for (size_t i = 0; i < app->executors.count; i++)
        executors += is_executor(&app->executors.items[i]);
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        if (!is_executor(executor) && executors > 0)
            continue;
        int64_t gone = executor->removed_ms == PYRO_NONE ? app->application.end_ms : executor->removed_ms;
        busy += pyro_real(executor->busy_ms) + repeated[i];
        possible += pyro_span(executor->added_ms, gone) * (double)pyro_executor_slots(app, executor, NULL);
    }
    double idle = 100 - percent(busy, possible);
    if (begin(state, "idleCoresTooHigh", "warning", idle_high))
        say(state, idle > idle_high ? "warning" : "none", idle,
            pyro_say(state->context, "idle cores are %.2f %%: tasks took %.0f ms of %.0f ms", idle, busy, possible));
}

/* ---- Operators --------------------------------------------------------------------------------------------------- */

/* The first of an operator's metrics, in the log's order, that has one of these names; PYRO_NONE when none has. */
static int64_t first_metric(const struct pyro_dataflint_graph *graph, uint32_t node, const char *const *names,
                            size_t count)
{
    const struct pyro_plan_op *op = &graph->plan->ops[graph->nodes[node].op];
    const struct pyro_sql_metric *metrics = graph->plan->plans->app->sql_metrics.items;
    for (uint32_t i = op->first_metric; i < op->first_metric + op->metric_count; i++)
        for (size_t n = 0; n < count && metrics[i].value != PYRO_NONE; n++)
            if (pyro_slice_is(metrics[i].name, names[n]))
                return metrics[i].value;
    return PYRO_NONE;
}

#define FIRST(graph, node, ...)                                                                                        \
    first_metric(graph, node, (const char *const[]){__VA_ARGS__},                                                      \
                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* DataFlint reads sizes as the UI writes them: with one decimal, from twice the unit on. */
static double as_written(int64_t bytes)
{
    static const double units[] = {TIB, GIB, MIB, KIB};
    double size = pyro_real(bytes);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (size >= 2 * units[i])
            return floor(floor(size / units[i] * 10 + 0.5) / 10 * units[i]);
    return size;
}

static bool is_named(const struct pyro_dataflint_graph *graph, uint32_t node, const char *name)
{
    return pyro_slice_is(pyro_dataflint_name(graph, node), name);
}

static bool is_output(const struct pyro_dataflint_graph *graph, uint32_t node)
{
    static const char *const names[] = {"Execute InsertIntoHadoopFsRelationCommand",
                                        "Execute WriteIntoDeltaCommand",
                                        "Execute OptimizeTableCommandEdge",
                                        "Execute OptimizeTableCommand",
                                        "CollectLimit",
                                        "TakeOrderedAndProject",
                                        "AppendData",
                                        "ReplaceData",
                                        "WriteDelta",
                                        "OverwriteByExpression",
                                        "OverwritePartitionsDynamic",
                                        "DeleteFromTable",
                                        "PhotonTopK",
                                        "GpuTopN"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (is_named(graph, node, names[i]))
            return true;
    return false;
}

/* Where no operator is an output the first one becomes it, whatever it is: a scan is not an input then. */
static uint32_t made_output(const struct pyro_dataflint_graph *graph)
{
    for (uint32_t i = 0; i < graph->count; i++)
        if (!graph->nodes[i].reused && is_output(graph, i))
            return PYRO_NO_NODE;
    for (uint32_t i = 0; i < graph->count; i++)
        if (!is_named(graph, i, "AdaptiveSparkPlan") && !is_named(graph, i, "ResultQueryStage"))
            return i;
    return PYRO_NO_NODE;
}

static const char *place_of(struct state *state, const struct pyro_dataflint_graph *graph, uint32_t node)
{
    struct pyro_slice text = pyro_say(state->context, "query %" PRId64 ", %s", graph->plan->sql->id,
                                      pyro_say_text(state->context, pyro_dataflint_name(graph, node), 80));
    return text.ptr ? text.ptr : "";
}

/* For every node of every query, the newest first as DataFlint has them. */
static void for_nodes(struct state *state,
                      void (*look)(struct state *state, const struct pyro_dataflint_graph *graph, uint32_t node))
{
    for (size_t i = 0; i < state->graph_count; i++)
        for (uint32_t node = state->graphs[i].count; node-- > 0;)
            if (!state->graphs[i].nodes[node].reused)
                look(state, &state->graphs[i], node);
    end(state);
}

static void raise_small_files(struct state *state, const struct pyro_dataflint_graph *graph, uint32_t node,
                              int64_t files, int64_t bytes)
{
    double size = as_written(bytes) / pyro_real(files);
    if (pyro_real(files) > many_files && bytes > 0 && size < small_file)
        raise_alert(state, size,
                    pyro_say(state->context, "%s: %" PRId64 " files of %s on average", place_of(state, graph, node),
                             files, pyro_say_bytes(state->context, size)));
}

static void look_at_read(struct state *state, const struct pyro_dataflint_graph *graph, uint32_t node)
{
    struct pyro_slice name = pyro_dataflint_name(graph, node);
    if ((!pyro_slice_starts_with(name, "Read ") && !pyro_slice_find(name, "Scan")) || graph->made_output == node)
        return;
    raise_small_files(state, graph, node, FIRST(graph, node, "number of files read", "number of file splits read"),
                      FIRST(graph, node, "size of files read", "total data file size (bytes)"));
}

/* The third argument of the command, which is in brackets where it is a list of partition columns. */
static bool is_partitioned(struct pyro_slice text)
{
    int brackets = 0, argument = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '[' && argument == 2)
            return true;
        brackets += (c == '[') - (c == ']');
        quoted ^= c == '"';
        argument += c == ',' && brackets == 0 && !quoted;
    }
    return false;
}

static void look_at_write(struct state *state, const struct pyro_dataflint_graph *graph, uint32_t node,
                          bool partitioned)
{
    if (is_named(graph, node, "Execute InsertIntoHadoopFsRelationCommand") &&
        is_partitioned(graph->plan->ops[graph->nodes[node].op].node->detail) == partitioned)
        raise_small_files(state, graph, node, FIRST(graph, node, "number of written files"),
                          FIRST(graph, node, "written output"));
}

static void look_at_partitioned(struct state *state, const struct pyro_dataflint_graph *graph, uint32_t node)
{
    look_at_write(state, graph, node, true);
}

static void look_at_unpartitioned(struct state *state, const struct pyro_dataflint_graph *graph, uint32_t node)
{
    look_at_write(state, graph, node, false);
}

static void look_at_filter(struct state *state, const struct pyro_dataflint_graph *graph, uint32_t node)
{
    double length = graph->plan->ops[graph->nodes[node].op].node->condition_length;
    if (is_named(graph, node, "Filter") && length > long_condition)
        raise_alert(
            state, length,
            pyro_say(state->context, "%s: a condition of %.0f characters", place_of(state, graph, node), length));
}

static void look_at_broadcast(struct state *state, const struct pyro_dataflint_graph *graph, uint32_t node)
{
    bool sent =
        is_named(graph, node, "BroadcastExchange") ||
        (is_named(graph, node, "Exchange") && pyro_op_says(graph->plan, graph->nodes[node].op, "EXECUTOR_BROADCAST"));
    double size = as_written(FIRST(graph, node, "data size"));
    if (sent && size > big_broadcast)
        raise_alert(state, size,
                    pyro_say(state->context, "%s: %s are sent to every executor", place_of(state, graph, node),
                             pyro_say_bytes(state->context, size)));
}

/* Size of what goes into `node`, walked back through operators that do not change it; 0 when unknown. */
static double input_size(const struct pyro_dataflint_graph *graph, uint32_t node)
{
    while (graph->nodes[node].child_count == 1) {
        node = graph->nodes[node].first_child;
        bool exchange = is_named(graph, node, "Exchange"), reader = is_named(graph, node, "AQEShuffleRead");
        double size = 0;
        if (exchange || reader)
            size = as_written(FIRST(graph, node, "shuffle bytes written", "partition data size", "num bytes written"));
        if (size > 0)
            return size;
        if (!exchange && !reader && !is_named(graph, node, "Coalesce") && !is_named(graph, node, "Sort") &&
            !is_named(graph, node, "Filter") && !graph->plan->ops[graph->nodes[node].op].node->distinct)
            return 0;
    }
    return 0;
}

static void look_at_join(struct state *state, const struct pyro_dataflint_graph *graph, uint32_t node)
{
    if (!is_named(graph, node, "SortMergeJoin") || graph->nodes[node].child_count != 2)
        return;
    uint32_t left = graph->nodes[node].first_child;
    double one = input_size(graph, left), other = input_size(graph, graph->nodes[left].next_sibling);
    double least = fmin(one, other), most = fmax(one, other);
    for (size_t i = 0; least > 0 && i < sizeof(broadcast_limits) / sizeof(broadcast_limits[0]); i++) {
        if (least >= broadcast_limits[i][0] || most <= broadcast_limits[i][1])
            continue;
        state->threshold = broadcast_limits[i][0];
        raise_alert(state, least,
                    pyro_say(state->context, "%s: %s with %s", place_of(state, graph, node),
                             pyro_say_bytes(state->context, least), pyro_say_bytes(state->context, most)));
        return;
    }
}

/* Rows by the operator's own metric alone: nothing is looked for further down. */
static int64_t own_rows(const struct pyro_dataflint_graph *graph, uint32_t node)
{
    return FIRST(graph, node, "number of output rows", "shuffle records written");
}

static void look_at_product(struct state *state, const struct pyro_dataflint_graph *graph, uint32_t node)
{
    if ((!is_named(graph, node, "BroadcastNestedLoopJoin") && !is_named(graph, node, "CartesianProduct")) ||
        graph->nodes[node].child_count != 2 || own_rows(graph, node) == PYRO_NONE)
        return;
    uint32_t left = graph->nodes[node].first_child;
    double rows = pyro_real(own_rows(graph, left)) * pyro_real(own_rows(graph, graph->nodes[left].next_sibling));
    if (rows > scanned_rows)
        raise_alert(state, rows,
                    pyro_say(state->context, "%s: %.0f pairs of rows", place_of(state, graph, node), rows));
}

/* ---- Stages of operators ----------------------------------------------------------------------------------------- */

static int ascending(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static double task_real(const struct pyro_app *app, enum pyro_task_column column, size_t task)
{
    return pyro_real(pyro_task_get(&app->tasks, column, task));
}

static const struct stage_facts *facts_of(struct state *state, int64_t row)
{
    const struct pyro_app *app = state->app;
    const struct pyro_stage *stage = &app->stages.items[row];
    struct stage_facts *facts = &state->stages[row];
    size_t tasks = stage->tasks > 0 ? (size_t)stage->tasks : 0, count = 0;
    if (facts->known)
        return facts;
    facts->known = true;
    struct pyro_arena scratch;
    pyro_arena_init(&scratch, state->context->arena->allocator);
    int64_t *run_ms = pyro_arena_array(&scratch, tasks + 1, sizeof(*run_ms));
    state->context->failed |= !run_ms;
    for (size_t i = 0; run_ms && i < tasks; i++) {
        size_t task = app->tasks_by_stage[stage->first_task + i];
        if (pyro_task_get(&app->tasks, PYRO_TASK_status, task) != PYRO_TASK_SUCCESS)
            continue;
        run_ms[count++] = pyro_whole(task_real(app, PYRO_TASK_run_ms, task));
        facts->output = fmax(facts->output, task_real(app, PYRO_TASK_output_bytes, task));
        facts->input = fmax(facts->input, task_real(app, PYRO_TASK_input_bytes, task));
        facts->shuffle_write = fmax(facts->shuffle_write, task_real(app, PYRO_TASK_shuffle_write_bytes, task));
        facts->shuffle_read = fmax(facts->shuffle_read, task_real(app, PYRO_TASK_shuffle_remote_bytes, task) +
                                                            task_real(app, PYRO_TASK_shuffle_local_bytes, task));
    }
    if (count > 1)
        qsort(run_ms, count, sizeof(*run_ms), ascending);
    facts->any = count > 0;
    if (count > 0) {
        size_t middle = count / 2;
        facts->median_ms = (double)run_ms[middle];
        facts->max_ms = (double)run_ms[count - 1];
    }
    pyro_arena_done(&scratch);
    return facts;
}

static bool is_new(struct state *state, const struct pyro_dataflint_graph *graph, int64_t row)
{
    size_t query = (size_t)(graph - state->graphs) + 1;
    bool told = state->seen[row] == query;
    state->seen[row] = query;
    return !told;
}

static void look_at_skew(struct state *state, const struct pyro_dataflint_graph *graph, uint32_t node)
{
    if (graph->nodes[node].stage < 0)
        return;
    int64_t row = state->first[graph->nodes[node].stage];
    const struct stage_facts *facts = facts_of(state, row);
    double ratio = facts->median_ms > 0 ? facts->max_ms / facts->median_ms : 0;
    if (facts->max_ms > skew_ms && ratio > skew_ratio && is_new(state, graph, row))
        raise_alert(state, ratio,
                    pyro_say(state->context,
                             "query %" PRId64 ", stage %" PRId64 ": longest task %.0f ms, median %.0f ms",
                             graph->plan->sql->id, state->app->stages.items[row].id, facts->max_ms, facts->median_ms));
}

static void look_at_tasks(struct state *state, const struct pyro_dataflint_graph *graph, uint32_t node)
{
    if (graph->nodes[node].stage < 0)
        return;
    int64_t row = state->first[graph->nodes[node].stage];
    double tasks = pyro_real(state->app->stages.items[row].partitions);
    if (tasks <= many_tasks)
        return;
    const struct stage_facts *facts = facts_of(state, row);
    if (facts->any && facts->median_ms < small_task_ms && is_new(state, graph, row))
        raise_alert(state, facts->median_ms,
                    pyro_say(state->context, "query %" PRId64 ", stage %" PRId64 ": %.0f tasks, median %.0f ms",
                             graph->plan->sql->id, state->app->stages.items[row].id, tasks, facts->median_ms));
}

static void look_at_partition(struct state *state, const struct pyro_dataflint_graph *graph, int64_t stage)
{
    if (stage < 0)
        return;
    int64_t row = state->first[stage];
    const struct stage_facts *facts = facts_of(state, row);
    const struct {
        const char *name;
        double bytes;
    } kinds[] = {{"output", facts->output},
                 {"input", facts->input},
                 {"shuffle write", facts->shuffle_write},
                 {"shuffle read", facts->shuffle_read}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].bytes <= big_partition)
            continue;
        if (is_new(state, graph, row))
            raise_alert(state, kinds[i].bytes,
                        pyro_say(state->context, "query %" PRId64 ", stage %" PRId64 ": largest %s of a task is %s",
                                 graph->plan->sql->id, state->app->stages.items[row].id, kinds[i].name,
                                 pyro_say_bytes(state->context, kinds[i].bytes)));
        return;
    }
}

static void look_at_partitions(struct state *state, const struct pyro_dataflint_graph *graph, uint32_t node)
{
    look_at_partition(state, graph, graph->nodes[node].stage);
    look_at_partition(state, graph, graph->nodes[node].write);
    look_at_partition(state, graph, graph->nodes[node].read);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* Rows are in the order of their first events. */
static bool find_first_attempts(struct state *state)
{
    const struct pyro_app *app = state->app;
    struct pyro_map first; /* of each id: row + 1 */
    bool ok = true;
    pyro_map_init(&first, app->allocator);
    for (size_t i = 0; i < app->stages.count && ok; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        bool added = false;
        uint64_t *row = pyro_map_put(&first, (uint64_t)stage->id, &added);
        ok = row != NULL;
        if (ok && !stage->unsubmitted && (added || *row == 0 || stage->attempt < app->stages.items[*row - 1].attempt))
            *row = i + 1;
        else if (ok && added)
            *row = 0;
    }
    for (size_t i = 0; i < app->stages.count && ok; i++) {
        bool added = false;
        uint64_t *row = pyro_map_put(&first, (uint64_t)app->stages.items[i].id, &added);
        ok = row != NULL;
        state->first[i] = ok && *row > 0 ? (int64_t)*row - 1 : (int64_t)i;
    }
    pyro_map_done(&first);
    return ok;
}

static bool prepare(struct state *state)
{
    const struct pyro_plans *plans = pyro_rule_plans(state->context);
    size_t stages = state->app->stages.count + 1;
    if (!plans)
        return false;
    state->graphs = pyro_arena_array(state->context->arena, plans->count + 1, sizeof(*state->graphs));
    state->stages = pyro_arena_array(state->context->arena, stages, sizeof(*state->stages));
    state->seen = pyro_arena_array(state->context->arena, stages, sizeof(*state->seen));
    state->first = pyro_arena_array(state->context->arena, stages, sizeof(*state->first));
    if (!state->graphs || !state->stages || !state->seen || !state->first || !find_first_attempts(state))
        return false;
    for (; state->graph_count < plans->count; state->graph_count++) {
        struct pyro_dataflint_graph *graph = &state->graphs[state->graph_count];
        if (!pyro_dataflint_graph(graph, &plans->items[state->graph_count], state->context->arena))
            return false;
        graph->made_output = made_output(graph);
    }
    return true;
}

static void judge_tables(struct state *state)
{
    static const char *const iceberg[] = {"writeSmallFiles", "inefficientIcebergReplaceTable",
                                          "replacedMostOfIcebergTable"};
    static const char *const delta[] = {"fullScanPartitionedTable", "fullScanLiquidClusteringTable",
                                        "fullScanZIndexTable"};
    for (size_t i = 0; i < 3; i++)
        if (begin(state, iceberg[i], "warning", (double)NAN))
            say(state, "not applicable", (double)NAN,
                PYRO_SLICE_LITERAL("needs the metrics of Iceberg commits, which Spark's own events do not have"));
    for (size_t i = 0; i < 3; i++)
        if (begin(state, delta[i], "warning", (double)NAN))
            say(state, "not applicable", (double)NAN,
                PYRO_SLICE_LITERAL(
                    "needs the clustering columns of a Delta table, which Spark's own events do not have"));
}

static void judge(struct pyro_rule_context *context, struct pyro_diagnosis *diagnosis)
{
    static const struct {
        const char *alert, *type;
        const double *threshold;
        void (*look)(struct state *state, const struct pyro_dataflint_graph *graph, uint32_t node);
    } alerts[] = {
        {"readSmallFiles", "warning", &small_file, look_at_read},
        {"writeSmallFilesPartitioned", "warning", &small_file, look_at_partitioned},
        {"writeSmallUnpartitionedFiles", "warning", &small_file, look_at_unpartitioned},
        {"partitionSkew", "warning", &skew_ratio, look_at_skew},
        {"smallTasks", "warning", &small_task_ms, look_at_tasks},
        {"longFilterCondition", "warning", &long_condition, look_at_filter},
        {"largeBroadcast", "warning", &big_broadcast, look_at_broadcast},
        {"broadcastSmallTable", "warning", &broadcast_limits[0][0], look_at_join},
        {"largeCrossJoinScan", "error", &scanned_rows, look_at_product},
        {"maxPartitionToBig", "warning", &big_partition, look_at_partitions},
    };
    struct state state = {.context = context, .diagnosis = diagnosis, .app = context->app};
    if (!prepare(&state)) {
        context->failed = true;
        return;
    }
    judge_memory(&state);
    judge_idle(&state);
    for (size_t i = 0; i < sizeof(alerts) / sizeof(alerts[0]); i++)
        if (begin(&state, alerts[i].alert, alerts[i].type, *alerts[i].threshold))
            for_nodes(&state, alerts[i].look);
    judge_tables(&state);
}

const struct pyro_profile pyro_profile_dataflint = {"dataflint", "DataFlint", judge};
