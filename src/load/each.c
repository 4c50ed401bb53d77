/* Many logs, loaded next to each other and taken in their order. */
#include <stdatomic.h>

#include "base/memory/allocator.h"
#include "base/options.h"
#include "base/threads/in_order.h"
#include "load/load.h"

enum { MOST_PHASES = 24, MOST_REMOTE = 4 };

/* What one log has come to. */
struct loaded {
    pyro_app *app;
    void *made;
    enum pyro_status status;
    struct pyro_error error;
    atomic_uint_fast64_t bytes_done, bytes_total;
    const struct pyro_stop *stop; /* while it is loaded next to others */
    struct pyro_phase phases[MOST_PHASES];
    size_t phase_count;
};

struct each {
    const pyro_inputs *inputs;
    const struct pyro_load_options *load;
    struct pyro_options options; /* resolved */
    const struct pyro_each_input *how;
    size_t count;
    atomic_size_t ended;   /* logs */
    struct loaded *loaded; /* of logs, modulo `most` */
    unsigned most;
};

static struct loaded *place_of(struct each *each, size_t index)
{
    return &each->loaded[index % each->most];
}

/* On a thread that must not call the caller back. */
static int note_progress(void *context, const struct pyro_progress *progress)
{
    struct loaded *loaded = context;
    atomic_store_explicit(&loaded->bytes_done, progress->bytes_done, memory_order_relaxed);
    atomic_store_explicit(&loaded->bytes_total, progress->bytes_total, memory_order_relaxed);
    return pyro_stop_is_asked(loaded->stop);
}

static void note_phase(void *context, const struct pyro_phase *phase)
{
    struct loaded *loaded = context;
    if (loaded->phase_count < MOST_PHASES)
        loaded->phases[loaded->phase_count++] = *phase;
}

static void load_one(void *context, size_t index, const struct pyro_stop *stop)
{
    struct each *each = context;
    struct loaded *loaded = place_of(each, index);
    struct pyro_options options = each->options;
    pyro_error_clear(&loaded->error);
    loaded->stop = stop;
    loaded->phase_count = 0;
    atomic_store_explicit(&loaded->bytes_done, 0, memory_order_relaxed);
    atomic_store_explicit(&loaded->bytes_total, 0, memory_order_relaxed);
    if (stop) {
        size_t left = each->count - atomic_load_explicit(&each->ended, memory_order_relaxed);
        options.threads = left < options.threads ? options.threads / (unsigned)left : 1;
        options.progress = note_progress;
        options.progress_context = loaded;
        options.phase = options.phase ? note_phase : NULL;
        options.phase_context = loaded;
    }
    loaded->status = pyro_app_load(each->inputs, index, each->load, &options, &loaded->app, &loaded->error);
    if (loaded->status == PYRO_OK && each->how->work)
        loaded->status =
            each->how->work(each->how->context, index, loaded->app, &options, &loaded->made, &loaded->error);
    atomic_fetch_add_explicit(&each->ended, 1, memory_order_relaxed);
}

static void drop(struct each *each, struct loaded *loaded)
{
    if (loaded->made)
        each->how->drop(each->how->context, loaded->made);
    pyro_app_release(loaded->app);
    loaded->made = NULL;
    loaded->app = NULL;
}

static enum pyro_status take_one(void *context, size_t index, struct pyro_error *error)
{
    struct each *each = context;
    struct loaded *loaded = place_of(each, index);
    const struct pyro_each_input *how = each->how;
    for (size_t i = 0; i < loaded->phase_count; i++)
        each->options.phase(each->options.phase_context, &loaded->phases[i]);
    bool ok = loaded->status == PYRO_OK;
    if (!ok && loaded->status != PYRO_ERROR_INPUT) {
        pyro_error_copy(error, &loaded->error);
        return loaded->status;
    }
    void *made = ok ? loaded->made : NULL;
    loaded->made = ok ? NULL : loaded->made;
    enum pyro_status status =
        how->take(how->context, index, ok ? loaded->app : NULL, made, ok ? NULL : &loaded->error, error);
    drop(each, loaded);
    return status;
}

static enum pyro_status wait_for_one(void *context, size_t index, struct pyro_error *error)
{
    struct each *each = context;
    struct loaded *loaded = place_of(each, index);
    struct pyro_progress progress = {.size = sizeof(progress), .path = pyro_inputs_path(each->inputs, index)};
    progress.bytes_done = atomic_load_explicit(&loaded->bytes_done, memory_order_relaxed);
    progress.bytes_total = atomic_load_explicit(&loaded->bytes_total, memory_order_relaxed);
    if (each->options.progress && each->options.progress(each->options.progress_context, &progress) != 0)
        return pyro_error_set(error, PYRO_ERROR_CANCELLED, "cancelled");
    return PYRO_OK;
}

static bool is_remote(const pyro_inputs *inputs)
{
    for (size_t i = 0; i < pyro_inputs_count(inputs); i++)
        if (pyro_inputs_log(inputs, i)->layout == PYRO_LAYOUT_REMOTE)
            return true;
    return false;
}

enum pyro_status pyro_inputs_each(const pyro_inputs *inputs, const struct pyro_load_options *load,
                                  const struct pyro_options *options, const struct pyro_each_input *how,
                                  struct pyro_error *error)
{
    struct pyro_each_input own = {.size = sizeof(own)};
    struct each each = {.inputs = inputs, .load = load, .how = &own};
    pyro_error_clear(error);
    PYRO_TRY(pyro_options_resolve(options, &each.options, error));
    PYRO_TRY(PYRO_TAKE(&own, how, error));
    if (!inputs || !own.take || (own.work && !own.drop))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "pyro_inputs_each(): the inputs or a function of pyro_each_input are missing");
    each.count = pyro_inputs_count(inputs);
    each.most = is_remote(inputs) && each.options.threads > MOST_REMOTE ? MOST_REMOTE : each.options.threads;
    each.loaded = pyro_allocate(each.options.allocator, each.most * sizeof(*each.loaded));
    if (!each.loaded)
        return pyro_no_memory(error);
    memset(each.loaded, 0, each.most * sizeof(*each.loaded));
    for (unsigned i = 0; i < each.most; i++)
        each.loaded[i].error.size = sizeof(each.loaded[i].error);
    const struct pyro_in_order work = {
        .count = each.count,
        .threads = each.most,
        .most = each.most,
        .context = &each,
        .work = load_one,
        .take = take_one,
        .wait = wait_for_one,
    };
    enum pyro_status status = pyro_in_order_run(&work, error);
    for (unsigned i = 0; i < each.most; i++)
        drop(&each, &each.loaded[i]);
    pyro_release(each.options.allocator, each.loaded);
    return status;
}
