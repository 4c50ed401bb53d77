/* Records of loggers as objects of JSON, with the member names of many layouts: the diagnostic emitter of Azure Synapse
 * and Microsoft Fabric, tables of Azure Log Analytics, the layouts of logstash and ECS for log4j. Spark's own
 * structured logging has its own reader (record_json.c). */
#ifndef PYRO_DECODE_LOGS_RECORDS_LOGGER_RECORD_H
#define PYRO_DECODE_LOGS_RECORDS_LOGGER_RECORD_H

#include "base/json/json_read.h"
#include "base/strings/strbuf.h"

enum pyro_logger_part {
    PYRO_PART_TIME,
    PYRO_PART_LEVEL,
    PYRO_PART_MESSAGE,
    PYRO_PART_LOGGER,
    PYRO_PART_THREAD,
    PYRO_PART_APPLICATION,
    PYRO_PART_EXECUTOR, /* "driver" or the executor's id */
    PYRO_PART_HOST,
    PYRO_PART_EXCEPTION, /* name of its class */
    PYRO_PART_EXCEPTION_MESSAGE,
    PYRO_PART_STACK,
    PYRO_LOGGER_PARTS
};

/* Texts as written between their quotes; null where the record does not say. */
struct pyro_logger_record {
    struct pyro_slice parts[PYRO_LOGGER_PARTS];
};

/* Reads an object, its members and those of its `properties`, which may be an object or a text that holds one: such a
 * text is decoded to `buffer`, and left out if the buffer is too small. PYRO_SCAN_PADDING bytes behind the line may be
 * read. False: the line is not an object. */
bool pyro_logger_record_read(const struct pyro_scan *scan, struct pyro_slice line, char *buffer, size_t size,
                             struct pyro_logger_record *ret);
/* Whether it has a time, a level and a message; metrics and events of the same stream do not. */
bool pyro_logger_record_is_log(const struct pyro_logger_record *record);
/* Writes it as log4j writes text: "2026-03-04T05:06:07.000Z ERROR [main] Executor: message", and the stack. */
void pyro_logger_record_write(const struct pyro_logger_record *record, struct pyro_strbuf *out);

/* A line that holds several records: {"records":[{...},{...}]} of Event Hubs, or an array. False: it is none. Then
 * pyro_logger_batch_next() gives one after the other, as written; a cut line gives those that are whole. */
bool pyro_logger_batch_begin(const struct pyro_scan *scan, struct pyro_slice line, struct pyro_json_reader *ret);
bool pyro_logger_batch_next(struct pyro_json_reader *batch, bool *first, struct pyro_slice *ret);

#endif
