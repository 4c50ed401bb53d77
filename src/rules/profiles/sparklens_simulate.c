/* Sparklens' scheduler: groups of jobs one behind the other, in each the stages that may run by their ids, tasks on as
 * many cores as there are, whichever is free first. */
#include <math.h>
#include <stdlib.h>

#include "analyze/app_facts.h"
#include "base/numbers/saturate.h"
#include "rules/profiles/sparklens.h"

enum state { UNSEEN, WAITING, RUNNABLE, STARTED, DONE };

struct node {
    const struct pyro_sparklens_stage *stage;
    enum state state;
    bool awaited;            /* last stage of a job */
    size_t pending, parents; /* tasks to finish; stages of the group with tasks that it waits for */
    size_t first_child, child_count;
};

struct running {
    int64_t finish;
    size_t node;
};

struct simulation {
    const struct pyro_sparklens_run *run;
    struct node *nodes; /* by id; entries of run->stages translate by `places` */
    size_t count, *children, *places, *stack;
    struct running *queue; /* a heap that starts at 1, as Scala's: this decides which of equals comes first */
    size_t queued, cores;
    int64_t clock;
    size_t lowest;  /* no node below may run */
    size_t missing; /* awaited nodes that are not done */
    bool began;     /* some stage has finished: those that wait for nothing go on only then */
};

static void swap(struct running *left, struct running *right)
{
    struct running kept = *left;
    *left = *right;
    *right = kept;
}

static void enqueue(struct simulation *simulation, struct running task)
{
    struct running *queue = simulation->queue;
    size_t at = ++simulation->queued;
    queue[at] = task;
    for (; at > 1 && queue[at / 2].finish > queue[at].finish; at /= 2)
        swap(&queue[at / 2], &queue[at]);
}

static struct running dequeue(struct simulation *simulation)
{
    struct running *queue = simulation->queue, first = queue[1];
    queue[1] = queue[simulation->queued--];
    for (size_t at = 1, next; (next = 2 * at) <= simulation->queued; at = next) {
        if (next < simulation->queued && queue[next].finish > queue[next + 1].finish)
            next++;
        if (queue[at].finish <= queue[next].finish)
            break;
        swap(&queue[at], &queue[next]);
    }
    return first;
}

static void let_run(struct simulation *simulation, size_t index)
{
    simulation->nodes[index].state = RUNNABLE;
    if (index < simulation->lowest)
        simulation->lowest = index;
}

static void finish_stage(struct simulation *simulation, size_t index)
{
    struct node *node = &simulation->nodes[index];
    node->state = DONE;
    simulation->missing -= node->awaited;
    for (size_t i = node->first_child; i < node->first_child + node->child_count; i++) {
        struct node *child = &simulation->nodes[simulation->children[i]];
        if (--child->parents == 0 && child->state == WAITING)
            let_run(simulation, simulation->children[i]);
    }
    for (size_t i = 0; !simulation->began && i < simulation->count; i++)
        if (simulation->nodes[i].state == WAITING && simulation->nodes[i].parents == 0)
            let_run(simulation, i);
    simulation->began = true;
}

/* Ends the task that is done first; true when its stage is done with it. */
static bool step(struct simulation *simulation)
{
    struct running task = dequeue(simulation);
    simulation->clock = task.finish;
    if (--simulation->nodes[task.node].pending > 0)
        return false;
    finish_stage(simulation, task.node);
    return true;
}

static void start_stage(struct simulation *simulation, size_t index)
{
    struct node *node = &simulation->nodes[index];
    const struct pyro_sparklens_time *times = simulation->run->times + node->stage->first_time;
    node->state = STARTED;
    for (size_t i = 0; i < node->stage->time_count; i++) {
        if (simulation->queued == simulation->cores)
            step(simulation);
        int64_t ms = times[i].run_ms > 0 ? times[i].run_ms : 1;
        enqueue(simulation, (struct running){simulation->clock + ms, index});
    }
}

static size_t lowest_runnable(struct simulation *simulation)
{
    while (simulation->lowest < simulation->count && simulation->nodes[simulation->lowest].state != RUNNABLE)
        simulation->lowest++;
    return simulation->lowest;
}

static const struct pyro_stage *row_of(const struct simulation *simulation, size_t index)
{
    return &simulation->run->app->stages.items[simulation->nodes[index].stage->row];
}

/* Number of the parent in this group, or `count`. */
static size_t parent_of(const struct simulation *simulation, size_t index, uint32_t parent)
{
    ptrdiff_t entry = pyro_sparklens_find(simulation->run, row_of(simulation, index)->parent_ids[parent]);
    if (entry < 0)
        return simulation->count;
    size_t place = simulation->places[entry];
    bool here = place < simulation->count && simulation->nodes[place].stage == &simulation->run->stages[entry];
    return here ? place : simulation->count;
}

static void look_at(struct simulation *simulation, size_t index, size_t *depth)
{
    struct node *node = &simulation->nodes[index];
    bool waits = false;
    if (node->state != UNSEEN || node->stage->time_count == 0)
        return;
    for (uint32_t p = 0; p < row_of(simulation, index)->parent_count; p++)
        waits |= parent_of(simulation, index, p) < simulation->count;
    node->state = WAITING;
    if (waits)
        simulation->stack[(*depth)++] = index;
    else
        let_run(simulation, index);
}

/* The last stage of each job and all that it needs. */
static void seed(struct simulation *simulation)
{
    for (size_t i = 0; i < simulation->count; i++) {
        size_t depth = 0;
        if (!simulation->nodes[i].awaited)
            continue;
        simulation->missing += simulation->nodes[i].stage->time_count > 0;
        look_at(simulation, i, &depth);
        while (depth > 0) {
            size_t index = simulation->stack[--depth];
            for (uint32_t p = 0; p < row_of(simulation, index)->parent_count; p++) {
                size_t parent = parent_of(simulation, index, p);
                if (parent < simulation->count)
                    look_at(simulation, parent, &depth);
            }
        }
    }
}

