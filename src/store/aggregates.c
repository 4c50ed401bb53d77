/* A run in numbers, under paths that queries over many runs can rely on. docs/store.md has every formula.
 *
 * What a History Server shows is aggregated as Spot does it, under Spot's names; what the report knows is added. */
#include <math.h>
#include <stdlib.h>

#include "base/memory/allocator.h"
#include "base/numbers/order.h"
#include "base/numbers/saturate.h"
#include "report/sparkview/sparkview.h"
#include "store/store.h"

enum kind { NUMBER, TIME, FLAG };

/* Aggregates of a number, in the order of a column's names; of the other kinds, only the first ones. */
enum { COUNT_NOT_NULL, SUM, NUNIQUE, COUNT_ZEROES, COUNT_NONZERO, MIN, MAX, MEAN, STD, NUMBER_AGGREGATES };
enum { TIME_MIN, TIME_MAX };
enum { FLAG_ANY, FLAG_ALL, FLAG_SUM };

struct column {
    enum kind kind;
    const char *names[NUMBER_AGGREGATES];
    const char *driver; /* NULL: of stages */
};
#define NAMES_NUMBER(path)                                                                                             \
    {                                                                                                                  \
        path ".count_not_null", path ".sum", path ".nunique", path ".count_zeroes", path ".count_nonzero",             \
            path ".min", path ".max", path ".mean", path ".std"                                                        \
    }
#define NAMES_TIME(path)                                                                                               \
    {                                                                                                                  \
        path ".min", path ".max"                                                                                       \
    }
#define NAMES_FLAG(path)                                                                                               \
    {                                                                                                                  \
        path ".any", path ".all", path ".sum"                                                                          \
    }

#define EXECUTOR(kind, name, value)
#define SUMMARY(name, value)
#define RUN(name, value)
#define STAGE(kind, name, value) {kind, NAMES_##kind("stages." #name), NULL},
static const struct column stage_columns[] = {
#include "store/aggregates.def"
};
#undef STAGE
#undef EXECUTOR
#define STAGE(kind, name, value)
#define EXECUTOR(kind, name, value) {kind, NAMES_##kind("executors." #name), "driver." #name},
static const struct column executor_columns[] = {
#include "store/aggregates.def"
};
#undef EXECUTOR
#undef STAGE
#undef SUMMARY
#undef RUN

enum {
    STAGE_COLUMNS = sizeof(stage_columns) / sizeof(*stage_columns),
    EXECUTOR_COLUMNS = sizeof(executor_columns) / sizeof(*executor_columns)
};

/* ---- Values ---- */

static const double none = (double)NAN;

static double known(int64_t value)
{
    return value == PYRO_NONE ? none : (double)value;
}

static double plain(double value)
{
    return value;
}

/* Of a whole number, a real one or a flag. */
#define REAL(value) (_Generic((value), int64_t : known, default : plain)(value))

/* As in the JSON, which leaves out what is not known. */
static double shown_time(int64_t time_ms)
{
    return time_ms > 0 ? (double)time_ms : none;
}

/* Spark 4 has more of them. */
static double peak(const struct pyro_history_peaks *peaks, enum pyro_history_peak which, bool spark_4)
{
    return peaks->set && ((int)which < PYRO_HISTORY_PEAKS_SHOWN || spark_4) ? known(peaks->values[which]) : none;
}

static double ratio(double value, double by)
{
    return by < 0 || by > 0 ? value / by : none;
}

static double blocks(double bytes)
{
    return ceil(bytes / (128.0 * 1024 * 1024));
}

/* Tasks that wrote output, each partition once. */
static double output_partitions(const struct pyro_app *app)
{
    double count = 0;
    for (size_t row = 0; row < app->tasks.count; row++)
        count += pyro_task_get(&app->tasks, PYRO_TASK_output_bytes, row) > 0 &&
                 pyro_task_get(&app->tasks, PYRO_TASK_status, row) == PYRO_TASK_SUCCESS;
    return count;
}

static double plan_saves(int64_t now, bool made, int64_t then)
{
    double saves = made ? known(now) - known(then) : 0;
    return saves < 0 ? 0 : saves; /* more core time, to be faster, saves none; unknown stays unknown */
}

/* ---- Aggregates of a column ---- */

