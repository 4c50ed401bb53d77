#include "source/input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Linux reads at most this much in one call; asking for more would only be cut. */
#define READ_LIMIT ((size_t)0x7ffff000)

int pyro_open_regular(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    if (fd < 0)
        return -1;
    int failure = fstat(fd, &status) != 0 ? errno : S_ISREG(status.st_mode) ? 0 : EINVAL;
    if (failure == 0)
        return fd;
    close(fd);
    errno = failure;
    return -1;
}

bool pyro_path_is_inside(const char *real_path, struct pyro_slice folder)
{
    size_t len = pyro_slice_is(folder, "/") ? 0 : folder.len;
    return strncmp(real_path, folder.ptr, len) == 0 && real_path[len] == '/';
}

bool pyro_lies_inside(int fd, struct pyro_slice folder)
{
    char link[32], path[PATH_MAX + 1];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof(path) - 1);
    if (len <= 0)
        return false;
    path[len] = '\0';
    return pyro_path_is_inside(path, folder);
}

static enum pyro_status open_path(struct pyro_input *input, const char *path, struct pyro_error *error)
{
    input->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (input->fd >= 0) {
        input->owns_fd = true;
        return PYRO_OK;
    }
    pyro_error_describe(error, PYRO_ERROR_INPUT, "cannot open: %s", strerror(errno));
    pyro_error_at(error, path, UINT64_MAX);
    return PYRO_ERROR_INPUT;
}

static enum pyro_status open_file(struct pyro_input *input, const char *path, struct pyro_slice inside,
                                  struct pyro_error *error)
{
    bool standard_input = strcmp(path, "-") == 0;
    if (standard_input)
        input->fd = STDIN_FILENO;
    else
        PYRO_TRY(open_path(input, path, error));
    struct stat status;
    if (inside.ptr && !pyro_lies_inside(input->fd, inside)) {
        pyro_error_describe(error, PYRO_ERROR_INPUT, PYRO_LEADS_OUT);
    } else if (fstat(input->fd, &status) != 0) {
        pyro_error_describe(error, PYRO_ERROR_INPUT, "cannot read: %s", strerror(errno));
    } else if (S_ISDIR(status.st_mode)) {
        pyro_error_describe(error, PYRO_ERROR_INPUT, "is a folder, not a file");
    } else if (!standard_input && !S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) {
        pyro_error_describe(error, PYRO_ERROR_INPUT, "is a device or socket: give a file or a pipe");
    } else {
        /* Standard input may be a file that someone has read from already: then only its rest is ours. */
        input->regular = S_ISREG(status.st_mode) && lseek(input->fd, 0, SEEK_CUR) == 0;
        input->total = input->regular && status.st_size > 0 ? (uint64_t)status.st_size : 0;
        return PYRO_OK;
    }
    pyro_error_at(error, path, UINT64_MAX);
    pyro_input_close(input);
    return PYRO_ERROR_INPUT;
}

enum pyro_status pyro_input_open(struct pyro_input *input, const struct pyro_log_part *part,
                                 const struct pyro_allocator *allocator, struct pyro_error *error)
{
    *input = (struct pyro_input){.allocator = allocator, .fd = -1};
    return part->member.ptr ? pyro_member_open(input, part, error)
                            : open_file(input, part->path.ptr, part->inside, error);
}

/* The parent process may have made standard input non-blocking. */
static bool wait_for_input(int fd)
{
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    return poll(&waiting, 1, -1) >= 0 || errno == EINTR;
}

static bool is_member(const struct pyro_input *input)
{
    return input->archive || input->zip || input->range.open;
}

enum pyro_status pyro_input_read(struct pyro_input *input, void *buffer, size_t capacity, size_t *ret_len,
                                 struct pyro_error *error)
{
    *ret_len = 0;
    if (is_member(input))
        return pyro_member_read(input, buffer, capacity, ret_len);
    ssize_t got;
    do {
        got = read(input->fd, buffer, capacity < READ_LIMIT ? capacity : READ_LIMIT);
    } while (got < 0 && (errno == EINTR || (errno == EAGAIN && wait_for_input(input->fd))));
    if (got < 0)
        return pyro_error_set(error, PYRO_ERROR_INPUT, "cannot read: %s", strerror(errno));
    *ret_len = (size_t)got;
    return PYRO_OK;
}

void pyro_input_close(struct pyro_input *input)
{
    if (is_member(input))
        pyro_member_close(input);
    if (input->owns_fd)
        close(input->fd);
    input->fd = -1;
    input->owns_fd = false;
}
