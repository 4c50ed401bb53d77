/* SQL executions, and the operators of those that cost most. */
#include <stdlib.h>

#include "analyze/plans/plan_tree.h"
#include "report/diagnosis/json_parts.h"

/* Executions with the most task time, and operators of each: reports stay readable, `pyrometer sql` has them all. */
enum { EXECUTIONS_MAX = 20, OPERATORS_MAX = 30, UNKNOWN_MAX = 20, STAGES_MAX = 100 };

struct cost {
    int64_t ms;
    uint32_t row;
};

static int dearest_first(const void *left, const void *right)
{
    const struct cost *a = left, *b = right;
    if (a->ms != b->ms)
        return a->ms > b->ms ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static void write_operator(struct pyro_json_writer *json, const struct pyro_plan_tree *plan, uint32_t i)
{
    const struct pyro_plan_op *op = &plan->ops[i];
    const struct pyro_app *app = plan->plans->app;
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_int(json, "node", i);
    pyro_json_text(json, "name", op->node->name);
    pyro_json_text(json, "class", op->node->class);
    pyro_json_text(json, "engine", op->node->engine);
    pyro_json_int(json, "rows", op->rows);
    pyro_json_int(json, "bytes", pyro_op_bytes(plan, i));
    pyro_json_int(json, "time_ms", op->time_ms);
    pyro_json_begin(json, "stages", '[');
    int64_t seen[STAGES_MAX];
    uint32_t count = 0;
    for (uint32_t s = 0; s < op->stage_count && count < STAGES_MAX; s++) {
        int64_t stage = app->stages.items[plan->stages[op->first_stage + s]].id;
        uint32_t k = 0;
        while (k < count && seen[k] != stage) /* another attempt */
            k++;
        if (k == count)
            pyro_json_int(json, NULL, seen[count++] = stage);
    }
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
}

static void write_operators(struct pyro_json_writer *json, const struct pyro_plan_tree *plan, struct cost *costs)
{
    size_t count = 0;
    for (uint32_t i = 0; i < plan->count; i++)
        if (!pyro_op_is_frame(&plan->ops[i]))
            costs[count++] = (struct cost){plan->ops[i].time_ms, i};
    if (count > 1)
        qsort(costs, count, sizeof(*costs), dearest_first);
    pyro_json_begin(json, "operators", '[');
    for (size_t i = 0; i < count && i < OPERATORS_MAX; i++)
        write_operator(json, plan, costs[i].row);
    pyro_json_end(json, ']');
}

static void write_unknown(struct pyro_json_writer *json, const struct pyro_plan_tree *plan)
{
    struct pyro_slice seen[UNKNOWN_MAX];
    size_t count = 0;
    pyro_json_begin(json, "unknown_operators", '[');
    for (uint32_t i = 0; i < plan->count && count < UNKNOWN_MAX; i++) {
        size_t k = 0;
        if (plan->ops[i].class != PYRO_OPERATOR_UNKNOWN || !plan->ops[i].node->name.ptr)
            continue;
        while (k < count && !pyro_slice_eq(seen[k], plan->ops[i].node->name))
            k++;
        if (k < count)
            continue;
        seen[count++] = plan->ops[i].node->name;
        pyro_json_text(json, NULL, plan->ops[i].node->name);
    }
    pyro_json_end(json, ']');
}

#define WRITE_INT  pyro_json_int
#define WRITE_TEXT pyro_json_text
#define PYRO_COLUMN(name, type, unit, doc)                                                                             \
    if (strcmp(#name, "plan") != 0 && strcmp(#name, "modified_configs") != 0) /* often longer than the rest */         \
        WRITE_##type(json, #name, row->name);
static void write_columns(struct pyro_json_writer *json, const struct pyro_sql_execution *row)
{
#include "model/tables/sql.def"
    int64_t duration = PYRO_NONE;
    if (row->submitted_ms == PYRO_NONE || row->completed_ms == PYRO_NONE ||
        __builtin_sub_overflow(row->completed_ms, row->submitted_ms, &duration))
        duration = PYRO_NONE;
    pyro_json_int(json, "duration_ms", duration);
}
#undef PYRO_COLUMN

/* Sorts all executions by cost and gives the cost of the last one whose operators are shown. */
static struct cost *rank_executions(const struct pyro_plans *plans, struct pyro_arena *arena)
{
    size_t most = plans->count;
    for (size_t i = 0; i < plans->count; i++)
        most = plans->items[i].count > most ? plans->items[i].count : most;
    struct cost *costs = pyro_arena_array(arena, plans->count + most + 1, sizeof(*costs));
    for (size_t i = 0; costs && i < plans->count; i++)
        costs[i] = (struct cost){plans->items[i].task_ms, (uint32_t)i};
    if (costs && plans->count > 1)
        qsort(costs, plans->count, sizeof(*costs), dearest_first);
    return costs;
}

void pyro_json_sql(struct pyro_json_writer *json, const struct pyro_diagnosis *diagnosis)
{
    const struct pyro_app *app = diagnosis->app;
    const struct pyro_plans *plans = diagnosis->plans;
    struct pyro_arena arena;
    pyro_arena_init(&arena, app->allocator);
    struct cost *costs = plans ? rank_executions(plans, &arena) : NULL;
    struct cost last = {INT64_MIN, 0};
    if (costs && plans->count > EXECUTIONS_MAX)
        last = costs[EXECUTIONS_MAX - 1];
    pyro_json_line(json);
    pyro_json_begin(json, "sql", '[');
    for (size_t i = 0; i < app->sql.count; i++) {
        const struct pyro_plan_tree *plan = costs ? &plans->items[i] : NULL;
        struct cost own = {plan ? plan->task_ms : 0, (uint32_t)i};
        bool shown = plan && (plans->count <= EXECUTIONS_MAX || dearest_first(&own, &last) <= 0);
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        write_columns(json, &app->sql.items[i]);
        pyro_json_int(json, "other_ms", plan ? plan->other_ms : PYRO_NONE);
        if (shown) {
            write_operators(json, plan, costs + plans->count);
            write_unknown(json, plan);
        } else {
            pyro_json_null(json, "operators");
            pyro_json_null(json, "unknown_operators");
        }
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
    pyro_arena_done(&arena);
}
