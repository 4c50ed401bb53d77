/* Which cluster an application ran on. docs/cost.md */
#include <string.h>

#include "analyze/platform.h"

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

static bool is_id_letter(char letter)
{
    return is_digit(letter) || (letter >= 'A' && letter <= 'Z');
}

static bool found(struct pyro_arena *arena, struct pyro_recognised *ret, struct pyro_slice text, double confidence,
                  struct pyro_slice reason)
{
    *ret = (struct pyro_recognised){pyro_arena_copy(arena, text), confidence, pyro_arena_copy(arena, reason)};
    return ret->text.ptr && ret->reason.ptr;
}

/* Where EMR keeps logs: s3://aws-logs-ACCOUNT-REGION/elasticmapreduce/j-2AXXXXXXGAPLF/ */
static struct pyro_slice emr_id(const struct pyro_app *app)
{
    for (size_t i = 0; i < app->properties.count; i++) {
        struct pyro_slice value = app->properties.items[i].value;
        const char *at = value.ptr ? pyro_slice_find(value, "elasticmapreduce/j-") : NULL;
        if (!at)
            continue;
        struct pyro_slice id = {at + strlen("elasticmapreduce/"), 2};
        while (id.ptr + id.len < value.ptr + value.len && is_id_letter(id.ptr[id.len]))
            id.len++;
        if (id.len >= 10)
            return id;
    }
    return PYRO_SLICE_NULL;
}

/* Workers of Dataproc are called CLUSTER-w-0, secondary ones CLUSTER-sw-x1y2. */
static struct pyro_slice dataproc_name(struct pyro_slice host)
{
    const char *dot = host.len ? memchr(host.ptr, '.', host.len) : NULL;
    size_t end = dot ? (size_t)(dot - host.ptr) : host.len, dash = end;
    while (dash > 0 && host.ptr[dash - 1] != '-')
        dash--;
    struct pyro_slice kind = {host.ptr, dash}; /* with the dash behind it */
    if (dash == 0 || dash == end)
        return PYRO_SLICE_NULL;
    size_t tail = pyro_slice_ends_with(kind, "-w-") ? 3 : pyro_slice_ends_with(kind, "-sw-") ? 4 : 0;
    return tail && kind.len > tail ? (struct pyro_slice){kind.ptr, kind.len - tail} : PYRO_SLICE_NULL;
}

/* "1584570187654" of application_1584570187654_0042: when its ResourceManager was started. */
static struct pyro_slice yarn_start(struct pyro_slice id)
{
    static const char prefix[] = "application_";
    if (!pyro_slice_starts_with(id, prefix))
        return PYRO_SLICE_NULL;
    struct pyro_slice start = {id.ptr + strlen(prefix), 0};
    while (start.ptr + start.len < id.ptr + id.len && is_digit(start.ptr[start.len]))
        start.len++;
    bool ends = start.ptr + start.len < id.ptr + id.len && start.ptr[start.len] == '_';
    return ends && start.len >= 10 ? start : PYRO_SLICE_NULL;
}

bool pyro_cost_cluster_recognise(const struct pyro_app *app, struct pyro_arena *arena, struct pyro_cost_place *place)
{
    struct pyro_recognised *cluster = &place->cluster;
    struct pyro_slice text;
    *cluster = (struct pyro_recognised){0};
    if (place->platform == PYRO_PLATFORM_DATABRICKS) {
        text = pyro_app_property(app, "spark.databricks.clusterUsageTags.clusterId");
        return text.len == 0 || found(arena, cluster, text, 1,
                                      PYRO_SLICE_LITERAL("spark.databricks.clusterUsageTags.clusterId says so"));
    }
    if (place->platform == PYRO_PLATFORM_EMR && (text = emr_id(app)).len)
        return found(arena, cluster, text, 0.95, PYRO_SLICE_LITERAL("a path of the configuration names it"));
    for (size_t i = 0; place->platform == PYRO_PLATFORM_DATAPROC && i < app->executors.count; i++)
        if ((text = dataproc_name(app->executors.items[i].host)).len)
            return found(arena, cluster, text, 0.9, PYRO_SLICE_LITERAL("the host names of its workers begin with it"));
    if (pyro_app_manager(app) == PYRO_MANAGER_YARN) {
        text = yarn_start(app->application.id);
        if (text.len == 0)
            return true;
        text =
            pyro_arena_printf(arena, "YARN, ResourceManager of %.*s", (int)(text.len < 40 ? text.len : 40), text.ptr);
        return found(arena, cluster, text, 0.9,
                     PYRO_SLICE_LITERAL("application ids begin with the start time of the ResourceManager"));
    }
    text = app->application.master.ptr ? app->application.master : pyro_app_property(app, "spark.master");
    return !pyro_slice_starts_with(text, "spark:") ||
           found(arena, cluster, text, 0.8,
                 PYRO_SLICE_LITERAL("applications have this master; an earlier cluster can have had the same address"));
}
