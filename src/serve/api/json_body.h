/* Bodies of requests, which are JSON. Apart from what writes JSON: reader and writer share a name. */
#ifndef PYRO_SERVE_API_JSON_BODY_H
#define PYRO_SERVE_API_JSON_BODY_H

#include <stdbool.h>

#include "base/memory/arena.h"

/* What a user says of a run; texts are NULL where the body has none. */
struct api_feedback {
    const char *finding, *verdict, *comment, *missed;
};
/* Texts go to the arena. NULL: it was read; else what is wrong with it. */
const char *pyro_api_read_feedback(struct pyro_slice body, struct pyro_arena *arena, struct api_feedback *ret);

#endif
