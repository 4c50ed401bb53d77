#include "advice/cost/costs.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/accounts/fixed_point.h"
#include "base/options.h"

static const struct {
    const char *name;
    enum pyro_cost_by by;
} bys[] = {{"application", PYRO_BY_APPLICATION},
           {"user", PYRO_BY_USER},
           {"queue", PYRO_BY_QUEUE},
           {"platform", PYRO_BY_PLATFORM},
           {"pool", PYRO_BY_POOL},
           {"group", PYRO_BY_GROUP},
           {"job", PYRO_BY_JOB},
           {"stage", PYRO_BY_STAGE},
           {"sql", PYRO_BY_SQL}};
enum { BYS = sizeof(bys) / sizeof(bys[0]) };

static enum pyro_status take_by(struct pyro_costs *costs, const char *text, struct pyro_error *error)
{
    struct pyro_slice by = pyro_slice_from(text ? text : "application");
    const char *names[BYS], *prefixes[2] = {"tag:", "property:"};
    costs->by_text = pyro_arena_copy(&costs->arena, by);
    if (!costs->by_text.ptr)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the costs");
    for (unsigned i = 0; i < BYS; i++) {
        names[i] = bys[i].name;
        costs->by = bys[i].by;
        if (pyro_slice_is(by, bys[i].name))
            return PYRO_OK;
    }
    for (unsigned i = 0; i < 2; i++) {
        size_t len = strlen(prefixes[i]);
        costs->by = i == 0 ? PYRO_BY_TAG : PYRO_BY_PROPERTY;
        costs->by_key = (struct pyro_slice){costs->by_text.ptr + len, by.len - len};
        if (pyro_slice_starts_with(by, prefixes[i]) && by.len > len)
            return PYRO_OK;
    }
    const char *nearest = pyro_nearest(by.ptr, names, BYS);
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                          "costs cannot be grouped by '%.60s'%s%s%s; they can be grouped by application, user, queue, "
                          "platform, pool, group, job, stage, sql, tag:KEY and property:KEY",
                          by.ptr, nearest ? " (did you mean " : "", nearest ? nearest : "", nearest ? "?)" : "");
}

static const char *keep(struct pyro_costs *costs, const char *text, bool *failed)
{
    struct pyro_slice made = pyro_arena_copy(&costs->arena, pyro_slice_from(text));
    *failed |= text && !made.ptr;
    return made.ptr;
}

enum pyro_status pyro_costs_new(const struct pyro_cost_options *wanted, const struct pyro_options *options,
                                struct pyro_costs **ret, struct pyro_error *error)
{
    struct pyro_options general;
    struct pyro_cost_options own = {.size = sizeof(own)};
    bool failed = false;
    pyro_error_clear(error);
    if (!ret)
        return pyro_error_set(
            error, PYRO_ERROR_ARGUMENT,
            "the place for the costs is missing, or pyro_cost_options.size is not a size that this library knows");
    PYRO_TRY(PYRO_TAKE(&own, wanted, error));
    PYRO_TRY(pyro_options_resolve(options, &general, error));
    const struct pyro_allocator *allocator = general.allocator;
    struct pyro_costs *costs = pyro_allocate(allocator, sizeof(*costs));
    if (!costs)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the costs");
    memset(costs, 0, sizeof(*costs));
    pyro_arena_init(&costs->arena, allocator);
    costs->prices = own.prices;
    costs->money = (struct pyro_money_options){keep(costs, own.currency, &failed), keep(costs, own.instance, &failed),
                                               keep(costs, own.region, &failed), own.spot ? "spot" : NULL};
    costs->advise = (struct pyro_advise_options){own.deadline_ms > 0 ? own.deadline_ms : 0,
                                                 own.interruptions > 0 ? own.interruptions : 0, &costs->stop};
    costs->progress = general;
    costs->stop = (struct pyro_stop){pyro_stop_by_progress, &costs->progress};
    enum pyro_status status = take_by(costs, own.by, error);
    if (status == PYRO_OK && failed)
        status = pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the costs");
    if (status != PYRO_OK) {
        pyro_costs_free(costs);
        return status;
    }
    *ret = costs;
    return PYRO_OK;
}

