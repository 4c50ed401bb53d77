/* One value for each property out of the advice of all findings. */
#include <stdlib.h>

#include "rules/engine.h"

/* Properties where two findings may ask for different sizes and the larger one serves both: memory that is enough for
 * the hungrier, retries and partitions that are enough for the fuller. All others: the finding that saves most. */
static const char *const larger_wins[] = {
    "spark.executor.memory",
    "spark.driver.memory",
    "spark.executor.memoryOverhead",
    "spark.sql.shuffle.partitions",
    "spark.default.parallelism",
    "spark.sql.files.maxPartitionBytes",
    "spark.dynamicAllocation.maxExecutors",
};

static bool prefers_larger(struct pyro_slice key)
{
    for (size_t i = 0; i < sizeof(larger_wins) / sizeof(larger_wins[0]); i++)
        if (pyro_slice_is(key, larger_wins[i]))
            return true;
    return false;
}

/* "6g", "512m", "200": a number for comparing only; -1 where it is none. */
static double magnitude(struct pyro_slice value)
{
    double number = 0;
    size_t i = 0;
    for (; i < value.len && value.ptr[i] >= '0' && value.ptr[i] <= '9'; i++)
        number = number * 10 + (value.ptr[i] - '0');
    if (i == 0)
        return -1;
    static const char units[] = "kmgt";
    const char *unit = i < value.len ? strchr(units, value.ptr[i] | 0x20) : NULL;
    for (const char *u = units; unit && u <= unit; u++)
        number *= 1024;
    return number;
}

static int by_key(const void *left, const void *right)
{
    const struct pyro_setting *a = left, *b = right;
    return pyro_slice_compare(a->key, b->key);
}

static void take(struct pyro_diagnosis *diagnosis, const struct pyro_setting *setting)
{
    for (size_t i = 0; i < diagnosis->config_change_count; i++) {
        struct pyro_setting *had = &diagnosis->config_changes[i];
        if (!pyro_slice_eq(had->key, setting->key))
            continue;
        if (prefers_larger(setting->key) && magnitude(setting->value) > magnitude(had->value))
            had->value = setting->value;
        return;
    }
    diagnosis->config_changes[diagnosis->config_change_count++] = *setting;
}

bool pyro_settings_resolve(struct pyro_diagnosis *diagnosis)
{
    size_t most = 1;
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        for (size_t k = 0; k < diagnosis->findings[i].advice_count; k++)
            most += diagnosis->findings[i].advice[k].setting_count;
    diagnosis->config_change_count = 0;
    diagnosis->config_changes = pyro_arena_array(&diagnosis->arena, most, sizeof(*diagnosis->config_changes));
    if (!diagnosis->config_changes)
        return false;
    /* Findings come in their final order, so that the first to name a property is the one that saves most. */
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &diagnosis->findings[i];
        if (finding->severity == PYRO_SEVERITY_LOW || finding->folded)
            continue;
        for (size_t k = 0; k < finding->advice_count; k++)
            for (size_t s = 0; s < finding->advice[k].setting_count; s++)
                take(diagnosis, &finding->advice[k].settings[s]);
    }
    if (diagnosis->config_change_count > 1)
        qsort(diagnosis->config_changes, diagnosis->config_change_count, sizeof(*diagnosis->config_changes), by_key);
    return true;
}
