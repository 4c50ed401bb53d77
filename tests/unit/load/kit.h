/* Logs made by hand, and their reports as text, for tests of loading and feeding. */
#ifndef PYRO_TEST_LOAD_KIT_H
#define PYRO_TEST_LOAD_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strings/strbuf.h"
#include "pyrometer.h"

/* A small application with a bit of everything: jobs, stages, tasks of which one fails, SQL, damage. */
extern const char *const kit_small_log;

/* A folder of its own for each test program; kit_clean() removes it. */
const char *kit_path(const char *name);
void kit_write(const char *path, const char *data, size_t len);
void kit_clean(void);

/* The JSON report and the table of rejected records; the application is released. */
void kit_report(pyro_app *app, struct pyro_strbuf *out);
struct kit_options {
    struct pyro_load_options load;
    struct pyro_options work;
};
#define KIT_SIZES .load.size = sizeof(struct pyro_load_options), .work.size = sizeof(struct pyro_options)
pyro_app *kit_load(const char *path, const struct kit_options *options);
/* Fed in pieces of `piece` bytes. */
pyro_app *kit_feed(const char *path, const char *data, size_t len, size_t piece, const struct kit_options *options);
/* Appends a line of exactly `len` bytes, newline included (at least 60). */
void kit_add_filler(struct pyro_strbuf *log, size_t len);
void kit_add_task(struct pyro_strbuf *log, int id);

#endif
