/* A flame graph: the stacks of samples merged to a tree of calls, with the weight of each.
 *
 *     tracks -> pyro_flame_gather() -> tree -> pyro_flame_write_*()
 *
 * Equal calls of equal callers are one node. A parent's number is less than its children's, so that sums over the tree
 * are a loop. */
#ifndef PYRO_REPORT_FLAME_FLAME_H
#define PYRO_REPORT_FLAME_FLAME_H

#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "base/strings/intern.h"
#include "decode/profiling/profiling.h"
#include "report/report.h"

enum {
    PYRO_FLAME_NODES_MAX = 8 << 20,
    PYRO_FLAME_BEFORE = 0, /* sides of a difference; without one everything is AFTER */
    PYRO_FLAME_AFTER = 1
};

struct pyro_flame_frame {
    struct pyro_slice text; /* "java.lang.Thread.run:833", "helper.py:sleep:44": as folded stacks have it */
    struct pyro_slice function, file, language;
    int64_t line; /* PYRO_NONE: not known, or merged */
};

struct pyro_flame_node {
    uint32_t parent, frame, depth; /* node 0 is the root, of depth 0 and without frame */
    bool listed;                   /* it is in `order` */
    int64_t self[2], total[2];     /* by side; `total` is made by pyro_flame_finish() */
};

struct pyro_flame {
    const struct pyro_allocator *allocator;
    struct pyro_string_pool *texts;
    PYRO_VEC(struct pyro_flame_frame) frames; /* from 1 */
    PYRO_VEC(struct pyro_flame_node) nodes;
    PYRO_VEC(uint32_t) order; /* nodes with a weight of their own, in the order in which they came */
    struct pyro_map frame_of; /* number of the text -> frame */
    struct pyro_map node_of;  /* parent and frame -> node */
    struct pyro_strbuf scratch;
    const char *unit; /* "samples", "bytes", "ns" */
    bool merge_lines, differs;
    bool full; /* stacks were left out: there are PYRO_FLAME_NODES_MAX nodes */
};

/* False: no memory. pyro_flame_done() in any case. */
bool pyro_flame_init(struct pyro_flame *flame, const struct pyro_allocator *allocator);
void pyro_flame_done(struct pyro_flame *flame);
/* The frame's number, made of a row of tracks; 0: no memory. */
uint32_t pyro_flame_add_frame(struct pyro_flame *flame, const struct pyro_frame_row *row);
/* The node of a frame that `parent` calls; UINT32_MAX: no memory, or the flame is full. */
uint32_t pyro_flame_child(struct pyro_flame *flame, uint32_t parent, uint32_t frame);
/* Adds weight of its own to a node. False: no memory. */
bool pyro_flame_weigh(struct pyro_flame *flame, uint32_t node, unsigned side, int64_t weight);
/* Sums up the totals. */
void pyro_flame_finish(struct pyro_flame *flame);
/* Frames from a node to the outermost one: writes at most `capacity` of them and returns their number. */
size_t pyro_flame_path(const struct pyro_flame *flame, uint32_t node, uint32_t *frames, size_t capacity);

/* Which samples count. */
struct pyro_flame_filter {
    enum pyro_flame_event event;
    bool by_task, by_stage, by_process, combined;
    int64_t task, stage, process;
    int64_t from_ns, to_ns; /* PYRO_NONE: any time */
};

/* Weights of samples; those of another event or process are in none of them. */
struct pyro_flame_count {
    int64_t samples; /* number of them, of any event */
    int64_t taken;
    int64_t untimed; /* without a time, which the filter needs */
    int64_t asked;   /* whose task or stage was asked for */
    int64_t unowned; /* of these, without one for certain */
};

/* Whether the sample is of the task and stage that the filter asks for, and known to be. Adds to `count`. */
bool pyro_flame_is_owned(const struct pyro_tracks *tracks, const struct pyro_flame_filter *filter,
                         const struct pyro_sample_row *row, struct pyro_flame_count *count);

/* Adds the samples of sealed tracks. `order`: of their stacks, NULL: by number. False: no memory. */
bool pyro_flame_gather(struct pyro_flame *flame, const struct pyro_tracks *tracks,
                       const struct pyro_profile_order *order, const struct pyro_flame_filter *filter, unsigned side,
                       struct pyro_flame_count *count);

/* pyro_flame_write() for files that were found before, and members of archives, in their order. */
struct pyro_log_part;
enum pyro_status pyro_flame_write_parts(const struct pyro_log_part *parts, size_t count,
                                        const struct pyro_flame_options *wanted, const struct pyro_options *options,
                                        enum pyro_flame_format format, const struct pyro_writer *writer,
                                        struct pyro_error *error);

/* One file each. */
void pyro_flame_write_folded(const struct pyro_flame *flame, struct pyro_output *output);
void pyro_flame_write_svg(const struct pyro_flame *flame, struct pyro_output *output);
void pyro_flame_write_speedscope(const struct pyro_flame *flame, struct pyro_output *output);
void pyro_flame_write_pprof(const struct pyro_flame *flame, struct pyro_output *output);

#endif
