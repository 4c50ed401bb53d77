/* shuffle-heavy: a query sends many times its input through shuffles, or the same data again and again. */
#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "rules/finding.h"
#include "rules/fixes/remedy.h"

#define MIB (1024.0 * 1024)

enum { BYTES, RATIO, REPEATS, ALIKE, COST_MS, COST_SHARE };
static const struct pyro_threshold thresholds[] = {
    [BYTES] = {"shuffle_bytes_min", 32 * MIB, "bytes",
               "Minimum size that one SQL execution writes to shuffles; less is quick"},
    [RATIO] = {"ratio_min", 4, "ratio",
               "Minimum ratio of shuffled to read bytes: joins and aggregations of a query stay below two or three"},
    [REPEATS] = {"repeats_min", 2, "count",
                 "Minimum number of stages of one SQL execution that shuffle again what they read from a shuffle"},
    [ALIKE] = {"alike_min", 0.8, "share",
               "... and read and write at least this share of the bytes of its largest shuffle"},
    [COST_MS] = {"cost_ms_min", 1000, "ms", "Quiet if the saving in task time is smaller"},
    [COST_SHARE] = {"cost_share_min", 0.01, "share", "... or a smaller share of the application's task time"},
};

/* Serializing, compressing, copying and reading back, by one core; measured on shuffles of SQL rows. */
#define BYTES_PER_MS 60e3
/* No more of a stage's time than this is attributed to its shuffle. */
#define STAGE_SHARE_MAX 0.7

/* A stage as part of its query: a SQL execution, or a job without one. */
struct member {
    bool in_sql;
    int64_t query;
    size_t stage;
};

struct query {
    double input, shuffled, largest, again, again_bytes, excess_bytes, cost_ms;
    size_t lead; /* stage that writes most */
};

static int by_query(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    if (a->in_sql != b->in_sql)
        return a->in_sql ? 1 : -1;
    if (a->query != b->query)
        return a->query < b->query ? -1 : 1;
    return (a->stage > b->stage) - (a->stage < b->stage);
}

/* Task time that the shuffle of a stage cost: writing it, and handling its bytes twice. */
static double stage_cost(const struct pyro_stage *stage)
{
    double bytes = pyro_real(stage->shuffle_write_bytes);
    double cost = pyro_real(stage->shuffle_write_ms) + bytes / BYTES_PER_MS;
    return fmin(cost, STAGE_SHARE_MAX * pyro_real(stage->task_ms));
}

static struct query add_up(struct pyro_rule_context *context, const struct member *members, size_t count)
{
    const struct pyro_app *app = context->app;
    struct query query = {.lead = members[0].stage};
    for (size_t i = 0; i < count; i++) {
        const struct pyro_stage *stage = &app->stages.items[members[i].stage];
        double written = pyro_real(stage->shuffle_write_bytes);
        query.input += pyro_real(stage->input_bytes);
        query.shuffled += written;
        query.cost_ms += stage_cost(stage);
        if (written > query.largest) {
            query.largest = written;
            query.lead = members[i].stage;
        }
    }
    double alike = pyro_limit(context, ALIKE) * query.largest;
    for (size_t i = 0; i < count; i++) {
        const struct pyro_stage *stage = &app->stages.items[members[i].stage];
        double written = pyro_real(stage->shuffle_write_bytes), read = pyro_real(stage->shuffle_read_bytes);
        bool again = written > 0 && fmin(written, read) >= alike;
        query.again += again;
        query.again_bytes += again ? written : 0;
    }
    /* Once through a shuffle would do: of the input, or of the data that is shuffled again and again. */
    if (query.input > 0 && query.shuffled >= pyro_limit(context, RATIO) * query.input)
        query.excess_bytes = query.shuffled - query.input;
    else
        query.excess_bytes = query.again_bytes;
    return query;
}

static void advise(struct pyro_rule_context *context, struct pyro_finding *finding, const struct query *query,
                   bool blown, bool repeated)
{
    const struct pyro_stage *stage = &context->app->stages.items[query->lead];
    const char *verify =
        "In the next run \"Shuffle Write\" of these stages (Spark UI, Stages) is close to the size of the input.";
    bool sql = pyro_stage_is_sql(stage);
    struct pyro_advice *advice = NULL;
    if (blown)
        advice = pyro_finding_advise(
            context, finding,
            sql ? PYRO_SLICE_LITERAL("Shuffle before the rows multiply: aggregate, filter and drop columns first, and "
                                     "do explode() and wide joins after the shuffle.")
                : PYRO_SLICE_LITERAL("Combine before the shuffle: reduceByKey() or aggregateByKey() instead of "
                                     "groupByKey(), filter and map to small values first."),
            verify);
    if (advice && !sql)
        advice->code = PYRO_SLICE_LITERAL("pairs.aggregateByKey(0, lambda a, v: a + len(v), lambda a, b: a + b)");
    if (repeated)
        pyro_finding_advise(context, finding,
                            pyro_say(context,
                                     "Shuffle the data once: %.0f stages shuffle the complete output of another "
                                     "shuffle. Remove repartition() calls, and use the same keys for joins, windows "
                                     "and aggregations, so that one partitioning is enough.",
                                     query->again),
                            verify);
}

