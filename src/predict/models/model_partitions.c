/* How many tasks a stage has: partitions of shuffles, coalescing and skew joins of adaptive execution, splits of files.
 */
#include <math.h>

#include "base/numbers/order.h"
#include "predict/cut_tasks.h"

/* Of the time in tasks: how much of a task is fixed cost, and how even the new partitions are, is estimated. */
#define DOUBT_RECUT 0.08
/* ... the more, the more tasks are added or left out: for each doubling or halving of all of them. */
#define DOUBT_DOUBLING      0.04
#define DOUBT_DOUBLINGS_MAX 0.32
/* Adaptive execution decides on sizes of map output that the log does not have one by one. */
#define DOUBT_ADAPTIVE 0.10
#define DOUBT_SKEW     0.20
/* Stages before one that may have written what it reads. */
enum { WRITERS_LOOKED_AT = 64 };
/* Spark's default of spark.shuffle.sort.bypassMergeThreshold; what is left of a task that stops sorting. */
#define BYPASS_PARTITIONS 200
#define SORT_WRITE_LEFT   0.5
/* How far a rule may be from what the run did before it is not believed. */
#define RULE_ERROR_MAX 0.34

struct rules {
    double partitions, initial, advisory, smallest, most_cores;
    bool adaptive, coalesces, parallelism_first, skew;
    double skew_factor, skew_threshold, split_bytes, open_bytes;
    double least_splits; /* the least number of splits of a scan's files */
};

static double read(const struct pyro_predict_change *change, int64_t sql, enum pyro_predicted setting, bool scenario)
{
    return scenario ? pyro_sql_scenario_setting(change, sql, setting)
                    : pyro_sql_setting(change->run->app, sql, setting);
}

/* FilePartition.maxSplitBytes(): what the session said, else its default parallelism. */
static double least_splits(const struct pyro_predict_change *change, int64_t sql, double parallelism, bool scenario)
{
    double least = read(change, sql, PYRO_PREDICTED_LEAST_SPLITS, scenario);
    if (!(least > 0))
        least = (double)pyro_sql_property_int(change->run->app, sql, "spark.sql.leafNodeDefaultParallelism", 0);
    return least > 0 ? least : parallelism;
}

static void take_rules(const struct pyro_predict_change *change, int64_t sql, bool scenario, struct rules *ret)
{
    const struct pyro_predicted_run *run = change->run;
    double cores = scenario ? (double)change->scenario->executors * (double)change->scenario->cores_per_executor
                            : (double)run->executors * (double)run->cores;
    double parallelism = read(change, sql, PYRO_PREDICTED_PARALLELISM, scenario);
    double most_cores = parallelism > 0 ? parallelism : fmax(cores, 2);
    *ret = (struct rules){
        .partitions = read(change, sql, PYRO_PREDICTED_SHUFFLE_PARTITIONS, scenario),
        .initial = read(change, sql, PYRO_PREDICTED_INITIAL_PARTITIONS, scenario),
        .advisory = read(change, sql, PYRO_PREDICTED_ADVISORY, scenario),
        .smallest = read(change, sql, PYRO_PREDICTED_SMALLEST, scenario),
        .most_cores = most_cores,
        .least_splits = least_splits(change, sql, most_cores, scenario),
        .adaptive = read(change, sql, PYRO_PREDICTED_ADAPTIVE, scenario) != 0,
        .coalesces = read(change, sql, PYRO_PREDICTED_COALESCE, scenario) != 0,
        .parallelism_first = read(change, sql, PYRO_PREDICTED_PARALLELISM_FIRST, scenario) != 0,
        .skew = read(change, sql, PYRO_PREDICTED_SKEW, scenario) != 0,
        .skew_factor = read(change, sql, PYRO_PREDICTED_SKEW_FACTOR, scenario),
        .skew_threshold = read(change, sql, PYRO_PREDICTED_SKEW_THRESHOLD, scenario),
        .split_bytes = read(change, sql, PYRO_PREDICTED_SPLIT, scenario),
        .open_bytes = read(change, sql, PYRO_PREDICTED_OPEN, scenario),
    };
}

