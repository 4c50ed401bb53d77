#include "analyze/memory/container.h"

#include <stdio.h>

enum { MIB = 1 << 20, MOST_MIB = INT32_MAX };

static const int64_t default_overhead_mib = 384;

static int64_t clamp_mib(int64_t mib)
{
    return mib < 0 ? 0 : mib > MOST_MIB ? MOST_MIB : mib;
}

/* Whole MiB, a number without suffix being MiB; PYRO_NONE when it is not set. */
static int64_t size_mib(const struct pyro_app *app, const char *key)
{
    int64_t bytes = pyro_app_property_size(app, key, MIB, PYRO_NONE);
    return bytes == PYRO_NONE ? PYRO_NONE : clamp_mib(bytes / MIB);
}

static int64_t first_size_mib(const struct pyro_app *app, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t mib = size_mib(app, keys[i]);
        if (mib != PYRO_NONE)
            return mib;
    }
    return PYRO_NONE;
}

static bool spark_before(const struct pyro_app *app, int major, int minor)
{
    struct pyro_slice text = app->application.spark_version;
    int number[2] = {0, 0};
    size_t at = 0;
    for (int part = 0; part < 2; part++) {
        if (at >= text.len || text.ptr[at] < '0' || text.ptr[at] > '9')
            return false; /* unknown: a new one */
        for (; at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9' && number[part] < 10000; at++)
            number[part] = number[part] * 10 + (text.ptr[at] - '0');
        at++;
    }
    return number[0] < major || (number[0] == major && number[1] < minor);
}

static bool is_python(const struct pyro_app *app, enum pyro_manager manager)
{
    if (manager == PYRO_MANAGER_YARN)
        return pyro_app_property_bool(app, "spark.yarn.isPython", false);
    return manager == PYRO_MANAGER_KUBERNETES &&
           pyro_slice_is(pyro_app_property(app, "spark.kubernetes.resource.type"), "python");
}

/* The memory overhead that is asked for, as a share of the heap. */
static double overhead_factor(const struct pyro_app *app, enum pyro_manager manager, const char *key)
{
    struct pyro_slice text = pyro_app_property(app, key);
    double usual = 0.1;
    if (!text.ptr && manager == PYRO_MANAGER_YARN)
        text = pyro_app_property(app, "spark.yarn.executor.memoryOverheadFactor"); /* EMR's own */
    if (!text.ptr && manager == PYRO_MANAGER_KUBERNETES) {
        struct pyro_slice type = pyro_app_property(app, "spark.kubernetes.resource.type");
        text = pyro_app_property(app, "spark.kubernetes.memoryOverheadFactor");
        usual = pyro_slice_is(type, "python") || pyro_slice_is(type, "r") ? 0.4 : 0.1;
    }
    return pyro_property_decimal(text, usual);
}

static int64_t overhead(double factor, int64_t heap_mib, int64_t least_mib)
{
    double mib = factor * (double)heap_mib;
    int64_t whole = mib < MOST_MIB ? (int64_t)mib : MOST_MIB;
    return whole > least_mib ? whole : least_mib;
}

static int64_t profile_amount(const struct pyro_app *app, int64_t profile, const char *name)
{
    char key[96];
    double amount;
    if (profile < 0)
        return PYRO_NONE;
    snprintf(key, sizeof(key), "%lld.executor.%s", (long long)profile, name);
    amount = pyro_property_decimal(pyro_app_property_of(app, "resource_profile", key), -1);
    return amount < 0 || amount > MOST_MIB ? PYRO_NONE : (int64_t)amount;
}

/* CPUs as Kubernetes writes them: "2", "0.5", "500m". */
static int64_t cpu_milli(struct pyro_slice text)
{
    bool milli = text.len > 1 && text.ptr[text.len - 1] == 'm';
    if (milli)
        text.len--;
    double value = pyro_property_decimal(text, -1);
    value = milli ? value : value * 1000;
    return value < 1 || value > 1e9 ? PYRO_NONE : (int64_t)(value + 0.5);
}

/* YARN gives out whole multiples of its least allocation. */
static int64_t as_given(const struct pyro_app *app, enum pyro_manager manager, int64_t mib)
{
    struct pyro_slice text = pyro_app_property_of(app, "hadoop", "yarn.scheduler.minimum-allocation-mb");
    double step = manager == PYRO_MANAGER_YARN ? pyro_property_decimal(text, 0) : 0;
    if (step < 1 || step > MOST_MIB)
        return mib;
    int64_t whole = (int64_t)step;
    return (mib + whole - 1) / whole * whole;
}

static void add_up(const struct pyro_app *app, enum pyro_manager manager, struct pyro_container *container)
{
    int64_t sum = container->heap_mib + container->overhead_mib + container->offheap_mib + container->pyspark_mib;
    container->container_mib = clamp_mib(as_given(app, manager, sum));
}

struct pyro_container pyro_executor_container(const struct pyro_app *app, int64_t resource_profile)
{
    static const char *const overheads[] = {"spark.executor.memoryOverhead", "spark.yarn.executor.memoryOverhead"};
    enum pyro_manager manager = pyro_app_manager(app);
    if (manager == PYRO_MANAGER_LOCAL)
        return pyro_driver_container(app);
    struct pyro_container container = {.cores = profile_amount(app, resource_profile, "cores"), .cpu_milli = PYRO_NONE};
    if (container.cores == PYRO_NONE)
        container.cores = pyro_app_property_int(app, "spark.executor.cores", PYRO_NONE);
    container.heap_mib = profile_amount(app, resource_profile, "memory");
    if (container.heap_mib == PYRO_NONE)
        container.heap_mib = size_mib(app, "spark.executor.memory");
    if (container.heap_mib == PYRO_NONE)
        container.heap_mib = 1024;
    if (manager == PYRO_MANAGER_KUBERNETES)
        container.cpu_milli = cpu_milli(pyro_app_property(app, "spark.kubernetes.executor.request.cores"));
    /* A standalone worker counts the heap alone. */
    if (manager == PYRO_MANAGER_YARN || manager == PYRO_MANAGER_KUBERNETES) {
        int64_t least = size_mib(app, "spark.executor.minMemoryOverhead");
        container.overhead_mib = profile_amount(app, resource_profile, "memoryOverhead");
        if (container.overhead_mib == PYRO_NONE)
            container.overhead_mib = first_size_mib(app, overheads, 2);
        if (container.overhead_mib == PYRO_NONE)
            container.overhead_mib = overhead(overhead_factor(app, manager, "spark.executor.memoryOverheadFactor"),
                                              container.heap_mib, least == PYRO_NONE ? default_overhead_mib : least);
        int64_t offheap = profile_amount(app, resource_profile, "offHeap");
        if (offheap == PYRO_NONE && pyro_app_property_bool(app, "spark.memory.offHeap.enabled", false)) {
            int64_t bytes = pyro_app_property_size(app, "spark.memory.offHeap.size", 1, 0);
            offheap = clamp_mib(bytes / MIB);
        }
        container.offheap_mib = offheap == PYRO_NONE || spark_before(app, 3, 0) ? 0 : offheap;
        int64_t pyspark = profile_amount(app, resource_profile, "pyspark.memory");
        if (pyspark == PYRO_NONE && is_python(app, manager))
            pyspark = size_mib(app, "spark.executor.pyspark.memory");
        container.pyspark_mib = pyspark == PYRO_NONE || spark_before(app, 2, 4) ? 0 : pyspark;
    }
    add_up(app, manager, &container);
    return container;
}

struct pyro_container pyro_driver_container(const struct pyro_app *app)
{
    static const char *const overheads[] = {"spark.driver.memoryOverhead", "spark.yarn.driver.memoryOverhead"};
    enum pyro_manager manager = pyro_app_manager(app);
    bool client = pyro_app_client_mode(app);
    int64_t cores = client ? 1 : pyro_app_property_int(app, "spark.driver.cores", 1);
    struct pyro_container container = {.cores = cores < 1 ? 1 : clamp_mib(cores), .cpu_milli = PYRO_NONE};
    container.heap_mib = size_mib(app, "spark.driver.memory");
    if (container.heap_mib == PYRO_NONE)
        container.heap_mib = 1024;
    /* Outside the cluster, no memory overhead is asked for. */
    if (!client && (manager == PYRO_MANAGER_YARN || manager == PYRO_MANAGER_KUBERNETES)) {
        int64_t least = size_mib(app, "spark.driver.minMemoryOverhead");
        container.overhead_mib = first_size_mib(app, overheads, 2);
        if (container.overhead_mib == PYRO_NONE)
            container.overhead_mib = overhead(overhead_factor(app, manager, "spark.driver.memoryOverheadFactor"),
                                              container.heap_mib, least == PYRO_NONE ? default_overhead_mib : least);
        if (manager == PYRO_MANAGER_KUBERNETES)
            container.cpu_milli = cpu_milli(pyro_app_property(app, "spark.kubernetes.driver.request.cores"));
    }
    add_up(app, client ? PYRO_MANAGER_STANDALONE : manager, &container);
    return container;
}

bool pyro_master_container(const struct pyro_app *app, struct pyro_container *ret)
{
    if (pyro_app_manager(app) != PYRO_MANAGER_YARN || !pyro_app_client_mode(app))
        return false;
    int64_t heap = size_mib(app, "spark.yarn.am.memory"), cores = pyro_app_property_int(app, "spark.yarn.am.cores", 1);
    int64_t beside = size_mib(app, "spark.yarn.am.memoryOverhead");
    *ret = (struct pyro_container){.cores = cores < 1 ? 1 : clamp_mib(cores), .cpu_milli = PYRO_NONE};
    ret->heap_mib = heap == PYRO_NONE ? 512 : heap;
    ret->overhead_mib = beside == PYRO_NONE ? overhead(0.1, ret->heap_mib, default_overhead_mib) : beside;
    add_up(app, PYRO_MANAGER_YARN, ret);
    return true;
}
