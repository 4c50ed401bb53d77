/* Executors as they came and went, and the pools and profiles that decide which stage gets their slots. */
#include "replay/replaying.h"

static uint32_t group_of(struct pyro_replay *replay, int64_t profile, bool add)
{
    for (uint32_t i = 0; i < replay->group_count; i++)
        if (replay->groups[i].profile == profile)
            return i;
    if (!add)
        return REPLAY_NOBODY;
    replay->groups[replay->group_count] = (struct replay_group){.profile = profile, .top = REPLAY_NOBODY};
    return replay->group_count++;
}

/* Resource profiles beyond these share the first one's slots. */
enum { GROUPS_MAX = 64 };

static int64_t profile_of(int64_t profile)
{
    return profile < 0 ? 0 : profile;
}

static void add_executor(struct pyro_replay *replay, struct replay_executor executor, int64_t profile)
{
    bool known = replay->group_count < GROUPS_MAX || group_of(replay, profile, false) != REPLAY_NOBODY;
    executor.group = known ? group_of(replay, profile, true) : 0;
    replay->executors[replay->executor_count++] = executor;
}

/* Slots of a log that names no executor: of the master "local[N]", else as many as its stages used on average. */
static int64_t slots_used(const struct pyro_replay *replay)
{
    const struct pyro_app *app = replay->app;
    int64_t most = 1;
    for (uint32_t i = 0; i < replay->stage_count; i++) {
        const struct replay_stage *stage = &replay->stages[i];
        int64_t length = (stage->to - stage->from) / 1000, work = app->stages.items[stage->row].task_ms;
        if (length > 0 && work > 0 && work / length + (work % length > 0) > most)
            most = work / length + (work % length > 0);
    }
    struct pyro_slice master = app->application.master;
    int64_t named = 0;
    if (pyro_slice_starts_with(master, "local["))
        for (size_t i = 6; i < master.len && master.ptr[i] >= '0' && master.ptr[i] <= '9' && named < 100000; i++)
            named = named * 10 + (master.ptr[i] - '0');
    return named > 0 ? named : most < INT32_MAX ? most : INT32_MAX;
}

static void take_stage(struct pyro_replay *replay, int64_t executor_row, int64_t stage_row)
{
    const struct pyro_app *app = replay->app;
    if (executor_row < 0 || executor_row >= (int64_t)app->executors.count || stage_row < 0 ||
        stage_row >= (int64_t)app->stages.count)
        return;
    struct replay_executor *executor = &replay->executors[executor_row];
    uint32_t stage = replay->stage_of_row[stage_row];
    if (stage == REPLAY_NOBODY)
        return;
    if (executor->last_stage != REPLAY_NOBODY && stage + 1 > executor->last_stage)
        executor->last_stage = stage + 1;
    if (executor->added > replay->stages[stage].to)
        executor->added = replay->stages[stage].from;
}

/* The stages in which each executor ran a task. Where it was removed some time after the last one, it had been asked to
 * go and got no more work, which the log does not say otherwise; where it ran a task before it came, it had come. */
static bool find_stages(struct pyro_replay *replay, int64_t last_job)
{
    const struct pyro_app *app = replay->app;
    for (uint32_t i = 0; i < replay->executor_count; i++) {
        struct replay_executor *executor = &replay->executors[i];
        if (executor->removed >= last_job)
            executor->removed = REPLAY_TIME_MAX; /* the application's end took it */
        executor->last_stage = executor->removed == REPLAY_TIME_MAX ? REPLAY_NOBODY : 0;
    }
    int64_t(*columns)[PYRO_READ_ROWS] = pyro_scratch(app, 2, sizeof(*columns));
    if (!columns)
        return false;
    for (size_t first = 0; first < app->tasks.count; first += PYRO_READ_ROWS) {
        size_t count = app->tasks.count - first < PYRO_READ_ROWS ? app->tasks.count - first : PYRO_READ_ROWS;
        pyro_task_read(&app->tasks, PYRO_TASK_executor_row, first, count, columns[0]);
        pyro_task_read(&app->tasks, PYRO_TASK_stage_row, first, count, columns[1]);
        for (size_t i = 0; i < count; i++)
            take_stage(replay, columns[0][i], columns[1][i]);
    }
    for (size_t i = 0; i < app->unfinished_tasks.count; i++)
        take_stage(replay, app->unfinished_tasks.items[i].executor_row, app->unfinished_tasks.items[i].stage_row);
    pyro_release(replay->allocator, columns);
    return true;
}

static bool order_leaving(struct pyro_replay *replay)
{
    struct pyro_marks marks;
    pyro_marks_init(&marks, replay->allocator, replay->executor_count);
    for (uint32_t i = 0; i < replay->executor_count; i++)
        pyro_marks_add(&marks, replay->executors[i].last_stage, 0, i);
    bool done = pyro_marks_finish(&marks);
    for (uint32_t i = 0; done && i < replay->executor_count; i++)
        replay->by_last_stage[i] = marks.list.items[i].row;
    pyro_marks_done(&marks);
    return done;
}

