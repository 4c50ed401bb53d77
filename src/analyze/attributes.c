#include "analyze/attributes.h"

#include <stdio.h>

#include "analyze/analyze.h"
#include "base/memory/allocator.h"
#include "base/numbers/units.h"

static bool add(struct pyro_app *app, const char *table, int64_t row, const char *key, struct pyro_slice value)
{
    if (value.len == 0)
        return true;
    struct pyro_attribute *added = pyro_vec_push(&app->attributes, app->allocator);
    if (!added)
        return false;
    *added = (struct pyro_attribute){
        .table = pyro_slice_from(table), .row = row, .key = pyro_slice_from(key), .value = value};
    return true;
}

/* ---- Who started the application --------------------------------------------------------------------------------- */

/* A variable of Airflow, wherever a cluster manager has to set it. */
static struct pyro_slice variable(const struct pyro_app *app, const char *name)
{
    static const char *const places[] = {"spark.yarn.appMasterEnv.", "spark.kubernetes.driverEnv.",
                                         "spark.executorEnv."};
    struct pyro_slice value = PYRO_SLICE_NULL;
    for (size_t i = 0; i < sizeof(places) / sizeof(*places) && value.len == 0; i++) {
        char key[96];
        snprintf(key, sizeof(key), "%s%s", places[i], name);
        value = pyro_app_property(app, key);
    }
    return value;
}

/* "dag.task". Both may have dots (tasks in groups have): the name of the outermost parent is the dag's, where it is
 * given; else the dag ends at the first dot. */
static void split_parent(const struct pyro_app *app, struct pyro_slice *dag, struct pyro_slice *task)
{
    struct pyro_slice name = pyro_app_property(app, "spark.openlineage.parentJobName");
    struct pyro_slice root = pyro_app_property(app, "spark.openlineage.rootParentJobName");
    bool rooted =
        root.len > 0 && root.len < name.len && memcmp(name.ptr, root.ptr, root.len) == 0 && name.ptr[root.len] == '.';
    const char *dot = rooted ? name.ptr + root.len : name.len > 0 ? memchr(name.ptr, '.', name.len) : NULL;
    if (!dot || dot == name.ptr)
        return;
    *dag = (struct pyro_slice){name.ptr, (size_t)(dot - name.ptr)};
    *task = (struct pyro_slice){dot + 1, name.len - dag->len - 1};
}

static struct pyro_slice first_of(struct pyro_slice a, struct pyro_slice b, struct pyro_slice c)
{
    return a.len > 0 ? a : b.len > 0 ? b : c;
}

static bool add_orchestrator(struct pyro_app *app)
{
    struct pyro_slice dag = PYRO_SLICE_NULL, task = PYRO_SLICE_NULL;
    split_parent(app, &dag, &task);
    dag = first_of(pyro_app_property(app, "spark.pyrometer.orchestrator.dag_id"), variable(app, "AIRFLOW_CTX_DAG_ID"),
                   dag);
    task = first_of(pyro_app_property(app, "spark.pyrometer.orchestrator.task_id"),
                    variable(app, "AIRFLOW_CTX_TASK_ID"), task);
    struct pyro_slice run =
        first_of(pyro_app_property(app, "spark.pyrometer.orchestrator.run_id"), variable(app, "AIRFLOW_CTX_DAG_RUN_ID"),
                 pyro_app_property(app, "spark.openlineage.parentRunId"));
    return add(app, "applications", 0, PYRO_ATTRIBUTE_DAG, dag) &&
           add(app, "applications", 0, PYRO_ATTRIBUTE_TASK, task) &&
           add(app, "applications", 0, PYRO_ATTRIBUTE_RUN, run);
}

/* ---- Whose trace it is part of ----------------------------------------------------------------------------------- */

static bool is_hex(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f')))
            return false;
    return true;
}

/* An id is not zero. */
static bool is_id(struct pyro_slice text)
{
    size_t zeros = 0;
    while (zeros < text.len && text.ptr[zeros] == '0')
        zeros++;
    return zeros < text.len && is_hex(text.ptr, text.len);
}

