/* Which attempts counted, and which were work for nothing: copies that lost, failures, partitions computed again. */
#include "analyze/row_index.h"
#include "base/collections/map.h"
#include "cost/share.h"

enum { RUN = 512 };

struct classes {
    const struct pyro_app *app;
    uint32_t *site;            /* by stage row: the first row of the same stage id */
    uint8_t *look;             /* by stage row: some partition may have been computed twice */
    int64_t *successes;        /* by first row: of attempts whose partitions the log does not number */
    struct pyro_id_set copied; /* stage row and index that a speculative copy was made of */
    struct pyro_id_set done;   /* first row and partition that has succeeded */
    uint8_t *classes;
};

static int64_t pair(uint32_t row, int64_t number)
{
    return (int64_t)((uint64_t)row << 32 | ((uint64_t)number & 0xffffffff));
}

static bool prepare(struct classes *state)
{
    const struct pyro_app *app = state->app;
    struct pyro_index index = {.allocator = app->allocator};
    if (!pyro_index_stages(&index, app))
        return false;
    for (size_t i = 0; i < index.count;) {
        size_t end = i;
        int64_t tasks = 0, partitions = 0, copies = 0;
        for (; end < index.count && index.entries[end].at == index.entries[i].at; end++) {
            const struct pyro_stage *stage = &app->stages.items[index.entries[end].row];
            tasks += stage->tasks > 0 ? 1 + (stage->tasks > INT32_MAX ? INT32_MAX : stage->tasks) : 0;
            copies += stage->speculative_tasks > 0;
            partitions = stage->partitions > partitions ? stage->partitions : partitions;
        }
        for (size_t k = i; k < end; k++) {
            uint32_t row = index.entries[k].row;
            state->site[row] = index.entries[i].row;
            state->look[row] = end - i > 1 || copies > 0 || tasks - 1 > partitions;
        }
        i = end;
    }
    pyro_index_done(&index);
    return true;
}

static bool find_copies(struct classes *state)
{
    const struct pyro_task_table *tasks = &state->app->tasks;
    int64_t speculative[RUN];
    for (size_t first = 0; first < tasks->count; first += RUN) {
        size_t count = tasks->count - first < RUN ? tasks->count - first : RUN;
        pyro_task_read(tasks, PYRO_TASK_speculative, first, count, speculative);
        for (size_t i = 0; i < count; i++) {
            int32_t row = tasks->stage_rows[first + i];
            if (speculative[i] != 1 || row < 0)
                continue;
            if (pyro_id_set_add(&state->copied, pair((uint32_t)row, pyro_task_get(tasks, PYRO_TASK_index, first + i))) <
                0)
                return false;
        }
    }
    return true;
}

/* 1: this partition had succeeded before; 0: it had not; -1: no memory. */
static int was_done(struct classes *state, size_t task, uint32_t row)
{
    const struct pyro_task_table *tasks = &state->app->tasks;
    const struct pyro_stage *stage = &state->app->stages.items[row];
    int64_t partition = pyro_task_get(tasks, PYRO_TASK_partition, task);
    uint32_t site = state->site[row];
    if (partition < 0 && stage->attempt == 0)
        partition = pyro_task_get(tasks, PYRO_TASK_index, task);
    if (partition >= 0) {
        int added = pyro_id_set_add(&state->done, pair(site, partition));
        state->successes[site] += added == 1;
        return added < 0 ? -1 : !added;
    }
    /* A retried stage of an old Spark does not say which partitions it computes: those beyond the stage's number
     * existed before. */
    return ++state->successes[site] > (stage->partitions > 0 ? state->app->stages.items[site].partitions : INT64_MAX);
}

static int classify(struct classes *state, size_t task, int64_t status, bool speculative)
{
    const struct pyro_task_table *tasks = &state->app->tasks;
    int32_t row = tasks->stage_rows[task];
    bool copied = row >= 0 && state->copied.count > 0 &&
                  pyro_id_set_has(&state->copied, pair((uint32_t)row, pyro_task_get(tasks, PYRO_TASK_index, task)));
    if (status == PYRO_TASK_SUCCESS) {
        int again = row >= 0 && state->look[row] ? was_done(state, task, (uint32_t)row) : 0;
        return again < 0 ? -1 : again == 0 ? PYRO_COST_USEFUL : copied ? PYRO_COST_SPECULATIVE : PYRO_COST_RETRIED;
    }
    return speculative || (copied && status == PYRO_TASK_KILLED) ? PYRO_COST_SPECULATIVE : PYRO_COST_RETRIED;
}

static bool classify_all(struct classes *state)
{
    const struct pyro_task_table *tasks = &state->app->tasks;
    int64_t status[RUN], speculative[RUN];
    for (size_t first = 0; first < tasks->count; first += RUN) {
        size_t count = tasks->count - first < RUN ? tasks->count - first : RUN;
        pyro_task_read(tasks, PYRO_TASK_status, first, count, status);
        pyro_task_read(tasks, PYRO_TASK_speculative, first, count, speculative);
        for (size_t i = 0; i < count; i++) {
            int found = classify(state, first + i, status[i], speculative[i] == 1);
            if (found < 0)
                return false;
            state->classes[first + i] = (uint8_t)found;
        }
    }
    return true;
}

uint8_t *pyro_classify_tasks(const struct pyro_app *app)
{
    struct classes state = {.app = app};
    size_t stages = app->stages.count + 1;
    state.site = pyro_allocate(app->allocator, stages * sizeof(*state.site));
    state.look = pyro_allocate(app->allocator, stages);
    state.successes = pyro_allocate(app->allocator, stages * sizeof(*state.successes));
    state.classes = pyro_allocate(app->allocator, app->tasks.count + 1);
    pyro_id_set_init(&state.copied, app->allocator);
    pyro_id_set_init(&state.done, app->allocator);
    bool ok = state.site && state.look && state.successes && state.classes;
    if (ok) {
        memset(state.site, 0, stages * sizeof(*state.site));
        memset(state.look, 0, stages);
        memset(state.successes, 0, stages * sizeof(*state.successes));
        ok = prepare(&state) && find_copies(&state) && classify_all(&state);
    }
    pyro_id_set_done(&state.copied);
    pyro_id_set_done(&state.done);
    pyro_release(app->allocator, state.site);
    pyro_release(app->allocator, state.look);
    pyro_release(app->allocator, state.successes);
    if (!ok) {
        pyro_release(app->allocator, state.classes);
        return NULL;
    }
    return state.classes;
}