void pyro_costs_free(struct pyro_costs *costs)
{
    if (!costs)
        return;
    const struct pyro_allocator *allocator = costs->arena.allocator;
    for (size_t i = 0; i < costs->entries.count; i++)
        pyro_cost_free(costs->entries.items[i].cost);
    pyro_vec_done(&costs->entries, allocator);
    pyro_vec_done(&costs->unreadable, allocator);
    pyro_vec_done(&costs->past, allocator);
    pyro_arena_done(&costs->arena);
    pyro_release(allocator, costs);
}

/* ---- keys ------------------------------------------------------------------------------------------------------ */

/* The value of a tag in Databricks' list of {"key": ..., "value": ...}, without looking deeper than that. */
static struct pyro_slice databricks_tag(struct pyro_slice all, struct pyro_slice key)
{
    if (all.len == 0)
        return PYRO_SLICE_NULL;
    const char *at = all.ptr, *end = all.ptr + all.len;
    while (at < end) {
        struct pyro_slice rest = {at, (size_t)(end - at)};
        const char *found = pyro_slice_find(rest, "\"key\":\"");
        if (!found)
            return PYRO_SLICE_NULL;
        found += strlen("\"key\":\"");
        at = found;
        if ((size_t)(end - found) <= key.len || memcmp(found, key.ptr, key.len) != 0 || found[key.len] != '"')
            continue;
        rest = (struct pyro_slice){found, (size_t)(end - found)};
        const char *value = pyro_slice_find(rest, "\"value\":\"");
        if (!value)
            return PYRO_SLICE_NULL;
        value += strlen("\"value\":\"");
        const char *close = memchr(value, '"', (size_t)(end - value));
        return close ? (struct pyro_slice){value, (size_t)(close - value)} : PYRO_SLICE_NULL;
    }
    return PYRO_SLICE_NULL;
}

/* A tag: of a Databricks cluster, a label of a driver's pod, or KEY=VALUE or KEY:VALUE among YARN's tags. */
static struct pyro_slice tag_of(struct pyro_costs *costs, const struct pyro_app *app, bool *failed)
{
    struct pyro_slice key = costs->by_key;
    struct pyro_slice found =
        databricks_tag(pyro_app_property(app, "spark.databricks.clusterUsageTags.clusterAllTags"), key);
    if (found.ptr)
        return found;
    struct pyro_slice label = pyro_arena_printf(&costs->arena, "spark.kubernetes.driver.label.%s", key.ptr);
    *failed |= !label.ptr;
    if (label.ptr && (found = pyro_app_property(app, label.ptr)).ptr)
        return found;
    struct pyro_slice tags = pyro_app_property(app, "spark.yarn.tags");
    while (tags.len > 0) {
        const char *comma = memchr(tags.ptr, ',', tags.len);
        size_t len = comma ? (size_t)(comma - tags.ptr) : tags.len;
        struct pyro_slice tag = {tags.ptr, len};
        while (tag.len && *tag.ptr == ' ')
            tag = (struct pyro_slice){tag.ptr + 1, tag.len - 1};
        if (tag.len > key.len && memcmp(tag.ptr, key.ptr, key.len) == 0 &&
            (tag.ptr[key.len] == '=' || tag.ptr[key.len] == ':'))
            return (struct pyro_slice){tag.ptr + key.len + 1, tag.len - key.len - 1};
        len += comma ? 1 : 0;
        tags = (struct pyro_slice){tags.ptr + len, tags.len - len};
    }
    return PYRO_SLICE_NULL;
}

static struct pyro_slice key_of(struct pyro_costs *costs, const struct pyro_app *app, const struct pyro_cost *cost,
                                bool *failed)
{
    switch (costs->by) {
    case PYRO_BY_USER:
        return cost->user;
    case PYRO_BY_QUEUE:
        return cost->queue.ptr || cost->manager != PYRO_MANAGER_YARN ? cost->queue : PYRO_SLICE_LITERAL("default");
    case PYRO_BY_PLATFORM:
        return pyro_slice_from(pyro_platform_name(cost->place.platform));
    case PYRO_BY_TAG:
        return tag_of(costs, app, failed);
    case PYRO_BY_PROPERTY:
        return pyro_app_property(app, costs->by_key.ptr);
    default:
        return cost->name.len ? cost->name : cost->id.len ? cost->id : cost->path;
    }
}

