/* Files that are replaced at once: another process sees the old content or the new one, never a part of it. */
#ifndef PYRO_BASE_FILES_REPLACE_FILE_H
#define PYRO_BASE_FILES_REPLACE_FILE_H

#include <stdbool.h>

#include "base/files/new_file.h"
#include "base/strings/slice.h"

struct pyro_replacement {
    enum pyro_new_file_access access; /* of the file */
    const char *like;                 /* a file whose permissions it gets instead, if that exists; NULL: none */
    bool lasts; /* on disk before it is at `path`, so that a loss of power leaves one of the two contents */
    /* What the file must still contain just before it is replaced; a null slice: it must not exist. Otherwise ESTALE.
     * NULL: anything. */
    const struct pyro_slice *former;
};

/* Others that replace the same file at the same time do no harm: each puts its own whole file there. Returns 0, or an
 * errno: then the file is unchanged, and nothing else is left. */
int pyro_replace_file(const char *path, struct pyro_slice content, const struct pyro_replacement *how);

/* Waits until no other process that asks so changes files of the folder of `path`. Returns a descriptor, whose closing
 * ends that, or the negative errno: EWOULDBLOCK after `wait_ms`. No file is made. */
int pyro_lock_folder_of(const char *path, int wait_ms);

#endif
