#include "base/files/replace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/collections/hash.h"

enum { NAMES_TRIED = 100, COMPARED_BYTES = 1 << 14, TRY_MS = 20 };

/* A new file next to `path`, and its name; mkstemp() would not ask the umask. -1: errno says why. */
static int open_new(const char *path, enum pyro_new_file_access access, char *name, size_t bytes)
{
    int file = -1;
    errno = EEXIST;
    for (uint64_t i = 0; i < NAMES_TRIED && file < 0 && errno == EEXIST; i++) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        uint64_t chance = pyro_hash_mix(((uint64_t)getpid() << 32) ^ (uint64_t)now.tv_nsec ^ i);
        int len = snprintf(name, bytes, "%s.new-%08x", path, (unsigned)chance);
        if (len < 0 || (size_t)len >= bytes)
            errno = ENAMETOOLONG;
        else
            file = pyro_new_file(name, access);
    }
    return file;
}

static bool write_whole(int file, struct pyro_slice content)
{
    for (size_t done = 0; done < content.len;) {
        ssize_t wrote = write(file, content.ptr + done, content.len - done);
        if (wrote < 0 && errno != EINTR)
            return false;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

/* Whether the file has this content, no more and no less. */
static bool has_content(const char *path, struct pyro_slice content)
{
    char bytes[COMPARED_BYTES];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return !content.ptr && errno == ENOENT;
    size_t same = 0;
    ssize_t got = 0;
    for (bool equal = content.ptr != NULL; equal;) {
        got = read(file, bytes, sizeof(bytes));
        if (got <= 0 && !(got < 0 && errno == EINTR))
            break;
        size_t len = got > 0 ? (size_t)got : 0;
        equal = len <= content.len - same && memcmp(bytes, content.ptr + same, len) == 0;
        same += equal ? len : 0;
    }
    close(file);
    return content.ptr && got == 0 && same == content.len;
}

/* `name` is cut. */
static int open_folder(char *name)
{
    char *slash = strrchr(name, '/');
    if (slash)
        slash[1] = '\0';
    return open(slash ? name : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* So that the new name lasts too. `name` is cut. */
static void sync_folder(char *name)
{
    int folder = open_folder(name);
    if (folder < 0)
        return;
    fsync(folder);
    close(folder);
}

int pyro_replace_file(const char *path, struct pyro_slice content, const struct pyro_replacement *how)
{
    char name[PATH_MAX];
    struct stat model;
    bool known = how->like && stat(how->like, &model) == 0;
    /* No other user may read it before it has its permissions. */
    int file = open_new(path, known ? PYRO_NEW_FILE_PRIVATE : how->access, name, sizeof(name));
    if (file < 0)
        return errno;
    bool ok = (!known || fchmod(file, model.st_mode & 07777) == 0) && write_whole(file, content) &&
              (!how->lasts || fsync(file) == 0);
    int failure = ok ? 0 : errno;
    if (close(file) != 0 && failure == 0)
        failure = errno;
    if (failure == 0 && how->former && !has_content(path, *how->former))
        failure = ESTALE;
    if (failure == 0 && rename(name, path) != 0)
        failure = errno;
    if (failure != 0)
        unlink(name);
    else if (how->lasts)
        sync_folder(name);
    return failure;
}

int pyro_lock_folder_of(const char *path, int wait_ms)
{
    char name[PATH_MAX];
    int len = snprintf(name, sizeof(name), "%s", path);
    if (len < 0 || (size_t)len >= sizeof(name))
        return -ENAMETOOLONG;
    int folder = open_folder(name), failure = folder < 0 ? errno : 0;
    while (failure == 0 && flock(folder, LOCK_EX | LOCK_NB) != 0) {
        const struct timespec pause = {0, TRY_MS * 1000000};
        failure = errno != EWOULDBLOCK || wait_ms <= 0 ? errno : 0;
        wait_ms -= TRY_MS;
        if (failure == 0)
            nanosleep(&pause, NULL);
    }
    if (failure == 0)
        return folder;
    if (folder >= 0)
        close(folder);
    return -failure;
}
