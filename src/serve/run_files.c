#include "serve/run_files.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/threads/cpu_meter.h"
#include "load/artefacts.h"
#include "source/input.h"

/* What reading uploads takes, all those of a request together. */
struct metering {
    struct pyro_reader_check check;
    struct pyro_cpu_meter meter;
    uint64_t stamp;
    bool began;
};

const char *pyro_serve_no_files(enum serve_files which)
{
    return which == SERVE_TEXT_LOGS
               ? "this run has no text logs next to its event log; docs/bundles.md says where they belong"
               : "this run has no records of profilers next to its event log; docs/bundles.md says where they belong";
}

static bool is_wanted(const struct pyro_artefact_file *file, enum serve_files which)
{
    bool text = file->kind == PYRO_ARTEFACT_TEXT_LOG;
    return which == SERVE_TEXT_LOGS ? text : !text && file->kind != PYRO_ARTEFACT_GC_LOG;
}

/* Not a link that was put there since. */
static bool is_there(const struct pyro_log_part *part)
{
    char real[PATH_MAX];
    struct stat status;
    return lstat(part->path.ptr, &status) == 0 && S_ISREG(status.st_mode) && realpath(part->path.ptr, real) &&
           (!part->inside.ptr || pyro_path_is_inside(real, part->inside));
}

/* The thread that reads is known only when it does. */
static enum pyro_status go_on(void *context, struct pyro_error *error)
{
    struct metering *metering = context;
    if (!metering->began)
        metering->stamp = pyro_cpu_now();
    metering->began = true;
    return pyro_cpu_charge(&metering->meter, &metering->stamp) ? PYRO_OK : pyro_cpu_exceeded(&metering->meter, error);
}

/* NULL: no memory. */
static struct metering *new_metering(struct pyro_catalog *catalog, struct pyro_arena *arena)
{
    struct metering *metering = pyro_arena_alloc(arena, sizeof(*metering));
    if (!metering)
        return NULL;
    *metering = (struct metering){.check = {go_on, metering}, .meter.most_us = pyro_catalog_upload_cpu(catalog)};
    return metering;
}

static bool copy(struct pyro_arena *arena, const struct pyro_artefact_file *file, const struct metering *metering,
                 struct pyro_log_part *ret)
{
    struct pyro_artefact_file kept = {.part = file->part};
    if (!pyro_artefact_file_keep(arena, &kept))
        return false;
    *ret = kept.part;
    if (file->metered)
        ret->check = &metering->check;
    return true;
}

bool pyro_serve_run_files(struct pyro_catalog *catalog, const struct pyro_catalog_list *list,
                          const struct pyro_attempt *attempt, enum serve_files which, struct pyro_arena *arena,
                          struct serve_run_files *ret)
{
    const struct pyro_artefact_file *file;
    const struct metering *metering = new_metering(catalog, arena);
    size_t most = 0, count = 0;
    *ret = (struct serve_run_files){.redaction = pyro_catalog_redaction(catalog)};
    for (size_t at = 0; (file = pyro_catalog_list_file(list, attempt, &at)) != NULL;)
        most += is_wanted(file, which);
    struct pyro_log_part *parts = pyro_arena_array(arena, most + 1, sizeof(*parts));
    if (!metering || !parts)
        return false;
    for (size_t at = 0; (file = pyro_catalog_list_file(list, attempt, &at)) != NULL;) {
        if (!is_wanted(file, which) || !is_there(&file->part))
            continue;
        if (!copy(arena, file, metering, &parts[count++]))
            return false;
    }
    ret->parts = (struct pyro_log_parts){parts, count};
    return true;
}
