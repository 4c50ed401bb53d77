#include "rules/plans/plan_repeats.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "analyze/plans/lineage.h"
#include "base/collections/map.h"
#include "rules/plans/plans.h"

/* Scans with computed columns, or of texts that must be parsed, are worth keeping when this many queries ask. */
enum { SCANS_MIN = 3 };
/* Executions with more stages times operators than that are left out: looking for their parts would take too long. */
enum { PAIRS_MAX = 1 << 22 };

struct node_facts {
    bool costly;   /* something below or here is more than reading, filtering, projecting */
    bool computes; /* a projection below or here computes columns, or a scan parses texts */
    bool sent;     /* it is an exchange, or wraps one: what is above runs in other stages */
    uint32_t operators;
};

/* One execution that has the part. */
struct place {
    uint64_t print;
    size_t sql, node, last; /* rows; `last`: of the execution's nodes, one behind */
    int64_t root;
    bool exact;
};

struct stage_at {
    int64_t sql;
    size_t row;
};

struct search {
    struct pyro_rule_context *context;
    const struct pyro_app *app;
    struct node_facts *facts;
    struct pyro_map exact_prints, columnless_prints; /* print -> executions << 32 | the last one's root + 1 */
    struct pyro_lineage lineage;
    struct stage_at *stages; /* by execution, then row */
    size_t stage_count;
    size_t *partly, stamp; /* by row of app->stages: `stamp` where it computes the part in question and more */
    const struct pyro_plans *plans;
    PYRO_VEC(struct place) places;
    double shared, shared_scan;
};

