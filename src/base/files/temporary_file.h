/* Files without a name, of which nothing stays behind however the process ends. */
#ifndef PYRO_BASE_FILES_TEMPORARY_FILE_H
#define PYRO_BASE_FILES_TEMPORARY_FILE_H

#include <stddef.h>

/* Opens one for reading and writing in $TMPDIR, else in /tmp. Only the owner reads it. -1: errno says why. */
int pyro_temporary_file(void);
/* Where they are: for messages. */
const char *pyro_temporary_folder(void);
/* Writes all bytes at the file's position. 0, or the errno. */
int pyro_write_all(int fd, const void *bytes, size_t len);

#endif
