/* What to try after a run died: one rung of a ladder after the other, each once. */
#include <math.h>

#include "fleet/suggest/suggest.h"

/* Spark's default overhead of a container: this, or a tenth of the heap. */
#define OVERHEAD (384 * 1048576.0)

/* What one rung changes, against the run that died and (memory) the last one that completed. False: it changes
 * nothing here. */
struct rung {
    const char *name;
    bool (*change)(const struct pyro_suggest_history *history, struct pyro_candidate *candidate,
                   struct pyro_arena *arena);
};

static bool set(const struct pyro_suggest_history *history, struct pyro_candidate *candidate, enum pyro_suggest_key key,
                struct pyro_slice value)
{
    return pyro_candidate_set(candidate, history->newest, pyro_slice_from(pyro_suggest_keys[key]), value);
}

/* The value that rungs multiply: of the last run that completed, so that a rung does not build on an earlier one. */
static double base_of(const struct pyro_suggest_history *history, enum pyro_suggest_key key)
{
    double base = history->completed ? pyro_history_number(history->completed, key) : (double)NAN;
    return isfinite(base) ? base : pyro_history_number(history->newest, key);
}

static bool half_the_tasks(const struct pyro_suggest_history *history, struct pyro_candidate *candidate,
                           struct pyro_arena *arena)
{
    double cores = pyro_history_number(history->newest, PYRO_KEY_CORES), cpus;
    if (!isfinite(cores))
        cores = history->newest->cores;
    cpus = pyro_history_number(history->newest, PYRO_KEY_TASK_CPUS);
    cpus = isfinite(cpus) && cpus >= 1 ? cpus : 1;
    double half = floor(cores / cpus / 2);
    if (!(half >= 1))
        return true;
    candidate->cores = half * cpus;
    return set(history, candidate, PYRO_KEY_CORES, pyro_arena_printf(arena, "%.0f", half * cpus));
}

static bool larger(const struct pyro_suggest_history *history, struct pyro_candidate *candidate,
                   struct pyro_arena *arena, double factor)
{
    double memory = base_of(history, PYRO_KEY_MEMORY), overhead = base_of(history, PYRO_KEY_OVERHEAD);
    if (!isfinite(memory))
        return true;
    if (!isfinite(overhead))
        overhead = fmax(OVERHEAD, memory / 10);
    return set(history, candidate, PYRO_KEY_MEMORY, pyro_size_text(memory * factor, arena)) &&
           set(history, candidate, PYRO_KEY_OVERHEAD, pyro_size_text(overhead * factor, arena));
}

static bool half_as_large_again(const struct pyro_suggest_history *history, struct pyro_candidate *candidate,
                                struct pyro_arena *arena)
{
    return larger(history, candidate, arena, 1.5);
}

static bool twice_as_large(const struct pyro_suggest_history *history, struct pyro_candidate *candidate,
                           struct pyro_arena *arena)
{
    return larger(history, candidate, arena, 2);
}

static bool twice_the_partitions(const struct pyro_suggest_history *history, struct pyro_candidate *candidate,
                                 struct pyro_arena *arena)
{
    double partitions = base_of(history, PYRO_KEY_PARTITIONS);
    return !isfinite(partitions) ||
           set(history, candidate, PYRO_KEY_PARTITIONS, pyro_arena_printf(arena, "%.0f", partitions * 2));
}

static bool larger_driver(const struct pyro_suggest_history *history, struct pyro_candidate *candidate,
                          struct pyro_arena *arena, double factor)
{
    double memory = base_of(history, PYRO_KEY_DRIVER_MEMORY);
    return !isfinite(memory) || set(history, candidate, PYRO_KEY_DRIVER_MEMORY, pyro_size_text(memory * factor, arena));
}

static bool driver_half_as_large_again(const struct pyro_suggest_history *history, struct pyro_candidate *candidate,
                                       struct pyro_arena *arena)
{
    return larger_driver(history, candidate, arena, 1.5);
}

static bool driver_twice_as_large(const struct pyro_suggest_history *history, struct pyro_candidate *candidate,
                                  struct pyro_arena *arena)
{
    return larger_driver(history, candidate, arena, 2);
}

static bool larger_results(const struct pyro_suggest_history *history, struct pyro_candidate *candidate,
                           struct pyro_arena *arena)
{
    double limit = base_of(history, PYRO_KEY_RESULT_SIZE), memory = base_of(history, PYRO_KEY_DRIVER_MEMORY);
    if (!(limit > 0)) /* 0: there is no limit */
        return true;
    /* The driver needs room for what the limit lets in. */
    return set(history, candidate, PYRO_KEY_RESULT_SIZE, pyro_size_text(2 * limit, arena)) &&
           (!isfinite(memory) ||
            set(history, candidate, PYRO_KEY_DRIVER_MEMORY, pyro_size_text(memory + 2 * limit, arena)));
}

