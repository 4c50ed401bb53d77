/* Blocks: 2 to 20 symbols (templates) that come again and again right after one another in the same order.
 *
 * B follows A if at least 3/4 of all A have a B right behind them, at least 3/4 of all B have an A right before them,
 * and this happens at least twice. So at most one symbol follows another one, and those that follow each other form
 * chains; a circle starts with the symbol that was seen first. A chain of more than 20 symbols is cut every 20. A block
 * is a chain of which at least half of the occurrences of each symbol are part of a complete block; a chain that is
 * less is cut at its rarest pair, and both parts are looked at again. So a symbol belongs to one block at most, and
 * blocks never overlap.
 *
 * Which blocks there are is found from the first 4,194,304 symbols (16 MiB); later ones are only counted. Time is
 * linear, memory bounded by that and the number of different symbols. */
#ifndef PYRO_DECODE_LOGS_REPEATS_REPEATED_BLOCKS_H
#define PYRO_DECODE_LOGS_REPEATS_REPEATED_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pyrometer.h"

enum { PYRO_REPEATED_BLOCK_LENGTH = 20, PYRO_REPEATED_BLOCKS_SYMBOLS = 1 << 22 };

struct pyro_repeated_block {
    const uint32_t *symbols;
    size_t length;
    uint64_t count; /* complete occurrences */
};

struct pyro_repeated_blocks;

/* `most`: how many symbols decide which blocks there are, at most and by default (0) PYRO_REPEATED_BLOCKS_SYMBOLS.
 * NULL: no memory. */
struct pyro_repeated_blocks *pyro_repeated_blocks_new(const struct pyro_allocator *allocator, size_t most);
void pyro_repeated_blocks_free(struct pyro_repeated_blocks *blocks); /* NULL is ignored */
/* Symbols are numbered from 0 in the order in which they were first seen. False: no memory. */
bool pyro_repeated_blocks_take(struct pyro_repeated_blocks *blocks, uint32_t symbol);
/* No block goes on here: a file ends. False: no memory. */
bool pyro_repeated_blocks_break(struct pyro_repeated_blocks *blocks);
/* The blocks, always in the same order for the same input; they live as long as `blocks`.
 * Call it once, at the end. False: no memory. */
bool pyro_repeated_blocks_finish(struct pyro_repeated_blocks *blocks, const struct pyro_repeated_block **ret,
                                 size_t *ret_count);

#endif
