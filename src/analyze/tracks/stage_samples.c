#include "analyze/tracks/stage_samples.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "analyze/tracks/frame_kinds.h"
#include "analyze/tracks/task_owners.h"
#include "base/collections/hash.h"
#include "base/collections/map.h"
#include "base/numbers/saturate.h"

/* What one task's samples on one thread say of preparing. */
struct task_part {
    int32_t thread;
    int64_t task, first_ns;
    size_t stage;
    int64_t weight, prepares;
};

struct gathering {
    const struct pyro_app *app;
    const struct pyro_tracks *tracks;
    const struct pyro_stack_facts *facts;
    struct pyro_arena *arena;
    const struct pyro_allocator *allocator;
    bool *all_states;         /* by process: threads that wait are sampled too */
    bool *waits;              /* by process: their waits are recorded instead */
    uint32_t *same;           /* by frame: the first one with this function and file */
    struct pyro_map stage_of; /* id, and id and attempt -> row + 1 */
    struct pyro_map place_of; /* hash of a method -> place + 1 */
    struct pyro_map part_of;  /* hash of thread and task -> place + 1 */
    PYRO_VEC(struct pyro_stage_method) methods;
    PYRO_VEC(struct task_part) parts;
    struct pyro_stage_samples *samples;
};

/* ---- Before the samples are read --------------------------------------------------------------------------------- */

static uint64_t stage_key(int64_t stage, int64_t attempt)
{
    return (uint64_t)stage << 16 ^ (uint64_t)(attempt + 1);
}

static bool index_stages(struct gathering *gathering)
{
    for (size_t i = 0; i < gathering->app->stages.count; i++) {
        const struct pyro_stage *stage = &gathering->app->stages.items[i];
        uint64_t *exact = pyro_map_put(&gathering->stage_of, stage_key(stage->id, stage->attempt), NULL);
        if (exact)
            *exact = i + 1;
        uint64_t *any = exact ? pyro_map_put(&gathering->stage_of, stage_key(stage->id, -1), NULL) : NULL;
        if (!any)
            return false;
        if (*any == 0)
            *any = i + 1;
    }
    return true;
}

/* Records without an attempt are of the first one. */
static size_t stage_row(const struct gathering *gathering, const struct pyro_owner_row *owner)
{
    int64_t attempt = owner->stage_attempt == PYRO_NONE ? -1 : owner->stage_attempt;
    const uint64_t *row = pyro_map_get(&gathering->stage_of, stage_key(owner->stage, attempt));
    return row ? (size_t)*row - 1 : SIZE_MAX;
}

/* Methods have a frame for each of their lines. */
static bool find_same(struct gathering *gathering)
{
    struct pyro_map first;
    size_t frames = pyro_tracks_count(gathering->tracks, PYRO_TRACK_FRAMES);
    bool done = true;
    gathering->same = pyro_arena_array(gathering->arena, frames + 1, sizeof(*gathering->same));
    if (!gathering->same)
        return false;
    pyro_map_init(&first, gathering->allocator);
    for (size_t i = 0; i < frames && done; i++) {
        const struct pyro_frame_row *frame = pyro_tracks_frame(gathering->tracks, i);
        uint64_t key = pyro_hash_mix((uint64_t)(uintptr_t)frame->function.ptr) ^ (uint64_t)(uintptr_t)frame->file.ptr;
        uint64_t *place = pyro_map_put(&first, key, NULL); /* texts are interned: their addresses name them */
        done = place != NULL;
        if (place && *place == 0)
            *place = i + 1;
        gathering->same[i] = place ? (uint32_t)(*place - 1) : 0;
    }
    pyro_map_done(&first);
    return done;
}

