/* Stages of a query that read and write files, with the operators that say so. */
#ifndef PYRO_TEST_IO_SCENE_H
#define PYRO_TEST_IO_SCENE_H

#include "scene.h"

/* Bytes that a task reads and writes, and the share of its time on a processor. */
struct io_work {
    int64_t read, written, cpu_percent;
};

/* As a change of a task; `context` is a struct io_work. */
void io_work(struct fixture_task *task, unsigned index, void *context);
/* A stage of query 7, by its id. */
int64_t io_stage(struct scene *scene, unsigned tasks, int64_t ms, struct io_work of);
/* The root of a plan: an insert, by stage `at`, into `partitions` directories. */
void io_write_node(struct scene *scene, int64_t at, int64_t files, int64_t bytes, int64_t partitions);
/* A scan by stage `at`. */
void io_scan_node(struct scene *scene, int64_t parent, int64_t at, const char *name, const char *metadata,
                  int64_t files, int64_t bytes, int64_t rows);

#endif