enum pyro_status pyro_costs_add(struct pyro_costs *costs, struct pyro_app *app, struct pyro_error *error)
{
    struct pyro_cost *cost = NULL;
    bool failed = false;
    pyro_error_clear(error);
    if (!costs || !app || !app->sealed)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the costs or the loaded application is missing");
    PYRO_TRY(pyro_cost_new(app, costs->arena.allocator, &cost, error));
    enum pyro_status status = costs->prices ? pyro_cost_price(cost, costs->prices, &costs->money, error) : PYRO_OK;
    if (status == PYRO_OK)
        status = pyro_cost_advise(cost, app, costs->prices, &costs->money, &costs->advise, error);
    if (status == PYRO_OK && costs->has_past)
        status = pyro_cost_reserve(cost, costs->past.items, costs->past.count, pyro_slice_from(pyro_app_name(app)),
                                   costs->prices, &costs->money, error);
    struct pyro_slice key = key_of(costs, app, cost, &failed);
    struct pyro_slice kept = pyro_arena_copy(&costs->arena, key);
    struct pyro_cost_entry *entry = status == PYRO_OK ? pyro_vec_push(&costs->entries, costs->arena.allocator) : NULL;
    if (!entry || failed || (key.ptr && !kept.ptr)) {
        costs->entries.count -= entry != NULL;
        pyro_cost_free(cost);
        return status != PYRO_OK ? status : pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the costs");
    }
    *entry = (struct pyro_cost_entry){cost, kept, (double)NAN, (double)NAN};
    if (cost->money.nodes > 0) {
        struct pyro_slice driver = cost->place.driver_instance.text;
        driver = costs->money.instance || !driver.len ? cost->money.instance : driver;
        entry->node_hour = pyro_node_hour(cost, costs->prices, &costs->money, cost->money.instance);
        entry->driver_hour = pyro_node_hour(cost, costs->prices, &costs->money, driver);
    }
    return PYRO_OK;
}

enum pyro_status pyro_costs_add_unreadable(struct pyro_costs *costs, const char *path, const char *reason,
                                           struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!costs || !path || !reason)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the costs, the path or the reason is missing");
    struct pyro_cost_unreadable *added = pyro_vec_push(&costs->unreadable, costs->arena.allocator);
    if (!added)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the costs");
    added->path = pyro_arena_copy(&costs->arena, pyro_slice_from(path));
    added->reason = pyro_arena_copy(&costs->arena, pyro_slice_from(reason));
    return added->path.ptr && added->reason.ptr ? PYRO_OK
                                                : pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the costs");
}

enum pyro_status pyro_costs_add_past_run(struct pyro_costs *costs, const struct pyro_past_run *given,
                                         struct pyro_error *error)
{
    struct pyro_past_run own = {.size = sizeof(own)}, *run = given ? &own : NULL;
    pyro_error_clear(error);
    PYRO_TRY(PYRO_TAKE(&own, given, error));
    if (!costs || (run && !run->application))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the costs or the name of the application is missing");
    costs->has_past = true;
    if (!run || run->end_ms <= run->start_ms || run->core_ms < 0)
        return PYRO_OK;
    struct pyro_slice name = pyro_arena_copy(&costs->arena, pyro_slice_from(run->application));
    struct pyro_past *past = name.ptr ? pyro_vec_push(&costs->past, costs->arena.allocator) : NULL;
    if (!past)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the costs");
    *past = (struct pyro_past){name, run->start_ms, run->end_ms, run->core_ms};
    return PYRO_OK;
}