static bool find_pools(struct pyro_replay *replay)
{
    const struct pyro_app *app = replay->app;
    struct pyro_slice mode = pyro_app_property(app, "spark.scheduler.mode");
    replay->fair = pyro_slice_is(mode, "FAIR") || pyro_slice_is(mode, "fair");
    if (!replay->fair) {
        replay->pool_count = 1;
        return true;
    }
    /* Pools are few; behind the last one that fits here all others share. */
    enum { POOLS_MAX = 256 };
    struct pyro_slice *names = pyro_scratch(app, POOLS_MAX, sizeof(*names));
    if (!names)
        return false;
    for (uint32_t i = 0; i < replay->stage_count; i++) {
        struct pyro_slice pool = app->stages.items[replay->stages[i].row].pool;
        pool = pool.len > 0 ? pool : PYRO_SLICE_LITERAL("default");
        uint32_t number = 0;
        while (number < replay->pool_count && !pyro_slice_eq(names[number], pool))
            number++;
        if (number == replay->pool_count && number < POOLS_MAX)
            names[replay->pool_count++] = pool;
        replay->stages[i].pool = number < POOLS_MAX ? number : POOLS_MAX - 1;
    }
    pyro_release(replay->allocator, names);
    return true;
}

/* Executors of the default profile also run stages of profiles that ask for nothing of executors, with other slots. The
 * largest one says what such a task takes of its slots. */
static int64_t need_of(const struct pyro_app *app, const struct pyro_executor *largest, const struct pyro_stage *stage)
{
    if (!largest || stage->resource_profile <= 0 || !pyro_executor_serves(app, largest, stage))
        return REPLAY_SLOT;
    int64_t cores = (int64_t)pyro_executor_cores(largest);
    int64_t own = pyro_slots_of(app, 0, 0, cores, largest->resources).count,
            here = pyro_slots_of(app, stage->resource_profile, 0, cores, largest->resources).count;
    int64_t need = own * REPLAY_SLOT / (here > 0 ? here : 1);
    return need > 0 ? need : 1;
}

static void place_stages(struct pyro_replay *replay)
{
    const struct pyro_app *app = replay->app;
    const struct pyro_executor *largest = NULL;
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        if (profile_of(executor->resource_profile) == 0 && (!largest || executor->cores > largest->cores))
            largest = executor;
    }
    uint32_t usual = group_of(replay, 0, false);
    for (uint32_t i = 0; i < replay->stage_count; i++) {
        const struct pyro_stage *row = &app->stages.items[replay->stages[i].row];
        uint32_t group = group_of(replay, profile_of(row->resource_profile), false);
        replay->stages[i].need = group == REPLAY_NOBODY ? need_of(app, largest, row) : REPLAY_SLOT;
        replay->stages[i].group = group != REPLAY_NOBODY ? group : usual != REPLAY_NOBODY ? usual : 0;
    }
}

bool pyro_replay_take_executors(struct pyro_replay *replay)
{
    const struct pyro_app *app = replay->app;
    replay->executors = pyro_scratch(app, app->executors.count + 1, sizeof(*replay->executors));
    replay->by_last_stage = pyro_scratch(app, app->executors.count + 1, sizeof(*replay->by_last_stage));
    replay->groups = pyro_scratch(app, GROUPS_MAX, sizeof(*replay->groups));
    if (!replay->executors || !replay->by_last_stage || !replay->groups || !find_pools(replay))
        return false;
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *row = &app->executors.items[i];
        struct replay_executor executor = {.added = replay_at(replay, row->added_ms),
                                           .removed = row->removed_ms == PYRO_NONE ? REPLAY_TIME_MAX
                                                                                   : replay_at(replay, row->removed_ms),
                                           .cores = (int64_t)pyro_executor_cores(row)};
        executor.slots =
            pyro_slots_of(app, row->resource_profile, row->resource_profile, executor.cores, row->resources).count;
        add_executor(replay, executor, profile_of(row->resource_profile));
    }
    int64_t last_job = 0;
    for (uint32_t i = 0; i < replay->job_count; i++)
        last_job = replay->jobs[i].to > last_job ? replay->jobs[i].to : last_job;
    for (uint32_t i = 0; i < replay->stage_count; i++)
        if (replay->stages[i].job == REPLAY_NOBODY && replay->stages[i].to > last_job)
            last_job = replay->stages[i].to;
    if (!find_stages(replay, last_job))
        return false;
    bool any = false;
    for (uint32_t i = 0; i < replay->executor_count; i++)
        any = any || replay->executors[i].added < last_job;
    if (!any) { /* allocated time is unknown as well: no cores */
        add_executor(replay, (struct replay_executor){.removed = REPLAY_TIME_MAX, .last_stage = REPLAY_NOBODY}, 0);
        replay->executors[replay->executor_count - 1].slots = slots_used(replay);
    }
    if (!order_leaving(replay))
        return false;
    place_stages(replay);
    for (uint32_t i = 0; i < replay->group_count; i++) {
        replay->groups[i].ready = pyro_scratch(app, replay->stage_count, sizeof(uint32_t));
        if (!replay->groups[i].ready)
            return false;
    }
    return true;
}