/* Partitions are read together up to this size: ShufflePartitionsUtil.coalescePartitions(). */
static double target_of(const struct rules *rules, double bytes)
{
    double least = rules->parallelism_first ? rules->most_cores : 1;
    return fmax(fmin(ceil(bytes / least), rules->advisory), rules->smallest);
}

/* The same over `first` partitions of one size. */
static double coalesced(const struct rules *rules, double bytes, double first)
{
    if (!rules->adaptive || !rules->coalesces)
        return first;
    double target = target_of(rules, bytes), each = bytes / first, joined = each > 0 ? floor(target / each) : first;
    return ceil(first / fmax(fmin(joined, first), 1));
}

/* Partitions that a shuffle is written in. */
static double partitions_of(const struct rules *rules)
{
    return rules->adaptive && rules->coalesces && rules->initial > 0 ? rules->initial : rules->partitions;
}

/* FilePartition.maxSplitBytes() and getFilePartitions() over `files` files of one size. */
static double splits_of(const struct rules *rules, double bytes, double files)
{
    double target =
        fmin(rules->split_bytes, fmax(rules->open_bytes, (bytes + files * rules->open_bytes) / rules->least_splits));
    double size = bytes / files, parts = fmax(ceil(size / target), 1);
    double chunk = size / parts, together = 1 + floor(fmax(target - chunk, 0) / (chunk + rules->open_bytes));
    return ceil(files * parts / together);
}

/* What the run had, by the rule and in fact; `rule_now` is what the rule says of the scenario. */
static double scaled(double was, double rule_was, double rule_now)
{
    if (!(rule_was > 0) || fabs(rule_was / was - 1) > RULE_ERROR_MAX)
        return was;
    return rule_now == rule_was ? was : fmax(floor(was * rule_now / rule_was + 0.5), 1);
}

struct told {
    size_t shuffles, files, joins;
    double before, after;
};

/* The files of a DataFrame that became an RDD: fewer tasks than slots were asked for are parts of the least size, which
 * says how much there is. */
static void recut_frame(struct pyro_predict_change *change, size_t row, const struct rules *was,
                        const struct rules *now, struct told *told)
{
    double before = (double)change->run->app->stages.items[row].partitions, bytes = before * was->open_bytes;
    if (!change->run->stages[row].frame_scan || before >= was->least_splits || !(bytes > 0))
        return;
    double size = fmin(now->split_bytes, fmax(now->open_bytes, bytes / fmax(now->least_splits, 1)));
    double count = size > 0 ? ceil(bytes / size) : before;
    if (count == before)
        return;
    pyro_change_recut(change, row, (uint32_t)fmin(count, PYRO_REPLAY_PARTITIONS));
    told->files++;
    told->before += before;
    told->after += count;
}

static void recut_files(struct pyro_predict_change *change, size_t row, const struct rules *was,
                        const struct rules *now, struct told *told)
{
    const struct pyro_stage *stage = &change->run->app->stages.items[row];
    double files = fmax(floor(change->run->stages[row].files + 0.5), 1), bytes = change->run->stages[row].file_bytes;
    if (!(bytes > 0)) {
        recut_frame(change, row, was, now, told);
        return;
    }
    double count = scaled((double)stage->partitions, splits_of(was, bytes, files), splits_of(now, bytes, files));
    if (count == (double)stage->partitions)
        return;
    pyro_change_recut(change, row, (uint32_t)fmin(count, PYRO_REPLAY_PARTITIONS));
    told->files++;
    told->before += (double)stage->partitions;
    told->after += count;
}

/* Partitions of a join that are skewed, apart from the others. */
struct apart {
    double *ms, *load; /* of each, whole */
    uint32_t count;
};

static bool make_apart(struct pyro_predict_change *change, struct apart *apart, uint32_t room)
{
    apart->ms = pyro_arena_array(&change->scratch, room, sizeof(*apart->ms));
    apart->load = pyro_arena_array(&change->scratch, room, sizeof(*apart->load));
    change->failed |= !apart->ms || !apart->load;
    return !change->failed;
}

