/* State of one pyro_source_discover(), shared by the files that look at folders, at archives and at names. */
#ifndef PYRO_SOURCE_DISCOVERY_DISCOVERY_H
#define PYRO_SOURCE_DISCOVERY_DISCOVERY_H

#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "source/archives/archive_formats.h"
#include "source/discovery/names.h"
#include "source/source.h"

/* A file, or a member of an archive, that may be a log or a part of one. Strings belong to the list's arena. */
struct pyro_found {
    struct pyro_slice path;
    struct pyro_slice member; /* null ptr for files */
    struct pyro_slice label;  /* `path`, or ARCHIVE!MEMBER */
    struct pyro_name name;
    uint64_t place;      /* pyro_log_part */
    uint64_t bytes;      /* of an archive's member, as the archive says; 0: it does not, or not of a member */
    uint64_t most_bytes; /* pyro_log_part */
    const char *limit_option;
    const struct pyro_unpacked *unpacked; /* pyro_log_part */
    bool empty;
};

typedef PYRO_VEC(struct pyro_found) pyro_found_vec;

struct pyro_discovery {
    const struct pyro_allocator *allocator;
    struct pyro_arena *arena; /* the list's */
    PYRO_VEC(struct pyro_log) logs;
    PYRO_VEC(struct pyro_unreadable) unreadable;
    struct pyro_unpack *unpack;     /* the list's */
    bool stdin_taken;               /* it can be read only once */
    const struct pyro_known *known; /* NULL: nothing is */
    struct pyro_map named;          /* hashes of the paths that were named; empty unless known->deep */
    struct pyro_slice inside;       /* pyro_log_part, of the folder that is being listed */
};

/* All of these fail with PYRO_ERROR_MEMORY only; pyro_source_discover() words that error. */

/* Whether the path is in the folder of `known` whose files anybody may have sent. */
bool pyro_is_untrusted(const struct pyro_discovery *discovery, struct pyro_slice path);
/* The size that a file of `stored_bytes` there may decompress to (0: any), and the option that raises it. */
uint64_t pyro_most_of(const struct pyro_discovery *discovery, struct pyro_slice path, uint64_t stored_bytes,
                      const char **ret_option);
enum pyro_status pyro_add_unreadable(struct pyro_discovery *discovery, struct pyro_slice path,
                                     struct pyro_slice message);
/* The same for what a system call refused, by its errno. */
enum pyro_status pyro_add_failure(struct pyro_discovery *discovery, struct pyro_slice path, const char *what,
                                  int number);
/* Adds a file to those that may be logs. `path`: in the arena. */
enum pyro_status pyro_add_found(struct pyro_discovery *discovery, pyro_found_vec *found, struct pyro_slice path,
                                uint64_t stored_bytes);
/* deep.c: adds the files of logs in the folders of a folder, as known->deep says. *ret_kept: unchanged files. */
enum pyro_status pyro_discover_deep(struct pyro_discovery *discovery, struct pyro_slice path, pyro_found_vec *found,
                                    size_t *ret_kept);
/* grouping.c: joins the files of one folder (with its subfolders) or of one archive into logs; reorders `found`. */
enum pyro_status pyro_group_found(struct pyro_discovery *discovery, struct pyro_found *found, size_t count);
/* archive.c: adds the logs inside an archive. */
enum pyro_status pyro_discover_archive(struct pyro_discovery *discovery, struct pyro_slice path,
                                       enum pyro_archive_format format);

#endif
