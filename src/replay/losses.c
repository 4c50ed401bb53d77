/* Executors that go without warning: their running tasks are run again, and so are the tasks whose shuffle output went
 * with them, where some stage still reads it.
 *
 * As Spark's DAGScheduler and TaskSetManager do it. While a map stage runs, partitions that are lost go back to it.
 * Once it is done, a stage that reads it and runs fails to fetch: all its running tasks count as lost (some would have
 * fetched all they need: that is not in the log), it waits until the map stage has computed what is missing, which may
 * itself have to wait for what it reads, and then runs the rest. A stage that begins later finds out before its first
 * task. Lost blocks of caches are not modeled. */
#include "replay/losses.h"

/* DAGScheduler.RESUBMIT_TIMEOUT: the time after a failed fetch until stages are submitted again. */
#define RESUBMIT_US INT64_C(200000)
/* Stages before a reader that are looked at for what it may have read. */
enum { LOOKED_AT = 256 };

static bool has_list(const struct pyro_replay *replay, struct replay_list list, uint32_t item)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (replay->losing->lists.items[list.first + i] == item)
            return true;
    return false;
}

static bool add_writer(struct pyro_replay *replay, uint32_t stage, uint32_t writer)
{
    struct replay_losing *losing = replay->losing;
    if (has_list(replay, losing->stages[stage].writers, writer))
        return true;
    uint32_t *place = pyro_vec_push(&losing->lists, replay->allocator);
    if (!place)
        return false;
    *place = writer;
    losing->stages[stage].writers.count++;
    losing->stages[writer].readers.count++;
    losing->stages[writer].claimed = true;
    return true;
}

/* Adaptive execution runs map stages as jobs of their own, and their readers name them by ids that are never submitted:
 * a reader without a parent in the log reads what stages of its query wrote before it and no stage has read yet;
 * outside of queries what was written last. */
static bool guess_writers(struct pyro_replay *replay, uint32_t number)
{
    const struct pyro_app *app = replay->app;
    const struct pyro_stage *row = &app->stages.items[replay->stages[number].row];
    for (uint32_t i = number; i-- > 0 && number - i <= LOOKED_AT;) {
        const struct replay_stage *other = &replay->stages[i];
        if (!other->writes_shuffle || other->to > replay->stages[number].from ||
            app->stages.items[other->row].sql != row->sql ||
            (row->sql != PYRO_NONE && replay->losing->stages[i].claimed))
            continue;
        if (!add_writer(replay, number, i))
            return false;
        if (row->sql == PYRO_NONE)
            break;
    }
    return true;
}

static bool find_writers(struct pyro_replay *replay)
{
    struct replay_losing *losing = replay->losing;
    for (uint32_t i = 0; i < replay->stage_count; i++) {
        const struct replay_stage *stage = &replay->stages[i];
        losing->stages[i].writers = (struct replay_list){(uint32_t)losing->lists.count, 0};
        for (uint32_t k = 0; k < stage->needs.count; k++) {
            uint32_t need = replay->lists.items[stage->needs.first + k];
            if (replay->stages[need].writes_shuffle && !add_writer(replay, i, need))
                return false;
        }
        bool reads = replay->app->stages.items[stage->row].shuffle_read_bytes > 0 ||
                     replay->app->stages.items[stage->row].shuffle_read_records > 0;
        if (reads && losing->stages[i].writers.count == 0 && !guess_writers(replay, i))
            return false;
    }
    return true;
}

static bool turn_lists(struct pyro_replay *replay)
{
    struct replay_losing *losing = replay->losing;
    size_t at = losing->lists.count;
    if (!pyro_vec_reserve(&losing->lists, at, replay->allocator))
        return false;
    for (uint32_t i = 0; i < replay->stage_count; i++) {
        losing->stages[i].readers.first = (uint32_t)at;
        at += losing->stages[i].readers.count;
        losing->stages[i].readers.count = 0;
    }
    losing->lists.count = at;
    for (uint32_t i = 0; i < replay->stage_count; i++)
        for (uint32_t k = 0; k < losing->stages[i].writers.count; k++) {
            struct replay_list *readers =
                &losing->stages[losing->lists.items[losing->stages[i].writers.first + k]].readers;
            losing->lists.items[readers->first + readers->count++] = i;
        }
    return true;
}

bool pyro_replay_losses_new(struct pyro_replay *replay)
{
    const struct pyro_app *app = replay->app;
    struct replay_losing *losing = replay->losing = pyro_scratch(app, 1, sizeof(*losing));
    if (!losing)
        return false;
    losing->tasks = pyro_scratch(app, replay->run_count, sizeof(*losing->tasks));
    losing->stages = pyro_scratch(app, replay->stage_count, sizeof(*losing->stages));
    losing->first = pyro_scratch(app, replay->executor_count, sizeof(*losing->first));
    return losing->tasks && losing->stages && losing->first && find_writers(replay) && turn_lists(replay);
}

