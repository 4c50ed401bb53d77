/* What the samples of each stage spend in serializers. */
#include <stdlib.h>

#include "base/collections/vec.h"
#include "base/numbers/saturate.h"
#include "model/column.h"
#include "report/profiling/profiling.h"

enum { ATTEMPT_BITS = 20, EVENT_BITS = 4, STAGES_MAX = INT32_MAX };

struct finding {
    struct pyro_profiling *profile;
    const struct pyro_allocator *allocator;
    unsigned char *serializers; /* by stack: enum pyro_serializer */
    struct pyro_map place_of;   /* stage, attempt and event -> place in rows + 1 */
    PYRO_VEC(struct pyro_profiling_serialization) rows;
};

/* Spark calls the serializers of others: theirs is the closer word. What one of these calls is its own work. */
static bool find_stacks(struct finding *finding, struct pyro_arena *arena)
{
    const struct pyro_tracks *tracks = finding->profile->tracks;
    size_t stacks = pyro_tracks_count(tracks, PYRO_TRACK_STACKS), frames = pyro_tracks_count(tracks, PYRO_TRACK_FRAMES);
    unsigned char *of_frame = pyro_arena_array(arena, frames + 1, sizeof(*of_frame));
    finding->serializers = pyro_arena_array(arena, stacks + 1, sizeof(*finding->serializers));
    if (!of_frame || !finding->serializers)
        return false;
    for (size_t i = 0; i < frames; i++)
        of_frame[i] = (unsigned char)pyro_frame_serializer(pyro_tracks_frame(tracks, i));
    for (size_t i = 0; i < stacks; i++) { /* callers come first */
        const struct pyro_stack_row stack = pyro_tracks_stack(tracks, i);
        unsigned char of_callers = stack.parent >= 0 ? finding->serializers[stack.parent] : PYRO_SERIALIZER_NONE;
        bool is_open = of_callers == PYRO_SERIALIZER_NONE || of_callers == PYRO_SERIALIZER_SPARK;
        finding->serializers[i] =
            is_open && of_frame[stack.frame] != PYRO_SERIALIZER_NONE ? of_frame[stack.frame] : of_callers;
    }
    return true;
}

/* NULL: no memory. */
static struct pyro_profiling_serialization *row_of(struct finding *finding, const struct pyro_sample_row *sample)
{
    struct pyro_owner_row owner = {.stage = PYRO_NONE};
    if (sample->time_ns == PYRO_NONE ||
        !pyro_tracks_owner_at(finding->profile->tracks, sample->thread, sample->time_ns, &owner) || owner.stage < 0 ||
        owner.stage > STAGES_MAX)
        owner.stage = PYRO_NONE;
    bool has_attempt =
        owner.stage != PYRO_NONE && owner.stage_attempt >= 0 && owner.stage_attempt < (1 << ATTEMPT_BITS) - 1;
    uint64_t key = owner.stage == PYRO_NONE ? 0 : (uint64_t)owner.stage + 1;
    key = key << ATTEMPT_BITS | (has_attempt ? (uint64_t)owner.stage_attempt + 1 : 0);
    uint64_t *place = pyro_map_put(&finding->place_of, key << EVENT_BITS | (unsigned)sample->event, NULL);
    if (!place)
        return NULL;
    if (*place == 0) {
        struct pyro_profiling_serialization *row = pyro_vec_push(&finding->rows, finding->allocator);
        if (!row)
            return NULL;
        *row = (struct pyro_profiling_serialization){
            .stage = owner.stage, .attempt = has_attempt ? owner.stage_attempt : PYRO_NONE, .event = sample->event};
        *place = finding->rows.count;
    }
    return &finding->rows.items[*place - 1];
}

static bool add_samples(struct finding *finding)
{
    const struct pyro_profiling *profile = finding->profile;
    struct pyro_flame_count count = {0};
    for (size_t i = 0; i < pyro_tracks_count(profile->tracks, PYRO_TRACK_SAMPLES); i++) {
        const struct pyro_sample_row sample = pyro_tracks_sample(profile->tracks, i);
        if (pyro_profiling_process_of(profile, sample.thread) < 0 ||
            !pyro_flame_is_owned(profile->tracks, &profile->choice.samples, &sample, &count))
            continue;
        struct pyro_profiling_serialization *row = row_of(finding, &sample);
        if (!row)
            return false;
        unsigned serializer = sample.stack >= 0 ? finding->serializers[sample.stack] : PYRO_SERIALIZER_NONE;
        row->weight = pyro_add_saturating(row->weight, sample.weight);
        if (serializer == PYRO_SERIALIZER_NONE)
            continue;
        row->serializers[serializer] = pyro_add_saturating(row->serializers[serializer], sample.weight);
        row->sum = pyro_add_saturating(row->sum, sample.weight);
    }
    return true;
}

/* By event, then by weight. */
static int compare_rows(const void *a, const void *b)
{
    const struct pyro_profiling_serialization *x = a, *y = b;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    if (x->sum != y->sum)
        return x->sum > y->sum ? -1 : 1;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    return (x->attempt > y->attempt) - (x->attempt < y->attempt);
}

static bool keep_rows(struct finding *finding, struct pyro_arena *arena)
{
    struct pyro_profiling *profile = finding->profile;
    profile->serialization = pyro_arena_array(arena, finding->rows.count + 1, sizeof(*profile->serialization));
    if (!profile->serialization)
        return false;
    for (size_t i = 0; i < finding->rows.count; i++)
        if (finding->rows.items[i].sum > 0)
            profile->serialization[profile->serialization_count++] = finding->rows.items[i];
    if (profile->serialization_count > 0)
        qsort(profile->serialization, profile->serialization_count, sizeof(*profile->serialization), compare_rows);
    if (profile->serialization_count > PYRO_PROFILING_METHODS)
        profile->serialization_count = PYRO_PROFILING_METHODS;
    return true;
}

bool pyro_profiling_find_serialization(struct pyro_profiling *profile, struct pyro_arena *arena)
{
    struct finding finding = {.profile = profile, .allocator = arena->allocator};
    pyro_map_init(&finding.place_of, arena->allocator);
    bool done = find_stacks(&finding, arena) && add_samples(&finding) && keep_rows(&finding, arena);
    pyro_map_done(&finding.place_of);
    pyro_vec_done(&finding.rows, arena->allocator);
    return done;
}