static bool add(struct pyro_run *run, const char *name, double value)
{
    if (!isfinite(value))
        return true;
    struct pyro_aggregate *row = pyro_vec_push(&run->aggregates, run->arena.allocator);
    if (row)
        *row = (struct pyro_aggregate){name, value, true};
    return row != NULL;
}

static size_t count_distinct(double *values, size_t count)
{
    size_t distinct = 0;
    pyro_sort_reals(values, count);
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || values[i] > values[i - 1];
    return distinct;
}

/* `values` are sorted on the way. */
static bool add_number(struct pyro_run *run, const char *const *names, double *values, size_t count)
{
    double made[NUMBER_AGGREGATES] = {0}, squares = 0;
    made[MIN] = made[MAX] = made[MEAN] = made[STD] = none;
    made[COUNT_NOT_NULL] = (double)count;
    for (size_t i = 0; i < count; i++) {
        made[SUM] += values[i];
        made[COUNT_NONZERO] += values[i] < 0 || values[i] > 0;
        made[MIN] = fmin(made[MIN], values[i]);
        made[MAX] = fmax(made[MAX], values[i]);
    }
    made[COUNT_ZEROES] = (double)count - made[COUNT_NONZERO];
    if (count) {
        made[MEAN] = made[SUM] / (double)count;
        for (size_t i = 0; i < count; i++)
            squares += (values[i] - made[MEAN]) * (values[i] - made[MEAN]);
        made[STD] = count > 1 ? sqrt(squares / (double)(count - 1)) : none;
        made[NUNIQUE] = made[MAX] > made[MIN] ? (double)count_distinct(values, count) : 1;
    }
    bool ok = true;
    for (size_t i = 0; i < NUMBER_AGGREGATES && ok; i++)
        ok = add(run, names[i], made[i]);
    return ok;
}

static bool add_extremes(struct pyro_run *run, const char *const *names, const double *values, size_t count)
{
    double least = none, most = none;
    for (size_t i = 0; i < count; i++) {
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
    }
    return add(run, names[TIME_MIN], least) && add(run, names[TIME_MAX], most);
}

static bool add_flag(struct pyro_run *run, const char *const *names, const double *values, size_t count)
{
    double set = 0;
    for (size_t i = 0; i < count; i++)
        set += values[i];
    return add(run, names[FLAG_ANY], set > 0) && add(run, names[FLAG_ALL], set >= (double)count) &&
           add(run, names[FLAG_SUM], set);
}

static bool add_kind(struct pyro_run *run, enum kind kind, const char *const *names, double *values, size_t count)
{
    return kind == NUMBER ? add_number(run, names, values, count)
           : kind == TIME ? add_extremes(run, names, values, count)
                          : add_flag(run, names, values, count);
}

/* Columns of a table of `rows` rows, all but row `apart` (SIZE_MAX: none), which counts only for whether there is such
 * a column. */
static bool add_columns(struct pyro_run *run, const struct column *columns, size_t column_count, const double *table,
                        size_t rows, size_t apart)
{
    double *values = pyro_allocate(run->arena.allocator, (rows + 1) * sizeof(*values));
    bool ok = values != NULL;
    for (size_t c = 0; c < column_count && ok; c++) {
        size_t count = 0;
        bool there = false;
        for (size_t r = 0; r < rows; r++) {
            double value = table[r * column_count + c];
            there = there || isfinite(value);
            if (isfinite(value) && r != apart)
                values[count++] = value;
        }
        ok = !there || add_kind(run, columns[c].kind, columns[c].names, values, count);
    }
    pyro_release(run->arena.allocator, values);
    return ok;
}

/* ---- Stages ---- */

/* What Spot derives of a stage. One without a first task or an end is incomplete. */
struct stage_facts {
    bool ran;
    double submitted, launched, completed, duration, tasks, input, records, output, shuffle_read;
};

static struct stage_facts stage_facts(const struct pyro_history_stage *s)
{
    struct stage_facts facts = {
        .submitted = shown_time(s->submitted_ms),
        .launched = shown_time(s->first_launch_ms),
        .completed = shown_time(s->completed_ms),
        .tasks = (double)s->completed,
        .input = known(s->metrics[PYRO_HISTORY_bytesRead]),
        .records = known(s->metrics[PYRO_HISTORY_recordsRead]),
        .output = known(s->metrics[PYRO_HISTORY_bytesWritten]),
        .shuffle_read = known(pyro_spark_shuffle_read(s)),
    };
    facts.ran = isfinite(facts.launched) && isfinite(facts.completed);
    facts.duration = facts.ran ? facts.completed - facts.launched : 0;
    return facts;
}

