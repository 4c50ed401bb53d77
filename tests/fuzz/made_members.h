/* The parts of made_log.c, for one another only: members of events, as the bytes choose them. */
#ifndef PYRO_FUZZ_MADE_MEMBERS_H
#define PYRO_FUZZ_MADE_MEMBERS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "made_log.h"

struct making {
    const uint8_t *at, *end;
    struct pyro_strbuf *out;
    int64_t now_ms;
    size_t last;       /* where the last line begins */
    bool first;        /* of an object */
    int member, wrong; /* of the event; the one that is wrong, -1: none */
    unsigned how;      /* it is wrong */
    unsigned nodes;    /* of the plan */
};

static inline unsigned made_next(struct making *making)
{
    return making->at < making->end ? *making->at++ : 0;
}

/* ---- Members ----------------------------------------------------------------------------------------------------- */

/* What a member may hold instead; NULL: it is missing. */
static const char *const odd_values[] = {
    NULL,
    "-1",
    "0",
    "1",
    "null",
    "9223372036854775807",
    "-9223372036854775808",
    "1000000000000000000",
    "{}",
    "[]",
    "\"text\"",
    "true",
    "2.5",
    "9223372036854775808",
    "4102444800000",
    "2147483648",
    "-7",
    "\"\"",
    "[[1,2]]",
    "1e30",
    "[{}]",
    "\"-1\"",
    "\"1g\"",
};
enum { ODD_VALUES = sizeof(odd_values) / sizeof(*odd_values) };

static inline void made_raw(struct making *making, const char *key, const char *value)
{
    if (making->member++ == making->wrong)
        value = odd_values[making->how % ODD_VALUES];
    if (!value)
        return;
    pyro_strbuf_printf(making->out, "%s\"%s\":%s", making->first ? "" : ",", key, value);
    making->first = false;
}

static inline void made_number(struct making *making, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%lld", (long long)value);
    made_raw(making, key, text);
}

static inline void made_text(struct making *making, const char *key, const char *value)
{
    char quoted[512];
    snprintf(quoted, sizeof(quoted), "\"%s\"", value);
    made_raw(making, key, quoted);
}

/* Of one of some texts. */
#define CHOOSE(making, array) (array)[made_next(making) % (sizeof(array) / sizeof(*(array)))]

static inline void made_open_object(struct making *making, const char *key)
{
    pyro_strbuf_printf(making->out, "%s\"%s\":{", making->first ? "" : ",", key);
    making->first = true;
}

static inline void made_close_object(struct making *making)
{
    pyro_strbuf_add_text(making->out, "}");
    making->first = false;
}

static inline void made_begin(struct making *making, const char *event)
{
    unsigned odd = made_next(making);
    making->member = 0;
    making->wrong = odd < 176 ? -1 : (int)(odd - 176) % 40;
    making->how = making->wrong >= 0 ? made_next(making) : 0;
    making->last = making->out->len;
    pyro_strbuf_printf(making->out, "{\"Event\":\"%s%s\"", strchr(event, '.') ? "" : "SparkListener", event);
    making->first = false;
}

static inline void made_end(struct making *making)
{
    pyro_strbuf_add_text(making->out, "}\n");
}

/* Mostly forward. */
static inline int64_t made_later(struct making *making)
{
    static const int64_t steps[] = {0,     1,      10,     50, 200,  1000,  3000,     10000,
                                    30000, 120000, 600000, -1, -500, -5000, -3600000, 86400000};
    making->now_ms += CHOOSE(making, steps);
    return making->now_ms;
}

/* A few times, bytes or rows, of any magnitude. */
static inline int64_t made_amount(struct making *making, int64_t unit)
{
    unsigned byte = made_next(making);
    return byte < 250 ? (int64_t)(byte & 15) * unit << (byte >> 4) : byte == 250 ? INT64_MAX : byte == 251 ? -1 : 0;
}

/* SQL executions (made_sql.c). */
void made_sql_start(struct making *making);
void made_sql_update(struct making *making);
void made_sql_accumulators(struct making *making);
void made_sql_end(struct making *making);

#endif
