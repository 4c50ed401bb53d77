/* environment, storage/rdd, storage/rdd/ID */
#include <stdlib.h>

#include "serve/api.h"

static struct pyro_slice find_value(const pyro_history_pairs *pairs, const char *key)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (pyro_slice_is(pairs->items[i].key, key))
            return pairs->items[i].value;
    return PYRO_SLICE_LITERAL("");
}

static int by_key(const void *a, const void *b)
{
    return pyro_slice_compare(((const struct pyro_history_pair *)a)->key, ((const struct pyro_history_pair *)b)->key);
}

/* Names and values as pairs, sorted by name. False: no memory. */
static bool write_section(struct serve_json *json, const char *key, const pyro_history_pairs *pairs)
{
    struct pyro_history_pair *sorted = pyro_allocate(NULL, (pairs->count + 1) * sizeof(*sorted));
    if (!sorted)
        return false;
    if (pairs->count)
        memcpy(sorted, pairs->items, pairs->count * sizeof(*sorted));
    qsort(sorted, pairs->count, sizeof(*sorted), by_key);
    serve_key(json, key);
    serve_open_array(json);
    for (size_t i = 0; i < pairs->count; i++) {
        serve_element(json);
        serve_open_array(json);
        serve_element(json);
        serve_text(json, sorted[i].key);
        serve_element(json);
        serve_text(json, sorted[i].value);
        serve_close_array(json);
    }
    serve_close_array(json);
    pyro_release(NULL, sorted);
    return true;
}

static void write_profile(struct serve_json *json, const struct pyro_history_profile *profile)
{
    serve_open_object(json);
    serve_put_int(json, "id", profile->id);
    serve_key(json, "executorResources");
    serve_open_object(json);
    for (size_t i = 0; i < profile->executor.count; i++) {
        const struct pyro_history_request *one = &profile->executor.items[i];
        serve_key_slice(json, one->name);
        serve_open_object(json);
        serve_put_text(json, "resourceName", one->name);
        serve_put_int(json, "amount", one->amount);
        serve_put_text(json, "discoveryScript", one->script);
        serve_put_text(json, "vendor", one->vendor);
        serve_close_object(json);
    }
    serve_close_object(json);
    serve_key(json, "taskResources");
    serve_open_object(json);
    for (size_t i = 0; i < profile->task.count; i++) {
        serve_key_slice(json, profile->task.items[i].name);
        serve_open_object(json);
        serve_put_text(json, "resourceName", profile->task.items[i].name);
        serve_key(json, "amount");
        serve_real(json, profile->task.items[i].task_amount);
        serve_close_object(json);
    }
    serve_close_object(json);
    serve_close_object(json);
}

void serve_environment(struct serve_request *request)
{
    static const struct {
        const char *name;
        enum pyro_history_section section;
    } rows[] = {
        {"sparkProperties", PYRO_SECTION_SPARK},      {"hadoopProperties", PYRO_SECTION_HADOOP},
        {"systemProperties", PYRO_SECTION_SYSTEM},    {"metricsProperties", PYRO_SECTION_METRICS},
        {"classpathEntries", PYRO_SECTION_CLASSPATH},
    };
    const struct pyro_history *history = request->history;
    const pyro_history_pairs *jvm = &history->sections[PYRO_SECTION_JVM];
    struct serve_json *json = &request->json;
    bool ok = true;
    if (!history->has_environment) {
        serve_error(request, 404, "No application environment info found");
        return;
    }
    serve_open_object(json);
    serve_key(json, "runtime");
    serve_open_object(json);
    serve_put_text(json, "javaVersion", find_value(jvm, "Java Version"));
    serve_put_text(json, "javaHome", find_value(jvm, "Java Home"));
    serve_put_text(json, "scalaVersion", find_value(jvm, "Scala Version"));
    serve_close_object(json);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        ok = ok && write_section(json, rows[i].name, &history->sections[rows[i].section]);
    serve_key(json, "resourceProfiles");
    serve_open_array(json);
    for (size_t i = 0; i < history->profiles.count; i++) {
        serve_element(json);
        write_profile(json, &history->profiles.items[i]);
    }
    serve_close_array(json);
    serve_close_object(json);
    if (!ok)
        serve_error(request, 500, "no memory left");
}

/* ---- RDDs ---- */

static void write_rdd(struct serve_json *json, const struct pyro_history_rdd *rdd, bool details)
{
    serve_open_object(json);
    serve_put_int(json, "id", rdd->id);
    serve_put_text(json, "name", rdd->name);
    serve_put_int(json, "numPartitions", rdd->partitions);
    serve_put_int(json, "numCachedPartitions", 0);
    serve_put_text(json, "storageLevel", rdd->level);
    serve_put_int(json, "memoryUsed", 0);
    serve_put_int(json, "diskUsed", 0);
    if (details) {
        serve_key(json, "partitions");
        serve_open_array(json);
        serve_close_array(json);
    }
    serve_close_object(json);
}

/* Only RDDs with cached partitions are listed; logs hold no block updates unless asked for, so that none has any. */
void serve_rdds(struct serve_request *request)
{
    serve_open_array(&request->json);
    serve_close_array(&request->json);
}

void serve_rdd(struct serve_request *request)
{
    int64_t id = serve_id(request->arguments[0]);
    for (size_t i = request->history->rdds.count; i-- > 0;) {
        if (request->history->rdds.items[i].id == id && !request->history->rdds.items[i].gone) {
            write_rdd(&request->json, &request->history->rdds.items[i], true);
            return;
        }
    }
    serve_error(request, 404, "no rdd found w/ id %lld", (long long)id);
}
