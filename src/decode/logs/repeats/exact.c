#include "decode/logs/repeats/exact.h"

#include <stdlib.h>
#include <strings.h>

#include "base/collections/vec.h"
#include "base/memory/allocator.h"
#include "base/strings/intern.h"
#include "decode/logs/repeats/collapse.h"
#include "model/column.h"

struct pyro_exact {
    const struct pyro_allocator *allocator;
    struct pyro_slice level; /* the pool's; null: all */
    struct pyro_string_pool *texts;
    PYRO_VEC(uint32_t) lines; /* numbers of texts */
};

struct pyro_exact *pyro_exact_new(const struct pyro_allocator *allocator, struct pyro_slice level)
{
    struct pyro_exact *exact = pyro_allocate(allocator, sizeof(*exact));
    if (!exact)
        return NULL;
    *exact = (struct pyro_exact){.allocator = allocator, .texts = pyro_string_pool_new(allocator)};
    if (exact->texts)
        exact->level = pyro_intern_slice(exact->texts, level);
    if (!exact->texts || (level.ptr && !exact->level.ptr)) {
        pyro_exact_free(exact);
        return NULL;
    }
    return exact;
}

void pyro_exact_free(struct pyro_exact *exact)
{
    if (!exact)
        return;
    pyro_string_pool_release(exact->texts);
    pyro_vec_done(&exact->lines, exact->allocator);
    pyro_release(exact->allocator, exact);
}

/* What Python's strip() removes. */
static struct pyro_slice strip(struct pyro_slice text)
{
    static const char white[] = " \t\n\v\f\r\x1c\x1d\x1e\x1f";
    while (text.len && memchr(white, text.ptr[0], sizeof(white) - 1)) {
        text.ptr++;
        text.len--;
    }
    while (text.len && memchr(white, text.ptr[text.len - 1], sizeof(white) - 1))
        text.len--;
    return text;
}

static bool is_same_word(struct pyro_slice text, struct pyro_slice word)
{
    return text.len == word.len && strncasecmp(text.ptr, word.ptr, word.len) == 0;
}

/* The level that a text starts with; a null slice: there is none. */
static struct pyro_slice leading_level(struct pyro_slice text)
{
    static const struct pyro_slice levels[] = {{"error", 5}, {"info", 4}, {"warn", 4}};
    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
        size_t len = levels[i].len;
        if (text.len >= len && is_same_word((struct pyro_slice){text.ptr, len}, levels[i]))
            return (struct pyro_slice){text.ptr, len};
    }
    return PYRO_SLICE_NULL;
}

/* False: the line has no level. */
static bool split_line(struct pyro_slice line, struct pyro_slice *ret_level, struct pyro_slice *ret_text)
{
    struct pyro_slice level = PYRO_SLICE_NULL;
    line = strip(line);
    for (size_t i = line.len; i > 0 && !level.ptr; i--)
        if (line.ptr[i - 1] == ' ')
            level = leading_level((struct pyro_slice){line.ptr + i, line.len - i});
    if (!level.ptr)
        return false;
    const char *text = level.ptr + level.len, *end = line.ptr + line.len;
    *ret_level = level;
    *ret_text = strip((struct pyro_slice){text, (size_t)(end - text)});
    return true;
}

bool pyro_exact_take(struct pyro_exact *exact, struct pyro_slice line)
{
    struct pyro_slice level, text;
    if (!split_line(line, &level, &text) || (exact->level.ptr && !is_same_word(level, exact->level)))
        return true;
    uint32_t number = pyro_intern(exact->texts, text);
    uint32_t *added = number == UINT32_MAX ? NULL : pyro_vec_push(&exact->lines, exact->allocator);
    if (!added)
        return false;
    *added = number;
    return true;
}

/* By count; equal ones stay in the order of the log, which is that of their lines in one array. */
static int compare_chunks(const void *left, const void *right)
{
    const struct pyro_log_chunk *a = left, *b = right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return a->lines < b->lines ? -1 : a->lines > b->lines;
}

static size_t count_pieces(const struct pyro_exact *exact)
{
    struct pyro_collapse collapse;
    struct pyro_collapsed piece;
    size_t count = 0;
    pyro_collapse_start(&collapse, exact->lines.items, exact->lines.count);
    while (pyro_collapse_next(&collapse, &piece))
        count++;
    return count;
}

bool pyro_exact_finish(const struct pyro_exact *exact, struct pyro_arena *arena, const struct pyro_log_chunk **ret,
                       size_t *ret_count)
{
    size_t line_count = exact->lines.count, count = count_pieces(exact), made = 0;
    struct pyro_log_chunk *chunks = pyro_arena_array(arena, count ? count : 1, sizeof(*chunks));
    struct pyro_slice *lines = pyro_arena_array(arena, line_count ? line_count : 1, sizeof(*lines));
    if (!chunks || !lines)
        return false;
    for (size_t i = 0; i < line_count; i++)
        lines[i] = pyro_string_pool_text(exact->texts, exact->lines.items[i]);
    struct pyro_collapse collapse;
    struct pyro_collapsed piece;
    pyro_collapse_start(&collapse, exact->lines.items, line_count);
    while (made < count && pyro_collapse_next(&collapse, &piece))
        chunks[made++] = (struct pyro_log_chunk){
            .count = piece.count,
            .lines = lines + piece.first,
            .line_count = piece.length,
            .first_ms = PYRO_NONE,
            .last_ms = PYRO_NONE,
            .share = (double)(piece.count * piece.length) / (double)line_count,
        };
    qsort(chunks, made, sizeof(*chunks), compare_chunks);
    *ret = chunks;
    *ret_count = made;
    return true;
}
