/* What waited for what: stages for their parents, jobs for jobs. The log says when each was submitted and ended; the
 * driver's part is the time between the end of what something waited for and its submission. */
#include "replay/replaying.h"

enum { ATTEMPTS_LOOKED_AT = 8, PARENTS_MAX = 4096, LANES_LOOKED_AT = 64 };

static bool add_need(struct pyro_replay *replay, uint32_t need)
{
    uint32_t *place = pyro_vec_push(&replay->lists, replay->allocator);
    if (!place)
        return false;
    *place = need;
    return true;
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

static bool sort_stages(struct pyro_replay *replay)
{
    const struct pyro_app *app = replay->app;
    struct pyro_marks marks;
    struct pyro_index ids;
    if (!pyro_index_stages(&ids, app))
        return false;
    pyro_marks_init(&marks, replay->allocator, app->stages.count);
    for (size_t i = 0; i < ids.count; i++) { /* by id and attempt; the sort by time keeps that order */
        const struct pyro_stage *stage = &app->stages.items[ids.entries[i].row];
        if (stage->submitted_ms != PYRO_NONE)
            pyro_marks_add(&marks, pyro_window_at(&replay->window, stage->submitted_ms), 0, ids.entries[i].row);
    }
    pyro_index_done(&ids);
    bool done = pyro_marks_finish(&marks);
    for (size_t i = 0; done && i < marks.list.count; i++) {
        uint32_t row = marks.list.items[i].row;
        const struct pyro_stage *stage = &app->stages.items[row];
        uint64_t from, to;
        pyro_stage_interval(&replay->window, stage, &from, &to);
        replay->stages[i] = (struct replay_stage){.row = row,
                                                  .job = REPLAY_NOBODY,
                                                  .from = replay_us((int64_t)from),
                                                  .to = replay_us((int64_t)to),
                                                  .writes_shuffle = stage->shuffle_write_bytes > 0,
                                                  .barrier = stage->barrier};
        replay->barriers |= stage->barrier;
        replay->stage_of_row[row] = (uint32_t)i;
    }
    replay->stage_count = done ? (uint32_t)marks.list.count : 0;
    pyro_marks_done(&marks);
    return done;
}

/* Ranks as FIFO prefers task sets: by job, then stage, then attempt. */
static bool rank_stages(struct pyro_replay *replay)
{
    struct pyro_index index;
    struct pyro_index_key *keys = pyro_scratch(replay->app, replay->stage_count, sizeof(*keys));
    if (!keys)
        return false;
    for (uint32_t i = 0; i < replay->stage_count; i++) {
        const struct pyro_stage *stage = &replay->app->stages.items[replay->stages[i].row];
        keys[i] = (struct pyro_index_key){stage->job == PYRO_NONE ? INT64_MAX : stage->job, stage->id};
    }
    bool done = pyro_index_init(&index, replay->allocator, keys, replay->stage_count);
    for (uint32_t i = 0; done && i < replay->stage_count; i++)
        replay->stages[index.entries[i].row].rank = i;
    if (done)
        pyro_index_done(&index);
    pyro_release(replay->allocator, keys);
    return done;
}

static bool need_stage(struct pyro_replay *replay, uint32_t stage, uint32_t parent, int64_t *base)
{
    const struct replay_stage *other = &replay->stages[parent];
    if (parent >= stage || other->to > replay->stages[stage].from)
        return true;
    *base = other->to > *base ? other->to : *base;
    replay->stages[stage].needs.count++;
    return add_need(replay, parent);
}

/* The stage that ended last before this one was submitted, of those submitted shortly before. Logs that lost their jobs
 * still have an order. */
static uint32_t last_ended(const struct pyro_replay *replay, uint32_t number)
{
    enum { LOOKED_AT = 64 };
    uint32_t best = REPLAY_NOBODY;
    for (uint32_t i = number; i-- > 0 && number - i <= LOOKED_AT;)
        if (replay->stages[i].to <= replay->stages[number].from &&
            (best == REPLAY_NOBODY || replay->stages[i].to > replay->stages[best].to))
            best = i;
    return best;
}

/* A first attempt waits for its parents, a later one for whatever ended before it in its job. */
static bool find_needs(struct pyro_replay *replay, const struct pyro_index *ids, uint32_t number,
                       const uint32_t *before_in_job)
{
    struct replay_stage *stage = &replay->stages[number];
    const struct pyro_stage *row = &replay->app->stages.items[stage->row];
    int64_t base = stage->job == REPLAY_NOBODY ? 0 : replay->jobs[stage->job].from;
    stage->needs = (struct replay_list){(uint32_t)replay->lists.count, 0};
    if (row->attempt > 0) {
        unsigned looked = 0;
        for (uint32_t i = before_in_job[number]; i != REPLAY_NOBODY && looked < 64; i = before_in_job[i], looked++)
            if (!need_stage(replay, number, i, &base))
                return false;
    } else {
        for (uint32_t p = 0; p < row->parent_count && stage->needs.count < PARENTS_MAX; p++) {
            size_t entry, count = pyro_index_find(ids, row->parent_ids[p], &entry);
            for (size_t i = count > ATTEMPTS_LOOKED_AT ? count - ATTEMPTS_LOOKED_AT : 0; i < count; i++) {
                uint32_t parent = replay->stage_of_row[ids->entries[entry + i].row];
                if (parent != REPLAY_NOBODY && !need_stage(replay, number, parent, &base))
                    return false;
            }
        }
    }
    if (stage->job == REPLAY_NOBODY && stage->needs.count == 0) {
        uint32_t before = last_ended(replay, number);
        if (before != REPLAY_NOBODY && !need_stage(replay, number, before, &base))
            return false;
    }
    stage->gap = stage->from > base ? stage->from - base : 0;
    return true;
}

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

static bool sort_jobs(struct pyro_replay *replay, const struct pyro_index *stages, uint32_t *job_of_row)
{
    const struct pyro_app *app = replay->app;
    struct pyro_marks marks;
    struct pyro_index ids;
    if (!pyro_index_jobs(&ids, app))
        return false;
    pyro_marks_init(&marks, replay->allocator, app->jobs.count);
    for (size_t i = 0; i < ids.count; i++) {
        int64_t from, to;
        const struct pyro_job *job = &app->jobs.items[ids.entries[i].row];
        pyro_job_interval(app, stages, job, &from, &to);
        if (!job->unstarted)
            pyro_marks_add(&marks, pyro_window_at(&replay->window, from), 0, ids.entries[i].row);
    }
    pyro_index_done(&ids);
    bool done = pyro_marks_finish(&marks);
    for (size_t i = 0; done && i < marks.list.count; i++) {
        int64_t from, to;
        uint32_t row = marks.list.items[i].row;
        pyro_job_interval(app, stages, &app->jobs.items[row], &from, &to);
        replay->jobs[i] = (struct replay_job){.row = row, .from = replay_at(replay, from), .to = replay_at(replay, to)};
        job_of_row[row] = (uint32_t)i;
    }
    replay->job_count = done ? (uint32_t)marks.list.count : 0;
    pyro_marks_done(&marks);
    return done;
}

/* Finds the jobs of all stages, lists each job's stages, and gives `before` the stage before each one in its job. */
static bool give_stages(struct pyro_replay *replay, const uint32_t *job_of_row, uint32_t *before)
{
    struct pyro_index ids;
    uint32_t *last = pyro_scratch(replay->app, replay->job_count, sizeof(*last));
    if (!last || !pyro_index_jobs(&ids, replay->app)) {
        pyro_release(replay->allocator, last);
        return false;
    }
    memset(last, 0xff, replay->job_count * sizeof(*last));
    for (uint32_t i = 0; i < replay->stage_count; i++) {
        size_t entry;
        int64_t id = replay->app->stages.items[replay->stages[i].row].job;
        uint32_t job = id != PYRO_NONE && pyro_index_find(&ids, id, &entry) > 0 ? job_of_row[ids.entries[entry].row]
                                                                                : REPLAY_NOBODY;
        replay->stages[i].job = job;
        before[i] = REPLAY_NOBODY;
        if (job == REPLAY_NOBODY)
            continue;
        before[i] = last[job];
        last[job] = i;
        replay->jobs[job].stages.count++;
    }
    pyro_index_done(&ids);
    bool done = true;
    for (uint32_t j = 0; done && j < replay->job_count; j++) {
        struct replay_job *job = &replay->jobs[j];
        int64_t base = job->from;
        job->stages.first = (uint32_t)replay->lists.count;
        for (uint32_t i = last[j]; done && i != REPLAY_NOBODY; i = before[i]) {
            base = replay->stages[i].to > base ? replay->stages[i].to : base;
            done = add_need(replay, i);
        }
        job->tail = job->to > base ? job->to - base : 0;
    }
    pyro_release(replay->allocator, last);
    return done;
}

/* What the sweep over jobs knows of a query, or of a job outside of any. */
struct unit {
    uint32_t running, last_ended, first_job;
    int64_t open_until;
    bool idle; /* its thread may do something else now */
};

struct job_sweep {
    struct pyro_replay *replay;
    struct unit *units;
    uint32_t *ended, *ended_before; /* jobs by their end; the one that ended before it in its unit */
    uint32_t ended_count, next;
    uint32_t *lanes, lane_count; /* units that became idle, oldest first */
    uint32_t *unit_of_row;
};

static bool order_by_end(struct job_sweep *sweep)
{
    struct pyro_replay *replay = sweep->replay;
    struct pyro_marks marks;
    pyro_marks_init(&marks, replay->allocator, replay->job_count);
    for (uint32_t j = 0; j < replay->job_count; j++) {
        struct replay_job *job = &replay->jobs[j];
        job->to = job->to < job->from ? job->from : job->to;
        pyro_marks_add(&marks, (uint64_t)job->to, 0, j);
    }
    bool done = pyro_marks_finish(&marks);
    for (size_t i = 0; done && i < marks.list.count; i++)
        sweep->ended[i] = marks.list.items[i].row;
    pyro_marks_done(&marks);
    return done;
}

/* One unit a query, nested queries counting as their root; one a job outside of queries. */
static bool find_units(struct job_sweep *sweep)
{
    struct pyro_replay *replay = sweep->replay;
    const struct pyro_app *app = replay->app;
    struct pyro_index ids;
    if (!pyro_index_sql(&ids, app))
        return false;
    for (uint32_t j = 0; j < replay->job_count; j++) {
        size_t entry;
        int64_t sql = app->jobs.items[replay->jobs[j].row].sql;
        uint32_t unit = (uint32_t)app->sql.count + j;
        if (sql != PYRO_NONE && pyro_index_find(&ids, sql, &entry) > 0) {
            unit = ids.entries[entry].row;
            int64_t root = app->sql.items[unit].root_id;
            if (root != PYRO_NONE && root != sql && pyro_index_find(&ids, root, &entry) > 0)
                unit = ids.entries[entry].row;
            if (app->sql.items[unit].completed_ms != PYRO_NONE)
                sweep->units[unit].open_until = replay_at(replay, app->sql.items[unit].completed_ms);
        }
        replay->jobs[j].unit = unit;
    }
    for (size_t u = 0; u < app->sql.count + replay->job_count; u++)
        sweep->units[u].last_ended = sweep->units[u].first_job = REPLAY_NOBODY;
    pyro_index_done(&ids);
    return true;
}

static bool need_job(struct job_sweep *sweep, uint32_t job, uint32_t other)
{
    struct replay_job *row = &sweep->replay->jobs[job];
    const struct replay_job *before = &sweep->replay->jobs[other];
    if (other >= job || before->to > row->from)
        return true;
    row->base = before->to > row->base ? before->to : row->base;
    row->needs.count++;
    return add_need(sweep->replay, other);
}

static bool need_same_as(struct job_sweep *sweep, uint32_t job, uint32_t model)
{
    struct replay_list needs = sweep->replay->jobs[model].needs;
    for (uint32_t i = 0; i < needs.count; i++)
        if (!need_job(sweep, job, sweep->replay->lists.items[needs.first + i]))
            return false;
    return true;
}

static bool same_text(struct pyro_slice a, struct pyro_slice b)
{
    return (a.len == 0 && b.len == 0) || pyro_slice_eq(a, b);
}

/* The unit that became idle last, of the same pool and job group if there is one: its thread goes on with this job.
 * REPLAY_NOBODY where all are busy: a new thread. */
static uint32_t take_lane(struct job_sweep *sweep, uint32_t job)
{
    const struct pyro_app *app = sweep->replay->app;
    const struct pyro_job *row = &app->jobs.items[sweep->replay->jobs[job].row];
    uint32_t best = REPLAY_NOBODY,
             least = sweep->lane_count > LANES_LOOKED_AT ? sweep->lane_count - LANES_LOOKED_AT : 0;
    for (uint32_t i = sweep->lane_count; i-- > least;) {
        const struct unit *unit = &sweep->units[sweep->lanes[i]];
        if (!unit->idle || unit->running > 0 || unit->open_until > sweep->replay->jobs[job].from)
            continue;
        const struct pyro_job *last = &app->jobs.items[sweep->replay->jobs[unit->last_ended].row];
        bool same = same_text(last->pool, row->pool) && same_text(last->group_id, row->group_id);
        if (best == REPLAY_NOBODY || same)
            best = i;
        if (same)
            break;
    }
    if (best == REPLAY_NOBODY)
        return REPLAY_NOBODY;
    uint32_t unit = sweep->lanes[best];
    sweep->units[unit].idle = false;
    return sweep->units[unit].last_ended;
}

static void advance(struct job_sweep *sweep, int64_t time, uint32_t *running)
{
    for (; sweep->next < sweep->replay->job_count; sweep->next++) {
        uint32_t job = sweep->ended[sweep->next];
        if (sweep->replay->jobs[job].to > time)
            return;
        struct unit *unit = &sweep->units[sweep->replay->jobs[job].unit];
        sweep->ended_before[job] = unit->last_ended;
        unit->last_ended = job;
        /* A job of no length has not been counted yet. */
        if (unit->running > 0 && unit->first_job != REPLAY_NOBODY) {
            unit->running--;
            (*running)--;
        }
        if (unit->running == 0) {
            unit->idle = true;
            sweep->lanes[sweep->lane_count++] = sweep->replay->jobs[job].unit;
        }
    }
}

static bool find_job_needs(struct job_sweep *sweep)
{
    struct pyro_replay *replay = sweep->replay;
    uint32_t running = 0, period = REPLAY_NOBODY; /* the job that ended the last time without any */
    bool done = true;
    for (uint32_t j = 0; done && j < replay->job_count; j++) {
        struct replay_job *job = &replay->jobs[j];
        advance(sweep, job->from, &running);
        struct unit *unit = &sweep->units[job->unit];
        job->needs = (struct replay_list){(uint32_t)replay->lists.count, 0};
        uint32_t looked = 0, lane = REPLAY_NOBODY;
        if (unit->last_ended != REPLAY_NOBODY) {
            for (uint32_t k = unit->last_ended; done && k != REPLAY_NOBODY && looked < REPLAY_NEEDS_MAX;
                 k = sweep->ended_before[k], looked++)
                done = need_job(sweep, j, k);
        } else if (running == 0 || period == REPLAY_NOBODY) {
            for (uint32_t k = sweep->next; done && k-- > 0 && looked < REPLAY_NEEDS_MAX; looked++)
                done = need_job(sweep, j, sweep->ended[k]);
        } else if (unit->first_job != REPLAY_NOBODY) {
            done = need_same_as(sweep, j, unit->first_job);
        } else {
            lane = take_lane(sweep, j);
            done = lane == REPLAY_NOBODY ? need_same_as(sweep, j, period) : need_job(sweep, j, lane);
        }
        if (running == 0 || period == REPLAY_NOBODY)
            period = j;
        unit->first_job = unit->first_job == REPLAY_NOBODY ? j : unit->first_job;
        unit->idle = false;
        unit->running++;
        running++;
    }
    return done;
}

static bool connect_jobs(struct pyro_replay *replay)
{
    const struct pyro_app *app = replay->app;
    struct job_sweep sweep = {.replay = replay};
    sweep.units = pyro_scratch(app, app->sql.count + replay->job_count, sizeof(*sweep.units));
    sweep.ended = pyro_scratch(app, replay->job_count, sizeof(*sweep.ended));
    sweep.ended_before = pyro_scratch(app, replay->job_count, sizeof(*sweep.ended_before));
    sweep.lanes = pyro_scratch(app, replay->job_count, sizeof(*sweep.lanes));
    bool done = sweep.units && sweep.ended && sweep.ended_before && sweep.lanes && order_by_end(&sweep) &&
                find_units(&sweep) && find_job_needs(&sweep);
    pyro_release(replay->allocator, sweep.units);
    pyro_release(replay->allocator, sweep.ended);
    pyro_release(replay->allocator, sweep.ended_before);
    pyro_release(replay->allocator, sweep.lanes);
    int64_t last = 0;
    for (uint32_t j = 0; j < replay->job_count; j++)
        last = replay->jobs[j].to > last ? replay->jobs[j].to : last;
    for (uint32_t i = 0; i < replay->stage_count; i++)
        if (replay->stages[i].job == REPLAY_NOBODY && replay->stages[i].to > last)
            last = replay->stages[i].to;
    int64_t end = replay_us((int64_t)replay->window.length);
    replay->tail = end > last ? end - last : 0;
    return done;
}

/* ---- successors -------------------------------------------------------------------------------------------------- */

/* The lists above turned round: who waits for each. `needs` and `next` lie at these offsets of the items. */
static bool turn_round(struct pyro_replay *replay, void *items, size_t count, size_t size, size_t needs, size_t next)
{
#define LIST(i, offset) ((struct replay_list *)(void *)((char *)items + (i)*size + (offset)))
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        for (uint32_t n = 0; n < LIST(i, needs)->count; n++, total++)
            LIST(replay->lists.items[LIST(i, needs)->first + n], next)->count++;
    if (!pyro_vec_reserve(&replay->lists, total, replay->allocator))
        return false;
    uint32_t place = (uint32_t)replay->lists.count;
    for (size_t i = 0; i < count; i++) {
        LIST(i, next)->first = place;
        place += LIST(i, next)->count;
        LIST(i, next)->count = 0;
    }
    replay->lists.count = place;
    for (size_t i = 0; i < count; i++)
        for (uint32_t n = 0; n < LIST(i, needs)->count; n++) {
            struct replay_list *list = LIST(replay->lists.items[LIST(i, needs)->first + n], next);
            replay->lists.items[list->first + list->count++] = (uint32_t)i;
        }
#undef LIST
    return true;
}

bool pyro_replay_take_graph(struct pyro_replay *replay)
{
    const struct pyro_app *app = replay->app;
    struct pyro_index ids = {.allocator = replay->allocator};
    uint32_t *job_of_row = pyro_scratch(app, app->jobs.count, sizeof(*job_of_row));
    uint32_t *before = pyro_scratch(app, app->stages.count, sizeof(*before));
    replay->stages = pyro_scratch(app, app->stages.count, sizeof(*replay->stages));
    replay->stage_of_row = pyro_scratch(app, app->stages.count, sizeof(*replay->stage_of_row));
    replay->jobs = pyro_scratch(app, app->jobs.count, sizeof(*replay->jobs));
    bool done = job_of_row && before && replay->stages && replay->stage_of_row && replay->jobs;
    if (done) {
        memset(replay->stage_of_row, 0xff, app->stages.count * sizeof(*replay->stage_of_row));
        memset(job_of_row, 0xff, app->jobs.count * sizeof(*job_of_row));
        done = pyro_index_stages(&ids, app) && sort_stages(replay) && rank_stages(replay) &&
               sort_jobs(replay, &ids, job_of_row) && give_stages(replay, job_of_row, before) && connect_jobs(replay);
    }
    for (uint32_t i = 0; done && i < replay->stage_count; i++)
        done = find_needs(replay, &ids, i, before);
    done = done &&
           turn_round(replay, replay->stages, replay->stage_count, sizeof(struct replay_stage),
                      offsetof(struct replay_stage, needs), offsetof(struct replay_stage, next)) &&
           turn_round(replay, replay->jobs, replay->job_count, sizeof(struct replay_job),
                      offsetof(struct replay_job, needs), offsetof(struct replay_job, next));
    pyro_index_done(&ids);
    pyro_release(replay->allocator, job_of_row);
    pyro_release(replay->allocator, before);
    return done;
}
