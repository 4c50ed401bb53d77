#include "base/strings/pattern.h"

#include <stdlib.h>

/* PCRE2's just-in-time compiler takes for granted that it gets memory, and ends the process otherwise (10.42). What
 * malloc() refuses to it comes from a reserve; without a reserve there is no machine code, and matching is slower.
 * It takes 20 times the memory of what is compiled, and 80 times with callouts. */
enum { RESERVE = 16 << 10, RESERVE_A_BYTE = 100, ALIGNMENT = 16 };

struct pyro_pattern {
    pcre2_code *code;
    char *reserve; /* NULL: none */
    size_t size, used;
};

static void *allocate(size_t size, void *context)
{
    struct pyro_pattern *pattern = context;
    void *memory = malloc(size);
    size_t left = pattern->size - pattern->used;
    if (memory || !pattern->reserve || size > left - left % ALIGNMENT)
        return memory;
    memory = pattern->reserve + pattern->used;
    pattern->used += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return memory;
}

static void release(void *memory, void *context)
{
    const struct pyro_pattern *pattern = context;
    const char *place = memory;
    if (!pattern->reserve || place < pattern->reserve || place >= pattern->reserve + pattern->size)
        free(memory);
}

static void make_machine_code(struct pyro_pattern *pattern)
{
    size_t bytes = 0;
    pcre2_pattern_info(pattern->code, PCRE2_INFO_SIZE, &bytes);
    pattern->size = RESERVE + RESERVE_A_BYTE * bytes;
    pattern->reserve = malloc(pattern->size);
    if (pattern->reserve)
        pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE);
    if (pattern->used == 0) {
        free(pattern->reserve);
        pattern->reserve = NULL;
    }
}

struct pyro_pattern *pyro_pattern_new(const char *text, size_t len, uint32_t flags, bool *no_memory)
{
    struct pyro_pattern *pattern = calloc(1, sizeof(*pattern));
    pcre2_general_context *general = pattern ? pcre2_general_context_create(allocate, release, pattern) : NULL;
    pcre2_compile_context *context = general ? pcre2_compile_context_create(general) : NULL;
    int code = PCRE2_ERROR_HEAP_FAILED;
    size_t at;
    if (context)
        pattern->code = pcre2_compile((PCRE2_SPTR)text, len, PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C | flags, &code,
                                      &at, context);
    pcre2_compile_context_free(context);
    pcre2_general_context_free(general);
    if (pattern && pattern->code) {
        make_machine_code(pattern);
        return pattern;
    }
    *no_memory |= code == PCRE2_ERROR_HEAP_FAILED;
    free(pattern);
    return NULL;
}

void pyro_pattern_free(struct pyro_pattern *pattern)
{
    if (!pattern)
        return;
    pcre2_code_free(pattern->code);
    free(pattern->reserve);
    free(pattern);
}

const pcre2_code *pyro_pattern_code(const struct pyro_pattern *pattern)
{
    return pattern ? pattern->code : NULL;
}
