/* What is known of the run before anything is changed: its executors, and how they came. */
#include <math.h>

#include "analyze/accounts/marks.h"
#include "analyze/app_facts.h"
#include "analyze/scratch.h"
#include "analyze/task_slots.h"
#include "base/numbers/order.h"
#include "base/numbers/saturate.h"
#include "cost/cost.h"
#include "predict/cut_tasks.h"

/* Executors that registered this soon after the first one were asked for together with it. */
enum { TOGETHER_MS = 10000 };
/* Later ones that are looked at for how long they took. */
enum { STARTS_MAX = 256 };
/* Task times of one stage beyond this spread differ for reasons, not by chance. */
#define SPREAD_MAX 0.25
/* Replays of the run with other chances: as many as fit into so many tasks; a run that is too long for them is taken to
 * vary by CHANCE_SHARE of its time. */
enum { AGAIN_TASKS = 20000, AGAIN_MAX = 8, AGAIN_MIN = 3 };
#define CHANCE_SHARE 0.01

double pyro_sql_setting(const struct pyro_app *app, int64_t sql, enum pyro_predicted setting)
{
    const struct pyro_predicted_setting *row = &pyro_predicted_settings[setting];
    struct pyro_slice text = pyro_sql_property(app, sql, row->key);
    double value = row->otherwise;
    switch (row->type) {
    case PYRO_PREDICTED_COUNT:
        value = (double)pyro_property_int(text, (int64_t)row->otherwise);
        break;
    case PYRO_PREDICTED_FLAG:
        value = pyro_property_bool(text, row->otherwise != 0);
        break;
    case PYRO_PREDICTED_SIZE:
        value = (double)pyro_property_size(text, (int64_t)row->unit, (int64_t)row->otherwise);
        break;
    case PYRO_PREDICTED_TIME:
        value = (double)pyro_property_time(text, (int64_t)row->unit, (int64_t)row->otherwise);
        break;
    case PYRO_PREDICTED_REAL:
    case PYRO_PREDICTED_WORD:
    case PYRO_PREDICTED_HOST_COUNT:
        pyro_predicted_read(setting, text, &value);
        break;
    }
    return value >= row->least && value <= row->most ? value : row->otherwise;
}

double pyro_run_setting(const struct pyro_app *app, enum pyro_predicted setting)
{
    return pyro_sql_setting(app, PYRO_NONE, setting);
}

/* The resource profile of the executors on which most task time was spent. */
static int64_t main_profile(const struct pyro_app *app)
{
    enum { PROFILES = 64 };
    int64_t profiles[PROFILES], times[PROFILES] = {0};
    unsigned count = 0, best = 0;
    for (size_t i = 0; i < app->stages.count; i++) {
        int64_t profile = app->stages.items[i].resource_profile, ms = app->stages.items[i].task_ms;
        profile = profile < 0 ? 0 : profile;
        unsigned at = 0;
        while (at < count && profiles[at] != profile)
            at++;
        if (at == PROFILES)
            continue;
        if (at == count)
            profiles[count++] = profile;
        times[at] = pyro_add_saturating(times[at], ms > 0 ? ms : 0);
        best = times[at] > times[best] ? at : best;
    }
    return count > 0 ? pyro_serving_profile(app, profiles[best]) : 0;
}

bool pyro_is_of_main_profile(const struct pyro_predicted_run *run, const struct pyro_executor *executor)
{
    int64_t profile = executor->resource_profile < 0 ? 0 : executor->resource_profile;
    return profile == run->profile;
}

/* Cores that most executors have. */
static int64_t usual_cores(const struct pyro_predicted_run *run)
{
    enum { SIZES = 32 };
    int64_t sizes[SIZES], best = 0;
    size_t counts[SIZES] = {0}, most = 0;
    unsigned known = 0;
    for (size_t i = 0; i < run->app->executors.count; i++) {
        int64_t cores = (int64_t)pyro_executor_cores(&run->app->executors.items[i]);
        unsigned at = 0;
        if (!pyro_is_of_main_profile(run, &run->app->executors.items[i]))
            continue;
        while (at < known && sizes[at] != cores)
            at++;
        if (at == SIZES)
            continue;
        if (at == known)
            sizes[known++] = cores;
        if (++counts[at] > most) {
            most = counts[at];
            best = cores;
        }
    }
    return best;
}

