/* Which archives there are, and libarchive's readers of them. */
#ifndef PYRO_SOURCE_ARCHIVES_ARCHIVE_FORMATS_H
#define PYRO_SOURCE_ARCHIVES_ARCHIVE_FORMATS_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>

#include "libraries/libarchive.h"
#include "source/source.h"

enum pyro_archive_format {
    PYRO_ARCHIVE_NONE,
#define PYRO_ARCHIVE(id, name, support) PYRO_ARCHIVE_##id,
#include "source/archives/archives.def"
#undef PYRO_ARCHIVE
};

enum { PYRO_ARCHIVE_HEAD = 512 }; /* bytes that are enough to recognize each */

/* "zip", "tar", "7z". */
const char *pyro_archive_name(enum pyro_archive_format format);
/* By the first bytes of a file as it is stored. *ret_compressor: "bzip2" or "xz", which are read only around a tar
 * archive, and count as one; else NULL. */
enum pyro_archive_format pyro_archive_of_bytes(const unsigned char *head, size_t len, const char **ret_compressor);
/* The same for the file that begins with them. `look`: also into a file that is compressed with a codec of codecs.def,
 * whatever its name; otherwise its name must say that a tar archive is in it. */
enum pyro_archive_format pyro_archive_of_head(const char *path, const unsigned char *head, size_t len, bool look);
/* PYRO_ARCHIVE_NONE also where the file cannot be read. */
enum pyro_archive_format pyro_archive_of_file(const char *path, bool look);

/* libarchive turns names into the locale's character set, and loses those that do not fit: while it reads headers, this
 * thread's locale is a UTF-8 one. The process's locale is the caller's, and stays as it is. */
struct pyro_utf8_scope {
    locale_t own, previous; /* (locale_t)0 where the system has no such locale */
};
struct pyro_utf8_scope pyro_utf8_enter(void);
void pyro_utf8_leave(struct pyro_utf8_scope scope);

/* Opens the archive at the file's beginning. The caller keeps the descriptor open, and frees the archive. */
enum pyro_status pyro_archive_open(int fd, enum pyro_archive_format format, struct archive **ret,
                                   struct pyro_error *error);
/* True when there is an entry; a warning (a name that this locale cannot show) does not matter. */
bool pyro_archive_next(struct archive *archive, struct archive_entry **ret, bool *ret_ended);
/* The entry's name in UTF-8, else its bytes, until the next entry; null: it has none. Of a tar archive without the "./"
 * before it, which says nothing. */
struct pyro_slice pyro_archive_entry_name(struct archive_entry *entry, enum pyro_archive_format format);
/* Bytes of an entry. Zero it before the first of them is read. */
struct pyro_archive_block {
    const char *bytes; /* of libarchive, until the next ones are read */
    size_t len;
    uint64_t at, given; /* where they are in the entry; how many bytes of it were given */
};
/* Gives 1..capacity bytes of the entry; *ret_len 0: its end. False: damage, before which all that can be decompressed
 * was given (archive_read_data() drops what it has already put into the buffer). */
bool pyro_archive_read(struct archive *archive, struct pyro_archive_block *block, void *buffer, size_t capacity,
                       size_t *ret_len);
/* Why libarchive cannot go on. */
const char *pyro_archive_reason(struct archive *archive);

#endif