/* A traceparent of https://www.w3.org/TR/trace-context/: "VERSION-TRACE-SPAN-FLAGS", in later versions than 00 more
 * behind that. The plugin reads it likewise (jvm/.../connect/TraceContext.java). */
static bool read_trace(struct pyro_slice text, struct pyro_slice *trace, struct pyro_slice *span)
{
    enum { TRACE_AT = 3, TRACE_LEN = 32, SPAN_AT = 36, SPAN_LEN = 16, FLAGS_AT = 53, WHOLE = 55, MOST = 512 };
    if (text.len < WHOLE || text.len > MOST || text.ptr[TRACE_AT - 1] != '-' || text.ptr[SPAN_AT - 1] != '-' ||
        text.ptr[FLAGS_AT - 1] != '-' || !is_hex(text.ptr, 2) || !is_hex(text.ptr + FLAGS_AT, 2) ||
        pyro_slice_starts_with(text, "ff"))
        return false;
    if (text.len > WHOLE && (pyro_slice_starts_with(text, "00") || text.ptr[WHOLE] != '-'))
        return false;
    *trace = (struct pyro_slice){text.ptr + TRACE_AT, TRACE_LEN};
    *span = (struct pyro_slice){text.ptr + SPAN_AT, SPAN_LEN};
    return is_id(*trace) && is_id(*span);
}

static bool add_trace(struct pyro_app *app)
{
    struct pyro_slice trace, span;
    return !read_trace(pyro_trim(pyro_app_property(app, "spark.pyrometer.trace.parent")), &trace, &span) ||
           (add(app, "applications", 0, PYRO_ATTRIBUTE_TRACE, trace) &&
            add(app, "applications", 0, PYRO_ATTRIBUTE_PARENT_SPAN, span));
}

/* ---- Tags of jobs ------------------------------------------------------------------------------------------------ */

/* Spark Connect tags the jobs of an operation: "SparkConnect_OperationTag_User_..._Session_..._Operation_ID" (3.4:
 * "SparkConnect_Execute_..."). Spark 4 tags the jobs of each session: of no use to a reader. */
static bool add_tag(struct pyro_app *app, int64_t job, struct pyro_slice tag)
{
    static const char mark[] = "_Operation_";
    const char *operation = pyro_slice_starts_with(tag, "SparkConnect_") ? pyro_slice_find(tag, mark) : NULL;
    if (operation) {
        operation += sizeof(mark) - 1;
        struct pyro_slice id = {operation, tag.len - (size_t)(operation - tag.ptr)};
        return add(app, "jobs", job, "spark.connect.operation_id", id);
    }
    return pyro_slice_starts_with(tag, "spark-session-") || add(app, "jobs", job, "spark.job.tag", tag);
}

static bool add_tags(struct pyro_app *app, const struct pyro_job *job)
{
    for (struct pyro_slice rest = job->tags; rest.len > 0;) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        struct pyro_slice tag = {rest.ptr, comma ? (size_t)(comma - rest.ptr) : rest.len};
        if (!add_tag(app, job->id, tag))
            return false;
        pyro_slice_drop(&rest, tag.len + (comma != NULL));
    }
    return true;
}

enum pyro_status pyro_analyze_attributes(struct pyro_app *app, struct pyro_error *error)
{
    app->attributes.count = 0;
    bool ok = add_orchestrator(app) && add_trace(app);
    for (size_t i = 0; i < app->jobs.count && ok; i++)
        ok = add_tags(app, &app->jobs.items[i]);
    return ok ? PYRO_OK : pyro_no_memory(error);
}

struct pyro_slice pyro_app_attribute(const struct pyro_app *app, const char *key)
{
    for (size_t i = 0; i < app->attributes.count; i++) {
        const struct pyro_attribute *attribute = &app->attributes.items[i];
        if (!pyro_slice_is(attribute->table, "applications"))
            break; /* those of the application come first */
        if (pyro_slice_is(attribute->key, key))
            return attribute->value;
    }
    return PYRO_SLICE_NULL;
}