/* Beyond which a partition of a join counts as skewed. Spark looks for skew before it puts partitions together
 * (OptimizeSkewedJoin runs before CoalesceShufflePartitions from 3.2 on), so that the median is that of partitions;
 * where the run put them together, a task beyond the size aimed at is a partition of its own. */
static double skew_limit(const struct rules *was, const struct rules *rules, double median, uint32_t count,
                         double bytes)
{
    double joined = was->adaptive && was->coalesces ? fmax(partitions_of(was) / count, 1) : 1;
    double limit = fmax(rules->skew_threshold, rules->skew_factor * median / joined);
    return joined > 1 ? fmax(limit, target_of(was, bytes)) : limit;
}

/* Takes out those beyond the limit of the scenario, where the run did not cut them. One that was beyond the run's own
 * limit and is whole shows a join that Spark does not cut: its type, or a step above that needs the keys. */
static bool take_skewed(struct pyro_predict_change *change, struct pyro_scenario_tasks *tasks, const struct rules *was,
                        const struct rules *now, struct apart *apart)
{
    double bytes = 0, most = 0;
    double *sorted = pyro_arena_array(&change->scratch, tasks->count, sizeof(*sorted));
    change->failed |= !sorted;
    if (!sorted || !make_apart(change, apart, tasks->count))
        return false;
    memcpy(sorted, tasks->load, tasks->count * sizeof(*sorted));
    for (uint32_t i = 0; i < tasks->count; i++) {
        bytes += tasks->load[i];
        most = fmax(most, tasks->load[i]);
    }
    double median = pyro_median(sorted, tasks->count);
    if (was->adaptive && was->skew && most > skew_limit(was, was, median, tasks->count, bytes))
        return false;
    double limit = skew_limit(was, now, median, tasks->count, bytes);
    uint32_t left = 0;
    for (uint32_t i = 0; i < tasks->count; i++) {
        bool skewed = tasks->load[i] > limit;
        uint32_t at = skewed ? apart->count++ : left++;
        (skewed ? apart->ms : tasks->ms)[at] = tasks->ms[i];
        (skewed ? apart->load : tasks->load)[at] = tasks->load[i];
    }
    tasks->count = left;
    return left > 0;
}

/* Every piece of a partition reads the other side's partition whole: what was read beyond what was written tells how
 * many there were, if one partition was cut. 0: the log does not tell. */
static uint32_t pieces_of(const struct pyro_stage_facts *facts, double partitions)
{
    double each = facts->sides ? facts->smaller_bytes / partitions : 0;
    return each > 0 && facts->extra_bytes > 0.5 * each ? (uint32_t)fmin(floor(facts->extra_bytes / each + 1.5), 1e6)
                                                       : 0;
}

/* Where the run cut one: what the tasks read says how many of them were its pieces, else it is the number with which
 * coalescing the rest makes the run's number of tasks. They are taken for the largest. */
static bool join_skewed(struct pyro_predict_change *change, size_t row, struct pyro_scenario_tasks *tasks,
                        const struct rules *was, struct apart *apart)
{
    double *sorted = pyro_arena_array(&change->scratch, tasks->count, sizeof(*sorted));
    double all = 0, pieces_load = 0, first = partitions_of(was), fixed = pyro_fixed_ms(change, row);
    uint32_t pieces = 0, count = tasks->count, left = 0;
    uint32_t known = pieces_of(&change->run->stages[row], first);
    change->failed |= !sorted;
    if (!sorted || !make_apart(change, apart, 1))
        return false;
    for (uint32_t i = 0; i < count; i++)
        all += tasks->load[i];
    memcpy(sorted, tasks->load, count * sizeof(*sorted));
    pyro_sort_reals(sorted, count);
    if (known == 0 && coalesced(was, all, first) == count)
        return false;
    for (uint32_t k = 1; k < count && pieces < 2; k++) {
        pieces_load += sorted[count - k];
        double rest = all - pieces_load, each = rest / (first - 1);
        if (pieces_load > fmax(was->skew_threshold, was->skew_factor * each) &&
            (known > 0 ? known == k : coalesced(was, rest, first - 1) + k == count))
            pieces = k;
    }
    if (pieces < 2)
        return false;
    double limit = sorted[count - pieces];
    apart->count = 1;
    apart->ms[0] = fixed;
    for (uint32_t i = 0; i < count; i++) {
        if (tasks->load[i] >= limit && pieces > 0) {
            pieces--;
            apart->ms[0] += fmax(tasks->ms[i] - fixed, 0);
            apart->load[0] += tasks->load[i];
            continue;
        }
        tasks->ms[left] = tasks->ms[i];
        tasks->load[left++] = tasks->load[i];
    }
    tasks->count = left;
    return left > 0;
}

