/* JSON as Spark's REST API lays it out. */
#ifndef PYRO_SERVE_SPARK_JSON_H
#define PYRO_SERVE_SPARK_JSON_H

#include "base/strbuf.h"

struct spark_json {
    struct pyro_strbuf *out;
    unsigned depth; /* of objects */
    bool filled;    /* the container at hand has a member */
};

void pyro_spark_open_object(struct spark_json *json);
void pyro_spark_close_object(struct spark_json *json);
void pyro_spark_open_array(struct spark_json *json);
void pyro_spark_close_array(struct spark_json *json);
/* Before each element of an array, and the key of each member of an object. */
void pyro_spark_element(struct spark_json *json);
void pyro_spark_key(struct spark_json *json, const char *key);
void pyro_spark_key_slice(struct spark_json *json, struct pyro_slice key);

void pyro_spark_text(struct spark_json *json, struct pyro_slice text);
void pyro_spark_integer(struct spark_json *json, int64_t value);
void pyro_spark_real(struct spark_json *json, double value);
void pyro_spark_word(struct spark_json *json, const char *word);

/* Members. A null text, and a time of 0 or less, is left out. */
void pyro_spark_put_text(struct spark_json *json, const char *key, struct pyro_slice text);
void pyro_spark_put_int(struct spark_json *json, const char *key, int64_t value);
void pyro_spark_put_bool(struct spark_json *json, const char *key, bool value);
void pyro_spark_put_time(struct spark_json *json, const char *key, int64_t time_ms);
/* Any time, as Spark writes dates. */
void pyro_spark_put_date(struct spark_json *json, const char *key, int64_t time_ms);

#endif
