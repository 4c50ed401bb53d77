/* The repeated lines of a log as phil_stopwatch's get_top_log_chunks() gives them.
 *
 * A line counts if it has a level: a space and "error", "info" or "warn" in any case. The last such place in the line
 * decides, so "INFO Foo: retry after error code 5" has level error and text "code 5", and "WARNING full" has level warn
 * and text "ING full", as in the original. Lines with FATAL or DEBUG only are left out. The text is what follows the
 * level, without white space around it. The texts are collapsed (collapse.h) and the pieces ranked by their count,
 * equal ones in the order of the log. */
#ifndef PYRO_DECODE_LOGS_REPEATS_EXACT_H
#define PYRO_DECODE_LOGS_REPEATS_EXACT_H

#include "base/memory/arena.h"
#include "decode/logs/repeats/chunks.h"

struct pyro_exact;

/* `level`: only lines of this level; null: all. NULL: no memory. */
struct pyro_exact *pyro_exact_new(const struct pyro_allocator *allocator, struct pyro_slice level);
/* False: no memory. */
bool pyro_exact_take(struct pyro_exact *exact, struct pyro_slice line);
/* The array is the arena's, texts are those of `exact`. False: no memory. */
bool pyro_exact_finish(const struct pyro_exact *exact, struct pyro_arena *arena, const struct pyro_log_chunk **ret,
                       size_t *ret_count);
void pyro_exact_free(struct pyro_exact *exact);

#endif
