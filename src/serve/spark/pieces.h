/* Answers of any length, written piece by piece. */
#ifndef PYRO_SERVE_SPARK_PIECES_H
#define PYRO_SERVE_SPARK_PIECES_H

#include "serve/spark/spark_request.h"

struct spark_pieces {
    /* Writes the next piece, a few hundred kilobytes at most; false: that was the last one. Where there is no memory
     * json->out->failed is set. May be called from another thread later on. */
    bool (*next)(void *context, struct spark_json *json);
    void (*close)(void *context); /* called once, however the answer ends */
    void *context;
};

/* Answers with what request->json has so far and the pieces, which it takes over. A short answer is complete when this
 * returns; a long one is written while it is sent, as fast as the client reads, so that it never is in memory as a
 * whole. The request's history stays there for as long as that takes. */
void pyro_spark_answer_pieces(struct spark_request *request, const struct spark_pieces *pieces);

#endif
