#include "analyze/platform.h"

/* A key that begins so, or a value that has `text` in it: what a vendor's distribution leaves in every application. */
struct trace {
    enum pyro_platform platform;
    const char *key, *text;
    double confidence;
};
/* A product that builds on another is listed before it. */
static const struct trace traces[] = {
    {PYRO_PLATFORM_DATABRICKS, "spark.databricks.clusterUsageTags.", NULL, 1},
    {PYRO_PLATFORM_DATABRICKS, "spark.databricks.", NULL, 0.9},
    {PYRO_PLATFORM_DATAPROC, "spark.dataproc.", NULL, 1},
    {PYRO_PLATFORM_DATAPROC, NULL, "/usr/local/share/google/dataproc", 0.95},
    {PYRO_PLATFORM_EMR_SERVERLESS, "spark.emr-serverless.", NULL, 1},
    {PYRO_PLATFORM_GLUE, "spark.glue.", NULL, 1},
    {PYRO_PLATFORM_EMR, "spark.emr", NULL, 0.95},
    {PYRO_PLATFORM_EMR, NULL, "/usr/share/aws/emr/", 0.95},
};

static bool leaves(const struct trace *trace, const struct pyro_property *property)
{
    return trace->key ? pyro_slice_starts_with(property->key, trace->key)
                      : property->value.ptr && pyro_slice_find(property->value, trace->text);
}

static const struct trace *find_trace(const struct pyro_app *app, const struct pyro_property **ret)
{
    size_t none = sizeof(traces) / sizeof(traces[0]), first = none;
    for (size_t i = 0; i < app->properties.count; i++) {
        const struct pyro_property *property = &app->properties.items[i];
        if (!pyro_slice_is(property->kind, "spark"))
            continue;
        for (size_t k = 0; k < first; k++) {
            if (leaves(&traces[k], property)) {
                *ret = property;
                first = k;
            }
        }
    }
    return first < none ? &traces[first] : NULL;
}

static struct pyro_slice master_of(const struct pyro_app *app)
{
    struct pyro_slice master = app->application.master;
    return master.ptr ? master : pyro_app_property(app, "spark.master");
}

bool pyro_app_is_local(const struct pyro_app *app)
{
    struct pyro_slice master = master_of(app);
    bool unknown = app->integrity.settings_unknown && app->tasks.count > 0;
    if (!master.ptr) /* tasks of a cluster do not run in the driver */
        return unknown &&
               pyro_slice_is(pyro_app_text(app, pyro_task_get(&app->tasks, PYRO_TASK_executor, 0)), "driver");
    return pyro_slice_is(master, "local") || pyro_slice_starts_with(master, "local[");
}

static enum pyro_platform platform_of_master(const struct pyro_app *app)
{
    struct pyro_slice master = master_of(app);
    if (pyro_app_is_local(app))
        return PYRO_PLATFORM_LOCAL;
    if (pyro_slice_starts_with(master, "yarn"))
        return PYRO_PLATFORM_YARN;
    if (pyro_slice_starts_with(master, "k8s:"))
        return PYRO_PLATFORM_KUBERNETES;
    if (pyro_slice_starts_with(master, "spark:") || pyro_slice_starts_with(master, "local-cluster"))
        return PYRO_PLATFORM_STANDALONE;
    return PYRO_PLATFORM_UNKNOWN;
}

enum pyro_platform pyro_app_platform(const struct pyro_app *app)
{
    const struct pyro_property *property;
    const struct trace *trace = find_trace(app, &property);
    return trace ? trace->platform : platform_of_master(app);
}

const char *pyro_platform_name(enum pyro_platform platform)
{
    static const char *const names[] = {"local", "standalone", "yarn",           "kubernetes", "databricks",
                                        "emr",   "dataproc",   "emr-serverless", "glue",       "unknown"};
    return names[platform];
}

