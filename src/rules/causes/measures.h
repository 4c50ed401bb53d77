/* Symptoms of settings that no rule of their own looks for: what they cost. */
#ifndef PYRO_RULES_CAUSES_MEASURES_H
#define PYRO_RULES_CAUSES_MEASURES_H

#include "rules/causes/suspects.h"

struct pyro_measured {
    double *stage_ms;        /* task time that it costs, by row of app->stages; zeros at first */
    double driver_ms;        /* time of the driver that it costs */
    struct pyro_slice found; /* what was counted, as the end of a sentence: "batches of 12 rows"; null: nothing more */
};

/* Adds what the symptom of `suspect` costs in stages and queries that ran with its value. Nothing: it is not seen. */
typedef void pyro_measure(struct pyro_rule_context *context, const struct pyro_suspect *suspect,
                          struct pyro_measured *ret);

/* NULL: nothing measures it. */
pyro_measure *pyro_measure_of(enum pyro_symptom symptom);

/* One function each, by what they read: measure_operators.c, measure_tasks.c, measure_driver.c, measure_jvm.c. */
pyro_measure pyro_measure_interpreted, pyro_measure_row_reads, pyro_measure_unfiltered, pyro_measure_read_batches,
    pyro_measure_cache_batches, pyro_measure_cache_rows, pyro_measure_sort_aggregate, pyro_measure_sort_fallback,
    pyro_measure_python, pyro_measure_state_commit;
pyro_measure pyro_measure_compression, pyro_measure_shuffle_size, pyro_measure_shuffle_write, pyro_measure_fetch_wait,
    pyro_measure_small_tasks, pyro_measure_spill, pyro_measure_python_start, pyro_measure_unused_cores;
pyro_measure pyro_measure_plain_results, pyro_measure_schema_merge, pyro_measure_listing;
pyro_measure pyro_measure_slow_code;

#endif
