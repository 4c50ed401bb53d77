#include "base/files/temporary_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/new_file.h"

const char *pyro_temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && folder[0] ? folder : "/tmp";
}

int pyro_temporary_file(void)
{
    char name[4096];
    int len = snprintf(name, sizeof(name), "%s/pyrometer-XXXXXX", pyro_temporary_folder());
    if (len < 0 || (size_t)len >= sizeof(name)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = pyro_new_file_like(name);
    if (fd >= 0)
        unlink(name);
    return fd;
}

int pyro_write_all(int fd, const void *bytes, size_t len)
{
    for (const char *at = bytes; len > 0;) {
        ssize_t done = write(fd, at, len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? errno : EIO;
        at += done;
        len -= (size_t)done;
    }
    return 0;
}
