/* What the nodes of a cluster cost while several of its applications came and went. docs/cost.md */
#include <math.h>
#include <stdlib.h>

#include "advice/cost/costs.h"
#include "analyze/accounts/fixed_point.h"

struct stay {
    const struct pyro_cost_entry *entry;
    struct pyro_slice cluster, host;
    int64_t from_ms, to_ms;
    double hour; /* millionths; NaN: unknown */
};

static int by_host(const void *a, const void *b)
{
    const struct stay *x = a, *y = b;
    int order = pyro_slice_compare(x->cluster, y->cluster);
    order = order ? order : pyro_slice_compare(x->host, y->host);
    if (order)
        return order;
    if (x->from_ms != y->from_ms)
        return x->from_ms < y->from_ms ? -1 : 1;
    if (x->to_ms != y->to_ms)
        return x->to_ms < y->to_ms ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static int by_cluster(const void *a, const void *b)
{
    const struct pyro_cost_entry *const *x = a, *const *y = b;
    int order = pyro_slice_compare((*x)->cost->place.cluster.text, (*y)->cost->place.cluster.text);
    return order ? order : *x < *y ? -1 : *x > *y;
}

static int64_t between(int64_t from, int64_t to)
{
    return to > from ? pyro_saturate((__int128)to - from) : 0;
}

static int64_t price_of(int64_t ms, double hour)
{
    double micros = (double)ms / 3600000 * hour;
    return micros >= 0 && micros < 9e18 ? (int64_t)(micros + 0.5) : 0;
}

/* One host, whose stays are in order. */
static void add_host(struct pyro_cluster *cluster, const struct stay *stays, size_t count)
{
    int64_t from = stays[0].from_ms, until = stays[0].to_ms, used = 0, start = from;
    for (size_t i = 0; i < count; i++) {
        if (stays[i].from_ms > until) {
            used = pyro_add_saturating(used, between(start, until));
            start = stays[i].from_ms;
        }
        until = stays[i].to_ms > until ? stays[i].to_ms : until;
        cluster->claimed_ms = pyro_add_saturating(cluster->claimed_ms, between(stays[i].from_ms, stays[i].to_ms));
    }
    used = pyro_add_saturating(used, between(start, until));
    int64_t all = between(from, until);
    cluster->nodes++;
    cluster->node_ms = pyro_add_saturating(cluster->node_ms, all);
    cluster->idle_ms = pyro_add_saturating(cluster->idle_ms, all - used);
    cluster->known = cluster->known && !isnan(stays[0].hour);
    cluster->micros = pyro_add_saturating(cluster->micros, price_of(all, stays[0].hour));
    cluster->idle_micros = pyro_add_saturating(cluster->idle_micros, price_of(all - used, stays[0].hour));
    cluster->from_ms = cluster->nodes == 1 || from < cluster->from_ms ? from : cluster->from_ms;
    cluster->to_ms = cluster->nodes == 1 || until > cluster->to_ms ? until : cluster->to_ms;
}

static void add_application(struct pyro_cluster *cluster, const struct pyro_cost *cost)
{
    if (cluster->applications++ == 0)
        *cluster = (struct pyro_cluster){.name = cost->place.cluster.text,
                                         .confidence = cost->place.cluster.confidence,
                                         .reason = cost->place.cluster.reason,
                                         .applications = 1,
                                         .currency = cost->money.currency,
                                         .known = true};
    bool same = cost->money.currency.ptr && pyro_slice_eq(cluster->currency, cost->money.currency);
    cluster->known = cluster->known && same && cost->money.known;
    cluster->applications_micros = pyro_add_saturating(cluster->applications_micros, cost->money.micros);
}

struct pyro_cluster *pyro_costs_clusters(const struct pyro_costs *costs, struct pyro_arena *arena, size_t *ret_count)
{
    size_t nodes = 0, count = 0, clusters = 0, stay_count = 0;
    for (size_t i = 0; i < costs->entries.count; i++)
        nodes += costs->entries.items[i].cost->node_count;
    const struct pyro_cost_entry **entries = pyro_arena_array(arena, costs->entries.count + 1, sizeof(*entries));
    struct pyro_cluster *all = pyro_arena_array(arena, costs->entries.count + 1, sizeof(*all));
    struct stay *stays = pyro_arena_array(arena, nodes + 1, sizeof(*stays));
    if (!entries || !all || !stays)
        return NULL;
    for (size_t i = 0; i < costs->entries.count; i++)
        if (costs->entries.items[i].cost->place.cluster.text.len)
            entries[count++] = &costs->entries.items[i];
    if (count > 1)
        qsort(entries, count, sizeof(*entries), by_cluster);
    for (size_t i = 0, next; i < count; i = next) {
        struct pyro_slice name = entries[i]->cost->place.cluster.text;
        size_t first = stay_count;
        struct pyro_cluster *cluster = &all[clusters];
        for (next = i; next < count && pyro_slice_eq(entries[next]->cost->place.cluster.text, name); next++) {
            const struct pyro_cost *cost = entries[next]->cost;
            add_application(cluster, cost);
            for (size_t k = 0; k < cost->node_count; k++)
                stays[stay_count++] =
                    (struct stay){entries[next],
                                  name,
                                  cost->nodes[k].host,
                                  cost->nodes[k].from_ms,
                                  cost->nodes[k].to_ms,
                                  cost->nodes[k].driver ? entries[next]->driver_hour : entries[next]->node_hour};
        }
        if (stay_count - first > 1)
            qsort(&stays[first], stay_count - first, sizeof(*stays), by_host);
        for (size_t k = first, last; k < stay_count; k = last) {
            for (last = k; last < stay_count && pyro_slice_eq(stays[last].host, stays[k].host);)
                last++;
            add_host(cluster, &stays[k], last - k);
        }
        /* A cluster of one application is that application's bill. */
        if (cluster->applications > 1 && cluster->nodes > 0)
            clusters++;
        else
            *cluster = (struct pyro_cluster){0};
    }
    *ret_count = clusters;
    return all;
}
