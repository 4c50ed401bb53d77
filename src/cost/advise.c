#include "cost/advise.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/internal.h"
#include "analyze/replay.h"

/* What is judged by; docs/cost.md says why. */
#define LONGER_MAX     0.10 /* without a deadline the run may take so much longer */
#define SAVING_MIN     0.05 /* less is not worth a change */
#define REPLAY_BAD     0.15 /* a run that the simulator tells worse than this gets no advice from it */
#define DOUBT          0.05 /* of the wall time, each time the executors are halved */
#define MEMORY_SPARE   1.25 /* of the memory that was used */
#define MEMORY_GIVEN   0.85 /* of a node's memory, the rest is the system's */
#define STORAGE_FILLED 0.9  /* of the memory for storage that caches may fill */
enum { SIZES = 48 };

struct advisor {
    struct pyro_cost *cost;
    const struct pyro_app *app;
    const struct pyro_prices *prices;
    const struct pyro_money_options *options;
    struct pyro_replay *replay;
    struct pyro_replay_executor *executors;
    int64_t deadline_ms;
    size_t count;                             /* executors at once */
    double scale;                             /* measured / replayed with these executors */
    double executor_micros, executor_core_ms; /* what executors cost, and their core time */
    double nodes;                             /* hosts they ran on */
    bool by_nodes, failed;
};

static struct pyro_slice say(struct advisor *state, const char *format, ...) __attribute__((format(printf, 2, 3)));
static struct pyro_slice say(struct advisor *state, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct pyro_slice made = pyro_arena_vprintf(&state->cost->arena, format, arguments);
    va_end(arguments);
    state->failed |= made.ptr == NULL;
    return made;
}

static struct pyro_cost_advice *add(struct advisor *state, const char *kind)
{
    struct pyro_cost *cost = state->cost;
    if (cost->advice_count == PYRO_COST_ADVICE_MAX)
        return NULL;
    struct pyro_cost_advice *advice = &cost->advice[cost->advice_count++];
    *advice =
        (struct pyro_cost_advice){.kind = kind, .executors = PYRO_NONE, .wall_ms = PYRO_NONE, .micros = PYRO_NONE};
    return advice;
}

static void decline(struct advisor *state, const char *kind, struct pyro_slice why)
{
    struct pyro_cost_advice *advice = add(state, kind);
    if (advice)
        advice->safety = why;
}

/* ---- fewer executors ------------------------------------------------------------------------------------------- */

struct size {
    size_t executors;
    double wall_ms, high_ms, core_ms, micros;
};

/* The run on its first `count` executors, which come when they came and stay. */
static bool measure(struct advisor *state, size_t count, struct size *ret)
{
    struct pyro_replay_change change = {.executors = state->executors, .executor_count = count};
    struct pyro_replay_result result;
    if (pyro_replay_run(state->replay, &change, &result, NULL) != PYRO_OK)
        return false;
    *ret = (struct size){.executors = count,
                         .wall_ms = (double)result.wall_ms * state->scale,
                         .core_ms = (double)result.core_ms * state->scale};
    ret->high_ms = ret->wall_ms * (1 + DOUBT * log2((double)state->count / (double)count));
    return true;
}

static double nodes_for(const struct advisor *state, size_t executors)
{
    return ceil(state->nodes * (double)executors / (double)state->count);
}

/* Money of a size: nodes x time or core time, against those of the full size; the driver's with the time. */
static void price(const struct advisor *state, const struct size *full, struct size *size)
{
    const struct pyro_cost *cost = state->cost;
    double longer = full->wall_ms > 0 ? size->wall_ms / full->wall_ms : 1;
    double amount = state->by_nodes     ? nodes_for(state, size->executors) / nodes_for(state, full->executors) * longer
                    : full->core_ms > 0 ? size->core_ms / full->core_ms
                                        : 1;
    size->micros = state->executor_micros * amount + ((double)cost->money.micros - state->executor_micros) * longer;
}

