/* Temporary folders with made-up logs, for the tests of discovery and of readers. */
#ifndef PYRO_TESTS_LOG_KIT_H
#define PYRO_TESTS_LOG_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "source/source.h"

struct kit_folder {
    char path[64];
};

/* cmocka's setup and teardown: *state is a struct kit_folder of a fresh folder, removed with everything in it. */
int kit_folder_setup(void **state);
int kit_folder_teardown(void **state);

/* PATH inside the folder; valid until the eighth call after this one. */
const char *kit_path(const struct kit_folder *folder, const char *path);
/* Writes a file, making the folders that it needs. */
void kit_write(const struct kit_folder *folder, const char *path, const void *bytes, size_t len);
void kit_write_text(const struct kit_folder *folder, const char *path, const char *text);
/* Writes a zip archive of members {name, text}, deflated; a name that ends in '/' is a folder. The list ends with a
 * null name. */
void kit_write_zip(const struct kit_folder *folder, const char *path, const char *const (*members)[2]);
/* Of libarchive's formats ("zip", "gnutar", "7zip") and filters ("none", "gzip"). */
void kit_write_archive(const struct kit_folder *folder, const char *path, const char *format, const char *filter,
                       const char *const (*members)[2]);

/* Discovers one path inside the folder. */
void kit_discover(const struct kit_folder *folder, const char *path, struct pyro_log_list *ret);
/* "PATH: PART PART | PATH: PART", with the folder's path left out and, behind a path, "*" when in progress, "~" when
 * compacted, "-N" when N parts are missing; then " ! PATH" for what is unreadable. */
void kit_expect_logs(const struct kit_folder *folder, const char *path, const char *expected);
/* The one unreadable row for `path` has a message that contains `message`. */
void kit_expect_unreadable(const struct kit_folder *folder, const char *path, const char *message);

/* Reads a part to its end; the result is malloc'ed and NUL-terminated. */
char *kit_read(const struct pyro_log_part *part, const char **ret_codec, char *ret_damage, size_t damage_size);

#endif
