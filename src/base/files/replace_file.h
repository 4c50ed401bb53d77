/* Files that are replaced at once: another process sees the old content or the new one, never a part of it. */
#ifndef PYRO_BASE_FILES_REPLACE_FILE_H
#define PYRO_BASE_FILES_REPLACE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/strings/slice.h"

struct pyro_replacement {
    mode_t mode;      /* permissions of the file, less the umask */
    const char *like; /* a file whose permissions it gets instead, if that exists; NULL: none */
    bool lasts;       /* on disk before it is at `path`, so that a loss of power leaves one of the two contents */
};

/* Others that replace the same file at the same time do no harm: each puts its own whole file there. Returns 0, or an
 * errno: then the file is unchanged, and nothing else is left. */
int pyro_replace_file(const char *path, struct pyro_slice content, const struct pyro_replacement *how);

#endif
