/* What a server itself shows of an attempt: its answers, as the rows that it would make of the attempt's log. */
#ifndef PYRO_DECODE_REST_REST_HISTORY_H
#define PYRO_DECODE_REST_REST_HISTORY_H

#include "base/json/json_read.h"
#include "decode/intake.h"
#include "decode/rest/rest.h"
#include "model/history/history.h"

struct pyro_rest_history {
    struct pyro_history *history; /* NULL: none is asked for, or it was given away */
    struct pyro_intake intake;    /* through which all texts come into history->strings */
    struct pyro_strbuf scratch;
    size_t items; /* of lists in rows */
    bool too_many;
};

/* False: no memory. pyro_rest_history_done() in any case. */
bool pyro_rest_history_begin(struct pyro_rest_history *shown, enum pyro_redaction redaction);
void pyro_rest_history_done(struct pyro_rest_history *shown);
/* Takes the environment, the executors and the stages, in this order; other pages are skipped. A page that is not an
 * answer of Spark's is read as far as it is one: the reader of the same page for event lines refuses it. */
enum pyro_status pyro_rest_history_read(struct pyro_rest_history *shown, const char *page, struct pyro_json_reader json,
                                        struct pyro_error *error);
/* Gives the history away, sealed. NULL: no memory. */
struct pyro_history *pyro_rest_history_give(struct pyro_rest_history *shown);

#endif
