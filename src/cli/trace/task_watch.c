#include "task_watch.h"

#include "processes.h"
#include "words.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cli_task_file {
    char *path;
    long offset; /* what comes after it was not read yet */
};

struct cli_running_task {
    size_t file;
    int64_t task, start_ns;
    bool given;
};

enum { FILES_MAX = 4096 };

/* The plugin writes these files, always in the same form. -1: there is no such member. */
static int64_t member(const char *line, const char *name)
{
    const char *at = strstr(line, name);
    return at != NULL ? strtoll(at + strlen(name), NULL, 10) : -1;
}

static bool is_task_file(const char *name)
{
    return strncmp(name, "task-threads-", 13) == 0;
}

static void add_file(struct cli_slow_tasks *tasks, const char *name)
{
    char *path = cli_format("%s/%s", tasks->folder, name);
    for (size_t i = 0; path != NULL && i < tasks->file_count; i++) {
        if (strcmp(tasks->files[i].path, path) == 0) {
            free(path);
            return;
        }
    }
    struct cli_task_file *files = path != NULL && tasks->file_count < FILES_MAX
                                      ? realloc(tasks->files, (tasks->file_count + 1) * sizeof(*files))
                                      : NULL;
    if (files == NULL) {
        free(path);
        return;
    }
    tasks->files = files;
    files[tasks->file_count++] = (struct cli_task_file){.path = path};
}

static void find_files(struct cli_slow_tasks *tasks)
{
    DIR *folder = opendir(tasks->folder);
    struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (is_task_file(entry->d_name))
            add_file(tasks, entry->d_name);
    if (folder != NULL)
        closedir(folder);
}

static void begin(struct cli_slow_tasks *tasks, size_t file, int64_t task, int64_t start_ns)
{
    if (tasks->running_count == tasks->running_capacity) {
        size_t capacity = tasks->running_capacity == 0 ? 64 : 2 * tasks->running_capacity;
        struct cli_running_task *running = realloc(tasks->running, capacity * sizeof(*running));
        if (running == NULL)
            return;
        tasks->running = running;
        tasks->running_capacity = capacity;
    }
    tasks->running[tasks->running_count++] =
        (struct cli_running_task){.file = file, .task = task, .start_ns = start_ns};
}

/* Whether it was given while it ran. */
static bool end(struct cli_slow_tasks *tasks, size_t file, int64_t task)
{
    bool given = false;
    for (size_t i = 0; i < tasks->running_count; i++) {
        if (tasks->running[i].file == file && tasks->running[i].task == task) {
            given = tasks->running[i].given;
            tasks->running[i--] = tasks->running[--tasks->running_count];
        }
    }
    return given;
}

static void take_line(struct cli_slow_tasks *tasks, size_t file, const char *line, struct cli_slow_task *slowest)
{
    int64_t begins = member(line, "{\"begins\":"), task = member(line, "{\"task\":");
    int64_t start_ns = member(line, "\"start_ns\":"), end_ns = member(line, "\"end_ns\":");
    if (begins >= 0)
        begin(tasks, file, begins, start_ns);
    else if (task >= 0 && !end(tasks, file, task) && end_ns - start_ns > slowest->duration_ns)
        *slowest = (struct cli_slow_task){task, end_ns - start_ns, false};
}

static void read_file(struct cli_slow_tasks *tasks, size_t index, struct cli_slow_task *slowest)
{
    struct cli_task_file *file = &tasks->files[index];
    FILE *stream = fopen(file->path, "re");
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    if (stream != NULL && fseek(stream, file->offset, SEEK_SET) == 0) {
        while ((len = getline(&line, &size, stream)) > 0 && line[len - 1] == '\n') {
            take_line(tasks, index, line, slowest);
            file->offset += len;
        }
    }
    free(line);
    if (stream != NULL)
        fclose(stream);
}

bool cli_slow_tasks_look(struct cli_slow_tasks *tasks, struct cli_slow_task *ret)
{
    struct cli_slow_task slowest = {.duration_ns = tasks->limit_ns};
    struct cli_running_task *given = NULL;
    find_files(tasks);
    for (size_t i = 0; i < tasks->file_count; i++)
        read_file(tasks, i, &slowest);
    int64_t now_ns = cli_monotonic_ns();
    bool found = slowest.duration_ns > tasks->limit_ns;
    for (size_t i = 0; i < tasks->running_count; i++) {
        struct cli_running_task *running = &tasks->running[i];
        if (!running->given && now_ns - running->start_ns > slowest.duration_ns) {
            slowest = (struct cli_slow_task){running->task, now_ns - running->start_ns, true};
            given = running;
        }
    }
    if (given != NULL)
        given->given = true;
    *ret = slowest;
    return found || given != NULL;
}

void cli_slow_tasks_free(struct cli_slow_tasks *tasks)
{
    for (size_t i = 0; i < tasks->file_count; i++)
        free(tasks->files[i].path);
    free(tasks->files);
    free(tasks->running);
    *tasks = (struct cli_slow_tasks){0};
}

/* What the last line of a file says; it has none if its executor was killed. */
static int64_t dropped_in(const char *path)
{
    char *line = NULL;
    size_t size = 0;
    int64_t dropped = -1;
    FILE *stream = fopen(path, "re");
    while (stream != NULL && getline(&line, &size, stream) > 0)
        if (dropped < 0)
            dropped = member(line, "{\"dropped\":");
    free(line);
    if (stream != NULL)
        fclose(stream);
    return dropped > 0 ? dropped : 0;
}

int64_t cli_tasks_dropped(const char *folder, size_t *ret_files)
{
    struct cli_slow_tasks found = {.folder = folder};
    int64_t dropped = 0;
    find_files(&found);
    for (size_t i = 0; i < found.file_count; i++)
        dropped += dropped_in(found.files[i].path);
    *ret_files = found.file_count;
    cli_slow_tasks_free(&found);
    return dropped;
}
