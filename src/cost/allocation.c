/* What was given, and what became of it: cells of stage x part that add up to lifetime x cores and x memory. */
#include "cost/cost.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/accounts/split.h"
#include "cost/share.h"

const char *const pyro_cost_part_names[PYRO_COST_PARTS] = {
    [PYRO_COST_USEFUL] = "useful",
    [PYRO_COST_SPILL] = "spill",
    [PYRO_COST_GC] = "gc",
    [PYRO_COST_WAITING] = "waiting",
    [PYRO_COST_SPECULATIVE] = "speculative",
    [PYRO_COST_RETRIED] = "retried",
    [PYRO_COST_IDLE_NO_WORK] = "idle_no_work",
    [PYRO_COST_IDLE_DRIVER] = "idle_driver",
    [PYRO_COST_IDLE_WAIT] = "idle_wait",
    [PYRO_COST_DRIVER] = "driver",
    [PYRO_COST_UNHELD] = "unheld",
};

/* As the rule disk-spill counts: spilled bytes are written and read again at 200 MB/s a task; what was in memory is
 * serialized and read back at 400 MB/s. */
enum { DISK_BYTES_PER_MS = 200000, SERIAL_BYTES_PER_MS = 400000 };
enum { RUN = PYRO_SPLIT_RUN };

struct allocation {
    const struct pyro_app *app;
    struct pyro_cost *cost;
    struct pyro_core_shares shares;
    uint8_t *classes;
    struct pyro_split_run *run;
    int64_t *mib; /* by executor row */
    int64_t core_total, memory_total;
    size_t cell_count; /* (stages + 1) x task parts, then the idle parts */
    pyro_fixed *core, *memory;
};

static struct pyro_slice copy(struct pyro_arena *arena, struct pyro_slice text, bool *failed)
{
    struct pyro_slice made = pyro_arena_copy(arena, text);
    *failed |= text.ptr && !made.ptr;
    return made;
}

/* ---- what was given -------------------------------------------------------------------------------------------- */

static struct pyro_cost_shape *shape_of(struct pyro_cost *cost, int64_t profile, uint64_t cores)
{
    for (size_t i = 0; i < cost->shape_count; i++)
        if (cost->shapes[i].resource_profile == profile && cost->shapes[i].container.cores == (int64_t)cores)
            return &cost->shapes[i];
    return NULL;
}

enum { SHAPES = 64 }; /* further ones count as the last */

static bool add_shapes(struct allocation *state)
{
    struct pyro_cost *cost = state->cost;
    const struct pyro_app *app = state->app;
    __int128 core = 0, memory = 0, asked = 0;
    cost->shapes = pyro_arena_array(&cost->arena, SHAPES, sizeof(*cost->shapes));
    if (!cost->shapes)
        return false;
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor_share *given = &state->shares.executors[i];
        int64_t profile = app->executors.items[i].resource_profile;
        int64_t life = (int64_t)(given->to - given->from);
        struct pyro_cost_shape *shape = shape_of(cost, profile, given->cores);
        if (!shape && cost->shape_count < SHAPES) {
            shape = &cost->shapes[cost->shape_count++];
            *shape = (struct pyro_cost_shape){pyro_executor_container(app, profile), profile, 0, 0};
            shape->container.cores = (int64_t)given->cores;
        } else if (!shape) {
            shape = &cost->shapes[SHAPES - 1];
        }
        shape->executors++;
        shape->lifetime_ms = pyro_add_saturating(shape->lifetime_ms, life);
        state->mib[i] = given->cores > 0 ? shape->container.container_mib : 0;
        core += (__int128)given->cores * life;
        memory += (__int128)state->mib[i] * life;
        asked += shape->container.cpu_milli == PYRO_NONE ? (__int128)given->cores * life * 1000
                                                         : (__int128)shape->container.cpu_milli * life;
    }
    /* More than 64 bits can count is not an allocation: the log is broken. */
    bool sane = core <= INT64_MAX && memory <= INT64_MAX && asked / 1000 <= INT64_MAX && state->shares.total_ms > 0;
    state->core_total = sane ? (int64_t)core : 0;
    state->memory_total = sane ? (int64_t)memory : 0;
    cost->cpu_request_ms = sane ? (int64_t)(asked / 1000) : 0;
    return true;
}

static int compare_hosts(const void *a, const void *b)
{
    const struct pyro_cost_node *x = a, *y = b;
    int order = pyro_slice_compare(x->host, y->host);
    return order ? order : x->from_ms < y->from_ms ? -1 : x->from_ms > y->from_ms;
}

