#include "source/archives/tar.h"

#include <string.h>
#include <unistd.h>

/* The fields of a header (POSIX.1-1988 and GNU). */
enum {
    NAME_LEN = 100,
    SIZE_AT = 124,
    SIZE_LEN = 12,
    SUM_AT = 148,
    SUM_LEN = 8,
    TYPE_AT = 156,
    MAGIC_AT = 257,
    PREFIX_AT = 345,
    PREFIX_LEN = 155
};

/* Octal digits between blanks; false where there are none (large sizes are written in another way). */
static bool read_octal(const unsigned char *field, size_t len, uint64_t *ret)
{
    size_t at = 0;
    *ret = 0;
    while (at < len && field[at] == ' ')
        at++;
    size_t first = at;
    for (; at < len && field[at] >= '0' && field[at] <= '7'; at++)
        *ret = *ret << 3 | (uint64_t)(field[at] - '0');
    return at > first;
}

/* Every header, of whatever age, has a sum of its own bytes. */
bool pyro_is_tar_header(const unsigned char *head, size_t len)
{
    uint64_t sum = 0, said;
    if (len < PYRO_TAR_BLOCK || head[0] == '\0')
        return false;
    for (size_t i = 0; i < PYRO_TAR_BLOCK; i++)
        sum += i >= SUM_AT && i < SUM_AT + SUM_LEN ? ' ' : head[i];
    return read_octal(head + SUM_AT, SUM_LEN, &said) && said == sum;
}

/* Longer names are in a header of their own; this one has their beginning. `name` is without "./". */
static bool has_name(const unsigned char *head, struct pyro_slice name)
{
    const char *own = (const char *)head;
    size_t len = strnlen(own, NAME_LEN), most = NAME_LEN;
    if (len > 2 && memcmp(own, "./", 2) == 0) {
        own += 2;
        len -= 2;
        most -= 2;
    }
    size_t prefix =
        memcmp(head + MAGIC_AT, "ustar\0", 6) == 0 ? strnlen((const char *)head + PREFIX_AT, PREFIX_LEN) : 0;
    if (prefix > 0) {
        if (name.len < prefix + 1 || memcmp(name.ptr, head + PREFIX_AT, prefix) != 0 || name.ptr[prefix] != '/')
            return false;
        name.ptr += prefix + 1;
        name.len -= prefix + 1;
    }
    return name.len >= len && memcmp(name.ptr, own, len) == 0 && (name.len == len || len >= most - 1);
}

bool pyro_tar_member_at(int fd, struct pyro_slice name, uint64_t at, uint64_t *ret_bytes)
{
    unsigned char head[PYRO_TAR_BLOCK];
    return at >= PYRO_TAR_BLOCK && at <= INT64_MAX &&
           pread(fd, head, sizeof(head), (off_t)(at - PYRO_TAR_BLOCK)) == (ssize_t)sizeof(head) &&
           pyro_is_tar_header(head, sizeof(head)) && (head[TYPE_AT] == '0' || head[TYPE_AT] == '\0') &&
           has_name(head, name) && read_octal(head + SIZE_AT, SIZE_LEN, ret_bytes);
}
