#include "analyze/task_cpus.h"

#include <stdio.h>

#include "analyze/scratch.h"

/* Whole CPUs in "2" or "2.0" (Spark keeps amounts as doubles); 0 for anything else. */
static uint32_t parse_cpus(struct pyro_slice text)
{
    uint32_t cpus = 0;
    for (size_t i = 0; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++) {
        if (cpus > INT32_MAX / 10 - 1)
            return 0;
        cpus = cpus * 10 + (uint32_t)(text.ptr[i] - '0');
    }
    return cpus;
}

uint32_t pyro_task_cpus(const struct pyro_app *app, const struct pyro_stage *stage)
{
    if (stage && stage->resource_profile >= 0) {
        char key[64];
        snprintf(key, sizeof(key), "%lld.task.cpus", (long long)stage->resource_profile);
        uint32_t cpus = parse_cpus(pyro_app_property_of(app, "resource_profile", key));
        if (cpus > 0)
            return cpus;
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
