/* What a store keeps of a diagnosis. */
#include <stdlib.h>
#include <time.h>

#include "base/memory/allocator.h"
#include "report/sparkview/sparkview.h"
#include "store/store.h"

int64_t pyro_store_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct pyro_slice property_of(const void *app, const char *key)
{
    return pyro_app_property(app, key);
}

static bool add_document(struct pyro_run *run, const struct pyro_run_origin *origin, bool spark_4)
{
    const struct pyro_app *app = run->diagnosis->app;
    const struct pyro_spark_document document = {
        .history_host = origin->history_host ? pyro_slice_from(origin->history_host) : PYRO_SLICE_NULL,
        .time_processed_ms = run->recorded_ms,
        .is_final_attempt = run->is_final_attempt,
        .spark_4 = spark_4,
    };
    if (!app->history)
        return true;
    bool ok = pyro_spark_write_document(app, &document, &run->document);
    run->raw = pyro_strbuf_slice(&run->document);
    return ok;
}

/* "4.0.1" */
static bool is_spark_4(struct pyro_slice version)
{
    return version.len > 1 && version.ptr[1] == '.' && version.ptr[0] >= '4';
}

static bool add_parts(struct pyro_run *run, const struct pyro_run_origin *origin)
{
    const struct pyro_app *app = run->diagnosis->app;
    struct pyro_slice version =
        origin->history_version ? pyro_slice_from(origin->history_version) : app->listed.version;
    /* Answers have what the server's version has, and no more. */
    bool spark_4 = (app->history && app->history->answered) || is_spark_4(version);
    return pyro_run_add_properties(run) && pyro_run_add_advice(run) && pyro_run_add_allocation(run) &&
           pyro_run_add_usage(run) && pyro_run_aggregate(run, spark_4) && add_document(run, origin, spark_4);
}

enum pyro_status pyro_run_make(const struct pyro_diagnosis *diagnosis, const struct pyro_run_origin *origin,
                               struct pyro_run *ret, struct pyro_error *error)
{
    const struct pyro_app *app = diagnosis->app;
    const struct pyro_allocator *allocator = diagnosis->arena.allocator;
    *ret = (struct pyro_run){.diagnosis = diagnosis, .baseline = origin->baseline};
    pyro_arena_init(&ret->arena, allocator);
    pyro_strbuf_init(&ret->text, allocator);
    pyro_strbuf_init(&ret->document, NULL);
    ret->recorded_ms = pyro_store_now_ms();
    ret->name = pyro_slice_from(pyro_app_name(app));
    /* Without an identity the log's own name must do. */
    ret->app_id = app->application.id.len > 0 ? app->application.id : app->path;
    ret->attempt = app->application.attempt;
    ret->access = pyro_access_read(property_of, app);
    ret->application = ret->type = ret->tag = ret->name;
    ret->version = PYRO_SLICE_LITERAL("");
    ret->input_bytes = app->numbers.input_bytes;
    ret->queue = pyro_app_property(app, "spark.yarn.queue");
    ret->source = origin->source ? pyro_slice_from(origin->source) : PYRO_SLICE_NULL;
    ret->is_final_attempt = !origin->has_later_attempt;
    if (!ret->app_id.ptr)
        ret->app_id = PYRO_SLICE_LITERAL("");
    if (!ret->attempt.ptr)
        ret->attempt = PYRO_SLICE_LITERAL("");
    /* Another process may ask for this log from another folder. */
    char *absolute = app->path.ptr ? realpath(app->path.ptr, NULL) : NULL;
    ret->path = pyro_arena_copy(&ret->arena, pyro_slice_from(absolute ? absolute : app->path.ptr ? app->path.ptr : ""));
    free(absolute);
    if (!ret->path.ptr)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for what a store keeps of a run");
    struct pyro_writer writer = pyro_strbuf_writer(&ret->text);
    PYRO_TRY(pyro_report_write(diagnosis, PYRO_FORMAT_JSON, NULL, &writer, error));
    ret->report = pyro_strbuf_slice(&ret->text);
    if (!add_parts(ret, origin))
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for what a store keeps of a run");
    return PYRO_OK;
}

void pyro_run_done(struct pyro_run *run)
{
    pyro_vec_done(&run->aggregates, run->arena.allocator);
    pyro_vec_done(&run->properties, run->arena.allocator);
    pyro_vec_done(&run->tags, run->arena.allocator);
    pyro_vec_done(&run->usage, run->arena.allocator);
    pyro_vec_done(&run->advice, run->arena.allocator);
    pyro_strbuf_done(&run->text);
    pyro_strbuf_done(&run->document);
    pyro_arena_done(&run->arena);
}
