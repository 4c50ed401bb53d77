#include "analyze/features/feature_rows.h"

#include <math.h>

#include "analyze/analyze.h"
#include "analyze/tracks/stage_waits.h"
#include "base/numbers/order.h"
#include "base/numbers/saturate.h"

#define NS_PER_MS 1e6

enum quantile { MIN, P25, MEDIAN, P75, P95, MAX, QUANTILES };

struct quantiles {
    int64_t duration_ms[QUANTILES], read_bytes[QUANTILES]; /* of successful tasks; PYRO_NONE: there are none */
    int64_t process_local;                                 /* tasks */
};

/* What traces saw of a task, or of all tasks of a stage. */
struct waited {
    struct pyro_task_waited times; /* traced_ns 0: nothing */
    int64_t calls, bytes, calls_with_bytes;
};

struct pyro_features {
    const struct pyro_app *app;
    struct quantiles *quantiles;        /* of each stage */
    struct waited *waited;              /* the same; NULL: nothing was traced */
    const struct pyro_stage_waits *all; /* tasks that were traced, by stage */
    int64_t *room;                      /* for the tasks of a stage */
};

/* What a formula reads. */
struct row {
    const struct pyro_features *features;
    size_t number;
    struct waited *room; /* of the task, once it was asked for */
    struct pyro_task_split *split;
};

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

/* What a task without metrics did is not known: the table has 0 there. */
static int64_t column_of(const struct pyro_app *app, enum pyro_task_column column, size_t row)
{
    bool of_metrics = column > PYRO_TASK_has_metrics && column < PYRO_TASK_stage_row;
    if (of_metrics && pyro_task_get(&app->tasks, PYRO_TASK_has_metrics, row) != 1)
        return PYRO_NONE;
    return pyro_task_get(&app->tasks, column, row);
}

static int64_t metric(const struct row *task, enum pyro_task_column column)
{
    return column_of(task->features->app, column, task->number);
}

static int64_t between(int64_t from, int64_t to)
{
    return from == PYRO_NONE || to == PYRO_NONE ? PYRO_NONE : pyro_sub_saturating(to, from);
}

/* Unknown if both are. */
static int64_t sum(int64_t a, int64_t b)
{
    return a == PYRO_NONE ? b : b == PYRO_NONE ? a : pyro_add_saturating(a, b);
}

static int64_t duration_of(const struct pyro_app *app, size_t row)
{
    return between(column_of(app, PYRO_TASK_launch_ms, row), column_of(app, PYRO_TASK_finish_ms, row));
}

static int64_t shuffle_read_of(const struct pyro_app *app, size_t row)
{
    return sum(column_of(app, PYRO_TASK_shuffle_remote_bytes, row), column_of(app, PYRO_TASK_shuffle_local_bytes, row));
}

static int64_t read_bytes_of(const struct pyro_app *app, size_t row)
{
    return sum(column_of(app, PYRO_TASK_input_bytes, row), shuffle_read_of(app, row));
}

static int64_t duration(const struct row *task)
{
    return duration_of(task->features->app, task->number);
}

static int64_t shuffle_read(const struct row *task)
{
    return shuffle_read_of(task->features->app, task->number);
}

static int64_t read_bytes(const struct row *task)
{
    return read_bytes_of(task->features->app, task->number);
}

static int64_t locality(const struct row *task)
{
    static const char *const ranks[] = {"PROCESS_LOCAL", "NODE_LOCAL", "NO_PREF", "RACK_LOCAL", "ANY"};
    const struct pyro_slice text = pyro_app_text(task->features->app, metric(task, PYRO_TASK_locality));
    for (size_t i = 0; i < sizeof(ranks) / sizeof(*ranks); i++)
        if (pyro_slice_is(text, ranks[i]))
            return (int64_t)i;
    return PYRO_NONE;
}

