/* A file as it was found. Equal stamps stand for equal contents. */
#ifndef PYRO_SOURCE_FILE_STAMP_H
#define PYRO_SOURCE_FILE_STAMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct pyro_file_stamp {
    uint64_t device, inode, bytes;
    int64_t modified_ns;
};

struct pyro_file_stamp pyro_file_stamp_of(const struct stat *status);
/* All zero: there is no such file. */
struct pyro_file_stamp pyro_file_stamp_at(const char *path);
bool pyro_file_stamp_eq(struct pyro_file_stamp a, struct pyro_file_stamp b);

#endif