struct edge {
    int64_t at, change;
};

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->change < y->change ? -1 : x->change > y->change; /* those that go before those that come */
}

/* Most cores at once of `count` executors, each as a node of its own. */
static int64_t peak_of(struct edge *edges, const struct pyro_cost_node *executors, size_t count)
{
    int64_t alive = 0, peak = 0;
    for (size_t i = 0; i < count; i++) {
        edges[2 * i] = (struct edge){executors[i].from_ms, executors[i].core_peak};
        edges[2 * i + 1] = (struct edge){executors[i].to_ms, -executors[i].core_peak};
    }
    qsort(edges, 2 * count, sizeof(*edges), compare_edges);
    for (size_t i = 0; i < 2 * count; i++) {
        alive += edges[i].change;
        peak = alive > peak ? alive : peak;
    }
    return peak;
}

/* One node for each host: `nodes` holds one for each executor. */
static void merge_hosts(struct pyro_cost *cost, struct edge *edges, size_t count)
{
    for (size_t first = 0, end; first < count; first = end) {
        struct pyro_cost_node node = cost->nodes[first];
        for (end = first; end < count && pyro_slice_eq(cost->nodes[end].host, node.host); end++)
            node.to_ms = cost->nodes[end].to_ms > node.to_ms ? cost->nodes[end].to_ms : node.to_ms;
        node.executors = (int64_t)(end - first);
        node.core_peak = peak_of(edges, &cost->nodes[first], end - first);
        cost->nodes[cost->node_count++] = node;
    }
}

static bool add_nodes(struct allocation *state)
{
    struct pyro_cost *cost = state->cost;
    const struct pyro_app *app = state->app;
    struct pyro_slice driver = pyro_app_property(app, "spark.driver.host");
    size_t count = app->executors.count;
    bool failed = false;
    cost->nodes = pyro_arena_array(&cost->arena, count + 1, sizeof(*cost->nodes));
    struct edge *edges = pyro_allocate(app->allocator, (2 * count + 1) * sizeof(*edges));
    if (!cost->nodes || !edges) {
        pyro_release(app->allocator, edges);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct pyro_executor_share *given = &state->shares.executors[i];
        cost->nodes[i] = (struct pyro_cost_node){app->executors.items[i].host,
                                                 pyro_add_saturating(cost->start_ms, (int64_t)given->from),
                                                 pyro_add_saturating(cost->start_ms, (int64_t)given->to),
                                                 1,
                                                 (int64_t)given->cores,
                                                 false};
    }
    if (count > 1)
        qsort(cost->nodes, count, sizeof(*cost->nodes), compare_hosts);
    merge_hosts(cost, edges, count);
    pyro_release(app->allocator, edges);
    bool apart = driver.len > 0 && cost->has_driver;
    for (size_t i = 0; i < cost->node_count; i++) {
        cost->nodes[i].host = copy(&cost->arena, cost->nodes[i].host, &failed);
        apart = apart && !pyro_slice_eq(cost->nodes[i].host, driver);
    }
    if (apart)
        cost->nodes[cost->node_count++] = (struct pyro_cost_node){
            copy(&cost->arena, driver, &failed), cost->start_ms, cost->end_ms, 0, cost->driver.cores, true};
    return !failed;
}

/* ---- what became of it ----------------------------------------------------------------------------------------- */

static void add_cell(struct allocation *state, size_t cell, size_t executor, pyro_fixed share)
{
    uint64_t cores = state->shares.executors[executor].cores;
    state->core[cell] += share;
    if (cores > 0)
        state->memory[cell] +=
            share / cores * (uint64_t)state->mib[executor] + share % cores * (uint64_t)state->mib[executor] / cores;
}

static int64_t spill_ms(const struct pyro_task_table *tasks, size_t task)
{
    int64_t disk = pyro_task_get(tasks, PYRO_TASK_disk_spill_bytes, task);
    int64_t memory = pyro_task_get(tasks, PYRO_TASK_memory_spill_bytes, task);
    return (disk > 0 ? disk / (DISK_BYTES_PER_MS / 2) : 0) + (memory > 0 ? memory / SERIAL_BYTES_PER_MS : 0);
}

