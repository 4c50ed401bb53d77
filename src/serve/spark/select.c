#include "serve/spark/select.h"

#include <string.h>

#include "base/memory/allocator.h"
#include "serve/spark/sort.h"

/* Up to FEW values are sorted. More are counted in bins, ranges of values of equal width, which tell the bins that the
 * ranks fall into; only values of those are looked at again. */
enum { FEW = 24, MOST_BITS = 16 };

struct group { /* a bin that ranks fall into */
    size_t bin, count;
    size_t below;      /* values in the bins before it */
    size_t first, end; /* of `kept` */
};

static bool reserve(struct spark_select_room *room, size_t count)
{
    enum { BINS = 1 << MOST_BITS };
    if (!room->counts)
        room->counts = pyro_allocate(NULL, BINS * sizeof(*room->counts));
    if (!room->groups) {
        room->groups = pyro_allocate(NULL, BINS * sizeof(*room->groups));
        if (room->groups)
            memset(room->groups, 0, BINS * sizeof(*room->groups));
    }
    if (!room->counts || !room->groups || count > SIZE_MAX / sizeof(*room->kept))
        return false;
    if (count <= room->capacity)
        return true;
    pyro_release(NULL, room->kept);
    room->kept = pyro_allocate(NULL, count * sizeof(*room->kept));
    room->capacity = room->kept ? count : 0;
    return room->kept != NULL;
}

void pyro_spark_select_done(struct spark_select_room *room)
{
    pyro_release(NULL, room->kept);
    pyro_release(NULL, room->counts);
    pyro_release(NULL, room->groups);
    *room = (struct spark_select_room){0};
}

/* About as many bins as values: of more, clearing and adding up would take longer than looking again. */
static unsigned bin_bits(size_t count)
{
    return count < 512 ? 6 : count < 4096 ? 9 : count < 32768 ? 12 : MOST_BITS;
}

static size_t bin_of(int64_t value, int64_t least, unsigned shift)
{
    return (size_t)(((uint64_t)value - (uint64_t)least) >> shift);
}

/* The bins that the ranks fall into, each once; group_of[i] is that of ranks[i]. */
static size_t find_groups(const uint32_t *counts, const size_t *ranks, size_t rank_count, struct group *groups,
                          uint8_t *group_of)
{
    size_t found = 0, bin = 0, below = 0, kept = 0;
    for (size_t i = 0; i < rank_count; i++) {
        while (below + counts[bin] <= ranks[i])
            below += counts[bin++];
        if (found == 0 || groups[found - 1].bin != bin) {
            groups[found++] = (struct group){bin, counts[bin], below, kept, kept};
            kept += counts[bin];
        }
        group_of[i] = (uint8_t)(found - 1);
    }
    return found;
}

static void keep(struct spark_select_room *room, const int64_t *values, size_t count, int64_t least, unsigned shift,
                 struct group *groups, size_t group_count)
{
    for (size_t g = 0; g < group_count; g++)
        room->groups[groups[g].bin] = (uint8_t)(g + 1);
    for (size_t i = 0; i < count; i++) {
        uint8_t group = room->groups[bin_of(values[i], least, shift)];
        if (group)
            room->kept[groups[group - 1].end++] = values[i];
    }
    for (size_t g = 0; g < group_count; g++)
        room->groups[groups[g].bin] = 0;
}

static bool select_by_bins(struct spark_select_room *room, const int64_t *values, size_t count, int64_t least,
                           int64_t most, const size_t *ranks, size_t rank_count, int64_t *picked)
{
    struct group groups[SPARK_SELECT_RANKS];
    uint8_t group_of[SPARK_SELECT_RANKS];
    uint64_t range = (uint64_t)most - (uint64_t)least;
    unsigned bits = 64 - (unsigned)__builtin_clzll(range), wanted = bin_bits(count);
    unsigned shift = bits > wanted ? bits - wanted : 0;
    if (!reserve(room, count))
        return false;
    memset(room->counts, 0, (bin_of(most, least, shift) + 1) * sizeof(*room->counts));
    for (size_t i = 0; i < count; i++)
        room->counts[bin_of(values[i], least, shift)]++;
    size_t found = find_groups(room->counts, ranks, rank_count, groups, group_of);
    if (shift > 0)
        keep(room, values, count, least, shift, groups, found);
    for (size_t g = 0; g < found && shift > 0; g++)
        if (!pyro_spark_sort(room->kept + groups[g].first, NULL, groups[g].count))
            return false;
    for (size_t i = 0; i < rank_count; i++) {
        const struct group *group = &groups[group_of[i]];
        picked[i] =
            shift > 0 ? room->kept[group->first + (ranks[i] - group->below)] : (int64_t)((uint64_t)least + group->bin);
    }
    return true;
}

bool pyro_spark_select(struct spark_select_room *room, int64_t *values, size_t count, const size_t *ranks,
                       size_t rank_count, int64_t *picked)
{
    if (count > FEW) {
        int64_t least = values[0], most = values[0];
        for (size_t i = 1; i < count; i++) {
            least = values[i] < least ? values[i] : least;
            most = values[i] > most ? values[i] : most;
        }
        if (least != most)
            return select_by_bins(room, values, count, least, most, ranks, rank_count, picked);
    } else if (!pyro_spark_sort(values, NULL, count)) {
        return false;
    }
    for (size_t i = 0; i < rank_count; i++)
        picked[i] = values[ranks[i]];
    return true;
}
