/* Records of profilers that are one JSON object a line: those of Uber's JVM profiler and those of Python workers. Files
 * that were put together hold both. */
#ifndef PYRO_DECODE_PROFILING_PROFILE_RECORDS_H
#define PYRO_DECODE_PROFILING_PROFILE_RECORDS_H

#include "base/json/json_read.h"
#include "decode/profiling/profile_reading.h"

/* A number that no record holds: JSON has no NaN. */
#define PYRO_PROFILE_NO_NUMBER (-1.0)

struct pyro_profile_records {
    struct pyro_profile_reading *reading;
    const struct pyro_scan *scan;
    struct pyro_string_pool *known; /* texts of stacks that were decoded */
    PYRO_VEC(int32_t) stacks;       /* their stacks, by the number of the text; -2: not decoded */
    PYRO_VEC(struct pyro_slice) frames;
    struct pyro_strbuf scratch[4]; /* for texts that need decoding, of one record */
    unsigned scratch_used;
    bool no_memory;
};

/* A string as it reads; valid until the next record. Null stays null. */
struct pyro_slice pyro_profile_take_text(struct pyro_profile_records *records, struct pyro_json_reader *json);
/* A number, or a text such as "NaN", which leaves *value as it is. */
void pyro_profile_take_number(struct pyro_json_reader *json, double *value);
/* The number of "910@host", or PYRO_NONE. */
int64_t pyro_profile_pid_of_name(struct pyro_slice name);

/* Each reads one record and adds its rows; an error of `json` says that it is damaged. */
void pyro_profile_stack_record(struct pyro_profile_records *records,
                               struct pyro_json_reader *json); /* stack_record.c */
void pyro_profile_memory_record(struct pyro_profile_records *records, struct pyro_json_reader *json); /* uber.c */
void pyro_profile_process_record(struct pyro_profile_records *records, struct pyro_json_reader *json);
void pyro_profile_worker_record(struct pyro_profile_records *records, struct pyro_json_reader *json); /* pyspark.c */

#endif
