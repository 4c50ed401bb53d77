/* Making files and folders: what the library keeps is its owner's alone, whatever the umask is. No other file of src/
 * calls what makes one (tools/check_calls.py). */
#ifndef PYRO_BASE_FILES_NEW_FILE_H
#define PYRO_BASE_FILES_NEW_FILE_H

#include <stdbool.h>

enum pyro_new_file_access {
    PYRO_NEW_FILE_PRIVATE,  /* stores, caches, tokens, uploads: only its owner reads and writes it */
    PYRO_NEW_FILE_BY_UMASK, /* what a user names and has for others too, such as spark-defaults.conf */
};

/* Makes a file for writing that does not exist; -1: errno says why (EEXIST). */
int pyro_new_file(const char *path, enum pyro_new_file_access access);
/* The same, for its owner, of a name that ends with XXXXXX, which is replaced by what is free. */
int pyro_new_file_like(char *name);
/* A folder for its owner. False: errno says why (EEXIST). */
bool pyro_new_folder(const char *path);
/* The same, for others too, as the umask says: what a user names. */
bool pyro_new_folder_by_umask(const char *path);
/* The same of a name that ends with XXXXXX. */
bool pyro_new_folder_like(char *name);

#endif
