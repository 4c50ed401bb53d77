#include "serve/run_files.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "load/artefacts.h"
#include "source/input.h"

const char *pyro_serve_no_files(enum serve_files which)
{
    return which == SERVE_TEXT_LOGS
               ? "this run has no text logs next to its event log; docs/bundles.md says where they belong (those of an "
                 "upload are part of its report only)"
               : "this run has no records of profilers next to its event log; docs/bundles.md says where they belong "
                 "(those of an upload are part of its report only)";
}

/* Members of uploaded archives have no path of their own. */
static bool is_wanted(const struct pyro_artefact_file *file, enum serve_files which)
{
    bool text = file->kind == PYRO_ARTEFACT_TEXT_LOG;
    return !file->part.member.ptr && (which == SERVE_TEXT_LOGS ? text : !text && file->kind != PYRO_ARTEFACT_GC_LOG);
}

/* Not a link that was put there since. */
static bool is_there(const struct pyro_log_part *part)
{
    char real[PATH_MAX];
    struct stat status;
    return lstat(part->path.ptr, &status) == 0 && S_ISREG(status.st_mode) && realpath(part->path.ptr, real) &&
           (!part->inside.ptr || pyro_path_is_inside(real, part->inside));
}

bool pyro_serve_run_files(struct pyro_catalog *catalog, const struct pyro_catalog_list *list,
                          const struct pyro_attempt *attempt, enum serve_files which, struct pyro_arena *arena,
                          struct serve_run_files *ret)
{
    const struct pyro_artefact_file *file;
    const char **paths = NULL;
    *ret = (struct serve_run_files){.redaction = pyro_catalog_redaction(catalog)};
    for (int pass = 0; pass < 2; pass++) { /* counts, then copies */
        size_t count = 0;
        for (size_t at = 0; (file = pyro_catalog_list_file(list, attempt, &at)) != NULL;) {
            if (!is_wanted(file, which) || (pass && (count == ret->count || !is_there(&file->part))))
                continue;
            if (paths && !(paths[count] = pyro_arena_copy(arena, file->part.path).ptr))
                return false;
            count++;
        }
        ret->count = count;
        if (!pass && !(paths = pyro_arena_array(arena, count + 1, sizeof(*paths))))
            return false;
    }
    ret->paths = paths;
    return true;
}
