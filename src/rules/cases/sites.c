#include "rules/cases/sites.h"

#include <stdlib.h>

#include "analyze/app_facts.h"
#include "rules/cases/cases.h"

struct pyro_spot *pyro_spots_add(struct pyro_rule_context *context, struct pyro_spots *spots, size_t stage_row)
{
    struct pyro_spot *spot = pyro_vec_push(&spots->list, context->arena->allocator);
    if (!spot) {
        context->failed = true;
        return NULL;
    }
    spot->stage = stage_row;
    return spot;
}

static int compare(const void *left, const void *right)
{
    const struct pyro_spot *a = left, *b = right;
    int order = pyro_slice_compare(a->site, b->site);
    if (order)
        return order;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->weight > b->weight || a->weight < b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->stage < b->stage ? -1 : a->stage > b->stage;
}

void pyro_spots_group(struct pyro_rule_context *context, struct pyro_spots *spots)
{
    for (size_t i = 0; i < spots->list.count && !context->failed; i++)
        spots->list.items[i].site = pyro_stage_site(context, spots->list.items[i].stage);
    if (context->failed)
        spots->list.count = 0;
    if (spots->list.count > 1)
        qsort(spots->list.items, spots->list.count, sizeof(*spots->list.items), compare);
}

size_t pyro_spots_end(const struct pyro_spots *spots, size_t first)
{
    size_t end = first + 1;
    const struct pyro_spot *items = spots->list.items;
    while (end < spots->list.count && items[end].kind == items[first].kind &&
           pyro_slice_eq(items[end].site, items[first].site))
        end++;
    return end;
}

double pyro_spots_weight(const struct pyro_spots *spots, size_t first, size_t end)
{
    double sum = 0;
    for (size_t i = first; i < end; i++)
        sum += spots->list.items[i].weight;
    return sum;
}

double pyro_spots_sum(const struct pyro_spots *spots, size_t first, size_t end, size_t value)
{
    double sum = 0;
    for (size_t i = first; i < end; i++)
        sum += spots->list.items[i].value[value];
    return sum;
}

bool pyro_spots_report(struct pyro_rule_context *context, struct pyro_spots *spots, double share,
                       void (*report)(struct pyro_rule_context *context, const struct pyro_spots *spots, size_t first,
                                      size_t end))
{
    double least = share * pyro_app_judged_wall(context->app);
    bool any = false;
    pyro_spots_group(context, spots);
    for (size_t i = 0, end; i < spots->list.count && !context->failed; i = end) {
        end = pyro_spots_end(spots, i);
        if (pyro_spots_weight(spots, i, end) < least)
            continue;
        report(context, spots, i, end);
        any = true;
    }
    pyro_spots_done(context, spots);
    return any;
}

void pyro_spots_done(struct pyro_rule_context *context, struct pyro_spots *spots)
{
    pyro_vec_done(&spots->list, context->arena->allocator);
}
