/* JSON as Spark's REST API lays it out. */
#ifndef PYRO_SERVE_JSON_H
#define PYRO_SERVE_JSON_H

#include "base/strbuf.h"

struct serve_json {
    struct pyro_strbuf *out;
    unsigned depth; /* of objects */
    bool filled;    /* the container at hand has a member */
};

void pyro_serve_open_object(struct serve_json *json);
void pyro_serve_close_object(struct serve_json *json);
void pyro_serve_open_array(struct serve_json *json);
void pyro_serve_close_array(struct serve_json *json);
/* Before each element of an array, and the key of each member of an object. */
void pyro_serve_element(struct serve_json *json);
void pyro_serve_key(struct serve_json *json, const char *key);
void pyro_serve_key_slice(struct serve_json *json, struct pyro_slice key);

void pyro_serve_text(struct serve_json *json, struct pyro_slice text);
void pyro_serve_integer(struct serve_json *json, int64_t value);
void pyro_serve_real(struct serve_json *json, double value);
void pyro_serve_word(struct serve_json *json, const char *word);

/* Members. A null text, and a time of 0 or less, is left out. */
void pyro_serve_put_text(struct serve_json *json, const char *key, struct pyro_slice text);
void pyro_serve_put_int(struct serve_json *json, const char *key, int64_t value);
void pyro_serve_put_bool(struct serve_json *json, const char *key, bool value);
void pyro_serve_put_time(struct serve_json *json, const char *key, int64_t time_ms);
/* Any time, as Spark writes dates. */
void pyro_serve_put_date(struct serve_json *json, const char *key, int64_t time_ms);

#endif
