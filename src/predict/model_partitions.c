/* How many tasks a stage has: partitions of shuffles, coalescing and skew joins of adaptive execution, splits of files.
 */
#include <math.h>

#include "analyze/internal.h"
#include "predict/tasks.h"

/* Of the time in tasks: how much of a task is fixed cost, and how even the new partitions are, is estimated. */
#define DOUBT_RECUT 0.08
/* Adaptive execution decides on sizes of map output that the log does not have one by one. */
#define DOUBT_ADAPTIVE 0.10
#define DOUBT_SKEW     0.20
/* How far a rule may be from what the run did before it is not believed. */
#define RULE_ERROR_MAX 0.34

struct rules {
    double partitions, initial, advisory, smallest, most_cores;
    bool adaptive, coalesces, parallelism_first, skew;
    double skew_factor, skew_threshold, split_bytes, open_bytes;
};

static double read(const struct pyro_predict_change *change, enum pyro_predicted setting, bool scenario)
{
    return scenario ? pyro_scenario_setting(change, setting) : pyro_run_setting(change->run->app, setting);
}

static void take_rules(const struct pyro_predict_change *change, bool scenario, struct rules *ret)
{
    const struct pyro_predicted_run *run = change->run;
    double cores = scenario ? (double)change->scenario->executors * (double)change->scenario->cores_per_executor
                            : (double)run->executors * (double)run->cores;
    double parallelism = read(change, PYRO_PREDICTED_PARALLELISM, scenario);
    *ret = (struct rules){
        .partitions = read(change, PYRO_PREDICTED_SHUFFLE_PARTITIONS, scenario),
        .initial = read(change, PYRO_PREDICTED_INITIAL_PARTITIONS, scenario),
        .advisory = read(change, PYRO_PREDICTED_ADVISORY, scenario),
        .smallest = read(change, PYRO_PREDICTED_SMALLEST, scenario),
        .most_cores = parallelism > 0 ? parallelism : fmax(cores, 2),
        .adaptive = read(change, PYRO_PREDICTED_ADAPTIVE, scenario) != 0,
        .coalesces = read(change, PYRO_PREDICTED_COALESCE, scenario) != 0,
        .parallelism_first = read(change, PYRO_PREDICTED_PARALLELISM_FIRST, scenario) != 0,
        .skew = read(change, PYRO_PREDICTED_SKEW, scenario) != 0,
        .skew_factor = read(change, PYRO_PREDICTED_SKEW_FACTOR, scenario),
        .skew_threshold = read(change, PYRO_PREDICTED_SKEW_THRESHOLD, scenario),
        .split_bytes = read(change, PYRO_PREDICTED_SPLIT, scenario),
        .open_bytes = read(change, PYRO_PREDICTED_OPEN, scenario),
    };
}

/* ShufflePartitionsUtil.coalescePartitions() over partitions of one size. */
static double partitions_of(const struct rules *rules, double bytes)
{
    if (!rules->adaptive || !rules->coalesces)
        return rules->partitions;
    double first = rules->initial > 0 ? rules->initial : rules->partitions;
    double least = rules->parallelism_first ? rules->most_cores : 1;
    double target = fmax(fmin(ceil(bytes / least), rules->advisory), rules->smallest);
    double each = bytes / first, joined = each > 0 ? floor(target / each) : first;
    return ceil(first / fmax(fmin(joined, first), 1));
}

/* FilePartition.maxSplitBytes() and getFilePartitions() over `files` files of one size. */
static double splits_of(const struct rules *rules, double bytes, double files)
{
    double target =
        fmin(rules->split_bytes, fmax(rules->open_bytes, (bytes + files * rules->open_bytes) / rules->most_cores));
    double size = bytes / files, parts = fmax(ceil(size / target), 1);
    double chunk = size / parts, together = 1 + floor(fmax(target - chunk, 0) / (chunk + rules->open_bytes));
    return ceil(files * parts / together);
}

/* What the run had, as a rule tells it and as it was: `now` is what the rule tells of the scenario. */
static double scaled(double was, double rule_was, double rule_now)
{
    if (!(rule_was > 0) || fabs(rule_was / was - 1) > RULE_ERROR_MAX)
        return was;
    return rule_now == rule_was ? was : fmax(floor(was * rule_now / rule_was + 0.5), 1);
}

