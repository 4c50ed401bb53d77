#include "decode/logs/errors.h"

#include <stdlib.h>

#include "base/collections/hash.h"
#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "base/memory/arena.h"
#include "base/strings/intern.h"
#include "decode/intake.h"
#include "decode/logs/named_task.h"
#include "model/column.h"
#include "model/exception_chain.h"
#include "model/failure_kinds.h"
#include "model/failure_text.h"

enum {
    TEXT_MOST = 32 << 10,
    TEXT_SHORT = 2 << 10, /* of each, once all together have */
    TEXTS_MOST = 64 << 20,
    TELLING_MOST = 4 << 10, /* of what says the cause */
    EXECUTOR_WITHIN = 512   /* bytes of a message */
};

struct entry {
    uint64_t count, sequence; /* sequence: of the last one */
    int64_t first_ms, last_ms;
    enum pyro_log_level level;
    uint32_t logger; /* in the pool; UINT32_MAX: null */
    char *text;      /* the last one, as it was read */
    size_t len, capacity;
    PYRO_VEC(int64_t) containers, executors; /* numbers in the pool */
    PYRO_VEC(int64_t) tasks, stages;
};

struct pyro_log_errors {
    const struct pyro_allocator *allocator;
    struct pyro_arena arena;
    struct pyro_string_pool *pool;
    struct pyro_map places; /* hash of an error -> its entry + 1 */
    PYRO_VEC(struct entry) entries;
    uint64_t sequence, other;
    size_t text_bytes;
    struct pyro_intake intake; /* hides secrets of what enters the pool */
    struct pyro_strbuf telling;
};

enum pyro_status pyro_log_errors_new(const struct pyro_allocator *allocator, enum pyro_redaction redaction,
                                     struct pyro_log_errors **ret, struct pyro_error *error)
{
    struct pyro_log_errors *errors = pyro_allocate(allocator, sizeof(*errors));
    if (!errors)
        return pyro_no_memory(error);
    *errors = (struct pyro_log_errors){.allocator = allocator};
    pyro_arena_init(&errors->arena, allocator);
    pyro_map_init(&errors->places, allocator);
    pyro_strbuf_init(&errors->telling, allocator);
    errors->pool = pyro_string_pool_new(allocator);
    if (!errors->pool) {
        pyro_log_errors_free(errors);
        return pyro_no_memory(error);
    }
    pyro_intake_init(&errors->intake, errors->pool, redaction, allocator);
    *ret = errors;
    return PYRO_OK;
}

void pyro_log_errors_free(struct pyro_log_errors *errors)
{
    if (!errors)
        return;
    const struct pyro_allocator *allocator = errors->allocator;
    for (size_t i = 0; i < errors->entries.count; i++) {
        struct entry *entry = &errors->entries.items[i];
        pyro_release(allocator, entry->text);
        pyro_vec_done(&entry->containers, allocator);
        pyro_vec_done(&entry->executors, allocator);
        pyro_vec_done(&entry->tasks, allocator);
        pyro_vec_done(&entry->stages, allocator);
    }
    pyro_vec_done(&errors->entries, allocator);
    pyro_map_done(&errors->places);
    pyro_strbuf_done(&errors->telling);
    if (errors->pool) {
        pyro_intake_done(&errors->intake);
        pyro_string_pool_release(errors->pool);
    }
    pyro_arena_done(&errors->arena);
    pyro_release(allocator, errors);
}

/* ---- What is an error, and which ----------------------------------------------------------------------------------
 */

static struct pyro_slice first_line(struct pyro_slice text)
{
    const char *newline = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
    return newline ? (struct pyro_slice){text.ptr, (size_t)(newline - text.ptr)} : text;
}

/* "Lost executor 4 on 10.0.0.7:": what follows says why. */
static bool goes_on(struct pyro_slice line)
{
    while (line.len > 0 && (line.ptr[line.len - 1] == ' ' || line.ptr[line.len - 1] == '\r'))
        line.len--;
    return line.len > 0 && line.ptr[line.len - 1] == ':';
}

