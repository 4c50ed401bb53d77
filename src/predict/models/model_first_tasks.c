/* First tasks: those that find their executor without their stage's code take longer, and an executor's very first ones
 * much longer. How many there are follows from the executors that take part, so the run's are taken out, and the replay
 * adds them to those that are first in the scenario. */
#include <math.h>
#include <stdlib.h>

#include "analyze/scratch.h"
#include "analyze/task_rows.h"
#include "analyze/task_slots.h"
#include "base/numbers/order.h"
#include "base/numbers/saturate.h"
#include "predict/cut_tasks.h"

/* The first and the later tasks that a stage needs to say what it costs its own tasks to be first; and the later ones
 * that it needs to count for what that usually costs. */
enum { COMPARED_MIN = 3, LATERS_MIN = 2 };
/* Fewer stages, or fewer very first tasks, may differ for other reasons. */
enum { STAGES_MIN = 4, COLD_MIN = 2 };
/* No task is taken to be made of more than this share of starting. */
#define FIRST_SHARE_MAX 0.5
#define COLD_SHARE_MAX  0.9
/* What very first tasks usually take longer, where all tasks of a run were the first of their executor, so that it does
 * not say: the median of recorded runs that do; and at most this share of a task. */
#define COLD_USUAL_MS    3500.0
#define COLD_USUAL_SHARE 0.5
/* Of what they make of the time in tasks. */
#define DOUBT 0.5

enum kind { LATER, FIRST, COLD };

/* A task that began before any other of its stage had ended on its executor. */
struct early {
    int64_t at;
    uint32_t executor, place;
};

struct search {
    struct pyro_predicted_run *run;
    int64_t *launches;     /* of rows of app->tasks */
    uint32_t *executors;   /* of the same; UINT32_MAX: unknown */
    unsigned char *kinds;  /* enum kind, as run->tasks */
    struct early *stage;   /* of one stage */
    int64_t *warm, *ended; /* when the first task of each executor ended, and the first one of a stage there */
    double *values;        /* room to find medians in */
    size_t largest;
};

static int by_begin(const void *a, const void *b)
{
    const struct early *one = a, *other = b;
    if (one->executor != other->executor)
        return one->executor < other->executor ? -1 : 1;
    if (one->at != other->at)
        return one->at < other->at ? -1 : 1;
    return (one->place > other->place) - (one->place < other->place);
}

static int64_t end_of(const struct search *search, const struct pyro_task_facts *task)
{
    return pyro_add_saturating(search->launches[task->row], (int64_t)task->ms);
}

static void read_begun(struct search *search)
{
    const struct pyro_predicted_run *run = search->run;
    const struct pyro_app *app = run->app;
    int64_t buffer[PYRO_READ_ROWS];
    for (size_t first = 0; first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        pyro_task_read(&app->tasks, PYRO_TASK_launch_ms, first, count, search->launches + first);
        pyro_task_read(&app->tasks, PYRO_TASK_executor_row, first, count, buffer);
        for (size_t i = 0; i < count; i++)
            search->executors[first + i] =
                buffer[i] >= 0 && buffer[i] < (int64_t)app->executors.count ? (uint32_t)buffer[i] : UINT32_MAX;
    }
    for (size_t i = 0; i < app->executors.count; i++)
        search->warm[i] = INT64_MAX;
    for (size_t s = 0; s < app->stages.count; s++)
        for (uint32_t i = 0; i < run->stages[s].count; i++) {
            const struct pyro_task_facts *task = &run->tasks[run->stages[s].first + i];
            uint32_t executor = search->executors[task->row];
            int64_t to = end_of(search, task);
            if (executor != UINT32_MAX && search->launches[task->row] > 0 && to < search->warm[executor])
                search->warm[executor] = to;
        }
}

/* The tasks of a stage that began on their executor before any other had ended there, by executor and time. */
static uint32_t find_early(struct search *search, const struct pyro_stage_facts *facts)
{
    const struct pyro_task_facts *tasks = search->run->tasks + facts->first;
    uint32_t count = 0;
    for (uint32_t i = 0; i < facts->count; i++)
        if (search->executors[tasks[i].row] != UINT32_MAX)
            search->ended[search->executors[tasks[i].row]] = INT64_MAX;
    for (uint32_t i = 0; i < facts->count; i++) {
        uint32_t executor = search->executors[tasks[i].row];
        int64_t to = end_of(search, &tasks[i]);
        if (executor != UINT32_MAX && to < search->ended[executor])
            search->ended[executor] = to;
    }
    for (uint32_t i = 0; i < facts->count; i++) {
        uint32_t executor = search->executors[tasks[i].row];
        int64_t at = search->launches[tasks[i].row];
        if (executor != UINT32_MAX && at < search->ended[executor])
            search->stage[count++] = (struct early){at, executor, i};
    }
    if (count > 1)
        qsort(search->stage, count, sizeof(*search->stage), by_begin);
    return count;
}

