/* Samples of tracks that a filter takes, as calls of a flame graph. */
#include <stdio.h>

#include "base/memory/allocator.h"
#include "base/numbers/saturate.h"
#include "model/column.h"
#include "report/flame/flame.h"

/* Where the stacks of some threads begin: with --combined below an executor, otherwise at the root. */
struct base {
    uint32_t node;
    int64_t *weights; /* by stack + 1 */
};

/* What the samples of one file are, which has a clock of its own. */
struct file {
    bool all_threads; /* its profiler recorded every thread, so that all of its samples belong together */
    bool has_cpu, has_running;
};

struct gathering {
    struct pyro_flame *flame;
    const struct pyro_tracks *tracks;
    const struct pyro_flame_filter *filter;
    struct file *files; /* by clock + 1 */
    unsigned side;
    const struct pyro_thread_row *only; /* only_place(), with --combined */
    PYRO_VEC(struct base) bases;
    struct pyro_map base_of; /* node -> base + 1 */
    uint32_t *nodes;         /* by stack: node below the base that is being written + 1 */
    size_t stack_count;
};

/* ---- Which samples ----------------------------------------------------------------------------------------------- */

static bool is_waiting(enum pyro_thread_state state)
{
    return state == PYRO_STATE_WAITING || state == PYRO_STATE_BLOCKED;
}

static bool is_running(const struct file *file, const struct pyro_sample_row *row)
{
    if (file->has_cpu)
        return row->event == PYRO_SAMPLE_CPU && !is_waiting(row->state);
    return row->event == PYRO_SAMPLE_WALL && row->state == PYRO_STATE_RUNNING;
}

/* Where wall-clock samples include the threads that ran, samples of CPU time are another profile of the same time. */
static bool is_wall(const struct file *file, const struct pyro_sample_row *row)
{
    return row->event == PYRO_SAMPLE_WALL || (row->event == PYRO_SAMPLE_CPU && !file->has_running);
}

static struct file *file_of(const struct gathering *gathering, int32_t thread)
{
    return &gathering->files[pyro_tracks_thread(gathering->tracks, (size_t)thread)->clock + 1];
}

static bool is_of_event(const struct gathering *gathering, const struct pyro_sample_row *row)
{
    const struct file *file = file_of(gathering, row->thread);
    switch (gathering->filter->event) {
    case PYRO_FLAME_CPU:
        return is_running(file, row);
    case PYRO_FLAME_WALL:
        return is_wall(file, row);
    case PYRO_FLAME_ALLOC:
        return row->event == PYRO_SAMPLE_ALLOC;
    case PYRO_FLAME_LOCK:
        return row->event == PYRO_SAMPLE_LOCK;
    case PYRO_FLAME_WAIT:
        return row->event == PYRO_SAMPLE_WAIT;
    case PYRO_FLAME_LIVE:
        return row->event == PYRO_SAMPLE_LIVE;
    case PYRO_FLAME_MALLOC:
        return row->event == PYRO_SAMPLE_MALLOC;
    default:
        return file->all_threads || !file->has_cpu ? is_wall(file, row) : is_running(file, row);
    }
}

/* False: no memory. */
static bool look_at_events(struct gathering *gathering)
{
    size_t clocks = pyro_tracks_count(gathering->tracks, PYRO_TRACK_CLOCKS);
    size_t count = pyro_tracks_count(gathering->tracks, PYRO_TRACK_SAMPLES);
    gathering->files = pyro_allocate(gathering->flame->allocator, (clocks + 1) * sizeof(*gathering->files));
    if (!gathering->files)
        return false;
    gathering->files[0] = (struct file){.all_threads = true};
    for (size_t i = 0; i < clocks; i++)
        gathering->files[i + 1] =
            (struct file){.all_threads = !pyro_slice_is(pyro_tracks_clock(gathering->tracks, i)->source, "jfr")};
    for (size_t i = 0; i < count; i++) {
        struct pyro_sample_row row = pyro_tracks_sample(gathering->tracks, i);
        struct file *file = row.thread < 0 ? &gathering->files[0] : file_of(gathering, row.thread);
        file->has_cpu |= row.event == PYRO_SAMPLE_CPU;
        file->has_running |= row.event == PYRO_SAMPLE_WALL && row.state == PYRO_STATE_RUNNING;
    }
    return true;
}

