#include "base/files/whole_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <fcntl.h>

enum { PART_BYTES = 1 << 14 };

/* 0, or an errno. One byte more than the limit says that there is more. */
static int read_all(const char *path, size_t limit, struct pyro_strbuf *to)
{
    char part[PART_BYTES];
    size_t left = limit + 1;
    ssize_t got = 1;
    int failure = 0, file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0)
        return errno;
    while (got > 0 && left > 0) {
        got = read(file, part, left < sizeof(part) ? left : sizeof(part));
        if (got > 0) {
            pyro_strbuf_add(to, part, (size_t)got);
            left -= (size_t)got;
        } else if (got < 0 && errno == EINTR) {
            got = 1;
        } else if (got < 0) {
            failure = errno;
        }
    }
    close(file);
    return failure;
}

enum pyro_status pyro_read_whole(const char *path, size_t limit, struct pyro_strbuf *to, struct pyro_error *error)
{
    size_t before = to->len;
    int failure = read_all(path, limit, to);
    if (failure == 0 && to->failed)
        return pyro_no_memory(error);
    if (failure == 0 && to->len - before <= limit)
        return PYRO_OK;
    if (failure != 0)
        pyro_error_describe(error, PYRO_ERROR_INPUT, "%s", strerror(failure));
    else
        pyro_error_describe(error, PYRO_ERROR_INPUT, "it is larger than %zu MiB", limit >> 20);
    pyro_error_at(error, path, UINT64_MAX);
    return PYRO_ERROR_INPUT;
}
