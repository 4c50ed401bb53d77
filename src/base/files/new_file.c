#include "base/files/new_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

int pyro_new_file(const char *path, enum pyro_new_file_access access)
{
    mode_t mode = access == PYRO_NEW_FILE_BY_UMASK ? 0666 : S_IRUSR | S_IWUSR;
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

int pyro_new_file_like(char *name)
{
    return mkostemp(name, O_CLOEXEC);
}

bool pyro_new_folder(const char *path)
{
    return mkdir(path, S_IRWXU) == 0;
}

bool pyro_new_folder_by_umask(const char *path)
{
    return mkdir(path, 0777) == 0;
}

bool pyro_new_folder_like(char *name)
{
    return mkdtemp(name) != NULL;
}