static void stage_values(const struct pyro_history_stage *s, bool spark_4, double *to)
{
    const struct stage_facts facts = stage_facts(s), *d = &facts;
    const double values[] = {
#define STAGE(kind, name, value) REAL(value),
#define EXECUTOR(kind, name, value)
#define SUMMARY(name, value)
#define RUN(name, value)
#include "store/aggregates.def"
#undef RUN
#undef SUMMARY
#undef EXECUTOR
#undef STAGE
    };
    memcpy(to, values, sizeof(values));
}

/* Tasks killed by reason are an object in the JSON, with a number for each reason. Reasons are texts of Spark's and of
 * users'. One with digits names a job or a query: no other run has a number under that name. */
enum { REASONS = 20, REASON_BYTES = 120 };

static bool add_reason(struct pyro_run *run, struct pyro_slice reason, double *values)
{
    static const char *const aggregates[NUMBER_AGGREGATES] = {
        "count_not_null", "sum", "nunique", "count_zeroes", "count_nonzero", "min", "max", "mean", "std"};
    const char *names[NUMBER_AGGREGATES];
    const struct pyro_history *history = run->diagnosis->app->history;
    size_t count = 0;
    for (size_t i = 0; i < NUMBER_AGGREGATES; i++) {
        names[i] = pyro_arena_printf(&run->arena, "stages.killedTasksSummary.%.*s.%s", (int)reason.len, reason.ptr,
                                     aggregates[i])
                       .ptr;
        if (!names[i])
            return false;
    }
    for (size_t i = 0; i < history->stages.count; i++) {
        const pyro_history_counts *counts = &history->stages.items[i].killed_reasons;
        double killed = 0;
        bool there = false; /* more than once, where reasons are the same without their secrets */
        for (size_t k = 0; k < counts->count; k++)
            if (pyro_slice_eq(counts->items[k].reason, reason)) {
                killed += (double)counts->items[k].count;
                there = true;
            }
        if (there)
            values[count++] = killed;
    }
    size_t first = run->aggregates.count;
    bool ok = add_number(run, names, values, count);
    for (size_t i = first; i < run->aggregates.count; i++)
        run->aggregates.items[i].lasting = false;
    return ok;
}

static bool is_common(struct pyro_slice reason)
{
    bool digits = false;
    for (size_t i = 0; i < reason.len; i++)
        digits = digits || (reason.ptr[i] >= '0' && reason.ptr[i] <= '9');
    return reason.len <= REASON_BYTES && !digits;
}

static bool add_reasons(struct pyro_run *run, double *values)
{
    const struct pyro_history *history = run->diagnosis->app->history;
    struct pyro_slice reasons[REASONS];
    size_t known_count = 0;
    bool ok = true;
    for (size_t i = 0; i < history->stages.count; i++) {
        const pyro_history_counts *counts = &history->stages.items[i].killed_reasons;
        for (size_t k = 0; k < counts->count && known_count < REASONS; k++) {
            size_t at = 0;
            while (at < known_count && !pyro_slice_eq(reasons[at], counts->items[k].reason))
                at++;
            if (at == known_count && is_common(counts->items[k].reason))
                reasons[known_count++] = counts->items[k].reason;
        }
    }
    for (size_t i = 0; i < known_count && ok; i++)
        ok = add_reason(run, reasons[i], values);
    return ok;
}

static bool add_stages(struct pyro_run *run, bool spark_4)
{
    const struct pyro_history *history = run->diagnosis->app->history;
    size_t rows = history->stages.count;
    if (!add(run, "stages.elements_count", (double)rows) || rows == 0)
        return rows == 0;
    double *table = pyro_allocate(run->arena.allocator, rows * STAGE_COLUMNS * sizeof(*table));
    if (!table)
        return false;
    for (size_t i = 0; i < rows; i++)
        stage_values(&history->stages.items[i], spark_4, table + i * STAGE_COLUMNS);
    bool ok = add_columns(run, stage_columns, STAGE_COLUMNS, table, rows, SIZE_MAX) && add_reasons(run, table);
    pyro_release(run->arena.allocator, table);
    return ok;
}

/* ---- Executors ---- */

