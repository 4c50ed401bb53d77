/* Task time of an execution's stages, attributed to the operators of its plan: see docs/plans.md. */
#include <math.h>

#include "analyze/plans/plan_build.h"
#include "base/numbers/saturate.h"

/* Work per stage and operator is bounded: an execution with more pairs than this has all its time in other_ms. */
enum { PAIRS_MAX = 1 << 22 };

/* One operator in one stage. */
struct share {
    uint32_t op;
    uint32_t group;  /* share of the nearest operator above whose timing includes this one; NO_GROUP: none */
    bool inclusive;  /* its timing covers what feeds it */
    bool open;       /* takes part of the time that no timing covers */
    bool starts;     /* works before the first row is asked for, in no operator's time: Python workers */
    double pure;     /* ms by its own timings */
    double span;     /* inclusive: ms that it covers; once its members are known at least theirs */
    double within;   /* inclusive: of these, ms of members by their timings */
    double weight;   /* rows in and out */
    double open_sum; /* inclusive: weights of open members */
};
#define NO_GROUP UINT32_MAX

static double real(int64_t value)
{
    return value > 0 ? (double)value : 0;
}

/* Timings of Spark's own operators that time nothing but themselves. Where others are timed, the largest timing. */
static double pure_ms(const struct pyro_plan_tree *plan, uint32_t op)
{
    static const enum pyro_metric timings[] = {
        PYRO_METRIC_SCAN_TIME,          PYRO_METRIC_SORT_TIME,         PYRO_METRIC_PYTHON_START_TIME,
        PYRO_METRIC_PYTHON_INIT_TIME,   PYRO_METRIC_PYTHON_RUN_TIME,   PYRO_METRIC_TASK_COMMIT_TIME,
        PYRO_METRIC_STATE_UPDATE_TIME,  PYRO_METRIC_STATE_REMOVE_TIME, PYRO_METRIC_STATE_COMMIT_TIME,
        PYRO_METRIC_SHUFFLE_WRITE_TIME, PYRO_METRIC_FETCH_WAIT_TIME,
    };
    double sum = 0;
    if (plan->ops[op].engine != PYRO_ENGINE_SPARK)
        return pyro_op_longest_timing(plan, op);
    for (size_t i = 0; i < sizeof(timings) / sizeof(*timings); i++)
        sum += pyro_op_amount(plan, op, timings[i]);
    return sum;
}

static double inclusive_ms(const struct pyro_plan_tree *plan, uint32_t op)
{
    if (plan->ops[op].engine != PYRO_ENGINE_SPARK)
        return 0;
    return fmax(pyro_op_amount(plan, op, PYRO_METRIC_AGGREGATE_TIME),
                pyro_op_amount(plan, op, PYRO_METRIC_HASH_BUILD_TIME));
}

static double rows_through(const struct pyro_plan_tree *plan, uint32_t op)
{
    double rows = 1 + real(plan->ops[op].rows);
    enum pyro_operator_class class = plan->ops[op].class;
    if (class == PYRO_OPERATOR_CARTESIAN || class == PYRO_OPERATOR_NESTED_LOOP_JOIN) /* looks at every pair */
        rows +=
            real(pyro_op_rows(plan, pyro_op_input(plan, op, 0))) * real(pyro_op_rows(plan, pyro_op_input(plan, op, 1)));
    for (uint32_t c = plan->ops[op].first_child; c != PYRO_NO_OP; c = plan->ops[c].next_sibling)
        if (plan->ops[c].class != PYRO_OPERATOR_SUBQUERY)
            rows += real(plan->ops[c].rows);
    return rows;
}

/* ---- One stage --------------------------------------------------------------------------------------------------- */

struct stage_shares {
    struct share *items;
    uint32_t count;
    uint32_t *place; /* by operator: its share + 1 in this stage, 0: none */
    double *all_ms;  /* by operator: run time of all stages that ran it */
};

/* Of what an operator took in all its stages, the part of this one. */
static double stage_part(const struct pyro_plan_op *op, double all_ms, const struct pyro_stage *stage)
{
    if (op->stage_count <= 1)
        return 1;
    return all_ms > 0 ? real(stage->run_ms) / all_ms : 1 / (double)op->stage_count;
}

/* Operators come with parents before children. */
static void fill_shares(const struct pyro_plan_segments *segments, const struct pyro_plan_tree *plan,
                        struct stage_shares *shares, const struct pyro_stage *stage)
{
    for (uint32_t i = 0; i < shares->count; i++) {
        struct share *share = &shares->items[i];
        const struct pyro_plan_op *op = &plan->ops[share->op];
        double part = stage_part(op, shares->all_ms[share->op], stage);
        uint32_t above = op->parent == PYRO_NO_OP ? 0 : shares->place[op->parent];
        bool same = above && segments->segment[op->parent] == segments->segment[share->op];
        share->group = !same                                ? NO_GROUP
                       : shares->items[above - 1].inclusive ? above - 1
                                                            : shares->items[above - 1].group;
        share->pure = part * pure_ms(plan, share->op);
        share->span = part * inclusive_ms(plan, share->op);
        share->inclusive = share->span > 0;
        share->weight = rows_through(plan, share->op);
        share->open = !pyro_op_is_frame(op) && op->class != PYRO_OPERATOR_BROADCAST &&
                      (share->inclusive || share->pure <= 0 || op->class == PYRO_OPERATOR_SHUFFLE);
        share->starts = share->open && op->class == PYRO_OPERATOR_PYTHON;
        share->within = share->open_sum = 0;
    }
}