/* The first line, and the next one that is not empty if the first one goes on there. */
static struct pyro_slice first_words(struct pyro_slice text)
{
    struct pyro_slice rest = text, line = PYRO_SLICE_NULL;
    if (!goes_on(first_line(text)) || !pyro_next_line(&rest, &line))
        return first_line(text);
    while (pyro_next_line(&rest, &line) && line.len == 0)
        ;
    return (struct pyro_slice){text.ptr, (size_t)(line.ptr + line.len - text.ptr)};
}

/* Numbers in messages do not count, except the one with which a process ended. */
static uint64_t hash_exit_code(struct pyro_slice message)
{
    enum { WITHIN = 512 };
    struct pyro_slice text = {message.ptr, message.len < WITHIN ? message.len : WITHIN};
    if (!pyro_slice_find(text, "exit") && !pyro_slice_find(text, "Exit"))
        return 0;
    int code = pyro_exit_code(text);
    return code == -1 ? 0 : pyro_hash_mix((uint64_t)code + 1);
}

/* False: it is none. */
static bool identify(const struct pyro_log_record *record, struct pyro_exception_chain *chain, uint64_t *ret_hash)
{
    bool logged = record->level >= PYRO_LEVEL_ERROR ||
                  (record->level == PYRO_LEVEL_WARN && pyro_tells_an_end(first_words(record->message)));
    bool maybe = record->level == PYRO_LEVEL_WARN
                     ? record->lines > 1 || pyro_slice_find(record->message, "Exception") ||
                           pyro_slice_find(record->message, "Error") || pyro_slice_find(record->message, "Failure")
                     : record->level == PYRO_LEVEL_NONE && pyro_begins_exception(first_line(record->message));
    if (!logged && !maybe)
        return false;
    if (pyro_exception_chain_read(record->message, chain)) {
        *ret_hash = chain->hash ^ hash_exit_code(pyro_chain_root(chain)->message);
        return true;
    }
    struct pyro_slice line = first_words(record->message);
    *ret_hash = pyro_hash_mix(pyro_hash_slice(record->logger) + pyro_message_hash(line)) ^ hash_exit_code(line);
    return logged;
}

/* ---- Collecting -------------------------------------------------------------------------------------------------- */

static bool add_value(int64_t **items, size_t *count, size_t *capacity, int64_t value,
                      const struct pyro_allocator *allocator)
{
    for (size_t i = *count; i-- > 0;) /* mostly one of the last ones */
        if ((*items)[i] == value)
            return true;
    if (*count == PYRO_LOG_ERROR_VALUES)
        return true;
    if (*capacity == *count && !pyro_vec_grow((void **)items, capacity, *count, 1, sizeof(**items), allocator))
        return false;
    (*items)[(*count)++] = value;
    return true;
}

#define ADD_VALUE(vec, value, allocator) add_value(&(vec)->items, &(vec)->count, &(vec)->capacity, value, allocator)

static bool add_text(struct pyro_log_errors *errors, int64_t **items, size_t *count, size_t *capacity,
                     struct pyro_slice text)
{
    uint32_t number = text.ptr ? pyro_intern(errors->pool, text) : 0;
    return number != UINT32_MAX && (!text.ptr || add_value(items, count, capacity, number, errors->allocator));
}

#define ADD_TEXT(errors, vec, text) add_text(errors, &(vec)->items, &(vec)->count, &(vec)->capacity, text)

/* "executor 2" in what the driver says; else whose log it is. */
static struct pyro_slice executor_of(const struct pyro_log_file *file, const struct pyro_log_record *record)
{
    struct pyro_slice text = first_line(record->message);
    text.len = text.len < EXECUTOR_WITHIN ? text.len : EXECUTOR_WITHIN;
    const char *at = pyro_slice_find(text, "xecutor ");
    if (at && (!file->executor.ptr || pyro_slice_is(file->executor, "driver"))) {
        int64_t number;
        struct pyro_slice rest = {at + 8, (size_t)(text.ptr + text.len - at) - 8};
        size_t len = pyro_log_number_read(rest, &number);
        if (len > 0)
            return (struct pyro_slice){rest.ptr, len};
    }
    return file->executor;
}

/* The record as it was written; a line of JSON as what it says. */
static struct pyro_slice shown_text(const struct pyro_log_record *record)
{
    return record->text.len > 0 && *record->text.ptr == '{' ? record->message : record->text;
}

