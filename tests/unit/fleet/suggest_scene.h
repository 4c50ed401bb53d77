/* Runs of an application, for tests of suggestions. */
#ifndef PYRO_TEST_SUGGEST_SCENE_H
#define PYRO_TEST_SUGGEST_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fleet/suggest/suggest.h"

#define GIB         (1024.0 * 1024 * 1024)
#define BLOCK       (GIB / 8)
#define DAY         (24 * 3600 * INT64_C(1000))
#define SUGGEST_NOW (1000 * DAY)
enum { RUNS = 24 };

/* 20 blocks: 2 waves of 10 to 19 slots. */
double wave_ms(double blocks, double slots);
/* A run that completed RUNS - i days ago, with 20 blocks of input. */
struct pyro_suggest_run run_of(int i, double executors, double cores);
/* RUNS runs of 5, 5 and 8 executors of 4, 2 and 2 cores; the last run has 16 slots. */
void make(struct pyro_suggest_run *rows);
struct pyro_suggest_asked question(void);
/* The value of a setting, or "". */
const char *setting(const struct pyro_candidate *candidate, const char *key);
bool has_text(const pyro_texts *texts, const char *part);

#endif