/* In how many pieces Spark cuts a skewed partition: ShufflePartitionsUtil.createSkewPartitionSpecs() puts what single
 * map tasks wrote together up to the size aimed at. 1: it stays whole. */
static uint32_t pieces_now(const struct pyro_predict_change *change, size_t row, const struct rules *now, double target,
                           double load)
{
    const struct pyro_stage_facts *facts = &change->run->stages[row];
    double most = facts->sides ? (double)change->run->app->stages.items[facts->larger].partitions : 1e6;
    double pieces = now->adaptive && now->skew && target > 0 ? ceil(load / target) : 1;
    return (uint32_t)fmax(fmin(pieces, most), 1);
}

/* Puts the skewed ones back: whole, or in pieces, each of which reads the other side's partition as well. */
static void put_back(struct pyro_predict_change *change, size_t row, const struct rules *now, double target,
                     const struct apart *apart)
{
    struct pyro_scenario_tasks *tasks = pyro_change_tasks(change, row);
    const struct pyro_stage_facts *facts = &change->run->stages[row];
    double fixed = pyro_fixed_ms(change, row), all = tasks ? tasks->count : 0;
    double other = facts->sides ? facts->smaller_bytes / fmax(partitions_of(now), 1) : 0;
    for (uint32_t i = 0; i < apart->count; i++)
        all += pieces_now(change, row, now, target, apart->load[i]);
    if (!tasks || all > PYRO_REPLAY_PARTITIONS)
        return;
    double *ms = pyro_arena_array(&change->scratch, (size_t)all, sizeof(*ms)),
           *load = pyro_arena_array(&change->scratch, (size_t)all, sizeof(*load));
    change->failed |= !ms || !load;
    if (!ms || !load)
        return;
    uint32_t count = 0;
    for (uint32_t i = 0; i < apart->count; i++) {
        uint32_t parts = pieces_now(change, row, now, target, apart->load[i]);
        double whole = apart->load[i], own = fmax(whole - other, 0) / parts, again = parts > 1 ? other : whole - own;
        for (uint32_t p = 0; p < parts; p++, count++) {
            load[count] = own + again;
            ms[count] = fixed + fmax(apart->ms[i] - fixed, 0) * (whole > 0 ? load[count] / whole : 1.0 / parts);
        }
    }
    memcpy(ms + count, tasks->ms, tasks->count * sizeof(*ms));
    memcpy(load + count, tasks->load, tasks->count * sizeof(*load));
    *tasks = (struct pyro_scenario_tasks){
        .ms = ms, .load = load, .count = count + tasks->count, .touched = true, .recut = true};
}

static bool recut_join(struct pyro_predict_change *change, size_t row, const struct rules *was, const struct rules *now,
                       struct told *told)
{
    struct pyro_scenario_tasks *tasks = pyro_change_tasks(change, row);
    struct apart apart = {.count = 0};
    bool skew_was = was->adaptive && was->skew, skew_now = now->adaptive && now->skew;
    if (!tasks || tasks->count < 2)
        return false;
    double before = tasks->count, rest = 0;
    uint32_t whole = tasks->count;
    bool any = skew_was && join_skewed(change, row, tasks, was, &apart);
    if (!any && skew_now) {
        tasks->count = whole;
        any = take_skewed(change, tasks, was, now, &apart);
    }
    if (!any || apart.count == 0) {
        tasks->count = whole;
        return false;
    }
    tasks->recut = true;
    for (uint32_t i = 0; i < tasks->count; i++)
        rest += tasks->load[i];
    double first_was = fmax(partitions_of(was) - apart.count, 1), first_now = fmax(partitions_of(now) - apart.count, 1);
    double count = scaled(tasks->count, coalesced(was, rest, first_was), coalesced(now, rest, first_now));
    double target = fmax(now->advisory, rest / first_now);
    pyro_change_recut(change, row, (uint32_t)fmin(count, PYRO_REPLAY_PARTITIONS));
    put_back(change, row, now, target, &apart);
    told->joins++;
    told->before += before;
    told->after += pyro_change_tasks(change, row)->count;
    return true;
}