static void link_nodes(struct simulation *simulation)
{
    size_t children = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < simulation->count; i++) {
            for (uint32_t p = 0; p < row_of(simulation, i)->parent_count; p++) {
                size_t parent = parent_of(simulation, i, p);
                if (parent == simulation->count || simulation->nodes[parent].stage->time_count == 0)
                    continue;
                struct node *node = &simulation->nodes[parent];
                if (pass == 1)
                    simulation->children[node->first_child + node->child_count] = i;
                node->child_count++;
                simulation->nodes[i].parents += (size_t)pass;
            }
        }
        for (size_t i = 0; pass == 0 && i < simulation->count; i++) {
            simulation->nodes[i].first_child = children;
            children += simulation->nodes[i].child_count;
            simulation->nodes[i].child_count = 0;
        }
    }
}

/* Stages of the group by id: jobs have theirs in order, and a group has few jobs as a rule. */
static int by_entry(const void *left, const void *right)
{
    const struct node *a = left, *b = right;
    return (a->stage > b->stage) - (a->stage < b->stage);
}

static void take_stages(struct simulation *simulation, const struct pyro_sparklens_group *group)
{
    const struct pyro_sparklens_run *run = simulation->run;
    *simulation = (struct simulation){.run = run,
                                      .nodes = simulation->nodes,
                                      .children = simulation->children,
                                      .places = simulation->places,
                                      .stack = simulation->stack,
                                      .queue = simulation->queue,
                                      .cores = simulation->cores};
    for (size_t j = group->first; j < group->first + group->count; j++) {
        const struct pyro_sparklens_job *job = &run->jobs[j];
        for (size_t s = job->first_stage; s < job->first_stage + job->stage_count; s++) {
            const struct pyro_sparklens_stage *stage = &run->stages[run->job_stages[s]];
            simulation->nodes[simulation->count++] = (struct node){
                .stage = stage, .pending = stage->time_count, .awaited = s + 1 == job->first_stage + job->stage_count};
        }
    }
    if (group->count > 1 && simulation->count > 1)
        qsort(simulation->nodes, simulation->count, sizeof(*simulation->nodes), by_entry);
    for (size_t i = 0; i < simulation->count; i++)
        simulation->places[simulation->nodes[i].stage - run->stages] = i;
    simulation->lowest = simulation->count;
    link_nodes(simulation);
}

/* Jobs without stages take what they took, but only where the group has no other. */
static double empty_ms(const struct pyro_sparklens_run *run, const struct pyro_sparklens_group *group)
{
    double sum = 0;
    for (size_t j = group->first; j < group->first + group->count; j++)
        if (run->jobs[j].end_ms != 0 && run->jobs[j].start_ms != 0)
            sum += (double)(pyro_sub_saturating(run->jobs[j].end_ms, run->jobs[j].start_ms));
    return sum;
}

/* NaN when it waits for a stage that nothing finishes. */
static double group_ms(struct simulation *simulation, const struct pyro_sparklens_group *group)
{
    take_stages(simulation, group);
    if (simulation->count == 0)
        return empty_ms(simulation->run, group);
    seed(simulation);
    while (simulation->missing > 0) {
        size_t next = lowest_runnable(simulation);
        if (next < simulation->count) {
            start_stage(simulation, next);
            continue;
        }
        bool finished = false;
        while (simulation->queued > 0 && !finished)
            finished = step(simulation);
        if (!finished)
            return (double)NAN;
    }
    int64_t end = simulation->queued > 0 ? 0 : simulation->clock;
    for (size_t i = 1; i <= simulation->queued; i++)
        end = simulation->queue[i].finish > end ? simulation->queue[i].finish : end;
    return (double)end;
}

static size_t most_links(const struct pyro_sparklens_run *run)
{
    size_t links = 0;
    for (size_t i = 0; i < run->stage_count; i++)
        links += run->app->stages.items[run->stages[i].row].parent_count;
    return links;
}

bool pyro_sparklens_estimate_ms(const struct pyro_sparklens_run *run, int64_t executors, double *ret)
{
    size_t tasks = 1;
    double cores = (double)executors * (double)run->cores;
    for (size_t i = 0; i < run->stage_count; i++)
        tasks += run->stages[i].time_count;
    struct pyro_arena scratch;
    pyro_arena_init(&scratch, run->arena->allocator);
    struct simulation simulation = {
        .run = run,
        .cores = cores < (double)tasks ? (size_t)cores : tasks, /* more than tasks are never in use */
        .nodes = pyro_arena_array(&scratch, run->stage_count + 1, sizeof(*simulation.nodes)),
        .children = pyro_arena_array(&scratch, most_links(run) + 1, sizeof(*simulation.children)),
        .places = pyro_arena_array(&scratch, run->stage_count + 1, sizeof(*simulation.places)),
        .stack = pyro_arena_array(&scratch, run->stage_count + 1, sizeof(*simulation.stack)),
    };
    simulation.queue = pyro_arena_array(&scratch, simulation.cores + 2, sizeof(*simulation.queue));
    bool ok = simulation.nodes && simulation.children && simulation.places && simulation.stack && simulation.queue;
    *ret = run->app_ms - run->job_ms;
    for (size_t i = 0; ok && i < run->group_count; i++)
        *ret += group_ms(&simulation, &run->groups[i]);
    pyro_arena_done(&scratch);
    return ok;
}
