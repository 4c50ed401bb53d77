/* The folder that uploads go into: what is kept there, what comes in, and how much both may take together. */
#ifndef PYRO_SERVE_UPLOADS_H
#define PYRO_SERVE_UPLOADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/error.h"

#define PYRO_UPLOAD_PREFIX ".incoming-" /* of the names of files that are not complete */

struct serve_upload_limits {
    uint64_t bytes, files; /* of all uploads */
    uint64_t free_bytes;   /* that stay free on the disk */
};

struct serve_uploads {
    char *folder; /* NULL: no uploads */
    bool temporary;
    struct serve_upload_limits limits;
    pthread_mutex_t mutex; /* guards what follows */
    uint64_t kept_bytes, kept_files;
    uint64_t coming_bytes, coming_files; /* promised to uploads that come in */
    uint64_t unwritten_bytes;            /* of those, not on the disk yet */
    time_t counted_s;                    /* when the folder was last looked at */
};

/* One upload and the room it was promised, from before its first byte until it is kept or removed. Zeroed: none. */
struct serve_upload {
    struct serve_uploads *uploads;
    uint64_t promised, written;
    char refusal[240]; /* why there is no room */
};

/* Makes the folder where it is not there; NULL: one of its own below $TMPDIR. What a run that was killed left of
 * uploads that were not complete is removed. */
enum pyro_status pyro_uploads_open(struct serve_uploads *uploads, const char *folder,
                                   const struct serve_upload_limits *limits, struct pyro_error *error);
/* Removes a folder of its own with what is in it. */
void pyro_uploads_close(struct serve_uploads *uploads);

/* Promises room for an upload of `bytes` (0: not known yet). False: there is none, as `refusal` says. */
bool pyro_upload_begin(struct serve_upload *upload, struct serve_uploads *uploads, uint64_t bytes);
/* The same for bytes that are about to be written, beyond what was announced too. */
bool pyro_upload_take(struct serve_upload *upload, uint64_t bytes);
/* Gives the complete file that name, or one like it where that is taken; `ret_path` gets it. 0, or an errno. */
int pyro_upload_keep(struct serve_upload *upload, const char *file, const char *name, char *ret_path, size_t bytes);
/* Gives back what was promised and not kept. */
void pyro_upload_end(struct serve_upload *upload);
/* Removes a file that was kept. 0, or an errno. */
int pyro_uploads_remove(struct serve_uploads *uploads, const char *path);

#endif
