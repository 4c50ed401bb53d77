/* Memory: heaps and what they may grow to, storage. */
#include <math.h>

#include "analyze/analyze.h"
#include "analyze/app_facts.h"
#include "base/numbers/saturate.h"

static const int64_t MIB = 1024 * 1024; /* Spark's unit for memory without suffix */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b; /* PYRO_NONE is the smallest */
}

/* The driver runs the tasks itself. */
static bool is_local(const struct pyro_app *app)
{
    for (size_t i = 0; i < app->executors.count; i++)
        if (!pyro_slice_is(app->executors.items[i].id, "driver"))
            return false;
    return app->executors.count > 0 || (pyro_slice_starts_with(app->application.master, "local") &&
                                        !pyro_slice_starts_with(app->application.master, "local-cluster"));
}

static int64_t driver_heap_peak(const struct pyro_app *app)
{
    int64_t peak = PYRO_NONE;
    for (size_t i = 0; i < app->executors.count; i++)
        if (pyro_slice_is(app->executors.items[i].id, "driver"))
            peak = larger(peak, app->executors.items[i].heap_peak_bytes);
    if (peak != PYRO_NONE)
        return peak;
    struct pyro_slice text = pyro_app_property_of(app, "metrics", "driver.JVMHeapMemory.peak");
    int64_t bytes = 0;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || __builtin_mul_overflow(bytes, (int64_t)10, &bytes) ||
            __builtin_add_overflow(bytes, (int64_t)(text.ptr[i] - '0'), &bytes))
            return PYRO_NONE;
    return text.len > 0 ? bytes : PYRO_NONE;
}

/* Spark's default where the run set none. A peak above that refutes it: the JVM was started with another heap. */
static int64_t heap_limit(const struct pyro_app *app, const char *key, int64_t peak)
{
    if (app->integrity.settings_unknown)
        return PYRO_NONE;
    int64_t set = pyro_app_property_size(app, key, MIB, PYRO_NONE);
    if (set > 0) /* Spark starts no JVM with less */
        return set;
    return peak > PYRO_DEFAULT_HEAP_BYTES ? PYRO_NONE : PYRO_DEFAULT_HEAP_BYTES;
}

static int64_t storage_peak(const struct pyro_app *app)
{
    int64_t peak = PYRO_NONE;
    for (size_t i = 0; i < app->executors.count; i++)
        peak = larger(peak, app->executors.items[i].storage_peak_bytes);
    if (peak != PYRO_NONE)
        return peak;
    for (size_t i = 0; i < app->rdds.count; i++)
        if (app->rdds.items[i].memory_bytes != PYRO_NONE)
            peak = pyro_add_saturating(peak == PYRO_NONE ? 0 : peak, app->rdds.items[i].memory_bytes);
    return peak;
}

enum pyro_status pyro_analyze_memory(struct pyro_app *app, struct pyro_error *error)
{
    (void)error;
    struct pyro_numbers *numbers = &app->numbers;
    bool local = is_local(app);
    numbers->driver_heap_peak_bytes = driver_heap_peak(app);
    int64_t peak = local ? numbers->driver_heap_peak_bytes : PYRO_NONE;
    for (size_t i = 0; i < app->executors.count; i++)
        if (!pyro_slice_is(app->executors.items[i].id, "driver"))
            peak = larger(peak, app->executors.items[i].heap_peak_bytes);
    numbers->executor_heap_peak_bytes = peak;
    numbers->driver_heap_limit_bytes = heap_limit(app, "spark.driver.memory", numbers->driver_heap_peak_bytes);
    numbers->executor_heap_limit_bytes =
        local ? numbers->driver_heap_limit_bytes : heap_limit(app, "spark.executor.memory", peak);
    numbers->storage_peak_bytes = storage_peak(app);
    numbers->executor_heap_used_share = (double)NAN;
    if (peak >= 0 && numbers->executor_heap_limit_bytes > 0)
        numbers->executor_heap_used_share = fmin(1, (double)peak / (double)numbers->executor_heap_limit_bytes);
    /* Event logs say which blocks were stored, not how often they were asked for: there is nothing to derive it from.
     */
    numbers->cache_hit_share = (double)NAN;
    return PYRO_OK;
}
