/* Members of tar archives that are not compressed: their bytes follow their header. */
#ifndef PYRO_SOURCE_ARCHIVES_TAR_H
#define PYRO_SOURCE_ARCHIVES_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings/slice.h"

enum { PYRO_TAR_BLOCK = 512 };

/* Whether these bytes begin a tar archive. */
bool pyro_is_tar_header(const unsigned char *head, size_t len);
/* Whether the bytes of the member are at `at` in the file, and how many there are. False: the file has changed, or the
 * member is stored in another way; libarchive finds out. */
bool pyro_tar_member_at(int fd, struct pyro_slice name, uint64_t at, uint64_t *ret_bytes);

#endif