/* Files and bytes that the scans of a query read, and what its stages did. */
static void count_files(const struct pyro_app *app, int64_t sql, double *files, double *bytes)
{
    *files = *bytes = 0;
    size_t low = 0, high = app->sql_metrics.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (app->sql_metrics.items[middle].sql < sql)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < app->sql_metrics.count && app->sql_metrics.items[low].sql == sql; low++) {
        const struct pyro_sql_metric *metric = &app->sql_metrics.items[low];
        if (metric->value == PYRO_NONE || metric->value < 0)
            continue;
        if (pyro_slice_is(metric->name, "number of files read"))
            *files += (double)metric->value;
        else if (pyro_slice_is(metric->name, "size of files read"))
            *bytes += (double)metric->value;
    }
}

struct told {
    size_t shuffles, files, joins, unsure;
    double before, after;
};

static void recut_files(struct pyro_predict_change *change, size_t row, const struct rules *was,
                        const struct rules *now, struct told *told)
{
    const struct pyro_app *app = change->run->app;
    const struct pyro_stage *stage = &app->stages.items[row];
    double files, bytes, read_bytes = 0;
    if (stage->sql == PYRO_NONE || stage->input_bytes <= 0)
        return;
    count_files(app, stage->sql, &files, &bytes);
    if (!(files > 0) || !(bytes > 0))
        return;
    /* Several scans in one query share the files as they share the bytes read. */
    for (size_t i = 0; i < app->stages.count; i++)
        if (app->stages.items[i].sql == stage->sql && change->run->stages[i].source == PYRO_SOURCE_FILES)
            read_bytes += (double)app->stages.items[i].input_bytes;
    double part = fmin((double)stage->input_bytes / fmax(read_bytes, 1), 1);
    files = fmax(floor(files * part + 0.5), 1);
    bytes *= part;
    double count = scaled((double)stage->partitions, splits_of(was, bytes, files), splits_of(now, bytes, files));
    if (count == (double)stage->partitions)
        return;
    pyro_change_recut(change, row, (uint32_t)fmin(count, PYRO_REPLAY_PARTITIONS));
    told->files++;
    told->before += (double)stage->partitions;
    told->after += count;
}

/* Partitions that a skew join cuts: each of those beyond the limits in pieces of the size aimed at. */
static void cut_skewed(struct pyro_predict_change *change, size_t row, const struct rules *now, struct told *told)
{
    struct pyro_stage_tasks *tasks = pyro_change_tasks(change, row);
    if (!tasks || tasks->count < 2)
        return;
    double sum = 0, limit, pieces = 0;
    double *sorted = pyro_arena_array(&change->scratch, tasks->count, sizeof(*sorted));
    change->failed |= !sorted;
    if (!sorted)
        return;
    memcpy(sorted, tasks->load, tasks->count * sizeof(*sorted));
    double median = pyro_median_of(sorted, tasks->count), others = 0;
    limit = fmax(now->skew_threshold, now->skew_factor * median);
    for (uint32_t i = 0; i < tasks->count; i++)
        if (tasks->load[i] <= limit) {
            sum += tasks->load[i];
            others++;
        }
    double target = fmax(now->advisory, others > 0 ? sum / others : 0);
    for (uint32_t i = 0; i < tasks->count; i++)
        pieces += tasks->load[i] > limit ? ceil(tasks->load[i] / target) : 1;
    if (pieces == tasks->count || pieces > PYRO_REPLAY_PARTITIONS || !(target > 0))
        return;
    double *ms = pyro_arena_array(&change->scratch, (size_t)pieces, sizeof(*ms)),
           *load = pyro_arena_array(&change->scratch, (size_t)pieces, sizeof(*load));
    double fixed = pyro_fixed_ms(change, row);
    uint32_t count = 0;
    change->failed |= !ms || !load;
    for (uint32_t i = 0; ms && load && i < tasks->count; i++) {
        double parts = tasks->load[i] > limit ? ceil(tasks->load[i] / target) : 1;
        for (double p = 0; p < parts; p++, count++) {
            load[count] = tasks->load[i] / parts;
            ms[count] = parts > 1 ? fixed + fmax(tasks->ms[i] - fixed, 0) / parts : tasks->ms[i];
        }
    }
    if (!ms || !load)
        return;
    *tasks = (struct pyro_stage_tasks){.ms = ms, .load = load, .count = count, .touched = true, .recut = true};
    told->joins++;
}