bool pyro_flame_is_owned(const struct pyro_tracks *tracks, const struct pyro_flame_filter *filter,
                         const struct pyro_sample_row *row, struct pyro_flame_count *count)
{
    struct pyro_owner_row owner;
    if (!filter->by_task && !filter->by_stage)
        return true;
    count->asked = pyro_add_saturating(count->asked, row->weight);
    bool known = row->time_ns != PYRO_NONE && pyro_tracks_owner_at(tracks, row->thread, row->time_ns, &owner) &&
                 (!filter->by_task || (owner.task != PYRO_NONE && owner.confidence >= 1)) &&
                 (!filter->by_stage || owner.stage != PYRO_NONE);
    if (!known) {
        count->unowned = pyro_add_saturating(count->unowned, row->weight);
        return false;
    }
    return (!filter->by_task || owner.task == filter->task) && (!filter->by_stage || owner.stage == filter->stage);
}

static bool is_in_time(const struct gathering *gathering, const struct pyro_sample_row *row,
                       struct pyro_flame_count *count)
{
    const struct pyro_flame_filter *filter = gathering->filter;
    if (filter->from_ns == PYRO_NONE && filter->to_ns == PYRO_NONE)
        return true;
    if (row->time_ns == PYRO_NONE) {
        count->untimed = pyro_add_saturating(count->untimed, row->weight);
        return false;
    }
    return (filter->from_ns == PYRO_NONE || row->time_ns >= filter->from_ns) &&
           (filter->to_ns == PYRO_NONE || row->time_ns < filter->to_ns);
}

static bool is_taken(const struct gathering *gathering, const struct pyro_sample_row *row,
                     struct pyro_flame_count *count)
{
    if (!is_of_event(gathering, row) ||
        (gathering->filter->by_process &&
         pyro_tracks_thread(gathering->tracks, (size_t)row->thread)->pid != gathering->filter->process))
        return false;
    return is_in_time(gathering, row, count) && pyro_flame_is_owned(gathering->tracks, gathering->filter, row, count);
}

/* ---- Bases ------------------------------------------------------------------------------------------------------- */

static uint32_t named_child(struct pyro_flame *flame, uint32_t parent, struct pyro_slice name)
{
    const struct pyro_frame_row row = {.function = name, .line = PYRO_NONE};
    uint32_t frame = pyro_flame_add_frame(flame, &row);
    return frame ? pyro_flame_child(flame, parent, frame) : UINT32_MAX;
}

/* The one process that says where it ran, if all that say it ran there: records of Python workers do not. NULL: there
 * are none or several. */
static const struct pyro_thread_row *only_place(const struct pyro_tracks *tracks)
{
    const struct pyro_thread_row *only = NULL;
    for (size_t i = 0; i < pyro_tracks_count(tracks, PYRO_TRACK_THREADS); i++) {
        const struct pyro_thread_row *row = pyro_tracks_thread(tracks, i);
        if (row->parent >= 0 || (!row->executor.ptr && !row->host.ptr))
            continue;
        if (only && !pyro_slice_eq(only->executor.ptr ? only->executor : only->host,
                                   row->executor.ptr ? row->executor : row->host))
            return NULL;
        only = row;
    }
    return only;
}

/* "executor 3" or the host, and below it "JVM" or "Python". */
static uint32_t combined_node(struct gathering *gathering, int32_t thread)
{
    const struct pyro_thread_row *row = pyro_tracks_thread(gathering->tracks, (size_t)thread);
    char name[128];
    if (row->parent >= 0)
        row = pyro_tracks_thread(gathering->tracks, (size_t)row->parent);
    struct pyro_slice role = row->role;
    if (!row->executor.ptr && !row->host.ptr && gathering->only)
        row = gathering->only;
    struct pyro_slice of = row->executor.ptr ? row->executor : row->host;
    bool plain = !row->executor.ptr || pyro_slice_is(row->executor, "driver");
    snprintf(name, sizeof(name), "%s%.*s", plain ? "" : "executor ", of.ptr ? (int)(of.len < 100 ? of.len : 100) : 3,
             of.ptr ? of.ptr : "all");
    uint32_t node = named_child(gathering->flame, 0, pyro_slice_from(name));
    return node == UINT32_MAX ? node
                              : named_child(gathering->flame, node,
                                            pyro_slice_is(role, "python-worker") ? PYRO_SLICE_LITERAL("Python")
                                                                                 : PYRO_SLICE_LITERAL("JVM"));
}

