/* Open diagnoses: a finished log is loaded by all threads, one that is being written is fed to a decoder as it grows.
 */
#include <errno.h>

#include "base/memory/allocator.h"
#include "base/memory/counted.h"
#include "catalog/follow_log.h"
#include "catalog/found_artefacts.h"
#include "catalog/kinds.h"
#include "catalog/limited.h"
#include "catalog/log.h"
#include "catalog/open.h"
#include "catalog/stores.h"
#include "load/load.h"
#include "store/store.h"

struct open_diagnosis {
    struct pyro_catalog_diagnosis shown; /* first: what callers hold */
    const struct pyro_catalog_log *run;  /* of a report that is only stored */
    struct pyro_strbuf report;
    struct pyro_counted *memory;
    atomic_int references;
};

/* What is kept of a log that is being written. */
struct follower {
    struct pyro_catalog_position position;
    struct pyro_counted *memory; /* of the decoder and of every application it gave */
    pyro_decoder *decoder;
};

static void *retain(void *value)
{
    atomic_fetch_add_explicit(&((struct open_diagnosis *)value)->references, 1, memory_order_relaxed);
    return value;
}

static void release(void *value)
{
    struct open_diagnosis *open = value;
    if (!open || atomic_fetch_sub_explicit(&open->references, 1, memory_order_acq_rel) != 1)
        return;
    pyro_diagnosis_free(open->shown.diagnosis);
    pyro_app_release(open->shown.app);
    pyro_counted_release(open->memory);
    pyro_strbuf_done(&open->report);
    pyro_catalog_log_release(open->run);
    pyro_release(NULL, open);
}

void pyro_catalog_diagnosis_release(const struct pyro_catalog_diagnosis *diagnosis)
{
    release(pyro_unconst(diagnosis));
}

static void close_follower(void *state)
{
    struct follower *follower = state;
    if (!follower)
        return;
    pyro_catalog_position_done(&follower->position);
    pyro_decoder_free(follower->decoder);
    pyro_counted_release(follower->memory);
    pyro_release(NULL, follower);
}

static struct pyro_options counting(const struct pyro_options *options, const struct pyro_counted *memory)
{
    struct pyro_options own = *options;
    own.allocator = pyro_counted_allocator(memory);
    return own;
}

/* ---- Following ---- */

/* NULL: no memory. */
static struct follower *open_follower(const struct pyro_catalog_log *log, const struct pyro_catalog_options *options,
                                      struct pyro_error *error)
{
    struct follower *follower = pyro_allocate(NULL, sizeof(*follower));
    if (!follower) {
        pyro_error_describe(error, PYRO_ERROR_MEMORY, "no memory left");
        return NULL;
    }
    *follower =
        (struct follower){.memory = pyro_counted_new(&(struct pyro_counted_options){.below = options->work.allocator})};
    enum pyro_status status = follower->memory ? PYRO_OK : pyro_no_memory(error);
    if (status == PYRO_OK) {
        struct pyro_options own = counting(&options->work, follower->memory);
        own.progress = NULL; /* of the request that loads now; the decoder stays */
        status = pyro_decoder_new(log->log.path.ptr, &options->load, &own, &follower->decoder, error);
    }
    if (status == PYRO_OK)
        return follower;
    close_follower(follower);
    return NULL;
}

struct feeding {
    pyro_decoder *decoder;
    const struct pyro_options *work;
};

static enum pyro_status feed(void *context, const void *bytes, size_t len, struct pyro_error *error)
{
    const struct feeding *feeding = context;
    const struct pyro_progress progress = {.size = sizeof(progress), .path = ""};
    if (feeding->work->progress && feeding->work->progress(feeding->work->progress_context, &progress) != 0)
        return pyro_error_set(error, PYRO_ERROR_CANCELLED, "cancelled");
    return pyro_decoder_feed(feeding->decoder, bytes, len, error);
}

static enum pyro_status follow(struct follower *follower, const struct pyro_catalog_log *log,
                               const struct pyro_catalog_options *options, pyro_app **ret, struct pyro_error *error)
{
    struct feeding feeding = {follower->decoder, &options->work};
    PYRO_TRY(pyro_catalog_read_on(&follower->position, log, feed, &feeding, error));
    return pyro_decoder_snapshot(follower->decoder, ret, error);
}