/* The reverse: the run has more tasks than coalescing would have made, and the largest of them were one. */
static void join_skewed(struct pyro_predict_change *change, size_t row, double usual, struct told *told)
{
    struct pyro_stage_tasks *tasks = pyro_change_tasks(change, row);
    if (!tasks || (double)tasks->count < usual + 1)
        return;
    uint32_t pieces = tasks->count - (uint32_t)usual + 1, left = 0;
    double *sorted = pyro_arena_array(&change->scratch, tasks->count, sizeof(*sorted));
    change->failed |= !sorted;
    if (!sorted)
        return;
    memcpy(sorted, tasks->load, tasks->count * sizeof(*sorted));
    pyro_median_of(sorted, tasks->count); /* sorts them */
    double limit = sorted[tasks->count - pieces], fixed = pyro_fixed_ms(change, row), ms = fixed, load = 0;
    for (uint32_t i = 0; i < tasks->count; i++) {
        if (tasks->load[i] >= limit && pieces > 0) {
            pieces--;
            ms += fmax(tasks->ms[i] - fixed, 0);
            load += tasks->load[i];
            continue;
        }
        tasks->ms[left] = tasks->ms[i];
        tasks->load[left++] = tasks->load[i];
    }
    tasks->ms[left] = ms;
    tasks->load[left] = load;
    tasks->count = left + 1;
    tasks->recut = true;
    told->unsure++;
}

static void recut_shuffle(struct pyro_predict_change *change, size_t row, const struct rules *was,
                          const struct rules *now, struct told *told)
{
    const struct pyro_stage *stage = &change->run->app->stages.items[row];
    double bytes = (double)stage->shuffle_read_bytes, before = (double)stage->partitions;
    bool skew_was = was->adaptive && was->skew, skew_now = now->adaptive && now->skew, join = stage->parent_count > 1;
    if (stage->sql == PYRO_NONE) {
        /* RDDs whose shuffles have the default number of partitions. */
        double parallelism = pyro_run_setting(change->run->app, PYRO_PREDICTED_PARALLELISM);
        if (pyro_asks(change, PYRO_PREDICTED_PARALLELISM) && parallelism > 0 && before == parallelism)
            pyro_change_recut(change, row, (uint32_t)now->most_cores);
        told->shuffles += pyro_asks(change, PYRO_PREDICTED_PARALLELISM) && parallelism > 0 && before == parallelism;
        return;
    }
    double usual = partitions_of(was, bytes), after = partitions_of(now, bytes);
    if (join && skew_was && !skew_now && before > usual && usual < was->partitions) {
        join_skewed(change, row, usual, told);
        before = usual;
    }
    double count = was->adaptive ? scaled(before, usual, after) : before == usual ? after : before;
    if (count != before) {
        pyro_change_recut(change, row, (uint32_t)fmin(count, PYRO_REPLAY_PARTITIONS));
        told->shuffles++;
        told->before += before;
        told->after += count;
    }
    if (join && skew_now &&
        (!skew_was || pyro_asks(change, PYRO_PREDICTED_SKEW_FACTOR) ||
         pyro_asks(change, PYRO_PREDICTED_SKEW_THRESHOLD)))
        cut_skewed(change, row, now, told);
}

static bool is_asked(const struct pyro_predict_change *change)
{
    for (unsigned i = 0; i < PYRO_PREDICTED_SETTINGS; i++)
        if (pyro_predicted_settings[i].model == PYRO_MODEL_partitions && pyro_asks(change, (enum pyro_predicted)i))
            return true;
    return false;
}

void pyro_model_partitions(struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    struct rules was, now;
    struct told told = {0};
    bool asked = is_asked(change);
    take_rules(change, false, &was);
    take_rules(change, true, &now);
    if (!run->stages || (!asked && was.most_cores == now.most_cores))
        return;
    for (size_t i = 0; i < run->app->stages.count && !change->failed; i++) {
        if (run->stages[i].source == PYRO_SOURCE_SHUFFLE)
            recut_shuffle(change, i, &was, &now, &told);
        else if (run->stages[i].source == PYRO_SOURCE_FILES)
            recut_files(change, i, &was, &now, &told);
    }
    size_t stages = told.shuffles + told.files + told.joins + told.unsure;
    if (stages == 0 && !asked)
        return;
    double doubt = told.unsure + told.joins > 0                   ? DOUBT_SKEW
                   : stages > 0 && (was.adaptive || now.adaptive) ? DOUBT_ADAPTIVE
                   : stages > 0                                   ? DOUBT_RECUT
                                                                  : 0;
    if (stages == 0)
        pyro_effect(change, PYRO_MODEL_partitions, 0, 0, "no stage of this run would have another number of tasks");
    else
        pyro_effect(
            change, PYRO_MODEL_partitions, doubt, doubt,
            "%zu stages read shuffles in other partitions, %zu read files in other splits (%.0f tasks instead of "
            "%.0f), %zu joins with skewed partitions cut or joined; what tasks take follows what they read, beside "
            "a fixed cost that is estimated from the run",
            told.shuffles, told.files, told.after, told.before, told.joins + told.unsure);
}
