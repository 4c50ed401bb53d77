/* Files to records, in one pass and constant memory. */
#ifndef PYRO_DECODE_LOGS_RECORDS_RECORD_READER_H
#define PYRO_DECODE_LOGS_RECORDS_RECORD_READER_H

#include "decode/logs/log_files.h"
#include "decode/logs/records/records.h"

/* Given every line of every text log, without prefixes and ends. */
typedef enum pyro_status pyro_log_line_consumer(void *context, struct pyro_slice line, struct pyro_error *error);

struct pyro_log_reading {
    const char *const *paths;
    size_t path_count;
    const struct pyro_log_part *parts; /* files or members of archives, instead of paths; NULL: none */
    size_t part_count;
    const struct pyro_options *options;     /* resolved: allocator and progress */
    bool unlimited;                         /* as in pyro_load_options */
    const struct pyro_log_pattern *pattern; /* tried before those that are known; NULL: none */
    bool has_zone;                          /* offset_s is that of times without a zone; else they count as UTC */
    int64_t offset_s;
    struct pyro_log_filter *filter; /* NULL: all records */
    pyro_log_consumer *take;        /* NULL: none */
    pyro_log_line_consumer *take_line;
    void *context; /* of both */
};

/* What was read. */
struct pyro_log_input {
    struct pyro_log_files files; /* with those that could not be read */
    struct pyro_log_counts counts;
    PYRO_VEC(struct pyro_log_problem) notes; /* what is incomplete or assumed */
};

/* Damage is the end of a file, not an error: it becomes a note. PYRO_ERROR_INPUT: no path has a text log; the error
 * says why for the first one. `ret` is released by pyro_log_input_done() in any case. */
enum pyro_status pyro_logs_read(const struct pyro_log_reading *reading, struct pyro_log_input *ret,
                                struct pyro_error *error);
void pyro_log_input_done(struct pyro_log_input *input);

#endif
