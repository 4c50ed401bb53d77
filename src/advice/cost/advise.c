#include "advice/cost/advise.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "advice/cost/advisor.h"
#include "analyze/accounts/fixed_point.h"
#include "analyze/accounts/marks.h"
#include "analyze/app_facts.h"
#include "analyze/scratch.h"
#include "analyze/task_slots.h"
#include "base/threads/stop.h"

#define STORAGE_FILLED 0.9 /* of the memory for storage that caches may fill */
/* Sizes below the run's own that are tried, and how many times its own is the largest. */
enum { SIZES = 48, LARGER = 4 };

struct pyro_slice pyro_advisor_say(struct pyro_advisor *advisor, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct pyro_slice made = pyro_arena_vprintf(&advisor->cost->arena, format, arguments);
    va_end(arguments);
    advisor->failed |= made.ptr == NULL;
    return made;
}

struct pyro_cost_advice *pyro_advisor_add(struct pyro_advisor *advisor, const char *kind)
{
    struct pyro_cost *cost = advisor->cost;
    if (cost->advice_count == PYRO_COST_ADVICE_MAX)
        return NULL;
    struct pyro_cost_advice *advice = &cost->advice[cost->advice_count++];
    *advice =
        (struct pyro_cost_advice){.kind = kind, .executors = PYRO_NONE, .wall_ms = PYRO_NONE, .micros = PYRO_NONE};
    return advice;
}

void pyro_advisor_decline(struct pyro_advisor *advisor, const char *kind, struct pyro_slice why)
{
    struct pyro_cost_advice *advice = pyro_advisor_add(advisor, kind);
    if (advice)
        advice->safety = why;
}

const char *pyro_advisor_time(char *text, size_t size, double ms)
{
    long long seconds = (long long)(ms / 1000 + 0.5);
    if (ms < 10000)
        snprintf(text, size, "%.1f s", ms / 1000);
    else if (ms < 120000)
        snprintf(text, size, "%lld s", seconds);
    else if (ms < 7200000)
        snprintf(text, size, "%lld min %lld s", seconds / 60, seconds % 60);
    else
        snprintf(text, size, "%lld h %lld min", (long long)(ms / 3600000), (long long)(fmod(ms, 3600000) / 60000));
    return text;
}

double pyro_advisor_limit(const struct pyro_advisor *advisor)
{
    return advisor->wanted->deadline_ms > 0 ? (double)advisor->wanted->deadline_ms
                                            : (double)advisor->cost->duration_ms * (1 + PYRO_ADVISE_LONGER);
}

double pyro_advisor_used_mib(const struct pyro_app *app)
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

/* ---- the run's executors ---------------------------------------------------------------------------------------- */

struct came {
    uint64_t at;
    size_t row;
};

