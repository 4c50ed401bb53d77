#include "analyze/task_slots.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/analyze.h"
#include "analyze/scratch.h"

/* ---- What resource profiles ask for ------------------------------------------------------------------------------ */

/* "NAME" of "PREFIXNAME", of "PREFIXNAMESUFFIX". */
static bool name_between(struct pyro_slice key, const char *prefix, const char *suffix, struct pyro_slice *ret)
{
    size_t before = strlen(prefix), behind = strlen(suffix);
    if (key.len <= before + behind || memcmp(key.ptr, prefix, before) != 0 ||
        memcmp(key.ptr + key.len - behind, suffix, behind) != 0)
        return false;
    *ret = (struct pyro_slice){key.ptr + before, key.len - before - behind};
    return true;
}

/* "ID.task.NAME" and "ID.executor.NAME" of a profile; settings are of the default profile, where it does not say it. */
static bool read_key(const struct pyro_property *property, struct pyro_profile_resource *ret, bool *of_task)
{
    struct pyro_slice key = property->key;
    *ret = (struct pyro_profile_resource){0};
    if (pyro_slice_is(property->kind, "spark")) {
        ret->rank = 1;
        *of_task = name_between(key, "spark.task.resource.", ".amount", &ret->name);
        return *of_task || name_between(key, "spark.executor.resource.", ".amount", &ret->name);
    }
    if (!pyro_slice_is(property->kind, "resource_profile"))
        return false;
    size_t at = 0;
    for (; at < key.len && at < 18 && key.ptr[at] >= '0' && key.ptr[at] <= '9'; at++)
        ret->profile = ret->profile * 10 + (key.ptr[at] - '0');
    struct pyro_slice rest = {key.ptr + at, key.len - at};
    *of_task = name_between(rest, ".task.", "", &ret->name);
    return *of_task || name_between(rest, ".executor.", "", &ret->name);
}

static int compare(const void *a, const void *b)
{
    const struct pyro_profile_resource *x = a, *y = b;
    if (x->profile != y->profile)
        return x->profile < y->profile ? -1 : 1;
    int order = pyro_slice_compare(x->name, y->name);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* One row for each resource of each profile; the event of a profile counts more than settings. */
static void merge(struct pyro_app *app)
{
    struct pyro_profile_resource *rows = app->profile_resources.items;
    size_t count = 0;
    for (size_t i = 0; i < app->profile_resources.count; i++) {
        struct pyro_profile_resource *last = count > 0 ? &rows[count - 1] : NULL;
        if (last && last->profile == rows[i].profile && pyro_slice_eq(last->name, rows[i].name)) {
            last->task = last->task > 0 ? last->task : rows[i].task;
            last->executor = last->executor > 0 ? last->executor : rows[i].executor;
        } else {
            rows[count++] = rows[i];
        }
    }
    app->profile_resources.count = count;
}

enum pyro_status pyro_analyze_profiles(struct pyro_app *app, struct pyro_error *error)
{
    app->profile_resources.count = 0;
    for (size_t i = 0; i < app->properties.count; i++) {
        struct pyro_profile_resource found;
        bool of_task;
        if (!read_key(&app->properties.items[i], &found, &of_task))
            continue;
        double amount = pyro_property_decimal(app->properties.items[i].value, 0);
        *(of_task ? &found.task : &found.executor) = amount > 0 ? amount : 0;
        struct pyro_profile_resource *row = pyro_vec_push(&app->profile_resources, app->allocator);
        if (!row)
            return pyro_no_memory(error);
        *row = found;
    }
    if (app->profile_resources.count > 1)
        qsort(app->profile_resources.items, app->profile_resources.count, sizeof(*app->profile_resources.items),
              compare);
    merge(app);
    return PYRO_OK;
}

/* Its resources, *count of them. */
static const struct pyro_profile_resource *resources_of(const struct pyro_app *app, int64_t profile, size_t *count)
{
    const struct pyro_profile_resource *rows = app->profile_resources.items;
    size_t low = 0, high = app->profile_resources.count, end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].profile < profile)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < app->profile_resources.count && rows[end].profile == profile;)
        end++;
    *count = end - low;
    return end > low ? rows + low : NULL;
}

static const struct pyro_profile_resource *find_resource(const struct pyro_app *app, int64_t profile,
                                                         struct pyro_slice name)
{
    size_t count;
    const struct pyro_profile_resource *rows = resources_of(app, profile, &count);
    for (size_t i = 0; i < count; i++)
        if (pyro_slice_eq(rows[i].name, name))
            return &rows[i];
    return NULL;
}

static int64_t known_profile(int64_t profile)
{
    return profile < 0 ? 0 : profile;
}

/* ---- What an executor has ---------------------------------------------------------------------------------------- */

/* Of "gpu=2,fpga=1"; 0: it is not named. */
static double named_amount(struct pyro_slice resources, struct pyro_slice name)
{
    for (size_t at = 0; at < resources.len;) {
        size_t end = at;
        while (end < resources.len && resources.ptr[end] != ',')
            end++;
        if (end - at > name.len + 1 && resources.ptr[at + name.len] == '=' &&
            memcmp(resources.ptr + at, name.ptr, name.len) == 0)
            return pyro_property_decimal(
                (struct pyro_slice){resources.ptr + at + name.len + 1, end - at - name.len - 1}, 0);
        at = end + 1;
    }
    return 0;
}

