/* Queries of both runs, and whose plan differs in which operators. */
#include <ctype.h>
#include <stdlib.h>

#include "base/memory/allocator.h"
#include "compare/comparing.h"

/* Wrappers that say how operators are run, not which there are: they come and go with adaptive execution. */
static bool is_wrapper(struct pyro_slice name)
{
    static const char *const wrappers[] = {"WholeStageCodegen",   "InputAdapter",        "AdaptiveSparkPlan",
                                           "ShuffleQueryStage",   "BroadcastQueryStage", "ResultQueryStage",
                                           "TableCacheQueryStage"};
    for (size_t i = 0; i < sizeof(wrappers) / sizeof(*wrappers); i++)
        if (pyro_slice_starts_with(name, wrappers[i]))
            return true;
    return false;
}

/* "HashAggregate (7)" -> "HashAggregate". */
static struct pyro_slice without_number(struct pyro_slice name)
{
    size_t end = name.len;
    if (end < 3 || name.ptr[end - 1] != ')')
        return name;
    size_t at = end - 1;
    while (at > 0 && isdigit((unsigned char)name.ptr[at - 1]))
        at--;
    if (at == end - 1 || at < 2 || name.ptr[at - 1] != '(' || name.ptr[at - 2] != ' ')
        return name;
    return (struct pyro_slice){name.ptr, at - 2};
}

static int compare_names(const void *left, const void *right)
{
    return pyro_slice_compare(*(const struct pyro_slice *)left, *(const struct pyro_slice *)right);
}

/* Row of the first node of a query: they are grouped by query, ascending. */
static size_t first_node(const struct pyro_app *app, int64_t sql)
{
    size_t low = 0, high = app->sql_nodes.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (app->sql_nodes.items[middle].sql < sql)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct names {
    struct pyro_slice *items;
    size_t count;
};

/* Operators of a query's plan, sorted; to be released. */
static bool read_operators(const struct pyro_app *app, size_t row, struct names *ret)
{
    int64_t sql = app->sql.items[row].id;
    size_t from = first_node(app, sql), to = from;
    while (to < app->sql_nodes.count && app->sql_nodes.items[to].sql == sql)
        to++;
    *ret = (struct names){.items = pyro_allocate(app->allocator, (to - from + 1) * sizeof(struct pyro_slice))};
    if (!ret->items)
        return false;
    for (size_t i = from; i < to; i++) {
        struct pyro_slice name = app->sql_nodes.items[i].name;
        if (name.len && !is_wrapper(name))
            ret->items[ret->count++] = without_number(name);
    }
    if (ret->count)
        qsort(ret->items, ret->count, sizeof(*ret->items), compare_names);
    return true;
}

static size_t take_run(const struct names *names, size_t *at)
{
    size_t from = *at;
    while (*at < names->count && pyro_slice_eq(names->items[*at], names->items[from]))
        ++*at;
    return *at - from;
}

/* Names that one plan has more often; `found` may be NULL to count only. */
static size_t differing(const struct names *names, struct pyro_compared_operator *found)
{
    size_t at[2] = {0}, count = 0;
    while (at[0] < names[0].count || at[1] < names[1].count) {
        int order = at[0] >= names[0].count   ? 1
                    : at[1] >= names[1].count ? -1
                                              : pyro_slice_compare(names[0].items[at[0]], names[1].items[at[1]]);
        struct pyro_compared_operator row = {.name = order <= 0 ? names[0].items[at[0]] : names[1].items[at[1]]};
        if (order <= 0)
            row.before = (int64_t)take_run(&names[0], &at[0]);
        if (order >= 0)
            row.after = (int64_t)take_run(&names[1], &at[1]);
        if (row.before == row.after)
            continue;
        if (found)
            found[count] = row;
        count++;
    }
    return count;
}

static bool compare_query(struct pyro_comparison *comparison, size_t before, size_t after)
{
    const struct pyro_app *apps[2] = {comparison->before->app, comparison->after->app};
    struct names names[2] = {{0}};
    bool good = read_operators(apps[0], before, &names[0]) && read_operators(apps[1], after, &names[1]);
    /* A log may lack a plan: no plan is not another plan. */
    size_t count = good && names[0].count && names[1].count ? differing(names, NULL) : 0;
    if (count && comparison->changed_queries++ < PYRO_COMPARED_QUERIES_KEPT) {
        struct pyro_compared_operator *found = pyro_arena_array(&comparison->arena, count, sizeof(*found));
        good = found != NULL;
        if (found) {
            differing(names, found);
            comparison->queries[comparison->query_count++] = (struct pyro_compared_query){before, after, found, count};
        }
    }
    pyro_release(apps[0]->allocator, names[0].items);
    pyro_release(apps[1]->allocator, names[1].items);
    return good;
}

static uint64_t query_key(const struct pyro_sql_execution *query, int pass)
{
    if (query->unstarted)
        return 0;
    uint64_t key = pyro_match_mix((uint64_t)pass + 1, pyro_match_text(query->description, pass == 0));
    return pyro_match_mix(key, pyro_match_text(query->call_site, pass == 0)) | 1;
}

static bool match_queries(struct pyro_comparison *comparison, struct pyro_match *match)
{
    const struct pyro_app *apps[2] = {comparison->before->app, comparison->after->app};
    uint64_t *keys[2];
    for (int side = 0; side < 2; side++)
        keys[side] = pyro_allocate(match->allocator, (match->count[side] + 1) * sizeof(uint64_t));
    bool good = keys[0] && keys[1];
    for (int pass = 0; good && pass < 2; pass++) { /* with line numbers, then without */
        for (int side = 0; side < 2; side++)
            for (size_t i = 0; i < match->count[side]; i++)
                keys[side][i] = query_key(&apps[side]->sql.items[i], pass);
        good = pyro_match_by(match, (const uint64_t *const[2]){keys[0], keys[1]});
    }
    pyro_release(match->allocator, keys[0]);
    pyro_release(match->allocator, keys[1]);
    return good;
}

bool pyro_compare_plans(struct pyro_comparison *comparison)
{
    const struct pyro_app *before = comparison->before->app, *after = comparison->after->app;
    struct pyro_match match;
    comparison->queries =
        pyro_arena_array(&comparison->arena, PYRO_COMPARED_QUERIES_KEPT, sizeof(*comparison->queries));
    bool good = pyro_match_init(&match, comparison->arena.allocator, before->sql.count, after->sql.count) &&
                comparison->queries && match_queries(comparison, &match);
    for (size_t i = 0; good && i < before->sql.count; i++)
        comparison->gone_queries += match.mate[0][i] < 0 && !before->sql.items[i].unstarted;
    for (size_t i = 0; good && i < after->sql.count; i++) {
        if (match.mate[1][i] < 0) {
            comparison->new_queries += !after->sql.items[i].unstarted;
            continue;
        }
        comparison->matched_queries++;
        good = compare_query(comparison, (size_t)match.mate[1][i], i);
    }
    pyro_match_done(&match);
    return good;
}
