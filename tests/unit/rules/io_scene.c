#include "io_scene.h"

void io_work(struct fixture_task *task, unsigned index, void *context)
{
    const struct io_work *of = context;
    int64_t ms = task->row[PYRO_TASK_finish_ms] - task->row[PYRO_TASK_launch_ms];
    (void)index;
    task->row[PYRO_TASK_run_ms] = ms;
    task->row[PYRO_TASK_cpu_ns] = ms * 10000 * of->cpu_percent;
    task->row[PYRO_TASK_input_bytes] = of->read;
    task->row[PYRO_TASK_output_bytes] = of->written;
}

int64_t io_stage(struct scene *scene, unsigned tasks, int64_t ms, struct io_work of)
{
    struct pyro_stage *row = scene_stage(scene, tasks, &ms, 1, io_work, &of);
    row->sql = 7;
    return row->id;
}

void io_write_node(struct scene *scene, int64_t at, int64_t files, int64_t bytes, int64_t partitions)
{
    scene_node(scene, -1, "Execute InsertIntoHadoopFsRelationCommand", NULL, NULL);
    scene_metric(scene, -1, "number of written files", files);
    scene_metric(scene, -1, "written output", bytes);
    scene_metric(scene, -1, "number of dynamic part", partitions);
    scene_metric(scene, at, "task commit time", 20);
}

void io_scan_node(struct scene *scene, int64_t parent, int64_t at, const char *name, const char *metadata,
                  int64_t files, int64_t bytes, int64_t rows)
{
    scene_node(scene, parent, name, NULL, metadata);
    scene_metric(scene, -1, "number of files read", files);
    scene_metric(scene, -1, "size of files read", bytes);
    scene_metric(scene, at, "number of output rows", rows);
}