/* What Spot derives of an executor: it lives until it is removed, else until the application ends (which is -1 of one
 * that runs). */
struct executor_facts {
    double stop, life, storage_gib, task_ms, gc_ms;
};

static struct executor_facts executor_facts(const struct pyro_app *app, const struct pyro_history_executor *e,
                                            bool spark_4)
{
    struct executor_facts facts = {
        .stop = (double)(e->removed_ms > 0 ? e->removed_ms : app->listed.end_ms),
        .storage_gib = (double)e->max_memory / (1024.0 * 1024 * 1024),
        .task_ms = (double)pyro_spark_executor_duration(app->history, e, spark_4, app->listed.modified_ms),
        .gc_ms = known(pyro_spark_executor_gc(app->history, e)),
    };
    facts.life = facts.stop - (double)e->added_ms;
    return facts;
}

static void executor_values(const struct pyro_app *app, const struct pyro_history_executor *e, bool spark_4, double *to)
{
    const struct executor_facts facts = executor_facts(app, e, spark_4), *d = &facts;
    const double values[] = {
#define STAGE(kind, name, value)
#define EXECUTOR(kind, name, value) REAL(value),
#define SUMMARY(name, value)
#define RUN(name, value)
#include "store/aggregates.def"
#undef RUN
#undef SUMMARY
#undef EXECUTOR
#undef STAGE
    };
    memcpy(to, values, sizeof(values));
}

static bool add_driver(struct pyro_run *run, const double *values)
{
    bool ok = true;
    for (size_t c = 0; c < EXECUTOR_COLUMNS && ok; c++)
        ok = add(run, executor_columns[c].driver, values[c]);
    return ok;
}

static bool add_executors(struct pyro_run *run, bool spark_4)
{
    const struct pyro_app *app = run->diagnosis->app;
    size_t rows = app->history->executors.count, driver = SIZE_MAX;
    double *table = pyro_allocate(run->arena.allocator, (rows + 1) * EXECUTOR_COLUMNS * sizeof(*table));
    if (!table)
        return false;
    for (size_t i = 0; i < rows; i++) {
        const struct pyro_history_executor *executor = &app->history->executors.items[i];
        executor_values(app, executor, spark_4, table + i * EXECUTOR_COLUMNS);
        if (pyro_slice_is(executor->id, "driver"))
            driver = i;
    }
    size_t count = rows - (driver != SIZE_MAX);
    bool ok = add(run, "executors.elements_count", (double)count);
    if (ok && driver != SIZE_MAX)
        ok = add_driver(run, table + driver * EXECUTOR_COLUMNS);
    if (ok && count)
        ok = add_columns(run, executor_columns, EXECUTOR_COLUMNS, table, rows, driver);
    pyro_release(run->arena.allocator, table);
    return ok;
}

/* ---- Summary ---- */

struct sums {
    bool has_stages; /* at least one was launched, and one completed */
    bool has_executors, has_cost, has_memory, overlap;
    double duration, parallel_work, parallel_part, seq_part, stages_sum, core_cost, first_launched, last_completed;
    double stage_input, stage_output, executor_input, memory;
};

/* A stage that ran, `order`: among those that begin together. */
struct span {
    double from, to;
    int64_t order[2];
};

/* The History Server lists the newest first. */
static int by_begin(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    if (a->from < b->from || a->from > b->from)
        return a->from < b->from ? -1 : 1;
    for (size_t i = 0; i < 2; i++)
        if (a->order[i] != b->order[i])
            return a->order[i] > b->order[i] ? -1 : 1;
    return 0;
}

/* Time in which at least one stage ran, and whether two ever did at once. */
static void join_spans(struct span *spans, size_t count, struct sums *sums)
{
    if (count == 0)
        return;
    qsort(spans, count, sizeof(*spans), by_begin);
    struct span joined = spans[0];
    for (size_t i = 1; i < count; i++) {
        if (spans[i].from < joined.to) {
            sums->overlap = true;
            joined.to = fmax(joined.to, spans[i].to);
        } else {
            sums->parallel_part += joined.to - joined.from;
            joined = spans[i];
        }
    }
    sums->parallel_part += joined.to - joined.from;
}

