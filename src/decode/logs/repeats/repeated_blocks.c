#include "decode/logs/repeats/repeated_blocks.h"

#include <string.h>

#include "base/collections/vec.h"
#include "base/memory/allocator.h"
#include "base/memory/arena.h"

#define NONE UINT32_MAX /* no symbol: a file ends */

/* What is known of a symbol. */
struct symbol {
    uint64_t count;
    uint64_t votes;
    uint32_t candidate;    /* what may follow it in more than half of its occurrences, or NONE */
    uint64_t pairs;        /* how often it does */
    uint32_t next;         /* what follows it, or NONE */
    bool follows;          /* another one */
    bool is_placed;        /* in a chain */
    uint32_t block, place; /* number + 1 of its block, or 0; where in it */
};

struct pyro_repeated_blocks {
    const struct pyro_allocator *allocator;
    struct pyro_arena arena;
    size_t most;
    PYRO_VEC(uint32_t) seen; /* NONE between files; empty once it is known which blocks there are */
    bool is_decided;
    size_t symbol_count;
    struct symbol *symbols;
    uint32_t *chains; /* the symbols of one chain after another */
    PYRO_VEC(struct pyro_repeated_block) blocks;
    uint32_t open, reached; /* number + 1 of the block whose first symbols came last, and how many; or 0 */
};

struct pyro_repeated_blocks *pyro_repeated_blocks_new(const struct pyro_allocator *allocator, size_t most)
{
    struct pyro_repeated_blocks *blocks = pyro_allocate(allocator, sizeof(*blocks));
    if (!blocks)
        return NULL;
    *blocks = (struct pyro_repeated_blocks){
        .allocator = allocator,
        .most = most && most < PYRO_REPEATED_BLOCKS_SYMBOLS ? most : PYRO_REPEATED_BLOCKS_SYMBOLS};
    pyro_arena_init(&blocks->arena, allocator);
    return blocks;
}

void pyro_repeated_blocks_free(struct pyro_repeated_blocks *blocks)
{
    if (!blocks)
        return;
    pyro_vec_done(&blocks->seen, blocks->allocator);
    pyro_vec_done(&blocks->blocks, blocks->allocator);
    pyro_arena_done(&blocks->arena);
    pyro_release(blocks->allocator, blocks);
}

/* Counts the blocks that end with this symbol. Those that were begun and are not complete count for nothing. */
static void follow(struct pyro_repeated_blocks *blocks, uint32_t number)
{
    const struct symbol *symbol = number < blocks->symbol_count ? &blocks->symbols[number] : NULL;
    bool goes_on = symbol && symbol->block && symbol->block == blocks->open && symbol->place == blocks->reached;
    if (!goes_on) {
        blocks->open = symbol && symbol->block && symbol->place == 0 ? symbol->block : 0;
        blocks->reached = blocks->open ? 1 : 0;
        return;
    }
    struct pyro_repeated_block *block = &blocks->blocks.items[blocks->open - 1];
    blocks->reached++;
    if (blocks->reached == block->length) {
        block->count++;
        blocks->open = blocks->reached = 0;
    }
}

static uint32_t seen_after(const struct pyro_repeated_blocks *blocks, size_t i)
{
    return i + 1 < blocks->seen.count ? blocks->seen.items[i + 1] : NONE;
}

/* The only symbol that can follow in more than half of all cases: the majority vote of Boyer and Moore. */
static void vote(struct symbol *symbol, uint32_t after)
{
    if (symbol->votes == 0)
        symbol->candidate = after;
    symbol->votes += symbol->candidate == after ? 1 : -(uint64_t)1;
}

static void count_pairs(struct pyro_repeated_blocks *blocks)
{
    for (size_t i = 0; i < blocks->seen.count; i++) {
        if (blocks->seen.items[i] == NONE)
            continue;
        struct symbol *symbol = &blocks->symbols[blocks->seen.items[i]];
        symbol->count++;
        vote(symbol, seen_after(blocks, i));
    }
    for (size_t i = 0; i < blocks->seen.count; i++) {
        if (blocks->seen.items[i] == NONE)
            continue;
        struct symbol *symbol = &blocks->symbols[blocks->seen.items[i]];
        symbol->pairs += symbol->candidate == seen_after(blocks, i);
    }
}

static void link_symbols(struct pyro_repeated_blocks *blocks)
{
    for (size_t i = 0; i < blocks->symbol_count; i++) {
        struct symbol *symbol = &blocks->symbols[i];
        symbol->next = NONE;
        if (symbol->count == 0 || symbol->candidate == NONE || symbol->candidate == i || symbol->pairs < 2)
            continue;
        struct symbol *after = &blocks->symbols[symbol->candidate];
        if (4 * symbol->pairs < 3 * symbol->count || 4 * symbol->pairs < 3 * after->count)
            continue;
        symbol->next = symbol->candidate;
        after->follows = true;
    }
}

/* False: no memory. */
static bool add_block(struct pyro_repeated_blocks *blocks, const uint32_t *symbols, size_t length)
{
    if (length < 2)
        return true;
    struct pyro_repeated_block *block = pyro_vec_push(&blocks->blocks, blocks->allocator);
    if (!block)
        return false;
    *block = (struct pyro_repeated_block){.symbols = symbols, .length = length};
    return true;
}