/* ---- groups ---------------------------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    const struct pyro_cost_group *x = a, *y = b;
    if (!x->key.ptr || !y->key.ptr)
        return (x->key.ptr != NULL) - (y->key.ptr != NULL);
    int order = pyro_slice_compare(x->key, y->key);
    return order ? order : pyro_slice_compare(x->currency, y->currency);
}

static int by_size(const void *a, const void *b)
{
    const struct pyro_cost_group *x = a, *y = b;
    if (x->total.micros != y->total.micros)
        return x->total.micros > y->total.micros ? -1 : 1;
    if (x->total.core_ms != y->total.core_ms)
        return x->total.core_ms > y->total.core_ms ? -1 : 1;
    return by_key(a, b);
}

/* Rows of parts of an application; what they leave of it is a row without key. */
static bool add_parts(const struct pyro_costs *costs, const struct pyro_cost *cost, struct pyro_arena *arena,
                      struct pyro_cost_group *groups, size_t *count)
{
    const struct pyro_cost_rows *rows = costs->by == PYRO_BY_POOL    ? &cost->pools
                                        : costs->by == PYRO_BY_GROUP ? &cost->groups
                                        : costs->by == PYRO_BY_JOB   ? &cost->jobs
                                        : costs->by == PYRO_BY_STAGE ? &cost->stages
                                                                     : &cost->sql;
    static const char *const words[] = {[PYRO_BY_JOB] = "job", [PYRO_BY_STAGE] = "stage", [PYRO_BY_SQL] = "sql"};
    struct pyro_slice name = cost->name.len ? cost->name : cost->id;
    struct pyro_cost_amount rest = cost->total;
    for (size_t i = 0; i < rows->count; i++) {
        const struct pyro_cost_row *row = &rows->items[i];
        bool named = costs->by == PYRO_BY_POOL || costs->by == PYRO_BY_GROUP;
        if (named ? !row->name.ptr : row->id == PYRO_NONE)
            continue;
        struct pyro_slice key = row->name;
        if (!named) {
            key = pyro_arena_printf(arena, "%.*s %s %lld", (int)(name.len < 200 ? name.len : 200),
                                    name.ptr ? name.ptr : "", words[costs->by], (long long)row->id);
            if (!key.ptr)
                return false;
        }
        groups[(*count)++] = (struct pyro_cost_group){key, cost->money.currency, 1, row->total, cost->money.known};
        rest.core_ms -= row->total.core_ms;
        rest.memory_mib_ms -= row->total.memory_mib_ms;
        rest.micros -= row->total.micros;
    }
    groups[(*count)++] = (struct pyro_cost_group){PYRO_SLICE_NULL, cost->money.currency, 1, rest, cost->money.known};
    return true;
}

static size_t room(const struct pyro_costs *costs)
{
    size_t most = 1;
    for (size_t i = 0; i < costs->entries.count; i++)
        most += costs->entries.items[i].cost->stages.count + 1;
    return most;
}

struct pyro_cost_group *pyro_costs_group(const struct pyro_costs *costs, struct pyro_arena *arena, size_t *ret_count)
{
    bool parts = costs->by >= PYRO_BY_POOL && costs->by <= PYRO_BY_SQL;
    struct pyro_cost_group *groups =
        pyro_arena_array(arena, parts ? room(costs) : costs->entries.count + 1, sizeof(*groups));
    size_t count = 0, kept = 0;
    for (size_t i = 0; groups && i < costs->entries.count; i++) {
        const struct pyro_cost *cost = costs->entries.items[i].cost;
        if (!parts)
            groups[count++] = (struct pyro_cost_group){costs->entries.items[i].key, cost->money.currency, 1,
                                                       cost->total, cost->money.known};
        else if (!add_parts(costs, cost, arena, groups, &count))
            return NULL;
    }
    if (groups && count > 1)
        qsort(groups, count, sizeof(*groups), by_key);
    for (size_t i = 0; groups && i < count; i++) {
        struct pyro_cost_group *last = kept ? &groups[kept - 1] : NULL;
        if (!last || by_key(last, &groups[i]) != 0) {
            groups[kept++] = groups[i];
            continue;
        }
        last->applications += groups[i].applications;
        last->known = last->known && groups[i].known;
        last->total.core_ms = pyro_add_saturating(last->total.core_ms, groups[i].total.core_ms);
        last->total.memory_mib_ms = pyro_add_saturating(last->total.memory_mib_ms, groups[i].total.memory_mib_ms);
        last->total.micros = pyro_add_saturating(last->total.micros, groups[i].total.micros);
    }
    if (groups && kept > 1)
        qsort(groups, kept, sizeof(*groups), by_size);
    *ret_count = kept;
    return groups;
}