/* Marks a stage's first tasks; as many can be first as an executor has slots. */
static void mark_stage(struct search *search, size_t row)
{
    const struct pyro_predicted_run *run = search->run;
    const struct pyro_stage_facts *facts = &run->stages[row];
    uint32_t count = find_early(search, facts);
    int64_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t executor = search->stage[i].executor;
        if (i == 0 || search->stage[i - 1].executor != executor) {
            left = pyro_executor_slots(run->app, &run->app->executors.items[executor], &run->app->stages.items[row]);
        }
        if (left == 0)
            continue;
        left--;
        search->kinds[facts->first + search->stage[i].place] =
            search->stage[i].at < search->warm[executor] ? COLD : FIRST;
    }
}

/* The median time of a stage's tasks of one kind, and how many there are. */
static double median_of(const struct search *search, size_t row, enum kind kind, size_t *ret_count)
{
    const struct pyro_stage_facts *facts = &search->run->stages[row];
    size_t count = 0;
    for (uint32_t i = 0; i < facts->count; i++)
        if (search->kinds[facts->first + i] == kind)
            search->values[count++] = (double)search->run->tasks[facts->first + i].ms;
    *ret_count = count;
    return pyro_median(search->values, count);
}

/* Stages that have enough of both say what the first ones take longer; the others have the median of all that can
 * compare. */
static bool find_first(struct search *search, double *usual)
{
    struct pyro_predicted_run *run = search->run;
    const struct pyro_app *app = run->app;
    double *known = pyro_scratch(app, app->stages.count, sizeof(*known));
    size_t count = 0, firsts, laters;
    if (!known)
        return false;
    for (size_t s = 0; s < app->stages.count; s++) {
        double first = median_of(search, s, FIRST, &firsts), later = median_of(search, s, LATER, &laters);
        run->first_ms[s] = -1;
        if (firsts == 0 || laters < LATERS_MIN)
            continue;
        known[count++] = first - later;
        if (firsts >= COMPARED_MIN && laters >= COMPARED_MIN)
            run->first_ms[s] = (float)fmax(first - later, 0);
    }
    *usual = count < STAGES_MIN ? 0 : fmax(pyro_median(known, count), 0);
    for (size_t s = 0; s < app->stages.count; s++)
        if (run->first_ms[s] < 0)
            run->first_ms[s] = (float)fmin(*usual, FIRST_SHARE_MAX * median_of(search, s, FIRST, &firsts));
    pyro_release(app->allocator, known);
    return true;
}

/* What very first tasks took longer than those of their stage that were first there for the second time, or later;
 * where no stage has any to compare with, what they usually do. */
static double find_cold(const struct search *search, size_t cold)
{
    const struct pyro_predicted_run *run = search->run;
    double *extras = pyro_scratch(run->app, cold, sizeof(*extras)), found = -1;
    size_t count = 0, alone = 0, firsts, laters;
    for (size_t s = 0; extras && s < run->app->stages.count; s++) {
        double later = median_of(search, s, LATER, &laters), first = median_of(search, s, FIRST, &firsts);
        later = laters > 0 ? later : first - (double)run->first_ms[s];
        for (uint32_t i = 0; i < run->stages[s].count; i++) {
            double ms = (double)run->tasks[run->stages[s].first + i].ms;
            if (search->kinds[run->stages[s].first + i] != COLD)
                continue;
            if (laters + firsts > 0)
                extras[count++] = fmax(ms - later, 0);
            else /* from the end, where the others do not come */
                extras[cold - ++alone] = ms;
        }
    }
    if (extras && count == 0 && alone >= COLD_MIN)
        found = fmin(COLD_USUAL_MS, COLD_USUAL_SHARE * pyro_median(extras + cold - alone, alone));
    else if (extras)
        found = count < COLD_MIN ? 0 : pyro_median(extras, count);
    pyro_release(run->app->allocator, extras);
    return found;
}

static bool find_all(struct search *search)
{
    struct pyro_predicted_run *run = search->run;
    size_t count = 0, cold = 0;
    double usual = 0;
    for (size_t s = 0; s < run->app->stages.count; s++) {
        mark_stage(search, s);
        for (uint32_t i = 0; i < run->stages[s].count; i++) {
            count += search->kinds[run->stages[s].first + i] != LATER;
            cold += search->kinds[run->stages[s].first + i] == COLD;
        }
    }
    run->firsts = pyro_scratch(run->app, count, sizeof(*run->firsts));
    if (!run->firsts || !find_first(search, &usual))
        return false;
    run->cold_ms = find_cold(search, cold);
    for (size_t s = 0; run->cold_ms >= 0 && s < run->app->stages.count; s++)
        for (uint32_t i = 0; i < run->stages[s].count; i++) {
            enum kind kind = (enum kind)search->kinds[run->stages[s].first + i];
            double ms = (double)run->tasks[run->stages[s].first + i].ms;
            if (kind == LATER)
                continue;
            double extra = kind == COLD ? fmin(run->cold_ms, COLD_SHARE_MAX * ms)
                                        : fmin((double)run->first_ms[s], FIRST_SHARE_MAX * ms);
            run->firsts[run->first_count++] = (struct pyro_first_task){(uint32_t)s, i, (float)extra};
            run->stages[s].extra_ms += (float)extra;
        }
    return run->cold_ms >= 0;
}