/* The application as far as it is written, by a follower that is kept in *state. PYRO_ERROR_ARGUMENT: not this way. */
static enum pyro_status load_on(const struct pyro_catalog_log *log, const struct pyro_catalog_options *options,
                                void **state, pyro_app **ret, struct pyro_error *error)
{
    struct follower *follower = *state;
    /* A decoder knows one part: it could not say where in another one a record is. */
    bool can = pyro_catalog_can_follow(log) && log->log.part_count == 1 && !log->uploaded; /* which never grow */
    *state = NULL;
    if (follower && (!can || !pyro_catalog_position_fits(&follower->position, log))) {
        close_follower(follower);
        follower = NULL;
    }
    if (!can)
        return PYRO_ERROR_ARGUMENT;
    if (!follower)
        follower = open_follower(log, options, error);
    if (!follower)
        return PYRO_ERROR_MEMORY;
    enum pyro_status status = follow(follower, log, options, ret, error);
    if (status == PYRO_OK)
        *state = follower;
    else
        close_follower(follower);
    return status;
}

/* ---- Loading ---- */

static enum pyro_status load_whole(const struct pyro_catalog_log *log, const struct pyro_catalog_options *options,
                                   const struct pyro_options *own, pyro_app **ret, struct pyro_error *error)
{
    pyro_inputs *inputs = NULL;
    struct pyro_cpu_meter meter = {.most_us = options->costs.cpu_us};
    PYRO_TRY(pyro_catalog_inputs_of(&log->log, log->uploaded ? &options->costs : NULL, &meter, options->load.redaction,
                                    &inputs, error));
    enum pyro_status status = pyro_app_load(inputs, 0, &options->load, own, ret, error);
    pyro_inputs_close(inputs);
    return status;
}

/* What the run's other files say, as pyro_app_load() adds it. */
static enum pyro_status attach(const struct pyro_catalog_run *run, const struct pyro_catalog_options *options,
                               const struct pyro_options *own, pyro_app *app, struct pyro_error *error)
{
    struct pyro_load_settings settings;
    struct pyro_cpu_meter meter = {.most_us = options->costs.cpu_us};
    struct pyro_artefact_list files;
    struct pyro_arena arena;
    if (!run->artefacts)
        return PYRO_OK;
    PYRO_TRY(pyro_load_resolve(&options->load, own, &settings, error));
    pyro_arena_init(&arena, own->allocator);
    enum pyro_status status = pyro_catalog_artefacts_of(run->artefacts, run->log, &arena, &files)
                                  ? pyro_artefacts_attach(&files, app, run->log->log.path, &settings, &meter, error)
                                  : pyro_no_memory(error);
    pyro_arena_done(&arena);
    return status;
}

static enum pyro_status diagnose(const struct pyro_catalog_run *run, const struct pyro_catalog_options *options,
                                 void **state, struct open_diagnosis *open, struct pyro_error *error)
{
    const struct pyro_catalog_log *log = run->log;
    struct pyro_options own;
    enum pyro_status status = load_on(log, options, state, &open->shown.app, error);
    if (status == PYRO_OK)
        open->memory = pyro_counted_retain(((struct follower *)*state)->memory);
    else if (!(open->memory = pyro_counted_new(&(struct pyro_counted_options){.below = options->work.allocator})))
        return pyro_no_memory(error);
    own = counting(&options->work, open->memory);
    if (status == PYRO_ERROR_ARGUMENT)
        status = load_whole(log, options, &own, &open->shown.app, error);
    PYRO_TRY(status);
    pyro_load_say_stale(open->shown.app, log->attempt.modified_ms, options->load.stale_ms);
    PYRO_TRY(attach(run, options, &own, open->shown.app, error));
    return pyro_diagnose(open->shown.app, &options->rules, &own, &open->shown.diagnosis, error);
}

/* What people said of earlier findings; *ret_partial: it cannot be read now, which the diagnosis then says. */
static enum pyro_status apply_store(const char *url, pyro_diagnosis *diagnosis, bool *ret_partial,
                                    struct pyro_error *error)
{
    struct stat found;
    pyro_store *store = NULL;
    *ret_partial = false;
    if (pyro_store_has_file(url) && stat(pyro_store_place(url), &found) != 0 && errno == ENOENT)
        return PYRO_OK; /* nothing was said yet */
    enum pyro_status status = pyro_store_open_to_read(url, &store, error);
    if (status == PYRO_OK)
        status = pyro_store_apply_feedback(store, diagnosis, error);
    pyro_store_close(store);
    if (status == PYRO_OK || status == PYRO_ERROR_MEMORY)
        return status;
    pyro_diagnosis_lacks_feedback(diagnosis);
    *ret_partial = true;
    return PYRO_OK;
}

