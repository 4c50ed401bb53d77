/* An application as spans: application, SQL execution or job, stage, task; batches of streams; waits for executors and
 * their lives. The Spark plugin sends the same ones while the application runs (jvm/.../trace/SpanTree.java), with the
 * same identifiers, so that a span which is sent twice is one. */
#ifndef PYRO_EXPORT_TELEMETRY_SPANS_H
#define PYRO_EXPORT_TELEMETRY_SPANS_H

#include "model/app.h"

enum pyro_span_of {
    PYRO_SPAN_OF_APPLICATION,
    PYRO_SPAN_OF_WAIT,     /* from the application's start to its first executor */
    PYRO_SPAN_OF_REQUEST,  /* from the request for an executor to its registration */
    PYRO_SPAN_OF_EXECUTOR, /* from its registration to its end */
    PYRO_SPAN_OF_BATCH,
    PYRO_SPAN_OF_SQL,
    PYRO_SPAN_OF_JOB,
    PYRO_SPAN_OF_STAGE,
    PYRO_SPAN_OF_TASK,
};

enum { PYRO_SPAN_ID_HEX = 17, PYRO_TRACE_ID_HEX = 33 };

struct pyro_app_span {
    enum pyro_span_of of;
    size_t row;                    /* in the table of what it is about */
    char id[PYRO_SPAN_ID_HEX];     /* 16 hexadecimal digits */
    char parent[PYRO_SPAN_ID_HEX]; /* empty: it is the root */
    char name[256];                /* UTF-8 */
    int64_t start_ms, end_ms;      /* epoch; start <= end. What did not end does so with the application */
    struct pyro_slice error;       /* why it failed; null: it did not */
    bool incomplete;               /* the log does not have its end */
};

/* False: no more are wanted. */
typedef bool pyro_app_span_visitor(void *context, const struct pyro_app_span *span);

/* 32 hexadecimal digits: of the trace that the application is part of, where its log says so. */
void pyro_app_trace_id(const struct pyro_app *app, char ret[PYRO_TRACE_ID_HEX]);
/* All spans, parents before children. What has no time is left out. False: no memory, or the visitor ended it. */
bool pyro_app_spans(const struct pyro_app *app, pyro_app_span_visitor *visit, void *context);
/* The id of the span that a failure is about. False: there is none. */
bool pyro_app_failure_span(const struct pyro_app *app, const struct pyro_failure *failure, char ret[PYRO_SPAN_ID_HEX]);

#endif