static void report(struct pyro_rule_context *context, const struct member *members, size_t count,
                   const struct query *query, double cost)
{
    const struct pyro_app *app = context->app;
    struct pyro_finding *finding = pyro_finding_add(context, context->rule);
    if (!finding)
        return;
    bool blown = query->input > 0 && query->shuffled >= pyro_limit(context, RATIO) * query->input;
    bool repeated = query->again >= pyro_limit(context, REPEATS);
    pyro_finding_at_stage(context, finding, query->lead);
    const char *times = blown ? pyro_say(context, ", %.1f x the %s that it read", query->shuffled / query->input,
                                         pyro_say_bytes(context, query->input))
                                    .ptr
                              : "";
    const char *again = repeated ? pyro_say(context, "; %.0f stages shuffled the output of a shuffle again (%s)",
                                            query->again, pyro_say_bytes(context, query->again_bytes))
                                       .ptr
                                 : "";
    finding->cause = pyro_say(
        context, "%s and the other stages of its %s sent %s through shuffles%s%s. This cost about %s of task time.",
        pyro_say_stage(context, query->lead), members[0].in_sql ? "query" : "job",
        pyro_say_bytes(context, query->shuffled), times, again, pyro_say_ms(context, query->cost_ms));
    pyro_finding_evidence(context, finding, "shuffle_write_bytes", query->shuffled,
                          query->shuffled - query->excess_bytes, "bytes");
    pyro_finding_evidence(context, finding, "input_bytes", query->input, (double)NAN, "bytes");
    pyro_finding_evidence(context, finding, "shuffle_to_input",
                          query->input > 0 ? query->shuffled / query->input : (double)NAN, pyro_limit(context, RATIO),
                          "ratio");
    pyro_finding_evidence(context, finding, "shuffled_again", query->again, 0, "count");
    pyro_finding_evidence(context, finding, "shuffle_cost_ms", query->cost_ms, query->cost_ms - cost, "ms");
    advise(context, finding, query, blown, repeated);
    for (size_t i = 0; i < count; i++) {
        const struct pyro_stage *stage = &app->stages.items[members[i].stage];
        double work = fmax(pyro_real(stage->task_ms), 1);
        if (stage->shuffle_write_bytes > 0)
            pyro_remedy_stage(context, finding, members[i].stage,
                              1 - stage_cost(stage) * (query->excess_bytes / fmax(query->shuffled, 1)) / work);
    }
    pyro_remedy_partly(finding, 0.5);
    finding->confidence *= blown ? 0.75 : 0.6;
}

static enum pyro_verdict evaluate(struct pyro_rule_context *context)
{
    const struct pyro_app *app = context->app;
    if (pyro_real(app->numbers.shuffle_write_bytes) <= 0)
        return PYRO_VERDICT_NOT_APPLICABLE;
    struct member *members = pyro_arena_array(context->arena, app->stages.count + 1, sizeof(*members));
    if (!members) {
        context->failed = true;
        return PYRO_VERDICT_QUIET;
    }
    size_t count = 0;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        if (stage->tasks > 0 && (stage->sql != PYRO_NONE || stage->job != PYRO_NONE))
            members[count++] =
                (struct member){stage->sql != PYRO_NONE, stage->sql != PYRO_NONE ? stage->sql : stage->job, i};
    }
    if (count > 1)
        qsort(members, count, sizeof(*members), by_query);
    double least =
        fmax(pyro_limit(context, COST_MS), pyro_limit(context, COST_SHARE) * pyro_real(app->numbers.task_ms));
    for (size_t first = 0, last; first < count && !context->failed; first = last) {
        for (last = first; last < count && members[last].in_sql == members[first].in_sql &&
                           members[last].query == members[first].query;
             last++)
            ;
        struct query query = add_up(context, members + first, last - first);
        bool heavy = (query.input > 0 && query.shuffled >= pyro_limit(context, RATIO) * query.input) ||
                     query.again >= pyro_limit(context, REPEATS);
        double cost = query.cost_ms * query.excess_bytes / fmax(query.shuffled, 1);
        if (heavy && query.shuffled >= pyro_limit(context, BYTES) && cost >= least)
            report(context, members + first, last - first, &query, cost);
    }
    return PYRO_VERDICT_QUIET;
}

const struct pyro_rule pyro_rule_shuffle_heavy = {
    .id = "shuffle-heavy",
    .category = "shuffle",
    .title = "Heavy shuffles",
    .summary = "A query sends many times its input through shuffles, or the same data repeatedly.",
    PYRO_THRESHOLDS(thresholds),
    .follows = {"missed-broadcast-join", "row-explosion", "cartesian-product", "global-window"},
    .evaluate = evaluate,
};
