/* What can be open of an attempt: how it is loaded, shared and closed. */
#include <stdlib.h>

#include "serve/catalog/parts.h"
#include "session/load.h"

/* ---- Memory, counted ----
 *
 * Each piece has its size in front of it. */

enum { SIZE_BYTES = 16 }; /* keeps the alignment that malloc() gives */

struct counted {
    struct pyro_allocator allocator;
    atomic_uint_fast64_t bytes;
};

static void *counted_reallocate(void *context, void *memory, size_t size)
{
    struct counted *counted = context;
    char *block = memory ? (char *)memory - SIZE_BYTES : NULL;
    size_t before = 0;
    if (block)
        memcpy(&before, block, sizeof(before));
    block = size > SIZE_MAX - SIZE_BYTES ? NULL : realloc(block, size + SIZE_BYTES);
    if (!block)
        return NULL;
    memcpy(block, &size, sizeof(size));
    atomic_fetch_add_explicit(&counted->bytes, (uint64_t)size - before, memory_order_relaxed);
    return block + SIZE_BYTES;
}

static void *counted_allocate(void *context, size_t size)
{
    return counted_reallocate(context, NULL, size);
}

static void counted_release(void *context, void *memory)
{
    struct counted *counted = context;
    size_t size;
    if (!memory)
        return;
    memcpy(&size, (char *)memory - SIZE_BYTES, sizeof(size));
    atomic_fetch_sub_explicit(&counted->bytes, size, memory_order_relaxed);
    free((char *)memory - SIZE_BYTES);
}

/* ---- Histories ---- */

static enum pyro_status load_with(const struct serve_log *log, bool with_sql, void **ret, uint64_t *ret_memory,
                                  struct pyro_error *error)
{
    pyro_inputs *inputs = NULL;
    struct pyro_history *history = NULL;
    PYRO_TRY(pyro_inputs_of(&log->log, &inputs, error));
    enum pyro_status status = pyro_history_load(inputs, 0, with_sql, &history, error);
    pyro_inputs_close(inputs);
    PYRO_TRY(status);
    *ret_memory = history->memory;
    *ret = history;
    return PYRO_OK;
}

static enum pyro_status load_history(const struct serve_log *log, const struct pyro_options *options, void **state,
                                     void **ret, uint64_t *ret_memory, struct pyro_error *error)
{
    (void)options;
    (void)state;
    return load_with(log, false, ret, ret_memory, error);
}

static enum pyro_status load_sql_history(const struct serve_log *log, const struct pyro_options *options, void **state,
                                         void **ret, uint64_t *ret_memory, struct pyro_error *error)
{
    (void)options;
    (void)state;
    return load_with(log, true, ret, ret_memory, error);
}

static void *retain_history(void *value)
{
    return pyro_history_retain(value);
}

static void release_history(void *value)
{
    pyro_history_release(value);
}

/* ---- Diagnoses ---- */

struct open_diagnosis {
    struct serve_diagnosis shown;
    struct counted counted;
    atomic_int references;
};

static void *retain_diagnosis(void *value)
{
    atomic_fetch_add_explicit(&((struct open_diagnosis *)value)->references, 1, memory_order_relaxed);
    return value;
}

static void release_diagnosis(void *value)
{
    struct open_diagnosis *open = value;
    if (!open || atomic_fetch_sub_explicit(&open->references, 1, memory_order_acq_rel) != 1)
        return;
    pyro_diagnosis_free(open->shown.diagnosis);
    pyro_app_release(open->shown.app);
    pyro_release(NULL, open);
}

void pyro_serve_diagnosis_release(const struct serve_diagnosis *diagnosis)
{
    release_diagnosis((struct open_diagnosis *)diagnosis); /* its first member */
}

static enum pyro_status diagnose(const struct serve_log *log, const struct pyro_options *options,
                                 struct open_diagnosis *open, struct pyro_error *error)
{
    struct pyro_options counting = *options;
    pyro_inputs *inputs = NULL;
    counting.allocator = &open->counted.allocator;
    counting.progress = NULL;
    PYRO_TRY(pyro_inputs_of(&log->log, &inputs, error));
    enum pyro_status status = pyro_app_load(inputs, 0, &counting, &open->shown.app, error);
    pyro_inputs_close(inputs);
    PYRO_TRY(status);
    return pyro_diagnose(open->shown.app, &counting, &open->shown.diagnosis, error);
}

static enum pyro_status load_diagnosis(const struct serve_log *log, const struct pyro_options *options, void **state,
                                       void **ret, uint64_t *ret_memory, struct pyro_error *error)
{
    struct open_diagnosis *open = pyro_allocate(NULL, sizeof(*open));
    (void)state;
    if (!open)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left");
    memset(open, 0, sizeof(*open));
    atomic_init(&open->references, 1);
    open->counted.allocator =
        (struct pyro_allocator){counted_allocate, counted_reallocate, counted_release, &open->counted};
    enum pyro_status status = diagnose(log, options, open, error);
    if (status != PYRO_OK) {
        release_diagnosis(open);
        return status;
    }
    *ret_memory = atomic_load_explicit(&open->counted.bytes, memory_order_relaxed);
    *ret = open;
    return PYRO_OK;
}

const struct serve_kind_row pyro_serve_kinds[SERVE_KINDS] = {
    [SERVE_KIND_HISTORY] = {load_history, retain_history, release_history, NULL},
    [SERVE_KIND_SQL_HISTORY] = {load_sql_history, retain_history, release_history, NULL},
    [SERVE_KIND_DIAGNOSIS] = {load_diagnosis, retain_diagnosis, release_diagnosis, NULL},
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

enum pyro_status pyro_serve_catalog_diagnosis(struct serve_catalog *catalog, struct pyro_slice id,
                                              struct pyro_slice attempt, const struct serve_diagnosis **ret,
                                              struct pyro_error *error)
{
    void *value = NULL;
    PYRO_TRY(pyro_serve_catalog_open_kind(catalog, SERVE_KIND_DIAGNOSIS, id, attempt, &value, error));
    *ret = value ? &((struct open_diagnosis *)value)->shown : NULL;
    return PYRO_OK;
}