/* The last step of an aggregate without keys: one task that reads one record of each task before it, however many
 * partitions shuffles have. */
static bool reads_single_partition(const struct pyro_predicted_run *run, size_t row)
{
    const struct pyro_app *app = run->app;
    const struct pyro_stage *stage = &app->stages.items[row];
    if (stage->partitions != 1)
        return false;
    for (size_t i = row; i-- > 0 && row - i <= WRITERS_LOOKED_AT;)
        if (app->stages.items[i].sql == stage->sql && app->stages.items[i].shuffle_write_records > 0)
            return stage->shuffle_read_records <= app->stages.items[i].partitions;
    return false;
}

static void recut_shuffle(struct pyro_predict_change *change, size_t row, const struct rules *was,
                          const struct rules *now, struct told *told)
{
    const struct pyro_stage *stage = &change->run->app->stages.items[row];
    double bytes = (double)stage->shuffle_read_bytes, before = (double)stage->partitions;
    if (stage->sql == PYRO_NONE) {
        /* RDDs whose shuffles have the default number of partitions. */
        double parallelism = pyro_run_setting(change->run->app, PYRO_PREDICTED_PARALLELISM);
        /* A union with files, as of a join in Python, has the partitions of both. */
        double files = stage->input_bytes > 0 && before > parallelism ? before - parallelism : 0;
        bool follows =
            pyro_asks(change, PYRO_PREDICTED_PARALLELISM) && parallelism > 0 && before == parallelism + files;
        if (follows)
            pyro_change_recut(change, row, (uint32_t)(now->most_cores + files));
        told->shuffles += follows;
        return;
    }
    bool same = was->adaptive == now->adaptive && was->skew == now->skew && was->skew_factor == now->skew_factor &&
                was->skew_threshold == now->skew_threshold && was->advisory == now->advisory &&
                partitions_of(was) == partitions_of(now);
    if (stage->parent_count > 1 && !same && recut_join(change, row, was, now, told))
        return;
    if (reads_single_partition(change->run, row))
        return;
    double usual = coalesced(was, bytes, partitions_of(was)), after = coalesced(now, bytes, partitions_of(now));
    double count = was->adaptive && was->coalesces ? scaled(before, usual, after) : before == usual ? after : before;
    if (count == before)
        return;
    pyro_change_recut(change, row, (uint32_t)fmin(count, PYRO_REPLAY_PARTITIONS));
    told->shuffles++;
    told->before += before;
    told->after += count;
}

/* Shuffles of more partitions than spark.shuffle.sort.bypassMergeThreshold keep their records in memory and sort them;
 * others write each to the file of its partition at once. A stage with a new cut of its own tasks is left alone: how
 * much its shuffle writes follows them. */
