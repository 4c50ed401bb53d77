/* Step 2: configurations worth predicting, near those that ran. */
#include <math.h>

#include "analyze/settings/spark_settings.h"
#include "fleet/statistics/statistics.h"
#include "fleet/suggest/suggest.h"
#include "predict/predict.h"

#define MIB         1048576.0
#define BLOCK_BYTES (128 * MIB)
#define HEADROOM    1.2
#define GROWS       0.1 /* slope of a peak by input, on a logarithmic scale */
#define LEAST_HEAP  (512 * MIB)
#define OVERHEAD    (384 * MIB) /* Spark's own: this or a tenth of the heap, whichever is more */

enum { EXECUTOR_VALUES = 12, CORE_VALUES = 6, PLAN_SETTINGS = PYRO_CANDIDATE_SETTINGS - 8 };

struct range {
    double low, high; /* low > high: nothing is known */
};

static void range_add(struct range *range, double value)
{
    if (!isfinite(value))
        return;
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

static double range_clamp(const struct range *range, double factor, double value)
{
    return range->low > range->high ? NAN : fmin(fmax(value, range->low / factor), range->high * factor);
}

/* What all candidates of an application share. */
struct making {
    const struct pyro_suggest_history *history;
    const struct pyro_suggest_run *now; /* newest run that counts */
    double input_bytes;
    const struct pyro_suggest_limits *limits;
    const struct pyro_suggest_setting *plan;
    size_t plan_count;
    struct pyro_arena *arena;
    struct pyro_candidates *all;
    /* Of runs that completed with half of the input or more: */
    struct range executors, cores, memory, partitions, advisory, total; /* total: cores of all executors */
    double heap_bytes, outside_bytes; /* that an executor of the current cores needs; NaN: unknown */
    double shuffle_bytes;             /* that a stage writes with this input; NaN: unknown */
    bool ok;
};

static bool is_large_enough(const struct making *making, const struct pyro_suggest_run *run)
{
    return isnan(making->input_bytes) || run->input_bytes >= making->input_bytes / 2;
}

static double factor_of(size_t kept)
{
    return kept >= 10 ? 2 : kept >= 3 ? 1.5 : 1.25;
}

/* The largest peak of all runs with headroom, more of it where it grows with an input that was never seen. */
static double need_of(struct making *making, size_t offset)
{
    const struct pyro_suggest_history *history = making->history;
    double *x = pyro_arena_array(making->arena, history->count + 1, sizeof(*x));
    double *y = pyro_arena_array(making->arena, history->count + 1, sizeof(*y));
    double most = NAN, seen = NAN, slope = 0;
    size_t count = 0;
    making->ok = making->ok && x && y;
    for (size_t i = 0; making->ok && i < history->count; i++) {
        const struct pyro_suggest_run *run = history->runs[i];
        double peak = *(const double *)(const void *)((const char *)run + offset);
        if (!(peak > 0))
            continue;
        most = fmax(most, peak);
        if (!isfinite(run->input_bytes))
            continue;
        seen = fmax(seen, run->input_bytes);
        x[count] = pyro_log_input(run->input_bytes);
        y[count++] = log(peak);
    }
    making->ok = making->ok && pyro_input_slope(x, y, count, making->arena, &slope);
    /* Fewer runs cannot say that it does not grow. */
    bool grows = count < PYRO_SLOPE_RUNS || slope > GROWS;
    double larger = grows && seen > 0 && making->input_bytes > seen ? making->input_bytes / seen : 1;
    return HEADROOM * most * larger;
}

static void look_at_history(struct making *making)
{
    static const struct range nothing = {INFINITY, -INFINITY};
    making->executors = making->cores = making->memory = making->partitions = making->advisory = nothing;
    making->total = nothing;
    making->shuffle_bytes = NAN;
    for (size_t i = 0; i < making->history->count; i++) {
        const struct pyro_suggest_run *run = making->history->runs[i];
        if (!is_large_enough(making, run))
            continue;
        range_add(&making->executors, run->executors);
        range_add(&making->cores, run->cores);
        range_add(&making->total, run->executors * run->cores);
        range_add(&making->memory, pyro_history_number(run, PYRO_KEY_MEMORY));
        range_add(&making->partitions, pyro_history_number(run, PYRO_KEY_PARTITIONS));
        range_add(&making->advisory, pyro_history_number(run, PYRO_KEY_ADVISORY));
        double larger = making->input_bytes > 0 && run->input_bytes > 0 ? making->input_bytes / run->input_bytes : 1;
        making->shuffle_bytes = fmax(making->shuffle_bytes, run->largest_shuffle_bytes * larger);
    }
    making->heap_bytes = need_of(making, offsetof(struct pyro_suggest_run, heap_peak_bytes));
    making->outside_bytes = need_of(making, offsetof(struct pyro_suggest_run, outside_peak_bytes));
}

static bool ran(const struct making *making, double executors, double cores)
{
    for (size_t i = 0; i < making->history->count; i++) {
        const struct pyro_suggest_run *run = making->history->runs[i];
        if (is_large_enough(making, run) && !(fabs(run->executors - executors) > 0) && !(fabs(run->cores - cores) > 0))
            return true;
    }
    return false;
}

static void set(struct making *making, struct pyro_candidate *candidate, const char *key, struct pyro_slice value)
{
    making->ok = making->ok && pyro_candidate_set(candidate, making->now, pyro_slice_from(key), value);
}

static void set_number(struct making *making, struct pyro_candidate *candidate, enum pyro_suggest_key key, double value)
{
    set(making, candidate, pyro_suggest_keys[key], pyro_arena_printf(making->arena, "%.0f", value));
}

static bool is_adaptive(const struct pyro_suggest_run *run)
{
    double flag = pyro_history_number(run, PYRO_KEY_ADAPTIVE);
    if (isfinite(flag))
        return flag > 0;
    /* On by default since Spark 3.2. */
    struct pyro_slice version = run->spark_version;
    return version.len > 2 && !pyro_slice_starts_with(version, "2.") && !pyro_slice_starts_with(version, "3.0") &&
           !pyro_slice_starts_with(version, "3.1");
}

/* Memory by the peaks, partitions by the shuffled bytes. */
static void set_sizes(struct making *making, struct pyro_candidate *candidate)
{
    double factor = making->all->factor, more_tasks = fmax(candidate->cores / making->now->cores, 1);
    double heap = range_clamp(&making->memory, factor, making->heap_bytes * more_tasks);
    heap = ceil(fmax(heap, LEAST_HEAP) / BLOCK_BYTES) * BLOCK_BYTES;
    if (heap > making->limits->most_memory_bytes)
        heap = making->limits->most_memory_bytes;
    if (isfinite(making->heap_bytes) && isfinite(heap))
        set(making, candidate, pyro_suggest_keys[PYRO_KEY_MEMORY], pyro_size_text(heap, making->arena));
    double memory = pyro_history_number(making->now, PYRO_KEY_MEMORY);
    double overhead = pyro_history_number(making->now, PYRO_KEY_OVERHEAD), outside = making->outside_bytes * more_tasks;
    if (!isfinite(overhead))
        overhead = fmax(OVERHEAD, memory / 10);
    if (outside > overhead)
        set(making, candidate, pyro_suggest_keys[PYRO_KEY_OVERHEAD], pyro_size_text(outside, making->arena));
    double slots = candidate->executors * candidate->cores, bytes = making->shuffle_bytes;
    if (!(bytes > BLOCK_BYTES) || !(slots >= 1))
        return;
    double partitions = ceil(ceil(bytes / BLOCK_BYTES) / slots) * slots;
    if (is_adaptive(making->now)) {
        double advisory = range_clamp(&making->advisory, factor, bytes / partitions);
        if (isfinite(advisory))
            set(making, candidate, pyro_suggest_keys[PYRO_KEY_ADVISORY], pyro_size_text(advisory, making->arena));
    } else {
        partitions = range_clamp(&making->partitions, factor, partitions);
        if (isfinite(partitions))
            set_number(making, candidate, PYRO_KEY_PARTITIONS, ceil(partitions));
    }
}

/* Of the newest report's plan what has a model, except what candidates vary themselves. Numbers stay near those of
 * runs. */
static void set_plan(struct making *making, struct pyro_candidate *candidate)
{
    static const enum pyro_suggest_key own[] = {PYRO_KEY_INSTANCES, PYRO_KEY_CORES, PYRO_KEY_DYNAMIC,
                                                PYRO_KEY_DYNAMIC_MOST};
    for (size_t i = 0; i < making->plan_count && candidate->setting_count < PLAN_SETTINGS; i++) {
        struct pyro_slice key = making->plan[i].key, value = making->plan[i].value;
        bool varied = false;
        for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
            varied = varied || pyro_slice_is(key, pyro_suggest_keys[own[k]]);
        if (varied || !pyro_predicted_is_known(key))
            continue;
        const struct range *range = pyro_slice_is(key, pyro_suggest_keys[PYRO_KEY_MEMORY])       ? &making->memory
                                    : pyro_slice_is(key, pyro_suggest_keys[PYRO_KEY_PARTITIONS]) ? &making->partitions
                                    : pyro_slice_is(key, pyro_suggest_keys[PYRO_KEY_ADVISORY])   ? &making->advisory
                                                                                                 : NULL;
        double wanted = pyro_setting_magnitude(pyro_setting_find(key), value);
        double near = range && isfinite(wanted) ? range_clamp(range, making->all->factor, wanted) : wanted;
        if (range && isnan(near))
            continue;
        if (range && fabs(near - wanted) > 0)
            value = range == &making->partitions ? pyro_arena_printf(making->arena, "%.0f", near)
                                                 : pyro_size_text(near, making->arena);
        if (range == &making->memory && near > making->limits->most_memory_bytes)
            continue;
        set(making, candidate, key.ptr, value);
    }
}

static struct pyro_candidate *add(struct making *making, const struct pyro_candidate *like)
{
    struct pyro_candidates *all = making->all;
    if (all->count >= PYRO_CANDIDATES)
        return NULL;
    all->items[all->count] = *like;
    return &all->items[all->count++];
}

static void add_variant(struct making *making, const struct pyro_candidate *pair, bool sizes, bool plan)
{
    struct pyro_candidate *variant = add(making, pair);
    if (!variant)
        return;
    variant->current = false;
    if (plan)
        set_plan(making, variant);
    if (sizes)
        set_sizes(making, variant);
    variant->resized = variant->setting_count != pair->setting_count;
    if (!variant->resized)
        making->all->count--;
}

/* A pair without other changes, with fitting sizes, with the plan, and with both. */
static void add_pair(struct making *making, double executors, double cores)
{
    const struct pyro_suggest_run *now = making->now;
    struct pyro_candidate pair = {.executors = executors, .cores = cores, .ran = ran(making, executors, cores)};
    const struct pyro_suggest_limits *limits = making->limits;
    bool current = !(fabs(executors - now->executors) > 0) && !(fabs(cores - now->cores) > 0);
    if (!current && (executors > limits->most_executors || cores > limits->most_cores ||
                     executors * cores > limits->most_total_cores))
        return;
    if (!current && !pair.ran && executors * cores > making->total.high * making->all->factor) /* step by step */
        return;
    for (size_t i = 0; i < making->all->count; i++) {
        const struct pyro_candidate *other = &making->all->items[i];
        if (!(fabs(other->executors - executors) > 0) && !(fabs(other->cores - cores) > 0))
            return;
    }
    bool dynamic = pyro_history_number(now, PYRO_KEY_DYNAMIC) > 0;
    if (fabs(executors - now->executors) > 0)
        set_number(making, &pair, dynamic ? PYRO_KEY_DYNAMIC_MOST : PYRO_KEY_INSTANCES, executors);
    if (fabs(cores - now->cores) > 0)
        set_number(making, &pair, PYRO_KEY_CORES, cores);
    pair.current = current;
    add(making, &pair);
    add_variant(making, &pair, true, false);
    add_variant(making, &pair, false, true);
    if (making->plan_count > 0)
        add_variant(making, &pair, true, true);
}

/* Whole numbers of the range, at most `most` of them, evenly on a logarithmic scale. */
static size_t values_of(const struct range *range, double factor, size_t most, double *ret)
{
    double low = fmax(ceil(range->low / factor - 1e-9), 1), high = floor(range->high * factor + 1e-9);
    size_t count = 0;
    if (range->low > range->high)
        return 0;
    for (size_t i = 0; i < most && low <= high; i++) {
        double value =
            high - low < (double)most ? low + (double)i : round(low * pow(high / low, (double)i / (double)(most - 1)));
        if (value <= high && (count == 0 || value > ret[count - 1]))
            ret[count++] = value;
    }
    return count;
}

bool pyro_candidates_make(const struct pyro_suggest_history *history, double input_bytes,
                          const struct pyro_suggest_limits *limits, const struct pyro_suggest_setting *plan,
                          size_t plan_count, size_t kept, struct pyro_arena *arena, struct pyro_candidates *ret)
{
    struct making making = {.history = history,
                            .now = history->completed,
                            .input_bytes = input_bytes,
                            .limits = limits,
                            .plan = plan,
                            .plan_count = plan_count,
                            .arena = arena,
                            .all = ret,
                            .ok = true};
    ret->count = 0;
    ret->factor = factor_of(kept);
    if (!history->completed)
        return true;
    look_at_history(&making);
    add_pair(&making, history->completed->executors, history->completed->cores);
    for (size_t i = history->count; i-- > 0 && ret->count < PYRO_CANDIDATES / 2;)
        if (is_large_enough(&making, history->runs[i]) && history->runs[i]->executors > 0 &&
            history->runs[i]->cores > 0)
            add_pair(&making, history->runs[i]->executors, history->runs[i]->cores);
    double executors[EXECUTOR_VALUES], cores[CORE_VALUES];
    size_t executor_count = values_of(&making.executors, ret->factor, EXECUTOR_VALUES, executors);
    size_t core_count = values_of(&making.cores, ret->factor, CORE_VALUES, cores);
    for (size_t i = 0; i < executor_count; i++)
        for (size_t k = 0; k < core_count; k++)
            add_pair(&making, executors[i], cores[k]);
    return making.ok;
}
