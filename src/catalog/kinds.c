/* What can be open of an attempt: how it is loaded, shared and closed. */
#include "catalog/kinds.h"
#include "base/threads/thread.h"
#include "catalog/limited.h"
#include "catalog/log.h"
#include "catalog/open.h"
#include "load/load.h"

/* ---- Histories ---- */

/* Kept with a history: of a log that is written the follower, so that only what was appended is read the next time; of
 * one that has ended the thread that keeps it in a file, so that no request waits for that. */
struct history_state {
    struct pyro_history_follower *follower;
    struct pyro_thread saver;
};

struct save {
    pyro_inputs *inputs;
    struct pyro_history *history;
    struct pyro_strbuf identity;
    char folder[];
};

static void free_save(struct save *save)
{
    if (!save)
        return;
    pyro_inputs_close(save->inputs);
    pyro_history_release(save->history);
    pyro_strbuf_done(&save->identity);
    pyro_release(NULL, save);
}

static void *save_history(void *context)
{
    struct save *save = context;
    pyro_history_index_save(save->folder, save->inputs, 0, save->history, pyro_strbuf_slice(&save->identity));
    free_save(save);
    return NULL;
}

static void stop_saving(struct history_state *state)
{
    pyro_thread_join(&state->saver);
}

static void close_history_state(void *context)
{
    struct history_state *state = context;
    if (!state)
        return;
    stop_saving(state);
    pyro_history_follower_free(state->follower);
    pyro_release(NULL, state);
}

/* Takes over `save`. */
static void start_saving(struct history_state *state, struct save *save, struct pyro_history *history)
{
    save->history = pyro_history_retain(history);
    if (!pyro_thread_start(&state->saver, save_history, save))
        free_save(save);
}

static struct save *new_save(const struct pyro_catalog_log *log, const char *folder, enum pyro_redaction redaction)
{
    size_t bytes = strlen(folder) + 1;
    struct save *save = pyro_allocate(NULL, sizeof(*save) + bytes);
    if (!save)
        return NULL;
    *save = (struct save){0};
    pyro_strbuf_init(&save->identity, NULL);
    memcpy(save->folder, folder, bytes);
    struct pyro_error error = {.size = sizeof(error)};
    if (pyro_inputs_of(&log->log, redaction, &save->inputs, &error) != PYRO_OK ||
        !pyro_history_identify(save->inputs, 0, &save->identity)) {
        free_save(save);
        return NULL;
    }
    return save;
}

/* Files hold whole histories only. */
static bool forgets(const struct pyro_retained_limits *limits)
{
    return limits->tasks || limits->jobs || limits->stages || limits->executions || limits->dead_executors;
}

/* A log that has ended: from its file, or read and then kept. */
static enum pyro_status load_ended(const struct pyro_catalog_log *log, pyro_inputs *inputs, bool with_sql,
                                   const struct pyro_catalog_options *options, struct history_state *state,
                                   struct pyro_history **ret, struct pyro_error *error)
{
    const char *cache = forgets(&options->retained) ? NULL : options->cache;
    *ret = cache ? pyro_history_index_load(cache, inputs, 0, with_sql) : NULL;
    if (*ret)
        return PYRO_OK;
    struct save *save = cache ? new_save(log, cache, options->load.redaction) : NULL;
    enum pyro_status status = pyro_history_load(inputs, 0, with_sql, &options->retained, &options->work, ret, error);
    if (status == PYRO_OK && save)
        start_saving(state, save, *ret);
    else
        free_save(save);
    return status;
}

static enum pyro_status load_with(const struct pyro_catalog_log *log, const struct pyro_catalog_options *options,
                                  bool with_sql, void **kept, struct pyro_catalog_loaded *ret, struct pyro_error *error)
{
    struct history_state *state = *kept;
    pyro_inputs *inputs = NULL;
    struct pyro_cpu_meter meter = {.most_us = options->costs.cpu_us};
    struct pyro_history *history = NULL;
    if (!state) {
        *kept = state = pyro_allocate(NULL, sizeof(*state));
        if (!state)
            return pyro_no_memory(error);
        *state = (struct history_state){0};
    }
    stop_saving(state);
    PYRO_TRY(pyro_catalog_inputs_of(&log->log, log->uploaded ? &options->costs : NULL, &meter, options->load.redaction,
                                    &inputs, error));
    enum pyro_status status = state->follower || log->log.in_progress
                                  ? pyro_history_follow(&state->follower, inputs, 0, with_sql, &options->retained,
                                                        &options->work, &history, error)
                                  : load_ended(log, inputs, with_sql, options, state, &history, error);
    if (!log->log.in_progress) { /* nothing comes any more */
        pyro_history_follower_free(state->follower);
        state->follower = NULL;
    }
    pyro_inputs_close(inputs);
    PYRO_TRY(status);
    *ret = (struct pyro_catalog_loaded){history, state->follower ? 2 * history->memory : history->memory, false};
    return PYRO_OK;
}

static enum pyro_status load_history(const struct pyro_catalog_run *run, const struct pyro_catalog_options *options,
                                     void *before, void **state, struct pyro_catalog_loaded *ret,
                                     struct pyro_error *error)
{
    (void)before;
    return load_with(run->log, options, false, state, ret, error);
}

static enum pyro_status load_sql_history(const struct pyro_catalog_run *run, const struct pyro_catalog_options *options,
                                         void *before, void **state, struct pyro_catalog_loaded *ret,
                                         struct pyro_error *error)
{
    (void)before;
    return load_with(run->log, options, true, state, ret, error);
}

static void *retain_history(void *value)
{
    return pyro_history_retain(value);
}

static void release_history(void *value)
{
    pyro_history_release(value);
}

static const struct pyro_catalog_kind_row history_kind = {load_history, retain_history, release_history,
                                                          close_history_state};
static const struct pyro_catalog_kind_row sql_history_kind = {load_sql_history, retain_history, release_history,
                                                              close_history_state};

const struct pyro_catalog_kind_row *const pyro_catalog_kinds[PYRO_CATALOG_KINDS] = {
    [PYRO_CATALOG_HISTORY] = &history_kind,
    [PYRO_CATALOG_SQL_HISTORY] = &sql_history_kind,
    [PYRO_CATALOG_DIAGNOSIS] = &pyro_catalog_kind_diagnosis,
};

enum pyro_status pyro_catalog_history(struct pyro_catalog *catalog, const struct pyro_catalog_caller *caller,
                                      struct pyro_slice id, struct pyro_slice attempt, bool with_sql,
                                      struct pyro_history **ret, struct pyro_error *error)
{
    void *value = NULL;
    enum pyro_catalog_kind kind = with_sql ? PYRO_CATALOG_SQL_HISTORY : PYRO_CATALOG_HISTORY;
    PYRO_TRY(pyro_catalog_open_kind(catalog, caller, kind, id, attempt, &value, error));
    *ret = value;
    return PYRO_OK;
}
