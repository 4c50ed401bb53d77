#include "source/file_stamp.h"

struct pyro_file_stamp pyro_file_stamp_of(const struct stat *status)
{
    return (struct pyro_file_stamp){
        .device = (uint64_t)status->st_dev,
        .inode = (uint64_t)status->st_ino,
        .bytes = (uint64_t)status->st_size,
        .modified_ns = (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec,
    };
}

bool pyro_file_stamp_eq(struct pyro_file_stamp a, struct pyro_file_stamp b)
{
    return a.device == b.device && a.inode == b.inode && a.bytes == b.bytes && a.modified_ns == b.modified_ns;
}

struct pyro_file_stamp pyro_file_stamp_at(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? pyro_file_stamp_of(&status) : (struct pyro_file_stamp){0};
}
