/* Methods by the weight of their samples, and allocations by class. */
#include <stdlib.h>

#include "base/collections/hash.h"
#include "base/numbers/saturate.h"
#include "model/column.h"
#include "report/profiling/profiling.h"

/* Frames of one function in one file are one method, whatever their lines. */
struct methods {
    uint32_t *of_frame;
    struct pyro_profiling_method *items;
    size_t count;
    uint32_t *seen_in; /* by method: the last stack that counted, + 1 */
};

/* What the samples of one event weigh, by stack. */
struct weights {
    int64_t *all, *waiting;
    size_t count;
};

static bool is_same(struct pyro_slice a, struct pyro_slice b)
{
    return a.ptr == b.ptr || (a.ptr && b.ptr && pyro_slice_eq(a, b));
}

static uint64_t key_of(const struct pyro_frame_row *frame)
{
    uint64_t file = frame->file.ptr ? pyro_hash_slice(frame->file) : 0;
    return pyro_hash_slice(frame->function) * 31 + file;
}

static bool find_all(const struct pyro_tracks *tracks, struct pyro_arena *arena, struct pyro_map *known,
                     struct methods *methods)
{
    size_t frames = pyro_tracks_count(tracks, PYRO_TRACK_FRAMES);
    methods->of_frame = pyro_arena_array(arena, frames + 1, sizeof(*methods->of_frame));
    methods->items = pyro_arena_array(arena, frames + 1, sizeof(*methods->items));
    methods->seen_in = pyro_arena_array(arena, frames + 1, sizeof(*methods->seen_in));
    if (!methods->of_frame || !methods->items || !methods->seen_in)
        return false;
    for (size_t i = 0; i < frames; i++) {
        const struct pyro_frame_row *frame = pyro_tracks_frame(tracks, i);
        uint64_t *place = pyro_map_put(known, key_of(frame), NULL);
        if (!place)
            return false;
        const struct pyro_profiling_method *method = *place ? &methods->items[*place - 1] : NULL;
        if (!method || !is_same(method->function, frame->function) || !is_same(method->file, frame->file)) {
            methods->items[methods->count++] = (struct pyro_profiling_method){
                .function = frame->function, .file = frame->file, .language = frame->language};
            *place = methods->count;
        }
        methods->of_frame[i] = (uint32_t)(*place - 1);
    }
    return true;
}

static bool is_waiting(enum pyro_thread_state state)
{
    return state == PYRO_STATE_WAITING || state == PYRO_STATE_BLOCKED;
}

static void weigh_stacks(struct pyro_profiling *profile, enum pyro_sample_event event, struct weights *weights)
{
    struct pyro_profiling_samples *samples = &profile->samples[event];
    struct pyro_flame_count count = {0};
    memset(weights->all, 0, weights->count * sizeof(*weights->all));
    memset(weights->waiting, 0, weights->count * sizeof(*weights->waiting));
    for (size_t i = 0; i < pyro_tracks_count(profile->tracks, PYRO_TRACK_SAMPLES); i++) {
        const struct pyro_sample_row sample = pyro_tracks_sample(profile->tracks, i);
        int32_t process = sample.event == event ? pyro_profiling_process_of(profile, sample.thread) : -1;
        if (process < 0 || !pyro_flame_is_owned(profile->tracks, &profile->choice.samples, &sample, &count))
            continue;
        samples->count++;
        samples->weight = pyro_add_saturating(samples->weight, sample.weight);
        if (event == PYRO_SAMPLE_CPU || event == PYRO_SAMPLE_WALL)
            profile->processes[process].samples =
                (uint64_t)pyro_add_saturating((int64_t)profile->processes[process].samples, sample.weight);
        if (sample.stack < 0 || (size_t)sample.stack >= weights->count)
            continue;
        int64_t *all = &weights->all[sample.stack], *waiting = &weights->waiting[sample.stack];
        *all = pyro_add_saturating(*all, sample.weight);
        if (is_waiting(sample.state))
            *waiting = pyro_add_saturating(*waiting, sample.weight);
    }
    samples->left_out = count.unowned;
}