static void change_writers(struct pyro_predict_change *change, const struct rules *was, const struct rules *now)
{
    const struct pyro_predicted_run *run = change->run;
    double bypass =
        (double)pyro_app_property_int(run->app, "spark.shuffle.sort.bypassMergeThreshold", BYPASS_PARTITIONS);
    bool sorted_was = partitions_of(was) > bypass, sorted_now = partitions_of(now) > bypass;
    if (sorted_was == sorted_now)
        return;
    for (size_t i = 0; i < run->app->stages.count && !change->failed; i++) {
        const struct pyro_stage *stage = &run->app->stages.items[i];
        double bytes = (double)stage->shuffle_write_bytes;
        if (stage->sql == PYRO_NONE || bytes <= 0 || stage->cpu_ms <= 0)
            continue;
        struct pyro_scenario_tasks *tasks = pyro_change_tasks(change, i);
        if (!tasks || tasks->recut)
            continue;
        double waits = fmax((double)stage->run_ms / (double)stage->cpu_ms, 1);
        double more = (sorted_now ? 1 : -1) * bytes * run->constants[PYRO_CONSTANT_SORT_WRITE_MS] * waits;
        double factor = fmax(1 + more / fmax((double)stage->task_ms, 1), SORT_WRITE_LEFT);
        for (uint32_t t = 0; t < tasks->count; t++)
            tasks->ms[t] *= factor;
    }
}

static bool is_asked(const struct pyro_predict_change *change)
{
    for (unsigned i = 0; i < PYRO_PREDICTED_SETTINGS; i++)
        if (pyro_predicted_settings[i].model == PYRO_MODEL_partitions && pyro_asks(change, (enum pyro_predicted)i))
            return true;
    return false;
}

/* Those of the last session that had settings of its own. */
struct kept_rules {
    const char *settings;
    struct rules was, now;
};
struct rules_of_sql {
    const struct rules *was, *now;
};

/* Of a stage: those of its SQL execution, where the session had changed any. */
static struct rules_of_sql rules_of(const struct pyro_predict_change *change, size_t row, const struct rules *was,
                                    const struct rules *now, struct kept_rules *kept)
{
    const struct pyro_app *app = change->run->app;
    int64_t id = app->stages.items[row].sql;
    ptrdiff_t sql = id == PYRO_NONE ? -1 : pyro_app_find_sql(app, id);
    const char *settings = sql < 0 ? NULL : app->sql.items[sql].modified_configs.ptr;
    if (!settings)
        return (struct rules_of_sql){was, now};
    if (kept->settings != settings) {
        take_rules(change, id, false, &kept->was);
        take_rules(change, id, true, &kept->now);
        kept->settings = settings;
    }
    return (struct rules_of_sql){&kept->was, &kept->now};
}

void pyro_model_partitions(struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    struct rules was, now;
    struct kept_rules kept = {0};
    struct told told = {0};
    bool asked = is_asked(change);
    take_rules(change, PYRO_NONE, false, &was);
    take_rules(change, PYRO_NONE, true, &now);
    if (!run->stages || (!asked && was.most_cores == now.most_cores))
        return;
    for (size_t i = 0; i < run->app->stages.count && !change->failed; i++) {
        const struct rules_of_sql own = rules_of(change, i, &was, &now, &kept);
        if (run->stages[i].source == PYRO_SOURCE_SHUFFLE)
            recut_shuffle(change, i, own.was, own.now, &told);
        else if (run->stages[i].source == PYRO_SOURCE_FILES)
            recut_files(change, i, own.was, own.now, &told);
    }
    change_writers(change, &was, &now);
    size_t stages = told.shuffles + told.files + told.joins;
    if (stages == 0 && !asked)
        return;
    double doubt = told.joins > 0                                 ? DOUBT_SKEW
                   : stages > 0 && (was.adaptive || now.adaptive) ? DOUBT_ADAPTIVE
                   : stages > 0                                   ? DOUBT_RECUT
                                                                  : 0;
    if (told.before > 0 && told.after > 0)
        doubt += fmin(DOUBT_DOUBLING * fabs(log2(told.after / told.before)), DOUBT_DOUBLINGS_MAX);
    if (stages == 0)
        pyro_effect(change, PYRO_MODEL_partitions, 0, 0, "no stage of this run changes its number of tasks");
    else
        pyro_effect(change, PYRO_MODEL_partitions, doubt, doubt,
                    "stages with other shuffle partitions: %zu; stages with other file splits: %zu (%.0f tasks instead "
                    "of %.0f); joins with other skewed partitions: %zu; the times of tasks follow the data that they "
                    "read, plus a fixed cost estimated from the run",
                    told.shuffles, told.files, told.after, told.before, told.joins);
}
