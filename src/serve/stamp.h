/* A file as it was found. Equal stamps stand for equal contents. */
#ifndef PYRO_SERVE_STAMP_H
#define PYRO_SERVE_STAMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct serve_stamp {
    uint64_t device, inode, bytes;
    int64_t modified_ns;
};

struct serve_stamp pyro_stamp_of(const struct stat *status);
/* All zero: there is no such file. */
struct serve_stamp pyro_stamp_at(const char *path);
bool pyro_stamp_eq(struct serve_stamp a, struct serve_stamp b);

#endif