/* A task that counted: its share over useful work, spilling, collection and waiting. */
static void add_useful(struct allocation *state, size_t task, size_t row, size_t executor,
                       const struct pyro_task_split *split)
{
    pyro_fixed sums[PYRO_SPLIT_PARTS] = {0}, spill = 0;
    pyro_share_out(split, state->shares.tasks[task], sums);
    int64_t spilled = spill_ms(&state->app->tasks, task);
    if (spilled > 0 && split->compute > 0) {
        uint64_t compute = (uint64_t)split->compute, part = (uint64_t)spilled < compute ? (uint64_t)spilled : compute;
        pyro_fixed share = sums[PYRO_SPLIT_COMPUTE];
        spill = share / compute * part + share % compute * part / compute;
    }
    pyro_fixed waiting =
        sums[PYRO_SPLIT_SCHEDULER_DELAY] + sums[PYRO_SPLIT_SHUFFLE_FETCH_WAIT] + sums[PYRO_SPLIT_GETTING_RESULT];
    pyro_fixed useful = sums[PYRO_SPLIT_DESERIALIZE] + sums[PYRO_SPLIT_COMPUTE] + sums[PYRO_SPLIT_SHUFFLE_WRITE] +
                        sums[PYRO_SPLIT_RESULT_SERIALIZE] - spill;
    size_t cell = row * PYRO_COST_TASK_PARTS;
    add_cell(state, cell + PYRO_COST_USEFUL, executor, useful);
    add_cell(state, cell + PYRO_COST_SPILL, executor, spill);
    add_cell(state, cell + PYRO_COST_GC, executor, sums[PYRO_SPLIT_GC]);
    add_cell(state, cell + PYRO_COST_WAITING, executor, waiting);
}

static void add_tasks(struct allocation *state)
{
    const struct pyro_app *app = state->app;
    for (size_t first = 0; first < app->tasks.count; first += RUN) {
        size_t count = app->tasks.count - first < RUN ? app->tasks.count - first : RUN;
        pyro_split_read(app, first, count, state->run);
        for (size_t i = 0; i < count; i++) {
            size_t task = first + i;
            int32_t stage = app->tasks.stage_rows[task], executor = app->tasks.executor_rows[task];
            size_t row = stage < 0 ? app->stages.count : (size_t)stage;
            if (executor < 0 || state->shares.tasks[task] == 0)
                continue;
            if (state->classes[task] == PYRO_COST_USEFUL)
                add_useful(state, task, row, (size_t)executor, &state->run->splits[i]);
            else
                add_cell(state, row * PYRO_COST_TASK_PARTS + state->classes[task], (size_t)executor,
                         state->shares.tasks[task]);
        }
    }
    for (size_t i = 0; i < app->unfinished_tasks.count; i++) {
        const struct pyro_unfinished_task *task = &app->unfinished_tasks.items[i];
        pyro_fixed share = state->shares.tasks[app->tasks.count + i];
        size_t row = task->stage_row < 0 ? app->stages.count : (size_t)task->stage_row;
        unsigned part = task->lost              ? PYRO_COST_RETRIED
                        : task->speculative > 0 ? PYRO_COST_SPECULATIVE
                                                : PYRO_COST_USEFUL;
        if (task->executor_row >= 0 && share > 0)
            add_cell(state, row * PYRO_COST_TASK_PARTS + part, (size_t)task->executor_row, share);
    }
}

static void add_idle(struct allocation *state)
{
    size_t cell = (state->app->stages.count + 1) * PYRO_COST_TASK_PARTS;
    for (size_t i = 0; i < state->app->executors.count; i++)
        for (unsigned k = 0; k < PYRO_IDLES; k++)
            add_cell(state, cell + k, i, state->shares.executors[i].idle[k] << PYRO_FIXED_BITS);
}