static bool take_executors(struct pyro_predicted_run *run)
{
    const struct pyro_app *app = run->app;
    struct pyro_window window = pyro_app_window(app);
    struct pyro_marks marks;
    run->delays = pyro_scratch(app, app->executors.count, sizeof(*run->delays));
    pyro_marks_init(&marks, app->allocator, 2 * app->executors.count);
    for (unsigned added = 0; added < 2; added++) /* of one time, those that go before those that come */
        for (size_t i = 0; i < app->executors.count; i++) {
            uint64_t from, to;
            pyro_executor_interval(&window, &app->executors.items[i], &from, &to);
            if (pyro_is_of_main_profile(run, &app->executors.items[i]))
                pyro_marks_add(&marks, added ? from : to, added, i);
        }
    bool done = pyro_marks_finish(&marks) && run->delays;
    int64_t alive = 0;
    for (size_t i = 0; done && i < marks.list.count; i++) {
        const struct pyro_mark *mark = &marks.list.items[i];
        alive += mark->kind ? 1 : -1;
        run->executors = alive > run->executors ? alive : run->executors;
        int64_t at = mark->at < INT64_MAX ? (int64_t)mark->at : INT64_MAX;
        if (mark->kind && (run->delay_count == 0 || at - run->delays[0] <= TOGETHER_MS))
            run->delays[run->delay_count++] = at;
    }
    pyro_marks_done(&marks);
    run->cores = usual_cores(run);
    return done;
}

/* The median of what executors took from their request to their registration, where the log says so. */
static bool take_told_start(struct pyro_predicted_run *run, int64_t *waits)
{
    const struct pyro_app *app = run->app;
    size_t count = 0;
    for (size_t i = 0; i < app->executors.count; i++) {
        int64_t wait = pyro_executor_start_ms(&app->executors.items[i]);
        if (wait != PYRO_NONE && pyro_is_of_main_profile(run, &app->executors.items[i]))
            waits[count++] = wait;
    }
    pyro_sort_ints(waits, count);
    if (count > 0)
        run->start_ms = waits[count / 2];
    return count > 0;
}

/* From asking for an executor to its registration: what the log says. Else as long as the first ones took; or, where
 * dynamic allocation asked for more of them later, the median of what these took from the time at which tasks had
 * waited long enough. */
static bool take_start(struct pyro_predicted_run *run)
{
    const struct pyro_app *app = run->app;
    struct pyro_window window = pyro_app_window(app);
    struct pyro_marks marks;
    int64_t backlog = (int64_t)pyro_run_setting(app, PYRO_PREDICTED_DYNAMIC_BACKLOG), asked = -1;
    run->start_ms = run->delay_count > 0 ? run->delays[0] : 0;
    if (!run->allocates)
        return true;
    int64_t *waits = pyro_scratch(app, app->executors.count, sizeof(*waits));
    size_t count = 0;
    if (waits && take_told_start(run, waits)) {
        pyro_release(app->allocator, waits);
        return true;
    }
    pyro_marks_init(&marks, app->allocator, app->stages.count + app->executors.count);
    for (size_t i = 0; i < app->stages.count; i++)
        if (app->stages.items[i].submitted_ms != PYRO_NONE) {
            uint64_t at = pyro_window_at(&window, app->stages.items[i].submitted_ms);
            pyro_marks_add(&marks, at + (uint64_t)backlog, 0, i);
        }
    for (size_t i = 0; i < app->executors.count; i++) {
        uint64_t from, to;
        pyro_executor_interval(&window, &app->executors.items[i], &from, &to);
        if (pyro_is_of_main_profile(run, &app->executors.items[i]))
            pyro_marks_add(&marks, from, 1, i);
    }
    bool done = pyro_marks_finish(&marks) && waits;
    for (size_t i = 0; done && i < marks.list.count; i++) {
        int64_t at = (int64_t)marks.list.items[i].at;
        if (marks.list.items[i].kind == 0) {
            asked = at;
        } else if (asked >= 0 && at - run->delays[0] > TOGETHER_MS) {
            int64_t wait = at - asked;
            size_t place = count++;
            for (; place > 0 && waits[place - 1] > wait && count <= STARTS_MAX; place--)
                waits[place] = waits[place - 1];
            waits[place] = wait;
            if (count == STARTS_MAX)
                break;
        }
    }
    if (done && count > 0 && waits[count / 2] < run->start_ms)
        run->start_ms = waits[count / 2];
    pyro_marks_done(&marks);
    pyro_release(app->allocator, waits);
    return done;
}

