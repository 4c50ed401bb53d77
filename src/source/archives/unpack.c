#include "source/archives/unpack.h"

#include <unistd.h>

#include "base/files/temporary_file.h"

#define MOST_BYTES ((uint64_t)64 << 30) /* of all archives of a list together */

static struct pyro_unpack *begin(struct pyro_arena *arena)
{
    struct pyro_unpack *unpack = pyro_arena_alloc(arena, sizeof(*unpack));
    if (!unpack)
        return NULL;
    *unpack = (struct pyro_unpack){.fd = pyro_temporary_file()};
    unpack->full = unpack->fd < 0;
    return unpack;
}

/* False: the entry is damaged, too large, or finds no room. */
static bool copy(struct pyro_unpack *unpack, struct archive *archive, uint64_t most, uint64_t *ret_bytes)
{
    char buffer[64 * 1024];
    struct pyro_archive_block block = {.len = 0};
    size_t got = 0;
    bool whole;
    *ret_bytes = 0;
    while ((whole = pyro_archive_read(archive, &block, buffer, sizeof(buffer), &got)) && got > 0) {
        *ret_bytes += got;
        if (*ret_bytes > most || *ret_bytes > MOST_BYTES - unpack->used || pyro_write_all(unpack->fd, buffer, got) != 0)
            return false;
    }
    return whole;
}

enum pyro_status pyro_unpack_entry(struct pyro_unpack **list_unpack, struct pyro_arena *arena, struct archive *archive,
                                   uint64_t most, const struct pyro_unpacked **ret)
{
    uint64_t bytes;
    *ret = NULL;
    if (!*list_unpack && !(*list_unpack = begin(arena)))
        return PYRO_ERROR_MEMORY;
    struct pyro_unpack *unpack = *list_unpack;
    if (unpack->full)
        return PYRO_OK;
    if (!copy(unpack, archive, most, &bytes)) {
        unpack->full =
            ftruncate(unpack->fd, (off_t)unpack->used) != 0 || lseek(unpack->fd, (off_t)unpack->used, SEEK_SET) < 0;
        return PYRO_OK;
    }
    struct pyro_unpacked *unpacked = pyro_arena_alloc(arena, sizeof(*unpacked));
    if (!unpacked)
        return PYRO_ERROR_MEMORY;
    *unpacked = (struct pyro_unpacked){unpack->fd, unpack->used, bytes};
    unpack->used += bytes;
    *ret = unpacked;
    return PYRO_OK;
}

void pyro_unpack_done(struct pyro_unpack *unpack)
{
    if (unpack && unpack->fd >= 0)
        close(unpack->fd);
}