static int by_time(const void *a, const void *b)
{
    const struct came *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* False: no memory. */
static bool gather(struct pyro_advisor *advisor)
{
    const struct pyro_app *app = advisor->app;
    struct pyro_window window = pyro_app_window(app);
    struct pyro_arena *arena = &advisor->cost->arena;
    size_t count = app->executors.count;
    struct came *came = pyro_scratch(app, count, sizeof(*came));
    advisor->executors = pyro_arena_array(arena, count + 1, sizeof(*advisor->executors));
    advisor->hosts = pyro_arena_array(arena, count + 1, sizeof(*advisor->hosts));
    bool done = came && advisor->executors && advisor->hosts;
    for (size_t i = 0; done && i < count; i++) {
        uint64_t to;
        pyro_executor_interval(&window, &app->executors.items[i], &came[i].at, &to);
        came[i].row = i;
    }
    if (done && count > 1)
        qsort(came, count, sizeof(*came), by_time);
    for (size_t i = 0; done && i < count; i++) {
        const struct pyro_executor *row = &app->executors.items[came[i].row];
        advisor->hosts[i] = row->host;
        advisor->executors[i] = (struct pyro_replay_executor){.added_ms = (int64_t)came[i].at,
                                                              .removed_ms = PYRO_NONE,
                                                              .cores = (int64_t)pyro_executor_cores(row),
                                                              .resource_profile = row->resource_profile};
    }
    advisor->executor_count = count;
    pyro_release(app->allocator, came);
    return done;
}

static void count_up(struct pyro_advisor *state)
{
    struct pyro_cost *cost = state->cost;
    int64_t cores = state->executors[0].cores;
    for (size_t i = 0; i < cost->node_count; i++)
        state->nodes += !cost->nodes[i].driver;
    state->count = cores > 0 ? (size_t)(state->app->numbers.cores_peak / cores) : 0;
    state->count = state->count < state->executor_count ? state->count : state->executor_count;
    state->executor_micros = (double)(cost->money.micros - cost->parts[PYRO_COST_DRIVER].micros);
    state->by_nodes = cost->money.instance.len > 0 && cost->money.nodes > 0;
    state->nodes = state->by_nodes ? cost->money.nodes : state->nodes;
    /* A driver on one of the executors' nodes is paid for with them. */
    if (state->by_nodes)
        state->executor_micros = 0;
    for (size_t i = 0; state->by_nodes && i < cost->money.line_count; i++)
        state->executor_micros += cost->money.lines[i].driver ? 0 : (double)cost->money.lines[i].micros;
}

/* ---- another number of executors -------------------------------------------------------------------------------- */

/* What `whatif` says of that many executors: the same scenario, the same money. */
static bool measure(struct pyro_advisor *advisor, size_t count, struct pyro_advised_size *ret)
{
    const struct pyro_predicted_run *run = &advisor->run;
    struct pyro_scenario scenario = {.brief = true};
    struct pyro_arena *arena = &advisor->scratch;
    pyro_arena_reset(arena);
    struct pyro_slice text = pyro_arena_printf(arena, "%zu", count);
    if (!text.ptr || !pyro_scenario_set(&scenario, PYRO_SLICE_LITERAL("spark.executor.instances"), text) ||
        pyro_predict(run, run->replay, arena, &scenario, NULL) != PYRO_OK)
        return false;
    *ret = (struct pyro_advised_size){.executors = count,
                                      .wall_ms = (double)scenario.wall_expected_ms,
                                      .high_ms = (double)scenario.wall_high_ms,
                                      .core_ms = (double)scenario.core_ms,
                                      .micros = advisor->cost->money.known ? scenario.cost * 1e6 : 0,
                                      .fails = scenario.fails};
    return true;
}

bool pyro_advisor_full(struct pyro_advisor *advisor, struct pyro_advised_size *ret)
{
    double off = advisor->run.check.error_share;
    *ret = (struct pyro_advised_size){.executors = advisor->count};
    if (!(off <= PYRO_ADVISE_REPLAY_BAD)) {
        pyro_advisor_decline(advisor, "right-size",
                             pyro_advisor_say(advisor,
                                              "Replaying the unchanged run differs by %.0f %% from the measured "
                                              "duration: this is too inexact to recommend another size.",
                                              100 * off));
        return true;
    }
    ret->wall_ms = ret->high_ms = (double)advisor->run.base.wall_ms;
    ret->core_ms = (double)advisor->run.base.core_ms;
    ret->micros = (double)advisor->cost->money.micros;
    return true;
}

/* Executors that caches need: no block may be evicted for lack of memory. 1 where the log shows no cache. */
static size_t needed_by_caches(const struct pyro_advisor *advisor)
{
    const struct pyro_app *app = advisor->app;
    double stored = 0, room = 0;
    for (size_t i = 0; i < app->executors.count; i++) {
        stored = fmax(stored, (double)app->executors.items[i].storage_peak_bytes);
        room = fmax(room, (double)app->executors.items[i].storage_memory_bytes);
    }
    double rdds = 0;
    for (size_t i = 0; i < app->rdds.count; i++)
        rdds += app->rdds.items[i].memory_bytes > 0 ? (double)app->rdds.items[i].memory_bytes : 0;
    stored = fmax(stored * (double)advisor->count, rdds);
    if (stored <= 0)
        return 1;
    double needed = room > 0 ? ceil(stored / (room * STORAGE_FILLED)) : (double)advisor->count;
    return needed >= (double)advisor->count ? advisor->count : needed < 1 ? 1 : (size_t)needed;
}

/* Executors whose slots the widest barrier stage takes at once. */
static size_t needed_by_barriers(const struct pyro_advisor *advisor)
{
    double tasks = pyro_app_barrier_tasks(advisor->app);
    double slots = pyro_app_slots_per_executor(advisor->app), needed = ceil(tasks / slots);
    return needed >= (double)advisor->count ? advisor->count : needed < 1 ? 1 : (size_t)needed;
}

/* By how much what executors have is more than they used. */
static struct pyro_slice memory_to_spare(struct pyro_advisor *advisor)
{
    double used = pyro_advisor_used_mib(advisor->app), given = (double)advisor->cost->shapes[0].container.container_mib;
    if (!(used > 0) || !(given > 0))
        return PYRO_SLICE_LITERAL("Executors keep their memory; the log does not say how much they used.");
    return pyro_advisor_say(advisor,
                            "Executors keep their memory: they used at most %.1f of %.1f GiB, with %.0f %% in reserve.",
                            used / 1024, given / 1024, 100 * fmax(0, 1 - used / given));
}

static void advise_size(struct pyro_advisor *advisor, const struct pyro_advised_size *full,
                        const struct pyro_advised_size *best, double limit)
{
    struct pyro_cost *cost = advisor->cost;
    struct pyro_slice memory = memory_to_spare(advisor);
    struct pyro_cost_advice *advice = pyro_advisor_add(advisor, "right-size");
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
    if (advisor->by_nodes && cost->money.instance.ptr)
        advice->text = pyro_advisor_say(advisor, "%.0f x %.*s (%zu executor%s)",
                                        pyro_cost_nodes_for(cost, (double)best->executors, (double)advisor->count),
                                        (int)(cost->money.instance.len < 80 ? cost->money.instance.len : 80),
                                        cost->money.instance.ptr, best->executors, best->executors == 1 ? "" : "s");
    else
        advice->text =
            pyro_advisor_say(advisor, "%zu executor%s of %lld core%s", best->executors, best->executors == 1 ? "" : "s",
                             (long long)advisor->executors[0].cores, advisor->executors[0].cores == 1 ? "" : "s");
    advice->safety = pyro_advisor_say(
        advisor, "The simulated run takes %s, at most %s; the limit is %s (%s), with %.0f %% in reserve. %.*s",
        pyro_advisor_time(new_time, sizeof(new_time), best->wall_ms),
        pyro_advisor_time(high, sizeof(high), best->high_ms), pyro_advisor_time(limit_text, sizeof(limit_text), limit),
        advisor->wanted->deadline_ms > 0 ? "the deadline" : "10 % longer than now",
        100 * fmax(0, 1 - best->high_ms / limit), (int)memory.len, memory.ptr ? memory.ptr : "");
}

/* Smaller sizes in even steps, then half as many again, twice as many and so on. 0: no more. */
static size_t next_size(const struct pyro_advisor *advisor, size_t size)
{
    size_t step = advisor->count > SIZES ? (advisor->count + SIZES - 1) / SIZES : 1;
    if (size < advisor->count)
        return size + step < advisor->count ? size + step : advisor->count;
    size_t next = size + (size + 1) / 2, most = LARGER * advisor->count;
    return size >= most ? 0 : next < most ? next : most;
}

static bool advise_sizes(struct pyro_advisor *advisor, const struct pyro_advised_size *full)
{
    struct pyro_advised_size best = *full, size, quickest = *full;
    double limit = pyro_advisor_limit(advisor);
    bool priced = advisor->cost->money.known, any = full->high_ms <= limit;
    size_t least = needed_by_caches(advisor), barrier = needed_by_barriers(advisor);
    for (size_t count = least > barrier ? least : barrier; count > 0; count = next_size(advisor, count)) {
        if (count == full->executors)
            continue;
        if (!measure(advisor, count, &size))
            return false;
        if (size.fails)
            continue;
        quickest = size.high_ms < quickest.high_ms ? size : quickest;
        bool cheaper = priced ? size.micros < best.micros : size.core_ms < best.core_ms;
        if (size.high_ms <= limit && (cheaper || !any)) {
            best = size;
            any = true;
        }
    }
    double before = priced ? full->micros : full->core_ms, after = priced ? best.micros : best.core_ms;
    char text[40];
    if (!any)
        pyro_advisor_decline(advisor, "right-size",
                             pyro_advisor_say(advisor,
                                              "No number of executors up to %d times the current one meets the "
                                              "deadline: with %zu the run can take %s.",
                                              LARGER, quickest.executors,
                                              pyro_advisor_time(text, sizeof(text), quickest.high_ms)));
    else if (best.executors != full->executors && (full->high_ms > limit || after < before * (1 - PYRO_ADVISE_SAVING)))
        advise_size(advisor, full, &best, limit);
    else
        pyro_advisor_decline(advisor, "right-size",
                             pyro_advisor_say(advisor, "No other number of executors saves 5 %% %s.",
                                              advisor->wanted->deadline_ms > 0 ? "and meets the deadline"
                                                                               : "without making the run 10 % longer"));
    return true;
}

/* Dynamic allocation chooses its own number. */
static bool advise(struct pyro_advisor *advisor)
{
    struct pyro_advised_size full = {0};
    bool allocates = pyro_app_property_bool(advisor->app, "spark.dynamicAllocation.enabled", false);
    if (allocates)
        pyro_advise_bounds(advisor);
    else if (!pyro_advisor_full(advisor, &full) || (full.wall_ms > 0 && !advise_sizes(advisor, &full)))
        return false;
    if (advisor->prices)
        pyro_advise_instance(advisor);
    if (!pyro_advise_spot(advisor, &full))
        return false;
    if (!allocates)
        pyro_advise_bounds(advisor);
    return true;
}

enum pyro_status pyro_cost_advise(struct pyro_cost *cost, const struct pyro_app *app, const struct pyro_prices *prices,
                                  const struct pyro_money_options *options, const struct pyro_advise_options *wanted,
                                  struct pyro_error *error)
{
    struct pyro_advisor state = {.cost = cost, .app = app, .prices = prices, .options = options, .wanted = wanted};
    bool complete = pyro_slice_is(app->application.status, "completed");
    cost->advice = pyro_arena_array(&cost->arena, PYRO_COST_ADVICE_MAX, sizeof(*cost->advice));
    cost->advice_count = 0;
    if (!cost->advice)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for recommendations on cost");
    if (cost->manager == PYRO_MANAGER_LOCAL || cost->shape_count == 0 || cost->total.core_ms == 0 ||
        app->jobs.count == 0)
        return PYRO_OK;
    if (cost->shape_count > 1 || !complete) {
        pyro_advisor_decline(
            &state, "right-size",
            complete ? PYRO_SLICE_LITERAL("The run has executors of different sizes: no other number is recommended.")
                     : PYRO_SLICE_LITERAL("The run did not complete, so the resources that it needs are unknown."));
        return PYRO_OK;
    }
    bool ok = gather(&state);
    if (ok)
        count_up(&state);
    if (ok && state.count > 0 && state.nodes > 0) {
        pyro_arena_init(&state.scratch, app->allocator);
        ok = pyro_predict_prepare(&state.run, app, true, NULL) == PYRO_OK;
        if (ok) {
            pyro_predict_take_cost(&state.run, cost);
            pyro_replay_stop_by(state.run.replay, wanted->stop);
        }
        ok = ok && advise(&state);
        pyro_predict_done(&state.run);
        pyro_arena_done(&state.scratch);
    }
    if (pyro_stop_is_asked(wanted->stop))
        return pyro_error_set(error, PYRO_ERROR_CANCELLED, "stopped");
    return ok && !state.failed ? PYRO_OK
                               : pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for recommendations on cost");
}
