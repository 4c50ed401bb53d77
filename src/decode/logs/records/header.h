/* The beginning of a record: what logging writes in front of a message. */
#ifndef PYRO_DECODE_LOGS_RECORDS_HEADER_H
#define PYRO_DECODE_LOGS_RECORDS_HEADER_H

#include <stdbool.h>

#include "base/json/scan.h"
#include "base/strings/strbuf.h"
#include "decode/logs/records/record.h"

/* Slices of the line; null where it does not say. */
struct pyro_log_header {
    int64_t time_ms; /* as if in UTC unless zoned; PYRO_NONE: the pattern has none */
    bool zoned;      /* the text has its zone */
    enum pyro_log_level level;
    struct pyro_slice logger, thread, task_name;
    struct pyro_slice message; /* the rest of the line */
};

/* record_pattern.c: the patterns of Spark 2 to 4 and those near them: a time, a level, and in any order the thread in
 * brackets, the task's name in brackets, then the logger. False: the line has no header. */
bool pyro_log_header_read(struct pyro_slice line, struct pyro_log_header *ret);
/* The level that a word names ("WARN", "WARNING"), PYRO_LEVEL_NONE without one. */
enum pyro_log_level pyro_log_level_of(struct pyro_slice word);

/* record_own.c: a pattern of log4j ("%d{yyyy-MM-dd HH:mm:ss} %p %c{1}: %m%n"). PYRO_ERROR_ARGUMENT: something in it is
 * not understood; the message says what. Immutable once made. */
struct pyro_log_pattern;
enum pyro_status pyro_log_pattern_new(const char *text, const struct pyro_allocator *allocator,
                                      struct pyro_log_pattern **ret, struct pyro_error *error);
void pyro_log_pattern_free(struct pyro_log_pattern *pattern);
bool pyro_log_pattern_read(const struct pyro_log_pattern *pattern, struct pyro_slice line, struct pyro_log_header *ret);

/* record_json.c: a line of Spark 4's structured logging. */
struct pyro_log_json {
    const struct pyro_scan *scan;
    struct pyro_strbuf message; /* decoded, with the exception as Java writes it; until the next line is read */
};
void pyro_log_json_init(struct pyro_log_json *json, const struct pyro_allocator *allocator);
void pyro_log_json_done(struct pyro_log_json *json);
/* PYRO_SCAN_PADDING bytes after the line may be read. False: it is another line, or there is no memory (then
 * message.failed is set). The message is not a slice of the line, and complete. */
bool pyro_log_json_read(struct pyro_log_json *json, struct pyro_slice line, struct pyro_log_header *ret);

#endif
