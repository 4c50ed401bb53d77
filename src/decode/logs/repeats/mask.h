/* The fixed words of a log message: numbers, ids, paths, addresses and other values become <*>, in one pass.
 *
 * Only the first line that is not empty counts. What becomes <*>:
 * - numbers, also with a unit behind them ("15 ms", "123.4 KiB"), dates, times, hex numbers;
 * - words with digits: ids of applications, containers, tasks and stages, UUIDs, blocks (rdd_3_4, broadcast_5_piece0),
 *   host:port, IP addresses, threads. Two digits at most inside a word of letters stay: log4j, s3a;
 * - paths and addresses (URLs), words with an @ inside (class@hash, user@host);
 * - call sites ("collect at job.py:12");
 * - quoted text, and the content of the parentheses of a Scala collection: List(...), Map(...);
 * - all after the class of an exception ("java.io.IOException: ...").
 * Values in a row ("0, 1, 2") become one <*>, and blanks in a row one space. A key stays: "size:5" is "size:<*>". */
#ifndef PYRO_DECODE_LOGS_REPEATS_MASK_H
#define PYRO_DECODE_LOGS_REPEATS_MASK_H

#include <stdint.h>

#include "base/strings/slice.h"

enum {
    PYRO_MASK_BYTES = 512, /* of a masked text; a longer one is cut and ends with <*> */
    PYRO_MASK_TOKENS = 64, /* the last one also has all that follows */
    PYRO_MASK_LINE = 4096  /* bytes of a line that are looked at */
};

#define PYRO_MASK "<*>"

struct pyro_masked {
    char text[PYRO_MASK_BYTES + 16]; /* without NUL */
    size_t len;
    int64_t stage; /* that the message names first ("in stage 3.0", "ResultStage 2", "TaskSet 3.0"); else PYRO_NONE */
};

void pyro_mask(struct pyro_slice message, struct pyro_masked *ret);
/* The first stage in a text such as "task 0.0 in stage 1.0 (TID 3)"; PYRO_NONE without one. */
int64_t pyro_mask_stage(struct pyro_slice text);

#endif