/* Executors of half the size are lost and replaced more easily. */
static bool survive_preemption(const struct pyro_suggest_history *history, struct pyro_candidate *candidate,
                               struct pyro_arena *arena)
{
    double instances = base_of(history, PYRO_KEY_INSTANCES), memory = base_of(history, PYRO_KEY_MEMORY);
    bool ok = set(history, candidate, PYRO_KEY_DECOMMISSION, PYRO_SLICE_LITERAL("true")) &&
              set(history, candidate, PYRO_KEY_DECOMMISSION_STORAGE, PYRO_SLICE_LITERAL("true"));
    if (!ok || !(history->newest->cores >= 2))
        return ok;
    ok = half_the_tasks(history, candidate, arena);
    if (ok && isfinite(memory))
        ok = set(history, candidate, PYRO_KEY_MEMORY, pyro_size_text(memory / 2, arena));
    if (ok && isfinite(instances)) {
        candidate->executors = instances * 2;
        ok = set(history, candidate, PYRO_KEY_INSTANCES, pyro_arena_printf(arena, "%.0f", instances * 2));
    }
    return ok;
}

static const struct rung memory[] = {{"half the tasks at once", half_the_tasks},
                                     {"executor memory x 1.5", half_as_large_again},
                                     {"executor memory x 2", twice_as_large},
                                     {"twice the partitions", twice_the_partitions}},
                         driver[] = {{"driver memory x 1.5", driver_half_as_large_again},
                                     {"driver memory x 2", driver_twice_as_large}},
                         result[] = {{"result limit x 2 with driver memory", larger_results}},
                         preemption[] = {{"decommissioning, smaller executors", survive_preemption}};

static const struct {
    const char *death;
    const struct rung *rungs;
    size_t count;
} ladders[] = {{"memory", memory, sizeof(memory) / sizeof(memory[0])},
               {"driver-memory", driver, sizeof(driver) / sizeof(driver[0])},
               {"result-limit", result, sizeof(result) / sizeof(result[0])},
               {"preemption", preemption, sizeof(preemption) / sizeof(preemption[0])}};

static bool within(const struct pyro_candidate *candidate, const struct pyro_suggest_limits *limits)
{
    struct pyro_suggest_run changed = {0};
    for (size_t i = 0; i < candidate->setting_count; i++)
        if (pyro_slice_is(candidate->settings[i].key, pyro_suggest_keys[PYRO_KEY_MEMORY]))
            changed.settings[PYRO_KEY_MEMORY] = candidate->settings[i].value;
    bool sized = changed.settings[PYRO_KEY_MEMORY].ptr != NULL;
    return !(candidate->executors > limits->most_executors) && !(candidate->cores > limits->most_cores) &&
           !(candidate->executors * candidate->cores > limits->most_total_cores) &&
           !(sized && pyro_history_number(&changed, PYRO_KEY_MEMORY) > limits->most_memory_bytes);
}

static bool was_tried(const struct pyro_suggest_history *history, const struct pyro_suggest_asked *asked,
                      const char *rung)
{
    for (size_t i = 0; i < asked->tried_count; i++)
        if (asked->tried[i].time_ms < history->newest->start_ms && pyro_slice_is(asked->tried[i].rung, rung))
            return true;
    return false;
}

bool pyro_ladder_next(const struct pyro_suggest_history *history, const struct pyro_suggest_asked *asked,
                      struct pyro_arena *arena, struct pyro_candidate *ret, const char **ret_rung)
{
    *ret_rung = NULL;
    for (size_t i = 0; i < sizeof(ladders) / sizeof(ladders[0]); i++) {
        if (!pyro_slice_is(asked->death, ladders[i].death))
            continue;
        for (size_t k = 0; k < ladders[i].count; k++) {
            const struct rung *rung = &ladders[i].rungs[k];
            struct pyro_candidate candidate = {.executors = history->newest->executors,
                                               .cores = history->newest->cores};
            if (was_tried(history, asked, rung->name))
                continue;
            if (!rung->change(history, &candidate, arena))
                return false;
            if (candidate.setting_count == 0 || !within(&candidate, &asked->limits))
                continue;
            *ret = candidate;
            *ret_rung = rung->name;
            return true;
        }
    }
    return true;
}
