/* A small application and a diagnosis of it, made by hand, with hostile names where names come from a log. */
#ifndef PYRO_TEST_REPORT_FIXTURE_H
#define PYRO_TEST_REPORT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/report.h"

/* Escape sequences, a bidirectional override, markup, and no place to break a line. */
#define HOSTILE                                                                                                        \
    "\x1b[31mred\x1b]0;title\x07|`<script>`\xe2\x80\xae\xc2\x9b"                                                       \
    "2J_averyveryveryveryveryveryveryveryveryveryveryveryveryveryveryveryveryverylongname"

struct fixture {
    struct pyro_app *app;
    struct pyro_diagnosis diagnosis;
    struct pyro_rule rule;
    struct pyro_strbuf out;
    struct pyro_writer writer;
    struct pyro_error error;
};

/* `tasks` tasks over two stages. With `healthy` there is no finding. */
void fixture_init(struct fixture *fixture, size_t tasks, bool healthy);
void fixture_done(struct fixture *fixture);
/* The report as a string, until the next call. */
const char *fixture_report(struct fixture *fixture, enum pyro_format format, const struct pyro_report_options *options);
/* Fails when a line has more code points than that, or holds a control character. */
void assert_lines(const char *text, size_t columns);
size_t count_of(const char *hay, const char *needle);

#endif