static bool keep_text(struct pyro_log_errors *errors, struct entry *entry, struct pyro_slice text)
{
    size_t most = errors->text_bytes > TEXTS_MOST ? TEXT_SHORT : TEXT_MOST;
    size_t len = text.len < most ? text.len : most;
    if (len > entry->capacity) {
        char *bytes = pyro_reallocate(errors->allocator, entry->text, len);
        if (!bytes)
            return false;
        errors->text_bytes += len - entry->capacity;
        entry->text = bytes;
        entry->capacity = len;
    }
    memcpy(entry->text, text.ptr, len);
    entry->len = len;
    return true;
}

static bool add_record(struct pyro_log_errors *errors, struct entry *entry, const struct pyro_log_file *file,
                       const struct pyro_log_record *record)
{
    const struct pyro_allocator *allocator = errors->allocator;
    struct pyro_log_task task;
    bool ok = true;
    entry->count++;
    if (entry->first_ms == PYRO_NONE || (record->time_ms != PYRO_NONE && record->time_ms < entry->first_ms))
        entry->first_ms = record->time_ms;
    if (record->level > entry->level)
        entry->level = record->level;
    if (pyro_log_task_of(record, &task))
        ok = ADD_VALUE(&entry->tasks, task.tid, allocator);
    if (pyro_log_stage_of(record) != PYRO_NONE)
        ok &= ADD_VALUE(&entry->stages, pyro_log_stage_of(record), allocator);
    ok &= ADD_TEXT(errors, &entry->containers, file->container);
    ok &= ADD_TEXT(errors, &entry->executors, executor_of(file, record));
    /* Of files with different times the last record is not the last one read. */
    if (entry->count > 1 && record->time_ms < entry->last_ms)
        return ok;
    entry->last_ms = record->time_ms;
    entry->sequence = errors->sequence;
    entry->logger = record->logger.ptr ? pyro_intern(errors->pool, record->logger) : UINT32_MAX;
    ok &= !record->logger.ptr || entry->logger != UINT32_MAX;
    return ok && keep_text(errors, entry, shown_text(record));
}

enum pyro_status pyro_log_errors_take(void *context, const struct pyro_log_file *file,
                                      const struct pyro_log_record *record, struct pyro_error *error)
{
    struct pyro_log_errors *errors = context;
    struct pyro_exception_chain chain;
    uint64_t hash;
    errors->sequence++;
    if (!identify(record, &chain, &hash))
        return PYRO_OK;
    const uint64_t *known = pyro_map_get(&errors->places, hash);
    if (!known && errors->entries.count == PYRO_LOG_ERRORS_MOST) {
        errors->other++;
        return PYRO_OK;
    }
    if (!known) {
        uint64_t *place = pyro_map_put(&errors->places, hash, NULL);
        struct entry *added = place ? pyro_vec_push(&errors->entries, errors->allocator) : NULL;
        if (!added)
            return pyro_no_memory(error);
        added->first_ms = added->last_ms = PYRO_NONE;
        *place = errors->entries.count;
        known = place;
    }
    return add_record(errors, &errors->entries.items[*known - 1], file, record) ? PYRO_OK : pyro_no_memory(error);
}

/* ---- Result ------------------------------------------------------------------------------------------------------ */

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->last_ms != y->last_ms)
        return x->last_ms > y->last_ms ? -1 : 1;
    return x->sequence > y->sequence ? -1 : x->sequence < y->sequence;
}