bool pyro_predict_take_firsts(struct pyro_predicted_run *run)
{
    const struct pyro_app *app = run->app;
    struct search search = {.run = run};
    for (size_t s = 0; s < app->stages.count; s++)
        search.largest = run->stages[s].count > search.largest ? run->stages[s].count : search.largest;
    run->first_ms = pyro_scratch(app, app->stages.count, sizeof(*run->first_ms));
    search.launches = pyro_scratch(app, app->tasks.count, sizeof(*search.launches));
    search.executors = pyro_scratch(app, app->tasks.count, sizeof(*search.executors));
    search.kinds = pyro_scratch(app, app->tasks.count, sizeof(*search.kinds));
    search.stage = pyro_scratch(app, search.largest, sizeof(*search.stage));
    search.values = pyro_scratch(app, search.largest, sizeof(*search.values));
    search.warm = pyro_scratch(app, app->executors.count, sizeof(*search.warm));
    search.ended = pyro_scratch(app, app->executors.count, sizeof(*search.ended));
    bool done = run->first_ms && search.launches && search.executors && search.kinds && search.stage && search.values &&
                search.warm && search.ended;
    if (done) {
        read_begun(&search);
        done = find_all(&search);
    }
    pyro_release(app->allocator, search.launches);
    pyro_release(app->allocator, search.executors);
    pyro_release(app->allocator, search.kinds);
    pyro_release(app->allocator, search.stage);
    pyro_release(app->allocator, search.values);
    pyro_release(app->allocator, search.warm);
    pyro_release(app->allocator, search.ended);
    return done;
}

/* They are in the order of stages, and those of a stage in that of the log. */
double pyro_first_ms(const struct pyro_predicted_run *run, size_t row)
{
    int64_t stage = row < run->app->tasks.count ? pyro_task_get(&run->app->tasks, PYRO_TASK_stage_row, row) : -1;
    size_t low = 0, high = stage >= 0 ? run->first_count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct pyro_first_task *first = &run->firsts[middle];
        uint32_t at = run->tasks[run->stages[first->stage].first + first->place].row;
        if (first->stage == (uint64_t)stage && at == row)
            return (double)first->extra_ms;
        bool before = first->stage < (uint64_t)stage || (first->stage == (uint64_t)stage && at < row);
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return 0;
}

void pyro_model_first_tasks(struct pyro_predict_change *change)
{
    const struct pyro_predicted_run *run = change->run;
    double longer = pyro_scenario_longer(change) / run->longer, taken = 0;
    if ((!change->replay.executors && !change->replay.allocation) || run->first_count == 0)
        return;
    float *first_ms = pyro_arena_array(&change->scratch, run->app->stages.count, sizeof(*first_ms));
    change->failed |= !first_ms;
    for (size_t i = 0; first_ms && i < run->app->stages.count; i++)
        first_ms[i] = (float)((double)run->first_ms[i] * longer);
    for (size_t i = 0; i < run->first_count && !change->failed; i++) {
        const struct pyro_first_task *first = &run->firsts[i];
        struct pyro_scenario_tasks *tasks = pyro_change_tasks(change, first->stage);
        if (!tasks)
            continue;
        tasks->ms[first->place] -= (double)first->extra_ms;
        taken += (double)first->extra_ms;
    }
    change->replay.first_ms = first_ms;
    change->replay.cold_ms = run->cold_ms * longer;
    double share = run->app->numbers.task_ms > 0 ? taken / (double)run->app->numbers.task_ms : 0;
    double slots = (double)change->scenario->executors * (double)change->scenario->cores_per_executor /
                   fmax((double)run->executors * (double)run->cores, 1);
    double doubt = DOUBT * share * fabs(slots * longer - 1);
    pyro_effect(change, PYRO_MODEL_first_tasks, doubt, doubt,
                "%zu task%s %s the first of a stage on an executor and took %.1f s longer in total; the very first "
                "tasks of an executor take %.1f s longer",
                run->first_count, run->first_count == 1 ? "" : "s", run->first_count == 1 ? "was" : "were",
                taken / 1000, change->replay.cold_ms / 1000);
}