static int by_time(const void *a, const void *b)
{
    const struct pyro_replay_executor *x = a, *y = b;
    return x->added_ms < y->added_ms ? -1 : x->added_ms > y->added_ms;
}

/* Executors of the run in the order they came, as if all had stayed; false: no memory. */
static bool gather(struct advisor *state)
{
    const struct pyro_app *app = state->app;
    struct pyro_window window = pyro_app_window(app);
    state->executors = pyro_arena_array(&state->cost->arena, app->executors.count + 1, sizeof(*state->executors));
    if (!state->executors)
        return false;
    for (size_t i = 0; i < app->executors.count; i++) {
        uint64_t from, to;
        pyro_executor_interval(&window, &app->executors.items[i], &from, &to);
        state->executors[i] =
            (struct pyro_replay_executor){.added_ms = (int64_t)from,
                                          .removed_ms = PYRO_NONE,
                                          .cores = (int64_t)pyro_executor_cores(&app->executors.items[i]),
                                          .resource_profile = app->executors.items[i].resource_profile};
    }
    qsort(state->executors, app->executors.count, sizeof(*state->executors), by_time);
    return true;
}

/* Executors that caches need: none may be evicted for want of room. 1 where the log shows no cache. */
static size_t needed_by_caches(const struct advisor *state)
{
    const struct pyro_app *app = state->app;
    double stored = 0, room = 0;
    for (size_t i = 0; i < app->executors.count; i++) {
        stored = fmax(stored, (double)app->executors.items[i].storage_peak_bytes);
        room = fmax(room, (double)app->executors.items[i].storage_memory_bytes);
    }
    double rdds = 0;
    for (size_t i = 0; i < app->rdds.count; i++)
        rdds += app->rdds.items[i].memory_bytes > 0 ? (double)app->rdds.items[i].memory_bytes : 0;
    stored = fmax(stored * (double)state->count, rdds);
    if (stored <= 0)
        return 1;
    double needed = room > 0 ? ceil(stored / (room * STORAGE_FILLED)) : (double)state->count;
    return needed >= (double)state->count ? state->count : needed < 1 ? 1 : (size_t)needed;
}

static const char *minutes(char *text, size_t size, double ms)
{
    if (ms < 120000)
        snprintf(text, size, "%lld s", (long long)(ms / 1000 + 0.5));
    else if (ms < 7200000)
        snprintf(text, size, "%lld min", (long long)(ms / 60000 + 0.5));
    else
        snprintf(text, size, "%lld h %lld min", (long long)(ms / 3600000), (long long)(fmod(ms, 3600000) / 60000));
    return text;
}

static void advise_size(struct advisor *state, const struct size *full, const struct size *best, double limit)
{
    struct pyro_cost *cost = state->cost;
    struct pyro_cost_advice *advice = add(state, "right-size");
    char new_time[40], high[40], limit_text[40];
    if (!advice)
        return;
    bool priced = cost->money.known;
    double before = priced ? full->micros : full->core_ms, after = priced ? best->micros : best->core_ms;
    advice->executors = (int64_t)best->executors;
    advice->wall_ms = pyro_saturate((__int128)best->wall_ms);
    advice->core_ms = pyro_saturate((__int128)best->core_ms);
    advice->saves_share = before > 0 ? 1 - after / before : 0;
    if (priced) {
        advice->micros = pyro_saturate((__int128)best->micros);
        advice->saves_micros = cost->money.micros - advice->micros;
    }
    if (state->by_nodes && cost->money.instance.ptr)
        advice->text = say(state, "%.0f x %.*s (%zu executor%s)", nodes_for(state, best->executors),
                           (int)(cost->money.instance.len < 80 ? cost->money.instance.len : 80),
                           cost->money.instance.ptr, best->executors, best->executors == 1 ? "" : "s");
    else
        advice->text = say(state, "%zu executor%s of %lld cores", best->executors, best->executors == 1 ? "" : "s",
                           (long long)state->executors[0].cores);
    advice->safety =
        say(state,
            "The simulated run takes %s, at most %s, where %s is the limit (%s): %.0f %% to spare. Executors keep "
            "their memory.",
            minutes(new_time, sizeof(new_time), best->wall_ms), minutes(high, sizeof(high), best->high_ms),
            minutes(limit_text, sizeof(limit_text), limit),
            state->deadline_ms > 0 ? "the deadline" : "10 % longer than now", 100 * fmax(0, 1 - best->high_ms / limit));
}