static const struct pyro_task_split *known_split(const struct row *task)
{
    *task->split = pyro_task_split(task->features->app, task->number);
    if (metric(task, PYRO_TASK_run_ms) == PYRO_NONE)
        task->split->scheduler_delay = PYRO_NONE;
    return task->split;
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static double real(int64_t value)
{
    return value == PYRO_NONE ? (double)NAN : (double)value;
}

static double scaled(int64_t value, double by)
{
    return real(value) / by;
}

static double ratio(double value, double of)
{
    return of > 0 ? value / of : (double)NAN;
}

static double ratio_of(int64_t value, int64_t of)
{
    return ratio(real(value), real(of));
}

static double cpu_share(const struct row *task)
{
    return ratio(scaled(metric(task, PYRO_TASK_cpu_ns), NS_PER_MS), real(metric(task, PYRO_TASK_run_ms)));
}

/* ---- Traces ------------------------------------------------------------------------------------------------------ */

static void count_calls(struct waited *waited, enum pyro_kernel_state state, int64_t count, int64_t bytes)
{
    if (state != PYRO_KERNEL_SYSTEM)
        return;
    waited->calls = pyro_add_saturating(waited->calls, count);
    if (bytes == PYRO_NONE)
        return;
    waited->bytes = pyro_add_saturating(waited->bytes, bytes);
    waited->calls_with_bytes = pyro_add_saturating(waited->calls_with_bytes, count);
}

static const struct waited *waited(const struct row *task)
{
    const struct pyro_tracks *tracks = task->features->app->tracks;
    size_t first = 0, count = 0;
    *task->room = (struct waited){0};
    if (!task->features->waited ||
        !pyro_task_waited(task->features->app, metric(task, PYRO_TASK_id), &task->room->times)) {
        task->room->times.traced_ns = 0;
        return task->room;
    }
    count = pyro_tracks_waits_of(tracks, metric(task, PYRO_TASK_id), &first);
    for (size_t i = 0; i < count; i++) {
        const struct pyro_task_wait_row row = pyro_tracks_task_wait(tracks, first + i);
        count_calls(task->room, row.state, row.count, row.bytes);
    }
    return task->room;
}

static const struct waited *stage_waited(const struct row *stage)
{
    *stage->room = stage->features->waited ? stage->features->waited[stage->number] : (struct waited){0};
    return stage->room;
}

static int64_t traced_tasks(const struct row *stage)
{
    return stage_waited(stage)->times.traced_ns > 0 ? (int64_t)stage->features->all->stages[stage->number].tasks
                                                    : PYRO_NONE;
}

static double traced_ms(const struct pyro_task_waited *times)
{
    return times->traced_ns > 0 ? (double)times->traced_ns / NS_PER_MS : (double)NAN;
}

static double share(const struct pyro_task_waited *times, enum pyro_kernel_state state)
{
    return ratio((double)times->by_root_ns[state], (double)times->traced_ns);
}

static int64_t calls(const struct waited *waited)
{
    return waited->times.traced_ns > 0 ? waited->calls : PYRO_NONE;
}

static int64_t call_bytes(const struct waited *waited)
{
    return waited->calls_with_bytes > 0 ? waited->bytes : PYRO_NONE;
}

static double bytes_per_call(const struct waited *waited)
{
    return ratio((double)waited->bytes, (double)waited->calls_with_bytes);
}

/* ---- Stages ------------------------------------------------------------------------------------------------------ */

static const struct pyro_stage *its(const struct row *stage)
{
    return &stage->features->app->stages.items[stage->number];
}

static int64_t wall(const struct row *stage)
{
    return between(its(stage)->submitted_ms, its(stage)->completed_ms);
}

static const struct quantiles *quantiles(const struct row *stage)
{
    return &stage->features->quantiles[stage->number];
}

/* Of the task's stage. */
static const struct quantiles *stage(const struct row *task)
{
    static const struct quantiles none = {.duration_ms[MEDIAN] = PYRO_NONE, .read_bytes[MEDIAN] = PYRO_NONE};
    int64_t row = metric(task, PYRO_TASK_stage_row);
    return row >= 0 && (size_t)row < task->features->app->stages.count ? &task->features->quantiles[row] : &none;
}

static double skew(const int64_t of[QUANTILES])
{
    return ratio_of(of[MAX], of[MEDIAN]);
}

static double process_local(const struct row *stage)
{
    return ratio((double)quantiles(stage)->process_local, real(its(stage)->tasks));
}

static void find_quantiles(int64_t *values, size_t count, int64_t ret[QUANTILES])
{
    static const unsigned percents[QUANTILES] = {0, 25, 50, 75, 95, 100};
    if (count > 1)
        pyro_sort_ints(values, count);
    for (size_t i = 0; i < QUANTILES; i++)
        ret[i] = count > 0 ? pyro_quantile(values, count, percents[i]) : PYRO_NONE;
}

static void find_stage(struct pyro_features *features, size_t number)
{
    const struct pyro_app *app = features->app;
    const struct pyro_stage *its = &app->stages.items[number];
    struct quantiles *ret = &features->quantiles[number];
    size_t tasks = its->tasks > 0 && app->tasks_by_stage ? (size_t)its->tasks : 0, durations = 0, bytes = 0;
    for (size_t i = 0; i < tasks; i++) {
        size_t row = app->tasks_by_stage[its->first_task + i];
        int64_t ms = duration_of(app, row);
        if (pyro_slice_is(pyro_app_text(app, column_of(app, PYRO_TASK_locality, row)), "PROCESS_LOCAL"))
            ret->process_local++;
        if (column_of(app, PYRO_TASK_status, row) == PYRO_TASK_SUCCESS && ms != PYRO_NONE)
            features->room[durations++] = ms;
    }
    find_quantiles(features->room, durations, ret->duration_ms);
    for (size_t i = 0; i < tasks; i++) {
        size_t row = app->tasks_by_stage[its->first_task + i];
        int64_t read = read_bytes_of(app, row);
        if (column_of(app, PYRO_TASK_status, row) == PYRO_TASK_SUCCESS && read != PYRO_NONE)
            features->room[bytes++] = read;
    }
    find_quantiles(features->room, bytes, ret->read_bytes);
}

static bool find_waits(struct pyro_features *features, struct pyro_arena *arena)
{
    const struct pyro_app *app = features->app;
    features->all = pyro_stage_waits_new(app, arena);
    if (!features->all || !features->all->stages)
        return features->all != NULL;
    features->waited = pyro_arena_array(arena, app->stages.count + 1, sizeof(*features->waited));
    if (!features->waited)
        return false;
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage_waited *seen = &features->all->stages[i];
        struct pyro_task_waited *times = &features->waited[i].times;
        times->traced_ns = seen->traced_ns > seen->by_root_ns[PYRO_KERNEL_UNKNOWN] ? seen->traced_ns : 0;
        memcpy(times->by_root_ns, seen->by_root_ns, sizeof(times->by_root_ns));
    }
    for (size_t i = 0; i < pyro_tracks_count(app->tracks, PYRO_TRACK_TASK_WAITS); i++) {
        const struct pyro_task_wait_row row = pyro_tracks_task_wait(app->tracks, i);
        ptrdiff_t stage = pyro_app_find_stage(app, row.stage, row.stage_attempt);
        if (stage >= 0)
            count_calls(&features->waited[stage], row.state, row.count, row.bytes);
    }
    return true;
}