static bool find_processes(struct gathering *gathering)
{
    size_t threads = pyro_tracks_count(gathering->tracks, PYRO_TRACK_THREADS);
    gathering->all_states = pyro_arena_array(gathering->arena, threads + 1, sizeof(*gathering->all_states));
    gathering->waits = pyro_arena_array(gathering->arena, threads + 1, sizeof(*gathering->waits));
    if (!gathering->all_states || !gathering->waits)
        return false;
    for (size_t i = 0; i < pyro_tracks_count(gathering->tracks, PYRO_TRACK_SAMPLES); i++) {
        const struct pyro_sample_row sample = pyro_tracks_sample(gathering->tracks, i);
        if (sample.thread < 0)
            continue;
        int32_t process = pyro_thread_process(gathering->tracks, sample.thread);
        gathering->all_states[process] |= sample.event == PYRO_SAMPLE_WALL && sample.state != PYRO_STATE_NATIVE;
        gathering->waits[process] |= sample.event == PYRO_SAMPLE_WAIT || sample.event == PYRO_SAMPLE_CPU;
    }
    return true;
}

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

/* False: the sample is of no clock. */
static bool classify(const struct gathering *gathering, const struct pyro_sample_row *sample,
                     const struct pyro_stack_facts *facts, struct pyro_stage_method *ret)
{
    int32_t process = pyro_thread_process(gathering->tracks, sample->thread);
    bool waits = sample->state == PYRO_STATE_WAITING || sample->state == PYRO_STATE_BLOCKED;
    bool timed = sample->event == PYRO_SAMPLE_WAIT || sample->event == PYRO_SAMPLE_LOCK;
    if (sample->event == PYRO_SAMPLE_ALLOC || (facts->python ? timed : !facts->in_task))
        return false;
    ret->work = waits ? PYRO_WORK_WAITING : PYRO_WORK_RUNNING;
    if (sample->event == PYRO_SAMPLE_LOCK || sample->state == PYRO_STATE_BLOCKED ||
        (facts->locks && (waits || sample->event == PYRO_SAMPLE_WAIT)))
        ret->work = PYRO_WORK_LOCKED;
    if (facts->python) {
        ret->clock = PYRO_CLOCK_PYTHON;
        ret->work = facts->input ? PYRO_WORK_INPUT : facts->transfer ? PYRO_WORK_TRANSFER : ret->work;
    } else if (gathering->all_states[process]) {
        ret->clock = PYRO_CLOCK_WALL;
        return !timed;
    } else {
        ret->clock = timed ? PYRO_CLOCK_WAIT : PYRO_CLOCK_CPU;
        return timed || sample->event == PYRO_SAMPLE_CPU;
    }
    return true;
}

static int32_t first_of(const struct gathering *gathering, int32_t frame)
{
    return frame < 0 ? -1 : (int32_t)gathering->same[frame];
}

static bool count_method(struct gathering *gathering, const struct pyro_stage_method *method, int64_t weight,
                         uint64_t count)
{
    const uint64_t words[] = {method->stage, (uint64_t)method->clock << 8 | (uint64_t)method->work,
                              (uint64_t)(uint32_t)method->method << 32 | (uint32_t)method->callee,
                              (uint64_t)(uint32_t)method->prepares};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        hash = pyro_hash_mix(hash * 31 + words[i]);
    uint64_t *place = pyro_map_put(&gathering->place_of, hash, NULL);
    if (!place)
        return false;
    if (*place == 0) {
        struct pyro_stage_method *added = pyro_vec_push(&gathering->methods, gathering->allocator);
        if (!added)
            return false;
        *added = *method;
        *place = gathering->methods.count;
    }
    struct pyro_stage_method *known = &gathering->methods.items[*place - 1];
    known->weight = pyro_add_saturating(known->weight, weight);
    known->count += count;
    return true;
}

static bool count_part(struct gathering *gathering, const struct pyro_sample_row *sample, size_t stage, int64_t task,
                       bool prepares)
{
    uint64_t key = pyro_hash_mix((uint64_t)task * 31 + (uint64_t)(uint32_t)sample->thread);
    uint64_t *place = pyro_map_put(&gathering->part_of, key, NULL);
    if (!place)
        return false;
    if (*place == 0) {
        struct task_part *added = pyro_vec_push(&gathering->parts, gathering->allocator);
        if (!added)
            return false;
        *added = (struct task_part){sample->thread, task, sample->time_ns, stage, 0, 0};
        *place = gathering->parts.count;
    }
    struct task_part *part = &gathering->parts.items[*place - 1];
    part->weight = pyro_add_saturating(part->weight, sample->weight);
    part->prepares = pyro_add_saturating(part->prepares, prepares ? sample->weight : 0);
    return true;
}

