/* A member of a zip archive, read from where it lies: libarchive finds one by going through all before it. */
#ifndef PYRO_SOURCE_ARCHIVES_ZIP_H
#define PYRO_SOURCE_ARCHIVES_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/allocator.h"
#include "base/strings/slice.h"

/* Goes through the central directory, which lies at the archive's end. */
struct pyro_zip_directory {
    const struct pyro_allocator *allocator;
    int fd;
    uint64_t at, end;      /* the next record's offset in the file, and the directory's end */
    bool ambiguous;        /* another reader could take something else for the directory */
    uint64_t shift;        /* of what is before the archive in the file */
    unsigned char *buffer; /* bytes of the file from `buffer_at` */
    size_t capacity, len;
    uint64_t buffer_at;
};

struct pyro_zip_record {
    uint64_t at;                    /* its own offset in the file */
    struct pyro_slice name;         /* until the next record is read */
    uint64_t header, stored, bytes; /* the member's local header; its sizes */
    uint32_t crc;
    uint16_t flags, method;
};

/* False: the archive has no directory that can be found (it is cut), or no memory is left. */
bool pyro_zip_directory_open(struct pyro_zip_directory *directory, int fd, const struct pyro_allocator *allocator);
/* False: that was the last one, or the directory is damaged. */
bool pyro_zip_directory_next(struct pyro_zip_directory *directory, struct pyro_zip_record *ret);
void pyro_zip_directory_close(struct pyro_zip_directory *directory);

/* Whether only stored and deflated bytes that are not encrypted are in it: what pyro_zip_member_open() reads. */
bool pyro_zip_is_simple(const struct pyro_zip_record *record);

/* The record of a member, which was at `at` when the archive was listed (0: not known). */
bool pyro_zip_find(int fd, struct pyro_slice name, uint64_t at, const struct pyro_allocator *allocator,
                   struct pyro_zip_record *ret);

struct pyro_zip_member;

/* NULL: it is stored in a way that is not read here (encrypted, other methods), or no memory is left. */
struct pyro_zip_member *pyro_zip_member_open(int fd, const struct pyro_zip_record *record,
                                             const struct pyro_allocator *allocator);
/* 0: the end, or damage, which *ret_damage then says. */
size_t pyro_zip_member_read(struct pyro_zip_member *member, void *buffer, size_t capacity, const char **ret_damage);
void pyro_zip_member_close(struct pyro_zip_member *member);

#endif
