/* The members of an archive that can only be read from its beginning, copied into a file without a name while the
 * archive is listed: each is then read from where it lies. Without it, reading a member goes through all before it. */
#ifndef PYRO_SOURCE_ARCHIVES_UNPACK_H
#define PYRO_SOURCE_ARCHIVES_UNPACK_H

#include "source/archives/archive_formats.h"
#include "source/source.h"

/* Where the bytes of a member lie. */
struct pyro_unpacked {
    int fd; /* of the list */
    uint64_t at, bytes;
};

/* The list's file, which ends with the list. */
struct pyro_unpack {
    int fd;
    uint64_t used;
    bool full; /* nothing more is copied: no room, or too much */
};

/* Copies what the archive's entry has. *ret NULL: it was not copied, and is read from the archive. Fails with
 * PYRO_ERROR_MEMORY only. *list_unpack is made at the first call, of the arena. */
enum pyro_status pyro_unpack_entry(struct pyro_unpack **list_unpack, struct pyro_arena *arena, struct archive *archive,
                                   uint64_t most, const struct pyro_unpacked **ret);
/* NULL is ignored. */
void pyro_unpack_done(struct pyro_unpack *unpack);

#endif
