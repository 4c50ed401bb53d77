/* Reading one JSON record on demand: fields are taken as they come, everything else is skipped.
 *
 *     PYRO_JSON_KEYS(keys, (JOB_ID, "Job ID"), (STAGE_IDS, "Stage IDs"));
 *     struct pyro_json_object object;
 *     pyro_json_enter_object(json, &object);
 *     for (int key; (key = PYRO_JSON_NEXT(json, &object, keys)) != PYRO_JSON_END;)
 *         if (key == JOB_ID) ...
 *
 * Spark writes the keys of an event in a fixed order: each object remembers which key of the caller's table should come
 * next and compares with that one first. Any other order is as correct, only slower. Escaped keys compare by what they
 * mean. A newline does not count as white space here, since a record is one line: the end of the line need not be
 * searched first.
 *
 * Errors stick: after the first one `error` holds the reason, `at` the place, and every call returns "end" or false. */
#ifndef PYRO_BASE_JSON_JSON_READ_H
#define PYRO_BASE_JSON_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/each.h"
#include "base/json/scan.h"
#include "base/strings/slice.h"

enum { PYRO_JSON_DEPTH = 1000 }; /* containers that a record may nest */

struct pyro_json_reader {
    const char *at;  /* next byte */
    const char *end; /* PYRO_SCAN_PADDING readable bytes follow */
    const struct pyro_scan *scan;
    const char *error; /* NULL, or a static text */
    unsigned depth;
};

struct pyro_json_key {
    char name[46]; /* "Key": with both quotes and the colon */
    unsigned char len;
};
#define PYRO_JSON_KEY(key)                                                                                             \
    {                                                                                                                  \
        "\"" key "\":", sizeof(key) + 2                                                                                \
    }

