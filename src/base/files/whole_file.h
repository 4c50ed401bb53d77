/* Small files, read at once. */
#ifndef PYRO_BASE_FILES_WHOLE_FILE_H
#define PYRO_BASE_FILES_WHOLE_FILE_H

#include "base/error.h"
#include "base/strings/strbuf.h"

/* Appends what is in the file, also where that is not known beforehand, as with a pipe. PYRO_ERROR_INPUT: it cannot be
 * read, or has more than `limit` bytes, which is a number of MiB; the error names it. */
enum pyro_status pyro_read_whole(const char *path, size_t limit, struct pyro_strbuf *to, struct pyro_error *error);

#endif