static bool is_costly(struct pyro_slice name)
{
    static const char *const words[] = {"Join",   "Aggregate", "Window", "Generate", "Python",
                                        "Pandas", "ArrowEval", "Expand", "Cartesian"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (pyro_slice_find(name, words[i]))
            return true;
    return pyro_slice_is(name, "Exchange");
}

static bool parses(struct pyro_slice name)
{
    static const char *const formats[] = {"Scan csv", "Scan json", "Scan text", "Scan xml"};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (pyro_slice_starts_with(name, formats[i]))
            return true;
    return false;
}

/* The number in "WholeStageCodegen (3)", which plan and RDDs have in common; 0 for other names. */
static uint32_t codegen_of(struct pyro_slice name)
{
    static const char *const prefix = "WholeStageCodegen (";
    uint32_t number = 0;
    size_t i = strlen(prefix);
    if (!pyro_slice_starts_with(name, prefix))
        return 0;
    for (; i < name.len && name.ptr[i] >= '0' && name.ptr[i] <= '9' && number < 1000000; i++)
        number = number * 10 + (uint32_t)(name.ptr[i] - '0');
    return number;
}

static bool wraps(struct pyro_slice name)
{
    return pyro_slice_find(name, "QueryStage") || pyro_slice_is(name, "InputAdapter") ||
           pyro_slice_is(name, "AQEShuffleRead") || pyro_slice_is(name, "CustomShuffleReader");
}

/* Ids of nested executions follow the one that a user asked for. */
static int64_t root_of(const struct pyro_sql_execution *sql)
{
    return sql->root_id != PYRO_NONE ? sql->root_id : sql->id;
}

static bool count_print(struct pyro_map *map, uint64_t print, int64_t root)
{
    uint64_t *place = print ? pyro_map_put(map, print, NULL) : NULL;
    uint32_t mark = (uint32_t)root + 1;
    if (!print)
        return true;
    if (place && (uint32_t)*place != mark)
        *place = ((*place >> 32) + 1) << 32 | mark;
    return place != NULL;
}

static uint64_t times_of(const struct pyro_map *map, uint64_t print)
{
    const uint64_t *place = print ? pyro_map_get(map, print) : NULL;
    return place ? *place >> 32 : 0;
}

/* From the leaves up: children follow their parents. */
static void learn_nodes(struct search *search, size_t from, size_t to)
{
    for (size_t i = to; i > from; i--) {
        const struct pyro_sql_node *node = &search->app->sql_nodes.items[i - 1];
        struct node_facts *own = &search->facts[i - 1];
        own->costly |= is_costly(node->name);
        own->computes |= node->computes || parses(node->name);
        own->operators++;
        own->sent |= pyro_slice_find(node->name, "Exchange") != NULL;
        if (node->parent < 0 || from + (size_t)node->parent >= i - 1)
            continue;
        struct node_facts *parent = &search->facts[from + (size_t)node->parent];
        parent->costly |= own->costly;
        parent->computes |= own->computes;
        parent->operators += own->operators;
        parent->sent |= own->sent && wraps(search->app->sql_nodes.items[from + (size_t)node->parent].name);
    }
}

/* How often an operator was computed where that is worth a thought, else 0. */
static uint64_t candidate(const struct search *search, size_t row, bool *exact)
{
    const struct pyro_sql_node *node = &search->app->sql_nodes.items[row];
    const struct node_facts *own = &search->facts[row];
    uint64_t exact_times = times_of(&search->exact_prints, node->exact_print),
             columnless_times = times_of(&search->columnless_prints, node->columnless_print);
    *exact = exact_times >= columnless_times;
    if (own->costly)
        return exact_times > 1 || columnless_times > 1 ? (*exact ? exact_times : columnless_times) : 0;
    *exact = true;
    return own->computes && exact_times >= SCANS_MIN ? exact_times : 0;
}

/* In each tree that others computed as well, the operator that promises most: many operators below it, many queries. */
static bool choose(struct search *search, size_t sql, size_t from, size_t to)
{
    const struct pyro_allocator *allocator = search->context->arena->allocator;
    for (size_t i = from; i < to;) {
        double best_score = 0;
        size_t best = i, end = i + search->facts[i].operators;
        bool exact, best_exact = false;
        if (candidate(search, i, &exact) == 0) {
            i++;
            continue;
        }
        end = end < to ? end : to;
        for (size_t k = i; k < end; k++) {
            double times = (double)candidate(search, k, &exact);
            double score = times > 1 ? (times - 1) * search->facts[k].operators : 0;
            if (score > best_score) {
                best_score = score;
                best = k;
                best_exact = exact;
            }
        }
        struct place *place = pyro_vec_push(&search->places, allocator);
        if (!place)
            return false;
        const struct pyro_sql_node *node = &search->app->sql_nodes.items[best];
        *place = (struct place){best_exact ? node->exact_print : node->columnless_print,
                                sql,
                                best,
                                to,
                                root_of(&search->app->sql.items[sql]),
                                best_exact};
        i = end > i ? end : i + 1;
    }
    return true;
}

static int by_execution(const void *left, const void *right)
{
    const struct stage_at *a = left, *b = right;
    if (a->sql != b->sql)
        return a->sql < b->sql ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static bool learn_stages(struct search *search)
{
    const struct pyro_app *app = search->app;
    search->stages = pyro_arena_array(search->context->scratch, app->stages.count + 1, sizeof(*search->stages));
    search->partly = pyro_arena_array(search->context->scratch, app->stages.count + 1, sizeof(*search->partly));
    search->plans = pyro_rule_plans(search->context);
    if (search->partly)
        memset(search->partly, 0, app->stages.count * sizeof(*search->partly));
    if (!search->stages || !search->partly || !search->plans || !pyro_rule_lineage(search->context, &search->lineage))
        return false;
    for (size_t i = 0; i < app->stages.count; i++)
        if (app->stages.items[i].sql != PYRO_NONE && app->stages.items[i].tasks > 0)
            search->stages[search->stage_count++] = (struct stage_at){app->stages.items[i].sql, i};
    if (search->stage_count > 1)
        qsort(search->stages, search->stage_count, sizeof(*search->stages), by_execution);
    return true;
}

/* First of the stages of an execution. */
static size_t stages_of(const struct search *search, int64_t sql)
{
    size_t low = 0, high = search->stage_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (search->stages[middle].sql < sql)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int by_print(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->print != b->print)
        return a->print < b->print ? -1 : 1;
    if (a->sql != b->sql)
        return a->sql < b->sql ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

enum belonging { OUTSIDE, PARTLY, WHOLLY };

/* Whether a stage computes the part: by the numbers of the generated code that it ran, each of which is an operator of
 * the plan. The part's operators follow its top, as many as it has. */
static enum belonging belonging_of(const struct search *search, const struct place *place, size_t stage)
{
    const struct pyro_app *app = search->app;
    size_t first = place->node - (size_t)app->sql_nodes.items[place->node].node;
    size_t end = place->node + search->facts[place->node].operators;
    bool inside = false, outside = false, around = false;
    for (size_t u = search->lineage.first[stage]; u < search->lineage.first[stage + 1]; u++) {
        uint32_t number = codegen_of(app->rdds.items[search->lineage.uses[u].rdd].operation);
        for (size_t i = first; number > 0 && i < place->last; i++) {
            if (codegen_of(app->sql_nodes.items[i].name) != number)
                continue;
            bool in = i >= place->node && i < end;
            inside |= in;
            outside |= !in;
            around |= i < place->node && i + search->facts[i].operators >= end && !search->facts[place->node].sent;
        }
    }
    return inside ? outside ? PARTLY : WHOLLY : around ? PARTLY : OUTSIDE;
}

static bool is_too_large(const struct search *search, const struct place *place)
{
    int64_t sql = search->app->sql.items[place->sql].id;
    size_t nodes = place->last - (place->node - (size_t)search->app->sql_nodes.items[place->node].node), i = 0;
    size_t first = stages_of(search, sql);
    while (first + i < search->stage_count && search->stages[first + i].sql == sql && i * nodes <= PAIRS_MAX)
        i++;
    return i * nodes > PAIRS_MAX;
}

/* Task time of an execution's stages that compute the part and more. They are marked. */
static double partial_work(struct search *search, const struct place *place, int64_t sql)
{
    double work = 0;
    search->stamp++;
    for (size_t i = stages_of(search, sql); i < search->stage_count && search->stages[i].sql == sql; i++) {
        size_t row = search->stages[i].row;
        if (belonging_of(search, place, row) != PARTLY)
            continue;
        search->partly[row] = search->stamp;
        work += pyro_real(search->app->stages.items[row].task_ms);
    }
    return work;
}

/* What the part's operators took of the stages marked by partial_work(), where the plan's metrics tell. */
static double operators_work(const struct search *search, const struct place *place)
{
    const struct pyro_plan_tree *plan = &search->plans->items[place->sql];
    size_t top = (size_t)search->app->sql_nodes.items[place->node].node;
    double work = 0;
    bool known = false;
    for (size_t i = top; plan->ops && i < top + search->facts[place->node].operators && i < plan->count; i++) {
        const struct pyro_plan_op *op = &plan->ops[i];
        bool here = false;
        for (uint32_t k = 0; k < op->stage_count; k++)
            here |= search->partly[plan->stages[op->first_stage + k]] == search->stamp;
        known |= op->stage_count > 0;
        work += here ? pyro_real(op->time_ms) : 0;
    }
    return known ? work : INFINITY;
}

/* Adds the stages of one execution that need not run, or not in full. */
static void add_parts(struct search *search, struct pyro_plan_repeat *repeat, const struct place *place, double least)
{
    const struct pyro_app *app = search->app;
    int64_t sql = app->sql.items[place->sql].id;
    double work = partial_work(search, place, sql);
    double most = operators_work(search, place),
           part = search->facts[place->node].costly ? search->shared : search->shared_scan;
    part = fmin(part * least, most);
    for (size_t i = stages_of(search, sql); i < search->stage_count && search->stages[i].sql == sql; i++) {
        size_t row = search->stages[i].row;
        enum belonging belongs = belonging_of(search, place, row);
        double own = pyro_real(app->stages.items[row].task_ms);
        double factor = belongs == WHOLLY ? 0 : belongs == PARTLY ? fmax(0, 1 - part / fmax(work, 1)) : 1;
        if (factor >= 1)
            continue;
        repeat->parts[repeat->part_count++] = (struct pyro_repeated_stage){row, factor};
        repeat->saved += own * (1 - factor);
        if (repeat->stage < 0)
            repeat->stage = (ptrdiff_t)row;
    }
}

/* Places [from, to) have one print. */
static bool judge(struct search *search, size_t from, size_t to, struct pyro_plan_repeat *ret)
{
    const struct pyro_app *app = search->app;
    const struct place *places = search->places.items;
    double least = INFINITY;
    size_t rooms = 0;
    *ret = (struct pyro_plan_repeat){.node = places[from].node,
                                     .first_sql = places[from].sql,
                                     .operators = search->facts[places[from].node].operators,
                                     .exact = places[from].exact,
                                     .stage = -1};
    for (size_t i = from; i < to; i++) {
        int64_t sql = app->sql.items[places[i].sql].id;
        if (is_too_large(search, &places[i]))
            return false;
        least = fmin(least, partial_work(search, &places[i], sql));
        for (size_t k = stages_of(search, sql); k < search->stage_count && search->stages[k].sql == sql; k++)
            rooms++;
        ret->times += i == from || places[i].root != places[i - 1].root;
    }
    ret->parts = pyro_arena_array(search->context->scratch, rooms + 1, sizeof(*ret->parts));
    if (!ret->parts) {
        search->context->failed = true;
        return false;
    }
    for (size_t i = from + 1; i < to; i++) {
        /* Nested executions are the same run of it; twice in one plan is not a matter of caching between queries. */
        if (places[i].root == places[from].root || places[i].sql == places[i - 1].sql)
            continue;
        add_parts(search, ret, &places[i], least);
    }
    return ret->times > 1 && ret->part_count > 0;
}

static int by_saved(const void *left, const void *right)
{
    const struct pyro_plan_repeat *a = left, *b = right;
    if (a->saved < b->saved || a->saved > b->saved)
        return a->saved > b->saved ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

/* One execution's nodes are adjacent, executions in their order. */
static bool each_execution(struct search *search, int step)
{
    const struct pyro_app *app = search->app;
    bool ok = true;
    for (size_t from = 0, to, sql = 0; ok && from < app->sql_nodes.count; from = to) {
        for (to = from; to < app->sql_nodes.count && app->sql_nodes.items[to].sql == app->sql_nodes.items[from].sql;
             to++)
            ;
        while (sql < app->sql.count && app->sql.items[sql].id != app->sql_nodes.items[from].sql)
            sql++;
        if (sql == app->sql.count)
            return ok;
        if (app->sql.items[sql].stages < 1 || !pyro_slice_is(app->sql.items[sql].status, "succeeded"))
            continue;
        if (step == 1) {
            ok = choose(search, sql, from, to);
            continue;
        }
        learn_nodes(search, from, to);
        for (size_t i = from; ok && i < to; i++)
            ok = count_print(&search->exact_prints, app->sql_nodes.items[i].exact_print,
                             root_of(&app->sql.items[sql])) &&
                 count_print(&search->columnless_prints, app->sql_nodes.items[i].columnless_print,
                             root_of(&app->sql.items[sql]));
    }
    return ok;
}

bool pyro_plan_repeats_load(struct pyro_rule_context *context, double shared, double shared_scan,
                            struct pyro_plan_repeats *ret)
{
    struct search search = {.context = context, .app = context->app, .shared = shared, .shared_scan = shared_scan};
    const struct pyro_allocator *allocator = context->arena->allocator;
    *ret = (struct pyro_plan_repeats){0};
    pyro_map_init(&search.exact_prints, allocator);
    pyro_map_init(&search.columnless_prints, allocator);
    search.facts = pyro_arena_array(context->scratch, context->app->sql_nodes.count + 1, sizeof(*search.facts));
    bool ok = search.facts != NULL;
    if (ok)
        memset(search.facts, 0, context->app->sql_nodes.count * sizeof(*search.facts));
    ok = ok && each_execution(&search, 0) && each_execution(&search, 1) && learn_stages(&search);
    ret->items = ok ? pyro_arena_array(context->scratch, search.places.count + 1, sizeof(*ret->items)) : NULL;
    ok = ret->items != NULL;
    if (ok && search.places.count > 1)
        qsort(search.places.items, search.places.count, sizeof(*search.places.items), by_print);
    for (size_t from = 0, to; ok && from < search.places.count; from = to) {
        for (to = from; to < search.places.count && search.places.items[to].print == search.places.items[from].print;
             to++)
            ;
        if (to - from > 1 && judge(&search, from, to, &ret->items[ret->count]))
            ret->count++;
        ok = !context->failed;
    }
    if (ok && ret->count > 1)
        qsort(ret->items, ret->count, sizeof(*ret->items), by_saved);
    pyro_vec_done(&search.places, allocator);
    pyro_map_done(&search.exact_prints);
    pyro_map_done(&search.columnless_prints);
    context->failed |= !ok;
    return ok;
}
