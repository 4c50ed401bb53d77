/* Which records are of interest: --level --since --until --executor --stage --grep. */
#ifndef PYRO_DECODE_LOGS_RECORDS_FILTER_H
#define PYRO_DECODE_LOGS_RECORDS_FILTER_H

#include <stdbool.h>

#include "base/strings/pattern.h"
#include "decode/logs/records/record.h"

struct pyro_log_filter {
    enum pyro_log_level level;  /* this one and worse ones; PYRO_LEVEL_NONE: all. A record without a header that begins
                                 * an exception counts as ERROR */
    int64_t since_ms, until_ms; /* PYRO_NONE: no limit; records without a time are left out if there is one */
    struct pyro_slice executor; /* null: all */
    int64_t stage;              /* PYRO_NONE: all */
    bool whole_runs;            /* executor and stage are not looked at: what they mean depends on other records */
    /* Of --grep: */
    struct pyro_pattern *pattern;
    pcre2_match_data *found;
    pcre2_match_context *limits;
    uint64_t undecided; /* records that took too long to match, and were left out */
};

/* Everything passes. */
void pyro_log_filter_init(struct pyro_log_filter *filter);
void pyro_log_filter_done(struct pyro_log_filter *filter);
/* PYRO_ERROR_ARGUMENT: it is not a regular expression. */
enum pyro_status pyro_log_filter_grep(struct pyro_log_filter *filter, const char *expression, struct pyro_error *error);
bool pyro_log_filter_passes(struct pyro_log_filter *filter, const struct pyro_log_file *file,
                            const struct pyro_log_record *record);
/* "2024-03-01", "2024-03-01 10:15" and what pyro_date_time_read() reads; without a zone `offset_s` applies. False: it
 * is not a time. */
bool pyro_log_filter_time(const char *text, int64_t offset_s, int64_t *ret_ms);

#endif