static struct base *base_of(struct gathering *gathering, int32_t thread)
{
    uint32_t node = gathering->filter->combined ? combined_node(gathering, thread) : 0;
    uint64_t *place = node == UINT32_MAX ? NULL : pyro_map_put(&gathering->base_of, node, NULL);
    if (!place)
        return NULL;
    if (*place)
        return &gathering->bases.items[*place - 1];
    struct base *base = pyro_vec_push(&gathering->bases, gathering->flame->allocator);
    size_t bytes = (gathering->stack_count + 1) * sizeof(*base->weights);
    if (!base)
        return NULL;
    base->node = node;
    base->weights = pyro_allocate(gathering->flame->allocator, bytes);
    if (!base->weights)
        return NULL;
    memset(base->weights, 0, bytes);
    *place = gathering->bases.count;
    return base;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* The node of a stack below the base; 0 without memory, or when the flame is full. Walks up to callers that have their
 * node already, and down again. */
static uint32_t node_of(struct gathering *gathering, const struct base *base, int32_t stack)
{
    int32_t chain[PYRO_PROFILE_DEPTH + 1];
    size_t depth = 0;
    uint32_t node = base->node;
    for (int32_t at = stack; at >= 0 && depth < sizeof(chain) / sizeof(*chain);) {
        if (gathering->nodes[at]) {
            node = gathering->nodes[at] - 1;
            break;
        }
        chain[depth++] = at;
        at = pyro_tracks_stack(gathering->tracks, (size_t)at).parent;
    }
    while (depth-- > 0) {
        int32_t frame = pyro_tracks_stack(gathering->tracks, (size_t)chain[depth]).frame;
        uint32_t number = pyro_flame_add_frame(gathering->flame, pyro_tracks_frame(gathering->tracks, (size_t)frame));
        node = number ? pyro_flame_child(gathering->flame, node, number) : UINT32_MAX;
        if (node == UINT32_MAX)
            return UINT32_MAX;
        gathering->nodes[chain[depth]] = node + 1;
    }
    return node;
}

static bool write_stack(struct gathering *gathering, const struct base *base, int32_t stack)
{
    int64_t *weight = &base->weights[stack + 1];
    if (*weight <= 0)
        return true;
    uint32_t node = node_of(gathering, base, stack);
    if (node == UINT32_MAX)
        return gathering->flame->full;
    bool done = pyro_flame_weigh(gathering->flame, node, gathering->side, *weight);
    *weight = 0;
    return done;
}

/* Stacks in their order; then those that it does not have. */
static bool write_stacks(struct gathering *gathering, const struct pyro_profile_order *order)
{
    const struct pyro_allocator *allocator = gathering->flame->allocator;
    bool done = true;
    gathering->nodes = pyro_allocate(allocator, (gathering->stack_count + 1) * sizeof(*gathering->nodes));
    for (size_t b = 0; b < gathering->bases.count && gathering->nodes && done; b++) {
        const struct base *base = &gathering->bases.items[b];
        memset(gathering->nodes, 0, (gathering->stack_count + 1) * sizeof(*gathering->nodes));
        for (size_t i = 0; order && i < order->stacks.count && done; i++)
            done = write_stack(gathering, base, order->stacks.items[i]);
        for (size_t i = 0; i <= gathering->stack_count && done; i++)
            done = write_stack(gathering, base, (int32_t)i - 1);
    }
    done = done && gathering->nodes;
    pyro_release(allocator, gathering->nodes);
    return done;
}

static bool add_weights(struct gathering *gathering, struct pyro_flame_count *count)
{
    size_t rows = pyro_tracks_count(gathering->tracks, PYRO_TRACK_SAMPLES);
    for (size_t i = 0; i < rows; i++) {
        struct pyro_sample_row row = pyro_tracks_sample(gathering->tracks, i);
        if (row.thread < 0 || row.weight <= 0 || !is_taken(gathering, &row, count))
            continue;
        struct base *base = base_of(gathering, row.thread);
        if (!base)
            return false;
        base->weights[row.stack + 1] = pyro_add_saturating(base->weights[row.stack + 1], row.weight);
        count->taken = pyro_add_saturating(count->taken, row.weight);
    }
    count->samples += (int64_t)rows;
    return true;
}

bool pyro_flame_gather(struct pyro_flame *flame, const struct pyro_tracks *tracks,
                       const struct pyro_profile_order *order, const struct pyro_flame_filter *filter, unsigned side,
                       struct pyro_flame_count *count)
{
    struct gathering gathering = {.flame = flame,
                                  .tracks = tracks,
                                  .filter = filter,
                                  .side = side,
                                  .stack_count = pyro_tracks_count(tracks, PYRO_TRACK_STACKS),
                                  .only = filter->combined ? only_place(tracks) : NULL};
    pyro_map_init(&gathering.base_of, flame->allocator);
    bool done = look_at_events(&gathering) && add_weights(&gathering, count) && write_stacks(&gathering, order);
    for (size_t i = 0; i < gathering.bases.count; i++)
        pyro_release(flame->allocator, gathering.bases.items[i].weights);
    pyro_vec_done(&gathering.bases, flame->allocator);
    pyro_release(flame->allocator, gathering.files);
    pyro_map_done(&gathering.base_of);
    return done;
}
