/* What text logs say, in its formats. */
#ifndef PYRO_REPORT_LOGS_LOGS_H
#define PYRO_REPORT_LOGS_LOGS_H

#include "decode/logs/errors.h"
#include "decode/logs/records/record_reader.h"
#include "decode/logs/repeats/chunks.h"
#include "decode/logs/timeline/timeline.h"
#include "report/report.h"
#include "text/json_write.h"
#include "text/page.h"

/* Files that were found before, and members of archives. */
struct pyro_log_parts {
    const struct pyro_log_part *items;
    size_t count;
};
/* pyro_logs_errors() and the others, for such files instead of paths, in their order. */
typedef enum pyro_status pyro_logs_of_parts(const struct pyro_log_parts *parts, const struct pyro_logs_options *asked,
                                            enum pyro_format format, const struct pyro_options *options,
                                            const struct pyro_writer *writer, struct pyro_error *error);
pyro_logs_of_parts pyro_logs_errors_of, pyro_logs_top_of, pyro_logs_timeline_of;

/* What all three documents have: what was read, and how to write it. */
struct pyro_log_document {
    struct pyro_output *output;
    const struct pyro_log_input *input;
    const struct pyro_report_options *report;
    enum pyro_format format;
    size_t limit;                  /* rows that are shown; 0: all */
    enum pyro_redaction redaction; /* of what has its secrets still */
    struct pyro_strbuf line;       /* working space */
};

void pyro_log_errors_write(struct pyro_log_document *document, const struct pyro_log_error *errors, size_t count,
                           uint64_t other);
void pyro_log_timeline_write(struct pyro_log_document *document, const struct pyro_line_timeline *timeline,
                             const struct pyro_line_result *result);
void pyro_log_chunks_write(struct pyro_log_document *document, const struct pyro_log_chunk *chunks, size_t count,
                           bool exact);

/* How many of `count` rows are shown. */
size_t pyro_log_shown(const struct pyro_log_document *document, size_t count);
/* {"schema": ..., "files": ..., "lines": ..., "records": ... of the document's object. */
void pyro_logs_json_begin(struct pyro_json_writer *json, const struct pyro_log_document *document, const char *schema);
/* "notes", "unreadable", and the object's end. */
void pyro_logs_json_end(struct pyro_json_writer *json, const struct pyro_log_document *document);
void pyro_logs_json_texts(struct pyro_json_writer *json, const char *key, const struct pyro_slice *texts, size_t count);
void pyro_logs_json_ints(struct pyro_json_writer *json, const char *key, const int64_t *values, size_t count);
/* The head of a text: "120,345 lines in 4 files." behind what document->line has. */
void pyro_log_text_begin(struct pyro_page *page, struct pyro_log_document *document, const char *title);
/* Notes and what could not be read. */
void pyro_log_text_end(struct pyro_page *page, struct pyro_log_document *document);
/* The lines of a text, indented; at most `most` of them, 0: all. */
void pyro_log_text_lines(struct pyro_page *page, struct pyro_log_document *document, struct pyro_slice text,
                         size_t most);
/* Cells of CSV: a comma follows each but the last. */
void pyro_log_csv_text(struct pyro_strbuf *out, struct pyro_slice text, bool last);
void pyro_log_csv_int(struct pyro_strbuf *out, int64_t value, bool last);
/* One cell of several values with blanks between them. */
void pyro_log_csv_texts(struct pyro_strbuf *out, const struct pyro_slice *texts, size_t count, bool last);

#endif
