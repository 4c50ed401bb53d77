#include "serve/uploads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/files/new_file.h"
#include "base/memory/allocator.h"
#include "base/threads/thread.h"

/* How many names are tried; what is promised at once to an upload whose length is not known. */
enum { SAME_NAMES = 1000, STEP_BYTES = 4 << 20 };

/* ---- The folder -------------------------------------------------------------------------------------------------- */

static enum pyro_status copy_path(struct serve_uploads *uploads, const char *folder, const char *name,
                                  struct pyro_error *error)
{
    size_t len = strlen(folder), name_len = strlen(name);
    while (len > 1 && folder[len - 1] == '/') /* as the list of logs has it */
        len--;
    uploads->folder = pyro_allocate(NULL, len + name_len + 1);
    if (!uploads->folder)
        return pyro_no_memory(error);
    memcpy(uploads->folder, folder, len);
    memcpy(uploads->folder + len, name, name_len + 1);
    return PYRO_OK;
}

static void remove_leftovers(const char *folder)
{
    DIR *stream = opendir(folder);
    const struct dirent *entry;
    while (stream && (entry = readdir(stream)))
        if (strncmp(entry->d_name, PYRO_UPLOAD_PREFIX, sizeof(PYRO_UPLOAD_PREFIX) - 1) == 0)
            unlinkat(dirfd(stream), entry->d_name, 0);
    if (stream)
        closedir(stream);
}

