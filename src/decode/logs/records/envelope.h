/* What a tool wrote around each line of a log: Kubernetes' nodes, Docker's JSON, and prefixes of Airflow,
 * docker-compose, kubectl, stern, journald, Livy and others. */
#ifndef PYRO_DECODE_LOGS_RECORDS_ENVELOPE_H
#define PYRO_DECODE_LOGS_RECORDS_ENVELOPE_H

#include <stdbool.h>

#include "base/json/json_read.h"
#include "base/strings/strbuf.h"
#include "decode/logs/records/header.h"

enum pyro_envelope_kind {
    PYRO_ENVELOPE_NONE,
    PYRO_ENVELOPE_CRI,    /* "2024-03-01T10:15:02.123456789Z stderr F text" */
    PYRO_ENVELOPE_JSON,   /* {"log":"text\n","stream":"stderr","time":"..."}, {"MESSAGE":"text"} */
    PYRO_ENVELOPE_RECORD, /* {"timestamp":"...","properties":{"level":"INFO","message":"text"}}: logger_record.h */
    PYRO_ENVELOPE_PREFIX  /* words and signs in front of a header that Pyrometer knows; most lines have them alike */
};

enum { PYRO_PREFIX_SHAPE = 64, PYRO_PREFIX_WORDS = 12, PYRO_PREFIX_FIXED = 64 };

/* The envelope of a file, found in its first bytes. */
struct pyro_log_envelope {
    enum pyro_envelope_kind kind;
    /* PREFIX: 'w' for a word, ' ' for blanks, other signs as they are; "[w] {w} w w ". */
    char shape[PYRO_PREFIX_SHAPE];
    size_t shape_len;
    /* A prefix that is itself a header: the words that are the same in all lines, so that other lines keep their own.
     */
    bool nested;
    char fixed[PYRO_PREFIX_WORDS][PYRO_PREFIX_FIXED]; /* empty: any word */
    const struct pyro_scan *scan;
    struct pyro_strbuf text;          /* decoded, until the next line is opened */
    struct pyro_strbuf inner, source; /* RECORD: texts that hold objects; application and executor */
};

/* One line without its envelope. Slices are of the line, or of the envelope's text. */
struct pyro_enveloped_line {
    int64_t time_ms;            /* in UTC; PYRO_NONE: the envelope has none, or none with a zone */
    bool error_stream, partial; /* partial: the next line of the stream goes on */
    struct pyro_slice text;
    struct pyro_slice container, host; /* null where the envelope does not say */
    struct pyro_slice application, executor;
    bool left_out; /* another object of the stream: metrics, events */
};

void pyro_log_envelope_init(struct pyro_log_envelope *envelope, const struct pyro_allocator *allocator);
void pyro_log_envelope_done(struct pyro_log_envelope *envelope);
/* Finds what the lines of a file are wrapped in, from its first bytes. `own`: a user's pattern of headers, or NULL. */
enum pyro_envelope_kind pyro_log_envelope_find(struct pyro_log_envelope *envelope, struct pyro_slice head,
                                               const struct pyro_log_pattern *own);
/* Whether a line holds several that are wrapped: then pyro_logger_batch_next() gives them. */
bool pyro_log_envelope_is_batch(const struct pyro_log_envelope *envelope, struct pyro_slice line,
                                struct pyro_json_reader *ret);
/* Opens one line. False: it is not wrapped as the others are, and stands for itself. PYRO_SCAN_PADDING bytes behind it
 * may be read. */
bool pyro_log_envelope_open(struct pyro_log_envelope *envelope, struct pyro_slice line,
                            struct pyro_enveloped_line *ret);

#endif
