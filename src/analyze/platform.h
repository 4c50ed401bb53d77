/* Where an application ran, by what the log's own properties say. */
#ifndef PYRO_ANALYZE_PLATFORM_H
#define PYRO_ANALYZE_PLATFORM_H

#include "base/memory/arena.h"
#include "model/app.h"

enum pyro_platform {
    PYRO_PLATFORM_LOCAL,
    PYRO_PLATFORM_STANDALONE,
    PYRO_PLATFORM_YARN,
    PYRO_PLATFORM_KUBERNETES,
    PYRO_PLATFORM_DATABRICKS,
    PYRO_PLATFORM_EMR,
    PYRO_PLATFORM_DATAPROC,
    PYRO_PLATFORM_EMR_SERVERLESS,
    PYRO_PLATFORM_GLUE,
    PYRO_PLATFORM_UNKNOWN
};
enum pyro_platform pyro_app_platform(const struct pyro_app *app);
const char *pyro_platform_name(enum pyro_platform platform);
/* Tasks run in the driver's own process. */
bool pyro_app_is_local(const struct pyro_app *app);

/* Who gave the executors their cores and memory, whichever platform is on top. */
enum pyro_manager { PYRO_MANAGER_LOCAL, PYRO_MANAGER_STANDALONE, PYRO_MANAGER_YARN, PYRO_MANAGER_KUBERNETES };
enum pyro_manager pyro_app_manager(const struct pyro_app *app);
const char *pyro_manager_name(enum pyro_manager manager);
/* The driver runs outside the cluster. */
bool pyro_app_client_mode(const struct pyro_app *app);

/* Something that the log says or suggests, and how sure that is (0..1). `text` is null where nothing does. */
struct pyro_recognised {
    struct pyro_slice text;
    double confidence;
    struct pyro_slice reason; /* what says so */
};
struct pyro_cost_place {
    enum pyro_platform platform;
    double confidence; /* of the platform */
    struct pyro_slice reason;
    struct pyro_recognised cloud;  /* "aws", "azure", "gcp" */
    struct pyro_recognised region; /* "us-east-1" */
    struct pyro_recognised instance, driver_instance;
    struct pyro_recognised
        cluster; /* an id or an address that its applications share; null: unknown, or there is none */
    struct pyro_recognised workload; /* Databricks: "jobs" or "all-purpose", "-photon" behind where that engine ran */
};
/* place->cluster, of a place whose platform is known. */
bool pyro_cost_cluster_recognise(const struct pyro_app *app, struct pyro_arena *arena, struct pyro_cost_place *place);
/* Texts live in the arena or in the application. False: no memory. */
bool pyro_cost_place_recognise(const struct pyro_app *app, struct pyro_arena *arena, struct pyro_cost_place *ret);

#endif
