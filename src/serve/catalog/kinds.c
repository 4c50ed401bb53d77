/* What can be open of an attempt: how it is loaded, shared and closed. */
#include "serve/catalog/parts.h"
#include "session/load.h"

/* ---- Histories ---- */

/* Of a log that is written, a follower stays as `*state`: only what was appended is read the next time. */
static enum pyro_status load_with(const struct serve_log *log, bool with_sql, void **state, void **ret,
                                  uint64_t *ret_memory, struct pyro_error *error)
{
    struct pyro_history_follower *follower = *state;
    pyro_inputs *inputs = NULL;
    struct pyro_history *history = NULL;
    PYRO_TRY(pyro_inputs_of(&log->log, &inputs, error));
    enum pyro_status status = follower || log->log.in_progress
                                  ? pyro_history_follow(&follower, inputs, 0, with_sql, &history, error)
                                  : pyro_history_load(inputs, 0, with_sql, &history, error);
    if (!log->log.in_progress) { /* it has ended: nothing comes any more */
        pyro_history_follower_free(follower);
        follower = NULL;
    }
    *state = follower;
    pyro_inputs_close(inputs);
    PYRO_TRY(status);
    *ret_memory = follower ? 2 * history->memory : history->memory;
    *ret = history;
    return PYRO_OK;
}

static enum pyro_status load_history(const struct serve_log *log, const struct serve_catalog_options *options,
                                     void **state, void **ret, uint64_t *ret_memory, struct pyro_error *error)
{
    (void)options;
    return load_with(log, false, state, ret, ret_memory, error);
}

static enum pyro_status load_sql_history(const struct serve_log *log, const struct serve_catalog_options *options,
                                         void **state, void **ret, uint64_t *ret_memory, struct pyro_error *error)
{
    (void)options;
    return load_with(log, true, state, ret, ret_memory, error);
}

static void stop_following(void *state)
{
    pyro_history_follower_free(state);
}

static void *retain_history(void *value)
{
    return pyro_history_retain(value);
}

static void release_history(void *value)
{
    pyro_history_release(value);
}

static const struct serve_kind_row history_kind = {load_history, retain_history, release_history, stop_following};
static const struct serve_kind_row sql_history_kind = {load_sql_history, retain_history, release_history,
                                                       stop_following};

const struct serve_kind_row *const pyro_serve_kinds[SERVE_KINDS] = {
    [SERVE_KIND_HISTORY] = &history_kind,
    [SERVE_KIND_SQL_HISTORY] = &sql_history_kind,
    [SERVE_KIND_DIAGNOSIS] = &pyro_serve_kind_diagnosis,
};

enum pyro_status pyro_serve_catalog_history(struct serve_catalog *catalog, struct pyro_slice id,
                                            struct pyro_slice attempt, bool with_sql, struct pyro_history **ret,
                                            struct pyro_error *error)
{
    void *value = NULL;
    enum serve_kind kind = with_sql ? SERVE_KIND_SQL_HISTORY : SERVE_KIND_HISTORY;
    PYRO_TRY(pyro_serve_catalog_open_kind(catalog, kind, id, attempt, &value, error));
    *ret = value;
    return PYRO_OK;
}
