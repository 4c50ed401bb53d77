/* What a file looks like that is not an event log, in words for people. */
#ifndef PYRO_DECODE_ARTEFACT_GUESS_H
#define PYRO_DECODE_ARTEFACT_GUESS_H

#include "base/strings/slice.h"
#include <stdbool.h>

struct pyro_guess {
    bool of_run;    /* a file that belongs to runs; false: it only looks like what the text says */
    bool from_pipe; /* what reads it reads it from standard input as well */
    char text[240]; /* "text without times"; of files of runs with what reads them */
};

/* Of the first bytes of a file, decompressed. `whole`: there are no more. false: they may be those of an event log, or
 * are too few to say. */
bool pyro_artefact_guess(struct pyro_slice head, bool whole, struct pyro_guess *ret);

/* The same of a file that is of no kind that is known. */
const char *pyro_text_guess(struct pyro_slice head);

#endif