enum pyro_manager pyro_app_manager(const struct pyro_app *app)
{
    switch (platform_of_master(app)) {
    case PYRO_PLATFORM_LOCAL:
        return PYRO_MANAGER_LOCAL;
    case PYRO_PLATFORM_YARN:
        return PYRO_MANAGER_YARN;
    case PYRO_PLATFORM_KUBERNETES:
        return PYRO_MANAGER_KUBERNETES;
    default:
        return PYRO_MANAGER_STANDALONE;
    }
}

const char *pyro_manager_name(enum pyro_manager manager)
{
    static const char *const names[] = {"local", "standalone", "yarn", "kubernetes"};
    return names[manager];
}

bool pyro_app_client_mode(const struct pyro_app *app)
{
    struct pyro_slice mode = pyro_app_property(app, "spark.submit.deployMode");
    if (pyro_slice_is(master_of(app), "yarn-cluster"))
        return false;
    return !pyro_slice_is(mode, "cluster");
}

/* The first of the keys that has a value. */
static bool property_says(const struct pyro_app *app, struct pyro_arena *arena, const char *const *keys, size_t count,
                          struct pyro_recognised *ret)
{
    for (size_t i = 0; i < count; i++) {
        struct pyro_slice value = pyro_app_property(app, keys[i]);
        if (value.len == 0 || pyro_slice_find(value, "redacted"))
            continue;
        ret->text = value;
        ret->confidence = 1;
        ret->reason = pyro_arena_printf(arena, "%s is set", keys[i]);
        return ret->reason.ptr != NULL;
    }
    return true;
}

static bool recognise_databricks(const struct pyro_app *app, struct pyro_arena *arena, struct pyro_cost_place *place)
{
    static const char *const workers[] = {"spark.databricks.workerNodeTypeId",
                                          "spark.databricks.clusterUsageTags.clusterNodeType"};
    static const char *const drivers[] = {"spark.databricks.driverNodeTypeId",
                                          "spark.databricks.clusterUsageTags.driverNodeType"};
    static const char *const regions[] = {"spark.databricks.clusterUsageTags.dataPlaneRegion",
                                          "spark.databricks.clusterUsageTags.region"};
    static const char *const clouds[] = {"spark.databricks.cloudProvider",
                                         "spark.databricks.clusterUsageTags.cloudProvider"};
    if (!property_says(app, arena, workers, 2, &place->instance) ||
        !property_says(app, arena, drivers, 2, &place->driver_instance) ||
        !property_says(app, arena, regions, 2, &place->region) || !property_says(app, arena, clouds, 2, &place->cloud))
        return false;
    if (pyro_slice_is(place->cloud.text, "AWS"))
        place->cloud.text = PYRO_SLICE_LITERAL("aws");
    else if (pyro_slice_is(place->cloud.text, "Azure"))
        place->cloud.text = PYRO_SLICE_LITERAL("azure");
    else if (pyro_slice_is(place->cloud.text, "GCP"))
        place->cloud.text = PYRO_SLICE_LITERAL("gcp");
    struct pyro_slice name = pyro_app_property(app, "spark.databricks.clusterUsageTags.clusterName");
    bool photon = pyro_slice_is(pyro_app_property(app, "spark.databricks.clusterUsageTags.runtimeEngine"), "PHOTON");
    if (name.len > 0) {
        bool job = pyro_slice_starts_with(name, "job-");
        place->workload = (struct pyro_recognised){
            job ? (photon ? PYRO_SLICE_LITERAL("jobs-photon") : PYRO_SLICE_LITERAL("jobs"))
                : (photon ? PYRO_SLICE_LITERAL("all-purpose-photon") : PYRO_SLICE_LITERAL("all-purpose")),
            job ? 0.9 : 0.6, PYRO_SLICE_LITERAL("the name of a job cluster begins with job-")};
    }
    return true;
}

/* Host names that clouds give: ip-10-0-0-1.ec2.internal, ip-10-0-0-1.eu-west-1.compute.internal,
 * w-0.c.project.internal, w-0.europe-west1-b.c.project.internal. */