static bool sweep(struct advisor *state)
{
    struct size full, best, size;
    double measured = (double)state->cost->duration_ms;
    double limit = state->deadline_ms > 0 ? (double)state->deadline_ms : measured * (1 + LONGER_MAX);
    size_t least = needed_by_caches(state);
    state->scale = 1;
    if (!measure(state, state->count, &full))
        return false;
    if (!(full.wall_ms > 0) || fabs(full.wall_ms / measured - 1) > REPLAY_BAD) {
        decline(state, "right-size",
                say(state, "The simulator tells this run %.0f %% off: too far to advise another size by it.",
                    full.wall_ms > 0 ? 100 * fabs(full.wall_ms / measured - 1) : 100));
        return true;
    }
    state->scale = measured / full.wall_ms;
    full.wall_ms *= state->scale;
    full.core_ms *= state->scale;
    full.micros = (double)state->cost->money.micros;
    best = full;
    size_t step = state->count > SIZES ? (state->count + SIZES - 1) / SIZES : 1;
    for (size_t count = least; count < state->count; count += step) {
        if (!measure(state, count, &size))
            return false;
        price(state, &full, &size);
        bool cheaper = state->cost->money.known ? size.micros < best.micros : size.core_ms < best.core_ms;
        if (cheaper && size.high_ms <= limit)
            best = size;
    }
    double before = state->cost->money.known ? full.micros : full.core_ms;
    double after = state->cost->money.known ? best.micros : best.core_ms;
    if (best.executors < full.executors && after < before * (1 - SAVING_MIN))
        advise_size(state, &full, &best, limit);
    else
        decline(state, "right-size",
                say(state, "No smaller number of executors saves 5 %% %s.",
                    state->deadline_ms > 0 ? "and keeps the deadline" : "without making the run 10 % longer"));
    return true;
}

/* ---- nodes of another type -------------------------------------------------------------------------------------- */

/* Memory that an executor's processes used at most; 0: the log does not say. */
static double used_mib(const struct pyro_app *app)
{
    double most = 0;
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        double heap = executor->heap_peak_bytes > 0 ? (double)executor->heap_peak_bytes : 0;
        double offheap = executor->offheap_peak_bytes > 0 ? (double)executor->offheap_peak_bytes : 0;
        double resident = executor->process_rss_peak_bytes > 0 ? (double)executor->process_rss_peak_bytes : 0;
        double python = executor->python_rss_peak_bytes > 0 ? (double)executor->python_rss_peak_bytes : 0;
        if (heap > 0 || resident > 0)
            most = fmax(most, fmax(heap + offheap, resident) + python);
    }
    return most / 1048576;
}

