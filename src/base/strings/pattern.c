#include "base/strings/pattern.h"

#include <stdatomic.h>
#include <stdlib.h>

/* PCRE2's just-in-time compiler takes for granted that it gets memory, and ends the process otherwise (10.42). What
 * malloc() refuses to it comes from a reserve; without a reserve there is no machine code, and matching is slower.
 * It takes 20 times the memory of what is compiled, and 80 times with callouts. */
enum { RESERVE = 16 << 10, RESERVE_A_BYTE = 100, ALIGNMENT = 16 };

/* Machine code is several times as fast, and takes as long to make as to look through some KiB without it. */
enum { FEW_BYTES = 4 << 10 };

struct compiled {
    pcre2_code *code;
    char *reserve; /* NULL: none */
    size_t size, used;
};

struct pyro_pattern {
    const char *text; /* NULL: `fast` is all there is */
    size_t len;
    _Atomic(struct compiled *) slow, fast; /* NULL: not yet */
    atomic_size_t looked_through;          /* bytes, by `slow` */
};

static void *allocate(size_t size, void *context)
{
    struct compiled *compiled = context;
    void *memory = malloc(size);
    size_t left = compiled->size - compiled->used;
    if (memory || !compiled->reserve || size > left - left % ALIGNMENT)
        return memory;
    memory = compiled->reserve + compiled->used;
    compiled->used += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return memory;
}

static void release(void *memory, void *context)
{
    const struct compiled *compiled = context;
    const char *place = memory;
    if (!compiled->reserve || place < compiled->reserve || place >= compiled->reserve + compiled->size)
        free(memory);
}

static void make_machine_code(struct compiled *compiled)
{
    size_t bytes = 0;
    pcre2_pattern_info(compiled->code, PCRE2_INFO_SIZE, &bytes);
    compiled->size = RESERVE + RESERVE_A_BYTE * bytes;
    compiled->reserve = malloc(compiled->size);
    if (compiled->reserve)
        pcre2_jit_compile(compiled->code, PCRE2_JIT_COMPLETE);
    if (compiled->used == 0) {
        free(compiled->reserve);
        compiled->reserve = NULL;
    }
}

static struct compiled *compile(const char *text, size_t len, uint32_t flags, bool fast, bool *no_memory)
{
    struct compiled *compiled = calloc(1, sizeof(*compiled));
    pcre2_general_context *general = compiled ? pcre2_general_context_create(allocate, release, compiled) : NULL;
    pcre2_compile_context *context = general ? pcre2_compile_context_create(general) : NULL;
    int code = PCRE2_ERROR_HEAP_FAILED;
    size_t at;
    if (context)
        compiled->code = pcre2_compile((PCRE2_SPTR)text, len, PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C | flags, &code,
                                       &at, context);
    pcre2_compile_context_free(context);
    pcre2_general_context_free(general);
    if (compiled && compiled->code) {
        if (fast)
            make_machine_code(compiled);
        return compiled;
    }
    *no_memory |= code == PCRE2_ERROR_HEAP_FAILED;
    free(compiled);
    return NULL;
}

static void discard(struct compiled *compiled)
{
    if (!compiled)
        return;
    pcre2_code_free(compiled->code);
    free(compiled->reserve);
    free(compiled);
}

struct pyro_pattern *pyro_pattern_new(const char *text, size_t len, uint32_t flags, bool *no_memory)
{
    struct pyro_pattern *pattern = calloc(1, sizeof(*pattern));
    struct compiled *fast = pattern ? compile(text, len, flags, true, no_memory) : NULL;
    *no_memory |= !pattern;
    if (fast) {
        atomic_init(&pattern->fast, fast);
        return pattern;
    }
    free(pattern);
    return NULL;
}

struct pyro_pattern *pyro_pattern_new_fixed(const char *text, size_t len)
{
    struct pyro_pattern *pattern = calloc(1, sizeof(*pattern));
    if (pattern) {
        pattern->text = text;
        pattern->len = len;
    }
    return pattern;
}

void pyro_pattern_free(struct pyro_pattern *pattern)
{
    if (!pattern)
        return;
    discard(atomic_load(&pattern->slow));
    discard(atomic_load(&pattern->fast));
    free(pattern);
}

const pcre2_code *pyro_pattern_code(const struct pyro_pattern *pattern)
{
    return pattern ? atomic_load_explicit(&pattern->fast, memory_order_acquire)->code : NULL;
}

/* Compiled by the first thread that needs it; NULL: no memory, and the next call tries again. */
static struct compiled *get(struct pyro_pattern *pattern, bool fast)
{
    _Atomic(struct compiled *) *place = fast ? &pattern->fast : &pattern->slow;
    struct compiled *found = atomic_load_explicit(place, memory_order_acquire);
    bool no_memory = false;
    if (found)
        return found;
    struct compiled *made = compile(pattern->text, pattern->len, 0, fast, &no_memory);
    if (!made || atomic_compare_exchange_strong(place, &found, made))
        return made;
    discard(made);
    return found;
}

/* Whether this text is to be matched without machine code. */
static bool is_among_few(struct pyro_pattern *pattern, size_t bytes)
{
    if (atomic_load_explicit(&pattern->fast, memory_order_relaxed))
        return false;
    size_t before = atomic_fetch_add_explicit(&pattern->looked_through, bytes, memory_order_relaxed);
    return before < FEW_BYTES && bytes < FEW_BYTES - before;
}

static int match(struct pyro_pattern *pattern, bool fast, struct pyro_slice text, size_t from, pcre2_match_data *found,
                 pcre2_match_context *limits)
{
    struct compiled *compiled = get(pattern, fast);
    return compiled ? pcre2_match(compiled->code, (PCRE2_SPTR)text.ptr, text.len, from, 0, found, limits)
                    : PCRE2_ERROR_NOMEMORY;
}

int pyro_pattern_match(struct pyro_pattern *pattern, struct pyro_slice text, size_t from, pcre2_match_data *found,
                       pcre2_match_context *limits)
{
    if (is_among_few(pattern, text.len - from)) {
        int result = match(pattern, false, text, from, found, limits);
        /* Machine code takes fewer of the steps that are limited for the same text. */
        if (result >= PCRE2_ERROR_NOMATCH || result == PCRE2_ERROR_NOMEMORY)
            return result;
    }
    return match(pattern, true, text, from, found, limits);
}