/* Writes the chain that starts with a symbol to `chain` and adds its blocks. Returns its length; 0: no memory. */
static size_t add_chain(struct pyro_repeated_blocks *blocks, uint32_t first, uint32_t *chain)
{
    size_t length = 0;
    for (uint32_t i = first; i != NONE && !blocks->symbols[i].is_placed; i = blocks->symbols[i].next) {
        blocks->symbols[i].is_placed = true;
        chain[length++] = i;
    }
    for (size_t i = 0; i < length; i += PYRO_REPEATED_BLOCK_LENGTH)
        if (!add_block(blocks, chain + i,
                       length - i < PYRO_REPEATED_BLOCK_LENGTH ? length - i : PYRO_REPEATED_BLOCK_LENGTH))
            return 0;
    return length;
}

/* First the chains that have a start, then circles. False: no memory. */
static bool make_chains(struct pyro_repeated_blocks *blocks)
{
    size_t used = 0;
    for (int is_circle = 0; is_circle < 2; is_circle++)
        for (size_t i = 0; i < blocks->symbol_count; i++) {
            const struct symbol *symbol = &blocks->symbols[i];
            if (symbol->next == NONE || symbol->is_placed || (symbol->follows && !is_circle))
                continue;
            size_t length = add_chain(blocks, (uint32_t)i, blocks->chains + used);
            if (!length)
                return false;
            used += length;
        }
    return true;
}

static void count_blocks(struct pyro_repeated_blocks *blocks)
{
    for (size_t i = 0; i < blocks->symbol_count; i++)
        blocks->symbols[i].block = 0;
    for (size_t b = 0; b < blocks->blocks.count; b++) {
        struct pyro_repeated_block *block = &blocks->blocks.items[b];
        block->count = 0;
        for (size_t i = 0; i < block->length; i++) {
            blocks->symbols[block->symbols[i]].block = (uint32_t)b + 1;
            blocks->symbols[block->symbols[i]].place = (uint32_t)i;
        }
    }
    blocks->open = blocks->reached = 0;
    for (size_t i = 0; i < blocks->seen.count; i++)
        follow(blocks, blocks->seen.items[i]);
}

static bool explains_half(const struct pyro_repeated_blocks *blocks, const struct pyro_repeated_block *block)
{
    for (size_t i = 0; i < block->length; i++)
        if (2 * block->count < blocks->symbols[block->symbols[i]].count)
            return false;
    return block->count >= 2;
}

/* How many symbols there are before the rarest pair ends. */
static size_t weakest_place(const struct pyro_repeated_blocks *blocks, const struct pyro_repeated_block *block)
{
    size_t weakest = 0;
    for (size_t i = 1; i + 1 < block->length; i++)
        if (blocks->symbols[block->symbols[i]].pairs < blocks->symbols[block->symbols[weakest]].pairs)
            weakest = i;
    return weakest + 1;
}

/* Cuts every block that explains too little. *ret_cut: whether there is one. False: no memory. */
static bool cut_blocks(struct pyro_repeated_blocks *blocks, bool *ret_cut)
{
    size_t count = blocks->blocks.count, kept = 0;
    struct pyro_repeated_block *before = pyro_allocate(blocks->allocator, (count ? count : 1) * sizeof(*before));
    bool done = before != NULL;
    *ret_cut = false;
    if (count && before)
        memcpy(before, blocks->blocks.items, count * sizeof(*before));
    blocks->blocks.count = 0;
    for (; done && kept < count; kept++) {
        const struct pyro_repeated_block *block = &before[kept];
        size_t cut = explains_half(blocks, block) ? block->length : weakest_place(blocks, block);
        *ret_cut = *ret_cut || cut < block->length;
        done = add_block(blocks, block->symbols, cut) && add_block(blocks, block->symbols + cut, block->length - cut);
    }
    pyro_release(blocks->allocator, before);
    return done;
}

/* Finds the blocks of what was seen, and counts them. False: no memory. */
static bool decide(struct pyro_repeated_blocks *blocks)
{
    for (size_t i = 0; i < blocks->seen.count; i++)
        if (blocks->seen.items[i] != NONE && blocks->seen.items[i] >= blocks->symbol_count)
            blocks->symbol_count = (size_t)blocks->seen.items[i] + 1;
    blocks->symbols = pyro_arena_array(&blocks->arena, blocks->symbol_count + 1, sizeof(*blocks->symbols));
    blocks->chains = pyro_arena_array(&blocks->arena, blocks->symbol_count + 1, sizeof(*blocks->chains));
    if (!blocks->symbols || !blocks->chains)
        return false;
    count_pairs(blocks);
    link_symbols(blocks);
    if (!make_chains(blocks))
        return false;
    count_blocks(blocks);
    for (bool is_cut = true; is_cut;) {
        if (!cut_blocks(blocks, &is_cut))
            return false;
        count_blocks(blocks);
    }
    pyro_vec_done(&blocks->seen, blocks->allocator);
    blocks->is_decided = true;
    return true;
}

bool pyro_repeated_blocks_take(struct pyro_repeated_blocks *blocks, uint32_t symbol)
{
    if (!blocks->is_decided && blocks->seen.count >= blocks->most && !decide(blocks))
        return false;
    if (blocks->is_decided) {
        follow(blocks, symbol);
        return true;
    }
    uint32_t *added = pyro_vec_push(&blocks->seen, blocks->allocator);
    if (added)
        *added = symbol;
    return added != NULL;
}

bool pyro_repeated_blocks_break(struct pyro_repeated_blocks *blocks)
{
    return pyro_repeated_blocks_take(blocks, NONE);
}

bool pyro_repeated_blocks_finish(struct pyro_repeated_blocks *blocks, const struct pyro_repeated_block **ret,
                                 size_t *ret_count)
{
    if (!blocks->is_decided && !decide(blocks))
        return false;
    *ret = blocks->blocks.items;
    *ret_count = blocks->blocks.count;
    return true;
}
