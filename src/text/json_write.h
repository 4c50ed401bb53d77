/* A streaming JSON writer: commas, line breaks and escapes are its business, the order of calls is the caller's.
 *
 *     pyro_json_begin(&json, '{');
 *     pyro_json_line(&json);                  the next member starts a line
 *     pyro_json_int(&json, "tasks", 12);      a NULL key writes an array element
 *     pyro_json_end(&json, '}');
 */
#ifndef PYRO_TEXT_JSON_WRITE_H
#define PYRO_TEXT_JSON_WRITE_H

#include "text/buffered_output.h"

struct pyro_json_writer {
    struct pyro_output *output;
    unsigned depth;  /* open containers */
    uint64_t filled; /* bit d: the container of depth d has a member (depths beyond 63 are not used here) */
    uint64_t lined;  /* bit d: it has members on lines of their own, so that its end gets one too */
    bool line;       /* the next member starts a line */
    bool margin;     /* lines start without blanks, and containers end where their last member does; the caller's */
};

void pyro_json_writer_init(struct pyro_json_writer *json, struct pyro_output *output);
void pyro_json_line(struct pyro_json_writer *json);
/* `bracket` is '{' or '['. */
void pyro_json_begin(struct pyro_json_writer *json, const char *key, char bracket);
void pyro_json_end(struct pyro_json_writer *json, char bracket);
void pyro_json_int(struct pyro_json_writer *json, const char *key, int64_t value); /* PYRO_NONE: null */
void pyro_json_count(struct pyro_json_writer *json, const char *key, uint64_t value);
void pyro_json_real(struct pyro_json_writer *json, const char *key, double value); /* not finite: null */
void pyro_json_bool(struct pyro_json_writer *json, const char *key, bool value);
void pyro_json_text(struct pyro_json_writer *json, const char *key, struct pyro_slice value); /* null slice: null */
void pyro_json_string(struct pyro_json_writer *json, const char *key, const char *value);     /* NULL: null */
void pyro_json_null(struct pyro_json_writer *json, const char *key);
/* A key that is not a literal; a value written with a NULL key follows. */
void pyro_json_key(struct pyro_json_writer *json, struct pyro_slice key);
/* An array of numbers without blanks, for columns of many: begin, each number, end. */
void pyro_json_begin_numbers(struct pyro_json_writer *json, const char *key);
void pyro_json_number(struct pyro_json_writer *json, int64_t value);      /* PYRO_NONE: null */
void pyro_json_thousandths(struct pyro_json_writer *json, int64_t value); /* 1500: 1.5; PYRO_NONE: null */
void pyro_json_end_numbers(struct pyro_json_writer *json);
/* The caller appends one scalar value to the output itself. */
void pyro_json_begin_value(struct pyro_json_writer *json);

#endif