/* Under the mutex: what is in the folder now, also if others added or removed it. */
static void count_files(struct serve_uploads *uploads)
{
    DIR *stream = opendir(uploads->folder);
    const struct dirent *entry;
    struct stat found;
    uploads->counted_s = pyro_clock_ms() / 1000;
    if (!stream)
        return;
    uploads->kept_bytes = uploads->kept_files = 0;
    while ((entry = readdir(stream))) {
        if (strncmp(entry->d_name, PYRO_UPLOAD_PREFIX, sizeof(PYRO_UPLOAD_PREFIX) - 1) == 0 ||
            fstatat(dirfd(stream), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(found.st_mode))
            continue;
        uploads->kept_files++;
        uploads->kept_bytes += (uint64_t)found.st_size;
    }
    closedir(stream);
}

static enum pyro_status open_folder(struct serve_uploads *uploads, const char *folder, struct pyro_error *error)
{
    const char *parent = getenv("TMPDIR");
    struct stat found;
    if (!folder) {
        PYRO_TRY(copy_path(uploads, parent && *parent ? parent : "/tmp", "/pyrometer-uploads-XXXXXX", error));
        if (pyro_new_folder_like(uploads->folder))
            return PYRO_OK;
    } else {
        PYRO_TRY(copy_path(uploads, folder, "", error));
        if ((pyro_new_folder(folder) || errno == EEXIST) && stat(folder, &found) == 0 && S_ISDIR(found.st_mode) &&
            access(folder, W_OK | X_OK) == 0) {
            remove_leftovers(folder);
            return PYRO_OK;
        }
        errno = errno == EEXIST ? ENOTDIR : errno;
    }
    return pyro_error_set(error, PYRO_ERROR_OUTPUT, "cannot keep uploads in %s: %s", uploads->folder, strerror(errno));
}

enum pyro_status pyro_uploads_open(struct serve_uploads *uploads, const char *folder,
                                   const struct serve_upload_limits *limits, struct pyro_error *error)
{
    *uploads = (struct serve_uploads){.temporary = !folder, .limits = *limits};
    enum pyro_status status = open_folder(uploads, folder, error);
    if (status != PYRO_OK) {
        pyro_release(NULL, uploads->folder);
        *uploads = (struct serve_uploads){0};
        return status;
    }
    pthread_mutex_init(&uploads->mutex, NULL);
    count_files(uploads);
    return PYRO_OK;
}

static int remove_entry(const char *path, const struct stat *found, int type, struct FTW *place)
{
    (void)found;
    (void)type;
    (void)place;
    return remove(path) == 0 ? 0 : errno;
}

void pyro_uploads_close(struct serve_uploads *uploads)
{
    enum { OPEN_FOLDERS = 16 };
    if (!uploads->folder)
        return;
    if (uploads->temporary)
        nftw(uploads->folder, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    pthread_mutex_destroy(&uploads->mutex);
    pyro_release(NULL, uploads->folder);
    *uploads = (struct serve_uploads){0};
}

/* ---- Room -------------------------------------------------------------------------------------------------------- */

/* Under the mutex. Saturating: files may come and go without a word to us. */
static void give_back(uint64_t *from, uint64_t amount)
{
    *from -= amount < *from ? amount : *from;
}

/* Under the mutex: the reason why `bytes` more in `files` more files do not fit; false: they fit. */
static bool is_full(const struct serve_uploads *uploads, uint64_t bytes, uint64_t files, char *why, size_t why_bytes)
{
    const struct serve_upload_limits *limits = &uploads->limits;
    uint64_t taken = uploads->kept_bytes + uploads->coming_bytes;
    struct statvfs disk;
    if (uploads->kept_files + uploads->coming_files + files > limits->files) {
        snprintf(why, why_bytes, "there is no space for it: at most %llu uploads are allowed; delete some first",
                 (unsigned long long)limits->files);
        return true;
    }
    if (taken > limits->bytes || bytes > limits->bytes - taken) {
        snprintf(why, why_bytes,
                 "there is no space for it: all uploads together may take %llu bytes, and %llu are in use; delete some "
                 "first",
                 (unsigned long long)limits->bytes, (unsigned long long)taken);
        return true;
    }
    if (statvfs(uploads->folder, &disk) != 0)
        return false; /* writing will tell */
    uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize, wanted = uploads->unwritten_bytes + bytes;
    if (room >= limits->free_bytes && room - limits->free_bytes >= wanted)
        return false;
    snprintf(why, why_bytes, "there is no space for it: the server keeps %llu bytes of its disk free",
             (unsigned long long)limits->free_bytes);
    return true;
}

/* Under the mutex. Before it refuses, it looks whether another process has made room. */
static bool promise(struct serve_upload *upload, uint64_t bytes, uint64_t files)
{
    struct serve_uploads *uploads = upload->uploads;
    if (is_full(uploads, bytes, files, upload->refusal, sizeof(upload->refusal))) {
        if (pyro_clock_ms() / 1000 == uploads->counted_s)
            return false;
        count_files(uploads);
        if (is_full(uploads, bytes, files, upload->refusal, sizeof(upload->refusal)))
            return false;
    }
    uploads->coming_bytes += bytes;
    uploads->coming_files += files;
    uploads->unwritten_bytes += bytes;
    upload->promised += bytes;
    return true;
}

bool pyro_upload_begin(struct serve_upload *upload, struct serve_uploads *uploads, uint64_t bytes)
{
    *upload = (struct serve_upload){.uploads = uploads};
    pthread_mutex_lock(&uploads->mutex);
    bool promised = promise(upload, bytes, 1);
    pthread_mutex_unlock(&uploads->mutex);
    if (!promised)
        upload->uploads = NULL;
    return promised;
}

bool pyro_upload_take(struct serve_upload *upload, uint64_t bytes)
{
    struct serve_uploads *uploads = upload->uploads;
    pthread_mutex_lock(&uploads->mutex);
    uint64_t left = upload->promised - upload->written;
    bool promised = bytes <= left || promise(upload, bytes - left + STEP_BYTES, 0) || promise(upload, bytes - left, 0);
    if (promised) {
        upload->written += bytes;
        give_back(&uploads->unwritten_bytes, bytes);
    }
    pthread_mutex_unlock(&uploads->mutex);
    return promised;
}

/* Under the mutex. */
static void forget_promise(struct serve_upload *upload)
{
    struct serve_uploads *uploads = upload->uploads;
    give_back(&uploads->coming_bytes, upload->promised);
    give_back(&uploads->coming_files, 1);
    give_back(&uploads->unwritten_bytes, upload->promised - upload->written);
    upload->uploads = NULL;
}

int pyro_upload_keep(struct serve_upload *upload, const char *file, const char *name, char *ret_path, size_t bytes)
{
    struct serve_uploads *uploads = upload->uploads;
    int failure = EEXIST;
    pthread_mutex_lock(&uploads->mutex); /* so that the file is counted once, also by other threads meanwhile */
    for (int i = 1; i <= SAME_NAMES && failure == EEXIST; i++) {
        int len = i == 1 ? snprintf(ret_path, bytes, "%s/%s", uploads->folder, name)
                         : snprintf(ret_path, bytes, "%s/%d-%s", uploads->folder, i, name);
        if (len < 0 || (size_t)len >= bytes)
            failure = ENAMETOOLONG;
        else /* unlike rename() it does not take another file's place */
            failure = link(file, ret_path) == 0 ? 0 : errno;
    }
    if (failure == 0) {
        uploads->kept_files++;
        uploads->kept_bytes += upload->written;
        forget_promise(upload);
    }
    pthread_mutex_unlock(&uploads->mutex);
    return failure;
}

void pyro_upload_end(struct serve_upload *upload)
{
    struct serve_uploads *uploads = upload->uploads;
    if (!uploads)
        return;
    pthread_mutex_lock(&uploads->mutex);
    forget_promise(upload);
    pthread_mutex_unlock(&uploads->mutex);
}

int pyro_uploads_remove(struct serve_uploads *uploads, const char *path)
{
    struct stat found;
    int failure = 0;
    pthread_mutex_lock(&uploads->mutex);
    if (lstat(path, &found) != 0 || unlink(path) != 0) {
        failure = errno;
    } else {
        give_back(&uploads->kept_files, 1);
        give_back(&uploads->kept_bytes, (uint64_t)found.st_size);
    }
    pthread_mutex_unlock(&uploads->mutex);
    return failure;
}
