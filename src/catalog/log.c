/* A log as it was found on disk. */
#include <errno.h>
#include <stdlib.h>

#include "base/memory/allocator.h"
#include "base/threads/cpu_meter.h"
#include "catalog/limited.h"
#include "catalog/log.h"
#include "catalog/update.h"

bool pyro_catalog_log_stat(const struct pyro_log *log, struct pyro_file_stamp *stamps)
{
    struct stat status;
    for (size_t i = 0; i < log->part_count; i++) {
        if (stat(log->parts[i].path.ptr, &status) != 0)
            return false;
        stamps[i] = pyro_file_stamp_of(&status);
    }
    return true;
}

/* ---- One block of memory ---- */

static size_t text_bytes(struct pyro_slice text)
{
    return text.ptr ? text.len + 1 : 0;
}

static struct pyro_slice put(char **at, struct pyro_slice text)
{
    char *copy = *at;
    if (!text.ptr)
        return text;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *at += text.len + 1;
    return (struct pyro_slice){copy, text.len};
}

static size_t stored_bytes(const struct pyro_catalog_stored *stored)
{
    return sizeof(*stored) + text_bytes(stored->path) + text_bytes(stored->access.users) +
           text_bytes(stored->access.groups) + text_bytes(stored->access.admins) +
           text_bytes(stored->access.admin_groups);
}

static size_t bytes_of(const struct pyro_log *log, const struct pyro_attempt *attempt, struct pyro_slice problem)
{
    size_t bytes = sizeof(struct pyro_catalog_log) + text_bytes(log->path) + text_bytes(problem);
    bytes += log->part_count * (sizeof(struct pyro_file_stamp) + sizeof(struct pyro_log_part));
    for (size_t i = 0; i < log->part_count; i++)
        bytes += text_bytes(log->parts[i].path) + text_bytes(log->parts[i].member) + text_bytes(log->parts[i].inside);
    if (attempt)
        bytes += text_bytes(attempt->app_id) + text_bytes(attempt->attempt_id) + text_bytes(attempt->name) +
                 text_bytes(attempt->user) + text_bytes(attempt->version);
    return bytes;
}

struct pyro_catalog_log *pyro_catalog_log_new(const struct pyro_log *log, const struct pyro_file_stamp *stamps,
                                              const struct pyro_attempt *attempt, struct pyro_slice problem,
                                              const struct pyro_catalog_stored *stored)
{
    struct pyro_catalog_log *made =
        pyro_allocate(NULL, bytes_of(log, attempt, problem) + (stored ? stored_bytes(stored) : 0));
    if (!made)
        return NULL;
    *made = (struct pyro_catalog_log){.log = *log, .stamps = (struct pyro_file_stamp *)(made + 1)};
    atomic_init(&made->references, 1);
    made->log.meter = NULL; /* it belongs to the search */
    made->log.parts = (struct pyro_log_part *)(made->stamps + log->part_count);
    struct pyro_catalog_stored *copy = (struct pyro_catalog_stored *)(made->log.parts + log->part_count);
    char *at = (char *)(copy + (stored != NULL));
    if (stored) {
        *copy = *stored;
        copy->path = put(&at, stored->path);
        copy->access.users = put(&at, stored->access.users);
        copy->access.groups = put(&at, stored->access.groups);
        copy->access.admins = put(&at, stored->access.admins);
        copy->access.admin_groups = put(&at, stored->access.admin_groups);
        made->stored = copy;
    }
    made->log.path = put(&at, log->path);
    made->problem = put(&at, problem);
    for (size_t i = 0; i < log->part_count; i++) {
        made->stamps[i] = stamps[i];
        made->log.parts[i] = (struct pyro_log_part){.path = put(&at, log->parts[i].path),
                                                    .member = put(&at, log->parts[i].member),
                                                    .compacted = log->parts[i].compacted,
                                                    .place = log->parts[i].place,
                                                    .most_bytes = log->parts[i].most_bytes,
                                                    .inside = put(&at, log->parts[i].inside),
                                                    .limit_option = log->parts[i].limit_option};
    }
    if (attempt) {
        made->attempt = *attempt;
        made->attempt.app_id = put(&at, attempt->app_id);
        made->attempt.attempt_id = put(&at, attempt->attempt_id);
        made->attempt.name = put(&at, attempt->name);
        made->attempt.user = put(&at, attempt->user);
        made->attempt.version = put(&at, attempt->version);
    }
    return made;
}

