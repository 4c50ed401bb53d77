#include "serve/stamp.h"

struct serve_stamp pyro_stamp_of(const struct stat *status)
{
    return (struct serve_stamp){
        .device = (uint64_t)status->st_dev,
        .inode = (uint64_t)status->st_ino,
        .bytes = (uint64_t)status->st_size,
        .modified_ns = (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec,
    };
}

bool pyro_stamp_eq(struct serve_stamp a, struct serve_stamp b)
{
    return a.device == b.device && a.inode == b.inode && a.bytes == b.bytes && a.modified_ns == b.modified_ns;
}

struct serve_stamp pyro_stamp_at(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? pyro_stamp_of(&status) : (struct serve_stamp){0};
}
