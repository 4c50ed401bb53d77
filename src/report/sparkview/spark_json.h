/* JSON as Spark's REST API lays it out.
 *
 * Large answers are made of millions of short members, so each is written at one go: room for all of it is asked for
 * once, and its key, a literal, is copied as a constant. */
#ifndef PYRO_REPORT_SPARKVIEW_SPARK_JSON_H
#define PYRO_REPORT_SPARKVIEW_SPARK_JSON_H

#include <string.h>

#include "base/strings/strbuf.h"
#include "model/column.h"

struct spark_json {
    struct pyro_strbuf *out;
    unsigned depth; /* of objects */
    bool filled;    /* the container at hand has a member */
    bool brief;     /* for stores: without line ends, and without long texts that no number is in */
    bool spark_4;   /* as a server of Spark 4 counts and shows, not one of Spark 3.5 */
};

/* A key with its quotes and colon, for tables of keys: "name" : */
struct spark_name {
    unsigned char len;
    char text[47];
};
#define SPARK_NAME(name)                                                                                               \
    {                                                                                                                  \
        sizeof("\"" name "\" : ") - 1, "\"" name "\" : "                                                               \
    }

/* ---- How members are written; for this header and spark_json.c only ---- */

enum {
    SPARK_INDENT = 32,     /* bytes of a line end and blanks that are copied at once */
    SPARK_AROUND_KEY = 40, /* a comma, such a copy, quotes, blanks and a colon */
    SPARK_INTEGER_BYTES = 24
};

/* Where to write at most `bytes`; NULL: no memory. */
static inline char *pyro_spark_room(struct spark_json *json, size_t bytes)
{
    struct pyro_strbuf *out = json->out;
    if (out->capacity - out->len <= bytes && !pyro_strbuf_reserve(out, bytes))
        return NULL;
    return out->data + out->len;
}

static inline void pyro_spark_wrote(struct spark_json *json, char *end)
{
    *end = '\0';
    json->out->len = (size_t)(end - json->out->data);
}

/* The comma after the member before and the beginning of a line. */
static inline char *pyro_spark_indent(struct spark_json *json, char *at)
{
    static const char blanks[SPARK_INDENT + 1] = "\n                               ";
    *at = ',';
    at += json->filled;
    json->filled = true;
    if (json->brief)
        return at;
    memcpy(at, blanks, SPARK_INDENT);
    for (size_t i = SPARK_INDENT; i < 1 + 2 * (size_t)json->depth; i++)
        at[i] = ' ';
    return at + 1 + 2 * (size_t)json->depth;
}

static inline char *pyro_spark_write_key(struct spark_json *json, char *at, const char *key, size_t len)
{
    at = pyro_spark_indent(json, at);
    *at++ = '"';
    memcpy(at, key, len);
    memcpy(at + len, "\" : ", 4);
    return at + len + 4;
}

static inline size_t pyro_spark_key_bytes(const struct spark_json *json, size_t len)
{
    return SPARK_AROUND_KEY + 2 * (size_t)json->depth + len;
}

/* At most SPARK_INTEGER_BYTES. */
char *pyro_spark_write_integer(char *at, int64_t value);

/* ---- Containers and values ---- */

void pyro_spark_open_object(struct spark_json *json);
void pyro_spark_close_object(struct spark_json *json);
void pyro_spark_open_array(struct spark_json *json);
void pyro_spark_close_array(struct spark_json *json);
/* Before each element of an array, and the key of each member of an object. Keys of type char * are written without
 * escapes. */
void pyro_spark_element(struct spark_json *json);
void pyro_spark_key_slice(struct spark_json *json, struct pyro_slice key);

static inline void pyro_spark_key(struct spark_json *json, const char *key)
{
    size_t len = strlen(key);
    char *at = pyro_spark_room(json, pyro_spark_key_bytes(json, len));
    if (at)
        pyro_spark_wrote(json, pyro_spark_write_key(json, at, key, len));
}

/* A key out of a table. */
void pyro_spark_name(struct spark_json *json, const struct spark_name *name);

void pyro_spark_text(struct spark_json *json, struct pyro_slice text);
void pyro_spark_integer(struct spark_json *json, int64_t value);
void pyro_spark_real(struct spark_json *json, double value);
void pyro_spark_word(struct spark_json *json, const char *word);
/* Any time, as Spark writes dates. */
void pyro_spark_date(struct spark_json *json, int64_t time_ms);

/* ---- Members. A null text, and a time of 0 or less, is left out; for stores, a number that is not known too ---- */

static inline void pyro_spark_put_text(struct spark_json *json, const char *key, struct pyro_slice text)
{
    if (!text.ptr)
        return;
    pyro_spark_key(json, key);
    pyro_spark_text(json, text);
}

/* A log may have any number; only where answers are kept, the least one says that there is none. */
static inline bool pyro_spark_is_unknown(const struct spark_json *json, int64_t value)
{
    return value == PYRO_NONE && json->brief;
}

static inline void pyro_spark_put_int(struct spark_json *json, const char *key, int64_t value)
{
    if (pyro_spark_is_unknown(json, value))
        return;
    size_t len = strlen(key);
    char *at = pyro_spark_room(json, pyro_spark_key_bytes(json, len) + SPARK_INTEGER_BYTES);
    if (at)
        pyro_spark_wrote(json, pyro_spark_write_integer(pyro_spark_write_key(json, at, key, len), value));
}

static inline void pyro_spark_put_bool(struct spark_json *json, const char *key, bool value)
{
    pyro_spark_key(json, key);
    pyro_spark_word(json, value ? "true" : "false");
}

static inline void pyro_spark_put_date(struct spark_json *json, const char *key, int64_t time_ms)
{
    pyro_spark_key(json, key);
    pyro_spark_date(json, time_ms);
}

static inline void pyro_spark_put_time(struct spark_json *json, const char *key, int64_t time_ms)
{
    if (time_ms > 0)
        pyro_spark_put_date(json, key, time_ms);
}

/* Many of them: names[i] for values[i]. */
void pyro_spark_put_ints(struct spark_json *json, const struct spark_name *names, const int64_t *values, size_t count);

#endif
