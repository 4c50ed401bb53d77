/* Files that perf record writes. */
#ifndef PYROMETER_CLI_PERF_DATA_H
#define PYROMETER_CLI_PERF_DATA_H

#include <stdbool.h>
#include <stdint.h>

/* How many events the kernel dropped because perf's buffers were full. False: the file cannot be read. */
bool cli_perf_lost(const char *path, uint64_t *ret);

#endif