static bool fill_cells(struct allocation *state)
{
    const struct pyro_app *app = state->app;
    state->cell_count = (app->stages.count + 1) * PYRO_COST_TASK_PARTS + PYRO_IDLES;
    size_t bytes = state->cell_count * sizeof(pyro_fixed);
    state->core = pyro_allocate(app->allocator, bytes);
    state->memory = pyro_allocate(app->allocator, bytes);
    state->run = pyro_allocate(app->allocator, sizeof(*state->run));
    state->classes = pyro_classify_tasks(app);
    if (!state->core || !state->memory || !state->run || !state->classes)
        return false;
    memset(state->core, 0, bytes);
    memset(state->memory, 0, bytes);
    add_tasks(state);
    add_idle(state);
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static bool take_stage(struct allocation *state, size_t row, const int64_t *core, const int64_t *memory)
{
    struct pyro_cost *cost = state->cost;
    const struct pyro_app *app = state->app;
    struct pyro_cost_amount parts[PYRO_COST_TASK_PARTS] = {{0}};
    struct pyro_cost_row found = {PYRO_NONE, PYRO_NONE, PYRO_SLICE_NULL, {0, 0, 0}};
    bool failed = false;
    for (unsigned k = 0; k < PYRO_COST_TASK_PARTS; k++) {
        size_t cell = row * PYRO_COST_TASK_PARTS + k;
        parts[k] = (struct pyro_cost_amount){core[cell], memory[cell], 0};
        found.total.core_ms += core[cell];
        found.total.memory_mib_ms += memory[cell];
        cost->parts[k].core_ms += core[cell];
        cost->parts[k].memory_mib_ms += memory[cell];
    }
    if (found.total.core_ms == 0 && found.total.memory_mib_ms == 0)
        return true;
    size_t at = cost->stages.count++;
    cost->stage_jobs[at] = cost->stage_sql[at] = PYRO_NONE;
    if (row < app->stages.count) {
        const struct pyro_stage *stage = &app->stages.items[row];
        ptrdiff_t job = stage->job == PYRO_NONE ? -1 : pyro_app_find_job(app, stage->job);
        found.id = stage->id;
        found.attempt = stage->attempt;
        found.name = copy(&cost->arena, stage->call_site.ptr ? stage->call_site : stage->name, &failed);
        cost->stage_jobs[at] = stage->job;
        cost->stage_sql[at] = stage->sql;
        struct pyro_slice pool = stage->pool;
        cost->stage_pools[at] = copy(&cost->arena, pool.len ? pool : PYRO_SLICE_LITERAL("default"), &failed);
        if (job >= 0)
            cost->stage_groups[at] = copy(&cost->arena, app->jobs.items[job].group_id, &failed);
    }
    memcpy(&cost->stage_parts[at * PYRO_COST_TASK_PARTS], parts, sizeof(parts));
    cost->stages.items[at] = found;
    return !failed;
}

static void add_driver(struct pyro_cost *cost)
{
    int64_t life = cost->duration_ms > 0 ? cost->duration_ms : 0;
    __int128 core = 0, memory = 0, asked = 0;
    const struct pyro_container *given[2] = {cost->has_driver ? &cost->driver : NULL,
                                             cost->has_master ? &cost->master : NULL};
    for (unsigned i = 0; i < 2; i++) {
        if (!given[i])
            continue;
        core += (__int128)given[i]->cores * life;
        memory += (__int128)given[i]->container_mib * life;
        asked += given[i]->cpu_milli == PYRO_NONE ? (__int128)given[i]->cores * life
                                                  : (__int128)given[i]->cpu_milli * life / 1000;
    }
    cost->parts[PYRO_COST_DRIVER].core_ms = pyro_saturate(core);
    cost->parts[PYRO_COST_DRIVER].memory_mib_ms = pyro_saturate(memory);
    cost->cpu_request_ms = pyro_add_saturating(cost->cpu_request_ms, pyro_saturate(asked));
}

static bool take_cells(struct allocation *state)
{
    struct pyro_cost *cost = state->cost;
    const struct pyro_app *app = state->app;
    size_t rows = app->stages.count + 1;
    int64_t *core = pyro_allocate(app->allocator, state->cell_count * sizeof(*core));
    int64_t *memory = pyro_allocate(app->allocator, state->cell_count * sizeof(*memory));
    cost->stages.items = pyro_arena_array(&cost->arena, rows, sizeof(*cost->stages.items));
    cost->stage_parts = pyro_arena_array(&cost->arena, rows * PYRO_COST_TASK_PARTS, sizeof(*cost->stage_parts));
    cost->stage_pools = pyro_arena_array(&cost->arena, rows, sizeof(*cost->stage_pools));
    cost->stage_groups = pyro_arena_array(&cost->arena, rows, sizeof(*cost->stage_groups));
    cost->stage_jobs = pyro_arena_array(&cost->arena, rows, sizeof(*cost->stage_jobs));
    cost->stage_sql = pyro_arena_array(&cost->arena, rows, sizeof(*cost->stage_sql));
    bool ok = core && memory && cost->stages.items && cost->stage_parts && cost->stage_pools && cost->stage_groups &&
              cost->stage_jobs && cost->stage_sql;
    ok = ok && pyro_round_shares(app->allocator, state->core, state->cell_count, state->core_total, core) &&
         pyro_round_shares(app->allocator, state->memory, state->cell_count, state->memory_total, memory);
    for (size_t row = 0; ok && row < rows; row++)
        ok = take_stage(state, row, core, memory);
    for (unsigned k = 0; ok && k < PYRO_IDLES; k++) {
        size_t cell = rows * PYRO_COST_TASK_PARTS + k;
        cost->parts[PYRO_COST_IDLE_NO_WORK + k] = (struct pyro_cost_amount){core[cell], memory[cell], 0};
    }
    pyro_release(app->allocator, core);
    pyro_release(app->allocator, memory);
    return ok;
}

static bool take_names(struct allocation *state)
{
    const struct pyro_app *app = state->app;
    struct pyro_cost *cost = state->cost;
    const struct pyro_application_row *row = &app->application;
    bool failed = false;
    cost->path = copy(&cost->arena, app->path, &failed);
    cost->id = copy(&cost->arena, row->id, &failed);
    cost->name = copy(&cost->arena, row->name, &failed);
    cost->attempt = copy(&cost->arena, row->attempt, &failed);
    cost->user = copy(&cost->arena, row->user, &failed);
    cost->queue = copy(&cost->arena, pyro_app_property(app, "spark.yarn.queue"), &failed);
    cost->start_ms = row->start_ms == PYRO_NONE ? 0 : row->start_ms;
    cost->end_ms = row->end_ms == PYRO_NONE || row->end_ms < cost->start_ms ? cost->start_ms : row->end_ms;
    cost->duration_ms = pyro_saturate((__int128)cost->end_ms - cost->start_ms);
    cost->manager = pyro_app_manager(app);
    cost->client_mode = pyro_app_client_mode(app);
    cost->settings_unknown = app->integrity.settings_unknown;
    cost->executors_unknown = app->executors.count == 0 && app->tasks.count > 0;
    cost->driver = pyro_driver_container(app);
    /* In local mode the driver is the executor. */
    cost->has_driver = cost->manager != PYRO_MANAGER_LOCAL;
    cost->has_master = pyro_master_container(app, &cost->master);
    if (!pyro_cost_place_recognise(app, &cost->arena, &cost->place))
        return false;
    struct pyro_recognised *all[] = {&cost->place.cloud,           &cost->place.region,   &cost->place.instance,
                                     &cost->place.driver_instance, &cost->place.workload, &cost->place.cluster};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        all[i]->text = copy(&cost->arena, all[i]->text, &failed);
    return !failed;
}

static bool allocate(struct allocation *state)
{
    struct pyro_cost *cost = state->cost;
    if (!take_names(state) || !add_shapes(state) || !add_nodes(state) || !fill_cells(state) || !take_cells(state))
        return false;
    add_driver(cost);
    for (unsigned i = 0; i < PYRO_COST_PARTS; i++) {
        cost->total.core_ms = pyro_add_saturating(cost->total.core_ms, cost->parts[i].core_ms);
        cost->total.memory_mib_ms = pyro_add_saturating(cost->total.memory_mib_ms, cost->parts[i].memory_mib_ms);
    }
    cost->money.dbu = (double)NAN;
    return pyro_cost_sum_up(cost);
}

enum pyro_status pyro_cost_new(const struct pyro_app *app, const struct pyro_allocator *allocator,
                               struct pyro_cost **ret, struct pyro_error *error)
{
    struct allocation state = {.app = app};
    struct pyro_cost *cost = pyro_allocate(allocator, sizeof(*cost));
    if (!cost)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the cost");
    memset(cost, 0, sizeof(*cost));
    pyro_arena_init(&cost->arena, allocator);
    state.cost = cost;
    state.mib = pyro_allocate(app->allocator, (app->executors.count + 1) * sizeof(*state.mib));
    bool ok = state.mib && pyro_core_shares_new(app, &state.shares, NULL) == PYRO_OK;
    if (ok) {
        ok = allocate(&state);
        pyro_core_shares_done(&state.shares);
    }
    pyro_release(app->allocator, state.mib);
    pyro_release(app->allocator, state.core);
    pyro_release(app->allocator, state.memory);
    pyro_release(app->allocator, state.run);
    pyro_release(app->allocator, state.classes);
    if (!ok) {
        pyro_cost_free(cost);
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the cost");
    }
    *ret = cost;
    return PYRO_OK;
}

void pyro_cost_free(struct pyro_cost *cost)
{
    if (!cost)
        return;
    const struct pyro_allocator *allocator = cost->arena.allocator;
    pyro_arena_done(&cost->arena);
    pyro_release(allocator, cost);
}