static enum pyro_status load_report(const struct pyro_catalog_log *log, struct open_diagnosis *open,
                                    struct pyro_error *error)
{
    open->run = pyro_catalog_log_retain(log);
    PYRO_TRY(pyro_catalog_stored_report(log, &open->report, error));
    open->shown.report = pyro_strbuf_slice(&open->report);
    return PYRO_OK;
}

/* The same application judged again. */
static enum pyro_status diagnose_again(const struct open_diagnosis *before, const struct pyro_catalog_options *options,
                                       struct open_diagnosis *open, struct pyro_error *error)
{
    open->shown.app = pyro_app_retain(before->shown.app);
    open->memory = pyro_counted_retain(before->memory);
    const struct pyro_options own = counting(&options->work, open->memory);
    return pyro_diagnose(open->shown.app, &options->rules, &own, &open->shown.diagnosis, error);
}

static enum pyro_status fill(const struct pyro_catalog_run *run, const struct pyro_catalog_options *options,
                             void *before, void **state, struct open_diagnosis *open, struct pyro_error *error)
{
    if (run->log->stored)
        return load_report(run->log, open, error);
    PYRO_TRY(before ? diagnose_again(before, options, open, error) : diagnose(run, options, state, open, error));
    return options->store ? apply_store(options->store, open->shown.diagnosis, &open->shown.partial, error) : PYRO_OK;
}

static enum pyro_status load(const struct pyro_catalog_run *run, const struct pyro_catalog_options *options,
                             void *before, void **state, struct pyro_catalog_loaded *ret, struct pyro_error *error)
{
    struct open_diagnosis *open = pyro_allocate(NULL, sizeof(*open));
    if (!open)
        return pyro_no_memory(error);
    *open = (struct open_diagnosis){0};
    atomic_init(&open->references, 1);
    pyro_strbuf_init(&open->report, NULL);
    enum pyro_status status = fill(run, options, before, state, open, error);
    if (status != PYRO_OK) {
        release(open);
        return status;
    }
    uint64_t memory = run->log->stored ? open->report.len : pyro_counted_bytes(open->memory);
    *ret = (struct pyro_catalog_loaded){open, memory, open->shown.partial};
    return PYRO_OK;
}

const struct pyro_catalog_kind_row pyro_catalog_kind_diagnosis = {load, retain, release, close_follower};

enum pyro_status pyro_catalog_report(struct pyro_catalog *catalog, const struct pyro_catalog_caller *caller,
                                     struct pyro_slice id, struct pyro_slice attempt,
                                     const struct pyro_catalog_diagnosis **ret, struct pyro_error *error)
{
    void *value = NULL;
    PYRO_TRY(pyro_catalog_open_kind(catalog, caller, PYRO_CATALOG_DIAGNOSIS, id, attempt, &value, error));
    *ret = value ? &((struct open_diagnosis *)value)->shown : NULL;
    return PYRO_OK;
}

enum pyro_status pyro_catalog_diagnosis(struct pyro_catalog *catalog, const struct pyro_catalog_caller *caller,
                                        struct pyro_slice id, struct pyro_slice attempt,
                                        const struct pyro_catalog_diagnosis **ret, struct pyro_error *error)
{
    const struct pyro_catalog_diagnosis *found = NULL;
    PYRO_TRY(pyro_catalog_report(catalog, caller, id, attempt, &found, error));
    *ret = found && found->app ? found : NULL;
    if (!found || found->app)
        return PYRO_OK;
    struct pyro_slice path = ((const struct open_diagnosis *)found)->run->stored->path;
    const char *slash = path.ptr ? memrchr(path.ptr, '/', path.len) : NULL;
    if (slash) /* its place is private */
        path = (struct pyro_slice){slash + 1, (size_t)(path.ptr + path.len - slash - 1)};
    pyro_error_describe(error, PYRO_ERROR_INPUT,
                        "only the stored report of this run is available: this request needs its "
                        "log%s%.*s, which no longer exists or cannot be read",
                        path.ptr ? ", " : "", (int)path.len, path.ptr ? path.ptr : "");
    pyro_catalog_diagnosis_release(found);
    return pyro_error_lasts(error, PYRO_ERROR_INPUT);
}