static bool sum_stages(struct pyro_run *run, struct sums *sums)
{
    const struct pyro_history *history = run->diagnosis->app->history;
    size_t count = 0;
    struct span *spans = pyro_allocate(run->arena.allocator, (history->stages.count + 1) * sizeof(*spans));
    if (!spans)
        return false;
    sums->first_launched = sums->last_completed = sums->stage_input = sums->stage_output = none;
    for (size_t i = 0; i < history->stages.count; i++) {
        const struct pyro_history_stage *stage = &history->stages.items[i];
        const struct stage_facts facts = stage_facts(stage);
        sums->first_launched = fmin(sums->first_launched, facts.launched);
        sums->last_completed = fmax(sums->last_completed, facts.completed);
        sums->stage_input = fmax(sums->stage_input, facts.input);
        sums->stage_output = fmax(sums->stage_output, facts.output);
        sums->stages_sum += facts.duration;
        if (facts.ran)
            spans[count++] = (struct span){facts.launched, facts.completed, {stage->id, stage->attempt}};
    }
    sums->has_stages = isfinite(sums->first_launched) && isfinite(sums->last_completed);
    join_spans(spans, count, sums);
    pyro_release(run->arena.allocator, spans);
    return true;
}

static void sum_executors(const struct pyro_app *app, bool spark_4, struct sums *sums)
{
    for (size_t i = 0; i < app->history->executors.count; i++) {
        const struct pyro_history_executor *executor = &app->history->executors.items[i];
        if (pyro_slice_is(executor->id, "driver"))
            continue;
        const struct executor_facts facts = executor_facts(app, executor, spark_4);
        sums->has_executors = true;
        sums->parallel_work += facts.task_ms;
        sums->core_cost += (double)executor->cores * facts.life;
        sums->executor_input += known(executor->input_bytes);
        sums->memory += (double)executor->max_memory;
    }
    sums->has_cost = sums->core_cost < 0 || sums->core_cost > 0;
    sums->has_memory = sums->memory < 0 || sums->memory > 0;
}

static bool add_summary(struct pyro_run *run, bool spark_4)
{
    const struct pyro_app *app = run->diagnosis->app;
    struct sums sums = {0};
    const struct sums *m = &sums;
    if (!sum_stages(run, &sums))
        return false;
    sum_executors(app, spark_4, &sums);
    if (!sums.has_stages || !sums.has_executors)
        return true;
    sums.duration = app->listed.completed ? (double)pyro_sub_wrapping(app->listed.end_ms, app->listed.start_ms) : 0;
    sums.seq_part = sums.duration - sums.parallel_part;
    bool ok = true;
#define STAGE(kind, name, value)
#define EXECUTOR(kind, name, value)
#define SUMMARY(name, value) ok = ok && add(run, "summary." #name, (double)(value));
#define RUN(name, value)
#include "store/aggregates.def"
#undef RUN
#undef SUMMARY
#undef EXECUTOR
#undef STAGE
    return ok;
}

/* ---- What the report says ---- */

static double usage_sum(const struct pyro_run *run, size_t offset)
{
    double sum = 0;
    for (size_t i = 0; i < run->usage.count; i++)
        sum += (double)*(const int64_t *)((const char *)&run->usage.items[i] + offset);
    return sum;
}

static bool add_report(struct pyro_run *run)
{
    const struct pyro_diagnosis *diagnosis = run->diagnosis;
    const struct pyro_app *app = diagnosis->app;
    const struct pyro_application_row *a = &app->application;
    const struct pyro_numbers *n = &app->numbers;
    const struct pyro_recommended_plan *settings = &diagnosis->settings_plan, *code = &diagnosis->code_plan;
    bool ok = true;
#define STAGE(kind, name, value)
#define EXECUTOR(kind, name, value)
#define SUMMARY(name, value)
#define RUN(name, value) ok = ok && add(run, "run." #name, (double)(value));
#include "store/aggregates.def"
#undef RUN
#undef SUMMARY
#undef EXECUTOR
#undef STAGE
    return ok;
}

bool pyro_run_aggregate(struct pyro_run *run, bool spark_4)
{
    enum { ABOUT = NUMBER_AGGREGATES * (STAGE_COLUMNS + EXECUTOR_COLUMNS) + 200 };
    bool history = run->diagnosis->app->history != NULL;
    return pyro_vec_reserve(&run->aggregates, history ? ABOUT : ABOUT / 10, run->arena.allocator) && add_report(run) &&
           (!history || (add_executors(run, spark_4) && add_stages(run, spark_4) && add_summary(run, spark_4)));
}