static bool take_sample(struct gathering *gathering, const struct pyro_sample_row *sample)
{
    struct pyro_owner_row owner;
    struct pyro_stage_method method = {0};
    if (sample->thread < 0 || sample->stack < 0 || sample->time_ns == PYRO_NONE || sample->weight <= 0)
        return true;
    const struct pyro_stack_facts *facts = &gathering->facts[sample->stack];
    if (!classify(gathering, sample, facts, &method) ||
        !pyro_tracks_owner_at(gathering->tracks, sample->thread, sample->time_ns, &owner) || owner.stage == PYRO_NONE)
        return true;
    method.stage = stage_row(gathering, &owner);
    if (method.stage == SIZE_MAX)
        return true;
    struct pyro_stage_sampled *stage = &gathering->samples->stages[method.stage];
    bool timed = method.clock == PYRO_CLOCK_WAIT;
    uint64_t count = timed ? 1 : (uint64_t)sample->weight;
    method.method = first_of(gathering, facts->method);
    method.callee = first_of(gathering, facts->callee);
    method.prepares = first_of(gathering, facts->prepares);
    method.program = facts->program;
    method.expression = facts->expression;
    stage->weight[method.clock] = pyro_add_saturating(stage->weight[method.clock], sample->weight);
    stage->count[method.clock] += count;
    return count_method(gathering, &method, sample->weight, count) &&
           (timed || owner.task == PYRO_NONE ||
            count_part(gathering, sample, method.stage, owner.task, facts->prepares >= 0));
}

/* ---- What they add up to ----------------------------------------------------------------------------------------- */

static int compare_methods(const void *a, const void *b)
{
    const struct pyro_stage_method *x = a, *y = b;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    if (x->clock != y->clock)
        return x->clock < y->clock ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->method != y->method)
        return x->method < y->method ? -1 : 1;
    if (x->callee != y->callee)
        return x->callee < y->callee ? -1 : 1;
    if (x->prepares != y->prepares)
        return x->prepares < y->prepares ? -1 : 1;
    return (x->work > y->work) - (x->work < y->work);
}

static bool keep_methods(struct gathering *gathering)
{
    struct pyro_stage_samples *samples = gathering->samples;
    size_t count = gathering->methods.count;
    samples->methods = pyro_arena_array(gathering->arena, count + 1, sizeof(*samples->methods));
    if (!samples->methods)
        return false;
    samples->method_count = count;
    if (count > 0) {
        memcpy(samples->methods, gathering->methods.items, count * sizeof(*samples->methods));
        qsort(samples->methods, count, sizeof(*samples->methods), compare_methods);
    }
    for (size_t i = count; i-- > 0;) {
        struct pyro_stage_sampled *stage = &samples->stages[samples->methods[i].stage];
        stage->first_method = i;
        stage->method_count++;
    }
    return true;
}

/* By stage; the first task of a thread is not counted. */
static int compare_parts(const void *a, const void *b)
{
    const struct task_part *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->first_ns != y->first_ns)
        return x->first_ns < y->first_ns ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

struct part_share {
    size_t stage;
    double share;
};

static int compare_shares(const void *a, const void *b)
{
    const struct part_share *x = a, *y = b;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    return (x->share > y->share) - (x->share < y->share);
}

static bool find_preparing(struct gathering *gathering)
{
    size_t count = gathering->parts.count, kept = 0;
    struct part_share *shares = pyro_arena_array(gathering->arena, count + 1, sizeof(*shares));
    if (!shares)
        return false;
    if (count > 0)
        qsort(gathering->parts.items, count, sizeof(*gathering->parts.items), compare_parts);
    for (size_t i = 1; i < count; i++) {
        const struct task_part *part = &gathering->parts.items[i];
        if (part->thread == part[-1].thread)
            shares[kept++] = (struct part_share){part->stage, (double)part->prepares / (double)part->weight};
    }
    qsort(shares, kept, sizeof(*shares), compare_shares);
    for (size_t i = 0; i < gathering->app->stages.count; i++)
        gathering->samples->stages[i].prepare_share = (double)NAN;
    for (size_t i = 0, end; i < kept; i = end) {
        for (end = i; end < kept && shares[end].stage == shares[i].stage;)
            end++;
        gathering->samples->stages[shares[i].stage].prepare_share = shares[i + (end - i) / 2].share;
        gathering->samples->stages[shares[i].stage].prepare_tasks = end - i;
    }
    return true;
}