static bool recognise_host(struct pyro_arena *arena, struct pyro_slice host, struct pyro_cost_place *place)
{
    struct pyro_recognised region = {PYRO_SLICE_NULL, 0.9, PYRO_SLICE_NULL};
    const char *cloud = NULL, *dot = host.len ? memchr(host.ptr, '.', host.len) : NULL;
    struct pyro_slice rest =
        dot ? (struct pyro_slice){dot + 1, host.len - (size_t)(dot + 1 - host.ptr)} : PYRO_SLICE_NULL;
    if (pyro_slice_is(rest, "ec2.internal")) {
        cloud = "aws";
        region.text = PYRO_SLICE_LITERAL("us-east-1");
    } else if (pyro_slice_ends_with(rest, ".compute.internal")) {
        cloud = "aws";
        region.text = (struct pyro_slice){rest.ptr, rest.len - strlen(".compute.internal")};
    } else if (pyro_slice_ends_with(rest, ".internal") &&
               (pyro_slice_starts_with(rest, "c.") || pyro_slice_find(rest, ".c."))) {
        const char *end = pyro_slice_find(rest, ".c.");
        cloud = "gcp";
        if (end && end - rest.ptr > 2 && end[-2] == '-') /* a zone: without its letter it is the region */
            region.text = (struct pyro_slice){rest.ptr, (size_t)(end - rest.ptr) - 2};
    }
    if (!cloud)
        return true;
    struct pyro_slice reason =
        pyro_arena_printf(arena, "host names contain %.*s", (int)(host.len < 100 ? host.len : 100), host.ptr);
    if (!place->cloud.text.ptr)
        place->cloud = (struct pyro_recognised){pyro_slice_from(cloud), 0.9, reason};
    region.reason = reason;
    if (!place->region.text.ptr && region.text.len)
        place->region = region;
    return reason.ptr != NULL;
}

bool pyro_cost_place_recognise(const struct pyro_app *app, struct pyro_arena *arena, struct pyro_cost_place *ret)
{
    const struct pyro_property *property = NULL;
    const struct trace *trace = find_trace(app, &property);
    struct pyro_slice master = master_of(app);
    *ret = (struct pyro_cost_place){.platform = trace ? trace->platform : platform_of_master(app)};
    if (trace) {
        ret->confidence = trace->confidence;
        ret->reason = pyro_arena_printf(arena, "the property %.*s is set",
                                        (int)(property->key.len < 100 ? property->key.len : 100), property->key.ptr);
    } else if (ret->platform != PYRO_PLATFORM_UNKNOWN) {
        /* Every vendor's Spark may have such a master and leave no other trace. */
        ret->confidence = ret->platform == PYRO_PLATFORM_LOCAL ? 1 : 0.8;
        ret->reason =
            pyro_arena_printf(arena, "the master is %.*s", (int)(master.len < 100 ? master.len : 100), master.ptr);
    } else {
        ret->reason = PYRO_SLICE_LITERAL("no property names it");
    }
    if (!ret->reason.ptr)
        return false;
    if (ret->platform == PYRO_PLATFORM_DATABRICKS && !recognise_databricks(app, arena, ret))
        return false;
    struct pyro_slice vendor = PYRO_SLICE_NULL;
    if (ret->platform == PYRO_PLATFORM_EMR || ret->platform == PYRO_PLATFORM_EMR_SERVERLESS ||
        ret->platform == PYRO_PLATFORM_GLUE)
        vendor = PYRO_SLICE_LITERAL("aws");
    else if (ret->platform == PYRO_PLATFORM_DATAPROC)
        vendor = PYRO_SLICE_LITERAL("gcp");
    if (vendor.ptr)
        ret->cloud = (struct pyro_recognised){vendor, ret->confidence, ret->reason};
    for (size_t i = 0; i < app->executors.count && i < 16 && !(ret->cloud.text.ptr && ret->region.text.ptr); i++)
        if (!recognise_host(arena, app->executors.items[i].host, ret))
            return false;
    return pyro_cost_cluster_recognise(app, arena, ret);
}