/* Spreads `run` ms over the shares, into `times` by operator; returns what belongs to none. */
static double spread(struct stage_shares *shares, double run, double *times)
{
    double within = 0, open_sum = 0;
    for (uint32_t i = shares->count; i-- > 0;) { /* members before those that they belong to */
        struct share *share = &shares->items[i];
        double *group_within = share->group == NO_GROUP ? &within : &shares->items[share->group].within;
        double *group_open = share->group == NO_GROUP ? &open_sum : &shares->items[share->group].open_sum;
        if (share->inclusive) {
            share->open_sum += share->weight;
            share->span = fmax(share->span, share->within);
            *group_within += share->span + share->pure;
        } else {
            *group_within += share->pure;
            if (share->open)
                *group_open += share->weight;
            if (share->starts && share->group != NO_GROUP)
                open_sum += share->weight;
        }
    }
    double scale = within > run ? run / within : 1;
    double rest = fmax(0, run - within);
    for (uint32_t i = 0; i < shares->count; i++) {
        struct share *share = &shares->items[i];
        uint32_t group = share->inclusive ? i : share->group;
        double time = scale * share->pure;
        if (share->open && group != NO_GROUP)
            time += scale * (shares->items[group].span - shares->items[group].within) * share->weight /
                    shares->items[group].open_sum;
        else if (share->open && open_sum > 0)
            time += rest * share->weight / open_sum;
        if (share->starts && share->group != NO_GROUP)
            time += rest * share->weight / open_sum;
        times[share->op] += time;
    }
    return open_sum > 0 ? 0 : rest;
}

/* ---- One plan ---------------------------------------------------------------------------------------------------- */

static bool attribute(const struct pyro_plan_segments *segments, const struct pyro_plan_tree *plan,
                      struct pyro_arena *scratch, size_t pairs, double *times)
{
    const struct pyro_app *app = plan->plans->app;
    uint32_t *first = pyro_arena_array(scratch, plan->own_stage_count + (size_t)2, sizeof(*first));
    uint32_t *ops = pyro_arena_array(scratch, pairs + 1, sizeof(*ops));
    uint32_t *number =
        pyro_arena_array(scratch, app->stages.count ? plan->own_stage_count + (size_t)1 : 1, sizeof(*number));
    struct stage_shares shares = {
        .items = pyro_arena_array(scratch, plan->count + (size_t)1, sizeof(*shares.items)),
        .place = pyro_arena_array(scratch, plan->count + (size_t)1, sizeof(*shares.place)),
        .all_ms = pyro_arena_array(scratch, plan->count + (size_t)1, sizeof(*shares.all_ms)),
    };
    if (!first || !ops || !number || !shares.items || !shares.place || !shares.all_ms)
        return false;
    /* Own stages are ascending rows: each operator's are found by walking both. */
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < plan->count; i++) {
            const struct pyro_plan_op *op = &plan->ops[i];
            for (uint32_t s = 0, own = 0; s < op->stage_count; s++) {
                uint32_t row = plan->stages[op->first_stage + s];
                if (op->stage_count == 1)
                    own = pyro_plan_own_stage(plan, row);
                while (plan->own_stages[own] != row)
                    own++;
                if (pass == 0) {
                    first[own + 1]++;
                    shares.all_ms[i] += real(app->stages.items[row].run_ms);
                } else {
                    ops[number[own]++] = i;
                }
            }
        }
        for (uint32_t s = 0; s < plan->own_stage_count && pass == 0; s++) {
            first[s + 1] += first[s];
            number[s] = first[s];
        }
    }
    for (uint32_t s = 0; s < plan->own_stage_count; s++) {
        const struct pyro_stage *stage = &app->stages.items[plan->own_stages[s]];
        shares.count = first[s + 1] - first[s];
        for (uint32_t i = 0; i < shares.count; i++) {
            shares.items[i].op = ops[first[s] + i];
            shares.place[shares.items[i].op] = i + 1;
        }
        fill_shares(segments, plan, &shares, stage);
        spread(&shares, fmin(real(stage->run_ms), real(stage->task_ms)), times);
        for (uint32_t i = 0; i < shares.count; i++)
            shares.place[shares.items[i].op] = 0;
    }
    return true;
}

bool pyro_plan_attribute(struct pyro_plan_segments *segments, struct pyro_plan_tree *plan, struct pyro_arena *scratch)
{
    const struct pyro_app *app = plan->plans->app;
    double total = 0, sum = 0;
    size_t pairs = 0;
    for (uint32_t s = 0; s < plan->own_stage_count; s++)
        total += real(app->stages.items[plan->own_stages[s]].task_ms);
    plan->task_ms = total < 9e18 ? (int64_t)total : INT64_MAX;
    plan->other_ms = plan->task_ms;
    for (uint32_t i = 0; i < plan->count && pairs <= PAIRS_MAX; i++)
        pairs += plan->ops[i].stage_count;
    if (pairs == 0 || pairs > PAIRS_MAX)
        return true;
    double *times = pyro_arena_array(scratch, plan->count, sizeof(*times));
    if (!times || !attribute(segments, plan, scratch, pairs, times))
        return false;
    /* Rounded so that no millisecond is lost or made. */
    for (uint32_t i = 0; i < plan->count; i++) {
        double before = floor(sum);
        sum += fmin(times[i], total - sum);
        double whole = floor(sum) - before;
        plan->ops[i].time_ms = whole < 0x1p63 ? (int64_t)whole : INT64_MAX;
        plan->other_ms = pyro_sub_saturating(plan->other_ms, plan->ops[i].time_ms);
    }
    return true;
}
