#include "rules/causes/measures.h"

static pyro_measure *const measures[PYRO_SYMPTOM_COUNT] = {
    [PYRO_SYMPTOM_INTERPRETED] = pyro_measure_interpreted,
    [PYRO_SYMPTOM_ROW_READS] = pyro_measure_row_reads,
    [PYRO_SYMPTOM_UNFILTERED] = pyro_measure_unfiltered,
    [PYRO_SYMPTOM_READ_BATCHES] = pyro_measure_read_batches,
    [PYRO_SYMPTOM_CACHE_BATCHES] = pyro_measure_cache_batches,
    [PYRO_SYMPTOM_CACHE_ROWS] = pyro_measure_cache_rows,
    [PYRO_SYMPTOM_SORT_AGGREGATE] = pyro_measure_sort_aggregate,
    [PYRO_SYMPTOM_SORT_FALLBACK] = pyro_measure_sort_fallback,
    [PYRO_SYMPTOM_PYTHON] = pyro_measure_python,
    [PYRO_SYMPTOM_STATE_COMMIT] = pyro_measure_state_commit,
    [PYRO_SYMPTOM_COMPRESSION] = pyro_measure_compression,
    [PYRO_SYMPTOM_SHUFFLE_SIZE] = pyro_measure_shuffle_size,
    [PYRO_SYMPTOM_SHUFFLE_WRITE] = pyro_measure_shuffle_write,
    [PYRO_SYMPTOM_FETCH_WAIT] = pyro_measure_fetch_wait,
    [PYRO_SYMPTOM_SMALL_TASKS] = pyro_measure_small_tasks,
    [PYRO_SYMPTOM_SPILL] = pyro_measure_spill,
    [PYRO_SYMPTOM_PYTHON_START] = pyro_measure_python_start,
    [PYRO_SYMPTOM_UNUSED_CORES] = pyro_measure_unused_cores,
    [PYRO_SYMPTOM_PLAIN_RESULTS] = pyro_measure_plain_results,
    [PYRO_SYMPTOM_SCHEMA_MERGE] = pyro_measure_schema_merge,
    [PYRO_SYMPTOM_LISTING] = pyro_measure_listing,
    [PYRO_SYMPTOM_SLOW_CODE] = pyro_measure_slow_code,
};

pyro_measure *pyro_measure_of(enum pyro_symptom symptom)
{
    return measures[symptom];
}
