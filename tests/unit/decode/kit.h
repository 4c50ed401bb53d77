/* Event logs written in C, decoded to the model: what the tests of the decoders share. */
#ifndef PYRO_TEST_DECODE_KIT_H
#define PYRO_TEST_DECODE_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/builder.h"

#define SQL_UI "org.apache.spark.sql.execution.ui."

struct kit {
    struct pyro_builder builder;
    struct pyro_batch batch;
    struct pyro_app *app; /* once finished */
    struct pyro_error error;
};

void kit_start(struct kit *kit, uint32_t wanted);
/* Decodes the text as one batch; single quotes in it stand for double ones. */
void kit_feed(struct kit *kit, const char *text);
/* The same byte by byte as it is written. */
void kit_feed_raw(struct kit *kit, const char *text, size_t len);
struct pyro_app *kit_finish(struct kit *kit);
void kit_done(struct kit *kit);
/* Start, feed and finish. */
struct pyro_app *kit_decode(struct kit *kit, const char *text);

int64_t kit_task(const struct pyro_app *app, enum pyro_task_column column, size_t row);
const char *kit_task_text(const struct pyro_app *app, enum pyro_task_column column, size_t row);
/* How often the event was counted. */
uint64_t kit_events(const struct pyro_app *app, const char *name);
void assert_text(struct pyro_slice text, const char *expected);

#endif