const struct pyro_features *pyro_features_new(const struct pyro_app *app, struct pyro_arena *arena)
{
    struct pyro_features *features = pyro_arena_array(arena, 1, sizeof(*features));
    if (!features)
        return NULL;
    features->app = app;
    features->quantiles = pyro_arena_array(arena, app->stages.count + 1, sizeof(*features->quantiles));
    features->room = pyro_arena_array(arena, app->tasks.count + 1, sizeof(*features->room));
    if (!features->quantiles || !features->room || !find_waits(features, arena))
        return NULL;
    for (size_t i = 0; i < app->stages.count; i++)
        find_stage(features, i);
    return features;
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

#define PYRO_FEATURE(name, type, unit, formula, doc) {#name, PYRO_TYPE_##type, unit, doc, 0},
static const struct pyro_column task_columns[] = {
#include "analyze/features/task_features.def"
};
static const struct pyro_column stage_columns[] = {
#include "analyze/features/stage_features.def"
};
#undef PYRO_FEATURE

#define PYRO_FEATURE(name, type, unit, formula, doc) TASK_##name,
enum task_feature {
#include "analyze/features/task_features.def"
};
#undef PYRO_FEATURE
#define PYRO_FEATURE(name, type, unit, formula, doc) STAGE_##name,
enum stage_feature {
#include "analyze/features/stage_features.def"
};
#undef PYRO_FEATURE

static const struct pyro_table_schema schemas[] = {
    [PYRO_FEATURES_TASKS] = {"task_features", "Ended task attempts as numbers", task_columns,
                             sizeof(task_columns) / sizeof(*task_columns), 0},
    [PYRO_FEATURES_STAGES] = {"stage_features", "Stage attempts as numbers", stage_columns,
                              sizeof(stage_columns) / sizeof(*stage_columns), 0},
};

const struct pyro_table_schema *pyro_features_schema(enum pyro_features_of of)
{
    return &schemas[of];
}

size_t pyro_features_rows(const struct pyro_features *features, enum pyro_features_of of)
{
    return of == PYRO_FEATURES_TASKS ? features->app->tasks.count : features->app->stages.count;
}

#define SET_INT(formula)  value.integer = (formula)
#define SET_REAL(formula) value.real = (formula)

static struct pyro_value value_of_task(const struct row *task, enum task_feature column)
{
    struct pyro_value value = {.type = task_columns[column].type};
    switch (column) {
#define PYRO_FEATURE(name, type, unit, formula, doc)                                                                   \
    case TASK_##name:                                                                                                  \
        SET_##type(formula);                                                                                           \
        break;
#include "analyze/features/task_features.def"
#undef PYRO_FEATURE
    }
    return value;
}

static struct pyro_value value_of_stage(const struct row *stage, enum stage_feature column)
{
    struct pyro_value value = {.type = stage_columns[column].type};
    switch (column) {
#define PYRO_FEATURE(name, type, unit, formula, doc)                                                                   \
    case STAGE_##name:                                                                                                 \
        SET_##type(formula);                                                                                           \
        break;
#include "analyze/features/stage_features.def"
#undef PYRO_FEATURE
    }
    return value;
}

struct pyro_value pyro_features_value(const struct pyro_features *features, enum pyro_features_of of, size_t row,
                                      size_t column)
{
    struct waited room;
    struct pyro_task_split split;
    const struct row asked = {.features = features, .number = row, .room = &room, .split = &split};
    return of == PYRO_FEATURES_TASKS ? value_of_task(&asked, (enum task_feature)column)
                                     : value_of_stage(&asked, (enum stage_feature)column);
}
