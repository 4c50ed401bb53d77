/* A file of Spark settings (spark-defaults.conf) of which only some keys are changed. */
#ifndef PYRO_FLEET_SUGGEST_FILE_H
#define PYRO_FLEET_SUGGEST_FILE_H

#include "base/strings/strbuf.h"
#include "fleet/suggest/suggest.h"

enum { PYRO_DEFAULTS_FILE_BYTES = 16 << 20 };

/* The text with these settings: the last line of each key is replaced (Spark takes the last), others are appended. A
 * null value removes the key's lines. A line that ends with a backslash goes on in the next one, as Spark reads it. All
 * other bytes stay. False: no memory. */
bool pyro_defaults_file_edit(struct pyro_slice text, const struct pyro_suggest_setting *settings, size_t count,
                             struct pyro_strbuf *ret);
/* Reads a whole file into the arena. A file that does not exist is empty; *ret_exists says so. */
enum pyro_status pyro_defaults_file_read(const char *path, struct pyro_arena *arena, struct pyro_slice *ret,
                                         bool *ret_exists, struct pyro_error *error);
/* Where the former content of a file is kept while a suggestion is applied to it. A null slice: no memory. */
struct pyro_slice pyro_defaults_file_copy(struct pyro_arena *arena, struct pyro_slice path, struct pyro_slice id);
/* Replaces a file at once: another process sees the old or the new content. It has the permissions of `like`, or, where
 * that does not exist, those of any new file. Fails if the file has not the content `former` any more; a null slice: it
 * must not exist. */
enum pyro_status pyro_defaults_file_write(const char *path, const char *like, struct pyro_slice former,
                                          struct pyro_slice text, struct pyro_error *error);
/* Only one process at a time changes files of settings in a folder: held from before such a file is read until it is
 * written. *ret is given to pyro_defaults_file_unlock(). */
enum pyro_status pyro_defaults_file_lock(const char *path, int *ret, struct pyro_error *error);
void pyro_defaults_file_unlock(int lock);

#endif