/* How far task times of a stage spread by chance: the middle half of them, as of a normal distribution. */
static bool take_spread(struct pyro_predicted_run *run)
{
    const struct pyro_app *app = run->app;
    run->spread = pyro_scratch(app, app->stages.count, sizeof(*run->spread));
    for (size_t i = 0; run->spread && i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        double spread = stage->duration_median > 0 ? (double)(stage->duration_p75 - stage->duration_p25) / 1.349 /
                                                         (double)stage->duration_median
                                                   : 0;
        run->spread[i] = (float)fmin(fmax(spread, 0), SPREAD_MAX);
    }
    return run->spread != NULL;
}

/* Standard deviation of the run's wall time when task times come out otherwise by chance. */
static enum pyro_status take_chance(struct pyro_predicted_run *run, struct pyro_error *error)
{
    struct pyro_replay_change again = {.spread = run->spread};
    double sum = 0, squares = 0;
    size_t fit = run->app->tasks.count > 0 ? AGAIN_TASKS / run->app->tasks.count : 0;
    unsigned count = fit > AGAIN_MAX ? AGAIN_MAX : (unsigned)fit;
    run->chance = CHANCE_SHARE;
    if (count < AGAIN_MIN || run->base.wall_ms <= 0)
        return PYRO_OK;
    for (unsigned i = 0; i < count; i++) {
        struct pyro_replay_result result;
        again.seed = i + 1;
        PYRO_TRY(pyro_replay_run(run->replay, &again, &result, error));
        sum += (double)result.wall_ms;
        squares += (double)result.wall_ms * (double)result.wall_ms;
    }
    double variance = (squares - sum * sum / count) / (count - 1);
    run->chance = variance > 0 ? sqrt(variance) / (double)run->base.wall_ms : 0;
    return PYRO_OK;
}

enum pyro_status pyro_predict_prepare(struct pyro_predicted_run *run, const struct pyro_app *app, bool tasks,
                                      struct pyro_error *error)
{
    run->app = app;
    run->constants = run->constants ? run->constants : pyro_constants;
    PYRO_TRY(pyro_replay_new(app, &run->replay, error));
    run->check = pyro_replay_check(run->replay);
    run->base = pyro_replay_base(run->replay);
    run->profile = main_profile(app);
    run->allocates = pyro_app_property_bool(app, "spark.dynamicAllocation.enabled", false);
    run->memory_bytes = pyro_app_property_size(app, pyro_app_heap_key(app), 1 << 20, PYRO_DEFAULT_HEAP_BYTES);
    if (run->memory_bytes <= 0) /* Spark starts no JVM with that */
        run->memory_bytes = PYRO_DEFAULT_HEAP_BYTES;
    if (!take_executors(run) || !take_spread(run) || !take_start(run) || !pyro_predict_take_host(run))
        return pyro_no_memory(error);
    run->base_cost = (double)NAN;
    if (tasks)
        PYRO_TRY(pyro_predict_prepare_tasks(run, error));
    PYRO_TRY(take_chance(run, error));
    return pyro_predict_critical_path(run, error);
}

enum pyro_status pyro_predict_prepare_tasks(struct pyro_predicted_run *run, struct pyro_error *error)
{
    if (run->stages)
        return PYRO_OK;
    if (!pyro_predict_take_tasks(run) || !pyro_predict_take_queries(run))
        return pyro_no_memory(error);
    pyro_predict_take_costs(run);
    if (!pyro_predict_take_firsts(run))
        return pyro_no_memory(error);
    if (!pyro_predict_take_cached(run))
        return pyro_no_memory(error);
    pyro_predict_take_spill(run);
    return pyro_predict_take_unchanged(run) ? PYRO_OK : PYRO_ERROR_MEMORY;
}

void pyro_predict_done(struct pyro_predicted_run *run)
{
    const struct pyro_allocator *allocator = run->app ? run->app->allocator : NULL;
    pyro_release(allocator, run->delays);
    pyro_release(allocator, run->spread);
    pyro_release(allocator, run->tasks);
    pyro_release(allocator, run->sorted_loads);
    pyro_release(allocator, run->warm_ups);
    pyro_release(allocator, run->stages);
    pyro_release(allocator, run->firsts);
    pyro_release(allocator, run->cached);
    pyro_release(allocator, run->first_ms);
    pyro_cost_free(run->own_cost);
    pyro_replay_free(run->replay);
}
