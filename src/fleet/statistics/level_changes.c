/* When the level of a series changed lastingly: binary segmentation. */
#include <math.h>
#include <stdlib.h>

#include "fleet/statistics/statistics.h"

/* Values [from, to), and their best split. */
struct segment {
    size_t from, to, split;
    double p; /* times the number of splits; above 1: there is none */
    double z;
    double begun_p; /* of the split at which it begins */
};

struct member {
    double value;
    size_t place;
};

static int by_value(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

/* Mid-ranks of the segment's values. Gives the sum of t^3 - t over ties. */
static double rank(const double *values, size_t count, struct member *members, double *ranks)
{
    double ties = 0;
    for (size_t i = 0; i < count; i++)
        members[i] = (struct member){values[i], i};
    qsort(members, count, sizeof(*members), by_value);
    for (size_t from = 0, end; from < count; from = end) {
        for (end = from; end < count && members[end].value <= members[from].value; end++)
            ;
        double same = (double)(end - from);
        ties += same * same * same - same;
        for (size_t i = from; i < end; i++)
            ranks[members[i].place] = (double)from + (same + 1) / 2;
    }
    return ties;
}

struct series {
    const double *values;
    struct member *members;
    double *ranks;
    struct pyro_arena split; /* memory while one split is looked for */
};

/* Finds the best split of a segment. False: no memory. */
static bool find_split(struct series *series, struct segment *segment)
{
    size_t count = segment->to - segment->from;
    segment->p = INFINITY;
    segment->z = 0;
    if (count < 2 * PYRO_CHANGE_SIDE)
        return true;
    pyro_arena_reset(&series->split);
    const double *values = series->values + segment->from;
    double n = (double)count, ties = rank(values, count, series->members, series->ranks), sum = 0;
    for (size_t i = 0; i + PYRO_CHANGE_SIDE < count; i++) {
        sum += series->ranks[i];
        double before = (double)i + 1, variance = before * (n - before) / 12 * (n + 1 - ties / (n * (n - 1)));
        double off = fmax(fabs(sum - before * (n + 1) / 2) - 0.5, 0);
        double z = variance > 0 ? off / sqrt(variance) : 0;
        if (i + 1 >= PYRO_CHANGE_SIDE && z > segment->z) {
            segment->z = z;
            segment->split = segment->from + i + 1;
        }
    }
    if (segment->z <= 0)
        return true;
    size_t before = segment->split - segment->from;
    double low = 0, high = 0;
    struct pyro_rank_test test;
    if (!pyro_rank_test(values, before, values + before, count - before, &series->split, &test) ||
        !pyro_middle(values, before, &series->split, &low) ||
        !pyro_middle(values + before, count - before, &series->split, &high))
        return false;
    if (fabs(high - low) >= PYRO_CHANGE_SHIFT)
        segment->p = test.p * (n - 2 * PYRO_CHANGE_SIDE + 1);
    return true;
}

static int by_place(const void *left, const void *right)
{
    const struct segment *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

/* Splits segments until none has a significant split; gives their number, or 0: no memory. */
static size_t split_all(struct series *series, size_t count, struct segment *segments)
{
    size_t found = 1;
    segments[0] = (struct segment){.to = count};
    if (!find_split(series, &segments[0]))
        return 0;
    while (found <= PYRO_CHANGES_MAX) {
        struct segment *best = NULL;
        for (size_t i = 0; i < found; i++)
            if (segments[i].p <= PYRO_CHANGE_P && (!best || segments[i].z > best->z))
                best = &segments[i];
        if (!best)
            break;
        struct segment *next = &segments[found];
        *next = (struct segment){.from = best->split, .to = best->to, .begun_p = best->p};
        found++;
        best->to = best->split;
        if (!find_split(series, best) || !find_split(series, next))
            return 0;
    }
    return found;
}

bool pyro_change_points(const double *values, size_t count, struct pyro_arena *scratch, struct pyro_change_point *ret,
                        size_t *ret_count)
{
    struct segment segments[PYRO_CHANGES_MAX + 1];
    struct series series = {.values = values,
                            .members = pyro_arena_array(scratch, count + 1, sizeof(struct member)),
                            .ranks = pyro_arena_array(scratch, count + 1, sizeof(double))};
    if (!series.members || !series.ranks)
        return false;
    pyro_arena_init(&series.split, scratch->allocator);
    size_t found = split_all(&series, count, segments);
    bool done = found > 0;
    qsort(segments, found, sizeof(*segments), by_place);
    double level = 0, before = 0;
    for (size_t i = 0; done && i < found; i++) {
        const struct segment *at = &segments[i];
        done = pyro_middle(values + at->from, at->to - at->from, &series.split, &level);
        if (i > 0)
            ret[i - 1] = (struct pyro_change_point){at->from, before, level, at->begun_p};
        before = level;
    }
    pyro_arena_done(&series.split);
    if (done)
        *ret_count = found - 1;
    return done;
}