void pyro_replay_losses_free(struct pyro_replay *replay)
{
    struct replay_losing *losing = replay->losing;
    if (!losing)
        return;
    pyro_vec_done(&losing->lists, replay->allocator);
    pyro_release(replay->allocator, losing->tasks);
    pyro_release(replay->allocator, losing->stages);
    pyro_release(replay->allocator, losing->first);
    pyro_release(replay->allocator, losing);
    replay->losing = NULL;
}

void pyro_replay_losses_begin(struct pyro_replay *replay)
{
    struct replay_losing *losing = replay->losing;
    losing->again_count = losing->missing_stages = 0;
    losing->damage = (struct pyro_replay_damage){0};
    memset(losing->first, 0xff, replay->executor_count * sizeof(*losing->first));
    for (uint32_t i = 0; i < replay->run_count; i++)
        losing->tasks[i] = (struct replay_losing_task){REPLAY_NOBODY, REPLAY_NOBODY, REPLAY_NOBODY, 0};
    for (uint32_t i = 0; i < replay->stage_count; i++) {
        struct replay_losing_stage *stage = &losing->stages[i];
        stage->missing = stage->failures = 0;
        stage->again = stage->waits = stage->short_of = false;
    }
}

/* ---- what may run ------------------------------------------------------------------------------------------------ */

static bool is_held(const struct pyro_replay *replay, uint32_t number)
{
    const struct replay_losing *losing = replay->losing;
    struct replay_list writers = losing->stages[number].writers;
    if (losing->stages[number].waits)
        return true;
    for (uint32_t i = 0; i < writers.count; i++)
        if (losing->stages[losing->lists.items[writers.first + i]].again)
            return true;
    return false;
}

bool pyro_replay_may_run(const struct pyro_replay *replay, uint32_t number)
{
    const struct replay_losing *losing = replay->losing;
    if (replay->stage_states[number].done && !losing->stages[number].again)
        return false;
    return losing->again_count == 0 || !is_held(replay, number);
}

void pyro_replay_computed(struct pyro_replay *replay, uint32_t head, uint32_t run, uint32_t executor)
{
    struct replay_losing *losing = replay->losing;
    if (replay->run_done[head] & REPLAY_DONE)
        return;
    losing->tasks[head].where = executor;
    losing->tasks[head].by = run;
    losing->tasks[head].next = losing->first[executor];
    losing->first[executor] = head;
}

/* ---- running tasks that are lost --------------------------------------------------------------------------------- */

static void requeue(struct pyro_replay *replay, uint32_t stage, uint32_t run)
{
    if (run != REPLAY_NOBODY && !(replay->run_done[replay_head(replay, run)] & REPLAY_DONE))
        pyro_replay_queue_run(replay, stage, run);
}

static void drop(struct pyro_replay *replay, struct replay_running *running, bool gone)
{
    struct replay_losing *losing = replay->losing;
    running->lost = true; /* its end is passed over when it comes */
    replay->busy -= running->end > replay->now ? running->end - replay->now : 0;
    replay->allocating.running--;
    replay->stage_states[running->stage].running--;
    replay->pool_running[replay->stages[running->stage].pool]--;
    replay_give(replay, running->stage, running->executor);
    if (!gone)
        pyro_replay_offer(replay, running->executor);
    struct replay_losing_task *task = &losing->tasks[replay_head(replay, running->run)];
    task->failures += gone && task->failures < UINT32_MAX;
    losing->damage.tasks++;
    if (task->failures > losing->damage.most_task_failures)
        losing->damage.most_task_failures = task->failures;
    requeue(replay, running->stage, running->run);
}

/* All running tasks of an executor, or of a stage. Tasks that an edit cut out of a stage end as if nothing had
 * happened: it is not known which one to run again. */
static uint32_t drop_all(struct pyro_replay *replay, uint32_t executor, uint32_t stage)
{
    uint32_t count = 0;
    for (size_t i = 0; i < replay->running.count; i++) {
        struct replay_running *running = &replay->running.items[i];
        if (!running->active || running->lost || running->run == REPLAY_NOBODY ||
            (executor != REPLAY_NOBODY && running->executor != executor) ||
            (stage != REPLAY_NOBODY && running->stage != stage))
            continue;
        drop(replay, running, executor != REPLAY_NOBODY);
        count++;
    }
    return count;
}

/* ---- output that is lost ----------------------------------------------------------------------------------------- */