static double executor_amount(const struct pyro_app *app, int64_t executor_profile, struct pyro_slice resources,
                              struct pyro_slice name)
{
    double has = named_amount(resources, name);
    const int64_t profiles[] = {executor_profile, 0};
    for (size_t i = 0; !(has > 0) && i < 2; i++) {
        const struct pyro_profile_resource *asked = find_resource(app, profiles[i], name);
        has = asked ? asked->executor : 0;
    }
    return has;
}

static int64_t tasks_in(double executor, double task)
{
    const double exact = 1e-9; /* 1 / 0.1 */
    double count = task < 1 ? floor(executor) * floor(1 / task + exact) : floor(executor / task + exact);
    return count < 0 ? 0 : count > INT32_MAX ? INT32_MAX : (int64_t)count;
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

struct pyro_slots pyro_slots_of(const struct pyro_app *app, int64_t profile, int64_t executor_profile, int64_t cores,
                                struct pyro_slice resources)
{
    struct pyro_stage stage = {.resource_profile = known_profile(profile)};
    cores = cores < 0 ? 0 : cores > INT32_MAX ? INT32_MAX : cores;
    struct pyro_slots slots = {.cpus = pyro_task_cpus(app, &stage), .limit = PYRO_SLICE_LITERAL("cpus")};
    slots.count = cores / slots.cpus;
    slots.task = slots.cpus;
    slots.executor = (double)cores;
    size_t count;
    const struct pyro_profile_resource *rows = resources_of(app, stage.resource_profile, &count);
    for (size_t i = 0; i < count; i++) {
        if (!(rows[i].task > 0) || pyro_slice_is(rows[i].name, "cpus"))
            continue;
        double has = executor_amount(app, known_profile(executor_profile), resources, rows[i].name);
        int64_t tasks = tasks_in(has, rows[i].task);
        if (has > 0 && tasks > 0 && tasks < slots.count)
            slots = (struct pyro_slots){tasks, slots.cpus, rows[i].name, rows[i].task, has};
    }
    return slots;
}

int64_t pyro_executor_slots(const struct pyro_app *app, const struct pyro_executor *executor,
                            const struct pyro_stage *stage)
{
    int64_t profile = stage ? stage->resource_profile : executor->resource_profile;
    int64_t count = pyro_slots_of(app, profile, executor->resource_profile, executor->cores, executor->resources).count;
    return count < 1 ? 1 : count;
}

bool pyro_executor_serves(const struct pyro_app *app, const struct pyro_executor *executor,
                          const struct pyro_stage *stage)
{
    int64_t wanted = known_profile(stage->resource_profile), has = known_profile(executor->resource_profile);
    if (wanted == has)
        return true;
    size_t count;
    const struct pyro_profile_resource *rows = resources_of(app, wanted, &count);
    for (size_t i = 0; i < count; i++)
        if (rows[i].executor > 0)
            return false;
    return has == 0 && !pyro_app_property_bool(app, "spark.dynamicAllocation.enabled", false);
}

int64_t pyro_serving_profile(const struct pyro_app *app, int64_t profile)
{
    struct pyro_stage stage = {.resource_profile = known_profile(profile)};
    bool shared = false;
    for (size_t i = 0; i < app->executors.count; i++) {
        const struct pyro_executor *executor = &app->executors.items[i];
        if (known_profile(executor->resource_profile) == stage.resource_profile)
            return stage.resource_profile;
        shared = shared || pyro_executor_serves(app, executor, &stage);
    }
    return shared ? 0 : stage.resource_profile;
}

/* ---- CPUs -------------------------------------------------------------------------------------------------------- */

uint32_t pyro_task_cpus(const struct pyro_app *app, const struct pyro_stage *stage)
{
    if (stage && stage->resource_profile >= 0) {
        const struct pyro_profile_resource *asked =
            find_resource(app, stage->resource_profile, PYRO_SLICE_LITERAL("cpus"));
        if (asked && asked->task >= 1 && asked->task < INT32_MAX)
            return (uint32_t)asked->task;
    }
    int64_t cpus = pyro_app_property_int(app, "spark.task.cpus", 1);
    return cpus < 1 || cpus > INT32_MAX ? 1 : (uint32_t)cpus;
}

uint32_t *pyro_stage_cpus(const struct pyro_app *app)
{
    uint32_t *cpus = pyro_scratch(app, app->stages.count + 1, sizeof(*cpus));
    for (size_t i = 0; cpus && i < app->stages.count; i++)
        cpus[i] = i > 0 && app->stages.items[i].resource_profile == app->stages.items[i - 1].resource_profile
                      ? cpus[i - 1]
                      : pyro_task_cpus(app, &app->stages.items[i]);
    if (cpus)
        cpus[app->stages.count] = pyro_task_cpus(app, NULL);
    return cpus;
}
