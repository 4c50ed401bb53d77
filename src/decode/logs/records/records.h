/* Lines to records: a line with a header and the lines without one that follow it.
 *
 * A line without a header that no record takes is a record of its own, except that the lines of an exception stay
 * together. A traceback of Python, or an uncaught exception of a JVM, begins a record unless the line before it
 * announces it with a colon: it was not logged, but written to the same stream. */
#ifndef PYRO_DECODE_LOGS_RECORDS_RECORDS_H
#define PYRO_DECODE_LOGS_RECORDS_RECORDS_H

#include "decode/logs/records/filter.h"
#include "decode/logs/records/header.h"

/* A longer record is ended, and its further lines are records of their own. */
enum { PYRO_LOG_RECORD_BYTES = 1 << 20, PYRO_LOG_LINE_BYTES = 1 << 20 };

struct pyro_log_counts {
    uint64_t files, other_files; /* read; of folders, without being text logs */
    uint64_t bytes;              /* decompressed */
    uint64_t lines, records;     /* records: before the filter */
    uint64_t headed;             /* records with a header */
    uint64_t cut_lines;          /* longer than PYRO_LOG_LINE_BYTES: the rest was dropped */
    uint64_t garbage_lines;      /* that are not text, dropped */
    uint64_t profiler_lines;     /* records of profilers, dropped */
    uint64_t other_records;      /* other objects of JSON than records, dropped: metrics, events */
    uint64_t jumps;              /* records more than a second before the one in front of them */
    bool zone_assumed;           /* some times have no zone, and none was given */
    bool zone_given;             /* some times have no zone, and one was given */
};

struct pyro_log_span {
    size_t at, len; /* len SIZE_MAX: null */
};

struct pyro_log_assembler {
    /* To be set: */
    const struct pyro_log_pattern *pattern; /* NULL: none */
    bool has_zone;
    int64_t offset_s;
    struct pyro_log_filter *filter; /* NULL: all records pass */
    pyro_log_consumer *take;
    void *context;
    struct pyro_log_counts *counts;
    const struct pyro_log_file *file;
    bool copies; /* lines do not lie one behind the other in memory */
    /* Its own: */
    struct pyro_log_json json;
    struct pyro_strbuf joined;
    const char *begin; /* of the open record; NULL: none */
    size_t len;
    int64_t place, time_ms, last_ms;
    uint64_t line;
    uint32_t lines;
    enum pyro_log_level level;
    bool headed, exception, blank; /* exception: a record without a header that is one; blank: after an empty line */
    char last;                     /* last sign of the last line that is not empty */
    struct pyro_log_span logger, thread, task_name, message;
};

void pyro_log_assembler_init(struct pyro_log_assembler *assembler, const struct pyro_allocator *allocator);
void pyro_log_assembler_done(struct pyro_log_assembler *assembler);
/* Copies the next lines: they need not follow each other in memory. */
enum pyro_status pyro_log_assembler_copy(struct pyro_log_assembler *assembler, struct pyro_error *error);
/* Takes a line without its end. Unless `copies`, it lies behind the line before it, with that one's end between them,
 * and stays where it is until the record ends. `time_ms`: of the line's prefix, PYRO_NONE without one. */
enum pyro_status pyro_log_assembler_line(struct pyro_log_assembler *assembler, struct pyro_slice line, int64_t place,
                                         uint64_t number, int64_t time_ms, struct pyro_error *error);
/* Ends the open record: no further line belongs to it. */
enum pyro_status pyro_log_assembler_end(struct pyro_log_assembler *assembler, struct pyro_error *error);
/* The same at the end of a file: the next one has its own times. */
enum pyro_status pyro_log_assembler_end_file(struct pyro_log_assembler *assembler, struct pyro_error *error);

#endif