static int compare_ints(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int compare_texts(const void *a, const void *b)
{
    return pyro_slice_compare(*(const struct pyro_slice *)a, *(const struct pyro_slice *)b);
}

static const int64_t *settle_ints(struct pyro_log_errors *errors, int64_t *values, size_t count, size_t *ret_count)
{
    int64_t *settled = pyro_arena_array(&errors->arena, count, sizeof(*settled));
    *ret_count = settled ? count : 0;
    if (settled && count > 0) {
        memcpy(settled, values, count * sizeof(*settled));
        qsort(settled, count, sizeof(*settled), compare_ints);
    }
    return settled;
}

static const struct pyro_slice *settle_texts(struct pyro_log_errors *errors, const int64_t *numbers, size_t count,
                                             size_t *ret_count)
{
    struct pyro_slice *texts = pyro_arena_array(&errors->arena, count, sizeof(*texts));
    *ret_count = texts ? count : 0;
    for (size_t i = 0; texts && i < count; i++)
        texts[i] = pyro_string_pool_text(errors->pool, (uint32_t)numbers[i]);
    if (texts && count > 0)
        qsort(texts, count, sizeof(*texts), compare_texts);
    return texts;
}

static const char *cause_of(struct pyro_log_errors *errors, const struct pyro_exception_chain *chain,
                            struct pyro_slice text)
{
    struct pyro_strbuf *telling = &errors->telling;
    pyro_strbuf_clear(telling);
    pyro_strbuf_add_slice(telling, chain->count == 0 && goes_on(first_line(text)) ? text : first_line(text));
    for (size_t i = 0; i < chain->count && telling->len < TELLING_MOST; i++) {
        pyro_strbuf_add_char(telling, '\n');
        pyro_strbuf_add_slice(telling, chain->items[i].name);
        pyro_strbuf_add_text(telling, ": ");
        pyro_strbuf_add_slice(telling, chain->items[i].message);
    }
    struct pyro_slice told = pyro_strbuf_slice(telling);
    told.len = told.len < TELLING_MOST ? told.len : TELLING_MOST;
    return pyro_log_cause(told);
}

static bool settle_chain(struct pyro_log_errors *errors, const struct pyro_exception_chain *chain,
                         struct pyro_log_error *ret)
{
    struct pyro_slice *classes = pyro_arena_array(&errors->arena, chain->count, sizeof(*classes));
    struct pyro_slice *frames = pyro_arena_array(&errors->arena, chain->frame_count, sizeof(*frames));
    if (!classes || !frames)
        return false;
    for (size_t i = 0; i < chain->count; i++)
        classes[i] = chain->items[i].name;
    for (size_t i = 0; i < chain->frame_count; i++)
        frames[i] = chain->frames[i].text;
    ret->classes = classes;
    ret->class_count = chain->count;
    ret->frames = frames;
    ret->frame_count = chain->frame_count;
    if (chain->count > 0) {
        ret->root = pyro_chain_root(chain)->name;
        ret->message = pyro_chain_root(chain)->message;
    }
    return true;
}

static bool settle(struct pyro_log_errors *errors, struct entry *entry, struct pyro_log_error *ret)
{
    struct pyro_exception_chain chain;
    struct pyro_slice text = {entry->text ? entry->text : "", entry->len};
    text = pyro_arena_copy(&errors->arena, pyro_intake_clean(&errors->intake, text));
    if (!text.ptr || pyro_intake_failed(&errors->intake))
        return false;
    pyro_exception_chain_read(text, &chain);
    *ret = (struct pyro_log_error){.count = entry->count,
                                   .first_ms = entry->first_ms,
                                   .last_ms = entry->last_ms,
                                   .level = entry->level,
                                   .text = text,
                                   .cause = cause_of(errors, &chain, text)};
    if (entry->logger != UINT32_MAX)
        ret->logger = pyro_string_pool_text(errors->pool, entry->logger);
    ret->containers = settle_texts(errors, entry->containers.items, entry->containers.count, &ret->container_count);
    ret->executors = settle_texts(errors, entry->executors.items, entry->executors.count, &ret->executor_count);
    ret->tasks = settle_ints(errors, entry->tasks.items, entry->tasks.count, &ret->task_count);
    ret->stages = settle_ints(errors, entry->stages.items, entry->stages.count, &ret->stage_count);
    return settle_chain(errors, &chain, ret) && !errors->arena.failed && !errors->telling.failed;
}

enum pyro_status pyro_log_errors_finish(struct pyro_log_errors *errors, const struct pyro_log_error **ret,
                                        size_t *ret_count, uint64_t *ret_other, struct pyro_error *error)
{
    size_t count = errors->entries.count;
    struct pyro_log_error *rows = pyro_arena_array(&errors->arena, count, sizeof(*rows));
    if (!rows)
        return pyro_no_memory(error);
    if (count > 0)
        qsort(errors->entries.items, count, sizeof(struct entry), compare_entries);
    for (size_t i = 0; i < count; i++)
        if (!settle(errors, &errors->entries.items[i], &rows[i]))
            return pyro_no_memory(error);
    *ret = rows;
    *ret_count = count;
    *ret_other = errors->other;
    return PYRO_OK;
}
