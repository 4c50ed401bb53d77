/* What a file looks like that is not an event log, in words for people. */
#ifndef PYRO_DECODE_ARTEFACT_GUESS_H
#define PYRO_DECODE_ARTEFACT_GUESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strings/slice.h"

/* Of the first bytes of a file, decompressed: "text without times", "JSON lines, not Spark's". `whole`: there are no
 * more. false: they may be those of an event log, or are too few to say. */
bool pyro_artefact_guess(struct pyro_slice head, bool whole, char *ret, size_t size);

/* The same of a file that is of no kind that is known. */
const char *pyro_text_guess(struct pyro_slice head);

#endif
