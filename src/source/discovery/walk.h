/* Files of folders, for those that look for other things than event logs: all regular files, in the order of their
 * names, whatever they are. */
#ifndef PYRO_SOURCE_DISCOVERY_WALK_H
#define PYRO_SOURCE_DISCOVERY_WALK_H

#include "source/source.h"

enum { PYRO_WALK_LEVELS = 8, PYRO_WALK_FILES = 100000 };

/* What was left out. */
struct pyro_walk_result {
    size_t files;     /* visited */
    size_t too_many;  /* files beyond PYRO_WALK_FILES */
    size_t too_deep;  /* folders below PYRO_WALK_LEVELS */
    size_t links_out; /* links that lead out of the folder that was named */
    size_t refused;   /* what the system did not let list or open */
};

/* Gets a part to open with pyro_reader_open(); the part's texts last until it returns. `folder` is the path that was
 * named, with which the part's path begins. */
typedef enum pyro_status pyro_walk_visit(void *context, struct pyro_slice folder, const struct pyro_log_part *part,
                                         struct pyro_error *error);

/* Visits the file at a path, or the files of the folder there and of its folders. Hidden names and Hadoop's checksums
 * are left out. Fails with PYRO_ERROR_MEMORY, with PYRO_ERROR_INPUT where the path itself cannot be read, or as the
 * visit did. `result` is added to. */
enum pyro_status pyro_walk(const char *path, const struct pyro_allocator *allocator, pyro_walk_visit *visit,
                           void *context, struct pyro_walk_result *result, struct pyro_error *error);

/* Whether the caller knows the file at the path, and needs nothing of it but its path. */
typedef bool pyro_walk_known(void *context, struct pyro_slice path);

/* The same; the system is not asked about known files of folders, and their parts say nothing of their size. */
enum pyro_status pyro_walk_knowing(const char *path, const struct pyro_allocator *allocator, pyro_walk_known *known,
                                   pyro_walk_visit *visit, void *context, struct pyro_walk_result *result,
                                   struct pyro_error *error);

/* The first decompressed bytes of a part; *ret_len may be less than the capacity at its end or where it is damaged. */
enum pyro_status pyro_part_head(const struct pyro_log_part *part, const struct pyro_allocator *allocator, char *buffer,
                                size_t capacity, size_t *ret_len, struct pyro_error *error);

#endif
