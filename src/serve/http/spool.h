/* The folder that uploads go into. */
#ifndef PYRO_SERVE_HTTP_SPOOL_H
#define PYRO_SERVE_HTTP_SPOOL_H

#include <stdbool.h>

#include "base/error.h"

struct spool {
    char *folder; /* NULL: no uploads */
    bool temporary;
};

/* Makes the folder where it is not there; NULL: one of its own below $TMPDIR. What a run that was killed left of
 * uploads that were not complete is removed. */
enum pyro_status pyro_spool_open(struct spool *spool, const char *folder, struct pyro_error *error);
/* Removes a folder of its own with what is in it. */
void pyro_spool_close(struct spool *spool);

#endif
