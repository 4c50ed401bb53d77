/* `logs top`: what text logs repeat.
 *
 * Without `exact`, the pieces are templates (messages that differ only in numbers, ids, paths and the like) and blocks
 * (templates that come again and again in the same order, see repeated_blocks.h). A block explains its records: they do
 * not count for their templates too. With `exact`, the pieces are those of phil_stopwatch's get_top_log_chunks (see
 * exact.h).
 *
 * Memory is bounded without `exact`: 20,000 templates, 10,000 blocks. With it, memory grows with the number of lines
 * (4 bytes each) and the bytes of different texts. Time is linear in the bytes of the input. */
#ifndef PYRO_DECODE_LOGS_REPEATS_CHUNKS_H
#define PYRO_DECODE_LOGS_REPEATS_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/logs/records/record.h"

/* All texts and arrays live as long as the struct pyro_chunks. What is not known is null, PYRO_NONE or empty. */
struct pyro_log_chunk {
    uint64_t count;                 /* how often it was seen */
    const struct pyro_slice *lines; /* as shown: for templates one line, with <*> */
    size_t line_count;
    struct pyro_slice template_text;     /* null for a block of several lines, and with `exact` */
    enum pyro_log_level level;           /* the highest; with `exact` PYRO_LEVEL_NONE */
    int64_t first_ms, last_ms;           /* of its records; PYRO_NONE where none has a time, and with `exact` */
    const struct pyro_slice *containers; /* in byte order, at most 100; more are left out */
    size_t container_count;
    const int64_t *stages; /* that its records name, ascending, at most 100; more are left out */
    size_t stage_count;
    double share; /* of all records (with `exact` of all kept lines): count x line_count / all, 0 to 1 */
    struct pyro_slice
        group; /* `by`: the container or the stage (its number) whose chunk it is; else null. "" without one */
};

enum pyro_chunks_by { PYRO_CHUNKS_BY_NONE, PYRO_CHUNKS_BY_CONTAINER, PYRO_CHUNKS_BY_STAGE };

struct pyro_chunks_options {
    bool exact;
    struct pyro_slice level; /* with `exact`: only lines of this level ("error", "info", "warn"); null: all */
    enum pyro_chunks_by by;  /* without `exact` only */
};

struct pyro_chunks;

/* PYRO_ERROR_ARGUMENT: `exact` and `by` exclude each other. The allocator must outlive *ret; NULL: malloc(). */
enum pyro_status pyro_chunks_new(const struct pyro_allocator *allocator, const struct pyro_chunks_options *options,
                                 struct pyro_chunks **ret, struct pyro_error *error);
/* Context: the struct pyro_chunks. Not with `exact`. A block never spans two files. */
pyro_log_consumer pyro_chunks_take;
/* With `exact`: every line of every file, in order, without its end ("\n" or "\r\n"). */
enum pyro_status pyro_chunks_take_line(struct pyro_chunks *chunks, struct pyro_slice line, struct pyro_error *error);
/* The chunks, ranked: without `exact` by count x lines, of equal ones blocks first, then what was seen first; with it
 * by count, equal ones in the order of the log. Call it once, after the last record. The array lives as long as
 * `chunks`. */
enum pyro_status pyro_chunks_finish(struct pyro_chunks *chunks, const struct pyro_log_chunk **ret, size_t *ret_count,
                                    struct pyro_error *error);
void pyro_chunks_free(struct pyro_chunks *chunks); /* NULL is ignored */

#endif
