#include "serve/http/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "serve/http/body.h"

static enum pyro_status copy_path(struct spool *spool, const char *folder, const char *name, struct pyro_error *error)
{
    size_t len = strlen(folder), name_len = strlen(name);
    while (len > 1 && folder[len - 1] == '/') /* as the list of logs has it */
        len--;
    spool->folder = pyro_allocate(NULL, len + name_len + 1);
    if (!spool->folder)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left");
    memcpy(spool->folder, folder, len);
    memcpy(spool->folder + len, name, name_len + 1);
    return PYRO_OK;
}

static void remove_leftovers(const char *folder)
{
    DIR *stream = opendir(folder);
    const struct dirent *entry;
    while (stream && (entry = readdir(stream)))
        if (strncmp(entry->d_name, PYRO_BODY_PREFIX, sizeof(PYRO_BODY_PREFIX) - 1) == 0)
            unlinkat(dirfd(stream), entry->d_name, 0);
    if (stream)
        closedir(stream);
}

enum pyro_status pyro_spool_open(struct spool *spool, const char *folder, struct pyro_error *error)
{
    *spool = (struct spool){.temporary = !folder};
    const char *parent = getenv("TMPDIR");
    struct stat found;
    if (!folder) {
        PYRO_TRY(copy_path(spool, parent && *parent ? parent : "/tmp", "/pyrometer-uploads-XXXXXX", error));
        if (mkdtemp(spool->folder))
            return PYRO_OK;
    } else {
        PYRO_TRY(copy_path(spool, folder, "", error));
        if ((mkdir(folder, 0700) == 0 || errno == EEXIST) && stat(folder, &found) == 0 && S_ISDIR(found.st_mode) &&
            access(folder, W_OK | X_OK) == 0) {
            remove_leftovers(folder);
            return PYRO_OK;
        }
        errno = errno == EEXIST ? ENOTDIR : errno;
    }
    enum pyro_status status =
        pyro_error_set(error, PYRO_ERROR_OUTPUT, "cannot keep uploads in %s: %s", spool->folder, strerror(errno));
    pyro_release(NULL, spool->folder);
    *spool = (struct spool){0};
    return status;
}

static int remove_entry(const char *path, const struct stat *found, int type, struct FTW *place)
{
    (void)found;
    (void)type;
    (void)place;
    return remove(path) == 0 ? 0 : errno;
}

void pyro_spool_close(struct spool *spool)
{
    enum { OPEN_FOLDERS = 16 };
    if (spool->folder && spool->temporary)
        nftw(spool->folder, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    pyro_release(NULL, spool->folder);
    *spool = (struct spool){0};
}