struct pyro_catalog_log *pyro_catalog_log_retain(const struct pyro_catalog_log *log)
{
    struct pyro_catalog_log *counted = pyro_unconst(log);
    atomic_fetch_add_explicit(&counted->references, 1, memory_order_relaxed);
    return counted;
}

void pyro_catalog_log_release(const struct pyro_catalog_log *log)
{
    struct pyro_catalog_log *counted = pyro_unconst(log);
    if (counted && atomic_fetch_sub_explicit(&counted->references, 1, memory_order_acq_rel) == 1)
        pyro_release(NULL, counted);
}

void pyro_catalog_logs_done(pyro_catalog_logs *logs)
{
    for (size_t i = 0; i < logs->count; i++)
        pyro_catalog_log_release(logs->items[i]);
    pyro_vec_done(logs, NULL);
}

/* ---- Comparing ---- */

bool pyro_catalog_log_same(const struct pyro_catalog_log *log, const struct pyro_log *other,
                           const struct pyro_file_stamp *stamps)
{
    if (log->log.part_count != other->part_count || log->log.in_progress != other->in_progress ||
        log->log.layout != other->layout || !pyro_slice_eq(log->log.path, other->path))
        return false;
    for (size_t i = 0; i < other->part_count; i++)
        if (!pyro_file_stamp_eq(log->stamps[i], stamps[i]) ||
            !pyro_slice_eq(log->log.parts[i].path, other->parts[i].path) ||
            !pyro_slice_eq(log->log.parts[i].member, other->parts[i].member))
            return false;
    return true;
}

bool pyro_catalog_is_sent(struct pyro_slice path, const char *uploads)
{
    return uploads && pyro_slice_starts_with(path, uploads) && path.ptr[strlen(uploads)] == '/';
}

bool pyro_catalog_is_uploaded(const struct pyro_catalog_log *log, const char *uploads)
{
    return pyro_catalog_is_sent(log->log.path, uploads);
}

uint64_t pyro_catalog_log_bytes(const struct pyro_catalog_log *log)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < log->log.part_count; i++)
        bytes += log->stamps[i].bytes;
    return bytes;
}

/* ---- Scanning ---- */

struct pyro_catalog_log *pyro_catalog_log_scan(const struct pyro_catalog_update *update, const struct pyro_log *log,
                                               const struct pyro_file_stamp *stamps, bool *ret_gone)
{
    bool sent = pyro_catalog_is_sent(log->path, update->uploads);
    struct pyro_cpu_meter meter = {.most_us = sent ? update->costs->cpu_us : 0};
    uint64_t stamp = pyro_cpu_now();
    struct pyro_arena arena;
    struct pyro_attempt attempt = {0};
    struct pyro_error error = {.size = sizeof(error)};
    pyro_inputs *inputs = NULL;
    struct pyro_catalog_log *made = NULL;
    struct stat status;
    pyro_arena_init(&arena, NULL);
    enum pyro_status result =
        pyro_catalog_inputs_of(log, sent ? update->costs : NULL, &meter, update->redaction, &inputs, &error);
    if (result == PYRO_OK)
        result = pyro_attempt_scan(inputs, 0, &arena, &attempt, &error);
    if (result == PYRO_OK)
        made = pyro_catalog_log_new(log, stamps, &attempt, PYRO_SLICE_NULL, NULL);
    else if (stat(log->parts[0].path.ptr, &status) != 0 && errno == ENOENT)
        *ret_gone = true;
    else if (result != PYRO_ERROR_MEMORY)
        made = pyro_catalog_log_new(log, stamps, NULL, pyro_slice_from(error.message), NULL);
    if (made && result != PYRO_OK)
        made->passing = !error.lasting;
    pyro_inputs_close(inputs);
    pyro_arena_done(&arena);
    if (made && sent) {
        made->exhausted = pyro_cpu_is_spent(&meter);
        made->cpu_us = pyro_cpu_now() - stamp;
    }
    return made;
}