/* A table of keys with an enum of its rows, TABLE_count last: PYRO_JSON_KEYS(TABLE, (NAME, "key"), ...). */
#define PYRO_JSON_KEYS(table, ...)                                                                                     \
    enum { PYRO_EACH(PYRO_JSON_KEY_NAME, __VA_ARGS__) table##_count };                                                 \
    static const struct pyro_json_key table[] = {PYRO_EACH(PYRO_JSON_KEY_ROW, __VA_ARGS__)}
#define PYRO_JSON_KEY_NAME(name, key) name,
#define PYRO_JSON_KEY_ROW(name, key)  PYRO_JSON_KEY(key),

struct pyro_json_object {
    unsigned expected; /* row of the caller's table that should come next */
    bool first;
    struct pyro_slice name; /* of a key outside the table: as written, without quotes, escapes not decoded */
};

enum { PYRO_JSON_END = -1, PYRO_JSON_OTHER = -2 };

void pyro_json_reader_start(struct pyro_json_reader *json, const char *text, const char *end,
                            const struct pyro_scan *scan);
/* Sets the error (the first one wins) and returns false. */
bool pyro_json_fail(struct pyro_json_reader *json, const char *reason);
/* The same for a record that was read to its end and says too little. */
static inline bool pyro_json_refuse(struct pyro_json_reader *json, const char *reason)
{
    if (!json->error)
        json->error = reason;
    return false;
}

/* Enters an object. False (no error) on null, which is consumed; an error on anything else. */
bool pyro_json_enter_object(struct pyro_json_reader *json, struct pyro_json_object *object);
/* Any key, in any order: what pyro_json_next() does when its guess fails. */
int pyro_json_next_any(struct pyro_json_reader *json, struct pyro_json_object *object, const struct pyro_json_key *keys,
                       unsigned key_count);

static inline uint64_t pyro_json_word(const char *text)
{
    uint64_t word;
    memcpy(&word, text, sizeof(word));
    return word;
}

/* Whether the text begins with the key, quotes and colon included. Reads whole words: see PYRO_SCAN_PADDING. */
static inline bool pyro_json_is_key(const char *text, const struct pyro_json_key *key)
{
    unsigned len = key->len;
    if (len < sizeof(uint64_t))
        return memcmp(text, key->name, len) == 0;
    for (unsigned i = 0; i + sizeof(uint64_t) < len; i += sizeof(uint64_t))
        if (pyro_json_word(text + i) != pyro_json_word(key->name + i))
            return false;
    unsigned last = len - (unsigned)sizeof(uint64_t);
    return pyro_json_word(text + last) == pyro_json_word(key->name + last);
}

/* Next key of the object: its row in `keys`, PYRO_JSON_OTHER for one that is not there, PYRO_JSON_END at the end (the
 * object is left) or on error. The value must be read or skipped before the next call. */
static inline int pyro_json_next(struct pyro_json_reader *json, struct pyro_json_object *object,
                                 const struct pyro_json_key *keys, unsigned key_count)
{
    const char *at = json->at;
    if (object->expected < key_count && !json->error && (object->first || *at == ',')) {
        const struct pyro_json_key *key = &keys[object->expected];
        at += !object->first;
        if (pyro_json_is_key(at, key) && at + key->len <= json->end) {
            json->at = at + key->len;
            object->first = false;
            return (int)object->expected++;
        }
    }
    return pyro_json_next_any(json, object, keys, key_count);
}

/* Next key among those of PYRO_JSON_KEYS(keys, ...). */
#define PYRO_JSON_NEXT(json, object, keys) pyro_json_next(json, object, keys, keys##_count)

/* The same, passing over members that are not in the table. */
int pyro_json_next_known(struct pyro_json_reader *json, struct pyro_json_object *object,
                         const struct pyro_json_key *keys, unsigned key_count);
#define PYRO_JSON_NEXT_KNOWN(json, object, keys) pyro_json_next_known(json, object, keys, keys##_count)

/* Enters an array: false on null. Then `while (pyro_json_next_element(json, &first))` with `bool first = true`. */
bool pyro_json_enter_array(struct pyro_json_reader *json);
bool pyro_json_next_element(struct pyro_json_reader *json, bool *first);

/* First byte of the next value: one of { [ " t f n - 0..9, or 0 on error. */
char pyro_json_peek(struct pyro_json_reader *json);

/* Integers: `null` leaves *value as it is. Fractions and integers beyond 64 bits are errors. */
bool pyro_json_take_long_int(struct pyro_json_reader *json, int64_t *value);

static inline bool pyro_json_take_int(struct pyro_json_reader *json, int64_t *value)
{
    /* Most of Spark's counters are 0. */
    const char *at = json->at;
    if (at < json->end && !json->error && (unsigned char)(*at - '0') < 10 && (at[1] == ',' || at[1] == '}')) {
        *value = *at - '0';
        json->at = at + 1;
        return true;
    }
    return pyro_json_take_long_int(json, value);
}

/* As above, and also takes a string that holds an integer ("123"); a string that does not leaves *value as it is. */
bool pyro_json_take_loose_int(struct pyro_json_reader *json, int64_t *value);
bool pyro_json_take_double(struct pyro_json_reader *json, double *value);
bool pyro_json_take_bool(struct pyro_json_reader *json, bool *value);
/* A string as written between its quotes, escapes not decoded: see base/json/unescape.h. Null leaves *value. *ret_plain
 * (may be NULL) says whether it is ASCII without escapes, which needs no decoding. */
bool pyro_json_take_string(struct pyro_json_reader *json, struct pyro_slice *value, bool *ret_plain);
/* Skips any value, checking its grammar. */
bool pyro_json_skip(struct pyro_json_reader *json);
/* Skips an array by its brackets, braces and strings only: several times faster, for what was written by a machine and
 * makes up most of a log. False and an error when the line ends inside. */
bool pyro_json_skip_array_fast(struct pyro_json_reader *json);
/* The same, and says what the array holds; nothing if it is not an array. */
bool pyro_json_skip_array_words(struct pyro_json_reader *json, struct pyro_scan_words *ret);
/* Skips a value and gives its text. */
bool pyro_json_take_raw(struct pyro_json_reader *json, struct pyro_slice *value);
/* The same for an object or array, by its brackets and strings only; its grammar is left to the reader of the text. */
bool pyro_json_take_raw_fast(struct pyro_json_reader *json, struct pyro_slice *value);
/* After the record's value: only blanks may follow up to the newline or the end. Returns the place of the newline or
 * the end; an error otherwise. */
bool pyro_json_record_end(struct pyro_json_reader *json);

#endif