/* Whether waits of the executor's threads are known. */
static bool is_profiled(const struct gathering *gathering, struct pyro_slice executor)
{
    for (size_t i = 0; i < pyro_tracks_count(gathering->tracks, PYRO_TRACK_THREADS); i++) {
        if (!gathering->waits[i] || gathering->all_states[i])
            continue;
        struct pyro_slice id = pyro_tracks_thread(gathering->tracks, i)->executor;
        if (id.ptr ? pyro_slice_eq(id, executor) : gathering->app->executors.count == 1)
            return true;
    }
    return false;
}

static bool add_profiled(struct gathering *gathering)
{
    const struct pyro_app *app = gathering->app;
    bool *profiled = pyro_arena_array(gathering->arena, app->executors.count + 1, sizeof(*profiled));
    if (!profiled)
        return false;
    for (size_t i = 0; i < app->executors.count; i++)
        profiled[i] = is_profiled(gathering, app->executors.items[i].id);
    for (size_t i = 0; i < app->tasks.count; i++) {
        int64_t stage = pyro_task_get(&app->tasks, PYRO_TASK_stage_row, i);
        int64_t executor = pyro_task_get(&app->tasks, PYRO_TASK_executor_row, i);
        if (stage >= 0 && (size_t)stage < app->stages.count && executor >= 0 &&
            (size_t)executor < app->executors.count && profiled[executor])
            gathering->samples->stages[stage].profiled_ms += pyro_span(
                pyro_task_get(&app->tasks, PYRO_TASK_launch_ms, i), pyro_task_get(&app->tasks, PYRO_TASK_finish_ms, i));
    }
    return true;
}

static bool gather(struct gathering *gathering)
{
    size_t count = pyro_tracks_count(gathering->tracks, PYRO_TRACK_SAMPLES);
    bool done = index_stages(gathering) && find_same(gathering) && find_processes(gathering);
    for (size_t i = 0; i < count && done; i++) {
        const struct pyro_sample_row sample = pyro_tracks_sample(gathering->tracks, i);
        done = take_sample(gathering, &sample);
    }
    return done && keep_methods(gathering) && find_preparing(gathering) && add_profiled(gathering);
}

const struct pyro_stage_samples *pyro_stage_samples_new(const struct pyro_app *app, struct pyro_arena *arena)
{
    struct gathering gathering = {
        .app = app, .tracks = app->tracks, .arena = arena, .allocator = arena->allocator, .samples = NULL};
    gathering.samples = pyro_arena_alloc(arena, sizeof(*gathering.samples));
    if (!gathering.samples || !app->tracks || pyro_tracks_count(app->tracks, PYRO_TRACK_OWNERS) == 0 ||
        pyro_tracks_count(app->tracks, PYRO_TRACK_SAMPLES) == 0 || app->stages.count == 0)
        return gathering.samples;
    gathering.samples->stages = pyro_arena_array(arena, app->stages.count, sizeof(*gathering.samples->stages));
    gathering.facts = pyro_stack_facts_of(app->tracks, arena);
    pyro_map_init(&gathering.stage_of, arena->allocator);
    pyro_map_init(&gathering.place_of, arena->allocator);
    pyro_map_init(&gathering.part_of, arena->allocator);
    bool done = gathering.samples->stages && gathering.facts && gather(&gathering);
    pyro_map_done(&gathering.stage_of);
    pyro_map_done(&gathering.place_of);
    pyro_map_done(&gathering.part_of);
    pyro_vec_done(&gathering.methods, arena->allocator);
    pyro_vec_done(&gathering.parts, arena->allocator);
    return done ? gathering.samples : NULL;
}