static void weigh_methods(const struct pyro_tracks *tracks, const struct weights *weights, struct methods *methods)
{
    for (size_t i = 0; i < weights->count; i++) {
        bool innermost = true;
        if (weights->all[i] == 0)
            continue;
        for (int32_t at = (int32_t)i; at >= 0; innermost = false) {
            const struct pyro_stack_row stack = pyro_tracks_stack(tracks, (size_t)at);
            uint32_t number = methods->of_frame[stack.frame];
            struct pyro_profiling_method *method = &methods->items[number];
            if (innermost) {
                method->self = pyro_add_saturating(method->self, weights->all[i]);
                method->waiting = pyro_add_saturating(method->waiting, weights->waiting[i]);
            }
            if (methods->seen_in[number] != i + 1) /* once a stack, also where it calls itself */
                method->total = pyro_add_saturating(method->total, weights->all[i]);
            methods->seen_in[number] = (uint32_t)(i + 1);
            at = stack.parent < at ? stack.parent : -1;
        }
    }
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static int compare_methods(const void *a, const void *b)
{
    const struct pyro_profiling_method *x = a, *y = b;
    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    int order = pyro_slice_compare(x->function, y->function);
    return order ? order : pyro_slice_compare(x->file, y->file);
}

static bool rank_methods(struct pyro_profiling *profile, enum pyro_sample_event event, const struct weights *weights,
                         const struct methods *methods, struct pyro_arena *arena)
{
    struct pyro_profiling_samples *samples = &profile->samples[event];
    struct methods own = *methods;
    size_t kept = 0;
    own.items = pyro_arena_array(arena, methods->count + 1, sizeof(*own.items));
    if (!own.items)
        return false;
    if (methods->count > 0)
        memcpy(own.items, methods->items, methods->count * sizeof(*own.items));
    memset(own.seen_in, 0, methods->count * sizeof(*own.seen_in));
    weigh_methods(profile->tracks, weights, &own);
    for (size_t i = 0; i < own.count; i++)
        if (own.items[i].total > 0)
            own.items[kept++] = own.items[i];
    if (kept > 0)
        qsort(own.items, kept, sizeof(*own.items), compare_methods);
    samples->methods = own.items;
    samples->method_count = kept < PYRO_PROFILING_METHODS ? kept : PYRO_PROFILING_METHODS;
    return true;
}

static int compare_allocations(const void *a, const void *b)
{
    const struct pyro_profiling_allocation *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    int order = pyro_slice_compare(x->class_name, y->class_name);
    if (order == 0)
        order = pyro_slice_compare(x->function, y->function);
    return order ? order : pyro_slice_compare(x->file, y->file);
}

/* The innermost frame of an allocation is the class, the next one is the method that allocates. */
static bool add_allocation(struct pyro_profiling *profile, size_t stack_number, int64_t bytes,
                           const struct methods *methods, struct pyro_map *known)
{
    const struct pyro_stack_row stack = pyro_tracks_stack(profile->tracks, stack_number);
    const struct pyro_profiling_method *made = &methods->items[methods->of_frame[stack.frame]], *by = NULL;
    uint64_t key = (uint64_t)methods->of_frame[stack.frame] << 32;
    if (stack.parent >= 0) {
        const struct pyro_stack_row caller = pyro_tracks_stack(profile->tracks, (size_t)stack.parent);
        by = &methods->items[methods->of_frame[caller.frame]];
        key |= methods->of_frame[caller.frame] + 1;
    }
    uint64_t *place = pyro_map_put(known, key, NULL);
    if (!place)
        return false;
    if (!*place) {
        struct pyro_profiling_allocation *row = &profile->allocations[profile->allocation_count++];
        *row = (struct pyro_profiling_allocation){.class_name = made->function};
        if (by) {
            row->function = by->function;
            row->file = by->file;
            row->language = by->language;
        }
        *place = profile->allocation_count;
    }
    struct pyro_profiling_allocation *row = &profile->allocations[*place - 1];
    row->bytes = pyro_add_saturating(row->bytes, bytes);
    return true;
}

static bool rank_allocations(struct pyro_profiling *profile, const struct weights *weights,
                             const struct methods *methods, struct pyro_arena *arena)
{
    struct pyro_map known;
    size_t stacks = 0;
    bool done = true;
    for (size_t i = 0; i < weights->count; i++)
        stacks += weights->all[i] > 0;
    profile->allocations = pyro_arena_array(arena, stacks + 1, sizeof(*profile->allocations));
    if (!profile->allocations)
        return false;
    pyro_map_init(&known, arena->allocator);
    for (size_t i = 0; done && i < weights->count; i++)
        done = weights->all[i] <= 0 || add_allocation(profile, i, weights->all[i], methods, &known);
    pyro_map_done(&known);
    if (profile->allocation_count > 0)
        qsort(profile->allocations, profile->allocation_count, sizeof(*profile->allocations), compare_allocations);
    if (profile->allocation_count > PYRO_PROFILING_METHODS)
        profile->allocation_count = PYRO_PROFILING_METHODS;
    return done;
}

static bool rank_all(struct pyro_profiling *profile, struct methods *methods, struct pyro_arena *arena)
{
    struct weights weights = {.count = pyro_tracks_count(profile->tracks, PYRO_TRACK_STACKS)};
    weights.all = pyro_arena_array(arena, weights.count + 1, sizeof(*weights.all));
    weights.waiting = pyro_arena_array(arena, weights.count + 1, sizeof(*weights.waiting));
    if (!weights.all || !weights.waiting)
        return false;
    for (int i = 0; i < PYRO_SAMPLE_EVENTS; i++) {
        enum pyro_sample_event event = (enum pyro_sample_event)i;
        weigh_stacks(profile, event, &weights);
        if (profile->samples[i].count == 0 || (pyro_sample_event_is_bytes(event) && event != PYRO_SAMPLE_ALLOC))
            continue;
        if (event == PYRO_SAMPLE_ALLOC ? !rank_allocations(profile, &weights, methods, arena)
                                       : !rank_methods(profile, event, &weights, methods, arena))
            return false;
    }
    return true;
}

bool pyro_profiling_find_methods(struct pyro_profiling *profile, struct pyro_arena *arena)
{
    struct pyro_map known;
    struct methods methods = {0};
    pyro_map_init(&known, arena->allocator);
    bool done = find_all(profile->tracks, arena, &known, &methods) && rank_all(profile, &methods, arena);
    pyro_map_done(&known);
    return done;
}