/* Runs what is missing of a stage that was done. */
static void run_again(struct pyro_replay *replay, uint32_t number)
{
    struct replay_losing *losing = replay->losing;
    struct replay_losing_stage *stage = &losing->stages[number];
    struct replay_list runs = replay->stages[number].runs;
    stage->again = stage->waits = true;
    losing->again_count++;
    losing->missing_stages--;
    losing->damage.stages++;
    replay->stage_states[number].parts_left = stage->missing;
    for (uint32_t i = runs.first; i < runs.first + runs.count; i++)
        if (replay->runs[i].flags & REPLAY_RUN_HEAD && losing->tasks[i].by != REPLAY_NOBODY)
            requeue(replay, number, losing->tasks[i].by);
    pyro_replay_push(replay, replay_later(replay->now, RESUBMIT_US + replay->stage_start), REPLAY_STAGE_AGAIN, number);
    for (uint32_t i = 0; i < stage->readers.count; i++) {
        uint32_t reader = losing->lists.items[stage->readers.first + i];
        if (drop_all(replay, REPLAY_NOBODY, reader) == 0)
            continue;
        uint32_t failures = ++losing->stages[reader].failures;
        if (failures > losing->damage.most_stage_failures)
            losing->damage.most_stage_failures = failures;
    }
}

static bool is_read(const struct pyro_replay *replay, uint32_t number)
{
    const struct replay_losing *losing = replay->losing;
    struct replay_list readers = losing->stages[number].readers;
    for (uint32_t i = 0; i < readers.count; i++) {
        uint32_t reader = losing->lists.items[readers.first + i];
        const struct replay_stage_state *state = &replay->stage_states[reader];
        if ((state->started && !state->done) || losing->stages[reader].again)
            return true;
    }
    return false;
}

/* Stages are in the order of their submission: those that read come after those that write. */
void pyro_replay_losses_settle(struct pyro_replay *replay)
{
    const struct replay_losing *losing = replay->losing;
    for (uint32_t i = replay->stage_count; i-- > 0 && losing->missing_stages > 0;)
        if (losing->stages[i].missing > 0 && !losing->stages[i].again && replay->stage_states[i].done &&
            is_read(replay, i))
            run_again(replay, i);
}

static void lose_partition(struct pyro_replay *replay, uint32_t head)
{
    struct replay_losing *losing = replay->losing;
    uint32_t number = replay->stage_of_row[replay_row_of(replay, head)];
    struct replay_stage_state *state = &replay->stage_states[number];
    struct replay_losing_stage *stage = &losing->stages[number];
    if (!replay->stages[number].writes_shuffle || replay_is_cut(replay, number))
        return;
    replay->run_done[head] &= (unsigned char)~REPLAY_DONE;
    losing->damage.partitions++;
    stage->missing++;
    if (state->done && !stage->again) {
        losing->missing_stages += stage->missing == 1;
        return;
    }
    if (!stage->again) {
        stage->missing--;
        stage->short_of |= state->parts_left == 0; /* it was about to end */
    }
    state->parts_left++;
    requeue(replay, number, losing->tasks[head].by);
}

/* A barrier stage fails as a whole when one of its tasks is lost. */
static void drop_barriers(struct pyro_replay *replay, uint32_t executor)
{
    struct replay_losing *losing = replay->losing;
    for (size_t i = 0; i < replay->running.count; i++) {
        const struct replay_running *running = &replay->running.items[i];
        if (!running->active || running->lost || running->run == REPLAY_NOBODY || running->executor != executor ||
            !replay->stages[running->stage].barrier)
            continue;
        uint32_t stage = running->stage, failures = ++losing->stages[stage].failures;
        drop_all(replay, REPLAY_NOBODY, stage);
        if (failures > losing->damage.most_stage_failures)
            losing->damage.most_stage_failures = failures;
    }
}

void pyro_replay_lost(struct pyro_replay *replay, uint32_t executor)
{
    struct replay_losing *losing = replay->losing;
    losing->damage.executors += replay->jobs_left > 0;
    drop_barriers(replay, executor);
    drop_all(replay, executor, REPLAY_NOBODY);
    uint32_t head = losing->first[executor];
    losing->first[executor] = REPLAY_NOBODY;
    if (replay->executors[executor].keeps_output || replay->jobs_left == 0)
        return;
    while (head != REPLAY_NOBODY) {
        uint32_t next = losing->tasks[head].next;
        lose_partition(replay, head);
        head = next;
    }
    pyro_replay_losses_settle(replay);
}

void pyro_replay_again(struct pyro_replay *replay, uint32_t number)
{
    replay->losing->stages[number].waits = false;
    pyro_replay_queue_stage(replay, number);
}

void pyro_replay_again_done(struct pyro_replay *replay, uint32_t number)
{
    struct replay_losing *losing = replay->losing;
    struct replay_losing_stage *stage = &losing->stages[number];
    stage->again = stage->waits = false;
    stage->missing = 0;
    losing->again_count--;
    for (uint32_t i = 0; i < stage->readers.count; i++)
        pyro_replay_queue_stage(replay, losing->lists.items[stage->readers.first + i]);
}
