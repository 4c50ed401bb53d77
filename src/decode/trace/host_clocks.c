#include "decode/trace/host_clocks.h"

#include <math.h>
#include <stdlib.h>

#include "base/numbers/saturate.h"

/* Crystals of computers are within this of each other. */
#define DRIFT_MAX 5e-4

enum { STEPS = 200 };

bool pyro_host_clocks_note(struct pyro_host_clocks *clocks, const struct pyro_segment *segment)
{
    if (clocks->segments.count >= PYRO_SEGMENTS_MAX)
        return true;
    struct pyro_segment *added = pyro_vec_push(&clocks->segments, clocks->allocator);
    if (added)
        *added = *segment;
    return added != NULL;
}

void pyro_host_clocks_done(struct pyro_host_clocks *clocks)
{
    pyro_vec_done(&clocks->segments, clocks->allocator);
}

/* ---- Bounds ------------------------------------------------------------------------------------------------------ */

/* reference - host, at a time of the host: at most `ns` or at least. Both count from the first segment. */
struct bound {
    double at, ns;
    bool upper;
};

struct bounds {
    struct bound *items;
    size_t count;
    int64_t origin_ns, difference_ns; /* what times and differences are counted from */
};

static int compare_segments(const void *a, const void *b)
{
    const struct pyro_segment *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->sent != y->sent)
        return x->sent ? -1 : 1;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* The only segment of a host and direction among those with one key: what was sent twice says nothing. */
static const struct pyro_segment *only(const struct pyro_segment *items, size_t count, int32_t host, bool sent)
{
    const struct pyro_segment *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (items[i].host != host || items[i].sent != sent)
            continue;
        if (found)
            return NULL;
        found = &items[i];
    }
    return found;
}

static void add_bound(struct bounds *bounds, const struct pyro_segment *of_host,
                      const struct pyro_segment *of_reference, bool upper)
{
    int64_t difference = pyro_sub_saturating(of_reference->time_ns, of_host->time_ns);
    if (bounds->count == 0) {
        bounds->origin_ns = of_host->time_ns;
        bounds->difference_ns = difference;
    }
    bounds->items[bounds->count++] = (struct bound){
        .at = (double)pyro_sub_saturating(of_host->time_ns, bounds->origin_ns),
        .ns = (double)pyro_sub_saturating(difference, bounds->difference_ns),
        .upper = upper,
    };
}

static void find_bounds(const struct pyro_host_clocks *clocks, int32_t reference, int32_t host, struct bounds *bounds)
{
    for (size_t first = 0, end; first < clocks->segments.count; first = end) {
        const struct pyro_segment *items = clocks->segments.items + first;
        for (end = first + 1; end < clocks->segments.count && clocks->segments.items[end].key == items->key;)
            end++;
        const struct pyro_segment *sent = only(items, end - first, host, true);
        const struct pyro_segment *got = only(items, end - first, reference, false);
        if (sent && got)
            add_bound(bounds, sent, got, true);
        sent = only(items, end - first, reference, true);
        got = only(items, end - first, host, false);
        if (sent && got)
            add_bound(bounds, got, sent, false);
    }
}

/* ---- The line between them --------------------------------------------------------------------------------------- */

struct line {
    double margin, middle; /* half of the room between the bounds; where the line is at 0 */
    bool both;             /* there are bounds of both sides */
};

static struct line line_of(const struct bounds *bounds, double drift)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < bounds->count; i++) {
        double ns = bounds->items[i].ns - drift * bounds->items[i].at;
        if (bounds->items[i].upper)
            least = fmin(least, ns);
        else
            most = fmax(most, ns);
    }
    return (struct line){(least - most) / 2, (least + most) / 2, isfinite(least) && isfinite(most)};
}

/* The margin has one maximum over the drift. */
static double best_drift(const struct bounds *bounds)
{
    double low = -DRIFT_MAX, high = DRIFT_MAX;
    for (int i = 0; i < STEPS; i++) {
        double third = (high - low) / 3;
        if (line_of(bounds, low + third).margin < line_of(bounds, high - third).margin)
            low += third;
        else
            high -= third;
    }
    return (low + high) / 2;
}

/* Of a trace that lies about its times, differences may be beyond 64 bits. */
static int64_t whole(double ns)
{
    return (int64_t)fmax(fmin(ns, 9e18), -9e18);
}

struct pyro_host_offset pyro_host_clocks_fit(struct pyro_host_clocks *clocks, int32_t reference, int32_t host)
{
    struct pyro_host_offset ret = {0};
    struct bounds bounds = {
        .items = pyro_allocate(clocks->allocator, (2 * clocks->segments.count + 1) * sizeof(*bounds.items))};
    if (!bounds.items)
        return ret;
    if (clocks->segments.count > 0)
        qsort(clocks->segments.items, clocks->segments.count, sizeof(*clocks->segments.items), compare_segments);
    find_bounds(clocks, reference, host, &bounds);
    double drift = bounds.count > 2 ? best_drift(&bounds) : 0, span = 0;
    const struct line line = line_of(&bounds, drift);
    for (size_t i = 0; i < bounds.count; i++)
        span = fabs(bounds.items[i].at) > fabs(span) ? bounds.items[i].at : span;
    if (bounds.count > 0 && line.both && line.margin >= 0) {
        ret.offset_ns = pyro_add_saturating(bounds.difference_ns, whole(line.middle + drift * span / 2));
        ret.drift_ppb = whole(drift * 1e9);
        ret.error_ns = whole(line.margin + fabs(drift * span) / 2);
        ret.matches = (int64_t)bounds.count;
    }
    pyro_release(clocks->allocator, bounds.items);
    return ret;
}
