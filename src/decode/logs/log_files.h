/* Paths to the files that may be text logs: named ones, those in folders (8 levels deep), and members of archives. */
#ifndef PYRO_DECODE_LOGS_LOG_FILES_H
#define PYRO_DECODE_LOGS_LOG_FILES_H

#include "base/collections/vec.h"
#include "base/memory/arena.h"
#include "source/source.h"

struct pyro_log_candidate {
    struct pyro_log_part part;
    struct pyro_slice path; /* as the user sees it */
    size_t argument;        /* number of the path that led here */
    bool named;             /* the user named this file itself */
};

struct pyro_log_problem {
    struct pyro_slice path, reason; /* a null path: of all files */
};

struct pyro_log_files {
    const struct pyro_allocator *allocator;
    struct pyro_arena arena;
    PYRO_VEC(struct pyro_log_candidate) items; /* by argument, then by name, each path once */
    PYRO_VEC(struct pyro_log_problem) unreadable;
    PYRO_VEC(struct pyro_log_list) archives; /* whose members are among the items */
    bool unlimited;                          /* no limits of what compressed files may decompress to */
    uint64_t too_many, too_deep, refused;    /* as in struct pyro_walk_result */
};

/* Fails only for lack of memory. `files` is released by pyro_log_files_done() in any case. */
enum pyro_status pyro_log_files_find(const char *const *paths, size_t count, bool unlimited,
                                     const struct pyro_allocator *allocator, struct pyro_log_files *files,
                                     struct pyro_error *error);
/* The same for files or members of archives in their order, as if they had been named. The parts outlive `files`. */
enum pyro_status pyro_log_files_of_parts(const struct pyro_log_part *parts, size_t count,
                                         const struct pyro_allocator *allocator, struct pyro_log_files *files,
                                         struct pyro_error *error);
void pyro_log_files_done(struct pyro_log_files *files);
/* Copies both texts. */
enum pyro_status pyro_log_files_refuse(struct pyro_log_files *files, struct pyro_slice path, struct pyro_slice reason);

#endif