static void advise_instance(struct advisor *state)
{
    struct pyro_cost *cost = state->cost;
    const struct pyro_instance *now = pyro_prices_instance(state->prices, cost->money.instance), *best = NULL;
    double used = used_mib(state->app), price_now = 0, price_best = INFINITY;
    if (!now || !state->by_nodes || !cost->money.known)
        return;
    double each = ceil((double)state->count / state->nodes), needed = each * used * MEMORY_SPARE;
    if (used <= 0) {
        decline(state, "instance",
                say(state, "The log has no memory peaks (spark.eventLog.logStageExecutorMetrics=true writes them): no "
                           "other instance type can be called safe."));
        return;
    }
    price_now = pyro_node_hour(cost, state->prices, state->options, now->name);
    for (size_t i = 0; i < state->prices->instances.count; i++) {
        const struct pyro_instance *other = &state->prices->instances.items[i];
        double hour = other->cores == now->cores && (double)other->memory_mib * MEMORY_GIVEN >= needed
                          ? pyro_node_hour(cost, state->prices, state->options, other->name)
                          : (double)NAN;
        if (hour < price_best) {
            price_best = hour;
            best = other;
        }
    }
    if (!best || !(price_best < price_now * (1 - SAVING_MIN)))
        return;
    struct pyro_cost_advice *advice = add(state, "instance");
    if (!advice)
        return;
    double saved = state->executor_micros * (1 - price_best / price_now);
    advice->wall_ms = cost->duration_ms;
    advice->core_ms = cost->total.core_ms;
    advice->executors = (int64_t)state->count;
    advice->micros = cost->money.micros - pyro_saturate((__int128)saved);
    advice->saves_micros = cost->money.micros - advice->micros;
    advice->saves_share = cost->money.micros > 0 ? saved / (double)cost->money.micros : 0;
    advice->text =
        say(state, "%.0f x %.*s", state->nodes, (int)(best->name.len < 80 ? best->name.len : 80), best->name.ptr);
    advice->safety =
        say(state,
            "Executors used %.1f GiB at most, %.1f GiB a node; such a node has %.0f GiB: %.0f %% to spare. Its "
            "cores are taken to be as fast. Lower spark.executor.memory to fit.",
            used / 1024, each * used / 1024, (double)best->memory_mib / 1024,
            100 * (1 - each * used / ((double)best->memory_mib * MEMORY_GIVEN)));
}

/* ---- bounds for dynamic allocation ------------------------------------------------------------------------------- */

/* Executors that running tasks filled for so much of the time that any task ran. */
static void advise_bounds(struct advisor *state)
{
    const struct pyro_app *app = state->app;
    struct pyro_window window = pyro_app_window(app);
    struct pyro_marks marks;
    int64_t cores = state->executors[0].cores, running = 0;
    uint32_t *cpus = pyro_stage_cpus(app);
    size_t peak =
        app->numbers.cores_peak > 0 && app->numbers.cores_peak < 1 << 20 ? (size_t)app->numbers.cores_peak : 0;
    uint64_t *held = peak ? pyro_scratch(app, peak + 1, sizeof(*held)) : NULL;
    pyro_marks_init(&marks, app->allocator, 2 * app->tasks.count);
    for (size_t i = 0; cpus && held && i < app->tasks.count; i++) {
        uint64_t from = pyro_window_at(&window, pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, i));
        uint64_t to = pyro_window_at(&window, pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, i));
        if (from >= to || pyro_task_get(&app->tasks, PYRO_TASK_status, i) == PYRO_TASK_RESUBMITTED)
            continue;
        pyro_marks_add(&marks, from, 1, i);
        pyro_marks_add(&marks, to, 0, i);
    }
    state->failed |= !cpus || (peak && !held) || !pyro_marks_finish(&marks);
    uint64_t last = 0, busy = 0, below = 0;
    for (size_t i = 0; !state->failed && held && i < marks.list.count; i++) {
        const struct pyro_mark *mark = &marks.list.items[i];
        size_t at = running < 0 ? 0 : (size_t)running > peak ? peak : (size_t)running;
        held[at] += mark->at - last;
        busy += at > 0 ? mark->at - last : 0;
        last = mark->at;
        int32_t row = app->tasks.stage_rows[mark->row];
        int64_t cpu = cpus[row < 0 ? app->stages.count : (size_t)row];
        running += mark->kind == 1 ? cpu : -cpu;
    }
    size_t low = 0, high = 0;
    for (size_t k = 1; !state->failed && held && k <= peak; k++) {
        below += held[k];
        if (!low && 4 * below >= busy)
            low = k;
        if (!high && 100 * below >= 95 * busy)
            high = k;
    }
    if (busy > 0 && cores > 0) {
        struct pyro_cost_advice *advice = add(state, "autoscale");
        int64_t least = ((int64_t)low + cores - 1) / cores, most = ((int64_t)high + cores - 1) / cores;
        if (advice) {
            advice->text = say(state, "Between %lld and %lld executors", (long long)least, (long long)most);
            advice->safety =
                say(state,
                    "While tasks ran, %lld executors would have held them for a quarter of the time, and %lld "
                    "for 95 %% of it; the run had %zu. Bounds for spark.dynamicAllocation.minExecutors and "
                    "maxExecutors, or for the cluster's autoscaling.",
                    (long long)least, (long long)most, state->count);
        }
    }
    pyro_marks_done(&marks);
    pyro_release(app->allocator, cpus);
    pyro_release(app->allocator, held);
}

