/* A log's batches into the columns of an application. */
#include <stdio.h>

#include "decode/builder.h"
#include "load/load.h"
#include "load/logged/logged.h"

struct target {
    struct pyro_builder builder;
    bool damaged;
};

static bool begin_part(void *context, struct pyro_slice path)
{
    struct target *target = context;
    return pyro_builder_begin_part(&target->builder, path);
}

static bool apply(void *context, const struct pyro_batch *batch)
{
    struct target *target = context;
    return pyro_builder_apply(&target->builder, batch);
}

static bool reject_long(void *context, uint64_t len)
{
    struct target *target = context;
    return pyro_builder_reject_long(&target->builder, len);
}

static bool note_damage(void *context, const char *damage)
{
    struct target *target = context;
    char note[512];
    target->damaged = true;
    snprintf(note, sizeof(note), "%s: %s after %llu bytes of text", target->builder.part_path.ptr, damage,
             (unsigned long long)target->builder.part_offset);
    return pyro_app_note(target->builder.app, pyro_slice_from(note));
}

static enum pyro_status finish(struct target *target, const struct pyro_log *log, struct pyro_app **ret,
                               struct pyro_error *error)
{
    const struct pyro_integrity *integrity = &target->builder.app->integrity;
    if (pyro_builder_known_events(&target->builder) == 0) {
        pyro_error_set(error, PYRO_ERROR_INPUT,
                       integrity->bytes == 0
                           ? "the file is empty: Spark has not written an event yet, or this is not an event log"
                           : "this is not a Spark event log: none of its %llu lines has a Spark event",
                       (unsigned long long)integrity->lines);
        pyro_error_at(error, log->path.ptr, UINT64_MAX);
        return pyro_error_lasts(error, PYRO_ERROR_INPUT);
    }
    const struct pyro_log_facts facts = {
        .in_progress = log->in_progress,
        .compacted = log->compacted,
        .damaged = target->damaged,
        .missing_parts = log->missing_parts,
    };
    return pyro_builder_finish(&target->builder, &facts, false, ret, error);
}

enum pyro_status pyro_load_log(const struct pyro_log *log, const struct pyro_load_settings *options,
                               struct pyro_app **ret, struct pyro_error *error)
{
    if (log->layout == PYRO_LAYOUT_LOGS)
        return pyro_logged_load(log, options, ret, error);
    struct target target = {0};
    const struct pyro_load_sink sink = {
        .context = &target,
        .wanted = options->wanted & (PYRO_BATCH_HISTORY - 1),
        .begin_part = begin_part,
        .apply = apply,
        .reject_long = reject_long,
        .note_damage = note_damage,
    };
    PYRO_TRY(pyro_builder_init(&target.builder, options->allocator, options->wanted, options->redaction, error));
    enum pyro_status status = pyro_load_batches(log, options, &sink, error);
    if (status == PYRO_OK)
        status = finish(&target, log, ret, error);
    pyro_builder_done(&target.builder);
    return status;
}
