/* What a job's command line has to say so that its run is recorded. */
#ifndef PYROMETER_CLI_SPARK_COMMAND_H
#define PYROMETER_CLI_SPARK_COMMAND_H

#include "words.h"

/* One setting of Spark's. */
struct cli_spark_setting {
    const char *key;
    char *value;      /* NULL: none */
    char separator;   /* between this value and those that the job has already; 0: this one replaces them */
    const char *same; /* an option of spark-submit that sets the same ("--jars"), or NULL */
};

/* Whether the program takes options of spark-submit. */
bool cli_is_spark_program(const char *program);

/* The command with these settings: as --conf options of spark-submit and its relatives; for any other program they are
 * in PYSPARK_SUBMIT_ARGS, which *ret_environment gets ("NAME=VALUE"; the caller frees it; NULL: unchanged). What the
 * command or the defaults of Spark say already is kept in lists, and replaced elsewhere, which is said. False: no
 * memory left. */
bool cli_spark_command(const char *const *command, size_t count, const struct cli_spark_setting *settings,
                       size_t setting_count, struct cli_words *ret, char **ret_environment);

#endif
