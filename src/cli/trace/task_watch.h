/* Records of tasks while they are written: which tasks take longer than they may. */
#ifndef PYROMETER_CLI_TASK_WATCH_H
#define PYROMETER_CLI_TASK_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_task_file;
struct cli_running_task;

struct cli_slow_tasks {
    const char *folder;
    int64_t limit_ns;
    struct cli_task_file *files;
    size_t file_count;
    struct cli_running_task *running;
    size_t running_count, running_capacity;
};

/* A task that takes longer. */
struct cli_slow_task {
    int64_t task, duration_ns; /* so far, if it still runs */
    bool running;
};

/* Reads what was written since the last call. True: there is a slow task that was not given before. */
bool cli_slow_tasks_look(struct cli_slow_tasks *tasks, struct cli_slow_task *ret);
void cli_slow_tasks_free(struct cli_slow_tasks *tasks);

/* The sum of the records that the plugin dropped, of all files in a folder; *ret_files: how many there are. */
int64_t cli_tasks_dropped(const char *folder, size_t *ret_files);

#endif