static void count_up(struct advisor *state)
{
    struct pyro_cost *cost = state->cost;
    int64_t cores = state->executors[0].cores;
    for (size_t i = 0; i < cost->node_count; i++)
        state->nodes += !cost->nodes[i].driver;
    state->count = cores > 0 ? (size_t)(state->app->numbers.cores_peak / cores) : 0;
    state->executor_core_ms = (double)state->app->numbers.core_total_ms;
    state->executor_micros = (double)(cost->money.micros - cost->parts[PYRO_COST_DRIVER].micros);
    state->by_nodes = cost->money.instance.len > 0 && cost->money.nodes > 0;
    state->nodes = state->by_nodes ? cost->money.nodes : state->nodes;
    /* A driver on one of the executors' nodes is paid for with them. */
    if (state->by_nodes)
        state->executor_micros = 0;
    for (size_t i = 0; state->by_nodes && i < cost->money.line_count; i++)
        state->executor_micros += cost->money.lines[i].driver ? 0 : (double)cost->money.lines[i].micros;
}

enum pyro_status pyro_cost_advise(struct pyro_cost *cost, const struct pyro_app *app, const struct pyro_prices *prices,
                                  const struct pyro_money_options *options, int64_t deadline_ms,
                                  struct pyro_error *error)
{
    struct advisor state = {.cost = cost, .app = app, .prices = prices, .options = options, .deadline_ms = deadline_ms};
    bool complete = pyro_slice_is(app->application.status, "completed");
    cost->advice = pyro_arena_array(&cost->arena, PYRO_COST_ADVICE_MAX, sizeof(*cost->advice));
    cost->advice_count = 0;
    if (!cost->advice)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for advice on cost");
    if (cost->manager == PYRO_MANAGER_LOCAL || cost->shape_count == 0 || cost->total.core_ms == 0 ||
        app->jobs.count == 0)
        return PYRO_OK;
    if (cost->shape_count > 1 || !complete) {
        decline(&state, "right-size",
                complete
                    ? PYRO_SLICE_LITERAL("Executors of different sizes took part: no other number of them is advised.")
                    : PYRO_SLICE_LITERAL("The run did not complete: what it needs is not known."));
        return PYRO_OK;
    }
    bool ok = gather(&state);
    if (ok)
        count_up(&state);
    if (ok && state.count > 0 && state.nodes > 0) {
        bool allocates = pyro_app_property_bool(app, "spark.dynamicAllocation.enabled", false);
        ok = pyro_replay_new(app, &state.replay, NULL) == PYRO_OK;
        if (ok && allocates)
            advise_bounds(&state);
        else if (ok)
            ok = sweep(&state);
        if (ok && prices)
            advise_instance(&state);
        if (ok && !allocates)
            advise_bounds(&state);
        pyro_replay_free(state.replay);
    }
    return ok && !state.failed ? PYRO_OK : pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for advice on cost");
}
